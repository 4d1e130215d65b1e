//! Operators that give no error for their operands.
//!
//! A row lists element types (`Total`) for which its function cannot fail once shape inference has accepted
//! the operands. Here the shape rule of the row is applied to the types of an op: all shapes must be static,
//! and the shapes of all results must follow from them.

use std::sync::Arc;

use befrost_tensor::HostTensor;
use befrost_tensor::mem::{Allocator, Malloc};
use befrost_tensor::tf::PartialShape;
use befrost_tensor::tf::op::{Operand, Traits};

use super::{attrs_of, dense_tensor, row, type_of};
use crate::fold::constant_of;
use crate::ir::{DYNAMIC, Module, OpId, TypeId, TypeKind, ValueId};

/// Limit on the elements of a constant whose value shape rules use.
pub const MAX_SHAPE_CONSTANT: usize = 1 << 12;

/// True if an operator gives no error unless an operand is one.
pub(super) fn is_total(m: &Module, op: OpId) -> bool {
    let Some(row) = row(m, op) else { return false };
    if row.has(Traits::CONSTANT) || row.has(Traits::PASSING) {
        return true;
    }
    if !row.is_pure_function() {
        return false;
    }
    let plain: Arc<dyn Allocator> = Malloc::shared();
    let constants: Vec<Option<HostTensor>> =
        m.operands(op).map(|value| small_constant(m, value, &plain)).collect();
    let operands = m.operands(op).zip(&constants).map(|(value, constant)| {
        let (ty, _) = type_of(&m.cx, m.value_type(value))?;
        let total = row.total().has(ty.dtype()?, constant_of(m, value).is_some());
        let shape = static_shape(m, m.value_type(value)).filter(|_| total)?;
        Some(Operand { ty, shape, constant: constant.as_ref(), dims: None })
    });
    let Some(operands) = operands.collect::<Option<Vec<_>>>() else { return false };
    let results = row.infer(&attrs_of(m, op, row.signature()), &operands);
    results.is_ok_and(|results| results.iter().all(|result| result.shape.shape().is_some()))
}

/// The tensor of a value that is a constant, if it is small enough for shape rules.
pub fn small_constant(m: &Module, value: ValueId, alloc: &Arc<dyn Allocator>) -> Option<HostTensor> {
    let attr = constant_of(m, value)?;
    let n = static_shape(m, m.cx.attr_type(attr)?)?.shape()?.num_elements();
    if n <= MAX_SHAPE_CONSTANT { dense_tensor(&m.cx, attr, alloc) } else { None }
}

fn static_shape(m: &Module, ty: TypeId) -> Option<PartialShape> {
    match m.cx.ty(ty) {
        TypeKind::Tensor { shape: Some(dims), .. } if !dims.contains(&DYNAMIC) => {
            PartialShape::from_i64(dims).ok()
        }
        _ => None,
    }
}
