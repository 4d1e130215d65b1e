//! Devices: executors of kernels, the memory of their values, and the order of their launches.
//!
//! ```text
//! DeviceSet ──▶ Device ─┬─ queue      tasks on threads of its own; without one, on those of the request
//!    0: the client's    ├─ memory     the host's, or one that host kernels cannot read
//!                       └─ streams    ordered launches that return at once; without any, kernels finish
//!                                     before they return
//! ```
//!
//! A [`Device`] of a kind comes from a [`DeviceFactory`], which an embedder registers. Device 0 of a set is
//! the client's: host memory, and the queue and allocator of the request.
//!
//! Invariants:
//!
//! * The devices of a set share an address space. Devices of one [`Space`] read each other's values.
//! * A stream runs its launches in order. A [`Position`] is reached when its launch and all before it have
//!   ended.
//! * A fault poisons its stream: all later launches of it get the fault's error instead of running. A launch
//!   whose operand is an error is no fault.
//!
//! Not here: the choice of a device for a kernel, which the file makes; threads, which are the runtime's.

mod buffer;
mod memory;
mod set;

use std::sync::Arc;

use bef_format::device::{DeviceConfig, DeviceName};
use befrost_mem::Allocator;

use crate::async_value::AsyncRef;
use crate::context::ExecContext;
use crate::error::Error;
use crate::queue::Queue;
use crate::value::Value;

pub use buffer::{BufferContent, DeviceBuffer, is_device_type};
pub use memory::{Memory, Space};
pub use set::{DeviceSet, HostDevice};

/// A place in the order of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The stream.
    pub stream: u32,
    /// The number of the launch in the stream, from 1.
    pub at: u64,
}

/// The work of a launch. It is called once, in its stream's order, with the fault of the stream if there was
/// one. It does not wait.
pub type LaunchWork = Box<dyn FnOnce(Result<(), &Error>) + Send>;

/// An executor of kernels with a memory.
pub trait Device: Send + Sync {
    /// The full name.
    fn name(&self) -> &DeviceName;

    /// The memory of its kernels' results.
    fn memory(&self) -> &Memory;

    /// Its own queue. `None`: the one of the request.
    fn queue(&self) -> Option<&Queue> {
        None
    }

    /// The number of its streams. 0: kernels finish before they return, and run on the queue.
    fn streams(&self) -> u32 {
        0
    }

    /// Adds work to a stream and returns at once. It runs when the positions in `after`, of other streams,
    /// are reached.
    fn launch(&self, stream: u32, after: &[Position], work: LaunchWork) -> Position;

    /// A chain that is final when a position is reached; the fault's error if the stream was poisoned before.
    fn reached(&self, at: Position) -> AsyncRef;

    /// The value in the memory `space`: the host's, this device's, or that of the device `to`. Asynchronous
    /// unless nothing has to be moved; an error if the copy fails.
    fn copy(&self, value: &Value, to: &dyn Device, space: Space, cx: &ExecContext) -> Value;

    /// The numbers of launches, copies and waits so far.
    fn counts(&self) -> DeviceCounts {
        DeviceCounts::default()
    }

    /// Waits until no task and no launch of the device is left. For callers outside of its threads.
    fn quiesce(&self) {
        self.queue().iter().for_each(|queue| queue.quiesce());
    }

    /// Checks that no fault has poisoned the device.
    ///
    /// # Errors
    /// The fault.
    fn health(&self) -> Result<(), Error> {
        Ok(())
    }
}

/// Counts of the work of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceCounts {
    /// Launches of kernels.
    pub launches: u64,
    /// Copies into its memory and out of it.
    pub copies: u64,
    /// Requests of the host for a position, each of which may make the host wait.
    pub waits: u64,
}

/// The parts from which a factory makes a device.
pub struct DeviceParts<'d> {
    /// The name.
    pub name: &'d DeviceName,
    /// The properties that were asked for.
    pub config: &'d DeviceConfig,
    /// The space for a memory of the device's own. It has the device's number, and no other device has it.
    pub space: Space,
    /// A queue of its own, if the device is to have threads.
    pub queue: Option<Queue>,
    /// The source of its memory, if it has one of its own.
    pub allocator: Arc<dyn Allocator>,
}

/// The reason why a device cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceError {
    /// The device.
    pub device: String,
    /// The reason.
    pub why: String,
}

impl std::fmt::Display for DeviceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cannot make {}: {}", self.device, self.why)
    }
}

impl std::error::Error for DeviceError {}

/// A kind of devices.
#[derive(Clone, Copy, Debug)]
pub struct DeviceFactory {
    /// The kind in names, such as `SIM`.
    pub kind: &'static str,
    /// The preference among the kinds that can run an op: the largest number is preferred.
    pub priority: u32,
    /// True if its devices run the host's kernels where they have none of their own.
    pub runs_host_kernels: bool,
    /// True if its devices have threads of their own where the queue of the requests has threads.
    pub has_threads: bool,
    /// Makes a device.
    pub make: fn(DeviceParts<'_>) -> Result<Arc<dyn Device>, DeviceError>,
}
