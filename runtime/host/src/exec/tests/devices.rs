//! Programs over devices with queues of their own: each kernel runs on its device, with its queue, and
//! results are those of one device.

use befrost_kernel_api::async_value::AsyncRef;
use befrost_mem::Malloc;

use super::*;
use crate::device::{MadeDevices, make};
use crate::program::LoadError;

const NAMES: [&str; 3] = [
    "/job:localhost/replica:0/task:0/device:CPU:0",
    "/job:localhost/replica:0/task:0/device:CPU:1",
    "/job:localhost/replica:0/task:0/device:CPU:2",
];

/// The kernels of the tests, and one that fails where it does not run on its device.
fn registry(made: &MadeDevices) -> Registry {
    let mut registry = Registry::new().with(kernels).with(bad_kernels);
    registry.add(kernel!("placed", |a: i32, b: i32, cx: &ExecContext| {
        if cx.device().queue().is_some_and(|queue| queue.local().local_tasks().is_none()) {
            return Err(KernelError::invalid(format!("not on {}", cx.device().name())));
        }
        Ok(a.wrapping_mul(3).wrapping_add(b).wrapping_add(i32::from(cx.device_number())))
    }));
    registry.set_devices(made.devices.clone());
    registry
}

fn devices(queue: &str) -> MadeDevices {
    make(&"CPU:3{threads=1}".parse().unwrap(), &[], (queue, false), &Malloc::shared()).unwrap()
}

impl Source {
    /// A source that names the three devices.
    fn placed() -> Source {
        let mut source = Source::new();
        NAMES.iter().for_each(|name| _ = source.writer.device(name));
        source
    }

    fn at(&mut self, device: u16, name: &str, operands: &[u32]) -> u32 {
        // Number 0 in the file is the client's without a name.
        self.device = if device == 0 { 0 } else { device + 1 };
        let made = self.kernel(name, operands);
        self.device = 0;
        made
    }
}

/// The results of the last function for the argument 1, final or late.
fn results(made: &MadeDevices, program: &Arc<Program>, late: bool) -> Vec<String> {
    let devices = Some(made.devices.clone());
    let context = ExecContext::new(Arc::new(Request { devices, ..Request::new(made.queue.clone()) }));
    let argument = if late {
        let (promise, late) = AsyncRef::pending();
        made.queue.add_task(befrost_kernel_api::queue::Task::new(move || promise.set(Value::I32(1))));
        Value::Async(late)
    } else {
        Value::I32(1)
    };
    let main = FunctionId(program.image().n_functions() - 1);
    let results = call(program, main, vec![argument], &context).unwrap();
    results.iter().map(|value| value.error().map_or_else(|| value.to_string(), ToString::to_string)).collect()
}

/// Checks the results on one queue, which all devices share, and on queues of their own.
fn check(bytes: &[u8]) {
    let one = devices("s");
    let want = results(&one, &Program::from_bytes(bytes, &registry(&one)).unwrap(), false);
    for (queue, late) in [("s", true), ("seeded:3", true), ("mstd:2", false), ("mstd:2", true)] {
        let made = devices(queue);
        let program = Program::from_bytes(bytes, &registry(&made)).unwrap();
        for _ in 0..fewer(20) {
            assert_eq!(results(&made, &program, late), want, "late: {late}, on {queue}");
        }
    }
}

#[test]
fn random_programs_give_the_results_of_one_device() {
    let mut state = 7u64;
    let mut below = move |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    for _ in 0..fewer(30) {
        let mut source = Source::placed();
        let mut functions: Vec<FunctionId> = Vec::new();
        let n_functions = 1 + below(3);
        for f in 0..n_functions {
            let mut values = vec![0];
            for _ in 0..2 + below(20) {
                let device = below(3) as u16;
                let operand = |below: &mut dyn FnMut(usize) -> usize, values: &[u32]| {
                    values[values.len() - 1 - below(values.len().min(4))]
                };
                let (a, b) = (operand(&mut below, &values), operand(&mut below, &values));
                values.push(match below(10) {
                    0 => source.at(device, "later", &[a]),
                    1 => source.at(device, "promised", &[a]),
                    2 => source.at(0, "ten", &[]),
                    3 if !functions.is_empty() => {
                        let callee = functions[below(functions.len())];
                        source.device = device;
                        let name = if below(2) == 0 { "call" } else { "repeat" };
                        let made = if name == "call" {
                            source.control("call", &[a], 1, &[callee])
                        } else {
                            let ten = source.kernel("ten", &[]);
                            source.control("repeat", &[ten, a], 1, &[callee])
                        };
                        source.device = 0;
                        made
                    }
                    4 if f == 0 => source.at(device, "fail", &[a]),
                    _ => source.at(device, "placed", &[a, b]),
                });
            }
            let last = values.len() - 1;
            if f + 1 < n_functions {
                functions.push(source.next(&format!("f{f}"), &[values[last]]));
            } else {
                let all: Vec<u32> = values.iter().rev().take(5).copied().collect();
                check(&source.bytes(&all));
                break;
            }
        }
    }
}

#[test]
fn loops_run_on_their_device() {
    // The body on device 1 alone, and on both.
    for devices in [[1, 1], [0, 1], [2, 1]] {
        let mut source = Source::placed();
        let a = source.at(devices[0], "placed", &[0, 0]);
        let b = source.at(devices[1], "placed", &[a, 0]);
        let step = source.at(devices[0], "one", &[]);
        let c = source.at(devices[0], "add", &[b, step]);
        let next = source.at(devices[1], "add", &[c, 0]);
        let more = source.at(devices[1], "less_than_100", &[next]);
        let body = source.next("body", &[next, more]);
        let yes = source.on_stream(0, "true", &[], &["i1"], &[]);
        let last = source.control("while", &[yes, 0], 1, &[body]);
        check(&source.bytes(&[last]));
    }
}

#[test]
fn a_file_for_other_devices_is_refused() {
    let mut source = Source::placed();
    let a = source.at(2, "add", &[0, 0]);
    let bytes = source.bytes(&[a]);
    let made = make(&"CPU:2".parse().unwrap(), &[], ("s", false), &Malloc::shared()).unwrap();
    let Err(LoadError::Kernels(errors)) = Program::from_bytes(&bytes, &registry(&made)) else {
        panic!("it has three devices")
    };
    let error = errors[0].to_string();
    assert!(
        error.starts_with("t:1:1: 'add' is placed on device '/job:localhost/replica:0/task:0/device:CPU:2'"),
        "{error}"
    );
    assert!(error.contains("the file uses /job:localhost/replica:0/task:0/device:CPU:0, "), "{error}");
    assert!(error.ends_with("device:CPU:0, /job:localhost/replica:0/task:0/device:CPU:1"), "{error}");
    // A request without the devices.
    let made = devices("s");
    let program = Program::from_bytes(&bytes, &registry(&made)).unwrap();
    let context = ExecContext::new(Arc::new(Request::new(made.queue.clone())));
    let refused = call(&program, FunctionId(0), vec![Value::I32(1)], &context).unwrap_err();
    assert!(refused.message().contains("loaded for several devices"), "{}", refused.message());
}

#[test]
fn a_kind_has_kernels_of_its_own() {
    let made = devices("s");
    let mut registry = registry(&made);
    registry.add_on("CPU", kernel!("add", |a: i32, b: i32| a - b));
    registry.add_on("CPU", kernel!("of_the_kind", |a: i32| a + 100));
    let mut source = Source::placed();
    let a = source.at(1, "add", &[0, 0]);
    let b = source.at(0, "add", &[0, 0]);
    let c = source.at(2, "of_the_kind", &[b]);
    let program = Program::from_bytes(&source.bytes(&[a, b, c]), &registry).unwrap();
    assert_eq!(results(&made, &program, false), ["0", "2", "102"]);
    let mut source = Source::placed();
    let a = source.at(0, "of_the_kind", &[0]);
    let Err(LoadError::Kernels(errors)) = Program::from_bytes(&source.bytes(&[a]), &registry) else {
        panic!("the client has no such kernel")
    };
    assert!(errors[0].to_string().contains("unknown kernel name 'of_the_kind'"), "{}", errors[0]);
}
