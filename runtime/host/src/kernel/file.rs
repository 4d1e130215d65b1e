//! [`LoadedFile`]: the part of a program that kernels see.

use std::borrow::Cow;

use bef_format::{Image, KernelView};
use befrost_mem::{Buffer, ViewError};

use super::prepare::AnyPrepared;
use crate::context::KernelRef;
use crate::mapping::Mapped;

/// A file in memory, and what kernels have made of their uses in it.
pub(crate) struct LoadedFile {
    mapped: Mapped,
    /// In the order of their places.
    prepared: Box<[PreparedUse]>,
}

/// What a kernel has made of one of its uses.
pub(crate) struct PreparedUse {
    pub(crate) at: KernelRef,
    pub(crate) made: AnyPrepared,
}

impl LoadedFile {
    /// `prepared` is in the order of the places.
    pub(crate) fn new(mapped: Mapped, prepared: Box<[PreparedUse]>) -> LoadedFile {
        debug_assert!(prepared.is_sorted_by_key(|prepared| prepared.at), "uses out of order");
        LoadedFile { mapped, prepared }
    }

    pub(crate) fn image(&self) -> &Image<'_> {
        self.mapped.image()
    }

    pub(crate) fn kernel_view(&self, at: KernelRef) -> KernelView<'_, '_> {
        self.image().function(at.function).kernel(at.kernel)
    }

    /// The number of what a kernel has made of its use, if it has made something.
    pub(crate) fn prepared_at(&self, at: KernelRef) -> Option<u32> {
        self.prepared.binary_search_by_key(&at, |prepared| prepared.at).ok().map(|i| i as u32)
    }

    /// What a kernel has made of its use, by number.
    #[inline]
    pub(crate) fn prepared(&self, i: u32) -> Option<&AnyPrepared> {
        self.prepared.get(i as usize).map(|prepared| &prepared.made)
    }

    /// A part of the file as a buffer that keeps the file alive.
    pub(crate) fn mapped(&self, part: &[u8]) -> Result<Buffer, ViewError> {
        self.mapped.view(part)
    }

    /// The location of a kernel as `file:line:col`, if the file has one.
    pub(crate) fn location_string(&self, at: KernelRef) -> Option<String> {
        location_of(self.image(), &self.kernel_view(at))
    }

    /// The name of the location of a kernel.
    pub(crate) fn location_name(&self, at: KernelRef) -> Option<Cow<'_, str>> {
        self.image().location_name(self.kernel_view(at).location()?)
    }
}

/// The location of a kernel as `file:line:col`, if the file has one.
pub(crate) fn location_of(image: &Image<'_>, kernel: &KernelView<'_, '_>) -> Option<String> {
    kernel.location().map(|location| image.location_string(location))
}
