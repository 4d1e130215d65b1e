//! AsyncValues: states and transitions.
//!
//! ```text
//! Pending(waiters) ──set──────▶ Final        `slot` is written once, before the transition
//!        └──────────forward──▶ Forwarded ──▶ another cell, whose value becomes this one's
//! ```
//!
//! One atomic word per cell: a pointer and two tag bits. While pending, the pointer is the list of waiters,
//! newest first. Once forwarded, it owns a reference to the target. Both right-hand states are permanent, so
//! the result of [`AsyncRef::value`] is valid as long as the reference. The one exception is a cycle of
//! forwards (rule 5), in which there is no value yet.
//!
//! Rules:
//! 1. A cell has one [`Promise`], which is consumed by the transition out of pending. Only its holder writes
//!    the slot. A promise that is dropped sets an error, so every value becomes final.
//! 2. `forward` first follows the target's own forwarding. So a value that is passed unavailable through any
//!    number of calls or iterations is one hop away, and the cells in between are freed. The waiters move to
//!    the target.
//! 3. Waiters run on the producing thread, newest first (`waiters`).
//! 4. The slot never holds `Empty` or `Async` once final.
//! 5. Threads that forward values to each other at the same time may close a cycle, which each of them sees
//!    as acyclic before its own transition. So each looks at the chain again after it. The last transition of
//!    a cycle is followed by a look that finds the thread's own cell at the end of the chain; that thread
//!    makes its cell final, with an error. Other threads may be on their way around the cycle, so the
//!    references in it are never released: its cells are leaked.
//!
//! Cells and waiters come from the thread's pool (`pool`). All operations are lock-free and may be called by
//! any thread at any time.

#![allow(unsafe_code, reason = "a lock-free cell; the protocol is in the essay, its loom tests are below")]

use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::{NonNull, null_mut};

use crate::error::{Error, ErrorCode};
use crate::live::count_async_value;
use crate::pool;
use crate::sync::{AtomicPtr, AtomicUsize, Ordering, UnsafeCell, fence};
use crate::value::Value;
use waiters::{List, Node, Waiter, run, run_one};

mod waiters;

const TAG: usize = 3;
const PENDING: usize = 0;
const FINAL: usize = 1;
const FORWARDED: usize = 2;
/// The word of a final cell.
const FINAL_WORD: *mut () = std::ptr::without_provenance_mut(FINAL);

#[repr(align(8))]
struct Cell {
    refs: AtomicUsize,
    /// The state, see above. The tag says whether it points to `Node`s or to a `Cell`.
    word: AtomicPtr<()>,
    slot: UnsafeCell<Value>,
}

/// A shared reference to an AsyncValue.
pub struct AsyncRef(NonNull<Cell>);

/// Permission and obligation to make an AsyncValue final, exactly once.
pub struct Promise(Option<AsyncRef>);

// SAFETY: the count and the word are atomic. The slot is written only by the promise's holder, before the
// Release that makes the cell final, and read only after an Acquire that saw it final. `Value` is Send and
// Sync, waiters are Send.
unsafe impl Send for AsyncRef {}
// SAFETY: as above.
unsafe impl Sync for AsyncRef {}

/// A decoded word.
enum Seen {
    Pending(*mut Node),
    Final,
    Forwarded(NonNull<Cell>),
}

fn untagged(word: *mut ()) -> *mut () {
    word.map_addr(|address| address & !TAG)
}

impl Cell {
    fn see(word: *mut ()) -> Seen {
        match (word.addr() & TAG, NonNull::new(untagged(word).cast::<Cell>())) {
            (PENDING, _) => Seen::Pending(word.cast()),
            (FORWARDED, Some(target)) => Seen::Forwarded(target),
            _ => Seen::Final,
        }
    }
}

impl AsyncRef {
    /// A pending value and the promise that sets it.
    pub fn pending() -> (Promise, AsyncRef) {
        count_async_value(1);
        let cell = pool::boxed(Cell {
            refs: AtomicUsize::new(2),
            word: AtomicPtr::new(null_mut()),
            slot: UnsafeCell::new(Value::Empty),
        });
        (Promise(Some(AsyncRef(cell))), AsyncRef(cell))
    }

    /// The referenced cell, or one that it forwards to.
    fn deref(&self, cell: NonNull<Cell>) -> &Cell {
        // SAFETY: `self` holds a count of the first cell of a chain of forwards; each forwarded word owns a
        // count of the next and never changes again, so every cell of the chain lives as long as `self`. The
        // fields of a cell are atomics and an `UnsafeCell`, so a shared borrow is sound while they change.
        unsafe { &*cell.as_ptr().cast_const() }
    }

    /// The end of the chain of forwards that starts here, and its word as loaded.
    fn resolve(&self) -> (NonNull<Cell>, *mut ()) {
        let mut cell = self.0;
        loop {
            // Acquire pairs with the Release halves of the swaps in `leave_pending`: the slot, or the target,
            // is visible.
            let word = self.deref(cell).word.load(Ordering::Acquire);
            match Cell::see(word) {
                Seen::Forwarded(target) => cell = target,
                Seen::Pending(_) | Seen::Final => return (cell, word),
            }
        }
    }

    /// True if this cell, which forwards to `target`, is reached again from there. The chain may enter a
    /// cycle of other cells: then it ends when another thread has broken that cycle.
    fn is_in_cycle(&self, target: NonNull<Cell>) -> bool {
        let mut cell = target;
        while cell != self.0 {
            // Acquire: as in `resolve`.
            match Cell::see(self.deref(cell).word.load(Ordering::Acquire)) {
                Seen::Forwarded(target) => cell = target,
                Seen::Pending(_) | Seen::Final => return false,
            }
        }
        true
    }

    /// The value, if it is final.
    #[inline]
    pub fn value(&self) -> Option<&Value> {
        let (cell, word) = self.resolve();
        match Cell::see(word) {
            Seen::Final => self.deref(cell).slot.with(|slot| {
                // SAFETY: the cell is final, so the promise is consumed and the slot is not written again.
                // `resolve` acquired the write.
                Some(unsafe { &*slot })
            }),
            Seen::Pending(_) | Seen::Forwarded(_) => None,
        }
    }

    /// Runs `waiter` with the value. If the value is final, it runs on this thread: at once, or later if
    /// waiters nest too deeply. Otherwise it runs on the thread that makes the value final, where a panic
    /// ends only the waiter.
    pub fn and_then(&self, waiter: impl FnOnce(&Value) + Send + 'static) {
        match self.value() {
            Some(value) => run_one(waiter, value),
            None => self.add(Waiter::new(waiter)),
        }
    }

    /// Adds a waiter in front of the others, or runs it if the value is final.
    fn add(&self, mut waiter: Waiter) {
        let (mut cell, mut word) = self.resolve();
        loop {
            match Cell::see(word) {
                Seen::Pending(head) => {
                    let node = waiter.link(head);
                    // Release publishes the node; pairs with the Acquire half of the swap in `leave_pending`.
                    // Acquire on failure: the cell may have become final or forwarded meanwhile, as in
                    // `resolve`.
                    let shared = &self.deref(cell).word;
                    match shared.compare_exchange_weak(
                        word,
                        node.cast(),
                        Ordering::Release,
                        Ordering::Acquire,
                    ) {
                        Ok(_) => return,
                        Err(now) => word = now,
                    }
                    // SAFETY: the exchange failed, so the node was not published.
                    waiter = unsafe { Waiter::take_back(node) };
                }
                Seen::Forwarded(_) => (cell, word) = self.resolve(),
                Seen::Final => {
                    if let Some(value) = self.value() {
                        run(waiter.alone(), value);
                    }
                    return;
                }
            }
        }
    }
}

impl Clone for AsyncRef {
    fn clone(&self) -> AsyncRef {
        // Relaxed: the new reference is made from an existing one and publishes nothing.
        let before = self.deref(self.0).refs.fetch_add(1, Ordering::Relaxed);
        if before > isize::MAX as usize {
            std::process::abort();
        }
        AsyncRef(self.0)
    }
}

impl Drop for AsyncRef {
    fn drop(&mut self) {
        let mut cell = self.0;
        // A loop, not recursion: a chain of forwarded cells may be long.
        loop {
            // SAFETY: the count that is given up here keeps the cell alive until the decrement.
            let refs = unsafe { &cell.as_ref().refs };
            // The only holder needs no decrement, because no other thread can clone its reference.
            // Acquire: pairs with every other holder's Release decrement.
            if refs.load(Ordering::Acquire) != 1 {
                // Release: this holder's reads happen before the free; pairs with the Acquire load above and
                // the fence below.
                if refs.fetch_sub(1, Ordering::Release) != 1 {
                    return;
                }
                // Acquire: as the load above. ThreadSanitizer does not support fences, and may report a race
                // with another holder's decrement.
                fence(Ordering::Acquire);
            }
            // SAFETY: the count says that this is the last reference. The cell came from `pool::boxed`.
            let last = unsafe { pool::unbox(cell) };
            count_async_value(-1);
            // For loom: freeing is a write.
            last.slot.with_mut(|_| ());
            // Relaxed: the Acquire load or the fence above ordered all other holders' accesses before this.
            let word = last.word.load(Ordering::Relaxed);
            match (word.addr() & TAG, NonNull::new(untagged(word).cast::<Cell>())) {
                (FORWARDED, Some(target)) => cell = target,
                _ => return,
            }
        }
    }
}

impl fmt::Debug for AsyncRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value() {
            Some(value) => write!(f, "Async({value:?})"),
            None => f.write_str("Async(pending)"),
        }
    }
}

impl Promise {
    /// Makes the value final and runs its waiters on this thread.
    pub fn set(self, value: Value) {
        match value {
            Value::Async(source) => self.forward(&source),
            Value::Empty => drop(self),
            value => self.finish(value),
        }
    }

    /// Makes the value an error.
    pub fn fail(self, error: Error) {
        self.finish(Value::Error(error));
    }

    /// Makes the value that of `source`, at once or when `source` becomes final. A value that is forwarded to
    /// itself, directly or through others, becomes an error.
    pub fn forward(mut self, source: &AsyncRef) {
        let (target, _) = source.resolve();
        if let Some(value) = source.value() {
            return self.finish(value.clone());
        }
        let Some(cell) = self.0.take() else { return };
        if target == cell.0 {
            return finish(cell, internal(CYCLE));
        }
        // The word owns this count from here on.
        let owned = ManuallyDrop::new(AsyncRef(target));
        std::mem::forget(AsyncRef::clone(&owned));
        let waiters =
            leave_pending(&cell, owned.0.as_ptr().cast::<()>().map_addr(|address| address | FORWARDED));
        // Of the threads that close a cycle, the one whose fence is the last sees the transitions of all, as
        // each precedes a fence; and the loads of `is_in_cycle` come after this one (rule 5).
        fence(Ordering::SeqCst);
        if cell.is_in_cycle(target) {
            // The count that the word owned is leaked.
            return break_cycle(cell, internal(CYCLE), waiters);
        }
        if !waiters.is_empty() {
            source.add(Waiter::moved(waiters));
        }
    }

    fn finish(mut self, value: Value) {
        if let Some(cell) = self.0.take() {
            finish(cell, value);
        }
    }
}

/// The message of a value that would have to wait for itself.
const CYCLE: &str = "a value was forwarded to itself";

/// Writes the slot, publishes it and runs the waiters. `cell` is the reference of the promise, which is
/// consumed.
fn finish(cell: AsyncRef, value: Value) {
    store(&cell, value);
    let list = leave_pending(&cell, FINAL_WORD);
    run_all(&cell, list);
}

/// Makes a cell of a cycle final, and runs the waiters that it had. `cell` is the reference of the promise,
/// which this thread has consumed by the forward that closed the cycle.
#[cold]
fn break_cycle(cell: AsyncRef, value: Value, waiters: List) {
    store(&cell, value);
    // Release publishes the slot, as in `leave_pending`. The word is forwarded, so nothing was added to it.
    cell.deref(cell.0).word.store(FINAL_WORD, Ordering::Release);
    run_all(&cell, waiters);
}

/// Writes the slot of a cell that is not final. Only for the holder of the promise, or the thread that has
/// just consumed it.
fn store(cell: &AsyncRef, value: Value) {
    cell.deref(cell.0).slot.with_mut(|slot| {
        // SAFETY: the word is not final, so the slot is not read. Only the promise's holder writes it.
        unsafe { *slot = value };
    });
}

fn run_all(cell: &AsyncRef, waiters: List) {
    if let Some(value) = cell.value() {
        run(waiters, value);
    }
}

/// Moves the cell out of pending and returns its waiters, to be run or moved.
#[must_use]
fn leave_pending(cell: &AsyncRef, word: *mut ()) -> List {
    // Release publishes the slot or the target; pairs with the Acquire load in `resolve` and the failed
    // exchange in `add`. Acquire takes the waiters' nodes; pairs with the Release exchange in `add`.
    let head = cell.deref(cell.0).word.swap(word, Ordering::AcqRel).cast();
    // SAFETY: the word was pending, because the promise was unused, so it pointed to the first node. The swap
    // took the list.
    unsafe { List::from_head(head) }
}

fn internal(message: &str) -> Value {
    Value::Error(Error::new(ErrorCode::Internal, message, Vec::new()))
}

impl Drop for Promise {
    /// Sets an error, so that nothing waits for ever.
    fn drop(&mut self) {
        if let Some(cell) = self.0.take() {
            finish(cell, internal("the producer of this value went away without setting it"));
        }
    }
}

impl fmt::Debug for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Promise")
    }
}

#[cfg(test)]
mod tests;
