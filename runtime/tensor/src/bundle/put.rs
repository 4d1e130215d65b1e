//! Files that appear whole, or not at all.
//!
//! ```text
//! .NAME.tmp ──write, sync──▶ .NAME.tmp ──rename──▶ NAME
//! ```
//!
//! A process that is killed leaves at most a file whose name [`is_unfinished`].
//!
//! Not here: the folder's own sync, which makes several renames durable at once.

use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// The suffix of temporary names.
const WRITING: &str = ".tmp";

/// Writes a file under a temporary name in the same folder, then renames it.
///
/// # Errors
/// If the file cannot be written. No new file exists then, and an old one of the name is unchanged.
pub fn put(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    let beside = path.with_file_name(format!(".{}{WRITING}", name.to_string_lossy()));
    let written = (|| {
        // Removes the leftover of a killed process. `create_new` does not follow a link.
        _ = fs::remove_file(&beside);
        let mut file = BufWriter::new(OpenOptions::new().write(true).create_new(true).open(&beside)?);
        write(&mut file)?;
        file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        fs::rename(&beside, path)
    })();
    if written.is_err() {
        _ = fs::remove_file(&beside);
    }
    written
}

/// True for a temporary name.
pub fn is_unfinished(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(WRITING)
}
