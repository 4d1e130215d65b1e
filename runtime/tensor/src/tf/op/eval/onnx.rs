//! Operators of ONNX.

use super::owning;
use crate::TensorError;
use crate::error::invalid;
use crate::tf::op::attrs::Attributes;
use crate::tf::op::function::Made;
use crate::tf::{self, PoolWindows, Pooling, Scatter, Steps};

pub(in crate::tf::op) fn gather_elements(attrs: &Attributes<'_>) -> Made {
    let axis = attrs.int("axis")?;
    owning(attrs, move |[x, indices], cx| tf::gather_elements(&x, &indices, axis, cx))
}

fn reduction(attrs: &Attributes<'_>) -> Result<Scatter, TensorError> {
    let words = [
        ("none", Scatter::Update),
        ("add", Scatter::Add),
        ("mul", Scatter::Mul),
        ("max", Scatter::Max),
        ("min", Scatter::Min),
    ];
    attrs.word("reduction", &words)
}

pub(in crate::tf::op) fn scatter_elements(attrs: &Attributes<'_>) -> Made {
    let (axis, mode) = (attrs.int("axis")?, reduction(attrs)?);
    owning(attrs, move |[x, indices, updates], cx| {
        tf::scatter_elements(mode, x, &indices, &updates, axis, cx)
    })
}

pub(in crate::tf::op) fn scatter_nd_reduce(attrs: &Attributes<'_>) -> Made {
    let mode = reduction(attrs)?;
    owning(attrs, move |[x, indices, updates], cx| {
        tf::scatter_nd_reduce(mode, x, &indices, &updates, cx.allocator)
    })
}

/// Strides, dilations and pads.
pub(in crate::tf::op) fn steps(attrs: &Attributes<'_>) -> Result<Steps, TensorError> {
    Ok(Steps {
        strides: attrs.ints("strides")?,
        dilations: attrs.ints("dilations")?,
        pads: attrs.ints("pads")?,
    })
}

/// The windows of a pooling.
pub(in crate::tf::op) fn pool_windows(attrs: &Attributes<'_>) -> Result<PoolWindows, TensorError> {
    let given = attrs.ints("kernel_shape")?;
    match given.iter().map(|&n| usize::try_from(n).ok()).collect() {
        Some(kernel) => Ok(PoolWindows { kernel, steps: steps(attrs)?, ceil: attrs.bool("ceil_mode")? }),
        None => invalid(attrs.op(), format!("`kernel_shape` is {given:?}")),
    }
}

pub(in crate::tf::op) fn pool(attrs: &Attributes<'_>) -> Made {
    let windows = pool_windows(attrs)?;
    let average = Pooling::Average { padded: attrs.bool("count_include_pad")? };
    let kinds = [("max", Pooling::Max), ("average", average), ("lp", Pooling::Lp(attrs.int("p")?))];
    let kind = attrs.word("mode", &kinds)?;
    owning(attrs, move |[x], cx| tf::window_pool(kind, &x, &windows, cx))
}

pub(in crate::tf::op) fn max_pool_with_indices(attrs: &Attributes<'_>) -> Made {
    let (windows, order) = (pool_windows(attrs)?, attrs.int("storage_order")?);
    if !(0..2).contains(&order) {
        return invalid(attrs.op(), format!("`storage_order` is {order}, expected 0 or 1"));
    }
    owning(attrs, move |[x], cx| tf::max_pool_with_indices(&x, &windows, order == 1, cx))
}

pub(in crate::tf::op) fn quantized_matmul(attrs: &Attributes<'_>) -> Made {
    owning(attrs, |[a, b, za, zb], cx| tf::quantized_matmul(&a, &b, &za, &zb, cx))
}

pub(in crate::tf::op) fn quantized_conv(attrs: &Attributes<'_>) -> Made {
    let (steps, group) = (steps(attrs)?, attrs.count("group")?);
    owning(attrs, move |[x, w, zx, zw], cx| tf::quantized_conv(&x, &w, &zx, &zw, (&steps, group), cx))
}
