//! `tfrt_dht` and `tfrt_dht_sync`: dense host tensors in destination-passing style, ordered by chains or, in
//! synchronous functions, by the program.
//!
//! `buffers` has host buffers, `strings` has `tfrt_sht`, `files` has `btf`.

mod buffers;
mod files;
mod strings;

use bef_format::AttrView;
use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::kernel::{Attr, Outcome, RawAttr, Rest};
use befrost_kernel_api::{Chain, ExecContext, KernelError, Registry, Value, kernel};
use befrost_tensor::{
    Complex64, Complex128, DType, Dims, Element, HostTensor, I1, Shape, TensorError, bf16, f16, ops, ulps,
};

use crate::objects::{self, AnyTensor, ScalarTensor, ShapeValue, Tensor, refused};
use crate::ts::shape_attr;

/// Adds the kernels of the `tfrt_dht`, `tfrt_sht` and `btf` dialects and of their synchronous twins.
pub fn tfrt_dht(registry: &mut Registry) {
    registry.add(kernel!("tfrt_dht.print_tensor", |tensor: AnyTensor<'_>, _: Chain, cx: &ExecContext| {
        print(&tensor, cx).map(|()| Chain)
    }));
    registry.add(kernel!("tfrt_dht_sync.print_tensor", |tensor: AnyTensor<'_>, cx: &ExecContext| {
        print(&tensor, cx)
    }));
    registry.add(kernel!("tfrt_dht.print_tensor_shape", |tensor: &Tensor, _: Chain, cx: &ExecContext| {
        cx.print(&format!("shape = {}\n", tensor.shape())).map(|()| Chain)
    }));
    twins! { registry, "tfrt_dht";
        "get_tensor_shape" => |tensor: &Tensor| ShapeValue(Dims::from(tensor.shape()));
    }
    registry.add(kernel!("tfrt_dht.no_op_ht", |_: &Tensor| Chain));
    creations(registry);
    contents(registry);
    comparisons(registry);
    buffers::add(registry);
    strings::add(registry);
    files::add(registry);
}

fn print(tensor: &AnyTensor<'_>, cx: &ExecContext) -> Result<(), KernelError> {
    cx.print(&format!("{}\n", tensor.text().map_err(refused)?))
}

macro_rules! creation_kernels {
    ($registry:ident, $($t:literal $ty:ty,)*) => {$(
        create!($registry, $t $ty, 0 1 2 3 4 5);
        $registry.add(kernel!(
            concat!("tfrt_dht.make_tensor.", $t),
            |buffer: &buffers::HostBuffer, shape: &ShapeValue, _: Chain| {
                make::<$ty>("dht", buffer, shape).map(|tensor| (tensor, Chain))
            }
        ));
        $registry.add(kernel!(
            concat!("tfrt_dht_sync.make_tensor.", $t),
            |buffer: &buffers::HostBuffer, shape: &ShapeValue| make::<$ty>("tfrt_dht_sync", buffer, shape)
        ));
        $registry.add(kernel!(
            concat!("tfrt_dht.set_tensor_with_constant_values.", $t),
            |tensor: &Tensor, _: Chain, values: RawAttr<'_>| set_values::<$ty>(tensor, &values).map(|()| Chain)
        ));
        $registry.add(kernel!(
            concat!("tfrt_dht_sync.set_tensor_with_constant_values.", $t),
            |tensor: &Tensor, values: RawAttr<'_>| set_values::<$ty>(tensor, &values)
        ));
        $registry.add(kernel!(
            concat!("tfrt_dht_sync.create_dense_tensor.", $t),
            |shape: RawAttr<'_>, values: RawAttr<'_>, cx: &ExecContext| dense::<$ty>(&shape, &values, cx)
        ));
    )*};
}

macro_rules! create {
    ($registry:ident, $t:literal $ty:ty, $($rank:literal)*) => {$(
        twins! { $registry, "tfrt_dht";
            concat!("create_uninitialized_tensor.", $t, ".", $rank) =>
                |shape: RawAttr<'_>, cx: &ExecContext| create(<$ty as Element>::DTYPE, $rank, &shape, cx);
        }
    )*};
}

fn creations(registry: &mut Registry) {
    creation_kernels!(registry,
        "ui8" u8, "ui32" u32, "ui64" u64, "i8" i8, "i32" i32, "i64" i64, "f32" f32, "f64" f64, "bool" I1,
        "complex64" Complex64, "complex128" Complex128, "f16" f16, "bf16" bf16,);
}

/// Kernels for types whose scalars and elements differ: booleans.
macro_rules! content_kernels {
    ($registry:ident, $($t:literal $scalar:ty => $ty:ty,)*) => {$(
        $registry.add(kernel!(
            concat!("tfrt_dht.fill_tensor_with_constant.", $t),
            |tensor: &Tensor, _: Chain, value: Attr<$scalar>| {
                ops::fill(tensor, <$ty>::from(value.0)).map(|()| Chain).map_err(refused)
            }
        ));
        $registry.add(kernel!(
            concat!("tfrt_dht.set_tensor_with_values.", $t),
            |tensor: &Tensor, _: Chain, values: Rest<'_, $scalar>| {
                let values: Vec<$ty> = values.iter().map(|value| value.map(<$ty>::from)).collect::<Result<_, Outcome>>()?;
                set(tensor, &values).map(|()| Chain).map_err(Outcome::error)
            }
        ));
        $registry.add(kernel!(
            concat!("tfrt_dht_sync.create_from_scalar.", $t),
            |shape: RawAttr<'_>, value: Attr<$scalar>, cx: &ExecContext| {
                from_scalar(&shape, <$ty>::from(value.0), cx)
            }
        ));
    )*};
}

/// Complex constants are lists of two numbers, since MLIR has no attribute for them.
macro_rules! complex_kernels {
    ($registry:ident, $($t:literal $ty:ident $scalar:ident,)*) => {$(
        $registry.add(kernel!(
            concat!("tfrt_dht.fill_tensor_with_constant.", $t),
            |tensor: &Tensor, _: Chain, value: RawAttr<'_>| {
                ops::fill(tensor, one::<$ty>(&value)?).map(|()| Chain).map_err(refused)
            }
        ));
        $registry.add(kernel!(
            concat!("tfrt_dht.set_tensor_with_values.", $t),
            |tensor: &Tensor, _: Chain, values: Rest<'_, Value>| {
                let values: Option<Vec<$ty>> = values.iter().map($scalar).collect();
                set(tensor, &values.ok_or(Outcome::Operand)?).map(|()| Chain).map_err(Outcome::error)
            }
        ));
        $registry.add(kernel!(
            concat!("tfrt_dht_sync.create_from_scalar.", $t),
            |shape: RawAttr<'_>, value: RawAttr<'_>, cx: &ExecContext| {
                from_scalar(&shape, one::<$ty>(&value)?, cx)
            }
        ));
    )*};
}

fn contents(registry: &mut Registry) {
    content_kernels!(registry,
        "ui8" u8 => u8, "ui32" u32 => u32, "ui64" u64 => u64, "i8" i8 => i8, "i32" i32 => i32, "i64" i64 => i64,
        "f32" f32 => f32, "f64" f64 => f64, "bool" bool => I1, "f16" f16 => f16, "bf16" bf16 => bf16,);
    complex_kernels!(registry, "complex64" Complex64 complex64, "complex128" Complex128 complex128,);
}

fn complex64(value: &Value) -> Option<Complex64> {
    match *value {
        Value::Complex64([re, im]) => Some(Complex64 { re, im }),
        _ => None,
    }
}

fn complex128(value: &Value) -> Option<Complex128> {
    let &objects::Complex128([re, im]) = value.downcast_ref()?;
    Some(Complex128 { re, im })
}

macro_rules! comparison_kernels {
    ($registry:ident, $($t:literal $ty:ident,)*) => {$(
        $registry.add(kernel!(
            concat!("tfrt_dht.tensor_equal.", $t),
            |a: &Tensor, b: &Tensor, _: Chain| {
                a.expect_dtype("a", <$ty as Element>::DTYPE).map_err(refused)?;
                ops::equal(a, b).map(|equal| (equal, Chain)).map_err(refused)
            }
        ));
        close!($registry, $t $ty, "" DEFAULT_ULPS, "3ulp." 3, "1000ulp." 1000, "2000ulp." 2000, "100000ulp." 100_000);
    )*};
}

/// The tolerance in ULPs of kernels without one in their name.
const DEFAULT_ULPS: u64 = 2;

macro_rules! close {
    ($registry:ident, $t:literal $ty:ident, $($infix:literal $ulps:expr),*) => {$(
        $registry.add(kernel!(
            concat!("tfrt_dht.tensor_allclose.", $infix, $t),
            |a: &Tensor, b: &Tensor, _: Chain| {
                a.expect_dtype("a", <$ty as Element>::DTYPE).map_err(refused)?;
                b.expect_dtype("b", <$ty as Element>::DTYPE).map_err(refused)?;
                ulps::within(a, b, $ulps).map(|close| (close, Chain)).map_err(refused)
            }
        ));
    )*};
}

fn comparisons(registry: &mut Registry) {
    comparison_kernels!(registry,
        "ui8" u8, "ui32" u32, "ui64" u64, "i8" i8, "i32" i32, "i64" i64, "f32" f32, "f64" f64, "bool" I1,
        "complex64" Complex64, "complex128" Complex128,);
}

fn make<T: Element>(
    dialect: &str,
    buffer: &buffers::HostBuffer,
    shape: &ShapeValue,
) -> Result<Tensor, KernelError> {
    let (has, size) = (buffer.0.len(), T::DTYPE.size());
    if shape.0.num_elements().ok().and_then(|n| n.checked_mul(size)) != Some(has) {
        let shape = &shape.0;
        return Err(KernelError::invalid(format!(
            "{dialect}.make_tensor failed: buffer_size ({has}) is not equal to the number of elements in shape \
             ({shape}) times element size ({size})"
        )));
    }
    HostTensor::from_buffer(T::DTYPE, shape.of_tensor()?, buffer.0.clone()).map(Tensor).map_err(refused)
}

fn create(dtype: DType, rank: usize, shape: &RawAttr<'_>, cx: &ExecContext) -> Result<Tensor, KernelError> {
    let shape = shape_attr(shape)?;
    if shape.rank() != rank {
        return Err(KernelError::invalid(format!(
            "a shape of rank {} for a tensor of rank {rank}",
            shape.rank()
        )));
    }
    allocate(dtype, shape, cx)
}

fn allocate(dtype: DType, shape: Shape, cx: &ExecContext) -> Result<Tensor, KernelError> {
    HostTensor::allocate(dtype, shape, cx.allocator()).map(Tensor).map_err(|error| match error {
        TensorError::Alloc(_) => KernelError::new(ErrorCode::ResourceExhausted, "Cannot allocate tensor"),
        error => refused(error),
    })
}

/// A tensor with these values, or with one value for all elements.
fn dense<T: Element>(
    shape: &RawAttr<'_>,
    values: &RawAttr<'_>,
    cx: &ExecContext,
) -> Result<Tensor, KernelError> {
    let tensor = allocate(T::DTYPE, shape_attr(shape)?, cx)?;
    match elements::<T>(values)? {
        [value] => ops::fill(&tensor, *value).map_err(refused)?,
        values => set(&tensor, values)?,
    }
    Ok(tensor)
}

fn from_scalar<T: Element>(
    shape: &RawAttr<'_>,
    value: T,
    cx: &ExecContext,
) -> Result<ScalarTensor, KernelError> {
    let value = HostTensor::from_slice(Shape::scalar(), &[value], cx.allocator()).map_err(refused)?;
    Ok(ScalarTensor { shape: shape_attr(shape)?, value })
}

fn set_values<T: Element>(tensor: &Tensor, values: &RawAttr<'_>) -> Result<(), KernelError> {
    set(tensor, elements::<T>(values)?)
}

fn set<T: Element>(tensor: &Tensor, values: &[T]) -> Result<(), KernelError> {
    tensor.expect_dtype("out", T::DTYPE).map_err(refused)?;
    let (n, want) = (values.len(), tensor.shape().num_elements());
    if n != want {
        let message = format!("Incorrect number of values for the tensor: {n}, but expected {want}");
        return Err(KernelError::invalid(message));
    }
    tensor.copy_from_slice(values).map_err(refused)
}

/// The only element of a list.
fn one<T: Element>(value: &RawAttr<'_>) -> Result<T, KernelError> {
    match elements::<T>(value)? {
        [value] => Ok(*value),
        values => Err(KernelError::invalid(format!("expected one number, got {}", values.len()))),
    }
}

/// The elements of a numeric attribute. Complex elements are stored as real part, imaginary part.
fn elements<'f, T: Element>(values: &RawAttr<'f>) -> Result<&'f [T], KernelError> {
    let part = match T::DTYPE {
        DType::Complex64 => DType::F32,
        DType::Complex128 => DType::F64,
        dtype => dtype,
    };
    let (code, bytes) = match values.view {
        AttrView::Scalars { dtype, bytes, .. } => (dtype as u8, bytes),
        AttrView::Array([]) => (part as u8, &[][..]),
        other => {
            return Err(KernelError::invalid(format!("expected an array of {part}, got {other:?}")));
        }
    };
    if DType::from_code(code) != Some(part) {
        return Err(KernelError::invalid(format!("the values are not of type {part}")));
    }
    bytemuck::try_cast_slice(bytes)
        .map_err(|_| KernelError::invalid(format!("the values in the file are no {}", T::DTYPE)))
}
