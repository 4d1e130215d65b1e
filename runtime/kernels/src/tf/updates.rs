//! Optimizer steps: in-place updates of variables and their slots by gradients.
//!
//! ```text
//! ResourceApplyMomentum(var, accum, lr, grad, momentum)              state: var, accum; then tensors
//! ResourceSparseApplyMomentum(var, accum, lr, grad, indices, momentum)     the same for rows
//! ```

use befrost_kernel_api::Value;
use befrost_tensor::TensorError;
use befrost_tensor::tf::UpdatePlan;
use befrost_tensor::tf::op::{Attributes, Op};

use super::action::{Action, ActionRow, variadic_action};
use super::operands::dense;
use super::variables::{update, variable};
use crate::workers::run;

pub(super) const OPS: &[ActionRow] = &[(
    &[
        Op::ApplyAdaMax,
        Op::ApplyAdadelta,
        Op::ApplyAdagrad,
        Op::ApplyAdagradV2,
        Op::ApplyAdam,
        Op::ApplyAddSign,
        Op::ApplyCenteredRMSProp,
        Op::ApplyFtrl,
        Op::ApplyFtrlV2,
        Op::ApplyGradientDescent,
        Op::ApplyMomentum,
        Op::ApplyPowerSign,
        Op::ApplyProximalAdagrad,
        Op::ApplyProximalGradientDescent,
        Op::ApplyRMSProp,
        Op::ResourceApplyAdaMax,
        Op::ResourceApplyAdadelta,
        Op::ResourceApplyAdagrad,
        Op::ResourceApplyAdagradV2,
        Op::ResourceApplyAdam,
        Op::ResourceApplyAdamWithAmsgrad,
        Op::ResourceApplyAddSign,
        Op::ResourceApplyCenteredRMSProp,
        Op::ResourceApplyFtrl,
        Op::ResourceApplyFtrlV2,
        Op::ResourceApplyGradientDescent,
        Op::ResourceApplyKerasMomentum,
        Op::ResourceApplyMomentum,
        Op::ResourceApplyPowerSign,
        Op::ResourceApplyProximalAdagrad,
        Op::ResourceApplyProximalGradientDescent,
        Op::ResourceApplyRMSProp,
        Op::ResourceSparseApplyAdadelta,
        Op::ResourceSparseApplyAdagrad,
        Op::ResourceSparseApplyAdagradV2,
        Op::ResourceSparseApplyCenteredRMSProp,
        Op::ResourceSparseApplyFtrl,
        Op::ResourceSparseApplyFtrlV2,
        Op::ResourceSparseApplyKerasMomentum,
        Op::ResourceSparseApplyMomentum,
        Op::ResourceSparseApplyProximalAdagrad,
        Op::ResourceSparseApplyProximalGradientDescent,
        Op::ResourceSparseApplyRMSProp,
        Op::SparseApplyAdadelta,
        Op::SparseApplyAdagrad,
        Op::SparseApplyAdagradV2,
        Op::SparseApplyCenteredRMSProp,
        Op::SparseApplyFtrl,
        Op::SparseApplyFtrlV2,
        Op::SparseApplyMomentum,
        Op::SparseApplyProximalAdagrad,
        Op::SparseApplyProximalGradientDescent,
        Op::SparseApplyRMSProp,
        Op::_ResourceSparseApplyAdam,
    ],
    step,
)];

/// An optimizer step. Operators on references return the first reference.
fn step(attrs: &Attributes<'_>) -> Result<Action, TensorError> {
    let plan = UpdatePlan::new(attrs)?;
    let returns_ref = !attrs.signature().outputs.is_empty();
    variadic_action(move |operands, cx| {
        let (state, rest) = operands.split_at(plan.n_state().min(operands.len()));
        let state = state.iter().map(|value| variable(value)).collect::<Result<Vec<_>, _>>()?;
        let rest = rest.iter().map(|value| dense(value)).collect::<Result<Vec<_>, _>>()?;
        run(cx, cx.allocator(), |cx| update(&state, |state| plan.apply(state, &rest, cx)))??;
        let given: Option<Value> = operands.first().filter(|_| returns_ref).map(|&first| first.clone());
        Ok(given)
    })
}
