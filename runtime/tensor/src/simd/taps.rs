//! Gradients of one tap of neighbouring windows, for channelwise operations: depthwise convolution and
//! pooling.
//!
//! A tap's pixels are `step` elements apart, window by window. Windows and pixels have the same number of
//! channels. Per-window data is contiguous.

#![allow(
    clippy::needless_range_loop,
    reason = "indices, not iterators, which are only as good as the build's inlining"
)]

use super::functions::fma;

/// Two registers of the widest instruction set.
const LANES: usize = 32;

/// The value that stands for no tap.
pub(crate) const NO_TAP: u32 = u32::MAX;

/// Adds each window's gradient times the tap's weights, one per channel, to its pixel.
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

/// Adds the sum of pixels times gradients to the weights. The sum is computed separately first, since many
/// small numbers would be lost in a large weight.
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

/// If a window's pixel is larger than all before, or the first NaN, updates `best` to it and `at` to its tap.
#[inline(always)]
pub(super) fn keep_largest(
    (pixels, step): (&[f32], usize),
    (tap, channels): (u32, usize),
    best: &mut [f32],
    at: &mut [u32],
) {
    for i in 0..best.len() / channels {
        let window = i * channels..(i + 1) * channels;
        let (pixels, rest) = pixels[i * step..][..channels].as_chunks::<LANES>();
        let (bests, best_rest) = best[window.clone()].as_chunks_mut::<LANES>();
        let (ats, at_rest) = at[window].as_chunks_mut::<LANES>();
        for j in 0..pixels.len().min(bests.len()).min(ats.len()) {
            larger(&pixels[j], tap, &mut bests[j], &mut ats[j]);
        }
        larger(rest, tap, best_rest, at_rest);
    }
}

/// [`keep_largest`] for some channels of a window; with a constant number of channels it vectorizes.
#[inline(always)]
fn larger(pixel: &[f32], tap: u32, best: &mut [f32], at: &mut [u32]) {
    for c in 0..pixel.len().min(best.len()).min(at.len()) {
        // Without short-circuiting: all operands are there, and vector code has no branches.
        let beats = (pixel[c] > best[c]) | (pixel[c].is_nan() & !best[c].is_nan()) | (at[c] == NO_TAP);
        best[c] = if beats { pixel[c] } else { best[c] };
        at[c] = if beats { tap } else { at[c] };
    }
}

/// Adds each window's gradient to its pixel where the window's largest pixel was at this tap.
#[inline(always)]
pub(super) fn add_where(
    dy: &[f32],
    at: &[u32],
    (tap, channels): (u32, usize),
    (pixels, step): (&mut [f32], usize),
) {
    for i in 0..dy.len() / channels {
        let window = i * channels..(i + 1) * channels;
        let (pixels, rest) = pixels[i * step..][..channels].as_chunks_mut::<LANES>();
        let (dys, dy_rest) = dy[window.clone()].as_chunks::<LANES>();
        let (ats, at_rest) = at[window].as_chunks::<LANES>();
        for j in 0..pixels.len().min(dys.len()).min(ats.len()) {
            add_if(&dys[j], &ats[j], tap, &mut pixels[j]);
        }
        add_if(dy_rest, at_rest, tap, rest);
    }
}

/// [`add_where`] for some channels of a window.
#[inline(always)]
fn add_if(dy: &[f32], at: &[u32], tap: u32, pixel: &mut [f32]) {
    for c in 0..dy.len().min(at.len()).min(pixel.len()) {
        pixel[c] += if at[c] == tap { dy[c] } else { 0.0 };
    }
}
