//! Bytes at an address from which a file can be read in place.
//!
//! `validate` wants its bytes at a multiple of 8, kernels want tensors at a multiple of 64; a `Vec<u8>` promises
//! neither. Here is the one buffer of this crate that promises both, made without unsafe code. For who has bytes from
//! anywhere; who maps a file does not need it.

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
    /// As many zeros.
    pub fn zeroed(len: usize) -> AlignedBytes {
        AlignedBytes { lines: bytemuck::zeroed_vec(len.div_ceil(size_of::<Line>())), len }
    }

    /// The same; none if there is not as much memory.
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

impl std::fmt::Debug for AlignedBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AlignedBytes({})", self.len)
    }
}
