//! Moving elements: shapes, slices, pads, joins. No arithmetic, every dtype, bytes only.

use std::sync::Arc;

use super::walk::{AxisMap, OUTSIDE, broadcast_offsets, broadcast_shape, gather_offsets, strides};
use crate::mem::Allocator;
use crate::{HostTensor, MAX_RANK, Shape, TensorError, resolve_axis};

fn invalid<T>(op: &'static str, problem: String) -> Result<T, TensorError> {
    Err(TensorError::Invalid { op, problem })
}

/// Axes by position, each once.
pub(super) fn axis_set(op: &'static str, shape: &Shape, axes: &[i64]) -> Result<Vec<bool>, TensorError> {
    let mut set = vec![false; shape.rank()];
    for &axis in axes {
        let at = resolve_axis(shape, axis)?;
        if std::mem::replace(&mut set[at], true) {
            return invalid(op, format!("axis {axis} of shape {shape} is named twice in {axes:?}"));
        }
    }
    Ok(set)
}

/// The maps that leave every axis as it is.
fn identity(shape: &Shape) -> Vec<AxisMap> {
    let strides = strides(shape);
    shape
        .dims()
        .iter()
        .zip(strides)
        .map(|(&len, s)| AxisMap::Step { len, start: 0, step: s as isize })
        .collect()
}

/// `Reshape`: the same elements in another shape, of which one dimension may be -1. The bytes are shared.
pub fn reshape(x: &HostTensor, dims: &[i64]) -> Result<HostTensor, TensorError> {
    let mut known: Vec<i64> = dims.to_vec();
    if let Some(free) = dims.iter().position(|&d| d == -1) {
        known[free] = 1;
        let rest = Shape::from_i64(&known)?.num_elements();
        let n = x.num_elements();
        if rest == 0 || !n.is_multiple_of(rest) {
            return invalid(
                "Reshape",
                format!("shape {} with {n} elements cannot become {dims:?}", x.shape()),
            );
        }
        known[free] = (n / rest) as i64;
    }
    let shape = Shape::from_i64(&known)?;
    if shape.num_elements() != x.num_elements() {
        return invalid(
            "Reshape",
            format!("shape {} with {} elements cannot become {dims:?}", x.shape(), x.num_elements()),
        );
    }
    x.reshaped(shape)
}

/// `ExpandDims`: a dimension of 1 before `axis`, in `-rank - 1..=rank`. The bytes are shared.
pub fn expand_dims(x: &HostTensor, axis: i64) -> Result<HostTensor, TensorError> {
    let rank = x.shape().rank() as i64;
    let at = if axis < 0 { axis.saturating_add(rank + 1) } else { axis };
    if !(0..=rank).contains(&at) {
        return Err(TensorError::Axis { axis, shape: x.shape().clone() });
    }
    let mut dims = x.shape().dims().to_vec();
    dims.insert(at as usize, 1);
    x.reshaped(Shape::new(&dims)?)
}

/// `Squeeze`: without the axes named, which must be 1 long; without all of length 1 if none is named. The bytes are shared.
pub fn squeeze(x: &HostTensor, axes: &[i64]) -> Result<HostTensor, TensorError> {
    let set = axis_set("Squeeze", x.shape(), axes)?;
    let dims = x.shape().dims();
    if let Some(at) = (0..dims.len()).find(|&i| set[i] && dims[i] != 1) {
        return invalid("Squeeze", format!("axis {at} of shape {} is not 1 long", x.shape()));
    }
    let kept: Vec<usize> = dims
        .iter()
        .zip(&set)
        .filter(|&(&dim, &named)| if axes.is_empty() { dim != 1 } else { !named })
        .map(|(&dim, _)| dim)
        .collect();
    x.reshaped(Shape::new(&kept)?)
}

/// `Transpose`: axis `i` of the result is axis `perm[i]` of `x`.
pub fn transpose(
    x: &HostTensor,
    perm: &[i64],
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let set = axis_set("Transpose", x.shape(), perm)?;
    if set.contains(&false) {
        return invalid(
            "Transpose",
            format!("{perm:?} is no permutation of the axes of shape {}", x.shape()),
        );
    }
    let axes = perm.iter().map(|&axis| resolve_axis(x.shape(), axis)).collect::<Result<Vec<_>, _>>()?;
    let (dims, strides) = (x.shape().dims(), strides(x.shape()));
    let shape = Shape::new(&axes.iter().map(|&a| dims[a]).collect::<Vec<_>>())?;
    gather_offsets(x, shape, &[], allocator, || {
        axes.iter().map(|&a| AxisMap::Step { len: dims[a], start: 0, step: strides[a] as isize }).collect()
    })
}

/// `BroadcastTo`: repeated along missing axes and those of length 1.
pub fn broadcast_to(
    x: &HostTensor,
    shape: &Shape,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    if x.shape().rank() > shape.rank() || broadcast_shape(x.shape(), shape)? != *shape {
        return Err(TensorError::Broadcast { a: x.shape().clone(), b: shape.clone() });
    }
    let out = HostTensor::allocate(x.dtype(), shape.clone(), allocator)?;
    let size = x.dtype().size();
    {
        let from = x.read_bytes()?;
        let offsets = broadcast_offsets(x.shape(), shape);
        for (slot, at) in out.write_bytes()?.chunks_exact_mut(size).zip(offsets) {
            slot.copy_from_slice(&from[at * size..(at + 1) * size]);
        }
    }
    Ok(out)
}

/// `ConcatV2`: the tensors after one another along an axis. All other dimensions agree.
pub fn concat(
    inputs: &[&HostTensor],
    axis: i64,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let Some(&first) = inputs.first() else { return invalid("ConcatV2", "no operands".to_owned()) };
    let at = resolve_axis(first.shape(), axis)?;
    let mut dims = first.shape().dims().to_vec();
    dims[at] = 0;
    for x in inputs {
        x.expect_dtype("values", first.dtype())?;
        let same = x.shape().rank() == dims.len()
            && x.shape().dims().iter().zip(&dims).enumerate().all(|(i, (a, b))| i == at || a == b);
        if !same {
            let problem = format!("shapes {} and {} differ beyond axis {at}", first.shape(), x.shape());
            return invalid("ConcatV2", problem);
        }
        dims[at] = dims[at].checked_add(x.shape().dims()[at]).ok_or(TensorError::TooLarge)?;
    }
    let out = HostTensor::allocate(first.dtype(), Shape::new(&dims)?, allocator)?;
    if out.num_elements() > 0 {
        let inner: usize = dims[at + 1..].iter().product::<usize>() * first.dtype().size();
        let slab = dims[at] * inner; // at most the bytes of the result
        let mut bytes = out.write_bytes()?;
        let mut start = 0;
        for x in inputs {
            let len = x.shape().dims()[at] * inner;
            let from = x.read_bytes()?;
            for (to, from) in bytes.chunks_exact_mut(slab).zip(from.chunks_exact(len.max(1))) {
                to[start..start + len].copy_from_slice(from);
            }
            start += len;
        }
    }
    Ok(out)
}

/// `Pack`: tensors of one shape along a new axis, in `-rank - 1..=rank`.
pub fn pack(
    inputs: &[&HostTensor],
    axis: i64,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let Some(&first) = inputs.first() else { return invalid("Pack", "no operands".to_owned()) };
    let mut expanded = Vec::with_capacity(inputs.len());
    for x in inputs {
        x.expect_shape("values", first.shape())?;
        expanded.push(expand_dims(x, axis)?);
    }
    // From the end of the new shape, whose rank is one larger.
    let axis = if axis < 0 { axis + first.shape().rank() as i64 + 1 } else { axis };
    concat(&expanded.iter().collect::<Vec<_>>(), axis, allocator)
}

/// `Unpack`: the slices along an axis, each without it.
pub fn unpack(
    x: &HostTensor,
    axis: i64,
    allocator: &Arc<dyn Allocator>,
) -> Result<Vec<HostTensor>, TensorError> {
    let at = resolve_axis(x.shape(), axis)?;
    let n = x.shape().dims()[at];
    if n > x.num_elements() {
        return invalid("Unpack", format!("{n} empty slices of shape {}", x.shape()));
    }
    let parts = split_v(x, &vec![1; n], axis, allocator)?;
    parts.iter().map(|part| squeeze(part, &[at as i64])).collect()
}

/// `Split` into `n` equal parts along an axis.
pub fn split(
    x: &HostTensor,
    n: usize,
    axis: i64,
    allocator: &Arc<dyn Allocator>,
) -> Result<Vec<HostTensor>, TensorError> {
    let at = resolve_axis(x.shape(), axis)?;
    let len = x.shape().dims()[at];
    if n == 0 || !len.is_multiple_of(n) || n > x.num_elements().max(MAX_RANK) {
        return invalid(
            "Split",
            format!("axis {at} of shape {} cannot be split into {n} equal parts", x.shape()),
        );
    }
    split_v(x, &vec![(len / n) as i64; n], axis, allocator)
}

/// `SplitV` into parts of these lengths along an axis; one may be -1 and takes the rest.
pub fn split_v(
    x: &HostTensor,
    sizes: &[i64],
    axis: i64,
    allocator: &Arc<dyn Allocator>,
) -> Result<Vec<HostTensor>, TensorError> {
    let at = resolve_axis(x.shape(), axis)?;
    let len = x.shape().dims()[at];
    let known = sizes
        .iter()
        .filter(|&&s| s != -1)
        .try_fold(0i64, |sum, &s| if s < 0 { None } else { sum.checked_add(s) });
    let free = sizes.iter().filter(|&&s| s == -1).count();
    let rest = known.and_then(|known| usize::try_from(known).ok()).and_then(|known| len.checked_sub(known));
    let rest = match rest {
        Some(rest) if free == 1 || (free == 0 && rest == 0) => rest,
        _ => {
            return invalid(
                "SplitV",
                format!("axis {at} of shape {} cannot be split into {sizes:?}", x.shape()),
            );
        }
    };
    let mut begin = vec![0i64; x.shape().rank()];
    let mut size = vec![-1i64; x.shape().rank()];
    let mut parts = Vec::with_capacity(sizes.len());
    for &s in sizes {
        size[at] = if s == -1 { rest as i64 } else { s };
        parts.push(slice(x, &begin, &size, allocator)?);
        begin[at] += size[at];
    }
    Ok(parts)
}

/// `Slice`: `size[i]` positions from `begin[i]` along each axis; a size of -1 means the rest.
pub fn slice(
    x: &HostTensor,
    begin: &[i64],
    size: &[i64],
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let dims = x.shape().dims();
    let bad = || format!("begin {begin:?} and size {size:?} do not fit shape {}", x.shape());
    if begin.len() != dims.len() || size.len() != dims.len() {
        return invalid("Slice", bad());
    }
    let mut ranges = Vec::with_capacity(dims.len());
    for ((&dim, &begin), &size) in dims.iter().zip(begin).zip(size) {
        let start = usize::try_from(begin).ok().filter(|&start| start <= dim);
        let len = start.and_then(|start| match size {
            -1 => Some(dim - start),
            size => usize::try_from(size).ok().filter(|&len| len <= dim - start),
        });
        match (start, len) {
            (Some(start), Some(len)) => ranges.push((start, len)),
            _ => return invalid("Slice", bad()),
        }
    }
    let shape = Shape::new(&ranges.iter().map(|&(_, len)| len).collect::<Vec<_>>())?;
    gather_offsets(x, shape, &[], allocator, || {
        let axes = ranges.iter().zip(strides(x.shape()));
        axes.map(|(&(start, len), s)| AxisMap::Step { len, start: start * s, step: s as isize }).collect()
    })
}

/// What `StridedSlice` does with each entry of its lists: a bit per entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SliceMasks {
    /// From the first position on.
    pub begin: u64,
    /// To the last position.
    pub end: u64,
    /// As many entire axes as are missing; at most one.
    pub ellipsis: u64,
    /// A new axis of length 1.
    pub new_axis: u64,
    /// One position, and the axis goes away.
    pub shrink_axis: u64,
}

/// `StridedSlice`, `x[begin:end:strides, ...]` as in Python: positions from the end are negative, those out of range are clamped, except
/// where the axis shrinks.
pub fn strided_slice(
    x: &HostTensor,
    begin: &[i64],
    end: &[i64],
    steps: &[i64],
    masks: SliceMasks,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "StridedSlice";
    let n = begin.len();
    let entries = || format!("[{begin:?}, {end:?}, {steps:?}) of shape {}", x.shape());
    if n != end.len() || n != steps.len() || n > MAX_RANK {
        return invalid(op, format!("lists that do not fit: {}", entries()));
    }
    let bit = |mask: u64, i: usize| mask >> i & 1 == 1; // i < MAX_RANK
    let ellipses = (0..n).filter(|&i| bit(masks.ellipsis, i)).count();
    let takes_axis = |i: &usize| !bit(masks.ellipsis, *i) && !bit(masks.new_axis, *i);
    let n_taken = (0..n).filter(takes_axis).count();
    let rank = x.shape().rank();
    if ellipses > 1 || n_taken > rank {
        return invalid(op, format!("too many entries: {}", entries()));
    }
    let strides = strides(x.shape());
    let mut axes = x.shape().dims().iter().zip(&strides);
    // The axes of the walk, and beside each the length in the result, if it has one.
    let (mut maps, mut dims) = (Vec::new(), Vec::new());
    let whole = |(&len, &s): (&usize, &usize)| AxisMap::Step { len, start: 0, step: s as isize };
    for i in 0..n {
        if bit(masks.ellipsis, i) {
            for axis in axes.by_ref().take(rank - n_taken) {
                dims.push(*axis.0);
                maps.push(whole(axis));
            }
            continue;
        }
        if bit(masks.new_axis, i) {
            dims.push(1);
            continue;
        }
        let Some((&dim, &stride)) = axes.next() else { return invalid(op, entries()) };
        let (len, step) = (dim as i128, i128::from(steps[i]));
        if step == 0 {
            return invalid(op, format!("a stride of 0: {}", entries()));
        }
        let from_start = |p: i64| if p < 0 { i128::from(p) + len } else { i128::from(p) };
        if bit(masks.shrink_axis, i) {
            let at = if bit(masks.begin, i) { 0 } else { from_start(begin[i]) };
            if !(0..len).contains(&at) || step < 0 {
                return invalid(
                    op,
                    format!("index {} is out of range in axis of length {dim}: {}", begin[i], entries()),
                );
            }
            maps.push(AxisMap::Step { len: 1, start: at as usize * stride, step: 0 });
            continue;
        }
        // A walk backwards begins at len - 1 and ends before position 0, at -1.
        let (low, high) = if step > 0 { (0, len) } else { (-1, len - 1) };
        let first = if bit(masks.begin, i) {
            if step > 0 { low } else { high }
        } else {
            from_start(begin[i]).clamp(low, high)
        };
        let last = if bit(masks.end, i) {
            if step > 0 { high } else { low }
        } else {
            from_start(end[i]).clamp(low, high)
        };
        let distance = if step > 0 { last - first } else { first - last };
        let count = if distance > 0 { (distance - 1) / step.abs() + 1 } else { 0 };
        let (start, step) =
            if count > 0 { (first as usize * stride, (step * stride as i128) as isize) } else { (0, 0) };
        maps.push(AxisMap::Step { len: count as usize, start, step });
        dims.push(count as usize);
    }
    for axis in axes {
        dims.push(*axis.0);
        maps.push(whole(axis));
    }
    gather_offsets(x, Shape::new(&dims)?, &[], allocator, || maps)
}

/// What stands in the added positions of a pad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PadMode<'a> {
    /// `Pad`, `PadV2`: this element, as its bytes; nothing means zeros.
    Constant(&'a [u8]),
    /// `MirrorPad` that does not repeat the border: `c b | a b c | b a`.
    Reflect,
    /// `MirrorPad` that repeats it: `b a | a b c | c b`.
    Symmetric,
}

/// `Pad`, `PadV2`, `MirrorPad`: `(before, after)` positions more along each axis. A reflection adds fewer than the axis is long, a
/// symmetry not more.
pub fn pad(
    x: &HostTensor,
    paddings: &[(i64, i64)],
    mode: PadMode<'_>,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let bad = || format!("paddings {paddings:?} do not fit shape {}", x.shape());
    let dims = x.shape().dims();
    if paddings.len() != dims.len() {
        return invalid("Pad", bad());
    }
    let zeros = [0u8; 16];
    let element = match mode {
        PadMode::Constant([]) => &zeros[..x.dtype().size()],
        PadMode::Constant(bytes) if bytes.len() == x.dtype().size() => bytes,
        PadMode::Constant(bytes) => {
            return Err(TensorError::BufferSize { want: x.dtype().size(), got: bytes.len() });
        }
        PadMode::Reflect | PadMode::Symmetric => &[],
    };
    let mut padded = Vec::with_capacity(dims.len());
    for (&dim, &(before, after)) in dims.iter().zip(paddings) {
        let (Ok(before), Ok(after)) = (usize::try_from(before), usize::try_from(after)) else {
            return invalid("Pad", bad());
        };
        let limit = match mode {
            PadMode::Constant(_) => usize::MAX,
            PadMode::Reflect => dim.saturating_sub(1),
            PadMode::Symmetric => dim,
        };
        if before > limit || after > limit {
            return invalid("Pad", bad());
        }
        let len = dim.checked_add(before).and_then(|n| n.checked_add(after)).ok_or(TensorError::TooLarge)?;
        padded.push((before, len));
    }
    let shape = Shape::new(&padded.iter().map(|&(_, len)| len).collect::<Vec<_>>())?;
    gather_offsets(x, shape, element, allocator, || {
        let axes = dims.iter().zip(&padded).zip(strides(x.shape()));
        axes.map(|((&dim, &(before, len)), stride)| {
            let source = |i: usize| match (i.checked_sub(before), mode) {
                (Some(i), _) if i < dim => i * stride,
                (_, PadMode::Constant(_)) => OUTSIDE,
                (Some(i), PadMode::Reflect) => (2 * dim - 2 - i) * stride,
                (Some(i), PadMode::Symmetric) => (2 * dim - 1 - i) * stride,
                (None, PadMode::Reflect) => (before - i) * stride,
                (None, PadMode::Symmetric) => (before - i - 1) * stride,
            };
            AxisMap::Table((0..len).map(source).collect())
        })
        .collect()
    })
}

/// `Tile`: repeated `multiples[i]` times along axis `i`.
pub fn tile(
    x: &HostTensor,
    multiples: &[i64],
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let dims = x.shape().dims();
    let tiled = (multiples.len() == dims.len()).then(|| {
        dims.iter()
            .zip(multiples)
            .map(|(&d, &m)| d.checked_mul(usize::try_from(m).ok()?))
            .collect::<Option<Vec<_>>>()
    });
    let Some(Some(tiled)) = tiled else {
        return invalid("Tile", format!("multiples {multiples:?} do not fit shape {}", x.shape()));
    };
    gather_offsets(x, Shape::new(&tiled)?, &[], allocator, || {
        let axes = dims.iter().zip(&tiled).zip(strides(x.shape()));
        axes.map(|((&dim, &len), s)| AxisMap::Table((0..len).map(|i| i % dim * s).collect())).collect()
    })
}

/// `ReverseV2`: backwards along these axes.
pub fn reverse(
    x: &HostTensor,
    axes: &[i64],
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let set = axis_set("ReverseV2", x.shape(), axes)?;
    gather_offsets(x, x.shape().clone(), &[], allocator, || {
        let dims = x.shape().dims().iter().zip(strides(x.shape()));
        dims.zip(&set)
            .map(|((&len, s), &backwards)| match backwards {
                true => AxisMap::Step { len, start: (len - 1) * s, step: -(s as isize) },
                false => AxisMap::Step { len, start: 0, step: s as isize },
            })
            .collect()
    })
}

/// `Roll`: shifted by `shifts[k]` positions along `axes[k]`, around the end. An axis may occur more than once.
pub fn roll(
    x: &HostTensor,
    shifts: &[i64],
    axes: &[i64],
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    if shifts.len() != axes.len() {
        return invalid("Roll", format!("{} shifts for {} axes", shifts.len(), axes.len()));
    }
    let mut by_axis = vec![0i128; x.shape().rank()];
    for (&shift, &axis) in shifts.iter().zip(axes) {
        by_axis[resolve_axis(x.shape(), axis)?] += i128::from(shift);
    }
    gather_offsets(x, x.shape().clone(), &[], allocator, || {
        let dims = x.shape().dims().iter().zip(strides(x.shape()));
        dims.zip(&by_axis)
            .map(|((&len, s), &shift)| {
                let source = |i: usize| (i as i128 - shift).rem_euclid(len as i128) as usize * s;
                AxisMap::Table((0..len).map(source).collect())
            })
            .collect()
    })
}

/// `GatherV2` without batch dimensions: slices of `x` along an axis, the axis replaced by the shape of the indices (i32 or i64).
pub fn gather(
    x: &HostTensor,
    indices: &HostTensor,
    axis: i64,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let at = resolve_axis(x.shape(), axis)?;
    let (before, rest) = x.shape().dims().split_at(at);
    let positions = super::index::positions("GatherV2", indices, rest[0], x.shape())?;
    let flat = [before, &[positions.len()], &rest[1..]].concat();
    let shape = Shape::new(&[before, indices.shape().dims(), &rest[1..]].concat())?;
    let out = gather_offsets(x, Shape::new(&flat)?, &[], allocator, || {
        let mut maps = identity(x.shape());
        let stride = strides(x.shape())[at];
        maps[at] = AxisMap::Table(positions.iter().map(|&p| p * stride).collect());
        maps
    })?;
    out.reshaped(shape)
}

/// `SpaceToDepth` of an NHWC tensor: blocks of `block` by `block` pixels become channels.
pub fn space_to_depth(
    x: &HostTensor,
    block: usize,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let &[n, h, w, c] = x.shape().dims() else {
        return Err(TensorError::Rank { what: "x", want: 4, got: x.shape().clone() });
    };
    if block < 2 || !h.is_multiple_of(block) || !w.is_multiple_of(block) {
        return invalid("SpaceToDepth", format!("no blocks of {block} in shape {}", x.shape()));
    }
    let (rows, cols) = (h / block, w / block);
    let blocks = x.reshaped(Shape::new(&[n, rows, block, cols, block, c])?)?;
    let depth = block.checked_mul(block).and_then(|area| area.checked_mul(c)).ok_or(TensorError::TooLarge)?;
    transpose(&blocks, &[0, 1, 3, 2, 4, 5], allocator)?.reshaped(Shape::new(&[n, rows, cols, depth])?)
}

/// `DepthToSpace` of an NHWC tensor: the inverse of [`space_to_depth`].
pub fn depth_to_space(
    x: &HostTensor,
    block: usize,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let &[n, h, w, c] = x.shape().dims() else {
        return Err(TensorError::Rank { what: "x", want: 4, got: x.shape().clone() });
    };
    let area = block.checked_mul(block).filter(|&area| area > 1 && c.is_multiple_of(area));
    let (Some(area), Some(rows), Some(cols)) = (area, h.checked_mul(block), w.checked_mul(block)) else {
        return invalid("DepthToSpace", format!("no blocks of {block} in shape {}", x.shape()));
    };
    let blocks = x.reshaped(Shape::new(&[n, h, w, block, block, c / area])?)?;
    transpose(&blocks, &[0, 1, 3, 2, 4, 5], allocator)?.reshaped(Shape::new(&[n, rows, cols, c / area])?)
}
