//! Inputs and outputs: files, standard input and output, and their formats.
//!
//! Output appears completely or not at all: it is written to a temporary file in the same directory and
//! renamed. Where that is impossible (`/dev/null`, a pipe) it is written directly.

use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::io::{IsTerminal, Read, Seek, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use bef_format::AlignedBytes;
use bef_format::write::Parts;
use befrost::saved_model;
use clap::ValueEnum;

use super::content;
use super::failure::{Failure, not_written, tell};
use super::progress::Metered;

/// A file, or `-`: standard input or output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Standard input or output.
    Std,
    /// A file.
    File(PathBuf),
}

impl From<std::ffi::OsString> for Place {
    fn from(text: std::ffi::OsString) -> Place {
        if text == "-" { Place::Std } else { Place::File(text.into()) }
    }
}

/// The formats of programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// MLIR's text.
    Mlir,
    /// Befrost's executable format.
    Bef,
    /// A TensorFlow graph, binary or text
    #[value(name = "graphdef")]
    GraphDef,
    /// A TensorFlow graph with signatures, such as a checkpoint's .meta file
    #[value(name = "metagraph")]
    MetaGraph,
    /// A SavedModel: its folder or the file in it
    #[value(name = "savedmodel")]
    SavedModel,
    /// An ONNX model.
    Onnx,
}

impl Format {
    /// The format for the extension of a file name.
    pub(super) fn of_name(path: &Path) -> Option<Format> {
        if path.is_dir() {
            return saved_model(path).map(|_| Format::SavedModel);
        }
        match path.extension()?.to_str()? {
            "mlir" => Some(Format::Mlir),
            "bef" => Some(Format::Bef),
            "pb" | "pbtxt" => Some(Format::GraphDef),
            "meta" => Some(Format::MetaGraph),
            "onnx" => Some(Format::Onnx),
            _ => None,
        }
    }

    /// True for models, which have feeds and fetches.
    pub(super) fn is_model(self) -> bool {
        matches!(self, Format::GraphDef | Format::MetaGraph | Format::SavedModel | Format::Onnx)
    }
}

/// The bytes of a model.
pub(super) enum ModelBytes {
    /// In memory or mapped.
    Whole(Box<dyn AsRef<[u8]> + Send>),
    /// So many bytes, to be read in order.
    Stream(Box<dyn Read>, usize),
}

/// Maps a file that is open and locked.
pub type MapFile = fn(File) -> std::io::Result<Box<dyn AsRef<[u8]> + Send>>;

impl Place {
    /// The name in messages and locations.
    pub(super) fn name(&self) -> String {
        match self {
            Place::Std => "<stdin>".to_owned(),
            Place::File(path) => path.display().to_string(),
        }
    }

    /// The format by the name.
    pub(super) fn format(&self) -> Option<Format> {
        match self {
            Place::Std => None,
            Place::File(path) => Format::of_name(path),
        }
    }

    /// Reads all of it.
    pub(super) fn read(&self) -> Result<Vec<u8>, Failure> {
        match self {
            Place::Std => up_to(MAX_STREAM, std::io::stdin().lock()),
            Place::File(path) if length(path).is_some() => std::fs::read(path),
            Place::File(path) => File::open(path).and_then(|file| up_to(MAX_STREAM, file)),
        }
        .map_err(|error| self.not_read(&error))
    }

    /// Maps it if it is a regular file.
    pub(super) fn mapped(&self, map: MapFile) -> Result<ModelBytes, Failure> {
        match self {
            Place::File(path) if length(path).is_some() => {
                map(locked(path)?).map(ModelBytes::Whole).map_err(|error| self.not_read(&error))
            }
            _ => self.stream(),
        }
    }

    /// Opens it for sequential reading.
    pub(super) fn stream(&self) -> Result<ModelBytes, Failure> {
        match self {
            Place::File(path) if let Some(len) = length(path) => {
                let file = File::open(path).map_err(|error| self.not_read(&error))?;
                let file = Metered::new(file, format!("reading {}", self.name()), len);
                Ok(ModelBytes::Stream(Box::new(file), len))
            }
            _ => {
                let bytes = self.read()?;
                content::expect_ours(self, &bytes)?;
                Ok(ModelBytes::Whole(Box::new(bytes)))
            }
        }
    }

    /// Reads all of it, into memory aligned for a BEF file.
    pub(super) fn read_aligned(&self) -> Result<AlignedBytes, Failure> {
        let Place::File(path) = self else { return self.read().map(|bytes| AlignedBytes::copy_of(&bytes)) };
        let read = || -> std::io::Result<AlignedBytes> {
            let mut file = File::open(path)?;
            let len = file.metadata()?.len();
            let bytes = usize::try_from(len).ok().and_then(AlignedBytes::try_zeroed);
            let mut bytes = bytes.ok_or(std::io::ErrorKind::OutOfMemory)?;
            let n = read_as_much(&mut file, &mut bytes)?;
            let rest = up_to(MAX_STREAM, &mut file)?;
            if n < bytes.len() || !rest.is_empty() {
                // It is not a regular file, or it changes.
                return Ok(AlignedBytes::copy_of(&[bytes.get(..n).unwrap_or_default(), &rest].concat()));
            }
            Ok(bytes)
        };
        read().map_err(|error| self.not_read(&error))
    }

    fn not_read(&self, error: &std::io::Error) -> Failure {
        Failure::Refused(format!("cannot read '{}': {error}", self.name()))
    }

    /// Writes text.
    pub(super) fn write_text(&self, text: &str) -> Result<(), Failure> {
        self.write_pieces(|sink| sink(text))
    }

    /// Writes the pieces of a text that `pieces` passes to its argument.
    pub(super) fn write_pieces(&self, pieces: impl FnOnce(&mut dyn FnMut(&str))) -> Result<(), Failure> {
        let write = |out: &mut dyn Write| {
            let mut result = Ok(());
            pieces(&mut |piece| {
                if result.is_ok() {
                    result = out.write_all(piece.as_bytes());
                }
            });
            result
        };
        match self {
            Place::Std => write(&mut std::io::stdout().lock()).map_err(not_written),
            Place::File(path) => write_file(path, |file| write(file)),
        }
    }

    /// Writes binary data: never to a terminal.
    pub(super) fn write_binary(&self, bytes: &[u8]) -> Result<(), Failure> {
        match self {
            Place::Std => {
                self.expect_no_terminal()?;
                std::io::stdout().lock().write_all(bytes).map_err(not_written)
            }
            Place::File(path) => write_file(path, |file| file.write_all(bytes)),
        }
    }

    /// Writes a BEF file: never to a terminal.
    pub(super) fn write_bef(&self, file: &Parts) -> Result<(), Failure> {
        let title = format!("writing {}", self.name());
        match self {
            Place::Std => {
                self.expect_no_terminal()?;
                let mut out = Metered::new(std::io::stdout().lock(), title, file.n_bytes());
                file.write_in_order(&mut out).map_err(not_written)
            }
            Place::File(path) => write_file(path, |out| {
                let can_seek = out.stream_position().is_ok();
                let mut out = Metered::new(out, title, file.n_bytes());
                if can_seek { file.write_to_file(&mut out) } else { file.write_in_order(&mut out) }
            }),
        }
    }

    /// Writes bytes that are no text.
    pub(super) fn write_bytes(&self, bytes: &[u8]) -> Result<(), Failure> {
        match self {
            Place::Std => {
                self.expect_no_terminal()?;
                std::io::stdout().lock().write_all(bytes).map_err(not_written)
            }
            Place::File(path) => write_file(path, |out| out.write_all(bytes)),
        }
    }

    /// Refuses a terminal as the destination of binary data.
    pub(super) fn expect_no_terminal(&self) -> Result<(), Failure> {
        if *self == Place::Std && std::io::stdout().is_terminal() {
            let message = "binary output is not written to a terminal: give a file, or a pipe";
            return Err(Failure::Usage(message.to_owned()));
        }
        Ok(())
    }
}

/// An open file with a shared lock, held as long as it is open, so that cooperating writers do not write it
/// in place.
pub(super) fn locked(path: &Path) -> Result<File, Failure> {
    let file = File::open(path)
        .map_err(|error| Failure::Refused(format!("cannot read '{}': {error}", path.display())))?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => {
            let message =
                format!("cannot read '{}': another process has locked it, to write it", path.display());
            Err(Failure::Refused(message))
        }
        // Not every file system has locks.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}

/// The text of an input's bytes.
pub(super) fn text(place: &Place, bytes: Vec<u8>) -> Result<String, Failure> {
    content::expect_format(place, &bytes, Format::Mlir)?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(error.as_bytes().get(..at).unwrap_or_default());
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
        tell(&format!("{}:{line}:{column}: error: not valid UTF-8 at byte {at}\n", place.name()));
        Failure::Reported
    })
}

/// Maximum number of bytes of an input without a length, such as standard input or a device.
const MAX_STREAM: u64 = 4 << 30;

/// Reads to the end, which has to come before the limit.
pub(super) fn up_to(limit: u64, source: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let message = format!("it has more than {limit} bytes");
        return Err(std::io::Error::new(std::io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// The length of a regular file. If the system does not know it, it is 0.
fn length(path: &Path) -> Option<usize> {
    let metadata =
        std::fs::metadata(path).ok().filter(|metadata| metadata.is_file() && metadata.len() > 0)?;
    usize::try_from(metadata.len()).ok()
}

/// Fills `bytes` from a file, as far as it goes.
fn read_as_much(file: &mut File, bytes: &mut [u8]) -> std::io::Result<usize> {
    let mut n = 0;
    while let Some(rest) = bytes.get_mut(n..).filter(|rest| !rest.is_empty()) {
        match file.read(rest) {
            Ok(0) => break,
            Ok(more) => n += more,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(n)
}

/// The beginning of a temporary file's name. A process id follows, `-` and a random part.
const TEMPORARY: &str = ".befrost-";

/// Removes the temporary files of processes that were killed. Another process keeps its file locked while it
/// writes it, so that one of another system with a common directory is not mistaken for a dead one.
fn remove_abandoned(directory: &Path) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(TEMPORARY)?.split_once('-'));
        let process = process.and_then(|(id, _)| rustix::process::Pid::from_raw(id.parse().ok()?));
        let is_dead = |process| rustix::process::test_kill_process(process) == Err(rustix::io::Errno::SRCH);
        if process.is_some_and(is_dead)
            && let Ok(file) = File::open(entry.path())
            && file.try_lock().is_ok()
        {
            // A failure leaves it to the next run.
            _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Writes a file, completely or not at all.
fn write_file(path: &Path, write: impl FnOnce(&mut File) -> std::io::Result<()>) -> Result<(), Failure> {
    write_or_nothing(path, write)
        .map_err(|error| Failure::Refused(format!("cannot write '{}': {error}", path.display())))
}

fn write_or_nothing(
    path: &Path,
    write: impl FnOnce(&mut File) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let mut target = path.to_owned();
    let mut permissions = Permissions::from_mode(0o666);
    match std::fs::metadata(path) {
        Ok(there) if there.is_file() => {
            // Opened to check whether it may be written; a link stays a link, to the new file.
            OpenOptions::new().write(true).open(path)?;
            target = path.canonicalize()?;
            permissions = there.permissions();
        }
        Ok(_) => return write(&mut OpenOptions::new().write(true).open(path)?),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let directory = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    // The system's error for the directory, not for a file in it, whose random name means nothing to the
    // user.
    std::fs::metadata(directory)?;
    remove_abandoned(directory);
    let mut file = tempfile::Builder::new()
        .prefix(&format!("{TEMPORARY}{}-", std::process::id()))
        .permissions(permissions)
        .tempfile_in(directory)
        .map_err(|error| std::io::Error::from(error.kind()))?;
    // Not every file system has locks.
    _ = file.as_file().try_lock();
    write(file.as_file_mut())?;
    file.persist(&target).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_without_end_stops_at_the_limit() {
        assert_eq!(up_to(10, &b"ten bytes."[..]).unwrap(), b"ten bytes.");
        let refused = up_to(10, std::io::repeat(0)).unwrap_err();
        assert_eq!(refused.to_string(), "it has more than 10 bytes");
    }
}
