//! `tf-shape-inference`: refinement of the types of values by shape inference, across calls and loops.
//!
//! ```text
//! arguments ──rules of the tensor library, op by op──▶ results ──▶ arguments of callees ──▶ results of calls
//!     ──▶ ... to a fixpoint
//! ```
//!
//! An op is inferred again only if a type that its shapes depend on has changed ([`Inference`]), and not at
//! all if its results have all their sizes.
//!
//! Types are only refined. The arguments of a private function get the shapes that all its calls agree on. An
//! op with impossible shapes is not an error here, since it may never run.
//!
//! The shapes of loop-carried values are found by speculation: the body is inferred with the initial shapes,
//! and dimensions that it changes become unknown, until nothing changes ([`View::carried`]).

use std::cell::Cell;

use befrost_tensor::tf::PartialShape;
use befrost_tensor::tf::op::{Op, OpRow, Traits};
use rustc_hash::{FxHashMap, FxHashSet};

use super::dataflow;
use super::effects::{body, callees, functions};
use crate::build::dimensions::DIMENSION_OPERATORS;
use crate::build::query::{infer, partial_shape};
use crate::dialects::tf;
use crate::dialects::tf_executor::GRAPH;
use crate::ir::{AttrKind, DYNAMIC, Module, OpId, StrId, TypeKind, ValueId, names};
use crate::pass::{Change, Pass, PassCx, Rewriter};
use crate::rewrite::signatures;

pub(crate) const PASS: Pass = Pass {
    name: "tf-shape-inference",
    title: "TFShapeInference",
    summary: "finds the shapes of all values of TensorFlow's operators that can be known",
    options: &[],
    statistics: &[("num-refined", "Number of types that became more exact")],
    run,
};

/// Limit on rounds over all functions; a change in a callee or a caller starts another round.
const MAX_ROUNDS: usize = 16;

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    cx.count("num-refined", infer_shapes(r));
    r.change()
}

/// Refines all types; returns the number of refinements.
pub(crate) fn infer_shapes(r: &mut Rewriter<'_>) -> u64 {
    let left = Cell::new(MAX_TRIED);
    let mut inference = Inference::default();
    for _ in 0..MAX_ROUNDS {
        let refined = inference.round(r, &left);
        if refined == 0 {
            break;
        }
        signatures::refresh(r);
    }
    inference.n_changes
}

/// The incremental state of the pass: the ops whose inputs have changed since they were inferred. The pass
/// changes nothing but types.
///
/// ```text
/// an operator                depends on the types of its operands, also through dimension operators
/// a call, a branch, a loop   depends on its operands and on the bodies of functions: on any type
/// ```
#[derive(Default)]
struct Inference {
    /// The number of changes of types so far.
    n_changes: u64,
    /// `n_changes` at the time an op was inferred; removed when a type that it depends on changes.
    inferred_at: FxHashMap<OpId, u64>,
}

impl Inference {
    fn round(&mut self, r: &mut Rewriter<'_>, left: &Cell<usize>) -> u64 {
        let before = self.n_changes;
        let functions = functions(r.ir());
        let mut order: Vec<OpId> = functions.values().copied().collect();
        order.sort_unstable();
        for &function in &order {
            for op in body(r.ir(), function) {
                if r.ir().op_name_str(op) == GRAPH {
                    self.graph(r, op, &functions, left);
                } else {
                    self.op(r, op, &functions, left);
                }
            }
        }
        self.arguments(r, &order, &functions, left);
        self.n_changes - before
    }

    /// Infers the results of an op, unless nothing that they depend on has changed.
    fn op(&mut self, r: &mut Rewriter<'_>, op: OpId, functions: &FxHashMap<StrId, OpId>, left: &Cell<usize>) {
        let m = r.ir();
        let Some(row) = tf::row(m, op) else { return };
        let is_old = |&at: &u64| !row.has(Traits::LOWERED) || at == self.n_changes;
        if self.inferred_at.get(&op).is_some_and(is_old) {
            return;
        }
        let results: Vec<ValueId> = m.results(op).collect();
        if !results.iter().any(|&value| may_be_refined(m, value)) {
            return;
        }
        let shapes = View::new(m, functions, left).results(op);
        self.inferred_at.insert(op, self.n_changes);
        for (value, shape) in results.into_iter().zip(&shapes) {
            self.refine(r, value, shape);
        }
    }

    /// Infers the shapes in a graph with dataflow control flow, unless nothing has changed.
    fn graph(
        &mut self,
        r: &mut Rewriter<'_>,
        graph: OpId,
        functions: &FxHashMap<StrId, OpId>,
        left: &Cell<usize>,
    ) {
        if self.inferred_at.get(&graph) == Some(&self.n_changes) {
            return;
        }
        let m = r.ir();
        let view = View::new(m, functions, left);
        let infer = |op: OpId, shapes: &dataflow::shapes::Shapes| {
            let supposed = m.operands(op).filter_map(|value| Some((value, shapes.get(&value)?.clone())));
            View { supposed: supposed.collect(), ..View::new(m, functions, left) }.results(op)
        };
        let shapes = dataflow::shapes::shapes_of(m, graph, |value| view.of(value), infer);
        let mut values: Vec<(ValueId, PartialShape)> = shapes.into_iter().collect();
        values.sort_by_key(|&(value, _)| value.0);
        for (value, shape) in values {
            self.refine(r, value, &shape);
        }
        self.inferred_at.insert(graph, self.n_changes);
    }

    /// Merges `shape` into the type of a value.
    fn refine(&mut self, r: &mut Rewriter<'_>, value: ValueId, shape: &PartialShape) {
        let m = r.ir();
        let old = m.value_type(value);
        if !matches!(m.cx.ty(old), TypeKind::Tensor { .. }) {
            return;
        }
        let Some(merged) = partial_shape(m, old).merged(shape) else { return };
        let element = m.cx.element(old);
        let new = tf::tensor(r.cx(), merged.dims().as_deref(), element);
        if new == old {
            return;
        }
        r.set_type(value, new);
        self.n_changes += 1;
        self.forget_users(r.ir(), value);
    }

    /// Invalidates the users of a value, also those that look through dimension operators.
    fn forget_users(&mut self, m: &Module, value: ValueId) {
        let mut todo = vec![value];
        let mut seen = FxHashSet::from_iter([value]);
        while let Some(value) = todo.pop() {
            for (user, _) in m.users(value) {
                self.inferred_at.remove(&user);
                if tf::operator(m, user).is_some_and(|operator| DIMENSION_OPERATORS.contains(&operator)) {
                    todo.extend(m.results(user).filter(|&result| seen.insert(result)));
                }
            }
        }
    }

    /// Propagates the shapes of call operands to the arguments of private functions.
    fn arguments(
        &mut self,
        r: &mut Rewriter<'_>,
        order: &[OpId],
        functions: &FxHashMap<StrId, OpId>,
        left: &Cell<usize>,
    ) {
        let m = r.ir();
        let view = View::new(m, functions, left);
        let mut passed: FxHashMap<StrId, Option<Vec<Vec<PartialShape>>>> = FxHashMap::default();
        for &function in order {
            for op in body(m, function) {
                for callee in callees(m, op) {
                    let given = view.passed_to(op);
                    let all = passed.entry(callee).or_insert_with(|| Some(Vec::new()));
                    match (given, all.as_mut()) {
                        (Some(given), Some(all)) => all.push(given),
                        _ => *all = None,
                    }
                }
            }
        }
        for &function in order {
            let m = r.ir();
            let name = m.symbol_name(function).filter(|_| m.is_private(function));
            let Some(Some(all)) = name.and_then(|name| passed.get(&name)) else { continue };
            for (i, arg) in arguments_of(m, function).into_iter().enumerate() {
                let shapes: Option<Vec<&PartialShape>> = all.iter().map(|given| given.get(i)).collect();
                if let Some(shapes) = shapes {
                    self.refine(r, arg, &common(shapes.into_iter()));
                }
            }
        }
    }
}

/// True if the type of a value can become more exact: it is a tensor's, with an unknown size or rank.
fn may_be_refined(m: &Module, value: ValueId) -> bool {
    match m.cx.ty(m.value_type(value)) {
        TypeKind::Tensor { shape, .. } => shape.as_ref().is_none_or(|dims| dims.contains(&DYNAMIC)),
        _ => false,
    }
}

/// Depth limit of nested speculation.
const MAX_DEPTH: usize = 8;

/// Global budget of speculatively inferred ops. Calls beyond it use declared types. It bounds nested calls in
/// loops.
const MAX_TRIED: usize = 1 << 20;

/// Limit on the iterations of a loop's fixpoint, after which its shapes are unknown. Each iteration drops a
/// dimension or a rank.
const MAX_TRIALS: usize = 64;

/// The shapes of values, partly by assumption.
struct View<'m> {
    m: &'m Module,
    functions: &'m FxHashMap<StrId, OpId>,
    supposed: FxHashMap<ValueId, PartialShape>,
    depth: usize,
    /// The remaining budget.
    left: &'m Cell<usize>,
}

impl<'m> View<'m> {
    fn new(m: &'m Module, functions: &'m FxHashMap<StrId, OpId>, left: &'m Cell<usize>) -> View<'m> {
        View { m, functions, supposed: FxHashMap::default(), depth: 0, left }
    }

    fn of(&self, value: ValueId) -> PartialShape {
        let written = partial_shape(self.m, self.m.value_type(value));
        let merged = self.supposed.get(&value).and_then(|supposed| written.merged(supposed));
        merged.unwrap_or(written)
    }

    /// The shapes of the data operands, without the first `first` ones.
    fn passed(&self, op: OpId, first: usize) -> Vec<PartialShape> {
        let n = tf::n_data_operands(self.m, op);
        self.m.operands(op).take(n).skip(first).map(|value| self.of(value)).collect()
    }

    /// The shapes of the arguments of the callees, if known.
    fn passed_to(&self, op: OpId) -> Option<Vec<PartialShape>> {
        match tf::Control::of(self.m, op)? {
            tf::Control::Call => Some(self.passed(op, 0)),
            tf::Control::If | tf::Control::Case => Some(self.passed(op, 1)),
            tf::Control::While => self.carried(op),
        }
    }

    /// The shapes of the results of an op, as far as known.
    fn results(&self, op: OpId) -> Vec<PartialShape> {
        let m = self.m;
        let Some(row) = tf::row(m, op) else { return Vec::new() };
        let n_results = tf::n_data_results(m, op);
        let shapes = match row.op {
            Some(Op::Const) => {
                let ty = m.attr(op, names::VALUE).and_then(|attr| m.cx.attr_type(attr));
                ty.map(|ty| vec![partial_shape(m, ty)])
            }
            _ if tf::Control::of(m, op) == Some(tf::Control::While) => self.carried(op),
            _ if row.has(Traits::LOWERED) => self.called(op),
            _ if row.has(Traits::PASSING) => Some(self.passed(op, 0)),
            _ => self.inferred(op, row),
        };
        let mut shapes = shapes.unwrap_or_default();
        shapes.truncate(n_results);
        shapes
    }

    fn inferred(&self, op: OpId, row: &OpRow) -> Option<Vec<PartialShape>> {
        let m = self.m;
        let operands: Vec<ValueId> = m.operands(op).take(tf::n_data_operands(m, op)).collect();
        let attrs = tf::attrs_of(m, op, row.signature());
        let results = infer(m, row, &attrs, &operands, &|value| self.of(value)).ok()?;
        Some(results.into_iter().map(|result| result.shape).collect())
    }

    /// The common shapes of the results of the callees.
    fn called(&self, op: OpId) -> Option<Vec<PartialShape>> {
        let passed = self.passed_to(op)?;
        let callees = callees(self.m, op).into_iter().map(|name| self.functions.get(&name).copied());
        let returns: Vec<_> =
            callees.map(|function| self.returned(function?, &passed)).collect::<Option<_>>()?;
        let n = returns.iter().map(Vec::len).min()?;
        Some((0..n).map(|i| common(returns.iter().map(|shapes| &shapes[i]))).collect())
    }

    /// The shapes of a function's results for arguments of these shapes.
    fn returned(&self, function: OpId, passed: &[PartialShape]) -> Option<Vec<PartialShape>> {
        let ops = body(self.m, function);
        let (&end, ops) = ops.split_last()?;
        let mut inside = View { supposed: FxHashMap::default(), depth: self.depth + 1, ..*self };
        // Without assumptions the types in the function already hold the shapes of all calls.
        let left = self.left.get().checked_sub(ops.len());
        if !self.supposed.is_empty()
            && self.depth < MAX_DEPTH
            && let Some(left) = left
        {
            self.left.set(left);
            inside.supposed =
                arguments_of(self.m, function).into_iter().zip(passed.iter().cloned()).collect();
            for &op in ops {
                for (value, shape) in self.m.results(op).zip(inside.results(op)) {
                    inside.supposed.insert(value, shape);
                }
            }
        }
        Some(self.m.operands(end).map(|value| inside.of(value)).collect())
    }

    /// The shapes of loop-carried values in all iterations.
    fn carried(&self, op: OpId) -> Option<Vec<PartialShape>> {
        let name = self.m.attr_named(op, "body").map(|attr| self.m.cx.attr(attr));
        let Some(AttrKind::Symbol { root, .. }) = name else { return None };
        let function = *self.functions.get(root)?;
        let mut carried = self.passed(op, 0);
        for _ in 0..MAX_TRIALS {
            // A trial always has assumptions.
            let known = self.m.operands(op).zip(carried.iter().cloned());
            let trial = View { supposed: known.collect(), ..*self };
            let returned = trial.returned(function, &carried)?;
            let next: Vec<_> =
                carried.iter().zip(&returned).map(|(a, b)| common([a, b].into_iter())).collect();
            if next == carried {
                return Some(carried);
            }
            carried = next;
        }
        None
    }
}

/// The most exact shape that covers all of these.
pub(super) fn common<'s>(mut shapes: impl Iterator<Item = &'s PartialShape>) -> PartialShape {
    let same = |a: PartialShape, b: &PartialShape| {
        let (mut dims, other) =
            (a.dims()?, b.dims().filter(|other| Some(other.len()) == a.dims().map(|d| d.len()))?);
        dims.iter_mut().zip(other).for_each(|(dim, other)| *dim = if *dim == other { other } else { -1 });
        PartialShape::from_i64(&dims).ok()
    };
    let first = shapes.next().cloned();
    first.and_then(|first| shapes.try_fold(first, same)).unwrap_or_else(PartialShape::unknown)
}

/// The arguments of a function.
pub(crate) fn arguments_of(m: &Module, function: OpId) -> Vec<ValueId> {
    let entry = m.regions_of(function).first().and_then(|&region| m.entry(region));
    entry.map_or_else(Vec::new, |block| m.args(block).to_vec())
}
