//! `tf-arithmetic` and `tf-remap`: the greedy application of a family of patterns.

use super::patterns::{self, Family};
use super::{constant_fold, signatures};
use crate::build::sizes;
use crate::pass::{Change, Pass, PassCx, Rewriter};
use crate::rewrite::{GreedyConfig, greedy};

pub(crate) const ARITHMETIC: Pass = Pass {
    name: "tf-arithmetic",
    title: "TFArithmetic",
    summary: "simplifies TensorFlow's operators by the laws of arithmetic",
    options: &[],
    statistics: &[("num-rewrites", "Number of folds and rewrites")],
    run: |r, cx| {
        run(
            r,
            cx,
            &GreedyConfig {
                patterns: |def| patterns::of(Family::Arithmetic, def),
                ..GreedyConfig::default()
            },
        )
    },
};

pub(crate) const REMAP: Pass = Pass {
    name: "tf-remap",
    title: "TFRemap",
    summary: "makes one operator of several that one kernel does at once",
    options: &[],
    statistics: &[("num-rewrites", "Number of folds and rewrites")],
    run: |r, cx| {
        run(
            r,
            cx,
            &GreedyConfig { patterns: |def| patterns::of(Family::Fusion, def), ..GreedyConfig::default() },
        )
    },
};

/// Makes one operator of each layer that is written with elementary ones and has a kernel for its gradient.
/// Gradients stay what they are, except those by intermediate results of the layer.
pub(crate) fn recognize_layers(r: &mut Rewriter<'_>) {
    sizes::forget(r.ir());
    let patterns = |def| patterns::of(Family::Layers, def);
    _ = greedy(r, &GreedyConfig { patterns, simplify_regions: false, ..GreedyConfig::default() });
}

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>, config: &GreedyConfig) -> Change {
    let config =
        GreedyConfig { fold: constant_fold::fold, materialize: constant_fold::materialize, ..*config };
    sizes::forget(r.ir());
    let outcome = greedy(r, &config);
    cx.count("num-rewrites", outcome.n_rewrites);
    signatures::refresh(r);
    r.change()
}
