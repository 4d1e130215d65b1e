//! Transposition of a part of an f32 matrix, for the packed layout of a product.
//!
//! Four source lines are processed at a time: their four elements at one position are gathered in a register
//! and stored together. Positions are the outer loop, so that the lines of the result that are being written
//! stay in the L1 cache, however long the source lines are.

#![allow(clippy::multiple_unsafe_ops_per_block, reason = "they rest on the same promise of the caller")]

use super::vector::Vector;

/// The number of source lines whose elements are gathered at a time.
const FOUR: usize = 4;

/// `to[i * to_step + p] = from[p * from_step + i]` for `lines` lines p of `len` elements i.
///
/// # Panics
/// If the part reaches outside of a slice.
///
/// # Safety
/// The machine has the vector's instructions.
#[inline(always)]
unsafe fn transpose<V: Vector>(
    (lines, len): (usize, usize),
    (from, from_step): (&[f32], usize),
    (to, to_step): (&mut [f32], usize),
) {
    if lines == 0 || len == 0 {
        return;
    }
    let reach = |lines: usize, step: usize, len: usize| (lines - 1).checked_mul(step)?.checked_add(len);
    let fits = reach(lines, from_step, len).is_some_and(|end| end <= from.len())
        && reach(len, to_step, lines).is_some_and(|end| end <= to.len());
    assert!(fits, "{lines} lines of {len} elements");
    let fours = lines / FOUR * FOUR;
    for i in (0..len).step_by(V::LANES) {
        let n = V::LANES.min(len - i);
        for p in (0..fours).step_by(FOUR) {
            // SAFETY: the instructions are there by the caller's contract. Lines p to p + 3 have n elements
            // from i on, and lines i to i + n - 1 of the result have four from p on, as asserted.
            unsafe {
                let line = |k: usize| {
                    let x = from.as_ptr().add((p + k) * from_step + i);
                    if n == V::LANES { V::load(x) } else { V::load_part(x, n) }
                };
                let columns = V::transpose_fours([line(0), line(1), line(2), line(3)]);
                let to = to.as_mut_ptr().add(i * to_step + p);
                for (k, columns) in columns.into_iter().enumerate().take(n) {
                    // Column k of each group of four.
                    let groups = (n + FOUR - 1 - k) / FOUR;
                    columns.store_fours(to.add(k * to_step), FOUR * to_step, groups);
                }
            }
        }
        for p in fours..lines {
            for k in i..i + n {
                to[k * to_step + p] = from[p * from_step + k];
            }
        }
    }
}

/// Defines the function for one instruction set.
macro_rules! transpose_with {
    ($name:ident, $vector:ty, $(#[$attr:meta])*) => {
        /// See [`super::Isa::transpose`].
        $(#[$attr])*
        pub(super) fn $name(size: (usize, usize), from: (&[f32], usize), to: (&mut [f32], usize)) {
            // SAFETY: the function has the target features of the vector's instructions.
            unsafe { transpose::<$vector>(size, from, to) }
        }
    };
}

transpose_with!(portable, [f32; 8],);
#[cfg(target_arch = "x86_64")]
transpose_with!(avx2, std::arch::x86_64::__m256, #[target_feature(enable = "avx2,fma")]);
#[cfg(target_arch = "x86_64")]
transpose_with!(
    avx512, std::arch::x86_64::__m512,
    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
);
