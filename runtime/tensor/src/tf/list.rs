//! `TensorList`: a list of tensors, used by loops to collect values of their iterations.
//!
//! A list has an element type and a partial shape that its elements match. An empty slot reads as zeros, or
//! empty strings.
//! Lists are values: an op takes a list and returns a new one, and a list with one owner is changed in place.
//! The tensors in it are shared, not copied.
//!
//! Not here: lists of anything but tensors of numbers or strings.

use std::sync::Arc;

use super::any::AnyTensor;
use super::binary::{Binary, binary};
use super::op::Type;
use super::partial::PartialShape;
use crate::mem::Allocator;
use crate::scratch::{collected, filled, grow, push, try_collected};
use crate::{Shape, TensorError};

/// A list of tensors of one element type.
#[derive(Clone, Debug)]
pub struct TensorList {
    ty: Type,
    element: PartialShape,
    slots: Vec<Option<AnyTensor>>,
}

/// The largest number of slots that an operand may ask for.
const MAX_SLOTS: usize = 1 << 20;

impl TensorList {
    /// `EmptyTensorList`.
    pub fn empty(ty: Type, element: PartialShape) -> TensorList {
        TensorList { ty, element, slots: Vec::new() }
    }

    /// `TensorListReserve`: `n` empty slots.
    pub fn reserve(ty: Type, element: PartialShape, n: i64) -> Result<TensorList, TensorError> {
        let mut list = TensorList::empty(ty, element);
        list.slots = filled(slots("TensorListReserve", n)?, None)?;
        Ok(list)
    }

    /// `TensorListFromTensor`: the slices of `x` along its first axis.
    pub fn from_tensor(
        x: &AnyTensor,
        element: &PartialShape,
        allocator: &Arc<dyn Allocator>,
    ) -> Result<TensorList, TensorError> {
        let parts = x.unpack(allocator)?;
        let mut list = TensorList::empty(x.ty(), element.clone());
        for part in parts {
            list.check("TensorListFromTensor", &part)?;
            push(&mut list.slots, Some(part))?;
        }
        Ok(list)
    }

    /// The element type.
    pub fn ty(&self) -> Type {
        self.ty
    }

    /// `TensorListElementShape`.
    pub fn element_shape(&self) -> &PartialShape {
        &self.element
    }

    /// `TensorListLength`.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// The list with `f` applied to each tensor; empty slots stay empty.
    ///
    /// # Errors
    /// The first error of `f`.
    pub fn map(
        &self,
        f: &mut dyn FnMut(&AnyTensor) -> Result<AnyTensor, TensorError>,
    ) -> Result<TensorList, TensorError> {
        let slots = try_collected(self.slots.iter().map(|slot| slot.as_ref().map(&mut *f).transpose()))?;
        Ok(TensorList { ty: self.ty, element: self.element.clone(), slots })
    }

    /// True if there are no slots.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    fn check(&self, op: &'static str, x: &AnyTensor) -> Result<(), TensorError> {
        x.expect_type(op, self.ty)?;
        if self.element.allows(x.shape()) {
            return Ok(());
        }
        let problem = format!("a tensor of shape {} in a list of {:?}", x.shape(), self.element.dims());
        Err(TensorError::Invalid { op, problem })
    }

    fn slot(&self, op: &'static str, index: i64) -> Result<usize, TensorError> {
        usize::try_from(index).ok().filter(|&i| i < self.len()).ok_or_else(|| TensorError::Invalid {
            op,
            problem: format!("index {index} in a list of length {}", self.len()),
        })
    }

    /// `ZerosLike` of a list: zeros in each filled slot.
    pub fn zeros_like(&self, allocator: &Arc<dyn Allocator>) -> Result<TensorList, TensorError> {
        let zeros = |slot: &Option<AnyTensor>| {
            let x = slot.as_ref();
            x.map(|x| AnyTensor::zeros(x.ty(), x.shape().clone(), allocator)).transpose()
        };
        let slots = try_collected(self.slots.iter().map(zeros))?;
        Ok(TensorList { ty: self.ty, element: self.element.clone(), slots })
    }

    /// The sum of two lists slot by slot, as in `AddN`. An empty slot counts as zeros.
    pub fn plus(
        &self,
        other: &TensorList,
        allocator: &Arc<dyn Allocator>,
    ) -> Result<TensorList, TensorError> {
        if (self.ty, self.len()) != (other.ty, other.len()) {
            let problem = format!(
                "lists of {} x {} and {} x {} have no sum",
                self.len(),
                self.ty,
                other.len(),
                other.ty
            );
            return Err(TensorError::Invalid { op: "AddN", problem });
        }
        let sum = |(a, b): (&Option<AnyTensor>, &Option<AnyTensor>)| match (a, b) {
            (Some(a), Some(b)) => match (a.numbers(), b.numbers()) {
                (Some(a), Some(b)) => binary(Binary::Add, a, b, allocator).map(|sum| Some(sum.into())),
                _ => {
                    let problem = "lists of strings have no sum".to_owned();
                    Err(TensorError::Invalid { op: "AddN", problem })
                }
            },
            (a, b) => Ok(a.clone().or_else(|| b.clone())),
        };
        let slots = try_collected(self.slots.iter().zip(&other.slots).map(sum))?;
        Ok(TensorList { ty: self.ty, element: self.element.clone(), slots })
    }

    /// `TensorListPushBack`.
    pub fn push_back(mut self, x: &AnyTensor) -> Result<TensorList, TensorError> {
        self.check("TensorListPushBack", x)?;
        push(&mut self.slots, Some(x.clone()))?;
        Ok(self)
    }

    /// `TensorListPopBack`: the list without its last element, and that element. `element` completes the
    /// shape of an empty slot.
    pub fn pop_back(
        mut self,
        element: &PartialShape,
        allocator: &Arc<dyn Allocator>,
    ) -> Result<(TensorList, AnyTensor), TensorError> {
        let op = "TensorListPopBack";
        let Some(last) = self.slots.pop() else {
            return Err(TensorError::Invalid { op, problem: "the list is empty".to_owned() });
        };
        let x = self.filled_one(op, &last, element, allocator)?;
        Ok((self, x))
    }

    /// The shape of elements with the dimensions that `element` adds.
    fn merged(&self, op: &'static str, element: &PartialShape) -> Result<PartialShape, TensorError> {
        self.element.merged(element).ok_or_else(|| {
            let problem = format!("shapes {:?} and {:?} differ", self.element.dims(), element.dims());
            TensorError::Invalid { op, problem }
        })
    }

    /// The zeros that empty slots read as. If `merged` is not their whole shape, it is completed by the
    /// shapes of all tensors in the list.
    fn zeros(
        &self,
        op: &'static str,
        merged: &PartialShape,
        allocator: &Arc<dyn Allocator>,
    ) -> Result<AnyTensor, TensorError> {
        let mut shape = merged.clone();
        if shape.shape().is_none() {
            for x in self.slots.iter().flatten() {
                shape = shape.merged(&x.shape().into()).ok_or_else(|| {
                    let problem = format!("shapes {:?} and {} differ", shape.dims(), x.shape());
                    TensorError::Invalid { op, problem }
                })?;
            }
        }
        let shape = shape.shape().ok_or_else(|| TensorError::Invalid {
            op,
            problem: format!("an empty slot of unknown shape {:?}", shape.dims()),
        })?;
        AnyTensor::zeros(self.ty, shape, allocator)
    }

    /// The tensors of some slots. An empty slot reads as zeros, whose shape `element` completes.
    fn filled<'s>(
        &self,
        op: &'static str,
        slots: impl Iterator<Item = Result<&'s Option<AnyTensor>, TensorError>>,
        element: &PartialShape,
        allocator: &Arc<dyn Allocator>,
    ) -> Result<Vec<AnyTensor>, TensorError> {
        let merged = self.merged(op, element)?;
        let mut zeros = None;
        try_collected(slots.map(|slot| match (slot?, &zeros) {
            (Some(x), _) if merged.allows(x.shape()) => Ok(x.clone()),
            (Some(x), _) => {
                let problem = format!("shapes {:?} and {} differ", merged.dims(), x.shape());
                Err(TensorError::Invalid { op, problem })
            }
            (None, Some(zeros)) => Ok(AnyTensor::clone(zeros)),
            (None, None) => Ok(zeros.insert(self.zeros(op, &merged, allocator)?).clone()),
        }))
    }

    /// The tensor of one slot.
    fn filled_one(
        &self,
        op: &'static str,
        slot: &Option<AnyTensor>,
        element: &PartialShape,
        allocator: &Arc<dyn Allocator>,
    ) -> Result<AnyTensor, TensorError> {
        let mut one = self.filled(op, std::iter::once(Ok(slot)), element, allocator)?;
        one.pop().ok_or(TensorError::Count { want: 1, got: 0 })
    }

    /// `TensorListGetItem`.
    pub fn get_item(
        &self,
        index: i64,
        element: &PartialShape,
        allocator: &Arc<dyn Allocator>,
    ) -> Result<AnyTensor, TensorError> {
        let op = "TensorListGetItem";
        self.filled_one(op, &self.slots[self.slot(op, index)?], element, allocator)
    }

    /// `TensorListSetItem`. With `resize`, the list grows to contain the index.
    pub fn set_item(mut self, index: i64, x: &AnyTensor, resize: bool) -> Result<TensorList, TensorError> {
        let op = "TensorListSetItem";
        self.check(op, x)?;
        if resize && index >= 0 && index as u64 >= self.len() as u64 {
            grow(&mut self.slots, slots(op, index.saturating_add(1))?, || None)?;
        }
        let at = self.slot(op, index)?;
        self.slots[at] = Some(x.clone());
        Ok(self)
    }

    /// `_SequenceInsert`: a negative position counts from the end; -1 inserts before the last element.
    pub fn insert(mut self, x: &AnyTensor, position: i64) -> Result<TensorList, TensorError> {
        let op = "_SequenceInsert";
        self.check(op, x)?;
        let at = from_end(op, position, self.len(), self.len())?;
        push(&mut self.slots, Some(x.clone()))?;
        self.slots[at..].rotate_right(1);
        Ok(self)
    }

    /// `_SequenceErase`: a negative position counts from the end.
    pub fn erase(mut self, position: i64) -> Result<TensorList, TensorError> {
        let n = self.len();
        let last = n.checked_sub(1).ok_or_else(|| TensorError::Invalid {
            op: "_SequenceErase",
            problem: "the list is empty".to_owned(),
        })?;
        self.slots.remove(from_end("_SequenceErase", position, n, last)?);
        Ok(self)
    }

    /// `TensorListResize`.
    pub fn resize(mut self, n: i64) -> Result<TensorList, TensorError> {
        let n = slots("TensorListResize", n)?;
        grow(&mut self.slots, n, || None)?;
        self.slots.truncate(n);
        Ok(self)
    }

    /// `TensorListStack`: the elements along a new first axis. `n` is the required number of elements; -1
    /// allows any.
    pub fn stack(
        &self,
        element: &PartialShape,
        n: i64,
        allocator: &Arc<dyn Allocator>,
    ) -> Result<AnyTensor, TensorError> {
        let op = "TensorListStack";
        if n != -1 && n != self.len() as i64 {
            return Err(TensorError::Invalid {
                op,
                problem: format!("{n} elements wanted of {}", self.len()),
            });
        }
        let all = self.filled(op, self.slots.iter().map(Ok), element, allocator)?;
        if all.is_empty() {
            return self.nothing(op, element, allocator);
        }
        AnyTensor::pack(&all, allocator)
    }

    /// `TensorListGather`: the elements at these indices along a new first axis.
    pub fn gather(
        &self,
        indices: &[i64],
        element: &PartialShape,
        allocator: &Arc<dyn Allocator>,
    ) -> Result<AnyTensor, TensorError> {
        let op = "TensorListGather";
        let slots = indices.iter().map(|&i| Ok(&self.slots[self.slot(op, i)?]));
        let found = self.filled(op, slots, element, allocator)?;
        if found.is_empty() {
            return self.nothing(op, element, allocator);
        }
        AnyTensor::pack(&found, allocator)
    }

    /// `TensorListConcatV2`: the elements concatenated along their first axis, and their lengths along it. If
    /// `element` has a length, it is that of all elements. Empty slots have the lengths in `leading`; without
    /// one, that of all other elements.
    pub fn concat(
        &self,
        element: &PartialShape,
        leading: &[i64],
        allocator: &Arc<dyn Allocator>,
    ) -> Result<(AnyTensor, Vec<i64>), TensorError> {
        let op = "TensorListConcatV2";
        let refused = |problem| TensorError::Invalid { op, problem };
        let merged = self.merged(op, element)?;
        let (mut length, mut row) = (None, PartialShape::unknown());
        if let Some(dims) = merged.as_slice() {
            let Some((&first, rest)) = dims.split_first() else {
                return Err(refused("the elements are scalars".to_owned()));
            };
            (length, row) = (first, PartialShape::new(rest.to_vec()));
        }
        let (is_given, mut is_common) = (length.is_some(), true);
        for (i, x) in self.slots.iter().enumerate() {
            let Some(x) = x else { continue };
            let Some((&first, rest)) = x.shape().dims().split_first() else {
                return Err(refused(format!("element {i} is a scalar")));
            };
            if *length.get_or_insert(first) != first {
                is_common = false;
            }
            match row.merged(&PartialShape::new(rest.iter().copied().map(Some).collect())) {
                Some(more) if is_common || !is_given => row = more,
                _ => {
                    let (want, found) = (merged.dims(), x.shape());
                    return Err(refused(format!("shapes {want:?} and {found} of element {i} differ")));
                }
            }
        }
        let Some(row) = row.shape() else {
            return Err(refused(format!("elements of unknown shape {:?}", merged.dims())));
        };
        let zeros = |i: usize| {
            let length = match leading.get(i) {
                Some(&length) => usize::try_from(length).ok(),
                None => length.filter(|_| is_common),
            };
            let Some(length) = length else {
                return Err(refused(format!("element {i} is an empty slot of unknown length")));
            };
            AnyTensor::zeros(self.ty, Shape::new(&[&[length], row.dims()].concat())?, allocator)
        };
        let filled = |(i, slot): (usize, &Option<AnyTensor>)| match slot {
            Some(x) => Ok(x.clone()),
            None => zeros(i),
        };
        let all = try_collected(self.slots.iter().enumerate().map(filled))?;
        if all.is_empty() {
            let shape = Shape::new(&[&[0], row.dims()].concat())?;
            return Ok((AnyTensor::zeros(self.ty, shape, allocator)?, Vec::new()));
        }
        let lengths = collected(all.iter().map(|x| x.shape().dims().first().map_or(0, |&n| n as i64)))?;
        Ok((AnyTensor::concat(&all, allocator)?, lengths))
    }

    /// `TensorListConcatLists`: the slots of both lists.
    pub fn followed_by(mut self, other: &TensorList) -> Result<TensorList, TensorError> {
        let op = "TensorListConcatLists";
        if self.ty != other.ty {
            let problem = format!("lists of {} and {}", self.ty, other.ty);
            return Err(TensorError::Invalid { op, problem });
        }
        self.merged(op, &other.element)?;
        for slot in &other.slots {
            if let Some(x) = slot {
                self.check(op, x)?;
            }
            push(&mut self.slots, slot.clone())?;
        }
        Ok(self)
    }

    /// `TensorListSplit`: consecutive parts of `x` of these lengths along its first axis.
    pub fn split(
        x: &AnyTensor,
        element: &PartialShape,
        lengths: &[i64],
        allocator: &Arc<dyn Allocator>,
    ) -> Result<TensorList, TensorError> {
        let op = "TensorListSplit";
        let mut list = TensorList::empty(x.ty(), element.clone());
        for part in x.split(op, lengths, allocator)? {
            list.check(op, &part)?;
            push(&mut list.slots, Some(part))?;
        }
        Ok(list)
    }

    /// No elements, along a new first axis.
    fn nothing(
        &self,
        op: &'static str,
        element: &PartialShape,
        allocator: &Arc<dyn Allocator>,
    ) -> Result<AnyTensor, TensorError> {
        let merged = self.merged(op, element)?;
        let Some(shape) = merged.shape() else {
            let problem = format!("no elements, of unknown shape {:?}", merged.dims());
            return Err(TensorError::Invalid { op, problem });
        };
        AnyTensor::zeros(self.ty, Shape::new(&[&[0], shape.dims()].concat())?, allocator)
    }
}

/// A position in a list of `n` elements, up to `last`; negative ones count from the end.
pub fn from_end(op: &'static str, position: i64, n: usize, last: usize) -> Result<usize, TensorError> {
    let at = if position < 0 { position.saturating_add(n as i64) } else { position };
    usize::try_from(at).ok().filter(|&at| at <= last).ok_or_else(|| TensorError::Invalid {
        op,
        problem: format!("position {position} in a list of length {n}"),
    })
}

/// A number of slots, checked against [`MAX_SLOTS`].
fn slots(op: &'static str, n: i64) -> Result<usize, TensorError> {
    usize::try_from(n).ok().filter(|&n| n <= MAX_SLOTS).ok_or_else(|| TensorError::Invalid {
        op,
        problem: format!("{n} is no number of elements; {MAX_SLOTS} are the most"),
    })
}
