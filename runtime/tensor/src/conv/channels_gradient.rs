//! Gradients of the depthwise convolution and the poolings in `channels`.
//!
//! Windows are processed line by line, and within a line tap by tap: for one tap, the pixels of the windows
//! of a line are evenly spaced. Windows share pixels, so an image is processed by one thread. The gradient of
//! the filters is summed over the lines in parts; the number of parts depends on the shape only.

use std::sync::OnceLock;

use super::Conv2d;
use super::channels::of_few_channels;
use crate::TensorError;
use crate::interrupt::is_interrupted;
use crate::matmul::expect_len;
use crate::parallel::{Parallel, each_part};
use crate::scratch::{copied, filled};
use crate::simd::{Isa, NO_TAP};

/// The number of taps of a line between two checks for interruption.
const TAPS: usize = 64;

/// The most partial sums of the filter gradient.
const PARTS: usize = 16;

/// Adds the gradients of a line of windows of few channels. Arguments: the line, the image, the gradients,
/// the result.
type OfFew = fn(&Conv2d, usize, &[f32], &[f32], &mut [f32]);

impl Conv2d {
    /// The gradient of a depthwise convolution with respect to its images: for each window,
    /// `image += dy * filters` at its pixels.
    pub(crate) fn depthwise_by_image(
        &self,
        dy: &[f32],
        filters: &[f32],
        image: &mut [f32],
        parallel: &dyn Parallel,
    ) -> Result<(), TensorError> {
        expect_len(1, self.k, filters.len())?;
        let isa = Isa::detect();
        self.by_image(dy, image, parallel, |line, dy, _, image| {
            self.each_tap(line, |tap| {
                let weights = &filters[tap.number * self.channels..][..self.channels];
                isa.add_products(tap.of_windows(dy), weights, tap.of_image(image));
            });
            Ok(())
        })
    }

    /// The gradient of a depthwise convolution with respect to its filters, of shape (height, width,
    /// channels): the sums of pixels times gradients over all windows.
    pub(crate) fn depthwise_by_filter(
        &self,
        image: &[f32],
        dy: &[f32],
        filters: &mut [f32],
        parallel: &dyn Parallel,
    ) -> Result<(), TensorError> {
        self.expect_image(image)?;
        self.expect_gradient(dy)?;
        expect_len(1, self.k, filters.len())?;
        filters.fill(0.0);
        if dy.is_empty() || filters.is_empty() {
            return Ok(());
        }
        let (line_len, pixels) = (self.out.1 * self.channels, self.height.input * self.width.input);
        let lines_each = (self.batch * self.out.0).div_ceil(PARTS);
        let parts = (self.batch * self.out.0).div_ceil(lines_each);
        let mut sums = filled(parts.checked_mul(self.k).ok_or(TensorError::TooLarge)?, 0.0)?;
        let isa = Isa::detect();
        let workers = parallel.workers(self.work_of_taps());
        each_part(sums.chunks_mut(self.k), workers, parallel, &|part, sums| {
            let lines = dy.chunks_exact(line_len).enumerate().skip(part * lines_each).take(lines_each);
            for (line, dy) in lines {
                let image = &image[line / self.out.0 * pixels * self.channels..];
                self.each_tap(line % self.out.0, |tap| {
                    let weights = &mut sums[tap.number * self.channels..][..self.channels];
                    let pixels = (&image[tap.start..], tap.step);
                    isa.sum_products(tap.of_windows(dy), pixels, weights);
                });
            }
        });
        for sums in sums.chunks_exact(self.k) {
            filters.iter_mut().zip(sums).for_each(|(filter, sum)| *filter += sum);
        }
        Ok(())
    }

    /// The gradient of `MaxPool`: each window's gradient is added to `out` at the window's first largest
    /// pixel, or its first NaN.
    pub(crate) fn max_pool_by_image(
        &self,
        image: &[f32],
        dy: &[f32],
        out: &mut [f32],
        parallel: &dyn Parallel,
    ) -> Result<(), TensorError> {
        self.expect_image(image)?;
        if u32::try_from(self.height.filter.saturating_mul(self.width.filter)).is_err() {
            return Err(TensorError::TooLarge);
        }
        let (isa, len) = (Isa::detect(), self.out.1 * self.channels);
        let few: Option<OfFew> = of_few_channels!(self, add_at_largest);
        self.by_image(dy, out, parallel, |line, dy, n, out| {
            let image = &image[n * out.len()..][..out.len()];
            if let Some(add_at_largest) = few {
                add_at_largest(self, line, image, dy, out);
                return Ok(());
            }
            let (mut best, mut at) = (filled(len, 0.0)?, filled(len, NO_TAP)?);
            self.each_tap(line, |tap| {
                let pixels = (&image[tap.start..], tap.step);
                let (best, at) = (&mut best[tap.windows.clone()], &mut at[tap.windows.clone()]);
                isa.keep_largest(pixels, (tap.number as u32, self.channels), best, at);
            });
            self.each_tap(line, |tap| {
                let number = (tap.number as u32, self.channels);
                isa.add_where(tap.of_windows(dy), tap.of_windows(&at), number, tap.of_image(out));
            });
            Ok(())
        })
    }

    /// Adds the gradients of a line of windows of few channels at their largest pixels.
    fn add_at_largest<const CHANNELS: usize>(&self, line: usize, image: &[f32], dy: &[f32], out: &mut [f32]) {
        self.each_largest::<CHANNELS>(line, image, |x, _, at| {
            let Some(dy) = dy.as_chunks::<CHANNELS>().0.get(x) else { return };
            for c in 0..CHANNELS {
                out[at[c] as usize + c] += dy[c];
            }
        });
    }

    /// The gradient of `AvgPool`: each window's gradient is added to `out` in equal parts at its pixels.
    pub(crate) fn avg_pool_by_image(
        &self,
        dy: &[f32],
        out: &mut [f32],
        parallel: &dyn Parallel,
    ) -> Result<(), TensorError> {
        let (isa, ones) = (Isa::detect(), filled(self.channels, 1.0)?);
        self.by_image(dy, out, parallel, |line, dy, _, out| {
            let rows = self.height.inside(line).len();
            let mut parts = copied(dy)?;
            for (x, part) in parts.chunks_exact_mut(self.channels).enumerate() {
                let count = (rows * self.width.inside(x).len()) as f32;
                part.iter_mut().for_each(|part| *part /= count);
            }
            self.each_tap(line, |tap| {
                isa.add_products(tap.of_windows(&parts), &ones, tap.of_image(out));
            });
            Ok(())
        })
    }

    /// Calls `f(line, gradients of the line, number of the image, pixels of the image)` for each line of
    /// windows. Each image is processed by one thread.
    fn by_image(
        &self,
        dy: &[f32],
        image: &mut [f32],
        parallel: &dyn Parallel,
        f: impl Fn(usize, &[f32], usize, &mut [f32]) -> Result<(), TensorError> + Sync,
    ) -> Result<(), TensorError> {
        self.expect_image(image)?;
        self.expect_gradient(dy)?;
        if dy.is_empty() || image.is_empty() {
            return Ok(());
        }
        let (lines, len) = (self.out.0, self.out.1 * self.channels);
        let failed = OnceLock::new();
        each_part(
            image.chunks_mut(self.height.input * self.width.input * self.channels),
            parallel.workers(self.work_of_taps()),
            parallel,
            &|n, image| {
                for (line, dy) in dy[n * lines * len..][..lines * len].chunks_exact(len).enumerate() {
                    if let Err(error) = f(line, dy, n, image) {
                        failed.get_or_init(|| error);
                        return;
                    }
                }
            },
        );
        failed.into_inner().map_or(Ok(()), Err)
    }

    fn expect_gradient(&self, dy: &[f32]) -> Result<(), TensorError> {
        expect_len(self.rows, self.channels, dy.len())
    }

    /// Calls `f` for each tap that lies inside the image for some windows of a line, in order, until
    /// interrupted.
    fn each_tap(&self, line: usize, mut f: impl FnMut(&Tap)) {
        let Conv2d { channels, height, width, out: (_, cols), .. } = *self;
        // The range of taps inside the image moves down with the window's position. A window outside the
        // image has an empty range.
        let taps = width.inside(cols - 1).start..width.inside(0).end.min(width.filter);
        for i in height.inside(line) {
            if is_interrupted() {
                return;
            }
            let row = line * height.stride + i * height.dilation - height.pad.0;
            for j in taps.clone() {
                let windows = width.with(j, cols);
                if j % TAPS == TAPS - 1 && is_interrupted() {
                    return;
                }
                if !windows.is_empty() {
                    let col = windows.start * width.stride + j * width.dilation - width.pad.0;
                    f(&Tap {
                        number: i * width.filter + j,
                        windows: windows.start * channels..windows.end * channels,
                        start: (row * width.input + col) * channels,
                        // May overflow where there is only one window; then it is never used.
                        step: width.stride.saturating_mul(channels),
                    });
                }
            }
        }
    }
}

/// One tap of some windows of a line. Positions and steps are in elements.
struct Tap {
    number: usize,
    /// The windows' positions in their line.
    windows: std::ops::Range<usize>,
    /// The position of the first window's pixel in the image.
    start: usize,
    /// From the pixel of one window to that of the next.
    step: usize,
}

impl Tap {
    fn of_windows<'a, T>(&self, line: &'a [T]) -> &'a [T] {
        &line[self.windows.clone()]
    }

    fn of_image<'a>(&self, image: &'a mut [f32]) -> (&'a mut [f32], usize) {
        (&mut image[self.start..], self.step)
    }
}
