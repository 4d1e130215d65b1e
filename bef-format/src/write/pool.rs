//! Pools that hold each thing once and number things in the order in which they first came.

use std::collections::HashMap;
use std::hash::Hash;

use crate::layout::StringId;

/// Things of one kind, by id and by value.
pub(super) struct IdPool<T> {
    items: Vec<T>,
    ids: HashMap<T, u32>,
}

impl<T> Default for IdPool<T> {
    fn default() -> IdPool<T> {
        IdPool { items: Vec::new(), ids: HashMap::new() }
    }
}

impl<T: Clone + Eq + Hash> IdPool<T> {
    /// The id of a thing. Ids beyond 2^32 are refused when the table is assembled.
    pub(super) fn id(&mut self, item: T) -> u32 {
        if let Some(&id) = self.ids.get(&item) {
            return id;
        }
        let id = self.items.len() as u32;
        self.items.push(item.clone());
        self.ids.insert(item, id);
        id
    }

    /// The things by ascending id.
    pub(super) fn items(&self) -> &[T] {
        &self.items
    }
}

/// Strings, numbered provisionally.
#[derive(Default)]
pub(super) struct StringPool {
    ids: HashMap<Box<str>, StringId>,
}

/// Strings, sorted.
pub(super) struct SortedStrings {
    /// Where each string starts in `bytes`, and where the last one ends.
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

    /// Sorts the strings and numbers them finally.
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
