//! Softmax, its logarithm and layer norm, row by row (`simd`). A row with a NaN or +inf, or only -inf, becomes all NaN.

use crate::simd::{Isa, RowFunction};

/// Softmax of each row of length `n`: `e^(x - max) / sum of e^(x - max)`, hence no overflow.
///
/// # Panics
/// If there are no whole rows.
pub fn softmax_in_place(n: usize, out: &mut [f32]) {
    rows(RowFunction::Softmax, n, out);
}

/// The logarithm of softmax of each row of length `n`: `x - max - log(sum of e^(x - max))`.
///
/// # Panics
/// If there are no whole rows.
pub fn log_softmax_in_place(n: usize, out: &mut [f32]) {
    rows(RowFunction::LogSoftmax, n, out);
}

/// `(x - mean) / sqrt(variance + epsilon) * scale + offset` of each row, which is as long as `scale` and `offset` are.
///
/// # Panics
/// If there are no whole rows, or `scale` and `offset` differ in length.
pub fn layer_norm_in_place(scale: &[f32], offset: &[f32], epsilon: f32, out: &mut [f32]) {
    assert_eq!(scale.len(), offset.len());
    rows(RowFunction::LayerNorm { scale, offset, epsilon }, scale.len(), out);
}

fn rows(function: RowFunction<'_>, n: usize, out: &mut [f32]) {
    if n == 0 {
        return assert!(out.is_empty());
    }
    assert!(out.len().is_multiple_of(n));
    Isa::detect().map_rows(function, n, out);
}
