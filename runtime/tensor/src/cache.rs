//! The cache sizes from which block sizes are derived.
//!
//! Block sizes are constants: the order of sums, thus the bits of results, must not depend on the machine's
//! caches.

/// The sizes of a core's caches in bytes.
pub(crate) struct CacheModel {
    l1: usize,
    l2: usize,
}

/// The model of a core: 32 KB and 1 MB.
pub(crate) const CACHE: CacheModel = CacheModel { l1: 32 << 10, l2: 1 << 20 };

impl CacheModel {
    /// The number of floats in one of `parts` equal parts of the L1 data cache.
    pub(crate) const fn l1_floats(&self, parts: usize) -> usize {
        self.l1 / parts / size_of::<f32>()
    }

    /// The number of floats in one of `parts` equal parts of the L2 cache.
    pub(crate) const fn l2_floats(&self, parts: usize) -> usize {
        self.l2 / parts / size_of::<f32>()
    }
}
