//! ONNX's `QuantizeLinear` and `DequantizeLinear`: tensors of integers that stand for numbers.
//!
//! ```text
//! QuantizeLinear     round(x / scale) + zero_point, within the range of i8 or u8; NaN is 0
//! DequantizeLinear   (x - zero_point) * scale, of i8, u8 and i32
//! ```
//!
//! A function of one quantized tensor is a table of 256 bytes.
//!
//! There is one scale with its zero point, or one for each index of an axis.

use super::super::fast::Cx;
use crate::error::invalid;
use crate::scratch::{collected, copied};
use crate::shape::resolve_axis;
use crate::simd::{Affine, Isa};
use crate::{DType, HostTensor, TensorError};

/// The scales and zero points of a tensor: run `i` of elements has those of index `i % n`.
struct LinearChannels {
    scales: Vec<f32>,
    zeros: Vec<i32>,
    is_signed: bool,
    /// The number of elements of a run.
    run: usize,
}

impl LinearChannels {
    fn new(
        op: &'static str,
        x: &HostTensor,
        (scale, zero, dtype): (&HostTensor, &HostTensor, DType),
        axis: i64,
    ) -> Result<LinearChannels, TensorError> {
        zero.expect_dtype("zero_point", dtype)?;
        zero.expect_shape("zero_point", scale.shape())?;
        let run = match *scale.shape().dims() {
            [] | [1] => x.num_elements(),
            [n] => {
                let axis = resolve_axis(x.shape(), axis)?;
                if x.shape().dims()[axis] != n {
                    return invalid(op, format!("{n} scales along axis {axis} of shape {}", x.shape()));
                }
                x.shape().dims()[axis + 1..].iter().product()
            }
            _ => return invalid(op, format!("scales of shape {}", scale.shape())),
        };
        let zeros = match dtype {
            DType::I32 => collected(zero.read::<i32>()?.iter().copied())?,
            DType::I8 => collected(zero.read::<i8>()?.iter().map(|&zero| i32::from(zero)))?,
            DType::UI8 => collected(zero.read::<u8>()?.iter().map(|&zero| i32::from(zero)))?,
            dtype => return Err(TensorError::Unsupported { op, dtype }),
        };
        let scales = copied(&scale.read_as::<f32>("scale")?)?;
        Ok(LinearChannels { scales, zeros, is_signed: dtype == DType::I8, run: run.max(1) })
    }

    /// Computes a tensor. `each` takes the position of some elements, their quantization and their results.
    fn each<T: Send>(&self, out: &mut [T], cx: &Cx<'_>, each: impl Fn(usize, Affine, &mut [T]) + Sync) {
        let n = self.zeros.len();
        let unit = if n == 1 { 1 } else { self.run };
        cx.parts(out, (unit, 2), &|first, part| {
            for (at, out) in (first..).step_by(self.run).zip(part.chunks_mut(self.run)) {
                let i = if n == 1 { 0 } else { at / self.run % n };
                let affine = Affine { scale: self.scales[i], zero: self.zeros[i], is_signed: self.is_signed };
                each(at, affine, out);
            }
        });
    }
}

/// `round(x / scale) + zero_point`, of the zero point's type. The scales are one, or those of an axis.
pub fn quantize_linear(
    x: &HostTensor,
    scale: &HostTensor,
    zero: &HostTensor,
    axis: i64,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let (op, dtype) = ("_QuantizeLinear", zero.dtype());
    if !matches!(dtype, DType::I8 | DType::UI8) {
        return Err(TensorError::Unsupported { op, dtype });
    }
    let channels = LinearChannels::new(op, x, (scale, zero, dtype), axis)?;
    let out = HostTensor::allocate(dtype, x.shape().clone(), cx.allocator)?;
    let (numbers, isa) = (x.read::<f32>()?, Isa::detect());
    let x: &[f32] = &numbers;
    let quantize = |at, affine, out: &mut [u8]| isa.quantize(&x[at..][..out.len()], affine, out);
    channels.each(&mut out.write_bytes()?, cx, quantize);
    Ok(out)
}

/// `(x - zero_point) * scale`. The scales are one, or those of an axis.
pub fn dequantize_linear(
    x: &HostTensor,
    scale: &HostTensor,
    zero: &HostTensor,
    axis: i64,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let channels = LinearChannels::new("_DequantizeLinear", x, (scale, zero, x.dtype()), axis)?;
    let out = HostTensor::allocate(DType::F32, x.shape().clone(), cx.allocator)?;
    let mut numbers = out.write::<f32>()?;
    if x.dtype() == DType::I32 {
        let integers = x.read::<i32>()?;
        let x: &[i32] = &integers;
        channels.each(&mut numbers, cx, |at, affine, out| {
            for (to, x) in out.iter_mut().zip(&x[at..]) {
                *to = x.wrapping_sub(affine.zero) as f32 * affine.scale;
            }
        });
    } else {
        let (bytes, isa) = (x.read_bytes()?, Isa::detect());
        let x: &[u8] = &bytes;
        let dequantize = |at, affine, out: &mut [f32]| isa.dequantize(&x[at..][..out.len()], affine, out);
        channels.each(&mut numbers, cx, dequantize);
    }
    drop(numbers);
    Ok(out)
}

/// The bytes of a table of 256 that bytes select by their bits.
pub fn look_up_bytes(x: &HostTensor, table: &HostTensor, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    let op = "_LookUpBytes";
    let is_byte = |dtype: &DType| matches!(dtype, DType::I8 | DType::UI8);
    if let Some(dtype) = [x.dtype(), table.dtype()].into_iter().find(|dtype| !is_byte(dtype)) {
        return Err(TensorError::Unsupported { op, dtype });
    }
    let (bytes, numbers) = (x.read_bytes()?, table.read_bytes()?);
    let Ok(numbers) = <&[u8; 256]>::try_from(&numbers[..]) else {
        return invalid(op, format!("a table of shape {}", table.shape()));
    };
    let out = HostTensor::allocate(table.dtype(), x.shape().clone(), cx.allocator)?;
    let x: &[u8] = &bytes;
    cx.parts(&mut out.write_bytes()?, (1, 1), &|first, part| {
        for (to, &x) in part.iter_mut().zip(&x[first..]) {
            *to = numbers[usize::from(x)];
        }
    });
    Ok(out)
}
