//! What happens to a tile of a product right after it was written, while it is in the first cache.
//!
//! One call for a tile, not one per row, and loops over a whole panel's width, which the compiler knows.

#![allow(
    clippy::needless_range_loop,
    reason = "indices, not iterators, which are only as good as the build's inlining"
)]

use super::PANEL;
use super::functions::{Function, map};

/// `f(out + bias + residual)` for a part of a matrix.
pub(crate) struct Finish<'a> {
    /// A number for each column of the part.
    pub(crate) bias: Option<&'a [f32]>,
    /// From the part's first element on; rows as far apart as those of `out`.
    pub(crate) residual: Option<&'a [f32]>,
    /// The function applied last.
    pub(crate) function: Function,
}

#[inline(always)]
pub(super) fn run<const FMA: bool>(
    epilogue: &Finish<'_>,
    (rows, width): (usize, usize),
    out: &mut [f32],
    stride: usize,
) {
    let Finish { bias, residual, function } = epilogue;
    let bias = bias.map(|bias| &bias[..width]);
    for i in 0..rows {
        let out = &mut out[i * stride..][..width];
        let residual = residual.map(|residual| &residual[i * stride..][..width]);
        if let Ok(out) = <&mut [f32; PANEL]>::try_from(&mut *out) {
            row::<FMA>(*function, bias, residual, out);
        } else {
            row::<FMA>(*function, bias, residual, out);
        }
    }
}

#[inline(always)]
fn row<const FMA: bool>(function: Function, bias: Option<&[f32]>, residual: Option<&[f32]>, out: &mut [f32]) {
    for x in [bias, residual].into_iter().flatten() {
        let x = &x[..out.len()];
        for j in 0..out.len() {
            out[j] += x[j];
        }
    }
    map::<FMA>(function, out);
}
