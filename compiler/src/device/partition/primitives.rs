//! The devices of primitives: of Switch, Merge, Enter, Exit, NextIteration and their like.
//!
//! ```text
//! Switch, Exit, LoopCond            where the value is that they pass on
//! Merge, Enter, NextIteration       a variable of a loop has one device: the one with the fewest crossings
//! Merge, a constant in a branch     the device with the fewest crossings
//! ```
//!
//! Primitives that stay together are a *slot*; a constant stays with the Merge that alone reads it, since
//! either it crosses or its control edge does. A crossing counts once for each other device that reads a
//! value, and more the deeper the loop is. Slots are moved to the device of a neighbour while the
//! crossings get fewer. Handles stay where their resource is.
//!
//! TensorFlow leaves Merges where their node says, and moves the others to the data that they pass on.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::device::handles::HandleDevices;
use crate::device::sets::Sets;
use crate::device::specs::{CLIENT, DeviceIndex, Devices};
use crate::device::{is_constant, is_everywhere, is_handle, is_placed};
use crate::dialects::tf_executor::frames::{self, FrameId, Frames, ROOT};
use crate::dialects::tf_executor::{FETCH, GRAPH, Primitive, block_of, is_chain};
use crate::graph::dataflow;
use crate::ir::{KnownType, Module, OpId, ValueId, names};
use crate::pass::Rewriter;

/// How often all slots are looked at.
const MAX_ROUNDS: usize = 8;

/// How many times a loop's iteration counts.
const TRIPS: u64 = 10;

/// True if an op only joins chains.
pub(super) fn is_merge(m: &Module, op: OpId) -> bool {
    m.op_name_str(op) == "tfrt.merge.chains"
}

/// True for an Enter of an invariant.
pub(super) fn is_invariant(m: &Module, op: OpId) -> bool {
    Primitive::of(m, op) == Some(Primitive::Enter) && frames::is_constant(m, op)
}

/// The value that enters as this invariant, or the value itself.
pub(super) fn origin(m: &Module, mut value: ValueId) -> ValueId {
    while let Some(enter) = m.defining_op(value).filter(|&op| is_invariant(m, op)) {
        value = m.operand(enter, 0);
    }
    value
}

/// The graphs of a program that is not divided yet.
fn whole_graphs(m: &Module) -> Vec<OpId> {
    let is_of_part = |op: OpId| {
        let is_step = |value: ValueId| m.value_type(value) == KnownType::Step.id();
        m.operands(op).any(is_step) || (Primitive::of(m, op).is_some() && m.attr(op, names::DEVICE).is_some())
    };
    let is_whole = |&op: &OpId| m.op_name_str(op) == GRAPH && !m.walk(op).any(is_of_part);
    m.walk_functions().filter(is_whole).collect()
}

/// Leaves graphs without islands, except for those of parts.
pub(in crate::device) fn flatten_all(r: &mut Rewriter<'_>) {
    for graph in whole_graphs(r.ir()) {
        dataflow::flatten(r, graph);
    }
}

/// Gives all primitives of graphs without islands their devices, except for those of parts, which have them.
pub(in crate::device) fn assign_all(r: &mut Rewriter<'_>, devices: &Devices) {
    let graphs = whole_graphs(r.ir());
    if graphs.is_empty() {
        return;
    }
    let handles = HandleDevices::of_module(r.ir(), devices);
    for graph in graphs {
        assign(r, graph, devices, &handles);
    }
}

/// Gives the primitives of a graph without islands their devices. A graph with wrong frames stays as it is;
/// its division reports them.
fn assign(r: &mut Rewriter<'_>, graph: OpId, devices: &Devices, handles: &HandleDevices) {
    let m = r.ir();
    let (Ok(frames), Some(block)) = (Frames::of(m, graph), block_of(m, graph)) else { return };
    let ops: Vec<OpId> = m.ops_in(block).collect();
    let mut slots = PrimitiveSlots::of(m, &ops, &frames, (devices, handles));
    slots.choose();
    let placed: Vec<(OpId, DeviceIndex)> =
        slots.of.iter().map(|(&op, &slot)| (op, slots.all[slot].device)).collect();
    for (op, device) in placed {
        let name = r.cx().str_attr(&devices.name(device).to_string());
        r.set_attr(op, names::DEVICE, name);
    }
}

/// Primitives that share a device.
#[derive(Default)]
struct PrimitiveSlot {
    ops: Vec<OpId>,
    device: DeviceIndex,
    /// Whether its device is not to be changed.
    is_fixed: bool,
}

/// The slots of a graph.
struct PrimitiveSlots<'a> {
    m: &'a Module,
    frames: &'a Frames,
    devices: &'a Devices,
    all: Vec<PrimitiveSlot>,
    of: FxHashMap<OpId, usize>,
}

impl<'a> PrimitiveSlots<'a> {
    fn of(
        m: &'a Module,
        ops: &[OpId],
        frames: &'a Frames,
        (devices, handles): (&'a Devices, &HandleDevices),
    ) -> PrimitiveSlots<'a> {
        let is_mine = |&op: &OpId| {
            let is_other = is_everywhere(m, op) || is_merge(m, op) || m.op_name_str(op) == FETCH;
            !is_other && (!is_placed(m, op) || m.attr(op, names::DEVICE).is_none())
        };
        let mine: Vec<OpId> = ops.iter().copied().filter(is_mine).collect();
        let mut sets = Sets::<OpId>::default();
        let mut fixed: Vec<(OpId, DeviceIndex)> = Vec::new();
        for &op in &mine {
            sets.id(op);
            if let Some(device) = handles.of_op(m, op) {
                fixed.push((op, device));
                continue;
            }
            let passes_on = match Primitive::of(m, op) {
                Some(Primitive::Switch | Primitive::SwitchN | Primitive::Exit | Primitive::LoopCond) => true,
                _ => m.operands(op).any(|value| is_handle(m, value)),
            };
            let from = m.operands(op).next().filter(|_| passes_on).and_then(|value| m.defining_op(value));
            match from {
                Some(from) if is_mine(&from) && !is_invariant(m, from) => sets.join(op, from),
                Some(from) if !is_mine(&from) && !is_everywhere(m, from) => {
                    fixed.push((op, devices.of(m, from).unwrap_or(CLIENT)));
                }
                _ => {}
            }
        }
        for &op in mine.iter().filter(|&&op| is_constant(m, op)) {
            let mut readers = m.results(op).flat_map(|value| m.users(value)).map(|(user, _)| user);
            if let (Some(reader), None) = (readers.next(), readers.next())
                && Primitive::of(m, reader) == Some(Primitive::Merge)
                && is_mine(&reader)
            {
                sets.join(op, reader);
            }
        }
        for variable in frames.ids().flat_map(|frame| frames.frame(frame).variables.clone()) {
            for op in [variable.enter, variable.source, variable.sink] {
                sets.join(variable.merge, op);
            }
        }
        let mut slots = PrimitiveSlots { m, frames, devices, all: Vec::new(), of: FxHashMap::default() };
        let mut numbers: FxHashMap<usize, usize> = FxHashMap::default();
        for (op, set) in sets.into_nodes() {
            let slot = *numbers.entry(set).or_insert_with(|| {
                slots.all.push(PrimitiveSlot::default());
                slots.all.len() - 1
            });
            slots.all[slot].ops.push(op);
            slots.of.insert(op, slot);
        }
        // A constant begins where it is read: all that read it there share the signal.
        for slot in &mut slots.all {
            let &[op] = &slot.ops[..] else { continue };
            if is_constant(m, op) {
                let readers = m.results(op).flat_map(|value| m.users(value));
                slot.device = readers.filter_map(|(user, _)| devices.of(m, user)).min().unwrap_or(CLIENT);
            }
        }
        for (op, device) in fixed {
            let slot = &mut slots.all[slots.of[&op]];
            if !slot.is_fixed {
                (slot.device, slot.is_fixed) = (device, true);
            }
        }
        slots
    }

    /// Chooses the devices of all slots: the better of two searches, one from where they are, one from where
    /// merges are with the first value that they pass on.
    fn choose(&mut self) {
        let devices =
            |slots: &Self| -> Vec<DeviceIndex> { slots.all.iter().map(|slot| slot.device).collect() };
        let begin = devices(self);
        self.improve();
        let (found, crossings) = (devices(self), self.all_crossings());
        self.set(&begin);
        self.follow_values();
        self.improve();
        if crossings <= self.all_crossings() {
            self.set(&found);
        }
    }

    fn set(&mut self, devices: &[DeviceIndex]) {
        self.all.iter_mut().zip(devices).for_each(|(slot, &device)| slot.device = device);
    }

    /// Moves merges to the device of the first value that they pass on.
    fn follow_values(&mut self) {
        let m = self.m;
        for i in 0..self.all.len() {
            let slot = &self.all[i];
            let merges = slot.ops.iter().filter(|&&op| Primitive::of(m, op) == Some(Primitive::Merge));
            let mut values = merges.flat_map(|&op| m.operands(op)).map(|value| origin(m, value));
            let home = values.find_map(|value| self.home(value)).filter(|_| !slot.is_fixed);
            self.all[i].device = home.unwrap_or(slot.device);
        }
    }

    /// Moves slots to the device of a neighbour while there are fewer crossings.
    fn improve(&mut self) {
        for _ in 0..MAX_ROUNDS {
            let mut is_changed = false;
            for slot in 0..self.all.len() {
                if self.all[slot].is_fixed {
                    continue;
                }
                let values = self.values(slot);
                let here = self.all[slot].device;
                let mut others: BTreeSet<DeviceIndex> = values.iter().filter_map(|&v| self.home(v)).collect();
                values.iter().for_each(|&value| self.readers(value, &mut others));
                let mut best = (self.crossings(&values), here);
                for device in others.into_iter().filter(|&device| device != here) {
                    self.all[slot].device = device;
                    let n = self.crossings(&values);
                    if n < best.0 {
                        best = (n, device);
                    }
                }
                self.all[slot].device = best.1;
                is_changed |= best.1 != here;
            }
            if !is_changed {
                return;
            }
        }
    }

    /// The values that the ops of a slot read and make.
    fn values(&self, slot: usize) -> Vec<ValueId> {
        let m = self.m;
        let ops = &self.all[slot].ops;
        let mut found: Vec<ValueId> = Vec::new();
        for &op in ops {
            found.extend(m.operands(op).map(|value| origin(m, value)));
            found.extend(m.results(op));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The device of an op.
    fn device(&self, op: OpId) -> DeviceIndex {
        match self.of.get(&op) {
            Some(&slot) => self.all[slot].device,
            None => self.devices.of(self.m, op).unwrap_or(CLIENT),
        }
    }

    /// The device that makes a value; nothing for what all have.
    fn home(&self, value: ValueId) -> Option<DeviceIndex> {
        let op = self.m.defining_op(value)?;
        (!is_everywhere(self.m, op) && !is_merge(self.m, op)).then(|| self.device(op))
    }

    /// Adds the devices that read a value. What is fetched is read by the client, and an invariant where it
    /// is read in the loop.
    fn readers(&self, value: ValueId, found: &mut BTreeSet<DeviceIndex>) {
        for (user, _) in self.m.users(value) {
            if is_merge(self.m, user) || is_invariant(self.m, user) {
                self.m.results(user).for_each(|value| self.readers(value, found));
            } else {
                found.insert(self.device(user));
            }
        }
    }

    /// The devices to which a control edge does not cross, because a value of the same op does.
    fn beside(&self, value: ValueId) -> BTreeSet<DeviceIndex> {
        use Primitive::{Merge, Switch, SwitchN};
        let (m, mut found) = (self.m, BTreeSet::new());
        let op = m.defining_op(value).filter(|_| is_chain(m, value));
        let op = op.filter(|&op| !matches!(Primitive::of(m, op), Some(Switch | SwitchN | Merge)));
        let data = op.into_iter().flat_map(|op| m.results(op)).filter(|&value| !is_chain(m, value));
        data.for_each(|value| self.readers(value, &mut found));
        found
    }

    /// How often these values cross.
    fn crossings(&self, values: &[ValueId]) -> u64 {
        let crossings = |&value: &ValueId| {
            let Some(home) = self.home(value) else { return 0 };
            let mut readers = BTreeSet::new();
            self.readers(value, &mut readers);
            self.beside(value).into_iter().for_each(|device| _ = readers.remove(&device));
            let n = readers.into_iter().filter(|&device| device != home).count() as u64;
            n.saturating_mul(self.weight(self.frames.of_value(self.m, value)))
        };
        values.iter().map(crossings).fold(0, u64::saturating_add)
    }

    /// How often all values cross that primitives read or make.
    fn all_crossings(&self) -> u64 {
        let mut values: Vec<ValueId> = (0..self.all.len()).flat_map(|slot| self.values(slot)).collect();
        values.sort_unstable();
        values.dedup();
        self.crossings(&values)
    }

    /// How often a frame runs.
    fn weight(&self, mut frame: FrameId) -> u64 {
        let mut weight = 1u64;
        while frame != ROOT {
            weight = weight.saturating_mul(TRIPS);
            frame = self.frames.frame(frame).parent.unwrap_or(ROOT);
        }
        weight
    }
}
