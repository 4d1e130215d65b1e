//! The variables of a program, identified by the names of their resources.

use std::collections::BTreeMap;

use befrost_tensor::tf::op::{Attrs, Op, Type};
use rustc_hash::FxHashMap;

use super::entry::end_of;
use crate::build::query::shape;
use crate::dialects::tf;
use crate::graph::effects::{body, callees, functions};
use crate::graph::shape_inference::arguments_of;
use crate::ir::{Module, OpId, ValueId};
use crate::rewrite::Rewriter;

/// A variable as its handles declare it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Variable {
    /// The name of the resource.
    pub name: String,
    pub ty: Type,
    /// The sizes, -1 for unknown ones; `None` for an unknown rank.
    pub dims: Option<Vec<i64>>,
}

impl Variable {
    /// The variable of a handle with a name.
    fn of(m: &Module, op: OpId) -> Option<Variable> {
        if tf::operator(m, op) != Some(Op::VarHandleOp) {
            return None;
        }
        let name = m.attr_named(op, "shared_name").and_then(|attr| m.cx.as_str(attr))?;
        let element = m.attr_named(op, "dtype").and_then(|attr| m.cx.as_type(attr))?;
        let (ty, _) = tf::type_of(&m.cx, element)?;
        let shape = tf::attrs_of(m, op, Op::VarHandleOp.row().signature()).shape("shape");
        let dims = shape.and_then(|shape| shape.dims());
        (!name.is_empty()).then(|| Variable { name: name.to_owned(), ty, dims })
    }

    /// The number of axes, if it is known.
    pub(super) fn rank(&self) -> Option<usize> {
        self.dims.as_ref().map(Vec::len)
    }
}

/// Gives reads of variables, and of their rows, the types that their handles declare, so that the step has
/// static shapes; in functions and loops too.
pub(super) fn type_reads(r: &mut Rewriter<'_>) {
    let m = r.ir();
    let passed = PassedHandles::new(m);
    let typed = m.walk_functions().filter_map(|op| {
        let operator = tf::operator(m, op);
        if !matches!(operator, Some(Op::ReadVariableOp | Op::ResourceGather)) {
            return None;
        }
        let variable = passed.variable(m, m.operand(op, 0))??;
        let dims = match operator {
            Some(Op::ReadVariableOp) => variable.dims,
            _ => rows_of(m, op, &variable),
        };
        Some((m.result(op, 0), variable.ty, dims))
    });
    for (value, ty, dims) in typed.collect::<Vec<_>>() {
        let element = tf::element(r.cx(), ty, false);
        let ty = tf::tensor(r.cx(), dims.as_deref(), element);
        r.set_type(value, ty);
    }
}

/// The sizes of the rows that a gather reads: those of the indices and those of a row.
fn rows_of(m: &Module, op: OpId, variable: &Variable) -> Option<Vec<i64>> {
    let attrs = tf::attrs_of(m, op, Op::ResourceGather.row().signature());
    let row = variable.dims.as_ref()?.get(1..)?;
    let indices = shape(m, m.operand(op, 1))?;
    (attrs.int("batch_dims").unwrap_or(0) == 0).then(|| [indices, row].concat())
}

/// The variables whose handles functions are passed.
///
/// ```text
/// not there ──first call──▶ Some(variable) ──a call with another one──▶ None
/// ```
struct PassedHandles(FxHashMap<ValueId, Option<Variable>>);

impl PassedHandles {
    /// Follows handles through calls, branches and loops to a fixpoint.
    fn new(m: &Module) -> PassedHandles {
        let functions = functions(m);
        let mut edges: Vec<(ValueId, ValueId)> = Vec::new();
        for op in m.walk_functions() {
            let Some(control) = tf::Control::of(m, op) else { continue };
            let first = usize::from(matches!(control, tf::Control::If | tf::Control::Case));
            for function in callees(m, op).iter().filter_map(|name| functions.get(name)) {
                let arguments = arguments_of(m, *function);
                edges.extend(m.operands(op).skip(first).zip(arguments.iter().copied()));
                // The results of a loop's body are passed to its next iteration.
                let end = body(m, *function).last().copied().filter(|_| control == tf::Control::While);
                edges.extend(end.iter().flat_map(|&end| m.operands(end).zip(arguments.iter().copied())));
            }
        }
        let mut passed = PassedHandles(FxHashMap::default());
        let mut changed = true;
        while changed {
            changed = false;
            for &(from, to) in &edges {
                let Some(variable) = passed.variable(m, from) else { continue };
                let known = passed.0.get(&to);
                let joined = variable.filter(|new| known.is_none_or(|known| known.as_ref() == Some(new)));
                if known != Some(&joined) {
                    passed.0.insert(to, joined);
                    changed = true;
                }
            }
        }
        passed
    }

    /// The variable of a handle: the inner `None` if it is not known, the outer one if nobody passes it.
    fn variable(&self, m: &Module, handle: ValueId) -> Option<Option<Variable>> {
        match m.defining_op(handle) {
            Some(op) => Some(Variable::of(m, op)),
            None => self.0.get(&handle).cloned(),
        }
    }
}

/// All variables that functions have handles of, in the order of names.
pub(super) fn all(m: &Module) -> Vec<Variable> {
    let mut found: BTreeMap<String, Variable> = BTreeMap::new();
    for op in m.walk_functions().filter_map(|op| Variable::of(m, op)) {
        found.entry(op.name.clone()).or_insert(op);
    }
    found.into_values().collect()
}

/// The variables of a function with their handles, in the order of the ops. Handles of equal variables are
/// merged into the first one.
pub(super) fn unify(r: &mut Rewriter<'_>, function: OpId) -> Vec<(Variable, ValueId)> {
    let m = r.ir();
    let Some(block) = end_of(m, function).and_then(|end| m.parent_block(end)) else { return Vec::new() };
    let handles: Vec<(OpId, Variable)> =
        m.ops_in(block).filter_map(|op| Some((op, Variable::of(m, op)?))).collect();
    let mut found: Vec<(Variable, ValueId)> = Vec::new();
    for (op, variable) in handles {
        let handle = r.ir().result(op, 0);
        match found.iter().find(|(known, _)| *known == variable).map(|(_, first)| *first) {
            Some(first) => r.replace(handle, first),
            None => found.push((variable, handle)),
        }
    }
    found
}
