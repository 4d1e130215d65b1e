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
