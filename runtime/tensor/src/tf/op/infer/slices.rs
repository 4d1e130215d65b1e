//! Slices: the known length of each axis.

use super::rules::same;
use super::{Node, PartialShape, Shapes};
use crate::{MAX_RANK, TensorError};

pub(in crate::tf::op) fn strided_slice(cx: &Node<'_>) -> Shapes {
    Ok(vec![strided(cx, cx.shape(0)?)?])
}

pub(in crate::tf::op) fn strided_slice_grad(cx: &Node<'_>) -> Shapes {
    let shape = cx.shape_in(0)?;
    cx.merged(&strided(cx, &shape)?, cx.shape(4)?)?;
    Ok(vec![shape])
}

pub(in crate::tf::op) fn tensor_strided_slice_update(cx: &Node<'_>) -> Shapes {
    strided(cx, cx.shape(0)?)?;
    same(cx)
}

pub(in crate::tf::op) fn slice(cx: &Node<'_>) -> Shapes {
    let (begin, size) = (cx.ints(1)?, cx.ints(2)?);
    let mut known = cx.of_rank(cx.shape(0)?.rank())?;
    for operand in [1, 2] {
        known = cx.merged(&known, &cx.of_rank(cx.length(operand)?)?)?;
    }
    let Some(rank) = known.rank() else { return Ok(vec![known]) };
    let mut shape = Vec::with_capacity(rank);
    for i in 0..rank {
        let dim = cx.shape(0)?.as_slice().and_then(|dims| dims[i]);
        let begin = begin.as_ref().map(|begin| begin[i]);
        let size = size.as_ref().map(|size| size[i]);
        let refused = || cx.refuse(format!("begin {begin:?} and size {size:?} on axis {i}"));
        if begin.is_some_and(|begin| begin < 0) || size.is_some_and(|size| size < -1) {
            return refused();
        }
        let start = begin.and_then(|begin| usize::try_from(begin).ok());
        let len = size.and_then(|size| usize::try_from(size).ok());
        let rest = match (dim, start) {
            (Some(dim), Some(start)) if start > dim => return refused(),
            (Some(dim), start) => Some(dim - start.unwrap_or(0)),
            (None, _) => None,
        };
        if let (Some(len), Some(rest)) = (len, rest)
            && len > rest
        {
            return refused();
        }
        shape.push(match size {
            Some(-1) if start.is_some() => rest,
            _ => len,
        });
    }
    Ok(vec![PartialShape::new(shape)])
}

/// The shape of a strided slice of `shape`; operands 1 to 3 are `begin`, `end` and `strides`.
fn strided(cx: &Node<'_>, shape: &PartialShape) -> Result<PartialShape, TensorError> {
    let lists = [cx.ints(1)?, cx.ints(2)?, cx.ints(3)?];
    let mut n = None;
    for operand in 1..4 {
        n = cx.same(n, cx.length(operand)?)?;
    }
    let mask = |name| cx.attrs.int(name).map(|mask| move |i: usize| mask as u64 >> i & 1 == 1);
    let (from_first, to_last, ellipsis) = (mask("begin_mask")?, mask("end_mask")?, mask("ellipsis_mask")?);
    let (new_axis, shrinks) = (mask("new_axis_mask")?, mask("shrink_axis_mask")?);
    let (Some(n), Some(dims)) = (n, shape.as_slice()) else { return Ok(PartialShape::unknown()) };
    let n_taken = (0..n.min(MAX_RANK)).filter(|&i| !ellipsis(i) && !new_axis(i)).count();
    let n_ellipses = (0..n.min(MAX_RANK)).filter(|&i| ellipsis(i)).count();
    if n > MAX_RANK || n_ellipses > 1 || n_taken > dims.len() {
        return cx.refuse(format!("{n} entries"));
    }
    let mut axes = dims.iter().copied();
    let mut sliced = Vec::new();
    for i in 0..n {
        if ellipsis(i) {
            sliced.extend(axes.by_ref().take(dims.len() - n_taken));
            continue;
        }
        if new_axis(i) {
            sliced.push(Some(1));
            continue;
        }
        let dim = axes.next().flatten();
        let [begin, end, stride] = lists.each_ref().map(|list| list.as_ref().map(|list| list[i]));
        if stride == Some(0) || (shrinks(i) && stride.is_some_and(|stride| stride < 0)) {
            return cx.refuse(format!("a stride of {stride:?} in entry {i}"));
        }
        if shrinks(i) {
            if let (Some(dim), Some(begin)) = (dim, begin) {
                cx.axis(begin, dim)?;
            }
            continue;
        }
        let (begin, end) = (begin.filter(|_| !from_first(i)), end.filter(|_| !to_last(i)));
        let is_known = (begin.is_some() || from_first(i)) && (end.is_some() || to_last(i));
        sliced.push(match (dim, stride) {
            (Some(dim), Some(stride)) if is_known => Some(length(dim, begin, end, stride)),
            _ => None,
        });
    }
    sliced.extend(axes);
    Ok(PartialShape::new(sliced))
}

/// The number of positions taken from an axis, from `begin` (or the first) to before `end` (or the last);
/// counted as by `plan` in `tf/slices.rs`.
fn length(dim: usize, begin: Option<i64>, end: Option<i64>, stride: i64) -> usize {
    let len = dim as i128;
    let (low, high) = if stride > 0 { (0, len) } else { (-1, len - 1) };
    let (first, last) = if stride > 0 { (low, high) } else { (high, low) };
    let place = |p: i64| (i128::from(p) + if p < 0 { len } else { 0 }).clamp(low, high);
    let (first, last) = (begin.map_or(first, place), end.map_or(last, place));
    let distance = if stride > 0 { last - first } else { first - last };
    if distance > 0 { ((distance - 1) / i128::from(stride).abs() + 1) as usize } else { 0 }
}
