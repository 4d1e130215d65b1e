//! The gradients of the operators: one row per operator, in families.
//!
//! ```text
//! Op::Lgamma => Rule(|g| g.dx(0, g.d() * g.x(0).un(Op::Digamma))),
//! ```
//!
//! A rule builds the product of the gradients of the results with the Jacobian, for the operands whose
//! gradients are wanted ([`Vjp`]). Values and ties are those of TensorFlow's registry. An operator whose row
//! in the tensor library declares it a constant has no rule; any other operator without one has no gradient,
//! and a request that needs it is refused. Rules create operators with rules and constants, so that gradients
//! have gradients; the exceptions are the gradient kernels `LRNGrad`, `CropAndResizeGrad*`,
//! `Dilation2DBackprop*` and those of recurrent cells, which have none in TensorFlow either, and those of
//! ONNX's samples of images.

mod activations;
mod binary;
mod cells;
mod expand;
mod fourier;
mod images;
mod layers;
mod linear;
mod lists;
mod movement;
mod onnx;
mod products;
mod random;
mod reductions;
mod scatter;
mod segments;
mod shaping;
mod sparse;
mod state;
mod unary;

use befrost_tensor::tf::op::Op;

use super::vjp::Differentiation;

/// The rule of an operator.
pub(super) fn of(op: Op) -> Option<Differentiation> {
    const FAMILIES: &[fn(Op) -> Option<Differentiation>] = &[
        unary::gradient,
        activations::gradient,
        binary::gradient,
        reductions::gradient,
        segments::gradient,
        shaping::gradient,
        movement::gradient,
        scatter::gradient,
        sparse::gradient,
        products::gradient,
        layers::gradient,
        cells::gradient,
        images::gradient,
        linear::gradient,
        fourier::gradient,
        lists::gradient,
        random::gradient,
        onnx::gradient,
        state::gradient,
        expand::gradient,
    ];
    FAMILIES.iter().find_map(|family| family(op))
}

#[cfg(test)]
mod tests {
    use befrost_tensor::tf::op::{Gradient, rows};

    use super::*;

    #[test]
    fn every_operator_has_the_rule_that_its_row_declares() {
        for row in rows() {
            let found = row.op.and_then(of);
            let agrees = match row.gradient() {
                Gradient::Rule => matches!(found, Some(Differentiation::Rule(_))),
                Gradient::Expands => matches!(found, Some(Differentiation::Expands(_))),
                Gradient::Missing | Gradient::Constant | Gradient::Flow | Gradient::Refuses => {
                    found.is_none()
                }
            };
            assert!(agrees, "{}: {:?}, but {found:?}", row.name, row.gradient());
        }
    }
}
