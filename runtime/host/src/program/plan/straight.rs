//! Straight lines in functions that may have to wait: runs of kernels that need no counters.
//!
//! ```text
//! inputs ─▶ first ─▶ second ─▶ third ─▶ ...   each is ready after the one before it, and next on the stack
//!             └─▶ users outside of the line: notified at once
//! ```
//!
//! A straight line is a run of synchronous kernels of one stream whose operands are all required:
//!
//! * The first kernel receives events like any other.
//! * Each other kernel takes only results of the line, and values that are known to be final when the first
//!   kernel is ready: its operands, those of the kernels that made them, and so on.
//! * Each other kernel is the last one that its predecessor notifies. So it would be the next one from the
//!   stack, in the deterministic order.
//!
//! So nothing waits longer than without the line: neither the users outside, which are notified right after
//! the kernel that makes their value, nor the line's kernels.
//!
//! The kernels of a line run on slots of their own: the inputs, then the results in order, then a chain. A
//! result that is not used outside is never written to a register.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use bef_format::{FunctionView, KernelView, OperandMode};

use super::FunctionPlan;
use super::general::Users;
use super::sequential::last_uses;
use befrost_kernel_api::executor::{Span, Step, StraightStep};

/// Marks the absence of a kernel, a line or a register.
const NONE: u32 = u32::MAX;
/// Limit of the length of a line. Its slots should stay in the cache.
const MAX_KERNELS: usize = 256;
/// Limit of the values examined to find out which are final when a line begins. Beyond it, a line may end
/// early.
const MAX_KNOWN: usize = 64;

/// The straight lines of a function.
#[derive(Default)]
pub(super) struct StraightLines {
    /// The kernels of each line, at least two.
    pub(super) lines: Vec<Vec<u32>>,
    /// By kernel: the line that contains it, or [`NONE`]. Empty if there are no lines.
    line_of: Vec<u32>,
}

impl StraightLines {
    /// The line that contains a kernel.
    pub(super) fn line_of(&self, kernel: u32) -> Option<u32> {
        self.line_of.get(kernel as usize).copied().filter(|&line| line != NONE)
    }

    /// The line that begins with a kernel.
    pub(super) fn begun_by(&self, kernel: u32) -> Option<u32> {
        self.line_of(kernel).filter(|&line| self.lines[line as usize].first() == Some(&kernel))
    }

    /// By register: whether it is a result of the function, or read by a kernel outside of the line of its
    /// producer.
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

    /// Whether a line contains a kernel and does not begin with it.
    pub(super) fn follows(&self, kernel: u32) -> bool {
        self.line_of(kernel).is_some() && self.begun_by(kernel).is_none()
    }
}

/// Registers of a kernel's results.
fn results(kernel: &KernelView<'_, '_>) -> Range<u32> {
    kernel.first_result()..kernel.first_result() + kernel.n_results()
}

/// Finds the lines of a function in which no kernel waits for completions or runs on its first operand.
pub(super) fn find(function: &FunctionView<'_, '_>, plan: &FunctionPlan, users: &Users) -> StraightLines {
    let mut search = Search::new(function, plan);
    let n = search.kernels.len();
    let mut found = StraightLines { lines: Vec::new(), line_of: vec![NONE; n] };
    for first in 0..n as u32 {
        if !search.may_join[first as usize] || found.line_of(first).is_some() {
            continue;
        }
        search.enter(first);
        let (mut line, mut last) = (vec![first], first);
        while line.len() < MAX_KERNELS
            && let Some(next) = search.next(last, users)
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

/// State of the search for lines.
struct Search<'f> {
    kernels: Vec<KernelView<'f, 'f>>,
    /// By kernel: whether it is synchronous and strict.
    may_join: Vec<bool>,
    /// By register: the kernel that makes it, or [`NONE`].
    producer: Vec<u32>,
    /// First kernel of the current line.
    first: u32,
    /// By register: the first kernel of the last line at whose beginning the value is known to be final.
    known_at: Vec<u32>,
    /// By kernel, the device on whose queue it runs; empty if there is only one queue.
    queues: &'f [u16],
}

impl<'f> Search<'f> {
    fn new(function: &FunctionView<'f, 'f>, plan: &'f FunctionPlan) -> Search<'f> {
        let kernels: Vec<_> = function.kernels().collect();
        let mut producer = vec![NONE; function.n_registers() as usize];
        let mut may_join = Vec::with_capacity(kernels.len());
        for ((k, kernel), known) in kernels.iter().enumerate().zip(&plan.kernels) {
            results(kernel).for_each(|register| producer[register as usize] = k as u32);
            let is_required = |i| kernel.operand_mode(i as u32) == OperandMode::Required;
            may_join.push(known.is_sync && (0..kernel.operands().len()).all(is_required));
        }
        let known_at = vec![NONE; producer.len()];
        Search { kernels, may_join, known_at, producer, first: NONE, queues: &plan.queues }
    }

    /// Begins a line, and finds the values that are final when its first kernel is ready.
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
            let Some(producer) = self.kernels.get(self.producer[register as usize] as usize) else {
                continue;
            };
            let is_counted =
                |i| matches!(producer.operand_mode(i as u32), OperandMode::Required | OperandMode::Order);
            let operands = producer.operands().iter().enumerate().take(MAX_KNOWN);
            known.extend(operands.filter(|(i, _)| is_counted(*i)).map(|(_, register)| *register));
        }
    }

    /// The kernel that continues the line after `last`: the last one that `last` notifies, if it waits for
    /// nothing else.
    fn next(&mut self, last: u32, users: &Users) -> Option<u32> {
        let results = results(&self.kernels[last as usize]);
        results.clone().for_each(|register| self.known_at[register as usize] = self.first);
        let next = results.rev().find_map(|register| users.on_final.get(register).last().copied())?;
        let (kernel, first) = (&self.kernels[next as usize], &self.kernels[self.first as usize]);
        let is_known = |&register: &u32| self.known_at[register as usize] == self.first;
        let queue = |kernel: u32| self.queues.get(kernel as usize);
        let is_beside = kernel.stream() == first.stream() && queue(next) == queue(self.first);
        let joins = self.may_join[next as usize] && is_beside;
        (joins && kernel.operands().iter().all(is_known)).then_some(next)
    }
}

/// A straight line in the general plan.
pub(crate) struct StraightLine {
    /// Number of slots of the line.
    pub(crate) n_slots: usize,
    /// Number of inputs, which are the first slots.
    pub(crate) n_inputs: usize,
    /// Range of the kernels in `GeneralPlan::members`.
    pub(crate) first: u32,
    pub(crate) end: u32,
}

/// A kernel of a straight line.
pub(crate) struct StraightKernel {
    pub(crate) step: StraightStep,
    /// Slots of all operands, in `GeneralPlan::member_lists`.
    operands: Span,
    /// Slots to free after the kernel.
    frees: Span,
    /// An [`OutsideUse`] for each result. Empty if no result is used outside.
    outside_uses: Span,
    /// Whether the kernel does not check all its operands itself.
    pub(crate) is_checked: bool,
    pub(crate) stores_all: bool,
    pub(crate) is_last: bool,
    /// Whether nothing remains to be done after the kernel has succeeded.
    pub(crate) is_simple: bool,
}

/// Use of a result outside of its line. See [`StraightKernel::outside_uses`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutsideUse {
    /// The result is not used outside.
    None,
    /// The result is used outside, and later in the line.
    Copy,
    Move,
}

impl StraightKernel {
    pub(crate) fn operands<'l>(&self, lists: &'l [u32]) -> &'l [u32] {
        self.operands.of(lists)
    }

    pub(crate) fn frees<'l>(&self, lists: &'l [u32]) -> &'l [u32] {
        self.frees.of(lists)
    }

    /// Whether a result is used outside of the line.
    #[inline]
    pub(crate) fn is_used_outside(&self) -> bool {
        !self.outside_uses.is_empty()
    }

    /// For each result, its use outside of the line.
    pub(crate) fn outside_uses<'l>(&self, lists: &'l [u32]) -> impl Iterator<Item = OutsideUse> + use<'l> {
        self.outside_uses.of(lists).iter().map(|out| match out {
            0 => OutsideUse::None,
            1 => OutsideUse::Copy,
            _ => OutsideUse::Move,
        })
    }
}

/// Builder of a function's straight lines.
#[derive(Default)]
pub(super) struct StraightLineBuilder {
    pub(super) lines: Vec<StraightLine>,
    pub(super) members: Vec<StraightKernel>,
    pub(super) lists: Vec<u32>,
}

/// Description of the function for [`StraightLineBuilder::push`].
pub(super) struct StraightLineContext<'s> {
    pub(super) function: &'s FunctionView<'s, 's>,
    pub(super) plan: &'s FunctionPlan,
    /// By register: whether its value is worth freeing.
    pub(super) is_counted: &'s dyn Fn(u32) -> bool,
    /// By register: whether its value is used outside of the line.
    pub(super) is_used_outside: &'s dyn Fn(u32) -> bool,
}

impl StraightLineBuilder {
    /// Adds a line of these kernels. Returns the registers of its inputs, in the order of their slots.
    pub(super) fn push(&mut self, cx: &StraightLineContext<'_>, kernels: &[u32]) -> Vec<u32> {
        let views: Vec<_> = kernels.iter().map(|&k| cx.function.kernel(k)).collect();
        let mut slot_of = BTreeMap::new();
        let mut inputs = Vec::new();
        let made: BTreeSet<u32> = views.iter().flat_map(|view| results(view)).collect();
        for &register in views.iter().flat_map(|view| view.operands()) {
            if !made.contains(&register) && !slot_of.contains_key(&register) {
                slot_of.insert(register, inputs.len() as u32);
                inputs.push(register);
            }
        }
        let mut n_slots = inputs.len() as u32;
        for view in &views {
            for register in results(view) {
                slot_of.insert(register, n_slots);
                n_slots += 1;
            }
        }
        // One more slot, for a chain.
        n_slots += 1;
        let first = self.members.len() as u32;
        let mut is_needed = BTreeSet::new();
        let mut members = Vec::new();
        for (view, &k) in views.iter().zip(kernels).rev() {
            let (entry, known) = (&cx.plan.table.kernels[k as usize], &cx.plan.kernels[k as usize]);
            let slots: Vec<u32> = view.operands().iter().map(|register| slot_of[register]).collect();
            let made = results(view);
            let outside_uses: Vec<u32> = made
                .clone()
                .map(|register| match (cx.is_used_outside)(register) {
                    false => 0,
                    true if is_needed.contains(&register) => 1,
                    true => 2,
                })
                .collect();
            let is_free = |register: &u32, is_needed: &mut BTreeSet<u32>| {
                is_needed.insert(*register) && (cx.is_counted)(*register)
            };
            // A result that is used outside is moved there, not freed.
            let frees = made.filter(|register| is_free(register, &mut is_needed));
            let mut frees: Vec<u32> = frees.filter(|register| !(cx.is_used_outside)(*register)).collect();
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
            let last_uses = last_uses(lists, passed, &last_read);
            let passed = Span::push(lists, passed.iter().copied());
            let is_seen = outside_uses.iter().any(|&out| out != 0);
            members.push(StraightKernel {
                step: StraightStep::new(step, n_slots as usize, passed, last_uses),
                operands: Span::push(lists, slots.into_iter()),
                is_simple: frees.is_empty() && !is_seen && entry.stores_all,
                frees: Span::push(lists, frees.into_iter()),
                outside_uses: if is_seen {
                    Span::push(lists, outside_uses.into_iter())
                } else {
                    Span::default()
                },
                is_checked: !entry.checked.is_empty(),
                stores_all: entry.stores_all,
                is_last: members.is_empty(),
            });
        }
        members.reverse();
        self.members.extend(members);
        let end = self.members.len() as u32;
        self.lines.push(StraightLine { n_slots: n_slots as usize, n_inputs: inputs.len(), first, end });
        inputs
    }
}
