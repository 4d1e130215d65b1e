//! `tf-lower-functional-ops`: the primitives of dataflow control flow from conditionals and loops of
//! functions.
//!
//! ```text
//! tf.If(p, x) {then, else}     Switch(x, p), both functions' ops on its results, Merge
//! tf.Case(i, x) {branches}     _SwitchN(x, i), all functions' ops, Merge
//! tf.While(x) {cond, body}     Enter, Merge, cond, LoopCond, Switch, body, NextIteration; Exit
//! ```
//!
//! The inverse of `tf-functionalize-control-flow`, with TensorFlow's name. A function with such ops becomes
//! one graph, as those that are imported are. It contains the lowered ops of the functions that they call. In
//! a branch or a body, ops without operands get a control edge from its *pivot*, so that they are dead with
//! it and belong to its frame.
//!
//! In a graph nothing but operands orders effects. So the order of the program becomes control edges. A
//! conditional is complete when the effects of the branch that runs are; an iteration starts when the effects
//! of the one before are complete. What has no effects is complete when its results are. A function returns
//! when its last effects are complete: an effect that did not happen is an error of the call.
//!
//! The edge from a Merge is no error if what it passes on is one, so the edges are those of Identities behind
//! it. The pivot of a body, and the completion of a loop with effects, are those of a variable on which the
//! condition depends: if that is an error, the condition is one, and the loop ends with it.
//!
//! Not lowered: conditions of another type than `i1`; recursive functions.

use befrost_tensor::tf::op::Op;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::effects::{EffectState, access, body, effectful, functions};
use crate::dialects::Access;
use crate::dialects::tf::{self, Control};
use crate::dialects::tf_executor::{FETCH, GRAPH, Primitive, TOKEN};
use crate::ir::{
    AttrId, AttrKind, KnownType, LocId, Module, NewOp, OpId, OpNameId, StrId, TypeId, ValueId, names,
};
use crate::pass::{Change, Pass, PassCx, Rewriter};
use crate::rewrite::{InsertionPoint, state_access};

pub(crate) const LOWER: Pass = Pass {
    name: "tf-lower-functional-ops",
    title: "TFLowerFunctionalOps",
    summary: "makes TensorFlow's dataflow control flow of conditionals and loops of functions",
    options: &[],
    statistics: &[("num-lowered", "Number of conditionals and loops lowered")],
    run,
};

/// Limit of the ops created in one function. Nested calls multiply them.
const MAX_OPS: usize = 1 << 16;

const CHAIN: TypeId = KnownType::Chain.id();

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let functions = functions(r.ir());
    let effectful = effectful(r.ir(), &functions);
    let mut all: Vec<OpId> = functions.values().copied().collect();
    all.sort_unstable();
    // Bodies are copied from the functions as they are, so all are found before one is changed.
    let bodies: FxHashMap<StrId, Body> =
        functions.iter().filter_map(|(&name, &function)| Some((name, Body::of(r.ir(), function)?))).collect();
    for function in all {
        let (bodies, effectful) = (&bodies, &effectful);
        let mut lowering =
            ToPrimitives { r: &mut *r, bodies, effectful, end: function, n_ops: 0, n_frames: 0 };
        if body(lowering.m(), function).iter().any(|&op| lowering.lowerable(op, None).is_some()) {
            let last = lowering.order_effects(function);
            cx.count("num-lowered", lowering.graph(function, &last));
        }
    }
    r.change()
}

/// A function that may be copied.
struct Body {
    args: Vec<ValueId>,
    ops: Vec<BodyOp>,
    returned: Vec<ValueId>,
}

/// An op of a function, which may be changed by the time it is copied.
struct BodyOp {
    name: OpNameId,
    loc: LocId,
    operands: Vec<ValueId>,
    results: Vec<(ValueId, TypeId)>,
    attrs: Vec<(StrId, AttrId)>,
}

impl Body {
    /// The body of a function of one block whose ops have no regions.
    fn of(m: &Module, function: OpId) -> Option<Body> {
        let &[region] = m.regions_of(function) else { return None };
        let &[block] = m.blocks_of(region) else { return None };
        let mut ops: Vec<OpId> = m.ops_in(block).collect();
        let end = ops.pop()?;
        if ops.iter().any(|&op| !m.regions_of(op).is_empty()) {
            return None;
        }
        let ops = ops.into_iter().map(|op| BodyOp {
            name: m.op_name(op),
            loc: m.loc(op),
            operands: m.operands(op).collect(),
            results: m.results(op).map(|value| (value, m.value_type(value))).collect(),
            attrs: m.attrs(op).to_vec(),
        });
        Some(Body { args: m.args(block).to_vec(), ops: ops.collect(), returned: m.operands(end).collect() })
    }
}

/// The copy of a function's ops.
struct CopiedBody {
    returned: Vec<ValueId>,
    ops: Vec<(OpId, Rc<CopyScope>)>,
    /// The completions of its last effects.
    effects: Vec<ValueId>,
}

/// The functions that a copied op comes from, and the pivot for its ops without operands.
struct CopyScope {
    names: FxHashSet<StrId>,
    pivot: Option<ValueId>,
}

/// The lowering of one function.
struct ToPrimitives<'a, 'm> {
    r: &'a mut Rewriter<'m>,
    bodies: &'a FxHashMap<StrId, Body>,
    effectful: &'a FxHashSet<StrId>,
    /// The end of the graph.
    end: OpId,
    n_ops: usize,
    n_frames: usize,
}

impl ToPrimitives<'_, '_> {
    fn m(&self) -> &Module {
        self.r.ir()
    }

    /// The kind of an op that is lowered, and its functions.
    fn lowerable(&self, op: OpId, inside: Option<&CopyScope>) -> Option<(Control, Vec<StrId>)> {
        let m = self.m();
        let control = Control::of(m, op)?;
        let names = match control {
            Control::Call => return None,
            Control::If => vec!["else_branch", "then_branch"],
            Control::While => vec!["cond", "body"],
            Control::Case => vec!["branches"],
        };
        let of = |name: &str| -> Option<Vec<StrId>> {
            let attr = m.attr_named(op, name)?;
            let symbols = match m.cx.attr(attr) {
                AttrKind::Array(items) => items.to_vec(),
                _ => vec![attr],
            };
            let root = |symbol: AttrId| match m.cx.attr(symbol) {
                AttrKind::Symbol { root, nested } if nested.is_empty() => Some(*root),
                _ => None,
            };
            symbols.into_iter().map(root).collect()
        };
        let functions: Vec<StrId> = names.into_iter().map(of).collect::<Option<Vec<_>>>()?.concat();
        let element = |value: ValueId| m.cx.element(m.value_type(value));
        let bool = KnownType::I1.id();
        let decides = match control {
            Control::If => m.operands(op).next().is_some_and(|value| element(value) == bool),
            Control::Case => functions.len() > 1,
            Control::While => {
                let cond = self.bodies.get(functions.first()?)?;
                tf::n_data_operands(m, op) > 0 && cond.returned.iter().all(|&value| element(value) == bool)
            }
            Control::Call => false,
        };
        let is_known = |name: &StrId| {
            self.bodies.contains_key(name) && inside.is_none_or(|inside| !inside.names.contains(name))
        };
        let n_ops: usize =
            functions.iter().filter_map(|name| self.bodies.get(name)).map(|body| body.ops.len()).sum();
        (decides && functions.iter().all(is_known) && self.n_ops + n_ops < MAX_OPS)
            .then_some((control, functions))
    }

    /// Orders an op among the effects of its function; returns the op in its place.
    fn order(&mut self, op: OpId, state: &mut EffectState) -> OpId {
        let Some(access) = access(self.m(), op, self.effectful) else { return op };
        let is_own = state_access(self.m(), op).is_some();
        let resources = if is_own { state.resources(self.m(), op) } else { None };
        state.order(self.r, op, access, resources.as_deref())
    }

    /// Adds the control edges that keep the effects of a function in the order of its ops. Returns the
    /// completions of the last effects.
    fn order_effects(&mut self, function: OpId) -> Vec<ValueId> {
        let mut state = EffectState::after(None);
        for op in body(self.m(), function) {
            self.order(op, &mut state);
        }
        state.waits(Access::Write, None)
    }

    /// The completion of an op, if it has one and something waits for it.
    fn completion(&self, op: OpId) -> Option<ValueId> {
        let m = self.m();
        m.results(op).nth(tf::n_data_results(m, op)).filter(|&completion| !m.is_unused(completion))
    }

    /// True if one of these functions has effects.
    fn have_effects(&self, functions: &[StrId]) -> bool {
        functions.iter().any(|name| self.effectful.contains(name))
    }

    /// The number of the first argument on which the first result of a function depends.
    fn deciding(&self, name: StrId) -> Option<usize> {
        let body = &self.bodies[&name];
        let mut needed: FxHashSet<ValueId> = body.returned.first().copied().into_iter().collect();
        for op in body.ops.iter().rev() {
            if op.results.iter().any(|(value, _)| needed.contains(value)) {
                needed.extend(&op.operands);
            }
        }
        body.args.iter().position(|arg| needed.contains(arg))
    }

    /// Makes a graph of a function's body, and lowers the ops in it and in their callees. Its results wait
    /// for the last effects. Returns the number of lowered ops.
    fn graph(&mut self, function: OpId, last: &[ValueId]) -> u64 {
        let m = self.m();
        let mut ops = body(m, function);
        let Some(end) = ops.pop() else { return 0 };
        let (loc, returned) = (m.loc(function), m.operands(end).collect::<Vec<_>>());
        let types: Vec<TypeId> = returned.iter().map(|&value| m.value_type(value)).collect();
        let graph = self.r.create_named(InsertionPoint::Before(end), loc, GRAPH, &[], &types, &[]);
        let region = self.r.add_region(graph);
        let block = self.r.add_block(region);
        for &op in &ops {
            self.r.move_to(op, InsertionPoint::End(block));
        }
        let results: Vec<ValueId> = self.m().results(graph).collect();
        self.r.set_operands(end, &results);
        let fetched = [&returned[..], last].concat();
        self.end = self.r.create_named(InsertionPoint::End(block), loc, FETCH, &fetched, &[], &[]);
        let inside = Rc::new(CopyScope { names: FxHashSet::default(), pivot: None });
        let mut todo: Vec<(OpId, Rc<CopyScope>)> =
            ops.into_iter().rev().map(|op| (op, inside.clone())).collect();
        let mut n_lowered = 0;
        while let Some((op, inside)) = todo.pop() {
            let Some((control, functions)) = self.lowerable(op, Some(&inside)) else { continue };
            let made = match control {
                Control::While => self.lower_loop(op, &functions, &inside),
                _ => self.lower_branches(op, control, &functions, &inside),
            };
            todo.extend(made.into_iter().rev());
            n_lowered += 1;
        }
        n_lowered
    }

    fn make(&mut self, before: OpId, name: &str, operands: &[ValueId], types: &[TypeId]) -> Vec<ValueId> {
        let loc = self.m().loc(before);
        let op = self.r.create_named(InsertionPoint::Before(before), loc, name, operands, types, &[]);
        self.m().results(op).collect()
    }

    /// A primitive on some operands and control edges.
    fn primitive(
        &mut self,
        before: OpId,
        of: Primitive,
        operands: &[ValueId],
        types: &[TypeId],
    ) -> Vec<ValueId> {
        self.make(before, of.op_name(), operands, types)
    }

    /// The completion of an Identity of a value, which has the device of the op that is lowered.
    fn pivot(&mut self, lowered: OpId, value: ValueId) -> ValueId {
        let m = self.m();
        let (ty, device) = (m.value_type(value), m.attr(lowered, names::DEVICE));
        let completion = self.make(lowered, Op::Identity.op_name(), &[value], &[ty, CHAIN])[1];
        if let (Some(identity), Some(device)) = (self.m().defining_op(completion), device) {
            self.r.set_attr(identity, names::DEVICE, device);
        }
        completion
    }

    /// A completion that waits for all of these, at least one.
    fn joined(&mut self, before: OpId, edges: Vec<ValueId>) -> ValueId {
        match edges[..] {
            [edge] => edge,
            _ => self.make(before, Op::NoOp.op_name(), &edges, &[CHAIN])[0],
        }
    }

    /// Copies a function's ops in front of an op.
    fn copy(&mut self, before: OpId, name: StrId, args: &[ValueId], inside: &Rc<CopyScope>) -> CopiedBody {
        let body = &self.bodies[&name];
        let mut values: FxHashMap<ValueId, ValueId> =
            body.args.iter().copied().zip(args.iter().copied()).collect();
        let mut ops = Vec::new();
        let mut state = EffectState::after(None);
        for op in &body.ops {
            let mut operands: Vec<ValueId> = op.operands.iter().map(|value| values[value]).collect();
            if operands.is_empty() {
                operands.extend(inside.pivot);
            }
            let types: Vec<TypeId> = op.results.iter().map(|&(_, ty)| ty).collect();
            let new = NewOp {
                loc: op.loc,
                operands: &operands,
                results: &types,
                attrs: &op.attrs,
                ..NewOp::new(op.name)
            };
            let copy = self.r.create(InsertionPoint::Before(before), new);
            let copy = self.order(copy, &mut state);
            values.extend(op.results.iter().map(|&(value, _)| value).zip(self.m().results(copy)));
            ops.push((copy, inside.clone()));
        }
        self.n_ops += body.ops.len();
        // A returned value that no op defines is an argument, or dead with the branch.
        let returned = body.returned.iter().map(|value| values[value]).collect();
        CopiedBody { returned, ops, effects: state.waits(Access::Write, None) }
    }

    /// Lowers a conditional. Returns the copied ops.
    fn lower_branches(
        &mut self,
        op: OpId,
        control: Control,
        functions: &[StrId],
        inside: &Rc<CopyScope>,
    ) -> Vec<(OpId, Rc<CopyScope>)> {
        let m = self.m();
        let operands: Vec<ValueId> = m.operands(op).collect();
        let (data, edges) = operands.split_at(tf::n_data_operands(m, op));
        let results: Vec<ValueId> = m.results(op).take(tf::n_data_results(m, op)).collect();
        let completion = self.completion(op);
        let has_effects = self.have_effects(functions) || results.is_empty();
        let by = data[0];
        let of = if control == Control::If { Primitive::Switch } else { Primitive::SwitchN };
        let switch = |this: &mut Self, value: ValueId| {
            let ty = this.m().value_type(value);
            let operands = [&[value, by], edges].concat();
            this.primitive(op, of, &operands, &vec![ty; functions.len()])
        };
        let pivots = switch(self, by);
        let switched: Vec<Vec<ValueId>> = data[1..].iter().map(|&value| switch(self, value)).collect();
        let (mut of_branches, mut made, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        for (branch, &name) in functions.iter().enumerate() {
            let pivot = Some(self.pivot(op, pivots[branch]));
            let names = inside.names.iter().copied().chain([name]).collect();
            let args: Vec<ValueId> = switched.iter().map(|values| values[branch]).collect();
            let copied = self.copy(op, name, &args, &Rc::new(CopyScope { names, pivot }));
            of_branches.push(copied.returned);
            made.extend(copied.ops);
            if completion.is_some() && has_effects {
                let ty = self.m().value_type(by);
                let waits = [&[pivots[branch]], &copied.effects[..]].concat();
                ends.extend(self.make(op, Op::Identity.op_name(), &waits, &[ty]));
            }
        }
        let index = self.index_type();
        let mut awaited = Vec::new();
        for (i, &result) in results.iter().enumerate() {
            let inputs: Vec<ValueId> = of_branches.iter().map(|values| values[i]).collect();
            let ty = self.m().value_type(result);
            let merged = self.primitive(op, Primitive::Merge, &inputs, &[ty, index]);
            self.r.replace(result, merged[0]);
            awaited.push(merged[0]);
        }
        if let Some(completion) = completion {
            if has_effects {
                let ty = self.m().value_type(by);
                awaited = vec![self.primitive(op, Primitive::Merge, &ends, &[ty, index])[0]];
            }
            let edges: Vec<ValueId> = awaited.into_iter().map(|value| self.pivot(op, value)).collect();
            let ready = self.joined(op, edges);
            self.r.replace(completion, ready);
        }
        self.r.erase(op);
        made
    }

    fn index_type(&mut self) -> TypeId {
        tf::tensor(self.r.cx(), Some(&[]), KnownType::I32.id())
    }

    /// Lowers a loop. Returns the copied ops.
    fn lower_loop(
        &mut self,
        op: OpId,
        functions: &[StrId],
        inside: &Rc<CopyScope>,
    ) -> Vec<(OpId, Rc<CopyScope>)> {
        let m = self.m();
        let operands: Vec<ValueId> = m.operands(op).collect();
        let (data, edges) = operands.split_at(tf::n_data_operands(m, op));
        let results: Vec<ValueId> = m.results(op).take(tf::n_data_results(m, op)).collect();
        let completion = self.completion(op);
        let types: Vec<TypeId> = results.iter().map(|&value| m.value_type(value)).collect();
        let parallel = m.attr_named(op, "parallel_iterations");
        let stem = m.cx.str(functions[1]).to_owned();
        let frame = format!("{stem}/{}/{}", self.end.0, self.n_frames);
        self.n_frames += 1;
        let frame = self.r.cx().str_attr(&frame);
        let (index, token) = (self.index_type(), self.r.cx().opaque_type(TOKEN));
        let deciding = self.deciding(functions[0]).unwrap_or(0);
        let (mut merged, mut tokens, mut started) = (Vec::new(), Vec::new(), None);
        for (&value, &ty) in data.iter().zip(&types) {
            let mut attrs = vec![("frame_name", frame)];
            attrs.extend(parallel.map(|parallel| ("parallel_iterations", parallel)));
            let (loc, at) = (self.m().loc(op), InsertionPoint::Before(op));
            let operands = [&[value], edges].concat();
            let enter = self.r.create_named(at, loc, Primitive::Enter.op_name(), &operands, &[ty], &attrs);
            let entered = self.m().result(enter, 0);
            let source = self.primitive(op, Primitive::Source, &[], &[ty, token]);
            let types: &[TypeId] = if started.is_none() { &[ty, index, CHAIN] } else { &[ty, index] };
            let merge = self.primitive(op, Primitive::Merge, &[entered, source[0]], types);
            started = started.or(merge.get(2).copied());
            merged.push(merge[0]);
            tokens.push(source[1]);
        }
        let named = |name: StrId| inside.names.iter().copied().chain([name]).collect();
        let within = Rc::new(CopyScope { names: named(functions[0]), pivot: started });
        let CopiedBody { returned: mut cond, ops: mut made, effects } =
            self.copy(op, functions[0], &merged, &within);
        let ty = self.m().value_type(cond[0]);
        cond.extend(effects);
        let cond = self.primitive(op, Primitive::LoopCond, &cond, &[ty]);
        let switched: Vec<Vec<ValueId>> = merged
            .iter()
            .zip(&types)
            .map(|(&value, &ty)| self.primitive(op, Primitive::Switch, &[value, cond[0]], &[ty, ty]))
            .collect();
        let pivot = Some(self.pivot(op, switched[deciding][1]));
        let args: Vec<ValueId> = switched.iter().map(|values| values[1]).collect();
        let within = Rc::new(CopyScope { names: named(functions[1]), pivot });
        let CopiedBody { returned: next, ops, effects } = self.copy(op, functions[1], &args, &within);
        made.extend(ops);
        for (&token, &value) in tokens.iter().zip(&next) {
            self.primitive(op, Primitive::Sink, &[&[token, value], &effects[..]].concat(), &[]);
        }
        let mut exits = Vec::new();
        for ((values, &result), &ty) in switched.iter().zip(&results).zip(&types) {
            let types: &[TypeId] = if completion.is_some() { &[ty, CHAIN] } else { &[ty] };
            let exit = self.primitive(op, Primitive::Exit, &[values[0]], types);
            self.r.replace(result, exit[0]);
            exits.extend(exit.get(1));
        }
        if let Some(completion) = completion {
            let waits = if self.have_effects(functions) { vec![exits[deciding]] } else { exits };
            let ready = self.joined(op, waits);
            self.r.replace(completion, ready);
        }
        self.r.erase(op);
        made
    }
}
