//! `tf-gradients`: reverse-mode differentiation of the op graph.
//!
//! ```text
//! tf._Gradients(ys, dys, xs, stops) ──▶ ops after the forward ops, which read the forward values in place
//!
//! engine      one block: the values that depend on the xs, then op by op from the ys back; sums
//! rules       one row per operator, in families, written with `val` and `vjp`
//! flow        ops that call functions: calls, branches, loops
//! tape        the values that the iterations of a loop keep
//! every       loops that keep their state every few iterations
//! functions   a function differentiated: a copy whose backward ops move into a function of their own
//! keep        the forward values that the backward function gets, and those that it computes again
//! request     the pass: finds the requests and replaces them
//! ```
//!
//! For ys, their gradients dys (ones, if not given) and xs: dx_j = sum_i dy_i * dy_i/dx_j, as `tf.gradients`
//! defines it. Whether an x has a gradient follows from the graph, never from values: a branch that is not
//! taken and a loop without iterations give zeros. A missing gradient of a result is a symbolic zero; zeros
//! become tensors only where a function's signature or a kernel needs them. The contributions to a value are
//! added in the order of its users, by one op. Effects of the forward pass happen once.
//!
//! A gradient is ordinary graph, so that gradients have gradients; of nested requests the inner one is
//! replaced first.
//!
//! Not here: which operators have a rule (their rows in the tensor library declare it); a choice between
//! keeping and repeating values within straight-line code, which keeps all of them.

mod engine;
mod errors;
mod every;
mod flow;
mod functions;
mod keep;
mod request;
mod rules;
mod tape;
mod val;
mod vjp;

pub(crate) use engine::is_differentiable;
pub(crate) use flow::{CAPTURED, CUSTOM as CUSTOM_GRADIENT, GRADIENT_OPERANDS};
pub use keep::Recompute;
pub(crate) use request::{PASS, Unconnected, append, by_variables, prepare};
pub(crate) use val::Val;
pub(crate) use vjp::{At, Emit, Emitter, Grad, Slices, dense};
