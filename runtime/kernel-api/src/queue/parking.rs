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

    fn swap(&self, parked: impl FnOnce(Parked) -> (Parked, Option<Task>)) {
        let mut slot = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        let (parked, task) = parked(std::mem::take(&mut slot));
        *slot = parked;
        drop(slot);
        if let Some(task) = task {
            self.begin();
            self.queue.add_task(task);
        }
    }

    /// Adds the task to the queue when this is woken, or at once if it was woken before.
    pub fn park(&self, task: Task) {
        self.swap(|parked| match parked {
            Parked::Woken => (Parked::Nothing, Some(task)),
            Parked::Nothing | Parked::Task(_) => (Parked::Task(task), None),
        });
    }
}

impl Wake for Parking {
    fn wake(self: Arc<Parking>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Parking>) {
        self.swap(|parked| match parked {
            Parked::Task(task) => (Parked::Nothing, Some(task)),
            Parked::Nothing | Parked::Woken => (Parked::Woken, None),
        });
    }
}

impl Drop for Parking {
    fn drop(&mut self) {
        let parked = self.task.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Parked::Task(task) = std::mem::take(parked) {
            self.begin();
            drop(task);
        }
    }
}

impl fmt::Debug for Parking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Parking")
    }
}
