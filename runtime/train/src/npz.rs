//! Members of `.npz` files: ZIP archives of `.npy` files.
//!
//! ```text
//! members │ directory: name, size, place of each │ (ZIP64: its end, where that is) │ end of the directory
//! ```
//!
//! Members are stored (`numpy.savez`), or deflated (`numpy.savez_compressed`). The file is untrusted: places
//! and sizes are compared with its length, and a member inflates to the size that the directory says, or is
//! refused.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// The place of a member's bytes: first and length.
pub(crate) type Range = (u64, u64);

/// The bytes of a member.
pub(crate) enum Member {
    /// In the file as they are.
    Stored(Range),
    /// Inflated.
    Inflated(Vec<u8>),
}

/// How a member's bytes are in the file.
const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// Maximum number of bytes of a directory.
const MAX_DIRECTORY: u64 = 1 << 26;

/// Finds a member.
///
/// # Errors
/// If the file is no archive, is malformed, or has no such member; the error lists the members.
pub(crate) fn member(file: &File, key: &str) -> Result<Member, String> {
    let len = file.metadata().map_err(|error| error.to_string())?.len();
    let read = |at: u64, n: u64| {
        if at > len || n > len - at {
            return Err("it is truncated, or no .npz file".to_owned());
        }
        let mut bytes = vec![0; n as usize];
        file.read_exact_at(&mut bytes, at).map_err(|error| error.to_string())?;
        Ok(bytes)
    };
    // The end of the directory has a comment of any length behind it.
    let tail = len.min(22 + 0xffff);
    let bytes = read(len - tail, tail)?;
    let end = bytes.windows(4).rposition(|window| window == b"PK\x05\x06");
    let end = end.filter(|end| bytes.len() - end >= 22).ok_or("it is truncated, or no .npz file")?;
    let (mut size, mut at) = (u64::from(u32_at(&bytes, end + 12)), u64::from(u32_at(&bytes, end + 16)));
    if at == 0xffff_ffff || size == 0xffff_ffff {
        let end = (len - tail + end as u64).checked_sub(20).ok_or("its directory is malformed")?;
        let locator = read(end, 20)?;
        let directory = read(u64_at(&locator, 8), 56)?;
        if !locator.starts_with(b"PK\x06\x07") || !directory.starts_with(b"PK\x06\x06") {
            return Err("its directory is malformed".to_owned());
        }
        (size, at) = (u64_at(&directory, 40), u64_at(&directory, 48));
    }
    if size > MAX_DIRECTORY {
        return Err(format!("its directory has {size} bytes"));
    }
    let directory = read(at, size)?;
    let (mut rest, mut names) = (&directory[..], Vec::new());
    while rest.len() >= 46 && rest.starts_with(b"PK\x01\x02") {
        let [n_name, n_extra, n_comment] = [28, 30, 32].map(|at| usize::from(u16_at(rest, at)));
        let header = &rest[..46];
        let all = 46 + n_name + n_extra + n_comment;
        if all > rest.len() {
            return Err("its directory is malformed".to_owned());
        }
        let name = String::from_utf8_lossy(&rest[46..46 + n_name]).into_owned();
        let extra = &rest[46 + n_name..46 + n_name + n_extra];
        rest = &rest[all..];
        if name.strip_suffix(".npy").unwrap_or(&name) != key {
            names.push(name.strip_suffix(".npy").unwrap_or(&name).to_owned());
            continue;
        }
        let method = u16_at(header, 10);
        let mut wide = wide(extra);
        let mut number = |at: usize| match u32_at(header, at) {
            0xffff_ffff => wide.next().ok_or("its directory is malformed"),
            small => Ok(u64::from(small)),
        };
        let (size, stored, at) = (number(24)?, number(20)?, number(42)?);
        let local = read(at, 30)?;
        if !local.starts_with(b"PK\x03\x04") {
            return Err(format!("'{key}' is not where its directory says"));
        }
        let start = at + 30 + u64::from(u16_at(&local, 26)) + u64::from(u16_at(&local, 28));
        let there = if method == STORED { size } else { stored };
        if start > len || there > len - start {
            return Err(format!("'{key}' is truncated"));
        }
        return match method {
            STORED => Ok(Member::Stored((start, size))),
            DEFLATED => inflated(&read(start, stored)?, size)
                .map(Member::Inflated)
                .ok_or_else(|| format!("'{key}' is damaged: it does not inflate to {size} bytes")),
            _ => Err(format!("'{key}' is compressed by method {method}, which is not supported")),
        };
    }
    Err(format!("there is no array '{key}'; there are {}", names.join(", ")))
}

/// The bytes of a deflated member, if they are as many as the directory says.
fn inflated(bytes: &[u8], size: u64) -> Option<Vec<u8>> {
    let size = usize::try_from(size).ok()?;
    let inflated = miniz_oxide::inflate::decompress_to_vec_with_limit(bytes, size).ok()?;
    (inflated.len() == size).then_some(inflated)
}

/// The numbers of 8 bytes of a member's ZIP64 field.
fn wide(mut extra: &[u8]) -> impl Iterator<Item = u64> {
    let mut numbers = Vec::new();
    while extra.len() >= 4 {
        let n = usize::from(u16_at(extra, 2)).min(extra.len() - 4);
        if u16_at(extra, 0) == 1 {
            numbers = extra[4..4 + n].chunks_exact(8).map(|bytes| u64_at(bytes, 0)).collect();
        }
        extra = &extra[4 + n..];
    }
    numbers.into_iter()
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u64_of(bytes, at, 2) as u16
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u64_of(bytes, at, 4) as u32
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64_of(bytes, at, 8)
}

/// A little-endian number of `n` bytes; bytes that are missing are 0.
fn u64_of(bytes: &[u8], at: usize, n: usize) -> u64 {
    let digits = bytes.iter().skip(at).take(n).rev();
    digits.fold(0, |value, &digit| value << 8 | u64::from(digit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn deflated_entries_equal_stored_ones() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/fuzz/npz");
        let bytes = |name: &str, key: &str| {
            let file = File::open(folder.join(name)).unwrap();
            match member(&file, key).unwrap() {
                Member::Inflated(bytes) => bytes,
                Member::Stored((at, n)) => {
                    let mut bytes = vec![0; n as usize];
                    file.read_exact_at(&mut bytes, at).unwrap();
                    bytes
                }
            }
        };
        for key in ["x", "y"] {
            assert_eq!(bytes("deflated.npz", key), bytes("stored.npz", key));
        }
    }
}
