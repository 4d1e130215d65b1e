//! Destination-passing functions over tensors, for kernels.
//!
//! Each one checks dtypes and shapes, borrows its operands at run time, and calls [`crate::math`]. `x` and
//! `out` may be the same tensor where the documentation says "in place"; elsewhere that is an error. After an
//! error `out` is unchanged.

use crate::element::with_element;
use crate::math::{self, GemmElement};
use crate::{DType, Element, HostTensor, TensorError, matmul_shape, reduce_shape, resolve_axis};

/// `out = a * b` for matrices of f32 or f64.
pub fn matmul(a: &HostTensor, b: &HostTensor, out: &HostTensor) -> Result<(), TensorError> {
    match a.dtype() {
        DType::F64 => matmul_of::<f64>(a, b, out),
        _ => matmul_of::<f32>(a, b, out), // which refuses any other dtype
    }
}

fn matmul_of<T: GemmElement>(a: &HostTensor, b: &HostTensor, out: &HostTensor) -> Result<(), TensorError> {
    expect_dtypes::<T>(&[("a", a), ("b", b), ("out", out)])?;
    let shape = matmul_shape(a.shape(), b.shape())?;
    out.expect_shape("out", &shape)?;
    let (&[m, n], &[k, _]) = (shape.dims(), b.shape().dims()) else {
        return Err(TensorError::Rank { what: "out", want: 2, got: shape });
    };
    forbid_alias("a", a, out)?;
    forbid_alias("b", b, out)?;
    let (a, b) = (a.read_as::<T>("a")?, b.read_as::<T>("b")?);
    math::matmul((m, k, n), &a, &b, &mut out.write::<T>()?);
    Ok(())
}

/// `out = x + bias`, the bias along the last axis, for f32 or f64. In place.
pub fn bias_add(x: &HostTensor, bias: &HostTensor, out: &HostTensor) -> Result<(), TensorError> {
    match x.dtype() {
        DType::F64 => bias_add_of::<f64>(x, bias, out),
        _ => bias_add_of::<f32>(x, bias, out),
    }
}

fn bias_add_of<T: GemmElement>(
    x: &HostTensor,
    bias: &HostTensor,
    out: &HostTensor,
) -> Result<(), TensorError> {
    expect_dtypes::<T>(&[("x", x), ("bias", bias), ("out", out)])?;
    out.expect_shape("out", x.shape())?;
    if bias.shape().rank() != 1 {
        return Err(TensorError::Rank { what: "bias", want: 1, got: bias.shape().clone() });
    }
    let (_, last) = x.shape().rows_and_last();
    if x.shape().rank() == 0 || bias.num_elements() != last {
        let want = crate::Shape::new(&[last])?;
        return Err(TensorError::Shape { what: "bias", want, got: bias.shape().clone() });
    }
    forbid_alias("bias", bias, out)?;
    let bias = bias.read_as::<T>("bias")?;
    unary(x, out, |x, out| math::bias_add(x, &bias, out), |out| math::bias_add_in_place(out, &bias))
}

/// `out = max(x, 0)` for f32 or f64. In place.
pub fn relu(x: &HostTensor, out: &HostTensor) -> Result<(), TensorError> {
    out.expect_shape("out", x.shape())?;
    match x.dtype() {
        DType::F64 => unary::<f64>(x, out, math::relu, math::relu_in_place),
        _ => unary::<f32>(x, out, math::relu, math::relu_in_place),
    }
}

/// Softmax along the last axis, for f32. In place. A scalar is a row of one.
pub fn softmax(x: &HostTensor, out: &HostTensor) -> Result<(), TensorError> {
    out.expect_shape("out", x.shape())?;
    let (_, n) = x.shape().rows_and_last();
    unary::<f32>(x, out, |x, out| math::softmax(n, x, out), |out| math::softmax_in_place(n, out))
}

/// Writes the positions of the largest elements of `x` along an axis to `out`. `x` is f32 or f64; `out` is
/// i32, with the shape of `x` without the axis. The first of several largest elements is taken. A NaN is
/// larger than any number. A negative axis counts from the end.
pub fn argmax(x: &HostTensor, axis: i64, out: &HostTensor) -> Result<(), TensorError> {
    match x.dtype() {
        DType::F64 => argmax_of::<f64>(x, axis, out),
        _ => argmax_of::<f32>(x, axis, out),
    }
}

fn argmax_of<T: GemmElement>(x: &HostTensor, axis: i64, out: &HostTensor) -> Result<(), TensorError> {
    x.expect_dtype("x", T::DTYPE)?;
    out.expect_dtype("out", DType::I32)?;
    let shape = x.shape();
    let axis_idx = resolve_axis(shape, axis)?;
    out.expect_shape("out", &reduce_shape(shape, axis)?)?;
    let (outer, rest) = shape.dims().split_at(axis_idx);
    let Some((&n, inner)) = rest.split_first() else {
        return Err(TensorError::Axis { axis, shape: shape.clone() });
    };
    if out.num_elements() == 0 {
        return Ok(());
    }
    if n == 0 {
        return Err(TensorError::EmptyAxis { shape: shape.clone() });
    }
    if i32::try_from(n).is_err() {
        return Err(TensorError::IndexRange { n });
    }
    let extents = (outer.iter().product(), n, inner.iter().product());
    math::argmax(extents, &x.read::<T>()?, &mut out.write::<i32>()?);
    Ok(())
}

/// Sets every element to `value`.
pub fn fill<T: Element>(out: &HostTensor, value: T) -> Result<(), TensorError> {
    out.write::<T>()?.fill(value);
    Ok(())
}

/// Copies all elements between tensors of the same dtype and shape.
pub fn copy(x: &HostTensor, out: &HostTensor) -> Result<(), TensorError> {
    out.expect_dtype("out", x.dtype())?;
    out.expect_shape("out", x.shape())?;
    if !x.shares_buffer(out) {
        out.write_bytes()?.copy_from_slice(&x.read_bytes()?);
    }
    Ok(())
}

/// True if shapes and all elements are equal by `==`: NaN equals nothing, -0 equals 0. Different dtypes are
/// an error.
pub fn equal(a: &HostTensor, b: &HostTensor) -> Result<bool, TensorError> {
    b.expect_dtype("b", a.dtype())?;
    if a.shape() != b.shape() {
        return Ok(false);
    }
    with_element!(a.dtype(), T => Ok(*a.read_as::<T>("a")? == *b.read_as::<T>("b")?))
}

/// The number of equal pairs of elements of two tensors of the same dtype and shape.
pub fn count_equal(a: &HostTensor, b: &HostTensor) -> Result<usize, TensorError> {
    b.expect_dtype("b", a.dtype())?;
    b.expect_shape("b", a.shape())?;
    with_element!(a.dtype(), T => Ok(math::count_equal(&a.read_as::<T>("a")?, &b.read_as::<T>("b")?)))
}

/// A function of `x` alone, in place if `out` is `x`.
fn unary<T: Element>(
    x: &HostTensor,
    out: &HostTensor,
    apart: impl FnOnce(&[T], &mut [T]),
    in_place: impl FnOnce(&mut [T]),
) -> Result<(), TensorError> {
    expect_dtypes::<T>(&[("x", x), ("out", out)])?;
    if x.shares_buffer(out) {
        in_place(&mut out.write::<T>()?);
    } else {
        let x = x.read::<T>()?;
        apart(&x, &mut out.write::<T>()?);
    }
    Ok(())
}

fn expect_dtypes<T: Element>(operands: &[(&'static str, &HostTensor)]) -> Result<(), TensorError> {
    operands.iter().try_for_each(|(what, tensor)| tensor.expect_dtype(what, T::DTYPE))
}

fn forbid_alias(what: &'static str, x: &HostTensor, out: &HostTensor) -> Result<(), TensorError> {
    if x.shares_buffer(out) { Err(TensorError::Aliased { what }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shape;
    use crate::mem::{BorrowError, Malloc};

    fn tensor<T: Element>(dims: &[usize], values: &[T]) -> HostTensor {
        HostTensor::from_slice(Shape::new(dims).unwrap(), values, &Malloc::shared()).unwrap()
    }

    fn zeros(dtype: DType, dims: &[usize]) -> HostTensor {
        HostTensor::zeros(dtype, Shape::new(dims).unwrap(), &Malloc::shared()).unwrap()
    }

    fn message(result: Result<(), TensorError>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn a_layer_in_place() {
        let x = tensor(&[2, 2], &[1.0f32, 2.0, 3.0, 4.0]);
        let w = tensor(&[2, 3], &[1.0f32, 0.0, -1.0, 0.0, 1.0, -1.0]);
        let out = zeros(DType::F32, &[2, 3]);
        matmul(&x, &w, &out).unwrap();
        assert_eq!(*out.read::<f32>().unwrap(), [1.0, 2.0, -3.0, 3.0, 4.0, -7.0]);
        bias_add(&out, &tensor(&[3], &[1.0f32, 1.0, 5.0]), &out).unwrap();
        relu(&out, &out).unwrap();
        assert_eq!(*out.read::<f32>().unwrap(), [2.0, 3.0, 2.0, 4.0, 5.0, 0.0]);
        let best = zeros(DType::I32, &[2]);
        argmax(&out, -1, &best).unwrap();
        assert_eq!(count_equal(&best, &tensor(&[2], &[1i32, 0])), Ok(1));
        let columns = zeros(DType::I32, &[3]);
        argmax(&out, 0, &columns).unwrap();
        assert_eq!(*columns.read::<i32>().unwrap(), [1, 1, 0]);
        softmax(&out, &out).unwrap();
        assert!((out.read::<f32>().unwrap()[..3].iter().sum::<f32>() - 1.0).abs() < 1e-6);
    }

    #[test]
    fn apart_is_the_same_as_in_place() {
        let values = [1.0f32, -2.0, 3.0, -4.0];
        let (x, bias) = (tensor(&[2, 2], &values), tensor(&[2], &[0.5f32, 0.25]));
        for f in [relu, softmax, |x: &HostTensor, out: &HostTensor| copy(x, out)] {
            let (apart, in_place) = (zeros(DType::F32, &[2, 2]), tensor(&[2, 2], &values));
            f(&x, &apart).unwrap();
            f(&in_place, &in_place).unwrap();
            assert!(equal(&apart, &in_place).unwrap());
        }
        let (apart, in_place) = (zeros(DType::F32, &[2, 2]), tensor(&[2, 2], &values));
        bias_add(&x, &bias, &apart).unwrap();
        bias_add(&in_place, &bias, &in_place).unwrap();
        assert!(equal(&apart, &in_place).unwrap());
        assert_eq!(*apart.read::<f32>().unwrap(), [1.5, -1.75, 3.5, -3.75]);
    }

    #[test]
    fn f64_and_empty_tensors() {
        let out = zeros(DType::F64, &[1, 1]);
        matmul(&tensor(&[1, 2], &[1.0f64, 2.0]), &tensor(&[2, 1], &[3.0f64, 4.0]), &out).unwrap();
        assert_eq!(*out.read::<f64>().unwrap(), [11.0]);
        let ones = tensor(&[2, 2], &[1.0f32; 4]);
        matmul(&zeros(DType::F32, &[2, 0]), &zeros(DType::F32, &[0, 2]), &ones).unwrap();
        assert_eq!(*ones.read::<f32>().unwrap(), [0.0; 4]);
        let empty = zeros(DType::F32, &[0, 3]);
        for f in [relu, softmax] {
            f(&empty, &empty).unwrap();
        }
        bias_add(&empty, &tensor(&[3], &[1.0f32; 3]), &empty).unwrap();
        argmax(&empty, 1, &zeros(DType::I32, &[0])).unwrap();
        let message = message(argmax(&empty, 0, &zeros(DType::I32, &[3])));
        assert_eq!(message, "no largest element: the axis of shape [0, 3] is empty");
    }

    #[test]
    fn wrong_operands_are_named() {
        let (a, b) = (zeros(DType::F32, &[2, 3]), zeros(DType::F32, &[3, 4]));
        let out = zeros(DType::F32, &[2, 4]);
        let ints = zeros(DType::I32, &[2, 3]);
        assert_eq!(message(matmul(&ints, &b, &out)), "`a` has dtype i32, expected f32");
        assert_eq!(
            message(matmul(&a, &a, &out)),
            "cannot multiply matrices of shapes [2, 3] and [2, 3]: the inner dimensions differ"
        );
        assert_eq!(message(matmul(&a, &b, &a)), "`out` has shape [2, 3], expected [2, 4]");
        assert_eq!(
            message(matmul(&a, &out, &out)),
            "cannot multiply matrices of shapes [2, 3] and [2, 4]: the inner dimensions differ"
        );
        let square = zeros(DType::F32, &[2, 2]);
        assert_eq!(
            message(matmul(&square, &square, &square)),
            "`a` and `out` are the same tensor, which is not possible here"
        );
        assert_eq!(message(bias_add(&a, &zeros(DType::F32, &[2]), &a)), "`bias` has shape [2], expected [3]");
        assert_eq!(message(bias_add(&a, &a, &a)), "`bias` has shape [2, 3] of rank 2, expected rank 1");
        let scalar = zeros(DType::F32, &[]);
        assert!(bias_add(&scalar, &zeros(DType::F32, &[1]), &scalar).is_err());
        assert_eq!(message(relu(&a, &b)), "`out` has shape [3, 4], expected [2, 3]");
        assert_eq!(message(relu(&ints, &ints)), "`x` has dtype i32, expected f32");
        assert_eq!(message(argmax(&a, 2, &ints)), "axis 2 is not one of shape [2, 3] of rank 2");
        assert_eq!(message(argmax(&a, 1, &ints)), "`out` has shape [2, 3], expected [2]");
        assert_eq!(message(fill(&a, 1i32)), "`out` has dtype f32, expected i32");
        assert!(count_equal(&a, &b).is_err() && count_equal(&a, &ints).is_err() && equal(&a, &ints).is_err());
        assert_eq!(equal(&a, &b), Ok(false));
    }

    #[test]
    fn conflicting_kernels_get_errors() {
        let x = tensor(&[2], &[1.0f32, -1.0]);
        let _reader = x.read::<f32>().unwrap();
        assert_eq!(relu(&x, &x), Err(TensorError::Borrow(BorrowError::Read)));
        let out = zeros(DType::F32, &[2]);
        let _writer = out.write::<f32>().unwrap();
        assert_eq!(relu(&x, &out), Err(TensorError::Borrow(BorrowError::Written)));
        assert_eq!(*_reader, [1.0, -1.0]);
    }
}
