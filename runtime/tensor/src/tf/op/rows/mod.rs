//! The rows of all operators, one file per family.
//!
//! The syntax of a row (see [`super::row`] for the columns):
//!
//! ```text
//! /// The summary.
//! Name "operands -> results; attributes" => columns;
//! ```
//!
//! The position in the family's table is the value of the constant `Op::Name`, which the rest of the project
//! uses to refer to the operator. So a reference to an operator that does not exist does not compile.

mod binary;
mod control;
mod fused;
mod layers;
mod movement;
mod others;
mod reductions;
mod shaping;
mod state;
mod unary;
mod values;

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use super::row::{Op, OpRow};

/// Defines the table of a family, and the constants of its operators. The number of the family is its
/// position in [`FAMILIES`].
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

        #[allow(non_upper_case_globals, reason = "the names are TensorFlow's")]
        impl super::super::row::Op {
            $($(#[doc = $summary])+ pub const $name: Self = Self($family << 8 | At::$name as u16);)+
        }

        pub(super) static ROWS: [super::super::row::OpRow; [$(At::$name),+].len()] = {
            use super::super::row::{Op, OpRow};
            [$(OpRow::standard(Op::$name, stringify!($name), concat!($($summary),+), $signature, $columns),)+]
        };
    };
}
use operators;

static FAMILIES: [&[OpRow]; 11] = [
    &unary::ROWS,
    &binary::ROWS,
    &reductions::ROWS,
    &shaping::ROWS,
    &movement::ROWS,
    &layers::ROWS,
    &fused::ROWS,
    &values::ROWS,
    &state::ROWS,
    &control::ROWS,
    &others::ROWS,
];

static BY_NAME: LazyLock<HashMap<&'static str, &'static OpRow>> =
    LazyLock::new(|| FAMILIES.iter().copied().flatten().map(|row| (row.name, row)).collect());

/// All rows, sorted by name.
pub fn rows() -> impl Iterator<Item = &'static OpRow> {
    static SORTED: LazyLock<Vec<&'static OpRow>> = LazyLock::new(|| {
        let mut rows: Vec<&OpRow> = FAMILIES.iter().copied().flatten().collect();
        rows.sort_unstable_by_key(|row| row.name);
        rows
    });
    SORTED.iter().copied()
}

/// The row of the operator with this name.
pub fn row(name: &str) -> Option<&'static OpRow> {
    BY_NAME.get(name).copied()
}

impl Op {
    /// The operator's row.
    pub fn row(self) -> &'static OpRow {
        &FAMILIES[usize::from(self.0 >> 8)][usize::from(self.0 & 0xff)]
    }

    /// TensorFlow's name.
    pub fn name(self) -> &'static str {
        self.row().name
    }
}

impl fmt::Debug for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests;
