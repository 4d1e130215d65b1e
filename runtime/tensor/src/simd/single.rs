//! A row times an unpacked matrix. Every element of the matrix is used once, so the matrix is read in long
//! contiguous runs.

#![allow(
    clippy::needless_range_loop,
    reason = "indices, not iterators, which are only as good as the build's inlining"
)]

use super::functions::{across, fma};

/// The number of rows of the matrix that are read at a time: as many as the streams that hardware prefetchers
/// follow.
const ROWS: usize = 8;

/// Two registers of the widest instruction set.
const LANES: usize = 32;

/// `out = sum over p of a[p] * row p of b`, with row stride `stride`.
#[inline(always)]
pub(super) fn rows<const FMA: bool>(a: &[f32], b: &[f32], stride: usize, out: &mut [f32]) {
    let n = out.len();
    out.fill(0.0);
    let (blocks, rest) = a.as_chunks::<ROWS>();
    for (i, a) in blocks.iter().enumerate() {
        let row = |j: usize| &b[(i * ROWS + j) * stride..][..n];
        let (b0, b1, b2, b3) = (row(0), row(1), row(2), row(3));
        let (b4, b5, b6, b7) = (row(4), row(5), row(6), row(7));
        for l in 0..n {
            let mut sum = fma::<FMA>(a[0], b0[l], out[l]);
            let mut other = a[1] * b1[l];
            sum = fma::<FMA>(a[2], b2[l], sum);
            other = fma::<FMA>(a[3], b3[l], other);
            sum = fma::<FMA>(a[4], b4[l], sum);
            other = fma::<FMA>(a[5], b5[l], other);
            sum = fma::<FMA>(a[6], b6[l], sum);
            other = fma::<FMA>(a[7], b7[l], other);
            out[l] = sum + other;
        }
    }
    for (p, &a) in (blocks.len() * ROWS..).zip(rest) {
        let b = &b[p * stride..][..n];
        for l in 0..n {
            out[l] = fma::<FMA>(a, b[l], out[l]);
        }
    }
}

/// `out[j] = sum over p of a[p] * b[j][p]`; row `j` of `b` begins at `j * stride`.
#[inline(always)]
pub(super) fn dots<const FMA: bool>(a: &[f32], b: &[f32], stride: usize, out: &mut [f32]) {
    let (a_blocks, a_rest) = a.as_chunks::<LANES>();
    for (j, out) in out.iter_mut().enumerate() {
        let (b_blocks, b_rest) = b[j * stride..][..a.len()].as_chunks::<LANES>();
        let mut lanes = [0.0f32; LANES];
        for i in 0..a_blocks.len().min(b_blocks.len()) {
            for l in 0..LANES {
                lanes[l] = fma::<FMA>(a_blocks[i][l], b_blocks[i][l], lanes[l]);
            }
        }
        let mut sum = 0.0;
        for i in 0..a_rest.len().min(b_rest.len()) {
            sum = fma::<FMA>(a_rest[i], b_rest[i], sum);
        }
        *out = sum + across(lanes, |a, b| a + b);
    }
}
