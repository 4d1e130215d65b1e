//! Networks on several devices: a pipeline of stages placed by the policy `list`, and a training step of two
//! towers.

use befrost::{CallOptions, Datum, HostTensor, Resources, Runtime};
use befrost_compiler::device::{DeviceOptions, Partition};
use befrost_compiler::emit::{EmitOptions, emit_parts};
use befrost_compiler::ir::{Module, OpId};
use befrost_compiler::pass::{Event, PassManager, RunOptions};
use befrost_compiler::passes::default_pipeline;
use befrost_compiler::syntax::{ParseOptions, parse};
use befrost_compiler::verify::verify;
use befrost_testing::dice::Dice;

const PIPELINE: &str = include_str!("../../../testdata/devices/pipeline.mlir");
const TOWERS: &str = include_str!("../../../testdata/devices/towers.mlir");

/// The BEF file of a program compiled for these devices, and the printed table of the placement.
fn compiled(text: &str, devices: &str, partition: Partition) -> (Vec<u8>, String) {
    let options =
        DeviceOptions { devices: devices.to_owned(), partition, print: true, ..DeviceOptions::default() };
    let module = parse("test.mlir", text, &ParseOptions::default()).module.expect("a program");
    let module = verify(module).unwrap_or_else(|said| panic!("{said:?}"));
    let pipeline = default_pipeline(&module, 2, &options).expect("an op graph");
    let mut passes = PassManager::parse(&pipeline).expect("a pipeline");
    let mut table = String::new();
    let mut observe = |event: Event<'_>, _: &Module, _: OpId| {
        if let Event::Text(text) = event {
            table.push_str(text);
        }
    };
    let mut options = RunOptions { observer: Some(&mut observe), ..RunOptions::default() };
    let (module, _) = passes.run_with(module, &mut options).unwrap_or_else(|said| panic!("{said:?}"));
    let bef = emit_parts(&module, &EmitOptions::default()).unwrap_or_else(|said| panic!("{said:?}"));
    (bef.to_vec(), table)
}

fn random(dims: [usize; 2], seed: u64) -> HostTensor {
    let mut dice = Dice(seed);
    let values = (0..dims[0] * dims[1]).map(|_| dice.below(2001) as f32 / 1000.0 - 1.0).collect();
    HostTensor::from_vec(dims, values).expect("a tensor")
}

fn floats(datum: &Datum) -> Vec<f32> {
    datum.tensor().expect("a tensor").to_vec().expect("floats")
}

fn runtime(devices: &str, queue: &str) -> Runtime {
    Runtime::builder().devices(devices).work_queue(queue).build().expect("a runtime")
}

#[test]
fn stages_are_shared_out_and_give_the_same() {
    let x = random([360, 64], 11);
    let call = |bef: &[u8], devices: &str, queue: &str| {
        let program = runtime(devices, queue).load_bytes(bef).expect("it loads");
        floats(&program.function("main").expect("main").call([x.clone().into()]).expect("a call")[0])
    };
    let (one, _) = compiled(PIPELINE, "CPU:1", Partition::None);
    let want = call(&one, "CPU:1", "s");
    for partition in [Partition::None, Partition::Device] {
        let (two, table) = compiled(PIPELINE, "CPU:2", partition);
        let makespan = |text: &str| text.split("makespan ").nth(1)?.split(' ').next()?.parse::<f64>().ok();
        let busy: f64 =
            table.split("busy ").skip(1).filter_map(|rest| rest.split(' ').next()?.parse::<f64>().ok()).sum();
        let makespan = makespan(&table).expect("a makespan");
        assert!(makespan < 0.7 * busy, "{makespan} us on two devices, {busy} us of work:\n{table}");
        for queue in ["s", "mstd:2", "seeded:5"] {
            assert_eq!(call(&two, "CPU:2", queue), want, "{partition:?} on {queue}");
        }
    }
}

#[test]
fn two_towers_take_the_same_steps_as_one_device() {
    let (x, want) = (random([8, 3], 3), random([8, 1], 4));
    let steps = |devices: &str, partition: Partition, queue: &str| {
        let (bef, _) = compiled(TOWERS, devices, partition);
        let program = runtime(devices, queue).load_bytes(&bef).expect("it loads");
        let options = CallOptions { resources: Resources::default(), ..CallOptions::default() };
        let call = |name: &str, arguments: Vec<Datum>| {
            program.function(name).expect("a function").call_with(arguments, &options).expect("a call")
        };
        call("init", Vec::new());
        let step = |_| {
            let results = call("step", vec![x.clone().into(), want.clone().into()]);
            results.iter().flat_map(floats).collect::<Vec<f32>>()
        };
        (0..5).map(step).collect::<Vec<_>>()
    };
    let one = steps("CPU:1", Partition::None, "s");
    assert!(one[4][0] < 0.9 * one[0][0], "the loss falls: {one:?}");
    for partition in [Partition::None, Partition::Device] {
        for queue in ["s", "mstd:3", "seeded:9"] {
            let found = steps("CPU:3", partition, queue);
            let pairs = found.iter().flatten().zip(one.iter().flatten());
            let off = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(off < 1e-5, "{partition:?} on {queue}: {off}");
        }
    }
}
