//! Special functions of real numbers: incomplete gamma functions, the Hurwitz zeta function, polygamma and
//! modified Bessel functions.
//!
//! Most are computed by a convergent series near the origin and by another expansion elsewhere. Outside of
//! the domain the result is NaN or an infinity, as in TensorFlow. The number of terms is bounded.

/// The largest number of terms of a series or continued fraction.
const MAX_TERMS: usize = 2000;

/// The regularized lower incomplete gamma function, `P(a, x)`.
pub(super) fn igamma(a: f64, x: f64) -> f64 {
    match gamma_domain(a, x) {
        _ if x == 0.0 => 0.0, // for every `a`, including NaN
        None => f64::NAN,
        Some(()) if a == f64::INFINITY || is_beyond(a, x) => 0.0,
        Some(()) if x == f64::INFINITY => 1.0,
        Some(()) if x > 1.0 && x > a => 1.0 - upper(a, x),
        Some(()) => lower(a, x).min(1.0),
    }
}

/// The regularized upper incomplete gamma function, `Q(a, x)`.
pub(super) fn igammac(a: f64, x: f64) -> f64 {
    match gamma_domain(a, x) {
        None => f64::NAN,
        Some(()) if x == f64::INFINITY || is_beyond(a, x) => 0.0,
        Some(()) if x == 0.0 || a == f64::INFINITY => 1.0,
        Some(()) if x < 1.0 || x < a => (1.0 - lower(a, x)).max(0.0),
        Some(()) => upper(a, x),
    }
}

/// `Some` if the incomplete gamma functions are defined.
fn gamma_domain(a: f64, x: f64) -> Option<()> {
    (a > 0.0 && x >= 0.0).then_some(())
}

/// True if cancellation leaves no digits of the density at `x`. Both functions are 0 there, as in TensorFlow.
fn is_beyond(a: f64, x: f64) -> bool {
    a == x && a > 1e30
}

/// `x^a e^-x / Gamma(a)`.
fn gamma_density(a: f64, x: f64) -> f64 {
    (a * x.ln() - x - libm::lgamma(a)).exp()
}

/// The power series of `P(a, x)`.
fn lower(a: f64, x: f64) -> f64 {
    let (mut term, mut sum, mut n) = (1.0, 1.0, a);
    for _ in 0..MAX_TERMS {
        n += 1.0;
        term *= x / n;
        sum += term;
        if term <= f64::EPSILON * sum {
            break;
        }
    }
    gamma_density(a, x) * sum / a
}

/// The derivative of `P(a, x)` by `a`, divided by `x^a e^-x / Gamma(a)`.
///
/// Those of the series and of the continued fraction are computed beside their values.
fn scaled_derivative(a: f64, x: f64, digamma: fn(f64) -> f64) -> f64 {
    let log = x.ln() - digamma(a);
    if x > 1.0 && x > a {
        let [fraction, slope] = upper_fraction(a, x);
        return -(fraction * log + slope);
    }
    let (mut term, mut sum, mut n) = ([1.0, 0.0], [1.0, 0.0], a);
    for _ in 0..MAX_TERMS {
        n += 1.0;
        term = [term[0] * x / n, (term[1] - term[0] / n) * x / n];
        sum = [sum[0] + term[0], sum[1] + term[1]];
        if term[1].abs() <= f64::EPSILON * sum[1].abs() {
            break;
        }
    }
    (sum[0] * log + sum[1] - sum[0] / a) / a
}

/// The derivative of [`igamma`] by `a`.
pub(super) fn igamma_grad_a(a: f64, x: f64, digamma: fn(f64) -> f64) -> f64 {
    match gamma_domain(a, x) {
        _ if x == 0.0 => 0.0,
        None => f64::NAN,
        Some(()) if a == f64::INFINITY || x == f64::INFINITY => 0.0,
        Some(()) => gamma_density(a, x) * scaled_derivative(a, x, digamma),
    }
}

/// The derivative of a sample `x` of the gamma distribution by its parameter `a`, at a constant [`igamma`].
pub(super) fn gamma_sample_grad(a: f64, x: f64, digamma: fn(f64) -> f64) -> f64 {
    match gamma_domain(a, x) {
        _ if x == 0.0 => 0.0,
        None => f64::NAN,
        Some(()) => -x * scaled_derivative(a, x, digamma),
    }
}

/// The continued fraction of `Q(a, x)`.
fn upper(a: f64, x: f64) -> f64 {
    gamma_density(a, x) * upper_fraction(a, x)[0]
}

/// The continued fraction of `Q(a, x)` without its factor, and its derivative by `a`: by Lentz's method.
fn upper_fraction(a: f64, x: f64) -> [f64; 2] {
    let tiny = 1e-300;
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (1.0 / tiny, 1.0 / b);
    // The derivatives of `b`, `c`, `d` and the logarithm of the fraction.
    let (db, mut dc, mut dd) = (-1.0, 0.0, d * d);
    let (mut fraction, mut slope) = (d, d);
    for i in 1..MAX_TERMS {
        let i = i as f64;
        let numerator = -i * (i - a);
        b += 2.0;
        let not_zero = |x: f64| if x.abs() < tiny { tiny } else { x };
        let next = 1.0 / not_zero(numerator * d + b);
        dd = -next * next * (i * d + numerator * dd + db);
        d = next;
        dc = db + i / c - numerator * dc / (c * c);
        c = not_zero(b + numerator / c);
        fraction *= d * c;
        let step = dd / d + dc / c;
        slope += step;
        // The fraction of a whole `a` ends before its derivative.
        if (d * c - 1.0).abs() <= f64::EPSILON && step.abs() <= f64::EPSILON * slope.abs() {
            break;
        }
    }
    [fraction, fraction * slope]
}

/// The regularized incomplete beta function, `I_x(a, b)`.
pub(super) fn betainc(a: f64, b: f64, x: f64) -> f64 {
    if !(a > 0.0 && b > 0.0 && (0.0..=1.0).contains(&x)) {
        return f64::NAN;
    }
    if x == 0.0 || x == 1.0 {
        return x;
    }
    let density = libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * x.ln() + b * (-x).ln_1p();
    match x < (a + 1.0) / (a + b + 2.0) {
        true => density.exp() * beta_fraction(a, b, x) / a,
        false => 1.0 - density.exp() * beta_fraction(b, a, 1.0 - x) / b,
    }
}

/// The continued fraction of the incomplete beta function, by Lentz's method.
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    let not_zero = |x: f64| if x.abs() < 1e-300 { 1e-300 } else { x };
    let (mut c, mut d) = (1.0, 1.0 / not_zero(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for m in 1..MAX_TERMS {
        let m = m as f64;
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / not_zero(1.0 + even * d);
        c = not_zero(1.0 + even / c);
        fraction *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / not_zero(1.0 + odd * d);
        c = not_zero(1.0 + odd / c);
        fraction *= d * c;
        if (d * c - 1.0).abs() <= f64::EPSILON {
            break;
        }
    }
    fraction
}

/// The Hurwitz zeta function: the sum of `(q + n)^-x` over all `n` from 0.
pub(super) fn zeta(x: f64, q: f64) -> f64 {
    if x == 1.0 {
        return f64::INFINITY;
    }
    if x.is_nan() || q.is_nan() || x < 1.0 {
        return f64::NAN;
    }
    if q > 0.0 {
        return zeta_positive(x, q);
    }
    let is_even = x == f64::INFINITY || (x.floor() == x && x % 2.0 == 0.0);
    if q.floor() == q {
        return if is_even { f64::INFINITY } else { f64::NAN };
    }
    if x.floor() != x {
        return f64::NAN;
    }
    // The terms with negative q + n are, up to the sign, those of the numbers from 1 - fraction up to -q.
    let fraction = q - q.floor();
    let mirrored = zeta_positive(x, 1.0 - fraction) - zeta_positive(x, 1.0 - q);
    zeta_positive(x, fraction) + if is_even { mirrored } else { -mirrored }
}

/// [`zeta`] of a positive `q`: the first terms, then the Euler-Maclaurin formula for the rest.
fn zeta_positive(x: f64, q: f64) -> f64 {
    /// `(2k)! / B(2k)`.
    const COEFFICIENTS: [f64; 12] = [
        12.0,
        -720.0,
        30240.0,
        -1_209_600.0,
        47_900_160.0,
        -1.892_437_580_318_379_2e9,
        7.472_424_96e10,
        -2.950_130_727_918_164e12,
        1.164_678_281_435_006_7e14,
        -4.597_978_722_407_473e15,
        1.815_210_540_194_354_7e17,
        -7.166_165_256_175_667e18,
    ];
    let mut sum = q.powf(-x);
    let (mut at, mut term) = (q, sum);
    for i in 0.. {
        if i >= 9 && at > 9.0 {
            break;
        }
        at += 1.0;
        term = at.powf(-x);
        sum += term;
        if term <= f64::EPSILON * sum {
            return sum;
        }
    }
    sum += term * at / (x - 1.0) - 0.5 * term;
    let (mut factor, mut k) = (1.0, 0.0);
    for coefficient in COEFFICIENTS {
        factor *= x + k;
        term /= at;
        let correction = factor * term / coefficient;
        sum += correction;
        if correction.abs() <= f64::EPSILON * sum.abs() {
            break;
        }
        factor *= x + k + 1.0;
        term /= at;
        k += 2.0;
    }
    sum
}

/// The `n`-th derivative of the digamma function.
pub(super) fn polygamma(n: f64, x: f64, digamma: fn(f64) -> f64) -> f64 {
    if n == 0.0 {
        return digamma(x);
    }
    if n.is_nan() || n < 0.0 || n.floor() != n {
        return f64::NAN;
    }
    // The sign is (-1)^(n + 1). The parity is that of n + 1, which is even if n is above 2^53.
    let sign = if (n + 1.0) % 2.0 == 1.0 { -1.0 } else { 1.0 };
    sign * libm::lgamma(n + 1.0).exp() * zeta(n + 1.0, x)
}

/// The argument from which the asymptotic expansion of the Bessel functions is accurate to double precision.
const FAR: f64 = 30.0;

/// `e^-|x| I(x)` of order 0 or 1.
fn bessel_scaled(order: f64, x: f64) -> f64 {
    let y = x.abs();
    let value = if y.is_nan() || y == f64::INFINITY {
        y.recip()
    } else if y < FAR {
        let (quarter, mut term, mut sum, mut k) = (y * y / 4.0, 1.0, 1.0, 1.0);
        while term > f64::EPSILON * sum {
            term *= quarter / (k * (k + order));
            sum += term;
            k += 1.0;
        }
        sum * (-y).exp() * if order > 0.0 { y / 2.0 } else { 1.0 }
    } else {
        let (mu, mut term, mut sum, mut k) = (4.0 * order * order, 1.0f64, 1.0, 1.0);
        while term.abs() > f64::EPSILON * sum {
            let odd = 2.0 * k - 1.0;
            term *= -(mu - odd * odd) / (k * 8.0 * y);
            sum += term;
            k += 1.0;
        }
        // Two roots, because the root of the product may overflow.
        sum / ((2.0 * std::f64::consts::PI).sqrt() * y.sqrt())
    };
    if order > 0.0 && x < 0.0 { -value } else { value }
}

/// The modified Bessel function of order 0, times `e^-|x|`.
pub(super) fn bessel_i0e(x: f64) -> f64 {
    bessel_scaled(0.0, x)
}

/// The modified Bessel function of order 1, times `e^-|x|`.
pub(super) fn bessel_i1e(x: f64) -> f64 {
    bessel_scaled(1.0, x)
}

/// The modified Bessel function of order 0; NaN at infinity, as in TensorFlow.
pub(super) fn bessel_i0(x: f64) -> f64 {
    bessel_i0e(x) * x.abs().exp()
}

/// The modified Bessel function of order 1; NaN at infinity, as in TensorFlow.
pub(super) fn bessel_i1(x: f64) -> f64 {
    bessel_i1e(x) * x.abs().exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: f64, want: f64) {
        assert!((got - want).abs() <= 1e-13 * want.abs().max(1e-300), "{got} {want}");
    }

    /// Expected values by mpmath.
    #[test]
    fn values_are_exact() {
        near(igamma(0.5, 2.0), 0.954_499_736_103_641_6);
        near(igammac(3.0, 1.0), 0.919_698_602_928_605_8);
        near(zeta(2.0, 1.0), std::f64::consts::PI.powi(2) / 6.0);
        near(zeta(3.0, 0.25), 28.0 * 1.202_056_903_159_594_2 + std::f64::consts::PI.powi(3));
        near(bessel_i0(1.0), 1.266_065_877_752_008_4);
        near(bessel_i1(-1.0), -0.565_159_103_992_485);
        // Both expansions agree where they meet.
        for f in [bessel_i0e, bessel_i1e] {
            assert!((f(FAR) / f(FAR.next_down()) - 1.0).abs() < 1e-13);
        }
        // The terms with negative q + n, one by one.
        near(zeta(4.0, -2.5), 2.5f64.powi(-4) + 1.5f64.powi(-4) + 0.5f64.powi(-4) + zeta(4.0, 0.5));
        near(zeta(3.0, -1.5), -1.5f64.powi(-3) - 0.5f64.powi(-3) + zeta(3.0, 0.5));
    }

    #[test]
    fn every_argument_ends() {
        let ends = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, 1e15 + 0.5, -1e15 - 0.5];
        let all = ends.iter().copied().chain([0.0, -0.0, 1.0, -1.0, 0.5, 1e-300, 1.0 + 1e-16, 29.9, 1e6]);
        let all: Vec<f64> = all.collect();
        for &a in &all {
            for &b in &all {
                let _ = [igamma(a, b), igammac(a, b), zeta(a, b), polygamma(a, b, |x| x)];
            }
            assert!(bessel_i0e(a).is_nan() == a.is_nan() && bessel_i1e(a).is_nan() == a.is_nan(), "{a}");
            assert!(bessel_i0(a).is_nan() != a.is_finite() || a.abs() > 700.0, "{a}");
        }
        assert!(igamma(1.0, -1.0).is_nan() && igamma(f64::INFINITY, 1.0) == 0.0);
        assert_eq!((zeta(1.0, 2.0), zeta(2.0, -3.0)), (f64::INFINITY, f64::INFINITY));
        assert!(zeta(3.0, -3.0).is_nan() && zeta(2.5, -0.5).is_nan() && zeta(0.5, 2.0).is_nan());
    }
}
