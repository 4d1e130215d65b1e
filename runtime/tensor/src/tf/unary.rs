//! Elementwise functions of one tensor: a table per kind of number.
//!
//! An operator that a table lacks is not defined for the dtypes of the table: [`TensorError::Unsupported`].
//! Floats follow IEEE 754 (the logarithm of a negative number is NaN, that of zero -inf). Integers wrap
//! around (`Abs` and `Neg` of the lowest number are that number). Denormal numbers are kept; TensorFlow
//! flushes them to zero.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, PI, SQRT_2};
use std::sync::Arc;

use super::numeric::{AnyWide, Domain, Number, named_ops};
use super::{integrals, special};
use crate::element::with_element;
use crate::mem::Allocator;
use crate::{DType, HostTensor, I1, Shape, TensorError};

named_ops! {
    /// An elementwise function whose result has the operand's dtype.
    Unary {
        Abs = "Abs"; Neg = "Neg"; Sign = "Sign"; Square = "Square"; Reciprocal = "Reciprocal"; Sqrt = "Sqrt"; Rsqrt = "Rsqrt";
        Exp = "Exp"; Expm1 = "Expm1"; Log = "Log"; Log1p = "Log1p"; Sin = "Sin"; Cos = "Cos"; Tan = "Tan"; Asin = "Asin"; Acos = "Acos";
        Atan = "Atan"; Sinh = "Sinh"; Cosh = "Cosh"; Tanh = "Tanh"; Asinh = "Asinh"; Acosh = "Acosh"; Atanh = "Atanh"; Erf = "Erf";
        Erfc = "Erfc"; Erfinv = "Erfinv"; Ndtri = "Ndtri"; Lgamma = "Lgamma"; Digamma = "Digamma"; Ceil = "Ceil"; Floor = "Floor"; Round = "Round";
        Sigmoid = "Sigmoid"; Softplus = "Softplus"; Softsign = "Softsign"; Relu = "Relu"; Relu6 = "Relu6"; Elu = "Elu"; Selu = "Selu";
        GeluSlope = "_GeluSlope"; GeluTanhSlope = "_GeluTanhSlope";
        BesselI0 = "BesselI0"; BesselI0e = "BesselI0e"; BesselI1 = "BesselI1"; BesselI1e = "BesselI1e";
        BesselJ0 = "BesselJ0"; BesselJ1 = "BesselJ1"; BesselK0 = "BesselK0"; BesselK0e = "BesselK0e"; BesselK1 = "BesselK1";
        BesselK1e = "BesselK1e"; BesselY0 = "BesselY0"; BesselY1 = "BesselY1"; Dawsn = "Dawsn"; Expint = "Expint";
        FresnelCos = "FresnelCos"; FresnelSin = "FresnelSin"; Spence = "Spence";
        Conj = "Conj"; Invert = "Invert"; LogicalNot = "LogicalNot";
    }
}

named_ops! {
    /// A predicate on each element.
    Test { IsNan = "IsNan"; IsInf = "IsInf"; IsFinite = "IsFinite"; }
}

pub(super) const SELU_SCALE: f64 = 1.050_700_987_355_480_5;
pub(super) const SELU_SCALE_ALPHA: f64 = 1.758_099_340_847_376_8;

/// The elementwise function of `x`, with its shape and dtype. Fails for a dtype that the operator does not
/// support.
pub fn unary(op: Unary, x: &HostTensor, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
    with_element!(x.dtype(), T => {
        let f = <T as Number>::Wide::unary(op).ok_or(TensorError::Unsupported { op: op.name(), dtype: x.dtype() })?;
        map::<T, T>(x, allocator, |x| T::narrow(f(x.widen())))
    })
}

/// The elements of [`unary`] in place of those of `x`. `None`, and they stay, if the operator is not defined
/// for the dtype.
pub(super) fn unary_in_place<T: Number>(op: Unary, x: &mut [T]) -> Option<()> {
    let f = T::Wide::unary(op)?;
    x.iter_mut().for_each(|x| *x = T::narrow(f(x.widen())));
    Some(())
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

/// A boolean per element: `IsNan`, `IsInf`, `IsFinite`. Floats only.
pub fn test(op: Test, x: &HostTensor, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
    /// A loop for each predicate.
    macro_rules! tested {
        ($ty:ty) => {
            match op {
                Test::IsNan => map::<$ty, I1>(x, allocator, |x| I1::from(x.is_nan())),
                Test::IsInf => map::<$ty, I1>(x, allocator, |x| I1::from(x.is_infinite())),
                Test::IsFinite => map::<$ty, I1>(x, allocator, |x| I1::from(x.is_finite())),
            }
        };
    }
    match x.dtype() {
        DType::F16 => tested!(half::f16),
        DType::BF16 => tested!(half::bf16),
        DType::F32 => tested!(f32),
        DType::F64 => tested!(f64),
        dtype => Err(TensorError::Unsupported { op: op.name(), dtype }),
    }
}

/// `Cast`: fractions are truncated, integers wrap around, any number other than 0 is true, a complex number
/// loses its imaginary part. NaN and floats out of an integer type's range become what TensorFlow makes of
/// them on x86: the lowest number of i32 and i64, the same bits as i64 if the type is ui64. The other types,
/// where TensorFlow's results differ from element to element: ui32 has the low bits of i64, and shorter types
/// saturate numbers of i32.
///
/// The elements are widened and narrowed in blocks, which needs code for each dtype instead of each pair.
pub fn cast(x: &HostTensor, to: DType, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
    const BLOCK: usize = 64;
    let widen = with_element!(x.dtype(), T => widen_all::<T> as fn(&[u8], &mut [AnyWide]));
    let narrow = with_element!(to, T => narrow_all::<T> as fn(&[AnyWide], &mut [u8]));
    let out = HostTensor::allocate(to, x.shape().clone(), allocator)?;
    {
        let (from, mut into) = (x.read_bytes()?, out.write_bytes()?);
        let mut wide = [AnyWide::Bool(false); BLOCK];
        let blocks = from.chunks(BLOCK * x.dtype().size());
        for (from, into) in blocks.zip(into.chunks_mut(BLOCK * to.size())) {
            let wide = &mut wide[..into.len() / to.size()];
            widen(from, wide);
            narrow(wide, into);
        }
    }
    Ok(out)
}

fn widen_all<T: Number>(from: &[u8], to: &mut [AnyWide]) {
    let elements = from.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned::<T>);
    to.iter_mut().zip(elements).for_each(|(to, x)| *to = x.widen().any());
}

fn narrow_all<T: Number>(from: &[AnyWide], to: &mut [u8]) {
    let elements = to.chunks_exact_mut(size_of::<T>());
    elements.zip(from).for_each(|(to, &x)| to.copy_from_slice(bytemuck::bytes_of(&T::cast(x))));
}

/// `Cast` to f64 of one element, given as its bytes; `None` if their number is not the size of the dtype, or
/// the element is not real.
pub fn element_as_f64(dtype: DType, element: &[u8]) -> Option<f64> {
    if matches!(dtype, DType::Complex64 | DType::Complex128)
        && element.iter().skip(dtype.size() / 2).any(|&byte| byte != 0)
    {
        return None;
    }
    with_element!(dtype, T => {
        let x: T = bytemuck::try_pod_read_unaligned(element).ok()?;
        Some(f64::cast(x.widen().any()))
    })
}

/// `Bitcast`. To a smaller dtype, each element becomes several along a new last axis. To a larger dtype, the
/// elements along the last axis together become one. The bytes are shared, not copied.
pub fn bitcast(x: &HostTensor, to: DType) -> Result<HostTensor, TensorError> {
    let (old, new, dims) = (x.dtype().size(), to.size(), x.shape().dims());
    let dims = match dims.split_last() {
        _ if old == new => dims.to_vec(),
        _ if old > new => [dims, &[old / new]].concat(),
        Some((&last, outer)) if last == new / old => outer.to_vec(),
        _ => {
            let problem = format!(
                "{} of shape {} cannot become {to}: the last axis is not the {} parts of an element",
                x.dtype(),
                x.shape(),
                new / old
            );
            return Err(TensorError::Invalid { op: "Bitcast", problem });
        }
    };
    HostTensor::from_buffer(to, Shape::new(&dims)?, x.buffer()?.clone())
}

/// `Cast` with the attribute `Truncate`: a narrower float is truncated, not rounded.
pub fn cast_truncated(
    x: &HostTensor,
    to: DType,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let digits = match (x.dtype(), to) {
        (DType::F32 | DType::F64, DType::F16) => 10,
        (DType::F32 | DType::F64, DType::BF16) => 7,
        (DType::F64, DType::F32) => 23,
        _ => return cast(x, to, allocator),
    };
    let wide = cast(x, DType::F64, allocator)?;
    let cut = map::<f64, f64>(&wide, allocator, |x| match x.is_nan() {
        true => x,
        false => f64::from_bits(x.to_bits() & (u64::MAX << (52 - digits))),
    })?;
    cast(&cut, to, allocator)
}

/// `PopulationCount`: the number of set bits of an integer, as ui8.
pub fn population_count(x: &HostTensor, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
    with_element!(x.dtype(), T => {
        if !matches!(<T as Number>::Wide::ZERO.any(), AnyWide::Int(_)) {
            return Err(TensorError::Unsupported { op: "PopulationCount", dtype: x.dtype() });
        }
        map::<T, u8>(x, allocator, |x| match x.widen().any() {
            AnyWide::Int(i) => (i << (128 - <T as Number>::BITS)).count_ones() as u8, // at most 64
            _ => 0,
        })
    })
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

/// A kind of number with its table of functions.
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
            Unary::Round => |x| x,
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
                    x.abs()
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
            Unary::Acosh => |x| if x < 1.0 { f64::NAN } else { libm::acosh(x) },
            Unary::Atanh => libm::atanh,
            Unary::Erf => libm::erf,
            Unary::Erfc => libm::erfc,
            Unary::Erfinv => erf_inv,
            Unary::Ndtri => |p| match p {
                p if p < 0.5 => -SQRT_2 * erfc_inv(2.0 * p),
                p => SQRT_2 * erfc_inv(2.0 * (1.0 - p)),
            },
            Unary::Lgamma => libm::lgamma,
            Unary::Digamma => digamma,
            Unary::BesselI0 => special::bessel_i0,
            Unary::BesselI0e => special::bessel_i0e,
            Unary::BesselI1 => special::bessel_i1,
            Unary::BesselI1e => special::bessel_i1e,
            Unary::BesselJ0 => integrals::bessel_j0,
            Unary::BesselJ1 => integrals::bessel_j1,
            Unary::BesselK0 => integrals::bessel_k0,
            Unary::BesselK0e => integrals::bessel_k0e,
            Unary::BesselK1 => integrals::bessel_k1,
            Unary::BesselK1e => integrals::bessel_k1e,
            Unary::BesselY0 => integrals::bessel_y0,
            Unary::BesselY1 => integrals::bessel_y1,
            Unary::Dawsn => integrals::dawson,
            Unary::Expint => integrals::expint,
            Unary::FresnelCos => integrals::fresnel_cos,
            Unary::FresnelSin => integrals::fresnel_sin,
            Unary::Spence => integrals::spence,
            Unary::Ceil => f64::ceil,
            Unary::Floor => f64::floor,
            Unary::Round => f64::round_ties_even,
            Unary::Sigmoid => sigmoid,
            Unary::Softplus => |x| if x > 0.0 { x + (-x).exp().ln_1p() } else { x.exp().ln_1p() },
            Unary::Softsign => |x| x / (1.0 + x.abs()),
            // Both functions of NaN are NaN.
            Unary::Relu => |x| if x <= 0.0 { 0.0 } else { x },
            Unary::Relu6 => |x| if x <= 0.0 { 0.0 } else { x.clamp(0.0, 6.0) },
            Unary::Elu => |x| if x < 0.0 { x.exp_m1() } else { x },
            Unary::Selu => |x| if x < 0.0 { SELU_SCALE_ALPHA * x.exp_m1() } else { SELU_SCALE * x },
            Unary::GeluSlope => |x| 0.5 * libm::erfc(-x * FRAC_1_SQRT_2) + x * normal_density(x),
            Unary::GeluTanhSlope => |x| {
                let factor = (2.0 / PI).sqrt();
                let t = (factor * (x + 0.044_715 * x * x * x)).tanh();
                0.5 * (1.0 + t) + 0.5 * x * factor * (1.0 + 0.134_145 * x * x) * (1.0 - t * t)
            },
            Unary::Conj => |x| x,
            Unary::Invert | Unary::LogicalNot => return None,
        })
    }
}

/// The density of the standard normal distribution.
fn normal_density(x: f64) -> f64 {
    0.5 * FRAC_1_SQRT_2 * FRAC_2_SQRT_PI * (-0.5 * x * x).exp()
}

/// `1 / (1 + e^-x)` without overflow on either side.
pub(super) fn sigmoid(x: f64) -> f64 {
    if x < 0.0 {
        let e = x.exp();
        e / (1.0 + e)
    } else {
        1.0 / (1.0 + (-x).exp())
    }
}

/// The inverse of the error function. NaN outside [-1, 1].
fn erf_inv(y: f64) -> f64 {
    if y == 0.0 {
        return 0.0; // for -0 too
    }
    if y.abs() <= 0.5 {
        return inverse(y.abs(), (1.0 - y.abs()) * (1.0 + y.abs()), |x| libm::erf(x) - y.abs()).copysign(y);
    }
    erfc_inv(1.0 - y.abs()).copysign(y)
}

/// The inverse of the complementary error function, for arguments from 0 to 1; NaN elsewhere.
fn erfc_inv(q: f64) -> f64 {
    match q {
        0.0 => f64::INFINITY,
        q if q > 0.0 && q < 0.5 => inverse(1.0 - q, q * (2.0 - q), |x| q - libm::erfc(x)),
        0.5..=1.0 => erf_inv(1.0 - q),
        _ => f64::NAN,
    }
}

/// The root of `error`, a function with the slope of the error function. `y` is the error function at the
/// root, and `rest` is `1 - y^2`. Halley's method starts from Winitzki's approximation.
fn inverse(y: f64, rest: f64, error: impl Fn(f64) -> f64) -> f64 {
    if y == 0.0 {
        return y;
    }
    let a = 0.147;
    let half = 2.0 / (PI * a) + rest.ln() / 2.0;
    let mut x = ((half * half - rest.ln() / a).sqrt() - half).sqrt();
    for _ in 0..4 {
        let step = error(x) / (FRAC_2_SQRT_PI * (-x * x).exp());
        x -= step / (1.0 + x * step);
    }
    x
}

/// The logarithmic derivative of the gamma function: reflection of negative arguments, recurrence up to 10,
/// then the asymptotic series.
pub(super) fn digamma(mut x: f64) -> f64 {
    if x == f64::NEG_INFINITY || (x <= 0.0 && x.floor() == x) {
        return f64::NAN; // the poles
    }
    let mut sum = 0.0;
    if x < 0.0 {
        sum -= PI / (PI * (x - x.round())).tan();
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
