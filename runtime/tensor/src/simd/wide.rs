//! Functions of f64, and of f32 computed in f64, written so that loops over them vectorize. Each is within 2
//! ulp.
//!
//! ```text
//! e^x       2^n * e^r       n the integer nearest to x / ln 2, |r| <= ln 2 / 2; ln 2 in two parts
//! log x     n * ln 2 + 2 artanh((m - 1) / (m + 1))     x = 2^n * m, m from sqrt(1/2) to sqrt 2
//! sin, cos  of x - n * pi / 2, |x| up to 2^20; pi / 2 in three parts, so that n times the first is exact
//! tanh      (e^2x - 1) / (e^2x + 1)
//! x^y       e^(y * log x) for f32: f64 has the digits that the logarithm loses
//! ```
//!
//! Polynomials are Taylor's, which on these intervals need one or two terms more than the best ones. There
//! are no branches, only selections: what the formulas do not cover (large angles, powers of what is not
//! positive) is computed by the standard library afterwards, number by number, so that no result depends on
//! its neighbours.

#![allow(
    clippy::needless_range_loop,
    reason = "indices, not iterators, which are only as good as the build's inlining"
)]

use super::{Isa, IsaKind};

/// A function of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wide {
    /// `e^x`.
    Exp,
    /// The natural logarithm.
    Log,
    /// The sine.
    Sin,
    /// The cosine.
    Cos,
    /// The hyperbolic tangent.
    Tanh,
    /// `1 / (1 + e^-x)`.
    Sigmoid,
}

/// The angles that are reduced exactly.
const MAX_ANGLE: f64 = 1_048_576.0;

/// `a * b + c`.
#[inline(always)]
fn fma<const FMA: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// The polynomial with these coefficients, the highest power first.
#[inline(always)]
fn polynomial<const FMA: bool, const N: usize>(x: f64, coefficients: [f64; N]) -> f64 {
    let mut p = coefficients[0];
    for i in 1..N {
        p = fma::<FMA>(p, x, coefficients[i]);
    }
    p
}

/// The inverses of the factorials of `first`, `first + step`, and so on, for N terms, the last one first.
/// They have alternating signs if `step` is 2.
const fn taylor<const N: usize>(first: u64, step: u64) -> [f64; N] {
    let mut terms = [0.0; N];
    let mut i = 0;
    while i < N {
        let (mut inverse, mut n) = (1.0, 2);
        while n <= first + step * i as u64 {
            inverse /= n as f64;
            n += 1;
        }
        terms[N - 1 - i] = if step == 2 && i % 2 == 1 { -inverse } else { inverse };
        i += 1;
    }
    terms
}

/// 1.5 * 2^52: the last bits of its sum with a number are the nearest integer.
const MAGIC: f64 = 6_755_399_441_055_744.0;

/// The integer nearest to `x`, as a float and in the low bits of an integer, for `|x|` below 2^51.
#[inline(always)]
fn nearest(x: f64) -> (f64, i64) {
    let shifted = x + MAGIC;
    (shifted - MAGIC, (shifted.to_bits() as i64).wrapping_sub(MAGIC.to_bits() as i64))
}

/// `x` limited to a range; NaN stays NaN.
#[inline(always)]
fn clamp(x: f64, low: f64, high: f64) -> f64 {
    let x = if x < low { low } else { x };
    if x > high { high } else { x }
}

/// `2^n` for n from -1022 to 1023.
#[inline(always)]
fn power_of_two(n: i64) -> f64 {
    f64::from_bits((n.wrapping_add(1023) as u64) << 52)
}

/// The two parts of ln 2. The first has 40 bits: times an exponent it is exact.
const LN2: [f64; 2] = [0.6931471805592082, 7.371002565167799e-13];

/// The integer `n` nearest to `x / ln 2`, and `e^r - 1` for the rest `r`.
#[inline(always)]
fn reduced_expm1<const FMA: bool>(x: f64) -> (i64, f64) {
    const TERMS: [f64; 12] = taylor(2, 1);
    let (n, integer) = nearest(x * std::f64::consts::LOG2_E);
    let r = fma::<FMA>(-n, LN2[1], fma::<FMA>(-n, LN2[0], x));
    (integer, fma::<FMA>(r * r, polynomial::<FMA, 12>(r, TERMS), r))
}

#[inline(always)]
fn exp<const FMA: bool>(x: f64) -> f64 {
    let (n, expm1) = reduced_expm1::<FMA>(clamp(x, -746.0, 710.0));
    // In two factors, each of which is a normal number.
    let half = n >> 1;
    (1.0 + expm1) * power_of_two(half) * power_of_two(n - half)
}

#[inline(always)]
fn log<const FMA: bool>(x: f64) -> f64 {
    const SQRT_HALF: i64 = 0x3fe6_a09e_667f_3bcd;
    const TERMS: [f64; 11] = [
        2.0 / 23.0,
        2.0 / 21.0,
        2.0 / 19.0,
        2.0 / 17.0,
        2.0 / 15.0,
        2.0 / 13.0,
        2.0 / 11.0,
        2.0 / 9.0,
        2.0 / 7.0,
        2.0 / 5.0,
        2.0 / 3.0,
    ];
    let is_tiny = x < f64::MIN_POSITIVE;
    let scaled = if is_tiny { x * 18_014_398_509_481_984.0 } else { x }; // 2^54
    let bits = scaled.to_bits() as i64;
    let exponent = bits.wrapping_sub(SQRT_HALF) & !0xf_ffff_ffff_ffff;
    let f = f64::from_bits(bits.wrapping_sub(exponent) as u64) - 1.0;
    // The exponent has 12 bits, so that the conversion by the last bits of a float is exact.
    let n = f64::from_bits((exponent >> 52).wrapping_add(MAGIC.to_bits() as i64) as u64) - MAGIC;
    let n = n - if is_tiny { 54.0 } else { 0.0 };
    let s = f / (2.0 + f);
    let square = s * s;
    let rest = square * polynomial::<FMA, 11>(square, TERMS);
    // 2 artanh(s) = f - (h - s * (h + rest)), where h = f^2 / 2: the terms after f are small.
    let h = 0.5 * f * f;
    let small = fma::<FMA>(s, h + rest, n * LN2[1]);
    let log = fma::<FMA>(n, LN2[0], f - (h - small));
    let special = if x == 0.0 {
        f64::NEG_INFINITY
    } else if x < 0.0 {
        f64::NAN
    } else {
        x
    };
    if x > 0.0 && x < f64::INFINITY { log } else { special }
}

/// The sine of an angle, or the cosine if `quarters` is 1.
#[inline(always)]
fn sine<const FMA: bool>(x: f64, quarters: i64) -> f64 {
    const PARTS: [f64; 3] = [1.570_796_326_734_125_6, 6.077_100_506_303_966e-11, 2.022_266_248_795_950_6e-21];
    const SINE: [f64; 8] = taylor(3, 2);
    const COSINE: [f64; 7] = taylor(4, 2);
    let (n, integer) = nearest(x * std::f64::consts::FRAC_2_PI);
    let r = PARTS.iter().fold(x, |r, &part| fma::<FMA>(-n, part, r));
    let square = r * r;
    let sine = fma::<FMA>(-r * square, polynomial::<FMA, 8>(square, SINE), r);
    let half = 0.5 * square;
    let near = 1.0 - half;
    let lost = (1.0 - near) - half;
    let cosine = near + fma::<FMA>(square * square, polynomial::<FMA, 7>(square, COSINE), lost);
    let quarter = integer.wrapping_add(quarters);
    let magnitude = if quarter & 1 == 0 { sine } else { cosine };
    // -0 is its own sine.
    let magnitude = if quarters == 0 && x == 0.0 { x } else { magnitude };
    if quarter & 2 == 0 { magnitude } else { -magnitude }
}

#[inline(always)]
fn tanh<const FMA: bool>(x: f64) -> f64 {
    let (n, r) = reduced_expm1::<FMA>(clamp(2.0 * x.abs(), 0.0, 44.0));
    let scale = power_of_two(n);
    let expm1 = fma::<FMA>(r, scale, scale - 1.0);
    // The rounding errors of the divisor and of the quotient; the inverse of the divisor is (1 - quotient) /
    // 2.
    let divisor = expm1 + 2.0;
    let lost = expm1 - (divisor - 2.0);
    let quotient = expm1 / divisor;
    let rest = if FMA { fma::<FMA>(-quotient, divisor, expm1) } else { 0.0 } - quotient * lost;
    fma::<FMA>(rest, 0.5 - 0.5 * quotient, quotient).copysign(x)
}

#[inline(always)]
fn sigmoid<const FMA: bool>(x: f64) -> f64 {
    let e = exp::<FMA>(-x.abs());
    (if x < 0.0 { e } else { 1.0 }) / (1.0 + e)
}

#[inline(always)]
fn run<const FMA: bool>(function: Wide, x: &mut [f64]) {
    macro_rules! each {
        ($f:expr) => {
            for i in 0..x.len() {
                x[i] = $f(x[i]);
            }
        };
    }
    match function {
        Wide::Exp => each!(exp::<FMA>),
        Wide::Log => each!(log::<FMA>),
        Wide::Sin => each!(|x| sine::<FMA>(x, 0)),
        Wide::Cos => each!(|x| sine::<FMA>(x, 1)),
        Wide::Tanh => each!(tanh::<FMA>),
        Wide::Sigmoid => each!(sigmoid::<FMA>),
    }
}

/// `base^exponent` of positive finite numbers.
#[inline(always)]
fn powers<const FMA: bool>(base: &mut [f64], exponent: &[f64]) {
    let exponent = &exponent[..base.len()];
    for i in 0..base.len() {
        base[i] = exp::<FMA>(exponent[i] * log::<FMA>(base[i]));
    }
}

/// The numbers that are processed at a time, on the stack.
const BLOCK: usize = 256;

impl Isa {
    /// A function of each number, in place.
    pub(crate) fn map_wide(self, function: Wide, x: &mut [f64]) {
        let by_library = match function {
            Wide::Sin => f64::sin,
            Wide::Cos => f64::cos,
            _ => return self.run_wide(function, x),
        };
        let mut given = [0.0; BLOCK];
        for x in x.chunks_mut(BLOCK) {
            let given = &mut given[..x.len()];
            given.copy_from_slice(x);
            self.run_wide(function, x);
            for (x, &given) in x.iter_mut().zip(&*given) {
                if given.abs() > MAX_ANGLE || given.is_nan() {
                    *x = by_library(given);
                }
            }
        }
    }

    /// [`Isa::map_wide`] of f32.
    pub(crate) fn map_wide_f32(self, function: Wide, x: &mut [f32]) {
        let mut wide = [0.0; BLOCK];
        for x in x.chunks_mut(BLOCK) {
            let wide = &mut wide[..x.len()];
            wide.iter_mut().zip(&*x).for_each(|(wide, &x)| *wide = f64::from(x));
            self.map_wide(function, wide);
            x.iter_mut().zip(&*wide).for_each(|(x, &wide)| *x = wide as f32);
        }
    }

    /// `out = base^exponent` for three slices of one length.
    pub(crate) fn powers(self, base: &[f32], exponent: &[f32], out: &mut [f32]) {
        let (mut wide, mut by) = ([0.0; BLOCK], [0.0; BLOCK]);
        for ((base, exponent), out) in
            base.chunks(BLOCK).zip(exponent.chunks(BLOCK)).zip(out.chunks_mut(BLOCK))
        {
            let (wide, by) = (&mut wide[..out.len()], &mut by[..out.len()]);
            wide.iter_mut().zip(base).for_each(|(wide, &x)| *wide = f64::from(x));
            by.iter_mut().zip(exponent).for_each(|(by, &x)| *by = f64::from(x));
            compiled!(
                self,
                |wide: &mut [f64], by: &[f64]| powers::<false>(wide, by),
                powers::<true>(wide, by)
            );
            for (((out, &wide), &base), &exponent) in out.iter_mut().zip(&*wide).zip(base).zip(exponent) {
                let is_covered = base > 0.0 && base < f32::INFINITY && exponent.is_finite();
                *out =
                    if is_covered { wide as f32 } else { f64::from(base).powf(f64::from(exponent)) as f32 };
            }
        }
    }

    fn run_wide(self, function: Wide, x: &mut [f64]) {
        compiled!(self, |function: Wide, x: &mut [f64]| run::<false>(function, x), run::<true>(function, x));
    }
}
