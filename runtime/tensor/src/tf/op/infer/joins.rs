//! Concatenations, splits, pads and permutations.

use super::arrays::{total, with, without};
use super::{Dim, Node, PartialShape, Shapes, product, sum};
use crate::TensorError;

pub(in crate::tf::op) fn concat_v2(cx: &Node<'_>) -> Shapes {
    let n = cx.operands.len().saturating_sub(1);
    concat(cx, 0..n, cx.int(n)?)
}

pub(in crate::tf::op) fn concat_v1(cx: &Node<'_>) -> Shapes {
    concat(cx, 1..cx.operands.len(), cx.int(0)?)
}

pub(in crate::tf::op) fn parallel_concat(cx: &Node<'_>) -> Shapes {
    concat(cx, 0..cx.operands.len(), Some(0))
}

pub(in crate::tf::op) fn pack(cx: &Node<'_>) -> Shapes {
    let axis = cx.attrs.int("axis")?;
    let all = cx.operands.iter().try_fold(PartialShape::unknown(), |all, x| cx.merged(&all, &x.shape))?;
    let Some(dims) = all.as_slice() else { return Ok(vec![PartialShape::unknown()]) };
    Ok(vec![with(dims, cx.axis(axis, dims.len() + 1)?, Some(cx.operands.len()))])
}

pub(in crate::tf::op) fn unpack(cx: &Node<'_>) -> Shapes {
    let axis = cx.attrs.int("axis")?;
    let Some(dims) = cx.at_least(0, 1)? else { return Ok(vec![PartialShape::unknown(); cx.n_results]) };
    let at = cx.axis(axis, dims.len())?;
    cx.same(dims[at], Some(cx.n_results))?;
    Ok(vec![without(dims, at); cx.n_results])
}

pub(in crate::tf::op) fn split(cx: &Node<'_>) -> Shapes {
    let n = cx.n_results;
    let Some(dims) = cx.at_least(1, 1)? else { return Ok(vec![PartialShape::unknown(); n]) };
    let Some(axis) = cx.int(0)? else { return Ok(vec![PartialShape::of_rank(dims.len()); n]) };
    let at = cx.axis(axis, dims.len())?;
    let part = match dims[at] {
        Some(len) if n == 0 || !len.is_multiple_of(n) => {
            return cx.refuse(format!("axis {at} cannot be split into {n} equal parts"));
        }
        len => len.map(|len| len / n),
    };
    Ok(vec![replaced(dims, at, part); n])
}

pub(in crate::tf::op) fn pad_constant(cx: &Node<'_>) -> Shapes {
    pad(cx, usize::MAX)
}

pub(in crate::tf::op) fn mirror_pad(cx: &Node<'_>) -> Shapes {
    pad(cx, mirrored(cx)?)
}

pub(in crate::tf::op) fn mirror_pad_grad(cx: &Node<'_>) -> Shapes {
    let limit = mirrored(cx)?;
    padded(cx, |cx, dim, before, after| {
        let Some(dim) = dim else { return Ok(None) };
        match dim.checked_sub(before).and_then(|dim| dim.checked_sub(after)) {
            Some(inner) if before.max(after) <= inner.saturating_sub(limit) => Ok(Some(inner)),
            _ => cx.refuse(format!("{dim} positions, {before} and {after} of them added by reflection")),
        }
    })
}

pub(in crate::tf::op) fn tile(cx: &Node<'_>) -> Shapes {
    let multiples = cx.shape_in(1)?;
    let known = cx.merged(&ranked(cx.shape(0)?), &ranked(&multiples))?;
    let (Some(dims), Some(multiples)) = (cx.shape(0)?.as_slice(), multiples.as_slice()) else {
        return Ok(vec![known]);
    };
    let tiled = dims.iter().zip(multiples).map(|(&dim, &n)| product(dim, n));
    Ok(vec![PartialShape::new(tiled.collect::<Result<_, _>>()?)])
}

pub(in crate::tf::op) fn space_to_depth(cx: &Node<'_>) -> Shapes {
    let block = cx.attrs.count("block_size")?;
    let [n, h, w, c] = cx.dims::<4>(0)?;
    let part = |dim: Dim| match dim {
        Some(dim) if block < 2 || !dim.is_multiple_of(block) => {
            cx.refuse(format!("no blocks of {block} in {dim}"))
        }
        dim => Ok(dim.map(|dim| dim / block)),
    };
    let depth = product(c, block.checked_mul(block))?;
    Ok(vec![PartialShape::new(vec![n, part(h)?, part(w)?, depth])])
}

pub(in crate::tf::op) fn depth_to_space(cx: &Node<'_>) -> Shapes {
    let block = cx.attrs.count("block_size")?;
    let [n, h, w, c] = cx.dims::<4>(0)?;
    let area = block.checked_mul(block).filter(|&area| area > 1);
    let depth = match (c, area) {
        (None, Some(_)) => None,
        (Some(c), Some(area)) if c.is_multiple_of(area) => Some(c / area),
        _ => return cx.refuse(format!("no blocks of {block}")),
    };
    Ok(vec![PartialShape::new(vec![n, product(h, Some(block))?, product(w, Some(block))?, depth])])
}

/// A shape of the same rank with unknown dimensions.
fn ranked(shape: &PartialShape) -> PartialShape {
    shape.rank().map_or(PartialShape::unknown(), PartialShape::of_rank)
}

/// The dimensions with the one at `at` replaced.
fn replaced(dims: &[Dim], at: usize, dim: Dim) -> PartialShape {
    let mut dims = dims.to_vec();
    dims[at] = dim;
    PartialShape::new(dims)
}

pub(super) fn concat(cx: &Node<'_>, values: std::ops::Range<usize>, axis: Option<i64>) -> Shapes {
    let values = cx.operands.get(values).unwrap_or_default();
    let ranks =
        values.iter().try_fold(PartialShape::unknown(), |all, x| cx.merged(&all, &ranked(&x.shape)))?;
    let (Some(rank), Some(axis)) = (ranks.rank(), axis) else { return Ok(vec![ranks]) };
    let at = cx.axis(axis, rank)?;
    let beyond = values.iter().try_fold(ranks, |all, x| match x.shape.as_slice() {
        Some(dims) => cx.merged(&all, &replaced(dims, at, None)),
        None => Ok(all),
    })?;
    let along = total(values.iter().map(|x| x.shape.as_slice().and_then(|dims| dims[at])))?;
    Ok(vec![replaced(beyond.as_slice().unwrap_or_default(), at, along)])
}

pub(in crate::tf::op) fn split_v(cx: &Node<'_>) -> Shapes {
    let n = cx.n_results;
    let Some(dims) = cx.at_least(0, 1)? else { return Ok(vec![PartialShape::unknown(); n]) };
    let Some(axis) = cx.int(2)? else { return Ok(vec![PartialShape::of_rank(dims.len()); n]) };
    let at = cx.axis(axis, dims.len())?;
    let Some(sizes) = cx.ints(1)? else { return Ok(vec![replaced(dims, at, None); n]) };
    let known = sizes.iter().map(|&size| usize::try_from(size).ok()).collect::<Vec<Dim>>();
    let open = sizes.iter().filter(|&&size| size == -1).count();
    let taken = total(known.iter().copied().filter(Option::is_some))?;
    let rest = match dims[at] {
        None => None,
        Some(len) => match taken.and_then(|taken| len.checked_sub(taken)) {
            Some(rest) if open == 1 || rest == 0 => Some(rest),
            _ => return cx.refuse(format!("axis {at} of {len} cannot be split into {sizes:?}")),
        },
    };
    if open > 1 || sizes.len() != n || sizes.iter().any(|&size| size < -1) {
        return cx.refuse(format!("{sizes:?} are no sizes of {n} parts"));
    }
    Ok(known.iter().map(|size| replaced(dims, at, size.or(rest))).collect())
}

/// The length of an axis minus the largest padding that the mirror mode allows.
fn mirrored(cx: &Node<'_>) -> Result<usize, TensorError> {
    cx.attrs.word("mode", &[("REFLECT", 1), ("SYMMETRIC", 0)])
}

/// The shape of a padded operand. `short` is the length of an axis minus the largest allowed padding, or
/// `usize::MAX` for unlimited padding.
fn pad(cx: &Node<'_>, short: usize) -> Shapes {
    padded(cx, |cx, dim, before, after| {
        if let Some(dim) = dim
            && short != usize::MAX
            && before.max(after) > dim.saturating_sub(short)
        {
            return cx.refuse(format!("{before} and {after} positions by reflection of {dim}"));
        }
        sum(dim, sum(Some(before), Some(after))?)
    })
}

fn padded(cx: &Node<'_>, f: impl Fn(&Node<'_>, Dim, usize, usize) -> Result<Dim, TensorError>) -> Shapes {
    let [n, two] = cx.dims::<2>(1)?;
    cx.same(two, Some(2))?;
    let known = cx.merged(&ranked(cx.shape(0)?), &cx.of_rank(n)?)?;
    let (Some(paddings), Some(dims)) = (cx.operand(1)?.constant, cx.shape(0)?.as_slice()) else {
        return Ok(vec![known]);
    };
    let paddings = crate::tf::index::indices_of(cx.op(), paddings)?;
    if paddings.len() != 2 * dims.len() {
        return cx.refuse(format!("paddings {paddings:?}"));
    }
    let mut shape = Vec::with_capacity(dims.len());
    for (&dim, pair) in dims.iter().zip(paddings.chunks_exact(2)) {
        let (Ok(before), Ok(after)) = (usize::try_from(pair[0]), usize::try_from(pair[1])) else {
            return cx.refuse(format!("paddings {paddings:?}"));
        };
        shape.push(f(cx, dim, before, after)?);
    }
    Ok(vec![PartialShape::new(shape)])
}

pub(in crate::tf::op) fn transpose(cx: &Node<'_>) -> Shapes {
    let known = cx.merged(&ranked(cx.shape(0)?), &cx.of_rank(cx.length(1)?)?)?;
    let (Some(perm), Some(rank)) = (cx.ints(1)?, known.rank()) else { return Ok(vec![known]) };
    let mut found = vec![false; rank];
    let mut shape = Vec::with_capacity(rank);
    for &axis in &perm {
        let at = cx.axis(axis, rank)?;
        if std::mem::replace(&mut found[at], true) {
            return cx.refuse(format!("{perm:?} is no permutation"));
        }
        shape.push(cx.shape(0)?.as_slice().and_then(|dims| dims[at]));
    }
    Ok(vec![PartialShape::new(shape)])
}

pub(in crate::tf::op) fn dynamic_stitch(cx: &Node<'_>) -> Shapes {
    let (indices, data) = cx.operands.split_at(cx.operands.len() / 2);
    let mut rest = PartialShape::unknown();
    let mut rows = Some(0);
    for (at, x) in indices.iter().zip(data) {
        if let (Some(at), Some(dims)) = (at.shape.as_slice(), x.shape.as_slice()) {
            let Some((first, own)) = dims.split_at_checked(at.len()) else {
                return cx.refuse("data with fewer axes than its indices".to_owned());
            };
            cx.merged(&PartialShape::new(at.to_vec()), &PartialShape::new(first.to_vec()))?;
            rest = cx.merged(&rest, &PartialShape::new(own.to_vec()))?;
        }
        let last = match at.constant {
            Some(at) => {
                let found = crate::tf::index::indices_of(cx.op(), at)?;
                Some(
                    found
                        .iter()
                        .map(|&i| usize::try_from(i).map_or(0, |i| i.saturating_add(1)))
                        .max()
                        .unwrap_or(0),
                )
            }
            None => None,
        };
        rows = rows.zip(last).map(|(rows, last)| rows.max(last));
    }
    Ok(vec![rest.as_slice().map_or(PartialShape::unknown(), |rest| with(rest, 0, rows))])
}
