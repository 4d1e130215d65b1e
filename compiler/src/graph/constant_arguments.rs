//! `tf-constant-arguments`: arguments that are the same constant in all calls become constants of the
//! function.
//!
//! ```text
//! %w = tf.Const                                    func @body(%x, %w) {
//! %r:2 = tf.While(%x, %w) body @body      ──▶        %c = tf.Const
//!                                                    %y = tf.MatMul(%x, %c)
//! func @body(%x, %w) {                               return %y, %w
//!   %y = tf.MatMul(%x, %w)                         }
//!   return %y, %w
//! }
//! ```
//!
//! TensorFlow passes the weights of a loop as loop variables that never change. As constants of the body they
//! are folded, packed and fused like those of any function. `tf-simplify-control-flow` later removes the
//! variable.
//!
//! The pass works on private functions to which only calls, branches and loops of the op graph refer, and the
//! loops that `tf-executor-to-kernels` makes (`tfrt.while`). A variable of a loop is constant if its initial
//! value is, and each iteration returns it unchanged.

use befrost_tensor::tf::op::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use super::effects::{callees, functions};
use crate::dialects::tf;
use crate::dialects::tfrt_control::While;
use crate::ir::{AttrId, AttrKind, Module, OpId, StrId, TypeId, ValueId, names};
use crate::pass::{Change, Pass, PassCx, Rewriter};
use crate::rewrite::InsertionPoint;

pub(crate) const PASS: Pass = Pass {
    name: "tf-constant-arguments",
    title: "TFConstantArguments",
    summary: "makes arguments that are the same constant in all calls constants of the function",
    options: &[],
    statistics: &[("num-arguments", "Number of arguments that became constants")],
    run,
};

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    // A constant of a function can be an argument of the functions that it calls.
    loop {
        let n = round(r);
        cx.count("num-arguments", n);
        if n == 0 {
            return r.change();
        }
    }
}

/// The values that an argument has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Passed {
    Constant(AttrId, TypeId),
    Various,
}

fn round(r: &mut Rewriter<'_>) -> u64 {
    let m = r.ir();
    let functions = functions(m);
    let mut passed: FxHashMap<(StrId, usize), Passed> = FxHashMap::default();
    let mut foreign: FxHashSet<StrId> = FxHashSet::default();
    for op in m.walk(m.top()) {
        let names = callees(m, op);
        let Some((first, body)) = passes(m, op) else {
            foreign.extend(names);
            continue;
        };
        let operands: Vec<ValueId> = m.operands(op).take(tf::n_data_operands(m, op)).skip(first).collect();
        for &name in &names {
            for (i, &operand) in operands.iter().enumerate() {
                let stays = body.is_none_or(|body| is_invariant(m, &functions, body, i));
                let value = constant(m, operand).filter(|_| stays).unwrap_or(Passed::Various);
                let known = passed.entry((name, i)).or_insert(value);
                if *known != value {
                    *known = Passed::Various;
                }
            }
        }
    }
    let mut found: Vec<((StrId, usize), Passed)> = passed.into_iter().collect();
    found.sort_by_key(|&((name, i), _)| (functions.get(&name).map_or(0, |op| op.0), i));
    let mut n = 0;
    for ((name, i), passed) in found {
        let Passed::Constant(value, ty) = passed else { continue };
        let Some(&function) = functions.get(&name).filter(|_| !foreign.contains(&name)) else { continue };
        n += u64::from(r.ir().is_private(function) && replace_argument(r, function, i, value, ty));
    }
    n
}

/// How an op passes its operands to functions: the number of the first one that it passes, and of a loop the
/// function whose results are the next arguments.
fn passes(m: &Module, op: OpId) -> Option<(usize, Option<StrId>)> {
    let body = |attr: &str| match m.attr_named(op, attr).map(|attr| m.cx.attr(attr)) {
        Some(AttrKind::Symbol { root, .. }) => Some(*root),
        _ => None,
    };
    Some(match tf::Control::of(m, op) {
        Some(tf::Control::Call) => (0, None),
        Some(tf::Control::If | tf::Control::Case) => (1, None),
        Some(tf::Control::While) => (0, Some(body("body")?)),
        None if m.op_name_str(op) == While::NAME => (1, Some(body("body_fn")?)),
        None => return None,
    })
}

/// The constant that makes a value.
fn constant(m: &Module, value: ValueId) -> Option<Passed> {
    let op = m.defining_op(value)?;
    let is_constant = tf::operator(m, op) == Some(Op::Const) && m.n_operands(op) == 0;
    let attr = m.attr(op, names::VALUE).filter(|_| is_constant)?;
    Some(Passed::Constant(attr, m.value_type(value)))
}

/// True if a loop's function returns its argument `i`.
fn is_invariant(m: &Module, functions: &FxHashMap<StrId, OpId>, body: StrId, i: usize) -> bool {
    let block = functions.get(&body).and_then(|&body| m.only_block(body));
    block.is_some_and(|block| {
        let returned = m.last_op(block).and_then(|end| m.operands(end).nth(i));
        returned.is_some() && returned == m.args(block).get(i).copied()
    })
}

/// Replaces argument `i` of a function by a constant, except where the function returns it. True if anything
/// else used it.
fn replace_argument(r: &mut Rewriter<'_>, function: OpId, i: usize, value: AttrId, ty: TypeId) -> bool {
    let m = r.ir();
    let Some((block, &arg)) = m.only_block(function).and_then(|block| Some((block, m.args(block).get(i)?)))
    else {
        return false;
    };
    let end = m.last_op(block);
    let users: Vec<(OpId, usize)> = m.users(arg).filter(|&(user, _)| Some(user) != end).collect();
    if users.is_empty() {
        return false;
    }
    let loc = m.loc(function);
    let attrs = [("value", value)];
    let made = r.create_named(InsertionPoint::Start(block), loc, Op::Const.op_name(), &[], &[ty], &attrs);
    let made = r.ir().result(made, 0);
    for (user, at) in users {
        r.set_operand(user, at, made);
    }
    true
}
