//! Recognition of files by their first bytes: the formats that are read, and those that must be converted
//! first, with the way to do it.

use super::savedmodel::TensorFlowKind;

/// The number of first bytes that are examined.
pub const N_BYTES: usize = 4096;

/// The magic number of BEF files.
const BEF_MAGIC: [u8; 2] = [0x0b, 0xef];

const EXPORT_KERAS: &str = "Befrost reads SavedModels. In Python:
    tf.keras.models.load_model(FILE).export(DIRECTORY)";

/// A format that is recognized by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A compiled program.
    Bef,
    /// A model of TensorFlow's. A binary MetaGraph is not recognized.
    TensorFlow(TensorFlowKind, Encoding),
    /// An ONNX model.
    Onnx,
    /// Text of MLIR.
    Text,
}

/// The encoding of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Protobuf's bytes.
    Binary,
    /// Protobuf's text.
    Text,
}

/// The format of a file that begins with these bytes, if it is recognized.
pub fn recognize(bytes: &[u8]) -> Option<FileKind> {
    if bytes.starts_with(&BEF_MAGIC) {
        return Some(FileKind::Bef);
    }
    match first_version(bytes) {
        Some(SavedModelOrOnnx::Onnx) => return Some(FileKind::Onnx),
        Some(SavedModelOrOnnx::SavedModel) => {
            return Some(FileKind::TensorFlow(TensorFlowKind::SavedModel, Encoding::Binary));
        }
        None => {}
    }
    if let Some(kind) = kind_of_text(bytes) {
        return Some(FileKind::TensorFlow(kind, Encoding::Text));
    }
    if is_graphdef(bytes) {
        return Some(FileKind::TensorFlow(TensorFlowKind::GraphDef, Encoding::Binary));
    }
    is_mlir(bytes).then_some(FileKind::Text)
}

/// The first line that is not empty and does not begin with this.
fn first_line<'b>(bytes: &'b [u8], comment: &[u8]) -> &'b [u8] {
    let mut lines = bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    lines.find(|line| !line.is_empty() && !line.starts_with(comment)).unwrap_or_default()
}

/// True for text that begins with a module, a function or the name of a type or an attribute.
fn is_mlir(bytes: &[u8]) -> bool {
    let line = first_line(bytes, b"//");
    let op = line.strip_prefix(b"\"").unwrap_or(line);
    let names = |rest: &[u8]| {
        let n =
            rest.iter().take_while(|&&byte| byte.is_ascii_alphanumeric() || b"_.$".contains(&byte)).count();
        n > 0 && rest[n..].trim_ascii_start().starts_with(b"=")
    };
    let begins = |word: &[u8]| {
        op.strip_prefix(word).is_some_and(|rest| !rest.first().is_some_and(u8::is_ascii_alphanumeric))
    };
    [&b"module"[..], b"func", b"builtin"].into_iter().any(begins)
        || line.strip_prefix(b"#").or(line.strip_prefix(b"!")).is_some_and(names)
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

/// The kind of model of TensorFlow's whose text begins with these bytes.
fn kind_of_text(bytes: &[u8]) -> Option<TensorFlowKind> {
    let text = first_line(bytes, b"#");
    let begins = |word: &&str| {
        let rest = text.strip_prefix(word.as_bytes()).map(<[u8]>::trim_ascii_start);
        rest.is_some_and(|rest| rest.starts_with(b"{") || rest.starts_with(b":"))
    };
    let found = FIELDS.iter().find(|(_, words)| words.iter().any(begins));
    found.map(|(kind, _)| *kind)
}

/// The format of a file that is not read, and the way to convert it, in words that follow "this is".
pub fn foreign(bytes: &[u8]) -> Option<String> {
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
    } else if bytes.starts_with(b"version https://git-lfs.github.com/spec/") {
        "a pointer of Git LFS in place of the file: `git lfs pull` fetches the file".to_owned()
    } else {
        return None;
    })
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

    fn check_kind(bytes: &[u8], want: Option<FileKind>) {
        assert_eq!(recognize(bytes), want, "{bytes:?}");
    }

    #[test]
    fn files_are_recognized_by_their_first_bytes() {
        use Encoding::{Binary, Text};
        let tensorflow = |kind, encoding| Some(FileKind::TensorFlow(kind, encoding));
        check_kind(b"\x0b\xef\x01", Some(FileKind::Bef));
        check_kind(b"\x08\x08\x12\x07pytorch", Some(FileKind::Onnx));
        check_kind(b"\x08\x03\x3a\x07", Some(FileKind::Onnx));
        check_kind(b"\n\x0d\n\x01x\x12\x08Identity", tensorflow(TensorFlowKind::GraphDef, Binary));
        check_kind(b"\x08\x01\x12\x80\x20\x0a\x05", tensorflow(TensorFlowKind::SavedModel, Binary));
        check_kind(b"saved_model_schema_version: 1", tensorflow(TensorFlowKind::SavedModel, Text));
        check_kind(b"# by hand\n\nnode {\n  name: \"x\"", tensorflow(TensorFlowKind::GraphDef, Text));
        check_kind(b"library: {", tensorflow(TensorFlowKind::GraphDef, Text));
        check_kind(b"meta_info_def {\n", tensorflow(TensorFlowKind::MetaGraph, Text));
        for text in ["\n\n// a\n  func.func @f()", "module {", "\"func.func\"() ({", "!t = i32", "#map0 =\n"]
        {
            check_kind(text.as_bytes(), Some(FileKind::Text));
        }
        for other in [&b""[..], b"node", b"nodes {", b"# Title", b"functions", b"\n\x0d\n\x01x\x12\x08Iden"] {
            check_kind(other, None);
        }
    }

    fn check(bytes: &[u8], want: Option<&str>) {
        let found = foreign(bytes);
        assert_eq!(found.is_some(), want.is_some(), "{bytes:?}: {found:?}");
        assert!(found.unwrap_or_default().starts_with(want.unwrap_or_default()), "{bytes:?}: {want:?}");
    }

    #[test]
    fn foreign_formats() {
        check(b"\x89HDF\r\n\x1a\n\0", Some("an HDF5 file"));
        check(b"PK\x03\x04", Some("a zip archive"));
        check(b"\x1c\0\0\0TFL3", Some("a TensorFlow Lite model"));
        check(b"\x93NUMPY\x01\0", Some("an array"));
        check(b"ML\xefR", Some("MLIR's bytecode"));
        check(b"version https://git-lfs.github.com/spec/v1\noid sha256:0", Some("a pointer of Git LFS"));
        for ours in [&b""[..], b"\x08", b"\x08\x01", b"\x0b\xef", b"node", b"nodes {", b"func.func @f() {}"] {
            check(ours, None);
        }
        check(b"\n\x0d\n\x01x\x12\x08Identity", None);
    }
}
