//! Errors of sessions.

use befrost_compiler::diag::factory::nearest;
use befrost_kernel_api::{Error, ErrorCode};

/// The question after an unknown name whether a similar one was meant; nothing if there is none.
pub(super) fn near<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> String {
    nearest(name, known).map_or_else(String::new, |near| format!("; did you mean '{near}'?"))
}

pub(super) fn refused(code: ErrorCode, message: String) -> Error {
    Error::new(code, message, Vec::new())
}
