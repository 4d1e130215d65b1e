//! Stacks: they keep values of TensorFlow 1's loops for the gradients.

use std::cell::RefCell;
use std::rc::Rc;

use befrost_tensor::tf::op::{Attributes, Type};

use super::state::Cx;
use super::value::{TfValue, invalid};
use crate::oracle::frames::Stop;

/// A stack of values.
#[derive(Debug)]
pub struct Stack {
    ty: Type,
    max: Option<usize>,
    values: RefCell<Vec<TfValue>>,
}

fn stack(value: &TfValue) -> Result<&Stack, Stop> {
    match value {
        TfValue::Stack(stack) => Ok(stack),
        other => Err(other.is_not("a stack")),
    }
}

/// The results of an op on stacks; `None` for other ops.
pub(super) fn evaluate(
    name: &str,
    operands: &[TfValue],
    attrs: &Attributes<'_>,
    _: &mut Cx<'_>,
) -> Result<Option<Vec<TfValue>>, Stop> {
    Ok(Some(match (name, operands) {
        ("StackV2", [max]) => {
            let (ty, max) = (attrs.ty("elem_type")?, usize::try_from(max.int()?).ok());
            vec![TfValue::Stack(Rc::new(Stack { ty, max, values: RefCell::default() }))]
        }
        ("StackPushV2", [to, x]) => {
            let stack = stack(to)?;
            let mut values = stack.values.borrow_mut();
            if stack.max.is_some_and(|max| values.len() >= max) {
                return Err(invalid(format!("the stack is full with {} values", values.len())));
            }
            values.push(x.clone());
            vec![x.clone()]
        }
        ("StackPopV2", [from]) => {
            let stack = stack(from)?;
            if stack.ty != attrs.ty("elem_type")? {
                return Err(invalid(format!("the stack has values of {}", stack.ty)));
            }
            vec![stack.values.borrow_mut().pop().ok_or_else(|| invalid("the stack is empty"))?]
        }
        ("StackCloseV2", [of]) => {
            stack(of)?.values.borrow_mut().clear();
            Vec::new()
        }
        _ => return Ok(None),
    }))
}
