//! The passes of this crate, in one list: those of `pass`, which serve any dialect, and those of `graph`.
//!
//! It is above both: passes depend on the pass manager ([`crate::pass`]), which does not depend on them.

use crate::diag::Diagnostic;
use crate::graph;
use crate::pass::{self, Pass, PassManager};

/// All passes, sorted by name.
pub fn passes() -> &'static [Pass] {
    const PASSES: &[Pass] = &[
        pass::canonicalize::PASS,
        pass::cse::PASS,
        pass::dce::PASS,
        pass::inline::PASS,
        pass::licm::PASS,
        graph::memory::PRINT,
        pass::print_op_stats::PASS,
        pass::print_stream::PASS,
        pass::sccp::PASS,
        pass::strip::PASS,
        pass::symbol_dce::PASS,
        graph::rewrites::ARITHMETIC,
        graph::fold::PASS,
        graph::elementwise::PASS,
        graph::layout::PASS,
        graph::licm::PASS,
        graph::regions::PASS,
        graph::pack::PASS,
        graph::memory::PASS,
        graph::rewrites::REMAP,
        graph::shapes::PASS,
        graph::lower::PASS,
    ];
    PASSES
}

impl PassManager {
    /// A pipeline of these passes from its text. Without an anchor the passes run on the module.
    pub fn parse(text: &str) -> Result<Self, Box<Diagnostic>> {
        Self::parse_among(text, passes())
    }
}

#[test]
fn passes_are_sorted() {
    assert!(passes().is_sorted_by_key(|p| p.name));
}
