//! The reference version of each function of [`crate::math`], for the oracle and the property tests.
//!
//! Written to be obviously right: one element at a time, from the definition, sums in `f64`. Do not call
//! these for speed, and do not share code with the fast versions.

use crate::Element;
use crate::math::GemmElement;

/// `out = a * b`, row-major: `a` m by k, `b` k by n. Sums are in `f64` and rounded once.
pub fn matmul<T: Real>((m, k, n): (usize, usize, usize), a: &[T], b: &[T], out: &mut [T]) {
    assert_eq!((a.len(), b.len(), out.len()), (m * k, k * n, m * n));
    for i in 0..m {
        for j in 0..n {
            let sum: f64 = (0..k).map(|l| a[i * k + l].to_f64() * b[l * n + j].to_f64()).sum();
            out[i * n + j] = T::from_f64(sum);
        }
    }
}

/// `out[.., j] = x[.., j] + bias[j]`.
pub fn bias_add<T: GemmElement>(x: &[T], bias: &[T], out: &mut [T]) {
    assert_eq!(x.len(), out.len());
    for i in 0..x.len() {
        out[i] = x[i] + bias[i % bias.len()];
    }
}

/// `max(x, 0)`, NaN for NaN.
pub fn relu<T: Real>(x: &[T], out: &mut [T]) {
    assert_eq!(x.len(), out.len());
    for i in 0..x.len() {
        out[i] = if x[i].is_nan() || x[i].to_f64() >= 0.0 { x[i] } else { T::from_f64(0.0) };
    }
}

/// `e^x / sum of e^x` over rows of length `n`, shifted by the row's maximum.
pub fn softmax<T: Real>(n: usize, x: &[T], out: &mut [T]) {
    assert_eq!(x.len(), out.len());
    for first in (0..x.len()).step_by(n.max(1)) {
        let row = first..first + n;
        let max = x[row.clone()].iter().map(|x| x.to_f64()).fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = x[row.clone()].iter().map(|x| (x.to_f64() - max).exp()).sum();
        for i in row {
            out[i] = T::from_f64((x[i].to_f64() - max).exp() / sum);
        }
    }
}

/// The first position of the largest element along the middle extent; a NaN is larger than any number.
pub fn argmax<T: Real>((outer, axis, inner): (usize, usize, usize), x: &[T], out: &mut [i32]) {
    assert_eq!((x.len(), out.len()), (outer * axis * inner, outer * inner));
    for o in 0..outer {
        for i in 0..inner {
            let at = |a: usize| x[(o * axis + a) * inner + i].to_f64();
            let mut best = 0;
            for a in 1..axis {
                if !at(best).is_nan() && (at(a).is_nan() || at(a) > at(best)) {
                    best = a;
                }
            }
            out[o * inner + i] = best as i32;
        }
    }
}

/// The number of equal pairs.
pub fn count_equal<T: Element>(a: &[T], b: &[T]) -> usize {
    assert_eq!(a.len(), b.len());
    let mut n = 0;
    for i in 0..a.len() {
        if a[i] == b[i] {
            n += 1;
        }
    }
    n
}

/// A number type whose values are exact in `f64`.
pub trait Real: GemmElement {
    /// The exact value.
    fn to_f64(self) -> f64;
    /// The nearest value.
    fn from_f64(value: f64) -> Self;
}

impl Real for f32 {
    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    fn from_f64(value: f64) -> f32 {
        value as f32
    }
}

impl Real for f64 {
    fn to_f64(self) -> f64 {
        self
    }

    fn from_f64(value: f64) -> f64 {
        value
    }
}
