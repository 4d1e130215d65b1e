//! [`SharedImage`]: the validated bytes of a BEF file, shared by all their readers.
//!
//! It holds the bytes and lends the [`Image`] that was validated from them, so nothing is validated or sliced
//! again per call. Parts of the file become [`Buffer`]s that keep it alive, without a copy.
//!
//! Not here: how the bytes come into memory (the runtime reads or maps the file).

#![allow(unsafe_code, reason = "an image that refers to the bytes beside it")]

use bef_format::{FormatError, Image};
use befrost_mem::{Buffer, Frozen, ViewError};

/// A validated file in memory.
pub struct SharedImage {
    /// Borrows from `bytes`. Lent only with the lifetime of a borrow of `self`.
    image: Image<'static>,
    bytes: Frozen,
}

impl SharedImage {
    /// Validates the bytes of a file.
    ///
    /// # Errors
    /// The first fault of the file.
    pub fn new(bytes: Frozen) -> Result<SharedImage, FormatError> {
        let (start, len) = (bytes.as_ptr(), bytes.len());
        // SAFETY: frozen bytes neither move nor change while a handle lives. `SharedImage` holds one as long
        // as the image and lends the image no longer than itself.
        let slice: &'static [u8] = unsafe { std::slice::from_raw_parts(start, len) };
        let image = bef_format::validate(slice)?;
        Ok(SharedImage { image, bytes })
    }

    /// The validated file.
    pub fn image(&self) -> &Image<'_> {
        &self.image
    }

    /// The bytes of the file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// A part of the file as a buffer that keeps the file alive.
    ///
    /// # Errors
    /// If `part` is not a part of the file.
    pub fn view(&self, part: &[u8]) -> Result<Buffer, ViewError> {
        let whole = self.bytes.buffer();
        if part.is_empty() {
            // An empty slice may have any address: that of a missing section is outside of the file.
            return whole.view(0..0);
        }
        let start = part.as_ptr().addr().wrapping_sub(whole.address());
        whole.view(start..start.wrapping_add(part.len()))
    }
}
