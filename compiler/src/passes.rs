//! The passes of this crate, in one list: those of `pass`, which serve any dialect, of `graph` and of
//! `upstream`.
//!
//! It is above all of them: passes depend on the pass manager ([`crate::pass`]), which does not depend on
//! them.

use crate::device::{self, DeviceOptions};
use crate::diag::Diagnostic;
use crate::grad;
use crate::graph;
use crate::ir::Module;
use crate::pass::{self, Pass, PassManager};
use crate::upstream;

/// All passes, sorted by name.
pub fn passes() -> &'static [Pass] {
    const PASSES: &[Pass] = &[
        pass::canonicalize::PASS,
        upstream::PASS,
        pass::cse::PASS,
        pass::dce::PASS,
        pass::inline::PASS,
        pass::licm::PASS,
        graph::memory::PRINT,
        pass::print_op_stats::PASS,
        pass::print_stream::PASS,
        graph::print_work::PASS,
        pass::sccp::PASS,
        pass::strip_debuginfo::PASS,
        pass::symbol_dce::PASS,
        graph::pattern_passes::ARITHMETIC,
        graph::constant_arguments::PASS,
        graph::constant_fold::PASS,
        graph::dataflow::native::PASS,
        device::collectives::PASS,
        graph::dataflow::FUNCTIONALIZE,
        graph::fuse_bottlenecks::PASS,
        graph::fuse_elementwise::PASS,
        graph::fuse_quantization::PASS,
        grad::PASS,
        graph::layout::PASS,
        graph::licm::PASS,
        graph::dataflow::LOWER,
        graph::lower_precision::PASS,
        graph::outline_regions::PASS,
        graph::loop_weights::PASS,
        graph::pack_weights::PASS,
        device::partition::PASS,
        device::place::PASS,
        graph::memory::PASS,
        graph::control_edges::PASS,
        graph::pattern_passes::REMAP,
        graph::memory::REMATERIALIZE,
        device::resolve::PASS,
        graph::scalars::PASS,
        graph::shape_inference::PASS,
        graph::control_flow::PASS,
        device::place::simulate::PASS,
        graph::loop_sums::PASS,
        graph::lower::PASS,
        device::transfers::PASS,
        device::view::PASS,
        device::partition::verify::PASS,
    ];
    PASSES
}

/// The passes that make a module executable at an optimization level, as a pipeline; `None` for a kernel
/// graph, which is compiled as written. The devices are those that the op graph may use.
pub fn default_pipeline(m: &Module, level: u8, devices: &DeviceOptions) -> Option<String> {
    let op_graph = graph::is_op_graph(m).then(|| graph::pipeline_for(level, devices));
    if !upstream::is_upstream(m) {
        return op_graph;
    }
    let inner = op_graph.as_deref().and_then(|text| text.strip_prefix("builtin.module(")?.strip_suffix(')'));
    let rest = inner.map_or(String::new(), |inner| format!(",{inner}"));
    Some(format!("builtin.module({}{rest})", upstream::PASS.name))
}

impl PassManager {
    /// A pipeline of these passes from its text. Without an anchor the passes run on the module.
    pub fn parse(text: &str) -> Result<Self, Box<Diagnostic>> {
        Self::parse_among(text, passes())
    }
}
