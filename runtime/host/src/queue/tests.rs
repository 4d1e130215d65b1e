//! Tests of the queues, through the trait.

use super::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

#[test]
fn specs_name_queues() {
    let check = |spec: &str, name: &str, parallelism: usize| {
        let queue = from_spec(spec).unwrap();
        assert_eq!((queue.name(), queue.parallelism()), (name, parallelism));
    };
    check("s", "s", 1);
    check("mstd:3", "mstd", 3);
    check("mstd:2,5", "mstd", 2);
    check("seeded:7", "s", 1);
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
    let queue = Queue::from(SingleThreaded::new());
    let order = Arc::new(Mutex::new(Vec::new()));
    let latch = Latch::new(4);
    for i in 0..2 {
        let (queue_in, order, latch) = (queue.clone(), order.clone(), latch.clone());
        queue.add_task(Task::new(move || {
            order.lock().unwrap().push((i, std::thread::current().id()));
            let (order, latch_in) = (order.clone(), latch.clone());
            let task = Task::new(move || {
                order.lock().unwrap().push((i + 2, std::thread::current().id()));
                latch_in.count_down();
            });
            queue_in.add_blocking_task(task, WhenFull::Wait).unwrap();
            latch.count_down();
        }));
    }
    queue.wait(&latch);
    let here = std::thread::current().id();
    assert_eq!(*order.lock().unwrap(), [(0, here), (1, here), (2, here), (3, here)]);
}

#[test]
fn the_single_queue_wakes_for_tasks_from_other_threads() {
    let queue = Queue::from(SingleThreaded::new());
    let latch = Latch::new(100);
    let adder = {
        let (queue, latch) = (queue.clone(), latch.clone());
        std::thread::spawn(move || {
            for _ in 0..100 {
                let latch = latch.clone();
                queue.add_task(Task::new(move || latch.count_down()));
                std::thread::yield_now();
            }
        })
    };
    queue.wait(&latch);
    adder.join().unwrap();
}

#[test]
fn a_thread_that_has_left_the_single_queue_is_not_taken_for_a_donor() {
    let queue = Queue::from(SingleThreaded::new());
    let (first, opened) = (Latch::new(1), std::sync::mpsc::channel());
    // The latch is opened from outside: the thread sleeps in the queue and leaves without having run a task.
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
    queue.add_task(Task::new(move || latch.count_down()));
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
        let queue = Queue::from(MultiThreaded::new(workers, 2).unwrap());
        let latch = Latch::new(10_000);
        for i in 0..1000 {
            let (queue_in, latch) = (queue.clone(), latch.clone());
            queue.add_task(Task::new(move || {
                for _ in 0..9 {
                    let latch = latch.clone();
                    let task = Task::new(move || latch.count_down());
                    match i % 10 {
                        0 => queue_in.add_blocking_task(task, WhenFull::Wait).unwrap(),
                        1 => queue_in.local().add_soon(task),
                        _ => queue_in.add_task(task),
                    }
                }
                latch.count_down();
                // The last references may be dropped on a worker.
                drop(queue_in);
            }));
        }
        queue.wait(&latch);
    }
}

/// A task that opens a latch.
fn opens(latch: &Arc<Latch>) -> Task {
    let latch = latch.clone();
    Task::new(move || latch.count_down())
}

#[test]
fn a_seed_chooses_an_order_and_always_the_same() {
    let order = |seed: u64| {
        let queue = Queue::from(SingleThreaded::seeded(seed));
        let order = Arc::new(Mutex::new(Vec::new()));
        let latch = Latch::new(20);
        for i in 0..10 {
            let (queue_in, order, latch) = (queue.clone(), order.clone(), latch.clone());
            queue.add_task(Task::new(move || {
                order.lock().unwrap().push(i);
                let (order, latch_in) = (order.clone(), latch.clone());
                queue_in.local().add_soon(Task::new(move || {
                    order.lock().unwrap().push(i + 10);
                    latch_in.count_down();
                }));
                latch.count_down();
            }));
        }
        queue.wait(&latch);
        let order = order.lock().unwrap().clone();
        let at = |i: i32| order.iter().position(|&one| one == i);
        assert!((0..10).all(|i| at(i) < at(i + 10)), "a task runs before those that it adds: {order:?}");
        order
    };
    assert_eq!(order(1), order(1));
    let different: std::collections::BTreeSet<_> = (0..20).map(order).collect();
    assert!(different.len() > 15);
}

#[test]
fn a_wait_inside_a_task_runs_other_tasks() {
    for spec in ["s", "seeded:3", "mstd:1", "mstd:2", "mstd:1,1"] {
        let queue = from_spec(spec).unwrap();
        let done = Latch::new(20);
        for i in 0..20 {
            let (queue_in, done) = (queue.clone(), done.clone());
            queue.add_task(Task::new(move || {
                let inner = Latch::new(2);
                queue_in.add_task(opens(&inner));
                // Added by a thread for blocking tasks, later: the worker sleeps meanwhile.
                let (queue, latch) = (queue_in.clone(), inner.clone());
                let late = Task::new(move || {
                    if i % 5 == 0 {
                        std::thread::sleep(std::time::Duration::from_millis(5));
                    }
                    queue.add_task(opens(&latch));
                });
                queue_in.add_blocking_task(late, WhenFull::Wait).unwrap();
                queue_in.wait(&inner);
                done.count_down();
            }));
        }
        queue.wait(&done);
    }
}

#[test]
fn waits_do_not_nest_without_end() {
    fn nest(queue: &Queue, deepest: &Arc<Mutex<u32>>, depth: u32) {
        if check_may_wait().is_err() {
            *deepest.lock().unwrap() = depth;
            return;
        }
        let latch = Latch::new(1);
        let (queue_in, deepest, opens) = (queue.clone(), deepest.clone(), opens(&latch));
        queue.add_task(Task::new(move || {
            nest(&queue_in, &deepest, depth + 1);
            opens.run();
        }));
        queue.wait(&latch);
    }
    for spec in ["s", "mstd:1"] {
        let deepest = Arc::default();
        nest(&from_spec(spec).unwrap(), &deepest, 0);
        let deepest = *deepest.lock().unwrap();
        // The depth is counted from the worker or from the waiting thread.
        assert!((local::MAX_DEPTH..=local::MAX_DEPTH + 1).contains(&deepest), "{spec}: {deepest}");
    }
}

/// A chain of blocking tasks each of which waits for the next, on as few threads as there may be: it ends
/// when waits nest too deeply.
#[test]
fn blocking_tasks_that_wait_for_others_run_them() {
    fn nest(queue: &Queue, deepest: &Arc<AtomicUsize>, all: &Arc<Latch>) {
        deepest.fetch_add(1, Ordering::Relaxed);
        if check_may_wait().is_err() {
            return all.count_down();
        }
        let latch = Latch::new(1);
        let (queue_in, deepest, all, opens) = (queue.clone(), deepest.clone(), all.clone(), opens(&latch));
        let inner = Task::new(move || {
            nest(&queue_in, &deepest, &all);
            opens.run();
        });
        queue.add_blocking_task(inner, WhenFull::Wait).unwrap();
        queue.wait(&latch);
    }
    for (workers, blocking, chains) in [(1, 1, 1), (2, 3, 5)] {
        let queue = Queue::from(MultiThreaded::new(workers, blocking).unwrap());
        let (deepest, all) = (Arc::default(), Latch::new(chains));
        for _ in 0..chains {
            let (queue_in, deepest, all) = (queue.clone(), Arc::clone(&deepest), all.clone());
            let first = Task::new(move || nest(&queue_in, &deepest, &all));
            queue.add_blocking_task(first, WhenFull::Wait).unwrap();
        }
        queue.wait(&all);
        queue.quiesce();
        let most = blocking * local::MAX_DEPTH as usize + chains;
        assert!((local::MAX_DEPTH as usize..=most).contains(&deepest.load(Ordering::Relaxed)), "{deepest:?}");
    }
}

#[test]
fn a_task_that_goes_on_hands_over_what_it_added() {
    let queue = Queue::from(MultiThreaded::new(2, 1).unwrap());
    let (done, seen) = (Latch::new(1), Latch::new(1));
    let (queue_in, done_in) = (queue.clone(), done.clone());
    queue.add_task(Task::new(move || {
        // The other worker has to run it while this one continues.
        let (sender, receiver) = std::sync::mpsc::channel();
        queue_in.local().add_soon(Task::new(move || sender.send(()).unwrap()));
        queue_in.local().hand_over();
        receiver.recv().unwrap();
        done_in.count_down();
    }));
    // The thread does not wait in the queue: as a donor it could run both tasks.
    while !done.is_open() {
        std::thread::yield_now();
    }
    queue.add_task(opens(&seen));
    queue.wait(&seen);
}

/// Tasks that a worker has shared are run by others while it continues: all of them, however many.
#[test]
fn opened_tasks_are_stolen() {
    for workers in [2, 3] {
        let queue = Queue::from(MultiThreaded::new(workers, 1).unwrap());
        for n in [1, 2, 31, 200, crate::fewer(3000)] {
            let (left, latch) = (Arc::new(AtomicUsize::new(n)), Latch::new(1));
            let (queue_in, latch_in) = (queue.clone(), latch.clone());
            queue.add_task(Task::new(move || {
                for _ in 0..n {
                    let left = left.clone();
                    queue_in.local().add_soon(Task::new(move || _ = left.fetch_sub(1, Ordering::Relaxed)));
                }
                queue_in.local().hand_over();
                while left.load(Ordering::Relaxed) > 0 {
                    std::thread::yield_now();
                }
                latch_in.count_down();
            }));
            latch.park_until_open();
        }
    }
}

/// Neither tasks that a worker has shared, nor tasks from elsewhere, wait for the end of a chain of tasks.
#[test]
fn a_chain_of_tasks_keeps_nobody_waiting() {
    fn chain(queue: Queue, is_over: Arc<AtomicUsize>, latch: Arc<Latch>) {
        if is_over.load(Ordering::Relaxed) == 0 {
            return latch.count_down();
        }
        queue.clone().local().add_soon(Task::new(move || chain(queue, is_over, latch)));
    }
    let queue = Queue::from(MultiThreaded::new(1, 1).unwrap());
    let (left, latch) = (Arc::new(AtomicUsize::new(200)), Latch::new(1));
    let counts = |left: &Arc<AtomicUsize>| {
        let left = left.clone();
        Task::new(move || _ = left.fetch_sub(1, Ordering::Relaxed))
    };
    let first = {
        let (queue, left, latch) = (queue.clone(), left.clone(), latch.clone());
        Task::new(move || {
            (0..100).for_each(|_| queue.local().add_soon(counts(&left)));
            queue.local().hand_over();
            chain(queue, left, latch);
        })
    };
    queue.add_task(first);
    (0..100).for_each(|_| queue.add_task(counts(&left)));
    latch.park_until_open();
}

#[test]
fn blocking_tasks_beyond_the_limit_wait_or_are_refused() {
    let queue = MultiThreaded::new(1, 2).unwrap();
    let gate = Arc::new(std::sync::Barrier::new(3));
    let blocks = || {
        let gate = gate.clone();
        Task::new(move || _ = gate.wait())
    };
    queue.add_blocking_task(blocks(), WhenFull::Refuse).unwrap();
    queue.add_blocking_task(blocks(), WhenFull::Wait).unwrap();
    let latch = Latch::new(1);
    assert!(queue.add_blocking_task(opens(&latch), WhenFull::Refuse).is_err());
    queue.add_blocking_task(opens(&latch), WhenFull::Wait).unwrap();
    assert!(!latch.is_open());
    gate.wait();
    queue.wait(&latch);
    queue.quiesce();
    queue.add_blocking_task(Task::new(|| ()), WhenFull::Refuse).unwrap();
    let single = SingleThreaded::new();
    assert!(single.add_blocking_task(Task::new(|| ()), WhenFull::Refuse).is_err());
}

#[test]
fn quiescence_is_when_nothing_waits_or_runs() {
    for spec in ["s", "seeded:1", "mstd:1", "mstd:3,2"] {
        let queue = from_spec(spec).unwrap();
        for _ in 0..20 {
            let n = Arc::new(AtomicUsize::new(0));
            for _ in 0..100 {
                let (n, queue_in) = (n.clone(), queue.clone());
                queue.add_task(Task::new(move || {
                    n.fetch_add(1, Ordering::Relaxed);
                    let n = n.clone();
                    let blocking = Task::new(move || _ = n.fetch_add(1, Ordering::Relaxed));
                    queue_in.add_blocking_task(blocking, WhenFull::Wait).unwrap();
                }));
            }
            queue.quiesce();
            assert_eq!(n.load(Ordering::Relaxed), 200, "{spec}");
        }
    }
}

#[test]
fn what_a_dropped_queue_has_not_run_is_dropped() {
    let queue = from_spec("mstd:1").unwrap();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let (begin, began) = std::sync::mpsc::channel();
    queue.add_task(Task::new(move || {
        begin.send(()).unwrap();
        assert!(ended.recv().is_ok(), "the queue is dropped while this runs");
    }));
    began.recv().unwrap();
    let (hold, held) = std::sync::mpsc::channel::<()>();
    let more = hold.clone();
    queue.add_task(Task::new(move || drop(hold)));
    queue.add_task(Task::new(move || more.send(()).unwrap()));
    drop(queue);
    end.send(()).unwrap();
    // The worker is at its end once its tasks are dropped, without having run.
    let late = held.recv_timeout(std::time::Duration::from_secs(60));
    assert_eq!(late, Err(std::sync::mpsc::RecvTimeoutError::Disconnected));
}
