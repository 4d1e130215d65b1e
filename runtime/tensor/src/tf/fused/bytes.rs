//! Products whose left operand has bytes: quantized layers, as ONNX's `QLinearConv` and `QLinearMatMul`.
//!
//! ```text
//! x, i8 or u8 ─┐
//! weights, i8 ─┴─▶ sums, i32 ─▶ f(sum * scale + bias) ─▶ f32, or bytes again
//!                                         │
//!                  residual, bytes ───────┴─▶ + of two tensors of bytes, as `QLinearAdd`
//! ```
//!
//! The sums are exact. `After::scale` is a vector: the scale of `x` times that of each column. The weights
//! are integers: packed in 8 bits, or f32 for depthwise filters. Bytes of results are rounded to the nearest,
//! ties to even, and stay within their type's range. A sum of two tensors rounds the product to bytes first,
//! as if the two were separate operators.

#[cfg(test)]
mod tests;

use super::weights::Weights;
use super::{After, ConvGeometry};
use crate::conv::{Conv2d, WriteLine};
use crate::error::invalid;
use crate::mem::ReadGuard;
use crate::narrow::{self, Finish, PlainRows, Precision};
use crate::simd::{Affine, ByteResidual, Isa, OutRows, Requantize};
use crate::tf::ImageFormat;
use crate::tf::fast::{Cx, from_nhwc, to_nhwc};
use crate::{DType, HostTensor, Shape, TensorError};

const OP: &str = "product of bytes";

/// The meaning of bytes: of the left operand, of the result, and of a tensor that is added.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByteForm<'a> {
    /// The byte of the left operand that stands for 0.
    pub input_zero: i32,
    /// The quantization of the result; `None` for f32.
    pub output: Option<Affine>,
    /// The addend of a result of bytes.
    pub sum: Option<ByteSum<'a>>,
}

/// A tensor that is added to the product after both were rounded to bytes.
#[derive(Clone, Copy, Debug)]
pub struct ByteSum<'a> {
    /// The quantization of the product.
    pub product: Affine,
    /// Bytes of the shape of the result.
    pub residual: &'a HostTensor,
    /// Their quantization.
    pub of: Affine,
}

/// A product with any last step.
trait ByteProduct {
    fn run<T: Send>(&self, end: End<'_, T>, out: &mut [T]) -> Result<(), TensorError>;
}

/// The last step, for sums of integers in tiles, and for f32 that are integers line by line.
struct End<'a, T> {
    finish: &'a dyn Finish<T>,
    write: WriteLine<'a, T>,
}

/// The result of a product with `n` columns.
fn finished(
    product: &impl ByteProduct,
    (n, shape): (usize, Shape),
    after: &After<'_>,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let numbers = after.read(n, &shape)?;
    let epilogue = super::epilogue(&numbers, after.function);
    let Some(to) = after.bytes.output else {
        let out = HostTensor::allocate(DType::F32, shape, cx.allocator)?;
        let write: WriteLine<'_, f32> = &|isa, sums, out| {
            out.copy_from_slice(sums);
            isa.finish(&epilogue, (sums.len() / n, n), &mut OutRows::Strided(out, n), n);
        };
        product.run(End { finish: &epilogue, write }, &mut out.write::<f32>()?)?;
        return Ok(out);
    };
    let (Some(scale), None) = (epilogue.scale, epilogue.residual) else {
        return invalid(OP, "a result of bytes without scales, or with a residual of f32".to_owned());
    };
    let dtype = if to.is_signed { DType::I8 } else { DType::UI8 };
    let residual: Option<(ByteSum<'_>, ReadGuard<'_>)> = match after.bytes.sum {
        Some(sum) => {
            sum.residual.expect_shape("residual", &shape)?;
            sum.residual.expect_dtype("residual", dtype)?;
            Some((sum, sum.residual.read_bytes()?))
        }
        None => None,
    };
    let out = HostTensor::allocate(dtype, shape, cx.allocator)?;
    let residual =
        residual.as_ref().map(|(sum, bytes)| ByteResidual { product: sum.product, bytes, of: sum.of });
    let finish = Requantize { scale, bias: epilogue.bias, function: after.function, to, residual };
    finish.expect(n, out.num_elements())?;
    let write: WriteLine<'_, u8> = &|isa, sums, out| isa.requantize_floats(&finish, sums, out);
    product.run(End { finish: &finish, write }, &mut out.write_bytes()?)?;
    Ok(out)
}

/// The quantization of the left operand, without its scale.
fn input(x: &HostTensor, after: &After<'_>) -> Affine {
    Affine { scale: 1.0, zero: after.bytes.input_zero, is_signed: x.dtype() == DType::I8 }
}

struct Rows<'a> {
    rows: PlainRows<'a>,
    weights: &'a Weights,
    cx: &'a Cx<'a>,
}

impl ByteProduct for Rows<'_> {
    fn run<T: Send>(&self, end: End<'_, T>, out: &mut [T]) -> Result<(), TensorError> {
        let panels = self.weights.numbers()?;
        let packed = self.weights.narrow(Precision::Int8, &panels)?;
        let m = out.len().checked_div(packed.size().1).unwrap_or(0);
        narrow::multiply(Isa::detect(), m, &self.rows, &packed, end.finish, out, self.cx.parallel)
    }
}

/// The product of rows of bytes, whose shape is that of the result but for the last axis.
pub(super) fn matmul(
    a: &HostTensor,
    weights: &Weights,
    shape: Shape,
    after: &After<'_>,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let [_, _, k, n] = weights.dims();
    let bytes = a.read_bytes()?;
    let rows = PlainRows { bytes: &bytes, k, of: input(a, after) };
    finished(&Rows { rows, weights, cx }, (n, shape), after, cx)
}

struct Images<'a> {
    images: Conv2d,
    image: (&'a [u8], Affine),
    weights: &'a Weights,
    cx: &'a Cx<'a>,
}

impl ByteProduct for Images<'_> {
    fn run<T: Send>(&self, end: End<'_, T>, out: &mut [T]) -> Result<(), TensorError> {
        let panels = self.weights.numbers()?;
        if self.weights.precision().is_some() {
            let packed = self.weights.narrow(Precision::Int8, &panels)?;
            return self.images.run_bytes(self.image, &packed, end.finish, out, self.cx.parallel);
        }
        self.images.depthwise_bytes(self.image, &panels, end.write, out, self.cx.parallel)
    }
}

/// The convolution of images of bytes with the filters in `weights`, which are of all channels if they are in
/// 8 bits, and of one channel each if they are f32.
pub(super) fn convolution(
    (x, geometry, format): (&HostTensor, &ConvGeometry, ImageFormat),
    weights: &Weights,
    after: &After<'_>,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    if weights.precision().is_none() && (after.residual.is_some() || after.bytes.sum.is_some()) {
        return invalid(OP, "a residual of a depthwise convolution".to_owned());
    }
    let (image, windows, outs) = (&geometry.image, &geometry.windows, geometry.result.channels);
    let shape = ImageFormat::Nhwc.shape(image.batch, windows.counts, outs)?;
    let images = Conv2d::new(image.batch, image.channels, windows.rows, windows.cols)?;
    let of = input(x, after);
    let x = to_nhwc(format, x, cx)?;
    let added = after.bytes.sum.map(|sum| to_nhwc(format, sum.residual, cx)).transpose()?;
    let sum = after.bytes.sum.zip(added.as_ref()).map(|(sum, residual)| ByteSum { residual, ..sum });
    let after = After { bytes: ByteForm { sum, ..after.bytes }, ..*after };
    let bytes = x.read_bytes()?;
    let out = finished(&Images { images, image: (&bytes, of), weights, cx }, (outs, shape), &after, cx)?;
    from_nhwc(format, out, cx)
}
