//! Sorted string tables, as LevelDB and TensorFlow write them.
//!
//! ```text
//! data blocks │ meta block │ index block: last key ──▶ (offset, size) │ footer: handles, magic
//! block: entries │ restarts: u32 * n, n │ 0 or 1 (snappy) │ masked crc32c
//! entry: lengths of shared key, other key bytes, value: varints │ other key bytes │ value
//! ```
//!
//! A table holds descriptions, not data, so it is read as a whole. Keys must ascend, so no block is read
//! twice. The bytes of all keys, and of all uncompressed blocks, are limited to a multiple of the file's size
//! plus a constant.

use std::collections::BTreeMap;

use crate::wire::{fixed32, push_varint, take, varint};

/// The size of the footer: two handles of up to 20 bytes and the magic number.
const FOOTER: usize = 48;

/// The magic number at the end of a table.
const MAGIC: u64 = 0xdb47_7524_8b80_fb57;

/// The bytes behind a block: the kind of compression and the checksum.
const TRAILER: usize = 5;

/// Limit of the bytes of a table's keys, and of its uncompressed blocks, as a multiple of the file's size.
const MAX_RATIO: usize = 32;

/// The number of bytes beyond that limit that any file may have.
const MAX_BASE: usize = 1 << 20;

/// The keys and values of a table.
pub(super) fn read(file: &[u8]) -> Result<BTreeMap<Vec<u8>, Vec<u8>>, String> {
    let footer = file.len().checked_sub(FOOTER).ok_or("it is too short for an index")?;
    let (mut handles, magic) = file[footer..].split_at(FOOTER - 8);
    if magic != MAGIC.to_le_bytes() {
        return Err("it does not end with the magic number of an index: it is truncated, or none".to_owned());
    }
    let mut handle = || Handle::read(&mut handles);
    let (_, index) = (handle()?, handle()?);
    let mut room = MAX_BASE.saturating_add(file.len().saturating_mul(MAX_RATIO));
    let mut blocks = Vec::new();
    entries(&block(file, footer, index, &mut room)?, &mut room.clone(), &mut |_, mut value| {
        blocks.push(Handle::read(&mut value)?);
        Ok(())
    })?;
    let mut all = BTreeMap::new();
    let mut keys = room;
    for handle in blocks {
        let block = block(file, footer, handle, &mut room)?;
        entries(&block, &mut keys, &mut |key, value| {
            if all.last_key_value().is_some_and(|(last, _): (&Vec<u8>, _)| key <= last.as_slice()) {
                return Err("its keys are not in order".to_owned());
            }
            all.insert(key.to_vec(), value.to_vec());
            Ok(())
        })?;
    }
    Ok(all)
}

/// The place of a block.
#[derive(Clone, Copy)]
struct Handle {
    at: usize,
    len: usize,
}

impl Handle {
    fn read(bytes: &mut &[u8]) -> Result<Handle, String> {
        let mut size = || varint(bytes).and_then(|size| usize::try_from(size).ok());
        let handle = size().and_then(|at| Some(Handle { at, len: size()? }));
        handle.ok_or_else(|| "the place of a block is no valid number".to_owned())
    }
}

/// The contents of a block, which lies before `end`. Its uncompressed size is taken from `room`.
fn block(file: &[u8], end: usize, handle: Handle, room: &mut usize) -> Result<Vec<u8>, String> {
    let Handle { at, len } = handle;
    let inside = at <= end && end - at >= TRAILER && len <= end - at - TRAILER;
    if !inside {
        return Err(format!("a block of {len} bytes at {at} is not inside of the file"));
    }
    let (stored, trailer) = file[at..at + len + TRAILER].split_at(len);
    let mut rest = &trailer[1..];
    if fixed32(&mut rest) != Some(masked(crc32c::crc32c(&file[at..=at + len]))) {
        return Err(format!("the checksum of the block at {at} is wrong"));
    }
    let too_large = || format!("the block at {at} is too large when it is uncompressed");
    let size = match trailer[0] {
        0 => len,
        1 => snap::raw::decompress_len(stored).map_err(|error| format!("the block at {at}: {error}"))?,
        kind => return Err(format!("the block at {at} is compressed in an unknown way ({kind})")),
    };
    *room = room.checked_sub(size).ok_or_else(too_large)?;
    if trailer[0] == 0 {
        return Ok(stored.to_vec());
    }
    let block = snap::raw::Decoder::new().decompress_vec(stored);
    block.map_err(|error| format!("the block at {at}: {error}"))
}

/// The callback for a key and its value.
type OnEntry<'f> = dyn FnMut(&[u8], &[u8]) -> Result<(), String> + 'f;

/// Calls `f` with the keys and values of a block. The lengths of the keys are taken from `room`.
fn entries(block: &[u8], room: &mut usize, f: &mut OnEntry<'_>) -> Result<(), String> {
    let malformed = || "a block is malformed".to_owned();
    let (body, mut count) = block.split_at(block.len().checked_sub(4).ok_or_else(malformed)?);
    let n_restarts = fixed32(&mut count).unwrap_or(0) as usize;
    let restarts = n_restarts.checked_mul(4).and_then(|n| body.len().checked_sub(n)).ok_or_else(malformed)?;
    let (mut rest, mut key) = (&body[..restarts], Vec::new());
    while !rest.is_empty() {
        let mut size = || varint(&mut rest).and_then(|size| usize::try_from(size).ok());
        let sizes = size().and_then(|shared| Some((shared, size()?, size()?)));
        let (shared, n_key, n_value) = sizes.ok_or_else(malformed)?;
        if shared > key.len() {
            return Err(malformed());
        }
        key.truncate(shared);
        key.extend_from_slice(take(&mut rest, n_key).ok_or_else(malformed)?);
        let value = take(&mut rest, n_value).ok_or_else(malformed)?;
        *room = room.checked_sub(key.len()).ok_or("its keys are too long")?;
        f(&key, value)?;
    }
    Ok(())
}

/// The stored form of a checksum: a checksum of bytes that contain unmasked checksums is weak.
pub(super) fn masked(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(0xa282_ead8)
}

/// The size at which a block ends: TensorFlow's.
const BLOCK: usize = 1 << 18;

/// The number of entries per restart point, but in the block of the index, where it is one. The entry at a
/// restart point shares no bytes with the key before.
const RESTART_EVERY: usize = 16;

/// A table of these keys and values: the bytes that TensorFlow writes.
pub(super) fn write(all: &BTreeMap<Vec<u8>, Vec<u8>>) -> Vec<u8> {
    let (mut file, mut index, mut block) = (Vec::new(), BlockWriter::new(1), BlockWriter::new(RESTART_EVERY));
    let mut keys = all.keys().skip(1);
    for (key, value) in all {
        block.add(key, value);
        let next = keys.next();
        if block.size() >= BLOCK || next.is_none() {
            let full = std::mem::replace(&mut block, BlockWriter::new(RESTART_EVERY));
            index.add(&bound(key, next), &full.close(&mut file));
        }
    }
    let meta = BlockWriter::new(RESTART_EVERY).close(&mut file);
    let index = index.close(&mut file);
    let mut footer = [meta, index].concat();
    footer.resize(FOOTER - 8, 0);
    file.extend(footer);
    file.extend(MAGIC.to_le_bytes());
    file
}

/// A short key that is not less than the last key of a block and less than the first of the next block.
fn bound(last: &[u8], next: Option<&Vec<u8>>) -> Vec<u8> {
    let at = match next {
        Some(next) => last.iter().zip(next).position(|(a, b)| a != b),
        None => last.iter().position(|&byte| byte < 0xff),
    };
    let mut bound = last.to_vec();
    if let Some(at) = at
        && next.is_none_or(|next| last[at] + 1 < next[at])
    {
        bound.truncate(at + 1);
        bound[at] += 1;
    }
    bound
}

/// A block under construction.
struct BlockWriter {
    restart_every: usize,
    bytes: Vec<u8>,
    restarts: Vec<u32>,
    n: usize,
    last: Vec<u8>,
}

impl BlockWriter {
    fn new(restart_every: usize) -> BlockWriter {
        BlockWriter { restart_every, bytes: Vec::new(), restarts: Vec::new(), n: 0, last: Vec::new() }
    }

    fn add(&mut self, key: &[u8], value: &[u8]) {
        let mut shared = key.iter().zip(&self.last).take_while(|(a, b)| a == b).count();
        if self.n.is_multiple_of(self.restart_every) {
            // Fits: an entry is only added to a block of fewer than `BLOCK` bytes.
            self.restarts.push(self.bytes.len() as u32);
            shared = 0;
        }
        for n in [shared, key.len() - shared, value.len()] {
            push_varint(&mut self.bytes, n as u64);
        }
        self.bytes.extend_from_slice(&key[shared..]);
        self.bytes.extend_from_slice(value);
        self.last = key.to_vec();
        self.n += 1;
    }

    /// The size of the block so far.
    fn size(&self) -> usize {
        self.bytes.len() + 4 * (self.restarts.len() + 1)
    }

    /// Writes the block; returns its handle.
    fn close(mut self, file: &mut Vec<u8>) -> Vec<u8> {
        if self.restarts.is_empty() {
            self.restarts.push(0);
        }
        for restart in &self.restarts {
            self.bytes.extend(restart.to_le_bytes());
        }
        self.bytes.extend((self.restarts.len() as u32).to_le_bytes());
        let mut handle = Vec::new();
        push_varint(&mut handle, file.len() as u64);
        push_varint(&mut handle, self.bytes.len() as u64);
        // Not compressed.
        self.bytes.push(0);
        let crc = masked(crc32c::crc32c(&self.bytes));
        file.extend(self.bytes);
        file.extend(crc.to_le_bytes());
        handle
    }
}
