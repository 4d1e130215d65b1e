//! The gradient of a convolution with respect to its filters, for few channels: sums over runs of pixels,
//! without windows.
//!
//! ```text
//! image   ──▶ a plane per channel and phase of the stride, with its padding, of lines of one width ─┐
//! dy      ──▶ a plane per out channel, of lines of the same width, zeros behind their ends         ─┴▶ sums
//! ```
//!
//! In these planes the pixels that a tap meets in all windows of a group of lines are one contiguous run,
//! whose offset depends on the tap only. So no pixels are copied per tap. Groups of lines are small enough
//! for their planes to stay in the cache. Parts of the images are summed separately. The number of parts
//! depends on the shape only, so the bits do not depend on the number of workers.
//!
//! A zero behind a line is multiplied by a pixel of no window, which gives NaN if the pixel is infinite or
//! NaN. So if a sum is not finite, the caller must compute the gradient by another algorithm.

use std::sync::OnceLock;

use super::{Conv2d, Window};
use crate::TensorError;
use crate::interrupt::is_interrupted;
use crate::matmul::expect_len;
use crate::parallel::{Parallel, each_part};
use crate::scratch::{filled, with_room};
use crate::simd::{Isa, Runs, STEP};

/// The wanted length of a run.
const LEN: usize = 1536;

/// The most lines or columns that the taps of a window may reach over, in windows.
const MAX_REACH: usize = 64;

/// The most channels for which this algorithm is faster than a product of windows.
const MAX_CHANNELS: usize = 16;

/// The most partial sums.
const PARTS: usize = 16;

/// One axis of the planes.
#[derive(Clone, Copy, Debug)]
struct PlaneAxis {
    window: Window,
    /// The first position of a phase, in windows: at or before 0 where there is padding.
    first: isize,
    /// The positions of a phase beyond the number of windows.
    reach: usize,
}

impl PlaneAxis {
    /// `None` if the taps reach too far, or positions do not fit.
    fn new(window: Window) -> Option<PlaneAxis> {
        let reach = (window.filter - 1).checked_mul(window.dilation)?;
        let before = isize::try_from(window.pad.0).ok()?;
        let stride = isize::try_from(window.stride).ok()?;
        let first = (-before).div_euclid(stride);
        let last = isize::try_from(reach).ok()?.checked_sub(before)?.div_euclid(stride);
        let reach = usize::try_from(last - first).ok().filter(|&reach| reach <= MAX_REACH)?;
        (window.stride <= MAX_REACH).then_some(PlaneAxis { window, first, reach })
    }

    /// The phase of a tap, and its position there for window 0.
    fn tap(&self, tap: usize) -> (usize, usize) {
        let at = (tap * self.window.dilation) as isize - self.window.pad.0 as isize;
        let stride = self.window.stride as isize;
        (at.rem_euclid(stride) as usize, (at.div_euclid(stride) - self.first) as usize)
    }

    /// The pixel at a position of a phase; `None` in the padding.
    fn pixel(&self, phase: usize, at: usize) -> Option<usize> {
        let at = (at as isize + self.first) * self.window.stride as isize + phase as isize;
        usize::try_from(at).ok().filter(|&at| at < self.window.input)
    }
}

/// The layout of the planes, and the division of the work into pieces: groups of lines, or of images.
#[derive(Clone, Debug)]
pub(crate) struct FilterGradient<'c> {
    conv: &'c Conv2d,
    outs: usize,
    axes: [PlaneAxis; 2],
    /// The width of a line of a plane.
    line: usize,
    /// The number of images in a piece.
    images: usize,
    /// The number of lines of windows of an image in a piece.
    lines: usize,
    /// The length of a run.
    len: usize,
    /// The length of a plane of pixels.
    plane: usize,
    /// The offset of the run of each element of a window.
    taps: Vec<usize>,
}

impl<'c> FilterGradient<'c> {
    /// For `outs` out channels; `None` if a product of windows is faster.
    pub(crate) fn new(conv: &'c Conv2d, outs: usize) -> Result<Option<FilterGradient<'c>>, TensorError> {
        let [Some(down), Some(across)] = [conv.height, conv.width].map(PlaneAxis::new) else {
            return Ok(None);
        };
        if conv.channels > MAX_CHANNELS || conv.rows == 0 || conv.k == 0 || outs == 0 {
            return Ok(None);
        }
        let line = conv.out.1.checked_add(across.reach).ok_or(TensorError::TooLarge)?;
        let lines = (LEN / line).clamp(1, conv.out.0);
        let images = LEN / (line * (lines + down.reach)).max(1);
        let images = if lines == conv.out.0 { images.clamp(1, conv.batch) } else { 1 };
        // The last image's run ends with its windows, the last plane with its pixels.
        let all = images.checked_mul(lines + down.reach).ok_or(TensorError::TooLarge)?;
        let len = (all - down.reach).checked_mul(line).and_then(|len| len.checked_next_multiple_of(STEP));
        let len = len.ok_or(TensorError::TooLarge)?;
        let plane = (all + 1).checked_mul(line).and_then(|plane| plane.checked_add(STEP));
        let plane = plane.ok_or(TensorError::TooLarge)?;
        let phases = conv.height.stride * conv.width.stride;
        let count = phases.checked_mul(conv.channels).and_then(|count| count.checked_mul(plane));
        count.ok_or(TensorError::TooLarge)?;
        let mut taps = with_room(conv.k)?;
        for i in 0..conv.height.filter {
            let (phase_down, at_down) = down.tap(i);
            for j in 0..conv.width.filter {
                let (phase_across, at_across) = across.tap(j);
                let phase = phase_down * conv.width.stride + phase_across;
                let at = at_down * line + at_across;
                taps.extend((0..conv.channels).map(|c| (phase * conv.channels + c) * plane + at));
            }
        }
        Ok(Some(FilterGradient { conv, outs, axes: [down, across], line, images, lines, len, plane, taps }))
    }

    /// Sets `out`, of shape (height, width, channels, out channels), to the sums of pixels times gradients
    /// over all windows. False if a sum is not finite.
    pub(crate) fn run(
        &self,
        image: &[f32],
        dy: &[f32],
        out: &mut [f32],
        parallel: &dyn Parallel,
    ) -> Result<bool, TensorError> {
        let Conv2d { batch, k, rows, .. } = *self.conv;
        self.conv.expect_image(image)?;
        expect_len(rows, self.outs, dy.len())?;
        expect_len(k, self.outs, out.len())?;
        let per_image = self.conv.out.0.div_ceil(self.lines);
        let pieces = batch.div_ceil(self.images).checked_mul(per_image).ok_or(TensorError::TooLarge)?;
        let each = pieces.div_ceil(PARTS);
        let mut sums =
            filled(pieces.div_ceil(each).checked_mul(out.len()).ok_or(TensorError::TooLarge)?, 0.0)?;
        let failed = OnceLock::new();
        let workers = parallel.workers(self.conv.work_of_taps().saturating_mul(self.outs as u64));
        each_part(sums.chunks_mut(out.len()), workers, parallel, &|part, sums| {
            let pieces = (part * each..pieces.min((part + 1) * each))
                .map(|i| (i / per_image * self.images, i % per_image));
            if let Err(error) = self.add(image, dy, pieces, sums) {
                failed.get_or_init(|| error);
            }
        });
        if let Some(error) = failed.into_inner() {
            return Err(error);
        }
        out.fill(0.0);
        for sums in sums.chunks_exact(out.len()) {
            out.iter_mut().zip(sums).for_each(|(out, sum)| *out += sum);
        }
        Ok(out.iter().all(|sum| sum.is_finite()))
    }

    /// Adds the sums of some pieces, given as (first image, number of the group of lines).
    fn add(
        &self,
        image: &[f32],
        dy: &[f32],
        pieces: impl Iterator<Item = (usize, usize)>,
        sums: &mut [f32],
    ) -> Result<(), TensorError> {
        let isa = Isa::detect();
        let phases = self.conv.height.stride * self.conv.width.stride;
        let mut pixels = filled(phases * self.conv.channels * self.plane + self.len, 0.0)?;
        let mut gradients = filled(self.outs.checked_mul(self.len).ok_or(TensorError::TooLarge)?, 0.0)?;
        for (n, piece) in pieces.take_while(|_| !is_interrupted()) {
            let first = piece * self.lines;
            let images = self.images.min(self.conv.batch - n);
            for i in 0..images {
                self.put_pixels(isa, (n + i, first), image, (i, &mut pixels));
                self.put_gradients(isa, (n + i, first), dy, (i, &mut gradients));
            }
            if images < self.images {
                let rest = images * (self.lines + self.axes[0].reach) * self.line;
                gradients.chunks_exact_mut(self.len).for_each(|plane| plane[rest..].fill(0.0));
            }
            isa.correlate(&Runs::new(&pixels, &self.taps, &gradients, self.len), sums);
        }
        Ok(())
    }

    /// Copies the pixels of the windows of an image's lines from `first` on into the planes.
    fn put_pixels(
        &self,
        isa: Isa,
        (n, first): (usize, usize),
        image: &[f32],
        (place, to): (usize, &mut [f32]),
    ) {
        let Conv2d { channels, height, width, .. } = *self.conv;
        let [down, across] = &self.axes;
        let lines = self.lines + down.reach;
        let phases = to.chunks_exact_mut(channels * self.plane).take(height.stride * width.stride);
        for (phase, to) in phases.enumerate() {
            let (phase_down, phase_across) = (phase / width.stride, phase % width.stride);
            let inside = |at: &usize| across.pixel(phase_across, *at).is_some();
            let from = (0..self.line).find(inside).unwrap_or(self.line);
            let count = (from..self.line).take_while(inside).count();
            for t in 0..lines {
                let line = down.pixel(phase_down, first + t).filter(|_| count > 0);
                let line = line.zip(across.pixel(phase_across, from));
                let pixels =
                    line.map(|(y, x)| &image[((n * height.input + y) * width.input + x) * channels..]);
                let at = (place * lines + t) * self.line;
                let inside = if pixels.is_some() { from..from + count } else { 0..0 };
                for plane in to.chunks_exact_mut(self.plane) {
                    let line = &mut plane[at..][..self.line];
                    line[..inside.start].fill(0.0);
                    line[inside.end..].fill(0.0);
                }
                if let Some(pixels) = pixels {
                    let pixels = (pixels, width.stride * channels);
                    isa.transpose((count, channels), pixels, (&mut to[at + from..], self.plane));
                }
            }
        }
    }

    /// Copies the gradients of an image's lines from `first` on into the planes.
    fn put_gradients(
        &self,
        isa: Isa,
        (n, first): (usize, usize),
        dy: &[f32],
        (place, to): (usize, &mut [f32]),
    ) {
        let (height, width) = self.conv.out;
        let lines = self.lines.min(height - first);
        let dy = &dy[(n * height + first) * width * self.outs..][..lines * width * self.outs];
        let start = place * (self.lines + self.axes[0].reach) * self.line;
        for (line, dy) in dy.chunks_exact(width * self.outs).enumerate() {
            let to = &mut to[start + line * self.line..];
            isa.transpose((width, self.outs), (dy, self.outs), (to, self.len));
        }
        if lines < self.lines {
            for plane in to.chunks_exact_mut(self.len) {
                plane[start + lines * self.line..].fill(0.0);
            }
        }
    }
}
