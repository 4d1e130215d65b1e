//! Channelwise window operations on NHWC images: depthwise convolution and pooling.
//!
//! Padding pixels do not contribute, neither to a maximum nor to a mean. Every result is a reduction over the
//! pixels of its window that lie inside the image. `simd` computes it per channel, in the order of the taps.

use super::Conv2d;
use crate::TensorError;
use crate::interrupt::{STEPS, is_interrupted};
use crate::matmul::{Epilogue, expect_len};
use crate::parallel::{ADDITIONS_PER_NS, Parallel, in_parts, nanoseconds, parts};
use crate::simd::{Fold, Isa, WindowRun};

impl Conv2d {
    /// `MaxPool`: NaN if the window contains one, negative infinity if the window has no pixel inside the
    /// image.
    pub fn max_pool(
        &self,
        image: &[f32],
        out: &mut [f32],
        parallel: &dyn Parallel,
    ) -> Result<(), TensorError> {
        self.fold(Isa::detect(), Fold::Max, image, &Epilogue::default(), out, parallel)
    }

    /// `AvgPool`: the mean of the pixels inside the image, NaN if there is none.
    pub fn avg_pool(
        &self,
        image: &[f32],
        out: &mut [f32],
        parallel: &dyn Parallel,
    ) -> Result<(), TensorError> {
        self.fold(Isa::detect(), Fold::Mean, image, &Epilogue::default(), out, parallel)
    }

    /// The depthwise convolution with filters of shape (height, width, channels): `out = f(convolution + bias
    /// + residual)`.
    pub fn depthwise(
        &self,
        image: &[f32],
        filters: &[f32],
        epilogue: &Epilogue<'_>,
        out: &mut [f32],
        parallel: &dyn Parallel,
    ) -> Result<(), TensorError> {
        expect_len(1, self.k, filters.len())?;
        self.fold(Isa::detect(), Fold::Weighted(filters), image, epilogue, out, parallel)
    }

    /// Nanoseconds of one thread for an addition per tap and channel of all windows.
    pub(super) fn work_of_taps(&self) -> u64 {
        let taps = self.height.filter.saturating_mul(self.width.filter).saturating_mul(self.channels);
        nanoseconds(self.rows.saturating_mul(taps), ADDITIONS_PER_NS)
    }

    pub(super) fn fold(
        &self,
        isa: Isa,
        fold: Fold<'_>,
        image: &[f32],
        epilogue: &Epilogue<'_>,
        out: &mut [f32],
        parallel: &dyn Parallel,
    ) -> Result<(), TensorError> {
        let Conv2d { channels, height, width, out: (rows, cols), rows: windows, .. } = *self;
        self.expect_image(image)?;
        expect_len(windows, channels, out.len())?;
        epilogue.check(channels, out.len())?;
        if out.is_empty() {
            return Ok(());
        }
        let line = cols * channels;
        let parts = parts(out.len() / line, self.work_of_taps(), parallel);
        let one_line = |at: usize, out: &mut [f32]| {
            let (batch, y) = (at / rows, at % rows);
            let mut lines = Vec::with_capacity(height.filter.min(height.input)); // no more than the image has
            for i in height.inside(y) {
                let line = batch * height.input + y * height.stride + i * height.dilation - height.pad.0;
                let line = &image[line * width.input * channels..][..width.input * channels];
                lines.push((i * width.filter, line));
            }
            self.fold_line(isa, fold, &lines, &epilogue.part(0, at * line), out);
        };
        in_parts(out, line, parts, parallel, &|lines, out| {
            lines.zip(out.chunks_mut(line)).for_each(|(at, out)| one_line(at, out));
        });
        Ok(())
    }

    /// Reduces the windows of a line of the result. Each of the lines of the image that they cover comes with
    /// the number of its tap 0. The epilogue begins with the line.
    pub(super) fn fold_line(
        &self,
        isa: Isa,
        fold: Fold<'_>,
        lines: &[(usize, &[f32])],
        epilogue: &Epilogue<'_>,
        out: &mut [f32],
    ) {
        let Conv2d { channels, width, out: (_, cols), .. } = *self;
        // The steps may overflow where there is only one window or only one tap; then they are never used.
        let pixel = width.stride.saturating_mul(channels);
        let whole = width.whole();
        // The windows between two checks for interruption have about `STEPS` elements in all, and are at
        // least four.
        let window = width.filter.min(width.input).saturating_mul(lines.len()).saturating_mul(channels);
        let most = (STEPS / window.max(1)).next_multiple_of(4).max(4);
        let is_long = most < cols;
        let mut x = 0;
        while x < cols && !(is_long && is_interrupted()) {
            let count = if whole.contains(&x) { (whole.end - x).min(most) } else { 1 };
            let inside = width.inside(x);
            let place = x * width.stride + inside.start * width.dilation;
            let start = if inside.is_empty() { 0 } else { (place - width.pad.0) * channels };
            let windows = WindowRun {
                lines,
                start,
                first_tap: inside.start,
                taps: inside.len(),
                tap_step: width.dilation.saturating_mul(channels),
                window_step: pixel,
                channels,
                epilogue: epilogue.part(0, x * channels),
            };
            isa.fold(fold, &windows, &mut out[x * channels..][..count * channels]);
            x += count;
        }
    }
}
