//! TensorFlow's element types: those of dense tensors and of other values.
//!
//! ```text
//! DataType 1..14, 17..19, 22, 23 ──▶ Dense(DType)      7 ──▶ String      20 ──▶ Resource      21 ──▶ Variant
//! 11, 12, 13, 15, 16 (quantized) ──▶ Dense, as the integers that store them      24.. ──▶ refused, by name
//! ```
//!
//! A quantized type differs from its integer in nothing that a tensor stores: the range of the numbers for
//! which the integers stand is in operands of its own. So a model's `qint8` is `int8` here, in values,
//! attributes and signatures.
//!
//! A code above 100 is a reference to the type whose code is 100 less.

use std::fmt;

use crate::DType;

/// The element type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// Numbers or booleans.
    Dense(DType),
    /// Strings of bytes.
    String,
    /// Handles of stateful objects.
    Resource,
    /// Objects, such as lists of tensors.
    Variant,
}

/// The supported types: TensorFlow's code and the name in its signatures.
const TYPES: [(i32, &str, Type); 18] = [
    (1, "float", Type::Dense(DType::F32)),
    (2, "double", Type::Dense(DType::F64)),
    (3, "int32", Type::Dense(DType::I32)),
    (4, "uint8", Type::Dense(DType::UI8)),
    (5, "int16", Type::Dense(DType::I16)),
    (6, "int8", Type::Dense(DType::I8)),
    (7, "string", Type::String),
    (8, "complex64", Type::Dense(DType::Complex64)),
    (9, "int64", Type::Dense(DType::I64)),
    (10, "bool", Type::Dense(DType::I1)),
    (14, "bfloat16", Type::Dense(DType::BF16)),
    (17, "uint16", Type::Dense(DType::UI16)),
    (18, "complex128", Type::Dense(DType::Complex128)),
    (19, "half", Type::Dense(DType::F16)),
    (20, "resource", Type::Resource),
    (21, "variant", Type::Variant),
    (22, "uint32", Type::Dense(DType::UI32)),
    (23, "uint64", Type::Dense(DType::UI64)),
];

/// The quantized types, and the integers that store them.
const QUANTIZED: [(i32, &str, Type); 5] = [
    (11, "qint8", Type::Dense(DType::I8)),
    (12, "quint8", Type::Dense(DType::UI8)),
    (13, "qint32", Type::Dense(DType::I32)),
    (15, "qint16", Type::Dense(DType::I16)),
    (16, "quint16", Type::Dense(DType::UI16)),
];

/// The refused codes, with names for messages.
const REFUSED: [(i32, &str); 11] = [
    (0, "invalid"),
    (24, "float8_e5m2"),
    (25, "float8_e4m3fn"),
    (26, "float8_e4m3fnuz"),
    (27, "float8_e4m3b11fnuz"),
    (28, "float8_e5m2fnuz"),
    (29, "int4"),
    (30, "uint4"),
    (31, "int2"),
    (32, "uint2"),
    (33, "float4_e2m1fn"),
];

/// An unsupported code of TensorFlow's `DataType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusedType(i32);

impl fmt::Display for RefusedType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match REFUSED.iter().find(|(code, _)| *code == self.0) {
            Some((_, name)) => write!(f, "elements of type `{name}` are not supported"),
            None => write!(f, "there is no element type with the code {}", self.0),
        }
    }
}

impl std::error::Error for RefusedType {}

impl Type {
    /// The type with this code of TensorFlow's `DataType`, and whether it is a reference.
    pub fn from_code(code: i32) -> Result<(Type, bool), RefusedType> {
        let is_ref = code > 100;
        let plain = if is_ref { code - 100 } else { code };
        let found = TYPES.iter().chain(&QUANTIZED).find(|(known, _, _)| *known == plain);
        found.map(|(_, _, ty)| (*ty, is_ref)).ok_or(RefusedType(plain))
    }

    /// TensorFlow's code.
    pub fn code(self) -> i32 {
        TYPES.iter().find(|(_, _, ty)| *ty == self).map_or(0, |(code, _, _)| *code)
    }

    /// TensorFlow's code of the quantized type that this integer stores.
    pub fn quantized_code(self) -> Option<i32> {
        QUANTIZED.iter().find(|(_, _, ty)| *ty == self).map(|(code, _, _)| *code)
    }

    /// The type with this name in TensorFlow's signatures, such as `float`.
    pub fn named(name: &str) -> Option<Type> {
        TYPES.iter().chain(&QUANTIZED).find(|(_, known, _)| *known == name).map(|(_, _, ty)| *ty)
    }

    /// The name in TensorFlow's signatures.
    pub fn name(self) -> &'static str {
        TYPES.iter().find(|(_, _, ty)| *ty == self).map_or("invalid", |(_, name, _)| name)
    }

    /// The type with this name in the IR's types of references to variables, such as `int32` or `f32`.
    pub fn referred(name: &str) -> Option<Type> {
        match name {
            "f32" => Some(Type::Dense(DType::F32)),
            "f64" => Some(Type::Dense(DType::F64)),
            _ => Type::named(name).filter(|ty| ty.referred_name() == name),
        }
    }

    /// The name in the IR's types of references to variables.
    pub fn referred_name(self) -> &'static str {
        match self {
            Type::Dense(DType::F32) => "f32",
            Type::Dense(DType::F64) => "f64",
            _ => self.name(),
        }
    }

    /// The element type of a dense tensor.
    pub fn dtype(self) -> Option<DType> {
        match self {
            Type::Dense(dtype) => Some(dtype),
            Type::String | Type::Resource | Type::Variant => None,
        }
    }
}

impl From<DType> for Type {
    fn from(dtype: DType) -> Type {
        Type::Dense(dtype)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Dense(dtype) => dtype.fmt(f),
            Type::String | Type::Resource | Type::Variant => f.write_str(self.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_names_lead_back() {
        for dtype in DType::ALL {
            assert_eq!(Type::from_code(Type::from(dtype).code()), Ok((Type::Dense(dtype), false)));
        }
        for (code, name, ty) in TYPES {
            assert_eq!((ty.code(), ty.name(), Type::named(name)), (code, name, Some(ty)));
            assert_eq!(Type::referred(ty.referred_name()), Some(ty));
            assert_eq!(Type::from_code(code + 100), Ok((ty, true)));
        }
        for (code, name, ty) in QUANTIZED {
            assert_eq!((Type::from_code(code + 100), Type::named(name)), (Ok((ty, true)), Some(ty)));
            assert_eq!(ty.quantized_code(), Some(code));
            assert_eq!(Type::referred(name), None, "references are to the integers");
        }
        for code in [i32::MIN, -1, 0, 24, 33, 34, 100, 200, i32::MAX] {
            assert!(Type::from_code(code).is_err(), "{code}");
        }
        assert_eq!((Type::referred("float"), Type::referred("i32")), (None, None));
        let words = |code| Type::from_code(code).unwrap_err().to_string();
        assert_eq!(words(129), "elements of type `int4` are not supported");
        assert_eq!(words(-5), "there is no element type with the code -5");
        assert_eq!(Type::from(DType::F32).to_string(), "f32");
    }
}
