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
mod images;
mod layers;
mod linear;
mod movement;
mod onnx;
mod operators;
mod others;
mod quantize;
mod random;
mod reductions;
mod shaping;
mod sparse;
mod state;
mod strings;
mod tables;
mod unary;
mod updates;
mod values;
mod volumes;

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use super::row::{Op, OpRow};

static FAMILIES: [&[OpRow]; 21] = [
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
    &images::ROWS,
    &random::ROWS,
    &volumes::ROWS,
    &linear::ROWS,
    &quantize::ROWS,
    &sparse::ROWS,
    &strings::ROWS,
    &onnx::ROWS,
    &tables::ROWS,
    &updates::ROWS,
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

    /// The name of the op and of the kernel.
    pub fn op_name(self) -> &'static str {
        self.row().op_name
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
