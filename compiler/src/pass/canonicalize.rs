//! `canonicalize`: the simplest form of each op, by folding and by the patterns of the op table.
//!
//! What is simplest is upstream's choice where upstream has the op. So a `tfrt.merge.chains` of one chain
//! without another use stays; the passes of `-O1` and `-O2` fold it. Options have upstream's names. Every
//! pattern either removes an op, or replaces one by a simpler one, or orders operands; so the pass ends, and
//! doing it again changes nothing.

use super::{Change, OptionKind, Pass, PassCx, PassOption, Rewriter};
use crate::diag::Diagnostic;
use crate::dialects::Folded;
use crate::fold;
use crate::ir::{Module, OpId};
use crate::rewrite::{Greedy, greedy};

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
    let config = Greedy {
        top_down: cx.flag("top-down"),
        max_iterations: u64::try_from(cx.number("max-iterations")).ok(),
        max_rewrites: u64::try_from(cx.number("max-num-rewrites")).ok(),
        simplify_regions: cx.text("region-simplify") != "disabled",
        fold: fold_as_upstream,
        materialize: fold::materialize,
        ..Greedy::default()
    };
    let outcome = greedy(rewriter, &config);
    cx.count("num-rewrites", outcome.n_rewrites);
    if !outcome.converged && cx.flag("test-convergence") {
        cx.say(Diagnostic::error("E0506", "`canonicalize` reached its limit before it was done"));
    }
    outcome.change
}

/// Folds an op unless upstream leaves it alone.
fn fold_as_upstream(m: &mut Module, op: OpId) -> Option<Vec<Folded>> {
    if fold::tfrt::merges_one_private_chain(m, op) { None } else { fold::fold(m, op) }
}
