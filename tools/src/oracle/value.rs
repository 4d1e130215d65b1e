//! Values: what a register holds in the end.

use std::fmt;
use std::rc::Rc;

use befrost_tensor::{HostTensor, Shape};

/// What kind of failure an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The execution was cancelled.
    Cancelled,
    /// No other code fits.
    Unknown,
    /// An operand or attribute has a value that the op cannot take.
    InvalidArgument,
    /// Memory, or the depth of calls.
    ResourceExhausted,
    /// A constant would have been written.
    FailedPrecondition,
    /// A value lies outside its range.
    OutOfRange,
}

impl fmt::Display for Code {
    /// Its name, by which it is compared with the runtime's.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// An error: what failed and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind of failure.
    pub code: Code,
    /// What went wrong.
    pub message: String,
    /// Where the failing op stands, then the calls that led there, innermost first; `file:line:col` each.
    pub trace: Vec<String>,
}

/// A tensor. Clones share the elements.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// Type, shape and elements.
    pub data: HostTensor,
    /// Whether it is a constant of the program, which nobody may write.
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
    /// Control flow did not come this way.
    Dead,
    /// Its producer failed, or something that its producer needed.
    Error(Rc<Failure>),
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
    Shape(Shape),
    /// `!t.tensor`.
    Tensor(Tensor),
}

impl Value {
    /// The error inside.
    pub fn error(&self) -> Option<&Failure> {
        match self {
            Value::Error(failure) => Some(failure),
            _ => None,
        }
    }
}
