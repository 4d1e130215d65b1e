//! Elementwise functions of two tensors, broadcast by NumPy's rules: a table per kind of number.
//!
//! Integers wrap around. Integer division by zero and negative integer powers are errors, detected before
//! anything is computed. Floats follow IEEE 754. `Maximum` and `Minimum` are NaN if either operand is NaN.
//! Shift counts are clamped to the width of the dtype, as in TensorFlow.

use std::cmp::Ordering;
use std::sync::Arc;

use super::numeric::{Domain, Number, named_ops};
use super::special;
use super::unary::{SELU_SCALE, SELU_SCALE_ALPHA, digamma, sigmoid};
use super::walk::{Axis, Offsets, broadcast_axes, broadcast_maps, broadcast_shape, offsets};
use crate::element::with_element;
use crate::mem::Allocator;
use crate::{DType, Element, HostTensor, I1, Shape, TensorError};

named_ops! {
    /// An elementwise function of two tensors of one dtype; the result has the same dtype. Gradients have
    /// TensorFlow's operand order.
    Binary {
        Add = "AddV2"; Sub = "Sub"; Mul = "Mul"; RealDiv = "RealDiv"; Div = "Div"; DivNoNan = "DivNoNan"; MulNoNan = "MulNoNan";
        FloorDiv = "FloorDiv"; FloorMod = "FloorMod"; TruncateDiv = "TruncateDiv"; TruncateMod = "TruncateMod"; Pow = "Pow";
        Maximum = "Maximum"; Minimum = "Minimum"; SquaredDifference = "SquaredDifference"; Atan2 = "Atan2"; Xdivy = "Xdivy";
        Xlogy = "Xlogy"; Xlog1py = "Xlog1py"; BitwiseAnd = "BitwiseAnd"; BitwiseOr = "BitwiseOr"; BitwiseXor = "BitwiseXor";
        LeftShift = "LeftShift"; RightShift = "RightShift"; LogicalAnd = "LogicalAnd"; LogicalOr = "LogicalOr";
        ReluGrad = "ReluGrad"; Relu6Grad = "Relu6Grad"; EluGrad = "EluGrad"; SeluGrad = "SeluGrad"; SigmoidGrad = "SigmoidGrad";
        TanhGrad = "TanhGrad"; SqrtGrad = "SqrtGrad"; RsqrtGrad = "RsqrtGrad"; ReciprocalGrad = "ReciprocalGrad";
        SoftplusGrad = "SoftplusGrad"; SoftsignGrad = "SoftsignGrad";
        Igamma = "Igamma"; Igammac = "Igammac"; Zeta = "Zeta"; Polygamma = "Polygamma";
        IgammaGradA = "IgammaGradA"; RandomGammaGrad = "RandomGammaGrad";
    }
}

named_ops! {
    /// A comparison of two tensors of one dtype. NaN is unequal to everything and neither less nor greater.
    Compare {
        Equal = "Equal"; NotEqual = "NotEqual"; Less = "Less"; LessEqual = "LessEqual"; Greater = "Greater"; GreaterEqual = "GreaterEqual";
    }
}

/// The elementwise function of `a` and `b`, broadcast. Fails if the dtypes differ or are not supported by the
/// operator, if the shapes do not broadcast, for integer division by zero, and for negative integer powers.
pub fn binary(
    op: Binary,
    a: &HostTensor,
    b: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    b.expect_dtype("b", a.dtype())?;
    let dtype = a.dtype();
    with_element!(dtype, T => {
        type Wide = <T as Number>::Wide;
        let shape = broadcast_shape(a.shape(), b.shape())?;
        if let Some(f) = Wide::ranged(op) {
            return zip_by(a, b, shape, allocator, &|a: T, b: T| T::narrow(f(a.widen(), b.widen(), in_range::<T>)));
        }
        let f = Wide::binary(op).ok_or(TensorError::Unsupported { op: op.name(), dtype })?;
        if shape.num_elements() > 0 {
            let refused = |x: &T| Wide::refuses(op, x.widen());
            if let Some(at) = b.read_as::<T>("b")?.iter().position(refused) {
                let index = b.shape().index_of(at);
                let what = if op == Binary::Pow { "a negative power of an integer" } else { "an integer divided by zero" };
                let problem = format!("{what}: element {index:?} of `b` of shape {}", b.shape());
                return Err(TensorError::Invalid { op: op.name(), problem });
            }
        }
        let max_shift = i128::from(<T as Number>::BITS) - 1;
        match op {
            Binary::LeftShift | Binary::RightShift => zip_by(a, b, shape, allocator, &|a: T, b: T| {
                T::narrow(f(a.widen(), Wide::clamp_shift(b.widen(), max_shift)))
            }),
            // As in TensorFlow, the quotient is rounded to the dtype before the floor.
            Binary::FloorDiv => zip_by(a, b, shape, allocator, &|a: T, b: T| {
                T::narrow(Wide::floor(T::narrow(f(a.widen(), b.widen())).widen()))
            }),
            _ => zip::<T, T>(a, b, shape, allocator, |a, b| T::narrow(f(a.widen(), b.widen()))),
        }
    })
}

/// The element of [`binary`] for one pair; `None` if it refuses the pair or is not defined for the dtype.
pub(super) fn binary_of_pair<T: Number>(op: Binary, a: T, b: T) -> Option<T> {
    let (a, b) = (a.widen(), b.widen());
    if let Some(f) = T::Wide::ranged(op) {
        return Some(T::narrow(f(a, b, in_range::<T>)));
    }
    let f = T::Wide::binary(op).filter(|_| !T::Wide::refuses(op, b))?;
    Some(match op {
        Binary::LeftShift | Binary::RightShift => T::narrow(f(a, b.clamp_shift(i128::from(T::BITS) - 1))),
        Binary::FloorDiv => T::narrow(T::narrow(f(a, b)).widen().floor()),
        _ => T::narrow(f(a, b)),
    })
}

/// The range of the dtype applied to an intermediate result: the infinity, NaN or 0 that the dtype has for
/// it; otherwise the intermediate result itself, not rounded.
pub(super) fn in_range<T: Number>(x: T::Wide) -> T::Wide {
    let narrow = T::narrow(x).widen();
    if narrow.is_finite_number() && narrow != T::Wide::ZERO { x } else { narrow }
}

/// A function of two numbers that passes its intermediate results through the last argument.
pub(crate) type Ranged<T> = fn(T, T, fn(T) -> T) -> T;

/// A boolean per pair of elements of `a` and `b`, broadcast.
pub fn compare(
    op: Compare,
    a: &HostTensor,
    b: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    b.expect_dtype("b", a.dtype())?;
    let shape = broadcast_shape(a.shape(), b.shape())?;
    with_element!(a.dtype(), T => {
        type Wide = <T as Number>::Wide;
        if !Wide::ORDERED && !matches!(op, Compare::Equal | Compare::NotEqual) {
            return Err(TensorError::Unsupported { op: op.name(), dtype: a.dtype() });
        }
        zip::<T, I1>(a, b, shape, allocator, |a, b| compare_of_pair(op, a, b))
    })
}

/// The element of [`compare`] for one pair.
pub(super) fn compare_of_pair<T: Number>(op: Compare, a: T, b: T) -> I1 {
    let (a, b) = (a.widen(), b.widen());
    let order = a.order(b);
    I1::from(match op {
        Compare::Equal => a == b,
        Compare::NotEqual => a != b,
        Compare::Less => order == Some(Ordering::Less),
        Compare::LessEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Compare::Greater => order == Some(Ordering::Greater),
        Compare::GreaterEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    })
}

/// `LeakyReluGrad`: the gradient where the feature is positive, `alpha` times the gradient elsewhere. Floats
/// of one shape.
pub fn leaky_relu_grad(
    gradients: &HostTensor,
    features: &HostTensor,
    alpha: f32,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    features.expect_dtype("features", gradients.dtype())?;
    features.expect_shape("features", gradients.shape())?;
    let factor = super::unary::real_map("LeakyReluGrad", features, allocator, |x| {
        if x > 0.0 { 1.0 } else { f64::from(alpha) }
    })?;
    binary(Binary::Mul, gradients, &factor, allocator)
}

/// `SelectV2`: `a` where the condition (i1) is true, `b` elsewhere; all three broadcast.
pub fn select(
    condition: &HostTensor,
    a: &HostTensor,
    b: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    condition.expect_dtype("condition", DType::I1)?;
    b.expect_dtype("b", a.dtype())?;
    let shape = broadcast_shape(condition.shape(), &broadcast_shape(a.shape(), b.shape())?)?;
    let out = HostTensor::allocate(a.dtype(), shape.clone(), allocator)?;
    {
        let size = a.dtype().size();
        let (c, a_bytes, b_bytes) = (condition.read::<I1>()?, a.read_bytes()?, b.read_bytes()?);
        let of = |x: &HostTensor| Offsets::new(broadcast_maps(x.shape(), &shape));
        let places = of(condition).zip(of(a)).zip(of(b));
        for (slot, ((c_at, a_at), b_at)) in out.write_bytes()?.chunks_exact_mut(size).zip(places) {
            let (from, at) = if c[c_at].is_true() { (&a_bytes, a_at) } else { (&b_bytes, b_at) };
            slot.copy_from_slice(&from[at * size..(at + 1) * size]);
        }
    }
    Ok(out)
}

/// `Select`: [`select`] of two tensors of one shape. A vector condition selects whole slices along the first
/// axis; a scalar condition selects a whole tensor.
pub fn select_slices(
    condition: &HostTensor,
    a: &HostTensor,
    b: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    b.expect_shape("e", a.shape())?;
    let (cond, dims) = (condition.shape(), a.shape().dims());
    let mut aligned = vec![1; dims.len()];
    match (cond.dims(), dims) {
        (&[n], &[first, ..]) if n == first => aligned[0] = n,
        ([], _) => {}
        _ => {
            condition.expect_shape("condition", a.shape())?;
            aligned.copy_from_slice(dims);
        }
    }
    select(&condition.reshaped(Shape::new(&aligned)?)?, a, b, allocator)
}

/// `ClipByValue`: `x` clamped to the range from `low` to `high`, which have the shape of `x` or are scalars.
/// A bound that is NaN has no effect.
pub fn clip_by_value(
    x: &HostTensor,
    low: &HostTensor,
    high: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    expect_limits(x, low, high)?;
    with_element!(x.dtype(), T => {
        if !<T as Number>::Wide::ORDERED {
            return Err(TensorError::Unsupported { op: "ClipByValue", dtype: x.dtype() });
        }
        let bounded = |x: &HostTensor, limit: &HostTensor, beyond: Ordering| {
            zip_by(x, limit, x.shape().clone(), allocator, &|x: T, limit: T| {
                if limit.widen().order(x.widen()) == Some(beyond) { limit } else { x }
            })
        };
        bounded(&bounded(x, high, Ordering::Less)?, low, Ordering::Greater)
    })
}

/// Fails unless the limits of `x` are of its dtype, and scalars or of its shape.
pub(super) fn expect_limits(x: &HostTensor, low: &HostTensor, high: &HostTensor) -> Result<(), TensorError> {
    for (what, limit) in [("clip_value_min", low), ("clip_value_max", high)] {
        if limit.shape().rank() != 0 {
            limit.expect_shape(what, x.shape())?;
        }
    }
    low.expect_dtype("clip_value_min", x.dtype())?;
    high.expect_dtype("clip_value_max", x.dtype())
}

/// `NextAfter`: the next float from `a` towards `b`, of f32 or f64, broadcast.
pub fn next_after(
    a: &HostTensor,
    b: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    b.expect_dtype("x2", a.dtype())?;
    let shape = broadcast_shape(a.shape(), b.shape())?;
    macro_rules! next {
        ($ty:ident) => {
            zip::<$ty, $ty>(a, b, shape, allocator, |a, b| match a.partial_cmp(&b) {
                None => $ty::NAN,
                Some(Ordering::Less) => a.next_up(),
                Some(Ordering::Equal) => b,
                Some(Ordering::Greater) => a.next_down(),
            })
        };
    }
    match a.dtype() {
        DType::F32 => next!(f32),
        DType::F64 => next!(f64),
        dtype => Err(TensorError::Unsupported { op: "NextAfter", dtype }),
    }
}

/// `AddN`: the sum of one or more tensors of one dtype and shape.
pub fn add_n(inputs: &[&HostTensor], allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
    let Some((&first, rest)) = inputs.split_first() else {
        return Err(TensorError::Invalid { op: "AddN", problem: "no operands".to_owned() });
    };
    let mut sum = first.clone();
    for x in rest {
        x.expect_shape("inputs", first.shape())?;
        sum = binary(Binary::Add, &sum, x, allocator)?;
    }
    Ok(sum)
}

/// [`zip`] by a function that is not known: one copy of the loops for each dtype.
#[inline(never)]
fn zip_by<T: Number>(
    a: &HostTensor,
    b: &HostTensor,
    shape: Shape,
    allocator: &Arc<dyn Allocator>,
    f: &dyn Fn(T, T) -> T,
) -> Result<HostTensor, TensorError> {
    zip::<T, T>(a, b, shape, allocator, f)
}

pub(super) fn zip<A: Number, B: Element>(
    a: &HostTensor,
    b: &HostTensor,
    shape: Shape,
    allocator: &Arc<dyn Allocator>,
    f: impl Fn(A, A) -> B,
) -> Result<HostTensor, TensorError> {
    let mut axes = broadcast_axes(a.shape(), b.shape(), &shape);
    let out = HostTensor::allocate(B::DTYPE, shape, allocator)?;
    if out.num_elements() > 0 {
        let last = axes.pop().unwrap_or(Axis { len: 1, a: 0, b: 0 });
        let (a, b, mut out) = (a.read_as::<A>("a")?, b.read_as::<A>("b")?, out.write::<B>()?);
        let starts = offsets(&axes, |axis| axis.a).zip(offsets(&axes, |axis| axis.b));
        for (row, (start_a, start_b)) in out.chunks_exact_mut(last.len).zip(starts) {
            // The last axis is contiguous in an operand, or repeats one element.
            let (a, b) = (&a[start_a..], &b[start_b..]);
            match (last.a, last.b) {
                (0, 0) => row.fill(f(a[0], b[0])),
                (0, _) => row.iter_mut().zip(b).for_each(|(out, &b)| *out = f(a[0], b)),
                (_, 0) => row.iter_mut().zip(a).for_each(|(out, &a)| *out = f(a, b[0])),
                _ => row.iter_mut().zip(a).zip(b).for_each(|((out, &a), &b)| *out = f(a, b)),
            }
        }
    }
    Ok(out)
}

/// A kind of number with its table of functions.
pub(crate) trait BinaryTable: Domain {
    fn binary(op: Binary) -> Option<fn(Self, Self) -> Self>;
    /// The function of an operator whose intermediate results may leave the range of the dtype, but not that
    /// of the wide type. [`BinaryTable::binary`] does not contain such an operator.
    fn ranged(_: Binary) -> Option<Ranged<Self>> {
        None
    }
    /// True if the operator has no result for this right operand.
    fn refuses(_: Binary, _: Self) -> bool {
        false
    }
    fn clamp_shift(self, _: i128) -> Self {
        self
    }
    fn floor(self) -> Self {
        self
    }
}

impl BinaryTable for bool {
    fn binary(op: Binary) -> Option<fn(bool, bool) -> bool> {
        match op {
            Binary::LogicalAnd => Some(|a, b| a & b),
            Binary::LogicalOr => Some(|a, b| a | b),
            _ => None,
        }
    }
}

impl BinaryTable for i128 {
    fn binary(op: Binary) -> Option<fn(i128, i128) -> i128> {
        Some(match op {
            Binary::Add => i128::wrapping_add,
            Binary::Sub => i128::wrapping_sub,
            Binary::Mul => i128::wrapping_mul,
            // Zero divisors were refused before, so the fallbacks of the four divisions are unreachable.
            Binary::Div | Binary::TruncateDiv => |a, b| a.checked_div(b).unwrap_or(0),
            Binary::TruncateMod => |a, b| a.checked_rem(b).unwrap_or(0),
            Binary::FloorDiv => |a, b| {
                let quotient = a.checked_div(b).unwrap_or(0);
                let has_rest = a.checked_rem(b).is_some_and(|rest| rest != 0);
                quotient - i128::from(has_rest && (a < 0) != (b < 0))
            },
            Binary::FloorMod => |a, b| {
                let rest = a.checked_rem(b).unwrap_or(0);
                if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }
            },
            Binary::Pow => wrapping_pow,
            Binary::Maximum => Ord::max,
            Binary::Minimum => Ord::min,
            Binary::SquaredDifference => |a, b| a.wrapping_sub(b).wrapping_mul(a.wrapping_sub(b)),
            Binary::BitwiseAnd => |a, b| a & b,
            Binary::BitwiseOr => |a, b| a | b,
            Binary::BitwiseXor => |a, b| a ^ b,
            Binary::LeftShift => |a, b| a.wrapping_shl(b as u32), // clamped before
            Binary::RightShift => |a, b| a.wrapping_shr(b as u32),
            Binary::ReluGrad => |dy, x| if x > 0 { dy } else { 0 },
            Binary::Relu6Grad => |dy, x| if x > 0 && x < 6 { dy } else { 0 },
            _ => return None,
        })
    }

    fn refuses(op: Binary, b: i128) -> bool {
        match op {
            Binary::Div | Binary::TruncateDiv | Binary::TruncateMod | Binary::FloorDiv | Binary::FloorMod => {
                b == 0
            }
            Binary::Pow => b < 0,
            _ => false,
        }
    }

    fn clamp_shift(self, max: i128) -> i128 {
        self.clamp(0, max)
    }
}

/// Exponentiation by squaring, modulo 2^128.
fn wrapping_pow(mut base: i128, mut exponent: i128) -> i128 {
    let mut power = 1i128;
    while exponent > 0 {
        if exponent & 1 == 1 {
            power = power.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        exponent >>= 1;
    }
    power
}

impl BinaryTable for f64 {
    fn binary(op: Binary) -> Option<fn(f64, f64) -> f64> {
        Some(match op {
            Binary::Add => |a, b| a + b,
            Binary::Sub => |a, b| a - b,
            Binary::Mul => |a, b| a * b,
            Binary::RealDiv | Binary::Div | Binary::FloorDiv => |a, b| a / b, // FloorDiv's floor comes later
            Binary::TruncateDiv => |a, b| (a / b).trunc(),
            Binary::DivNoNan => |a, b| if b == 0.0 { 0.0 } else { a / b },
            Binary::MulNoNan => |a, b| if b == 0.0 { 0.0 } else { a * b },
            Binary::TruncateMod => |a, b| a % b,
            Binary::FloorMod => |a, b| {
                let rest = a % b;
                if rest != 0.0 && (rest < 0.0) != (b < 0.0) { rest + b } else { rest }
            },
            Binary::Pow => f64::powf,
            Binary::Maximum => |a, b| if a.is_nan() || a > b { a } else { b },
            Binary::Minimum => |a, b| if a.is_nan() || a < b { a } else { b },
            Binary::SquaredDifference => |a, b| (a - b) * (a - b),
            Binary::Atan2 => f64::atan2,
            Binary::Igamma => special::igamma,
            Binary::Igammac => special::igammac,
            Binary::IgammaGradA => |a, x| special::igamma_grad_a(a, x, digamma),
            Binary::RandomGammaGrad => |a, x| special::gamma_sample_grad(a, x, digamma),
            Binary::Zeta => special::zeta,
            Binary::Polygamma => |n, x| special::polygamma(n, x, digamma),
            Binary::Xdivy => |a, b| if a == 0.0 { a } else { a / b },
            Binary::Xlogy => |a, b| if a == 0.0 { a } else { a * b.ln() },
            Binary::Xlog1py => |a, b| if a == 0.0 { a } else { a * b.ln_1p() },
            // A product, not a selection: 0 times a gradient that is NaN or infinite is NaN.
            Binary::ReluGrad => |dy, x| dy * f64::from(u8::from(x > 0.0)),
            Binary::Relu6Grad => |dy, x| dy * f64::from(u8::from(x > 0.0 && x < 6.0)),
            Binary::EluGrad => |dy, y| if y < 0.0 { dy * (y + 1.0) } else { dy },
            Binary::SeluGrad => |dy, y| if y < 0.0 { dy * (y + SELU_SCALE_ALPHA) } else { dy * SELU_SCALE },
            Binary::SigmoidGrad => |y, dy| dy * y * (1.0 - y),
            Binary::SqrtGrad => |y, dy| if dy == 0.0 { 0.0 } else { dy * 0.5 / y },
            Binary::SoftplusGrad => |dy, x| dy * sigmoid(x),
            Binary::TanhGrad | Binary::RsqrtGrad | Binary::ReciprocalGrad | Binary::SoftsignGrad => {
                return None;
            }
            Binary::BitwiseAnd | Binary::BitwiseOr | Binary::BitwiseXor => return None,
            Binary::LeftShift | Binary::RightShift | Binary::LogicalAnd | Binary::LogicalOr => return None,
        })
    }

    fn ranged(op: Binary) -> Option<Ranged<f64>> {
        Some(match op {
            Binary::TanhGrad => |y, dy, range| dy * (1.0 - range(y * y)),
            Binary::RsqrtGrad => {
                |y, dy, range| if dy == 0.0 { 0.0 } else { -0.5 * range(dy * y) * range(y * y) }
            }
            Binary::ReciprocalGrad => |y, dy, range| if dy == 0.0 { 0.0 } else { range(-y * y) * dy },
            Binary::SoftsignGrad => |dy, x, range| dy / range((1.0 + x.abs()) * (1.0 + x.abs())),
            _ => return None,
        })
    }

    fn floor(self) -> f64 {
        f64::floor(self)
    }
}
