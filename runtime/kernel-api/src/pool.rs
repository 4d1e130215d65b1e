//! Small heap objects that come and go by the million: what an asynchronous kernel needs for one value.
//!
//! ```text
//! boxed ──▶ the thread's list of free blocks of that size ◀──┐ BATCH at once
//!                                                           depot, for all threads
//! free  ──▶ the thread's list, up to 2 · BATCH blocks     ──┘ BATCH at once; beyond MAX_BATCHES to the system
//! ```
//!
//! Each thread has its own lists, so neither way takes an atomic operation, but one in BATCH. A block may be
//! freed on another thread than it was made on: it belongs to nobody while it is free, and if one thread
//! makes what another one frees, blocks go round by way of the depot. Large objects go to the system, and so
//! does everything under loom, which has its own threads.
//!
//! Not here: tensors' memory (`befrost_mem`), which is accounted and may be refused.

#![allow(unsafe_code, reason = "hands out raw blocks; the sizes are the types'")]

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::{NonNull, null_mut};

use crossbeam_queue::SegQueue;

/// Sizes of blocks; all are aligned to [`ALIGN`].
const SIZES: [usize; 4] = [32, 64, 128, 256];
const ALIGN: usize = 16;
/// How many blocks go to the depot, or come from there, at once.
const BATCH: u32 = 256;
/// How many batches of a size the depot keeps: what a wide function leaves to be done, kernel by kernel.
const MAX_BATCHES: usize = 64;

/// A free block: the next one is named in its first bytes.
struct FreeBlock {
    next: *mut FreeBlock,
}

/// FreeBlock blocks of one size.
#[derive(Clone, Copy)]
struct FreeList {
    head: *mut FreeBlock,
    length: u32,
}

// SAFETY: free blocks belong to whoever has the chain.
unsafe impl Send for FreeList {}

/// A thread's free blocks.
struct FreeLists {
    chains: [Cell<FreeList>; SIZES.len()],
    /// Either empty or a batch.
    spares: [Cell<FreeList>; SIZES.len()],
}

static DEPOT: [SegQueue<FreeList>; SIZES.len()] = [const { SegQueue::new() }; SIZES.len()];

/// Which size an object of this layout takes, if any.
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

/// The layout of blocks of a size.
const fn block(class: usize) -> Layout {
    match Layout::from_size_align(SIZES[class], ALIGN) {
        Ok(layout) => layout,
        Err(_) => Layout::new::<u128>(),
    }
}

impl FreeList {
    const EMPTY: FreeList = FreeList { head: null_mut(), length: 0 };

    /// Gives the blocks, which are of this size, to the system.
    ///
    /// # Safety
    /// The chain must be given up.
    #[cold]
    unsafe fn free(mut self, class: usize) {
        while !self.head.is_null() {
            let memory = self.head;
            // SAFETY: a block on a chain is free and was written by `give`.
            self.head = unsafe { (*memory).next };
            // SAFETY: it came from the system with this layout, and is on no chain any more.
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
            // SAFETY: a block on the list is free, this thread's, and was written by `give`.
            let head = unsafe { (*memory).next };
            self.chains[class].set(FreeList { head, length: chain.length - 1 });
        }
        memory
    }

    /// Blocks, where the thread's first list has none; perhaps none at all.
    #[cold]
    fn more(&self, class: usize) -> FreeList {
        let spare = self.spares[class].replace(FreeList::EMPTY);
        if spare.head.is_null() { DEPOT[class].pop().unwrap_or(FreeList::EMPTY) } else { spare }
    }

    /// Takes a free block of a size.
    ///
    /// # Safety
    /// `memory` must be a block of that size, owned by the caller, who gives it up.
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

    /// Takes a batch out of the thread's first list.
    #[cold]
    fn put_away(&self, class: usize, batch: FreeList) {
        let batch = self.spares[class].replace(batch);
        if DEPOT[class].len() < MAX_BATCHES && !batch.head.is_null() {
            DEPOT[class].push(batch);
        } else {
            // SAFETY: nobody else has it.
            unsafe { batch.free(class) };
        }
    }
}

impl Drop for FreeLists {
    fn drop(&mut self) {
        for class in 0..SIZES.len() {
            for list in [&self.chains[class], &self.spares[class]] {
                // SAFETY: nobody else has it.
                unsafe { list.replace(FreeList::EMPTY).free(class) };
            }
        }
    }
}

thread_local! {
    static LISTS: FreeLists = const { FreeLists::new() };
}

/// Moves `value` to the heap. [`unbox`] or [`free`] take it back.
#[inline]
pub fn boxed<T>(value: T) -> NonNull<T> {
    let memory = match const { class(Layout::new::<T>()) } {
        Some(class) => {
            let free = LISTS.try_with(|lists| lists.take(class)).unwrap_or(null_mut());
            if free.is_null() { system(block(class)) } else { free.cast() }
        }
        // Even what has no size gets an address of its own.
        None => system(Layout::new::<(T, u8)>()),
    };
    let memory = memory.cast::<T>();
    // SAFETY: fresh memory of sufficient size and alignment.
    unsafe { memory.write(value) };
    // SAFETY: neither source gives null.
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

/// Moves the value out and frees its place.
///
/// # Safety
/// `place` must come from [`boxed`] with the same type, and not be used any more.
#[inline]
pub unsafe fn unbox<T>(place: NonNull<T>) -> T {
    // SAFETY: the caller's contract: initialized, and read only once.
    let value = unsafe { place.read() };
    // SAFETY: the caller's contract; the value has been moved out.
    unsafe { release(place) };
    value
}

/// Frees the memory of a value that was moved out or dropped.
///
/// # Safety
/// As for [`unbox`].
#[inline]
unsafe fn release<T>(place: NonNull<T>) {
    let Some(class) = (const { class(Layout::new::<T>()) }) else {
        // SAFETY: the caller's contract: `boxed` took it from the system with this layout.
        return unsafe { dealloc(place.as_ptr().cast(), Layout::new::<(T, u8)>()) };
    };
    let memory = place.as_ptr().cast::<FreeBlock>();
    // SAFETY: the caller owns the block, whose size is that of the type's class.
    if LISTS.try_with(|lists| unsafe { lists.give(class, memory) }).is_err() {
        // SAFETY: blocks of the pool come from the system with this layout; the thread is ending, and has no
        // list that took it.
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
