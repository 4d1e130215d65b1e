//! `parallel_for` on the runtime's queues.
#![forbid(unsafe_code)]

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use befrost_host::queue::from_spec;
use befrost_kernel_api::context::Cancellation;
use befrost_kernel_api::error::{ErrorCode, KernelError};
use befrost_kernel_api::parallel::parallel_for;
use befrost_kernel_api::queue::{Latch, Queue, Task, WhenFull, WorkQueue};

const SPECS: [&str; 5] = ["s", "seeded:1", "mstd:1", "mstd:2", "mstd:4"];

fn each(f: impl Fn(&Queue, &Cancellation)) {
    for spec in SPECS {
        f(&from_spec(spec).unwrap(), &Cancellation::default());
    }
}

#[test]
fn every_index_is_visited_once() {
    each(|queue, cancellation| {
        for (n, block) in [(0, 1), (1, 1), (7, 3), (1000, 1), (1000, 7), (10, 100), (5, 0)] {
            let hits: Vec<_> = (0..n).map(|_| AtomicU64::new(0)).collect();
            let body = |range: Range<usize>| {
                assert!(range.len() <= block.max(1));
                range.for_each(|i| _ = hits[i].fetch_add(1, Ordering::Relaxed));
                Ok(())
            };
            assert_eq!(parallel_for(queue, cancellation, n, block, &body), Ok(()));
            assert!(hits.iter().all(|hit| hit.load(Ordering::Relaxed) == 1));
        }
    });
}

#[test]
fn it_may_be_nested() {
    each(|queue, cancellation| {
        let sum = AtomicU64::new(0);
        let inner = |range: Range<usize>| {
            range.for_each(|i| _ = sum.fetch_add(i as u64, Ordering::Relaxed));
            Ok(())
        };
        let middle = |range: Range<usize>| {
            range.into_iter().try_for_each(|_| parallel_for(queue, cancellation, 100, 3, &inner))
        };
        let outer = |range: Range<usize>| {
            range.into_iter().try_for_each(|_| parallel_for(queue, cancellation, 10, 1, &middle))
        };
        assert_eq!(parallel_for(queue, cancellation, 10, 1, &outer), Ok(()));
        assert_eq!(sum.load(Ordering::Relaxed), 10 * 10 * 4950);
    });
}

#[test]
fn the_first_block_that_fails_gives_the_error() {
    each(|queue, cancellation| {
        for _ in 0..50 {
            let body = |range: Range<usize>| match range.start {
                i if i >= 500 => Err(KernelError::invalid(format!("block {i}"))),
                _ => Ok(()),
            };
            let error = parallel_for(queue, cancellation, 1000, 1, &body).unwrap_err();
            assert_eq!(error.message(), "block 500");
        }
        let body = |_: Range<usize>| panic!("a block panics");
        let error = parallel_for(queue, cancellation, 10, 1, &body).unwrap_err();
        assert_eq!(error.message(), "a kernel panicked: a block panics");
    });
}

#[test]
fn a_cancellation_stops_it() {
    each(|queue, _| {
        let cancellation = Cancellation::default();
        let n = AtomicU64::new(0);
        let body = |_: Range<usize>| {
            if n.fetch_add(1, Ordering::Relaxed) == 10 {
                cancellation.cancel();
            }
            Ok(())
        };
        let error = parallel_for(queue, &cancellation, 100_000, 1, &body).unwrap_err();
        assert_eq!(error.code(), ErrorCode::Cancelled);
        assert!(n.load(Ordering::Relaxed) < 1000);
    });
}

/// A queue that takes one task, runs none, and panics when it is given another.
struct Panicking(Arc<Mutex<Option<Task>>>);

impl WorkQueue for Panicking {
    fn name(&self) -> &'static str {
        "panicking"
    }

    fn parallelism(&self) -> usize {
        3
    }

    fn add_task(&self, task: Task) {
        let before = self.0.lock().unwrap().replace(task);
        assert!(before.is_none(), "no more tasks");
    }

    fn add_blocking_task(&self, task: Task, _: WhenFull) -> Result<(), Task> {
        Err(task)
    }

    fn wait_after(&self, _: &Latch, first: &mut dyn FnMut()) {
        first();
    }

    fn quiesce(&self) {}
}

#[test]
fn a_queue_that_panics_does_so_after_the_loop() {
    let kept = Arc::new(Mutex::new(None));
    let queue = Queue::new(Panicking(kept.clone()));
    let hits: Vec<_> = (0..100).map(|_| AtomicU64::new(0)).collect();
    let body = |range: Range<usize>| {
        range.for_each(|i| _ = hits[i].fetch_add(1, Ordering::Relaxed));
        Ok(())
    };
    let run = || parallel_for(&queue, &Cancellation::default(), hits.len(), 1, &body);
    assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
    // Every block is done, so the task that was taken has nothing left to do.
    assert!(hits.iter().all(|hit| hit.load(Ordering::Relaxed) == 1));
    let task = kept.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
    task.expect("a helper").run();
    assert!(hits.iter().all(|hit| hit.load(Ordering::Relaxed) == 1));
}
