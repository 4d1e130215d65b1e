//! Optionals, and the sums and zeros of variants.

use std::rc::Rc;

use befrost_tensor::tf::op::Attributes;
use befrost_tensor::tf::reference;
use befrost_tensor::{HostTensor, I1, Shape};

use super::state::Cx;
use super::value::{TfValue, invalid};
use crate::oracle::frames::Stop;

/// The results of an op on optionals or on any variant; `None` for other ops.
pub(super) fn evaluate(
    name: &str,
    operands: &[TfValue],
    _: &Attributes<'_>,
    cx: &mut Cx<'_>,
) -> Result<Option<Vec<TfValue>>, Stop> {
    let is_variant = operands.iter().any(|x| matches!(x, TfValue::List(_) | TfValue::Optional(_)));
    Ok(Some(match (name, operands) {
        ("OptionalFromValue", components) => vec![TfValue::Optional(Some(components.into()))],
        ("OptionalNone", []) => vec![TfValue::Optional(None)],
        ("OptionalHasValue", [x]) => {
            let has = I1::from(optional(x)?.is_some());
            vec![TfValue::Tensor(HostTensor::from_slice(Shape::scalar(), &[has], cx.allocator)?)]
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

fn optional(value: &TfValue) -> Result<&Option<Rc<[TfValue]>>, Stop> {
    match value {
        TfValue::Optional(components) => Ok(components),
        other => Err(other.is_not("an optional")),
    }
}

/// Zeros for each tensor in a value.
fn zeros(x: &TfValue, cx: &Cx<'_>) -> Result<TfValue, Stop> {
    Ok(match x {
        TfValue::Optional(None) => x.clone(),
        TfValue::Optional(Some(components)) => {
            let zeros = components.iter().map(|x| zeros(x, cx)).collect::<Result<Vec<_>, _>>()?;
            TfValue::Optional(Some(zeros.into()))
        }
        TfValue::List(list) => {
            let slots = list.slots.iter().map(|slot| slot.as_ref().map(|x| zeros(x, cx)).transpose());
            TfValue::List(Rc::new(list.with(slots.collect::<Result<Vec<_>, _>>()?)))
        }
        x => TfValue::Tensor(reference::zeros_like(x.tensor()?, cx.allocator)?),
    })
}

/// The sum of two values of one structure.
fn sum(a: &TfValue, b: &TfValue, cx: &Cx<'_>) -> Result<TfValue, Stop> {
    Ok(match (a, b) {
        (TfValue::Optional(None), TfValue::Optional(None)) => a.clone(),
        (TfValue::Optional(Some(a)), TfValue::Optional(Some(b))) if a.len() == b.len() => {
            let sums = a.iter().zip(b.iter()).map(|(a, b)| sum(a, b, cx));
            TfValue::Optional(Some(sums.collect::<Result<Vec<_>, _>>()?.into()))
        }
        (TfValue::List(a), TfValue::List(b)) if (a.ty, a.slots.len()) == (b.ty, b.slots.len()) => {
            let sums = a.slots.iter().zip(&b.slots).map(|slots| match slots {
                (Some(a), Some(b)) => sum(a, b, cx).map(Some),
                (a, b) => Ok(a.as_ref().or(b.as_ref()).cloned()),
            });
            TfValue::List(Rc::new(a.with(sums.collect::<Result<Vec<_>, _>>()?)))
        }
        (TfValue::Tensor(a), TfValue::Tensor(b)) => {
            TfValue::Tensor(reference::binary(reference::Binary::Add, a, b, cx.allocator)?)
        }
        _ => return Err(invalid("variants of different structure have no sum")),
    })
}
