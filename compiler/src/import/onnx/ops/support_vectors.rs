//! Support vector machines: products of features with vectors, through a kernel function.
//!
//! ```text
//! sums = kernel(x, vectors) * coefficients + rho                  regression: one column
//!                                                                 classes: a column for each pair of them
//! ```
//!
//! A pair's sum votes for one of its two classes. Sums of squares are computed in f64, so that a distance may
//! be the difference of large products.

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use super::classes::{Labels, best, classified, linked, of_two_classes};
use super::learning::features;
use crate::import::onnx::emit::{AttrArg, Lowered, Why, one};
use crate::import::onnx::graph::OnnxImporter;
use crate::import::onnx::node::OnnxNode;
use crate::ir::ValueId;

/// Limit on the number of classes: there is a column for each pair.
const MAX_CLASSES: usize = 1 << 10;

/// The product of `x` with the rows of `vectors`.
fn products(g: &mut OnnxImporter<'_>, x: ValueId, vectors: ValueId) -> Result<ValueId, Why> {
    g.op(Op::MatMul, &[x, vectors], &[("transpose_b", AttrArg::Bool(true))])
}

/// The kernel function of each row of `x` with each of the vectors.
fn kernels(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>, x: ValueId, vectors: ValueId) -> Result<ValueId, Why> {
    let parameters = n.floats("kernel_params");
    let parameter = |i: usize| parameters.get(i).copied().map_or(0.0, f64::from);
    let (gamma, offset, degree) = (parameter(0), parameter(1), parameter(2));
    let kind = n.word("kernel_type", "LINEAR")?;
    if kind == "RBF" {
        let (x, vectors) = (g.cast(x, DType::F64)?, g.cast(vectors, DType::F64)?);
        let sum_of_squares = |g: &mut OnnxImporter<'_>, x: ValueId| {
            let squares = g.one(Op::Square, &[x])?;
            g.reduce(Op::Sum, squares, &[1], true)
        };
        let (of_x, of_vectors) = (sum_of_squares(g, x)?, sum_of_squares(g, vectors)?);
        let of_vectors = g.transpose(of_vectors, &[1, 0])?;
        let both = g.add(of_x, of_vectors)?;
        let product = products(g, x, vectors)?;
        let product = g.times(product, 2.0)?;
        let distance = g.sub(both, product)?;
        let power = g.times(distance, -gamma)?;
        let power = g.cast(power, DType::F32)?;
        return g.one(Op::Exp, &[power]);
    }
    let product = products(g, x, vectors)?;
    if kind == "LINEAR" {
        return Ok(product);
    }
    let scaled = g.times(product, gamma)?;
    let sum = g.plus(scaled, offset)?;
    match kind {
        "POLY" => {
            let degree = g.scalar_like(degree, sum)?;
            g.one(Op::Pow, &[sum, degree])
        }
        "SIGMOID" => g.one(Op::Tanh, &[sum]),
        other => Err(format!("kernel_type '{other}' is not supported")),
    }
}

/// A matrix of constants with this number of rows.
fn matrix(g: &mut OnnxImporter<'_>, numbers: &[f32], rows: usize, of: &str) -> Result<ValueId, Why> {
    if rows == 0 || numbers.is_empty() || !numbers.len().is_multiple_of(rows) {
        return Err(format!("{} {of} for {rows} rows", numbers.len()));
    }
    g.floats(numbers, &[rows as i64, (numbers.len() / rows) as i64])
}

/// A number of vectors, which is not negative.
fn count(number: i64) -> Result<usize, Why> {
    usize::try_from(number).map_err(|_| format!("{number} vectors"))
}

pub(super) fn svm_regressor(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = features(g, n)?;
    let n_vectors = count(n.int_or("n_supports", 0))?;
    let coefficients = n.floats("coefficients");
    let sums = if n_vectors == 0 {
        let vector = matrix(g, coefficients, 1, "coefficients")?;
        products(g, x, vector)?
    } else {
        let vectors = matrix(g, n.floats("support_vectors"), n_vectors, "numbers of vectors")?;
        let kernels = kernels(g, n, x, vectors)?;
        let weights = matrix(g, coefficients, 1, "coefficients")?;
        products(g, kernels, weights)?
    };
    let rho = n.floats("rho").first().copied().unwrap_or(0.0);
    let sums = g.plus(sums, f64::from(rho))?;
    if n.flag("one_class", false) {
        let zero = g.scalar_like(0.0, sums)?;
        let is_inside = g.one(Op::Greater, &[sums, zero])?;
        let (inside, outside) = (g.scalar_like(1.0, sums)?, g.scalar_like(-1.0, sums)?);
        return one(g.one(Op::SelectV2, &[is_inside, inside, outside]));
    }
    // ONNX Runtime has no link function here.
    one(Ok(sums))
}

pub(super) fn svm_classifier(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let labels = Labels::new(g, n, "classlabels_ints", "classlabels_strings")?;
    let n_classes = usize::try_from(labels.count).ok().filter(|n| (2..=MAX_CLASSES).contains(n));
    let n_classes = n_classes.ok_or_else(|| format!("it has no classes, one, or above {MAX_CLASSES}"))?;
    let x = features(g, n)?;
    let (rho, post) = (n.floats("rho"), n.word("post_transform", "NONE")?);
    let per_class = n.ints("vectors_per_class").unwrap_or_default();
    if per_class.iter().all(|&n_vectors| n_vectors == 0) {
        return linear_models(g, n, x, labels);
    }
    if per_class.len() != n_classes {
        return Err(format!("vectors of {} classes for {n_classes}", per_class.len()));
    }
    let pairs = ClassPairs::new(n, per_class)?;
    if rho.len() != pairs.all.len() {
        return Err(format!("{} numbers rho for {} pairs of classes", rho.len(), pairs.all.len()));
    }
    let vectors = matrix(g, n.floats("support_vectors"), pairs.n_vectors, "numbers of vectors")?;
    let kernels = kernels(g, n, x, vectors)?;
    let (weights, n_pairs) = (pairs.weights(n.floats("coefficients"))?, pairs.all.len() as i64);
    let weights = g.floats(&weights, &[n_pairs, pairs.n_vectors as i64])?;
    let sums = products(g, kernels, weights)?;
    let rho = g.floats(rho, &[n_pairs])?;
    let sums = g.add(sums, rho)?;
    let best = pairs.winner(g, sums, n_classes)?;
    let label = g.gather(labels.values, best, 0)?;
    let (a, b) = (n.floats("prob_a"), n.floats("prob_b"));
    if !a.is_empty() {
        if a.len() != pairs.all.len() || b.len() != pairs.all.len() {
            return Err(format!("{} and {} numbers for {n_pairs} pairs of classes", a.len(), b.len()));
        }
        let (a, b) = (g.floats(a, &[n_pairs])?, g.floats(b, &[n_pairs])?);
        // 1 / (1 + exp(a * sum + b)), neither 0 nor 1.
        let scaled = g.mul(sums, a)?;
        let shifted = g.add(scaled, b)?;
        let power = g.one(Op::Neg, &[shifted])?;
        let share = g.one(Op::Sigmoid, &[power])?;
        let (low, high) = (g.scalar_like(1e-7, share)?, g.scalar_like(1.0 - 1e-7, share)?);
        let share = g.one(Op::Maximum, &[share, low])?;
        let share = g.one(Op::Minimum, &[share, high])?;
        let attrs = [("n_classes", AttrArg::Int(n_classes as i64))];
        let probabilities = g.op(Op::_CoupledProbabilities, &[share], &attrs)?;
        return Ok(vec![label, linked(g, probabilities, labels.count, post)?]);
    }
    if n_classes == 2 {
        return Ok(vec![label, of_two_classes(g, sums, post != "NONE", post)?]);
    }
    Ok(vec![label, linked(g, sums, n_pairs, post)?])
}

/// A classifier with a linear model of each class.
fn linear_models(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>, x: ValueId, labels: Labels) -> Lowered {
    let coefficients = n.floats("coefficients");
    // There are two classes or more, and not many.
    let weights = matrix(g, coefficients, labels.count as usize, "coefficients")?;
    let scores = products(g, x, weights)?;
    let rho = n.floats("rho").first().copied().unwrap_or(0.0);
    let scores = g.plus(scores, rho.into())?;
    if labels.count > 2 || !n.floats("prob_a").is_empty() {
        return classified(g, n, scores, labels);
    }
    // The second of two classes is chosen if any score is above the threshold.
    let threshold = if coefficients.iter().all(|&weight| weight >= 0.0) { 0.5f32.next_down() } else { 0.0 };
    let largest = g.reduce(Op::Max, scores, &[1], true)?;
    let threshold = g.scalar_like(threshold.into(), scores)?;
    let is_above = g.one(Op::Greater, &[largest, threshold])?;
    let is_above = g.squeeze(is_above, &[1])?;
    let (second, best) = (g.int(1)?, best(g, scores)?);
    let at = g.one(Op::SelectV2, &[is_above, second, best])?;
    let label = g.gather(labels.values, at, 0)?;
    Ok(vec![label, linked(g, scores, 2, n.word("post_transform", "NONE")?)?])
}

/// The pairs of classes, and the ranges of their vectors.
struct ClassPairs {
    all: Vec<(usize, usize)>,
    ranges: Vec<std::ops::Range<usize>>,
    n_vectors: usize,
}

impl ClassPairs {
    fn new(n: &OnnxNode<'_>, per_class: &[i64]) -> Result<ClassPairs, Why> {
        // There are no more vectors than numbers in them.
        let limit = n.floats("support_vectors").len();
        let (mut ranges, mut n_vectors) = (Vec::with_capacity(per_class.len()), 0);
        for &of_class in per_class {
            let end = count(of_class)?.saturating_add(n_vectors);
            if end > limit {
                return Err(format!("{limit} numbers in {end} or more vectors"));
            }
            ranges.push(n_vectors..end);
            n_vectors = end;
        }
        let classes = 0..per_class.len();
        let all = classes.clone().flat_map(|i| (i + 1..classes.end).map(move |j| (i, j))).collect();
        Ok(ClassPairs { all, ranges, n_vectors })
    }

    /// The weights of the vectors in the sum of each pair. The coefficients are those of class i against the
    /// others, in k - 1 rows.
    fn weights(&self, coefficients: &[f32]) -> Result<Vec<f32>, Why> {
        let (n, rows) = (self.n_vectors, self.ranges.len() - 1);
        if n.checked_mul(rows) != Some(coefficients.len()) {
            return Err(format!("{} coefficients for {n} vectors in {rows} rows", coefficients.len()));
        }
        let size = n.checked_mul(self.all.len()).filter(|&size| size <= 1 << 28);
        let mut weights = vec![0.0; size.ok_or("its vectors and classes are too many")?];
        for (&(i, j), weights) in self.all.iter().zip(weights.chunks_exact_mut(n.max(1))) {
            for (row, class) in [(j - 1, i), (i, j)] {
                let range = self.ranges[class].clone();
                weights[range.clone()].copy_from_slice(&coefficients[row * n..][range]);
            }
        }
        Ok(weights)
    }

    /// The class with the most votes, the first of those with as many.
    fn winner(&self, g: &mut OnnxImporter<'_>, sums: ValueId, n_classes: usize) -> Result<ValueId, Why> {
        // A positive sum is a vote for the first class of the pair, else for the second.
        let zero = g.scalar_like(0.0, sums)?;
        let first = g.one(Op::Greater, &[sums, zero])?;
        let first = g.cast(first, DType::F32)?;
        let mut to_first = vec![0.0; self.all.len() * n_classes];
        let mut without = vec![0.0; n_classes];
        for (&(i, j), votes) in self.all.iter().zip(to_first.chunks_exact_mut(n_classes)) {
            (votes[i], votes[j]) = (1.0, -1.0);
            without[j] += 1.0;
        }
        let to_first = g.floats(&to_first, &[self.all.len() as i64, n_classes as i64])?;
        let votes = g.one(Op::MatMul, &[first, to_first])?;
        let without = g.floats(&without, &[n_classes as i64])?;
        let votes = g.add(votes, without)?;
        best(g, votes)
    }
}
