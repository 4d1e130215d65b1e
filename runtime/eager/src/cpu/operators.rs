//! TensorFlow's operators, from their rows in the tensor library.
//!
//! The attributes of an operator that follow from its operands (`T`, `N`) are found at its first call, and
//! again when the types of the operands change.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use befrost_kernel_api::{ExecContext, KernelError, Value};
use befrost_kernels::{Operator, ScalarTensor, Tensor, refused};
use befrost_tensor::tf::op::{self, Derived, Op, OpRow, Operand, Traits, Type};
use befrost_tensor::tf::{PartialShape, Small};
use befrost_tensor::{DType, HostTensor};
use smallvec::{SmallVec, smallvec};

use super::{CpuOp, Flags, InferredResults, Operands, ResultValues};
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
        // A read, too, keeps its place among the writes.
        effect: !matches!(row.effect(), op::Effect::Pure | op::Effect::Allocate),
        strings: true,
        scalars: row.op == Some(Op::AddV2),
        ..Flags::NONE
    };
    let small = row.is_pure_function().then(|| row.small(&&attrs)).flatten();
    let (made, known) = (OnceLock::new(), std::array::from_fn(|_| OnceLock::new()));
    let (others, memo) = (Mutex::default(), Mutex::default());
    Some((flags, Arc::new(RowOp { row, attrs, small, made, others, known, memo })))
}

/// The number of results of an operator with these attributes, if it does not depend on its operands.
pub(crate) fn declared_results(row: &OpRow, attrs: &OpAttrsRef) -> Option<usize> {
    let n = |arg: &op::Arg| match (arg.number, arg.ty) {
        (Some(number), _) => usize::try_from(op::Attrs::int(&attrs, number)?).ok(),
        (None, op::ArgType::List(types)) => Some(op::Attrs::types(&attrs, types)?.len()),
        (None, _) => Some(1),
    };
    row.signature().outputs.iter().map(n).sum()
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

    fn run(&self, _: Operands, cx: &ExecContext) -> Result<ResultValues, KernelError> {
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
    /// Its code for small operands.
    small: Option<Small>,
    /// The operator for the types of the first call.
    made: OnceLock<Made>,
    /// The operator of the last call with other types.
    others: Mutex<Option<Arc<Made>>>,
    /// ResultValues that follow from the metadata of the operands alone: the first ones.
    known: [OnceLock<Known>; KEPT],
    /// The last ones, the newest first.
    memo: Mutex<SmallVec<[Known; KEPT]>>,
}

impl RowOp {
    /// True if the results' shapes do not depend on the elements of an operand: sizes and axes are integers.
    fn is_value_free(&self, metadata: &Metadata) -> bool {
        let is_index =
            matches!(metadata.ty, Type::Dense(DType::I32 | DType::I64)) && metadata.shape.rank() < 2;
        !is_index || self.row.has(Traits::ELEMENTWISE)
    }

    fn keep(&self, mut new: Known) {
        for slot in &self.known {
            match slot.set(new) {
                Ok(()) => return,
                Err(back) => new = back,
            }
        }
        let mut memo = self.memo.lock().unwrap_or_else(PoisonError::into_inner);
        memo.truncate(KEPT - 1);
        memo.insert(0, new);
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
        self.row
            .infer(&attrs, operands)
            .map_err(|error| self.in_upstream_words(operands).unwrap_or(refused(error)))
    }

    /// The refusal in TFRT's words, of the operators for which its handler has some.
    fn in_upstream_words(&self, operands: &[Operand<'_>]) -> Option<KernelError> {
        let is_product = matches!(self.row.op, Some(Op::MatMul | Op::_FusedMatMul));
        let is_binary = matches!(self.row.class(), op::Class::Binary(_) | op::Class::Compare(_));
        let [a, b, ..] = operands else { return None };
        let (x, y) = (a.ty.name(), b.ty.name());
        let message = match (is_product, is_binary) {
            (true, _) if a.ty != b.ty => format!("incompatible dtypes for MatMul: In[0]: {x}, In[1]: {y}"),
            (true, _) => match [a, b].iter().position(|operand| operand.shape.rank() != Some(2)) {
                Some(i) => format!(
                    "argument {i} of matmul op is not a rank-2 tensor: its shape is {}",
                    if i == 0 { &a.shape } else { &b.shape }
                ),
                None => format!(
                    "matmul arguments have incompatible shapes: In[0]: {}, In[1]: {}",
                    a.shape, b.shape
                ),
            },
            (_, true) if a.ty != b.ty => {
                format!("incompatible dtypes for binary operation: {} of {x} and {y}", self.row.name)
            }
            _ => return None,
        };
        Some(KernelError::invalid(message))
    }

    /// Executes the operator for operands of these types.
    fn call(&self, args: Operands, cx: &ExecContext) -> Result<ResultValues, KernelError> {
        let is_for = |made: &&Made| {
            made.inputs.len() == args.len()
                && made.inputs.iter().zip(&args).all(|(ty, arg)| *ty == type_of(arg))
        };
        if let Some(made) = self.made.get().filter(is_for) {
            return made.operator.call(args, cx);
        }
        let other = self.others.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(made) = other.filter(|made| is_for(&&**made)) {
            return made.operator.call(args, cx);
        }
        let new = match self.made.set(self.made_for(&args)?) {
            Ok(()) => None,
            Err(new) => Some(Arc::new(new)),
        };
        match (new, self.made.get()) {
            (None, Some(made)) => made.operator.call(args, cx),
            (new, _) => {
                let new = new.map_or_else(|| self.made_for(&args).map(Arc::new), Ok)?;
                *self.others.lock().unwrap_or_else(PoisonError::into_inner) = Some(new.clone());
                new.operator.call(args, cx)
            }
        }
    }

    fn made_for(&self, args: &[Value]) -> Result<Made, KernelError> {
        let inputs: InputTypes = args.iter().map(type_of).collect();
        let outputs = match operands(args.iter().map(|value| (metadata_of(value), Some(value)))) {
            Some(operands) => {
                self.inferred(&inputs, &operands)?.iter().map(|result| Some(result.ty)).collect()
            }
            None => vec![None; self.row.signature().outputs.len()],
        };
        let operator = Operator::new(self.row, &self.attrs, inputs.to_vec(), outputs);
        let operator =
            operator.map_err(|why| KernelError::invalid(format!("{}: {why}", self.row.op_name)))?;
        Ok(Made { inputs, operator })
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
        let is_for = |known: &&Known| {
            known.args.len() == args.len() && known.args.iter().zip(args).all(|(of, arg)| arg.is_of(of))
        };
        let first = self.known.iter().map_while(OnceLock::get);
        if let Some(known) = first.clone().find(is_for) {
            return Ok(Some(known.results.clone()));
        }
        if first.count() == KEPT
            && let memo = self.memo.lock().unwrap_or_else(PoisonError::into_inner)
            && let Some(known) = memo.iter().find(is_for)
        {
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
            self.keep(Known { args: metadata, results: results.clone() });
        }
        Ok(Some(results))
    }

    fn run(&self, args: Operands, cx: &ExecContext) -> Result<ResultValues, KernelError> {
        if !args.iter().any(|value| value.downcast_ref::<ScalarTensor>().is_some()) {
            return self.call(args, cx);
        }
        let args = match scalars(&args) {
            Some((shape, numbers)) => {
                let results = self.call(numbers, cx)?;
                return Ok(results.into_iter().map(|result| of_shape(result, &shape)).collect());
            }
            None => args.into_iter().map(|value| as_dense(value, cx)).collect::<Result<Operands, _>>()?,
        };
        self.call(args, cx)
    }

    fn n_results(&self) -> Option<usize> {
        declared_results(self.row, &self.attrs)
    }

    #[inline]
    fn quick(&self, args: &[&TensorHandle], cx: &ExecContext) -> Option<TensorHandle> {
        let result = match args {
            [a, b] => self.quick_dense(&[a.dense()?, b.dense()?], cx),
            [x] => self.quick_dense(&[x.dense()?], cx),
            _ => None,
        };
        result.map(TensorHandle::from)
    }

    #[inline]
    fn quick_dense(&self, args: &[&HostTensor], cx: &ExecContext) -> Option<HostTensor> {
        self.small.as_ref()?.call(args, cx.allocator())
    }

    fn may_overwrite(&self) -> bool {
        self.small.as_ref().is_none_or(Small::may_overwrite)
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
