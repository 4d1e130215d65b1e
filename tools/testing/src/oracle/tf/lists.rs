//! `TensorList`: an immutable list. An op that changes a list returns a new one.
//!
//! An empty slot of a list of numbers reads as zeros. To read an empty slot of a list of variants is an
//! error.

use std::rc::Rc;

use befrost_tensor::tf::PartialShape;
use befrost_tensor::tf::op::{Attributes, Type};
use befrost_tensor::tf::reference::{cast, concat, pack, slice, unpack};
use befrost_tensor::{HostTensor, Shape};

use super::state::Cx;
use super::value::{TfValue, invalid};
use crate::oracle::frames::Stop;

/// Maximum number of slots of a list.
const MAX_SLOTS: usize = 1 << 20;

/// A list of values.
#[derive(Clone, Debug)]
pub struct List {
    pub(super) ty: Type,
    /// The shape of its elements, as far as it is known.
    element: PartialShape,
    pub(super) slots: Vec<Option<TfValue>>,
    /// Maximum number of elements.
    max: Option<usize>,
}

impl List {
    /// A list with other slots.
    pub(super) fn with(&self, slots: Vec<Option<TfValue>>) -> List {
        List { slots, ..self.clone() }
    }

    fn at(&self, index: i64) -> Result<usize, Stop> {
        let at = usize::try_from(index).ok().filter(|&at| at < self.slots.len());
        at.ok_or_else(|| invalid(format!("index {index} in a list of {}", self.slots.len())))
    }

    /// A value, if it may be an element of the list.
    fn as_element(&self, x: &TfValue) -> Result<TfValue, Stop> {
        if self.ty != Type::Variant {
            let x = x.tensor()?;
            if Type::from(x.dtype()) != self.ty || !self.element.allows(x.shape()) {
                return Err(invalid(format!(
                    "{} of shape {} in a list of {}",
                    x.dtype(),
                    x.shape(),
                    self.ty
                )));
            }
        }
        Ok(x.clone())
    }

    fn resize(&mut self, n: i64) -> Result<(), Stop> {
        let n = usize::try_from(n).ok().filter(|&n| n <= MAX_SLOTS);
        self.slots.resize(n.ok_or_else(|| invalid("a list of that many elements"))?, None);
        Ok(())
    }

    fn put(&mut self, index: i64, x: &TfValue, may_grow: bool) -> Result<(), Stop> {
        let x = self.as_element(x)?;
        if may_grow && index >= self.slots.len() as i64 {
            self.resize(index.saturating_add(1))?;
        }
        let at = self.at(index)?;
        self.slots[at] = Some(x);
        Ok(())
    }

    /// The value of a slot, whose shape must also match `element`.
    fn value(&self, slot: Option<&TfValue>, element: &PartialShape, cx: &Cx<'_>) -> Result<TfValue, Stop> {
        let Some(dtype) = self.ty.dtype() else {
            return slot.cloned().ok_or_else(|| invalid("the slot of a list of variants is empty"));
        };
        let shape = self.element.merged(element).ok_or_else(|| invalid("the shapes of elements differ"))?;
        match slot {
            Some(TfValue::Tensor(x)) if shape.allows(x.shape()) => Ok(TfValue::Tensor(x.clone())),
            Some(_) => Err(invalid("an element of another shape")),
            None => {
                let other = self.slots.iter().flatten().find_map(|x| Some(x.tensor().ok()?.shape().clone()));
                let shape = shape.shape().or(other).ok_or_else(|| invalid("zeros of unknown shape"))?;
                Ok(TfValue::Tensor(HostTensor::zeros(dtype, shape, cx.allocator)?))
            }
        }
    }

    /// The values of slots, stacked along a new first axis.
    fn stacked(
        &self,
        slots: impl Iterator<Item = Result<usize, Stop>>,
        element: &PartialShape,
        cx: &Cx<'_>,
    ) -> Result<TfValue, Stop> {
        let all: Vec<HostTensor> = slots
            .map(|at| self.value(self.slots[at?].as_ref(), element, cx)?.tensor().cloned())
            .collect::<Result<_, _>>()?;
        if all.is_empty() {
            return self.empty_tensor(element, cx);
        }
        Ok(TfValue::Tensor(pack(&all.iter().collect::<Vec<_>>(), 0, cx.allocator)?))
    }

    /// A tensor of zero elements of this shape.
    fn empty_tensor(&self, element: &PartialShape, cx: &Cx<'_>) -> Result<TfValue, Stop> {
        let shape = self.element.merged(element).and_then(|shape| shape.shape()).or_else(|| element.shape());
        let (Some(shape), Some(dtype)) = (shape, self.ty.dtype()) else {
            return Err(invalid("no elements, of unknown shape"));
        };
        let shape = Shape::new(&[&[0], shape.dims()].concat())?;
        Ok(TfValue::Tensor(HostTensor::zeros(dtype, shape, cx.allocator)?))
    }
}

fn list(value: &TfValue) -> Result<&List, Stop> {
    match value {
        TfValue::List(list) => Ok(list),
        other => Err(other.is_not("a list")),
    }
}

/// The list in a value, if its elements have the type of the op's attribute `element_dtype`.
fn list_of_type<'v>(value: &'v TfValue, attrs: &Attributes<'_>) -> Result<&'v List, Stop> {
    let (list, ty) = (list(value)?, attrs.ty("element_dtype")?);
    if list.ty == ty { Ok(list) } else { Err(invalid(format!("a list of {}, not of {ty}", list.ty))) }
}

/// [`list_of_type`] for a list of tensors: a list of variants is an error.
fn of_tensors<'v>(value: &'v TfValue, attrs: &Attributes<'_>) -> Result<&'v List, Stop> {
    match list_of_type(value, attrs)? {
        list if list.ty == Type::Variant => Err(invalid("a list of variants")),
        list => Ok(list),
    }
}

fn element(shape: &TfValue) -> Result<PartialShape, Stop> {
    Ok(PartialShape::from_tensor(shape.tensor()?)?)
}

fn given(list: List) -> TfValue {
    TfValue::List(Rc::new(list))
}

fn empty(ty: Type, element: PartialShape) -> List {
    List { ty, element, slots: Vec::new(), max: None }
}

/// `list` with the rows of `x` at `indices`. The list grows to hold them.
fn scattered(mut list: List, x: &TfValue, indices: &TfValue, cx: &Cx<'_>) -> Result<TfValue, Stop> {
    let (parts, indices) = (unpack(x.tensor()?, 0, cx.allocator)?, indices.ints()?);
    if parts.len() != indices.len() {
        return Err(invalid(format!("{} elements for {} indices", parts.len(), indices.len())));
    }
    for (index, part) in indices.into_iter().zip(parts) {
        list.put(index, &TfValue::Tensor(part), true)?;
    }
    Ok(given(list))
}

/// The results of an op on lists; `None` for other ops.
pub(super) fn evaluate(
    name: &str,
    operands: &[TfValue],
    attrs: &Attributes<'_>,
    cx: &mut Cx<'_>,
) -> Result<Option<Vec<TfValue>>, Stop> {
    let Some(what) = name.strip_prefix("TensorList").or_else(|| name.strip_prefix("EmptyTensorL")) else {
        return Ok(None);
    };
    let scalar = |n: usize| HostTensor::from_slice(Shape::scalar(), &[n as i32], cx.allocator);
    let result = match (what, operands) {
        ("ist", [shape, max]) => {
            let empty = empty(attrs.ty("element_dtype")?, element(shape)?);
            given(List { max: usize::try_from(max.int()?).ok(), ..empty })
        }
        ("Reserve", [shape, n]) => {
            let mut list = empty(attrs.ty("element_dtype")?, element(shape)?);
            list.resize(n.int()?)?;
            given(list)
        }
        ("FromTensor", [x, shape]) => {
            let mut list = empty(x.tensor()?.dtype().into(), element(shape)?);
            for part in unpack(x.tensor()?, 0, cx.allocator)? {
                let part = list.as_element(&TfValue::Tensor(part))?;
                list.slots.push(Some(part));
            }
            given(list)
        }
        ("PushBack", [to, x]) => {
            let mut list = list(to)?.clone();
            if list.slots.len() >= list.max.unwrap_or(MAX_SLOTS) {
                return Err(invalid("the list is full"));
            }
            let x = list.as_element(x)?;
            list.slots.push(Some(x));
            given(list)
        }
        ("PopBack", [from, shape]) => {
            let from = list_of_type(from, attrs)?;
            let mut rest = from.clone();
            let last = rest.slots.pop().ok_or_else(|| invalid("the list is empty"))?;
            let x = rest.value(last.as_ref(), &element(shape)?, cx)?;
            return Ok(Some(vec![given(rest), x]));
        }
        ("GetItem", [from, index, shape]) => {
            let from = list_of_type(from, attrs)?;
            from.value(from.slots[from.at(index.int()?)?].as_ref(), &element(shape)?, cx)?
        }
        ("SetItem", [to, index, x]) => {
            let mut list = list(to)?.clone();
            list.put(index.int()?, x, attrs.bool("resize_if_index_out_of_bounds")?)?;
            given(list)
        }
        ("Length", [of]) => TfValue::Tensor(scalar(list(of)?.slots.len())?),
        ("ElementShape", [of]) => {
            let list = list(of)?;
            if list.ty == Type::Variant {
                return Err(invalid("the shape of variants"));
            }
            let (dims, rank) = match list.element.dims() {
                Some(dims) => (dims.clone(), Shape::new(&[dims.len()])?),
                None => (vec![-1], Shape::scalar()),
            };
            let dims = HostTensor::from_slice(rank, &dims, cx.allocator)?;
            TfValue::Tensor(cast(&dims, attrs.dtype("shape_type")?, cx.allocator)?)
        }
        ("Resize", [of, n]) => {
            let mut list = list(of)?.clone();
            list.resize(n.int()?)?;
            given(list)
        }
        ("Stack", [from, shape]) => {
            let (from, n) = (of_tensors(from, attrs)?, attrs.int("num_elements")?);
            if n != -1 && n != from.slots.len() as i64 {
                return Err(invalid(format!("{n} elements of a list of {}", from.slots.len())));
            }
            from.stacked((0..from.slots.len()).map(Ok), &element(shape)?, cx)?
        }
        ("Gather", [from, indices, shape]) => {
            let from = of_tensors(from, attrs)?;
            let slots = indices.ints()?.into_iter().map(|index| from.at(index));
            from.stacked(slots, &element(shape)?, cx)?
        }
        ("Scatter", [x, indices, shape]) => {
            scattered(empty(x.tensor()?.dtype().into(), element(shape)?), x, indices, cx)?
        }
        ("ScatterV2", [x, indices, shape, n]) => {
            let mut list = empty(x.tensor()?.dtype().into(), element(shape)?);
            list.resize(n.int()?.max(0))?;
            scattered(list, x, indices, cx)?
        }
        ("ScatterIntoExistingList", [to, x, indices]) => {
            let list = list(to)?;
            if list.ty == Type::Variant {
                return Err(invalid("tensors for a list of variants"));
            }
            scattered(list.clone(), x, indices, cx)?
        }
        ("Concat" | "ConcatV2", [from, rest @ ..]) => {
            let rows = match rest.first() {
                Some(shape) => element(shape)?,
                None => attrs.shape("element_shape")?,
            };
            return joined(of_tensors(from, attrs)?, &rows, cx).map(Some);
        }
        ("ConcatLists", [a, b]) => {
            let (mut a, b) = (of_tensors(a, attrs)?.clone(), of_tensors(b, attrs)?);
            for slot in &b.slots {
                let x = a.as_element(&b.value(slot.as_ref(), &PartialShape::unknown(), cx)?)?;
                a.slots.push(Some(x));
            }
            given(List { max: None, ..a })
        }
        ("Split", [x, shape, lengths]) => split(x.tensor()?, element(shape)?, &lengths.ints()?, cx)?,
        _ => return Ok(None),
    };
    Ok(Some(vec![result]))
}

/// The elements concatenated along their first axis, and their lengths along it.
fn joined(from: &List, rows: &PartialShape, cx: &Cx<'_>) -> Result<Vec<TfValue>, Stop> {
    // The first axis may differ from element to element.
    let open = |first: Option<Option<usize>>| {
        rows.as_slice().map_or(PartialShape::unknown(), |dims| {
            PartialShape::new(first.into_iter().chain(dims.iter().skip(1).copied()).collect())
        })
    };
    let element = open(Some(None));
    let values = from.slots.iter().map(|slot| from.value(slot.as_ref(), &element, cx)?.tensor().cloned());
    let all = values.collect::<Result<Vec<HostTensor>, _>>()?;
    let lengths: Vec<i64> = all.iter().map(|x| x.shape().dims().first().map_or(0, |&n| n as i64)).collect();
    let x = match all.is_empty() {
        true => from.empty_tensor(&open(None), cx)?,
        false => TfValue::Tensor(concat(&all.iter().collect::<Vec<_>>(), 0, cx.allocator)?),
    };
    let lengths = HostTensor::from_slice(Shape::new(&[lengths.len()])?, &lengths, cx.allocator)?;
    Ok(vec![x, TfValue::Tensor(lengths)])
}

/// A list of consecutive parts of a tensor.
fn split(x: &HostTensor, element: PartialShape, lengths: &[i64], cx: &Cx<'_>) -> Result<TfValue, Stop> {
    let rows = x.shape().dims().first().map_or(0, |&n| n as i64);
    if x.shape().rank() == 0 || lengths.iter().any(|&n| n < 0) || lengths.iter().sum::<i64>() != rows {
        return Err(invalid(format!("parts of {lengths:?} of {}", x.shape())));
    }
    let mut list = empty(x.dtype().into(), element);
    let (mut begin, mut size) = (vec![0; x.shape().rank()], vec![-1; x.shape().rank()]);
    for &length in lengths {
        size[0] = length;
        let part = list.as_element(&TfValue::Tensor(slice(x, &begin, &size, cx.allocator)?))?;
        list.slots.push(Some(part));
        begin[0] += length;
    }
    Ok(given(list))
}
