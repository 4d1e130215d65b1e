//! The transformations of Winograd's convolution, over channels: `Bt d B` of an image's pixels and `At m A` of products.
//!
//! Either is a small linear map applied to the columns, then to the rows of a T by T patch, for [`LANES`] channels at once: two registers'
//! worth at most of each number of a column, and what comes out rests in the first cache until its row is taken. A pixel in the
//! padding is an empty slice.

#![allow(
    clippy::needless_range_loop,
    reason = "indices, not iterators, which are only as good as the build's inlining"
)]

/// Channels at a time.
const LANES: usize = 16;

type Lanes = [f32; LANES];

/// `Bt d`: 2 + 2 or 4 + 2 numbers.
#[inline(always)]
fn input<const T: usize>(d: [f32; T]) -> [f32; T] {
    let mut r = [0.0; T];
    if T == 4 {
        r[0] = d[0] - d[2];
        r[1] = d[1] + d[2];
        r[2] = d[2] - d[1];
        r[3] = d[1] - d[3];
    } else {
        let (even, odd) = (d[4] - 4.0 * d[2], d[3] - 4.0 * d[1]);
        let (even2, odd2) = (d[4] - d[2], 2.0 * (d[3] - d[1]));
        r[0] = 4.0 * d[0] - 5.0 * d[2] + d[4];
        r[1] = even + odd;
        r[2] = even - odd;
        r[3] = even2 + odd2;
        r[4] = even2 - odd2;
        r[5] = 4.0 * d[1] - 5.0 * d[3] + d[5];
    }
    r
}

/// `At m`: from 4 numbers 2, from 6 numbers 4.
#[inline(always)]
fn output<const T: usize, const N: usize>(m: [f32; T]) -> [f32; N] {
    let mut r = [0.0; N];
    let (sum, difference) = (m[1] + m[2], m[1] - m[2]);
    if T == 4 {
        r[0] = m[0] + sum;
        r[1] = difference - m[3];
    } else {
        let (sum2, difference2) = (m[3] + m[4], m[3] - m[4]);
        r[0] = m[0] + sum + sum2;
        r[1] = difference + 2.0 * difference2;
        r[2] = sum + 4.0 * sum2;
        r[3] = difference + 8.0 * difference2 + m[5];
    }
    r
}

/// `f` of T numbers, channel by channel.
#[inline(always)]
fn each<const T: usize, const N: usize>(x: &[Lanes; T], f: impl Fn([f32; T]) -> [f32; N]) -> [Lanes; N] {
    let mut results = [[0.0; LANES]; N];
    for l in 0..LANES {
        let mut column = [0.0; T];
        for i in 0..T {
            column[i] = x[i][l];
        }
        let column = f(column);
        for i in 0..N {
            results[i][l] = column[i];
        }
    }
    results
}

/// `f` of the columns, then of the rows of a patch; `take(i, j)` has a pixel's channels, `put(i, j, channels)` takes a result's.
#[inline(always)]
fn both_ways<const T: usize, const N: usize>(
    half: &mut [[Lanes; T]; N],
    take: impl Fn(usize, usize) -> Lanes,
    f: impl Fn([f32; T]) -> [f32; N] + Copy,
    mut put: impl FnMut(usize, usize, &Lanes),
) {
    for j in 0..T {
        let mut column = [[0.0; LANES]; T];
        for i in 0..T {
            column[i] = take(i, j);
        }
        let column = each(&column, f);
        for i in 0..N {
            half[i][j] = column[i];
        }
    }
    for i in 0..N {
        let row = each(&half[i], f);
        for j in 0..N {
            put(i, j, &row[j]);
        }
    }
}

/// The channels from one on, zeros behind the last.
#[inline(always)]
fn channels_from(x: &[f32], from: usize) -> Lanes {
    let x = x.get(from..).unwrap_or(&[]);
    x.first_chunk().copied().unwrap_or_else(|| {
        let mut lanes = [0.0; LANES];
        lanes[..x.len()].copy_from_slice(x);
        lanes
    })
}

/// As many as there is room for.
#[inline(always)]
fn put_channels(x: &Lanes, to: &mut [f32]) {
    match to.first_chunk_mut() {
        Some(to) => *to = *x,
        None => to.copy_from_slice(&x[..to.len()]),
    }
}

/// See [`Isa::winograd_input`](super::Isa::winograd_input).
#[inline(always)]
pub(super) fn transform_input(
    side: usize,
    channels: usize,
    patch: &[[&[f32]; 6]; 6],
    step: usize,
    to: &mut [f32],
) {
    // Cleared once, not for each group of channels.
    let (mut small, mut large) = ([[[0.0; LANES]; 4]; 4], [[[0.0; LANES]; 6]; 6]);
    for from in (0..channels).step_by(LANES) {
        let end = channels.min(from + LANES);
        let take = |i: usize, j: usize| channels_from(patch[i][j], from);
        let put = |i: usize, j: usize, x: &Lanes| {
            let at = (i * side + j) * step;
            put_channels(x, &mut to[at + from..at + end]);
        };
        if side == 4 {
            both_ways(&mut small, take, input::<4>, put);
        } else {
            both_ways(&mut large, take, input::<6>, put);
        }
    }
}

/// See [`Isa::winograd_output`](super::Isa::winograd_output).
#[inline(always)]
pub(super) fn transform_output(
    side: usize,
    channels: usize,
    (from, step): (&[f32], usize),
    inside: (usize, usize),
    (to, stride): (&mut [f32], usize),
) {
    let (mut small, mut large) = ([[[0.0; LANES]; 4]; 2], [[[0.0; LANES]; 6]; 4]);
    for first in (0..channels).step_by(LANES) {
        let end = channels.min(first + LANES);
        let take = |i: usize, j: usize| channels_from(&from[(i * side + j) * step..][..end], first);
        let put = |i: usize, j: usize, x: &Lanes| {
            if i < inside.0 && j < inside.1 {
                let at = i * stride + j * channels;
                put_channels(x, &mut to[at + first..at + end]);
            }
        };
        if side == 4 {
            both_ways(&mut small, take, output::<4, 2>, put);
        } else {
            both_ways(&mut large, take, output::<6, 4>, put);
        }
    }
}
