//! The devices of a file in the registry's set, and the kernels that run on them.
//!
//! A use runs the kernel of its device's kind, or else the host's kernel of that name if the kind runs host
//! kernels.

use bef_format::{Image, KernelView};

use super::error::KernelUseError;
use befrost_kernel_api::executor::{FileDevices, location_of};
use befrost_kernel_api::kernel::Kernel;
use befrost_kernel_api::registry::Registry;

/// Limit of the devices in a message.
const MAX_LISTED: usize = 16;

/// Finds the devices that a file names.
pub(super) fn find(image: &Image<'_>, registry: &Registry) -> Result<FileDevices, KernelUseError> {
    let names: Vec<&str> = (0..image.n_devices()).map(|device| image.device_name(device)).collect();
    if names.iter().all(|name| name.is_empty()) {
        return Ok(FileDevices::default());
    }
    let set = registry.devices();
    let find = |name: &str| if name.is_empty() { Some(0) } else { set?.find(name) };
    let mut numbers = Vec::with_capacity(names.len());
    for (device, name) in (0..image.n_devices()).zip(&names) {
        match find(name) {
            Some(number) => numbers.push(number),
            None => return Err(missing(image, device, &names, registry)),
        }
    }
    Ok(set.map_or_else(FileDevices::default, |set| FileDevices::new(set, numbers.into())))
}

/// The error for device number `device` of a file, with the devices of the file and of the runtime.
fn missing(image: &Image<'_>, device: u16, names: &[&str], registry: &Registry) -> KernelUseError {
    let mut uses = image.functions().flat_map(|function| {
        let kernels = function.kernels().filter(|kernel| kernel.device() == device);
        kernels
            .map(|kernel| (location_of(image, &kernel), function.name().to_owned(), kernel.name().to_owned()))
            .take(1)
            .collect::<Vec<_>>()
    });
    let (location, function, kernel) = uses.next().unwrap_or_default();
    let own: Vec<&str> = names.iter().copied().filter(|name| !name.is_empty()).collect();
    let there_are = match registry.devices() {
        None => "there is only the host".to_owned(),
        Some(set) => {
            let known: Vec<String> =
                set.iter().take(MAX_LISTED + 1).map(|it| it.name().to_string()).collect();
            format!("there are {}", listed(&known))
        }
    };
    let name = names.get(usize::from(device)).copied().unwrap_or_default();
    let message = format!(
        "'{kernel}' is placed on device '{name}', which this runtime does not have; the file uses {}; {there_are}",
        listed(&own)
    );
    KernelUseError { location, function, message }
}

/// Names one after the other, at most [`MAX_LISTED`].
fn listed<T: AsRef<str>>(names: &[T]) -> String {
    let shown: Vec<&str> = names.iter().take(MAX_LISTED).map(AsRef::as_ref).collect();
    let more = if names.len() > MAX_LISTED { ", ..." } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// The kernel that runs on the device of a use of the host's kernel `host`, or of a name that the host does
/// not have.
pub(super) fn kernel_on<'r>(
    devices: &FileDevices,
    kernel: &KernelView<'_, '_>,
    host: Option<&'r Kernel>,
    registry: &'r Registry,
) -> Result<Option<&'r Kernel>, String> {
    let (device, set) = (devices.of(kernel), devices.set());
    let Some(factory) = set.and_then(|set| set.factory(device)) else { return Ok(host) };
    if let Some(own) = registry.find_on(factory.kind, kernel.name()) {
        return Ok(Some(own));
    }
    // The executor runs calls and branches itself, on any device.
    if factory.runs_host_kernels || host.is_some_and(|host| host.signature.calls.is_some()) {
        return Ok(host);
    }
    let mut kinds: Vec<&str> =
        registry.iter_on().filter(|(_, known)| known.name == kernel.name()).map(|(kind, _)| kind).collect();
    if host.is_some() {
        kinds.extend(
            set.into_iter()
                .flat_map(|set| set.kinds())
                .filter(|kind| kind.runs_host_kernels)
                .map(|kind| kind.kind),
        );
    }
    kinds.sort_unstable();
    kinds.dedup();
    let kinds = if kinds.is_empty() {
        "no kind has one".to_owned()
    } else {
        format!("these have: {}", kinds.join(", "))
    };
    Err(format!("devices of kind {} have no kernel '{}'; {kinds}", factory.kind, kernel.name()))
}
