//! Merging of bundles: shards are numbered consecutively, and entries share one index.
//!
//! ```text
//! part 0: shards 0, 1 ─┐
//! part 1: shard 0      ┴▶ shards 0, 1, 2 and one index; the slices of a tensor in both are one list
//! ```
//!
//! Not here: the files, which the caller renames.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry as Place;

use super::slice::{Slice, expect_disjoint};
use super::write::{described, index, placed};
use super::{Bundle, BundleError, Entry, expect_shards};
use crate::wire::push_bytes;

/// The index of all tensors of these bundles, whose shards are numbered one after the other.
///
/// # Errors
/// If two bundles have the same tensor, unless they have disjoint slices of it, or they have too many shards.
pub fn merge(bundles: &[Bundle]) -> Result<Vec<u8>, BundleError> {
    let mut all: BTreeMap<&[u8], Entry> = BTreeMap::new();
    let mut n_shards = 0;
    for bundle in bundles {
        for (key, entry) in &bundle.entries {
            let refuse = |problem: String| bundle.refused(&super::shown(key), problem);
            let entry = Entry { shard: entry.shard + n_shards, ..entry.clone() };
            match all.entry(key) {
                Place::Vacant(place) => {
                    place.insert(entry);
                }
                Place::Occupied(mut known) => {
                    let known = known.get_mut();
                    if known.slices.is_empty() || entry.slices.is_empty() {
                        return Err(refuse("another bundle has it too".to_owned()));
                    }
                    if (known.ty, &known.dims) != (entry.ty, &entry.dims) {
                        return Err(refuse("its slices are of different tensors".to_owned()));
                    }
                    known.slices.extend(entry.slices);
                }
            }
        }
        n_shards += bundle.shards.len();
    }
    expect_shards(n_shards).map_err(|problem| BundleError { file: None, tensor: None, problem })?;
    for (key, entry) in &all {
        let slices: Vec<&Slice> = entry.slices.iter().map(|stored| &stored.slice).collect();
        expect_disjoint(&slices).map_err(|problem| BundleError {
            file: None,
            tensor: Some(super::shown(key)),
            problem,
        })?;
    }
    let entries = all.into_iter().map(|(key, entry)| (key.to_vec(), encoded(&entry)));
    Ok(index(entries.collect(), n_shards))
}

fn encoded(entry: &Entry) -> Vec<u8> {
    let Entry { ty, dims, shard, at, len, crc, slices } = entry;
    let mut bytes = described(*ty, dims);
    if slices.is_empty() {
        return placed(bytes, (*shard, *at as u64, *len as u64), *crc);
    }
    for slice in slices {
        push_bytes(&mut bytes, 7, &slice.encode());
    }
    bytes
}
