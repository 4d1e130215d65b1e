//! The single-threaded queues: first come, first served, on the thread that waits; or in an order that a seed
//! chooses.
//!
//! Nothing runs until somebody waits. While it waits, a thread is a *donor*: it runs tasks, its own latch
//! permitting, and sleeps when there are none; whoever adds a task from elsewhere wakes all that sleep, as
//! some of those on the list may have left. Tasks that a donor's tasks add are the donor's own (`here`) until
//! it leaves.
//!
//! With a seed, the queue gives its tasks in any order, and tells the executor which of its ready kernels
//! comes next ([`WorkQueue::pick`]): every order that respects operands can come, the same one each time for
//! the same seed.

use std::sync::atomic::AtomicU64;

use crossbeam_queue::SegQueue;

use super::here::{self, Nested, Scope};
use super::{Latch, LocalQueue, Task, WhenFull, WorkQueue, may_wait, run_task};
use befrost_kernel_api::KernelError;
use befrost_kernel_api::executor::sync::{Ordering, fence};

/// See the module's essay.
#[derive(Default)]
pub struct SingleThreaded {
    /// Tasks that no donor has taken over.
    tasks: SegQueue<Task>,
    /// All threads that sleep in `wait`, and perhaps some that do not: a needless wake-up is harmless.
    donors: SegQueue<std::thread::Thread>,
    /// The state of the random numbers, if there is a seed.
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
        // Those that come meanwhile look for tasks before they sleep, so there is no need to keep up with
        // them.
        for _ in 0..self.donors.len() {
            if let Some(donor) = self.donors.pop() {
                donor.unpark();
            }
        }
    }

    fn share(&self, task: Task) {
        self.tasks.push(task);
        // Pairs with the fence in `sleep`: either we see the donor, or it sees the task.
        fence(Ordering::SeqCst);
        self.wake_donors();
    }

    /// The next task. The caller is a donor.
    fn next(&self) -> Option<Task> {
        while !self.tasks.is_empty()
            && let Some(task) = self.tasks.pop()
        {
            match self.local_queue() {
                Some(local) => _ = local.push(task),
                None => return Some(task),
            }
        }
        match self.seed {
            None => here::take(),
            Some(_) => here::take_any(|n| self.pick(n)),
        }
    }

    /// Sleeps until the latch may be open or there may be a task.
    fn sleep(&self, latch: &Latch) {
        // Announce first, look again, then sleep: a task that was added in between has either been seen or
        // has a donor to wake.
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

    fn parallelism(&self) -> usize {
        1
    }

    #[inline]
    fn add_task(&self, task: Task) {
        match self.local_queue() {
            Some(local) => _ = local.push(task),
            None => self.share(task),
        }
    }

    #[inline]
    fn local_queue(&self) -> Option<LocalQueue> {
        here::local_queue(self.id(), false)
    }

    #[inline]
    fn runs_next(&self) -> bool {
        // One that others have added comes after those that are here, but a seed could choose it.
        self.seed.is_none() && here::is_last_in(self.id())
    }

    fn take_next(&self, wants: &dyn Fn(&Task) -> bool) -> Option<Task> {
        if self.seed.is_some() {
            return None;
        }
        // What others have added comes after it.
        here::take_if(self.id(), wants)
    }

    fn add_blocking_task(&self, task: Task, when_full: WhenFull) -> Result<(), Task> {
        match when_full {
            WhenFull::Wait => {
                self.add_task(task);
                Ok(())
            }
            // The one thread is busy with its caller.
            WhenFull::Refuse => Err(task),
        }
    }

    fn wait_after(&self, latch: &Latch, first: &mut dyn FnMut()) {
        let scope = Scope::enter(self.id());
        let nested = Nested::enter();
        first();
        while !latch.is_open() {
            match self.next() {
                Some(task) => run_task(task),
                None => self.sleep(latch),
            }
        }
        drop(nested);
        if let Some(scope) = scope {
            // What is left is for the next donor.
            while let Some(task) = here::take() {
                self.tasks.push(task);
            }
            drop(scope);
            fence(Ordering::SeqCst);
            // Takes this thread off the list, so that it does not grow; the others look for tasks and sign up
            // again.
            self.wake_donors();
        }
    }

    fn may_wait(&self) -> Result<(), KernelError> {
        may_wait()
    }

    fn quiesce(&self) {
        let _scope = Scope::enter(self.id());
        let _nested = Nested::enter();
        while let Some(task) = self.next() {
            run_task(task);
        }
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
