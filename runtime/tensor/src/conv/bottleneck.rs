//! A depthwise convolution with the products of pixels before and behind it: an inverted bottleneck.
//!
//! ```text
//! image ─expand─▶ lines of many channels ─depthwise─▶ lines of many channels ─project─▶ result
//!        1x1      a band of them, in the L2 cache     of the same band         1x1
//! ```
//!
//! The images of many channels between the three are much larger than the two at the ends. They are computed
//! in bands of lines that stay in the L2 cache, and are never written to memory as a whole. A band's windows
//! reach into the lines of the one before, which are moved, not computed again. Parts of the images for
//! several threads begin with a band of their own.
//!
//! Each value is the one that the three operators compute one after another, bit for bit, unless an image is
//! one pixel wide.

use std::cell::Cell;
use std::ops::Range;
use std::sync::OnceLock;

use super::{Conv2d, Window};
use crate::TensorError;
use crate::cache::CACHE;
use crate::interrupt::is_interrupted;
use crate::matmul::{Epilogue, PackedMatrix, RowMajor, expect_len, multiply};
use crate::parallel::{PRODUCTS_PER_NS, Parallel, Serial, in_parts, nanoseconds, parts};
use crate::scratch::grow;
use crate::simd::{Fold, Isa};

/// The most elements of a band, unless one line of windows has more. Few in tests, so that small images have
/// several bands.
const BAND: usize = if cfg!(test) { 2000 } else { CACHE.l2_floats(2) };

/// A product of each pixel's channels with a matrix: a convolution with 1x1 filters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OfPixels<'a> {
    pub(crate) weights: &'a PackedMatrix<'a>,
    pub(crate) epilogue: Epilogue<'a>,
}

/// A depthwise convolution between two products of pixels, either of which may be missing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bottleneck<'a> {
    pub(crate) expand: Option<OfPixels<'a>>,
    /// The depthwise convolution.
    pub(crate) conv: &'a Conv2d,
    /// Its filters, of shape (height, width, channels).
    pub(crate) filters: &'a [f32],
    /// Its epilogue, without a residual.
    pub(crate) epilogue: Epilogue<'a>,
    pub(crate) project: Option<OfPixels<'a>>,
}

/// Scratch memory of a thread.
#[derive(Default)]
struct BandScratch {
    /// Lines of the depthwise convolution's images, from the line of the number on.
    expanded: Vec<f32>,
    /// Lines of its results.
    folded: Vec<f32>,
}

impl Bottleneck<'_> {
    /// Sets `out` to the result for NHWC images.
    ///
    /// # Errors
    /// If lengths do not fit, or memory for a band is refused.
    pub(crate) fn run(
        &self,
        image: &[f32],
        out: &mut [f32],
        parallel: &dyn Parallel,
    ) -> Result<(), TensorError> {
        let Conv2d { batch, channels, height, width, rows, k, .. } = *self.conv;
        let pixels = batch * height.input * width.input;
        let (from, to) = (self.channels_in(), self.channels_out());
        expect_len(pixels, from, image.len())?;
        expect_len(rows, to, out.len())?;
        expect_len(1, k, self.filters.len())?;
        self.epilogue.check(channels, 0)?;
        for (product, (inner, columns), len) in
            [(&self.expand, (from, channels), pixels * channels), (&self.project, (channels, to), out.len())]
        {
            if let Some(OfPixels { weights, epilogue }) = product {
                expect_len(1, inner, weights.k())?;
                expect_len(1, columns, weights.n())?;
                epilogue.check(columns, len)?;
            }
        }
        if out.is_empty() {
            return Ok(());
        }
        let products = |product: &Option<OfPixels<'_>>, pixels: usize| {
            product.map_or(0, |of| {
                let all = of.weights.k().saturating_mul(of.weights.n()).saturating_mul(pixels);
                nanoseconds(all, PRODUCTS_PER_NS)
            })
        };
        let work = self.conv.work_of_taps() + products(&self.expand, pixels) + products(&self.project, rows);
        let line = self.conv.out.1 * to;
        let parts = parts(out.len() / line, work, parallel);
        let failed = OnceLock::new();
        in_parts(out, line, parts, parallel, &|lines, out| {
            let mut space = SCRATCH.take();
            if let Err(error) = self.part(lines, image, &mut space, out) {
                failed.get_or_init(|| error);
            }
            SCRATCH.set(space);
        });
        failed.into_inner().map_or(Ok(()), Err)
    }

    /// The channels of the images.
    fn channels_in(&self) -> usize {
        self.expand.map_or(self.conv.channels, |of| of.weights.k())
    }

    /// The channels of the result.
    fn channels_out(&self) -> usize {
        self.project.map_or(self.conv.channels, |of| of.weights.n())
    }

    /// The lines of an image from the first to the last that the windows of some lines meet. Neither goes up
    /// from one band to the next.
    fn covered(&self, lines: Range<usize>) -> Range<usize> {
        let Window { input, filter, stride, dilation, pad } = self.conv.height;
        let line = |at: usize| at.saturating_sub(pad.0).min(input);
        let last = lines.end.saturating_sub(1) * stride + (filter - 1) * dilation; // within the padded image
        line(lines.start * stride)..line(last + 1)
    }

    /// The number of lines of windows in a band.
    fn band(&self) -> usize {
        let Conv2d { channels, height, width, out, .. } = *self.conv;
        let (above, below) = (width.input * channels, out.1 * channels);
        let first = ((height.filter - 1) * height.dilation + 1).min(height.input).saturating_mul(above);
        let each = above.saturating_mul(height.stride).saturating_add(below);
        (BAND.saturating_sub(first) / each.max(1)).max(1)
    }

    /// Computes lines of results, which are counted over all images.
    fn part(
        &self,
        lines: Range<usize>,
        image: &[f32],
        space: &mut BandScratch,
        out: &mut [f32],
    ) -> Result<(), TensorError> {
        let Conv2d { height, width, out: (rows, cols), .. } = *self.conv;
        let (image_line, out_line) = (width.input * self.channels_in(), cols * self.channels_out());
        let most = self.band();
        // The lines of the image that are expanded already.
        let (mut of_image, mut ready) = (usize::MAX, 0..0);
        let mut line = lines.start;
        while line < lines.end && !is_interrupted() {
            let (n, y) = (line / rows, line % rows);
            let count = most.min(rows - y).min(lines.end - line);
            let image = &image[n * height.input * image_line..][..height.input * image_line];
            let covered = self.covered(y..y + count);
            if of_image != n {
                (of_image, ready) = (n, covered.start..covered.start);
            }
            self.expand(image, (&mut ready, covered.clone()), &mut space.expanded)?;
            let out = &mut out[(line - lines.start) * out_line..][..count * out_line];
            let images = match self.expand {
                Some(_) => (&space.expanded[..], covered.start),
                None => (image, 0),
            };
            match &self.project {
                None => self.fold(y..y + count, images, out),
                Some(project) => {
                    let len = count * cols * self.conv.channels;
                    grow(&mut space.folded, len, || 0.0)?;
                    let folded = &mut space.folded[..len];
                    self.fold(y..y + count, images, folded);
                    project.run(folded, (line * out_line, out))?;
                }
            }
            line += count;
        }
        Ok(())
    }

    /// Makes `expanded` begin with the covered lines of an image. It has those of `ready`, which becomes the
    /// covered ones.
    fn expand(
        &self,
        image: &[f32],
        (ready, covered): (&mut Range<usize>, Range<usize>),
        expanded: &mut Vec<f32>,
    ) -> Result<(), TensorError> {
        let Some(expand) = &self.expand else { return Ok(()) };
        let Conv2d { channels, width, .. } = *self.conv;
        let (line, to_line) = (width.input * self.channels_in(), width.input * channels);
        grow(expanded, covered.len() * to_line, || 0.0)?;
        // No line is covered again that was not by the last band. There may be lines between two bands.
        let kept = covered.start.min(ready.end)..ready.end;
        expanded.copy_within((kept.start - ready.start) * to_line..(kept.end - ready.start) * to_line, 0);
        let first = covered.start + kept.len();
        let to = &mut expanded[kept.len() * to_line..covered.len() * to_line];
        expand.run(&image[first * line..covered.end * line], (0, to))?;
        *ready = covered;
        Ok(())
    }

    /// Computes lines of the depthwise convolution of one image, of which `images` has the lines from the one
    /// of this number on.
    fn fold(&self, lines: Range<usize>, images: (&[f32], usize), out: &mut [f32]) {
        let (isa, fold) = (Isa::detect(), Fold::Weighted(self.filters));
        let mut met = Vec::new();
        for (y, out) in lines.zip(out.chunks_exact_mut(self.conv.out.1 * self.conv.channels)) {
            self.conv.met_lines(y, images, &mut met);
            self.conv.fold_line(isa, fold, &met, &self.epilogue, out);
        }
    }
}

impl OfPixels<'_> {
    /// Multiplies some pixels. The first result is number `at` of all.
    fn run(&self, pixels: &[f32], (at, out): (usize, &mut [f32])) -> Result<(), TensorError> {
        let (k, n) = (self.weights.k(), self.weights.n());
        let rows = out.len() / n.max(1);
        let residual = self.epilogue.residual.map(|residual| &residual[at..at + out.len()]);
        let epilogue = Epilogue { residual, ..self.epilogue };
        let pixels = RowMajor { numbers: pixels, k };
        multiply(Isa::detect(), rows, &pixels, self.weights, &epilogue, out, &Serial)
    }
}

thread_local! {
    /// Taken while in use.
    static SCRATCH: Cell<BandScratch> = Cell::default();
}
