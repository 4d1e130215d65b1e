//! Export: a module's op graph as a model that other systems read.
//!
//! ```text
//! func.func @main and its callees ──graphdef──▶ GraphDef: nodes, and a library of functions
//! ```
//!
//! So what was optimized here can be checked elsewhere. Dataflow control flow and regions are made functional
//! first, and operators that TensorFlow does not have are refused by name ([`pipeline`] makes none).

mod attr;
mod graphdef;

pub use graphdef::graphdef;

/// The passes in front of an export: at level 0 those without which there is no functional graph, above it
/// all that make no operators of our own.
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
