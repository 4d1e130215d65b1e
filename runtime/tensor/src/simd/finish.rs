//! What happens to a tile of a product right after it was written, while it is in the first cache.
//!
//! One call for a tile, not one per row, and loops over a whole panel's width, which the compiler knows.

#![allow(
    clippy::needless_range_loop,
    reason = "indices, not iterators, which are only as good as the build's inlining"
)]

use super::PANEL;
use super::functions::Function;

/// `f(out + bias + residual)` for a part of a matrix.
pub(crate) struct Finish<'a> {
    /// A number for each column of the part.
    pub(crate) bias: Option<&'a [f32]>,
    /// From the part's first element on; rows as far apart as those of `out`.
    pub(crate) residual: Option<&'a [f32]>,
    /// The function applied last.
    pub(crate) function: Function,
}

/// What is added, and the functions that cost next to nothing; whether the function has been applied. The others have loops of their own, which need
/// not be here once more.
#[inline(always)]
pub(super) fn run(
    epilogue: &Finish<'_>,
    (rows, width): (usize, usize),
    out: &mut [f32],
    stride: usize,
) -> bool {
    let (low, high) = match epilogue.function {
        Function::Relu => (0.0, f32::INFINITY),
        Function::Relu6 => (0.0, 6.0),
        _ => (f32::NEG_INFINITY, f32::INFINITY),
    };
    let bias = epilogue.bias.map(|bias| &bias[..width]);
    for i in 0..rows {
        let out = &mut out[i * stride..][..width];
        let residual = epilogue.residual.map(|residual| &residual[i * stride..][..width]);
        if let Ok(out) = <&mut [f32; PANEL]>::try_from(&mut *out) {
            row((low, high), bias, residual, out);
        } else {
            row((low, high), bias, residual, out);
        }
    }
    matches!(epilogue.function, Function::Identity | Function::Relu | Function::Relu6)
}

#[inline(always)]
fn row((low, high): (f32, f32), bias: Option<&[f32]>, residual: Option<&[f32]>, out: &mut [f32]) {
    for x in [bias, residual].into_iter().flatten() {
        let x = &x[..out.len()];
        for j in 0..out.len() {
            out[j] += x[j];
        }
    }
    for j in 0..out.len() {
        let x = if out[j] < low { low } else { out[j] };
        out[j] = if x > high { high } else { x };
    }
}
