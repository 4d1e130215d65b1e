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

/// The format of the first bytes of an input: a program, a model or text.
pub(super) fn format(bytes: &[u8]) -> Format {
    match recognize(bytes) {
        Some(FileKind::Bef) => Format::Bef,
        Some(FileKind::Onnx) => Format::Onnx,
        Some(FileKind::TensorFlow(..)) => Format::GraphDef,
        Some(FileKind::Text) | None => Format::Mlir,
    }
}

/// Refuses directories and files of formats that the tools do not read, or not as `format`. A file that
/// cannot be read is left to its reader.
pub(super) fn expect_readable(place: &Place, format: Option<Format>) -> Result<(), Failure> {
    let Place::File(path) = place else { return Ok(()) };
    if path.is_dir() {
        let Some(file) = saved_model(path) else {
            let name = place.name();
            let message =
                format!("'{name}' is a folder without a SavedModel: saved_model.pb or saved_model.pbtxt");
            return Err(Failure::Refused(message));
        };
        return expect_readable(&Place::File(file), format);
    }
    // Reading consumes the bytes of anything but a regular file.
    if !path.is_file() {
        return Ok(());
    }
    let Ok(bytes) = first_bytes(path) else { return Ok(()) };
    match format {
        Some(format) => expect_format(place, &bytes, format),
        None => expect_ours(place, &bytes),
    }
}

/// Refuses the first bytes of another format than `format`. A model may be of any kind that it shows itself.
pub(super) fn expect_format(place: &Place, bytes: &[u8], format: Format) -> Result<(), Failure> {
    expect_ours(place, bytes)?;
    let Some(found) = recognize(bytes) else { return Ok(()) };
    let fits = match found {
        FileKind::Text => format == Format::Mlir,
        FileKind::Bef => format == Format::Bef,
        FileKind::Onnx => format.is_model(),
        FileKind::TensorFlow(..) => format.is_model() && format != Format::Onnx,
    };
    if fits {
        return Ok(());
    }
    let (what, option) = match found {
        FileKind::Text => ("MLIR's text", "mlir"),
        FileKind::Bef => ("a BEF file", "bef"),
        FileKind::Onnx => ("an ONNX model", "onnx"),
        FileKind::TensorFlow(TensorFlowKind::GraphDef, _) => ("a GraphDef", "graphdef"),
        FileKind::TensorFlow(TensorFlowKind::MetaGraph, _) => ("a MetaGraphDef", "metagraph"),
        FileKind::TensorFlow(TensorFlowKind::SavedModel, _) => ("a SavedModel", "savedmodel"),
    };
    let wanted = match format {
        Format::Mlir => "text",
        Format::Bef => "BEF",
        Format::Onnx => "ONNX",
        Format::GraphDef | Format::MetaGraph | Format::SavedModel => "a model",
    };
    let advice = format!("With --from {option}, ir-translate and bef-exec read it");
    Err(refused(place, &format!("{what}, not {wanted}. {advice}")))
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
