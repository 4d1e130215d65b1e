//! Timers that add tasks to the runtime's queues.
#![forbid(unsafe_code)]

use std::time::{Duration, Instant};

use befrost_host::queue::from_spec;
use befrost_kernel_api::queue::timers::add_task_at;
use befrost_kernel_api::queue::{Latch, Task};

#[test]
fn a_task_for_later_runs_on_its_queue() {
    for spec in ["s", "mstd:2"] {
        let queue = from_spec(spec).unwrap();
        let latch = Latch::new(1);
        let task = {
            let latch = latch.clone();
            Task::new(move || latch.count_down())
        };
        let timer = add_task_at(&queue, Instant::now() + Duration::from_millis(10), task).unwrap();
        queue.wait(&latch);
        drop(timer);
    }
}
