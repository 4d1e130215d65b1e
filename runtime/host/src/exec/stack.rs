//! Stack of a sequential execution: the registers of its active frames, and the loop that runs steps on the
//! top frame.
//!
//! ```text
//! values:  | frame | frame | ... | top frame | free ...              | beyond the limit ... |
//!                                 ^ frame's slots                     ^ end
//! callers: | below | below | ... | below |                           one for each frame but the top one
//! ```
//!
//! The stack invariant holds between any two methods:
//!
//! 1. All `values` are initialized. `end` points to one of them, or behind the last.
//! 2. `frame` points to the slots of the top frame, which are contiguous and end before `end`.
//! 3. `frame` and `next` belong to `plan`, which has a sequential plan.
//! 4. The same holds for the frames below, as `callers` describe them.
//! 5. Free values own nothing. So a frame is pushed by writing its arguments, and popped without any work if
//!    it owns nothing.
//!
//! A method that changes one of these changes all. Only `frame` and the methods here access values. A panic
//! in a kernel keeps the invariant, because kernels change nothing but slots. Dropping a value does not
//! panic.
//!
//! Plans guarantee that steps, moves and results name slots of the plan's frames, and that spans are within
//! the lists that they were made for.
//!
//! Between two runs there is no frame: `frame` belongs to the plan that the stack was made for, and its slots
//! are not accessed before the first frame is pushed.

#![allow(unsafe_code, reason = "slots are found by the numbers in a plan; the essay is the proof")]

mod callers;

use std::mem::{ManuallyDrop, replace, take};
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use self::callers::Callers;
use super::execution::surroundings;
use super::frame::Running;
use super::operands::{callee, operand_error};
use super::trip_count::{NextIteration, TripCount};
use crate::program::{CallTarget, Carry, FunctionPlan, Move, Program};
use befrost_kernel_api::context::{ExecContext, Limits};
use befrost_kernel_api::error::KernelError;
use befrost_kernel_api::executor::{CallRequest, Runs, Step, StepKind};
use befrost_kernel_api::kernel::{KernelFrame, Outcome};
use befrost_kernel_api::value::Value;

/// Reason for which [`Stack::run`] returned.
pub(super) enum Stop {
    /// The outermost frame has ended and is not run again.
    End,
    /// The next step needs attention: cancellation, or counting of kernels.
    Attention,
    /// The last step did not succeed.
    Outcome(Outcome),
    /// The top frame ends here; all its results are this value.
    Substitute(Value),
}

/// A frame that waits for the one above it.
#[derive(Clone, Copy)]
struct CallerFrame<'x> {
    plan: &'x FunctionPlan,
    /// The step that called.
    step: &'x Step,
    slots: NonNull<Value>,
    /// Trip count of the frame's function.
    trips: TripCount,
    /// Whether a value of the frame may own something.
    owns: bool,
}

/// Memory of a stack, kept for the next one.
pub(super) struct StackMemory {
    /// All own nothing.
    values: Vec<Value>,
    /// Empty.
    callers: Vec<CallerFrame<'static>>,
}

/// Limit of the values for which a thread keeps memory.
const MAX_KEPT: usize = 1 << 16;
/// Number of values that a new stack has room for, at least.
const FIRST_ROOM: usize = 64;

impl Default for StackMemory {
    fn default() -> StackMemory {
        StackMemory::EMPTY
    }
}

impl StackMemory {
    pub(super) const EMPTY: StackMemory = StackMemory { values: Vec::new(), callers: Vec::new() };
}

/// Stack of a sequential execution. See the module's essay for its invariant.
pub(super) struct Stack<'x> {
    plans: &'x [FunctionPlan],
    values: Vec<Value>,
    /// End of the values that may be used.
    end: *mut Value,
    /// Plan of the top frame.
    plan: &'x FunctionPlan,
    frame: KernelFrame<'x>,
    /// Trip count of the top frame's function.
    trips: TripCount,
    /// The next step.
    next: &'x Step,
    callers: Vec<CallerFrame<'x>>,
    /// The kernel that called the outermost function, unless the execution began with it.
    outer: Option<&'x Running>,
    /// Limit of the length of `callers`.
    max_callers: usize,
    limits: Limits,
    /// Reason for which `run` is about to return. `End` except while `run` is returning.
    stop: Stop,
}

impl<'x> Stack<'x> {
    /// A stack for a function with a sequential plan. [`begin`](Stack::begin) pushes the first frame.
    #[inline]
    pub(super) fn new(
        plan: &'x FunctionPlan,
        memory: StackMemory,
        (program, context): (&'x Arc<Program>, &'x ExecContext),
        limits: Limits,
        outer: Option<&'x Running>,
    ) -> Stack<'x> {
        let StackMemory { mut values, callers } = memory;
        if values.len() < plan.n_slots() && plan.n_slots() <= limits.values {
            values.resize_with(plan.n_slots().max(FIRST_ROOM), Value::default);
        }
        let mut stack = Stack {
            plans: program.plans(),
            end: null_mut(),
            values,
            plan,
            // SAFETY: `begin` enters the first frame and `run` selects a step, before the frame is used.
            frame: unsafe { KernelFrame::of_line(&plan.table, surroundings(program, context)) },
            trips: TripCount::ONCE,
            next: first_step(plan),
            callers: recycled(callers),
            outer,
            max_callers: limits.depth.saturating_sub(1),
            limits,
            stop: Stop::End,
        };
        stack.set_end();
        stack
    }

    /// Pushes the first frame, with trip count `trips`, and takes its arguments out of a list.
    ///
    /// # Errors
    /// If the limits permit no such frame.
    #[inline]
    pub(super) fn begin(&mut self, trips: TripCount, arguments: &mut Vec<Value>) -> Result<(), KernelError> {
        let plan = self.plan;
        if self.limits.depth == 0 || plan.n_slots() > self.values.len().min(self.limits.values) {
            arguments.clear();
            return Err(self.limits.error());
        }
        let mut owns = false;
        let mut slots = self.values.iter_mut().take(plan.n_args as usize);
        for (slot, argument) in slots.by_ref().zip(arguments.iter_mut()) {
            if argument.is_plain() {
                // SAFETY: `slot` is a reference and so valid for writing; its value owns nothing, because it
                // is free.
                unsafe { argument.copy_to(NonNull::from(slot)) };
            } else {
                *slot = take(argument).resolved();
                owns = true;
            }
        }
        slots.for_each(Value::clear);
        if arguments.len() <= plan.n_args as usize {
            // SAFETY: the list gets shorter. Its values own nothing: each was plain, or has been taken.
            unsafe { arguments.set_len(0) };
        } else {
            arguments.clear();
        }
        self.trips = trips;
        self.next = first_step(plan);
        let slots = self.first_value();
        self.set_frame(plan, slots, owns);
        Ok(())
    }

    /// Pops the last frame.
    #[inline]
    pub(super) fn end(&mut self) {
        if self.frame.owns() {
            drop_values(self.frame.slots_mut());
        }
        if !self.is_small() {
            self.shrink();
        }
    }

    /// Whether the stack's memory is worth keeping.
    #[inline]
    pub(super) fn is_small(&self) -> bool {
        self.values.len() <= MAX_KEPT && self.callers.capacity() <= MAX_KEPT
    }

    /// Frees the memory that a deep call needed. There must be no frame.
    #[cold]
    fn shrink(&mut self) {
        let n = self.plan.n_slots().max(FIRST_ROOM);
        self.values.truncate(n);
        self.values.shrink_to_fit();
        self.callers = Vec::new();
        self.set_end();
    }

    /// The stack's memory. The stack is of no use afterwards. There must be no frame.
    #[inline]
    pub(super) fn take_memory(&mut self) -> StackMemory {
        StackMemory { values: take(&mut self.values), callers: recycled(take(&mut self.callers)) }
    }

    /// The first of the values.
    #[inline]
    fn first_value(&mut self) -> NonNull<Value> {
        // SAFETY: the pointer of a `Vec` is not null. Taking it does not access the values.
        unsafe { NonNull::new_unchecked(self.values.as_mut_ptr()) }
    }

    /// Sets `end`, and returns the first of the values.
    fn set_end(&mut self) -> NonNull<Value> {
        let n = self.values.len().min(self.limits.values);
        let first = self.first_value();
        self.end = first.as_ptr().wrapping_add(n);
        first
    }

    /// Plan of the top frame.
    #[inline]
    pub(super) fn plan(&self) -> &'x FunctionPlan {
        self.plan
    }

    #[inline]
    pub(super) fn frame(&self) -> &KernelFrame<'x> {
        &self.frame
    }

    /// Callers of the current step.
    pub(super) fn callers(&self) -> Callers<'_, 'x> {
        Callers::new(&self.frame, self.trips, &self.callers, self.outer)
    }

    /// Slots of the top frame.
    pub(super) fn slots(&self) -> &[Value] {
        self.frame.slots()
    }

    /// Marks the current step's results as not stored.
    pub(super) fn clear_results(&mut self) {
        self.frame.clear_results();
    }

    /// Sets all results of the current step that are not stored.
    pub(super) fn fill_missing_results(&mut self, value: &Value) {
        let stores_all = self.frame.kernel().stores_all;
        for i in 0..self.frame.n_results() {
            if stores_all || self.frame.result(i).is_none() {
                self.frame.set_result(i, value.clone());
            }
        }
    }

    /// Makes `slots` the top frame. There are as many as `plan` has.
    #[inline(always)]
    fn set_frame(&mut self, plan: &'x FunctionPlan, slots: NonNull<Value>, owns: bool) {
        // SAFETY: `slots` are as many initialized values as `plan` has. While kernels run, only `frame`
        // accesses values; every method that changes them, or moves them in memory, calls this again.
        unsafe { self.frame.enter(&plan.table, slots, owns) };
        self.plan = plan;
    }

    /// Runs steps until one needs the executor, or the outermost frame has ended. `attention` is set if a
    /// request has been cancelled or counts its kernels: then only the first step runs, and only if
    /// `may_run`.
    #[inline(never)]
    pub(super) fn run(&mut self, attention: &AtomicBool, may_run: bool) -> Stop {
        // Relaxed: only a hint; the reader of the details acquires them.
        if !may_run && attention.load(Ordering::Relaxed) && self.needs_attention(self.next) {
            return Stop::Attention;
        }
        let mut step = self.next;
        loop {
            // SAFETY: by the stack invariant, the step belongs to the plan whose frame this is. An outcome
            // that owns nothing is not dropped: `ManuallyDrop` spares the compiler the proof.
            let outcome = ManuallyDrop::new(unsafe { self.frame.run(step) });
            match *outcome {
                Outcome::Done => step = step_after(step),
                Outcome::Request => match self.control(step) {
                    Some(next) => step = next,
                    None => {
                        self.next = if step.kind == StepKind::End { step } else { step_after(step) };
                        return replace(&mut self.stop, Stop::End);
                    }
                },
                _ => {
                    self.next = step_after(step);
                    return Stop::Outcome(ManuallyDrop::into_inner(outcome));
                }
            }
            // Relaxed: only a hint, as above.
            if attention.load(Ordering::Relaxed) && self.needs_attention(step) {
                self.next = step;
                return Stop::Attention;
            }
        }
    }

    /// Whether a step is subject to cancellation and counting: all are, except the end of a frame that is not
    /// run again.
    fn needs_attention(&self, step: &Step) -> bool {
        step.kind != StepKind::End || !self.trips.is_last()
    }

    /// Sets the reason for which `run` returns.
    #[cold]
    fn stop<T>(&mut self, stop: Stop) -> Option<T> {
        self.stop = stop;
        None
    }

    /// Performs the control flow of a step, or the request of its kernel. Returns the next step, or `None` if
    /// `run` has to return.
    #[inline(always)]
    fn control(&mut self, step: &'x Step) -> Option<&'x Step> {
        let (which, trips) = match (step.kind, self.frame.slot(0)) {
            (StepKind::End, _) if self.trips.is_last() => return self.return_to_caller(),
            (StepKind::End, _) => return self.end_iteration(step),
            (StepKind::Call, _) => (0, TripCount::ONCE),
            (StepKind::Branch, &Value::I1(first)) => (usize::from(!first), TripCount::ONCE),
            (StepKind::Case, &Value::I32(i @ 0..)) if (i as usize) < self.frame.n_functions() => {
                (i as usize, TripCount::ONCE)
            }
            // An `i32` count is at most `Runs::MAX_MORE`.
            (StepKind::Repeat, &Value::I32(times @ 1..)) => (0, TripCount::more(times as u32 - 1)),
            (StepKind::While, Value::I1(true)) => (0, TripCount::WHILE_TRUE),
            _ => return self.run_slow(step),
        };
        // SAFETY: `which` is less than the number of targets that a step of this kind has (`StepKind`); a
        // case has one target for each function.
        let target = unsafe { self.plan.sequential.targets.get_unchecked(step.first_target() + which) };
        self.push_frame(step, target, trips)
    }

    /// Runs the kernel of a step whose form does not determine the control flow, or that needs its path.
    #[cold]
    #[inline(never)]
    fn run_slow(&mut self, step: &'x Step) -> Option<&'x Step> {
        let (kernel, plan) = (self.frame.kernel(), self.plan);
        if !matches!(step.kind, StepKind::Kernel | StepKind::Registers) {
            if self.is_blocked() {
                return self.stop(Stop::Outcome(Outcome::Operand));
            }
            let callers = Callers::new(&self.frame, self.trips, &self.callers, self.outer);
            match self.frame.run_placed(&callers) {
                Outcome::Done => return Some(step_after(step)),
                Outcome::Request => {}
                outcome => return self.stop(Stop::Outcome(outcome)),
            }
        }
        let CallRequest { call, runs } = self.frame.take_request();
        let trips = match runs {
            Runs::More(more) => TripCount::more(more),
            Runs::WhileTrue { in_flight: _ } => TripCount::WHILE_TRUE,
        };
        if let Err(error) = callee(call, plan, step.kernel) {
            return self.stop(Stop::Outcome(Outcome::Error(error)));
        }
        let targets = plan.kernels[step.kernel as usize].targets.of(&plan.sequential.targets);
        match targets.get(call.function as usize) {
            Some(target) => {
                if !kernel.stores_all {
                    self.frame.clear_results();
                }
                self.push_frame(step, target, trips)
            }
            None => self.stop(Stop::Outcome(Outcome::Error(operand_error()))),
        }
    }

    /// Pushes a frame for the callee `target`.
    #[inline(always)]
    fn push_frame(&mut self, step: &'x Step, target: &CallTarget, trips: TripCount) -> Option<&'x Step> {
        let below = self.plan;
        let plan = &self.plans[target.function as usize];
        let top = self.frame.first_slot().as_ptr().wrapping_add(below.n_slots());
        if top.wrapping_add(plan.n_slots()) > self.end || self.callers.len() >= self.max_callers {
            self.grow(plan.n_slots())?;
        }
        let from = self.frame.first_slot();
        // SAFETY: there is room for a frame above the top one: checked above, or made by `grow`.
        let to = unsafe { from.add(below.n_slots()) };
        let (first, n) = target.args.bounds();
        // SAFETY: the target belongs to the plan, and its span is within the plan's moves.
        let args = unsafe { below.sequential.moves.get_unchecked(first..first + n) };
        // SAFETY: moves name slots of the plan's frames, of which the top frame is one. There is room for the
        // callee's slots; the arguments are the first of them, and there are no more moves than arguments.
        let is_passed = target.is_simple && unsafe { copy_all(args, from, to) };
        let owns = !is_passed && self.pass_arguments(target, plan, to)?;
        let trips = replace(&mut self.trips, trips);
        self.callers.push(CallerFrame { plan: below, step, slots: from, trips, owns: self.frame.owns() });
        self.set_frame(plan, to, owns);
        Some(first_step(plan))
    }

    /// Passes arguments that own something or are not concrete to the new frame of `plan` at `to`. Returns
    /// whether one owns something, or `None` if `run` has to return.
    #[cold]
    #[inline(never)]
    fn pass_arguments(
        &mut self,
        target: &CallTarget,
        plan: &FunctionPlan,
        to: NonNull<Value>,
    ) -> Option<bool> {
        if self.is_blocked() {
            return self.stop(Stop::Outcome(Outcome::Operand));
        }
        // SAFETY: there is room for the callee's slots, the first of which are the arguments. `frame`
        // accesses only the slots of the top frame, which are below.
        let arguments = unsafe { std::slice::from_raw_parts_mut(to.as_ptr(), plan.n_args as usize) };
        let below = self.plan;
        let slots = self.frame.slots_mut();
        let args = target.args.of(&below.sequential.moves);
        arguments.fill(Value::Empty);
        for (argument, arg) in arguments.iter_mut().zip(args) {
            let value = &mut slots[arg.from.index()];
            *argument = if arg.takes { take(value) } else { value.clone() };
        }
        for &register in target.drops.of(&below.table.lists) {
            slots[register as usize].clear();
        }
        Some(arguments.iter().any(|argument| !argument.is_plain()))
    }

    /// Whether an operand that must be concrete is not, for the current kernel.
    fn is_blocked(&self) -> bool {
        let (lists, slots) = (&self.plan.table.lists, self.frame.slots());
        let mut checked = self.frame.kernel().checked.of(lists).iter();
        !checked.all(|&register| slots[register as usize].is_concrete())
    }

    /// Makes room for one more frame of `n` slots. `None` if the limits permit none; then `run` has to
    /// return.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, n: usize) -> Option<()> {
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
            // SAFETY: the index was within the values, and there are more of them now.
            let slots = |index: usize| unsafe { first.add(index) };
            self.callers.iter_mut().zip(below).for_each(|(below, index)| below.slots = slots(index));
            self.set_frame(self.plan, slots(top), self.frame.owns());
        }
        Some(())
    }

    /// Ends a run of the top frame's function. Returns its first step if it runs again, else the step after
    /// the call.
    #[inline(always)]
    fn end_iteration(&mut self, end: &'x Step) -> Option<&'x Step> {
        match (self.trips.next(), self.condition()) {
            (NextIteration::Always(trips), _) => self.trips = trips,
            (NextIteration::IfTrue(trips), Value::I1(true)) => self.trips = trips,
            (NextIteration::Never, _) | (NextIteration::IfTrue(_), Value::I1(false)) => {
                return self.return_to_caller();
            }
            (NextIteration::IfTrue(_), condition) => {
                let substitute = substitute_for_condition(condition);
                return self.stop(Stop::Substitute(substitute));
            }
        }
        Some(if self.carry() { step_again(end) } else { first_step(self.plan) })
    }

    /// Whether the top frame's function, which has ended, runs again.
    pub(super) fn runs_again(&self) -> bool {
        match self.trips.next() {
            NextIteration::Never => false,
            NextIteration::Always(_) => true,
            NextIteration::IfTrue(_) => matches!(self.condition(), Value::I1(true)),
        }
    }

    /// Last result of the top frame.
    #[inline(always)]
    fn condition(&self) -> &Value {
        // SAFETY: the condition is a slot of the plan's frames, of which the top frame is one.
        let slot = unsafe { self.frame.first_slot().byte_add(self.plan.sequential.condition.bytes()) };
        // SAFETY: the slot holds an initialized value, which does not change while the stack is borrowed.
        unsafe { slot.as_ref() }
    }

    /// Makes the top frame's results its arguments, for another run of its function. Returns whether all
    /// other values are as they were.
    #[inline(always)]
    fn carry(&mut self) -> bool {
        let plan = &self.plan.sequential;
        if self.frame.owns() || !plan.carries_all {
            self.carry_owned();
            return false;
        }
        let slots = self.frame.first_slot();
        for &carry in &plan.carries {
            // Values that own nothing are copied in both cases.
            if let Carry::Copy(from, to) | Carry::Take(from, to) = carry {
                // SAFETY: `to` is a slot of the plan's frames, of which the top frame is one.
                let to = unsafe { slots.byte_add(to.bytes()) };
                // SAFETY: `from` is a slot of the plan's frames, of which the top frame is one.
                let from = unsafe { slots.byte_add(from.bytes()) };
                // SAFETY: the slot holds an initialized value. It is not the slot that is written while this
                // borrow lasts.
                let from = unsafe { from.as_ref() };
                // SAFETY: `to` is a slot of the top frame and so valid for writing. Its value owns nothing,
                // because the frame owns nothing.
                if !unsafe { from.copy_plain_to(to) } {
                    self.carry_owned();
                    return false;
                }
            } else if let Carry::Swap(a, b) = carry {
                self.frame.slots_mut().swap(a.index(), b.index());
            }
        }
        true
    }

    /// [`Stack::carry`] for frames in which a value is to be dropped or is missing.
    #[cold]
    #[inline(never)]
    fn carry_owned(&mut self) {
        let plan = self.plan;
        let slots = self.frame.slots_mut();
        for &carry in &plan.sequential.carries {
            let (value, to) = match carry {
                Carry::Copy(from, to) => (slots[from.index()].clone(), to),
                Carry::Take(from, to) => (take(&mut slots[from.index()]), to),
                Carry::Swap(a, b) => {
                    slots.swap(a.index(), b.index());
                    continue;
                }
            };
            slots[to.index()] = value_or_error(value);
        }
        let n_args = plan.n_args as usize;
        drop_values(&mut slots[n_args.min(plan.results.len())..]);
        let owns = slots[..n_args].iter().any(|value| !value.is_plain());
        self.set_frame(plan, self.frame.first_slot(), owns);
    }

    /// Pops the top frame and writes its results as those of the calling step. Returns the step after that
    /// one.
    #[inline(always)]
    fn return_to_caller(&mut self) -> Option<&'x Step> {
        // Without a caller the outermost frame has ended, which is what `stop` says.
        let below = self.callers.pop()?;
        let from = self.frame.first_slot();
        // SAFETY: a step's results are slots of its plan's frames, of which the caller's frame is one.
        let to = unsafe { below.slots.byte_add(below.step.first_result.bytes()) };
        let returns = self.plan.sequential.returns.get(..usize::from(below.step.n_results));
        // SAFETY: moves name slots of the plan's frames, of which the top frame is one. `to` is followed by
        // `n_results` slots, and there are as many moves.
        let is_passed = returns.is_some_and(|returns| unsafe { copy_all(returns, from, to) });
        let owns = !is_passed && self.move_results(usize::from(below.step.n_results), to);
        Some(self.pop_frame(below, owns))
    }

    /// Moves the first `n` of the top frame's results, in any state, to the slots at `to` in the frame below.
    /// Returns whether one owns something.
    #[cold]
    #[inline(never)]
    fn move_results(&mut self, n: usize, to: NonNull<Value>) -> bool {
        let (mut owns, mut i) = (false, 0);
        self.take_results(n, |value| {
            owns |= !value.is_plain();
            // SAFETY: the step's results are slots of the frame below, so this one is within the values.
            let to = unsafe { to.add(i) };
            // SAFETY: `to` is within the values and so valid for writing. The value there owns nothing,
            // because a result register that was not written in this iteration owns nothing
            // (`program::plan::sequential`).
            unsafe { to.write(value) };
            i += 1;
        });
        owns
    }

    /// Pops the top frame. Returns the step after the one that called. `owns` tells whether the call's
    /// results own something.
    #[inline(always)]
    fn pop_frame(&mut self, below: CallerFrame<'x>, owns: bool) -> &'x Step {
        if self.frame.owns() {
            drop_values(self.frame.slots_mut());
        }
        let CallerFrame { plan, step, slots, trips, owns: owned } = below;
        self.trips = trips;
        self.set_frame(plan, slots, owned | owns);
        step_after(step)
    }

    /// Pops the top frame, whose results are all `substitute`. Returns `substitute` if it is the only frame.
    pub(super) fn return_substitute(&mut self, substitute: Value) -> Option<Value> {
        let Some(below) = self.callers.pop() else { return Some(substitute) };
        self.next = self.pop_frame(below, false);
        // SAFETY: the step belongs to the plan whose frame is the top one again.
        unsafe { self.frame.select(below.step) };
        self.fill_missing_results(&substitute);
        None
    }

    /// Makes the next step the current one, and returns it.
    pub(super) fn select_next(&mut self) -> &'x Step {
        // SAFETY: by the stack invariant, the step belongs to the plan whose frame this is.
        unsafe { self.frame.select(self.next) };
        self.next
    }

    /// Continues after the current step.
    pub(super) fn step_over(&mut self) {
        let step = self.frame.step();
        self.next = if step.kind == StepKind::End { step } else { step_after(step) };
    }

    /// Moves the first `n` of the top frame's results to the end of a list. The frame is of no use
    /// afterwards.
    #[inline]
    pub(super) fn append_results(&mut self, n: usize, to: &mut Vec<Value>) {
        let returns = self.plan.sequential.returns.get(..n);
        to.reserve(n);
        let end = to.spare_capacity_mut().as_mut_ptr();
        // SAFETY: the pointer of a `Vec` is not null.
        let end = unsafe { NonNull::new_unchecked(end) }.cast::<Value>();
        // SAFETY: moves name slots of the plan's frames, of which the top frame is one. The list has room for
        // `n` values, and `returns` has `n` moves.
        if returns.is_some_and(|returns| unsafe { copy_all(returns, self.frame.first_slot(), end) }) {
            // SAFETY: `copy_all` has written all of the `n` values.
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
            let value = plan.sequential.returns.get(i).map_or(Value::Empty, |result| {
                let slot = &mut slots[result.from.index()];
                if result.takes { take(slot) } else { slot.clone() }
            });
            give(value_or_error(value));
        }
    }
}

/// The value that replaces the results of a loop whose condition is no boolean.
#[cold]
fn substitute_for_condition(condition: &Value) -> Value {
    match condition {
        value @ (Value::Error(_) | Value::Dead) => value.clone(),
        _ => Value::Error(operand_error().into()),
    }
}

/// Copies values to the slots at `to`, as long as they are concrete and own nothing. Returns whether all are.
///
/// # Safety
/// The moves must name slots of a frame that begins at `from`. As many slots at `to` must be valid for
/// writing, and must not overlap that frame.
#[inline(always)]
unsafe fn copy_all(moves: &[Move], from: NonNull<Value>, to: NonNull<Value>) -> bool {
    moves.iter().enumerate().all(|(i, a_move)| {
        // SAFETY: by the caller's contract, this is a slot of the frame.
        let value = unsafe { from.byte_add(a_move.from.bytes()) };
        // SAFETY: a slot of a frame holds an initialized value, which nothing else changes during the call.
        let value = unsafe { value.as_ref() };
        // SAFETY: by the caller's contract, there are as many slots at `to` as moves.
        let to = unsafe { to.add(i) };
        // SAFETY: by the caller's contract, `to` is valid for writing.
        unsafe { value.copy_concrete_to(to) }
    })
}

/// First step of a sequential plan.
#[inline(always)]
fn first_step(plan: &FunctionPlan) -> &Step {
    // SAFETY: there is at least one step (`SequentialPlan::steps`).
    unsafe { plan.sequential.steps.get_unchecked(0) }
}

/// First step of another iteration, if the values of the last one are still there.
#[inline(always)]
fn step_again(end: &Step) -> &Step {
    debug_assert!(end.kind == StepKind::End);
    // SAFETY: the plan of the end has `n_again` steps before it (`sequential_plan`).
    let first = unsafe { std::ptr::from_ref(end).sub(end.n_again()) };
    // SAFETY: as above, the step exists. It lives as long as the plan, and so as long as `end`.
    unsafe { &*first }
}

/// The list's capacity, as a list for other lifetimes. The items are dropped.
#[inline]
fn recycled<'to>(mut callers: Vec<CallerFrame<'_>>) -> Vec<CallerFrame<'to>> {
    callers.clear();
    let mut callers = ManuallyDrop::new(callers);
    // SAFETY: these are the parts of the list. Types that differ only in lifetimes have the same layout, and
    // the list is empty, so that no item outlives its lifetime.
    unsafe { Vec::from_raw_parts(callers.as_mut_ptr().cast(), 0, callers.capacity()) }
}

/// The step after one that is not an end.
#[inline(always)]
fn step_after(step: &Step) -> &Step {
    debug_assert!(step.kind != StepKind::End);
    // SAFETY: the last step is an end, and `step` is none, so there is a step after it.
    let next = unsafe { std::ptr::from_ref(step).add(1) };
    // SAFETY: as above, the step exists. It lives as long as the plan, and so as long as `step`.
    unsafe { &*next }
}

/// A result, or the error of a missing result.
fn value_or_error(value: Value) -> Value {
    match value {
        Value::Empty => Value::Error(operand_error().into()),
        value => value,
    }
}

/// Sets values to `Empty`.
#[cold]
#[inline(never)]
fn drop_values(values: &mut [Value]) {
    values.iter_mut().for_each(Value::clear);
}
