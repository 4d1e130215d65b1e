//! The pass that replaces requests for gradients (`dialects/tf/request`).
//!
//! `tf.SymbolicGradient` is a request for the gradients of a function: its operands are the function's
//! arguments and the gradients of its results.
//!
//! Requests in callees are replaced before those in callers, and earlier ones before later ones, so that
//! gradients of gradients are gradients of ordinary graph.

use befrost_tensor::tf::op::{Gradient, Op};
use rustc_hash::FxHashSet;

use super::engine::{Engine, Request, Undifferentiable, before, is_differentiable};
use super::errors;
use super::flow::CUSTOM;
use super::vjp::Grad;
use crate::diag::{Diagnostic, Severity};
use crate::dialects::tf;
use crate::dialects::tf::request::{REQUEST, UNCONNECTED, group, unconnected};
use crate::graph::{loop_reads, outline_regions, shape_inference};
use crate::ir::{AttrKind, LocId, Module, NewOp, OpId, StrId, TypeId, ValueId, names};
use crate::pass::{Change, Pass, PassCx};
use crate::rewrite::{InsertionPoint, Rewriter, signatures};

pub(crate) const PASS: Pass = Pass {
    name: tf::GRADIENTS,
    title: "TFGradients",
    summary: "replaces requests for gradients by the operators that compute them",
    options: &[],
    statistics: &[("num-requests", "Number of requests that were replaced")],
    run,
};

fn read(m: &Module, op: OpId) -> Request {
    Request {
        ys: group(m, op, 0),
        dys: group(m, op, 1).into_iter().map(Some).collect(),
        xs: group(m, op, 2),
        stops: group(m, op, 3),
    }
}

fn is_request(m: &Module, op: OpId) -> bool {
    m.op_name_str(op) == REQUEST || tf::operator(m, op) == Some(Op::SymbolicGradient)
}

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let m = r.ir();
    if m.walk_functions().any(|op| is_request(m, op)) {
        _ = replace_all(r, cx);
    }
    forget(r, CUSTOM);
    forget(r, tf::RECOMPUTE);
    forget(r, tf::KEEP_EVERY);
    r.change()
}

/// Removes an attribute that no later pass reads.
fn forget(r: &mut Rewriter<'_>, attr: &str) {
    let Some(name) = r.ir().cx.find_str(attr) else { return };
    let m = r.ir();
    let named: Vec<OpId> = m.walk(m.top()).filter(|&op| m.attr(op, name).is_some()).collect();
    named.into_iter().for_each(|op| r.remove_attr(op, name));
}

/// Outlines regions into functions and infers shapes, as differentiation expects.
pub(crate) fn prepare(r: &mut Rewriter<'_>) {
    _ = outline_regions::outline_all(r);
    shape_inference::infer_shapes(r);
    loop_reads::hoist_reads(r);
}

/// The gradients of the first operand of the op `at` with respect to variables, given as handles; as slices
/// where all uses of the variable are gathers. `None`: the operand does not depend on the variable.
///
/// # Errors
/// The ops that have no gradient.
pub(crate) fn by_variables(
    r: &mut Rewriter<'_>,
    at: OpId,
    handles: &[ValueId],
) -> Result<Vec<Option<Grad>>, Vec<Diagnostic>> {
    let mut engine = Engine::new(r, at);
    let read =
        |m: &Module| Request { ys: vec![m.operand(at, 0)], xs: handles.to_vec(), ..Request::default() };
    let found = engine.gradients(at, read);
    engine.erase_unused();
    let errors = engine.finish();
    match found {
        Ok(found) if errors.is_empty() => Ok(found),
        _ => Err(errors),
    }
}

fn replace_all(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    prepare(r);
    for request in requests(r.ir()) {
        if r.ir().is_erased(request) {
            continue;
        }
        cx.count("num-requests", 1);
        let request = match symbolic(r, request) {
            Ok(Some(request)) => request,
            Ok(None) => request,
            Err(error) => {
                cx.report(*error);
                return r.change();
            }
        };
        let mut engine = Engine::new(r, request);
        let replaced = replace(&mut engine, request, cx);
        engine.erase_unused();
        let remarks = std::mem::take(&mut engine.remarks);
        for error in engine.finish().into_iter().chain(remarks) {
            cx.report(error);
        }
        if replaced.is_err() {
            return r.change();
        }
    }
    signatures::refresh(r);
    r.change()
}

/// All requests: those of callees before those of their callers, and within a function in program order.
fn requests(m: &Module) -> Vec<OpId> {
    let functions = crate::graph::functions(m);
    let mut roots: Vec<(StrId, OpId)> = functions.iter().map(|(&name, &op)| (name, op)).collect();
    roots.sort_unstable_by_key(|(_, op)| *op);
    let (mut found, mut seen) = (Vec::new(), FxHashSet::default());
    // A function is pushed twice: once to visit its callees, and below them once to collect its requests.
    let mut todo: Vec<(OpId, bool)> = roots.iter().rev().map(|&(_, op)| (op, false)).collect();
    while let Some((function, is_left)) = todo.pop() {
        if is_left {
            found.extend(m.walk(function).filter(|&op| is_request(m, op)));
        } else if seen.insert(function) {
            todo.push((function, true));
            for op in m.walk(function) {
                todo.extend(
                    crate::graph::callees(m, op)
                        .iter()
                        .filter_map(|name| Some((*functions.get(name)?, false))),
                );
            }
        }
    }
    found
}

/// Replaces a `tf.SymbolicGradient` by a call and a request, which it returns.
fn symbolic(r: &mut Rewriter<'_>, op: OpId) -> Result<Option<OpId>, Box<Diagnostic>> {
    let m = r.ir();
    if tf::operator(m, op) != Some(Op::SymbolicGradient) {
        return Ok(None);
    }
    let refuse = |why: &str| Err(Box::new(crate::dialects::tf_signature(m, op, why)));
    let functions = crate::graph::functions(m);
    let function = crate::graph::callees(m, op).first().and_then(|name| functions.get(name).copied());
    let Some((inputs, results)) = function.and_then(|function| m.signature(function)) else {
        return refuse("attribute 'f' names no function");
    };
    let n = inputs.len();
    if n + results.len() != tf::n_data_operands(m, op) || n != tf::n_data_results(m, op) {
        return refuse("its operands are those of the function and the gradients of its results");
    }
    let results = results.to_vec();
    let all: Vec<ValueId> = m.operands(op).collect();
    let (given, edges) = all.split_at(n + results.len());
    let (xs, dys) = given.split_at(n);
    let dys = dys.to_vec();
    let xs = xs.to_vec();
    let Some(f) = m.attr_named(op, "f") else { return refuse("it has no attribute 'f'") };
    let edges = edges.to_vec();
    let types: Vec<TypeId> = m.results(op).map(|value| m.value_type(value)).collect();
    let call = [&xs[..], &edges].concat();
    let call_types = [&results[..], &types[n..]].concat();
    let call = r.create_before(op, Op::StatefulPartitionedCall.op_name(), &call, &call_types, &[("f", f)]);
    let ys: Vec<ValueId> = r.ir().results(call).collect();
    let (ys, completion) = ys.split_at(results.len());
    let loc = r.ir().loc(op);
    let groups = [ys, &dys, &xs, &[]];
    let made = append(r, InsertionPoint::Before(op), loc, groups, &types[..n], Unconnected::Zero);
    let mut kept: Vec<ValueId> = r.ir().results(made).collect();
    kept.extend(completion);
    r.replace_op(op, &kept);
    Ok(Some(made))
}

/// The gradient of an x on which no y depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unconnected {
    /// Zeros.
    Zero,
    /// The request's result is removed from the results of the function.
    Omit,
}

/// Creates a request for ys, dys, xs and stop values.
pub(crate) fn append(
    r: &mut Rewriter<'_>,
    at: InsertionPoint,
    loc: LocId,
    groups: [&[ValueId]; 4],
    types: &[TypeId],
    unconnected: Unconnected,
) -> OpId {
    let sizes = r.cx().i32_array_attr(&groups.map(|group| group.len() as i32));
    let mode = r.cx().str_attr(match unconnected {
        Unconnected::Zero => "zero",
        Unconnected::Omit => "omit",
    });
    let unconnected = r.cx().str_id(UNCONNECTED);
    let attrs = [(names::OPERAND_SEGMENT_SIZES, sizes), (unconnected, mode)];
    let name = r.cx().str_id(REQUEST);
    let name = r.cx().op_name(name);
    let operands = groups.concat();
    r.create(at, NewOp { loc, operands: &operands, results: types, attrs: &attrs, ..NewOp::new(name) })
}

/// Replaces a request by the gradients.
fn replace(engine: &mut Engine<'_, '_>, op: OpId, cx: &PassCx<'_>) -> Result<(), Undifferentiable> {
    check(engine, op)?;
    let found = engine.gradients(op, |m| read(m, op))?;
    let mode = unconnected(engine.m(), op).to_owned();
    let xs = read(engine.m(), op).xs;
    let mut values = Vec::with_capacity(xs.len());
    let mut omitted = Vec::new();
    for (i, (&x, grad)) in xs.iter().zip(&found).enumerate() {
        values.push(match (grad, &mode[..]) {
            (Some(grad), _) => engine.dense(op, x, *grad)?,
            (None, "zero") => engine.zeros(op, x)?,
            (None, "omit") => {
                omitted.push(i);
                x
            }
            (None, _) => {
                let cut = cut(engine.m(), op, x);
                let error = errors::unconnected(engine.m(), op, i, cut);
                engine.errors.push(error);
                return Err(Undifferentiable);
            }
        });
    }
    for i in omitted {
        let error = errors::unconnected(engine.m(), op, i, cut(engine.m(), op, xs[i]));
        let result = engine.m().result(op, i);
        if let Err(Undifferentiable) = omit(engine.r, result) {
            engine.errors.push(error);
            return Err(Undifferentiable);
        }
        cx.report(Diagnostic { severity: Severity::Remark, help: None, ..error });
    }
    engine.r.replace_op(op, &values);
    Ok(())
}

/// Checks that all values of a request are defined in its block and have gradients, which the verifier does
/// not.
fn check(engine: &mut Engine<'_, '_>, op: OpId) -> Result<(), Undifferentiable> {
    let m = engine.m();
    let Request { ys, xs, stops, .. } = read(m, op);
    let mut found = Vec::new();
    for (what, values) in [("y", &ys), ("x", &xs), ("stop value", &stops)] {
        for (i, &value) in values.iter().enumerate() {
            if m.defining_block(value) != m.parent_block(op) {
                found.push(errors::elsewhere(m, op, what, i));
            }
        }
    }
    if unconnected(m, op) == "none" {
        for (what, values) in [("y", &ys), ("x", &xs)] {
            for (i, &value) in values.iter().enumerate() {
                if !is_differentiable(m, m.value_type(value)) {
                    found.push(errors::not_differentiable(m, op, what, i, value));
                }
            }
        }
    }
    let is_fine = found.is_empty();
    engine.errors.extend(found);
    if is_fine { Ok(()) } else { Err(Undifferentiable) }
}

/// The first op that depends on an x and is a constant for differentiation.
fn cut(m: &Module, request: OpId, x: ValueId) -> Option<OpId> {
    let mut active = FxHashSet::from_iter([x]);
    for op in before(m, request) {
        if !m.operands(op).any(|value| active.contains(&value)) {
            continue;
        }
        if let Some(Gradient::Constant) = m.def(op).and_then(|def| def.gradient) {
            return Some(op);
        }
        active.extend(m.results(op));
    }
    None
}

/// Removes a value from the results of the function that returns it. Fails if the value has other users.
fn omit(r: &mut Rewriter<'_>, value: ValueId) -> Result<(), Undifferentiable> {
    let m = r.ir();
    let users: Vec<(OpId, usize)> = m.users(value).collect();
    let &[(end, at)] = &users[..] else {
        return if users.is_empty() { Ok(()) } else { Err(Undifferentiable) };
    };
    let function = m.parent_op(end).ok_or(Undifferentiable)?;
    if !m.traits(end).has(crate::ir::Traits::RETURN) {
        return Err(Undifferentiable);
    }
    let mut results: Vec<ValueId> = m.operands(end).collect();
    results.remove(at);
    if let Some(AttrKind::Array(items)) = m.attr(function, names::RES_ATTRS).map(|attr| m.cx.attr(attr)) {
        let mut items = items.to_vec();
        if at < items.len() {
            items.remove(at);
        }
        let items = r.cx().array_attr(&items);
        r.set_attr(function, names::RES_ATTRS, items);
    }
    let m = r.ir();
    let inputs: Vec<TypeId> = m
        .parent_block(end)
        .map_or_else(Vec::new, |block| m.args(block).iter().map(|&arg| m.value_type(arg)).collect());
    let types: Vec<TypeId> = results.iter().map(|&value| m.value_type(value)).collect();
    r.set_operands(end, &results);
    r.set_signature(function, &inputs, &types);
    Ok(())
}
