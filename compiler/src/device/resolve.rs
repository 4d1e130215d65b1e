//! `tf-resolve-devices`: the specs of ops within those of the calls that lead to them.
//!
//! ```text
//! tf.PartitionedCall(%x) {f = @f, device = "/job:w"}           @f: tf.Neg {device = "/device:CPU:1"}
//!     ──▶                                                      @f: tf.Neg {device = "/job:w/device:CPU:1"}
//! ```
//!
//! The callee's own fields win. A function that is called within different specs is copied, once for each.
//! With at most one device, specs are checked and dropped.

use std::collections::VecDeque;

use bef_format::device::DeviceSpec;
use rustc_hash::{FxHashMap, FxHashSet};

use super::specs::{DEVICES, Devices, Specs};
use super::{errors, is_constant};
use crate::graph::effects::{callees, functions};
use crate::ir::{AttrId, AttrKind, Context, Module, OpId, StrId, names};
use crate::pass::{Change, Pass, PassCx, Rewriter};

pub(crate) const PASS: Pass = Pass {
    name: "tf-resolve-devices",
    title: "TFResolveDevices",
    summary: "merges the device specs of TensorFlow's operators with those of the calls around them",
    options: &[DEVICES],
    statistics: &[("num-copied", "Number of functions that were copied for another device")],
    run,
};

/// Maximum number of copies of functions.
const MAX_COPIES: usize = 4096;

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    if let Some(devices) = Devices::of_option(cx) {
        cx.count("num-copied", resolve(r, cx, &devices).unwrap_or(0));
    }
    r.change()
}

/// Resolves the specs of all ops; returns the number of copied functions, and nothing after an error.
pub(super) fn resolve(r: &mut Rewriter<'_>, cx: &PassCx<'_>, devices: &Devices) -> Option<u64> {
    let mut specs = Specs::default();
    let m = r.ir();
    let with_attrs =
        |m: &Module, op: OpId| m.attr(op, names::DEVICE).is_some() || m.attr(op, names::COLOCATE).is_some();
    if devices.is_single() {
        let placed: Vec<OpId> = m.walk_functions().filter(|&op| with_attrs(m, op)).collect();
        for op in placed {
            specs.of(r.ir(), op, cx);
            r.remove_attr(op, names::DEVICE);
            r.remove_attr(op, names::COLOCATE);
        }
        return Some(0);
    }
    let contexts = contexts(m, &mut specs, cx)?;
    let functions = functions(m);
    // Copies first: they need the specs as they are now.
    let mut instances: FxHashMap<(StrId, DeviceSpec), (StrId, OpId)> = FxHashMap::default();
    let mut in_order: Vec<(&DeviceSpec, OpId)> = Vec::new();
    let mut taken: FxHashSet<StrId> = functions.keys().copied().collect();
    let mut order: Vec<(StrId, OpId)> = functions.iter().map(|(&name, &op)| (name, op)).collect();
    order.sort_by_key(|&(_, op)| op.0);
    let mut n_copied = 0;
    for (name, function) in order {
        for (i, context) in contexts.get(&name).into_iter().flatten().enumerate() {
            let instance = if i == 0 {
                (name, function)
            } else {
                n_copied += 1;
                let stem = r.ir().cx.str(name).to_owned();
                let text = r.cx().free_name(&format!("{stem}_on"), |name| taken.insert(name));
                (r.cx().str_id(&text), r.copy_function(function, &text))
            };
            in_order.push((context, instance.1));
            instances.insert((name, context.clone()), instance);
        }
    }
    for (context, function) in in_order {
        for op in r.ir().walk(function).filter(|&op| op != function).collect::<Vec<_>>() {
            let m = r.ir();
            if is_constant(m, op) {
                r.remove_attr(op, names::DEVICE);
                r.remove_attr(op, names::COLOCATE);
                continue;
            }
            let spec = specs.of(m, op, cx).within(context);
            let renamed = renamed(r, op, &spec, &instances);
            for (name, attr) in renamed {
                r.set_attr(op, name, attr);
            }
            if super::is_placed(r.ir(), op) && !spec.is_open() {
                let attr = r.cx().str_attr(&spec.to_string());
                r.set_attr(op, names::DEVICE, attr);
            }
        }
    }
    (!specs.failed).then_some(n_copied)
}

/// The specs within which each function is called. `None` after an error.
fn contexts(m: &Module, specs: &mut Specs, cx: &PassCx<'_>) -> Option<FxHashMap<StrId, Vec<DeviceSpec>>> {
    let functions = functions(m);
    let called: FxHashSet<StrId> =
        functions.values().flat_map(|&function| m.walk(function)).flat_map(|op| callees(m, op)).collect();
    let mut contexts: FxHashMap<StrId, Vec<DeviceSpec>> = FxHashMap::default();
    let mut todo: VecDeque<(StrId, DeviceSpec)> = VecDeque::new();
    let mut roots: Vec<(StrId, OpId)> = functions
        .iter()
        .map(|(&name, &op)| (name, op))
        .filter(|(name, op)| !m.is_private(*op) || !called.contains(name))
        .collect();
    roots.sort_by_key(|&(_, op)| op.0);
    todo.extend(roots.into_iter().map(|(name, _)| (name, DeviceSpec::default())));
    let mut n_copies = 0;
    while let Some((name, context)) = todo.pop_front() {
        let Some(&function) = functions.get(&name) else { continue };
        let known = contexts.entry(name).or_default();
        if known.contains(&context) {
            continue;
        }
        n_copies += usize::from(!known.is_empty());
        if n_copies > MAX_COPIES {
            cx.report(errors::too_many_copies(m, function, MAX_COPIES));
            return None;
        }
        known.push(context.clone());
        for op in m.walk(function) {
            let callees = callees(m, op);
            if !callees.is_empty() {
                let spec = specs.of(m, op, cx).within(&context);
                todo.extend(callees.into_iter().map(|callee| (callee, spec.clone())));
            }
        }
    }
    // Functions that only call each other have no caller outside.
    for name in functions.keys() {
        contexts.entry(*name).or_insert_with(|| vec![DeviceSpec::default()]);
    }
    Some(contexts)
}

/// The attributes of an op that refer to functions, with the copies for its device.
fn renamed(
    r: &mut Rewriter<'_>,
    op: OpId,
    spec: &DeviceSpec,
    instances: &FxHashMap<(StrId, DeviceSpec), (StrId, OpId)>,
) -> Vec<(StrId, AttrId)> {
    let symbol = |cx: &mut Context, attr: AttrId| {
        let AttrKind::Symbol { root, nested } = cx.attr(attr) else { return attr };
        let copy = instances.get(&(*root, spec.clone())).filter(|_| nested.is_empty());
        match copy.map(|&(name, _)| name) {
            Some(root) => cx.attr_id(AttrKind::Symbol { root, nested: Box::default() }),
            None => attr,
        }
    };
    let mut renamed = Vec::new();
    for (name, attr) in r.ir().attrs(op).to_vec() {
        let cx = r.cx();
        let new = match cx.attr(attr).clone() {
            AttrKind::Array(items) => {
                let items: Vec<AttrId> = items.iter().map(|&item| symbol(cx, item)).collect();
                cx.array_attr(&items)
            }
            _ => symbol(cx, attr),
        };
        if new != attr {
            renamed.push((name, new));
        }
    }
    renamed
}
