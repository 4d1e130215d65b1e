//! Colors, resampling and patches of images, and poolings with positions.

use super::images::{float_in, plane_in};
use super::layers::{padding, plane, pooling};
use super::{of, owning};
use crate::error::invalid;
use crate::tf::op::attrs::Attributes;
use crate::tf::op::function::Made;
use crate::tf::{self, AxisTransform, ImageFormat, ImageTransform, PatchAttrs, SamplingKernel};
use crate::{HostTensor, TensorError};

pub(in crate::tf::op) fn rgb_to_hsv(attrs: &Attributes<'_>) -> Made {
    owning(attrs, |[x], cx| tf::rgb_to_hsv(&x, cx))
}

pub(in crate::tf::op) fn hsv_to_rgb(attrs: &Attributes<'_>) -> Made {
    owning(attrs, |[x], cx| tf::hsv_to_rgb(&x, cx))
}

pub(in crate::tf::op) fn adjust_contrast(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    owning(attrs, move |[x, factor], cx| {
        tf::adjust_contrast(&x, float_in(op, "contrast_factor", &factor)?, cx)
    })
}

pub(in crate::tf::op) fn adjust_hue(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    owning(attrs, move |[x, delta], cx| tf::adjust_hue(&x, float_in(op, "delta", &delta)?, cx))
}

pub(in crate::tf::op) fn adjust_saturation(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    owning(attrs, move |[x, scale], cx| tf::adjust_saturation(&x, float_in(op, "scale", &scale)?, cx))
}

pub(in crate::tf::op) fn resize_area(attrs: &Attributes<'_>) -> Made {
    let (op, align_corners) = (attrs.op(), attrs.bool("align_corners")?);
    owning(attrs, move |[x, size], cx| tf::resize_area(&x, plane_in(op, "size", &size)?, align_corners, cx))
}

pub(in crate::tf::op) fn resize_area_grad(attrs: &Attributes<'_>) -> Made {
    let align_corners = attrs.bool("align_corners")?;
    owning(attrs, move |[dy, x], cx| tf::resize_area_grad(&dy, &x, align_corners, cx))
}

const KERNELS: [(&str, SamplingKernel); 8] = [
    ("lanczos1", SamplingKernel::Lanczos(1.0)),
    ("lanczos3", SamplingKernel::Lanczos(3.0)),
    ("lanczos5", SamplingKernel::Lanczos(5.0)),
    ("gaussian", SamplingKernel::Gaussian),
    ("box", SamplingKernel::Box),
    ("triangle", SamplingKernel::Triangle),
    ("keyscubic", SamplingKernel::KeysCubic),
    ("mitchellcubic", SamplingKernel::MitchellCubic),
];

/// A function from the operands `scale` and `translation` to a transform.
fn transform(
    attrs: &Attributes<'_>,
) -> Result<
    impl Fn(&HostTensor, &HostTensor) -> Result<ImageTransform, TensorError> + Send + Sync + use<>,
    TensorError,
> {
    let op = attrs.op();
    let (kernel, antialias) = (attrs.word("kernel_type", &KERNELS)?, attrs.bool("antialias")?);
    Ok(move |scale: &HostTensor, translation: &HostTensor| {
        let pair = |what: &'static str, x: &HostTensor| match *x.read_as::<f32>(what)? {
            [rows, columns] if x.shape().rank() == 1 => Ok([rows, columns]),
            _ => invalid(op, format!("`{what}` has shape {}, expected two numbers", x.shape())),
        };
        let (scale, translation) = (pair("scale", scale)?, pair("translation", translation)?);
        let axes = [0, 1].map(|i| AxisTransform { scale: scale[i], translation: translation[i] });
        Ok(ImageTransform { kernel, antialias, axes })
    })
}

pub(in crate::tf::op) fn scale_and_translate(attrs: &Attributes<'_>) -> Made {
    let (op, transform) = (attrs.op(), transform(attrs)?);
    owning(attrs, move |[x, size, scale, translation], cx| {
        tf::scale_and_translate(&x, plane_in(op, "size", &size)?, &transform(&scale, &translation)?, cx)
    })
}

pub(in crate::tf::op) fn scale_and_translate_grad(attrs: &Attributes<'_>) -> Made {
    let transform = transform(attrs)?;
    owning(attrs, move |[dy, x, scale, translation], cx| {
        tf::scale_and_translate_grad(&dy, &x, &transform(&scale, &translation)?, cx)
    })
}

/// The windows of patches.
pub(in crate::tf::op) fn patches(attrs: &Attributes<'_>) -> Result<PatchAttrs, TensorError> {
    let pair = |name| plane(attrs.op(), name, &attrs.ints(name)?, ImageFormat::Nhwc);
    Ok(PatchAttrs {
        size: pair("ksizes")?,
        strides: pair("strides")?,
        rates: pair("rates")?,
        padding: padding(attrs, ImageFormat::Nhwc)?,
    })
}

pub(in crate::tf::op) fn extract_image_patches(attrs: &Attributes<'_>) -> Made {
    let patches = patches(attrs)?;
    owning(attrs, move |[x], cx| tf::extract_image_patches(&x, &patches, cx))
}

pub(in crate::tf::op) fn max_pool_with_argmax(attrs: &Attributes<'_>) -> Made {
    let (pooling, to) = (pooling(attrs)?, attrs.dtype("Targmax")?);
    let counts_images = attrs.bool("include_batch_in_index")?;
    of(attrs, move |[x], m| tf::max_pool_with_argmax(x, &pooling, to, counts_images, m))
}

pub(in crate::tf::op) fn max_pool_grad_with_argmax(attrs: &Attributes<'_>) -> Made {
    let (pooling, counts_images) = (pooling(attrs)?, attrs.bool("include_batch_in_index")?);
    of(attrs, move |[x, dy, places], m| {
        tf::max_pool_grad_with_argmax(x, dy, places, &pooling, counts_images, m)
    })
}

pub(in crate::tf::op) fn max_pool_grad_grad_with_argmax(attrs: &Attributes<'_>) -> Made {
    let (pooling, counts_images) = (pooling(attrs)?, attrs.bool("include_batch_in_index")?);
    of(attrs, move |[x, grads, places], m| {
        tf::max_pool_grad_grad_with_argmax(x, grads, places, &pooling, counts_images, m)
    })
}
