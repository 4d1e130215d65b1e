//! Building blocks of the convolution gradients: im2col and col2im.

use super::{Conv2d, WindowRows};
use crate::TensorError;
use crate::cache::CACHE;
use crate::gemm::Matrix;
use crate::interrupt::is_interrupted;
use crate::matmul::{Epilogue, expect_len, matmul};
use crate::parallel::Parallel;
use crate::scratch::filled;

/// The most elements laid out at a time, unless one window has more.
const LAID_OUT: usize = CACHE.l2_floats(2);

impl Conv2d {
    /// The number of windows laid out at a time.
    fn block(&self) -> usize {
        (LAID_OUT / self.k.max(1)).clamp(1, self.rows.max(1))
    }

    /// Lays out all windows of an image block by block (im2col), and calls `f(first, count, their elements)`.
    pub(crate) fn each_windows(
        &self,
        image: &[f32],
        mut f: impl FnMut(usize, usize, &[f32]),
    ) -> Result<(), TensorError> {
        self.expect_image(image)?;
        let windows = WindowRows { conv: self, image };
        let mut space = space(self.block(), self.k)?;
        for first in (0..self.rows).step_by(self.block()).take_while(|_| !is_interrupted()) {
            let count = self.block().min(self.rows - first);
            let space = &mut space[..count * self.k];
            for (row, out) in (first..).zip(space.chunks_exact_mut(self.k.max(1))) {
                windows.copy_window(row, out);
            }
            f(first, count, space);
        }
        Ok(())
    }

    /// Adds `dy * filter` to the image's pixels (col2im): each window's `outs` gradients times the filters, a
    /// matrix of `outs` by elements of a window.
    pub(crate) fn spread(
        &self,
        dy: &[f32],
        filter: Matrix<'_, f32>,
        image: &mut [f32],
        parallel: &dyn Parallel,
    ) -> Result<(), TensorError> {
        self.expect_image(image)?;
        let outs = filter.rows();
        expect_len(self.rows, outs, dy.len())?;
        let mut space = space(self.block(), self.k)?;
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

fn space(rows: usize, k: usize) -> Result<Vec<f32>, TensorError> {
    filled(rows.checked_mul(k).ok_or(TensorError::TooLarge)?, 0.0)
}
