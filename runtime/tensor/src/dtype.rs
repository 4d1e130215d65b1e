//! Element types: TFRT's codes, names and sizes.
//!
//! The codes are those of BEF attributes and of TFRT's in-memory enum (reference, 2.6). Codes 16 to 23
//! (strings, resources, variants, quantized integers) are not dense element types and are absent here.
//! Strings have [`crate::StringTensor`].

use std::fmt;
use std::str::FromStr;

/// The type of the elements of a dense tensor.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DType {
    /// Unsigned, 8 bits.
    UI8 = 1,
    /// Unsigned, 16 bits.
    UI16 = 2,
    /// Unsigned, 32 bits.
    UI32 = 3,
    /// Unsigned, 64 bits.
    UI64 = 4,
    /// Booleans, one byte each.
    I1 = 5,
    /// Signed, 8 bits.
    I8 = 6,
    /// Signed, 16 bits.
    I16 = 7,
    /// Signed, 32 bits.
    I32 = 8,
    /// Signed, 64 bits.
    I64 = 9,
    /// IEEE binary32.
    F32 = 10,
    /// IEEE binary64.
    F64 = 11,
    /// Two binary32: real and imaginary part.
    Complex64 = 12,
    /// Two binary64: real and imaginary part.
    Complex128 = 13,
    /// IEEE binary16.
    F16 = 14,
    /// The upper half of a binary32.
    BF16 = 15,
}

impl DType {
    /// All element types, in the order of their codes.
    pub const ALL: [DType; 15] = [
        DType::UI8,
        DType::UI16,
        DType::UI32,
        DType::UI64,
        DType::I1,
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::F32,
        DType::F64,
        DType::Complex64,
        DType::Complex128,
        DType::F16,
        DType::BF16,
    ];

    /// TFRT's code.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The element type with this code, if there is one.
    pub fn from_code(code: u8) -> Option<DType> {
        DType::ALL.get(usize::from(code).checked_sub(1)?).copied()
    }

    /// The size of an element in bytes.
    pub const fn size(self) -> usize {
        match self {
            DType::I1 | DType::I8 | DType::UI8 => 1,
            DType::I16 | DType::UI16 | DType::F16 | DType::BF16 => 2,
            DType::I32 | DType::UI32 | DType::F32 => 4,
            DType::I64 | DType::UI64 | DType::F64 | DType::Complex64 => 8,
            DType::Complex128 => 16,
        }
    }

    /// The alignment of one element in memory.
    pub const fn align(self) -> usize {
        match self {
            DType::Complex64 => 4,
            DType::Complex128 => 8,
            DType::I1 | DType::I8 | DType::UI8 => 1,
            DType::I16 | DType::UI16 | DType::F16 | DType::BF16 => 2,
            DType::I32 | DType::UI32 | DType::F32 => 4,
            DType::I64 | DType::UI64 | DType::F64 => 8,
        }
    }

    /// The name in kernel suffixes, literals and printed tensors.
    pub const fn name(self) -> &'static str {
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
            DType::Complex64 => "complex64",
            DType::Complex128 => "complex128",
            DType::F16 => "f16",
            DType::BF16 => "bf16",
        }
    }

    /// True if elements are compared with a tolerance.
    pub const fn is_inexact(self) -> bool {
        matches!(
            self,
            DType::F16 | DType::BF16 | DType::F32 | DType::F64 | DType::Complex64 | DType::Complex128
        )
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Names of element types in numpy and TensorFlow that differ from ours.
const NUMPY: [(&str, DType); 16] = [
    ("bool", DType::I1),
    ("uint8", DType::UI8),
    ("uint16", DType::UI16),
    ("uint32", DType::UI32),
    ("uint64", DType::UI64),
    ("int8", DType::I8),
    ("int16", DType::I16),
    ("int32", DType::I32),
    ("int64", DType::I64),
    ("float16", DType::F16),
    ("half", DType::F16),
    ("bfloat16", DType::BF16),
    ("float", DType::F32),
    ("float32", DType::F32),
    ("double", DType::F64),
    ("float64", DType::F64),
];

/// A name that is not an element type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDType(String);

impl fmt::Display for UnknownDType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown element type `{}`; there are", self.0)?;
        DType::ALL.iter().try_for_each(|dtype| write!(f, " {dtype}"))?;
        match NUMPY.iter().find(|(name, _)| *name == self.0) {
            Some((name, dtype)) => write!(f, "; `{name}` is {dtype} here"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for UnknownDType {}

impl FromStr for DType {
    type Err = UnknownDType;

    fn from_str(name: &str) -> Result<DType, UnknownDType> {
        DType::ALL
            .into_iter()
            .find(|dtype| dtype.name() == name)
            .ok_or_else(|| UnknownDType(name.chars().take(32).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_names_lead_back() {
        for dtype in DType::ALL {
            assert_eq!(DType::from_code(dtype.code()), Some(dtype));
            assert_eq!(dtype.name().parse(), Ok(dtype));
            assert_eq!(dtype.size() % dtype.align(), 0);
        }
        for code in [0, 16, 25, 255] {
            assert_eq!(DType::from_code(code), None);
        }
        assert_eq!(DType::F32.code(), 10);
        let error = "float".parse::<DType>().unwrap_err().to_string();
        assert!(error.contains("`float`; there are ui8"), "{error}");
        assert!(error.ends_with("; `float` is f32 here"), "{error}");
    }
}
