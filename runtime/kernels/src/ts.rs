//! `ts`: shapes, computed apart from the tensors that will have them.

use bef_format::{AttrView, DType};
use befrost_host::error::ErrorCode;
use befrost_host::kernel::{Attr, RawAttr};
use befrost_host::{Chain, ExecContext, KernelError, Registry, kernel};
use befrost_tensor::{Shape, matmul_shape, reduce_shape};

use crate::objects::{ShapeValue, refused};

/// Adds the kernels of the `ts` dialect.
pub fn ts(registry: &mut Registry) {
    registry.add(kernel!("ts.build_shape", |value: RawAttr<'_>| shape_attr(&value).map(ShapeValue)));
    registry.add(kernel!("ts.print_shape", |shape: &ShapeValue, _: Chain, cx: &ExecContext| {
        cx.print(&format!("shape = {}\n", shape.0)).map(|()| Chain)
    }));
    registry.add(kernel!("ts.equal_shape", |a: &ShapeValue, b: &ShapeValue| a.0 == b.0));
    registry.add(kernel!("ts.get_dimension", get_dimension));
    registry.add(kernel!("ts.get_num_elements", |shape: &ShapeValue| shape.0.num_elements() as i64));
    registry.add(kernel!("ts.matmul_shape", |a: &ShapeValue, b: &ShapeValue| {
        matmul_shape(&a.0, &b.0).map(ShapeValue).map_err(refused)
    }));
    registry.add(kernel!("ts.reduce_shape", |shape: &ShapeValue, axis: Attr<i32>| {
        reduce_shape(&shape.0, i64::from(axis.0)).map(ShapeValue).map_err(refused)
    }));
}

fn get_dimension(shape: &ShapeValue, index: i32) -> Result<i64, KernelError> {
    let dim = usize::try_from(index).ok().and_then(|i| shape.0.dims().get(i));
    dim.map(|&dim| dim as i64).ok_or_else(|| {
        let message = format!("dimension {index} of shape {} of rank {}", shape.0, shape.0.rank());
        KernelError::new(ErrorCode::OutOfRange, message)
    })
}

/// The shape in an attribute: an array of i64.
pub(crate) fn shape_attr(attr: &RawAttr<'_>) -> Result<Shape, KernelError> {
    let dims: Vec<i64> = match attr.view {
        AttrView::Scalars { dtype: DType::I64, bytes, .. } => {
            bytes.chunks_exact(8).filter_map(|chunk| chunk.try_into().ok()).map(i64::from_le_bytes).collect()
        }
        AttrView::Shape(dims) => dims.to_vec(),
        AttrView::Array([]) => Vec::new(),
        other => {
            return Err(KernelError::invalid(format!("expected an array of i64 as shape, got {other:?}")));
        }
    };
    Shape::from_i64(&dims).map_err(refused)
}
