//! Contractions of two tensors: `MatMul`, `BatchMatMul`, and the building block of `Einsum`.
//!
//! ```text
//! out[free...] = sum over summed... of a[free..., summed...] * b[free..., summed...]
//! ```
//!
//! An [`Axis`] has a length and a stride in each operand; the stride is 0 if the operand lacks the axis or is
//! repeated along it. So transpositions, batches, broadcasting and diagonals are all expressed by strides.
//! Products are summed in order in the wide type of `numeric.rs` and rounded once. Every dtype except i1.
//!
//! Not here: speed (`crate::matmul`, `crate::math`).

use std::sync::Arc;

use super::numeric::{Domain, Number};
use super::walk::{Axis, broadcast_shape, offsets, repeating, strides};
use crate::element::with_element;
use crate::interrupt::{STEPS, is_interrupted};
use crate::mem::Allocator;
use crate::scratch::collected;
use crate::{DType, HostTensor, Shape, TensorError};

/// Fills a tensor with sums of `term(offset in a, offset in b)`. Each axis of `summed` exists in at least one
/// operand.
pub(super) fn contract<T: Number>(
    out: &HostTensor,
    free: &[Axis],
    summed: &[Axis],
    term: impl Fn(usize, usize) -> T::Wide,
) -> Result<(), TensorError> {
    if out.num_elements() == 0 {
        return Ok(());
    }
    if summed.iter().any(|axis| axis.len == 0) {
        out.write::<T>()?.fill(T::narrow(T::Wide::ZERO));
        return Ok(());
    }
    let (last, rows) = match summed.split_last() {
        Some((&last, rows)) => (last, rows),
        None => (Axis { len: 1, a: 0, b: 0 }, summed),
    };
    // At most as many entries as an operand has elements.
    let rows = collected(offsets(rows, |axis| axis.a).zip(offsets(rows, |axis| axis.b)))?;
    let outer = offsets(free, |axis| axis.a).zip(offsets(free, |axis| axis.b));
    let mut left = STEPS;
    for (out, (a, b)) in out.write::<T>()?.iter_mut().zip(outer) {
        let mut sum = T::Wide::ZERO;
        for &(row_a, row_b) in &rows {
            left = match left.checked_sub(last.len) {
                Some(left) => left,
                None if is_interrupted() => return Ok(()),
                None => STEPS,
            };
            for i in 0..last.len {
                sum = sum.plus(term(a + row_a + i * last.a, b + row_b + i * last.b));
            }
        }
        *out = T::narrow(sum);
    }
    Ok(())
}

/// The axes of a contraction: those of the result, and those summed over.
pub(super) struct Contraction {
    pub(super) shape: Shape,
    pub(super) free: Vec<Axis>,
    pub(super) summed: Vec<Axis>,
}

/// The contraction of two tensors of one dtype.
pub(super) fn multiply(
    op: &'static str,
    (a, conjugate_a): (&HostTensor, bool),
    (b, conjugate_b): (&HostTensor, bool),
    Contraction { shape, free, summed }: Contraction,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let (free, summed) = (&free[..], &summed[..]);
    b.expect_dtype("b", a.dtype())?;
    if a.dtype() == DType::I1 {
        return Err(TensorError::Unsupported { op, dtype: DType::I1 });
    }
    let out = HostTensor::allocate(a.dtype(), shape, allocator)?;
    with_element!(a.dtype(), T => {
        let (left, right) = (a.read::<T>()?, b.read::<T>()?);
        let (left, right): (&[T], &[T]) = (&left, &right);
        contract::<T>(&out, free, summed, |i, j| {
            let (x, y) = (left[i].widen(), right[j].widen());
            let x = if conjugate_a { x.conjugated() } else { x };
            x.times(if conjugate_b { y.conjugated() } else { y })
        })?;
    });
    Ok(out)
}

/// The form in which an operand's matrices enter a product.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transposition {
    /// Unchanged.
    #[default]
    None,
    /// Transposed: `transpose_a`, `transpose_b` of `MatMul`.
    Transpose,
    /// Transposed and conjugated: `adj_x`, `adj_y` of `BatchMatMul`.
    Adjoint,
}

/// A tensor as a batch of matrices. The matrices are the last two axes, possibly transposed; the axes before
/// them are the batch.
struct Matrices {
    batch: Shape,
    /// The number of rows and their stride.
    rows: (usize, usize),
    /// The number of columns and their stride.
    cols: (usize, usize),
    strides: Vec<usize>,
}

impl Matrices {
    fn new(what: &'static str, x: &HostTensor, trans: Transposition) -> Result<Matrices, TensorError> {
        let &[ref batch @ .., rows, cols] = x.shape().dims() else {
            return Err(TensorError::Rank { what, want: 2, got: x.shape().clone() });
        };
        let (down, across) = ((rows, cols.max(1)), (cols, 1));
        let (rows, cols) = if trans == Transposition::None { (down, across) } else { (across, down) };
        Ok(Matrices { batch: Shape::new(batch)?, rows, cols, strides: strides(x.shape()) })
    }

    /// The stride along axis `i` of a batch of rank `rank`, to which the batch of this tensor broadcasts.
    fn step(&self, i: usize, rank: usize) -> usize {
        let own = (i + self.batch.rank()).checked_sub(rank);
        own.map_or(0, |i| repeating(self.batch.dims()[i], self.strides[i]))
    }
}

/// Returns an error unless both have rank 2.
pub(super) fn expect_matrices(a: &HostTensor, b: &HostTensor) -> Result<(), TensorError> {
    for (what, x) in [("a", a), ("b", b)] {
        if x.shape().rank() != 2 {
            return Err(TensorError::Rank { what, want: 2, got: x.shape().clone() });
        }
    }
    Ok(())
}

/// `MatMul` of two matrices.
pub fn matmul(
    a: &HostTensor,
    trans_a: Transposition,
    b: &HostTensor,
    trans_b: Transposition,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    expect_matrices(a, b)?;
    let sums = sums_of("MatMul", (a, trans_a), (b, trans_b))?;
    multiply("MatMul", (a, conjugates(trans_a)), (b, conjugates(trans_b)), sums, allocator)
}

/// True if an operand's elements are conjugated.
pub(super) fn conjugates(trans: Transposition) -> bool {
    trans == Transposition::Adjoint
}

/// `BatchMatMulV2`: products of the matrices in the last two axes; the axes before them broadcast. Fails
/// below rank 2.
pub fn batch_matmul(
    a: &HostTensor,
    trans_a: Transposition,
    b: &HostTensor,
    trans_b: Transposition,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let (op, sums) = ("BatchMatMulV2", sums_of("BatchMatMulV2", (a, trans_a), (b, trans_b))?);
    multiply(op, (a, conjugates(trans_a)), (b, conjugates(trans_b)), sums, allocator)
}

/// The contraction of the matrices in the last two axes; the axes before them broadcast.
pub(super) fn sums_of(
    op: &'static str,
    (a, trans_a): (&HostTensor, Transposition),
    (b, trans_b): (&HostTensor, Transposition),
) -> Result<Contraction, TensorError> {
    let (left, right) = (Matrices::new("a", a, trans_a)?, Matrices::new("b", b, trans_b)?);
    if left.cols.0 != right.rows.0 {
        let problem = format!(
            "the inner dimensions {} and {} differ: shapes {} ({trans_a:?}) and {} ({trans_b:?})",
            left.cols.0,
            right.rows.0,
            a.shape(),
            b.shape()
        );
        return Err(TensorError::Invalid { op, problem });
    }
    let batch = broadcast_shape(&left.batch, &right.batch)?;
    let shape = Shape::new(&[batch.dims(), &[left.rows.0, right.cols.0]].concat())?;
    let rank = batch.rank();
    let mut free: Vec<Axis> = batch
        .dims()
        .iter()
        .enumerate()
        .map(|(i, &len)| Axis { len, a: left.step(i, rank), b: right.step(i, rank) })
        .collect();
    free.push(Axis { len: left.rows.0, a: left.rows.1, b: 0 });
    free.push(Axis { len: right.cols.0, a: 0, b: right.cols.1 });
    let summed = vec![Axis { len: left.cols.0, a: left.cols.1, b: right.rows.1 }];
    Ok(Contraction { shape, free, summed })
}
