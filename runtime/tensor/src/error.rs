//! Errors of tensor operations. Messages name the expected and the actual value.

use std::fmt;

use befrost_mem::{AllocError, BorrowError};

use crate::{DType, Shape};

/// The reason why an operation on tensors was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TensorError {
    /// An operand has the wrong element type.
    DType {
        /// The operand's role, such as `a` or `out`.
        what: &'static str,
        /// The expected element type.
        want: DType,
        /// The actual element type.
        got: DType,
    },
    /// An operand has the wrong shape.
    Shape {
        /// The operand's role.
        what: &'static str,
        /// The expected shape.
        want: Shape,
        /// The actual shape.
        got: Shape,
    },
    /// An operand has the wrong rank.
    Rank {
        /// The operand's role.
        what: &'static str,
        /// The expected rank.
        want: usize,
        /// The actual shape.
        got: Shape,
    },
    /// The inner dimensions of a matrix product differ.
    MatmulShapes {
        /// The left matrix.
        a: Shape,
        /// The right matrix.
        b: Shape,
    },
    /// An axis that the shape does not have.
    Axis {
        /// The requested axis.
        axis: i64,
        /// The shape.
        shape: Shape,
    },
    /// The largest element of an empty axis was requested.
    EmptyAxis {
        /// The shape.
        shape: Shape,
    },
    /// An index does not fit the element type of the result.
    IndexRange {
        /// The length of the axis.
        n: usize,
    },
    /// A dimension is negative.
    NegativeDim {
        /// The position of the dimension.
        at: usize,
        /// Its value.
        dim: i64,
    },
    /// More dimensions than a tensor can have.
    TooManyDims {
        /// The rank.
        rank: usize,
    },
    /// The number of elements or bytes of a shape overflows.
    TooLarge,
    /// The size of a buffer differs from the tensor's.
    BufferSize {
        /// The tensor's size in bytes.
        want: usize,
        /// The buffer's size in bytes.
        got: usize,
    },
    /// A number of elements differs from the tensor's.
    Count {
        /// The number of elements of the tensor.
        want: usize,
        /// The given number of elements.
        got: usize,
    },
    /// The address of a buffer is not aligned for its elements.
    Misaligned {
        /// The element type.
        dtype: DType,
    },
    /// An operand is the same tensor as the result, where in-place operation is not supported.
    Aliased {
        /// The operand's role.
        what: &'static str,
    },
    /// Two shapes that do not broadcast.
    Broadcast {
        /// The left operand's.
        a: Shape,
        /// The right operand's.
        b: Shape,
    },
    /// An operator that is not defined for this element type.
    Unsupported {
        /// TensorFlow's name of the operator.
        op: &'static str,
        /// The element type.
        dtype: DType,
    },
    /// An operand or attribute that the operator refuses.
    Invalid {
        /// TensorFlow's name of the operator.
        op: &'static str,
        /// The problem, shapes included.
        problem: String,
    },
    /// Out of memory.
    Alloc(AllocError),
    /// The work was [interrupted](crate::interrupt).
    Interrupted,
    /// The bytes are borrowed elsewhere, or read-only.
    Borrow(BorrowError),
}

impl fmt::Display for TensorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TensorError::DType { what, want, got } => write!(f, "`{what}` has dtype {got}, expected {want}"),
            TensorError::Shape { what, want, got } => write!(f, "`{what}` has shape {got}, expected {want}"),
            TensorError::Rank { what, want, got } => {
                write!(f, "`{what}` has shape {got} of rank {}, expected rank {want}", got.rank())
            }
            TensorError::MatmulShapes { a, b } => {
                write!(f, "cannot multiply matrices of shapes {a} and {b}: the inner dimensions differ")
            }
            TensorError::Axis { axis, shape } => {
                write!(f, "axis {axis} is not one of shape {shape} of rank {}", shape.rank())
            }
            TensorError::EmptyAxis { shape } => {
                write!(f, "no largest element: the axis of shape {shape} is empty")
            }
            TensorError::IndexRange { n } => write!(f, "an axis of length {n} is too long for i32 indices"),
            TensorError::NegativeDim { at, dim } => write!(f, "dimension {at} of the shape is {dim}"),
            TensorError::TooManyDims { rank } => {
                write!(f, "a tensor of rank {rank}: the largest rank is {}", crate::MAX_RANK)
            }
            TensorError::TooLarge => f.write_str("the tensor is larger than the address space"),
            TensorError::BufferSize { want, got } => {
                write!(f, "a tensor of {want} bytes in a buffer of {got} bytes")
            }
            TensorError::Count { want, got } => write!(f, "{got} values for a tensor of {want} elements"),
            TensorError::Misaligned { dtype } => {
                write!(f, "the buffer is not aligned for elements of dtype {dtype}")
            }
            TensorError::Aliased { what } => {
                write!(f, "`{what}` and `out` are the same tensor, which is not possible here")
            }
            TensorError::Broadcast { a, b } => write!(f, "shapes {a} and {b} cannot be broadcast together"),
            TensorError::Unsupported { op, dtype } => {
                write!(f, "`{op}` does not take elements of dtype {dtype}")
            }
            TensorError::Invalid { op, problem } => write!(f, "`{op}`: {problem}"),
            TensorError::Alloc(error) => error.fmt(f),
            TensorError::Interrupted => f.write_str("the work was interrupted"),
            TensorError::Borrow(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for TensorError {}

impl From<AllocError> for TensorError {
    fn from(error: AllocError) -> TensorError {
        TensorError::Alloc(error)
    }
}

impl From<BorrowError> for TensorError {
    fn from(error: BorrowError) -> TensorError {
        TensorError::Borrow(error)
    }
}

/// The error for an operand or attribute that the operator refuses.
pub(crate) fn invalid<T>(op: &'static str, problem: String) -> Result<T, TensorError> {
    Err(TensorError::Invalid { op, problem })
}
