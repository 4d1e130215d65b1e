//! The multi-threaded queue, on a tokio runtime of its own.
//!
//!     add_task ──▶ injector (lock-free) ──▶ at most N drainers, each a tokio task that runs until the injector is empty
//!     add_blocking_task ──▶ tokio's blocking pool, at most B threads
//!
//! Tasks do not become tokio tasks one by one: a drainer takes them from one shared lock-free list, so a task costs a push and a pop, and
//! the order is nearly first come, first served. A drainer that finds the list empty leaves; who adds a task and sees fewer than N
//! drainers starts one. No task is forgotten: the drainer gives its place up first and looks once more.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering, fence};

use crossbeam_queue::SegQueue;
use tokio::runtime::{Builder, Handle, Runtime};

use super::{Latch, Task, WorkQueue, run};

struct Shared {
    tasks: SegQueue<Task>,
    drainers: AtomicUsize,
    workers: usize,
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
        let shared = Arc::new(Shared { tasks: SegQueue::new(), drainers: AtomicUsize::new(0), workers });
        Ok(MultiThreaded { shared, handle: runtime.handle().clone(), runtime: Some(runtime) })
    }
}

impl Shared {
    /// Takes a drainer's place if one is free.
    fn enter(&self) -> bool {
        let mut drainers = self.drainers.load(Ordering::Relaxed);
        while drainers < self.workers {
            // Relaxed: the count guards no data; the fences order it against the list.
            match self.drainers.compare_exchange_weak(
                drainers,
                drainers + 1,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(now) => drainers = now,
            }
        }
        false
    }

    fn drain(&self) {
        loop {
            while let Some(task) = self.tasks.pop() {
                run(task);
            }
            self.drainers.fetch_sub(1, Ordering::Relaxed);
            // Pairs with the fence in `add_task`: either that one sees the place given up here, or this one sees its task.
            fence(Ordering::SeqCst);
            if self.tasks.is_empty() || !self.enter() {
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
        self.shared.workers
    }

    fn add_task(&self, task: Task) {
        self.shared.tasks.push(task);
        // Pairs with the fence in `drain`.
        fence(Ordering::SeqCst);
        if self.shared.enter() {
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
