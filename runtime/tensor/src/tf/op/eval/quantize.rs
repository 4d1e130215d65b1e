//! Fake quantization: floats rounded to the numbers of a quantized range.

use super::owning;
use crate::tf::op::attrs::Attributes;
use crate::tf::op::function::Made;
use crate::tf::{Levels, Ranges, fake_quant as rounded, fake_quant_grad};
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
