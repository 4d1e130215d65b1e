//! The registry of kernels.
//!
//! Registration is explicit, not by linking: `Registry::new().with(kernels::tfrt)`. So a test chooses its
//! kernels, and an embedder restricts the kernels of an untrusted file.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::device::DeviceSet;
use crate::kernel::Kernel;

/// A set of kernels, by name, and the devices that programs may use.
#[derive(Debug, Default)]
pub struct Registry {
    kernels: FxHashMap<&'static str, Kernel>,
    /// Kernels for devices of one kind, by kind and name.
    on_kind: BTreeMap<(&'static str, &'static str), Kernel>,
    devices: Option<Arc<DeviceSet>>,
}

impl Registry {
    /// An empty registry.
    pub fn new() -> Registry {
        Registry::default()
    }

    /// Adds a group of kernels.
    pub fn with(mut self, group: impl FnOnce(&mut Registry)) -> Registry {
        group(&mut self);
        self
    }

    /// Adds a kernel.
    ///
    /// # Panics
    /// If there is one of the same name.
    pub fn add(&mut self, kernel: Kernel) {
        let name = kernel.name;
        assert!(self.kernels.insert(name, kernel).is_none(), "two kernels are called '{name}'");
    }

    /// Adds a kernel for devices of one kind. There it takes the place of the host's kernel of the same name.
    ///
    /// # Panics
    /// If the kind has one of the same name.
    pub fn add_on(&mut self, kind: &'static str, kernel: Kernel) {
        let name = kernel.name;
        let before = self.on_kind.insert((kind, name), kernel);
        assert!(before.is_none(), "two kernels of {kind} are called '{name}'");
    }

    /// Sets the devices that programs may use; by default the client's only.
    pub fn set_devices(&mut self, devices: Arc<DeviceSet>) {
        self.devices = Some(devices);
    }

    /// The devices that programs may use, if they were set.
    pub fn devices(&self) -> Option<&Arc<DeviceSet>> {
        self.devices.as_ref()
    }

    /// The kernel called `name` that was added for devices of one kind.
    pub fn find_on(&self, kind: &str, name: &str) -> Option<&Kernel> {
        self.on_kind.iter().find(|((of, called), _)| *of == kind && *called == name).map(|(_, kernel)| kernel)
    }

    /// The kernels that were added for devices of one kind, with the kind, in the order of kinds and names.
    pub fn iter_on(&self) -> impl Iterator<Item = (&'static str, &Kernel)> {
        self.on_kind.iter().map(|(&(kind, _), kernel)| (kind, kernel))
    }

    /// The kernel called `name`.
    pub fn find(&self, name: &str) -> Option<&Kernel> {
        self.kernels.get(name)
    }

    /// All kernels, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &Kernel> {
        let mut kernels: Vec<&Kernel> = self.kernels.values().collect();
        kernels.sort_unstable_by_key(|kernel| kernel.name);
        kernels.into_iter()
    }
}
