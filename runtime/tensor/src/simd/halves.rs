//! Products of matrices of bf16: sums in f32 of pairs of products.
//!
//! ```text
//! rows of a:    groups of 2 steps         panel of b: per group 16 columns of 2 steps (64 bytes)
//! AVX-512 BF16: one instruction for 16 columns of a group     others: two products in f32
//! ```
//!
//! Layout and tiles are those of [`bytes`](super::bytes), with two steps in the four bytes of a group. Sums
//! are the bits of f32. The instruction treats denormals as zero and adds in an order of its own, so
//! instruction sets agree up to the rounding of f32.

#![allow(clippy::needless_range_loop, reason = "indices, not iterators: see `tile`")]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

use super::bytes::{ByteRows, LANES, PanelGroup, RowGroup, Sums};
use super::functions::fma;

/// The number of rows at a time without the instruction.
const FEW: usize = 4;
/// The number of rows at a time with the instruction.
const STRIP: usize = 12;

/// The two numbers of a word, the first in its low half.
#[inline(always)]
fn halves(word: u32) -> [f32; 2] {
    [f32::from_bits(word << 16), f32::from_bits(word & 0xffff_0000)]
}

/// The products without the instruction, vectorized by the compiler for any instruction set.
#[inline(always)]
pub(super) fn run<const FMA: bool>(a: ByteRows<'_>, b: [&[PanelGroup]; 2], sums: &mut Sums) {
    for (half, b) in b.into_iter().enumerate() {
        for first in (0..a.rows).step_by(FEW) {
            let few = a.some(first, FEW);
            // Where rows are missing, the last one is multiplied again.
            let rows: [&[RowGroup]; FEW] = std::array::from_fn(|i| few.row(i.min(few.rows - 1), b.len()));
            let mut acc = [[0.0f32; LANES]; FEW];
            for p in 0..b.len() {
                let words: [u32; LANES] = bytemuck::cast(b[p]);
                for r in 0..FEW {
                    let [x, y] = halves(u32::from_ne_bytes(rows[r][p]));
                    for l in 0..LANES {
                        let [u, v] = halves(words[l]);
                        acc[r][l] = fma::<FMA>(y, v, fma::<FMA>(x, u, acc[r][l]));
                    }
                }
            }
            for (acc, sums) in acc.iter().take(few.rows).zip(&mut sums[first..]) {
                sums[half] = acc.map(|sum| sum.to_bits() as i32);
            }
        }
    }
}

/// Repeats `$body` for each row of a strip below `$count`, with `$i` a constant.
#[cfg(target_arch = "x86_64")]
macro_rules! each_row {
    ($count:ident, $i:ident, $body:block) => {
        each_row_of!($count, $i, $body, 0 1 2 3 4 5 6 7 8 9 10 11)
    };
}

/// A register of pairs.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
fn pairs(x: __m512i) -> __m512bh {
    // SAFETY: both types have 64 bytes, and any bits are valid.
    unsafe { std::mem::transmute::<__m512i, __m512bh>(x) }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bf16")]
fn load(b: &PanelGroup) -> __m512bh {
    // SAFETY: the array has the 64 bytes.
    pairs(unsafe { _mm512_loadu_si512(b.as_ptr().cast()) })
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bf16")]
fn strip<const R: usize>(a: ByteRows<'_>, [left, right]: [&[PanelGroup]; 2], sums: &mut [[[i32; LANES]; 2]]) {
    let n = left.len();
    let mut acc = [[_mm512_setzero_ps(); 2]; STRIP];
    let mut rows: [&[RowGroup]; STRIP] = [&[]; STRIP];
    each_row!(R, I, {
        rows[I] = a.row(I, n);
    });
    for p in 0..n {
        let (b0, b1) = (load(&left[p]), load(&right[p]));
        each_row!(R, I, {
            let a = pairs(_mm512_set1_epi32(i32::from_ne_bytes(rows[I][p])));
            acc[I][0] = _mm512_dpbf16_ps(acc[I][0], a, b0);
            acc[I][1] = _mm512_dpbf16_ps(acc[I][1], a, b1);
        });
    }
    each_row!(R, I, {
        for half in 0..2 {
            // SAFETY: the array has the 64 bytes.
            unsafe { _mm512_storeu_ps(sums[I][half].as_mut_ptr().cast(), acc[I][half]) };
        }
    });
}

/// The products by the instruction.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bf16")]
pub(super) fn paired(a: ByteRows<'_>, b: [&[PanelGroup]; 2], sums: &mut Sums) {
    let mut from = 0;
    while from < a.rows {
        let (some, sums) = (a.some(from, STRIP), &mut sums[from..]);
        // Strips of other heights are divided.
        from += match some.rows {
            1 => (strip::<1>(some, b, sums), 1).1,
            2 => (strip::<2>(some, b, sums), 2).1,
            3 => (strip::<3>(some, b, sums), 3).1,
            4..8 => (strip::<4>(some, b, sums), 4).1,
            8..12 => (strip::<8>(some, b, sums), 8).1,
            _ => (strip::<12>(some, b, sums), 12).1,
        };
    }
}
