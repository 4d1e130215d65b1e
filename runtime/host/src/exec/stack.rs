//! The registers of a line's active frames, one above the other, and the loop that runs steps on the top one.
//!
//! ```text
//! values:  | frame | frame | ... | top frame |
//!                                ^ base      ^ base + slots of its plan = length
//! ```
//!
//! The invariant, between any two methods: the top frame's slots are the last of `values`, as many as its plan has; `frame` points to them;
//! `frame` and `steps` are of that plan. Whatever changes one of these changes all ([`Stack::enter`]). A kernel may panic: then it
//! still holds, as kernels change nothing but slots.

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

/// See the module's essay.
pub(super) struct Stack<'x> {
    values: Vec<Value>,
    base: usize,
    frame: KernelFrame<'x>,
    steps: &'x [Step],
    /// The step that comes next.
    next: usize,
    /// What goes from one iteration to the next, on its way; empty between.
    carried: Vec<Value>,
}

impl<'x> Stack<'x> {
    /// A stack whose only frame is that of `plan`, which has a line, with `arguments`. `values` is an empty list with room.
    pub(super) fn new(
        (function, plan): (u32, &'x FunctionPlan),
        mut values: Vec<Value>,
        arguments: impl Iterator<Item = Value>,
        program: &'x Arc<Program>,
        context: &'x ExecContext,
    ) -> Stack<'x> {
        values.clear();
        values.extend(arguments.take(plan.n_args as usize).map(resolved));
        let mut frame = KernelFrame::of_line(plan, program, context);
        values.iter().for_each(|value| frame.note(value));
        let mut stack = Stack { values, base: 0, frame, steps: &[], next: 0, carried: Vec::new() };
        stack.fill_up(0, plan);
        stack.enter(function, plan, 0, 0);
        stack
    }

    /// Closes the only frame that is left: the list of values, empty, for the next stack.
    pub(super) fn into_values(mut self) -> Vec<Value> {
        self.close();
        self.values
    }

    /// How many slots there are in all.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    pub(super) fn base(&self) -> usize {
        self.base
    }

    /// The step that comes next.
    pub(super) fn next(&self) -> usize {
        self.next
    }

    pub(super) fn plan(&self) -> &'x FunctionPlan {
        self.frame.plan()
    }

    pub(super) fn frame(&self) -> &KernelFrame<'x> {
        &self.frame
    }

    /// What the kernel that ran has asked for.
    pub(super) fn take_request(&mut self) -> Option<Request> {
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

    /// Completes the frame whose arguments lie above `base`.
    #[inline]
    fn fill_up(&mut self, base: usize, plan: &FunctionPlan) {
        let want = base + plan.n_slots();
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

    /// Makes the topmost slots, from `base` on, those of the top frame, at step `next`.
    #[inline]
    fn enter(&mut self, function: u32, plan: &'x FunctionPlan, base: usize, next: usize) {
        assert!(base + plan.n_slots() == self.values.len(), "a frame of another size");
        self.base = base;
        self.steps = plan.line.as_deref().unwrap_or_default();
        self.next = next;
        let slots = NonNull::from(&mut self.values[base..]).cast();
        // SAFETY: while kernels run, only `frame` accesses values; whoever changes them, or their place, calls this again.
        unsafe { self.frame.enter(function, plan, slots) };
    }

    /// Runs steps until one needs the executor, or there are no more. `attention`: a request has been cancelled, or counts its kernels.
    #[inline(never)]
    pub(super) fn run(&mut self, attention: &AtomicBool) -> Stop {
        let Some(mut step) = self.steps.get(self.next) else { return Stop::End };
        let frame = &mut self.frame;
        loop {
            // Relaxed: a hint to look; who acts on it acquires what it finds.
            if attention.load(Ordering::Relaxed) {
                self.next = position(self.steps, step);
                return if step.kind == StepKind::End { Stop::End } else { Stop::Careful };
            }
            // SAFETY: the step is one of the plan whose frame this is: the invariant.
            match unsafe { frame.run(step) } {
                Outcome::Done => {
                    // SAFETY: a line ends with a step that is never done (`StepKind::End`), so there is one behind this.
                    let next = unsafe { std::ptr::from_ref(step).add(1) };
                    // SAFETY: as above; it lives as long as all of `steps`.
                    step = unsafe { &*next };
                }
                _ if step.kind == StepKind::End => return Stop::End,
                outcome => {
                    self.next = position(self.steps, step) + 1;
                    return Stop::Outcome(outcome);
                }
            }
        }
    }

    /// The step that comes next, which then counts as run.
    pub(super) fn take_step(&mut self) -> Option<&'x Step> {
        let step = self.steps.get(self.next)?;
        self.next += 1;
        // SAFETY: the step is one of the plan whose frame this is: the invariant.
        unsafe { self.frame.select(step) };
        Some(step)
    }

    /// Makes the step that was run last the current one again.
    pub(super) fn step_back(&mut self) {
        self.next = self.next.saturating_sub(1);
        self.take_step();
    }

    /// Runs the step that was taken, again for all that this knows.
    pub(super) fn run_step(&mut self) -> Outcome {
        let step = self.frame.step();
        // SAFETY: as in `take_step`; and [`Step::NONE`], which does nothing, can be run on any frame.
        unsafe { self.frame.run(step) }
    }

    /// After a panic: goes on behind the step that panicked.
    pub(super) fn step_over(&mut self) {
        self.next = position(self.steps, self.frame.step()) + 1;
    }

    /// Opens a frame above the top one. Its arguments are the values in `operands`; what stands in `given` is given away.
    #[inline]
    pub(super) fn push(
        &mut self,
        (function, plan): (u32, &'x FunctionPlan),
        operands: &[u32],
        given: &[u32],
    ) {
        let top = self.values.len();
        self.values.reserve(plan.n_slots());
        for &slot in operands.iter().take(plan.n_args as usize) {
            let value = self.values[self.base + slot as usize].copied();
            self.frame.note(&value);
            self.values.push(value);
        }
        for &slot in given {
            self.values[self.base + slot as usize] = Value::Empty;
        }
        self.fill_up(top, plan);
        self.enter(function, plan, top, 0);
    }

    /// Closes the top frame and goes back to the one below, whose kernel called at the step before `next`. It gets the results, if it `takes` them.
    #[inline]
    pub(super) fn pop(
        &mut self,
        (function, plan): (u32, &'x FunctionPlan),
        base: usize,
        next: usize,
        takes: bool,
    ) {
        let callee = self.frame.plan();
        let (below, slots) = self.values.split_at_mut(self.base);
        if takes && let Some(step) = next.checked_sub(1).and_then(|at| plan.line.as_deref()?.get(at)) {
            let first = base + step.first_result.index();
            let results = below[first..first + usize::from(step.n_results)].iter_mut();
            for (result, &register) in results.zip(&callee.results) {
                *result = take_result(callee, slots, register);
                self.frame.note(result);
            }
        }
        self.close();
        self.enter(function, plan, base, next);
    }

    /// The last result of the top frame.
    pub(super) fn condition(&self) -> Value {
        let register = self.frame.plan().results.last();
        register.and_then(|&register| self.slots().get(register as usize)).cloned().unwrap_or_default()
    }

    /// Makes the top frame's results its arguments, for another run of its function.
    pub(super) fn again(&mut self) {
        let plan = self.frame.plan();
        let n_args = plan.n_args as usize;
        let carried = &plan.results[..n_args.min(plan.results.len())];
        if plan.carries_directly {
            let slots = self.frame.slots_mut();
            for (i, &register) in carried.iter().enumerate() {
                if register as usize != i {
                    slots[i] = take_result(plan, slots, register);
                }
            }
            slots[n_args..plan.n_registers as usize].iter_mut().for_each(|slot| *slot = Value::Empty);
        } else {
            let slots = self.frame.slots_mut();
            self.carried.extend(carried.iter().map(|&register| take_result(plan, slots, register)));
            let next = self.carried.drain(..).chain(std::iter::repeat(Value::Empty));
            slots[..plan.n_registers as usize].iter_mut().zip(next).for_each(|(slot, value)| *slot = value);
        }
        self.next = 0;
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
        for &register in plan.results.iter().take(n) {
            give(take_result(plan, self.frame.slots_mut(), register));
        }
    }
}

/// Which of `steps` is `step`; some number if none is.
fn position(steps: &[Step], step: &Step) -> usize {
    std::ptr::from_ref(step).addr().wrapping_sub(steps.as_ptr().addr()) / size_of::<Step>()
}

/// Moves a result out of a frame that has ended.
#[inline]
fn take_result(plan: &FunctionPlan, slots: &mut [Value], register: u32) -> Value {
    let slot = &mut slots[register as usize];
    match if slot.is_plain() || plan.repeats_results { slot.copied() } else { std::mem::take(slot) } {
        Value::Empty => Value::Error(super::operand_error().into()),
        value => value,
    }
}
