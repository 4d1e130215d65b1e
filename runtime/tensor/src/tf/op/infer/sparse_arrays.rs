//! Sparse tensors: movement, arithmetic, and reductions of selected rows by segment.

use super::{Dim, Node, PartialShape, Shapes, sum};
use crate::TensorError;

fn of(dims: &[Dim]) -> PartialShape {
    PartialShape::new(dims.to_vec())
}

/// The number of entries and the rank of a sparse tensor, from its coordinates, values and shape.
fn entries(
    cx: &Node<'_>,
    indices: usize,
    values: Option<usize>,
    shape: Option<usize>,
) -> Result<[Dim; 2], TensorError> {
    let [mut n, mut rank] = cx.dims::<2>(indices)?;
    if let Some(values) = values {
        let [count] = cx.dims::<1>(values)?;
        n = cx.same(n, count)?;
    }
    if let Some(shape) = shape {
        let [sizes] = cx.dims::<1>(shape)?;
        rank = cx.same(rank, sizes)?;
    }
    Ok([n, rank])
}

/// The same entries.
pub(in crate::tf::op) fn sparse_reorder(cx: &Node<'_>) -> Shapes {
    let [n, rank] = entries(cx, 0, Some(1), Some(2))?;
    Ok(vec![of(&[n, rank]), of(&[n])])
}

pub(in crate::tf::op) fn sparse_reshape(cx: &Node<'_>) -> Shapes {
    let ([n, _], [rank]) = (entries(cx, 0, None, Some(1))?, cx.dims::<1>(2)?);
    Ok(vec![of(&[n, rank]), of(&[rank])])
}

/// All entries of the operands, if their numbers are known.
pub(in crate::tf::op) fn sparse_concat(cx: &Node<'_>) -> Shapes {
    let each = cx.operands.len() / 3;
    let (mut n, mut rank) = (Some(0), None);
    for i in 0..each {
        let [own, own_rank] = entries(cx, i, Some(each + i), Some(2 * each + i))?;
        (n, rank) = (sum(n, own)?, cx.same(rank, own_rank)?);
    }
    Ok(vec![of(&[n, rank]), of(&[n]), of(&[rank])])
}

/// Coordinates, values and shapes of parts.
pub(in crate::tf::op) fn sparse_split(cx: &Node<'_>) -> Shapes {
    let [_, rank] = entries(cx, 1, Some(2), Some(3))?;
    let n = cx.n_results / 3;
    let mut shapes = vec![of(&[None, rank]); n];
    shapes.extend(vec![of(&[None]); n]);
    shapes.extend(vec![of(&[rank]); n]);
    Ok(shapes)
}

/// The entries of both.
pub(in crate::tf::op) fn sparse_extreme(cx: &Node<'_>) -> Shapes {
    sparse_add(cx).map(|mut shapes| {
        shapes.truncate(2);
        shapes
    })
}

/// A number for each small integer, in each row of a tensor with more than one axis.
pub(in crate::tf::op) fn sparse_bincount(cx: &Node<'_>) -> Shapes {
    let ([_, rank], size) = (entries(cx, 0, Some(1), Some(2))?, cx.count(3)?);
    Ok(vec![match (rank, cx.shape_in(2)?.as_slice()) {
        (Some(1), _) => of(&[size]),
        (_, Some([rows, _, ..])) => of(&[*rows, size]),
        (Some(_), _) => of(&[None, size]),
        (None, _) => PartialShape::unknown(),
    }])
}

/// Coordinates, values and shape of a sparse matrix.
pub(in crate::tf::op) fn sparse_cross(_: &Node<'_>) -> Shapes {
    Ok(vec![of(&[None, Some(2)]), of(&[None]), of(&[Some(2)])])
}

/// Some of the entries.
pub(in crate::tf::op) fn sparse_slice(cx: &Node<'_>) -> Shapes {
    let [_, rank] = entries(cx, 0, Some(1), Some(2))?;
    Ok(vec![of(&[None, rank]), of(&[None]), of(&[rank])])
}

/// A number for each entry of operand 1.
pub(in crate::tf::op) fn sparse_slice_grad(cx: &Node<'_>) -> Shapes {
    let [n, _] = entries(cx, 1, None, Some(2))?;
    Ok(vec![of(&[n])])
}

pub(in crate::tf::op) fn sparse_fill_empty_rows(cx: &Node<'_>) -> Shapes {
    let [n, rank] = entries(cx, 0, Some(1), Some(2))?;
    let rows = match cx.shape_in(2)?.as_slice() {
        Some([rows, ..]) => *rows,
        _ => None,
    };
    Ok(vec![of(&[None, rank]), of(&[None]), of(&[rows]), of(&[n])])
}

pub(in crate::tf::op) fn sparse_fill_empty_rows_grad(cx: &Node<'_>) -> Shapes {
    let ([n], [_]) = (cx.dims::<1>(0)?, cx.dims::<1>(1)?);
    Ok(vec![of(&[n]), of(&[])])
}

/// The rank, if the shape operand tells it.
pub(in crate::tf::op) fn sparse_reduce(cx: &Node<'_>) -> Shapes {
    let [_, rank] = entries(cx, 0, Some(1), Some(2))?;
    let keep_dims = cx.attrs.bool("keep_dims")?;
    let shape = cx.shape_in(2)?;
    let (Some(dims), Some(axes)) = (shape.as_slice(), cx.ints(3)?) else {
        return Ok(vec![if keep_dims { cx.of_rank(rank)? } else { PartialShape::unknown() }]);
    };
    let mut is_reduced = vec![false; dims.len()];
    for axis in axes {
        is_reduced[cx.axis(axis, dims.len())?] = true;
    }
    let of_axis = |(&dim, is_reduced): (&Dim, bool)| match (is_reduced, keep_dims) {
        (false, _) => Some(dim),
        (true, true) => Some(Some(1)),
        (true, false) => None,
    };
    Ok(vec![PartialShape::new(dims.iter().zip(is_reduced).filter_map(of_axis).collect())])
}

pub(in crate::tf::op) fn sparse_add(cx: &Node<'_>) -> Shapes {
    let ([_, rank], [_, other]) = (entries(cx, 0, Some(1), Some(2))?, entries(cx, 3, Some(4), Some(5))?);
    let rank = cx.same(rank, other)?;
    Ok(vec![of(&[None, rank]), of(&[None]), of(&[rank])])
}

pub(in crate::tf::op) fn sparse_add_grad(cx: &Node<'_>) -> Shapes {
    let ([n_a, rank], [n_b, other]) = (entries(cx, 1, None, None)?, entries(cx, 2, None, None)?);
    cx.same(rank, other)?;
    Ok(vec![of(&[n_a]), of(&[n_b])])
}

/// The shape of the dense operand.
pub(in crate::tf::op) fn sparse_dense_add(cx: &Node<'_>) -> Shapes {
    let [_, rank] = entries(cx, 0, Some(1), Some(2))?;
    Ok(vec![cx.merged(cx.shape(3)?, &cx.of_rank(rank)?)?])
}

/// The shape of the values.
pub(in crate::tf::op) fn sparse_dense_cwise(cx: &Node<'_>) -> Shapes {
    let [n, _] = entries(cx, 0, Some(1), Some(2))?;
    Ok(vec![of(&[n])])
}

/// Rows of operand 0, in the number that operand 3 gives.
pub(in crate::tf::op) fn sparse_segment(cx: &Node<'_>) -> Shapes {
    let ([n], [count]) = (cx.dims::<1>(1)?, cx.dims::<1>(2)?);
    cx.same(n, count)?;
    let n_rows = if cx.operands.len() > 3 { cx.count(3)? } else { super::arrays::n_segments(cx, 2)? };
    Ok(vec![match cx.at_least(0, 1)? {
        Some([_, rest @ ..]) => PartialShape::new([&[n_rows], rest].concat()),
        _ => PartialShape::unknown(),
    }])
}

/// [`sparse_segment`], and the indices of the rows if only those are returned.
pub(in crate::tf::op) fn sparse_segment_grad(cx: &Node<'_>) -> Shapes {
    let mut shapes = sparse_segment(cx)?;
    if cx.n_results > 1 {
        if let Some([_, rest @ ..]) = shapes[0].as_slice() {
            shapes[0] = PartialShape::new([&[None], rest].concat());
        }
        shapes.push(of(&[None]));
    }
    Ok(shapes)
}

/// Coordinates, numbers and shape of sparse sets of a rank.
fn sets(cx: &Node<'_>, rank: Dim) -> Shapes {
    if rank.is_some_and(|rank| rank < 2) {
        return cx.refuse("sets of a tensor of rank 1 or less".to_owned());
    }
    Ok(vec![of(&[None, rank]), of(&[None]), of(&[rank])])
}

pub(in crate::tf::op) fn dense_sets(cx: &Node<'_>) -> Shapes {
    sets(cx, cx.same(cx.shape(0)?.rank(), cx.shape(1)?.rank())?)
}

pub(in crate::tf::op) fn dense_and_sparse_sets(cx: &Node<'_>) -> Shapes {
    let [_, rank] = entries(cx, 1, Some(2), Some(3))?;
    sets(cx, cx.same(cx.shape(0)?.rank(), rank)?)
}

pub(in crate::tf::op) fn sparse_sets(cx: &Node<'_>) -> Shapes {
    let ([_, a], [_, b]) = (entries(cx, 0, Some(1), Some(2))?, entries(cx, 3, Some(4), Some(5))?);
    sets(cx, cx.same(a, b)?)
}

/// A number for each set: the shape without its last size.
pub(in crate::tf::op) fn set_size(cx: &Node<'_>) -> Shapes {
    let [_, rank] = entries(cx, 0, Some(1), Some(2))?;
    sets(cx, rank)?;
    Ok(vec![match cx.shape_in(2)?.as_slice() {
        Some([outer @ .., _]) => of(outer),
        _ => PartialShape::unknown(),
    }])
}

/// Splits of rows, and as many numbers as they have.
pub(in crate::tf::op) fn ragged_range(cx: &Node<'_>) -> Shapes {
    let mut rows = Some(1);
    for (i, operand) in cx.operands.iter().enumerate() {
        match operand.shape.as_slice() {
            Some([]) => {}
            Some(&[n]) => rows = n,
            Some(dims) => return cx.refuse(format!("operand {i} has rank {}", dims.len())),
            None => rows = None,
        }
    }
    Ok(vec![of(&[sum(rows, Some(1))?]), of(&[None])])
}

/// Coordinates, values and shape of a tensor with an axis for each list of splits and those of the values.
pub(in crate::tf::op) fn ragged_to_sparse(cx: &Node<'_>) -> Shapes {
    let n_splits = cx.operands.len().saturating_sub(1);
    let values = cx.shape(n_splits)?;
    let n = values
        .as_slice()
        .map_or(Ok(None), |dims| dims.iter().try_fold(Some(1), |n, &dim| super::product(n, dim)));
    let (n, rank) = (n?, values.rank().map(|rank| rank + n_splits));
    Ok(vec![of(&[n, rank]), of(&[n]), of(&[rank])])
}
