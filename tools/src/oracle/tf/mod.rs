//! The oracle of op graphs: a program of `tf` ops, interpreted one op after the other in textual order.
//!
//! ```text
//! ir::Module ──call──▶ interpreter: functions, branches, loops, errors, order of effects ──▶ results, output
//!                        ├── functions   dense tensors: the tensor library's reference functions
//!                        └── variables, updates, lists, arrays, stacks, optionals, checks: own code
//! ```
//!
//! It interprets the module as it was imported or parsed, before any pass, and shares no code with the
//! runtime's kernels and with the passes.
//!
//! **Errors.** A failing op gives an error for each of its results; an op with an error among its operands,
//! control edges included, gives the first of them. An effect that fails keeps all effects behind it from
//! running, and all results of the entry function that are no errors become its error.
//!
//! **Strictness.** A call whose argument is an error gives that error, unless the compiler inlines it: then
//! only the results that depend on the argument do. Both are legal, and for each result either of the two,
//! since an executor may inline some calls and others not. [`Strictness`] says which of the two is
//! interpreted.
//!
//! **Reference functions.** `tf::op` evaluates many ops by `tf::fast`. `functions` decodes the attributes of
//! these itself and calls `tf::reference`; ops that have no fast version go through `OpRow::prepare`.
//!
//! Not here: dataflow control flow (`Switch`, `Merge`), ops that only passes make (`_FusedConv2D`), deadlines
//! and cancellation. An unknown op is refused by name.

mod arrays;
mod checks;
mod control;
mod functions;
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

/// Calls a function of a verified module of `tf` ops. `variables` are those that earlier calls have left, for
/// this module.
///
/// # Errors
/// If there is no such function, the arguments are not as many as it takes, or an op is beyond the oracle.
pub fn call(
    module: &Module,
    function: &str,
    arguments: &[TfValue],
    variables: &mut VariableStore,
    strictness: Strictness,
) -> Result<TfExecution, Refusal> {
    interpreter::call(module, function, arguments, variables, strictness)
}
