//! `tf-loop-invariant-code-motion`: ops of a `tf.While` with the same results in every iteration move in
//! front of it.
//!
//! ```text
//! %r = tf.While(%i, %x) {body = @body}             %y = tf.Exp(%x)
//!   @body(%j, %c):                                 %r, _, _ = tf.While(%i, %x, %y) {body = @body}
//!     %y = tf.Exp(%c)                       ──▶      @body(%j, %c, %y):
//!     return tf.AddV2(%j, %y), %c                      return tf.AddV2(%j, %y), %c, %y
//! ```
//!
//! Invariant are the arguments that the body returns unchanged, and the results of pure operators without
//! control edges whose operands are invariant. They become further values that the loop carries. The loop may
//! run no iteration, so only total operators move (`is_total`): the shapes are known, and no integer is out
//! of range.
//!
//! The body and the condition get more arguments, so the loop must be their only caller. The pass runs until
//! nothing moves any more: an op that left an inner loop may leave the outer loop too.
//!
//! The transformation is that of loops with isolated regions (`pass/licm/isolated.rs`). Here private
//! functions, the body and the condition, change their signature, so all calls in the module must be known.

use befrost_tensor::tf::op::{Op, Traits};
use rustc_hash::FxHashMap;

use super::constant_fold::MAX_GROWN;
use super::effects::{callees, functions};
use crate::build::query::{bytes_of, has_no_edges, producer_if};
use crate::dialects::tf;
use crate::ir::{AttrKind, BlockId, Module, OpId, StrId, TypeId, ValueId, names};
use crate::pass::licm::{IsolatedLoop, hoist_from_isolated};
use crate::pass::{Change, Pass, PassCx, Rewriter};
use crate::rewrite::signatures;
use crate::rewrite::{is_speculatable, is_total};

pub(crate) const PASS: Pass = Pass {
    name: "tf-loop-invariant-code-motion",
    title: "TFLoopInvariantCodeMotion",
    summary: "computes before a loop of TensorFlow's what is the same in every iteration",
    options: &[],
    statistics: &[("num-hoisted", "Number of operators moved out of loops")],
    run,
};

/// Limit on rounds, one per level of nested loops. Without it, functions whose loops call each other would
/// never reach a fixpoint.
pub(crate) const MAX_DEPTH: usize = 16;

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    for _ in 0..MAX_DEPTH {
        let mut hoisted = 0;
        each_loop(r, |r, parts| hoisted += hoist_from_isolated(r, parts));
        if hoisted == 0 {
            break;
        }
        cx.count("num-hoisted", hoisted);
    }
    signatures::refresh(r);
    r.change()
}

/// Calls `f` for each `tf.While` of the module whose functions have no other callers.
pub(crate) fn each_loop(r: &mut Rewriter<'_>, mut f: impl FnMut(&mut Rewriter<'_>, &WhileLoop)) {
    let functions = functions(r.ir());
    let mut calls: FxHashMap<StrId, usize> = FxHashMap::default();
    let mut loops = Vec::new();
    let m = r.ir();
    for op in m.walk_functions() {
        callees(m, op).into_iter().for_each(|name| *calls.entry(name).or_default() += 1);
        if tf::Control::of(m, op) == Some(tf::Control::While) {
            loops.push(op);
        }
    }
    for op in loops {
        if let Some(parts) = WhileLoop::new(r.ir(), op, &functions, &calls) {
            f(r, &parts);
        }
    }
}

/// A `tf.While` and the blocks of its functions.
pub(crate) struct WhileLoop {
    pub(crate) op: OpId,
    /// The number of loop-carried values.
    pub(crate) n: usize,
    pub(crate) cond: BlockId,
    pub(crate) body: BlockId,
    /// The return.
    pub(crate) end: OpId,
}

impl WhileLoop {
    /// `None` if the functions may have other callers.
    fn new(
        m: &Module,
        op: OpId,
        functions: &FxHashMap<StrId, OpId>,
        calls: &FxHashMap<StrId, usize>,
    ) -> Option<WhileLoop> {
        let is_own = |attr: &str| {
            let function = function_of(m, op, attr, functions)?;
            (calls.get(&m.symbol_name(function)?) == Some(&1) && is_hidden(m, function)).then_some(())
        };
        is_own("cond")?;
        is_own("body")?;
        WhileLoop::of_any(m, op, functions)
    }

    /// A loop whose functions may have other callers, so that they must not change.
    pub(super) fn of_any(m: &Module, op: OpId, functions: &FxHashMap<StrId, OpId>) -> Option<WhileLoop> {
        let n = tf::n_data_operands(m, op);
        let block = |attr: &str| {
            let block = m.only_block(function_of(m, op, attr, functions)?)?;
            (m.args(block).len() == n).then_some(block)
        };
        let (cond, body) = (block("cond")?, block("body")?);
        let end = m.last_op(body)?;
        (m.n_operands(end) == n && tf::n_data_results(m, op) == n).then_some(WhileLoop {
            op,
            n,
            cond,
            body,
            end,
        })
    }

    /// A loop with copies of its functions, where they may have other callers.
    pub(super) fn owned(r: &mut Rewriter<'_>, op: OpId) -> Option<WhileLoop> {
        for attr in ["cond", "body"] {
            let m = r.ir();
            let all = functions(m);
            let function = function_of(m, op, attr, &all)?;
            let name = m.symbol_name(function)?;
            let n_calls =
                m.walk_functions().flat_map(|op| callees(m, op)).filter(|&other| other == name).count();
            if n_calls == 1 && is_hidden(m, function) {
                continue;
            }
            let text = m.cx.str(name).to_owned();
            let free = r.cx().free_name(&text, |name| !all.contains_key(&name));
            let copy = r.copy_function(function, &free);
            for list in [names::ARG_ATTRS, names::RES_ATTRS] {
                r.remove_attr(copy, list);
            }
            let (attr, symbol) = (r.cx().str_id(attr), r.cx().symbol_attr(&free));
            r.set_attr(op, attr, symbol);
        }
        WhileLoop::of_any(r.ir(), op, &functions(r.ir()))
    }
}

/// The function that an attribute of an op names.
fn function_of(m: &Module, op: OpId, attr: &str, functions: &FxHashMap<StrId, OpId>) -> Option<OpId> {
    match m.cx.attr(m.attr_named(op, attr)?) {
        AttrKind::Symbol { root, nested } if nested.is_empty() => functions.get(root).copied(),
        _ => None,
    }
}

/// True if a function is private and nothing is said about its arguments and results.
fn is_hidden(m: &Module, function: OpId) -> bool {
    m.is_private(function)
        && [names::ARG_ATTRS, names::RES_ATTRS].iter().all(|&list| m.attr(function, list).is_none())
}

impl WhileLoop {
    /// A loop in place of this one that carries more values, of these types, with these initial values. They
    /// follow its own. Returns it and the body's arguments. The results of this one are to be replaced, and
    /// the body is to return the next values.
    pub(crate) fn grown(
        &self,
        r: &mut Rewriter<'_>,
        outside: &[ValueId],
        types: &[TypeId],
    ) -> (OpId, Vec<ValueId>) {
        let m = r.ir();
        let own: Vec<ValueId> = m.operands(self.op).collect();
        let results: Vec<TypeId> = m.results(self.op).map(|value| m.value_type(value)).collect();
        let ((data, edges), (kept, completion)) = (own.split_at(self.n), results.split_at(self.n));
        let operands = [data, outside, edges].concat();
        let new = r.rebuild(self.op, &operands, &[kept, types, completion].concat());
        // `T` and `output_shapes` repeat the types.
        for list in ["T", "output_shapes"] {
            let list = r.cx().str_id(list);
            r.remove_attr(new, list);
        }
        let add = |&ty: &TypeId| {
            r.add_arg(self.cond, ty);
            r.add_arg(self.body, ty)
        };
        (new, types.iter().map(add).collect())
    }

    /// Makes the body return these values behind its own.
    pub(crate) fn returns_also(&self, r: &mut Rewriter<'_>, values: &[ValueId]) {
        let returned: Vec<ValueId> = r.ir().operands(self.end).chain(values.iter().copied()).collect();
        r.set_operands(self.end, &returned);
    }
}

impl IsolatedLoop for WhileLoop {
    fn op(&self) -> OpId {
        self.op
    }

    fn body(&self) -> BlockId {
        self.body
    }

    fn invariants(&self, m: &Module) -> FxHashMap<ValueId, ValueId> {
        let passed = |mut value: ValueId| {
            while let Some(op) = producer_if(m, value, &[Op::Identity]) {
                value = m.operand(op, 0);
            }
            value
        };
        let args = m.args(self.body).iter().copied().zip(m.operands(self.end)).zip(m.operands(self.op));
        args.filter(|((arg, returned), _)| passed(*returned) == *arg)
            .map(|((arg, _), out)| (arg, out))
            .collect()
    }

    /// True if an op is speculatable and total (an error would be an error of all results of the loop), and
    /// its results need little more memory than its operands, or it is a constant, forwards its operands, or
    /// packs one.
    fn may_move(&self, m: &Module, op: OpId) -> bool {
        let Some(row) = tf::row(m, op) else { return false };
        let bytes = |value| bytes_of(m, m.value_type(value));
        let sum = |sum: usize, bytes: Option<usize>| sum.checked_add(bytes?);
        let is_small = || {
            let (given, made) =
                (m.operands(op).map(bytes).try_fold(0, sum), m.results(op).map(bytes).try_fold(0, sum));
            given.zip(made).is_some_and(|(given, made)| made <= given.max(MAX_GROWN))
        };
        has_no_edges(m, op)
            && is_speculatable(m, op)
            && (row.has(Traits::CONSTANT)
                || row.has(Traits::PASSING)
                || row.op == Some(Op::_PackMatrix)
                || is_small())
            && is_total(m, op)
    }

    fn carry(&self, r: &mut Rewriter<'_>, inside: &[ValueId], outside: &[ValueId]) {
        let types: Vec<TypeId> = inside.iter().map(|&value| r.ir().value_type(value)).collect();
        let (new, args) = self.grown(r, outside, &types);
        let results: Vec<ValueId> = r.ir().results(new).collect();
        r.replace_op(self.op, &[&results[..self.n], &results[self.n + types.len()..]].concat());
        for (&value, &arg) in inside.iter().zip(&args) {
            r.replace(value, arg);
        }
        self.returns_also(r, &args);
    }
}
