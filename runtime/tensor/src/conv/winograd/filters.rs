//! The filters of Winograd's convolution, transformed: `G g Gt` of the taps of each channel and out channel.

use std::cell::Cell;
use std::sync::OnceLock;

use crate::TensorError;
use crate::matmul::{AlignedStep, ColumnSource, PackedMatrix, StoredFloat};
use crate::parallel::{PRODUCTS_PER_NS, Parallel, each_part, nanoseconds};
use crate::scratch::grow;
use crate::simd::{Isa, PANEL, PanelStep};

/// The output patch size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Patch {
    /// `F(2x2, 3x3)`.
    Two,
    /// `F(4x4, 3x3)`.
    Four,
}

impl Patch {
    /// The patch with which Winograd's algorithm is the fastest for results of `plane` pixels; `None` where
    /// the direct algorithm is. The table has the time as a fraction of the direct algorithm's time, for
    /// AVX-512, one image and transformed filters, for layers of VGG and ResNet and sizes between them:
    ///
    /// ```text
    /// pixels        7    8    9    10   14   14   14   14   28   28   28   28   56   56   112
    /// channels      512  64   256  128  64   128  256  512  32   64   128  256  64   128  64
    /// F(2x2, 3x3)   0.90 0.82 0.77 0.81 0.84 0.78 0.61 0.51 1.10 0.83 0.69 0.55 0.75 0.65 0.75
    /// F(4x4, 3x3)   1.35 0.88 0.95 1.12 0.73 0.75 0.67 0.56 0.62 0.51 0.54 0.43 0.46 0.48 0.48
    /// ```
    ///
    /// For small images, reading the filters dominates, and transformed filters are larger by factors of 16/9
    /// and 36/9.
    pub(crate) fn fastest(channels: usize, outs: usize, plane: (usize, usize)) -> Option<Patch> {
        // For narrow products and small images the transforms cost more than they save.
        if channels < 32 || outs < 32 {
            return None;
        }
        let is_large = channels.saturating_mul(outs) > 128 * 128;
        match plane.0.min(plane.1) {
            0..8 => None,
            8..12 => Some(Patch::Two),
            12..15 if is_large => Some(Patch::Two),
            _ => Some(Patch::Four),
        }
    }

    /// The side of a patch of the result.
    pub(super) fn yields(self) -> usize {
        match self {
            Patch::Two => 2,
            Patch::Four => 4,
        }
    }

    /// The side of a patch of the image.
    pub(crate) fn reads(self) -> usize {
        self.yields() + 2
    }

    /// The rows of G.
    fn filter_rows(self) -> &'static [[f64; 3]] {
        match self {
            Patch::Two => &[[1.0, 0.0, 0.0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0.0, 0.0, 1.0]],
            Patch::Four => &[
                [0.25, 0.0, 0.0],
                [-1.0 / 6.0, -1.0 / 6.0, -1.0 / 6.0],
                [-1.0 / 6.0, 1.0 / 6.0, -1.0 / 6.0],
                [1.0 / 24.0, 1.0 / 12.0, 1.0 / 6.0],
                [1.0 / 24.0, -1.0 / 12.0, 1.0 / 6.0],
                [0.0, 0.0, 1.0],
            ],
        }
    }
}

/// Transforms filters of shape (3, 3, channels, out channels) and packs the result: rows `from` and on of a
/// panel.
pub(crate) fn pack_transformed<T: StoredFloat>(
    patch: Patch,
    filters: &[T],
    (channels, outs): (usize, usize),
    (panel, from): (usize, usize),
    steps: &mut [PanelStep],
) {
    let (first, factors) = (panel * PANEL, patch.filter_rows());
    let width = PANEL.min(outs - first);
    for (row, step) in (from..).zip(steps) {
        let (position, channel) = (row / channels, row % channels);
        let (down, across) = (factors[position / patch.reads()], factors[position % patch.reads()]);
        let mut sums = [0.0; PANEL];
        for (t, taps) in filters.chunks_exact(channels * outs).enumerate() {
            let factor = down[t / 3] * across[t % 3];
            let taps = &taps[channel * outs + first..][..width];
            sums.iter_mut().zip(taps).for_each(|(sum, tap)| *sum += f64::from(tap.float()) * factor);
        }
        *step = sums.map(|sum| sum as f32);
    }
}

/// Transforms 3x3 filters while they are used, in `space`. The rows of `filters` are the taps' channels.
pub(super) fn transformed<'s>(
    isa: Isa,
    patch: Patch,
    filters: &impl ColumnSource,
    space: &'s mut Vec<AlignedStep>,
    parallel: &dyn Parallel,
) -> Result<PackedMatrix<'s>, TensorError> {
    let (rows, outs) = filters.size();
    let k = rows / 9 * patch.reads() * patch.reads();
    let len = PackedMatrix::packed_len(k, outs)? / PANEL;
    grow(space, len, bytemuck::Zeroable::zeroed)?;
    let steps: &mut [PanelStep] = bytemuck::cast_slice_mut(&mut space[..len]);
    let factors = patch.filter_rows();
    let workers = parallel.workers(nanoseconds(len.saturating_mul(3 * PANEL), PRODUCTS_PER_NS));
    let failed = OnceLock::new();
    each_part(steps.chunks_mut(k.max(1)), workers, parallel, &|panel, steps| {
        let mut taps = TAPS.take();
        if let Err(error) = grow(&mut taps, rows, bytemuck::Zeroable::zeroed) {
            failed.get_or_init(|| error);
            return;
        }
        filters.prepare(panel..panel + 1, 0..rows, &mut taps);
        isa.winograd_filters(factors, bytemuck::cast_slice(&taps[..rows]), steps);
        TAPS.set(taps);
    });
    match failed.into_inner() {
        Some(error) => Err(error),
        None => PackedMatrix::from_panels(k, outs, bytemuck::cast_slice(&space[..len])),
    }
}

thread_local! {
    /// A panel of filters before it is transformed. Taken while in use.
    static TAPS: Cell<Vec<AlignedStep>> = const { Cell::new(Vec::new()) };
}
