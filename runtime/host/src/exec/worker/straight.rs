//! Running straight lines: kernels one after the other, on slots in `scratch`, without counters, stacks or
//! registers.
//!
//! What enters has been gathered; whether it is concrete is found out kernel by kernel, as in a line of a
//! function. After each kernel those outside are told that use a result of it, and those of other streams
//! handed out, before the next one runs. If a kernel panics, the loop is entered again where it was left.

use std::mem::ManuallyDrop;
use std::sync::atomic::Ordering;

use super::super::frame::{Ready, StraightRun};
use super::super::operands::{blocking, operand_error};
use super::{Agenda, Sink, Worker};
use crate::program::{Member, Out};
use befrost_kernel_api::error::KernelError;
use befrost_kernel_api::kernel::{KernelFrame, Outcome};
use befrost_kernel_api::value::Value;

impl Worker {
    /// Runs a straight line, whose first kernel is ready, in the top visit.
    #[inline(never)]
    pub(super) fn straight(&mut self, ready: Ready) {
        let Some((n_entering, n_slots)) = ready.line().map(|line| (line.n_entering, line.n_slots)) else {
            return;
        };
        if self.scratch.len() < n_slots {
            self.grow(n_slots);
        }
        // What is not concrete is looked at by the kernels that take it.
        let running = ready.gather(&mut self.scratch, &mut None);
        self.scratch[n_entering..n_slots].iter_mut().for_each(|slot| slot.overwrite(Value::Empty));
        if std::mem::take(&mut self.owes) > 0 {
            running.frame().execution.context.queue().hand_over();
        }
        self.straight = running.straight();
        self.go_straight_on();
    }

    /// Goes on with the straight line that was begun, if there is one.
    pub(super) fn go_straight_on(&mut self) {
        let Worker { agenda, scratch, straight, panicked, .. } = self;
        let Some(run) = &*straight else { return };
        let n_slots = run.n_slots();
        let frame = run.frame();
        let around = frame.execution.around();
        let lists = &*frame.general().member_lists;
        let attention = around.context.request.cancellation.attention();
        let mut slots = KernelFrame::of_straight(&mut scratch[..n_slots], &frame.plan().table, around, run);
        let mut panicked = panicked.take();
        while let Some(member) = run.member() {
            slots.select_straight(&member.step, lists);
            // Relaxed: a hint to look.
            let outcome = if panicked.is_some() || attention.load(Ordering::Relaxed) || member.is_checked {
                let outcome = before(run, &mut slots, member.operands(lists), panicked.take());
                outcome.unwrap_or_else(|| (member.step.step().run)(&mut slots))
            } else {
                (member.step.step().run)(&mut slots)
            };
            // What owns nothing is not dropped: the compiler is not asked to see that it need not be.
            let outcome = ManuallyDrop::new(outcome);
            if matches!(*outcome, Outcome::Done) && member.is_simple {
                run.skip();
                continue;
            }
            let outcome = ManuallyDrop::into_inner(outcome);
            if (!matches!(outcome, Outcome::Done) || !member.stores_all) && slots.misses_results() {
                let missing = missing(run, outcome, || blocked(&slots, member.operands(lists)));
                slots.fill_results(&missing);
            }
            // The operands go before anybody learns that the kernel is done with them.
            member.frees(lists).iter().for_each(|&slot| slots.free(slot));
            if member.is_used_outside() {
                agenda.publish_next(run, given(member, lists, &mut slots));
            } else {
                run.skip();
            }
            if !member.is_last {
                agenda.hand_out(around.context.queue());
            }
        }
        let Some(run) = self.straight.take() else { return };
        self.scratch[..n_slots].iter_mut().for_each(Value::release);
        self.agenda.tell(|_| Some(run.finish()));
    }
}

impl Agenda {
    /// Gives the next kernel of a straight line in the top visit its results.
    fn publish_next(&mut self, run: &StraightRun, results: impl Iterator<Item = Value>) {
        let Agenda { visits, inline, outline, late } = self;
        let Some(visit) = visits.last() else { return };
        run.publish(results, &mut Sink { stream: visit.stream, inline, outline }, late);
        debug_assert!(late.is_empty(), "a result of a straight line that is not final");
    }
}

/// What becomes of the next kernel without being run, if it must not be run.
#[cold]
fn before(
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

/// What the results of a kernel with these operands are, if one is not concrete.
fn blocked(slots: &KernelFrame<'_>, operands: &[u32]) -> Option<Value> {
    blocking(operands.iter().map(|&slot| &slots.slots()[slot as usize]))
}

/// What those results of the next kernel are that it has not stored.
#[cold]
fn missing(run: &StraightRun, outcome: Outcome, blocking: impl FnOnce() -> Option<Value>) -> Value {
    let located = |error| Value::Error(run.located(&error));
    match outcome {
        Outcome::Operand => blocking().unwrap_or_else(|| located(operand_error())),
        Outcome::Error(error) => located(error),
        // It is declared synchronous.
        Outcome::Done | Outcome::Request | Outcome::Later(_) => located(operand_error()),
    }
}

/// A kernel's results, as far as they are used outside.
fn given<'s>(
    member: &Member,
    lists: &'s [u32],
    slots: &'s mut KernelFrame<'_>,
) -> impl Iterator<Item = Value> {
    member.outs(lists).enumerate().map(|(i, out)| {
        let value = match out {
            Out::Not => return Value::Empty,
            Out::Copy => slots.result(i).cloned(),
            Out::Move => slots.take_result(i),
        };
        match value.map(Value::resolved) {
            None | Some(Value::Async(_)) => Value::Error(operand_error().into()),
            Some(value) => value,
        }
    })
}
