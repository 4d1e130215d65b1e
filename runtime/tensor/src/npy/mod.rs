//! NumPy's `.npy` files: one array each.
//!
//! ```text
//! 93 'N' 'U' 'M' 'P' 'Y'  major minor  header length (u16 in version 1, u32 in 2 and 3)  header  elements
//! header = a Python dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (360, 64), } and blanks up to a multiple of 64, then '\n'
//! ```
//!
//! Read: versions 1 to 3, either byte order, C and Fortran order, truth values, integers, f16, f32, f64, complex. Written: version 1,
//! little-endian, C order. There is no bf16 in NumPy; objects (pickles), strings, dates and records are refused.
//!
//! Files are untrusted. The header is at most 64 KiB; the elements are read only as far as they are there, and nothing is
//! allocated for a size that the file merely claims. A file with bytes behind the array is refused: it is not what its header says.

mod header;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use read::{parse, read, read_file};
pub use write::{to_bytes, write_file};

use std::fmt;
use std::io;

use crate::{DType, TensorError};

/// What every file begins with.
const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Why a file is not a tensor, or a tensor no file.
#[derive(Debug)]
pub enum NpyError {
    /// The file cannot be read or written.
    Io(io::Error),
    /// It does not begin as a `.npy` file.
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
    /// The header is longer than any real one.
    LongHeader {
        /// Its length in bytes.
        len: u32,
    },
    /// The header is not the dictionary that it should be.
    Header {
        /// The byte of the file at which it goes wrong.
        at: usize,
        /// What is wrong.
        problem: &'static str,
    },
    /// An element type that tensors do not have.
    DType {
        /// NumPy's description.
        descr: String,
        /// Why not.
        problem: &'static str,
    },
    /// The file ends before the elements do.
    Truncated {
        /// The bytes of the elements.
        want: usize,
        /// The bytes that are there.
        got: usize,
    },
    /// The file goes on after the elements.
    Trailing,
    /// NumPy has no such element type.
    Unwritable(DType),
    /// There is no such tensor, or no memory for it, or it cannot be read now.
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
