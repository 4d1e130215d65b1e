//! The right matrix in panels, and where a left matrix's rows come from.

use std::borrow::Cow;

use crate::TensorError;
use crate::simd::{PANEL, Step};

/// A constant right matrix, k by n, in panels of [`PANEL`] columns: panel after panel, each k rows of its columns, the last one filled
/// up with zeros. One layout for all machines: it can be made once and kept in a file.
#[derive(Clone, Debug)]
pub struct PackedMatrix<'a> {
    k: usize,
    n: usize,
    panels: Cow<'a, [f32]>,
}

impl PackedMatrix<'_> {
    /// How many floats the panels of a k by n matrix have.
    pub fn packed_len(k: usize, n: usize) -> Result<usize, TensorError> {
        let len = n.div_ceil(PANEL).checked_mul(PANEL).and_then(|n| n.checked_mul(k));
        len.filter(|&len| len <= isize::MAX as usize / size_of::<f32>()).ok_or(TensorError::TooLarge)
    }

    /// Packs a row-major k by n matrix.
    pub fn pack(k: usize, n: usize, b: &[f32]) -> Result<PackedMatrix<'static>, TensorError> {
        expect_len(k, n, b.len())?;
        PackedMatrix::pack_with(k, n, |row, first, out| {
            out.copy_from_slice(&b[row * n + first..][..out.len()]);
        })
    }

    /// Packs the transposed of a row-major n by k matrix.
    pub fn pack_transposed(k: usize, n: usize, b: &[f32]) -> Result<PackedMatrix<'static>, TensorError> {
        expect_len(n, k, b.len())?;
        PackedMatrix::pack_with(k, n, |row, first, out| {
            for (j, out) in out.iter_mut().enumerate() {
                *out = b[(first + j) * k + row];
            }
        })
    }

    /// `fill(row, first column, out)` gives parts of rows.
    fn pack_with(
        k: usize,
        n: usize,
        fill: impl Fn(usize, usize, &mut [f32]),
    ) -> Result<PackedMatrix<'static>, TensorError> {
        let len = PackedMatrix::packed_len(k, n)?;
        let mut panels = Vec::new();
        panels.try_reserve_exact(len).map_err(|_| TensorError::TooLarge)?;
        panels.resize(len, 0.0);
        if k > 0 {
            for (panel, steps) in panels.chunks_exact_mut(k * PANEL).enumerate() {
                let first = panel * PANEL;
                let width = PANEL.min(n - first);
                for (row, step) in steps.chunks_exact_mut(PANEL).enumerate() {
                    fill(row, first, &mut step[..width]);
                }
            }
        }
        Ok(PackedMatrix { k, n, panels: Cow::Owned(panels) })
    }
}

impl<'a> PackedMatrix<'a> {
    /// A matrix that was packed before, such as one in a mapped file.
    pub fn from_panels(k: usize, n: usize, panels: &'a [f32]) -> Result<PackedMatrix<'a>, TensorError> {
        let want = PackedMatrix::packed_len(k, n)?;
        if panels.len() != want {
            return Err(TensorError::Count { want, got: panels.len() });
        }
        Ok(PackedMatrix { k, n, panels: Cow::Borrowed(panels) })
    }

    /// The panels, to be kept.
    pub fn panels(&self) -> &[f32] {
        &self.panels
    }

    /// Rows.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Columns.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The steps of a panel.
    pub(super) fn panel(&self, panel: usize) -> &[Step] {
        &self.panels.as_chunks().0[panel * self.k..][..self.k]
    }
}

/// Whether a row-major matrix has its elements.
pub(crate) fn expect_len(rows: usize, cols: usize, got: usize) -> Result<(), TensorError> {
    let want = rows.checked_mul(cols).ok_or(TensorError::TooLarge)?;
    if got == want { Ok(()) } else { Err(TensorError::Count { want, got }) }
}

/// Where the rows of a left matrix come from: memory, or an image's windows that are never laid out as a matrix.
pub(crate) trait Rows: Sync {
    /// Writes rows `first .. first + count`, columns `from .. from + out.len() / count`, column after column:
    /// `out[p * count + i]` is element `from + p` of row `first + i`.
    fn pack(&self, first: usize, count: usize, from: usize, out: &mut [f32]);

    /// A row's elements if they lie in memory one after another.
    fn contiguous(&self, row: usize) -> Option<&[f32]>;
}

/// A row-major matrix in memory.
pub(crate) struct Dense<'a> {
    pub(crate) data: &'a [f32],
    pub(crate) k: usize,
}

impl Rows for Dense<'_> {
    fn pack(&self, first: usize, count: usize, from: usize, out: &mut [f32]) {
        let steps = out.len() / count;
        for i in 0..count {
            scatter(&self.data[(first + i) * self.k + from..][..steps], i, count, out);
        }
    }

    fn contiguous(&self, row: usize) -> Option<&[f32]> {
        self.data.get(row * self.k..)?.get(..self.k)
    }
}

/// Writes a part of a row into column `i` of `count`.
pub(crate) fn scatter(row: &[f32], i: usize, count: usize, out: &mut [f32]) {
    macro_rules! by_count {
        ($($count:literal)*) => {
            match count {
                $($count => scatter_of::<$count>(row, i, out),)*
                _ => row.iter().enumerate().for_each(|(p, x)| out[p * count + i] = *x),
            }
        };
    }
    // The counts of full tiles and of small products.
    by_count!(1 2 4 6 8 14);
}

#[allow(clippy::needless_range_loop, reason = "one load and one store per number whatever the build inlines")]
fn scatter_of<const COUNT: usize>(row: &[f32], i: usize, out: &mut [f32]) {
    let (out, _) = out.as_chunks_mut::<COUNT>();
    let n = row.len().min(out.len());
    let (row, out) = (&row[..n], &mut out[..n]);
    if i < COUNT {
        for p in 0..n {
            out[p][i] = row[p];
        }
    }
}
