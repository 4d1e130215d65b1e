//! `tf-transfers`: values that ops of another device read pass through `dev.transfer`.
//!
//! ```text
//! %a = tf.Sin(%x) {device = CPU:0}                 %a = tf.Sin(%x) {device = CPU:0}
//! %b = tf.Neg(%a) {device = CPU:1}        ──▶      %t = dev.transfer %a to CPU:1
//! %c = tf.Abs(%a) {device = CPU:1}                 %b = tf.Neg(%t), %c = tf.Abs(%t)
//! ```
//!
//! There is one transfer per value and destination, after the op that makes the value. Control edges are not
//! transferred, and handles of resources stay on their device. Results of the program are transferred to the
//! client's device.
//!
//! The pass may run again: it replaces existing transfers, and gives ops without a device, which
//! optimizations created, the device of their operands. With `last` it removes what costs nothing: transfers
//! between devices that share the host's memory, and the name of the client's device.

use rustc_hash::FxHashMap;

use super::homes::{Homes, block_of};
use super::partition::primitives;
use super::specs::{CLIENT, DEVICES, DeviceIndex, Devices};
use super::{crossings, errors, invariants, is_handle, is_placed, ops_with_graphs};
use crate::dialects::tf_executor::GRAPH;
use crate::dialects::{dev, tf};
use crate::graph::effects::{callees, functions};
use crate::ir::{BlockId, LocId, Module, OpId, StrId, ValueId, names};
use crate::pass::{Change, OptionKind, Pass, PassCx, PassOption, Rewriter};
use crate::rewrite::InsertionPoint;

pub(crate) const PASS: Pass = Pass {
    name: "tf-transfers",
    title: "TFTransfers",
    summary: "lets values that operators of another device read pass through `dev.transfer`",
    options: &[
        DEVICES,
        PassOption {
            name: "last",
            summary: "leave out what costs nothing: nothing else runs before kernels are made",
            kind: OptionKind::Flag(false),
        },
        PassOption { name: "print", summary: "print the transfers", kind: OptionKind::Flag(false) },
    ],
    statistics: &[("num-transfers", "Number of transfers")],
    run,
};

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let Some(devices) = Devices::of_option(cx).filter(|devices| !devices.is_single()) else {
        return r.change();
    };
    if is_refused(r.ir(), &devices, cx) {
        return r.change();
    }
    adopt(r, &devices);
    remove(r);
    invariants::split(r, &devices);
    let last = cx.flag("last");
    if last {
        primitives::flatten_all(r);
        primitives::assign_all(r, &devices);
    }
    cx.count("num-transfers", insert(r, &devices, last));
    if cx.flag("print") {
        cx.print(&crossings::table(r.ir(), &devices));
    }
    if last {
        drop_client(r, &devices);
    }
    r.change()
}

/// Refuses graphs of primitives with ops on devices that have memories of their own: nothing is transferred
/// inside of a graph.
pub(super) fn is_refused(m: &Module, devices: &Devices, cx: &PassCx<'_>) -> bool {
    let is_in_graph = |op: OpId| m.parent_op(op).is_some_and(|of| m.op_name_str(of) == GRAPH);
    let elsewhere = |&op: &OpId| devices.of(m, op).is_some_and(|device| !devices.is_host(device));
    let wrong = m.walk_functions().filter(elsewhere).find(|&op| is_placed(m, op) && is_in_graph(op));
    if let (Some(op), Some(device)) = (wrong, wrong.and_then(|op| devices.of(m, op))) {
        cx.report(errors::graph_in_other_memory(m, op, &devices.name(device).to_string()));
    }
    wrong.is_some()
}

/// Removes the name of the client's device: kernels without a device run there.
pub(super) fn drop_client(r: &mut Rewriter<'_>, devices: &Devices) {
    let m = r.ir();
    let on_client: Vec<OpId> = m.walk_functions().filter(|&op| devices.of(m, op) == Some(CLIENT)).collect();
    on_client.into_iter().for_each(|op| r.remove_attr(op, names::DEVICE));
}

/// Gives ops without a device that of their first operand that has one.
pub(super) fn adopt(r: &mut Rewriter<'_>, devices: &Devices) {
    for function in sorted_functions(r.ir()) {
        let Some(block) = block_of(r.ir(), function) else { continue };
        for op in ops_with_graphs(r.ir(), block) {
            let m = r.ir();
            if !is_placed(m, op) || m.attr(op, names::DEVICE).is_some() {
                continue;
            }
            let of = |value: ValueId| {
                let op = m.defining_op(value)?;
                let to = dev::destination(m, op).and_then(|to| devices.number(to));
                to.or_else(|| devices.of(m, op))
            };
            let readers =
                || m.results(op).flat_map(|value| m.users(value)).find_map(|(op, _)| devices.of(m, op));
            let device = m.operands(op).find_map(of).or_else(readers).unwrap_or(CLIENT);
            let name = r.cx().str_attr(&devices.name(device).to_string());
            r.set_attr(op, names::DEVICE, name);
        }
    }
}

/// Removes all transfers.
pub(super) fn remove(r: &mut Rewriter<'_>) {
    let m = r.ir();
    let transfers: Vec<OpId> = m.walk_functions().filter(|&op| dev::destination(m, op).is_some()).collect();
    for op in transfers {
        let value = r.ir().operand(op, 0);
        r.replace_op(op, &[value]);
    }
}

/// The functions of a module in its order.
pub(super) fn sorted_functions(m: &Module) -> Vec<OpId> {
    let mut found: Vec<OpId> = functions(m).into_values().collect();
    found.sort_unstable();
    found
}

/// Inserts all transfers; returns their number.
fn insert(r: &mut Rewriter<'_>, devices: &Devices, last: bool) -> u64 {
    let homes = Homes::of_module(r.ir(), devices);
    let sites = call_sites(r.ir());
    let mut made: FxHashMap<(ValueId, DeviceIndex), ValueId> = FxHashMap::default();
    for function in sorted_functions(r.ir()) {
        let m = r.ir();
        let Some(block) = block_of(m, function) else { continue };
        let Some(name) = m.symbol_name(function) else { continue };
        let end = m.last_op(block);
        for op in m.ops_in(block).collect::<Vec<_>>() {
            for i in 0..r.ir().n_operands(op) {
                let m = r.ir();
                let value = m.operand(op, i);
                let wanted = match end == Some(op) {
                    true => homes.results(name).get(i).copied().flatten(),
                    false => homes.wanted(m, op, i),
                };
                let (Some(to), Some(from)) = (wanted, homes.home(m, value)) else { continue };
                let is_free = || last && devices.is_host(from) && devices.is_host(to);
                if to == from
                    || is_handle(m, value)
                    || tf::type_of(&m.cx, m.value_type(value)).is_none()
                    || is_free()
                {
                    continue;
                }
                let copy = match made.get(&(value, to)) {
                    Some(&copy) => copy,
                    None => {
                        let locs = [r.ir().loc(op), sites.get(&name).copied().unwrap_or(LocId::UNKNOWN)];
                        let copy = transfer(r, value, block, &devices.name(to).to_string(), locs);
                        made.insert((value, to), copy);
                        copy
                    }
                };
                r.set_operand(op, i, copy);
            }
        }
    }
    made.len() as u64
}

/// The location of an op that runs each function, if it has one.
fn call_sites(m: &Module) -> FxHashMap<StrId, LocId> {
    let mut found = FxHashMap::default();
    for op in m.walk_functions().filter(|&op| m.loc(op) != LocId::UNKNOWN) {
        callees(m, op).into_iter().for_each(|name| _ = found.entry(name).or_insert(m.loc(op)));
    }
    found
}

/// Creates a transfer of a value after its definition. Its location is that of the op that defines the value
/// or, if that is unknown, the first known one of `locs`: of the first reader, and of the function's call.
fn transfer(r: &mut Rewriter<'_>, value: ValueId, block: BlockId, to: &str, locs: [LocId; 2]) -> ValueId {
    let m = r.ir();
    let (ty, first, op) = (m.value_type(value), m.first_op(block), m.defining_op(value));
    let at = match (op, first) {
        (Some(op), _) => InsertionPoint::After(op),
        (None, Some(first)) => InsertionPoint::Before(first),
        (None, None) => InsertionPoint::End(block),
    };
    let mut locs = op.map(|op| m.loc(op)).into_iter().chain(locs);
    let loc = locs.find(|&loc| loc != LocId::UNKNOWN).unwrap_or(LocId::UNKNOWN);
    let to = r.cx().str_attr(to);
    let op = r.create_named(at, loc, dev::TRANSFER, &[value], &[ty], &[("to", to)]);
    r.ir().result(op, 0)
}
