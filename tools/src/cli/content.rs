//! Files that the tools recognize by their first bytes: read, or refused with the reason.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use befrost::saved_model;
pub(super) use befrost_compiler::import::recognize::{Encoding, N_BYTES};
use befrost_compiler::import::recognize::{FileKind, foreign, recognize};
use befrost_compiler::import::savedmodel::TensorFlowKind;

use super::failure::Failure;
use super::files::{Format, Place};

/// The tools that read models.
const MODELS: &str = "ir-translate and bef-exec read it as a model";

/// The format of the first bytes of an input: a program, a model or text.
pub(super) fn format(bytes: &[u8]) -> Format {
    match recognize(bytes) {
        Some(FileKind::Bef) => Format::Bef,
        Some(FileKind::Onnx) => Format::Onnx,
        Some(FileKind::TensorFlow(..)) => Format::GraphDef,
        Some(FileKind::Text) | None => Format::Mlir,
    }
}

/// Refuses directories and files of formats that the tools do not read. A file that cannot be read is left to
/// its reader.
pub(super) fn expect_readable(place: &Place) -> Result<(), Failure> {
    let Place::File(path) = place else { return Ok(()) };
    if path.is_dir() {
        let Some(file) = saved_model(path) else {
            let name = place.name();
            let message =
                format!("'{name}' is a folder without a SavedModel: saved_model.pb or saved_model.pbtxt");
            return Err(Failure::Refused(message));
        };
        return expect_readable(&Place::File(file));
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
    match recognize(bytes) {
        Some(FileKind::Onnx) => Err(refused(place, &format!("an ONNX model. {MODELS}"))),
        // A text may begin like a binary graph.
        Some(FileKind::TensorFlow(TensorFlowKind::GraphDef, Encoding::Binary)) => Ok(()),
        Some(FileKind::TensorFlow(kind, _)) => Err(refused(place, &format!("{}. {MODELS}", described(kind)))),
        Some(FileKind::Text | FileKind::Bef) | None => Ok(()),
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

/// The kind of a model of TensorFlow's in this format, by its first bytes.
pub(super) fn tensorflow(bytes: &[u8], format: Format) -> (TensorFlowKind, Encoding) {
    let (found, encoding) = match recognize(bytes) {
        Some(FileKind::TensorFlow(kind, encoding)) => (kind, encoding),
        _ => (TensorFlowKind::GraphDef, Encoding::Binary),
    };
    let kind = match format {
        Format::MetaGraph => TensorFlowKind::MetaGraph,
        Format::SavedModel => TensorFlowKind::SavedModel,
        _ => found,
    };
    (kind, encoding)
}

/// True for an ONNX model.
pub(super) fn is_onnx(bytes: &[u8]) -> bool {
    recognize(bytes) == Some(FileKind::Onnx)
}

fn described(kind: TensorFlowKind) -> &'static str {
    match kind {
        TensorFlowKind::GraphDef => "a GraphDef",
        TensorFlowKind::MetaGraph => "a MetaGraphDef",
        TensorFlowKind::SavedModel => "a SavedModel",
    }
}
