//! Ops that are functions of dense tensors, by the tensor library's reference functions.
//!
//! An op with a fast version is evaluated here: its attributes are decoded independently of the fast version.
//! All other ops have one version, which [`op::OpRow::prepare`] returns. Ops that only passes create are
//! refused.

use std::sync::Arc;

use befrost_tensor::mem::Allocator;
use befrost_tensor::tf::op::{self, Attributes, Class};
use befrost_tensor::tf::reference::{
    self, BatchNorm, BatchNormAttrs, Compare, Conv2dAttrs, ImageFormat, Padding, Pool, Pool2dAttrs,
    Transposition,
};
use befrost_tensor::{HostTensor, I1, Shape, TensorError};

use super::value::invalid;
use crate::oracle::frames::Stop;

/// The allocator of results.
type Memory = Arc<dyn Allocator>;

/// The results of an op on dense tensors.
pub(super) fn evaluate(
    attrs: &Attributes<'_>,
    xs: &[&HostTensor],
    m: &Memory,
) -> Result<Vec<HostTensor>, Stop> {
    let name = attrs.op();
    if name.starts_with('_') {
        return Err(Stop::Refused("an op that only passes make".to_owned()));
    }
    for family in [elementwise, products, images, norms] {
        if let Some(results) = family(name, attrs, xs, m)? {
            return Ok(results);
        }
    }
    Ok(prepared(attrs)?(xs, m)?.into_vec())
}

/// The tensor library's function of an op.
pub(super) fn prepared(attrs: &Attributes<'_>) -> Result<op::Eval, Stop> {
    let unknown = || Stop::Refused("it does not know the op".to_owned());
    // Attributes that the runtime refuses when it loads a program are beyond the oracle.
    let row = op::row(attrs.op()).ok_or_else(unknown)?;
    let prepared = row.prepare(attrs.given()).map_err(|error| Stop::Refused(error.to_string()))?;
    prepared.ok_or_else(unknown)
}

type FunctionResults = Result<Option<Vec<HostTensor>>, Stop>;

fn one(x: Result<HostTensor, TensorError>) -> FunctionResults {
    Ok(Some(vec![x?]))
}

fn elementwise(name: &str, attrs: &Attributes<'_>, xs: &[&HostTensor], m: &Memory) -> FunctionResults {
    match (op::row(name).map_or(Class::Other, op::OpRow::class), xs) {
        (Class::Unary(op), [x]) => return one(reference::unary(op, x, m)),
        (Class::Binary(op), [a, b]) => return one(reference::binary(op, a, b, m)),
        (Class::Compare(op), [a, b]) => {
            let answer = reference::compare(op, a, b, m);
            let is_equality = matches!(op, Compare::Equal | Compare::NotEqual);
            let is_lenient = is_equality && !attrs.bool("incompatible_shape_error")?;
            return match answer {
                Err(TensorError::Broadcast { .. }) if is_lenient => {
                    let differ = I1::from(op == Compare::NotEqual);
                    one(HostTensor::from_slice(Shape::scalar(), &[differ], m))
                }
                answer => one(answer),
            };
        }
        (Class::Reduce(op), [x, axes]) => {
            return one(reference::reduce(op, x, &ints(axes)?, attrs.bool("keep_dims")?, m));
        }
        _ => {}
    }
    match (name, xs) {
        ("AddN" | "AccumulateNV2", [_, ..]) => one(reference::add_n(xs, m)),
        ("SelectV2", [condition, a, b]) => one(reference::select(condition, a, b, m)),
        ("LeakyRelu", [x]) => one(reference::leaky_relu(x, attrs.float("alpha")? as f32, m)),
        ("Cast", [x]) if !attrs.bool("Truncate")? => one(reference::cast(x, attrs.dtype("DstT")?, m)),
        ("Transpose", [x, perm]) => one(reference::transpose(x, &ints(perm)?, m)),
        ("Softmax", [x]) => one(reference::softmax(x, m)),
        ("LogSoftmax", [x]) => one(reference::log_softmax(x, m)),
        _ => Ok(None),
    }
}

fn products(name: &str, attrs: &Attributes<'_>, xs: &[&HostTensor], m: &Memory) -> FunctionResults {
    let turn = |name, turned| Ok::<_, Stop>(if attrs.bool(name)? { turned } else { Transposition::None });
    match (name, xs) {
        ("MatMul", [a, b]) => {
            let (left, right) = (
                turn("transpose_a", Transposition::Transpose)?,
                turn("transpose_b", Transposition::Transpose)?,
            );
            one(reference::matmul(a, left, b, right, m))
        }
        ("BatchMatMul" | "BatchMatMulV2" | "BatchMatMulV3", [a, b]) => {
            let (left, right) =
                (turn("adj_x", Transposition::Adjoint)?, turn("adj_y", Transposition::Adjoint)?);
            if name == "BatchMatMulV3" {
                let to = attrs.dtype("Tout")?;
                let (a, b) = (reference::cast(a, to, m)?, reference::cast(b, to, m)?);
                return one(reference::batch_matmul(&a, left, &b, right, m));
            }
            one(reference::batch_matmul(a, left, b, right, m))
        }
        ("Einsum", [_, ..]) => one(reference::einsum(&attrs.string("equation")?, xs, m)),
        _ => Ok(None),
    }
}

fn images(name: &str, attrs: &Attributes<'_>, xs: &[&HostTensor], m: &Memory) -> FunctionResults {
    match (name, xs) {
        ("Conv2D", [x, filter]) => one(reference::conv2d(x, filter, &conv(attrs)?, m)),
        ("DepthwiseConv2dNative", [x, filter]) => {
            one(reference::depthwise_conv2d(x, filter, &conv(attrs)?, m))
        }
        ("Conv2DBackpropInput", [sizes, filter, dy]) => {
            let conv = conv(attrs)?;
            let mut dims = ints(sizes)?;
            // If only height and width are given, batch and channels come from `dy` and `filter`.
            if let (&[h, w], &[batch, ..], &[_, _, c, _]) =
                (&dims[..], dy.shape().dims(), filter.shape().dims())
            {
                let (batch, c) = (batch as i64, c as i64);
                dims = if conv.format == ImageFormat::Nhwc {
                    vec![batch, h, w, c]
                } else {
                    vec![batch, c, h, w]
                };
            }
            one(reference::conv2d_backprop_input(&Shape::from_i64(&dims)?, filter, dy, &conv, m))
        }
        ("Conv2DBackpropFilter", [x, sizes, dy]) => {
            one(reference::conv2d_backprop_filter(x, &shape(sizes)?, dy, &conv(attrs)?, m))
        }
        ("DepthwiseConv2dNativeBackpropInput", [sizes, filter, dy]) => {
            one(reference::depthwise_conv2d_backprop_input(&shape(sizes)?, filter, dy, &conv(attrs)?, m))
        }
        ("DepthwiseConv2dNativeBackpropFilter", [x, sizes, dy]) => {
            one(reference::depthwise_conv2d_backprop_filter(x, &shape(sizes)?, dy, &conv(attrs)?, m))
        }
        ("MaxPool", [x]) => one(reference::pool(Pool::Max, x, &pooling(attrs, None)?, m)),
        ("AvgPool", [x]) => one(reference::pool(Pool::Avg, x, &pooling(attrs, None)?, m)),
        ("MaxPoolV2", [x, ksize, strides]) => {
            one(reference::pool(Pool::Max, x, &pooling(attrs, Some([ksize, strides]))?, m))
        }
        ("MaxPoolGrad", [x, _, dy]) => one(reference::max_pool_grad(x, dy, &pooling(attrs, None)?, m)),
        ("MaxPoolGradV2", [x, _, dy, ksize, strides]) => {
            one(reference::max_pool_grad(x, dy, &pooling(attrs, Some([ksize, strides]))?, m))
        }
        ("AvgPoolGrad", [sizes, dy]) => {
            one(reference::avg_pool_grad(&shape(sizes)?, dy, &pooling(attrs, None)?, m))
        }
        _ => Ok(None),
    }
}

fn norms(name: &str, attrs: &Attributes<'_>, xs: &[&HostTensor], m: &Memory) -> FunctionResults {
    match (name, xs) {
        ("BiasAdd", [x, bias]) => one(reference::bias_add(x, bias, format(attrs)?, m)),
        ("BiasAddV1", [x, bias]) => one(reference::bias_add(x, bias, ImageFormat::Nhwc, m)),
        ("BiasAddGrad", [dy]) => one(reference::bias_add_grad(dy, format(attrs)?, m)),
        ("FusedBatchNorm" | "FusedBatchNormV2" | "FusedBatchNormV3", &[x, scale, offset, mean, variance]) => {
            let norm = norm(attrs)?;
            let mut results = if attrs.bool("is_training")? {
                reference::batch_norm_training(x, scale, offset, (mean, variance), &norm, m)?.to_vec()
            } else {
                let by = BatchNorm { scale, offset, mean, variance };
                let y = reference::batch_norm(x, &by, &norm, m)?;
                vec![y, mean.clone(), variance.clone(), mean.clone(), variance.clone()]
            };
            if name == "FusedBatchNormV3" {
                results.push(empty(scale, m)?);
            }
            Ok(Some(results))
        }
        (
            "FusedBatchNormGrad" | "FusedBatchNormGradV2" | "FusedBatchNormGradV3",
            &[dy, x, scale, mean, variance, ..],
        ) => {
            let is_training = attrs.bool("is_training")?;
            let gradients =
                reference::batch_norm_grad(dy, x, scale, (mean, variance), is_training, &norm(attrs)?, m)?;
            let empty = empty(scale, m)?;
            Ok(Some(gradients.into_iter().chain([empty.clone(), empty]).collect()))
        }
        _ => Ok(None),
    }
}

/// A tensor without elements, of another one's type.
fn empty(like: &HostTensor, m: &Memory) -> Result<HostTensor, Stop> {
    Ok(HostTensor::zeros(like.dtype(), Shape::new(&[0])?, m)?)
}

/// The integers in a tensor of axes or sizes.
fn ints(x: &HostTensor) -> Result<Vec<i64>, Stop> {
    if x.shape().rank() > 1 {
        return Err(invalid(format!("axes or sizes of shape {}", x.shape())));
    }
    super::value::TfValue::Tensor(x.clone()).ints()
}

fn shape(x: &HostTensor) -> Result<Shape, Stop> {
    Ok(Shape::from_i64(&ints(x)?)?)
}

fn format(attrs: &Attributes<'_>) -> Result<ImageFormat, Stop> {
    match &attrs.string("data_format")?[..] {
        "NHWC" => Ok(ImageFormat::Nhwc),
        "NCHW" => Ok(ImageFormat::Nchw),
        other => Err(Stop::Refused(format!("images in the format {other}"))),
    }
}

/// Height and width in a list of four numbers, of which the others must be 1.
fn plane(list: &[i64], format: ImageFormat) -> Result<(usize, usize), Stop> {
    let plane = match (list, format) {
        (&[1, h, w, 1], ImageFormat::Nhwc) | (&[1, 1, h, w], ImageFormat::Nchw) => {
            (usize::try_from(h), usize::try_from(w))
        }
        _ => return Err(invalid(format!("{list:?} for a plane"))),
    };
    match plane {
        (Ok(h), Ok(w)) => Ok((h, w)),
        _ => Err(invalid(format!("{list:?} for a plane"))),
    }
}

fn padding(attrs: &Attributes<'_>, format: ImageFormat) -> Result<Padding, Stop> {
    let word = attrs.string("padding")?;
    let explicit = match &word[..] {
        "SAME" => return Ok(Padding::Same),
        "VALID" => return Ok(Padding::Valid),
        _ => attrs.ints("explicit_paddings")?,
    };
    match (&explicit[..], format) {
        (&[0, 0, top, bottom, left, right, 0, 0], ImageFormat::Nhwc)
        | (&[0, 0, 0, 0, top, bottom, left, right], ImageFormat::Nchw) => {
            let pair = |a: i64, b: i64| (a.unsigned_abs() as usize, b.unsigned_abs() as usize);
            Ok(Padding::Explicit([pair(top, bottom), pair(left, right)]))
        }
        _ => Err(Stop::Refused(format!("the padding {word} {explicit:?}"))),
    }
}

fn conv(attrs: &Attributes<'_>) -> Result<Conv2dAttrs, Stop> {
    let format = format(attrs)?;
    Ok(Conv2dAttrs {
        strides: plane(&attrs.ints("strides")?, format)?,
        dilations: plane(&attrs.ints("dilations")?, format)?,
        padding: padding(attrs, format)?,
        format,
    })
}

/// The attributes of a pooling op. Window and strides are attributes or operands.
fn pooling(attrs: &Attributes<'_>, operands: Option<[&HostTensor; 2]>) -> Result<Pool2dAttrs, Stop> {
    let format = format(attrs)?;
    let (window, strides) = match operands {
        Some([window, strides]) => (ints(window)?, ints(strides)?),
        None => (attrs.ints("ksize")?, attrs.ints("strides")?),
    };
    Ok(Pool2dAttrs {
        window: plane(&window, format)?,
        strides: plane(&strides, format)?,
        padding: padding(attrs, format)?,
        format,
    })
}

fn norm(attrs: &Attributes<'_>) -> Result<BatchNormAttrs, Stop> {
    let factor = attrs.signature().attr("exponential_avg_factor").is_some();
    Ok(BatchNormAttrs {
        epsilon: attrs.float("epsilon")? as f32,
        exponential_avg_factor: if factor { attrs.float("exponential_avg_factor")? as f32 } else { 1.0 },
        format: format(attrs)?,
    })
}
