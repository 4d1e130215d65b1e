//! Handles of constant tensors, which are attributes of the program.

use bef_format::AttrView;
use befrost_kernel_api::kernel::{KernelUse, Prepare, Prepared, RawAttr};
use befrost_kernel_api::{ExecContext, KernelError, Registry, Value, kernel};
use befrost_kernels::{Strings, refused};
use befrost_tensor::{DType, HostTensor, Shape, StringTensor};

use crate::attrs::AttrValue;
use crate::cpu::tensor_of;
use crate::handle::TensorHandle;

pub(super) fn add(registry: &mut Registry) {
    for name in ["corert.const_dense_tensor", "corert_sync.const_dense_tensor"] {
        registry.add(kernel!(name, |constant: Prepared<'_, Constant>, _: RawAttr<'_>, cx: &ExecContext| {
            TensorHandle::from(constant.0.0.with_allocator(cx.allocator()))
        }));
    }
    registry.add(kernel!("corert.const_string_tensor", strings));
    for name in NAMES {
        registry.add(kernel!(name, |numbers: Prepared<'_, Numbers>,
                                    _shape: RawAttr<'_>,
                                    _value: RawAttr<'_>,
                                    cx: &ExecContext| numbers
            .0
            .tensor(cx)));
    }
}

const NAMES: [&str; 28] = [
    "corert.create_dense_tensor.ui8",
    "corert.create_dense_tensor.ui32",
    "corert.create_dense_tensor.ui64",
    "corert.create_dense_tensor.i1",
    "corert.create_dense_tensor.i8",
    "corert.create_dense_tensor.i16",
    "corert.create_dense_tensor.i32",
    "corert.create_dense_tensor.i64",
    "corert.create_dense_tensor.f16",
    "corert.create_dense_tensor.bf16",
    "corert.create_dense_tensor.f32",
    "corert.create_dense_tensor.f64",
    "corert.create_dense_tensor.complex64",
    "corert.create_dense_tensor.complex128",
    "corert_sync.create_dense_tensor.ui8",
    "corert_sync.create_dense_tensor.ui32",
    "corert_sync.create_dense_tensor.ui64",
    "corert_sync.create_dense_tensor.i1",
    "corert_sync.create_dense_tensor.i8",
    "corert_sync.create_dense_tensor.i16",
    "corert_sync.create_dense_tensor.i32",
    "corert_sync.create_dense_tensor.i64",
    "corert_sync.create_dense_tensor.f16",
    "corert_sync.create_dense_tensor.bf16",
    "corert_sync.create_dense_tensor.f32",
    "corert_sync.create_dense_tensor.f64",
    "corert_sync.create_dense_tensor.complex64",
    "corert_sync.create_dense_tensor.complex128",
];

/// A constant: a view of the file.
struct Constant(HostTensor);

impl Prepare for Constant {
    fn prepare(site: &KernelUse<'_>) -> Result<Constant, String> {
        match site.attr(0).map(|attr| AttrValue::decode(&attr, site)) {
            Some(AttrValue::Dense(tensor)) => Ok(Constant(tensor)),
            _ => Err("the attribute 'value' is no dense tensor of numbers".to_owned()),
        }
    }
}

/// A shape, and numbers for a tensor of it.
struct Numbers {
    dtype: DType,
    shape: Shape,
    value: AttrValue,
}

fn shape_of(attr: &AttrValue) -> Option<Shape> {
    match attr {
        AttrValue::Ints(_, dims) => Shape::from_i64(dims).ok(),
        AttrValue::List(dims) if dims.is_empty() => Some(Shape::scalar()),
        _ => None,
    }
}

impl Prepare for Numbers {
    fn prepare(site: &KernelUse<'_>) -> Result<Numbers, String> {
        let dtype = match site.name().rsplit_once('.').map(|(_, suffix)| suffix) {
            Some("complex64") => Some(DType::Complex64),
            Some("complex128") => Some(DType::Complex128),
            suffix => suffix.and_then(|suffix| suffix.parse().ok()),
        };
        let attr = |i| site.attr(i).map(|attr| AttrValue::decode(&attr, site));
        let shape = attr(0).as_ref().and_then(shape_of).ok_or("the attribute 'shape' is no list of sizes")?;
        let (dtype, value) = dtype.zip(attr(1)).ok_or("there are no values")?;
        Ok(Numbers { dtype, shape, value })
    }
}

impl Numbers {
    fn tensor(&self, cx: &ExecContext) -> Result<TensorHandle, KernelError> {
        let shape = self.shape.clone();
        let tensor = match (self.dtype, &self.value) {
            (DType::Complex64, AttrValue::Floats(_, parts)) => {
                let bytes: Vec<u8> = parts.iter().flat_map(|&part| (part as f32).to_le_bytes()).collect();
                of_bytes(self.dtype, shape, &bytes, cx)?
            }
            (DType::Complex128, AttrValue::Floats(_, parts)) => {
                let bytes: Vec<u8> = parts.iter().flat_map(|part| part.to_le_bytes()).collect();
                of_bytes(self.dtype, shape, &bytes, cx)?
            }
            (dtype, AttrValue::List(values)) if values.is_empty() => of_bytes(dtype, shape, &[], cx)?,
            (_, value) => tensor_of("create_dense_tensor", shape, value, cx)?,
        };
        Ok(TensorHandle::from(tensor))
    }
}

/// A tensor of these bytes. If they are those of one element, all elements are equal to it.
fn of_bytes(dtype: DType, shape: Shape, bytes: &[u8], cx: &ExecContext) -> Result<HostTensor, KernelError> {
    if bytes.len() == dtype.size() {
        return HostTensor::splat(dtype, shape, bytes, cx.allocator()).map_err(refused);
    }
    let tensor = HostTensor::allocate(dtype, shape, cx.allocator()).map_err(refused)?;
    let (n, want) = (bytes.len() / dtype.size(), tensor.num_elements());
    if n != want || !bytes.len().is_multiple_of(dtype.size()) {
        return Err(KernelError::invalid(format!("{n} values for a tensor of {want} elements")));
    }
    tensor.write_bytes().map_err(refused)?.copy_from_slice(bytes);
    Ok(tensor)
}

fn strings(shape: RawAttr<'_>, values: RawAttr<'_>, cx: &ExecContext) -> Result<TensorHandle, KernelError> {
    let dims: Option<Vec<i64>> = match shape.view {
        AttrView::Scalars { dtype: bef_format::DType::I64, bytes, n, .. } => {
            Some(bytes.as_chunks::<8>().0.iter().take(n).map(|word| i64::from_le_bytes(*word)).collect())
        }
        AttrView::Array([]) => Some(Vec::new()),
        _ => None,
    };
    let shape = dims.and_then(|dims| Shape::from_i64(&dims).ok());
    let shape = shape.ok_or_else(|| KernelError::invalid("the attribute 'shape' is no list of sizes"))?;
    let texts = values.elements().map(|value| match value.view {
        AttrView::Str(text) => Some(text),
        _ => None,
    });
    let texts: Option<Vec<&str>> = texts.collect();
    let mut texts =
        texts.ok_or_else(|| KernelError::invalid("the attribute 'value' is no list of strings"))?;
    let n = shape.num_elements();
    if let [one] = texts[..] {
        // Of the same order as the memory of the tensor.
        texts
            .try_reserve_exact(n.saturating_sub(1))
            .map_err(|error| KernelError::invalid(format!("{n} strings: {error}")))?;
        texts.resize(n, one);
    }
    if texts.len() != n {
        let found = texts.len();
        return Err(KernelError::invalid(format!("{found} strings for a tensor of {n} elements")));
    }
    let tensor = StringTensor::new(shape, &texts, cx.allocator()).map_err(refused)?;
    Ok(TensorHandle::new(Value::object(Strings(tensor))))
}
