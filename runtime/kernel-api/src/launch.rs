//! Launches of host kernels on devices with streams.
//!
//! ```text
//! operands ─┬─ buffers of the device ─ positions of other streams ─▶ ┌────────┐
//!           ├─ tensors of the host ─── staged by Device::copy ─────▶ │ launch │ ─▶ buffers, at once
//!           ├─ constants ───────────── staged by the first launch ─▶ │        │
//!           └─ all others ────────────────────────────────────────▶ └────────┘    others: when it is done
//! work, in the stream's order: contents of the buffers ─▶ the kernel's code ─▶ contents of the results
//! ```
//!
//! If the content of an operand is an error or dead, the kernel does not run and its results are that value,
//! as in the executor. If the stream is poisoned, the results are the fault's error with the location of the
//! kernel.
//!
//! A kernel without operands and results in the device's memory runs on the host, at once.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::async_value::{AsyncRef, Promise};
use crate::context::{ExecContext, FramePath, KernelRef};
use crate::device::{BufferContent, DeviceBuffer};
use crate::error::{Error, ErrorCode, KernelError};
use crate::kernel::file::LoadedFile;
use crate::kernel::frame::{CallChain, KernelFrame, Outcome, Surroundings};
use crate::kernel::functions::Functions;
use crate::kernel::job::Place;
use crate::kernel::step::CopyStep;
use crate::kernel::table::LaunchEntry;
use crate::value::Value;

/// The message for a kernel that would wait in a stream.
const WAITS: &str = "a kernel that waits cannot run on a device with streams";

/// An operand of a launch.
enum LaunchInput {
    Host(Value),
    Device(BufferContent),
}

/// A result of a launch.
enum LaunchOutput {
    Host(Promise),
    Device(BufferContent),
}

impl LaunchOutput {
    fn set(self, value: Value) {
        match self {
            LaunchOutput::Host(promise) => promise.set(value),
            LaunchOutput::Device(content) => content.set(value),
        }
    }
}

/// The code of a kernel of the host on a device with streams.
pub fn launch(frame: &mut KernelFrame<'_>) -> Outcome {
    let Some(entry) = frame.kernel().launch.and_then(|i| frame.table().launches.get(i as usize)) else {
        return Outcome::error(KernelError::new(
            ErrorCode::Internal,
            "the kernel was not planned to be launched",
        ));
    };
    let context = frame.context();
    let number = context.device_number();
    let is_buffer =
        |i| matches!(frame.operand(i), Some(value) if value.downcast_ref::<DeviceBuffer>().is_some());
    let n_operands = frame.n_operands();
    if !entry.results.iter().any(|&in_device| in_device) && !(0..n_operands).any(is_buffer) {
        return (entry.run)(frame);
    }
    let device = context.device();
    let (mut inputs, mut after) = (Vec::with_capacity(n_operands), Vec::new());
    for i in 0..n_operands {
        let Some(mut value) = frame.take_operand(i) else { return Outcome::Operand };
        if value.downcast_ref::<DeviceBuffer>().is_none() && entry.operands.get(i) == Some(&true) {
            let stage = || device.copy(&value, device, device.memory().space(), context);
            value = match entry.constants.get(i) {
                Some(Some(constant)) => constant.get_or_stage(stage),
                _ => stage(),
            };
        }
        let buffer = match value.downcast_ref::<DeviceBuffer>() {
            Some(buffer) => buffer,
            None => {
                match value {
                    Value::Async(_) | Value::Empty => return Outcome::Operand,
                    value => inputs.push(LaunchInput::Host(value)),
                }
                continue;
            }
        };
        if buffer.device_number() != number {
            let message = format!("operand #{i} lies in the memory of another device than {}", device.name());
            return Outcome::error(KernelError::new(ErrorCode::Internal, message));
        }
        if buffer.position().stream != entry.stream {
            after.push(buffer.position());
        }
        inputs.push(LaunchInput::Device(buffer.content().clone()));
    }
    let contents: Vec<Option<BufferContent>> =
        entry.results.iter().map(|&in_device| in_device.then(BufferContent::default)).collect();
    let (mut outputs, mut pending) = (Vec::new(), Vec::new());
    for content in &contents {
        outputs.push(match content {
            Some(content) => LaunchOutput::Device(content.clone()),
            None => {
                let (promise, value) = AsyncRef::pending();
                pending.push(value);
                LaunchOutput::Host(promise)
            }
        });
    }
    let launched = Launched {
        file: frame.file().clone(),
        functions: frame.functions().share(),
        context: context.clone(),
        at: frame.at(),
        inputs,
    };
    let position = device.launch(entry.stream, &after, Box::new(move |fault| launched.run(fault, outputs)));
    let mut pending = pending.into_iter();
    for (i, content) in contents.into_iter().enumerate() {
        let result = match content {
            Some(content) => Value::object(DeviceBuffer::new(number, position, content)),
            None => pending.next().map_or(Value::Empty, Value::Async),
        };
        frame.set_result(i, result);
    }
    Outcome::Done
}

/// A kernel in a stream.
struct Launched {
    file: Arc<LoadedFile>,
    functions: Arc<dyn Functions>,
    context: ExecContext,
    at: KernelRef,
    inputs: Vec<LaunchInput>,
}

impl Launched {
    /// Runs the kernel, unless its operands or a fault of the stream prevent it.
    fn run(self, fault: Result<(), &Error>, outputs: Vec<LaunchOutput>) {
        let values = match self.values(fault, outputs.len()) {
            Ok(values) => values,
            Err(value) => vec![value; outputs.len()],
        };
        // The operands are dropped before the results are visible.
        drop(self);
        outputs.into_iter().zip(values).for_each(|(output, value)| output.set(value));
    }

    /// The results, or the value that replaces all of them.
    fn values(&self, fault: Result<(), &Error>, n_results: usize) -> Result<Vec<Value>, Value> {
        let missing = Value::Error(missing_content());
        let inputs = self.inputs.iter().map(|input| match input {
            LaunchInput::Host(value) => value,
            LaunchInput::Device(content) => content.get().unwrap_or(&missing),
        });
        let mut slots: Vec<Value> = Vec::with_capacity(self.inputs.len() + n_results + 1);
        let mut blocked = None;
        for value in inputs {
            match value {
                Value::Dead => return Err(Value::Dead),
                Value::Error(_) => blocked = blocked.or_else(|| Some(value.clone())),
                value => slots.push(value.clone()),
            }
        }
        match blocked {
            // An error without a trace is that of a copy for this kernel.
            Some(Value::Error(error)) if error.trace().is_empty() => {
                return Err(self.located(&KernelError::new(error.code(), error.message())));
            }
            Some(error) => return Err(error),
            None => {}
        }
        if let Err(fault) = fault {
            return Err(self.located(&KernelError::new(fault.code(), fault.message())));
        }
        if self.context.request.cancellation.is_cancelled() {
            return Err(self.context.cancelled());
        }
        self.invoke(slots, n_results).map_err(|error| self.located(&error))
    }

    /// Runs the kernel's code on its operands.
    fn invoke(&self, mut slots: Vec<Value>, n_results: usize) -> Result<Vec<Value>, KernelError> {
        let table = self.functions.table(self.at.function);
        let kernel = table.kernels.get(self.at.kernel as usize);
        let entry: Option<&LaunchEntry> =
            kernel.and_then(|kernel| table.launches.get(kernel.launch? as usize));
        let Some(entry) = entry else { return Err(KernelError::invalid("no such kernel")) };
        let n_operands = slots.len();
        // A kernel's record has 16 bits for the number of results.
        let step = CopyStep::new(entry.run, self.at.kernel, n_operands as u32, n_results as u16);
        slots.resize_with(step.n_slots(), Value::default);
        if let Some(chain) = slots.get_mut(n_operands + n_results) {
            *chain = Value::Chain;
        }
        let operands: Vec<u32> = (0..n_operands as u32).collect();
        let around = Surroundings { file: &self.file, functions: &*self.functions, context: &self.context };
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let mut frame = KernelFrame::of_copies(&mut slots, &operands, &step, table, around, self);
            let mut outcome = (entry.run)(&mut frame);
            while let Outcome::Later(job) = outcome {
                if matches!(job.place(), Place::Parked(_) | Place::Meeting(..)) {
                    return Outcome::error(KernelError::new(ErrorCode::Unimplemented, WAITS));
                }
                frame.drop_operands();
                outcome = job.run(&mut frame);
            }
            outcome
        }));
        match outcome {
            Err(panic) => return Err(KernelError::of_panic(panic)),
            Ok(Outcome::Done) => {}
            Ok(Outcome::Error(error)) => return Err(error),
            Ok(Outcome::Operand | Outcome::Request | Outcome::Later(_)) => return Err(unfinished()),
        }
        let results = slots.drain(n_operands..).take(n_results).map(Value::resolved);
        results
            .map(|value| match value {
                Value::Async(_) => Err(KernelError::new(ErrorCode::Unimplemented, WAITS)),
                Value::Empty => Err(unfinished()),
                value => Ok(value),
            })
            .collect()
    }

    /// An error of the kernel, with its location.
    fn located(&self, error: &KernelError) -> Value {
        Value::Error(self.context.raise(error, self.trace()))
    }
}

impl CallChain for Launched {
    fn trace(&self) -> Vec<String> {
        let mut trace = Vec::new();
        self.file.extend_trace(self.at, &mut trace);
        trace
    }

    fn path(&self) -> FramePath {
        FramePath::default()
    }
}

/// The error of a kernel that did not do its work.
fn unfinished() -> KernelError {
    let message = "a kernel on a device did not read its operands, or did not set its results";
    KernelError::new(ErrorCode::Internal, message)
}

/// The error for an operand whose launch has not ended.
fn missing_content() -> Error {
    Error::new(ErrorCode::Internal, "a launch ran before an operand had its content", Vec::new())
}
