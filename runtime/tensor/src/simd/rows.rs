//! Functions of whole rows: softmax, log softmax, layer normalization. The row is read from memory once;
//! later passes find it in the cache.
//!
//! Sums and maxima use [`LANES`] independent accumulators, so that no addition waits for the one before.

#![allow(
    clippy::needless_range_loop,
    reason = "indices, not iterators, which are only as good as the build's inlining"
)]

use super::functions::{across, exp, fma};

/// Two registers of the widest instruction set, eight of the narrowest.
const LANES: usize = 32;

/// A function of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RowFunction<'a> {
    /// `e^(x - max) / sum of e^(x - max)`.
    Softmax,
    /// `x - max - log(sum of e^(x - max))`.
    LogSoftmax,
    /// `(x - mean) / sqrt(variance + epsilon) * scale + offset`.
    LayerNorm {
        /// A number for each column.
        scale: &'a [f32],
        /// A number for each column.
        offset: &'a [f32],
        epsilon: f32,
    },
}

#[inline(always)]
pub(super) fn run<const FMA: bool>(function: RowFunction<'_>, row: &mut [f32]) {
    let n = row.len();
    match function {
        RowFunction::Softmax => {
            let max = largest(row);
            let scale = 1.0
                / fold(row, |x, sum| {
                    *x = exp::<FMA>(*x - max);
                    sum + *x
                });
            for x in row {
                *x *= scale;
            }
        }
        RowFunction::LogSoftmax => {
            let max = largest(row);
            let sum = fold(row, |x, sum| sum + exp::<FMA>(*x - max));
            let log_sum = sum.ln();
            // If all elements are infinite, `max - max` has made the sum NaN. Not `max + log_sum`: a large
            // maximum would absorb the logarithm.
            for x in row {
                *x = (*x - max) - log_sum;
            }
        }
        RowFunction::LayerNorm { scale, offset, epsilon } => {
            let mean = fold(row, |x, sum| sum + *x) / n as f32;
            let variance = fold(row, |x, sum| {
                *x -= mean;
                fma::<FMA>(*x, *x, sum)
            });
            let factor = 1.0 / (variance / n as f32 + epsilon).sqrt();
            let (scale, offset) = (&scale[..n], &offset[..n]);
            for i in 0..n {
                row[i] = fma::<FMA>(row[i] * factor, scale[i], offset[i]);
            }
        }
    }
}

/// The gradient of [`RowFunction::LayerNorm`] with respect to rows `x`, from the gradient by the result,
/// which it overwrites. Adds to `by_scale` and `by_offset` the gradients with respect to these.
#[inline(always)]
pub(super) fn norm_gradient<const FMA: bool>(
    x: &[f32],
    (scale, epsilon): (&[f32], f32),
    dy: &mut [f32],
    [by_scale, by_offset]: [&mut [f64]; 2],
) {
    let n = scale.len();
    let (by_scale, by_offset) = (&mut by_scale[..n], &mut by_offset[..n]);
    for (x, dy) in x.chunks_exact(n.max(1)).zip(dy.chunks_exact_mut(n.max(1))) {
        let mean = sum_of(x, |x, sum| sum + x) / n as f32;
        let variance = sum_of(x, |x, sum| fma::<FMA>(x - mean, x - mean, sum)) / n as f32;
        let inverse = 1.0 / (variance + epsilon).sqrt();
        // The sums of the scaled gradients, and of these times the normalized row.
        let (mut sums, mut products) = ([0.0; LANES], [0.0; LANES]);
        let whole = n / LANES * LANES;
        for from in (0..whole).step_by(LANES) {
            let (x, dy, scale) = (&x[from..][..LANES], &dy[from..][..LANES], &scale[from..][..LANES]);
            let (by_scale, by_offset) = (&mut by_scale[from..][..LANES], &mut by_offset[from..][..LANES]);
            for j in 0..LANES {
                let (normal, scaled) = ((x[j] - mean) * inverse, dy[j] * scale[j]);
                sums[j] += scaled;
                products[j] = fma::<FMA>(scaled, normal, products[j]);
                by_scale[j] += f64::from(dy[j] * normal);
                by_offset[j] += f64::from(dy[j]);
            }
        }
        for j in whole..n {
            let (normal, scaled) = ((x[j] - mean) * inverse, dy[j] * scale[j]);
            sums[j - whole] += scaled;
            products[j - whole] += scaled * normal;
            by_scale[j] += f64::from(dy[j] * normal);
            by_offset[j] += f64::from(dy[j]);
        }
        let sum = across(sums, |a, b| a + b) / n as f32;
        let product = across(products, |a, b| a + b) / n as f32;
        let (x, scale) = (&x[..n], &scale[..n]);
        for j in 0..n {
            let normal = (x[j] - mean) * inverse;
            dy[j] = fma::<FMA>(-normal, product, fma::<FMA>(dy[j], scale[j], -sum)) * inverse;
        }
    }
}

/// [`fold`] of a row that does not change.
#[inline(always)]
fn sum_of(row: &[f32], step: impl Fn(f32, f32) -> f32) -> f32 {
    let mut lanes = [0.0; LANES];
    let (blocks, rest) = row.as_chunks::<LANES>();
    for block in blocks {
        for j in 0..LANES {
            lanes[j] = step(block[j], lanes[j]);
        }
    }
    rest.iter().fold(0.0, |sum, &x| step(x, sum)) + across(lanes, |a, b| a + b)
}

/// The sum of `step` over all elements, each visited once; `step` may change the element.
#[inline(always)]
fn fold(row: &mut [f32], step: impl Fn(&mut f32, f32) -> f32) -> f32 {
    let mut lanes = [0.0; LANES];
    let (blocks, rest) = row.as_chunks_mut::<LANES>();
    for block in blocks {
        for j in 0..LANES {
            lanes[j] = step(&mut block[j], lanes[j]);
        }
    }
    let mut sum = 0.0;
    for x in rest {
        sum = step(x, sum);
    }
    sum + across(lanes, |a, b| a + b)
}

/// The largest element, ignoring NaN; negative infinity if there is none.
#[inline(always)]
fn largest(row: &[f32]) -> f32 {
    let mut lanes = [f32::NEG_INFINITY; LANES];
    let (blocks, rest) = row.as_chunks::<LANES>();
    for block in blocks {
        for j in 0..LANES {
            lanes[j] = if block[j] > lanes[j] { block[j] } else { lanes[j] };
        }
    }
    rest.iter().chain(&lanes).fold(f32::NEG_INFINITY, |max, &x| if x > max { x } else { max })
}
