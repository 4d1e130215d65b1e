//! The Schur form of a square matrix, and what follows from it: eigenvalues, square roots and logarithms.
//!
//! ```text
//! A = U T U^H     U unitary, T upper triangular: A ──rotations──▶ Hessenberg ──shifted QR steps──▶ T
//! eigenvalues     the diagonal of T
//! eigenvectors    U X, with T X = X diag(T)
//! f(A)            U f(T) U^H; f(T) by the recurrence of f for triangular matrices
//! ```
//!
//! All matrices are complex here, those with real elements too: their eigenvalues may be pairs of conjugates.

use super::complex::{complex_div, complex_log, complex_sqrt};
use super::linear::{Lu, Scalar, adjoint, identity, product};
use super::numeric::Domain;
use crate::interrupt::is_interrupted;
use crate::scratch::{collected, copied, filled};
use crate::{Complex128, TensorError};

/// The factors of `U T U^H`.
pub(super) struct Schur {
    n: usize,
    triangular: Vec<Complex128>,
    unitary: Vec<Complex128>,
}

/// The rotation `[c s; -s' c]` that takes a pair of numbers to a pair whose second one is zero.
#[derive(Clone, Copy)]
struct Givens {
    cosine: f64,
    sine: Complex128,
}

impl Givens {
    fn new(x: Complex128, y: Complex128) -> Givens {
        let (from, to) = (Scalar::abs(x), Scalar::abs(y));
        let norm = from.hypot(to);
        if to == 0.0 || norm == 0.0 {
            return Givens { cosine: 1.0, sine: Complex128::ZERO };
        }
        let phase = if from == 0.0 { Complex128::ONE } else { x.scaled(1.0 / from) };
        Givens { cosine: from / norm, sine: phase.times(y.conjugated()).scaled(1.0 / norm) }
    }

    /// Turns rows `p` and `p + by`, from column `from` on.
    fn rows(self, x: &mut [Complex128], n: usize, (p, q): (usize, usize), from: usize) {
        let (above, below) = x.split_at_mut(q * n);
        for (p, q) in above[p * n..][from..n].iter_mut().zip(&mut below[from..n]) {
            let (a, b) = (*p, *q);
            *p = a.scaled(self.cosine).plus(self.sine.times(b));
            *q = b.scaled(self.cosine).minus(self.sine.conjugated().times(a));
        }
    }

    /// Turns columns `p` and `q` back, in the first `rows` rows.
    fn columns(self, x: &mut [Complex128], n: usize, (p, q): (usize, usize), rows: usize) {
        for row in x.chunks_exact_mut(n).take(rows) {
            let (a, b) = (row[p], row[q]);
            row[p] = a.scaled(self.cosine).plus(self.sine.conjugated().times(b));
            row[q] = b.scaled(self.cosine).minus(self.sine.times(a));
        }
    }
}

/// The largest number of steps for one eigenvalue. Usually two or three suffice.
const MAX_STEPS: usize = 300;

impl Schur {
    /// The Schur form of a matrix; `None` for one that is not finite, or if the steps do not converge.
    pub(super) fn new<T: Scalar>(x: &[T], n: usize) -> Result<Option<Schur>, TensorError> {
        let triangular = collected(x.iter().map(|x| x.to_complex()))?;
        let mut schur = Schur { n, triangular, unitary: identity(n)? };
        let is_finite = schur.triangular.iter().all(|x| x.is_finite());
        Ok((is_finite && {
            schur.reduce();
            schur.iterate()
        })
        .then_some(schur))
    }

    /// Applies a rotation from the left, and its inverse from the right.
    fn turn(&mut self, by: Givens, at: (usize, usize), from: usize, rows: usize) {
        by.rows(&mut self.triangular, self.n, at, from);
        by.columns(&mut self.triangular, self.n, at, rows);
        by.columns(&mut self.unitary, self.n, at, self.n);
    }

    /// The Hessenberg form: zeros below the first diagonal under the main one.
    fn reduce(&mut self) {
        let n = self.n;
        for k in 0..n.saturating_sub(2) {
            for i in (k + 2..n).take_while(|_| !is_interrupted()) {
                let by = Givens::new(self.triangular[(k + 1) * n + k], self.triangular[i * n + k]);
                self.turn(by, (k + 1, i), k, n);
                self.triangular[i * n + k] = Complex128::ZERO;
            }
        }
    }

    /// The eigenvalue of the two rows that end with `last` that is closer to the last element.
    fn shift(&self, last: usize, step: usize) -> Complex128 {
        let at = |i: usize, j: usize| self.triangular[i * self.n + j];
        if step % 10 == 9 {
            // An exceptional shift ends a cycle.
            return at(last, last).plus(Complex128::from_real(Scalar::abs(at(last, last - 1))));
        }
        let (a, d) = (at(last - 1, last - 1), at(last, last));
        let half = a.minus(d).scaled(0.5);
        let outside = at(last - 1, last).times(at(last, last - 1));
        let root = complex_sqrt(half.times(half).plus(outside));
        let (plus, minus) = (half.plus(root), half.minus(root));
        let larger = if Scalar::abs(plus) >= Scalar::abs(minus) { plus } else { minus };
        match Scalar::abs(larger) {
            0.0 => d,
            _ => d.minus(complex_div(outside, larger)),
        }
    }

    fn iterate(&mut self) -> bool {
        let n = self.n;
        let norm = self.triangular.iter().map(|x| Scalar::abs(*x)).fold(0.0, f64::max);
        let (mut last, mut step) = (n.saturating_sub(1), 0);
        while last > 0 && !is_interrupted() {
            let size = |x: &Self, i: usize, j: usize| Scalar::abs(x.triangular[i * n + j]);
            let is_negligible = |x: &Self, i: usize| {
                let beside = size(x, i, i) + size(x, i - 1, i - 1);
                let beside = if beside == 0.0 { norm } else { beside };
                size(x, i, i - 1) <= f64::EPSILON * beside || size(x, i, i - 1) < f64::MIN_POSITIVE
            };
            let first = (1..=last).rev().find(|&i| is_negligible(self, i)).unwrap_or(0);
            if first > 0 {
                self.triangular[first * n + first - 1] = Complex128::ZERO;
            }
            if first == last {
                (last, step) = (last - 1, 0);
                continue;
            }
            if step == MAX_STEPS {
                return false;
            }
            let shift = self.shift(last, step);
            step += 1;
            let mut x = self.triangular[first * n + first].minus(shift);
            let mut y = self.triangular[(first + 1) * n + first];
            for k in first..last {
                let by = Givens::new(x, y);
                self.turn(by, (k, k + 1), k.saturating_sub(1).max(first), (k + 3).min(last + 1));
                if k > first {
                    self.triangular[(k + 1) * n + k - 1] = Complex128::ZERO;
                }
                if k + 2 <= last {
                    (x, y) = (self.triangular[(k + 1) * n + k], self.triangular[(k + 2) * n + k]);
                }
            }
        }
        true
    }

    /// The eigenvalues, in the order of the triangular factor.
    pub(super) fn values(&self) -> impl Iterator<Item = Complex128> {
        self.triangular.iter().step_by(self.n + 1).copied()
    }

    /// The eigenvectors as columns of norm 1, in the order of the eigenvalues.
    pub(super) fn vectors(&self) -> Result<Vec<Complex128>, TensorError> {
        let n = self.n;
        let norm = self.triangular.iter().map(|x| Scalar::abs(*x)).fold(f64::MIN_POSITIVE, f64::max);
        let mut found: Vec<Complex128> = identity(n)?;
        for k in (0..n).take_while(|_| !is_interrupted()) {
            for i in (0..k).rev() {
                let row = &self.triangular[i * n..][..n];
                let sum =
                    (i + 1..=k).fold(Complex128::ZERO, |sum, j| sum.plus(row[j].times(found[j * n + k])));
                let gap = self.triangular[k * n + k].minus(row[i]);
                // A vector of a repeated eigenvalue is parallel to another one, up to rounding.
                let is_repeated = Scalar::abs(gap) < norm * f64::EPSILON;
                let gap = if is_repeated { Complex128::from_real(norm * f64::EPSILON) } else { gap };
                found[i * n + k] = complex_div(sum, gap);
            }
        }
        let mut vectors = product(&self.unitary, &found, n)?;
        for k in 0..n {
            let square = (0..n).map(|i| Scalar::abs(vectors[i * n + k]).powi(2)).sum::<f64>();
            (0..n).for_each(|i| vectors[i * n + k] = vectors[i * n + k].scaled(1.0 / square.sqrt()));
        }
        Ok(vectors)
    }

    /// `U X U^H` for another factor.
    fn with(&self, triangular: &[Complex128]) -> Result<Vec<Complex128>, TensorError> {
        let mut back = copied(&self.unitary)?;
        adjoint(&self.unitary, self.n, self.n, &mut back);
        product(&product(&self.unitary, triangular, self.n)?, &back, self.n)
    }

    /// The principal square root of the matrix. It is not a number for a defective eigenvalue 0.
    pub(super) fn square_root(&self) -> Result<Vec<Complex128>, TensorError> {
        self.with(&triangular_root(&self.triangular, self.n)?)
    }

    /// The principal logarithm of the matrix: with the square root taken k times, X = T^(1/2^k) - 1 is small,
    /// and log T = 2^k log(1 + X) by Gauss-Legendre quadrature of the integral of X / (1 + t X) for t from 0
    /// to 1.
    pub(super) fn logarithm(&self) -> Result<Vec<Complex128>, TensorError> {
        let n = self.n;
        if self.values().any(|x| Scalar::abs(x) == 0.0) {
            return filled(n * n, Complex128 { re: f64::NAN, im: f64::NAN });
        }
        let without_one = |x: &[Complex128]| {
            let minus =
                |(at, x): (usize, &Complex128)| if at % (n + 1) == 0 { x.minus(Complex128::ONE) } else { *x };
            collected(x.iter().enumerate().map(minus))
        };
        let mut root = copied(&self.triangular)?;
        let (mut rest, mut factor) = (without_one(&root)?, 1.0);
        let size = |x: &[Complex128]| {
            let sums = x.chunks_exact(n.max(1)).map(|row| row.iter().map(|x| Scalar::abs(*x)).sum::<f64>());
            sums.fold(0.0, f64::max)
        };
        for _ in 0..MAX_ROOTS {
            if size(&rest) <= 0.25 || is_interrupted() {
                break;
            }
            root = triangular_root(&root, n)?;
            (rest, factor) = (without_one(&root)?, factor * 2.0);
        }
        let mut sum = filled(n * n, Complex128::ZERO)?;
        for (at, weight) in QUADRATURE {
            let mut below = collected(rest.iter().map(|x| x.scaled(at)))?;
            below.iter_mut().step_by(n + 1).for_each(|x| *x = x.plus(Complex128::ONE));
            let mut term = filled(n * n, Complex128::ZERO)?;
            Lu::new(&below, n)?.solve(&rest, n, &mut term);
            sum.iter_mut().zip(&term).for_each(|(sum, term)| *sum = sum.plus(term.scaled(weight * factor)));
        }
        // The diagonal is known without an integral.
        sum.iter_mut().step_by(n + 1).zip(self.values()).for_each(|(sum, value)| *sum = complex_log(value));
        self.with(&sum)
    }
}

/// More square roots than bring any number close to 1.
const MAX_ROOTS: usize = 100;

/// The points and weights of Gauss-Legendre quadrature on the numbers from 0 to 1.
const QUADRATURE: [(f64, f64); 8] = [
    (0.019_855_071_751_231_88, 0.050_614_268_145_188_13),
    (0.101_666_761_293_186_63, 0.111_190_517_226_687_24),
    (0.237_233_795_041_835_5, 0.156_853_322_938_943_64),
    (0.408_282_678_752_175_1, 0.181_341_891_689_181),
    (0.591_717_321_247_825, 0.181_341_891_689_181),
    (0.762_766_204_958_164_5, 0.156_853_322_938_943_64),
    (0.898_333_238_706_813_4, 0.111_190_517_226_687_24),
    (0.980_144_928_248_768_1, 0.050_614_268_145_188_13),
];

/// The square root of an upper triangular matrix, diagonal by diagonal.
fn triangular_root(x: &[Complex128], n: usize) -> Result<Vec<Complex128>, TensorError> {
    let mut root = filled(n * n, Complex128::ZERO)?;
    for j in (0..n).take_while(|_| !is_interrupted()) {
        root[j * n + j] = complex_sqrt(x[j * n + j]);
        for i in (0..j).rev() {
            let products = (i + 1..j).map(|k| root[i * n + k].times(root[k * n + j]));
            let rest = products.fold(x[i * n + j], |rest, product| rest.minus(product));
            root[i * n + j] = complex_div(rest, root[i * n + i].plus(root[j * n + j]));
        }
    }
    Ok(root)
}

/// The exponential of a matrix: scaled by a power of two, approximated by a quotient of polynomials, and
/// squared.
pub(super) fn exponential<T: Scalar>(x: &[T], n: usize) -> Result<Vec<T>, TensorError> {
    const DEGREE: u32 = 8;
    let norm =
        x.chunks_exact(n.max(1)).map(|row| row.iter().map(|x| x.abs()).sum::<f64>()).fold(0.0, f64::max);
    if !x.iter().all(|x| x.is_finite()) {
        return filled(n * n, T::from_real(f64::NAN));
    }
    let squarings = if norm > 0.5 { (norm.min(f64::MAX).log2() + 2.0) as i32 } else { 0 };
    // In two steps: the power may be below the smallest number.
    let (half, rest) = (squarings / 2, squarings - squarings / 2);
    let scaled = collected(x.iter().map(|x| x.scaled(2f64.powi(-half)).scaled(2f64.powi(-rest))))?;
    let (mut power, mut above, mut below) = (identity(n)?, identity::<T>(n)?, identity::<T>(n)?);
    let mut factor = 1.0;
    for k in 1..=DEGREE {
        factor *= f64::from(DEGREE - k + 1) / f64::from(k * (2 * DEGREE - k + 1));
        power = product(&power, &scaled, n)?;
        let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
        for ((above, below), power) in above.iter_mut().zip(&mut below).zip(&power) {
            *above = above.plus(power.scaled(factor));
            *below = below.plus(power.scaled(sign * factor));
        }
    }
    let mut result = filled(n * n, T::ZERO)?;
    Lu::new(&below, n)?.solve(&above, n, &mut result);
    for _ in (0..squarings).take_while(|_| !is_interrupted()) {
        result = product(&result, &result, n)?;
    }
    Ok(result)
}
