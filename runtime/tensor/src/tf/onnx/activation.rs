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
}
