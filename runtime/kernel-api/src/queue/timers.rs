//! Timers: actions at a given time.
//!
//! One thread per process sleeps until the earliest time, runs the action, which must be short, and sleeps
//! again. The first timer starts the thread, which ends after a second without timers. Dropping a [`Timer`]
//! cancels it and drops its action. A forked child does not have its parent's threads, so it starts its own.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{Queue, Task, run_task};

/// Time for which the thread waits for a further timer.
const PATIENCE: Duration = Duration::from_secs(1);

struct Timers {
    /// By time, then by order of creation.
    timers: BTreeMap<(Instant, u64), Task>,
    next: u64,
    /// The process that has the thread; 0 if there is none.
    process: u32,
}

static TIMERS: Mutex<Timers> = Mutex::new(Timers { timers: BTreeMap::new(), next: 0, process: 0 });
/// Signals that the earliest time has changed.
static CHANGED: Condvar = Condvar::new();

fn timers() -> MutexGuard<'static, Timers> {
    TIMERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An action in the future. Dropping the timer cancels it.
#[derive(Debug)]
#[must_use]
pub struct Timer((Instant, u64));

impl Timer {
    /// Runs `action` at `when`, on the timers' thread, which it must not keep long.
    ///
    /// # Errors
    /// If the system refuses the thread.
    pub fn new(when: Instant, action: impl FnOnce() + Send + 'static) -> std::io::Result<Timer> {
        Timer::of_task(when, Task::new(action))
    }

    fn of_task(when: Instant, task: Task) -> std::io::Result<Timer> {
        let mut timers = timers();
        let process = std::process::id();
        if timers.process != process {
            std::thread::Builder::new().name("befrost-timers".to_owned()).spawn(serve)?;
            timers.process = process;
        }
        let key = (when, timers.next);
        timers.next += 1;
        timers.timers.insert(key, task);
        if timers.timers.first_key_value().is_some_and(|(first, _)| *first == key) {
            CHANGED.notify_one();
        }
        Ok(Timer(key))
    }

    /// Lets the action happen although the timer is dropped.
    pub fn detach(self) {
        std::mem::forget(self);
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        let task = timers().timers.remove(&self.0);
        // Outside of the lock, because this drops what the action owns.
        drop(task);
    }
}

/// Adds `task` to `queue` at `when`. Nothing happens if the queue is gone by then.
///
/// # Errors
/// If the system refuses a thread.
pub fn add_task_at(queue: &Queue, when: Instant, task: Task) -> std::io::Result<Timer> {
    let queue = queue.downgrade();
    Timer::new(when, move || {
        if let Some(queue) = queue.upgrade() {
            queue.add_task(task);
        }
    })
}

fn serve() {
    let mut timers = timers();
    loop {
        let now = Instant::now();
        let left = match timers.timers.first_entry() {
            Some(first) if first.key().0 <= now => {
                let task = first.remove();
                drop(timers);
                run_task(task);
                timers = self::timers();
                continue;
            }
            Some(first) => first.key().0 - now,
            None => PATIENCE,
        };
        let (guard, waited) = CHANGED.wait_timeout(timers, left).unwrap_or_else(PoisonError::into_inner);
        timers = guard;
        if waited.timed_out() && timers.timers.is_empty() {
            timers.process = 0;
            return;
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn timers_happen_in_order_and_not_when_dropped() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let start = Instant::now();
        let timer = |millis, what: &'static str| {
            let sender = sender.clone();
            let when = start + Duration::from_millis(millis);
            Timer::new(when, move || _ = sender.send((what, Instant::now() >= when))).unwrap()
        };
        let (third, second, dropped, first) =
            (timer(60, "third"), timer(40, "second"), timer(30, "dropped"), timer(20, "first"));
        drop(dropped);
        first.detach();
        assert_eq!(
            [(); 3].map(|()| receiver.recv().unwrap()),
            [("first", true), ("second", true), ("third", true)]
        );
        drop((second, third));
    }
}
