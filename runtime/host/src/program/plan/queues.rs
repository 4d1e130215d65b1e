//! The queues on which kernels run, where devices have queues of their own.
//!
//! A kernel runs on the queue of its device. A kernel without a device and without operands, such as a
//! constant, runs where its first reader does: every device has the constants that it reads. Streams,
//! straight lines and sequential plans never span two queues.

use bef_format::{FunctionView, Image};

use super::{ANY_QUEUE, FunctionPlan};
use befrost_kernel_api::executor::FileDevices;

/// For each kernel, the device on whose queue it runs. Empty if all run on the client's.
pub(super) fn of_kernels(devices: &FileDevices, function: &FunctionView<'_, '_>) -> Box<[u16]> {
    if !devices.has_queues() {
        return Box::default();
    }
    let mut queues: Vec<u16> =
        function.kernels().map(|kernel| devices.queue_of(devices.of(&kernel))).collect();
    if queues.iter().all(|&queue| queue == 0) {
        return Box::default();
    }
    let mut reader = vec![None; function.n_registers() as usize];
    for k in (0..function.n_kernels()).rev() {
        let kernel = function.kernel(k);
        if kernel.device() == 0 && kernel.operands().is_empty() {
            let results = kernel.first_result()..kernel.first_result() + kernel.n_results();
            let mut readers = results.filter_map(|register| reader[register as usize]);
            queues[k as usize] = readers.next().unwrap_or(0);
        }
        for &register in kernel.operands() {
            reader[register as usize] = Some(queues[k as usize]);
        }
    }
    queues.into()
}

/// Sets the queue of each function whose kernels all run on one, and drops the order of the others: of
/// functions with kernels of several queues, or that call a function of another queue.
pub(super) fn end_at_other_queues(
    image: &Image<'_>,
    plans: &mut [FunctionPlan],
    orders: &mut [Option<Vec<u32>>],
) {
    for (plan, order) in plans.iter_mut().zip(orders.iter_mut()) {
        let mut queues = (0..plan.kernels.len() as u32).map(|kernel| plan.queue_of(kernel));
        let first = queues.next().unwrap_or(ANY_QUEUE);
        if queues.all(|queue| queue == first) {
            plan.queue = first;
        } else {
            *order = None;
        }
    }
    for (function, order) in image.functions().zip(orders.iter_mut()) {
        let own = plans[function.index() as usize].queue;
        let is_elsewhere = |callee: u32| {
            let queue = plans[callee as usize].queue;
            queue != own && queue != ANY_QUEUE
        };
        if function.kernels().any(|kernel| kernel.functions().iter().any(|callee| is_elsewhere(callee.0))) {
            *order = None;
        }
    }
}
