//! Optionals, and the sums and zeros of variants.

use std::rc::Rc;

use befrost_tensor::tf::op::Attributes;
use befrost_tensor::tf::reference;
use befrost_tensor::{HostTensor, I1, Shape};

use super::state::Cx;
use super::value::{Value, invalid};
use crate::oracle::frames::Stop;

/// The ops of optionals, and those of all variants; nothing if it is none of these.
pub(super) fn evaluate(
    name: &str,
    operands: &[Value],
    _: &Attributes<'_>,
    cx: &mut Cx<'_>,
) -> Result<Option<Vec<Value>>, Stop> {
    let is_variant = operands.iter().any(|x| matches!(x, Value::List(_) | Value::Optional(_)));
    Ok(Some(match (name, operands) {
        ("OptionalFromValue", components) => vec![Value::Optional(Some(components.into()))],
        ("OptionalNone", []) => vec![Value::Optional(None)],
        ("OptionalHasValue", [x]) => {
            let has = I1::from(optional(x)?.is_some());
            vec![Value::Tensor(HostTensor::from_slice(Shape::scalar(), &[has], cx.allocator)?)]
        }
        ("OptionalGetValue", [x]) => {
            optional(x)?.as_deref().ok_or_else(|| invalid("the optional has no value"))?.to_vec()
        }
        ("ZerosLike", [x]) if is_variant => vec![zeros(x, cx)?],
        ("AddN", [first, others @ ..]) if is_variant => {
            vec![others.iter().try_fold(first.clone(), |all, x| sum(&all, x, cx))?]
        }
        _ => return Ok(None),
    }))
}

fn optional(value: &Value) -> Result<&Option<Rc<[Value]>>, Stop> {
    match value {
        Value::Optional(components) => Ok(components),
        other => Err(other.is_not("an optional")),
    }
}

/// Zeros for each tensor in a value.
fn zeros(x: &Value, cx: &Cx<'_>) -> Result<Value, Stop> {
    Ok(match x {
        Value::Optional(None) => x.clone(),
        Value::Optional(Some(components)) => {
            let zeros = components.iter().map(|x| zeros(x, cx)).collect::<Result<Vec<_>, _>>()?;
            Value::Optional(Some(zeros.into()))
        }
        Value::List(list) => {
            let slots = list.slots.iter().map(|slot| slot.as_ref().map(|x| zeros(x, cx)).transpose());
            Value::List(Rc::new(list.with(slots.collect::<Result<Vec<_>, _>>()?)))
        }
        x => Value::Tensor(reference::zeros_like(x.tensor()?, cx.allocator)?),
    })
}

/// The sum of two values of one structure.
fn sum(a: &Value, b: &Value, cx: &Cx<'_>) -> Result<Value, Stop> {
    Ok(match (a, b) {
        (Value::Optional(None), Value::Optional(None)) => a.clone(),
        (Value::Optional(Some(a)), Value::Optional(Some(b))) if a.len() == b.len() => {
            let sums = a.iter().zip(b.iter()).map(|(a, b)| sum(a, b, cx));
            Value::Optional(Some(sums.collect::<Result<Vec<_>, _>>()?.into()))
        }
        (Value::List(a), Value::List(b)) if (a.ty, a.slots.len()) == (b.ty, b.slots.len()) => {
            let sums = a.slots.iter().zip(&b.slots).map(|slots| match slots {
                (Some(a), Some(b)) => sum(a, b, cx).map(Some),
                (a, b) => Ok(a.as_ref().or(b.as_ref()).cloned()),
            });
            Value::List(Rc::new(a.with(sums.collect::<Result<Vec<_>, _>>()?)))
        }
        (Value::Tensor(a), Value::Tensor(b)) => {
            Value::Tensor(reference::binary(reference::Binary::Add, a, b, cx.allocator)?)
        }
        _ => return Err(invalid("variants of different structure have no sum")),
    })
}
