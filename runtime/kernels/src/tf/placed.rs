//! The names of resources that operators make.

use std::sync::OnceLock;

use befrost_kernel_api::ExecContext;
use befrost_kernel_api::context::ResourceName;
use befrost_tensor::TensorError;
use befrost_tensor::tf::op::Attributes;

/// The name of a resource that an operator makes: on the device on which it runs.
pub(super) struct PlacedName {
    /// The name on the client's device.
    name: ResourceName,
    /// The number of another device on which the operator ran first, and the name there.
    elsewhere: OnceLock<(u16, ResourceName)>,
}

impl PlacedName {
    /// The name that an operator's attributes give.
    pub(super) fn of(attrs: &Attributes<'_>) -> Result<PlacedName, TensorError> {
        let name = ResourceName::new(&attrs.string("container")?, &attrs.string("shared_name")?);
        Ok(PlacedName { name, elsewhere: OnceLock::new() })
    }

    /// True if the operator names no resource.
    pub(super) fn is_empty(&self) -> bool {
        self.name.name().is_empty()
    }

    /// The name on the device of the kernel.
    pub(super) fn on_device(&self, cx: &ExecContext) -> ResourceName {
        let number = cx.device_number();
        if number == 0 {
            return self.name.clone();
        }
        let named = || self.name.on(&cx.device().name().to_string());
        let (first, name) = self.elsewhere.get_or_init(|| (number, named()));
        if *first == number { name.clone() } else { named() }
    }
}
