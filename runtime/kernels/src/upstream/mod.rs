//! `arith`, `math`, `index`, `tensor` and `flow`: the kernels of upstream's scalars and their tensors.
//!
//! One kernel serves all widths of an op: it selects the arithmetic by the tags of its operands, which are
//! [`Int`] and [`Float`]. A cast finds the type of its result when the program is loaded. `flow` is the part
//! of control flow that upstream's `scf` and `cf` leave to a runtime: trip conditions, assertions, printing.
//!
//! Results that are undefined or poison upstream are defined here. A division by zero, a signed quotient that
//! overflows, a shift by the width or more, and a float that does not fit the integer it is cast to are error
//! values. An overflow that `nsw` or `nuw` excludes wraps around. `fastmath` is ignored: results are those of
//! IEEE 754.

mod casts;
mod floats;
mod flow;
mod integers;
mod math;
mod scalars;
mod tensors;
mod typed;

use befrost_kernel_api::Registry;

/// Adds the kernels of `arith`, `math`, `index`, `tensor` and `flow`.
pub fn upstream(registry: &mut Registry) {
    integers::kernels(registry);
    floats::kernels(registry);
    casts::kernels(registry);
    math::kernels(registry);
    flow::kernels(registry);
    tensors::kernels(registry);
}
