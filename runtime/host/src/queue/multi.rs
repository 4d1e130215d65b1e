//! The multi-threaded queue, on a tokio runtime of its own.
//!
//! ```text
//! add_task ──▶ injector (lock-free) ──▶ at most N drainers, each a tokio task that runs until the injector is empty
//! add_blocking_task ──▶ tokio's blocking pool, at most B threads
//! ```
//!
//! Tasks do not become tokio tasks one by one: a drainer takes them from one shared lock-free list, so a task costs a push and a pop, and
//! the order is nearly first come, first served. A drainer that finds the list empty leaves; who adds a task and sees fewer than N
//! drainers starts one. No task is forgotten (`places`).

use std::sync::Arc;

use crossbeam_queue::SegQueue;
use tokio::runtime::{Builder, Handle, Runtime};

use super::places::Places;
use super::{Latch, Task, WorkQueue, run};

struct Shared {
    tasks: SegQueue<Task>,
    places: Places,
}

/// See the module's essay.
pub struct MultiThreaded {
    shared: Arc<Shared>,
    handle: Handle,
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
        let shared = Arc::new(Shared { tasks: SegQueue::new(), places: Places::new(workers) });
        Ok(MultiThreaded { shared, handle: runtime.handle().clone(), runtime: Some(runtime) })
    }
}

impl Shared {
    fn drain(&self) {
        loop {
            while let Some(task) = self.tasks.pop() {
                run(task);
            }
            if !self.places.leave(|| self.tasks.is_empty()) {
                return;
            }
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
        if self.shared.places.after_push() {
            let shared = self.shared.clone();
            self.handle.spawn(async move { shared.drain() });
        }
    }

    fn add_blocking_task(&self, task: Task) {
        self.handle.spawn_blocking(move || run(task));
    }

    fn wait(&self, latch: &Latch) {
        while !latch.is_open() {
            latch.park();
        }
    }
}

impl Drop for MultiThreaded {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Not a plain drop: the last reference may die in a task, where waiting for the workers is not allowed.
            runtime.shutdown_background();
        }
    }
}
