//! Passes over the op graph, the `tf` dialect, and its lowering to the kernel graph.
//!
//! ```text
//! op graph ──(optimization, -O1 and -O2)──▶ op graph ──tf-to-kernels──▶ kernel graph ──emit──▶ BEF
//! ```
//!
//! Modules without `tf` ops pass through unchanged.

pub(crate) mod constant_arguments;
pub(crate) mod constant_fold;
pub(crate) mod control_edges;
pub(crate) mod control_flow;
pub(crate) mod cut;
pub(crate) mod dataflow;
pub(crate) mod effects;
pub(crate) mod fuse_bottlenecks;
pub(crate) mod fuse_elementwise;
pub(crate) mod fuse_quantization;
pub(crate) mod layout;
pub(crate) mod licm;
pub(crate) mod loop_reads;
pub(crate) mod loop_sums;
pub(crate) mod loop_weights;
pub(crate) mod lower;
pub mod lower_precision;
pub(crate) mod memory;
pub(crate) mod outline_regions;
pub(crate) mod pack_weights;
pub(crate) mod pattern_passes;
mod patterns;
pub(crate) mod print_work;
pub(crate) mod scalars;
pub(crate) mod shape_inference;

pub(crate) use constant_fold::fold as fold_op;
pub(crate) use effects::{callees, functions};

use crate::device::DeviceOptions;
use crate::diag::Diagnostic;
use crate::dialects::{tf, tf_executor};
use crate::ir::Module;
use crate::rewrite::signatures;

/// True if the module has ops of the `tf` dialect, which `tf-to-kernels` lowers, or graphs of them.
pub fn is_op_graph(m: &Module) -> bool {
    let is_op = |name: &str| tf::op_of(name).is_some() || name == tf_executor::GRAPH;
    // Opaque modules, which kernels compile, may have `tf` ops as well.
    m.cx.op_names().any(|data| is_op(m.cx.str(data.name)))
        && m.walk_functions().any(|op| is_op(m.op_name_str(op)))
}

/// The default pass pipeline of an optimization level.
pub fn pipeline(level: u8) -> String {
    pipeline_for(level, &DeviceOptions::default())
}

/// A pipeline that lowers the precision of products, by the options of `tf-lower-precision`, before it packs
/// weights.
///
/// # Errors
/// If it packs no weights.
pub fn with_precision(pipeline: &str, options: &str) -> Result<String, Box<Diagnostic>> {
    let (lower, pack) = (lower_precision::PASS.name, pack_weights::PASS.name);
    let Some((before, after)) = pipeline.split_once(pack) else {
        let why = "a lower precision needs a graph of operators at -O2, which packs weights";
        return Err(Box::new(Diagnostic::error("E0908", why)));
    };
    Ok(format!("{before}{lower}{{{options}}},{pack}{after}"))
}

/// The default pass pipeline of an optimization level, for these devices.
pub fn pipeline_for(level: u8, devices: &DeviceOptions) -> String {
    let (place, cross, last) = (devices.place(level), devices.cross(), devices.last());
    // Partitioning needs the primitives; else their graphs are functions early, which all passes optimize.
    let native = "tf-executor-to-kernels,tf-prune-control-edges,";
    let (early, late) = if last.is_empty() { (native, "") } else { ("", native) };
    // Two rounds of inlining: the constant operands of an inlined call can select a branch in the callee,
    // which becomes a call itself.
    let fold = "tf-constant-fold{keep-dequantized}";
    match level {
        0 => format!(
            "builtin.module(tf-functionalize-control-flow,tf-outline-regions,tf-gradients,tf-expand-collectives,{place}{last}\
             tf-executor-to-kernels,tf-to-kernels)"
        ),
        1 => format!(
            "builtin.module(tf-functionalize-control-flow,tf-outline-regions,tf-gradients,tf-expand-collectives,tf-shape-inference,\
             {place}{cross}tf-prune-control-edges,tf-constant-fold,inline{{dialect=tf max-new-ops=131072}},cse,\
             tf-shape-inference,tf-constant-fold,inline{{dialect=tf max-new-ops=131072}},symbol-dce,{last}\
             tf-executor-to-kernels,tf-to-kernels)"
        ),
        _ => format!(
            "builtin.module(tf-functionalize-control-flow,tf-outline-regions,tf-gradients,tf-expand-collectives,tf-shape-inference,\
             {place}{cross}tf-prune-control-edges,{fold},inline{{dialect=tf max-new-ops=131072}},\
             tf-shape-inference,{fold},inline{{dialect=tf max-new-ops=131072}},cse,\
             {early}tf-constant-arguments,tf-arithmetic,\
             tf-shape-inference,{fold},cse,tf-arithmetic,tf-shape-inference,{fold},\
             tf-pack-loop-weights,tf-loop-invariant-code-motion,tf-sink-loop-sums,tf-layout,{fold},tf-remap,\
             tf-shape-inference,{fold},tf-remap,tf-fuse-quantization,tf-constant-fold,tf-pack-weights,tf-remap,tf-fuse-bottlenecks,tf-fuse-elementwise,cse,\
             symbol-dce,{last}{late}tf-to-kernels,\
             inline{{dialect=tfrt max-new-ops=131072 partial-errors}},tf-scalars-to-arith,\
             tf-simplify-control-flow,cse,symbol-dce,tf-plan-memory)"
        ),
    }
}
