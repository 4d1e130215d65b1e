//! TensorProto: the elements are bytes, or a list of values whose last one is repeated to the end.

use super::attr::dims;
use crate::dialects::tf;
use crate::import::proto::TensorProto;
use crate::ir::{AttrId, AttrKind, Blob, Context};
use befrost_tensor::DType;
use befrost_tensor::tf::op::Type;

/// Most bytes of a repeated list of values. (A single value is a splat, of any size.)
const MAX_REPEATED: usize = 1 << 28;

/// A tensor as an attribute.
pub(super) fn attr(cx: &mut Context, tensor: &TensorProto) -> Result<AttrId, String> {
    let (ty, is_ref) = Type::from_code(tensor.dtype).map_err(|error| error.to_string())?;
    let shape = tensor.tensor_shape.as_ref().map(dims).transpose()?;
    let shape = shape.unwrap_or(Some(Vec::new())).ok_or("a tensor of unknown rank")?;
    let count = shape.iter().try_fold(1usize, |n, &dim| n.checked_mul(usize::try_from(dim).ok()?));
    let count = count.ok_or_else(|| format!("a tensor of shape {shape:?}"))?;
    let element = tf::element(cx, ty, is_ref);
    let type_id = cx.tensor_type(&shape, element);
    match ty {
        Type::Dense(dtype) if !is_ref => {
            let (splat, data) = elements(dtype, tensor, count)?;
            Ok(cx.attr_id(AttrKind::Dense { ty: type_id, splat, data }))
        }
        Type::String if !is_ref => {
            let strings: Vec<AttrId> = tensor.string_val.iter().map(|bytes| cx.bytes_attr(bytes)).collect();
            let empty = cx.str_attr("");
            let (splat, strings) = repeated(strings, count, size_of::<AttrId>(), || empty)?;
            Ok(cx.attr_id(AttrKind::DenseStrings { ty: type_id, splat, strings: strings.into() }))
        }
        _ => Err(format!("a constant of type {ty}")),
    }
}

/// The strings of a tensor, the last one repeated.
pub(super) fn all_strings(tensor: &TensorProto) -> Result<Vec<&[u8]>, String> {
    let shape = tensor.tensor_shape.as_ref().map(dims).transpose()?;
    let shape = shape.unwrap_or(Some(Vec::new())).ok_or("a tensor of unknown rank")?;
    let count = shape.iter().try_fold(1usize, |n, &dim| n.checked_mul(usize::try_from(dim).ok()?));
    let count = count.ok_or_else(|| format!("a tensor of shape {shape:?}"))?;
    let given = tensor.string_val.iter().map(Vec::as_slice).collect();
    let (splat, mut strings) = repeated(given, count, size_of::<&[u8]>(), || &[][..])?;
    if splat {
        let first = strings.first().copied().unwrap_or_default();
        strings.resize(count.min(MAX_REPEATED / size_of::<&[u8]>()), first);
    }
    Ok(strings)
}

/// True for a splat, and the elements.
fn elements(dtype: DType, tensor: &TensorProto, count: usize) -> Result<(bool, Blob), String> {
    let size = dtype.size();
    if !tensor.tensor_content.is_empty() {
        let found = tensor.tensor_content.len();
        if count.checked_mul(size) != Some(found) {
            return Err(format!("a tensor of {count} elements of {dtype} in {found} bytes"));
        }
        if dtype == DType::I1 {
            return Ok((false, tensor.tensor_content.iter().map(|&byte| u8::from(byte != 0)).collect()));
        }
        return Ok((false, Blob::from_owner(tensor.tensor_content.clone())));
    }
    let ints = || tensor.int_val.iter().map(|&value| i64::from(value));
    match dtype {
        DType::F32 => list(tensor.float_val.iter().map(|value| value.to_le_bytes()), count),
        DType::F64 => list(tensor.double_val.iter().map(|value| value.to_le_bytes()), count),
        DType::F16 | DType::BF16 => {
            list(tensor.half_val.iter().map(|&bits| (bits as u16).to_le_bytes()), count)
        }
        DType::I32 => list(tensor.int_val.iter().map(|value| value.to_le_bytes()), count),
        DType::I16 | DType::UI16 => list(ints().map(|value| (value as u16).to_le_bytes()), count),
        DType::I8 | DType::UI8 => list(ints().map(|value| [value as u8]), count),
        DType::I64 => list(tensor.int64_val.iter().map(|value| value.to_le_bytes()), count),
        DType::UI32 => list(tensor.uint32_val.iter().map(|value| value.to_le_bytes()), count),
        DType::UI64 => list(tensor.uint64_val.iter().map(|value| value.to_le_bytes()), count),
        DType::I1 => list(tensor.bool_val.iter().map(|&value| [u8::from(value)]), count),
        DType::Complex64 => {
            let pairs = tensor.scomplex_val.chunks_exact(2);
            list(
                pairs
                    .map(|pair| [pair[0].to_bits(), pair[1].to_bits()].map(u32::to_le_bytes))
                    .map(joined::<4, 8>),
                count,
            )
        }
        DType::Complex128 => {
            let pairs = tensor.dcomplex_val.chunks_exact(2);
            list(
                pairs
                    .map(|pair| [pair[0].to_bits(), pair[1].to_bits()].map(u64::to_le_bytes))
                    .map(joined::<8, 16>),
                count,
            )
        }
    }
}

fn joined<const HALF: usize, const WHOLE: usize>(parts: [[u8; HALF]; 2]) -> [u8; WHOLE] {
    std::array::from_fn(|i| parts[i / HALF][i % HALF])
}

fn list<const N: usize>(values: impl Iterator<Item = [u8; N]>, count: usize) -> Result<(bool, Blob), String> {
    let (splat, values) = repeated(values.collect(), count, N, || [0; N])?;
    Ok((splat, Blob::from(values.into_flattened())))
}

/// The values with the last one repeated, or a single one.
fn repeated<T: Clone>(
    mut values: Vec<T>,
    count: usize,
    size: usize,
    zero: impl Fn() -> T,
) -> Result<(bool, Vec<T>), String> {
    if values.len() > count && !(count == 0 && values.len() == 1) {
        return Err(format!("a tensor of {count} elements with {} values", values.len()));
    }
    if count == 0 {
        return Ok((false, Vec::new()));
    }
    let last = values.last().cloned().unwrap_or_else(zero);
    if values.len() <= 1 && count > 1 {
        return Ok((true, vec![last]));
    }
    if values.len() < count && count.checked_mul(size).is_none_or(|bytes| bytes > MAX_REPEATED) {
        return Err(format!("a tensor of {count} elements with {} values", values.len()));
    }
    values.resize(count, last);
    Ok((false, values))
}
