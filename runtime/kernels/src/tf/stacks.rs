//! Stacks, in which the gradients of TensorFlow 1's loops store the values of iterations. Each execution of
//! `StackV2` creates one.

use std::sync::{Mutex, PoisonError};

use befrost_kernel_api::object::Object;
use befrost_kernel_api::{KernelError, Value};
use befrost_tensor::scratch::push;
use befrost_tensor::tf::op::{Op, Type};

use super::action::{ActionRow, action, int};
use crate::objects::refused;

/// A stack of values.
#[derive(Debug)]
pub(super) struct Stack {
    ty: Type,
    max: Option<usize>,
    values: Mutex<Vec<Value>>,
}

impl Object for Stack {
    const TYPES: &'static [&'static str] = &["tensor"];

    fn display(&self) -> String {
        format!("stack of {}", self.ty)
    }
}

impl Stack {
    fn with<R>(&self, f: impl FnOnce(&mut Vec<Value>) -> R) -> R {
        f(&mut self.values.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

pub(super) const OPS: &[ActionRow] = &[
    (&[Op::StackV2], |attrs| {
        let ty = attrs.ty("elem_type")?;
        action(attrs, move |[max], _| {
            let max = usize::try_from(int(max)?).ok();
            Ok([Value::object(Stack { ty, max, values: Mutex::default() })])
        })
    }),
    (&[Op::StackPushV2], |attrs| {
        action(attrs, |[to, value], _| {
            let to = stack(to)?;
            to.with(|values| {
                if to.max.is_some_and(|max| values.len() >= max) {
                    return Err(KernelError::invalid(format!(
                        "the stack is full with {} values",
                        values.len()
                    )));
                }
                push(values, value.clone()).map_err(refused)?;
                Ok([value.clone()])
            })
        })
    }),
    (&[Op::StackPopV2], |attrs| {
        let ty = attrs.ty("elem_type")?;
        action(attrs, move |[from], _| {
            let from = stack(from)?;
            if from.ty != ty {
                return Err(KernelError::invalid(format!("the stack has values of {}, not {ty}", from.ty)));
            }
            from.with(|values| values.pop())
                .map(|value| [value])
                .ok_or_else(|| KernelError::invalid("the stack is empty"))
        })
    }),
    (&[Op::StackCloseV2], |attrs| {
        action(attrs, |[from], _| {
            stack(from)?.with(Vec::clear);
            Ok([])
        })
    }),
];

fn stack(value: &Value) -> Result<&Stack, KernelError> {
    value.downcast_ref::<Stack>().ok_or_else(|| {
        KernelError::invalid(format!("expected a stack, got a value of type {}", value.type_name()))
    })
}
