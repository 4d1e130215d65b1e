//! Deduplicating pools that number items in the order of first use.
//!
//! Every op of a program looks up several small keys, so the hash is fast, and the same in every process. A
//! program crafted for collisions only slows down its own translation.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

use crate::layout::StringId;

/// A map with small keys.
pub(super) type FastMap<K, V> = HashMap<K, V, BuildHasherDefault<FoldHasher>>;

/// Multiplies and folds eight bytes at a time.
#[derive(Default)]
pub(super) struct FoldHasher(u64);

impl FoldHasher {
    fn add(&mut self, word: u64) {
        let product = u128::from(self.0.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = (product as u64) ^ ((product >> 64) as u64);
    }
}

impl Hasher for FoldHasher {
    fn write(&mut self, bytes: &[u8]) {
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            self.add(word.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)));
        }
        // The length distinguishes remainders of zeros.
        let rest = words.remainder().iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
        self.add(rest | (bytes.len() as u64) << 56);
    }

    fn write_u8(&mut self, number: u8) {
        self.add(number.into());
    }

    fn write_u32(&mut self, number: u32) {
        self.add(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.add(number);
    }

    fn write_usize(&mut self, number: usize) {
        self.add(number as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Items of one kind, by id and by value.
pub(super) struct IdPool<T> {
    items: Vec<T>,
    ids: FastMap<T, u32>,
}

impl<T> Default for IdPool<T> {
    fn default() -> IdPool<T> {
        IdPool { items: Vec::new(), ids: FastMap::default() }
    }
}

impl<T: Clone + Eq + Hash> IdPool<T> {
    /// The id of an item. Ids beyond 2^32 are refused when the table is assembled.
    pub(super) fn id(&mut self, item: T) -> u32 {
        if let Some(&id) = self.ids.get(&item) {
            return id;
        }
        let id = self.items.len() as u32;
        self.items.push(item.clone());
        self.ids.insert(item, id);
        id
    }

    /// The items by ascending id.
    pub(super) fn items(&self) -> &[T] {
        &self.items
    }
}

/// Strings with provisional numbers.
#[derive(Default)]
pub(super) struct StringPool {
    ids: FastMap<Box<str>, StringId>,
}

/// Strings, sorted.
pub(super) struct SortedStrings {
    /// The start of each string in `bytes`, and the end of the last one.
    pub(super) index: Vec<u64>,
    pub(super) bytes: Vec<u8>,
    /// Final id by provisional id.
    pub(super) final_ids: Vec<u32>,
}

impl StringPool {
    /// The provisional id of a string.
    pub(super) fn id(&mut self, text: &str) -> StringId {
        if let Some(&id) = self.ids.get(text) {
            return id;
        }
        let id = StringId(self.ids.len() as u32);
        self.ids.insert(text.into(), id);
        id
    }

    /// Sorts the strings and assigns their final ids.
    pub(super) fn sort(self) -> SortedStrings {
        let mut strings: Vec<(Box<str>, StringId)> = self.ids.into_iter().collect();
        // Strings are unique, so the result does not depend on the map's order.
        strings.sort_unstable();
        let mut sorted =
            SortedStrings { index: vec![0], bytes: Vec::new(), final_ids: vec![0; strings.len()] };
        for (i, (text, id)) in strings.into_iter().enumerate() {
            sorted.bytes.extend_from_slice(text.as_bytes());
            sorted.index.push(sorted.bytes.len() as u64);
            sorted.final_ids[id.index()] = i as u32;
        }
        sorted
    }
}
