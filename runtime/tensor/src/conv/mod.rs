//! Convolution of NHWC images with constant filters: an implicit matrix product (im2col without the matrix).
//!
//! ```text
//! row i of a   = window of output pixel i (batch, y, x): height * width * channels elements, padding is 0
//! b            = the filters in HWIO: (height * width * channels) by out channels, packed
//! out          = f(a * b + bias + residual), NHWC
//! ```
//!
//! The driver of `matmul` requests windows tile by tile, a block of the inner dimension at a time. Each row
//! of a window is copied from the image in one piece. For small filters, `lines` copies less and accumulates
//! longer. For few channels, `planes` vectorizes over neighbouring windows. A 1x1 filter of stride 1 without
//! padding is a plain product.
//!
//! [`Conv2d::new`] checks all sizes: no later computation can overflow. 3x3 filters may use `winograd`.
//! `channels` has depthwise convolutions and poolings; `gradient`, `filter_gradient` and `channels_gradient`
//! have the gradients, `narrow` has lower precision, `channels_bytes` has depthwise convolutions of bytes,
//! `bottleneck` has a depthwise convolution between two of 1x1 filters. Not here: NCHW, other groups.

mod bottleneck;
mod channels;
mod channels_bytes;
mod channels_gradient;
mod filter_gradient;
mod gradient;
mod lines;
mod narrow;
mod planes;
#[cfg(test)]
mod tests;
mod winograd;

pub(crate) use bottleneck::{Bottleneck, OfPixels};
pub(crate) use channels_bytes::WriteLine;
use filter_gradient::FilterGradient;
pub(crate) use winograd::pack_transformed;
pub use winograd::{Patch, Winograd};

use std::ops::Range;

use crate::TensorError;
use crate::gemm::Matrix;
use crate::matmul::{ColumnSource, Epilogue, PackedMatrix, RowMajor, RowSource, expect_len, multiply};
use crate::parallel::Parallel;
use crate::simd::{Isa, LeftSteps, Row, TileRows};

/// One spatial dimension of a convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The image's size.
    pub input: usize,
    /// The filter's size.
    pub filter: usize,
    /// The distance of neighbouring windows, at least 1.
    pub stride: usize,
    /// The distance of a window's taps, at least 1.
    pub dilation: usize,
    /// Padding before and after the image.
    pub pad: (usize, usize),
}

impl Window {
    /// The number of windows; 0 if the filter is larger than the padded image.
    pub fn output(&self) -> Result<usize, TensorError> {
        let Window { input, filter, stride, dilation, pad } = *self;
        if filter == 0 || stride == 0 || dilation == 0 {
            return Err(TensorError::Count { want: 1, got: 0 });
        }
        let padded =
            input.checked_add(pad.0).and_then(|x| x.checked_add(pad.1)).ok_or(TensorError::TooLarge)?;
        let reach =
            (filter - 1).checked_mul(dilation).and_then(|x| x.checked_add(1)).ok_or(TensorError::TooLarge)?;
        Ok(padded.checked_sub(reach).map_or(0, |free| free / stride + 1))
    }

    /// The taps of window `at` that lie inside the image.
    fn inside(&self, at: usize) -> Range<usize> {
        let Window { input, filter, stride, dilation, pad } = *self;
        let start = at * stride; // within the padded image
        let first = pad.0.saturating_sub(start).div_ceil(dilation);
        first..(input + pad.0).saturating_sub(start).div_ceil(dilation).min(filter).max(first)
    }

    /// The windows that lie inside the image.
    fn whole(&self) -> Range<usize> {
        let Window { input, filter, stride, dilation, pad } = *self;
        let free = (input + pad.0).checked_sub((filter - 1) * dilation + 1);
        let end = free.map_or(0, |free| free / stride + 1).min(self.output().unwrap_or(0));
        let start = pad.0.div_ceil(stride).min(end);
        start..end
    }

    /// Those of the first `count` windows whose tap `tap` lies inside the image.
    fn with(&self, tap: usize, count: usize) -> Range<usize> {
        let Window { input, stride, dilation, pad, .. } = *self;
        let ahead = tap * dilation; // below the filter's reach
        let end = (input + pad.0).saturating_sub(ahead).div_ceil(stride).min(count);
        pad.0.saturating_sub(ahead).div_ceil(stride).min(end)..end
    }

    /// The image position of tap `tap` of window `at`; `None` in the padding.
    fn pixel(&self, at: usize, tap: usize) -> Option<usize> {
        (at * self.stride + tap * self.dilation).checked_sub(self.pad.0).filter(|&pixel| pixel < self.input)
    }
}

/// The checked shape of a convolution or pooling.
#[derive(Clone, Copy, Debug)]
pub struct Conv2d {
    batch: usize,
    channels: usize,
    height: Window,
    width: Window,
    /// The number of windows down and across.
    out: (usize, usize),
    /// The total number of windows.
    rows: usize,
    /// The number of elements in a window.
    k: usize,
}

impl Conv2d {
    /// The convolution of `batch` images of `channels` channels.
    pub fn new(batch: usize, channels: usize, height: Window, width: Window) -> Result<Conv2d, TensorError> {
        let out = (height.output()?, width.output()?);
        let product = |factors: [usize; 3]| {
            let product = factors.iter().try_fold(1usize, |product, &x| product.checked_mul(x));
            product.ok_or(TensorError::TooLarge)
        };
        let rows = product([batch, out.0, out.1])?;
        let k = product([height.filter, width.filter, channels])?;
        product([product([batch, height.input, width.input])?, channels, 1])?;
        Ok(Conv2d { batch, channels, height, width, out, rows, k })
    }

    /// Height and width of the result.
    pub fn output(&self) -> (usize, usize) {
        self.out
    }

    /// Packs filters of shape (height, width, channels, out channels).
    pub fn pack(&self, out_channels: usize, filters: &[f32]) -> Result<PackedMatrix<'static>, TensorError> {
        PackedMatrix::pack(self.k, out_channels, filters)
    }

    /// `out = f(convolution of image with filters * scale + bias + residual)`, all NHWC.
    pub fn run(
        &self,
        image: &[f32],
        filters: &PackedMatrix<'_>,
        epilogue: &Epilogue<'_>,
        out: &mut [f32],
        parallel: &dyn Parallel,
    ) -> Result<(), TensorError> {
        self.run_with(Isa::detect(), image, filters, epilogue, out, parallel)
    }

    fn run_with(
        &self,
        isa: Isa,
        image: &[f32],
        filters: &PackedMatrix<'_>,
        epilogue: &Epilogue<'_>,
        out: &mut [f32],
        parallel: &dyn Parallel,
    ) -> Result<(), TensorError> {
        self.expect_image(image)?;
        if filters.k() != self.k {
            return Err(TensorError::Count { want: self.k, got: filters.k() });
        }
        self.multiply(isa, image, filters, epilogue, out, parallel)
    }

    /// [`Conv2d::run`] without an epilogue, with unpacked filters of shape (height, width, channels, out
    /// channels).
    pub fn run_unpacked(
        &self,
        image: &[f32],
        filters: &[f32],
        out_channels: usize,
        out: &mut [f32],
        parallel: &dyn Parallel,
    ) -> Result<(), TensorError> {
        self.expect_image(image)?;
        expect_len(self.k, out_channels, filters.len())?;
        let filters = Matrix::new(filters, self.k, out_channels);
        self.multiply(Isa::detect(), image, &filters, &Epilogue::default(), out, parallel)
    }

    fn multiply<B: ColumnSource>(
        &self,
        isa: Isa,
        image: &[f32],
        filters: &B,
        epilogue: &Epilogue<'_>,
        out: &mut [f32],
        parallel: &dyn Parallel,
    ) -> Result<(), TensorError> {
        if self.has_pixels() {
            let pixels = RowMajor { numbers: image, k: self.channels };
            return multiply(isa, self.rows, &pixels, filters, epilogue, out, parallel);
        }
        if let Some(winograd) = self.winograd_of(filters) {
            return winograd.run_unpacked(isa, image, filters, epilogue, out, parallel);
        }
        let windows = WindowRows { conv: self, image };
        if let Some(planar) = planes::Planar::new(isa, &windows, filters, epilogue) {
            return planar.run(out, parallel);
        }
        if let Some(lines) = lines::Lines::new(isa, &windows, filters, epilogue) {
            return lines.run(out, parallel);
        }
        multiply(isa, self.rows, &windows, filters, epilogue, out, parallel)
    }

    /// True if each window is one pixel: a 1x1 filter of stride 1 without padding.
    fn has_pixels(&self) -> bool {
        let is_plain = |w: &Window| w.filter == 1 && w.stride == 1 && w.pad == (0, 0);
        is_plain(&self.height) && is_plain(&self.width)
    }

    /// The number of elements of all images. `Conv2d::new` has checked that it does not overflow.
    fn elements(&self) -> usize {
        self.batch * self.height.input * self.width.input * self.channels
    }

    /// Checks the number of elements of the images.
    fn expect_image(&self, image: &[f32]) -> Result<(), TensorError> {
        expect_len(self.elements(), 1, image.len())
    }
}

/// The windows of an image as the rows of a matrix.
struct WindowRows<'a> {
    conv: &'a Conv2d,
    image: &'a [f32],
}

impl RowSource for WindowRows<'_> {
    fn copy(&self, isa: Isa, rows: Range<usize>, steps: Range<usize>, out: &mut TileRows) {
        let &Conv2d { channels, height, width, out: (_, cols), .. } = self.conv;
        let run = width.filter * channels;
        let mut at = steps.start;
        while at < steps.end {
            let (tap, from) = (at / run, at % run);
            let piece = from..run.min(from + steps.end - at);
            let mut row = rows.start;
            while row < rows.end {
                let (line, x) = (row / cols, row % cols);
                let count = (cols - x).min(rows.end - row);
                let out = &mut out.0[row - rows.start..][..count];
                self.lay(
                    isa,
                    self.line(line, tap, &height),
                    x..x + count,
                    piece.clone(),
                    at - steps.start,
                    out,
                );
                row += count;
            }
            at += piece.len();
        }
    }

    fn contiguous(&self, _row: usize) -> Option<&[f32]> {
        None
    }
}

impl WindowRows<'_> {
    /// The image line that filter row `tap` meets in a line of windows. Image lines are counted over all
    /// images, lines of windows over all results. `None` in the padding.
    fn line(&self, line: usize, tap: usize, height: &Window) -> Option<usize> {
        let rows = self.conv.out.0;
        Some(line / rows * height.input + height.pixel(line % rows, tap)?)
    }

    /// The slices of windows `xs` in an image line where they are, if all lie inside the image.
    fn slices(&self, line: usize, xs: &Range<usize>) -> Option<LeftSteps<'_>> {
        let &Conv2d { channels, ref width, .. } = self.conv;
        let whole = width.whole();
        if width.dilation > 1 || xs.start < whole.start || xs.end > whole.end {
            return None;
        }
        let pixel = line * width.input + xs.start * width.stride - width.pad.0;
        LeftSteps::in_place(&self.image[pixel * channels..], width.stride * channels)
    }

    /// Copies elements `piece` of the slices of windows `xs` in an image line. Each window is copied to one
    /// row of `out`, from `at` on. Elements behind the copy may be overwritten.
    fn lay(
        &self,
        isa: Isa,
        line: Option<usize>,
        xs: Range<usize>,
        piece: Range<usize>,
        at: usize,
        out: &mut [Row],
    ) {
        let &Conv2d { channels, ref width, .. } = self.conv;
        let Some(line) = line else {
            return out.iter_mut().for_each(|out| out[at..][..piece.len()].fill(0.0));
        };
        let image = &self.image[line * width.input * channels..];
        // Adjacent taps are contiguous in the image.
        let whole = if width.dilation == 1 { width.whole() } else { 0..0 };
        let whole = whole.start.clamp(xs.start, xs.end)..whole.end.clamp(xs.start, xs.end);
        if !whole.is_empty() {
            let from = (whole.start * width.stride - width.pad.0) * channels + piece.start;
            let out = &mut out[whole.start - xs.start..whole.end - xs.start];
            isa.copy_rows(&image[from..], width.stride * channels, piece.len(), at, out);
        }
        for (x, out) in xs.zip(out).filter(|(x, _)| !whole.contains(x)) {
            copy_taps(width, channels, image, (x, piece.clone()), &mut out[at..][..piece.len()]);
        }
    }
}

/// Copies elements `piece` of the slice of window `x` in an image line.
fn copy_taps(
    width: &Window,
    channels: usize,
    line: &[f32],
    (x, piece): (usize, Range<usize>),
    out: &mut [f32],
) {
    let mut at = piece.start;
    while at < piece.end {
        let tap = at / channels;
        let end = piece.end.min((tap + 1) * channels);
        let out = &mut out[at - piece.start..end - piece.start];
        match width.pixel(x, tap) {
            Some(pixel) => out.copy_from_slice(&line[pixel * channels + at - tap * channels..][..end - at]),
            None => out.fill(0.0),
        }
        at = end;
    }
}
