//! Operators that change shapes, and those that compute them.
//!
//! The elements of vectors of sizes are tracked one by one, so that the result of
//! `Reshape(x, Concat(Gather(Shape(x), 0), -1))` has a shape with one unknown size, not an unknown shape.

use befrost_tensor::DType;
use befrost_tensor::tf::op::Op;

use crate::import::onnx::emit::{AttrArg, DimSize, Lowered, MAX_MASKED, Why, axis_of, one};
use crate::import::onnx::graph::OnnxImporter;
use crate::import::onnx::node::OnnxNode;
use crate::import::onnx::tensor::{MAX_RANK, number_type};
use crate::import::onnx_proto::TensorProto;
use crate::ir::ValueId;

/// The axes of an operand, or of an attribute in older versions; negative ones count from the end.
fn given_axes(g: &OnnxImporter<'_>, n: &OnnxNode<'_>, input: usize) -> Result<Option<Vec<i64>>, Why> {
    match (n.optional(input), n.ints("axes")) {
        (Some(axes), _) => g.known_ints(axes, "its axes").map(Some),
        (None, axes) => Ok(axes.map(<[i64]>::to_vec)),
    }
}

/// The axes of an operand, or of an attribute in older versions, for a tensor of this rank.
pub(super) fn axes(
    g: &OnnxImporter<'_>,
    n: &OnnxNode<'_>,
    input: usize,
    rank: usize,
) -> Result<Option<Vec<usize>>, Why> {
    let given = given_axes(g, n, input)?;
    given.map(|axes| axes.into_iter().map(|axis| axis_of(axis, rank)).collect()).transpose()
}

pub(super) fn reshape(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    let shape = match (n.optional(1), n.ints("shape")) {
        (Some(shape), _) => shape,
        (None, Some(shape)) => g.ints(shape)?,
        (None, None) => return Err("it has no shape".into()),
    };
    let copies = !n.flag("allowzero", false);
    if let Some(mut sizes) = g.elements_of(shape) {
        for (axis, size) in sizes.iter_mut().enumerate() {
            if copies && *size == DimSize::Known(0) {
                *size = g.size(x, axis)?;
            }
        }
        return one(g.reshape(x, &sizes));
    }
    if !copies {
        return one(g.one(Op::Reshape, &[x, shape]));
    }
    // Zeros are replaced by the sizes of the input, padded with ones.
    let n_new = g.dims(shape)?.first().copied().filter(|n| (0..=MAX_RANK).contains(n));
    let n_new = n_new.ok_or_else(|| format!("the rank of its result is not known, or above {MAX_RANK}"))?;
    let mut old = g.sizes(x)?;
    old.resize(n_new as usize, DimSize::Known(1));
    let (old, zero) = (g.size_vector(&old)?, g.int(0)?);
    let is_zero = g.one(Op::Equal, &[shape, zero])?;
    let shape = g.one(Op::SelectV2, &[is_zero, old, shape])?;
    one(g.one(Op::Reshape, &[x, shape]))
}

pub(super) fn flatten(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    one(flat_at(g, x, n.int_or("axis", 1)))
}

/// A matrix with the axes before `axis` as rows, and the others as columns.
pub(super) fn flat_at(g: &mut OnnxImporter<'_>, x: ValueId, axis: i64) -> Result<ValueId, Why> {
    let sizes = g.sizes(x)?;
    let at = if axis < 0 { axis + sizes.len() as i64 } else { axis };
    let at = usize::try_from(at).ok().filter(|&at| at <= sizes.len()).ok_or("an axis out of range")?;
    let (rows, columns) = (g.size_product(&sizes[..at])?, g.size_product(&sizes[at..])?);
    g.reshape(x, &[rows, columns])
}

pub(super) fn transpose(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    let perm: Vec<usize> = match (n.ints("perm"), g.rank(x)) {
        (Some(perm), _) => perm.iter().map(|&axis| axis_of(axis, perm.len())).collect::<Result<_, _>>()?,
        (None, Ok(rank)) => (0..rank).rev().collect(),
        (None, Err(_)) => {
            // All axes, the last one first.
            let rank = g.to(Op::Rank, &[x], &[], DType::I32)?;
            let (last, end) = (g.plus(rank, -1.0)?, g.scalar(-1.0, DType::I32)?);
            let perm = g.one(Op::Range, &[last, end, end])?;
            return one(g.one(Op::Transpose, &[x, perm]));
        }
    };
    one(g.transpose(x, &perm))
}

pub(super) fn squeeze(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    let axes = given_axes(g, n, 1)?.unwrap_or_default();
    let Ok(rank) = g.rank(x) else { return one(g.squeeze(x, &axes)) };
    let elements = g.elements_of(x).filter(|elements| elements.len() == 1);
    let y = match elements.as_deref() {
        Some(&[DimSize::Value(value)]) if rank == 1 => value,
        _ => {
            let axes: Vec<usize> = axes.iter().map(|&axis| axis_of(axis, rank)).collect::<Result<_, _>>()?;
            let axes: Vec<i64> = axes.into_iter().map(|axis| axis as i64).collect();
            g.squeeze(x, &axes)?
        }
    };
    if let Some(elements) = elements {
        g.vectors.insert(y, elements);
    }
    one(Ok(y))
}

pub(super) fn unsqueeze(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    let given = given_axes(g, n, 1)?.ok_or("it has no axes")?;
    let mut axes = match g.rank(x) {
        Ok(rank) => {
            let axes = given.iter().map(|&axis| axis_of(axis, rank + given.len()));
            axes.map(|axis| axis.map(|axis| axis as i64)).collect::<Result<Vec<_>, _>>()?
        }
        Err(_) if given.iter().all(|axis| *axis >= 0) || given.iter().all(|axis| *axis < 0) => given,
        Err(why) => return Err(why),
    };
    axes.sort_unstable();
    if let (&[0], Some(elements), Ok(0), Ok(DType::I64)) =
        (&axes[..], g.elements_of(x), g.rank(x), g.dtype(x))
    {
        return one(g.vector(elements));
    }
    let n = axes.len() as i64;
    one(axes.into_iter().zip(1..).try_fold(x, |x, (axis, i)| {
        // A negative axis counts from the end of the last result; `n - i` axes are still to come.
        g.expand_at(x, if axis < 0 { axis.saturating_add(n - i) } else { axis })
    }))
}

pub(super) fn concat(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let all = n.all()?;
    let axis = all.iter().find_map(|&x| g.axis(x, n.int_or("axis", 1)).ok());
    let axis = axis.ok_or("its axis is out of range, or the rank of its inputs is not known")?;
    let is_sizes = g.rank(all[0]) == Ok(1) && all.iter().all(|&x| g.dtype(x) == Ok(DType::I64));
    let elements: Option<Vec<Vec<DimSize>>> = all.iter().map(|&x| g.elements_of(x)).collect();
    if let Some(elements) = elements.filter(|_| is_sizes) {
        return one(g.vector(elements.concat()));
    }
    one(g.concat(&all, axis))
}

pub(super) fn split(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    let axis = g.axis(x, n.int_or("axis", 0))?;
    let sizes = match (n.optional(1), n.ints("split")) {
        (Some(sizes), _) => Some(sizes),
        (None, Some(sizes)) => Some(g.ints(sizes)?),
        (None, None) => None,
    };
    let n_parts = n.n_outputs();
    if n_parts == 0 {
        return Err("it has no outputs".into());
    }
    if let Some(sizes) = sizes {
        return g.split_by(x, axis, sizes, n_parts);
    }
    let last = n_parts as i64 - 1;
    let sizes = match g.size(x, axis)? {
        DimSize::Known(size) if size % n_parts as i64 == 0 => return g.split(x, axis, n_parts),
        DimSize::Known(size) => {
            let part = size / n_parts as i64 + 1;
            [vec![DimSize::Known(part); n_parts - 1], vec![DimSize::Known(size - part * last)]].concat()
        }
        DimSize::Value(_) if n.attr("num_outputs").is_none() => return g.split(x, axis, n_parts),
        DimSize::Value(size) => {
            let (last, by) = (g.int(last)?, g.int(n_parts as i64)?);
            let more = g.add(size, last)?;
            let part = g.one(Op::TruncateDiv, &[more, by])?;
            let before = g.mul(part, last)?;
            let rest = g.sub(size, before)?;
            [vec![DimSize::Value(part); n_parts - 1], vec![DimSize::Value(rest)]].concat()
        }
    };
    // The last part is smaller.
    let sizes = g.size_vector(&sizes)?;
    g.split_by(x, axis, sizes, n_parts)
}

/// `Slice`: bounds are operands, or attributes before version 10.
pub(super) fn slice(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    let rank = g.rank(x)?;
    if rank > MAX_MASKED {
        return Err(format!("slices of tensors of rank {rank} are not supported"));
    }
    let (starts, ends) = match (n.optional(1), n.optional(2), n.ints("starts"), n.ints("ends")) {
        (Some(starts), Some(ends), ..) => (starts, ends),
        (None, None, Some(starts), Some(ends)) => (g.ints(starts)?, g.ints(ends)?),
        _ => return Err("it lacks its starts or ends".into()),
    };
    let count = match g.dims(starts)?[..] {
        [count] => usize::try_from(count).ok(),
        _ => return Err("its starts are no vector".into()),
    };
    let computed = match n.optional(3) {
        Some(axes) => (count.is_none() || g.ints_of(axes).is_none()).then_some(axes),
        None if count.is_none() => Some(first_axes(g, starts)?),
        None => None,
    };
    if let Some(axes) = computed {
        return one(slice_along(g, x, [starts, ends], axes, n.optional(4)));
    }
    let count = count.unwrap_or(0);
    let axes = match axes(g, n, 3, rank)? {
        Some(axes) => axes,
        None => (0..count.min(rank)).collect(),
    };
    if axes.len() != count {
        return Err(format!("{count} starts for {} axes", axes.len()));
    }
    let steps = n.optional(4);
    let mut parts =
        [vec![DimSize::Known(0); rank], vec![DimSize::Known(0); rank], vec![DimSize::Known(1); rank]];
    for (part, given) in parts.iter_mut().zip([Some(starts), Some(ends), steps]) {
        let Some(given) = given else { continue };
        let known = g.elements_of(given);
        for (i, &axis) in axes.iter().enumerate() {
            part[axis] = match &known {
                Some(known) => *known.get(i).ok_or("as many starts, ends and steps")?,
                None => {
                    let element = g.element_at(given, i as i64)?;
                    DimSize::Value(g.cast(element, DType::I64)?)
                }
            };
        }
    }
    // Backward, a start before the first element is the first element; in TensorFlow nothing is left.
    for &axis in &axes {
        let backward = matches!(parts[2][axis], DimSize::Known(step) if step < 0);
        if backward && !matches!(parts[0][axis], DimSize::Known(start) if start >= 0) {
            parts[0][axis] = first_behind(g, x, axis, parts[0][axis])?;
        }
    }
    let mask = (0..rank).filter(|axis| !axes.contains(axis)).fold(0, |mask, axis| mask | 1i64 << axis);
    let [begins, ends, steps] = &parts;
    let result = elements_in(g, x, begins, ends, steps);
    let vectors = [g.size_vector(begins)?, g.size_vector(ends)?, g.size_vector(steps)?];
    let attrs = [("begin_mask", AttrArg::Int(mask)), ("end_mask", AttrArg::Int(mask))];
    if let Some(elements) = result {
        return one(g.vector(elements));
    }
    one(g.op(Op::StridedSlice, &[&[x], &vectors[..]].concat(), &attrs))
}

/// The axes of a slice that names none: the first ones, as many as it has starts.
fn first_axes(g: &mut OnnxImporter<'_>, starts: ValueId) -> Result<ValueId, Why> {
    let (zero, one) = (g.int(0)?, g.int(1)?);
    let n = g.size(starts, 0)?;
    let n = g.size_value(n)?;
    g.one(Op::Range, &[zero, n, one])
}

/// A slice along axes that the program computes: the bounds are scattered into bounds of all axes.
fn slice_along(
    g: &mut OnnxImporter<'_>,
    x: ValueId,
    [starts, ends]: [ValueId; 2],
    axes: ValueId,
    steps: Option<ValueId>,
) -> Result<ValueId, Why> {
    let rank = g.rank(x)?;
    let places = g.cast(axes, DType::I64)?;
    let places = g.expand(places, 1)?;
    let mut vectors = Vec::new();
    for (given, default) in [(Some(starts), 0), (Some(ends), i64::MAX), (steps, 1)] {
        let all = g.ints(&vec![default; rank])?;
        vectors.push(match given {
            Some(given) => {
                let given = g.cast(given, DType::I64)?;
                g.one(Op::_ScatterNdReduce, &[all, places, given])?
            }
            None => all,
        });
    }
    g.one(Op::StridedSlice, &[x, vectors[0], vectors[1], vectors[2]])
}

/// The position of a start that counts from the end of an axis if it is negative: at least the first one.
fn first_behind(g: &mut OnnxImporter<'_>, x: ValueId, axis: usize, start: DimSize) -> Result<DimSize, Why> {
    let size = g.size(x, axis)?;
    if let (DimSize::Known(start), DimSize::Known(size)) = (start, size) {
        return Ok(DimSize::Known(start.saturating_add(size).max(0)));
    }
    let (start, size, zero) = (g.size_value(start)?, g.size_value(size)?, g.int(0)?);
    let from_end = g.add(start, size)?;
    let from_end = g.one(Op::Maximum, &[from_end, zero])?;
    let is_negative = g.one(Op::Less, &[start, zero])?;
    Ok(DimSize::Value(g.one(Op::SelectV2, &[is_negative, from_end, start])?))
}

/// The elements of a slice of a vector of sizes.
fn elements_in(
    g: &OnnxImporter<'_>,
    x: ValueId,
    begins: &[DimSize],
    ends: &[DimSize],
    steps: &[DimSize],
) -> Option<Vec<DimSize>> {
    let elements = g.elements_of(x)?;
    if g.dtype(x) != Ok(DType::I64) {
        return None;
    }
    let (&[DimSize::Known(begin)], &[DimSize::Known(end)], &[DimSize::Known(1)]) = (begins, ends, steps)
    else {
        return None;
    };
    let n = elements.len() as i64;
    let at = |i: i64| if i < 0 { i.saturating_add(n) } else { i }.clamp(0, n) as usize;
    Some(elements.get(at(begin)..at(end)).unwrap_or_default().to_vec())
}

pub(super) fn shape(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    let Ok(rank) = g.rank(x) else { return one(g.shape(x)) };
    let at = |i: i64| if i < 0 { i.saturating_add(rank as i64) } else { i }.clamp(0, rank as i64) as usize;
    let (start, end) = (at(n.int_or("start", 0)), at(n.int_or("end", rank as i64)));
    let sizes: Vec<DimSize> = (start..end).map(|axis| g.size(x, axis)).collect::<Result<_, _>>()?;
    one(g.vector(sizes))
}

pub(super) fn size(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    one(g.to(Op::Size, &[n.input(0)?], &[], DType::I64))
}

pub(super) fn tile(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    one(g.one(Op::Tile, &[n.input(0)?, n.input(1)?]))
}

/// `Expand`: the input, broadcast together with the given shape.
pub(super) fn expand(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let (x, shape) = (n.input(0)?, n.input(1)?);
    one(broadcast(g, x, shape))
}

fn broadcast(g: &mut OnnxImporter<'_>, x: ValueId, shape: ValueId) -> Result<ValueId, Why> {
    if let (Some(wanted), Ok(dims)) = (g.elements_of(shape), g.dims(x)) {
        let rank = wanted.len().max(dims.len());
        let mut sizes = Vec::with_capacity(rank);
        for i in 0..rank {
            let old = (i + dims.len()).checked_sub(rank).map(|axis| g.size(x, axis)).transpose()?;
            let new = (i + wanted.len()).checked_sub(rank).map(|axis| wanted[axis]);
            sizes.push(match (old, new) {
                (Some(old), None | Some(DimSize::Known(1))) => old,
                (Some(DimSize::Known(n)), Some(DimSize::Value(_))) if n != 1 => DimSize::Known(n),
                (_, Some(new)) => new,
                (None, None) => DimSize::Known(1),
            });
        }
        let shape = g.size_vector(&sizes)?;
        return g.one(Op::BroadcastTo, &[x, shape]);
    }
    let old = g.shape(x)?;
    let shape = g.one(Op::BroadcastArgs, &[old, shape])?;
    g.one(Op::BroadcastTo, &[x, shape])
}

pub(super) fn constant_of_shape(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let value = match n.tensor("value") {
        Some(value) => {
            let value = g.tensor_constant(value)?;
            g.reshape_to(value, &[])?
        }
        None => g.scalar(0.0, DType::F32)?,
    };
    one(match g.elements_of(n.input(0)?) {
        Some(sizes) => g.fill(&sizes, value),
        None => g.one(Op::Fill, &[n.input(0)?, value]),
    })
}

pub(super) fn range(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let all = n.all()?;
    let mut scalars: Vec<ValueId> =
        all.into_iter().map(|x| g.reshape_to(x, &[])).collect::<Result<_, _>>()?;
    if let [first, _] = scalars[..] {
        // The operator of com.microsoft may lack the step.
        scalars.push(g.scalar_like(1.0, first)?);
    }
    let dtype = g.dtype(n.input(0)?)?;
    if dtype != DType::I16 {
        return one(g.one(Op::Range, &scalars));
    }
    let wide: Vec<ValueId> = scalars.into_iter().map(|x| g.cast(x, DType::I32)).collect::<Result<_, _>>()?;
    let range = g.one(Op::Range, &wide)?;
    one(g.cast(range, dtype))
}

/// The row numbers and the column numbers of the last two axes.
fn grid(g: &mut OnnxImporter<'_>, x: ValueId) -> Result<(ValueId, ValueId), Why> {
    let rank = g.rank(x)?;
    let at = rank.checked_sub(2).ok_or("it is no matrix")?;
    let (rows, columns) = (g.size(x, at)?, g.size(x, at + 1)?);
    let (rows, columns) = (g.iota(rows)?, g.iota(columns)?);
    Ok((g.expand(rows, 1)?, columns))
}

pub(super) fn eye_like(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    let dtype = n.int("dtype").map_or_else(|| g.dtype(x), number_type)?;
    let (rows, columns) = grid(g, x)?;
    let rows = g.plus(rows, n.int_or("k", 0) as f64)?;
    let is_one = g.one(Op::Equal, &[rows, columns])?;
    one(g.cast(is_one, dtype))
}

pub(super) fn trilu(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    let (rows, columns) = grid(g, x)?;
    let k = match n.optional(1) {
        Some(k) => g.reshape_to(k, &[])?,
        None => g.int(0)?,
    };
    let first = g.add(rows, k)?;
    let op = if n.flag("upper", true) { Op::GreaterEqual } else { Op::LessEqual };
    let (is_kept, zero) = (g.one(op, &[columns, first])?, g.scalar_like(0.0, x)?);
    one(g.one(Op::SelectV2, &[is_kept, x, zero]))
}

/// Reshape, transpose, reshape, as in moves between depth and space.
fn rearranged(
    g: &mut OnnxImporter<'_>,
    x: ValueId,
    split: &[DimSize],
    perm: &[usize],
    merged: &[DimSize],
) -> Result<ValueId, Why> {
    let parts = g.reshape(x, split)?;
    let turned = g.transpose(parts, perm)?;
    g.reshape(turned, merged)
}

fn image_sizes(g: &mut OnnxImporter<'_>, x: ValueId) -> Result<[DimSize; 4], Why> {
    let sizes = g.sizes(x)?;
    sizes.try_into().map_err(|_| "its input is no batch of images".to_owned())
}

fn divided(g: &mut OnnxImporter<'_>, size: DimSize, by: i64) -> Result<DimSize, Why> {
    match size {
        DimSize::Known(n) if by > 0 && n % by == 0 => Ok(DimSize::Known(n / by)),
        DimSize::Known(n) => Err(format!("{n} is no multiple of {by}")),
        DimSize::Value(value) => {
            let by = g.int(by)?;
            Ok(DimSize::Value(g.one(Op::TruncateDiv, &[value, by])?))
        }
    }
}

fn multiplied(g: &mut OnnxImporter<'_>, size: DimSize, by: i64) -> Result<DimSize, Why> {
    g.size_product(&[size, DimSize::Known(by)])
}

pub(super) fn depth_to_space(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    let by = n.int_or("blocksize", 0);
    let [b, c, h, w] = image_sizes(g, x)?;
    let c = divided(g, c, by.checked_mul(by).ok_or("its blocks are too large")?)?;
    let block = DimSize::Known(by);
    let merged = [b, c, multiplied(g, h, by)?, multiplied(g, w, by)?];
    one(if n.word("mode", "DCR")? == "CRD" {
        rearranged(g, x, &[b, c, block, block, h, w], &[0, 1, 4, 2, 5, 3], &merged)
    } else {
        rearranged(g, x, &[b, block, block, c, h, w], &[0, 3, 4, 1, 5, 2], &merged)
    })
}

pub(super) fn space_to_depth(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    let by = n.int_or("blocksize", 0);
    let [b, c, h, w] = image_sizes(g, x)?;
    let (h, w, block) = (divided(g, h, by)?, divided(g, w, by)?, DimSize::Known(by));
    let depth = multiplied(g, c, by.checked_mul(by).ok_or("its blocks are too large")?)?;
    one(rearranged(g, x, &[b, c, h, block, w, block], &[0, 3, 5, 1, 2, 4], &[b, depth, h, w]))
}

/// `Pad` in all modes. Negative sizes crop.
pub(super) fn pad(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let x = n.input(0)?;
    let rank = g.rank(x)?;
    let pads = match (n.optional(1), n.ints("pads")) {
        (Some(pads), _) => pads,
        (None, Some(pads)) => g.ints(pads)?,
        (None, None) => return Err("it has no pads".into()),
    };
    let axes = axes(g, n, 3, rank)?.unwrap_or_else(|| (0..rank).collect());
    let mode = n.word("mode", "constant")?;
    let known = g.ints_of(pads).filter(|known| known.len() == 2 * axes.len());
    if mode == "constant" {
        let with = match n.optional(2) {
            Some(with) => g.reshape_to(with, &[])?,
            None => g.scalar_like(f64::from(n.float_or("value", 0.0)), x)?,
        };
        if let Some(known) = known {
            return one(padded(g, x, &axes, &known, with));
        }
        let zero = DimSize::Known(0);
        let mut all = vec![zero; 2 * rank];
        for (i, &axis) in axes.iter().enumerate() {
            all[2 * axis] = DimSize::Value(g.element_at(pads, i as i64)?);
            all[2 * axis + 1] = DimSize::Value(g.element_at(pads, (i + axes.len()) as i64)?);
        }
        let all = g.size_vector(&all)?;
        let all = g.reshape_to(all, &[rank as i64, 2])?;
        return one(padded_or_cropped(g, x, &axes, all, with));
    }
    let mut y = x;
    for (i, &axis) in axes.iter().enumerate() {
        if known.as_ref().is_some_and(|known| known[i] == 0 && known[i + axes.len()] == 0) {
            continue;
        }
        let (before, behind) = (g.element_at(pads, i as i64)?, g.element_at(pads, (i + axes.len()) as i64)?);
        y = mirrored(g, y, axis, before, behind, mode)?;
    }
    one(Ok(y))
}

/// Constant padding, or cropping, by known sizes: those before each axis, then those after each axis.
fn padded(
    g: &mut OnnxImporter<'_>,
    x: ValueId,
    axes: &[usize],
    sizes: &[i64],
    with: ValueId,
) -> Result<ValueId, Why> {
    let mut pads = vec![(0, 0); g.rank(x)?];
    for (i, &axis) in axes.iter().enumerate() {
        pads[axis] = (sizes[i], sizes[i + axes.len()]);
    }
    let mut y = x;
    for (axis, &(before, behind)) in pads.iter().enumerate().filter(|(_, pad)| pad.0 < 0 || pad.1 < 0) {
        y = g.slice(y, axis, before.saturating_neg().max(0), if behind < 0 { Some(behind) } else { None })?;
    }
    let positive: Vec<(i64, i64)> = pads.iter().map(|&(a, b)| (a.max(0), b.max(0))).collect();
    g.pad(y, &positive, with)
}

/// Constant padding of these axes by sizes that are not known: the pairs of `pads`, one for each axis of `x`.
/// Negative ones crop.
fn padded_or_cropped(
    g: &mut OnnxImporter<'_>,
    x: ValueId,
    axes: &[usize],
    pads: ValueId,
    with: ValueId,
) -> Result<ValueId, Why> {
    let none = g.scalar_like(0.0, pads)?;
    let (more, opposite) = (g.one(Op::Maximum, &[pads, none])?, g.one(Op::Neg, &[pads])?);
    let padded = g.one(Op::PadV2, &[x, more, with])?;
    let less = g.one(Op::Maximum, &[opposite, none])?;
    let (begin, shape) = (g.slice(less, 1, 0, Some(1))?, g.shape(padded)?);
    let (begin, cut) = (g.squeeze(begin, &[1])?, g.reduce(Op::Sum, less, &[1], false)?);
    let sizes = g.sub(shape, cut)?;
    let cropped = g.one(Op::Slice, &[padded, begin, sizes])?;
    let (element, mut dims) = (g.element(x).ok_or("it is no tensor")?, g.dims(x)?);
    axes.iter().for_each(|&axis| dims[axis] = -1);
    let ty = g.tensor_type(element, Some(&dims));
    g.m.set_value_type(cropped, ty);
    Ok(cropped)
}

/// Padding of an axis with its own elements: gathered by indices that are folded into its range.
fn mirrored(
    g: &mut OnnxImporter<'_>,
    x: ValueId,
    axis: usize,
    before: ValueId,
    behind: ValueId,
    mode: &str,
) -> Result<ValueId, Why> {
    let size = g.size(x, axis)?;
    let size = g.size_value(size)?;
    let (from, to, one_) = (g.one(Op::Neg, &[before])?, g.add(size, behind)?, g.int(1)?);
    let indices = g.one(Op::Range, &[from, to, one_])?;
    let (last, zero) = (g.sub(size, one_)?, g.int(0)?);
    let indices = match mode {
        "edge" => {
            let over = g.one(Op::Maximum, &[indices, zero])?;
            g.one(Op::Minimum, &[over, last])?
        }
        "wrap" => g.one(Op::FloorMod, &[indices, size])?,
        "reflect" => {
            // The period is the axis forwards and backwards, with each end once.
            let period = g.times(last, 2.0)?;
            let period = g.one(Op::Maximum, &[period, one_])?;
            let folded = g.one(Op::FloorMod, &[indices, period])?;
            let back = g.sub(period, folded)?;
            g.one(Op::Minimum, &[folded, back])?
        }
        other => return Err(format!("mode '{other}'")),
    };
    g.gather(x, indices, axis)
}

/// `CenterCropPad`: the middle part of an axis, or the axis between zeros.
pub(super) fn center_crop_pad(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    let (x, shape) = (n.input(0)?, n.input(1)?);
    let rank = g.rank(x)?;
    let axes = axes(g, n, usize::MAX, rank)?.unwrap_or_else(|| (0..rank).collect());
    let wanted = match g.elements_of(shape) {
        Some(wanted) => wanted,
        None => (0..axes.len() as i64)
            .map(|i| {
                let size = g.element_at(shape, i)?;
                Ok(DimSize::Value(g.cast(size, DType::I64)?))
            })
            .collect::<Result<_, Why>>()?,
    };
    if wanted.len() != axes.len() {
        return Err(format!("{} sizes for {} axes", wanted.len(), axes.len()));
    }
    let zero = DimSize::Known(0);
    let (mut pads, mut begins, mut sizes) =
        (vec![zero; 2 * rank], vec![zero; rank], vec![DimSize::Known(-1); rank]);
    let none = g.int(0)?;
    for (&axis, wanted) in axes.iter().zip(wanted) {
        let (old, new) = (g.size(x, axis)?, g.size_value(wanted)?);
        let old = g.size_value(old)?;
        let (more, less) = (g.sub(new, old)?, g.sub(old, new)?);
        let (more, less) = (g.one(Op::Maximum, &[more, none])?, g.one(Op::Maximum, &[less, none])?);
        let two = g.int(2)?;
        let (before, begin) = (g.one(Op::TruncateDiv, &[more, two])?, g.one(Op::TruncateDiv, &[less, two])?);
        let behind = g.sub(more, before)?;
        (pads[2 * axis], pads[2 * axis + 1]) = (g.as_size(before), g.as_size(behind));
        (begins[axis], sizes[axis]) = (g.as_size(begin), wanted);
    }
    let (pads, begins, sizes) = (g.size_vector(&pads)?, g.size_vector(&begins)?, g.size_vector(&sizes)?);
    let pads = g.reshape_to(pads, &[rank as i64, 2])?;
    let with = g.scalar_like(0.0, x)?;
    let padded = g.one(Op::PadV2, &[x, pads, with])?;
    one(g.one(Op::Slice, &[padded, begins, sizes]))
}

/// `Constant`: a tensor, or numbers.
pub(super) fn constant(g: &mut OnnxImporter<'_>, n: &OnnxNode<'_>) -> Lowered {
    if let Some(value) = n.tensor("value") {
        return one(g.tensor_constant(value));
    }
    if let Some(sparse) = n.attr("sparse_value").and_then(|attr| attr.sparse_tensor.as_ref()) {
        return one(g.dense_constant(sparse));
    }
    let given = |name| n.attr(name);
    let count = |len: usize| vec![len as i64];
    let tensor = if let Some(attr) = given("value_float") {
        TensorProto { data_type: 1, float_data: vec![attr.f], ..TensorProto::default() }
    } else if let Some(attr) = given("value_floats") {
        let dims = count(attr.floats.len());
        TensorProto { dims, data_type: 1, float_data: attr.floats.clone(), ..TensorProto::default() }
    } else if let Some(attr) = given("value_int") {
        TensorProto { data_type: 7, int64_data: vec![attr.i], ..TensorProto::default() }
    } else if let Some(attr) = given("value_ints") {
        let dims = count(attr.ints.len());
        TensorProto { dims, data_type: 7, int64_data: attr.ints.clone(), ..TensorProto::default() }
    } else if let Some(attr) = given("value_string") {
        TensorProto { data_type: 8, string_data: vec![attr.s.clone()], ..TensorProto::default() }
    } else if let Some(attr) = given("value_strings") {
        let dims = count(attr.strings.len());
        TensorProto { dims, data_type: 8, string_data: attr.strings.clone(), ..TensorProto::default() }
    } else {
        return Err("it has no value".into());
    };
    one(g.tensor_constant(&tensor))
}
