//! Optionals: variants with components, or without. The gradient of a branch op reads the optionals that the
//! executed branch stored. `ZerosLike` and `AddN` on variants are here too.

use std::sync::Arc;

use befrost_kernel_api::object::Object;
use befrost_kernel_api::{KernelError, Value};
use befrost_tensor::I1;
use befrost_tensor::mem::Allocator;
use befrost_tensor::tf::op::Op;
use befrost_tensor::tf::{self, Binary};

use super::action::{ActionRow, action, scalar, tensor, variadic_action};
use super::lists::{Items, List, copy_of_value, list};
use super::operands::dense;
use crate::objects::refused;

/// Maximum nesting depth of variants, which bounds recursion.
const MAX_NESTING: usize = 64;

/// A variant with components, or without.
#[derive(Clone, Debug)]
pub(super) struct Optional {
    components: Option<Vec<Value>>,
    nesting: usize,
}

impl Object for Optional {
    const TYPES: &'static [&'static str] = &["tensor"];

    fn display(&self) -> String {
        match &self.components {
            Some(components) => format!("Optional of {} components", components.len()),
            None => "Optional without components".to_owned(),
        }
    }

    fn copied(&self, to: &Arc<dyn Allocator>) -> Option<Result<(Value, usize), KernelError>> {
        let mut bytes = 0;
        let components = self.components.as_ref().map(|components| {
            components.iter().map(|value| copy_of_value(value, to, &mut bytes)).collect::<Result<Vec<_>, _>>()
        });
        let copied = components.transpose().map(|components| Optional { components, nesting: self.nesting });
        Some(copied.map(|copied| (Value::object(copied), bytes)))
    }
}

pub(super) const OPS: &[ActionRow] = &[
    (&[Op::OptionalFromValue], |_| {
        variadic_action(|components, _| {
            let components: Vec<Value> = components.iter().map(|&value| value.clone()).collect();
            let nesting = components.iter().try_fold(1, |all, value| Ok(nested(value)?.max(all)))?;
            Ok([Value::object(Optional { components: Some(components), nesting })])
        })
    }),
    (&[Op::OptionalNone], |attrs| {
        action(attrs, |[], _| Ok([Value::object(Optional { components: None, nesting: 1 })]))
    }),
    (&[Op::OptionalHasValue], |attrs| {
        action(attrs, |[x], cx| Ok([scalar(I1::from(optional(x)?.components.is_some()), cx)?]))
    }),
    (&[Op::OptionalGetValue], |attrs| {
        action(attrs, |[x], _| {
            let components = optional(x)?.components.clone();
            components.ok_or_else(|| KernelError::invalid("the optional has no value"))
        })
    }),
];

fn optional(value: &Value) -> Result<&Optional, KernelError> {
    value.downcast_ref::<Optional>().ok_or_else(|| {
        KernelError::invalid(format!("expected an optional, got a value of type {}", value.type_name()))
    })
}

/// The nesting depth of a container of this value.
pub(super) fn nested(value: &Value) -> Result<usize, KernelError> {
    let own = match (value.downcast_ref::<Optional>(), value.downcast_ref::<List>()) {
        (Some(optional), _) => optional.nesting,
        (_, Some(list)) => list.nesting(),
        _ => 0,
    };
    match own + 1 {
        nesting if nesting <= MAX_NESTING => Ok(nesting),
        _ => Err(KernelError::invalid(format!("variants are nested more than {MAX_NESTING} deep"))),
    }
}

/// `ZerosLike`: zeros for each tensor in a value.
pub(super) fn zeros_like(operands: &[Value], allocator: &Arc<dyn Allocator>) -> Result<Value, KernelError> {
    match operands {
        [x] => zeros(x, allocator),
        _ => Err(KernelError::invalid(format!("{} operands, expected one", operands.len()))),
    }
}

fn zeros(x: &Value, allocator: &Arc<dyn Allocator>) -> Result<Value, KernelError> {
    if let Some(optional) = x.downcast_ref::<Optional>() {
        let components = optional.components.as_ref();
        let components = components
            .map(|all| all.iter().map(|x| zeros(x, allocator)).collect::<Result<_, _>>())
            .transpose()?;
        return Ok(Value::object(Optional { components, nesting: optional.nesting }));
    }
    if let Some(list) = x.downcast_ref::<List>() {
        return list.map(
            |items| items.zeros_like(allocator),
            |_, slot| slot.map(|x| zeros(x, allocator)).transpose(),
        );
    }
    tf::zeros_like(dense(x)?, allocator).map(tensor).map_err(refused)
}

/// `AddN`: the sum of values with equal structure, tensor by tensor.
pub(super) fn add_n(operands: &[Value], allocator: &Arc<dyn Allocator>) -> Result<Value, KernelError> {
    let Some((first, others)) = operands.split_first() else {
        return Err(KernelError::invalid("no operands"));
    };
    others.iter().try_fold(first.clone(), |all, x| sum(&all, x, allocator))
}

fn sum(a: &Value, b: &Value, allocator: &Arc<dyn Allocator>) -> Result<Value, KernelError> {
    if let Some(first) = a.downcast_ref::<Optional>() {
        let components = match (&first.components, &optional(b)?.components) {
            (Some(a), Some(b)) if a.len() == b.len() => {
                let sums = a.iter().zip(b).map(|(a, b)| sum(a, b, allocator));
                Some(sums.collect::<Result<_, _>>()?)
            }
            (None, None) => None,
            _ => return Err(KernelError::invalid("optionals of different components have no sum")),
        };
        return Ok(Value::object(Optional { components, nesting: first.nesting }));
    }
    if let Some(first) = a.downcast_ref::<List>() {
        let second = list(b)?;
        return match (first.items(), second.items()) {
            (Items::Tensors(_), Items::Tensors(second)) => {
                first.map(|first| first.plus(second, allocator), |_, slot| Ok(slot.cloned()))
            }
            (Items::Variants(items), Items::Variants(second)) if items.len() == second.len() => first.map(
                |items| Ok(items.clone()),
                |i, slot| match (slot, second.slot(i)) {
                    (Some(a), Some(b)) => sum(a, b, allocator).map(Some),
                    (a, b) => Ok(a.or(b).cloned()),
                },
            ),
            _ => Err(KernelError::invalid("lists of different elements have no sum")),
        };
    }
    tf::binary(Binary::Add, dense(a)?, dense(b)?, allocator).map(tensor).map_err(refused)
}
