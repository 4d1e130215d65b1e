//! Elementwise functions of one and two tensors.
//!
//! f16 and bf16 are converted to f32, and the result is rounded once, because the baseline instruction sets
//! lack their arithmetic.

use half::slice::HalfFloatSliceExt as _;
use half::{bf16, f16};

use super::super::binary::zip;
use super::super::numeric::Number;
use super::super::numeric::{f64_to_i32, f64_to_i64};
use super::super::unary::map as map_numbers;
use super::super::walk::broadcast_shape;
use super::super::{Binary, Compare, Unary, reference};
use super::rows::Blocks;
use super::{BLOCK, Cx};
use crate::simd::{Arithmetic, Function, Isa, Over, Zip};
use crate::{DType, Element, HostTensor, I1, Shape, TensorError};

/// See [`reference::unary`]; in place.
pub fn unary(op: Unary, x: HostTensor, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    match function_of(op) {
        Some(function) if x.dtype() == DType::F32 => map(function, x, cx),
        Some(function) if is_half(&x) => by_f32(&x, cx, |x| map(function, x, cx)),
        _ => reference::unary(op, &x, cx.allocator),
    }
}

/// See [`reference::leaky_relu`]; in place.
pub fn leaky_relu(x: HostTensor, alpha: f32, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    match x.dtype() {
        DType::F32 => map(Function::LeakyRelu(alpha), x, cx),
        DType::F16 | DType::BF16 => by_f32(&x, cx, |x| leaky_relu(x, alpha, cx)),
        _ => reference::leaky_relu(&x, alpha, cx.allocator),
    }
}

pub(in crate::tf) fn function_of(op: Unary) -> Option<Function> {
    Some(match op {
        Unary::Abs => Function::Abs,
        Unary::Neg => Function::Neg,
        Unary::Sign => Function::Sign,
        Unary::Square => Function::Square,
        Unary::Reciprocal => Function::Reciprocal,
        Unary::Sqrt => Function::Sqrt,
        Unary::Rsqrt => Function::Rsqrt,
        Unary::Exp => Function::Exp,
        Unary::Log => Function::Log,
        Unary::Tanh => Function::Tanh,
        Unary::Erf => Function::Erf,
        Unary::Ceil => Function::Ceil,
        Unary::Floor => Function::Floor,
        Unary::Round => Function::Round,
        Unary::Sigmoid => Function::Sigmoid,
        Unary::Softplus => Function::Softplus,
        Unary::Softsign => Function::Softsign,
        Unary::GeluSlope => Function::GeluSlope,
        Unary::GeluTanhSlope => Function::GeluTanhSlope,
        Unary::Relu => Function::Relu,
        Unary::Relu6 => Function::Relu6,
        Unary::Elu => Function::Elu,
        Unary::Selu => Function::Selu,
        _ => return None,
    })
}

/// A function of each element of an f32 tensor; in place.
pub fn map(function: Function, x: HostTensor, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    const COST: usize = 4;
    x.expect_dtype("x", DType::F32)?;
    let isa = Isa::detect();
    if x.is_unique() {
        cx.parts(&mut x.write::<f32>()?, (BLOCK, COST), &|_, out| isa.map(function, out));
        return Ok(x);
    }
    let out = HostTensor::allocate(DType::F32, x.shape().clone(), cx.allocator)?;
    {
        let from = x.read::<f32>()?;
        let from: &[f32] = &from;
        cx.parts(&mut out.write::<f32>()?, (BLOCK, COST), &|first, out| {
            for (out, x) in out.chunks_mut(BLOCK).zip(from[first..].chunks(BLOCK)) {
                isa.map_to(function, &x[..out.len()], out);
            }
        });
    }
    Ok(out)
}

pub(in crate::tf) fn arithmetic_of(op: Binary) -> Option<Arithmetic> {
    Some(match op {
        Binary::Add => Arithmetic::Add,
        Binary::Sub => Arithmetic::Sub,
        Binary::Mul => Arithmetic::Mul,
        Binary::RealDiv | Binary::Div => Arithmetic::Div,
        Binary::DivNoNan => Arithmetic::DivNoNan,
        Binary::Maximum => Arithmetic::Max,
        Binary::Minimum => Arithmetic::Min,
        Binary::SquaredDifference => Arithmetic::SquaredDifference,
        Binary::ReluGrad => Arithmetic::ReluGrad,
        Binary::Relu6Grad => Arithmetic::Relu6Grad,
        Binary::TanhGrad => Arithmetic::TanhGrad,
        Binary::SigmoidGrad => Arithmetic::SigmoidGrad,
        _ => return None,
    })
}

/// See [`reference::binary`]; in place of an f32 operand that has the result's shape.
pub fn binary(op: Binary, a: HostTensor, b: HostTensor, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    b.expect_dtype("b", a.dtype())?;
    let native = match (a.dtype(), arithmetic_of(op)) {
        (DType::F32, Some(op)) => return arithmetic(op, a, b, cx),
        // The reference rounds the square to f16, where it may overflow; in f32 it would not.
        (DType::F16, Some(Arithmetic::TanhGrad)) => None,
        (DType::F16 | DType::BF16, Some(op)) => {
            return by_f32(&a, cx, |a| arithmetic(op, a, cast(&b, DType::F32, cx)?, cx));
        }
        (DType::F64, _) => float_arithmetic(op, &a, &b, cx)?,
        (DType::I32, _) => integer_arithmetic::<i32>(op, &a, &b, cx)?,
        (DType::I64, _) => integer_arithmetic::<i64>(op, &a, &b, cx)?,
        _ => None,
    };
    native.map_or_else(|| reference::binary(op, &a, &b, cx.allocator), Ok)
}

/// Arithmetic of two f32 tensors that broadcast.
fn arithmetic(op: Arithmetic, a: HostTensor, b: HostTensor, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    let shape = broadcast_shape(a.shape(), b.shape())?;
    let may_become = |x: &HostTensor| x.is_unique() && *x.shape() == shape;
    let (out, other, over) = if may_become(&a) {
        (a, b, Over::Left)
    } else if may_become(&b) {
        (b, a, Over::Right)
    } else {
        return arithmetic_apart(op, &a, &b, shape, cx);
    };
    if out.num_elements() > 0 {
        let isa = Isa::detect();
        let blocks = Blocks::new(&shape, other.shape(), &shape);
        let other = other.read::<f32>()?;
        let (other, mut to): (&[f32], _) = (&other, out.write::<f32>()?);
        // The operand that is overwritten has no other slice: a slice of units stands for it.
        let itself = vec![(); to.len()];
        cx.parts(&mut to, (blocks.unit(), 1), &|first, to| {
            blocks.each(first, to, (&itself, other), |to, _, other| isa.arithmetic(op, over, to, other));
        });
    }
    Ok(out)
}

fn arithmetic_apart(
    op: Arithmetic,
    a: &HostTensor,
    b: &HostTensor,
    shape: Shape,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let out = HostTensor::allocate(DType::F32, shape, cx.allocator)?;
    if out.num_elements() > 0 {
        let isa = Isa::detect();
        let blocks = Blocks::new(a.shape(), b.shape(), out.shape());
        let (a, b) = (a.read_as::<f32>("a")?, b.read_as::<f32>("b")?);
        let (a, b): (&[f32], &[f32]) = (&a, &b);
        let over = blocks.even();
        cx.parts(&mut out.write::<f32>()?, (blocks.unit(), 1), &|first, out| {
            blocks.each(first, out, (a, b), |out, a, b| {
                let (even, other) = if over == Over::Left { (a, b) } else { (b, a) };
                if other.len() == 1 || other.len() == out.len() {
                    return isa.zip(Zip::Floats(op), a, b, out);
                }
                out.copy_from_slice(even);
                isa.arithmetic(op, over, out, other);
            });
        });
    }
    Ok(out)
}

/// Arithmetic of f64 by machine instructions.
fn float_arithmetic(
    op: Binary,
    a: &HostTensor,
    b: &HostTensor,
    cx: &Cx<'_>,
) -> Result<Option<HostTensor>, TensorError> {
    let shape = broadcast_shape(a.shape(), b.shape())?;
    macro_rules! zipped {
        ($f:expr) => {
            zip::<f64, f64>(a, b, shape, cx.allocator, $f)
        };
    }
    Ok(Some(match op {
        Binary::Add => zipped!(|a, b| a + b)?,
        Binary::Sub => zipped!(|a, b| a - b)?,
        Binary::Mul => zipped!(|a, b| a * b)?,
        Binary::RealDiv | Binary::Div => zipped!(|a, b| a / b)?,
        _ => return Ok(None),
    }))
}

/// Integers with wrapping machine arithmetic.
trait WrappingInteger: Number + Ord {
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
}

macro_rules! integers {
    ($($ty:ident)*) => {$(
        impl WrappingInteger for $ty {
            fn plus(self, other: $ty) -> $ty {
                self.wrapping_add(other)
            }
            fn minus(self, other: $ty) -> $ty {
                self.wrapping_sub(other)
            }
            fn times(self, other: $ty) -> $ty {
                self.wrapping_mul(other)
            }
        }
    )*};
}
integers! { i32 i64 }

/// Integer arithmetic that cannot fail.
fn integer_arithmetic<T: WrappingInteger>(
    op: Binary,
    a: &HostTensor,
    b: &HostTensor,
    cx: &Cx<'_>,
) -> Result<Option<HostTensor>, TensorError> {
    let f: fn(T, T) -> T = match op {
        Binary::Add => T::plus,
        Binary::Sub => T::minus,
        Binary::Mul => T::times,
        Binary::Maximum => Ord::max,
        Binary::Minimum => Ord::min,
        _ => return Ok(None),
    };
    zip::<T, T>(a, b, broadcast_shape(a.shape(), b.shape())?, cx.allocator, f).map(Some)
}

/// See [`reference::compare`].
pub fn compare(op: Compare, a: &HostTensor, b: &HostTensor, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    b.expect_dtype("b", a.dtype())?;
    match a.dtype() {
        DType::F32 => compare_of::<f32>(op, a, b, cx),
        DType::F64 => compare_of::<f64>(op, a, b, cx),
        DType::I32 => compare_of::<i32>(op, a, b, cx),
        DType::I64 => compare_of::<i64>(op, a, b, cx),
        _ => reference::compare(op, a, b, cx.allocator),
    }
}

fn compare_of<T: Number + PartialOrd>(
    op: Compare,
    a: &HostTensor,
    b: &HostTensor,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let shape = broadcast_shape(a.shape(), b.shape())?;
    match op {
        Compare::Equal | Compare::NotEqual => {
            let wanted = op == Compare::Equal;
            zip::<T, I1>(a, b, shape, cx.allocator, |a, b| I1::from((a == b) == wanted))
        }
        Compare::Less => zip::<T, I1>(a, b, shape, cx.allocator, |a, b| I1::from(a < b)),
        Compare::LessEqual => zip::<T, I1>(a, b, shape, cx.allocator, |a, b| I1::from(a <= b)),
        Compare::Greater => compare_of::<T>(Compare::Less, b, a, cx),
        Compare::GreaterEqual => compare_of::<T>(Compare::LessEqual, b, a, cx),
    }
}

/// See [`reference::select`].
pub fn select(
    condition: &HostTensor,
    a: &HostTensor,
    b: &HostTensor,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    condition.expect_dtype("condition", DType::I1)?;
    b.expect_dtype("b", a.dtype())?;
    let shape = broadcast_shape(condition.shape(), &broadcast_shape(a.shape(), b.shape())?)?;
    let out = HostTensor::allocate(a.dtype(), shape, cx.allocator)?;
    if out.num_elements() == 0 {
        return Ok(out);
    }
    // `b` is copied everywhere, then overwritten by `a` where the condition is true.
    match a.dtype().size() {
        1 => select_of::<1>(condition, a, b, &out)?,
        2 => select_of::<2>(condition, a, b, &out)?,
        4 => select_of::<4>(condition, a, b, &out)?,
        8 => select_of::<8>(condition, a, b, &out)?,
        _ => select_of::<16>(condition, a, b, &out)?,
    }
    Ok(out)
}

/// [`select`] for elements of `N` bytes.
fn select_of<const N: usize>(
    condition: &HostTensor,
    a: &HostTensor,
    b: &HostTensor,
    out: &HostTensor,
) -> Result<(), TensorError> {
    let shape = out.shape();
    let (condition_shape, a_shape, b_shape) = (condition.shape(), a.shape(), b.shape());
    let condition = condition.read::<I1>()?;
    let (a, b, mut out) = (a.read_bytes()?, b.read_bytes()?, out.write_bytes()?);
    let (a, b, out) = (a.as_chunks::<N>().0, b.as_chunks::<N>().0, out.as_chunks_mut::<N>().0);
    let itself = vec![(); out.len()];
    Blocks::new(shape, b_shape, shape).each(0, out, (&itself, b), |out, _, b| match b {
        &[b] => out.fill(b),
        b => out.chunks_exact_mut(b.len()).for_each(|out| out.copy_from_slice(b)),
    });
    Blocks::new(condition_shape, a_shape, shape).each(0, out, (&condition, a), overwrite);
    Ok(())
}

/// Sets `out` to `x` where the condition is true. Each of the condition and `x` has the length of `out`, or
/// is a row that repeats, or a single element.
fn overwrite<T: Copy>(out: &mut [T], condition: &[I1], x: &[T]) {
    let rows = [condition.len(), x.len()].into_iter().filter(|&len| len > 1);
    let row = rows.min().unwrap_or(out.len()).max(1);
    for (i, out) in out.chunks_mut(row).enumerate() {
        let from = i * row;
        match (part(condition, from, out.len()), part(x, from, out.len())) {
            (&[condition], &[x]) if condition.is_true() => out.fill(x),
            (&[condition], x) if condition.is_true() => out.copy_from_slice(x),
            (&[_], _) => {}
            (condition, &[x]) => out.iter_mut().zip(condition).for_each(|(out, condition)| {
                *out = if condition.is_true() { x } else { *out };
            }),
            (condition, x) => out.iter_mut().zip(condition).zip(x).for_each(|((out, condition), &x)| {
                *out = if condition.is_true() { x } else { *out };
            }),
        }
    }
}

/// Elements `from..from + len` of the repetition of `x`, which must be within one copy of `x`. A slice of one
/// element is returned as it is and stands for `len` copies.
fn part<T>(x: &[T], from: usize, len: usize) -> &[T] {
    if x.len() == 1 { x } else { &x[from % x.len()..][..len] }
}

/// See [`reference::cast`].
pub fn cast(x: &HostTensor, to: DType, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    macro_rules! pairs {
        ($($from:ident $rust_from:ident => $to:ident $rust_to:ident,)*) => {
            match (x.dtype(), to) {
                $((DType::$from, DType::$to) => map_numbers::<$rust_from, $rust_to>(x, cx.allocator, |x| x as $rust_to),)*
                (DType::F32, DType::I32) => map_numbers::<f32, i32>(x, cx.allocator, |x| f64_to_i32(f64::from(x))),
                (DType::F32, DType::I64) => map_numbers::<f32, i64>(x, cx.allocator, |x| f64_to_i64(f64::from(x))),
                (DType::F64, DType::I32) => map_numbers::<f64, i32>(x, cx.allocator, f64_to_i32),
                (DType::F64, DType::I64) => map_numbers::<f64, i64>(x, cx.allocator, f64_to_i64),
                (DType::I1, DType::F32) => {
                    map_numbers::<I1, f32>(x, cx.allocator, |x| f32::from(u8::from(x.is_true())))
                }
                (DType::I1, DType::I32) => map_numbers::<I1, i32>(x, cx.allocator, |x| i32::from(x.is_true())),
                (DType::F32, DType::I1) => map_numbers::<f32, I1>(x, cx.allocator, |x| I1::from(x != 0.0)),
                (DType::I32, DType::I1) => map_numbers::<i32, I1>(x, cx.allocator, |x| I1::from(x != 0)),
                _ => reference::cast(x, to, cx.allocator),
            }
        };
    }
    match (x.dtype(), to) {
        (from, to) if from == to => return Ok(x.clone()),
        (DType::F16, DType::F32) => return converted(x, cx, |x: &[f16], out| x.convert_to_f32_slice(out)),
        (DType::BF16, DType::F32) => return converted(x, cx, |x: &[bf16], out| x.convert_to_f32_slice(out)),
        (DType::F32, DType::F16) => {
            return converted(x, cx, |x, out: &mut [f16]| out.convert_from_f32_slice(x));
        }
        (DType::F32, DType::BF16) => {
            return converted(x, cx, |x, out: &mut [bf16]| out.convert_from_f32_slice(x));
        }
        _ => {}
    }
    pairs! {
        F32 f32 => UI8 u8, F32 f32 => F64 f64, F64 f64 => F32 f32, I32 i32 => F32 f32, I64 i64 => F32 f32, UI8 u8 => F32 f32, I32 i32 => I64 i64, I64 i64 => I32 i32,
        I32 i32 => F64 f64, I64 i64 => F64 f64, UI8 u8 => I32 i32,
    }
}

/// A new tensor to which `f` converts all elements of `x`.
fn converted<A: Element, B: Element>(
    x: &HostTensor,
    cx: &Cx<'_>,
    f: impl Fn(&[A], &mut [B]),
) -> Result<HostTensor, TensorError> {
    let out = HostTensor::allocate(B::DTYPE, x.shape().clone(), cx.allocator)?;
    f(&x.read::<A>()?, &mut out.write::<B>()?);
    Ok(out)
}

/// True for f16 and bf16, which are computed in f32; see [`by_f32`].
pub(super) fn is_half(x: &HostTensor) -> bool {
    matches!(x.dtype(), DType::F16 | DType::BF16)
}

/// `f` of an f16 or bf16 tensor converted to f32; its result is rounded once.
pub(super) fn by_f32(
    x: &HostTensor,
    cx: &Cx<'_>,
    f: impl FnOnce(HostTensor) -> Result<HostTensor, TensorError>,
) -> Result<HostTensor, TensorError> {
    cast(&f(cast(x, DType::F32, cx)?)?, x.dtype(), cx)
}

/// See [`reference::add_n`]; in place of an operand.
pub fn add_n(inputs: impl IntoIterator<Item = HostTensor>, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    let mut inputs = inputs.into_iter();
    let Some(first) = inputs.next() else { return reference::add_n(&[], cx.allocator) };
    inputs.try_fold(first, |sum, x| {
        x.expect_shape("inputs", sum.shape())?;
        binary(Binary::Add, sum, x, cx)
    })
}
