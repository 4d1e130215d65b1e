//! `TensorList`: the lists that loops put the values of their steps into. A list is a value: an operator gives a new one.
//!
//! Not here: lists of lists, and tensors of lists.

use std::sync::Arc;

use befrost_host::object::Object;
use befrost_host::{KernelError, Value};
use befrost_tensor::mem::Allocator;
use befrost_tensor::tf::op::Attributes;
use befrost_tensor::tf::{PartialShape, TensorList, cast, unpack};
use befrost_tensor::{DType, HostTensor, Shape, TensorError};

use super::action::{Action, Row, int, ints, of, scalar, tensor};
use super::dense;
use crate::objects::refused;

/// A variant that is a list, and how many elements it may have.
#[derive(Clone, Debug)]
struct List {
    items: TensorList,
    max: Option<usize>,
}

impl Object for List {
    const TYPES: &'static [&'static str] = &["tensor"];

    fn display(&self) -> String {
        format!("TensorList of {} x {}", self.items.len(), self.items.dtype())
    }
}

pub(super) const OPS: &[Row] = &[
    (&["tf.EmptyTensorList"], |attrs| {
        let dtype = attrs.dtype("element_dtype")?;
        of(attrs, move |[shape, max], _| {
            let max = usize::try_from(int(max)?).ok();
            Ok([Value::object(List { items: TensorList::empty(dtype, element(shape)?), max })])
        })
    }),
    (&["tf.TensorListReserve"], |attrs| {
        let dtype = attrs.dtype("element_dtype")?;
        of(attrs, move |[shape, n], _| new(TensorList::reserve(dtype, element(shape)?, int(n)?)))
    }),
    (&["tf.TensorListFromTensor"], |attrs| {
        of(attrs, |[x, shape], cx| new(TensorList::from_tensor(dense(x)?, &element(shape)?, cx.allocator())))
    }),
    (&["tf.TensorListPushBack"], |attrs| {
        of(attrs, |[to, x], _| {
            let to = list(to)?;
            if to.max.is_some_and(|max| to.items.len() >= max) {
                return Err(KernelError::invalid(format!(
                    "the list is full with {} elements",
                    to.items.len()
                )));
            }
            changed(to, |items| items.push_back(dense_or(x)?))
        })
    }),
    (&["tf.TensorListPopBack"], |attrs| {
        let dtype = attrs.dtype("element_dtype")?;
        of(attrs, move |[from, shape], cx| {
            let from = typed(from, dtype)?;
            let (items, x) =
                from.items.clone().pop_back(&element(shape)?, cx.allocator()).map_err(refused)?;
            Ok([Value::object(List { items, max: from.max }), tensor(x)])
        })
    }),
    (&["tf.TensorListGetItem"], |attrs| {
        let dtype = attrs.dtype("element_dtype")?;
        of(attrs, move |[from, index, shape], cx| {
            let items = &typed(from, dtype)?.items;
            dense_of(items.get_item(int(index)?, &element(shape)?, cx.allocator()))
        })
    }),
    (&["tf.TensorListSetItem"], |attrs| {
        let resize = attrs.bool("resize_if_index_out_of_bounds")?;
        of(attrs, move |[to, index, x], _| {
            let index = int(index)?;
            changed(list(to)?, |items| items.set_item(index, dense_or(x)?, resize))
        })
    }),
    (&["tf.TensorListLength"], |attrs| {
        of(attrs, |[from], cx| {
            let n = i32::try_from(list(from)?.items.len());
            Ok([scalar(n.map_err(|_| KernelError::invalid("the list is too long"))?, cx)?])
        })
    }),
    (&["tf.TensorListElementShape"], |attrs| {
        let to = attrs.dtype("shape_type")?;
        of(attrs, move |[from], cx| {
            let (dims, rank) = match list(from)?.items.element_shape().dims() {
                Some(dims) => (dims.clone(), Shape::new(&[dims.len()]).map_err(refused)?),
                None => (vec![-1], Shape::scalar()),
            };
            let dims = HostTensor::from_slice(rank, &dims, cx.allocator()).map_err(refused)?;
            dense_of(cast(&dims, to, cx.allocator()))
        })
    }),
    (&["tf.TensorListResize"], |attrs| {
        of(attrs, |[of, n], _| {
            let n = int(n)?;
            changed(list(of)?, |items| items.resize(n))
        })
    }),
    (&["tf.TensorListStack"], |attrs| {
        let (dtype, n) = (attrs.dtype("element_dtype")?, attrs.int("num_elements")?);
        of(attrs, move |[from, shape], cx| {
            dense_of(typed(from, dtype)?.items.stack(&element(shape)?, n, cx.allocator()))
        })
    }),
    (&["tf.TensorListGather"], |attrs| {
        let dtype = attrs.dtype("element_dtype")?;
        of(attrs, move |[from, indices, shape], cx| {
            let items = &typed(from, dtype)?.items;
            dense_of(items.gather(&ints(indices)?, &element(shape)?, cx.allocator()))
        })
    }),
    (&["tf.TensorListScatter"], |attrs| {
        of(attrs, |[x, indices, shape], cx| {
            scattered(dense(x)?, &ints(indices)?, element(shape)?, -1, cx.allocator())
        })
    }),
    (&["tf.TensorListScatterV2"], |attrs| {
        of(attrs, |[x, indices, shape, n], cx| {
            scattered(dense(x)?, &ints(indices)?, element(shape)?, int(n)?, cx.allocator())
        })
    }),
    (&["tf.TensorListScatterIntoExistingList"], |attrs| {
        of(attrs, |[to, x, indices], cx| {
            let (parts, indices) = (parts(dense(x)?, cx.allocator())?, ints(indices)?);
            changed(list(to)?, |items| put(items, &parts, &indices))
        })
    }),
    (&["tf.TensorListConcat"], |attrs| {
        let shape = attrs.shape("element_shape")?;
        concat(attrs, move |_| Ok(shape.clone()))
    }),
    (&["tf.TensorListConcatV2"], |attrs| {
        concat(attrs, |operands| match operands {
            [_, shape, ..] => element(shape),
            _ => Ok(PartialShape::unknown()),
        })
    }),
    (&["tf.TensorListConcatLists"], |attrs| {
        let dtype = attrs.dtype("element_dtype")?;
        of(attrs, move |[a, b], cx| {
            let (a, b) = (typed(a, dtype)?, typed(b, dtype)?);
            changed(a, |items| {
                (0..b.items.len() as i64).try_fold(items, |items, i| {
                    items.push_back(&b.items.get_item(i, &PartialShape::unknown(), cx.allocator())?)
                })
            })
        })
    }),
    (&["tf.TensorListSplit"], |attrs| {
        of(attrs, |[x, shape, lengths], cx| {
            new(TensorList::split(dense(x)?, &element(shape)?, &ints(lengths)?, cx.allocator()))
        })
    }),
];

fn list(value: &Value) -> Result<&List, KernelError> {
    value.downcast_ref::<List>().ok_or_else(|| {
        KernelError::invalid(format!("expected a list of tensors, got a value of type {}", value.type_name()))
    })
}

/// A list of this element type.
fn typed(value: &Value, dtype: DType) -> Result<&List, KernelError> {
    let list = list(value)?;
    match list.items.dtype() {
        found if found == dtype => Ok(list),
        found => Err(KernelError::invalid(format!("the list has elements of {found}, expected {dtype}"))),
    }
}

fn element(shape: &Value) -> Result<PartialShape, KernelError> {
    PartialShape::from_tensor(dense(shape)?).map_err(refused)
}

/// A dense tensor, for the tensor library.
fn dense_or(value: &Value) -> Result<&HostTensor, TensorError> {
    let wrong = || "expected a dense tensor".to_owned();
    dense(value).map_err(|_| TensorError::Invalid { op: "TensorList", problem: wrong() })
}

fn new(items: Result<TensorList, TensorError>) -> Result<[Value; 1], KernelError> {
    Ok([Value::object(List { items: items.map_err(refused)?, max: None })])
}

fn dense_of(x: Result<HostTensor, TensorError>) -> Result<[Value; 1], KernelError> {
    Ok([tensor(x.map_err(refused)?)])
}

fn changed(
    list: &List,
    f: impl FnOnce(TensorList) -> Result<TensorList, TensorError>,
) -> Result<[Value; 1], KernelError> {
    let items = f(list.items.clone()).map_err(refused)?;
    Ok([Value::object(List { items, max: list.max })])
}

/// The slices along the first axis.
fn parts(x: &HostTensor, allocator: &Arc<dyn Allocator>) -> Result<Vec<HostTensor>, KernelError> {
    unpack(x, 0, allocator).map_err(refused)
}

/// The list with each part at its index; it grows as far as needed.
fn put(items: TensorList, parts: &[HostTensor], indices: &[i64]) -> Result<TensorList, TensorError> {
    if parts.len() != indices.len() {
        return Err(TensorError::Count { want: indices.len(), got: parts.len() });
    }
    indices.iter().zip(parts).try_fold(items, |items, (&i, part)| items.set_item(i, part, true))
}

fn scattered(
    x: &HostTensor,
    indices: &[i64],
    element: PartialShape,
    n: i64,
    allocator: &Arc<dyn Allocator>,
) -> Result<[Value; 1], KernelError> {
    let parts = parts(x, allocator)?;
    let empty = TensorList::reserve(x.dtype(), element, n.max(0)).map_err(refused)?;
    new(put(empty, &parts, indices))
}

fn concat(
    attrs: &Attributes<'_>,
    shape: impl Fn(&[&Value]) -> Result<PartialShape, KernelError> + Send + Sync + 'static,
) -> Result<Action, TensorError> {
    let dtype = attrs.dtype("element_dtype")?;
    super::action::of_all(move |operands, cx| {
        let Some(from) = operands.first() else { return Err(KernelError::invalid("no operands")) };
        // What is said of the elements leaves out their first axis.
        let rows = shape(operands)?;
        let element = rows.as_slice().map_or(PartialShape::unknown(), |dims| {
            PartialShape::new(std::iter::once(None).chain(dims.iter().skip(1).copied()).collect())
        });
        let (x, lengths) = typed(from, dtype)?.items.concat(&element, cx.allocator()).map_err(refused)?;
        let n = Shape::new(&[lengths.len()]).map_err(refused)?;
        let lengths = HostTensor::from_slice(n, &lengths, cx.allocator()).map_err(refused)?;
        Ok([tensor(x), tensor(lengths)])
    })
}
