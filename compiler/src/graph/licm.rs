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
const MAX_DEPTH: usize = 16;

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    for _ in 0..MAX_DEPTH {
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
        let mut hoisted = 0;
        for op in loops {
            if let Some(parts) = WhileLoop::new(r.ir(), op, &functions, &calls) {
                hoisted += hoist_from_isolated(r, &parts);
            }
        }
        if hoisted == 0 {
            break;
        }
        cx.count("num-hoisted", hoisted);
    }
    signatures::refresh(r);
    r.change()
}

/// A `tf.While` and the blocks of its functions.
struct WhileLoop {
    op: OpId,
    /// The number of loop-carried values.
    n: usize,
    cond: BlockId,
    body: BlockId,
    /// The return.
    end: OpId,
}

impl WhileLoop {
    /// `None` if the functions may have other callers.
    fn new(
        m: &Module,
        op: OpId,
        functions: &FxHashMap<StrId, OpId>,
        calls: &FxHashMap<StrId, usize>,
    ) -> Option<WhileLoop> {
        let n = tf::n_data_operands(m, op);
        let own = |attr: &str| {
            let AttrKind::Symbol { root, nested } = m.cx.attr(m.attr_named(op, attr)?) else { return None };
            let function = *functions.get(root)?;
            let is_own = nested.is_empty()
                && calls.get(root) == Some(&1)
                && m.is_private(function)
                && [names::ARG_ATTRS, names::RES_ATTRS].iter().all(|&list| m.attr(function, list).is_none());
            let &[region] = m.regions_of(function) else { return None };
            let &[block] = m.blocks_of(region) else { return None };
            (is_own && m.args(block).len() == n).then_some(block)
        };
        let (cond, block) = (own("cond")?, own("body")?);
        let end = m.last_op(block)?;
        (m.n_operands(end) == n && tf::n_data_results(m, op) == n).then_some(WhileLoop {
            op,
            n,
            cond,
            body: block,
            end,
        })
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
    /// its results need little more memory than its operands, or it is a constant or forwards its operands.
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
            && (row.has(Traits::CONSTANT) || row.has(Traits::PASSING) || is_small())
            && is_total(m, op)
    }

    fn carry(&self, r: &mut Rewriter<'_>, inside: &[ValueId], outside: &[ValueId]) {
        let m = r.ir();
        let types: Vec<TypeId> = inside.iter().map(|&value| m.value_type(value)).collect();
        let own: Vec<ValueId> = m.operands(self.op).collect();
        let results: Vec<TypeId> = m.results(self.op).map(|value| m.value_type(value)).collect();
        let ((data, edges), (kept, completion)) = (own.split_at(self.n), results.split_at(self.n));
        let operands = [data, outside, edges].concat();
        let new = r.rebuild(self.op, &operands, &[kept, &types[..], completion].concat());
        // `T` and `output_shapes` repeat the types.
        for list in ["T", "output_shapes"] {
            let list = r.cx().str_id(list);
            r.remove_attr(new, list);
        }
        let results: Vec<ValueId> = r.ir().results(new).collect();
        r.replace_op(self.op, &[&results[..self.n], &results[self.n + types.len()..]].concat());
        for (&value, &ty) in inside.iter().zip(&types) {
            let arg = r.add_arg(self.body, ty);
            r.replace(value, arg);
            r.add_arg(self.cond, ty);
        }
        let mut returned: Vec<ValueId> = r.ir().operands(self.end).collect();
        returned.extend(&r.ir().args(self.body)[self.n..]);
        r.set_operands(self.end, &returned);
    }
}
