//! Datasets: an array for each placeholder, with one example in each row of the first axis.
//!
//! A small file is read as a whole. The rows of a larger one are read for each batch, adjacent rows at once;
//! the system's cache of files keeps them.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Take};
use std::os::unix::fs::FileExt;
use std::path::Path;

use befrost::mem::Malloc;
use befrost::npy::{self, NpyError, NpyLayout};
use befrost::{DType, HostTensor, Shape};

use crate::error::TrainError;
use crate::npz::{self, Member};

/// Arrays of examples, by the names of placeholders.
#[derive(Debug, Default)]
pub struct Dataset {
    columns: Vec<Column>,
}

/// The examples of a placeholder.
#[derive(Debug)]
struct Column {
    name: String,
    shown: String,
    dtype: DType,
    dims: Vec<usize>,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Memory(HostTensor),
    File { file: File, at: u64 },
}

/// Limit of the bytes of an array that is read as a whole.
const SMALL: u64 = 1 << 26;

impl Dataset {
    /// A dataset without arrays.
    pub fn new() -> Dataset {
        Dataset::default()
    }

    /// Adds the array of a `.npy` file.
    ///
    /// # Errors
    /// If it cannot be read, or has another number of examples than the others.
    pub fn npy(self, name: &str, path: impl AsRef<Path>) -> Result<Dataset, TrainError> {
        let path = path.as_ref();
        let file = File::open(path).map_err(|error| TrainError::file(path, error))?;
        let len = file.metadata().map_err(|error| TrainError::file(path, error))?.len();
        self.file(name, path.display().to_string(), file, (0, len))
    }

    /// Adds an array of a `.npz` file.
    ///
    /// # Errors
    /// As [`Dataset::npy`], and if there is no array `key`.
    pub fn npz(self, name: &str, path: impl AsRef<Path>, key: &str) -> Result<Dataset, TrainError> {
        let path = path.as_ref();
        let file = File::open(path).map_err(|error| TrainError::file(path, error))?;
        let shown = format!("{}:{key}", path.display());
        let member = npz::member(&file, key);
        match member.map_err(|why| TrainError::data(format!("{}: {why}", path.display())))? {
            Member::Stored(range) => self.file(name, shown, file, range),
            Member::Inflated(bytes) => {
                let tensor = npy::read(&bytes[..], &Malloc::shared());
                let tensor = tensor.map_err(|why| TrainError::data(format!("{shown}: {why}")))?;
                self.with(name, shown, tensor)
            }
        }
    }

    /// Adds the array of a file, `FILE.npy`, or `FILE.npz:KEY`.
    ///
    /// # Errors
    /// As [`Dataset::npz`].
    pub fn open(self, name: &str, place: &str) -> Result<Dataset, TrainError> {
        match place.rsplit_once(".npz:") {
            Some((file, key)) => self.npz(name, format!("{file}.npz"), key),
            None => self.npy(name, place),
        }
    }

    fn file(self, name: &str, shown: String, file: File, range: (u64, u64)) -> Result<Dataset, TrainError> {
        let wrong = |why: NpyError| TrainError::data(format!("{shown}: {why}"));
        let layout = npy::layout(part(&file, range).map_err(|error| wrong(error.into()))?).map_err(wrong)?;
        let NpyLayout { dtype, shape, at, is_plain } = layout;
        let bytes = shape.num_bytes(dtype).map_err(|error| wrong(error.into()))? as u64;
        if is_plain && bytes > SMALL {
            let got = range.1.saturating_sub(at);
            if got < bytes {
                return Err(wrong(NpyError::Truncated { want: bytes as usize, got: got as usize }));
            }
            let source = Source::File { file, at: range.0 + at };
            return self.add(Column {
                name: name.to_owned(),
                shown,
                dtype,
                dims: shape.dims().to_vec(),
                source,
            });
        }
        let reader = part(&file, range).map_err(|error| wrong(error.into()))?;
        let tensor = npy::read(reader, &Malloc::shared()).map_err(wrong)?;
        self.with(name, shown, tensor)
    }

    /// Adds a tensor.
    ///
    /// # Errors
    /// If it has another number of examples than the others.
    pub fn tensor(self, name: &str, tensor: HostTensor) -> Result<Dataset, TrainError> {
        self.with(name, "the tensor".to_owned(), tensor)
    }

    fn with(self, name: &str, shown: String, tensor: HostTensor) -> Result<Dataset, TrainError> {
        let (dtype, dims) = (tensor.dtype(), tensor.shape().dims().to_vec());
        self.add(Column { name: name.to_owned(), shown, dtype, dims, source: Source::Memory(tensor) })
    }

    fn add(mut self, column: Column) -> Result<Dataset, TrainError> {
        let Column { name, shown, dims, .. } = &column;
        let wrong = |why: String| Err(TrainError::data(format!("data of '{name}', {shown}: {why}")));
        let Some(&n) = dims.first() else {
            return wrong("it is a scalar, and has no axis of examples".to_owned());
        };
        if n == 0 {
            return wrong("it is empty".to_owned());
        }
        if let Some(other) = self.columns.iter().find(|other| other.name == *name) {
            return wrong(format!("'{name}' has its data from {}", other.shown));
        }
        if let Some(other) = self.columns.iter().find(|other| other.dims[0] != n) {
            return wrong(format!(
                "{n} examples, but '{}' has {} ({})",
                other.name, other.dims[0], other.shown
            ));
        }
        self.columns.push(column);
        Ok(self)
    }

    /// The number of examples; 1 without arrays, for programs without feeds.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(1, |column| column.dims[0])
    }

    /// True if there is no array.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Checks that a function's arguments, except `others`, have arrays of the right type and shape.
    pub(crate) fn check(&self, function: &befrost::Function, others: &[&str]) -> Result<(), TrainError> {
        let mut wrong = Vec::new();
        let ports: Vec<_> = function.arguments().iter().filter(|port| !port.is_chain()).collect();
        for port in &ports {
            let Some(column) = self.columns.iter().find(|column| column.name == port.name()) else {
                if !others.contains(&port.name()) {
                    wrong.push(format!("'{}' has no data", port.name()));
                }
                continue;
            };
            let is_type = port.dtype().is_none_or(|dtype| dtype == column.dtype);
            let is_shape = port.shape().as_slice().is_none_or(|want| {
                let fits = |(want, got): (&Option<usize>, &usize)| want.is_none_or(|want| want == *got);
                want.len() == column.dims.len() && want.iter().zip(&column.dims).skip(1).all(fits)
            });
            if !is_type || !is_shape {
                let (dtype, dims) = (column.dtype, &column.dims);
                let (want, shown) = (port.ty(), &column.shown);
                wrong
                    .push(format!("'{}' is {want}, but {shown} has {dtype} and shape {dims:?}", port.name()));
            }
        }
        for column in &self.columns {
            if !ports.iter().any(|port| port.name() == column.name) {
                let names: Vec<&str> = ports.iter().map(|port| port.name()).collect();
                wrong.push(format!("there is no '{}'; there are {}", column.name, names.join(", ")));
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(TrainError::data(format!("data: {}", wrong.join("; ")))) }
    }

    /// Gathers a batch.
    ///
    /// # Errors
    /// If a row is out of range, or a file cannot be read.
    pub fn gather(&self, rows: &[usize]) -> Result<Vec<(String, HostTensor)>, TrainError> {
        self.columns.iter().map(|column| Ok((column.name.clone(), column.gather(rows)?))).collect()
    }
}

impl Column {
    fn gather(&self, rows: &[usize]) -> Result<HostTensor, TrainError> {
        let Column { shown, dtype, dims, source, .. } = self;
        let wrong = |why: String| TrainError::data(format!("{shown}: {why}"));
        let tensor_error = |error: befrost::TensorError| wrong(error.to_string());
        if let Some(row) = rows.iter().find(|&&row| row >= dims[0]) {
            return Err(wrong(format!("row {row} is out of range, there are {}", dims[0])));
        }
        let mut of_batch = dims.clone();
        of_batch[0] = rows.len();
        let shape = Shape::new(&of_batch).map_err(tensor_error)?;
        let batch = HostTensor::allocate(*dtype, shape, &Malloc::shared()).map_err(tensor_error)?;
        {
            let mut to = batch.write_bytes().map_err(tensor_error)?;
            let size = if rows.is_empty() { 0 } else { to.len() / rows.len() };
            let from = match source {
                Source::Memory(tensor) => Some(tensor.read_bytes().map_err(tensor_error)?),
                Source::File { .. } => None,
            };
            let mut at = 0;
            while at < rows.len() {
                // Adjacent rows are read at once.
                let n = rows[at..].windows(2).take_while(|pair| pair[1] == pair[0] + 1).count() + 1;
                let (to, first) = (&mut to[at * size..(at + n) * size], rows[at] * size);
                match (source, &from) {
                    (Source::File { file, at }, _) => file
                        .read_exact_at(to, at + first as u64)
                        .map_err(|error| wrong(format!("row {}: {error}", first / size.max(1))))?,
                    (_, Some(from)) => to.copy_from_slice(&from[first..first + n * size]),
                    _ => {}
                }
                at += n;
            }
        }
        Ok(batch)
    }
}

/// A part of a file.
fn part(file: &File, (at, len): (u64, u64)) -> std::io::Result<Take<BufReader<File>>> {
    let mut file = file.try_clone()?;
    file.seek(SeekFrom::Start(at))?;
    Ok(BufReader::new(file).take(len))
}
