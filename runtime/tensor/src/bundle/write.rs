//! The writer. Tensors are written to their shards when they are added; the index is written at the end.
//!
//! ```text
//! add(name, shard, elements) ──▶ shard: bytes          entry: type, shape, shard, place, checksum
//! finish() ──▶ header and entries in the order of their keys ──▶ blocks ──▶ index
//! ```
//!
//! The format is the one that TensorFlow writes: no compression, little-endian. Tensors are stored in the
//! order of the calls. Equal calls give equal bytes.
//!
//! Not here: files. A caller writes the shards first, then the index: without an index there is no bundle.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::slice::{Slice, StoredSlice};
use super::table::{self, masked};
use super::{HEADER, data, expect_shards};
use crate::tf::op::Type;
use crate::wire::{push_bytes, push_fixed32, push_number, push_varint};

/// The elements of a tensor that is written.
#[derive(Clone, Copy, Debug)]
pub enum Elements<'a> {
    /// Little-endian numbers, one after the other.
    Dense(&'a [u8]),
    /// Strings of bytes.
    Strings(&'a [&'a [u8]]),
}

/// Writes a bundle.
#[derive(Debug)]
pub struct BundleWriter<W> {
    shards: Vec<Shard<W>>,
    entries: BTreeMap<Vec<u8>, Vec<u8>>,
    partitioned: BTreeMap<Vec<u8>, Partitioned>,
}

#[derive(Debug)]
struct Shard<W> {
    to: W,
    len: u64,
}

/// A tensor in slices.
#[derive(Debug)]
struct Partitioned {
    ty: Type,
    dims: Vec<usize>,
    slices: Vec<Slice>,
}

impl<W: Write> BundleWriter<W> {
    /// A bundle with these shards.
    pub fn new(shards: Vec<W>) -> BundleWriter<W> {
        let shards = shards.into_iter().map(|to| Shard { to, len: 0 }).collect();
        BundleWriter { shards, entries: BTreeMap::new(), partitioned: BTreeMap::new() }
    }

    /// Writes a tensor to a shard.
    ///
    /// # Errors
    /// Those of the shard, and if the name is taken, or the elements do not fit the type and the shape.
    pub fn add(
        &mut self,
        name: &str,
        shard: usize,
        ty: Type,
        dims: &[usize],
        elements: Elements<'_>,
    ) -> io::Result<()> {
        self.put(named(name)?, shard, ty, dims, elements)
    }

    /// Writes a slice of a tensor of shape `dims`: start and length along each axis.
    ///
    /// # Errors
    /// As [`BundleWriter::add`], and if the slice is not inside of the tensor, or the tensor's type or shape
    /// differs from that of its other slices. [`BundleWriter::finish`] checks that the slices cover the
    /// tensor.
    pub fn add_slice(
        &mut self,
        name: &str,
        shard: usize,
        ty: Type,
        dims: &[usize],
        slice: &[(usize, usize)],
        elements: Elements<'_>,
    ) -> io::Result<()> {
        let slice = Slice::checked(slice.to_vec(), dims).map_err(|why| refused(&why))?;
        self.put_slice(name, shard, ty, dims, slice, elements)
    }

    /// Writes a tensor, or the slice of one named by a slice specification of TensorFlow, such as
    /// `4 3 0,2:-`. An empty specification names the whole tensor. `dims` is the shape of the written
    /// elements.
    ///
    /// # Errors
    /// As [`BundleWriter::add_slice`], and if the specification is malformed or does not match `dims`.
    pub fn add_specified(
        &mut self,
        (name, specification): (&str, &str),
        shard: usize,
        ty: Type,
        dims: &[usize],
        elements: Elements<'_>,
    ) -> io::Result<()> {
        if specification.is_empty() {
            return self.add(name, shard, ty, dims, elements);
        }
        let (whole, slice) = Slice::parse_all(specification).map_err(|why| refused(&why))?;
        if slice.dims() != dims {
            let dims = format!("'{name}': slice {slice} of a tensor of shape {dims:?}");
            return Err(refused(&dims));
        }
        self.put_slice(name, shard, ty, &whole, slice, elements)
    }

    fn put_slice(
        &mut self,
        name: &str,
        shard: usize,
        ty: Type,
        dims: &[usize],
        slice: Slice,
        elements: Elements<'_>,
    ) -> io::Result<()> {
        let key = named(name)?.to_vec();
        let is_other = |whole: &Partitioned| (whole.ty, &whole.dims[..]) != (ty, dims);
        if self.partitioned.get(&key).is_some_and(is_other) {
            return Err(refused(&format!("the slices of '{name}' are of different tensors")));
        }
        let part = StoredSlice::new(slice.clone()).key(name.as_bytes());
        self.put(&part, shard, ty, &slice.dims(), elements)?;
        let new = || Partitioned { ty, dims: dims.to_vec(), slices: Vec::new() };
        self.partitioned.entry(key).or_insert_with(new).slices.push(slice);
        Ok(())
    }

    fn put(
        &mut self,
        key: &[u8],
        shard: usize,
        ty: Type,
        dims: &[usize],
        elements: Elements<'_>,
    ) -> io::Result<()> {
        if self.entries.contains_key(key) {
            return Err(refused(&format!("'{}' is written twice", super::shown(key))));
        }
        let to = self.shards.get_mut(shard).ok_or_else(|| refused("there is no such shard"))?;
        let at = to.len;
        let (len, crc) =
            data::encode(ty, dims, elements, &mut to.to)?.ok_or_else(|| refused("elements do not fit"))?;
        to.len += len;
        self.entries.insert(key.to_vec(), placed(described(ty, dims), (shard, at, len), crc));
        Ok(())
    }

    /// The shards, and the bytes of the index.
    ///
    /// # Errors
    /// If the slices of a tensor do not cover it, or overlap, or the tensor was also written as a whole, or
    /// there are too many shards.
    pub fn finish(self) -> io::Result<(Vec<W>, Vec<u8>)> {
        for (name, Partitioned { ty: _, dims, slices }) in &self.partitioned {
            super::slice::expect_partition(dims, &slices.iter().collect::<Vec<_>>())
                .map_err(|why| refused(&format!("'{}': {why}", super::shown(name))))?;
        }
        self.finish_part()
    }

    /// [`BundleWriter::finish`] for one part of a bundle. The other slices of its tensors may be in other
    /// parts, which the caller merges with this one.
    ///
    /// # Errors
    /// If slices of a tensor overlap, or the tensor was also written as a whole, or there are too many
    /// shards.
    pub fn finish_part(mut self) -> io::Result<(Vec<W>, Vec<u8>)> {
        expect_shards(self.shards.len()).map_err(|why| refused(&why))?;
        for (name, Partitioned { ty, dims, slices }) in &self.partitioned {
            let problem = |why: &str| refused(&format!("'{}': {why}", super::shown(name)));
            super::slice::expect_disjoint(&slices.iter().collect::<Vec<_>>()).map_err(|why| problem(&why))?;
            let mut entry = described(*ty, dims);
            for slice in slices {
                push_bytes(&mut entry, 7, &StoredSlice::new(slice.clone()).encode());
            }
            if self.entries.insert(name.clone(), entry).is_some() {
                return Err(problem("it is written whole and in slices"));
            }
        }
        let index = index(self.entries, self.shards.len());
        Ok((self.shards.into_iter().map(|shard| shard.to).collect(), index))
    }
}

/// The key of a tensor. The keys of the header and of slices are no names.
fn named(name: &str) -> io::Result<&[u8]> {
    if name.is_empty() || name.starts_with('\0') {
        return Err(refused("a tensor has no name"));
    }
    Ok(name.as_bytes())
}

/// The bytes of the index with these entries.
pub(super) fn index(mut entries: BTreeMap<Vec<u8>, Vec<u8>>, n_shards: usize) -> Vec<u8> {
    let mut header = Vec::new();
    push_number(&mut header, 1, n_shards as u64);
    // The version of the writer.
    let mut version = Vec::new();
    push_number(&mut version, 1, 1);
    push_bytes(&mut header, 3, &version);
    entries.insert(HEADER.to_vec(), header);
    table::write(&entries)
}

/// Appends shard, position and length of the elements, and their checksum, to an encoded entry.
pub(super) fn placed(mut entry: Vec<u8>, (shard, at, len): (usize, u64, u64), crc: u32) -> Vec<u8> {
    for (field, value) in [(3, shard as u64), (4, at), (5, len)] {
        push_number(&mut entry, field, value);
    }
    push_fixed32(&mut entry, 6, crc);
    entry
}

/// The encoded type and shape of an entry.
pub(super) fn described(ty: Type, dims: &[usize]) -> Vec<u8> {
    let (mut entry, mut shape) = (Vec::new(), Vec::new());
    push_number(&mut entry, 1, u64::try_from(ty.code()).unwrap_or(0));
    for &dim in dims {
        let mut size = Vec::new();
        push_number(&mut size, 1, dim as u64);
        push_bytes(&mut shape, 2, &size);
    }
    push_bytes(&mut entry, 2, &shape);
    entry
}

fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

/// Appends the lengths of strings, and returns the checksum of the lengths.
pub(super) fn lengths(strings: &[&[u8]], to: &mut Vec<u8>) -> u32 {
    let mut crc = 0;
    for string in strings {
        let length = string.len() as u64;
        push_varint(to, length);
        crc = match u32::try_from(length) {
            Ok(length) => crc32c::crc32c_append(crc, &length.to_le_bytes()),
            Err(_) => crc32c::crc32c_append(crc, &length.to_le_bytes()),
        };
    }
    let stored = masked(crc).to_le_bytes();
    to.extend(stored);
    crc32c::crc32c_append(crc, &stored)
}
