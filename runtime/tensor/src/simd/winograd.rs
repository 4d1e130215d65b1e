//! The transformations of Winograd's convolution, over channels: `Bt d B` of an image's pixels and `At m A` of products.
//!
//! Either is a small linear map applied to the columns, then to the rows of a T by T patch, for up to [`CHUNK`] channels at once. The
//! patches are sets of slices, one per pixel, and the loops over channels are what becomes vector code; between columns and rows and before
//! they are copied out, numbers rest in the first cache.

#![allow(
    clippy::needless_range_loop,
    reason = "indices, not iterators, which are only as good as the build's inlining"
)]

/// Channels at a time.
const CHUNK: usize = 64;

type Lanes = [f32; CHUNK];

/// A pixel in the padding is an empty slice: these are its channels.
static NOTHING: Lanes = [0.0; CHUNK];

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

/// `f` of T slices, element by element.
#[inline(always)]
fn each<const T: usize, const N: usize>(
    from: [&[f32]; T],
    n: usize,
    to: &mut [Lanes; N],
    f: impl Fn([f32; T]) -> [f32; N],
) {
    let n = n.min(CHUNK);
    let mut from = from;
    for i in 0..T {
        from[i] = &from[i][..n];
    }
    for l in 0..n {
        let mut x = [0.0; T];
        for i in 0..T {
            x[i] = from[i][l];
        }
        let r = f(x);
        for i in 0..N {
            to[i][l] = r[i];
        }
    }
}

/// `f` of the columns, then of the rows of a patch; `patch(i, j)` is a pixel's channels, `put(i, j, channels)` takes a result's.
#[inline(always)]
fn both_ways<'a, const T: usize, const N: usize>(
    channels: usize,
    patch: impl Fn(usize, usize) -> &'a [f32],
    f: impl Fn([f32; T]) -> [f32; N] + Copy,
    mut put: impl FnMut(usize, usize, usize, &[f32]),
) {
    let mut half = [[[0.0; CHUNK]; N]; T];
    let mut row = [[0.0; CHUNK]; N];
    for from in (0..channels).step_by(CHUNK) {
        let n = CHUNK.min(channels - from);
        for j in 0..T {
            let mut column: [&[f32]; T] = [&NOTHING; T];
            for i in 0..T {
                if let Some(pixel) = patch(i, j).get(from..from + n) {
                    column[i] = pixel;
                }
            }
            each(column, n, &mut half[j], f);
        }
        for i in 0..N {
            let mut line: [&[f32]; T] = [&NOTHING; T];
            for j in 0..T {
                line[j] = &half[j][i];
            }
            each(line, n, &mut row, f);
            for j in 0..N {
                put(i, j, from, &row[j][..n]);
            }
        }
    }
}

/// A copy of a few channels; of a whole chunk without a call.
#[inline(always)]
fn copy(from: &[f32], to: &mut [f32]) {
    if let (Ok(from), Some(to)) = (<&Lanes>::try_from(from), to.first_chunk_mut::<CHUNK>()) {
        *to = *from;
        return;
    }
    to[..from.len()].copy_from_slice(from);
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
    let put = |i: usize, j: usize, from: usize, x: &[f32]| {
        copy(x, &mut to[(i * side + j) * step + from..]);
    };
    if side == 4 {
        both_ways(channels, |i, j| patch[i][j], input::<4>, put);
    } else {
        both_ways(channels, |i, j| patch[i][j], input::<6>, put);
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
    let product = |i: usize, j: usize| &from[(i * side + j) * step..][..channels];
    let put = |i: usize, j: usize, from: usize, x: &[f32]| {
        if i < inside.0 && j < inside.1 {
            copy(x, &mut to[i * stride + j * channels + from..]);
        }
    };
    if side == 4 {
        both_ways(channels, product, output::<4, 2>, put);
    } else {
        both_ways(channels, product, output::<6, 4>, put);
    }
}
