//! Diagnostics of failing passes.

use super::Pass;
use crate::diag::Diagnostic;

/// E0504: the verifier rejects the IR after a pass.
pub(super) fn ill_formed(pass: &Pass) -> Diagnostic {
    Diagnostic::error("E0504", format!("the module is not well-formed after the pass `{}`", pass.name))
        .help("this is a bug of the pass")
}

/// E0505: a pass panicked.
pub(super) fn panicked(pass: &Pass, payload: &(dyn std::any::Any + Send)) -> Diagnostic {
    let why = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (None, Some(text)) => text.as_str(),
        (None, None) => "for an unknown reason",
    };
    Diagnostic::error("E0505", format!("the pass `{}` panicked: {why}", pass.name)).help(
        "this is a bug of the pass; --pass-pipeline-crash-reproducer=FILE writes what shows it into a file",
    )
}
