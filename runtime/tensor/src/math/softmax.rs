//! Row-wise softmax, log softmax and layer normalization (`simd`). A row with a NaN or +inf, or only -inf,
//! becomes all NaN.

use crate::simd::{Isa, RowFunction};

/// Softmax of each row of length `n`: `e^(x - max) / sum of e^(x - max)`, which cannot overflow.
///
/// # Panics
/// If the length is not a multiple of `n`.
pub fn softmax_in_place(n: usize, out: &mut [f32]) {
    rows(RowFunction::Softmax, n, out);
}

/// Log softmax of each row of length `n`: `x - max - log(sum of e^(x - max))`.
///
/// # Panics
/// If the length is not a multiple of `n`.
pub fn log_softmax_in_place(n: usize, out: &mut [f32]) {
    rows(RowFunction::LogSoftmax, n, out);
}

/// `(x - mean) / sqrt(variance + epsilon) * scale + offset` of each row; rows are as long as `scale` and
/// `offset`.
///
/// # Panics
/// If the length is not a multiple of the row's, or `scale` and `offset` differ in length.
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
