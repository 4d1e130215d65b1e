//! Handles of one resource, through functions, loops, branches and dataflow control flow.
//!
//! ```text
//! %v = tf.VarHandleOp() {device = A}
//! %c = tf_executor.Switch(%v, %p)          %v, %c, %x and %y are handles of one resource:
//! tf.If(%p, %c) {@f, @g}  @f(%x)  @g(%y)   what passes them on is on A, too
//! ```
//!
//! [`ties`] says which handles an op ties to each other: for the groups of the placement, and for
//! [`HandleDevices`], the device of each handle once ops are placed.

use rustc_hash::{FxHashMap, FxHashSet};

use super::is_handle;
use super::sets::Sets;
use super::specs::{DeviceIndex, Devices};
use crate::dialects::tf::{self, Control};
use crate::dialects::tf_executor::{self, Primitive};
use crate::graph::effects::{callees, functions};
use crate::ir::{Module, OpId, StrId, ValueId};

/// Calls `join` with pairs of handles of one resource: those that a primitive of dataflow control flow passes
/// on, and those that an op passes to functions and gets from them.
pub(super) fn ties(
    m: &Module,
    op: OpId,
    functions: &FxHashMap<StrId, OpId>,
    join: &mut impl FnMut(ValueId, ValueId),
) {
    let mut join = |a: ValueId, b: ValueId| {
        if is_handle(m, a) && is_handle(m, b) {
            join(a, b);
        }
    };
    match (Primitive::of(m, op), Control::of(m, op)) {
        (Some(Primitive::Sink), _) => {
            let source = m.defining_op(m.operand(op, 0));
            let back = source.and_then(|source| m.results(source).next());
            back.into_iter().for_each(|back| join(back, m.operand(op, 1)));
        }
        (Some(_), _) => {
            let mut all = m.operands(op).chain(m.results(op)).filter(|&value| is_handle(m, value));
            if let Some(first) = all.next() {
                all.for_each(|value| join(first, value));
            }
        }
        (None, Some(control)) => pass_through(m, op, control, functions, &mut join),
        // A graph or an island gives what its terminator has.
        (None, None) => {
            let end = tf_executor::block_of(m, op).and_then(|block| m.last_op(block));
            let given = end.filter(|_| m.op_name_str(op).starts_with("tf_executor."));
            let given = given.into_iter().flat_map(|end| m.operands(end));
            m.results(op).zip(given).for_each(|(result, value)| join(result, value));
        }
    }
}

/// The ties of an op that runs functions.
fn pass_through(
    m: &Module,
    op: OpId,
    control: Control,
    functions: &FxHashMap<StrId, OpId>,
    join: &mut impl FnMut(ValueId, ValueId),
) {
    let first = control.first_argument();
    let operands: Vec<ValueId> = m.operands(op).take(tf::n_data_operands(m, op)).skip(first).collect();
    let results: Vec<ValueId> = m.results(op).take(tf::n_data_results(m, op)).collect();
    let mut join = |a: &[ValueId], b: &[ValueId]| a.iter().zip(b).for_each(|(&a, &b)| join(a, b));
    for callee in callees(m, op).into_iter().collect::<FxHashSet<_>>() {
        let Some(block) =
            functions.get(&callee).and_then(|&function| m.entry(*m.regions_of(function).first()?))
        else {
            continue;
        };
        join(&operands, m.args(block));
        let Some(end) = m.last_op(block) else { continue };
        let returned: Vec<ValueId> = m.operands(end).collect();
        // The condition of a loop returns no tied value.
        join(&results, &returned);
        if control == Control::While {
            join(&operands, &returned);
        }
    }
    if control == Control::While {
        join(&operands, &results);
    }
}

/// The devices of a module's handles.
pub(super) struct HandleDevices(FxHashMap<ValueId, DeviceIndex>);

impl HandleDevices {
    /// The devices of all handles that an operator with a device takes or makes, or that are tied to one.
    pub(super) fn of_module(m: &Module, devices: &Devices) -> HandleDevices {
        let functions = functions(m);
        let mut sets = Sets::<ValueId>::default();
        let mut of_set: Vec<(ValueId, DeviceIndex)> = Vec::new();
        let mut order: Vec<OpId> = functions.values().copied().collect();
        order.sort_unstable();
        for op in order.into_iter().flat_map(|function| m.walk(function)) {
            ties(m, op, &functions, &mut |a, b| sets.join(a, b));
            // Control flow is where its predicate is, and primitives follow the resource.
            let is_tied = tf::op_of(m.op_name_str(op)).is_some() && Control::of(m, op).is_none();
            if let Some(device) = devices.of(m, op).filter(|_| is_tied) {
                let handles = m.operands(op).chain(m.results(op)).filter(|&value| is_handle(m, value));
                of_set.extend(handles.map(|value| (value, device)));
            }
        }
        let mut known: FxHashMap<usize, DeviceIndex> = FxHashMap::default();
        for (value, device) in of_set {
            known.entry(sets.set_of(value)).or_insert(device);
        }
        let of = sets.into_nodes().into_iter().filter_map(|(value, set)| Some((value, *known.get(&set)?)));
        HandleDevices(of.collect())
    }

    /// The device of the resource whose handle an op takes, or makes.
    pub(super) fn of_op(&self, m: &Module, op: OpId) -> Option<DeviceIndex> {
        m.operands(op).chain(m.results(op)).find_map(|value| self.0.get(&value).copied())
    }
}
