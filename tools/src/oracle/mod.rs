//! The oracle: what a program means, computed in the plainest way.
//!
//! ```text
//! ir::Module ──call──▶ frames: one op after the other, in textual order ──▶ results, printed lines
//!                        ├── control: calls, branches, loops
//!                        └── scalars, tensors: one arm per op, from its definition
//! ```
//!
//! It interprets the compiler's IR, not BEF files, on one thread, and shares nothing with the runtime: no kernels, no fast paths, no
//! plans. Of the tensor library it uses shapes, host tensors as storage, printing, and the functions of [`mod@befrost_tensor::reference`].
//! The executor is right if it says the same (`semantics.md`, "Comparing with the oracle").
//!
//! Producers come first in the text, so every operand is final when its op is reached: values are concrete, errors or dead, never
//! unavailable. Of an op's required operands dead wins over error, and among errors the lowest-numbered operand's.
//!
//! What a program leaves open, the oracle decides by the order of the text: which of several prints comes first, unless chains say so
//! ([`Execution::is_ordered`]); what a cancellation still lets run. Programs whose tensors are written and read without a chain between are
//! wrong and are not found out here.
//!
//! Op graphs have an oracle of their own, [`tf`].
//!
//! Not here: devices, `bef.nonstrict`, `tfrt.once`. What is not known is refused by name.

mod attrs;
mod frames;
mod scalars;
mod tensors;
pub mod tf;
mod value;

use befrost_compiler::ir::Module;

pub use value::{Code, Failure, Tensor, Value};

/// What came of a call.
#[derive(Clone, Debug)]
pub struct Execution {
    /// The function's results.
    pub results: Vec<Value>,
    /// What was printed, a text with its line end for each print.
    pub printed: Vec<String>,
    /// Whether the program fixes the order of all prints. Else any order that chains permit is right.
    pub is_ordered: bool,
}

/// How deep calls may nest; the same limits as the runtime's.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many calls may be active below one another.
    pub depth: usize,
    /// How many values the active calls may hold together.
    pub values: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { depth: 1 << 20, values: 1 << 25 }
    }
}

/// What the oracle cannot interpret, and why.
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
/// If there is no such function, the arguments are not as many as it takes, or something in it is beyond the oracle.
pub fn call(
    module: &Module,
    function: &str,
    arguments: &[Value],
    limits: Limits,
) -> Result<Execution, Refusal> {
    frames::call(module, function, arguments, limits)
}
