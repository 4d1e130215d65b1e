//! The tensors of a file.
//!
//! A large tensor is kept as a clone of the caller's handle; small ones are copied into one buffer. Identical
//! tensors are stored once, except those that are made in pieces while the file is written.

use std::collections::HashMap;
use std::sync::Arc;

use super::parts::{Part, Pieces};
use crate::layout::PAYLOAD_ALIGN;

/// Tensors of fewer bytes are copied: many short parts are slow to write.
const MIN_SHARED: usize = 64 << 10;

/// A builder for the payload section.
#[derive(Default)]
pub(super) struct Payload {
    parts: Vec<Part>,
    /// The bytes after the parts: small tensors, and zeros up to the next aligned offset.
    rest: Vec<u8>,
    /// The total length.
    len: usize,
    /// Tensors by hash.
    places: HashMap<u128, Vec<Place>>,
}

/// The position of a tensor.
struct Place {
    /// In the section.
    offset: usize,
    len: usize,
    /// The part, or `rest` if the index is past the last part.
    part: usize,
    /// The offset in the part.
    start: usize,
}

impl Payload {
    /// The offset of these bytes in the section.
    pub(super) fn offset<D: AsRef<[u8]> + Clone + 'static>(&mut self, data: &D) -> usize {
        let bytes = data.as_ref();
        if bytes.is_empty() {
            return 0;
        }
        let hash = xxhash_rust::xxh3::xxh3_128(bytes);
        let places = self.places.get(&hash).map_or(&[][..], Vec::as_slice);
        if let Some(place) = places.iter().find(|place| self.bytes(place) == Some(bytes)) {
            return place.offset;
        }
        let is_shared = bytes.len() >= MIN_SHARED;
        let offset = self.next(bytes.len(), is_shared);
        let place = Place { offset, len: bytes.len(), part: self.parts.len(), start: self.rest.len() };
        match is_shared {
            true => self.parts.push(Part::Bytes(Box::new(data.clone()))),
            false => self.rest.extend_from_slice(bytes),
        }
        self.places.entry(hash).or_default().push(place);
        offset
    }

    /// The offset of bytes that are made later.
    pub(super) fn offset_of_pieces(&mut self, pieces: &Arc<dyn Pieces>) -> usize {
        let offset = self.next(pieces.n_bytes(), true);
        self.parts.push(Part::Pieces(pieces.clone()));
        offset
    }

    /// The offset of the next tensor, which has `len` bytes and perhaps a part of its own.
    fn next(&mut self, len: usize, has_own_part: bool) -> usize {
        let offset = self.len.next_multiple_of(PAYLOAD_ALIGN);
        self.rest.resize(self.rest.len() + (offset - self.len), 0);
        if has_own_part && !self.rest.is_empty() {
            self.parts.push(Part::Bytes(Box::new(std::mem::take(&mut self.rest))));
        }
        self.len = offset + len;
        offset
    }

    fn bytes(&self, place: &Place) -> Option<&[u8]> {
        let part = match self.parts.get(place.part) {
            Some(Part::Bytes(bytes)) => (**bytes).as_ref(),
            Some(Part::Pieces(_)) => return None,
            None => &self.rest[..],
        };
        part.get(place.start..place.start + place.len)
    }

    /// The section, in parts.
    pub(super) fn into_parts(mut self) -> Vec<Part> {
        self.parts.push(Part::Bytes(Box::new(self.rest)));
        self.parts
    }
}
