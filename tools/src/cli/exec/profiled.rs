//! An allocator that counts, and reports in TFRT's format.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use befrost_tensor::mem::{AllocError, Allocator, Block, Live};

/// Counts the allocations of another allocator. Relaxed throughout: read after the allocating threads are
/// done.
pub(super) struct Profiled {
    inner: Arc<dyn Allocator>,
    blocks: Counter,
    bytes: Counter,
    total: AtomicUsize,
}

/// The current and the maximal amount.
#[derive(Default)]
struct Counter {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Counter {
    fn add(&self, n: usize) {
        let now = self.now.fetch_add(n, Relaxed).saturating_add(n);
        self.most.fetch_max(now, Relaxed);
    }

    fn subtract(&self, n: usize) {
        self.now.fetch_sub(n, Relaxed);
    }
}

impl Profiled {
    pub(super) fn new(inner: Arc<dyn Allocator>) -> Profiled {
        Profiled { inner, blocks: Counter::default(), bytes: Counter::default(), total: AtomicUsize::new(0) }
    }

    /// The live allocations.
    pub(super) fn live(&self) -> Live {
        Live { blocks: self.blocks.now.load(Relaxed), bytes: self.bytes.now.load(Relaxed) }
    }

    /// TFRT's report.
    pub(super) fn report(&self) -> String {
        let Live { blocks, bytes } = self.live();
        format!(
            "HostAllocator profile:\nCurrent number of allocations = {blocks}\nMax number of allocations = {}\n\
             Total number of allocations = {}\nCurrent number of bytes allocated = {bytes}\n\
             Max number of bytes allocated = {}\n",
            self.blocks.most.load(Relaxed),
            self.total.load(Relaxed),
            self.bytes.most.load(Relaxed),
        )
    }
}

impl Allocator for Profiled {
    fn allocate(&self, size: usize, align: usize) -> Result<Block, AllocError> {
        let block = self.inner.allocate(size, align)?;
        self.total.fetch_add(1, Relaxed);
        self.blocks.add(1);
        self.bytes.add(block.size());
        Ok(block)
    }

    fn release(&self, block: Block) {
        self.blocks.subtract(1);
        self.bytes.subtract(block.size());
        self.inner.release(block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use befrost_tensor::mem::Malloc;

    #[test]
    fn the_most_is_remembered() {
        let profiled = Profiled::new(Malloc::shared());
        let (a, b) = (profiled.allocate(10, 8).unwrap(), profiled.allocate(20, 8).unwrap());
        profiled.release(a);
        assert_eq!(profiled.live(), Live { blocks: 1, bytes: 20 });
        assert_eq!(
            profiled.report(),
            "HostAllocator profile:\nCurrent number of allocations = 1\nMax number of allocations = 2\n\
             Total number of allocations = 2\nCurrent number of bytes allocated = 20\n\
             Max number of bytes allocated = 30\n"
        );
        profiled.release(b);
    }
}
