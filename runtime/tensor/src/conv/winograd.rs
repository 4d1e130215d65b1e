//! Winograd convolution for 3x3 filters of stride 1: 2.25 or 4 times fewer multiplications.
//!
//! ```text
//! image ──Bt d B──▶ V: a matrix of patches by channels for each of T * T positions  (a band at a time)
//! filters ─G g Gt─▶ U: channels by out channels for each position, packed ahead of time
//! M = V * U, position by position ──At m A──▶ N by N pixels per patch ─▶ bias, residual, function
//! ```
//!
//! A patch is T by T pixels, with T = N + 2, and overlaps the next one by 2. Patches are multiplied by
//! factors up to 5 (N = 4) or 1 (N = 2) and summed. So results differ from direct ones by at most 1e-4 of the
//! largest absolute value with N = 4 (`F(4x4, 3x3)`), and by 1e-5 with N = 2 (as tested).
//!
//! *Infinity and NaN*: if a patch contains one, all results of the patch may be NaN, even those whose own
//! window does not contain it. Other results are not affected. A direct convolution affects only the windows
//! that contain it, and keeps infinities; a compiler that needs this must not select Winograd.
//!
//! The transformed filters are one packed matrix of T * T * channels rows, position after position
//! (`filters`). Constants are transformed ahead of time; other filters at each run, if enough pixels use
//! them.

mod filters;

use std::cell::Cell;
use std::ops::Range;
use std::sync::OnceLock;

use super::Conv2d;
use crate::TensorError;
use crate::cache::CACHE;
use crate::interrupt::is_interrupted;
use crate::matmul::{AlignedStep, BLOCK, ColumnSource, Epilogue, PackedMatrix, even, expect_len};
use crate::parallel::{PRODUCTS_PER_NS, Parallel, each_part, nanoseconds};
use crate::scratch::grow;
use crate::simd::{
    Isa, LINE, LeftSteps, MAX_STEPS, OutRows, PANEL, PanelSteps, Pixels, Place, Products, ROW, Segment,
    TileRows,
};

pub use filters::Patch;
pub(crate) use filters::pack_transformed;

/// A convolution by Winograd's algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Winograd {
    conv: Conv2d,
    patch: Patch,
    /// Rows of the transformed filters.
    k: usize,
}

/// The most floats in V and M of a band, unless one row of patches has more. A band stays in the L2 cache
/// together with filters that fit there.
const BAND: usize = CACHE.l2_floats(4);
/// The most segments of a tile: enough for 1536 channels at once.
const SEGMENTS: usize = 4;
/// Padding between the positions' matrices in elements, so that they do not start in the same cache sets.
const GAP: usize = 16;
/// The least number of pixels for which filters are transformed at each run.
const LEAST_PIXELS: usize = 512;
/// The number of elements in a tile's rows.
const TILE: usize = size_of::<TileRows>() / size_of::<f32>();

impl Conv2d {
    /// This convolution by Winograd's algorithm; `None` unless filters are 3x3 with stride and dilation 1.
    pub fn winograd(self, patch: Patch) -> Option<Winograd> {
        let fits = [self.height, self.width].iter().all(|w| (w.filter, w.stride, w.dilation) == (3, 1, 1));
        let k = self.channels.checked_mul(patch.reads() * patch.reads())?;
        fits.then_some(Winograd { conv: self, patch, k })
    }

    /// This convolution by Winograd's algorithm, if that is faster although filters must be transformed.
    pub(super) fn winograd_of(&self, filters: &impl ColumnSource) -> Option<Winograd> {
        if filters.packed().is_some() || self.rows < LEAST_PIXELS {
            return None;
        }
        self.winograd(Patch::fastest(self.channels, filters.size().1, self.out)?)
    }
}

impl Winograd {
    /// Transforms and packs filters of shape (3, 3, channels, out channels).
    pub fn pack(&self, out_channels: usize, filters: &[f32]) -> Result<PackedMatrix<'static>, TensorError> {
        expect_len(self.conv.k, out_channels, filters.len())?;
        let sizes = (self.conv.channels, out_channels);
        PackedMatrix::pack_with(self.k, out_channels, |panel, from, steps| {
            pack_transformed(self.patch, filters, sizes, (panel, from), steps);
        })
    }

    /// [`Winograd::run`] with filters that are transformed first.
    pub(super) fn run_unpacked(
        &self,
        isa: Isa,
        image: &[f32],
        filters: &impl ColumnSource,
        epilogue: &Epilogue<'_>,
        out: &mut [f32],
        parallel: &dyn Parallel,
    ) -> Result<(), TensorError> {
        let mut space = FILTERS.take();
        let transformed = filters::transformed(isa, self.patch, filters, &mut space, parallel)?;
        self.run_with(isa, image, &transformed, epilogue, out, parallel)?;
        FILTERS.set(space);
        Ok(())
    }

    /// `out = f(convolution of image with filters * scale + bias + residual)`, all NHWC, filters from
    /// [`Winograd::pack`].
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

    pub(super) fn run_with(
        &self,
        isa: Isa,
        image: &[f32],
        filters: &PackedMatrix<'_>,
        epilogue: &Epilogue<'_>,
        out: &mut [f32],
        parallel: &dyn Parallel,
    ) -> Result<(), TensorError> {
        let Conv2d { channels, out: (rows, cols), rows: pixels, .. } = self.conv;
        self.conv.expect_image(image)?;
        if filters.k() != self.k {
            return Err(TensorError::Count { want: self.k, got: filters.k() });
        }
        let n = filters.n();
        expect_len(pixels, n, out.len())?;
        epilogue.check(n, out.len())?;
        if out.is_empty() {
            return Ok(());
        }
        let side = self.patch.yields();
        // The rows of a tile take the memory of at least 64 channels.
        let of_patches =
            cols.div_ceil(side) * self.patch.reads() * self.patch.reads() * (channels.max(64) + n);
        // `k` counts a channel once per position of a patch.
        let patches = pixels.div_ceil(side * side);
        let products = patches.saturating_mul(self.k).saturating_mul(n);
        let workers = parallel.workers(nanoseconds(products, PRODUCTS_PER_NS));
        let share = rows.div_ceil(side).div_ceil(workers.max(1));
        // Filters that do not stay in the L2 cache are read once per band, so a band has many patches.
        let filters_stay = self.k.saturating_mul(n.div_ceil(PANEL)) <= BLOCK;
        let band = if filters_stay { BAND } else { (4 * BAND).max(filters.panels().len() / 4) };
        let band_rows = (band / of_patches.max(1)).clamp(1, share.max(1)) * side;
        let bands = rows.div_ceil(band_rows);
        let bands_out =
            out.chunks_mut(rows * cols * n).flat_map(|image| image.chunks_mut(band_rows * cols * n));
        let source = image;
        let failed = OnceLock::new();
        each_part(bands_out, workers, parallel, &|i, out| {
            let (image, first) = (i / bands, i % bands * band_rows);
            let band = ResultBand { isa, winograd: self, image, first, rows: out.len() / (cols * n) };
            if let Err(error) = band.run(source, filters, epilogue, out) {
                failed.get_or_init(|| error);
            }
        });
        failed.into_inner().map_or(Ok(()), Err)
    }
}

/// A range of rows of one image's result.
struct ResultBand<'a> {
    isa: Isa,
    winograd: &'a Winograd,
    image: usize,
    first: usize,
    rows: usize,
}

impl ResultBand<'_> {
    fn run(
        &self,
        source: &[f32],
        filters: &PackedMatrix<'_>,
        epilogue: &Epilogue<'_>,
        out: &mut [f32],
    ) -> Result<(), TensorError> {
        let Conv2d { channels, out: (rows, cols), .. } = self.winograd.conv;
        let (n, patch) = (filters.n(), self.winograd.patch);
        let side = patch.yields();
        let across = cols.div_ceil(side);
        let patches = self.rows.div_ceil(side) * across;
        let positions = patch.reads() * patch.reads();
        // Transformed pixels are stored in the rows of tiles, `tiles` by `segments` for each position.
        let rows_each = even(patches, self.isa.rows());
        let steps_each = even(channels, MAX_STEPS).next_multiple_of(LINE);
        let (tiles, segments) = (patches.div_ceil(rows_each), channels.div_ceil(steps_each));
        let m_step = patches * n + GAP;
        let mut space = SCRATCH.take();
        let WinogradScratch { a, m } = &mut space;
        grow(m, (positions * m_step).div_ceil(PANEL), bytemuck::Zeroable::zeroed)?;
        let m: &mut [f32] = bytemuck::cast_slice_mut(m);
        grow(a, positions * tiles * segments, bytemuck::Zeroable::zeroed)?;
        let a = &mut a[..positions * tiles * segments];
        let v: &mut [f32] = bytemuck::cast_slice_mut(a);
        let mut pixels = [[&[][..]; 6]; 6];
        let (mut y, mut x) = (0, 0);
        for at in 0..patches {
            self.pixels(source, (y, x), &mut pixels);
            for (i, first) in (0..channels).step_by(steps_each).enumerate() {
                let some = first..channels.min(first + steps_each);
                let place = (at / rows_each * segments + i) * TILE + at % rows_each * ROW;
                let to = (&mut v[place..], tiles * segments * TILE);
                self.isa.winograd_input(patch.reads(), some, &pixels, to);
            }
            x += side;
            if x >= cols {
                (y, x) = (y + side, 0);
            }
        }
        for position in 0..positions {
            let a = &a[position * tiles * segments..][..tiles * segments];
            let filters = (filters, position * channels..(position + 1) * channels);
            let m = &mut m[position * m_step..][..patches * n];
            multiply(self.isa, (a, segments), (patches, rows_each), (filters, steps_each), m);
        }
        for at in 0..patches {
            let (y, x) = (at / across * side, at % across * side);
            let inside = (side.min(self.rows - y), side.min(cols - x));
            let to = &mut out[(y * cols + x) * n..];
            let products = Products { from: &m[at * n..], step: m_step, inside, stride: cols * n };
            self.isa.winograd_output(patch.reads(), n, &products, to);
        }
        SCRATCH.set(space);
        let from = (self.image * rows + self.first) * cols * n;
        if !epilogue.is_plain() {
            let out = &mut OutRows::Strided(out, n);
            self.isa.finish(&epilogue.part(0, from), (self.rows * cols, n), out, n);
        }
        Ok(())
    }

    /// The pixels of the patch for the results from (y, x) of the band on.
    fn pixels<'s>(&self, source: &'s [f32], (y, x): (usize, usize), pixels: &mut Pixels<'s>) {
        let Conv2d { channels, height, width, .. } = self.winograd.conv;
        let reads = self.winograd.patch.reads();
        for (i, row) in pixels.iter_mut().enumerate().take(reads) {
            let y = (self.first + y + i).checked_sub(height.pad.0).filter(|&y| y < height.input);
            let line = y.map(|y| (self.image * height.input + y) * width.input * channels);
            let line = line.and_then(|at| source.get(at..)?.get(..width.input * channels)).unwrap_or(&[]);
            // Left of the line the index wraps around to a position out of range.
            let mut at = x.wrapping_sub(width.pad.0).wrapping_mul(channels);
            for pixel in &mut row[..reads] {
                *pixel = line.get(at..).and_then(|line| line.get(..channels)).unwrap_or(&[]);
                at = at.wrapping_add(channels);
            }
        }
    }
}

/// Computes a position's products `m`: tiles of `rows_each` patches, in segments of `steps_each` channels,
/// times rows of the filters. All tiles are laid out, so the filters are read once.
fn multiply(
    isa: Isa,
    (a, segments): (&[TileRows], usize),
    (patches, rows_each): (usize, usize),
    ((filters, steps), steps_each): ((&PackedMatrix<'_>, Range<usize>), usize),
    m: &mut [f32],
) {
    let n = filters.n();
    if steps.is_empty() {
        m.fill(0.0);
    }
    for (panel, col) in (0..n).step_by(PANEL).enumerate() {
        if is_interrupted() {
            return;
        }
        let b = PanelSteps::packed(&filters.panel(panel)[steps.clone()]);
        for (first, a) in (0..patches).step_by(rows_each).zip(a.chunks(segments.max(1))) {
            let out = &mut m[first * n + col..];
            let size = (rows_each.min(patches - first), PANEL.min(n - col));
            let mut place = Place::of_sums(OutRows::Strided(out, n), false);
            for (block, a) in a.chunks(SEGMENTS).enumerate() {
                let mut parts = [Segment::NONE; SEGMENTS];
                for (i, a) in a.iter().enumerate() {
                    let b = b.part((block * SEGMENTS + i) * steps_each, steps_each);
                    parts[i] = Segment::of_rows(LeftSteps::copied(a), b);
                }
                isa.tile(size, &parts[..a.len()], &mut place);
                place.add = true;
            }
        }
    }
}

/// Scratch memory of a thread.
#[derive(Default)]
struct WinogradScratch {
    /// Transformed pixels.
    a: Vec<TileRows>,
    m: Vec<AlignedStep>,
}

thread_local! {
    /// Taken while in use.
    static SCRATCH: Cell<WinogradScratch> = Cell::default();

    /// Filters that are transformed at each run. Taken while in use.
    static FILTERS: Cell<Vec<AlignedStep>> = const { Cell::new(Vec::new()) };
}
