//! Recognition of files by their first bytes: the formats that the tools read, and those that must be
//! converted first, with the way to do it.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use befrost::saved_model;
use befrost_compiler::import::savedmodel::TensorFlowKind;

use super::failure::Failure;
use super::files::{Format, Place};

/// The number of first bytes that are examined.
pub(super) const N_BYTES: usize = 4096;

/// The magic number of BEF files.
const BEF_MAGIC: [u8; 2] = [0x0b, 0xef];

const EXPORT_KERAS: &str = "Befrost reads SavedModels. In Python:
    tf.keras.models.load_model(FILE).export(DIRECTORY)";

/// The tools that read models.
const MODELS: &str = "ir-translate and bef-exec read it as a model";

/// The format of the first bytes of an input: BEF, a GraphDef or text.
pub(super) fn format(bytes: &[u8]) -> Format {
    if bytes.starts_with(&BEF_MAGIC) {
        Format::Bef
    } else if is_onnx(bytes) {
        Format::Onnx
    } else if is_graphdef(bytes) || model(bytes).is_some() {
        Format::GraphDef
    } else {
        Format::Mlir
    }
}

/// Refuses directories and files of formats that the tools do not read. A file that cannot be read is left to
/// its reader.
pub(super) fn expect_readable(place: &Place) -> Result<(), Failure> {
    let Place::File(path) = place else { return Ok(()) };
    if path.is_dir() {
        return match saved_model(path) {
            Some(_) => Ok(()),
            None => Err(Failure::Refused(format!("cannot read '{}': Is a directory", place.name()))),
        };
    }
    // Reading consumes the bytes of anything but a regular file.
    if !path.is_file() {
        return Ok(());
    }
    first_bytes(path).map_or(Ok(()), |bytes| expect_ours(place, &bytes))
}

/// Refuses models where text is read.
pub(super) fn expect_text(place: &Place, bytes: &[u8]) -> Result<(), Failure> {
    expect_ours(place, bytes)?;
    if is_onnx(bytes) {
        return Err(refused(place, &format!("an ONNX model. {MODELS}")));
    }
    match model(bytes) {
        Some((kind, _)) => Err(refused(place, &format!("{}. {MODELS}", described(kind)))),
        None => Ok(()),
    }
}

/// Refuses the first bytes of a format that the tools do not read.
pub(super) fn expect_ours(place: &Place, bytes: &[u8]) -> Result<(), Failure> {
    foreign(bytes).map_or(Ok(()), |what| Err(refused(place, &what)))
}

/// The first bytes of a file.
pub(super) fn first_bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(N_BYTES as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn refused(place: &Place, what: &str) -> Failure {
    Failure::Refused(format!("{}: this is {what}", place.name()))
}

/// The encoding of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Binary,
    Text,
}

/// The kind of a model of TensorFlow's in this format, by its first bytes.
pub(super) fn tensorflow(bytes: &[u8], format: Format) -> (TensorFlowKind, Encoding) {
    let found = model(bytes);
    let kind = match (format, found) {
        (Format::MetaGraph, _) => TensorFlowKind::MetaGraph,
        (Format::SavedModel, _) => TensorFlowKind::SavedModel,
        (_, found) => found.map_or(TensorFlowKind::GraphDef, |(kind, _)| kind),
    };
    (kind, found.map_or(Encoding::Binary, |(_, encoding)| encoding))
}

fn described(kind: TensorFlowKind) -> &'static str {
    match kind {
        TensorFlowKind::GraphDef => "a GraphDef",
        TensorFlowKind::MetaGraph => "a MetaGraphDef",
        TensorFlowKind::SavedModel => "a SavedModel",
    }
}

/// The names of the fields of the messages, as texts begin with them.
const FIELDS: [(TensorFlowKind, &[&str]); 3] = [
    (TensorFlowKind::GraphDef, &["node", "library", "versions"]),
    (
        TensorFlowKind::MetaGraph,
        &["meta_info_def", "graph_def", "saver_def", "collection_def", "signature_def", "asset_file_def"],
    ),
    (TensorFlowKind::SavedModel, &["saved_model_schema_version", "meta_graphs"]),
];

/// The kind of model that begins with these bytes, if it is recognized. Binary GraphDefs are not.
fn model(bytes: &[u8]) -> Option<(TensorFlowKind, Encoding)> {
    if let Some(SavedModelOrOnnx::SavedModel) = first_version(bytes) {
        return Some((TensorFlowKind::SavedModel, Encoding::Binary));
    }
    let mut lines = bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let text = lines.find(|line| !line.is_empty() && !line.starts_with(b"#")).unwrap_or_default();
    let begins = |word: &&str| {
        let rest = text.strip_prefix(word.as_bytes()).map(<[u8]>::trim_ascii_start);
        rest.is_some_and(|rest| rest.starts_with(b"{") || rest.starts_with(b":"))
    };
    let found = FIELDS.iter().find(|(_, words)| words.iter().any(begins));
    found.map(|(kind, _)| (*kind, Encoding::Text))
}

/// The format of bytes that the tools cannot read, and the way to convert it.
fn foreign(bytes: &[u8]) -> Option<String> {
    Some(if bytes.starts_with(b"\x89HDF\r\n\x1a\n") {
        format!("an HDF5 file, such as Keras writes for models and weights. {EXPORT_KERAS}")
    } else if bytes.starts_with(b"PK\x03\x04") {
        format!("a zip archive, such as a .keras file. {EXPORT_KERAS}")
    } else if bytes.get(4..8) == Some(b"TFL3") {
        "a TensorFlow Lite model. Befrost reads GraphDefs: freeze the model that it was converted from"
            .to_owned()
    } else if bytes.starts_with(b"\x93NUMPY") {
        "an array, no program. Give it as an argument: --input NAME=FILE.npy".to_owned()
    } else if bytes.starts_with(b"ML\xefR") {
        "MLIR's bytecode. Befrost reads text: `mlir-opt FILE -o FILE.mlir` writes it".to_owned()
    } else {
        return None;
    })
}

/// True for an ONNX model.
pub(super) fn is_onnx(bytes: &[u8]) -> bool {
    matches!(first_version(bytes), Some(SavedModelOrOnnx::Onnx))
}

enum SavedModelOrOnnx {
    SavedModel,
    Onnx,
}

/// The kind of a message that begins with a version number.
///
/// ```text
/// SavedModel: 1: schema version, always 1    2: meta graph, a message that begins with its field 1
/// ModelProto: 1: IR version, 3 or more       2: name of the producer  3: its version  5, 6, 7: graph  8
/// ```
fn first_version(bytes: &[u8]) -> Option<SavedModelOrOnnx> {
    let rest = bytes.strip_prefix(&[0x08])?;
    let (version, rest) = varint(rest)?;
    let (&tag, rest) = rest.split_first()?;
    match (version, tag) {
        (1, 0x12) => {
            let (_, message) = varint(rest)?;
            (message.first() == Some(&0x0a)).then_some(SavedModelOrOnnx::SavedModel)
        }
        (2..=64, 0x12 | 0x1a | 0x22 | 0x28 | 0x32 | 0x3a | 0x42) => Some(SavedModelOrOnnx::Onnx),
        _ => None,
    }
}

/// True for a GraphDef whose first field is a node with a name and an operator.
fn is_graphdef(bytes: &[u8]) -> bool {
    let node = || {
        let (_, node) = varint(bytes.strip_prefix(&[0x0a])?)?;
        let (n, name) = varint(node.strip_prefix(&[0x0a])?)?;
        let after = name.get(usize::try_from(n).ok()?..)?;
        let (n, op) = varint(after.strip_prefix(&[0x12])?)?;
        let op = op.get(..usize::try_from(n).ok()?)?;
        (!op.is_empty() && op.iter().all(u8::is_ascii_graphic)).then_some(())
    };
    node().is_some()
}

/// A variable-length number of protobuf, and the bytes after it.
fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let n = 1 + bytes.iter().take(9).position(|byte| byte & 0x80 == 0)?;
    let value = bytes[..n].iter().rev().fold(0u64, |value, byte| value << 7 | u64::from(byte & 0x7f));
    Some((value, &bytes[n..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_by_their_first_bytes() {
        assert_eq!(format(b"\x0b\xef\x01"), Format::Bef);
        assert_eq!(format(b"\n\x0d\n\x01x\x12\x08Identity"), Format::GraphDef);
        assert_eq!(format(b"\n\n\nfunc.func @f()"), Format::Mlir);
        assert_eq!(format(b"\n\x0d\n\x01x\x12\x08Iden"), Format::Mlir);
        assert_eq!(format(b""), Format::Mlir);
    }

    fn check(bytes: &[u8], want: Option<&str>) {
        let found = foreign(bytes);
        assert_eq!(found.is_some(), want.is_some(), "{bytes:?}: {found:?}");
        assert!(found.unwrap_or_default().starts_with(want.unwrap_or_default()), "{bytes:?}: {want:?}");
    }

    #[test]
    fn foreign_formats() {
        assert_eq!(format(b"\x08\x08\x12\x07pytorch"), Format::Onnx);
        assert_eq!(format(b"\x08\x03\x3a\x07"), Format::Onnx);
        check(b"\x89HDF\r\n\x1a\n\0", Some("an HDF5 file"));
        check(b"PK\x03\x04", Some("a zip archive"));
        check(b"\x1c\0\0\0TFL3", Some("a TensorFlow Lite model"));
        check(b"\x93NUMPY\x01\0", Some("an array"));
        check(b"ML\xefR", Some("MLIR's bytecode"));
        for ours in [&b""[..], b"\x08", b"\x08\x01", b"\x0b\xef", b"node", b"nodes {", b"func.func @f() {}"] {
            check(ours, None);
        }
        check(b"\n\x0d\n\x01x\x12\x08Identity", None);
    }

    #[test]
    fn models_of_tensorflow() {
        use Encoding::{Binary, Text};
        let check = |bytes: &[u8], want| assert_eq!(model(bytes), want, "{bytes:?}");
        check(b"\x08\x01\x12\x80\x20\x0a\x05", Some((TensorFlowKind::SavedModel, Binary)));
        check(b"saved_model_schema_version: 1", Some((TensorFlowKind::SavedModel, Text)));
        check(b"# by hand\n\nnode {\n  name: \"x\"", Some((TensorFlowKind::GraphDef, Text)));
        check(b"library: {", Some((TensorFlowKind::GraphDef, Text)));
        check(b"meta_info_def {\n", Some((TensorFlowKind::MetaGraph, Text)));
        for other in [&b""[..], b"\x08\x08\x12\x07pytorch", b"node", b"nodes {", b"func.func @f() {}"] {
            check(other, None);
        }
    }
}
