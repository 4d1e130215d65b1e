//! The folder of a model: the files that the model names.

use std::fmt;
use std::path::{Path, PathBuf};

use befrost_compiler::import::files::{ModelFiles, checked_name};
use befrost_tensor::bundle::Bytes;

/// The files of a SavedModel in its folder.
const SAVED_MODELS: [&str; 2] = ["saved_model.pb", "saved_model.pbtxt"];

/// The bundle of a SavedModel's variables.
pub const SAVED_VARIABLES: &str = "variables/variables";

/// The file of a SavedModel in a folder.
pub fn saved_model(directory: &Path) -> Option<PathBuf> {
    SAVED_MODELS.iter().map(|name| directory.join(name)).find(|file| file.is_file())
}

/// The files in the folder of a model. A name that leads out of the folder is refused.
pub struct ModelFolder<R> {
    root: PathBuf,
    read: R,
}

impl<R> fmt::Debug for ModelFolder<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ModelFolder({})", self.root.display())
    }
}

impl<R: Fn(&Path) -> Result<Bytes, String>> ModelFolder<R> {
    /// The folder at a path. `read` reads or maps a file that is not empty.
    pub fn new(root: &Path, read: R) -> ModelFolder<R> {
        ModelFolder { root: root.to_owned(), read }
    }

    /// The path of a file in the folder; links do not lead out of it.
    fn path(&self, name: &str) -> Result<PathBuf, String> {
        let shown = |error: std::io::Error| error.to_string();
        let path = self.root.join(checked_name(name)?).canonicalize().map_err(shown)?;
        if !path.starts_with(self.root.canonicalize().map_err(shown)?) {
            return Err("it is a link to a place outside of the model's folder".to_owned());
        }
        if path.is_file() { Ok(path) } else { Err("it is not a file".to_owned()) }
    }
}

impl<R: Fn(&Path) -> Result<Bytes, String>> ModelFiles for ModelFolder<R> {
    fn read(&self, name: &str) -> Result<Bytes, String> {
        let path = self.path(name)?;
        let is_empty = std::fs::metadata(&path).is_ok_and(|metadata| metadata.len() == 0);
        if is_empty { Ok(Bytes::new()) } else { (self.read)(&path) }
    }

    fn has(&self, name: &str) -> bool {
        self.path(name).is_ok()
    }
}
