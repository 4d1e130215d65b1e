//! The single-threaded queue: first come, first served, on the thread that waits.
//!
//! Nothing runs until somebody waits. While it waits, a thread is a *donor*: it runs tasks, its own latch permitting, and
//! sleeps when there are none; whoever adds a task wakes a donor.

use crossbeam_queue::SegQueue;

use super::{Latch, Task, WorkQueue, run};

/// See the module's essay.
#[derive(Default)]
pub struct SingleThreaded {
    tasks: SegQueue<Task>,
    /// Threads that sleep in `wait`, each perhaps more than once: a needless wake-up is harmless.
    donors: SegQueue<std::thread::Thread>,
}

impl SingleThreaded {
    /// An empty queue.
    pub fn new() -> SingleThreaded {
        SingleThreaded::default()
    }
}

impl WorkQueue for SingleThreaded {
    fn name(&self) -> &'static str {
        "s"
    }

    fn parallelism(&self) -> usize {
        1
    }

    fn add_task(&self, task: Task) {
        self.tasks.push(task);
        if let Some(donor) = self.donors.pop() {
            donor.unpark();
        }
    }

    fn add_blocking_task(&self, task: Task) {
        self.add_task(task);
    }

    fn wait(&self, latch: &Latch) {
        while !latch.is_open() {
            if let Some(task) = self.tasks.pop() {
                run(task);
                continue;
            }
            // Announce first, look again, then sleep: a task that was added in between has either been seen or has a donor to wake.
            self.donors.push(std::thread::current());
            if self.tasks.is_empty() {
                latch.park();
            }
        }
    }
}
