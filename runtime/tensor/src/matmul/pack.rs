//! The right matrix in panels, and where a left matrix's rows come from.

use std::fmt;
use std::ops::Range;

use crate::TensorError;
use crate::gemm::Matrix;
use crate::simd::{Isa, PANEL, PanelStep, Row};

/// Panels of our own, in whole cache lines: a load that crosses two costs a fifth of the speed.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(128))]
pub(crate) struct AlignedStep(PanelStep);

const _: () = assert!(size_of::<AlignedStep>() == size_of::<PanelStep>());

/// A constant right matrix, k by n, in panels of [`PANEL`] columns: panel after panel, each k rows of its columns, the last one filled
/// up with zeros. One layout for all machines: it can be made once and kept in a file.
#[derive(Clone)]
pub struct PackedMatrix<'a> {
    k: usize,
    n: usize,
    panels: Panels<'a>,
}

#[derive(Clone)]
enum Panels<'a> {
    Owned(Vec<AlignedStep>),
    Borrowed(&'a [f32]),
}

impl fmt::Debug for PackedMatrix<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PackedMatrix({} by {})", self.k, self.n)
    }
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
        PackedMatrix::pack_any(Matrix::new(b, k, n))
    }

    /// Packs the transposed of a row-major n by k matrix.
    pub fn pack_transposed(k: usize, n: usize, b: &[f32]) -> Result<PackedMatrix<'static>, TensorError> {
        expect_len(n, k, b.len())?;
        PackedMatrix::pack_any(Matrix::new(b, n, k).transposed())
    }

    fn pack_any(b: Matrix<'_, f32>) -> Result<PackedMatrix<'static>, TensorError> {
        let (k, n) = (b.rows(), b.cols());
        let len = PackedMatrix::packed_len(k, n)? / PANEL;
        let mut panels = Vec::new();
        panels.try_reserve_exact(len).map_err(|_| TensorError::TooLarge)?;
        panels.resize(len, AlignedStep([0.0; PANEL]));
        if k > 0 {
            for (panel, steps) in panels.chunks_exact_mut(k).enumerate() {
                pack_panel(&b, panel, 0, bytemuck::cast_slice_mut(steps));
            }
        }
        Ok(PackedMatrix { k, n, panels: Panels::Owned(panels) })
    }
}

/// Columns from `panel * PANEL` on, rows from `from` on, into the steps of a panel. Columns that there are not become 0.
fn pack_panel(b: &Matrix<'_, f32>, panel: usize, from: usize, steps: &mut [PanelStep]) {
    let first = panel * PANEL;
    let width = PANEL.min(b.cols() - first);
    for (row, step) in (from..).zip(steps.iter_mut()) {
        step[width..].fill(0.0);
        if let Some(row) = b.row(row) {
            step[..width].copy_from_slice(&row[first..][..width]);
        }
    }
    if b.row(0).is_none() {
        for j in 0..width {
            let col = b.col(first + j);
            for (step, x) in steps.iter_mut().zip(&col[from..]) {
                step[j] = *x;
            }
        }
    }
}

impl<'a> PackedMatrix<'a> {
    /// A matrix that was packed before, such as one in a mapped file.
    pub fn from_panels(k: usize, n: usize, panels: &'a [f32]) -> Result<PackedMatrix<'a>, TensorError> {
        let want = PackedMatrix::packed_len(k, n)?;
        if panels.len() != want {
            return Err(TensorError::Count { want, got: panels.len() });
        }
        Ok(PackedMatrix { k, n, panels: Panels::Borrowed(panels) })
    }

    /// The panels, to be kept.
    pub fn panels(&self) -> &[f32] {
        match &self.panels {
            Panels::Owned(panels) => bytemuck::cast_slice(panels),
            Panels::Borrowed(panels) => panels,
        }
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
    pub(crate) fn panel(&self, panel: usize) -> &[PanelStep] {
        &self.panels().as_chunks().0[panel * self.k..][..self.k]
    }
}

/// Whether a row-major matrix has its elements.
pub(crate) fn expect_len(rows: usize, cols: usize, got: usize) -> Result<(), TensorError> {
    let want = rows.checked_mul(cols).ok_or(TensorError::TooLarge)?;
    if got == want { Ok(()) } else { Err(TensorError::Count { want, got }) }
}

/// Where the panels of the right matrix come from: packed ahead of time, or packed a block at a time.
pub(crate) trait ColumnSource: Sync {
    /// Rows and columns.
    fn size(&self) -> (usize, usize);

    /// The whole, if it was packed ahead of time.
    fn packed(&self) -> Option<&PackedMatrix<'_>>;

    /// Makes the given panels ready, rows `from .. from + steps`.
    fn prepare(&self, panels: Range<usize>, rows: Range<usize>, space: &mut Vec<AlignedStep>);

    /// A panel that was made ready, the `at`th of its block: rows `rows`.
    fn panel<'s>(
        &'s self,
        panel: usize,
        at: usize,
        rows: Range<usize>,
        space: &'s [AlignedStep],
    ) -> &'s [PanelStep];
}

impl ColumnSource for PackedMatrix<'_> {
    fn size(&self) -> (usize, usize) {
        (self.k, self.n)
    }

    fn packed(&self) -> Option<&PackedMatrix<'_>> {
        Some(self)
    }

    fn prepare(&self, _panels: Range<usize>, _rows: Range<usize>, _space: &mut Vec<AlignedStep>) {}

    fn panel<'s>(
        &'s self,
        panel: usize,
        _at: usize,
        rows: Range<usize>,
        _space: &'s [AlignedStep],
    ) -> &'s [PanelStep] {
        &self.panel(panel)[rows]
    }
}

impl ColumnSource for Matrix<'_, f32> {
    fn size(&self) -> (usize, usize) {
        (self.rows(), self.cols())
    }

    fn packed(&self) -> Option<&PackedMatrix<'_>> {
        None
    }

    fn prepare(&self, panels: Range<usize>, rows: Range<usize>, space: &mut Vec<AlignedStep>) {
        space.resize(panels.len() * rows.len(), AlignedStep([0.0; PANEL]));
        for (panel, steps) in panels.zip(space.chunks_exact_mut(rows.len().max(1))) {
            pack_panel(self, panel, rows.start, bytemuck::cast_slice_mut(steps));
        }
    }

    fn panel<'s>(
        &'s self,
        _panel: usize,
        at: usize,
        rows: Range<usize>,
        space: &'s [AlignedStep],
    ) -> &'s [PanelStep] {
        bytemuck::cast_slice(&space[at * rows.len()..][..rows.len()])
    }
}

/// Where the rows of a left matrix come from: memory, or an image's windows that are never laid out as a matrix.
pub(crate) trait RowSource: Sync {
    /// Copies elements `steps` of rows `rows`, each to the start of one of `out`, which are as many.
    fn copy(&self, isa: Isa, rows: Range<usize>, steps: Range<usize>, out: &mut [Row]);

    /// A row's elements if they lie in memory one after another.
    fn contiguous(&self, row: usize) -> Option<&[f32]>;
}

impl RowSource for Matrix<'_, f32> {
    fn copy(&self, isa: Isa, rows: Range<usize>, steps: Range<usize>, out: &mut [Row]) {
        if let Some((numbers, stride)) = self.rows_of() {
            let numbers = numbers.get(rows.start * stride + steps.start..).unwrap_or(&[]);
            return isa.copy_rows(numbers, stride, steps.len(), 0, out);
        }
        for (p, step) in steps.enumerate() {
            for (x, out) in self.col(step)[rows.clone()].iter().zip(out.iter_mut()) {
                out[p] = *x;
            }
        }
    }

    fn contiguous(&self, row: usize) -> Option<&[f32]> {
        self.row(row)
    }
}
