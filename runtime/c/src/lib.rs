//! The C interface (`include/befrost.h`): sessions over model files, tensors, variables, errors.
//!
//! ```text
//! bf_session_open ─▶ bf_session ─┬─ bf_session_run(names, tensors, names) ─▶ tensors
//!                                ├─ bf_session_start ─▶ bf_run, bf_run_wait ─────▶ tensors
//!                                ├─ bf_session_callable ─▶ bf_callable, bf_callable_call
//!                                └─ bf_variables_get, bf_variables_set
//! bf_op_create, bf_op_set_*, bf_op_execute(tensors) ──────────────────────────────▶ tensors
//! bf_program_load(BEF in memory), bf_program_run(function, tensors) ──────────────▶ tensors
//! ```
//!
//! A function that can fail returns `bf_error *`, which is null after success. Results go through the last
//! pointers, which are null after an error. Handles are counted: `_retain`, `_release`, both take null. A
//! handle of another kind, a null pointer where a value is required, an unknown number of a dtype, and a
//! negative size are errors; a panic becomes `BF_INTERNAL`. All functions may be called by any thread.
//!
//! Without the feature `compile` there are programs, tensors and operators: enough for a small program with
//! its model inside (`examples/tiny.c`).
//!
//! [`ffi`] is the only code with raw pointers; [`handle`] has the handles, [`dtype`] the numbers of dtypes.

mod dtype;
mod ffi;
mod handle;
