//! Steps of divided programs: many at once, and those that end before all values have been received.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use befrost::mem::{AllocError, Allocator, Block, LeakCheck, Live, Malloc};
use befrost::{CallOptions, Cancellation, Datum, ErrorCode, HostTensor, Program, Recorder, Runtime};
use befrost_compiler::device::{DeviceOptions, Partition};
use serde_json::Value as Json;

use super::{compiled, compiled_with};

/// A loop on two devices, whose counter and whose sum cross in every iteration.
const COUNTED: &str = r#"
func.func @main(%n: tensor<i32>, %x: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %r:4 = "tf.While"(%zero, %n, %x, %x) {cond = @cond, body = @body} : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>)
  tfrt.return %r#2, %r#3 : tensor<i32>, tensor<i32>
}
func.func private @cond(%i: tensor<i32>, %n: tensor<i32>, %x: tensor<i32>, %y: tensor<i32>) -> tensor<i1> {
  %p = "tf.Less"(%i, %n) {device = "/cpu:0"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
  tfrt.return %p : tensor<i1>
}
func.func private @body(%i: tensor<i32>, %n: tensor<i32>, %x: tensor<i32>, %y: tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %three = "tf.Const"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %j = "tf.AddV2"(%i, %one) {device = "/cpu:0"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %m = "tf.Mul"(%x, %three) {device = "/cpu:1"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %a = "tf.AddV2"(%m, %i) {device = "/cpu:1"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %b = "tf.Sub"(%a, %y) {device = "/cpu:0"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
  tfrt.return %j, %n, %a, %b : tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>
}
"#;

/// The number of threads that call the program, and how often each does.
const N_THREADS: i32 = 8;
const N_CALLS: i32 = if cfg!(debug_assertions) { 500 } else { 10_000 };

/// The results of `COUNTED`.
fn counted(n: i32, x: i32) -> [i32; 2] {
    (0..n).fold([x, x], |[x, y], i| {
        let a = x.wrapping_mul(3).wrapping_add(i);
        [a, a.wrapping_sub(y)]
    })
}

fn scalar(x: i32) -> Datum {
    let shape: [usize; 0] = [];
    HostTensor::from_vec(shape, vec![x]).expect("a number").into()
}

fn parts(devices: &str) -> DeviceOptions {
    DeviceOptions { devices: devices.to_owned(), partition: Partition::Device, ..DeviceOptions::default() }
}

fn runtime(queue: &str, memory: &Arc<LeakCheck>) -> Runtime {
    let builder = Runtime::builder().devices("CPU:2").work_queue(queue);
    builder.allocator(memory.clone()).build().expect("a runtime")
}

/// Waits until no memory is in use: kernels of a call may end after its results are there.
fn assert_nothing_left(memory: &LeakCheck) {
    let patience = Instant::now() + Duration::from_secs(10);
    while memory.live() != Live::default() {
        assert!(Instant::now() < patience, "memory is left: {:?}", memory.live());
        thread::yield_now();
    }
}

#[test]
fn many_steps_of_a_program_are_not_mixed_up() {
    for level in [0, 2] {
        let bef = compiled_with(COUNTED, &parts("CPU:2"), level);
        let memory = Arc::new(LeakCheck::new(Malloc::shared()));
        let runtime = runtime("mstd:2", &memory);
        let program = runtime.load_bytes(&bef).expect("it loads");
        let all = |thread: i32| {
            let main = program.function("main").expect("main");
            for call in 0..N_CALLS {
                let (n, x) = (call % 7, thread * 100_000 + call);
                let results = main.call([scalar(n), scalar(x)]).expect("a call");
                let found: Vec<i32> = results
                    .iter()
                    .flat_map(|result| result.tensor().expect("a number").to_vec::<i32>().expect("an i32"))
                    .collect();
                assert_eq!(found, counted(n, x), "-O{level}, thread {thread}, call {call}");
            }
        };
        thread::scope(|scope| (0..N_THREADS).for_each(|thread| _ = scope.spawn(move || all(thread))));
        drop((program, runtime));
        assert_nothing_left(&memory);
    }
}

/// Part B receives only when it has counted to `n`; meanwhile part A's value is in flight.
const WAITING: &str = r#"
func.func @main(%n: i32, %x: tensor<1024xf32>) -> (tensor<1024xf32>, tensor<1024xf32>) {
  %s = dev.step
  %a = tfrt.call @main.A(%x, %s) : (tensor<1024xf32>, !dev.step) -> tensor<1024xf32>
  %b = tfrt.call @main.B(%n, %s) : (i32, !dev.step) -> tensor<1024xf32>
  tfrt.return %a, %b : tensor<1024xf32>, tensor<1024xf32>
}
func.func private @main.A(%x: tensor<1024xf32>, %s: !dev.step) -> tensor<1024xf32> {
  %y = "tf.Neg"(%x) : (tensor<1024xf32>) -> tensor<1024xf32>
  dev.send %y in %s channel 0 to "B" : tensor<1024xf32>
  %z = dev.recv in %s channel 1 from "B" : tensor<1024xf32>
  tfrt.return %z : tensor<1024xf32>
}
func.func private @main.B(%n: i32, %s: !dev.step) -> tensor<1024xf32> {
  %zero = tfrt.constant.i32 0
  %go = tfrt.constant.i1 true
  %i, %m = tfrt.while %go @count(%zero, %n) parallel_iterations(1) : (i32, i32) -> (i32, i32)
  %done = tfrt.merge.chains %i : i32
  %y = dev.recv in %s after %done channel 0 from "A" : tensor<1024xf32>
  %z = "tf.Abs"(%y) : (tensor<1024xf32>) -> tensor<1024xf32>
  dev.send %z in %s channel 1 to "A" : tensor<1024xf32>
  tfrt.return %z : tensor<1024xf32>
}
func.func private @count(%i: i32, %n: i32) -> (i32, i32, i1) {
  %one = tfrt.constant.i32 1
  %j = tfrt.add.i32 %i, %one
  %more = "tfrt.lessequal.i32"(%j, %n) : (i32, i32) -> i1
  tfrt.return %j, %n, %more : i32, i32, i1
}
"#;

/// The values of all results, or the code of the first error.
fn outcome(program: &Program, n: i32, cancellation: Cancellation) -> Result<Vec<f32>, ErrorCode> {
    let x = HostTensor::from_vec([1024], vec![2f32; 1024]).expect("a tensor");
    let options = CallOptions { cancellation, ..CallOptions::default() };
    let main = program.function("main").expect("main");
    let results = main.call_with([Datum::from(n), x.into()], &options).expect("a call");
    if let Some(error) = results.iter().find_map(Datum::error) {
        return Err(error.code());
    }
    let first = |result: &Datum| result.tensor().expect("a tensor").to_vec::<f32>().expect("floats")[0];
    Ok(results.iter().map(first).collect())
}

#[test]
fn what_is_in_flight_at_the_end_is_dropped() {
    let bef = compiled(WAITING, None);
    for queue in ["s", "mstd:2", "seeded:3"] {
        let memory = Arc::new(LeakCheck::new(Malloc::shared()));
        let runtime = runtime(queue, &memory);
        let program = runtime.load_bytes(&bef).expect("it loads");
        let never = i32::MAX;
        let deadline = Cancellation::with_deadline(Instant::now() + Duration::from_millis(50));
        assert_eq!(outcome(&program, never, deadline), Err(ErrorCode::DeadlineExceeded), "{queue}");
        let cancellation = Cancellation::default();
        thread::scope(|scope| {
            let canceller = cancellation.clone();
            scope.spawn(move || {
                thread::sleep(Duration::from_millis(50));
                canceller.cancel();
            });
            assert_eq!(outcome(&program, never, cancellation), Err(ErrorCode::Cancelled), "{queue}");
        });
        assert_eq!(outcome(&program, 9, Cancellation::default()), Ok(vec![2.0, 2.0]), "{queue}");
        drop((program, runtime));
        assert_nothing_left(&memory);
    }
}

/// Part A sends in each iteration of a loop without a frame of its own. Part B receives when A's loop is
/// over.
const DOUBLED: &str = r#"
func.func @main(%n: i32, %x: tensor<1024xf32>) -> (tensor<1024xf32>, tensor<1024xf32>) {
  %s = dev.step
  %a = tfrt.call @main.A(%n, %x, %s) : (i32, tensor<1024xf32>, !dev.step) -> tensor<1024xf32>
  %b = tfrt.call @main.B(%s) : (!dev.step) -> tensor<1024xf32>
  tfrt.return %a, %b : tensor<1024xf32>, tensor<1024xf32>
}
func.func private @main.A(%n: i32, %x: tensor<1024xf32>, %s: !dev.step) -> tensor<1024xf32> {
  %y = "tf.Neg"(%x) : (tensor<1024xf32>) -> tensor<1024xf32>
  %zero = tfrt.constant.i32 0
  %go = tfrt.constant.i1 true
  %i, %m, %z, %t = tfrt.while %go @again(%zero, %n, %y, %s) parallel_iterations(1) : (i32, i32, tensor<1024xf32>, !dev.step) -> (i32, i32, tensor<1024xf32>, !dev.step)
  dev.send %i in %s channel 1 to "B" : i32
  tfrt.return %y : tensor<1024xf32>
}
func.func private @again(%i: i32, %n: i32, %y: tensor<1024xf32>, %s: !dev.step) -> (i32, i32, tensor<1024xf32>, !dev.step, i1) {
  dev.send %y in %s channel 0 to "B" : tensor<1024xf32>
  %one = tfrt.constant.i32 1
  %j = tfrt.add.i32 %i, %one
  %more = "tfrt.lessequal.i32"(%j, %n) : (i32, i32) -> i1
  tfrt.return %j, %n, %y, %s, %more : i32, i32, tensor<1024xf32>, !dev.step, i1
}
func.func private @main.B(%s: !dev.step) -> tensor<1024xf32> {
  %i = dev.recv in %s channel 1 from "A" : i32
  %done = tfrt.merge.chains %i : i32
  %y = dev.recv in %s after %done channel 0 from "A" : tensor<1024xf32>
  tfrt.return %y : tensor<1024xf32>
}
"#;

#[test]
fn a_second_send_ends_the_step() {
    let bef = compiled(DOUBLED, None);
    for queue in ["s", "mstd:2", "seeded:3"] {
        let memory = Arc::new(LeakCheck::new(Malloc::shared()));
        let runtime = runtime(queue, &memory);
        let program = runtime.load_bytes(&bef).expect("it loads");
        assert_eq!(outcome(&program, 1, Cancellation::default()), Err(ErrorCode::Internal), "{queue}");
        assert_eq!(outcome(&program, 0, Cancellation::default()), Ok(vec![-2.0, -2.0]), "{queue}");
        drop((program, runtime));
        assert_nothing_left(&memory);
    }
}

/// A loop in two stages: the second one reads what the first has computed, and nothing goes back.
const STAGES: &str = r#"
func.func @main(%n: tensor<i32>, %x: tensor<192x192xf32>) -> (tensor<192x192xf32>, tensor<192x192xf32>) {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %r:4 = "tf.While"(%zero, %n, %x, %x) {cond = @cond, body = @body} : (tensor<i32>, tensor<i32>, tensor<192x192xf32>, tensor<192x192xf32>) -> (tensor<i32>, tensor<i32>, tensor<192x192xf32>, tensor<192x192xf32>)
  tfrt.return %r#2, %r#3 : tensor<192x192xf32>, tensor<192x192xf32>
}
func.func private @cond(%i: tensor<i32>, %n: tensor<i32>, %x: tensor<192x192xf32>, %y: tensor<192x192xf32>) -> tensor<i1> {
  %p = "tf.Less"(%i, %n) {device = "/cpu:0"} : (tensor<i32>, tensor<i32>) -> tensor<i1>
  tfrt.return %p : tensor<i1>
}
func.func private @body(%i: tensor<i32>, %n: tensor<i32>, %x: tensor<192x192xf32>, %y: tensor<192x192xf32>) -> (tensor<i32>, tensor<i32>, tensor<192x192xf32>, tensor<192x192xf32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %j = "tf.AddV2"(%i, %one) {device = "/cpu:0"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %a = "tf.MatMul"(%x, %x) {device = "/cpu:0"} : (tensor<192x192xf32>, tensor<192x192xf32>) -> tensor<192x192xf32>
  %b = "tf.MatMul"(%y, %a) {device = "/cpu:1"} : (tensor<192x192xf32>, tensor<192x192xf32>) -> tensor<192x192xf32>
  tfrt.return %j, %n, %a, %b : tensor<i32>, tensor<i32>, tensor<192x192xf32>, tensor<192x192xf32>
}
"#;

/// Start and end of each product in a trace, by the number of the device's process.
fn products(trace: &str, process: u64) -> Vec<(f64, f64)> {
    let trace: Json = serde_json::from_str(trace).expect("JSON");
    let number = |event: &Json, name: &str| event[name].as_f64().expect("a number");
    let is_product = |event: &&Json| {
        event["name"].as_str().is_some_and(|name| name.contains("MatMul")) && event["pid"] == process
    };
    let events = trace["traceEvents"].as_array().expect("events").iter().filter(is_product);
    events.map(|event| (number(event, "ts"), number(event, "ts") + number(event, "dur"))).collect()
}

/// The number of iterations whose first stage begins before the second stage of the iteration before has
/// ended. With threads that wait for a core, kernels themselves need not run at the same time.
fn overlapping(text: &str, partition: Partition) -> usize {
    const N: i32 = 16;
    let x = HostTensor::from_vec([192, 192], vec![1.0f32 / 192.0; 192 * 192]).expect("a tensor");
    let bef = compiled_with(text, &DeviceOptions { partition, ..parts("CPU:2") }, 2);
    let recorder = Recorder::of_traces();
    let builder = Runtime::builder().devices("CPU:2{threads=1}").work_queue("mstd:2");
    let runtime = builder.recorder(&recorder).build().expect("a runtime");
    let program = runtime.load_bytes(&bef).expect("it loads");
    program.function("main").expect("main").call([scalar(N), x.into()]).expect("a call");
    let mut trace = String::new();
    recorder.write(&mut |part| trace.push_str(part));
    let (first, second) = (products(&trace, 1), products(&trace, 2));
    assert_eq!((first.len(), second.len()), (N as usize, N as usize), "{partition:?}");
    first.iter().skip(1).zip(&second).filter(|(next, this)| next.0 < this.1).count()
}

#[test]
fn iterations_of_two_devices_overlap() {
    for partition in [Partition::None, Partition::Device] {
        assert!(overlapping(STAGES, partition) > 0, "{partition:?}");
    }
    let in_turns = STAGES.replace("{cond = @cond", "{parallel_iterations = 1 : i64, cond = @cond");
    assert_eq!(overlapping(&in_turns, Partition::None), 0);
}

/// Ops in turns on two devices.
const TURNS: &str = r#"
func.func @main(%x: tensor<1048576xf32>) -> tensor<1048576xf32> {
  %a = "tf.Neg"(%x) {device = "/cpu:0"} : (tensor<1048576xf32>) -> tensor<1048576xf32>
  %b = "tf.Square"(%a) {device = "/cpu:1"} : (tensor<1048576xf32>) -> tensor<1048576xf32>
  %c = "tf.Neg"(%b) {device = "/cpu:0"} : (tensor<1048576xf32>) -> tensor<1048576xf32>
  %d = "tf.AddV2"(%c, %a) {device = "/cpu:1"} : (tensor<1048576xf32>, tensor<1048576xf32>) -> tensor<1048576xf32>
  tfrt.return %d : tensor<1048576xf32>
}
"#;

/// An allocator that adds up what was requested.
struct Requested {
    inner: Arc<dyn Allocator>,
    bytes: AtomicUsize,
}

impl Allocator for Requested {
    fn allocate(&self, size: usize, align: usize) -> Result<Block, AllocError> {
        // Relaxed: it guards no other data, and is read when the calls have ended.
        self.bytes.fetch_add(size, Ordering::Relaxed);
        self.inner.allocate(size, align)
    }

    fn release(&self, block: Block) {
        self.inner.release(block);
    }
}

#[test]
fn nothing_is_allocated_for_what_crosses_in_the_memory_of_the_host() {
    let x = HostTensor::from_vec([1 << 20], vec![2f32; 1 << 20]).expect("a tensor");
    let requested = |devices: &str, partition: Partition| {
        let bef = compiled_with(TURNS, &DeviceOptions { partition, ..parts(devices) }, 0);
        let allocator = Arc::new(Requested { inner: Malloc::shared(), bytes: AtomicUsize::new(0) });
        let builder = Runtime::builder().devices(devices).work_queue("s").allocator(allocator.clone());
        let program = builder.build().expect("a runtime").load_bytes(&bef).expect("it loads");
        let results = program.function("main").expect("main").call([x.clone().into()]).expect("a call");
        assert_eq!(results[0].tensor().expect("a tensor").to_vec::<f32>().expect("floats")[7], -6.0);
        allocator.bytes.load(Ordering::Relaxed)
    };
    let one = requested("CPU:1", Partition::None);
    assert!(one >= 2 << 22, "{one} bytes");
    for partition in [Partition::None, Partition::Device] {
        assert_eq!(requested("CPU:2", partition), one, "{partition:?}");
    }
}
