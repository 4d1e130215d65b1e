//! Constructors of common diagnostics, one function per code: callers pass facts, the wording is here.

pub use befrost_tensor::spelling::nearest;

use super::{Diagnostic, Span};

/// E0301: an op name that no dialect defines. `near` is a known name of similar spelling.
pub fn unknown_op(span: Option<Span>, name: &str, near: Option<&str>) -> Diagnostic {
    let d = Diagnostic::error("E0301", format!("unknown operation `{name}`")).at(span);
    match near {
        Some(near) => d.help(format!("did you mean `{near}`?")),
        None => d.help(UNREGISTERED),
    }
}

/// E0310: an op name in a dialect without definitions. `near` is a known op name or dialect.
pub fn unknown_dialect(
    span: Option<Span>,
    name: &str,
    dialect: &str,
    near: Option<&str>,
    known: &[&str],
) -> Diagnostic {
    let message = format!("unknown dialect `{dialect}` of the operation `{name}`");
    let d = Diagnostic::error("E0310", message)
        .at(span)
        .upstream(format!("Dialect `{dialect}' not found for custom op '{name}'"))
        .note(None, format!("the dialects are {}", known.join(", ")));
    match near {
        Some(near) => d.help(format!("did you mean `{near}`?")),
        None => d.help(UNREGISTERED),
    }
}

const UNREGISTERED: &str =
    "write unregistered operations in generic form and pass --allow-unregistered-dialect";
