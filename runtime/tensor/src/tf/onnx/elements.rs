//! ONNX's `GatherElements` and `ScatterElements`: elements by their position along one axis.
//!
//! ```text
//! indices[i, j, k] = p, axis 1  ──▶  element [i, p, k] of the data
//! ```
//!
//! Along the other axes, the indices may be shorter than the data. They are walked in rows along the last
//! axis.

use super::super::Scatter;
use super::super::fast::Cx;
use super::super::index::{combine, indices_of, is_ordered};
use super::super::walk::strides;
use crate::element::with_element;
use crate::error::invalid;
use crate::interrupt::{STEPS, is_interrupted};
use crate::scratch::try_collected;
use crate::{HostTensor, Shape, TensorError, resolve_axis};

/// The elements that an index tensor selects.
struct Places {
    /// For each axis of the indices but the last, its length and its stride in the data. The stride of the
    /// indexed axis is 0.
    outer: Vec<(usize, usize)>,
    /// The length of a row of indices, at least 1.
    row: usize,
    /// The stride in the data of the last axis; 0 if it is the indexed axis.
    step: usize,
    /// The stride in the data of the indexed axis.
    by: usize,
    positions: Vec<usize>,
}

impl Places {
    fn new(op: &'static str, x: &Shape, indices: &HostTensor, axis: i64) -> Result<Places, TensorError> {
        let at = resolve_axis(x, axis)?;
        let given = indices.shape();
        let fits = |(i, (&dim, &n)): (usize, (&usize, &usize))| i == at || n <= dim;
        if given.rank() != x.rank() || !x.dims().iter().zip(given.dims()).enumerate().all(fits) {
            return invalid(op, format!("indices of shape {given} do not fit shape {x} along axis {at}"));
        }
        let limit = x.dims()[at];
        let position = |(i, &index): (usize, &i64)| {
            let from_start = if index < 0 { index.saturating_add(limit as i64) } else { index };
            match usize::try_from(from_start) {
                Ok(position) if position < limit => Ok(position),
                _ => {
                    invalid(op, format!("index {index} at {:?} for shape {x}, axis {at}", given.index_of(i)))
                }
            }
        };
        let positions = try_collected(indices_of(op, indices)?.iter().enumerate().map(position))?;
        let mut steps = strides(x);
        let by = std::mem::take(&mut steps[at]);
        let mut outer: Vec<(usize, usize)> = given.dims().iter().copied().zip(steps).collect();
        let (row, step) = outer.pop().unwrap_or((1, 0)); // the rank is not 0
        Ok(Places { outer, row: row.max(1), step, by, positions })
    }

    /// The offset in the data of a row of indices.
    fn start(&self, mut row: usize) -> usize {
        let mut start = 0;
        for &(len, step) in self.outer.iter().rev() {
            start += row % len * step;
            row /= len;
        }
        start
    }

    /// Calls `f` for each element of `rows` rows from `first` on, with its number and its offset in the data.
    fn each(&self, first: usize, rows: usize, mut f: impl FnMut(usize, usize)) {
        for row in first..first + rows {
            let start = self.start(row);
            let positions = &self.positions[row * self.row..][..self.row];
            for (j, position) in positions.iter().enumerate() {
                f(row * self.row + j, start + position * self.by + j * self.step);
            }
        }
    }

    fn gather<const N: usize>(&self, from: &[u8], to: &mut [u8], cx: &Cx<'_>) {
        let from = from.as_chunks::<N>().0;
        cx.parts(to.as_chunks_mut::<N>().0, (self.row, 4), &|first, part| {
            self.each(first / self.row, part.len() / self.row, |i, at| part[i - first] = from[at]);
        });
    }

    /// Combines each update with the element at its offset, in order, until interrupted.
    fn scatter<T: Copy>(&self, updates: &[T], to: &mut [T], combine: impl Fn(T, T) -> T) {
        let rows = updates.len() / self.row;
        let some = (STEPS / self.row).max(1);
        for first in (0..rows).step_by(some).take_while(|_| !is_interrupted()) {
            self.each(first, some.min(rows - first), |i, at| to[at] = combine(to[at], updates[i]));
        }
    }

    fn replace<const N: usize>(&self, updates: &[u8], to: &mut [u8]) {
        self.scatter(updates.as_chunks::<N>().0, to.as_chunks_mut::<N>().0, |_, new| new);
    }
}

/// `_GatherElements`: for each index, the element at this position along the axis. Negative indices count
/// from the end.
pub fn gather_elements(
    x: &HostTensor,
    indices: &HostTensor,
    axis: i64,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let places = Places::new("_GatherElements", x.shape(), indices, axis)?;
    let out = HostTensor::allocate(x.dtype(), indices.shape().clone(), cx.allocator)?;
    if out.num_elements() > 0 {
        let (from, mut to) = (x.read_bytes()?, out.write_bytes()?);
        match x.dtype().size() {
            1 => places.gather::<1>(&from, &mut to, cx),
            2 => places.gather::<2>(&from, &mut to, cx),
            4 => places.gather::<4>(&from, &mut to, cx),
            8 => places.gather::<8>(&from, &mut to, cx),
            _ => places.gather::<16>(&from, &mut to, cx),
        }
    }
    Ok(out)
}

/// `_ScatterElements`: the data with updates at the positions along the axis, applied in order.
pub fn scatter_elements(
    mode: Scatter,
    mut x: HostTensor,
    indices: &HostTensor,
    updates: &HostTensor,
    axis: i64,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "_ScatterElements";
    let mode = is_ordered(op, mode, x.dtype())?;
    updates.expect_dtype("updates", x.dtype())?;
    updates.expect_shape("updates", indices.shape())?;
    let places = Places::new(op, x.shape(), indices, axis)?;
    if updates.num_elements() == 0 {
        return Ok(x);
    }
    x.make_unique(cx.allocator)?;
    if mode == Scatter::Update {
        let (from, mut to) = (updates.read_bytes()?, x.write_bytes()?);
        match x.dtype().size() {
            1 => places.replace::<1>(&from, &mut to),
            2 => places.replace::<2>(&from, &mut to),
            4 => places.replace::<4>(&from, &mut to),
            8 => places.replace::<8>(&from, &mut to),
            _ => places.replace::<16>(&from, &mut to),
        }
    } else {
        with_element!(x.dtype(), T => {
            let (from, mut to) = (updates.read_as::<T>("updates")?, x.write::<T>()?);
            places.scatter(&from, &mut to, |old, new| combine::<T>(mode, old, new));
        });
    }
    Ok(x)
}
