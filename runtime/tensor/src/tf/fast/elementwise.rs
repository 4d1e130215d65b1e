//! Elementwise functions of one and two tensors.
//!
//! f16 and bf16 are converted to f32, and the result is rounded once, because the baseline instruction sets
//! lack their arithmetic.

use half::slice::HalfFloatSliceExt as _;
use half::{bf16, f16};

use super::super::binary::expect_limits;
use super::super::numeric::{AnyWide, Number, f64_to_i32, f64_to_i64};
use super::super::unary::{element_as_f64, map as map_numbers};
use super::super::walk::broadcast_shape;
use super::super::{Binary, Compare, Unary, reference};
use super::rows::Blocks;
use super::{BLOCK, Cx};
use crate::simd::{
    Arithmetic, Comparison, Function, Isa, Native, NativeMap, NativeOp, Over, Truth, Wide, Zip,
    compare_slices, truths, with_native,
};
use crate::{DType, Element, HostTensor, I1, Shape, TensorError};

/// The cost of a function that is computed in f64, in additions.
const WIDE: usize = 24;

/// See [`reference::unary`]; in place, for functions of f32 and those that are computed in f64.
pub fn unary(op: Unary, x: HostTensor, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    if let Some(function) = wide_of(op, x.dtype()) {
        let x = if x.is_unique() { x } else { x.copied(cx.allocator)? };
        let isa = Isa::detect();
        if x.dtype() == DType::F64 {
            cx.parts(&mut x.write::<f64>()?, (BLOCK, WIDE), &|_, x| isa.map_wide(function, x));
        } else {
            cx.parts(&mut x.write::<f32>()?, (BLOCK, WIDE), &|_, x| isa.map_wide_f32(function, x));
        }
        return Ok(x);
    }
    match function_of(op) {
        Some(function) if x.dtype() == DType::F32 => map(function, x, cx),
        Some(function) if is_half(&x) => by_f32(&x, cx, |x| map(function, x, cx)),
        _ => match native_map(op) {
            Some(function) => with_native!(
                x.dtype(),
                T => map_native::<T>(function, op, &x, cx),
                _ => reference::unary(op, &x, cx.allocator)
            ),
            None => reference::unary(op, &x, cx.allocator),
        },
    }
}

/// The function that is computed in f64, if an operator of this dtype is one.
pub(in crate::tf) fn wide_of(op: Unary, dtype: DType) -> Option<Wide> {
    match (op, dtype) {
        (Unary::Sin, DType::F32 | DType::F64) => Some(Wide::Sin),
        (Unary::Cos, DType::F32 | DType::F64) => Some(Wide::Cos),
        (Unary::Exp, DType::F64) => Some(Wide::Exp),
        (Unary::Log, DType::F64) => Some(Wide::Log),
        (Unary::Tanh, DType::F64) => Some(Wide::Tanh),
        (Unary::Sigmoid, DType::F64) => Some(Wide::Sigmoid),
        _ => None,
    }
}

/// The function of the numbers of the machine that an operator is.
fn native_map(op: Unary) -> Option<NativeMap> {
    Some(match op {
        Unary::Abs => NativeMap::Abs,
        Unary::Neg => NativeMap::Neg,
        Unary::Sign => NativeMap::Sign,
        Unary::Square => NativeMap::Square,
        Unary::Relu => NativeMap::Relu,
        Unary::Relu6 => NativeMap::Relu6,
        Unary::Invert => NativeMap::Invert,
        Unary::Reciprocal => NativeMap::Reciprocal,
        Unary::Sqrt => NativeMap::Sqrt,
        Unary::Rsqrt => NativeMap::Rsqrt,
        Unary::Ceil => NativeMap::Ceil,
        Unary::Floor => NativeMap::Floor,
        Unary::Round => NativeMap::Round,
        _ => return None,
    })
}

fn map_native<T: Native>(
    function: NativeMap,
    op: Unary,
    x: &HostTensor,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let isa = Isa::detect();
    if !T::map(isa, function, &[], &mut []) {
        return reference::unary(op, x, cx.allocator);
    }
    let out = HostTensor::allocate(x.dtype(), x.shape().clone(), cx.allocator)?;
    {
        let from = x.read::<T>()?;
        let from: &[T] = &from;
        cx.parts(&mut out.write::<T>()?, (BLOCK, 1), &|first, out| {
            T::map(isa, function, &from[first..][..out.len()], out);
        });
    }
    Ok(out)
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
    match (a.dtype(), arithmetic_of(op)) {
        (DType::F32, Some(op)) => return arithmetic(op, a, b, cx),
        // The reference rounds the square to f16, where it may overflow; in f32 it would not.
        (DType::F16, Some(Arithmetic::TanhGrad)) => {}
        (DType::F16 | DType::BF16, Some(op)) => {
            return by_f32(&a, cx, |a| arithmetic(op, a, cast(&b, DType::F32, cx)?, cx));
        }
        _ => {}
    }
    if op == Binary::Pow && is_square(&a, &b)? {
        return unary(Unary::Square, a, cx);
    }
    let by_reference = || reference::binary(op, &a, &b, cx.allocator);
    match (a.dtype(), native_op(op)) {
        (DType::F32, _) if op == Binary::Pow => {
            let isa = Isa::detect();
            zip::<f32, f32>(&a, &b, POWER, cx, &|a, b, out| isa.powers(a, b, out))
        }
        (DType::I1, _) => match op {
            Binary::LogicalAnd => zip_truths(Truth::And, &a, &b, cx),
            Binary::LogicalOr => zip_truths(Truth::Or, &a, &b, cx),
            _ => by_reference(),
        },
        (dtype, Some(native)) => with_native!(
            dtype,
            T => zip_native::<T>(native, &a, &b, cx)?.map_or_else(by_reference, Ok),
            _ => by_reference()
        ),
        _ => by_reference(),
    }
}

/// True if the power of `a` by `b` is its square: if `b` is a single 2, and not for 16-bit floats, whose
/// power is rounded once.
pub(in crate::tf) fn is_square(a: &HostTensor, b: &HostTensor) -> Result<bool, TensorError> {
    if b.num_elements() != 1 || b.shape().rank() > a.shape().rank() || a.dtype() == DType::I1 || is_half(a) {
        return Ok(false);
    }
    Ok(element_as_f64(b.dtype(), &b.read_bytes()?) == Some(2.0))
}

/// The function of the numbers of the machine that an operator is.
fn native_op(op: Binary) -> Option<NativeOp> {
    Some(match op {
        Binary::Add => NativeOp::Add,
        Binary::Sub => NativeOp::Sub,
        Binary::Mul => NativeOp::Mul,
        Binary::RealDiv | Binary::Div => NativeOp::Div,
        Binary::Maximum => NativeOp::Max,
        Binary::Minimum => NativeOp::Min,
        Binary::SquaredDifference => NativeOp::SquaredDifference,
        Binary::BitwiseAnd => NativeOp::And,
        Binary::BitwiseOr => NativeOp::Or,
        Binary::BitwiseXor => NativeOp::Xor,
        Binary::LeftShift => NativeOp::ShiftLeft,
        Binary::RightShift => NativeOp::ShiftRight,
        Binary::TruncateDiv => NativeOp::TruncateDiv,
        Binary::TruncateMod => NativeOp::TruncateMod,
        Binary::FloorDiv => NativeOp::FloorDiv,
        Binary::FloorMod => NativeOp::FloorMod,
        _ => return None,
    })
}

/// `None` if the type lacks the function, or a divisor is zero.
fn zip_native<T: Native>(
    op: NativeOp,
    a: &HostTensor,
    b: &HostTensor,
    cx: &Cx<'_>,
) -> Result<Option<HostTensor>, TensorError> {
    let isa = Isa::detect();
    if !T::zip(isa, op, &[], &[], &mut []) || (op.is_division() && b.read::<T>()?.contains(&T::zeroed())) {
        return Ok(None);
    }
    let cost = if op.is_division() { DIVISION } else { 1 };
    let zipped = zip::<T, T>(a, b, cost, cx, &|a, b, out| {
        T::zip(isa, op, a, b, out);
    });
    zipped.map(Some)
}

fn zip_truths(op: Truth, a: &HostTensor, b: &HostTensor, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    zip::<I1, I1>(a, b, 1, cx, &|a, b, out| truths(op, a, b, out))
}

/// The costs of a division of integers and of a power, in additions.
const DIVISION: usize = 8;
const POWER: usize = 32;

/// Sets some elements of a result, given those of two operands: as many as it has.
type ZipFn<'a, A, R> = &'a (dyn Fn(&[A], &[A], &mut [R]) + Sync);

/// A new tensor of what `f` makes of blocks of two tensors that broadcast. `cost` is that of an element in
/// additions.
fn zip<A: Element, R: Element>(
    a: &HostTensor,
    b: &HostTensor,
    cost: usize,
    cx: &Cx<'_>,
    f: ZipFn<'_, A, R>,
) -> Result<HostTensor, TensorError> {
    let out = HostTensor::allocate(R::DTYPE, broadcast_shape(a.shape(), b.shape())?, cx.allocator)?;
    if out.num_elements() > 0 {
        let blocks = Blocks::new(a.shape(), b.shape(), out.shape());
        let (a, b) = (a.read_as::<A>("a")?, b.read_as::<A>("b")?);
        let (a, b): (&[A], &[A]) = (&a, &b);
        cx.parts(&mut out.write::<R>()?, (blocks.unit(), cost), &|first, out| {
            let mut buffer = [A::zeroed(); REPEATED];
            blocks.each(first, out, (a, b), |out, a, b| alongside(out, a, b, &mut buffer, f));
        });
    }
    Ok(out)
}

/// The numbers that a short operand is repeated to.
const REPEATED: usize = 256;

/// Calls `f` with operands of equal lengths. Each of `a` and `b` has the length of `out`, or it is a row that
/// repeats, or a single element; a short one is repeated in the buffer first.
fn alongside<A: Element, R>(out: &mut [R], a: &[A], b: &[A], buffer: &mut [A; REPEATED], f: ZipFn<'_, A, R>) {
    let n = out.len();
    if a.len() == n && b.len() == n {
        return f(a, b, out);
    }
    let short = if a.len() == n { b } else { a };
    let row = match short {
        &[x] => {
            let row = &mut buffer[..REPEATED.min(n)];
            row.fill(x);
            &*row
        }
        short if short.len() <= REPEATED / 2 && short.len() < n => {
            let row = &mut buffer[..REPEATED.min(n) / short.len() * short.len()];
            row.chunks_exact_mut(short.len()).for_each(|part| part.copy_from_slice(short));
            &*row
        }
        short => short,
    };
    for (at, out) in (0..).step_by(row.len()).zip(out.chunks_mut(row.len())) {
        let row = &row[..out.len()];
        if a.len() == n { f(&a[at..][..row.len()], row, out) } else { f(row, &b[at..][..row.len()], out) }
    }
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

/// See [`reference::compare`].
pub fn compare(op: Compare, a: &HostTensor, b: &HostTensor, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    b.expect_dtype("b", a.dtype())?;
    if is_half(a) {
        return compare(op, &cast(a, DType::F32, cx)?, &cast(b, DType::F32, cx)?, cx);
    }
    broadcast_shape(a.shape(), b.shape())?;
    let (how, left, right) = match op {
        Compare::Equal => (Comparison::Equal, a, b),
        Compare::NotEqual => (Comparison::NotEqual, a, b),
        Compare::Less => (Comparison::Less, a, b),
        Compare::LessEqual => (Comparison::LessEqual, a, b),
        Compare::Greater => (Comparison::Less, b, a),
        Compare::GreaterEqual => (Comparison::LessEqual, b, a),
    };
    match (a.dtype(), how) {
        (DType::I1, Comparison::Equal) => return zip_truths(Truth::Equal, a, b, cx),
        (DType::I1, Comparison::NotEqual) => return zip_truths(Truth::NotEqual, a, b, cx),
        _ => {}
    }
    let isa = Isa::detect();
    macro_rules! compared {
        ($ty:ident) => {
            zip::<$ty, I1>(left, right, 1, cx, &|a, b, out| compare_slices(how, a, b, out))
        };
    }
    match a.dtype() {
        DType::I8 => compared!(i8),
        DType::I16 => compared!(i16),
        DType::UI16 => compared!(u16),
        DType::UI32 => compared!(u32),
        DType::UI64 => compared!(u64),
        dtype => with_native!(
            dtype,
            T => zip::<T, I1>(left, right, 1, cx, &|a, b, out| T::compare(isa, how, a, b, out)),
            _ => reference::compare(op, a, b, cx.allocator)
        ),
    }
}

/// See [`reference::clip_by_value`].
pub fn clip_by_value(
    x: &HostTensor,
    low: &HostTensor,
    high: &HostTensor,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    expect_limits(x, low, high)?;
    with_native!(x.dtype(), T => {
        let isa = Isa::detect();
        let bounded = |op, x: &HostTensor, limit| {
            zip::<T, T>(x, limit, 1, cx, &|x, limit, out| {
                T::zip(isa, op, x, limit, out);
            })
        };
        bounded(NativeOp::AtLeast, &bounded(NativeOp::AtMost, x, high)?, low)
    }, _ => reference::clip_by_value(x, low, high, cx.allocator))
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
                (DType::F32, DType::UI8) => {
                    map_numbers::<f32, u8>(x, cx.allocator, |x| Number::cast(AnyWide::Real(x.into())))
                }
                (DType::F32, DType::I32) => map_numbers::<f32, i32>(x, cx.allocator, |x| f64_to_i32(f64::from(x))),
                (DType::F32, DType::I64) => map_numbers::<f32, i64>(x, cx.allocator, |x| f64_to_i64(f64::from(x))),
                (DType::F64, DType::I32) => map_numbers::<f64, i32>(x, cx.allocator, f64_to_i32),
                (DType::F64, DType::I64) => map_numbers::<f64, i64>(x, cx.allocator, f64_to_i64),
                (DType::F32, DType::I1) => map_numbers::<f32, I1>(x, cx.allocator, |x| I1::from(x != 0.0)),
                (DType::F64, DType::I1) => map_numbers::<f64, I1>(x, cx.allocator, |x| I1::from(x != 0.0)),
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
    if let Some(converted) = cast_integers(x, to, cx)? {
        return Ok(converted);
    }
    pairs! {
        F32 f32 => F64 f64, F64 f64 => F32 f32,
    }
}

/// `Cast` of integers, but those of 64 bits without a sign, and of booleans, in blocks by way of i64: code
/// for each dtype instead of each pair. Other pairs: `None`.
fn cast_integers(x: &HostTensor, to: DType, cx: &Cx<'_>) -> Result<Option<HostTensor>, TensorError> {
    const NUMBERS: usize = 512;
    let widen: fn(&[u8], &mut [i64]) = match x.dtype() {
        DType::UI8 => |from, to| each_from::<u8>(from, to, i64::from),
        DType::UI16 => |from, to| each_from::<u16>(from, to, i64::from),
        DType::UI32 => |from, to| each_from::<u32>(from, to, i64::from),
        DType::I8 => |from, to| each_from::<i8>(from, to, i64::from),
        DType::I16 => |from, to| each_from::<i16>(from, to, i64::from),
        DType::I32 => |from, to| each_from::<i32>(from, to, i64::from),
        DType::I64 => |from, to| each_from::<i64>(from, to, |x| x),
        DType::I1 => |from, to| each_from::<I1>(from, to, |x| i64::from(x.is_true())),
        _ => return Ok(None),
    };
    let narrow: fn(&[i64], &mut [u8]) = match to {
        DType::UI8 => |from, to| each_to(from, to, |x| x as u8),
        DType::UI16 => |from, to| each_to(from, to, |x| x as u16),
        DType::UI32 => |from, to| each_to(from, to, |x| x as u32),
        DType::UI64 => |from, to| each_to(from, to, |x| x as u64),
        DType::I8 => |from, to| each_to(from, to, |x| x as i8),
        DType::I16 => |from, to| each_to(from, to, |x| x as i16),
        DType::I32 => |from, to| each_to(from, to, |x| x as i32),
        DType::I64 => |from, to| each_to(from, to, |x| x),
        DType::I1 => |from, to| each_to(from, to, |x| I1::from(x != 0)),
        DType::F32 => |from, to| each_to(from, to, |x| x as f32),
        DType::F64 => |from, to| each_to(from, to, |x| x as f64),
        _ => return Ok(None),
    };
    let out = HostTensor::allocate(to, x.shape().clone(), cx.allocator)?;
    {
        let (from, size) = (x.read_bytes()?, x.dtype().size());
        let from: &[u8] = &from;
        cx.parts(&mut out.write_bytes()?, (NUMBERS * to.size(), 1), &|first, out| {
            let mut wide = [0; NUMBERS];
            let from = &from[first / to.size() * size..];
            for (from, out) in from.chunks(NUMBERS * size).zip(out.chunks_mut(NUMBERS * to.size())) {
                let wide = &mut wide[..out.len() / to.size()];
                widen(&from[..wide.len() * size], wide);
                narrow(wide, out);
            }
        });
    }
    Ok(Some(out))
}

fn each_from<T: Element>(from: &[u8], to: &mut [i64], f: impl Fn(T) -> i64) {
    let numbers = from.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned::<T>);
    to.iter_mut().zip(numbers).for_each(|(to, x)| *to = f(x));
}

fn each_to<T: Element>(from: &[i64], to: &mut [u8], f: impl Fn(i64) -> T) {
    let places = to.chunks_exact_mut(size_of::<T>());
    places.zip(from).for_each(|(to, &x)| to.copy_from_slice(bytemuck::bytes_of(&f(x))));
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
