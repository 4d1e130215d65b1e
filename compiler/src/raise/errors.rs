//! Diagnostics for files without a form as IR: one function per code.

use crate::diag::{Diagnostic, shortened};

/// E0651: an invalid text in the file.
pub(super) fn bad_text(what: &str, text: &str) -> Box<Diagnostic> {
    let shown = shortened(text, 80);
    Box::new(Diagnostic::error(
        "E0651",
        format!("the file holds `{shown}`, which is not {what} as it is printed"),
    ))
}

/// E0652: texts of types and attributes that nest too deep or hold errors.
pub(super) fn bad_pool(why: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(
        "E0652",
        format!("the types and attributes of the file cannot be read: {why}"),
    ))
}

/// E0653: a constant tensor disagrees with its type.
pub(super) fn dense(ty: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::error("E0653", format!("a constant of the file is no `{ty}`")))
}

/// E0654: a kernel that is no op of a body.
pub(super) fn not_a_kernel(name: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(
        "E0654",
        format!("the file has a kernel called `{name}`, which cannot stand in a body"),
    ))
}

/// E0655: a body without a place, or with several.
pub(super) fn region(function: u32, why: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::error(
        "E0655",
        format!("function {function} of the file is the body of a region, but {why}"),
    ))
}

/// E0656: attributes that contradict one another.
pub(super) fn attributes(kernel: &str, why: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::error("E0656", format!("a kernel `{kernel}` of the file {why}")))
}
