//! Export: a module's op graph as a model that other systems read.
//!
//! ```text
//! func.func @main and its callees ──graphdef──▶ GraphDef: nodes, and a library of functions
//!                                 ──onnx──────▶ ONNX: graph, initializers, functions
//! ```
//!
//! With it, other systems can check the optimized program. Dataflow control flow and regions are made
//! functional first. Operators that the format does not have are refused by name, all in one error;
//! [`pipeline`] creates none that TensorFlow does not have. ONNX's nodes depend on shapes, so that
//! [`onnx_pipeline`] infers them at every level.

mod attr;
mod graphdef;
mod onnx;
mod walk;

pub use graphdef::graphdef;
pub use onnx::onnx;

use crate::diag::Diagnostic;
use crate::ir::Module;

/// Writes a function of a module, and its callees, as a model.
pub type WriteModel = fn(&Module, &str) -> Result<Vec<u8>, Vec<Diagnostic>>;

/// The passes before an export as a GraphDef. At level 0: those that make the graph functional. At higher
/// levels: all that create no operators of our own.
pub fn pipeline(level: u8) -> &'static str {
    match level {
        0 => "builtin.module(tf-functionalize-control-flow,tf-outline-regions,tf-gradients)",
        _ => {
            "builtin.module(tf-functionalize-control-flow,tf-outline-regions,tf-gradients,tf-shape-inference,\
             tf-prune-control-edges,tf-constant-fold,inline{dialect=tf max-new-ops=131072},cse,\
             tf-shape-inference,tf-constant-fold,tf-arithmetic,tf-shape-inference,tf-constant-fold,cse,symbol-dce)"
        }
    }
}

/// The passes before an export as an ONNX model: those before a GraphDef, and at level 0 the inference of
/// shapes.
pub fn onnx_pipeline(level: u8) -> &'static str {
    match level {
        0 => {
            "builtin.module(tf-functionalize-control-flow,tf-outline-regions,tf-gradients,tf-shape-inference,\
             tf-constant-fold)"
        }
        _ => pipeline(level),
    }
}
