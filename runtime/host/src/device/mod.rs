//! Making the devices of a runtime.
//!
//! ```text
//! "CPU:2{threads=1},SIM:1" ─parse─▶ names, properties ─factories─▶ DeviceSet
//!                                        │                  ▲
//!                                        └─ CPU devices share the workers of "mstd:4" out
//! ```
//!
//! CPU devices use the host's memory and have workers of their own. The first device is the client's: its
//! workers are those of the requests' queue. Devices without `threads=N` share the remaining workers, at
//! least one each. On a queue without threads (`s`, `seeded:N`) all devices share that queue, so its order
//! holds for all.
//!
//! Not here: the interface of devices (`befrost_kernel_api::device`), and other kinds of devices, whose
//! factories the embedder passes.

mod cores;

use std::fmt;
use std::sync::Arc;

use bef_format::device::{DeviceConfig, DeviceName, DeviceSet as Asked, MAX_DEVICES};
use befrost_kernel_api::device::{
    Device, DeviceError, DeviceFactory, DeviceParts, DeviceSet, HostDevice, Memory, Space,
};
use befrost_kernel_api::queue::Queue;
use befrost_mem::Allocator;

use crate::queue::{MAX_THREADS, MultiThreaded, QueueError, from_spec, workers_of};

/// The kind of devices that are processors of the host.
pub const CPU: DeviceFactory =
    DeviceFactory { kind: "CPU", priority: 100, runs_host_kernels: true, has_threads: true, make: make_cpu };

/// The devices of a runtime, and the queue of the client's.
pub struct MadeDevices {
    /// The queue of requests.
    pub queue: Queue,
    /// All devices.
    pub devices: Arc<DeviceSet>,
}

/// The reason why devices cannot be made.
#[derive(Debug)]
pub enum MakeDevicesError {
    /// The queue cannot be made.
    Queue(QueueError),
    /// There are no devices of a kind.
    Kind {
        /// The kind.
        kind: String,
        /// The kinds that there are.
        known: Vec<&'static str>,
    },
    /// With the client's there are too many devices.
    TooManyDevices,
    /// The devices would have this number of threads, which is too large.
    TooManyThreads(usize),
    /// A device cannot be made.
    Device(DeviceError),
}

impl fmt::Display for MakeDevicesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MakeDevicesError::Queue(error) => error.fmt(f),
            MakeDevicesError::Kind { kind, known } => {
                write!(f, "there are no devices of kind {kind}; there are: {}", known.join(", "))
            }
            MakeDevicesError::TooManyDevices => {
                write!(f, "there are more than {MAX_DEVICES} devices, the client's included")
            }
            MakeDevicesError::TooManyThreads(n) => {
                write!(f, "the devices would have {n} threads; at most {MAX_THREADS} are possible")
            }
            MakeDevicesError::Device(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for MakeDevicesError {}

impl From<QueueError> for MakeDevicesError {
    fn from(error: QueueError) -> MakeDevicesError {
        MakeDevicesError::Queue(error)
    }
}

/// Makes the queue `queue` and devices. `allocator` is the source of memory of devices that have their own.
///
/// # Errors
/// If there is no such queue, a kind has no factory, there are too many devices or threads, a factory refuses
/// the properties of a device, or the system refuses threads.
pub fn make(
    asked: &Asked,
    factories: &[DeviceFactory],
    (queue, idle_callers): (&str, bool),
    allocator: &Arc<dyn Allocator>,
) -> Result<MadeDevices, MakeDevicesError> {
    let asked = asked.clone().with_client(CPU.kind);
    if asked.devices().len() > MAX_DEVICES {
        return Err(MakeDevicesError::TooManyDevices);
    }
    let factory_of = |name: &DeviceName| {
        let found = factories.iter().chain([&CPU]).find(|factory| factory.kind == name.kind());
        found.copied().ok_or_else(|| {
            let known = factories.iter().chain([&CPU]).map(|factory| factory.kind).collect();
            MakeDevicesError::Kind { kind: name.kind().to_owned(), known }
        })
    };
    let mut found = Vec::with_capacity(asked.devices().len());
    for (name, config) in asked.devices() {
        found.push((factory_of(name)?, name, config));
    }
    let Some((workers, blocking)) = workers_of(queue)? else {
        let queue = from_spec(queue)?;
        let parts = found.into_iter().map(|(factory, name, config)| (factory, name, config, None));
        return Ok(MadeDevices { devices: set_of(parts, allocator)?, queue });
    };
    let threaded: Vec<&DeviceConfig> =
        found.iter().filter(|(factory, ..)| factory.has_threads).map(|&(_, _, config)| config).collect();
    let threads = shares(workers, &threaded);
    let n_threads: usize = threads.iter().sum();
    if n_threads > MAX_THREADS {
        return Err(MakeDevicesError::TooManyThreads(n_threads));
    }
    let (mut threads, mut client, mut parts) = (threads.into_iter(), None, Vec::with_capacity(found.len()));
    for (factory, name, config) in found {
        let n = if factory.has_threads { threads.next() } else { None };
        let own = match n {
            Some(n) => {
                let made = pool(name, config, n, blocking)?;
                Some(if idle_callers && client.is_none() { made.with_idle_callers() } else { made })
            }
            None => None,
        };
        let own = own.map(Queue::from);
        // The first device is the client's, a CPU.
        let own = if client.is_none() {
            client = own;
            None
        } else {
            own
        };
        parts.push((factory, name, config, own));
    }
    let devices = set_of(parts.into_iter(), allocator)?;
    match client {
        Some(queue) => Ok(MadeDevices { queue, devices }),
        None => Ok(MadeDevices { queue: from_spec(queue)?, devices }),
    }
}

/// The numbers of workers of devices with these properties, of `workers` in all.
fn shares(workers: usize, configs: &[&DeviceConfig]) -> Vec<usize> {
    let given = |config: &&DeviceConfig| config.threads.map(|n| n as usize);
    let taken: usize = configs.iter().filter_map(given).sum();
    let mut left = workers.saturating_sub(taken);
    let mut others = configs.iter().filter(|config| config.threads.is_none()).count();
    let share = |config: &&DeviceConfig| {
        given(config).unwrap_or_else(|| {
            let share = left.div_ceil(others.max(1)).max(1);
            left = left.saturating_sub(share);
            others -= 1;
            share
        })
    };
    configs.iter().map(share).collect()
}

/// The threads of a device.
fn pool(
    name: &DeviceName,
    config: &DeviceConfig,
    workers: usize,
    blocking: usize,
) -> Result<MultiThreaded, MakeDevicesError> {
    let cores = config.cores.clone();
    if let Some(cores) = &cores {
        let why = cores::check(cores).err();
        why.map_or(Ok(()), |why| {
            Err(MakeDevicesError::Device(DeviceError { device: name.to_string(), why }))
        })?;
    }
    let queue = MultiThreaded::with_thread_start(workers, blocking, move || {
        // The cores were checked.
        cores.iter().for_each(|cores| _ = cores::pin(cores));
    });
    queue.map_err(|error| MakeDevicesError::Queue(QueueError::Threads(error)))
}

/// A set of devices, with the queues that they have of their own.
fn set_of<'d>(
    parts: impl Iterator<Item = (DeviceFactory, &'d DeviceName, &'d DeviceConfig, Option<Queue>)>,
    allocator: &Arc<dyn Allocator>,
) -> Result<Arc<DeviceSet>, MakeDevicesError> {
    let mut devices = Vec::new();
    for (number, (factory, name, config, queue)) in parts.enumerate() {
        // There are at most 65,535 devices.
        let space = Space(number as u16);
        let parts = DeviceParts { name, config, space, queue, allocator: allocator.clone() };
        devices.push(((factory.make)(parts).map_err(MakeDevicesError::Device)?, factory));
    }
    Ok(Arc::new(DeviceSet::new(devices)))
}

fn make_cpu(parts: DeviceParts<'_>) -> Result<Arc<dyn Device>, DeviceError> {
    let DeviceParts { name, config, space: _, queue, allocator } = parts;
    let properties = [
        ("streams", config.streams.is_some()),
        ("fail-after", config.fail_after.is_some()),
        ("fail-copy", config.fail_copy.is_some()),
        ("fail-alloc", config.fail_alloc.is_some()),
    ];
    if let Some((property, _)) = properties.into_iter().find(|(_, given)| *given) {
        let why = format!("a CPU has no '{property}'");
        return Err(DeviceError { device: name.to_string(), why });
    }
    let memory = match config.memory {
        Some(_) => Memory::new(Space::HOST, allocator, config.memory),
        None => Memory::HOST,
    };
    Ok(Arc::new(HostDevice::new(name.clone(), memory, queue)))
}

#[cfg(all(test, not(loom)))]
mod tests;
