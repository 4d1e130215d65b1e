//! What happens to a tile of a product right after it was written, while it is in the first cache.
//!
//! One call for a tile, not one per row, and loops over a whole panel's width, which the compiler knows.

#![allow(
    clippy::needless_range_loop,
    reason = "indices, not iterators, which are only as good as the build's inlining"
)]

use super::PANEL;
use super::functions::{Function, fma};
use super::planes::ACROSS;

/// What happens to a product on its way to memory: `f(product * scale + bias + residual)`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Epilogue<'a> {
    /// A number for each column.
    pub scale: Option<&'a [f32]>,
    /// A number for each column.
    pub bias: Option<&'a [f32]>,
    /// A number for each element; rows as far apart as those of the product.
    pub residual: Option<&'a [f32]>,
    /// The function applied last.
    pub function: Function,
}

impl<'a> Epilogue<'a> {
    /// That of a part that begins in this column, at this element.
    pub(crate) fn part(&self, col: usize, at: usize) -> Epilogue<'a> {
        let Epilogue { scale, bias, residual, function } = *self;
        let columns = |x: Option<&'a [f32]>| x.map(|x| &x[col..]);
        Epilogue {
            scale: columns(scale),
            bias: columns(bias),
            residual: residual.map(|residual| &residual[at..]),
            function,
        }
    }

    /// Whether nothing happens.
    pub(crate) fn is_plain(&self) -> bool {
        let Epilogue { scale, bias, residual, function } = self;
        [scale, bias, residual].iter().all(|x| x.is_none()) && *function == Function::Identity
    }
}

/// What is added, and the functions that cost next to nothing; whether the function has been applied. The others have loops of their own, which need
/// not be here once more.
#[inline(always)]
pub(super) fn run<const FMA: bool>(
    epilogue: &Epilogue<'_>,
    (rows, width): (usize, usize),
    out: &mut [f32],
    stride: usize,
) -> bool {
    let limits = limits(epilogue.function);
    let scale = epilogue.scale.map(|scale| &scale[..width]);
    let bias = epilogue.bias.map(|bias| &bias[..width]);
    for i in 0..rows {
        let out = &mut out[i * stride..][..width];
        let residual = epilogue.residual.map(|residual| &residual[i * stride..][..width]);
        if let Ok(out) = <&mut [f32; PANEL]>::try_from(&mut *out) {
            row::<FMA>(limits, scale, [bias, residual], out);
        } else {
            row::<FMA>(limits, scale, [bias, residual], out);
        }
    }
    is_limits(epilogue.function)
}

/// [`run`] without a residual, where each of `sums` is a column.
#[inline(always)]
pub(super) fn run_turned<const FMA: bool>(epilogue: &Epilogue<'_>, sums: &mut [[f32; ACROSS]]) -> bool {
    let limits = limits(epilogue.function);
    for i in 0..sums.len() {
        let scale = epilogue.scale.map(|scale| [scale[i]; ACROSS]);
        let bias = epilogue.bias.map(|bias| [bias[i]; ACROSS]);
        let (scale, bias) = (scale.as_ref().map(|x| &x[..]), bias.as_ref().map(|x| &x[..]));
        row::<FMA>(limits, scale, [bias, None], &mut sums[i]);
    }
    is_limits(epilogue.function)
}

/// The limits that a function keeps numbers in.
#[inline(always)]
fn limits(function: Function) -> (f32, f32) {
    match function {
        Function::Relu => (0.0, f32::INFINITY),
        Function::Relu6 => (0.0, 6.0),
        _ => (f32::NEG_INFINITY, f32::INFINITY),
    }
}

/// Whether a function does nothing else.
fn is_limits(function: Function) -> bool {
    matches!(function, Function::Identity | Function::Relu | Function::Relu6)
}

#[inline(always)]
fn row<const FMA: bool>(
    (low, high): (f32, f32),
    scale: Option<&[f32]>,
    [bias, residual]: [Option<&[f32]>; 2],
    out: &mut [f32],
) {
    match (scale.map(|x| &x[..out.len()]), bias.map(|x| &x[..out.len()])) {
        (Some(scale), Some(bias)) => {
            for j in 0..out.len() {
                out[j] = fma::<FMA>(out[j], scale[j], bias[j]);
            }
        }
        (Some(scale), None) => {
            for j in 0..out.len() {
                out[j] *= scale[j];
            }
        }
        (None, Some(bias)) => {
            for j in 0..out.len() {
                out[j] += bias[j];
            }
        }
        (None, None) => {}
    }
    if let Some(residual) = residual.map(|x| &x[..out.len()]) {
        for j in 0..out.len() {
            out[j] += residual[j];
        }
    }
    for j in 0..out.len() {
        let x = if out[j] < low { low } else { out[j] };
        out[j] = if x > high { high } else { x };
    }
}
