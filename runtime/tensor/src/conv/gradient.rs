//! The gradients of a convolution, as products with the driver of `matmul`.
//!
//! ```text
//! by the filters:  sum over windows of (an element of the window) * dy      rows: elements, steps: windows
//! by the images, stride 1:   a convolution of dy with the filters, reversed, their channels exchanged
//!                stride s:   every s-th pixel down and across is a phase: s * s such convolutions, each with
//!                            every s-th tap, whose results are interleaved
//! ```
//!
//! So both read packed panels and accumulate in registers, as the convolution itself. Nothing is laid out as
//! a whole: a tile's rows are copied step by step from the image, and the filters are reversed while they are
//! packed.
//!
//! Gradients by the images with dilated windows of a stride, or with windows that lie in the padding as a
//! whole, are products of `dy` and the filters that are added to the pixels of each window (col2im).

use std::cell::Cell;
use std::ops::Range;

use super::{Conv2d, FilterGradient, Window, WindowRows};
use crate::TensorError;
use crate::cache::CACHE;
use crate::gemm::Matrix;
use crate::interrupt::is_interrupted;
use crate::matmul::{
    AlignedStep, ColumnSource, Epilogue, PackedMatrix, RowSource, expect_len, matmul, multiply, pack_panel,
    prepare_panels,
};
use crate::parallel::{ADDITIONS_PER_NS, Parallel, in_parts, nanoseconds, parts};
use crate::scratch::{filled, grow};
use crate::simd::{Isa, PanelSteps, TileRows};

/// The most elements laid out at a time, unless one window has more.
const LAID_OUT: usize = CACHE.l2_floats(2);

/// The largest stride whose phases are computed separately.
const MAX_STRIDE: usize = 4;

/// A phase of an axis: every `stride`-th pixel, from `first` on. The same taps meet all of them.
struct Phase {
    first: usize,
    /// The first tap that meets the pixels.
    tap: usize,
    /// The windows over the gradients, one per pixel. The filter is 0 if no tap meets the pixels.
    window: Window,
}

impl Window {
    /// The phases of the axis, for `outs` gradients; `None` if they have no such windows.
    fn phases(&self, outs: usize) -> Option<Vec<Phase>> {
        let Window { input, filter, stride, dilation, pad } = *self;
        if stride > MAX_STRIDE || stride > 1 && dilation > 1 {
            return None;
        }
        let phase = |first: usize| {
            let (tap, before) = ((first + pad.0) % stride, (first + pad.0) / stride);
            let taps = filter.saturating_sub(tap).div_ceil(stride);
            let count = (input - first).div_ceil(stride);
            let pad = match taps.checked_sub(1) {
                Some(last) => {
                    let reach = last.checked_mul(dilation)?;
                    let before = reach.checked_sub(before)?;
                    (before, count.checked_add(reach)?.checked_sub(outs.checked_add(before)?)?)
                }
                None => (0, 0),
            };
            Some(Phase { first, tap, window: Window { input: outs, filter: taps, stride: 1, dilation, pad } })
        };
        (0..stride.min(input)).map(phase).collect()
    }
}

impl Conv2d {
    /// Sets `out`, of shape (height, width, channels, `outs`), to the gradient by the filters: the sums of
    /// pixels times gradients over all windows.
    pub(crate) fn by_filters(
        &self,
        image: &[f32],
        dy: &[f32],
        outs: usize,
        out: &mut [f32],
        parallel: &dyn Parallel,
    ) -> Result<(), TensorError> {
        self.expect_image(image)?;
        expect_len(self.rows, outs, dy.len())?;
        if let Some(runs) = FilterGradient::new(self, outs)?
            && runs.run(image, dy, out, parallel)?
        {
            return Ok(());
        }
        let dy = Matrix::new(dy, self.rows, outs);
        if self.has_pixels() {
            let pixels = Matrix::new(image, self.rows, self.channels).transposed();
            return matmul(pixels, dy, &Epilogue::default(), out, parallel);
        }
        let elements = WindowElements(WindowRows { conv: self, image });
        multiply(Isa::detect(), self.k, &elements, &dy, &Epilogue::default(), out, parallel)
    }

    /// Sets `image` to the gradient by the images: for each pixel the sum of the gradients of its windows
    /// times the filters, which have shape (height, width, channels, `outs`).
    pub(crate) fn by_images(
        &self,
        dy: &[f32],
        (filters, outs): (&[f32], usize),
        image: &mut [f32],
        parallel: &dyn Parallel,
    ) -> Result<(), TensorError> {
        self.expect_image(image)?;
        expect_len(self.rows, outs, dy.len())?;
        expect_len(self.k, outs, filters.len())?;
        let phases = (self.height.phases(self.out.0), self.width.phases(self.out.1));
        let (Some(down), Some(across)) = phases else {
            image.fill(0.0);
            return self.spread(dy, Matrix::new(filters, self.k, outs).transposed(), image, parallel);
        };
        let is_met = |phases: &[Phase]| phases.iter().all(|phase| phase.window.filter > 0);
        if !is_met(&down) || !is_met(&across) {
            image.fill(0.0);
        }
        let is_whole = down.len() * across.len() == 1;
        for down in down.iter().filter(|phase| phase.window.filter > 0) {
            for across in across.iter().filter(|phase| phase.window.filter > 0) {
                let conv = Conv2d::new(self.batch, outs, down.window, across.window)?;
                let filters = Reversed::new(self, (filters, outs), (down, across));
                let epilogue = &Epilogue::default();
                if is_whole {
                    return conv.multiply(Isa::detect(), dy, &filters, epilogue, image, parallel);
                }
                let mut space = SCRATCH.take();
                let len = conv.rows * self.channels; // no larger than the images
                grow(&mut space, len, || 0.0)?;
                let pixels = &mut space[..len];
                conv.multiply(Isa::detect(), dy, &filters, epilogue, pixels, parallel)?;
                self.interleave(pixels, conv.out, (down.first, across.first), image, parallel);
                SCRATCH.set(space);
            }
        }
        Ok(())
    }

    /// Copies the pixels of a phase, which begins at pixel `first`, to the images.
    fn interleave(
        &self,
        pixels: &[f32],
        (rows, cols): (usize, usize),
        first: (usize, usize),
        image: &mut [f32],
        parallel: &dyn Parallel,
    ) {
        let Conv2d { batch, channels, height, width, .. } = *self;
        let line = width.input * channels;
        let parts = parts(batch, nanoseconds(pixels.len(), ADDITIONS_PER_NS), parallel);
        in_parts(image, height.input * line, parts, parallel, &|images, part| {
            let from = pixels[images.start * rows * cols * channels..].chunks_exact(cols * channels);
            let lines = part.chunks_exact_mut(height.input * line).flat_map(|image| {
                image.chunks_exact_mut(line).skip(first.0).step_by(height.stride).take(rows)
            });
            for (from, to) in from.zip(lines) {
                let to = to.chunks_exact_mut(channels).skip(first.1).step_by(width.stride);
                from.chunks_exact(channels).zip(to).for_each(|(from, to)| to.copy_from_slice(from));
            }
        });
    }

    /// The number of windows laid out at a time.
    fn block(&self) -> usize {
        (LAID_OUT / self.k.max(1)).clamp(1, self.rows.max(1))
    }

    /// Adds `dy * filter` to the image's pixels (col2im): each window's gradients times the filters, a matrix
    /// of out channels by elements of a window.
    fn spread(
        &self,
        dy: &[f32],
        filter: Matrix<'_, f32>,
        image: &mut [f32],
        parallel: &dyn Parallel,
    ) -> Result<(), TensorError> {
        let outs = filter.rows();
        let mut space = filled(self.block().checked_mul(self.k).ok_or(TensorError::TooLarge)?, 0.0)?;
        for first in (0..self.rows).step_by(self.block()).take_while(|_| !is_interrupted()) {
            let count = self.block().min(self.rows - first);
            let space = &mut space[..count * self.k];
            let dy = Matrix::new(&dy[first * outs..][..count * outs], count, outs);
            matmul(dy, filter, &Epilogue::default(), space, parallel)?;
            for (row, products) in (first..).zip(space.chunks_exact(self.k.max(1))) {
                self.add_window(row, products, image);
            }
        }
        Ok(())
    }

    fn add_window(&self, row: usize, products: &[f32], image: &mut [f32]) {
        let Conv2d { channels, height, width, out, .. } = *self;
        let (n, place) = (row / (out.0 * out.1), row % (out.0 * out.1));
        let (y, x) = (place / out.1, place % out.1);
        // With dilation 1 the taps of a filter row are one run of pixels.
        let cols = width.inside(x);
        if cols.is_empty() {
            return;
        }
        let (at_once, count) = if width.dilation == 1 { (cols.len(), 1) } else { (1, cols.len()) };
        for i in height.inside(y) {
            let line = n * height.input + y * height.stride + i * height.dilation - height.pad.0;
            for j in (cols.start..).step_by(at_once).take(count) {
                let pixel = line * width.input + x * width.stride + j * width.dilation - width.pad.0;
                let products = &products[(i * width.filter + j) * channels..][..at_once * channels];
                let pixels = &mut image[pixel * channels..][..at_once * channels];
                pixels.iter_mut().zip(products).for_each(|(pixel, product)| *pixel += product);
            }
        }
    }
}

/// The filters of a phase, in reverse order and with their channels exchanged.
struct Reversed<'a> {
    filters: &'a [f32],
    channels: usize,
    outs: usize,
    /// The filters' taps, the last first.
    taps: Vec<usize>,
}

impl<'a> Reversed<'a> {
    fn new(
        conv: &Conv2d,
        (filters, outs): (&'a [f32], usize),
        (down, across): (&Phase, &Phase),
    ) -> Reversed<'a> {
        let taps = |phase: &Phase, stride: usize| {
            let tap = phase.tap;
            (0..phase.window.filter).rev().map(move |i| tap + i * stride)
        };
        let Window { filter: width, stride, .. } = conv.width;
        let taps = taps(down, conv.height.stride)
            .flat_map(|i| taps(across, stride).map(move |j| i * width + j))
            .collect();
        Reversed { filters, channels: conv.channels, outs, taps }
    }
}

impl ColumnSource for Reversed<'_> {
    fn size(&self) -> (usize, usize) {
        (self.taps.len() * self.outs, self.channels)
    }

    fn packed(&self) -> Option<&PackedMatrix<'_>> {
        None
    }

    fn prepare(&self, panels: Range<usize>, rows: Range<usize>, space: &mut Vec<AlignedStep>) {
        prepare_panels(panels, rows, space, |panel, mut from, mut steps| {
            while !steps.is_empty() {
                let (tap, out) = (self.taps[from / self.outs], from % self.outs);
                let n = steps.len().min(self.outs - out);
                let filter = &self.filters[tap * self.channels * self.outs..][..self.channels * self.outs];
                let filter = Matrix::new(filter, self.channels, self.outs).transposed();
                pack_panel(&filter, panel, out, steps.split_off_mut(..n).unwrap_or_default());
                from += n;
            }
        });
    }

    fn in_place(&self, _panel: usize, _rows: Range<usize>) -> Option<PanelSteps<'_>> {
        None
    }
}

/// The elements of the windows of an image as the rows of a matrix, with a step per window.
struct WindowElements<'a>(WindowRows<'a>);

impl RowSource for WindowElements<'_> {
    fn by_steps(&self) -> bool {
        true
    }

    fn copy(&self, isa: Isa, rows: Range<usize>, steps: Range<usize>, out: &mut TileRows) {
        let channels = self.0.conv.channels;
        let out = &mut out.numbers_mut()[..steps.len() * isa.step()];
        let mut row = rows.start;
        while row < rows.end {
            let (tap, channel) = (row / channels, row % channels);
            let n = (channels - channel).min(rows.end - row);
            self.lay(isa, (tap, channel), steps.start, (row - rows.start, n), out);
            row += n;
        }
    }

    fn contiguous(&self, _row: usize) -> Option<&[f32]> {
        None
    }
}

impl WindowElements<'_> {
    /// Copies `n` channels of the pixels that a tap meets, a step of `out` for each window from `first` on,
    /// to rows `row` and on.
    fn lay(
        &self,
        isa: Isa,
        (tap, channel): (usize, usize),
        first: usize,
        (row, n): (usize, usize),
        out: &mut [f32],
    ) {
        let &Conv2d { channels, ref height, ref width, out: (_, cols), .. } = self.0.conv;
        let (i, j) = (tap / width.filter, tap % width.filter);
        let inside = width.with(j, cols);
        let step = isa.step();
        let zero = |out: &mut [f32]| out.chunks_exact_mut(step).for_each(|step| step[row..row + n].fill(0.0));
        let (mut at, n_steps) = (0, out.len() / step);
        while at < n_steps {
            let (line, x) = ((first + at) / cols, (first + at) % cols);
            let count = (cols - x).min(n_steps - at);
            let out = &mut out[at * step..(at + count) * step];
            let from = self.0.line(line, i, height);
            let xs = if from.is_some() { inside.clone() } else { x..x };
            let xs = xs.start.clamp(x, x + count) - x..xs.end.clamp(x, x + count) - x;
            zero(&mut out[..xs.start * step]);
            zero(&mut out[xs.end * step..]);
            if let Some((line, pixel)) = from.zip(width.pixel(x + xs.start, j)).filter(|_| !xs.is_empty()) {
                let from = &self.0.image[(line * width.input + pixel) * channels + channel..];
                isa.copy_steps(
                    (from, width.stride * channels),
                    (row, n),
                    &mut out[xs.start * step..xs.end * step],
                );
            }
            at += count;
        }
    }
}

thread_local! {
    /// The pixels of a phase. Taken while in use.
    static SCRATCH: Cell<Vec<f32>> = const { Cell::new(Vec::new()) };
}
