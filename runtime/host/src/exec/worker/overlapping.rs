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

use super::super::again::Again;
use super::super::frame::{Frame, Head, Then, Turn, TurnEnd};
use super::looping::{is_true, may_start};
use super::{For, Worker};
use befrost_kernel_api::value::Value;

impl Worker {
    /// Starts a loop of a kernel of the top visit.
    pub(super) fn begin_overlapping(&mut self, head: Box<Head>) {
        if let Some(head) = head.enter() {
            self.start_iteration(head);
        }
    }

    /// Goes on with a loop, whose head has been given a place.
    pub(super) fn go_on(&mut self, head: Box<Head>) {
        self.come_back(&head.running);
        match may_start(&head.running) {
            Ok(()) => self.start_iteration(head),
            Err(instead) => self.not_started(*head, instead),
        }
    }

    /// Starts an iteration, which has a place; the top visit is of the kernel's frame.
    fn start_iteration(&mut self, mut head: Box<Head>) {
        self.arguments.append(&mut head.values);
        let function = head.function();
        if self.run_line(&head.running, (function, Again::WHILE_TRUE.at(head.n_started))) {
            // And all that follow.
            let turn = head.turn();
            head.values.append(&mut self.results);
            self.end_loop(*head);
            return self.end_turn(turn);
        }
        if let Err(error) = self.take_registers(&head.running, function) {
            let error = Value::Error(head.running.located(&error));
            return self.not_started(*head, error);
        }
        let execution = head.running.frame().execution.clone();
        let caller = Some(head.running.caller(head.n_started));
        head.n_started += 1;
        let then = Then::Turns(head.turn());
        let started = Frame::start(execution, function, self.arguments.drain(..), caller, then);
        self.open(started, Some(For::Iteration(head)));
    }

    /// An iteration that has a place does not start: the results of the loop are all `instead`.
    fn not_started(&mut self, mut head: Head, instead: Value) {
        let turn = head.turn();
        head.set_results(&instead);
        self.end_loop(head);
        self.end_turn(turn);
    }

    /// The values of the head are the results of an iteration that has been started: starts the next one as
    /// soon as possible, or gives them to the kernel.
    pub(super) fn advance(&mut self, mut head: Box<Head>) {
        if let Some(Value::Async(condition)) = head.values.last()
            && condition.value().is_none()
        {
            let condition = condition.clone();
            return condition.and_then(move |_| Worker::on_thread(|worker| worker.advance(head)));
        }
        let condition = head.values.pop().map(Value::resolved);
        match is_true(&head.running, condition) {
            Ok(true) => {
                if let Some(head) = head.enter() {
                    self.go_on(head);
                }
                return;
            }
            Ok(false) => {}
            Err(instead) => head.set_results(&instead),
        }
        self.come_back(&head.running);
        self.end_loop(*head);
    }

    /// Gives the kernel, whose frame the top visit is of, the values of the head.
    fn end_loop(&mut self, mut head: Head) {
        let values = std::mem::take(&mut head.values);
        if let Some(completing) = head.end(|running| self.agenda.hand_back(running, values.into_iter())) {
            self.agenda.tell(|sink| Some(completing.complete(sink)));
        }
    }

    /// An iteration has ended after which there is none.
    fn end_turn(&mut self, turn: Turn) {
        match turn.end() {
            TurnEnd::Nothing => {}
            TurnEnd::Next(head) => self.go_on(head),
            TurnEnd::Last(completing) => self.complete(completing),
        }
    }
}
