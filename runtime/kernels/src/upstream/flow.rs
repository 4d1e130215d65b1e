//! `flow`: trip conditions, assertions, printing.

use befrost_kernel_api::kernel::{Kernel, Outcome, Signature, StrAttr};
use befrost_kernel_api::value::{Scalar as _, State};
use befrost_kernel_api::{Chain, KernelError, Registry, Value, kernel};

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
    registry.add(after());
    registry.add(kernel!("flow.unused", || Scalar(Value::Chain)));
    registry.add(kernel!("flow.assert", |holds: bool, _: Chain, message: StrAttr<'_>| {
        if holds { Ok(Chain) } else { Err(KernelError::invalid(message.0)) }
    }));
    registry.add(print());
}

/// The second operand, of any type, once the first one, a chain, is final.
fn after() -> Kernel {
    let signature = Signature {
        operands: vec![Chain::TYPES, &[]],
        results: vec![&[]],
        stores_all: true,
        ..Signature::default()
    };
    Kernel::new("flow.after", signature, |frame| {
        let concrete = |i: usize| frame.operand(i).filter(|value| value.state() == State::Concrete);
        match (concrete(0), concrete(1).cloned()) {
            (Some(_), Some(value)) => {
                frame.set_result(0, value);
                Outcome::Done
            }
            _ => Outcome::Operand,
        }
    })
}

/// Prints the first operand, of any type, on a line of its own; the second one is a chain.
fn print() -> Kernel {
    let signature = Signature {
        operands: vec![&[], Chain::TYPES],
        results: vec![Chain::TYPES],
        stores_all: true,
        ..Signature::default()
    };
    Kernel::new("flow.print", signature, |frame| {
        let concrete = |i: usize| frame.operand(i).filter(|value| value.state() == State::Concrete);
        let (Some(value), Some(_)) = (concrete(0), concrete(1)) else { return Outcome::Operand };
        match frame.context().print(&format!("{value}\n")) {
            Ok(()) => {
                frame.set_result(0, Value::Chain);
                Outcome::Done
            }
            Err(error) => Outcome::error(error),
        }
    })
}
