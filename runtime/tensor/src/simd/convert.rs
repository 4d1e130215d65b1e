//! Conversions between f32 and the element types of products of lower precision.
//!
//! ```text
//! f32 ─▶ bf16              rounded to nearest even
//! f32 ─▶ byte              round(x / scale) + zero, within 0..=255; NaN is 0
//! sums ─▶ f32              (sum - zero * sum of the column) * scale * scale of the column
//! ```

#![allow(clippy::needless_range_loop, reason = "indices, not iterators: see `tile`")]

use super::bytes::{LANES, Sums};

/// 1.5 * 2^23: the last bits of its sum with a number are the nearest integer.
pub(super) const MAGIC: f32 = 12_582_912.0;

/// The quantization of numbers to bytes: a byte stands for `(byte - zero) * scale`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Quantum {
    pub(crate) scale: f32,
    pub(crate) zero: u8,
}

impl Quantum {
    /// The quantum of a range, extended to contain 0. One byte stands for 0 exactly.
    pub(crate) fn of_range((low, high): (f32, f32)) -> Quantum {
        let (low, high) = (low.min(0.0), high.max(0.0));
        let scale = high / 255.0 - low / 255.0;
        // A scale that is too small has no inverse.
        if scale < f32::MIN_POSITIVE {
            return Quantum { scale: 1.0, zero: 0 };
        }
        Quantum { scale, zero: (-low / scale).round_ties_even() as u8 }
    }
}

/// The smallest and the largest of the numbers and 0. NaN is ignored.
#[inline(always)]
pub(super) fn range(x: &[f32]) -> (f32, f32) {
    let (mut low, mut high) = ([0.0f32; LANES], [0.0f32; LANES]);
    let (blocks, rest) = x.as_chunks::<LANES>();
    for x in blocks {
        for l in 0..LANES {
            low[l] = if x[l] < low[l] { x[l] } else { low[l] };
            high[l] = if x[l] > high[l] { x[l] } else { high[l] };
        }
    }
    let ends = (low.into_iter().fold(0.0, f32::min), high.into_iter().fold(0.0, f32::max));
    rest.iter().fold(ends, |(low, high), &x| (low.min(x), high.max(x)))
}

#[inline(always)]
fn byte(x: f32, inverse: f32, zero: f32) -> u8 {
    let x = x * inverse + zero;
    let x = if x > 0.0 { x } else { 0.0 };
    let x = if x < 255.0 { x } else { 255.0 };
    (x + MAGIC).to_bits() as u8
}

#[inline(always)]
pub(super) fn to_bytes(x: &[f32], quantum: Quantum, to: &mut [u8]) {
    let (inverse, zero) = (1.0 / quantum.scale, f32::from(quantum.zero));
    let ((x, x_rest), (to, to_rest)) = (x.as_chunks::<LANES>(), to.as_chunks_mut::<LANES>());
    for i in 0..x.len().min(to.len()) {
        let x = x[i];
        let mut bytes = [0; LANES];
        for l in 0..LANES {
            bytes[l] = byte(x[l], inverse, zero);
        }
        to[i] = bytes;
    }
    for (to, &x) in to_rest.iter_mut().zip(x_rest) {
        *to = byte(x, inverse, zero);
    }
}

/// The nearest bf16, ties to even; NaN stays NaN.
#[inline(always)]
pub(crate) fn to_half(x: f32) -> u16 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
    let nan = bits >> 16 | 0x40;
    (if x.is_nan() { nan } else { rounded }) as u16
}

#[inline(always)]
pub(super) fn to_halves(x: &[f32], to: &mut [[u8; 2]]) {
    let ((x, x_rest), (to, to_rest)) = (x.as_chunks::<LANES>(), to.as_chunks_mut::<LANES>());
    for i in 0..x.len().min(to.len()) {
        let x = x[i];
        let mut halves = [[0; 2]; LANES];
        for l in 0..LANES {
            halves[l] = to_half(x[l]).to_le_bytes();
        }
        to[i] = halves;
    }
    for (to, &x) in to_rest.iter_mut().zip(x_rest) {
        *to = to_half(x).to_le_bytes();
    }
}

/// The scales and the sums of the columns of a panel.
#[derive(Clone, Copy)]
pub(crate) struct PanelScales<'a> {
    pub(crate) scales: &'a [f32; LANES],
    pub(crate) sums: &'a [i32; LANES],
}

/// Converts sums of products of bytes to f32: `width` columns of one row per quantum.
#[inline(always)]
pub(super) fn from_bytes(
    sums: &Sums,
    quanta: &[Quantum],
    panels: [PanelScales<'_>; 2],
    (out, stride): (&mut [f32], usize),
    width: usize,
) {
    for (half, panel) in panels.into_iter().enumerate() {
        let from = half * LANES;
        if from >= width {
            return;
        }
        let (scales, columns) = (*panel.scales, *panel.sums);
        let width = (width - from).min(LANES);
        for i in 0..quanta.len() {
            let (sums, zero, scale) = (sums[i][half], i32::from(quanta[i].zero), quanta[i].scale);
            let mut numbers = [0.0; LANES];
            for l in 0..LANES {
                numbers[l] = sums[l].wrapping_sub(zero.wrapping_mul(columns[l])) as f32 * (scale * scales[l]);
            }
            put(&numbers, width, &mut out[i * stride + from..]);
        }
    }
}

/// Writes sums that are the bits of f32: `width` columns of some rows.
#[inline(always)]
pub(super) fn from_halves(sums: &Sums, (rows, width): (usize, usize), (out, stride): (&mut [f32], usize)) {
    for i in 0..rows {
        for half in 0..2usize {
            let from = half * LANES;
            if from < width {
                let numbers: [f32; LANES] = bytemuck::cast(sums[i][half]);
                put(&numbers, (width - from).min(LANES), &mut out[i * stride + from..]);
            }
        }
    }
}

#[inline(always)]
fn put(numbers: &[f32; LANES], width: usize, out: &mut [f32]) {
    match out.first_chunk_mut::<LANES>().filter(|_| width == LANES) {
        Some(out) => *out = *numbers,
        None => out[..width].copy_from_slice(&numbers[..width]),
    }
}
