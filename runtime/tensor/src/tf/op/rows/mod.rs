//! The rows of all operators, one file per family.
//!
//! The syntax of a row (see [`super::row`] for the columns):
//!
//! ```text
//! /// The summary.
//! Name "operands -> results; attributes" => columns;
//! ```
//!
//! The constant `Op::Name` holds the number of the family and the row's position in the family's table. The
//! rest of the project refers to operators by these constants, so a reference to an operator without a row
//! does not compile.
//!
//! A family whose Cargo feature is off has no rows: lookups do not find its operators, and the linker drops
//! their functions. The compiler enables all families. A program that names its operators when it is compiled
//! (`selected`) uses no lookup, and contains those alone.

mod binary;
mod control;
mod files;
mod fused;
mod images;
mod layers;
mod linear;
mod movement;
mod onnx;
mod operators;
mod others;
mod pictures;
mod quantize;
mod random;
mod reductions;
mod selected;
mod shaping;
mod sparse;
mod state;
mod strings;
mod tables;
mod unary;
mod updates;
mod values;
mod volumes;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, PoisonError, RwLock};

use super::row::{Class, Op, OpRow};

/// The operators of a file, and the Cargo feature that includes them.
struct Family {
    feature: &'static str,
    rows: &'static [&'static OpRow],
}

/// Defines the table of families, in which the position of a family is its number, and the tables of names,
/// classes and rows of all families, whether their features are on or off.
macro_rules! families {
    ($($module:ident $feature:literal,)+) => {
        const N_FAMILIES: usize = [$($feature),+].len();
        static FAMILIES: [Family; N_FAMILIES] = [$(Family {
            feature: $feature,
            rows: if cfg!(feature = $feature) { $module::ROWS } else { &[] },
        }),+];
        static NAMES: [&[&str]; N_FAMILIES] = [$($module::NAMES),+];
        static ARE_FUNCTIONS: [&[bool]; N_FAMILIES] = [$($module::ARE_FUNCTIONS),+];
        static CLASSES: [&[Class]; N_FAMILIES] = [$($module::CLASSES),+];
        static ROWS: [&[&OpRow]; N_FAMILIES] = [$($module::ROWS),+];
    };
}

families! {
    unary "tf-basic",
    binary "tf-basic",
    reductions "tf-basic",
    shaping "tf-basic",
    movement "tf-basic",
    layers "tf-nn",
    fused "tf-nn",
    values "tf-state",
    state "tf-state",
    control "tf-basic",
    others "tf-basic",
    images "tf-nn",
    random "tf-basic",
    volumes "tf-nn",
    linear "tf-linalg",
    quantize "tf-nn",
    sparse "tf-linalg",
    strings "tf-strings",
    onnx "tf-nn",
    tables "tf-state",
    updates "tf-train",
    files "tf-state",
    pictures "kernels-images",
}

/// All rows, in the order of the tables.
fn in_order() -> impl Iterator<Item = &'static OpRow> {
    FAMILIES.iter().flat_map(|family| family.rows.iter().copied())
}

/// The class of the operator with this name, without its row.
pub(super) fn class(name: &str) -> Option<Class> {
    let mut named = NAMES.iter().zip(&CLASSES).flat_map(|(names, classes)| names.iter().zip(classes.iter()));
    named.find(|(known, _)| **known == name).map(|(_, class)| *class)
}

static BY_NAME: LazyLock<HashMap<&'static str, &'static OpRow>> =
    LazyLock::new(|| in_order().map(|row| (row.name, row)).collect());

/// All rows, sorted by name.
pub fn rows() -> impl Iterator<Item = &'static OpRow> {
    static SORTED: LazyLock<Vec<&'static OpRow>> = LazyLock::new(|| {
        let mut rows: Vec<&OpRow> = in_order().collect();
        rows.sort_unstable_by_key(|row| row.name);
        rows
    });
    SORTED.iter().copied()
}

/// Rows that were added while the process runs, by name.
static ADDED: RwLock<BTreeMap<&'static str, &'static OpRow>> = RwLock::new(BTreeMap::new());

/// True once [`ADDED`] has a row.
static HAS_ADDED: AtomicBool = AtomicBool::new(false);

/// The row of the operator with this name.
pub fn row(name: &str) -> Option<&'static OpRow> {
    BY_NAME.get(name).copied().or_else(|| added_row(name))
}

/// Adds the row of an operator, for the whole process. Returns false, and adds nothing, if a row has its
/// name.
pub fn add_row(row: &'static OpRow) -> bool {
    // A poisoned lock guards a valid map: the map changes in one call, after all checks.
    let mut added = ADDED.write().unwrap_or_else(PoisonError::into_inner);
    if BY_NAME.contains_key(row.name) || added.contains_key(row.name) {
        return false;
    }
    added.insert(row.name, row);
    // Relaxed: pairs with the load in `added_row`. The flag publishes nothing; the lock publishes the rows.
    HAS_ADDED.store(true, Ordering::Relaxed);
    true
}

/// The row that was added at run time for the operator with this name.
pub fn added_row(name: &str) -> Option<&'static OpRow> {
    // Relaxed: pairs with the store in `add_row`. A thread that sees the flag takes the lock; a thread that
    // runs after `add_row` by any synchronization sees the flag.
    if !HAS_ADDED.load(Ordering::Relaxed) {
        return None;
    }
    ADDED.read().unwrap_or_else(PoisonError::into_inner).get(name).copied()
}

/// All rows that were added at run time, sorted by name.
pub fn added_rows() -> Vec<&'static OpRow> {
    ADDED.read().unwrap_or_else(PoisonError::into_inner).values().copied().collect()
}

impl Op {
    /// The operator's row.
    ///
    /// # Panics
    /// If the Cargo feature of the operator's family is off; see [`Op::feature`].
    pub fn row(self) -> &'static OpRow {
        self.family().rows[usize::from(self.0 & 0xff)]
    }

    /// The Cargo feature that includes the operator.
    pub fn feature(self) -> &'static str {
        self.family().feature
    }

    fn family(self) -> &'static Family {
        &FAMILIES[usize::from(self.0 >> 8)]
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

pub use selected::{are_functions, n_functions, selected};
