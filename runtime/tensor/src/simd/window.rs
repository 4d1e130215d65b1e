//! What becomes of a window's pixels where channels do not mix: poolings and depthwise convolutions.

#![allow(
    clippy::needless_range_loop,
    reason = "indices, not iterators, which are only as good as the build's inlining"
)]

use super::functions::fma;

/// How pixels become one, channel by channel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fold<'a> {
    /// The largest; NaN if one is.
    Max,
    /// The mean.
    Mean,
    /// The sum of products with a filter: a number for each channel of each tap.
    Weighted(&'a [f32]),
}

/// Channels at a time: the sums stay in registers.
const CHUNK: usize = 32;

/// `out` becomes the fold of `pixels`, which come with the numbers of their taps and have as many channels as `out`.
#[inline(always)]
pub(super) fn fold<const FMA: bool>(fold: Fold<'_>, pixels: &[(usize, &[f32])], out: &mut [f32]) {
    let channels = out.len();
    for (at, out) in out.chunks_mut(CHUNK).enumerate() {
        let from = at * CHUNK;
        if let Ok(out) = <&mut [f32; CHUNK]>::try_from(&mut *out) {
            *out = chunk::<FMA, CHUNK>(fold, channels, from, pixels);
            continue;
        }
        for (from, out) in (from..).zip(out) {
            [*out] = chunk::<FMA, 1>(fold, channels, from, pixels);
        }
    }
}

#[inline(always)]
fn chunk<const FMA: bool, const N: usize>(
    fold: Fold<'_>,
    channels: usize,
    from: usize,
    pixels: &[(usize, &[f32])],
) -> [f32; N] {
    let mut sums = [0.0; N];
    match fold {
        Fold::Max => {
            sums = [f32::NEG_INFINITY; N];
            for (_, x) in pixels {
                let x = &x[from..from + N];
                for j in 0..N {
                    let take = x[j] > sums[j] || x[j].is_nan();
                    sums[j] = if take { x[j] } else { sums[j] };
                }
            }
        }
        Fold::Mean => {
            for (_, x) in pixels {
                let x = &x[from..from + N];
                for j in 0..N {
                    sums[j] += x[j];
                }
            }
            let count = pixels.len() as f32;
            for j in 0..N {
                sums[j] /= count;
            }
        }
        Fold::Weighted(filter) => {
            for (tap, x) in pixels {
                let (x, filter) = (&x[from..from + N], &filter[tap * channels + from..][..N]);
                for j in 0..N {
                    sums[j] = fma::<FMA>(x[j], filter[j], sums[j]);
                }
            }
        }
    }
    sums
}
