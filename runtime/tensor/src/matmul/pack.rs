//! Packing of the right matrix into panels, and the traits for the sources of rows and columns.

use std::fmt;
use std::ops::Range;

use crate::TensorError;
use crate::gemm::Matrix;
use crate::scratch::filled;
use crate::simd::{Isa, PANEL, PanelStep, PanelSteps, TileRows};

/// A panel step aligned to cache lines: a load that crosses two lines costs a fifth of the speed.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(128))]
pub(crate) struct AlignedStep(PanelStep);

const _: () = assert!(size_of::<AlignedStep>() == size_of::<PanelStep>());

/// A constant right matrix, k by n, in panels of [`PANEL`] columns. Panels follow each other; each has k
/// rows; the last one is zero-padded. The layout is the same on all machines, so it can be stored in a file.
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
    /// The number of floats in the panels of a k by n matrix.
    pub fn packed_len(k: usize, n: usize) -> Result<usize, TensorError> {
        let len = n.div_ceil(PANEL).checked_mul(PANEL).and_then(|n| n.checked_mul(k));
        len.filter(|&len| len <= isize::MAX as usize / size_of::<f32>()).ok_or(TensorError::TooLarge)
    }

    /// Packs a row-major k by n matrix.
    pub fn pack(k: usize, n: usize, b: &[f32]) -> Result<PackedMatrix<'static>, TensorError> {
        expect_len(k, n, b.len())?;
        PackedMatrix::pack_any(Matrix::new(b, k, n))
    }

    /// Packs the transpose of a row-major n by k matrix.
    pub fn pack_transposed(k: usize, n: usize, b: &[f32]) -> Result<PackedMatrix<'static>, TensorError> {
        expect_len(n, k, b.len())?;
        PackedMatrix::pack_any(Matrix::new(b, n, k).transposed())
    }

    fn pack_any(b: Matrix<'_, f32>) -> Result<PackedMatrix<'static>, TensorError> {
        let (k, n) = (b.rows(), b.cols());
        PackedMatrix::pack_with(k, n, |panel, from, steps| pack_panel(&b, panel, from, steps))
    }

    /// Packs a k by n matrix: `pack(panel, from, steps)` writes rows `from` and on of a panel.
    pub(crate) fn pack_with(
        k: usize,
        n: usize,
        pack: impl FnMut(usize, usize, &mut [PanelStep]),
    ) -> Result<PackedMatrix<'static>, TensorError> {
        let len = PackedMatrix::packed_len(k, n)? / PANEL;
        let mut panels = filled(len, AlignedStep([0.0; PANEL]))?;
        each_panel(k, 0, bytemuck::cast_slice_mut(&mut panels), pack);
        Ok(PackedMatrix { k, n, panels: Panels::Owned(panels) })
    }
}

/// Divides `floats` among the panels of a matrix of `k` rows. `floats` is a part of the packed form that
/// begins at step `first`. Calls `pack(panel, from, steps)` for the steps of each panel, which are rows
/// `from` and on.
pub(crate) fn each_panel(
    k: usize,
    first: usize,
    floats: &mut [f32],
    mut pack: impl FnMut(usize, usize, &mut [PanelStep]),
) {
    let (mut at, mut rest) = (first, floats.as_chunks_mut().0);
    while !rest.is_empty() {
        let (panel, from) = (at / k, at % k);
        let n = rest.len().min(k - from);
        let steps = rest.split_off_mut(..n).unwrap_or_default();
        pack(panel, from, steps);
        at += n;
    }
}

/// A stored f32: a float, or its four little-endian bytes at any alignment.
pub(crate) trait StoredFloat: Copy {
    fn float(self) -> f32;

    /// `to[p][i] = lines[i * step + p]` for `n` lines.
    fn transpose(n: usize, (lines, step): (&[Self], usize), to: &mut [PanelStep]) {
        for i in 0..n {
            for (to, x) in to.iter_mut().zip(&lines[i * step..]) {
                to[i] = x.float();
            }
        }
    }
}

impl StoredFloat for f32 {
    fn float(self) -> f32 {
        self
    }

    fn transpose(n: usize, lines: (&[f32], usize), to: &mut [PanelStep]) {
        Isa::detect().transpose((n, to.len()), lines, (to.as_flattened_mut(), PANEL));
    }
}

impl StoredFloat for [u8; 4] {
    fn float(self) -> f32 {
        f32::from_le_bytes(self)
    }
}

/// Packs columns from `panel * PANEL` on, rows from `from` on, into the steps of a panel. Missing columns
/// become 0.
pub(crate) fn pack_panel<T: StoredFloat>(
    b: &Matrix<'_, T>,
    panel: usize,
    from: usize,
    steps: &mut [PanelStep],
) {
    let first = panel * PANEL;
    let width = PANEL.min(b.cols() - first);
    if width < PANEL {
        steps.iter_mut().for_each(|step| step[width..].fill(0.0));
    }
    if let Some((numbers, stride)) = b.rows_of() {
        for (row, step) in (from..).zip(steps) {
            let row = &numbers[row * stride + first..];
            match row.first_chunk::<PANEL>().filter(|_| width == PANEL) {
                Some(row) => *step = row.map(T::float),
                None => step[..width].iter_mut().zip(row).for_each(|(to, x)| *to = x.float()),
            }
        }
    } else if let Some((numbers, stride)) = b.transposed().rows_of() {
        T::transpose(width, (&numbers[first * stride + from..], stride), steps);
    }
}

impl<'a> PackedMatrix<'a> {
    /// A view of panels that were packed before, such as those in a mapped file.
    pub fn from_panels(k: usize, n: usize, panels: &'a [f32]) -> Result<PackedMatrix<'a>, TensorError> {
        let want = PackedMatrix::packed_len(k, n)?;
        if panels.len() != want {
            return Err(TensorError::Count { want, got: panels.len() });
        }
        Ok(PackedMatrix { k, n, panels: Panels::Borrowed(panels) })
    }

    /// The packed form, to be stored.
    pub fn panels(&self) -> &[f32] {
        match &self.panels {
            Panels::Owned(panels) => bytemuck::cast_slice(panels),
            Panels::Borrowed(panels) => panels,
        }
    }

    /// The number of rows.
    pub fn k(&self) -> usize {
        self.k
    }

    /// The number of columns.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The steps of some panels, one panel after another.
    pub(crate) fn some_panels(&self, panels: Range<usize>) -> &[PanelStep] {
        &self.panels().as_chunks().0[panels.start * self.k..panels.end * self.k]
    }

    /// The steps of a panel.
    pub(crate) fn panel(&self, panel: usize) -> &[PanelStep] {
        &self.panels().as_chunks().0[panel * self.k..][..self.k]
    }
}

/// Checks the number of elements of a row-major matrix.
pub(crate) fn expect_len(rows: usize, cols: usize, got: usize) -> Result<(), TensorError> {
    let want = rows.checked_mul(cols).ok_or(TensorError::TooLarge)?;
    if got == want { Ok(()) } else { Err(TensorError::Count { want, got }) }
}

/// A source of the right matrix's panels: packed ahead of time, or packed block by block.
pub(crate) trait ColumnSource: Sync {
    /// The numbers of rows and columns.
    fn size(&self) -> (usize, usize);

    /// The whole matrix, if it was packed ahead of time.
    fn packed(&self) -> Option<&PackedMatrix<'_>>;

    /// Packs the given panels, restricted to `rows`, into `space`.
    fn prepare(&self, panels: Range<usize>, rows: Range<usize>, space: &mut Vec<AlignedStep>);

    /// A panel restricted to `rows` where it lies in memory, if tiles can read it there.
    fn in_place(&self, panel: usize, rows: Range<usize>) -> Option<PanelSteps<'_>>;

    /// A prepared panel, the `at`th of its block, restricted to `rows`.
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

/// Extends `space` to the panels of a block, restricted to `rows`, and calls `pack(panel, from, steps)` for
/// the steps of each, which are rows `from` and on.
pub(crate) fn prepare_panels(
    panels: Range<usize>,
    rows: Range<usize>,
    space: &mut Vec<AlignedStep>,
    pack: impl Fn(usize, usize, &mut [PanelStep]),
) {
    if rows.is_empty() {
        return;
    }
    reserve_panels(panels.len() * rows.len(), space);
    for (panel, steps) in panels.zip(space.chunks_exact_mut(rows.len())) {
        pack(panel, rows.start, bytemuck::cast_slice_mut(steps));
    }
}

fn reserve_panels(len: usize, space: &mut Vec<AlignedStep>) {
    if space.len() < len {
        space.resize(len, AlignedStep([0.0; PANEL]));
    }
}

/// Packs rows of a row-major matrix, from column `first` on, into as many whole panels as `panels` has room
/// for. A row is read in one go: panel by panel, each piece would be a line or two, too short for the
/// processor to fetch ahead.
fn pack_rows((numbers, stride): (&[f32], usize), first: usize, rows: Range<usize>, panels: &mut [PanelStep]) {
    let n = rows.len();
    let width = panels.len() / n * PANEL;
    for (p, row) in rows.enumerate() {
        let row = numbers[row * stride + first..][..width].as_chunks::<PANEL>().0;
        for (panel, from) in row.iter().enumerate() {
            panels[panel * n + p] = *from;
        }
    }
}

impl ColumnSource for PackedMatrix<'_> {
    fn size(&self) -> (usize, usize) {
        (self.k, self.n)
    }

    fn packed(&self) -> Option<&PackedMatrix<'_>> {
        Some(self)
    }

    fn prepare(&self, _panels: Range<usize>, _rows: Range<usize>, _space: &mut Vec<AlignedStep>) {}

    fn in_place(&self, panel: usize, rows: Range<usize>) -> Option<PanelSteps<'_>> {
        Some(PanelSteps::packed(&self.panel(panel)[rows]))
    }

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
        let whole = panels.start..panels.end.min(self.cols() / PANEL);
        match self.rows_of() {
            Some(from) if whole.len() > 1 && !rows.is_empty() => {
                let n = rows.len();
                reserve_panels(panels.len() * n, space);
                let (steps, last) = space.split_at_mut(whole.len() * n);
                pack_rows(from, whole.start * PANEL, rows.clone(), bytemuck::cast_slice_mut(steps));
                for (panel, steps) in (whole.end..panels.end).zip(last.chunks_exact_mut(n)) {
                    pack_panel(self, panel, rows.start, bytemuck::cast_slice_mut(steps));
                }
            }
            _ => prepare_panels(panels, rows, space, |panel, from, steps| {
                pack_panel(self, panel, from, steps);
            }),
        }
    }

    fn in_place(&self, panel: usize, rows: Range<usize>) -> Option<PanelSteps<'_>> {
        let (numbers, stride) = self.rows_of()?;
        PanelSteps::strided(numbers.get(rows.start * stride + panel * PANEL..)?, stride, rows.len())
    }
}

/// A source of the left matrix's rows: a matrix in memory, or the windows of an image.
pub(crate) trait RowSource: Sync {
    /// Whether [`RowSource::copy`] writes steps: the elements of some rows at a step are contiguous.
    fn by_steps(&self) -> bool {
        false
    }

    /// Copies elements `steps` of `rows`: of each row to the start of a row of `out`, or by steps.
    fn copy(&self, isa: Isa, rows: Range<usize>, steps: Range<usize>, out: &mut TileRows);

    /// A row's elements, if they are contiguous in memory.
    fn contiguous(&self, row: usize) -> Option<&[f32]>;

    /// The elements of the rows from `row` on, and the distance of rows, if these are contiguous.
    fn rows_from(&self, row: usize) -> Option<(&[f32], usize)> {
        let _ = row;
        None
    }
}

/// A row-major left matrix of rows of `k` elements: its products need no tiles of steps, and a program that
/// has no others does not contain them.
pub(crate) struct RowMajor<'a> {
    pub(crate) numbers: &'a [f32],
    pub(crate) k: usize,
}

impl RowSource for RowMajor<'_> {
    fn copy(&self, isa: Isa, rows: Range<usize>, steps: Range<usize>, out: &mut TileRows) {
        let numbers = self.numbers.get(rows.start * self.k + steps.start..).unwrap_or(&[]);
        isa.copy_rows(numbers, self.k, steps.len(), 0, &mut out.0[..rows.len()]);
    }

    fn contiguous(&self, row: usize) -> Option<&[f32]> {
        self.numbers.get(row.checked_mul(self.k)?..)?.get(..self.k)
    }

    fn rows_from(&self, row: usize) -> Option<(&[f32], usize)> {
        Some((self.numbers.get(row.checked_mul(self.k)?..)?, self.k))
    }
}

impl RowSource for Matrix<'_, f32> {
    fn by_steps(&self) -> bool {
        self.rows_of().is_none()
    }

    fn copy(&self, isa: Isa, rows: Range<usize>, steps: Range<usize>, out: &mut TileRows) {
        if let Some((numbers, stride)) = self.rows_of() {
            let numbers = numbers.get(rows.start * stride + steps.start..).unwrap_or(&[]);
            return isa.copy_rows(numbers, stride, steps.len(), 0, &mut out.0[..rows.len()]);
        }
        let Some((numbers, stride)) = self.transposed().rows_of() else { return };
        let numbers = numbers.get(steps.start * stride + rows.start..).unwrap_or(&[]);
        let out = &mut out.numbers_mut()[..steps.len() * isa.step()];
        isa.copy_steps((numbers, stride), (0, rows.len()), out);
    }

    fn contiguous(&self, row: usize) -> Option<&[f32]> {
        self.row(row)
    }

    fn rows_from(&self, row: usize) -> Option<(&[f32], usize)> {
        let (numbers, stride) = self.rows_of()?;
        Some((numbers.get(row.checked_mul(stride)?..)?, stride))
    }
}
