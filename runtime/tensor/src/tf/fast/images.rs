//! Convolutions and poolings of f32.
//!
//! The kernels compute in NHWC: NCHW images are transposed before and after. Groups become separate images;
//! one group per channel is a depthwise convolution.

use super::super::conv::ConvGeometry;
use super::super::pool::PoolGeometry;
use super::super::{Conv2dAttrs, ImageFormat, Pool, Pool2dAttrs, conv, reference};
use super::elementwise::{by_f32, cast, is_half};
use super::{Cx, movement::transpose};
use crate::conv::Conv2d;
use crate::matmul::Epilogue;
use crate::{DType, HostTensor, Shape, TensorError};

const TO_NHWC: [i64; 4] = [0, 2, 3, 1];
const TO_NCHW: [i64; 4] = [0, 3, 1, 2];

/// True if both are nonempty f32 tensors.
pub(super) fn is_plain(x: &HostTensor, y: &HostTensor) -> bool {
    [x, y].iter().all(|x| x.dtype() == DType::F32 && x.num_elements() > 0)
}

/// The images in NHWC.
pub(in crate::tf) fn to_nhwc(
    format: ImageFormat,
    x: &HostTensor,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    match format {
        ImageFormat::Nhwc => Ok(x.clone()),
        ImageFormat::Nchw => transpose(x, &TO_NHWC, cx),
    }
}

/// NHWC images in the given format.
pub(in crate::tf) fn from_nhwc(
    format: ImageFormat,
    y: HostTensor,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    match format {
        ImageFormat::Nhwc => Ok(y),
        ImageFormat::Nchw => transpose(&y, &TO_NCHW, cx),
    }
}

/// Applies `f` to the images in NHWC, and returns its result in the original format.
pub(super) fn as_nhwc(
    format: ImageFormat,
    x: &HostTensor,
    cx: &Cx<'_>,
    f: impl FnOnce(&HostTensor) -> Result<HostTensor, TensorError>,
) -> Result<HostTensor, TensorError> {
    from_nhwc(format, f(&to_nhwc(format, x, cx)?)?, cx)
}

/// See [`reference::conv2d`].
pub fn conv2d(
    x: &HostTensor,
    filter: &HostTensor,
    attrs: &Conv2dAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    if is_half(x) && filter.dtype() == x.dtype() {
        let filter = cast(filter, DType::F32, cx)?;
        return by_f32(x, cx, |x| conv2d(&x, &filter, attrs, cx));
    }
    if !is_plain(x, filter) {
        return reference::conv2d(x, filter, attrs, cx.allocator);
    }
    let geometry = ConvGeometry::new("Conv2D", x.shape(), filter.shape(), attrs)?;
    if geometry.result_shape.num_elements() == 0 {
        return HostTensor::allocate(DType::F32, geometry.result_shape, cx.allocator);
    }
    as_nhwc(attrs.format, x, cx, |x| forward(&geometry, x, filter, cx))
}

fn forward(
    geometry: &ConvGeometry,
    x: &HostTensor,
    filter: &HostTensor,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let ConvGeometry { image, result, windows, from, to, .. } = geometry;
    let (outs, groups, pixels, taps) =
        (result.channels, geometry.groups(), geometry.pixels(), geometry.taps());
    let shape = ImageFormat::Nhwc.shape(image.batch, windows.counts, outs)?;
    let out = HostTensor::allocate(DType::F32, shape.clone(), cx.allocator)?;
    if groups > 1 && *from == 1 {
        // Channel multiplier m > 1: repeat each input channel m times, then convolve depthwise.
        let x = repeated(x, image.channels, *to, cx)?;
        {
            let (x, filter, mut out) = (x.read::<f32>()?, filter.read::<f32>()?, out.write::<f32>()?);
            geometry.images(outs)?.depthwise(&x, &filter, &Epilogue::default(), &mut out, cx.parallel)?;
        }
        return Ok(out);
    }
    let (x, filter) =
        (swapped(x, [pixels, groups, *from], cx)?, swapped(filter, [taps * from, groups, *to], cx)?);
    {
        let (x, filter, mut out) = (x.read::<f32>()?, filter.read::<f32>()?, out.write::<f32>()?);
        let conv = geometry.images(*from)?;
        let inputs = x.chunks_exact(pixels * from).zip(filter.chunks_exact(taps * from * to));
        let len = out.len() / groups;
        for ((x, filter), out) in inputs.zip(out.chunks_exact_mut(len)) {
            conv.run_unpacked(x, filter, *to, out, cx.parallel)?;
        }
    }
    swapped(&out, [groups, geometry.rows(), *to], cx)?.reshaped(shape)
}

/// `x` in shape `axes`, with the first two axes swapped: moves the axis of the groups to the front, or back.
/// For one group the bytes are shared.
pub(super) fn swapped(x: &HostTensor, axes: [usize; 3], cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    transpose(&x.reshaped(Shape::new(&axes)?)?, &[1, 0, 2], cx)
}

/// NHWC images with each channel repeated `times` times.
pub(super) fn repeated(
    x: &HostTensor,
    channels: usize,
    times: usize,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    if times == 1 {
        return Ok(x.clone());
    }
    let pixels = x.num_elements() / channels;
    let apart = x.reshaped(Shape::new(&[pixels, channels, 1])?)?;
    super::super::broadcast_to(&apart, &Shape::new(&[pixels, channels, times])?, cx.allocator)
}

/// See [`reference::depthwise_conv2d`].
pub fn depthwise_conv2d(
    x: &HostTensor,
    filter: &HostTensor,
    attrs: &Conv2dAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let shape = conv::grouped(x.shape(), filter.shape(), attrs.format)?;
    conv2d(x, &filter.reshaped(shape)?, attrs, cx)
}

/// See [`reference::pool`].
pub fn pool(kind: Pool, x: &HostTensor, attrs: &Pool2dAttrs, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    if is_half(x) {
        return by_f32(x, cx, |x| pool(kind, &x, attrs, cx));
    }
    let are_bytes = kind == Pool::Max && matches!(x.dtype(), DType::I8 | DType::UI8);
    if !(x.dtype() == DType::F32 || are_bytes) || x.num_elements() == 0 {
        return reference::pool(kind, x, attrs, cx.allocator);
    }
    let op = if kind == Pool::Max { "MaxPool" } else { "AvgPool" };
    let PoolGeometry { image, windows, .. } = PoolGeometry::new(op, x.shape(), attrs)?;
    // The number of taps of a window may overflow; most of these taps are padding.
    let Ok(images) = Conv2d::new(image.batch, image.channels, windows.rows, windows.cols) else {
        return reference::pool(kind, x, attrs, cx.allocator);
    };
    as_nhwc(attrs.format, x, cx, |x| {
        let shape = ImageFormat::Nhwc.shape(image.batch, windows.counts, image.channels)?;
        let out = HostTensor::allocate(x.dtype(), shape, cx.allocator)?;
        if are_bytes {
            let is_signed = x.dtype() == DType::I8;
            images.max_pool_bytes(&x.read_bytes()?, is_signed, &mut out.write_bytes()?, cx.parallel)?;
        } else {
            let (x, mut out) = (x.read::<f32>()?, out.write::<f32>()?);
            match kind {
                Pool::Max => images.max_pool(&x, &mut out, cx.parallel)?,
                Pool::Avg => images.avg_pool(&x, &mut out, cx.parallel)?,
            }
        }
        Ok(out)
    })
}
