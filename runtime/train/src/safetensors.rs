//! The format safetensors: the length of a header, the header as JSON, the elements.
//!
//! ```text
//! u64 │ {"w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "__metadata__": {..}} │ bytes
//! ```
//!
//! The header is untrusted: its length is limited, and each tensor must lie in the file and have the size of
//! its type and shape.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::Range;

use befrost::bundle::BundleFile;
use befrost::{DType, HostTensor};
use serde_json::{Map, Value as Json, json};

use crate::stored::Snapshot;

/// The types and their names in files.
const TYPES: [(DType, &str); 13] = [
    (DType::I1, "BOOL"),
    (DType::UI8, "U8"),
    (DType::I8, "I8"),
    (DType::UI16, "U16"),
    (DType::I16, "I16"),
    (DType::F16, "F16"),
    (DType::BF16, "BF16"),
    (DType::UI32, "U32"),
    (DType::I32, "I32"),
    (DType::F32, "F32"),
    (DType::UI64, "U64"),
    (DType::I64, "I64"),
    (DType::F64, "F64"),
];

/// Maximum number of bytes of a header.
const MAX_HEADER: usize = 100 << 20;

/// Number of bytes of the header's length.
const LENGTH: usize = 8;

/// The key of the texts in a header.
const METADATA: &str = "__metadata__";

/// The tensors of a file.
#[derive(Debug)]
pub(crate) struct SafeTensors {
    /// Type, shape, and place in the file.
    pub(crate) tensors: BTreeMap<String, (DType, Vec<usize>, Range<usize>)>,
    pub(crate) notes: BTreeMap<String, String>,
    source: BundleFile,
}

impl SafeTensors {
    /// Reads a tensor into memory of its size.
    pub(crate) fn read_into(&self, name: &str, to: &mut [u8]) -> Result<(), String> {
        let (_, _, place) = self.tensors.get(name).ok_or("there is no such tensor")?;
        self.source.read_into(place.start, to, &mut |_| {})
    }
}

/// Reads a file.
pub(crate) fn read(source: BundleFile) -> Result<SafeTensors, String> {
    let mut len = [0; LENGTH];
    source.read_into(0, &mut len, &mut |_| {}).map_err(|_| "it is truncated")?;
    let rest = source.len() - LENGTH;
    let len = usize::try_from(u64::from_le_bytes(len)).ok().filter(|&len| len <= MAX_HEADER);
    let len = len.filter(|&len| len <= rest).ok_or("its header is longer than the file: it is truncated")?;
    let (begin, n_bytes) = (LENGTH + len, rest - len);
    let header: Json = serde_json::from_slice(&source.read(LENGTH..begin)?)
        .map_err(|error| format!("its header is malformed: {error}"))?;
    let header = header.as_object().ok_or("its header is no object")?;
    let (mut tensors, mut notes) = (BTreeMap::new(), BTreeMap::new());
    let mut places = Vec::new();
    for (name, entry) in header {
        if name == METADATA {
            let texts = entry.as_object().into_iter().flatten();
            notes.extend(texts.filter_map(|(key, text)| Some((key.clone(), text.as_str()?.to_owned()))));
            continue;
        }
        let wrong = |why: &str| format!("tensor '{name}': {why}");
        let ty = entry["dtype"].as_str().unwrap_or_default();
        let dtype = TYPES.iter().find(|(_, known)| *known == ty).map(|(dtype, _)| *dtype);
        let dtype = dtype.ok_or_else(|| wrong(&format!("the type '{ty}' is not supported")))?;
        let sizes = |key: &str| {
            let sizes = entry[key].as_array().ok_or_else(|| wrong(&format!("it has no {key}")))?;
            let size = |size: &Json| size.as_u64().and_then(|size| usize::try_from(size).ok());
            sizes
                .iter()
                .map(size)
                .collect::<Option<Vec<_>>>()
                .ok_or_else(|| wrong(&format!("its {key} is malformed")))
        };
        let (dims, place) = (sizes("shape")?, sizes("data_offsets")?);
        let &[start, end] = &place[..] else { return Err(wrong("its data_offsets are malformed")) };
        if start > end || end > n_bytes {
            return Err(wrong(&format!("bytes {start} to {end} are not in the file, which has {n_bytes}")));
        }
        let want = dims.iter().try_fold(dtype.size(), |n, &dim| n.checked_mul(dim));
        if want != Some(end - start) {
            return Err(wrong(&format!("{} bytes for the shape {dims:?} of {dtype}", end - start)));
        }
        places.push((start, end));
        tensors.insert(name.clone(), (dtype, dims, begin + start..begin + end));
    }
    places.sort_unstable();
    if places.windows(2).any(|pair| pair[1].0 < pair[0].1) {
        return Err("the bytes of two tensors overlap".to_owned());
    }
    Ok(SafeTensors { tensors, notes, source })
}

/// Writes a file.
pub(crate) fn write(snapshot: &Snapshot, to: &mut dyn Write) -> io::Result<()> {
    let refused = |why: String| io::Error::new(io::ErrorKind::InvalidInput, why);
    let mut all: Vec<&(String, HostTensor)> = snapshot.tensors.iter().collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    let (mut header, mut at) = (Map::new(), 0);
    header.insert(METADATA.to_owned(), json!(snapshot.notes));
    for (name, tensor) in &all {
        let ty = TYPES.iter().find(|(dtype, _)| *dtype == tensor.dtype());
        let (dtype, ty) =
            ty.ok_or_else(|| refused(format!("'{name}': the format has no {}", tensor.dtype())))?;
        let end = at + tensor.num_elements() * dtype.size();
        let entry = json!({"dtype": ty, "shape": tensor.shape().dims(), "data_offsets": [at, end]});
        header.insert(name.clone(), entry);
        at = end;
    }
    let mut text = Json::Object(header).to_string().into_bytes();
    text.resize(text.len().next_multiple_of(8), b' ');
    to.write_all(&(text.len() as u64).to_le_bytes())?;
    to.write_all(&text)?;
    for (_, tensor) in all {
        let bytes = tensor.read_bytes().map_err(|error| refused(error.to_string()))?;
        to.write_all(&bytes)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> BundleFile {
        [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), data].concat().into()
    }

    #[test]
    fn a_written_file_is_read_back() {
        let tensor = HostTensor::from_vec([2, 1], vec![1.5f32, -2.0]).unwrap();
        let notes = BTreeMap::from([("run".to_owned(), "{\"a\": 1}".to_owned())]);
        let snapshot = Snapshot { tensors: vec![("w/Adam".to_owned(), tensor)], notes: notes.clone() };
        let mut bytes = Vec::new();
        write(&snapshot, &mut bytes).unwrap();
        let read = read(bytes.into()).unwrap();
        assert_eq!(read.notes, notes);
        let (dtype, dims, _) = &read.tensors["w/Adam"];
        let mut bytes = [0; 8];
        read.read_into("w/Adam", &mut bytes).unwrap();
        assert_eq!((*dtype, &dims[..], &bytes[4..]), (DType::F32, &[2, 1][..], &(-2.0f32).to_le_bytes()[..]));
    }

    #[test]
    fn headers_that_lie_are_refused() {
        let why = |header: &str, data: &[u8]| read(file(header, data)).unwrap_err();
        let of = |shape: &str, at: &str| {
            format!(r#"{{"w": {{"dtype": "F32", "shape": {shape}, "data_offsets": {at}}}}}"#)
        };
        assert!(why(&of("[2]", "[0, 8]"), &[0; 4]).contains("tensor 'w': bytes 0 to 8 are not in the file"));
        assert!(why(&of("[3]", "[0, 8]"), &[0; 8]).contains("8 bytes for the shape [3]"));
        assert!(why(&of("[18446744073709551615, 4]", "[0, 8]"), &[0; 8]).contains("8 bytes for the shape"));
        assert!(why(&of("[-1]", "[0, 8]"), &[0; 8]).contains("its shape is malformed"));
        assert!(why(&of("[1]", "[8, 4]"), &[0; 8]).contains("are not in the file"));
        assert!(why("[", &[]).contains("its header is malformed"));
        assert!(why(&"[".repeat(10_000), &[]).contains("its header is malformed"));
        assert!(read(vec![0xff; 9].into()).unwrap_err().contains("truncated"));
        let two = r#"{"a": {"dtype": "U8", "shape": [2], "data_offsets": [0, 2]}, "b": {"dtype": "U8", "shape": [2], "data_offsets": [1, 3]}}"#;
        assert!(why(two, &[0; 3]).contains("overlap"));
    }
}
