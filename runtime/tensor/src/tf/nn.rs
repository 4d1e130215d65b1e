//! Layers: softmax and entropies, biases, normalization, pooling, training updates.
//!
//! All on floats (f16, bf16, f32, f64), computed in f64 from the elements and rounded once per result: what a layer of several operators
//! would round in between, these do not. Images are NHWC.

use std::sync::Arc;

use super::numeric::{AnyWide, Domain, Number};
use super::reduce::{Reduce, reduce};
use crate::element::with_element;
use crate::mem::Allocator;
use crate::{DType, HostTensor, Shape, TensorError};

fn invalid<T>(op: &'static str, problem: String) -> Result<T, TensorError> {
    Err(TensorError::Invalid { op, problem })
}

/// The elements of a float tensor as f64.
fn reals(op: &'static str, x: &HostTensor) -> Result<Vec<f64>, TensorError> {
    if !matches!(x.dtype(), DType::F16 | DType::BF16 | DType::F32 | DType::F64) {
        return Err(TensorError::Unsupported { op, dtype: x.dtype() });
    }
    with_element!(x.dtype(), T => {
        Ok(x.read::<T>()?.iter().map(|x| match x.widen().any() {
            AnyWide::Real(r) => r,
            _ => f64::NAN, // not of a float dtype
        }).collect())
    })
}

/// A tensor of these numbers, rounded to a float dtype.
fn from_reals(
    dtype: DType,
    shape: &Shape,
    values: &[f64],
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let out = HostTensor::allocate(dtype, shape.clone(), allocator)?;
    with_element!(dtype, T => {
        for (out, &x) in out.write::<T>()?.iter_mut().zip(values) {
            *out = T::cast(AnyWide::Real(x));
        }
    });
    Ok(out)
}

/// `x - log(sum(e^x))` of a row.
fn log_softmax_row(row: &mut [f64]) {
    let max = row.iter().copied().fold(f64::NEG_INFINITY, |m, x| if x.is_nan() || x > m { x } else { m });
    let log_sum = row.iter().map(|x| (x - max).exp()).sum::<f64>().ln();
    row.iter_mut().for_each(|x| *x = (*x - max) - log_sum);
}

/// `Softmax` along the last axis of a tensor of rank 1 or more.
pub fn softmax(x: &HostTensor, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
    by_rows("Softmax", x, allocator, |row| {
        log_softmax_row(row);
        row.iter_mut().for_each(|x| *x = x.exp());
    })
}

/// `LogSoftmax` along the last axis of a tensor of rank 1 or more.
pub fn log_softmax(x: &HostTensor, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
    by_rows("LogSoftmax", x, allocator, log_softmax_row)
}

fn by_rows(
    op: &'static str,
    x: &HostTensor,
    allocator: &Arc<dyn Allocator>,
    f: impl Fn(&mut [f64]),
) -> Result<HostTensor, TensorError> {
    let Some(&len) = x.shape().dims().last() else {
        return Err(TensorError::Axis { axis: -1, shape: x.shape().clone() });
    };
    let mut values = reals(op, x)?;
    values.chunks_exact_mut(len.max(1)).for_each(f);
    from_reals(x.dtype(), x.shape(), &values, allocator)
}

/// `SoftmaxCrossEntropyWithLogits`: the loss of each row and its gradient by the logits; logits and labels are rows by classes.
pub fn softmax_cross_entropy(
    logits: &HostTensor,
    labels: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<(HostTensor, HostTensor), TensorError> {
    let op = "SoftmaxCrossEntropyWithLogits";
    labels.expect_dtype("labels", logits.dtype())?;
    labels.expect_shape("labels", logits.shape())?;
    let labels = reals(op, labels)?;
    cross_entropy(op, logits, allocator, |row, class, classes| labels[row * classes + class])
}

/// `SparseSoftmaxCrossEntropyWithLogits`: the same with the class of each row (i32 or i64) for the labels.
pub fn sparse_softmax_cross_entropy(
    logits: &HostTensor,
    labels: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<(HostTensor, HostTensor), TensorError> {
    let op = "SparseSoftmaxCrossEntropyWithLogits";
    let &[rows, classes] = logits.shape().dims() else {
        return Err(TensorError::Rank { what: "logits", want: 2, got: logits.shape().clone() });
    };
    labels.expect_shape("labels", &Shape::new(&[rows])?)?;
    let labels = super::index::positions(op, labels, classes, logits.shape())?;
    cross_entropy(op, logits, allocator, |row, class, _| if labels[row] == class { 1.0 } else { 0.0 })
}

fn cross_entropy(
    op: &'static str,
    logits: &HostTensor,
    allocator: &Arc<dyn Allocator>,
    label: impl Fn(usize, usize, usize) -> f64,
) -> Result<(HostTensor, HostTensor), TensorError> {
    let &[rows, classes] = logits.shape().dims() else {
        return Err(TensorError::Rank { what: "logits", want: 2, got: logits.shape().clone() });
    };
    let mut values = reals(op, logits)?;
    let loss = HostTensor::zeros(logits.dtype(), Shape::new(&[rows])?, allocator)?;
    let mut losses = vec![0.0; if classes == 0 { 0 } else { rows }];
    for ((i, row), loss) in values.chunks_exact_mut(classes.max(1)).enumerate().zip(&mut losses) {
        log_softmax_row(row);
        for (class, x) in row.iter_mut().enumerate() {
            let label = label(i, class, classes);
            if label != 0.0 {
                *loss -= label * *x;
            }
            *x = x.exp() - label;
        }
    }
    let loss =
        if classes == 0 { loss } else { from_reals(logits.dtype(), loss.shape(), &losses, allocator)? };
    Ok((loss, from_reals(logits.dtype(), logits.shape(), &values, allocator)?))
}

/// `BiasAdd`: a vector along the last axis.
pub fn bias_add(
    x: &HostTensor,
    bias: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let Some(&last) = x.shape().dims().last().filter(|_| x.shape().rank() >= 2) else {
        return invalid("BiasAdd", format!("shape {} has rank {}, below 2", x.shape(), x.shape().rank()));
    };
    bias.expect_shape("bias", &Shape::new(&[last])?)?;
    super::binary::binary(super::Binary::Add, x, bias, allocator)
}

/// `BiasAddGrad`: the sum over all axes but the last.
pub fn bias_add_grad(dy: &HostTensor, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
    let rank = dy.shape().rank() as i64;
    if rank < 2 {
        return invalid("BiasAddGrad", format!("shape {} has rank {rank}, below 2", dy.shape()));
    }
    reduce(Reduce::Sum, dy, &(0..rank - 1).collect::<Vec<_>>(), false, allocator)
}

/// The vectors of a batch normalization, each as long as the last axis.
pub struct BatchNorm<'a> {
    /// What the normalized values are multiplied by.
    pub scale: &'a HostTensor,
    /// What is added then.
    pub offset: &'a HostTensor,
    /// The population's mean.
    pub mean: &'a HostTensor,
    /// The population's variance.
    pub variance: &'a HostTensor,
}

fn channel_vector(what: &'static str, x: &HostTensor, channels: usize) -> Result<Vec<f64>, TensorError> {
    x.expect_shape(what, &Shape::new(&[channels])?)?;
    reals("FusedBatchNormV3", x)
}

fn channels_of(op: &'static str, x: &HostTensor) -> Result<usize, TensorError> {
    match x.shape().dims() {
        &[_, _, _, channels] => Ok(channels),
        _ => invalid(op, format!("shape {} is not of rank 4, NHWC", x.shape())),
    }
}

/// `FusedBatchNormV3` for inference: `(x - mean) / sqrt(variance + epsilon) * scale + offset` per channel, NHWC.
pub fn batch_norm(
    x: &HostTensor,
    by: &BatchNorm<'_>,
    epsilon: f32,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let channels = channels_of("FusedBatchNormV3", x)?;
    let (scale, offset) =
        (channel_vector("scale", by.scale, channels)?, channel_vector("offset", by.offset, channels)?);
    let (mean, variance) =
        (channel_vector("mean", by.mean, channels)?, channel_vector("variance", by.variance, channels)?);
    let mut values = reals("FusedBatchNormV3", x)?;
    for pixel in values.chunks_exact_mut(channels.max(1)) {
        for (c, x) in pixel.iter_mut().enumerate() {
            *x = (*x - mean[c]) / (variance[c] + f64::from(epsilon)).sqrt() * scale[c] + offset[c];
        }
    }
    from_reals(x.dtype(), x.shape(), &values, allocator)
}

/// What a pooling window yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pool {
    /// `MaxPool`.
    Max,
    /// `AvgPool`: over the part of the window that is inside.
    Avg,
}

/// How windows lie at the border.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    /// Only windows that are entirely inside.
    Valid,
    /// One window per stride, beginning half the missing positions (rounded down) before the image.
    Same,
}

/// The windows along one axis: how many, and where each begins and ends inside the image.
fn windows(
    op: &'static str,
    shape: &Shape,
    len: usize,
    window: usize,
    stride: usize,
    padding: Padding,
) -> Result<(usize, usize), TensorError> {
    if window == 0 || stride == 0 || i64::try_from(window).is_err() || i64::try_from(stride).is_err() {
        return invalid(op, format!("a window of {window} with stride {stride} on shape {shape}"));
    }
    match padding {
        Padding::Valid if window > len => {
            invalid(op, format!("a window of {window} is larger than the image of shape {shape}"))
        }
        Padding::Valid => Ok(((len - window) / stride + 1, 0)),
        Padding::Same => {
            let n = len.div_ceil(stride);
            let covered = n.saturating_sub(1) * stride; // below len
            Ok((n, window.saturating_sub(len - covered.min(len)) / 2))
        }
    }
}

/// `MaxPool`, `AvgPool` on NHWC images: windows of (height, width) at distances of (rows, columns).
pub fn pool(
    kind: Pool,
    x: &HostTensor,
    window: (usize, usize),
    stride: (usize, usize),
    padding: Padding,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = match kind {
        Pool::Max => "MaxPool",
        Pool::Avg => "AvgPool",
    };
    let &[n, h, w, c] = x.shape().dims() else {
        return invalid(op, format!("shape {} is not of rank 4, NHWC", x.shape()));
    };
    let (rows, top) = windows(op, x.shape(), h, window.0, stride.0, padding)?;
    let (cols, left) = windows(op, x.shape(), w, window.1, stride.1, padding)?;
    let from = reals(op, x)?;
    let shape = Shape::new(&[n, rows, cols, c])?;
    let mut values = vec![0.0; shape.num_elements()]; // at most as many as x has
    let inside = |i: usize, stride: usize, before: usize, window: usize, len: usize| {
        let start = i * stride; // below len
        start.saturating_sub(before)..(start.saturating_add(window).saturating_sub(before)).min(len)
    };
    for (pixel, out) in values.chunks_exact_mut(c.max(1)).enumerate() {
        let (image, row, col) = (pixel / (rows * cols), pixel / cols % rows, pixel % cols);
        for (ch, out) in out.iter_mut().enumerate() {
            let (mut sum, mut max, mut count) = (0.0, f64::NEG_INFINITY, 0);
            for i in inside(row, stride.0, top, window.0, h) {
                for j in inside(col, stride.1, left, window.1, w) {
                    let x = from[((image * h + i) * w + j) * c + ch];
                    sum += x;
                    count += 1;
                    if x.is_nan() || x > max {
                        max = x;
                    }
                }
            }
            *out = match kind {
                Pool::Max => max,
                Pool::Avg => sum.over(count),
            };
        }
    }
    from_reals(x.dtype(), &shape, &values, allocator)
}

/// `ResourceApplyGradientDescent` without the resource: `x - alpha * delta`.
pub fn apply_gradient_descent(
    x: &HostTensor,
    alpha: f64,
    delta: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "ApplyGradientDescent";
    delta.expect_dtype("delta", x.dtype())?;
    delta.expect_shape("delta", x.shape())?;
    let mut values = reals(op, x)?;
    for (x, delta) in values.iter_mut().zip(reals(op, delta)?) {
        *x -= alpha * delta;
    }
    from_reals(x.dtype(), x.shape(), &values, allocator)
}
