//! The writer: version 1, little-endian, C order, elements at a multiple of 64 bytes.

use std::path::Path;

use crate::npy::{MAGIC, NpyError};
use crate::scratch::reserve;
use crate::{DType, HostTensor, Shape};

/// Writes a file, replacing an existing one. After an error the file may be incomplete.
pub fn write_file(path: &Path, tensor: &HostTensor) -> Result<(), NpyError> {
    Ok(std::fs::write(path, to_bytes(tensor)?)?)
}

/// The bytes of the file.
pub fn to_bytes(tensor: &HostTensor) -> Result<Vec<u8>, NpyError> {
    let descr = match tensor.dtype() {
        DType::I1 => "|b1",
        DType::I8 => "|i1",
        DType::I16 => "<i2",
        DType::I32 => "<i4",
        DType::I64 => "<i8",
        DType::UI8 => "|u1",
        DType::UI16 => "<u2",
        DType::UI32 => "<u4",
        DType::UI64 => "<u8",
        DType::F16 => "<f2",
        DType::F32 => "<f4",
        DType::F64 => "<f8",
        DType::Complex64 => "<c8",
        DType::Complex128 => "<c16",
        DType::BF16 => return Err(NpyError::Unwritable(DType::BF16)),
    };
    let mut bytes = prelude(descr, tensor.shape())?;
    let elements = tensor.read_bytes()?;
    reserve(&mut bytes, elements.len())?;
    if cfg!(target_endian = "big") {
        let number = tensor.dtype().size() / if tensor.dtype().name().starts_with("complex") { 2 } else { 1 };
        elements.chunks_exact(number).for_each(|element| bytes.extend(element.iter().rev()));
    } else {
        bytes.extend_from_slice(&elements);
    }
    Ok(bytes)
}

/// The bytes of the file before the elements: magic number, version and header.
pub(super) fn prelude(descr: &str, shape: &Shape) -> Result<Vec<u8>, NpyError> {
    let dims: Vec<String> = shape.dims().iter().map(usize::to_string).collect();
    let comma = if dims.len() == 1 { "," } else { "" };
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}{comma}), }}", dims.join(", "));
    // Blanks until everything before the elements, the line end included, is a multiple of 64.
    let fixed = MAGIC.len() + 4;
    let total = (fixed + header.len() + 1).next_multiple_of(64);
    header.extend(std::iter::repeat_n(' ', total - fixed - header.len() - 1));
    header.push('\n');
    // 64 dimensions of at most 20 digits: far below 65,536.
    let len = u16::try_from(header.len()).map_err(|_| NpyError::LongHeader { len: u32::MAX })?;

    let mut bytes = Vec::with_capacity(total);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&[1, 0]);
    bytes.extend_from_slice(&len.to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    Ok(bytes)
}
