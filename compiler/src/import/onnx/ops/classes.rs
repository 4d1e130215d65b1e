//! Scores and labels of classical models: link functions, and the label of the best score.
//!
//! ```text
//! a column for each class ──link function──▶ as many columns       label: the largest score
//! one column for two classes ──────────────▶ [other, score]        label: by the sign of the score
//! ```
//!
//! Labels are chosen before the link function. Where ONNX is silent, and where ONNX Runtime departs from it,
//! the results are those of ONNX Runtime.

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use super::learning::strings;
use crate::import::onnx::emit::{Lowered, Why};
use crate::import::onnx::graph::OnnxImporter;
use crate::import::onnx::node::OnnxNode;
use crate::ir::ValueId;

/// The labels of a classifier.
#[derive(Clone, Copy, Debug)]
pub(super) struct Labels {
    /// A constant vector.
    pub(super) values: ValueId,
    pub(super) count: i64,
    pub(super) are_strings: bool,
}

impl Labels {
    /// The labels in the attribute `of_ints` or `of_strings`.
    pub(super) fn new(
        g: &mut OnnxImporter<'_>,
        n: &OnnxNode<'_>,
        of_ints: &str,
        of_strings: &str,
    ) -> Result<Labels, Why> {
        if let Some(attr) = n.attr(of_strings).filter(|attr| !attr.strings.is_empty()) {
            let count = attr.strings.len() as i64;
            return Ok(Labels { values: strings(g, attr)?, count, are_strings: true });
        }
        let ints = n.ints(of_ints).unwrap_or_default();
        Ok(Labels { values: g.ints(ints)?, count: ints.len() as i64, are_strings: false })
    }

    /// The labels of the largest scores; the first of equal ones.
    pub(super) fn of_largest(self, g: &mut OnnxImporter<'_>, scores: ValueId) -> Result<ValueId, Why> {
        let best = best(g, scores)?;
        g.gather(self.values, best, 0)
    }

    /// The second of two labels where a column of scores is above the threshold, else the first.
    pub(super) fn above(
        self,
        g: &mut OnnxImporter<'_>,
        score: ValueId,
        threshold: f64,
    ) -> Result<ValueId, Why> {
        let threshold = g.scalar_like(threshold, score)?;
        let is_above = g.one(Op::Greater, &[score, threshold])?;
        let is_above = g.squeeze(is_above, &[1])?;
        let at = g.cast(is_above, DType::I64)?;
        g.gather(self.values, at, 0)
    }
}

/// The position of the largest score of each row; the first of equal ones.
pub(super) fn best(g: &mut OnnxImporter<'_>, scores: ValueId) -> Result<ValueId, Why> {
    let axis = g.int(1)?;
    g.to(Op::ArgMax, &[scores, axis], &[], DType::I64)
}

/// Scores in `columns` columns after the node's link function.
pub(super) fn linked(
    g: &mut OnnxImporter<'_>,
    scores: ValueId,
    columns: i64,
    post: &str,
) -> Result<ValueId, Why> {
    match post {
        "NONE" => Ok(scores),
        "PROBIT" => probit(g, scores),
        // A single column has no other link function in ONNX Runtime.
        "LOGISTIC" | "SOFTMAX" | "SOFTMAX_ZERO" if columns == 1 => Ok(scores),
        "LOGISTIC" => g.one(Op::Sigmoid, &[scores]),
        "SOFTMAX" => g.one(Op::Softmax, &[scores]),
        "SOFTMAX_ZERO" => softmax_zero(g, scores),
        other => Err(format!("post_transform '{other}' is not supported")),
    }
}

/// The softmax of the scores that are not zero; the others stay zero.
fn softmax_zero(g: &mut OnnxImporter<'_>, scores: ValueId) -> Result<ValueId, Why> {
    let largest = g.reduce(Op::Max, scores, &[1], true)?;
    let shifted = g.sub(scores, largest)?;
    let power = g.one(Op::Exp, &[shifted])?;
    let size = g.one(Op::Abs, &[scores])?;
    let (tiny, zero) = (g.scalar_like(1e-7, scores)?, g.scalar_like(0.0, scores)?);
    let is_zero = g.one(Op::LessEqual, &[size, tiny])?;
    let power = g.one(Op::SelectV2, &[is_zero, zero, power])?;
    let sum = g.reduce(Op::Sum, power, &[1], true)?;
    g.div(power, sum)
}

/// The quantile of the normal distribution, by ONNX Runtime's formula: Winitzki's, with an error of up to
/// 0.2 %.
fn probit(g: &mut OnnxImporter<'_>, scores: ValueId) -> Result<ValueId, Why> {
    const A: f64 = 0.147;
    let double = g.times(scores, 2.0)?;
    let x = g.plus(double, -1.0)?;
    let sign = g.one(Op::Sign, &[x])?;
    let square = g.one(Op::Square, &[x])?;
    let negative = g.one(Op::Neg, &[square])?;
    let log = g.one(Op::Log1p, &[negative])?;
    let half = g.times(log, 0.5)?;
    let v = g.plus(half, 2.0 / (std::f64::consts::PI * A))?;
    let (square, of_log) = (g.one(Op::Square, &[v])?, g.times(log, 1.0 / A)?);
    let difference = g.sub(square, of_log)?;
    let root = g.one(Op::Sqrt, &[difference])?;
    let rest = g.sub(root, v)?;
    let root = g.one(Op::Sqrt, &[rest])?;
    let root = g.times(root, std::f64::consts::SQRT_2)?;
    g.mul(sign, root)
}

/// Two columns from the scores of the second class, before the link function. If they are probabilities, the
/// first column has their complements, else the negated scores.
pub(super) fn of_two_classes(
    g: &mut OnnxImporter<'_>,
    score: ValueId,
    is_probability: bool,
    post: &str,
) -> Result<ValueId, Why> {
    if post == "PROBIT" {
        return Err("post_transform 'PROBIT' of one score for two classes is not defined".to_owned());
    }
    let (other, score) = if post == "LOGISTIC" {
        let other = g.one(Op::Neg, &[score])?;
        (g.one(Op::Sigmoid, &[other])?, g.one(Op::Sigmoid, &[score])?)
    } else if is_probability {
        let one = g.scalar_like(1.0, score)?;
        (g.sub(one, score)?, score)
    } else {
        (g.one(Op::Neg, &[score])?, score)
    };
    g.concat(&[other, score], 1)
}

/// The result of a classifier with a column of scores for each class.
pub(super) fn classified(
    g: &mut OnnxImporter<'_>,
    n: &OnnxNode<'_>,
    scores: ValueId,
    labels: Labels,
) -> Lowered {
    let label = labels.of_largest(g, scores)?;
    Ok(vec![label, linked(g, scores, labels.count, n.word("post_transform", "NONE")?)?])
}
