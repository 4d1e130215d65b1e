//! Products, images and layers.

use smallvec::SmallVec;

use super::arrays::{mirror_mode, pairs_in};
use super::images::plane_in;
use super::{ints_in, of, owning, owning_many, shape_in};
use crate::error::invalid;
use crate::tf::fast::{self, AfterNorm, Cx};
use crate::tf::op::attrs::Attributes;
use crate::tf::op::function::Made;
use crate::tf::{
    self, BatchNorm, BatchNormAttrs, Binary, Conv2dAttrs, ImageFormat, Interpolation, LrnAttrs, Padding,
    Pool, Pool2dAttrs, ResizeAttrs, Transposition, Unary, softmax_cross_entropy,
    sparse_softmax_cross_entropy,
};
use crate::{HostTensor, Shape, TensorError};

pub(in crate::tf::op) fn matmul(attrs: &Attributes<'_>) -> Made {
    let (left, right) = (transposed(attrs, "transpose_a")?, transposed(attrs, "transpose_b")?);
    owning(attrs, move |[a, b], cx| fast::matmul(&a, left, &b, right, cx))
}

pub(in crate::tf::op) fn batch_matmul(attrs: &Attributes<'_>) -> Made {
    let turn =
        |name| attrs.bool(name).map(|is| if is { Transposition::Adjoint } else { Transposition::None });
    let (left, right) = (turn("adj_x")?, turn("adj_y")?);
    let to = if attrs.op() == "BatchMatMulV3" { Some(attrs.dtype("Tout")?) } else { None };
    owning(attrs, move |[a, b], cx| match to {
        // The operands are cast first, since products of 8-bit integers are summed in the wider result type.
        Some(to) if to != a.dtype() || to != b.dtype() => {
            fast::batch_matmul(&fast::cast(&a, to, cx)?, left, &fast::cast(&b, to, cx)?, right, cx)
        }
        _ => fast::batch_matmul(&a, left, &b, right, cx),
    })
}

pub(in crate::tf::op) fn einsum(attrs: &Attributes<'_>) -> Made {
    let equation = attrs.string("equation")?;
    owning_many(attrs, 1, move |xs, cx| {
        fast::einsum(&equation, &xs.iter().collect::<SmallVec<[&HostTensor; 4]>>(), cx)
    })
}

pub(in crate::tf::op) fn softmax(attrs: &Attributes<'_>) -> Made {
    owning(attrs, |[x], cx| fast::softmax(x, cx))
}

pub(in crate::tf::op) fn log_softmax(attrs: &Attributes<'_>) -> Made {
    owning(attrs, |[x], cx| fast::log_softmax(x, cx))
}

pub(in crate::tf::op) fn softmax_cross_entropy_with_logits(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[logits, labels], m| softmax_cross_entropy(logits, labels, m))
}

pub(in crate::tf::op) fn sparse_softmax_cross_entropy_with_logits(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[logits, labels], m| sparse_softmax_cross_entropy(logits, labels, m))
}

pub(in crate::tf::op) fn bias_add(attrs: &Attributes<'_>) -> Made {
    let format = format(attrs)?;
    owning(attrs, move |[x, bias], cx| fast::bias_add(x, &bias, format, cx))
}

pub(in crate::tf::op) fn bias_add_v1(attrs: &Attributes<'_>) -> Made {
    owning(attrs, |[x, bias], cx| fast::bias_add(x, &bias, ImageFormat::Nhwc, cx))
}

pub(in crate::tf::op) fn lrn(attrs: &Attributes<'_>) -> Made {
    let lrn_attrs = neighbours(attrs)?;
    of(attrs, move |[x], m| tf::lrn(x, &lrn_attrs, m))
}

pub(in crate::tf::op) fn lrn_grad(attrs: &Attributes<'_>) -> Made {
    let lrn_attrs = neighbours(attrs)?;
    of(attrs, move |[dy, x, y], m| tf::lrn_grad(dy, x, y, &lrn_attrs, m))
}

pub(in crate::tf::op) fn bias_add_grad(attrs: &Attributes<'_>) -> Made {
    let format = format(attrs)?;
    owning(attrs, move |[dy], cx| fast::bias_add_grad(&dy, format, cx))
}

pub(in crate::tf::op) fn conv2d(attrs: &Attributes<'_>) -> Made {
    let conv = conv(attrs)?;
    owning(attrs, move |[x, filter], cx| fast::conv2d(&x, &filter, &conv, cx))
}

/// The attributes of a convolution of NHWC images without dilations.
fn undilated(attrs: &Attributes<'_>) -> Result<Conv2dAttrs, TensorError> {
    let format = ImageFormat::Nhwc;
    let strides = plane(attrs.op(), "strides", &attrs.ints("strides")?, format)?;
    Ok(Conv2dAttrs { strides, dilations: (1, 1), padding: padding(attrs, format)?, format })
}

pub(in crate::tf::op) fn pad_conv2d(attrs: &Attributes<'_>) -> Made {
    let (op, mode, conv) = (attrs.op(), mirror_mode(attrs)?, undilated(attrs)?);
    owning(attrs, move |[x, paddings, filter], cx| {
        let padded = tf::pad(&x, &pairs_in(op, &paddings)?, mode, cx.allocator)?;
        fast::conv2d(&padded, &filter, &conv, cx)
    })
}

pub(in crate::tf::op) fn resize_pad_conv2d(attrs: &Attributes<'_>) -> Made {
    let (op, mode, conv) = (attrs.op(), mirror_mode(attrs)?, undilated(attrs)?);
    let resizing =
        ResizeAttrs { align_corners: attrs.bool("resize_align_corners")?, half_pixel_centers: false };
    owning(attrs, move |[x, size, paddings, filter], cx| {
        let resized =
            tf::resize(op, Interpolation::Bilinear, &x, plane_in(op, "size", &size)?, resizing, cx)?;
        let resized = fast::cast(&resized, x.dtype(), cx)?;
        let padded = tf::pad(&resized, &pairs_in(op, &paddings)?, mode, cx.allocator)?;
        fast::conv2d(&padded, &filter, &conv, cx)
    })
}

pub(in crate::tf::op) fn global_batch_norm(attrs: &Attributes<'_>) -> Made {
    let epsilon = attrs.float("variance_epsilon")?;
    let scales = attrs.bool("scale_after_normalization")?;
    owning(attrs, move |[x, mean, variance, beta, gamma], cx| {
        let epsilon = HostTensor::from_slice(Shape::scalar(), &[epsilon], cx.allocator)?;
        let epsilon = fast::cast(&epsilon, x.dtype(), cx)?;
        let factor = fast::unary(Unary::Rsqrt, fast::binary(Binary::Add, variance, epsilon, cx)?, cx)?;
        let factor = if scales { fast::binary(Binary::Mul, factor, gamma, cx)? } else { factor };
        let offset =
            fast::binary(Binary::Sub, beta, fast::binary(Binary::Mul, mean, factor.clone(), cx)?, cx)?;
        fast::binary(Binary::Add, fast::binary(Binary::Mul, x, factor, cx)?, offset, cx)
    })
}

pub(in crate::tf::op) fn depthwise_conv2d_native(attrs: &Attributes<'_>) -> Made {
    let conv = conv(attrs)?;
    owning(attrs, move |[x, filter], cx| fast::depthwise_conv2d(&x, &filter, &conv, cx))
}

pub(in crate::tf::op) fn conv2d_backprop_input(attrs: &Attributes<'_>) -> Made {
    let conv = conv(attrs)?;
    owning(attrs, move |[sizes, filter, dy], cx| {
        let shape = image_shape(&sizes, &filter, &dy, conv.format)?;
        fast::conv2d_backprop_input(&shape, &filter, &dy, &conv, cx)
    })
}

pub(in crate::tf::op) fn conv2d_backprop_filter(attrs: &Attributes<'_>) -> Made {
    let (op, conv) = (attrs.op(), conv(attrs)?);
    owning(attrs, move |[x, sizes, dy], cx| {
        fast::conv2d_backprop_filter(&x, &shape_in(op, "filter_sizes", &sizes)?, &dy, &conv, cx)
    })
}

pub(in crate::tf::op) fn depthwise_conv2d_native_backprop_input(attrs: &Attributes<'_>) -> Made {
    let (op, conv) = (attrs.op(), conv(attrs)?);
    owning(attrs, move |[sizes, filter, dy], cx| {
        let shape = shape_in(op, "input_sizes", &sizes)?;
        fast::depthwise_conv2d_backprop_input(&shape, &filter, &dy, &conv, cx)
    })
}

pub(in crate::tf::op) fn depthwise_conv2d_native_backprop_filter(attrs: &Attributes<'_>) -> Made {
    let (op, conv) = (attrs.op(), conv(attrs)?);
    owning(attrs, move |[x, sizes, dy], cx| {
        let shape = shape_in(op, "filter_sizes", &sizes)?;
        fast::depthwise_conv2d_backprop_filter(&x, &shape, &dy, &conv, cx)
    })
}

pub(in crate::tf::op) fn pool(attrs: &Attributes<'_>) -> Made {
    let kind = if attrs.op() == "MaxPool" { Pool::Max } else { Pool::Avg };
    let pooling = pooling(attrs)?;
    owning(attrs, move |[x], cx| fast::pool(kind, &x, &pooling, cx))
}

pub(in crate::tf::op) fn max_pool_v2(attrs: &Attributes<'_>) -> Made {
    let windows = operand_windows(attrs)?;
    owning(attrs, move |[x, ksize, strides], cx| fast::pool(Pool::Max, &x, &windows(&ksize, &strides)?, cx))
}

pub(in crate::tf::op) fn max_pool_grad(attrs: &Attributes<'_>) -> Made {
    let pooling = pooling(attrs)?;
    owning(attrs, move |[x, _, dy], cx| fast::max_pool_grad(&x, &dy, &pooling, cx))
}

pub(in crate::tf::op) fn max_pool_grad_grad(attrs: &Attributes<'_>) -> Made {
    let pooling = pooling(attrs)?;
    owning(attrs, move |[x, _, grads], cx| {
        tf::reference::max_pool_grad_grad(&x, &grads, &pooling, cx.allocator)
    })
}

pub(in crate::tf::op) fn max_pool_grad_grad_v2(attrs: &Attributes<'_>) -> Made {
    let windows = operand_windows(attrs)?;
    owning(attrs, move |[x, _, grads, ksize, strides], cx| {
        tf::reference::max_pool_grad_grad(&x, &grads, &windows(&ksize, &strides)?, cx.allocator)
    })
}

pub(in crate::tf::op) fn max_pool_grad_v2(attrs: &Attributes<'_>) -> Made {
    let windows = operand_windows(attrs)?;
    owning(attrs, move |[x, _, dy, ksize, strides], cx| {
        fast::max_pool_grad(&x, &dy, &windows(&ksize, &strides)?, cx)
    })
}

pub(in crate::tf::op) fn avg_pool_grad(attrs: &Attributes<'_>) -> Made {
    let pooling = pooling(attrs)?;
    owning(attrs, move |[shape, dy], cx| {
        fast::avg_pool_grad(&shape_in("AvgPoolGrad", "orig_input_shape", &shape)?, &dy, &pooling, cx)
    })
}

pub(in crate::tf::op) fn batch_norm(attrs: &Attributes<'_>) -> Made {
    let (norm, is_training, third) =
        (norm(attrs)?, attrs.bool("is_training")?, attrs.op() == "FusedBatchNormV3");
    owning(attrs, move |[x, scale, offset, mean, variance], cx| {
        let by = BatchNorm { scale: &scale, offset: &offset, mean: &mean, variance: &variance };
        normalized(x, &by, (&norm, is_training, third), &AfterNorm::default(), cx)
    })
}

pub(in crate::tf::op) fn fused_batch_norm_ex(attrs: &Attributes<'_>) -> Made {
    let (norm, is_training) = (norm(attrs)?, attrs.bool("is_training")?);
    let relu = attrs.word("activation_mode", &[("Identity", false), ("Relu", true)])?;
    owning_many(attrs, 5, move |mut inputs, cx| {
        let x = inputs.remove(0); // there are at least 5 operands
        let [scale, offset, mean, variance, side @ ..] = &inputs[..] else {
            return invalid("_FusedBatchNormEx", "fewer than 5 operands".to_owned());
        };
        let by = BatchNorm { scale, offset, mean, variance };
        normalized(x, &by, (&norm, is_training, true), &AfterNorm { addends: side, relu }, cx)
    })
}

pub(in crate::tf::op) fn batch_norm_grad(attrs: &Attributes<'_>) -> Made {
    let (norm, is_training) = (norm(attrs)?, attrs.bool("is_training")?);
    owning(attrs, move |[dy, x, scale, mean, variance], cx| {
        norm_gradients((dy, x), &scale, (&mean, &variance), is_training, &norm, cx)
    })
}

pub(in crate::tf::op) fn fused_batch_norm_grad_v3(attrs: &Attributes<'_>) -> Made {
    let (norm, is_training) = (norm(attrs)?, attrs.bool("is_training")?);
    owning(attrs, move |[dy, x, scale, mean, variance, _], cx| {
        norm_gradients((dy, x), &scale, (&mean, &variance), is_training, &norm, cx)
    })
}

fn neighbours(attrs: &Attributes<'_>) -> Result<LrnAttrs, TensorError> {
    Ok(LrnAttrs {
        radius: attrs.count("depth_radius")?,
        bias: attrs.float("bias")?,
        alpha: attrs.float("alpha")?,
        beta: attrs.float("beta")?,
    })
}

pub(in crate::tf::op) fn transposed(
    attrs: &Attributes<'_>,
    name: &str,
) -> Result<Transposition, TensorError> {
    Ok(if attrs.bool(name)? { Transposition::Transpose } else { Transposition::None })
}

/// The order of the axes; NHWC if the operator has no such attribute.
pub(in crate::tf::op) fn format(attrs: &Attributes<'_>) -> Result<ImageFormat, TensorError> {
    if attrs.signature().attr("data_format").is_none() {
        return Ok(ImageFormat::Nhwc);
    }
    attrs.word("data_format", &[("NHWC", ImageFormat::Nhwc), ("NCHW", ImageFormat::Nchw)])
}

/// Height and width in a list with one entry per axis. The entries of batch and channels have to be 1.
pub(in crate::tf::op) fn plane(
    op: &'static str,
    what: &str,
    list: &[i64],
    format: ImageFormat,
) -> Result<(usize, usize), TensorError> {
    let (rest, plane) = match (list, format) {
        (&[n, h, w, c], ImageFormat::Nhwc) | (&[n, c, h, w], ImageFormat::Nchw) => ((n, c), (h, w)),
        _ => return invalid(op, format!("`{what}` is {list:?}, expected four numbers")),
    };
    match (usize::try_from(plane.0), usize::try_from(plane.1)) {
        (Ok(h), Ok(w)) if rest == (1, 1) => Ok((h, w)),
        _ => {
            invalid(op, format!("`{what}` is {list:?}: batch and channels have to be 1, the others positive"))
        }
    }
}

/// The padding. If the operator has the attribute `explicit_paddings`, a pair per axis, it may be explicit.
pub(in crate::tf::op) fn padding(
    attrs: &Attributes<'_>,
    format: ImageFormat,
) -> Result<Padding, TensorError> {
    let words = [("VALID", Some(Padding::Valid)), ("SAME", Some(Padding::Same)), ("EXPLICIT", None)];
    let can_be_explicit = attrs.signature().attr("explicit_paddings").is_some();
    let known = if can_be_explicit { &words[..] } else { &words[..2] };
    if let Some(padding) = attrs.word("padding", known)? {
        return Ok(padding);
    }
    let list = attrs.ints("explicit_paddings")?;
    let positions = list.iter().map(|&n| usize::try_from(n).ok()).collect::<Option<Vec<usize>>>();
    match (positions.as_deref(), format) {
        (Some(&[0, 0, top, bottom, left, right, 0, 0]), ImageFormat::Nhwc)
        | (Some(&[0, 0, 0, 0, top, bottom, left, right]), ImageFormat::Nchw) => {
            Ok(Padding::Explicit([(top, bottom), (left, right)]))
        }
        _ => invalid(attrs.op(), format!("`explicit_paddings` is {list:?} for images of {format:?}")),
    }
}

pub(in crate::tf::op) fn conv(attrs: &Attributes<'_>) -> Result<Conv2dAttrs, TensorError> {
    let format = format(attrs)?;
    Ok(Conv2dAttrs {
        strides: plane(attrs.op(), "strides", &attrs.ints("strides")?, format)?,
        dilations: plane(attrs.op(), "dilations", &attrs.ints("dilations")?, format)?,
        padding: padding(attrs, format)?,
        format,
    })
}

/// The shape of the images of the forward convolution. `sizes` is the whole shape, or height and width only.
fn image_shape(
    sizes: &HostTensor,
    filter: &HostTensor,
    dy: &HostTensor,
    format: ImageFormat,
) -> Result<Shape, TensorError> {
    let op = "Conv2DBackpropInput";
    let dims = ints_in(op, "input_sizes", sizes)?;
    let (&[height, width], &[batch, ..], &[_, _, channels, _]) =
        (&dims[..], dy.shape().dims(), filter.shape().dims())
    else {
        return Shape::from_i64(&dims);
    };
    let (batch, channels) = (batch as i64, channels as i64);
    match format {
        ImageFormat::Nhwc => Shape::from_i64(&[batch, height, width, channels]),
        ImageFormat::Nchw => Shape::from_i64(&[batch, channels, height, width]),
    }
}

pub(in crate::tf::op) fn pooling(attrs: &Attributes<'_>) -> Result<Pool2dAttrs, TensorError> {
    let format = format(attrs)?;
    Ok(Pool2dAttrs {
        window: plane(attrs.op(), "ksize", &attrs.ints("ksize")?, format)?,
        strides: plane(attrs.op(), "strides", &attrs.ints("strides")?, format)?,
        padding: padding(attrs, format)?,
        format,
    })
}

/// A function from the operands `ksize` and `strides` to the attributes of a pooling.
fn operand_windows(
    attrs: &Attributes<'_>,
) -> Result<
    impl Fn(&HostTensor, &HostTensor) -> Result<Pool2dAttrs, TensorError> + Send + Sync + use<>,
    TensorError,
> {
    let op = attrs.op();
    let format = format(attrs)?;
    let padding = padding(attrs, format)?;
    Ok(move |ksize: &HostTensor, strides: &HostTensor| {
        Ok(Pool2dAttrs {
            window: plane(op, "ksize", &ints_in(op, "ksize", ksize)?, format)?,
            strides: plane(op, "strides", &ints_in(op, "strides", strides)?, format)?,
            padding,
            format,
        })
    })
}

fn norm(attrs: &Attributes<'_>) -> Result<BatchNormAttrs, TensorError> {
    let has_average = attrs.signature().attr("exponential_avg_factor").is_some();
    Ok(BatchNormAttrs {
        epsilon: attrs.float("epsilon")? as f32,
        exponential_avg_factor: if has_average { attrs.float("exponential_avg_factor")? as f32 } else { 1.0 },
        format: format(attrs)?,
    })
}

/// All results of a `FusedBatchNorm` and the operators that follow it. In inference, the moments among them
/// are the operands. The third reserve space is empty, as in TensorFlow's CPU kernel.
fn normalized(
    x: HostTensor,
    by: &BatchNorm<'_>,
    (attrs, is_training, has_third): (&BatchNormAttrs, bool, bool),
    after: &AfterNorm<'_>,
    cx: &Cx<'_>,
) -> Result<Vec<HostTensor>, TensorError> {
    let mut results: Vec<HostTensor> = if is_training {
        let (vectors, running) = ((by.scale, by.offset), (by.mean, by.variance));
        fast::batch_norm_training_then(x, vectors, running, attrs, after, cx)?.into()
    } else {
        let moments = [by.mean, by.variance, by.mean, by.variance].map(HostTensor::clone);
        [fast::batch_norm_then(x, by, attrs, after, cx)?].into_iter().chain(moments).collect()
    };
    if has_third {
        results.push(HostTensor::zeros(by.scale.dtype(), Shape::new(&[0])?, cx.allocator)?);
    }
    Ok(results)
}

/// All results of a `FusedBatchNormGrad`; the last two are empty.
fn norm_gradients(
    (dy, x): (HostTensor, HostTensor),
    scale: &HostTensor,
    moments: (&HostTensor, &HostTensor),
    is_training: bool,
    attrs: &BatchNormAttrs,
    cx: &Cx<'_>,
) -> Result<[HostTensor; 5], TensorError> {
    let [by_x, by_scale, by_offset] = fast::batch_norm_grad(dy, x, scale, moments, is_training, attrs, cx)?;
    let empty = HostTensor::zeros(scale.dtype(), Shape::new(&[0])?, cx.allocator)?;
    Ok([by_x, by_scale, by_offset, empty.clone(), empty])
}
