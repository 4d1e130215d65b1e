//! [`DeviceSet`]: the devices of a runtime.

use std::fmt;
use std::sync::{Arc, LazyLock};

use bef_format::device::{self, DeviceName};
use rustc_hash::FxHashMap;

use super::{Device, DeviceFactory, LaunchWork, Memory, Position, Space};
use crate::async_value::AsyncRef;
use crate::context::ExecContext;
use crate::error::{Error, ErrorCode};
use crate::queue::Queue;
use crate::value::Value;

/// The devices of a runtime, by number and by name. Device 0 is the client's.
pub struct DeviceSet {
    devices: Vec<Member>,
    by_name: FxHashMap<String, u16>,
    has_streams: bool,
}

struct Member {
    device: Arc<dyn Device>,
    factory: DeviceFactory,
}

impl DeviceSet {
    /// A set of these devices, at most [`device::MAX_DEVICES`], with the factories that made them. The first
    /// device is the client's: it has the host's memory and no queue of its own.
    ///
    /// # Panics
    /// If the first device cannot be the client's, or there are none or too many.
    pub fn new(devices: impl IntoIterator<Item = (Arc<dyn Device>, DeviceFactory)>) -> DeviceSet {
        let devices: Vec<Member> =
            devices.into_iter().map(|(device, factory)| Member { device, factory }).collect();
        let client = &devices.first().expect("a set has a client's device").device;
        assert!(client.queue().is_none() && client.memory().space() == Space::HOST, "not a client's device");
        assert!(devices.len() <= device::MAX_DEVICES, "too many devices");
        let names =
            devices.iter().enumerate().map(|(i, member)| (member.device.name().to_string(), i as u16));
        let by_name = names.collect();
        let has_streams = devices
            .iter()
            .any(|member| member.device.streams() > 0 || member.device.memory().space() != Space::HOST);
        DeviceSet { devices, by_name, has_streams }
    }

    /// The number of devices.
    pub fn len(&self) -> usize {
        self.devices.len()
    }

    /// False: a set has the client's device.
    pub fn is_empty(&self) -> bool {
        self.devices.is_empty()
    }

    /// True if a device has streams, or a memory of its own.
    pub fn has_streams(&self) -> bool {
        self.has_streams
    }

    /// A device by its number.
    pub fn get(&self, device: u16) -> Option<&Arc<dyn Device>> {
        self.devices.get(usize::from(device)).map(|member| &member.device)
    }

    /// The number of the device with this full name.
    pub fn find(&self, name: &str) -> Option<u16> {
        self.by_name.get(name).copied()
    }

    /// All devices, by number.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<dyn Device>> {
        self.devices.iter().map(|member| &member.device)
    }

    /// The factory of a device.
    pub fn factory(&self, device: u16) -> Option<&DeviceFactory> {
        self.devices.get(usize::from(device)).map(|member| &member.factory)
    }

    /// The factories of the devices, each once.
    pub fn kinds(&self) -> impl Iterator<Item = &DeviceFactory> {
        let factories = self.devices.iter().map(|member| &member.factory);
        let mut kinds: Vec<&DeviceFactory> = Vec::new();
        for factory in factories {
            if kinds.iter().all(|known| known.kind != factory.kind) {
                kinds.push(factory);
            }
        }
        kinds.into_iter()
    }

    /// The queues that devices have besides the client's.
    pub fn queues(&self) -> impl Iterator<Item = &Queue> {
        self.iter().filter_map(|device| device.queue())
    }

    /// Waits until no task waits or runs on a device's queue, and all launches have ended. For callers
    /// outside of the queues.
    pub fn quiesce(&self) {
        self.iter().for_each(|device| device.quiesce());
    }
}

impl fmt::Debug for DeviceSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|device| device.name().to_string())).finish()
    }
}

/// A device in the host's memory, with or without a queue of its own.
pub struct HostDevice {
    name: DeviceName,
    memory: Memory,
    queue: Option<Queue>,
}

static CLIENT: LazyLock<HostDevice> = LazyLock::new(|| {
    let set = device::DeviceSet::default();
    // The default set has one device.
    let name = set.devices().next().map(|(name, _)| name.clone()).expect("a device");
    HostDevice::new(name, Memory::HOST, None)
});

impl HostDevice {
    /// A device of this name. The memory is the host's.
    pub fn new(name: DeviceName, memory: Memory, queue: Option<Queue>) -> HostDevice {
        HostDevice { name, memory, queue }
    }

    /// The device of requests without a set of devices.
    pub fn client() -> &'static HostDevice {
        &CLIENT
    }
}

impl Device for HostDevice {
    fn name(&self) -> &DeviceName {
        &self.name
    }

    fn memory(&self) -> &Memory {
        &self.memory
    }

    fn queue(&self) -> Option<&Queue> {
        self.queue.as_ref()
    }

    /// Runs the work. It has ended when this returns.
    fn launch(&self, stream: u32, _: &[Position], work: LaunchWork) -> Position {
        work(Ok(()));
        Position { stream, at: 0 }
    }

    fn reached(&self, _: Position) -> AsyncRef {
        let (promise, reached) = AsyncRef::pending();
        promise.set(Value::Chain);
        reached
    }

    /// The same value: all host devices read it. A device of another memory fetches it.
    fn copy(&self, value: &Value, to: &dyn Device, space: Space, cx: &ExecContext) -> Value {
        if space == Space::HOST {
            return value.clone();
        }
        if to.memory().space() == Space::HOST {
            let message = format!("{} cannot copy to the memory {}", self.name, space.0);
            return Value::Error(Error::new(ErrorCode::Internal, message, Vec::new()));
        }
        to.copy(value, to, space, cx)
    }
}
