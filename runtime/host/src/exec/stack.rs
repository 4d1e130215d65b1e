//! The registers of a line's active frames, one above the other, and the loop that runs steps on the top one.
//!
//! ```text
//! values:  | frame | frame | ... | top frame |
//!                                ^ base      ^ base + slots of its plan = length
//! ```
//!
//! The invariant, between any two methods: the top frame's slots are the last of `values`, as many as its plan has; `frame` points to them;
//! `frame` and `next` are of that plan. Whatever changes one of these changes all. A kernel may panic: then it still holds,
//! as kernels change nothing but slots.

#![allow(unsafe_code, reason = "slots are found by the numbers in a plan; the essay is the proof")]

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::resolved;
use crate::context::ExecContext;
use crate::kernel::{KernelFrame, Outcome, Request};
use crate::program::{FunctionPlan, Program, Step, StepKind};
use crate::value::Value;

/// Why [`Stack::run`] returned.
pub(super) enum Stop {
    /// There are no more steps.
    End,
    /// Kernels may not simply be run.
    Careful,
    /// The step that was run is not done.
    Outcome(Outcome),
}

/// A frame that waits for the one above it.
#[derive(Clone, Copy)]
pub(super) struct Below<'x> {
    plan: &'x FunctionPlan,
    /// The step that called.
    pub(super) step: &'x Step,
    /// Where its slots start.
    base: usize,
}

impl Below<'_> {
    pub(super) fn function(&self) -> u32 {
        self.plan.index
    }
}

/// See the module's essay.
pub(super) struct Stack<'x> {
    values: Vec<Value>,
    base: usize,
    frame: KernelFrame<'x>,
    /// The step that comes next.
    next: &'x Step,
    /// What goes from one iteration to the next, on its way; empty between.
    carried: Vec<Value>,
}

impl<'x> Stack<'x> {
    /// A stack whose only frame is that of `plan`, which has a line, with `arguments`. `values` is an empty list with room.
    pub(super) fn new(
        plan: &'x FunctionPlan,
        mut values: Vec<Value>,
        arguments: impl Iterator<Item = Value>,
        program: &'x Arc<Program>,
        context: &'x ExecContext,
    ) -> Stack<'x> {
        values.clear();
        values.extend(arguments.take(plan.n_args as usize).map(resolved));
        let mut frame = KernelFrame::of_line(plan, program, context);
        values.iter().for_each(|value| frame.note(value));
        let mut stack = Stack { values, base: 0, frame, next: plan.first_step(), carried: Vec::new() };
        stack.fill_up(plan.n_slots());
        stack.point(plan, 0);
        stack
    }

    /// Closes the only frame that is left: the list of values, empty, for the next stack.
    pub(super) fn into_values(mut self) -> Vec<Value> {
        self.close();
        self.values
    }

    /// How many slots there are in all.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    #[inline]
    pub(super) fn frame(&self) -> &KernelFrame<'x> {
        &self.frame
    }

    /// What the kernel that ran has asked for.
    #[inline]
    pub(super) fn take_request(&mut self) -> Request {
        self.frame.take_request()
    }

    /// The top frame's slots.
    pub(super) fn slots(&self) -> &[Value] {
        self.frame.slots()
    }

    /// Sets all results of the current step that are not stored.
    pub(super) fn fill(&mut self, value: &Value) {
        for i in 0..self.frame.n_results() {
            if self.frame.result(i).is_none() {
                self.frame.set_result(i, value.clone());
            }
        }
    }

    /// Adds slots up to a length of `want`: registers without a value, and the slot behind them.
    #[inline]
    fn fill_up(&mut self, want: usize) {
        let missing = want - self.values.len();
        self.values.reserve(missing);
        let slots = &mut self.values.spare_capacity_mut()[..missing];
        slots.iter_mut().for_each(|slot| _ = slot.write(Value::Empty));
        if let Some(last) = slots.last_mut() {
            last.write(Value::Chain);
        }
        // SAFETY: all values up to `want` have been written.
        unsafe { self.values.set_len(want) };
    }

    /// Makes the topmost slots, from `base` on, those of the top frame.
    #[inline]
    fn point(&mut self, plan: &'x FunctionPlan, base: usize) {
        assert!(base + plan.n_slots() == self.values.len(), "a frame of another size");
        self.base = base;
        let slots = NonNull::from(&mut self.values[base..]).cast();
        // SAFETY: while kernels run, only `frame` accesses values; whoever changes them, or their place, calls this again.
        unsafe { self.frame.enter(plan, slots) };
    }

    /// Runs steps until one needs the executor, or there are no more. `attention`: a request has been cancelled, or counts its kernels.
    #[inline(never)]
    pub(super) fn run(&mut self, attention: &AtomicBool) -> Stop {
        let mut step = self.next;
        let frame = &mut self.frame;
        loop {
            // Relaxed: a hint to look; who acts on it acquires what it finds.
            if attention.load(Ordering::Relaxed) && step.kind != StepKind::End {
                self.next = step;
                return Stop::Careful;
            }
            // SAFETY: the step is one of the plan whose frame this is: the invariant.
            match unsafe { frame.run(step) } {
                Outcome::Done => {
                    // SAFETY: a line ends with a step that is never done (`StepKind::End`), so there is one behind this.
                    let next = unsafe { std::ptr::from_ref(step).add(1) };
                    // SAFETY: as above; it lives as long as the plan.
                    step = unsafe { &*next };
                }
                Outcome::Request if step.kind == StepKind::End => return Stop::End,
                outcome => {
                    self.next = behind(step);
                    return Stop::Outcome(outcome);
                }
            }
        }
    }

    /// The step that comes next, which then counts as run.
    pub(super) fn take_step(&mut self) -> &'x Step {
        let step = self.next;
        self.next = behind(step);
        // SAFETY: the step is one of the plan whose frame this is: the invariant.
        unsafe { self.frame.select(step) };
        step
    }

    /// Runs the step that was taken.
    pub(super) fn run_step(&mut self) -> Outcome {
        let step = self.frame.step();
        // SAFETY: as in `take_step`, which selected it; one that ends an empty line does nothing on any frame.
        unsafe { self.frame.run(step) }
    }

    /// After a panic: goes on behind the step that panicked.
    pub(super) fn step_over(&mut self) {
        self.next = behind(self.frame.step());
    }

    /// Opens a frame above the top one. Its arguments are the values in `operands`; what stands in `given` is given away.
    #[inline]
    pub(super) fn push(&mut self, plan: &'x FunctionPlan, operands: &[u32], given: &[u32]) -> Below<'x> {
        let below = Below { plan: self.frame.plan(), step: self.frame.step(), base: self.base };
        let top = self.values.len();
        let operands = &operands[..operands.len().min(plan.n_args as usize)];
        if self.values.capacity() - top < plan.n_slots() {
            self.grow(plan.n_slots());
        }
        let mut owns = false;
        let slots = self.frame.slots();
        for (&slot, argument) in operands.iter().zip(self.values.spare_capacity_mut()) {
            let value = &slots[slot as usize];
            owns |= !value.is_plain();
            // SAFETY: spare room can be written.
            unsafe { value.copy_to(NonNull::from(argument).cast()) };
        }
        // SAFETY: there was room for all slots of the plan, of which arguments are the first; so many have been written.
        unsafe { self.values.set_len(top + operands.len()) };
        for &slot in given {
            self.frame.slots_mut()[slot as usize].clear();
        }
        self.frame.note_owned(owns);
        self.fill_up(top + plan.n_slots());
        self.point(plan, top);
        self.next = plan.first_step();
        below
    }

    /// Makes room for `n` more values.
    #[cold]
    fn grow(&mut self, n: usize) {
        self.values.reserve(n);
        self.point(self.frame.plan(), self.base);
    }

    /// Closes the top frame and goes back to the one below. Its step that called gets the results, if it `takes` them.
    #[inline]
    pub(super) fn pop(&mut self, Below { plan, step, base }: Below<'x>, takes: bool) {
        let callee = self.frame.plan();
        if takes {
            let (below, slots) = self.values.split_at_mut(self.base);
            let first = base + step.first_result.index();
            let results = &mut below[first..first + usize::from(step.n_results)];
            for (i, result) in results.iter_mut().enumerate() {
                move_result(callee, slots, i, result);
                if !result.is_plain() {
                    self.frame.note_owned(true);
                }
            }
        }
        self.close();
        self.point(plan, base);
        // SAFETY: the step is one of the plan whose frame this is again.
        unsafe { self.frame.select(step) };
        self.next = behind(step);
    }

    /// The last result of the top frame.
    #[inline]
    pub(super) fn condition(&self) -> &Value {
        let register = self.frame.plan().results.last();
        register.and_then(|&register| self.slots().get(register as usize)).unwrap_or(&Value::Empty)
    }

    /// Makes the top frame's results its arguments, for another run of its function.
    #[inline]
    pub(super) fn again(&mut self) {
        let plan = self.frame.plan();
        let n_args = (plan.n_args as usize).min(plan.results.len());
        let slots = &mut self.frame.slots_mut()[..plan.n_registers as usize];
        if plan.carries_directly {
            for (i, &register) in plan.results[..n_args].iter().enumerate() {
                if register as usize != i {
                    let (arguments, rest) = slots.split_at_mut(n_args);
                    move_out(plan, &mut rest[register as usize - n_args], &mut arguments[i]);
                }
            }
            slots[n_args..].iter_mut().for_each(Value::clear);
        } else {
            self.carried.extend((0..n_args).map(|i| take_result(plan, slots, i)));
            let next = self.carried.drain(..).chain(std::iter::repeat(Value::Empty));
            slots.iter_mut().zip(next).for_each(|(slot, value)| *slot = value);
        }
        self.next = plan.first_step();
    }

    /// Drops the top frame's slots.
    #[inline]
    fn close(&mut self) {
        if self.frame.owns() {
            return self.values.truncate(self.base);
        }
        // SAFETY: less than the length; what is cut off are plain values, which need no drop.
        unsafe { self.values.set_len(self.base) };
    }

    /// Moves the first `n` of the top frame's results out. The frame is of no use afterwards.
    pub(super) fn take_results(&mut self, n: usize, mut give: impl FnMut(Value)) {
        let plan = self.frame.plan();
        for i in 0..n.min(plan.results.len()) {
            give(take_result(plan, self.frame.slots_mut(), i));
        }
    }
}

/// The step behind `step`; itself, if it is the last.
fn behind(step: &Step) -> &Step {
    if step.kind == StepKind::End {
        return step;
    }
    // SAFETY: only the last step of a line is an end, so there is one behind this.
    let next = unsafe { std::ptr::from_ref(step).add(1) };
    // SAFETY: as above; it lives as long as the line, and so as `step`.
    unsafe { &*next }
}

/// Moves result `i` out of a frame that has ended.
fn take_result(plan: &FunctionPlan, slots: &mut [Value], i: usize) -> Value {
    let mut value = Value::Empty;
    move_result(plan, slots, i, &mut value);
    value
}

/// Moves result `i` of a frame that has ended to `to`.
#[inline]
fn move_result(plan: &FunctionPlan, slots: &mut [Value], i: usize, to: &mut Value) {
    match plan.results.get(i).and_then(|&register| slots.get_mut(register as usize)) {
        Some(slot) => move_out(plan, slot, to),
        None => *to = missing(),
    }
}

/// Moves a result of a frame that has ended to `to`.
#[inline]
fn move_out(plan: &FunctionPlan, slot: &mut Value, to: &mut Value) {
    if matches!(slot, Value::Empty) {
        *to = missing();
        return;
    }
    to.clear();
    let to = NonNull::from(to);
    if plan.repeats_results {
        // SAFETY: a reference can be written, and nothing is there.
        unsafe { slot.copy_to(to) };
    } else {
        // SAFETY: as above.
        unsafe { slot.move_to(to) };
    }
}

#[cold]
fn missing() -> Value {
    Value::Error(super::operand_error().into())
}
