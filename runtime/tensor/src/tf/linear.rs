//! Decompositions of matrices of real and complex numbers in double precision.
//!
//! ```text
//! Cholesky        L L^H            one column after the other
//! Lu              P L U            partial pivoting; determinants, inverses and solutions
//! qr              Q R              Householder's reflections, with a real diagonal of R
//! eigen           V diag(e) V^H    Jacobi's rotations of the whole matrix
//! singular        U diag(s) V^H    Jacobi's rotations of columns
//! ```
//!
//! Functions of any square matrices are in `schur.rs`, systems of few diagonals in `bands.rs`.
//!
//! Matrices are row-major slices. The rotations are slower than the usual reductions for large matrices, and
//! more accurate for small numbers.

use std::fmt::Debug;

use super::complex::complex_div;
use super::numeric::Domain;
use crate::interrupt::is_interrupted;
use crate::scratch::{collected, copied, filled, push, with_room};
use crate::sort::stable_sort;
use crate::{Complex128, Element, TensorError};

/// A number of a matrix.
pub(super) trait Scalar: Domain + Element + Debug {
    fn from_real(x: f64) -> Self;
    fn real(self) -> f64;
    fn quotient(self, by: Self) -> Self;
    fn abs(self) -> f64;
    fn minus(self, other: Self) -> Self {
        self.plus(other.negated())
    }
    fn scaled(self, by: f64) -> Self {
        self.times(Self::from_real(by))
    }
    fn is_finite(self) -> bool {
        self.abs() < f64::INFINITY
    }
    fn to_complex(self) -> Complex128;
    /// Real numbers take the real part.
    fn from_complex(x: Complex128) -> Self;
}

impl Scalar for f64 {
    fn from_real(x: f64) -> f64 {
        x
    }
    fn real(self) -> f64 {
        self
    }
    fn quotient(self, by: f64) -> f64 {
        self / by
    }
    fn abs(self) -> f64 {
        f64::abs(self)
    }
    fn to_complex(self) -> Complex128 {
        Complex128 { re: self, im: 0.0 }
    }
    fn from_complex(x: Complex128) -> f64 {
        x.re
    }
}

impl Scalar for Complex128 {
    fn from_real(re: f64) -> Complex128 {
        Complex128 { re, im: 0.0 }
    }
    fn real(self) -> f64 {
        self.re
    }
    fn quotient(self, by: Complex128) -> Complex128 {
        complex_div(self, by)
    }
    fn abs(self) -> f64 {
        self.re.hypot(self.im)
    }
    fn to_complex(self) -> Complex128 {
        self
    }
    fn from_complex(x: Complex128) -> Complex128 {
        x
    }
}

/// The conjugate transpose of a matrix of `rows` by `columns`, into `to`.
pub(super) fn adjoint<T: Scalar>(x: &[T], rows: usize, columns: usize, to: &mut [T]) {
    for i in 0..rows {
        for j in 0..columns {
            to[j * rows + i] = x[i * columns + j].conjugated();
        }
    }
}

pub(super) fn identity<T: Scalar>(n: usize) -> Result<Vec<T>, TensorError> {
    let mut x = filled(n * n, T::ZERO)?;
    x.iter_mut().step_by(n + 1).for_each(|x| *x = T::ONE);
    Ok(x)
}

/// The product of two square matrices.
pub(super) fn product<T: Scalar>(a: &[T], b: &[T], n: usize) -> Result<Vec<T>, TensorError> {
    let mut out = filled(n * n, T::ZERO)?;
    multiply(a, b, (n, n, n), &mut out);
    Ok(out)
}

/// Adds the product of matrices `[rows, inner]` and `[inner, columns]` to `out`.
pub(super) fn multiply<T: Scalar>(
    a: &[T],
    b: &[T],
    (rows, inner, columns): (usize, usize, usize),
    out: &mut [T],
) {
    for i in (0..rows).take_while(|_| !is_interrupted()) {
        let out = &mut out[i * columns..][..columns];
        for (k, a) in a[i * inner..][..inner].iter().enumerate() {
            for (out, b) in out.iter_mut().zip(&b[k * columns..][..columns]) {
                *out = out.plus(a.times(*b));
            }
        }
    }
}

/// Replaces a Hermitian matrix by its lower triangular Cholesky factor. Only the lower triangle is read.
/// Returns false if the matrix is not positive definite.
pub(super) fn cholesky<T: Scalar>(x: &mut [T], n: usize) -> bool {
    for j in (0..n).take_while(|_| !is_interrupted()) {
        let (_, below) = x.split_at_mut(j * n);
        let square = below[..j].iter().fold(below[j].real(), |sum, x| sum - x.abs() * x.abs());
        if square <= 0.0 {
            return false;
        }
        let root = square.sqrt();
        below[j] = T::from_real(root);
        let (row, rest) = below.split_at_mut(n);
        for other in rest.chunks_exact_mut(n) {
            let sum = (0..j).fold(other[j], |sum, k| sum.minus(other[k].times(row[k].conjugated())));
            other[j] = sum.scaled(1.0 / root);
        }
        row[j + 1..].fill(T::ZERO);
    }
    true
}

/// The factorization `P L U` of a square matrix: a permutation of rows, a unit lower triangular matrix and an
/// upper triangular matrix. `factors` has both triangles, without the ones of `L`.
pub(super) struct Lu<T> {
    n: usize,
    factors: Vec<T>,
    /// The row of the matrix at each row of the factors.
    order: Vec<usize>,
    is_odd: bool,
}

impl<T: Scalar> Lu<T> {
    pub(super) fn new(x: &[T], n: usize) -> Result<Lu<T>, TensorError> {
        let mut lu = Lu { n, factors: copied(x)?, order: collected(0..n)?, is_odd: false };
        for j in (0..n).take_while(|_| !is_interrupted()) {
            let size = |lu: &Lu<T>, i: usize| lu.factors[i * n + j].abs();
            let pivot = (j..n).fold(j, |best, i| if size(&lu, i) > size(&lu, best) { i } else { best });
            if pivot != j {
                (0..n).for_each(|k| lu.factors.swap(j * n + k, pivot * n + k));
                lu.order.swap(j, pivot);
                lu.is_odd = !lu.is_odd;
            }
            let (above, below) = lu.factors.split_at_mut((j + 1) * n);
            let row = &above[j * n..];
            if row[j].abs() == 0.0 {
                continue;
            }
            for other in below.chunks_exact_mut(n) {
                let factor = other[j].quotient(row[j]);
                other[j] = factor;
                for k in j + 1..n {
                    other[k] = other[k].minus(factor.times(row[k]));
                }
            }
        }
        Ok(lu)
    }

    /// Both triangles, without the ones of `L`.
    pub(super) fn factors(&self) -> &[T] {
        &self.factors
    }

    /// The row of the matrix at each row of the factors.
    pub(super) fn order(&self) -> &[usize] {
        &self.order
    }

    fn pivots(&self) -> impl Iterator<Item = T> {
        self.factors.iter().step_by(self.n + 1).copied()
    }

    pub(super) fn is_singular(&self) -> bool {
        self.pivots().any(|pivot| pivot.abs() == 0.0)
    }

    pub(super) fn determinant(&self) -> T {
        let start = if self.is_odd { T::ONE.negated() } else { T::ONE };
        self.pivots().fold(start, T::times)
    }

    /// The determinant as its sign (of absolute value 1, or 0) and the logarithm of its absolute value.
    pub(super) fn log_determinant(&self) -> (T, f64) {
        let start = if self.is_odd { T::ONE.negated() } else { T::ONE };
        self.pivots().fold((start, 0.0), |(sign, log), pivot| {
            let size = pivot.abs();
            let unit = if size == 0.0 { T::ZERO } else { pivot.scaled(1.0 / size) };
            (sign.times(unit), log + size.ln())
        })
    }

    /// Writes the solution for right sides `[n, columns]` to `to`. The matrix must not be singular.
    pub(super) fn solve(&self, right: &[T], columns: usize, to: &mut [T]) {
        for (&row, to) in self.order.iter().zip(to.chunks_exact_mut(columns.max(1))) {
            to.copy_from_slice(&right[row * columns..][..columns]);
        }
        solve_triangular(&self.factors, self.n, true, true, to, columns);
        solve_triangular(&self.factors, self.n, false, false, to, columns);
    }
}

/// Solves a triangular system in place of its right sides `[n, columns]`. Only the given triangle is read. If
/// `has_ones`, its diagonal is not read and counts as ones.
pub(super) fn solve_triangular<T: Scalar>(
    x: &[T],
    n: usize,
    is_lower: bool,
    has_ones: bool,
    right: &mut [T],
    columns: usize,
) {
    for step in (0..n).take_while(|_| !is_interrupted()) {
        let i = if is_lower { step } else { n - 1 - step };
        let known = if is_lower { 0..i } else { i + 1..n };
        for k in known {
            let factor = x[i * n + k];
            for c in 0..columns {
                right[i * columns + c] = right[i * columns + c].minus(factor.times(right[k * columns + c]));
            }
        }
        if !has_ones {
            right[i * columns..][..columns].iter_mut().for_each(|y| *y = y.quotient(x[i * n + i]));
        }
    }
}

/// The factors Q `[m, k]` and R `[k, n]` of a matrix `[m, n]`; `k` is `m`, or the smaller of `m` and `n`.
pub(super) fn qr<T: Scalar>(
    x: &[T],
    (m, n): (usize, usize),
    k: usize,
) -> Result<(Vec<T>, Vec<T>), TensorError> {
    let mut r = copied(x)?;
    let steps = m.min(n);
    let mut reflections: Vec<(Vec<T>, T)> = with_room(steps)?;
    for j in (0..steps).take_while(|_| !is_interrupted()) {
        let mut v = collected((j..m).map(|i| r[i * n + j]))?;
        let (first, tail) = (v[0], v[1..].iter().map(|x| x.abs() * x.abs()).sum::<f64>());
        let imaginary = first.minus(T::from_real(first.real())).abs();
        if tail <= f64::MIN_POSITIVE && imaginary * imaginary <= f64::MIN_POSITIVE {
            continue;
        }
        let norm = (first.abs() * first.abs() + tail).sqrt();
        let beta = if first.real() >= 0.0 { -norm } else { norm };
        let pivot = first.minus(T::from_real(beta));
        v.iter_mut().for_each(|x| *x = x.quotient(pivot));
        v[0] = T::ONE;
        let tau = T::from_real(beta).minus(first).scaled(1.0 / beta).conjugated();
        reflect(&v, tau, &mut r[j * n..], n, j);
        r[j * n + j] = T::from_real(beta);
        (j + 1..m).for_each(|i| r[i * n + j] = T::ZERO);
        reflections.push((v, tau));
    }
    // Q: the reflections, last one first, applied to the unit vectors.
    let mut q = filled(m * k, T::ZERO)?;
    (0..k).for_each(|i| q[i * k + i] = T::ONE);
    for (v, tau) in reflections.iter().rev().take_while(|_| !is_interrupted()) {
        let j = m - v.len();
        reflect(v, tau.conjugated(), &mut q[j * k..], k, 0);
    }
    r.truncate(k * n);
    Ok((q, r))
}

/// Applies `1 - tau v v^H` to the rows of a matrix, from column `from` on.
fn reflect<T: Scalar>(v: &[T], tau: T, rows: &mut [T], columns: usize, from: usize) {
    for c in from..columns {
        let products = v.iter().enumerate().map(|(i, v)| v.conjugated().times(rows[i * columns + c]));
        let sum = products.fold(T::ZERO, T::plus).times(tau);
        for (i, v) in v.iter().enumerate() {
            rows[i * columns + c] = rows[i * columns + c].minus(v.times(sum));
        }
    }
}

/// The largest number of passes over all pairs of columns. Usually a few suffice.
const MAX_SWEEPS: usize = 64;

/// The cosine, sine and phase of the rotation that makes two vectors orthogonal, given their squared norms
/// and their inner product; `None` if they are orthogonal already.
fn rotation<T: Scalar>(a: f64, b: f64, product: T) -> Option<(f64, f64, T)> {
    let size = product.abs();
    if size.is_nan() || size <= f64::EPSILON * (a.abs() * b.abs()).sqrt() || size < f64::MIN_POSITIVE {
        return None;
    }
    let zeta = (b - a) / (2.0 * size);
    let tangent = 1f64.copysign(zeta) / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
    let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
    Some((cosine, cosine * tangent, product.scaled(1.0 / size)))
}

/// Rotates the pair `p`, `q` of elements of two vectors, after a multiplication of `q` by the conjugate
/// phase.
fn rotate<T: Scalar>((cosine, sine, phase): (f64, f64, T), p: &mut T, q: &mut T) {
    let turned = q.times(phase.conjugated());
    let (old, new) = (*p, turned);
    *p = old.scaled(cosine).minus(new.scaled(sine));
    *q = old.scaled(sine).plus(new.scaled(cosine));
}

/// The eigenvalues of a Hermitian matrix in ascending order, and the eigenvectors as columns. Only the lower
/// triangle is read.
pub(super) fn eigen<T: Scalar>(x: &[T], n: usize) -> Result<(Vec<f64>, Vec<T>), TensorError> {
    let mut a = collected((0..n * n).map(|at| match (at / n, at % n) {
        (i, j) if i == j => T::from_real(x[at].real()),
        (i, j) if i > j => x[at],
        (i, j) => x[j * n + i].conjugated(),
    }))?;
    let mut v: Vec<T> = identity(n)?;
    for _ in 0..MAX_SWEEPS {
        let mut is_done = true;
        for p in 0..n {
            for q in (p + 1..n).take_while(|_| !is_interrupted()) {
                let (on_p, on_q, beside) = (a[p * n + p].real(), a[q * n + q].real(), a[p * n + q]);
                if beside.abs() <= (on_p.abs() + on_q.abs()) * f64::EPSILON * f64::EPSILON {
                    continue;
                }
                let Some(turn) = rotation(on_p, on_q, beside) else { continue };
                is_done = false;
                for row in a.chunks_exact_mut(n).chain(v.chunks_exact_mut(n)) {
                    let (left, right) = row.split_at_mut(q);
                    rotate(turn, &mut left[p], &mut right[0]);
                }
                let across = (turn.0, turn.1, turn.2.conjugated());
                let (above, below) = a.split_at_mut(q * n);
                for (p, q) in above[p * n..][..n].iter_mut().zip(&mut below[..n]) {
                    rotate(across, p, q);
                }
                (a[p * n + q], a[q * n + p]) = (T::ZERO, T::ZERO);
            }
        }
        if is_done {
            break;
        }
    }
    let mut order = collected(0..n)?;
    stable_sort(&mut order, |&i, &j| a[i * n + i].real().total_cmp(&a[j * n + j].real()))?;
    let values = collected(order.iter().map(|&i| a[i * n + i].real()))?;
    let vectors = collected((0..n * n).map(|at| v[at / n * n + order[at % n]]))?;
    Ok((values, vectors))
}

/// The singular value decomposition of a matrix `[m, n]`.
pub(super) struct Singular<T> {
    /// The singular values, in descending order. Their number is the smaller of `m` and `n`.
    pub(super) values: Vec<f64>,
    /// The left vectors as columns: one for each singular value, or `m` for a full basis.
    pub(super) left: Vec<T>,
    /// The right vectors as columns: one for each singular value, or `n` for a full basis.
    pub(super) right: Vec<T>,
}

/// The singular values and vectors of a matrix `[m, n]`; full bases of vectors if `is_full`.
pub(super) fn singular<T: Scalar>(
    x: &[T],
    (m, n): (usize, usize),
    is_full: bool,
) -> Result<Singular<T>, TensorError> {
    if m < n {
        let mut turned = filled(n * m, T::ZERO)?;
        adjoint(x, m, n, &mut turned);
        let Singular { values, left, right } = singular(&turned, (n, m), is_full)?;
        return Ok(Singular { values, left: right, right: left });
    }
    // Squares of numbers in [-1, 1] do not overflow.
    let scale = x.iter().map(|x| x.abs()).fold(0.0, f64::max);
    let scale = if scale > 0.0 { scale } else { 1.0 };
    // The transposes of the matrix and of the right vectors: a column is contiguous.
    let mut columns = collected((0..m * n).map(|at| x[at % m * n + at / m].scaled(1.0 / scale)))?;
    let mut right: Vec<T> = identity(n)?;
    for _ in 0..MAX_SWEEPS {
        let mut is_done = true;
        for p in 0..n {
            for q in (p + 1..n).take_while(|_| !is_interrupted()) {
                let (above, below) = columns.split_at_mut(q * m);
                let (a, b) = (&mut above[p * m..][..m], &mut below[..m]);
                let square = |x: &[T]| x.iter().map(|x| x.abs() * x.abs()).sum::<f64>();
                let products = a.iter().zip(b.iter()).map(|(a, b)| a.conjugated().times(*b));
                let product = products.fold(T::ZERO, T::plus);
                let Some(turn) = rotation(square(a), square(b), product) else { continue };
                is_done = false;
                a.iter_mut().zip(b).for_each(|(a, b)| rotate(turn, a, b));
                let (above, below) = right.split_at_mut(q * n);
                above[p * n..][..n].iter_mut().zip(&mut below[..n]).for_each(|(a, b)| rotate(turn, a, b));
            }
        }
        if is_done {
            break;
        }
    }
    let norm = |x: &[T]| x.iter().map(|x| x.abs() * x.abs()).sum::<f64>().sqrt();
    let norms = collected(columns.chunks_exact(m.max(1)).map(norm))?;
    let mut order = collected(0..n)?;
    stable_sort(&mut order, |&i, &j| norms[j].total_cmp(&norms[i]))?;
    let k = if is_full { m } else { n };
    let mut basis: Vec<Vec<T>> = with_room(k)?;
    let negligible = norms.iter().copied().fold(0.0, f64::max) * f64::EPSILON * m as f64;
    for &i in order.iter().take_while(|&&i| norms[i] > negligible) {
        basis.push(collected(columns[i * m..][..m].iter().map(|x| x.scaled(1.0 / norms[i])))?);
    }
    complete(&mut basis, k, m)?;
    Ok(Singular {
        values: collected(order.iter().map(|&i| norms[i] * scale))?,
        left: collected((0..m * k).map(|at| basis[at % k][at / k]))?,
        right: collected((0..n * n).map(|at| right[order[at % n] * n + at / n]))?,
    })
}

/// Extends orthonormal vectors of length `m` to `k` of them.
fn complete<T: Scalar>(basis: &mut Vec<Vec<T>>, k: usize, m: usize) -> Result<(), TensorError> {
    for axis in (0..m).take_while(|_| !is_interrupted()) {
        if basis.len() == k {
            return Ok(());
        }
        let mut v = filled(m, T::ZERO)?;
        v[axis] = T::ONE;
        // Two passes of Gram-Schmidt suffice for orthogonality in double precision.
        for _ in 0..2 {
            for known in basis.iter() {
                let products = known.iter().zip(&v).map(|(k, v)| k.conjugated().times(*v));
                let product = products.fold(T::ZERO, T::plus);
                v.iter_mut().zip(known).for_each(|(v, k)| *v = v.minus(k.times(product)));
            }
        }
        let norm = v.iter().map(|x| x.abs() * x.abs()).sum::<f64>().sqrt();
        // The basis has fewer than m vectors, so the rest of some unit vector has a norm of 1 / sqrt(m) or
        // more.
        if norm > 0.5 / (m as f64).sqrt() {
            v.iter_mut().for_each(|x| *x = x.scaled(1.0 / norm));
            push(basis, v)?;
        }
    }
    // Reached for a matrix that is not finite, and after an interruption.
    while basis.len() < k {
        push(basis, filled(m, T::ZERO)?)?;
    }
    Ok(())
}
