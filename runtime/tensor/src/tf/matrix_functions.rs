//! Least squares, eigenvalues of any matrices, and functions of matrices, on batches `[..., rows, columns]`.
//!
//! As in `matrices.rs`, matrices are converted to double precision and results are rounded once.

use super::bands::precision;
use super::fast::{self, Cx};
use super::linear::{self, Scalar, adjoint, multiply, solve_triangular};
use super::matrices::{each, matrices, none, shape, squares, with_scalar};
use super::schur::{self, Schur};
use crate::error::invalid;
use crate::interrupt::is_interrupted;
use crate::scratch::{collected, copied, filled};
use crate::sort::stable_sort;
use crate::{Complex128, DType, Element, HostTensor, TensorError};

/// The solution of least squares by normal equations: `(A^H A + r)^-1 A^H B`, or `A^H (A A^H + r)^-1 B` for
/// matrices wider than high.
fn normal_solution<T: Scalar>(
    a: &[T],
    (m, n): (usize, usize),
    right: &[T],
    columns: usize,
    regularizer: f64,
    to: &mut [T],
) -> Result<(), TensorError> {
    let mut turned = filled(n * m, T::ZERO)?;
    adjoint(a, m, n, &mut turned);
    let is_high = m >= n;
    let k = m.min(n);
    let mut gramian = filled(k * k, T::ZERO)?;
    if is_high {
        multiply(&turned, a, (n, m, n), &mut gramian);
    } else {
        multiply(a, &turned, (m, n, m), &mut gramian);
    }
    gramian.iter_mut().step_by(k + 1).for_each(|x| *x = x.plus(T::from_real(regularizer)));
    if !linear::cholesky(&mut gramian, k) {
        let problem = "the matrix is rank deficient or ill-conditioned: `fast` must be false, or a larger \
                       `l2_regularizer` given";
        return invalid("MatrixSolveLs", problem.to_owned());
    }
    let mut back = filled(k * k, T::ZERO)?;
    adjoint(&gramian, k, k, &mut back);
    let solve = |right: &mut [T]| {
        solve_triangular(&gramian, k, true, false, right, columns);
        solve_triangular(&back, k, false, false, right, columns);
    };
    if is_high {
        multiply(&turned, right, (n, m, columns), to);
        solve(to);
    } else {
        let mut solved = copied(right)?;
        solve(&mut solved);
        multiply(&turned, &solved, (n, m, columns), to);
    }
    Ok(())
}

/// The solution of least squares with the smallest norm, by singular values. Those that are zero up to
/// `negligible` of the largest one are left out.
fn smallest_solution<T: Scalar>(
    a: &[T],
    (m, n): (usize, usize),
    right: &[T],
    columns: usize,
    negligible: f64,
    to: &mut [T],
) -> Result<(), TensorError> {
    if !a.iter().all(|x| x.is_finite()) {
        to.fill(T::from_real(f64::NAN));
        return Ok(());
    }
    let k = m.min(n);
    let found = linear::singular(a, (m, n), false)?;
    let mut turned = filled(k * m, T::ZERO)?;
    adjoint(&found.left, m, k, &mut turned);
    let mut middle = filled(k * columns, T::ZERO)?;
    multiply(&turned, right, (k, m, columns), &mut middle);
    let least = found.values.first().map_or(0.0, |largest| largest * negligible);
    for (row, &value) in middle.chunks_exact_mut(columns).zip(&found.values) {
        let factor = if value > least { 1.0 / value } else { 0.0 };
        row.iter_mut().for_each(|x| *x = x.scaled(factor));
    }
    multiply(&found.right, &middle, (n, k, columns), to);
    Ok(())
}

/// `MatrixSolveLs`: the solutions of least squares `|A X - B|^2 + r |X|^2` with right sides
/// `[..., rows, columns]`; by normal equations if `is_fast`. Otherwise those of the smallest norm, and the
/// regularizer `r` is not used.
pub fn solve_least_squares(
    x: &HostTensor,
    right: &HostTensor,
    regularizer: &HostTensor,
    is_fast: bool,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "MatrixSolveLs";
    let (batch, m, n) = matrices(op, "matrix", x)?;
    let (right_batch, rows, columns) = matrices(op, "rhs", right)?;
    right.expect_dtype("rhs", x.dtype())?;
    if batch != right_batch || rows != m {
        let (x, right) = (x.shape(), right.shape());
        return invalid(op, format!("right sides of shape {right} for matrices of shape {x}"));
    }
    let regularizer = match (regularizer.shape().rank(), &*regularizer.read::<f64>()?) {
        (0, &[value]) if value >= 0.0 => value,
        (0, &[value]) => return invalid(op, format!("`l2_regularizer` is {value}")),
        _ => return invalid(op, format!("`l2_regularizer` has shape {}", regularizer.shape())),
    };
    let negligible = precision(x.dtype()).0 * m.min(n) as f64;
    let result = shape(batch, &[n, columns])?;
    with_scalar!(op, x.dtype(), T => {
        let out = HostTensor::zeros(T::DTYPE, result, cx.allocator)?;
        if out.num_elements() > 0 && m > 0 {
            let (x, right) = (fast::cast(x, T::DTYPE, cx)?, fast::cast(right, T::DTYPE, cx)?);
            let (x, right, mut out) = (x.read::<T>()?, right.read::<T>()?, out.write::<T>()?);
            let systems = x.chunks_exact(m * n).zip(right.chunks_exact(m * columns));
            for ((x, right), out) in systems.zip(out.chunks_exact_mut(n * columns)) {
                if is_fast {
                    normal_solution::<T>(x, (m, n), right, columns, regularizer, out)?;
                } else {
                    smallest_solution::<T>(x, (m, n), right, columns, negligible, out)?;
                }
            }
        }
        fast::cast(&out, right.dtype(), cx)
    })
}

/// `SelfAdjointEig`: the eigenvalues of Hermitian matrices as a row above the eigenvectors.
pub fn self_adjoint_eigen_rows(x: &HostTensor, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    let op = "SelfAdjointEig";
    let (batch, n) = squares(op, "input", x)?;
    let result = shape(batch, &[n.checked_add(1).ok_or(TensorError::TooLarge)?, n])?;
    with_scalar!(op, x.dtype(), T => each::<T>(x, result, (n * n, (n + 1) * n), cx, |from, to| {
        if !from.iter().all(|x| x.is_finite()) {
            to.fill(T::from_real(f64::NAN));
            return Ok(());
        }
        let (values, vectors) = linear::eigen(from, n)?;
        let (row, below) = to.split_at_mut(n);
        row.iter_mut().zip(&values).for_each(|(to, value)| *to = T::from_real(*value));
        below.copy_from_slice(&vectors);
        Ok(())
    }))
}

/// `Eig`: the eigenvalues of any square matrices, and the eigenvectors as columns of norm 1; an empty tensor
/// unless `has_vectors`. Eigenvalues of complex matrices are sorted by their absolute values. The order of
/// those of real matrices, and the phase of a vector, are unspecified.
pub fn eigen(
    x: &HostTensor,
    has_vectors: bool,
    to: DType,
    cx: &Cx<'_>,
) -> Result<[HostTensor; 2], TensorError> {
    let op = "Eig";
    let (batch, n) = squares(op, "input", x)?;
    let is_complex = matches!(x.dtype(), DType::Complex64 | DType::Complex128);
    let expected = match x.dtype() {
        DType::F64 | DType::Complex128 => DType::Complex128,
        _ => DType::Complex64,
    };
    if to != expected {
        return invalid(op, format!("results of {to} for an operand of {}", x.dtype()));
    }
    let (values_shape, vectors_shape) = (shape(batch, &[n])?, shape(batch, &[n, n])?);
    with_scalar!(op, x.dtype(), T => {
        let values = HostTensor::zeros(DType::Complex128, values_shape, cx.allocator)?;
        let vectors = match has_vectors {
            true => HostTensor::zeros(DType::Complex128, vectors_shape, cx.allocator)?,
            false => none(DType::Complex128, cx)?,
        };
        if x.num_elements() > 0 {
            let wide = fast::cast(x, T::DTYPE, cx)?;
            let from = wide.read::<T>()?;
            let (mut to, mut to_vectors) = (values.write::<Complex128>()?, vectors.write::<Complex128>()?);
            let matrices = from.chunks_exact(n * n).zip(to.chunks_exact_mut(n)).enumerate();
            for (i, (from, to)) in matrices.take_while(|_| !is_interrupted()) {
                let Some(schur) = Schur::new(from, n)? else {
                    return invalid(op, "the eigenvalues were not found: the input might not be valid".to_owned());
                };
                let mut order = collected(0..n)?;
                let found = collected(schur.values())?;
                if is_complex {
                    let size = |i: usize| Scalar::abs(found[i]);
                    stable_sort(&mut order, |&i, &j| size(i).total_cmp(&size(j)))?;
                }
                to.iter_mut().zip(&order).for_each(|(to, &i)| *to = found[i]);
                if has_vectors {
                    let found = schur.vectors()?;
                    let to = &mut to_vectors[i * n * n..][..n * n];
                    to.iter_mut().enumerate().for_each(|(at, to)| *to = found[at / n * n + order[at % n]]);
                }
            }
        }
        Ok([fast::cast(&values, to, cx)?, fast::cast(&vectors, to, cx)?])
    })
}

/// A function of square matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixFunction {
    /// `MatrixExponential`.
    Exponential,
    /// `MatrixLogarithm`: the principal one, of complex matrices.
    Logarithm,
    /// `MatrixSquareRoot`: the principal one. It is not a number for real matrices with negative eigenvalues.
    SquareRoot,
}

/// The imaginary parts of a square root with real elements, by its largest element.
const MAX_IMAGINARY: f64 = 1e-6;

impl MatrixFunction {
    fn of<T: Scalar>(self, x: &[T], n: usize) -> Result<Vec<T>, TensorError> {
        if self == MatrixFunction::Exponential {
            return schur::exponential(x, n);
        }
        let not_a_number = || filled(n * n, T::from_complex(Complex128 { re: f64::NAN, im: f64::NAN }));
        let Some(schur) = Schur::new(x, n)? else { return not_a_number() };
        if self == MatrixFunction::Logarithm {
            return collected(schur.logarithm()?.into_iter().map(T::from_complex));
        }
        let root = schur.square_root()?;
        let largest = root.iter().map(|x| Scalar::abs(*x)).fold(0.0, f64::max);
        let lost = |x: &Complex128| Scalar::abs(x.minus(T::from_complex(*x).to_complex()));
        if root.iter().map(lost).fold(0.0, f64::max) > largest * MAX_IMAGINARY {
            return not_a_number();
        }
        collected(root.into_iter().map(T::from_complex))
    }
}

/// A function of each of the square matrices.
pub fn matrix_function(
    op: &'static str,
    function: MatrixFunction,
    x: &HostTensor,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let (_, n) = squares(op, "input", x)?;
    let is_complex = matches!(x.dtype(), DType::Complex64 | DType::Complex128);
    if function == MatrixFunction::Logarithm && !is_complex {
        return Err(TensorError::Unsupported { op, dtype: x.dtype() });
    }
    with_scalar!(op, x.dtype(), T => each::<T>(x, x.shape().clone(), (n * n, n * n), cx, |from, to| {
        to.copy_from_slice(&function.of(from, n)?);
        Ok(())
    }))
}
