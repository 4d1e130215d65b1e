//! [`DeviceBuffer`]: a value in the memory of a device.
//!
//! ```text
//! launch ──▶ DeviceBuffer { device, position, cell }     at once: a value of its register
//!              └── cell ◀── the launch's work            in the stream's order
//! ```
//!
//! A buffer is concrete as soon as its launch is in a stream. Its content, which the launch's work sets, is a
//! value of that device's memory, an error, or dead. Kernels of the device get the content in the order of
//! the stream. Nothing else reads it: a kernel of the host does not accept a buffer as a tensor, and
//! [`Device::copy`] copies the content to another memory.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::{Device, DeviceSet, Position};
use crate::object::Object;
use crate::value::Value;

/// A value in the memory of a device.
#[derive(Clone)]
pub struct DeviceBuffer {
    device: u16,
    at: Position,
    content: BufferContent,
}

/// The content of a [`DeviceBuffer`], for the device.
#[derive(Clone, Default)]
pub struct BufferContent(Arc<OnceLock<Value>>);

impl BufferContent {
    /// Sets the content, if it is not set.
    pub fn set(&self, value: Value) {
        // A launch sets the content of its buffers once.
        _ = self.0.set(value);
    }

    /// The content; `None` before the launch has ended.
    pub fn get(&self) -> Option<&Value> {
        self.0.get()
    }
}

impl DeviceBuffer {
    /// A buffer in the memory of device number `device`, whose launch is at a position.
    pub fn new(device: u16, at: Position, content: BufferContent) -> DeviceBuffer {
        DeviceBuffer { device, at, content }
    }

    /// The number of the device in its set.
    pub fn device_number(&self) -> u16 {
        self.device
    }

    /// The device.
    pub fn device<'d>(&self, devices: &'d DeviceSet) -> Option<&'d Arc<dyn Device>> {
        devices.get(self.device)
    }

    /// The position of its launch. The buffer has its content when the position is reached.
    pub fn position(&self) -> Position {
        self.at
    }

    /// The content, for kernels and copies of the same device.
    pub fn content(&self) -> &BufferContent {
        &self.content
    }
}

impl fmt::Debug for DeviceBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Position { stream, at } = self.at;
        write!(f, "DeviceBuffer(device {}, stream {stream}, launch {at})", self.device)
    }
}

impl Object for DeviceBuffer {
    /// None of its own: a buffer may be in any register whose values can lie in a device's memory.
    const TYPES: &'static [&'static str] = &[];

    fn display(&self) -> String {
        format!("{self:?}")
    }
}

/// True if values of a register of this type may lie in the memory of a device: tensors, except those of
/// strings, resource handles and references. All other values are in the host's memory on every device.
pub fn is_device_type(ty: &str) -> bool {
    let Some(inner) = ty.strip_prefix("tensor<").and_then(|rest| rest.strip_suffix('>')) else {
        return false;
    };
    !inner.ends_with("string") && !inner.ends_with("ref") && !inner.contains("resource")
}
