//! `Assert` and `Print`, which format values.

use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::{KernelError, Value};
use befrost_tensor::I1;
use befrost_tensor::tf::op::Op;

use super::action::{ActionRow, action, variadic_action};
use super::operands::dense;
use crate::objects::{Strings, refused};

pub(super) const OPS: &[ActionRow] = &[
    (&[Op::Assert], |_| {
        variadic_action(|operands, _| match operands.split_first() {
            Some((condition, data)) if !is_true(condition)? => {
                let words: Vec<String> = data.iter().map(|value| text(value)).collect();
                Err(KernelError::invalid(format!("assertion failed: {}", words.join(" "))))
            }
            Some(_) => Ok([]),
            None => Err(KernelError::invalid("no condition")),
        })
    }),
    (&[Op::Print], |attrs| {
        let message = attrs.string("message")?;
        variadic_action(move |operands, _| {
            let Some((value, data)) = operands.split_first() else {
                return Err(KernelError::invalid("no operand"));
            };
            let words: String = data.iter().map(|value| format!("[{}]", text(value))).collect();
            eprintln!("{message}{words}");
            Ok([(*value).clone()])
        })
    }),
    (&[Op::PrintV2], |attrs| {
        let (end, to) = (attrs.string("end")?, attrs.string("output_stream")?);
        action(attrs, move |[value], cx| {
            let words = format!("{}{end}", text(value));
            if to != "stdout" {
                eprint!("{words}");
                return Ok([]);
            }
            let wrote = cx.request.output.write(&words);
            wrote.map_err(|error| KernelError::new(ErrorCode::Unavailable, error.to_string()))?;
            Ok([])
        })
    }),
];

fn is_true(condition: &Value) -> Result<bool, KernelError> {
    let x = dense(condition)?;
    let elements = x.read_as::<I1>("condition").map_err(refused)?;
    match elements.first() {
        Some(condition) if x.num_elements() == 1 => Ok(condition.is_true()),
        _ => Err(KernelError::invalid(format!("a condition of shape {}", x.shape()))),
    }
}

/// The text of a value in a message: a string without quotes, other values as printed.
fn text(value: &Value) -> String {
    if let Some(strings) = value.downcast_ref::<Strings>()
        && strings.0.num_elements() == 1
        && let Ok(read) = strings.0.read()
    {
        return read.iter().map(String::from_utf8_lossy).collect();
    }
    value.to_string()
}
