//! Tasks: closures that are run once, on some thread.
//!
//! What a closure owns lies in the task itself if it is at most four words, which is a frame, a kernel and
//! what the kernel left to do; else on the heap. So the common tasks are made, queued and run without
//! allocating.
//!
//! A task that was made of a [`Work`] can be asked whether it is such, and taken apart again, by whoever does
//! the same work in another way.

#![allow(unsafe_code, reason = "a closure in a place that does not know its type; the table beside it does")]

use std::any::TypeId;
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

/// What a task can be made of, beside closures.
pub trait Work: Send + 'static {
    /// Does it.
    fn work(self);
}

struct Closure<F>(F);

impl<F: FnOnce() + Send + 'static> Work for Closure<F> {
    #[inline]
    fn work(self) {
        (self.0)();
    }
}

impl<W: Work> Work for Box<W> {
    #[inline]
    fn work(self) {
        (*self).work();
    }
}

struct Table {
    /// What is in the place.
    ty: TypeId,
    /// Moves it out of the place and does it.
    run: unsafe fn(*mut Place),
    /// Drops it where it is.
    drop: unsafe fn(*mut Place),
}

// SAFETY: everything that a task is made of is Send.
unsafe impl Send for Task {}

struct Of<W>(PhantomData<W>);

impl<W: Work> Of<W> {
    const FITS: bool = size_of::<W>() <= size_of::<Place>() && align_of::<W>() <= align_of::<Place>();
    const TABLE: &'static Table = &Table { ty: TypeId::of::<W>(), run: run::<W>, drop: drop_in_place::<W> };
}

/// # Safety
/// `place` must hold a `W`, which is given up.
unsafe fn run<W: Work>(place: *mut Place) {
    // SAFETY: the caller's contract.
    let work = unsafe { place.cast::<W>().read() };
    work.work();
}

/// # Safety
/// As for [`run`].
unsafe fn drop_in_place<W>(place: *mut Place) {
    // SAFETY: the caller's contract.
    unsafe { place.cast::<W>().drop_in_place() };
}

impl Task {
    /// A task that calls `closure`.
    #[inline]
    pub fn new<F: FnOnce() + Send + 'static>(closure: F) -> Task {
        Task::of(Closure(closure))
    }

    #[inline]
    fn inline<W: Work>(work: W) -> Task {
        assert!(Of::<W>::FITS, "more than four words");
        let mut place = Place::uninit();
        // SAFETY: it fits, by size and alignment.
        unsafe { place.as_mut_ptr().cast::<W>().write(work) };
        Task { table: Of::<W>::TABLE, place, _owns: PhantomData }
    }

    /// Runs it.
    #[inline]
    pub fn run(self) {
        let mut task = ManuallyDrop::new(self);
        let run = task.table.run;
        // SAFETY: the table is that of what is in the place, which is given up: nobody drops `task`.
        unsafe { run(&mut task.place) };
    }
}

#[doc(hidden)]
impl Task {
    /// A task that does `work`.
    #[inline]
    pub fn of<W: Work>(work: W) -> Task {
        if Of::<W>::FITS { Task::inline(work) } else { Task::inline(Box::new(work)) }
    }

    /// The work that it was made of, if that is a `W` that lies in the task.
    #[inline]
    pub fn as_work<W: Work>(&self) -> Option<&W> {
        // SAFETY: the type was compared, so there is a `W` in the place; it is borrowed as long as the task.
        (self.table.ty == TypeId::of::<W>()).then(|| unsafe { &*self.place.as_ptr().cast::<W>() })
    }

    /// The same, moved out; else the task.
    #[inline]
    pub fn into_work<W: Work>(self) -> Result<W, Task> {
        if self.table.ty != TypeId::of::<W>() {
            return Err(self);
        }
        let task = ManuallyDrop::new(self);
        // SAFETY: as in `as_work`; it is moved out once, as nobody drops `task`.
        Ok(unsafe { task.place.as_ptr().cast::<W>().read() })
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
    fn work_comes_out_as_what_it_was() {
        #[derive(Debug)]
        struct Adds(Arc<AtomicUsize>);
        impl Work for Adds {
            fn work(self) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        struct Other;
        impl Work for Other {
            fn work(self) {}
        }
        let sum = Arc::new(AtomicUsize::new(0));
        let task = || Task::of(Adds(sum.clone()));
        assert!(task().as_work::<Adds>().is_some() && task().as_work::<Other>().is_none());
        task().into_work::<Other>().err().unwrap().run();
        task().into_work::<Adds>().unwrap().work();
        assert_eq!(sum.load(Ordering::Relaxed), 2);
        assert_eq!(Arc::strong_count(&sum), 1);
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
