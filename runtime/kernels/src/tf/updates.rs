//! Optimizer steps: in-place updates of variables and their slots by gradients.
//!
//! ```text
//! ResourceApplyMomentum(var, accum, lr, grad, momentum)      state: var, accum      the rest: tensors
//! ```

use std::sync::Arc;

use befrost_kernel_api::Value;
use befrost_tensor::mem::Allocator;
use befrost_tensor::tf::op::{Attributes, Op};
use befrost_tensor::tf::{
    Adam, RmsProp, apply_adagrad, apply_adagrad_v2, apply_adam, apply_centered_rms_prop,
    apply_gradient_descent, apply_keras_momentum, apply_momentum, apply_rms_prop,
};
use befrost_tensor::{HostTensor, TensorError};

use super::action::{Action, ActionRow, variadic_action};
use super::operands::dense;
use super::variables::{update, variable};
use crate::objects::refused;

pub(super) const OPS: &[ActionRow] = &[
    (&[Op::ApplyGradientDescent, Op::ResourceApplyGradientDescent], |attrs| {
        step(attrs, |[var], [alpha, delta], m| apply_gradient_descent(var, alpha, delta, m))
    }),
    (&[Op::ApplyMomentum, Op::ResourceApplyMomentum], |attrs| {
        let nesterov = attrs.bool("use_nesterov")?;
        step(attrs, move |state: [_; 2], [lr, grad, momentum], m| {
            apply_momentum(state, lr, grad, momentum, nesterov, m)
        })
    }),
    (&[Op::ResourceApplyKerasMomentum], |attrs| {
        let nesterov = attrs.bool("use_nesterov")?;
        step(attrs, move |state: [_; 2], [lr, grad, momentum], m| {
            apply_keras_momentum(state, lr, grad, momentum, nesterov, m)
        })
    }),
    (&[Op::ApplyAdagrad, Op::ResourceApplyAdagrad], |attrs| {
        let update_slots = attrs.bool("update_slots")?;
        step(attrs, move |state: [_; 2], [lr, grad], m| apply_adagrad(state, lr, grad, update_slots, m))
    }),
    (&[Op::ApplyAdagradV2, Op::ResourceApplyAdagradV2], |attrs| {
        let update_slots = attrs.bool("update_slots")?;
        step(attrs, move |state: [_; 2], [lr, epsilon, grad], m| {
            apply_adagrad_v2(state, lr, epsilon, grad, update_slots, m)
        })
    }),
    (&[Op::ApplyAdam, Op::ResourceApplyAdam], |attrs| {
        let nesterov = attrs.bool("use_nesterov")?;
        step(attrs, move |state: [_; 3], [beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad], m| {
            apply_adam(
                state,
                &Adam { beta1_power, beta2_power, lr, beta1, beta2, epsilon },
                grad,
                nesterov,
                m,
            )
        })
    }),
    (&[Op::ApplyRMSProp, Op::ResourceApplyRMSProp], |attrs| {
        step(attrs, |state: [_; 3], [lr, rho, momentum, epsilon, grad], m| {
            apply_rms_prop(state, &RmsProp { lr, rho, momentum, epsilon }, grad, m)
        })
    }),
    (&[Op::ApplyCenteredRMSProp, Op::ResourceApplyCenteredRMSProp], |attrs| {
        step(attrs, |state: [_; 4], [lr, rho, momentum, epsilon, grad], m| {
            apply_centered_rms_prop(state, &RmsProp { lr, rho, momentum, epsilon }, grad, m)
        })
    }),
];

/// An optimizer step on `S` variables with `N` tensors. Operators on references return the first reference.
fn step<const S: usize, const N: usize>(
    attrs: &Attributes<'_>,
    f: impl Fn([&mut HostTensor; S], [&HostTensor; N], &Arc<dyn Allocator>) -> Result<(), TensorError>
    + Send
    + Sync
    + 'static,
) -> Result<Action, TensorError> {
    let returns_ref = !attrs.signature().outputs.is_empty();
    variadic_action(move |operands, cx| {
        let (state, rest) = operands.split_at(S.min(operands.len()));
        let state = state.iter().map(|value| variable(value)).collect::<Result<Vec<_>, _>>()?;
        let rest = rest.iter().map(|value| dense(value)).collect::<Result<Vec<_>, _>>()?;
        let (Ok(state), Ok(rest)) = (state.try_into(), rest.try_into()) else {
            return Err(refused(TensorError::Count { want: S + N, got: operands.len() }));
        };
        update(state, |state| f(state, rest, cx.allocator()))?;
        let given: Option<Value> = operands.first().filter(|_| returns_ref).map(|&first| first.clone());
        Ok(given)
    })
}
