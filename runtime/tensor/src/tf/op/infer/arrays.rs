//! Reductions, reshapes, and tensors created from shapes, positions and indices.

use super::rules::same;
use super::{Dim, Node, PartialShape, Shapes, broadcast, product, sum};
use crate::TensorError;
use crate::tf;
use crate::tf::create::range_len;
use crate::tf::diagonal::{Band, sizes_around};
use crate::tf::index::indices_of;

pub(in crate::tf::op) fn arg_extreme(cx: &Node<'_>) -> Shapes {
    let Some(dims) = cx.at_least(0, 1)? else { return Ok(vec![PartialShape::unknown()]) };
    Ok(vec![match cx.int(1)? {
        Some(axis) => without(dims, cx.axis(axis, dims.len())?),
        None => PartialShape::of_rank(dims.len() - 1),
    }])
}

pub(in crate::tf::op) fn softmax(cx: &Node<'_>) -> Shapes {
    cx.at_least(0, 1).and_then(|_| same(cx))
}

pub(in crate::tf::op) fn matrix_band_part(cx: &Node<'_>) -> Shapes {
    cx.at_least(0, 2).and_then(|_| same(cx))
}

pub(in crate::tf::op) fn invert_permutation(cx: &Node<'_>) -> Shapes {
    Ok(vec![PartialShape::new(cx.dims::<1>(0)?.to_vec())])
}

pub(in crate::tf::op) fn reverse_v2(cx: &Node<'_>) -> Shapes {
    if let (Some(axes), Some(rank)) = (cx.ints(1)?, cx.shape(0)?.rank()) {
        axis_set(cx, &axes, rank)?;
    }
    same(cx)
}

pub(in crate::tf::op) fn reverse(cx: &Node<'_>) -> Shapes {
    let [n] = cx.dims::<1>(1)?;
    Ok(vec![cx.merged(cx.shape(0)?, &cx.of_rank(n)?)?])
}

pub(in crate::tf::op) fn shape(cx: &Node<'_>) -> Shapes {
    Ok(vec![PartialShape::new(vec![cx.shape(0)?.rank()])])
}

pub(in crate::tf::op) fn shape_n(cx: &Node<'_>) -> Shapes {
    Ok(cx.operands.iter().map(|operand| PartialShape::new(vec![operand.shape.rank()])).collect())
}

pub(in crate::tf::op) fn expand_dims(cx: &Node<'_>) -> Shapes {
    let Some(dims) = cx.shape(0)?.as_slice() else { return Ok(vec![PartialShape::unknown()]) };
    let Some(axis) = cx.int(1)? else { return Ok(vec![PartialShape::of_rank(dims.len() + 1)]) };
    Ok(vec![with(dims, cx.axis(axis, dims.len() + 1)?, Some(1))])
}

pub(in crate::tf::op) fn fill(cx: &Node<'_>) -> Shapes {
    Ok(vec![cx.shape_in(0)?])
}

pub(in crate::tf::op) fn broadcast_to(cx: &Node<'_>) -> Shapes {
    let target = cx.shape_in(1)?;
    match broadcast(cx.shape(0)?, &target) {
        Some(shape) if shape.merged(&target).is_some() => Ok(vec![target]),
        _ => cx.refuse(format!("no broadcast to shape {target}")),
    }
}

pub(in crate::tf::op) fn broadcast_args(cx: &Node<'_>) -> Shapes {
    if let (Some(a), Some(b)) = (cx.shape_in(0)?.shape(), cx.shape_in(1)?.shape()) {
        tf::broadcast_args(&a, &b)?;
    }
    let rank = cx.length(0)?.zip(cx.length(1)?).map(|(a, b)| a.max(b));
    Ok(vec![PartialShape::new(vec![rank])])
}

pub(in crate::tf::op) fn broadcast_gradient_args(_: &Node<'_>) -> Shapes {
    Ok(vec![PartialShape::of_rank(1); 2])
}

pub(in crate::tf::op) fn range(cx: &Node<'_>) -> Shapes {
    let constants = (cx.operand(0)?.constant, cx.operand(1)?.constant, cx.operand(2)?.constant);
    let (Some(start), Some(limit), Some(delta)) = constants else {
        return Ok(vec![PartialShape::of_rank(1)]);
    };
    Ok(vec![PartialShape::new(vec![Some(range_len(start, limit, delta)?)])])
}

pub(in crate::tf::op) fn lin_space(cx: &Node<'_>) -> Shapes {
    Ok(vec![PartialShape::new(vec![cx.count(2)?])])
}

pub(in crate::tf::op) fn indices_of_true(cx: &Node<'_>) -> Shapes {
    Ok(vec![PartialShape::new(vec![None, cx.shape(0)?.rank()])])
}

pub(in crate::tf::op) fn unique(cx: &Node<'_>) -> Shapes {
    let [n] = cx.dims::<1>(0)?;
    Ok(vec![PartialShape::of_rank(1), PartialShape::new(vec![n])])
}

pub(in crate::tf::op) fn unique_v2(cx: &Node<'_>) -> Shapes {
    let Some(dims) = cx.shape(0)?.as_slice() else {
        return Ok(vec![PartialShape::unknown(), PartialShape::of_rank(1)]);
    };
    let (mut values, mut n) = (dims.to_vec(), None);
    match cx.ints(1)?.as_deref() {
        Some(axes) => {
            let at = cx.axis(axes.first().copied().unwrap_or(0), dims.len())?;
            n = dims[at];
            values[at] = None;
        }
        None => values.fill(None),
    }
    Ok(vec![PartialShape::new(values), PartialShape::new(vec![n])])
}

/// [`unique_v2`], and a number for each distinct slice.
pub(in crate::tf::op) fn unique_with_counts_v2(cx: &Node<'_>) -> Shapes {
    let mut shapes = unique_v2(cx)?;
    shapes.push(PartialShape::of_rank(1));
    Ok(shapes)
}

/// For each size, an index for each position.
pub(in crate::tf::op) fn unravel_index(cx: &Node<'_>) -> Shapes {
    let (indices, [n]) = (cx.shape(0)?, cx.dims::<1>(1)?);
    Ok(vec![match indices.as_slice() {
        Some(dims) if dims.len() < 2 => PartialShape::new([&[n], dims].concat()),
        Some(dims) => return cx.refuse(format!("indices of rank {}, expected 1 or less", dims.len())),
        None => PartialShape::unknown(),
    }])
}

pub(in crate::tf::op) fn list_diff(cx: &Node<'_>) -> Shapes {
    let ([_], [_]) = (cx.dims::<1>(0)?, cx.dims::<1>(1)?);
    Ok(vec![PartialShape::of_rank(1); 2])
}

pub(in crate::tf::op) fn sorted_bounds(cx: &Node<'_>) -> Shapes {
    Ok(vec![cx.shape(1)?.clone()])
}

pub(in crate::tf::op) fn bincount(cx: &Node<'_>) -> Shapes {
    Ok(vec![PartialShape::new(vec![cx.count(1)?])])
}

pub(in crate::tf::op) fn dense_bincount(cx: &Node<'_>) -> Shapes {
    let size = cx.count(1)?;
    Ok(vec![match cx.shape(0)?.as_slice() {
        Some([] | [_]) => PartialShape::new(vec![size]),
        Some([rows, _]) => PartialShape::new(vec![*rows, size]),
        Some(dims) => return cx.refuse(format!("numbers of rank {}", dims.len())),
        None => PartialShape::unknown(),
    }])
}

pub(in crate::tf::op) fn dynamic_partition(cx: &Node<'_>) -> Shapes {
    let (dims, partitions) = (cx.shape(0)?.as_slice(), cx.shape(1)?.as_slice());
    let rest = dims.zip(partitions).map(|(dims, partitions)| dims.get(partitions.len()..));
    let part = match rest {
        Some(Some(rest)) => with(rest, 0, None),
        Some(None) => return cx.refuse("the partitions have more axes than the data".to_owned()),
        None => PartialShape::unknown(),
    };
    Ok(vec![part; cx.n_results])
}

pub(in crate::tf::op) fn space_to_batch_nd(cx: &Node<'_>) -> Shapes {
    batched(
        cx,
        |batch, size| product(batch, Some(size)),
        |len, size, around| Ok(sum(len, Some(around))?.map(|len| len / size)),
    )
}

pub(in crate::tf::op) fn batch_to_space_nd(cx: &Node<'_>) -> Shapes {
    batched(
        cx,
        |batch, size| Ok(batch.map(|batch| batch / size)),
        |len, size, around| Ok(product(len, Some(size))?.map(|len| len.saturating_sub(around))),
    )
}

pub(in crate::tf::op) fn unique_with_counts(cx: &Node<'_>) -> Shapes {
    let [n] = cx.dims::<1>(0)?;
    Ok(vec![PartialShape::of_rank(1), PartialShape::new(vec![n]), PartialShape::of_rank(1)])
}

pub(in crate::tf::op) fn concat_offset(cx: &Node<'_>) -> Shapes {
    Ok(cx.operands.iter().skip(1).map(|operand| operand.shape.clone()).collect())
}

pub(in crate::tf::op) fn variable_shape(_: &Node<'_>) -> Shapes {
    Ok(vec![PartialShape::of_rank(1)])
}

pub(in crate::tf::op) fn gather_v1(cx: &Node<'_>) -> Shapes {
    gather(cx, Some(0), 0)
}

pub(in crate::tf::op) fn gather_v2(cx: &Node<'_>) -> Shapes {
    gather(cx, cx.int(2)?, cx.attrs.int("batch_dims")?)
}

pub(in crate::tf::op) fn one_hot(cx: &Node<'_>) -> Shapes {
    let depth = cx.count(1)?;
    let Some(dims) = cx.shape(0)?.as_slice() else { return Ok(vec![PartialShape::unknown()]) };
    let axis = cx.attrs.int("axis")?;
    let at = if axis == -1 { Some(dims.len()) } else { usize::try_from(axis).ok() };
    match at {
        Some(at) if at <= dims.len() => Ok(vec![with(dims, at, depth)]),
        _ => cx.refuse(format!("there is no axis {axis}")),
    }
}

pub(in crate::tf::op) fn scatter_nd(cx: &Node<'_>) -> Shapes {
    Ok(vec![cx.shape_in(2)?])
}

pub(in crate::tf::op) fn top_k_v1(cx: &Node<'_>) -> Shapes {
    top_k(cx, Some(cx.attrs.count("k")?))
}

pub(in crate::tf::op) fn top_kv2(cx: &Node<'_>) -> Shapes {
    top_k(cx, cx.count(1)?)
}

pub(in crate::tf::op) fn in_top_k(cx: &Node<'_>) -> Shapes {
    let ([rows, _], [n]) = (cx.dims::<2>(0)?, cx.dims::<1>(1)?);
    Ok(vec![PartialShape::new(vec![cx.same(rows, n)?])])
}

pub(in crate::tf::op) fn diag(cx: &Node<'_>) -> Shapes {
    Ok(vec![
        cx.shape(0)?
            .as_slice()
            .map_or(PartialShape::unknown(), |dims| PartialShape::new([dims, dims].concat())),
    ])
}

pub(in crate::tf::op) fn diag_part(cx: &Node<'_>) -> Shapes {
    let Some(dims) = cx.at_least(0, 2)? else { return Ok(vec![PartialShape::unknown()]) };
    let (left, right) = dims.split_at(dims.len() / 2);
    Ok(vec![cx.merged(&PartialShape::new(left.to_vec()), &PartialShape::new(right.to_vec()))?])
}

/// The dimensions with one inserted at `at`.
pub(super) fn with(dims: &[Dim], at: usize, dim: Dim) -> PartialShape {
    let mut dims = dims.to_vec();
    dims.insert(at.min(dims.len()), dim);
    PartialShape::new(dims)
}

/// The dimensions without the one at `at`.
pub(super) fn without(dims: &[Dim], at: usize) -> PartialShape {
    PartialShape::new(dims.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, dim)| *dim).collect())
}

/// A mask of the listed axes.
fn axis_set(cx: &Node<'_>, axes: &[i64], rank: usize) -> Result<Vec<bool>, TensorError> {
    let mut set = vec![false; rank];
    for &axis in axes {
        if std::mem::replace(&mut set[cx.axis(axis, rank)?], true) {
            return cx.refuse(format!("axis {axis} is named twice in {axes:?}"));
        }
    }
    Ok(set)
}

pub(in crate::tf::op) fn reduction(cx: &Node<'_>) -> Shapes {
    let (axes, keep_dims) = (cx.ints(1)?, cx.attrs.bool("keep_dims")?);
    let Some(dims) = cx.shape(0)?.as_slice() else { return Ok(vec![PartialShape::unknown()]) };
    let Some(axes) = axes else {
        return Ok(vec![if keep_dims { PartialShape::of_rank(dims.len()) } else { PartialShape::unknown() }]);
    };
    let set = axis_set(cx, &axes, dims.len())?;
    let kept = dims.iter().zip(set).filter_map(|(&dim, reduced)| match (reduced, keep_dims) {
        (false, _) => Some(dim),
        (true, true) => Some(Some(1)),
        (true, false) => None,
    });
    Ok(vec![PartialShape::new(kept.collect())])
}

pub(in crate::tf::op) fn scan(cx: &Node<'_>) -> Shapes {
    if let (Some(dims), Some(axis)) = (cx.at_least(0, 1)?, cx.int(1)?) {
        cx.axis(axis, dims.len())?;
    }
    same(cx)
}

pub(in crate::tf::op) fn segment(cx: &Node<'_>) -> Shapes {
    let count = cx.count(2)?;
    let (Some(dims), Some(ids)) = (cx.shape(0)?.as_slice(), cx.shape(1)?.as_slice()) else {
        return Ok(vec![PartialShape::unknown()]);
    };
    let Some((first, rest)) = dims.split_at_checked(ids.len()) else {
        return cx.refuse("the ids have more axes than the data".to_owned());
    };
    cx.merged(&PartialShape::new(first.to_vec()), cx.shape(1)?)?;
    Ok(vec![with(rest, 0, count)])
}

pub(in crate::tf::op) fn sorted_segment(cx: &Node<'_>) -> Shapes {
    let [_] = cx.dims::<1>(1)?;
    let rows = n_segments(cx, 1)?;
    let dims = cx.at_least(0, 1)?;
    Ok(vec![dims.map_or(PartialShape::unknown(), |dims| with(&dims[1..], 0, rows))])
}

/// The number of segments of a constant operand of sorted ids.
pub(super) fn n_segments(cx: &Node<'_>, i: usize) -> Result<Dim, TensorError> {
    Ok(cx.ints(i)?.map(|ids| {
        ids.last().map_or(0, |&last| usize::try_from(last).map_or(0, |last| last.saturating_add(1)))
    }))
}

/// The total number of elements.
fn count(dims: &[Dim]) -> Result<Dim, TensorError> {
    dims.iter().try_fold(Some(1), |n, &dim| product(n, dim))
}

pub(in crate::tf::op) fn reshape(cx: &Node<'_>) -> Shapes {
    let target = match (cx.ints(1)?, &cx.operand(1)?.dims) {
        (Some(dims), _) if dims.iter().filter(|&&dim| dim == -1).count() > 1 => {
            return cx.refuse(format!("more than one dimension of {dims:?} is open"));
        }
        (Some(dims), _) => PartialShape::from_i64(&dims)?,
        (None, Some(dims)) => dims.clone(),
        (None, None) => cx.of_rank(cx.length(1)?)?,
    };
    let total = match cx.shape(0)?.as_slice() {
        Some(dims) => count(dims)?,
        None => None,
    };
    let (Some(dims), Some(total)) = (target.as_slice(), total) else { return Ok(vec![target]) };
    let open: Vec<usize> = (0..dims.len()).filter(|&i| dims[i].is_none()).collect();
    let known: Vec<Dim> = dims.iter().copied().filter(Option::is_some).collect();
    let mut dims = dims.to_vec();
    match (&open[..], count(&known)?) {
        ([], Some(n)) if n == total => {}
        (&[at], Some(n)) if n > 0 && total.is_multiple_of(n) => dims[at] = Some(total / n),
        ([_, _, ..], Some(n)) if n == 0 || total.is_multiple_of(n) => {}
        // An unknown size, not one that is left open.
        ([_], Some(0)) if total == 0 && cx.ints(1)?.is_none() => {}
        _ => return cx.refuse(format!("{total} elements do not fit {target}")),
    }
    Ok(vec![PartialShape::new(dims)])
}

pub(in crate::tf::op) fn squeeze(cx: &Node<'_>) -> Shapes {
    let axes = cx.attrs.ints("squeeze_dims")?;
    let Some(dims) = cx.shape(0)?.as_slice() else { return Ok(vec![PartialShape::unknown()]) };
    let set = axis_set(cx, &axes, dims.len())?;
    if axes.is_empty() {
        if dims.contains(&None) {
            return Ok(vec![PartialShape::unknown()]);
        }
        return Ok(vec![PartialShape::new(dims.iter().copied().filter(|dim| *dim != Some(1)).collect())]);
    }
    if let Some(at) = (0..dims.len()).find(|&i| set[i] && dims[i].is_some_and(|dim| dim != 1)) {
        return cx.refuse(format!("axis {at} is not 1 long"));
    }
    Ok(vec![PartialShape::new(
        dims.iter().zip(set).filter(|(_, named)| !named).map(|(dim, _)| *dim).collect(),
    )])
}

fn gather(cx: &Node<'_>, axis: Option<i64>, batch_dims: i64) -> Shapes {
    let (Some(dims), Some(rows)) = (cx.at_least(0, 1)?, cx.shape(1)?.as_slice()) else {
        return Ok(vec![PartialShape::unknown()]);
    };
    let n_batch = if batch_dims < 0 { batch_dims.saturating_add(rows.len() as i64) } else { batch_dims };
    let n_batch = usize::try_from(n_batch).ok().filter(|&n| n <= rows.len() && n < dims.len());
    let Some(n_batch) = n_batch else { return cx.refuse(format!("there are no {batch_dims} batch axes")) };
    let Some(axis) = axis else {
        return Ok(vec![PartialShape::of_rank(dims.len() - 1 + rows.len() - n_batch)]);
    };
    let at = cx.axis(axis, dims.len())?;
    if n_batch > at {
        return cx.refuse(format!("axis {axis} is one of the {n_batch} batch axes"));
    }
    let mut shape = Vec::with_capacity(dims.len() + rows.len());
    for (a, b) in dims.iter().zip(rows).take(n_batch) {
        shape.push(cx.same(*a, *b)?);
    }
    shape.extend(&dims[n_batch..at]);
    shape.extend(&rows[n_batch..]);
    shape.extend(&dims[at + 1..]);
    Ok(vec![PartialShape::new(shape)])
}

pub(in crate::tf::op) fn gather_nd(cx: &Node<'_>) -> Shapes {
    let (dims, indices) = (cx.shape(0)?.as_slice(), cx.at_least(1, 1)?);
    let (Some(dims), Some((&Some(depth), outer))) = (dims, indices.and_then(|indices| indices.split_last()))
    else {
        return Ok(vec![PartialShape::unknown()]);
    };
    match dims.get(depth..) {
        Some(rest) => Ok(vec![PartialShape::new([outer, rest].concat())]),
        _ => cx.refuse(format!("indices of {depth} axes")),
    }
}

fn top_k(cx: &Node<'_>, k: Dim) -> Shapes {
    let dims = cx.at_least(0, 1)?;
    let Some((&last, outer)) = dims.and_then(|dims| dims.split_last()) else {
        return Ok(vec![PartialShape::unknown(); 2]);
    };
    if let (Some(k), Some(n)) = (k, last)
        && k > n
    {
        return cx.refuse(format!("the {k} largest of {n}"));
    }
    Ok(vec![with(outer, outer.len(), k); 2])
}

pub(in crate::tf::op) fn matrix_diag(cx: &Node<'_>) -> Shapes {
    let dims = cx.at_least(0, 1)?;
    let last = dims.and_then(|dims| dims.last().map(|last| with(dims, dims.len(), *last)));
    Ok(vec![last.unwrap_or(PartialShape::unknown())])
}

/// The band in operand 1, if it is constant.
fn band(cx: &Node<'_>) -> Result<Option<Band>, TensorError> {
    match cx.ints(1)?.as_deref() {
        Some(&[lower, .., upper] | &[lower @ upper]) => Ok(Some(Band { lower, upper, ..Band::MAIN })),
        Some([]) => cx.refuse("no diagonals".to_owned()),
        None => Ok(None),
    }
}

pub(in crate::tf::op) fn matrices_around(cx: &Node<'_>) -> Shapes {
    let Some((dims, band)) = cx.at_least(0, 1)?.zip(band(cx)?) else {
        return Ok(vec![PartialShape::unknown()]);
    };
    let batch = if band.lower == band.upper { dims.len() - 1 } else { dims.len().saturating_sub(2) };
    let mut shape = dims[..batch].to_vec();
    match (dims.last().copied().flatten(), cx.int(2)?, cx.int(3)?) {
        (Some(longest), Some(rows), Some(cols)) => {
            let asked = [rows, cols].map(|size| usize::try_from(size).ok());
            shape.extend(sizes_around(cx.op(), &band, longest, asked)?.map(Some));
        }
        _ => shape.extend([None; 2]),
    }
    Ok(vec![PartialShape::new(shape)])
}

pub(in crate::tf::op) fn diagonals(cx: &Node<'_>) -> Shapes {
    let Some(([batch @ .., rows, cols], band)) = cx.at_least(0, 2)?.zip(band(cx)?) else {
        return Ok(vec![PartialShape::unknown()]);
    };
    let (mut shape, sizes) = (batch.to_vec(), rows.zip(*cols));
    if band.lower != band.upper {
        shape.push(sizes.map(|(rows, cols)| band.count(cx.op(), rows, cols)).transpose()?);
    }
    shape.push(match sizes {
        Some((rows, cols)) => band.count(cx.op(), rows, cols).map(|_| Some(band.longest(rows, cols)))?,
        None => None,
    });
    Ok(vec![PartialShape::new(shape)])
}

/// Common rule of `SpaceToBatchND` and `BatchToSpaceND`. `batch` maps the batch dimension once per block
/// size. `space` maps a spatial dimension with its block size and its total padding or cropping.
fn batched(
    cx: &Node<'_>,
    batch: impl Fn(Dim, usize) -> Result<Dim, TensorError>,
    space: impl Fn(Dim, usize, usize) -> Result<Dim, TensorError>,
) -> Shapes {
    let Some(dims) = cx.at_least(0, 1)? else { return Ok(vec![PartialShape::unknown()]) };
    // The first versions are of images, with an attribute for both axes.
    let (sizes, pairs) = match cx.attrs.signature().attr("block_size") {
        Some(_) => (cx.dims::<4>(0).and(cx.attrs.int("block_size")).map(|size| Some(vec![size; 2]))?, 1),
        None => (cx.ints(1)?, 2),
    };
    let around = cx.operand(pairs)?.constant.map(|around| indices_of(cx.op(), around)).transpose()?;
    let Some((sizes, around)) = sizes.zip(around) else {
        return Ok(vec![PartialShape::of_rank(dims.len())]);
    };
    let mut shape = dims.to_vec();
    for (i, (size, around)) in sizes.iter().zip(around.chunks_exact(2)).enumerate() {
        let size = usize::try_from(*size).ok().filter(|&size| size > 0);
        let around = around[0].checked_add(around[1]).and_then(|around| usize::try_from(around).ok());
        match (size.zip(around), shape.get(i + 1)) {
            (Some((size, around)), Some(&len)) => {
                shape[0] = batch(shape[0], size)?;
                shape[i + 1] = space(len, size, around)?;
            }
            _ => return cx.refuse(format!("blocks of {sizes:?}")),
        }
    }
    Ok(vec![PartialShape::new(shape)])
}

pub(in crate::tf::op) fn matrix_diag_part(cx: &Node<'_>) -> Shapes {
    let Some([batch @ .., rows, cols]) = cx.at_least(0, 2)? else { return Ok(vec![PartialShape::unknown()]) };
    let n = rows.zip(*cols).map(|(rows, cols)| rows.min(cols));
    Ok(vec![with(batch, batch.len(), n)])
}

/// The sum of dimensions.
pub(super) fn total(dims: impl Iterator<Item = Dim>) -> Result<Dim, TensorError> {
    dims.into_iter().try_fold(Some(0), sum)
}

/// The number of parts.
pub(in crate::tf::op) fn histogram(cx: &Node<'_>) -> Shapes {
    cx.merged(cx.shape(1)?, &PartialShape::new(vec![Some(2)]))?;
    Ok(vec![PartialShape::new(vec![cx.count(2)?])])
}

/// A number for each row.
pub(in crate::tf::op) fn nth_element(cx: &Node<'_>) -> Shapes {
    Ok(vec![match cx.at_least(0, 1)? {
        Some([outer @ .., _]) => PartialShape::new(outer.to_vec()),
        _ => PartialShape::unknown(),
    }])
}

/// The axes of both shapes but the last one.
pub(in crate::tf::op) fn edit_distance(cx: &Node<'_>) -> Shapes {
    let (ours, theirs) = (cx.shape_in(2)?, cx.shape_in(5)?);
    Ok(vec![match (ours.as_slice(), theirs.as_slice()) {
        (Some([ours @ .., _]), Some([theirs @ .., _])) => {
            let larger = |(&a, &b): (&Dim, &Dim)| a.zip(b).map(|(a, b)| a.max(b));
            PartialShape::new(ours.iter().zip(theirs).map(larger).collect())
        }
        _ => PartialShape::unknown(),
    }])
}

/// The shape of the operands that are not scalars.
pub(in crate::tf::op) fn betainc(cx: &Node<'_>) -> Shapes {
    super::strings::join(cx)
}
