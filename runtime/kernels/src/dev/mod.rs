//! `dev`: values that cross between the parts of a program.
//!
//! | kernel | result |
//! |---|---|
//! | `dev.step()` | a step: the table of values that the parts of one call send each other |
//! | `dev.enter(step)` | the first iteration of the frame `bef.frame` in it |
//! | `dev.next(step)` | the next iteration |
//! | `dev.send(value, step)` | none; hands over the value, also an error or a dead one |
//! | `dev.recv(step)` | the value that was sent |
//! | `dev.transfer(value)` | the value in the memory of another device |

use std::sync::Arc;

use bef_format::AttrView;
use befrost_kernel_api::async_value::AsyncRef;
use befrost_kernel_api::device::{DeviceBuffer, Space};
use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::kernel::{
    AttrSpec, Completion, Deferred, Kernel, KernelFrame, Outcome, Returns, Signature, Site, StrAttr,
};
use befrost_kernel_api::object::Object;
use befrost_kernel_api::rendezvous::{FrameId, Received, Sending, StepTable};
use befrost_kernel_api::{ExecContext, KernelError, Registry, Value, kernel};

/// A frame of a step.
#[derive(Clone, Debug)]
struct StepFrame {
    step: Arc<StepTable>,
    frame: FrameId,
}

impl Object for StepFrame {
    const TYPES: &'static [&'static str] = &["!dev.step"];

    fn display(&self) -> String {
        format!("step, iteration {}", self.frame.iteration())
    }
}

/// Adds the kernels of the `dev` dialect.
pub fn dev(registry: &mut Registry) {
    registry.add(kernel!("dev.step", || StepFrame { step: Arc::default(), frame: FrameId::default() }));
    registry.add(kernel!("dev.enter", |at: &StepFrame, name: StrAttr<'_>| StepFrame {
        step: at.step.clone(),
        frame: at.frame.enter(name.0)
    }));
    registry.add(kernel!("dev.next", |at: &StepFrame| StepFrame {
        step: at.step.clone(),
        frame: at.frame.next()
    }));
    let text = || AttrSpec { kind: "a string attribute", accepts: |attr| matches!(attr, AttrView::Str(_)) };
    let channel = || vec![AttrSpec::of::<i64>(), text()];
    let sent = Signature {
        operands: vec![&[], StepFrame::TYPES],
        attrs: channel(),
        takes_any_state: true,
        observes: true,
        ..Signature::default()
    };
    registry.add(Kernel::new("dev.send", sent, send));
    let received = Signature {
        operands: vec![StepFrame::TYPES],
        results: vec![&[]],
        attrs: channel(),
        completion: Completion::Async,
        takes_any_memory: true,
        ..Signature::default()
    };
    registry.add(Kernel::new("dev.recv", received, recv));
    let transferred = Signature {
        operands: vec![&[]],
        results: vec![&[]],
        attrs: vec![text()],
        takes_any_memory: true,
        ..Signature::default()
    };
    registry.add(Kernel::new("dev.transfer", transferred, transfer));
}

/// The number of the channel.
fn channel(frame: &KernelFrame<'_>) -> i64 {
    match frame.immediate(0) {
        Some(Value::I64(channel)) => *channel,
        // Loading has checked that it is an i64.
        _ => 0,
    }
}

/// Copies the value, unless both devices share a memory.
fn transfer(frame: &mut KernelFrame<'_>) -> Outcome {
    let Some(value) = frame.take_operand(0).or_else(|| frame.operand(0).cloned()) else {
        return Outcome::Operand;
    };
    let cx = frame.context();
    let Some(devices) = cx.request.devices.as_ref().filter(|devices| devices.has_streams()) else {
        frame.set_result(0, value);
        return Outcome::Done;
    };
    let to = match frame.attr(0) {
        Some(AttrView::Str(name)) => devices.find(name),
        _ => None,
    };
    let Some(to) = to else {
        return Outcome::error(KernelError::new(ErrorCode::NotFound, "there is no such device"));
    };
    match located(moved(value, to, cx), frame.site()) {
        Ok(value) => frame.set_result(0, value),
        Err(error) => return Outcome::Error(error),
    }
    Outcome::Done
}

/// The value in the memory of device number `to`. Strings and handles stay in the host's memory.
fn moved(value: Value, to: u16, cx: &ExecContext) -> Value {
    let Some(devices) = cx.request.devices.as_ref() else { return value };
    let Some(target) = devices.get(to) else { return value };
    let space = target.memory().space();
    match value.downcast_ref::<DeviceBuffer>() {
        Some(buffer) if buffer.device_number() == to => value,
        Some(buffer) => match buffer.device(devices) {
            Some(from) => from.copy(&value, &**target, space, cx),
            None => value,
        },
        None if space == Space::HOST => value,
        None => target.copy(&value, &**target, space, cx),
    }
}

/// A copy whose errors have the place of the kernel.
fn located(value: Value, site: Site) -> Result<Value, KernelError> {
    match value {
        Value::Error(error) => Err(KernelError::new(error.code(), error.message())),
        Value::Async(copy) => {
            let (promise, copied) = AsyncRef::pending();
            copy.and_then(move |value| {
                promise.set(match value {
                    Value::Error(error) if error.trace().is_empty() => {
                        Value::Error(site.error(KernelError::new(error.code(), error.message())))
                    }
                    value => value.clone(),
                });
            });
            Ok(Value::Async(copied))
        }
        value => Ok(value),
    }
}

/// A received value in memory that the receiver's device reads. A value of the host stays in the host's
/// memory.
fn arrived(value: Value, cx: &ExecContext, site: Site) -> Result<Value, KernelError> {
    match value.downcast_ref::<DeviceBuffer>() {
        Some(_) => located(moved(value, cx.device_number(), cx), site),
        None => Ok(value),
    }
}

fn send(frame: &mut KernelFrame<'_>) -> Outcome {
    let Some(at) = frame.operand(1).and_then(|at| at.downcast_ref::<StepFrame>()).cloned() else {
        return Outcome::Operand;
    };
    let Some(value) = frame.take_operand(0).or_else(|| frame.operand(0).cloned()) else {
        return Outcome::Operand;
    };
    let channel = channel(frame);
    match at.step.send((channel, at.frame), value) {
        // The receivers get the error of an aborted step.
        Sending::Done | Sending::Aborted => Outcome::Done,
        Sending::Twice => {
            let message = format!("channel {channel}, iteration {}: sent twice", at.frame.iteration());
            let error = KernelError::new(ErrorCode::Internal, message);
            // The parts do not fit together, so a receiver could wait forever.
            at.step.abort(&error);
            Outcome::error(error)
        }
    }
}

fn recv(frame: &mut KernelFrame<'_>) -> Outcome {
    let Some(at) = frame.operand(0).and_then(|at| at.downcast_ref::<StepFrame>()) else {
        return Outcome::Operand;
    };
    let (step, channel, of) = (at.step.clone(), channel(frame), at.frame);
    let cx = frame.context();
    let has_memories = cx.request.devices.as_ref().is_some_and(|devices| devices.has_streams());
    let received = match step.recv((channel, of)) {
        Ok(received) => received,
        Err(error) => return Outcome::Error(error),
    };
    match received {
        Some(Received::Now(value)) if has_memories => match arrived(value, cx, frame.site()) {
            Ok(value) => {
                frame.set_result(0, value);
                Outcome::Done
            }
            Err(error) => Outcome::Error(error),
        },
        Some(Received::Now(value)) => {
            frame.set_result(0, value);
            Outcome::Done
        }
        Some(Received::Later(arrival)) if has_memories => {
            let (cx, site) = (cx.clone(), frame.site());
            let moved = async move {
                let values = arrival.await?;
                values
                    .into_iter()
                    .map(|value| arrived(value, &cx, site.clone()))
                    .collect::<Result<Vec<_>, _>>()
            };
            Deferred::future(moved).store(frame)
        }
        Some(Received::Later(arrival)) => Deferred::future(arrival).store(frame),
        None => {
            let message = format!("channel {channel}, iteration {}: received twice", of.iteration());
            Outcome::error(KernelError::new(ErrorCode::Internal, message))
        }
    }
}
