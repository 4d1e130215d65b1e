//! The sums over images of a batch normalization and of its gradient, and the gradient by the images. Each
//! reads its operands once. Sums are in f64, as those of `reduce`.

#![allow(
    clippy::needless_range_loop,
    reason = "indices, not iterators, which are only as good as the build's inlining"
)]

use super::functions::fma;

/// The number of columns whose sums are in registers at a time.
const WIDTH: usize = 32;

/// The number of elements that are read for all columns before the next ones: they stay in the L1 cache.
const NEAR: usize = 4096;

/// For each column j: adds the sum of `w` to `sums[0][j]` and the sum of `w * (x - shift[j])` to
/// `sums[1][j]`, where `w` is the element of `weights`, or `x - shift[j]` itself without weights.
#[inline(always)]
pub(super) fn sums(x: &[f32], weights: Option<&[f32]>, shift: &[f32], [first, second]: [&mut [f64]; 2]) {
    let n = shift.len().max(1);
    let (first, second) = (&mut first[..shift.len()], &mut second[..shift.len()]);
    let near = (NEAR / n).max(1) * n;
    for (i, x) in x.chunks(near).enumerate() {
        let weights = weights.map(|weights| &weights[i * near..][..x.len()]);
        for from in (0..shift.len()).step_by(WIDTH) {
            let width = WIDTH.min(shift.len() - from);
            // Missing columns are added up as zeros.
            let (mut a, mut b, mut by) = ([0.0; WIDTH], [0.0; WIDTH], [0.0; WIDTH]);
            for j in 0..width {
                (a[j], b[j], by[j]) = (first[from + j], second[from + j], f64::from(shift[from + j]));
            }
            match (weights, width == WIDTH) {
                (Some(weights), true) => {
                    for (x, weights) in x.chunks_exact(n).zip(weights.chunks_exact(n)) {
                        let (Some(x), Some(weights)) =
                            (x[from..].first_chunk(), weights[from..].first_chunk())
                        else {
                            return;
                        };
                        weighted(x, weights, &by, (&mut a, &mut b));
                    }
                }
                (None, true) => {
                    for x in x.chunks_exact(n) {
                        let Some(x) = x[from..].first_chunk() else { return };
                        centered(x, &by, (&mut a, &mut b));
                    }
                }
                (weights, false) => {
                    let (mut some, mut more) = ([0.0; WIDTH], [0.0; WIDTH]);
                    for (i, x) in x.chunks_exact(n).enumerate() {
                        some[..width].copy_from_slice(&x[from..][..width]);
                        match weights {
                            Some(weights) => {
                                more[..width].copy_from_slice(&weights[i * n + from..][..width]);
                                weighted(&some, &more, &by, (&mut a, &mut b));
                            }
                            None => centered(&some, &by, (&mut a, &mut b)),
                        }
                    }
                }
            }
            for j in 0..width {
                (first[from + j], second[from + j]) = (a[j], b[j]);
            }
        }
    }
}

/// A row of [`sums`] with weights.
#[inline(always)]
fn weighted(
    x: &[f32; WIDTH],
    weights: &[f32; WIDTH],
    shift: &[f64; WIDTH],
    (a, b): (&mut [f64; WIDTH], &mut [f64; WIDTH]),
) {
    for j in 0..WIDTH {
        let w = f64::from(weights[j]);
        a[j] += w;
        b[j] += w * (f64::from(x[j]) - shift[j]);
    }
}

/// A row of [`sums`] without weights.
#[inline(always)]
fn centered(x: &[f32; WIDTH], shift: &[f64; WIDTH], (a, b): (&mut [f64; WIDTH], &mut [f64; WIDTH])) {
    for j in 0..WIDTH {
        let w = f64::from(x[j]) - shift[j];
        a[j] += w;
        b[j] += w * w;
    }
}

/// A batch normalization's constants for each channel, of which the gradient by the images is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NormSlopes<'a> {
    /// The mean of the images.
    pub(crate) mean: &'a [f32],
    /// The factor of the centered images.
    pub(crate) slope: &'a [f32],
    /// The mean of the gradients.
    pub(crate) offset: &'a [f32],
    /// The factor of the whole.
    pub(crate) factor: &'a [f32],
}

/// `dy = (dy - (x - mean) * slope - offset) * factor`, each constant repeated along `dy`.
#[inline(always)]
pub(super) fn norm_gradient<const FMA: bool>(slopes: NormSlopes<'_>, x: &[f32], dy: &mut [f32]) {
    let NormSlopes { mean, slope, offset, factor } = slopes;
    if let (&[mean], &[slope], &[offset], &[factor]) = (mean, slope, offset, factor) {
        let x = &x[..dy.len()];
        for i in 0..dy.len() {
            dy[i] = (dy[i] - fma::<FMA>(x[i] - mean, slope, offset)) * factor;
        }
        return;
    }
    let n = mean.len();
    let (slope, offset, factor) = (&slope[..n], &offset[..n], &factor[..n]);
    for (dy, x) in dy.chunks_exact_mut(n.max(1)).zip(x.chunks_exact(n.max(1))) {
        for j in 0..n {
            dy[j] = (dy[j] - fma::<FMA>(x[j] - mean[j], slope[j], offset[j])) * factor[j];
        }
    }
}
