//! Moving elements: transposes, repetitions, reversals, blocks. No arithmetic, every dtype, bytes only.

use std::sync::Arc;

use super::shapes::{axis_set, permutation};
use super::walk::{AxisMap, broadcast_maps, broadcast_shape, gather_offsets, strides};
use crate::error::invalid;
use crate::mem::Allocator;
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
    gather_offsets(x, shape.clone(), &[], allocator, || broadcast_maps(x.shape(), shape))
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

/// `SpaceToDepth` of an NHWC tensor: blocks of `block` by `block` pixels become channels.
pub fn space_to_depth(
    x: &HostTensor,
    block: usize,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let blocks = Blocks::new("SpaceToDepth", x, block, |[n, h, w, c]| {
        let fits = h.is_multiple_of(block) && w.is_multiple_of(block);
        let depth = block.checked_mul(block)?.checked_mul(c)?;
        fits.then_some(([n, h / block, block, w / block, block, c], [n, h / block, w / block, depth]))
    })?;
    blocks.turned(x, allocator)
}

/// `DepthToSpace` of an NHWC tensor: the inverse of [`space_to_depth`].
pub fn depth_to_space(
    x: &HostTensor,
    block: usize,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let blocks = Blocks::new("DepthToSpace", x, block, |[n, h, w, c]| {
        let area = block.checked_mul(block).filter(|&area| c.is_multiple_of(area))?;
        let (rows, cols) = (h.checked_mul(block)?, w.checked_mul(block)?);
        Some(([n, h, w, block, block, c / area], [n, rows, cols, c / area]))
    })?;
    blocks.turned(x, allocator)
}

/// Images whose blocks and pixels change places: axes 2 and 3 of `apart`, which has the elements of the images and of the `result`.
struct Blocks {
    apart: Shape,
    result: Shape,
}

impl Blocks {
    /// `None` of the function means that the blocks do not fit.
    fn new(
        op: &'static str,
        x: &HostTensor,
        block: usize,
        dims: impl FnOnce([usize; 4]) -> Option<([usize; 6], [usize; 4])>,
    ) -> Result<Blocks, TensorError> {
        let &[n, h, w, c] = x.shape().dims() else {
            return Err(TensorError::Rank { what: "x", want: 4, got: x.shape().clone() });
        };
        let Some((apart, result)) = Some([n, h, w, c]).filter(|_| block >= 2).and_then(dims) else {
            return invalid(op, format!("no blocks of {block} in shape {}", x.shape()));
        };
        Ok(Blocks { apart: Shape::new(&apart)?, result: Shape::new(&result)? })
    }

    fn turned(self, x: &HostTensor, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, TensorError> {
        transpose(&x.reshaped(self.apart)?, &[0, 1, 3, 2, 4, 5], allocator)?.reshaped(self.result)
    }
}
