//! The tasks of a program, with estimated times.
//!
//! An op takes the time of its arithmetic or of its memory traffic, whichever is longer, and an overhead. The
//! time of an op that runs functions is that of their ops: times the assumed iterations for a loop, the mean
//! of the branches for a branch. Ops inside of it that have a choice of devices are placed with it, so that a
//! loop stays on one device unless specs of its ops say otherwise. Unknown dimensions count as 1.
//! A time that was measured ([`measured`](super::measured)) counts instead of the estimate.
//! The rates that the set gives for a device (`flops`, `bandwidth`, `overhead`, `speed`) count; devices with
//! the same rates have the same times.
//!
//! A device has the constants that its groups read, each once, for as long as the program is loaded.

use bef_format::device::DeviceConfig;
use befrost_tensor::tf::op::{Type, Work};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Candidates;
use super::groups::{GroupId, Groups};
use super::measured::Measured;
use super::schedule::{Problem, Task, TaskId};
use crate::build::query::{self, bytes_of, shape_of};
use crate::device::specs::{DeviceIndex, Devices};
use crate::device::{is_constant, is_placed};
use crate::dialects::tf::{self, Control};
use crate::graph::effects::{body, callees, functions};
use crate::ir::{Module, OpId, StrId, TypeId, ValueId};

/// Arithmetic operations per nanosecond of a CPU, unless the set says it.
const FLOPS: f64 = 20.0;
/// Bytes per nanosecond.
const BANDWIDTH: f64 = 10.0;
/// Nanoseconds of overhead per op.
const OVERHEAD: f64 = 200.0;
/// Nanoseconds until another CPU device notices a value, which is passed by reference.
const CPU_LATENCY: f64 = 1_000.0;
/// The link to other memory: nanoseconds, and nanoseconds per byte.
const LINK: (f64, f64) = (5_000.0, 0.1);

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
        roots.sort_by_key(|op| op.0);
        let mut tasks = Vec::new();
        for &root in &roots {
            for op in body(m, root).into_iter().filter(|&op| is_placed(m, op)) {
                let own = groups.of[&op];
                for inner in kinds[0].inside(op) {
                    let Some(&group) = groups.of.get(&inner) else { continue };
                    let has_choice = candidates[group].reason.is_none() && candidates[own].reason.is_none();
                    // Two groups may each have an op inside of the other's: no cycle of leaders.
                    if has_choice && root_of(&leader, own) != group {
                        leader[group] = own;
                    }
                }
                tasks.push(op);
            }
        }
        let find = |id: usize| root_of(&leader, id);
        let mut number: FxHashMap<usize, usize> = FxHashMap::default();
        let mut of_problem: Vec<Vec<GroupId>> = Vec::new();
        let mut all_candidates = Vec::new();
        for id in 0..groups.all.len() {
            let of = *number.entry(find(id)).or_insert_with(|| {
                of_problem.push(Vec::new());
                let own = candidates[find(id)].devices.iter().map(|&device| usize::from(device));
                all_candidates.push(own.collect::<Vec<usize>>());
                of_problem.len() - 1
            });
            of_problem[of].push(id);
        }
        let task_of: FxHashMap<OpId, TaskId> = tasks.iter().enumerate().map(|(i, &op)| (op, i)).collect();
        let tasks_of_problem = tasks
            .iter()
            .enumerate()
            .map(|(id, &op)| {
                let of_kind: Vec<f64> = kinds.iter_mut().map(|kind| kind.time(op)).collect();
                let times = kind_of.iter().map(|&kind| of_kind[kind]).collect();
                let reads = m.operands(op).filter_map(|value| {
                    let from = *task_of.get(&m.defining_op(value)?)?;
                    (from < id).then(|| (from, bytes(m, value)))
                });
                let made = m.results(op).take(tf::n_data_results(m, op)).map(|value| bytes(m, value)).sum();
                Task { group: number[&find(groups.of[&op])], times, reads: reads.collect(), bytes: made }
            })
            .collect();
        let link = |a: u16, b: u16| match (devices.is_host(a), devices.is_host(b)) {
            _ if a == b => (0.0, 0.0),
            (true, true) => (CPU_LATENCY, 0.0),
            (host, _) => devices.link(if host { b } else { a }).unwrap_or(LINK),
        };
        let all = || devices.all().map(|(device, _)| device);
        let links = all().map(|a| all().map(|b| link(a, b)).collect()).collect();
        let mut constants = Constants::default();
        let kept = of_problem.iter().map(|all| constants.read_by(m, groups, all)).collect();
        Estimated {
            problem: Problem {
                tasks: tasks_of_problem,
                candidates: all_candidates,
                links,
                kept,
                constants: constants.bytes,
                capacities: all().map(|device| devices.config(device).memory.map(|n| n as f64)).collect(),
            },
            groups: of_problem,
            ops: tasks,
        }
    }
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

/// The constants of a module by number, and their bytes.
#[derive(Default)]
struct Constants {
    number: FxHashMap<ValueId, usize>,
    bytes: Vec<f64>,
}

impl Constants {
    /// The numbers of those that groups read.
    fn read_by(&mut self, m: &Module, groups: &Groups, all: &[GroupId]) -> Vec<usize> {
        let ops = all.iter().flat_map(|&group| &groups.all[group].ops);
        let values = ops.flat_map(|&op| m.operands(op));
        let constants = values.filter(|&value| m.defining_op(value).is_some_and(|op| is_constant(m, op)));
        let mut numbers: Vec<usize> = constants
            .map(|value| {
                *self.number.entry(value).or_insert_with(|| {
                    self.bytes.push(bytes(m, value));
                    self.bytes.len() - 1
                })
            })
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }
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
            (config.flops.clone(), config.bandwidth, config.overhead_ns, config.speed.unwrap_or(1.0))
        };
        rates(self.config) == rates(other)
    }

    /// Arithmetic operations per nanosecond, on elements of the type of an op's first result.
    fn flops(&self, op: OpId) -> f64 {
        let ty =
            self.m.results(op).next().and_then(|value| tf::type_of(&self.m.cx, self.m.value_type(value)));
        let name = match ty {
            Some((Type::Dense(dtype), _)) => dtype.name(),
            _ => "",
        };
        let rate = self.config.flops.iter().find(|(known, _)| known == name);
        rate.map_or(FLOPS, |(_, rate)| rate / 1e9)
    }

    fn overhead(&self) -> f64 {
        self.config.overhead_ns.unwrap_or(OVERHEAD) / self.speed()
    }

    fn speed(&self) -> f64 {
        self.config.speed.unwrap_or(1.0)
    }

    /// The nanoseconds that an op takes.
    pub(in crate::device) fn time(&mut self, op: OpId) -> f64 {
        self.time_at(op, 0)
    }

    fn time_at(&mut self, op: OpId, depth: usize) -> f64 {
        let m = self.m;
        if let Some(control) = Control::of(m, op) {
            let inner: f64 = callees(m, op).into_iter().map(|name| self.function(name, depth)).sum();
            return self.overhead()
                + match control {
                    Control::Call => inner,
                    Control::If | Control::Case => inner / callees(m, op).len().max(1) as f64,
                    Control::While => inner * self.trips,
                };
        }
        let measured = self.measured.get(&op).into_iter().flatten();
        if let Some((_, ns)) = measured.into_iter().find(|&&(kind, _)| m.cx.str(kind) == self.kind) {
            return *ns;
        }
        let work = tf::row(m, op).and_then(|row| query::work(m, op, row));
        let Work { flops, bytes: moved } = work.unwrap_or_else(|| {
            let values = m.operands(op).chain(m.results(op));
            // The conversion saturates; so does the sum, before it.
            Work { flops: 0, bytes: values.map(|value| bytes(m, value)).sum::<f64>() as u64 }
        });
        let bandwidth = self.config.bandwidth.map_or(BANDWIDTH, |rate| rate / 1e9);
        self.overhead() + (flops as f64 / self.flops(op)).max(moved as f64 / bandwidth) / self.speed()
    }

    fn function(&mut self, name: StrId, depth: usize) -> f64 {
        if let Some(&known) = self.known.get(&name) {
            return known;
        }
        let Some(&function) = self.functions.get(&name).filter(|_| depth < MAX_DEPTH) else { return 0.0 };
        self.known.insert(name, 0.0);
        let ops = body(self.m, function).into_iter().filter(|&op| is_placed(self.m, op));
        let time = ops.collect::<Vec<_>>().into_iter().map(|op| self.time_at(op, depth + 1)).sum();
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
