//! The oracle of op graphs: a program of `tf` ops, interpreted one op after the other in textual order.
//!
//! ```text
//! ir::Module ──call──▶ interpreter: functions, branches, loops, errors, order of effects ──▶ results, output
//!                        ├── functions   dense tensors: the tensor library's reference functions
//!                        └── variables, updates, generators, lists, arrays, stacks, optionals, checks:
//!                            own code
//! ```
//!
//! It interprets the module as it was imported or parsed, before any pass, and shares no code with the
//! runtime's kernels or with the passes.
//!
//! **Errors.** All results of a failing op are its error. All results of an op with errors among its
//! operands or control edges are the first of these errors. After a failed effect, later effects do not run,
//! and all results of the entry function that are not errors become the error of the effect.
//!
//! **Strictness.** If an argument of a call is an error, all results of the call are that error. If the
//! compiler inlines the call, only the results that depend on the argument are. Both are legal for each
//! result by itself, since an executor may inline some calls and not others. [`Strictness`] selects one of
//! the two.
//!
//! **Reference functions.** `tf::op` evaluates many ops by `tf::fast`. For these, `functions` decodes the
//! attributes itself and calls `tf::reference`. Ops that have no fast version go through `OpRow::prepare`.
//!
//! Not here: dataflow control flow (`Switch`, `Merge`), ops that only passes make (`_FusedConv2D`), deadlines
//! and cancellation. An unknown op is refused by name.

mod arrays;
mod checks;
mod control;
mod functions;
mod generators;
mod interpreter;
mod lists;
mod optionals;
mod stacks;
mod state;
mod updates;
mod value;
mod variables;

use befrost_compiler::ir::Module;

use super::Refusal;

pub use state::{Strictness, TfExecution};
pub use value::TfValue;
pub use variables::VariableStore;

/// Calls a function of a verified module of `tf` ops. `variables` are the module's variables after earlier
/// calls.
///
/// # Errors
/// If there is no such function, the number of arguments differs, or the oracle cannot interpret an op.
pub fn call(
    module: &Module,
    function: &str,
    arguments: &[TfValue],
    variables: &mut VariableStore,
    strictness: Strictness,
) -> Result<TfExecution, Refusal> {
    interpreter::call(module, function, arguments, variables, strictness)
}
