//! Device sets in files: `--devices @set.json`.
//!
//! ```text
//! {"devices": [{"name": "/device:CPU:0", "threads": 2, "cores": "0-1", "memory": 1073741824, "streams": 2,
//!               "flops": {"f32": 1e11}, "bandwidth": 1e10, "overhead_ns": 200}],
//!  "links": [{"from": "/device:CPU:0", "to": "/device:SIM:0", "latency_ns": 5000, "bytes_per_s": 1e10}]}
//! ```
//!
//! A file becomes the text that the command line would have had, which is checked as such. Devices of a kind
//! and task come in the order of their numbers. A link leads in one direction. One from or to the host is the
//! device's link in the other direction too, if there is none there; of several the slower one.

use std::fmt::Write;
use std::fs::File;
use std::path::Path;

use bef_format::device::{DeviceName, DeviceSet, DeviceSpec, DeviceTextError};
use serde_json::{Map, Value as Json};

use super::files::up_to;

/// The largest file.
const MAX_BYTES: u64 = 64 << 20;

/// The devices of an argument, as text: those of a file if it begins with `@`.
pub(super) fn text_of(argument: &str) -> Result<String, String> {
    let Some(path) = argument.strip_prefix('@') else { return Ok(argument.to_owned()) };
    let json = read(Path::new(path))?;
    set_of(&json).map_err(|why| format!("'{path}' makes no sense: {why}"))
}

/// The contents of a file.
pub(super) fn read(file: &Path) -> Result<Json, String> {
    let path = file.display();
    let bytes = File::open(file).and_then(|file| up_to(MAX_BYTES, file));
    let bytes = bytes.map_err(|error| format!("cannot read '{path}': {error}"))?;
    serde_json::from_slice(&bytes).map_err(|error| format!("'{path}': {error}"))
}

/// The members of an object, which has no others than `known`.
fn members<'j>(json: &'j Json, at: &str, known: &[&str]) -> Result<&'j Map<String, Json>, String> {
    let object = json.as_object().ok_or_else(|| format!("{at} is no object"))?;
    match object.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(format!("{at} has no field '{}'", key.escape_debug())),
        None => Ok(object),
    }
}

fn items<'j>(object: &'j Map<String, Json>, name: &str) -> Result<&'j [Json], String> {
    match object.get(name) {
        None => Ok(&[]),
        Some(Json::Array(items)) => Ok(items),
        Some(_) => Err(format!("'{name}' is no list")),
    }
}

fn text<'j>(object: &'j Map<String, Json>, at: &str, name: &str) -> Result<&'j str, String> {
    object.get(name).and_then(Json::as_str).ok_or_else(|| format!("{at}.{name} is no text"))
}

/// A positive number.
fn number(json: &Json, at: &str) -> Result<f64, String> {
    let number = json.as_f64().filter(|number| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| format!("{at} is no positive number: {json}"))
}

fn set_of(json: &Json) -> Result<String, String> {
    let set = members(json, "the set", &["devices", "links"])?;
    let links = links(items(set, "links")?)?;
    let client = DeviceSet::default();
    let Some((host, _)) = client.devices().next() else { return Err("there is no host".to_owned()) };
    let mut all = String::new();
    for (i, device) in items(set, "devices")?.iter().enumerate() {
        let at = format!("devices[{i}]");
        let known = [
            "name",
            "threads",
            "cores",
            "memory",
            "streams",
            "flops",
            "bandwidth",
            "overhead_ns",
            "speed",
            "priority",
            "space",
            "kernels",
        ];
        let device = members(device, &at, &known)?;
        let name = text(device, &at, "name")?;
        let malformed = |error: DeviceTextError| format!("{at}.name '{name}' is malformed: {error}");
        let spec = name.parse::<DeviceSpec>().map_err(malformed)?;
        let kind = spec.kind().ok_or_else(|| format!("{at}.name '{name}' has no kind"))?;
        let task = spec.without_kind();
        let separator = if all.is_empty() { "" } else { "," };
        _ = write!(all, "{separator}{task}{}{kind}:1", if task.is_open() { "" } else { "/" });
        let parse =
            |all: &str| all.parse::<DeviceSet>().map_err(|error| format!("{at}: {error}, in '{all}'"));
        // The number behind the kind is given by the order.
        let set = parse(&all)?;
        let full = set.devices().last().map(|(full, _)| full).filter(|full| spec.matches(full));
        let full = full.ok_or_else(|| format!("{at}.name '{name}' is not the next number of its kind"))?;
        let mut properties = properties(device, &at)?;
        let to_host = links.iter().filter_map(|link| link_to(host, full, link));
        if let Some((latency, rate)) = to_host.reduce(|a, b| (a.0.max(b.0), a.1.min(b.1))) {
            properties.push(format!("link={latency}ns/{rate}B"));
        }
        if !properties.is_empty() {
            _ = write!(all, "{{{}}}", properties.join(","));
            parse(&all)?;
        }
    }
    if all.is_empty() {
        return Err("it has no devices".to_owned());
    }
    for Link { from, to, rate: (latency, bytes) } in &links {
        _ = write!(all, ",{from}->{to}={latency}ns/{bytes}B");
    }
    all.parse::<DeviceSet>().map_err(|error| format!("links: {error}"))?;
    Ok(all)
}

/// The properties of a device as the command line has them.
fn properties(device: &Map<String, Json>, at: &str) -> Result<Vec<String>, String> {
    let mut properties = Vec::new();
    for (name, value) in device.iter().filter(|(name, _)| *name != "name") {
        let at = format!("{at}.{name}");
        properties.push(match (name.as_str(), value) {
            ("cores" | "space" | "kernels", Json::String(value)) => format!("{name}={value}"),
            ("flops", rates) => {
                let rates = rates.as_object().ok_or_else(|| format!("{at} is no object"))?;
                let one = |(dtype, rate): (&String, &Json)| Ok(format!("{dtype}:{}", number(rate, &at)?));
                format!("flops={}", rates.iter().map(one).collect::<Result<Vec<_>, String>>()?.join("/"))
            }
            ("overhead_ns", value) => format!("overhead={}ns", number(value, &at)?),
            ("bandwidth", value) => format!("bandwidth={}B", number(value, &at)?),
            (name, value) => format!("{name}={}", number(value, &at)?),
        });
    }
    Ok(properties)
}

/// A link: its ends, the latency in nanoseconds and the bytes per second.
struct Link {
    from: DeviceSpec,
    to: DeviceSpec,
    rate: (f64, f64),
}

/// The rate of a link between the host and a device, in either direction.
fn link_to(host: &DeviceName, device: &DeviceName, link: &Link) -> Option<(f64, f64)> {
    let ends = [(&link.from, &link.to), (&link.to, &link.from)];
    let joins = ends.into_iter().any(|(a, b)| a.matches(host) && b.matches(device));
    (joins && device != host).then_some(link.rate)
}

fn links(json: &[Json]) -> Result<Vec<Link>, String> {
    let read = |(i, link): (usize, &Json)| {
        let at = format!("links[{i}]");
        let link = members(link, &at, &["from", "to", "latency_ns", "bytes_per_s"])?;
        let end = |name| -> Result<DeviceSpec, String> {
            let spec = text(link, &at, name)?;
            spec.parse::<DeviceSpec>().map_err(|error| format!("{at}.{name} '{spec}' is malformed: {error}"))
        };
        let rate = |name: &str| number(link.get(name).unwrap_or(&Json::Null), &format!("{at}.{name}"));
        Ok(Link { from: end("from")?, to: end("to")?, rate: (rate("latency_ns")?, rate("bytes_per_s")?) })
    };
    json.iter().enumerate().map(read).collect()
}
