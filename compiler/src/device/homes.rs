//! The home of each argument and result of a function: the device that has it.
//!
//! ```text
//! argument of a call, of a branch    the home of the operand in the first call
//! argument of a loop                 the device with the fewest crossings, preferably the one that makes it
//!                                    in the body; for an invariant its only reader's device, if it has one
//! result of a branch                 the device with the fewest crossings from the branches and to readers,
//!                                    preferably that of the predicate of a branch that takes it, then that
//!                                    of the first branch
//! argument, result of the program    the client's device
//! ```
//!
//! The functions that one op may run, and all ops that run one function, agree on the homes of arguments and
//! results: where the walk finds different ones, that of the first counts.
//!
//! Predicates and conditions are read in the host's memory. A constant is on every device, so it has no home.
//! A call transfers an operand that is not on the argument's home, and a branch such a result.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::sets::Sets;
use super::specs::{CLIENT, DeviceIndex, Devices};
use super::{body_with_graphs, is_branch, is_everywhere, is_handle, is_placed, ops_with_graphs};
use crate::dialects::tf::Control;
use crate::dialects::tf_executor::GRAPH;
use crate::dialects::{dev, tf};
use crate::graph::effects::{callees, functions};
use crate::ir::{AttrKind, BlockId, KnownType, Module, OpId, StrId, ValueId};

/// Maximum depth of nested calls; the homes of deeper ones are the device of the call.
const MAX_DEPTH: usize = 256;

/// Where values enter and leave functions.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Port {
    /// An argument of a function, or a result of an op that runs functions.
    Value(ValueId),
    /// A result of a function.
    Result(StrId, usize),
}

/// The homes of a module's values.
pub(crate) struct Homes<'a> {
    devices: &'a Devices,
    /// The ops of the functions by name.
    pub(crate) functions: FxHashMap<StrId, OpId>,
    /// The homes of arguments, and of the results of control flow.
    values: FxHashMap<ValueId, DeviceIndex>,
    /// The homes of each function's results.
    results: FxHashMap<StrId, Vec<Option<DeviceIndex>>>,
    /// The devices that read the results of functions, as far as they are known where these are walked.
    readers: FxHashMap<StrId, Vec<BTreeSet<DeviceIndex>>>,
    /// The functions that are being walked, to detect recursion.
    open: FxHashSet<StrId>,
}

impl<'a> Homes<'a> {
    /// The homes of all values.
    pub(crate) fn of_module(m: &Module, devices: &'a Devices) -> Homes<'a> {
        let functions = functions(m);
        let ops = || functions.values().flat_map(|&function| body_with_graphs(m, function));
        let is_parts = |op: OpId| m.op_name_str(op) == dev::PARTS;
        let called: FxHashSet<StrId> =
            ops().filter(|&op| !is_parts(op)).flat_map(|op| callees(m, op)).collect();
        // The results of the functions of parts are those of the program.
        let parts: FxHashSet<StrId> =
            ops().filter(|&op| is_parts(op)).flat_map(|op| callees(m, op)).collect();
        let mut order: Vec<(StrId, OpId)> = functions.iter().map(|(&name, &op)| (name, op)).collect();
        // Public functions first, then private ones that nothing calls.
        order.sort_by_key(|&(name, op)| (m.is_private(op), called.contains(&name), op.0));
        let (values, results, readers, open) = Default::default();
        let mut homes = Homes { devices, functions, values, results, readers, open };
        let mut of_client = Vec::new();
        for &(name, function) in &order {
            let args = block_of(m, function).map_or(&[][..], |block| m.args(block));
            if !m.is_private(function) {
                let n_results = block_of(m, function).and_then(|block| m.last_op(block));
                let n_results = n_results.map_or(0, |end| m.n_operands(end));
                homes.readers.insert(name, vec![BTreeSet::from([CLIENT]); n_results]);
            }
            homes.function(m, name, &vec![CLIENT; args.len()]);
            if !m.is_private(function) || parts.contains(&name) {
                let n_results = homes.results(name).len();
                of_client.extend(args.iter().copied().map(Port::Value));
                of_client.extend((0..n_results).map(|i| Port::Result(name, i)));
            }
        }
        homes.agree(m, &order, of_client);
        homes
    }

    /// Lets all ops and functions agree on the homes of what passes between them.
    fn agree(&mut self, m: &Module, order: &[(StrId, OpId)], of_client: Vec<Port>) {
        let mut sets = Sets::<Port>::default();
        let mut conditions = Vec::new();
        for op in order.iter().flat_map(|&(_, function)| body_with_graphs(m, function)) {
            let Some(control) = Control::of(m, op) else { continue };
            let names = callees(m, op);
            let blocks = names.iter().filter_map(|name| block_of(m, *self.functions.get(name)?));
            let args: Vec<&[ValueId]> = blocks.map(|block| m.args(block)).collect();
            for pair in args.windows(2) {
                pair[0].iter().zip(pair[1]).for_each(|(&a, &b)| sets.join(Port::Value(a), Port::Value(b)));
            }
            let condition = function_attr(m, op, "cond").filter(|_| control == Control::While);
            for (i, value) in m.results(op).take(tf::n_data_results(m, op)).enumerate() {
                for &name in names.iter().filter(|&&name| condition != Some(name)) {
                    sets.join(Port::Value(value), Port::Result(name, i));
                }
                if control == Control::While {
                    let own = args.iter().filter_map(|args| args.get(i));
                    own.for_each(|&arg| sets.join(Port::Value(value), Port::Value(arg)));
                }
            }
            conditions.extend(condition.map(|name| Port::Result(name, 0)));
        }
        let mut chosen: FxHashMap<usize, DeviceIndex> =
            of_client.into_iter().map(|port| (sets.set_of(port), CLIENT)).collect();
        let conditions: Vec<usize> = conditions.into_iter().map(|port| sets.set_of(port)).collect();
        let ports = sets.into_nodes();
        for &(port, set) in &ports {
            let home = match port {
                Port::Value(value) => self.values.get(&value).copied(),
                Port::Result(name, i) => self.results(name).get(i).copied().flatten(),
            };
            if let Some(home) = home {
                chosen.entry(set).or_insert(home);
            }
        }
        for set in conditions {
            chosen.entry(set).and_modify(|home| *home = self.devices.host_of(*home));
        }
        for (port, set) in ports {
            match (port, chosen.get(&set)) {
                (Port::Value(value), Some(&home)) => _ = self.values.insert(value, home),
                (Port::Result(name, i), Some(&home)) => {
                    let results = self.results.get_mut(&name);
                    results.and_then(|all| all.get_mut(i)).into_iter().for_each(|own| *own = Some(home));
                }
                (_, None) => {}
            }
        }
    }

    /// The device of a value; `None` for a constant, which all have.
    pub(crate) fn home(&self, m: &Module, value: ValueId) -> Option<DeviceIndex> {
        if let Some(&home) = self.values.get(&value) {
            return Some(home);
        }
        let Some(op) = m.defining_op(value) else { return Some(CLIENT) };
        if is_everywhere(m, op) {
            return None;
        }
        if let Some(to) = dev::destination(m, op) {
            return self.devices.number(to);
        }
        Some(self.device(m, op))
    }

    /// The device on which an op runs.
    pub(crate) fn device(&self, m: &Module, op: OpId) -> DeviceIndex {
        self.devices.of(m, op).unwrap_or(CLIENT)
    }

    /// The devices on which a function wants its results.
    pub(crate) fn results(&self, function: StrId) -> &[Option<DeviceIndex>] {
        self.results.get(&function).map_or(&[], Vec::as_slice)
    }

    /// The home of an argument of a function.
    pub(crate) fn argument(&self, m: &Module, function: StrId, i: usize) -> Option<DeviceIndex> {
        let &function = self.functions.get(&function)?;
        self.values.get(m.args(block_of(m, function)?).get(i)?).copied()
    }

    /// The device on which an op reads its operand number `i`; `None` if it does not matter.
    pub(crate) fn wanted(&self, m: &Module, op: OpId, i: usize) -> Option<DeviceIndex> {
        if i >= tf::n_data_operands(m, op) || m.value_type(m.operand(op, i)) == KnownType::Chain.id() {
            return None;
        }
        if m.op_name_str(op) == dev::SEND {
            // Sent from the host's memory, so that all parts get the same value or the same error.
            return self.home(m, m.operand(op, i)).map(|home| self.devices.host_of(home));
        }
        match Control::of(m, op) {
            Some(Control::If | Control::Case) if i == 0 => Some(self.devices.host_of(self.device(m, op))),
            Some(control) => {
                let first = control.first_argument();
                callees(m, op).into_iter().find_map(|callee| self.argument(m, callee, i - first))
            }
            None if is_placed(m, op) => Some(self.device(m, op)),
            // Scalars are in the host's memory, and so are the tensors that they are read from.
            None if m.op_name_str(op).starts_with("tensor.") => Some(CLIENT),
            None => None,
        }
    }

    /// Walks a function whose arguments have these homes, unless it was walked before.
    fn function(&mut self, m: &Module, name: StrId, args: &[DeviceIndex]) -> Vec<Option<DeviceIndex>> {
        if let Some(known) = self.results.get(&name) {
            return known.clone();
        }
        let block = self.functions.get(&name).and_then(|&function| block_of(m, function));
        let is_new = self.open.len() < MAX_DEPTH && self.open.insert(name);
        let Some(block) = block.filter(|_| is_new) else { return Vec::new() };
        self.values.extend(m.args(block).iter().copied().zip(args.iter().copied()));
        for op in ops_with_graphs(m, block) {
            self.control(m, op);
            self.fetched(m, op);
        }
        let returned = m.last_op(block).map_or_else(Vec::new, |end| m.operands(end).collect());
        let results: Vec<Option<DeviceIndex>> =
            returned.into_iter().map(|value| self.home(m, value)).collect();
        self.open.remove(&name);
        self.results.insert(name, results.clone());
        results
    }

    /// Sets the homes of the results of a graph of primitives: where it has what it fetches.
    fn fetched(&mut self, m: &Module, graph: OpId) {
        if m.op_name_str(graph) != GRAPH {
            return;
        }
        let Some(end) = block_of(m, graph).and_then(|block| m.last_op(block)) else { return };
        for (result, value) in m.results(graph).zip(m.operands(end)) {
            let home = self.home(m, value).unwrap_or(CLIENT);
            self.values.insert(result, home);
        }
    }

    /// Sets the homes of the arguments and results of a control flow op's functions.
    fn control(&mut self, m: &Module, op: OpId) {
        let Some(control) = Control::of(m, op) else { return };
        let first = control.first_argument();
        let operands: Vec<ValueId> = m.operands(op).take(tf::n_data_operands(m, op)).skip(first).collect();
        let names = callees(m, op);
        let own = self.device(m, op);
        let mut args: Vec<DeviceIndex> = operands
            .iter()
            .enumerate()
            .map(|(i, &value)| self.home(m, value).or_else(|| self.reader(m, &names, i)).unwrap_or(own))
            .collect();
        if control == Control::While {
            self.carried(m, op, &names, &mut args);
            self.values.extend(m.results(op).zip(args.iter().copied()));
            let cond = function_attr(m, op, "cond");
            for &name in &names {
                self.function(m, name, &args);
                // A body's results have the homes of the loop's variables, a condition's result the host of
                // the device that makes it.
                let results = self.results.get_mut(&name).into_iter().flatten();
                for (i, home) in results.enumerate() {
                    *home = if cond == Some(name) {
                        Some(self.devices.host_of(home.unwrap_or(own)))
                    } else {
                        args.get(i).copied().or(Some(own))
                    };
                }
            }
            return;
        }
        let given: Vec<ValueId> = m.results(op).take(tf::n_data_results(m, op)).collect();
        let behind: Vec<BTreeSet<DeviceIndex>> =
            given.iter().map(|&value| self.reading(m, value).collect()).collect();
        let mut made: Vec<Vec<DeviceIndex>> = vec![Vec::new(); given.len()];
        for &name in &names {
            self.readers.entry(name).or_insert_with(|| behind.clone());
            let of_branch = self.function(m, name, &args);
            made.iter_mut().zip(of_branch).for_each(|(made, home)| made.extend(home));
        }
        let home = |i: usize| match is_handle(m, given[i]) {
            true => made[i].first().copied(),
            false => joined(&made[i], &behind[i], &self.deciding(m, given[i])),
        };
        let results: Vec<DeviceIndex> = (0..given.len()).map(|i| home(i).unwrap_or(own)).collect();
        for name in names {
            let wanted = self.results.get_mut(&name).into_iter().flatten();
            wanted.zip(&results).for_each(|(home, &result)| *home = Some(result));
        }
        self.values.extend(m.results(op).zip(results));
    }

    /// Sets the homes of a loop's variables to the devices with the fewest crossings.
    fn carried(&mut self, m: &Module, op: OpId, names: &[StrId], args: &mut [DeviceIndex]) {
        let body = names.iter().copied().find(|name| {
            let block = self.functions.get(name).and_then(|&function| block_of(m, function));
            let end = block.and_then(|block| m.last_op(block));
            end.is_some_and(|end| m.n_operands(end) == args.len())
                && block.is_some_and(|block| m.args(block).len() == args.len())
        });
        let Some((name, block)) =
            body.and_then(|name| Some((name, block_of(m, *self.functions.get(&name)?)?)))
        else {
            return;
        };
        let params: Vec<ValueId> = m.args(block).to_vec();
        if self.results.contains_key(&name) {
            let known = params.iter().map(|param| self.values.get(param).copied());
            args.iter_mut().zip(known).for_each(|(arg, known)| *arg = known.unwrap_or(*arg));
            return;
        }
        let Some(end) = m.last_op(block) else { return };
        let returned: Vec<ValueId> = m.operands(end).collect();
        // This walk finds the homes of the body's results; the caller walks it again with the final homes.
        let made = self.function(m, name, args);
        self.results.remove(&name);
        for (i, arg) in args.iter_mut().enumerate() {
            // A handle stays where its resource is.
            if is_handle(m, m.operand(op, i)) {
                continue;
            }
            if returned.get(i) == params.get(i) {
                *arg = self.reader(m, names, i).unwrap_or(*arg);
            } else {
                *arg = self.cheapest(m, op, names, i, made.get(i).copied().flatten().unwrap_or(*arg));
            }
        }
    }

    /// The home of variable `i` of a loop whose body makes it on the device `made`.
    fn cheapest(&self, m: &Module, op: OpId, names: &[StrId], i: usize, made: DeviceIndex) -> DeviceIndex {
        let blocks = names.iter().filter_map(|name| block_of(m, *self.functions.get(name)?));
        let args = blocks.filter_map(|block| m.args(block).get(i).copied());
        // Condition and body receive it separately.
        let inside: Vec<BTreeSet<DeviceIndex>> = args.map(|arg| self.reading(m, arg).collect()).collect();
        let behind: BTreeSet<DeviceIndex> = self.reading(m, m.result(op, i)).collect();
        let init = self.home(m, m.operand(op, i));
        let crossings = |home: DeviceIndex| {
            let others = |all: &BTreeSet<DeviceIndex>| all.iter().filter(|&&device| device != home).count();
            let init = usize::from(init.is_some_and(|init| init != home));
            // Crossings in each iteration weigh more than those at the loop's ends.
            let inside: usize = inside.iter().map(others).sum();
            (usize::from(made != home) + inside, init + others(&behind))
        };
        let others = inside.iter().flatten().chain(&init).chain(&behind).copied();
        let candidates = std::iter::once(made).chain(others.filter(|&device| device != made));
        candidates.min_by_key(|&home| crossings(home)).unwrap_or(made)
    }

    /// The devices on which a value is read.
    fn reading(&self, m: &Module, value: ValueId) -> impl Iterator<Item = DeviceIndex> {
        m.users(value).flat_map(move |(op, i)| match self.behind(m, op, i) {
            Some(readers) => readers.iter().copied().collect::<Vec<_>>(),
            None => self.wanted(m, op, i).into_iter().collect(),
        })
    }

    /// The devices of the predicates of branches that take a value.
    fn deciding(&self, m: &Module, value: ValueId) -> BTreeSet<DeviceIndex> {
        let branches = m.users(value).filter(|&(op, i)| i > 0 && is_branch(m, op));
        branches.filter_map(|(op, _)| self.home(m, m.operand(op, 0))).collect()
    }

    /// The devices that read operand number `i` of an op as a result of its function, if it returns it and
    /// they are known.
    fn behind(&self, m: &Module, op: OpId, i: usize) -> Option<&BTreeSet<DeviceIndex>> {
        let block = m.parent_block(op).filter(|&block| m.last_op(block) == Some(op))?;
        let function = m.block_parent(block).map(|region| m.region_parent(region))?;
        self.readers.get(&m.symbol_name(function)?)?.get(i)
    }

    /// The device on which an argument of these functions is read, if it is one.
    fn reader(&self, m: &Module, names: &[StrId], i: usize) -> Option<DeviceIndex> {
        let mut found = None;
        for name in names {
            let block = self.functions.get(name).and_then(|&function| block_of(m, function))?;
            let Some(&arg) = m.args(block).get(i) else { continue };
            for device in self.reading(m, arg) {
                if found.is_some_and(|found| found != device) {
                    return None;
                }
                found = Some(device);
            }
        }
        found
    }
}

/// The home of a result that branches make on these devices and ops on others read: the device with the
/// fewest crossings, of which each branch may have one. Rather one that has the predicate of a branch that
/// takes it: there the predicate may ride on it.
fn joined(
    made: &[DeviceIndex],
    readers: &BTreeSet<DeviceIndex>,
    deciding: &BTreeSet<DeviceIndex>,
) -> Option<DeviceIndex> {
    let all = || made.iter().chain(readers).copied();
    let crossings = |home: DeviceIndex| all().filter(|&device| device != home).count();
    all().min_by_key(|&home| (crossings(home), !deciding.contains(&home)))
}

/// The only block of a function.
pub(crate) fn block_of(m: &Module, function: OpId) -> Option<BlockId> {
    m.regions_of(function).first().and_then(|&region| m.entry(region))
}

/// The function that an attribute names.
pub(crate) fn function_attr(m: &Module, op: OpId, name: &str) -> Option<StrId> {
    match m.cx.attr(m.attr_named(op, name)?) {
        AttrKind::Symbol { root, nested } if nested.is_empty() => Some(*root),
        _ => None,
    }
}
