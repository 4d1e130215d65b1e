//! Straight lines in functions that have something to wait for: runs of kernels that need no counters.
//!
//! ```text
//! what enters ─▶ first ─▶ second ─▶ third ─▶ ...       each is ready when the one before it has run, and would be the next to run
//!                  └─▶ users outside: told at once       whatever else there is
//! ```
//!
//! A line is a run of synchronous kernels of one stream, whose operands are all required. Its first kernel is
//! told of events like any other; each of the others takes only results of the line and values that are known
//! to be final when the first kernel is ready: its operands, those of the kernels that made them, and so on.
//! And each is the last that the one before tells, so it would be taken from the stack next, in the
//! deterministic order. So nobody waits longer than without the line: neither those outside that use a value,
//! who are told at its kernel, nor the line's kernels.
//!
//! The kernels of a line run on slots of their own: what enters, then the results in order, then a chain.
//! What nobody outside wants is never put into a register.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use bef_format::{FunctionView, KernelView, OperandMode};

use super::FunctionPlan;
use super::general::Listeners;
use super::line::yields;
use befrost_kernel_api::executor::{Span, Step, StraightStep};

/// Of a kernel or register without number.
const NONE: u32 = u32::MAX;
/// How long a line may be: its slots are to stay in the cache.
const MAX_KERNELS: usize = 256;
/// How many values are known to be final at most when a line is looked for: it is only that a line may end
/// early.
const MAX_KNOWN: usize = 64;

/// The straight lines of a function.
#[derive(Default)]
pub(super) struct Found {
    /// The kernels of each, at least two.
    pub(super) lines: Vec<Vec<u32>>,
    /// By kernel: in which of them it is, or [`NONE`]. Empty if there is none.
    line_of: Vec<u32>,
}

impl Found {
    /// The line that a kernel is in.
    pub(super) fn line_of(&self, kernel: u32) -> Option<u32> {
        self.line_of.get(kernel as usize).copied().filter(|&line| line != NONE)
    }

    /// The line that a kernel begins.
    pub(super) fn begun_by(&self, kernel: u32) -> Option<u32> {
        self.line_of(kernel).filter(|&line| self.lines[line as usize].first() == Some(&kernel))
    }

    /// Which registers are used as results, or by kernels that are not in the line of the kernel that makes
    /// them.
    pub(super) fn used_outside(&self, function: &FunctionView<'_, '_>) -> impl Fn(u32) -> bool {
        let mut made_in = vec![NONE; function.n_registers() as usize];
        let mut is_used = vec![false; function.n_registers() as usize];
        if !self.lines.is_empty() {
            for (k, kernel) in function.kernels().enumerate() {
                let line = self.line_of(k as u32).unwrap_or(NONE);
                results(&kernel).for_each(|register| made_in[register as usize] = line);
                for &register in kernel.operands() {
                    is_used[register as usize] |= line == NONE || made_in[register as usize] != line;
                }
            }
            function.results().iter().for_each(|&register| is_used[register as usize] = true);
        }
        move |register| is_used[register as usize]
    }

    /// Whether a kernel is in a line and does not begin it.
    pub(super) fn follows(&self, kernel: u32) -> bool {
        self.line_of(kernel).is_some() && self.begun_by(kernel).is_none()
    }
}

/// The registers of a kernel's results.
fn results(kernel: &KernelView<'_, '_>) -> Range<u32> {
    kernel.first_result()..kernel.first_result() + kernel.n_results()
}

/// Finds the lines of a function in which no kernel waits for completions or runs on its first operand.
pub(super) fn find(function: &FunctionView<'_, '_>, plan: &FunctionPlan, listeners: &Listeners) -> Found {
    let mut search = Search::new(function, plan);
    let n = search.kernels.len();
    let mut found = Found { lines: Vec::new(), line_of: vec![NONE; n] };
    for first in 0..n as u32 {
        if !search.may_join[first as usize] || found.line_of(first).is_some() {
            continue;
        }
        search.enter(first);
        let (mut line, mut last) = (vec![first], first);
        while line.len() < MAX_KERNELS
            && let Some(next) = search.next(last, listeners)
            && found.line_of(next).is_none()
        {
            line.push(next);
            last = next;
        }
        if line.len() > 1 {
            line.iter().for_each(|&k| found.line_of[k as usize] = found.lines.len() as u32);
            found.lines.push(line);
        }
    }
    found
}

/// What is looked at to find lines.
struct Search<'f> {
    kernels: Vec<KernelView<'f, 'f>>,
    /// By kernel: whether it is synchronous and strict.
    may_join: Vec<bool>,
    /// By register: the kernel that makes it, or [`NONE`].
    maker: Vec<u32>,
    /// The first kernel of the line that is looked for.
    first: u32,
    /// By register: the last such kernel that is only ready when the value is final.
    known_at: Vec<u32>,
}

impl<'f> Search<'f> {
    fn new(function: &FunctionView<'f, 'f>, plan: &FunctionPlan) -> Search<'f> {
        let kernels: Vec<_> = function.kernels().collect();
        let mut maker = vec![NONE; function.n_registers() as usize];
        let mut may_join = Vec::with_capacity(kernels.len());
        for ((k, kernel), known) in kernels.iter().enumerate().zip(&plan.kernels) {
            results(kernel).for_each(|register| maker[register as usize] = k as u32);
            let is_required = |i| kernel.operand_mode(i as u32) == OperandMode::Required;
            may_join.push(known.is_sync && (0..kernel.operands().len()).all(is_required));
        }
        Search { kernels, may_join, known_at: vec![NONE; maker.len()], maker, first: NONE }
    }

    /// Begins a line: finds out what is final when its first kernel is ready.
    fn enter(&mut self, first: u32) {
        self.first = first;
        let mut known: Vec<u32> = self.kernels[first as usize].operands().to_vec();
        let mut i = 0;
        while let Some(&register) = known.get(i) {
            i += 1;
            if std::mem::replace(&mut self.known_at[register as usize], first) == first
                || known.len() >= MAX_KNOWN
            {
                continue;
            }
            let Some(maker) = self.kernels.get(self.maker[register as usize] as usize) else { continue };
            let is_counted =
                |i| matches!(maker.operand_mode(i as u32), OperandMode::Required | OperandMode::Order);
            let operands = maker.operands().iter().enumerate().take(MAX_KNOWN);
            known.extend(operands.filter(|(i, _)| is_counted(*i)).map(|(_, register)| *register));
        }
    }

    /// The kernel that goes on with the line behind `last`: the last that this tells, if nothing else may
    /// keep it waiting.
    fn next(&mut self, last: u32, listeners: &Listeners) -> Option<u32> {
        let results = results(&self.kernels[last as usize]);
        results.clone().for_each(|register| self.known_at[register as usize] = self.first);
        let next = results.rev().find_map(|register| listeners.users.get(register).last().copied())?;
        let (kernel, first) = (&self.kernels[next as usize], &self.kernels[self.first as usize]);
        let is_known = |&register: &u32| self.known_at[register as usize] == self.first;
        let joins = self.may_join[next as usize] && kernel.stream() == first.stream();
        (joins && kernel.operands().iter().all(is_known)).then_some(next)
    }
}

/// A straight line, as it is executed.
pub(crate) struct Straight {
    /// Of the kernels' slots.
    pub(crate) n_slots: usize,
    /// How many values enter.
    pub(crate) n_entering: usize,
    /// Its kernels, in `General::members`.
    pub(crate) first: u32,
    pub(crate) end: u32,
}

/// A kernel of a straight line.
pub(crate) struct Member {
    pub(crate) step: StraightStep,
    /// The slots of all operands, in `General::member_lists`.
    operands: Span,
    /// The slots that are to be freed when it has run.
    frees: Span,
    /// For each result how it is given to users outside: see [`Out`]; empty if there are none.
    outs: Span,
    /// Whether the kernel does not look at all of its operands itself.
    pub(crate) is_checked: bool,
    pub(crate) stores_all: bool,
    pub(crate) is_last: bool,
    /// Whether there is nothing to be done when it has run well.
    pub(crate) is_simple: bool,
}

/// How a result is given to users outside of its line: see [`Member::outs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Out {
    /// There are none.
    Not,
    /// The line goes on to use it.
    Copy,
    Move,
}

impl Member {
    pub(crate) fn operands<'l>(&self, lists: &'l [u32]) -> &'l [u32] {
        self.operands.of(lists)
    }

    pub(crate) fn frees<'l>(&self, lists: &'l [u32]) -> &'l [u32] {
        self.frees.of(lists)
    }

    /// Whether somebody outside uses a result.
    #[inline]
    pub(crate) fn is_used_outside(&self) -> bool {
        !self.outs.is_empty()
    }

    /// For each result, how it is given to users outside.
    pub(crate) fn outs<'l>(&self, lists: &'l [u32]) -> impl Iterator<Item = Out> + use<'l> {
        self.outs.of(lists).iter().map(|out| match out {
            0 => Out::Not,
            1 => Out::Copy,
            _ => Out::Move,
        })
    }
}

/// What a function's straight lines are made of.
#[derive(Default)]
pub(super) struct Lines {
    pub(super) lines: Vec<Straight>,
    pub(super) members: Vec<Member>,
    pub(super) lists: Vec<u32>,
}

/// What a line is made for.
pub(super) struct Site<'s> {
    pub(super) function: &'s FunctionView<'s, 's>,
    pub(super) plan: &'s FunctionPlan,
    /// By register: whether its value is worth freeing.
    pub(super) is_counted: &'s dyn Fn(u32) -> bool,
    /// By register: how many uses outside of the line its value has.
    pub(super) is_used_outside: &'s dyn Fn(u32) -> bool,
}

impl Lines {
    /// Writes a line of these kernels. The registers of what enters, in the order of their slots.
    pub(super) fn push(&mut self, site: &Site<'_>, kernels: &[u32]) -> Vec<u32> {
        let views: Vec<_> = kernels.iter().map(|&k| site.function.kernel(k)).collect();
        let mut slot_of = BTreeMap::new();
        let mut entering = Vec::new();
        let made: BTreeSet<u32> = views.iter().flat_map(|view| results(view)).collect();
        for &register in views.iter().flat_map(|view| view.operands()) {
            if !made.contains(&register) && !slot_of.contains_key(&register) {
                slot_of.insert(register, entering.len() as u32);
                entering.push(register);
            }
        }
        let mut n_slots = entering.len() as u32;
        for view in &views {
            for register in results(view) {
                slot_of.insert(register, n_slots);
                n_slots += 1;
            }
        }
        // One more for a chain.
        n_slots += 1;
        let first = self.members.len() as u32;
        let mut is_needed = BTreeSet::new();
        let mut members = Vec::new();
        for (view, &k) in views.iter().zip(kernels).rev() {
            let (entry, known) = (&site.plan.table.kernels[k as usize], &site.plan.kernels[k as usize]);
            let slots: Vec<u32> = view.operands().iter().map(|register| slot_of[register]).collect();
            let made = results(view);
            let outs: Vec<u32> = made
                .clone()
                .map(|register| match (site.is_used_outside)(register) {
                    false => 0,
                    true if is_needed.contains(&register) => 1,
                    true => 2,
                })
                .collect();
            let is_free = |register: &u32, is_needed: &mut BTreeSet<u32>| {
                is_needed.insert(*register) && (site.is_counted)(*register)
            };
            // What is used outside is moved there.
            let frees = made.filter(|register| is_free(register, &mut is_needed));
            let mut frees: Vec<u32> = frees.filter(|register| !(site.is_used_outside)(*register)).collect();
            let last_read: Vec<u32> = view
                .operands()
                .iter()
                .copied()
                .filter(|register| is_free(register, &mut is_needed))
                .collect();
            frees.extend(&last_read);
            let [frees, last_read] = [frees, last_read]
                .map(|list| list.iter().map(|register| slot_of[register]).collect::<Vec<u32>>());
            let n_passed = entry.operands.bounds().1;
            let first_result = slot_of.get(&view.first_result()).copied().unwrap_or(n_slots - 1);
            let (passed, results) = (&slots[..n_passed], (first_result, known.n_results));
            let step = Step::new(entry.run, k, passed, results, n_slots as usize);
            let lists = &mut self.lists;
            let yields = yields(lists, passed, &last_read);
            let passed = Span::push(lists, passed.iter().copied());
            let is_seen = outs.iter().any(|&out| out != 0);
            members.push(Member {
                step: StraightStep::new(step, n_slots as usize, passed, yields),
                operands: Span::push(lists, slots.into_iter()),
                is_simple: frees.is_empty() && !is_seen && entry.stores_all,
                frees: Span::push(lists, frees.into_iter()),
                outs: if is_seen { Span::push(lists, outs.into_iter()) } else { Span::default() },
                is_checked: !entry.checked.is_empty(),
                stores_all: entry.stores_all,
                is_last: members.is_empty(),
            });
        }
        members.reverse();
        self.members.extend(members);
        let end = self.members.len() as u32;
        self.lines.push(Straight { n_slots: n_slots as usize, n_entering: entering.len(), first, end });
        entering
    }
}
