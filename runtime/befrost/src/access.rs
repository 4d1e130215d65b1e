//! How files of models come into memory: read, or mapped.

#![allow(unsafe_code, reason = "passes the contract of mapping on")]

use std::fs::File;
use std::io;
use std::path::Path;

use befrost_kernel_api::Error;
use befrost_tensor::bundle::Bytes;

use crate::program::Program;
use crate::runtime::Runtime;

/// How files of models come into memory. By default they are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileAccess {
    is_mapped: bool,
}

impl FileAccess {
    /// Files are mapped: their weights are read when they are used, and used in place where that is possible.
    ///
    /// # Safety
    /// As [`Runtime::map_file`]: no file that is opened this way may change, neither its bytes nor its
    /// length, as long as something that was made of it is alive.
    pub unsafe fn mapped() -> FileAccess {
        FileAccess { is_mapped: true }
    }

    /// True if files are mapped.
    pub fn is_mapped(self) -> bool {
        self.is_mapped
    }

    /// The bytes of a file.
    pub(crate) fn bytes(self, path: &Path) -> io::Result<Bytes> {
        if !self.is_mapped {
            return std::fs::read(path).map(Bytes::from);
        }
        // SAFETY: who called `mapped` has promised that the files do not change.
        unsafe { befrost_host::map_file(File::open(path)?) }.map(Bytes::from_owner)
    }

    /// The program of a BEF file.
    pub(crate) fn program(self, runtime: &Runtime, path: &Path) -> Result<Program, Error> {
        if !self.is_mapped {
            return Ok(runtime.load(path)?);
        }
        // SAFETY: as for `bytes`.
        Ok(unsafe { runtime.map(path) }?)
    }
}
