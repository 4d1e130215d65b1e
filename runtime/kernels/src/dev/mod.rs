//! `dev`: values that cross between the parts of a program.
//!
//! | kernel | result |
//! |---|---|
//! | `dev.step()` | a step: what the parts of one call meet in |
//! | `dev.enter(step)` | the first iteration of a frame in it, `bef.frame` |
//! | `dev.next(step)` | the next iteration |
//! | `dev.send(value, step)` | hands the value over, or what has become of it: dead, or an error |
//! | `dev.recv(step)` | what was sent |
//! | `dev.transfer(value)` | the value in the memory of another device |

mod rendezvous;

use std::sync::Arc;

use bef_format::AttrView;
use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::kernel::{
    AttrSpec, Completion, Deferred, Kernel, KernelFrame, Outcome, Returns, Signature, StrAttr,
};
use befrost_kernel_api::object::Object;
use befrost_kernel_api::{KernelError, Registry, Value, kernel};

use rendezvous::{FrameId, Received, StepTable};

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
        ..Signature::default()
    };
    registry.add(Kernel::new("dev.recv", received, recv));
    let transferred =
        Signature { operands: vec![&[]], results: vec![&[]], attrs: vec![text()], ..Signature::default() };
    registry.add(Kernel::new("dev.transfer", transferred, transfer));
}

/// The number of the channel.
fn channel(frame: &KernelFrame<'_>) -> i64 {
    match frame.immediate(0) {
        Some(Value::I64(channel)) => *channel,
        // The signature says that it is a number of 64 bits.
        _ => 0,
    }
}

/// All devices share the host's memory.
fn transfer(frame: &mut KernelFrame<'_>) -> Outcome {
    let Some(value) = frame.take_operand(0).or_else(|| frame.operand(0).cloned()) else {
        return Outcome::Operand;
    };
    frame.set_result(0, value);
    Outcome::Done
}

fn send(frame: &mut KernelFrame<'_>) -> Outcome {
    let Some(at) = frame.operand(1).and_then(|at| at.downcast_ref::<StepFrame>()).cloned() else {
        return Outcome::Operand;
    };
    let Some(value) = frame.take_operand(0).or_else(|| frame.operand(0).cloned()) else {
        return Outcome::Operand;
    };
    let channel = channel(frame);
    if at.step.send((channel, at.frame), value) {
        return Outcome::Done;
    }
    let message = format!("channel {channel}, iteration {}: sent twice", at.frame.iteration());
    Outcome::error(KernelError::new(ErrorCode::Internal, message))
}

fn recv(frame: &mut KernelFrame<'_>) -> Outcome {
    let Some(at) = frame.operand(0).and_then(|at| at.downcast_ref::<StepFrame>()) else {
        return Outcome::Operand;
    };
    let (step, channel, of) = (at.step.clone(), channel(frame), at.frame);
    match step.recv((channel, of)) {
        Some(Received::Now(value)) => {
            frame.set_result(0, value);
            Outcome::Done
        }
        Some(Received::Later(arrival)) => Deferred::future(arrival).store(frame),
        None => {
            let message = format!("channel {channel}, iteration {}: received twice", of.iteration());
            Outcome::error(KernelError::new(ErrorCode::Internal, message))
        }
    }
}
