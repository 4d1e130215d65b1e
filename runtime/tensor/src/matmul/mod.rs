//! The product of f32 matrices. The right matrix is packed ahead of time if it is constant, else during the
//! product.
//!
//! ```text
//! out (m by n) = f(a (m by k) * b (k by n) * scale + bias + residual)
//!
//! for each part of the rows or columns, each block of k, up to 1152 steps (parallel)
//!   for each block of columns ─ pack b, unless it is packed              (786 KB: L2 cache)
//!     for each tile of rows ─ copy them, unless read in place or kept    (up to 67 KB: L1 and L2 cache)
//!       for each panel of b ─ tile                                       (registers)
//! ```
//!
//! * [`PackedMatrix`] holds `b` in one layout that the tiles of every machine read (`simd`).
//! * A tile's sums go straight into `out`. The [`Epilogue`] is applied right after the last block of k.
//! * Rows and steps are divided evenly, since a tile of few rows or a block of few steps is slow: the fixed
//!   cost of a tile, 200 cycles, is 4 % of 384 steps.
//! * A tile reads the rows of a matrix in memory where they are, unless these would displace each other from
//!   the cache: for few panels or few steps, copying them takes a tenth of the time.
//! * For many blocks of columns, the packed rows of 64 tiles at a time are kept for all of them, in the L3
//!   cache.
//! * A product of few steps is computed by whole rows (`Isa::short`), without these loops.
//! * If there are few tiles of rows, they read a row-major `b` in place: packing it would cost as much as the
//!   product. A transposed `b` is packed by transposition in registers.
//! * A single row is not packed: reading `b` dominates.
//! * Several workers divide the rows. They divide the columns instead if there are more columns than rows,
//!   and either `b` does not stay in the L2 cache from part to part or the rows are few. Each worker then
//!   reads only its part of `b`, and repeats the packing of the rows.
//! * The order of an element's sum depends on k and the instruction set only, neither on the number of
//!   workers nor, for m > 1, on m.
//!
//! Threads belong to the caller (`parallel`). Packing buffers are kept per thread: tiles' rows
//! and a block of `b`. `conv` uses the same driver with the windows of an image as rows.

mod pack;
#[cfg(test)]
pub(crate) mod tests;

use std::cell::Cell;
use std::ops::Range;

pub use pack::PackedMatrix;
pub(crate) use pack::{
    AlignedStep, ColumnSource, RowMajor, RowSource, StoredFloat, each_panel, expect_len, pack_panel,
    prepare_panels,
};

use crate::TensorError;
use crate::cache::CACHE;
use crate::gemm::Matrix;
use crate::interrupt::is_interrupted;
use crate::parallel::{PRODUCTS_PER_NS, Parallel, in_parts, nanoseconds, part, parts, parts_of};
use crate::scratch::grow;
pub use crate::simd::Epilogue;
use crate::simd::{
    Isa, LINE, LeftSteps, MAX_STEPS, OutRows, PANEL, PanelStep, PanelSteps, Place, ROW, Segment, TileRows,
    prefetch,
};

/// Panel steps in a block of `b`: three quarters of the L2 cache.
pub(crate) const BLOCK: usize = 3 * CACHE.l2_floats(4) / PANEL;
/// Steps in a block of k.
const STEPS: usize = 3 * MAX_STEPS;
/// Segments in a block of k.
const SEGMENTS: usize = STEPS.div_ceil(MAX_STEPS);
/// Pack the rows of `a` once when there are more than this many column blocks. Below it, repacking is cheaper
/// than storing and rereading.
const BLOCKS: usize = 7;
/// The number of tiles whose packed rows are kept at once: up to 4.3 MB, which fits the L3 cache. Few in
/// tests, so that small matrices reach the limit.
const KEPT: usize = if cfg!(test) { 3 } else { 64 };
/// The number of elements of `a` that stay in the L2 cache from one block of columns to the next.
const NEAR: usize = CACHE.l2_floats(4);
/// The smallest dimension of two matrices for which packing one during their product pays off.
pub(crate) const PACKED_SIZE: usize = 8;
/// The most tiles that read a row-major right matrix in place. With more tiles, packing it pays off.
const IN_PLACE: usize = 8;
/// The most steps of all panels of a right matrix whose tiles are dominated by their fixed costs: 64 KB,
/// which stay in the L2 cache, and mostly in the L1 cache.
const SHORT: usize = 1 << 9;
/// The number of tiles, or of panels for a single row, between two checks for interruption: some 100 us.
const TILES: usize = 4;
/// Elements of a packed matrix that are read per nanosecond for a single row: the rate of the L3 cache, since
/// a model's other matrices were read since the last call.
const READS_PER_NS: usize = 7;

impl Epilogue<'_> {
    /// Checks the vectors against a result of n columns and `len` elements.
    pub(crate) fn check(&self, n: usize, len: usize) -> Result<(), TensorError> {
        for x in [self.scale, self.bias].into_iter().flatten() {
            expect_len(1, n, x.len())?;
        }
        if let Some(residual) = self.residual {
            expect_len(1, len, residual.len())?;
        }
        Ok(())
    }
}

/// `out = f(a * b * scale + bias + residual)`, `a` and `out` row-major with m rows.
pub fn matmul_packed(
    m: usize,
    a: &[f32],
    b: &PackedMatrix<'_>,
    epilogue: &Epilogue<'_>,
    out: &mut [f32],
    parallel: &dyn Parallel,
) -> Result<(), TensorError> {
    expect_len(m, b.k(), a.len())?;
    multiply(Isa::detect(), m, &RowMajor { numbers: a, k: b.k() }, b, epilogue, out, parallel)
}

/// `out = f(a * b * scale + bias + residual)`, `out` row-major, `a` and `b` row-major or transposed. `b` is
/// packed during the product, which pays off from a few rows on; see [`crate::math::product`] for fewer.
pub fn matmul(
    a: Matrix<'_, f32>,
    b: Matrix<'_, f32>,
    epilogue: &Epilogue<'_>,
    out: &mut [f32],
    parallel: &dyn Parallel,
) -> Result<(), TensorError> {
    if a.cols() != b.rows() {
        return Err(TensorError::Count { want: b.rows(), got: a.cols() });
    }
    multiply(Isa::detect(), a.rows(), &a, &b, epilogue, out, parallel)
}

/// The driver, for any sources of rows and columns. A row of `a` must have k elements.
pub(crate) fn multiply<A: RowSource, B: ColumnSource>(
    isa: Isa,
    m: usize,
    a: &A,
    b: &B,
    epilogue: &Epilogue<'_>,
    out: &mut [f32],
    parallel: &dyn Parallel,
) -> Result<(), TensorError> {
    let (_, n) = b.size();
    expect_len(m, n, out.len())?;
    multiply_strided(isa, m, (a, b), epilogue, (out, n), parallel)
}

/// [`multiply`] with row stride `stride` in `out` and the residual. `out` ends with the last row.
pub(crate) fn multiply_strided<A: RowSource, B: ColumnSource>(
    isa: Isa,
    m: usize,
    (a, b): (&A, &B),
    epilogue: &Epilogue<'_>,
    (out, stride): (&mut [f32], usize),
    parallel: &dyn Parallel,
) -> Result<(), TensorError> {
    let (k, n) = b.size();
    if m == 0 || n == 0 {
        return Ok(());
    }
    let want = (m - 1).checked_mul(stride).and_then(|before| before.checked_add(n)).filter(|_| stride >= n);
    let want = want.ok_or(TensorError::TooLarge)?;
    if out.len() != want {
        return Err(TensorError::Count { want, got: out.len() });
    }
    epilogue.check(n, out.len())?;
    let job = Job { isa, a, b, epilogue, k, n, stride };
    if m == 1
        && let Some((row, b)) = a.contiguous(0).zip(b.packed())
    {
        let work = nanoseconds(k.saturating_mul(n), READS_PER_NS);
        let parts = parts(n.div_ceil(PANEL), work, parallel);
        in_parts(out, PANEL, parts, parallel, &|panels, out| job.one_row(row, b, panels.start, out));
        return Ok(());
    }
    let work = nanoseconds(m.saturating_mul(k).saturating_mul(n), PRODUCTS_PER_NS);
    let (tiles, panels) = (m.div_ceil(isa.rows()), n.div_ceil(PANEL));
    let workers = parallel.workers(work);
    let stays = k.saturating_mul(panels) <= BLOCK;
    if n > m && (!stays || tiles < 2 * workers) {
        // A part of few columns would spend its time on packing rows.
        let each = if panels < 16 * workers { 1 } else { 2 };
        let parts = parts_of(panels, work, (workers, each));
        if parts > 1 && job.in_columns(m, parts, out, parallel) {
            return Ok(());
        }
    }
    let parts = parts_of(tiles, work, (workers, if stays { 4 } else { 2 }));
    in_parts(out, isa.rows() * stride, parts, parallel, &|tiles, out| {
        let rows = tiles.start * isa.rows()..m.min(tiles.end * isa.rows());
        if job.short_part(&rows, out) {
            return;
        }
        job.part(rows, 0..panels, OutRows::Strided(out, stride));
    });
    Ok(())
}

/// The source of the next tile's rows.
#[derive(Clone, Copy)]
enum Next<'a> {
    /// The rows are packed already.
    Kept(&'a [TileRows; SEGMENTS]),
    /// The rows are to be packed, from this row on.
    Rows(usize),
    /// The rows are in the L2 cache already.
    Near,
}

/// The rows of a tile, restricted to the steps of a block.
#[derive(Clone, Copy)]
enum TileLeft<'a> {
    InPlace(LeftSteps<'a>),
    /// Rows packed in segments.
    Rows(&'a [TileRows; SEGMENTS]),
    /// Steps packed in segments.
    Steps(&'a [TileRows; SEGMENTS]),
}

impl<'a> TileLeft<'a> {
    /// The steps of a segment.
    fn segment(self, i: usize, of: &BlockSteps) -> LeftSteps<'a> {
        match self {
            TileLeft::InPlace(rows) => rows.from(i * of.each),
            TileLeft::Rows(segments) => LeftSteps::copied(&segments[i]),
            TileLeft::Steps(segments) => LeftSteps::Steps(&segments[i]),
        }
    }
}

struct Job<'a, A, B> {
    isa: Isa,
    a: &'a A,
    b: &'a B,
    epilogue: &'a Epilogue<'a>,
    k: usize,
    n: usize,
    /// The row stride of the result.
    stride: usize,
}

impl<A: RowSource, B: ColumnSource> Job<'_, A, B> {
    /// Computes some columns of a single row, from panel `first_panel` on.
    fn one_row(&self, row: &[f32], b: &PackedMatrix<'_>, first_panel: usize, out: &mut [f32]) {
        let mut sums: [PanelStep; TILES] = [[0.0; PANEL]; TILES];
        for (panel, out) in (first_panel..).step_by(TILES).zip(out.chunks_mut(TILES * PANEL)) {
            if panel > first_panel && is_interrupted() {
                return;
            }
            let (width, n) = (out.len(), out.len().div_ceil(PANEL));
            let sums = &mut sums[..n];
            self.isa.row(row, b.some_panels(panel..panel + n), sums);
            out.copy_from_slice(&sums.as_flattened()[..width]);
            let out = &mut OutRows::Strided(out, width);
            finish(self.isa, self.epilogue, (0, panel * PANEL), (1, width), (out, self.stride));
        }
    }

    /// Computes all `m` rows in parts of the columns. Returns false, and computes nothing, if there is no
    /// memory for the list of the parts' rows.
    fn in_columns(&self, m: usize, parts: usize, out: &mut [f32], parallel: &dyn Parallel) -> bool {
        let panels = self.n.div_ceil(PANEL);
        // Row i of part p is number p * m + i.
        let mut rows: Vec<&mut [f32]> = Vec::new();
        if grow(&mut rows, parts.saturating_mul(m), Default::default).is_err() {
            return false;
        }
        for (i, mut row) in out.chunks_mut(self.stride).enumerate() {
            for p in 0..parts {
                let width = part(panels, parts, p).len().saturating_mul(PANEL).min(row.len());
                if let (Some(to), Some(from)) = (rows.get_mut(p * m + i), row.split_off_mut(..width)) {
                    *to = from;
                }
            }
        }
        in_parts(&mut rows, m, parts, parallel, &|which, rows| {
            self.part(0..m, part(panels, parts, which.start), OutRows::Apart(rows, 0));
        });
        true
    }

    /// Computes some rows of a product of few steps into `out`. Returns false, and computes nothing, for
    /// others.
    fn short_part(&self, rows: &Range<usize>, out: &mut [f32]) -> bool {
        let (isa, k, n) = (self.isa, self.k, self.n);
        let panels = n.div_ceil(PANEL);
        let is_short = (1..=MAX_STEPS).contains(&k) && k.saturating_mul(panels) <= SHORT;
        let Some(b) = self.b.packed() else { return false };
        if !is_short || self.a.by_steps() || !isa.has_short() {
            return false;
        }
        let b = b.some_panels(0..panels);
        let mut space = SCRATCH.take().unwrap_or_default();
        if space.a.is_empty() {
            space.a.push(bytemuck::Zeroable::zeroed());
        }
        let tiles = rows.len().div_ceil(isa.rows());
        for tile in 0..tiles {
            if tile % (16 * TILES) == 16 * TILES - 1 && is_interrupted() {
                break;
            }
            let (from, to) = (tile * rows.len() / tiles, (tile + 1) * rows.len() / tiles);
            let some = rows.start + from..rows.start + to;
            let a = match self.a.rows_from(some.start) {
                Some(in_place) => in_place,
                None => {
                    self.a.copy(isa, some.clone(), 0..k, &mut space.a[0][0]);
                    (space.a[0][0].0.as_flattened(), ROW)
                }
            };
            let epilogue = self.epilogue.part(0, some.start * self.stride);
            let out = (&mut out[from * self.stride..], self.stride);
            isa.short(some.len(), a, (b, k, n), &epilogue, out);
        }
        SCRATCH.set(Some(space));
        true
    }

    /// Computes some panels of some rows into `out`.
    fn part(&self, all_rows: Range<usize>, all_panels: Range<usize>, mut out: OutRows<'_, '_>) {
        let k = self.k;
        let (first, rows, panels) = (all_rows.start, all_rows.len(), all_panels.len());
        let mut space = SCRATCH.take().unwrap_or_default();
        let steps_each = even(k, STEPS).next_multiple_of(8);
        let panels_each = even(panels, BLOCK / steps_each);
        let tiles = rows.div_ceil(self.isa.rows());
        // If there are many blocks of columns, the rows of a tile are packed once for all of them.
        let are_kept = panels.div_ceil(panels_each) > BLOCKS;
        let is_large = rows * k > NEAR;
        let tiles_each = if are_kept { KEPT } else { tiles };
        // The first tiles have one row more than the others. Divided once, since a tile of few steps takes
        // little more time than some divisions.
        let (each, more) = (rows / tiles.max(1), rows % tiles.max(1));
        let start = |tile: usize| tile * each + tile.min(more);
        let tile_rows = |tile: usize| start(tile)..start(tile + 1);
        let lay_out = |tile: usize, steps: &BlockSteps, a: &mut [TileRows; SEGMENTS]| {
            let rows = tile_rows(tile);
            self.lay_out(first + rows.start..first + rows.end, steps, a);
        };
        // One block even if k is 0: it writes the empty sums.
        'steps: for from in (0..k.max(1)).step_by(steps_each) {
            let steps = BlockSteps::new(from..k.min(from + steps_each));
            for first_tile in (0..tiles).step_by(tiles_each) {
                let some = first_tile..tiles.min(first_tile + tiles_each);
                let kept = if are_kept { some.len() } else { 1 };
                let more = kept.saturating_sub(space.a.len());
                space.a.resize_with(space.a.len() + more, bytemuck::Zeroable::zeroed);
                if are_kept {
                    some.clone().zip(&mut space.a).for_each(|(tile, a)| lay_out(tile, &steps, a));
                }
                for first_panel in all_panels.clone().step_by(panels_each) {
                    let block = first_panel..all_panels.end.min(first_panel + panels_each);
                    if block.start > all_panels.start && is_interrupted() {
                        break 'steps;
                    }
                    let b_in_place = tiles <= IN_PLACE
                        && block.clone().all(|panel| self.b.in_place(panel, steps.all.clone()).is_some());
                    if !b_in_place {
                        self.b.prepare(block.clone(), steps.all.clone(), &mut space.b);
                    }
                    for (i, tile) in some.clone().enumerate() {
                        if i % TILES == TILES - 1 && is_interrupted() {
                            break 'steps;
                        }
                        let rows = tile_rows(tile);
                        let in_place = self.rows_in_place(first + rows.start, &steps).filter(|_| !are_kept);
                        if !are_kept && in_place.is_none() {
                            lay_out(tile, &steps, &mut space.a[0]);
                        }
                        let (a, next) = space.a[if are_kept { i } else { 0 }..].split_at(1);
                        let next = match next {
                            [next, ..] if are_kept => Next::Kept(next),
                            _ if is_large => {
                                Next::Rows(first + start(if tile + 1 < tiles { tile + 1 } else { 0 }))
                            }
                            _ => Next::Near,
                        };
                        let b = ((!b_in_place).then_some(&space.b[..]), block.clone());
                        let a = match in_place {
                            Some(rows) => TileLeft::InPlace(rows),
                            None if self.a.by_steps() => TileLeft::Steps(&a[0]),
                            None => TileLeft::Rows(&a[0]),
                        };
                        let col = (block.start - all_panels.start) * PANEL;
                        let out = out.from(rows.start, col);
                        let rows = first + rows.start..first + rows.end;
                        self.block(rows, b, &steps, (a, next), out);
                    }
                }
            }
        }
        SCRATCH.set(Some(space));
    }

    /// The steps of a block of the rows from `row` on, if tiles can read them where they are.
    fn rows_in_place(&self, row: usize, of: &BlockSteps) -> Option<LeftSteps<'_>> {
        let (numbers, stride) = self.a.rows_from(row)?;
        Some(LeftSteps::in_place(numbers, stride)?.from(of.all.start))
    }

    /// Packs some steps of a tile's rows, in segments.
    fn lay_out(&self, rows: Range<usize>, steps: &BlockSteps, segments: &mut [TileRows; SEGMENTS]) {
        for (some, a) in steps.segments().zip(segments) {
            self.a.copy(self.isa, rows.clone(), some, a);
        }
    }

    /// Multiplies a tile's rows with each panel of a block. `out` begins with the columns of the first panel.
    fn block(
        &self,
        rows: Range<usize>,
        (b, panels): (Option<&[AlignedStep]>, Range<usize>),
        of: &BlockSteps,
        (a, next): (TileLeft<'_>, Next<'_>),
        mut out: OutRows<'_, '_>,
    ) {
        let (k, n, steps) = (self.k, self.n, &of.all);
        let parts = panels.len() * of.count;
        let mut nexts = (0..parts).map(|part| match next {
            Next::Kept(next) => {
                let all: &[f32] = bytemuck::cast_slice(next);
                let len = all.len().div_ceil(parts);
                all.get(part * len..).unwrap_or(&[])
            }
            Next::Rows(first) => {
                let row = self.a.contiguous(first + part * rows.len() / parts);
                row.and_then(|row| row.get(steps.clone())).unwrap_or(&[])
            }
            Next::Near => &[],
        });
        for (at, panel) in panels.enumerate() {
            let b = match b {
                Some(space) => PanelSteps::packed(self.b.panel(panel, at, steps.clone(), space)),
                None => self.b.in_place(panel, steps.clone()).unwrap_or(PanelSteps::NONE),
            };
            let mut segments = [Segment::NONE; SEGMENTS];
            let segments = &mut segments[..of.count];
            for (i, segment) in segments.iter_mut().enumerate() {
                let (b, next) = (b.part(i * of.each, of.each), nexts.next().unwrap_or(&[]));
                *segment = Segment { a: a.segment(i, of), b, next };
            }
            let col = panel * PANEL;
            let width = PANEL.min(n - col);
            let mut place = Place::of_sums(out.from(0, at * PANEL), steps.start > 0);
            if steps.end == k {
                self.prefetch_residual(rows.clone(), col);
                let epilogue = self.epilogue.part(col, rows.start * self.stride + col);
                place = Place { epilogue, stride: self.stride, ..place };
            }
            match self.a.by_steps() {
                true => self.isa.tile_of_steps((rows.len(), width), segments, &mut place),
                false => self.isa.tile((rows.len(), width), segments, &mut place),
            }
        }
    }

    /// Prefetches the residual of a tile while its sums are computed.
    fn prefetch_residual(&self, rows: Range<usize>, col: usize) {
        for row in rows {
            let at = row * self.stride + col;
            let numbers = self.epilogue.residual.and_then(|residual| residual.get(at..));
            for line in numbers.unwrap_or(&[]).iter().step_by(LINE).take(PANEL / LINE) {
                prefetch(Some(line));
            }
        }
    }
}

/// The steps of a block, in segments.
struct BlockSteps {
    all: Range<usize>,
    /// The number of steps in each segment but the last one.
    each: usize,
    /// The number of segments.
    count: usize,
}

impl BlockSteps {
    fn new(all: Range<usize>) -> BlockSteps {
        let each = even(all.len(), MAX_STEPS).next_multiple_of(8);
        let count = all.len().div_ceil(each);
        BlockSteps { all, each, count }
    }

    /// The steps of each segment.
    fn segments(&self) -> impl Iterator<Item = Range<usize>> {
        let BlockSteps { ref all, each, count } = *self;
        (0..count).map(move |i| {
            let from = all.start + i * each;
            from..all.end.min(from + each)
        })
    }
}

/// The part size that divides `all` evenly into the fewest parts of at most `most`; at least 1.
pub(crate) fn even(all: usize, most: usize) -> usize {
    all.div_ceil(all.div_ceil(most.max(1)).max(1)).max(1)
}

/// Applies the epilogue to a part of the result from (row, column) on. `out` begins with this part. The
/// residual has row stride `stride`.
pub(crate) fn finish(
    isa: Isa,
    epilogue: &Epilogue<'_>,
    (row, col): (usize, usize),
    size: (usize, usize),
    (out, stride): (&mut OutRows<'_, '_>, usize),
) {
    if !epilogue.is_plain() {
        isa.finish(&epilogue.part(col, row * stride + col), size, out, stride);
    }
}

/// Packing buffers of a thread.
#[derive(Default)]
struct MatmulScratch {
    a: Vec<[TileRows; SEGMENTS]>,
    b: Vec<AlignedStep>,
}

thread_local! {
    /// Taken while in use, so that a nested product allocates its own.
    static SCRATCH: Cell<Option<MatmulScratch>> = const { Cell::new(None) };
}
