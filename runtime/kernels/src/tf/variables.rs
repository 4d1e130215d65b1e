//! Variables: named tensors that outlive a request, as resources or references.
//!
//! ```text
//! VarHandleOp, VariableV2 ──▶ handle ──▶ Variable { value } in the resources, by device, container and name
//! ```
//!
//! A read returns a counted handle of the value. An update writes to the value under the variable's lock:
//! bytes without other handles are overwritten, others are copied first, so earlier reads keep their value.
//! The chains that the compiler adds order updates.
//!
//! Locks: an update of several variables, and a [snapshot](variable_values), lock them in the order of their
//! addresses, which excludes deadlocks. The lock of the resources' names may be taken while these are held,
//! not the other way round. A panic in an update may leave a value partially written; its use is an error
//! until the next assignment.
//!
//! As in TensorFlow a variable exists from its first assignment until it is destroyed. The variable in the
//! resources is the one with a value. A variable without a name belongs to the operator that creates its
//! handle.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use befrost_kernel_api::context::{Resource, ResourceName, Resources};
use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::kernel::Rest;
use befrost_kernel_api::object::Object;
use befrost_kernel_api::{ExecContext, KernelError, Registry, Value, kernel};
use befrost_tensor::mem::Malloc;
use befrost_tensor::tf::op::{Attributes, Op, Type};
use befrost_tensor::tf::{AnyTensor, Binary, PartialShape, accumulate, gather, gather_nd, shape_as};
use befrost_tensor::{DType, HostTensor, I1, TensorError};

use super::action::{Action, ActionRow, action, int, scalar, tensor, variadic_action};
use super::interned::{StringResults, by_numbers};
use super::operands::{Results, any, any_type, dense, value};
use super::placed::PlacedName;
use crate::objects::refused;

/// Registers the kernels that are no TensorFlow operators.
pub(super) fn add(registry: &mut Registry) {
    registry.add(kernel!("tf._ReadRef", |operands: Rest<'_, Value>| {
        let values = operands.iter().map(|of| Ok(value(variable(of)?.read()?)));
        values.collect::<Result<_, KernelError>>().map(Results)
    }));
}

/// A variable.
#[derive(Debug)]
pub(super) struct Variable {
    name: ResourceName,
    /// True if the resources have it under its name; otherwise it belongs to an operator.
    is_shared: bool,
    ty: Type,
    shape: PartialShape,
    value: Mutex<Option<AnyTensor>>,
}

impl Resource for Variable {
    const TYPE: &'static str = "variable";
}

/// A resource or a reference.
#[derive(Clone, Debug)]
pub(super) struct VariableHandle(pub(super) Arc<Variable>);

impl Object for VariableHandle {
    const TYPES: &'static [&'static str] = &["tensor"];

    fn display(&self) -> String {
        format!("variable '{}'", self.0.name)
    }
}

pub(super) const OPS: &[ActionRow] = &[
    (&[Op::VarHandleOp, Op::VariableV2, Op::Variable], handle),
    (&[Op::ReadVariableOp], |attrs| {
        let ty = any_type(attrs, "dtype")?;
        action(attrs, move |[of], _| {
            let found = variable(of)?.read()?;
            found.expect_type("ReadVariableOp", ty).map_err(refused)?;
            Ok([value(found)])
        })
    }),
    (&[Op::VarIsInitializedOp, Op::IsVariableInitialized], |attrs| {
        action(attrs, |[of], cx| Ok([scalar(I1::from(variable(of)?.lock()?.is_some()), cx)?]))
    }),
    (&[Op::AssignVariableOp, Op::Assign], assign),
    (&[Op::AssignAddVariableOp, Op::AssignAdd], |attrs| add_or_sub(attrs, Binary::Add)),
    (&[Op::AssignSubVariableOp, Op::AssignSub], |attrs| add_or_sub(attrs, Binary::Sub)),
    (&[Op::CountUpTo, Op::ResourceCountUpTo], count_up_to),
    (&[Op::RefIdentity], |attrs| action(attrs, |[of], _| Ok([of.clone()]))),
    (&[Op::RefSelect], |_| {
        variadic_action(|operands, _| {
            let (index, references) = operands.split_first().ok_or_else(|| {
                KernelError::invalid("`RefSelect`: no operands, expected an index and references")
            })?;
            let index = int(index)?;
            let chosen = usize::try_from(index).ok().and_then(|index| references.get(index));
            let message = || format!("index {index} of {} references", references.len());
            Ok([(*chosen.ok_or_else(|| KernelError::invalid(message()))?).clone()])
        })
    }),
    (&[Op::DestroyResourceOp], |attrs| {
        let ignores_absence = attrs.bool("ignore_lookup_error")?;
        action(attrs, move |[of], cx| {
            let variable = variable(of)?;
            let is_there = variable.destroy(&cx.request.resources);
            if is_there || ignores_absence { Ok([]) } else { Err(variable.absent()) }
        })
    }),
    (&[Op::DisableCopyOnRead], |attrs| action(attrs, |[of], _| variable(of).map(|_| []))),
    (&[Op::VariableShape], |attrs| {
        let to = attrs.dtype("out_type")?;
        action(attrs, move |[of], cx| {
            Ok([tensor(shape_as(variable(of)?.read()?.shape(), to, cx.allocator()).map_err(refused)?)])
        })
    }),
    (&[Op::ResourceGather], |attrs| {
        let batch_dims = attrs.int("batch_dims")?;
        action(attrs, move |[of, indices], cx| {
            gathered(of, indices, cx, |x, indices| gather(x, indices, batch_dims, batch_dims, cx.allocator()))
        })
    }),
    (&[Op::ResourceGatherNd], |attrs| {
        action(attrs, |[of, indices], cx| {
            gathered(of, indices, cx, |x, indices| gather_nd(x, indices, cx.allocator()))
        })
    }),
];

impl Variable {
    fn new(name: ResourceName, is_shared: bool, ty: Type, shape: PartialShape) -> Variable {
        Variable { name, is_shared, ty, shape, value: Mutex::new(None) }
    }

    /// Locks the value for reading or updating.
    fn lock(&self) -> Result<MutexGuard<'_, Option<AnyTensor>>, KernelError> {
        self.value.lock().map_err(|_| {
            let message = format!("the variable '{}' was half updated when a kernel panicked", self.name);
            KernelError::new(ErrorCode::FailedPrecondition, message)
        })
    }

    /// Locks the value for replacing it, also after a failed update.
    fn lock_anew(&self) -> MutexGuard<'_, Option<AnyTensor>> {
        let value = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        self.value.clear_poison();
        value
    }

    fn uninitialized(&self) -> KernelError {
        let message = format!("the variable '{}' is read before it is initialized", self.name);
        KernelError::new(ErrorCode::FailedPrecondition, message)
    }

    fn has_strings(&self) -> KernelError {
        KernelError::invalid(format!("the variable '{}' has strings, expected numbers", self.name))
    }

    fn absent(&self) -> KernelError {
        KernelError::new(ErrorCode::NotFound, format!("there is no variable '{}' to destroy", self.name))
    }

    pub(super) fn read(&self) -> Result<AnyTensor, KernelError> {
        self.lock()?.clone().ok_or_else(|| self.uninitialized())
    }

    /// [`Variable::read`] of numbers.
    pub(super) fn numbers(&self) -> Result<HostTensor, KernelError> {
        self.read()?.numbers().cloned().ok_or_else(|| self.has_strings())
    }

    /// Replaces the value. A destroyed variable is registered under its name again.
    ///
    /// # Errors
    /// If another variable has that name now.
    fn assign(self: &Arc<Variable>, new: AnyTensor, resources: &Resources) -> Result<(), KernelError> {
        let mut value = self.lock_anew();
        if value.is_none() && self.is_shared {
            let named = resources.or_insert(&self.name, self.clone());
            if !Arc::ptr_eq(&named, self) {
                let message = format!("the variable '{}' was destroyed, and another has its name", self.name);
                return Err(KernelError::new(ErrorCode::FailedPrecondition, message));
            }
        }
        *value = Some(new);
        Ok(())
    }

    /// Removes the value and the name. Returns whether there was a value.
    fn destroy(self: &Arc<Variable>, resources: &Resources) -> bool {
        let mut value = self.lock_anew();
        if self.is_shared {
            resources.remove(&self.name, self);
        }
        value.take().is_some()
    }
}

/// Locks the values of distinct variables in the order of their addresses.
fn lock_all<'a>(
    variables: &[&'a Arc<Variable>],
) -> Result<Vec<MutexGuard<'a, Option<AnyTensor>>>, KernelError> {
    let mut order: Vec<usize> = (0..variables.len()).collect();
    order.sort_by_key(|&i| Arc::as_ptr(variables[i]));
    if order.windows(2).any(|pair| Arc::ptr_eq(variables[pair[0]], variables[pair[1]])) {
        return Err(KernelError::invalid("one variable is updated twice at once"));
    }
    let locked = order.into_iter().map(|i| Ok((i, variables[i].lock()?)));
    let mut locked = locked.collect::<Result<Vec<_>, KernelError>>()?;
    locked.sort_by_key(|(i, _)| *i);
    Ok(locked.into_iter().map(|(_, value)| value).collect())
}

/// A consistent snapshot of the values of all variables of numbers in a set of resources, in the order of
/// containers and names. Variables without a value are left out. Nothing is copied: later updates write
/// elsewhere while a value is held. No update is partially visible.
///
/// # Errors
/// If an update of a variable panicked.
pub fn variable_values(resources: &Resources) -> Result<Vec<(ResourceName, HostTensor)>, KernelError> {
    let all = resources.all::<Variable>();
    let values = lock_all(&all.iter().map(|(_, variable)| variable).collect::<Vec<_>>())?;
    let named = all.iter().zip(&values);
    let named =
        named.filter_map(|((name, _), value)| Some((name.clone(), value.as_ref()?.numbers()?.clone())));
    Ok(named.collect())
}

/// Replaces the values of variables, all of them at once or, after an error, none: no snapshot and no update
/// of several variables sees some of the new values and some of the old ones.
///
/// # Errors
/// If there is no variable of a name, one is named twice, or a value is of another type or shape.
pub fn assign_variable_values(
    resources: &Resources,
    values: Vec<(ResourceName, HostTensor)>,
) -> Result<(), KernelError> {
    let all: BTreeMap<ResourceName, Arc<Variable>> = resources.all::<Variable>().into_iter().collect();
    let mut chosen = Vec::with_capacity(values.len());
    for (name, value) in values {
        let variable = all
            .get(&name)
            .ok_or_else(|| KernelError::new(ErrorCode::NotFound, format!("there is no variable '{name}'")))?;
        if Type::from(value.dtype()) != variable.ty || !variable.shape.allows(value.shape()) {
            let (ty, shape) = (variable.ty, &variable.shape);
            let got = format!("{}{}", value.dtype(), value.shape());
            let problem = format!("the variable '{name}' is of type {ty} and shape {shape}, got {got}");
            return Err(KernelError::invalid(problem));
        }
        chosen.push((variable, value.kept(&Malloc::shared()).map_err(refused)?));
    }
    chosen.sort_by_key(|(variable, _)| Arc::as_ptr(variable));
    if let Some(pair) = chosen.windows(2).find(|pair| Arc::ptr_eq(pair[0].0, pair[1].0)) {
        return Err(KernelError::invalid(format!("the variable '{}' is given twice", pair[0].0.name)));
    }
    let mut locked: Vec<_> = chosen.iter().map(|(variable, _)| variable.lock_anew()).collect();
    for (place, (_, value)) in locked.iter_mut().zip(&chosen) {
        **place = Some(value.clone().into());
    }
    Ok(())
}

/// Removes a variable and its value. Returns whether there was a value.
pub fn remove_variable(resources: &Resources, name: &ResourceName) -> bool {
    resources.find::<Variable>(name).is_some_and(|variable| variable.destroy(resources))
}

/// The variable of a handle.
pub(super) fn variable(value: &Value) -> Result<&Arc<Variable>, KernelError> {
    value.downcast_ref::<VariableHandle>().map(|handle| &handle.0).ok_or_else(|| {
        KernelError::invalid(format!("expected a variable, got a value of type {}", value.type_name()))
    })
}

/// Updates variables in place with `f`. If `f` fails it must leave all elements unchanged.
pub(super) fn update(
    variables: &[&Arc<Variable>],
    f: impl FnOnce(&mut [&mut HostTensor]) -> Result<(), TensorError>,
) -> Result<(), KernelError> {
    let mut locked = lock_all(variables)?;
    let values = locked.iter_mut().zip(variables);
    let values = values.map(|(value, variable)| {
        let value = value.as_mut().ok_or_else(|| variable.uninitialized())?;
        value.numbers_mut().ok_or_else(|| variable.has_strings())
    });
    let mut values = values.collect::<Result<Vec<&mut HostTensor>, _>>()?;
    f(&mut values).map_err(refused)
}

/// [`update`] of one variable.
pub(super) fn update_one(
    variable: &Arc<Variable>,
    f: impl FnOnce(&mut HostTensor) -> Result<(), TensorError>,
) -> Result<(), KernelError> {
    update(&[variable], |values| match values {
        [value] => f(value),
        _ => Err(TensorError::Count { want: 1, got: values.len() }),
    })
}

/// The elements or slices of a variable that `f` chooses.
fn gathered(
    of: &Value,
    indices: &Value,
    cx: &ExecContext,
    f: impl FnOnce(&HostTensor, &HostTensor) -> Result<HostTensor, TensorError>,
) -> Result<[Value; 1], KernelError> {
    let x = match variable(of)?.read()? {
        AnyTensor::Numbers(x) => return Ok([tensor(f(&x, dense(indices)?).map_err(refused)?)]),
        strings => value(strings),
    };
    let found = by_numbers(&[x, indices.clone()], &StringResults::one(), cx.allocator(), |operands| {
        let [x, indices] = &operands[..] else {
            return Err(refused(TensorError::Count { want: 2, got: operands.len() }));
        };
        Ok(vec![f(x, indices).map_err(refused)?])
    })?;
    <[Value; 1]>::try_from(found).map_err(|all| refused(TensorError::Count { want: 1, got: all.len() }))
}

fn handle(attrs: &Attributes<'_>) -> Result<Action, TensorError> {
    let (ty, shape) = (any_type(attrs, "dtype")?, attrs.shape("shape")?);
    let name = PlacedName::of(attrs)?;
    let own = name.is_empty().then(|| {
        let name = ResourceName::from(attrs.op());
        Arc::new(Variable::new(name, false, ty, shape.clone()))
    });
    action(attrs, move |[], cx: &ExecContext| {
        let found = own.clone().unwrap_or_else(|| {
            let name = name.on_device(cx);
            let make = || Variable::new(name.clone(), true, ty, shape.clone());
            cx.request.resources.or_insert_with(&name, make)
        });
        if found.ty != ty {
            let name = &found.name;
            let problem = format!("the variable '{name}' is of type {}, not {ty}", found.ty);
            return Err(KernelError::invalid(problem));
        }
        Ok([Value::object(VariableHandle(found))])
    })
}

fn assign(attrs: &Attributes<'_>) -> Result<Action, TensorError> {
    let (validate, returns_ref) = (attrs.bool("validate_shape")?, !attrs.signature().outputs.is_empty());
    let op = attrs.op();
    action(attrs, move |[to, value], cx| {
        let (variable, value) = (variable(to)?, any(value)?);
        value.expect_type(op, variable.ty).map_err(refused)?;
        if validate && !variable.shape.allows(value.shape()) {
            let (name, want) = (&variable.name, &variable.shape);
            let problem =
                format!("shape {} assigned to the variable '{name}' of shape {want}", value.shape());
            return Err(KernelError::invalid(problem));
        }
        variable.assign(value, &cx.request.resources)?;
        Ok(returns_ref.then(|| to.clone()))
    })
}

/// The value before the variable is counted up, an error from the limit on.
fn count_up_to(attrs: &Attributes<'_>) -> Result<Action, TensorError> {
    let limit = attrs.int("limit")?;
    action(attrs, move |[of], cx| {
        let variable = variable(of)?;
        let mut locked = variable.lock()?;
        let value = locked.as_mut().ok_or_else(|| variable.uninitialized())?;
        let value = value.numbers_mut().ok_or_else(|| variable.has_strings())?;
        let before = tensor(value.clone());
        if int(&before)? >= limit {
            let message = format!("the variable '{}' reached its limit of {limit}", variable.name);
            return Err(KernelError::new(ErrorCode::OutOfRange, message));
        }
        let one = match value.dtype() {
            DType::I32 => scalar(1_i32, cx)?,
            _ => scalar(1_i64, cx)?,
        };
        accumulate(Binary::Add, value, dense(&one)?, cx.allocator()).map_err(refused)?;
        Ok([before])
    })
}

fn add_or_sub(attrs: &Attributes<'_>, op: Binary) -> Result<Action, TensorError> {
    let returns_ref = !attrs.signature().outputs.is_empty();
    action(attrs, move |[to, value], cx| {
        let value = dense(value)?;
        update_one(variable(to)?, |x| accumulate(op, x, value, cx.allocator()))?;
        Ok(returns_ref.then(|| to.clone()))
    })
}
