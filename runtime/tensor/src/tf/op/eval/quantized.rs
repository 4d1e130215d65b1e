//! Tensors of quantized integers, each with the ends of its range as two operands and two results.

use super::images::{plane_in, resizing};
use super::layers::{conv, pooling};
use super::{int_in, ints_in, owning, owning_many};
use crate::error::invalid;
use crate::scratch::try_collected;
use crate::tf::fast::Cx;
use crate::tf::op::attrs::Attributes;
use crate::tf::op::function::Made;
use crate::tf::{
    self, InstanceNormRange, QuantizeMode, QuantizedOperand, Quantizing, RealRange, UniformLimits,
    UniformOperands,
};
use crate::{DType, HostTensor, TensorError};

/// A quantized operand with the ends of its range.
fn operand<'a>(
    op: &'static str,
    levels: &'a HostTensor,
    [min, max]: [&HostTensor; 2],
) -> Result<QuantizedOperand<'a>, TensorError> {
    Ok(QuantizedOperand { levels, range: RealRange::of(op, min, max)? })
}

fn quantizing(attrs: &Attributes<'_>) -> Result<Quantizing, TensorError> {
    let modes = [
        ("MIN_COMBINED", QuantizeMode::MinCombined),
        ("MIN_FIRST", QuantizeMode::MinFirst),
        ("SCALED", QuantizeMode::Scaled),
    ];
    let mode = attrs.word("mode", &modes)?;
    let axis = usize::try_from(attrs.int("axis")?).ok(); // negative: one range
    Ok(Quantizing { mode, is_narrow: attrs.bool("narrow_range")?, axis })
}

pub(in crate::tf::op) fn quantize(attrs: &Attributes<'_>) -> Made {
    let (op, by, to) = (attrs.op(), quantizing(attrs)?, attrs.dtype("T")?);
    let least = attrs.float("ensure_minimum_range")? as f32;
    let is_half_to_even =
        attrs.word("round_mode", &[("HALF_AWAY_FROM_ZERO", false), ("HALF_TO_EVEN", true)])?;
    if is_half_to_even && by.mode != QuantizeMode::Scaled {
        return invalid(op, "round_mode HALF_TO_EVEN is for mode SCALED".to_owned());
    }
    owning(attrs, move |[x, min, max], cx| {
        tf::quantize(op, &x, (&min, &max), to, &by, (least, is_half_to_even), cx)
    })
}

pub(in crate::tf::op) fn dequantize(attrs: &Attributes<'_>) -> Made {
    let (op, by, to) = (attrs.op(), quantizing(attrs)?, attrs.dtype("dtype")?);
    owning(attrs, move |[x, min, max], cx| tf::dequantize(op, &x, (&min, &max), to, &by, cx))
}

pub(in crate::tf::op) fn quantize_down(attrs: &Attributes<'_>) -> Made {
    let (op, to) = (attrs.op(), attrs.dtype("out_type")?);
    owning(attrs, move |[x, min, max], cx| tf::quantize_down(op, &x, RealRange::of(op, &min, &max)?, to, cx))
}

pub(in crate::tf::op) fn requantize(attrs: &Attributes<'_>) -> Made {
    let (op, to) = (attrs.op(), attrs.dtype("out_type")?);
    owning(attrs, move |[x, min, max, low, high], cx| {
        tf::requantize(op, &x, RealRange::of(op, &min, &max)?, RealRange::of(op, &low, &high)?, to, cx)
    })
}

pub(in crate::tf::op) fn requantization_range(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    owning(attrs, move |[x, min, max], cx| {
        tf::requantization_range(op, &x, RealRange::of(op, &min, &max)?, cx)
    })
}

/// A function of two quantized operands, whose ends are `min_a`, `max_a`, `min_b`, `max_b`.
fn of_two(
    attrs: &Attributes<'_>,
    f: impl Fn([&QuantizedOperand<'_>; 2], &Cx<'_>) -> Result<[HostTensor; 3], TensorError>
    + Send
    + Sync
    + 'static,
) -> Made {
    let op = attrs.op();
    owning(attrs, move |[a, b, min_a, max_a, min_b, max_b], cx| {
        f([&operand(op, &a, [&min_a, &max_a])?, &operand(op, &b, [&min_b, &max_b])?], cx)
    })
}

/// A function of a quantized operand and its ends.
fn of_one(
    attrs: &Attributes<'_>,
    f: impl Fn(&QuantizedOperand<'_>, &Cx<'_>) -> Result<[HostTensor; 3], TensorError> + Send + Sync + 'static,
) -> Made {
    let op = attrs.op();
    owning(attrs, move |[x, min, max], cx| f(&operand(op, &x, [&min, &max])?, cx))
}

pub(in crate::tf::op) fn matmul(attrs: &Attributes<'_>) -> Made {
    let (op, turned) = (attrs.op(), [attrs.bool("transpose_a")?, attrs.bool("transpose_b")?]);
    expect_i32(attrs, "Toutput")?;
    of_two(attrs, move |operands, cx| tf::quantized_matrix_product(op, operands, turned, cx))
}

pub(in crate::tf::op) fn conv2d(attrs: &Attributes<'_>) -> Made {
    let (op, conv) = (attrs.op(), conv(attrs)?);
    expect_i32(attrs, "out_type")?;
    of_two(attrs, move |operands, cx| tf::quantized_conv2d(op, operands, &conv, cx))
}

pub(in crate::tf::op) fn bias_add(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    expect_i32(attrs, "out_type")?;
    of_two(attrs, move |operands, cx| tf::quantized_bias_add(op, operands, cx))
}

pub(in crate::tf::op) fn add(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    expect_i32(attrs, "Toutput")?;
    of_two(attrs, move |operands, cx| tf::quantized_add(op, operands, cx))
}

pub(in crate::tf::op) fn mul(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    expect_i32(attrs, "Toutput")?;
    of_two(attrs, move |operands, cx| tf::quantized_mul(op, operands, cx))
}

/// The result type of sums of bytes.
fn expect_i32(attrs: &Attributes<'_>, name: &str) -> Result<(), TensorError> {
    match attrs.dtype(name)? {
        DType::I32 => Ok(()),
        dtype => Err(TensorError::Unsupported { op: attrs.op(), dtype }),
    }
}

/// The result has the dtype of the operand.
fn expect_same(attrs: &Attributes<'_>) -> Result<(), TensorError> {
    match attrs.dtype("out_type")? {
        dtype if dtype == attrs.dtype("Tinput")? => Ok(()),
        dtype => Err(TensorError::Unsupported { op: attrs.op(), dtype }),
    }
}

pub(in crate::tf::op) fn relu(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    expect_same(attrs)?;
    let most = (op == "QuantizedRelu6").then_some(6.0);
    of_one(attrs, move |x, cx| tf::quantized_relu(op, x, most, cx))
}

pub(in crate::tf::op) fn relu_x(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    expect_same(attrs)?;
    owning(attrs, move |[x, most, min, max], cx| {
        let most = RealRange::of(op, &most, &most)?.max;
        tf::quantized_relu(op, &operand(op, &x, [&min, &max])?, Some(most), cx)
    })
}

pub(in crate::tf::op) fn max_pool(attrs: &Attributes<'_>) -> Made {
    let pool = pooling(attrs)?;
    of_one(attrs, move |x, cx| tf::quantized_max_pool(x, &pool, cx))
}

pub(in crate::tf::op) fn avg_pool(attrs: &Attributes<'_>) -> Made {
    let (op, pool) = (attrs.op(), pooling(attrs)?);
    of_one(attrs, move |x, cx| tf::quantized_avg_pool(op, x, &pool, cx))
}

pub(in crate::tf::op) fn concat(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    owning_many(attrs, 4, move |inputs, cx| {
        let [axis, inputs @ ..] = &inputs[..] else { return invalid(op, "no operands".to_owned()) };
        let n = inputs.len() / 3;
        if n * 3 != inputs.len() {
            return invalid(
                op,
                format!("{} operands, expected as many minima and maxima as values", inputs.len()),
            );
        }
        let (values, ends) = inputs.split_at(n);
        let (mins, maxes) = ends.split_at(n);
        let of = |((x, min), max)| operand(op, x, [min, max]);
        let operands = try_collected(values.iter().zip(mins).zip(maxes).map(of))?;
        tf::quantized_concat(op, &operands, int_in(op, "concat_dim", axis)?, cx)
    })
}

pub(in crate::tf::op) fn reshape(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    owning(attrs, move |[x, shape, min, max], _| {
        let _ = operand(op, &x, [&min, &max])?;
        Ok([tf::reshape(&x, &ints_in(op, "shape", &shape)?)?, min, max])
    })
}

pub(in crate::tf::op) fn batch_norm(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    expect_i32(attrs, "out_type")?;
    let by = (attrs.float("variance_epsilon")? as f32, attrs.bool("scale_after_normalization")?);
    owning(attrs, move |xs: [HostTensor; 15], cx| {
        let of = |i: usize| operand(op, &xs[3 * i], [&xs[3 * i + 1], &xs[3 * i + 2]]);
        let (x, mean, variance, beta, gamma) = (of(0)?, of(1)?, of(2)?, of(3)?, of(4)?);
        tf::quantized_batch_norm(op, &x, [&mean, &variance, &beta, &gamma], by, cx)
    })
}

pub(in crate::tf::op) fn instance_norm(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    let [min, max, min_separation, epsilon] =
        ["given_y_min", "given_y_max", "min_separation", "variance_epsilon"].map(|name| attrs.float(name));
    let given = RealRange { min: min? as f32, max: max? as f32 };
    let is_given = attrs.bool("output_range_given")?;
    if is_given && (given.min >= given.max || given.min.is_nan() || given.max.is_nan()) {
        return invalid(op, format!("given_y_min {} must be less than given_y_max {}", given.min, given.max));
    }
    let by = InstanceNormRange { given: is_given.then_some(given), min_separation: min_separation? as f32 };
    let epsilon = epsilon? as f32;
    of_one(attrs, move |x, cx| tf::quantized_instance_norm(op, x, epsilon, by, cx))
}

pub(in crate::tf::op) fn resize_bilinear(attrs: &Attributes<'_>) -> Made {
    let (op, resizing) = (attrs.op(), resizing(attrs)?);
    owning(attrs, move |[x, size, min, max], cx| {
        let x = operand(op, &x, [&min, &max])?;
        tf::quantized_resize_bilinear(op, &x, plane_in(op, "size", &size)?, resizing, cx)
    })
}

/// The axis of the scales: -1 stands for none.
fn uniform_axis(attrs: &Attributes<'_>, of: &str) -> Result<Option<usize>, TensorError> {
    let name = format!("{of}quantization_axis");
    match attrs.int(&name)? {
        -1 => Ok(None),
        axis => usize::try_from(axis)
            .map(Some)
            .or_else(|_| invalid(attrs.op(), format!("attribute `{name}` is {axis}"))),
    }
}

/// The axis of the columns of a matrix, or none.
fn uniform_columns(attrs: &Attributes<'_>, of: &str) -> Result<(), TensorError> {
    match uniform_axis(attrs, of)? {
        None | Some(1) => Ok(()),
        Some(axis) => {
            invalid(attrs.op(), format!("attribute `{of}quantization_axis` is {axis}, expected -1 or 1"))
        }
    }
}

/// The ends of the integers.
fn uniform_limits(attrs: &Attributes<'_>, of: &str) -> Result<UniformLimits, TensorError> {
    let end = |end: &str| {
        let name = format!("{of}quantization_{end}_val");
        let given = attrs.int(&name)?;
        i32::try_from(given).or_else(|_| invalid(attrs.op(), format!("attribute `{name}` is {given}")))
    };
    Ok((end("min")?, end("max")?))
}

fn uniform<'a>(
    scales: &'a HostTensor,
    zero_points: &'a HostTensor,
    axis: Option<usize>,
) -> UniformOperands<'a> {
    UniformOperands { scales, zero_points, axis }
}

pub(in crate::tf::op) fn uniform_quantize(attrs: &Attributes<'_>) -> Made {
    let (axis, limits, to) = (uniform_axis(attrs, "")?, uniform_limits(attrs, "")?, attrs.dtype("Tout")?);
    owning(attrs, move |[x, scales, zero_points], cx| {
        tf::uniform_quantize(&x, &uniform(&scales, &zero_points, axis), limits, to, cx)
    })
}

pub(in crate::tf::op) fn uniform_dequantize(attrs: &Attributes<'_>) -> Made {
    let axis = uniform_axis(attrs, "")?;
    owning(attrs, move |[x, scales, zero_points], cx| {
        tf::uniform_dequantize(&x, &uniform(&scales, &zero_points, axis), cx)
    })
}

pub(in crate::tf::op) fn uniform_requantize(attrs: &Attributes<'_>) -> Made {
    let (from, to) = (uniform_axis(attrs, "input_")?, uniform_axis(attrs, "output_")?);
    let (limits, dtype) = (uniform_limits(attrs, "output_")?, attrs.dtype("Tout")?);
    owning(attrs, move |[x, scales, zero_points, new_scales, new_zero_points], cx| {
        let [from, to] = [uniform(&scales, &zero_points, from), uniform(&new_scales, &new_zero_points, to)];
        tf::uniform_requantize(&x, [&from, &to], limits, dtype, cx)
    })
}

pub(in crate::tf::op) fn uniform_clip(attrs: &Attributes<'_>) -> Made {
    let axis = uniform_axis(attrs, "")?;
    owning(attrs, move |[x, low, high, scales, zero_points], cx| {
        tf::uniform_clip(&x, [&low, &high], &uniform(&scales, &zero_points, axis), cx)
    })
}

pub(in crate::tf::op) fn uniform_add(attrs: &Attributes<'_>) -> Made {
    let axes = [uniform_axis(attrs, "lhs_")?, uniform_axis(attrs, "rhs_")?, uniform_axis(attrs, "output_")?];
    let limits = uniform_limits(attrs, "output_")?;
    owning(attrs, move |[a, b, a_scales, a_zeros, b_scales, b_zeros, scales, zeros], cx| {
        let (of_a, of_b) = (uniform(&a_scales, &a_zeros, axes[0]), uniform(&b_scales, &b_zeros, axes[1]));
        tf::uniform_add([&a, &b], [&of_a, &of_b, &uniform(&scales, &zeros, axes[2])], limits, cx)
    })
}

pub(in crate::tf::op) fn uniform_dot(attrs: &Attributes<'_>) -> Made {
    let limits = uniform_limits(attrs, "output_")?;
    uniform_columns(attrs, "rhs_")?;
    uniform_columns(attrs, "output_")?;
    if let Some(axis) = uniform_axis(attrs, "lhs_")? {
        return invalid(attrs.op(), format!("attribute `lhs_quantization_axis` is {axis}, expected -1"));
    }
    owning(attrs, move |[a, b, a_scales, a_zeros, b_scales, b_zeros, scales, zeros], cx| {
        let (of_a, of_b) = (uniform(&a_scales, &a_zeros, None), uniform(&b_scales, &b_zeros, None));
        tf::uniform_dot([&a, &b], [&of_a, &of_b, &uniform(&scales, &zeros, None)], limits, cx)
    })
}

pub(in crate::tf::op) fn uniform_dot_hybrid(attrs: &Attributes<'_>) -> Made {
    uniform_columns(attrs, "rhs_")?;
    owning(attrs, move |[a, b, scales, zeros], cx| {
        tf::uniform_dot_hybrid(&a, &b, &uniform(&scales, &zeros, None), cx)
    })
}
