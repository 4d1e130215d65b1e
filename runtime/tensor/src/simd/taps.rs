//! What one tap of neighbouring windows has to do with gradients where channels do not mix: those of depthwise convolutions and poolings.
//!
//! A tap's pixels lie `step` numbers apart, window by window; a window has as many channels as a pixel. What belongs to windows lies side by side.

#![allow(
    clippy::needless_range_loop,
    reason = "indices, not iterators, which are only as good as the build's inlining"
)]

use super::functions::fma;

/// Two registers of the widest kind.
const LANES: usize = 32;

/// No tap.
pub(crate) const NO_TAP: u32 = u32::MAX;

/// Each pixel takes its window's gradient times the tap's weights, one for each channel.
#[inline(always)]
pub(super) fn add_products<const FMA: bool>(
    dy: &[f32],
    weights: &[f32],
    (pixels, step): (&mut [f32], usize),
) {
    let channels = weights.len();
    for (i, dy) in dy.chunks_exact(channels).enumerate() {
        let pixel = &mut pixels[i * step..][..channels];
        for c in 0..channels {
            pixel[c] = fma::<FMA>(dy[c], weights[c], pixel[c]);
        }
    }
}

/// The weights take the sum of pixels times gradients, which is made apart first: many small numbers would be lost in a large one.
#[inline(always)]
pub(super) fn sum_products<const FMA: bool>(
    dy: &[f32],
    (pixels, step): (&[f32], usize),
    weights: &mut [f32],
) {
    let channels = weights.len();
    let windows = dy.len() / channels;
    for (part, weights) in weights.chunks_mut(LANES).enumerate() {
        let from = part * LANES;
        let mut sums = [0.0; LANES];
        if let Ok(weights) = <&mut [f32; LANES]>::try_from(&mut *weights) {
            for i in 0..windows {
                let pixel = &pixels[i * step + from..][..LANES];
                let dy = &dy[i * channels + from..][..LANES];
                for c in 0..LANES {
                    sums[c] = fma::<FMA>(pixel[c], dy[c], sums[c]);
                }
            }
            for c in 0..LANES {
                weights[c] += sums[c];
            }
        } else {
            let rest = weights.len();
            for i in 0..windows {
                let pixel = &pixels[i * step + from..][..rest];
                let dy = &dy[i * channels + from..][..rest];
                for c in 0..rest {
                    sums[c] = fma::<FMA>(pixel[c], dy[c], sums[c]);
                }
            }
            for c in 0..rest {
                weights[c] += sums[c];
            }
        }
    }
}

/// Where a window's pixel is larger than all before, or the first NaN, it is `best`, and `at` is its tap.
#[inline(always)]
pub(super) fn keep_largest(
    (pixels, step): (&[f32], usize),
    (tap, channels): (u32, usize),
    best: &mut [f32],
    at: &mut [u32],
) {
    let windows = best.chunks_exact_mut(channels).zip(at.chunks_exact_mut(channels));
    for (i, (best, at)) in windows.enumerate() {
        let pixel = &pixels[i * step..][..channels];
        for c in 0..channels {
            // Not short-circuited: every operand is there, and there are no branches in vectors.
            let beats = (pixel[c] > best[c]) | (pixel[c].is_nan() & !best[c].is_nan()) | (at[c] == NO_TAP);
            best[c] = if beats { pixel[c] } else { best[c] };
            at[c] = if beats { tap } else { at[c] };
        }
    }
}

/// Each pixel takes its window's gradient where the window's largest pixel was this tap's.
#[inline(always)]
pub(super) fn add_where(
    dy: &[f32],
    at: &[u32],
    (tap, channels): (u32, usize),
    (pixels, step): (&mut [f32], usize),
) {
    let windows = dy.chunks_exact(channels).zip(at.chunks_exact(channels));
    for (i, (dy, at)) in windows.enumerate() {
        let pixel = &mut pixels[i * step..][..channels];
        for c in 0..channels {
            pixel[c] += if at[c] == tap { dy[c] } else { 0.0 };
        }
    }
}
