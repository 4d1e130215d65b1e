//! Element types by their numbers in the header.

use befrost::DType;
use befrost::eager::Type;

/// The element types; their numbers never change.
const DTYPES: [(i32, DType); 15] = [
    (1, DType::F32),
    (2, DType::F64),
    (3, DType::I32),
    (4, DType::UI8),
    (5, DType::I16),
    (6, DType::I8),
    (8, DType::Complex64),
    (9, DType::I64),
    (10, DType::I1),
    (14, DType::BF16),
    (17, DType::UI16),
    (18, DType::Complex128),
    (19, DType::F16),
    (22, DType::UI32),
    (23, DType::UI64),
];

/// The element types of other tensors.
const OTHERS: [(i32, Type); 3] = [(7, Type::String), (20, Type::Resource), (21, Type::Variant)];

/// The element type of a number, strings among them.
pub(crate) fn type_of_number(number: i32) -> Option<Type> {
    let other = OTHERS.iter().find(|(known, _)| *known == number).map(|&(_, ty)| ty);
    other.or_else(|| of_number(number).map(Type::Dense))
}

/// The number of an element type.
pub(crate) fn number(ty: Type) -> i32 {
    match ty {
        Type::Dense(dtype) => {
            DTYPES.iter().find(|(_, known)| *known == dtype).map_or(0, |&(number, _)| number)
        }
        other => OTHERS.iter().find(|(_, known)| *known == other).map_or(0, |&(number, _)| number),
    }
}

/// The element type of a number.
pub(crate) fn of_number(number: i32) -> Option<DType> {
    DTYPES.iter().find(|(known, _)| *known == number).map(|&(_, dtype)| dtype)
}

#[test]
fn every_type_has_a_number() {
    let types = DTYPES.iter().map(|&(number, dtype)| (number, Type::Dense(dtype))).chain(OTHERS);
    for (known, ty) in types {
        assert_eq!((type_of_number(known), number(ty)), (Some(ty), known));
    }
    assert_eq!(type_of_number(0), None);
}
