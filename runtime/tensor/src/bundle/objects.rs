//! Object-based checkpoints. Variables are stored under paths through the object graph. A separate tensor
//! holds the graph, which contains the names of the variables.
//!
//! ```text
//! TrackableObjectGraph { nodes: [
//!     { attributes: [{ full_name: "dense/kernel", checkpoint_key: "model/w/..." }] }] }
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::{Bundle, BundleData};
use crate::wire::{Message, WireValue};

/// The key of the tensor that holds the object graph.
pub const OBJECT_GRAPH: &str = "_CHECKPOINTABLE_OBJECT_GRAPH";

/// The end of the key of a variable, after its path.
const VALUE: &str = "/.ATTRIBUTES/VARIABLE_VALUE";

/// Maps the names of variables to their keys. A variable without a name of its own has that of its path:
/// `model/w`. `None` if the checkpoint is not object-based.
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
    let mut keys = BTreeMap::<String, BTreeSet<String>>::new();
    for (name, key) in all {
        if bundle.entry(&key).is_some() {
            keys.entry(name).or_default().insert(key);
        }
    }
    let (mut names, mut others) = (BTreeMap::new(), Vec::new());
    for (name, keys) in keys {
        match keys.len() {
            1 if !name.is_empty() => names.extend(keys.into_iter().map(|key| (name.clone(), key))),
            _ => others.extend(keys),
        }
    }
    for key in others {
        if let Some(path) = key.strip_suffix(VALUE) {
            names.entry(path.to_owned()).or_insert(key);
        }
    }
    Ok(Some(names))
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
