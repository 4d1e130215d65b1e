//! `tfrt_test`: kernels to test the runtime with: failures, tasks, cancellation.

use befrost_host::error::ErrorCode;
use befrost_host::kernel::{Attr, Completion, Kernel, Later, Outcome, Rest, Signature};
use befrost_host::{Chain, ExecContext, KernelError, Registry, Value, kernel};

/// Adds the kernels of the `tfrt_test` dialect.
pub fn tfrt_test(registry: &mut Registry) {
    registry.add(kernel!("tfrt_test.fail", || Err::<i32, _>(something_bad())));
    registry.add(partial_fail());
    registry.add(kernel!("tfrt_test.sum", sum));
    registry.add(kernel!("tfrt_test.async_add.i32", |a: i32, b: i32| Later::new(move |_| a.wrapping_add(b))));
    registry.add(kernel!("tfrt_test.async_constant.i32", |value: Attr<i32>| Later::new(move |_| value.0)));
    registry.add(kernel!("tfrt_test.async_copy.i32", |value: i32| Later::new(move |_| value)));
    registry.add(kernel!("tfrt_test.cancel", |_: Chain, cx: &ExecContext| {
        cx.request.cancellation.cancel();
        (0i32, Chain)
    }));
    registry.add(kernel!("tfrt_test.print_hello", |_: Chain, cx: &ExecContext| {
        cx.print("hello host executor!\n").map(|()| Chain)
    }));
    registry.add(kernel!("tfrt_test.select.i32", |condition: bool, if_true: &Value, if_false: &Value| {
        if condition { if_true.clone() } else { if_false.clone() }
    }));
}

fn something_bad() -> KernelError {
    KernelError::new(ErrorCode::Unknown, "something bad happened")
}

/// Stores its first result, then fails: the second becomes the error.
fn partial_fail() -> Kernel {
    let signature =
        Signature { results: vec![&["i32"], &["i32"]], completion: Completion::Sync, ..Signature::default() };
    Kernel::new("tfrt_test.partial_fail", signature, |frame| {
        frame.set_result(0, Value::I32(1));
        Outcome::Error(something_bad())
    })
}

fn sum(terms: Rest<'_, i32>) -> Result<i32, Outcome> {
    terms.iter().try_fold(0i32, |sum, term| Ok(sum.wrapping_add(term?)))
}
