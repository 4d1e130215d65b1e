//! Queries on ops and values of the op graph, for passes and rewrites.
//!
//! ```text
//! shapes       dims (all known)   shape (known in part)   partial_shape   n_elements   bytes_of   dtype
//! constants    ints   splat
//! attributes   flag   int_list   data_format
//! positions    has_no_edges   producer_if   is_used_once
//! inference    infer
//! ```
//!
//! Not here: the kind of control flow (`tf::Control::of`), and constants as attributes (`fold::constant_of`).

use std::sync::Arc;

use befrost_tensor::mem::{Allocator, Malloc};
use befrost_tensor::tf::PartialShape;
use befrost_tensor::tf::op::{Attrs, Inferred, Op, OpRow, Operand, Work};
use befrost_tensor::{DType, HostTensor, TensorError};

use super::dimensions::known_dims;
use crate::dialects::tf::{self, operator};
use crate::fold::constant_of;
use crate::ir::{AttrKind, DYNAMIC, Module, OpId, TypeId, TypeKind, ValueId};

/// The dimensions of a tensor type of known rank; [`DYNAMIC`] is an unknown one.
pub fn shape_of(m: &Module, ty: TypeId) -> Option<&[i64]> {
    match m.cx.ty(ty) {
        TypeKind::Tensor { shape, .. } => shape.as_deref(),
        _ => None,
    }
}

/// The dimensions of a value of known rank; [`DYNAMIC`] is an unknown one.
pub fn shape(m: &Module, value: ValueId) -> Option<&[i64]> {
    shape_of(m, m.value_type(value))
}

/// The dimensions of a tensor type if all are known.
pub fn dims_of(m: &Module, ty: TypeId) -> Option<&[i64]> {
    shape_of(m, ty).filter(|dims| !dims.contains(&DYNAMIC))
}

/// The dimensions of a value if all are known.
pub fn dims(m: &Module, value: ValueId) -> Option<&[i64]> {
    dims_of(m, m.value_type(value))
}

/// The shape of a tensor type, as the operand of a shape rule.
pub fn partial_shape(m: &Module, ty: TypeId) -> PartialShape {
    let Some(dims) = shape_of(m, ty) else { return PartialShape::unknown() };
    let dims: Vec<i64> = dims.iter().map(|&dim| if dim == DYNAMIC { -1 } else { dim }).collect();
    PartialShape::from_i64(&dims).unwrap_or_else(|_| PartialShape::unknown())
}

/// The number of elements of a shape whose sizes are known; `None` if it is out of range.
pub fn n_elements(dims: &[i64]) -> Option<i64> {
    dims.iter().try_fold(1i64, |n, &dim| n.checked_mul(dim))
}

/// The number of bytes of a tensor of a static type.
pub fn bytes_of(m: &Module, ty: TypeId) -> Option<usize> {
    let size = tf::type_of(&m.cx, ty)?.0.dtype()?.size();
    dims_of(m, ty)?.iter().try_fold(size, |n, &dim| n.checked_mul(usize::try_from(dim).ok()?))
}

/// The element type of a value whose elements are numbers.
pub fn dtype(m: &Module, value: ValueId) -> Option<DType> {
    tf::type_of(&m.cx, m.value_type(value))?.0.dtype()
}

/// The elements of a small integer constant.
pub fn ints(m: &Module, value: ValueId) -> Option<Vec<i64>> {
    tf::dense_ints(&m.cx, constant_of(m, value)?, tf::MAX_SHAPE_CONSTANT)
}

/// The value of all elements of a constant, if they are equal.
pub fn splat(m: &Module, value: ValueId) -> Option<f64> {
    tf::dense_splat(&m.cx, constant_of(m, value)?)
}

/// The elements of a list attribute that is present.
pub fn int_list(m: &Module, op: OpId, attr: &str) -> Option<Vec<i64>> {
    let signature = tf::row(m, op)?.signature();
    signature.attr(attr)?;
    tf::attrs_of(m, op, signature).ints(attr)
}

/// True if an attribute is present and true.
pub fn flag(m: &Module, op: OpId, name: &str) -> bool {
    m.attr_named(op, name).is_some_and(|attr| matches!(m.cx.attr(attr), AttrKind::Bool(true)))
}

/// The layout of an op's images; `NHWC` if the attribute is absent.
pub fn data_format(m: &Module, op: OpId) -> &str {
    m.attr_named(op, "data_format").and_then(|attr| m.cx.as_str(attr)).unwrap_or("NHWC")
}

/// True if an op has no control edges and no completion, so that its position is free.
pub fn has_no_edges(m: &Module, op: OpId) -> bool {
    tf::n_data_operands(m, op) == m.n_operands(op) && tf::n_data_results(m, op) == m.n_results(op)
}

/// The op whose first result is `value`, if its operator is one of these and it is free.
pub fn producer_if(m: &Module, value: ValueId, wanted: &[Op]) -> Option<OpId> {
    let op = m.defining_op(value)?;
    (wanted.contains(&operator(m, op)?) && m.result(op, 0) == value && has_no_edges(m, op)).then_some(op)
}

/// True if a value has exactly one use.
pub fn is_used_once(m: &Module, value: ValueId) -> bool {
    m.users(value).take(2).count() == 1
}

/// The results of an operator with these attributes and data operands, whose shapes `shape` gives.
///
/// # Errors
/// The reason why the operator refuses the operands.
pub fn infer(
    m: &Module,
    row: &OpRow,
    attrs: &dyn Attrs,
    operands: &[ValueId],
    shape: &dyn Fn(ValueId) -> PartialShape,
) -> Result<Vec<Inferred>, String> {
    with_operands(m, operands, shape, |facts| {
        row.infer(attrs, facts).map_err(|error| match error {
            TensorError::Invalid { problem, .. } => problem,
            other => other.to_string(),
        })
    })?
}

/// The work of evaluating an op once; `None` if it depends on unknown dimensions, or the op is ill-typed.
pub fn work(m: &Module, op: OpId, row: &OpRow) -> Option<Work> {
    work_for(m, op, row, &|value| partial_shape(m, m.value_type(value)))
}

/// [`work`], where unknown dimensions of operands count as 1.
pub fn least_work(m: &Module, op: OpId, row: &OpRow) -> Option<Work> {
    work_for(m, op, row, &|value| match shape_of(m, m.value_type(value)) {
        Some(dims) => {
            let dims: Vec<i64> = dims.iter().map(|&dim| if dim == DYNAMIC { 1 } else { dim }).collect();
            PartialShape::from_i64(&dims).unwrap_or_else(|_| PartialShape::unknown())
        }
        None => PartialShape::unknown(),
    })
}

fn work_for(m: &Module, op: OpId, row: &OpRow, shape: &dyn Fn(ValueId) -> PartialShape) -> Option<Work> {
    // Control edges follow the operands.
    let operands: Vec<ValueId> = m.operands(op).take(tf::n_data_operands(m, op)).collect();
    let attrs = tf::attrs_of(m, op, row.signature());
    with_operands(m, &operands, shape, |facts| row.work(&attrs, facts).ok().flatten()).ok()?
}

/// Calls `act` with the static knowledge about the operands.
fn with_operands<R>(
    m: &Module,
    operands: &[ValueId],
    shape: &dyn Fn(ValueId) -> PartialShape,
    act: impl FnOnce(&[Operand<'_>]) -> R,
) -> Result<R, String> {
    let plain: Arc<dyn Allocator> = Malloc::shared();
    let constants: Vec<Option<HostTensor>> =
        operands.iter().map(|&value| tf::small_constant(m, value, &plain)).collect();
    let facts = operands.iter().zip(&constants).enumerate().map(|(i, (&value, constant))| {
        let Some((ty, _)) = tf::type_of(&m.cx, m.value_type(value)) else {
            return Err(format!("operand #{i} is no tensor"));
        };
        let dims = if constant.is_some() { None } else { known_dims(m, value, shape) };
        Ok(Operand { ty, shape: shape(value), constant: constant.as_ref(), dims })
    });
    Ok(act(&facts.collect::<Result<Vec<_>, String>>()?))
}
