//! Kernels of devices with streams: the launched ones, and the results that become final after a launch.
//!
//! A kernel of the host is launched on such a device, unless it is control flow, takes values in any state or
//! in any memory, or the device's kind has its own kernel of the name. Values of types that a device's memory
//! cannot hold are in the host's memory, so a result of such a type becomes final when the launch has ended.

use bef_format::{FunctionView, KernelView};

use super::super::places::is_passive;
use befrost_kernel_api::device::is_device_type;
use befrost_kernel_api::executor::{LaunchEntry, LoadedFile};
use befrost_kernel_api::kernel::{Completion, Kernel, KernelFn, Signature};

/// The launch of a use that runs `code`, if it is one. `is_own`: the device's kind has the kernel.
pub(super) fn entry(
    file: &LoadedFile,
    function: &FunctionView<'_, '_>,
    kernel: &KernelView<'_, '_>,
    (known, code): (&Kernel, KernelFn),
    is_own: bool,
) -> Option<LaunchEntry> {
    let devices = file.devices();
    let n_streams = devices.device(devices.of(kernel)).map_or(0, |device| device.streams());
    if n_streams == 0 || is_own || is_passive(&known.signature) {
        return None;
    }
    let is_in_memory =
        |register: u32| is_device_type(file.image().type_name(function.register_type(register)));
    Some(LaunchEntry {
        run: code,
        stream: kernel.stream() % n_streams,
        operands: kernel.operands().iter().map(|&register| is_in_memory(register)).collect(),
        results: (0..kernel.n_results()).map(|i| is_in_memory(kernel.first_result() + i)).collect(),
    })
}

/// Whether a result may become final after the kernel has run.
pub(super) fn is_late(file: &LoadedFile, signature: &Signature, launched: Option<&LaunchEntry>) -> bool {
    match launched {
        Some(launched) => launched.results.iter().any(|&is_in_memory| !is_in_memory),
        None => {
            signature.completion == Completion::Async
                || signature.takes_any_memory && file.devices().has_streams()
        }
    }
}
