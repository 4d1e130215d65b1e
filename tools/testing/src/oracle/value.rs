//! Values: the final contents of registers.

use std::fmt;
use std::rc::Rc;

use befrost_tensor::{Dims, HostTensor};

/// The code of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The execution was cancelled.
    Cancelled,
    /// Any other error.
    Unknown,
    /// An invalid value of an operand or attribute.
    InvalidArgument,
    /// Memory, or the depth of calls, is exhausted.
    ResourceExhausted,
    /// A write to a constant, or a read of a variable before it is initialized.
    FailedPrecondition,
    /// A value outside its range.
    OutOfRange,
}

impl fmt::Display for Code {
    /// The name, which is compared with the runtime's.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// An error: the failure and its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OracleError {
    /// The code.
    pub code: Code,
    /// The message.
    pub message: String,
    /// The location of the failing op, then the calls that led there, innermost first; `file:line:col` each.
    pub trace: Vec<String>,
}

/// A tensor. Clones share the elements.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// Type, shape and elements.
    pub data: HostTensor,
    /// True for a constant of the program, which must not be written.
    pub is_constant: bool,
}

impl From<HostTensor> for Tensor {
    fn from(data: HostTensor) -> Tensor {
        Tensor { data, is_constant: false }
    }
}

/// A final value.
#[derive(Clone, Debug)]
pub enum Value {
    /// The control flow did not take this path.
    Dead,
    /// Its producer failed, or an operand of its producer was an error.
    Error(Rc<OracleError>),
    /// A chain.
    Chain,
    /// `i1`.
    I1(bool),
    /// `i32`.
    I32(i32),
    /// `i64`.
    I64(i64),
    /// `f32`.
    F32(f32),
    /// `f64`.
    F64(f64),
    /// `!ts.shape`.
    Shape(Dims),
    /// `!t.tensor`.
    Tensor(Tensor),
}

impl Value {
    /// The error, if the value is one.
    pub fn error(&self) -> Option<&OracleError> {
        match self {
            Value::Error(failure) => Some(failure),
            _ => None,
        }
    }
}
