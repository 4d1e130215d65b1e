//! Slices: the rectangular parts in which a partitioned variable is stored, or which a reader requests.
//!
//! A slice is stored under a key of its own, in TensorFlow's ordered code: 0, the name, the rank, and start
//! and length of each axis. An axis that is not cut may have length -1.

use std::fmt;

use super::data::n_elements;
use super::{BundleData, BundleTensor, Bytes, Entry};
use crate::tf::op::Type;
use crate::wire::{self, Message, WireValue};

/// A part of a tensor: start and length along each axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slice(Vec<(usize, usize)>);

/// A stored slice. The length of an axis that is not cut may be absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StoredSlice {
    pub(super) slice: Slice,
    is_whole: Vec<bool>,
}

/// The most slices of a tensor.
const MAX_SLICES: usize = 1 << 12;

impl fmt::Display for Slice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let axes: Vec<String> = self.0.iter().map(|(start, len)| format!("{start},{len}")).collect();
        f.write_str(&axes.join(":"))
    }
}

impl Slice {
    /// The slice that is the whole tensor.
    pub(super) fn whole(dims: &[usize]) -> Slice {
        Slice(dims.iter().map(|&dim| (0, dim)).collect())
    }

    pub(super) fn checked(axes: Vec<(usize, usize)>, dims: &[usize]) -> Result<Slice, String> {
        let slice = Slice(axes);
        let fits = |(&(start, len), &dim): (&(usize, usize), &usize)| start <= dim && len <= dim - start;
        if slice.0.len() != dims.len() || !slice.0.iter().zip(dims).all(fits) {
            return Err(format!("it has no slice {slice}, its shape is {dims:?}"));
        }
        Ok(slice)
    }

    /// Decodes a TensorSliceProto.
    pub(super) fn decode(bytes: &[u8], dims: &[usize]) -> Result<StoredSlice, String> {
        let (mut axes, mut is_whole) = (Vec::new(), Vec::new());
        for field in Message::new(bytes) {
            let (1, WireValue::Bytes(extent)) = field? else { continue };
            let (mut start, mut length) = (0, None);
            for field in Message::new(extent) {
                match field? {
                    (1, WireValue::Varint(value)) => start = value,
                    (2, WireValue::Varint(value)) => length = Some(value),
                    _ => {}
                }
            }
            let dim = dims.get(axes.len()).copied().ok_or("a slice of it has too many dimensions")?;
            let size = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
            axes.push((size(start), length.map_or(dim, size)));
            is_whole.push(length.is_none());
        }
        Ok(StoredSlice { slice: Slice::checked(axes, dims)?, is_whole })
    }

    /// Parses a slice specification: the shape of the whole tensor, and `start,length` or `-` for each axis.
    pub(super) fn parse(text: &str, dims: &[usize]) -> Result<Slice, String> {
        let (shape, slice) = Slice::parse_all(text)?;
        if shape == dims { Ok(slice) } else { Err(format!("its shape is {dims:?}, not {shape:?}")) }
    }

    /// Parses the shape of the whole tensor and the slice of a slice specification.
    pub(super) fn parse_all(text: &str) -> Result<(Vec<usize>, Slice), String> {
        let malformed = || format!("'{}' specifies no slice", text.chars().take(120).collect::<String>());
        let (shape, axes) = text.rsplit_once(' ').unwrap_or(("", text));
        let dims: Option<Vec<usize>> = shape.split_whitespace().map(|dim| dim.parse().ok()).collect();
        let dims = dims.ok_or_else(malformed)?;
        let axis = |(axis, &dim): (&str, &usize)| match axis.split_once(',') {
            None if axis == "-" => Some((0, dim)),
            None => None,
            Some((start, len)) => Some((start.parse().ok()?, len.parse().ok()?)),
        };
        let axes: Vec<&str> = axes.split(':').collect();
        if axes.len() != dims.len() {
            return Err(malformed());
        }
        let axes: Option<Vec<_>> = axes.into_iter().zip(&dims).map(axis).collect();
        let slice = Slice::checked(axes.ok_or_else(malformed)?, &dims)?;
        Ok((dims, slice))
    }

    /// The dimensions of the part.
    pub(super) fn dims(&self) -> Vec<usize> {
        self.0.iter().map(|&(_, len)| len).collect()
    }

    /// True if two parts have elements in common.
    pub(super) fn meets(&self, other: &Slice) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| overlap(*a, *b).is_some())
    }
}

impl StoredSlice {
    /// A stored slice with explicit lengths.
    pub(super) fn new(slice: Slice) -> StoredSlice {
        let is_whole = vec![false; slice.0.len()];
        StoredSlice { slice, is_whole }
    }

    /// The TensorSliceProto.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut slice = Vec::new();
        for (&(start, len), is_whole) in self.slice.0.iter().zip(&self.is_whole) {
            let mut extent = Vec::new();
            wire::push_number(&mut extent, 1, start as u64);
            if !is_whole {
                wire::push_varint(&mut extent, 2 << 3);
                wire::push_varint(&mut extent, len as u64);
            }
            wire::push_bytes(&mut slice, 1, &extent);
        }
        slice
    }

    /// The key under which a slice of a tensor is stored.
    pub(super) fn key(&self, name: &[u8]) -> Vec<u8> {
        let mut key = vec![0];
        for &byte in name {
            match byte {
                0 => key.extend([0, 0xff]),
                0xff => key.extend([0xff, 0]),
                byte => key.push(byte),
            }
        }
        key.extend([0, 1]);
        push_number(&mut key, self.slice.0.len() as u64);
        for (&(start, len), &is_whole) in self.slice.0.iter().zip(&self.is_whole) {
            push_signed(&mut key, start as i64);
            push_signed(&mut key, if is_whole { -1 } else { len as i64 });
        }
        key
    }
}

/// Appends an unsigned number so that the order of the bytes is that of the numbers.
fn push_number(key: &mut Vec<u8>, number: u64) {
    let bytes = number.to_be_bytes();
    let digits = &bytes[bytes.len() - (64 - number.leading_zeros() as usize).div_ceil(8)..];
    key.push(digits.len() as u8);
    key.extend(digits);
}

/// Appends a signed number so that the order of the bytes is that of the numbers. The number of leading ones
/// is the number of bytes; for a negative number leading zeros count them.
fn push_signed(key: &mut Vec<u8>, number: i64) {
    let magnitude = if number < 0 { !number } else { number };
    let n_bits = 64 - magnitude.leading_zeros() as usize;
    let n = n_bits / 7 + 1;
    let sign = if number < 0 { 0xff } else { 0 };
    let mut bytes = [sign; 10];
    bytes[2..].copy_from_slice(&number.to_be_bytes());
    let bytes = &mut bytes[10 - n..];
    let header: u16 = !(0xffff_u32 >> n) as u16;
    bytes[0] ^= (header >> 8) as u8;
    if let Some(second) = bytes.get_mut(1) {
        *second ^= header as u8;
    }
    key.extend_from_slice(bytes);
}

/// The range that two ranges have in common, unless it is empty.
fn overlap((a, n_a): (usize, usize), (b, n_b): (usize, usize)) -> Option<(usize, usize)> {
    let (start, end) = (a.max(b), (a + n_a).min(b + n_b));
    (start < end).then(|| (start, end - start))
}

/// Checks that slices have no elements in common.
pub(super) fn expect_disjoint(slices: &[&Slice]) -> Result<(), String> {
    if slices.len() > MAX_SLICES {
        return Err(format!("it has {} slices, more than {MAX_SLICES}", slices.len()));
    }
    for (i, slice) in slices.iter().enumerate() {
        if let Some(other) = slices[..i].iter().find(|other| other.meets(slice)) {
            return Err(format!("its slices {other} and {slice} overlap"));
        }
    }
    Ok(())
}

/// Checks that slices cover a tensor, each element once.
pub(super) fn expect_partition(dims: &[usize], slices: &[&Slice]) -> Result<(), String> {
    expect_disjoint(slices)?;
    let mut n = 0usize;
    for slice in slices {
        n = n.saturating_add(n_elements(&slice.dims())?);
    }
    if n == n_elements(dims)? { Ok(()) } else { Err("its slices are not all of it".to_owned()) }
}

/// Assembles the part `wanted` of a tensor from `parts`, which contain all of its elements.
pub(super) fn gather(
    entry: &Entry,
    wanted: &Slice,
    parts: &[(&Slice, BundleTensor)],
) -> Result<BundleTensor, String> {
    let dims = wanted.dims();
    let n = n_elements(&dims)?;
    let data = match entry.ty {
        Type::Dense(dtype) => {
            let size = dtype.size();
            // All elements are in `parts`, so the result is no larger than the files.
            let mut bytes = vec![0; n.checked_mul(size).ok_or("it is too large")?];
            for (slice, part) in parts {
                let BundleData::Dense(from) = &part.data else { return Err("its parts differ".to_owned()) };
                rows(slice, wanted, &mut |at, to, n| {
                    bytes[to * size..(to + n) * size].copy_from_slice(&from[at * size..(at + n) * size]);
                });
            }
            BundleData::Dense(Bytes::from(bytes))
        }
        _ => {
            let mut texts = vec![Bytes::new(); n];
            for (slice, part) in parts {
                let BundleData::Strings(from) = &part.data else { return Err("its parts differ".to_owned()) };
                rows(slice, wanted, &mut |at, to, n| texts[to..to + n].clone_from_slice(&from[at..at + n]));
            }
            BundleData::Strings(texts)
        }
    };
    Ok(BundleTensor { ty: entry.ty, dims, data })
}

/// Calls `f(position in from, position in to, count)` for each contiguous run of elements that two parts of
/// one tensor have in common.
fn rows(from: &Slice, to: &Slice, f: &mut dyn FnMut(usize, usize, usize)) {
    let common = from.0.iter().zip(&to.0).map(|(a, b)| overlap(*a, *b));
    let Some(common) = common.collect::<Option<Vec<_>>>() else { return };
    let Some((&(last, n_last), outer)) = common.split_last() else { return f(0, 0, 1) };
    let mut at: Vec<usize> = outer.iter().map(|&(start, _)| start).collect();
    let place = |slice: &Slice, at: &[usize]| {
        let axes = slice.0.iter().zip(at.iter().chain([&last]));
        axes.fold(0, |place, (&(start, len), &at)| place * len + (at - start))
    };
    loop {
        f(place(from, &at), place(to, &at), n_last);
        let next = at.iter_mut().zip(outer).rev().find_map(|(at, &(start, len))| {
            *at += 1;
            if *at < start + len {
                return Some(());
            }
            *at = start;
            None
        });
        if next.is_none() {
            return;
        }
    }
}
