//! The BEF file format: layout, validation, views, writer, dump.
//!
//! ```text
//! Writer ──finish──▶ bytes ──validate──▶ Image ──▶ FunctionView, KernelView, AttrView, LocationView
//! (feature `write`)                        └──dump──▶ text
//! ```
//!
//! This crate is between compiler and runtime and depends on neither: it defines bytes, no IR and no
//! execution. `FORMAT.md` is the normative description; `layout` is its source in code. No byte of a file is
//! trusted before `validate` has accepted it.
#![forbid(unsafe_code)]

pub mod aligned;
pub mod device;
pub mod dtype;
pub mod dump;
pub mod error;
pub mod image;
pub mod layout;
pub mod validate;
pub mod view;
#[cfg(feature = "write")]
pub mod write;

pub use aligned::AlignedBytes;
pub use dtype::DType;
pub use error::{FormatError, FormatErrorKind};
pub use image::{Image, Tables};
pub use layout::{
    AttrId, FunctionId, FunctionKind, KernelCode, LocationId, OperandInfo, OperandMode, RETURN, RegisterRec,
    SectionId, StringId, TypeId,
};
pub use validate::validate;
pub use view::{AttrView, FunctionView, KernelView, LocationView};

/// True if an attribute of this name belongs to the op itself. Others belong to a dialect (`tfrt.sync`) or to
/// the compiler (`_no_winograd`), and any op may have them.
pub fn is_own_attr(name: &str) -> bool {
    !name.contains('.') && !name.starts_with('_')
}
