//! Check of memories: each operand is in a memory that its kernel reads.
//!
//! ```text
//! kernel of the host on a CPU        reads and writes the host's memory
//! kernel on a device with a memory   reads and writes that memory, and reads copies of the host's values
//! dev.transfer                       reads any memory, writes that of the device it names
//! tfrt.merge.chains                  waits for values in any memory
//! control flow, arguments            unknown: such operands are checked when the kernel runs
//! ```
//!
//! Values of types that a device's memory cannot hold are always in the host's memory.

use bef_format::{AttrView, FunctionView, Image, KernelView};

use super::check::MAX_ERRORS;
use super::error::KernelUseError;
use super::kernels::Kernels;
use befrost_kernel_api::device::{Space, is_device_type};
use befrost_kernel_api::executor::{FileDevices, location_of};
use befrost_kernel_api::kernel::{Kernel, Signature};

/// A device's memory in which a kernel leaves a result.
#[derive(Clone, Copy)]
struct Place {
    device: u16,
    /// The kernel.
    producer: u32,
}

/// True if a kernel takes operands in any memory: control flow, and kernels that pass values on or only wait
/// for them.
pub(super) fn is_passive(signature: &Signature) -> bool {
    signature.calls.is_some()
        || signature.takes_any_state
        || signature.observes
        || signature.takes_any_memory
        || signature.reads_nothing
}

/// Checks all functions of a file with a device that has a memory of its own.
pub(super) fn check(
    image: &Image<'_>,
    devices: &FileDevices,
    kernels: &Kernels,
) -> Result<(), Vec<KernelUseError>> {
    let mut errors = Vec::new();
    if !devices.has_streams() {
        return Ok(());
    }
    for function in image.functions() {
        let mut places: Vec<Option<Place>> = vec![None; function.n_registers() as usize];
        for (k, kernel) in (0..).zip(function.kernels()) {
            let known = kernels.of(&kernel);
            let cx = Use { image, devices, function: &function, kernel: &kernel, known };
            if !is_passive(&known.signature)
                && let Some(message) = cx.misplaced(&places)
            {
                let location = location_of(image, &kernel);
                errors.push(KernelUseError { location, function: function.name().to_owned(), message });
                if errors.len() == MAX_ERRORS {
                    return Err(errors);
                }
            }
            let left_in = cx.leaves_in();
            for i in 0..kernel.n_results() {
                let register = kernel.first_result() + i;
                let ty = image.type_name(function.register_type(register));
                places[register as usize] =
                    left_in.filter(|_| is_device_type(ty)).map(|device| Place { device, producer: k });
            }
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// A use of a kernel.
struct Use<'u> {
    image: &'u Image<'u>,
    devices: &'u FileDevices,
    function: &'u FunctionView<'u, 'u>,
    kernel: &'u KernelView<'u, 'u>,
    known: &'u Kernel,
}

impl Use<'_> {
    /// The device in whose memory, other than the host's, the kernel reads and leaves values.
    fn memory(&self) -> Option<u16> {
        self.with_memory(self.devices.of(self.kernel))
    }

    fn with_memory(&self, device: u16) -> Option<u16> {
        let memory = self.devices.device(device)?.memory().space();
        (memory != Space::HOST).then_some(device)
    }

    /// The device in whose memory its results are, as far as it is known and not the host's.
    fn leaves_in(&self) -> Option<u16> {
        if !is_passive(&self.known.signature) {
            return self.memory();
        }
        if !self.known.signature.takes_any_memory || self.kernel.n_attrs() == 0 {
            return None;
        }
        match self.image.attr(self.kernel.attrs()[0]) {
            AttrView::Str(to) => self.with_memory(self.devices.set()?.find(to)?),
            _ => None,
        }
    }

    /// The fault of the first operand that lies where the kernel cannot read it.
    fn misplaced(&self, places: &[Option<Place>]) -> Option<String> {
        let reads = self.memory();
        let operands = self.kernel.operands().iter().enumerate();
        let (i, place) = operands
            .filter_map(|(i, &register)| Some((i, places[register as usize]?)))
            .find(|(_, place)| Some(place.device) != reads)?;
        let device =
            |device: u16| self.devices.device(device).map_or_else(String::new, |it| it.name().to_string());
        let producer = self.function.kernel(place.producer);
        let at =
            location_of(self.image, &producer).map_or_else(String::new, |location| format!(" ({location})"));
        let memory = match reads {
            Some(_) => "that of",
            None => "the host's memory, for",
        };
        Some(format!(
            "operand #{i} of '{}' lies in the memory of {}, where '{}'{at} leaves it; the kernel reads {memory} {}",
            self.kernel.name(),
            device(place.device),
            producer.name(),
            device(self.devices.of(self.kernel)),
        ))
    }
}
