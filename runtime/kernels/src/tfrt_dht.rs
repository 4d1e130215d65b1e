//! `tfrt_dht`: dense host tensors, filled in place and ordered by chains.

use bef_format::AttrView;
use befrost_host::kernel::{Attr, RawAttr};
use befrost_host::{Chain, ExecContext, KernelError, Registry, kernel};
use befrost_tensor::{DType, Element, HostTensor, ops};

use crate::objects::{ShapeValue, Tensor, refused};
use crate::ts::shape_attr;

/// Adds the kernels of the `tfrt_dht` dialect.
pub fn tfrt_dht(registry: &mut Registry) {
    registry.add(kernel!("tfrt_dht.print_tensor", |tensor: &Tensor, _: Chain, cx: &ExecContext| {
        let text = befrost_tensor::print::tensor(tensor).map_err(refused)?;
        cx.print(&format!("{text}\n")).map(|()| Chain)
    }));
    registry.add(kernel!("tfrt_dht.get_tensor_shape", |tensor: &Tensor| ShapeValue(tensor.shape().clone())));
    typed(registry);
}

macro_rules! typed_kernels {
    ($registry:ident, $($ty:ident)*) => {$(
        create!($registry, $ty, 0 1 2 3 4);
        $registry.add(kernel!(
            concat!("tfrt_dht.fill_tensor_with_constant.", stringify!($ty)),
            |tensor: &Tensor, _: Chain, value: Attr<$ty>| ops::fill(tensor, value.0).map(|()| Chain).map_err(refused)
        ));
        $registry.add(kernel!(
            concat!("tfrt_dht.set_tensor_with_constant_values.", stringify!($ty)),
            |tensor: &Tensor, _: Chain, values: RawAttr<'_>| set_values::<$ty>(tensor, &values)
        ));
        $registry.add(kernel!(
            concat!("tfrt_dht.tensor_equal.", stringify!($ty)),
            |a: &Tensor, b: &Tensor, _: Chain| {
                a.expect_dtype("a", <$ty as Element>::DTYPE).map_err(refused)?;
                ops::equal(a, b).map(|equal| (equal, Chain)).map_err(refused)
            }
        ));
    )*};
}

macro_rules! create {
    ($registry:ident, $ty:ident, $($rank:literal)*) => {$(
        $registry.add(kernel!(
            concat!("tfrt_dht.create_uninitialized_tensor.", stringify!($ty), ".", $rank),
            |shape: RawAttr<'_>, cx: &ExecContext| create(<$ty as Element>::DTYPE, $rank, &shape, cx)
        ));
    )*};
}

fn typed(registry: &mut Registry) {
    typed_kernels!(registry, i32 i64 f32 f64);
}

fn create(dtype: DType, rank: usize, shape: &RawAttr<'_>, cx: &ExecContext) -> Result<Tensor, KernelError> {
    let shape = shape_attr(shape)?;
    if shape.rank() != rank {
        return Err(KernelError::invalid(format!(
            "a shape of rank {} for a tensor of rank {rank}",
            shape.rank()
        )));
    }
    HostTensor::allocate(dtype, shape, cx.allocator()).map(Tensor).map_err(refused)
}

fn set_values<T: Element>(tensor: &Tensor, values: &RawAttr<'_>) -> Result<Chain, KernelError> {
    let (code, bytes) = match values.view {
        AttrView::Scalars { dtype, bytes, .. } => (dtype as u8, bytes),
        AttrView::Array([]) => (T::DTYPE as u8, &[][..]),
        other => {
            return Err(KernelError::invalid(format!("expected an array of {}, got {other:?}", T::DTYPE)));
        }
    };
    if DType::from_code(code) != Some(T::DTYPE) {
        return Err(KernelError::invalid(format!("the values are not of type {}", T::DTYPE)));
    }
    let values: &[T] = bytemuck::try_cast_slice(bytes)
        .map_err(|_| KernelError::invalid("the values are not aligned in the file"))?;
    tensor.copy_from_slice(values).map(|()| Chain).map_err(refused)
}
