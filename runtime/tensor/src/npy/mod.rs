//! NumPy's `.npy` files: one array each.
//!
//! ```text
//! 93 'N' 'U' 'M' 'P' 'Y'  major minor  header length (u16 in version 1, u32 in 2 and 3)  header  elements
//! header = a Python dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (360, 64), },
//!          blanks up to a multiple of 64, then '\n'
//! ```
//!
//! The reader accepts versions 1 to 3, either byte order, C and Fortran order, booleans, integers, f16, f32,
//! f64, complex numbers and strings. The writer emits version 1, little-endian, C order. NumPy has no bf16.
//! Objects (pickles), dates and records are refused.
//!
//! Files are untrusted. The header is limited to 64 KiB. Memory of the size that the header claims is
//! allocated only after the first MiB of the elements was read. A file with bytes after the array is refused,
//! since it contradicts its header.

mod header;
mod read;
mod strings;
#[cfg(test)]
mod tests;
mod write;

pub use read::{NpyLayout, layout, parse, parse_array, read, read_array, read_array_file, read_file};
pub use strings::{Array, strings_to_bytes};
pub use write::{to_bytes, write_file};

use std::fmt;
use std::io;

use crate::{DType, TensorError};

/// The magic number.
const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// The reason why a file could not be read as a tensor, or a tensor could not be written.
#[derive(Debug)]
pub enum NpyError {
    /// The file cannot be read or written.
    Io(io::Error),
    /// The magic number is missing.
    Magic,
    /// A format version that does not exist.
    Version {
        /// The major version.
        major: u8,
        /// The minor version.
        minor: u8,
    },
    /// The file ends before the header does.
    TruncatedHeader,
    /// The header exceeds the limit.
    LongHeader {
        /// The header's length in bytes.
        len: u32,
    },
    /// The header is malformed.
    Header {
        /// The byte offset of the problem in the file.
        at: usize,
        /// The problem.
        problem: &'static str,
    },
    /// An element type that tensors do not support.
    DType {
        /// NumPy's description.
        descr: String,
        /// The reason.
        problem: &'static str,
    },
    /// The file ends before the elements do.
    Truncated {
        /// The expected size of the elements in bytes.
        want: usize,
        /// The actual size in bytes.
        got: usize,
    },
    /// There are bytes after the elements.
    Trailing,
    /// A character of a string is no Unicode scalar value.
    Character,
    /// A string ends in a zero byte, which the format cannot represent.
    EndsInZero,
    /// An element type that NumPy does not support.
    Unwritable(DType),
    /// The tensor cannot be created or read.
    Tensor(TensorError),
}

impl fmt::Display for NpyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NpyError::Io(error) => error.fmt(f),
            NpyError::Magic => f.write_str("not a .npy file: it does not begin with \\x93NUMPY"),
            NpyError::Version { major, minor } => {
                write!(f, ".npy format version {major}.{minor} is unknown; 1.0 to 3.0 are read")
            }
            NpyError::TruncatedHeader => f.write_str("the .npy file ends in its header"),
            NpyError::LongHeader { len } => {
                write!(f, "a .npy header of {len} bytes is refused; 65536 are allowed")
            }
            NpyError::Header { at, problem } => write!(f, "bad .npy header at byte {at}: {problem}"),
            NpyError::DType { descr, problem } => write!(f, "the .npy file has dtype `{descr}`: {problem}"),
            NpyError::Truncated { want, got } => {
                write!(f, "the .npy file is truncated: {want} bytes of elements expected, {got} found")
            }
            NpyError::Trailing => f.write_str("the .npy file has bytes after its array"),
            NpyError::Character => {
                f.write_str("a string in the .npy file has a character that is not Unicode")
            }
            NpyError::EndsInZero => {
                f.write_str("a string that ends in a zero cannot be written to a .npy file")
            }
            NpyError::Unwritable(dtype) => write!(f, "NumPy has no dtype for {dtype}"),
            NpyError::Tensor(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for NpyError {}

impl From<io::Error> for NpyError {
    fn from(error: io::Error) -> NpyError {
        NpyError::Io(error)
    }
}

impl From<TensorError> for NpyError {
    fn from(error: TensorError) -> NpyError {
        NpyError::Tensor(error)
    }
}
