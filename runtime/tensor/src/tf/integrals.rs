//! Bessel functions of the first and second kind, Dawson's, Fresnel's and exponential integrals, and the
//! dilogarithm.
//!
//! ```text
//! near the origin: a power series        elsewhere: a continued fraction, an asymptotic expansion,
//!                                        or the sum of a rapidly decreasing function
//! ```
//!
//! Outside of the domain the result is NaN or an infinity, as in TensorFlow. The number of terms is bounded.

use std::f64::consts::{FRAC_PI_2, PI};

use super::linear::Scalar;
use super::numeric::Domain;
use crate::Complex128;

/// The largest number of terms of a series or continued fraction.
const MAX_TERMS: usize = 200;

/// Euler's constant.
const GAMMA: f64 = 0.577_215_664_901_532_9;

/// The Bessel function of the first kind, of order 0.
pub(super) fn bessel_j0(x: f64) -> f64 {
    if x.is_infinite() { f64::NAN } else { libm::j0(x) }
}

/// The Bessel function of the first kind, of order 1.
pub(super) fn bessel_j1(x: f64) -> f64 {
    if x.is_infinite() { f64::NAN } else { libm::j1(x) }
}

/// A Bessel function of the second kind, also outside of its domain.
fn bessel_y(f: fn(f64) -> f64, x: f64) -> f64 {
    if x <= 0.0 {
        f64::NEG_INFINITY
    } else if x == f64::INFINITY {
        f64::NAN
    } else {
        f(x)
    }
}

/// The Bessel function of the second kind, of order 0.
pub(super) fn bessel_y0(x: f64) -> f64 {
    bessel_y(libm::y0, x)
}

/// The Bessel function of the second kind, of order 1.
pub(super) fn bessel_y1(x: f64) -> f64 {
    bessel_y(libm::y1, x)
}

/// The modified Bessel functions of the second kind, of the orders 0 and 1, times exp(x), if `x` is 2 or
/// more: by Temme's continued fraction.
fn bessel_k_far(x: f64) -> [f64; 2] {
    if x > 1e16 {
        return [(FRAC_PI_2 / x).sqrt(); 2];
    }
    let mut b = 2.0 * (1.0 + x);
    let mut d = 1.0 / b;
    let (mut h, mut step) = (d, d);
    let (mut q, mut q_next) = (0.0, 1.0);
    let (mut c, mut a) = (0.25, -0.25);
    let mut all = 0.25;
    let mut sum = 1.0 + all * step;
    for i in 1..MAX_TERMS {
        let i = i as f64;
        a -= 2.0 * i;
        c *= -a / (i + 1.0);
        (q, q_next) = (q_next, (q - b * q_next) / a);
        all += c * q_next;
        b += 2.0;
        d = 1.0 / (b + a * d);
        step *= b * d - 1.0;
        h += step;
        let term = all * step;
        sum += term;
        if (term / sum).abs() <= f64::EPSILON {
            break;
        }
    }
    let zeroth = (FRAC_PI_2 / x).sqrt() / sum;
    [zeroth, zeroth * (x + 0.5 - 0.25 * h) / x]
}

/// The modified Bessel functions of the second kind, of the orders 0 and 1, for a positive `x` up to 2.
fn bessel_k_near(x: f64) -> [f64; 2] {
    let (square, log) = (x * x / 4.0, (x / 2.0).ln() + GAMMA);
    let (mut term, mut harmonic) = (1.0, 0.0);
    let (mut zeroth, mut first) = (0.0, 0.0);
    for k in 1..MAX_TERMS {
        let k = k as f64;
        zeroth += term * (harmonic - log);
        first += term / k * (log - harmonic - 0.5 / k);
        harmonic += 1.0 / k;
        term *= square / (k * k);
        if term * harmonic <= f64::EPSILON * zeroth {
            break;
        }
    }
    [zeroth, 1.0 / x + x / 2.0 * first]
}

/// The modified Bessel function of the second kind of order 0 or 1, times exp(x) if it `is_scaled`.
fn bessel_k(order: usize, x: f64, is_scaled: bool) -> f64 {
    if x.is_nan() {
        x
    } else if x <= 0.0 {
        f64::INFINITY
    } else if x == f64::INFINITY {
        0.0
    } else if x <= 2.0 {
        bessel_k_near(x)[order] * if is_scaled { x.exp() } else { 1.0 }
    } else {
        bessel_k_far(x)[order] * if is_scaled { 1.0 } else { (-x).exp() }
    }
}

pub(super) fn bessel_k0(x: f64) -> f64 {
    bessel_k(0, x, false)
}

pub(super) fn bessel_k0e(x: f64) -> f64 {
    bessel_k(0, x, true)
}

pub(super) fn bessel_k1(x: f64) -> f64 {
    bessel_k(1, x, false)
}

pub(super) fn bessel_k1e(x: f64) -> f64 {
    bessel_k(1, x, true)
}

/// Dawson's integral, exp(-x^2) times the integral of exp(t^2) from 0 to x. Elsewhere than near the origin or
/// far from it, it is Rybicki's sum, whose error is exp(-(pi / 2h)^2).
pub(super) fn dawson(x: f64) -> f64 {
    let square = x * x;
    if x.abs() < 1.0 {
        let (mut term, mut sum) = (x, x);
        for k in 1..MAX_TERMS {
            term *= -2.0 * square / (2 * k + 1) as f64;
            sum += term;
            if term.abs() <= f64::EPSILON * sum.abs() {
                break;
            }
        }
        return sum;
    }
    if x.is_infinite() {
        return 0.0;
    }
    if x.is_nan() || x.abs() > 50.0 {
        let inverse = 0.5 / square;
        let series = [945.0, 105.0, 15.0, 3.0, 1.0, 1.0].iter().fold(0.0, |sum, term| sum * inverse + term);
        return 0.5 / x * series;
    }
    let h = 0.2;
    let nearest = 2.0 * (x / (2.0 * h)).round();
    let at = |n: f64| (-(x - n * h) * (x - n * h)).exp() / n;
    let terms = (0..40).map(|k| f64::from(2 * k + 1));
    let sum: f64 = terms.map(|n| at(nearest + n) + at(nearest - n)).sum();
    sum / PI.sqrt()
}

/// The exponential integral, the principal value of that of exp(t) / t up to `x`.
pub(super) fn expint(x: f64) -> f64 {
    if x == 0.0 {
        return f64::NEG_INFINITY;
    }
    if !(x > 0.0 && x.is_finite()) {
        return f64::NAN;
    }
    let (mut term, mut sum) = (1.0, 0.0);
    if x < 40.0 {
        for k in 1..MAX_TERMS {
            let k = k as f64;
            term *= x / k;
            sum += term / k;
            if term <= f64::EPSILON * sum {
                break;
            }
        }
        return GAMMA + x.ln() + sum;
    }
    for k in 1..MAX_TERMS {
        sum += term;
        let next = term * k as f64 / x;
        if next <= f64::EPSILON || next >= term {
            break;
        }
        term = next;
    }
    x.exp() / x * sum
}

/// The dilogarithm of 1 - x.
pub(super) fn spence(x: f64) -> f64 {
    /// The coefficients of `u^3`, `u^5` ... of the dilogarithm, if `u` is minus the logarithm of `x`:
    /// Bernoulli's numbers divided by factorials.
    const COEFFICIENTS: [f64; 8] = [
        1.0 / 36.0,
        -1.0 / 3600.0,
        1.0 / 211_680.0,
        -1.0 / 10_886_400.0,
        1.0 / 526_901_760.0,
        -4.064_761_645_144_226e-11,
        8.921_691_020_456_453e-13,
        -1.993_929_586_072_107_6e-14,
    ];
    if !(x >= 0.0 && x.is_finite()) {
        f64::NAN
    } else if x == 0.0 {
        PI * PI / 6.0
    } else if x < 0.5 {
        PI * PI / 6.0 - x.ln() * (-x).ln_1p() - spence(1.0 - x)
    } else if x > 2.0 {
        let log = x.ln();
        -0.5 * log * log - spence(1.0 / x)
    } else {
        let u = 0.0 - x.ln(); // not -0.0
        let square = u * u;
        let odd = COEFFICIENTS.iter().rev().fold(0.0, |sum, coefficient| sum * square + coefficient);
        u - 0.25 * square + u * square * odd
    }
}

/// Fresnel's integrals: of cos(pi t^2 / 2) and of sin(pi t^2 / 2), from 0 to x.
fn fresnel(x: f64) -> [f64; 2] {
    let size = x.abs();
    let square = PI * size * size;
    if x.is_nan() {
        return [x; 2];
    }
    // From here on, TensorFlow returns the limit.
    if size > 36974.0 {
        return [0.5f64.copysign(x); 2];
    }
    let [cosine, sine] = if size < 1.5 {
        let half = square / 2.0;
        let (mut term, mut sums) = (size, [0.0, 0.0]);
        for k in 0..MAX_TERMS {
            let sign = if k % 4 < 2 { 1.0 } else { -1.0 };
            let part = sign * term / (2 * k + 1) as f64;
            sums[k % 2] += part;
            term *= half / (k + 1) as f64;
            if term <= f64::EPSILON * sums[1].abs() {
                break;
            }
        }
        sums
    } else {
        // The continued fraction of the complementary error function of a complex number, by Lentz's method.
        let complex = |re, im| Complex128 { re, im };
        let one = Complex128::ONE;
        let mut b = complex(1.0, -square);
        let (mut c, mut d) = (complex(1e300, 0.0), one.quotient(b));
        let mut h = d;
        for k in 1..MAX_TERMS {
            let n = (2 * k - 1) as f64;
            let a = -n * (n + 1.0);
            b.re += 4.0;
            d = one.quotient(d.scaled(a).plus(b));
            c = b.plus(complex(a, 0.0).quotient(c));
            let step = c.times(d);
            h = h.times(step);
            if step.minus(one).abs() <= f64::EPSILON {
                break;
            }
        }
        let (sine, cosine) = (square / 2.0).sin_cos();
        let h = h.times(complex(size, -size)).times(complex(cosine, sine));
        [0.5 * (1.0 - h.re + h.im), 0.5 * (1.0 - h.re - h.im)]
    };
    [cosine.copysign(x), sine.copysign(x)]
}

pub(super) fn fresnel_cos(x: f64) -> f64 {
    fresnel(x)[0]
}

pub(super) fn fresnel_sin(x: f64) -> f64 {
    fresnel(x)[1]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: f64, want: f64) {
        assert!((got - want).abs() <= 4e-15 * want.abs(), "{got} {want}");
    }

    #[test]
    fn values_are_exact() {
        near(bessel_k0(0.1), 2.427_069_024_702_017);
        near(bessel_k0(2.0), 0.113_893_872_749_533_43);
        near(bessel_k1(0.1), 9.853_844_780_870_606);
        near(bessel_k1(3.0), 0.040_156_431_128_194_18);
        near(bessel_k0e(50.0), 0.176_807_155_857_429_34);
        near(dawson(0.5), 0.424_436_383_502_022_3);
        near(dawson(3.0), 0.178_271_030_610_558_27);
        near(dawson(-60.0), -0.008_334_491_223_329_05);
        near(expint(1.0), 1.895_117_816_355_936_8);
        near(expint(50.0), 1.058_563_689_713_169e20);
        near(spence(2.0), -0.822_467_033_424_113_2);
        near(spence(0.1), 1.299_714_723_004_958_8);
        near(fresnel_cos(1.0), 0.779_893_400_376_822_8);
        near(fresnel_sin(1.0), 0.438_259_147_390_354_8);
        near(fresnel_cos(5.0), 0.563_631_188_704_012_2);
        near(fresnel_sin(-5.0), -0.499_191_381_917_116_87);
    }

    #[test]
    fn parts_meet() {
        for (f, x, slope) in [
            (bessel_k0 as fn(f64) -> f64, 2.0, 0.14),
            (bessel_k1, 2.0, 0.2),
            (dawson, 1.0, 0.1),
            (dawson, 50.0, 1e-3),
            (expint, 40.0, 6e15),
            (spence, 0.5, 1.5),
            (spence, 2.0, 1.0),
            (fresnel_cos, 1.5, 1.0),
            (fresnel_sin, 1.5, 1.0),
        ] {
            let step = f64::EPSILON * x;
            let [low, high] = [f(x - step), f(x + step)];
            assert!(
                (high - low).abs() <= 4.0 * slope * step + 4.0 * f64::EPSILON * low.abs(),
                "{x}: {low} {high}"
            );
        }
    }

    #[test]
    fn every_argument_ends() {
        let ends =
            [0.0, -0.0, 1e-320, 1e300, f64::MAX, f64::INFINITY, f64::NAN, -1.0, -1e300, f64::NEG_INFINITY];
        for x in ends {
            for f in
                [bessel_j0, bessel_j1, bessel_y0, bessel_y1, bessel_k0, bessel_k0e, bessel_k1, bessel_k1e]
            {
                assert!(!x.is_nan() || f(x).is_nan(), "{x}");
            }
            for f in [dawson, expint, spence, fresnel_cos, fresnel_sin] {
                assert!(!x.is_nan() || f(x).is_nan(), "{x}");
            }
        }
    }
}
