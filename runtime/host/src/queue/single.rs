//! The single-threaded queue: first come, first served, on the thread that waits.
//!
//! Nothing runs until somebody waits. While it waits, a thread is a *donor*: it runs tasks, its own latch permitting, and
//! sleeps when there are none; whoever adds a task wakes all that sleep, as some of those on the list may have left.

use crossbeam_queue::SegQueue;

use super::{Latch, Task, WorkQueue, run};
use crate::sync::{Ordering, fence};

/// See the module's essay.
#[derive(Default)]
pub struct SingleThreaded {
    tasks: SegQueue<Task>,
    /// All threads that sleep in `wait`, and perhaps some that do not: a needless wake-up is harmless.
    donors: SegQueue<std::thread::Thread>,
}

impl SingleThreaded {
    /// An empty queue.
    pub fn new() -> SingleThreaded {
        SingleThreaded::default()
    }

    fn wake_donors(&self) {
        // Those that come meanwhile look for tasks before they sleep, so there is no need to keep up with them.
        for _ in 0..self.donors.len() {
            if let Some(donor) = self.donors.pop() {
                donor.unpark();
            }
        }
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
        // Pairs with the fence in `wait`: either we see the donor, or it sees the task.
        fence(Ordering::SeqCst);
        self.wake_donors();
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
            // Pairs with the fence in `add_task`.
            fence(Ordering::SeqCst);
            if self.tasks.is_empty() {
                latch.park();
            }
        }
        // Takes this thread off the list, so that it does not grow; the others sign up again.
        self.wake_donors();
    }
}
