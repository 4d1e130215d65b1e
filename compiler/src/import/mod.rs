//! Import of foreign models as op graphs in the `tf` dialect.
//!
//! ```text
//! GraphDef file ──input, proto──▶ NodeDefs ──graphdef──▶ module of func.func @main and its callees
//! ```
//!
//! Input is untrusted: every reference is checked, there is no recursion on the input's depth, and memory is
//! in proportion to the file. Errors contain the names of the nodes. One error lists all unsupported
//! operations.
//!
//! The `tf` dialect is described in `dialects/tf/mod.rs`.

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

pub use graphdef::{graphdef, graphdef_in_memory};

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

/// Gradients that are added to a graph's results, by TensorFlow's names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GradientRequest {
    /// The differentiated tensors.
    pub ys: Vec<String>,
    /// By what; a variable's handle stands for its value.
    pub xs: Vec<String>,
    /// All variables are further xs.
    pub variables: bool,
    /// The gradients of the ys; ones without any.
    pub dys: Vec<String>,
    /// Tensors that are constants.
    pub stops: Vec<String>,
    /// 2 differentiates the sum of all elements of the first gradients, and so on.
    pub order: u32,
    /// An x without a gradient has zeros, else it is left out.
    pub zero: bool,
    /// The results are called by this name, `/` and that of the x.
    pub name: String,
}

impl GradientRequest {
    /// The prefix of the results' names.
    pub fn prefix(&self) -> &str {
        if self.name.is_empty() { "gradients" } else { &self.name }
    }

    /// True if a result of this name belongs to the request.
    pub fn gives(&self, name: &str) -> bool {
        name.strip_prefix(self.prefix()).is_some_and(|rest| rest.starts_with('/') || rest.starts_with('_'))
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
    /// Further results: gradients.
    pub gradients: Vec<GradientRequest>,
}
