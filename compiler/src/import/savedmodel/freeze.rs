//! Variables as constants.
//!
//! A variable is frozen if the program assigns it once, in `init`, and to a constant: every read then gives
//! that constant. Variables that a function of the program changes stay variables. If `init` has no effects
//! left, it is removed.
//!
//! With values from elsewhere, as those of a session, all of a function's variables are frozen ([`frozen`]),
//! in an op graph or in a kernel graph, which read them by the same ops.

use std::collections::BTreeMap;

use befrost_tensor::mem::{Buffer, Malloc};
use befrost_tensor::tf::op::{Op, Type};
use befrost_tensor::{DType, HostTensor};
use rustc_hash::FxHashSet;

use super::origins::{Origins, VariableKey, is_handle, makes_variable, text_attr};
use crate::build::Builder;
use crate::diag::Diagnostic;
use crate::dialects::Access;
use crate::dialects::tf::{self, Control, tensor_attr};
use crate::graph::callees;
use crate::import::errors::{self, Refusal};
use crate::ir::{AttrId, AttrKind, Context, KnownType, LocId, Module, OpId, StrId, ValueId, names};
use crate::pass::PassManager;
use crate::rewrite::{Rewriter, state_access};
use crate::verify::{Verified, verify};

/// The uses of a variable.
#[derive(Default)]
struct Uses {
    /// Assignments, with the constant if it is one.
    assigned: Vec<(OpId, Option<AttrId>)>,
    /// Other changes.
    is_changed: bool,
    /// Ops that only read the value.
    reads: Vec<OpId>,
    /// True if another op needs the variable itself.
    is_needed: bool,
}

/// The variables to freeze.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Frozen {
    All,
    /// Those of strings: the names of assets must be known.
    Strings,
}

/// Replaces the reads of variables by constants where that is possible.
///
/// # Errors
/// With [`Frozen::All`], if it is not known which variable an op changes.
pub(super) fn freeze(m: &mut Module, which: Frozen) -> Result<(), Refusal> {
    let origins = Origins::new(m);
    let mut variables = BTreeMap::<VariableKey, Uses>::new();
    for op in m.walk(m.top()) {
        let Some(what) = use_of(m, op) else { continue };
        for handle in m.operands(op).filter(|&operand| is_handle(m, operand)) {
            let Some(key) = origins.variable(m, handle) else {
                // A table or the like, or any variable.
                let changes = matches!(what, Use::Change | Use::Assign) && origins.may_be_variable(m, handle);
                match which {
                    Frozen::All if changes => return Err(errors::cannot_freeze(m.op_name_str(op))),
                    Frozen::Strings if changes && what == Use::Assign => return Ok(()),
                    _ => continue,
                }
            };
            let uses = variables.entry(key).or_default();
            match what {
                Use::Assign => {
                    let value = m.operands(op).nth(1).and_then(|value| origins.constant(m, value));
                    uses.assigned.push((op, value));
                }
                Use::Change => uses.is_changed = true,
                Use::Read => uses.reads.push(op),
                Use::Other => uses.is_needed = true,
            }
        }
    }
    let mut gone = Vec::new();
    for (key, uses) in variables {
        let (false, &[(assignment, Some(value))]) = (uses.is_changed, &uses.assigned[..]) else { continue };
        if which == Frozen::Strings && !matches!(m.cx.attr(value), AttrKind::DenseStrings { .. }) {
            continue;
        }
        let frozen = uses.reads.iter().filter(|&&op| freeze_read(m, op, value).is_some()).count();
        if frozen == uses.reads.len() && !uses.is_needed {
            erase(m, assignment);
            gone.push(key);
        }
    }
    erase_unused_handles(m);
    if which == Frozen::Strings {
        replace_handles(m, &gone);
    }
    Ok(())
}

/// Handles of frozen variables of strings that calls pass on, where nothing uses them: they become those of
/// variables of numbers without a name, for which there are kernels.
fn replace_handles(m: &mut Module, gone: &[VariableKey]) {
    let is_gone = |&op: &OpId| {
        let key = text_attr(m, op, "shared_name").map(|name| (text_attr(m, op, "container"), name));
        makes_variable(m, op) && key.is_some_and(|key| gone.contains(&key))
    };
    let handles: Vec<OpId> = m.walk(m.top()).filter(is_gone).collect();
    for op in handles {
        let top = m.top();
        let mut rewriter = Rewriter::new(m, top);
        let mut b = Builder::before(&mut rewriter, op);
        let shape = tf::shape_attr(b.cx(), Some(&[]));
        let of_numbers = b.op(Op::VarHandleOp, &[]).ty("dtype", Type::Dense(DType::F32)).attr("shape", shape);
        let Ok(of_numbers) = of_numbers.one() else { continue };
        let handle = m.result(op, 0);
        m.replace_all_uses(handle, of_numbers);
        erase(m, op);
    }
}

fn erase_unused_handles(m: &mut Module) {
    let is_unused = |&op: &OpId| {
        tf::operator(m, op) == Some(Op::VarHandleOp) && m.results(op).all(|result| m.is_unused(result))
    };
    let unused: Vec<OpId> = m.walk(m.top()).filter(is_unused).collect();
    unused.into_iter().for_each(|op| m.erase(op));
}

/// A function alone, with the present values of its variables, by container and name, as constants.
///
/// # Errors
/// If an op changes a variable or needs the variable itself, a variable has no value, or the function needs
/// another resource that is shared by name, such as a table, whose contents a program does not have.
pub fn frozen(
    module: Verified,
    function: &str,
    values: &[((&str, &str), HostTensor)],
) -> Result<Verified, Vec<Diagnostic>> {
    let mut m = module.into_module();
    let kept = m.find_function(function);
    let private = m.cx.str_attr("private");
    for other in m.functions().into_iter().filter(|&op| Some(op) != kept) {
        m.set_attr(other, names::SYM_VISIBILITY, private);
    }
    let mut passes = PassManager::parse("symbol-dce").map_err(|error| vec![*error])?;
    let mut m = passes.run(verify(m)?)?.0.into_module();
    let mut attrs = BTreeMap::new();
    for ((container, name), value) in values {
        attrs.insert((*container, *name), copied_attr(&mut m.cx, value));
    }
    let left = freeze_values(&mut m, &|container, name| *attrs.get(&(container, name))?);
    if let Some(Unfrozen { op, variable }) = left.first() {
        return Err(vec![*errors::unfrozen(op, variable.as_deref())]);
    }
    // Handles of variables may be left, which callees do not read any more.
    let mut others = m.walk(m.top()).filter(|&op| !makes_variable(&m, op));
    let shared = others.find_map(|op| Some((op, text_attr(&m, op, "shared_name")?)));
    match shared {
        Some((op, name)) => Err(vec![*errors::other_resource(m.op_name_str(op), m.cx.str(name))]),
        None => verify(m),
    }
}

/// A copy of a variable's value: what an attribute shares nobody writes to any more.
pub(crate) fn copied_attr(cx: &mut Context, value: &HostTensor) -> Option<AttrId> {
    let bytes = Buffer::copy_of(&value.read_bytes().ok()?, &Malloc::shared()).ok()?;
    tensor_attr(cx, &HostTensor::from_buffer(value.dtype(), value.shape().clone(), bytes).ok()?)
}

/// An op that cannot do without a variable.
pub(crate) struct Unfrozen {
    /// The name of the op.
    pub(crate) op: String,
    /// The name of the variable, if the op only reads it and it has no value.
    variable: Option<String>,
}

/// Replaces all reads of variables by their values, given by the containers and names of their resources.
/// Returns the ops that need a variable itself, or one whose value is not given.
pub(crate) fn freeze_values(m: &mut Module, value: &dyn Fn(&str, &str) -> Option<AttrId>) -> Vec<Unfrozen> {
    let origins = Origins::new(m);
    let mut reads = Vec::new();
    let mut left = Vec::new();
    for op in m.walk(m.top()) {
        let Some(what) = use_of(m, op) else { continue };
        for handle in m.operands(op).filter(|&operand| is_handle(m, operand)) {
            let key = origins.variable(m, handle);
            let known = key.map(|(container, name)| {
                (container.map_or("", |container| m.cx.str(container)), m.cx.str(name))
            });
            match known.and_then(|(container, name)| value(container, name)) {
                Some(value) if what == Use::Read => reads.push((op, value)),
                found if origins.may_be_variable(m, handle) => {
                    let lacks_value = what == Use::Read && found.is_none();
                    let variable = known.filter(|_| lacks_value).map(|(_, name)| name.to_owned());
                    left.push(Unfrozen { op: m.op_name_str(op).to_owned(), variable });
                }
                _ => {}
            }
        }
    }
    left.extend(reads.into_iter().filter_map(|(op, value)| {
        let name = m.op_name_str(op).to_owned();
        freeze_read(m, op, value).is_none().then_some(Unfrozen { op: name, variable: None })
    }));
    erase_unused_handles(m);
    left
}

/// The use of a handle by an op.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Assign,
    Change,
    Read,
    Other,
}

/// The use of the handles among an op's operands; `None` if it passes them on.
fn use_of(m: &Module, op: OpId) -> Option<Use> {
    let access = state_access(m, op);
    let Some(operator) = tf::operator(m, op) else { return access.map(|_| Use::Read) };
    if Control::of(m, op).is_some() {
        return None;
    }
    match operator {
        Op::Identity => None,
        Op::AssignVariableOp | Op::Assign => Some(Use::Assign),
        Op::ReadVariableOp | Op::ResourceGather => Some(Use::Read),
        _ if access == Some(Access::Write) => Some(Use::Change),
        _ => Some(Use::Other),
    }
}

/// Replaces an op that reads a variable by the constant, or by an op on it.
fn freeze_read(m: &mut Module, op: OpId, value: AttrId) -> Option<()> {
    let operator = tf::operator(m, op);
    let top = m.top();
    let mut rewriter = Rewriter::new(m, top);
    let mut b = Builder::before(&mut rewriter, op);
    let constant = b.constant(value);
    let result = match operator {
        Some(Op::ResourceGather) => {
            let batch_dims = batch_dims(b.ir(), op);
            let indices = b.ir().operand(op, 1);
            let axis = b.ints_of_shape(&[batch_dims], &[], DType::I32).ok()?;
            b.op(Op::GatherV2, &[constant, indices, axis]).int("batch_dims", batch_dims).one().ok()?
        }
        _ => constant,
    };
    let first = m.result(op, 0);
    m.replace_all_uses(first, result);
    erase(m, op);
    Some(())
}

fn batch_dims(m: &Module, op: OpId) -> i64 {
    m.attr_named(op, "batch_dims").and_then(|attr| m.cx.as_int(attr)).unwrap_or(0)
}

/// Erases an op whose data results are not used. Its control edges stay.
fn erase(m: &mut Module, op: OpId) {
    let chain = m.results(op).find(|&result| m.value_type(result) == KnownType::Chain.id());
    if let Some(chain) = chain {
        let waits: Vec<ValueId> =
            m.operands(op).filter(|&operand| m.value_type(operand) == KnownType::Chain.id()).collect();
        let no_op = m.create_named(Op::NoOp.op_name(), &waits, &[KnownType::Chain.id()], &[]);
        m.set_loc(no_op, LocId::UNKNOWN);
        m.insert_before(no_op, op);
        let new = m.result(no_op, 0);
        m.replace_all_uses(chain, new);
    }
    m.erase(op);
}

/// Removes a function if neither it nor its callees have an effect. Returns whether it was removed.
pub(super) fn remove_without_effects(m: &mut Module, name: &str) -> bool {
    let functions = m.functions();
    let named = |name: StrId| functions.iter().copied().find(|&op| m.symbol_name(op) == Some(name));
    let Some(init) = m.find_function(name) else { return false };
    let (mut todo, mut seen) = (vec![init], FxHashSet::from_iter([init]));
    while let Some(function) = todo.pop() {
        for op in m.walk(function) {
            if state_access(m, op).is_some() {
                return false;
            }
            todo.extend(callees(m, op).into_iter().filter_map(named).filter(|&callee| seen.insert(callee)));
        }
    }
    m.erase(init);
    true
}
