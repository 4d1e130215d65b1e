//! A pool of small heap objects with short lives, such as objects and the cells of AsyncValues.
//!
//! ```text
//! boxed ──▶ the thread's list of free blocks of that size ◀──┐ BATCH at once
//!                                                            depot of all threads
//! free  ──▶ the thread's list, up to 2 · BATCH blocks      ──┘ BATCH at once;
//!                                                            beyond MAX_BATCHES to the system
//! ```
//!
//! Each thread has its own lists, so only one operation in BATCH is atomic. A block may be freed on another
//! thread than the one that allocated it; if one thread allocates and another frees, blocks circulate through
//! the depot. Large objects come from the system, and so do all objects under loom, which has its own
//! threads.
//!
//! Not here: memory of tensors (`befrost_mem`), which is accounted and may be refused.

#![allow(unsafe_code, reason = "hands out raw blocks; the sizes are the types'")]

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::{NonNull, null_mut};

use crossbeam_queue::SegQueue;

/// Sizes of blocks, all aligned to [`ALIGN`].
const SIZES: [usize; 4] = [32, 64, 128, 256];
const ALIGN: usize = 16;
/// Number of blocks that are moved to or from the depot at once.
const BATCH: u32 = 256;
/// Limit of the batches of one size in the depot: enough for the deferred kernels of a wide function.
const MAX_BATCHES: usize = 64;

/// A free block, which begins with the pointer to the next one.
struct FreeBlock {
    next: *mut FreeBlock,
}

/// Free blocks of one size.
#[derive(Clone, Copy)]
struct FreeList {
    head: *mut FreeBlock,
    length: u32,
}

// SAFETY: a list owns its free blocks.
unsafe impl Send for FreeList {}

/// A thread's free blocks.
struct FreeLists {
    chains: [Cell<FreeList>; SIZES.len()],
    /// Either empty or a batch.
    spares: [Cell<FreeList>; SIZES.len()],
}

static DEPOT: [SegQueue<FreeList>; SIZES.len()] = [const { SegQueue::new() }; SIZES.len()];

/// The size class of an object of this layout. `None` if it is too large or too strictly aligned.
const fn class(layout: Layout) -> Option<usize> {
    if cfg!(loom) || layout.align() > ALIGN {
        return None;
    }
    let mut i = 0;
    while i < SIZES.len() {
        if layout.size() <= SIZES[i] {
            return Some(i);
        }
        i += 1;
    }
    None
}

/// The layout of the blocks of a class.
const fn block(class: usize) -> Layout {
    match Layout::from_size_align(SIZES[class], ALIGN) {
        Ok(layout) => layout,
        Err(_) => Layout::new::<u128>(),
    }
}

impl FreeList {
    const EMPTY: FreeList = FreeList { head: null_mut(), length: 0 };

    /// Returns the blocks, which are of this class, to the system.
    ///
    /// # Safety
    /// The caller must own the list and not use it afterwards.
    #[cold]
    unsafe fn free(mut self, class: usize) {
        while !self.head.is_null() {
            let memory = self.head;
            // SAFETY: a block on a list is free and was written by `give`.
            self.head = unsafe { (*memory).next };
            // SAFETY: it came from the system with this layout, and is on no list any more.
            unsafe { dealloc(memory.cast(), block(class)) };
        }
    }
}

impl FreeLists {
    const fn new() -> FreeLists {
        FreeLists {
            chains: [const { Cell::new(FreeList::EMPTY) }; SIZES.len()],
            spares: [const { Cell::new(FreeList::EMPTY) }; SIZES.len()],
        }
    }

    #[inline]
    fn take(&self, class: usize) -> *mut FreeBlock {
        let mut chain = self.chains[class].get();
        if chain.head.is_null() {
            chain = self.more(class);
        }
        let memory = chain.head;
        if !memory.is_null() {
            // SAFETY: a block on the list is free, belongs to this thread, and was written by `give`.
            let head = unsafe { (*memory).next };
            self.chains[class].set(FreeList { head, length: chain.length - 1 });
        }
        memory
    }

    /// Further blocks when the thread's first list is empty; possibly none.
    #[cold]
    fn more(&self, class: usize) -> FreeList {
        let spare = self.spares[class].replace(FreeList::EMPTY);
        if spare.head.is_null() { DEPOT[class].pop().unwrap_or(FreeList::EMPTY) } else { spare }
    }

    /// Adds a free block of a class.
    ///
    /// # Safety
    /// `memory` must be a block of that class that the caller owns and does not use afterwards.
    #[inline]
    unsafe fn give(&self, class: usize, memory: *mut FreeBlock) {
        let mut chain = self.chains[class].get();
        if chain.length >= BATCH {
            self.put_away(class, chain);
            chain = FreeList::EMPTY;
        }
        // SAFETY: the caller owns the block, which is larger than `FreeBlock` and aligned for it.
        unsafe { memory.write(FreeBlock { next: chain.head }) };
        self.chains[class].set(FreeList { head: memory, length: chain.length + 1 });
    }

    /// Moves a batch out of the thread's first list.
    #[cold]
    fn put_away(&self, class: usize, batch: FreeList) {
        let batch = self.spares[class].replace(batch);
        if DEPOT[class].len() < MAX_BATCHES && !batch.head.is_null() {
            DEPOT[class].push(batch);
        } else {
            // SAFETY: the batch is owned and not used afterwards.
            unsafe { batch.free(class) };
        }
    }
}

impl Drop for FreeLists {
    fn drop(&mut self) {
        for class in 0..SIZES.len() {
            for list in [&self.chains[class], &self.spares[class]] {
                // SAFETY: the list is owned, and replaced by an empty one.
                unsafe { list.replace(FreeList::EMPTY).free(class) };
            }
        }
    }
}

thread_local! {
    static LISTS: FreeLists = const { FreeLists::new() };
}

/// Moves `value` to the heap. [`unbox`] takes it back.
#[inline]
pub fn boxed<T>(value: T) -> NonNull<T> {
    let memory = match const { class(Layout::new::<T>()) } {
        Some(class) => {
            let free = LISTS.try_with(|lists| lists.take(class)).unwrap_or(null_mut());
            if free.is_null() { system(block(class)) } else { free.cast() }
        }
        // The added byte gives a value of size zero an address of its own.
        None => system(Layout::new::<(T, u8)>()),
    };
    let memory = memory.cast::<T>();
    // SAFETY: fresh memory of sufficient size and alignment.
    unsafe { memory.write(value) };
    // SAFETY: neither source returns null.
    unsafe { NonNull::new_unchecked(memory) }
}

#[cold]
fn system(layout: Layout) -> *mut u8 {
    // SAFETY: no layout here has size zero.
    let memory = unsafe { alloc(layout) };
    if memory.is_null() {
        handle_alloc_error(layout);
    }
    memory
}

/// Moves the value out and frees its memory.
///
/// # Safety
/// `place` must come from [`boxed`] with the same type, and must not be used afterwards.
#[inline]
pub unsafe fn unbox<T>(place: NonNull<T>) -> T {
    // SAFETY: the caller's contract: initialized, and read only once.
    let value = unsafe { place.read() };
    // SAFETY: the caller's contract; the value has been moved out.
    unsafe { release(place) };
    value
}

/// Frees the memory of a value that was moved out, or dropped.
///
/// # Safety
/// As for [`unbox`].
#[inline]
pub(crate) unsafe fn release<T>(place: NonNull<T>) {
    let Some(class) = (const { class(Layout::new::<T>()) }) else {
        // SAFETY: the caller's contract: `boxed` took it from the system with this layout.
        return unsafe { dealloc(place.as_ptr().cast(), Layout::new::<(T, u8)>()) };
    };
    let memory = place.as_ptr().cast::<FreeBlock>();
    // SAFETY: the caller owns the block, whose size is that of the type's class.
    if LISTS.try_with(|lists| unsafe { lists.give(class, memory) }).is_err() {
        // SAFETY: blocks of the pool come from the system with this layout. The thread is ending and has no
        // list that could have taken it.
        unsafe { dealloc(memory.cast(), block(class)) };
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn check<const N: usize>() {
        let all: Vec<_> = (0..5000u32).map(|i| boxed([i as u8; N])).collect();
        for (i, place) in all.into_iter().enumerate() {
            // SAFETY: made just now with this type.
            assert_eq!(unsafe { unbox(place) }, [i as u8; N]);
        }
    }

    #[test]
    fn blocks_of_all_sizes_come_and_go() {
        check::<0>();
        check::<1>();
        check::<32>();
        check::<33>();
        check::<128>();
        check::<129>();
        check::<256>();
        check::<257>();
    }

    #[test]
    fn a_block_may_be_freed_on_another_thread() {
        #[derive(Debug)]
        struct Sent(NonNull<[u64; 4]>);
        // SAFETY: owned, and its contents are Send.
        unsafe impl Send for Sent {}
        let (sender, receiver) = std::sync::mpsc::channel::<Sent>();
        let other = std::thread::spawn(move || {
            // SAFETY: made below with this type, and sent away.
            receiver.into_iter().map(|sent| unsafe { unbox(sent.0) }[0]).sum::<u64>()
        });
        for i in 0..10_000 {
            sender.send(Sent(boxed([i; 4]))).unwrap();
        }
        drop(sender);
        assert_eq!(other.join().unwrap(), 10_000 * 9_999 / 2);
    }
}
