//! Reader for BTF, TFRT's file format for tensors (reference, 2.9).
//!
//! ```text
//! n: u64 | offset: u64 x n | records, each at a multiple of 8
//! record: rank: u64, dtype: u8, layout: u8, 6 bytes, dims: u64 x rank, payload
//! dense payload: the elements
//! COO payload: the index matrix, n: u64, rank: u64, i64 x n x rank; then the n values
//! ```
//!
//! Numbers are little-endian. Files are untrusted: every size is compared with the file's size before memory
//! is allocated for it.

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

use crate::mem::Allocator;
use crate::{CooTensor, DType, HostTensor, MAX_RANK, Shape, TensorError};

/// The reason why a tensor could not be read.
#[derive(Debug)]
pub enum BtfError {
    /// The file could not be read, or is too short.
    Io(io::Error),
    /// The file has no tensor of this number.
    NoTensor {
        /// The requested number.
        index: u64,
        /// The number of tensors in the file.
        n: u64,
    },
    /// The file is malformed.
    Malformed(String),
    /// The tensor has another dtype, rank or layout than requested.
    Other(String),
    /// The tensor could not be created.
    Tensor(TensorError),
}

impl fmt::Display for BtfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BtfError::Io(error) => error.fmt(f),
            BtfError::NoTensor { index, n } => write!(f, "there is no tensor {index} in a file of {n}"),
            BtfError::Malformed(what) => write!(f, "malformed: {what}"),
            BtfError::Other(what) => f.write_str(what),
            BtfError::Tensor(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for BtfError {}

impl From<io::Error> for BtfError {
    fn from(error: io::Error) -> BtfError {
        BtfError::Io(error)
    }
}

impl From<TensorError> for BtfError {
    fn from(error: TensorError) -> BtfError {
        BtfError::Tensor(error)
    }
}

/// The expected type of a tensor.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Its element type.
    pub dtype: DType,
    /// Its rank.
    pub rank: usize,
}

/// The storage layout of the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    Dense,
    Coo,
}

fn word(file: &mut impl Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    file.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

/// The dtype with this code of the file format.
fn dtype(code: u8) -> Option<DType> {
    const CODES: [DType; 10] = [
        DType::I8,
        DType::I16,
        DType::I32,
        DType::I64,
        DType::F32,
        DType::F64,
        DType::UI8,
        DType::UI16,
        DType::UI32,
        DType::UI64,
    ];
    CODES.get(usize::from(code)).copied()
}

/// The header of a record; the file is positioned at its payload.
struct Record {
    shape: Shape,
    dtype: DType,
    /// Bytes from here to the end of the file.
    left: u64,
}

fn open(file: &mut (impl Read + Seek), index: u64, want: Wanted, layout: Layout) -> Result<Record, BtfError> {
    let size = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(0))?;
    let n = word(file)?;
    if index >= n {
        return Err(BtfError::NoTensor { index, n });
    }
    let entry = index.checked_add(1).and_then(|i| i.checked_mul(8)).filter(|at| *at < size);
    let entry = entry.ok_or_else(|| BtfError::Malformed(format!("no room for {n} offsets")))?;
    file.seek(SeekFrom::Start(entry))?;
    let offset = word(file)?;
    if !offset.is_multiple_of(8) || offset >= size {
        return Err(BtfError::Malformed(format!("tensor {index} is at {offset} in a file of {size} bytes")));
    }
    file.seek(SeekFrom::Start(offset))?;
    let rank = word(file)?;
    let mut codes = [0; 8];
    file.read_exact(&mut codes)?;
    let [dtype_code, layout_code, ..] = codes;
    let rank = usize::try_from(rank).ok().filter(|rank| *rank <= MAX_RANK);
    let rank = rank.ok_or_else(|| BtfError::Malformed(format!("tensor {index} has too many dimensions")))?;
    let found = dtype(dtype_code)
        .ok_or_else(|| BtfError::Malformed(format!("tensor {index} has the element type {dtype_code}")))?;
    // The specification says 2 for COO; TFRT's code says 1.
    let found_layout = match layout_code {
        0 => Layout::Dense,
        1 | 2 => Layout::Coo,
        code => return Err(BtfError::Malformed(format!("tensor {index} has the layout {code}"))),
    };
    if (found, rank, found_layout) != (want.dtype, want.rank, layout) {
        return Err(BtfError::Other(format!(
            "tensor {index} is {found_layout:?}, of {found} and rank {rank}; {layout:?}, of {} and rank {} was asked for",
            want.dtype, want.rank
        )));
    }
    let mut dims = Vec::with_capacity(rank);
    for _ in 0..rank {
        let dim = word(file)?;
        dims.push(usize::try_from(dim).map_err(|_| TensorError::TooLarge)?);
    }
    let left = size.saturating_sub(file.stream_position()?);
    Ok(Record { shape: Shape::new(&dims)?, dtype: found, left })
}

/// Reads elements. The file must have enough of them.
fn elements(
    file: &mut impl Read,
    left: &mut u64,
    dtype: DType,
    shape: Shape,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, BtfError> {
    let size = shape.num_bytes(dtype)? as u64;
    *left = left
        .checked_sub(size)
        .ok_or_else(|| BtfError::Malformed(format!("{size} bytes of elements, but {left} in the file")))?;
    let tensor = HostTensor::allocate(dtype, shape, allocator)?;
    file.read_exact(&mut tensor.write_bytes()?)?;
    Ok(tensor)
}

/// Dense tensor number `index` of a file.
///
/// # Errors
/// If its dtype, rank or layout is another, or the file is malformed or cannot be read.
pub fn read_dense(
    file: &mut (impl Read + Seek),
    index: u64,
    want: Wanted,
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, BtfError> {
    let Record { shape, dtype, mut left } = open(file, index, want, Layout::Dense)?;
    elements(file, &mut left, dtype, shape, allocator)
}

/// Sparse (COO) tensor number `index` of a file. The number of elements is the number of rows of its index
/// matrix.
///
/// # Errors
/// If its dtype, rank or layout is another, or the file is malformed or cannot be read.
pub fn read_coo(
    file: &mut (impl Read + Seek),
    index: u64,
    want: Wanted,
    allocator: &Arc<dyn Allocator>,
) -> Result<CooTensor, BtfError> {
    let Record { shape, dtype, mut left } = open(file, index, want, Layout::Coo)?;
    let (n, rank) = (word(file)?, word(file)?);
    if rank != shape.rank() as u64 {
        let message = format!("places of {rank} indices in a tensor of rank {}", shape.rank());
        return Err(BtfError::Malformed(message));
    }
    left = left.saturating_sub(16);
    let n = usize::try_from(n).map_err(|_| TensorError::TooLarge)?;
    let places = Shape::new(&[n, shape.rank()])?;
    let indices = elements(file, &mut left, DType::I64, places, allocator)?;
    let values = elements(file, &mut left, dtype, Shape::new(&[n])?, allocator)?;
    Ok(CooTensor::new(shape, indices, values)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mem::Malloc;
    use std::io::Cursor;

    /// A file with a dense f32[2] and a COO i32[2x3] with two elements.
    fn file() -> Vec<u8> {
        let word = |n: u64| n.to_le_bytes();
        let mut file = [word(2), word(24), word(56)].concat();
        file.extend([word(1), [4, 0, 0, 0, 0, 0, 0, 0], word(2)].concat());
        file.extend([1.5f32.to_le_bytes(), (-2.0f32).to_le_bytes()].concat());
        file.extend([word(2), [2, 1, 0, 0, 0, 0, 0, 0], word(2), word(3), word(2), word(2)].concat());
        file.extend([word(0), word(1), word(1), word(2)].concat());
        file.extend([7i32.to_le_bytes(), 9i32.to_le_bytes()].concat());
        file
    }

    const DENSE: Wanted = Wanted { dtype: DType::F32, rank: 1 };
    const COO: Wanted = Wanted { dtype: DType::I32, rank: 2 };

    #[test]
    fn tensors_are_read() {
        let (mut file, malloc) = (Cursor::new(file()), Malloc::shared());
        let dense = read_dense(&mut file, 0, DENSE, &malloc).unwrap();
        assert_eq!(*dense.read::<f32>().unwrap(), [1.5, -2.0]);
        let coo = read_coo(&mut file, 1, COO, &malloc).unwrap();
        assert_eq!(*coo.to_dense(&malloc).unwrap().read::<i32>().unwrap(), [0, 7, 0, 0, 0, 9]);
        let wrong = |error: BtfError| error.to_string();
        assert_eq!(
            wrong(read_dense(&mut file, 2, DENSE, &malloc).unwrap_err()),
            "there is no tensor 2 in a file of 2"
        );
        assert!(wrong(read_dense(&mut file, 1, DENSE, &malloc).unwrap_err()).contains("was asked for"));
        assert!(wrong(read_dense(&mut file, 0, COO, &malloc).unwrap_err()).contains("was asked for"));
    }

    #[test]
    fn any_change_is_a_tensor_or_an_error() {
        let (good, malloc) = (file(), Malloc::shared());
        for at in 0..good.len() {
            for value in [0, 1, 0x7F, 0x80, 0xFF] {
                let mut bytes = good.clone();
                bytes[at] = value;
                for bytes in [&bytes[..], &good[..at]] {
                    _ = read_dense(&mut Cursor::new(bytes), 0, DENSE, &malloc);
                    _ = read_coo(&mut Cursor::new(bytes), 1, COO, &malloc);
                }
            }
        }
    }
}
