//! [`Kernels`]: the kernels that a program runs.

use std::collections::BTreeMap;

use bef_format::{FunctionKind, Image, KernelView};

use befrost_kernel_api::executor::FileDevices;
use befrost_kernel_api::kernel::Kernel;
use befrost_kernel_api::registry::Registry;

/// The kernels of a program.
pub(crate) struct Kernels {
    pub(super) by_code: Box<[Kernel]>,
    /// Kernels that implement native functions, by function.
    pub(super) native: BTreeMap<u32, Kernel>,
    /// Kernels of a kind of devices, by code and number of the device in the file.
    pub(super) on_device: BTreeMap<(u32, u16), Kernel>,
}

impl Kernels {
    pub(super) fn new(
        by_code: Vec<&Kernel>,
        image: &Image<'_>,
        registry: &Registry,
        devices: &FileDevices,
    ) -> Kernels {
        let mut on_device = BTreeMap::new();
        if let Some(set) = devices.set() {
            let kernels = image.functions().flat_map(|function| function.kernels().collect::<Vec<_>>());
            for kernel in kernels.filter(|kernel| kernel.device() != 0) {
                let own = || registry.find_on(set.factory(devices.of(&kernel))?.kind, kernel.name());
                let at = (kernel.code().0, kernel.device());
                if !on_device.contains_key(&at)
                    && let Some(own) = own()
                {
                    on_device.insert(at, own.clone());
                }
            }
        }
        let native = image.functions().filter(|function| function.kind() == FunctionKind::Native);
        let native =
            native.filter_map(|function| Some((function.index(), registry.find(function.name())?.clone())));
        Kernels { by_code: by_code.into_iter().cloned().collect(), native: native.collect(), on_device }
    }

    /// Whether a use runs a kernel that its device's kind has of its own.
    pub(super) fn is_own(&self, kernel: &KernelView<'_, '_>) -> bool {
        self.on_device.contains_key(&(kernel.code().0, kernel.device()))
    }

    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = &Kernel> {
        self.by_code.iter().chain(self.native.values()).chain(self.on_device.values())
    }

    /// The kernel that a use runs: that of its code, or the native function that it calls.
    pub(crate) fn of(&self, kernel: &KernelView<'_, '_>) -> &Kernel {
        let native = || self.native.get(&kernel.functions().first()?.0);
        let mut known = &self.by_code[kernel.code().index()];
        if kernel.device() != 0 {
            known = self.on_device.get(&(kernel.code().0, kernel.device())).unwrap_or(known);
        }
        if self.native.is_empty() { known } else { native().unwrap_or(known) }
    }
}
