//! Transpositions: contiguous runs are copied, everything else is transposed tile by tile.

use super::super::shapes::permutation;
use super::super::walk::strides;
use super::Cx;
use crate::math::transpose_part;
use crate::{HostTensor, Shape, TensorError};

/// See [`reference::transpose`](super::super::reference::transpose). If only axes of length 1 move, the bytes
/// are shared.
pub fn transpose(x: &HostTensor, perm: &[i64], cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    let axes = permutation("Transpose", x.shape(), perm)?;
    let (dims, strides) = (x.shape().dims(), strides(x.shape()));
    let shape = Shape::new(&axes.iter().map(|&a| dims[a]).collect::<Vec<_>>())?;
    let plan = TransposePlan::new(axes.iter().map(|&a| (dims[a], strides[a])));
    if shape.num_elements() == 0 || plan.axes.len() < 2 {
        return x.reshaped(shape);
    }
    let out = HostTensor::allocate(x.dtype(), shape, cx.allocator)?;
    {
        let (from, mut to) = (x.read_bytes()?, out.write_bytes()?);
        match x.dtype().size() {
            1 => plan.run::<1>(&from, &mut to, cx),
            2 => plan.run::<2>(&from, &mut to, cx),
            4 => plan.run::<4>(&from, &mut to, cx),
            8 => plan.run::<8>(&from, &mut to, cx),
            _ => plan.run::<16>(&from, &mut to, cx),
        }
    }
    Ok(out)
}

/// An axis of the result: its length, and its strides in the source and in the result.
#[derive(Clone, Copy)]
struct MovedAxis {
    len: usize,
    from: usize,
    to: usize,
}

/// The axes of a transposition, without axes of length 1; axes that are contiguous in both tensors are
/// merged.
struct TransposePlan {
    axes: Vec<MovedAxis>,
}

impl TransposePlan {
    /// The plan for axes given by lengths and source strides.
    fn new(axes: impl Iterator<Item = (usize, usize)>) -> TransposePlan {
        let mut merged: Vec<MovedAxis> = Vec::new();
        for (len, from) in axes.filter(|&(len, _)| len != 1) {
            match merged.last_mut() {
                Some(outer) if outer.from == len.wrapping_mul(from) => {
                    *outer = MovedAxis { len: outer.len * len, from, to: 1 };
                }
                _ => merged.push(MovedAxis { len, from, to: 1 }),
            }
        }
        let mut step = 1usize;
        for axis in merged.iter_mut().rev() {
            axis.to = step;
            step = step.wrapping_mul(axis.len); // the result's size in the end
        }
        TransposePlan { axes: merged }
    }

    /// Runs the plan for elements of `N` bytes and at least two axes.
    fn run<const N: usize>(&self, from: &[u8], to: &mut [u8], cx: &Cx<'_>) {
        let (from, to) = (from.as_chunks::<N>().0, to.as_chunks_mut::<N>().0);
        let Some(&outermost) = self.axes.first() else { return };
        cx.parts(to, (outermost.to, 4), &|first, to| {
            let mut axes = self.axes.clone();
            axes[0].len = to.len() / outermost.to;
            transpose_axes(&mut axes, &from[first / outermost.to * outermost.from..], to);
        });
    }
}

/// Transposes along `axes`: tile by tile if the last axis is not contiguous in the source.
fn transpose_axes<T: Copy>(axes: &mut Vec<MovedAxis>, from: &[T], to: &mut [T]) {
    let Some(last) = axes.pop() else { return };
    // One axis of a plan has stride 1 in the source: the last one, or this one.
    let contiguous = axes.iter().position(|axis| axis.from == 1).filter(|_| last.from != 1);
    let down = contiguous.map(|at| axes.remove(at));
    each_start(axes, |start_from, start_to| {
        let (from, to) = (&from[start_from..], &mut to[start_to..]);
        match down {
            None => to[..last.len].copy_from_slice(&from[..last.len]),
            Some(down) => transpose_part((last.len, down.len), (from, last.from), (to, down.to)),
        }
    });
}

/// Calls `f` with the offsets in source and result for each position along the axes.
fn each_start(axes: &[MovedAxis], mut f: impl FnMut(usize, usize)) {
    let mut index = vec![0usize; axes.len()];
    let (mut from, mut to) = (0, 0);
    loop {
        f(from, to);
        let mut at = axes.len();
        loop {
            let Some(next) = at.checked_sub(1) else { return };
            at = next;
            let axis = axes[at];
            index[at] += 1;
            (from, to) = (from + axis.from, to + axis.to);
            if index[at] < axis.len {
                break;
            }
            (from, to) = (from - axis.len * axis.from, to - axis.len * axis.to);
            index[at] = 0;
        }
    }
}
