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

/// The windows of a pooling over a tensor of NHWC images.
struct Windows {
    dims: [usize; 4],
    rows: usize,
    cols: usize,
    size: (usize, usize),
    stride: (usize, usize),
    before: (usize, usize),
    shape: Shape,
}

impl Windows {
    fn new(
        op: &'static str,
        x: &HostTensor,
        size: (usize, usize),
        stride: (usize, usize),
        padding: Padding,
    ) -> Result<Windows, TensorError> {
        let &[n, h, w, c] = x.shape().dims() else {
            return invalid(op, format!("shape {} is not of rank 4, NHWC", x.shape()));
        };
        let (rows, top) = windows(op, x.shape(), h, size.0, stride.0, padding)?;
        let (cols, left) = windows(op, x.shape(), w, size.1, stride.1, padding)?;
        let shape = Shape::new(&[n, rows, cols, c])?;
        Ok(Windows { dims: [n, h, w, c], rows, cols, size, stride, before: (top, left), shape })
    }

    /// Calls `f` for each element of the result with its position and those of the images that its window covers.
    fn for_each(&self, mut f: impl FnMut(usize, &[usize])) {
        let [_, h, w, c] = self.dims;
        let inside = |i: usize, stride: usize, before: usize, window: usize, len: usize| {
            let start = i * stride; // below len
            start.saturating_sub(before)..start.saturating_add(window).saturating_sub(before).min(len)
        };
        let mut covered = Vec::new();
        for at in 0..self.shape.num_elements() {
            let (pixel, channel) = (at / c, at % c); // no dimension is 0: there are elements
            let (image, row, col) =
                (pixel / (self.rows * self.cols), pixel / self.cols % self.rows, pixel % self.cols);
            covered.clear();
            for i in inside(row, self.stride.0, self.before.0, self.size.0, h) {
                let columns = inside(col, self.stride.1, self.before.1, self.size.1, w);
                covered.extend(columns.map(|j| ((image * h + i) * w + j) * c + channel));
            }
            f(at, &covered);
        }
    }
}

/// The position in a window of the first largest element, or the first NaN.
fn largest(x: &[f64], covered: &[usize]) -> Option<usize> {
    covered.iter().copied().reduce(|best, at| {
        let wins = !x[best].is_nan() && (x[at].is_nan() || x[at] > x[best]);
        if wins { at } else { best }
    })
}

fn pool_name(kind: Pool) -> &'static str {
    match kind {
        Pool::Max => "MaxPool",
        Pool::Avg => "AvgPool",
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
    let op = pool_name(kind);
    let windows = Windows::new(op, x, window, stride, padding)?;
    let from = reals(op, x)?;
    let mut values = vec![0.0; windows.shape.num_elements()]; // at most as many as x has
    windows.for_each(|at, covered| {
        values[at] = match kind {
            Pool::Max => largest(&from, covered).map_or(f64::NEG_INFINITY, |best| from[best]),
            Pool::Avg => covered.iter().map(|&i| from[i]).sum::<f64>().over(covered.len()),
        };
    });
    from_reals(x.dtype(), &windows.shape, &values, allocator)
}

/// `MaxPoolGrad`, `AvgPoolGrad`: the gradient by the images `x`, from `dy` of the pooled shape. The gradient of a maximum goes to the first
/// largest element of its window, that of an average in equal parts to all.
pub fn pool_grad(
    kind: Pool,
    x: &HostTensor,
    dy: &HostTensor,
    window: (usize, usize),
    stride: (usize, usize),
    padding: Padding,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = pool_name(kind);
    let windows = Windows::new(op, x, window, stride, padding)?;
    dy.expect_dtype("dy", x.dtype())?;
    dy.expect_shape("dy", &windows.shape)?;
    let (from, gradients) = (reals(op, x)?, reals(op, dy)?);
    let mut values = vec![0.0; from.len()];
    windows.for_each(|at, covered| match kind {
        Pool::Max => {
            if let Some(best) = largest(&from, covered) {
                values[best] += gradients[at];
            }
        }
        Pool::Avg => covered.iter().for_each(|&i| values[i] += gradients[at].over(covered.len())),
    });
    from_reals(x.dtype(), x.shape(), &values, allocator)
}

/// `FusedBatchNormV3` for training: the normalized images, the mean of each channel, and its variance (with Bessel's correction, for running
/// averages; the images are normalized by the uncorrected one). The vectors have the dtype of `scale`.
pub fn batch_norm_training(
    x: &HostTensor,
    scale: &HostTensor,
    offset: &HostTensor,
    epsilon: f32,
    allocator: &Arc<dyn Allocator>,
) -> Result<(HostTensor, HostTensor, HostTensor), TensorError> {
    let op = "FusedBatchNormV3";
    let channels = channels_of(op, x)?;
    let (scales, offsets) =
        (channel_vector("scale", scale, channels)?, channel_vector("offset", offset, channels)?);
    let mut values = reals(op, x)?;
    let (mean, variance, n) = moments(&values, channels);
    for pixel in values.chunks_exact_mut(channels.max(1)) {
        for (c, x) in pixel.iter_mut().enumerate() {
            *x = (*x - mean[c]) / (variance[c] + f64::from(epsilon)).sqrt() * scales[c] + offsets[c];
        }
    }
    let corrected: Vec<f64> = variance.iter().map(|v| v * n / (n - 1.0).max(1.0)).collect();
    Ok((
        from_reals(x.dtype(), x.shape(), &values, allocator)?,
        from_reals(scale.dtype(), scale.shape(), &mean, allocator)?,
        from_reals(scale.dtype(), scale.shape(), &corrected, allocator)?,
    ))
}

/// `FusedBatchNormGradV3` of a training step: the gradients by the images, the scale and the offset. Mean and variance are computed anew.
pub fn batch_norm_grad(
    dy: &HostTensor,
    x: &HostTensor,
    scale: &HostTensor,
    epsilon: f32,
    allocator: &Arc<dyn Allocator>,
) -> Result<(HostTensor, HostTensor, HostTensor), TensorError> {
    let op = "FusedBatchNormGradV3";
    let channels = channels_of(op, x)?;
    dy.expect_shape("y_backprop", x.shape())?;
    let (mut values, gradients) = (reals(op, x)?, reals(op, dy)?);
    let scales = channel_vector("scale", scale, channels)?;
    let (mean, variance, n) = moments(&values, channels);
    let (mut by_scale, mut by_offset) = (vec![0.0; channels], vec![0.0; channels]);
    // First the normalized images and the sums over them, then the gradient that takes the sums.
    for (pixel, dy) in values.chunks_exact_mut(channels.max(1)).zip(gradients.chunks_exact(channels.max(1))) {
        for (c, (x, dy)) in pixel.iter_mut().zip(dy).enumerate() {
            *x = (*x - mean[c]) / (variance[c] + f64::from(epsilon)).sqrt();
            by_scale[c] += dy * *x;
            by_offset[c] += dy;
        }
    }
    for (pixel, dy) in values.chunks_exact_mut(channels.max(1)).zip(gradients.chunks_exact(channels.max(1))) {
        for (c, (x, dy)) in pixel.iter_mut().zip(dy).enumerate() {
            let factor = scales[c] / (variance[c] + f64::from(epsilon)).sqrt();
            *x = factor * (dy - by_offset[c] / n - *x * by_scale[c] / n);
        }
    }
    Ok((
        from_reals(x.dtype(), x.shape(), &values, allocator)?,
        from_reals(scale.dtype(), scale.shape(), &by_scale, allocator)?,
        from_reals(scale.dtype(), scale.shape(), &by_offset, allocator)?,
    ))
}

/// Mean and variance of each channel, and the number of pixels. Of no pixels, NaN.
fn moments(values: &[f64], channels: usize) -> (Vec<f64>, Vec<f64>, f64) {
    let n = values.len().checked_div(channels).unwrap_or(0) as f64;
    let mean_of = |f: &dyn Fn(usize, f64) -> f64| {
        let mut sums = vec![0.0; channels];
        for pixel in values.chunks_exact(channels.max(1)) {
            sums.iter_mut().zip(pixel).enumerate().for_each(|(c, (sum, &x))| *sum += f(c, x));
        }
        sums.iter_mut().for_each(|sum| *sum /= n);
        sums
    };
    let mean = mean_of(&|_, x| x);
    let variance = mean_of(&|c, x| (x - mean[c]) * (x - mean[c]));
    (mean, variance, n)
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
