//! Timers: what is to happen at a time.
//!
//! One thread per process sleeps until the earliest time, does what is to be done, which must be little, and
//! sleeps again. It is started by the first timer and ends when there has been none for a while. A [`Timer`]
//! that is dropped does not happen, and leaves nothing behind.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{Task, WorkQueue, run_task};

/// How long the thread waits for a further timer.
const PATIENCE: Duration = Duration::from_secs(1);

struct State {
    /// By time, then by order of making.
    timers: BTreeMap<(Instant, u64), Task>,
    next: u64,
    has_thread: bool,
}

static STATE: Mutex<State> = Mutex::new(State { timers: BTreeMap::new(), next: 0, has_thread: false });
/// The earliest time has changed.
static CHANGED: Condvar = Condvar::new();

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Something that will happen; not, if this is dropped before.
#[derive(Debug)]
#[must_use]
pub struct Timer((Instant, u64));

impl Timer {
    /// Does `action` at `when`, on the timers' thread, which it must not keep long.
    ///
    /// # Errors
    /// If the system refuses the thread.
    pub fn new(when: Instant, action: impl FnOnce() + Send + 'static) -> std::io::Result<Timer> {
        Timer::of_task(when, Task::new(action))
    }

    fn of_task(when: Instant, task: Task) -> std::io::Result<Timer> {
        let mut state = state();
        if !state.has_thread {
            std::thread::Builder::new().name("befrost-timers".to_owned()).spawn(serve)?;
            state.has_thread = true;
        }
        let key = (when, state.next);
        state.next += 1;
        state.timers.insert(key, task);
        if state.timers.first_key_value().is_some_and(|(first, _)| *first == key) {
            CHANGED.notify_one();
        }
        Ok(Timer(key))
    }

    /// Lets it happen without anybody holding it.
    pub fn detach(self) {
        std::mem::forget(self);
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        let task = state().timers.remove(&self.0);
        // Not under the lock: it drops what the action owns.
        drop(task);
    }
}

/// Adds `task` to `queue` at `when`; nothing happens if the queue is gone by then.
///
/// # Errors
/// If the system refuses a thread.
pub fn add_task_at(queue: &Arc<dyn WorkQueue>, when: Instant, task: Task) -> std::io::Result<Timer> {
    let queue = Arc::downgrade(queue);
    Timer::new(when, move || {
        if let Some(queue) = queue.upgrade() {
            queue.add_task(task);
        }
    })
}

fn serve() {
    let mut state = state();
    loop {
        let now = Instant::now();
        let left = match state.timers.first_entry() {
            Some(first) if first.key().0 <= now => {
                let task = first.remove();
                drop(state);
                run_task(task);
                state = self::state();
                continue;
            }
            Some(first) => first.key().0 - now,
            None => PATIENCE,
        };
        let (guard, waited) = CHANGED.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
        state = guard;
        if waited.timed_out() && state.timers.is_empty() {
            state.has_thread = false;
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
