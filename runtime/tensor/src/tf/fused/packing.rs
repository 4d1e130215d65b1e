//! Packing of constant weights, piece by piece.
//!
//! ```text
//! header │ step 0 │ step 1 │ ...      a step: 32 columns of one row (`matmul::PackedMatrix`)
//!        │ unit 0 │ unit 1 │ ...      a unit: 16 columns of some rows (`narrow::NarrowMatrix`)
//! ```
//!
//! Every step depends on a few elements of the weights only. So the pieces of the packed form can be computed
//! independently, on any thread, and a writer of files needs memory for a few pieces instead of all weights.

use super::weights::{Algorithm, HEADER, WeightsKind, header, n_bytes};
use crate::conv::{Patch, pack_transformed};
use crate::error::invalid;
use crate::gemm::Matrix;
use crate::matmul::{StoredFloat, each_panel, pack_panel};
use crate::narrow::{self, Precision};
use crate::simd::{PANEL, PanelGroup, PanelStep};
use crate::{Shape, TensorError};

/// The packed form of constant weights of one shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Packing {
    kind: WeightsKind,
    /// The dimensions, as in [`super::Weights::dims`].
    dims: [usize; 4],
    /// True if the matrix is given with rows and columns exchanged.
    is_transposed: bool,
    /// The precision of the elements; `None` for f32.
    precision: Option<Precision>,
    /// The number of bytes, header included.
    len: usize,
}

impl Packing {
    /// The packing of the right matrix of a product: k by n, or n by k if it is transposed.
    pub fn matrix(shape: &Shape, is_transposed: bool) -> Result<Packing, TensorError> {
        let &[rows, cols] = shape.dims() else {
            return Err(TensorError::Rank { what: "b", want: 2, got: shape.clone() });
        };
        let (k, n) = if is_transposed { (cols, rows) } else { (rows, cols) };
        Packing::new(WeightsKind::Matrix, [1, 1, k, n], is_transposed)
    }

    /// The packing of the filters of a `Conv2D` without groups: height, width, channels, out channels.
    pub fn filters(shape: &Shape, algorithm: Algorithm) -> Result<Packing, TensorError> {
        let kind = match algorithm {
            Algorithm::Direct => WeightsKind::Filters,
            Algorithm::Winograd(Patch::Two) => WeightsKind::Winograd2,
            Algorithm::Winograd(Patch::Four) => WeightsKind::Winograd4,
        };
        let dims = filter_dims(shape)?;
        if kind.patch().is_some() && dims[..2] != [3, 3] {
            return invalid("weights", format!("filters of shape {shape} are not of 3 by 3"));
        }
        Packing::new(kind, dims, false)
    }

    /// The packing of the filters of a `DepthwiseConv2dNative`: height, width, channels, multiplier.
    pub fn depthwise(shape: &Shape) -> Result<Packing, TensorError> {
        Packing::new(WeightsKind::Depthwise, filter_dims(shape)?, false)
    }

    fn new(kind: WeightsKind, dims: [usize; 4], is_transposed: bool) -> Result<Packing, TensorError> {
        Ok(Packing { kind, dims, is_transposed, precision: None, len: n_bytes(kind, dims, None)? })
    }

    /// The packing in a lower precision. Fails unless the weights are a matrix or filters that are not
    /// transformed.
    pub fn with_precision(self, precision: Precision) -> Result<Packing, TensorError> {
        let len = n_bytes(self.kind, self.dims, Some(precision))?;
        Ok(Packing { precision: Some(precision), len, ..self })
    }

    /// The kind of the packed weights.
    pub fn kind(&self) -> WeightsKind {
        self.kind
    }

    /// The dimensions, as in [`super::Weights::dims`].
    pub fn dims(&self) -> [usize; 4] {
        self.dims
    }

    /// True if the matrix is given with rows and columns exchanged.
    pub fn is_transposed(&self) -> bool {
        self.is_transposed
    }

    /// The number of bytes of the packed form.
    pub fn n_bytes(&self) -> usize {
        self.len
    }

    /// Writes to `piece` the bytes of the packed form from `start` on. `weights` are floats in little-endian
    /// bytes. `start` and the lengths of all pieces but the last are multiples of 128, and the piece is
    /// aligned for floats.
    pub fn fill(&self, weights: &[u8], start: usize, piece: &mut [u8]) {
        const {
            assert!(HEADER == size_of::<PanelStep>());
        }
        let (head, panels) = piece.split_at_mut(if start == 0 { HEADER.min(piece.len()) } else { 0 });
        head.copy_from_slice(&header(self.kind, self.dims, self.precision)[..head.len()]);
        let behind = start.saturating_sub(HEADER);
        // Floats of this machine are packed by its instructions.
        match bytemuck::try_cast_slice::<u8, f32>(weights) {
            Ok(numbers) if cfg!(target_endian = "little") => self.fill_panels(numbers, behind, panels),
            _ => self.fill_panels::<[u8; 4]>(weights.as_chunks().0, behind, panels),
        }
    }

    /// The part of [`Packing::fill`] behind the header, from byte `behind` of it on.
    fn fill_panels<T: StoredFloat>(&self, numbers: &[T], behind: usize, panels: &mut [u8]) {
        let [height, width, channels, outs] = self.dims;
        let k = height * width * channels;
        let matrix = || {
            if self.is_transposed {
                Matrix::new(numbers, outs, k).transposed()
            } else {
                Matrix::new(numbers, k, outs)
            }
        };
        if let Some(precision) = self.precision {
            let units: &mut [PanelGroup] = bytemuck::cast_slice_mut(panels);
            return narrow::fill(precision, &matrix(), behind / size_of::<PanelGroup>(), units);
        }
        let panels: &mut [f32] = bytemuck::cast_slice_mut(panels);
        let first = behind / size_of::<f32>();
        if self.kind == WeightsKind::Depthwise {
            panels.iter_mut().zip(&numbers[first..]).for_each(|(to, x)| *to = x.float());
        } else if let Some(patch) = self.kind.patch() {
            let k = patch.reads() * patch.reads() * channels;
            each_panel(k, first / PANEL, panels, |panel, rows, steps| {
                pack_transformed(patch, numbers, (channels, outs), (panel, rows), steps);
            });
        } else {
            let matrix = matrix();
            each_panel(k, first / PANEL, panels, |panel, row, steps| pack_panel(&matrix, panel, row, steps));
        }
        if cfg!(target_endian = "big") {
            panels.iter_mut().for_each(|x| *x = f32::from_bits(x.to_bits().to_le()));
        }
    }
}

fn filter_dims(shape: &Shape) -> Result<[usize; 4], TensorError> {
    let dims = shape.dims().try_into();
    dims.map_err(|_| TensorError::Rank { what: "filter", want: 4, got: shape.clone() })
}
