//! Variables: named tensors that outlive a call, resources or references.
//!
//! ```text
//! VarHandleOp, VariableV2 ──▶ Handle ──▶ Variable { value } in the request's resources, by container and name
//! ```
//!
//! Values are replaced, never written: who has read one keeps it as it was. An update holds the lock of the variable from reading to replacing, so none
//! is lost; the order of updates is that of the chains that the compiler adds.
//!
//! A variable without a name belongs to the operator that makes its handle.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use befrost_host::error::ErrorCode;
use befrost_host::kernel::Rest;
use befrost_host::object::Object;
use befrost_host::{ExecContext, KernelError, Registry, Value, kernel};
use befrost_tensor::tf::op::Attributes;
use befrost_tensor::tf::{Binary, PartialShape, binary, gather, gather_nd, shape_of};
use befrost_tensor::{DType, HostTensor, I1, TensorError};

use super::action::{Action, Row, of, scalar, tensor};
use super::{Results, dense};
use crate::objects::refused;

/// Adds what is no operator of TensorFlow's.
pub(super) fn add(registry: &mut Registry) {
    registry.add(kernel!("tf._ReadRef", |operands: Rest<'_, Value>| {
        let values = operands.iter().map(|of| Ok(tensor(variable(of)?.read()?)));
        values.collect::<Result<_, KernelError>>().map(Results)
    }));
}

/// A variable.
#[derive(Debug)]
pub(super) struct Variable {
    name: String,
    dtype: DType,
    shape: PartialShape,
    value: Mutex<Option<HostTensor>>,
}

/// A resource or a reference.
#[derive(Clone, Debug)]
pub(super) struct Handle(pub(super) Arc<Variable>);

impl Object for Handle {
    const TYPES: &'static [&'static str] = &["tensor"];

    fn display(&self) -> String {
        format!("variable '{}'", self.0.name)
    }
}

pub(super) const OPS: &[Row] = &[
    (&["tf.VarHandleOp", "tf.VariableV2", "tf.Variable"], handle),
    (&["tf.ReadVariableOp"], |attrs| {
        let dtype = attrs.dtype("dtype")?;
        of(attrs, move |[of], _| {
            let value = variable(of)?.read()?;
            value.expect_dtype("dtype", dtype).map_err(refused)?;
            Ok([tensor(value)])
        })
    }),
    (&["tf.VarIsInitializedOp", "tf.IsVariableInitialized"], |attrs| {
        of(attrs, |[of], cx| Ok([scalar(I1::from(variable(of)?.lock().is_some()), cx)?]))
    }),
    (&["tf.AssignVariableOp", "tf.Assign"], assign),
    (&["tf.AssignAddVariableOp", "tf.AssignAdd"], |attrs| accumulate(attrs, Binary::Add)),
    (&["tf.AssignSubVariableOp", "tf.AssignSub"], |attrs| accumulate(attrs, Binary::Sub)),
    (&["tf.DestroyResourceOp"], |attrs| {
        of(attrs, |[of], _| {
            *variable(of)?.lock() = None;
            Ok([])
        })
    }),
    (&["tf.VariableShape"], |attrs| {
        let to = attrs.dtype("out_type")?;
        of(attrs, move |[of], cx| {
            Ok([tensor(shape_of(&variable(of)?.read()?, to, cx.allocator()).map_err(refused)?)])
        })
    }),
    (&["tf.ResourceGather"], |attrs| {
        let batch_dims = attrs.int("batch_dims")?;
        of(attrs, move |[of, indices], cx| {
            let value = variable(of)?.read()?;
            let rows = gather(&value, dense(indices)?, batch_dims, batch_dims, cx.allocator());
            Ok([tensor(rows.map_err(refused)?)])
        })
    }),
    (&["tf.ResourceGatherNd"], |attrs| {
        of(attrs, |[of, indices], cx| {
            let value = variable(of)?.read()?;
            Ok([tensor(gather_nd(&value, dense(indices)?, cx.allocator()).map_err(refused)?)])
        })
    }),
];

impl Variable {
    fn new(name: &str, dtype: DType, shape: PartialShape) -> Variable {
        Variable { name: name.to_owned(), dtype, shape, value: Mutex::new(None) }
    }

    /// The value, for as long as nobody else may see it.
    pub(super) fn lock(&self) -> MutexGuard<'_, Option<HostTensor>> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn uninitialized(&self) -> KernelError {
        let message = format!("the variable '{}' is read before it is initialized", self.name);
        KernelError::new(ErrorCode::FailedPrecondition, message)
    }

    pub(super) fn read(&self) -> Result<HostTensor, KernelError> {
        self.lock().clone().ok_or_else(|| self.uninitialized())
    }
}

/// The variable of a handle.
pub(super) fn variable(value: &Value) -> Result<&Arc<Variable>, KernelError> {
    value.downcast_ref::<Handle>().map(|handle| &handle.0).ok_or_else(|| {
        KernelError::invalid(format!("expected a variable, got a value of type {}", value.type_name()))
    })
}

/// Replaces the values of variables by what `f` makes of them; by nothing if it fails.
pub(super) fn update(
    variables: &[&Arc<Variable>],
    f: impl FnOnce(&[HostTensor]) -> Result<Vec<HostTensor>, TensorError>,
) -> Result<(), KernelError> {
    // One after another in one order for all, so that nobody waits in a circle.
    let mut order: Vec<usize> = (0..variables.len()).collect();
    order.sort_by_key(|&i| Arc::as_ptr(variables[i]));
    if order.windows(2).any(|pair| Arc::ptr_eq(variables[pair[0]], variables[pair[1]])) {
        return Err(KernelError::invalid("one variable is updated twice at once"));
    }
    let mut locked: Vec<_> = order.iter().map(|&i| (i, variables[i].lock())).collect();
    locked.sort_by_key(|(i, _)| *i);
    let values =
        locked.iter().map(|(i, value)| (**value).clone().ok_or_else(|| variables[*i].uninitialized()));
    let values = values.collect::<Result<Vec<_>, _>>()?;
    let new = f(&values).map_err(refused)?;
    for ((_, value), new) in locked.iter_mut().zip(new) {
        **value = Some(new);
    }
    Ok(())
}

fn handle(attrs: &Attributes<'_>) -> Result<Action, TensorError> {
    let (dtype, shape) = (attrs.dtype("dtype")?, attrs.shape("shape")?);
    let (container, name) = (attrs.string("container")?, attrs.string("shared_name")?);
    let key = format!("tf.variable/{container}/{name}");
    let own = name.is_empty().then(|| Arc::new(Variable::new(attrs.op(), dtype, shape.clone())));
    of(attrs, move |[], cx: &ExecContext| {
        let found = match &own {
            Some(own) => own.clone(),
            None => {
                cx.request.resources.or_insert_with(&key, || Variable::new(&name, dtype, shape.clone()))?
            }
        };
        if found.dtype != dtype {
            let problem = format!("the variable '{name}' is of type {}, not {dtype}", found.dtype);
            return Err(KernelError::invalid(problem));
        }
        Ok([Value::object(Handle(found))])
    })
}

fn assign(attrs: &Attributes<'_>) -> Result<Action, TensorError> {
    let (validate, gives) = (attrs.bool("validate_shape")?, !attrs.signature().outputs.is_empty());
    of(attrs, move |[to, value], _| {
        let (variable, value) = (variable(to)?, dense(value)?);
        value.expect_dtype("value", variable.dtype).map_err(refused)?;
        if validate && !variable.shape.allows(value.shape()) {
            let (name, want) = (&variable.name, &variable.shape);
            let problem =
                format!("shape {} assigned to the variable '{name}' of shape {want}", value.shape());
            return Err(KernelError::invalid(problem));
        }
        *variable.lock() = Some(value.clone());
        Ok(gives.then(|| to.clone()))
    })
}

fn accumulate(attrs: &Attributes<'_>, op: Binary) -> Result<Action, TensorError> {
    let gives = !attrs.signature().outputs.is_empty();
    of(attrs, move |[to, value], cx| {
        let value = dense(value)?;
        update(&[variable(to)?], |old| {
            value.expect_shape("value", old[0].shape())?;
            Ok(vec![binary(op, &old[0], value, cx.allocator())?])
        })?;
        Ok(gives.then(|| to.clone()))
    })
}
