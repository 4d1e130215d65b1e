//! Strings.

use super::{Node, PartialShape, Shapes};

/// The shape of the operands that are not scalars.
pub(in crate::tf::op) fn join(cx: &Node<'_>) -> Shapes {
    let mut all = PartialShape::of_rank(0);
    for operand in cx.operands {
        match (operand.shape.rank(), all.rank()) {
            (Some(0), _) => {}
            (_, Some(0)) => all = operand.shape.clone(),
            _ => all = cx.merged(&all, &operand.shape)?,
        }
    }
    // A shape of unknown rank may be that of a scalar.
    let is_known = cx.operands.iter().all(|operand| operand.shape.rank().is_some());
    Ok(vec![if is_known { all } else { PartialShape::unknown() }])
}

/// Coordinates, strings and the shape of a matrix.
pub(in crate::tf::op) fn split(cx: &Node<'_>) -> Shapes {
    cx.dims::<1>(0)?;
    let of = |dims: &[super::Dim]| PartialShape::new(dims.to_vec());
    Ok(vec![of(&[None, Some(2)]), of(&[None]), of(&[Some(2)])])
}
