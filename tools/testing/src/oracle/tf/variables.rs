//! Variables, and the ops that read and write them. A variable is a resource or a reference; it belongs to a
//! name or to the op that makes it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use befrost_compiler::ir::OpId;
use befrost_tensor::tf::PartialShape;
use befrost_tensor::tf::op::{Attributes, Eval, Op};
use befrost_tensor::tf::reference::{
    Binary, Scatter, binary, broadcast_to, cast, expand_dims, gather, gather_nd, shape_of, tensor_scatter,
};
use befrost_tensor::{DType, HostTensor, I1, Shape, TensorError};

use super::state::Cx;
use super::value::{TfValue, invalid};
use crate::oracle::Code;
use crate::oracle::frames::{Stop, fails};

/// The variables of a module, and other state of its ops, which outlive a call.
#[derive(Default)]
pub struct VariableStore {
    /// The named variables, by container and name.
    named: HashMap<(String, String), Rc<StoredVariable>>,
    /// The unnamed variables, by the op that makes them.
    own: HashMap<OpId, Rc<StoredVariable>>,
    /// The random ops that have drawn numbers, with their generators.
    pub(super) drawing: HashMap<OpId, Eval>,
}

/// A variable.
#[derive(Debug)]
pub struct StoredVariable {
    dtype: DType,
    shape: PartialShape,
    value: RefCell<Option<HostTensor>>,
}

/// The value of a variable.
pub(super) fn read(of: &TfValue) -> Result<HostTensor, Stop> {
    let value = variable(of)?.value.borrow().clone();
    value.ok_or_else(|| fails(Code::FailedPrecondition, "a variable is read before it is initialized"))
}

fn variable(value: &TfValue) -> Result<&StoredVariable, Stop> {
    match value {
        TfValue::Variable(variable) => Ok(variable),
        other => Err(other.is_not("a variable")),
    }
}

/// Replaces the values of variables by `f` of the old values. All must be initialized, and no two the same.
pub(super) fn update(
    of: &[TfValue],
    f: impl FnOnce(&[HostTensor]) -> Result<Vec<HostTensor>, TensorError>,
) -> Result<(), Stop> {
    let all = of.iter().map(variable).collect::<Result<Vec<_>, _>>()?;
    let is_again = |i: usize| all[..i].iter().any(|other| std::ptr::eq(*other, all[i]));
    if (0..all.len()).any(is_again) {
        return Err(invalid("one variable is updated twice at once"));
    }
    let old = of.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    for (variable, new) in all.iter().zip(f(&old)?) {
        *variable.value.borrow_mut() = Some(new);
    }
    Ok(())
}

/// The results of an op that writes the variable `to`: the variable if it is a reference, none if it is a
/// resource.
pub(super) fn passed_on(attrs: &Attributes<'_>, to: &TfValue) -> Vec<TfValue> {
    if attrs.signature().outputs.is_empty() { Vec::new() } else { vec![to.clone()] }
}

fn handle(attrs: &Attributes<'_>, cx: &mut Cx<'_>) -> Result<TfValue, Stop> {
    let (dtype, shape) = (attrs.dtype("dtype")?, attrs.shape("shape")?);
    let (container, name) = (attrs.string("container")?, attrs.string("shared_name")?);
    let make = || Rc::new(StoredVariable { dtype, shape, value: RefCell::new(None) });
    let found = match name.is_empty() {
        true => cx.variables.own.entry(cx.op).or_insert_with(make),
        false => cx.variables.named.entry((container, name)).or_insert_with(make),
    };
    if found.dtype != dtype {
        return Err(invalid(format!("a variable of {} is used as one of {dtype}", found.dtype)));
    }
    Ok(TfValue::Variable(found.clone()))
}

fn assign(attrs: &Attributes<'_>, to: &TfValue, value: &TfValue) -> Result<Vec<TfValue>, Stop> {
    let (variable, value) = (variable(to)?, value.tensor()?);
    value.expect_dtype("value", variable.dtype)?;
    if attrs.bool("validate_shape")? && !variable.shape.allows(value.shape()) {
        return Err(invalid(format!("shape {} for a variable of {}", value.shape(), variable.shape)));
    }
    *variable.value.borrow_mut() = Some(value.clone());
    Ok(passed_on(attrs, to))
}

/// The results of an op on variables; `None` for other ops.
pub(super) fn evaluate(
    name: &str,
    operands: &[TfValue],
    attrs: &Attributes<'_>,
    cx: &mut Cx<'_>,
) -> Result<Option<Vec<TfValue>>, Stop> {
    let m = cx.allocator.clone();
    let flag = |flag: bool| HostTensor::from_slice(Shape::scalar(), &[I1::from(flag)], &m);
    let result = match (name, operands) {
        ("VarHandleOp" | "VariableV2" | "Variable", []) => handle(attrs, cx)?,
        ("ReadVariableOp", [of]) => {
            let value = read(of)?;
            value.expect_dtype("dtype", attrs.dtype("dtype")?)?;
            TfValue::Tensor(value)
        }
        ("VarIsInitializedOp" | "IsVariableInitialized", [of]) => {
            TfValue::Tensor(flag(variable(of)?.value.borrow().is_some())?)
        }
        ("AssignVariableOp" | "Assign", [to, value]) => return assign(attrs, to, value).map(Some),
        ("AssignAddVariableOp" | "AssignAdd", [to, value]) => {
            return accumulate(attrs, Binary::Add, to, value, cx).map(Some);
        }
        ("AssignSubVariableOp" | "AssignSub", [to, value]) => {
            return accumulate(attrs, Binary::Sub, to, value, cx).map(Some);
        }
        ("RefIdentity", [of]) => of.clone(),
        ("RefSelect", [index, of @ ..]) => {
            let chosen = usize::try_from(index.int()?).ok().and_then(|index| of.get(index));
            chosen.ok_or_else(|| invalid(format!("an index out of {} references", of.len())))?.clone()
        }
        ("CountUpTo" | "ResourceCountUpTo", [of]) => {
            let (before, limit) = (TfValue::Tensor(read(of)?), attrs.int("limit")?);
            if before.int()? >= limit {
                return Err(fails(Code::OutOfRange, format!("a variable reached its limit of {limit}")));
            }
            let one = HostTensor::from_slice(Shape::scalar(), &[1_i64], &m)?;
            let one = cast(&one, before.tensor()?.dtype(), &m)?;
            update(std::slice::from_ref(of), |old| Ok(vec![binary(Binary::Add, &old[0], &one, &m)?]))?;
            before
        }
        ("DestroyResourceOp", [of]) => {
            *variable(of)?.value.borrow_mut() = None;
            return Ok(Some(Vec::new()));
        }
        ("DisableCopyOnRead", [of]) => {
            variable(of)?;
            return Ok(Some(Vec::new()));
        }
        ("VariableShape", [of]) => TfValue::Tensor(shape_of(&read(of)?, attrs.dtype("out_type")?, &m)?),
        ("ResourceGather", [of, indices]) => {
            let batch_dims = attrs.int("batch_dims")?;
            TfValue::Tensor(gather(&read(of)?, indices.tensor()?, batch_dims, batch_dims, &m)?)
        }
        ("ResourceGatherNd", [of, indices]) => TfValue::Tensor(gather_nd(&read(of)?, indices.tensor()?, &m)?),
        ("ResourceStridedSliceAssign" | "StridedSliceAssign", [to, begin, end, strides, value]) => {
            let rest = [begin.tensor()?, end.tensor()?, strides.tensor()?, value.tensor()?];
            let refused = || Stop::Refused("assignment to a slice".to_owned());
            // The op on tensors has attributes of the same names, and no fast version.
            let eval = Op::TensorStridedSliceUpdate.row().prepare(attrs.given())?.ok_or_else(refused)?;
            let [begin, end, strides, value] = rest;
            update(std::slice::from_ref(to), |old| {
                Ok(eval(&[&old[0], begin, end, strides, value], &m)?.into_vec())
            })?;
            return Ok(Some(passed_on(attrs, to)));
        }
        (scatter, [to, indices, updates]) => match mode(scatter) {
            Some((mode, of_slices)) => {
                return scattered(attrs, mode, of_slices, [to, indices, updates], cx).map(Some);
            }
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    Ok(Some(vec![result]))
}

fn accumulate(
    attrs: &Attributes<'_>,
    op: Binary,
    to: &TfValue,
    value: &TfValue,
    cx: &Cx<'_>,
) -> Result<Vec<TfValue>, Stop> {
    let value = value.tensor()?;
    update(std::slice::from_ref(to), |old| {
        value.expect_shape("value", old[0].shape())?;
        Ok(vec![binary(op, &old[0], value, cx.allocator)?])
    })?;
    Ok(passed_on(attrs, to))
}

/// The update of a scatter op, and true if an index is a vector (`Nd`).
fn mode(name: &str) -> Option<(Scatter, bool)> {
    let rest = name.strip_prefix("Resource").unwrap_or(name).strip_prefix("Scatter")?;
    let of_slices = rest.starts_with("Nd");
    let mode = match rest.strip_prefix("Nd").unwrap_or(rest) {
        "Update" => Scatter::Update,
        "Add" => Scatter::Add,
        "Sub" => Scatter::Sub,
        "Mul" => Scatter::Mul,
        "Div" => Scatter::Div,
        "Min" => Scatter::Min,
        "Max" => Scatter::Max,
        _ => return None,
    };
    Some((mode, of_slices))
}

fn scattered(
    attrs: &Attributes<'_>,
    mode: Scatter,
    of_slices: bool,
    [to, indices, updates]: [&TfValue; 3],
    cx: &Cx<'_>,
) -> Result<Vec<TfValue>, Stop> {
    let (indices, updates, m) = (indices.tensor()?, updates.tensor()?, cx.allocator);
    update(std::slice::from_ref(to), |old| {
        let x = &old[0];
        if of_slices {
            return Ok(vec![tensor_scatter(mode, x, indices, updates, m)?]);
        }
        // An index is a row number. A scalar update is broadcast to all rows.
        let row = x.shape().dims().get(1..).unwrap_or_default();
        let all = Shape::new(&[indices.shape().dims(), row].concat())?;
        let updates =
            if updates.shape().rank() == 0 { broadcast_to(updates, &all, m)? } else { updates.clone() };
        Ok(vec![tensor_scatter(mode, x, &expand_dims(indices, -1)?, &updates, m)?])
    })?;
    Ok(passed_on(attrs, to))
}
