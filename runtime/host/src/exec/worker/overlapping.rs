//! Loops whose iterations overlap.
//!
//! ```text
//! start ─▶ first activation of the iteration's frame
//!       ─▶ condition known?   no: waits until it is final
//!       ─▶ permit free?       no: waits until an iteration has ended
//!       ─▶ starts the next iteration, on results in any state
//! ```
//!
//! On one thread, an iteration runs as far as it can before the next one starts, as if it were the only one.
//! The loop's results are those of the last iteration, in any state. The kernel completes when all iterations
//! have ended.

use super::super::frame::{Continuation, Frame, InFlight, InFlightEnd, LoopHead};
use super::super::trip_count::TripCount;
use super::looping::{is_true, may_start};
use super::{ResultConsumer, Worker};
use befrost_kernel_api::value::Value;

impl Worker {
    /// Starts the loop of a kernel of the top activation.
    pub(super) fn begin_overlapping(&mut self, head: Box<LoopHead>) {
        if let Some(head) = head.acquire() {
            self.start_iteration(head);
        }
    }

    /// Continues a loop whose head has got a permit.
    pub(super) fn resume_loop(&mut self, head: Box<LoopHead>) {
        self.return_to(&head.running);
        match may_start(&head.running) {
            Ok(()) => self.start_iteration(head),
            Err(substitute) => self.abort_loop(*head, substitute),
        }
    }

    /// Starts an iteration, which has a permit. The top activation has the kernel's frame.
    fn start_iteration(&mut self, mut head: Box<LoopHead>) {
        self.arguments.append(&mut head.values);
        let function = head.function();
        if self.run_sequentially(&head.running, (function, TripCount::WHILE_TRUE.at(head.n_started))) {
            // This ran all remaining iterations.
            let in_flight = head.in_flight();
            head.values.append(&mut self.results);
            self.end_loop(*head);
            return self.end_in_flight(in_flight);
        }
        if let Err(error) = self.reserve_registers(&head.running, function) {
            let error = Value::Error(head.running.located(&error));
            return self.abort_loop(*head, error);
        }
        let execution = head.running.frame().execution.clone();
        let caller = Some(head.running.caller(head.n_started));
        head.n_started += 1;
        let continuation = Continuation::EndInFlight(head.in_flight());
        let new_frame = Frame::start(execution, function, self.arguments.drain(..), caller, continuation);
        self.enter_frame(new_frame, Some(ResultConsumer::Iteration(head)));
    }

    /// Ends a loop whose head has a permit but cannot start an iteration: all results of the loop are
    /// `substitute`.
    fn abort_loop(&mut self, mut head: LoopHead, substitute: Value) {
        let in_flight = head.in_flight();
        head.set_results(&substitute);
        self.end_loop(head);
        self.end_in_flight(in_flight);
    }

    /// Starts the next iteration as soon as possible, or ends the loop. The head's values are the results of
    /// the last iteration that was started.
    pub(super) fn advance(&mut self, mut head: Box<LoopHead>) {
        if let Some(Value::Async(condition)) = head.values.last()
            && condition.value().is_none()
        {
            let (condition, queue) = (condition.clone(), head.running.frame().execution.anywhere);
            return condition.and_then(move |_| Worker::on_thread(queue, |worker| worker.advance(head)));
        }
        let condition = head.values.pop().map(Value::resolved);
        match is_true(&head.running, condition) {
            Ok(true) => {
                if let Some(head) = head.acquire() {
                    self.resume_loop(head);
                }
                return;
            }
            Ok(false) => {}
            Err(substitute) => head.set_results(&substitute),
        }
        self.return_to(&head.running);
        self.end_loop(*head);
    }

    /// Writes the head's values as the results of the kernel. The top activation has the kernel's frame.
    fn end_loop(&mut self, mut head: LoopHead) {
        let values = std::mem::take(&mut head.values);
        if let Some(completing) = head.end(|running| self.agenda.deliver(running, values.into_iter())) {
            self.agenda.with_sink(|sink| Some(completing.complete(sink)));
        }
    }

    /// Ends the last iteration of a loop, if it has no frame: it ran sequentially or did not start.
    fn end_in_flight(&mut self, in_flight: InFlight) {
        match in_flight.end() {
            InFlightEnd::Nothing => {}
            InFlightEnd::Next(head) => self.resume_loop(head),
            InFlightEnd::Last(completing) => self.complete(completing),
        }
    }
}
