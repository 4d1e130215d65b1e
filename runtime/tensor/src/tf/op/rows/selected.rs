//! Rows that a program names when it is compiled.
//!
//! ```text
//! "tf.Const tf._PackedMatMul" ──at compile time──▶ [&Const, &_PackedMatMul] ──linker──▶ two operators' code
//! ```
//!
//! The lookups of this module's parent refer to every row, and the rows to every operator's code. A static of
//! [`selected`] rows refers to those alone. A text may also name other kernels, which have no function of
//! tensors in a row.

use super::super::row::{OpRow, PREFIX};
use super::{ARE_FUNCTIONS, NAMES, ROWS};

/// The row of the function of dense tensors with this op name, if it is one.
///
/// # Panics
/// If the name begins with `tf.` and is that of no op: at compile time.
const fn find(op_name: &[u8]) -> Option<&'static OpRow> {
    let Some((prefix, name)) = op_name.split_at_checked(PREFIX.len()) else { return None };
    if !is_equal(prefix, PREFIX.as_bytes()) {
        return None;
    }
    let mut family = 0;
    while family < NAMES.len() {
        let mut at = 0;
        while at < NAMES[family].len() {
            if is_equal(NAMES[family][at].as_bytes(), name) {
                return if ARE_FUNCTIONS[family][at] { Some(ROWS[family][at]) } else { None };
            }
            at += 1;
        }
        family += 1;
    }
    // The kernels without a row, such as `tf._Switch`, are the compiler's own.
    assert!(matches!(name, [b'_', ..]), "the dialect `tf` has no op of one of the names");
    None
}

/// `a == b`, which is not yet a constant function.
const fn is_equal(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// The first word of a text in which spaces divide words, and the text behind it; `None` if there is none.
const fn word(mut text: &[u8]) -> Option<(&[u8], &[u8])> {
    while let [b' ', rest @ ..] = text {
        text = rest;
    }
    let mut end = 0;
    while end < text.len() && text[end] != b' ' {
        end += 1;
    }
    if end == 0 { None } else { Some(text.split_at(end)) }
}

/// True if each word of the text names a function of dense tensors or a kernel of arenas.
///
/// # Panics
/// As [`selected`].
pub const fn are_functions(names: &str) -> bool {
    let mut rest = names.as_bytes();
    while let Some((name, behind)) = word(rest) {
        if find(name).is_none() && !is_equal(name, b"cpu.arena") && !is_equal(name, b"cpu.scaled_arena") {
            return false;
        }
        rest = behind;
    }
    true
}

/// The number of words in a text that name functions of dense tensors: the `N` of [`selected`].
///
/// # Panics
/// As [`selected`].
pub const fn n_functions(names: &str) -> usize {
    let (mut n, mut rest) = (0, names.as_bytes());
    while let Some((name, behind)) = word(rest) {
        n += find(name).is_some() as usize;
        rest = behind;
    }
    n
}

/// The rows of the functions of dense tensors that a text names by their op names, in its order.
///
/// # Panics
/// If a word begins with `tf.` and is the name of no op, or the text does not name `N` functions: at compile
/// time, in a static.
pub const fn selected<const N: usize>(names: &str) -> [&'static OpRow; N] {
    let (mut rows, mut n, mut rest) = ([ROWS[0][0]; N], 0, names.as_bytes());
    while let Some((name, behind)) = word(rest) {
        if let Some(row) = find(name) {
            (rows[n], n) = (row, n + 1);
        }
        rest = behind;
    }
    assert!(n == N, "the text does not name N functions");
    rows
}
