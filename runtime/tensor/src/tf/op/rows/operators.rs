//! The macro for a family's table of rows.

/// Defines the table of a family, and the constants of its operators: the family's number in the high byte,
/// the row's position in the low byte. The number of the family is its position in `FAMILIES` (`mod.rs`).
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

        pub(super) static ROWS: [super::super::row::OpRow; [$(At::$name),+].len()] = {
            use super::super::row::{Op, OpRow};
            [$(OpRow::standard(Op::$name, concat!("tf.", stringify!($name)), concat!($($summary),+), $signature, $columns),)+]
        };
    };
}
pub(super) use operators;
