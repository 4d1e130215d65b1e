//! Sums of products of long runs of floats: the gradient of a convolution with respect to its filters.
//!
//! ```text
//!             tap 0   tap 1  ..   tap 4          one step reads a vector of each run, and
//! gradient 0    +       +           +            multiplies and adds each pair: up to twenty
//! gradient 3    +       +           +            sums stay in registers
//! ```
//!
//! The runs of all taps are parts of the same pixels at different offsets, so no pixels are copied.

#![allow(clippy::multiple_unsafe_ops_per_block, reason = "they rest on the same contract of the caller")]
#![allow(
    clippy::needless_range_loop,
    reason = "indices, not iterators, which are only as good as the build's inlining"
)]

use super::functions::across;
use super::vector::Vector;

/// The number of taps at a time.
const TAPS: usize = 5;

/// The most gradients at a time.
const OUTS: usize = 4;

/// The unit of lengths: the lanes of the widest vector.
pub(crate) const STEP: usize = 16;

/// Runs of pixels and of gradients.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Runs<'a> {
    /// The pixels.
    pixels: &'a [f32],
    /// The start of each tap's run.
    taps: &'a [usize],
    /// The runs of gradients, one after another.
    gradients: &'a [f32],
    /// The length of a run, a multiple of [`STEP`].
    len: usize,
}

impl<'a> Runs<'a> {
    /// # Panics
    /// If a tap's run does not lie inside the pixels, or the length is no multiple of [`STEP`].
    pub(crate) fn new(pixels: &'a [f32], taps: &'a [usize], gradients: &'a [f32], len: usize) -> Runs<'a> {
        let last = taps.iter().max().map_or(Some(0), |last| last.checked_add(len));
        assert!(last.is_some_and(|last| last <= pixels.len()), "runs of {len} pixels");
        assert!(len > 0 && len.is_multiple_of(STEP), "runs of {len} pixels");
        Runs { pixels, taps, gradients, len }
    }

    /// The number of runs of gradients.
    fn outs(&self) -> usize {
        self.gradients.len() / self.len
    }
}

/// `sums[tap][out] += sum over t of pixels[taps[tap] + t] * gradients[out][t]`.
///
/// # Safety
/// The machine has the vector's instructions.
#[inline(always)]
unsafe fn run<V: Vector>(runs: &Runs<'_>, sums: &mut [f32]) {
    let outs = runs.outs();
    for (taps, sums) in runs.taps.chunks(TAPS).zip(sums.chunks_mut(TAPS * outs)) {
        // Where taps are missing, the last one is summed again.
        let at = std::array::from_fn(|i| taps[i.min(taps.len() - 1)]);
        for first in (0..outs).step_by(OUTS) {
            // SAFETY: by the caller's contract the machine has the instructions.
            unsafe {
                match outs - first {
                    1 => group::<V, 1>(runs, &at, first, sums),
                    2 => group::<V, 2>(runs, &at, first, sums),
                    3 => group::<V, 3>(runs, &at, first, sums),
                    _ => group::<V, 4>(runs, &at, first, sums),
                }
            }
        }
    }
}

/// Adds the sums of [`TAPS`] taps and of `R` gradients from `first` on.
///
/// # Safety
/// The machine has the vector's instructions.
#[inline(always)]
unsafe fn group<V: Vector, const R: usize>(
    runs: &Runs<'_>,
    at: &[usize; TAPS],
    first: usize,
    sums: &mut [f32],
) {
    let Runs { pixels, gradients, len, .. } = *runs;
    let outs = runs.outs();
    let gradients = gradients[first * len..][..R * len].as_ptr();
    let mut starts = [pixels.as_ptr(); TAPS];
    for i in 0..TAPS {
        starts[i] = pixels[at[i]..][..len].as_ptr();
    }
    // No closures: they would not be compiled for the instruction set.
    // SAFETY: by the caller's contract the machine has the instructions; every run has `len` floats, a
    // multiple of the vector's lanes.
    let acc = unsafe {
        let mut acc = [[V::splat(0.0); R]; TAPS];
        let mut t = 0;
        while t < len {
            let mut dy = [V::splat(0.0); R];
            for r in 0..R {
                dy[r] = V::load(gradients.add(r * len + t));
            }
            for i in 0..TAPS {
                let x = V::load(starts[i].add(t));
                for r in 0..R {
                    acc[i][r] = x.times_plus(dy[r], acc[i][r]);
                }
            }
            t += V::LANES;
        }
        acc
    };
    for (acc, sums) in acc.iter().zip(sums.chunks_exact_mut(outs)) {
        for (acc, sum) in acc.iter().zip(&mut sums[first..]) {
            let mut lanes = [0.0; STEP];
            // SAFETY: by the caller's contract the machine has the instructions; `lanes` holds the widest
            // vector.
            unsafe { acc.store(lanes.as_mut_ptr()) }
            *sum += across(lanes, |a, b| a + b);
        }
    }
}

/// One function per instruction set.
macro_rules! correlate_with {
    ($name:ident, $vector:ty, $(#[$attr:meta])*) => {
        /// See [`super::Isa::correlate`].
        $(#[$attr])*
        pub(super) fn $name(runs: &Runs<'_>, sums: &mut [f32]) {
            // SAFETY: the function has the target features of the vector's instructions.
            unsafe { run::<$vector>(runs, sums) }
        }
    };
}

correlate_with!(portable, [f32; 8],);
#[cfg(target_arch = "x86_64")]
correlate_with!(avx2, std::arch::x86_64::__m256, #[target_feature(enable = "avx2,fma")]);
#[cfg(target_arch = "x86_64")]
correlate_with!(
    avx512,
    std::arch::x86_64::__m512,
    #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
);
