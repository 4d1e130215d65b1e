//! Executing the general plan: what one thread does with the kernels that are ready.
//!
//! A worker has a stack of visits. A visit works on one frame and one stream: its ready kernels are a stack
//! (`inline`), those of other streams a list (`outline`). Before each kernel, the outline list is handed to
//! the queue, one task per stream; when the inline stack is empty, the worker adopts the first outline stream
//! instead, unless the next iteration of a loop waits for the visit's end: then the queue gets them all. A
//! kernel that calls pushes a visit of the callee's frame, which is drained before the caller goes on; then
//! the results are delivered, in whatever state they are: to the kernel, or, of a loop whose iterations
//! overlap, to the next iteration (`overlapping`). So the order on one thread is TFRT's, and the machine's
//! stack stays flat.
//!
//! The lists of all visits are two: each visit's part begins where it found the end. What a visit works on is
//! named by its tokens (`frame`), which keep the frame alive; one that has none left does nothing more but
//! report what it has finished.
//!
//! A kernel that begins a straight line stands for all of it: the others are never on a stack, as each would
//! be the next one anyway (`straight`).
//!
//! A result that is not final gets a waiter, which opens a visit on the thread that makes it final. What a
//! kernel leaves to be done later is a task, which does the same; but where the thread's next task would open
//! the visit again that is about to end, it is done there (`take_next`).

mod invoke;
mod looping;
mod overlapping;
mod straight;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::frame::{
    Completing, Done, End, Head, Later, Ready, Returns, Running, Sink, Started, StraightRun, TurnEnd,
};
use befrost_kernel_api::async_value::AsyncRef;
use befrost_kernel_api::error::KernelError;
use befrost_kernel_api::kernel::Job;
use befrost_kernel_api::queue::{Task, WorkQueue};
use befrost_kernel_api::value::Value;

use self::invoke::{Owed, may_go_on};
use self::looping::Iteration;

/// Work on one frame.
struct Visit {
    /// The frame's address, which says nothing of whether it is alive.
    frame: usize,
    stream: u32,
    /// Where its parts of the worker's lists begin.
    inline: usize,
    outline: usize,
    /// What the frame has not been told of.
    done: Option<Done>,
    caller: Option<(For, Returns)>,
}

/// Who wants the results of a frame, in whatever state, when its first visit ends.
enum For {
    /// The kernel of the visit below, which has called.
    Kernel(Running),
    /// The next iteration.
    Iteration(Box<Head>),
}

/// What a thread is to do.
#[derive(Default)]
struct Agenda {
    visits: Vec<Visit>,
    /// Kernels that are ready and of their visit's stream, the next one last.
    inline: Vec<Ready>,
    /// Those of other streams.
    outline: Vec<Ready>,
    /// Results of the kernel that ran last that are not final; empty but for moments.
    late: Vec<(Later, AsyncRef)>,
}

/// One thread's work.
#[derive(Default)]
pub(super) struct Worker {
    agenda: Agenda,
    /// The operands and results of the kernel that runs. Between kernels, nothing here owns anything.
    scratch: Vec<Value>,
    /// 0, 1, 2, ...: where the operands are in `scratch`; as long as it.
    identity: Vec<u32>,
    /// Arguments and results of a line; empty but for moments.
    arguments: Vec<Value>,
    results: Vec<Value>,
    /// The kernel that runs.
    current: Option<Running>,
    /// The straight line that runs.
    straight: Option<StraightRun>,
    /// Why its next kernel has failed.
    panicked: Option<KernelError>,
    /// What the kernel that ran last has left to be done, as a task that is to be added before anything else
    /// happens.
    left: Option<(Running, Job)>,
    /// How often in a row that was done at once.
    at_once: u32,
    /// How many tasks the queue keeps for this thread that must not wait for a kernel.
    owes: u32,
    /// Whether a task ends when this has nothing left to do: not where a waiter began, whose producer goes
    /// on.
    ends_task: bool,
    /// Another worker without work.
    next: Option<Box<Worker>>,
}

/// How many values a worker keeps room for.
const MAX_KEPT: usize = 1 << 10;
/// How often in a row a worker does at once what a kernel has left to be done, instead of adding a task.
const MAX_AT_ONCE: u32 = 31;

/// How many tasks may wait for kernels that take no time, so that not each is handed over by itself.
const MAX_OWED: u32 = 16;

thread_local! {
    /// Workers without work, for their room: as many as have nested.
    static KEPT: Cell<Option<Box<Worker>>> = const { Cell::new(None) };
}

/// Runs a new frame as far as this thread can.
pub(super) fn run(started: Started) {
    Worker::on_thread(|worker| {
        worker.ends_task = true;
        worker.open(started, None);
    });
}

impl Visit {
    /// Whether there is nothing left to do or to report. It is not the top one, and the top one has nothing
    /// to do.
    fn is_over(&self, agenda: &Agenda) -> bool {
        let Visit { inline, outline, done, caller, frame: _, stream: _ } = self;
        done.is_none()
            && caller.is_none()
            && *inline == agenda.inline.len()
            && *outline == agenda.outline.len()
    }
}

impl Agenda {
    /// Begins a visit that has nothing to do so far.
    fn visit(&mut self, frame: usize, stream: u32, caller: Option<(For, Returns)>) {
        let (inline, outline) = (self.inline.len(), self.outline.len());
        self.visits.push(Visit { frame, stream, inline, outline, done: None, caller });
    }

    /// Whether the top visit is of a kernel's frame and stream.
    fn is_visiting(&self, running: &Running) -> bool {
        let visit = self.visits.last();
        visit.is_some_and(|it| it.frame == running.frame().address() && it.stream == running.stream())
    }

    /// Whether there is nothing left to do in any visit.
    #[inline]
    fn is_idle(&self) -> bool {
        let Some((top, others)) = self.visits.split_last() else { return false };
        top.caller.is_none()
            && top.inline == self.inline.len()
            && top.outline == self.outline.len()
            && others.iter().all(|visit| visit.is_over(self))
    }

    /// Gives `act` the list of what becomes ready for the top visit, and adds what it has done.
    #[inline(always)]
    fn tell(&mut self, act: impl FnOnce(&mut Sink<'_>) -> Option<Done>) {
        let Agenda { visits, inline, outline, .. } = self;
        let Some(visit) = visits.last_mut() else { return };
        if let Some(done) = act(&mut Sink { stream: visit.stream, inline, outline }) {
            done.add_to(&mut visit.done);
        }
    }

    /// Stores the results of a kernel of the top visit's frame. Those that are not final are in `late` then.
    #[inline]
    fn publish(&mut self, running: Running, results: impl Iterator<Item = Value>) -> Completing {
        let Agenda { visits, inline, outline, late } = self;
        let stream = visits.last().map_or(0, |visit| visit.stream);
        running.publish(results, &mut Sink { stream, inline, outline }, late)
    }

    /// [`Agenda::publish`] for a kernel that is complete when its results are final.
    #[inline]
    fn settle(&mut self, running: Running, results: impl Iterator<Item = Value>) {
        let completing = self.publish(running, results);
        if self.late.is_empty() {
            self.tell(|sink| Some(completing.complete(sink)));
        } else {
            self.settle_late(completing);
        }
    }

    /// [`Agenda::settle`] for a kernel that publishes plainly; the result is concrete.
    #[inline(always)]
    fn settle_plainly(&mut self, running: Running, result: &mut Value) {
        let Agenda { visits, inline, outline, .. } = self;
        let Some(visit) = visits.last_mut() else { return };
        let done = running.publish_plainly(result, &mut Sink { stream: visit.stream, inline, outline });
        done.add_to(&mut visit.done);
    }

    #[cold]
    fn settle_late(&mut self, completing: Completing) {
        let stream = completing.stream();
        let mut late = std::mem::take(&mut self.late);
        if late.len() == 1
            && let Some((later, value)) = late.pop()
        {
            Waiting { later, stream, keeps: Keeps::Kernel(completing) }.wait(&value);
        } else {
            let completing = Arc::new(completing);
            for (later, value) in late.drain(..) {
                Waiting { later, stream, keeps: Keeps::Share(completing.clone()) }.wait(&value);
            }
            // They may all have come meanwhile.
            self.tell(|sink| Some(Arc::into_inner(completing)?.complete(sink)));
        }
        self.late = late;
    }

    /// Ends the top visit: the kernel that called gets its results. What is left to be counted; and if it was
    /// an iteration, who starts the next one.
    fn close(&mut self) -> Option<(Done, Option<Box<Head>>)> {
        let Visit { done, caller, .. } = self.visits.pop()?;
        let done = done?;
        match caller {
            None => Some((done, None)),
            Some((For::Kernel(running), returns)) => {
                let completing = self.hand_back(running, returns.results(done.frame()));
                done.set_then(completing);
                Some((done, None))
            }
            Some((For::Iteration(mut head), returns)) => {
                head.values.extend(returns.results(done.frame()));
                Some((done, Some(head)))
            }
        }
    }

    /// Gives a kernel of the top visit's frame the results of a function, in whatever state. It is complete
    /// when somebody says so.
    fn hand_back(&mut self, running: Running, results: impl Iterator<Item = Value>) -> Completing {
        let stream = running.stream();
        let completing = self.publish(running, results);
        for (later, value) in self.late.drain(..) {
            if completing.frame().wants(&later) {
                let keeps = Keeps::Frame(Done::hold(completing.frame()));
                Waiting { later, stream, keeps }.wait(&value);
            }
        }
        completing
    }

    /// Goes on with the first of the other streams, where the visit has nothing left in its own.
    fn adopt(&mut self) {
        let Agenda { visits, inline, outline, .. } = self;
        let Some(visit) = visits.last_mut() else { return };
        let Some(first) = outline.get(visit.outline) else { return };
        visit.stream = first.stream();
        inline.extend(outline.extract_if(visit.outline.., |ready| ready.stream() == visit.stream));
    }

    /// Hands the kernels of the top visit that are of other streams to the queue, one task per stream, by
    /// ascending stream.
    #[inline]
    fn hand_out(&mut self, queue: &Arc<dyn WorkQueue>) {
        if self.visits.last().is_some_and(|visit| self.outline.len() > visit.outline) {
            self.hand_out_all(queue);
        }
    }

    fn hand_out_all(&mut self, queue: &Arc<dyn WorkQueue>) {
        let Some(visit) = self.visits.last() else { return };
        let (outline, frame) = (&mut self.outline, visit.frame);
        outline[visit.outline..].sort_by_key(Ready::stream);
        let mut rest = outline.drain(visit.outline..).peekable();
        while let Some(first) = rest.next() {
            let stream = first.stream();
            let mut others = std::iter::from_fn(|| rest.next_if(|next| next.stream() == stream));
            queue.add_task(match others.next() {
                None => Task::new(move || Worker::take_up(frame, stream, |inline| inline.push(first))),
                Some(second) => {
                    let mut all: Vec<Ready> = [first, second].into_iter().chain(others).collect();
                    Task::new(move || Worker::take_up(frame, stream, |inline| inline.append(&mut all)))
                }
            });
        }
    }
}

impl Worker {
    /// Gives this thread a worker, and has it do what it is given.
    #[inline]
    fn on_thread(begin: impl FnOnce(&mut Worker)) {
        // Inside of a kernel or a waiter, the worker that runs it is not there.
        let mut worker = KEPT.take().unwrap_or_default();
        KEPT.set(worker.next.take());
        worker.at_once = 0;
        worker.ends_task = false;
        let mut begin = Some(begin);
        while let Err(panic) = catch_unwind(AssertUnwindSafe(|| {
            if let Some(begin) = begin.take() {
                begin(&mut worker);
            }
            worker.go_straight_on();
            worker.drain();
        })) {
            worker.after_panic(panic);
        }
        worker.owes = 0;
        if worker.scratch.len() <= MAX_KEPT && worker.agenda.inline.capacity() <= MAX_KEPT {
            worker.next = KEPT.take();
            KEPT.set(Some(worker));
        }
    }

    /// A task of one stream.
    fn take_up(frame: usize, stream: u32, fill: impl FnOnce(&mut Vec<Ready>)) {
        Worker::on_thread(|worker| {
            worker.ends_task = true;
            worker.agenda.visit(frame, stream, None);
            fill(&mut worker.agenda.inline);
        });
    }

    /// Opens the first visit of a frame.
    fn open(&mut self, mut started: Started, caller: Option<For>) {
        // The stream of whoever calls. If nothing in it is ready, another one is taken up.
        let stream = 0;
        let agenda = &mut self.agenda;
        agenda.visit(started.frame().address(), stream, caller.zip(started.returns()));
        let mut late = std::mem::take(&mut agenda.late);
        agenda.tell(|sink| {
            let done = started.begin(sink, &mut late);
            for (later, value) in late.drain(..) {
                let keeps = Keeps::Frame(Done::hold(done.frame()));
                Waiting { later, stream, keeps }.wait(&value);
            }
            Some(done)
        });
        self.agenda.late = late;
    }

    fn drain(&mut self) {
        while let Some(&Visit { inline, outline, .. }) = self.agenda.visits.last() {
            let agenda = &mut self.agenda;
            if let Some(ready) = next(&mut agenda.inline, inline) {
                if self.left.is_some() {
                    self.leave();
                }
                if self.agenda.outline.len() > outline {
                    self.agenda.hand_out_all(ready.frame().execution.context.queue());
                }
                self.kernel(ready);
            } else if agenda.outline.len() > outline {
                match agenda.visits.last() {
                    // What is in other streams must not keep the next iteration waiting.
                    Some(Visit { caller: Some((For::Iteration(head), _)), .. }) => {
                        let queue = head.running.frame().execution.context.queue().clone();
                        agenda.hand_out_all(&queue);
                    }
                    _ => agenda.adopt(),
                }
            } else if let Some((running, job)) = self.take_left() {
                self.job(running, job);
            } else {
                if self.left.is_some() {
                    self.leave();
                }
                if let Some((running, job)) = self.take_next() {
                    self.job(running, job);
                    continue;
                }
                if let Some((done, head)) = self.agenda.close() {
                    self.finish(done);
                    if let Some(head) = head {
                        self.advance(head);
                    }
                }
            }
        }
    }

    /// Takes what is left of a kernel if a task would be the thread's next one, and go on here: in the top
    /// visit, which like all others has nothing else to do.
    #[inline]
    fn take_left(&mut self) -> Option<(Running, Job)> {
        let (running, _) = self.left.as_ref()?;
        let context = &running.frame().execution.context;
        if !self.agenda.is_visiting(running) || !may_go_on(&self.agenda, &mut self.at_once, context) {
            return None;
        }
        self.left.take()
    }

    /// Takes what is left of another kernel of the top visit's frame, if it is the thread's next task: it
    /// would come back here. The visit, which has nothing else to do, goes on in its stream.
    #[inline]
    fn take_next(&mut self) -> Option<(Running, Job)> {
        if !self.ends_task || self.at_once >= MAX_AT_ONCE || !self.agenda.is_idle() {
            return None;
        }
        let visit = self.agenda.visits.last_mut()?;
        let frame = visit.frame;
        let is_here = |task: &Task| {
            let owed = task.as_work::<Owed>().and_then(Owed::running);
            owed.is_some_and(|running| running.frame().address() == frame)
        };
        let context = &visit.done.as_ref()?.frame().execution.context;
        let Some(task) = context.queue().take_next(&is_here) else {
            self.owes += 1;
            return None;
        };
        let (running, job) = task.into_work::<Owed>().ok()?.take()?;
        visit.stream = running.stream();
        self.at_once += 1;
        Some((running, job))
    }

    /// Counts what is done; the end of a frame completes its caller's kernel, and so on.
    fn finish(&mut self, mut done: Done) {
        loop {
            let completing = match done.finish() {
                End::NotYet => return,
                End::Iteration { looping, function, results } => {
                    return self.iterate(Iteration { looping, function, results });
                }
                End::Turn(turn) => match turn.end() {
                    TurnEnd::Nothing => return,
                    TurnEnd::Next(head) => return self.go_on(head),
                    TurnEnd::Last(completing) => completing,
                },
                End::Call(completing) => completing,
            };
            if completing.frame().general().has_after {
                return self.complete(completing);
            }
            done = completing.complete_alone();
        }
    }

    /// A kernel has completed: goes on with those that waited for that.
    fn complete(&mut self, completing: Completing) {
        self.agenda.visit(completing.frame().address(), completing.stream(), None);
        self.agenda.tell(|sink| Some(completing.complete(sink)));
    }
}

/// The kernel that comes next, of those from `first` on.
#[inline]
fn next(inline: &mut Vec<Ready>, first: usize) -> Option<Ready> {
    let last = inline.len().checked_sub(1)?;
    if last < first {
        return None;
    }
    if last > first {
        let execution = &inline[last].frame().execution;
        if execution.is_seeded {
            let at = first + execution.context.queue().pick(inline.len() - first);
            inline.swap(at.min(last), last);
        }
    }
    inline.pop()
}

/// A register whose value is not final, and what keeps its frame until it is.
struct Waiting {
    later: Later,
    /// Where those go on that it makes ready.
    stream: u32,
    keeps: Keeps,
}

enum Keeps {
    /// The kernel whose only late result it is, complete with it.
    Kernel(Completing),
    /// One that is complete with the last of its results.
    Share(Arc<Completing>),
    /// Nothing is complete with it.
    Frame(Done),
}

impl Waiting {
    /// Tells the users of the register when the value is final, and goes on with what that makes ready.
    fn wait(self, value: &AsyncRef) {
        value.and_then(move |value| {
            let is_dead = matches!(value, Value::Dead);
            Worker::on_thread(|worker| self.end(is_dead, &mut worker.agenda));
        });
    }

    fn end(self, is_dead: bool, agenda: &mut Agenda) {
        let Waiting { later, stream, keeps } = self;
        let frame = match &keeps {
            Keeps::Kernel(completing) => completing.frame(),
            Keeps::Share(completing) => completing.frame(),
            Keeps::Frame(done) => done.frame(),
        };
        agenda.visit(frame.address(), stream, None);
        agenda.tell(|sink| match keeps {
            Keeps::Kernel(completing) => {
                completing.frame().release(later, is_dead, sink);
                Some(completing.complete(sink))
            }
            Keeps::Share(completing) => {
                completing.frame().release(later, is_dead, sink);
                Some(Arc::into_inner(completing)?.complete(sink))
            }
            Keeps::Frame(done) => {
                done.frame().release(later, is_dead, sink);
                Some(done)
            }
        });
    }
}
