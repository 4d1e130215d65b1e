//! `tf-gradients`: reverse-mode differentiation of the op graph.
//!
//! ```text
//! tf._Gradients(ys, dys, xs, stops) ──▶ ops behind the forward ops, which use the forward values where they are
//!
//! engine      one block: which values depend on the xs, then op by op from the ys back; sums of contributions
//! vjp         the product of one op: what the rules (`dialects/tf/gradients`) are written with
//! flow        ops that call functions: calls, branches, loops
//! functions   a function differentiated: a copy whose backward ops move into a function of their own
//! keep        which forward values the backward function gets, and which it computes again
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
//! Not here: rules, which stand beside the ops; the choice of values that straight-line code computes again.

mod engine;
mod errors;
mod flow;
mod functions;
mod keep;
mod request;
pub mod vjp;

pub(crate) use flow::CUSTOM as CUSTOM_GRADIENT;
pub(crate) use request::{PASS, REQUEST, Unconnected, append, verify};
