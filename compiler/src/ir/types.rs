//! Types: structural, interned, compared by id.
//!
//! Every builtin type of MLIR has its own case; a type of a dialect is kept as its name and the text between its
//! angle brackets ([`TypeKind::Opaque`]), since nothing in the compiler looks inside. Two types are equal exactly if
//! their [`TypeId`]s are. Arithmetic is defined on the ordinary integers and floats only; the exotic ones (f8, f80,
//! ...) are stored and printed.

use super::{AttrId, StrId, TypeId};

/// A dimension whose size is not known at compile time.
pub const DYNAMIC: i64 = i64::MIN;

/// Whether an integer type says how its bits are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Signedness {
    /// `i32`: the operation decides.
    Signless,
    /// `si32`.
    Signed,
    /// `ui32`.
    Unsigned,
}

macro_rules! float_kinds {
    ($($kind:ident $name:literal $bits:literal,)*) => {
        /// The floating point formats.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "the names are MLIR's own type names")]
        pub enum FloatKind { $($kind,)* }

        impl FloatKind {
            /// Every format.
            pub const ALL: &'static [FloatKind] = &[$(FloatKind::$kind,)*];

            /// As written in a program.
            pub fn name(self) -> &'static str {
                match self { $(FloatKind::$kind => $name,)* }
            }

            /// Width in bits.
            pub fn bits(self) -> u32 {
                match self { $(FloatKind::$kind => $bits,)* }
            }

            /// The format called `name`.
            pub fn from_name(name: &str) -> Option<FloatKind> {
                match name { $($name => Some(FloatKind::$kind),)* _ => None }
            }
        }
    };
}
float_kinds! {
    F16 "f16" 16, BF16 "bf16" 16, F32 "f32" 32, F64 "f64" 64, F80 "f80" 80, F128 "f128" 128, TF32 "tf32" 19,
    F4E2M1FN "f4E2M1FN" 4, F6E2M3FN "f6E2M3FN" 6, F6E3M2FN "f6E3M2FN" 6,
    F8E5M2 "f8E5M2" 8, F8E4M3 "f8E4M3" 8, F8E4M3FN "f8E4M3FN" 8, F8E5M2FNUZ "f8E5M2FNUZ" 8,
    F8E4M3FNUZ "f8E4M3FNUZ" 8, F8E4M3B11FNUZ "f8E4M3B11FNUZ" 8, F8E3M4 "f8E3M4" 8, F8E8M0FNU "f8E8M0FNU" 8,
}

impl FloatKind {
    /// True for the formats whose values are held as bits (f16, bf16, f32, f64); the others are held as text.
    pub fn has_bits(self) -> bool {
        matches!(self, FloatKind::F16 | FloatKind::BF16 | FloatKind::F32 | FloatKind::F64)
    }
}

/// What a type is. Shapes use [`DYNAMIC`] for `?`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TypeKind {
    /// `i32`, `ui8`, ...: at most 2^24-1 bits wide.
    Integer {
        /// Number of bits.
        width: u32,
        /// How the bits are read.
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
        /// Which sizes are scalable, parallel to `shape`.
        scalable: Box<[bool]>,
        /// Element type.
        elem: TypeId,
    },
    /// `tensor<2x?xf32>`, `tensor<*xf32>`.
    Tensor {
        /// Sizes, or nothing if unranked.
        shape: Option<Box<[i64]>>,
        /// Element type.
        elem: TypeId,
        /// The attribute after the comma.
        encoding: Option<AttrId>,
    },
    /// `memref<2x?xf32, layout, space>`.
    MemRef {
        /// Sizes, or nothing if unranked.
        shape: Option<Box<[i64]>>,
        /// Element type.
        elem: TypeId,
        /// Layout (an affine map or `strided<...>`), then memory space, as far as written.
        extra: Box<[AttrId]>,
    },
    /// `!dialect.name` or `!dialect.name<body>`: `text` is all that follows the `!`.
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
