//! `TensorArray`: the mutable lists of TensorFlow 1's loops.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use befrost_tensor::tf::PartialShape;
use befrost_tensor::tf::op::Attributes;
use befrost_tensor::tf::reference::{add_n, concat, pack, split_v, unpack};
use befrost_tensor::{DType, HostTensor, Shape};

use super::state::Cx;
use super::value::{TfValue, invalid};
use crate::oracle::frames::Stop;

/// Maximum number of elements of an array.
const MAX_SLOTS: usize = 1 << 20;

/// An array with its state.
#[derive(Debug)]
pub struct Array {
    dtype: DType,
    element: PartialShape,
    is_dynamic: bool,
    clears: bool,
    /// True if a second write to an element adds to it.
    adds: bool,
    slots: RefCell<Vec<ArraySlot>>,
    /// Its gradients, by source.
    gradients: RefCell<HashMap<String, Rc<Array>>>,
}

#[derive(Clone, Debug)]
enum ArraySlot {
    Empty,
    Written(HostTensor),
    /// Read, in an array that clears elements when they are read.
    Cleared,
}

fn array(value: &TfValue) -> Result<&Array, Stop> {
    match value {
        TfValue::Array(array) => Ok(array),
        other => Err(other.is_not("a TensorArray")),
    }
}

fn count(n: i64) -> Result<usize, Stop> {
    let n = usize::try_from(n).ok().filter(|&n| n <= MAX_SLOTS);
    n.ok_or_else(|| invalid("a TensorArray of that many elements"))
}

impl Array {
    fn write(&self, index: i64, x: &HostTensor, cx: &Cx<'_>) -> Result<(), Stop> {
        x.expect_dtype("value", self.dtype)?;
        if !self.element.allows(x.shape()) {
            return Err(invalid(format!("shape {} in a TensorArray of {}", x.shape(), self.element)));
        }
        let at = count(index)?;
        let mut slots = self.slots.borrow_mut();
        if at >= slots.len() && self.is_dynamic {
            slots.resize(count(index.saturating_add(1))?, ArraySlot::Empty);
        }
        let slot = slots.get_mut(at).ok_or_else(|| invalid(format!("index {index} in a TensorArray")))?;
        *slot = match slot {
            ArraySlot::Empty => ArraySlot::Written(x.clone()),
            ArraySlot::Written(old) if self.adds => ArraySlot::Written(add_n(&[old, x], cx.allocator)?),
            _ => return Err(invalid(format!("element {index} is written twice"))),
        };
        Ok(())
    }

    fn read(&self, index: i64, cx: &Cx<'_>) -> Result<HostTensor, Stop> {
        let mut slots = self.slots.borrow_mut();
        let slot = usize::try_from(index).ok().and_then(|at| slots.get_mut(at));
        let slot = slot.ok_or_else(|| invalid(format!("index {index} in a TensorArray")))?;
        match (&*slot, self.element.shape()) {
            (ArraySlot::Written(x), _) => {
                let x = x.clone();
                if self.clears {
                    *slot = ArraySlot::Cleared;
                }
                Ok(x)
            }
            (ArraySlot::Empty, Some(shape)) => Ok(HostTensor::zeros(self.dtype, shape, cx.allocator)?),
            (ArraySlot::Empty, None) => Err(invalid(format!("element {index} is read before it is written"))),
            (ArraySlot::Cleared, _) => Err(invalid(format!("element {index} was cleared"))),
        }
    }

    fn all(&self, indices: impl IntoIterator<Item = i64>, cx: &Cx<'_>) -> Result<Vec<HostTensor>, Stop> {
        indices.into_iter().map(|index| self.read(index, cx)).collect()
    }

    fn gradient(&self, source: String) -> Rc<Array> {
        let slots = vec![ArraySlot::Empty; self.slots.borrow().len()];
        let make = || Array {
            element: self.element.clone(),
            clears: false,
            adds: true,
            slots: RefCell::new(slots),
            gradients: RefCell::default(),
            ..*self
        };
        self.gradients.borrow_mut().entry(source).or_insert_with(|| Rc::new(make())).clone()
    }
}

/// The results of an op on arrays; `None` for other ops.
pub(super) fn evaluate(
    name: &str,
    operands: &[TfValue],
    attrs: &Attributes<'_>,
    cx: &mut Cx<'_>,
) -> Result<Option<Vec<TfValue>>, Stop> {
    let Some(kind) = name.strip_prefix("TensorArray").and_then(|rest| rest.strip_suffix("V3")) else {
        return Ok(None);
    };
    let m = cx.allocator;
    Ok(Some(match (kind, operands) {
        ("", [size]) => {
            let array = Array {
                dtype: attrs.dtype("dtype")?,
                element: attrs.shape("element_shape")?,
                is_dynamic: attrs.bool("dynamic_size")?,
                clears: attrs.bool("clear_after_read")?,
                adds: false,
                slots: RefCell::new(vec![ArraySlot::Empty; count(size.int()?)?]),
                gradients: RefCell::default(),
            };
            let flow = HostTensor::from_slice(Shape::scalar(), &[0f32], m)?;
            vec![TfValue::Array(Rc::new(array)), TfValue::Tensor(flow)]
        }
        ("Grad", [of, flow]) => {
            vec![TfValue::Array(array(of)?.gradient(attrs.string("source")?)), flow.clone()]
        }
        ("Write", [to, index, x, flow]) => {
            array(to)?.write(index.int()?, x.tensor()?, cx)?;
            vec![flow.clone()]
        }
        ("Read", [from, index, _]) => vec![TfValue::Tensor(array(from)?.read(index.int()?, cx)?)],
        ("Gather", [from, indices, _]) => {
            let from = array(from)?;
            let all = from.all(indices.ints()?, cx)?;
            if all.is_empty() {
                let rows = from.element.merged(&attrs.shape("element_shape")?).and_then(|rows| rows.shape());
                let rows = rows.ok_or_else(|| invalid("no elements, of unknown shape"))?;
                let shape = Shape::new(&[&[0], rows.dims()].concat())?;
                return Ok(Some(vec![TfValue::Tensor(HostTensor::zeros(from.dtype, shape, m)?)]));
            }
            vec![TfValue::Tensor(pack(&all.iter().collect::<Vec<_>>(), 0, m)?)]
        }
        ("Scatter", [to, indices, x, flow]) => {
            let (to, indices, parts) = (array(to)?, indices.ints()?, unpack(x.tensor()?, 0, m)?);
            if parts.len() != indices.len() {
                return Err(invalid(format!("{} elements for {} indices", parts.len(), indices.len())));
            }
            for (index, part) in indices.into_iter().zip(&parts) {
                to.write(index, part, cx)?;
            }
            vec![flow.clone()]
        }
        ("Concat", [from, _]) => {
            let from = array(from)?;
            let n = from.slots.borrow().len() as i64;
            let all = from.all(0..n, cx)?;
            let lengths: Vec<i64> =
                all.iter().map(|x| x.shape().dims().first().map_or(0, |&n| n as i64)).collect();
            let joined = concat(&all.iter().collect::<Vec<_>>(), 0, m)?;
            let lengths = HostTensor::from_slice(Shape::new(&[lengths.len()])?, &lengths, m)?;
            vec![TfValue::Tensor(joined), TfValue::Tensor(lengths)]
        }
        ("Split", [to, x, lengths, flow]) => {
            let to = array(to)?;
            for (index, part) in (0..).zip(&split_v(x.tensor()?, &lengths.ints()?, 0, m)?) {
                to.write(index, part, cx)?;
            }
            vec![flow.clone()]
        }
        ("Size", [of, _]) => {
            let n = array(of)?.slots.borrow().len() as i32;
            vec![TfValue::Tensor(HostTensor::from_slice(Shape::scalar(), &[n], m)?)]
        }
        ("Close", [of]) => {
            let of = array(of)?;
            of.slots.borrow_mut().clear();
            of.gradients.borrow_mut().clear();
            Vec::new()
        }
        _ => return Ok(None),
    }))
}
