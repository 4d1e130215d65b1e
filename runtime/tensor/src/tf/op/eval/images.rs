//! Resizing of images, and boxes in images.

use super::random::generator;
use super::{count_in, ints_in, of, owning, shape_in};
use crate::error::invalid;
use crate::tf::op::attrs::Attributes;
use crate::tf::op::function::Made;
use crate::tf::{
    self, Combined, CropAttrs, FillMode, FractionalAttrs, FractionalPool, GlimpseAttrs, GlimpseNoise,
    Interpolation, ProjectiveAttrs, ResizeAttrs, Suppression, real,
};
use crate::{HostTensor, TensorError};

/// Height and width stored in an operand.
pub(super) fn plane_in(
    op: &'static str,
    what: &'static str,
    x: &HostTensor,
) -> Result<(usize, usize), TensorError> {
    let given = ints_in(op, what, x)?;
    let sizes: Option<Vec<usize>> = given.iter().map(|&n| usize::try_from(n).ok()).collect();
    match sizes.as_deref() {
        Some(&[height, width]) if x.shape().rank() == 1 => Ok((height, width)),
        _ => invalid(op, format!("`{what}` is {given:?}, expected height and width")),
    }
}

pub(super) fn resizing(attrs: &Attributes<'_>) -> Result<ResizeAttrs, TensorError> {
    let [align_corners, half_pixel_centers] =
        [attrs.bool("align_corners")?, attrs.bool("half_pixel_centers")?];
    if align_corners && half_pixel_centers {
        let problem = "align_corners and half_pixel_centers exclude each other".to_owned();
        return invalid(attrs.op(), problem);
    }
    Ok(ResizeAttrs { align_corners, half_pixel_centers })
}

fn interpolation(attrs: &Attributes<'_>) -> Interpolation {
    match attrs.op().starts_with("ResizeBicubic") {
        true => Interpolation::Bicubic,
        false => Interpolation::Bilinear,
    }
}

pub(in crate::tf::op) fn resize(attrs: &Attributes<'_>) -> Made {
    let (op, by, resizing) = (attrs.op(), interpolation(attrs), resizing(attrs)?);
    owning(attrs, move |[x, size], cx| tf::resize(op, by, &x, plane_in(op, "size", &size)?, resizing, cx))
}

pub(in crate::tf::op) fn resize_grad(attrs: &Attributes<'_>) -> Made {
    let (op, by, resizing) = (attrs.op(), interpolation(attrs), resizing(attrs)?);
    owning(attrs, move |[dy, x], cx| tf::resize_grad(op, by, &dy, &x, resizing, cx))
}

pub(in crate::tf::op) fn resize_nearest(attrs: &Attributes<'_>) -> Made {
    let (op, resizing) = (attrs.op(), resizing(attrs)?);
    owning(attrs, move |[x, size], cx| tf::resize_nearest(&x, plane_in(op, "size", &size)?, resizing, cx))
}

pub(in crate::tf::op) fn resize_nearest_grad(attrs: &Attributes<'_>) -> Made {
    let (op, resizing) = (attrs.op(), resizing(attrs)?);
    owning(attrs, move |[dy, size], cx| {
        tf::resize_nearest_grad(&dy, plane_in(op, "size", &size)?, resizing, cx)
    })
}

/// True if a crop takes the nearest pixel instead of interpolating.
fn is_nearest(attrs: &Attributes<'_>) -> Result<bool, TensorError> {
    attrs.word("method", &[("bilinear", false), ("nearest", true)])
}

pub(in crate::tf::op) fn crop_and_resize(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    let crop =
        CropAttrs { nearest: is_nearest(attrs)?, extrapolation: attrs.float("extrapolation_value")? as f32 };
    owning(attrs, move |[x, boxes, indices, size], cx| {
        tf::crop_and_resize(&x, &boxes, &indices, plane_in(op, "crop_size", &size)?, crop, cx)
    })
}

pub(in crate::tf::op) fn crop_and_resize_grad_image(attrs: &Attributes<'_>) -> Made {
    let (op, nearest, dtype) = (attrs.op(), is_nearest(attrs)?, attrs.dtype("T")?);
    owning(attrs, move |[dy, boxes, indices, size], cx| {
        let image = (shape_in(op, "image_size", &size)?, dtype);
        tf::crop_and_resize_grad_image(&dy, &boxes, &indices, image, nearest, cx)
    })
}

pub(in crate::tf::op) fn crop_and_resize_grad_boxes(attrs: &Attributes<'_>) -> Made {
    attrs.word("method", &[("bilinear", ())])?;
    owning(attrs, |[dy, x, boxes, indices], cx| tf::crop_and_resize_grad_boxes(&dy, &x, &boxes, &indices, cx))
}

/// A scalar of floats.
pub(super) fn float_in(op: &'static str, what: &'static str, x: &HostTensor) -> Result<f32, TensorError> {
    Ok(real::scalar(op, what, x)? as f32)
}

pub(in crate::tf::op) fn non_max_suppression(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    let threshold = attrs.float("iou_threshold")? as f32;
    owning(attrs, move |[boxes, scores, n], cx| {
        let by = Suppression {
            max_output_size: count_in(op, "max_output_size", &n)?,
            iou_threshold: threshold,
            score_threshold: f32::MIN,
            soft_nms_sigma: 0.0,
        };
        let [positions, ..] = tf::non_max_suppression(op, &boxes, &scores, &by, false, cx)?;
        Ok(positions)
    })
}

/// V2 to V5. Thresholds are operands: V2 has the first, V3 and V4 the first two, V5 all three.
pub(in crate::tf::op) fn non_max_suppression_v2(attrs: &Attributes<'_>) -> Made {
    let (op, signature) = (attrs.op(), attrs.signature());
    let (n_operands, n_results) = (signature.inputs.len(), signature.outputs.len());
    let can_pad = signature.attr("pad_to_max_output_size").is_some();
    let is_padded = can_pad && attrs.bool("pad_to_max_output_size")?;
    super::owning_many(attrs, n_operands, move |operands, cx| {
        let [boxes, scores, n, rest @ ..] = &operands[..] else {
            return invalid(op, format!("{} operands, expected {n_operands}", operands.len()));
        };
        let float = |i: usize, what, missing| rest.get(i).map_or(Ok(missing), |x| float_in(op, what, x));
        let by = Suppression {
            max_output_size: count_in(op, "max_output_size", n)?,
            iou_threshold: float(0, "iou_threshold", 0.5)?,
            score_threshold: float(1, "score_threshold", f32::MIN)?,
            soft_nms_sigma: float(2, "soft_nms_sigma", 0.0)?,
        };
        let [positions, scores, count] = tf::non_max_suppression(op, boxes, scores, &by, is_padded, cx)?;
        Ok(match n_results {
            1 => vec![positions],
            2 => vec![positions, count],
            _ => vec![positions, scores, count],
        })
    })
}

pub(in crate::tf::op) fn non_max_suppression_with_overlaps(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    of(attrs, move |[overlaps, scores, n, overlap, score], m| {
        let by = Suppression {
            max_output_size: count_in(op, "max_output_size", n)?,
            iou_threshold: float_in(op, "overlap_threshold", overlap)?,
            score_threshold: float_in(op, "score_threshold", score)?,
            soft_nms_sigma: 0.0,
        };
        tf::non_max_suppression_with_overlaps(overlaps, scores, &by, m).map(|positions| [positions])
    })
}

pub(in crate::tf::op) fn combined_non_max_suppression(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    let (pad_per_class, clip_boxes) = (attrs.bool("pad_per_class")?, attrs.bool("clip_boxes")?);
    of(attrs, move |[boxes, scores, per_class, total, iou, score], m| {
        let per_class = Suppression {
            max_output_size: count_in(op, "max_output_size_per_class", per_class)?,
            iou_threshold: float_in(op, "iou_threshold", iou)?,
            score_threshold: float_in(op, "score_threshold", score)?,
            soft_nms_sigma: 0.0,
        };
        let max_total_size = count_in(op, "max_total_size", total)?;
        let by = Combined { per_class, max_total_size, pad_per_class, clip_boxes };
        tf::combined_non_max_suppression(boxes, scores, &by, m)
    })
}

pub(in crate::tf::op) fn projective_transform(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    let modes = [
        ("CONSTANT", FillMode::Constant),
        ("REFLECT", FillMode::Reflect),
        ("WRAP", FillMode::Wrap),
        ("NEAREST", FillMode::Nearest),
    ];
    let by = ProjectiveAttrs {
        fill_mode: attrs.word("fill_mode", &modes)?,
        nearest: attrs.word("interpolation", &[("NEAREST", true), ("BILINEAR", false)])?,
    };
    if op == "ImageProjectiveTransformV2" {
        return owning(attrs, move |[images, transforms, size], cx| {
            let size = plane_in(op, "output_shape", &size)?;
            tf::projective_transform(op, &images, &transforms, (size, 0.0), by, cx)
        });
    }
    owning(attrs, move |[images, transforms, size, fill], cx| {
        let size = plane_in(op, "output_shape", &size)?;
        let fill = real::scalar(op, "fill_value", &fill)? as f32;
        tf::projective_transform(op, &images, &transforms, (size, fill), by, cx)
    })
}

pub(in crate::tf::op) fn draw_boxes(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    if op == "DrawBoundingBoxes" {
        return owning(attrs, move |[images, boxes], cx| tf::draw_boxes(op, images, &boxes, None, cx));
    }
    owning(attrs, move |[images, boxes, colors], cx| tf::draw_boxes(op, images, &boxes, Some(&colors), cx))
}

pub(in crate::tf::op) fn glimpse(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    let noises = [
        ("zero", GlimpseNoise::Zero),
        ("uniform", GlimpseNoise::Uniform),
        ("gaussian", GlimpseNoise::Gaussian),
    ];
    let noise = attrs.word("noise", &noises)?;
    if attrs.bool("uniform_noise")? && noise != GlimpseNoise::Uniform {
        return invalid(op, "uniform_noise and another noise exclude each other".to_owned());
    }
    let by = GlimpseAttrs {
        centered: attrs.bool("centered")?,
        normalized: attrs.bool("normalized")?,
        noise,
        is_first_version: op == "ExtractGlimpse",
    };
    let generator = super::random::unseeded();
    owning(attrs, move |[images, size, offsets], cx| {
        let size = plane_in(op, "size", &size)?;
        tf::extract_glimpse(op, &images, size, &offsets, &by, &generator, cx)
    })
}

/// The windows of a pooling with ratios, and the first random numbers if all calls draw the same.
pub(in crate::tf::op) fn fractions(
    attrs: &Attributes<'_>,
) -> Result<(FractionalAttrs, FractionalPool), TensorError> {
    let pool = if attrs.op() == "FractionalMaxPool" { FractionalPool::Max } else { FractionalPool::Mean };
    let ratios: Vec<f32> = attrs.floats("pooling_ratio")?.into_iter().map(|ratio| ratio as f32).collect();
    match ratios[..] {
        [1.0, rows, columns, 1.0] if rows >= 1.0 && columns >= 1.0 => {
            let is_pseudo_random = attrs.bool("pseudo_random")?;
            let is_overlapping = attrs.bool("overlapping")?;
            Ok((FractionalAttrs { ratios: [rows, columns], is_pseudo_random, is_overlapping }, pool))
        }
        _ => invalid(attrs.op(), format!("attribute `pooling_ratio` is {ratios:?}")),
    }
}

pub(in crate::tf::op) fn fractional_pool(attrs: &Attributes<'_>) -> Made {
    let (op, (windows, pool), generator) = (attrs.op(), fractions(attrs)?, generator(attrs)?);
    let is_deterministic = attrs.bool("deterministic")?;
    if !is_deterministic && (attrs.int("seed")?, attrs.int("seed2")?) != (0, 0) {
        return invalid(op, "seeds without `deterministic`".to_owned());
    }
    owning(attrs, move |[x], cx| match is_deterministic {
        true => tf::fractional_pool(op, pool, &x, &windows, &generator.again(), cx),
        false => tf::fractional_pool(op, pool, &x, &windows, &generator, cx),
    })
}

pub(in crate::tf::op) fn fractional_max_pool_grad(attrs: &Attributes<'_>) -> Made {
    let is_overlapping = attrs.bool("overlapping")?;
    owning(attrs, move |[x, y, dy, rows, columns], cx| {
        tf::fractional_max_pool_grad([&x, &y, &dy], [&rows, &columns], is_overlapping, cx)
    })
}

pub(in crate::tf::op) fn fractional_avg_pool_grad(attrs: &Attributes<'_>) -> Made {
    let (op, is_overlapping) = (attrs.op(), attrs.bool("overlapping")?);
    owning(attrs, move |[shape, dy, rows, columns], cx| {
        let shape = shape_in(op, "orig_input_tensor_shape", &shape)?;
        tf::fractional_avg_pool_grad(&shape, &dy, [&rows, &columns], is_overlapping, cx)
    })
}
