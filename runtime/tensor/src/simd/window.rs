//! What becomes of the windows of a line of an image where channels do not mix: poolings and depthwise convolutions.
//!
//! Four neighbouring windows are folded at once, some channels of each: their accumulators stay in registers, and a filter's numbers are read once for
//! all four.

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

/// Neighbouring windows, with the same taps inside of the image.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Windows<'a> {
    /// The lines of the image that they reach, each with the number of tap 0 there.
    pub(crate) lines: &'a [(usize, &'a [f32])],
    /// Where the first window's first tap inside lies in each line.
    pub(crate) start: usize,
    /// The first tap of each line that is inside.
    pub(crate) first_tap: usize,
    /// How many are.
    pub(crate) taps: usize,
    /// From tap to tap.
    pub(crate) tap_step: usize,
    /// From window to window.
    pub(crate) window_step: usize,
    pub(crate) channels: usize,
}

/// `out` becomes the fold of each window, one after another.
#[inline(always)]
pub(super) fn fold<const FMA: bool>(fold: Fold<'_>, windows: &Windows<'_>, out: &mut [f32]) {
    let count = (windows.taps * windows.lines.len()) as f32;
    let larger = |max: f32, x: f32, _: f32| if x > max || x.is_nan() { x } else { max };
    match fold {
        Fold::Max => run::<false>(windows, &[], f32::NEG_INFINITY, out, larger, |max| max),
        Fold::Mean => run::<false>(windows, &[], 0.0, out, |sum, x, _| sum + x, |sum| sum / count),
        Fold::Weighted(filter) => {
            run::<true>(windows, filter, 0.0, out, |sum, x, weight| fma::<FMA>(x, weight, sum), |sum| sum);
        }
    }
}

#[inline(always)]
fn run<const WEIGHTED: bool>(
    windows: &Windows<'_>,
    filter: &[f32],
    first: f32,
    out: &mut [f32],
    step: impl Fn(f32, f32, f32) -> f32 + Copy,
    last: impl Fn(f32) -> f32 + Copy,
) {
    let channels = windows.channels;
    let fours = 4 * channels.max(1);
    for (i, out) in out.chunks_mut(fours).enumerate() {
        let start = windows.start + 4 * i * windows.window_step;
        let mut from = 0;
        macro_rules! parts {
            ($($n:literal)*) => {$(
                while channels - from >= $n {
                    if out.len() == fours {
                        four::<WEIGHTED, $n>((windows, start), filter, (from, first), out, step, last);
                    } else {
                        for (p, out) in out.chunks_exact_mut(channels).enumerate() {
                            let start = start + p * windows.window_step;
                            one::<WEIGHTED, $n>((windows, start), filter, (from, first), out, step, last);
                        }
                    }
                    from += $n;
                }
            )*};
        }
        parts!(32 8 1);
    }
}

/// Calls `$each` with the place of each tap in a line, the line and the filter's numbers for it, if it has some.
macro_rules! each_tap {
    ($windows:expr, $start:expr, $filter:expr, $from:expr, $n:ident, |$line:ident, $at:ident, $weights:ident| $each:block) => {
        for &(tap, $line) in $windows.lines {
            for j in 0..$windows.taps {
                let $at = $start + j * $windows.tap_step + $from;
                let mut $weights = &[0.0; $n];
                if WEIGHTED {
                    let tap = tap + $windows.first_tap + j;
                    let weights = &$filter[tap * $windows.channels + $from..];
                    let Some(weights) = weights.first_chunk::<$n>() else { return };
                    $weights = weights;
                }
                $each
            }
        }
    };
}

#[inline(always)]
fn one<const WEIGHTED: bool, const N: usize>(
    (windows, start): (&Windows<'_>, usize),
    filter: &[f32],
    (from, first): (usize, f32),
    out: &mut [f32],
    step: impl Fn(f32, f32, f32) -> f32,
    last: impl Fn(f32) -> f32,
) {
    let mut acc = [first; N];
    each_tap!(windows, start, filter, from, N, |line, at, weights| {
        let Some(x) = line[at..].first_chunk::<N>() else { return };
        for l in 0..N {
            acc[l] = step(acc[l], x[l], weights[l]);
        }
    });
    for (out, acc) in out[from..][..N].iter_mut().zip(acc) {
        *out = last(acc);
    }
}

#[inline(always)]
fn four<const WEIGHTED: bool, const N: usize>(
    (windows, start): (&Windows<'_>, usize),
    filter: &[f32],
    (from, first): (usize, f32),
    out: &mut [f32],
    step: impl Fn(f32, f32, f32) -> f32,
    last: impl Fn(f32) -> f32,
) {
    // By name, not a loop over them: of a nest of loops the outer one would not be unrolled.
    let (mut a, mut b, mut c, mut d) = ([first; N], [first; N], [first; N], [first; N]);
    let next = windows.window_step;
    each_tap!(windows, start, filter, from, N, |line, at, weights| {
        let Some(x) = line[at..].first_chunk::<N>() else { return };
        for l in 0..N {
            a[l] = step(a[l], x[l], weights[l]);
        }
        let Some(x) = line[at + next..].first_chunk::<N>() else { return };
        for l in 0..N {
            b[l] = step(b[l], x[l], weights[l]);
        }
        let Some(x) = line[at + 2 * next..].first_chunk::<N>() else { return };
        for l in 0..N {
            c[l] = step(c[l], x[l], weights[l]);
        }
        let Some(x) = line[at + 3 * next..].first_chunk::<N>() else { return };
        for l in 0..N {
            d[l] = step(d[l], x[l], weights[l]);
        }
    });
    for (out, acc) in out.chunks_mut(windows.channels).zip([a, b, c, d]) {
        for (out, acc) in out[from..][..N].iter_mut().zip(acc) {
            *out = last(acc);
        }
    }
}
