//! Blocks: owned memory from the system.
//!
//! A block has the requested alignment, is initialized, and is freed when dropped. It is zeroed on allocation
//! through the system's own zeroing allocation, which is free for fresh pages. Alignments beyond the system's
//! natural one are made by allocating a little more and skipping: the standard library's aligned zeroing
//! would clear every byte explicitly.
//!
//! For large blocks the system is asked for large pages: otherwise an operator on activations of a hundred
//! megabytes spends a fifth of its time on the translation of addresses.
//!
//! A block may also be a part of an arena, which it keeps alive and notifies when dropped.
//!
//! Not here: counting, budgets and reuse (`allocator.rs`), sharing (`buffer.rs`).

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
use std::fmt;
use std::ptr::{NonNull, without_provenance};
use std::sync::Arc;

use crate::arena::Arena;
use crate::recycled::{class_of, take, take_large};
use crate::{ALIGNMENT, AllocError};

/// The alignment of every system allocation.
const NATURAL_ALIGN: usize = 16;

/// The maximal alignment of a block.
const MAX_ALIGN: usize = 4096;

/// Up to this size memory is zeroed here: the system's zeroing allocation has no fast path for small blocks.
const SMALL: usize = 512;

/// The size of a large page, and that of the smallest block for which they are asked for: at most a third of
/// it lies on small pages at its ends.
const LARGE_PAGE: usize = 2 << 20;
const LARGE: usize = 3 * LARGE_PAGE;

/// Asks the system for large pages for what lies in `size` bytes of one allocation, if these are many and not
/// written yet. It may ignore that.
#[cfg(all(target_os = "linux", not(miri)))]
fn ask_for_large_pages(start: NonNull<u8>, size: usize) {
    let skip = start.as_ptr().addr().wrapping_neg() & (LARGE_PAGE - 1);
    let len = size.saturating_sub(skip) & !(LARGE_PAGE - 1);
    if size >= LARGE && len > 0 {
        // SAFETY: `skip + len <= size`, so the pages lie inside the allocation. The advice changes no
        // contents; its failure is no error.
        unsafe { libc::madvise(start.as_ptr().wrapping_add(skip).cast(), len, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn ask_for_large_pages(_: NonNull<u8>, _: usize) {}

/// Asks the system for large pages for a buffer that is not written yet, if it is large: what is read from
/// end to end, such as the weights of a model, is read faster then. It may ignore that.
pub fn prefer_large_pages(bytes: &mut [u8]) {
    ask_for_large_pages(NonNull::from(&mut *bytes).cast(), bytes.len());
}

/// Owned, initialized memory.
///
/// Invariants: `origin` is either a value of [`from_system`]; then the allocation begins `skip` bytes before
/// `start`, was made with `layout_of(size, slack)`, and `skip <= slack`. Or it is `Arc::into_raw` of the
/// arena whose memory contains the block, at a place that the arena has handed out to this block alone.
pub struct Block {
    start: NonNull<u8>,
    size: usize,
    origin: *const Arena,
}

/// The distance of the bytes from the start of the allocation, and the maximal distance, encoded as an odd
/// number, which is no arena's address.
fn from_system(skip: u16, slack: u16) -> *const Arena {
    without_provenance(usize::from(skip) << 17 | usize::from(slack) << 1 | 1)
}

/// The layout of `size` bytes (one at least) that may begin up to `slack` bytes into the allocation.
fn layout_of(size: usize, slack: u16) -> Option<Layout> {
    let total = size.max(1).checked_add(usize::from(slack))?;
    Layout::from_size_align(total, NATURAL_ALIGN).ok()
}

/// A zeroed allocation of a small layout; null if there is no memory.
fn small_zeroed(layout: Layout) -> *mut u8 {
    // SAFETY: the layout's size is at least one.
    let base = unsafe { alloc(layout) };
    if !base.is_null() {
        // SAFETY: the allocation has this size.
        unsafe { base.write_bytes(0, layout.size()) };
    }
    base
}

// SAFETY: a block owns its memory exclusively, and the system's allocator serves all threads.
unsafe impl Send for Block {}

// SAFETY: a shared block only yields a pointer, whose use is the user's `unsafe`.
unsafe impl Sync for Block {}

impl Block {
    /// `size` zeroed bytes at a multiple of `align`, a power of two up to 4096.
    pub fn zeroed(size: usize, align: usize) -> Result<Block, AllocError> {
        Block::made(size, align, |layout| {
            if layout.size() <= SMALL {
                small_zeroed(layout)
            } else {
                // SAFETY: the layout's size is at least one.
                unsafe { alloc_zeroed(layout) }
            }
        })
    }

    /// `size` bytes or more at a multiple of 64. The process may have used them before; then a large block
    /// has old contents, and of a small one the first `size` bytes are zero.
    pub(crate) fn recycled(size: usize) -> Result<Block, AllocError> {
        let Some(class) = class_of(size) else {
            let Some(block) = take_large(size) else { return Block::zeroed(size, ALIGNMENT) };
            if cfg!(debug_assertions) {
                // Whoever relies on zeros reads NaN. SAFETY: the bytes are this block's.
                unsafe { block.start.as_ptr().write_bytes(0xff, block.size) };
            }
            return Ok(block);
        };
        match take(class) {
            Some(block) => {
                // SAFETY: the block has `class` bytes, which are not less than `size`.
                unsafe { block.start.as_ptr().write_bytes(0, size) };
                Ok(block)
            }
            None => Block::zeroed(class, ALIGNMENT),
        }
    }

    /// [`Block::recycled`] of `head` zeroed bytes, and a copy of `tail` behind them.
    pub(crate) fn copied(head: usize, tail: &[u8]) -> Result<Block, AllocError> {
        let size = head.checked_add(tail.len()).ok_or(AllocError::TooLarge { size: tail.len() })?;
        let class = class_of(size);
        let block = match (class.map_or_else(|| take_large(size), take), class) {
            (Some(block), _) => block,
            (None, Some(class)) => Block::zeroed(class, ALIGNMENT)?,
            // SAFETY: the layout's size is at least one. All bytes of the block are written below.
            (None, None) => Block::made(size, ALIGNMENT, |layout| unsafe { alloc(layout) })?,
        };
        // SAFETY: the block has `size` bytes or more, which are not less than `head`.
        unsafe { block.start.as_ptr().write_bytes(0, head) };
        // SAFETY: the block has `head` bytes or more.
        let behind = unsafe { block.start.as_ptr().add(head) };
        // SAFETY: the block has `tail.len()` bytes behind the first `head`, and is this function's, so
        // nothing overlaps.
        unsafe { behind.copy_from_nonoverlapping(tail.as_ptr(), tail.len()) };
        Ok(block)
    }

    /// A block of memory from `alloc`, which may be null.
    fn made(size: usize, align: usize, alloc: impl FnOnce(Layout) -> *mut u8) -> Result<Block, AllocError> {
        if !align.is_power_of_two() || align > MAX_ALIGN {
            return Err(AllocError::Alignment { align });
        }
        let slack = align.saturating_sub(NATURAL_ALIGN) as u16; // below MAX_ALIGN
        let layout = layout_of(size, slack).ok_or(AllocError::TooLarge { size })?;
        let base = NonNull::new(alloc(layout)).ok_or(AllocError::OutOfMemory { size })?;
        let skip = base.as_ptr().addr().wrapping_neg() & (align - 1);
        // SAFETY: `base` is a multiple of NATURAL_ALIGN, hence `skip <= slack` (0 when align <=
        // NATURAL_ALIGN): inside the allocation.
        let start = unsafe { base.add(skip) };
        ask_for_large_pages(start, size);
        Ok(Block { start, size, origin: from_system(skip as u16, slack) })
    }

    /// The `size` bytes from `at` on of an arena's memory.
    ///
    /// # Safety
    /// They are in its memory, and belong to no other block until the arena is notified of their release.
    pub(crate) unsafe fn part(arena: &Arc<Arena>, at: usize, size: usize) -> Block {
        // SAFETY: they are in the memory.
        let start = unsafe { arena.memory().start().add(at) };
        Block { start, size, origin: Arc::into_raw(arena.clone()) }
    }

    /// True if it is a part of an arena.
    pub(crate) fn is_part(&self) -> bool {
        self.origin.addr() & 1 == 0
    }

    /// The first byte. Valid for reads and writes of [`Block::size`] bytes while the block lives.
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// The requested number of bytes.
    pub fn size(&self) -> usize {
        self.size
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let number = self.origin.addr();
        if number & 1 == 0 {
            // SAFETY: an even value is that of `Arc::into_raw`, and taken back once, here.
            let arena = unsafe { Arc::from_raw(self.origin) };
            if cfg!(debug_assertions) {
                // Reads after free yield NaN. SAFETY: the bytes are this block's.
                unsafe { self.start.as_ptr().write_bytes(0xff, self.size) };
            }
            return arena.came_back(self.start.as_ptr().addr());
        }
        let (skip, slack) = (number >> 17 & 0xffff, (number >> 1 & 0xffff) as u16);
        let Some(layout) = layout_of(self.size, slack) else { return }; // it was a layout at birth
        // SAFETY: the allocation begins `skip` bytes before `start`.
        let base = unsafe { self.start.sub(skip) };
        // SAFETY: `base` was allocated with this layout, and is freed once, here.
        unsafe { dealloc(base.as_ptr(), layout) };
    }
}

impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Block({} bytes)", self.size)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_and_zeroed() {
        for align in [1, 8, 16, 64, 4096] {
            for size in [0, 1, 63, 64, 1 << 20] {
                let block = Block::zeroed(size, align).unwrap();
                assert_eq!(block.start().as_ptr().addr() % align, 0);
                assert_eq!(block.size(), size);
                // SAFETY: the block has `size` initialized bytes.
                let bytes = unsafe { std::slice::from_raw_parts(block.start().as_ptr(), size) };
                assert!(bytes.iter().all(|&b| b == 0));
            }
        }
    }

    #[test]
    fn large_blocks_are_zeroed_and_usable_to_their_ends() {
        for size in [LARGE - 1, LARGE, LARGE + 12345] {
            let block = Block::zeroed(size, 64).unwrap();
            // SAFETY: the block has `size` initialized bytes, and nobody else reads them.
            let bytes = unsafe { std::slice::from_raw_parts_mut(block.start().as_ptr(), size) };
            for at in [0, size / 2, size - 1] {
                assert_eq!(std::mem::replace(&mut bytes[at], 7), 0);
            }
        }
    }

    #[test]
    fn a_copy_has_a_zeroed_head() {
        let block = Block::copied(64, &[7; 100]).unwrap();
        // SAFETY: the block has this many initialized bytes.
        let bytes = unsafe { std::slice::from_raw_parts(block.start().as_ptr(), 164) };
        assert!(bytes[..64].iter().all(|&b| b == 0) && bytes[64..].iter().all(|&b| b == 7));
        assert!(Block::copied(usize::MAX, &[0]).is_err());
    }

    #[test]
    fn impossible_requests_are_errors() {
        let refusal = |size, align| Block::zeroed(size, align).unwrap_err();
        assert_eq!(refusal(8, 3), AllocError::Alignment { align: 3 });
        assert_eq!(refusal(8, 0), AllocError::Alignment { align: 0 });
        assert_eq!(refusal(8, 8192), AllocError::Alignment { align: 8192 });
        assert_eq!(refusal(usize::MAX, 64), AllocError::TooLarge { size: usize::MAX });
        assert_eq!(refusal(isize::MAX as usize, 64), AllocError::TooLarge { size: isize::MAX as usize });
        let huge = isize::MAX as usize / 2;
        assert_eq!(refusal(huge, 64), AllocError::OutOfMemory { size: huge });
    }
}
