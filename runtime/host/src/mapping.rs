//! The bytes of a program.
//!
//! ```text
//! file ──map (unsafe: it must not change)───────▶ ┐
//! bytes ──copy to aligned memory────────────────▶ ├ Bytes ──▶ Frozen ──validate──▶ SharedImage
//! bytes in the program (static, aligned): no copy ┘
//! ```

#![allow(unsafe_code, reason = "maps a file")]

use std::fs::File;
use std::io::Read;
use std::path::Path;

use bef_format::AlignedBytes;
use bef_format::layout::PAYLOAD_ALIGN;
use memmap2::Mmap;

/// The bytes of a file. Once behind an `Arc`, they neither move nor change.
pub(crate) enum Bytes {
    /// The file stays open, and with it any lock on it.
    Mapped(Mmap, #[allow(dead_code, reason = "held, not read")] File),
    Owned(AlignedBytes),
    Static(&'static [u8]),
}

/// The bytes of a file that is open, without a copy. It stays open as long as they are held.
///
/// # Errors
/// Those of the system.
///
/// # Safety
/// The file must not change as long as the bytes are held: neither its bytes nor its length.
pub unsafe fn map_file(file: File) -> std::io::Result<impl AsRef<[u8]> + Send + Sync> {
    // SAFETY: the caller's contract is the same.
    unsafe { Bytes::map(file) }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        match self {
            Bytes::Mapped(map, _) => map,
            Bytes::Owned(bytes) => bytes,
            Bytes::Static(bytes) => bytes,
        }
    }
}

impl Bytes {
    /// A copy of `bytes`.
    pub(crate) fn copy_of(bytes: &[u8]) -> Bytes {
        let mut copy = AlignedBytes::zeroed(bytes.len());
        befrost_mem::prefer_large_pages(&mut copy);
        copy.copy_from_slice(bytes);
        Bytes::Owned(copy)
    }

    /// Bytes of the running program; copied only if they are not aligned.
    pub(crate) fn of_static(bytes: &'static [u8]) -> Bytes {
        let is_aligned = bytes.as_ptr().addr().is_multiple_of(PAYLOAD_ALIGN);
        if is_aligned { Bytes::Static(bytes) } else { Bytes::copy_of(bytes) }
    }

    /// Reads a file into memory.
    pub(crate) fn read(path: &Path) -> std::io::Result<Bytes> {
        let mut file = File::open(path)?;
        let len = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
        if len > isize::MAX as usize / 2 {
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        let mut bytes = AlignedBytes::try_zeroed(len).ok_or(std::io::ErrorKind::OutOfMemory)?;
        befrost_mem::prefer_large_pages(&mut bytes);
        file.read_exact(&mut bytes)?;
        Ok(Bytes::Owned(bytes))
    }

    /// Maps a file that is open. It stays open as long as it is mapped.
    ///
    /// # Safety
    /// The file must not change as long as it is mapped: neither its bytes nor its length.
    pub(crate) unsafe fn map(file: File) -> std::io::Result<Bytes> {
        if file.metadata()?.len() == 0 {
            // The system refuses an empty map, and the error of validation says more.
            return Ok(Bytes::copy_of(&[]));
        }
        // SAFETY: the caller's contract.
        let map = unsafe { Mmap::map(&file) }?;
        Ok(Bytes::Mapped(map, file))
    }
}
