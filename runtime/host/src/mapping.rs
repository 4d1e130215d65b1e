//! The bytes of a program, and the proof that they are one.
//!
//! ```text
//! file ──map (unsafe: nobody may change it)─────▶ ┐
//! bytes ──copy to aligned memory────────────────▶ ├ Bytes ──validate──▶ Mapped { Image, Arc<Bytes> }
//! bytes in the program (static, aligned): no copy ┘
//! ```
//!
//! [`Mapped`] keeps the bytes alive and lends the [`Image`] that was validated from them, so that nothing is validated or sliced again per
//! call. Parts of the file become [`Buffer`]s that keep it alive, without a copy.

#![allow(unsafe_code, reason = "mapping a file, and an image that refers to the bytes beside it")]

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use bef_format::layout::PAYLOAD_ALIGN;
use bef_format::{AlignedBytes, FormatError, Image};
use befrost_mem::{Buffer, ViewError};
use memmap2::Mmap;

/// The bytes of a file. Once behind an `Arc`, they neither move nor change.
pub(crate) enum Bytes {
    /// The file stays open, and with it any lock on it.
    Mapped(Mmap, #[allow(dead_code, reason = "held, not read")] File),
    Owned(AlignedBytes),
    Static(&'static [u8]),
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
        Bytes::Owned(AlignedBytes::copy_of(bytes))
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
        let mut bytes = AlignedBytes::zeroed(len);
        file.read_exact(&mut bytes)?;
        Ok(Bytes::Owned(bytes))
    }

    /// Maps a file that is open. It stays open as long as it is mapped.
    ///
    /// # Safety
    /// The file must not change as long as it is mapped: neither its bytes nor its length.
    pub(crate) unsafe fn map(file: File) -> std::io::Result<Bytes> {
        if file.metadata()?.len() == 0 {
            // An empty map is an error of the system's; the validation of no bytes says more.
            return Ok(Bytes::copy_of(&[]));
        }
        // SAFETY: the caller's contract.
        let map = unsafe { Mmap::map(&file) }?;
        Ok(Bytes::Mapped(map, file))
    }
}

/// A validated file that is in memory.
pub(crate) struct Mapped {
    /// Borrows from `bytes`; only ever lent with the lifetime of a borrow of `self`.
    image: Image<'static>,
    /// All of the file; views of it are what kernels get.
    whole: Buffer,
    bytes: Arc<Bytes>,
}

impl Mapped {
    /// Validates the bytes.
    pub(crate) fn new(bytes: Bytes) -> Result<Mapped, FormatError> {
        let bytes = Arc::new(bytes);
        let slice: &[u8] = (*bytes).as_ref();
        // SAFETY: the slice lies in a map or a box that `bytes` owns, or is static; neither moves or changes
        // while the `Arc` lives, which is as long as the image does, since `Mapped` holds both and lends the
        // image no longer than itself.
        let slice: &'static [u8] = unsafe { std::slice::from_raw_parts(slice.as_ptr(), slice.len()) };
        let image = bef_format::validate(slice)?;
        Ok(Mapped { image, whole: Buffer::from_owner(bytes.clone()), bytes })
    }

    pub(crate) fn image(&self) -> &Image<'_> {
        &self.image
    }

    /// A part of the file as a buffer that keeps the file alive.
    pub(crate) fn view(&self, part: &[u8]) -> Result<Buffer, ViewError> {
        if part.is_empty() {
            // An empty slice may lie anywhere: that of a missing section does not lie in the file.
            return self.whole.view(0..0);
        }
        let start = part.as_ptr().addr().wrapping_sub((*self.bytes).as_ref().as_ptr().addr());
        self.whole.view(start..start.wrapping_add(part.len()))
    }
}
