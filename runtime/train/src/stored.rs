//! A checkpoint: tensors by name, in a bundle or a file of safetensors.
//!
//! The files are untrusted: checksums, types and shapes are checked when a tensor is read. Restoring reads
//! all tensors before it changes a variable.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use befrost::bundle::{Bundle, BundleData, BundleFile, CheckpointState, Type, objects};
use befrost::mem::Malloc;
use befrost::{DType, HostTensor, ResourceName, Resources, Shape, assign_variable_values, variable_values};

use crate::error::TrainError;
use crate::finite;
use crate::position::{OWN, Position};
use crate::safetensors::{self, SafeTensors};

/// The values of all variables at one moment. The tensors share the variables' memory; while a snapshot
/// lives, updates write to new memory.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Tensors by name.
    pub tensors: Vec<(String, HostTensor)>,
    /// Texts by name.
    pub notes: BTreeMap<String, String>,
}

impl Snapshot {
    /// All variables.
    ///
    /// # Errors
    /// If an update panicked.
    pub fn of(resources: &Resources) -> Result<Snapshot, TrainError> {
        let values = variable_values(resources).map_err(|error| TrainError::new(error.to_string()))?;
        let tensors = values.into_iter().map(|(name, value)| (name.name().to_owned(), value)).collect();
        Ok(Snapshot { tensors, notes: BTreeMap::new() })
    }

    /// The first variable with a NaN. The means of a [`Position`] are no variables.
    pub(crate) fn variable_with_nan(&self) -> Option<&str> {
        let mut variables = self.tensors.iter().filter(|(name, _)| !Position::has(name));
        variables.find(|(_, tensor)| finite::has_nan(tensor)).map(|(name, _)| name.as_str())
    }
}

/// An open checkpoint.
#[derive(Debug)]
pub struct Checkpoint {
    path: PathBuf,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// A bundle, with the keys of its variables if it is one of objects.
    Bundle(Bundle, BTreeMap<String, String>),
    Tensors(SafeTensors),
}

/// Maximum number of threads that read.
const MAX_READERS: usize = 4;

/// Maximum number of differences that are listed.
const MAX_LISTED: usize = 40;

impl Checkpoint {
    /// Opens a checkpoint: the prefix of a bundle's files, its index, a file of safetensors, or the latest
    /// checkpoint of a folder.
    ///
    /// # Errors
    /// If there is none, or it is damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Checkpoint, TrainError> {
        let path = path.as_ref();
        if path.is_dir() {
            let latest = latest(path)?;
            let none = || TrainError::new(format!("{}: there is no checkpoint", path.display()));
            return Checkpoint::open(latest.ok_or_else(none)?);
        }
        let text = path.to_string_lossy().into_owned();
        let safe = if text.ends_with(SAFE) { text.clone() } else { format!("{text}{SAFE}") };
        let is_safe = text.ends_with(SAFE) || Path::new(&safe).is_file();
        if is_safe {
            let path = PathBuf::from(&safe);
            let source = BundleFile::open(&path).map_err(|error| TrainError::file(&path, error))?;
            let tensors = safetensors::read(source).map_err(|why| TrainError::file(&path, why))?;
            return Ok(Checkpoint { path, kind: Kind::Tensors(tensors) });
        }
        let prefix = text.strip_suffix(INDEX).unwrap_or(&text);
        let bundle =
            Bundle::open(prefix, &mut |name| BundleFile::open(name).map_err(|error| error.to_string()));
        let bundle = bundle.map_err(|error| TrainError::new(error.to_string()))?;
        let names = objects::names(&bundle).map_err(|why| TrainError::file(Path::new(prefix), why))?;
        let kind = Kind::Bundle(bundle, names.unwrap_or_default());
        Ok(Checkpoint { path: PathBuf::from(prefix), kind })
    }

    /// The prefix of its files, or its file of safetensors.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The names of the tensors of numbers. Of a checkpoint of objects, they are those of the variables.
    pub fn names(&self) -> Vec<String> {
        match &self.kind {
            Kind::Tensors(all) => all.tensors.keys().cloned().collect(),
            Kind::Bundle(bundle, names) if names.is_empty() => {
                let numbers = bundle.tensors().filter(|(_, entry)| matches!(entry.ty, Type::Dense(_)));
                numbers.map(|(name, _)| name.to_owned()).collect()
            }
            Kind::Bundle(_, names) => names.keys().cloned().collect(),
        }
    }

    /// The type and shape of a tensor.
    pub fn describe(&self, name: &str) -> Option<(DType, Vec<usize>)> {
        match &self.kind {
            Kind::Tensors(all) => all.tensors.get(name).map(|(dtype, dims, _)| (*dtype, dims.clone())),
            Kind::Bundle(bundle, names) => {
                let entry = bundle.entry(names.get(name).map_or(name, String::as_str))?;
                Some((entry.ty.dtype()?, entry.dims.clone()))
            }
        }
    }

    /// Reads a tensor.
    ///
    /// # Errors
    /// If it is damaged.
    pub fn read(&self, name: &str) -> Result<Option<HostTensor>, TrainError> {
        let Some((dtype, dims)) = self.describe(name) else { return Ok(None) };
        let failed = |why: String| TrainError::file(&self.path, format!("tensor '{name}': {why}"));
        let shape = Shape::new(&dims).map_err(|error| failed(error.to_string()))?;
        let tensor = HostTensor::allocate(dtype, shape, &Malloc::shared());
        let tensor = tensor.map_err(|error| failed(error.to_string()))?;
        {
            let mut bytes = tensor.write_bytes().map_err(|error| failed(error.to_string()))?;
            match &self.kind {
                Kind::Tensors(all) => all.read_into(name, &mut bytes).map_err(failed)?,
                Kind::Bundle(bundle, names) => {
                    let key = names.get(name).map_or(name, String::as_str);
                    bundle.read_into(key, &mut bytes).map_err(|error| TrainError::new(error.to_string()))?;
                }
            }
        }
        Ok(Some(tensor))
    }

    /// Reads a text.
    pub fn note(&self, name: &str) -> Option<String> {
        match &self.kind {
            Kind::Tensors(all) => all.notes.get(name).cloned(),
            Kind::Bundle(bundle, _) => match bundle.read(name, "").ok()?.data {
                BundleData::Strings(texts) => String::from_utf8(texts.first()?.to_vec()).ok(),
                BundleData::Dense(_) => None,
            },
        }
    }

    /// The number of updates: that of Befrost, that of TensorFlow, or the number in the file's name.
    ///
    /// # Errors
    /// If the tensor with the number is damaged, or is no integer.
    pub fn step(&self) -> Result<Option<i64>, TrainError> {
        for name in ["befrost/step", "global_step"] {
            if let Some(tensor) = self.read(name)? {
                let step = match tensor.dtype() {
                    DType::I32 => tensor.to_vec::<i32>().ok().and_then(|v| v.first().map(|&n| i64::from(n))),
                    _ => tensor.to_vec::<i64>().ok().and_then(|v| v.first().copied()),
                };
                let wrong = || TrainError::file(&self.path, format!("tensor '{name}': it is no number"));
                return step.map(Some).ok_or_else(wrong);
            }
        }
        Ok(number(&self.path))
    }

    /// Gives the variables the values of the checkpoint, all of them or only the `chosen` ones. After an
    /// error no variable has changed.
    ///
    /// # Errors
    /// If a tensor is damaged; if variables are missing, surplus, or of another type or shape. The error
    /// lists them.
    pub fn restore(
        &self,
        resources: &Resources,
        chosen: Option<&dyn Fn(&str) -> bool>,
    ) -> Result<(), TrainError> {
        let variables = variable_values(resources).map_err(|error| TrainError::new(error.to_string()))?;
        let is_chosen = |name: &str| chosen.is_none_or(|chosen| chosen(name));
        let mut wrong = Vec::new();
        let (mut found, mut stored): (Vec<(ResourceName, HostTensor)>, Vec<ResourceName>) =
            Default::default();
        let mut known = BTreeSet::new();
        for (name, value) in variables.into_iter().filter(|(name, _)| is_chosen(name.name())) {
            known.insert(name.name().to_owned());
            let Some((dtype, dims)) = self.describe(name.name()) else {
                if name.name() == "befrost/step" {
                    if let Some(step) = self.step()? {
                        let step = HostTensor::from_vec([], vec![step]);
                        found.push((name, step.map_err(|error| TrainError::new(error.to_string()))?));
                    }
                } else if !name.name().starts_with(OWN) {
                    wrong.push(format!("'{}' is not in it", name.name()));
                }
                continue;
            };
            if (dtype, &dims[..]) != (value.dtype(), value.shape().dims()) {
                let (want, shape) = (value.dtype(), value.shape().dims());
                wrong.push(format!("'{}' is {want} {shape:?}, and {dtype} {dims:?} in it", name.name()));
                continue;
            }
            stored.push(name);
        }
        if chosen.is_none() {
            let names = self.names();
            let is_of_objects = matches!(&self.kind, Kind::Bundle(_, objects) if !objects.is_empty());
            let is_count = |name: &str| name == "global_step" || (is_of_objects && name == SAVE_COUNTER);
            let surplus = names
                .iter()
                .filter(|name| !known.contains(*name) && !name.starts_with(OWN) && !is_count(name));
            wrong.extend(surplus.map(|name| format!("'{name}' is only in it")));
        } else if found.is_empty() && stored.is_empty() && wrong.is_empty() {
            wrong.push("no variable matches".to_owned());
        }
        if !wrong.is_empty() {
            let more = wrong.len().saturating_sub(MAX_LISTED);
            wrong.truncate(MAX_LISTED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let why = format!("the checkpoint is of another model: {}{more}", wrong.join("; "));
            return Err(TrainError::file(&self.path, why));
        }
        found.extend(self.read_all(stored)?);
        assign_variable_values(resources, found)
            .map_err(|error| TrainError::file(&self.path, error.to_string()))
    }

    /// Reads tensors of numbers, on several threads: reading and checksums take as long as the memory's first
    /// touch, and each tensor has its own memory.
    fn read_all(&self, names: Vec<ResourceName>) -> Result<Vec<(ResourceName, HostTensor)>, TrainError> {
        let next = AtomicUsize::new(0);
        let read_some = || {
            let mut read = Vec::new();
            // Relaxed: only uniqueness matters.
            while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
                let value = self.read(name.name())?;
                read.extend(value.map(|value| (name.clone(), value)));
            }
            Ok::<_, TrainError>(read)
        };
        let n_threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_READERS);
        std::thread::scope(|scope| {
            let spawn =
                |_| std::thread::Builder::new().name("restore".to_owned()).spawn_scoped(scope, read_some);
            // A thread that cannot be started leaves its part to the others.
            let others: Vec<_> = (1..n_threads.min(names.len())).filter_map(|i| spawn(i).ok()).collect();
            let mut read = read_some()?;
            for other in others {
                let other = other.join().map_err(|_| TrainError::new("a thread that restores panicked"))?;
                read.extend(other?);
            }
            Ok(read)
        })
    }
}

/// The variable in which `tf.train.Checkpoint` counts checkpoints.
const SAVE_COUNTER: &str = "save_counter";

/// The end of the names of bundles' indices.
pub(crate) const INDEX: &str = ".index";

/// The end of the names of files of safetensors.
pub(crate) const SAFE: &str = ".safetensors";

/// The number at the end of a name.
pub(crate) fn number(path: &Path) -> Option<i64> {
    let name = path.file_name()?.to_string_lossy();
    let name = name.strip_suffix(SAFE).or_else(|| name.strip_suffix(INDEX)).unwrap_or(&name);
    name.rsplit_once('-')?.1.parse().ok().filter(|&n| n >= 0)
}

/// True if there is a checkpoint: its index, which is written last, or its file.
pub(crate) fn exists(prefix: &Path) -> bool {
    [INDEX, SAFE].iter().any(|end| with_end(prefix, end).is_file())
}

/// A path with an end of its name.
pub(crate) fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// The prefix of a folder's latest checkpoint, which the state file names. If it is not found at its path, it
/// is looked for in the folder. If the state file names none that exists, it is the one with the largest
/// number.
///
/// # Errors
/// If the folder or its state file cannot be read.
pub(crate) fn latest(folder: &Path) -> Result<Option<PathBuf>, TrainError> {
    let file = folder.join("checkpoint");
    match fs::read(&file) {
        Ok(bytes) => {
            let state = CheckpointState::parse(&bytes).map_err(|why| TrainError::file(&file, why))?;
            for path in [&state.latest].into_iter().chain(state.all.iter().rev()) {
                // The folder comes first: it may be a copy of the one at the path.
                let beside = folder.join(CheckpointState::beside(path));
                if let Some(found) = [beside, folder.join(path)].into_iter().find(|prefix| exists(prefix)) {
                    return Ok(Some(found));
                }
            }
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(TrainError::file(&file, error)),
    }
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(TrainError::file(folder, error)),
    };
    let mut found: Option<(i64, PathBuf)> = None;
    for entry in entries {
        let path = entry.map_err(|error| TrainError::file(folder, error))?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let Some(prefix) = name.strip_suffix(INDEX).or_else(|| name.strip_suffix(SAFE)) else { continue };
        let Some(n) = number(&path).filter(|_| !name.starts_with('.') && !name.starts_with("best-")) else {
            continue;
        };
        if found.as_ref().is_none_or(|(best, _)| n > *best) {
            found = Some((n, folder.join(prefix)));
        }
    }
    Ok(found.map(|(_, prefix)| prefix))
}
