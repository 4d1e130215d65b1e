//! Softmax and the cross entropies, for floats: computed in f64, each result rounded once.

use std::sync::Arc;

use super::index::positions;
use super::real::reals;
use super::unary::cast;
use crate::mem::Allocator;
use crate::{DType, HostTensor, Shape, TensorError};

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
    let values = reals(op, x, allocator)?;
    values.write::<f64>()?.chunks_exact_mut(len.max(1)).for_each(f);
    cast(&values, x.dtype(), allocator)
}

/// `SoftmaxCrossEntropyWithLogits`: the loss of each row, and its gradient by the logits. Logits and labels
/// have shape `[rows, classes]` and broadcast.
pub fn softmax_cross_entropy(
    logits: &HostTensor,
    labels: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<[HostTensor; 2], TensorError> {
    let op = "SoftmaxCrossEntropyWithLogits";
    labels.expect_dtype("labels", logits.dtype())?;
    let shape = super::walk::broadcast_shape(logits.shape(), labels.shape())?;
    let logits = super::movement::broadcast_to(logits, &shape, allocator)?;
    let labels = reals(op, &super::movement::broadcast_to(labels, &shape, allocator)?, allocator)?;
    let labels = labels.read::<f64>()?;
    cross_entropy(op, &logits, allocator, |row, class, classes| Some(labels[row * classes + class]))
}

/// `SparseSoftmaxCrossEntropyWithLogits`: [`softmax_cross_entropy`] where `labels` has the class of each row
/// (i32 or i64).
pub fn sparse_softmax_cross_entropy(
    logits: &HostTensor,
    labels: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<[HostTensor; 2], TensorError> {
    let op = "SparseSoftmaxCrossEntropyWithLogits";
    let &[rows, classes] = logits.shape().dims() else {
        return Err(TensorError::Rank { what: "logits", want: 2, got: logits.shape().clone() });
    };
    labels.expect_shape("labels", &Shape::new(&[rows])?)?;
    let labels = positions(op, labels, classes, logits.shape())?;
    cross_entropy(op, logits, allocator, |row, class, _| (labels[row] == class).then_some(1.0))
}

fn cross_entropy(
    op: &'static str,
    logits: &HostTensor,
    allocator: &Arc<dyn Allocator>,
    label: impl Fn(usize, usize, usize) -> Option<f64>,
) -> Result<[HostTensor; 2], TensorError> {
    let &[rows, classes] = logits.shape().dims() else {
        return Err(TensorError::Rank { what: "logits", want: 2, got: logits.shape().clone() });
    };
    let values = reals(op, logits, allocator)?;
    let losses = HostTensor::zeros(DType::F64, Shape::new(&[rows])?, allocator)?;
    {
        let (mut values, mut losses) = (values.write::<f64>()?, losses.write::<f64>()?);
        for ((i, row), loss) in values.chunks_exact_mut(classes.max(1)).enumerate().zip(losses.iter_mut()) {
            log_softmax_row(row);
            for (class, x) in row.iter_mut().enumerate() {
                // A label of 0 makes NaN of a probability of 0.
                let label = label(i, class, classes);
                *loss -= label.map_or(0.0, |label| label * *x);
                *x = x.exp() - label.unwrap_or(0.0);
            }
        }
    }
    Ok([cast(&losses, logits.dtype(), allocator)?, cast(&values, logits.dtype(), allocator)?])
}
