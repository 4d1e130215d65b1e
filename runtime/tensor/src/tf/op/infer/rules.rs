//! Shape rules shared by several families of operators.

use super::{Node, PartialShape, Shapes, broadcast};

/// Results of unknown shapes.
pub fn unknown(cx: &Node<'_>) -> Shapes {
    Ok(vec![PartialShape::unknown(); cx.n_results])
}

pub(in crate::tf::op) fn identity_n(cx: &Node<'_>) -> Shapes {
    Ok(cx.operands.iter().map(|operand| operand.shape.clone()).collect())
}

pub(in crate::tf::op) fn select_v2(cx: &Node<'_>) -> Shapes {
    let arms = broadcast(cx.shape(1)?, cx.shape(2)?);
    match arms.and_then(|arms| broadcast(cx.shape(0).ok()?, &arms)) {
        Some(shape) => Ok(vec![shape]),
        None => cx.refuse("the shapes cannot be broadcast together".to_owned()),
    }
}

pub(in crate::tf::op) fn select(cx: &Node<'_>) -> Shapes {
    Ok(vec![cx.merged(cx.shape(1)?, cx.shape(2)?)?])
}

pub(in crate::tf::op) fn tensor_array_v3(_: &Node<'_>) -> Shapes {
    Ok(vec![PartialShape::of_rank(0); 2])
}

pub(in crate::tf::op) fn switch(cx: &Node<'_>) -> Shapes {
    Ok(vec![cx.shape(0)?.clone(); 2])
}

pub(in crate::tf::op) fn ensure_shape(cx: &Node<'_>) -> Shapes {
    Ok(vec![cx.merged(cx.shape(0)?, &cx.attrs.shape("shape")?)?])
}

pub(in crate::tf::op) fn placeholder(cx: &Node<'_>) -> Shapes {
    Ok(vec![cx.attrs.shape("shape")?])
}

pub(in crate::tf::op) fn placeholder_with_default(cx: &Node<'_>) -> Shapes {
    let shape = cx.attrs.shape("shape")?;
    match cx.shape(0)?.merged(&shape) {
        Some(_) => Ok(vec![shape]),
        None => cx.refuse(format!("expected shape {shape}")),
    }
}

pub(in crate::tf::op) fn constant(cx: &Node<'_>) -> Shapes {
    Ok(vec![PartialShape::from(cx.attrs.tensor("value")?.shape())])
}

/// The shape of operand 0.
pub fn same(cx: &Node<'_>) -> Shapes {
    Ok(vec![cx.shape(0)?.clone()])
}

/// A scalar.
pub fn scalar(_: &Node<'_>) -> Shapes {
    Ok(vec![PartialShape::of_rank(0)])
}

/// The shape that operands 0 and 1 broadcast to.
///
/// # Errors
/// If there is none.
pub fn broadcasting(cx: &Node<'_>) -> Shapes {
    match broadcast(cx.shape(0)?, cx.shape(1)?) {
        Some(shape) => Ok(vec![shape]),
        None => cx.refuse("the shapes cannot be broadcast together".to_owned()),
    }
}

/// `Equal` and `NotEqual`: an attribute selects a scalar result for shapes that do not broadcast.
pub(in crate::tf::op) fn comparison(cx: &Node<'_>) -> Shapes {
    let can_be_lenient = cx.attrs.signature().attr("incompatible_shape_error").is_some();
    if !can_be_lenient || cx.attrs.bool("incompatible_shape_error")? {
        return broadcasting(cx);
    }
    let shape = match broadcast(cx.shape(0)?, cx.shape(1)?) {
        Some(shape) if cx.shape(0)?.shape().is_some() && cx.shape(1)?.shape().is_some() => shape,
        Some(_) => PartialShape::unknown(),
        None => PartialShape::of_rank(0),
    };
    Ok(vec![shape])
}

/// The shape that merges those of all operands.
///
/// # Errors
/// If they differ.
pub fn all_merged(cx: &Node<'_>) -> Shapes {
    let all = cx.operands.iter().try_fold(PartialShape::unknown(), |all, x| cx.merged(&all, &x.shape))?;
    Ok(vec![all])
}

/// `Bitcast`: larger elements remove a last axis, smaller ones add one.
pub(in crate::tf::op) fn bitcast(cx: &Node<'_>) -> Shapes {
    let to = cx.attrs.dtype("type")?.size();
    let Some(from) = cx.operand(0)?.ty.dtype().map(|dtype| dtype.size()) else { return same(cx) };
    let Some(dims) = cx.shape(0)?.as_slice() else { return same(cx) };
    let shape = match dims.split_last() {
        _ if from == to => dims.to_vec(),
        _ if from > to => [dims, &[Some(from / to)]].concat(),
        Some((&last, outer)) if last.is_none_or(|last| last == to / from) => outer.to_vec(),
        _ => return cx.refuse(format!("the last axis is not the {} parts of an element", to / from)),
    };
    Ok(vec![PartialShape::new(shape)])
}
