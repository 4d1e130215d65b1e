//! TensorFlow's operators, from their rows in the tensor library.
//!
//! The attributes of an operator that follow from its operands (`T`, `N`) are found at its first call, and
//! again when the types of the operands change.

use std::sync::{Arc, Mutex, PoisonError};

use befrost_kernel_api::{ExecContext, KernelError, Value};
use befrost_kernels::{Operator, ScalarTensor, Tensor, refused};
use befrost_tensor::tf::PartialShape;
use befrost_tensor::tf::op::{self, Derived, Op, OpRow, Operand, Traits, Type};
use befrost_tensor::{DType, HostTensor};
use smallvec::{SmallVec, smallvec};

use super::{CpuOp, Flags, InferredResults, Operands, Results};
use crate::attrs::{AttrValue, OpAttrsRef};
use crate::handle::{Metadata, TensorHandle, metadata_of, type_of};
use crate::handler::OpKey;

/// The operator of this name, with or without `tf.`.
pub(super) fn find(key: &OpKey<'_>) -> Option<(Flags, Arc<dyn CpuOp>)> {
    let row = op::row(key.name.strip_prefix("tf.")?)?;
    of_row(row, key.attrs.clone())
}

/// The operator of a row.
pub(super) fn of_row(row: &'static OpRow, attrs: OpAttrsRef) -> Option<(Flags, Arc<dyn CpuOp>)> {
    if row.has(Traits::CONSTANT) {
        return Some((Flags::NONE, Arc::new(ConstantOp { attrs })));
    }
    if !Operator::is_known(row) {
        return None;
    }
    let flags = Flags {
        effect: matches!(row.effect(), op::row::Effect::Write),
        strings: true,
        scalars: row.op == Some(Op::AddV2),
        ..Flags::NONE
    };
    Some((flags, Arc::new(RowOp { row, attrs, made: Mutex::default(), memo: Mutex::default() })))
}

/// `tf.Const`.
struct ConstantOp {
    attrs: OpAttrsRef,
}

impl ConstantOp {
    fn tensor(&self) -> Result<&HostTensor, KernelError> {
        match self.attrs.get("value") {
            Some(AttrValue::Dense(tensor)) => Ok(tensor),
            _ => Err(KernelError::invalid("tf.Const must have the attribute 'value', a tensor of numbers")),
        }
    }
}

impl CpuOp for ConstantOp {
    fn infer(&self, _: &[TensorHandle]) -> Result<Option<Arc<InferredResults>>, KernelError> {
        let tensor = self.tensor()?;
        let metadata = Metadata { ty: Type::Dense(tensor.dtype()), shape: tensor.shape().clone() };
        Ok(Some(Arc::new(InferredResults { metadata: smallvec![Some(metadata)], is_long: false })))
    }

    fn run(&self, _: Operands, cx: &ExecContext) -> Result<Results, KernelError> {
        let tensor = self.tensor()?.with_allocator(cx.allocator());
        Ok(SmallVec::from_iter([Value::object(Tensor(tensor))]))
    }
}

/// The types of operands, as far as they are tensors.
type InputTypes = SmallVec<[Option<Type>; 4]>;

/// An operator for operands of certain types.
struct Made {
    inputs: InputTypes,
    operator: Operator,
}

/// The metadata of operands.
type ArgsMetadata = SmallVec<[Metadata; 2]>;

/// The results for operands of certain types and shapes.
struct Known {
    args: ArgsMetadata,
    results: Arc<InferredResults>,
}

/// An operator keeps the results for so many different operands.
const KEPT: usize = 4;

/// Nanoseconds of an operator that is worth a task.
const LONG: u64 = 20_000;

/// Rough rates of one core, which decide about tasks only.
const FLOPS_PER_NANOSECOND: u64 = 16;
const BYTES_PER_NANOSECOND: u64 = 8;

/// An operator of a row.
struct RowOp {
    row: &'static OpRow,
    attrs: OpAttrsRef,
    /// The operator of the last call.
    made: Mutex<Option<Arc<Made>>>,
    /// Results that follow from the metadata of the operands alone, the newest first.
    memo: Mutex<SmallVec<[Known; KEPT]>>,
}

impl RowOp {
    /// True if the results' shapes do not depend on the elements of an operand: sizes and axes are integers.
    fn is_value_free(&self, metadata: &Metadata) -> bool {
        let is_index =
            matches!(metadata.ty, Type::Dense(DType::I32 | DType::I64)) && metadata.shape.rank() < 2;
        !is_index || self.row.has(Traits::ELEMENTWISE)
    }

    /// The types of the results, and their shapes as far as they are known.
    fn inferred(
        &self,
        inputs: &[Option<Type>],
        operands: &[Operand<'_>],
    ) -> Result<Vec<op::Inferred>, KernelError> {
        if self.row.op == Some(Op::BiasAdd) {
            only_nhwc(&self.attrs)?;
        }
        let attrs = Derived::new(self.row.signature(), &self.attrs, inputs.to_vec(), Vec::new());
        self.row.infer(&attrs, operands).map_err(refused)
    }

    fn operator(&self, args: &[Value]) -> Result<Arc<Made>, KernelError> {
        let inputs: InputTypes = args.iter().map(type_of).collect();
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = made.as_ref().filter(|made| made.inputs == inputs) {
            return Ok(made.clone());
        }
        let outputs = match operands(args.iter().map(|value| (metadata_of(value), Some(value)))) {
            Some(operands) => {
                self.inferred(&inputs, &operands)?.iter().map(|result| Some(result.ty)).collect()
            }
            None => vec![None; self.row.signature().outputs.len()],
        };
        let operator = Operator::new(self.row, &self.attrs, inputs.to_vec(), outputs);
        let operator =
            operator.map_err(|why| KernelError::invalid(format!("{}: {why}", self.row.op_name)))?;
        let new = Arc::new(Made { inputs, operator });
        *made = Some(new.clone());
        Ok(new)
    }
}

/// Refuses what TFRT's operator refuses.
fn only_nhwc(attrs: &OpAttrsRef) -> Result<(), KernelError> {
    match attrs.get("data_format") {
        Some(AttrValue::Str(format)) if **format != *"NHWC" => {
            Err(KernelError::invalid("invalid data format. Currently only support NHWC"))
        }
        _ => Ok(()),
    }
}

/// The knowledge about operands, from their metadata and from their values, if they are there. `None` if an
/// operand has no metadata.
fn operands<'a>(
    args: impl Iterator<Item = (Option<Metadata>, Option<&'a Value>)>,
) -> Option<Vec<Operand<'a>>> {
    let known = args.map(|(metadata, value)| {
        let Metadata { ty, shape } = metadata?;
        let constant = value.and_then(|value| value.downcast_ref::<Tensor>()).map(|tensor| &tensor.0);
        Some(Operand { constant, ..Operand::new(ty, PartialShape::from(&shape)) })
    });
    known.collect()
}

impl CpuOp for RowOp {
    fn infer(&self, args: &[TensorHandle]) -> Result<Option<Arc<InferredResults>>, KernelError> {
        let mut memo = self.memo.lock().unwrap_or_else(PoisonError::into_inner);
        let is_for = |known: &&Known| {
            known.args.len() == args.len() && known.args.iter().zip(args).all(|(of, arg)| arg.is_of(of))
        };
        if let Some(known) = memo.iter().find(is_for) {
            return Ok(Some(known.results.clone()));
        }
        let Some(operands) = operands(args.iter().map(|arg| (arg.metadata(), arg.value()))) else {
            return Ok(None);
        };
        let inputs: Vec<Option<Type>> = operands.iter().map(|operand| Some(operand.ty)).collect();
        let results = self.inferred(&inputs, &operands)?;
        let metadata_of =
            |result: &op::Inferred| Some(Metadata { ty: result.ty, shape: result.shape.shape()? });
        let attrs = Derived::new(self.row.signature(), &self.attrs, inputs, Vec::new());
        let work = self.row.work(&attrs, &operands).ok().flatten().unwrap_or_default();
        let results = Arc::new(InferredResults {
            metadata: results.iter().map(metadata_of).collect(),
            is_long: work.flops / FLOPS_PER_NANOSECOND + work.bytes / BYTES_PER_NANOSECOND > LONG,
        });
        let metadata: ArgsMetadata = args.iter().filter_map(TensorHandle::metadata).collect();
        if metadata.iter().all(|metadata| self.is_value_free(metadata)) {
            memo.truncate(KEPT - 1);
            memo.insert(0, Known { args: metadata, results: results.clone() });
        }
        Ok(Some(results))
    }

    fn run(&self, args: Operands, cx: &ExecContext) -> Result<Results, KernelError> {
        if !args.iter().any(|value| value.downcast_ref::<ScalarTensor>().is_some()) {
            return self.operator(&args)?.operator.call(args, cx);
        }
        let args = match scalars(&args) {
            Some((shape, numbers)) => {
                let results = self.operator(&numbers)?.operator.call(numbers, cx)?;
                return Ok(results.into_iter().map(|result| of_shape(result, &shape)).collect());
            }
            None => args.into_iter().map(|value| as_dense(value, cx)).collect::<Result<Operands, _>>()?,
        };
        self.operator(&args)?.operator.call(args, cx)
    }
}

/// The elements of tensors of equal elements, if all operands are such and of one shape.
fn scalars(args: &[Value]) -> Option<(befrost_tensor::Shape, Operands)> {
    let shape = &args.first()?.downcast_ref::<ScalarTensor>()?.shape;
    let number = |value: &Value| {
        let tensor = value.downcast_ref::<ScalarTensor>().filter(|tensor| tensor.shape == *shape)?;
        Some(Value::object(Tensor(tensor.value.clone())))
    };
    Some((shape.clone(), args.iter().map(number).collect::<Option<Operands>>()?))
}

/// A number as a tensor of equal elements.
fn of_shape(number: Value, shape: &befrost_tensor::Shape) -> Value {
    match number.downcast_ref::<Tensor>() {
        Some(tensor) => Value::object(ScalarTensor { shape: shape.clone(), value: tensor.0.clone() }),
        None => number,
    }
}

fn as_dense(value: Value, cx: &ExecContext) -> Result<Value, KernelError> {
    match value.downcast_ref::<ScalarTensor>() {
        Some(tensor) => tensor.to_dense(cx.allocator()).map(|x| Value::object(Tensor(x))).map_err(refused),
        None => Ok(value),
    }
}
