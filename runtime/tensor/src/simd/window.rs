//! Channelwise reductions of the windows of a line: pooling and depthwise convolution.
//!
//! Four neighbouring windows are reduced at once, two vectors of channels of each. Their accumulators stay in
//! registers, and a filter's elements are read once for all four. The remaining channels are a partial
//! vector. Scale, bias, residual and limits of the epilogue are applied to the accumulators.

#![allow(clippy::multiple_unsafe_ops_per_block, reason = "they rest on the same promise of the caller")]

use super::finish::Epilogue;
use super::tile::Ending;
use super::vector::Vector;
use crate::interrupt::is_interrupted;

/// The number of taps of a line above which a reduction checks for interruption before each line.
const LONG: usize = 1 << 9;

/// A reduction of a window's pixels, channel by channel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fold<'a> {
    /// The largest; NaN if one is NaN.
    Max,
    /// The mean.
    Mean,
    /// The sum of products with a filter, which has one number per channel and tap.
    Weighted(&'a [f32]),
}

/// Neighbouring windows with the same taps inside the image.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowRun<'a> {
    /// The image lines that the windows cover, each with the number of its tap 0.
    pub(crate) lines: &'a [(usize, &'a [f32])],
    /// The position of the first window's first tap inside the image, in each line.
    pub(crate) start: usize,
    /// The first tap of each line that is inside the image.
    pub(crate) first_tap: usize,
    /// The number of taps inside the image.
    pub(crate) taps: usize,
    /// The distance of neighbouring taps.
    pub(crate) tap_step: usize,
    /// The distance of neighbouring windows.
    pub(crate) window_step: usize,
    pub(crate) channels: usize,
    /// The epilogue of the reductions. It begins with the first window.
    pub(crate) epilogue: Epilogue<'a>,
}

/// The reductions as constants.
const MAX: u8 = 0;
const MEAN: u8 = 1;
const WEIGHTED: u8 = 2;

/// Sets `out` to the reduction of each window, one after another.
///
/// # Safety
/// The machine has the vector's instructions.
#[inline(always)]
unsafe fn run<V: Vector>(fold: Fold<'_>, windows: &WindowRun<'_>, out: &mut [f32]) {
    // SAFETY: the machine has the vector's instructions by the caller's contract.
    unsafe {
        match fold {
            Fold::Max => all::<V, MAX>(windows, &[], out),
            Fold::Mean => all::<V, MEAN>(windows, &[], out),
            Fold::Weighted(filter) => all::<V, WEIGHTED>(windows, filter, out),
        }
    }
}

/// # Safety
/// The machine has the vector's instructions.
#[inline(always)]
unsafe fn all<V: Vector, const KIND: u8>(windows: &WindowRun<'_>, filter: &[f32], out: &mut [f32]) {
    let (channels, lanes) = (windows.channels, V::LANES);
    let count = out.len().checked_div(channels).unwrap_or(0);
    let mut first = 0;
    while first < count {
        let at_once = if count - first >= 4 { 4 } else { 1 };
        let out = &mut out[first * channels..][..at_once * channels];
        let mut from = 0;
        while from < channels {
            let n = channels - from;
            let place = (first, from);
            // SAFETY: the machine has the vector's instructions by the caller's contract.
            unsafe {
                match (at_once, n >= 2 * lanes, n >= lanes) {
                    (4, true, _) => group::<V, KIND, 4, 2, false>(windows, filter, place, out),
                    (4, false, true) => group::<V, KIND, 4, 1, false>(windows, filter, place, out),
                    (4, false, false) => group::<V, KIND, 4, 1, true>(windows, filter, place, out),
                    (_, true, _) => group::<V, KIND, 1, 2, false>(windows, filter, place, out),
                    (_, false, true) => group::<V, KIND, 1, 1, false>(windows, filter, place, out),
                    (_, false, false) => group::<V, KIND, 1, 1, true>(windows, filter, place, out),
                }
            }
            from += if n >= 2 * lanes { 2 * lanes } else { n.min(lanes) };
        }
        first += at_once;
    }
}

/// Repeats `$body` for each window of a group, with `$w` a constant.
macro_rules! each_window {
    ($count:ident, $w:ident, $body:block) => { each_window!($count, $w, $body, 0 1 2 3) };
    ($count:ident, $w:ident, $body:block, $($window:literal)*) => {$(
        if $window < $count {
            const $w: usize = $window;
            $body
        }
    )*};
}

/// Reduces `W` windows from `first` on, `C` vectors of channels from `from` on, or a partial vector.
///
/// # Safety
/// The machine has the vector's instructions.
#[inline(always)]
unsafe fn group<V: Vector, const KIND: u8, const W: usize, const C: usize, const PART: bool>(
    windows: &WindowRun<'_>,
    filter: &[f32],
    (first, from): (usize, usize),
    out: &mut [f32],
) {
    let WindowRun { lines, first_tap, taps, tap_step, window_step, channels, epilogue, .. } = *windows;
    let n = if PART { channels - from } else { C * V::LANES };
    let start = windows.start + first * window_step;
    // SAFETY: the instructions are there by the caller's contract. Every slice was cut to the `n` elements of
    // a window, or to those of `W` windows. A pointer lies `v` vectors behind the start of a window's `n`
    // elements, which are `C` vectors, or one partial vector of `n` lanes.
    unsafe {
        let load = |x: &[f32], at: usize, v: usize| {
            let x = x.as_ptr().add(at + v * V::LANES);
            if PART { V::load_part(x, n) } else { V::load(x) }
        };
        let zero = V::splat(if KIND == MAX { f32::NEG_INFINITY } else { 0.0 });
        let mut acc = [[zero; 2]; 4];
        for &(tap, line) in lines {
            if taps > LONG && is_interrupted() {
                break;
            }
            for j in 0..taps {
                let weights = if KIND == WEIGHTED { (tap + first_tap + j) * channels + from } else { 0 };
                let weights = if KIND == WEIGHTED { &filter[weights..][..n] } else { filter };
                let pixels = &line[start + j * tap_step + from..][..(W - 1) * window_step + n];
                let mut weight = [zero; 2];
                if KIND == WEIGHTED {
                    weight[0] = load(weights, 0, 0);
                    if C == 2 {
                        weight[1] = load(weights, 0, 1);
                    }
                }
                each_window!(W, I, {
                    let at = I * window_step;
                    acc[I][0] = step::<V, KIND>(acc[I][0], load(pixels, at, 0), weight[0]);
                    if C == 2 {
                        acc[I][1] = step::<V, KIND>(acc[I][1], load(pixels, at, 1), weight[1]);
                    }
                });
            }
        }
        let count = V::splat((taps * lines.len()) as f32);
        let end = (&epilogue, channels);
        let behind = from + (C - 1) * V::LANES;
        let ends: [Ending<'_, V>; 2] =
            [Ending::new(end, false, from, channels), Ending::new(end, false, behind, channels)];
        each_window!(W, I, {
            let out = &mut out[I * channels..];
            for (v, &acc) in acc[I][..C].iter().enumerate() {
                let result = if KIND == MEAN { acc.divide(count) } else { acc };
                ends[v].put(first + I, result, out);
            }
        });
    }
}

/// # Safety
/// The machine has the vector's instructions.
#[inline(always)]
unsafe fn step<V: Vector, const KIND: u8>(acc: V, x: V, weight: V) -> V {
    // SAFETY: the machine has the vector's instructions by the caller's contract.
    unsafe {
        match KIND {
            MAX => acc.larger(x),
            MEAN => acc.add(x),
            _ => x.times_plus(weight, acc),
        }
    }
}

pub(super) fn portable(fold: Fold<'_>, windows: &WindowRun<'_>, out: &mut [f32]) {
    // SAFETY: the vector `[f32; 8]` needs no special instructions.
    unsafe { run::<[f32; 8]>(fold, windows, out) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
pub(super) fn avx2(fold: Fold<'_>, windows: &WindowRun<'_>, out: &mut [f32]) {
    // SAFETY: the function has the target features of the vector's instructions.
    unsafe { run::<std::arch::x86_64::__m256>(fold, windows, out) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
pub(super) fn avx512(fold: Fold<'_>, windows: &WindowRun<'_>, out: &mut [f32]) {
    // SAFETY: the function has the target features of the vector's instructions.
    unsafe { run::<std::arch::x86_64::__m512>(fold, windows, out) }
}
