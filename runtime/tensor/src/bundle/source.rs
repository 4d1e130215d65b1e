//! The files of a bundle, in memory or on a disk.
//!
//! ```text
//! Memory: shared bytes ──slice──▶ Bytes            File: an open file ──read at──▶ the memory of a tensor
//! ```
//!
//! Of a file on a disk only the requested ranges are read. Large tensors are read directly into their final
//! memory, since touching new memory for the first time costs more than reading.
//!
//! Not here: the choice of files, which is the caller's.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

use bytes::Bytes;

use crate::scratch::filled;

/// A file of a bundle, in memory or on a disk.
#[derive(Debug)]
pub enum BundleFile {
    /// In memory.
    Memory(Bytes),
    /// An open file with its length.
    File(File, usize),
}

/// The number of bytes whose checksum is computed when they have been read, or before they are written: few
/// enough to be in a cache still.
pub(super) const AT_ONCE: usize = 1 << 18;

impl From<Bytes> for BundleFile {
    fn from(bytes: Bytes) -> BundleFile {
        BundleFile::Memory(bytes)
    }
}

impl From<Vec<u8>> for BundleFile {
    fn from(bytes: Vec<u8>) -> BundleFile {
        BundleFile::Memory(bytes.into())
    }
}

impl BundleFile {
    /// Opens a file.
    ///
    /// # Errors
    /// If it cannot be opened, or is no regular file.
    pub fn open(path: impl AsRef<Path>) -> io::Result<BundleFile> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
        }
        let len = usize::try_from(metadata.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        Ok(BundleFile::File(file, len))
    }

    /// The number of bytes.
    pub fn len(&self) -> usize {
        match self {
            BundleFile::Memory(bytes) => bytes.len(),
            BundleFile::File(_, len) => *len,
        }
    }

    /// True if there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads a range of bytes.
    ///
    /// # Errors
    /// If the range is not in the file, or cannot be read.
    pub fn read(&self, range: Range<usize>) -> Result<Bytes, String> {
        self.expect(&range)?;
        match self {
            BundleFile::Memory(bytes) => Ok(bytes.slice(range)),
            BundleFile::File(..) => {
                let mut bytes = filled(range.len(), 0).map_err(|error| error.to_string())?;
                self.read_into(range.start, &mut bytes, &mut |_| {})?;
                Ok(bytes.into())
            }
        }
    }

    /// Reads the bytes from `at` on into `to`. Calls `see` with each part after it is read.
    ///
    /// # Errors
    /// If the bytes are not in the file, or cannot be read.
    pub fn read_into(&self, at: usize, to: &mut [u8], see: &mut dyn FnMut(&[u8])) -> Result<(), String> {
        self.expect(&(at..at.saturating_add(to.len())))?;
        let mut at = at;
        for part in to.chunks_mut(AT_ONCE) {
            match self {
                BundleFile::Memory(bytes) => part.copy_from_slice(&bytes[at..at + part.len()]),
                BundleFile::File(file, _) => {
                    file.read_exact_at(part, at as u64).map_err(|error| error.to_string())?;
                }
            }
            see(part);
            at += part.len();
        }
        Ok(())
    }

    fn expect(&self, range: &Range<usize>) -> Result<(), String> {
        if range.start <= range.end && range.end <= self.len() {
            return Ok(());
        }
        Err(format!("bytes {} to {} are not in the file, which has {}", range.start, range.end, self.len()))
    }
}
