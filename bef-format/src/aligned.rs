//! A byte buffer aligned for reading a file in place.
//!
//! `validate` requires bytes at a multiple of 8, kernels require tensors at a multiple of 64; a `Vec<u8>`
//! guarantees neither. This buffer guarantees both, without unsafe code. It is for callers with bytes from
//! arbitrary sources; mapped files do not need it.

use bytemuck::{Pod, Zeroable};

/// The unit of allocation.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// Owned bytes at an address that is a multiple of 64.
#[derive(Clone)]
pub struct AlignedBytes {
    lines: Vec<Line>,
    len: usize,
}

impl AlignedBytes {
    /// A buffer of `len` zeros.
    pub fn zeroed(len: usize) -> AlignedBytes {
        AlignedBytes { lines: bytemuck::zeroed_vec(len.div_ceil(size_of::<Line>())), len }
    }

    /// [`AlignedBytes::zeroed`], or `None` if there is not enough memory.
    pub fn try_zeroed(len: usize) -> Option<AlignedBytes> {
        Some(AlignedBytes { lines: bytemuck::try_zeroed_vec(len.div_ceil(size_of::<Line>())).ok()?, len })
    }

    /// A copy of `bytes`.
    pub fn copy_of(bytes: &[u8]) -> AlignedBytes {
        let mut copy = AlignedBytes::zeroed(bytes.len());
        copy.copy_from_slice(bytes);
        copy
    }
}

impl std::ops::Deref for AlignedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.lines)[..self.len]
    }
}

impl std::ops::DerefMut for AlignedBytes {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.lines)[..self.len]
    }
}

impl AsRef<[u8]> for AlignedBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl std::fmt::Debug for AlignedBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AlignedBytes({})", self.len)
    }
}
