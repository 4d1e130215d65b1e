//! Devices with separate memory: the simulated accelerator, and a toy device written by the accelerator's
//! README.
#![forbid(unsafe_code)]

mod edited;
mod steps;
mod together;
mod toy;

use std::sync::Arc;
use std::time::{Duration, Instant};

use befrost::device::{DeviceCounts, DeviceFactory};
use befrost::{Datum, HostTensor, Program, Runtime};
use befrost_compiler::device::{DeviceOptions, Partition};
use befrost_compiler::emit::{EmitOptions, emit_parts};
use befrost_compiler::pass::PassManager;
use befrost_compiler::passes::default_pipeline;
use befrost_compiler::syntax::{ParseOptions, parse};
use befrost_compiler::verify::{Verified, verify};
use befrost_sim::SIM;

/// The full name of a device of this process.
fn full(device: &str) -> String {
    format!("/job:localhost/replica:0/task:0/device:{device}")
}

/// The BEF file of a text, in which `@CPU:0` and the like stand for full names. The text is a program of
/// kernels; with `devices` it is an op graph, which is compiled for these.
fn compiled(text: &str, devices: Option<&str>) -> Vec<u8> {
    match devices {
        Some(devices) => {
            let options = DeviceOptions { devices: devices.to_owned(), ..DeviceOptions::default() };
            compiled_with(text, &options, 2)
        }
        None => emitted(text, |module| module),
    }
}

/// The BEF file of an op graph, as for [`compiled`], at a level of optimization.
fn compiled_with(text: &str, options: &DeviceOptions, level: u8) -> Vec<u8> {
    emitted(text, |module| {
        let pipeline = default_pipeline(&module, level, options).expect("an op graph");
        let mut passes = PassManager::parse(&pipeline).expect("a pipeline");
        passes.run(module).unwrap_or_else(|said| panic!("{said:?}")).0
    })
}

fn emitted(text: &str, pass: impl FnOnce(Verified) -> Verified) -> Vec<u8> {
    let text = ["CPU:0", "CPU:1", "SIM:0", "SIM:1", "TOY:0"].iter().fold(text.to_owned(), |text, device| {
        text.replace(&format!("@{device}\""), &format!("{}\"", full(device)))
    });
    let parsed = parse("test.mlir", &text, &ParseOptions::default());
    let module = parsed.module.unwrap_or_else(|| panic!("{:?}", parsed.diagnostics));
    let module = pass(verify(module).unwrap_or_else(|said| panic!("{said:?}")));
    let bef = emit_parts(&module, &EmitOptions::default()).unwrap_or_else(|said| panic!("{said:?}"));
    bef.to_vec()
}

fn runtime(devices: &str, queue: &str, factories: &[DeviceFactory]) -> Runtime {
    let builder = Runtime::builder().devices(devices).work_queue(queue);
    factories
        .iter()
        .fold(builder, |builder, &factory| builder.device_factory(factory))
        .build()
        .expect("a runtime")
}

fn call(program: &Program, x: &[f32]) -> Vec<Datum> {
    let x = HostTensor::from_vec([x.len()], x.to_vec()).expect("a tensor");
    program.function("main").expect("main").call([x.into()]).expect("a call")
}

fn values(datum: &Datum) -> Vec<f32> {
    datum.tensor().expect("a tensor").to_vec().expect("floats")
}

fn counts(runtime: &Runtime, device: &str) -> DeviceCounts {
    let number = runtime.devices().find(&full(device)).expect("the device");
    runtime.devices().get(number).expect("the device").counts()
}

/// A chain of `n` negations on SIM:0.
fn chain(n: usize) -> String {
    let mut text = String::from(
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %v0 = dev.transfer %x to \"@SIM:0\" : tensor<4xf32>\n",
    );
    for i in 0..n {
        text += &format!(
            "  %v{} = \"tf.Neg\"(%v{i}) {{bef.device = \"@SIM:0\"}} : (tensor<4xf32>) -> tensor<4xf32>\n",
            i + 1
        );
    }
    text + &format!(
        "  %y = dev.transfer %v{n} to \"@CPU:0\" : tensor<4xf32>\n  tfrt.return %y : tensor<4xf32>\n}}"
    )
}

#[test]
fn the_host_waits_once_for_a_chain() {
    let bef = compiled(&chain(1000), None);
    for queue in ["s", "mstd:2", "seeded:3"] {
        let runtime = runtime("CPU:1,SIM:1", queue, &[SIM]);
        let program = runtime.load_bytes(&bef).expect("it loads");
        let results = call(&program, &[1.0, -2.0, 3.0, 4.0]);
        assert_eq!(values(&results[0]), [1.0, -2.0, 3.0, 4.0], "{queue}");
        let DeviceCounts { launches, copies, waits } = counts(&runtime, "SIM:0");
        assert_eq!((launches, copies, waits), (1000, 2, 1), "{queue}");
    }
}

#[test]
fn streams_wait_for_each_other() {
    // Two diamonds. Their costs make the stream analysis assign the halves to different streams.
    let text = r#"func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = dev.transfer %x to "@SIM:0" : tensor<4xf32>
  %b = "tf.Neg"(%a) {bef.device = "@SIM:0", _tfrt_cost = 1000000 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %c = "tf.Square"(%a) {bef.device = "@SIM:0", _tfrt_cost = 1000000 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %d = "tf.AddV2"(%b, %c) {bef.device = "@SIM:0"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %e = "tf.Square"(%d) {bef.device = "@SIM:0", _tfrt_cost = 1000000 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %f = "tf.Sub"(%e, %c) {bef.device = "@SIM:0"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = dev.transfer %f to "@CPU:0" : tensor<4xf32>
  tfrt.return %y : tensor<4xf32>
}"#;
    let bef = compiled(text, None);
    for devices in ["CPU:1,SIM:1", "CPU:1,SIM:1{streams=3}", "CPU:1,SIM:1{streams=2,link=5us/10GB,speed=0.5}"]
    {
        let program = runtime(devices, "mstd:2", &[SIM]).load_bytes(&bef).expect("it loads");
        for _ in 0..20 {
            assert_eq!(
                values(&call(&program, &[1.0, 2.0, 3.0, -1.0])[0]),
                [-1.0, 0.0, 27.0, 3.0],
                "{devices}"
            );
        }
    }
}

#[test]
fn a_kernel_of_the_host_never_reads_the_memory_of_a_device() {
    // If the memory is known at load time, the file is refused with both locations.
    let refused = |text: &str| {
        let bef = compiled(text, None);
        let error = runtime("CPU:2,SIM:2", "s", &[SIM]).load_bytes(&bef).expect_err("it is refused");
        error.to_string().replace("/job:localhost/replica:0/task:0/device:", "")
    };
    let host = refused(
        r#"func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = "tf.Neg"(%x) {bef.device = "@SIM:0"} : (tensor<4xf32>) -> tensor<4xf32>
  %b = "tf.Abs"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  tfrt.return %b : tensor<4xf32>
}"#,
    );
    let want = "test.mlir:3:8: operand #0 of 'tf.Abs' lies in the memory of SIM:0, where 'tf.Neg' \
                (test.mlir:2:8) leaves it; the kernel reads the host's memory, for CPU:0";
    assert!(host.contains(want), "{host}");
    let other = refused(
        r#"func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = dev.transfer %x to "@SIM:0" : tensor<4xf32>
  %b = "tf.Abs"(%a) {bef.device = "@SIM:1"} : (tensor<4xf32>) -> tensor<4xf32>
  %c = dev.transfer %b to "@CPU:0" : tensor<4xf32>
  tfrt.return %c : tensor<4xf32>
}"#,
    );
    assert!(
        other.contains("'dev.transfer' (test.mlir:2:8) leaves it; the kernel reads that of SIM:1"),
        "{other}"
    );
    // The memory of a value that a function returns is unknown at load time. The kernel returns an error.
    let text = r#"func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = tfrt.call @inner(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = "tf.Abs"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  tfrt.return %b : tensor<4xf32>
}
func.func @inner(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = "tf.Neg"(%x) {bef.device = "@SIM:0"} : (tensor<4xf32>) -> tensor<4xf32>
  tfrt.return %a : tensor<4xf32>
}"#;
    for queue in ["s", "mstd:2"] {
        let program =
            runtime("CPU:1,SIM:1", queue, &[SIM]).load_bytes(&compiled(text, None)).expect("it loads");
        let results = call(&program, &[1.0, 2.0, 3.0, 4.0]);
        let error = results[0].error().expect("an error");
        assert_eq!(error.location(), Some("test.mlir:3:8"), "{queue}");
    }
}

#[test]
fn a_chain_of_the_host_waits_for_a_value_in_the_memory_of_a_device() {
    let text = r#"func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = "tf.Neg"(%x) {bef.device = "@SIM:0"} : (tensor<4xf32>) -> tensor<4xf32>
  %c = tfrt.merge.chains %a : tensor<4xf32>
  %b = "tf.Abs"(%x, %c) : (tensor<4xf32>, !tfrt.chain) -> tensor<4xf32>
  tfrt.return %b : tensor<4xf32>
}"#;
    for queue in ["s", "mstd:2"] {
        let loaded = runtime("CPU:1,SIM:1", queue, &[SIM]).load_bytes(&compiled(text, None));
        let results = call(&loaded.expect("it loads"), &[-1.0, 2.0, -3.0, 4.0]);
        assert_eq!(values(&results[0]), [1.0, 2.0, 3.0, 4.0], "{queue}");
    }
}

#[test]
fn memory_is_counted_and_limited() {
    let text = r#"func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %a = dev.transfer %x to "@SIM:0" : tensor<?xf32>
  %b = "tf.Neg"(%a) {bef.device = "@SIM:0"} : (tensor<?xf32>) -> tensor<?xf32>
  %c = "tf.Abs"(%b) {bef.device = "@SIM:0"} : (tensor<?xf32>) -> tensor<?xf32>
  %d = dev.transfer %c to "@CPU:0" : tensor<?xf32>
  tfrt.return %d : tensor<?xf32>
}"#;
    let bef = compiled(text, None);
    let runtime = runtime("CPU:1,SIM:1{memory=64kB}", "s", &[SIM]);
    let program = runtime.load_bytes(&bef).expect("it loads");
    let sim = runtime.devices().get(1).expect("the device").clone();
    assert_eq!(values(&call(&program, &vec![-1.0; 1000])[0]), [1.0; 1000]);
    sim.quiesce();
    assert_eq!((sim.memory().bytes_in_use(), sim.memory().capacity()), (0, Some(64_000)));
    let results = call(&program, &vec![1.0; 10_000]);
    let error = results[0].error().expect("too much");
    assert_eq!(error.code(), befrost::ErrorCode::ResourceExhausted);
    assert_eq!(error.location(), Some("test.mlir:3:8"), "{error}");
    sim.quiesce();
    assert_eq!((sim.memory().bytes_in_use(), sim.health().is_ok()), (0, true));
    assert_eq!(values(&call(&program, &[2.0])[0]), [2.0], "the next call");
}

#[test]
fn a_fault_poisons_its_stream_and_nothing_else() {
    let text = r#"func.func @main(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %a = dev.transfer %x to "@SIM:0" : tensor<?xf32>
  %b = "tf.Neg"(%a) {bef.device = "@SIM:0"} : (tensor<?xf32>) -> tensor<?xf32>
  %c = "tf.Abs"(%b) {bef.device = "@SIM:0"} : (tensor<?xf32>) -> tensor<?xf32>
  %d = dev.transfer %c to "@CPU:0" : tensor<?xf32>
  %e = dev.transfer %x to "@SIM:1" : tensor<?xf32>
  %f = "tf.Square"(%e) {bef.device = "@SIM:1"} : (tensor<?xf32>) -> tensor<?xf32>
  %g = dev.transfer %f to "@CPU:0" : tensor<?xf32>
  %h = "tf.Neg"(%x) : (tensor<?xf32>) -> tensor<?xf32>
  tfrt.return %d, %g, %h : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}"#;
    let runtime = runtime("CPU:1,SIM:1{fail-after=2},SIM:1", "mstd:2", &[SIM]);
    let program = runtime.load_bytes(&compiled(text, None)).expect("it loads");
    for (at, launch) in [("test.mlir:4:8", 2), ("test.mlir:3:8", 2)] {
        let results = call(&program, &[1.0, 2.0]);
        let error = results[0].error().expect("the fault");
        assert_eq!((error.code(), error.location()), (befrost::ErrorCode::Unavailable, Some(at)));
        assert_eq!(error.message(), format!("{}: launch {launch} faulted", full("SIM:0")));
        assert_eq!((values(&results[1]), values(&results[2])), (vec![1.0, 4.0], vec![-1.0, -2.0]));
    }
    let health = |i| runtime.devices().get(i).expect("a device").health();
    assert!(health(0).is_ok() && health(1).is_err() && health(2).is_ok());
}

/// Each runtime has its own devices: a program of one cannot use those of another.
#[test]
fn device_sets_are_those_of_the_runtime() {
    let one = runtime("CPU:1,SIM:1", "s", &[SIM]);
    assert_eq!(one.devices().len(), 2);
    let names: Vec<String> = one.devices().iter().map(|device| device.name().to_string()).collect();
    assert_eq!(names, [full("CPU:0"), full("SIM:0")]);
    let refused = Runtime::builder().devices("CPU:1,SIM:1").build().err().expect("no such kind");
    assert_eq!(refused.to_string(), "there are no devices of kind SIM; there are: CPU");
    // The host's CPU:0 is there even if it is not listed.
    let first = runtime("SIM:1", "s", &[SIM]);
    assert_eq!(first.devices().get(0).map(|device| device.name().to_string()), Some(full("CPU:0")));
    _ = Arc::strong_count(first.devices().get(1).expect("SIM:0"));
}

#[test]
fn as_many_devices_as_possible_are_placed_divided_and_loaded() {
    let text = r#"func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = "tf.Neg"(%x) {device = "/device:CPU:65534"} : (tensor<4xf32>) -> tensor<4xf32>
  %b = "tf.AddV2"(%a, %a) {device = "/device:CPU:33333"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  tfrt.return %b : tensor<4xf32>
}"#;
    let start = Instant::now();
    let devices = "CPU:65535";
    for partition in [Partition::None, Partition::Device] {
        let options = DeviceOptions { devices: devices.to_owned(), partition, ..DeviceOptions::default() };
        let program = runtime(devices, "s", &[]).load_bytes(&compiled_with(text, &options, 0));
        let results = call(&program.expect("it loads"), &[1.0, -2.0, 3.0, 4.0]);
        assert_eq!(values(&results[0]), [-2.0, 4.0, -6.0, -8.0], "{partition:?}");
    }
    // Some seconds, if not alone; the number of devices squared would be minutes.
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    let refused = Runtime::builder().devices(devices).work_queue("mstd:2").build().err().expect("threads");
    assert!(refused.to_string().contains("would have 65535 threads; at most 4096"), "{refused}");
    let refused = Runtime::builder().devices("CPU:65536").build().err().expect("devices");
    assert!(refused.to_string().contains("65535"), "{refused}");
}

#[test]
fn a_constant_stays_on_the_devices_that_read_it() {
    let text = r#"func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = "tf.Const"() {value = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %a = "tf.AddV2"(%x, %c) {device = "/device:SIM:0"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %b = "tf.Mul"(%a, %c) {device = "/device:SIM:0"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %d = "tf.Sub"(%b, %c) {device = "/device:SIM:1"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  tfrt.return %d : tensor<4xf32>
}"#;
    let want = [1.0, 4.0, 9.0, 16.0];
    for (level, queue) in [(0, "s"), (2, "mstd:2")] {
        let options = DeviceOptions { devices: "CPU:1,SIM:2".to_owned(), ..DeviceOptions::default() };
        let bef = compiled_with(text, &options, level);
        let healthy = runtime("CPU:1,SIM:2", queue, &[SIM]);
        let program = healthy.load_bytes(&bef).expect("it loads");
        (0..5).for_each(|_| assert_eq!(values(&call(&program, &[1.0; 4])[0]), want, "-O{level}"));
        // In each call SIM:0 gets %x and gives %b, SIM:1 gets %b and gives %d.
        let copies = ["SIM:0", "SIM:1"].map(|device| counts(&healthy, device).copies);
        assert_eq!(copies, [5 * 2 + 1; 2], "-O{level}");
        // The second copy of each is the constant's. If it fails, it is made again in the next call.
        let program = runtime("CPU:1,SIM:2{fail-copy=2}", queue, &[SIM]).load_bytes(&bef).expect("it loads");
        let fails = (0..4).map(|_| call(&program, &[1.0; 4])[0].error().is_some());
        assert_eq!(fails.collect::<Vec<bool>>(), [true, true, false, false], "-O{level}");
        assert_eq!(values(&call(&program, &[1.0; 4])[0]), want, "-O{level}");
    }
}
