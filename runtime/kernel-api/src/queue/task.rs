//! Tasks: closures that run once, on some thread.
//!
//! A closure of at most four words is stored in the task itself: room for a frame, a kernel and the kernel's
//! job. A larger one is on the heap. So the common tasks are made, queued and run without allocation.
//!
//! A task made of a [`Work`] can be tested for that type and converted back, by code that does the same work
//! without the task.

#![allow(unsafe_code, reason = "a closure in a place that does not know its type; the table beside it does")]

use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};

use crate::error::quietly;

/// Number of words that are stored in the task.
const WORDS: usize = 4;

type Storage = MaybeUninit<[usize; WORDS]>;

/// A piece of work. If it is dropped without being run, the values that it owns are dropped, and promises
/// among them become errors.
#[must_use]
pub struct Task {
    /// Operations on the content of `place`.
    table: &'static Vtable,
    /// The closure, or a box of it.
    place: Storage,
    /// Closures are Send but not necessarily Sync.
    _owns: PhantomData<Box<dyn FnOnce() + Send>>,
}

/// Content of a task.
pub trait Work: Send + 'static {
    /// Does the work.
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

struct Vtable {
    /// Type of the content.
    ty: TypeId,
    /// Moves the content out and does the work.
    run: unsafe fn(*mut Storage),
    /// Drops the content in place.
    drop: unsafe fn(*mut Storage),
}

// SAFETY: every content of a task is Send.
unsafe impl Send for Task {}

struct VtableOf<W>(PhantomData<W>);

impl<W: Work> VtableOf<W> {
    const FITS: bool = size_of::<W>() <= size_of::<Storage>() && align_of::<W>() <= align_of::<Storage>();
    const TABLE: &'static Vtable = &Vtable { ty: TypeId::of::<W>(), run: run::<W>, drop: drop_in_place::<W> };
}

/// # Safety
/// `place` must hold a `W`, which is moved out.
unsafe fn run<W: Work>(place: *mut Storage) {
    // SAFETY: by the caller's contract there is a `W`, which is moved out once.
    let work = unsafe { place.cast::<W>().read() };
    work.work();
}

/// # Safety
/// `place` must hold a `W`, which is dropped.
unsafe fn drop_in_place<W>(place: *mut Storage) {
    // SAFETY: by the caller's contract there is a `W`, which is not used afterwards.
    unsafe { place.cast::<W>().drop_in_place() };
}

impl Task {
    /// A task that calls `closure`.
    #[inline]
    pub fn new<F: FnOnce() + Send + 'static>(closure: F) -> Task {
        Task::of(Closure(closure))
    }

    /// A task that does `work`.
    #[inline]
    #[doc(hidden)]
    pub fn of<W: Work>(work: W) -> Task {
        if VtableOf::<W>::FITS { Task::inline(work) } else { Task::inline(Box::new(work)) }
    }

    #[inline]
    fn inline<W: Work>(work: W) -> Task {
        assert!(VtableOf::<W>::FITS, "more than four words");
        let mut place = Storage::uninit();
        // SAFETY: the work fits, by size and alignment.
        unsafe { place.as_mut_ptr().cast::<W>().write(work) };
        Task { table: VtableOf::<W>::TABLE, place, _owns: PhantomData }
    }

    /// The work of which the task was made, if it is a `W` stored in the task.
    #[inline]
    #[doc(hidden)]
    pub fn as_work<W: Work>(&self) -> Option<&W> {
        // SAFETY: the type was compared, so `place` holds a `W`. It is borrowed as long as the task.
        (self.table.ty == TypeId::of::<W>()).then(|| unsafe { &*self.place.as_ptr().cast::<W>() })
    }

    /// The work of which the task was made, moved out, if it is a `W` stored in the task. Otherwise the task.
    #[inline]
    #[doc(hidden)]
    pub fn into_work<W: Work>(self) -> Result<W, Task> {
        if self.table.ty != TypeId::of::<W>() {
            return Err(self);
        }
        let task = ManuallyDrop::new(self);
        // SAFETY: the type was compared, so `place` holds a `W`. It is moved out once, because `task` is not
        // dropped.
        Ok(unsafe { task.place.as_ptr().cast::<W>().read() })
    }

    /// Does the work.
    #[inline]
    pub fn run(self) {
        let mut task = ManuallyDrop::new(self);
        let run = task.table.run;
        // SAFETY: the table belongs to the content of `place`, which is moved out once, because `task` is not
        // dropped.
        unsafe { run(&mut task.place) };
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        // SAFETY: the table belongs to the content of `place`, which is not used afterwards.
        quietly(|| unsafe { (self.table.drop)(&mut self.place) });
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
