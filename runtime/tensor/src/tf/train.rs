//! TensorFlow's training updates, in place of the variables and their slots.
//!
//! ```text
//! state (var, slots), rates, gradient ──check──▶ make_unique ──▶ write
//! ```
//!
//! A state tensor without other handles is overwritten, and nothing of its size is allocated. Any other is
//! replaced by a new one, so its other handles keep the old elements. Everything that can fail precedes the
//! first write: after an error all elements are unchanged.
//!
//! Variables, slots and gradients are float tensors of one dtype and shape; rates are scalars of that dtype,
//! as in TensorFlow. Each new value is computed in f64 and rounded once.

use std::ops::{Add, Sub};
use std::sync::Arc;

use half::{bf16, f16};

use super::Binary;
use super::binary::BinaryTable;
use super::numeric::Number;
use super::real::scalar;
use crate::element::with_element;
use crate::mem::Allocator;
use crate::{DType, Element, HostTensor, RefMut, TensorError};

type Named<'a> = (&'static str, &'a HostTensor);

/// The values of scalars of a dtype.
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

/// Sets the state to `f` of itself and the gradient, elementwise. Both are passed with the names of their
/// operands; the first of the state is the variable.
fn update<const N: usize>(
    op: &'static str,
    names: [&'static str; N],
    state: [&mut HostTensor; N],
    (name, grad): Named<'_>,
    allocator: &Arc<dyn Allocator>,
    f: impl Fn([f64; N], f64) -> [f64; N],
) -> Result<(), TensorError> {
    let var = &*state[0];
    for (what, x) in names.into_iter().zip(state.iter().map(|x| &**x)).chain([(name, grad)]) {
        x.expect_dtype(what, var.dtype())?;
        x.expect_shape(what, var.shape())?;
    }
    match var.dtype() {
        DType::F16 => each::<f16, N>(state, grad, allocator, in_f64(f)),
        DType::BF16 => each::<bf16, N>(state, grad, allocator, in_f64(f)),
        DType::F32 => each::<f32, N>(state, grad, allocator, in_f64(f)),
        DType::F64 => each::<f64, N>(state, grad, allocator, f),
        dtype => Err(TensorError::Unsupported { op, dtype }),
    }
}

/// `f` for elements converted to f64 and rounded once.
fn in_f64<T: Number<Wide = f64>, const N: usize>(
    f: impl Fn([f64; N], f64) -> [f64; N],
) -> impl Fn([T; N], T) -> [T; N] {
    move |old, x| f(old.map(T::widen), x.widen()).map(T::narrow)
}

/// Sets the state to `f` of itself and `x`, elementwise. All have one shape.
fn each<T: Element, const N: usize>(
    mut state: [&mut HostTensor; N],
    x: &HostTensor,
    allocator: &Arc<dyn Allocator>,
    f: impl Fn([T; N], T) -> [T; N],
) -> Result<(), TensorError> {
    state.iter_mut().try_for_each(|to| to.make_unique(allocator))?;
    let x = x.read::<T>()?;
    let to = state.iter().map(|to| to.write::<T>()).collect::<Result<Vec<_>, _>>()?;
    let to = <[RefMut<'_, T>; N]>::try_from(to);
    let mut to = to.map_err(|to| TensorError::Count { want: N, got: to.len() })?;
    let mut to = to.each_mut().map(|to| &mut to[..x.len()]);
    for (i, &x) in x.iter().enumerate() {
        let new = f(to.each_ref().map(|to| to[i]), x);
        to.iter_mut().zip(new).for_each(|(to, new)| to[i] = new);
    }
    Ok(())
}

/// `AssignAdd` and `AssignSub`: `var + value` or `var - value`, of one dtype and shape, in place of `var`.
///
/// # Errors
/// If dtypes or shapes differ, for any other function, and for dtypes without this function.
pub fn accumulate(
    op: Binary,
    var: &mut HostTensor,
    value: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<(), TensorError> {
    value.expect_shape("value", var.shape())?;
    value.expect_dtype("value", var.dtype())?;
    let dtype = var.dtype();
    macro_rules! native {
        ($($dtype:ident $ty:ty: $add:expr, $sub:expr;)*) => {
            match (op, dtype) {
                $((Binary::Add, DType::$dtype) => each::<$ty, 1>([var], value, allocator, |[a], b| [$add(a, b)]),)*
                $((Binary::Sub, DType::$dtype) => each::<$ty, 1>([var], value, allocator, |[a], b| [$sub(a, b)]),)*
                (Binary::Add | Binary::Sub, _) => with_element!(dtype, T => {
                    let f = <T as Number>::Wide::binary(op).ok_or(TensorError::Unsupported { op: op.name(), dtype })?;
                    each::<T, 1>([var], value, allocator, |[a], b| [T::narrow(f(a.widen(), b.widen()))])
                }),
                _ => Err(TensorError::Unsupported { op: op.name(), dtype }),
            }
        };
    }
    // Other dtypes use the functions of their wide type.
    native! {
        F16 f16: f16::add, f16::sub;
        BF16 bf16: bf16::add, bf16::sub;
        F32 f32: f32::add, f32::sub;
        F64 f64: f64::add, f64::sub;
        I32 i32: i32::wrapping_add, i32::wrapping_sub;
        I64 i64: i64::wrapping_add, i64::wrapping_sub;
    }
}

/// `ApplyGradientDescent`: `var' = var - alpha * delta`.
pub fn apply_gradient_descent(
    var: &mut HostTensor,
    alpha: &HostTensor,
    delta: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<(), TensorError> {
    let op = "ApplyGradientDescent";
    let [alpha] = rates(op, var.dtype(), [("alpha", alpha)])?;
    update(op, ["var"], [var], ("delta", delta), allocator, |[var], delta| [var - alpha * delta])
}

/// `ApplyMomentum`: `accum' = accum * momentum + grad` and `var' = var - lr * accum'`. With Nesterov, `var' =
/// var - lr * (grad + accum' * momentum)`.
pub fn apply_momentum(
    [var, accum]: [&mut HostTensor; 2],
    lr: &HostTensor,
    grad: &HostTensor,
    momentum: &HostTensor,
    use_nesterov: bool,
    allocator: &Arc<dyn Allocator>,
) -> Result<(), TensorError> {
    let op = "ApplyMomentum";
    let [lr, momentum] = rates(op, var.dtype(), [("lr", lr), ("momentum", momentum)])?;
    update(op, ["var", "accum"], [var, accum], ("grad", grad), allocator, |[var, accum], grad| {
        let accum = accum * momentum + grad;
        let step = if use_nesterov { grad + accum * momentum } else { accum };
        [var - lr * step, accum]
    })
}

/// `ApplyKerasMomentum`: `accum' = accum * momentum - lr * grad` and `var' = var + accum'`. With Nesterov,
/// `var' = var + accum' * momentum - lr * grad`.
pub fn apply_keras_momentum(
    [var, accum]: [&mut HostTensor; 2],
    lr: &HostTensor,
    grad: &HostTensor,
    momentum: &HostTensor,
    use_nesterov: bool,
    allocator: &Arc<dyn Allocator>,
) -> Result<(), TensorError> {
    let op = "ResourceApplyKerasMomentum";
    let [lr, momentum] = rates(op, var.dtype(), [("lr", lr), ("momentum", momentum)])?;
    update(op, ["var", "accum"], [var, accum], ("grad", grad), allocator, |[var, accum], grad| {
        let accum = accum * momentum - lr * grad;
        let step = if use_nesterov { accum * momentum - lr * grad } else { accum };
        [var + step, accum]
    })
}

/// The rates of `ApplyAdam`: scalars.
#[derive(Clone, Copy, Debug)]
pub struct Adam<'a> {
    /// `beta1` to the power of the step number.
    pub beta1_power: &'a HostTensor,
    /// `beta2` to the power of the step number.
    pub beta2_power: &'a HostTensor,
    /// The learning rate.
    pub lr: &'a HostTensor,
    /// The decay of the first moment.
    pub beta1: &'a HostTensor,
    /// The decay of the second moment.
    pub beta2: &'a HostTensor,
    /// Keeps the divisor from 0.
    pub epsilon: &'a HostTensor,
}

/// `ApplyAdam`: the variable and its moments `m` and `v`.
pub fn apply_adam(
    [var, m, v]: [&mut HostTensor; 3],
    by: &Adam<'_>,
    grad: &HostTensor,
    use_nesterov: bool,
    allocator: &Arc<dyn Allocator>,
) -> Result<(), TensorError> {
    let op = "ApplyAdam";
    let Adam { beta1_power, beta2_power, lr, beta1, beta2, epsilon } = *by;
    let [beta1_power, beta2_power, lr] =
        rates(op, var.dtype(), [("beta1_power", beta1_power), ("beta2_power", beta2_power), ("lr", lr)])?;
    let [beta1, beta2, epsilon] =
        rates(op, var.dtype(), [("beta1", beta1), ("beta2", beta2), ("epsilon", epsilon)])?;
    let alpha = lr * (1.0 - beta2_power).sqrt() / (1.0 - beta1_power);
    update(op, ["var", "m", "v"], [var, m, v], ("grad", grad), allocator, |[var, m, v], grad| {
        let m = m + (grad - m) * (1.0 - beta1);
        let v = v + (grad * grad - v) * (1.0 - beta2);
        let step = if use_nesterov { grad * (1.0 - beta1) + beta1 * m } else { m };
        [var - alpha * step / (v.sqrt() + epsilon), m, v]
    })
}

/// `ApplyAdagrad`: `accum' = accum + grad^2` if the slots are updated, and
/// `var' = var - lr * grad / sqrt(accum')`.
pub fn apply_adagrad(
    [var, accum]: [&mut HostTensor; 2],
    lr: &HostTensor,
    grad: &HostTensor,
    update_slots: bool,
    allocator: &Arc<dyn Allocator>,
) -> Result<(), TensorError> {
    adagrad("ApplyAdagrad", [var, accum], (lr, None), grad, update_slots, allocator)
}

/// `ApplyAdagradV2`: [`apply_adagrad`] with `epsilon` added to the root.
pub fn apply_adagrad_v2(
    [var, accum]: [&mut HostTensor; 2],
    lr: &HostTensor,
    epsilon: &HostTensor,
    grad: &HostTensor,
    update_slots: bool,
    allocator: &Arc<dyn Allocator>,
) -> Result<(), TensorError> {
    adagrad("ApplyAdagradV2", [var, accum], (lr, Some(epsilon)), grad, update_slots, allocator)
}

fn adagrad(
    op: &'static str,
    [var, accum]: [&mut HostTensor; 2],
    (lr, epsilon): (&HostTensor, Option<&HostTensor>),
    grad: &HostTensor,
    update_slots: bool,
    allocator: &Arc<dyn Allocator>,
) -> Result<(), TensorError> {
    let [lr] = rates(op, var.dtype(), [("lr", lr)])?;
    let epsilon = match epsilon {
        Some(epsilon) => rates(op, var.dtype(), [("epsilon", epsilon)])?[0],
        None => 0.0,
    };
    update(op, ["var", "accum"], [var, accum], ("grad", grad), allocator, |[var, accum], grad| {
        let accum = if update_slots { accum + grad * grad } else { accum };
        [var - lr * grad / (accum.sqrt() + epsilon), accum]
    })
}

/// The rates of `ApplyRMSProp` and `ApplyCenteredRMSProp`: scalars.
#[derive(Clone, Copy, Debug)]
pub struct RmsProp<'a> {
    /// The learning rate.
    pub lr: &'a HostTensor,
    /// The decay of the mean square.
    pub rho: &'a HostTensor,
    /// The factor of the last step.
    pub momentum: &'a HostTensor,
    /// Keeps the divisor from 0.
    pub epsilon: &'a HostTensor,
}

impl RmsProp<'_> {
    fn rates(&self, op: &'static str, dtype: DType) -> Result<[f64; 4], TensorError> {
        let RmsProp { lr, rho, momentum, epsilon } = *self;
        rates(op, dtype, [("lr", lr), ("rho", rho), ("momentum", momentum), ("epsilon", epsilon)])
    }
}

/// `ApplyRMSProp`: the variable, its mean square and its step.
pub fn apply_rms_prop(
    [var, ms, mom]: [&mut HostTensor; 3],
    by: &RmsProp<'_>,
    grad: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<(), TensorError> {
    let op = "ApplyRMSProp";
    let [lr, rho, momentum, epsilon] = by.rates(op, var.dtype())?;
    update(op, ["var", "ms", "mom"], [var, ms, mom], ("grad", grad), allocator, |[var, ms, mom], grad| {
        let ms = ms + (grad * grad - ms) * (1.0 - rho);
        let mom = mom * momentum + lr * grad / (ms + epsilon).sqrt();
        [var - mom, ms, mom]
    })
}

/// `ApplyCenteredRMSProp`: the variable, its mean gradient, its mean square and its step.
pub fn apply_centered_rms_prop(
    [var, mg, ms, mom]: [&mut HostTensor; 4],
    by: &RmsProp<'_>,
    grad: &HostTensor,
    allocator: &Arc<dyn Allocator>,
) -> Result<(), TensorError> {
    let op = "ApplyCenteredRMSProp";
    let [lr, rho, momentum, epsilon] = by.rates(op, var.dtype())?;
    let (names, state) = (["var", "mg", "ms", "mom"], [var, mg, ms, mom]);
    update(op, names, state, ("grad", grad), allocator, |[var, mg, ms, mom], grad| {
        let ms = ms + (grad * grad - ms) * (1.0 - rho);
        let mg = mg + (grad - mg) * (1.0 - rho);
        let mom = mom * momentum + lr * grad / (ms - mg * mg + epsilon).sqrt();
        [var - mom, mg, ms, mom]
    })
}
