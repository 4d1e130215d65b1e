//! [`LoadedFile`]: the part of a program that kernels see.

use std::borrow::Cow;
use std::sync::Arc;

use bef_format::{Image, KernelView};
use befrost_mem::{Buffer, ViewError};

use super::prepare::{AnyPrepared, KernelUse, SharedData};
use crate::context::{ExecContext, KernelRef};
use crate::device::{Device, DeviceSet};
use crate::error::KernelError;
use crate::image::SharedImage;

/// A file in memory with the prepared data of its kernels.
pub struct LoadedFile {
    image: SharedImage,
    /// In the order of the kernels.
    prepared: Box<[PreparedUse]>,
    devices: FileDevices,
}

/// The devices of a file.
#[derive(Default)]
pub struct FileDevices {
    /// The set, if the file uses another device than the client's.
    set: Option<Arc<DeviceSet>>,
    /// By number in the file: the number in the set.
    numbers: Box<[u16]>,
    /// By number in the set: the number again if the device has a queue of its own, else that of the client's
    /// device, 0.
    queues: Box<[u16]>,
}

impl FileDevices {
    /// The devices of a file. `numbers` are their numbers in `set`, by number in the file.
    pub fn new(set: &Arc<DeviceSet>, numbers: Box<[u16]>) -> FileDevices {
        if numbers.iter().all(|&number| number == 0) {
            return FileDevices::default();
        }
        let own = |(device, number): (&Arc<_>, u16)| {
            let device: &Arc<dyn Device> = device;
            if device.queue().is_some() { number } else { 0 }
        };
        let queues = set.iter().zip(0..).map(own).collect();
        FileDevices { set: Some(set.clone()), numbers, queues }
    }

    /// The set, if the file uses another device than the client's.
    pub fn set(&self) -> Option<&Arc<DeviceSet>> {
        self.set.as_ref()
    }

    /// The device of a kernel, by its number in the set.
    pub fn of(&self, kernel: &KernelView<'_, '_>) -> u16 {
        self.numbers.get(usize::from(kernel.device())).copied().unwrap_or(0)
    }

    /// The device on whose queue a device's kernels run.
    #[inline]
    pub fn queue_of(&self, device: u16) -> u16 {
        self.queues.get(usize::from(device)).copied().unwrap_or(0)
    }

    /// True if a device of the file has a queue of its own.
    pub fn has_queues(&self) -> bool {
        self.numbers.iter().any(|&device| self.queue_of(device) != 0)
    }

    /// A device of the file's set.
    pub fn device(&self, number: u16) -> Option<&Arc<dyn Device>> {
        self.set.as_ref()?.get(number)
    }

    /// True if a device of the set has streams or a memory of its own, and the file uses another device than
    /// the client's. Then values become final on threads that must not run kernels.
    pub fn has_streams(&self) -> bool {
        self.set.as_ref().is_some_and(|set| set.has_streams())
    }

    /// Checks that a request has the devices for which the file was loaded.
    ///
    /// # Errors
    /// If it does not.
    #[inline]
    pub fn check(&self, context: &ExecContext) -> Result<(), KernelError> {
        let Some(set) = &self.set else { return Ok(()) };
        match &context.request.devices {
            Some(devices) if Arc::ptr_eq(devices, set) => Ok(()),
            _ => Err(KernelError::invalid(
                "the program was loaded for several devices, which the request does not have",
            )),
        }
    }
}

/// The prepared data of one use of a kernel.
pub struct PreparedUse {
    /// The kernel.
    pub at: KernelRef,
    /// The result of its preparation.
    pub made: AnyPrepared,
}

impl LoadedFile {
    /// `prepared` is in the order of the kernels.
    pub fn new(image: SharedImage, prepared: Box<[PreparedUse]>, devices: FileDevices) -> LoadedFile {
        debug_assert!(prepared.is_sorted_by_key(|prepared| prepared.at), "uses out of order");
        LoadedFile { image, prepared, devices }
    }

    /// The devices that its kernels use.
    #[inline]
    pub fn devices(&self) -> &FileDevices {
        &self.devices
    }

    /// The validated file.
    pub fn image(&self) -> &Image<'_> {
        self.image.image()
    }

    /// The file's bytes.
    pub fn bytes(&self) -> &[u8] {
        self.image.bytes()
    }

    /// The record of a kernel.
    pub fn kernel_view(&self, at: KernelRef) -> KernelView<'_, '_> {
        self.image().function(at.function).kernel(at.kernel)
    }

    /// The number of the prepared data of a kernel, if there is any.
    pub fn prepared_at(&self, at: KernelRef) -> Option<u32> {
        self.prepared.binary_search_by_key(&at, |prepared| prepared.at).ok().map(|i| i as u32)
    }

    /// A use of the kernel of this name.
    pub fn use_of<'f>(&'f self, name: &'static str, at: KernelRef, shared: &'f SharedData) -> KernelUse<'f> {
        KernelUse::new(name, &self.image, at.function, self.kernel_view(at), shared)
    }

    /// Prepared data by number.
    #[inline]
    pub fn prepared(&self, i: u32) -> Option<&AnyPrepared> {
        self.prepared.get(i as usize).map(|prepared| &prepared.made)
    }

    /// A part of the file as a buffer that keeps the file alive.
    pub fn mapped(&self, part: &[u8]) -> Result<Buffer, ViewError> {
        self.image.view(part)
    }

    /// The location of a kernel as `file:line:col`, if the file has one.
    pub fn location_string(&self, at: KernelRef) -> Option<String> {
        location_of(self.image(), &self.kernel_view(at))
    }

    /// Adds the location of a kernel and those of the calls that were inlined around it, innermost first.
    /// Nothing is added if the trace ends with these locations of an inlined call: control flow in it has the
    /// same locations as the kernels in it.
    pub fn extend_trace(&self, at: KernelRef, trace: &mut Vec<String>) {
        if let Some(location) = self.kernel_view(at).location() {
            let places = self.image().location_trace(location);
            if places.len() == 1 || !trace.ends_with(&places) {
                trace.extend(places);
            }
        }
    }

    /// The name of the location of a kernel.
    pub(crate) fn location_name(&self, at: KernelRef) -> Option<Cow<'_, str>> {
        self.image().location_name(self.kernel_view(at).location()?)
    }
}

/// The location of a kernel as `file:line:col`, if the file has one.
pub fn location_of(image: &Image<'_>, kernel: &KernelView<'_, '_>) -> Option<String> {
    kernel.location().map(|location| image.location_string(location))
}
