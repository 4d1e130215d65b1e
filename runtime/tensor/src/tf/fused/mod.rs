//! Fused operators, created by the compiler: one pass over memory instead of several.
//!
//! ```text
//! MatMul | Conv2D | DepthwiseConv2dNative, constant weights ──▶ Weights, packed once and stored in a file
//!   + BatchNorm, BiasAdd, Add, Relu ...    ──────────────────▶ After, applied while a tile is in the cache
//! any elementwise operators              ──────────────────▶ Program, a block of each value at a time
//! mean, variance, normalization of rows  ──────────────────▶ layer_norm
//! products, softmax, products            ──────────────────▶ attention
//! 1x1, depthwise, 1x1 convolutions       ──────────────────▶ bottleneck, a band of lines at a time
//! ```
//!
//! Everything is f32; products may be computed in the lower precision of their weights, and `bytes` has those
//! whose operands and results are bytes. Results are
//! allocated and computed through the [`Cx`]. An operand that is passed by value is overwritten if it has
//! no other handles. Bad operands are errors with the shapes in them.
//!
//! Results are those of the separate operators, up to the rounding that `tf::fast` describes. For Winograd
//! convolutions see [`Algorithm`].

mod attention;
mod bottleneck;
mod bytes;
mod chain;
mod packing;
#[cfg(test)]
mod tests;
mod weights;

pub use attention::{Attention, attention};
pub use bottleneck::{BottleneckLayer, BottleneckLayers, bottleneck};
pub use bytes::{ByteForm, ByteSum};
pub use chain::{Program, Step, StepKind, Value};
pub use packing::Packing;
pub use weights::{Algorithm, Weights, WeightsKind};

use smallvec::SmallVec;

use super::conv::{ConvGeometry, grouped};
use super::fast::{self, Cx, from_nhwc, to_nhwc};
use super::{Conv2dAttrs, ImageFormat, Transposition};
use crate::conv::Conv2d;
use crate::error::invalid;
use crate::gemm::Matrix;
use crate::matmul::{Epilogue, PACKED_SIZE, matmul as matmul_packing, matmul_packed};
use crate::narrow::{self, FloatRows, RowQuanta};
use crate::parallel::{ADDITIONS_PER_NS, each_part, nanoseconds};
use crate::scratch::filled;
use crate::simd::{Function, Isa, Quantum};
use crate::{DType, HostTensor, Ref, Shape, TensorError, math};

/// The epilogue of a product: `function(result * scale + bias + residual)`.
///
/// A `BatchNorm` with constant vectors has `scale = gamma / sqrt(variance + epsilon)` and
/// `bias = beta - mean * scale`. A compiler that multiplies constant weights by the scale needs no scale
/// here.
#[derive(Clone, Copy, Debug, Default)]
pub struct After<'a> {
    /// A vector with one element per column or out channel.
    pub scale: Option<&'a HostTensor>,
    /// A vector with one element per column or out channel.
    pub bias: Option<&'a HostTensor>,
    /// A tensor of the result's shape.
    pub residual: Option<&'a HostTensor>,
    /// The function applied last.
    pub function: Function,
    /// The range of the left operand, if it is known; used with int8 weights only.
    pub range: Option<(f32, f32)>,
    /// The meaning of the bytes, if the left operand has bytes.
    pub bytes: ByteForm<'a>,
}

type MaybeNumbers<'a> = Option<Ref<'a, f32>>;

impl<'a> After<'a> {
    /// Borrows the three tensors. Fails unless the vectors have `n` elements and the residual has shape
    /// `result`.
    fn read(&self, n: usize, result: &Shape) -> Result<[MaybeNumbers<'a>; 3], TensorError> {
        let vector = Shape::new(&[n])?;
        let read = |what: &'static str, x: Option<&'a HostTensor>, shape: &Shape| {
            let read = |x: &'a HostTensor| {
                x.expect_shape(what, shape)?;
                x.read_as::<f32>(what)
            };
            x.map(read).transpose()
        };
        let residual = read("residual", self.residual, result)?;
        Ok([read("scale", self.scale, &vector)?, read("bias", self.bias, &vector)?, residual])
    }
}

fn epilogue<'a>([scale, bias, residual]: &'a [MaybeNumbers<'_>; 3], function: Function) -> Epilogue<'a> {
    Epilogue { scale: scale.as_deref(), bias: bias.as_deref(), residual: residual.as_deref(), function }
}

/// `MatMul` of `a` with packed weights. The last axis of `a` is the inner dimension, all other axes are rows.
pub fn matmul(
    a: &HostTensor,
    weights: &Weights,
    after: &After<'_>,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "MatMul";
    let [_, _, k, n] = weights.expect(op, &[WeightsKind::Matrix])?;
    let Some((_, rows)) = a.shape().dims().split_last().filter(|(last, _)| **last == k) else {
        return invalid(op, format!("shape {} with weights of shape [{k}, {n}]", a.shape()));
    };
    let sizes: SmallVec<[usize; 4]> = rows.iter().copied().chain([n]).collect();
    let shape = Shape::new(&sizes)?;
    if matches!(a.dtype(), DType::I8 | DType::UI8) {
        return bytes::matmul(a, weights, shape, after, cx);
    }
    let numbers = after.read(n, &shape)?;
    let out = HostTensor::allocate(DType::F32, shape, cx.allocator)?;
    {
        let (a, panels, mut out) = (a.read_as::<f32>("a")?, weights.numbers()?, out.write::<f32>()?);
        let m = out.len().checked_div(n).unwrap_or(0);
        let epilogue = epilogue(&numbers, after.function);
        if let Some(precision) = weights.precision() {
            let groups = match after.range {
                Some(range) => RowQuanta::All(Quantum::of_range(range)),
                None => RowQuanta::Each,
            };
            let rows = FloatRows { numbers: &a, k, precision, groups: &groups };
            let packed = weights.narrow(precision, &panels)?;
            narrow::multiply(Isa::detect(), m, &rows, &packed, &epilogue, &mut out, cx.parallel)?;
        } else if m > 0 {
            let packed = weights.packed(&panels)?;
            matmul_packed(m, &a, &packed, &epilogue, &mut out, cx.parallel)?;
        }
    }
    Ok(out)
}

/// `MatMul` of two f32 matrices, neither of which is packed ahead of time. `None` if an operand is of another
/// type or shape, or the matrices are too small for packing.
pub(in crate::tf) fn matmul_of_two(
    (a, trans_a): (&HostTensor, Transposition),
    (b, trans_b): (&HostTensor, Transposition),
    after: &After<'_>,
    cx: &Cx<'_>,
) -> Result<Option<HostTensor>, TensorError> {
    let size = |x: &HostTensor, turn| match (x.dtype(), x.shape().dims(), turn) {
        (DType::F32, &[rows, cols], Transposition::None) => Some((rows, cols)),
        (DType::F32, &[rows, cols], _) => Some((cols, rows)),
        _ => None,
    };
    let (Some((m, k)), Some((inner, n))) = (size(a, trans_a), size(b, trans_b)) else { return Ok(None) };
    let is = |x: Option<&HostTensor>, dims: &[usize]| {
        x.is_none_or(|x| x.dtype() == DType::F32 && x.shape().dims() == dims)
    };
    let fits = inner == k && is(after.scale, &[n]) && is(after.bias, &[n]) && is(after.residual, &[m, n]);
    if !fits || [m, k, n].into_iter().any(|size| size < PACKED_SIZE) {
        return Ok(None);
    }
    let shape = Shape::new(&[m, n])?;
    let numbers = after.read(n, &shape)?;
    let out = HostTensor::allocate(DType::F32, shape, cx.allocator)?;
    {
        let (a, b, mut out) = (a.read::<f32>()?, b.read::<f32>()?, out.write::<f32>()?);
        let matrix = |x, (rows, cols), turn| match turn {
            Transposition::None => Matrix::new(x, rows, cols),
            _ => Matrix::new(x, cols, rows).transposed(),
        };
        let (a, b) = (matrix(&a, (m, k), trans_a), matrix(&b, (k, n), trans_b));
        matmul_packing(a, b, &epilogue(&numbers, after.function), &mut out, cx.parallel)?;
    }
    Ok(Some(out))
}

/// The bytes of a packed matrix, the right one of products; see [`Packing::matrix`].
pub(in crate::tf) fn pack_matrix(
    x: &HostTensor,
    is_transposed: bool,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    x.expect_dtype("x", DType::F32)?;
    let packing = Packing::matrix(x.shape(), is_transposed)?;
    let out = HostTensor::allocate(DType::UI8, Shape::new(&[packing.n_bytes()])?, cx.allocator)?;
    packing.fill(&x.read_bytes()?, 0, &mut out.write_bytes()?);
    Ok(out)
}

/// `Conv2D` with packed filters. NCHW images and the residual are transposed to NHWC, and the result back.
pub fn conv2d(
    x: &HostTensor,
    weights: &Weights,
    attrs: &Conv2dAttrs,
    after: &After<'_>,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "Conv2D";
    let dims = weights.expect(op, &[WeightsKind::Filters, WeightsKind::Winograd2, WeightsKind::Winograd4])?;
    let geometry = ConvGeometry::new(op, x.shape(), &Shape::new(&dims)?, attrs)?;
    if geometry.from != geometry.image.channels {
        return invalid(op, format!("packed filters of shape {dims:?} for groups of images {}", x.shape()));
    }
    if matches!(x.dtype(), DType::I8 | DType::UI8) {
        return bytes::convolution((x, &geometry, attrs.format), weights, after, cx);
    }
    convolution((x, &geometry, attrs.format), after, cx, |images, x, epilogue, out| {
        let panels = weights.numbers()?;
        if let Some(precision) = weights.precision() {
            let space = Shape::new(&[images.narrow_bytes(precision)?])?;
            let space = HostTensor::allocate(DType::UI8, space, cx.allocator)?;
            let (packed, mut space) = (weights.narrow(precision, &panels)?, space.write_bytes()?);
            let to = (out, &mut space[..]);
            return images.run_narrow(x, after.range, &packed, epilogue, to, cx.parallel);
        }
        let packed = weights.packed(&panels)?;
        let Some(patch) = weights.kind().patch() else {
            return images.run(x, &packed, epilogue, out, cx.parallel);
        };
        match images.winograd(patch) {
            Some(winograd) => winograd.run(x, &packed, epilogue, out, cx.parallel),
            None => invalid(op, format!("filters packed for Winograd's convolution and {attrs:?}")),
        }
    })
}

/// `DepthwiseConv2dNative` with packed filters.
pub fn depthwise_conv2d(
    x: &HostTensor,
    weights: &Weights,
    attrs: &Conv2dAttrs,
    after: &After<'_>,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let op = "DepthwiseConv2dNative";
    let dims = weights.expect(op, &[WeightsKind::Depthwise])?;
    let shape = grouped(x.shape(), &Shape::new(&dims)?, attrs.format)?;
    let geometry = ConvGeometry::new(op, x.shape(), &shape, attrs)?;
    if dims[3] != 1 {
        return invalid(op, format!("packed filters of shape {dims:?}: more than one for a channel"));
    }
    if matches!(x.dtype(), DType::I8 | DType::UI8) {
        return bytes::convolution((x, &geometry, attrs.format), weights, after, cx);
    }
    convolution((x, &geometry, attrs.format), after, cx, |images, x, epilogue, out| {
        images.depthwise(x, &weights.numbers()?, epilogue, out, cx.parallel)
    })
}

/// Runs a convolution of NHWC images into a new tensor, transposing NCHW images.
fn convolution(
    (x, geometry, format): (&HostTensor, &ConvGeometry, ImageFormat),
    after: &After<'_>,
    cx: &Cx<'_>,
    run: impl FnOnce(&Conv2d, &[f32], &Epilogue<'_>, &mut [f32]) -> Result<(), TensorError>,
) -> Result<HostTensor, TensorError> {
    x.expect_dtype("input", DType::F32)?;
    if let Some(residual) = after.residual {
        residual.expect_shape("residual", &geometry.result_shape)?;
    }
    let (image, windows, outs) = (&geometry.image, &geometry.windows, geometry.result.channels);
    let shape = ImageFormat::Nhwc.shape(image.batch, windows.counts, outs)?;
    let images = Conv2d::new(image.batch, image.channels, windows.rows, windows.cols)?;
    let x = to_nhwc(format, x, cx)?;
    let residual = after.residual.map(|residual| to_nhwc(format, residual, cx)).transpose()?;
    let after = After { residual: residual.as_ref(), ..*after };
    let numbers = after.read(outs, &shape)?;
    let out = HostTensor::allocate(DType::F32, shape, cx.allocator)?;
    run(&images, &x.read::<f32>()?, &epilogue(&numbers, after.function), &mut out.write::<f32>()?)?;
    from_nhwc(format, out, cx)
}

/// `(x - mean) / sqrt(variance + epsilon) * scale + offset` of each row along the last axis, whose length is
/// that of the two vectors; in place.
pub fn layer_norm(
    x: HostTensor,
    scale: &HostTensor,
    offset: &HostTensor,
    epsilon: f32,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let Some(&n) = x.shape().dims().last() else {
        return Err(TensorError::Axis { axis: -1, shape: x.shape().clone() });
    };
    let vector = Shape::new(&[n])?;
    scale.expect_shape("scale", &vector)?;
    offset.expect_shape("offset", &vector)?;
    let (scale, offset) = (scale.read_as::<f32>("scale")?, offset.read_as::<f32>("offset")?);
    let (scale, offset): (&[f32], &[f32]) = (&scale, &offset);
    fast::each_row(x, n, cx, |_, rows| math::layer_norm_in_place(scale, offset, epsilon, rows))
}

/// The most parts of the rows whose sums are computed separately. Their number depends on the shape only.
const PARTS: usize = 16;

/// The gradients of [`layer_norm`], from that by its result: by `x`, in place of `dy`, by the scale and by
/// the offset. The moments of the rows are computed again.
pub fn layer_norm_grad(
    dy: HostTensor,
    x: &HostTensor,
    scale: &HostTensor,
    epsilon: f32,
    cx: &Cx<'_>,
) -> Result<[HostTensor; 3], TensorError> {
    let Some(&n) = x.shape().dims().last() else {
        return Err(TensorError::Axis { axis: -1, shape: x.shape().clone() });
    };
    let vector = Shape::new(&[n])?;
    scale.expect_shape("scale", &vector)?;
    dy.expect_shape("dy", x.shape())?;
    dy.expect_dtype("dy", DType::F32)?;
    let mut dx = dy;
    dx.make_unique(cx.allocator)?;
    let rows = x.num_elements().checked_div(n).unwrap_or(0);
    let each = rows.div_ceil(PARTS).max(1);
    let mut sums = filled(rows.div_ceil(each).checked_mul(2 * n).ok_or(TensorError::TooLarge)?, 0.0)?;
    {
        let (x, scale, mut dx) = (x.read_as::<f32>("x")?, scale.read_as::<f32>("scale")?, dx.write::<f32>()?);
        let (x, scale): (&[f32], &[f32]) = (&x, &scale);
        let len = (each * n).max(1);
        let mut parts: Vec<_> = dx.chunks_mut(len).zip(sums.chunks_mut((2 * n).max(1))).collect();
        let workers = cx.parallel.workers(nanoseconds(x.len().saturating_mul(8), ADDITIONS_PER_NS));
        each_part(parts.chunks_mut(1), workers, cx.parallel, &|i, part| {
            for (dx, sums) in part {
                let x = &x[i * len..][..dx.len()];
                let (by_scale, by_offset) = sums.split_at_mut(n);
                Isa::detect().layer_norm_gradient(x, (scale, epsilon), dx, [by_scale, by_offset]);
            }
        });
    }
    let total = |first: usize| {
        let out = HostTensor::allocate(DType::F32, vector.clone(), cx.allocator)?;
        for (j, out) in out.write::<f32>()?.iter_mut().enumerate() {
            *out = sums.iter().skip(first + j).step_by(2 * n).sum::<f64>() as f32;
        }
        Ok::<_, TensorError>(out)
    };
    let (by_scale, by_offset) = (total(0)?, total(n)?);
    Ok([dx, by_scale, by_offset])
}
