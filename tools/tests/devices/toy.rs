//! A second kind of device, written by `runtime/sim/README.md`. Its memory stores tensors negated. It has its
//! own kernels and no streams: every launch and copy completes at once.

use std::sync::Arc;

use befrost::device::{
    BufferContent, Device, DeviceBuffer, DeviceError, DeviceFactory, DeviceParts, LaunchWork, Memory,
    Position, Space,
};
use befrost::kernel::{KernelFrame, Outcome, Signature};
use befrost::{
    AsyncRef, DeviceName, Error, ErrorCode, ExecContext, HostTensor, Kernel, Registry, Runtime, Value,
};
use befrost_kernels::Tensor;

use super::{call, compiled, values};

/// The factory of the device kind `TOY`.
const TOY: DeviceFactory = DeviceFactory {
    kind: "TOY",
    priority: 10,
    runs_host_kernels: false,
    has_threads: false,
    make: |parts: DeviceParts<'_>| -> Result<Arc<dyn Device>, DeviceError> {
        let DeviceParts { name, config, space, queue: _, allocator } = parts;
        Ok(Arc::new(Toy { name: name.clone(), memory: Memory::new(space, allocator, config.memory) }))
    },
};

struct Toy {
    name: DeviceName,
    memory: Memory,
}

/// A tensor in this memory, as a value that no kernel of the host accepts.
fn buffer(device: u16, tensor: HostTensor) -> Value {
    let content = BufferContent::default();
    content.set(Value::object(Tensor(tensor)));
    Value::object(DeviceBuffer::new(device, Position { stream: 0, at: 0 }, content))
}

/// The negated tensor: its form in the other memory.
fn turned(tensor: &HostTensor) -> Result<HostTensor, Error> {
    let floats = tensor.to_vec::<f32>().map_err(|error| fault(&error.to_string()))?;
    let turned = floats.into_iter().map(|x| -x).collect();
    HostTensor::from_vec(tensor.shape().dims(), turned).map_err(|error| fault(&error.to_string()))
}

fn fault(message: &str) -> Error {
    Error::new(ErrorCode::Internal, message, Vec::new())
}

impl Device for Toy {
    fn name(&self) -> &DeviceName {
        &self.name
    }

    fn memory(&self) -> &Memory {
        &self.memory
    }

    fn launch(&self, stream: u32, _: &[Position], work: LaunchWork) -> Position {
        work(Ok(()));
        Position { stream, at: 0 }
    }

    fn reached(&self, _: Position) -> AsyncRef {
        let (promise, reached) = AsyncRef::pending();
        promise.set(Value::Chain);
        reached
    }

    fn copy(&self, value: &Value, to: &dyn Device, space: Space, cx: &ExecContext) -> Value {
        let here = self.memory.space();
        let moved = match value.downcast_ref::<DeviceBuffer>() {
            Some(_) if space == here => return value.clone(),
            // Out of this memory: to the host's. The other device copies it from there.
            Some(buffer) => match buffer.content().get().and_then(|value| value.downcast_ref::<Tensor>()) {
                Some(tensor) => turned(tensor).map(|tensor| Value::object(Tensor(tensor))),
                None => Err(fault("no tensor")),
            },
            None => match value.downcast_ref::<Tensor>() {
                Some(tensor) => turned(tensor).map(|tensor| buffer(here.0, tensor)),
                None => return value.clone(),
            },
        };
        match moved {
            Ok(value) if space != here && space != Space::HOST => to.copy(&value, to, space, cx),
            Ok(value) => value,
            Err(error) => Value::Error(error),
        }
    }
}

/// The kernel of `tf.Neg` on this device. Its operand and its result are device buffers.
fn negate(frame: &mut KernelFrame<'_>) -> Outcome {
    let here = frame.context().device_number();
    let operand = frame.operand(0).and_then(|value| value.downcast_ref::<DeviceBuffer>());
    let content = operand.and_then(|buffer| buffer.content().get());
    let Some(tensor) = content.and_then(|value| value.downcast_ref::<Tensor>()) else {
        return Outcome::Operand;
    };
    match turned(tensor) {
        Ok(tensor) => frame.set_result(0, buffer(here, tensor)),
        Err(error) => return Outcome::error(befrost::KernelError::of_call(&error)),
    }
    Outcome::Done
}

fn kernels(registry: &mut Registry) {
    let signature =
        Signature { operands: vec![&["tensor"]], results: vec![&["tensor"]], ..Signature::default() };
    registry.add_on("TOY", Kernel::new("tf.Neg", signature, negate));
}

#[test]
fn it_is_a_device() {
    let text = r#"func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = "tf.Neg"(%x) {device = "/device:TOY:0"} : (tensor<4xf32>) -> tensor<4xf32>
  tfrt.return %a : tensor<4xf32>
}"#;
    let builder = Runtime::builder().kernels(befrost::registry().with(kernels)).device_factory(TOY);
    let runtime = builder.devices("CPU:1,TOY:1").work_queue("s").build().expect("a runtime");
    // The compiler learns about the kind from the runtime, and inserts the transfers.
    let devices = runtime.described("CPU:1,TOY:1").expect("a set");
    let program = runtime.load_bytes(&compiled(text, Some(&devices))).expect("it loads");
    assert_eq!(values(&call(&program, &[1.0, 2.0, -3.0, 4.0])[0]), [-1.0, -2.0, 3.0, -4.0]);
    // It has no other kernels.
    let abs = compiled(&text.replace("tf.Neg", "tf.Abs"), Some("CPU:1,TOY:1{kernels=host}"));
    let error = runtime.load_bytes(&abs).expect_err("refused").to_string();
    assert!(error.contains("devices of kind TOY have no kernel 'tf.Abs'; these have: CPU"), "{error}");
}
