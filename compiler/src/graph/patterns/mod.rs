//! Rewrite patterns of the op graph, by operator. There is one table per family; a pass applies it to a
//! fixpoint.
//!
//! ```text
//! constant     Mul(c1, Mul(x, c2)) → Mul(x, c1*c2)     x + 0 → x
//!              Concat(a, c1, c2) → Concat(a, c)         Reshape(Reshape(x)) → Reshape(x)
//! arithmetic   x + x → 2*x     Neg(Neg(x)) → x     x*y + x*z → x*(y+z)
//!              MatMul(Transpose(x), y) → MatMul(x, y)
//! fusion       Conv2D + BiasAdd + Relu → _FusedConv2D
//! ```
//!
//! The family `constant` includes `branches` (branches with a constant condition) and `passing` (operators
//! that return an operand), the family `fusion` includes `layers` (layers written as elementary operators).
//!
//! Patterns change rounding only where TensorFlow's own optimizer does, and keep NaN and infinities where it
//! keeps them. Ops with control edges and ops whose completion has users are not rewritten, since their
//! position is significant.
//!
//! The types of new ops are as exact as those of the replaced ops; shape inference refines the others.

mod arithmetic;
mod branches;
mod constant;
mod fusion;
mod layers;
mod passing;
mod rule;
mod weights;

pub(super) use fusion::words;

use crate::dialects::OpDef;
use crate::rewrite::Pattern;

/// The families of patterns; each belongs to a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// Simplifications of ops with constant operands.
    Constant,
    /// Algebraic simplifications.
    Arithmetic,
    /// Fusion of several operators into one kernel.
    Fusion,
    /// Fusion of layers into operators whose gradient has a kernel; before differentiation.
    Layers,
}

/// The patterns of an op.
pub(super) fn of(family: Family, def: &'static OpDef) -> &'static [Pattern] {
    let Some(operator) = def.row.and_then(|row| row.op) else { return &[] };
    match family {
        Family::Constant => constant::of(operator),
        Family::Arithmetic => arithmetic::of(operator),
        Family::Fusion => fusion::of(operator),
        Family::Layers => layers::of(operator),
    }
}
