//! A pool of blocks with size classes.
//!
//! ```text
//! allocate ──▶ a free block of the next size class, else the inner allocator
//! release  ──▶ the free list of its size class if at most `keep` bytes are free, else the inner allocator
//! ```
//!
//! There are four size classes per doubling, from 64 bytes to 64 MiB, so at most a fifth of a block is
//! wasted. Requests that are larger, or need a larger alignment than a cache line, go to the inner allocator.
//! A block from the pool holds old bytes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::sync::{AtomicUsize, Ordering::Relaxed};
use crate::{ALIGNMENT, AllocError, Allocator, Block};

/// The smallest size.
const SMALLEST: usize = 64;
/// The number of doublings.
const DOUBLINGS: usize = 20;
/// Size classes per doubling.
const STEPS: usize = 4;
const N_SIZES: usize = DOUBLINGS * STEPS + 1;

/// The default limit of free bytes.
const KEEP: usize = 1 << 28;

/// See the module's documentation.
pub struct Pooled {
    below: Arc<dyn Allocator>,
    /// By size class.
    free: Box<[Mutex<Vec<Block>>]>,
    /// The number of free bytes.
    kept: AtomicUsize,
    keep: usize,
}

/// The size of a class.
fn size_of_step(step: usize) -> usize {
    let base = SMALLEST << (step / STEPS);
    base + base / STEPS * (step % STEPS)
}

/// The first class of at least `size` bytes.
fn step_for(size: usize) -> Option<usize> {
    if size <= SMALLEST {
        return Some(0);
    }
    let doubling = (size - 1).ilog2().checked_sub(SMALLEST.ilog2())? as usize;
    let base = SMALLEST.checked_shl(doubling as u32)?;
    let step = doubling * STEPS + (size - base).div_ceil(base / STEPS);
    (step < N_SIZES).then_some(step)
}

impl Pooled {
    /// A pool over `below` that keeps up to 256 MiB of free blocks.
    pub fn new(below: Arc<dyn Allocator>) -> Pooled {
        Pooled::keeping(below, KEEP)
    }

    /// A pool over `below` that keeps up to `keep` bytes of free blocks.
    pub fn keeping(below: Arc<dyn Allocator>, keep: usize) -> Pooled {
        let free = (0..N_SIZES).map(|_| Mutex::default()).collect();
        Pooled { below, free, kept: AtomicUsize::new(0), keep }
    }

    /// The number of free bytes in the pool.
    pub fn kept(&self) -> usize {
        // Relaxed: a number that guards no memory.
        self.kept.load(Relaxed)
    }

    fn blocks(&self, step: usize) -> MutexGuard<'_, Vec<Block>> {
        self.free[step].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns all free blocks to the inner allocator.
    pub fn clear(&self) {
        for step in 0..N_SIZES {
            let blocks = std::mem::take(&mut *self.blocks(step));
            for block in blocks {
                self.kept.fetch_sub(block.size(), Relaxed); // Relaxed: as in `kept`.
                self.below.release(block);
            }
        }
    }
}

impl Allocator for Pooled {
    fn allocate(&self, size: usize, align: usize) -> Result<Block, AllocError> {
        let step = step_for(size).filter(|_| align <= ALIGNMENT && align.is_power_of_two());
        let Some(step) = step else { return self.below.allocate(size, align) };
        let free = self.blocks(step).pop();
        if let Some(block) = free {
            self.kept.fetch_sub(block.size(), Relaxed); // Relaxed: as in `kept`.
            return Ok(block);
        }
        let whole = size_of_step(step);
        self.below.allocate(whole, ALIGNMENT).or_else(|_| {
            // Free blocks of other sizes may be the missing memory.
            self.clear();
            self.below.allocate(whole, ALIGNMENT)
        })
    }

    fn release(&self, block: Block) {
        let size = block.size();
        let is_aligned = block.start().as_ptr().addr().is_multiple_of(ALIGNMENT);
        let step = step_for(size).filter(|&step| is_aligned && size_of_step(step) == size);
        let Some(step) = step else { return self.below.release(block) };
        // Relaxed: as in `kept`. Counted before the block is added, so that the bound is kept.
        if self.kept.fetch_add(size, Relaxed).saturating_add(size) > self.keep {
            self.kept.fetch_sub(size, Relaxed);
            return self.below.release(block);
        }
        self.blocks(step).push(block);
    }
}

impl Drop for Pooled {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::{LeakCheck, Limited, Live, Malloc};

    #[test]
    fn the_ladder_wastes_little() {
        for size in (0..5000).chain([1 << 20, (1 << 20) + 1, 1 << 26]) {
            let step = step_for(size).unwrap();
            let whole = size_of_step(step);
            assert!(whole >= size && (size <= SMALLEST || whole <= size + size / 4), "{size}: {whole}");
            assert!(step == 0 || size_of_step(step - 1) < size, "{size}");
        }
        assert_eq!(step_for((1 << 26) + 1), None);
        assert_eq!(step_for(usize::MAX), None);
    }

    #[test]
    fn blocks_come_back_and_are_given_back() {
        let counted = Arc::new(LeakCheck::new(Malloc::shared()));
        let pool = Pooled::new(counted.clone());
        let first = pool.allocate(1000, 64).unwrap();
        let at = first.start();
        pool.release(first);
        assert_eq!(pool.kept(), 1024);
        let again = pool.allocate(1010, 8).unwrap();
        assert_eq!((again.start(), pool.kept()), (at, 0));
        let large = pool.allocate(1 << 27, 64).unwrap();
        let odd = pool.allocate(100, 4096).unwrap();
        [again, large, odd].into_iter().for_each(|block| pool.release(block));
        assert_eq!(pool.kept(), 1024);
        assert!(pool.allocate(8, 3).is_err());
        drop(pool);
        assert_eq!(counted.live(), Live::default());
    }

    #[test]
    fn no_more_is_kept_than_was_said() {
        let pool = Pooled::keeping(Malloc::shared(), 4096);
        let blocks: Vec<_> = (0..10).map(|_| pool.allocate(1024, 64).unwrap()).collect();
        blocks.into_iter().for_each(|block| pool.release(block));
        assert_eq!(pool.kept(), 4096);
    }

    #[test]
    fn a_budget_counts_what_was_given() {
        let limited = Arc::new(Limited::new(Arc::new(Pooled::new(Malloc::shared())), 2000));
        let block = limited.allocate(1000, 64).unwrap();
        assert_eq!((block.size(), limited.used()), (1024, 1024));
        assert!(
            matches!(limited.allocate(970, 64), Err(AllocError::OverBudget { .. })),
            "976 are left, 1024 come"
        );
        assert_eq!(limited.used(), 1024);
        limited.release(block);
        assert_eq!(limited.used(), 0);
        // Conversely, the pool releases its free blocks before it refuses.
        let pool = Pooled::new(Arc::new(Limited::new(Malloc::shared(), 2000)));
        let block = pool.allocate(1000, 64).unwrap();
        pool.release(block);
        assert!(pool.allocate(1500, 64).is_ok());
    }

    #[test]
    fn threads_may_share_it() {
        let counted = Arc::new(LeakCheck::new(Malloc::shared()));
        let pool = Pooled::new(counted.clone());
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let pool = &pool;
                scope.spawn(move || {
                    for i in 0..2000 {
                        let size = (i * 37 + thread * 101) % 3000;
                        let block = pool.allocate(size, 64).unwrap();
                        assert!(block.size() >= size);
                        pool.release(block);
                    }
                });
            }
        });
        drop(pool);
        assert_eq!(counted.live(), Live::default());
    }
}
