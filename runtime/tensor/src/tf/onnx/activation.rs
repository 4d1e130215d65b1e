//! ONNX's activation functions of recurrent cells.

use super::WideFloat;
use crate::TensorError;
use crate::error::invalid;
use crate::simd::{Function, Isa};
use crate::tf::unary::sigmoid;

/// An activation function with its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names are ONNX's")]
pub enum Activation {
    Relu,
    Tanh,
    Sigmoid,
    Affine { alpha: f64, beta: f64 },
    LeakyRelu { alpha: f64 },
    ThresholdedRelu { alpha: f64 },
    ScaledTanh { alpha: f64, beta: f64 },
    HardSigmoid { alpha: f64, beta: f64 },
    Elu { alpha: f64 },
    Softsign,
    Softplus,
}

impl Activation {
    /// The function with this name, in upper or lower case. Its parameters are the next ones of the lists, or
    /// ONNX's defaults.
    pub fn named(
        op: &'static str,
        name: &str,
        alphas: &mut dyn Iterator<Item = f64>,
        betas: &mut dyn Iterator<Item = f64>,
    ) -> Result<Activation, TensorError> {
        let mut alpha = |missing| alphas.next().unwrap_or(missing);
        let mut beta = |missing| betas.next().unwrap_or(missing);
        Ok(match &name.to_ascii_lowercase()[..] {
            "relu" => Activation::Relu,
            "tanh" => Activation::Tanh,
            "sigmoid" => Activation::Sigmoid,
            "affine" => Activation::Affine { alpha: alpha(1.0), beta: beta(0.0) },
            "leakyrelu" => Activation::LeakyRelu { alpha: alpha(0.01) },
            "thresholdedrelu" => Activation::ThresholdedRelu { alpha: alpha(1.0) },
            "scaledtanh" => Activation::ScaledTanh { alpha: alpha(1.0), beta: beta(1.0) },
            "hardsigmoid" => Activation::HardSigmoid { alpha: alpha(0.2), beta: beta(0.5) },
            "elu" => Activation::Elu { alpha: alpha(1.0) },
            "softsign" => Activation::Softsign,
            "softplus" => Activation::Softplus,
            _ => {
                let name: String = name.chars().take(32).collect();
                return invalid(op, format!("there is no activation function \"{name}\""));
            }
        })
    }

    /// The vectorized function of f32, if there is one.
    pub(super) fn vectorized(self) -> Option<Function> {
        match self {
            Activation::Relu => Some(Function::Relu),
            Activation::Tanh => Some(Function::Tanh),
            Activation::Sigmoid => Some(Function::Sigmoid),
            Activation::LeakyRelu { alpha } => Some(Function::LeakyRelu(alpha as f32)),
            Activation::Softsign => Some(Function::Softsign),
            Activation::Softplus => Some(Function::Softplus),
            Activation::Elu { alpha: 1.0 } => Some(Function::Elu),
            Activation::Affine { .. }
            | Activation::ThresholdedRelu { .. }
            | Activation::ScaledTanh { .. }
            | Activation::HardSigmoid { .. }
            | Activation::Elu { .. } => None,
        }
    }

    fn of(self, x: f64) -> f64 {
        match self {
            Activation::Relu => {
                if x < 0.0 {
                    0.0
                } else {
                    x
                }
            }
            Activation::Tanh => x.tanh(),
            Activation::Sigmoid => sigmoid(x),
            Activation::Affine { alpha, beta } => alpha * x + beta,
            Activation::LeakyRelu { alpha } => {
                if x < 0.0 {
                    alpha * x
                } else {
                    x
                }
            }
            Activation::ThresholdedRelu { alpha } => {
                if x < alpha {
                    0.0
                } else {
                    x
                }
            }
            Activation::ScaledTanh { alpha, beta } => alpha * (beta * x).tanh(),
            // A clamp keeps a NaN.
            Activation::HardSigmoid { alpha, beta } => (alpha * x + beta).clamp(0.0, 1.0),
            Activation::Elu { alpha } => {
                if x < 0.0 {
                    alpha * x.exp_m1()
                } else {
                    x
                }
            }
            Activation::Softsign => x / (1.0 + x.abs()),
            Activation::Softplus => x.max(0.0) + (-x.abs()).exp().ln_1p(),
        }
    }

    /// Applies the function to each number.
    pub(in crate::tf) fn apply<T: WideFloat>(self, x: &mut [T]) {
        if let (Some(function), Ok(x)) = (self.vectorized(), bytemuck::try_cast_slice_mut::<T, f32>(x))
            && T::DTYPE == crate::DType::F32
        {
            return Isa::detect().map(function, x);
        }
        x.iter_mut().for_each(|x| *x = T::rounded(self.of(x.wide())));
    }
    /// Multiplies gradients of the results `y` at `x` by the slopes there. At a kink it is the lower side's
    /// slope, for `Elu` the upper side's, and a bound of `HardSigmoid` passes, as in TensorFlow.
    pub(in crate::tf) fn times_slopes<T: WideFloat>(self, x: &[T], y: &[T], d: &mut [T]) {
        let by_results = d.iter_mut().zip(y);
        match self {
            Activation::Sigmoid => by_results.for_each(|(d, &y)| *d = *d * (y * (T::ONE - y))),
            Activation::Tanh => by_results.for_each(|(d, &y)| *d = *d * (T::ONE - y * y)),
            _ => d.iter_mut().zip(x).for_each(|(d, &x)| *d = *d * T::rounded(self.slope(x.wide()))),
        }
    }

    fn slope(self, x: f64) -> f64 {
        let either = |holds: bool, slope: f64, other: f64| if holds { slope } else { other };
        match self {
            Activation::Relu => either(x > 0.0, 1.0, 0.0),
            Activation::Tanh => 1.0 - x.tanh().powi(2),
            Activation::Sigmoid => sigmoid(x) * sigmoid(-x),
            Activation::Affine { alpha, .. } => alpha,
            Activation::LeakyRelu { alpha } => either(x > 0.0, 1.0, alpha),
            Activation::ThresholdedRelu { alpha } => either(x > alpha, 1.0, 0.0),
            Activation::ScaledTanh { alpha, beta } => alpha * beta * (1.0 - (beta * x).tanh().powi(2)),
            Activation::HardSigmoid { alpha, beta } => {
                either((0.0..=1.0).contains(&(alpha * x + beta)), alpha, 0.0)
            }
            Activation::Elu { alpha } => either(x < 0.0, alpha * x.exp(), 1.0),
            Activation::Softsign => (1.0 + x.abs()).powi(-2),
            Activation::Softplus => sigmoid(x),
        }
    }
}
