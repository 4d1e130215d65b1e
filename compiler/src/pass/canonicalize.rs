//! `canonicalize`: folding and the canonicalization patterns of all ops.
//!
//! Canonical forms and option names are MLIR's where MLIR has the op. Each pattern removes an op, replaces it
//! by a simpler one, or orders operands; so the pass terminates and is idempotent.
//! A `tfrt.merge.chains` of one chain that has no other use stays, as upstream; `-O1` and `-O2` fold it.

use super::{Change, OptionKind, Pass, PassCx, PassOption, Rewriter};
use crate::diag::Diagnostic;
use crate::dialects::Folded;
use crate::fold;
use crate::ir::{Module, OpId};
use crate::rewrite::{GreedyConfig, greedy};

pub(crate) const PASS: Pass = Pass {
    name: "canonicalize",
    title: "Canonicalizer",
    summary: "folds constants and applies the canonicalization patterns of all operations",
    options: &[
        PassOption {
            name: "top-down",
            summary: "start with the first operation, not with the last",
            kind: OptionKind::Flag(true),
        },
        PassOption {
            name: "region-simplify",
            summary: "how much regions are simplified",
            kind: OptionKind::Word("normal", &["disabled", "normal", "aggressive"]),
        },
        PassOption {
            name: "max-iterations",
            summary: "how often everything is looked at; -1 for no limit",
            kind: OptionKind::Number(10),
        },
        PassOption {
            name: "max-num-rewrites",
            summary: "how many rewrites are made; -1 for no limit",
            kind: OptionKind::Number(-1),
        },
        PassOption {
            name: "test-convergence",
            summary: "fail if there was more to do when a limit was reached",
            kind: OptionKind::Flag(false),
        },
    ],
    statistics: &[("num-rewrites", "number of folds and rewrites")],
    run,
};

fn run(rewriter: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let config = GreedyConfig {
        top_down: cx.flag("top-down"),
        max_iterations: u64::try_from(cx.number("max-iterations")).ok(),
        max_rewrites: u64::try_from(cx.number("max-num-rewrites")).ok(),
        simplify_regions: cx.text("region-simplify") != "disabled",
        fold: fold_as_upstream,
        materialize: fold::materialize,
        ..GreedyConfig::default()
    };
    let outcome = greedy(rewriter, &config);
    cx.count("num-rewrites", outcome.n_rewrites);
    if !outcome.converged && cx.flag("test-convergence") {
        cx.report(Diagnostic::error("E0506", "`canonicalize` reached its limit before it was done"));
    }
    outcome.change
}

/// Folds an op unless upstream leaves it alone.
fn fold_as_upstream(m: &mut Module, op: OpId) -> Option<Vec<Folded>> {
    if fold::tfrt::merges_one_private_chain(m, op) { None } else { fold::fold(m, op) }
}
