//! Loading programs from files: read into memory, or mapped.

#![allow(unsafe_code, reason = "passes the contract of mapping a file on to the caller")]

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use super::Program;
use super::error::LoadError;
use crate::mapping::Bytes;
use befrost_kernel_api::registry::Registry;

impl Program {
    /// Loads a program from a BEF file, which is read into memory.
    ///
    /// # Errors
    /// As [`Program::from_bytes`], or if the file cannot be read.
    pub fn read(path: &Path, registry: &Registry) -> Result<Arc<Program>, LoadError> {
        Program::resolve(Bytes::read(path)?, registry)
    }

    /// Loads a program from a BEF file, which is mapped: its tensors are used in place.
    ///
    /// # Errors
    /// As [`Program::from_bytes`], or if the file cannot be read.
    ///
    /// # Safety
    /// As [`Program::map_file`].
    pub unsafe fn map(path: &Path, registry: &Registry) -> Result<Arc<Program>, LoadError> {
        // SAFETY: the caller's contract is that of `map_file`.
        unsafe { Program::map_file(File::open(path)?, registry) }
    }

    /// [`Program::map`] for an open file. The file stays open, and keeps the locks that the caller holds on
    /// it, as long as it is mapped.
    ///
    /// # Errors
    /// As [`Program::map`].
    ///
    /// # Safety
    /// Neither the bytes nor the length of the file may change while the program, or a tensor of it, is
    /// alive. Reading beyond the end of a file that became shorter kills the process (SIGBUS), and bytes that
    /// change are a data race. Replacing a file (renaming another one to its name) does not change it: the
    /// old file stays mapped. Programs that write files in place take a lock (`flock`), and so do those that
    /// map them: `bef-exec` takes a shared one.
    pub unsafe fn map_file(file: File, registry: &Registry) -> Result<Arc<Program>, LoadError> {
        // SAFETY: by the caller's contract, the file does not change while it is mapped.
        let bytes = unsafe { Bytes::map(file) }?;
        Program::resolve(bytes, registry)
    }
}
