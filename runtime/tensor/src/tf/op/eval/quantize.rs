//! Fake quantization: floats rounded to the numbers of a quantized range.

use super::{int_in, owning};
use crate::error::invalid;
use crate::tf::op::attrs::Attributes;
use crate::tf::op::function::Made;
use crate::tf::{
    HalfWay, Levels, Quantized, Ranges, fake_quant as rounded, fake_quant_grad, quantize_and_dequantize,
    quantize_and_dequantize_grad,
};
use crate::{Shape, TensorError};

fn levels(attrs: &Attributes<'_>) -> Result<Levels, TensorError> {
    Levels::new(attrs.op(), attrs.int("num_bits")?, attrs.bool("narrow_range")?)
}

fn range(attrs: &Attributes<'_>) -> Result<Ranges, TensorError> {
    let ends = (attrs.float("min")? as f32, attrs.float("max")? as f32);
    Ranges::of_attributes(attrs.op(), levels(attrs)?, ends)
}

fn is_per_channel(attrs: &Attributes<'_>) -> bool {
    attrs.op().contains("PerChannel")
}

pub(in crate::tf::op) fn with_args(attrs: &Attributes<'_>) -> Made {
    let range = range(attrs)?;
    owning(attrs, move |[x], cx| rounded(&x, &range, cx))
}

pub(in crate::tf::op) fn with_args_gradient(attrs: &Attributes<'_>) -> Made {
    let range = range(attrs)?;
    owning(attrs, move |[dy, x], cx| {
        let [by_x, ..] = fake_quant_grad(&dy, &x, &range, &Shape::scalar(), cx)?;
        Ok(by_x)
    })
}

pub(in crate::tf::op) fn with_vars(attrs: &Attributes<'_>) -> Made {
    let (op, levels, is_per_channel) = (attrs.op(), levels(attrs)?, is_per_channel(attrs));
    owning(attrs, move |[x, min, max], cx| {
        let ranges = Ranges::of_operands(op, levels, &x, (&min, &max), is_per_channel)?;
        rounded(&x, &ranges, cx)
    })
}

pub(in crate::tf::op) fn with_vars_gradient(attrs: &Attributes<'_>) -> Made {
    let (op, levels, is_per_channel) = (attrs.op(), levels(attrs)?, is_per_channel(attrs));
    owning(attrs, move |[dy, x, min, max], cx| {
        let ranges = Ranges::of_operands(op, levels, &x, (&min, &max), is_per_channel)?;
        fake_quant_grad(&dy, &x, &ranges, min.shape(), cx)
    })
}

/// The axis of which each index has a range of its own; none for -1.
fn axis(attrs: &Attributes<'_>) -> Result<Option<usize>, TensorError> {
    match attrs.int("axis")? {
        -1 => Ok(None),
        axis => match usize::try_from(axis) {
            Ok(axis) => Ok(Some(axis)),
            Err(_) => invalid(attrs.op(), format!("axis is {axis}, expected -1 or more")),
        },
    }
}

/// The quantization that attributes specify, for integers of this many bits.
fn quantized(attrs: &Attributes<'_>, bits: i64, half_way: HalfWay) -> Result<Quantized, TensorError> {
    let (is_signed, is_narrow) = (attrs.bool("signed_input")?, attrs.bool("narrow_range")?);
    Ok(Quantized { bits, is_signed, is_narrow, half_way, axis: axis(attrs)? })
}

pub(in crate::tf::op) fn there_and_back(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    let half_way = attrs.word("round_mode", &[("HALF_TO_EVEN", HalfWay::Even), ("HALF_UP", HalfWay::Up)])?;
    let (by, is_given) = (quantized(attrs, attrs.int("num_bits")?, half_way)?, attrs.bool("range_given")?);
    by.check(op)?;
    owning(attrs, move |[x, min, max], cx| {
        quantize_and_dequantize(op, &x, is_given.then_some((&min, &max)), &by, cx)
    })
}

/// [`there_and_back`] with the number of bits as an operand.
pub(in crate::tf::op) fn there_and_back_by(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    let (by, is_given) = (quantized(attrs, 0, HalfWay::Even)?, attrs.bool("range_given")?);
    owning(attrs, move |[x, min, max, bits], cx| {
        let by = Quantized { bits: int_in(op, "num_bits", &bits)?, ..by };
        quantize_and_dequantize(op, &x, is_given.then_some((&min, &max)), &by, cx)
    })
}

pub(in crate::tf::op) fn there_and_back_gradient(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    // The number of bits does not count.
    let by =
        Quantized { bits: 8, is_signed: true, is_narrow: false, half_way: HalfWay::Even, axis: axis(attrs)? };
    owning(attrs, move |[dy, x, min, max], cx| {
        quantize_and_dequantize_grad(op, &dy, &x, (&min, &max), &by, cx)
    })
}
