//! `flow`: trip conditions, assertions, printing.

use befrost_kernel_api::kernel::StrAttr;
use befrost_kernel_api::{Chain, ExecContext, KernelError, Registry, Value, kernel};

use super::scalars::{Int, Scalar, mixed};

pub(super) fn kernels(registry: &mut Registry) {
    registry.add(kernel!("flow.enters", |lower: Int, upper: Int, step: Int| {
        if lower.width != upper.width || upper.width != step.width {
            return Err(mixed());
        }
        match step.value {
            1.. => Ok(lower.value < upper.value),
            other => Err(KernelError::invalid(format!("the step of a loop is {other}: it must be positive"))),
        }
    }));
    registry.add(kernel!("flow.next", |i: Int, upper: Int, step: Int| {
        // The loop runs, so `i` is less than `upper` and the difference fits an unsigned number.
        let left = upper.value.wrapping_sub(i.value) as u64;
        (Int::new(i.width, i.value.wrapping_add(step.value)), (step.value as u64) < left)
    }));
    registry.add(kernel!("flow.after", |_: Chain, value: Scalar| value));
    registry.add(kernel!("flow.unused", || Scalar(Value::Chain)));
    registry.add(kernel!("flow.assert", |holds: bool, _: Chain, message: StrAttr<'_>| {
        if holds { Ok(Chain) } else { Err(KernelError::invalid(message.0)) }
    }));
    registry.add(kernel!("flow.print", |source: Scalar,
                                        _: Chain,
                                        end: StrAttr<'_>,
                                        context: &ExecContext| {
        context.print(&format!("{}{}", source.0, end.0)).map(|()| Chain)
    }));
}
