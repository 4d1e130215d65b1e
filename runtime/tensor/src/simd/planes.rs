//! Filters times neighbouring windows in planes: the lanes are windows, not out channels.
//!
//! For images of few channels, or filters of few out channels, most lanes of a tile would be empty, and
//! copying windows would cost more than their products. With a plane per channel, one register load yields
//! the same element of many neighbouring windows. The panel of filters is the one that tiles read; its
//! columns are broadcast. Sums have one row per out channel. They are transposed, four by four, on their way
//! to the result.

#![allow(clippy::multiple_unsafe_ops_per_block, reason = "they rest on the same promise of the caller")]
#![allow(
    clippy::needless_range_loop,
    reason = "indices, not iterators, which are only as good as the build's inlining"
)]

use std::ops::Range;

use super::layout::{PANEL, PanelStep};
use super::vector::Vector;

/// The number of windows per block.
pub(crate) const ACROSS: usize = 32;

/// Sums of some windows: one row per out channel of a panel.
pub(super) type PlaneSums = [[f32; ACROSS]; PANEL];

/// The results of a block of windows.
#[derive(Clone, Copy, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub(crate) struct Block {
    pub(super) sums: PlaneSums,
    /// Four out channels of each window.
    transposed: [[[f32; 4]; ACROSS]; PANEL / 4],
}

impl Block {
    /// Copies `outs` out channels of some windows to `to`, with stride `stride` between windows.
    pub(crate) fn put(&self, windows: Range<usize>, outs: usize, to: &mut [f32], stride: usize) {
        for i in 0..outs.div_ceil(4) {
            let (fours, to) = (&self.transposed[i][windows.clone()], &mut to[4 * i..]);
            match outs - 4 * i {
                1 => put::<1>(fours, to, stride),
                2 => put::<2>(fours, to, stride),
                3 => put::<3>(fours, to, stride),
                _ => put::<4>(fours, to, stride),
            }
        }
    }
}

#[inline(always)]
fn put<const N: usize>(fours: &[[f32; 4]], to: &mut [f32], stride: usize) {
    let Some(last) = fours.len().checked_sub(1) else { return };
    let end = last.checked_mul(stride).and_then(|at| at.checked_add(N));
    assert!(N <= 4 && end.is_some_and(|end| end <= to.len()), "room for {} windows", fours.len());
    let to = to.as_mut_ptr();
    for w in 0..fours.len() {
        // SAFETY: N elements from the last window's position on are inside `to`, and so are those of the
        // windows before it; a window has four.
        unsafe { to.add(w * stride).cast::<[f32; N]>().write(fours[w].as_ptr().cast::<[f32; N]>().read()) }
    }
}

/// The positions of the windows' elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Planes<'a> {
    /// Element p of neighbouring windows is contiguous.
    pixels: &'a [f32],
    /// The offsets of the first window's elements, in the order of the filter's steps.
    offsets: &'a [usize],
    /// The last window whose elements are inside `pixels`.
    last: usize,
}

impl<'a> Planes<'a> {
    /// # Panics
    /// If the elements of [`ACROSS`] windows are not inside `pixels`.
    pub(crate) fn new(pixels: &'a [f32], offsets: &'a [usize]) -> Planes<'a> {
        let farthest = offsets.iter().max().copied().unwrap_or(0);
        assert!(farthest < pixels.len() && ACROSS <= pixels.len() - farthest, "numbers of {ACROSS} windows");
        Planes { pixels, offsets, last: pixels.len() - farthest - ACROSS }
    }

    /// The positions of some of the elements.
    pub(crate) fn part(&self, elements: Range<usize>) -> Planes<'a> {
        // Their farthest offset is no larger.
        Planes { offsets: &self.offsets[elements], ..*self }
    }
}

/// Repeats `$body` for each out channel of a group, with `$i` a constant.
macro_rules! each_out {
    ($count:ident, $i:ident, $body:block) => { each_out!($count, $i, $body, 0 1 2 3 4 5 6 7) };
    ($count:ident, $i:ident, $body:block, $($out:literal)*) => {$(
        if $out < $count {
            const $i: usize = $out;
            $body
        }
    )*};
}

/// Computes `R` out channels from `first` on for `C` vectors of windows, from the pixels at a pointer on.
/// Sums go to lanes from `lane` on.
///
/// # Safety
/// The machine has the vector's instructions. There are `C` vectors of pixels at every offset from the
/// pointer, and R columns from `first` on.
#[inline(always)]
unsafe fn group<V: Vector, const R: usize, const C: usize>(
    pixels: *const f32,
    offsets: &[usize],
    (panel, first): (&[PanelStep], usize),
    lane: usize,
    sums: &mut PlaneSums,
) {
    // SAFETY: the instructions, the pixels and the columns are there by the caller's contract. `p` is below
    // both lengths. The slices that are stored to have the vectors' lengths.
    unsafe {
        let zero = V::splat(0.0);
        let mut acc = [[zero; 2]; 8];
        for p in 0..offsets.len().min(panel.len()) {
            let x = pixels.add(*offsets.get_unchecked(p));
            let x = [V::load(x), if C == 2 { V::load(x.add(V::LANES)) } else { zero }];
            let weights = panel.get_unchecked(p).as_ptr().add(first);
            each_out!(R, I, {
                let weight = V::splat(*weights.add(I));
                acc[I][0] = weight.times_plus(x[0], acc[I][0]);
                if C == 2 {
                    acc[I][1] = weight.times_plus(x[1], acc[I][1]);
                }
            });
        }
        each_out!(R, I, {
            let to = sums[first + I][lane..][..C * V::LANES].as_mut_ptr();
            acc[I][0].store(to);
            if C == 2 {
                acc[I][1].store(to.add(V::LANES));
            }
        });
    }
}

/// Transposes the sums of `outs` out channels.
///
/// # Safety
/// The machine has the vector's instructions.
#[inline(always)]
unsafe fn transpose_sums<V: Vector>(outs: usize, block: &mut Block) {
    for i in 0..outs.div_ceil(4) {
        let (rows, transposed) = (&block.sums[4 * i..][..4], &mut block.transposed[i]);
        for lane in (0..ACROSS).step_by(V::LANES) {
            // SAFETY: the instructions are there by the caller's contract. A row and its transposed block
            // have ACROSS windows, a multiple of a vector's lanes.
            unsafe {
                let row = |i: usize| V::load(rows[i].as_ptr().add(lane));
                let fours = V::transpose_fours([row(0), row(1), row(2), row(3)]);
                let to = transposed.as_mut_ptr().add(lane).cast::<f32>();
                fours[0].store_fours(to, 16, V::LANES / 4);
                fours[1].store_fours(to.add(4), 16, V::LANES / 4);
                fours[2].store_fours(to.add(8), 16, V::LANES / 4);
                fours[3].store_fours(to.add(12), 16, V::LANES / 4);
            }
        }
    }
}

/// Defines the functions for one instruction set: `$vectors` of windows at a time, and as many out channels
/// as registers allow.
macro_rules! planes_with {
    ($products:ident, $transpose:ident, $vector:ty, vectors $vectors:literal, outs $($outs:literal)*, $(#[$attr:meta])*) => {
        /// See [`super::Isa::planes`].
        $(#[$attr])*
        pub(super) fn $products(
            planes: &Planes<'_>,
            windows: Range<usize>,
            panel: &[PanelStep],
            outs: usize,
            sums: &mut PlaneSums,
        ) {
            const LANES: usize = <$vector as Vector>::LANES;
            assert!(windows.start <= planes.last && outs <= PANEL && windows.len() <= ACROSS);
            let most = [$($outs),*].len();
            let each = outs.div_ceil(outs.div_ceil(most).max(1));
            for lane in (0..windows.len()).step_by($vectors * LANES) {
                // SAFETY: `windows.start <= last`, `lane < ACROSS` and `last + ACROSS <= pixels.len()`, so
                // the pointer stays inside `pixels`.
                let pixels = unsafe { planes.pixels.as_ptr().add(windows.start + lane) };
                let is_one = windows.len() - lane <= LANES;
                for first in (0..outs).step_by(each.max(1)) {
                    let columns = (panel, first.min(PANEL - each));
                    // SAFETY: the function has the target features of the vector's instructions. `pixels` has
                    // the elements of ACROSS windows from `windows.start` on at every offset, and a panel has
                    // `each` columns from `columns.1` on.
                    unsafe {
                        match each {
                            $(
                                $outs if is_one => {
                                    group::<$vector, $outs, 1>(pixels, planes.offsets, columns, lane, sums);
                                }
                                $outs => {
                                    group::<$vector, $outs, $vectors>(pixels, planes.offsets, columns, lane, sums);
                                }
                            )*
                            _ => unreachable!("at most {most} out channels at a time"),
                        }
                    }
                }
            }
        }

        /// See [`super::Isa::planes`].
        $(#[$attr])*
        pub(super) fn $transpose(outs: usize, block: &mut Block) {
            // SAFETY: the function has the target features of the vector's instructions.
            unsafe { transpose_sums::<$vector>(outs, block) }
        }
    };
}

planes_with!(portable, portable_transposed, [f32; 8], vectors 1, outs 1 2 3 4,);
#[cfg(target_arch = "x86_64")]
planes_with!(
    avx2, avx2_transposed, std::arch::x86_64::__m256, vectors 2, outs 1 2 3 4 5 6,
    #[target_feature(enable = "avx2,fma")]
);
#[cfg(target_arch = "x86_64")]
planes_with!(
    avx512, avx512_transposed, std::arch::x86_64::__m512, vectors 2, outs 1 2 3 4 5 6 7 8,
    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
);
