//! The oracle: a simple reference interpreter of programs.
//!
//! ```text
//! ir::Module ──call──▶ frames: one op after the other, in textual order ──▶ results, printed lines
//!                        ├── control: calls, branches, loops
//!                        └── scalars, tensors: one arm per op, from its definition
//! ```
//!
//! It interprets the compiler's IR, not BEF files, on one thread, and shares nothing with the runtime: no
//! kernels, no fast paths, no plans. Of the tensor library it uses shapes, host tensors as storage, printing,
//! and the functions of [`mod@befrost_tensor::reference`]. The executor is correct if its results are the
//! same (`semantics.md`, "Comparing with the oracle").
//!
//! Producers precede users in the text, so every operand is final when its op is reached. A value is
//! concrete, an error or dead, never unavailable. Among an op's required operands dead takes precedence
//! over errors, and the error of the lowest-numbered operand over the others.
//!
//! Two things are open in a program's semantics, and the oracle decides them by the order of the text: the
//! order of prints without a chain between them ([`Execution::is_ordered`]), and the ops that still run after
//! a cancellation. A program that writes and reads a tensor without a chain between is wrong; the oracle does
//! not detect it.
//!
//! Op graphs have an oracle of their own, [`tf`].
//!
//! Not here: devices, `bef.nonstrict`, `tfrt.once`. Unknown ops are refused by name.

mod attrs;
mod frames;
mod scalars;
mod tensors;
pub mod tf;
mod value;

use befrost_compiler::ir::Module;

pub use value::{Code, OracleError, Tensor, Value};

/// The result of a call.
#[derive(Clone, Debug)]
pub struct Execution {
    /// The function's results.
    pub results: Vec<Value>,
    /// The printed texts, each with its line end.
    pub printed: Vec<String>,
    /// True if the chains fix the order of all prints. Otherwise any order that they permit is correct.
    pub is_ordered: bool,
}

/// The limits of nested calls; the same as the runtime's.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum number of active nested calls.
    pub depth: usize,
    /// Maximum number of values of all active calls together.
    pub values: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { depth: 1 << 20, values: 1 << 25 }
    }
}

/// A construct that the oracle cannot interpret, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the oracle cannot interpret this program: {}", self.0)
    }
}

impl std::error::Error for Refusal {}

/// Calls a function of a verified module.
///
/// # Errors
/// If there is no such function, the number of arguments differs, or the oracle cannot interpret something in
/// it.
pub fn call(
    module: &Module,
    function: &str,
    arguments: &[Value],
    limits: Limits,
) -> Result<Execution, Refusal> {
    frames::call(module, function, arguments, limits)
}
