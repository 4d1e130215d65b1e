//! The multi-threaded queue, on a tokio runtime of its own.
//!
//! ```text
//! add_task ──▶ open tasks (lock-free) ──▶ N workers, each a tokio task that runs until the queue is dropped
//! LocalQueue ▶ the worker's own list ──▶ itself, when its task has ended; all but one become open
//! add_blocking_task ──▶ tokio's blocking pool, at most B threads
//! ```
//!
//! Tasks do not become tokio tasks one by one: a worker takes them from its own deque, from an inbox, or from
//! other workers' (`open`), so a task costs a push and a pop, and the order is nearly first come, first
//! served. A worker that finds nothing looks a little longer, then gives up its place and sleeps; who adds a
//! task and sees a free place wakes one. No task is forgotten (`places`). Neither tokio's scheduler nor its
//! LIFO slot, which no other thread can take a task from, has a part in this.
//!
//! A thread from outside that waits is a worker meanwhile, if there is a place for one. So is a worker that
//! waits inside a task: it runs other tasks, and when there are none, sleeps where all workers sleep
//! (`donors`).
//!
//! No task that only one thread knows of waits for another task: before a worker runs a task, it shares what
//! it has besides.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::Thread;

use crossbeam_queue::SegQueue;
use tokio::runtime::{Builder, Handle, Runtime};

use super::donors::Donors;
use super::here::{self, Nested, Scope};
use super::open::{First, Look, Open};
use super::places::Places;
use super::{Latch, LocalQueue, Task, WhenFull, WorkQueue, may_wait, run_task};
use befrost_kernel_api::KernelError;
use befrost_kernel_api::executor::sync::{Ordering, fence};

/// One in so many tasks is an open one first, so that a chain of tasks does not keep all others waiting.
const FAIR: u32 = 7;
/// How many blocking tasks may wait for a thread.
const MAX_WAITING: usize = 1 << 16;

struct Shared {
    tasks: Open,
    places: Places,
    /// Workers that sleep.
    donors: Donors<Thread>,
    /// Set when the queue is dropped.
    is_closed: AtomicBool,
    /// Blocking tasks that wait for a thread, and the threads.
    blocking_tasks: SegQueue<Task>,
    blocking_places: Places,
    /// Those who wait until nothing runs, and perhaps some who do not.
    quiescers: SegQueue<Thread>,
    handle: Handle,
}

/// See the module's essay.
pub struct MultiThreaded {
    shared: Arc<Shared>,
    /// Taken when the queue is dropped, which may happen on one of its own threads.
    runtime: Option<Runtime>,
}

impl MultiThreaded {
    /// A queue with `workers` threads for tasks that do not block and at most `blocking` for those that do.
    ///
    /// # Errors
    /// If the system refuses the threads.
    ///
    /// # Panics
    /// If either number is zero.
    pub fn new(workers: usize, blocking: usize) -> std::io::Result<MultiThreaded> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(workers)
            .max_blocking_threads(blocking)
            .thread_name("befrost")
            .build()?;
        let shared = Arc::new(Shared {
            tasks: Open::new(workers),
            places: Places::all_taken(workers),
            donors: Donors::new(),
            is_closed: AtomicBool::new(false),
            blocking_tasks: SegQueue::new(),
            blocking_places: Places::new(blocking),
            quiescers: SegQueue::new(),
            handle: runtime.handle().clone(),
        });
        for _ in 0..workers {
            let shared = shared.clone();
            runtime.spawn(async move { shared.serve() });
        }
        Ok(MultiThreaded { shared, runtime: Some(runtime) })
    }
}

impl Shared {
    fn id(&self) -> usize {
        (&raw const *self).addr()
    }

    /// After there has come an open task: wakes a worker for it, if one sleeps.
    fn wake_one(&self) {
        if self.places.after_push() {
            self.use_place();
        }
    }

    /// Gives a place, which the caller has taken, to a worker that sleeps. There is none only if one is about
    /// to go on by itself, or somebody from outside has left; then the place is free again.
    fn use_place(&self) {
        while !self.donors.wake() && self.places.leave(|| self.tasks.is_empty()) {
            std::hint::spin_loop();
        }
    }

    /// A worker's life. It begins with a place.
    fn serve(&self) {
        let scope = Scope::enter(self.id());
        self.wait_inside(|| self.is_closed.load(Ordering::Acquire));
        self.leave(scope);
    }

    /// Ends the time in which the thread was a worker.
    fn leave(&self, scope: Option<Scope>) {
        if let Some(scope) = scope {
            self.tasks.leave(scope);
        }
        self.leave_place();
    }

    /// Gives up a place; if there are tasks after all, to somebody who runs them.
    fn leave_place(&self) {
        if self.places.leave(|| self.tasks.is_empty()) {
            self.use_place();
        }
        self.tell_quiescers();
    }

    /// Runs tasks until there are none, or `is_done`. The thread has a place, and no tasks of its own
    /// afterwards.
    fn work(&self, is_done: impl Fn() -> bool) {
        let mut turn = 0;
        let mut idle = None;
        while !is_done() {
            turn += 1;
            let first = if turn % (2 * FAIR) == 0 { First::Inbox } else { First::Own };
            let open = || self.tasks.take(self.id(), first);
            let task = match turn % FAIR {
                0 => open().or_else(here::take),
                _ => here::take().or_else(open),
            };
            let task = match task {
                Some(task) => task,
                None => match self.tasks.look(self.id(), &mut idle) {
                    Look::Nothing => return,
                    Look::Again => continue,
                    Look::Task(task) => {
                        // While the tasks that came with it were on their way, a worker may have seen none
                        // and gone to sleep.
                        self.wake_one();
                        task
                    }
                },
            };
            self.hand_over();
            run_task(task);
            idle = None;
        }
        self.hand_over();
    }

    /// Opens the tasks that only this thread knows of.
    #[inline]
    fn hand_over(&self) {
        // One look at the places after all of them: if none is free, who has them will find the tasks.
        for _ in 0..self.tasks.open_own(self.id()) {
            if !self.places.after_push() {
                break;
            }
            self.use_place();
        }
    }

    /// Runs tasks, or sleeps, until `is_done`. The thread is a worker's, or another one that has a place; it
    /// has one again afterwards.
    fn wait_inside(&self, is_done: impl Fn() -> bool) {
        let donor = Arc::new(std::thread::current());
        loop {
            self.work(&is_done);
            if is_done() {
                return;
            }
            self.donors.push(&donor);
            if self.places.leave(|| self.tasks.is_empty()) {
                if !self.donors.retract(&donor) {
                    // It was given another place meanwhile.
                    self.leave_place();
                }
                continue;
            }
            self.tell_quiescers();
            while self.donors.is_waiting(&donor) && !is_done() {
                std::thread::park();
            }
            if self.donors.retract(&donor) {
                self.places.enter_anyway();
            }
        }
    }

    fn drain_blocking(&self) {
        loop {
            while let Some(task) = self.blocking_tasks.pop() {
                run_task(task);
            }
            if !self.blocking_places.leave(|| self.blocking_tasks.is_empty()) {
                return self.tell_quiescers();
            }
        }
    }

    /// Starts a thread for blocking tasks. The caller has taken a place for it.
    fn start_blocking(self: &Arc<Shared>, first: Option<Task>) {
        let shared = self.clone();
        let work = move || {
            if let Some(task) = first {
                run_task(task);
            }
            shared.drain_blocking();
        };
        // tokio panics where the system refuses a thread. Tasks that nobody will run are dropped: their
        // promises become errors.
        if catch_unwind(AssertUnwindSafe(|| self.handle.spawn_blocking(work))).is_err() {
            while let Some(task) = self.blocking_tasks.pop() {
                drop(task);
            }
            let _ = self.blocking_places.leave(|| true);
        }
    }

    fn is_idle(&self) -> bool {
        self.places.is_free()
            && self.blocking_places.is_free()
            && self.tasks.is_empty()
            && self.blocking_tasks.is_empty()
    }

    /// After a place was left.
    fn tell_quiescers(&self) {
        // The fence in `Places::leave` pairs with the one in `quiesce`.
        while !self.quiescers.is_empty()
            && self.is_idle()
            && let Some(thread) = self.quiescers.pop()
        {
            thread.unpark();
        }
    }
}

impl WorkQueue for MultiThreaded {
    fn name(&self) -> &'static str {
        "mstd"
    }

    fn parallelism(&self) -> usize {
        self.shared.places.limit()
    }

    fn add_task(&self, task: Task) {
        self.shared.tasks.push(task);
        self.shared.wake_one();
    }

    #[inline]
    fn local_queue(&self) -> Option<LocalQueue> {
        here::local_queue(self.shared.id(), true)
    }

    #[inline]
    fn runs_next(&self) -> bool {
        here::is_last_in(self.shared.id())
    }

    fn take_next(&self, wants: &dyn Fn(&Task) -> bool) -> Option<Task> {
        self.shared.tasks.take_next(self.shared.id(), wants)
    }

    fn hand_over(&self) {
        self.shared.hand_over();
    }

    fn add_blocking_task(&self, task: Task, when_full: WhenFull) -> Result<(), Task> {
        let shared = &self.shared;
        match when_full {
            WhenFull::Wait if shared.blocking_tasks.len() >= MAX_WAITING => return Err(task),
            WhenFull::Wait => {
                shared.blocking_tasks.push(task);
                if shared.blocking_places.after_push() {
                    shared.start_blocking(None);
                }
            }
            WhenFull::Refuse if !shared.blocking_places.enter() => return Err(task),
            WhenFull::Refuse => shared.start_blocking(Some(task)),
        }
        Ok(())
    }

    fn wait_after(&self, latch: &Latch, first: &mut dyn FnMut()) {
        let shared = &self.shared;
        let nested = Nested::enter();
        if here::is_in(shared.id()) {
            first();
            return shared.wait_inside(|| latch.is_open());
        }
        if shared.places.enter() {
            let scope = Scope::enter(shared.id());
            let done = catch_unwind(AssertUnwindSafe(first));
            shared.work(|| done.is_err() || latch.is_open());
            shared.leave(scope);
            done.unwrap_or_else(|panic| resume_unwind(panic));
        } else {
            first();
        }
        drop(nested);
        latch.park_until_open();
    }

    fn may_wait(&self) -> Result<(), KernelError> {
        may_wait()
    }

    fn quiesce(&self) {
        let shared = &self.shared;
        while !here::is_in(shared.id()) && !shared.is_idle() {
            shared.quiescers.push(std::thread::current());
            // Pairs with the fence in `Places::leave`: either we see that the place is free, or its drainer
            // sees us.
            fence(Ordering::SeqCst);
            if !shared.is_idle() {
                std::thread::park();
            }
        }
    }
}

impl Drop for MultiThreaded {
    fn drop(&mut self) {
        // Release: pairs with the Acquire in `serve`.
        self.shared.is_closed.store(true, Ordering::Release);
        self.shared.donors.wake_all();
        if let Some(runtime) = self.runtime.take() {
            // Not a plain drop: the last reference may die in a task, where waiting for the workers is not
            // allowed.
            runtime.shutdown_background();
        }
    }
}
