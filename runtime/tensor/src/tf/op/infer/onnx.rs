//! Operators of ONNX.

use super::{Dim, Node, PartialShape, Shapes};
use crate::TensorError;
use crate::tf::op::eval::onnx::pool_windows;

/// An error unless indices of this shape select elements of operand 0 along the axis `axis`.
fn expect_elements(cx: &Node<'_>, indices: &PartialShape) -> Result<(), TensorError> {
    let (Some(x), Some(indices)) = (cx.shape(0)?.as_slice(), indices.as_slice()) else { return Ok(()) };
    let axis = cx.axis(cx.attrs.int("axis")?, x.len())?;
    let fits = |(i, (dim, n)): (usize, (&Dim, &Dim))| i == axis || dim.zip(*n).is_none_or(|(dim, n)| n <= dim);
    match x.len() == indices.len() && x.iter().zip(indices).enumerate().all(fits) {
        true => Ok(()),
        false => cx.refuse(format!("indices that are larger than the tensor along an axis but {axis}")),
    }
}

pub(in crate::tf::op) fn gather_elements(cx: &Node<'_>) -> Shapes {
    expect_elements(cx, cx.shape(1)?)?;
    Ok(vec![cx.shape(1)?.clone()])
}

pub(in crate::tf::op) fn scatter_elements(cx: &Node<'_>) -> Shapes {
    expect_elements(cx, &cx.merged(cx.shape(1)?, cx.shape(2)?)?)?;
    Ok(vec![cx.shape(0)?.clone()])
}

/// Batch and channels of operand 0 and the dimensions of its axes of space, if its rank is known.
fn image<'a>(cx: &Node<'a>) -> Result<Option<([Dim; 2], &'a [Dim])>, TensorError> {
    Ok(cx.at_least(0, 3)?.map(|dims| ([dims[0], dims[1]], &dims[2..])))
}

pub(in crate::tf::op) fn pool(cx: &Node<'_>) -> Shapes {
    let windows = pool_windows(&cx.attrs)?;
    let n = windows.kernel.len();
    windows.steps.expect_axes(cx.op(), n)?;
    let Some((outer, space)) = image(cx)? else {
        return Ok(vec![PartialShape::of_rank(n.saturating_add(2)); cx.n_results]);
    };
    if space.len() != n {
        return cx.refuse(format!("windows of {n} axes for {} axes of space", space.len()));
    }
    let mut dims = outer.to_vec();
    for (i, (dim, &size)) in space.iter().zip(&windows.kernel).enumerate() {
        let span = dim.map(|len| windows.steps.span(cx.op(), (i, n), len, size, windows.ceil)).transpose()?;
        dims.push(span.map(|span| span.count));
    }
    Ok(vec![PartialShape::new(dims); cx.n_results])
}
