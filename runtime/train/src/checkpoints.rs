//! A folder of checkpoints. If the process is killed at any moment, the newest complete checkpoint stays.
//!
//! ```text
//! .model-100.data-...tmp ──sync, rename──▶ data ─▶ index ─▶ `checkpoint` ─▶ folder synced ─▶ old removed
//! ```
//!
//! Each file is [put] whole: written under another name, synced and renamed. A bundle without an index is no
//! checkpoint. The state file `checkpoint` names only complete checkpoints; it is replaced before old ones
//! are removed. A process that saves holds a lock on the file `.lock`; another process that would save into
//! the folder is refused.

use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use befrost::bundle::{BundleWriter, CheckpointState, Elements, Type, is_unfinished, put};

use crate::error::TrainError;
use crate::safetensors;
use crate::stored::{self, INDEX, SAFE, Snapshot, with_end};

/// The format of checkpoints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// TensorFlow's tensor bundles.
    #[default]
    Bundle,
    /// One file of safetensors.
    SafeTensors,
}

/// A folder of checkpoints.
#[derive(Clone, Debug)]
pub struct Checkpoints {
    folder: PathBuf,
    name: String,
    keep: usize,
    format: Format,
}

/// The name of checkpoints, before the number of the step.
const NAME: &str = "model";

/// The name of the best checkpoint.
const BEST: &str = "best";

/// The name of the best checkpoint by the metric of an early stop.
const STOP: &str = "best-stop";

/// The right to write into a folder.
#[derive(Debug)]
pub(crate) struct FolderLock {
    _file: File,
}

impl Checkpoints {
    /// A folder, which the first checkpoint creates.
    pub fn new(folder: impl Into<PathBuf>) -> Checkpoints {
        Checkpoints { folder: folder.into(), name: NAME.to_owned(), keep: 5, format: Format::default() }
    }

    /// Sets the name of the checkpoints, before the number of the step: `model` at first. It is one part of a
    /// path, and does not begin with `.` or as the name of the best checkpoint, `best`, does; no checkpoint
    /// is saved under another name.
    #[must_use]
    pub fn named(self, name: &str) -> Checkpoints {
        Checkpoints { name: name.to_owned(), ..self }
    }

    /// Sets the number of checkpoints that are kept besides the best one; 0 keeps all.
    #[must_use]
    pub fn keep(self, keep: usize) -> Checkpoints {
        Checkpoints { keep, ..self }
    }

    /// Sets the format.
    #[must_use]
    pub fn format(self, format: Format) -> Checkpoints {
        Checkpoints { format, ..self }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The latest checkpoint.
    ///
    /// # Errors
    /// If the folder or its state file cannot be read.
    pub fn latest(&self) -> Result<Option<PathBuf>, TrainError> {
        stored::latest(&self.folder)
    }

    /// The best checkpoint.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn best(&self) -> Result<Option<PathBuf>, TrainError> {
        Ok(self.numbered(BEST)?.pop().map(|(_, prefix)| prefix))
    }

    /// The best checkpoint by the metric of an early stop.
    pub(crate) fn best_of_stop(&self) -> Result<Option<PathBuf>, TrainError> {
        Ok(self.numbered(STOP)?.pop().map(|(_, prefix)| prefix))
    }

    /// The latest checkpoint, as an error names it.
    pub(crate) fn last_good(&self) -> String {
        match self.latest() {
            Ok(Some(path)) => format!("the last good checkpoint is {}", path.display()),
            _ => "there is no checkpoint".to_owned(),
        }
    }

    /// Locks the folder for this process, and removes files that an earlier process did not complete.
    pub(crate) fn lock(&self) -> Result<FolderLock, TrainError> {
        fs::create_dir_all(&self.folder).map_err(|error| TrainError::file(&self.folder, error))?;
        let path = self.folder.join(".lock");
        let file = File::create(&path).map_err(|error| TrainError::file(&path, error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(TrainError::file(&self.folder, "another process saves its checkpoints here"));
            }
            Err(TryLockError::Error(error)) => return Err(TrainError::file(&path, error)),
        }
        for path in self.entries()? {
            let name = name_of(&path);
            if is_unfinished(&name) {
                // A file that stays does no harm: its name is that of no checkpoint.
                _ = fs::remove_file(path);
            }
        }
        Ok(FolderLock { _file: file })
    }

    /// Saves a checkpoint, and removes those beyond the number that is kept. Returns the prefix.
    ///
    /// # Errors
    /// If a file cannot be written, or not under this name; then no checkpoint is removed.
    pub fn save(&self, snapshot: &Snapshot, step: u64) -> Result<PathBuf, TrainError> {
        let is_part = Path::new(&self.name).file_name() == Some(self.name.as_ref());
        let is_best = self.name.strip_prefix(BEST).is_some_and(|end| end.is_empty() || end.starts_with('-'));
        if !is_part || is_best || self.name.starts_with('.') {
            return Err(TrainError::option(format!("checkpoints cannot be called '{}'", self.name)));
        }
        let prefix = self.write(snapshot, &self.name, step)?;
        let mut all = self.numbered(&self.name)?;
        // Later ones belong to the run from which this one was resumed at an earlier step.
        let later: Vec<PathBuf> =
            all.iter().filter(|(n, _)| *n > step as i64).map(|(_, prefix)| prefix.clone()).collect();
        all.retain(|(n, _)| *n <= step as i64);
        let old = if self.keep == 0 { 0 } else { all.len().saturating_sub(self.keep) };
        let names = all[old..].iter().map(|(_, prefix)| name_of(prefix)).collect();
        let state = CheckpointState { latest: name_of(&prefix), all: names };
        self.put("checkpoint", |file| file.write_all(state.text().as_bytes()))?;
        self.sync()?;
        all[..old]
            .iter()
            .map(|(_, prefix)| prefix)
            .chain(&later)
            .try_for_each(|prefix| self.remove(prefix))?;
        Ok(prefix)
    }

    /// Saves the best checkpoint, which replaces the previous one.
    ///
    /// # Errors
    /// As [`Checkpoints::save`].
    pub fn save_best(&self, snapshot: &Snapshot, step: u64) -> Result<PathBuf, TrainError> {
        self.replace(BEST, snapshot, step)
    }

    /// Saves the best checkpoint by the metric of an early stop, which replaces the previous one.
    pub(crate) fn save_best_of_stop(&self, snapshot: &Snapshot, step: u64) -> Result<PathBuf, TrainError> {
        self.replace(STOP, snapshot, step)
    }

    fn replace(&self, name: &str, snapshot: &Snapshot, step: u64) -> Result<PathBuf, TrainError> {
        let prefix = self.write(snapshot, name, step)?;
        self.sync()?;
        let others = self.numbered(name)?;
        others.iter().filter(|(n, _)| *n != step as i64).try_for_each(|(_, prefix)| self.remove(prefix))?;
        Ok(prefix)
    }

    fn write(&self, snapshot: &Snapshot, name: &str, step: u64) -> Result<PathBuf, TrainError> {
        fs::create_dir_all(&self.folder).map_err(|error| TrainError::file(&self.folder, error))?;
        let name = format!("{name}-{step}");
        let prefix = self.folder.join(&name);
        match self.format {
            Format::SafeTensors => {
                self.put(&format!("{name}{SAFE}"), |file| safetensors::write(snapshot, file))?;
            }
            Format::Bundle => {
                let mut index = Vec::new();
                self.put(&format!("{name}.data-00000-of-00001"), |file| {
                    index = bundle(snapshot, file)?;
                    Ok(())
                })?;
                self.put(&format!("{name}{INDEX}"), |file| file.write_all(&index))?;
            }
        }
        Ok(prefix)
    }

    /// Writes a file under another name, and renames it.
    fn put(
        &self,
        name: &str,
        write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
    ) -> Result<(), TrainError> {
        let path = self.folder.join(name);
        put(&path, write)
            .map_err(|error| TrainError::file(&path, format!("the checkpoint cannot be saved: {error}")))
    }

    /// Makes the renames durable.
    fn sync(&self) -> Result<(), TrainError> {
        let synced = File::open(&self.folder).and_then(|folder| folder.sync_all());
        synced.map_err(|error| TrainError::file(&self.folder, error))
    }

    /// Removes a checkpoint. Its index is removed first: without it the rest is no checkpoint.
    fn remove(&self, prefix: &Path) -> Result<(), TrainError> {
        let data = format!("{}.data-", name_of(prefix));
        let shards = self.entries()?.into_iter().filter(|path| name_of(path).starts_with(&data));
        for path in [with_end(prefix, INDEX), with_end(prefix, SAFE)].into_iter().chain(shards) {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(TrainError::file(&path, error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The complete checkpoints of a name, in the order of their numbers.
    fn numbered(&self, name: &str) -> Result<Vec<(i64, PathBuf)>, TrainError> {
        let mut found = Vec::new();
        for path in self.entries()? {
            let file = name_of(&path);
            let prefix = file.strip_suffix(INDEX).or_else(|| file.strip_suffix(SAFE));
            let number = prefix.and_then(|prefix| prefix.strip_prefix(name)?.strip_prefix('-')?.parse().ok());
            if let (Some(prefix), Some(number)) = (prefix, number) {
                found.push((number, self.folder.join(prefix)));
            }
        }
        found.sort();
        Ok(found)
    }

    fn entries(&self) -> Result<Vec<PathBuf>, TrainError> {
        let failed = |error| TrainError::file(&self.folder, error);
        match fs::read_dir(&self.folder) {
            Ok(entries) => entries.map(|entry| Ok(entry.map_err(failed)?.path())).collect(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(failed(error)),
        }
    }
}

/// The last part of a path.
fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Writes the only shard of a bundle; returns the index.
fn bundle(snapshot: &Snapshot, to: &mut dyn Write) -> std::io::Result<Vec<u8>> {
    let mut writer = BundleWriter::new(vec![to]);
    for (name, tensor) in &snapshot.tensors {
        let bytes = tensor.read_bytes().map_err(|error| std::io::Error::other(error.to_string()))?;
        writer.add(name, 0, Type::Dense(tensor.dtype()), tensor.shape().dims(), Elements::Dense(&bytes))?;
    }
    for (name, text) in &snapshot.notes {
        writer.add(name, 0, Type::String, &[], Elements::Strings(&[text.as_bytes()]))?;
    }
    Ok(writer.finish()?.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stored::Checkpoint;
    use befrost::HostTensor;

    fn snapshot(value: f32) -> Snapshot {
        let tensor = HostTensor::from_vec([2], vec![value, -value]).unwrap();
        let notes = [("befrost/run".to_owned(), "{}".to_owned())].into();
        Snapshot { tensors: vec![("w".to_owned(), tensor)], notes }
    }

    fn names(checkpoints: &Checkpoints) -> Vec<String> {
        let mut names: Vec<String> =
            checkpoints.entries().unwrap().iter().map(|path| name_of(path)).collect();
        names.sort();
        names
    }

    #[test]
    fn the_newest_are_kept_and_the_best_apart() {
        for format in [Format::Bundle, Format::SafeTensors] {
            let folder = tempfile::tempdir().unwrap();
            let checkpoints = Checkpoints::new(folder.path().join("new")).keep(2).format(format);
            assert_eq!(checkpoints.latest().unwrap(), None);
            checkpoints.save_best(&snapshot(0.5), 3).unwrap();
            for step in [5u8, 20, 100] {
                checkpoints.save(&snapshot(f32::from(step)), u64::from(step)).unwrap();
            }
            checkpoints.save_best(&snapshot(0.75), 7).unwrap();
            let latest = Checkpoint::open(checkpoints.folder()).unwrap();
            assert_eq!(latest.step().unwrap(), Some(100));
            assert_eq!(latest.read("w").unwrap().unwrap().to_vec::<f32>().unwrap(), [100.0, -100.0]);
            assert_eq!(latest.note("befrost/run").as_deref(), Some("{}"));
            let best = Checkpoint::open(checkpoints.best().unwrap().unwrap()).unwrap();
            assert_eq!(best.read("w").unwrap().unwrap().to_vec::<f32>().unwrap(), [0.75, -0.75]);
            let want: &[&str] = match format {
                Format::Bundle => &[
                    "best-7.data-00000-of-00001",
                    "best-7.index",
                    "checkpoint",
                    "model-100.data-00000-of-00001",
                    "model-100.index",
                    "model-20.data-00000-of-00001",
                    "model-20.index",
                ],
                Format::SafeTensors => {
                    &["best-7.safetensors", "checkpoint", "model-100.safetensors", "model-20.safetensors"]
                }
            };
            assert_eq!(names(&checkpoints), want);
            // If the state file names a checkpoint that is gone, the latest is the one with the largest
            // number.
            fs::write(checkpoints.folder().join("checkpoint"), "model_checkpoint_path: \"/old/model-7\"")
                .unwrap();
            assert_eq!(name_of(&checkpoints.latest().unwrap().unwrap()), "model-100");
            fs::write(checkpoints.folder().join("checkpoint"), "model_checkpoint_path: \"/old/model-20\"")
                .unwrap();
            assert_eq!(name_of(&checkpoints.latest().unwrap().unwrap()), "model-20");
        }
    }

    #[test]
    fn names_that_are_not_those_of_numbered_checkpoints_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let checkpoints = Checkpoints::new(folder.path());
        for name in ["best", "best-of", "a/b", "../model", "", ".", "..", ".model", "model/"] {
            let why = checkpoints.clone().named(name).save(&snapshot(1.0), 1).unwrap_err().to_string();
            assert!(why.contains(&format!("checkpoints cannot be called '{name}'")), "{why}");
        }
        assert!(names(&checkpoints).is_empty());
        checkpoints.clone().named("vgg19.ckpt").save(&snapshot(1.0), 1).unwrap();
        let latest = checkpoints.latest().unwrap().unwrap();
        assert_eq!(name_of(&latest), "vgg19.ckpt-1");
    }

    #[test]
    fn of_two_that_save_into_one_folder_the_second_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let checkpoints = Checkpoints::new(folder.path());
        fs::write(folder.path().join(".model-1.index.tmp"), "half").unwrap();
        let first = checkpoints.lock().unwrap();
        assert_eq!(names(&checkpoints), [".lock"]);
        let why = checkpoints.lock().unwrap_err().to_string();
        assert!(why.contains("another process saves its checkpoints here"), "{why}");
        drop(first);
        checkpoints.lock().unwrap();
    }

    #[test]
    fn a_failed_save_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let checkpoints = Checkpoints::new(folder.path()).keep(1);
        checkpoints.save(&snapshot(1.0), 1).unwrap();
        let before = names(&checkpoints);
        let twice = [snapshot(2.0).tensors, snapshot(3.0).tensors].concat();
        let why = checkpoints.save(&Snapshot { tensors: twice, ..Snapshot::default() }, 2).unwrap_err();
        assert!(why.message.contains("the checkpoint cannot be saved: 'w' is written twice"), "{why}");
        assert_eq!(names(&checkpoints), before);
    }

    #[test]
    fn damaged_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let checkpoints = Checkpoints::new(folder.path());
        let prefix = checkpoints.save(&snapshot(1.0), 1).unwrap();
        let data = with_end(&prefix, ".data-00000-of-00001");
        let mut bytes = fs::read(&data).unwrap();
        bytes[0] ^= 1;
        fs::write(&data, &bytes).unwrap();
        let why = Checkpoint::open(&prefix).unwrap().read("w").unwrap_err().to_string();
        assert!(why.contains("tensor 'w': its checksum is"), "{why}");
        fs::write(&data, &bytes[..3]).unwrap();
        let why = Checkpoint::open(&prefix).unwrap_err().to_string();
        assert!(why.contains("are not in its shard of 3"), "{why}");
        fs::write(folder.path().join("checkpoint"), "x").unwrap();
        let why = checkpoints.latest().unwrap_err().to_string();
        assert!(why.contains("checkpoint: line 1: expected"), "{why}");
    }
}
