//! The properties of a device in a set.
//!
//! ```text
//! properties = "{" property { "," property } "}"
//! property = threads=N | cores=N[-N] | memory=BYTES | streams=N | link=TIME/BYTES | speed=X
//!          | flops=TYPE:X{"/"TYPE:X} | bandwidth=BYTES | overhead=TIME
//!          | fail-after=N | fail-copy=N | fail-alloc=N
//!          | priority=N | space=host | space=own | kernels=host | kernels=NAME{"/"NAME}
//! ```
//!
//! The last line is for kinds of devices that the compiler does not know.

use std::fmt;
use std::ops::RangeInclusive;

use super::text::{Cursor, DeviceSyntax, DeviceTextError, shown};

/// The properties of a device, where they are given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceConfig {
    /// Number of worker threads of the device.
    pub threads: Option<u32>,
    /// The processor's cores to which its threads are pinned.
    pub cores: Option<RangeInclusive<u32>>,
    /// Capacity of its memory in bytes.
    pub memory: Option<u64>,
    /// Number of streams, each of which runs its work in order.
    pub streams: Option<u32>,
    /// The link to the host.
    pub link: Option<LinkConfig>,
    /// Speed, as a multiple of the host's.
    pub speed: Option<f64>,
    /// Arithmetic operations per second by type of element, as `f32`.
    pub flops: Vec<(String, f64)>,
    /// Bytes of its memory per second.
    pub bandwidth: Option<f64>,
    /// Nanoseconds that any operator takes.
    pub overhead_ns: Option<f64>,
    /// The launch that fails, from 1.
    pub fail_after: Option<u32>,
    /// The copy that fails, from 1.
    pub fail_copy: Option<u32>,
    /// The request of memory that fails, from 1.
    pub fail_alloc: Option<u32>,
    /// The preference of its kind: the largest number is preferred.
    pub priority: Option<u32>,
    /// Where its memory is.
    pub space: Option<DeviceSpace>,
    /// The operators that its kind has kernels for.
    pub kernels: Option<DeviceKernels>,
}

/// A link between two memories.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkConfig {
    /// Nanoseconds before the first byte arrives.
    pub latency_ns: f64,
    /// Bytes per second after that.
    pub bytes_per_s: f64,
}

/// The memory of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceSpace {
    /// The host's.
    Host,
    /// Its own, which kernels of the host cannot read.
    Own,
}

/// The operators that a kind of devices has kernels for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceKernels {
    /// Those that the host has kernels for.
    Host,
    /// Those of these names, as `MatMul`, at least one.
    Named(Vec<String>),
}

impl fmt::Display for LinkConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LinkConfig { latency_ns, bytes_per_s } = self;
        write!(f, "{latency_ns}ns/{bytes_per_s}B")
    }
}

impl fmt::Display for DeviceConfig {
    /// Prints the properties that are given, as ` threads=2 memory=1024B`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.properties().iter().try_for_each(|property| write!(f, " {property}"))
    }
}

impl DeviceConfig {
    /// The properties that are given, as they are read: `threads=2`.
    pub(super) fn properties(&self) -> Vec<String> {
        let DeviceConfig { threads, cores, memory, streams, link, speed, flops, bandwidth, .. } = self;
        let DeviceConfig { overhead_ns, fail_after, fail_copy, fail_alloc, priority, space, kernels, .. } =
            self;
        let flops = flops.iter().map(|(dtype, rate)| format!("{dtype}:{rate}")).collect::<Vec<_>>();
        let kernels = kernels.as_ref().map(|kernels| match kernels {
            DeviceKernels::Host => "host".to_owned(),
            DeviceKernels::Named(names) => names.join("/"),
        });
        let space = space.map(|space| match space {
            DeviceSpace::Host => "host",
            DeviceSpace::Own => "own",
        });
        [
            threads.map(|n| format!("threads={n}")),
            cores.as_ref().map(|cores| format!("cores={}-{}", cores.start(), cores.end())),
            memory.map(|n| format!("memory={n}B")),
            streams.map(|n| format!("streams={n}")),
            link.map(|link| format!("link={link}")),
            speed.map(|speed| format!("speed={speed}")),
            (!flops.is_empty()).then(|| format!("flops={}", flops.join("/"))),
            bandwidth.map(|rate| format!("bandwidth={rate}B")),
            overhead_ns.map(|time| format!("overhead={time}ns")),
            fail_after.map(|n| format!("fail-after={n}")),
            fail_copy.map(|n| format!("fail-copy={n}")),
            fail_alloc.map(|n| format!("fail-alloc={n}")),
            priority.map(|n| format!("priority={n}")),
            space.map(|space| format!("space={space}")),
            kernels.map(|kernels| format!("kernels={kernels}")),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

impl DeviceConfig {
    /// Reads the properties, if there are any.
    pub(super) fn read(text: &mut Cursor<'_>) -> Result<DeviceConfig, DeviceTextError> {
        let mut config = DeviceConfig::default();
        if !text.eat("{") {
            return Ok(config);
        }
        loop {
            let start = *text;
            let property = text.take_while(|c| c.is_ascii_lowercase() || c == '-');
            text.expect("=", "a property and '='")?;
            let at = *text;
            let value = text.take_while(|c| !matches!(c, ',' | '}'));
            match property {
                "threads" => {
                    put(&mut config.threads, start, at, "threads", POSITIVE, positive(value), value)?;
                }
                "cores" => {
                    put(&mut config.cores, start, at, "cores", "N or N-N", cores(value), value)?;
                }
                "memory" => {
                    put(&mut config.memory, start, at, "memory", BYTES, bytes(value), value)?;
                }
                "streams" => {
                    put(&mut config.streams, start, at, "streams", POSITIVE, positive(value), value)?;
                }
                "link" => {
                    put(&mut config.link, start, at, "link", LINK, link(value), value)?;
                }
                "speed" => {
                    put(&mut config.speed, start, at, "speed", "a positive number", decimal(value), value)?;
                }
                "flops" => {
                    let mut rates = (!config.flops.is_empty()).then_some(Vec::new());
                    put(&mut rates, start, at, "flops", FLOPS, flops(value), value)?;
                    config.flops = rates.unwrap_or_default();
                }
                "bandwidth" => {
                    put(&mut config.bandwidth, start, at, "bandwidth", BYTES, rate(value), value)?;
                }
                "overhead" => {
                    put(
                        &mut config.overhead_ns,
                        start,
                        at,
                        "overhead",
                        "a time, as 200ns",
                        time(value),
                        value,
                    )?;
                }
                "fail-after" => {
                    put(&mut config.fail_after, start, at, "fail-after", POSITIVE, positive(value), value)?;
                }
                "fail-copy" => {
                    put(&mut config.fail_copy, start, at, "fail-copy", POSITIVE, positive(value), value)?;
                }
                "fail-alloc" => {
                    put(&mut config.fail_alloc, start, at, "fail-alloc", POSITIVE, positive(value), value)?;
                }
                "priority" => {
                    put(&mut config.priority, start, at, "priority", POSITIVE, positive(value), value)?;
                }
                "space" => {
                    put(&mut config.space, start, at, "space", "host or own", space(value), value)?;
                }
                "kernels" => {
                    put(&mut config.kernels, start, at, "kernels", KERNELS, kernels(value), value)?;
                }
                other => return Err(start.error(DeviceSyntax::UnknownProperty(shown(other)))),
            }
            if text.eat("}") {
                return Ok(config);
            }
            text.expect(",", "',' or '}'")?;
        }
    }
}

const POSITIVE: &str = "a positive number without fraction";
const BYTES: &str = "a number of bytes, as 64MiB";
pub(super) const LINK: &str = "TIME/BYTES, as 5us/10GB";
const KERNELS: &str = "host or names of operators, as MatMul/Add";
const FLOPS: &str = "TYPE:OPERATIONS, as f32:20000000000/f64:10000000000";

/// Stores a property, which must be new and have a value.
fn put<T>(
    slot: &mut Option<T>,
    start: Cursor<'_>,
    at: Cursor<'_>,
    property: &'static str,
    want: &'static str,
    value: Option<T>,
    found: &str,
) -> Result<(), DeviceTextError> {
    if slot.is_some() {
        return Err(start.error(DeviceSyntax::Twice(property)));
    }
    if value.is_none() {
        return Err(at.error(DeviceSyntax::Value { property, want, found: shown(found) }));
    }
    *slot = value;
    Ok(())
}

fn whole(text: &str) -> Option<u32> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok())?
}

fn positive(text: &str) -> Option<u32> {
    whole(text).filter(|&number| number > 0)
}

fn decimal(text: &str) -> Option<f64> {
    let is_plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    is_plain.then(|| text.parse().ok())?.filter(|number: &f64| number.is_finite() && *number > 0.0)
}

fn cores(text: &str) -> Option<RangeInclusive<u32>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (whole(first)?, whole(last)?);
    (first <= last).then_some(first..=last)
}

/// Splits a text before its unit.
fn split_unit(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len()))
}

fn bytes(text: &str) -> Option<u64> {
    let (number, unit) = split_unit(text);
    let number = number.bytes().all(|b| b.is_ascii_digit()).then(|| number.parse::<u64>().ok())??;
    number.checked_mul(unit_bytes(unit)?).filter(|&bytes| bytes > 0)
}

fn unit_bytes(unit: &str) -> Option<u64> {
    Some(match unit {
        "" | "B" => 1,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "TiB" => 1 << 40,
        _ => return None,
    })
}

fn space(text: &str) -> Option<DeviceSpace> {
    match text {
        "host" => Some(DeviceSpace::Host),
        "own" => Some(DeviceSpace::Own),
        _ => None,
    }
}

/// Names, each once.
fn kernels(text: &str) -> Option<DeviceKernels> {
    if text == "host" {
        return Some(DeviceKernels::Host);
    }
    let mut names: Vec<String> = text.split('/').map(str::to_owned).collect();
    let is_name = |name: &String| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.'))
    };
    names.iter().all(is_name).then_some(())?;
    names.sort();
    names.dedup();
    Some(DeviceKernels::Named(names))
}

/// Latency and rate of a link.
pub(super) fn link(text: &str) -> Option<LinkConfig> {
    let (latency, bytes) = text.split_once('/')?;
    Some(LinkConfig { latency_ns: time(latency)?, bytes_per_s: rate(bytes)? })
}

/// Nanoseconds.
fn time(text: &str) -> Option<f64> {
    let (time, unit) = split_unit(text);
    let nanoseconds = match unit {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    Some(decimal(time)? * nanoseconds).filter(|time| time.is_finite())
}

/// Bytes, in a second.
fn rate(text: &str) -> Option<f64> {
    let (amount, unit) = split_unit(text);
    Some(decimal(amount)? * unit_bytes(unit)? as f64).filter(|rate| rate.is_finite())
}

/// Operations per second by type of element, each type once.
fn flops(text: &str) -> Option<Vec<(String, f64)>> {
    let mut rates: Vec<(String, f64)> = Vec::new();
    for one in text.split('/') {
        let (dtype, rate) = one.split_once(':')?;
        let is_type = !dtype.is_empty() && dtype.bytes().all(|b| b.is_ascii_alphanumeric());
        if !is_type || rates.iter().any(|(known, _)| known == dtype) {
            return None;
        }
        rates.push((dtype.to_owned(), decimal(rate)?));
    }
    Some(rates)
}
