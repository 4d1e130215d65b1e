//! Arrays of strings: `S` of bytes and `U` of characters of four bytes.
//!
//! ```text
//! '|S3'  61 62 00 | 63 00 00              '<U2'  61 00 00 00 62 00 00 00 | 63 00 00 00 00 00 00 00
//! ```
//!
//! All strings have the same size; zeros at the end are padding. Characters become UTF-8. A string tensor
//! holds bytes, so it is written as `S`.

use std::sync::Arc;

use befrost_mem::Allocator;

use super::{NpyError, write};
use crate::scratch::{collected, push, with_room};
use crate::{HostTensor, Shape, StringTensor, TensorError};

/// The contents of a file.
#[derive(Clone, Debug)]
pub enum Array {
    /// Numbers or booleans.
    Numbers(HostTensor),
    /// Strings.
    Strings(StringTensor),
}

impl Array {
    /// The shape.
    pub fn shape(&self) -> &Shape {
        match self {
            Array::Numbers(tensor) => tensor.shape(),
            Array::Strings(strings) => strings.shape(),
        }
    }
}

/// The element type of an array of strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Characters {
    /// Bytes.
    Bytes,
    /// Unicode code points in four bytes.
    CodePoints {
        /// The order of the bytes.
        big_endian: bool,
    },
}

/// The strings of elements of `size` bytes, in row-major order.
pub(super) fn of_elements(
    kind: Characters,
    size: usize,
    shape: &Shape,
    elements: &[u8],
    allocator: &Arc<dyn Allocator>,
) -> Result<StringTensor, NpyError> {
    let elements = elements.chunks_exact(size.max(1));
    let made = match kind {
        Characters::Bytes => StringTensor::new(shape.clone(), &collected(elements.map(trimmed))?, allocator),
        Characters::CodePoints { big_endian } => {
            let mut texts = with_room(shape.num_elements())?;
            for element in elements {
                push(&mut texts, text(element, big_endian).ok_or(NpyError::Character)?)?;
            }
            StringTensor::new(shape.clone(), &texts, allocator)
        }
    };
    Ok(made?)
}

/// The bytes without zeros at the end.
fn trimmed(bytes: &[u8]) -> &[u8] {
    let n = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    &bytes[..n]
}

/// The characters without zeros at the end; `None` if one is no Unicode scalar value.
fn text(element: &[u8], big_endian: bool) -> Option<String> {
    let (characters, _) = element.as_chunks::<4>();
    let code =
        |bytes: &[u8; 4]| if big_endian { u32::from_be_bytes(*bytes) } else { u32::from_le_bytes(*bytes) };
    let n = characters.iter().rposition(|bytes| code(bytes) != 0).map_or(0, |last| last + 1);
    characters[..n].iter().map(|bytes| char::from_u32(code(bytes))).collect()
}

/// The bytes of a file of a tensor of strings. Strings that end in a zero cannot be written.
pub fn strings_to_bytes(strings: &StringTensor) -> Result<Vec<u8>, NpyError> {
    let texts = strings.read()?;
    if texts.iter().any(|text| text.last() == Some(&0)) {
        return Err(NpyError::EndsInZero);
    }
    let width = texts.iter().map(<[u8]>::len).max().unwrap_or(0).max(1);
    let mut bytes = write::prelude(&format!("|S{width}"), strings.shape())?;
    let size = strings.num_elements().checked_mul(width).ok_or(TensorError::TooLarge)?;
    // The file is much larger than the tensor if a few strings are long.
    bytes.try_reserve_exact(size).map_err(|_| TensorError::TooLarge)?;
    for text in texts.iter() {
        bytes.extend_from_slice(text);
        bytes.extend(std::iter::repeat_n(0, width - text.len()));
    }
    Ok(bytes)
}
