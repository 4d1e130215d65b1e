//! Import of foreign models as op graphs in the `tf` dialect.
//!
//! ```text
//! GraphDef file ──input, proto──▶ NodeDefs ──graphdef──▶ module of func.func @main and its callees
//! SavedModel folder, MetaGraphDef ──savedmodel──▶ the same with a function for each signature, and `init`
//! .pbtxt ──text──▶ the binary messages
//! ```
//!
//! Input is untrusted: every reference is checked, there is no recursion on the input's depth, and memory is
//! in proportion to the file. Errors contain the names of the nodes. One error lists all unsupported
//! operations.
//!
//! The `tf` dialect is described in `dialects/tf/mod.rs`.

mod errors;
pub mod files;
pub mod graphdef;
mod input;
#[allow(
    missing_docs,
    clippy::all,
    unreachable_pub,
    clippy::pedantic,
    reason = "generated, see tensorflow.proto"
)]
#[path = "proto/tensorflow.rs"]
mod proto;
pub mod savedmodel;
pub mod summary;
#[cfg(test)]
mod tests;
mod text;

pub use graphdef::{graphdef, graphdef_in_memory, graphdef_text};

/// A fed tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feed {
    /// TensorFlow's name: `x` or `x:0`.
    pub name: String,
    /// The expected type of its elements, as MLIR prints it, if given.
    pub element: Option<String>,
    /// Its shape, -1 for unknown dimensions, if given.
    pub shape: Option<Vec<i64>>,
}

impl Feed {
    /// A feed of this name, with the type that it has in the graph.
    pub fn named(name: impl Into<String>) -> Feed {
        Feed { name: name.into(), element: None, shape: None }
    }
}

/// Options of import: the wanted part of a graph.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// The arguments. Without any, the placeholders that the results need.
    pub feeds: Vec<Feed>,
    /// The results. Without any, all unconsumed outputs.
    pub fetches: Vec<String>,
    /// The name of the entry function. `main` if it is empty.
    pub function: String,
    /// The only signature to import. Without it, and without feeds and fetches, all are.
    pub signature: Option<String>,
    /// The tags of the graph of a SavedModel. Without any, the only graph, or the one for serving.
    pub tags: Vec<String>,
    /// Makes variables that nothing changes constants.
    pub freeze: bool,
}
