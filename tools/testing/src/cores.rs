//! Work on all processors, where one test is longer than the others beside it.

use std::num::NonZero;
use std::sync::Mutex;
use std::thread;

/// The results of `f` for the items, in their order. Each thread has a state of its own, which `start` makes.
///
/// # Panics
/// If `f` does.
pub fn map<T: Send, S, R: Send>(
    items: Vec<T>,
    start: impl Fn() -> S + Sync,
    f: impl Fn(&S, T) -> R + Sync,
) -> Vec<R> {
    let items = Mutex::new(items.into_iter().enumerate());
    let next = || items.lock().expect("no thread panics at it").next();
    let work = || -> Vec<(usize, R)> {
        let state = start();
        std::iter::from_fn(next).map(|(i, item)| (i, f(&state, item))).collect()
    };
    let n_threads = thread::available_parallelism().map_or(1, NonZero::get);
    let mut made: Vec<(usize, R)> = thread::scope(|scope| {
        let threads: Vec<_> = (0..n_threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no item panics")).collect()
    });
    made.sort_unstable_by_key(|&(i, _)| i);
    made.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_are_in_order() {
        let wait = |of_thread: &u64, n: u64| {
            std::thread::sleep(std::time::Duration::from_micros(n * 7 % 5 * 100));
            n * of_thread
        };
        assert_eq!(super::map((0..20).collect(), || 3, wait), (0..20).map(|n| n * 3).collect::<Vec<_>>());
        assert!(super::map(Vec::new(), || 3, wait).is_empty());
    }
}
