//! `tf-plan-memory`: static allocation of the results of a function's operators in arenas, made by each call.
//!
//! ```text
//! ops ──storage──▶ storages: values that share memory, with producer, readers and size (views, in-place ops)
//!     ──order────▶ the ops that are complete before an op starts
//!     ──place────▶ offsets; storages overlap only if one is dead before the other is written
//! ```
//!
//! A size that depends on unknown dimensions is a number times some of them (`build::sizes`), its scale. All
//! storages of a scale are in one arena, planned as if it were 1; at run time, where it is S, offsets and
//! sizes are S times as large, so the plan holds for all S:
//!
//! ```text
//! %x : ?x64   ?x32   128x8       the arena of scale 1:       128x8 at 0
//!                                the arena of dimension 0:   ?x64 at 0, ?x32 at 320; with 10 rows 0 and 3200
//! ```
//!
//! A plan holds for all schedules that the graph allows. If a stricter order needs much less memory, ops that
//! reuse memory wait for the readers of its previous contents: `after` edges, which do not propagate errors.
//! There are none between devices, which would not work at the same time.
//! Results that leave the function or may be retained, and results of a size that only their values tell, are
//! not in an arena but allocated from the pool. `befrost_mem::Arena` guarantees that a wrong plan only wastes
//! memory.
//!
//! `print-memory-plan` prints the plan of each function; `tf-rematerialize` makes it smaller.

mod order;
mod place;
mod rematerialize;
mod report;
mod storage;

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use self::order::Ancestors;
use self::place::{Plan, PlannedPlace};
use self::storage::{Storage, Storages};
use super::effects::functions;
use crate::build::sizes::{self, Symbols};
use crate::device::device_of;
use crate::dialects::tf;
use crate::ir::{AttrId, BlockId, KnownType, Module, OpId, TypeId, ValueId, names};
use crate::pass::{Change, Pass, PassCx, Rewriter};
use crate::rewrite::InsertionPoint;

pub(crate) use self::rematerialize::PASS as REMATERIALIZE;

pub(crate) const PASS: Pass = Pass {
    name: "tf-plan-memory",
    title: "TFPlanMemory",
    summary: "plans where the results of operators lie in one arena per call of a function",
    options: &[],
    statistics: &[
        ("num-placed", "Number of results that lie in an arena"),
        ("num-in-place", "Number of operators that overwrite an operand"),
        ("num-edges", "Number of edges that were added to save memory"),
    ],
    run,
};

pub(crate) const PRINT: Pass = Pass {
    name: "print-memory-plan",
    title: "PrintMemoryPlan",
    summary: "prints where results lie in the arena of each function, and how much memory that is",
    options: &[],
    statistics: &[],
    run: print,
};

/// Limit on the ops of a planned function: the order takes a bit for each pair, 64 MB.
const MAX_OPS: usize = 1 << 15;
/// The ops that create an arena, of a fixed size or of a multiple of dimensions.
const ARENA: &str = "cpu.arena";
const SCALED_ARENA: &str = "cpu.scaled_arena";
/// Minimum total size, for a scale of 1, for which an arena pays.
const MIN_BYTES: usize = 4096;
/// Limit on the arenas of a function.
const MAX_ARENAS: usize = 16;

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    sizes::forget(r.ir());
    for (block, _) in blocks(r.ir()) {
        let Some(planned) = Planned::of(r.ir(), block) else { continue };
        planned.write(r, block, cx);
    }
    r.change()
}

fn print(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    sizes::forget(r.ir());
    for (block, name) in blocks(r.ir()) {
        match Planned::of(r.ir(), block) {
            Some(planned) => cx.print(&report::table(r.ir(), &name, &planned)),
            None => cx.print(&format!("memory of @{name}: nothing planned\n")),
        }
    }
    Change::Unchanged
}

/// The blocks of single-block functions with their names, in module order.
fn blocks(m: &Module) -> Vec<(BlockId, String)> {
    let mut found: Vec<(OpId, BlockId, String)> = functions(m)
        .into_iter()
        .filter_map(|(name, op)| {
            let &region = m.regions_of(op).first()?;
            let block = m.entry(region).filter(|_| m.blocks_of(region).len() == 1)?;
            Some((op, block, m.cx.str(name).to_owned()))
        })
        .collect();
    found.sort_by_key(|&(op, ..)| op.0);
    found.into_iter().map(|(_, block, name)| (block, name)).collect()
}

/// The memory plan of a function.
struct Planned {
    ops: Vec<OpId>,
    storages: Storages,
    arenas: Vec<ArenaPlan>,
    /// The ops that an op waits for in addition, so that the plan holds.
    edges: FxHashMap<usize, Vec<usize>>,
}

/// The plan of one arena.
struct ArenaPlan {
    /// The unknown dimensions by which all sizes are multiplied.
    scale: Symbols,
    /// The storages in it.
    members: Vec<usize>,
    plan: Plan,
    /// True if the plan holds only if ops wait for others.
    waits: bool,
    /// The peak of live bytes if ops run in program order.
    lower_bound: usize,
}

impl Planned {
    fn of(m: &Module, block: BlockId) -> Option<Planned> {
        let ops: Vec<OpId> = m.ops_in(block).collect();
        let is_planned = ops.iter().any(|&op| [ARENA, SCALED_ARENA].contains(&m.op_name_str(op)));
        if is_planned || ops.len() > MAX_OPS || !ops.iter().any(|&op| storage::allocates_results(m, op)) {
            return None;
        }
        let before = Ancestors::of(m, &ops);
        let storages = Storages::of(m, &ops, &before);
        // The storages of each scale, in the order in which scales first occur.
        let mut scales: Vec<(Vec<usize>, Vec<&Storage>)> = Vec::new();
        let mut numbers: FxHashMap<&Symbols, usize> = FxHashMap::default();
        for (member, storage) in storages.placed() {
            let number = *numbers.entry(&storage.scale).or_insert(scales.len());
            if number == scales.len() {
                scales.push(Default::default());
            }
            scales[number].0.push(member);
            scales[number].1.push(storage);
        }
        let is_free =
            |done: &Storage, next: &Storage| done.events().all(|op| before.is_before(op, next.maker));
        let can_wait = |op: usize| storage::allocates_results(m, ops[op]);
        // Devices do not wait for each other to save memory: they work at the same time. An op without a
        // device is on the client's.
        let devices: Vec<Option<AttrId>> = ops.iter().map(|&op| device_of(m, op)).collect();
        let is_strict = |done: &Storage, next: &Storage| {
            let may_wait = |op: usize| op < next.maker && can_wait(op) && devices[op] == devices[next.maker];
            done.events().all(|op| before.is_before(op, next.maker) || may_wait(op))
        };
        let arena = |(members, placed): (Vec<usize>, Vec<&Storage>)| {
            let scale = placed.first()?.scale.clone();
            if placed.iter().map(|storage| storage.bytes).sum::<usize>() < MIN_BYTES {
                return None;
            }
            let lower_bound = place::lower_bound(&placed);
            let (mut plan, mut waits) = (Plan::new(&placed, is_free), false);
            // The strict order, if it saves much.
            if plan.peak > lower_bound + lower_bound / 10 {
                let strict = Plan::new(&placed, is_strict);
                if strict.peak + strict.peak / 10 <= plan.peak {
                    (plan, waits) = (strict, true);
                }
            }
            Some(ArenaPlan { scale, members, plan, waits, lower_bound })
        };
        let arenas: Vec<ArenaPlan> = scales.into_iter().filter_map(arena).take(MAX_ARENAS).collect();
        if arenas.is_empty() {
            return None;
        }
        let mut strict: Vec<PlannedPlace<'_>> = Vec::new();
        for (arena, plan) in arenas.iter().enumerate().filter(|(_, plan)| plan.waits) {
            let place = |(member, bytes)| PlannedPlace { storage: storages.get(member), arena, bytes };
            strict.extend(plan.places(&storages).map(place));
        }
        let edges = if strict.is_empty() { FxHashMap::default() } else { place::edges(&strict, before) };
        Some(Planned { edges, ops, arenas, storages })
    }

    /// The values of the arenas, made in front of the ops that may need them.
    fn write_arenas(&self, r: &mut Rewriter<'_>, first: OpId) -> Vec<ValueId> {
        let mut values = Vec::with_capacity(self.arenas.len());
        for arena in &self.arenas {
            let anchors: Vec<(ValueId, usize)> =
                arena.scale.iter().filter_map(|&symbol| sizes::anchor(r.ir(), symbol)).collect();
            let makers = anchors.iter().filter_map(|&(value, _)| r.ir().defining_op(value));
            let last = makers.max_by_key(|maker| self.ops.iter().position(|op| op == maker));
            let at = last.map_or(InsertionPoint::Before(first), InsertionPoint::After);
            let loc = r.ir().loc(last.unwrap_or(first));
            let int = |r: &mut Rewriter<'_>, n: usize| r.cx().int_attr(KnownType::I64.id(), n as i64);
            let bytes = int(r, arena.plan.peak);
            let axes: Vec<AttrId> = anchors.iter().map(|&(_, axis)| int(r, axis)).collect();
            let axes = r.cx().array_attr(&axes);
            let operands: Vec<ValueId> = anchors.iter().map(|&(value, _)| value).collect();
            let (name, attrs): (_, &[(&str, AttrId)]) = match anchors.is_empty() {
                true => (ARENA, &[("bytes", bytes)]),
                false => (SCALED_ARENA, &[("axes", axes), ("bytes", bytes)]),
            };
            let op = r.create_named(at, loc, name, &operands, &[KnownType::Arena.id()], attrs);
            values.push(r.ir().result(op, 0));
        }
        values
    }

    /// Adds to ops the arena, their offsets, and the chains that they wait for.
    fn write(&self, r: &mut Rewriter<'_>, block: BlockId, cx: &PassCx<'_>) {
        let Some(first) = r.ir().first_op(block) else { return };
        let arenas = self.write_arenas(r, first);
        let places: FxHashMap<usize, (usize, Range<usize>)> = (0..self.arenas.len())
            .flat_map(|i| {
                self.arenas[i].places(&self.storages).map(move |(storage, place)| (storage, (i, place)))
            })
            .collect();
        let mut chains: FxHashMap<usize, ValueId> = FxHashMap::default();
        let waited: FxHashSet<usize> = self.edges.values().flatten().copied().collect();
        for (i, &op) in self.ops.iter().enumerate() {
            if !storage::allocates_results(r.ir(), op) {
                continue;
            }
            let is_in_place = self.storages.is_in_place(i);
            let mut memory = vec![i64::from(is_in_place)];
            // The results of an op are in one arena.
            let made: Vec<_> = self.storages.producer_if(i).filter_map(|made| places.get(&made)).collect();
            let arena = made.first().map(|&&(arena, _)| arena);
            for (_, place) in made.iter().filter(|&&&(other, _)| Some(other) == arena) {
                memory.extend([place.start as i64, place.len() as i64]);
            }
            let waits: Vec<ValueId> = self.edges.get(&i).into_iter().flatten().map(|op| chains[op]).collect();
            let m = r.ir();
            let mut operands: Vec<ValueId> = m.operands(op).collect();
            let mut types: Vec<TypeId> = m.results(op).map(|value| m.value_type(value)).collect();
            let n_results = types.len();
            if let Some(arena) = arena {
                operands.insert(tf::n_data_operands(m, op), arenas[arena]);
            }
            cx.count("num-placed", memory.len() as u64 / 2);
            cx.count("num-in-place", u64::from(is_in_place));
            cx.count("num-edges", waits.len() as u64);
            let mut modes = vec!["required"; operands.len() - tf::n_control_edges(m, op)];
            modes.resize(operands.len(), "order");
            modes.resize(operands.len() + waits.len(), "after");
            let has_waits = !waits.is_empty();
            operands.extend(waits);
            if waited.contains(&i) && types.last() != Some(&KnownType::Chain.id()) {
                types.push(KnownType::Chain.id());
            }
            let new = r.rebuild(op, &operands, &types);
            let mut results: Vec<ValueId> = r.ir().results(new).collect();
            if waited.contains(&i)
                && let Some(&chain) = results.last()
            {
                chains.insert(i, chain);
            }
            results.truncate(n_results);
            r.replace_op(op, &results);
            let cx = r.cx();
            let memory: Vec<AttrId> =
                memory.iter().map(|&number| cx.int_attr(KnownType::I64.id(), number)).collect();
            let (name, memory) = (cx.str_id(tf::MEMORY), cx.array_attr(&memory));
            r.set_attr(new, name, memory);
            if has_waits {
                let cx = r.cx();
                let modes: Vec<AttrId> = modes.into_iter().map(|mode| cx.str_attr(mode)).collect();
                let (name, modes) = (names::BEF_OPERAND_MODES, cx.array_attr(&modes));
                r.set_attr(new, name, modes);
            }
        }
    }
}

impl ArenaPlan {
    /// The storages in the arena with their places.
    fn places<'p>(&'p self, storages: &'p Storages) -> impl Iterator<Item = (usize, Range<usize>)> + 'p {
        let range = |(&member, &at): (&usize, &usize)| (member, at..at + storages.get(member).bytes);
        self.members.iter().zip(&self.plan.offsets).map(range)
    }
}
