//! `tf-plan-memory`: static allocation of the results of a function's operators in one arena per call.
//!
//! ```text
//! ops ──storage──▶ storages: values that share memory, with producer, readers and size (views, in-place ops)
//!     ──order────▶ the ops that are complete before an op starts
//!     ──place────▶ offsets; storages overlap only if one is dead before the other is written
//! ```
//!
//! A plan holds for all schedules that the graph allows. If a stricter order needs much less memory, ops that
//! reuse memory wait for the readers of its previous contents: `after` edges, which do not propagate errors.
//! Results that leave the function or may be retained, and results without a static size, are not in the
//! arena but allocated from the pool. `befrost_mem::Arena` guarantees that a wrong plan only wastes memory.
//!
//! `print-memory-plan` prints the plan of each function.

mod order;
mod place;
mod report;
mod storage;

use rustc_hash::{FxHashMap, FxHashSet};

use self::order::Ancestors;
use self::place::Plan;
use self::storage::{Storage, Storages};
use super::effects::functions;
use crate::dialects::tf;
use crate::ir::{AttrId, BlockId, KnownType, Module, OpId, TypeId, ValueId, names};
use crate::pass::{Change, Pass, PassCx, Rewriter};
use crate::rewrite::InsertionPoint;

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
/// The op that creates an arena.
const ARENA: &str = "cpu.arena";
/// Minimum total size for which an arena pays.
const MIN_BYTES: usize = 4096;

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    for (block, _) in blocks(r.ir()) {
        let Some(planned) = Planned::of(r.ir(), block) else { continue };
        planned.write(r, block, cx);
    }
    r.change()
}

fn print(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
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
    plan: Plan,
    /// The ops that an op waits for in addition, so that the plan holds.
    edges: FxHashMap<usize, Vec<usize>>,
    /// The peak of live bytes if ops run in program order.
    lower_bound: usize,
}

impl Planned {
    fn of(m: &Module, block: BlockId) -> Option<Planned> {
        let ops: Vec<OpId> = m.ops_in(block).collect();
        let is_planned = ops.iter().any(|&op| m.op_name_str(op) == ARENA);
        if is_planned || ops.len() > MAX_OPS || !ops.iter().any(|&op| storage::allocates_results(m, op)) {
            return None;
        }
        let before = Ancestors::of(m, &ops);
        let storages = Storages::of(m, &ops, &before);
        let placed: Vec<&Storage> = storages.placed().collect();
        if placed.iter().map(|storage| storage.bytes).sum::<usize>() < MIN_BYTES {
            return None;
        }
        let lower_bound = place::lower_bound(&placed);
        let free = Plan::new(&placed, |done, next| done.events().all(|op| before.is_before(op, next.maker)));
        let no_edges = FxHashMap::default();
        // The strict order, if it saves much.
        if free.peak <= lower_bound + lower_bound / 10 {
            return Some(Planned { storages, plan: free, edges: no_edges, lower_bound, ops });
        }
        let can_wait = |op: usize| storage::allocates_results(m, ops[op]);
        let strict = Plan::new(&placed, |done, next| {
            done.events().all(|op| before.is_before(op, next.maker) || op < next.maker && can_wait(op))
        });
        if strict.peak + strict.peak / 10 > free.peak {
            return Some(Planned { storages, plan: free, edges: no_edges, lower_bound, ops });
        }
        let edges = strict.edges(&placed, before);
        Some(Planned { storages, plan: strict, edges, lower_bound, ops })
    }

    /// Adds to ops the arena, their offsets, and the chains that they wait for.
    fn write(&self, r: &mut Rewriter<'_>, block: BlockId, cx: &PassCx<'_>) {
        let Some(first) = r.ir().first_op(block) else { return };
        let loc = r.ir().loc(first);
        let bytes = r.cx().int_attr(KnownType::I64.id(), self.plan.peak as i64);
        let ty = KnownType::Arena.id();
        let arena =
            r.create_named(InsertionPoint::Before(first), loc, ARENA, &[], &[ty], &[("bytes", bytes)]);
        let arena = r.ir().result(arena, 0);
        let waited: FxHashSet<usize> = self.edges.values().flatten().copied().collect();
        let mut chains: FxHashMap<usize, ValueId> = FxHashMap::default();
        for (i, &op) in self.ops.iter().enumerate() {
            if !storage::allocates_results(r.ir(), op) {
                continue;
            }
            let is_in_place = self.storages.is_in_place(i);
            let mut memory = vec![i64::from(is_in_place)];
            for storage in self.storages.producer_if(i) {
                if let Some(at) = self.storages.number(storage) {
                    memory.extend([self.plan.offsets[at] as i64, self.storages.get(storage).bytes as i64]);
                }
            }
            let waits: Vec<ValueId> = self.edges.get(&i).into_iter().flatten().map(|op| chains[op]).collect();
            let m = r.ir();
            let mut operands: Vec<ValueId> = m.operands(op).collect();
            let mut types: Vec<TypeId> = m.results(op).map(|value| m.value_type(value)).collect();
            let n_results = types.len();
            if memory.len() > 1 {
                operands.insert(tf::n_data_operands(m, op), arena);
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
