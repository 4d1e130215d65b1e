//! The single-threaded queues: first come, first served, on the thread that waits, or in an order that a seed
//! chooses.
//!
//! Tasks run only while a thread waits. A thread that waits is a *donor*: it runs tasks until its latch is
//! open, and sleeps when there are none. A thread that adds a task from elsewhere wakes all sleeping donors,
//! because some of those on the list may have left. Tasks that a donor's tasks add are the donor's local
//! tasks (`local`) until it leaves.
//!
//! A seeded queue runs its tasks in any order, and tells the executor which of its ready kernels comes next
//! ([`LocalQueue::pick`]). Every order that respects operands is possible; the same seed gives the same
//! order.

use std::sync::atomic::AtomicU64;

use crossbeam_queue::SegQueue;

use super::local::{self, NestedWait, QueueScope};
use super::{Latch, LocalQueue, LocalTasks, Task, WhenFull, WorkQueue, check_may_wait, run_task};
use befrost_kernel_api::KernelError;
use befrost_kernel_api::executor::sync::{Ordering, fence};

/// The single-threaded queue. See the module's essay.
#[derive(Default)]
pub struct SingleThreaded {
    /// Tasks that no donor has taken over.
    tasks: SegQueue<Task>,
    /// All threads that sleep in `wait_after`, and perhaps some that do not: a needless wake-up is harmless.
    donors: SegQueue<std::thread::Thread>,
    /// State of the random numbers, if there is a seed.
    seed: Option<AtomicU64>,
}

impl SingleThreaded {
    /// An empty queue.
    pub fn new() -> SingleThreaded {
        SingleThreaded::default()
    }

    /// An empty queue whose order `seed` chooses.
    pub fn seeded(seed: u64) -> SingleThreaded {
        SingleThreaded { seed: Some(AtomicU64::new(seed)), ..SingleThreaded::default() }
    }

    fn id(&self) -> usize {
        (&raw const *self).addr()
    }

    fn wake_donors(&self) {
        // Donors that arrive meanwhile look for tasks before they sleep, so the initial length suffices.
        for _ in 0..self.donors.len() {
            if let Some(donor) = self.donors.pop() {
                donor.unpark();
            }
        }
    }

    fn share(&self, task: Task) {
        self.tasks.push(task);
        // Pairs with the fence in `sleep`: either this thread sees the donor, or the donor sees the task.
        fence(Ordering::SeqCst);
        self.wake_donors();
    }

    /// The next task. The caller is a donor.
    fn next(&self) -> Option<Task> {
        while !self.tasks.is_empty()
            && let Some(task) = self.tasks.pop()
        {
            match self.local_tasks() {
                Some(local) => _ = local.push(task),
                None => return Some(task),
            }
        }
        match self.seed {
            None => local::take(),
            Some(_) => local::take_any(|n| self.pick(n)),
        }
    }

    /// Sleeps until the latch may be open or there may be a task.
    fn sleep(&self, latch: &Latch) {
        // The donor is announced before it looks again and sleeps: a task that was added in between is either
        // seen here, or its adder sees the donor and wakes it.
        self.donors.push(std::thread::current());
        // Pairs with the fence in `share`.
        fence(Ordering::SeqCst);
        if self.tasks.is_empty() {
            latch.park();
        }
    }
}

impl WorkQueue for SingleThreaded {
    fn name(&self) -> &'static str {
        "s"
    }

    fn has_threads(&self) -> bool {
        false
    }

    fn parallelism(&self) -> usize {
        1
    }

    #[inline]
    fn add_task(&self, task: Task) {
        match self.local_tasks() {
            Some(local) => _ = local.push(task),
            None => self.share(task),
        }
    }

    fn add_blocking_task(&self, task: Task, when_full: WhenFull) -> Result<(), Task> {
        match when_full {
            WhenFull::Wait => {
                self.add_task(task);
                Ok(())
            }
            // The only thread is busy with its caller.
            WhenFull::Refuse => Err(task),
        }
    }

    fn wait_after(&self, latch: &Latch, first: &mut dyn FnMut()) {
        let scope = QueueScope::enter(self.id());
        let nested = NestedWait::enter();
        first();
        while !latch.is_open() {
            match self.next() {
                Some(task) => run_task(task),
                None => self.sleep(latch),
            }
        }
        drop(nested);
        if let Some(scope) = scope {
            // Remaining tasks are for the next donor.
            while let Some(task) = local::take() {
                self.tasks.push(task);
            }
            drop(scope);
            // Pairs with the fence in `sleep`, as the one in `share` does.
            fence(Ordering::SeqCst);
            // Removes this thread from the list, so that it does not grow. The others look for tasks and
            // enter the list again.
            self.wake_donors();
        }
    }

    fn check_may_wait(&self) -> Result<(), KernelError> {
        check_may_wait()
    }

    fn quiesce(&self) {
        let _scope = QueueScope::enter(self.id());
        let _nested = NestedWait::enter();
        while let Some(task) = self.next() {
            run_task(task);
        }
    }
}

impl LocalQueue for SingleThreaded {
    #[inline]
    fn local_tasks(&self) -> Option<LocalTasks> {
        local::tasks_of(self.id(), false)
    }

    #[inline]
    fn runs_next(&self) -> bool {
        // Tasks added by other threads come after the local ones, except that a seed could choose them.
        self.seed.is_none() && local::is_last_in(self.id())
    }

    fn take_next(&self, wants: &dyn Fn(&Task) -> bool) -> Option<Task> {
        if self.seed.is_some() {
            return None;
        }
        // Tasks added by other threads come after it.
        local::take_if(self.id(), wants)
    }

    fn pick(&self, n: usize) -> usize {
        let Some(seed) = &self.seed else { return n - 1 };
        // SplitMix64. Relaxed: one thread at a time draws numbers.
        let mut x = seed.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed);
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^= x >> 31;
        (x % (n as u64)) as usize
    }

    fn is_seeded(&self) -> bool {
        self.seed.is_some()
    }
}
