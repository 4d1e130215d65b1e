//! The arithmetic of TensorFlow's training updates, as functions: variables in, new variables out.
//!
//! Variables, slots and gradients are float tensors of one dtype and shape; rates are scalars of that dtype, as in TensorFlow. Each
//! new value is computed in f64 and rounded once.

use std::sync::Arc;

use super::real::{reals, scalar};
use super::unary::cast;
use crate::mem::Allocator;
use crate::{DType, HostTensor, TensorError};

type Named<'a> = (&'static str, &'a HostTensor);

/// The numbers in scalars of a dtype.
fn rates<const N: usize>(
    op: &'static str,
    dtype: DType,
    scalars: [Named<'_>; N],
) -> Result<[f64; N], TensorError> {
    let mut numbers = [0.0; N];
    for (number, (what, x)) in numbers.iter_mut().zip(scalars) {
        x.expect_dtype(what, dtype)?;
        *number = scalar(op, what, x)?;
    }
    Ok(numbers)
}

/// Element by element: `N` tensors of one dtype and shape in, the first `M` of them anew out.
fn update<const N: usize, const M: usize>(
    op: &'static str,
    tensors: [Named<'_>; N],
    allocator: &Arc<dyn Allocator>,
    f: impl Fn([f64; N]) -> [f64; M],
) -> Result<[HostTensor; M], TensorError> {
    let var = tensors[0].1;
    let mut wide = Vec::with_capacity(N);
    for (what, x) in tensors {
        x.expect_dtype(what, var.dtype())?;
        x.expect_shape(what, var.shape())?;
        wide.push(reals(op, x, allocator)?);
    }
    {
        let mut elements = wide.iter().map(HostTensor::write::<f64>).collect::<Result<Vec<_>, _>>()?;
        for i in 0..var.num_elements() {
            let mut old = [0.0; N];
            old.iter_mut().zip(&elements).for_each(|(old, x)| *old = x[i]);
            elements.iter_mut().zip(f(old)).for_each(|(x, new)| x[i] = new);
        }
    }
    let new = wide.iter().take(M).map(|x| cast(x, var.dtype(), allocator)).collect::<Result<Vec<_>, _>>()?;
    new.try_into().map_err(|_| TensorError::Count { want: M, got: N })
}

/// `ApplyGradientDescent`: `var - alpha * delta`.
pub fn apply_gradient_descent(
    var: &HostTensor,
    alpha: &HostTensor,
    delta: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<[HostTensor; 1], TensorError> {
    let op = "ApplyGradientDescent";
    let [alpha] = rates(op, var.dtype(), [("alpha", alpha)])?;
    update(op, [("var", var), ("delta", delta)], allocator, |[var, delta]| [var - alpha * delta])
}

/// `ApplyMomentum`: `accum' = accum * momentum + grad`, and `var - lr * accum'`; Nesterov's takes `grad + accum' * momentum` for `accum'` there. The
/// new variable and accumulator.
pub fn apply_momentum(
    [var, accum]: [&HostTensor; 2],
    lr: &HostTensor,
    grad: &HostTensor,
    momentum: &HostTensor,
    use_nesterov: bool,
    allocator: &Arc<dyn Allocator>,
) -> Result<[HostTensor; 2], TensorError> {
    with_momentum(
        "ApplyMomentum",
        [var, accum, grad],
        [lr, momentum],
        allocator,
        |lr, momentum, [var, accum, grad]| {
            let accum = accum * momentum + grad;
            let step = if use_nesterov { grad + accum * momentum } else { accum };
            [var - lr * step, accum]
        },
    )
}

/// A new variable and accumulator of the rate, the momentum, and the variable, accumulator and gradient.
fn with_momentum(
    op: &'static str,
    [var, accum, grad]: [&HostTensor; 3],
    [lr, momentum]: [&HostTensor; 2],
    allocator: &Arc<dyn Allocator>,
    step: impl Fn(f64, f64, [f64; 3]) -> [f64; 2],
) -> Result<[HostTensor; 2], TensorError> {
    let [lr, momentum] = rates(op, var.dtype(), [("lr", lr), ("momentum", momentum)])?;
    update(op, [("var", var), ("accum", accum), ("grad", grad)], allocator, |x| step(lr, momentum, x))
}

/// `ApplyKerasMomentum`: `accum' = accum * momentum - lr * grad`, and `var + accum'`; Nesterov's adds `accum' * momentum - lr * grad`. The new
/// variable and accumulator.
pub fn apply_keras_momentum(
    [var, accum]: [&HostTensor; 2],
    lr: &HostTensor,
    grad: &HostTensor,
    momentum: &HostTensor,
    use_nesterov: bool,
    allocator: &Arc<dyn Allocator>,
) -> Result<[HostTensor; 2], TensorError> {
    let op = "ResourceApplyKerasMomentum";
    with_momentum(op, [var, accum, grad], [lr, momentum], allocator, |lr, momentum, [var, accum, grad]| {
        let accum = accum * momentum - lr * grad;
        let step = if use_nesterov { accum * momentum - lr * grad } else { accum };
        [var + step, accum]
    })
}

/// The rates of `ApplyAdam`: scalars.
#[derive(Clone, Copy, Debug)]
pub struct Adam<'a> {
    /// `beta1` to the power of the step's number.
    pub beta1_power: &'a HostTensor,
    /// `beta2` to the power of the step's number.
    pub beta2_power: &'a HostTensor,
    /// The learning rate.
    pub lr: &'a HostTensor,
    /// How much of the first moment stays.
    pub beta1: &'a HostTensor,
    /// How much of the second moment stays.
    pub beta2: &'a HostTensor,
    /// What keeps the divisor from 0.
    pub epsilon: &'a HostTensor,
}

/// `ApplyAdam`: the new variable and moments `m` and `v`.
pub fn apply_adam(
    [var, m, v]: [&HostTensor; 3],
    by: &Adam<'_>,
    grad: &HostTensor,
    use_nesterov: bool,
    allocator: &Arc<dyn Allocator>,
) -> Result<[HostTensor; 3], TensorError> {
    let op = "ApplyAdam";
    let Adam { beta1_power, beta2_power, lr, beta1, beta2, epsilon } = *by;
    let [beta1_power, beta2_power, lr] =
        rates(op, var.dtype(), [("beta1_power", beta1_power), ("beta2_power", beta2_power), ("lr", lr)])?;
    let [beta1, beta2, epsilon] =
        rates(op, var.dtype(), [("beta1", beta1), ("beta2", beta2), ("epsilon", epsilon)])?;
    let alpha = lr * (1.0 - beta2_power).sqrt() / (1.0 - beta1_power);
    update(op, [("var", var), ("m", m), ("v", v), ("grad", grad)], allocator, |[var, m, v, grad]| {
        let m = m + (grad - m) * (1.0 - beta1);
        let v = v + (grad * grad - v) * (1.0 - beta2);
        let step = if use_nesterov { grad * (1.0 - beta1) + beta1 * m } else { m };
        [var - alpha * step / (v.sqrt() + epsilon), m, v]
    })
}

/// `ApplyAdagrad`: `accum' = accum + grad^2` if the slots are updated, and `var - lr * grad / sqrt(accum')`. The new variable and accumulator.
pub fn apply_adagrad(
    [var, accum]: [&HostTensor; 2],
    lr: &HostTensor,
    grad: &HostTensor,
    update_slots: bool,
    allocator: &Arc<dyn Allocator>,
) -> Result<[HostTensor; 2], TensorError> {
    adagrad("ApplyAdagrad", [var, accum], (lr, None), grad, update_slots, allocator)
}

/// `ApplyAdagradV2`: [`apply_adagrad`] with `epsilon` added to the root.
pub fn apply_adagrad_v2(
    [var, accum]: [&HostTensor; 2],
    lr: &HostTensor,
    epsilon: &HostTensor,
    grad: &HostTensor,
    update_slots: bool,
    allocator: &Arc<dyn Allocator>,
) -> Result<[HostTensor; 2], TensorError> {
    adagrad("ApplyAdagradV2", [var, accum], (lr, Some(epsilon)), grad, update_slots, allocator)
}

fn adagrad(
    op: &'static str,
    [var, accum]: [&HostTensor; 2],
    (lr, epsilon): (&HostTensor, Option<&HostTensor>),
    grad: &HostTensor,
    update_slots: bool,
    allocator: &Arc<dyn Allocator>,
) -> Result<[HostTensor; 2], TensorError> {
    let [lr] = rates(op, var.dtype(), [("lr", lr)])?;
    let epsilon = match epsilon {
        Some(epsilon) => rates(op, var.dtype(), [("epsilon", epsilon)])?[0],
        None => 0.0,
    };
    update(op, [("var", var), ("accum", accum), ("grad", grad)], allocator, |[var, accum, grad]| {
        let accum = if update_slots { accum + grad * grad } else { accum };
        [var - lr * grad / (accum.sqrt() + epsilon), accum]
    })
}

/// The rates of `ApplyRMSProp` and `ApplyCenteredRMSProp`: scalars.
#[derive(Clone, Copy, Debug)]
pub struct RmsProp<'a> {
    /// The learning rate.
    pub lr: &'a HostTensor,
    /// How much of the mean square stays.
    pub rho: &'a HostTensor,
    /// How much of the last step is taken again.
    pub momentum: &'a HostTensor,
    /// What keeps the divisor from 0.
    pub epsilon: &'a HostTensor,
}

impl RmsProp<'_> {
    fn rates(&self, op: &'static str, dtype: DType) -> Result<[f64; 4], TensorError> {
        let RmsProp { lr, rho, momentum, epsilon } = *self;
        rates(op, dtype, [("lr", lr), ("rho", rho), ("momentum", momentum), ("epsilon", epsilon)])
    }
}

/// `ApplyRMSProp`: the new variable, mean square and step.
pub fn apply_rms_prop(
    [var, ms, mom]: [&HostTensor; 3],
    by: &RmsProp<'_>,
    grad: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<[HostTensor; 3], TensorError> {
    let op = "ApplyRMSProp";
    let [lr, rho, momentum, epsilon] = by.rates(op, var.dtype())?;
    update(op, [("var", var), ("ms", ms), ("mom", mom), ("grad", grad)], allocator, |[var, ms, mom, grad]| {
        let ms = ms + (grad * grad - ms) * (1.0 - rho);
        let mom = mom * momentum + lr * grad / (ms + epsilon).sqrt();
        [var - mom, ms, mom]
    })
}

/// `ApplyCenteredRMSProp`: the new variable, mean gradient, mean square and step.
pub fn apply_centered_rms_prop(
    [var, mg, ms, mom]: [&HostTensor; 4],
    by: &RmsProp<'_>,
    grad: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<[HostTensor; 4], TensorError> {
    let op = "ApplyCenteredRMSProp";
    let [lr, rho, momentum, epsilon] = by.rates(op, var.dtype())?;
    let tensors = [("var", var), ("mg", mg), ("ms", ms), ("mom", mom), ("grad", grad)];
    update(op, tensors, allocator, |[var, mg, ms, mom, grad]| {
        let ms = ms + (grad * grad - ms) * (1.0 - rho);
        let mg = mg + (grad - mg) * (1.0 - rho);
        let mom = mom * momentum + lr * grad / (ms - mg * mg + epsilon).sqrt();
        [var - mom, mg, ms, mom]
    })
}
