//! `dev`: values that cross between the parts of a program.
//!
//! | kernel | result |
//! |---|---|
//! | `dev.step()` | a step: the table of values that the parts of one call send each other |
//! | `dev.enter(step)` | the first iteration of the frame `bef.frame` in it |
//! | `dev.next(step)` | the next iteration |
//! | `dev.send(value, step)` | none; hands over the value, also an error or a dead one |
//! | `dev.send(value, step, predicate)` | the same with a predicate, in one message: each as it is |
//! | `dev.recv(step)` | the value that was sent, and the predicate if it has a second result |
//! | `dev.transfer(value)` | the value in the memory of another device |
//!
//! A recv whose value cannot be sent any more, because the step is gone or the execution can only wait, has
//! the first error of the execution. Without one it fails with its channel, both devices and the frames that
//! it is in.

use std::sync::Arc;

use bef_format::AttrView;
use bef_format::device::MAX_CHANNELS;
use befrost_kernel_api::async_value::AsyncRef;
use befrost_kernel_api::device::{DeviceBuffer, Space};
use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::kernel::{
    AttrSpec, Completion, Job, Kernel, KernelFrame, Outcome, Signature, StepUse, StrAttr,
};
use befrost_kernel_api::object::Object;
use befrost_kernel_api::rendezvous::{Delivery, FrameId, NotReceived, Sending, StepTable};
use befrost_kernel_api::{ExecContext, KernelError, Registry, Value, kernel};

/// A frame of a step.
#[derive(Clone, Debug)]
struct StepFrame {
    step: Arc<StepTable>,
    frame: FrameId,
    /// The frame's name in messages. The step itself has none.
    name: Option<Arc<FrameName>>,
}

/// The name of a frame, and the iteration of the frame around it.
#[derive(Debug)]
struct FrameName {
    name: String,
    outer: Option<(Arc<FrameName>, u64)>,
    /// The number of frames around it, and itself.
    depth: u32,
}

/// The deepest nest of frames. The compiler makes 64 loops at most; the others are calls of a recursion.
const MAX_DEPTH: u32 = 1 << 12;

/// The frames around and of an iteration, outermost first: `, in while_1, iteration 4`.
fn path_text(name: &Arc<FrameName>, iteration: u64) -> String {
    let (mut path, mut at) = (Vec::new(), Some((name, iteration)));
    while let Some((of, iteration)) = at {
        path.push(format!(", in {}, iteration {iteration}", of.name));
        at = of.outer.as_ref().map(|(outer, iteration)| (outer, *iteration));
    }
    path.into_iter().rev().collect()
}

impl Object for StepFrame {
    const TYPES: &'static [&'static str] = &["!dev.step"];

    fn display(&self) -> String {
        let path = self.name.as_ref().map(|name| path_text(name, self.frame.iteration()));
        format!("step{}", path.unwrap_or_default())
    }
}

/// A value and what is sent with it. Only steps have it: no register does.
#[derive(Debug)]
struct Message(Vec<Value>);

impl Object for Message {
    const TYPES: &'static [&'static str] = &["!dev.message"];

    fn display(&self) -> String {
        format!("{} values", self.0.len())
    }
}

/// A kernel that uses a step in this way.
fn with_step(kernel: Kernel, step: StepUse) -> Kernel {
    let signature = Signature { step: Some(step), ..(*kernel.signature).clone() };
    Kernel::new(kernel.name, signature, kernel.run)
}

/// Adds the kernels of the `dev` dialect.
pub fn dev(registry: &mut Registry) {
    registry.add(with_step(kernel!("dev.step", step), StepUse::Begins));
    registry.add(with_step(kernel!("dev.enter", enter), StepUse::Enters));
    let next = Signature {
        operands: vec![StepFrame::TYPES],
        results: vec![StepFrame::TYPES],
        step: Some(StepUse::Advances),
        ..Signature::default()
    };
    registry.add(Kernel::new("dev.next", next, next_iteration));
    let text = || AttrSpec { kind: "a string attribute", accepts: |attr| matches!(attr, AttrView::Str(_)) };
    let number = AttrSpec {
        kind: "the number of a channel: at least 0 and less than 2^20",
        accepts: |attr| matches!(attr, AttrView::Int { value: 0..MAX_CHANNELS, .. }),
    };
    let channel = || vec![number, text()];
    let sent = Signature {
        operands: vec![&[], StepFrame::TYPES],
        rest: Some(&[]),
        attrs: channel(),
        takes_any_state: true,
        observes: true,
        step: Some(StepUse::Sends),
        ..Signature::default()
    };
    registry.add(Kernel::new("dev.send", sent, send));
    let received = Signature {
        operands: vec![StepFrame::TYPES],
        results: vec![&[]],
        rest_results: Some(&[]),
        attrs: channel(),
        completion: Completion::Async,
        step: Some(StepUse::Receives),
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

fn step(cx: &ExecContext) -> StepFrame {
    let step = StepTable::of_execution(&cx.request.cancellation, cx.activity());
    StepFrame { step, frame: FrameId::default(), name: None }
}

/// The first iteration of a frame of this name.
fn enter(at: &StepFrame, name: StrAttr<'_>) -> Result<StepFrame, KernelError> {
    let depth = at.name.as_ref().map_or(0, |name| name.depth) + 1;
    if depth > MAX_DEPTH {
        let message = format!("'{}' is a frame inside of {MAX_DEPTH} others: no more are possible", name.0);
        return Err(KernelError::new(ErrorCode::ResourceExhausted, message));
    }
    let outer = at.name.clone().map(|name| (name, at.frame.iteration()));
    let name_of = FrameName { name: name.0.to_owned(), outer, depth };
    Ok(StepFrame { step: at.step.clone(), frame: at.frame.enter(name.0), name: Some(Arc::new(name_of)) })
}

/// The next iteration of a frame, in place of this one if nobody else has it.
fn next_iteration(frame: &mut KernelFrame<'_>) -> Outcome {
    let at = match frame.take_operand(0).map(Value::into_object::<StepFrame>) {
        Some(Ok(at)) => at,
        Some(Err(value)) => match value.downcast_ref::<StepFrame>() {
            Some(at) => at.clone(),
            None => return Outcome::Operand,
        },
        None => return Outcome::Operand,
    };
    frame.set_result(0, Value::object(StepFrame { frame: at.frame.next(), ..at }));
    Outcome::Done
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
    match located(moved(value, to, cx), frame) {
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

/// A copy whose errors have the place of the kernel, and are reported.
fn located(value: Value, frame: &KernelFrame<'_>) -> Result<Value, KernelError> {
    match value {
        Value::Error(error) => Err(KernelError::new(error.code(), error.message())),
        Value::Async(copy) => {
            let (promise, copied) = AsyncRef::pending();
            let (site, cx) = (frame.site(), frame.context().clone());
            copy.and_then(move |value| {
                promise.set(match value {
                    Value::Error(error) if error.trace().is_empty() => {
                        let of_copy = || KernelError::new(error.code(), error.message());
                        let trace = site.error(of_copy()).trace().to_vec();
                        Value::Error(cx.raise(&of_copy(), trace))
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
fn arrived(value: Value, frame: &KernelFrame<'_>) -> Result<Value, KernelError> {
    match value.downcast_ref::<DeviceBuffer>() {
        Some(_) => {
            let cx = frame.context();
            located(moved(value, cx.device_number(), cx), frame)
        }
        None => Ok(value),
    }
}

/// An operand that is sent.
fn sent(frame: &mut KernelFrame<'_>, i: usize) -> Result<Value, Outcome> {
    if let Some(value) = frame.take_operand(i) {
        return Ok(value);
    }
    match frame.raw_operand(i) {
        // A receiver that got a pending value would wait for it as if it came from elsewhere, and not for a
        // send.
        Some(Value::Async(_)) => {
            let message = "the value is not final: it must not be lenient";
            Err(Outcome::error(KernelError::new(ErrorCode::FailedPrecondition, message)))
        }
        _ => Err(Outcome::Operand),
    }
}

/// The value that a send hands over, or a message of all that it sends.
fn message(frame: &mut KernelFrame<'_>) -> Result<Value, Outcome> {
    let value = sent(frame, 0)?;
    if frame.n_operands() == 2 {
        return Ok(value);
    }
    let more = (2..frame.n_operands()).map(|i| sent(frame, i));
    let all = std::iter::once(Ok(value)).chain(more).collect::<Result<_, _>>()?;
    Ok(Value::object(Message(all)))
}

fn send(frame: &mut KernelFrame<'_>) -> Outcome {
    let value = match message(frame) {
        Ok(value) => value,
        Err(outcome) => return outcome,
    };
    let channel = channel(frame);
    let Some(at) = frame.operand(1).and_then(|at| at.downcast_ref::<StepFrame>()) else {
        return Outcome::Operand;
    };
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
    let (of, name) = (at.frame, at.name.clone());
    let key = (channel(frame), of);
    Outcome::Later(Job::meeting(at.step.clone(), key, move |delivery, frame| {
        match received(delivery, of, name.as_ref(), frame) {
            Ok(value) => frame.set_result(0, value),
            Err(error) => return Outcome::Error(error),
        }
        Outcome::Done
    }))
}

/// The value that was sent. What was sent with it is stored as the further results.
fn unpacked(sent: Value, frame: &mut KernelFrame<'_>) -> Result<Value, KernelError> {
    let mut values = match sent.into_object::<Message>() {
        Ok(Message(values)) => values,
        Err(value) if frame.n_results() == 1 => return Ok(value),
        Err(value) => vec![value],
    };
    if values.len() != frame.n_results() {
        let (channel, sent, received) = (channel(frame), values.len(), frame.n_results());
        let message = format!("channel {channel}: {sent} of {received} values are sent in a message");
        return Err(KernelError::new(ErrorCode::Internal, message));
    }
    for (i, value) in (1..).zip(values.drain(1..)) {
        let value = arrived(value, frame)?;
        frame.set_result(i, value);
    }
    Ok(values.pop().unwrap_or_default())
}

/// The value that was delivered to a recv in an iteration of a frame, where its device reads it. The
/// further results are stored.
fn received(
    delivery: Delivery,
    of: FrameId,
    name: Option<&Arc<FrameName>>,
    frame: &mut KernelFrame<'_>,
) -> Result<Value, KernelError> {
    let why = match delivery {
        Ok(sent) => return arrived(unpacked(sent, frame)?, frame),
        Err(NotReceived::Aborted(error)) => return Err(error),
        Err(NotReceived::NeverSent) => "never sent",
        Err(NotReceived::Twice) => "received twice",
    };
    let from = match frame.attr(1) {
        Some(AttrView::Str(name)) => name,
        _ => "",
    };
    let (channel, to) = (channel(frame), frame.context().device().name());
    let path = name.map_or(String::new(), |name| path_text(name, of.iteration()));
    let message = format!("{why}: channel {channel} from {from} to {to}{path}");
    Err(KernelError::new(ErrorCode::Internal, message))
}
