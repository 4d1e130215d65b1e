//! Convolution of NHWC images with constant filters: a product whose left matrix is never laid out.
//!
//! ```text
//! row i of a   = the window of output pixel i (batch, y, x): filter height * filter width * channels numbers, 0 in the padding
//! b            = the filters, HWIO as they are: (height * width * channels) by out channels, packed
//! out          = f(a * b + bias + residual), NHWC
//! ```
//!
//! The driver of `matmul` asks for windows tile by tile, a block of the inner dimension at a time; a row of a window is copied from the image
//! as one piece. A 1x1 filter of stride 1 without padding is the plain product.
//!
//! Every size is checked when a [`Conv2d`] is made: afterwards none can overflow. Filters of 3x3 may go by `winograd`; `channels` has
//! depthwise convolutions and poolings. Not here: NCHW, other groups.

mod channels;
mod gradient;
#[cfg(test)]
mod tests;
mod winograd;

pub use winograd::{Patch, Winograd};

use std::ops::Range;

use crate::TensorError;
use crate::gemm::Matrix;
use crate::matmul::{Columns, Epilogue, PackedMatrix, Parallel, Rows, expect_len, multiply};
use crate::simd::{Isa, TileRows};

/// One spatial dimension of a convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The image's extent.
    pub input: usize,
    /// The filter's.
    pub filter: usize,
    /// Steps between windows, at least 1.
    pub stride: usize,
    /// Steps between a window's pixels, at least 1.
    pub dilation: usize,
    /// Zeros before and behind the image.
    pub pad: (usize, usize),
}

impl Window {
    /// How many windows there are; 0 where the filter is larger than the padded image.
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

    /// The taps of window `at` that are not padding.
    fn inside(&self, at: usize) -> Range<usize> {
        let Window { input, filter, stride, dilation, pad } = *self;
        let start = at * stride; // within the padded image
        let first = pad.0.saturating_sub(start).div_ceil(dilation);
        first..(input + pad.0).saturating_sub(start).div_ceil(dilation).min(filter).max(first)
    }

    /// The pixel of the image that window `at` has at `tap`, if it is not padding.
    fn pixel(&self, at: usize, tap: usize) -> Option<usize> {
        (at * self.stride + tap * self.dilation).checked_sub(self.pad.0).filter(|&pixel| pixel < self.input)
    }
}

/// The shape of a convolution, checked.
#[derive(Clone, Copy, Debug)]
pub struct Conv2d {
    batch: usize,
    channels: usize,
    height: Window,
    width: Window,
    /// Windows downwards and sideways.
    out: (usize, usize),
    /// Windows in all.
    rows: usize,
    /// Numbers in a window.
    k: usize,
}

impl Conv2d {
    /// For `batch` images of `channels` channels.
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

    /// `out = f(convolution of image with filters + bias + residual)`, all NHWC.
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

    /// The same without an epilogue and with filters that are not packed, of shape (height, width, channels, out channels).
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

    fn multiply<B: Columns>(
        &self,
        isa: Isa,
        image: &[f32],
        filters: &B,
        epilogue: &Epilogue<'_>,
        out: &mut [f32],
        parallel: &dyn Parallel,
    ) -> Result<(), TensorError> {
        let is_plain = |w: &Window| w.filter == 1 && w.stride == 1 && w.pad == (0, 0);
        if is_plain(&self.height) && is_plain(&self.width) {
            let pixels = Matrix::new(image, self.rows, self.channels);
            return multiply(isa, self.rows, &pixels, filters, epilogue, out, parallel);
        }
        multiply(isa, self.rows, &Windows { conv: self, image }, filters, epilogue, out, parallel)
    }

    /// Whether images have all of their pixels.
    fn expect_image(&self, image: &[f32]) -> Result<(), TensorError> {
        expect_len(self.batch * self.height.input * self.width.input, self.channels, image.len())
    }
}

/// The windows of an image as the rows of a matrix.
struct Windows<'a> {
    conv: &'a Conv2d,
    image: &'a [f32],
}

impl Rows for Windows<'_> {
    fn copy(&self, first: usize, count: usize, from: usize, steps: usize, out: &mut TileRows) {
        for (row, out) in (first..).zip(&mut out[..count]) {
            self.copy_row(row, from, &mut out[..steps]);
        }
    }

    fn contiguous(&self, _row: usize) -> Option<&[f32]> {
        None
    }
}

impl Windows<'_> {
    /// The numbers of a window from one on.
    fn copy_row(&self, window: usize, from: usize, out: &mut [f32]) {
        let &Conv2d { channels, width, .. } = self.conv;
        // Taps side by side in the image are one run of numbers.
        let taps = if width.dilation == 1 { width.filter } else { 1 };
        let run_len = taps * channels;
        let mut done = 0;
        while done < out.len() {
            let (run, at) = ((from + done) / run_len, (from + done) % run_len);
            let len = (run_len - at).min(out.len() - done);
            self.copy_run(window, run * taps, at, &mut out[done..][..len]);
            done += len;
        }
    }

    /// The numbers of a window from the `at`th on after the start of tap `tap`, as they follow each other in a row of the image.
    fn copy_run(&self, window: usize, tap: usize, at: usize, out: &mut [f32]) {
        let &Conv2d { channels, height, width, out: size, .. } = self.conv;
        let (image, place) = (window / (size.0 * size.1), window % (size.0 * size.1));
        let Some(y) = height.pixel(place / size.1, tap / width.filter) else { return out.fill(0.0) };
        let line = (image * height.input + y) * width.input * channels;
        let line = self.image.get(line..).and_then(|line| line.get(..width.input * channels)).unwrap_or(&[]);
        let x = place % size.1 * width.stride + tap % width.filter * width.dilation;
        // What lies before the line, then in it, then behind it.
        let missing = width.pad.0.saturating_sub(x).saturating_mul(channels);
        let start = x.saturating_sub(width.pad.0).saturating_mul(channels);
        let start = start.saturating_add(at.saturating_sub(missing));
        let (before, out) = out.split_at_mut(missing.saturating_sub(at).min(out.len()));
        let inside = line.get(start..).unwrap_or(&[]);
        let (to, behind) = out.split_at_mut(inside.len().min(out.len()));
        before.fill(0.0);
        to.copy_from_slice(&inside[..to.len()]);
        behind.fill(0.0);
    }
}
