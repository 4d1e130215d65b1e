//! Functions of one number, written so that loops over them vectorize.
//!
//! `e^x` is `2^n * e^r`, where `n` is the integer nearest to `x / ln 2` and `|r| <= ln 2 / 2`. Adding 1.5 *
//! 2^23 leaves `n` in the last bits. `ln 2` is subtracted in two parts. `2^n` is applied in two factors, so
//! that results near either end of the range are correct. `tanh` uses `e^2x - 1`, which keeps its digits near
//! 0. `sigmoid` uses `e^-|x|`, which cannot overflow. The rounding errors of the divisor's sum and of the
//! division are compensated: the inverse of the divisor follows from the quotient `q = e / (e + c)` itself.
//!
//! `log` uses a mantissa between 2/3 and 4/3. `erf` is a polynomial near 0, and `1 - e^p` of another
//! polynomial `p` farther out. (Both sets of coefficients, within 1 ulp, were published by N. Juffa.)
//!
//! There are no branches, only selections: NaN passes through everything. `FMA` selects the fused instruction
//! if the machine has it; otherwise `mul_add` would be a library call.

#![allow(
    clippy::needless_range_loop,
    reason = "indices, not iterators, which are only as good as the build's inlining"
)]

use super::layout::PANEL;

/// A function of one number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Function {
    /// The identity.
    #[default]
    Identity,
    /// `max(x, 0)`; NaN stays NaN, and -0 becomes 0.
    Relu,
    /// `min(max(x, 0), 6)`; NaN and -0 as in [`Function::Relu`].
    Relu6,
    /// `x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))`: TensorFlow's approximate gelu. As there, -inf
    /// gives NaN.
    GeluTanh,
    /// The hyperbolic tangent, to 2 ulp.
    Tanh,
    /// `1 / (1 + e^-x)`, to 2 ulp.
    Sigmoid,
    /// `x / (1 + e^-x)`, to 4 ulp or 1e-43: where `e^x` is no normal number, digits are lost. -inf gives NaN.
    Silu,
    /// `e^x`, to 2 ulp.
    Exp,
    /// The natural logarithm, to 2 ulp.
    Log,
    /// The error function, to 2 ulp.
    Erf,
    /// `x / 2 * (1 + erf(x / sqrt 2))`: the exact gelu, to 4e-7 times the larger of 1 and `|x|`. As in
    /// TensorFlow, -inf gives NaN.
    Gelu,
    /// The derivative of [`Function::Gelu`], to 4e-7 times the larger of 1 and `|x|`. An infinity gives NaN.
    GeluSlope,
    /// The derivative of [`Function::GeluTanh`], to 1e-6 times the larger of 1 and `|x|`. An infinity gives
    /// NaN.
    GeluTanhSlope,
    /// `x`, or `alpha * x` below 0.
    LeakyRelu(f32),
    /// `x`, or `e^x - 1` below 0, to 2 ulp.
    Elu,
    /// Scaled [`Function::Elu`] with the factors of self-normalizing networks, to 3 ulp.
    Selu,
    /// `log(1 + e^x)`, to 4 ulp.
    Softplus,
    /// `x / (1 + |x|)`; an infinity gives NaN.
    Softsign,
    /// `|x|`.
    Abs,
    /// `-x`.
    Neg,
    /// 1 or -1; 0 for zeros; NaN stays NaN.
    Sign,
    /// `x * x`.
    Square,
    /// `1 / x`.
    Reciprocal,
    /// The square root.
    Sqrt,
    /// `1 / sqrt(x)`, to 1 ulp.
    Rsqrt,
    /// The smallest integer not below `x`.
    Ceil,
    /// The largest integer not above `x`.
    Floor,
    /// The nearest integer, ties to even.
    Round,
}

/// `a * b + c`.
#[inline(always)]
pub(super) fn fma<const FMA: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// The integer `n` nearest to `x / ln 2`, and `x - n * ln 2`, for x from -104 to 104.
#[inline(always)]
fn reduce<const FMA: bool>(x: f32) -> (i32, f32) {
    const MAGIC: f32 = 12_582_912.0; // 1.5 * 2^23
    const LN2_HIGH: f32 = 0.693_359_4; // 355/512, exact: times any n here without rounding
    const LN2_LOW: f32 = -2.121_944_4e-4;
    let shifted = fma::<FMA>(x, std::f32::consts::LOG2_E, MAGIC);
    let n = shifted - MAGIC;
    let r = fma::<FMA>(-n, LN2_LOW, fma::<FMA>(-n, LN2_HIGH, x));
    ((shifted.to_bits() as i32).wrapping_sub(MAGIC.to_bits() as i32), r)
}

/// `e^r - 1` for `|r| <= ln 2 / 2`.
#[inline(always)]
fn small_expm1<const FMA: bool>(r: f32) -> f32 {
    let mut p = 1.0 / 5040.0;
    for c in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5] {
        p = fma::<FMA>(p, r, c);
    }
    fma::<FMA>(p * r, r, r)
}

/// `2^n` for n from -126 to 127.
#[inline(always)]
fn power_of_two(n: i32) -> f32 {
    f32::from_bits((n.wrapping_add(127) as u32) << 23)
}

#[inline(always)]
fn clamp(x: f32, low: f32, high: f32) -> f32 {
    // Not `f32::clamp`: this keeps a NaN without a branch.
    let x = if x < low { low } else { x };
    if x > high { high } else { x }
}

/// [`clamp`], but `low` for a NaN: two instructions.
#[inline(always)]
fn clamp_or_low(x: f32, low: f32, high: f32) -> f32 {
    let x = if x > low { x } else { low };
    if x < high { x } else { high }
}

#[inline(always)]
pub(super) fn exp<const FMA: bool>(x: f32) -> f32 {
    let (n, r) = reduce::<FMA>(clamp(x, -104.0, 89.0));
    let half = n >> 1;
    (1.0 + small_expm1::<FMA>(r)) * power_of_two(half) * power_of_two(n.wrapping_sub(half))
}

#[inline(always)]
fn tanh<const FMA: bool>(x: f32) -> f32 {
    let (n, r) = reduce::<FMA>(clamp(2.0 * x.abs(), 0.0, 20.0));
    let scale = power_of_two(n);
    let expm1 = fma::<FMA>(small_expm1::<FMA>(r), scale, scale - 1.0);
    let divisor = expm1 + 2.0;
    let lost = expm1 - (divisor - 2.0);
    let quotient = expm1 / divisor;
    let rest = fma::<FMA>(-quotient, divisor, expm1) - quotient * lost;
    // Near 1 the inverse of the divisor has no digits left, and there is nothing to compensate.
    let rest = if quotient < 0.9 { rest } else { 0.0 };
    fma::<FMA>(rest, 0.5 - 0.5 * quotient, quotient).copysign(x)
}

/// `e^x - 1` for `x <= 0`.
#[inline(always)]
fn negative_expm1<const FMA: bool>(x: f32) -> f32 {
    let (n, r) = reduce::<FMA>(clamp(x, -40.0, 0.0));
    let scale = power_of_two(n);
    let expm1 = fma::<FMA>(small_expm1::<FMA>(r), scale, scale - 1.0);
    if x == 0.0 { x } else { expm1 }
}

/// `log(1 + e)` for e from 0 to 1.
#[inline(always)]
fn log1p<const FMA: bool>(e: f32) -> f32 {
    let sum = 1.0 + e;
    // The rounding error of the sum.
    let lost = (e - (sum - 1.0)) / sum;
    log::<FMA>(sum) + lost
}

#[inline(always)]
fn log<const FMA: bool>(x: f32) -> f32 {
    const TWO_THIRDS: i32 = 0x3f2a_aaab;
    let is_tiny = x < f32::MIN_POSITIVE;
    let scaled = if is_tiny { x * 8_388_608.0 } else { x };
    let bits = scaled.to_bits() as i32;
    let exponent = bits.wrapping_sub(TWO_THIRDS) & !0x7f_ffff;
    let f = f32::from_bits(bits.wrapping_sub(exponent) as u32) - 1.0;
    let n = (exponent >> 23) as f32 - if is_tiny { 23.0 } else { 0.0 };
    let square = f * f;
    let (mut even, mut odd) = (-0.130_310_06, 0.140_869_14);
    for (e, o) in [(-0.121_483_51, 0.139_814_85), (-0.166_846_13, 0.200_120_35)] {
        even = fma::<FMA>(even, square, e);
        odd = fma::<FMA>(odd, square, o);
    }
    even = fma::<FMA>(even, square, -0.249_996_2);
    let mut p = fma::<FMA>(odd, f, even);
    p = fma::<FMA>(p, f, 0.333_331_97);
    p = fma::<FMA>(p, f, -0.5);
    p = fma::<FMA>(p, square, f);
    let log = fma::<FMA>(n, std::f32::consts::LN_2, p);
    let special = if x == 0.0 {
        f32::NEG_INFINITY
    } else if x < 0.0 {
        f32::NAN
    } else {
        x
    };
    if x > 0.0 && x < f32::INFINITY { log } else { special }
}

#[inline(always)]
fn erf<const FMA: bool>(x: f32) -> f32 {
    let (t, square) = (x.abs(), x * x);
    let mut far = fma::<FMA>(-1.728_534_7e-5, t, 3.831_971_3e-4);
    far = fma::<FMA>(far, square, fma::<FMA>(-3.883_964_4e-3, t, 2.425_462_2e-2));
    for c in [-0.106_777_88, -0.634_846_7, -0.128_717_51] {
        far = fma::<FMA>(far, t, c);
    }
    far = fma::<FMA>(far, t, -t);
    // Beyond 4 the result is 1.
    let far = (1.0 - exp::<FMA>(if t > 4.0 { -104.0 } else { far })).copysign(x);
    let mut near = -5.967_617e-4;
    for c in [4.991_194_2e-3, -2.676_813_5e-2, 0.112_819_925, -0.376_125_34, 0.128_379_17] {
        near = fma::<FMA>(near, square, c);
    }
    let near = fma::<FMA>(near, x, x);
    if t > 0.927_734_4 { far } else { near }
}

#[inline(always)]
fn sigmoid<const FMA: bool>(x: f32) -> f32 {
    let e = exp::<FMA>(-x.abs());
    let divisor = 1.0 + e;
    let lost = e - (divisor - 1.0);
    let dividend = if x < 0.0 { e } else { 1.0 };
    let quotient = dividend / divisor;
    let rest = fma::<FMA>(-quotient, divisor, dividend) - quotient * lost;
    fma::<FMA>(rest, if x < 0.0 { 1.0 - quotient } else { quotient }, quotient)
}

/// Half of the instructions of `x * sigmoid(x)`: images of networks are large. `e^-x` is scaled, so that it
/// does not overflow where the result is not 0 yet. Beyond 40 it changes no sum with 1.
#[inline(always)]
fn silu<const FMA: bool>(x: f32) -> f32 {
    const SHIFT: i32 = -64;
    // A NaN of `x` is in the last product.
    let (n, r) = reduce::<FMA>(-clamp_or_low(x, -104.0, 40.0));
    let p = 1.0 + small_expm1::<FMA>(r);
    let scaled = f32::from_bits(p.to_bits().wrapping_add((n.wrapping_add(SHIFT) as u32) << 23));
    let one = power_of_two(SHIFT);
    x * (one / (one + scaled))
}

/// Joins the lanes of a vector, whose number is a power of two: those of the second half with those of the
/// first, and so on.
#[inline(always)]
pub(super) fn across<T: Copy, const N: usize>(mut lanes: [T; N], join: impl Fn(T, T) -> T) -> T {
    let mut half = N / 2;
    while half > 0 {
        for i in 0..half {
            lanes[i] = join(lanes[i], lanes[i + half]);
        }
        half /= 2;
    }
    lanes[0]
}

#[inline(always)]
fn apply<const FMA: bool>(function: Function, x: f32) -> f32 {
    match function {
        Function::Identity => x,
        Function::Relu => {
            if x <= 0.0 {
                0.0
            } else {
                x
            }
        }
        Function::Relu6 => {
            let x = if x <= 0.0 { 0.0 } else { x };
            if x > 6.0 { 6.0 } else { x }
        }
        Function::GeluTanh => {
            const SQRT_2_OVER_PI: f32 = 0.797_884_6;
            let inner = SQRT_2_OVER_PI * fma::<FMA>(0.044_715 * x * x, x, x);
            0.5 * x * (1.0 + tanh::<FMA>(inner))
        }
        Function::Tanh => tanh::<FMA>(x),
        Function::Sigmoid => sigmoid::<FMA>(x),
        Function::Silu => silu::<FMA>(x),
        Function::Exp => exp::<FMA>(x),
        Function::Log => log::<FMA>(x),
        Function::Erf => erf::<FMA>(x),
        Function::Gelu => 0.5 * x * (1.0 + erf::<FMA>(x * std::f32::consts::FRAC_1_SQRT_2)),
        Function::GeluSlope => {
            const DENSITY_AT_0: f32 = 0.398_942_3; // 1 / sqrt(2 pi)
            let density = DENSITY_AT_0 * exp::<FMA>(-0.5 * x * x);
            let phi = 0.5 * (1.0 + erf::<FMA>(x * std::f32::consts::FRAC_1_SQRT_2));
            fma::<FMA>(x, density, phi)
        }
        Function::GeluTanhSlope => {
            const SQRT_2_OVER_PI: f32 = 0.797_884_6;
            let square = x * x;
            let t = tanh::<FMA>(SQRT_2_OVER_PI * fma::<FMA>(0.044_715 * square, x, x));
            let slope = SQRT_2_OVER_PI * fma::<FMA>(0.134_145, square, 1.0);
            0.5 * (1.0 + t) + 0.5 * x * slope * (1.0 - t * t)
        }
        Function::LeakyRelu(alpha) => {
            if x < 0.0 {
                x * alpha
            } else {
                x
            }
        }
        Function::Elu => {
            if x < 0.0 {
                negative_expm1::<FMA>(x)
            } else {
                x
            }
        }
        Function::Selu => {
            const SCALE: f32 = 1.050_701;
            const SCALE_ALPHA: f32 = 1.758_099_3;
            if x < 0.0 { SCALE_ALPHA * negative_expm1::<FMA>(x) } else { SCALE * x }
        }
        Function::Softplus => {
            let more = log1p::<FMA>(exp::<FMA>(-x.abs()));
            if x > 0.0 { x + more } else { more }
        }
        Function::Softsign => {
            let quotient = x / (1.0 + x.abs());
            if x.is_infinite() { f32::NAN } else { quotient }
        }
        Function::Abs => x.abs(),
        Function::Neg => -x,
        Function::Sign => {
            let sign = 1.0f32.copysign(x);
            if x == 0.0 || x.is_nan() { x.abs() } else { sign }
        }
        Function::Square => x * x,
        Function::Reciprocal => 1.0 / x,
        Function::Sqrt => x.sqrt(),
        Function::Rsqrt => 1.0 / x.sqrt(),
        Function::Ceil => x.ceil(),
        Function::Floor => x.floor(),
        Function::Round => x.round_ties_even(),
    }
}

/// Each arm has its own loops over a known function; a loop over an unknown one would not vectorize.
#[inline(always)]
pub(super) fn map<const FMA: bool>(function: Function, x: &mut [f32]) {
    macro_rules! each {
        ($($name:ident)*) => {
            match function {
                Function::Identity => {}
                Function::LeakyRelu(alpha) => apply_to_all::<FMA>(Function::LeakyRelu(alpha), x),
                $(Function::$name => apply_to_all::<FMA>(Function::$name, x),)*
            }
        };
    }
    each!(
        Relu Relu6 GeluTanh Tanh Sigmoid Silu Exp Log Erf Gelu GeluSlope GeluTanhSlope Elu Selu Softplus Softsign Abs Neg
        Sign Square Reciprocal Sqrt Rsqrt Ceil Floor Round
    );
}

/// The columns of a panel are a loop without a counter: a row of a tile has no more.
#[inline(always)]
fn apply_to_all<const FMA: bool>(function: Function, x: &mut [f32]) {
    let (panels, rest) = x.as_chunks_mut::<PANEL>();
    for i in 0..panels.len() {
        let mut numbers = panels[i];
        for j in 0..PANEL {
            numbers[j] = apply::<FMA>(function, numbers[j]);
        }
        panels[i] = numbers;
    }
    for i in 0..rest.len() {
        rest[i] = apply::<FMA>(function, rest[i]);
    }
}

/// `to = function(x)` for functions that cost less than reading `x`; false for the others.
#[inline(always)]
pub(super) fn map_to<const FMA: bool>(function: Function, x: &[f32], to: &mut [f32]) -> bool {
    let x = &x[..to.len()];
    macro_rules! each {
        ($($name:ident)*) => {
            match function {
                $(Function::$name => {
                    for i in 0..x.len() {
                        to[i] = apply::<FMA>(Function::$name, x[i]);
                    }
                })*
                _ => return false,
            }
        };
    }
    each!(Relu Relu6 Abs Neg Square Sqrt);
    true
}
