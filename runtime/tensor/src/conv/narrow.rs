//! Convolutions in a lower precision: the image is converted once, and its windows are rows of bytes.
//!
//! ```text
//! image, f32 ──▶ bf16 or bytes ──copy windows──▶ rows ─┐
//! filters, packed ─────────────────────────────────────┴─▶ product (narrow)
//! ```
//!
//! The padding has the byte that stands for 0. A 1x1 filter of stride 1 without padding needs no converted
//! image: its rows are pixels. Images of bytes are not converted at all.

use std::ops::Range;

use super::Conv2d;
use crate::TensorError;
use crate::error::invalid;
use crate::matmul::{Epilogue, expect_len};
use crate::narrow::{
    Finish, FloatRows, NarrowMatrix, NarrowRows, PlainRows, Precision, RowQuanta, flip, multiply, quanta_of,
};
use crate::parallel::{ADDITIONS_PER_NS, Parallel, in_parts, nanoseconds, parts};
use crate::simd::{Affine, Isa, Quantum};

impl Conv2d {
    /// The number of bytes that [`Conv2d::run_narrow`] needs for a converted image.
    pub(crate) fn narrow_bytes(&self, precision: Precision) -> Result<usize, TensorError> {
        if self.has_pixels() {
            return Ok(0);
        }
        self.elements().checked_mul(precision.size()).ok_or(TensorError::TooLarge)
    }

    /// `out = f(convolution of image with filters * scale + bias + residual)`, all NHWC, in the precision of
    /// the filters. With int8, the image is quantized over `range`, or, without one, each image over its own
    /// range. `space` has [`Conv2d::narrow_bytes`] bytes.
    pub(crate) fn run_narrow(
        &self,
        image: &[f32],
        range: Option<(f32, f32)>,
        filters: &NarrowMatrix<'_>,
        epilogue: &Epilogue<'_>,
        (out, space): (&mut [f32], &mut [u8]),
        parallel: &dyn Parallel,
    ) -> Result<(), TensorError> {
        let (isa, precision) = (Isa::detect(), filters.precision());
        self.expect_image(image)?;
        if filters.size().0 != self.k {
            return Err(TensorError::Count { want: self.k, got: filters.size().0 });
        }
        let each = self.elements().checked_div(self.batch).unwrap_or(0);
        let windows = self.out.0 * self.out.1;
        let groups = match (precision, range) {
            (Precision::Int8, Some(range)) => RowQuanta::All(Quantum::of_range(range)),
            (Precision::Int8, None) => RowQuanta::Of(quanta_of(isa, image, each, parallel)?, windows),
            (Precision::Bf16, _) => RowQuanta::Each,
        };
        if self.has_pixels() {
            let rows = FloatRows { numbers: image, k: self.k, precision, groups: &groups };
            return multiply(isa, self.rows, &rows, filters, epilogue, out, parallel);
        }
        expect_len(self.elements(), precision.size(), space.len())?;
        let line = self.width.input * self.channels;
        if line == 0 {
            return invalid("Conv2D", "an image without pixels or channels".to_owned());
        }
        let size = precision.size();
        let work = nanoseconds(image.len(), ADDITIONS_PER_NS);
        let n = parts(image.len() / line, work, parallel);
        in_parts(space, line * size, n, parallel, &|lines, part| {
            for (at, to) in lines.zip(part.chunks_exact_mut(line * size)) {
                let numbers = &image[at * line..][..line];
                match precision {
                    Precision::Bf16 => isa.to_halves(numbers, to.as_chunks_mut().0),
                    Precision::Int8 => {
                        // All windows of an image share one quantum.
                        let image = at / self.height.input;
                        if let Some(quantum) = groups.of(image * windows) {
                            isa.to_bytes(numbers, quantum, to);
                        }
                    }
                }
            }
        });
        let rows = WindowBytes { conv: self, bytes: space, size, groups: &groups, of: None };
        multiply(isa, self.rows, &rows, filters, epilogue, out, parallel)
    }

    /// The convolution of an image of bytes with filters of bytes, all NHWC. The scale of the image is that
    /// of `end`.
    pub(crate) fn run_bytes<T: Send>(
        &self,
        (image, of): (&[u8], Affine),
        filters: &NarrowMatrix<'_>,
        end: &dyn Finish<T>,
        out: &mut [T],
        parallel: &dyn Parallel,
    ) -> Result<(), TensorError> {
        let isa = Isa::detect();
        expect_len(self.elements(), 1, image.len())?;
        if filters.size().0 != self.k {
            return Err(TensorError::Count { want: self.k, got: filters.size().0 });
        }
        if self.has_pixels() {
            let rows = PlainRows { bytes: image, k: self.k, of };
            return multiply(isa, self.rows, &rows, filters, end, out, parallel);
        }
        if self.channels == 0 {
            return invalid("Conv2D", "an image without channels".to_owned());
        }
        let groups = RowQuanta::All(Quantum { scale: 1.0, zero: of.unsigned_zero() });
        let rows = WindowBytes { conv: self, bytes: image, size: 1, groups: &groups, of: Some(of) };
        multiply(isa, self.rows, &rows, filters, end, out, parallel)
    }
}

/// The windows of converted images.
struct WindowBytes<'a> {
    conv: &'a Conv2d,
    bytes: &'a [u8],
    /// The size of a number in bytes.
    size: usize,
    groups: &'a RowQuanta,
    /// The quantization of an image that was not converted.
    of: Option<Affine>,
}

impl NarrowRows for WindowBytes<'_> {
    fn lay(&self, _isa: Isa, rows: Range<usize>, to: &mut [u8], quanta: &mut [Quantum]) {
        let &Conv2d { channels, height, width, out: (lines, cols), .. } = self.conv;
        let each = (to.len() / rows.len().max(1)).max(1);
        let pixel = channels * self.size;
        let (line, run) = (width.input * pixel, width.filter * pixel);
        let whole = if width.dilation == 1 { width.whole() } else { 0..0 };
        for ((row, to), quantum) in rows.zip(to.chunks_exact_mut(each)).zip(quanta) {
            *quantum = self.groups.of(row).unwrap_or(*quantum);
            let outside = match self.of {
                Some(of) => of.zero as u8,
                None if self.size == 1 => quantum.zero,
                None => 0,
            };
            let (y, x) = (row / cols, row % cols);
            let image = y / lines * height.input;
            let (windows, rest) = to.split_at_mut(height.filter * run);
            rest.fill(0);
            for (tap, to) in windows.chunks_exact_mut(run).enumerate() {
                let Some(from) = height.pixel(y % lines, tap) else {
                    to.fill(outside);
                    continue;
                };
                let from = &self.bytes[(image + from) * line..][..line];
                if whole.contains(&x) {
                    to.copy_from_slice(&from[(x * width.stride - width.pad.0) * pixel..][..run]);
                    continue;
                }
                for (tap, to) in to.chunks_exact_mut(pixel).enumerate() {
                    match width.pixel(x, tap) {
                        Some(at) => to.copy_from_slice(&from[at * pixel..][..pixel]),
                        None => to.fill(outside),
                    }
                }
            }
            if let Some(of) = self.of {
                flip(windows, of);
            }
        }
    }
}
