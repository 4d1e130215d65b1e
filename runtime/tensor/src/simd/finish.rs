//! What happens to a tile of a product right after it was written, while it is in the first cache.
//!
//! One call for a tile, not one per row, and loops over a whole panel's width, which the compiler knows.

#![allow(
    clippy::needless_range_loop,
    reason = "indices, not iterators, which are only as good as the build's inlining"
)]

use super::functions::{Function, fma};
use super::layout::PANEL;
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

/// Numbers that are finished at a time: a register of the widest kind, or parts of it.
const LANES: usize = 16;

/// Some columns of a row. Whole registers of them are copied: what is written may be what is read, as far as the compiler knows, and then it adds one
/// number after another.
#[inline(always)]
fn row<const FMA: bool>(
    limits: (f32, f32),
    scale: Option<&[f32]>,
    [bias, residual]: [Option<&[f32]>; 2],
    out: &mut [f32],
) {
    let (outs, rest) = out.as_chunks_mut::<LANES>();
    let from = outs.len() * LANES;
    for j in 0..outs.len() {
        let lanes = |x: Option<&[f32]>| x.map(|x| x.as_chunks::<LANES>().0[j]);
        let mut x = outs[j];
        match (lanes(scale), lanes(bias)) {
            (Some(scale), Some(bias)) => x = each(x, |i, x| fma::<FMA>(x, scale[i], bias[i])),
            (Some(scale), None) => x = each(x, |i, x| x * scale[i]),
            (None, Some(bias)) => x = each(x, |i, x| x + bias[i]),
            (None, None) => {}
        }
        if let Some(residual) = lanes(residual) {
            x = each(x, |i, x| x + residual[i]);
        }
        outs[j] = each(x, |_, x| within(limits, x));
    }
    let behind = |x: Option<&[f32]>, i: usize| x.map(|x| x[from + i]);
    for i in 0..rest.len() {
        let x = match (behind(scale, i), behind(bias, i)) {
            (Some(scale), Some(bias)) => fma::<FMA>(rest[i], scale, bias),
            (Some(scale), None) => rest[i] * scale,
            (None, Some(bias)) => rest[i] + bias,
            (None, None) => rest[i],
        };
        rest[i] = within(limits, behind(residual, i).map_or(x, |residual| x + residual));
    }
}

#[inline(always)]
fn each(mut x: [f32; LANES], f: impl Fn(usize, f32) -> f32) -> [f32; LANES] {
    for i in 0..LANES {
        x[i] = f(i, x[i]);
    }
    x
}

#[inline(always)]
fn within((low, high): (f32, f32), x: f32) -> f32 {
    let x = if x < low { low } else { x };
    if x > high { high } else { x }
}
