//! `SIM`: an accelerator without hardware, the model for devices with a memory of their own.
//!
//! ```text
//! host threads ──launch──▶ streams (a thread each, in order) ──▶ kernels of the host, on the device's values
//!              ◀─reached─┘         │ wait for positions of each other
//!              ──copy───▶ link: latency + bytes / rate ──▶ memory: counted, limited
//! ```
//!
//! Properties of a device:
//!
//! ```text
//! memory=64MiB              capacity of its memory
//! streams=2                 number of streams
//! link=5us/10GB             latency and bytes per second of copies
//! speed=0.5                 kernels take twice the time
//! fail-after=N              launch number N faults, and poisons its stream
//! fail-copy=N fail-alloc=N  copy or allocation number N fails
//! ```
//!
//! Invariants:
//!
//! * Values in its memory are contents of [`DeviceBuffer`]s. Only work in its streams reads them.
//! * A copy from the host is staged before `copy` returns, so the source may change afterwards.
//! * Work is called once for each launch, also after a fault and when the device is dropped.
//!
//! `README.md` describes how to add another device.
#![forbid(unsafe_code)]

mod memory;
mod streams;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bef_format::device::{DeviceConfig, DeviceName, LinkConfig};
use befrost_kernel_api::async_value::AsyncRef;
use befrost_kernel_api::device::{
    BufferContent, Device, DeviceBuffer, DeviceCounts, DeviceError, DeviceFactory, DeviceParts, LaunchWork,
    Memory, Position, Space,
};
use befrost_kernel_api::{Error, ErrorCode, ExecContext, KernelError, Value};
use befrost_mem::Allocator;

use streams::{Streams, pass_time};

/// The kind of simulated accelerators.
pub const SIM: DeviceFactory =
    DeviceFactory { kind: "SIM", priority: 50, runs_host_kernels: true, has_threads: false, make };

/// A simulated accelerator.
pub struct SimDevice {
    name: DeviceName,
    memory: Memory,
    streams: Streams,
    link: Option<LinkConfig>,
    /// The number of copies so far, and the one that fails.
    n_copies: AtomicU64,
    fail_copy: Option<u32>,
    /// The number of the host's requests for a position or a copy.
    n_waits: AtomicU64,
}

/// The slowest device. The time of a kernel on it is a duration that can be slept.
const MIN_SPEED: f64 = 1e-6;

fn make(parts: DeviceParts<'_>) -> Result<Arc<dyn Device>, DeviceError> {
    Ok(Arc::new(SimDevice::new(parts)?))
}

impl SimDevice {
    /// A device, with the threads of its streams.
    ///
    /// # Errors
    /// If a SIM does not have a property, the speed is too low, or the system refuses the threads.
    pub fn new(parts: DeviceParts<'_>) -> Result<SimDevice, DeviceError> {
        let DeviceParts { name, config, space, queue: _, allocator } = parts;
        let DeviceConfig {
            threads,
            cores,
            memory,
            streams,
            link,
            speed,
            fail_after,
            fail_copy,
            fail_alloc,
            ..
        } = config;
        let refuse = |why: String| DeviceError { device: name.to_string(), why };
        if threads.is_some() || cores.is_some() {
            return Err(refuse("a SIM has streams: give `streams=N`, not threads or cores".to_owned()));
        }
        let speed = speed.unwrap_or(1.0);
        if speed < MIN_SPEED {
            return Err(refuse(format!("the speed {speed} is below {MIN_SPEED}")));
        }
        let memory = Memory::new(space, allocator, *memory);
        let memory = match *fail_alloc {
            Some(n) => memory.within(|inner| memory::failing(inner, n)),
            None => memory,
        };
        let streams = Streams::start(name, streams.unwrap_or(1), speed, *fail_after)
            .map_err(|error| refuse(format!("cannot start threads: {error}")))?;
        Ok(SimDevice {
            name: name.clone(),
            memory,
            streams,
            link: *link,
            n_copies: AtomicU64::new(0),
            fail_copy: *fail_copy,
            n_waits: AtomicU64::new(0),
        })
    }

    /// Counts a copy.
    ///
    /// # Errors
    /// If it is the one that fails.
    fn count_copy(&self) -> Result<(), Error> {
        let n = self.n_copies.fetch_add(1, Ordering::Relaxed) + 1;
        match self.fail_copy {
            Some(fails) if u64::from(fails) == n => {
                let message = format!("{}: copy {n} failed", self.name);
                Err(Error::new(ErrorCode::Unavailable, message, Vec::new()))
            }
            _ => Ok(()),
        }
    }

    /// A value of the host, staged in this device's memory.
    fn upload(&self, value: &Value) -> Value {
        let Value::Object(object) = value else { return value.clone() };
        let Some(allocator) = self.memory.allocator() else { return value.clone() };
        let Some(staged) = object.copied(allocator) else { return value.clone() };
        let (staged, bytes) = match staged {
            Ok(staged) => staged,
            Err(error) => return failed(&error),
        };
        if let Err(error) = self.count_copy() {
            return Value::Error(error);
        }
        let content = BufferContent::default();
        let (arrived, time) = (content.clone(), time_of(self.link, bytes));
        let work: LaunchWork = Box::new(move |fault| {
            pass_time(time);
            arrived.set(fault.map_or_else(|fault| Value::Error(fault.clone()), |()| staged));
        });
        let at = self.streams.add(0, &[], work);
        Value::object(DeviceBuffer::new(self.memory.space().0, at, content))
    }

    /// Calls `then` with the content of a buffer of this device, copied to memory of `allocator`.
    fn download(
        &self,
        buffer: &DeviceBuffer,
        allocator: Arc<dyn Allocator>,
        then: impl FnOnce(Value) + Send + 'static,
    ) {
        let (content, counted) = (buffer.content().clone(), self.count_copy());
        let link = self.link;
        let work: LaunchWork = Box::new(move |fault| {
            let value = match (content.get(), fault, counted) {
                // An error or dead content is passed on.
                (Some(value @ (Value::Error(_) | Value::Dead)), ..) => value.clone(),
                (_, Err(fault), _) => Value::Error(fault.clone()),
                (.., Err(error)) => Value::Error(error),
                (Some(Value::Object(object)), Ok(()), Ok(())) => match object.copied(&allocator) {
                    Some(Ok((value, bytes))) => {
                        pass_time(time_of(link, bytes));
                        value
                    }
                    Some(Err(error)) => failed(&error),
                    None => Value::Object(object.clone()),
                },
                (Some(value), Ok(()), Ok(())) => value.clone(),
                (None, Ok(()), Ok(())) => {
                    failed(&KernelError::new(ErrorCode::Internal, "a buffer without content"))
                }
            };
            then(value);
        });
        self.streams.add(buffer.position().stream, &[], work);
    }
}

/// The time that a link takes for this many bytes.
fn time_of(link: Option<LinkConfig>, bytes: usize) -> Duration {
    let nanoseconds = link.map_or(0.0, |link| link.latency_ns + bytes as f64 * 1e9 / link.bytes_per_s);
    // At most some 30 years, which a `Duration` can be.
    Duration::from_nanos(nanoseconds.min(1e18) as u64)
}

/// An error as a value. The kernel that asked for the copy adds its place.
fn failed(error: &KernelError) -> Value {
    Value::Error(Error::new(error.code(), error.message(), Vec::new()))
}

impl Device for SimDevice {
    fn name(&self) -> &DeviceName {
        &self.name
    }

    fn memory(&self) -> &Memory {
        &self.memory
    }

    fn streams(&self) -> u32 {
        self.streams.len()
    }

    fn launch(&self, stream: u32, after: &[Position], work: LaunchWork) -> Position {
        self.streams.launch(stream, after, work)
    }

    fn reached(&self, at: Position) -> AsyncRef {
        self.n_waits.fetch_add(1, Ordering::Relaxed);
        self.streams.reached(at)
    }

    fn copy(&self, value: &Value, to: &dyn Device, space: Space, cx: &ExecContext) -> Value {
        let Some(buffer) = value.downcast_ref::<DeviceBuffer>() else {
            return if space == self.memory.space() { self.upload(value) } else { value.clone() };
        };
        if space == self.memory.space() {
            return value.clone();
        }
        let (promise, copied) = AsyncRef::pending();
        self.n_waits.fetch_add(1, Ordering::Relaxed);
        let host = cx.request.allocator.clone();
        if space == Space::HOST {
            self.download(buffer, host, move |value| promise.set(value));
            return Value::Async(copied);
        }
        // The copy goes through the host's memory, which both devices reach.
        let Some(target) =
            cx.request.devices.as_ref().and_then(|all| all.get(to.memory().space().0)).cloned()
        else {
            return failed(&KernelError::new(ErrorCode::Internal, "the other device is not in the set"));
        };
        let cx = cx.clone();
        self.download(buffer, host, move |value| {
            promise.set(match value {
                value @ (Value::Error(_) | Value::Dead) => value,
                value => target.copy(&value, &*target, space, &cx),
            });
        });
        Value::Async(copied)
    }

    fn counts(&self) -> DeviceCounts {
        // Relaxed: numbers that guard no data.
        let copies = self.n_copies.load(Ordering::Relaxed);
        DeviceCounts {
            launches: self.streams.n_launches(),
            copies,
            waits: self.n_waits.load(Ordering::Relaxed),
        }
    }

    fn quiesce(&self) {
        self.streams.quiesce();
    }

    fn health(&self) -> Result<(), Error> {
        self.streams.health()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use befrost_mem::Malloc;

    #[test]
    fn properties_that_a_sim_cannot_have_are_refused() {
        let why = |properties: &str| {
            let set: bef_format::device::DeviceSet = format!("SIM:1{{{properties}}}").parse().unwrap();
            let (name, config) = set.devices().next().unwrap();
            let (space, allocator) = (Space(1), Malloc::shared());
            SimDevice::new(DeviceParts { name, config, space, queue: None, allocator })
                .err()
                .map(|error| error.why)
        };
        assert_eq!(why("speed=0.5,streams=2"), None);
        assert!(why("speed=0.0000000001").unwrap().contains("is below 0.000001"));
        assert!(why("threads=2").unwrap().contains("give `streams=N`"));
    }
}
