//! Tests of sets of devices.

use befrost_mem::Malloc;

use super::*;

fn made(devices: &str, queue: &str) -> Result<MadeDevices, String> {
    let asked: Asked = devices.parse().unwrap();
    make(&asked, &[], (queue, false), &Malloc::shared()).map_err(|error| error.to_string())
}

/// The number of workers of each device: `-` for one without a queue of its own.
fn workers(devices: &str, queue: &str) -> String {
    let made = made(devices, queue).unwrap();
    let own =
        made.devices.iter().skip(1).map(|device| {
            device.queue().map_or_else(|| "-".to_owned(), |queue| queue.parallelism().to_string())
        });
    let all: Vec<String> = std::iter::once(made.queue.parallelism().to_string()).chain(own).collect();
    all.join(" ")
}

#[test]
fn workers_are_shared_out() {
    assert_eq!(workers("CPU:1", "mstd:3"), "3");
    assert_eq!(workers("CPU:2", "mstd:3"), "2 1");
    assert_eq!(workers("CPU:3", "mstd:2"), "1 1 1");
    assert_eq!(workers("CPU:2{threads=1}", "mstd:4"), "1 1");
    assert_eq!(workers("CPU:1,CPU:1{threads=3}", "mstd:4"), "1 3");
    assert_eq!(workers("CPU:1{threads=2},CPU:2", "mstd:4"), "2 1 1");
    assert_eq!(workers("CPU:2{threads=2}", "s"), "1 -");
    assert_eq!(workers("CPU:2", "seeded:7"), "1 -");
}

#[test]
fn sets_that_cannot_be_made_are_refused() {
    let refused = |devices: &str| made(devices, "mstd:2").err().unwrap_or_default();
    assert_eq!(refused("CPU:1,GPU:1"), "there are no devices of kind GPU; there are: CPU");
    assert_eq!(refused("CPU:5000"), "the devices would have 5000 threads; at most 4096 are possible");
    assert!(refused("CPU:1{cores=100000}").contains("there is no core 100000"));
    assert!(refused("CPU:1{streams=2}").ends_with("device:CPU:0: a CPU has no 'streams'"));
    assert!(made("CPU:1", "mstd:0").is_err() && made("CPU:1", "nothing").is_err());
}

#[test]
fn threads_run_on_their_cores() {
    let made = made("CPU:2{threads=1,cores=0}", "mstd:2").unwrap();
    let queue = made.devices.iter().nth(1).and_then(|device| device.queue().cloned()).unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    queue.add_task(befrost_kernel_api::queue::Task::new(move || {
        let affinity = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
        _ = sender.send(affinity);
    }));
    let status = receiver.recv().unwrap();
    let cores = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).map(str::trim);
    if cfg!(target_os = "linux") {
        assert_eq!(cores, Some("0"));
    }
}
