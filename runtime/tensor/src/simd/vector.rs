//! A register of f32 of any instruction set, for loops that the compiler does not vectorize well by itself.
//!
//! The functions are `unsafe`, since they may only run where the machine has the instructions, and they read
//! and write through pointers. They are inlined into functions that are compiled for these instructions.

#![allow(clippy::missing_safety_doc, reason = "said once, above the trait")]
#![allow(clippy::multiple_unsafe_ops_per_block, reason = "they rest on the same promise of the caller")]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

use super::finish::within;
use super::functions::fma;
use super::layout::FUSED;

/// A vector of floats.
///
/// # Safety
/// For every function: the machine has the type's instructions. A pointer refers to the floats that are read
/// or written: [`Vector::LANES`] of them, or `n`, which is less, or `n` groups of four in
/// [`Vector::store_fours`].
pub(super) trait Vector: Copy {
    const LANES: usize;
    unsafe fn splat(x: f32) -> Self;
    unsafe fn load(x: *const f32) -> Self;
    /// The first `n` floats; zeros in the other lanes.
    unsafe fn load_part(x: *const f32, n: usize) -> Self;
    unsafe fn store(self, to: *mut f32);
    unsafe fn store_part(self, to: *mut f32, n: usize);
    unsafe fn add(self, y: Self) -> Self;
    unsafe fn subtract(self, y: Self) -> Self;
    unsafe fn multiply(self, y: Self) -> Self;
    unsafe fn divide(self, y: Self) -> Self;
    /// `self * y + z`.
    unsafe fn times_plus(self, y: Self, z: Self) -> Self;
    /// `low` where `self` is not larger, `high` where it is larger than that, else `self`; NaN stays.
    unsafe fn within(self, low: Self, high: Self) -> Self;
    /// `y` where it is larger or NaN, else `self`.
    unsafe fn larger(self, y: Self) -> Self;
    /// A 4x4 transposition within each four lanes: the first lanes of all four vectors, the second ones, and
    /// so on.
    unsafe fn transpose_fours(rows: [Self; 4]) -> [Self; 4];
    /// Stores each of the first `n` groups of four lanes, `step` floats apart.
    unsafe fn store_fours(self, to: *mut f32, step: usize, n: usize);
}

impl Vector for [f32; 8] {
    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        [x; 8]
    }

    #[inline(always)]
    unsafe fn load(x: *const f32) -> Self {
        // SAFETY: the caller guarantees 8 floats there.
        unsafe { x.cast::<[f32; 8]>().read() }
    }

    #[inline(always)]
    unsafe fn load_part(x: *const f32, n: usize) -> Self {
        // SAFETY: the caller guarantees n floats there.
        std::array::from_fn(|i| if i < n { unsafe { x.add(i).read() } } else { 0.0 })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller guarantees 8 floats there.
        unsafe { to.cast::<[f32; 8]>().write(self) }
    }

    #[inline(always)]
    unsafe fn store_part(self, to: *mut f32, n: usize) {
        for (i, x) in self.into_iter().enumerate().take(n) {
            // SAFETY: the caller guarantees n floats there.
            unsafe { to.add(i).write(x) }
        }
    }

    #[inline(always)]
    unsafe fn add(self, y: Self) -> Self {
        std::array::from_fn(|i| self[i] + y[i])
    }

    #[inline(always)]
    unsafe fn subtract(self, y: Self) -> Self {
        std::array::from_fn(|i| self[i] - y[i])
    }

    #[inline(always)]
    unsafe fn multiply(self, y: Self) -> Self {
        std::array::from_fn(|i| self[i] * y[i])
    }

    #[inline(always)]
    unsafe fn divide(self, y: Self) -> Self {
        std::array::from_fn(|i| self[i] / y[i])
    }

    #[inline(always)]
    unsafe fn times_plus(self, y: Self, z: Self) -> Self {
        std::array::from_fn(|i| fma::<{ FUSED }>(self[i], y[i], z[i]))
    }

    #[inline(always)]
    unsafe fn within(self, low: Self, high: Self) -> Self {
        std::array::from_fn(|i| within((low[i], high[i]), self[i]))
    }

    #[inline(always)]
    unsafe fn larger(self, y: Self) -> Self {
        std::array::from_fn(|i| if y[i] > self[i] || y[i].is_nan() { y[i] } else { self[i] })
    }

    #[inline(always)]
    unsafe fn transpose_fours(rows: [Self; 4]) -> [Self; 4] {
        std::array::from_fn(|i| std::array::from_fn(|lane| rows[lane % 4][lane / 4 * 4 + i]))
    }

    #[inline(always)]
    unsafe fn store_fours(self, to: *mut f32, step: usize, n: usize) {
        for (i, four) in self.as_chunks::<4>().0.iter().enumerate().take(n) {
            // SAFETY: the caller guarantees four floats at every step.
            unsafe { to.add(i * step).cast::<[f32; 4]>().write(*four) }
        }
    }
}

#[cfg(target_arch = "x86_64")]
impl Vector for __m256 {
    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm256_set1_ps(x) }
    }

    #[inline(always)]
    unsafe fn load(x: *const f32) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm256_loadu_ps(x) }
    }

    #[inline(always)]
    unsafe fn load_part(x: *const f32, n: usize) -> Self {
        // SAFETY: the trait's contract; lanes from n on are not read.
        unsafe { _mm256_maskload_ps(x, first_lanes(n)) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the trait's contract.
        unsafe { _mm256_storeu_ps(to, self) }
    }

    #[inline(always)]
    unsafe fn store_part(self, to: *mut f32, n: usize) {
        // SAFETY: the trait's contract; lanes from n on are not written.
        unsafe { _mm256_maskstore_ps(to, first_lanes(n), self) }
    }

    #[inline(always)]
    unsafe fn add(self, y: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm256_add_ps(self, y) }
    }

    #[inline(always)]
    unsafe fn subtract(self, y: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm256_sub_ps(self, y) }
    }

    #[inline(always)]
    unsafe fn multiply(self, y: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm256_mul_ps(self, y) }
    }

    #[inline(always)]
    unsafe fn divide(self, y: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm256_div_ps(self, y) }
    }

    #[inline(always)]
    unsafe fn times_plus(self, y: Self, z: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm256_fmadd_ps(self, y, z) }
    }

    #[inline(always)]
    unsafe fn within(self, low: Self, high: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe {
            let x = _mm256_blendv_ps(self, low, _mm256_cmp_ps::<_CMP_LE_OQ>(self, low));
            _mm256_blendv_ps(x, high, _mm256_cmp_ps::<_CMP_GT_OQ>(x, high))
        }
    }

    #[inline(always)]
    unsafe fn larger(self, y: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe {
            let takes_y =
                _mm256_or_ps(_mm256_cmp_ps::<_CMP_GT_OQ>(y, self), _mm256_cmp_ps::<_CMP_UNORD_Q>(y, y));
            _mm256_blendv_ps(self, y, takes_y)
        }
    }

    #[inline(always)]
    unsafe fn transpose_fours([a, b, c, d]: [Self; 4]) -> [Self; 4] {
        // SAFETY: the trait's contract.
        unsafe {
            let (ab, ab2) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
            let (cd, cd2) = (_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
            [
                _mm256_shuffle_ps::<0x44>(ab, cd),
                _mm256_shuffle_ps::<0xee>(ab, cd),
                _mm256_shuffle_ps::<0x44>(ab2, cd2),
                _mm256_shuffle_ps::<0xee>(ab2, cd2),
            ]
        }
    }

    #[inline(always)]
    unsafe fn store_fours(self, to: *mut f32, step: usize, n: usize) {
        // SAFETY: the trait's contract.
        unsafe {
            if n > 0 {
                _mm_storeu_ps(to, _mm256_castps256_ps128(self));
            }
            if n > 1 {
                _mm_storeu_ps(to.add(step), _mm256_extractf128_ps::<1>(self));
            }
        }
    }
}

/// All ones in the first `n` of 8 lanes.
///
/// # Safety
/// The machine has AVX2.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn first_lanes(n: usize) -> __m256i {
    // SAFETY: the machine has AVX2 by the caller's contract.
    unsafe { _mm256_cmpgt_epi32(_mm256_set1_epi32(n as i32), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)) }
}

#[cfg(target_arch = "x86_64")]
impl Vector for __m512 {
    const LANES: usize = 16;

    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm512_set1_ps(x) }
    }

    #[inline(always)]
    unsafe fn load(x: *const f32) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm512_loadu_ps(x) }
    }

    #[inline(always)]
    unsafe fn load_part(x: *const f32, n: usize) -> Self {
        // SAFETY: the trait's contract; lanes from n on are not read.
        unsafe { _mm512_maskz_loadu_ps((1u16 << n) - 1, x) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the trait's contract.
        unsafe { _mm512_storeu_ps(to, self) }
    }

    #[inline(always)]
    unsafe fn store_part(self, to: *mut f32, n: usize) {
        // SAFETY: the trait's contract; lanes from n on are not written.
        unsafe { _mm512_mask_storeu_ps(to, (1u16 << n) - 1, self) }
    }

    #[inline(always)]
    unsafe fn add(self, y: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm512_add_ps(self, y) }
    }

    #[inline(always)]
    unsafe fn subtract(self, y: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm512_sub_ps(self, y) }
    }

    #[inline(always)]
    unsafe fn multiply(self, y: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm512_mul_ps(self, y) }
    }

    #[inline(always)]
    unsafe fn divide(self, y: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm512_div_ps(self, y) }
    }

    #[inline(always)]
    unsafe fn times_plus(self, y: Self, z: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe { _mm512_fmadd_ps(self, y, z) }
    }

    #[inline(always)]
    unsafe fn within(self, low: Self, high: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe {
            let x = _mm512_mask_blend_ps(_mm512_cmp_ps_mask::<_CMP_LE_OQ>(self, low), self, low);
            _mm512_mask_blend_ps(_mm512_cmp_ps_mask::<_CMP_GT_OQ>(x, high), x, high)
        }
    }

    #[inline(always)]
    unsafe fn larger(self, y: Self) -> Self {
        // SAFETY: the trait's contract.
        unsafe {
            let takes_y =
                _mm512_cmp_ps_mask::<_CMP_GT_OQ>(y, self) | _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(y, y);
            _mm512_mask_blend_ps(takes_y, self, y)
        }
    }

    #[inline(always)]
    unsafe fn transpose_fours([a, b, c, d]: [Self; 4]) -> [Self; 4] {
        // SAFETY: the trait's contract.
        unsafe {
            let (ab, ab2) = (_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
            let (cd, cd2) = (_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
            [
                _mm512_shuffle_ps::<0x44>(ab, cd),
                _mm512_shuffle_ps::<0xee>(ab, cd),
                _mm512_shuffle_ps::<0x44>(ab2, cd2),
                _mm512_shuffle_ps::<0xee>(ab2, cd2),
            ]
        }
    }

    #[inline(always)]
    unsafe fn store_fours(self, to: *mut f32, step: usize, n: usize) {
        // SAFETY: the trait's contract.
        unsafe {
            if n > 0 {
                _mm_storeu_ps(to, _mm512_castps512_ps128(self));
            }
            if n > 1 {
                _mm_storeu_ps(to.add(step), _mm512_extractf32x4_ps::<1>(self));
            }
            if n > 2 {
                _mm_storeu_ps(to.add(2 * step), _mm512_extractf32x4_ps::<2>(self));
            }
            if n > 3 {
                _mm_storeu_ps(to.add(3 * step), _mm512_extractf32x4_ps::<3>(self));
            }
        }
    }
}
