//! Ops on shapes and tensors: one arm each, the mathematics from [`mod@befrost_tensor::reference`].
//!
//! An op that writes a tensor checks everything before it writes: element types of the operands in their
//! order, then shapes, then aliasing of operands, then whether the written one is a constant. Elementwise ops
//! check the shape of the written tensor before its element type. The first problem is the error.

use std::sync::Arc;

use befrost_tensor::mem::{Allocator, BorrowError, Malloc};
use befrost_tensor::{
    DType, Dims, HostTensor, Shape, TensorError, matmul_shape, print, reduce_shape, reference, resolve_axis,
};

use super::attrs::Attrs;
use super::frames::{Done, Stop, fails};
use super::value::{Code, Tensor, Value};

impl From<TensorError> for Stop {
    fn from(error: TensorError) -> Stop {
        let code = match &error {
            TensorError::Alloc(_) => Code::ResourceExhausted,
            TensorError::Borrow(_) => Code::FailedPrecondition,
            _ => Code::InvalidArgument,
        };
        fails(code, error.to_string())
    }
}

/// As [`super::scalars::evaluate`].
pub(super) fn evaluate(name: &str, operands: &[Value], attrs: Attrs<'_>) -> Result<Option<Done>, Stop> {
    use Value::{Chain, I1, I32, I64};
    // The element type, if it is the last word: `tfrt_dht.fill_tensor_with_constant.f32`.
    let (stem, dtype) = match name.rsplit_once('.') {
        Some((stem, last)) => (stem, last.parse::<DType>().ok()),
        None => (name, None),
    };
    let done = match (name, operands) {
        ("ts.build_shape", []) => shape(Dims::from_i64(&attrs.ints("value")?)?),
        ("ts.print_shape", [Value::Shape(s), Chain]) => Done::printed(format!("shape = {s}\n")),
        ("ts.equal_shape", [Value::Shape(a), Value::Shape(b)]) => Done::values([I1(a == b)]),
        ("ts.get_dimension", [Value::Shape(s), I32(index)]) => {
            let dim = usize::try_from(*index).ok().and_then(|i| s.as_slice().get(i)).ok_or_else(|| {
                fails(Code::OutOfRange, format!("dimension {index} of shape {s} of rank {}", s.rank()))
            })?;
            Done::values([I64(*dim as i64)])
        }
        ("ts.get_num_elements", [Value::Shape(s)]) => {
            if s.as_slice().contains(&0) {
                return Ok(Some(Done::values([I64(0)])));
            }
            let product = s.as_slice().iter().try_fold(1i64, |n, &dim| n.checked_mul(dim as i64));
            Done::values([I64(product.ok_or(TensorError::TooLarge)?)])
        }
        ("ts.matmul_shape", [Value::Shape(a), Value::Shape(b)]) => {
            shape(Dims::from(&matmul_shape(&a.shape()?, &b.shape()?)?))
        }
        ("ts.reduce_shape", [Value::Shape(s)]) => {
            shape(Dims::from(&reduce_shape(&s.shape()?, attrs.int("axis")?)?))
        }

        ("tfrt_dht.print_tensor", [Value::Tensor(t), Chain]) => Done::printed(print::tensor(&t.data)? + "\n"),
        ("tfrt_dht.get_tensor_shape", [Value::Tensor(t)]) => shape(Dims::from(t.data.shape())),

        ("cpu.constant", []) => Done::values([constant(attrs)?]),
        ("cpu.after", [Value::Tensor(t), Chain]) => Done::values([Value::Tensor(t.clone())]),
        ("cpu.matmul.f32", [Value::Tensor(a), Value::Tensor(b), Value::Tensor(out), Chain]) => {
            matmul(a, b, out)?
        }
        ("cpu.bias_add.f32", [Value::Tensor(x), Value::Tensor(bias), Value::Tensor(out), Chain]) => {
            bias_add(x, bias, out)?
        }
        ("cpu.relu.f32", [Value::Tensor(x), Value::Tensor(out), Chain]) => {
            elementwise(x, out, reference::relu)?
        }
        ("cpu.softmax.f32", [Value::Tensor(x), Value::Tensor(out), Chain]) => {
            let n = x.data.shape().dims().last().copied().unwrap_or(1);
            elementwise(x, out, |x, out| reference::softmax(n, x, out))?
        }
        ("cpu.argmax.f32", [Value::Tensor(x), Value::Tensor(out), Chain]) => {
            argmax(x, attrs.int("axis")?, out)?
        }
        ("cpu.count_equal.i32", [Value::Tensor(a), Value::Tensor(b), Chain]) => {
            of_type("a", a, DType::I32)?;
            of_type("b", b, DType::I32)?;
            b.data.expect_shape("b", a.data.shape())?;
            let count = reference::count_equal(&a.data.read::<i32>()?, &b.data.read::<i32>()?);
            Done::values([I32(count as i32), Chain])
        }
        _ => return typed(name, stem, dtype, operands, attrs),
    };
    Ok(Some(done))
}

/// The ops that exist once for each element type.
fn typed(
    name: &str,
    stem: &str,
    dtype: Option<DType>,
    operands: &[Value],
    attrs: Attrs<'_>,
) -> Result<Option<Done>, Stop> {
    if let Some((dtype, rank)) =
        name.strip_prefix("tfrt_dht.create_uninitialized_tensor.").and_then(|r| r.split_once('.'))
        && let (Ok(dtype), Ok(rank), []) = (dtype.parse(), rank.parse::<usize>(), operands)
    {
        let shape = Shape::from_i64(&attrs.ints("shape")?)?;
        if shape.rank() != rank {
            let message = format!("a shape of rank {} for a tensor of rank {rank}", shape.rank());
            return Err(fails(Code::InvalidArgument, message));
        }
        return Ok(Some(Done::values([allocate(dtype, shape)?])));
    }
    let Some(dtype) = dtype else { return Ok(None) };
    let done = match (stem, operands) {
        ("cpu.allocate", [Value::Shape(shape)]) => Done::values([allocate(dtype, shape.shape()?)?]),
        ("tfrt_dht.fill_tensor_with_constant", [Value::Tensor(out), Value::Chain]) => {
            writable(out, dtype)?;
            let element = attrs.bits("value")?.to_le_bytes();
            for slot in out.data.write_bytes()?.chunks_exact_mut(dtype.size()) {
                slot.copy_from_slice(&element[..dtype.size()]);
            }
            Done::values([Value::Chain])
        }
        ("tfrt_dht.set_tensor_with_constant_values", [Value::Tensor(out), Value::Chain]) => {
            writable(out, dtype)?;
            let values = attrs.all_bits("values")?;
            let n = out.data.num_elements();
            if values.len() != n {
                let got = values.len();
                let message = format!("Incorrect number of values for the tensor: {got}, but expected {n}");
                return Err(fails(Code::InvalidArgument, message));
            }
            for (slot, value) in out.data.write_bytes()?.chunks_exact_mut(dtype.size()).zip(values) {
                slot.copy_from_slice(&value.to_le_bytes()[..dtype.size()]);
            }
            Done::values([Value::Chain])
        }
        ("tfrt_dht.tensor_equal", [Value::Tensor(a), Value::Tensor(b), Value::Chain]) => {
            of_type("a", a, dtype)?;
            of_type("b", b, dtype)?;
            let (a, b) = (&a.data, &b.data);
            let equal = a.shape().dims() == b.shape().dims()
                && match dtype {
                    DType::I32 => *a.read::<i32>()? == *b.read::<i32>()?,
                    DType::I64 => *a.read::<i64>()? == *b.read::<i64>()?,
                    DType::F32 => *a.read::<f32>()? == *b.read::<f32>()?,
                    DType::F64 => *a.read::<f64>()? == *b.read::<f64>()?,
                    _ => return Ok(None),
                };
            Done::values([Value::I1(equal), Value::Chain])
        }
        _ => return Ok(None),
    };
    Ok(Some(done))
}

fn shape(dims: Dims) -> Done {
    Done::values([Value::Shape(dims)])
}

fn allocator() -> Arc<dyn Allocator> {
    Malloc::shared()
}

fn allocate(dtype: DType, shape: Shape) -> Result<Value, Stop> {
    Ok(Value::Tensor(HostTensor::zeros(dtype, shape, &allocator())?.into()))
}

fn constant(attrs: Attrs<'_>) -> Result<Value, Stop> {
    let dense = attrs.dense("value")?;
    let data = HostTensor::zeros(dense.dtype, dense.shape, &allocator())?;
    let size = dense.dtype.size();
    for (i, slot) in data.write_bytes()?.chunks_exact_mut(size).enumerate() {
        let at = if dense.is_splat { 0 } else { i * size };
        let element = dense.bytes.get(at..at + size);
        slot.copy_from_slice(
            element.ok_or_else(|| Stop::Refused("a constant with too few elements".to_owned()))?,
        );
    }
    Ok(Value::Tensor(Tensor { data, is_constant: true }))
}

fn of_type(what: &'static str, tensor: &Tensor, want: DType) -> Result<(), Stop> {
    if tensor.data.dtype() == want {
        Ok(())
    } else {
        Err(TensorError::DType { what, want, got: tensor.data.dtype() }.into())
    }
}

/// Fails if a tensor to be written is of another type or a constant.
fn writable(out: &Tensor, want: DType) -> Result<(), Stop> {
    of_type("out", out, want)?;
    if out.is_constant { Err(TensorError::Borrow(BorrowError::ReadOnly).into()) } else { Ok(()) }
}

fn apart(what: &'static str, x: &Tensor, out: &Tensor) -> Result<(), Stop> {
    if x.data.shares_buffer(&out.data) { Err(TensorError::Aliased { what }.into()) } else { Ok(()) }
}

fn floats(tensor: &Tensor) -> Result<Vec<f32>, Stop> {
    Ok(tensor.data.read::<f32>()?.to_vec())
}

fn store(values: &[f32], out: &Tensor) -> Result<Done, Stop> {
    writable(out, DType::F32)?;
    out.data.copy_from_slice(values)?;
    Ok(Done::values([Value::Chain]))
}

fn matmul(a: &Tensor, b: &Tensor, out: &Tensor) -> Result<Done, Stop> {
    of_type("a", a, DType::F32)?;
    of_type("b", b, DType::F32)?;
    of_type("out", out, DType::F32)?;
    let shape = matmul_shape(a.data.shape(), b.data.shape())?;
    out.data.expect_shape("out", &shape)?;
    apart("a", a, out)?;
    apart("b", b, out)?;
    let (m, n) = (shape.dims()[0], shape.dims()[1]);
    let k = a.data.shape().dims()[1];
    let mut product = vec![0.0; m * n];
    reference::matmul((m, k, n), &floats(a)?, &floats(b)?, &mut product);
    store(&product, out)
}

fn bias_add(x: &Tensor, bias: &Tensor, out: &Tensor) -> Result<Done, Stop> {
    of_type("x", x, DType::F32)?;
    of_type("bias", bias, DType::F32)?;
    of_type("out", out, DType::F32)?;
    out.data.expect_shape("out", x.data.shape())?;
    let got = bias.data.shape().clone();
    if got.rank() != 1 {
        return Err(TensorError::Rank { what: "bias", want: 1, got }.into());
    }
    // A scalar has no last dimension, so no bias fits it.
    let last = x.data.shape().dims().last().copied();
    if last != Some(got.dims()[0]) {
        let want = Shape::new(&[last.unwrap_or(1)])?;
        return Err(TensorError::Shape { what: "bias", want, got }.into());
    }
    apart("bias", bias, out)?;
    let x = floats(x)?;
    let mut sum = vec![0.0; x.len()];
    reference::bias_add(&x, &floats(bias)?, &mut sum);
    store(&sum, out)
}

fn elementwise(x: &Tensor, out: &Tensor, function: impl Fn(&[f32], &mut [f32])) -> Result<Done, Stop> {
    of_type("x", x, DType::F32)?;
    out.data.expect_shape("out", x.data.shape())?;
    of_type("out", out, DType::F32)?;
    let x = floats(x)?;
    let mut values = vec![0.0; x.len()];
    function(&x, &mut values);
    store(&values, out)
}

fn argmax(x: &Tensor, axis: i64, out: &Tensor) -> Result<Done, Stop> {
    of_type("x", x, DType::F32)?;
    of_type("out", out, DType::I32)?;
    let shape = x.data.shape();
    let at = resolve_axis(shape, axis)?;
    out.data.expect_shape("out", &reduce_shape(shape, axis)?)?;
    if out.data.num_elements() > 0 && shape.dims()[at] == 0 {
        return Err(TensorError::EmptyAxis { shape: shape.clone() }.into());
    }
    let outer = shape.dims()[..at].iter().product();
    let inner = shape.dims()[at + 1..].iter().product();
    let mut positions = vec![0; out.data.num_elements()];
    if !positions.is_empty() {
        reference::argmax((outer, shape.dims()[at], inner), &floats(x)?, &mut positions);
    }
    writable(out, DType::I32)?;
    out.data.copy_from_slice(&positions)?;
    Ok(Done::values([Value::Chain]))
}
