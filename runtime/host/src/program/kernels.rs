//! [`Kernels`]: the kernels that a program runs.

use std::collections::BTreeMap;

use bef_format::{FunctionKind, Image, KernelView};

use befrost_kernel_api::kernel::Kernel;
use befrost_kernel_api::registry::Registry;

/// The kernels of a program.
pub(crate) struct Kernels {
    pub(super) by_code: Box<[Kernel]>,
    /// Kernels that implement native functions, by function.
    pub(super) native: BTreeMap<u32, Kernel>,
}

impl Kernels {
    pub(super) fn new(by_code: Vec<&Kernel>, image: &Image<'_>, registry: &Registry) -> Kernels {
        let native = image.functions().filter(|function| function.kind() == FunctionKind::Native);
        let native =
            native.filter_map(|function| Some((function.index(), registry.find(function.name())?.clone())));
        Kernels { by_code: by_code.into_iter().cloned().collect(), native: native.collect() }
    }

    /// The kernel that a use runs: that of its code, or the native function that it calls.
    pub(crate) fn of(&self, kernel: &KernelView<'_, '_>) -> &Kernel {
        let native = || self.native.get(&kernel.functions().first()?.0);
        let known = &self.by_code[kernel.code().index()];
        if self.native.is_empty() { known } else { native().unwrap_or(known) }
    }
}
