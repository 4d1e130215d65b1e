//! Convolution for filters that fit into the L2 cache.
//!
//! ```text
//! line of the image ─▶ its slice of each window, filter width * channels: a row of a tile   (laid out once)
//! line of results    = sum over the filter's rows of (slices of an image line) * (row of the filter)
//! ```
//!
//! Results are computed from top to bottom, so the slices laid out for an image line are reused by the next
//! line of results: a pixel is copied once per filter column instead of once per tap. Windows that do not
//! reach into the padding are read where they are. Sums stay in registers from the first product to the last.

use std::cell::Cell;
use std::ops::Range;

use super::WindowRows;
use crate::TensorError;
use crate::interrupt::is_interrupted;
use crate::matmul::{AlignedStep, BLOCK, ColumnSource, Epilogue, even};
use crate::parallel::{PRODUCTS_PER_NS, Parallel, in_parts, nanoseconds, parts};
use crate::simd::{Isa, LeftSteps, MAX_STEPS, OutRows, PANEL, PanelSteps, Place, Segment, TileRows};

/// The most rows of a filter.
const SEGMENTS: usize = 11;
/// The most image lines from a window's first to its last.
const REACH: usize = 16;

/// A convolution by this algorithm.
pub(super) struct Lines<'a, B> {
    isa: Isa,
    windows: &'a WindowRows<'a>,
    filters: &'a B,
    epilogue: &'a Epilogue<'a>,
    /// The number of windows in a tile.
    strip: usize,
    /// The number of image lines kept. Line `i` is kept in slot `i` modulo this number.
    reach: usize,
}

/// The slices of some windows in an image line.
#[derive(Clone, Copy)]
enum LinePlace<'a> {
    /// In the image itself.
    Image(LeftSteps<'a>),
    /// Laid out in this slot.
    Kept(usize),
}

/// Scratch memory of a thread.
#[derive(Default)]
struct LineScratch {
    lines: Vec<TileRows>,
    /// The line, among the lines of all images, stored in each slot.
    kept: [Option<usize>; REACH],
    filters: Vec<AlignedStep>,
}

impl<'a, B: ColumnSource> Lines<'a, B> {
    /// `None` if the general algorithm is faster: for large filters, or images so narrow that tiles would
    /// have few rows.
    pub(super) fn new(
        isa: Isa,
        windows: &'a WindowRows<'a>,
        filters: &'a B,
        epilogue: &'a Epilogue<'a>,
    ) -> Option<Lines<'a, B>> {
        let conv = windows.conv;
        let (height, (k, n)) = (&conv.height, filters.size());
        let run = conv.width.filter * conv.channels;
        let reach = height.filter.checked_sub(1)?.checked_mul(height.dilation)?.checked_add(1)?;
        let strip = even(conv.out.1, isa.rows());
        let fits = (1..=MAX_STEPS).contains(&run)
            && height.filter <= SEGMENTS
            && reach <= REACH
            && k.checked_mul(n.div_ceil(PANEL))? <= BLOCK
            && strip * 10 >= isa.rows() * 7;
        fits.then_some(Lines { isa, windows, filters, epilogue, strip, reach })
    }

    pub(super) fn run(&self, out: &mut [f32], parallel: &dyn Parallel) -> Result<(), TensorError> {
        let (k, n) = self.filters.size();
        let cols = self.windows.conv.out.1;
        crate::matmul::expect_len(self.windows.conv.rows, n, out.len())?;
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
        let (cols, panels) = (self.windows.conv.out.1, n.div_ceil(PANEL));
        let mut space = SCRATCH.take();
        space.lines.resize_with(self.reach.max(space.lines.len()), bytemuck::Zeroable::zeroed);
        self.filters.prepare(0..panels, 0..k, &mut space.filters);
        for x in (0..cols).step_by(self.strip) {
            let xs = x..cols.min(x + self.strip);
            space.kept = [None; REACH];
            for (line, out) in (first..).zip(out.chunks_exact_mut(cols * n)) {
                if line % 8 == 7 && is_interrupted() {
                    break;
                }
                self.tiles(line, xs.clone(), &mut space, &mut out[x * n..]);
            }
        }
        SCRATCH.set(space);
    }

    /// Computes results `xs` of a line.
    fn tiles(&self, line: usize, xs: Range<usize>, space: &mut LineScratch, out: &mut [f32]) {
        let conv = self.windows.conv;
        let ((k, n), run) = (self.filters.size(), conv.width.filter * conv.channels);
        let mut places = [None; SEGMENTS];
        for (tap, place) in places.iter_mut().enumerate().take(conv.height.filter) {
            let Some(from) = self.windows.line(line, tap, &conv.height) else { continue };
            if let Some(slices) = self.windows.slices(from, &xs) {
                *place = Some(LinePlace::Image(slices));
                continue;
            }
            let at = from % self.reach;
            if space.kept[at] != Some(from) {
                let to = &mut space.lines[at].0[..xs.len()];
                self.windows.lay(self.isa, Some(from), xs.clone(), 0..run, 0, to);
                space.kept[at] = Some(from);
            }
            *place = Some(LinePlace::Kept(at));
        }
        for panel in 0..n.div_ceil(PANEL) {
            let b = self.filters.panel(panel, panel, 0..k, &space.filters);
            let mut segments = [Segment::NONE; SEGMENTS];
            let mut count = 0;
            // Rows of the filter that lie in the padding are left out.
            for (place, b) in places.iter().zip(b.chunks_exact(run)) {
                let slices = match *place {
                    Some(LinePlace::Image(slices)) => slices,
                    Some(LinePlace::Kept(at)) => LeftSteps::copied(&space.lines[at]),
                    None => continue,
                };
                segments[count] = Segment::of_rows(slices, PanelSteps::packed(b));
                count += 1;
            }
            let col = panel * PANEL;
            let size = (xs.len(), PANEL.min(n - col));
            let epilogue = self.epilogue.part(col, (line * conv.out.1 + xs.start) * n + col);
            let out = OutRows::Strided(&mut out[col..], n);
            let mut place = Place { out, add: false, epilogue, stride: n };
            self.isa.tile(size, &segments[..count], &mut place);
        }
    }
}

thread_local! {
    /// Taken while in use.
    static SCRATCH: Cell<LineScratch> = Cell::default();
}
