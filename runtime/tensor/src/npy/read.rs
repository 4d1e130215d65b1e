//! The reader: header, elements up to the end of the file, then conversion of byte order and axis order.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use befrost_mem::Allocator;

use crate::npy::header::{self, Header, NpyElement};
use crate::npy::strings::{self, Array};
use crate::npy::{MAGIC, NpyError};
use crate::scratch::{copied, filled};
use crate::{DType, HostTensor, Shape, TensorError};

/// Real headers have a few hundred bytes; NumPy itself refuses more than 10,000 unless asked.
const MAX_HEADER: u32 = 1 << 16;

/// Reads a file of numbers.
pub fn read_file(path: &Path, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, NpyError> {
    read(BufReader::new(File::open(path)?), allocator)
}

/// Reads a file of numbers or strings.
pub fn read_array_file(path: &Path, allocator: &Arc<dyn Allocator>) -> Result<Array, NpyError> {
    read_array(BufReader::new(File::open(path)?), allocator)
}

/// Reads the bytes of a file of numbers.
pub fn parse(bytes: &[u8], allocator: &Arc<dyn Allocator>) -> Result<HostTensor, NpyError> {
    read(bytes, allocator)
}

/// Reads the bytes of a file of numbers or strings.
pub fn parse_array(bytes: &[u8], allocator: &Arc<dyn Allocator>) -> Result<Array, NpyError> {
    read_array(bytes, allocator)
}

/// Reads numbers from a reader to its end.
pub fn read(reader: impl Read, allocator: &Arc<dyn Allocator>) -> Result<HostTensor, NpyError> {
    match read_array(reader, allocator)? {
        Array::Numbers(tensor) => Ok(tensor),
        Array::Strings(_) => {
            let problem = "expected numbers, got strings";
            Err(NpyError::DType { descr: "S or U".to_owned(), problem })
        }
    }
}

/// The layout of a file of numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NpyLayout {
    /// The element type.
    pub dtype: DType,
    /// The dimensions.
    pub shape: Shape,
    /// The byte offset of the first element in the file.
    pub at: u64,
    /// True if the bytes are those of a tensor: in C order, of the machine's byte order, and no booleans,
    /// which may be any byte in a file.
    pub is_plain: bool,
}

/// Reads the header of a file of numbers, for readers of parts of the file.
///
/// # Errors
/// If it is malformed, or the elements are no numbers.
pub fn layout(mut reader: impl Read) -> Result<NpyLayout, NpyError> {
    let (Header { element, fortran_order, shape }, at) = read_header(&mut reader)?;
    let NpyElement::Number { dtype, big_endian } = element else {
        return Err(NpyError::DType { descr: "S or U".to_owned(), problem: "expected numbers, got strings" });
    };
    let is_plain = !fortran_order && big_endian == cfg!(target_endian = "big") && dtype != DType::I1;
    Ok(NpyLayout { dtype, shape, at: at as u64, is_plain })
}

/// Reads numbers or strings from a reader to its end.
pub fn read_array(mut reader: impl Read, allocator: &Arc<dyn Allocator>) -> Result<Array, NpyError> {
    let (header, _) = read_header(&mut reader)?;
    let want = header.shape.num_elements().checked_mul(header.element.size());
    let want = want.filter(|&want| isize::try_from(want).is_ok()).ok_or(TensorError::TooLarge)?;
    let first = read_up_to(&mut reader, want.min(FIRST))?;
    if first.len() < want.min(FIRST) {
        return Err(NpyError::Truncated { want, got: first.len() });
    }
    let array = array_of(&header, (&first, want), &mut reader, allocator)?;
    if read_up_to(&mut reader, 1)?.is_empty() { Ok(array) } else { Err(NpyError::Trailing) }
}

/// The header, and the number of bytes up to the elements.
fn read_header(reader: &mut impl Read) -> Result<(Header, usize), NpyError> {
    let prelude = read_up_to(reader, MAGIC.len() + 2)?;
    if !prelude.starts_with(MAGIC) {
        return Err(NpyError::Magic);
    }
    let &[major, minor] = &prelude[MAGIC.len()..] else { return Err(NpyError::TruncatedHeader) };
    let n_len_bytes = match (major, minor) {
        (1, 0) => 2,
        (2 | 3, 0) => 4,
        _ => return Err(NpyError::Version { major, minor }),
    };
    let len = match read_up_to(reader, n_len_bytes)?[..] {
        [a, b] if n_len_bytes == 2 => u32::from(u16::from_le_bytes([a, b])),
        [a, b, c, d] => u32::from_le_bytes([a, b, c, d]),
        _ => return Err(NpyError::TruncatedHeader),
    };
    if len > MAX_HEADER {
        return Err(NpyError::LongHeader { len });
    }
    let text = read_up_to(reader, len as usize)?;
    if text.len() < len as usize {
        return Err(NpyError::TruncatedHeader);
    }
    let at = prelude.len() + n_len_bytes;
    Ok((header::parse(&text, at)?, at + len as usize))
}

/// The number of bytes of elements that are read before memory for all of them is allocated, since a header
/// may claim any size.
const FIRST: usize = 1 << 20;

/// Reads the next `limit` bytes, or fewer at the end of the file. Memory grows with the bytes read.
fn read_up_to(reader: &mut impl Read, limit: usize) -> Result<Vec<u8>, NpyError> {
    let mut bytes = Vec::new();
    reader.take(limit as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads the array of `want` bytes, of which `first` was read already.
fn array_of(
    header: &Header,
    (first, want): (&[u8], usize),
    reader: &mut impl Read,
    allocator: &Arc<dyn Allocator>,
) -> Result<Array, NpyError> {
    let Header { ref element, fortran_order, ref shape } = *header;
    let (dtype, big_endian) = match *element {
        NpyElement::Number { dtype, big_endian } => (dtype, big_endian),
        NpyElement::String { kind, size } => {
            let mut elements = all_of(want, first, reader)?;
            if fortran_order {
                let mut ordered = filled(want, 0)?;
                copy_transposed(shape, size, &elements, &mut ordered);
                elements = ordered;
            }
            return strings::of_elements(kind, size, shape, &elements, allocator).map(Array::Strings);
        }
    };
    let tensor = HostTensor::allocate(dtype, shape.clone(), allocator)?;
    {
        let mut out = tensor.write_bytes()?;
        if fortran_order {
            let elements = all_of(want, first, reader)?;
            copy_transposed(shape, dtype.size(), &elements, &mut out);
        } else {
            fill(&mut out, first, reader)?;
        }
        if big_endian != cfg!(target_endian = "big") {
            swap_bytes(dtype, &mut out);
        }
        if dtype == DType::I1 {
            out.iter_mut().for_each(|b| *b = u8::from(*b != 0));
        }
    }
    Ok(Array::Numbers(tensor))
}

/// Fills `all` with `first`, which was read already, and then from the reader.
fn fill(all: &mut [u8], first: &[u8], reader: &mut impl Read) -> Result<(), NpyError> {
    let want = all.len();
    let (start, rest) = all.split_at_mut(first.len());
    start.copy_from_slice(first);
    let mut got = first.len();
    for part in rest.chunks_mut(FIRST) {
        let mut at = 0;
        while at < part.len() {
            match reader.read(&mut part[at..]) {
                Ok(0) => return Err(NpyError::Truncated { want, got: got + at }),
                Ok(n) => at += n,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        got += part.len();
    }
    Ok(())
}

/// The array's `want` bytes, of which `first` was read already. Memory grows with the bytes read.
fn all_of(want: usize, first: &[u8], reader: &mut impl Read) -> Result<Vec<u8>, NpyError> {
    let mut all = copied(first)?;
    reader.take((want - first.len()) as u64).read_to_end(&mut all)?;
    if all.len() < want {
        return Err(NpyError::Truncated { want, got: all.len() });
    }
    Ok(all)
}

/// Copies elements of `size` bytes from Fortran order to C order.
fn copy_transposed(shape: &Shape, size: usize, from: &[u8], out: &mut [u8]) {
    let dims = shape.dims();
    let mut index = vec![0usize; dims.len()];
    let strides: Vec<usize> = dims
        .iter()
        .scan(1usize, |stride, &dim| {
            let this = *stride;
            *stride *= dim.max(1); // fits: the shape's invariant
            Some(this)
        })
        .collect();
    for element in out.chunks_exact_mut(size) {
        let position: usize = index.iter().zip(&strides).map(|(i, stride)| i * stride).sum();
        element.copy_from_slice(&from[position * size..(position + 1) * size]);
        // The next index, last axis fastest.
        for (i, &dim) in index.iter_mut().zip(dims).rev() {
            *i += 1;
            if *i < dim {
                break;
            }
            *i = 0;
        }
    }
}

fn swap_bytes(dtype: DType, bytes: &mut [u8]) {
    let number = match dtype {
        DType::Complex64 | DType::Complex128 => dtype.size() / 2,
        _ => dtype.size(),
    };
    bytes.chunks_exact_mut(number).for_each(<[u8]>::reverse);
}
