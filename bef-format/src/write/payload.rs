//! The tensors of a file.
//!
//! A large tensor is kept as a clone of the caller's handle; small ones are copied into one buffer. Identical
//! tensors are stored once.

use std::collections::HashMap;

use super::assemble::Part;
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
        let offset = self.len.next_multiple_of(PAYLOAD_ALIGN);
        self.rest.resize(self.rest.len() + (offset - self.len), 0);
        let is_shared = bytes.len() >= MIN_SHARED;
        if is_shared && !self.rest.is_empty() {
            self.parts.push(Box::new(std::mem::take(&mut self.rest)));
        }
        let place = Place { offset, len: bytes.len(), part: self.parts.len(), start: self.rest.len() };
        self.len = offset + bytes.len();
        match is_shared {
            true => self.parts.push(Box::new(data.clone())),
            false => self.rest.extend_from_slice(bytes),
        }
        self.places.entry(hash).or_default().push(place);
        offset
    }

    fn bytes(&self, place: &Place) -> Option<&[u8]> {
        let part = self.parts.get(place.part).map_or(&self.rest[..], |part| (**part).as_ref());
        part.get(place.start..place.start + place.len)
    }

    /// The section, in parts.
    pub(super) fn into_parts(mut self) -> Vec<Part> {
        self.parts.push(Box::new(self.rest));
        self.parts
    }
}
