//! `tf-lower-functional-ops`: the primitives of dataflow control flow from conditionals and loops of
//! functions.
//!
//! ```text
//! tf.If(p, x) {then, else}     Switch(x, p), both functions' ops on its results, Merge
//! tf.Case(i, x) {branches}     _SwitchN(x, i), all functions' ops, Merge
//! tf.While(x) {cond, body}     Enter, Merge, cond, LoopCond, Switch, body, NextIteration; Exit
//! ```
//!
//! The inverse of `tf-functionalize-control-flow`, with TensorFlow's name. An op becomes a graph that
//! contains the lowered ops of its functions; the ops around it, with their effects, keep their places. In a
//! branch or a body, ops without operands get a control edge from its *pivot*, so that they are dead with it
//! and belong to its frame.
//!
//! Not lowered: functions with effects, whose order the primitives would lose; ops with users of their
//! completion; conditions of another type than `i1`; recursive functions.

use befrost_tensor::tf::op::Op;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::effects::{body, effectful, functions};
use crate::dialects::tf::{self, Control};
use crate::dialects::tf_executor::{FETCH, GRAPH, Primitive, TOKEN};
use crate::ir::{AttrId, AttrKind, KnownType, LocId, Module, NewOp, OpId, OpNameId, StrId, TypeId, ValueId};
use crate::pass::{Change, Pass, PassCx, Rewriter};
use crate::rewrite::InsertionPoint;

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
    let bodies: FxHashMap<StrId, Body> = functions
        .iter()
        .filter(|(name, _)| !effectful.contains(*name))
        .filter_map(|(&name, &function)| Some((name, Body::of(r.ir(), function)?)))
        .collect();
    for function in all {
        let ops = body(r.ir(), function);
        let mut lowering = ToPrimitives { r: &mut *r, bodies: &bodies, end: function, n_ops: 0, n_frames: 0 };
        for op in ops {
            if lowering.lowerable(op, None).is_some() {
                cx.count("num-lowered", lowering.graph(op));
            }
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

/// The functions that a copied op comes from, and the pivot for its ops without operands.
struct CopyScope {
    names: FxHashSet<StrId>,
    pivot: Option<ValueId>,
}

/// The lowering of one function.
struct ToPrimitives<'a, 'm> {
    r: &'a mut Rewriter<'m>,
    bodies: &'a FxHashMap<StrId, Body>,
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
        let is_waited_for = tf::n_data_results(m, op) < m.n_results(op);
        (decides && functions.iter().all(is_known) && !is_waited_for && self.n_ops + n_ops < MAX_OPS)
            .then_some((control, functions))
    }

    /// Replaces an op by a graph, and lowers it and its callees. Returns the number of lowered ops.
    fn graph(&mut self, op: OpId) -> u64 {
        let m = self.m();
        let (loc, results) = (m.loc(op), m.results(op).collect::<Vec<_>>());
        let types: Vec<TypeId> = results.iter().map(|&value| m.value_type(value)).collect();
        let graph = self.r.create_named(InsertionPoint::Before(op), loc, GRAPH, &[], &types, &[]);
        let region = self.r.add_region(graph);
        let block = self.r.add_block(region);
        self.r.move_to(op, InsertionPoint::End(block));
        let outer: Vec<ValueId> = self.m().results(graph).collect();
        for (&result, &outer) in results.iter().zip(&outer) {
            self.r.replace(result, outer);
        }
        self.end = self.r.create_named(InsertionPoint::End(block), loc, FETCH, &results, &[], &[]);
        let mut todo = vec![(op, Rc::new(CopyScope { names: FxHashSet::default(), pivot: None }))];
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

    /// The completion of an Identity of a value.
    fn pivot(&mut self, before: OpId, value: ValueId) -> ValueId {
        let ty = self.m().value_type(value);
        self.make(before, Op::Identity.op_name(), &[value], &[ty, CHAIN])[1]
    }

    /// Copies a function's ops in front of an op. Returns its results and the copies.
    fn copy(
        &mut self,
        before: OpId,
        name: StrId,
        args: &[ValueId],
        inside: &Rc<CopyScope>,
    ) -> (Vec<ValueId>, Vec<(OpId, Rc<CopyScope>)>) {
        let body = &self.bodies[&name];
        let mut values: FxHashMap<ValueId, ValueId> =
            body.args.iter().copied().zip(args.iter().copied()).collect();
        let mut made = Vec::new();
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
            values.extend(op.results.iter().map(|&(value, _)| value).zip(self.m().results(copy)));
            made.push((copy, inside.clone()));
        }
        self.n_ops += body.ops.len();
        // A returned value that no op defines is an argument, or dead with the branch.
        (body.returned.iter().map(|value| values[value]).collect(), made)
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
        let results: Vec<ValueId> = m.results(op).collect();
        let by = data[0];
        let of = if control == Control::If { Primitive::Switch } else { Primitive::SwitchN };
        let switch = |this: &mut Self, value: ValueId| {
            let ty = this.m().value_type(value);
            let operands = [&[value, by], edges].concat();
            this.primitive(op, of, &operands, &vec![ty; functions.len()])
        };
        let pivots = switch(self, by);
        let switched: Vec<Vec<ValueId>> = data[1..].iter().map(|&value| switch(self, value)).collect();
        let (mut of_branches, mut made) = (Vec::new(), Vec::new());
        for (branch, &name) in functions.iter().enumerate() {
            let pivot = Some(self.pivot(op, pivots[branch]));
            let names = inside.names.iter().copied().chain([name]).collect();
            let args: Vec<ValueId> = switched.iter().map(|values| values[branch]).collect();
            let (values, copies) = self.copy(op, name, &args, &Rc::new(CopyScope { names, pivot }));
            of_branches.push(values);
            made.extend(copies);
        }
        let index = self.index_type();
        for (i, &result) in results.iter().enumerate() {
            let inputs: Vec<ValueId> = of_branches.iter().map(|values| values[i]).collect();
            let ty = self.m().value_type(result);
            let merged = self.primitive(op, Primitive::Merge, &inputs, &[ty, index]);
            self.r.replace(result, merged[0]);
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
        let results: Vec<ValueId> = m.results(op).collect();
        let types: Vec<TypeId> = results.iter().map(|&value| m.value_type(value)).collect();
        let parallel = m.attr_named(op, "parallel_iterations");
        let stem = m.cx.str(functions[1]).to_owned();
        let frame = format!("{stem}/{}/{}", self.end.0, self.n_frames);
        self.n_frames += 1;
        let frame = self.r.cx().str_attr(&frame);
        let (index, token) = (self.index_type(), self.r.cx().opaque_type(TOKEN));
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
        let (cond, mut made) = self.copy(op, functions[0], &merged, &within);
        let ty = self.m().value_type(cond[0]);
        let cond = self.primitive(op, Primitive::LoopCond, &cond, &[ty]);
        let switched: Vec<Vec<ValueId>> = merged
            .iter()
            .zip(&types)
            .map(|(&value, &ty)| self.primitive(op, Primitive::Switch, &[value, cond[0]], &[ty, ty]))
            .collect();
        let pivot = Some(self.pivot(op, switched[0][1]));
        let args: Vec<ValueId> = switched.iter().map(|values| values[1]).collect();
        let within = Rc::new(CopyScope { names: named(functions[1]), pivot });
        let (next, copies) = self.copy(op, functions[1], &args, &within);
        made.extend(copies);
        for (&token, &value) in tokens.iter().zip(&next) {
            self.primitive(op, Primitive::Sink, &[token, value], &[]);
        }
        for ((values, &result), &ty) in switched.iter().zip(&results).zip(&types) {
            let exit = self.primitive(op, Primitive::Exit, &[values[0]], &[ty]);
            self.r.replace(result, exit[0]);
        }
        self.r.erase(op);
        made
    }
}
