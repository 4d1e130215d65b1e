//! Convolution for images of few channels: vectorized over windows.
//!
//! ```text
//! band of an image ─▶ a plane per channel and per remainder of line and column by the stride (laid out once)
//! element (i, j, c) of the window at (y, x) = plane[y + i', x + j']: `offset of (i, j, c)` + `y * width + x`
//! results of neighbouring windows = sum over (i, j, c) of a register of a plane * weight      (simd::planes)
//! ```
//!
//! Windows that straddle two lines are computed and discarded. An image's elements are laid out once instead
//! of once per tap, and all lanes are used for any number of out channels. Rows of a filter that lie in the
//! padding are left out.

use std::cell::Cell;
use std::ops::{Range, RangeInclusive};

use super::{Window, WindowRows};
use crate::TensorError;
use crate::cache::CACHE;
use crate::interrupt::is_interrupted;
use crate::math::transpose_part;
use crate::matmul::{AlignedStep, ColumnSource, Epilogue, expect_len, finish};
use crate::parallel::{PRODUCTS_PER_NS, Parallel, in_parts, nanoseconds, parts};
use crate::simd::{ACROSS, Block, Isa, OutRows, PANEL, Planes};

/// The most elements of a window.
const STEPS: usize = 2048;
/// The most elements in the planes of a band, unless one line has more: a band stays in the L2 cache.
const BAND: usize = CACHE.l2_floats(4);
/// The most elements in the planes that one line of windows covers.
const LINE: usize = 1 << 18;

/// A convolution by this algorithm.
pub(super) struct Planar<'a, B> {
    isa: Isa,
    windows: &'a WindowRows<'a>,
    filters: &'a B,
    epilogue: &'a Epilogue<'a>,
    /// The line stride of a plane.
    width: usize,
    /// The number of plane lines that a window covers below its first line.
    more: usize,
    /// The number of result lines in a band.
    band: usize,
}

/// Scratch memory of a thread.
#[derive(Default)]
struct PlaneScratch {
    pixels: Vec<f32>,
    offsets: Vec<usize>,
    filters: Vec<AlignedStep>,
    block: Option<Box<Block>>,
}

/// The distance between a window's first and last tap.
fn reach(window: &Window) -> Option<usize> {
    (window.filter - 1).checked_mul(window.dilation)
}

impl<'a, B: ColumnSource> Planar<'a, B> {
    /// `None` if another algorithm is faster or sizes overflow: for many channels, large filters, extreme
    /// lines.
    pub(super) fn new(
        isa: Isa,
        windows: &'a WindowRows<'a>,
        filters: &'a B,
        epilogue: &'a Epilogue<'a>,
    ) -> Option<Planar<'a, B>> {
        let conv = windows.conv;
        let (height, across, (k, n)) = (&conv.height, &conv.width, filters.size());
        let is_better = n <= 8 || conv.channels <= 4 && (n <= 16 || k >= 64);
        let fits = (1..=STEPS).contains(&k) && is_better && height.stride.max(across.stride) <= 4;
        if !fits {
            return None;
        }
        let width = conv.out.1.checked_add(reach(across)? / across.stride)?;
        let more = reach(height)? / height.stride;
        let line = width.checked_mul(conv.channels * height.stride * across.stride)?;
        // A band has at least one line of windows, even if its planes exceed `BAND`.
        let lines = BAND / line.max(1);
        let fits = line.checked_mul(more.checked_add(1)?)? <= LINE;
        fits.then_some(Planar {
            isa,
            windows,
            filters,
            epilogue,
            width,
            more,
            band: lines.saturating_sub(more).max(1),
        })
    }

    pub(super) fn run(&self, out: &mut [f32], parallel: &dyn Parallel) -> Result<(), TensorError> {
        let (k, n) = self.filters.size();
        let conv = self.windows.conv;
        let cols = conv.out.1;
        expect_len(conv.rows, n, out.len())?;
        self.epilogue.check(n, out.len())?;
        if out.is_empty() {
            return Ok(());
        }
        let lines = out.len() / (cols * n);
        let products = lines.saturating_mul(cols).saturating_mul(k).saturating_mul(n);
        let parts = parts(lines, nanoseconds(products, PRODUCTS_PER_NS), parallel);
        in_parts(out, cols * n, parts, parallel, &|lines, out| self.part(lines.start, out));
        Ok(())
    }

    /// Computes lines of results from `first` on.
    fn part(&self, first: usize, out: &mut [f32]) {
        let (k, n) = self.filters.size();
        let (rows, cols) = self.windows.conv.out;
        let mut space = SCRATCH.take();
        self.filters.prepare(0..n.div_ceil(PANEL), 0..k, &mut space.filters);
        let (mut line, end) = (first, first + out.len() / (cols * n));
        while line < end {
            let lines = self.band.min(rows - line % rows).min(end - line);
            let out = &mut out[(line - first) * cols * n..][..lines * cols * n];
            self.band(line, lines, &mut space, out);
            line += lines;
        }
        SCRATCH.set(space);
    }

    /// Computes some lines of results of one image. The first is line `line`, counted over all images.
    fn band(&self, line: usize, lines: usize, space: &mut PlaneScratch, out: &mut [f32]) {
        let ((k, n), (rows, cols)) = (self.filters.size(), self.windows.conv.out);
        self.lay(line, lines, space);
        let PlaneScratch { pixels, offsets, filters, block } = space;
        let block = block.get_or_insert_with(|| Box::new(bytemuck::Zeroable::zeroed()));
        let planes = Planes::new(pixels, offsets);
        let count = (lines - 1) * self.width + cols;
        for panel in 0..n.div_ceil(PANEL) {
            let b = self.filters.panel(panel, panel, 0..k, filters);
            let col = panel * PANEL;
            let outs = PANEL.min(n - col);
            let epilogue = self.epilogue.part(col, 0);
            let (mut y, mut x) = (0, 0);
            for first in (0..count).step_by(ACROSS) {
                if first % (8 * ACROSS) == 0 && is_interrupted() {
                    return;
                }
                let end = count.min(first + ACROSS);
                let steps =
                    self.steps(line % rows + first / self.width..=line % rows + (end - 1) / self.width);
                let some = planes.part(steps.clone());
                self.isa.planes(&some, first..end, (&b[steps], outs), &epilogue, block);
                let mut at = first;
                while at < end {
                    let next = end.min(at + self.width - x);
                    if x < cols {
                        let some = cols.min(x + next - at) - x;
                        let to = &mut out[(y * cols + x) * n + col..];
                        block.put(at - first..at - first + some, outs, to, n);
                        if self.epilogue.residual.is_some() {
                            let place = ((line + y) * cols + x, col);
                            let to = &mut OutRows::Strided(to, n);
                            finish(self.isa, self.epilogue, place, (some, outs), (to, n));
                        }
                    }
                    x += next - at;
                    if x == self.width {
                        (y, x) = (y + 1, 0);
                    }
                    at = next;
                }
            }
        }
    }

    /// The elements of a window that lie in lines of the image, for some lines of windows: the others are 0.
    fn steps(&self, lines: RangeInclusive<usize>) -> Range<usize> {
        let conv = self.windows.conv;
        let run = conv.width.filter * conv.channels;
        let rows = lines.map(|line| conv.height.inside(line)).filter(|rows| !rows.is_empty());
        let rows = rows.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end)).unwrap_or_default();
        rows.start * run..rows.end * run
    }

    /// Lays out the planes of some lines of results, and computes the offsets of a window's elements.
    fn lay(&self, line: usize, lines: usize, space: &mut PlaneScratch) {
        let WindowRows { conv, image } = self.windows;
        let (channels, height, across) = (conv.channels, &conv.height, &conv.width);
        let (rows, width) = (lines + self.more, self.width);
        let (down, right) = (height.stride, across.stride);
        let plane = rows * width;
        let of_remainders = |i: usize, j: usize| (i * right + j) * channels * plane;
        space.pixels.resize(down * right * channels * plane + ACROSS, 0.0);
        space.offsets.clear();
        for i in (0..height.filter).map(|i| divided(i * height.dilation, down)) {
            for j in (0..across.filter).map(|j| divided(j * across.dilation, right)) {
                let at = of_remainders(i.1, j.1) + i.0 * width + j.0;
                space.offsets.extend((0..channels).map(|c| at + c * plane));
            }
        }
        let line_len = across.input * channels;
        let (first, y) = (line / conv.out.0 * height.input, line % conv.out.0);
        for (i, j) in (0..down).flat_map(|i| (0..right).map(move |j| (i, j))) {
            // Columns j, j + right, ... of the padded line.
            let start = across.pad.0.saturating_sub(j).div_ceil(right).min(width);
            let end = (across.input + across.pad.0).saturating_sub(j).div_ceil(right).clamp(start, width);
            for row in 0..rows {
                let from =
                    ((y + row) * down + i).checked_sub(height.pad.0).filter(|&from| from < height.input);
                let numbers = from.map(|from| &image[(first + from) * line_len..][..line_len]);
                let to = &mut space.pixels[of_remainders(i, j) + row * width..];
                let Some(numbers) = numbers.filter(|_| start < end) else {
                    (0..channels).for_each(|c| to[c * plane..][..width].fill(0.0));
                    continue;
                };
                for c in 0..channels {
                    let to = &mut to[c * plane..][..width];
                    to[..start].fill(0.0);
                    to[end..].fill(0.0);
                }
                let (numbers, to) =
                    (&numbers[(start * right + j - across.pad.0) * channels..], &mut to[start..]);
                match channels {
                    1 => pick(numbers, right, &mut to[..end - start]),
                    _ => transpose_part((end - start, channels), (numbers, right * channels), (to, plane)),
                }
            }
        }
    }
}

/// Quotient and remainder.
fn divided(x: usize, by: usize) -> (usize, usize) {
    if by == 1 { (x, 0) } else { (x / by, x % by) }
}

/// Copies every `step`-th element. `to` is not empty.
#[allow(
    clippy::needless_range_loop,
    reason = "indices, not iterators, which are only as good as the build's inlining"
)]
fn pick(from: &[f32], step: usize, to: &mut [f32]) {
    if step == 1 {
        return to.copy_from_slice(&from[..to.len()]);
    }
    let from = &from[..(to.len() - 1) * step + 1];
    for i in 0..to.len() {
        to[i] = from[i * step];
    }
}

thread_local! {
    /// Taken while in use.
    static SCRATCH: Cell<PlaneScratch> = Cell::default();
}
