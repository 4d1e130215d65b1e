//! The multi-threaded queue, on a tokio runtime of its own.
//!
//! ```text
//! add_task          ─▶ shared tasks (lock-free) ─▶ N workers, each a thread for the life of the queue
//! LocalQueue        ─▶ the worker's local list  ─▶ the same worker, after its task; all but one are shared
//! add_blocking_task ─▶ at most B further threads
//! ```
//!
//! All threads are of tokio's blocking pool: the runtime schedules nothing. Workers that were tasks of its
//! scheduler could share one of its threads, where the second would wait for the first for ever.
//!
//! Tasks do not become tokio tasks one by one. A worker takes them from its own deque, from an inbox, or from
//! the deques of other workers (`shared_tasks`). So a task costs a push and a pop, and the order is nearly
//! first come, first served. A worker that finds no task searches a little longer, then releases its permit
//! and sleeps. A thread that adds a task and finds a free permit wakes a worker. No task is forgotten
//! (`permits`). Neither tokio's scheduler nor its LIFO slot, from which no other thread can take a task, is
//! involved.
//!
//! A thread from outside that waits is a worker meanwhile, if there is a permit for it; unless the queue is
//! to leave tasks to its own workers ([`MultiThreaded::with_idle_callers`]). So is a worker that waits inside
//! a task: it runs other tasks, and sleeps like any worker when there are none (`sleepers`). A thread for
//! blocking tasks that waits inside one runs other blocking tasks that no thread is left for.
//!
//! No task that only one thread knows of waits for another task: before a worker runs a task, it shares its
//! other local tasks.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::thread::Thread;
use std::time::Duration;

use crossbeam_queue::SegQueue;
use tokio::runtime::{Builder, Handle, Runtime};

use super::local::{self, NestedWait, QueueScope};
use super::permits::Permits;
use super::shared_tasks::{FirstSource, SearchResult, SharedTasks};
use super::sleepers::Sleepers;
use super::{Latch, LocalQueue, LocalTasks, Task, WhenFull, WorkQueue, check_may_wait, run_task};
use befrost_kernel_api::KernelError;
use befrost_kernel_api::executor::sync::{Ordering, fence};

/// Number of tasks after which a worker takes a shared task before a local one, so that a chain of tasks does
/// not delay all others. Every second time it looks into the inbox first.
const FAIRNESS_INTERVAL: u32 = 7;
/// The least work that is shared with a worker that searches for a task. Of less, fetching the operands from
/// another core's cache takes what the second core saves.
const MIN_SHARED: Duration = Duration::from_micros(10);
/// Least work for which sleeping workers are woken. Waking one takes the caller some microseconds, and the
/// worker some tens of microseconds.
const WORTH_WAKING: Duration = Duration::from_micros(100);
/// Limit of the blocking tasks that wait for a thread.
const MAX_WAITING: usize = 1 << 16;

struct QueueState {
    tasks: SharedTasks,
    permits: Permits,
    /// Nanoseconds of work that were not shared because no worker searched. When the sum is worth it, a
    /// worker is woken.
    not_shared: AtomicU64,
    /// Workers that sleep.
    sleepers: Sleepers<Thread>,
    /// Set when the queue is dropped.
    is_closed: AtomicBool,
    /// Blocking tasks that wait for a thread, and permits for such threads.
    blocking_tasks: SegQueue<Task>,
    blocking_permits: Permits,
    /// Threads for blocking tasks that wait inside one.
    blocking_sleepers: Sleepers<Thread>,
    /// Threads that wait until nothing runs. May contain some that do not wait any more.
    quiescers: SegQueue<Thread>,
    handle: Handle,
}

/// The multi-threaded queue. See the module's essay.
pub struct MultiThreaded {
    state: Arc<QueueState>,
    /// Taken when the queue is dropped, which may happen on one of its own threads.
    runtime: Option<Runtime>,
    /// Whether threads from outside run no tasks while they wait.
    has_idle_callers: bool,
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
        MultiThreaded::with_thread_start(workers, blocking, || ())
    }

    /// [`MultiThreaded::new`], whose threads call `start` first.
    ///
    /// # Errors
    /// As [`MultiThreaded::new`].
    ///
    /// # Panics
    /// As [`MultiThreaded::new`].
    pub fn with_thread_start(
        workers: usize,
        blocking: usize,
        start: impl Fn() + Send + Sync + 'static,
    ) -> std::io::Result<MultiThreaded> {
        assert!(workers > 0, "a queue has a worker");
        let mut builder = Builder::new_current_thread();
        builder.max_blocking_threads(workers.saturating_add(blocking)).thread_name("befrost");
        // Under loom tokio has no such hook.
        #[cfg(loom)]
        drop(start);
        #[cfg(not(loom))]
        builder.on_thread_start(start);
        let runtime = builder.build()?;
        let state = Arc::new(QueueState {
            tasks: SharedTasks::new(workers),
            permits: Permits::all_taken(workers),
            not_shared: AtomicU64::new(0),
            sleepers: Sleepers::new(),
            is_closed: AtomicBool::new(false),
            blocking_tasks: SegQueue::new(),
            blocking_permits: Permits::new(blocking),
            blocking_sleepers: Sleepers::new(),
            quiescers: SegQueue::new(),
            handle: runtime.handle().clone(),
        });
        let queue = MultiThreaded { state, runtime: Some(runtime), has_idle_callers: false };
        for _ in 0..workers {
            let state = queue.state.clone();
            // tokio panics if the system refuses a thread.
            let serve = AssertUnwindSafe(|| drop(queue.state.handle.spawn_blocking(move || state.serve())));
            catch_unwind(serve).map_err(|_| std::io::Error::other("the system refuses a thread"))?;
        }
        Ok(queue)
    }

    /// The queue whose callers from outside run no tasks while they wait, as in TFRT. Only its workers do.
    #[must_use]
    pub fn with_idle_callers(mut self) -> MultiThreaded {
        self.has_idle_callers = true;
        self
    }
}

impl QueueState {
    fn id(&self) -> usize {
        (&raw const *self).addr()
    }

    /// Wakes a sleeping worker, if there is one, for a task that was just shared.
    fn wake_one(&self) {
        if self.permits.acquire_after_push() {
            self.wake_sleeper();
        }
    }

    /// Passes a permit, which the caller has acquired, to a sleeping worker. There is no sleeper only if one
    /// is about to continue by itself, or if a thread from outside has left. Then the permit is released
    /// again. The workers of a closed queue leave its last tasks, which are dropped with it.
    fn wake_sleeper(&self) {
        while !self.sleepers.wake() && self.permits.release(|| self.tasks.is_empty() || self.is_closed()) {
            std::hint::spin_loop();
        }
    }

    fn is_closed(&self) -> bool {
        // Acquire pairs with the Release in `drop`.
        self.is_closed.load(Ordering::Acquire)
    }

    /// Body of a worker. It begins with a permit.
    fn serve(&self) {
        let scope = QueueScope::enter(self.id());
        self.run_or_sleep_until(|| self.is_closed());
        self.leave(scope);
    }

    /// Ends the period in which the thread was a worker.
    fn leave(&self, scope: Option<QueueScope>) {
        if let Some(scope) = scope {
            self.tasks.leave(scope);
        }
        self.release_permit();
    }

    /// Releases a permit. If there are tasks after all, a sleeper gets it.
    fn release_permit(&self) {
        if self.permits.release(|| self.tasks.is_empty()) {
            self.wake_sleeper();
        }
        self.wake_quiescers();
    }

    /// Runs tasks until there are none, or until `is_done`. The thread has a permit, and no local tasks
    /// afterwards.
    fn run_tasks(&self, is_done: impl Fn() -> bool) {
        let mut round = 0;
        let mut idle = None;
        while !is_done() {
            round += 1;
            let first =
                if round % (2 * FAIRNESS_INTERVAL) == 0 { FirstSource::Inbox } else { FirstSource::Own };
            let open = || self.tasks.take(self.id(), first);
            let task = match round % FAIRNESS_INTERVAL {
                0 => open().or_else(local::take),
                _ => local::take().or_else(open),
            };
            let task = match task {
                Some(task) => task,
                None => match self.tasks.search(self.id(), &mut idle) {
                    SearchResult::Empty => return,
                    SearchResult::Retry => continue,
                    SearchResult::Task(task) => {
                        // While the tasks stolen together with this one moved between deques, a worker may
                        // have seen none and fallen asleep.
                        self.wake_one();
                        task
                    }
                },
            };
            self.hand_over();
            idle = None;
            run_task(task);
        }
        self.hand_over();
    }

    /// Shares the local tasks of this thread.
    #[inline]
    fn hand_over(&self) {
        // The permits are checked after all tasks are shared: if none is free, the threads that hold them
        // will find the tasks.
        for _ in 0..self.tasks.share_own(self.id()) {
            if !self.permits.acquire_after_push() {
                break;
            }
            self.wake_sleeper();
        }
    }

    /// Runs tasks, or sleeps, until `is_done`. The thread has a permit, before and afterwards.
    fn run_or_sleep_until(&self, is_done: impl Fn() -> bool) {
        let sleeper = Arc::new(std::thread::current());
        loop {
            self.run_tasks(&is_done);
            if is_done() {
                return;
            }
            self.sleepers.push(&sleeper);
            if self.permits.release(|| self.tasks.is_empty()) {
                if !self.sleepers.retract(&sleeper) {
                    // The sleeper was given another permit meanwhile.
                    self.release_permit();
                }
                continue;
            }
            self.wake_quiescers();
            while self.sleepers.is_waiting(&sleeper) && !is_done() {
                std::thread::park();
            }
            if self.sleepers.retract(&sleeper) {
                self.permits.acquire_over_limit();
            }
        }
    }

    fn drain_blocking(&self) {
        loop {
            while let Some(task) = self.blocking_tasks.pop() {
                run_task(task);
            }
            if !self.blocking_permits.release(|| self.blocking_tasks.is_empty()) {
                return self.wake_quiescers();
            }
        }
    }

    /// Runs blocking tasks that no thread is left for, or sleeps, until the latch is open. The calling thread
    /// is one for blocking tasks.
    fn run_blocking_until(&self, latch: &Latch) {
        let sleeper = Arc::new(std::thread::current());
        while !latch.is_open() {
            if let Some(task) = self.blocking_tasks.pop() {
                run_task(task);
                continue;
            }
            if !self.blocking_sleepers.push_unless(&sleeper, || !self.blocking_tasks.is_empty()) {
                continue;
            }
            while self.blocking_sleepers.is_waiting(&sleeper) && !latch.is_open() {
                std::thread::park();
            }
            if !self.blocking_sleepers.retract(&sleeper) && latch.is_open() {
                // The task for which it was woken is left to another one.
                _ = self.blocking_sleepers.wake();
            }
        }
    }

    /// Starts a thread for blocking tasks. The caller has acquired a permit for it.
    fn start_blocking(self: &Arc<QueueState>, first: Option<Task>) {
        let state = self.clone();
        let work = move || {
            local::begin_blocking(state.id());
            // What begins a run here is inside of a task.
            let _nested = NestedWait::enter();
            if let Some(task) = first {
                run_task(task);
            }
            state.drain_blocking();
        };
        // tokio panics if the system refuses a thread. Tasks that will not run are dropped: their promises
        // become errors.
        if catch_unwind(AssertUnwindSafe(|| self.handle.spawn_blocking(work))).is_err() {
            while let Some(task) = self.blocking_tasks.pop() {
                drop(task);
            }
            let _ = self.blocking_permits.release(|| true);
        }
    }

    fn is_idle(&self) -> bool {
        self.permits.are_all_free()
            && self.blocking_permits.are_all_free()
            && self.tasks.is_empty()
            && self.blocking_tasks.is_empty()
    }

    /// Wakes threads in `quiesce`, after a permit was released.
    fn wake_quiescers(&self) {
        // The fence in `Permits::release` pairs with the one in `quiesce`.
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
        self.state.permits.limit()
    }

    fn add_task(&self, task: Task) {
        self.state.tasks.push(task);
        self.state.wake_one();
    }

    fn add_blocking_task(&self, task: Task, when_full: WhenFull) -> Result<(), Task> {
        let state = &self.state;
        match when_full {
            WhenFull::Wait if state.blocking_tasks.len() >= MAX_WAITING => return Err(task),
            WhenFull::Wait => {
                state.blocking_tasks.push(task);
                if state.blocking_permits.acquire_after_push() {
                    state.start_blocking(None);
                } else {
                    // If none sleeps, a thread that holds a permit looks for tasks before it sleeps or ends.
                    _ = state.blocking_sleepers.wake();
                }
            }
            WhenFull::Refuse if !state.blocking_permits.try_acquire() => return Err(task),
            WhenFull::Refuse => state.start_blocking(Some(task)),
        }
        Ok(())
    }

    fn wait_after(&self, latch: &Latch, first: &mut dyn FnMut()) {
        let state = &self.state;
        let nested = NestedWait::enter();
        if local::is_in(state.id()) {
            first();
            return state.run_or_sleep_until(|| latch.is_open());
        }
        if !self.has_idle_callers && state.permits.try_acquire() {
            let scope = QueueScope::enter(state.id());
            let done = catch_unwind(AssertUnwindSafe(first));
            state.run_tasks(|| done.is_err() || latch.is_open());
            state.leave(scope);
            done.unwrap_or_else(|panic| resume_unwind(panic));
        } else {
            first();
        }
        if local::is_blocking_in(state.id()) {
            state.run_blocking_until(latch);
        }
        drop(nested);
        latch.park_until_open();
    }

    fn check_may_wait(&self) -> Result<(), KernelError> {
        check_may_wait()
    }

    fn quiesce(&self) {
        let state = &self.state;
        while !local::is_in(state.id()) && !state.is_idle() {
            state.quiescers.push(std::thread::current());
            // Pairs with the fence in `Permits::release`: either this thread sees that the permit is free, or
            // the thread that released it sees this one in `quiescers`.
            fence(Ordering::SeqCst);
            if !state.is_idle() {
                std::thread::park();
            }
        }
    }
}

impl LocalQueue for MultiThreaded {
    #[inline]
    fn local_tasks(&self) -> Option<LocalTasks> {
        local::tasks_of(self.state.id(), true)
    }

    #[inline]
    fn runs_next(&self) -> bool {
        local::is_last_in(self.state.id())
    }

    fn take_next(&self, wants: &dyn Fn(&Task) -> bool) -> Option<Task> {
        self.state.tasks.take_next(self.state.id(), wants)
    }

    fn hand_over(&self) {
        self.state.hand_over();
    }

    fn workers_for(&self, work: Duration) -> usize {
        let (state, limit) = (&self.state, self.parallelism());
        if work < MIN_SHARED || limit == 1 {
            return 1;
        }
        if work >= WORTH_WAKING {
            return limit;
        }
        match state.tasks.n_searching() {
            0 => {
                let work = work.as_nanos() as u64;
                // Relaxed: an estimate. A sum that is lost delays a wake-up.
                let sum = state.not_shared.load(Ordering::Relaxed) + work;
                let wakes = u128::from(sum) >= WORTH_WAKING.as_nanos();
                state.not_shared.store(if wakes { 0 } else { sum }, Ordering::Relaxed);
                if wakes { 2 } else { 1 }
            }
            searching => limit.min(1 + searching),
        }
    }

    fn add_helpers(&self, helpers: &mut dyn ExactSizeIterator<Item = Task>) {
        let state = &self.state;
        let n = helpers.len();
        helpers.for_each(|helper| state.tasks.push(helper));
        for _ in 0..state.permits.acquire_after_pushes(n, || state.tasks.n_searching()) {
            state.wake_sleeper();
        }
    }
}

impl Drop for MultiThreaded {
    fn drop(&mut self) {
        // Release pairs with the Acquire in `is_closed`.
        self.state.is_closed.store(true, Ordering::Release);
        self.state.sleepers.wake_all();
        if let Some(runtime) = self.runtime.take() {
            // The last reference may be dropped in a task, where waiting for the workers is not allowed. So
            // the runtime is not simply dropped.
            runtime.shutdown_background();
        }
    }
}
