//! The gradients of the operators: one row per operator, in families.
//!
//! ```text
//! Op::Lgamma => Rule(|g| g.dx(0, g.d() * g.x(0).un(Op::Digamma))),
//! ```
//!
//! A rule builds the product of the gradients of the results with the Jacobian, for the operands whose
//! gradients are wanted ([`Vjp`]). Values and ties are those of TensorFlow's registry. An operator whose row
//! in the tensor library says so is a constant for differentiation; every other one has its row here, or has
//! no gradient: where one is needed, that is an error. Every operator that a rule creates is differentiable
//! or a constant, so that gradients have gradients; a test walks the table.

mod activations;
mod binary;
mod expand;
mod fourier;
mod images;
mod layers;
mod linear;
mod lists;
mod movement;
mod products;
mod reductions;
mod scatter;
mod segments;
mod shaping;
mod state;
mod unary;

use befrost_tensor::tf::op::{Gradient as Declared, Op, OpRow};

use crate::dialects::Gradient;

/// The gradient of an operator; `None` if it has none, so that differentiating it is an error.
pub(super) fn of(row: &OpRow) -> Option<Gradient> {
    const FAMILIES: &[fn(Op) -> Option<Gradient>] = &[
        unary::gradient,
        activations::gradient,
        binary::gradient,
        reductions::gradient,
        segments::gradient,
        shaping::gradient,
        movement::gradient,
        scatter::gradient,
        products::gradient,
        layers::gradient,
        images::gradient,
        linear::gradient,
        fourier::gradient,
        lists::gradient,
        state::gradient,
        expand::gradient,
    ];
    match row.gradient() {
        Declared::None => Some(Gradient::Constant),
        Declared::Compiled => FAMILIES.iter().find_map(|family| family(row.op?)),
    }
}

/// The gradient of what reads a reference to a variable: the reference stands for the value.
pub(super) fn of_reads() -> Gradient {
    Gradient::Rule(|g| {
        if let Some(dy) = g.any_dy(0) {
            g.dx_any(0, dy);
        }
    })
}

#[cfg(test)]
mod tests {
    use befrost_tensor::tf::op::rows;

    use super::*;

    /// Operators without a gradient, each with the reason.
    const WITHOUT: &[(&str, &str)] = &[
        ("Conv", "cannot be executed"),
        ("CropAndResizeGradBoxes", "no second gradient in TensorFlow"),
        ("CropAndResizeGradImage", "no second gradient in TensorFlow"),
        ("Dilation2D", "its gradients have no kernels"),
        ("Enter", DATAFLOW),
        ("Exit", DATAFLOW),
        ("FakeQuantWithMinMaxArgsGradient", "no second gradient in TensorFlow"),
        ("FakeQuantWithMinMaxVarsGradient", "no second gradient in TensorFlow"),
        ("FakeQuantWithMinMaxVarsPerChannelGradient", "no second gradient in TensorFlow"),
        ("For", "cannot be executed"),
        ("LRNGrad", "no second gradient in TensorFlow"),
        ("MaxPool3DGrad", "its gradient has no kernel"),
        ("Merge", DATAFLOW),
        ("NextIteration", DATAFLOW),
        ("RaggedGather", "splits and values are not followed"),
        ("RefEnter", DATAFLOW),
        ("RefExit", DATAFLOW),
        ("RefMerge", DATAFLOW),
        ("RefNextIteration", DATAFLOW),
        ("RefSelect", DATAFLOW),
        ("RefSwitch", DATAFLOW),
        ("RemoteCall", "cannot be executed"),
        ("Switch", DATAFLOW),
        ("TensorListPushBackBatch", "cannot be executed"),
        ("_ArrayToList", "cannot be executed"),
        ("_FusedElementwise", FUSED),
        ("_ListToArray", "cannot be executed"),
        ("_PackedConv2D", FUSED),
        ("_PackedDepthwiseConv2dNative", FUSED),
        ("_PackedMatMul", FUSED),
        ("_ReadVariablesOp", "cannot be executed"),
        ("_SwitchN", DATAFLOW),
    ];
    const DATAFLOW: &str = "differentiated once it is functional";
    const FUSED: &str = "made behind differentiation";

    #[test]
    fn every_operator_says_what_its_gradient_is() {
        let silent: Vec<&str> = rows()
            .filter(|row| of(row).is_none() && !WITHOUT.iter().any(|(name, _)| *name == row.name))
            .map(|row| row.name)
            .collect();
        assert!(silent.is_empty(), "no gradient, and no reason in WITHOUT: {silent:?}");
        let wrong: Vec<&str> = WITHOUT
            .iter()
            .map(|(name, _)| *name)
            .filter(|name| rows().find(|row| row.name == *name).is_none_or(|row| of(row).is_some()))
            .collect();
        assert!(wrong.is_empty(), "they have a gradient, or do not exist: {wrong:?}");
    }
}
