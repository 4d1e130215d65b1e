//! `TensorArray`: the mutable lists of loops in TensorFlow 1. `flow` values order operations on them.
//!
//! Each execution of `TensorArrayV3` creates an array. `TensorArrayGradV3` creates the array of the gradients
//! of another, one per source; its writes accumulate.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use befrost_kernel_api::object::Object;
use befrost_kernel_api::{KernelError, Value};
use befrost_tensor::mem::Allocator;
use befrost_tensor::tf::op::{Op, Type};
use befrost_tensor::tf::{AnyTensor, PartialShape, add_n};
use befrost_tensor::{HostTensor, Shape};

use super::action::{ActionRow, action, int, ints, scalar, tensor};
use super::operands::{any, any_type, value};
use crate::objects::refused;

/// A mutable array.
#[derive(Debug)]
struct Array {
    ty: Type,
    element: PartialShape,
    is_dynamic: bool,
    clears: bool,
    /// True if writes accumulate.
    adds: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    slots: Vec<Slot>,
    gradients: BTreeMap<String, Arc<Array>>,
}

#[derive(Clone, Debug)]
enum Slot {
    Empty,
    Written(AnyTensor),
    /// Cleared by a read.
    Cleared,
}

#[derive(Clone, Debug)]
pub(super) struct ArrayHandle(Arc<Array>);

impl Object for ArrayHandle {
    const TYPES: &'static [&'static str] = &["tensor"];

    fn display(&self) -> String {
        format!("TensorArray of {}", self.0.ty)
    }
}

/// Limit on the number of slots; larger sizes are an error instead of an allocation.
const MAX_SLOTS: usize = 1 << 20;

pub(super) const OPS: &[ActionRow] = &[
    (&[Op::TensorArrayV3], |attrs| {
        let (ty, element) = (any_type(attrs, "dtype")?, attrs.shape("element_shape")?);
        let (is_dynamic, clears) = (attrs.bool("dynamic_size")?, attrs.bool("clear_after_read")?);
        action(attrs, move |[size], cx| {
            let state = State { slots: vec![Slot::Empty; slots(int(size)?)?], ..State::default() };
            let element = element.clone();
            let array = Array { ty, element, is_dynamic, clears, adds: false, state: Mutex::new(state) };
            Ok([Value::object(ArrayHandle(Arc::new(array))), scalar(0f32, cx)?])
        })
    }),
    (&[Op::TensorArrayGradV3], |attrs| {
        let source = attrs.string("source")?;
        action(attrs, move |[of, flow], _| {
            Ok([Value::object(ArrayHandle(array(of)?.gradient(&source))), flow.clone()])
        })
    }),
    (&[Op::TensorArrayWriteV3], |attrs| {
        action(attrs, |[to, index, x, flow], cx| {
            array(to)?.write(int(index)?, &any(x)?, cx.allocator())?;
            Ok([flow.clone()])
        })
    }),
    (&[Op::TensorArrayReadV3], |attrs| {
        action(attrs, |[from, index, _], cx| Ok([value(array(from)?.read(int(index)?, cx.allocator())?)]))
    }),
    (&[Op::TensorArrayGatherV3], |attrs| {
        let element = attrs.shape("element_shape")?;
        action(attrs, move |[from, indices, _], cx| {
            let from = array(from)?;
            let all = from.all(ints(indices)?, cx.allocator())?;
            if all.is_empty() {
                let rows = from.element.merged(&element).and_then(|shape| shape.shape());
                let rows = rows.ok_or_else(|| KernelError::invalid("no elements, of unknown shape"))?;
                let shape = Shape::new(&[&[0], rows.dims()].concat()).map_err(refused)?;
                return Ok([value(AnyTensor::zeros(from.ty, shape, cx.allocator()).map_err(refused)?)]);
            }
            Ok([value(AnyTensor::pack(&all, cx.allocator()).map_err(refused)?)])
        })
    }),
    (&[Op::TensorArrayScatterV3], |attrs| {
        action(attrs, |[to, indices, x, flow], cx| {
            let (to, indices) = (array(to)?, ints(indices)?);
            let parts = any(x)?.unpack(cx.allocator()).map_err(refused)?;
            if parts.len() != indices.len() {
                let problem = format!("{} slices for {} indices", parts.len(), indices.len());
                return Err(KernelError::invalid(problem));
            }
            for (index, part) in indices.into_iter().zip(&parts) {
                to.write(index, part, cx.allocator())?;
            }
            Ok([flow.clone()])
        })
    }),
    (&[Op::TensorArrayConcatV3], |attrs| {
        action(attrs, |[from, _], cx| {
            let from = array(from)?;
            let n = from.lock().slots.len() as i64; // at most MAX_SLOTS
            let all = from.all((0..n).collect(), cx.allocator())?;
            let lengths = all.iter().map(|x| x.shape().dims().first().map_or(0, |&dim| dim as i64));
            let lengths: Vec<i64> = lengths.collect();
            let n = Shape::new(&[lengths.len()]).map_err(refused)?;
            let joined = AnyTensor::concat(&all, cx.allocator()).map_err(refused)?;
            let lengths = HostTensor::from_slice(n, &lengths, cx.allocator()).map_err(refused)?;
            Ok([value(joined), tensor(lengths)])
        })
    }),
    (&[Op::TensorArraySplitV3], |attrs| {
        action(attrs, |[to, x, lengths, flow], cx| {
            let (to, lengths) = (array(to)?, ints(lengths)?);
            let parts = any(x)?.split("TensorArraySplitV3", &lengths, cx.allocator()).map_err(refused)?;
            for (index, part) in (0..).zip(&parts) {
                to.write(index, part, cx.allocator())?;
            }
            Ok([flow.clone()])
        })
    }),
    (&[Op::TensorArraySizeV3], |attrs| {
        action(attrs, |[of, _], cx| Ok([scalar(array(of)?.lock().slots.len() as i32, cx)?])) // at most MAX_SLOTS
    }),
    (&[Op::TensorArrayCloseV3], |attrs| {
        action(attrs, |[of], _| {
            *array(of)?.lock() = State::default();
            Ok([])
        })
    }),
];

fn array(value: &Value) -> Result<&Array, KernelError> {
    value.downcast_ref::<ArrayHandle>().map(|handle| &*handle.0).ok_or_else(|| {
        KernelError::invalid(format!("expected a TensorArray, got a value of type {}", value.type_name()))
    })
}

fn slots(n: i64) -> Result<usize, KernelError> {
    let n = usize::try_from(n).ok().filter(|&n| n <= MAX_SLOTS);
    n.ok_or_else(|| KernelError::invalid(format!("a TensorArray has from 0 to {MAX_SLOTS} elements")))
}

impl Array {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The array of the gradients for a source, with the same number of slots.
    fn gradient(&self, source: &str) -> Arc<Array> {
        let mut state = self.lock();
        let slots = vec![Slot::Empty; state.slots.len()];
        let made = state.gradients.entry(source.to_owned()).or_insert_with(|| {
            let state = Mutex::new(State { slots, ..State::default() });
            Arc::new(Array { element: self.element.clone(), clears: false, adds: true, state, ..*self })
        });
        made.clone()
    }

    fn write(&self, index: i64, x: &AnyTensor, allocator: &Arc<dyn Allocator>) -> Result<(), KernelError> {
        x.expect_type("TensorArrayWriteV3", self.ty).map_err(refused)?;
        if !self.element.allows(x.shape()) {
            let problem = format!("an element of shape {} in a TensorArray of {}", x.shape(), self.element);
            return Err(KernelError::invalid(problem));
        }
        let at = slots(index)?;
        let mut state = self.lock();
        if at >= state.slots.len() && self.is_dynamic {
            state.slots.resize(slots(index.saturating_add(1))?, Slot::Empty);
        }
        let n = state.slots.len();
        let Some(slot) = state.slots.get_mut(at) else {
            return Err(KernelError::invalid(format!("index {index} in a TensorArray of {n} elements")));
        };
        *slot = Slot::Written(match slot {
            Slot::Empty => x.clone(),
            Slot::Written(old) if self.adds => {
                let (Some(old), Some(x)) = (old.numbers(), x.numbers()) else {
                    return Err(KernelError::invalid("strings have no sum"));
                };
                add_n(&[old, x], allocator).map_err(refused)?.into()
            }
            Slot::Written(_) | Slot::Cleared => {
                return Err(KernelError::invalid(format!(
                    "element {index} of a TensorArray is written twice"
                )));
            }
        });
        Ok(())
    }

    /// An element. An empty slot of a gradient array is zeros, if the shape is known.
    fn read(&self, index: i64, allocator: &Arc<dyn Allocator>) -> Result<AnyTensor, KernelError> {
        let mut state = self.lock();
        let n = state.slots.len();
        let slot = usize::try_from(index).ok().and_then(|at| state.slots.get_mut(at));
        let slot = slot
            .ok_or_else(|| KernelError::invalid(format!("index {index} in a TensorArray of {n} elements")))?;
        match (&*slot, self.element.shape()) {
            (Slot::Written(x), _) => {
                let x = x.clone();
                if self.clears {
                    *slot = Slot::Cleared;
                }
                Ok(x)
            }
            (Slot::Empty, Some(shape)) => AnyTensor::zeros(self.ty, shape, allocator).map_err(refused),
            (Slot::Empty, None) => Err(KernelError::invalid(format!(
                "element {index} of a TensorArray is read before it is written"
            ))),
            (Slot::Cleared, _) => Err(KernelError::invalid(format!(
                "element {index} of a TensorArray was cleared after it was read"
            ))),
        }
    }

    fn all(&self, indices: Vec<i64>, allocator: &Arc<dyn Allocator>) -> Result<Vec<AnyTensor>, KernelError> {
        indices.into_iter().map(|index| self.read(index, allocator)).collect()
    }
}
