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

/// Computes the largest pixels of a line of windows of few channels: the line, its image, the result.
type OfLargest = fn(&Conv2d, usize, &[f32], &mut [f32]);

/// The function `$name` of the number of channels, if there are fewer than eight, and positions in an image
/// fit into 4 bytes.
macro_rules! of_few_channels {
    ($conv:expr, $name:ident) => {
        match $conv.channels {
            _ if u32::try_from($conv.height.input * $conv.width.input * $conv.channels).is_err() => None,
            1 => Some(Conv2d::$name::<1>),
            2 => Some(Conv2d::$name::<2>),
            3 => Some(Conv2d::$name::<3>),
            4 => Some(Conv2d::$name::<4>),
            5 => Some(Conv2d::$name::<5>),
            6 => Some(Conv2d::$name::<6>),
            7 => Some(Conv2d::$name::<7>),
            _ => None,
        }
    };
}
pub(super) use of_few_channels;

impl Conv2d {
    /// `MaxPool`: NaN if the window contains one, negative infinity if the window has no pixel inside the
    /// image.
    pub fn max_pool(
        &self,
        image: &[f32],
        out: &mut [f32],
        parallel: &dyn Parallel,
    ) -> Result<(), TensorError> {
        let few: Option<OfLargest> = of_few_channels!(self, put_largest);
        let Some(put_largest) = few else {
            return self.fold(Isa::detect(), Fold::Max, image, &Epilogue::default(), out, parallel);
        };
        let Conv2d { channels, height, width, out: (rows, cols), .. } = *self;
        self.expect_image(image)?;
        expect_len(self.rows, channels, out.len())?;
        let (line, image_len) = (cols * channels, height.input * width.input * channels);
        let parts = parts(out.len() / line.max(1), self.work_of_taps(), parallel);
        in_parts(out, line, parts, parallel, &|lines, out| {
            for (at, out) in lines.zip(out.chunks_exact_mut(line.max(1))) {
                put_largest(self, at % rows, &image[at / rows * image_len..][..image_len], out);
            }
        });
        Ok(())
    }

    /// Sets `out` to the largest pixels of a line of windows of few channels.
    fn put_largest<const CHANNELS: usize>(&self, line: usize, image: &[f32], out: &mut [f32]) {
        out.fill(f32::NEG_INFINITY);
        self.each_largest::<CHANNELS>(line, image, |x, largest, _| {
            if let Some(out) = out.as_chunks_mut::<CHANNELS>().0.get_mut(x) {
                *out = *largest;
            }
        });
    }

    /// Calls `f` with the number of each window of a line that has pixels inside the image, the largest pixel
    /// of each channel, or its first NaN, and their positions in the image, of the first channel. Vectors of
    /// few channels would be mostly empty, so windows are visited one by one, and their channels without
    /// branches. The image has at most `u32::MAX` elements.
    #[inline(always)]
    #[allow(
        clippy::needless_range_loop,
        reason = "indices, not iterators, which are only as good as the build's inlining"
    )]
    pub(super) fn each_largest<const CHANNELS: usize>(
        &self,
        line: usize,
        image: &[f32],
        mut f: impl FnMut(usize, &[f32; CHANNELS], &[u32; CHANNELS]),
    ) {
        let Conv2d { height, width, .. } = *self;
        let (rows, whole) = (height.inside(line), width.whole());
        let [down, across] = [height.dilation.saturating_mul(width.input), width.dilation]
            .map(|distance| distance.saturating_mul(CHANNELS));
        // The number of windows between two checks for interruption. The first check is before the line.
        let n_windows = (STEPS / (rows.len() * width.filter * CHANNELS).max(1)).max(1);
        for x in 0..self.out.1 {
            if x % n_windows == 0 && is_interrupted() {
                return;
            }
            let cols = if whole.contains(&x) { 0..width.filter } else { width.inside(x) };
            let first = height.pixel(line, rows.start).zip(width.pixel(x, cols.start));
            let Some((top, left)) = first.filter(|_| !rows.is_empty() && !cols.is_empty()) else { continue };
            let first = (top * width.input + left) * CHANNELS;
            let (mut best, mut at) = ([f32::NEG_INFINITY; CHANNELS], [first as u32; CHANNELS]);
            for i in 0..rows.len() {
                for j in 0..cols.len() {
                    let next = first + i * down + j * across;
                    let Some(pixel) = image[next..].first_chunk::<CHANNELS>() else { return };
                    for c in 0..CHANNELS {
                        let beats = (pixel[c] > best[c]) | (pixel[c].is_nan() & !best[c].is_nan());
                        at[c] = if beats { next as u32 } else { at[c] };
                        best[c] = if beats { pixel[c] } else { best[c] };
                    }
                }
            }
            f(x, &best, &at);
        }
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
        let image_len = height.input * width.input * channels;
        in_parts(out, line, parts, parallel, &|lines, out| {
            let mut met = Vec::new();
            for (at, out) in lines.zip(out.chunks_mut(line)) {
                self.met_lines(at % rows, (&image[at / rows * image_len..], 0), &mut met);
                self.fold_line(isa, fold, &met, &epilogue.part(0, at * line), out);
            }
        });
        Ok(())
    }

    /// Sets `met` to the lines of an image that the windows of a line meet, each with the number of its tap
    /// 0. `image` has those from the line of the given number on.
    pub(super) fn met_lines<'i>(
        &self,
        line: usize,
        (image, first): (&'i [f32], usize),
        met: &mut Vec<(usize, &'i [f32])>,
    ) {
        let Conv2d { channels, height, width, .. } = *self;
        let len = width.input * channels;
        met.clear(); // it has no more lines than the image
        met.extend(height.inside(line).filter_map(|i| {
            let at = height.pixel(line, i)?.checked_sub(first)?;
            Some((i * width.filter, &image[at * len..][..len]))
        }));
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
