//! Sums, products, rectifiers and concatenations of quantized tensors.
//!
//! A product is that of the integers from which those that stand for 0 were subtracted.

use super::convert::{converted, mapped};
use super::{Level, RealRange, scalar, with_level};
use crate::error::invalid;
use crate::scratch::{collected, try_collected};
use crate::tf::fast::{self, Cx};
use crate::tf::{Binary, quantized_matmul};
use crate::{DType, HostTensor, Shape, TensorError};

/// A quantized operand.
#[derive(Clone, Copy, Debug)]
pub struct QuantizedOperand<'a> {
    /// The integers.
    pub levels: &'a HostTensor,
    /// The range of their numbers.
    pub range: RealRange,
}

impl QuantizedOperand<'_> {
    /// The integer that stands for 0, continued beyond those of the type.
    fn zero(&self, op: &'static str) -> Result<i32, TensorError> {
        // As in TensorFlow, the excess of a range that is far from 0 wraps around.
        with_level!(op, self.levels.dtype(), T => Ok(self.range.level::<T>(0.0) as i32))
    }

    /// The range of the products of numbers of two operands.
    pub(super) fn products(op: &'static str, [a, b]: [&Self; 2]) -> Result<RealRange, TensorError> {
        with_level!(op, a.levels.dtype(), A => {
            with_level!(op, b.levels.dtype(), B => Ok(RealRange::of_products::<A, B>(a.range, b.range)))
        })
    }

    /// The integers from which the one that stands for 0 is subtracted, as i32.
    fn centered(&self, op: &'static str, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
        let zero = scalar(self.zero(op)?, cx.allocator)?;
        fast::binary(Binary::Sub, fast::cast(self.levels, DType::I32, cx)?, zero, cx)
    }
}

/// A product of matrices or images of bytes with zero points, `f(a, a_zero, b, b_zero)`, for zero points that
/// need not be bytes: the product is linear in them.
pub(super) fn bilinear(
    op: &'static str,
    [a, b]: [&QuantizedOperand<'_>; 2],
    f: impl Fn(&HostTensor, &HostTensor, &HostTensor, &HostTensor) -> Result<HostTensor, TensorError>,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let zero_point =
        |x: &HostTensor, byte: u8| HostTensor::splat(x.dtype(), Shape::scalar(), &[byte], cx.allocator);
    let ones = |x: &HostTensor| HostTensor::splat(x.dtype(), x.shape().clone(), &[1], cx.allocator);
    let (x, y, zeros) = (a.levels, b.levels, [a.zero(op)?, b.zero(op)?]);
    let byte = |x: &HostTensor, zero: i32| match x.dtype() {
        DType::I8 => i8::try_from(zero).ok().map(|zero| zero as u8),
        _ => u8::try_from(zero).ok(),
    };
    if let (Some(x_zero), Some(y_zero)) = (byte(x, zeros[0]), byte(y, zeros[1])) {
        return f(x, &zero_point(x, x_zero)?, y, &zero_point(y, y_zero)?);
    }
    let (x_zero, y_zero) = (zero_point(x, 0)?, zero_point(y, 0)?);
    let product = |x: &HostTensor, y: &HostTensor| f(x, &x_zero, y, &y_zero);
    let times = |sums: HostTensor, by: i32| fast::binary(Binary::Mul, sums, scalar(by, cx.allocator)?, cx);
    let [of_x, of_y] = zeros.map(i32::wrapping_neg);
    let terms = [
        times(product(&ones(x)?, y)?, of_x)?,
        times(product(x, &ones(y)?)?, of_y)?,
        times(product(&ones(x)?, &ones(y)?)?, of_x.wrapping_mul(of_y))?,
    ];
    terms.into_iter().try_fold(product(x, y)?, |sum, term| fast::binary(Binary::Add, sum, term, cx))
}

/// `QuantizedMatMul`: the products of matrices of bytes, and their range.
///
/// # Errors
/// If an operand is not a matrix of bytes, the sizes differ, or a range is empty.
pub fn quantized_matrix_product(
    op: &'static str,
    [a, b]: [&QuantizedOperand<'_>; 2],
    transposed: [bool; 2],
    cx: &Cx<'_>,
) -> Result<[HostTensor; 3], TensorError> {
    let matrix = |x: &QuantizedOperand<'_>, is_transposed| {
        if x.levels.shape().rank() != 2 {
            return invalid(op, format!("an operand of shape {}, expected a matrix", x.levels.shape()));
        }
        x.range.expect_wide(op)?;
        if is_transposed { fast::transpose(x.levels, &[1, 0], cx) } else { Ok(x.levels.clone()) }
    };
    let (left, right) = (matrix(a, transposed[0])?, matrix(b, transposed[1])?);
    let range = QuantizedOperand::products(op, [a, b])?;
    let operands = [
        &QuantizedOperand { levels: &left, range: a.range },
        &QuantizedOperand { levels: &right, range: b.range },
    ];
    let sums = bilinear(op, operands, |a, za, b, zb| quantized_matmul(a, b, za, zb, cx), cx)?;
    range.beside(sums, cx.allocator)
}

/// `QuantizedMul`: the products of bytes as i32, and their range.
///
/// # Errors
/// If the shapes do not broadcast, or a range is empty.
pub fn quantized_mul(
    op: &'static str,
    [a, b]: [&QuantizedOperand<'_>; 2],
    cx: &Cx<'_>,
) -> Result<[HostTensor; 3], TensorError> {
    a.range.expect_wide(op)?;
    b.range.expect_wide(op)?;
    let products = fast::binary(Binary::Mul, a.centered(op, cx)?, b.centered(op, cx)?, cx)?;
    QuantizedOperand::products(op, [a, b])?.beside(products, cx.allocator)
}

/// `QuantizedAdd`: the sums of bytes as i32 of a range 2^14 times as wide as those of the operands.
///
/// # Errors
/// If the shapes do not broadcast, or a range is empty.
pub fn quantized_add(
    op: &'static str,
    [a, b]: [&QuantizedOperand<'_>; 2],
    cx: &Cx<'_>,
) -> Result<[HostTensor; 3], TensorError> {
    let sums = RealRange::of_sums(a.range.expect_wide(op)?, b.range.expect_wide(op)?, f32::from(1u16 << 14));
    // As in TensorFlow, an operand of one element is converted exactly, others by a multiple of the step.
    let terms = [
        (a, a.levels.num_elements() == 1),
        (b, b.levels.num_elements() == 1 && a.levels.num_elements() != 1),
    ];
    let [a, b] = terms.map(|(x, is_exact)| {
        let level = |byte: u8| sums.level::<i32>(x.range.number(byte));
        let (zero, step) = (level(0), i64::from((level(1).wrapping_sub(level(0))) as i32));
        let of = |byte: u8| if is_exact { level(byte) } else { zero.saturating_add(i64::from(byte) * step) };
        mapped(x.levels, cx, |byte: u8| i32::clamped(of(byte)))
    });
    sums.beside(fast::binary(Binary::Add, a?, b?, cx)?, cx.allocator)
}

/// `QuantizedBiasAdd`: sums with one bias for each index of the last axis, as i32 of a range 2^17 times as
/// wide as those of the operands.
///
/// # Errors
/// If the shapes do not fit.
pub fn quantized_bias_add(
    op: &'static str,
    [x, bias]: [&QuantizedOperand<'_>; 2],
    cx: &Cx<'_>,
) -> Result<[HostTensor; 3], TensorError> {
    let (shape, biases) = (x.levels.shape(), bias.levels.shape());
    if shape.rank() < 2 || biases.rank() != 1 || shape.dims().last() != biases.dims().last() {
        return invalid(op, format!("biases of shape {biases} for a tensor of shape {shape}"));
    }
    let sums = RealRange::of_sums(x.range, bias.range, (1u32 << 17) as f32);
    let zero = scalar(i32::clamped(sums.level::<i32>(0.0)), cx.allocator)?;
    let [x, bias] = [x, bias].map(|x| converted(op, x.levels, (x.range, sums), DType::I32, cx));
    let bias = fast::binary(Binary::Add, bias?, zero, cx)?;
    sums.beside(fast::binary(Binary::Add, x?, bias, cx)?, cx.allocator)
}

/// `QuantizedRelu`, `QuantizedRelu6` and `QuantizedReluX`: integers that stand for numbers from 0 to `most`,
/// of the same range.
pub fn quantized_relu(
    op: &'static str,
    x: &QuantizedOperand<'_>,
    most: Option<f32>,
    cx: &Cx<'_>,
) -> Result<[HostTensor; 3], TensorError> {
    let out = with_level!(op, x.levels.dtype(), T => {
        let level = |x0| T::clamped(x.range.level::<T>(x0));
        let (low, high) = (level(0.0), most.map_or(T::clamped(T::HIGH), level));
        mapped(x.levels, cx, |x: T| x.max(low).min(high))
    })?;
    x.range.beside(out, cx.allocator)
}

/// `QuantizedConcat`: the integers of all operands, as those of a common range.
///
/// # Errors
/// If there is no operand, or the shapes do not fit.
pub fn quantized_concat(
    op: &'static str,
    operands: &[QuantizedOperand<'_>],
    axis: i64,
    cx: &Cx<'_>,
) -> Result<[HostTensor; 3], TensorError> {
    let Some(first) = operands.first() else { return invalid(op, "no operands".to_owned()) };
    let mut common = operands.iter().fold(RealRange { min: f32::MAX, max: f32::MIN }, |all, x| RealRange {
        min: all.min.min(x.range.min),
        max: all.max.max(x.range.max),
    });
    if matches!(first.levels.dtype(), DType::I8 | DType::I16 | DType::I32) {
        let max = common.min.abs().max(common.max.abs());
        common = RealRange { min: -max, max };
    }
    let parts = try_collected(operands.iter().map(|x| match x.range == common {
        true => Ok(x.levels.clone()),
        false => converted(op, x.levels, (x.range, common), x.levels.dtype(), cx),
    }))?;
    let parts: Vec<&HostTensor> = collected(&parts)?;
    common.beside(fast::concat(&parts, axis, cx)?, cx.allocator)
}
