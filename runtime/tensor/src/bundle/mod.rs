//! Tensor bundles: TensorFlow's files of named tensors, as checkpoints and SavedModels have them.
//!
//! ```text
//! PREFIX.index ──table──▶ key ──▶ entry { dtype, shape, shard, offset, size, crc32c }      (wire)
//!                                    │ or the slices of a partitioned variable             (slice)
//! PREFIX.data-00000-of-00002 ◀───────┘ bytes of the elements, or lengths and texts         (data)
//! ```
//!
//! Files are untrusted. [`Bundle::open`] checks the whole index: checksums, the order of the keys, that
//! entries lie in their shards and do not overlap. Tensors are checked when they are read. They share the
//! bytes of a shard in memory, unless they are assembled from slices; [`Bundle::read_into`] reads a tensor
//! into memory of the caller. The memory used is proportional to the files.
//!
//! [`BundleWriter`] writes bundles, [`merge`] merges several, [`put`] writes a file atomically. [`objects`]
//! finds the names of variables in an object-based checkpoint. [`CheckpointState`] is the text file that
//! names the latest checkpoint of a folder.
//!
//! Not here: the choice of files; a function of the caller opens a [`BundleFile`] by its name.

mod data;
mod merge;
pub mod objects;
mod put;
mod slice;
mod source;
mod state;
mod table;
#[cfg(test)]
mod tests;
mod write;

use std::collections::BTreeMap;
use std::fmt;

pub use bytes::Bytes;

pub use self::merge::merge;
pub use self::put::{is_unfinished, put};
pub use self::source::BundleFile;
pub use self::state::CheckpointState;
pub use self::write::{BundleWriter, Elements};

use self::slice::{Slice, StoredSlice};
pub use crate::tf::op::Type;
use crate::wire::{Message, WireValue};

/// The reason why a bundle, or a tensor in it, cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleError {
    /// The file that the error is about, if any.
    pub file: Option<String>,
    /// The tensor that the error is about, if any.
    pub tensor: Option<String>,
    /// The reason.
    pub problem: String,
}

impl fmt::Display for BundleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BundleError { file, tensor, problem } = self;
        if let Some(file) = file {
            write!(f, "{file}: ")?;
        }
        if let Some(tensor) = tensor {
            write!(f, "tensor '{tensor}': ")?;
        }
        f.write_str(problem)
    }
}

impl std::error::Error for BundleError {}

/// A tensor of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleTensor {
    /// The element type.
    pub ty: Type,
    /// The sizes.
    pub dims: Vec<usize>,
    /// The elements.
    pub data: BundleData,
}

/// The elements of a tensor of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BundleData {
    /// Little-endian numbers, one after the other; booleans are bytes, 0 or 1.
    Dense(Bytes),
    /// Strings of bytes.
    Strings(Vec<Bytes>),
}

/// An open bundle.
#[derive(Debug)]
pub struct Bundle {
    prefix: String,
    entries: BTreeMap<Vec<u8>, Entry>,
    shards: Vec<BundleFile>,
}

/// The description of a tensor in the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The element type.
    pub ty: Type,
    /// The sizes.
    pub dims: Vec<usize>,
    shard: usize,
    at: usize,
    len: usize,
    crc: u32,
    /// The slices of a partitioned variable. An entry with slices has no elements of its own.
    slices: Vec<StoredSlice>,
}

/// The most shards of a bundle.
const MAX_SHARDS: usize = 1 << 12;

/// Checks the number of shards of a bundle that is read, written or merged.
fn expect_shards(n_shards: usize) -> Result<usize, String> {
    let problem = || format!("it has {n_shards} shards, more than {MAX_SHARDS}");
    if n_shards <= MAX_SHARDS { Ok(n_shards) } else { Err(problem()) }
}

/// The key of the header.
const HEADER: &[u8] = b"";

impl Bundle {
    /// Opens the bundle with the index `PREFIX.index` and the shards `PREFIX.data-*`. `open` opens a file by
    /// its name.
    ///
    /// # Errors
    /// If a file cannot be opened, or the index is malformed.
    pub fn open(
        prefix: &str,
        open: &mut dyn FnMut(&str) -> Result<BundleFile, String>,
    ) -> Result<Bundle, BundleError> {
        let index_name = format!("{prefix}.index");
        let refuse =
            |file: &str, problem: String| BundleError { file: Some(file.to_owned()), tensor: None, problem };
        let index = open(&index_name).and_then(|index| index.read(0..index.len()));
        let index = index.map_err(|problem| refuse(&index_name, problem))?;
        let mut values = table::read(&index).map_err(|problem| refuse(&index_name, problem))?;
        let header = values.remove(HEADER).ok_or("it has no header".to_owned());
        let n_shards = header.and_then(|header| n_shards(&header));
        let n_shards = n_shards.map_err(|problem| refuse(&index_name, problem))?;
        let mut entries = BTreeMap::new();
        for (key, value) in values {
            let entry = Entry::decode(&value)
                .map_err(|problem| refuse(&index_name, format!("tensor '{}': {problem}", shown(&key))))?;
            entries.insert(key, entry);
        }
        let mut shards = Vec::with_capacity(n_shards);
        for i in 0..n_shards {
            let name = shard_name(prefix, i, n_shards);
            shards.push(open(&name).map_err(|problem| refuse(&name, problem))?);
        }
        let bundle = Bundle { prefix: prefix.to_owned(), entries, shards };
        bundle.check_places().map_err(|(tensor, problem)| BundleError {
            file: Some(index_name),
            tensor: Some(tensor),
            problem,
        })?;
        Ok(bundle)
    }

    /// The names and descriptions of the tensors, in the order of their names.
    pub fn tensors(&self) -> impl Iterator<Item = (&str, &Entry)> {
        // The keys of slices begin with a 0, names do not.
        let named = self.entries.iter().filter(|(key, _)| key.first() != Some(&0));
        named.filter_map(|(key, entry)| Some((std::str::from_utf8(key).ok()?, entry)))
    }

    /// The number of shards.
    pub fn n_shards(&self) -> usize {
        self.shards.len()
    }

    /// The description of a tensor.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name.as_bytes())
    }

    /// Reads a tensor, or the part named by a slice specification of TensorFlow, such as `4 3 0,2:-`. An
    /// empty specification names the whole tensor.
    ///
    /// # Errors
    /// If there is no such tensor, it has no such part, or its bytes differ from their checksum or
    /// description in the index.
    pub fn read(&self, name: &str, slice: &str) -> Result<BundleTensor, BundleError> {
        let refuse = |problem: String| self.refused(name, problem);
        let entry = self.existing(name)?;
        let wanted = if slice.is_empty() {
            Slice::whole(&entry.dims)
        } else {
            Slice::parse(slice, &entry.dims).map_err(refuse)?
        };
        self.part(name.as_bytes(), entry, &wanted).map_err(refuse)
    }

    /// Reads a tensor of numbers into memory of its size.
    ///
    /// # Errors
    /// As [`Bundle::read`], and if the tensor is of strings, or of another size than the memory.
    pub fn read_into(&self, name: &str, to: &mut [u8]) -> Result<(), BundleError> {
        let refuse = |problem: String| self.refused(name, problem);
        let entry = self.existing(name)?;
        let bytes = match (entry.ty, entry.slices.is_empty()) {
            (Type::Dense(dtype), true) => {
                let shard = self.shard(entry).map_err(refuse)?;
                return data::decode_into(dtype, &entry.dims, (shard, entry.at, entry.len), entry.crc, to)
                    .map_err(refuse);
            }
            _ => match self.read(name, "")?.data {
                BundleData::Dense(bytes) => bytes,
                BundleData::Strings(_) => return Err(refuse("it is of strings".to_owned())),
            },
        };
        if bytes.len() != to.len() {
            return Err(refuse(format!("it has {} bytes, not {}", bytes.len(), to.len())));
        }
        to.copy_from_slice(&bytes);
        Ok(())
    }

    fn existing(&self, name: &str) -> Result<&Entry, BundleError> {
        self.entry(name).ok_or_else(|| self.refused(name, "there is no such tensor".to_owned()))
    }

    fn refused(&self, name: &str, problem: String) -> BundleError {
        BundleError { file: Some(self.prefix.clone()), tensor: Some(shown(name.as_bytes())), problem }
    }

    /// Reads the part `wanted` of a tensor.
    fn part(&self, name: &[u8], entry: &Entry, wanted: &Slice) -> Result<BundleTensor, String> {
        let whole = Slice::whole(&entry.dims);
        if entry.slices.is_empty() {
            let all = self.stored(entry)?;
            return if *wanted == whole { Ok(all) } else { slice::gather(entry, wanted, &[(&whole, all)]) };
        }
        let of_slice = |stored: &StoredSlice| {
            let slice = &stored.slice;
            let stored =
                self.entries.get(&stored.key(name)).ok_or_else(|| format!("its slice {slice} is missing"))?;
            if stored.ty != entry.ty || stored.dims != slice.dims() || !stored.slices.is_empty() {
                return Err(format!("its slice {slice} is of another type or shape"));
            }
            self.stored(stored)
        };
        if let Some(exactly) = entry.slices.iter().find(|stored| stored.slice == *wanted) {
            return of_slice(exactly);
        }
        let slices: Vec<&Slice> = entry.slices.iter().map(|stored| &stored.slice).collect();
        slice::expect_partition(&entry.dims, &slices)?;
        let parts = entry.slices.iter().filter(|stored| stored.slice.meets(wanted));
        let parts: Vec<_> =
            parts.map(|stored| Ok((&stored.slice, of_slice(stored)?))).collect::<Result<_, String>>()?;
        slice::gather(entry, wanted, &parts)
    }

    /// The elements of an entry without slices.
    fn stored(&self, entry: &Entry) -> Result<BundleTensor, String> {
        // `check_places` has compared the range with the shard.
        let bytes = self.shard(entry)?.read(entry.at..entry.at + entry.len)?;
        let data = data::decode(entry.ty, &entry.dims, &bytes, entry.crc)?;
        Ok(BundleTensor { ty: entry.ty, dims: entry.dims.clone(), data })
    }

    fn shard(&self, entry: &Entry) -> Result<&BundleFile, String> {
        self.shards.get(entry.shard).ok_or_else(|| "its shard is missing".to_owned())
    }

    /// Checks that the entries lie in their shards and do not overlap, so that the time to read all of them
    /// is proportional to the files.
    fn check_places(&self) -> Result<(), (String, String)> {
        let mut places = Vec::with_capacity(self.entries.len());
        for (key, entry) in self.entries.iter().filter(|(_, entry)| entry.slices.is_empty()) {
            let refuse = |problem: String| Err((shown(key), problem));
            let Some(shard) = self.shards.get(entry.shard) else {
                return refuse(format!("it is in shard {} of {}", entry.shard, self.shards.len()));
            };
            if entry.at > shard.len() || entry.len > shard.len() - entry.at {
                let (at, len) = (entry.at, entry.len);
                return refuse(format!("bytes {at} to {at}+{len} are not in its shard of {}", shard.len()));
            }
            if entry.len > 0 {
                places.push((entry.shard, entry.at, entry.len, key));
            }
        }
        places.sort_unstable();
        let overlap =
            places.windows(2).find(|pair| pair[0].0 == pair[1].0 && pair[1].1 - pair[0].1 < pair[0].2);
        match overlap {
            None => Ok(()),
            Some(pair) => {
                Err((shown(pair[1].3), format!("its bytes overlap those of '{}'", shown(pair[0].3))))
            }
        }
    }
}

/// The name of a shard's file.
pub fn shard_name(prefix: &str, shard: usize, n_shards: usize) -> String {
    format!("{prefix}.data-{shard:05}-of-{n_shards:05}")
}

/// A key as text for messages.
fn shown(key: &[u8]) -> String {
    String::from_utf8_lossy(key).chars().take(120).collect()
}

/// The number of shards in the header.
fn n_shards(header: &[u8]) -> Result<usize, String> {
    let (mut n_shards, mut endianness) = (0, 0);
    for field in Message::new(header) {
        match field? {
            (1, WireValue::Varint(n)) => n_shards = n,
            (2, WireValue::Varint(order)) => endianness = order,
            _ => {}
        }
    }
    if endianness != 0 {
        return Err("its numbers are big-endian, which is not supported".to_owned());
    }
    expect_shards(usize::try_from(n_shards).unwrap_or(usize::MAX))
}

impl Entry {
    fn decode(bytes: &[u8]) -> Result<Entry, String> {
        let (mut code, mut dims, mut slices) = (0, Vec::new(), Vec::new());
        let (mut shard, mut at, mut len, mut crc) = (0, 0, 0, 0);
        for field in Message::new(bytes) {
            match field? {
                (1, WireValue::Varint(value)) => code = value,
                (2, WireValue::Bytes(shape)) => dims = decode_shape(shape)?,
                (3, WireValue::Varint(value)) => shard = value,
                (4, WireValue::Varint(value)) => at = value,
                (5, WireValue::Varint(value)) => len = value,
                (6, WireValue::Fixed32(value)) => crc = value,
                (7, WireValue::Bytes(slice)) => slices.push(slice),
                _ => {}
            }
        }
        let (ty, is_ref) =
            Type::from_code(i32::try_from(code).unwrap_or(0)).map_err(|error| error.to_string())?;
        if is_ref {
            return Err("it is a reference".to_owned());
        }
        let size = |value: u64| usize::try_from(value).map_err(|_| format!("{value} is no size"));
        let slices = slices.into_iter().map(|slice| Slice::decode(slice, &dims)).collect::<Result<_, _>>()?;
        Ok(Entry { ty, shard: size(shard)?, at: size(at)?, len: size(len)?, crc, slices, dims })
    }

    /// The number of bytes of the tensor in the files; of a partitioned one, the number of bytes of its
    /// elements.
    pub fn n_bytes(&self) -> usize {
        match (self.slices.is_empty(), self.ty) {
            (false, Type::Dense(dtype)) => data::n_elements(&self.dims)
                .and_then(|n| n.checked_mul(dtype.size()).ok_or_else(String::new))
                .unwrap_or(0),
            _ => self.len,
        }
    }
}

/// The most dimensions of a tensor, as in TensorFlow.
const MAX_RANK: usize = 254;

fn decode_shape(bytes: &[u8]) -> Result<Vec<usize>, String> {
    let mut dims = Vec::new();
    for field in Message::new(bytes) {
        match field? {
            (2, WireValue::Bytes(dim)) => {
                let mut size = 0;
                for field in Message::new(dim) {
                    if let (1, WireValue::Varint(value)) = field? {
                        size = value;
                    }
                }
                let dim = usize::try_from(size).ok().filter(|&dim| dim <= i64::MAX as usize);
                dims.push(dim.ok_or("a size of its shape is negative")?);
            }
            (3, WireValue::Varint(1..)) => return Err("its rank is unknown".to_owned()),
            _ => {}
        }
        if dims.len() > MAX_RANK {
            return Err(format!("it has more than {MAX_RANK} dimensions"));
        }
    }
    Ok(dims)
}
