//! Convolutions, their gradients and poolings of f32.
//!
//! Everything is NHWC here: NCHW images are turned, and turned back. Groups become images of their own; a group for each channel is a depthwise
//! convolution. The gradient by the images multiplies gradients with filters and adds what comes out to the pixels of each window; that by
//! the filters is a product with the windows laid out, some at a time.

use super::super::conv::Geometry;
use super::super::pool::Geometry as PoolGeometry;
use super::super::{Conv2d, Format, Pool, Pool2d, conv, reference};
use super::{Cx, movement::transpose};
use crate::conv::Conv2d as Images;
use crate::gemm::{Matrix, product_into};
use crate::matmul::Epilogue;
use crate::{DType, HostTensor, Shape, TensorError};

const TO_NHWC: [i64; 4] = [0, 2, 3, 1];
const TO_NCHW: [i64; 4] = [0, 3, 1, 2];

fn is_plain(x: &HostTensor, y: &HostTensor) -> bool {
    [x, y].iter().all(|x| x.dtype() == DType::F32 && x.num_elements() > 0)
}

/// `f` of images that are NHWC, its result in the format that they had.
fn as_nhwc(
    format: Format,
    x: &HostTensor,
    cx: &Cx<'_>,
    f: impl FnOnce(&HostTensor) -> Result<HostTensor, TensorError>,
) -> Result<HostTensor, TensorError> {
    match format {
        Format::Nhwc => f(x),
        Format::Nchw => transpose(&f(&transpose(x, &TO_NHWC, cx)?)?, &TO_NCHW, cx),
    }
}

/// See [`reference::conv2d`].
pub fn conv2d(
    x: &HostTensor,
    filter: &HostTensor,
    attrs: &Conv2d,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    if !is_plain(x, filter) {
        return reference::conv2d(x, filter, attrs, cx.allocator);
    }
    let geometry = Geometry::new("Conv2D", x.shape(), filter.shape(), attrs)?;
    if geometry.result_shape.num_elements() == 0 {
        return HostTensor::allocate(DType::F32, geometry.result_shape, cx.allocator);
    }
    as_nhwc(attrs.format, x, cx, |x| forward(&geometry, x, filter, cx))
}

fn forward(
    geometry: &Geometry,
    x: &HostTensor,
    filter: &HostTensor,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let Geometry { image, result, windows, from, to, .. } = geometry;
    let (channels, outs) = (image.channels, result.channels);
    let groups = channels / from;
    let shape = Format::Nhwc.shape(image.batch, windows.counts, outs)?;
    let images = |channels| Images::new(image.batch, channels, windows.rows, windows.cols);
    let out = HostTensor::allocate(DType::F32, shape.clone(), cx.allocator)?;
    if groups == 1 || *from == 1 {
        // A depthwise convolution with several filters for each channel is one with one for each of several equal channels.
        let x = if groups == 1 || *to == 1 { x.clone() } else { repeated(x, channels, *to, cx)? };
        let (x, filter, mut out) = (x.read::<f32>()?, filter.read::<f32>()?, out.write::<f32>()?);
        if groups == 1 {
            images(channels)?.run_unpacked(&x, &filter, outs, &mut out, cx.parallel)?;
        } else {
            images(outs)?.depthwise(&x, &filter, &Epilogue::default(), &mut out, cx.parallel)?;
        }
    } else {
        let pixels = |x: &HostTensor, parts: [usize; 3]| x.reshaped(Shape::new(&parts)?);
        let n = image.batch * image.height * image.width;
        let taps = geometry.windows.rows.filter * geometry.windows.cols.filter;
        // The groups outermost, of images, filters and results.
        let x = transpose(&pixels(x, [n, groups, *from])?, &[1, 0, 2], cx)?;
        let filter = transpose(&pixels(filter, [taps * from, groups, *to])?, &[1, 0, 2], cx)?;
        {
            let (x, filter, mut out) = (x.read::<f32>()?, filter.read::<f32>()?, out.write::<f32>()?);
            let conv = images(*from)?;
            let inputs = x.chunks_exact(n * from).zip(filter.chunks_exact(taps * from * to));
            let len = out.len() / groups;
            for ((x, filter), out) in inputs.zip(out.chunks_exact_mut(len)) {
                conv.run_unpacked(x, filter, *to, out, cx.parallel)?;
            }
        }
        let n = out.num_elements() / outs;
        return transpose(&pixels(&out, [groups, n, *to])?, &[1, 0, 2], cx)?.reshaped(shape);
    }
    Ok(out)
}

/// NHWC images with each channel so many times.
fn repeated(x: &HostTensor, channels: usize, times: usize, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    let pixels = x.num_elements() / channels;
    let apart = x.reshaped(Shape::new(&[pixels, channels, 1])?)?;
    super::super::broadcast_to(&apart, &Shape::new(&[pixels, channels, times])?, cx.allocator)
}

/// See [`reference::depthwise_conv2d`].
pub fn depthwise_conv2d(
    x: &HostTensor,
    filter: &HostTensor,
    attrs: &Conv2d,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let shape = conv::grouped(x.shape(), filter.shape(), attrs.format)?;
    conv2d(x, &filter.reshaped(shape)?, attrs, cx)
}

/// See [`reference::conv2d_backprop_input`].
pub fn conv2d_backprop_input(
    input: &Shape,
    filter: &HostTensor,
    dy: &HostTensor,
    attrs: &Conv2d,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "Conv2DBackpropInput";
    let geometry = Geometry::new(op, input, filter.shape(), attrs)?;
    dy.expect_shape("out_backprop", &geometry.result_shape)?;
    let Geometry { image, result, windows, from, .. } = &geometry;
    if !is_plain(filter, dy) || *from != image.channels || input.num_elements() == 0 {
        return reference::conv2d_backprop_input(input, filter, dy, attrs, cx.allocator);
    }
    as_nhwc(attrs.format, dy, cx, |dy| {
        let shape = Format::Nhwc.shape(image.batch, (image.height, image.width), image.channels)?;
        let out = HostTensor::zeros(DType::F32, shape, cx.allocator)?;
        let images = Images::new(image.batch, image.channels, windows.rows, windows.cols)?;
        {
            let (filter, dy, mut out) = (filter.read::<f32>()?, dy.read::<f32>()?, out.write::<f32>()?);
            let k = filter.len() / result.channels;
            let filter = Matrix::new(&filter, k, result.channels).transposed();
            images.spread(&dy, filter, &mut out, cx.parallel)?;
        }
        Ok(out)
    })
}

/// See [`reference::conv2d_backprop_filter`].
pub fn conv2d_backprop_filter(
    x: &HostTensor,
    filter: &Shape,
    dy: &HostTensor,
    attrs: &Conv2d,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "Conv2DBackpropFilter";
    let geometry = Geometry::new(op, x.shape(), filter, attrs)?;
    dy.expect_shape("out_backprop", &geometry.result_shape)?;
    let Geometry { image, result, windows, from, .. } = &geometry;
    if !is_plain(x, dy) || *from != image.channels || filter.num_elements() == 0 {
        return reference::conv2d_backprop_filter(x, filter, dy, attrs, cx.allocator);
    }
    let turned = |x: &HostTensor| match attrs.format {
        Format::Nhwc => Ok(x.clone()),
        Format::Nchw => transpose(x, &TO_NHWC, cx),
    };
    let (x, dy) = (turned(x)?, turned(dy)?);
    let images = Images::new(image.batch, image.channels, windows.rows, windows.cols)?;
    let out = HostTensor::allocate(DType::F32, filter.clone(), cx.allocator)?;
    {
        let (x, dy, mut out) = (x.read::<f32>()?, dy.read::<f32>()?, out.write::<f32>()?);
        images.each_windows(&x, |first, count, windows| {
            let dy = &dy[first * result.channels..][..count * result.channels];
            let windows = Matrix::new(windows, count, windows.len() / count).transposed();
            let dy = Matrix::new(dy, count, result.channels);
            product_into(windows, dy, (&mut out, (result.channels, 1)), first > 0);
        })?;
    }
    Ok(out)
}

/// See [`reference::pool`].
pub fn pool(kind: Pool, x: &HostTensor, attrs: &Pool2d, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    if x.dtype() != DType::F32 || x.num_elements() == 0 {
        return reference::pool(kind, x, attrs, cx.allocator);
    }
    let op = if kind == Pool::Max { "MaxPool" } else { "AvgPool" };
    let PoolGeometry { image, windows, .. } = PoolGeometry::new(op, x.shape(), attrs)?;
    // A window may have more elements than can be counted, most of them in the padding.
    let Ok(images) = Images::new(image.batch, image.channels, windows.rows, windows.cols) else {
        return reference::pool(kind, x, attrs, cx.allocator);
    };
    as_nhwc(attrs.format, x, cx, |x| {
        let shape = Format::Nhwc.shape(image.batch, windows.counts, image.channels)?;
        let out = HostTensor::allocate(DType::F32, shape, cx.allocator)?;
        {
            let (x, mut out) = (x.read::<f32>()?, out.write::<f32>()?);
            match kind {
                Pool::Max => images.max_pool(&x, &mut out, cx.parallel)?,
                Pool::Avg => images.avg_pool(&x, &mut out, cx.parallel)?,
            }
        }
        Ok(out)
    })
}
