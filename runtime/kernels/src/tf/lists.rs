//! `TensorList`: immutable lists that loops accumulate values in. Operators return new lists.
//!
//! The elements are tensors of one element type, or variants: lists and optionals, which the gradients of
//! branches in loops use.
//!
//! Lists of tensors are implemented in the tensor library.

use std::sync::Arc;

use befrost_kernel_api::object::Object;
use befrost_kernel_api::{KernelError, Value};
use befrost_tensor::mem::Allocator;
use befrost_tensor::scratch::push;
use befrost_tensor::tf::op::{Attributes, Op, Type};
use befrost_tensor::tf::{AnyTensor, PartialShape, TensorList, cast, from_end};
use befrost_tensor::{HostTensor, Shape, TensorError};

use super::action::{Action, ActionRow, action, int, ints, scalar, tensor};
use super::operands::{any, any_type, dense, value};
use super::optionals::nested;
use crate::objects::{copy_of, refused};

/// A list variant, with the maximum number of its elements.
#[derive(Clone, Debug)]
pub(super) struct List {
    items: Items,
    max: Option<usize>,
}

/// The elements of a list.
#[derive(Clone, Debug)]
pub(super) enum Items {
    Tensors(TensorList),
    Variants(Variants),
}

/// A list of variants.
#[derive(Clone, Debug)]
pub(super) struct Variants {
    slots: Vec<Option<Value>>,
    /// Nesting depth; greater than that of the elements.
    nesting: usize,
}

/// Limit on the number of slots; larger sizes are an error instead of an allocation.
const MAX_SLOTS: usize = 1 << 20;

impl Object for List {
    const TYPES: &'static [&'static str] = &["tensor"];

    fn display(&self) -> String {
        match &self.items {
            Items::Tensors(items) => format!("TensorList of {} x {}", items.len(), items.ty()),
            Items::Variants(items) => format!("TensorList of {} x variant", items.slots.len()),
        }
    }

    fn copied(&self, to: &Arc<dyn Allocator>) -> Option<Result<(Value, usize), KernelError>> {
        let mut bytes = 0;
        let items = match &self.items {
            Items::Tensors(items) => {
                let mut copy = |x: &AnyTensor| match x {
                    AnyTensor::Numbers(x) => {
                        let (x, n) = copy_of(x, to)?;
                        bytes += n;
                        Ok(x.into())
                    }
                    AnyTensor::Strings(_) => Ok(x.clone()),
                };
                items.map(&mut copy).map(Items::Tensors).map_err(refused)
            }
            Items::Variants(Variants { slots, nesting }) => {
                let copies = slots
                    .iter()
                    .map(|slot| slot.as_ref().map(|value| copy_of_value(value, to, &mut bytes)).transpose());
                let slots = copies.collect::<Result<Vec<_>, _>>();
                slots.map(|slots| Items::Variants(Variants { slots, nesting: *nesting }))
            }
        };
        Some(items.map(|items| (Value::object(List { items, max: self.max }), bytes)))
    }
}

/// The copy of a component of a variant in memory of `to`. Its bytes are added to `bytes`.
pub(super) fn copy_of_value(
    value: &Value,
    to: &Arc<dyn Allocator>,
    bytes: &mut usize,
) -> Result<Value, KernelError> {
    let copied = match value {
        Value::Object(object) => object.copied(to),
        _ => None,
    };
    copied.map_or_else(
        || Ok(value.clone()),
        |copied| {
            let (copy, n) = copied?;
            *bytes += n;
            Ok(copy)
        },
    )
}

impl List {
    fn len(&self) -> usize {
        match &self.items {
            Items::Tensors(items) => items.len(),
            Items::Variants(items) => items.slots.len(),
        }
    }

    pub(super) fn nesting(&self) -> usize {
        match &self.items {
            Items::Tensors(_) => 1,
            Items::Variants(items) => items.nesting,
        }
    }

    /// A list with the mapped elements.
    pub(super) fn map(
        &self,
        tensors: impl FnOnce(&TensorList) -> Result<TensorList, TensorError>,
        variant: impl Fn(usize, Option<&Value>) -> Result<Option<Value>, KernelError>,
    ) -> Result<Value, KernelError> {
        let items = match &self.items {
            Items::Tensors(items) => Items::Tensors(tensors(items).map_err(refused)?),
            Items::Variants(items) => {
                let slots = items.slots.iter().enumerate().map(|(i, slot)| variant(i, slot.as_ref()));
                Items::Variants(Variants { slots: slots.collect::<Result<_, _>>()?, nesting: items.nesting })
            }
        };
        Ok(Value::object(List { items, max: self.max }))
    }

    pub(super) fn items(&self) -> &Items {
        &self.items
    }

    /// The elements of a list of tensors.
    fn tensors(&self) -> Result<&TensorList, KernelError> {
        match &self.items {
            Items::Tensors(items) => Ok(items),
            Items::Variants(_) => Err(KernelError::invalid("the list has variants, expected tensors")),
        }
    }
}

impl Variants {
    pub(super) fn slot(&self, i: usize) -> Option<&Value> {
        self.slots.get(i).and_then(Option::as_ref)
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// The slot at an index.
    fn at(&self, index: i64) -> Result<usize, KernelError> {
        usize::try_from(index).ok().filter(|&i| i < self.slots.len()).ok_or_else(|| {
            KernelError::invalid(format!("index {index} in a list of length {}", self.slots.len()))
        })
    }

    /// A value to store in the list; updates the nesting depth.
    fn admit(&mut self, x: &Value) -> Result<Value, KernelError> {
        self.nesting = self.nesting.max(nested(x)?);
        Ok(x.clone())
    }

    /// Changes the number of slots.
    fn resize(&mut self, n: i64) -> Result<(), KernelError> {
        self.slots.resize(slots(n)?, None);
        Ok(())
    }
}

fn slots(n: i64) -> Result<usize, KernelError> {
    usize::try_from(n).ok().filter(|&n| n <= MAX_SLOTS).ok_or_else(|| {
        KernelError::invalid(format!("a list of {n} elements, at most {MAX_SLOTS} are allowed"))
    })
}

/// Error for the use of an empty slot of a list of variants.
fn empty_slot() -> KernelError {
    KernelError::invalid("the slot of the list of variants is empty")
}

/// A list of `n` empty slots.
fn reserve(ty: Type, shape: &Value, n: i64, max: Option<usize>) -> Result<[Value; 1], KernelError> {
    let items = match ty {
        Type::Variant => Items::Variants(Variants { slots: vec![None; slots(n)?], nesting: 1 }),
        ty => Items::Tensors(TensorList::reserve(ty, element(shape)?, n).map_err(refused)?),
    };
    Ok([Value::object(List { items, max })])
}

/// The element type of a list: a numeric type, string or variant.
fn elements(attrs: &Attributes<'_>) -> Result<Type, TensorError> {
    match attrs.ty("element_dtype")? {
        Type::Variant => Ok(Type::Variant),
        _ => any_type(attrs, "element_dtype"),
    }
}

pub(super) const OPS: &[ActionRow] = &[
    (&[Op::EmptyTensorList], |attrs| {
        let ty = elements(attrs)?;
        action(attrs, move |[shape, max], _| reserve(ty, shape, 0, usize::try_from(int(max)?).ok()))
    }),
    (&[Op::TensorListReserve], |attrs| {
        let ty = elements(attrs)?;
        action(attrs, move |[shape, n], _| reserve(ty, shape, int(n)?, None))
    }),
    (&[Op::TensorListFromTensor], |attrs| {
        action(attrs, |[x, shape], cx| {
            new(TensorList::from_tensor(&any(x)?, &element(shape)?, cx.allocator()))
        })
    }),
    (&[Op::TensorListPushBack], |attrs| {
        action(attrs, |[to, x], _| {
            let to = list(to)?;
            expect_room(to)?;
            changed(
                to,
                |items| items.push_back(&any_or(x)?),
                |items| {
                    let x = items.admit(x)?;
                    push(&mut items.slots, Some(x)).map_err(refused)
                },
            )
        })
    }),
    (&[Op::_SequenceInsert], |attrs| {
        action(attrs, |[to, x, position], _| {
            let (to, position) = (list(to)?, int(position)?);
            expect_room(to)?;
            changed(
                to,
                |items| items.insert(&any_or(x)?, position),
                |items| {
                    let n = items.slots.len();
                    let at = from_end("_SequenceInsert", position, n, n).map_err(refused)?;
                    let x = items.admit(x)?;
                    push(&mut items.slots, Some(x)).map_err(refused)?;
                    items.slots[at..].rotate_right(1);
                    Ok(())
                },
            )
        })
    }),
    (&[Op::_SequenceErase], |attrs| {
        action(attrs, |[of, position], _| {
            let position = int(position)?;
            changed(
                list(of)?,
                |items| items.erase(position),
                |items| {
                    let n = items.slots.len();
                    let last = n.checked_sub(1).ok_or_else(|| KernelError::invalid("the list is empty"))?;
                    let at = from_end("_SequenceErase", position, n, last).map_err(refused)?;
                    items.slots.remove(at);
                    Ok(())
                },
            )
        })
    }),
    (&[Op::TensorListPopBack], |attrs| {
        let ty = elements(attrs)?;
        action(attrs, move |[from, shape], cx| {
            let from = typed(from, ty)?;
            let (items, x) = match &from.items {
                Items::Tensors(items) => {
                    let (items, x) =
                        items.clone().pop_back(&element(shape)?, cx.allocator()).map_err(refused)?;
                    (Items::Tensors(items), value(x))
                }
                Items::Variants(items) => {
                    let mut items = items.clone();
                    let last = items.slots.pop().ok_or_else(|| KernelError::invalid("the list is empty"))?;
                    (Items::Variants(items), last.ok_or_else(empty_slot)?)
                }
            };
            Ok([Value::object(List { items, max: from.max }), x])
        })
    }),
    (&[Op::TensorListGetItem], |attrs| {
        let ty = elements(attrs)?;
        action(attrs, move |[from, index, shape], cx| {
            let index = int(index)?;
            match &typed(from, ty)?.items {
                Items::Tensors(items) => any_of(items.get_item(index, &element(shape)?, cx.allocator())),
                Items::Variants(items) => {
                    Ok([items.slot(items.at(index)?).cloned().ok_or_else(empty_slot)?])
                }
            }
        })
    }),
    (&[Op::TensorListSetItem], |attrs| {
        let resize = attrs.bool("resize_if_index_out_of_bounds")?;
        action(attrs, move |[to, index, x], _| {
            let index = int(index)?;
            changed(
                list(to)?,
                |items| items.set_item(index, &any_or(x)?, resize),
                |items| {
                    if resize && index >= items.slots.len() as i64 {
                        items.resize(index.saturating_add(1))?;
                    }
                    let (at, x) = (items.at(index)?, items.admit(x)?);
                    items.slots[at] = Some(x);
                    Ok(())
                },
            )
        })
    }),
    (&[Op::TensorListLength], |attrs| {
        action(attrs, |[from], cx| {
            let n = i32::try_from(list(from)?.len());
            Ok([scalar(n.map_err(|_| KernelError::invalid("the list is too long"))?, cx)?])
        })
    }),
    (&[Op::TensorListElementShape], |attrs| {
        let to = attrs.dtype("shape_type")?;
        action(attrs, move |[from], cx| {
            let (dims, rank) = match list(from)?.tensors()?.element_shape().dims() {
                Some(dims) => (dims.clone(), Shape::new(&[dims.len()]).map_err(refused)?),
                None => (vec![-1], Shape::scalar()),
            };
            let dims = HostTensor::from_slice(rank, &dims, cx.allocator()).map_err(refused)?;
            Ok([tensor(cast(&dims, to, cx.allocator()).map_err(refused)?)])
        })
    }),
    (&[Op::TensorListResize], |attrs| {
        action(attrs, |[of, n], _| {
            let n = int(n)?;
            changed(list(of)?, |items| items.resize(n), |items| items.resize(n))
        })
    }),
    (&[Op::TensorListStack], |attrs| {
        let (ty, n) = (elements(attrs)?, attrs.int("num_elements")?);
        action(attrs, move |[from, shape], cx| {
            any_of(of_type(from, ty)?.stack(&element(shape)?, n, cx.allocator()))
        })
    }),
    (&[Op::TensorListGather], |attrs| {
        let ty = elements(attrs)?;
        action(attrs, move |[from, indices, shape], cx| {
            let items = of_type(from, ty)?;
            any_of(items.gather(&ints(indices)?, &element(shape)?, cx.allocator()))
        })
    }),
    (&[Op::TensorListScatter], |attrs| {
        action(attrs, |[x, indices, shape], cx| {
            scattered(&any(x)?, &ints(indices)?, element(shape)?, -1, cx.allocator())
        })
    }),
    (&[Op::TensorListScatterV2], |attrs| {
        action(attrs, |[x, indices, shape, n], cx| {
            scattered(&any(x)?, &ints(indices)?, element(shape)?, int(n)?, cx.allocator())
        })
    }),
    (&[Op::TensorListScatterIntoExistingList], |attrs| {
        action(attrs, |[to, x, indices], cx| {
            let (parts, indices) = (any(x)?.unpack(cx.allocator()).map_err(refused)?, ints(indices)?);
            let to = list(to)?;
            to.tensors()?;
            changed(to, |items| put(items, &parts, &indices), |_| Ok(()))
        })
    }),
    (&[Op::TensorListConcat], |attrs| {
        let shape = attrs.shape("element_shape")?;
        concat(attrs, move |_| Ok(shape.clone()))
    }),
    (&[Op::TensorListConcatV2], |attrs| {
        concat(attrs, |operands| match operands {
            [_, shape, ..] => element(shape),
            _ => Ok(PartialShape::unknown()),
        })
    }),
    (&[Op::TensorListConcatLists], |attrs| {
        let ty = elements(attrs)?;
        action(attrs, move |[a, b], _| {
            let (a, b) = (of_type(a, ty)?, of_type(b, ty)?);
            new(a.clone().followed_by(b))
        })
    }),
    (&[Op::TensorListSplit], |attrs| {
        action(attrs, |[x, shape, lengths], cx| {
            new(TensorList::split(&any(x)?, &element(shape)?, &ints(lengths)?, cx.allocator()))
        })
    }),
];

/// An error for a list that may have no more elements.
fn expect_room(list: &List) -> Result<(), KernelError> {
    if list.max.is_some_and(|max| list.len() >= max) || list.len() >= MAX_SLOTS {
        return Err(KernelError::invalid(format!("the list is full with {} elements", list.len())));
    }
    Ok(())
}

pub(super) fn list(value: &Value) -> Result<&List, KernelError> {
    value.downcast_ref::<List>().ok_or_else(|| {
        KernelError::invalid(format!("expected a list of tensors, got a value of type {}", value.type_name()))
    })
}

/// The list in `value`, if it has this element type.
fn typed(value: &Value, ty: Type) -> Result<&List, KernelError> {
    let list = list(value)?;
    let found = match &list.items {
        Items::Tensors(items) => items.ty(),
        Items::Variants(_) => Type::Variant,
    };
    match found == ty {
        true => Ok(list),
        false => Err(KernelError::invalid(format!("the list has elements of {found}, expected {ty}"))),
    }
}

/// The elements of the list in `value`, if they are tensors of this type.
fn of_type(value: &Value, ty: Type) -> Result<&TensorList, KernelError> {
    typed(value, ty)?.tensors()
}

fn element(shape: &Value) -> Result<PartialShape, KernelError> {
    PartialShape::from_tensor(dense(shape)?).map_err(refused)
}

/// A tensor, or an error of the tensor library.
fn any_or(value: &Value) -> Result<AnyTensor, TensorError> {
    let wrong = || "expected a dense tensor".to_owned();
    any(value).map_err(|_| TensorError::Invalid { op: "TensorList", problem: wrong() })
}

fn new(items: Result<TensorList, TensorError>) -> Result<[Value; 1], KernelError> {
    Ok([Value::object(List { items: Items::Tensors(items.map_err(refused)?), max: None })])
}

fn any_of(x: Result<AnyTensor, TensorError>) -> Result<[Value; 1], KernelError> {
    Ok([value(x.map_err(refused)?)])
}

fn changed(
    list: &List,
    tensors: impl FnOnce(TensorList) -> Result<TensorList, TensorError>,
    variants: impl FnOnce(&mut Variants) -> Result<(), KernelError>,
) -> Result<[Value; 1], KernelError> {
    let items = match &list.items {
        Items::Tensors(items) => Items::Tensors(tensors(items.clone()).map_err(refused)?),
        Items::Variants(items) => {
            let mut items = items.clone();
            variants(&mut items)?;
            Items::Variants(items)
        }
    };
    Ok([Value::object(List { items, max: list.max })])
}

/// The list with each part stored at its index; it grows if needed.
fn put(items: TensorList, parts: &[AnyTensor], indices: &[i64]) -> Result<TensorList, TensorError> {
    if parts.len() != indices.len() {
        return Err(TensorError::Count { want: indices.len(), got: parts.len() });
    }
    indices.iter().zip(parts).try_fold(items, |items, (&i, part)| items.set_item(i, part, true))
}

fn scattered(
    x: &AnyTensor,
    indices: &[i64],
    element: PartialShape,
    n: i64,
    allocator: &Arc<dyn Allocator>,
) -> Result<[Value; 1], KernelError> {
    let parts = x.unpack(allocator).map_err(refused)?;
    let empty = TensorList::reserve(x.ty(), element, n.max(0)).map_err(refused)?;
    new(put(empty, &parts, indices))
}

fn concat(
    attrs: &Attributes<'_>,
    shape: impl Fn(&[&Value]) -> Result<PartialShape, KernelError> + Send + Sync + 'static,
) -> Result<Action, TensorError> {
    let ty = elements(attrs)?;
    super::action::variadic_action(move |operands, cx| {
        let Some(from) = operands.first() else { return Err(KernelError::invalid("no operands")) };
        let leading = operands.get(2).map_or(Ok(Vec::new()), |leading| ints(leading))?;
        let joined = of_type(from, ty)?.concat(&shape(operands)?, &leading, cx.allocator());
        let (x, lengths) = joined.map_err(refused)?;
        let n = Shape::new(&[lengths.len()]).map_err(refused)?;
        let lengths = HostTensor::from_slice(n, &lengths, cx.allocator()).map_err(refused)?;
        Ok([value(x), tensor(lengths)])
    })
}
