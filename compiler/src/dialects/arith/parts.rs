//! Parts of `arith`'s ops, apart from the table, so that folders and patterns, which the table names, can
//! name them.

use crate::dialects::view::{Operand, views};
use crate::dialects::{EnumDef, FlagsDef};
use crate::ir::KnownType;

views! {
    /// `arith.select`.
    Select = "arith.select" { condition: Operand<0>, true_value: Operand<1>, false_value: Operand<2>, }
}

/// `#arith.overflow<...>`: the result is poison if it overflows.
pub static OVERFLOW: FlagsDef = FlagsDef {
    name: "arith.overflow",
    words: &["nsw", "nuw"],
    all: None,
    none: "none",
    separator: Some(", "),
};

/// `#arith.fastmath<...>`: liberties that an optimizer may take.
pub static FASTMATH: FlagsDef = FlagsDef {
    name: "arith.fastmath",
    words: &["reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn"],
    all: Some("fast"),
    none: "none",
    separator: Some(","),
};

/// Comparisons of integers.
pub static CMPI: EnumDef = EnumDef {
    what: "a predicate of `arith.cmpi`",
    ty: KnownType::I64,
    words: &["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"],
};

/// Comparisons of floats: `o..` is false for NaN, `u..` is true.
pub static CMPF: EnumDef = EnumDef {
    what: "a predicate of `arith.cmpf`",
    ty: KnownType::I64,
    words: &[
        "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une",
        "uno", "true",
    ],
};

/// Rounding of `arith.truncf`.
pub static ROUNDING: EnumDef = EnumDef {
    what: "a rounding mode",
    ty: KnownType::I32,
    words: &["to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away"],
};
