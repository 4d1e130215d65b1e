//! The operators of `tfrt_test`, with which TFRT tests its core runtime.
//!
//! Most are TensorFlow's operators under other names. The others are rows of the table: flags, metadata
//! function and code.

use std::sync::Arc;

use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::{ExecContext, KernelError, Value};
use befrost_kernels::{AnyTensor, Coo, ScalarTensor, Tensor, refused};
use befrost_tensor::tf::op::{self, Op, Type};
use befrost_tensor::tf::{Compare, Reduce, arg_extreme, broadcast_to, cast, compare, reduce};
use befrost_tensor::{CooTensor, DType, HostTensor, Shape, TensorError, bf16, f16, resolve_axis};
use smallvec::{SmallVec, smallvec};

use super::{CpuOp, Flags, InferredResults, Operands, ResultValues, operators};
use crate::attrs::{AttrValue, OpAttrs, OpAttrsRef};
use crate::handle::{Metadata, TensorHandle, dense};
use crate::handler::OpKey;

/// Metadata of the result, from the attributes and the operands' metadata.
type Infer = fn(&OpAttrsRef, &[Metadata]) -> Result<Metadata, KernelError>;

/// ResultValues from the attributes and operands.
type Run = fn(&OpAttrsRef, &[Value], &ExecContext) -> Result<Option<Value>, KernelError>;

/// An operator: its name, flags, number of operands, metadata function and code.
struct Row {
    name: &'static str,
    flags: Flags,
    n_args: usize,
    infer: Option<Infer>,
    run: Run,
    /// The result is the operand.
    passes: bool,
}

const EFFECT: Flags = Flags { effect: true, ..Flags::ANY };
const TASK: Flags = Flags { task: true, ..Flags::ANY };

const ROWS: &[Row] = &[
    row("tfrt_test.create_dense_tensor", Flags::NONE, 0, Some(created_dense), create_dense),
    row("tfrt_test.create_from_scalar", Flags::NONE, 0, Some(created_scalar), create_scalar),
    row("tfrt_test.create_coo_tensor", Flags::NONE, 2, Some(created_coo), create_coo),
    row("tfrt_test.async.noop", TASK, 1, Some(same), pass),
    row("tfrt_test.async.noop_no_md", TASK, 1, None, pass),
    Row { passes: true, ..row("tfrt_test.identity", Flags::ANY, 1, Some(same), pass) },
    Row { passes: true, ..row("tfrt_test.identity_dense_only", Flags::NONE, 1, Some(same), pass) },
    row("tfrt_test.error.tensor", Flags::ANY, 1, Some(same), error_tensor),
    row("tfrt_test.odd_collector", Flags::NONE, 1, None, odd),
    row("tfrt_test.print", EFFECT, 1, None, print),
    row("tfrt_test.print_address", EFFECT, 1, None, print_address),
    row("tfrt_test.argmax", Flags::NONE, 1, Some(argmax_shape), argmax),
    row("tfrt_test.reduce_mean", Flags::NONE, 1, Some(reduced), reduce_mean),
    row("tfrt_test.broadcast", Flags::NONE, 1, Some(broadcasted), broadcast),
    row("tfrt_test.cast", Flags::NONE, 1, Some(cast_shape), cast_to),
    row("tfrt_test.equal", Flags::NONE, 2, Some(elementwise), equal),
];

const fn row(name: &'static str, flags: Flags, n_args: usize, infer: Option<Infer>, run: Run) -> Row {
    Row { name, flags, n_args, infer, run, passes: false }
}

/// The operator of this name.
pub(super) fn find(key: &OpKey<'_>) -> Option<(Flags, Arc<dyn CpuOp>)> {
    let attrs = key.attrs.clone();
    let check: Option<Infer> = match key.name {
        "tfrt_test.matmul" => Some(product),
        "tfrt_test.add"
        | "tfrt_test.add.denseonly"
        | "tfrt_test.add.denseonly2"
        | "tfrt_test.add.denseonly3" => Some(added),
        "tfrt_test.relu" => Some(same),
        _ => None,
    };
    if let Some(check) = check {
        let (operator, kept): (Op, &[&str]) = match key.name {
            "tfrt_test.matmul" => (Op::MatMul, &["transpose_a", "transpose_b"]),
            "tfrt_test.relu" => (Op::Relu, &[]),
            _ => (Op::AddV2, &[]),
        };
        let mut own = OpAttrs::new();
        for name in kept {
            attrs.get(name).into_iter().for_each(|value| _ = own.insert(name, value.clone()));
        }
        let (flags, op) = operators::of_row(operator.row(), own.freeze())?;
        let flags = Flags { scalars: key.name == "tfrt_test.add", strings: false, ..flags };
        return Some((flags, Arc::new(Checked { check, attrs, op })));
    }
    let row = ROWS.iter().find(|row| row.name == key.name)?;
    Some((row.flags, Arc::new(TestOp { row, attrs })))
}

/// An operator of TensorFlow's with another metadata function.
struct Checked {
    check: Infer,
    attrs: OpAttrsRef,
    op: Arc<dyn CpuOp>,
}

impl CpuOp for Checked {
    fn infer(&self, args: &[TensorHandle]) -> Result<Option<Arc<InferredResults>>, KernelError> {
        infer_one(self.check, &self.attrs, args)
    }

    fn run(&self, args: Operands, cx: &ExecContext) -> Result<ResultValues, KernelError> {
        let metadata: Option<Vec<Metadata>> = args.iter().map(crate::handle::metadata_of).collect();
        (self.check)(&self.attrs, &metadata.unwrap_or_default())?;
        self.op.run(args, cx)
    }
}

fn infer_one(
    infer: Infer,
    attrs: &OpAttrsRef,
    args: &[TensorHandle],
) -> Result<Option<Arc<InferredResults>>, KernelError> {
    let Some(metadata) = args.iter().map(TensorHandle::metadata).collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let metadata = infer(attrs, &metadata)?;
    Ok(Some(Arc::new(InferredResults { metadata: smallvec![Some(metadata)], is_long: false })))
}

struct TestOp {
    row: &'static Row,
    attrs: OpAttrsRef,
}

impl CpuOp for TestOp {
    fn infer(&self, args: &[TensorHandle]) -> Result<Option<Arc<InferredResults>>, KernelError> {
        let Row { name, n_args, infer, .. } = self.row;
        if args.len() != *n_args {
            return Err(KernelError::invalid(format!("{name}: {} operands, expected {n_args}", args.len())));
        }
        match infer {
            Some(infer) => infer_one(*infer, &self.attrs, args),
            None if self.row.flags.effect => Ok(Some(Arc::default())),
            None => Ok(None),
        }
    }

    fn run(&self, args: Operands, cx: &ExecContext) -> Result<ResultValues, KernelError> {
        let metadata: Option<Vec<Metadata>> = args.iter().map(crate::handle::metadata_of).collect();
        if let (Some(infer), Some(metadata)) = (self.row.infer, metadata) {
            infer(&self.attrs, &metadata)?;
        }
        (self.row.run)(&self.attrs, &args, cx).map(|result| result.into_iter().collect())
    }

    fn n_results(&self) -> Option<usize> {
        Some(usize::from(!self.row.flags.effect))
    }

    fn quick(&self, args: &[&TensorHandle], _: &ExecContext) -> Option<TensorHandle> {
        match args {
            [x] if self.row.passes && x.dense().is_some() => Some((*x).clone()),
            _ => None,
        }
    }

    fn may_overwrite(&self) -> bool {
        false
    }
}

// ---- attributes ----

fn missing(name: &str) -> KernelError {
    KernelError::invalid(format!("missing '{name}' attribute"))
}

fn missing_of(op: &str, name: &str) -> KernelError {
    KernelError::invalid(format!("{op} must have '{name}' attribute"))
}

fn shape_attr(attrs: &OpAttrsRef, missing: impl FnOnce() -> KernelError) -> Result<Shape, KernelError> {
    let shape = op::Attrs::shape(&attrs, "shape").and_then(|shape| shape.shape());
    shape.ok_or_else(missing)
}

fn axis_attr(attrs: &OpAttrsRef, x: &Shape) -> Result<usize, KernelError> {
    let axis = match attrs.get("axis") {
        Some(AttrValue::Int(_, axis)) => *axis,
        Some(AttrValue::Ints(_, axes)) if axes.len() == 1 => axes[0],
        _ => return Err(missing("axis")),
    };
    resolve_axis(x, axis).map_err(|_| {
        KernelError::invalid(format!("axis must less than input rank: axis {axis} of shape {x}"))
    })
}

/// The element type and the numbers of an attribute with one number or several.
fn numbers(value: &AttrValue) -> Option<(DType, AttrNumbers<'_>)> {
    Some(match value {
        AttrValue::Bool(value) => (DType::I1, AttrNumbers::Int(i64::from(*value))),
        AttrValue::Int(dtype, value) => (*dtype, AttrNumbers::Int(*value)),
        AttrValue::Float(dtype, value) => (*dtype, AttrNumbers::Float(*value)),
        AttrValue::Ints(dtype, values) => (*dtype, AttrNumbers::Ints(values)),
        AttrValue::Floats(dtype, values) => (*dtype, AttrNumbers::Floats(values)),
        AttrValue::List(values) if values.is_empty() => (DType::I32, AttrNumbers::Ints(&[])),
        _ => return None,
    })
}

enum AttrNumbers<'a> {
    Int(i64),
    Float(f64),
    Ints(&'a [i64]),
    Floats(&'a [f64]),
}

/// The bytes of a number, as the element type.
fn bytes(dtype: DType, int: i64, float: f64) -> Option<SmallVec<[u8; 8]>> {
    Some(match dtype {
        DType::F16 => SmallVec::from_slice(&f16::from_f64(float).to_le_bytes()),
        DType::BF16 => SmallVec::from_slice(&bf16::from_f64(float).to_le_bytes()),
        DType::F32 => SmallVec::from_slice(&(float as f32).to_le_bytes()),
        DType::F64 => SmallVec::from_slice(&float.to_le_bytes()),
        DType::Complex64 | DType::Complex128 => return None,
        _ => SmallVec::from_slice(int.to_le_bytes().get(..dtype.size())?),
    })
}

impl AttrNumbers<'_> {
    /// The bytes of the numbers, one after the other, and how many there are.
    fn bytes(&self, dtype: DType) -> Option<(Vec<u8>, usize)> {
        let ints = |ints: &[i64]| -> Option<Vec<u8>> {
            let all: Option<Vec<_>> = ints.iter().map(|&int| bytes(dtype, int, int as f64)).collect();
            Some(all?.concat())
        };
        let floats = |floats: &[f64]| -> Option<Vec<u8>> {
            let all: Option<Vec<_>> = floats.iter().map(|&float| bytes(dtype, float as i64, float)).collect();
            Some(all?.concat())
        };
        Some(match self {
            AttrNumbers::Int(int) => (ints(&[*int])?, 1),
            AttrNumbers::Float(float) => (floats(&[*float])?, 1),
            AttrNumbers::Ints(all) => (ints(all)?, all.len()),
            AttrNumbers::Floats(all) => (floats(all)?, all.len()),
        })
    }
}

/// A tensor of these numbers; one number fills it.
pub(crate) fn tensor_of(
    op: &str,
    shape: Shape,
    value: &AttrValue,
    cx: &ExecContext,
) -> Result<HostTensor, KernelError> {
    let made = numbers(value).and_then(|(dtype, numbers)| Some((dtype, numbers.bytes(dtype)?)));
    let (dtype, (bytes, n)) =
        made.ok_or_else(|| KernelError::invalid(format!("{op}: the values are no numbers")))?;
    if n == 1 {
        return HostTensor::splat(dtype, shape, &bytes, cx.allocator()).map_err(refused);
    }
    if n != shape.num_elements() {
        let want = shape.num_elements();
        return Err(KernelError::invalid(format!("{op}: {n} values for a tensor of {want} elements")));
    }
    let tensor = HostTensor::allocate(dtype, shape, cx.allocator()).map_err(refused)?;
    tensor.write_bytes().map_err(refused)?.copy_from_slice(&bytes);
    Ok(tensor)
}

// ---- creation ----

const DENSE: &str = "tfrt_test.create_dense_tensor";
const SCALAR: &str = "tfrt_test.create_from_scalar";
const COO: &str = "tfrt_test.create_coo_tensor";

fn created_dense(attrs: &OpAttrsRef, _: &[Metadata]) -> Result<Metadata, KernelError> {
    let shape = shape_attr(attrs, || missing("shape"))?;
    let values = attrs.get("values").ok_or_else(|| missing("values"))?;
    let n = match values {
        AttrValue::Ints(_, values) => values.len(),
        AttrValue::Floats(_, values) => values.len(),
        AttrValue::List(values) if values.is_empty() => 0,
        _ => return Err(KernelError::invalid("'values' attribute should be an array of values")),
    };
    if n != 1 && n != shape.num_elements() {
        let message = "size of 'values' must either be 1 or match num of elements.";
        return Err(KernelError::invalid(format!("{message} {n} values for shape {shape}")));
    }
    let unsupported = || KernelError::invalid(format!("{DENSE} unsupported dtype"));
    let (dtype, _) = numbers(values).ok_or_else(unsupported)?;
    Ok(Metadata { ty: Type::Dense(dtype), shape })
}

fn create_dense(attrs: &OpAttrsRef, _: &[Value], cx: &ExecContext) -> Result<Option<Value>, KernelError> {
    let values = attrs.get("values").ok_or_else(|| missing("values"))?;
    new(Ok(tensor_of(DENSE, shape_attr(attrs, || missing("shape"))?, values, cx)?))
}

fn created_scalar(attrs: &OpAttrsRef, _: &[Metadata]) -> Result<Metadata, KernelError> {
    let shape = shape_attr(attrs, || missing_of(SCALAR, "shape"))?;
    let value =
        attrs.get("value").filter(|value| !matches!(value, AttrValue::Ints(..) | AttrValue::Floats(..)));
    let value = value.ok_or_else(|| missing_of(SCALAR, "value"))?;
    let unsupported = || KernelError::invalid(format!("{SCALAR} unsupported dtype"));
    let (dtype, _) = numbers(value).ok_or_else(unsupported)?;
    Ok(Metadata { ty: Type::Dense(dtype), shape })
}

fn create_scalar(attrs: &OpAttrsRef, _: &[Value], cx: &ExecContext) -> Result<Option<Value>, KernelError> {
    let value = attrs.get("value").ok_or_else(|| missing_of(SCALAR, "value"))?;
    let value = tensor_of(SCALAR, Shape::scalar(), value, cx)?;
    let shape = shape_attr(attrs, || missing_of(SCALAR, "shape"))?;
    Ok(Some(Value::object(ScalarTensor { shape, value })))
}

fn created_coo(attrs: &OpAttrsRef, args: &[Metadata]) -> Result<Metadata, KernelError> {
    let [indices, values] = args else {
        return Err(KernelError::invalid(format!("{COO}: {} operands, expected 2", args.len())));
    };
    let refuse = |what: &str| Err(KernelError::invalid(what.to_owned()));
    if indices.shape.rank() != 2 {
        return refuse("tfrt_test.create_coo_tensor indices input must be rank 2");
    }
    if values.shape.rank() != 1 {
        return refuse("tfrt_test.create_coo_tensor values input must be rank 1");
    }
    let shape = shape_attr(attrs, || missing_of(COO, "shape"))?;
    if indices.shape.dims().get(1) != Some(&shape.rank()) {
        return refuse("each test.create_coo_tensor index must have the same size as shape attribute");
    }
    Ok(Metadata { ty: values.ty, shape })
}

fn create_coo(attrs: &OpAttrsRef, args: &[Value], cx: &ExecContext) -> Result<Option<Value>, KernelError> {
    let shape = shape_attr(attrs, || missing_of(COO, "shape"))?;
    let [indices, values] = operands(args, cx)?;
    let tensor = CooTensor::new(shape, indices, values).map_err(refused)?;
    Ok(Some(Value::object(Coo(tensor))))
}

// ---- passing, failing, printing ----

fn first(args: &[Metadata]) -> Result<&Metadata, KernelError> {
    args.first().ok_or_else(|| KernelError::invalid("the operator has no operand"))
}

fn same(_: &OpAttrsRef, args: &[Metadata]) -> Result<Metadata, KernelError> {
    first(args).cloned()
}

fn pass(_: &OpAttrsRef, args: &[Value], _: &ExecContext) -> Result<Option<Value>, KernelError> {
    Ok(args.first().cloned())
}

fn error_tensor(_: &OpAttrsRef, _: &[Value], _: &ExecContext) -> Result<Option<Value>, KernelError> {
    Err(KernelError::new(ErrorCode::Unknown, "error from test.error.tensor implementation"))
}

fn print(_: &OpAttrsRef, args: &[Value], cx: &ExecContext) -> Result<Option<Value>, KernelError> {
    let lines: String = args.iter().map(|value| format!("{}\n", crate::handle::text(value))).collect();
    cx.print(&lines).map(|()| None)
}

fn print_address(_: &OpAttrsRef, args: &[Value], cx: &ExecContext) -> Result<Option<Value>, KernelError> {
    for value in args {
        let line = match AnyTensor::of(value) {
            Some(AnyTensor::Dense(tensor)) => {
                let bytes = tensor.0.read_bytes().map_err(refused)?;
                format!("DenseHostTensor: buffer={:p}\n", bytes.as_ptr())
            }
            _ => format!("{}: no buffer\n", crate::handle::representation(value).unwrap_or("value")),
        };
        cx.print(&line)?;
    }
    Ok(None)
}

// ---- mathematics ----

/// Operands in dense form.
fn operands<const N: usize>(args: &[Value], cx: &ExecContext) -> Result<[HostTensor; N], KernelError> {
    let all: Vec<HostTensor> = args.iter().map(|value| dense(value, cx)).collect::<Result<_, _>>()?;
    <[HostTensor; N]>::try_from(all)
        .map_err(|all| KernelError::invalid(format!("{} operands, expected {N}", all.len())))
}

fn new(result: Result<HostTensor, TensorError>) -> Result<Option<Value>, KernelError> {
    result.map(|tensor| Some(Value::object(Tensor(tensor)))).map_err(refused)
}

fn elementwise(_: &OpAttrsRef, args: &[Metadata]) -> Result<Metadata, KernelError> {
    alike(args, "element-wise op", "arguments to element-wise op must have identical shapes")
}

fn added(_: &OpAttrsRef, args: &[Metadata]) -> Result<Metadata, KernelError> {
    alike(args, "test.add", "arguments of test.add must have same shape")
}

/// Two operands of one type and shape.
fn alike(args: &[Metadata], op: &str, shapes: &str) -> Result<Metadata, KernelError> {
    match args {
        [a, b] if a == b => Ok(a.clone()),
        [a, b] if a.ty != b.ty => {
            Err(KernelError::invalid(format!("incompatible dtypes for {op}: {a} and {b}")))
        }
        [a, b] => Err(KernelError::invalid(format!("{shapes}: {} and {}", a.shape, b.shape))),
        _ => Err(KernelError::invalid(format!("{} operands, expected 2", args.len()))),
    }
}

fn product(attrs: &OpAttrsRef, args: &[Metadata]) -> Result<Metadata, KernelError> {
    let is_set = |name| op::Attrs::bool(&attrs, name).unwrap_or(false);
    let refuse = |what: String| Err(KernelError::invalid(what));
    let [a, b] = args else { return refuse(format!("{} operands, expected 2", args.len())) };
    if a.ty != b.ty {
        return refuse("incompatible dtypes for MatMul".to_owned());
    }
    let sizes = |i, x: &Metadata, transposed| match *x.shape.dims() {
        [rows, columns] if transposed => Ok((columns, rows)),
        [rows, columns] => Ok((rows, columns)),
        _ => Err(KernelError::invalid(format!("argument {i} of matmul op is not a rank-2 tensor"))),
    };
    let ((rows, inner), (other, columns)) =
        (sizes(0, a, is_set("transpose_a"))?, sizes(1, b, is_set("transpose_b"))?);
    if inner != other {
        return refuse("matmul arguments have incompatible shapes".to_owned());
    }
    let shape = Shape::new(&[rows, columns]).map_err(refused)?;
    Ok(Metadata { ty: a.ty, shape })
}

/// The shape without an axis.
fn without_axis(attrs: &OpAttrsRef, x: &Shape) -> Result<Shape, KernelError> {
    let axis = axis_attr(attrs, x)?;
    let dims: Vec<usize> =
        x.dims().iter().enumerate().filter(|(i, _)| *i != axis).map(|(_, dim)| *dim).collect();
    Shape::new(&dims).map_err(refused)
}

fn argmax_shape(attrs: &OpAttrsRef, args: &[Metadata]) -> Result<Metadata, KernelError> {
    Ok(Metadata { ty: Type::Dense(DType::I32), shape: without_axis(attrs, &first(args)?.shape)? })
}

fn argmax(attrs: &OpAttrsRef, args: &[Value], cx: &ExecContext) -> Result<Option<Value>, KernelError> {
    let [x] = operands(args, cx)?;
    let axis = axis_attr(attrs, x.shape())? as i64;
    new(arg_extreme(true, &x, axis, DType::I32, cx.allocator()))
}

fn reduced(attrs: &OpAttrsRef, args: &[Metadata]) -> Result<Metadata, KernelError> {
    let x = first(args)?;
    Ok(Metadata { ty: x.ty, shape: without_axis(attrs, &x.shape)? })
}

fn reduce_mean(attrs: &OpAttrsRef, args: &[Value], cx: &ExecContext) -> Result<Option<Value>, KernelError> {
    let [x] = operands(args, cx)?;
    let axis = axis_attr(attrs, x.shape())? as i64;
    new(reduce(Reduce::Mean, &x, &[axis], false, cx.allocator()))
}

fn broadcasted(attrs: &OpAttrsRef, args: &[Metadata]) -> Result<Metadata, KernelError> {
    Ok(Metadata { ty: first(args)?.ty, shape: shape_attr(attrs, || missing("shape"))? })
}

fn broadcast(attrs: &OpAttrsRef, args: &[Value], cx: &ExecContext) -> Result<Option<Value>, KernelError> {
    let [x] = operands(args, cx)?;
    new(broadcast_to(&x, &shape_attr(attrs, || missing("shape"))?, cx.allocator()))
}

fn type_attr(attrs: &OpAttrsRef) -> Result<DType, KernelError> {
    match attrs.get("type") {
        Some(AttrValue::Type(Type::Dense(dtype))) => Ok(*dtype),
        Some(AttrValue::Str(name)) => {
            name.parse().map_err(|_| KernelError::invalid(format!("casting to '{name}' is not supported")))
        }
        _ => Err(missing("type")),
    }
}

fn cast_shape(attrs: &OpAttrsRef, args: &[Metadata]) -> Result<Metadata, KernelError> {
    Ok(Metadata { ty: Type::Dense(type_attr(attrs)?), shape: first(args)?.shape.clone() })
}

fn cast_to(attrs: &OpAttrsRef, args: &[Value], cx: &ExecContext) -> Result<Option<Value>, KernelError> {
    let [x] = operands(args, cx)?;
    new(cast(&x, type_attr(attrs)?, cx.allocator()))
}

fn odd(_: &OpAttrsRef, args: &[Value], cx: &ExecContext) -> Result<Option<Value>, KernelError> {
    let [x] = operands(args, cx)?;
    if x.shape().rank() != 1 {
        return Err(KernelError::invalid("expected a 1D tensor input"));
    }
    if x.dtype() != DType::I32 {
        return Err(KernelError::invalid("expected a i32 element type"));
    }
    let kept: Vec<i32> =
        x.read_as::<i32>("operand").map_err(refused)?.iter().copied().filter(|n| n % 2 != 0).collect();
    let shape = Shape::new(&[kept.len()]).map_err(refused)?;
    new(HostTensor::from_slice(shape, &kept, cx.allocator()))
}

fn equal(_: &OpAttrsRef, args: &[Value], cx: &ExecContext) -> Result<Option<Value>, KernelError> {
    let [a, b] = operands(args, cx)?;
    let equal = compare(Compare::Equal, &a, &b, cx.allocator());
    new(equal.and_then(|equal| cast(&equal, a.dtype(), cx.allocator())))
}
