//! Programs of files: read into memory, or mapped.

#![allow(unsafe_code, reason = "passes the contract of mapping a file on to the caller")]

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use super::Program;
use super::error::LoadError;
use crate::mapping::Bytes;
use befrost_kernel_api::registry::Registry;

impl Program {
    /// A program of a BEF file, which is read into memory.
    ///
    /// # Errors
    /// As [`Program::from_bytes`], or if the file cannot be read.
    pub fn read(path: &Path, registry: &Registry) -> Result<Arc<Program>, LoadError> {
        Program::resolve(Bytes::read(path)?, registry)
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

    /// [`Program::map`] of a file that is open. It stays open, and keeps the locks that the caller took on
    /// it, as long as it is mapped.
    ///
    /// # Errors
    /// As [`Program::map`].
    ///
    /// # Safety
    /// The file must not change while the program, or a tensor of it, lives: neither its bytes nor its
    /// length. Reading beyond the end of a file that became shorter kills the process (SIGBUS), and bytes
    /// that change are a data race. A file that is replaced (another one is renamed to its name) does not
    /// change: the old one lives on. Writers of files in place take a lock (`flock`), and so do those that
    /// map them: `bef-exec` takes a shared one.
    pub unsafe fn map_file(file: File, registry: &Registry) -> Result<Arc<Program>, LoadError> {
        // SAFETY: the caller's contract.
        let bytes = unsafe { Bytes::map(file) }?;
        Program::resolve(bytes, registry)
    }
}
