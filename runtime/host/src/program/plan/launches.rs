//! Kernels of devices with streams: the launched ones, and the results that become final after a launch.
//!
//! A kernel of the host is launched on such a device, unless it is control flow, takes values in any state or
//! in any memory, or the device's kind has its own kernel of the name. Values of types that a device's memory
//! cannot hold are in the host's memory, so a result of such a type becomes final when the launch has ended.
//!
//! All launches of a function on one device share the copy of a constant that they read.

use std::sync::Arc;

use bef_format::{FunctionView, KernelView};
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::places::is_passive;
use befrost_kernel_api::device::is_device_type;
use befrost_kernel_api::executor::{LaunchEntry, LoadedFile, StagedConstant};
use befrost_kernel_api::kernel::{Completion, Kernel, KernelFn, Signature};

/// The constants of a function.
#[derive(Default)]
pub(super) struct FileConstants {
    registers: FxHashSet<u32>,
    /// The copies in the memories of devices, by register and device.
    staged: FxHashMap<(u32, u16), Arc<StagedConstant>>,
}

impl FileConstants {
    /// Records the result of a kernel, if it is a constant. Kernels come in the order of the function.
    pub(super) fn record(&mut self, kernel: &KernelView<'_, '_>, signature: &Signature) {
        self.registers.extend(signature.is_in_file.then(|| kernel.first_result()));
    }

    fn staged(&mut self, register: u32, device: u16) -> Option<Arc<StagedConstant>> {
        let is_constant = self.registers.contains(&register);
        is_constant.then(|| self.staged.entry((register, device)).or_default().clone())
    }
}

/// The launch of a use that runs `code`, if it is one. `is_own`: the device's kind has the kernel.
pub(super) fn entry(
    file: &LoadedFile,
    constants: &mut FileConstants,
    function: &FunctionView<'_, '_>,
    kernel: &KernelView<'_, '_>,
    (known, code): (&Kernel, KernelFn),
    is_own: bool,
) -> Option<LaunchEntry> {
    let devices = file.devices();
    let device = devices.of(kernel);
    let n_streams = devices.device(device).map_or(0, |device| device.streams());
    if n_streams == 0 || is_own || is_passive(&known.signature) {
        return None;
    }
    let is_in_memory =
        |register: u32| is_device_type(file.image().type_name(function.register_type(register)));
    Some(LaunchEntry {
        run: code,
        stream: kernel.stream() % n_streams,
        operands: kernel.operands().iter().map(|&register| is_in_memory(register)).collect(),
        constants: kernel.operands().iter().map(|&register| constants.staged(register, device)).collect(),
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
