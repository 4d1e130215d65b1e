//! The tasks of a program, with estimated times.
//!
//! An op takes the time of its arithmetic or of its memory traffic, whichever is longer, and an overhead. The
//! time of an op that runs functions is that of their ops: times the assumed iterations for a loop, the mean
//! of the branches for a branch. Ops inside of it that have a choice of devices are placed with it, so that a
//! loop stays on one device unless specs of its ops say otherwise. Unknown dimensions count as 1.
//! A device of several threads divides long ops among them, and runs short ones beside each other. Rates that
//! the set gives are those of all threads together.
//! A time that was measured ([`measured`](super::measured)) counts instead of the estimate.
//! The rates that the set gives for a device (`flops`, `bandwidth`, `overhead`, `speed`) count; devices with
//! the same rates have the same times.
//!
//! A device has the constants that its groups read, each once, and their variables, for as long as the
//! program is loaded.

use std::rc::Rc;

use bef_format::device::DeviceConfig;
use befrost_tensor::tf::op::{Attrs, Type, Work};
use rustc_hash::{FxHashMap, FxHashSet};

use super::candidates::Candidates;
use super::groups::{GroupId, Groups};
use super::measured::Measured;
use super::schedule::{Links, Problem, SimulatedDevice, Task, TaskId, TaskTime};
use crate::build::query::{self, bytes_of, shape_of};
use crate::device::specs::{DeviceIndex, Devices, LinkRate};
use crate::device::{is_constant, is_placed};
use crate::dialects::tf::{self, Control};
use crate::graph::effects::{body, callees, functions};
use crate::ir::{AttrId, Module, OpId, StrId, TypeId, ValueId};

/// Arithmetic operations per nanosecond of a CPU's thread, unless the set says it.
const FLOPS: f64 = 20.0;
/// Bytes per nanosecond of a thread.
const BANDWIDTH: f64 = 10.0;
/// Nanoseconds of overhead per op.
const OVERHEAD: f64 = 200.0;
/// The nanoseconds of work of one thread from which on an op is divided among the threads of its device: two
/// parts of the least size that `runtime/tensor` makes.
const DIVIDED: f64 = 4_000.0;
/// Nanoseconds until another CPU device notices a value, which is passed by reference.
const CPU_LATENCY: f64 = 1_000.0;
/// The link to other memory: nanoseconds, and nanoseconds per byte.
const LINK: LinkRate = (5_000.0, 0.1);

/// A problem, and what its groups and tasks stand for.
pub(super) struct Estimated {
    pub(super) problem: Problem,
    /// The groups of ops that each group of the problem stands for.
    pub(super) groups: Vec<Vec<GroupId>>,
    /// The ops of the tasks.
    pub(super) ops: Vec<OpId>,
}

impl Estimated {
    /// The problem of placing a module's groups.
    pub(super) fn of(
        m: &Module,
        groups: &Groups,
        candidates: &[Candidates],
        devices: &Devices,
        (trips, measured): (f64, &Measured),
    ) -> Estimated {
        let functions = functions(m);
        let mut kinds: Vec<Costs<'_>> = Vec::new();
        let mut kind_of = Vec::new();
        for (device, name) in devices.all() {
            let (config, kind) = (devices.config(device), name.kind());
            let same = kinds.iter().position(|known| known.kind == kind && known.is_as_fast_as(config));
            let known = same.unwrap_or_else(|| {
                kinds.push(Costs::of(m, &functions, (devices, device), (trips, measured)));
                kinds.len() - 1
            });
            kind_of.push(known);
        }
        // Groups inside of functions that have a choice are placed with the op that calls the functions.
        let mut leader: Vec<usize> = (0..groups.all.len()).collect();
        let mut roots: Vec<OpId> = functions.values().copied().filter(|&op| !m.is_private(op)).collect();
        roots.sort_unstable();
        let mut tasks = Vec::new();
        for &root in &roots {
            for op in body(m, root).into_iter().filter(|&op| is_placed(m, op)) {
                let own = groups.of[&op];
                for inner in kinds[0].inside(op) {
                    let Some(&group) = groups.of.get(&inner) else { continue };
                    let has_choice = candidates[group].has_choice() && candidates[own].has_choice();
                    // Two groups may each have an op inside of the other's: no cycle of leaders.
                    if has_choice && root_of(&leader, own) != group {
                        leader[group] = own;
                    }
                }
                tasks.push(op);
            }
        }
        let mut number: FxHashMap<usize, usize> = FxHashMap::default();
        let mut of_problem: Vec<Vec<GroupId>> = Vec::new();
        let mut all_candidates: Vec<Rc<[DeviceIndex]>> = Vec::new();
        let mut problem_of = Vec::new();
        for id in 0..groups.all.len() {
            let root = root_of(&leader, id);
            let of = *number.entry(root).or_insert_with(|| {
                of_problem.push(Vec::new());
                all_candidates.push(candidates[root].devices.clone());
                of_problem.len() - 1
            });
            // Where all of them may be; a group that may be at none of these places is on its own.
            let of = match common(&all_candidates[of], &candidates[id].devices) {
                Some(common) => {
                    all_candidates[of] = common;
                    of
                }
                None => {
                    of_problem.push(Vec::new());
                    all_candidates.push(candidates[id].devices.clone());
                    of_problem.len() - 1
                }
            };
            of_problem[of].push(id);
            problem_of.push(of);
        }
        let task_of: FxHashMap<OpId, TaskId> = tasks.iter().enumerate().map(|(i, &op)| (op, i)).collect();
        let tasks_of_problem = tasks
            .iter()
            .enumerate()
            .map(|(id, &op)| {
                let times = kinds.iter_mut().map(|kind| kind.task_time(op)).collect();
                let reads = m.operands(op).filter_map(|value| {
                    let from = *task_of.get(&m.defining_op(value)?)?;
                    (from < id).then(|| (from, bytes(m, value)))
                });
                let made = m.results(op).take(tf::n_data_results(m, op)).map(|value| bytes(m, value)).sum();
                Task { group: problem_of[groups.of[&op]], times, reads: reads.collect(), bytes: made }
            })
            .collect();
        let mut kept = KeptBytes::default();
        let keeps = of_problem.iter().map(|all| kept.of_groups(m, groups, all)).collect();
        let links = links(devices);
        let simulated = simulated_devices(devices, &kind_of, &links);
        let n_alike = (MAX_TRIED / all_candidates.len().max(1)).max(1);
        let mut known: FxHashMap<*const DeviceIndex, Rc<[DeviceIndex]>> = FxHashMap::default();
        let all_candidates = all_candidates
            .iter()
            .map(|of| known.entry(of.as_ptr()).or_insert_with(|| few_alike(of, &simulated, n_alike)).clone())
            .collect();
        Estimated {
            problem: Problem {
                tasks: tasks_of_problem,
                candidates: all_candidates,
                devices: simulated,
                links,
                keeps,
                kept: kept.bytes,
            },
            groups: of_problem,
            ops: tasks,
        }
    }
}

/// The devices of both lists, in the order of the first; nothing if there are none.
fn common(a: &Rc<[DeviceIndex]>, b: &Rc<[DeviceIndex]>) -> Option<Rc<[DeviceIndex]>> {
    if Rc::ptr_eq(a, b) {
        return Some(a.clone());
    }
    let of_b: FxHashSet<DeviceIndex> = b.iter().copied().collect();
    let both: Rc<[DeviceIndex]> = a.iter().copied().filter(|device| of_b.contains(device)).collect();
    (!both.is_empty()).then_some(both)
}

/// The first `most` of the devices that are alike.
fn few_alike(devices: &[DeviceIndex], of: &[SimulatedDevice], most: usize) -> Rc<[DeviceIndex]> {
    let mut counts: FxHashMap<usize, usize> = FxHashMap::default();
    let is_early = |device: &DeviceIndex| {
        let n = counts.entry(of[usize::from(*device)].alike).or_default();
        *n += 1;
        *n <= most
    };
    devices.iter().copied().filter(is_early).collect()
}

/// The links of a set.
fn links(devices: &Devices) -> Links {
    let port = |device| {
        let rate = devices.link(device).unwrap_or(LINK);
        (!devices.is_host(device)).then_some((rate, rate))
    };
    Links {
        host: (CPU_LATENCY, 0.0),
        ports: devices.all().map(|(device, _)| port(device)).collect(),
        direct: devices.direct_links().clone(),
    }
}

/// The devices of a set, of which each has one of the speeds.
fn simulated_devices(devices: &Devices, speeds: &[usize], links: &Links) -> Vec<SimulatedDevice> {
    let mut known: FxHashMap<String, usize> = FxHashMap::default();
    let linked: FxHashSet<DeviceIndex> = links.direct.keys().flat_map(|&(from, to)| [from, to]).collect();
    let simulated = |(device, _): (DeviceIndex, _)| {
        let (config, at) = (devices.config(device), usize::from(device));
        let (speed, capacity) = (speeds[at], config.memory.map(|bytes| bytes as f64));
        let threads = config.threads.or(config.streams).unwrap_or(1);
        let properties = format!("{speed} {threads} {capacity:?} {:?}", links.ports[at]);
        let alike = if linked.contains(&device) { at } else { *known.entry(properties).or_insert(at) };
        SimulatedDevice { speed, threads, capacity, alike }
    };
    devices.all().map(simulated).collect()
}

/// The last of the leaders that lead to each other from a group on.
fn root_of(leader: &[usize], mut id: usize) -> usize {
    while leader[id] != id {
        id = leader[id];
    }
    id
}

/// The bytes of a value; unknown dimensions count as 1.
fn bytes(m: &Module, value: ValueId) -> f64 {
    let ty = m.value_type(value);
    bytes_of(m, ty).map_or_else(|| known_elements(m, ty) * 4.0, |bytes| bytes as f64)
}

fn known_elements(m: &Module, ty: TypeId) -> f64 {
    shape_of(m, ty).into_iter().flatten().map(|&dim| dim.max(1) as f64).product()
}

/// A value that a device keeps for as long as the program is loaded.
#[derive(PartialEq, Eq, Hash)]
enum KeptValue {
    Constant(ValueId),
    /// The variable of this container and name.
    Variable(Option<AttrId>, AttrId),
    /// A variable without a name.
    Unnamed(OpId),
}

/// The constants and variables of a module by number, and their bytes.
#[derive(Default)]
struct KeptBytes {
    number: FxHashMap<KeptValue, usize>,
    bytes: Vec<f64>,
}

impl KeptBytes {
    /// The numbers of those that groups read.
    fn of_groups(&mut self, m: &Module, groups: &Groups, all: &[GroupId]) -> Vec<usize> {
        let mut numbers = Vec::new();
        for &op in all.iter().flat_map(|&group| &groups.all[group].ops) {
            if let Some((variable, bytes)) = variable(m, op) {
                numbers.push(self.number(variable, bytes));
            }
            for value in m.operands(op) {
                if m.defining_op(value).is_some_and(|op| is_constant(m, op)) {
                    numbers.push(self.number(KeptValue::Constant(value), bytes(m, value)));
                }
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    fn number(&mut self, value: KeptValue, bytes: f64) -> usize {
        *self.number.entry(value).or_insert_with(|| {
            self.bytes.push(bytes);
            self.bytes.len() - 1
        })
    }
}

/// The variable that an op makes, with its bytes.
fn variable(m: &Module, op: OpId) -> Option<(KeptValue, f64)> {
    let attr = |name| m.attr_named(op, name);
    let signature = tf::row(m, op).filter(|row| tf::creates_variable(row))?.signature();
    let attrs = tf::attrs_of(m, op, signature);
    let (size, shape) = (attrs.ty("dtype")?.dtype()?.size(), attrs.shape("shape")?);
    let elements: f64 = shape.as_slice()?.iter().map(|dim| dim.unwrap_or(1) as f64).product();
    let text = |name| attr(name).filter(|&attr| m.cx.as_str(attr).is_some_and(|text| !text.is_empty()));
    let variable = match text("shared_name") {
        Some(name) => KeptValue::Variable(text("container"), name),
        None => KeptValue::Unnamed(op),
    };
    Some((variable, elements * size as f64))
}

/// Times of ops on a device.
pub(in crate::device) struct Costs<'m> {
    m: &'m Module,
    kind: &'m str,
    config: &'m DeviceConfig,
    measured: &'m Measured,
    functions: &'m FxHashMap<StrId, OpId>,
    trips: f64,
    /// The times of functions; 0 while a function is being added up, so that recursion ends.
    known: FxHashMap<StrId, f64>,
}

/// Maximum number of pairs of a group and one of several devices that are alike: of thousands of devices,
/// large programs try the first ones.
const MAX_TRIED: usize = 500_000;

/// Maximum depth of nested calls whose times are added up.
const MAX_DEPTH: usize = 64;

impl<'m> Costs<'m> {
    /// The times of a module's ops on a device. A loop has `trips` iterations.
    pub(in crate::device) fn of(
        m: &'m Module,
        functions: &'m FxHashMap<StrId, OpId>,
        (devices, device): (&'m Devices, DeviceIndex),
        (trips, measured): (f64, &'m Measured),
    ) -> Costs<'m> {
        let (kind, config) = (devices.name(device).kind(), devices.config(device));
        Costs { m, kind, config, measured, functions, trips, known: FxHashMap::default() }
    }

    fn is_as_fast_as(&self, other: &DeviceConfig) -> bool {
        let rates = |config: &DeviceConfig| {
            let given = (config.flops.clone(), config.bandwidth, config.overhead_ns);
            (given, config.speed.unwrap_or(1.0), config.threads.unwrap_or(1))
        };
        rates(self.config) == rates(other)
    }

    /// Arithmetic operations per nanosecond of one thread, on elements of the type of an op's first result.
    fn flops(&self, op: OpId) -> f64 {
        let ty =
            self.m.results(op).next().and_then(|value| tf::type_of(&self.m.cx, self.m.value_type(value)));
        let name = match ty {
            Some((Type::Dense(dtype), _)) => dtype.name(),
            _ => "",
        };
        let rate = self.config.flops.iter().find(|(known, _)| known == name);
        rate.map_or(FLOPS, |&(_, rate)| self.of_thread(rate))
    }

    /// The share of a thread in a rate per second, per nanosecond.
    fn of_thread(&self, rate: f64) -> f64 {
        rate / 1e9 / f64::from(self.n_threads())
    }

    fn n_threads(&self) -> u32 {
        self.config.threads.unwrap_or(1)
    }

    fn overhead(&self) -> f64 {
        self.config.overhead_ns.unwrap_or(OVERHEAD) / self.speed()
    }

    fn speed(&self) -> f64 {
        self.config.speed.unwrap_or(1.0)
    }

    /// The nanoseconds that an op takes.
    pub(in crate::device) fn time(&mut self, op: OpId) -> f64 {
        self.task_time(op).ns
    }

    fn task_time(&mut self, op: OpId) -> TaskTime {
        self.time_at(op, 0)
    }

    fn time_at(&mut self, op: OpId, depth: usize) -> TaskTime {
        let m = self.m;
        if let Some(control) = Control::of(m, op) {
            let inner: f64 = callees(m, op).into_iter().map(|name| self.function(name, depth)).sum();
            let ns = self.overhead()
                + match control {
                    Control::Call => inner,
                    Control::If | Control::Case => inner / callees(m, op).len().max(1) as f64,
                    Control::While => inner * self.trips,
                };
            return TaskTime { ns, threads: 1 };
        }
        let threads = self.n_threads();
        let measured = self.measured.get(&op).into_iter().flatten();
        if let Some(&(_, ns)) = measured.into_iter().find(|&&(kind, _)| m.cx.str(kind) == self.kind) {
            return TaskTime { ns, threads: if ns > DIVIDED { threads } else { 1 } };
        }
        let work = tf::row(m, op).and_then(|row| query::least_work(m, op, row));
        let Work { flops, bytes: moved } = work.unwrap_or_else(|| {
            let values = m.operands(op).chain(m.results(op));
            // The conversion saturates; so does the sum, before it.
            Work { flops: 0, bytes: values.map(|value| bytes(m, value)).sum::<f64>() as u64 }
        });
        let bandwidth = self.config.bandwidth.map_or(BANDWIDTH, |rate| self.of_thread(rate));
        let alone = (flops as f64 / self.flops(op)).max(moved as f64 / bandwidth) / self.speed();
        let threads = if alone > DIVIDED { threads } else { 1 };
        TaskTime { ns: self.overhead() + alone / f64::from(threads), threads }
    }

    fn function(&mut self, name: StrId, depth: usize) -> f64 {
        if let Some(&known) = self.known.get(&name) {
            return known;
        }
        let Some(&function) = self.functions.get(&name).filter(|_| depth < MAX_DEPTH) else { return 0.0 };
        self.known.insert(name, 0.0);
        let ops = body(self.m, function).into_iter().filter(|&op| is_placed(self.m, op));
        let time = ops.collect::<Vec<_>>().into_iter().map(|op| self.time_at(op, depth + 1).ns).sum();
        self.known.insert(name, time);
        time
    }

    /// All ops in the functions that an op runs.
    fn inside(&self, op: OpId) -> Vec<OpId> {
        let (mut found, mut seen) = (Vec::new(), FxHashSet::default());
        let mut todo = callees(self.m, op);
        while let Some(name) = todo.pop() {
            let Some(&function) = self.functions.get(&name).filter(|_| seen.insert(name)) else { continue };
            for op in body(self.m, function) {
                todo.extend(callees(self.m, op));
                found.push(op);
            }
        }
        found
    }
}
