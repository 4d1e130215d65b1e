//! The elements of small integer tensors that are computed from shapes, such as the operand of a `Reshape`.
//!
//! ```text
//! %s = Shape(%x : tensor<?x7x7x32xf32>)         [?, 7, 7, 32]
//! %n = StridedSlice(%s, 0, 1, shrink)           [?]
//! %t = Pack(%n, 32)                             [?, 32]
//! %u = ConcatV2(Cast(%t), [1], [1])             [?, 32, 1, 1]
//! ```
//!
//! Only operators that move elements are looked through ([`DIMENSION_OPERATORS`]), so an element is known
//! exactly or not at all.

use befrost_tensor::DType;
use befrost_tensor::tf::PartialShape;
use befrost_tensor::tf::op::Op;

use super::query::{dtype, ints, shape as dims_of_type};
use crate::dialects::tf::{self, operator};
use crate::ir::{Module, OpId, ValueId};

/// The operators through which the shapes of values are looked up, where they are operands. No column of the
/// rows: these are the arms of [`DimensionLookup::of_op`], which an operator of no arm would not help.
pub const DIMENSION_OPERATORS: [Op; 12] = [
    Op::Shape,
    Op::Pack,
    Op::Concat,
    Op::ConcatV2,
    Op::StridedSlice,
    Op::Slice,
    Op::GatherV2,
    Op::Identity,
    Op::Cast,
    Op::Reshape,
    Op::Squeeze,
    Op::ExpandDims,
];

/// An element that is not known, as in [`PartialShape`].
const UNKNOWN: i64 = -1;
/// The most elements of a tensor that is looked up.
const MAX_ELEMENTS: usize = 64;
/// The most values that are looked up for one operand: a program may use each value many times.
const MAX_VALUES: usize = 256;

/// The known elements of a vector of dimensions that is not a constant; `shape` gives the shapes of values.
/// `None` if nothing is known.
pub fn known_dims(
    m: &Module,
    value: ValueId,
    shape: &dyn Fn(ValueId) -> PartialShape,
) -> Option<PartialShape> {
    m.defining_op(value).and_then(|op| operator(m, op)).filter(|kind| DIMENSION_OPERATORS.contains(kind))?;
    let rank = dims_of_type(m, value)?.len();
    if rank != 1 {
        return None;
    }
    let elements = DimensionLookup { m, shape, left: MAX_VALUES }.elements(value)?;
    PartialShape::from_i64(&elements.iter().map(|&x| x.max(UNKNOWN)).collect::<Vec<i64>>()).ok()
}

/// One lookup.
struct DimensionLookup<'a> {
    m: &'a Module,
    shape: &'a dyn Fn(ValueId) -> PartialShape,
    /// How many more values may be looked up.
    left: usize,
}

impl DimensionLookup<'_> {
    /// The elements of a value of rank 0 or 1, [`UNKNOWN`] where they are not known. `None` if their number
    /// is not known either.
    fn elements(&mut self, value: ValueId) -> Option<Vec<i64>> {
        self.left = self.left.checked_sub(1)?;
        let m = self.m;
        if let Some(elements) = ints(m, value) {
            return (elements.len() <= MAX_ELEMENTS).then_some(elements);
        }
        let dims = dims_of_type(m, value)?;
        let n = dims.first().map_or(Some(1), |&n| usize::try_from(n).ok());
        if dims.len() > 1 || n.is_some_and(|n| n > MAX_ELEMENTS) {
            return None;
        }
        let found = m.defining_op(value).and_then(|op| self.of_op(op, operator(m, op)?));
        match n {
            Some(n) => Some(found.filter(|found| found.len() == n).unwrap_or_else(|| vec![UNKNOWN; n])),
            None => found.filter(|found| found.len() <= MAX_ELEMENTS),
        }
    }

    /// The elements of an op's first result.
    fn of_op(&mut self, op: OpId, operator: Op) -> Option<Vec<i64>> {
        let m = self.m;
        let first = m.operands(op).next()?;
        let n_data = tf::n_data_operands(m, op);
        match operator {
            Op::Shape => (self.shape)(first).dims().map(|dims| dims.to_vec()),
            Op::Pack | Op::Concat | Op::ConcatV2 => {
                let parts = match operator {
                    Op::Pack => 0..n_data,
                    Op::Concat => 1..n_data,
                    _ => 0..n_data.checked_sub(1)?,
                };
                let mut all = Vec::new();
                for part in m.operands(op).take(parts.end).skip(parts.start).collect::<Vec<ValueId>>() {
                    all.extend(self.elements(part)?);
                }
                Some(all)
            }
            Op::Cast => {
                let limit = match dtype(m, m.result(op, 0))? {
                    DType::I32 => i64::from(i32::MAX),
                    DType::I64 => i64::MAX,
                    _ => return None,
                };
                let from = self.elements(first)?;
                Some(from.into_iter().map(|x| if x > limit { UNKNOWN } else { x }).collect())
            }
            // The results have rank 0 or 1, and the operands the same elements.
            Op::Identity | Op::Reshape | Op::Squeeze | Op::ExpandDims => self.elements(first),
            Op::GatherV2 => {
                let at = ints(m, m.operand(op, 1))?;
                let from = self.elements(first)?;
                at.iter().map(|&at| from.get(usize::try_from(at).ok()?).copied()).collect()
            }
            Op::Slice => {
                let (&[begin], &[size]) = (&ints(m, m.operand(op, 1))?[..], &ints(m, m.operand(op, 2))?[..])
                else {
                    return None;
                };
                let from = self.elements(first)?;
                let rest = from.get(usize::try_from(begin).ok()?..)?;
                if size < 0 {
                    Some(rest.to_vec())
                } else {
                    Some(rest.get(..usize::try_from(size).ok()?)?.to_vec())
                }
            }
            Op::StridedSlice => {
                let from = self.elements(first)?;
                self.strided_slice(op, &from)
            }
            _ => None,
        }
    }

    /// Some neighbouring elements of a vector, or a single one.
    fn strided_slice(&self, op: OpId, from: &[i64]) -> Option<Vec<i64>> {
        let m = self.m;
        let bound = |i: usize| match ints(m, m.operand(op, i))?[..] {
            [bound] => Some(if bound < 0 { bound + from.len() as i64 } else { bound }),
            _ => None,
        };
        let is_set = |name: &str| {
            m.attr_named(op, name).and_then(|attr| m.cx.as_int(attr)).is_some_and(|mask| mask != 0)
        };
        let (begin, end, stride) = (bound(1)?, bound(2)?, ints(m, m.operand(op, 3))?);
        if is_set("new_axis_mask") || is_set("ellipsis_mask") {
            return None;
        }
        let begin = usize::try_from(begin).ok()?;
        if is_set("shrink_axis_mask") {
            return Some(vec![*from.get(begin)?]);
        }
        let begin = if is_set("begin_mask") { 0 } else { begin };
        let end = if is_set("end_mask") { from.len() } else { usize::try_from(end).ok()?.min(from.len()) };
        (stride == [1]).then(|| from.get(begin..end).map(<[i64]>::to_vec))?
    }
}
