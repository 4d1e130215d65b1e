//! Movement of elements: transposition, repetition, reversal, blocks. No arithmetic; moved as bytes for every
//! dtype.

use std::sync::Arc;

use super::fast::Cx;
use super::pads::{PadMode, pad};
use super::shapes::{axis_set, permutation};
use super::slices::slice;
use super::walk::{AxisMap, broadcast_maps, broadcast_shape, gather_offsets, strides};
use crate::error::invalid;
use crate::mem::Allocator;
use crate::scratch::collected;
use crate::{HostTensor, Shape, TensorError, resolve_axis};

/// `Transpose`: axis `i` of the result is axis `perm[i]` of `x`.
pub fn transpose(
    x: &HostTensor,
    perm: &[i64],
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let axes = permutation("Transpose", x.shape(), perm)?;
    let (dims, strides) = (x.shape().dims(), strides(x.shape()));
    let shape = Shape::new(&axes.iter().map(|&a| dims[a]).collect::<Vec<_>>())?;
    gather_offsets(x, shape, &[], &Cx::serial(allocator), || {
        let step = |&a: &usize| AxisMap::Step { len: dims[a], start: 0, step: strides[a] as isize };
        Ok(axes.iter().map(step).collect())
    })
}

/// `BroadcastTo`: `x` repeated along axes that it lacks and along its axes of length 1.
pub fn broadcast_to(
    x: &HostTensor,
    shape: &Shape,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    if x.shape().rank() > shape.rank() || broadcast_shape(x.shape(), shape)? != *shape {
        return Err(TensorError::Broadcast { a: x.shape().clone(), b: shape.clone() });
    }
    gather_offsets(x, shape.clone(), &[], &Cx::serial(allocator), || Ok(broadcast_maps(x.shape(), shape)))
}

/// `Tile`: `x` repeated `multiples[i]` times along axis `i`.
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
    gather_offsets(x, Shape::new(&tiled)?, &[], &Cx::serial(allocator), || {
        // Two axes for each: the copies, and the positions in one.
        let axes = dims.iter().zip(&tiled).zip(strides(x.shape()));
        Ok(axes
            .flat_map(|((&dim, &len), stride)| {
                let copies = AxisMap::Step { len: len / dim.max(1), start: 0, step: 0 };
                [copies, AxisMap::Step { len: dim, start: 0, step: stride.cast_signed() }]
            })
            .collect())
    })
}

/// `ReverseV2`: `x` in reverse order along the given axes.
pub fn reverse(
    x: &HostTensor,
    axes: &[i64],
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let set = axis_set("ReverseV2", x.shape(), axes)?;
    gather_offsets(x, x.shape().clone(), &[], &Cx::serial(allocator), || {
        let dims = x.shape().dims().iter().zip(strides(x.shape()));
        let step = |((&len, s), &backwards): ((&usize, usize), &bool)| match backwards {
            true => AxisMap::Step { len, start: (len - 1) * s, step: -(s as isize) },
            false => AxisMap::Step { len, start: 0, step: s as isize },
        };
        Ok(dims.zip(&set).map(step).collect())
    })
}

/// `Roll`: `x` shifted cyclically by `shifts[k]` positions along `axes[k]`. An axis may occur more than once.
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
    gather_offsets(x, x.shape().clone(), &[], &Cx::serial(allocator), || {
        let dims = x.shape().dims().iter().zip(strides(x.shape()));
        dims.zip(&by_axis)
            .map(|((&len, s), &shift)| {
                let source = |i: usize| (i as i128 - shift).rem_euclid(len as i128) as usize * s;
                Ok(AxisMap::Table(collected((0..len).map(source))?))
            })
            .collect()
    })
}

/// `ReverseSequence`: for each position `b` along `batch_axis`, reverses the first `lengths[b]` positions
/// along `seq_axis`.
pub fn reverse_sequence(
    x: &HostTensor,
    lengths: &[i64],
    seq_axis: i64,
    batch_axis: i64,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "ReverseSequence";
    let (seq, batch) = (resolve_axis(x.shape(), seq_axis)?, resolve_axis(x.shape(), batch_axis)?);
    let dims = x.shape().dims();
    if seq == batch {
        return invalid(op, format!("axis {seq} of shape {} is both", x.shape()));
    }
    if lengths.len() != dims[batch] {
        let problem = format!("{} lengths for axis {batch} of shape {}", lengths.len(), x.shape());
        return invalid(op, problem);
    }
    if let Some(length) = lengths.iter().find(|&&length| length < 0 || length as u64 > dims[seq] as u64) {
        return invalid(op, format!("length {length} does not fit axis {seq} of shape {}", x.shape()));
    }
    let out = HostTensor::allocate(x.dtype(), x.shape().clone(), allocator)?;
    if out.num_elements() > 0 {
        let strides = strides(x.shape());
        let last = seq.max(batch);
        let slab = strides[last] * x.dtype().size();
        // Positions are counted in slabs: the elements behind both axes, which move together.
        let (seq_step, batch_step) = (strides[seq] / strides[last], strides[batch] / strides[last]);
        let from = x.read_bytes()?;
        for (i, to) in out.write_bytes()?.chunks_exact_mut(slab).enumerate() {
            let (at, length) = (i / seq_step % dims[seq], lengths[i / batch_step % dims[batch]] as usize);
            let source = if at < length { i - at * seq_step + (length - 1 - at) * seq_step } else { i };
            to.copy_from_slice(&from[source * slab..][..slab]);
        }
    }
    Ok(out)
}

/// `SpaceToBatchND`: the axes after the first, one for each block size, are zero-padded and divided into
/// blocks. The positions within a block move to the batch axis.
pub fn space_to_batch(
    x: &HostTensor,
    blocks: &[i64],
    paddings: &[(i64, i64)],
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "SpaceToBatchND";
    let sizes = block_sizes(op, x, blocks, paddings)?;
    let mut around = vec![(0, 0); x.shape().rank()];
    around[1..=sizes.len()].copy_from_slice(paddings);
    let padded = pad(x, &around, PadMode::Constant(&[]), allocator)?;
    let dims = padded.shape().dims();
    let (space, rest) = dims[1..].split_at(sizes.len());
    if let Some(at) = (0..sizes.len()).find(|&i| !space[i].is_multiple_of(sizes[i])) {
        return invalid(
            op,
            format!("no blocks of {} in axis {} of padded shape {}", sizes[at], at + 1, padded.shape()),
        );
    }
    let m = sizes.len() as i64;
    let (mut apart, mut result) = (vec![dims[0]], vec![dims[0]]);
    for (&len, &size) in space.iter().zip(&sizes) {
        apart.extend([len / size, size]);
        result[0] = result[0].checked_mul(size).ok_or(TensorError::TooLarge)?;
        result.push(len / size);
    }
    apart.extend(rest);
    result.extend(rest);
    let mut perm: Vec<i64> = (0..m).map(|i| 2 * i + 2).collect();
    perm.push(0);
    perm.extend((0..m).map(|i| 2 * i + 1));
    perm.extend(2 * m + 1..apart.len() as i64);
    transpose(&padded.reshaped(Shape::new(&apart)?)?, &perm, allocator)?.reshaped(Shape::new(&result)?)
}

/// `BatchToSpaceND`: the inverse of [`space_to_batch`], with `crops` removed.
pub fn batch_to_space(
    x: &HostTensor,
    blocks: &[i64],
    crops: &[(i64, i64)],
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let op = "BatchToSpaceND";
    let sizes = block_sizes(op, x, blocks, crops)?;
    let dims = x.shape().dims();
    let parts = sizes.iter().try_fold(1usize, |all, &size| all.checked_mul(size));
    let Some(parts) = parts.filter(|&parts| dims[0].is_multiple_of(parts)) else {
        return invalid(op, format!("no blocks of {sizes:?} in the batch of shape {}", x.shape()));
    };
    let (space, rest) = dims[1..].split_at(sizes.len());
    let m = sizes.len() as i64;
    let (mut apart, mut perm) = (sizes.clone(), vec![m]);
    apart.push(dims[0] / parts);
    apart.extend(&dims[1..]);
    let mut result = vec![dims[0] / parts];
    for (i, (&len, &size)) in (0..).zip(space.iter().zip(&sizes)) {
        perm.extend([m + 1 + i, i]);
        result.push(len.checked_mul(size).ok_or(TensorError::TooLarge)?);
    }
    perm.extend(2 * m + 1..apart.len() as i64);
    result.extend(rest);
    let whole =
        transpose(&x.reshaped(Shape::new(&apart)?)?, &perm, allocator)?.reshaped(Shape::new(&result)?)?;
    let (mut begin, mut size) = (vec![0; result.len()], vec![-1; result.len()]);
    for (i, &(before, after)) in (1..).zip(crops) {
        let left = result[i] as i64;
        begin[i] = before;
        size[i] = left.saturating_sub(before).saturating_sub(after);
        if before < 0 || after < 0 || size[i] < 0 {
            return invalid(op, format!("crops ({before}, {after}) of axis {i} of shape {}", whole.shape()));
        }
    }
    slice(&whole, &begin, &size, allocator)
}

/// The block sizes of the axes after the first. Fails unless all are positive and there is one for each pair.
fn block_sizes(
    op: &'static str,
    x: &HostTensor,
    blocks: &[i64],
    pairs: &[(i64, i64)],
) -> Result<Vec<usize>, TensorError> {
    let sizes: Option<Vec<usize>> =
        blocks.iter().map(|&size| usize::try_from(size).ok().filter(|&size| size > 0)).collect();
    match sizes {
        Some(sizes) if sizes.len() == pairs.len() && sizes.len() < x.shape().rank() => Ok(sizes),
        _ => invalid(op, format!("blocks of {blocks:?} and {} pairs for shape {}", pairs.len(), x.shape())),
    }
}

/// `SpaceToDepth` of an NHWC tensor: blocks of `block` by `block` pixels become channels.
pub fn space_to_depth(
    x: &HostTensor,
    block: usize,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let blocks = BlockTranspose::new("SpaceToDepth", x, block, |[n, h, w, c]| {
        let fits = h.is_multiple_of(block) && w.is_multiple_of(block);
        let depth = block.checked_mul(block)?.checked_mul(c)?;
        fits.then_some(([n, h / block, block, w / block, block, c], [n, h / block, w / block, depth]))
    })?;
    blocks.transposed(x, allocator)
}

/// `DepthToSpace` of an NHWC tensor: the inverse of [`space_to_depth`].
pub fn depth_to_space(
    x: &HostTensor,
    block: usize,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let blocks = BlockTranspose::new("DepthToSpace", x, block, |[n, h, w, c]| {
        let area = block.checked_mul(block).filter(|&area| c.is_multiple_of(area))?;
        let (rows, cols) = (h.checked_mul(block)?, w.checked_mul(block)?);
        Some(([n, h, w, block, block, c / area], [n, rows, cols, c / area]))
    })?;
    blocks.transposed(x, allocator)
}

/// An exchange of blocks and channels of images: the images take shape `apart`, axes 2 and 3 are transposed,
/// and the transposed images take shape `result`.
struct BlockTranspose {
    apart: Shape,
    result: Shape,
}

impl BlockTranspose {
    /// `dims` returns `None` if the blocks do not fit.
    fn new(
        op: &'static str,
        x: &HostTensor,
        block: usize,
        dims: impl FnOnce([usize; 4]) -> Option<([usize; 6], [usize; 4])>,
    ) -> Result<BlockTranspose, TensorError> {
        let &[n, h, w, c] = x.shape().dims() else {
            return Err(TensorError::Rank { what: "x", want: 4, got: x.shape().clone() });
        };
        let Some((apart, result)) = Some([n, h, w, c]).filter(|_| block >= 2).and_then(dims) else {
            return invalid(op, format!("no blocks of {block} in shape {}", x.shape()));
        };
        Ok(BlockTranspose { apart: Shape::new(&apart)?, result: Shape::new(&result)? })
    }

    fn transposed(self, x: &HostTensor, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
        transpose(&x.reshaped(self.apart)?, &[0, 1, 3, 2, 4, 5], allocator)?.reshaped(self.result)
    }
}
