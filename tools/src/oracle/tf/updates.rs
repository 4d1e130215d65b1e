//! Optimizers: ops that update a variable and its slots by a gradient.

use befrost_tensor::HostTensor;
use befrost_tensor::tf::op::Attributes;
use befrost_tensor::tf::reference::{
    Adam, RmsProp, apply_adagrad, apply_adagrad_v2, apply_adam, apply_centered_rms_prop,
    apply_gradient_descent, apply_keras_momentum, apply_momentum, apply_rms_prop,
};

use super::state::Cx;
use super::value::TfValue;
use super::variables::{passed_on, update};
use crate::oracle::frames::Stop;

/// The results of an optimizer's op; `None` for other ops.
pub(super) fn evaluate(
    name: &str,
    operands: &[TfValue],
    attrs: &Attributes<'_>,
    cx: &mut Cx<'_>,
) -> Result<Option<Vec<TfValue>>, Stop> {
    let Some(kind) = name.strip_prefix("Resource").unwrap_or(name).strip_prefix("Apply") else {
        return Ok(None);
    };
    let n_state = match kind {
        "GradientDescent" => 1,
        "Momentum" | "KerasMomentum" | "Adagrad" | "AdagradV2" => 2,
        "Adam" | "RMSProp" => 3,
        "CenteredRMSProp" => 4,
        _ => return Ok(None),
    };
    let Some((state, rest)) = operands.split_at_checked(n_state) else { return Ok(None) };
    let rest = rest.iter().map(TfValue::tensor).collect::<Result<Vec<_>, _>>()?;
    let flag = |name| attrs.bool(name);
    let m = cx.allocator;
    update(state, |old| {
        let mut new: Vec<HostTensor> = old.to_vec();
        match (kind, &mut new[..], &rest[..]) {
            ("GradientDescent", [var], [alpha, delta]) => apply_gradient_descent(var, alpha, delta, m)?,
            ("Momentum", [var, accum], [lr, grad, momentum]) => {
                apply_momentum([var, accum], lr, grad, momentum, flag("use_nesterov")?, m)?;
            }
            ("KerasMomentum", [var, accum], [lr, grad, momentum]) => {
                apply_keras_momentum([var, accum], lr, grad, momentum, flag("use_nesterov")?, m)?;
            }
            ("Adagrad", [var, accum], [lr, grad]) => {
                apply_adagrad([var, accum], lr, grad, flag("update_slots")?, m)?;
            }
            ("AdagradV2", [var, accum], [lr, epsilon, grad]) => {
                apply_adagrad_v2([var, accum], lr, epsilon, grad, flag("update_slots")?, m)?;
            }
            ("Adam", [var, mean, square], &[beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad]) => {
                let by = Adam { beta1_power, beta2_power, lr, beta1, beta2, epsilon };
                apply_adam([var, mean, square], &by, grad, flag("use_nesterov")?, m)?;
            }
            ("RMSProp", [var, ms, mom], &[lr, rho, momentum, epsilon, grad]) => {
                apply_rms_prop([var, ms, mom], &RmsProp { lr, rho, momentum, epsilon }, grad, m)?;
            }
            ("CenteredRMSProp", [var, mg, ms, mom], &[lr, rho, momentum, epsilon, grad]) => {
                let by = RmsProp { lr, rho, momentum, epsilon };
                apply_centered_rms_prop([var, mg, ms, mom], &by, grad, m)?;
            }
            _ => {}
        }
        Ok(new)
    })?;
    Ok(Some(passed_on(attrs, &state[0])))
}
