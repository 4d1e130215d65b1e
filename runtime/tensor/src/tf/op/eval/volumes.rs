//! Convolutions and poolings of volumes.

use super::{owning, shape_in};
use crate::TensorError;
use crate::error::invalid;
use crate::tf::op::attrs::Attributes;
use crate::tf::op::function::Made;
use crate::tf::{self, Volume, VolumeAttrs};

/// The entries of an attribute for the spatial axes. Those of batch and channels have to be 1.
fn inner<const N: usize>(attrs: &Attributes<'_>, name: &str) -> Result<[usize; N], TensorError> {
    let given = attrs.ints(name)?;
    let refused = || invalid(attrs.op(), format!("attribute `{name}` is {given:?}"));
    let [1, inner @ .., 1] = &given[..] else { return refused() };
    let inner: Option<Vec<usize>> = inner.iter().map(|&n| usize::try_from(n).ok()).collect();
    match inner.and_then(|inner| inner.try_into().ok()) {
        Some(inner) => Ok(inner),
        None => refused(),
    }
}

fn is_same(attrs: &Attributes<'_>) -> Result<bool, TensorError> {
    attrs.word("padding", &[("SAME", true), ("VALID", false)])
}

/// The attributes of a convolution or pooling. Poolings have no dilations.
pub(in crate::tf::op) fn windows(attrs: &Attributes<'_>) -> Result<VolumeAttrs, TensorError> {
    attrs.word("data_format", &[("NDHWC", ())])?;
    let has_dilations = attrs.signature().attr("dilations").is_some();
    Ok(VolumeAttrs {
        strides: inner(attrs, "strides")?,
        dilations: if has_dilations { inner(attrs, "dilations")? } else { [1; 3] },
        same: is_same(attrs)?,
    })
}

/// The size of the windows of a pooling.
pub(in crate::tf::op) fn size(attrs: &Attributes<'_>) -> Result<Volume, TensorError> {
    inner(attrs, "ksize")
}

/// The attributes of a `Dilation2D`, as those of a volume of depth 1.
pub(in crate::tf::op) fn dilation(attrs: &Attributes<'_>) -> Result<VolumeAttrs, TensorError> {
    let [[down, across], [rate_down, rate_across]] = [inner(attrs, "strides")?, inner(attrs, "rates")?];
    Ok(VolumeAttrs {
        strides: [1, down, across],
        dilations: [1, rate_down, rate_across],
        same: is_same(attrs)?,
    })
}

/// The size of the windows of patches, and their distances.
pub(in crate::tf::op) fn patches(attrs: &Attributes<'_>) -> Result<(Volume, VolumeAttrs), TensorError> {
    let strides = inner(attrs, "strides")?;
    Ok((inner(attrs, "ksizes")?, VolumeAttrs { strides, dilations: [1; 3], same: is_same(attrs)? }))
}

pub(in crate::tf::op) fn extract_volume_patches(attrs: &Attributes<'_>) -> Made {
    let (size, windows) = patches(attrs)?;
    owning(attrs, move |[x], cx| tf::extract_volume_patches(&x, size, &windows, cx))
}

pub(in crate::tf::op) fn conv3d(attrs: &Attributes<'_>) -> Made {
    let windows = windows(attrs)?;
    owning(attrs, move |[x, filter], cx| tf::conv3d(&x, &filter, &windows, cx))
}

pub(in crate::tf::op) fn conv3d_backprop_input(attrs: &Attributes<'_>) -> Made {
    let (op, windows) = (attrs.op(), windows(attrs)?);
    owning(attrs, move |[sizes, filter, dy], cx| {
        tf::conv3d_backprop_input(&shape_in(op, "input_sizes", &sizes)?, &filter, &dy, &windows, cx)
    })
}

pub(in crate::tf::op) fn conv3d_backprop_filter(attrs: &Attributes<'_>) -> Made {
    let (op, windows) = (attrs.op(), windows(attrs)?);
    owning(attrs, move |[x, sizes, dy], cx| {
        tf::conv3d_backprop_filter(&x, &shape_in(op, "filter_sizes", &sizes)?, &dy, &windows, cx)
    })
}

pub(in crate::tf::op) fn pool3d(attrs: &Attributes<'_>) -> Made {
    let (op, size, windows) = (attrs.op(), size(attrs)?, windows(attrs)?);
    owning(attrs, move |[x], cx| tf::pool3d(op, op == "MaxPool3D", &x, size, &windows, cx))
}

pub(in crate::tf::op) fn max_pool3d_grad(attrs: &Attributes<'_>) -> Made {
    let (size, windows) = (size(attrs)?, windows(attrs)?);
    owning(attrs, move |[x, y, dy], cx| tf::max_pool3d_grad(&x, &y, &dy, size, &windows, cx))
}

pub(in crate::tf::op) fn avg_pool3d_grad(attrs: &Attributes<'_>) -> Made {
    let (op, size, windows) = (attrs.op(), size(attrs)?, windows(attrs)?);
    owning(attrs, move |[shape, dy], cx| {
        tf::avg_pool3d_grad(&shape_in(op, "orig_input_shape", &shape)?, &dy, size, &windows, cx)
    })
}

pub(in crate::tf::op) fn dilation2d(attrs: &Attributes<'_>) -> Made {
    let windows = dilation(attrs)?;
    owning(attrs, move |[x, filter], cx| tf::dilation2d(&x, &filter, &windows, cx))
}

pub(in crate::tf::op) fn dilation2d_backprop_input(attrs: &Attributes<'_>) -> Made {
    let (op, windows) = (attrs.op(), dilation(attrs)?);
    owning(attrs, move |[x, filter, dy], cx| {
        tf::dilation2d_backprop(op, &x, &filter, &dy, &windows, false, cx)
    })
}

pub(in crate::tf::op) fn dilation2d_backprop_filter(attrs: &Attributes<'_>) -> Made {
    let (op, windows) = (attrs.op(), dilation(attrs)?);
    owning(attrs, move |[x, filter, dy], cx| {
        tf::dilation2d_backprop(op, &x, &filter, &dy, &windows, true, cx)
    })
}

pub(in crate::tf::op) fn max_pool3d_grad_grad(attrs: &Attributes<'_>) -> Made {
    let (size, windows) = (size(attrs)?, windows(attrs)?);
    owning(attrs, move |[x, y, grads], cx| tf::max_pool3d_grad_grad(&x, &y, &grads, size, &windows, cx))
}
