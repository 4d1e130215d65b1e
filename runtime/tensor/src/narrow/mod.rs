//! Products of matrices computed in a lower precision, with a constant right matrix packed ahead of time.
//!
//! ```text
//! out (m by n) = f(a (m by k) * b (k by n) * scale + bias + residual)
//!
//! rows of a, f32 ──round──▶ groups of 2 bf16 or 4 bytes ─┐
//! panels of b, 16 columns, in the file ──────────────────┴─ 32 rows, 2 panels ─▶ sums ─▶ f32 ─▶ epilogue
//! ```
//!
//! * [`Precision::Bf16`]: both matrices are rounded to bf16, sums are f32.
//! * [`Precision::Int8`]: `b` is signed bytes with a scale for each column. `a` is unsigned bytes with a
//!   scale and a zero point: one pair for all rows if their range is known ahead of time, else one per row of
//!   a matrix or per image. Sums are exact, in i32.
//! * Rows may be bytes already, with a zero point, and a result may be bytes ([`Requantize`]): then nothing
//!   is converted but the sums of a tile, in registers.
//! * Rows are converted in blocks that stay in the L2 cache together with a block of panels. A panel is read
//!   from memory once per block of rows.
//! * The order of an element's sum depends on k and the instruction set only.
//!
//! `matrix` has the packed right matrix, `rows` the conversion of rows; `conv` adds the windows of images.
//! Threads belong to the caller (`parallel`).

mod matrix;
mod rows;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::ops::Range;
use std::sync::OnceLock;

pub use crate::simd::Precision;
pub use matrix::NarrowMatrix;
pub(crate) use matrix::fill;
pub(crate) use rows::{FloatRows, NarrowRows, PlainRows, RowQuanta, flip, quanta_of};

use crate::TensorError;
use crate::error::invalid;
use crate::interrupt::is_interrupted;
use crate::matmul::{Epilogue, expect_len, finish};
use crate::parallel::{PRODUCTS_PER_NS, Parallel, in_parts, nanoseconds, parts};
use crate::scratch::grow;
use crate::simd::{
    BYTE_ROWS, BytePanels, ByteRows, Function, GROUP, Isa, LANES, OutRows, PanelGroup, PanelScales, Quantum,
    Requantize, RowGroup, Sums,
};

/// The size in bytes of a block of rows, and of a block of panels: shares of the L2 cache.
const BLOCK: usize = 1 << 18;
/// The most tiles of rows in a block.
const TILES: usize = 8;
/// The number of products of bytes that take the time of one product of f32.
const FASTER: usize = 4;
/// The bytes of a packed matrix that are read per nanosecond for a single row.
const READS_PER_NS: usize = 32;

/// The sums of a tile, and their place in the product.
pub(crate) struct TileSums<'a> {
    isa: Isa,
    sums: &'a Sums,
    /// The row and the column of the first sum.
    at: (usize, usize),
    /// The number of columns of the tile, and of the product.
    width: (usize, usize),
    precision: Precision,
    /// The quantum of each row.
    quanta: &'a [Quantum],
    /// The scales and sums of the columns of each half.
    scales: [PanelScales<'a>; 2],
}

/// The last step of a product, which makes elements of sums.
pub(crate) trait Finish<T>: Sync {
    /// Fails unless there are numbers for `n` columns, and for `len` elements where each has one.
    fn expect(&self, n: usize, len: usize) -> Result<(), TensorError>;

    /// Writes the elements of a tile; `out` has a row stride.
    fn finish(&self, tile: &TileSums<'_>, out: (&mut [T], usize));
}

impl Finish<f32> for Epilogue<'_> {
    fn expect(&self, n: usize, len: usize) -> Result<(), TensorError> {
        self.check(n, len)
    }

    fn finish(&self, tile: &TileSums<'_>, (out, stride): (&mut [f32], usize)) {
        let &TileSums { isa, sums, at, width: (width, n), precision, quanta, scales } = tile;
        match precision {
            Precision::Bf16 => isa.halves_to_floats(sums, (quanta.len(), width), (out, stride)),
            Precision::Int8 => isa.bytes_to_floats(sums, quanta, scales, (out, stride), width),
        }
        let out = &mut OutRows::Strided(out, stride);
        finish(isa, self, at, (quanta.len(), width), (out, n));
    }
}

impl Finish<u8> for Requantize<'_> {
    fn expect(&self, n: usize, len: usize) -> Result<(), TensorError> {
        expect_len(1, n, self.scale.len())?;
        if let Some(bias) = self.bias {
            expect_len(1, n, bias.len())?;
        }
        if let Some(residual) = self.residual {
            expect_len(1, len, residual.bytes.len())?;
        }
        match self.function {
            Function::Identity | Function::Relu | Function::Relu6 => Ok(()),
            function => invalid("product of bytes", format!("{function:?} ahead of the rounding to bytes")),
        }
    }

    /// The rows are bytes, so all have one quantum, of scale 1.
    fn finish(&self, tile: &TileSums<'_>, out: (&mut [u8], usize)) {
        let &TileSums { isa, sums, at: (row, col), width: (width, n), quanta, scales, .. } = tile;
        let Some(Quantum { zero, .. }) = quanta.first() else { return };
        let end = self.part(col, row * n + col);
        isa.requantize(&end, (sums, *zero), scales, (quanta.len(), width), out);
    }
}

/// `out = f(a * b * scale + bias + residual)`, `out` row-major with `m` rows.
pub(crate) fn multiply<T: Send>(
    isa: Isa,
    m: usize,
    a: &dyn NarrowRows,
    b: &NarrowMatrix<'_>,
    end: &dyn Finish<T>,
    out: &mut [T],
    parallel: &dyn Parallel,
) -> Result<(), TensorError> {
    let (k, n) = b.size();
    expect_len(m, n, out.len())?;
    end.expect(n, out.len())?;
    if out.is_empty() {
        return Ok(());
    }
    let failed = OnceLock::new();
    let job = Job { isa, a, b, end, n, failed: &failed };
    let panels = n.div_ceil(LANES);
    if m == 1 {
        let work = nanoseconds(b.n_bytes(), READS_PER_NS);
        let pairs = parts(panels.div_ceil(2), work, parallel);
        in_parts(out, 2 * LANES, pairs, parallel, &|pairs, out| {
            job.part(0..1, pairs.start * 2..panels.min(pairs.end * 2), out);
        });
        return failed.into_inner().map_or(Ok(()), Err);
    }
    let work = nanoseconds(m.saturating_mul(k).saturating_mul(n), PRODUCTS_PER_NS * FASTER);
    let tiles = parts(m.div_ceil(BYTE_ROWS), work, parallel);
    in_parts(out, BYTE_ROWS.saturating_mul(n), tiles, parallel, &|tiles, out| {
        job.part(tiles.start * BYTE_ROWS..m.min(tiles.end * BYTE_ROWS), 0..panels, out);
    });
    failed.into_inner().map_or(Ok(()), Err)
}

struct Job<'a, T> {
    isa: Isa,
    a: &'a dyn NarrowRows,
    b: &'a NarrowMatrix<'a>,
    end: &'a dyn Finish<T>,
    n: usize,
    /// The first error of any thread: no memory.
    failed: &'a OnceLock<TensorError>,
}

impl<T> Job<'_, T> {
    /// Computes some panels of some rows: all panels unless there is a single row.
    fn part(&self, rows: Range<usize>, panels: Range<usize>, out: &mut [T]) {
        let (groups, each) = (self.b.groups(), self.b.panel_units());
        let row_bytes = groups * GROUP;
        let tiles = (BLOCK / (row_bytes * BYTE_ROWS)).clamp(1, TILES);
        let some = (BLOCK / (each * size_of::<PanelGroup>())).max(2).next_multiple_of(2);
        let mut space = SCRATCH.take();
        let block = tiles * BYTE_ROWS;
        let lines = (block.min(rows.len()) * row_bytes).div_ceil(LINE);
        if let Err(error) = grow(&mut space.lines, lines, || Line([0; LINE])) {
            _ = self.failed.set(error);
            return;
        }
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut space.lines);
        let mut quanta = [Quantum { scale: 1.0, zero: 0 }; TILES * BYTE_ROWS];
        let mut sums: Sums = [[[0; LANES]; 2]; BYTE_ROWS];
        let width = if rows.len() == 1 { out.len() } else { self.n };
        'rows: for first in rows.clone().step_by(block) {
            let here = first..rows.end.min(first + block);
            let quanta = &mut quanta[..here.len()];
            self.a.lay(self.isa, here.clone(), &mut bytes[..here.len() * row_bytes], quanta);
            let a: &[RowGroup] = bytemuck::cast_slice(bytes);
            for from in panels.clone().step_by(some) {
                let b = self.b.panels(from..panels.end.min(from + some));
                for (tile, quanta) in quanta.chunks(BYTE_ROWS).enumerate() {
                    if is_interrupted() {
                        break 'rows;
                    }
                    let at = tile * BYTE_ROWS;
                    let row = first + at;
                    let a = ByteRows { groups: &a[at * groups..], stride: groups, rows: quanta.len() };
                    let out = &mut out[(row - rows.start) * width..];
                    let from = from * LANES;
                    let shift = panels.start * LANES;
                    self.isa.narrow(self.b.precision(), a, b, &mut sums, &mut |panel, sums| {
                        let col = from + panel * LANES;
                        let tile = TileSums {
                            isa: self.isa,
                            sums,
                            at: (row, col),
                            width: ((self.n - col).min(2 * LANES), self.n),
                            precision: self.b.precision(),
                            quanta,
                            scales: self.scales(b, panel),
                        };
                        self.end.finish(&tile, (&mut out[col - shift..], width));
                    });
                }
            }
        }
        SCRATCH.set(space);
    }

    /// The scales and sums of a panel and the next one.
    fn scales<'b>(&self, b: BytePanels<'b>, panel: usize) -> [PanelScales<'b>; 2] {
        [panel, (panel + 1).min(b.len() - 1)].map(|i| matrix::scales(b.panel(i).0))
    }
}

/// A cache line.
const LINE: usize = 64;

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
struct Line([u8; LINE]);

/// Scratch memory of a thread.
#[derive(Default)]
struct NarrowScratch {
    /// The converted rows of a block.
    lines: Vec<Line>,
}

thread_local! {
    /// Taken while in use.
    static SCRATCH: Cell<NarrowScratch> = Cell::default();
}
