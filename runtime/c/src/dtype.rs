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

/// The number of strings, which no `DType` is.
pub(crate) const STRING: i32 = 7;

/// The element type of a number, strings among them.
pub(crate) fn type_of_number(number: i32) -> Option<Type> {
    if number == STRING { Some(Type::String) } else { of_number(number).map(Type::Dense) }
}

/// The element type of a number.
pub(crate) fn of_number(number: i32) -> Option<DType> {
    DTYPES.iter().find(|(known, _)| *known == number).map(|&(_, dtype)| dtype)
}

/// The number of an element type.
pub(crate) fn number(dtype: DType) -> i32 {
    DTYPES.iter().find(|(_, known)| *known == dtype).map_or(0, |&(number, _)| number)
}

#[test]
fn every_dtype_has_a_number() {
    for (number_of, dtype) in DTYPES {
        assert_eq!((of_number(number_of), number(dtype)), (Some(dtype), number_of));
    }
    assert_eq!(of_number(0), None);
}
