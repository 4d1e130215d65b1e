//! `Slice`, and `StridedSlice` with its gradient, moved as bytes for every dtype.

use std::sync::Arc;

use super::fast::Cx;
use super::walk::{AxisMap, Offsets, broadcast_maps, broadcast_shape, gather_offsets, strides};
use crate::error::invalid;
use crate::mem::Allocator;
use crate::{HostTensor, MAX_RANK, Shape, TensorError};

/// `Slice`: `size[i]` positions from `begin[i]` along each axis; a size of -1 means the rest.
pub fn slice(
    x: &HostTensor,
    begin: &[i64],
    size: &[i64],
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    slice_on(x, begin, size, &Cx::serial(allocator))
}

/// [`slice`] on several threads.
pub fn slice_on(x: &HostTensor, begin: &[i64], size: &[i64], cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
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
    gather_offsets(x, shape, &[], cx, || {
        let axes = ranges.iter().zip(strides(x.shape()));
        Ok(axes.map(|(&(start, len), s)| AxisMap::Step { len, start: start * s, step: s as isize }).collect())
    })
}

/// The masks of `StridedSlice`, with one bit per entry of its lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SliceMasks {
    /// `begin` is ignored: the slice starts at the first position.
    pub begin: u64,
    /// `end` is ignored: the slice runs to the last position.
    pub end: u64,
    /// The entry is an ellipsis, which stands for all axes without an entry; at most one.
    pub ellipsis: u64,
    /// The entry inserts a new axis of length 1.
    pub new_axis: u64,
    /// The entry selects one position, and the axis is removed.
    pub shrink_axis: u64,
}

/// The lists of a `StridedSlice`. An entry is an axis, unless a mask makes it an ellipsis or a new axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SliceRange<'a> {
    /// The start of each entry.
    pub begin: &'a [i64],
    /// The exclusive end of each entry.
    pub end: &'a [i64],
    /// The step of each entry; not 0.
    pub strides: &'a [i64],
    /// The masks.
    pub masks: SliceMasks,
}

/// `StridedSlice`, `x[begin:end:strides, ...]` as in Python: negative positions count from the end; positions
/// out of range are clamped, except where the axis is shrunk.
pub fn strided_slice(
    x: &HostTensor,
    range: &SliceRange<'_>,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    strided_slice_on(x, range, &Cx::serial(allocator))
}

/// [`strided_slice`] on several threads.
pub fn strided_slice_on(
    x: &HostTensor,
    range: &SliceRange<'_>,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let (shape, maps) = plan("StridedSlice", x.shape(), range)?;
    gather_offsets(x, shape, &[], cx, || Ok(maps))
}

/// `StridedSliceGrad`: a tensor of the original shape with `dy` at the slice and zeros elsewhere.
pub fn strided_slice_grad(
    shape: &Shape,
    range: &SliceRange<'_>,
    dy: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let (sliced, maps) = plan("StridedSliceGrad", shape, range)?;
    dy.expect_shape("dy", &sliced)?;
    let out = HostTensor::zeros(dy.dtype(), shape.clone(), allocator)?;
    if sliced.num_elements() > 0 {
        put(&out, dy, &sliced, maps)?;
    }
    Ok(out)
}

/// `TensorStridedSliceUpdate`: a copy of `x` with the slice replaced by `value`, which broadcasts to the
/// slice's shape and may have additional leading axes of length 1. If the slice is empty, the shape of
/// `value` is not checked.
pub fn tensor_strided_slice_update(
    x: &HostTensor,
    range: &SliceRange<'_>,
    value: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    value.expect_dtype("value", x.dtype())?;
    let (sliced, maps) = plan("TensorStridedSliceUpdate", x.shape(), range)?;
    let out = HostTensor::allocate(x.dtype(), x.shape().clone(), allocator)?;
    out.write_bytes()?.copy_from_slice(&x.read_bytes()?);
    if sliced.num_elements() > 0 {
        let dims = value.shape().dims();
        let more = dims.len().saturating_sub(sliced.rank());
        let extra = dims.iter().take(more).take_while(|&&dim| dim == 1).count();
        let value = value.reshaped(Shape::new(&dims[extra..])?)?;
        if broadcast_shape(value.shape(), &sliced).ok().as_ref() != Some(&sliced) {
            value.expect_shape("value", &sliced)?;
        }
        put(&out, &value, &sliced, maps)?;
    }
    Ok(out)
}

/// Overwrites the elements of `out` at the offsets with the elements of `value`, broadcast to `shape`.
fn put(out: &HostTensor, value: &HostTensor, shape: &Shape, maps: Vec<AxisMap>) -> Result<(), TensorError> {
    let size = out.dtype().size();
    let (from, mut to) = (value.read_bytes()?, out.write_bytes()?);
    let sources = Offsets::new(broadcast_maps(value.shape(), shape));
    for (source, at) in sources.zip(Offsets::new(maps)) {
        to[at * size..(at + 1) * size].copy_from_slice(&from[source * size..(source + 1) * size]);
    }
    Ok(())
}

/// The shape of a slice, and the offset maps of its elements.
fn plan(
    op: &'static str,
    shape: &Shape,
    range: &SliceRange<'_>,
) -> Result<(Shape, Vec<AxisMap>), TensorError> {
    let SliceRange { begin, end, strides: steps, masks } = *range;
    let n = begin.len();
    let entries = || format!("[{begin:?}, {end:?}, {steps:?}) of shape {shape}");
    if n != end.len() || n != steps.len() || n > MAX_RANK {
        return invalid(op, format!("lists that do not fit: {}", entries()));
    }
    let bit = |mask: u64, i: usize| mask >> i & 1 == 1; // i < MAX_RANK
    let ellipses = (0..n).filter(|&i| bit(masks.ellipsis, i)).count();
    let takes_axis = |i: &usize| !bit(masks.ellipsis, *i) && !bit(masks.new_axis, *i);
    let n_taken = (0..n).filter(takes_axis).count();
    let rank = shape.rank();
    if ellipses > 1 || n_taken > rank {
        return invalid(op, format!("too many entries: {}", entries()));
    }
    let strides = strides(shape);
    let mut axes = shape.dims().iter().zip(&strides);
    // The offset maps of all axes of `x`, and the dimensions of the result, which lacks shrunk axes and has
    // new ones.
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
            // As in TensorFlow, the axis of a single index has no open bounds.
            let at = from_start(begin[i]);
            if !(0..len).contains(&at) || step < 0 {
                return invalid(
                    op,
                    format!("index {} is out of range in axis of length {dim}: {}", begin[i], entries()),
                );
            }
            maps.push(AxisMap::Step { len: 1, start: at as usize * stride, step: 0 });
            continue;
        }
        // A backward walk begins at len - 1 and ends before position 0, at -1.
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
    Ok((Shape::new(&dims)?, maps))
}
