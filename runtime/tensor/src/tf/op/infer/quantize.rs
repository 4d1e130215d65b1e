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

/// The common shape of the ends of ranges, the operands `first` and the next one: a number, or one for each
/// index of the axis.
fn ends_by_axis(cx: &Node<'_>, first: usize) -> Result<PartialShape, TensorError> {
    let ends = cx.merged(cx.shape(first)?, cx.shape(first + 1)?)?;
    let axis = cx.attrs.int("axis")?;
    let Ok(axis) = usize::try_from(axis) else { return cx.merged(&ends, &PartialShape::of_rank(0)) };
    let Some(dims) = cx.shape(first - 1)?.as_slice() else {
        return cx.merged(&ends, &PartialShape::of_rank(1));
    };
    match dims.get(axis) {
        Some(&dim) => cx.merged(&ends, &PartialShape::new(vec![dim])),
        None => cx.refuse(format!("axis is {axis}, of a tensor of rank {}", dims.len())),
    }
}

pub(in crate::tf::op) fn there_and_back(cx: &Node<'_>) -> Shapes {
    ends_by_axis(cx, 1)?;
    Ok(vec![cx.shape(0)?.clone()])
}

pub(in crate::tf::op) fn there_and_back_gradient(cx: &Node<'_>) -> Shapes {
    let ends = ends_by_axis(cx, 2)?;
    Ok(vec![cx.merged(cx.shape(0)?, cx.shape(1)?)?, ends.clone(), ends])
}
