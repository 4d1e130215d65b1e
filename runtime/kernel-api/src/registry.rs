//! The registry of kernels.
//!
//! Registration is explicit, not by linking: `Registry::new().with(kernels::tfrt)`. So a test chooses its
//! kernels, and an embedder restricts an untrusted file.

use rustc_hash::FxHashMap;

use crate::kernel::Kernel;

/// A set of kernels, by name, and the names of the devices that they run on besides the host.
#[derive(Debug, Default)]
pub struct Registry {
    kernels: FxHashMap<&'static str, Kernel>,
    devices: Vec<Box<str>>,
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

    /// Adds devices by their full names.
    pub fn add_devices(&mut self, names: impl IntoIterator<Item = Box<str>>) {
        self.devices.extend(names);
    }

    /// The devices besides the host.
    pub fn devices(&self) -> &[Box<str>] {
        &self.devices
    }

    /// The kernel called `name`.
    pub fn find(&self, name: &str) -> Option<&Kernel> {
        self.kernels.get(name)
    }

    /// All kernels, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Kernel> {
        let mut kernels: Vec<&Kernel> = self.kernels.values().collect();
        kernels.sort_unstable_by_key(|kernel| kernel.name);
        kernels.into_iter()
    }
}
