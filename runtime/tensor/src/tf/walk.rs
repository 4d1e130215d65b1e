//! Offset maps: every movement of data is a walk over the result.
//!
//! Each axis of the result maps its positions to offsets in the source, and the offsets of the axes add up. A
//! constant step expresses slices, transpositions, reversals and (step 0) broadcasts; a table expresses pads,
//! rolls and gathers. [`OUTSIDE`] in a table means that the source has no such element.
//!
//! Neighbouring axes with constant steps are merged where they are one walk, so that blocks that are
//! contiguous in both tensors are copied at once.
//!
//! Elements are moved as bytes, so one function serves all dtypes. All memory here is bounded by a result
//! that was allocated before.

use std::ops::Deref;

use super::fast::Cx;
use crate::interrupt::STEPS;
use crate::scratch::push;
use crate::{HostTensor, Shape, TensorError};

/// The offset of an absent element.
pub(crate) const OUTSIDE: usize = usize::MAX;

/// The map from the positions along an axis of the result to offsets in the source.
#[derive(Clone)]
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
            // The caller checked that the offset is within the source, so the result does not wrap around.
            AxisMap::Step { start, step, .. } => start.wrapping_add_signed(step.wrapping_mul(i as isize)),
            AxisMap::Table(table) => table[i],
        }
    }
}

/// The stride of each axis in elements.
pub(crate) fn strides(shape: &Shape) -> Vec<usize> {
    let mut strides = vec![1usize; shape.rank()];
    for i in (1..shape.rank()).rev() {
        strides[i - 1] = strides[i] * shape.dims()[i].max(1); // fits: the shape's invariant
    }
    strides
}

/// The source offset of each element of the result, in order.
pub(crate) struct Offsets<M = Vec<AxisMap>> {
    maps: M,
    index: Vec<usize>,
    outer: usize,
    remaining: usize,
}

impl<M: Deref<Target = [AxisMap]>> Offsets<M> {
    pub(crate) fn new(maps: M) -> Offsets<M> {
        Offsets::starting_at(maps, 0)
    }

    /// Without the first `first` elements.
    fn starting_at(maps: M, first: usize) -> Offsets<M> {
        let all: usize = maps.iter().map(AxisMap::len).product();
        let mut offsets =
            Offsets { index: vec![0; maps.len()], maps, outer: 0, remaining: all.saturating_sub(first) };
        if offsets.remaining > 0 {
            let mut rest = first;
            for (i, map) in offsets.index.iter_mut().zip(&*offsets.maps).rev() {
                (*i, rest) = (rest % map.len(), rest / map.len());
            }
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

impl<M: Deref<Target = [AxisMap]>> Iterator for Offsets<M> {
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
            for (i, map) in self.index[..n_outer].iter_mut().zip(&*self.maps).rev() {
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

/// The common shape by NumPy's rules: aligned at the last axis, dimensions of 1 repeat.
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

/// The maps of a tensor of shape `from` for the shape `to` that it broadcasts to.
pub(crate) fn broadcast_maps(from: &Shape, to: &Shape) -> Vec<AxisMap> {
    let missing = to.rank() - from.rank();
    let strides = strides(from);
    let maps = to.dims().iter().enumerate().map(|(i, &len)| {
        let step = i.checked_sub(missing).map_or(0, |i| repeating(from.dims()[i], strides[i]));
        AxisMap::Step { len, start: 0, step: step as isize }
    });
    maps.collect()
}

/// The stride along an axis, 0 if the axis has length 1 and repeats.
pub(crate) fn repeating(dim: usize, stride: usize) -> usize {
    if dim == 1 { 0 } else { stride }
}

/// An axis of two tensors that are traversed together: its length, and its stride in each tensor. The stride
/// is 0 if the tensor lacks the axis or is repeated along it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    pub(crate) len: usize,
    pub(crate) a: usize,
    pub(crate) b: usize,
}

/// The offsets in one of the two tensors.
pub(crate) fn offsets(axes: &[Axis], step: fn(&Axis) -> usize) -> Offsets {
    let map = |axis: &Axis| AxisMap::Step { len: axis.len, start: 0, step: step(axis) as isize };
    Offsets::new(axes.iter().map(map).collect())
}

/// The axes of two tensors that broadcast to a shape, merged where both are contiguous.
pub(crate) fn broadcast_axes(a: &Shape, b: &Shape, to: &Shape) -> Vec<Axis> {
    let step = |from: &Shape, strides: &[usize], i: usize| {
        let own = (i + from.rank()).checked_sub(to.rank());
        own.map_or(0, |i| repeating(from.dims()[i], strides[i]))
    };
    let (strides_a, strides_b) = (strides(a), strides(b));
    let mut axes: Vec<Axis> = Vec::with_capacity(to.rank());
    for (i, &len) in to.dims().iter().enumerate().filter(|&(_, &len)| len != 1) {
        let axis = Axis { len, a: step(a, &strides_a, i), b: step(b, &strides_b, i) };
        match axes.last_mut() {
            // For a nonempty result the products are offsets within the operands. For an empty result they
            // are not used.
            Some(outer)
                if outer.a == len.wrapping_mul(axis.a) && outer.b == len.wrapping_mul(axis.b) && len > 0 =>
            {
                *outer = Axis { len: outer.len * len, ..axis };
            }
            _ => axes.push(axis),
        }
    }
    axes
}

/// The same walk with fewer axes: neighbours with constant steps are merged where the inner one ends at the
/// next position of the outer one. No axis becomes longer than `most` positions.
pub(crate) fn merged(maps: Vec<AxisMap>, most: usize) -> Vec<AxisMap> {
    let mut all: Vec<AxisMap> = Vec::with_capacity(maps.len());
    for map in maps {
        let joint = match (all.last(), &map) {
            (
                Some(&AxisMap::Step { len: outer, start, step }),
                &AxisMap::Step { len, start: more, step: inner },
            ) => {
                let step = match (outer, len) {
                    (1, _) => Some(inner),
                    (_, 1) => Some(step),
                    _ => (isize::try_from(len).ok().and_then(|len| inner.checked_mul(len)) == Some(step))
                        .then_some(inner),
                };
                let len = outer.checked_mul(len).filter(|&len| len <= most);
                step.zip(len).map(|(step, len)| AxisMap::Step { len, start: start + more, step })
            }
            _ => None,
        };
        if joint.is_some() {
            all.pop();
        }
        all.push(joint.unwrap_or(map));
    }
    all
}

/// A new tensor with the element of `x` at each offset, or with `pad` (the bytes of an element) where the
/// offset is [`OUTSIDE`]. `maps` is called for a nonempty result only.
pub(crate) fn gather_offsets(
    x: &HostTensor,
    shape: Shape,
    pad: &[u8],
    cx: &Cx<'_>,
    maps: impl FnOnce() -> Result<Vec<AxisMap>, TensorError>,
) -> Result<HostTensor, TensorError> {
    let out = HostTensor::allocate(x.dtype(), shape, cx.allocator)?;
    if out.num_elements() > 0 {
        let (from, mut to) = (x.read_bytes()?, out.write_bytes()?);
        let from = &*from;
        let mut maps = merged(maps()?, STEPS);
        let last = maps.pop().unwrap_or(AxisMap::Step { len: 1, start: 0, step: 0 });
        let runs = runs_of(&last)?;
        let gather_row = match x.dtype().size() {
            1 => gather_row::<1>,
            2 => gather_row::<2>,
            4 => gather_row::<4>,
            8 => gather_row::<8>,
            _ => gather_row::<16>,
        };
        let row = last.len() * x.dtype().size();
        cx.parts(&mut to, (row, 1), &|first, to| {
            let starts = Offsets::starting_at(&maps[..], first / row);
            to.chunks_exact_mut(row)
                .zip(starts)
                .for_each(|(to, start)| gather_row(from, pad, start, (&last, &runs), to));
        });
    }
    Ok(out)
}

/// Neighbouring positions of a table whose offsets are one after another, or all [`OUTSIDE`].
struct TableRun {
    at: usize,
    len: usize,
}

/// The runs of a table, if they are long; otherwise none.
fn runs_of(map: &AxisMap) -> Result<Vec<TableRun>, TensorError> {
    let mut runs: Vec<TableRun> = Vec::new();
    let AxisMap::Table(table) = map else { return Ok(runs) };
    for &at in table {
        let is_next = |run: &TableRun| match run.at {
            OUTSIDE => at == OUTSIDE,
            first => at == first + run.len,
        };
        if let Some(run) = runs.last_mut().filter(|run| is_next(run)) {
            run.len += 1;
        } else if runs.len() > table.len() / 8 {
            return Ok(Vec::new());
        } else {
            push(&mut runs, TableRun { at, len: 1 })?;
        }
    }
    Ok(runs)
}

/// Copies the elements, of `N` bytes each, along the last axis, by the runs of its table if there are any.
fn gather_row<const N: usize>(
    from: &[u8],
    pad: &[u8],
    start: usize,
    (last, runs): (&AxisMap, &[TableRun]),
    row: &mut [u8],
) {
    let from = from.as_chunks::<N>().0;
    let row = row.as_chunks_mut::<N>().0;
    let pad = pad.first_chunk::<N>().copied().unwrap_or([0; N]);
    match last {
        _ if start == OUTSIDE => row.fill(pad),
        AxisMap::Step { len, start: first, step: 1 } => {
            row.copy_from_slice(&from[start + first..start + first + len]);
        }
        AxisMap::Step { .. } => {
            row.iter_mut().enumerate().for_each(|(i, slot)| *slot = from[start + last.at(i)]);
        }
        AxisMap::Table(_) if !runs.is_empty() => {
            let mut rest = row;
            for run in runs {
                let (part, others) = rest.split_at_mut(run.len);
                match run.at {
                    OUTSIDE => part.fill(pad),
                    at => part.copy_from_slice(&from[start + at..][..run.len]),
                }
                rest = others;
            }
        }
        AxisMap::Table(table) => {
            for (slot, &at) in row.iter_mut().zip(table) {
                *slot = if at == OUTSIDE { pad } else { from[start + at] };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn merged_axes_are_the_same_walk(
            axes in proptest::collection::vec((1usize..5, 0usize..9, 0isize..5, any::<bool>()), 0..6),
            most in 1usize..40,
        ) {
            // Steps are often those of a contiguous tensor, and sometimes an axis is a table.
            let (mut maps, mut contiguous) = (Vec::new(), 1);
            for &(len, start, kind, is_table) in axes.iter().rev() {
                let step = if kind < 3 { contiguous } else { kind };
                contiguous = step * len as isize;
                maps.push(match (is_table, kind) {
                    (true, 0) => AxisMap::Table((0..len).map(|i| start + i * 2).collect()),
                    _ => AxisMap::Step { len, start, step },
                });
            }
            maps.reverse();
            let fewer = merged(maps.clone(), most);
            prop_assert!(fewer.len() <= maps.len());
            let longest = maps.iter().map(AxisMap::len).max().unwrap_or(1).max(most);
            prop_assert!(fewer.iter().all(|map| map.len() <= longest));
            let all: Vec<usize> = Offsets::new(&maps[..]).collect();
            let rest: Vec<usize> = Offsets::starting_at(&maps[..], most).collect();
            prop_assert_eq!(&rest[..], all.get(most..).unwrap_or(&[]));
            prop_assert_eq!(Offsets::new(fewer).collect::<Vec<_>>(), all);
        }
    }
}
