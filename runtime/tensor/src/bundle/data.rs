//! The elements of tensors in a shard.
//!
//! ```text
//! numbers: little-endian, one after the other
//! strings: lengths as varints │ masked crc32c of the lengths │ texts
//! ```

use std::io::{self, Write};

use super::source::AT_ONCE;
use super::table::masked;
use super::write::{Elements, lengths};
use super::{BundleData, BundleFile, Bytes};
use crate::DType;
use crate::tf::op::Type;
use crate::wire::{fixed32, take, varint};

/// The number of elements.
pub(super) fn n_elements(dims: &[usize]) -> Result<usize, String> {
    let n = dims.iter().try_fold(1usize, |n, &dim| n.checked_mul(dim));
    // The product may overflow before it reaches a dimension of 0.
    let n = if dims.contains(&0) { Some(0) } else { n };
    n.ok_or_else(|| format!("its shape {dims:?} is too large"))
}

/// Decodes the elements in `bytes`, whose checksum must be `crc`.
pub(super) fn decode(ty: Type, dims: &[usize], bytes: &Bytes, crc: u32) -> Result<BundleData, String> {
    let n = n_elements(dims)?;
    match ty {
        Type::Dense(dtype) => {
            if n.checked_mul(dtype.size()) != Some(bytes.len()) {
                return Err(format!("{n} elements of {dtype} in {} bytes", bytes.len()));
            }
            expect_crc(masked(crc32c::crc32c(bytes)), crc)?;
            Ok(BundleData::Dense(match dtype {
                DType::I1 if bytes.iter().any(|&byte| byte > 1) => {
                    bytes.iter().map(|&byte| u8::from(byte != 0)).collect()
                }
                _ => bytes.clone(),
            }))
        }
        Type::String => strings(n, bytes, crc).map(BundleData::Strings),
        _ => Err(format!("tensors of type {ty} are not supported")),
    }
}

/// Reads the `len` bytes of numbers at `at` of a shard into `to`, which they must fill. The checksum of each
/// part is computed while it is in a cache.
pub(super) fn decode_into(
    dtype: DType,
    dims: &[usize],
    (shard, at, len): (&BundleFile, usize, usize),
    crc: u32,
    to: &mut [u8],
) -> Result<(), String> {
    let n = n_elements(dims)?;
    if n.checked_mul(dtype.size()) != Some(len) {
        return Err(format!("{n} elements of {dtype} in {len} bytes"));
    }
    if to.len() != len {
        return Err(format!("it has {len} bytes, not {}", to.len()));
    }
    let mut found = 0;
    shard.read_into(at, to, &mut |part| found = crc32c::crc32c_append(found, part))?;
    expect_crc(masked(found), crc)?;
    if dtype == DType::I1 {
        to.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
    }
    Ok(())
}

fn expect_crc(found: u32, want: u32) -> Result<(), String> {
    if found == want {
        return Ok(());
    }
    Err(format!("its checksum is {found:#010x}, and {want:#010x} in the index: the file is damaged"))
}

fn strings(n: usize, bytes: &Bytes, crc: u32) -> Result<Vec<Bytes>, String> {
    let truncated = || format!("{n} strings are more than its {} bytes", bytes.len());
    if n > bytes.len() {
        return Err(truncated());
    }
    let (mut rest, mut found) = (&bytes[..], 0);
    let mut lengths = Vec::with_capacity(n);
    for _ in 0..n {
        let length = varint(&mut rest).ok_or_else(truncated)?;
        found = match u32::try_from(length) {
            Ok(length) => crc32c::crc32c_append(found, &length.to_le_bytes()),
            Err(_) => crc32c::crc32c_append(found, &length.to_le_bytes()),
        };
        lengths.push(usize::try_from(length).map_err(|_| truncated())?);
    }
    let stored = fixed32(&mut rest).ok_or_else(truncated)?;
    expect_crc(masked(found), stored)?;
    found = crc32c::crc32c_append(found, &stored.to_le_bytes());
    expect_crc(masked(crc32c::crc32c_append(found, rest)), crc)?;
    let texts = lengths.into_iter().map(|n| take(&mut rest, n).map(|text| bytes.slice_ref(text)));
    let texts: Vec<Bytes> = texts.collect::<Option<_>>().ok_or_else(truncated)?;
    if rest.is_empty() { Ok(texts) } else { Err(format!("{} bytes behind its strings", rest.len())) }
}

/// Writes elements. Returns their size in bytes and their checksum; `None` if they do not fit the type and
/// the shape.
pub(super) fn encode(
    ty: Type,
    dims: &[usize],
    elements: Elements<'_>,
    to: &mut dyn Write,
) -> io::Result<Option<(u64, u32)>> {
    let Ok(n) = n_elements(dims) else { return Ok(None) };
    match (ty, elements) {
        (Type::Dense(dtype), Elements::Dense(bytes)) if n.checked_mul(dtype.size()) == Some(bytes.len()) => {
            let mut crc = 0;
            for part in bytes.chunks(AT_ONCE) {
                crc = crc32c::crc32c_append(crc, part);
                to.write_all(part)?;
            }
            Ok(Some((bytes.len() as u64, masked(crc))))
        }
        (Type::String, Elements::Strings(strings)) if strings.len() == n => {
            let mut head = Vec::new();
            let mut crc = lengths(strings, &mut head);
            to.write_all(&head)?;
            let mut len = head.len() as u64;
            for string in strings {
                to.write_all(string)?;
                crc = crc32c::crc32c_append(crc, string);
                len += string.len() as u64;
            }
            Ok(Some((len, masked(crc))))
        }
        _ => Ok(None),
    }
}
