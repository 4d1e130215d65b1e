//! `--calibrate`: measures what devices do in a second, as a file for `--devices @set.json`.
//!
//! ```text
//! overhead    a chain of scalar operators, by operator
//! flops       products of matrices, less the overhead
//! bandwidth   sums of long vectors, less the overhead
//! link        a chain that goes to and fro between device and host, with one element and with many
//! ```
//!
//! Each is the least time of several calls, so that other work on the machine counts little. Devices of a
//! kind with the same properties are measured once.

use std::collections::HashMap;
use std::time::Instant;

use bef_format::device::{DeviceConfig, DeviceName, DeviceSet};
use befrost::{HostTensor, Runtime};
use befrost_compiler::device::DeviceOptions;
use befrost_compiler::emit::{EmitOptions, emit_parts};
use befrost_compiler::pass::PassManager;
use befrost_compiler::passes::default_pipeline;
use befrost_compiler::syntax::{ParseOptions, parse};
use befrost_compiler::verify::verify;
use serde_json::{Map, Value as Json, json};

use crate::cli::failure::Failure;

/// Calls of which the fastest counts.
const CALLS: usize = 12;
/// Operators of a chain.
const CHAIN: usize = 40;
/// Rows and columns of a matrix.
const SIDE: usize = 256;
/// Elements of a long vector.
const LONG: usize = 1 << 20;
/// The least time that is believed, in nanoseconds.
const LEAST: f64 = 1.0;

/// The rates of a device.
#[derive(Clone, Copy)]
struct Rates {
    overhead_ns: f64,
    flops: f64,
    bandwidth: f64,
    /// Latency in nanoseconds, and bytes per second.
    link: Option<(f64, f64)>,
}

/// Measures the devices of a set, as JSON.
pub(super) fn calibrated(devices: &str, queue: &str) -> Result<String, Failure> {
    let set: DeviceSet = devices.parse().map_err(|error| Failure::Usage(format!("the devices: {error}")))?;
    // The first device is the client's in any case.
    let set = set.with_client("CPU");
    let runtime = Runtime::builder().device_factory(befrost_sim::SIM).work_queue(queue).devices(devices);
    let runtime = runtime.build().map_err(|error| Failure::Refused(error.to_string()))?;
    let host = set.devices().next().map_or_else(String::new, |(name, _)| name.to_string());
    let bench = Bench { runtime, devices: devices.to_owned(), host };
    let mut known: HashMap<String, Rates> = HashMap::new();
    let (mut all, mut links) = (Vec::new(), Vec::new());
    for (name, config) in set.devices() {
        let kind = format!("{}{config}", name.kind());
        let rates = match known.get(&kind) {
            Some(&rates) => rates,
            None => bench.rates(name)?,
        };
        known.insert(kind, rates);
        all.push(device(name, config, rates));
        if let Some((latency, rate)) = rates.link {
            let (from, to) = (&bench.host, name.to_string());
            links.push(json!({ "from": from, "to": to, "latency_ns": latency, "bytes_per_s": rate }));
        }
    }
    Ok(format!("{:#}\n", json!({ "devices": all, "links": links })))
}

/// The entry of a device: the properties that were given, and the measured ones.
fn device(name: &DeviceName, config: &DeviceConfig, rates: Rates) -> Json {
    let mut entry = Map::new();
    entry.insert("name".to_owned(), json!(name.to_string()));
    let given = [
        ("threads", config.threads.map(u64::from)),
        ("memory", config.memory),
        ("streams", config.streams.map(u64::from)),
    ];
    for (property, value) in given.into_iter().filter_map(|(property, value)| Some((property, value?))) {
        entry.insert(property.to_owned(), json!(value));
    }
    if let Some(cores) = &config.cores {
        entry.insert("cores".to_owned(), json!(format!("{}-{}", cores.start(), cores.end())));
    }
    entry.insert("flops".to_owned(), json!({ "f32": rates.flops.round() }));
    entry.insert("bandwidth".to_owned(), json!(rates.bandwidth.round()));
    entry.insert("overhead_ns".to_owned(), json!(rates.overhead_ns));
    Json::Object(entry)
}

/// A runtime on which programs are timed.
struct Bench {
    runtime: Runtime,
    devices: String,
    host: String,
}

impl Bench {
    fn rates(&self, name: &DeviceName) -> Result<Rates, Failure> {
        let here = name.to_string();
        let scalar: &[usize] = &[];
        let n = CHAIN as f64;
        let overhead_ns = (self.nanoseconds("Neg", scalar, [&here, &here])? / n).max(LEAST);
        let net = |time: f64| (time / n - overhead_ns).max(LEAST) / 1e9;
        let product = net(self.nanoseconds("MatMul", &[SIDE, SIDE], [&here, &here])?);
        let sum = net(self.nanoseconds("AddV2", &[LONG], [&here, &here])?);
        let link = match name.kind() {
            // Its memory is the host's.
            "CPU" => None,
            _ => {
                let latency_ns = net(self.nanoseconds("Neg", scalar, [&here, &self.host])?) * 1e9;
                let long = self.nanoseconds("Neg", &[LONG], [&here, &self.host])?;
                let one_side = self.nanoseconds("Neg", &[LONG], [&here, &here])?;
                let copies = ((long - one_side) / n - latency_ns).max(LEAST) / 1e9;
                Some((latency_ns, (4 * LONG) as f64 / copies))
            }
        };
        // Two operands are read, and one result is written.
        let (flops, bytes) = ((2 * SIDE * SIDE * SIDE) as f64, (3 * 4 * LONG) as f64);
        Ok(Rates { overhead_ns, flops: flops / product, bandwidth: bytes / sum, link })
    }

    /// The time of a chain of operators, on two devices in turn.
    fn nanoseconds(&self, op: &str, dims: &[usize], on: [&str; 2]) -> Result<f64, Failure> {
        let refused = |why: String| Failure::Refused(format!("cannot measure {}: {why}", on[0]));
        let bef = self.compiled(&chain(op, dims, on)).map_err(refused)?;
        let program = self.runtime.load_bytes(&bef).map_err(|error| refused(error.to_string()))?;
        let function = program.function("main").map_err(|error| refused(error.to_string()))?;
        let values = vec![1.0f32 / SIDE as f32; dims.iter().product()];
        let x = HostTensor::from_vec(dims, values).map_err(|error| refused(error.to_string()))?;
        let mut least = f64::INFINITY;
        for _ in 0..CALLS {
            let start = Instant::now();
            let results = function.call([x.clone().into()]).map_err(|error| refused(error.to_string()))?;
            least = least.min(start.elapsed().as_nanos() as f64);
            if let Some(error) = results.iter().find_map(|result| result.error()) {
                return Err(refused(error.to_string()));
            }
        }
        Ok(least)
    }

    fn compiled(&self, text: &str) -> Result<Vec<u8>, String> {
        let options = DeviceOptions { devices: self.devices.clone(), ..DeviceOptions::default() };
        let parsed = parse("calibration", text, &ParseOptions::default());
        let module = verify(parsed.module.ok_or("no program")?).map_err(|said| format!("{said:?}"))?;
        let pipeline = default_pipeline(&module, 0, &options).ok_or("no op graph")?;
        let mut passes = PassManager::parse(&pipeline).map_err(|error| error.message)?;
        let (module, _) = passes.run(module).map_err(|said| format!("{said:?}"))?;
        let bef = emit_parts(&module, &EmitOptions::default()).map_err(|said| format!("{said:?}"))?;
        Ok(bef.to_vec())
    }
}

/// A chain of operators on devices in turn.
fn chain(op: &str, dims: &[usize], on: [&str; 2]) -> String {
    let ty = dims.iter().fold("tensor<".to_owned(), |text, dim| format!("{text}{dim}x")) + "f32>";
    let mut text = format!("func.func @main(%v0: {ty}) -> {ty} {{\n");
    for i in 0..CHAIN {
        let (operands, types) = match op {
            "Neg" => (format!("%v{i}"), ty.clone()),
            _ => (format!("%v{i}, %v0"), format!("{ty}, {ty}")),
        };
        let device = on[i % 2];
        let next = i + 1;
        text +=
            &format!("  %v{next} = \"tf.{op}\"({operands}) {{device = \"{device}\"}} : ({types}) -> {ty}\n");
    }
    text + &format!("  tfrt.return %v{CHAIN} : {ty}\n}}\n")
}
