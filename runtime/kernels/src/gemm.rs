//! Products of matrices that are added to their destination, for the kernels of `eigen` and `tfrt_test`.

use befrost_kernel_api::{ExecContext, KernelError};
use befrost_tensor::Element;
use befrost_tensor::tf::{Transposition, fast};

use crate::images::{compute, typed};
use crate::objects::{Tensor, refused};

/// The types of kernels with a type in their name.
pub(crate) trait Number: Element {
    /// `a * x + b * y`; if `b` is 0, `y` is not read.
    fn scaled_sum(a: Self, x: Self, b: Self, y: Self) -> Self;
}

impl Number for f32 {
    fn scaled_sum(a: f32, x: f32, b: f32, y: f32) -> f32 {
        if b == 0.0 { a * x } else { a * x + b * y }
    }
}

macro_rules! integer {
    ($($ty:ty)*) => {$(
        impl Number for $ty {
            fn scaled_sum(a: $ty, x: $ty, b: $ty, y: $ty) -> $ty {
                a.wrapping_mul(x).wrapping_add(b.wrapping_mul(y))
            }
        }
    )*};
}

integer!(i32 i64);

/// `c = alpha * a * b + beta * c`.
pub(crate) fn gemm<T: Number>(
    alpha: T,
    [a, b]: [&Tensor; 2],
    beta: T,
    c: &Tensor,
    cx: &ExecContext,
) -> Result<(), KernelError> {
    let product = compute(cx, |cx| {
        typed::<T>(&[a, b])?;
        fast::matmul(a, Transposition::None, b, Transposition::None, cx)
    })?;
    c.expect_shape("c", product.shape()).map_err(refused)?;
    let product = product.read::<T>().map_err(refused)?;
    let mut out = c.write::<T>().map_err(refused)?;
    for (out, &x) in out.iter_mut().zip(product.iter()) {
        *out = T::scaled_sum(alpha, x, beta, *out);
    }
    Ok(())
}
