//! Work queues: where tasks run that are not run at once.
//!
//! A queue is chosen by name, as on `bef-exec`'s command line:
//!
//! ```text
//! s             [`SingleThreaded`]: tasks run in the order they came, on the thread that waits. Deterministic
//! mstd[:N[,B]]  [`MultiThreaded`]: N workers for tasks that never block, at most B threads for those that may (tokio)
//! ```
//!
//! The executor never blocks. Only callers from outside do, by [`WorkQueue::wait`], which lends their thread to the queue where the queue needs it.

mod multi;
mod places;
mod single;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Thread;

pub use multi::MultiThreaded;
pub use single::SingleThreaded;

/// A piece of work.
pub type Task = Box<dyn FnOnce() + Send>;

/// Runs tasks. Tasks never wait for one another.
pub trait WorkQueue: Send + Sync {
    /// The name by which it was asked for, such as `mstd`.
    fn name(&self) -> &'static str;

    /// How many tasks can run at once.
    fn parallelism(&self) -> usize;

    /// Adds a task that will not block.
    fn add_task(&self, task: Task);

    /// Adds a task that may block, on input and output for example.
    fn add_blocking_task(&self, task: Task);

    /// Waits until `latch` is open. Called from outside only, never by a task.
    fn wait(&self, latch: &Latch);
}

/// Runs a task; a panic ends the task, not the thread.
fn run(task: Task) {
    // The panic hook has reported it; what the task owned was dropped, and promises among it became errors.
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(task));
}

/// Counts down to zero and wakes the one thread that waits for it.
#[derive(Debug)]
pub struct Latch {
    left: AtomicUsize,
    waiter: Thread,
}

impl Latch {
    /// A latch that the calling thread will wait for, open after `count` calls of [`count_down`](Latch::count_down).
    pub fn new(count: usize) -> Arc<Latch> {
        Arc::new(Latch { left: AtomicUsize::new(count), waiter: std::thread::current() })
    }

    /// Whether the count has reached zero.
    pub fn is_open(&self) -> bool {
        // Acquire pairs with the Release of the last `count_down`: what it announced is visible.
        self.left.load(Ordering::Acquire) == 0
    }

    /// Counts one event.
    pub fn count_down(&self) {
        // AcqRel: Release publishes this event; Acquire passes the others' on to whoever sees zero.
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.waiter.unpark();
        }
    }

    /// Sleeps until the latch is open or the thread is woken for another reason.
    pub(crate) fn park(&self) {
        if !self.is_open() {
            std::thread::park();
        }
    }
}

/// Why a queue could not be made.
#[derive(Debug)]
pub enum QueueError {
    /// No queue has this name.
    UnknownName(String),
    /// The numbers after the colon are not as they should be.
    BadArguments(String),
    /// The system refused threads.
    Threads(std::io::Error),
}

impl fmt::Display for QueueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueueError::UnknownName(name) => write!(f, "unknown work queue '{name}': use s or mstd[:N[,B]]"),
            QueueError::BadArguments(text) => write!(
                f,
                "bad work queue '{text}': after mstd: come the number of workers (1 to {MAX_THREADS}) and, after a comma, of blocking threads"
            ),
            QueueError::Threads(error) => write!(f, "cannot start threads: {error}"),
        }
    }
}

impl std::error::Error for QueueError {}

/// More threads than this are a mistake.
const MAX_THREADS: usize = 4096;

/// The queue that `spec` names: `s`, `mstd`, `mstd:N` or `mstd:N,B`.
///
/// # Errors
/// If there is no such queue, its numbers are out of range, or the system refuses threads.
pub fn from_spec(spec: &str) -> Result<Arc<dyn WorkQueue>, QueueError> {
    let bad = || QueueError::BadArguments(spec.to_owned());
    let count = |text: &str| match text.parse::<usize>() {
        Ok(n) if (1..=MAX_THREADS).contains(&n) => Ok(n),
        _ => Err(bad()),
    };
    let (name, arguments) = match spec.split_once(':') {
        Some((name, arguments)) => (name, Some(arguments)),
        None => (spec, None),
    };
    match (name, arguments) {
        ("s", None) => Ok(Arc::new(SingleThreaded::new())),
        ("s", Some(_)) => Err(bad()),
        ("mstd", arguments) => {
            let (workers, blocking) = match arguments.map(|text| text.split_once(',').unwrap_or((text, ""))) {
                None => (None, None),
                Some((workers, "")) if !spec.ends_with(',') => (Some(count(workers)?), None),
                Some((workers, blocking)) => (Some(count(workers)?), Some(count(blocking)?)),
            };
            let workers =
                workers.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
            Ok(Arc::new(MultiThreaded::new(workers, blocking.unwrap_or(256)).map_err(QueueError::Threads)?))
        }
        _ => Err(QueueError::UnknownName(spec.to_owned())),
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn specs_name_queues() {
        let check = |spec: &str, name: &str, parallelism: usize| {
            let queue = from_spec(spec).unwrap();
            assert_eq!((queue.name(), queue.parallelism()), (name, parallelism));
        };
        check("s", "s", 1);
        check("mstd:3", "mstd", 3);
        check("mstd:2,5", "mstd", 2);
        for bad in [
            "",
            "S",
            "s:1",
            "mstd:",
            "mstd:0",
            "mstd:1,",
            "mstd:1,0",
            "mstd:1,2,3",
            "mstd:x",
            "mstd:-1",
            "mstd:99999",
        ] {
            assert!(from_spec(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn tasks_of_the_single_queue_run_in_order_on_the_waiting_thread() {
        let queue = Arc::new(SingleThreaded::new());
        let order = Arc::new(Mutex::new(Vec::new()));
        let latch = Latch::new(4);
        for i in 0..2 {
            let (queue_in, order, latch) = (queue.clone(), order.clone(), latch.clone());
            queue.add_task(Box::new(move || {
                order.lock().unwrap().push((i, std::thread::current().id()));
                let (order, latch_in) = (order.clone(), latch.clone());
                queue_in.add_blocking_task(Box::new(move || {
                    order.lock().unwrap().push((i + 2, std::thread::current().id()));
                    latch_in.count_down();
                }));
                latch.count_down();
            }));
        }
        queue.wait(&latch);
        let here = std::thread::current().id();
        assert_eq!(*order.lock().unwrap(), [(0, here), (1, here), (2, here), (3, here)]);
    }

    #[test]
    fn the_single_queue_wakes_for_tasks_from_other_threads() {
        let queue = Arc::new(SingleThreaded::new());
        let latch = Latch::new(100);
        let adder = {
            let (queue, latch) = (queue.clone(), latch.clone());
            std::thread::spawn(move || {
                for _ in 0..100 {
                    let latch = latch.clone();
                    queue.add_task(Box::new(move || latch.count_down()));
                    std::thread::yield_now();
                }
            })
        };
        queue.wait(&latch);
        adder.join().unwrap();
    }

    #[test]
    fn a_thread_that_has_left_the_single_queue_is_not_taken_for_a_donor() {
        let queue = Arc::new(SingleThreaded::new());
        let (first, opened) = (Latch::new(1), std::sync::mpsc::channel());
        // Its latch is opened from outside: it sleeps in the queue and leaves without having run a task.
        let opener = {
            let first = first.clone();
            std::thread::spawn(move || {
                std::thread::sleep(std::time::Duration::from_millis(20));
                first.count_down();
            })
        };
        queue.wait(&first);
        opener.join().unwrap();
        let waiter = {
            let queue = queue.clone();
            std::thread::spawn(move || {
                let latch = Latch::new(1);
                opened.0.send(latch.clone()).unwrap();
                queue.wait(&latch);
            })
        };
        let latch = opened.1.recv().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        queue.add_task(Box::new(move || latch.count_down()));
        for _ in 0..500 {
            if waiter.is_finished() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("the task was left behind");
    }

    #[test]
    fn the_multi_queue_runs_everything_and_survives_panics() {
        for workers in [1, 2, 4] {
            let queue = Arc::new(MultiThreaded::new(workers, 2).unwrap());
            let latch = Latch::new(10_000);
            for i in 0..1000 {
                let (queue_in, latch) = (queue.clone(), latch.clone());
                queue.add_task(Box::new(move || {
                    for _ in 0..9 {
                        let latch = latch.clone();
                        let task: Task = Box::new(move || latch.count_down());
                        if i % 10 == 0 { queue_in.add_blocking_task(task) } else { queue_in.add_task(task) }
                    }
                    latch.count_down();
                    // The last references may die on a worker.
                    drop(queue_in);
                }));
            }
            queue.wait(&latch);
        }
    }
}
