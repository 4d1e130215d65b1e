//! Tensors of bytes that stand for numbers, and the sums of their products as bytes again.
//!
//! ```text
//! byte ─▶ number      (byte - zero) * scale
//! number ─▶ byte      round(number / scale) + zero, within the type's range
//! sums ─▶ bytes       f((sum - zero * sum of the column) * scale of the column + bias), then as above
//!                     with a residual: that byte's number + the residual byte's number, f, then as above
//! ```
//!
//! Signed and unsigned bytes have the same kernels: xor with 0x80 is the difference. A tile's sums go from
//! the product to the bytes of the result in registers. There the division by the result's scale is a
//! multiplication by its inverse, which differs for numbers that are almost halfway between two bytes.

#![allow(clippy::needless_range_loop, reason = "indices, not iterators: see `tile`")]

use super::bytes::{LANES, Sums};
use super::convert::{MAGIC, PanelScales};
use super::finish::{limits, within};
use super::functions::{Function, fma};

/// The quantization of a tensor of bytes, i8 or u8: a byte stands for `(byte - zero) * scale`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Affine {
    /// The distance of neighbouring numbers.
    pub scale: f32,
    /// The byte that stands for 0; in the range of the type.
    pub zero: i32,
    /// True for i8.
    pub is_signed: bool,
}

impl Affine {
    /// The mask between the bytes and unsigned bytes of the same order.
    pub(crate) fn flip(self) -> u8 {
        if self.is_signed { 0x80 } else { 0 }
    }

    /// The unsigned byte that stands for 0.
    pub(crate) fn unsigned_zero(self) -> u8 {
        self.zero as u8 ^ self.flip()
    }

    /// The least and the largest multiple of the scale that a byte stands for.
    #[inline(always)]
    fn steps(self) -> (f32, f32) {
        let low = if self.is_signed { -128 } else { 0 };
        ((low - self.zero) as f32, (low + 255 - self.zero) as f32)
    }
}

/// The last step of a product of bytes whose result has bytes.
#[derive(Clone, Copy, Debug)]
pub struct Requantize<'a> {
    /// For each column, the number that a sum of 1 stands for.
    pub scale: &'a [f32],
    /// A number for each column.
    pub bias: Option<&'a [f32]>,
    /// The function applied before the result is rounded: the identity, or one that only clamps.
    pub function: Function,
    /// The quantization of the result.
    pub to: Affine,
    /// The tensor that is added to the product.
    pub residual: Option<ByteResidual<'a>>,
}

/// A tensor of bytes that is added to a product, which is rounded to bytes before and after.
#[derive(Clone, Copy, Debug)]
pub struct ByteResidual<'a> {
    /// The quantization of the product.
    pub product: Affine,
    /// A byte for each element of the product.
    pub bytes: &'a [u8],
    /// Their quantization.
    pub of: Affine,
}

impl Requantize<'_> {
    /// The step for the part of the product that begins in column `col`, at element `at`.
    pub(crate) fn part(&self, col: usize, at: usize) -> Self {
        let residual =
            self.residual.map(|residual| ByteResidual { bytes: &residual.bytes[at..], ..residual });
        Requantize { scale: &self.scale[col..], bias: self.bias.map(|bias| &bias[col..]), residual, ..*self }
    }
}

/// [`MAGIC`] plus the nearest multiple of a scale, as a multiple, within limits; NaN is the lower limit.
#[inline(always)]
fn nearest(x: f32, inverse: f32, (low, high): (f32, f32)) -> f32 {
    let x = x * inverse;
    let x = if x > low { x } else { low };
    MAGIC + if x < high { x } else { high }
}

/// The byte of a sum of [`MAGIC`] and an integer.
#[inline(always)]
fn low_byte(x: f32, zero: i32) -> u8 {
    x.to_bits().wrapping_add(zero as u32) as u8
}

/// As many numbers as there are, then zeros.
#[inline(always)]
fn lanes<T: Copy + Default>(x: &[T]) -> [T; LANES] {
    match x.first_chunk() {
        Some(all) => *all,
        None => {
            let mut some = [T::default(); LANES];
            some[..x.len()].copy_from_slice(x);
            some
        }
    }
}

/// Converts sums of products of bytes to bytes: `width` columns of some rows, whose input has this zero. The
/// residual has row stride `stride`, and so has `out`.
#[inline(always)]
pub(super) fn requantize<const FMA: bool>(
    end: &Requantize<'_>,
    (sums, zero): (&Sums, u8),
    panels: [PanelScales<'_>; 2],
    (rows, width): (usize, usize),
    (out, stride): (&mut [u8], usize),
) {
    for (half, panel) in panels.into_iter().enumerate() {
        let from = half * LANES;
        if from >= width {
            return;
        }
        let (mut offsets, mut factors) = (*panel.sums, *panel.scales);
        let width = (width - from).min(LANES);
        let scale = lanes(&end.scale[from..][..width]);
        let bias = end.bias.map_or([0.0; LANES], |bias| lanes(&bias[from..][..width]));
        for l in 0..LANES {
            offsets[l] = offsets[l].wrapping_mul(i32::from(zero));
            factors[l] *= scale[l];
        }
        let columns = SumColumns { offsets, factors, bias };
        // Copies of a constant width are no calls.
        if width == LANES {
            half_of::<FMA, true>(end, (sums, half), &columns, (rows, width), (out, stride));
        } else {
            half_of::<FMA, false>(end, (sums, half), &columns, (rows, width), (out, stride));
        }
    }
}

/// The numbers that turn the sums of columns into numbers: `(sum - offset) * factor + bias`.
struct SumColumns {
    offsets: [i32; LANES],
    factors: [f32; LANES],
    bias: [f32; LANES],
}

/// [`requantize`] for the left or the right half of the columns; `WHOLE` if it has [`LANES`] columns.
#[inline(always)]
fn half_of<const FMA: bool, const WHOLE: bool>(
    end: &Requantize<'_>,
    (sums, half): (&Sums, usize),
    columns: &SumColumns,
    (rows, width): (usize, usize),
    (out, stride): (&mut [u8], usize),
) {
    let (clamp, to, inverse) = (limits(end.function), end.to.steps(), 1.0 / end.to.scale);
    let SumColumns { offsets, factors, bias } = columns;
    for i in 0..rows {
        let (sums, at) = (sums[i][half], i * stride + half * LANES);
        let mut x = [0.0; LANES];
        for l in 0..LANES {
            x[l] = fma::<FMA>(sums[l].wrapping_sub(offsets[l]) as f32, factors[l], bias[l]);
        }
        if let Some(ByteResidual { product, bytes, of }) = end.residual {
            let bytes = if WHOLE { lanes(&bytes[at..][..LANES]) } else { lanes(&bytes[at..][..width]) };
            let (inverse, steps) = (1.0 / product.scale, product.steps());
            for l in 0..LANES {
                let other = i32::from(bytes[l] ^ of.flip()) - i32::from(of.unsigned_zero());
                let rounded = nearest(x[l], inverse, steps) - MAGIC;
                x[l] = rounded * product.scale + other as f32 * of.scale;
            }
        }
        let mut bytes = [0; LANES];
        for l in 0..LANES {
            bytes[l] = low_byte(nearest(within(clamp, x[l]), inverse, to), end.to.zero);
        }
        match out[at..].first_chunk_mut() {
            Some(out) if WHOLE => *out = bytes,
            _ => (0..width).for_each(|l| out[at + l] = bytes[l]),
        }
    }
}

/// [`requantize`] of sums that are f32, all columns of some rows, without a residual.
#[inline(always)]
pub(super) fn requantize_floats<const FMA: bool>(end: &Requantize<'_>, sums: &[f32], out: &mut [u8]) {
    let (clamp, to, inverse) = (limits(end.function), end.to.steps(), 1.0 / end.to.scale);
    let (zero, n) = (end.to.zero, end.scale.len().max(1));
    for (sums, out) in sums.chunks_exact(n).zip(out.chunks_exact_mut(n)) {
        let columns = sums.iter().zip(end.scale);
        if let Some(bias) = end.bias {
            for ((out, (x, scale)), bias) in out.iter_mut().zip(columns).zip(bias) {
                *out = low_byte(nearest(within(clamp, fma::<FMA>(*x, *scale, *bias)), inverse, to), zero);
            }
        } else {
            for (out, (x, scale)) in out.iter_mut().zip(columns) {
                *out = low_byte(nearest(within(clamp, x * scale), inverse, to), zero);
            }
        }
    }
}

/// `to = round(x / scale) + zero`, within the type's range; NaN is 0.
#[inline(always)]
pub(super) fn quantize(x: &[f32], affine: Affine, to: &mut [u8]) {
    let steps = affine.steps();
    for (to, x) in to.iter_mut().zip(x) {
        let byte = low_byte(nearest(x / affine.scale, 1.0, steps), affine.zero);
        *to = if x.is_nan() { 0 } else { byte };
    }
}

/// `to = (x - zero) * scale`.
#[inline(always)]
pub(super) fn dequantize(x: &[u8], affine: Affine, to: &mut [f32]) {
    let (flip, zero) = (affine.flip(), i32::from(affine.unsigned_zero()));
    for i in 0..x.len().min(to.len()) {
        to[i] = (i32::from(x[i] ^ flip) - zero) as f32 * affine.scale;
    }
}
