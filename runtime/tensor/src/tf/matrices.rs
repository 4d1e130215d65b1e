//! Linear algebra on batches of matrices: `[..., rows, columns]` of floats or complex numbers.
//!
//! Matrices are converted to double precision, and results are rounded once.

use super::binary::in_range;
use super::fast::{self, Cx};
use super::linear::{self, Lu, Scalar};
use super::numeric::{Domain, Number};
use super::walk::{broadcast_axes, broadcast_shape, offsets};
use crate::element::with_element;
use crate::error::invalid;
use crate::interrupt::is_interrupted;
use crate::scratch::{collected, copied, filled, push, try_collected};
use crate::{Complex128, DType, Element, HostTensor, Shape, TensorError};

/// Evaluates a block in which `$t` is the double precision type for the dtype: f64 or [`Complex128`].
macro_rules! with_scalar {
    ($op:expr, $dtype:expr, $t:ident => $body:expr) => {
        match $dtype {
            DType::F16 | DType::BF16 | DType::F32 | DType::F64 => {
                type $t = f64;
                $body
            }
            DType::Complex64 | DType::Complex128 => {
                type $t = Complex128;
                $body
            }
            dtype => Err(TensorError::Unsupported { op: $op, dtype }),
        }
    };
}
pub(super) use with_scalar;

/// The batch axes of matrices, and the numbers of rows and columns.
pub(super) fn matrices<'a>(
    op: &'static str,
    what: &'static str,
    x: &'a HostTensor,
) -> Result<(&'a [usize], usize, usize), TensorError> {
    match x.shape().dims() {
        [batch @ .., rows, columns] => Ok((batch, *rows, *columns)),
        _ => invalid(op, format!("`{what}` must have rank >= 2, got shape {}", x.shape())),
    }
}

/// The batch axes and the size of square matrices.
pub(super) fn squares<'a>(
    op: &'static str,
    what: &'static str,
    x: &'a HostTensor,
) -> Result<(&'a [usize], usize), TensorError> {
    match matrices(op, what, x)? {
        (batch, rows, columns) if rows == columns => Ok((batch, rows)),
        _ => invalid(op, format!("`{what}` must be square matrices, got shape {}", x.shape())),
    }
}

pub(super) fn shape(batch: &[usize], last: &[usize]) -> Result<Shape, TensorError> {
    Shape::new(&[batch, last].concat())
}

/// Calls `f` with each matrix of `x` and the matching part of a new tensor of shape `to`. `from_len` and
/// `to_len` are the numbers of elements of the two.
pub(super) fn each<T: Scalar>(
    x: &HostTensor,
    to: Shape,
    (from_len, to_len): (usize, usize),
    cx: &Cx<'_>,
    mut f: impl FnMut(&[T], &mut [T]) -> Result<(), TensorError>,
) -> Result<HostTensor, TensorError> {
    let out = HostTensor::zeros(T::DTYPE, to, cx.allocator)?;
    if out.num_elements() > 0 {
        let wide = fast::cast(x, T::DTYPE, cx)?;
        let (from, mut to) = (wide.read::<T>()?, out.write::<T>()?);
        for (i, to) in to.chunks_exact_mut(to_len).enumerate() {
            f(&from[i * from_len..][..from_len], to)?;
        }
    }
    fast::cast(&out, x.dtype(), cx)
}

/// `Cholesky`: the lower triangular factors of positive definite matrices.
pub fn cholesky(x: &HostTensor, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    let op = "Cholesky";
    let (_, n) = squares(op, "input", x)?;
    with_scalar!(op, x.dtype(), T => each::<T>(x, x.shape().clone(), (n * n, n * n), cx, |from, to| {
        to.copy_from_slice(from);
        if linear::cholesky(to, n) {
            return Ok(());
        }
        let problem = "Cholesky decomposition was not successful: the input might not be positive definite";
        invalid(op, problem.to_owned())
    }))
}

/// `CholeskyGrad`: the gradients of matrices from those of their factors `l`. Only lower triangles are read.
///
/// ```text
/// (S + S^T) / 2, where S = L^-T F L^-1 and F is the lower triangle of L^T dL with half of its diagonal
/// ```
pub fn cholesky_grad(l: &HostTensor, dl: &HostTensor, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    let op = "CholeskyGrad";
    let (_, n) = squares(op, "l", l)?;
    if !matches!(l.dtype(), DType::F32 | DType::F64) {
        return Err(TensorError::Unsupported { op, dtype: l.dtype() });
    }
    dl.expect_dtype("grad", l.dtype())?;
    dl.expect_shape("grad", l.shape())?;
    let out = HostTensor::zeros(DType::F64, l.shape().clone(), cx.allocator)?;
    if out.num_elements() > 0 {
        let (l, dl) = (fast::cast(l, DType::F64, cx)?, fast::cast(dl, DType::F64, cx)?);
        let (l, dl, mut out) = (l.read::<f64>()?, dl.read::<f64>()?, out.write::<f64>()?);
        let pairs = l.chunks_exact(n * n).zip(dl.chunks_exact(n * n));
        for ((l, dl), out) in pairs.zip(out.chunks_exact_mut(n * n)) {
            let mut upper = filled(n * n, 0.0)?;
            linear::adjoint(&lower(l, n)?, n, n, &mut upper);
            let mut part = lower(&linear::product(&upper, &lower(dl, n)?, n)?, n)?;
            part.iter_mut().step_by(n + 1).for_each(|x| *x /= 2.0);
            linear::solve_triangular(&upper, n, false, false, &mut part, n);
            let mut turned = filled(n * n, 0.0)?;
            linear::adjoint(&part, n, n, &mut turned);
            linear::solve_triangular(&upper, n, false, false, &mut turned, n);
            for (i, out) in out.iter_mut().enumerate() {
                *out = (turned[i] + turned[i % n * n + i / n]) / 2.0;
            }
        }
    }
    fast::cast(&out, l.dtype(), cx)
}

/// The lower triangle of a matrix, and zeros.
fn lower(x: &[f64], n: usize) -> Result<Vec<f64>, TensorError> {
    collected(x.iter().enumerate().map(|(i, &x)| if i % n > i / n { 0.0 } else { x }))
}

/// `MatrixDeterminant`. The determinant of an empty matrix is 1.
pub fn determinant(x: &HostTensor, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    let op = "MatrixDeterminant";
    let (batch, n) = squares(op, "input", x)?;
    with_scalar!(op, x.dtype(), T => each::<T>(x, Shape::new(batch)?, (n * n, 1), cx, |from, to| {
        to[0] = Lu::new(from, n)?.determinant();
        Ok(())
    }))
}

/// `LogMatrixDeterminant`: the sign of the determinants, and the logarithm of their absolute values.
pub fn log_determinant(x: &HostTensor, cx: &Cx<'_>) -> Result<[HostTensor; 2], TensorError> {
    let op = "LogMatrixDeterminant";
    let (batch, n) = squares(op, "input", x)?;
    let shape = Shape::new(batch)?;
    with_scalar!(op, x.dtype(), T => {
        let mut logs: Vec<T> = Vec::new();
        let signs = each::<T>(x, shape.clone(), (n * n, 1), cx, |from, to| {
            let (sign, log) = Lu::new(from, n)?.log_determinant();
            to[0] = sign;
            push(&mut logs, T::from_real(log))
        })?;
        let logs = HostTensor::from_slice(shape, &logs, cx.allocator)?;
        Ok([signs, fast::cast(&logs, x.dtype(), cx)?])
    })
}

/// `Lu`: the triangular factors of the matrices, without the ones of the lower one, and for each row of the
/// factors the row of the matrix, as i32 or i64.
pub fn lu(x: &HostTensor, to: DType, cx: &Cx<'_>) -> Result<[HostTensor; 2], TensorError> {
    let op = "Lu";
    let (batch, n) = squares(op, "input", x)?;
    if !matches!(to, DType::I32 | DType::I64) {
        return Err(TensorError::Unsupported { op, dtype: to });
    }
    let order_shape = shape(batch, &[n])?;
    with_scalar!(op, x.dtype(), T => {
        let mut orders: Vec<i64> = Vec::new();
        let factors = each::<T>(x, x.shape().clone(), (n * n, n * n), cx, |from, to| {
            let lu = Lu::new(from, n)?;
            if lu.is_singular() {
                return singular_error(op);
            }
            to.copy_from_slice(lu.factors());
            lu.order().iter().try_for_each(|&row| push(&mut orders, row as i64))
        })?;
        let orders = HostTensor::from_slice(order_shape, &orders, cx.allocator)?;
        Ok([factors, fast::cast(&orders, to, cx)?])
    })
}

/// A copy of a square matrix, or its conjugate transpose if `is_adjoint`.
fn turned<T: Scalar>(x: &[T], n: usize, is_adjoint: bool) -> Result<Vec<T>, TensorError> {
    let mut turned = copied(x)?;
    if is_adjoint {
        linear::adjoint(x, n, n, &mut turned);
    }
    Ok(turned)
}

pub(super) fn singular_error<T>(op: &'static str) -> Result<T, TensorError> {
    invalid(op, "the input matrix is not invertible".to_owned())
}

/// `MatrixInverse`: the inverses of the matrices, or of their conjugate transposes if `is_adjoint`.
pub fn inverse(x: &HostTensor, is_adjoint: bool, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    let op = "MatrixInverse";
    let (_, n) = squares(op, "input", x)?;
    with_scalar!(op, x.dtype(), T => each::<T>(x, x.shape().clone(), (n * n, n * n), cx, |from, to| {
        let lu = Lu::new(&turned(from, n, is_adjoint)?, n)?;
        if lu.is_singular() {
            return singular_error(op);
        }
        let mut unit = filled(n * n, T::ZERO)?;
        unit.iter_mut().step_by(n + 1).for_each(|x| *x = T::ONE);
        lu.solve(&unit, n, to);
        Ok(())
    }))
}

/// The solver of a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solver {
    /// `MatrixSolve`: any matrices.
    General,
    /// `MatrixTriangularSolve`: lower triangular matrices. The other triangle is not read.
    Lower,
    /// `MatrixTriangularSolve`: upper triangular matrices.
    Upper,
}

/// `MatrixSolve` and `MatrixTriangularSolve`: the solutions of systems with right sides `[..., n, columns]`.
/// Batches of triangular systems broadcast.
pub fn solve(
    op: &'static str,
    solver: Solver,
    is_adjoint: bool,
    x: &HostTensor,
    right: &HostTensor,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let (batch, n) = squares(op, "matrix", x)?;
    let (right_batch, rows, columns) = matrices(op, "rhs", right)?;
    right.expect_dtype("rhs", x.dtype())?;
    if rows != n || solver == Solver::General && batch != right_batch {
        let (x, right) = (x.shape(), right.shape());
        return invalid(op, format!("right sides of shape {right} for matrices of shape {x}"));
    }
    let (batch, right_batch) = (Shape::new(batch)?, Shape::new(right_batch)?);
    let all = broadcast_shape(&batch, &right_batch)?;
    let axes = broadcast_axes(&batch, &right_batch, &all);
    let result = shape(all.dims(), &[n, columns])?;
    with_scalar!(op, x.dtype(), T => {
        let out = HostTensor::zeros(T::DTYPE, result, cx.allocator)?;
        if out.num_elements() > 0 {
            let (x, right) = (fast::cast(x, T::DTYPE, cx)?, fast::cast(right, T::DTYPE, cx)?);
            let (x, right, mut out) = (x.read::<T>()?, right.read::<T>()?, out.write::<T>()?);
            let places = offsets(&axes, |axis| axis.a).zip(offsets(&axes, |axis| axis.b));
            for ((a, b), out) in places.zip(out.chunks_exact_mut(n * columns)) {
                let (x, right) = (&x[a * n * n..][..n * n], &right[b * n * columns..][..n * columns]);
                let x = turned(x, n, is_adjoint)?;
                if solver == Solver::General {
                    let lu = Lu::new(&x, n)?;
                    if lu.is_singular() {
                        return singular_error(op);
                    }
                    lu.solve(right, columns, out);
                    continue;
                }
                if (0..n).any(|i| Scalar::abs(x[i * n + i]) == 0.0) {
                    return singular_error(op);
                }
                out.copy_from_slice(right);
                linear::solve_triangular(&x, n, (solver == Solver::Lower) != is_adjoint, false, out, columns);
            }
        }
        fast::cast(&out, right.dtype(), cx)
    })
}

/// The results of a decomposition in double precision. They are rounded when all matrices are written.
pub(super) struct Parts<T> {
    tensors: Vec<HostTensor>,
    _of: std::marker::PhantomData<T>,
}

impl<T: Scalar> Parts<T> {
    /// Calls `f` for each matrix of `x`, which has `n` elements. `f` returns one matrix for each of `shapes`.
    pub(super) fn of_each(
        x: &HostTensor,
        (batch, n): (&[usize], usize),
        shapes: &[&[usize]],
        cx: &Cx<'_>,
        f: impl Fn(&[T]) -> Result<Vec<Vec<T>>, TensorError>,
    ) -> Result<Vec<HostTensor>, TensorError> {
        let zeros = |last: &&[usize]| HostTensor::zeros(T::DTYPE, shape(batch, last)?, cx.allocator);
        let parts = Parts::<T> {
            tensors: shapes.iter().map(zeros).collect::<Result<_, _>>()?,
            _of: std::marker::PhantomData,
        };
        if parts.tensors.iter().any(|part| part.num_elements() > 0) {
            let wide = fast::cast(x, T::DTYPE, cx)?;
            let from = wide.read::<T>()?;
            for i in (0..batch.iter().product()).take_while(|_| !is_interrupted()) {
                for (part, matrix) in parts.tensors.iter().zip(f(&from[i * n..][..n])?) {
                    part.write::<T>()?[i * matrix.len()..][..matrix.len()].copy_from_slice(&matrix);
                }
            }
        }
        parts.tensors.iter().map(|part| fast::cast(part, x.dtype(), cx)).collect()
    }
}

/// `Qr`: the factors Q and R; Q is a full basis if `is_full`.
pub fn qr(x: &HostTensor, is_full: bool, cx: &Cx<'_>) -> Result<Vec<HostTensor>, TensorError> {
    let op = "Qr";
    let (batch, m, n) = matrices(op, "input", x)?;
    let k = if is_full { m } else { m.min(n) };
    with_scalar!(op, x.dtype(), T => Parts::<T>::of_each(x, (batch, m * n), &[&[m, k], &[k, n]], cx, |x| {
        let (q, r) = linear::qr(x, (m, n), k)?;
        Ok(vec![q, r])
    }))
}

/// The empty tensor of a result that is not wanted.
pub(super) fn none(dtype: DType, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    HostTensor::zeros(dtype, Shape::new(&[0])?, cx.allocator)
}

/// `SelfAdjointEigV2`: the eigenvalues of Hermitian matrices in ascending order, and the eigenvectors as
/// columns; an empty tensor unless `has_vectors`. The sign (or phase) of a vector is unspecified.
pub fn self_adjoint_eigen(
    x: &HostTensor,
    has_vectors: bool,
    cx: &Cx<'_>,
) -> Result<Vec<HostTensor>, TensorError> {
    let op = "SelfAdjointEigV2";
    let (batch, n) = squares(op, "input", x)?;
    let shapes: &[&[usize]] = if has_vectors { &[&[n], &[n, n]] } else { &[&[n]] };
    with_scalar!(op, x.dtype(), T => {
        let mut results = Parts::<T>::of_each(x, (batch, n * n), shapes, cx, |x| {
            if !x.iter().all(|x| x.is_finite()) {
                return try_collected([n, n * n].map(|len| filled(len, T::from_real(f64::NAN))));
            }
            let (values, vectors) = linear::eigen(x, n)?;
            Ok(vec![collected(values.into_iter().map(T::from_real))?, vectors])
        })?;
        if !has_vectors {
            results.push(none(x.dtype(), cx)?);
        }
        Ok(results)
    })
}

/// `Svd`: the singular values in descending order, and the left and right vectors as columns; empty tensors
/// unless `has_vectors`. The sign (or phase) of a pair of vectors is unspecified.
pub fn svd(
    x: &HostTensor,
    has_vectors: bool,
    is_full: bool,
    cx: &Cx<'_>,
) -> Result<Vec<HostTensor>, TensorError> {
    let op = "Svd";
    let (batch, m, n) = matrices(op, "input", x)?;
    let (k, is_full) = (m.min(n), is_full && has_vectors);
    let (left, right) = if is_full { (m, n) } else { (k, k) };
    let shapes: &[&[usize]] = if has_vectors { &[&[k], &[m, left], &[n, right]] } else { &[&[k]] };
    with_scalar!(op, x.dtype(), T => {
        let mut results = Parts::<T>::of_each(x, (batch, m * n), shapes, cx, |x| {
            if !x.iter().all(|x| x.is_finite()) {
                let lengths = [k, m * left, n * right];
                return try_collected(lengths.map(|len| filled(len, T::from_real(f64::NAN))));
            }
            let found = linear::singular(x, (m, n), is_full)?;
            Ok(vec![collected(found.values.into_iter().map(T::from_real))?, found.left, found.right])
        })?;
        while results.len() < 3 {
            results.push(none(x.dtype(), cx)?);
        }
        Ok(results)
    })
}

/// `Cross`: the cross products of vectors of three numbers.
pub fn cross(a: &HostTensor, b: &HostTensor, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    let op = "Cross";
    b.expect_dtype("b", a.dtype())?;
    if a.shape() != b.shape() || a.shape().dims().last() != Some(&3) {
        let (a, b) = (a.shape(), b.shape());
        return invalid(
            op,
            format!("shapes {a} and {b}: both must be the same, of vectors of three numbers"),
        );
    }
    let out = HostTensor::allocate(a.dtype(), a.shape().clone(), cx.allocator)?;
    with_element!(a.dtype(), T => {
        if !<T as Number>::Wide::ORDERED {
            return Err(TensorError::Unsupported { op, dtype: a.dtype() });
        }
        let (a, b, mut out) = (a.read::<T>()?, b.read::<T>()?, out.write::<T>()?);
        for ((a, b), out) in a.chunks_exact(3).zip(b.chunks_exact(3)).zip(out.chunks_exact_mut(3)) {
            for (i, out) in out.iter_mut().enumerate() {
                let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                let [to, back] = [(j, k), (k, j)].map(|(j, k)| in_range::<T>(a[j].widen().times(b[k].widen())));
                *out = T::narrow(to.plus(back.negated()));
            }
        }
    });
    Ok(out)
}
