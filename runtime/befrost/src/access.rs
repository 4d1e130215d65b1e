//! How files of models come into memory: read, or mapped; and whether they are still what they were.
//!
//! A session reads its model again for each new set of names. All its programs compute with the same weights
//! and share variables, so a file that was changed meanwhile is refused.

#![allow(unsafe_code, reason = "passes the contract of mapping on")]

use std::collections::BTreeMap;
use std::fs::{File, Metadata, metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use befrost_kernel_api::{Error, ErrorCode};
use befrost_tensor::bundle::Bytes;

use crate::program::Program;
use crate::runtime::Runtime;

/// How files of models come into memory. By default they are read.
#[derive(Clone, Debug, Default)]
pub struct FileAccess {
    is_mapped: bool,
    /// The files that were read, if they may not change.
    seen: Option<Arc<SeenFiles>>,
}

/// Files, and what they were when they were first read.
#[derive(Debug, Default)]
struct SeenFiles(Mutex<BTreeMap<PathBuf, Stamp>>);

impl SeenFiles {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Stamp>> {
        // Nothing panics under the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The properties that tell a file from another one in its place.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    n_bytes: u64,
    changed: Option<SystemTime>,
    inode: u64,
}

impl Stamp {
    fn of(file: &Metadata) -> Stamp {
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(file);
        #[cfg(not(unix))]
        let inode = 0;
        Stamp { n_bytes: file.len(), changed: file.modified().ok(), inode }
    }
}

impl FileAccess {
    /// Files are mapped: their weights are read when they are used, and used in place where that is possible.
    ///
    /// # Safety
    /// As [`Runtime::map_file`]: no file that is opened this way may change, neither its bytes nor its
    /// length, as long as something that was made of it is alive.
    pub unsafe fn mapped() -> FileAccess {
        FileAccess { is_mapped: true, seen: None }
    }

    /// True if files are mapped.
    pub fn is_mapped(&self) -> bool {
        self.is_mapped
    }

    /// The same access to files that may not change from now on.
    pub(crate) fn to_unchanged(&self) -> FileAccess {
        FileAccess { is_mapped: self.is_mapped, seen: Some(Arc::default()) }
    }

    /// The same access to files that may change after they were read.
    pub(crate) fn to_changing(&self) -> FileAccess {
        FileAccess { is_mapped: self.is_mapped, seen: None }
    }

    /// Notes what a file is that is about to be read.
    pub(crate) fn see(&self, path: &Path) {
        if let Some(seen) = &self.seen
            && let Ok(file) = metadata(path)
        {
            seen.lock().entry(path.to_owned()).or_insert_with(|| Stamp::of(&file));
        }
    }

    /// Checks that the files that were read are the same as before.
    ///
    /// # Errors
    /// If one is not.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let Some(seen) = &self.seen else { return Ok(()) };
        let is_same =
            |path: &Path, stamp: &Stamp| metadata(path).is_ok_and(|file| Stamp::of(&file) == *stamp);
        match seen.lock().iter().find(|(path, stamp)| !is_same(path, stamp)) {
            None => Ok(()),
            Some((path, _)) => {
                let path = path.display();
                let message = format!("'{path}' has changed since the session read it: open another session");
                Err(Error::new(ErrorCode::FailedPrecondition, message, Vec::new()))
            }
        }
    }

    /// The bytes of a file.
    pub(crate) fn bytes(&self, path: &Path) -> io::Result<Bytes> {
        self.see(path);
        if !self.is_mapped {
            return std::fs::read(path).map(Bytes::from);
        }
        // SAFETY: who called `mapped` has promised that the files do not change.
        unsafe { befrost_host::map_file(File::open(path)?) }.map(Bytes::from_owner)
    }

    /// The program of a BEF file.
    pub(crate) fn program(&self, runtime: &Runtime, path: &Path) -> Result<Program, Error> {
        if !self.is_mapped {
            return Ok(runtime.load(path)?);
        }
        // SAFETY: as for `bytes`.
        Ok(unsafe { runtime.map(path) }?)
    }
}
