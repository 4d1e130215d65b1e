//! `tfrt_test`, `vt` and `tfrt_tutorial`: kernels for tests of the runtime.
//!
//! The output is TFRT's. A move in Rust is not observable; where TFRT's `vt` kernels print that a result is
//! moved into its value, these print the same.

mod benchmark;
mod examples;
mod pictures;
mod state;
mod strings;
mod tasks;
mod tensors;
mod values;

use bef_format::{AttrView, DType};
use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::kernel::{Attr, Completion, Kernel, KernelFrame, Outcome, RawAttr, Rest, Signature};
use befrost_kernel_api::{Chain, ExecContext, KernelError, Registry, Value, kernel};

use crate::objects::Text;

/// Adds the kernels of the `tfrt_test`, `vt` and `tfrt_tutorial` dialects.
pub fn tfrt_test(registry: &mut Registry) {
    failures(registry);
    numbers(registry);
    benchmark::add(registry);
    examples::add(registry);
    pictures::add(registry);
    state::add(registry);
    strings::add(registry);
    tasks::add(registry);
    tensors::add(registry);
    values::add(registry);
    registry.add(kernel!("tfrt_test.cancel", |_: Chain, cx: &ExecContext| {
        cx.request.cancellation.cancel();
        (0i32, Chain)
    }));
}

fn something_bad() -> KernelError {
    KernelError::new(ErrorCode::Unknown, "something bad happened")
}

fn failures(registry: &mut Registry) {
    registry.add(kernel!("tfrt_test.fail", || Err::<i32, _>(something_bad())));
    registry.add(kernel!("tfrt_test.fail_s", || Err::<i32, _>(something_bad())));
    registry.add(error_s());
    registry.add(kernel!("tfrt_test.error_chain", |_: Chain| {
        Err::<Chain, _>(KernelError::new(ErrorCode::Unknown, "error chain"))
    }));
    registry.add(partial_fail());
}

/// Fails for any number of results.
fn error_s() -> Kernel {
    let signature =
        Signature { rest_results: Some(&[]), completion: Completion::Sync, ..Signature::default() };
    Kernel::new("tfrt_test.error_s", signature, |_: &mut KernelFrame<'_>| Outcome::Error(something_bad()))
}

/// Stores its first result and fails; the second result becomes the error.
fn partial_fail() -> Kernel {
    let signature =
        Signature { results: vec![&["i32"], &["i32"]], completion: Completion::Sync, ..Signature::default() };
    Kernel::new("tfrt_test.partial_fail", signature, |frame: &mut KernelFrame<'_>| {
        frame.set_result(0, Value::I32(1));
        Outcome::Error(something_bad())
    })
}

fn numbers(registry: &mut Registry) {
    registry.add(kernel!("tfrt_test.sum", sum));
    registry.add(kernel!("tfrt_test.count3.i32", |x: i32| {
        (x.wrapping_add(1), x.wrapping_add(2), x.wrapping_add(3))
    }));
    registry.add(kernel!("tfrt_test.count3.i64", |x: i64| {
        (x.wrapping_add(1), x.wrapping_add(2), x.wrapping_add(3))
    }));
    registry.add(kernel!("tfrt_test.select.i32", |condition: bool, if_true: &Value, if_false: &Value| {
        if condition { if_true.clone() } else { if_false.clone() }
    }));
    registry.add(kernel!("tfrt_test.print_bool", |_: Chain, value: bool, cx: &ExecContext| {
        cx.print(&format!("bool = {value}\n")).map(|()| Chain)
    }));
    registry.add(kernel!("tfrt_test.test_cost", |_: Rest<'_, Value>, id: Attr<i64>, cx: &ExecContext| {
        cx.print(&format!("id: {}\n", id.0)).map(|()| id.0 as i32)
    }));
    registry.add(kernel!("tfrt_test.flat", flat));
}

fn sum(terms: Rest<'_, i32>) -> Result<i32, Outcome> {
    terms.iter().try_fold(0i32, |sum, term| Ok(sum.wrapping_add(term?)))
}

/// The first string, the first two integers and the first float in nested lists.
fn flat(list: RawAttr<'_>) -> Result<(Text, i32, i32, f32), KernelError> {
    let (mut texts, mut integers, mut floats) = (Vec::new(), Vec::new(), Vec::new());
    let mut stack = vec![list];
    while let Some(attr) = stack.pop() {
        match attr.view {
            AttrView::Str(text) => texts.push(text),
            AttrView::Int { dtype: Some(DType::I32), value, .. } => integers.push(value as i32),
            AttrView::Float { dtype: DType::F32, bits } => floats.push(f32::from_bits(bits as u32)),
            AttrView::Scalars { dtype: DType::I32, bytes, .. } => {
                integers.extend(words(bytes).map(i32::from_le_bytes));
            }
            AttrView::Scalars { dtype: DType::F32, bytes, .. } => {
                floats.extend(words(bytes).map(f32::from_le_bytes));
            }
            _ => {
                let elements: Vec<_> = attr.elements().collect();
                stack.extend(elements.into_iter().rev());
            }
        }
    }
    match (&texts[..], &integers[..], &floats[..]) {
        ([text, ..], [first, second, ..], [float, ..]) => Ok((Text::from(*text), *first, *second, *float)),
        _ => Err(KernelError::invalid("expected a string, two i32 and an f32 in nested lists")),
    }
}

fn words(bytes: &[u8]) -> impl Iterator<Item = [u8; 4]> {
    bytes.as_chunks().0.iter().copied()
}
