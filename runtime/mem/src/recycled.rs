//! Blocks of the system that are kept for the next buffers.
//!
//! ```text
//! small  ──take──▶ a block of the next larger class, if this thread has freed one lately
//!        ◀──give── kept by the thread, up to a few of each class; the rest goes back to the system
//! large  ──take──▶ the smallest kept block that fits and is at most a quarter larger
//!        ◀──give── kept for all threads; beyond a limit the oldest go back to the system
//! ```
//!
//! The contents of a taken block are unspecified. When a thread ends, its blocks go back to the system. A
//! large block is worth keeping because the system clears its pages again, one fault each: six times the cost
//! of an elementwise operator on it.

use std::cell::RefCell;
use std::ops::RangeInclusive;
use std::sync::{Mutex, MutexGuard, TryLockError};

use crate::Block;

/// Sizes of the large blocks that are kept. Smaller ones the system reuses without faults.
const LARGE: RangeInclusive<usize> = 1 << 16..=1 << 25;

/// Limit of the bytes of the large blocks that are kept, and of their number.
const MAX_LARGE: (usize, usize) = (1 << 26, 64);

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
    if LARGE.contains(&block.size()) {
        return give_large(block);
    }
    let mut block = Some(block);
    with_class(block.as_ref().map_or(0, Block::size), |class| {
        if let Some(place) = class.blocks.get_mut(class.n) {
            *place = block.take();
            class.n += 1;
        }
    });
}

/// The large blocks, the oldest first.
static LARGE_BLOCKS: Mutex<Vec<Block>> = Mutex::new(Vec::new());

/// The large blocks, unless another thread has them: the system serves as well. A process that was forked
/// while a thread had them never gets them.
fn large_blocks() -> Option<MutexGuard<'static, Vec<Block>>> {
    match LARGE_BLOCKS.try_lock() {
        Ok(blocks) => Some(blocks),
        // Nothing panics under the lock.
        Err(TryLockError::Poisoned(error)) => Some(error.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// Gives the freed large blocks that the process keeps for later buffers, up to 64 MiB, back to the system.
pub fn release_kept_blocks() {
    drop(large_blocks().map(|mut blocks| std::mem::take(&mut *blocks)));
}

/// A large block of at least this size, with unspecified contents.
pub(crate) fn take_large(size: usize) -> Option<Block> {
    if !LARGE.contains(&size) {
        return None;
    }
    let mut blocks = large_blocks()?;
    let fitting =
        blocks.iter().enumerate().filter(|(_, block)| (size..=size + size / 4).contains(&block.size()));
    let (place, _) = fitting.min_by_key(|(_, block)| block.size())?;
    Some(blocks.remove(place))
}

/// Keeps a large block of the system; frees the oldest ones beyond the limits.
#[cold]
fn give_large(block: Block) {
    let Some(mut blocks) = large_blocks() else { return };
    blocks.push(block);
    let mut bytes: usize = blocks.iter().map(Block::size).sum();
    let (max_bytes, max_blocks) = MAX_LARGE;
    let n_old = blocks
        .iter()
        .enumerate()
        .take_while(|(i, block)| {
            let is_over = bytes > max_bytes || blocks.len() - i > max_blocks;
            bytes -= block.size();
            is_over
        })
        .count();
    let old: Vec<Block> = blocks.drain(..n_old).collect();
    drop(blocks); // the system is asked outside of the lock
    drop(old);
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

    #[test]
    fn large_blocks_are_kept_for_all_threads_within_limits() {
        // Sizes that no other test uses, since all threads share the blocks.
        let size = (1 << 20) + 77;
        let block = Block::zeroed(size, 64).unwrap();
        let address = block.start();
        give(block);
        assert!(take_large(size / 2).is_none_or(|block| block.start() != address), "too large");
        let again = std::thread::spawn(move || take_large(size - size / 8)).join().unwrap().unwrap();
        assert_eq!((again.start(), again.size()), (address, size));
        let (max_bytes, max_blocks) = MAX_LARGE;
        for i in 0..2 * max_blocks {
            give(Block::zeroed(size + (i % 2) * max_bytes / 16, 64).unwrap());
            let blocks = LARGE_BLOCKS.lock().unwrap();
            assert!(blocks.len() <= max_blocks);
            assert!(blocks.iter().map(Block::size).sum::<usize>() <= max_bytes);
        }
        assert!(take_large(LARGE.end() + 1).is_none() && take_large(LARGE.start() - 1).is_none());
        LARGE_BLOCKS.lock().unwrap().clear();
    }
}
