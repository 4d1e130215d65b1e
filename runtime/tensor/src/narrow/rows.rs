//! The rows of the left matrix, converted to a lower precision a block at a time.

use std::ops::Range;

use crate::TensorError;
use crate::parallel::{ADDITIONS_PER_NS, Parallel, in_parts, nanoseconds, parts};
use crate::scratch::filled;
use crate::simd::Precision;
use crate::simd::{Affine, Isa, Quantum};

/// A source of converted rows.
pub(crate) trait NarrowRows: Sync {
    /// Writes each of `rows` to an equal share of `to`, with zeros behind its steps. With int8, also writes
    /// the quantum of each row.
    fn lay(&self, isa: Isa, rows: Range<usize>, to: &mut [u8], quanta: &mut [Quantum]);
}

/// The quanta of the rows: scale and zero point of their bytes.
#[derive(Clone, Debug)]
pub(crate) enum RowQuanta {
    /// One for all rows, for a range known ahead of time.
    All(Quantum),
    /// One per row, for the range of its numbers.
    Each,
    /// One per group of this number of rows.
    Of(Vec<Quantum>, usize),
}

impl RowQuanta {
    /// The quantum of a row, unless it depends on the row's numbers.
    pub(crate) fn of(&self, row: usize) -> Option<Quantum> {
        match self {
            RowQuanta::All(quantum) => Some(*quantum),
            RowQuanta::Each => None,
            RowQuanta::Of(quanta, rows) => quanta.get(row / rows.max(&1)).copied(),
        }
    }
}

/// The quantum of each part of `x` of length `len`, for the range of its numbers.
pub(crate) fn quanta_of(
    isa: Isa,
    x: &[f32],
    len: usize,
    parallel: &dyn Parallel,
) -> Result<Vec<Quantum>, TensorError> {
    /// The length of a piece whose range is one unit of work.
    const PIECE: usize = 1 << 14;
    let len = len.max(1);
    let pieces = len.div_ceil(PIECE);
    let mut ends = filled((x.len() / len).saturating_mul(pieces), (0.0f32, 0.0f32))?;
    let n = parts(ends.len(), nanoseconds(x.len(), ADDITIONS_PER_NS), parallel);
    in_parts(&mut ends, 1, n, parallel, &|some, ends| {
        for (at, ends) in some.zip(ends) {
            let (from, piece) = (at / pieces * len, at % pieces * PIECE);
            *ends = isa.range(&x[from..][piece..len.min(piece + PIECE)]);
        }
    });
    let join = |all: &[(f32, f32)]| {
        let ends = all.iter().fold((0.0f32, 0.0f32), |(low, high), ends| (low.min(ends.0), high.max(ends.1)));
        Quantum::of_range(ends)
    };
    crate::scratch::collected(ends.chunks_exact(pieces).map(join))
}

/// Contiguous rows of bytes.
pub(crate) struct PlainRows<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) k: usize,
    /// Their quantization; the scale is the epilogue's.
    pub(crate) of: Affine,
}

impl NarrowRows for PlainRows<'_> {
    fn lay(&self, _isa: Isa, rows: Range<usize>, to: &mut [u8], quanta: &mut [Quantum]) {
        quanta.fill(Quantum { scale: 1.0, zero: self.of.unsigned_zero() });
        let each = to.len() / rows.len().max(1);
        for (row, to) in rows.zip(to.chunks_exact_mut(each.max(1))) {
            let (to, rest) = to.split_at_mut(self.k);
            to.copy_from_slice(&self.bytes[row * self.k..][..self.k]);
            flip(to, self.of);
            rest.fill(0);
        }
    }
}

/// Makes bytes unsigned.
pub(crate) fn flip(bytes: &mut [u8], of: Affine) {
    if of.is_signed {
        bytes.iter_mut().for_each(|byte| *byte ^= of.flip());
    }
}

/// Contiguous rows of f32.
pub(crate) struct FloatRows<'a> {
    pub(crate) numbers: &'a [f32],
    pub(crate) k: usize,
    pub(crate) precision: Precision,
    pub(crate) groups: &'a RowQuanta,
}

impl NarrowRows for FloatRows<'_> {
    fn lay(&self, isa: Isa, rows: Range<usize>, to: &mut [u8], quanta: &mut [Quantum]) {
        let each = to.len() / rows.len().max(1);
        let (k, used) = (self.k, self.k * self.precision.size());
        for ((row, to), quantum) in rows.zip(to.chunks_exact_mut(each.max(1))).zip(quanta) {
            let numbers = &self.numbers[row * k..][..k];
            let (to, rest) = to.split_at_mut(used);
            rest.fill(0);
            match self.precision {
                Precision::Bf16 => isa.to_halves(numbers, to.as_chunks_mut().0),
                Precision::Int8 => {
                    *quantum = self.groups.of(row).unwrap_or_else(|| Quantum::of_range(isa.range(numbers)));
                    isa.to_bytes(numbers, *quantum, to);
                }
            }
        }
    }
}
