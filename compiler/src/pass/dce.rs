//! `dce`: dead code elimination.
//!
//! Removes ops without effects whose results are unused, unreachable blocks, and unused block arguments, also
//! those that only feed themselves around a loop. Effects are defined in `rewrite/effects.rs`; dead code is
//! found in `rewrite/simplify.rs`.

use super::{Change, Pass, PassCx, Rewriter};
use crate::rewrite::simplify_regions;

pub(crate) const PASS: Pass = Pass {
    name: "dce",
    title: "DCE",
    summary: "removes operations whose results nobody uses and that have no effects, and blocks that are never reached",
    options: &[],
    statistics: &[],
    run,
};

fn run(r: &mut Rewriter<'_>, _: &PassCx<'_>) -> Change {
    let root = r.root();
    simplify_regions(r, root)
}
