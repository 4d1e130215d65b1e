//! The files beside a model: variables, assets, external data.

use prost::bytes::Bytes;

/// The files in the folder of a model. Names come from the model, which is untrusted: see [`checked_name`].
pub trait ModelFiles {
    /// The bytes of a file, by its path from the model's folder with `/` between the parts, or the reason why
    /// it cannot be read.
    ///
    /// # Errors
    /// If there is no such file in the folder, or it cannot be read.
    fn read(&self, name: &str) -> Result<Bytes, String>;

    /// True if there is a file of this name.
    fn has(&self, name: &str) -> bool;
}

/// A model without files beside it.
#[derive(Clone, Copy, Debug)]
pub struct NoFiles;

impl ModelFiles for NoFiles {
    fn read(&self, _: &str) -> Result<Bytes, String> {
        Err("the model has no files beside it".to_owned())
    }

    fn has(&self, _: &str) -> bool {
        false
    }
}

/// A file's name, if it cannot lead out of a folder: parts that are neither empty nor `.` or `..`. A `./` in
/// front is left out.
///
/// # Errors
/// If it may lead elsewhere.
pub fn checked_name(name: &str) -> Result<&str, String> {
    let is_part = |part: &str| !matches!(part, "" | "." | "..") && !part.contains(['\\', '\0', ':']);
    let name = name.strip_prefix("./").unwrap_or(name);
    if name.split('/').all(is_part) {
        return Ok(name);
    }
    Err("it is not a path inside of the model's folder".to_owned())
}
