//! Constants of the op graph: making them, and the static types that they have.

use std::sync::Arc;

use befrost_tensor::mem::{Allocator, Malloc};
use befrost_tensor::{DType, HostTensor};

use crate::dialects::tf;
use crate::ir::{AttrId, DYNAMIC, Module, NewOp, OpId, TypeId, TypeKind, ValueId, names};
use crate::rewrite::{At, Rewriter};

/// How many bytes a tensor of a static type has.
pub(super) fn bytes_of(m: &Module, ty: TypeId) -> Option<usize> {
    let dims = static_dims(m, ty)?;
    let size = tf::type_of(&m.cx, ty)?.0.dtype()?.size();
    dims.iter().try_fold(size, |n, &dim| n.checked_mul(usize::try_from(dim).ok()?))
}

/// The dimensions of a tensor type that are all known.
pub(super) fn static_dims(m: &Module, ty: TypeId) -> Option<Vec<i64>> {
    match m.cx.ty(ty) {
        TypeKind::Tensor { shape: Some(dims), .. } if !dims.contains(&DYNAMIC) => Some(dims.to_vec()),
        _ => None,
    }
}

/// A tensor of integers, of i64 or i32.
pub(super) fn int_tensor(numbers: &[i64], shape: &[i64], dtype: DType) -> Option<HostTensor> {
    let shape = befrost_tensor::Shape::from_i64(shape).ok()?;
    let plain: Arc<dyn Allocator> = Malloc::shared();
    let tensor = match dtype {
        DType::I64 => HostTensor::from_slice(shape, numbers, &plain),
        _ => {
            let small: Vec<i32> = numbers.iter().map(|&n| i32::try_from(n).ok()).collect::<Option<_>>()?;
            HostTensor::from_slice(shape, &small, &plain)
        }
    };
    tensor.ok()
}

/// A `tf.Const` in front of an op.
pub(super) fn constant(r: &mut Rewriter<'_>, before: OpId, attr: AttrId) -> ValueId {
    let ty = r.ir().cx.attr_type(attr).unwrap_or(TypeId(0));
    let loc = r.ir().loc(before);
    let value = names::VALUE;
    let name = r.cx().str_id("tf.Const");
    let name = r.cx().op_name(name);
    let new = NewOp { loc, results: &[ty], attrs: &[(value, attr)], ..NewOp::new(name) };
    let op = r.create(At::Before(before), new);
    r.ir().result(op, 0)
}
