//! Folders of `tfrt`: the functions that the kernels call, on constants.
//!
//! A value may be an error or dead at run time, which an op propagates. So `x * 0` stays, and so does an op
//! with a chain as its last operand: the replacement must still depend on `x`. A division by zero is an error
//! at run time and stays as well.

use super::{ConstantOperands, FoldResult, attr, value};
use crate::dialects::{Folded, OpDef, OperandMode, Traits};
use crate::ir::{AttrId, AttrKind, Context, KnownType, Module, OpId, ValueId, names};
use befrost_tensor::scalar::{Float, Integer};
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// A type of the scalar ops.
trait ScalarNumber: Copy {
    fn read(cx: &Context, attr: AttrId) -> Option<Self>;
    fn write(self, cx: &mut Context) -> AttrId;
}

macro_rules! integer {
    ($ty:ident $known:ident) => {
        impl ScalarNumber for $ty {
            fn read(cx: &Context, attr: AttrId) -> Option<Self> {
                match *cx.attr(attr) {
                    AttrKind::Int { ty, value } if ty == KnownType::$known.id() => $ty::try_from(value).ok(),
                    _ => None,
                }
            }
            fn write(self, cx: &mut Context) -> AttrId {
                cx.int_attr(KnownType::$known.id(), i64::from(self))
            }
        }
    };
}
integer!(i32 I32);
integer!(i64 I64);

impl ScalarNumber for f32 {
    fn read(cx: &Context, attr: AttrId) -> Option<Self> {
        match *cx.attr(attr) {
            AttrKind::Float { ty, bits } if ty == KnownType::F32.id() => Some(f32::from_bits(bits as u32)),
            _ => None,
        }
    }
    fn write(self, cx: &mut Context) -> AttrId {
        cx.f32_attr(if self.is_nan() { f32::NAN } else { self })
    }
}

impl ScalarNumber for f64 {
    fn read(cx: &Context, attr: AttrId) -> Option<Self> {
        match *cx.attr(attr) {
            AttrKind::Float { ty, bits } if ty == KnownType::F64.id() => Some(f64::from_bits(bits)),
            _ => None,
        }
    }
    fn write(self, cx: &mut Context) -> AttrId {
        cx.f64_attr(if self.is_nan() { f64::NAN } else { self })
    }
}

impl ScalarNumber for bool {
    fn read(cx: &Context, attr: AttrId) -> Option<Self> {
        match *cx.attr(attr) {
            AttrKind::Bool(b) => Some(b),
            _ => None,
        }
    }
    fn write(self, cx: &mut Context) -> AttrId {
        cx.bool_attr(self)
    }
}

/// The operands of an op without a trailing chain.
fn plain(m: &Module, op: OpId) -> Option<(ValueId, ValueId)> {
    super::pair(m, op)
}

fn number<T: ScalarNumber>(m: &Module, c: ConstantOperands<'_>, i: usize) -> Option<T> {
    T::read(&m.cx, c.get(i).copied().flatten()?)
}

/// Computes with two constants.
fn compute<T: ScalarNumber, U: ScalarNumber>(
    m: &mut Module,
    op: OpId,
    c: ConstantOperands<'_>,
    f: fn(T, T) -> U,
) -> FoldResult {
    plain(m, op)?;
    let result = f(number(m, c, 0)?, number(m, c, 1)?);
    attr(Some(result.write(&mut m.cx)))
}

/// Folds to the first operand if the second one is the neutral element.
fn neutral<T: ScalarNumber>(m: &Module, op: OpId, c: ConstantOperands<'_>, is: fn(T) -> bool) -> FoldResult {
    let (a, _) = plain(m, op)?;
    if number(m, c, 1).is_some_and(is) { value(a) } else { None }
}

/// The folder of `tfrt.<op>.<type>`.
pub fn folder(op: &str, ty: KnownType) -> Option<crate::dialects::def::Folder> {
    Some(match (op, ty) {
        ("add", KnownType::I32) => add::<i32>,
        ("add", KnownType::I64) => add::<i64>,
        ("minus", KnownType::I32) => minus::<i32>,
        ("minus", KnownType::I64) => minus::<i64>,
        ("mul", KnownType::I32) => mul::<i32>,
        ("mul", KnownType::I64) => mul::<i64>,
        ("div", KnownType::I32) => div::<i32>,
        ("div", KnownType::I64) => div::<i64>,
        ("minimum", KnownType::I32) => |m, op, c| compute(m, op, c, <i32 as Integer>::minimum),
        ("minimum", KnownType::I64) => |m, op, c| compute(m, op, c, <i64 as Integer>::minimum),
        ("equal", KnownType::I32) => |m, op, c| compute(m, op, c, <i32 as Integer>::equal),
        ("equal", KnownType::I64) => |m, op, c| compute(m, op, c, <i64 as Integer>::equal),
        ("lessequal", KnownType::I32) => |m, op, c| compute(m, op, c, <i32 as Integer>::less_equal),
        ("lessequal", KnownType::I64) => |m, op, c| compute(m, op, c, <i64 as Integer>::less_equal),
        ("add", KnownType::F32) => |m, op, c| {
            neutral(m, op, c, |x: f32| x.to_bits() == (-0.0f32).to_bits())
                .or_else(|| compute(m, op, c, <f32 as Float>::add))
        },
        ("add", KnownType::F64) => |m, op, c| {
            neutral(m, op, c, |x: f64| x.to_bits() == (-0.0f64).to_bits())
                .or_else(|| compute(m, op, c, <f64 as Float>::add))
        },
        ("multiply", KnownType::F32) => |m, op, c| {
            neutral(m, op, c, |x: f32| x == 1.0).or_else(|| compute(m, op, c, <f32 as Float>::multiply))
        },
        ("multiply", KnownType::F64) => |m, op, c| {
            neutral(m, op, c, |x: f64| x == 1.0).or_else(|| compute(m, op, c, <f64 as Float>::multiply))
        },
        ("div", KnownType::F32) => {
            |m, op, c| neutral(m, op, c, |x: f32| x == 1.0).or_else(|| float_div::<f32>(m, op, c))
        }
        ("div", KnownType::F64) => {
            |m, op, c| neutral(m, op, c, |x: f64| x == 1.0).or_else(|| float_div::<f64>(m, op, c))
        }
        ("minimum", KnownType::F32) => |m, op, c| compute(m, op, c, <f32 as Float>::minimum),
        ("minimum", KnownType::F64) => |m, op, c| compute(m, op, c, <f64 as Float>::minimum),
        ("and", KnownType::I1) => {
            |m, op, c| neutral(m, op, c, |x: bool| x).or_else(|| compute(m, op, c, |a: bool, b| a && b))
        }
        _ => return None,
    })
}

/// `x + 0`.
fn add<T: ScalarNumber + Integer + Default + PartialEq>(
    m: &mut Module,
    op: OpId,
    c: ConstantOperands<'_>,
) -> FoldResult {
    neutral(m, op, c, |x: T| x == T::default()).or_else(|| compute(m, op, c, T::add))
}

/// `x - 0`.
fn minus<T: ScalarNumber + Integer + Default + PartialEq>(
    m: &mut Module,
    op: OpId,
    c: ConstantOperands<'_>,
) -> FoldResult {
    neutral(m, op, c, |x: T| x == T::default()).or_else(|| compute(m, op, c, T::minus))
}

/// `x * 1`.
fn mul<T: ScalarNumber + Integer + From<bool>>(
    m: &mut Module,
    op: OpId,
    c: ConstantOperands<'_>,
) -> FoldResult {
    neutral(m, op, c, |x: T| x == T::from(true)).or_else(|| compute(m, op, c, T::mul))
}

fn div<T: ScalarNumber + Integer>(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    plain(m, op)?;
    let (q, r) = number::<T>(m, c, 0)?.div(number(m, c, 1)?)?;
    Some(vec![Folded::Attr(q.write(&mut m.cx)), Folded::Attr(r.write(&mut m.cx))])
}

fn float_div<T: ScalarNumber + Float>(m: &mut Module, op: OpId, c: ConstantOperands<'_>) -> FoldResult {
    plain(m, op)?;
    let quotient = number::<T>(m, c, 0)?.div(number(m, c, 1)?)?;
    attr(Some(quotient.write(&mut m.cx)))
}

/// Source type, result type and folder of `tfrt.cast.<from>_to_<to>`.
pub const CASTS: [(KnownType, KnownType, crate::dialects::def::Folder); 4] = [
    (KnownType::F32, KnownType::I64, |m, op, c| cast(m, op, c, |x: f32| x as i64)),
    (KnownType::F64, KnownType::I64, |m, op, c| cast(m, op, c, |x: f64| x as i64)),
    (KnownType::I64, KnownType::F32, |m, op, c| cast(m, op, c, |x: i64| x as f32)),
    (KnownType::I64, KnownType::F64, |m, op, c| cast(m, op, c, |x: i64| x as f64)),
];

fn cast<T: ScalarNumber, U: ScalarNumber>(
    m: &mut Module,
    op: OpId,
    c: ConstantOperands<'_>,
    f: fn(T) -> U,
) -> FoldResult {
    if m.n_operands(op) != 1 {
        return None;
    }
    let result = f(number(m, c, 0)?);
    attr(Some(result.write(&mut m.cx)))
}

/// A merge of one chain is that chain. Other merges drop ready chains, repeated ones, chains that another
/// operand has waited for, and inner merges: the operands become the remaining chains, in the same order, so
/// that the same error comes first.
pub fn merge_chains(m: &mut Module, op: OpId, _: ConstantOperands<'_>) -> FoldResult {
    let chain = KnownType::Chain.id();
    let operands: Vec<ValueId> = m.operands(op).collect();
    if let [one] = operands.as_slice()
        && m.value_type(*one) == chain
    {
        return value(*one);
    }
    let mut kept: IndexSet<ValueId, FxBuildHasher> = IndexSet::default();
    for &operand in &operands {
        let inner = m.defining_op(operand);
        let parts: Vec<ValueId> = match inner.map(|op| m.op_name_str(op)) {
            // Only an inner merge without other users: else it would be waited for twice.
            Some("tfrt.merge.chains") if m.users(operand).take(2).count() == 1 => match inner {
                Some(inner) if m.n_operands(inner) > 0 => m.operands(inner).collect(),
                _ => vec![operand],
            },
            _ => vec![operand],
        };
        kept.extend(parts);
    }
    let is_ready = |v: &ValueId| {
        m.defining_op(*v).is_some_and(|op| m.op_name_str(op) == "tfrt.new.chain" && m.n_operands(op) == 0)
    };
    let first = kept.first().copied();
    kept.retain(|v| !is_ready(v));
    if kept.is_empty() {
        // All are ready: one of them is enough.
        return first.and_then(value);
    }
    let kept = without_implied(m, kept.into_iter().collect());
    if kept == operands {
        return None;
    }
    m.set_operands(op, &kept);
    Some(Vec::new())
}

/// True for a merge of one chain that has no other use.
pub fn merges_one_private_chain(m: &Module, op: OpId) -> bool {
    m.op_name_str(op) == "tfrt.merge.chains"
        && m.n_operands(op) == 1
        && m.value_type(m.operand(op, 0)) == KnownType::Chain.id()
        && m.users(m.operand(op, 0)).take(2).count() == 1
}

/// Most operands that are inspected for chains they have waited for, and most operands of a merge for which
/// that is done.
const MAX_SHAPE_CONSTANT: usize = 32;

/// The operands of a merge without the implied chains. A chain is implied if an earlier operand has waited
/// for it, or if the next operand has waited for it and propagates its error before all others.
fn without_implied(m: &Module, mut kept: Vec<ValueId>) -> Vec<ValueId> {
    if kept.len() > MAX_SHAPE_CONSTANT {
        return kept;
    }
    let mut i = 0;
    while let Some(&value) = kept.get(i) {
        let (waited_for, firsts) = waited_for(m, value);
        let behind = kept.split_off(i + 1);
        kept.extend(behind.into_iter().filter(|v| !waited_for.contains(v)));
        // After the removal, the operand before the next one is adjacent to this one.
        while i > 0 && firsts.contains(&kept[i - 1]) {
            kept.remove(i - 1);
            i -= 1;
        }
        i += 1;
    }
    kept
}

/// The values that are final when a value is, and those of them whose errors it propagates before all others.
fn waited_for(m: &Module, value: ValueId) -> (Vec<ValueId>, Vec<ValueId>) {
    let (mut all, mut firsts) = (Vec::new(), Vec::new());
    let mut work = vec![(value, true)];
    let mut looked_at = 0;
    while let Some((value, is_first)) = work.pop() {
        let Some(op) = m.defining_op(value).filter(|&op| is_strict(m, op)) else { continue };
        looked_at += m.n_operands(op);
        if looked_at > MAX_SHAPE_CONSTANT {
            break;
        }
        let mut is_first = is_first;
        for operand in m.operands(op) {
            all.push(operand);
            if is_first {
                firsts.push(operand);
            }
            work.push((operand, is_first));
            let cannot_fail = |op| m.traits(op).has(Traits::CONSTANT);
            is_first &= m.defining_op(operand).is_some_and(cannot_fail);
        }
    }
    (all, firsts)
}

/// True if the kernel of an op waits for all of its operands and propagates their errors.
fn is_strict(m: &Module, op: OpId) -> bool {
    let n = m.n_operands(op);
    let is_required = |def: &OpDef| (0..n).all(|i| def.operand_mode(i, n) == OperandMode::Required);
    m.attr(op, names::BEF_NONSTRICT).is_none()
        && m.attr(op, names::BEF_OPERAND_MODES).is_none()
        && m.def(op).is_some_and(is_required)
}
