//! Systems of equations with few diagonals: tridiagonal and banded triangular matrices.
//!
//! ```text
//! TridiagonalSolve        diagonals [..., 3, n]    above the main one, main, below
//! TridiagonalMatMul       three operands [..., 1, n] in this order
//! BandedTriangularSolve   bands [..., k, n]        lower: the main one first; upper: the main one last
//! ```
//!
//! A diagonal has the element of each row of its matrix: the last elements of one above the main diagonal,
//! and the first ones of one below, are not read. As the decompositions, these compute in double precision
//! and round once.

use super::fast::{self, Cx};
use super::linear::Scalar;
use super::matrices::{matrices, shape, singular_error, with_scalar};
use super::numeric::Domain;
use super::walk::{broadcast_axes, broadcast_shape, offsets};
use crate::error::invalid;
use crate::interrupt::is_interrupted;
use crate::scratch::filled;
use crate::{Complex128, DType, Element, HostTensor, Shape, TensorError};

/// The order of the elimination of a tridiagonal system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pivoting {
    /// Rows stay in their order.
    None,
    /// A row may be exchanged with the next one.
    Partial,
    /// Likewise, and pivots near zero are moved away from it.
    Perturbed,
}

/// The distance from 1 to the next number of a dtype, and its smallest normal number.
pub(super) fn precision(dtype: DType) -> (f64, f64) {
    match dtype {
        DType::F16 => (half::f16::EPSILON.to_f64(), half::f16::MIN_POSITIVE.to_f64()),
        DType::BF16 => (half::bf16::EPSILON.to_f64(), half::bf16::MIN_POSITIVE.to_f64()),
        DType::F32 | DType::Complex64 => (f32::EPSILON.into(), f32::MIN_POSITIVE.into()),
        _ => (f64::EPSILON, f64::MIN_POSITIVE),
    }
}

/// A pivot near zero, and the right sides of its row, changed such that their quotients are finite.
fn perturbed<T: Scalar>(pivot: &mut T, right: &mut [T], by: f64, tiny: f64) {
    let largest = right.iter().map(|x| x.abs()).fold(0.0, f64::max);
    let mut by = by.max(tiny).copysign(pivot.real());
    while pivot.abs() < 1.0 {
        let size = pivot.abs();
        let is_too_small =
            if size < tiny { size == 0.0 || largest * tiny > size } else { largest * tiny > size };
        if is_too_small {
            *pivot = pivot.plus(T::from_real(by));
            by *= 2.0;
        } else {
            if size < tiny {
                *pivot = pivot.scaled(1.0 / tiny);
                right.iter_mut().for_each(|x| *x = x.scaled(1.0 / tiny));
            }
            return;
        }
    }
}

/// Solves a tridiagonal system in place of its right sides `[n, columns]`. Returns false for a pivot of zero.
fn solve_tridiagonal<T: Scalar>(
    [above, main, below]: [&[T]; 3],
    right: &mut [T],
    columns: usize,
    pivoting: Pivoting,
    (epsilon, tiny): (f64, f64),
) -> Result<bool, TensorError> {
    let n = main.len();
    // The upper factor: the pivot of each row, and the two elements after it.
    let mut upper = filled(n, [T::ZERO; 3])?;
    upper[0] = [main[0], above[0], T::ZERO];
    let sum = |row: &[T]| row.iter().map(|x| x.abs()).sum::<f64>();
    // The size of the current row as it was given.
    let mut scale = sum(if n > 1 { &upper[0][..2] } else { &upper[0][..1] });
    for i in 1..n {
        let after = if i + 1 < n { above[i] } else { T::ZERO };
        let (row, next) = (upper[i - 1], [below[i], main[i], after]);
        let next_scale = sum(&next);
        let is_exchanged = match pivoting {
            Pivoting::None => false,
            Pivoting::Partial => row[0].abs() < next[0].abs(),
            Pivoting::Perturbed if next[0].abs() == 0.0 => false,
            Pivoting::Perturbed => row[0].abs() == 0.0 || next[0].abs() / next_scale > row[0].abs() / scale,
        };
        if !is_exchanged {
            scale = next_scale;
        }
        let (first, second) = if is_exchanged { (next, row) } else { (row, next) };
        if first[0].abs() == 0.0 && pivoting != Pivoting::Perturbed {
            return Ok(false);
        }
        let factor = if second[0].abs() == 0.0 { T::ZERO } else { second[0].quotient(first[0]) };
        upper[i - 1] = first;
        upper[i] =
            [second[1].minus(factor.times(first[1])), second[2].minus(factor.times(first[2])), T::ZERO];
        let (above, below) = right.split_at_mut(i * columns);
        for (a, b) in above[(i - 1) * columns..].iter_mut().zip(&mut below[..columns]) {
            if is_exchanged {
                std::mem::swap(a, b);
            }
            *b = b.minus(factor.times(*a));
        }
    }
    if upper[n - 1][0].abs() == 0.0 && pivoting != Pivoting::Perturbed {
        return Ok(false);
    }
    // The size that TensorFlow takes: without the last row but one.
    let given = [main[0], if n > 1 { above[0] } else { T::ZERO }, upper[n - 1][0]];
    let sizes = upper[..n.saturating_sub(2)].iter().flatten().chain(&given).map(|x| x.abs());
    let largest = sizes.fold(0.0, f64::max);
    for i in (0..n).rev() {
        let (row, after) = right[i * columns..].split_at_mut(columns);
        for (factor, known) in upper[i][1..].iter().zip(after.chunks_exact(columns.max(1))) {
            row.iter_mut().zip(known).for_each(|(x, known)| *x = x.minus(factor.times(*known)));
        }
        let mut pivot = upper[i][0];
        if pivoting == Pivoting::Perturbed {
            perturbed(&mut pivot, row, epsilon * largest, tiny);
        }
        row.iter_mut().for_each(|x| *x = x.quotient(pivot));
    }
    Ok(true)
}

/// `TridiagonalSolve`: the solutions of systems with right sides `[..., n, columns]`. They are not numbers
/// where a pivot is zero.
pub fn tridiagonal_solve(
    diagonals: &HostTensor,
    right: &HostTensor,
    pivoting: Pivoting,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "TridiagonalSolve";
    right.expect_dtype("rhs", diagonals.dtype())?;
    let (batch, n_diagonals, n) = matrices(op, "diagonals", diagonals)?;
    let (right_batch, rows, columns) = matrices(op, "rhs", right)?;
    if n_diagonals != 3 || rows != n || batch != right_batch {
        let (diagonals, right) = (diagonals.shape(), right.shape());
        return invalid(op, format!("right sides of shape {right} for diagonals of shape {diagonals}"));
    }
    with_scalar!(op, right.dtype(), T => {
        let out = HostTensor::zeros(T::DTYPE, right.shape().clone(), cx.allocator)?;
        if out.num_elements() > 0 {
            let (diagonals, given) = (fast::cast(diagonals, T::DTYPE, cx)?, fast::cast(right, T::DTYPE, cx)?);
            let (diagonals, given, mut out) = (diagonals.read::<T>()?, given.read::<T>()?, out.write::<T>()?);
            out.copy_from_slice(&given);
            let systems = diagonals.chunks_exact(3 * n).zip(out.chunks_exact_mut(n * columns));
            for (diagonals, out) in systems.take_while(|_| !is_interrupted()) {
                let diagonals = [0, 1, 2].map(|i| &diagonals[i * n..][..n]);
                if !solve_tridiagonal(diagonals, out, columns, pivoting, precision(right.dtype()))? {
                    out.fill(T::from_real(f64::NAN));
                }
            }
        }
        fast::cast(&out, right.dtype(), cx)
    })
}

/// `TridiagonalMatMul`: the products of tridiagonal matrices with matrices `[..., n, columns]`.
pub fn tridiagonal_matmul(
    diagonals: [&HostTensor; 3],
    right: &HostTensor,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "TridiagonalMatMul";
    let (batch, n, columns) = matrices(op, "rhs", right)?;
    let expected = shape(batch, &[1, n])?;
    for diagonal in diagonals {
        diagonal.expect_dtype("diagonal", right.dtype())?;
        if *diagonal.shape() != expected {
            let (diagonal, right) = (diagonal.shape(), right.shape());
            return invalid(op, format!("a diagonal of shape {diagonal} for right sides of shape {right}"));
        }
    }
    with_scalar!(op, right.dtype(), T => {
        let out = HostTensor::zeros(T::DTYPE, right.shape().clone(), cx.allocator)?;
        if out.num_elements() > 0 {
            let [above, main, below] = diagonals.map(|x| fast::cast(x, T::DTYPE, cx));
            let (above, main, below, given) = (above?, main?, below?, fast::cast(right, T::DTYPE, cx)?);
            let (above, main, below) = (above.read::<T>()?, main.read::<T>()?, below.read::<T>()?);
            let (given, mut out) = (given.read::<T>()?, out.write::<T>()?);
            for (row, out) in out.chunks_exact_mut(columns).enumerate() {
                let i = row % n;
                let add = |out: &mut [T], factor: T, from: usize| {
                    let from = &given[from * columns..][..columns];
                    out.iter_mut().zip(from).for_each(|(out, x)| *out = out.plus(factor.times(*x)));
                };
                add(out, main[row], row);
                if i > 0 {
                    add(out, below[row], row - 1);
                }
                if i + 1 < n {
                    add(out, above[row], row + 1);
                }
            }
        }
        fast::cast(&out, right.dtype(), cx)
    })
}

/// `BandedTriangularSolve`: the solutions of systems with right sides `[..., n, columns]`, whose matrices
/// have the bands `[..., k, n]`; of the conjugate transposes if `is_adjoint`. Batches broadcast. As in
/// TensorFlow, a zero on the main diagonal is an error in the first matrix only.
pub fn banded_triangular_solve(
    bands: &HostTensor,
    right: &HostTensor,
    is_lower: bool,
    is_adjoint: bool,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "BandedTriangularSolve";
    right.expect_dtype("rhs", bands.dtype())?;
    let (batch, k, n) = matrices(op, "matrix", bands)?;
    let (right_batch, rows, columns) = matrices(op, "rhs", right)?;
    if rows != n || bands.num_elements() == 0 || right.num_elements() == 0 {
        let (bands, right) = (bands.shape(), right.shape());
        return invalid(op, format!("right sides of shape {right} for bands of shape {bands}"));
    }
    let (batch, right_batch) = (Shape::new(batch)?, Shape::new(right_batch)?);
    let all = broadcast_shape(&batch, &right_batch)?;
    let axes = broadcast_axes(&batch, &right_batch, &all);
    let result = shape(all.dims(), &[n, columns])?;
    // The band at a distance from the main diagonal.
    let band = |distance: usize| if is_lower { distance } else { k - 1 - distance };
    with_scalar!(op, bands.dtype(), T => {
        let out = HostTensor::zeros(T::DTYPE, result, cx.allocator)?;
        let (bands, given) = (fast::cast(bands, T::DTYPE, cx)?, fast::cast(right, T::DTYPE, cx)?);
        let (bands, given, mut to) = (bands.read::<T>()?, given.read::<T>()?, out.write::<T>()?);
        if bands[band(0) * n..][..n].iter().any(|x| Scalar::abs(*x) == 0.0) {
            return singular_error(op);
        }
        let places = offsets(&axes, |axis| axis.a).zip(offsets(&axes, |axis| axis.b));
        for ((a, b), to) in places.zip(to.chunks_exact_mut(n * columns)) {
            let bands = &bands[a * k * n..][..k * n];
            to.copy_from_slice(&given[b * n * columns..][..n * columns]);
            // The element of the triangular matrix that is solved, at row i and column j.
            let element = |i: usize, j: usize| match is_adjoint {
                false => bands[band(i.abs_diff(j)) * n + i],
                true => bands[band(i.abs_diff(j)) * n + j].conjugated(),
            };
            let goes_down = is_lower != is_adjoint;
            for step in (0..n).take_while(|_| !is_interrupted()) {
                let i = if goes_down { step } else { n - 1 - step };
                let known = if goes_down { i.saturating_sub(k - 1)..i } else { i + 1..n.min(i.saturating_add(k)) };
                for j in known {
                    let factor = element(i, j);
                    for c in 0..columns {
                        to[i * columns + c] = to[i * columns + c].minus(factor.times(to[j * columns + c]));
                    }
                }
                let pivot = element(i, i);
                to[i * columns..][..columns].iter_mut().for_each(|x| *x = x.quotient(pivot));
            }
        }
        drop(to);
        fast::cast(&out, right.dtype(), cx)
    })
}
