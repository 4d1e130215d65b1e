//! Object-based checkpoints. Variables are stored under paths through the object graph. A separate tensor
//! holds the graph, which contains the names of the variables.
//!
//! ```text
//! TrackableObjectGraph { nodes: [
//!     { attributes: [{ full_name: "dense/kernel", checkpoint_key: "model/w/..." }] }] }
//! ```

use std::collections::BTreeMap;

use super::{Bundle, BundleData};
use crate::wire::{Message, WireValue};

/// The key of the tensor that holds the object graph.
pub const OBJECT_GRAPH: &str = "_CHECKPOINTABLE_OBJECT_GRAPH";

/// Maps the names of variables to their keys. A name of several variables is left out, since it is ambiguous.
/// `None` if the checkpoint is not object-based.
///
/// # Errors
/// If the graph cannot be read.
pub fn names(bundle: &Bundle) -> Result<Option<BTreeMap<String, String>>, String> {
    if bundle.entry(OBJECT_GRAPH).is_none() {
        return Ok(None);
    }
    let graph = bundle.read(OBJECT_GRAPH, "").map_err(|error| error.to_string())?;
    let BundleData::Strings(texts) = &graph.data else {
        return Err(format!("tensor '{OBJECT_GRAPH}': expected a string"));
    };
    let [graph] = &texts[..] else {
        return Err(format!("tensor '{OBJECT_GRAPH}': expected one string, got {}", texts.len()));
    };
    let all = decode(graph).map_err(|why| format!("tensor '{OBJECT_GRAPH}': {why}"))?;
    let mut names = BTreeMap::<String, Option<String>>::new();
    for (name, key) in all {
        if name.is_empty() || bundle.entry(&key).is_none() {
            continue;
        }
        names.entry(name).and_modify(|known| *known = None).or_insert(Some(key));
    }
    Ok(Some(names.into_iter().filter_map(|(name, key)| Some((name, key?))).collect()))
}

/// The (name, key) pairs of an object graph.
fn decode(graph: &[u8]) -> Result<Vec<(String, String)>, String> {
    let mut all = Vec::new();
    for node in Message::new(graph) {
        let (1, WireValue::Bytes(node)) = node? else { continue };
        for attribute in Message::new(node) {
            let (2, WireValue::Bytes(attribute)) = attribute? else { continue };
            let (mut name, mut key) = (String::new(), String::new());
            for field in Message::new(attribute) {
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                match field? {
                    (2, WireValue::Bytes(bytes)) => name = text(bytes),
                    (3, WireValue::Bytes(bytes)) => key = text(bytes),
                    _ => {}
                }
            }
            all.push((name, key));
        }
    }
    Ok(all)
}
