//! The transform of 3x3 filters for Winograd's convolution, `G g Gt`, for a panel of out channels at once.

#![allow(
    clippy::needless_range_loop,
    reason = "indices, not iterators, which are only as good as the build's inlining"
)]

use super::functions::fma;
use super::{PANEL, PanelStep};

/// The taps of a 3x3 filter, of a panel of out channels.
pub(crate) type FilterTaps = [PanelStep; 9];

/// `x[0] * row[0] + x[1] * row[1] + x[2] * row[2]`.
#[inline(always)]
fn combined<const FMA: bool>(row: [f32; 3], x: [&PanelStep; 3]) -> PanelStep {
    let mut sums = [0.0; PANEL];
    for i in 0..PANEL {
        sums[i] = fma::<FMA>(x[2][i], row[2], fma::<FMA>(x[1][i], row[1], x[0][i] * row[0]));
    }
    sums
}

/// Sets the steps of `out` that are `distance` apart to the positions of the transformed filter. `g` are the
/// rows of G, at most 6.
#[inline(always)]
pub(super) fn transform<const FMA: bool>(
    g: &[[f32; 3]],
    taps: &FilterTaps,
    out: &mut [PanelStep],
    distance: usize,
) {
    for (p, &down) in g.iter().enumerate() {
        let half = [0, 1, 2].map(|j| combined::<FMA>(down, [&taps[j], &taps[3 + j], &taps[6 + j]]));
        for (q, &across) in g.iter().enumerate() {
            out[(p * g.len() + q) * distance] = combined::<FMA>(across, [&half[0], &half[1], &half[2]]);
        }
    }
}
