//! [`Parking`]: a parked task that runs when it is woken, such as that of a future.
//!
//! A task in a queue counts as an [`Activity`] of its execution, a parked one does not.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Wake;

use super::{Queue, Task};
use crate::activity::Activity;

/// The waker of a task.
pub struct Parking {
    queue: Queue,
    activity: Option<Arc<Activity>>,
    task: Mutex<Parked>,
}

#[derive(Default)]
enum Parked {
    #[default]
    Nothing,
    Task(Task),
    /// The waker was called before the task was parked.
    Woken,
}

impl Parking {
    /// A waker for a task of this queue, and of an execution.
    pub fn new(queue: Queue, activity: Option<Arc<Activity>>) -> Arc<Parking> {
        Arc::new(Parking { queue, activity, task: Mutex::default() })
    }

    /// Counts the task, which leaves the parking.
    fn begin(&self) {
        self.activity.iter().for_each(|activity| activity.begin());
    }

    /// Replaces what is parked by the first result of `next`, and returns the second. Nothing is dropped
    /// under the lock: destructors of tasks may wake or park.
    fn swap<R>(&self, next: impl FnOnce(Parked) -> (Parked, R)) -> R {
        let mut slot = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        let (parked, left) = next(std::mem::take(&mut slot));
        *slot = parked;
        left
    }

    /// Adds a task that was parked to the queue.
    fn add_to_queue(&self, task: Task) {
        self.begin();
        self.queue.add_task(task);
    }

    /// Drops a parked task. It counts, as it may add others when it is dropped.
    fn drop_parked(&self, task: Task) {
        self.begin();
        drop(task);
    }

    /// Adds the task to the queue when this is woken, or at once if it was woken before. Only one task can be
    /// parked: another one is dropped.
    pub fn park(&self, task: Task) {
        let (woken, replaced) = self.swap(|parked| match parked {
            Parked::Woken => (Parked::Nothing, (Some(task), None)),
            Parked::Nothing => (Parked::Task(task), (None, None)),
            Parked::Task(replaced) => (Parked::Task(task), (None, Some(replaced))),
        });
        woken.into_iter().for_each(|task| self.add_to_queue(task));
        replaced.into_iter().for_each(|task| self.drop_parked(task));
    }
}

impl Wake for Parking {
    fn wake(self: Arc<Parking>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Parking>) {
        let woken = self.swap(|parked| match parked {
            Parked::Task(task) => (Parked::Nothing, Some(task)),
            Parked::Nothing | Parked::Woken => (Parked::Woken, None),
        });
        woken.into_iter().for_each(|task| self.add_to_queue(task));
    }
}

impl Drop for Parking {
    fn drop(&mut self) {
        let parked = self.task.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Parked::Task(task) = std::mem::take(parked) {
            self.drop_parked(task);
        }
    }
}

impl fmt::Debug for Parking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Parking")
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::queue::{Latch, WhenFull, WorkQueue};
    use std::sync::atomic::{AtomicBool, Ordering};

    /// A queue that runs tasks at once.
    struct AtOnce;

    impl WorkQueue for AtOnce {
        fn name(&self) -> &'static str {
            "at_once"
        }
        fn parallelism(&self) -> usize {
            1
        }
        fn add_task(&self, task: Task) {
            task.run();
        }
        fn add_blocking_task(&self, task: Task, _: WhenFull) -> Result<(), Task> {
            task.run();
            Ok(())
        }
        fn wait_after(&self, _: &Latch, first: &mut dyn FnMut()) {
            first();
        }
        fn quiesce(&self) {}
    }

    /// Wakes a parking when it is dropped.
    struct Wakes(Arc<Parking>);

    impl Drop for Wakes {
        fn drop(&mut self) {
            self.0.wake_by_ref();
        }
    }

    #[test]
    fn a_task_that_is_replaced_may_wake_the_parking() {
        let parking = Parking::new(Queue::new(AtOnce), None);
        let wakes = Wakes(parking.clone());
        parking.park(Task::new(move || drop(wakes)));
        let has_run = Arc::new(AtomicBool::new(false));
        let second = has_run.clone();
        parking.park(Task::new(move || second.store(true, Ordering::Relaxed)));
        assert!(has_run.load(Ordering::Relaxed), "the first task's destructor has woken the second");
    }
}
