//! Import: models of others become op graphs in the `tf` dialect.
//!
//! ```text
//! GraphDef file ──input, proto──▶ NodeDefs ──graphdef──▶ module of func.func @main and the functions that it needs
//! ```
//!
//! What comes in is untrusted: every reference is looked up, nothing recurses on the input's depth, memory is in proportion to the file, and
//! what is wrong is said with the names of the nodes. All that this compiler cannot run is said in one error.
//!
//! The `tf` dialect is described in `dialects/tf.rs`.

mod errors;
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
#[cfg(test)]
mod tests;

pub use graphdef::graphdef;

/// A tensor that is given from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feed {
    /// TensorFlow's name: `x` or `x:0`.
    pub name: String,
    /// What its elements must be, if that was said: a type as MLIR prints it.
    pub element: Option<String>,
    /// Its shape, -1 for unknown dimensions, if that was said.
    pub shape: Option<Vec<i64>>,
}

impl Feed {
    /// Of this name, whatever its type is in the graph.
    pub fn named(name: impl Into<String>) -> Feed {
        Feed { name: name.into(), element: None, shape: None }
    }
}

/// What of a graph is wanted.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// The arguments; the placeholders that the results need if there are none.
    pub feeds: Vec<Feed>,
    /// The results; what nobody consumes if there are none.
    pub fetches: Vec<String>,
    /// The name of the entry function; `main` if it is empty.
    pub function: String,
}
