//! ONNX models, of the operator sets 7 to 23.
//!
//! ```text
//! ModelProto ──▶ names ──▶ needed: from fetches back to feeds ──▶ in the order of the file, node by node:
//!                                                                 function: its nodes    (graph)
//!                                                                 operator: its lowering (ops/*)
//! initializers ──▶ constants, which share the bytes of the file   (tensor)
//! ```
//!
//! There is no dialect of ONNX: nodes become TensorFlow's operators, and `_`-operators where TensorFlow has
//! none. A lowering is a function from the values of a node's inputs to those of its outputs, written with
//! the emitter ([`emit`]), which infers types and folds constants on the way. `ops/mod.rs` has the table.
//!
//! Lowerings make differences to TensorFlow explicit: channels are axis 1, quotients of integers are
//! truncated, negative indices count from the end, variances are those of the whole population.
//!
//! Sequences are TensorFlow's lists of tensors. An optional value is its value, or nothing. Nodes of
//! functions are inlined. Loops and branches become regions, which see the values around them.

mod emit;
mod gradients;
mod graph;
mod node;
mod ops;
mod summary;
mod tensor;
mod training;

use std::collections::HashMap;

use prost::Message;
use prost::bytes::Bytes;

use self::graph::OnnxImporter;
pub use self::summary::summary;
use super::files::ModelFiles;
use super::onnx_proto::{GraphProto, ModelProto};
use super::{ImportOptions, errors};
use crate::diag::Diagnostic;
use crate::ir::Module;

/// Imports an ONNX model. Its tensors share its bytes.
///
/// # Errors
/// If the bytes are no model, the graph is not well-formed, has unsupported operators, or lacks a feed or
/// fetch of the options; if a file with tensors cannot be read or is too short.
pub fn onnx(
    bytes: Bytes,
    options: &ImportOptions,
    files: &dyn ModelFiles,
) -> Result<Module, Vec<Diagnostic>> {
    let (model, graph) = decoded(bytes)?;
    let mut functions = HashMap::new();
    for function in &model.functions {
        let key = (node::domain(&function.domain), function.name.as_str());
        if functions.insert(key, function).is_some() {
            return Err(vec![*errors::function(&function.name, "it is defined twice")]);
        }
    }
    let opsets = graph::opsets(&model.opset_import);
    OnnxImporter::new(functions, opsets, ops::lowering, files)
        .model(&graph, options)
        .map_err(|refusal| vec![*refusal])
}

/// Checks that bytes are an ONNX model, whatever its operators are.
///
/// # Errors
/// If they are no model.
pub fn check_onnx(bytes: Bytes) -> Result<(), Vec<Diagnostic>> {
    decoded(bytes).map(|_| ())
}

/// A model, and its graph.
fn decoded(bytes: Bytes) -> Result<(ModelProto, GraphProto), Vec<Diagnostic>> {
    let model = ModelProto::decode(bytes);
    let mut model = model.map_err(|error| vec![*errors::not_onnx(&error.to_string())])?;
    match model.graph.take() {
        Some(graph) => Ok((model, graph)),
        None => Err(vec![*errors::not_onnx("it has no graph")]),
    }
}
