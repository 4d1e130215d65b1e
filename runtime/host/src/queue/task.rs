//! Tasks: closures that are run once, on some thread.
//!
//! What a closure owns lies in the task itself if it is at most four words, which is a frame, a kernel and what the kernel left to do; else on
//! the heap. So the common tasks are made, queued and run without allocating.

#![allow(unsafe_code, reason = "a closure in a place that does not know its type; the table beside it does")]

use std::fmt;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};

/// How many words a closure may have to lie in the task.
const WORDS: usize = 4;

type Place = MaybeUninit<[usize; WORDS]>;

/// A piece of work. Dropped without being run, it drops what it owns; promises among that become errors.
#[must_use]
pub struct Task {
    /// What to do with `place`.
    table: &'static Table,
    /// The closure, or a box of it.
    place: Place,
    /// Closures are Send; nobody promised that they are Sync.
    _owns: PhantomData<Box<dyn FnOnce() + Send>>,
}

struct Table {
    /// Moves the closure out of the place and calls it.
    run: unsafe fn(*mut Place),
    /// Drops it where it is.
    drop: unsafe fn(*mut Place),
}

// SAFETY: `Task::new` takes Send closures only.
unsafe impl Send for Task {}

struct Of<F>(PhantomData<F>);

impl<F: FnOnce() + Send> Of<F> {
    const FITS: bool = size_of::<F>() <= size_of::<Place>() && align_of::<F>() <= align_of::<Place>();
    const TABLE: &'static Table = &Table { run: run::<F>, drop: drop_in_place::<F> };
}

/// # Safety
/// `place` must hold an `F`, which is given up.
unsafe fn run<F: FnOnce()>(place: *mut Place) {
    // SAFETY: the caller's contract.
    let closure = unsafe { place.cast::<F>().read() };
    closure();
}

/// # Safety
/// As for [`run`].
unsafe fn drop_in_place<F>(place: *mut Place) {
    // SAFETY: the caller's contract.
    unsafe { place.cast::<F>().drop_in_place() };
}

impl Task {
    /// A task that calls `closure`.
    #[inline]
    pub fn new<F: FnOnce() + Send + 'static>(closure: F) -> Task {
        if Of::<F>::FITS {
            return Task::inline(closure);
        }
        let closure = Box::new(closure);
        Task::inline(closure)
    }

    #[inline]
    fn inline<F: FnOnce() + Send + 'static>(closure: F) -> Task {
        assert!(Of::<F>::FITS, "a closure of more than four words");
        let mut place = Place::uninit();
        // SAFETY: it fits, by size and alignment.
        unsafe { place.as_mut_ptr().cast::<F>().write(closure) };
        Task { table: Of::<F>::TABLE, place, _owns: PhantomData }
    }

    /// Runs it.
    #[inline]
    pub fn run(self) {
        let mut task = ManuallyDrop::new(self);
        let run = task.table.run;
        // SAFETY: the table is that of the closure in the place, which is given up: nobody drops `task`.
        unsafe { run(&mut task.place) };
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        // SAFETY: as in `run`.
        unsafe { (self.table.drop)(&mut self.place) };
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Task")
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn check<const N: usize>() {
        let sum = Arc::new(AtomicUsize::new(0));
        let task = || {
            let (sum, more) = (sum.clone(), [1u8; N]);
            Task::new(move || {
                let n: usize = more.iter().map(|&one| usize::from(one)).sum();
                sum.fetch_add(n + 1, Ordering::Relaxed);
            })
        };
        task().run();
        assert_eq!(sum.load(Ordering::Relaxed), N + 1);
        drop(task());
        assert_eq!(sum.load(Ordering::Relaxed), N + 1);
        assert_eq!(Arc::strong_count(&sum), 1, "what a task owns is dropped, run or not");
    }

    #[test]
    fn small_and_large_closures_run_once() {
        check::<0>();
        check::<1>();
        check::<24>();
        check::<25>();
        check::<1000>();
    }

    #[test]
    fn a_closure_that_wants_more_alignment_gets_it() {
        #[repr(align(64))]
        struct Wide(u8);
        let wide = Wide(7);
        Task::new(move || {
            let wide = wide;
            assert_eq!((&raw const wide).addr() % 64, 0);
            assert_eq!(wide.0, 7);
        })
        .run();
    }

    #[test]
    fn a_panic_drops_what_the_task_owns() {
        let owned = Arc::new(());
        let held = owned.clone();
        let task = Task::new(move || {
            let _held = held;
            panic!("a task panics");
        });
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| task.run())).is_err());
        assert_eq!(Arc::strong_count(&owned), 1);
    }
}
