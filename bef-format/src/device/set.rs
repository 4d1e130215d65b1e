//! Sets of devices, in the syntax of the option `--devices`.
//!
//! ```text
//! set      = entry { "," entry }
//! entry    = ["/job:NAME"] ["/replica:N"] ["/task:N"] ["/"] KIND ":" COUNT [properties]
//! properties = "{" property { "," property } "}"
//! property = threads=N | cores=N[-N] | memory=BYTES | streams=N | link=TIME/BYTES | speed=X
//!          | flops=TYPE:X{"/"TYPE:X} | bandwidth=BYTES | overhead=TIME
//!          | fail-after=N | fail-copy=N | fail-alloc=N
//! ```
//!
//! The number after the kind is a count: `CPU:3` is CPU:0, CPU:1, CPU:2. A later entry of the same kind and
//! task continues the numbering, so that devices of one kind may differ.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use super::name::{DeviceName, DeviceSpec};
use super::text::{Cursor, DeviceSyntax, DeviceTextError, shown};

/// Maximum number of devices of a set: a file numbers them with 16 bits.
pub const MAX_DEVICES: usize = u16::MAX as usize;

/// Maximum number of channels of a program: they are numbered from 0.
pub const MAX_CHANNELS: i64 = 1 << 20;

/// The deepest nest of loops in which parts of a program exchange values.
pub const MAX_LOOPS: usize = 64;

/// The devices that a program may use, in the order of their entries. The first is the client's.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceSet {
    devices: Vec<(DeviceName, DeviceConfig)>,
}

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
}

/// A link between two memories.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkConfig {
    /// Nanoseconds before the first byte arrives.
    pub latency_ns: f64,
    /// Bytes per second after that.
    pub bytes_per_s: f64,
}

impl DeviceSet {
    /// All devices.
    pub fn devices(&self) -> impl ExactSizeIterator<Item = (&DeviceName, &DeviceConfig)> {
        self.devices.iter().map(|(name, config)| (name, config))
    }

    /// The set with a device of kind `host` in front, which is the client's: the first one of that kind, or
    /// one more in the first task.
    #[must_use]
    pub fn with_client(mut self, host: &str) -> DeviceSet {
        match self.devices.iter().position(|(name, _)| name.kind() == host) {
            Some(at) => self.devices[..=at].rotate_right(1),
            None => {
                let name = DeviceSpec::default().name_of(host, 0);
                self.devices.insert(0, (name, DeviceConfig::default()));
            }
        }
        self
    }

    /// The devices that match a spec.
    pub fn matching(&self, spec: &DeviceSpec) -> impl Iterator<Item = &DeviceName> {
        self.devices().map(|(name, _)| name).filter(move |name| spec.matches(name))
    }
}

impl Default for DeviceSet {
    /// One CPU.
    fn default() -> DeviceSet {
        let name = DeviceSpec::default().name_of("CPU", 0);
        DeviceSet { devices: vec![(name, DeviceConfig::default())] }
    }
}

impl FromStr for DeviceSet {
    type Err = DeviceTextError;

    fn from_str(text: &str) -> Result<DeviceSet, DeviceTextError> {
        let (mut devices, mut next) = (Vec::new(), BTreeMap::new());
        let mut text = Cursor::new(text);
        loop {
            let (task, kind) = read_place(&mut text)?;
            text.expect(":", "':' and the number of devices")?;
            let at = text;
            let count = text.number(u32::MAX)?;
            if count == 0 {
                return Err(at.error(DeviceSyntax::Expected("at least one device")));
            }
            if count as usize > MAX_DEVICES - devices.len() {
                return Err(at.error(DeviceSyntax::TooMany(MAX_DEVICES)));
            }
            let config = DeviceConfig::read(&mut text)?;
            let first = next.entry(task.name_of(kind, 0)).or_insert(0);
            devices.extend((*first..*first + count).map(|index| (task.name_of(kind, index), config.clone())));
            *first += count;
            if text.is_at_end() {
                return Ok(DeviceSet { devices });
            }
            text.expect(",", "',' or the end")?;
        }
    }
}

/// The task of an entry, and the kind.
fn read_place<'t>(text: &mut Cursor<'t>) -> Result<(DeviceSpec, &'t str), DeviceTextError> {
    const KIND: &str = "a kind of device";
    let start = *text;
    let path = text.take_while(|c| !matches!(c, ',' | '{'));
    let split = path.rfind('/').unwrap_or(0);
    let task: DeviceSpec = path[..split]
        .parse()
        .map_err(|error: DeviceTextError| DeviceTextError { at: start.at + error.at, ..error })?;
    if task.kind.is_some() || task.index.is_some() {
        return Err(start.error(DeviceSyntax::Twice("device")));
    }
    *text = Cursor { rest: &start.rest[split..], at: start.at + split };
    text.eat("/");
    Ok((task, text.word(KIND)?))
}

impl fmt::Display for DeviceConfig {
    /// Prints the properties that are given, as ` threads=2 memory=1024B`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DeviceConfig { threads, cores, memory, streams, link, speed, flops, .. } = self;
        let DeviceConfig { bandwidth, overhead_ns, fail_after, fail_copy, fail_alloc, .. } = self;
        if let Some(threads) = threads {
            write!(f, " threads={threads}")?;
        }
        if let Some(cores) = cores {
            write!(f, " cores={}-{}", cores.start(), cores.end())?;
        }
        if let Some(memory) = memory {
            write!(f, " memory={memory}B")?;
        }
        if let Some(streams) = streams {
            write!(f, " streams={streams}")?;
        }
        if let Some(LinkConfig { latency_ns, bytes_per_s }) = link {
            write!(f, " link={latency_ns}ns/{bytes_per_s}B")?;
        }
        if let Some(speed) = speed {
            write!(f, " speed={speed}")?;
        }
        for (i, (dtype, rate)) in flops.iter().enumerate() {
            write!(f, "{}{dtype}:{rate}", if i == 0 { " flops=" } else { "/" })?;
        }
        if let Some(rate) = bandwidth {
            write!(f, " bandwidth={rate}B")?;
        }
        if let Some(time) = overhead_ns {
            write!(f, " overhead={time}ns")?;
        }
        if let Some(n) = fail_after {
            write!(f, " fail-after={n}")?;
        }
        if let Some(n) = fail_copy {
            write!(f, " fail-copy={n}")?;
        }
        if let Some(n) = fail_alloc {
            write!(f, " fail-alloc={n}")?;
        }
        Ok(())
    }
}

impl DeviceConfig {
    /// Reads the properties, if there are any.
    fn read(text: &mut Cursor<'_>) -> Result<DeviceConfig, DeviceTextError> {
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
                    put(&mut config.link, start, at, "link", "TIME/BYTES, as 5us/10GB", link(value), value)?;
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

fn link(text: &str) -> Option<LinkConfig> {
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
