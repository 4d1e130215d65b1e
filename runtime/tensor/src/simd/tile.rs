//! A tile of the product: some rows of the left matrix times one panel of the right one.
//!
//! `a` is packed: the rows' first elements, then their second ones and so on; `b` is a panel, [`PANEL`](super::PANEL) columns per step. AVX-512 holds
//! 14 rows by 32 columns in 28 registers, two more hold the step of `b`, and `a` is broadcast from memory; AVX2 and the portable version take
//! the same panel in parts of 16 and 8 columns.
//!
//! `row` is for a single row, where every number of `b` is used once: four strands keep the adders from waiting.

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
        for (a, b) in a.as_chunks::<R>().0.iter().zip(b) {
            let b = &b.as_chunks::<LANES>().0[part];
            for (sums, a) in sums.iter_mut().zip(a) {
                for (sum, b) in sums.iter_mut().zip(b) {
                    *sum += a * b;
                }
            }
        }
        for (out, sums) in out.iter_mut().zip(&sums) {
            out.as_chunks_mut().0[part] = *sums;
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
        for (a, b) in a.as_chunks::<R>().0.iter().zip(b) {
            let [b0, b1, b2, b3] = load8(b);
            let b = if half == 0 { [b0, b1] } else { [b2, b3] };
            for (sums, a) in sums.iter_mut().zip(a) {
                let a = _mm256_set1_ps(*a);
                sums[0] = _mm256_fmadd_ps(a, b[0], sums[0]);
                sums[1] = _mm256_fmadd_ps(a, b[1], sums[1]);
            }
        }
        for (out, sums) in out.iter_mut().zip(&sums) {
            let (out, _) = out.as_chunks_mut();
            for (out, sum) in out[2 * half..].iter_mut().zip(sums) {
                store8(out, *sum);
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,fma")]
fn load8(x: &Step) -> [__m256; 4] {
    let (x, _) = x.as_chunks::<8>();
    // Not by `array::from_fn`, which has not the target's features: it would be called and take registers through memory.
    let mut loaded = [_mm256_setzero_ps(); 4];
    for (loaded, x) in loaded.iter_mut().zip(x) {
        // SAFETY: an array has its eight floats; the load needs no alignment.
        *loaded = unsafe { _mm256_loadu_ps(x.as_ptr()) };
    }
    loaded
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
    for (a, b) in a.as_chunks::<R>().0.iter().zip(b) {
        let b = load16(b);
        for (sums, a) in sums.iter_mut().zip(a) {
            let a = _mm512_set1_ps(*a);
            sums[0] = _mm512_fmadd_ps(a, b[0], sums[0]);
            sums[1] = _mm512_fmadd_ps(a, b[1], sums[1]);
        }
    }
    for (out, sums) in out.iter_mut().zip(&sums) {
        let (out, _) = out.as_chunks_mut();
        for (out, sum) in out.iter_mut().zip(sums) {
            store16(out, *sum);
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
fn load16(x: &Step) -> [__m512; 2] {
    let (x, _) = x.as_chunks::<16>();
    let mut loaded = [_mm512_setzero_ps(); 2];
    for (loaded, x) in loaded.iter_mut().zip(x) {
        // SAFETY: an array has its sixteen floats; the load needs no alignment.
        *loaded = unsafe { _mm512_loadu_ps(x.as_ptr()) };
    }
    loaded
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
    let mut sums = [[0.0f32; super::PANEL]; STRANDS];
    let (a_steps, a_rest) = a.as_chunks::<STRANDS>();
    let (b_steps, _) = b.as_chunks::<STRANDS>();
    for (a, b) in a_steps.iter().zip(b_steps) {
        for strand in 0..STRANDS {
            for (sum, b) in sums[strand].iter_mut().zip(&b[strand]) {
                *sum = fma::<FMA>(a[strand], *b, *sum);
            }
        }
    }
    let done = a_steps.len() * STRANDS;
    for (a, b) in a_rest.iter().zip(b.get(done..).unwrap_or_default()) {
        for (sum, b) in sums[0].iter_mut().zip(b) {
            *sum = fma::<FMA>(*a, *b, *sum);
        }
    }
    let [mut total, s1, s2, s3] = sums;
    for (j, total) in total.iter_mut().enumerate() {
        *total = (*total + s1[j]) + (s2[j] + s3[j]);
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
