//! Fake quantization: floats rounded to the numbers of a quantized range.

use super::{Node, PartialShape, Shapes};
use crate::TensorError;

/// The common shape of the operands `min` and `max`, of which `min` is operand `first`.
fn ends(cx: &Node<'_>, first: usize) -> Result<PartialShape, TensorError> {
    let ends = cx.merged(cx.shape(first)?, cx.shape(first + 1)?)?;
    cx.merged(&ends, &PartialShape::of_rank(usize::from(cx.op().contains("PerChannel"))))
}

pub(in crate::tf::op) fn with_vars(cx: &Node<'_>) -> Shapes {
    ends(cx, 1)?;
    Ok(vec![cx.shape(0)?.clone()])
}

pub(in crate::tf::op) fn with_vars_gradient(cx: &Node<'_>) -> Shapes {
    let ends = ends(cx, 2)?;
    Ok(vec![cx.merged(cx.shape(0)?, cx.shape(1)?)?, ends.clone(), ends])
}
