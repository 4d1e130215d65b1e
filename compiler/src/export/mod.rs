//! Export: a module's op graph as a model that other systems read.
//!
//! ```text
//! func.func @main and its callees ──graphdef──▶ GraphDef: nodes, and a library of functions
//! ```
//!
//! With it, other systems can check the optimized program. Dataflow control flow and regions are made
//! functional first. Operators that TensorFlow does not have are refused by name; [`pipeline`] creates none.

mod attr;
mod graphdef;

pub use graphdef::graphdef;

/// The passes before an export. At level 0: those that make the graph functional. At higher levels: all that
/// create no operators of our own.
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
