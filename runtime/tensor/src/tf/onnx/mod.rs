//! Operators of ONNX that TensorFlow does not have.
//!
//! ```text
//! elements (gather and scatter along an axis)          window (windows along any number of axes) ─┬▶ pool
//! bytes (8-bit products) ─────────────────────────────────────────────────────────▶ quantized ◀─┘
//! linear (tensors of integers from and to numbers)
//! activation ──▶ recurrent (LSTM, GRU, RNN)     deform (displaced windows)
//! rois, grid, resize (images sampled)
//! unique (sorted)     selection (of boxes)     trees (ensembles)     coupling (of probabilities)
//! ```
//!
//! Images have ONNX's layout: batch, channels, and any number of spatial axes. The number of windows along an
//! axis is ONNX's. f16 and bf16 are computed in f32; results are rounded once.

mod activation;
mod bytes;
mod coupling;
mod deform;
mod elements;
mod grid;
mod linear;
mod pool;
mod quantized;
mod recurrent;
mod resize;
mod rois;
mod rois_grad;
mod selection;
mod trees;
mod unique;
mod window;

pub use activation::Activation;
pub use coupling::coupled_probabilities;
pub(in crate::tf) use coupling::n_pairs;
pub use deform::{Deformed, col_to_image, deform_conv, image_to_col};
pub use elements::{gather_elements, scatter_elements};
pub use grid::{Beyond, GridAttrs, Sampling, grid_sample, grid_sample_grad_grid, grid_sample_grad_image};
pub use linear::{dequantize_linear, look_up_bytes, quantize_linear};
pub use pool::{PoolWindows, Pooling, max_pool_with_indices, window_pool};
pub use quantized::{quantized_conv, quantized_matmul};
pub(in crate::tf) use recurrent::Recurrent;
pub use recurrent::{Cell, DIRECTIONS, PackedOperands, Recurrence, RecurrentGradients, RecurrentOperands};
pub use resize::{AspectRatio, AxisInterpolation, Coordinates, NearestMode, ResizeAxesAttrs, resize_axes};
pub use rois::{RoiAlignAttrs, max_roi_pool, roi_align};
pub use rois_grad::{max_roi_pool_grad, roi_align_grad_image, roi_align_grad_rois};
pub use selection::{Limits, batched_non_max_suppression};
pub use trees::{Aggregate, TreeLists, Trees};
pub use unique::unique_sorted;
pub use window::WindowSteps;

use super::fast::{self, Cx};
use crate::{DType, HostTensor, TensorError};

/// A float of the width in which the operators compute: f32 or f64.
pub(in crate::tf) trait WideFloat:
    crate::gemm::GemmElement
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
    + std::ops::AddAssign
{
    /// The lowest number.
    const LOWEST: Self;
    fn wide(self) -> f64;
    fn rounded(x: f64) -> Self;
}

macro_rules! floats {
    ($($ty:ident)*) => {$(
        impl WideFloat for $ty {
            const LOWEST: $ty = $ty::NEG_INFINITY;
            fn wide(self) -> f64 {
                f64::from(self)
            }
            fn rounded(x: f64) -> $ty {
                x as $ty
            }
        }
    )*};
}
floats! { f32 f64 }

/// Evaluates a block with f32 or f64, the type of the elements, as `$t`.
macro_rules! with_float {
    ($x:expr, $t:ident => $body:expr) => {
        match $x.dtype() {
            crate::DType::F64 => {
                type $t = f64;
                $body
            }
            _ => {
                type $t = f32;
                $body
            }
        }
    };
}
pub(in crate::tf) use with_float;

/// The operand as f64 if it is f64, as f32 if it is a narrower float; other types are errors.
pub(in crate::tf) fn wide(op: &'static str, x: &HostTensor, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    super::real::expect_float(op, x)?;
    fast::cast(x, if x.dtype() == DType::F64 { DType::F64 } else { DType::F32 }, cx)
}
