//! Constants and types of the op graph as TensorProto and ValueInfoProto, the reverse of the importer's
//! `tensor.rs`.

use std::sync::Arc;

/// Limit on the bytes of a model: its format cannot hold more.
pub(super) const MAX_BYTES: usize = i32::MAX as usize;

use befrost_tensor::mem::{Allocator, Malloc};
use befrost_tensor::tf::cast;
use befrost_tensor::tf::op::Type;
use befrost_tensor::{DType, HostTensor, Shape};

use super::emit::WhyNot;
use crate::build::query;
use crate::dialects::tf;
use crate::import::onnx_proto::tensor_shape_proto::{Dimension, dimension};
use crate::import::onnx_proto::type_proto::{Tensor, Value};
use crate::import::onnx_proto::{TensorProto, TensorShapeProto, TypeProto, ValueInfoProto};
use crate::ir::{AttrId, AttrKind, Context, Module, TypeId};

/// The code of an element type in `TensorProto.DataType`.
pub(super) fn code(dtype: DType) -> i32 {
    match dtype {
        DType::F32 => 1,
        DType::UI8 => 2,
        DType::I8 => 3,
        DType::UI16 => 4,
        DType::I16 => 5,
        DType::I32 => 6,
        DType::I64 => 7,
        DType::I1 => 9,
        DType::F16 => 10,
        DType::F64 => 11,
        DType::UI32 => 12,
        DType::UI64 => 13,
        DType::Complex64 => 14,
        DType::Complex128 => 15,
        DType::BF16 => 16,
    }
}

/// The code of strings.
const STRING: i32 = 8;

/// The code of the elements of a tensor type of numbers or strings.
pub(super) fn element_code(m: &Module, ty: TypeId) -> Option<i32> {
    match tf::type_of(&m.cx, ty)? {
        (Type::Dense(dtype), false) => Some(code(dtype)),
        (Type::String, false) => Some(STRING),
        _ => None,
    }
}

/// A tensor of these bytes.
pub(super) fn raw(dtype: DType, dims: &[i64], bytes: Vec<u8>) -> TensorProto {
    TensorProto {
        dims: dims.to_vec(),
        data_type: code(dtype),
        raw_data: bytes.into(),
        ..TensorProto::default()
    }
}

/// A string.
pub(super) fn string(text: &str) -> TensorProto {
    let string_data = vec![text.as_bytes().to_vec()];
    TensorProto { data_type: STRING, string_data, ..TensorProto::default() }
}

/// A tensor in memory.
pub(super) fn of_host(x: &HostTensor) -> Option<TensorProto> {
    let dims: Vec<i64> = x.shape().dims().iter().map(|&dim| dim as i64).collect();
    Some(raw(x.dtype(), &dims, x.read_bytes().ok()?.to_vec()))
}

/// A number as a scalar in memory.
pub(super) fn host_scalar(number: f64, dtype: DType) -> Result<HostTensor, WhyNot> {
    let plain: Arc<dyn Allocator> = Malloc::shared();
    let wide = HostTensor::from_slice(Shape::scalar(), &[number], &plain);
    wide.and_then(|wide| cast(&wide, dtype, &plain)).map_err(|error| error.to_string())
}

/// A number as a scalar.
pub(super) fn number(number: f64, dtype: DType) -> Result<TensorProto, WhyNot> {
    of_host(&host_scalar(number, dtype)?).ok_or_else(|| format!("no constant of {dtype}"))
}

/// Memory of a string beside its characters.
const STRING_BYTES: usize = size_of::<Vec<u8>>();

/// A constant of the op graph, in at most `room` bytes: equal elements are written out.
pub(super) fn constant(cx: &Context, attr: AttrId, room: usize) -> Result<TensorProto, WhyNot> {
    let refused = || "a constant of a type that ONNX does not have".to_owned();
    let ty = cx.attr_type(attr).ok_or_else(refused)?;
    let (Some(dims), _) = cx.ty(ty).shaped().ok_or_else(refused)? else { return Err(refused()) };
    let n = dims.iter().try_fold(1usize, |n, &dim| n.checked_mul(usize::try_from(dim).ok()?));
    let fits = |bytes: usize| {
        let all = n.and_then(|n| n.checked_mul(bytes));
        if all.is_some_and(|all| all <= room) {
            Ok(())
        } else {
            Err("constants of more bytes than an ONNX file holds")
        }
    };
    match (cx.attr(attr), tf::type_of(cx, ty)) {
        (AttrKind::Dense { splat, data, .. }, Some((Type::Dense(dtype), false))) => {
            fits(dtype.size())?;
            Ok(raw(dtype, dims, if *splat { data.repeat(n.unwrap_or(0)) } else { data.to_vec() }))
        }
        (AttrKind::DenseStrings { splat, strings, .. }, _) => {
            let list = strings.iter().filter_map(|&text| cx.string_bytes(text)).map(<[u8]>::to_vec);
            let string_data = match list.clone().next().filter(|_| *splat) {
                Some(text) => {
                    fits(text.len().saturating_add(STRING_BYTES))?;
                    vec![text; n.unwrap_or(0)]
                }
                None => list.collect(),
            };
            Ok(TensorProto { dims: dims.to_vec(), data_type: STRING, string_data, ..TensorProto::default() })
        }
        _ => Err(refused()),
    }
}

/// A graph's input or output of a tensor type. An unknown dimension has a name of its own.
pub(super) fn value_info(m: &Module, name: &str, ty: TypeId) -> Option<ValueInfoProto> {
    let shape = query::shape_of(m, ty).map(|dims| {
        let dim = |(i, &dim): (usize, &i64)| {
            let value = match dim {
                0.. => dimension::Value::DimValue(dim),
                _ => dimension::Value::DimParam(format!("{name}_{i}")),
            };
            Dimension { value: Some(value) }
        };
        TensorShapeProto { dim: dims.iter().enumerate().map(dim).collect() }
    });
    Some(of_type(name, element_code(m, ty)?, shape))
}

/// An input or output of an element type.
pub(super) fn of_type(name: &str, elem_type: i32, shape: Option<TensorShapeProto>) -> ValueInfoProto {
    let value = Some(Value::TensorType(Tensor { elem_type, shape }));
    ValueInfoProto { name: name.to_owned(), r#type: Some(TypeProto { value }) }
}
