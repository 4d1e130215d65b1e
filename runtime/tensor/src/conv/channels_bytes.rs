//! Depthwise convolutions and maxima of images of bytes, computed in f32 line by line.
//!
//! ```text
//! lines of the image, bytes ── minus zero ──▶ f32, a few lines ─┐
//! filters, integers in f32 ─────────────────────────────────────┴─▶ sums ─▶ epilogue ─▶ line of the result
//! ```
//!
//! A sum of products of bytes is an integer. f32 has all of up to 2^24, so the sums are exact for filters of
//! up to 514 taps, whatever the order. A line is converted once for all windows that a thread computes, and
//! is in the L2 cache until its last one.

use std::cell::Cell;
use std::sync::OnceLock;

use super::Conv2d;
use crate::TensorError;
use crate::matmul::{Epilogue, expect_len};
use crate::parallel::{Parallel, in_parts, parts};
use crate::scratch::grow;
use crate::simd::{Affine, Fold, Isa};

thread_local! {
    /// The converted lines and the sums of a thread. Taken while in use.
    static SCRATCH: Cell<Vec<f32>> = Cell::default();
}

/// Makes elements of a line of numbers, which may be overwritten.
pub(crate) type WriteLine<'a, T> = &'a (dyn Fn(Isa, &mut [f32], &mut [T]) + Sync);

impl Conv2d {
    /// The depthwise convolution of an image of bytes with filters of shape (height, width, channels), which
    /// are integers: `write` makes elements of the sums of each line.
    pub(crate) fn depthwise_bytes<T: Send>(
        &self,
        image: (&[u8], Affine),
        filters: &[f32],
        write: WriteLine<'_, T>,
        out: &mut [T],
        parallel: &dyn Parallel,
    ) -> Result<(), TensorError> {
        expect_len(1, self.k, filters.len())?;
        self.fold_bytes(Fold::Weighted(filters), image, write, out, parallel)
    }

    /// `MaxPool` of bytes: the least byte if the window has no pixel inside the image.
    pub(crate) fn max_pool_bytes(
        &self,
        image: &[u8],
        is_signed: bool,
        out: &mut [u8],
        parallel: &dyn Parallel,
    ) -> Result<(), TensorError> {
        let of = Affine { scale: 1.0, zero: 0, is_signed };
        let write: WriteLine<'_, u8> = &|isa, line, out| isa.quantize(line, of, out);
        self.fold_bytes(Fold::Max, (image, of), write, out, parallel)
    }

    /// Reduces windows of the bytes minus their zero point; `write` makes elements of each line.
    fn fold_bytes<T: Send>(
        &self,
        fold: Fold<'_>,
        (image, of): (&[u8], Affine),
        write: WriteLine<'_, T>,
        out: &mut [T],
        parallel: &dyn Parallel,
    ) -> Result<(), TensorError> {
        let Conv2d { channels, height, width, out: (rows, cols), .. } = *self;
        expect_len(self.elements(), 1, image.len())?;
        expect_len(self.rows, channels, out.len())?;
        if out.is_empty() {
            return Ok(());
        }
        let (isa, plain) = (Isa::detect(), Affine { scale: 1.0, ..of });
        let (line, wide) = (cols * channels, width.input * channels);
        // A window's lines have places of their own.
        let kept = (height.filter - 1).saturating_mul(height.dilation).saturating_add(1).min(height.input);
        let failed = OnceLock::new();
        let some_lines = |lines: std::ops::Range<usize>, out: &mut [T]| {
            let mut space = SCRATCH.take();
            // The sizes are bounded by those of image and result.
            if let Err(error) = grow(&mut space, kept * wide + line, || 0.0) {
                _ = failed.set(error);
                return;
            }
            let (converted, rest) = space.split_at_mut(kept * wide);
            let sums = &mut rest[..line];
            let mut next = 0;
            for (at, out) in lines.zip(out.chunks_mut(line)) {
                let (batch, y) = (at / rows, at % rows);
                let first = batch * height.input;
                let taps = height.inside(y);
                let source = |tap: usize| first + y * height.stride + tap * height.dilation - height.pad.0;
                if !taps.is_empty() {
                    // Lines ahead of the window, outside of the image or not, are ahead of all later ones.
                    next = next.max(first + (y * height.stride).saturating_sub(height.pad.0));
                    for from in next..=source(taps.end - 1) {
                        let to = &mut converted[from % kept.max(1) * wide..][..wide];
                        isa.dequantize(&image[from * wide..][..wide], plain, to);
                    }
                    next = next.max(source(taps.end - 1) + 1);
                }
                let lines: Vec<(usize, &[f32])> = taps
                    .map(|tap| (tap * width.filter, &converted[source(tap) % kept.max(1) * wide..][..wide]))
                    .collect();
                self.fold_line(isa, fold, &lines, &Epilogue::default(), sums);
                write(isa, sums, out);
            }
            SCRATCH.set(space);
        };
        let parts = parts(out.len() / line, self.work_of_taps(), parallel);
        in_parts(out, line, parts, parallel, &some_lines);
        failed.into_inner().map_or(Ok(()), Err)
    }
}
