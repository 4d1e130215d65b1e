//! Constant folding: ops with constant operands are computed by the compiler.
//!
//! ```text
//! op + constants of its operands ──folder (op table)──▶ attributes or values ──materialize──▶ constant ops
//!         │ AttrId                                              ▲
//!         └──constant.rs──▶ numbers ──int.rs, float.rs──────────┘        scalars, splats, short lists
//! ```
//!
//! Numbers of `arith` are computed by `int.rs` and `float.rs`, those of `tfrt` by the functions of
//! `befrost_tensor::scalar` that the kernels call. A folder returns a constant or an existing value; an empty
//! list means that it changed the op in place. The result is always that of running the op: where upstream's
//! result is undefined or poison, and where a kernel of `tfrt` ends with an error, the op stays. `x + 0.0`
//! stays, since it turns -0.0 into 0.0. An op of `tfrt` stays if an operand that the result no longer depends
//! on could be an error.
//!
//! [`fold`] is the entry point for passes: it applies the folds that follow from traits, then the folder of
//! the table. Rewrites that create ops are patterns ([`patterns`]). Not here: the driver that applies all
//! this (`rewrite`).

pub mod arith_floats;
pub mod arith_ints;
pub mod casts;
pub mod compare;
pub mod constant;
pub mod float;
pub mod int;
pub mod patterns;
pub mod tfrt;

use crate::dialects::{Folded, Traits};
use crate::ir::{AttrId, Context, Module, NewOp, OpId, TypeId, ValueId, names};
use crate::rewrite::{InsertionPoint, Rewriter, fold_with_table};
use constant::{Constant, Scalar};
use int::Int;

/// The constants among the operands of an op.
type ConstantOperands<'a> = &'a [Option<AttrId>];

/// Result of a folder.
type FoldResult = Option<Vec<Folded>>;

/// Folds `op`: returns its results, or an empty list after a change in place. `None` if it does not fold.
pub fn fold(m: &mut Module, op: OpId) -> Option<Vec<Folded>> {
    if let Some(def) = m.def(op)
        && def.operands.len() == 2
        && m.n_operands(op) >= 2
    {
        let (a, b) = (m.operand(op, 0), m.operand(op, 1));
        if def.traits.has(Traits::IDEMPOTENT) && a == b && m.n_operands(op) == 2 && m.n_results(op) == 1 {
            return value(a);
        }
        if def.traits.has(Traits::COMMUTATIVE) && constant_of(m, a).is_some() && constant_of(m, b).is_none() {
            m.set_operand(op, 0, b);
            m.set_operand(op, 1, a);
            return Some(fold_with_table(m, op).unwrap_or_default());
        }
    }
    fold_with_table(m, op)
}

/// The attribute of a value that is a constant.
pub fn constant_of(m: &Module, value: ValueId) -> Option<AttrId> {
    let op = m.defining_op(value)?;
    // An op that waits for operands is no constant.
    m.def(op)
        .filter(|d| d.traits.has(Traits::CONSTANT) && m.n_operands(op) == 0)
        .and_then(|_| m.attr(op, names::VALUE))
}

/// Creates a constant before `before` for a user of a dialect: `arith.constant` for upstream's dialects,
/// `tfrt.constant.T` for those with kernels, ours and others. `None` if there is no constant op of this type.
pub fn materialize(
    r: &mut Rewriter<'_>,
    before: OpId,
    dialect: &str,
    attr: AttrId,
    ty: TypeId,
) -> Option<ValueId> {
    let cx = r.cx();
    if cx.attr_type(attr) != Some(ty) {
        return None;
    }
    let name = match dialect {
        "" | "arith" | "builtin" | "cf" | "func" | "scf" => "arith.constant".to_owned(),
        _ => format!("tfrt.constant.{}", crate::print::type_text(cx, ty)),
    };
    cx.registry().find(&name)?;
    let name = cx.str_id(&name);
    let name = cx.op_name(name);
    let loc = r.ir().loc(before);
    let new = NewOp { loc, results: &[ty], attrs: &[(names::VALUE, attr)], ..NewOp::new(name) };
    let op = r.create(InsertionPoint::Before(before), new);
    Some(r.ir().result(op, 0))
}

// ---- for folders and patterns ----

/// A single result: a value.
fn value(value: ValueId) -> FoldResult {
    Some(vec![Folded::Value(value)])
}

/// A single result: a constant.
fn attr(attr: Option<AttrId>) -> FoldResult {
    attr.map(|attr| vec![Folded::Attr(attr)])
}

/// The constant of operand `i`.
fn read(m: &Module, constants: &[Option<AttrId>], i: usize) -> Option<Constant> {
    constants.get(i).copied().flatten().and_then(|attr| Constant::read(&m.cx, attr))
}

/// The integer of constant operand `i`, a scalar or splat.
fn int(m: &Module, constants: &[Option<AttrId>], i: usize) -> Option<Int> {
    match read(m, constants, i)?.single()? {
        Scalar::Int(int) => Some(int),
        Scalar::Float(_) => None,
    }
}

/// The integer of a constant value, a scalar or splat.
pub fn int_value(m: &Module, value: ValueId) -> Option<Int> {
    match constant_of(m, value).and_then(|attr| Constant::read(&m.cx, attr))?.single()? {
        Scalar::Int(int) => Some(int),
        Scalar::Float(_) => None,
    }
}

/// The op that defines a value, if it is called `name`.
pub fn defined_by(m: &Module, value: ValueId, name: &str) -> Option<OpId> {
    m.defining_op(value).filter(|op| m.op_name_str(*op) == name)
}

/// The two operands of the op that defines a value, if it is called `name`.
pub fn operands_of(m: &Module, value: ValueId, name: &str) -> Option<(ValueId, ValueId)> {
    let op = defined_by(m, value, name)?;
    (m.n_operands(op) == 2).then(|| (m.operand(op, 0), m.operand(op, 1)))
}

/// A constant of a type with all elements equal to `bits`.
pub fn int_attr(cx: &mut Context, ty: TypeId, bits: i128) -> Option<AttrId> {
    let constant::Elem::Int(width) = constant::Elem::of(cx, ty)? else { return None };
    let int = Int::new(width, bits as u128)?;
    Constant::of(Scalar::Int(int)).write(cx, ty)
}

/// Both operands of a binary op.
fn pair(m: &Module, op: OpId) -> Option<(ValueId, ValueId)> {
    (m.n_operands(op) == 2).then(|| (m.operand(op, 0), m.operand(op, 1)))
}

/// The type of the first result.
fn result_type(m: &Module, op: OpId) -> Option<TypeId> {
    m.results(op).next().map(|r| m.value_type(r))
}
