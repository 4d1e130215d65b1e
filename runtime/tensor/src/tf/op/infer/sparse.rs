//! Sparse and ragged operands.

use super::{Dim, Node, PartialShape, Shapes};

/// The shape stored in operand 1.
pub(in crate::tf::op) fn sparse_to_dense(cx: &Node<'_>) -> Shapes {
    Ok(vec![cx.shape_in(1)?])
}

pub(in crate::tf::op) fn sparse_dense_matmul(cx: &Node<'_>) -> Shapes {
    let ([n, _], [count], [b_rows, b_columns]) = (cx.dims::<2>(0)?, cx.dims::<1>(1)?, cx.dims::<2>(3)?);
    cx.same(n, count)?;
    let shape = cx.merged(&cx.shape_in(2)?, &PartialShape::of_rank(2))?;
    let (rows, columns) = match shape.as_slice() {
        Some(&[rows, columns]) => (rows, columns),
        _ => (None, None),
    };
    let (rows, columns) = if cx.attrs.bool("adjoint_a")? { (columns, rows) } else { (rows, columns) };
    let (inner, width) = if cx.attrs.bool("adjoint_b")? { (b_columns, b_rows) } else { (b_rows, b_columns) };
    cx.same(columns, inner)?;
    Ok(vec![PartialShape::new(vec![rows, width])])
}

/// Vectors of splits, and values whose first dimension depends on the selected rows.
pub(in crate::tf::op) fn ragged_gather(cx: &Node<'_>) -> Shapes {
    let n = cx.operands.len();
    let mut shapes = vec![PartialShape::of_rank(1); cx.n_results.saturating_sub(1)];
    shapes.push(match cx.at_least(n.saturating_sub(2), 1)? {
        Some([_, inner @ ..]) => PartialShape::new([&[None], inner].concat()),
        _ => PartialShape::unknown(),
    });
    Ok(shapes)
}

pub(in crate::tf::op) fn ragged_bincount(cx: &Node<'_>) -> Shapes {
    let ([n_splits], size) = (cx.dims::<1>(0)?, cx.count(2)?);
    Ok(vec![PartialShape::new(vec![n_splits.map(|n| n.saturating_sub(1)), size])])
}

/// The rank of the values and of the partitions; the sizes of the values behind the ragged axes, and those
/// that the shape operand gives.
pub(in crate::tf::op) fn ragged_to_tensor(cx: &Node<'_>) -> Shapes {
    let types = cx.attrs.strings("row_partition_types")?;
    let n_ragged = types.iter().filter(|form| *form != "FIRST_DIM_SIZE").count();
    let Some([_, inner @ ..]) = cx.at_least(1, 1)? else { return Ok(vec![PartialShape::unknown()]) };
    let mut dims = vec![None; n_ragged + 1];
    dims.extend(inner);
    if let Some(wanted) = cx.ints(0)?.filter(|wanted| wanted.len() == dims.len()) {
        for (dim, wanted) in dims.iter_mut().zip(wanted) {
            *dim = usize::try_from(wanted).ok().or(*dim);
        }
    }
    Ok(vec![PartialShape::new(dims)])
}

/// A sparse tensor of counts: a vector, or rows of them.
pub(in crate::tf::op) fn counts(cx: &Node<'_>) -> Shapes {
    let rank = match cx.op() {
        "DenseCountSparseOutput" => cx.shape(0)?.as_slice().map(<[Dim]>::len),
        "SparseCountSparseOutput" => cx.length(2)?.map(|axes| axes.min(2)),
        _ => Some(2),
    };
    let of = |dims: &[Dim]| PartialShape::new(dims.to_vec());
    Ok(vec![of(&[None, rank]), of(&[None]), of(&[rank])])
}
