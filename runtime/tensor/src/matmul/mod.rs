//! The product with a constant right matrix that was packed ahead of time.
//!
//! ```text
//! out (m by n) = f(a (m by k) * b (k by n) + bias + residual)
//!
//! for each block of rows (parallel) ─ for each block of k ─ pack a ─ for each panel of b ─ for each tile of rows
//!                                                          (in L2)   (in L1)              (in registers)
//! ```
//!
//! * [`PackedMatrix`] holds `b` in the one layout that the tiles of every machine read (`simd`).
//! * A tile's sums go to a small buffer and from there into `out`; with the last block of k the [`Epilogue`] is applied on the way.
//! * A single row takes no packing: the time is that of reading `b`. With several workers its columns are split.
//! * An element's sum is made in an order that depends on k and the machine's instructions only: not on the number of workers
//!   nor, for m > 1, on m.
//!
//! Threads belong to the caller: [`Parallel`] runs blocks. Packing space is kept per thread, at most [`KC`] by [`MC`] floats.
//! `conv` uses the same driver with rows that are windows of an image.

mod pack;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::sync::Mutex;

pub use pack::PackedMatrix;
pub(crate) use pack::{Rows, expect_len, scatter};

use pack::Dense;

use crate::TensorError;
use crate::simd::{Function, Isa, MAX_ROWS, PANEL, Step, Tile};

/// Steps of k in a block: a panel's part is 32 KiB.
const KC: usize = 256;
/// Rows in a block, a multiple of every tile's rows: the block's part of `a` is 168 KiB.
const MC: usize = 168;

/// What happens to the product on its way to memory: `f(product + bias + residual)`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Epilogue<'a> {
    /// n numbers, one for each column.
    pub bias: Option<&'a [f32]>,
    /// m by n numbers.
    pub residual: Option<&'a [f32]>,
    /// The function applied last.
    pub function: Function,
}

/// The caller's threads.
pub trait Parallel: Sync {
    /// How many blocks can run at the same time.
    fn workers(&self) -> usize;

    /// Calls `block(i)` once for each i below `blocks`, in any order, on any threads, and returns when all have returned.
    fn parallel_for(&self, blocks: usize, block: &(dyn Fn(usize) + Sync));
}

/// No threads but the calling one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Serial;

impl Parallel for Serial {
    fn workers(&self) -> usize {
        1
    }

    fn parallel_for(&self, blocks: usize, block: &(dyn Fn(usize) + Sync)) {
        (0..blocks).for_each(block);
    }
}

/// `out = f(a * b + bias + residual)`, `a` and `out` row-major with m rows.
pub fn matmul_packed(
    m: usize,
    a: &[f32],
    b: &PackedMatrix<'_>,
    epilogue: &Epilogue<'_>,
    out: &mut [f32],
    parallel: &dyn Parallel,
) -> Result<(), TensorError> {
    expect_len(m, b.k(), a.len())?;
    multiply(Isa::detect(), m, &Dense { data: a, k: b.k() }, b, epilogue, out, parallel)
}

/// The driver, for rows from anywhere. A row of `a` must have k elements.
pub(crate) fn multiply<A: Rows>(
    isa: Isa,
    m: usize,
    a: &A,
    b: &PackedMatrix<'_>,
    epilogue: &Epilogue<'_>,
    out: &mut [f32],
    parallel: &dyn Parallel,
) -> Result<(), TensorError> {
    let n = b.n();
    expect_len(m, n, out.len())?;
    if let Some(bias) = epilogue.bias {
        expect_len(1, n, bias.len())?;
    }
    if let Some(residual) = epilogue.residual {
        expect_len(m, n, residual.len())?;
    }
    if out.is_empty() {
        return Ok(());
    }
    let job = Job { isa, a, b, epilogue, n };
    let workers = parallel.workers().max(1);
    if m == 1
        && let Some(row) = a.contiguous(0)
    {
        let panels = n.div_ceil(PANEL);
        let part = panels.div_ceil(workers);
        in_parts(out, part * PANEL, parallel, |i, out| job.one_row(row, i * part, out));
        return Ok(());
    }
    let rows = isa.rows();
    let part =
        if workers == 1 { MC } else { m.div_ceil(workers.saturating_mul(2)).next_multiple_of(rows).min(MC) };
    in_parts(out, part * n, parallel, |i, out| job.rows(i * part, out));
    Ok(())
}

/// Cuts `out` into parts of `len` elements and calls `block(i, part)` for each.
fn in_parts(out: &mut [f32], len: usize, parallel: &dyn Parallel, block: impl Fn(usize, &mut [f32]) + Sync) {
    if out.len() <= len {
        return block(0, out);
    }
    if parallel.workers() <= 1 {
        return out.chunks_mut(len).enumerate().for_each(|(i, part)| block(i, part));
    }
    let parts: Vec<_> = out.chunks_mut(len).map(|part| Mutex::new(Some(part))).collect();
    parallel.parallel_for(parts.len(), &|i| {
        let part = parts.get(i).and_then(|part| part.lock().ok()?.take());
        if let Some(part) = part {
            block(i, part);
        }
    });
}

struct Job<'a, A> {
    isa: Isa,
    a: &'a A,
    b: &'a PackedMatrix<'a>,
    epilogue: &'a Epilogue<'a>,
    n: usize,
}

impl<A: Rows> Job<'_, A> {
    /// Some columns of a single row, from that of a panel on.
    fn one_row(&self, row: &[f32], first_panel: usize, out: &mut [f32]) {
        let mut sums: Step = [0.0; PANEL];
        for (panel, out) in (first_panel..).zip(out.chunks_mut(PANEL)) {
            self.isa.row(row, self.b.panel(panel), &mut sums);
            out.copy_from_slice(&sums[..out.len()]);
            self.finish(0, panel * PANEL, out);
        }
    }

    /// The rows of `out`, the first of which is row `first` of the whole.
    fn rows(&self, first: usize, out: &mut [f32]) {
        let k = self.b.k();
        let rows = out.len() / self.n;
        let mut space = SPACE.take();
        space.resize(KC * MC, 0.0);
        let mut tile: Tile = [[0.0; PANEL]; MAX_ROWS];
        // One block even where k is 0, which writes the empty sums.
        for from in (0..k.max(1)).step_by(KC) {
            let steps = KC.min(k - from);
            for row in (0..rows).step_by(self.isa.rows()) {
                let count = self.isa.rows().min(rows - row);
                self.a.pack(first + row, count, from, &mut space[row * steps..][..count * steps]);
            }
            for panel in 0..self.n.div_ceil(PANEL) {
                let b = &self.b.panel(panel)[from..][..steps];
                for row in (0..rows).step_by(self.isa.rows()) {
                    let count = self.isa.rows().min(rows - row);
                    self.isa.tile(count, &space[row * steps..][..count * steps], b, &mut tile);
                    let place = Place { first, row, panel, is_first: from == 0, is_last: from + steps == k };
                    self.write_back(&tile[..count], place, out);
                }
            }
        }
        SPACE.set(space);
    }

    fn write_back(&self, tile: &[Step], place: Place, out: &mut [f32]) {
        let Place { first, row, panel, is_first, is_last } = place;
        let col = panel * PANEL;
        let width = PANEL.min(self.n - col);
        for (i, sums) in (row..).zip(tile) {
            let out = &mut out[i * self.n + col..][..width];
            match out.first_chunk_mut::<PANEL>() {
                // A whole panel, the usual case: the compiler knows its width.
                Some(out) if is_first => *out = *sums,
                Some(out) => add(out, sums),
                None if is_first => out.copy_from_slice(&sums[..width]),
                None => add(out, sums),
            }
            if is_last {
                self.finish(first + i, col, out);
            }
        }
    }

    /// Applies the epilogue to a part of a row of the whole.
    fn finish(&self, row: usize, col: usize, out: &mut [f32]) {
        let Epilogue { bias, residual, function } = self.epilogue;
        if let Some(bias) = bias {
            add(out, &bias[col..]);
        }
        if let Some(residual) = residual {
            add(out, &residual[row * self.n + col..]);
        }
        if *function != Function::Identity {
            self.isa.map(*function, out);
        }
    }
}

/// Where a tile goes.
struct Place {
    /// The block's first row in the whole.
    first: usize,
    /// The tile's first row in the block.
    row: usize,
    panel: usize,
    is_first: bool,
    is_last: bool,
}

#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "vector code whatever the build inlines")]
fn add(out: &mut [f32], x: &[f32]) {
    let n = out.len().min(x.len());
    let (out, x) = (&mut out[..n], &x[..n]);
    for i in 0..n {
        out[i] += x[i];
    }
}

thread_local! {
    /// Packing space. Taken while in use, so that a block that runs another one inside has its own.
    static SPACE: Cell<Vec<f32>> = const { Cell::new(Vec::new()) };
}
