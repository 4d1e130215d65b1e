//! The fast version of each function, over slices.
//!
//! Every function here has a reference version in [`mod@crate::reference`]; property tests compare the two.
//! Functions that can work in place exist twice: `f(x, out)` and `f_in_place(out)`.
//!
//! The loops are written so that the compiler vectorizes them for the baseline machine: fixed-width inner
//! blocks, no calls, no `mul_add` (a library call where the baseline lacks the instruction). Not here: checks
//! of dtypes and shapes (`ops`), threads.
//!
//! Lengths that do not match are a bug of the caller and panic.

mod argmax;
mod softmax;
mod transpose;

pub use crate::gemm::{GemmElement, Matrix, ProductFn, product};
pub use argmax::argmax;
pub use softmax::{layer_norm_in_place, log_softmax_in_place, softmax_in_place};
pub use transpose::transpose;
pub(crate) use transpose::transpose_part;

use crate::Element;

/// `out = a * b` for row-major matrices: `a` m by k, `b` k by n, `out` m by n. [`product`] also takes
/// transposed matrices.
pub fn matmul<T: GemmElement>((m, k, n): (usize, usize, usize), a: &[T], b: &[T], out: &mut [T]) {
    product(Matrix::new(a, m, k), Matrix::new(b, k, n), out);
}

/// `out[.., j] = x[.., j] + bias[j]`, the bias along the last axis.
pub fn bias_add<T: GemmElement>(x: &[T], bias: &[T], out: &mut [T]) {
    assert_eq!(x.len(), out.len());
    if bias.is_empty() {
        return assert!(x.is_empty(), "no bias for {} elements", x.len());
    }
    assert!(x.len().is_multiple_of(bias.len()));
    for (x, out) in x.chunks_exact(bias.len()).zip(out.chunks_exact_mut(bias.len())) {
        for ((&x, &bias), out) in x.iter().zip(bias).zip(out) {
            *out = x + bias;
        }
    }
}

/// [`bias_add`] where `x` is `out`.
pub fn bias_add_in_place<T: GemmElement>(out: &mut [T], bias: &[T]) {
    if bias.is_empty() {
        return assert!(out.is_empty(), "no bias for {} elements", out.len());
    }
    assert!(out.len().is_multiple_of(bias.len()));
    for out in out.chunks_exact_mut(bias.len()) {
        for (out, &bias) in out.iter_mut().zip(bias) {
            *out = *out + bias;
        }
    }
}

/// `max(x, 0)`; NaN stays NaN, as in TensorFlow and NumPy.
pub fn relu<T: GemmElement>(x: &[T], out: &mut [T]) {
    assert_eq!(x.len(), out.len());
    for (&x, out) in x.iter().zip(out) {
        *out = relu_of(x);
    }
}

/// [`relu`] where `x` is `out`.
pub fn relu_in_place<T: GemmElement>(out: &mut [T]) {
    for out in out {
        *out = relu_of(*out);
    }
}

fn relu_of<T: GemmElement>(x: T) -> T {
    // Written with `<`, so that a NaN is kept.
    if x < T::ZERO { T::ZERO } else { x }
}

/// Softmax over rows of length `n`; see [`softmax_in_place`].
pub fn softmax(n: usize, x: &[f32], out: &mut [f32]) {
    out.copy_from_slice(x);
    softmax_in_place(n, out);
}

/// The number of equal pairs by `==`: NaN equals nothing.
pub fn count_equal<T: Element>(a: &[T], b: &[T]) -> usize {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).filter(|(a, b)| a == b).count()
}
