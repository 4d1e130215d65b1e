//! The allocator trait and its implementations: the system, a budget, a leak check.
//!
//! An allocator hands out [`Block`]s and takes them back. Decorators hold the allocator that they decorate,
//! so `LeakCheck(Limited(Malloc))` is a leak check of a budgeted system allocator.
//!
//! Sizes are counted as allocated. A [`crate::Buffer`] requests its bytes and a header of 64.
//!
//! Not here: pools (`pooled`), and arenas (`arena`).

use std::fmt;
use std::sync::Arc;

use crate::Block;
use crate::sync::{AtomicUsize, Ordering::Relaxed};

/// The reason for a failed allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocError {
    /// The system has no memory left.
    OutOfMemory {
        /// The requested bytes.
        size: usize,
    },
    /// The size exceeds the address space.
    TooLarge {
        /// The requested bytes.
        size: usize,
    },
    /// The alignment is no power of two, or too large.
    Alignment {
        /// The requested alignment.
        align: usize,
    },
    /// The budget is exceeded.
    OverBudget {
        /// The requested bytes.
        size: usize,
        /// The remaining bytes.
        left: usize,
        /// The whole budget.
        budget: usize,
    },
}

impl fmt::Display for AllocError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AllocError::OutOfMemory { size } => {
                write!(f, "out of memory: {size} bytes refused by the system")
            }
            AllocError::TooLarge { size } => {
                write!(f, "allocation of {size} bytes is larger than the address space")
            }
            AllocError::Alignment { align } => {
                write!(f, "alignment {align} is not a power of two up to 4096")
            }
            AllocError::OverBudget { size, left, budget } => {
                write!(f, "out of memory: {size} bytes asked for, {left} left of a budget of {budget}")
            }
        }
    }
}

impl std::error::Error for AllocError {}

/// A source of memory.
pub trait Allocator: Send + Sync {
    /// Initialized memory of `size` bytes (its contents are unspecified, as it may be reused) at a multiple
    /// of `align`.
    fn allocate(&self, size: usize, align: usize) -> Result<Block, AllocError>;

    /// Takes back a block of this allocator.
    fn release(&self, block: Block);

    /// True if it does nothing but pass blocks from and to the system, so that nothing has to remember it.
    fn is_system(&self) -> bool {
        false
    }
}

/// The system's allocator. Its blocks are zeroed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Malloc;

impl Malloc {
    /// The system's allocator, ready to share.
    pub fn shared() -> Arc<dyn Allocator> {
        Arc::new(Malloc)
    }
}

impl Allocator for Malloc {
    fn allocate(&self, size: usize, align: usize) -> Result<Block, AllocError> {
        Block::zeroed(size, align)
    }

    fn release(&self, block: Block) {
        drop(block);
    }

    fn is_system(&self) -> bool {
        true
    }
}

/// An allocator with a budget: a request that would exceed it is refused. The bytes handed out by the inner
/// allocator are counted.
pub struct Limited {
    inner: Arc<dyn Allocator>,
    budget: usize,
    used: AtomicUsize,
}

impl Limited {
    /// At most `budget` bytes of `inner` at any time.
    pub fn new(inner: Arc<dyn Allocator>, budget: usize) -> Limited {
        Limited { inner, budget, used: AtomicUsize::new(0) }
    }

    /// The bytes in use.
    pub fn used(&self) -> usize {
        // Relaxed: a number that guards no memory.
        self.used.load(Relaxed)
    }

    fn reserve(&self, size: usize) -> Result<(), AllocError> {
        // All Relaxed: the counter only limits; blocks travel by other means.
        let mut used = self.used.load(Relaxed);
        loop {
            let left = self.budget.saturating_sub(used);
            if size > left {
                return Err(AllocError::OverBudget { size, left, budget: self.budget });
            }
            match self.used.compare_exchange_weak(used, used + size, Relaxed, Relaxed) {
                Ok(_) => return Ok(()),
                Err(now) => used = now,
            }
        }
    }
}

impl Allocator for Limited {
    fn allocate(&self, size: usize, align: usize) -> Result<Block, AllocError> {
        self.reserve(size)?;
        let block = self.inner.allocate(size, align).inspect_err(|_| {
            self.used.fetch_sub(size, Relaxed); // Relaxed: as in `reserve`.
        })?;
        // The block's actual size is counted, since `release` sees only the block.
        match block.size().checked_sub(size) {
            Some(more) => {
                if let Err(refused) = self.reserve(more) {
                    self.used.fetch_sub(size, Relaxed);
                    self.inner.release(block);
                    return Err(refused);
                }
            }
            None => _ = self.used.fetch_sub(size - block.size(), Relaxed),
        }
        Ok(block)
    }

    fn release(&self, block: Block) {
        self.used.fetch_sub(block.size(), Relaxed); // Relaxed: as in `reserve`.
        self.inner.release(block);
    }
}

/// The live allocations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// The number of blocks.
    pub blocks: usize,
    /// Their total size in bytes.
    pub bytes: usize,
}

/// An allocator that counts live allocations.
pub struct LeakCheck {
    inner: Arc<dyn Allocator>,
    blocks: AtomicUsize,
    bytes: AtomicUsize,
}

impl LeakCheck {
    /// Counts the allocations of `inner`.
    pub fn new(inner: Arc<dyn Allocator>) -> LeakCheck {
        LeakCheck { inner, blocks: AtomicUsize::new(0), bytes: AtomicUsize::new(0) }
    }

    /// The live allocations. Exact if there are no concurrent allocations and releases.
    pub fn live(&self) -> Live {
        // Relaxed: read when the threads that allocated have been joined or have handed over their results.
        Live { blocks: self.blocks.load(Relaxed), bytes: self.bytes.load(Relaxed) }
    }
}

impl Allocator for LeakCheck {
    fn allocate(&self, size: usize, align: usize) -> Result<Block, AllocError> {
        let block = self.inner.allocate(size, align)?;
        // Relaxed, here and in `release`: see `live`.
        self.blocks.fetch_add(1, Relaxed);
        self.bytes.fetch_add(block.size(), Relaxed);
        Ok(block)
    }

    fn release(&self, block: Block) {
        self.blocks.fetch_sub(1, Relaxed);
        self.bytes.fetch_sub(block.size(), Relaxed);
        self.inner.release(block);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_budget_holds_in_all_and_comes_back() {
        let limited = Limited::new(Malloc::shared(), 1024);
        let first = limited.allocate(1000, 64).unwrap();
        assert_eq!(
            limited.allocate(25, 64).unwrap_err(),
            AllocError::OverBudget { size: 25, left: 24, budget: 1024 }
        );
        let second = limited.allocate(24, 64).unwrap();
        assert_eq!(limited.used(), 1024);
        limited.release(first);
        limited.release(second);
        assert_eq!(limited.used(), 0);
    }

    #[test]
    fn a_refused_request_uses_no_budget() {
        let limited = Limited::new(Malloc::shared(), usize::MAX);
        assert!(limited.allocate(8, 3).is_err());
        assert_eq!(limited.used(), 0);
    }

    #[test]
    fn the_leak_check_sees_a_leak() {
        let check = LeakCheck::new(Malloc::shared());
        let block = check.allocate(10, 8).unwrap();
        assert_eq!(check.live(), Live { blocks: 1, bytes: 10 });
        check.release(block);
        assert_eq!(check.live(), Live::default());
        assert!(check.allocate(8, 3).is_err());
        assert_eq!(check.live(), Live::default());
    }
}
