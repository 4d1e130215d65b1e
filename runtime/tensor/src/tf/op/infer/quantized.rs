//! Tensors of quantized integers: the shapes of the operators of numbers, with the ends of the range as two
//! further results.

use super::joins::concat;
use super::{Dim, Node, PartialShape, Shapes, arrays, broadcast, images, layers, rules};

fn with_ends(shapes: Shapes) -> Shapes {
    let mut shapes = shapes?;
    shapes.extend([PartialShape::of_rank(0), PartialShape::of_rank(0)]);
    Ok(shapes)
}

pub(in crate::tf::op) fn same(cx: &Node<'_>) -> Shapes {
    with_ends(rules::same(cx))
}

pub(in crate::tf::op) fn range(_: &Node<'_>) -> Shapes {
    with_ends(Ok(Vec::new()))
}

/// The ends of ranges, operands 1 and 2: numbers, or one for each index of the axis. An axis of length 1
/// gives results without an axis.
fn ends(cx: &Node<'_>) -> Result<PartialShape, crate::TensorError> {
    let ends = cx.merged(cx.shape(1)?, cx.shape(2)?)?;
    let Ok(axis) = usize::try_from(cx.attrs.int("axis")?) else { return Ok(PartialShape::of_rank(0)) };
    let n: Dim = match cx.shape(0)?.as_slice() {
        Some(dims) => match dims.get(axis) {
            Some(&dim) => dim,
            None => return cx.refuse(format!("axis is {axis}, of a tensor of rank {}", dims.len())),
        },
        None => None,
    };
    match n {
        None => Ok(PartialShape::unknown()),
        Some(1) => Ok(PartialShape::of_rank(0)),
        n => cx.merged(&ends, &PartialShape::new(vec![n])),
    }
}

pub(in crate::tf::op) fn quantize(cx: &Node<'_>) -> Shapes {
    let ends = ends(cx)?;
    Ok(vec![cx.shape(0)?.clone(), ends.clone(), ends])
}

pub(in crate::tf::op) fn dequantize(cx: &Node<'_>) -> Shapes {
    ends(cx)?;
    Ok(vec![cx.shape(0)?.clone()])
}

pub(in crate::tf::op) fn matmul(cx: &Node<'_>) -> Shapes {
    with_ends(layers::matmul(cx))
}

pub(in crate::tf::op) fn conv2d(cx: &Node<'_>) -> Shapes {
    with_ends(layers::conv2d(cx))
}

pub(in crate::tf::op) fn bias_add(cx: &Node<'_>) -> Shapes {
    with_ends(layers::bias_add_v1(cx))
}

pub(in crate::tf::op) fn broadcasting(cx: &Node<'_>) -> Shapes {
    with_ends(rules::broadcasting(cx))
}

pub(in crate::tf::op) fn pool(cx: &Node<'_>) -> Shapes {
    with_ends(layers::pool(cx))
}

pub(in crate::tf::op) fn join(cx: &Node<'_>) -> Shapes {
    let n = cx.operands.len().saturating_sub(1) / 3;
    with_ends(concat(cx, 1..1 + n, cx.int(0)?))
}

pub(in crate::tf::op) fn reshape(cx: &Node<'_>) -> Shapes {
    let mut shapes = arrays::reshape(cx)?;
    shapes.extend([cx.shape(2)?.clone(), cx.shape(3)?.clone()]);
    Ok(shapes)
}

pub(in crate::tf::op) fn resize(cx: &Node<'_>) -> Shapes {
    with_ends(images::resize(cx))
}

/// The shape of operand 0.
pub(in crate::tf::op) fn uniform(cx: &Node<'_>) -> Shapes {
    Ok(vec![cx.shape(0)?.clone()])
}

/// The common shape of two operands.
pub(in crate::tf::op) fn uniform_add(cx: &Node<'_>) -> Shapes {
    match broadcast(cx.shape(0)?, cx.shape(1)?) {
        Some(shape) => Ok(vec![shape]),
        None => cx.refuse("the shapes cannot be broadcast together".to_owned()),
    }
}

/// A product of matrices.
pub(in crate::tf::op) fn uniform_dot(cx: &Node<'_>) -> Shapes {
    let ([rows, inner], [n, columns]) = (cx.dims::<2>(0)?, cx.dims::<2>(1)?);
    cx.same(inner, n)?;
    Ok(vec![PartialShape::new(vec![rows, columns])])
}
