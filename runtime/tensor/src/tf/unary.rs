//! Elementwise functions of one tensor: a table per kind of number.
//!
//! An operator that a table lacks does not exist for its dtypes: [`TensorError::Unsupported`]. Floats follow IEEE 754 (the logarithm of
//! a negative number is NaN, of zero -inf); integers wrap around (`Abs` and `Neg` of the smallest are itself).

use std::f64::consts::PI;
use std::sync::Arc;

use super::numeric::{Domain, Number, named_ops};
use crate::element::with_element;
use crate::mem::Allocator;
use crate::{Complex128, DType, HostTensor, I1, TensorError};

named_ops! {
    /// An elementwise function whose result has the operand's dtype.
    Unary {
        Abs = "Abs"; Neg = "Neg"; Sign = "Sign"; Square = "Square"; Reciprocal = "Reciprocal" | "Inv"; Sqrt = "Sqrt"; Rsqrt = "Rsqrt";
        Exp = "Exp"; Expm1 = "Expm1"; Log = "Log"; Log1p = "Log1p"; Sin = "Sin"; Cos = "Cos"; Tan = "Tan"; Asin = "Asin"; Acos = "Acos";
        Atan = "Atan"; Sinh = "Sinh"; Cosh = "Cosh"; Tanh = "Tanh"; Asinh = "Asinh"; Acosh = "Acosh"; Atanh = "Atanh"; Erf = "Erf";
        Erfc = "Erfc"; Lgamma = "Lgamma"; Digamma = "Digamma"; Ceil = "Ceil"; Floor = "Floor"; Round = "Round" | "Rint";
        Sigmoid = "Sigmoid"; Softplus = "Softplus"; Softsign = "Softsign"; Relu = "Relu"; Relu6 = "Relu6"; Elu = "Elu"; Selu = "Selu";
        Conj = "Conj"; Invert = "Invert"; LogicalNot = "LogicalNot";
    }
}

named_ops! {
    /// A question about each element.
    Test { IsNan = "IsNan"; IsInf = "IsInf"; IsFinite = "IsFinite"; }
}

pub(super) const SELU_SCALE: f64 = 1.050_700_987_355_480_5;
pub(super) const SELU_SCALE_ALPHA: f64 = 1.758_099_340_847_376_8;

/// The elementwise function of `x`: same shape and dtype. Fails for a dtype that the operator does not take.
pub fn unary(op: Unary, x: &HostTensor, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
    with_element!(x.dtype(), T => {
        let f = <T as Number>::Wide::unary(op).ok_or(TensorError::Unsupported { op: op.name(), dtype: x.dtype() })?;
        map::<T, T>(x, allocator, |x| T::narrow(f(x.widen())))
    })
}

/// `LeakyRelu`: `x` or `alpha * x`, whichever is larger for `alpha` < 1. Floats only.
pub fn leaky_relu(
    x: &HostTensor,
    alpha: f32,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let alpha = f64::from(alpha);
    real_map("LeakyRelu", x, allocator, |x| if x < 0.0 { x * alpha } else { x })
}

/// A truth value per element: `IsNan`, `IsInf`, `IsFinite`. Floats only.
pub fn test(op: Test, x: &HostTensor, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
    let f = match op {
        Test::IsNan => f64::is_nan,
        Test::IsInf => f64::is_infinite,
        Test::IsFinite => f64::is_finite,
    };
    match x.dtype() {
        DType::F16 => map::<half::f16, I1>(x, allocator, |x| I1::from(f(x.widen()))),
        DType::BF16 => map::<half::bf16, I1>(x, allocator, |x| I1::from(f(x.widen()))),
        DType::F32 => map::<f32, I1>(x, allocator, |x| I1::from(f(x.widen()))),
        DType::F64 => map::<f64, I1>(x, allocator, |x| I1::from(f(x))),
        dtype => Err(TensorError::Unsupported { op: op.name(), dtype }),
    }
}

/// `Cast`: fractions are cut off, floats beyond an integer type saturate, integers wrap around, NaN becomes integer 0; any number but
/// 0 is true; a complex number loses its imaginary part.
pub fn cast(x: &HostTensor, to: DType, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
    with_element!(x.dtype(), From => with_element!(to, To => {
        map::<From, To>(x, allocator, |x| To::cast(x.widen().any()))
    }))
}

/// `Bitcast` between dtypes of one size. The bytes are shared, not copied.
pub fn bitcast(x: &HostTensor, to: DType) -> Result<HostTensor, TensorError> {
    if x.dtype().size() != to.size() {
        let problem = format!("{} of shape {} cannot become {to}: the sizes differ", x.dtype(), x.shape());
        return Err(TensorError::Invalid { op: "Bitcast", problem });
    }
    HostTensor::from_buffer(to, x.shape().clone(), x.buffer().clone())
}

pub(super) fn map<A: Number, B: Number>(
    x: &HostTensor,
    allocator: &Arc<dyn Allocator>,
    f: impl Fn(A) -> B,
) -> Result<HostTensor, TensorError> {
    let out = HostTensor::allocate(B::DTYPE, x.shape().clone(), allocator)?;
    for (out, &x) in out.write::<B>()?.iter_mut().zip(x.read::<A>()?.iter()) {
        *out = f(x);
    }
    Ok(out)
}

/// A function of real numbers on any float dtype.
pub(super) fn real_map(
    op: &'static str,
    x: &HostTensor,
    allocator: &Arc<dyn Allocator>,
    f: impl Fn(f64) -> f64,
) -> Result<HostTensor, TensorError> {
    match x.dtype() {
        DType::F16 => map::<half::f16, half::f16>(x, allocator, |x| Number::narrow(f(x.widen()))),
        DType::BF16 => map::<half::bf16, half::bf16>(x, allocator, |x| Number::narrow(f(x.widen()))),
        DType::F32 => map::<f32, f32>(x, allocator, |x| Number::narrow(f(x.widen()))),
        DType::F64 => map::<f64, f64>(x, allocator, f),
        dtype => Err(TensorError::Unsupported { op, dtype }),
    }
}

/// A kind of numbers with its table of functions.
pub(crate) trait UnaryTable: Domain {
    fn unary(op: Unary) -> Option<fn(Self) -> Self>;
}

impl UnaryTable for bool {
    fn unary(op: Unary) -> Option<fn(bool) -> bool> {
        match op {
            Unary::LogicalNot => Some(|x| !x),
            _ => None,
        }
    }
}

impl UnaryTable for i128 {
    fn unary(op: Unary) -> Option<fn(i128) -> i128> {
        Some(match op {
            Unary::Abs => i128::wrapping_abs,
            Unary::Neg => i128::wrapping_neg,
            Unary::Sign => i128::signum,
            Unary::Square => |x| x.wrapping_mul(x),
            Unary::Invert => |x| !x,
            Unary::Relu => |x| x.max(0),
            Unary::Relu6 => |x| x.clamp(0, 6),
            _ => return None,
        })
    }
}

impl UnaryTable for f64 {
    fn unary(op: Unary) -> Option<fn(f64) -> f64> {
        Some(match op {
            Unary::Abs => f64::abs,
            Unary::Neg => |x| -x,
            Unary::Sign => |x| {
                if x > 0.0 {
                    1.0
                } else if x < 0.0 {
                    -1.0
                } else {
                    x
                }
            },
            Unary::Square => |x| x * x,
            Unary::Reciprocal => |x| 1.0 / x,
            Unary::Sqrt => f64::sqrt,
            Unary::Rsqrt => |x| 1.0 / x.sqrt(),
            Unary::Exp => f64::exp,
            Unary::Expm1 => f64::exp_m1,
            Unary::Log => f64::ln,
            Unary::Log1p => f64::ln_1p,
            Unary::Sin => f64::sin,
            Unary::Cos => f64::cos,
            Unary::Tan => f64::tan,
            Unary::Asin => f64::asin,
            Unary::Acos => f64::acos,
            Unary::Atan => f64::atan,
            Unary::Sinh => f64::sinh,
            Unary::Cosh => f64::cosh,
            Unary::Tanh => f64::tanh,
            Unary::Asinh => libm::asinh,
            Unary::Acosh => libm::acosh,
            Unary::Atanh => libm::atanh,
            Unary::Erf => libm::erf,
            Unary::Erfc => libm::erfc,
            Unary::Lgamma => libm::lgamma,
            Unary::Digamma => digamma,
            Unary::Ceil => f64::ceil,
            Unary::Floor => f64::floor,
            Unary::Round => f64::round_ties_even,
            Unary::Sigmoid => sigmoid,
            Unary::Softplus => |x| if x > 0.0 { x + (-x).exp().ln_1p() } else { x.exp().ln_1p() },
            Unary::Softsign => |x| x / (1.0 + x.abs()),
            Unary::Relu => |x| if x < 0.0 { 0.0 } else { x },
            Unary::Relu6 => |x| x.clamp(0.0, 6.0), // keeps NaN
            Unary::Elu => |x| if x < 0.0 { x.exp_m1() } else { x },
            Unary::Selu => |x| if x < 0.0 { SELU_SCALE_ALPHA * x.exp_m1() } else { SELU_SCALE * x },
            Unary::Conj => |x| x,
            Unary::Invert | Unary::LogicalNot => return None,
        })
    }
}

/// `1 / (1 + e^-x)` without an overflow on either side.
pub(super) fn sigmoid(x: f64) -> f64 {
    if x < 0.0 {
        let e = x.exp();
        e / (1.0 + e)
    } else {
        1.0 / (1.0 + (-x).exp())
    }
}

/// The logarithmic derivative of the gamma function: reflected to the right half line, raised above 10, then the asymptotic series.
fn digamma(mut x: f64) -> f64 {
    if x == f64::NEG_INFINITY || (x <= 0.0 && x.floor() == x) {
        return f64::NAN; // the poles
    }
    let mut sum = 0.0;
    if x < 0.0 {
        sum -= PI / (PI * (x - x.floor())).tan();
        x = 1.0 - x;
    }
    while x < 10.0 {
        sum -= 1.0 / x;
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series = y * (1.0 / 12.0 - y * (1.0 / 120.0 - y * (1.0 / 252.0 - y * (1.0 / 240.0 - y / 132.0))));
    sum + x.ln() - 0.5 / x - series
}

impl UnaryTable for Complex128 {
    fn unary(op: Unary) -> Option<fn(Complex128) -> Complex128> {
        Some(match op {
            Unary::Neg => |x| Complex128 { re: -x.re, im: -x.im },
            Unary::Conj => |x| Complex128 { re: x.re, im: -x.im },
            Unary::Square => |x| x.times(x),
            Unary::Reciprocal => |x| complex_div(Complex128::ONE, x),
            Unary::Exp => complex_exp,
            Unary::Log => complex_log,
            Unary::Sqrt => complex_sqrt,
            Unary::Rsqrt => |x| complex_div(Complex128::ONE, complex_sqrt(x)),
            Unary::Sign => |x| {
                let r = x.re.hypot(x.im);
                if r == 0.0 { Complex128::ZERO } else { Complex128 { re: x.re / r, im: x.im / r } }
            },
            Unary::Sin => |x| Complex128 { re: x.re.sin() * x.im.cosh(), im: x.re.cos() * x.im.sinh() },
            Unary::Cos => |x| Complex128 { re: x.re.cos() * x.im.cosh(), im: -x.re.sin() * x.im.sinh() },
            Unary::Sinh => |x| Complex128 { re: x.re.sinh() * x.im.cos(), im: x.re.cosh() * x.im.sin() },
            Unary::Cosh => |x| Complex128 { re: x.re.cosh() * x.im.cos(), im: x.re.sinh() * x.im.sin() },
            _ => return None,
        })
    }
}

/// The quotient, scaled by the larger part of the divisor so that its square cannot overflow.
pub(super) fn complex_div(a: Complex128, b: Complex128) -> Complex128 {
    if b.re.abs() >= b.im.abs() {
        let ratio = b.im / b.re;
        let den = b.re + b.im * ratio;
        Complex128 { re: (a.re + a.im * ratio) / den, im: (a.im - a.re * ratio) / den }
    } else {
        let ratio = b.re / b.im;
        let den = b.re * ratio + b.im;
        Complex128 { re: (a.re * ratio + a.im) / den, im: (a.im * ratio - a.re) / den }
    }
}

pub(super) fn complex_exp(x: Complex128) -> Complex128 {
    let r = x.re.exp();
    Complex128 { re: r * x.im.cos(), im: if x.im == 0.0 { x.im } else { r * x.im.sin() } }
}

pub(super) fn complex_log(x: Complex128) -> Complex128 {
    Complex128 { re: x.re.hypot(x.im).ln(), im: x.im.atan2(x.re) }
}

fn complex_sqrt(x: Complex128) -> Complex128 {
    if x.re == 0.0 && x.im == 0.0 {
        return Complex128 { re: 0.0, im: x.im };
    }
    let t = ((x.re.abs() + x.re.hypot(x.im)) / 2.0).sqrt();
    if x.re >= 0.0 {
        Complex128 { re: t, im: x.im / (2.0 * t) }
    } else {
        Complex128 { re: x.im.abs() / (2.0 * t), im: t.copysign(x.im) }
    }
}
