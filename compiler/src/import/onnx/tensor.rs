//! TensorProto: its elements are raw bytes, a list of numbers, or in a file beside the model.

use std::collections::HashMap;

use befrost_tensor::DType;
use befrost_tensor::tf::op::Type;
use prost::bytes::Bytes;

use super::emit::Why;
use crate::dialects::tf;
use crate::import::files::ModelFiles;
use crate::import::onnx_proto::{SparseTensorProto, TensorProto};
use crate::ir::{AttrId, AttrKind, Blob, Context};

/// `TensorProto.DataLocation.EXTERNAL`.
const EXTERNAL: i32 = 1;

/// Limit on the bytes of a sparse tensor's dense form.
const MAX_DENSE: usize = 1 << 28;

/// The files with tensors beside a model, each read once.
pub(super) struct ExternalFiles<'a> {
    files: &'a dyn ModelFiles,
    read: HashMap<String, Bytes>,
}

impl<'a> ExternalFiles<'a> {
    pub(super) fn new(files: &'a dyn ModelFiles) -> ExternalFiles<'a> {
        ExternalFiles { files, read: HashMap::new() }
    }

    /// The bytes of a tensor of `len` bytes.
    fn bytes(&mut self, tensor: &TensorProto, len: usize) -> Result<Bytes, Why> {
        let entry = |key: &str| {
            let mut entries = tensor.external_data.iter();
            entries.find(|entry| entry.key == key).map(|entry| entry.value.as_str())
        };
        let number = |key: &str| {
            let number = entry(key).map(str::parse::<usize>).transpose();
            number.map_err(|_| format!("its external data has no valid {key}"))
        };
        let location = entry("location").ok_or("its external data has no location")?;
        let (offset, length) = (number("offset")?.unwrap_or(0), number("length")?.unwrap_or(len));
        if length != len {
            return Err(format!("its external data has {length} bytes, expected {len}"));
        }
        if !self.read.contains_key(location) {
            let file = self.files.read(location).map_err(|why| format!("file '{location}': {why}"))?;
            self.read.insert(location.to_owned(), file);
        }
        let file = &self.read[location];
        let end = offset.checked_add(len).filter(|&end| end <= file.len());
        let end = end.ok_or_else(|| {
            format!("file '{location}' has {} bytes, too few for {len} at {offset}", file.len())
        })?;
        Ok(file.slice(offset..end))
    }
}

/// The element type of a code of `TensorProto.DataType`.
pub(super) fn element_type(code: i32) -> Result<Type, Why> {
    const UNSUPPORTED: [&str; 8] = [
        "FLOAT8E4M3FN",
        "FLOAT8E4M3FNUZ",
        "FLOAT8E5M2",
        "FLOAT8E5M2FNUZ",
        "UINT4",
        "INT4",
        "FLOAT4E2M1",
        "FLOAT8E8M0",
    ];
    Ok(Type::Dense(match code {
        1 => DType::F32,
        2 => DType::UI8,
        3 => DType::I8,
        4 => DType::UI16,
        5 => DType::I16,
        6 => DType::I32,
        7 => DType::I64,
        8 => return Ok(Type::String),
        9 => DType::I1,
        10 => DType::F16,
        11 => DType::F64,
        12 => DType::UI32,
        13 => DType::UI64,
        14 => DType::Complex64,
        15 => DType::Complex128,
        16 => DType::BF16,
        _ => {
            let name = code
                .checked_sub(17)
                .and_then(|at| usize::try_from(at).ok())
                .and_then(|at| UNSUPPORTED.get(at));
            return Err(match name {
                Some(name) => format!("elements of type {name} are not supported"),
                None => format!("there is no element type of number {code}"),
            });
        }
    }))
}

/// The element type of a code that must be one of numbers.
pub(super) fn number_type(code: i64) -> Result<DType, Why> {
    let code = i32::try_from(code).map_err(|_| format!("there is no element type of number {code}"))?;
    element_type(code)?.dtype().ok_or_else(|| "strings are no numbers".to_owned())
}

/// `TensorProto.DataType.UINT4` and `INT4`, of which a byte has two, the lower half first.
const OF_4_BITS: [(i32, DType); 2] = [(21, DType::UI8), (22, DType::I8)];

/// True for the code of an element type of 4 bits.
pub(super) fn has_4_bits(code: i32) -> bool {
    OF_4_BITS.iter().any(|&(of_4_bits, _)| code == of_4_bits)
}

/// The bytes of numbers of 4 bits, each in a byte of its own.
fn spread(packed: &[u8], n: usize, dtype: DType) -> Vec<u8> {
    let halves = packed.iter().flat_map(|byte| [byte & 15, byte >> 4]);
    let is_negative = |half: u8| dtype == DType::I8 && half > 7;
    halves.take(n).map(|half| if is_negative(half) { half | 0xF0 } else { half }).collect()
}

/// A tensor as a constant. Numbers of 4 bits become bytes.
pub(super) fn constant(
    cx: &mut Context,
    tensor: &TensorProto,
    files: &mut ExternalFiles<'_>,
) -> Result<AttrId, Why> {
    let of_4_bits = OF_4_BITS.iter().find(|&&(code, _)| code == tensor.data_type);
    let element = match of_4_bits {
        Some(&(_, dtype)) => Type::Dense(dtype),
        None => element_type(tensor.data_type)?,
    };
    let n = count(&tensor.dims)?;
    let element_id = tf::element(cx, element, false);
    let ty = tf::tensor(cx, Some(&tensor.dims), element_id);
    let Some(dtype) = element.dtype() else {
        let strings: Vec<AttrId> = tensor.string_data.iter().map(|bytes| cx.bytes_attr(bytes)).collect();
        if strings.len() != n {
            return Err(format!("{} strings for {n} elements", strings.len()));
        }
        return Ok(cx.attr_id(AttrKind::DenseStrings { ty, splat: false, strings: strings.into() }));
    };
    let size = match of_4_bits {
        Some(_) => n.div_ceil(2),
        None => n.checked_mul(dtype.size()).ok_or("its size overflows")?,
    };
    let data = if tensor.data_location == EXTERNAL {
        Blob::from_owner(files.bytes(tensor, size)?)
    } else if tensor.raw_data.is_empty() && size > 0 {
        Blob::from(listed(tensor, dtype))
    } else {
        Blob::from_owner(tensor.raw_data.clone())
    };
    if data.len() != size {
        return Err(format!("{} bytes for {n} elements of {dtype}", data.len()));
    }
    let data = if of_4_bits.is_some() { Blob::from(spread(&data, n, dtype)) } else { data };
    let data = if dtype == DType::I1 { data.iter().map(|&byte| u8::from(byte != 0)).collect() } else { data };
    Ok(cx.attr_id(AttrKind::Dense { ty, splat: false, data }))
}

/// Limit on the rank of a tensor.
pub(super) const MAX_RANK: i64 = 254;

/// The number of elements.
fn count(dims: &[i64]) -> Result<usize, Why> {
    let n = dims.iter().try_fold(1usize, |n, &dim| n.checked_mul(usize::try_from(dim).ok()?));
    n.filter(|_| dims.len() as i64 <= MAX_RANK).ok_or_else(|| "a tensor of an impossible shape".to_owned())
}

/// The bytes of elements in lists.
fn listed(tensor: &TensorProto, dtype: DType) -> Vec<u8> {
    let ints = |size: usize| {
        tensor.int32_data.iter().flat_map(move |value| value.to_le_bytes().into_iter().take(size)).collect()
    };
    match dtype {
        DType::F32 | DType::Complex64 => tensor.float_data.iter().flat_map(|v| v.to_le_bytes()).collect(),
        DType::F64 | DType::Complex128 => tensor.double_data.iter().flat_map(|v| v.to_le_bytes()).collect(),
        DType::I64 => tensor.int64_data.iter().flat_map(|v| v.to_le_bytes()).collect(),
        DType::UI64 => tensor.uint64_data.iter().flat_map(|v| v.to_le_bytes()).collect(),
        DType::UI32 => tensor.uint64_data.iter().flat_map(|v| (*v as u32).to_le_bytes()).collect(),
        DType::I32 => ints(4),
        DType::F16 | DType::BF16 | DType::I16 | DType::UI16 => ints(2),
        DType::I8 | DType::UI8 | DType::I1 => ints(1),
    }
}

/// A sparse tensor as a dense constant.
pub(super) fn dense(
    cx: &mut Context,
    sparse: &SparseTensorProto,
    files: &mut ExternalFiles<'_>,
) -> Result<AttrId, Why> {
    let (values, indices) = match (&sparse.values, &sparse.indices) {
        (Some(values), Some(indices)) => (values, indices),
        _ => return Err("a sparse tensor without values or indices".into()),
    };
    let dtype = element_type(values.data_type)?.dtype().ok_or("a sparse tensor of strings")?;
    let (n, size) = (count(&sparse.dims)?, dtype.size());
    let len =
        n.checked_mul(size).filter(|&len| len <= MAX_DENSE).ok_or("a sparse tensor that is too large")?;
    let mut data = vec![0; len];
    let bytes = |cx: &Context, attr: AttrId| match cx.attr(attr) {
        AttrKind::Dense { data, .. } => data.to_vec(),
        _ => Vec::new(),
    };
    let (values_attr, indices_attr) = (constant(cx, values, files)?, constant(cx, indices, files)?);
    let (values_bytes, indices_bytes) = (bytes(cx, values_attr), bytes(cx, indices_attr));
    let numbers: Vec<i64> = indices_bytes
        .chunks_exact(8)
        .filter_map(|bytes| bytes.try_into().ok())
        .map(i64::from_le_bytes)
        .collect();
    let rank = if indices.dims.len() == 2 { sparse.dims.len().max(1) } else { 1 };
    let given = values_bytes.chunks_exact(size);
    if indices.data_type != 7 || numbers.len() != given.len() * rank {
        return Err("a sparse tensor whose indices are not those of its values".into());
    }
    for (value, index) in given.zip(numbers.chunks_exact(rank)) {
        let at = if indices.dims.len() == 2 {
            index.iter().zip(&sparse.dims).try_fold(0, |at: usize, (&i, &dim)| {
                let i = usize::try_from(i).ok().filter(|_| i < dim)?;
                Some(at * usize::try_from(dim).ok()? + i)
            })
        } else {
            usize::try_from(index[0]).ok().filter(|&at| at < n)
        };
        let at = at.ok_or("a sparse tensor with an index out of range")? * size;
        data[at..at + size].copy_from_slice(value);
    }
    let element = tf::element(cx, Type::Dense(dtype), false);
    let ty = tf::tensor(cx, Some(&sparse.dims), element);
    Ok(cx.attr_id(AttrKind::Dense { ty, splat: false, data: Blob::from(data) }))
}
