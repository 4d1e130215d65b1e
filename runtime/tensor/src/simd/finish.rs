//! The epilogue of a product's tile, applied right after the tile was written, while it is in the L1 cache.
//!
//! One call per tile, not one per row. Loops cover a whole panel's width, which is a constant.

#![allow(
    clippy::needless_range_loop,
    reason = "indices, not iterators, which are only as good as the build's inlining"
)]

use super::functions::{Function, fma};
use super::layout::{OutRows, PANEL};
use super::planes::ACROSS;

/// The epilogue of a product: `f(product * scale + bias + residual)`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Epilogue<'a> {
    /// A number for each column.
    pub scale: Option<&'a [f32]>,
    /// A number for each column.
    pub bias: Option<&'a [f32]>,
    /// A number for each element; the row stride is that of the product.
    pub residual: Option<&'a [f32]>,
    /// The function applied last.
    pub function: Function,
}

impl<'a> Epilogue<'a> {
    /// The epilogue of the part of the product that begins in column `col`, at element `at`.
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

    /// True if the epilogue does nothing.
    pub(crate) fn is_plain(&self) -> bool {
        let Epilogue { scale, bias, residual, function } = self;
        [scale, bias, residual].iter().all(|x| x.is_none()) && *function == Function::Identity
    }
}

/// Applies scale, bias, residual, and a function that only clamps. Returns true if the function has been
/// applied; the others have loops of their own in `functions`.
#[inline(always)]
pub(super) fn run<const FMA: bool>(
    epilogue: &Epilogue<'_>,
    (rows, width): (usize, usize),
    out: &mut OutRows<'_, '_>,
    stride: usize,
) -> bool {
    let limits = limits(epilogue.function);
    let scale = epilogue.scale.map(|scale| &scale[..width]);
    let bias = epilogue.bias.map(|bias| &bias[..width]);
    for i in 0..rows {
        let out = &mut out.row(i)[..width];
        let residual = epilogue.residual.map(|residual| &residual[i * stride..][..width]);
        if let Ok(out) = <&mut [f32; PANEL]>::try_from(&mut *out) {
            row::<FMA>(limits, scale, [bias, residual], out);
        } else {
            row::<FMA>(limits, scale, [bias, residual], out);
        }
    }
    is_limits(epilogue.function)
}

/// [`run`] without a residual, where each row of `sums` is a column.
#[inline(always)]
pub(super) fn run_transposed<const FMA: bool>(epilogue: &Epilogue<'_>, sums: &mut [[f32; ACROSS]]) -> bool {
    let limits = limits(epilogue.function);
    for i in 0..sums.len() {
        let scale = epilogue.scale.map(|scale| [scale[i]; ACROSS]);
        let bias = epilogue.bias.map(|bias| [bias[i]; ACROSS]);
        let (scale, bias) = (scale.as_ref().map(|x| &x[..]), bias.as_ref().map(|x| &x[..]));
        row::<FMA>(limits, scale, [bias, None], &mut sums[i]);
    }
    is_limits(epilogue.function)
}

/// The clamping limits of a function.
#[inline(always)]
pub(super) fn limits(function: Function) -> (f32, f32) {
    match function {
        Function::Relu => (0.0, f32::INFINITY),
        Function::Relu6 => (0.0, 6.0),
        _ => (f32::NEG_INFINITY, f32::INFINITY),
    }
}

/// True for functions that only clamp.
pub(super) fn is_limits(function: Function) -> bool {
    matches!(function, Function::Identity | Function::Relu | Function::Relu6)
}

/// The number of lanes per step: a register of the widest instruction set, or several narrower ones.
const LANES: usize = 16;

/// Applies the epilogue to some columns of a row. Whole registers are copied first: the compiler cannot
/// exclude that output and input alias, and would not vectorize otherwise.
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
pub(super) fn within((low, high): (f32, f32), x: f32) -> f32 {
    // `<=`: a zero becomes the limit 0, whatever its sign.
    let x = if x <= low { low } else { x };
    if x > high { high } else { x }
}
