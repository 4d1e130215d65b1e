//! An allocator of which one request fails, for tests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use befrost_mem::{AllocError, Allocator, Block};

/// An allocator of which one request fails.
struct Failing {
    inner: Arc<dyn Allocator>,
    /// The number of requests so far.
    n: AtomicU64,
    fails: u64,
}

/// `inner`, of whose requests number `n` fails.
pub(super) fn failing(inner: Arc<dyn Allocator>, n: u32) -> Arc<dyn Allocator> {
    Arc::new(Failing { inner, n: AtomicU64::new(0), fails: n.into() })
}

impl Allocator for Failing {
    fn allocate(&self, size: usize, align: usize) -> Result<Block, AllocError> {
        // Relaxed: a number that guards no memory.
        if self.n.fetch_add(1, Ordering::Relaxed) + 1 == self.fails {
            return Err(AllocError::OutOfMemory { size });
        }
        self.inner.allocate(size, align)
    }

    fn release(&self, block: Block) {
        self.inner.release(block);
    }
}
