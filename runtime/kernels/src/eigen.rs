//! `eigen`: the kernels that TFRT implements with Eigen, on images (NHWC) and matrices. Results are written
//! into existing tensors, ordered by chains.
//!
//! The kernels call TensorFlow's operators on all workers of the queue. Batch normalization takes the moments
//! as operands, so gradients treat them as constants.

use befrost_kernel_api::kernel::{Attr, RawAttr, StrAttr};
use befrost_kernel_api::{Chain, ExecContext, KernelError, Registry, kernel};
use befrost_tensor::tf::fast::{self, Cx};
use befrost_tensor::tf::{BatchNorm, BatchNormAttrs, Conv2dAttrs, ImageFormat, PadMode, Pool, Unary, pad};
use befrost_tensor::{HostTensor, TensorError, ops};

use crate::gemm::gemm;
use crate::images::{Tensors, compute, compute_into, padding, pair, typed, windows};
use crate::objects::{Tensor, refused};

/// Adds the kernels of the `eigen` dialect.
pub fn eigen(registry: &mut Registry) {
    convolutions(registry);
    gradients(registry);
    registry.add(kernel!(
        "eigen.batch_norm.f32",
        |Tensors([x, scale, offset, mean, variance]): Tensors<'_, 5>,
         _: Chain,
         epsilon: Attr<f32>,
         cx: &ExecContext| {
            let by = BatchNorm { scale, offset, mean, variance };
            compute_into(cx, x, |cx| normalized((*x).clone().0, &by, epsilon.0, cx)).map(|()| Chain)
        }
    ));
    registry.add(kernel!(
        "eigen.max_pooling_2d.f32",
        |x: &Tensor,
         out: &Tensor,
         _: Chain,
         padding: StrAttr<'_>,
         window: RawAttr<'_>,
         strides: RawAttr<'_>,
         cx: &ExecContext| {
            let windows = windows(padding.0, &window, &strides)?;
            compute_into(cx, out, |cx| {
                typed::<f32>(&[x])?;
                fast::pool(Pool::Max, x, &windows, cx)
            })
            .map(|()| Chain)
        }
    ));
    registry.add(kernel!(
        "eigen.zero_padding.f32",
        |x: &Tensor, out: &Tensor, _: Chain, padding: RawAttr<'_>, cx: &ExecContext| {
            zero_padding(x, out, &padding, cx)
        }
    ));
    macro_rules! matmul {
        ($($t:literal $ty:ty)*) => {$(
            registry.add(kernel!(
                concat!("eigen.matmul.", $t),
                |alpha: $ty, a: &Tensor, b: &Tensor, beta: $ty, c: &Tensor, _: Chain, cx: &ExecContext| {
                    gemm::<$ty>(alpha, [a, b], beta, c, cx).map(|()| Chain)
                }
            ));
        )*};
    }
    matmul!("f32" f32 "i32" i32);
}

/// Zero padding: rows above and below images, and columns left and right of them.
pub(crate) fn zero_padding(
    x: &Tensor,
    out: &Tensor,
    padding: &RawAttr<'_>,
    cx: &ExecContext,
) -> Result<Chain, KernelError> {
    let (h, w) = pair(padding)?;
    let [h, w] = [h, w].map(|n| i64::try_from(n).unwrap_or(i64::MAX));
    let paddings = [(0, 0), (h, h), (w, w), (0, 0)];
    compute_into(cx, out, |cx| {
        typed::<f32>(&[x])?;
        pad(x, &paddings, PadMode::Constant(&[]), cx.allocator)
    })
    .map(|()| Chain)
}

fn attrs(name: &str, strides: &RawAttr<'_>) -> Result<Conv2dAttrs, KernelError> {
    Ok(Conv2dAttrs { strides: pair(strides)?, padding: padding(name)?, ..Conv2dAttrs::default() })
}

fn normalized(
    x: HostTensor,
    by: &BatchNorm<'_>,
    epsilon: f32,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    x.expect_dtype("operand", befrost_tensor::DType::F32)?;
    fast::batch_norm(x, by, &BatchNormAttrs { epsilon, ..BatchNormAttrs::default() }, cx)
}

fn convolved(
    x: &Tensor,
    filter: &Tensor,
    attrs: &Conv2dAttrs,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    typed::<f32>(&[x, filter])?;
    fast::conv2d(x, filter, attrs, cx)
}

/// Images, filters, the vectors of a normalization, and the output.
type Normalized<'f> = Tensors<'f, 7>;

fn convolutions(registry: &mut Registry) {
    registry.add(kernel!(
        "eigen.conv2d.f32",
        |Tensors([x, filter, out]): Tensors<'_, 3>,
         _: Chain,
         padding: StrAttr<'_>,
         strides: RawAttr<'_>,
         cx: &ExecContext| {
            let attrs = attrs(padding.0, &strides)?;
            compute_into(cx, out, |cx| convolved(x, filter, &attrs, cx)).map(|()| Chain)
        }
    ));
    registry.add(kernel!(
        "eigen.conv2d.bias.f32",
        |Tensors([x, filter, bias, out]): Tensors<'_, 4>,
         _: Chain,
         padding: StrAttr<'_>,
         strides: RawAttr<'_>,
         cx: &ExecContext| {
            let attrs = attrs(padding.0, &strides)?;
            compute_into(cx, out, |cx| {
                fast::bias_add(convolved(x, filter, &attrs, cx)?, bias, ImageFormat::Nhwc, cx)
            })
            .map(|()| Chain)
        }
    ));
    macro_rules! with_batch_norm {
        ($($name:literal $then:expr;)*) => {$(
            registry.add(kernel!(
                $name,
                |Tensors([x, filter, scale, offset, mean, variance, out]): Normalized<'_>,
                 _: Chain,
                 epsilon: Attr<f32>,
                 padding: StrAttr<'_>,
                 strides: RawAttr<'_>,
                 cx: &ExecContext| {
                    let attrs = attrs(padding.0, &strides)?;
                    let by = BatchNorm { scale, offset, mean, variance };
                    let then: fn(HostTensor, &Cx<'_>) -> Result<HostTensor, TensorError> = $then;
                    compute_into(cx, out, |cx| {
                        then(normalized(convolved(x, filter, &attrs, cx)?, &by, epsilon.0, cx)?, cx)
                    })
                    .map(|()| Chain)
                }
            ));
        )*};
    }
    with_batch_norm! {
        "eigen.conv2d.batch_norm.f32" |x, _| Ok(x);
        "eigen.conv2d.batch_norm.relu.f32" |x, cx| fast::unary(Unary::Relu, x, cx);
    }
}

fn gradients(registry: &mut Registry) {
    registry.add(kernel!(
        "eigen.conv2d.grad.filter.f32",
        |Tensors([dy, x, out]): Tensors<'_, 3>,
         _: Chain,
         padding: StrAttr<'_>,
         strides: RawAttr<'_>,
         cx: &ExecContext| {
            let attrs = attrs(padding.0, &strides)?;
            compute_into(cx, out, |cx| {
                typed::<f32>(&[dy, x])?;
                fast::conv2d_backprop_filter(x, out.shape(), dy, &attrs, cx)
            })
            .map(|()| Chain)
        }
    ));
    registry.add(kernel!(
        "eigen.conv2d.grad.input.f32",
        |Tensors([dy, filter, out]): Tensors<'_, 3>,
         _: Chain,
         padding: StrAttr<'_>,
         strides: RawAttr<'_>,
         cx: &ExecContext| {
            let attrs = attrs(padding.0, &strides)?;
            compute_into(cx, out, |cx| {
                typed::<f32>(&[dy, filter])?;
                fast::conv2d_backprop_input(out.shape(), filter, dy, &attrs, cx)
            })
            .map(|()| Chain)
        }
    ));
    registry.add(kernel!(
        "eigen.batch_norm.grad.f32",
        |Tensors([dy, x, scale, mean, variance]): Tensors<'_, 5>,
         _: Chain,
         Tensors(outs): Tensors<'_, 3>,
         epsilon: Attr<f32>,
         cx: &ExecContext| {
            let attrs = BatchNormAttrs { epsilon: epsilon.0, ..BatchNormAttrs::default() };
            let gradients = compute(cx, |cx| {
                typed::<f32>(&[dy, x])?;
                fast::batch_norm_grad(
                    (**dy).clone(),
                    (**x).clone(),
                    scale,
                    (mean, variance),
                    false,
                    &attrs,
                    cx,
                )
            })?;
            for (gradient, out) in gradients.iter().zip(outs) {
                ops::copy(gradient, out).map_err(refused)?;
            }
            Ok::<_, KernelError>((Chain, Chain, Chain))
        }
    ));
}
