//! `tf-rematerialize{max-bytes=N}`: results are computed again where they are read late, until the plan of
//! each function's memory takes at most N bytes.
//!
//! ```text
//!   %v = f(%a)                      %v = f(%a)
//!   g(%v)                           g(%v)
//!   ...        peak of live bytes   ...              %v is dead here
//!   h(%v)                           %w = f(%a)
//!                                   h(%w)
//! ```
//!
//! Of the values that live at the peak and are not read there, those go first that free most bytes for the
//! longest time for the least work. What such a value is made of, and is not at hand later, is computed again
//! too; nothing is computed more than twice. Only ops without effects whose results follow from their
//! operands are repeated; the results have the same bits.
//!
//! Sizes that depend on unknown dimensions are not counted. What leaves the function, its arguments,
//! variables and constants are in no arena.

use befrost_tensor::tf::op::Traits;
use rustc_hash::{FxHashMap, FxHashSet};

use super::order::Ancestors;
use super::storage::{Storage, Storages, allocates_results, keeps_operands};
use super::{Planned, blocks, place};
use crate::build::{query, sizes};
use crate::diag::{Diagnostic, Severity};
use crate::dialects::{at_op, tf};
use crate::ir::{BlockId, Module, OpId, TypeId, ValueId};
use crate::pass::{Change, OptionKind, Pass, PassCx, PassOption, Rewriter};

/// The name of the option.
const MAX_BYTES: &str = "max-bytes";

pub(crate) const PASS: Pass = Pass {
    name: "tf-rematerialize",
    title: "TFRematerialize",
    summary: "computes results again where they are read late, so that a plan of memory is not too large",
    options: &[PassOption {
        name: MAX_BYTES,
        summary: "how many bytes of results each function may hold at once; 0: any number",
        kind: OptionKind::Number(0),
    }],
    statistics: &[("num-repeated", "Number of operators that are computed again")],
    run,
};

/// Maximum number of ops that are repeated for one value.
const MAX_CHAIN: usize = 16;

/// Values of fewer bytes are not worth an op.
const MIN_BYTES: usize = 256;

/// Moving a byte takes as long as this number of operations.
const OPS_PER_BYTE: u64 = 4;

/// Maximum number of plans that are made for a function, each for a smaller number of live bytes.
const MAX_PLANS: usize = 16;

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let Ok(limit) = usize::try_from(cx.number(MAX_BYTES)) else {
        cx.report(Diagnostic::error("E0908", "`max-bytes` is negative"));
        return Change::Unchanged;
    };
    if limit == 0 {
        return Change::Unchanged;
    }
    sizes::forget(r.ir());
    for (block, name) in blocks(r.ir()) {
        let Some(before) = peak(r.ir(), block).filter(|&before| before > limit) else { continue };
        let function = r.ir().first_op(block).and_then(|op| r.ir().parent_op(op));
        let work: u64 = r.ir().ops_in(block).map(|op| time(r.ir(), op)).fold(0, u64::saturating_add);
        let mut rounds =
            Rounds { block, limit, made: FxHashSet::default(), repeated: FxHashSet::default(), time: 0 };
        let least = rounds.reduce(r);
        let n = rounds.made.len();
        cx.count("num-repeated", n as u64);
        let percent = 100.0 * rounds.time as f64 / work.max(1) as f64;
        let said = format!(
            "the results of @{name} take {least} bytes at once instead of {before}: {n} ops are computed \
             again, {percent:.1} % more work"
        );
        let at = function.unwrap_or_else(|| r.ir().top());
        cx.report(if least <= limit {
            Diagnostic { severity: Severity::Remark, ..at_op(r.ir(), at, "E0913", said) }
        } else {
            let why =
                format!("the results of @{name} take {least} bytes at once at least, of {limit} allowed");
            at_op(r.ir(), at, "E0908", why)
                .help(format!("without computing {n} ops again they take {before} bytes"))
        });
    }
    r.change()
}

/// The bytes of the plan's arena of fixed size.
fn peak(m: &Module, block: BlockId) -> Option<usize> {
    let planned = Planned::of(m, block)?;
    Some(planned.arenas.iter().find(|arena| arena.scale.is_empty())?.plan.peak)
}

/// An estimate of the time of an op.
fn time(m: &Module, op: OpId) -> u64 {
    let work = tf::row(m, op).and_then(|row| query::work(m, op, row)).unwrap_or_default();
    work.flops.saturating_add(work.bytes.saturating_mul(OPS_PER_BYTE))
}

/// The state of the work on one function.
struct Rounds {
    block: BlockId,
    limit: usize,
    /// The ops that compute something again.
    made: FxHashSet<OpId>,
    /// The ops whose results are computed again.
    repeated: FxHashSet<OpId>,
    /// The time of the repeated ops.
    time: u64,
}

impl Rounds {
    /// Repeats ops until the plan is small enough, or nothing is left to repeat. Returns the plan's bytes.
    fn reduce(&mut self, r: &mut Rewriter<'_>) -> usize {
        let mut target = self.limit;
        for _ in 0..MAX_PLANS {
            let is_reached = loop {
                let lives = Lives::of(r.ir(), self.block);
                let (at, most) = lives.peak();
                if most <= target {
                    break true;
                }
                if !self.round(r, &lives, at, most - target) {
                    break false;
                }
            };
            sizes::forget(r.ir());
            let planned = peak(r.ir(), self.block).unwrap_or(0);
            if planned <= self.limit || !is_reached {
                return planned;
            }
            // The plan has gaps.
            target = target.saturating_sub((planned - self.limit).max(self.limit / 64));
        }
        peak(r.ir(), self.block).unwrap_or(0)
    }

    /// Frees bytes at an op. Returns false if there is nothing to free.
    fn round(&mut self, r: &mut Rewriter<'_>, lives: &Lives, at: usize, bytes: usize) -> bool {
        let m = r.ir();
        let mut found: Vec<(f64, Again)> = lives.ops[..at]
            .iter()
            .filter_map(|&op| {
                let again = self.again(m, lives, op, at)?;
                let life = (again.before - again.last) as f64;
                Some((again.bytes as f64 * life / again.time.max(1) as f64, again))
            })
            .collect();
        // The sort is stable: of equals the first one goes first.
        found.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let (mut freed, mut is_done) = (0, false);
        for (_, again) in found {
            if freed >= bytes {
                break;
            }
            if again.ops.iter().any(|op| self.repeated.contains(op)) {
                continue;
            }
            freed += again.bytes;
            self.time = self.time.saturating_add(again.time);
            is_done = true;
            self.write(r, lives, &again);
        }
        is_done
    }

    /// The way to compute the result of an op again after the op `at`, if it lives there and is not read.
    fn again(&self, m: &Module, lives: &Lives, op: OpId, at: usize) -> Option<Again> {
        if !self.may_repeat(m, op) || m.n_results(op) != 1 {
            return None;
        }
        let value = m.result(op, 0);
        let bytes = query::bytes_of(m, m.value_type(value)).filter(|&bytes| bytes >= MIN_BYTES)?;
        let (uses, is_kept) = lives.uses.get(&value).map(|life| (&life.uses, life.is_kept))?;
        let last = uses.iter().copied().filter(|&user| user <= at).max().unwrap_or(lives.number[&op]);
        let before = uses.iter().copied().filter(|&user| user > at).min()?;
        if is_kept || last == at {
            return None;
        }
        let mut ops = Vec::new();
        self.collect(m, lives, op, before, &mut ops)?;
        // Views of it that are read later.
        for &view in &lives.uses[&value].views {
            if lives.number[&view] <= at && lives.is_read_after(m, m.result(view, 0), at) {
                self.collect(m, lives, view, before, &mut ops)?;
            }
        }
        ops.sort_unstable_by_key(|op| lives.number[op]);
        let time = ops.iter().map(|&op| time(m, op)).fold(0, u64::saturating_add);
        Some(Again { ops, last, before, bytes, time })
    }

    fn may_repeat(&self, m: &Module, op: OpId) -> bool {
        let is_pure = tf::row(m, op).is_some_and(|row| row.is_pure_function() && !row.has(Traits::CONSTANT));
        is_pure
            && query::has_no_edges(m, op)
            && !tf::is_passing(m, op)
            && allocates_results(m, op)
            && !self.made.contains(&op)
            && !self.repeated.contains(&op)
    }

    /// Adds an op, and those that make what it reads and is not at hand in front of the op `before`.
    fn collect(&self, m: &Module, lives: &Lives, op: OpId, before: usize, ops: &mut Vec<OpId>) -> Option<()> {
        if ops.contains(&op) {
            return Some(());
        }
        if ops.len() == MAX_CHAIN {
            return None;
        }
        ops.push(op);
        for operand in m.operands(op).collect::<Vec<_>>() {
            let Some(maker) = m.defining_op(operand) else { continue };
            let is_there = !allocates_results(m, maker)
                || lives
                    .uses
                    .get(&lives.root(operand))
                    .is_some_and(|life| life.is_kept || life.end >= before);
            if is_there {
                continue;
            }
            if !self.may_repeat(m, maker) || m.n_results(maker) != 1 {
                return None;
            }
            self.collect(m, lives, maker, before, ops)?;
        }
        Some(())
    }

    /// Repeats ops in front of the first late reader, and lets the late readers read the new results.
    fn write(&mut self, r: &mut Rewriter<'_>, lives: &Lives, again: &Again) {
        let mut new: FxHashMap<ValueId, ValueId> = FxHashMap::default();
        for &op in &again.ops {
            let m = r.ir();
            let operands: Vec<ValueId> =
                m.operands(op).map(|value| new.get(&value).copied().unwrap_or(value)).collect();
            let types: Vec<TypeId> = m.results(op).map(|value| m.value_type(value)).collect();
            let made = r.rebuild(op, &operands, &types);
            r.move_before(made, lives.ops[again.before]);
            let m = r.ir();
            new.extend(m.results(op).zip(m.results(made)).collect::<Vec<_>>());
            self.made.insert(made);
            self.repeated.insert(op);
        }
        // A value at hand until then may have readers in between.
        for &user in &lives.ops[again.before..] {
            let m = r.ir();
            let old: Vec<ValueId> = m.operands(user).collect();
            if old.iter().any(|value| new.contains_key(value)) {
                let operands: Vec<ValueId> =
                    old.iter().map(|value| new.get(value).copied().unwrap_or(*value)).collect();
                r.set_operands(user, &operands);
            }
        }
    }
}

/// A value that is computed again.
struct Again {
    /// The ops to repeat, in order.
    ops: Vec<OpId>,
    /// The last reader before the peak, and the first one after it.
    last: usize,
    before: usize,
    bytes: usize,
    time: u64,
}

/// The readers of a value and of its views.
#[derive(Default)]
struct Life {
    uses: Vec<usize>,
    /// The last of them.
    end: usize,
    /// The ops that make views of it.
    views: Vec<OpId>,
    /// True if it may leave the function or be retained.
    is_kept: bool,
}

/// The lives of the values of a block.
struct Lives {
    ops: Vec<OpId>,
    number: FxHashMap<OpId, usize>,
    /// The value of which each view is a view.
    roots: FxHashMap<ValueId, ValueId>,
    uses: FxHashMap<ValueId, Life>,
    /// The live bytes while each op runs, if they run in program order.
    bytes: Vec<usize>,
}

impl Lives {
    fn of(m: &Module, block: BlockId) -> Lives {
        let ops: Vec<OpId> = m.ops_in(block).collect();
        let number: FxHashMap<OpId, usize> = ops.iter().enumerate().map(|(i, &op)| (op, i)).collect();
        let (mut roots, mut uses) = (FxHashMap::default(), FxHashMap::<ValueId, Life>::default());
        for (i, &op) in ops.iter().enumerate() {
            let passes = tf::is_passing(m, op);
            let is_view = !passes && tf::row(m, op).is_some_and(|row| row.has(Traits::VIEW));
            let keeps = keeps_operands(m, op);
            for value in m.operands(op) {
                let life = uses.entry(roots.get(&value).copied().unwrap_or(value)).or_default();
                life.uses.push(i);
                life.end = i;
                life.is_kept |= keeps;
            }
            let n = match (passes, is_view) {
                (true, _) => tf::n_data_operands(m, op),
                (false, true) => 1,
                (false, false) => 0,
            };
            for (operand, result) in m.operands(op).take(n).zip(m.results(op)) {
                let root = roots.get(&operand).copied().unwrap_or(operand);
                roots.insert(result, root);
                let life = uses.entry(root).or_default();
                life.views.push(op);
                // What passes values on is not repeated.
                life.is_kept |= passes;
            }
        }
        let storages = Storages::of(m, &ops, &Ancestors::of(m, &ops));
        let fixed: Vec<&Storage> = storages
            .placed()
            .map(|(_, storage)| storage)
            .filter(|storage| storage.scale.is_empty())
            .collect();
        Lives { bytes: place::live_bytes(&fixed, ops.len()), ops, number, roots, uses }
    }

    /// The op at which most bytes live, and how many.
    fn peak(&self) -> (usize, usize) {
        let most = self.bytes.iter().copied().max().unwrap_or(0);
        (self.bytes.iter().position(|&bytes| bytes == most).unwrap_or(0), most)
    }

    fn root(&self, value: ValueId) -> ValueId {
        self.roots.get(&value).copied().unwrap_or(value)
    }

    /// True if an op after `at` reads a value itself.
    fn is_read_after(&self, m: &Module, value: ValueId, at: usize) -> bool {
        m.users(value).any(|(user, _)| self.number.get(&user).is_some_and(|&user| user > at))
    }
}
