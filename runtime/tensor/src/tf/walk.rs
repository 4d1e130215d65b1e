//! Where the elements of a result come from: every movement of data is a walk over the result.
//!
//! Each axis of the result maps its positions to offsets in the source, and the offsets of the axes add up. A step per position
//! makes slices, transposes, reversals and (step 0) broadcasts; a table makes pads, rolls and gathers. [`OUTSIDE`] in a
//! table means that the source has no such element.
//!
//! Elements are moved as bytes, so one function serves all dtypes. Nothing here is sized by anything but a result that was
//! allocated before.

use std::sync::Arc;

use crate::mem::Allocator;
use crate::{HostTensor, Shape, TensorError};

/// The offset of what is not there.
pub(crate) const OUTSIDE: usize = usize::MAX;

/// How the positions along an axis of the result map to offsets in the source.
pub(crate) enum AxisMap {
    Step { len: usize, start: usize, step: isize },
    Table(Vec<usize>),
}

impl AxisMap {
    fn len(&self) -> usize {
        match self {
            AxisMap::Step { len, .. } => *len,
            AxisMap::Table(table) => table.len(),
        }
    }

    fn at(&self, i: usize) -> usize {
        match self {
            // Within the source, which the caller checked; so no product or sum overflows.
            AxisMap::Step { start, step, .. } => start.wrapping_add_signed(step.wrapping_mul(i as isize)),
            AxisMap::Table(table) => table[i],
        }
    }
}

/// The distance in elements between neighbours along each axis.
pub(crate) fn strides(shape: &Shape) -> Vec<usize> {
    let mut strides = vec![1usize; shape.rank()];
    for i in (1..shape.rank()).rev() {
        strides[i - 1] = strides[i] * shape.dims()[i].max(1); // fits: the shape's invariant
    }
    strides
}

/// The source offset of each element of the result, in order.
pub(crate) struct Offsets {
    maps: Vec<AxisMap>,
    index: Vec<usize>,
    outer: usize,
    remaining: usize,
}

impl Offsets {
    pub(crate) fn new(maps: Vec<AxisMap>) -> Offsets {
        let remaining = maps.iter().map(AxisMap::len).product();
        let mut offsets = Offsets { index: vec![0; maps.len()], maps, outer: 0, remaining };
        if remaining > 0 {
            offsets.outer = offsets.sum_outer();
        }
        offsets
    }

    fn sum_outer(&self) -> usize {
        let n_outer = self.maps.len().saturating_sub(1);
        self.maps[..n_outer].iter().zip(&self.index).fold(0, |sum, (map, &i)| join(sum, map.at(i)))
    }
}

fn join(a: usize, b: usize) -> usize {
    if a == OUTSIDE || b == OUTSIDE { OUTSIDE } else { a + b }
}

impl Iterator for Offsets {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.remaining = self.remaining.checked_sub(1)?;
        let (Some(last), Some(i)) = (self.maps.last(), self.index.last_mut()) else {
            return Some(0);
        };
        let offset = join(self.outer, last.at(*i));
        *i += 1;
        if *i == last.len() && self.remaining > 0 {
            *i = 0;
            let n_outer = self.maps.len() - 1;
            for (i, map) in self.index[..n_outer].iter_mut().zip(&self.maps).rev() {
                *i += 1;
                if *i < map.len() {
                    break;
                }
                *i = 0;
            }
            self.outer = self.sum_outer();
        }
        Some(offset)
    }
}

/// The common shape by NumPy's rules: aligned at the last axis, a dimension of 1 repeats.
pub(crate) fn broadcast_shape(a: &Shape, b: &Shape) -> Result<Shape, TensorError> {
    let rank = a.rank().max(b.rank());
    let dim = |shape: &Shape, i: usize| (i + shape.rank()).checked_sub(rank).map_or(1, |i| shape.dims()[i]);
    let dims = (0..rank)
        .map(|i| match (dim(a, i), dim(b, i)) {
            (1, y) => Some(y),
            (x, 1) => Some(x),
            (x, y) => (x == y).then_some(x),
        })
        .collect::<Option<Vec<usize>>>()
        .ok_or_else(|| TensorError::Broadcast { a: a.clone(), b: b.clone() })?;
    Shape::new(&dims)
}

/// The offsets in a tensor of shape `from` for each element of the shape `to` that it broadcasts to.
pub(crate) fn broadcast_offsets(from: &Shape, to: &Shape) -> Offsets {
    let missing = to.rank() - from.rank();
    let strides = strides(from);
    let maps = to.dims().iter().enumerate().map(|(i, &len)| {
        let step = match i.checked_sub(missing) {
            Some(i) if from.dims()[i] != 1 => strides[i] as isize,
            _ => 0,
        };
        AxisMap::Step { len, start: 0, step }
    });
    Offsets::new(maps.collect())
}

/// A new tensor of the elements of `x` at the offsets, and of `pad` (an element's bytes) where there are none.
/// `maps` is called for a result that has elements only.
pub(crate) fn gather_offsets(
    x: &HostTensor,
    shape: Shape,
    pad: &[u8],
    allocator: &Arc<dyn Allocator>,
    maps: impl FnOnce() -> Vec<AxisMap>,
) -> Result<HostTensor, TensorError> {
    let out = HostTensor::allocate(x.dtype(), shape, allocator)?;
    if out.num_elements() > 0 {
        let size = x.dtype().size();
        let from = x.read_bytes()?;
        for (slot, offset) in out.write_bytes()?.chunks_exact_mut(size).zip(Offsets::new(maps())) {
            slot.copy_from_slice(if offset == OUTSIDE {
                pad
            } else {
                &from[offset * size..(offset + 1) * size]
            });
        }
    }
    Ok(out)
}
