//! Loops whose iterations overlap.
//!
//! ```text
//! start ─▶ first visit of the iteration's frame ─▶ condition known? ─yes─▶ place free? ─yes─▶ start the next one on results in any state
//!                                                      └no─▶ wait for it       └no─▶ wait until an iteration has ended
//! ```
//!
//! On one thread, an iteration does what it can before the next one starts, as if it were the only one. The
//! loop's results are those of the last iteration, in whatever state; the kernel is complete when all
//! iterations have ended.

use super::super::frame::{Continuation, Frame, InFlight, InFlightEnd, LoopHead};
use super::super::trip_count::TripCount;
use super::looping::{is_true, may_start};
use super::{ResultConsumer, Worker};
use crate::value::Value;

impl Worker {
    /// Starts a loop of a kernel of the top visit.
    pub(super) fn begin_overlapping(&mut self, head: Box<LoopHead>) {
        if let Some(head) = head.acquire() {
            self.start_iteration(head);
        }
    }

    /// Goes on with a loop, whose head has been given a place.
    pub(super) fn resume_loop(&mut self, head: Box<LoopHead>) {
        self.return_to(&head.running);
        match may_start(&head.running) {
            Ok(()) => self.start_iteration(head),
            Err(substitute) => self.abort_loop(*head, substitute),
        }
    }

    /// Starts an iteration, which has a place; the top visit is of the kernel's frame.
    fn start_iteration(&mut self, mut head: Box<LoopHead>) {
        self.arguments.append(&mut head.values);
        let function = head.function();
        if self.run_sequentially(&head.running, (function, TripCount::WHILE_TRUE.at(head.n_started))) {
            // And all that follow.
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

    /// An iteration that has a place does not start: the results of the loop are all `instead`.
    fn abort_loop(&mut self, mut head: LoopHead, substitute: Value) {
        let in_flight = head.in_flight();
        head.set_results(&substitute);
        self.end_loop(head);
        self.end_in_flight(in_flight);
    }

    /// The values of the head are the results of an iteration that has been started: starts the next one as
    /// soon as possible, or gives them to the kernel.
    pub(super) fn advance(&mut self, mut head: Box<LoopHead>) {
        if let Some(Value::Async(condition)) = head.values.last()
            && condition.value().is_none()
        {
            let condition = condition.clone();
            return condition.and_then(move |_| Worker::on_thread(|worker| worker.advance(head)));
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

    /// Gives the kernel, whose frame the top visit is of, the values of the head.
    fn end_loop(&mut self, mut head: LoopHead) {
        let values = std::mem::take(&mut head.values);
        if let Some(completing) = head.end(|running| self.agenda.deliver(running, values.into_iter())) {
            self.agenda.with_sink(|sink| Some(completing.complete(sink)));
        }
    }

    /// An iteration has ended after which there is none.
    fn end_in_flight(&mut self, in_flight: InFlight) {
        match in_flight.end() {
            InFlightEnd::Nothing => {}
            InFlightEnd::Next(head) => self.resume_loop(head),
            InFlightEnd::Last(completing) => self.complete(completing),
        }
    }
}
