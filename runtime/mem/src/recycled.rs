//! Small blocks of the system that a thread keeps for its next buffers.
//!
//! ```text
//! Buffer of a size ──take──▶ a block of the next larger class, if this thread has freed one lately
//!        freed     ──give──▶ kept, up to a few of each class; the rest goes back to the system
//! ```
//!
//! The contents of a taken block are unspecified. When a thread ends, its blocks go back to the system.

use std::cell::RefCell;

use crate::Block;

/// Sizes of the blocks that are kept: a header of a cache line, and elements.
const CLASSES: [usize; 6] = [128, 192, 320, 1088, 4160, 8256];

/// Blocks of each class that a thread keeps.
const KEPT: usize = 4;

/// The blocks of one class.
struct Class {
    blocks: [Option<Block>; KEPT],
    n: usize,
}

thread_local! {
    static CLASSES_OF_THREAD: RefCell<[Class; CLASSES.len()]> =
        const { RefCell::new([const { Class { blocks: [const { None }; KEPT], n: 0 } }; CLASSES.len()]) };
}

/// The size of the class for a block.
#[inline]
pub(crate) fn class_of(size: usize) -> Option<usize> {
    CLASSES.iter().copied().find(|&class| size <= class)
}

fn with_class<R>(size: usize, f: impl FnOnce(&mut Class) -> R) -> Option<R> {
    let i = CLASSES.iter().position(|&class| class == size)?;
    // A thread that is ending keeps nothing.
    CLASSES_OF_THREAD.try_with(|classes| Some(f(classes.try_borrow_mut().ok()?.get_mut(i)?))).ok()?
}

/// A block of exactly this size of a class, with unspecified contents.
#[inline]
pub(crate) fn take(size: usize) -> Option<Block> {
    with_class(size, |class| {
        class.n = class.n.checked_sub(1)?;
        class.blocks.get_mut(class.n)?.take()
    })?
}

/// Keeps a block of the system, or frees it.
#[inline]
pub(crate) fn give(block: Block) {
    if block.is_part() {
        return;
    }
    let mut block = Some(block);
    with_class(block.as_ref().map_or(0, Block::size), |class| {
        if let Some(place) = class.blocks.get_mut(class.n) {
            *place = block.take();
            class.n += 1;
        }
    });
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_keeps_a_few_blocks_of_each_class() {
        let size = class_of(100).unwrap();
        let block = || Block::zeroed(size, 64).unwrap();
        while take(size).is_some() {}
        let first = block();
        let address = first.start();
        give(first);
        let again = take(size).unwrap();
        assert_eq!((again.start(), again.size()), (address, size));
        (0..2 * KEPT).for_each(|_| give(block()));
        assert_eq!((0..2 * KEPT).filter(|_| take(size).is_some()).count(), KEPT);
        give(Block::zeroed(size + 1, 64).unwrap());
        assert!(take(size + 1).is_none() && class_of(1 << 20).is_none());
        std::thread::spawn(move || assert!(take(size).is_none())).join().unwrap();
    }
}
