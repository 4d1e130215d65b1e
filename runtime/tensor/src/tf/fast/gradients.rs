//! Gradients of f32 convolutions and poolings.
//!
//! As in `images`, the layout is NHWC, groups become separate images, and one group per channel is a
//! depthwise convolution.
//!
//! The products are those of `conv::gradient`; for few channels the gradient by the filters sums runs of
//! pixels instead (`conv::filter_gradient`). Channelwise operations need no matrix products
//! (`conv::channels_gradient`).

use super::super::conv::{ConvGeometry, grouped};
use super::super::pool::PoolGeometry;
use super::super::{Conv2dAttrs, ImageFormat, Pool2dAttrs, Reduce, reference};
use super::images::{as_nhwc, is_plain, repeated, swapped, to_nhwc};
use super::{Cx, reduce};
use crate::conv::Conv2d;
use crate::{DType, HostTensor, Shape, TensorError};

/// See [`reference::conv2d_backprop_input`].
pub fn conv2d_backprop_input(
    input: &Shape,
    filter: &HostTensor,
    dy: &HostTensor,
    attrs: &Conv2dAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let geometry = ConvGeometry::new("Conv2DBackpropInput", input, filter.shape(), attrs)?;
    dy.expect_shape("out_backprop", &geometry.result_shape)?;
    if !is_plain(filter, dy) || input.num_elements() == 0 {
        return reference::conv2d_backprop_input(input, filter, dy, attrs, cx.allocator);
    }
    as_nhwc(attrs.format, dy, cx, |dy| by_input(&geometry, filter, dy, cx))
}

fn by_input(
    geometry: &ConvGeometry,
    filter: &HostTensor,
    dy: &HostTensor,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let ConvGeometry { image, result, from, to, .. } = geometry;
    let (groups, pixels, rows, taps) =
        (geometry.groups(), geometry.pixels(), geometry.rows(), geometry.taps());
    let shape = ImageFormat::Nhwc.shape(image.batch, (image.height, image.width), image.channels)?;
    if groups > 1 && *from == 1 {
        let out = HostTensor::zeros(DType::F32, Shape::new(&[pixels, image.channels, *to])?, cx.allocator)?;
        {
            let (filter, dy, mut out) = (filter.read::<f32>()?, dy.read::<f32>()?, out.write::<f32>()?);
            geometry.images(result.channels)?.depthwise_by_image(&dy, &filter, &mut out, cx.parallel)?;
        }
        // Each filter of a channel has its own gradient by that channel; their sum is the gradient.
        let sums = if *to == 1 { out } else { reduce(Reduce::Sum, &out, &[2], false, cx)? };
        return sums.reshaped(shape);
    }
    let out = HostTensor::allocate(DType::F32, Shape::new(&[groups, pixels, *from])?, cx.allocator)?;
    {
        let (filter, dy) =
            (swapped(filter, [taps * from, groups, *to], cx)?, swapped(dy, [rows, groups, *to], cx)?);
        let (filter, dy, mut out) = (filter.read::<f32>()?, dy.read::<f32>()?, out.write::<f32>()?);
        let conv = geometry.images(*from)?;
        let inputs = filter.chunks_exact(taps * from * to).zip(dy.chunks_exact(rows * to));
        for ((filter, dy), out) in inputs.zip(out.chunks_exact_mut(pixels * from)) {
            conv.by_images(dy, (filter, *to), out, cx.parallel)?;
        }
    }
    swapped(&out, [groups, pixels, *from], cx)?.reshaped(shape)
}

/// See [`reference::conv2d_backprop_filter`].
pub fn conv2d_backprop_filter(
    x: &HostTensor,
    filter: &Shape,
    dy: &HostTensor,
    attrs: &Conv2dAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let geometry = ConvGeometry::new("Conv2DBackpropFilter", x.shape(), filter, attrs)?;
    dy.expect_shape("out_backprop", &geometry.result_shape)?;
    if !is_plain(x, dy) || filter.num_elements() == 0 {
        return reference::conv2d_backprop_filter(x, filter, dy, attrs, cx.allocator);
    }
    let (x, dy) = (to_nhwc(attrs.format, x, cx)?, to_nhwc(attrs.format, dy, cx)?);
    by_filter(&geometry, &x, &dy, cx)?.reshaped(filter.clone())
}

fn by_filter(
    geometry: &ConvGeometry,
    x: &HostTensor,
    dy: &HostTensor,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let ConvGeometry { image, result, from, to, .. } = geometry;
    let (groups, pixels, rows, taps) =
        (geometry.groups(), geometry.pixels(), geometry.rows(), geometry.taps());
    let out = HostTensor::allocate(DType::F32, Shape::new(&[groups, taps * from, *to])?, cx.allocator)?;
    if groups > 1 && *from == 1 {
        let x = repeated(x, image.channels, *to, cx)?;
        {
            let (x, dy, mut out) = (x.read::<f32>()?, dy.read::<f32>()?, out.write::<f32>()?);
            geometry.images(result.channels)?.depthwise_by_filter(&x, &dy, &mut out, cx.parallel)?;
        }
        // The elements are in the order of the filters, taps before channels; the caller sets their shape.
        return Ok(out);
    }
    {
        let (x, dy) = (swapped(x, [pixels, groups, *from], cx)?, swapped(dy, [rows, groups, *to], cx)?);
        let (x, dy, mut out) = (x.read::<f32>()?, dy.read::<f32>()?, out.write::<f32>()?);
        let conv = geometry.images(*from)?;
        let inputs = x.chunks_exact(pixels * from).zip(dy.chunks_exact(rows * to));
        for ((x, dy), out) in inputs.zip(out.chunks_exact_mut(taps * from * to)) {
            conv.by_filters(x, dy, *to, out, cx.parallel)?;
        }
    }
    swapped(&out, [groups, taps * from, *to], cx)
}

/// See [`reference::depthwise_conv2d_backprop_input`].
pub fn depthwise_conv2d_backprop_input(
    input: &Shape,
    filter: &HostTensor,
    dy: &HostTensor,
    attrs: &Conv2dAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let shape = grouped(input, filter.shape(), attrs.format)?;
    conv2d_backprop_input(input, &filter.reshaped(shape)?, dy, attrs, cx)
}

/// See [`reference::depthwise_conv2d_backprop_filter`].
pub fn depthwise_conv2d_backprop_filter(
    x: &HostTensor,
    filter: &Shape,
    dy: &HostTensor,
    attrs: &Conv2dAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let shape = grouped(x.shape(), filter, attrs.format)?;
    conv2d_backprop_filter(x, &shape, dy, attrs, cx)?.reshaped(filter.clone())
}

/// See [`reference::max_pool_grad`].
pub fn max_pool_grad(
    x: &HostTensor,
    dy: &HostTensor,
    attrs: &Pool2dAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let geometry = PoolGeometry::new("MaxPoolGrad", x.shape(), attrs)?;
    dy.expect_shape("grad", &geometry.result_shape)?;
    let Some(images) = pooled(&geometry).filter(|_| is_plain(x, dy)) else {
        return reference::max_pool_grad(x, dy, attrs, cx.allocator);
    };
    let x = to_nhwc(attrs.format, x, cx)?;
    as_nhwc(attrs.format, dy, cx, |dy| {
        let out = HostTensor::zeros(DType::F32, x.shape().clone(), cx.allocator)?;
        {
            let (x, dy, mut out) = (x.read::<f32>()?, dy.read::<f32>()?, out.write::<f32>()?);
            images.max_pool_by_image(&x, &dy, &mut out, cx.parallel)?;
        }
        Ok(out)
    })
}

/// See [`reference::avg_pool_grad`].
pub fn avg_pool_grad(
    input: &Shape,
    dy: &HostTensor,
    attrs: &Pool2dAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let geometry = PoolGeometry::new("AvgPoolGrad", input, attrs)?;
    dy.expect_shape("grad", &geometry.result_shape)?;
    let image = &geometry.image;
    let Some(images) = pooled(&geometry).filter(|_| is_plain(dy, dy)) else {
        return reference::avg_pool_grad(input, dy, attrs, cx.allocator);
    };
    as_nhwc(attrs.format, dy, cx, |dy| {
        let shape = ImageFormat::Nhwc.shape(image.batch, (image.height, image.width), image.channels)?;
        let out = HostTensor::zeros(DType::F32, shape, cx.allocator)?;
        {
            let (dy, mut out) = (dy.read::<f32>()?, out.write::<f32>()?);
            images.avg_pool_by_image(&dy, &mut out, cx.parallel)?;
        }
        Ok(out)
    })
}

/// The geometry for the fast kernels, which visit every tap. `None` if most taps may be padding: if a window
/// is wider than its image, or the number of taps exceeds u32.
fn pooled(geometry: &PoolGeometry) -> Option<Conv2d> {
    let PoolGeometry { image, windows, .. } = geometry;
    (windows.cols.filter <= windows.cols.input).then_some(())?;
    u32::try_from(windows.rows.filter.checked_mul(windows.cols.filter)?).ok()?;
    Conv2d::new(image.batch, image.channels, windows.rows, windows.cols).ok()
}
