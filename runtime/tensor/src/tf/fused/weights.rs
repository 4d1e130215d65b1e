//! Constant weights in packed form: a tensor of bytes that can be stored in a file and mapped.
//!
//! ```text
//! 0    "BFWT"  u32 version (1)  u32 kind  u32 element: 0 f32, 1 bf16, 2 i8
//! 16   u64 x 4 dimensions: 1, 1, k, n of a matrix; height, width, channels, out channels of filters
//!      (depthwise: height, width, channels, multiplier)
//! 48   zeros
//! 128  f32 ...  panels of 32 columns (matmul::PackedMatrix); depthwise filters are not packed
//!      bf16 or i8 ...  panels of 16 columns (narrow::NarrowMatrix)
//! ```
//!
//! Header and elements are little-endian. A tensor of bytes begins at a multiple of 64, and so do the
//! elements, which are used in place. The layout is the same on every machine; the kernel that reads it is
//! chosen at run time.

use crate::conv::Patch;
use crate::error::invalid;
use crate::matmul::PackedMatrix;
use crate::mem::ReadGuard;
use crate::narrow::{NarrowMatrix, Precision};
use crate::{HostTensor, Shape, TensorError};

use std::ops::Deref;

const OP: &str = "weights";
const MAGIC: &[u8; 4] = b"BFWT";
const VERSION: u32 = 1;
/// The offset of the elements.
pub(super) const HEADER: usize = 128;

/// The kind of packed weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WeightsKind {
    /// The right matrix of a product.
    Matrix,
    /// The filters of a convolution.
    Filters,
    /// 3x3 filters, transformed for `F(2x2, 3x3)`.
    Winograd2,
    /// 3x3 filters, transformed for `F(4x4, 3x3)`.
    Winograd4,
    /// Depthwise filters.
    Depthwise,
}

/// The kinds, at the index that is their code in the header.
const KINDS: [WeightsKind; 5] = [
    WeightsKind::Matrix,
    WeightsKind::Filters,
    WeightsKind::Winograd2,
    WeightsKind::Winograd4,
    WeightsKind::Depthwise,
];

impl WeightsKind {
    /// The Winograd patch of transformed filters.
    pub(super) fn patch(self) -> Option<Patch> {
        match self {
            WeightsKind::Winograd2 => Some(Patch::Two),
            WeightsKind::Winograd4 => Some(Patch::Four),
            WeightsKind::Matrix | WeightsKind::Filters | WeightsKind::Depthwise => None,
        }
    }
}

/// The algorithm of a convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// The matrix product of windows and filters.
    Direct,
    /// Winograd's algorithm, with fewer multiplications, for 3x3 filters with stride and dilation 1 only.
    /// Results differ from those of the direct algorithm by up to 1e-4 of the largest result. An infinity or
    /// NaN may affect all results of its patch. A compiler attribute disables the algorithm.
    Winograd(Patch),
}

impl Algorithm {
    /// The fastest algorithm for filters (height, width, channels, out channels) and results of `plane`
    /// pixels.
    pub fn fastest(
        filter: [usize; 4],
        strides: (usize, usize),
        dilations: (usize, usize),
        plane: (usize, usize),
    ) -> Algorithm {
        let [height, width, channels, outs] = filter;
        let fits = (height, width) == (3, 3) && strides == (1, 1) && dilations == (1, 1);
        let patch = if fits { Patch::fastest(channels, outs, plane) } else { None };
        patch.map_or(Algorithm::Direct, Algorithm::Winograd)
    }
}

/// Constant weights in packed form.
#[derive(Clone, Debug)]
pub struct Weights {
    kind: WeightsKind,
    dims: [usize; 4],
    /// The precision of the elements; `None` for f32.
    precision: Option<Precision>,
    bytes: HostTensor,
}

/// The precisions, at the index that is their code in the header.
const PRECISIONS: [Option<Precision>; 3] = [None, Some(Precision::Bf16), Some(Precision::Int8)];

/// The header of packed weights.
pub(super) fn header(kind: WeightsKind, dims: [usize; 4], precision: Option<Precision>) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    let code = KINDS.iter().position(|k| *k == kind).unwrap_or_default() as u32;
    header[..4].copy_from_slice(MAGIC);
    header[4..8].copy_from_slice(&VERSION.to_le_bytes());
    header[8..12].copy_from_slice(&code.to_le_bytes());
    let element = PRECISIONS.iter().position(|p| *p == precision).unwrap_or_default() as u32;
    header[12..16].copy_from_slice(&element.to_le_bytes());
    for (to, dim) in header[16..48].as_chunks_mut::<8>().0.iter_mut().zip(dims) {
        *to = (dim as u64).to_le_bytes();
    }
    header
}

/// The number of bytes of packed weights, header included.
pub(super) fn n_bytes(
    kind: WeightsKind,
    dims: [usize; 4],
    precision: Option<Precision>,
) -> Result<usize, TensorError> {
    let [height, width, channels, outs] = dims;
    // A shape's invariant bounds every product of dimensions.
    let rows = Shape::new(&[height, width, channels])?.num_elements();
    let all = Shape::new(&dims)?.num_elements();
    let floats = match (precision, kind, kind.patch()) {
        (Some(precision), WeightsKind::Matrix | WeightsKind::Filters, _) => {
            let len = NarrowMatrix::packed_len(precision, rows, outs)?;
            return len.checked_add(HEADER).ok_or(TensorError::TooLarge);
        }
        (Some(precision), ..) => {
            return invalid(OP, format!("weights packed as {kind:?} are not of {precision:?}"));
        }
        (None, WeightsKind::Depthwise, _) => all,
        (None, _, Some(patch)) => {
            let positions = patch.reads() * patch.reads();
            let rows = channels.checked_mul(positions).ok_or(TensorError::TooLarge)?;
            PackedMatrix::packed_len(rows, outs)?
        }
        (None, _, None) => PackedMatrix::packed_len(rows, outs)?,
    };
    floats.checked_mul(size_of::<f32>()).and_then(|len| len.checked_add(HEADER)).ok_or(TensorError::TooLarge)
}

impl Weights {
    /// The weights in a tensor of packed bytes, such as a tensor in a mapped file. Fails if the bytes are not
    /// packed weights.
    pub fn from_tensor(bytes: HostTensor) -> Result<Weights, TensorError> {
        let weights = {
            let from = bytes.read_as::<u8>("weights")?;
            let word = |at: usize| from.get(at..)?.first_chunk::<4>().map(|x| u32::from_le_bytes(*x));
            let dim = |i: usize| {
                let chunk = from.get(16 + 8 * i..)?.first_chunk::<8>()?;
                usize::try_from(u64::from_le_bytes(*chunk)).ok()
            };
            let kind = word(8).and_then(|code| KINDS.get(code as usize)).copied();
            let precision = word(12).and_then(|code| PRECISIONS.get(code as usize)).copied();
            let is_ours = from.starts_with(MAGIC) && word(4) == Some(VERSION);
            let (Some(kind), Some(precision), [Some(a), Some(b), Some(c), Some(d)], true) =
                (kind, precision, [0, 1, 2, 3].map(dim), is_ours && cfg!(target_endian = "little"))
            else {
                return invalid(OP, format!("{} bytes that are no packed weights", from.len()));
            };
            Weights { kind, dims: [a, b, c, d], precision, bytes: bytes.clone() }
        };
        let want = n_bytes(weights.kind, weights.dims, weights.precision)?;
        let dims = weights.dims;
        if want != bytes.num_elements() || !bytes.buffer()?.address().is_multiple_of(align_of::<f32>()) {
            let problem =
                format!("{} bytes are not those of weights of shape {dims:?}", bytes.num_elements());
            return invalid(OP, problem);
        }
        Ok(weights)
    }

    /// The tensor of packed bytes.
    pub fn tensor(&self) -> &HostTensor {
        &self.bytes
    }

    /// The kind of the weights.
    pub fn kind(&self) -> WeightsKind {
        self.kind
    }

    /// The precision of the elements; `None` for f32.
    pub fn precision(&self) -> Option<Precision> {
        self.precision
    }

    /// Height, width, channels and out channels of filters; 1, 1, rows and columns of a matrix.
    pub fn dims(&self) -> [usize; 4] {
        self.dims
    }

    /// The dimensions, if the weights have one of the kinds.
    pub(in crate::tf) fn expect(
        &self,
        op: &'static str,
        kinds: &[WeightsKind],
    ) -> Result<[usize; 4], TensorError> {
        if kinds.contains(&self.kind) {
            return Ok(self.dims);
        }
        invalid(op, format!("weights that were packed as {:?}", self.kind))
    }

    /// The elements after the header.
    pub(in crate::tf) fn numbers(&self) -> Result<Stored<'_>, TensorError> {
        Ok(Stored(self.bytes.read_bytes()?))
    }

    /// The elements after the header as panels of this precision.
    pub(super) fn narrow<'p>(
        &self,
        precision: Precision,
        stored: &'p Stored<'_>,
    ) -> Result<NarrowMatrix<'p>, TensorError> {
        let [height, width, channels, outs] = self.dims;
        NarrowMatrix::new(precision, height * width * channels, outs, &stored.0[HEADER..])
    }

    /// The elements as panels.
    pub(in crate::tf) fn packed<'p>(&self, numbers: &'p [f32]) -> Result<PackedMatrix<'p>, TensorError> {
        let [height, width, channels, outs] = self.dims;
        let positions = self.kind.patch().map_or(height * width, |patch| patch.reads() * patch.reads());
        PackedMatrix::from_panels(positions * channels, outs, numbers) // fits, as `n_bytes` checked
    }
}

/// Weights borrowed for reading.
pub(in crate::tf) struct Stored<'a>(ReadGuard<'a>);

impl Deref for Stored<'_> {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        // `from_tensor` checked the address, and the length is a multiple of 4. If the cast failed, the slice
        // would be empty, and the product would fail its check of the length.
        bytemuck::try_cast_slice(&self.0[HEADER..]).unwrap_or_default()
    }
}
