//! Small heap objects that come and go by the million: what an asynchronous kernel needs for one value.
//!
//! ```text
//! boxed ──▶ the thread's list of free blocks of that size, else the system
//! free  ──▶ the thread's list, up to MAX_FREE bytes, else the system
//! ```
//!
//! Each thread keeps its own lists, so neither way takes an atomic operation. A block may be freed on another thread than it was made on: it
//! belongs to nobody while it is free. Large objects go to the system, and so does everything under loom, which has its own threads.
//!
//! Not here: tensors' memory (`befrost_mem`), which is accounted and may be refused.

#![allow(unsafe_code, reason = "hands out raw blocks; the sizes are the types'")]

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::{NonNull, null_mut};

/// Sizes of blocks; all are aligned to [`ALIGN`].
const SIZES: [usize; 4] = [32, 64, 128, 256];
const ALIGN: usize = 16;
/// How many bytes of free blocks of a size a thread keeps: what a wide function leaves to be done, kernel by kernel.
const MAX_FREE: usize = 1 << 20;

/// A free block: the next one is named in its first bytes.
struct Free {
    next: *mut Free,
}

struct Lists {
    heads: [Cell<*mut Free>; SIZES.len()],
    lengths: [Cell<u32>; SIZES.len()],
}

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

impl Lists {
    const fn new() -> Lists {
        Lists {
            heads: [const { Cell::new(null_mut()) }; SIZES.len()],
            lengths: [const { Cell::new(0) }; SIZES.len()],
        }
    }

    fn take(&self, class: usize) -> *mut Free {
        let head = self.heads[class].get();
        if !head.is_null() {
            // SAFETY: a block on the list is free, this thread's, and was written by `give`.
            self.heads[class].set(unsafe { (*head).next });
            self.lengths[class].set(self.lengths[class].get() - 1);
        }
        head
    }

    /// Takes a free block of a size, if there is room for it.
    ///
    /// # Safety
    /// `memory` must be a block of that size, owned by the caller, who gives it up if this is true.
    unsafe fn give(&self, class: usize, memory: *mut Free) -> bool {
        let length = self.lengths[class].get();
        if length as usize >= const { MAX_FREE / SIZES[0] } >> class {
            return false;
        }
        // SAFETY: the caller owns the block, which is larger than `Free` and aligned for it.
        unsafe { memory.write(Free { next: self.heads[class].get() }) };
        self.heads[class].set(memory);
        self.lengths[class].set(length + 1);
        true
    }
}

impl Drop for Lists {
    fn drop(&mut self) {
        for class in 0..SIZES.len() {
            loop {
                let memory = self.take(class);
                if memory.is_null() {
                    break;
                }
                // SAFETY: it came from the system with this layout, and is on no list any more.
                unsafe { dealloc(memory.cast(), block(class)) };
            }
        }
    }
}

thread_local! {
    static LISTS: Lists = const { Lists::new() };
}

/// Moves `value` to the heap. [`unbox`] or [`free`] take it back.
#[inline]
pub(crate) fn boxed<T>(value: T) -> NonNull<T> {
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
pub(crate) unsafe fn unbox<T>(place: NonNull<T>) -> T {
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
    let memory = place.as_ptr().cast::<Free>();
    // SAFETY: the caller owns the block, whose size is that of the type's class.
    let kept = LISTS.try_with(|lists| unsafe { lists.give(class, memory) });
    if kept != Ok(true) {
        // SAFETY: blocks of the pool come from the system with this layout, and the list did not take it.
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
