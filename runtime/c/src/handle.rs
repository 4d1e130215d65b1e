//! Counted handles: a tag that tells their kind, and the value.

use std::ffi::CString;

use befrost::{Callable, Error, HostTensor, Session};

/// A value behind an opaque pointer. The tag comes first, at the same place in all kinds.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Handle<T> {
    pub(crate) tag: u64,
    pub(crate) value: T,
}

/// A kind of handle.
pub(crate) trait Kind: Sized + Send + Sync + 'static {
    /// The tag of its handles.
    const TAG: u64;
    /// Its name in messages.
    const NAME: &'static str;
}

/// The text of an error lives as long as the error.
#[derive(Debug)]
pub(crate) struct ErrorText {
    pub(crate) error: Error,
    pub(crate) message: CString,
    pub(crate) location: CString,
}

/// A tensor, and its dimensions as the header has them.
#[derive(Debug)]
pub(crate) struct TensorValue {
    pub(crate) tensor: HostTensor,
    pub(crate) dims: Vec<i64>,
}

impl TensorValue {
    pub(crate) fn new(tensor: HostTensor) -> TensorValue {
        let dims = tensor.shape().dims().iter().map(|&dim| i64::try_from(dim).unwrap_or(i64::MAX)).collect();
        TensorValue { tensor, dims }
    }
}

macro_rules! kinds {
    ($($ty:ty = $name:literal $tag:literal;)*) => {$(
        impl Kind for $ty {
            const TAG: u64 = u64::from_le_bytes(*$tag);
            const NAME: &'static str = $name;
        }
    )*};
}
kinds! {
    ErrorText = "bf_error" b"bferror1";
    TensorValue = "bf_tensor" b"bftensor";
    Session = "bf_session" b"bfsessio";
    Callable = "bf_callable" b"bfcallab";
}
