//! `tensor`: tensors and their elements.

use befrost_kernel_api::error::ErrorCode;
use befrost_kernel_api::kernel::{KernelUse, Prepare, Prepared, Rest};
use befrost_kernel_api::{ExecContext, KernelError, Registry, Value, kernel};
use befrost_tensor::{DType, HostTensor, Shape};
use half::{bf16, f16};

use super::scalars::{Int, Scalar, Width};
use crate::objects::{Tensor, refused};

pub(super) fn kernels(registry: &mut Registry) {
    registry.add(kernel!("tensor.extract", |tensor: &Tensor, indices: Rest<'_, Value>| {
        let at = position(tensor, indices.iter())?;
        element(tensor, at).map(Scalar)
    }));
    registry.add(kernel!("tensor.insert", |scalar: Scalar,
                                           dest: &Tensor,
                                           indices: Rest<'_, Value>,
                                           cx: &ExecContext| {
        let at = position(dest, indices.iter())?;
        let copy = HostTensor::allocate(dest.dtype(), dest.shape().clone(), cx.allocator());
        let copy = copy.map_err(refused)?;
        {
            let mut bytes = copy.write_bytes().map_err(refused)?;
            bytes.copy_from_slice(&dest.read_bytes().map_err(refused)?);
            set_element(&mut bytes, dest.dtype(), at, &scalar.0)?;
        }
        Ok::<_, KernelError>(Tensor(copy))
    }));
    registry.add(kernel!(
        "tensor.from_elements",
        |made: Prepared<'_, ResultType>, elements: Rest<'_, Value>, cx: &ExecContext| {
            let tensor = made.0.allocate(&mut [].iter(), cx)?;
            {
                let mut bytes = tensor.write_bytes().map_err(refused)?;
                for (at, value) in elements.iter().enumerate() {
                    set_element(&mut bytes, tensor.dtype(), at, value)?;
                }
            }
            Ok::<_, KernelError>(Tensor(tensor))
        }
    ));
    registry.add(kernel!("tensor.splat", |made: Prepared<'_, ResultType>,
                                          input: Scalar,
                                          sizes: Rest<'_, Value>,
                                          cx: &ExecContext| {
        let tensor = made.0.allocate(&mut sizes.iter(), cx)?;
        {
            let mut bytes = tensor.write_bytes().map_err(refused)?;
            for at in 0..tensor.num_elements() {
                set_element(&mut bytes, tensor.dtype(), at, &input.0)?;
            }
        }
        Ok::<_, KernelError>(Tensor(tensor))
    }));
    registry.add(kernel!("tensor.empty", |made: Prepared<'_, ResultType>,
                                          sizes: Rest<'_, Value>,
                                          cx: &ExecContext| {
        made.0.allocate(&mut sizes.iter(), cx).map(Tensor)
    }));
    registry.add(kernel!("tensor.cast", |made: Prepared<'_, CastType>, source: &Tensor| {
        made.0.expect(source)?;
        Ok::<_, KernelError>(source.clone())
    }));
    registry.add(kernel!("tensor.dim", |source: &Tensor, index: Int| {
        let dims = source.shape().dims();
        let dim = usize::try_from(index.value).ok().and_then(|axis| dims.get(axis));
        let dim =
            dim.ok_or_else(|| out_of_range(format!("axis {} of shape {}", index.value, source.shape())));
        dim.map(|&dim| Int::new(Width::W64, dim as i64))
    }));
    registry
        .add(kernel!("tensor.rank", |tensor: &Tensor| Int::new(Width::W64, tensor.shape().rank() as i64)));
}

#[cold]
fn out_of_range(what: String) -> KernelError {
    KernelError::new(ErrorCode::OutOfRange, format!("there is no {what}"))
}

/// The row-major position of an element.
fn position<'v>(
    tensor: &HostTensor,
    mut indices: impl Iterator<Item = &'v Value>,
) -> Result<usize, KernelError> {
    let wrong = || {
        let (rank, shape) = (tensor.shape().rank(), tensor.shape());
        KernelError::invalid(format!("a tensor of shape {shape} takes {rank} indices"))
    };
    let mut at = 0;
    for &dim in tensor.shape().dims() {
        let index = indices.next().and_then(Int::of).ok_or_else(wrong)?.value;
        let inside = usize::try_from(index).ok().filter(|&index| index < dim);
        let inside = inside.ok_or_else(|| out_of_range(format!("index {index} in an axis of size {dim}")))?;
        at = at * dim + inside;
    }
    if indices.next().is_some() { Err(wrong()) } else { Ok(at) }
}

/// The type of a result.
struct ResultType {
    dtype: DType,
    /// `None` for a size that an operand gives.
    dims: Vec<Option<usize>>,
}

impl Prepare for ResultType {
    fn prepare(site: &KernelUse<'_>) -> Result<ResultType, String> {
        let ty = site.result_types().next().unwrap_or_default();
        ResultType::parse(ty)
            .ok_or_else(|| format!("'{}' has no kernel for results of type {ty}", site.name()))
    }
}

impl ResultType {
    fn parse(ty: &str) -> Option<ResultType> {
        let mut rest = ty.strip_prefix("tensor<")?.strip_suffix('>')?;
        let mut dims = Vec::new();
        while let Some((dim, after)) = rest.split_once('x') {
            match dim {
                "?" => dims.push(None),
                dim => dims.push(Some(dim.parse().ok()?)),
            }
            rest = after;
        }
        Some(ResultType { dtype: rest.parse().ok()?, dims })
    }

    /// A tensor of zeros. `sizes` are the operands for the unknown sizes.
    fn allocate(
        &self,
        sizes: &mut dyn Iterator<Item = &Value>,
        cx: &ExecContext,
    ) -> Result<HostTensor, KernelError> {
        let mut dims = Vec::new();
        for dim in &self.dims {
            dims.push(match dim {
                Some(dim) => *dim,
                None => {
                    let size = sizes.next().and_then(Int::of).map_or(-1, |size| size.value);
                    let size = usize::try_from(size);
                    size.map_err(|_| KernelError::invalid("the size of an axis is negative"))?
                }
            });
        }
        let shape = Shape::new(&dims).map_err(refused)?;
        HostTensor::allocate(self.dtype, shape, cx.allocator()).map_err(refused)
    }
}

/// The type of a cast's result; `None` if its rank is unknown.
struct CastType(Option<ResultType>);

impl Prepare for CastType {
    fn prepare(site: &KernelUse<'_>) -> Result<CastType, String> {
        match site.result_types().next() {
            Some(ty) if ty.starts_with("tensor<*x") => Ok(CastType(None)),
            _ => ResultType::prepare(site).map(|ty| CastType(Some(ty))),
        }
    }
}

impl CastType {
    /// An error unless the tensor has the sizes that the type knows.
    fn expect(&self, tensor: &HostTensor) -> Result<(), KernelError> {
        let Some(ResultType { dims, .. }) = &self.0 else { return Ok(()) };
        let found = tensor.shape().dims();
        let fits = |(want, &found): (&Option<usize>, &usize)| want.is_none_or(|want| want == found);
        if dims.len() == found.len() && dims.iter().zip(found).all(fits) {
            return Ok(());
        }
        let want: Vec<String> =
            dims.iter().map(|dim| dim.map_or_else(|| "?".to_owned(), |dim| dim.to_string())).collect();
        let problem = format!("a tensor of shape {} is cast to shape [{}]", tensor.shape(), want.join(", "));
        Err(KernelError::invalid(problem))
    }
}

/// An element as a value.
fn element(tensor: &HostTensor, at: usize) -> Result<Value, KernelError> {
    let (dtype, bytes) = (tensor.dtype(), tensor.read_bytes().map_err(refused)?);
    let size = dtype.size();
    let bytes = bytes.get(at * size..(at + 1) * size).unwrap_or_default();
    let mut word = [0; 8];
    if let Some(word) = word.get_mut(..bytes.len()) {
        word.copy_from_slice(bytes);
    }
    let bits = u64::from_le_bytes(word);
    Ok(match dtype {
        DType::I1 => Value::I1(bits != 0),
        DType::I8 => Value::I8(bits as i8),
        DType::I16 => Value::I16(bits as i16),
        DType::I32 => Value::I32(bits as i32),
        DType::I64 => Value::I64(bits as i64),
        DType::F16 => Value::F16(f16::from_bits(bits as u16)),
        DType::BF16 => Value::BF16(bf16::from_bits(bits as u16)),
        DType::F32 => Value::F32(f32::from_bits(bits as u32)),
        DType::F64 => Value::F64(f64::from_bits(bits)),
        other => return Err(KernelError::invalid(format!("there are no values of type {other}"))),
    })
}

/// Writes an element.
fn set_element(bytes: &mut [u8], dtype: DType, at: usize, value: &Value) -> Result<(), KernelError> {
    let bits = match (dtype, value) {
        (DType::I1, Value::I1(value)) => u64::from(*value),
        (DType::I8, Value::I8(value)) => *value as u64,
        (DType::I16, Value::I16(value)) => *value as u64,
        (DType::I32, Value::I32(value)) => *value as u64,
        (DType::I64, Value::I64(value)) => *value as u64,
        (DType::F16, Value::F16(value)) => value.to_bits().into(),
        (DType::BF16, Value::BF16(value)) => value.to_bits().into(),
        (DType::F32, Value::F32(value)) => value.to_bits().into(),
        (DType::F64, Value::F64(value)) => value.to_bits(),
        _ => {
            let ty = value.type_name();
            return Err(KernelError::invalid(format!("a value of type {ty} is no element of type {dtype}")));
        }
    };
    let size = dtype.size();
    let place = bytes.get_mut(at * size..(at + 1) * size);
    let place = place.ok_or_else(|| KernelError::invalid("more elements than the tensor has"))?;
    place.copy_from_slice(&bits.to_le_bytes()[..size]);
    Ok(())
}
