//! Element types of tensors and arrays.
//!
//! The codes are those of TFRT's data types, so that a code means the same in both systems. A code determines
//! the size of an element in a file and how kernels read it. The names are MLIR's.
//!
//! Not here: arithmetic on elements, which belongs to the tensor library.

use crate::layout::byte_enum;

byte_enum! {
    /// The type of one tensor element.
    DType {
        /// Unsigned, 8 bits.
        UI8 = 1,
        /// Unsigned, 16 bits.
        UI16 = 2,
        /// Unsigned, 32 bits.
        UI32 = 3,
        /// Unsigned, 64 bits.
        UI64 = 4,
        /// Boolean, stored as one byte, 0 or 1.
        I1 = 5,
        /// Signless, 8 bits.
        I8 = 6,
        /// Signless, 16 bits.
        I16 = 7,
        /// Signless, 32 bits.
        I32 = 8,
        /// Signless, 64 bits.
        I64 = 9,
        /// IEEE single.
        F32 = 10,
        /// IEEE double.
        F64 = 11,
        /// Two IEEE singles: real, imaginary.
        Complex64 = 12,
        /// Two IEEE doubles: real, imaginary.
        Complex128 = 13,
        /// IEEE half.
        F16 = 14,
        /// The upper half of an IEEE single.
        BF16 = 15,
        /// A string; has no size in a file.
        String = 16,
        /// The handle of a resource; has no size in a file.
        Resource = 17,
        /// Any value; has no size in a file.
        Variant = 18,
        /// Quantized, unsigned, 8 bits.
        QUI8 = 19,
        /// Quantized, unsigned, 16 bits.
        QUI16 = 20,
        /// Quantized, 8 bits.
        QI8 = 21,
        /// Quantized, 16 bits.
        QI16 = 22,
        /// Quantized, 32 bits.
        QI32 = 23,
    }
}

impl DType {
    /// The size of an element in bytes; 0 for types that cannot be stored in a file (string, resource,
    /// variant).
    pub fn size(self) -> usize {
        match self {
            DType::UI8 | DType::I1 | DType::I8 | DType::QUI8 | DType::QI8 => 1,
            DType::UI16 | DType::I16 | DType::F16 | DType::BF16 | DType::QUI16 | DType::QI16 => 2,
            DType::UI32 | DType::I32 | DType::F32 | DType::QI32 => 4,
            DType::UI64 | DType::I64 | DType::F64 | DType::Complex64 => 8,
            DType::Complex128 => 16,
            DType::String | DType::Resource | DType::Variant => 0,
        }
    }

    /// The element type's name in MLIR.
    pub fn name(self) -> &'static str {
        match self {
            DType::UI8 => "ui8",
            DType::UI16 => "ui16",
            DType::UI32 => "ui32",
            DType::UI64 => "ui64",
            DType::I1 => "i1",
            DType::I8 => "i8",
            DType::I16 => "i16",
            DType::I32 => "i32",
            DType::I64 => "i64",
            DType::F32 => "f32",
            DType::F64 => "f64",
            DType::Complex64 => "complex<f32>",
            DType::Complex128 => "complex<f64>",
            DType::F16 => "f16",
            DType::BF16 => "bf16",
            DType::String => "!corert.string",
            DType::Resource => "!corert.resource",
            DType::Variant => "!corert.variant",
            DType::QUI8 => "!corert.quint8",
            DType::QUI16 => "!corert.quint16",
            DType::QI8 => "!corert.qint8",
            DType::QI16 => "!corert.qint16",
            DType::QI32 => "!corert.qint32",
        }
    }

    /// The type with this MLIR name, if supported.
    pub fn from_name(name: &str) -> Option<DType> {
        DType::ALL.iter().copied().find(|dtype| dtype.name() == name)
    }

    /// True for integers (booleans included, quantized types excluded).
    pub fn is_int(self) -> bool {
        (DType::UI8..=DType::I64).contains(&self)
    }

    /// True for real floating-point numbers.
    pub fn is_float(self) -> bool {
        matches!(self, DType::F16 | DType::BF16 | DType::F32 | DType::F64)
    }
}

impl std::fmt::Display for DType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
