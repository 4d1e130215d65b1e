//! The macro for a family's table of rows.

/// Defines a static for each row of a family, its tables, and the constants of its operators: the family's
/// number in the high byte, the row's position in the low byte. The number of the family is its position in
/// `FAMILIES` (`mod.rs`).
///
/// The tables besides `ROWS` are for those who need no row: a program that refers to `CLASSES`, or to others
/// at compile time, does not contain the functions of all rows.
macro_rules! operators {
    ($family:literal: $($(#[doc = $summary:literal])+ $name:ident $signature:literal => $columns:expr;)+) => {
        #[allow(
            non_camel_case_types,
            clippy::upper_case_acronyms,
            clippy::enum_variant_names,
            reason = "the names are TensorFlow's"
        )]
        #[repr(u16)]
        enum At { $($name,)+ }

        // The position has one byte of an operator's number.
        const _: () = assert!([$(At::$name),+].len() <= 256, "a family has at most 256 rows");

        #[allow(non_upper_case_globals, reason = "the names are TensorFlow's")]
        impl super::super::row::Op {
            $($(#[doc = $summary])+ pub const $name: Self = Self($family << 8 | At::$name as u16);)+
        }

        #[allow(non_upper_case_globals, reason = "the names are TensorFlow's")]
        mod each {
            use super::super::super::row::{Op, OpRow};
            #[allow(unused_imports, reason = "the columns of a row name what they need")]
            use super::*;

            $(pub(super) static $name: OpRow = OpRow::standard(
                Op::$name,
                concat!("tf.", stringify!($name)),
                concat!($($summary),+),
                $signature,
                $columns,
            );)+
        }

        pub(super) static ROWS: &[&super::super::row::OpRow] = &[$(&each::$name),+];
        pub(super) static NAMES: &[&str] = &[$(stringify!($name)),+];
        pub(super) static CLASSES: &[super::super::row::Class] = &[$($columns.class()),+];
        pub(super) static ARE_FUNCTIONS: &[bool] = &[$($columns.is_function()),+];
    };
}
pub(super) use operators;
