//! `tf-shape-inference`: what is known of the shapes of all values.
//!
//! ```text
//! arguments ──rules of the tensor library, op by op──▶ results ──▶ arguments of callees ──▶ results of calls ──▶ ... to a fixpoint
//! ```
//!
//! An op is inferred again only if a type changed from which its shapes follow ([`Inference`]).
//!
//! What was known stays known. A private function whose every use is a call or a loop gets what all of these
//! agree on. A shape that no operand can have is left to fail when it runs, since it may never run.
//!
//! A loop carries values whose shapes are those that it begins with, as far as its body gives them back: it
//! is tried out, and what changes is forgotten, until nothing does ([`View::carried`]).

use std::cell::Cell;

use befrost_tensor::tf::PartialShape;
use befrost_tensor::tf::op::{Op, OpRow, Traits};
use rustc_hash::{FxHashMap, FxHashSet};

use super::effects::{body, callees, functions};
use crate::build::query::{infer, partial_shape};
use crate::dialects::tf;
use crate::ir::{AttrKind, Module, OpId, StrId, TypeKind, ValueId, names};
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

/// So often functions are looked at again when what they call or what calls them has become known better.
const MAX_ROUNDS: usize = 16;

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let left = Cell::new(MAX_TRIED);
    let mut inference = Inference::default();
    for _ in 0..MAX_ROUNDS {
        let refined = inference.round(r, &left);
        cx.count("num-refined", refined);
        if refined == 0 {
            break;
        }
        signatures::refresh(r);
    }
    r.change()
}

/// The memory of the pass: which types changed since an op was inferred. The pass changes types alone.
///
/// ```text
/// an operator                follows from the types of its operands, also those behind `DIMS`
/// a call, a branch, a loop   follows from its operands and the bodies of functions: from any type
/// ```
#[derive(Default)]
struct Inference {
    /// The number of types that changed so far.
    n_changes: u64,
    /// That number when an op was inferred; nothing if a type that it follows from changed since then.
    inferred_at: FxHashMap<OpId, u64>,
}

impl Inference {
    fn round(&mut self, r: &mut Rewriter<'_>, left: &Cell<usize>) -> u64 {
        let before = self.n_changes;
        let functions = functions(r.ir());
        let mut order: Vec<OpId> = functions.values().copied().collect();
        order.sort_by_key(|op| op.0);
        for &function in &order {
            for op in body(r.ir(), function) {
                self.op(r, op, &functions, left);
            }
        }
        self.arguments(r, &order, &functions, left);
        self.n_changes - before
    }

    /// Infers the results of one op, if they may be news.
    fn op(&mut self, r: &mut Rewriter<'_>, op: OpId, functions: &FxHashMap<StrId, OpId>, left: &Cell<usize>) {
        let m = r.ir();
        let Some(row) = tf::row(m, op) else { return };
        let is_old = |&at: &u64| !row.has(Traits::LOWERED) || at == self.n_changes;
        if self.inferred_at.get(&op).is_some_and(is_old) {
            return;
        }
        let shapes = View::new(m, functions, left).results(op);
        self.inferred_at.insert(op, self.n_changes);
        let results: Vec<ValueId> = m.results(op).collect();
        for (value, shape) in results.into_iter().zip(&shapes) {
            self.refine(r, value, shape);
        }
    }

    /// Makes a value's type say what `shape` says as well.
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

    /// The users of a value are to be inferred again, with those that look through them for dimensions.
    fn forget_users(&mut self, m: &Module, value: ValueId) {
        let mut todo = vec![value];
        let mut seen = FxHashSet::from_iter([value]);
        while let Some(value) = todo.pop() {
            for (user, _) in m.users(value) {
                self.inferred_at.remove(&user);
                if tf::operator(m, user).is_some_and(|operator| DIMS.contains(&operator)) {
                    todo.extend(m.results(user).filter(|&result| seen.insert(result)));
                }
            }
        }
    }

    /// Gives private functions what their callers pass.
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

/// The operators through which [`View::known_dims`] looks.
const DIMS: [Op; 5] = [Op::Shape, Op::Pack, Op::StridedSlice, Op::Identity, Op::Cast];

/// Loops and calls are tried out inside of others up to this depth.
const MAX_DEPTH: usize = 8;

/// So many ops are tried out in all, then what is written has to do: calls in calls in loops would take for
/// ever.
const MAX_TRIED: usize = 1 << 20;

/// A loop whose shapes have not come to rest by then carries any shapes. Every trial forgets a dimension or a
/// rank.
const MAX_TRIALS: usize = 64;

/// The shapes of values, some of which are supposed to be better known than their types say.
struct View<'m> {
    m: &'m Module,
    functions: &'m FxHashMap<StrId, OpId>,
    supposed: FxHashMap<ValueId, PartialShape>,
    depth: usize,
    /// How many ops may still be tried out.
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

    /// What an op passes on, apart from the first few operands.
    fn passed(&self, op: OpId, first: usize) -> Vec<PartialShape> {
        let n = tf::n_data_operands(self.m, op);
        self.m.operands(op).take(n).skip(first).map(|value| self.of(value)).collect()
    }

    /// What an op passes to the functions that it calls; nothing if that is not known.
    fn passed_to(&self, op: OpId) -> Option<Vec<PartialShape>> {
        match tf::Control::of(self.m, op)? {
            tf::Control::Call => Some(self.passed(op, 0)),
            tf::Control::If | tf::Control::Case => Some(self.passed(op, 1)),
            tf::Control::While => self.carried(op),
        }
    }

    /// The shapes of an op's results, as far as they are known.
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

    /// What the functions return that an op calls.
    fn called(&self, op: OpId) -> Option<Vec<PartialShape>> {
        let passed = self.passed_to(op)?;
        let callees = callees(self.m, op).into_iter().map(|name| self.functions.get(&name).copied());
        let returns: Vec<_> =
            callees.map(|function| self.returned(function?, &passed)).collect::<Option<_>>()?;
        let n = returns.iter().map(Vec::len).min()?;
        Some((0..n).map(|i| common(returns.iter().map(|shapes| &shapes[i]))).collect())
    }

    /// What a function returns if it is passed this.
    fn returned(&self, function: OpId, passed: &[PartialShape]) -> Option<Vec<PartialShape>> {
        let ops = body(self.m, function);
        let (&end, ops) = ops.split_last()?;
        let mut inside = View { supposed: FxHashMap::default(), depth: self.depth + 1, ..*self };
        // What callers pass is written in the function, unless this one is only supposed to pass it.
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

    /// The shapes of what a loop carries, in every iteration.
    fn carried(&self, op: OpId) -> Option<Vec<PartialShape>> {
        let name = self.m.attr_named(op, "body").map(|attr| self.m.cx.attr(attr));
        let Some(AttrKind::Symbol { root, .. }) = name else { return None };
        let function = *self.functions.get(root)?;
        let mut carried = self.passed(op, 0);
        for _ in 0..MAX_TRIALS {
            // Whoever tries out supposes something.
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

/// What all of these shapes have in common.
fn common<'s>(mut shapes: impl Iterator<Item = &'s PartialShape>) -> PartialShape {
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
fn arguments_of(m: &Module, function: OpId) -> Vec<ValueId> {
    let entry = m.regions_of(function).first().and_then(|&region| m.entry(region));
    entry.map_or_else(Vec::new, |block| m.args(block).to_vec())
}
