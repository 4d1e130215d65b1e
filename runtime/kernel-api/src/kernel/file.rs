//! [`LoadedFile`]: the part of a program that kernels see.

use std::borrow::Cow;

use bef_format::{Image, KernelView};
use befrost_mem::{Buffer, ViewError};

use super::prepare::{AnyPrepared, KernelUse, SharedData};
use crate::context::KernelRef;
use crate::image::SharedImage;

/// A file in memory with the prepared data of its kernels.
pub struct LoadedFile {
    image: SharedImage,
    /// In the order of the kernels.
    prepared: Box<[PreparedUse]>,
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
    pub fn new(image: SharedImage, prepared: Box<[PreparedUse]>) -> LoadedFile {
        debug_assert!(prepared.is_sorted_by_key(|prepared| prepared.at), "uses out of order");
        LoadedFile { image, prepared }
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

    /// Adds the location of a kernel and those of the calls that were inlined around it, innermost first. Of
    /// inlined calls that the trace ends with already only one is of use: control flow within a call has the
    /// places of the calls around it, as its kernels have.
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
