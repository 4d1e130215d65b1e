//! Tests of the AsyncValue protocol: each transition alone, then under loom against each other transition it
//! can race with.

use super::*;

fn int(value: &AsyncRef) -> Option<i32> {
    match value.value() {
        Some(Value::I32(value)) => Some(*value),
        _ => None,
    }
}

#[cfg(not(loom))]
mod sequential {
    use super::*;
    use crate::fewer;
    use std::sync::{Arc, Mutex};

    #[test]
    fn waiters_run_newest_first_on_the_producing_thread() {
        let order = Arc::new(Mutex::new(Vec::new()));
        let (promise, value) = AsyncRef::pending();
        for i in 0..3 {
            let order = order.clone();
            value.and_then(move |_| order.lock().unwrap().push(i));
        }
        assert_eq!(int(&value), None);
        promise.set(Value::I32(7));
        assert_eq!(*order.lock().unwrap(), [2, 1, 0]);
        assert_eq!(int(&value), Some(7));
    }

    #[test]
    fn a_panic_in_a_waiter_ends_no_other() {
        let order = Arc::new(Mutex::new(Vec::new()));
        let (promise, value) = AsyncRef::pending();
        for i in 0..3 {
            let order = order.clone();
            value.and_then(move |_| {
                assert_ne!(i, 1, "a waiter panics");
                order.lock().unwrap().push(i);
            });
        }
        promise.set(Value::I32(7));
        assert_eq!(*order.lock().unwrap(), [2, 0]);
    }

    #[test]
    fn forwarding_moves_the_waiters_and_collapses() {
        let order = Arc::new(Mutex::new(Vec::new()));
        let (target, source) = AsyncRef::pending();
        let push = |value: &AsyncRef, i: i32| {
            let order = order.clone();
            value.and_then(move |_| order.lock().unwrap().push(i));
        };
        push(&source, 0);
        let mut last = source.clone();
        for i in 0..100_000 {
            let (promise, value) = AsyncRef::pending();
            if i == 5 {
                push(&value, 1);
                push(&value, 2);
            }
            promise.forward(&last);
            last = value;
        }
        target.set(Value::I32(3));
        assert_eq!(int(&last), Some(3));
        assert_eq!(*order.lock().unwrap(), [2, 1, 0]);
    }

    #[test]
    fn a_chain_of_late_forwards_is_freed_without_recursion() {
        let (first, head) = AsyncRef::pending();
        let mut promise = first;
        for _ in 0..200_000 {
            let (next, value) = AsyncRef::pending();
            promise.forward(&value);
            promise = next;
        }
        promise.set(Value::I32(1));
        assert_eq!(int(&head), Some(1));
    }

    #[test]
    fn a_dropped_promise_and_a_cycle_are_errors() {
        let (promise, value) = AsyncRef::pending();
        drop(promise);
        assert!(value.value().is_some_and(|v| v.error().is_some()));
        let (promise, value) = AsyncRef::pending();
        promise.forward(&value.clone());
        assert!(value.value().is_some_and(|v| v.error().is_some()));
    }

    /// Threads forward the values of a ring to each other at the same time: none waits for ever.
    #[test]
    fn a_ring_of_forwards_becomes_an_error() {
        for n in [2, 3, 5] {
            for _ in 0..fewer(200) {
                let (promises, values): (Vec<_>, Vec<_>) = (0..n).map(|_| AsyncRef::pending()).unzip();
                let hits = Arc::new(Mutex::new(0));
                for value in &values {
                    let hits = hits.clone();
                    value.and_then(move |value| *hits.lock().unwrap() += u32::from(value.error().is_some()));
                }
                let start = std::sync::Barrier::new(n);
                std::thread::scope(|scope| {
                    for (i, promise) in promises.into_iter().enumerate() {
                        let (next, start) = (values[(i + 1) % n].clone(), &start);
                        scope.spawn(move || {
                            start.wait();
                            promise.forward(&next);
                        });
                    }
                });
                assert!(values.iter().all(|value| value.value().is_some_and(|v| v.error().is_some())));
                assert_eq!(*hits.lock().unwrap(), n as u32);
            }
        }
    }

    /// A waiter of a value that is final waits on another such value, and so on.
    fn dive(left: u32, value: AsyncRef, done: Arc<Mutex<u32>>) {
        let next = value.clone();
        value.and_then(move |_| match left {
            0 => *done.lock().unwrap() += 1,
            _ => dive(left - 1, next, done),
        });
    }

    #[test]
    fn waiters_of_final_values_do_not_overflow_the_stack() {
        let (promise, value) = AsyncRef::pending();
        promise.set(Value::I32(9));
        let done = Arc::new(Mutex::new(0));
        dive(fewer(1_000_000) as u32, value, done.clone());
        assert_eq!(*done.lock().unwrap(), 1);
    }

    #[test]
    fn ten_million_forwards_take_no_memory() {
        let (target, source) = AsyncRef::pending();
        let mut last = source.clone();
        for i in 0..fewer(10_000_000) {
            let (promise, value) = AsyncRef::pending();
            promise.forward(&last);
            last = value;
            if i % 1_000_000 == 0 {
                assert!(crate::live::live_async_values() < 2_000_000, "of all tests together");
            }
        }
        target.set(Value::I32(3));
        assert_eq!(int(&last), Some(3));
    }

    #[test]
    fn deep_continuations_do_not_overflow_the_stack() {
        let (first, mut value) = AsyncRef::pending();
        for _ in 0..fewer(1_000_000) {
            let (promise, next) = AsyncRef::pending();
            value.and_then(move |v| promise.set(v.clone()));
            value = next;
        }
        first.set(Value::I32(9));
        assert_eq!(int(&value), Some(9));
    }
}

#[cfg(loom)]
mod loom_tests {
    use super::*;
    use loom::sync::Arc;
    use loom::sync::atomic::AtomicUsize;
    use loom::thread;

    /// A waiter that counts its runs and owns a cell written by the thread that made it: loom checks that the
    /// thread that runs the waiter sees the write.
    fn count(hits: &Arc<AtomicUsize>) -> impl FnOnce(&Value) + Send + 'static {
        let hits = hits.clone();
        let written = UnsafeCell::new(0);
        written.with_mut(|it| {
            // SAFETY: the cell is not shared yet.
            unsafe { *it = 7 };
        });
        move |value| {
            written.with(|it| {
                // SAFETY: owned by the waiter.
                assert_eq!(unsafe { *it }, 7);
            });
            assert!(matches!(value, Value::I32(5)));
            hits.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn loom_set_races_with_and_then_and_value() {
        loom::model(|| {
            let hits = Arc::new(AtomicUsize::new(0));
            let (promise, value) = AsyncRef::pending();
            let reader = {
                let (value, hits) = (value.clone(), hits.clone());
                thread::spawn(move || {
                    if let Some(value) = value.value() {
                        assert!(matches!(value, Value::I32(5)));
                    }
                    value.and_then(count(&hits));
                })
            };
            value.and_then(count(&hits));
            promise.set(Value::I32(5));
            reader.join().unwrap();
            assert_eq!(hits.load(Ordering::Relaxed), 2);
        });
    }

    #[test]
    fn loom_two_waiters_race_with_set() {
        // Three threads: all orders would take minutes.
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let hits = Arc::new(AtomicUsize::new(0));
            let (promise, value) = AsyncRef::pending();
            let setter = thread::spawn(move || promise.set(Value::I32(5)));
            let other = {
                let (value, hits) = (value.clone(), hits.clone());
                thread::spawn(move || value.and_then(count(&hits)))
            };
            value.and_then(count(&hits));
            setter.join().unwrap();
            other.join().unwrap();
            assert_eq!(hits.load(Ordering::Relaxed), 2);
        });
    }

    #[test]
    fn loom_forward_races_with_set_and_and_then() {
        // Three threads: all orders would take minutes.
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let hits = Arc::new(AtomicUsize::new(0));
            let (target, source) = AsyncRef::pending();
            let (promise, value) = AsyncRef::pending();
            let setter = thread::spawn(move || target.set(Value::I32(5)));
            let waiter = {
                let (value, hits) = (value.clone(), hits.clone());
                thread::spawn(move || value.and_then(count(&hits)))
            };
            promise.forward(&source);
            drop(source);
            setter.join().unwrap();
            waiter.join().unwrap();
            assert_eq!(int(&value), Some(5));
            assert_eq!(hits.load(Ordering::Relaxed), 1);
        });
    }

    #[test]
    fn loom_forward_races_with_the_targets_forward() {
        loom::model(|| {
            let (last, end) = AsyncRef::pending();
            let (middle, target) = AsyncRef::pending();
            let (promise, value) = AsyncRef::pending();
            let hits = Arc::new(AtomicUsize::new(0));
            value.and_then(count(&hits));
            let other = thread::spawn(move || {
                middle.forward(&end);
                last.set(Value::I32(5));
            });
            promise.forward(&target);
            drop(target);
            other.join().unwrap();
            assert_eq!(int(&value), Some(5));
            assert_eq!(hits.load(Ordering::Relaxed), 1);
        });
    }

    #[test]
    fn loom_values_that_are_forwarded_to_each_other_become_errors() {
        loom::model(|| {
            let (first, a) = AsyncRef::pending();
            let (second, b) = AsyncRef::pending();
            let (a_too, b_too) = (a.clone(), b.clone());
            let other = thread::spawn(move || second.forward(&a_too));
            first.forward(&b_too);
            other.join().unwrap();
            for value in [&a, &b] {
                assert!(value.value().is_some_and(|value| value.error().is_some()));
            }
        });
    }

    #[test]
    fn loom_the_last_reference_frees() {
        loom::model(|| {
            let payload = std::sync::Arc::new(());
            let (promise, value) = AsyncRef::pending();
            let reader = {
                let value = value.clone();
                thread::spawn(move || drop(value.value().cloned()))
            };
            let held = payload.clone();
            value.and_then(move |_| drop(held));
            promise.set(Value::I32(5));
            drop(value);
            reader.join().unwrap();
            assert_eq!(std::sync::Arc::strong_count(&payload), 1);
        });
    }

    #[test]
    fn loom_waiters_beyond_the_depth_limit_run() {
        loom::model(|| {
            let hits = Arc::new(AtomicUsize::new(0));
            let (first, a) = AsyncRef::pending();
            let (second, b) = AsyncRef::pending();
            a.and_then(move |v| second.set(v.clone()));
            b.and_then(count(&hits));
            let setter = thread::spawn(move || first.set(Value::I32(5)));
            setter.join().unwrap();
            assert_eq!(hits.load(Ordering::Relaxed), 1);
        });
    }
}
