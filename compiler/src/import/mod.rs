//! Import of foreign models as op graphs in the `tf` dialect.
//!
//! ```text
//! GraphDef file ──input, proto──▶ NodeDefs ──graphdef──▶ module of func.func @main and its callees
//! ONNX model ─────input, proto──▶ NodeProtos ──onnx────▶ module of func.func @main
//! SavedModel folder, MetaGraphDef ──savedmodel──▶ the same with a function for each signature, and `init`
//! .pbtxt ──text──▶ the binary messages
//! ```
//!
//! Input is untrusted: every reference is checked, recursion is bounded, and memory is bounded by a multiple
//! of the file's size or by a limit. Errors contain the names of the nodes. One error lists all unsupported
//! operations.
//!
//! The `tf` dialect is described in `dialects/tf/mod.rs`.

mod errors;
pub mod files;
mod gradients;
pub mod graphdef;
mod input;
pub mod onnx;
#[allow(missing_docs, clippy::all, unreachable_pub, clippy::pedantic, reason = "generated, see onnx.proto")]
#[path = "proto/onnx.rs"]
pub(crate) mod onnx_proto;
#[allow(
    missing_docs,
    clippy::all,
    unreachable_pub,
    clippy::pedantic,
    reason = "generated, see tensorflow.proto"
)]
#[path = "proto/tensorflow.rs"]
pub(crate) mod proto;
pub mod recognize;
pub mod savedmodel;
pub mod summary;
mod text;

pub use errors::is_missing_name;
pub use graphdef::{INIT, graphdef, graphdef_in_memory, graphdef_text};
pub use onnx::{check_onnx, onnx};

use crate::dialects::tf;
use crate::ir::{AttrId, Context, TypeId, names};
use crate::train::NamePattern;

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
    /// The tensors by which they are differentiated; a variable's handle stands for its value.
    pub xs: Vec<String>,
    /// True if all variables are xs too.
    pub variables: bool,
    /// The gradients of the ys; ones if it is empty.
    pub dys: Vec<String>,
    /// Tensors that are constants.
    pub stops: Vec<String>,
    /// The order of the derivative: 2 differentiates the sum of all elements of the first gradients, and so
    /// on.
    pub order: u32,
    /// True if the gradient of an unconnected x is zeros; else it is left out.
    pub zero: bool,
    /// The prefix of the results' names, which are followed by `/` and the name of the x; default:
    /// `gradients`.
    pub name: String,
}

impl GradientRequest {
    /// The prefix of the results' names.
    pub fn prefix(&self) -> &str {
        if self.name.is_empty() { "gradients" } else { &self.name }
    }

    /// True if a result with this name belongs to the request.
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
    /// True if all outputs of nodes are results: to list them, not to run. Without feeds, fetches and
    /// targets.
    pub everything: bool,
    /// Nodes of a graph that run for their effects. If there are any, the fetches are the only results.
    pub targets: Vec<String>,
    /// The node of a graph that initializes it, which becomes the function `init`.
    pub init: Option<String>,
    /// Whether the function that initializes a MetaGraph or a SavedModel is imported.
    pub initialization: Initialization,
    /// True if resources without a name are identified by their nodes, in all programs made from the graph.
    pub shares_resources: bool,
    /// The name of the entry function. `main` if it is empty.
    pub function: String,
    /// The only signature to import. If it is not given, and there are no feeds and fetches, all are
    /// imported.
    pub signature: Option<String>,
    /// The tags of the graph of a SavedModel. Without any, the only graph, or the one for serving.
    pub tags: Vec<String>,
    /// True if variables that nothing changes become constants.
    pub freeze: bool,
    /// Further results: gradients.
    pub gradients: Vec<GradientRequest>,
    /// The parts that a training program is made of, instead of all others.
    pub training: Option<Box<TrainingParts>>,
}

/// The import of the function that gives a model's variables and tables their values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Initialization {
    /// With all other functions.
    #[default]
    Included,
    /// Not at all: another program has it.
    Without,
    /// Without any other function.
    Alone,
}

/// The parts of a graph that a training program is made of ([`crate::train`]), by TensorFlow's names. They
/// become the functions `init`, `step`, `evaluate` and `predict`; the step is only the forward graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrainingParts {
    /// The tensor that is minimized.
    pub loss: String,
    /// Tensors to report, each with a name.
    pub metrics: Vec<(String, String)>,
    /// The node that initializes the variables. Without it `init`, if there is such a node.
    pub init: Option<String>,
    /// Nodes that run with each step, after the loss.
    pub targets: Vec<String>,
    /// The results of predictions. If there are none, the outputs that no node reads, or else the predictions
    /// that the loss compares with the labels.
    pub predictions: Vec<String>,
    /// The arguments of the step, if only `init` and `step` are wanted; without any, the placeholders that it
    /// needs. Its results have the names of their tensors then.
    pub step: Option<Vec<Feed>>,
    /// The constants of floats that become variables: their values are not known.
    pub variables: Option<NamePattern>,
}

/// Names of arguments or results, as an attribute.
pub(crate) fn names_attr(cx: &mut Context, given: &[&str]) -> AttrId {
    let dicts: Vec<AttrId> = given
        .iter()
        .map(|name| {
            let name = cx.str_attr(name);
            cx.dict_attr(&[(names::BEF_NAME, name)])
        })
        .collect();
    cx.array_attr(&dicts)
}

/// The type of an argument: that of the model, made more specific by the feed.
fn narrowed(cx: &mut Context, ty: TypeId, feed: &Feed) -> Result<TypeId, String> {
    let element = cx.element(ty);
    if let Some(wanted) = &feed.element {
        let found = crate::print::type_text(cx, element);
        if *wanted != found {
            return Err(format!("its elements are {found}, not {wanted}"));
        }
    }
    let Some(fed) = &feed.shape else { return Ok(ty) };
    let declared = cx.ty(ty).shaped().and_then(|(dims, _)| dims.map(<[i64]>::to_vec));
    let Some(declared) = declared else { return Ok(tf::tensor(cx, Some(fed), element)) };
    let fits = |(&fed, &declared): (&i64, &i64)| fed < 0 || declared < 0 || fed == declared;
    if declared.len() != fed.len() || !fed.iter().zip(&declared).all(fits) {
        let (fed, declared) = (shape_text(fed), shape_text(&declared));
        return Err(format!("its shape is {declared} in the model, not {fed}"));
    }
    // An unknown size has the size in the model.
    let sizes: Vec<i64> = fed.iter().zip(&declared).map(|(&fed, &declared)| fed.max(declared)).collect();
    Ok(tf::tensor(cx, Some(&sizes), element))
}

/// Sizes as in a feed: `[?x64]`.
fn shape_text(dims: &[i64]) -> String {
    let size = |&dim: &i64| if dim < 0 { "?".to_owned() } else { dim.to_string() };
    format!("[{}]", dims.iter().map(size).collect::<Vec<_>>().join("x"))
}
