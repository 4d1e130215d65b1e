//! Running straight lines: kernels one after the other, on slots in `scratch`, without counters, stacks or
//! registers.
//!
//! The inputs of the line have been read. Each kernel checks whether its operands are concrete, as in a
//! sequential plan. After each kernel, the users outside of the line are notified and those of other streams
//! are handed to the queue, before the next kernel runs. After a panic, the loop is entered again where it
//! stopped.

use std::mem::ManuallyDrop;
use std::sync::atomic::Ordering;

use super::super::frame::{Ready, StraightRun};
use super::super::operands::{blocked_value, operand_error};
use super::{Agenda, Sink, Worker};
use crate::program::{OutsideUse, StraightKernel};
use befrost_kernel_api::error::KernelError;
use befrost_kernel_api::kernel::{KernelFrame, Outcome};
use befrost_kernel_api::value::Value;

impl Worker {
    /// Runs a straight line, whose first kernel is ready, in the top activation.
    #[inline(never)]
    pub(super) fn run_straight_line(&mut self, ready: Ready) {
        let Some((n_inputs, n_slots)) = ready.straight_line().map(|line| (line.n_inputs, line.n_slots))
        else {
            return;
        };
        if self.scratch.len() < n_slots {
            self.grow_scratch(n_slots);
        }
        // Operands that are not concrete are handled by the kernels that use them.
        let running = ready.read_operands(&mut self.scratch, &mut None);
        self.scratch[n_inputs..n_slots].iter_mut().for_each(|slot| slot.overwrite(Value::Empty));
        if std::mem::take(&mut self.n_kept_tasks) > 0 {
            running.frame().execution.queue(self.queue).local().hand_over();
        }
        self.straight = running.into_straight_run();
        self.resume_straight_line();
    }

    /// Continues the current straight line, if there is one.
    pub(super) fn resume_straight_line(&mut self) {
        let Worker { agenda, scratch, straight, panicked, .. } = self;
        let Some(run) = &*straight else { return };
        let n_slots = run.n_slots();
        let frame = run.frame();
        let around = frame.execution.surroundings();
        let lists = &*frame.general().member_lists;
        let attention = around.context.request.cancellation.attention();
        let mut slots = KernelFrame::of_straight(&mut scratch[..n_slots], &frame.plan().table, around, run);
        let mut panicked = panicked.take();
        while let Some(member) = run.member() {
            slots.select_straight(&member.step, lists);
            // Relaxed: only a hint; `check_before` looks again.
            let outcome = if panicked.is_some() || attention.load(Ordering::Relaxed) || member.is_checked {
                let outcome = check_before(run, &mut slots, member.operands(lists), panicked.take());
                outcome.unwrap_or_else(|| (member.step.step().run)(&mut slots))
            } else {
                (member.step.step().run)(&mut slots)
            };
            // An outcome that owns nothing is not dropped. `ManuallyDrop` spares the compiler the proof.
            let outcome = ManuallyDrop::new(outcome);
            if matches!(*outcome, Outcome::Done) && member.is_simple {
                run.skip();
                continue;
            }
            let outcome = ManuallyDrop::into_inner(outcome);
            let may_miss = !matches!(outcome, Outcome::Done) || !member.stores_all;
            if matches!(outcome, Outcome::Error(_)) || may_miss && slots.misses_results() {
                let missing_results =
                    missing_results(run, outcome, || blocked(&slots, member.operands(lists)));
                slots.fill_results(&missing_results);
            }
            // The operands are dropped before any user learns that the kernel is done with them.
            member.frees(lists).iter().for_each(|&slot| slots.free(slot));
            if member.is_used_outside() {
                agenda.write_next_results(run, outside_values(member, lists, &mut slots));
            } else {
                run.skip();
            }
            if !member.is_last {
                agenda.enqueue_outline(&frame.execution);
            }
        }
        let Some(run) = self.straight.take() else { return };
        self.scratch[..n_slots].iter_mut().for_each(Value::release);
        self.agenda.with_sink(|_| Some(run.finish()));
    }
}

impl Agenda {
    /// Writes the results of the next kernel of a straight line in the top activation.
    fn write_next_results(&mut self, run: &StraightRun, results: impl Iterator<Item = Value>) {
        let Agenda { activations, inline, outline, unresolved } = self;
        let Some(activation) = activations.last() else { return };
        run.write_results(results, &mut Sink { stream: activation.stream, inline, outline }, unresolved);
        debug_assert!(unresolved.is_empty(), "a result of a straight line that is not final");
    }
}

/// Outcome of the next kernel if it must not run.
#[cold]
fn check_before(
    run: &StraightRun,
    slots: &mut KernelFrame<'_>,
    operands: &[u32],
    panicked: Option<KernelError>,
) -> Option<Outcome> {
    if let Some(error) = panicked {
        return Some(Outcome::Error(error));
    }
    let context = &run.frame().execution.context;
    context.request.cancellation.before_kernel();
    let blocked = blocked(slots, operands);
    if context.request.cancellation.is_cancelled() {
        slots.fill_results(
            &blocked.filter(|value| matches!(value, Value::Dead)).unwrap_or_else(|| context.cancelled()),
        );
        return Some(Outcome::Done);
    }
    blocked.map(|_| Outcome::Operand)
}

/// The value that replaces the results of a kernel with these operands, if one is not concrete.
fn blocked(slots: &KernelFrame<'_>, operands: &[u32]) -> Option<Value> {
    blocked_value(operands.iter().map(|&slot| &slots.slots()[slot as usize]))
}

/// Value of the results that the next kernel has not stored.
#[cold]
fn missing_results(
    run: &StraightRun,
    outcome: Outcome,
    blocked_value: impl FnOnce() -> Option<Value>,
) -> Value {
    let located = |error| Value::Error(run.located(&error));
    match outcome {
        Outcome::Operand => blocked_value().unwrap_or_else(|| located(operand_error())),
        Outcome::Error(error) => located(error),
        // The kernel is declared synchronous.
        Outcome::Done | Outcome::Request | Outcome::Later(_) => located(operand_error()),
    }
}

/// Results of a kernel that are used outside of the line.
fn outside_values<'s>(
    member: &StraightKernel,
    lists: &'s [u32],
    slots: &'s mut KernelFrame<'_>,
) -> impl Iterator<Item = Value> {
    member.outside_uses(lists).enumerate().map(|(i, out)| {
        let value = match out {
            OutsideUse::None => return Value::Empty,
            OutsideUse::Copy => slots.result(i).cloned(),
            OutsideUse::Move => slots.take_result(i),
        };
        match value.map(Value::resolved) {
            None | Some(Value::Async(_)) => Value::Error(operand_error().into()),
            Some(value) => value,
        }
    })
}
