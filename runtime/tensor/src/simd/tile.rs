//! A tile of the product: some rows of the left matrix times one panel of the right one.
//!
//! `a` is packed: the rows' first elements, then their second ones and so on; `b` is a panel, [`PANEL`](super::PANEL) columns per step. AVX-512 holds
//! 14 rows by 32 columns in 28 registers, two more hold the step of `b`, and `a` is broadcast from memory; AVX2 and the portable version take
//! the same panel in parts of 16 and 8 columns.
//!
//! The loops count and index, since `zip` and the like are only as good as the inlining of the build: one call left in a tile costs a
//! factor of ten.
//!
//! `row` is for a single row, where every number of `b` is used once: four strands keep the adders from waiting.

#![allow(clippy::needless_range_loop, reason = "see above: indices, not iterators")]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

use super::functions::fma;
use super::{Step, Tile};

pub(super) const AVX2_ROWS: usize = 6;
pub(super) const PORTABLE_ROWS: usize = 4;

/// Calls `$tile::<rows>` for the number of rows.
macro_rules! by_rows {
    ($rows:expr, $tile:ident $args:tt, $($n:literal)*) => {
        match $rows {
            $($n => $tile::<$n> $args,)*
            _ => unreachable!("a tile has 1 to {} rows", [$($n),*].len()),
        }
    };
}

pub(super) fn portable(rows: usize, a: &[f32], b: &[Step], out: &mut Tile) {
    by_rows!(rows, portable_of(a, b, out), 1 2 3 4);
}

fn portable_of<const R: usize>(a: &[f32], b: &[Step], out: &mut Tile) {
    const LANES: usize = 8;
    for part in 0..size_of::<Step>() / size_of::<[f32; LANES]>() {
        let mut sums = [[0.0f32; LANES]; R];
        let (a, _) = a.as_chunks::<R>();
        for p in 0..a.len().min(b.len()) {
            let (a, b) = (&a[p], &b[p].as_chunks::<LANES>().0[part]);
            for i in 0..R {
                for j in 0..LANES {
                    sums[i][j] += a[i] * b[j];
                }
            }
        }
        for i in 0..R {
            out[i].as_chunks_mut().0[part] = sums[i];
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
pub(super) fn avx2(rows: usize, a: &[f32], b: &[Step], out: &mut Tile) {
    by_rows!(rows, avx2_of(a, b, out), 1 2 3 4 5 6);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2_of<const R: usize>(a: &[f32], b: &[Step], out: &mut Tile) {
    for half in 0..2 {
        let mut sums = [[_mm256_setzero_ps(); 2]; R];
        let (a, _) = a.as_chunks::<R>();
        for p in 0..a.len().min(b.len()) {
            let (b, _) = b[p].as_chunks();
            let (b0, b1) = (load8(&b[2 * half]), load8(&b[2 * half + 1]));
            for i in 0..R {
                let a = _mm256_set1_ps(a[p][i]);
                sums[i][0] = _mm256_fmadd_ps(a, b0, sums[i][0]);
                sums[i][1] = _mm256_fmadd_ps(a, b1, sums[i][1]);
            }
        }
        for i in 0..R {
            let (out, _) = out[i].as_chunks_mut();
            store8(&mut out[2 * half], sums[i][0]);
            store8(&mut out[2 * half + 1], sums[i][1]);
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,fma")]
fn load8(x: &[f32; 8]) -> __m256 {
    // SAFETY: an array has its eight floats; the load needs no alignment.
    unsafe { _mm256_loadu_ps(x.as_ptr()) }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,fma")]
fn store8(out: &mut [f32; 8], x: __m256) {
    // SAFETY: an array has its eight floats; the store needs no alignment.
    unsafe { _mm256_storeu_ps(out.as_mut_ptr(), x) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
pub(super) fn avx512(rows: usize, a: &[f32], b: &[Step], out: &mut Tile) {
    by_rows!(rows, avx512_of(a, b, out), 1 2 3 4 5 6 7 8 9 10 11 12 13 14);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
fn avx512_of<const R: usize>(a: &[f32], b: &[Step], out: &mut Tile) {
    let mut sums = [[_mm512_setzero_ps(); 2]; R];
    let (a, _) = a.as_chunks::<R>();
    for p in 0..a.len().min(b.len()) {
        let (b, _) = b[p].as_chunks();
        let (b0, b1) = (load16(&b[0]), load16(&b[1]));
        for i in 0..R {
            let a = _mm512_set1_ps(a[p][i]);
            sums[i][0] = _mm512_fmadd_ps(a, b0, sums[i][0]);
            sums[i][1] = _mm512_fmadd_ps(a, b1, sums[i][1]);
        }
    }
    for i in 0..R {
        let (out, _) = out[i].as_chunks_mut();
        store16(&mut out[0], sums[i][0]);
        store16(&mut out[1], sums[i][1]);
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
fn load16(x: &[f32; 16]) -> __m512 {
    // SAFETY: an array has its sixteen floats; the load needs no alignment.
    unsafe { _mm512_loadu_ps(x.as_ptr()) }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
fn store16(out: &mut [f32; 16], x: __m512) {
    // SAFETY: an array has its sixteen floats; the store needs no alignment.
    unsafe { _mm512_storeu_ps(out.as_mut_ptr(), x) }
}

#[inline(always)]
pub(super) fn row<const FMA: bool>(a: &[f32], b: &[Step]) -> Step {
    const STRANDS: usize = 4;
    let steps = a.len().min(b.len());
    let (a, b) = (&a[..steps], &b[..steps]);
    let mut sums = [[0.0f32; super::PANEL]; STRANDS];
    let ((a_blocks, a_rest), (b_blocks, b_rest)) = (a.as_chunks::<STRANDS>(), b.as_chunks::<STRANDS>());
    for p in 0..a_blocks.len().min(b_blocks.len()) {
        for strand in 0..STRANDS {
            for j in 0..super::PANEL {
                sums[strand][j] = fma::<FMA>(a_blocks[p][strand], b_blocks[p][strand][j], sums[strand][j]);
            }
        }
    }
    for p in 0..a_rest.len().min(b_rest.len()) {
        for j in 0..super::PANEL {
            sums[0][j] = fma::<FMA>(a_rest[p], b_rest[p][j], sums[0][j]);
        }
    }
    let mut total = [0.0; super::PANEL];
    for j in 0..super::PANEL {
        total[j] = (sums[0][j] + sums[1][j]) + (sums[2][j] + sums[3][j]);
    }
    total
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
pub(super) fn row_avx2(a: &[f32], b: &[Step]) -> Step {
    row::<true>(a, b)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
pub(super) fn row_avx512(a: &[f32], b: &[Step]) -> Step {
    row::<true>(a, b)
}
