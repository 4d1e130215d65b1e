//! The packed right matrix of a product of lower precision.
//!
//! ```text
//! panel 0: [scales 16 f32][sums 16 i32] group 0 │ group 1 │ ...     panel 1: ...       units of 64 bytes
//! group:   16 columns of 2 bf16, or of 4 signed bytes
//! ```
//!
//! Only panels of bytes have scales and sums. Each panel depends on its own columns only, so any piece of the
//! packed form can be computed by itself. Missing steps and columns are zeros. The number of groups is a
//! multiple of 16, as the matrix unit requires.

use std::ops::Range;

use crate::TensorError;
use crate::error::invalid;
use crate::gemm::Matrix;
use crate::matmul::StoredFloat;
use crate::simd::{BytePanels, GROUP, GROUPS, LANES, PanelGroup, PanelScales, Precision, to_half};

/// The size of a unit in bytes.
const UNIT: usize = size_of::<PanelGroup>();

/// The number of units ahead of a panel's groups.
fn head(precision: Precision) -> usize {
    match precision {
        Precision::Bf16 => 0,
        Precision::Int8 => 2,
    }
}

/// The number of groups of a panel of `k` steps: at least one block, so that products without steps are
/// zeros.
fn groups(precision: Precision, k: usize) -> usize {
    k.div_ceil(precision.steps()).max(1).next_multiple_of(GROUPS)
}

/// A constant right matrix, k by n.
#[derive(Clone, Copy, Debug)]
pub struct NarrowMatrix<'a> {
    precision: Precision,
    k: usize,
    n: usize,
    units: &'a [PanelGroup],
}

impl<'a> NarrowMatrix<'a> {
    /// The number of bytes of the packed form of a k by n matrix.
    pub fn packed_len(precision: Precision, k: usize, n: usize) -> Result<usize, TensorError> {
        if k > precision.max_steps() {
            return Err(TensorError::TooLarge);
        }
        let units = k.checked_add(GROUPS * GROUP).map(|_| groups(precision, k) + head(precision));
        let len = units.and_then(|units| units.checked_mul(n.div_ceil(LANES))?.checked_mul(UNIT));
        len.filter(|&len| len <= isize::MAX as usize).ok_or(TensorError::TooLarge)
    }

    /// A view of panels that were packed before, such as those in a mapped file.
    ///
    /// # Errors
    /// If the number of bytes is wrong, or those of bytes with scales are not aligned to 4.
    pub fn new(
        precision: Precision,
        k: usize,
        n: usize,
        bytes: &'a [u8],
    ) -> Result<NarrowMatrix<'a>, TensorError> {
        let want = NarrowMatrix::packed_len(precision, k, n)?;
        if bytes.len() != want {
            return Err(TensorError::Count { want, got: bytes.len() });
        }
        if precision == Precision::Int8 && !bytes.as_ptr().addr().is_multiple_of(align_of::<f32>()) {
            return invalid("NarrowMatrix", "the scales are not aligned".to_owned());
        }
        let units = bytemuck::try_cast_slice(bytes).unwrap_or_default(); // bytes need no alignment
        Ok(NarrowMatrix { precision, k, n, units })
    }

    /// The precision.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// The numbers of rows and columns.
    pub fn size(&self) -> (usize, usize) {
        (self.k, self.n)
    }

    /// The number of groups of a panel.
    pub(super) fn groups(&self) -> usize {
        groups(self.precision, self.k)
    }

    /// The number of units of a panel.
    pub(super) fn panel_units(&self) -> usize {
        self.groups() + head(self.precision)
    }

    /// The number of bytes.
    pub(super) fn n_bytes(&self) -> usize {
        self.units.len() * UNIT
    }

    /// Some panels.
    pub(super) fn panels(&self, some: Range<usize>) -> BytePanels<'a> {
        let each = self.panel_units();
        BytePanels {
            units: &self.units[some.start * each..some.end * each],
            each,
            head: head(self.precision),
        }
    }
}

/// The scales and sums ahead of a panel's groups.
pub(super) fn scales(head: &[PanelGroup]) -> PanelScales<'_> {
    static NONE: PanelScales<'static> = PanelScales { scales: &[0.0; LANES], sums: &[0; LANES] };
    let unit = |i: usize| head.get(i).map(|unit| unit.as_flattened());
    let scales = unit(0).and_then(|unit| bytemuck::try_cast_slice(unit).ok()?.first_chunk());
    let sums = unit(1).and_then(|unit| bytemuck::try_cast_slice(unit).ok()?.first_chunk());
    // The casts need an alignment of 4, which the bytes of allocated and of mapped tensors have.
    scales.zip(sums).map_or(NONE, |(scales, sums)| PanelScales { scales, sums })
}

/// Writes units `first` and on of the packed form of `b`.
pub(crate) fn fill<T: StoredFloat>(
    precision: Precision,
    b: &Matrix<'_, T>,
    first: usize,
    mut units: &mut [PanelGroup],
) {
    let each = groups(precision, b.rows()) + head(precision);
    let mut at = first;
    while !units.is_empty() {
        let (panel, from) = (at / each, at % each);
        let n = units.len().min(each - from);
        let some = units.split_off_mut(..n).unwrap_or_default();
        PanelColumns::new(b, panel).fill(precision, from, some);
        at += n;
    }
}

/// The columns of a panel.
struct PanelColumns<'a, 'b, T> {
    b: &'b Matrix<'a, T>,
    first: usize,
    width: usize,
}

impl<'a, 'b, T: StoredFloat> PanelColumns<'a, 'b, T> {
    fn new(b: &'b Matrix<'a, T>, panel: usize) -> PanelColumns<'a, 'b, T> {
        let first = panel * LANES;
        PanelColumns { b, first, width: LANES.min(b.cols().saturating_sub(first)) }
    }

    /// A row's numbers; zeros where there are none.
    fn row(&self, row: usize) -> [f32; LANES] {
        let mut numbers = [0.0; LANES];
        if row < self.b.rows() {
            for (i, to) in numbers.iter_mut().enumerate().take(self.width) {
                *to = self.b.at(row, self.first + i).float();
            }
        }
        numbers
    }

    /// The scale of each column: the number that byte 1 stands for. It is 1 if all numbers are bytes, which
    /// are exact then.
    fn scales(&self) -> [f32; LANES] {
        let (mut largest, mut are_bytes) = ([0.0f32; LANES], [true; LANES]);
        for row in 0..self.b.rows() {
            for ((largest, are_bytes), x) in largest.iter_mut().zip(&mut are_bytes).zip(self.row(row)) {
                *largest = largest.max(x.abs());
                *are_bytes &= f32::from(x as i8) == x;
            }
        }
        let scales = largest.map(|x| if x / 127.0 < f32::MIN_POSITIVE { 1.0 } else { x / 127.0 });
        std::array::from_fn(|l| if are_bytes[l] { 1.0 } else { scales[l] })
    }

    fn fill(&self, precision: Precision, from: usize, units: &mut [PanelGroup]) {
        let groups = (from..).map(|unit| unit.checked_sub(head(precision)));
        match precision {
            Precision::Bf16 => {
                for (group, unit) in groups.zip(units) {
                    let [x, y] = [0, 1].map(|step| self.row(group.unwrap_or(0) * 2 + step));
                    for (to, (x, y)) in unit.iter_mut().zip(x.into_iter().zip(y)) {
                        let [a, b] = to_half(x).to_le_bytes();
                        let [c, d] = to_half(y).to_le_bytes();
                        *to = [a, b, c, d].map(|byte| byte as i8);
                    }
                }
            }
            Precision::Int8 => {
                let scales = self.scales();
                let bytes = |step: usize| {
                    let row = self.row(step);
                    std::array::from_fn::<i8, LANES, _>(|i| (row[i] / scales[i]).round_ties_even() as i8)
                };
                for ((group, unit), at) in groups.zip(units).zip(from..) {
                    match group {
                        Some(group) => {
                            for step in 0..GROUP {
                                for (to, byte) in unit.iter_mut().zip(bytes(group * GROUP + step)) {
                                    to[step] = byte;
                                }
                            }
                        }
                        None if at == 0 => *unit = scales.map(|x| x.to_le_bytes().map(|byte| byte as i8)),
                        None => {
                            let mut sums = [0i32; LANES];
                            for step in 0..self.b.rows() {
                                for (sum, byte) in sums.iter_mut().zip(bytes(step)) {
                                    *sum = sum.wrapping_add(i32::from(byte));
                                }
                            }
                            *unit = sums.map(|x| x.to_le_bytes().map(|byte| byte as i8));
                        }
                    }
                }
            }
        }
    }
}
