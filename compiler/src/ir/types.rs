//! Types: structural, interned, compared by id.
//!
//! Every builtin type of MLIR has its own case. A type of a dialect is its name and the text between its
//! angle brackets ([`TypeKind::Opaque`]), since the compiler does not interpret them. Two types are equal if
//! and only if their [`TypeId`]s are. Arithmetic is defined on the ordinary integers and floats only; the
//! exotic ones (f8, f80, ...) are stored and printed.

use super::{AttrId, FloatKind, StrId, TypeId};

/// A dimension of unknown size.
pub const DYNAMIC: i64 = i64::MIN;

/// Signedness of an integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Signedness {
    /// `i32`: determined by the operation.
    Signless,
    /// `si32`.
    Signed,
    /// `ui32`.
    Unsigned,
}

/// The contents of a type. Shapes use [`DYNAMIC`] for `?`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TypeKind {
    /// `i32`, `ui8`, ...: at most 2^24-1 bits wide.
    Integer {
        /// Number of bits.
        width: u32,
        /// Signedness.
        sign: Signedness,
    },
    /// `f32`, ...
    Float(FloatKind),
    /// `index`.
    Index,
    /// `none`.
    None,
    /// `complex<f32>`.
    Complex(TypeId),
    /// `tuple<i32, f32>`.
    Tuple(Box<[TypeId]>),
    /// `(i32) -> i1`.
    Function {
        /// Argument types.
        inputs: Box<[TypeId]>,
        /// Result types.
        results: Box<[TypeId]>,
    },
    /// `vector<2x[4]xf32>`.
    Vector {
        /// Sizes; never dynamic.
        shape: Box<[i64]>,
        /// True for scalable sizes, parallel to `shape`.
        scalable: Box<[bool]>,
        /// Element type.
        elem: TypeId,
    },
    /// `tensor<2x?xf32>`, `tensor<*xf32>`.
    Tensor {
        /// Sizes; `None` if unranked.
        shape: Option<Box<[i64]>>,
        /// Element type.
        elem: TypeId,
        /// The attribute after the comma.
        encoding: Option<AttrId>,
    },
    /// `memref<2x?xf32, layout, space>`.
    MemRef {
        /// Sizes; `None` if unranked.
        shape: Option<Box<[i64]>>,
        /// Element type.
        elem: TypeId,
        /// An affine map that is no identity, or `strided<...>`.
        layout: Option<AttrId>,
        /// The memory space, unless it is the integer 0.
        space: Option<AttrId>,
    },
    /// `!dialect.name`, `!dialect.name<body>` or `!dialect<"body">`: all that follows the `!`.
    Opaque(StrId),
}

impl TypeKind {
    /// The shape and the element type of a tensor, vector or memref; the shape is absent if unranked.
    pub fn shaped(&self) -> Option<(Option<&[i64]>, TypeId)> {
        match self {
            TypeKind::Tensor { shape, elem, .. } | TypeKind::MemRef { shape, elem, .. } => {
                Some((shape.as_deref(), *elem))
            }
            TypeKind::Vector { shape, elem, .. } => Some((Some(shape), *elem)),
            _ => None,
        }
    }
}
