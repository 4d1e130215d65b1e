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

use crate::program::{LoadError, Program};
use crate::registry::Registry;

/// Where the bytes of a program are. Once behind an `Arc`, they neither move nor change.
enum Bytes {
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

/// A validated file that is in memory.
pub(crate) struct Mapped {
    /// Borrows from `bytes`; only ever lent with the lifetime of a borrow of `self`.
    image: Image<'static>,
    /// All of the file; views of it are what kernels get.
    whole: Buffer,
    bytes: Arc<Bytes>,
}

impl Mapped {
    /// Copies `bytes` and validates the copy.
    pub(crate) fn copy_of(bytes: &[u8]) -> Result<Mapped, FormatError> {
        Mapped::new(Bytes::Owned(AlignedBytes::copy_of(bytes)))
    }

    /// Validates bytes that are there for ever; copies them only if they are not aligned.
    pub(crate) fn of_static(bytes: &'static [u8]) -> Result<Mapped, FormatError> {
        let is_aligned = bytes.as_ptr().addr().is_multiple_of(PAYLOAD_ALIGN);
        if is_aligned { Mapped::new(Bytes::Static(bytes)) } else { Mapped::copy_of(bytes) }
    }

    fn new(bytes: Bytes) -> Result<Mapped, FormatError> {
        let bytes = Arc::new(bytes);
        let slice: &[u8] = (*bytes).as_ref();
        // SAFETY: the slice lies in a map or a box that `bytes` owns, or is static; neither moves or changes while the `Arc` lives, which is as long as
        // the image does, since `Mapped` holds both and lends the image no longer than itself.
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

impl Program {
    /// A program of a BEF file, which is read into memory.
    ///
    /// # Errors
    /// As [`Program::from_bytes`], or if the file cannot be read.
    pub fn read(path: &Path, registry: &Registry) -> Result<Arc<Program>, LoadError> {
        let mut file = File::open(path)?;
        let len = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
        if len > isize::MAX as usize / 2 {
            return Err(std::io::Error::from(std::io::ErrorKind::FileTooLarge).into());
        }
        let mut bytes = AlignedBytes::zeroed(len);
        file.read_exact(&mut bytes)?;
        Program::resolve(Mapped::new(Bytes::Owned(bytes))?, registry)
    }

    /// A program of a BEF file, which is mapped: its tensors are used where they are.
    ///
    /// # Errors
    /// As [`Program::from_bytes`], or if the file cannot be read.
    ///
    /// # Safety
    /// As [`Program::map_file`].
    pub unsafe fn map(path: &Path, registry: &Registry) -> Result<Arc<Program>, LoadError> {
        // SAFETY: the caller's contract is the same.
        unsafe { Program::map_file(File::open(path)?, registry) }
    }

    /// [`Program::map`] of a file that is open. It stays open, and keeps the locks that the caller took on it, as long as it is mapped.
    ///
    /// # Errors
    /// As [`Program::map`].
    ///
    /// # Safety
    /// The file must not change while the program, or a tensor of it, lives: neither its bytes nor its length. Reading beyond the end of a file
    /// that became shorter kills the process (SIGBUS), and bytes that change are a data race. A file that is replaced (another one is
    /// renamed to its name) does not change: the old one lives on. Who writes files in place takes a lock (`flock`) and so does who maps them:
    /// `bef-exec` takes a shared one.
    pub unsafe fn map_file(file: File, registry: &Registry) -> Result<Arc<Program>, LoadError> {
        if file.metadata()?.len() == 0 {
            // An empty map is an error of the system's; ours says more.
            return Program::from_bytes(&[], registry);
        }
        // SAFETY: the caller's contract.
        let map = unsafe { Mmap::map(&file) }?;
        Program::resolve(Mapped::new(Bytes::Mapped(map, file))?, registry)
    }
}
