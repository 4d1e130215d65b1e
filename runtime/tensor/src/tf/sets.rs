//! Operations on sets: the distinct numbers along the last axis of dense or sparse tensors.
//!
//! ```text
//! set1  [[3, 1, 2], [2, 2, 5]]      a-b ──▶  [[2, 3], [2]]  as a sparse tensor; the numbers of a set ascend
//! set2  [[1, 9, 9], [5, 4, 4]]
//! ```
//!
//! All numbers are computed as i64. The sets of a sparse tensor without entries are empty; only sets with
//! entries cost time.

use std::cmp::Ordering;
use std::sync::Arc;

use super::sparse_arrays::SparseEntries;
use super::unary::cast;
use crate::error::invalid;
use crate::interrupt::is_interrupted;
use crate::mem::Allocator;
use crate::scratch::{collected, push};
use crate::sort::sorted_by_keys;
use crate::{DType, HostTensor, Shape, TensorError};

/// The numbers that are kept of two sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum SetOperation {
    FirstWithoutSecond,
    SecondWithoutFirst,
    Intersection,
    Union,
}

impl SetOperation {
    /// True if a number that is in the first or the second set, or in both, is in the result.
    fn has(self, where_found: Ordering) -> bool {
        match (self, where_found) {
            (SetOperation::Union, _) | (SetOperation::Intersection, Ordering::Equal) => true,
            (SetOperation::FirstWithoutSecond, found) => found == Ordering::Less,
            (SetOperation::SecondWithoutFirst, found) => found == Ordering::Greater,
            (SetOperation::Intersection, _) => false,
        }
    }
}

/// An operand with sets along its last axis.
#[derive(Clone, Copy, Debug)]
pub enum SetOperand<'a> {
    /// A dense tensor.
    Dense(&'a HostTensor),
    /// A sparse tensor.
    Sparse {
        /// The coordinates.
        indices: &'a HostTensor,
        /// The values.
        values: &'a HostTensor,
        /// The sizes.
        shape: &'a [i64],
    },
}

/// The sets of an operand that are not empty.
struct Sets {
    /// The sizes of the axes but the last.
    outer: Shape,
    /// The position of each set among all sets, ascending, and the end of its numbers.
    ends: Vec<(usize, usize)>,
    /// The numbers of all sets, ascending and distinct in each.
    numbers: Vec<i64>,
}

impl Sets {
    fn new(
        op: &'static str,
        operand: SetOperand<'_>,
        is_checked: bool,
        allocator: &Arc<dyn Allocator>,
    ) -> Result<Sets, TensorError> {
        match operand {
            SetOperand::Dense(x) => {
                let Some((&len, outer)) =
                    x.shape().dims().split_last().filter(|(_, outer)| !outer.is_empty())
                else {
                    return invalid(
                        op,
                        format!("a dense tensor of shape {}, expected rank 2 or more", x.shape()),
                    );
                };
                let all = integers(op, x, allocator)?;
                let all = all.read::<i64>()?;
                // An empty tensor has no sets, whatever its other sizes are.
                Sets::of(
                    Shape::new(outer)?,
                    all.iter().enumerate().map(|(i, &number)| (i / len.max(1), number)),
                )
            }
            SetOperand::Sparse { indices, values, shape } => {
                let entries = SparseEntries::new(op, indices, Some(values), shape.len())?;
                if shape.len() < 2 {
                    return invalid(
                        op,
                        format!("a sparse tensor of rank {}, expected 2 or more", shape.len()),
                    );
                }
                for i in 0..entries.n {
                    let at = entries.at(i);
                    if let Some(axis) = (0..shape.len()).find(|&axis| !(0..shape[axis]).contains(&at[axis])) {
                        let problem =
                            format!("indices[{i}, {axis}] = {} is out of {}", at[axis], shape[axis]);
                        return invalid(op, problem);
                    }
                    if is_checked && i > 0 && entries.at(i - 1) >= at {
                        return invalid(op, format!("indices[{i}] = {at:?} is out of order, or repeated"));
                    }
                }
                let outer = Shape::from_i64(&shape[..shape.len() - 1])?;
                let strides = super::walk::strides(&outer);
                let place = |i: usize| {
                    let at = entries.at(i).iter().zip(&strides);
                    at.map(|(&at, &stride)| at as usize * stride).sum::<usize>() // a position in `outer`
                };
                let all = integers(op, values, allocator)?;
                let all = all.read::<i64>()?;
                let places = collected((0..entries.n).map(place))?;
                let order = sorted_by_keys(places.iter().map(|&place| place as u64))?;
                Sets::of(outer, order.into_iter().map(|i| (places[i], all[i])))
            }
        }
    }

    /// The sets of numbers, each with the position of its set; positions ascend.
    fn of(outer: Shape, members: impl Iterator<Item = (usize, i64)>) -> Result<Sets, TensorError> {
        let mut sets = Sets { outer, ends: Vec::new(), numbers: Vec::new() };
        for (place, number) in members {
            if sets.ends.last().is_none_or(|&(last, _)| last != place) {
                sets.close()?;
                push(&mut sets.ends, (place, sets.numbers.len()))?;
            }
            push(&mut sets.numbers, number)?;
        }
        sets.close()?;
        Ok(sets)
    }

    /// Sorts the numbers of the last set, whose end is still its start.
    fn close(&mut self) -> Result<(), TensorError> {
        if is_interrupted() {
            return Err(TensorError::Interrupted);
        }
        if let Some((_, end)) = self.ends.last_mut() {
            let start = *end;
            let own = &mut self.numbers[start..];
            own.sort_unstable();
            let mut kept = 0;
            for i in 0..own.len() {
                if kept == 0 || own[kept - 1] != own[i] {
                    own[kept] = own[i];
                    kept += 1;
                }
            }
            self.numbers.truncate(start + kept);
            *end = start + kept;
        }
        Ok(())
    }

    /// Each set with its position.
    fn iter(&self) -> impl Iterator<Item = (usize, &[i64])> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|&(_, end)| end));
        starts.zip(&self.ends).map(|(start, &(place, end))| (place, &self.numbers[start..end]))
    }
}

/// The numbers of a tensor of integers of at most 64 bits.
fn integers(
    op: &'static str,
    x: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    match x.dtype() {
        DType::I8 | DType::I16 | DType::I32 | DType::I64 | DType::UI8 | DType::UI16 => {
            cast(x, DType::I64, allocator)
        }
        dtype => Err(TensorError::Unsupported { op, dtype }),
    }
}

/// Calls `to` with the members of two ascending lists, and with `Less` if they are in the first alone,
/// `Greater` if in the second alone, `Equal` if in both.
fn merge<T: Copy, K: Ord>(
    mut a: impl Iterator<Item = T>,
    mut b: impl Iterator<Item = T>,
    key: impl Fn(&T) -> K,
    mut to: impl FnMut(Option<T>, Option<T>) -> Result<(), TensorError>,
) -> Result<(), TensorError> {
    let (mut left, mut right) = (a.next(), b.next());
    loop {
        let order = match (&left, &right) {
            (Some(left), Some(right)) => key(left).cmp(&key(right)),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return Ok(()),
        };
        to(left.filter(|_| order.is_le()), right.filter(|_| order.is_ge()))?;
        if order.is_le() {
            left = a.next();
        }
        if order.is_ge() {
            right = b.next();
        }
    }
}

/// `DenseToDenseSetOperation` and its forms for sparse operands: coordinates, numbers and shape of the sets.
pub fn set_operation(
    op: &'static str,
    operation: SetOperation,
    [a, b]: [SetOperand<'_>; 2],
    is_checked: bool,
    allocator: &Arc<dyn Allocator>,
) -> Result<[HostTensor; 3], TensorError> {
    let dtype = |operand| match operand {
        SetOperand::Dense(x) | SetOperand::Sparse { values: x, .. } => x.dtype(),
    };
    if dtype(a) != dtype(b) {
        return invalid(op, format!("sets of {} and of {}", dtype(a), dtype(b)));
    }
    let (first, second) =
        (Sets::new(op, a, is_checked, allocator)?, Sets::new(op, b, is_checked, allocator)?);
    if first.outer != second.outer {
        return invalid(op, format!("sets of shapes {} and {}", first.outer, second.outer));
    }
    let (mut places, mut numbers, mut longest) = (Vec::new(), Vec::new(), 0);
    merge(
        first.iter(),
        second.iter(),
        |&(place, _)| place,
        |a, b| {
            if is_interrupted() {
                return Err(TensorError::Interrupted);
            }
            let place = a.or(b).map_or(0, |(place, _)| place);
            let start = numbers.len();
            let [a, b] = [a, b].map(|set| set.map_or(&[][..], |(_, numbers)| numbers));
            merge(
                a.iter(),
                b.iter(),
                |&&number| number,
                |a, b| {
                    let found = match (a, b) {
                        (Some(_), Some(_)) => Ordering::Equal,
                        (Some(_), None) => Ordering::Less,
                        (None, _) => Ordering::Greater,
                    };
                    match a.or(b).filter(|_| operation.has(found)) {
                        Some(&number) => {
                            push(&mut places, (place, numbers.len() - start))?;
                            push(&mut numbers, number)
                        }
                        None => Ok(()),
                    }
                },
            )?;
            longest = longest.max(numbers.len() - start);
            Ok(())
        },
    )?;
    let rank = first.outer.rank() + 1;
    let coordinates = HostTensor::allocate(DType::I64, Shape::new(&[places.len(), rank])?, allocator)?;
    for (to, (place, at)) in coordinates.write::<i64>()?.chunks_exact_mut(rank).zip(places) {
        let outer = first.outer.index_of(place);
        to.iter_mut().zip(outer.into_iter().chain([at])).for_each(|(to, at)| *to = at as i64);
    }
    let found = HostTensor::from_slice(Shape::new(&[numbers.len()])?, &numbers, allocator)?;
    let sizes = collected(first.outer.dims().iter().map(|&dim| dim as i64).chain([longest as i64]))?;
    let sizes = HostTensor::from_slice(Shape::new(&[rank])?, &sizes, allocator)?;
    Ok([coordinates, cast(&found, dtype(a), allocator)?, sizes])
}

/// `SetSize`: the number of distinct numbers of each set.
pub fn set_size(
    indices: &HostTensor,
    values: &HostTensor,
    shape: &[i64],
    is_checked: bool,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    let operand = SetOperand::Sparse { indices, values, shape };
    let sets = Sets::new("SetSize", operand, is_checked, allocator)?;
    let out = HostTensor::zeros(DType::I32, sets.outer.clone(), allocator)?;
    {
        let mut out = out.write::<i32>()?;
        for (place, numbers) in sets.iter() {
            out[place] = i32::try_from(numbers.len()).map_err(|_| TensorError::TooLarge)?;
        }
    }
    Ok(out)
}
