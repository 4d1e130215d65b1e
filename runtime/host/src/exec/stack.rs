//! The registers of a line's active frames, one above the other, and the loop that runs steps on the top one.
//!
//! ```text
//! values:  | frame | frame | ... | top frame | free ...              | beyond the limit ... |
//!                                ^ frame's slots                     ^ end
//! callers: | below | below | ... | below |                           one for each frame but the top one
//! ```
//!
//! The invariant, between any two methods: `values` are all initialized, and `end` is among them or behind
//! the last; `frame` points to the top frame's slots, which lie one after the other before `end`; `frame` and
//! `next` are of its `plan`, which has a line; the same holds for what `callers` say of the frames below.
//! Whatever changes one of these changes all; nobody but `frame` and the methods here has access to values. A
//! kernel may panic: then it still holds, as kernels change nothing but slots; and values are dropped here
//! such that nobody hears of their panics. Of a plan: steps, moves and results name slots that its frames
//! have, and spans are within the lists that they were made for.
//!
//! Between two runs there is no frame: `frame` is of the plan that the stack was made for, and nobody asks it
//! for slots before the first frame is opened.
//!
//! Free values own nothing. So a frame is opened by writing its arguments, and closed, if it owns nothing, by
//! nothing at all.

#![allow(unsafe_code, reason = "slots are found by the numbers in a plan; the essay is the proof")]

use std::mem::{ManuallyDrop, forget, replace, take};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::again::{After, Again};
use super::execution::around;
use super::frame::Running;
use super::operands::{callee, operand_error};
use crate::program::{Carry, FunctionPlan, Move, Program, Target};
use befrost_kernel_api::context::{ExecContext, FramePath, Limits};
use befrost_kernel_api::error::KernelError;
use befrost_kernel_api::executor::{
    CallChain, CallRequest, KernelRef, LoadedFile, MAX_TRACE, Runs, Step, StepKind, Surroundings,
};
use befrost_kernel_api::kernel::{KernelFrame, Outcome};
use befrost_kernel_api::value::Value;

/// Why [`Stack::run`] returned.
pub(super) enum Stop {
    /// The outermost frame's function has ended, and is not run again.
    End,
    /// The step that comes next may not simply be run.
    Careful,
    /// The step that was run is not done.
    Outcome(Outcome),
    /// The top frame's function has ended, and there is no next time: this is what the results are.
    Instead(Value),
}

/// A frame that waits for the one above it.
#[derive(Clone, Copy)]
struct Below<'x> {
    plan: &'x FunctionPlan,
    /// The step that called.
    step: &'x Step,
    slots: NonNull<Value>,
    /// Whether its function is run again when it ends.
    again: Again,
    /// Whether its values may own something.
    owns: bool,
}

/// The memory of a stack, for the next one.
pub(super) struct Room {
    /// They own nothing.
    values: Vec<Value>,
    /// None.
    callers: Vec<Below<'static>>,
}

/// How many values a thread keeps room for.
const MAX_KEPT: usize = 1 << 16;
/// How many a stack has room for at first.
const FIRST_ROOM: usize = 64;

impl Default for Room {
    fn default() -> Room {
        Room::EMPTY
    }
}

impl Room {
    pub(super) const EMPTY: Room = Room { values: Vec::new(), callers: Vec::new() };
}

/// See the module's essay.
pub(super) struct Stack<'x> {
    plans: &'x [FunctionPlan],
    values: Vec<Value>,
    /// Where the values end that may be used.
    end: *mut Value,
    /// That of the top frame.
    plan: &'x FunctionPlan,
    frame: KernelFrame<'x>,
    /// Whether the top frame's function is run again when it ends.
    again: Again,
    /// The step that comes next.
    next: &'x Step,
    callers: Vec<Below<'x>>,
    /// The kernel that called the outermost function, if the execution did not begin with it.
    outer: Option<&'x Running>,
    /// How many of them there may be.
    max_callers: usize,
    limits: Limits,
    /// Why `run` is about to return; the end, unless noted.
    stop: Stop,
}

impl<'x> Stack<'x> {
    /// A stack for a function that has a line, in which [`begin`](Stack::begin) opens the first frame.
    #[inline]
    pub(super) fn new(
        plan: &'x FunctionPlan,
        room: Room,
        (program, context): (&'x Arc<Program>, &'x ExecContext),
        limits: Limits,
        outer: Option<&'x Running>,
    ) -> Stack<'x> {
        let Room { mut values, callers } = room;
        if values.len() < plan.n_slots() && plan.n_slots() <= limits.values {
            values.resize_with(plan.n_slots().max(FIRST_ROOM), Value::default);
        }
        let mut stack = Stack {
            plans: program.plans(),
            end: null_mut(),
            values,
            plan,
            // SAFETY: `begin` enters the first frame and selects its first step, before anything uses the frame.
            frame: unsafe { KernelFrame::of_line(&plan.table, around(program, context)) },
            again: Again::NEVER,
            next: first_step(plan),
            callers: relabel(callers),
            outer,
            max_callers: limits.depth.saturating_sub(1),
            limits,
            stop: Stop::End,
        };
        stack.set_end();
        stack
    }

    /// Opens the first frame, with the arguments that it takes out of a list; its function is perhaps run
    /// again.
    ///
    /// # Errors
    /// If there may not be such a frame.
    #[inline]
    pub(super) fn begin(&mut self, again: Again, arguments: &mut Vec<Value>) -> Result<(), KernelError> {
        let plan = self.plan;
        if self.limits.depth == 0 || plan.n_slots() > self.values.len().min(self.limits.values) {
            arguments.clear();
            return Err(self.limits.error());
        }
        let mut owns = false;
        let mut slots = self.values.iter_mut().take(plan.n_args as usize);
        for (slot, argument) in slots.by_ref().zip(arguments.iter_mut()) {
            if argument.is_plain() {
                // SAFETY: a reference can be written, and what is there owns nothing.
                unsafe { argument.copy_to(NonNull::from(slot)) };
            } else {
                *slot = take(argument).resolved();
                owns = true;
            }
        }
        slots.for_each(Value::clear);
        arguments.clear();
        self.again = again;
        self.next = first_step(plan);
        let slots = self.first_value();
        self.point(plan, slots, owns);
        Ok(())
    }

    /// Closes the only frame that is left.
    #[inline]
    pub(super) fn end(&mut self) {
        if self.frame.owns() {
            drop_values(self.frame.slots_mut());
        }
        if !self.is_small() {
            self.shrink();
        }
    }

    /// Whether its memory is worth keeping.
    #[inline]
    pub(super) fn is_small(&self) -> bool {
        self.values.len() <= MAX_KEPT && self.callers.capacity() <= MAX_KEPT
    }

    /// Gives back what a deep call has taken. There must be no frame.
    #[cold]
    fn shrink(&mut self) {
        let n = self.plan.n_slots().max(FIRST_ROOM);
        self.values.truncate(n);
        self.values.shrink_to_fit();
        self.callers = Vec::new();
        self.set_end();
    }

    /// The memory, after which the stack is of no use. There must be no frame.
    #[inline]
    pub(super) fn take_room(&mut self) -> Room {
        Room { values: take(&mut self.values), callers: relabel(take(&mut self.callers)) }
    }

    /// The first of the values.
    #[inline]
    fn first_value(&mut self) -> NonNull<Value> {
        // SAFETY: a list's pointer is not null; asking for it does not touch what it points to.
        unsafe { NonNull::new_unchecked(self.values.as_mut_ptr()) }
    }

    /// Finds out where the values that may be used begin, which it returns, and end.
    fn set_end(&mut self) -> NonNull<Value> {
        let n = self.values.len().min(self.limits.values);
        let first = self.first_value();
        self.end = first.as_ptr().wrapping_add(n);
        first
    }

    /// The plan of the top frame.
    #[inline]
    pub(super) fn plan(&self) -> &'x FunctionPlan {
        self.plan
    }

    #[inline]
    pub(super) fn frame(&self) -> &KernelFrame<'x> {
        &self.frame
    }

    /// The callers of the step that runs.
    pub(super) fn callers(&self) -> Callers<'_, 'x> {
        Callers::new(&self.frame, self.again, &self.callers, self.outer)
    }

    /// The top frame's slots.
    pub(super) fn slots(&self) -> &[Value] {
        self.frame.slots()
    }

    /// Forgets what the current step's results are.
    pub(super) fn clear_results(&mut self) {
        self.frame.clear_results();
    }

    /// Sets all results of the current step that are not stored.
    pub(super) fn fill(&mut self, value: &Value) {
        let stores_all = self.frame.kernel().stores_all;
        for i in 0..self.frame.n_results() {
            if stores_all || self.frame.result(i).is_none() {
                self.frame.set_result(i, value.clone());
            }
        }
    }

    /// Makes these slots, which are as many as the plan has, those of the top frame.
    #[inline(always)]
    fn point(&mut self, plan: &'x FunctionPlan, slots: NonNull<Value>, owns: bool) {
        // SAFETY: while kernels run, only `frame` accesses values; whoever changes them, or their place,
        // calls this again.
        unsafe { self.frame.enter(&plan.table, slots, owns) };
        self.plan = plan;
    }

    /// Runs steps until one needs the executor, or there are no more. `attention`: a request has been
    /// cancelled, or counts its kernels; then only the first step is run, and only if it `may_go`.
    #[inline(never)]
    pub(super) fn run(&mut self, attention: &AtomicBool, may_go: bool) -> Stop {
        // Relaxed: a hint to look; who acts on it acquires what it finds.
        if !may_go && attention.load(Ordering::Relaxed) && self.needs_care(self.next) {
            return Stop::Careful;
        }
        let mut step = self.next;
        loop {
            // SAFETY: the step is one of the plan whose frame this is: the invariant.
            // What owns nothing is not dropped: the compiler is not asked to see that it need not be.
            let outcome = ManuallyDrop::new(unsafe { self.frame.run(step) });
            match *outcome {
                Outcome::Done => step = behind(step),
                Outcome::Request => match self.control(step) {
                    Some(next) => step = next,
                    None => {
                        self.next = if step.kind == StepKind::End { step } else { behind(step) };
                        return replace(&mut self.stop, Stop::End);
                    }
                },
                _ => {
                    self.next = behind(step);
                    return Stop::Outcome(ManuallyDrop::into_inner(outcome));
                }
            }
            // Relaxed: as above.
            if attention.load(Ordering::Relaxed) && self.needs_care(step) {
                self.next = step;
                return Stop::Careful;
            }
        }
    }

    /// Whether cancellation and counts have a say in a step: all but ends after which there is nothing more.
    fn needs_care(&self, step: &Step) -> bool {
        step.kind != StepKind::End || !self.again.is_last()
    }

    /// Notes why `run` is to return.
    #[cold]
    fn stop<T>(&mut self, stop: Stop) -> Option<T> {
        self.stop = stop;
        None
    }

    /// Does what a step stands for, or has asked for: the step that comes next, or nothing, if `run` is to
    /// return.
    #[inline(always)]
    fn control(&mut self, step: &'x Step) -> Option<&'x Step> {
        let (which, again) = match (step.kind, self.frame.slot(0)) {
            (StepKind::End, _) if self.again.is_last() => return self.back(),
            (StepKind::End, _) => return self.iterate(),
            (StepKind::Call, _) => (0, Again::NEVER),
            (StepKind::Branch, &Value::I1(first)) => (usize::from(!first), Again::NEVER),
            (StepKind::Case, &Value::I32(i @ 0..)) if (i as usize) < self.frame.n_functions() => {
                (i as usize, Again::NEVER)
            }
            // As many as there are: at most `Runs::MAX_MORE`.
            (StepKind::Repeat, &Value::I32(times @ 1..)) => (0, Again::times(times as u32 - 1)),
            (StepKind::While, Value::I1(true)) => (0, Again::WHILE_TRUE),
            _ => return self.ask(step),
        };
        // SAFETY: it is one of as many as a step of this kind has (`StepKind`), and a case has one for each
        // function.
        let target = unsafe { self.plan.line.targets.get_unchecked(step.first_target() + which) };
        self.open(step, target, again)
    }

    /// Runs the kernel of a step whose form does not say what to do, or that needs its path.
    #[cold]
    #[inline(never)]
    fn ask(&mut self, step: &'x Step) -> Option<&'x Step> {
        let (kernel, plan) = (self.frame.kernel(), self.plan);
        if !matches!(step.kind, StepKind::Kernel | StepKind::Registers) {
            if self.is_blocked() {
                return self.stop(Stop::Outcome(Outcome::Operand));
            }
            let outcome = if step.kind == StepKind::Placed {
                if !kernel.stores_all {
                    self.frame.clear_results();
                }
                let callers = Callers::new(&self.frame, self.again, &self.callers, self.outer);
                self.frame.run_placed(&callers)
            } else {
                (kernel.run)(&mut self.frame)
            };
            match outcome {
                Outcome::Done => return Some(behind(step)),
                Outcome::Request => {}
                outcome => return self.stop(Stop::Outcome(outcome)),
            }
        }
        let CallRequest { call, runs } = self.frame.take_request();
        let again = match runs {
            Runs::More(more) => Again::times(more),
            Runs::WhileTrue { in_flight: _ } => Again::WHILE_TRUE,
        };
        if let Err(error) = callee(call, plan, step.kernel) {
            return self.stop(Stop::Outcome(Outcome::Error(error)));
        }
        let targets = plan.kernels[step.kernel as usize].targets.of(&plan.line.targets);
        match targets.get(call.function as usize) {
            Some(target) => {
                if !kernel.stores_all {
                    self.frame.clear_results();
                }
                self.open(step, target, again)
            }
            None => self.stop(Stop::Outcome(Outcome::Error(operand_error()))),
        }
    }

    /// Opens a frame above the top one.
    #[inline(always)]
    fn open(&mut self, step: &'x Step, target: &Target, again: Again) -> Option<&'x Step> {
        let below = self.plan;
        let plan = &self.plans[target.function as usize];
        let top = self.frame.first_slot().as_ptr().wrapping_add(below.n_slots());
        if top.wrapping_add(plan.n_slots()) > self.end || self.callers.len() >= self.max_callers {
            self.make_room(plan.n_slots())?;
        }
        let from = self.frame.first_slot();
        // SAFETY: there is room for a frame above the top one.
        let to = unsafe { from.add(below.n_slots()) };
        let (first, n) = target.args.bounds();
        // SAFETY: the target is one of the plan, whose moves it names.
        let args = unsafe { below.line.moves.get_unchecked(first..first + n) };
        // SAFETY: moves are from slots of the plan's frames: the top one is one. There is room for the
        // callee's slots, of which arguments are the first; there are no more moves than these.
        let is_passed = target.is_simple && unsafe { copy_all(args, from, to) };
        let owns = !is_passed && self.pass(target, plan, to)?;
        let again = replace(&mut self.again, again);
        self.callers.push(Below { plan: below, step, slots: from, again, owns: self.frame.owns() });
        self.point(plan, to, owns);
        Some(first_step(plan))
    }

    /// Passes arguments that own something, or that may be in any state, to the frame of `plan` whose slots
    /// will be those from `to` on: whether one owns something. Nothing, if `run` is to return.
    #[cold]
    #[inline(never)]
    fn pass(&mut self, target: &Target, plan: &FunctionPlan, to: NonNull<Value>) -> Option<bool> {
        if self.is_blocked() {
            return self.stop(Stop::Outcome(Outcome::Operand));
        }
        // SAFETY: there is room for the callee's slots, of which arguments are the first. Only `frame` has
        // access to slots, to those below.
        let arguments = unsafe { std::slice::from_raw_parts_mut(to.as_ptr(), plan.n_args as usize) };
        let below = self.plan;
        let slots = self.frame.slots_mut();
        let args = target.args.of(&below.line.moves);
        arguments.fill(Value::Empty);
        for (argument, arg) in arguments.iter_mut().zip(args) {
            let value = &mut slots[arg.from.index()];
            *argument = if arg.takes { take(value) } else { value.clone() };
        }
        for &register in target.drops.of(&below.table.lists) {
            drop_values(&mut slots[register as usize..=register as usize]);
        }
        Some(arguments.iter().any(|argument| !argument.is_plain()))
    }

    /// Whether an operand of the current kernel is not concrete that must be.
    fn is_blocked(&self) -> bool {
        let (lists, slots) = (&self.plan.table.lists, self.frame.slots());
        let mut checked = self.frame.kernel().checked.of(lists).iter();
        !checked.all(|&register| slots[register as usize].is_concrete())
    }

    /// Makes room for one more frame of `n` slots. Nothing, if there may not be one.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, n: usize) -> Option<()> {
        let first = self.values.as_mut_ptr().addr();
        let index = |slots: NonNull<Value>| (slots.addr().get() - first) / size_of::<Value>();
        let top = index(self.frame.first_slot());
        let end = top + self.plan.n_slots() + n;
        if self.callers.len() >= self.max_callers || end > self.limits.values {
            let outcome =
                if self.is_blocked() { Outcome::Operand } else { Outcome::Error(self.limits.error()) };
            return self.stop(Stop::Outcome(outcome));
        }
        if end > self.values.len() {
            let want = end.max(self.values.len() * 2).min(self.limits.values);
            let below: Vec<usize> = self.callers.iter().map(|below| index(below.slots)).collect();
            self.values.resize_with(want, Value::default);
            let first = self.set_end();
            // SAFETY: they were within the values, and there are more now.
            let slots = |index: usize| unsafe { first.add(index) };
            self.callers.iter_mut().zip(below).for_each(|(below, index)| below.slots = slots(index));
            self.point(self.plan, slots(top), self.frame.owns());
        }
        Some(())
    }

    /// The top frame's function has ended, and is perhaps run again: its first step, or the one behind the
    /// call.
    #[inline(always)]
    fn iterate(&mut self) -> Option<&'x Step> {
        match (self.again.after(), self.condition()) {
            (After::Iteration(again), _) => self.again = again,
            (After::IfTrue(again), Value::I1(true)) => self.again = again,
            (After::Nothing, _) | (After::IfTrue(_), Value::I1(false)) => return self.back(),
            (After::IfTrue(_), condition) => {
                let instead = instead_of_condition(condition);
                return self.stop(Stop::Instead(instead));
            }
        }
        self.carry();
        Some(first_step(self.plan))
    }

    /// Whether the top frame's function, which has ended, is run again.
    pub(super) fn goes_on(&self) -> bool {
        match self.again.after() {
            After::Nothing => false,
            After::Iteration(_) => true,
            After::IfTrue(_) => matches!(self.condition(), Value::I1(true)),
        }
    }

    /// The last result of the top frame.
    #[inline(always)]
    fn condition(&self) -> &Value {
        // SAFETY: it is a slot of the plan's frames: the top one is one.
        let slot = unsafe { self.frame.first_slot().byte_add(self.plan.line.condition.bytes()) };
        // SAFETY: as above; it holds a value, which nobody changes while the stack is borrowed.
        unsafe { slot.as_ref() }
    }

    /// Makes the top frame's results its arguments, for another run of its function.
    #[inline(always)]
    fn carry(&mut self) {
        let line = &self.plan.line;
        if self.frame.owns() || !line.carries_all {
            return self.carry_owned();
        }
        let slots = self.frame.first_slot();
        for &carry in &line.carries {
            // Who owns nothing need not care who takes what.
            if let Carry::Copy(from, to) | Carry::Take(from, to) = carry {
                // SAFETY: both are slots of the plan's frames: the top one is one.
                let to = unsafe { slots.byte_add(to.bytes()) };
                // SAFETY: as above.
                let from = unsafe { slots.byte_add(from.bytes()) };
                // SAFETY: as above. It is not the one that is written.
                let from = unsafe { from.as_ref() };
                // SAFETY: as above. What is there owns nothing.
                if !unsafe { from.copy_plain_to(to) } {
                    return self.carry_owned();
                }
            } else if let Carry::Swap(a, b) = carry {
                self.frame.slots_mut().swap(a.index(), b.index());
            }
        }
    }

    /// The same, where something is to be dropped or is missing.
    #[cold]
    #[inline(never)]
    fn carry_owned(&mut self) {
        let plan = self.plan;
        let slots = self.frame.slots_mut();
        for &carry in &plan.line.carries {
            let (value, to) = match carry {
                Carry::Copy(from, to) => (slots[from.index()].clone(), to),
                Carry::Take(from, to) => (take(&mut slots[from.index()]), to),
                Carry::Swap(a, b) => {
                    slots.swap(a.index(), b.index());
                    continue;
                }
            };
            let mut old = replace(&mut slots[to.index()], present(value));
            drop_values(std::slice::from_mut(&mut old));
        }
        let n_args = plan.n_args as usize;
        drop_values(&mut slots[n_args.min(plan.results.len())..]);
        let owns = slots[..n_args].iter().any(|value| !value.is_plain());
        self.point(plan, self.frame.first_slot(), owns);
    }

    /// Closes the top frame; the step below that called gets its results. The step behind that one.
    #[inline(always)]
    fn back(&mut self) -> Option<&'x Step> {
        // Without one it is the outermost frame that has ended, and `stop` says so.
        let below = self.callers.pop()?;
        let from = self.frame.first_slot();
        // SAFETY: the results of a step are slots of its plan's frames: the one below is one.
        let to = unsafe { below.slots.byte_add(below.step.first_result.bytes()) };
        let returns = self.plan.line.returns.get(..usize::from(below.step.n_results));
        // SAFETY: moves are from slots of the plan's frames: the top one is one. There are as many results as
        // moves.
        let is_passed = returns.is_some_and(|returns| unsafe { copy_all(returns, from, to) });
        let owns = !is_passed && self.give(usize::from(below.step.n_results), to);
        Some(self.close(below, owns))
    }

    /// Moves `n` of the top frame's results, whatever they are, to slots of the frame below; whether one owns
    /// something.
    #[cold]
    #[inline(never)]
    fn give(&mut self, n: usize, to: NonNull<Value>) -> bool {
        let (mut owns, mut i) = (false, 0);
        self.take_results(n, |value| {
            owns |= !value.is_plain();
            // SAFETY: within the values, as it is a slot of the frame below.
            let to = unsafe { to.add(i) };
            // SAFETY: as above. What is there owns nothing.
            unsafe { to.write(value) };
            i += 1;
        });
        owns
    }

    /// Closes the top frame, and goes back to the one below: the step behind the one that called. `owns`:
    /// that has got something that does.
    #[inline(always)]
    fn close(&mut self, below: Below<'x>, owns: bool) -> &'x Step {
        if self.frame.owns() {
            drop_values(self.frame.slots_mut());
        }
        let Below { plan, step, slots, again, owns: owned } = below;
        self.again = again;
        self.point(plan, slots, owned | owns);
        behind(step)
    }

    /// Closes the top frame, whose results are all `instead`. Gives it back if it is the only frame.
    pub(super) fn leave(&mut self, instead: Value) -> Option<Value> {
        let Some(below) = self.callers.pop() else { return Some(instead) };
        self.next = self.close(below, false);
        // SAFETY: the step is one of the plan whose frame this is again.
        unsafe { self.frame.select(below.step) };
        self.fill(&instead);
        None
    }

    /// Makes the step that comes next the one that runs, and looks at it.
    pub(super) fn select_next(&mut self) -> &'x Step {
        // SAFETY: the step is one of the plan whose frame this is: the invariant.
        unsafe { self.frame.select(self.next) };
        self.next
    }

    /// Goes on behind the step that was run or selected.
    pub(super) fn step_over(&mut self) {
        let step = self.frame.step();
        self.next = if step.kind == StepKind::End { step } else { behind(step) };
    }

    /// Moves the first `n` of the top frame's results to the end of a list. The frame is of no use
    /// afterwards.
    #[inline]
    pub(super) fn append_results(&mut self, n: usize, to: &mut Vec<Value>) {
        let returns = self.plan.line.returns.get(..n);
        to.reserve(n);
        let end = to.spare_capacity_mut().as_mut_ptr();
        // SAFETY: a list's pointer is not null.
        let end = unsafe { NonNull::new_unchecked(end) }.cast::<Value>();
        // SAFETY: moves are from slots of the plan's frames: the top one is one. There is room for as many in
        // the list.
        if returns.is_some_and(|returns| unsafe { copy_all(returns, self.frame.first_slot(), end) }) {
            // SAFETY: all of them have been written.
            unsafe { to.set_len(to.len() + n) };
        } else {
            self.take_results(n, |value| to.push(value));
        }
    }

    /// Moves the first `n` of the top frame's results out. The frame is of no use afterwards.
    #[cold]
    fn take_results(&mut self, n: usize, mut give: impl FnMut(Value)) {
        let plan = self.plan;
        let slots = self.frame.slots_mut();
        for i in 0..n {
            let value = plan.line.returns.get(i).map_or(Value::Empty, |result| {
                let slot = &mut slots[result.from.index()];
                if result.takes { take(slot) } else { slot.clone() }
            });
            give(present(value));
        }
    }
}

/// The callers of the step that runs.
pub(super) struct Callers<'s, 'x> {
    at: KernelRef,
    /// The iteration of the top frame.
    iteration: u64,
    below: &'s [Below<'x>],
    outer: Option<&'x Running>,
    file: &'x LoadedFile,
    context: &'x ExecContext,
}

impl<'s, 'x> Callers<'s, 'x> {
    fn new(
        frame: &KernelFrame<'x>,
        again: Again,
        below: &'s [Below<'x>],
        outer: Option<&'x Running>,
    ) -> Self {
        let Surroundings { file, functions: _, context } = frame.around();
        Callers { at: frame.at(), iteration: again.iteration(), below, outer, file, context }
    }
}

impl Below<'_> {
    fn at(&self) -> KernelRef {
        KernelRef { function: self.plan.index(), kernel: self.step.kernel }
    }
}

impl CallChain for Callers<'_, '_> {
    fn trace(&self) -> Vec<String> {
        let places = std::iter::once(self.at).chain(self.below.iter().rev().map(Below::at)).take(MAX_TRACE);
        let mut trace: Vec<String> = places.filter_map(|at| self.file.location_string(at)).collect();
        if self.below.len() < MAX_TRACE {
            trace.extend(self.outer.into_iter().flat_map(CallChain::trace));
            trace.truncate(MAX_TRACE);
        }
        trace
    }

    fn path(&self) -> FramePath {
        let frames = self.below.iter().map(|below| (below.plan.index(), below.again.iteration()));
        let mut frames = frames.chain([(self.at.function, self.iteration)]);
        let mut path = FramePath::default();
        if let Some((function, iteration)) = frames.next() {
            path = match self.outer {
                Some(kernel) => kernel.path_of_callee(function, iteration),
                None => self.context.path(function, iteration),
            };
        }
        for (below, (function, iteration)) in self.below.iter().zip(frames) {
            path.push(below.at(), function, iteration);
        }
        path
    }
}

/// What the results of a loop are whose condition is not one.
#[cold]
fn instead_of_condition(condition: &Value) -> Value {
    match condition {
        value @ (Value::Error(_) | Value::Dead) => value.clone(),
        _ => Value::Error(operand_error().into()),
    }
}

/// Copies values to the slots from `to` on, as long as they are concrete and own nothing: whether all do.
///
/// # Safety
/// The moves must be from slots of a frame that begins at `from`, and as many slots at `to` must be valid for
/// writing and not be among these.
#[inline(always)]
unsafe fn copy_all(moves: &[Move], from: NonNull<Value>, to: NonNull<Value>) -> bool {
    moves.iter().enumerate().all(|(i, a_move)| {
        // SAFETY: the caller's contract: it is a slot of the frame.
        let value = unsafe { from.byte_add(a_move.from.bytes()) };
        // SAFETY: as above: it holds a value, which nobody changes.
        let value = unsafe { value.as_ref() };
        // SAFETY: the caller's contract: there are as many.
        let to = unsafe { to.add(i) };
        // SAFETY: as above.
        unsafe { value.copy_concrete_to(to) }
    })
}

/// The first step of a plan's line.
#[inline(always)]
fn first_step(plan: &FunctionPlan) -> &Step {
    // SAFETY: there is at least one (`Line::steps`).
    unsafe { plan.line.steps.get_unchecked(0) }
}

/// The same list, of which only its room is left.
#[inline]
fn relabel<'to>(mut callers: Vec<Below<'_>>) -> Vec<Below<'to>> {
    callers.clear();
    let mut callers = ManuallyDrop::new(callers);
    // SAFETY: the list's own parts. Types that differ in lifetimes alone have one layout, and there is no
    // value that could live too short.
    unsafe { Vec::from_raw_parts(callers.as_mut_ptr().cast(), 0, callers.capacity()) }
}

/// The step behind one that is not an end.
#[inline(always)]
fn behind(step: &Step) -> &Step {
    debug_assert!(step.kind != StepKind::End);
    // SAFETY: a line ends with an end, and the step is none, so there is one behind it.
    let next = unsafe { std::ptr::from_ref(step).add(1) };
    // SAFETY: as above; it lives as long as the line, and so as `step`.
    unsafe { &*next }
}

/// A result, or the error that there is none.
fn present(value: Value) -> Value {
    match value {
        Value::Empty => Value::Error(operand_error().into()),
        value => value,
    }
}

/// Makes values empty. If one panics at its end, nobody waits for that.
#[cold]
#[inline(never)]
fn drop_values(values: &mut [Value]) {
    for value in values {
        let value = take(value);
        if !value.is_plain()
            && let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(value)))
        {
            // It may panic as well.
            forget(panic);
        }
    }
}
