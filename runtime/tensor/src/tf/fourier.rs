//! Fourier transforms of complex numbers in double precision, of any length.
//!
//! ```text
//! a power of two      Cooley-Tukey, radix 2, in place
//! any other length    Bluestein: a convolution with a chirp, by transforms whose length is a power of two
//! ```

use std::f64::consts::PI;

use super::fast::{self, Cx};
use super::numeric::Domain;
use crate::error::invalid;
use crate::interrupt::is_interrupted;
use crate::mem::Allocator;
use crate::scratch::{collected, filled};
use crate::{Complex128, DType, HostTensor, Shape, TensorError};

/// `e^(i angle)`.
fn unit(angle: f64) -> Complex128 {
    Complex128 { re: angle.cos(), im: angle.sin() }
}

/// A transform of one length.
struct Plan {
    n: usize,
    /// `e^(-2 pi i k / m)` for `k < m / 2`. `m` is `n` if that is a power of two, else the padded length of
    /// Bluestein's algorithm.
    roots: Vec<Complex128>,
    chirp: Option<Chirp>,
}

/// Bluestein's chirp factors, and the transform of their conjugates, which are mirrored around 0 first.
struct Chirp {
    factors: Vec<Complex128>,
    spectrum: Vec<Complex128>,
}

impl Plan {
    fn new(n: usize) -> Result<Plan, TensorError> {
        let padded = if n.is_power_of_two() { n } else { (2 * n).next_power_of_two() };
        let roots = collected((0..padded / 2).map(|k| unit(-2.0 * PI * k as f64 / padded as f64)))?;
        let mut plan = Plan { n, roots, chirp: None };
        if padded != n {
            // The squares modulo 2n keep the angles small.
            let square = |k: usize| (k as u128 * k as u128 % (2 * n as u128)) as f64;
            let factors = collected((0..n).map(|k| unit(-PI * square(k) / n as f64)))?;
            let mut spectrum = filled(padded, Complex128::ZERO)?;
            for (k, factor) in factors.iter().enumerate() {
                spectrum[k] = factor.conjugated();
                spectrum[(padded - k) % padded] = factor.conjugated();
            }
            plan.powers(&mut spectrum);
            plan.chirp = Some(Chirp { factors, spectrum });
        }
        Ok(plan)
    }

    /// The forward transform, in place, of numbers whose count is a power of two.
    fn powers(&self, x: &mut [Complex128]) {
        let n = x.len();
        if n < 2 {
            return;
        }
        let shift = usize::BITS - n.trailing_zeros();
        for i in 0..n {
            let j = i.reverse_bits() >> shift;
            if i < j {
                x.swap(i, j);
            }
        }
        let mut half = 1;
        while half < n && !is_interrupted() {
            let step = n / (2 * half);
            for block in x.chunks_exact_mut(2 * half) {
                let (low, high) = block.split_at_mut(half);
                for (k, (low, high)) in low.iter_mut().zip(high).enumerate() {
                    let turned = high.times(self.roots[k * step]);
                    (*low, *high) = (low.plus(turned), low.plus(turned.negated()));
                }
            }
            half *= 2;
        }
    }

    /// The scratch space of [`Plan::forward`]; empty for a power of two.
    fn scratch(&self) -> Result<Vec<Complex128>, TensorError> {
        filled(self.chirp.as_ref().map_or(0, |chirp| chirp.spectrum.len()), Complex128::ZERO)
    }

    /// The forward transform in place.
    fn forward(&self, x: &mut [Complex128], scratch: &mut [Complex128]) {
        let Some(Chirp { factors, spectrum }) = &self.chirp else { return self.powers(x) };
        scratch.fill(Complex128::ZERO);
        scratch.iter_mut().zip(x.iter().zip(factors)).for_each(|(to, (x, factor))| *to = x.times(*factor));
        self.powers(scratch);
        // The inverse transform is the conjugate of the forward transform of the conjugates.
        scratch.iter_mut().zip(spectrum).for_each(|(x, factor)| *x = x.times(*factor).conjugated());
        self.powers(scratch);
        let scale = 1.0 / spectrum.len() as f64;
        for ((x, y), factor) in x.iter_mut().zip(scratch.iter()).zip(factors) {
            let y = y.conjugated().times(*factor);
            *x = Complex128 { re: y.re * scale, im: y.im * scale };
        }
    }

    /// The transform in place; the inverse is divided by the length.
    fn run(&self, x: &mut [Complex128], is_inverse: bool, scratch: &mut [Complex128]) {
        if !is_inverse {
            return self.forward(x, scratch);
        }
        x.iter_mut().for_each(|x| *x = x.conjugated());
        self.forward(x, scratch);
        let scale = 1.0 / self.n as f64;
        x.iter_mut().for_each(|x| *x = Complex128 { re: x.re * scale, im: -x.im * scale });
    }
}

/// Transforms along one axis of a row-major tensor: `outer` blocks of `n` rows of `inner` numbers.
fn along(x: &mut [Complex128], n: usize, inner: usize, is_inverse: bool) -> Result<(), TensorError> {
    let plan = Plan::new(n)?;
    let (mut line, mut scratch) = (filled(n, Complex128::ZERO)?, plan.scratch()?);
    for block in x.chunks_exact_mut(n * inner).take_while(|_| !is_interrupted()) {
        if inner == 1 {
            plan.run(block, is_inverse, &mut scratch);
            continue;
        }
        for i in (0..inner).take_while(|_| !is_interrupted()) {
            line.iter_mut().zip(block[i..].iter().step_by(inner)).for_each(|(to, from)| *to = *from);
            plan.run(&mut line, is_inverse, &mut scratch);
            block[i..].iter_mut().step_by(inner).zip(&line).for_each(|(to, from)| *to = *from);
        }
    }
    Ok(())
}

/// A tensor of complex numbers in double precision while it is transformed.
struct Spectrum {
    x: HostTensor,
    dims: Vec<usize>,
}

impl Spectrum {
    /// Transforms along a range of axes.
    fn transform(&self, axes: std::ops::Range<usize>, is_inverse: bool) -> Result<(), TensorError> {
        if self.x.num_elements() > 0 {
            let mut x = self.x.write::<Complex128>()?;
            for axis in axes {
                along(&mut x, self.dims[axis], self.dims[axis + 1..].iter().product(), is_inverse)?;
            }
        }
        Ok(())
    }

    /// The numbers of `x`, cut off or extended with zeros to these dimensions.
    fn fitted(x: &HostTensor, dims: Vec<usize>, cx: &Cx<'_>) -> Result<Spectrum, TensorError> {
        let wide = fast::cast(x, DType::Complex128, cx)?;
        let to = HostTensor::zeros(DType::Complex128, Shape::new(&dims)?, cx.allocator)?;
        if to.num_elements() > 0 && wide.num_elements() > 0 {
            let (from, mut to) = (wide.read::<Complex128>()?, to.write::<Complex128>()?);
            let common: Vec<usize> = dims.iter().zip(x.shape().dims()).map(|(a, b)| *a.min(b)).collect();
            let run = common.last().copied().unwrap_or(1);
            let outer = &common[..common.len().saturating_sub(1)];
            for i in 0..outer.iter().product() {
                let (mut rest, mut at, mut step) = (i, [0, 0], [1, 1]);
                for axis in (0..common.len()).rev() {
                    let own = [x.shape().dims()[axis], dims[axis]];
                    let index = if axis + 1 == common.len() { 0 } else { rest % common[axis] };
                    if axis + 1 < common.len() {
                        rest /= common[axis];
                    }
                    for side in 0..2 {
                        at[side] += index * step[side];
                        step[side] *= own[side];
                    }
                }
                to[at[1]..][..run].copy_from_slice(&from[at[0]..][..run]);
            }
        }
        Ok(Spectrum { x: to, dims })
    }
}

/// The first of the last `rank` axes.
fn first_axis(op: &'static str, x: &HostTensor, rank: usize) -> Result<usize, TensorError> {
    match x.shape().rank().checked_sub(rank) {
        Some(first) => Ok(first),
        None => invalid(op, format!("input must have rank of at least {rank}, got shape {}", x.shape())),
    }
}

fn expect_complex(op: &'static str, dtype: DType) -> Result<(), TensorError> {
    match dtype {
        DType::Complex64 | DType::Complex128 => Ok(()),
        dtype => Err(TensorError::Unsupported { op, dtype }),
    }
}

/// `FFT`, `FFT2D`, `FFT3D` and their inverses: the transform along the last `rank` axes.
pub fn fft(
    op: &'static str,
    x: &HostTensor,
    rank: usize,
    is_inverse: bool,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    expect_complex(op, x.dtype())?;
    let (first, dims) = (first_axis(op, x, rank)?, x.shape().dims().to_vec());
    let spectrum = Spectrum::fitted(x, dims, cx)?;
    spectrum.transform(first..x.shape().rank(), is_inverse)?;
    fast::cast(&spectrum.x, x.dtype(), cx)
}

/// The lengths of a transform, given by its operand `fft_length`.
fn lengths(op: &'static str, given: &[i64], rank: usize) -> Result<Vec<usize>, TensorError> {
    let lengths: Option<Vec<usize>> = given.iter().map(|&n| usize::try_from(n).ok()).collect();
    match lengths {
        Some(lengths) if lengths.len() == rank => Ok(lengths),
        _ => invalid(op, format!("`fft_length` is {given:?}, expected {rank} numbers that are not negative")),
    }
}

/// Fails if an axis from `first` on is shorter than its length in `least`. An axis of length 0 is accepted:
/// the operand counts as zeros.
fn expect_lengths(
    op: &'static str,
    x: &HostTensor,
    first: usize,
    least: &[usize],
) -> Result<(), TensorError> {
    let dims = &x.shape().dims()[first..];
    match dims.iter().zip(least).position(|(&dim, &least)| dim > 0 && dim < least) {
        None => Ok(()),
        Some(i) => invalid(
            op,
            format!("axis {} of shape {} must have a length of at least {}", first + i, x.shape(), least[i]),
        ),
    }
}

/// `RFFT`, `RFFT2D` and `RFFT3D`: the transform of real numbers, whose axes are cut off at the given lengths.
/// Along the last axis, the result has the first half of the spectrum only.
pub fn rfft(
    op: &'static str,
    x: &HostTensor,
    given: &[i64],
    rank: usize,
    dtype: DType,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    expect_complex(op, dtype)?;
    if !matches!(x.dtype(), DType::F32 | DType::F64) {
        return Err(TensorError::Unsupported { op, dtype: x.dtype() });
    }
    let (first, lengths) = (first_axis(op, x, rank)?, lengths(op, given, rank)?);
    expect_lengths(op, x, first, &lengths)?;
    let dims = [&x.shape().dims()[..first], &lengths].concat();
    let last = lengths[rank - 1];
    let kept = if last > 0 { last / 2 + 1 } else { 0 };
    let mut half = dims.clone();
    half[first + rank - 1] = kept;
    // A result that is too large is refused before any work.
    Shape::new(&half)?.num_bytes(dtype)?;
    let spectrum = Spectrum::fitted(x, dims, cx)?;
    spectrum.transform(first..first + rank, false)?;
    let cut = Spectrum::fitted(&spectrum.x, half, cx)?;
    fast::cast(&cut.x, dtype, cx)
}

/// `IRFFT`, `IRFFT2D` and `IRFFT3D`: real numbers from the first half of their spectrum.
pub fn irfft(
    op: &'static str,
    x: &HostTensor,
    given: &[i64],
    rank: usize,
    dtype: DType,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    expect_complex(op, x.dtype())?;
    let (first, lengths) = (first_axis(op, x, rank)?, lengths(op, given, rank)?);
    let last = lengths[rank - 1];
    let full = [&x.shape().dims()[..first], &lengths].concat();
    let mut half = full.clone();
    half[first + rank - 1] = last / 2 + 1;
    expect_lengths(op, x, first, &half[first..])?;
    let result = Shape::new(&full)?;
    if result.num_elements() == 0 {
        return HostTensor::zeros(dtype, result, cx.allocator);
    }
    let spectrum = Spectrum::fitted(x, half, cx)?;
    spectrum.transform(first..first + rank - 1, true)?;
    // The second half of each line is the conjugate of the first half, in reverse order.
    let whole = Spectrum::fitted(&spectrum.x, full, cx)?;
    for line in whole.x.write::<Complex128>()?.chunks_exact_mut(last) {
        line[0].im = 0.0;
        if last.is_multiple_of(2) {
            line[last / 2].im = 0.0;
        }
        for k in last / 2 + 1..last {
            line[k] = line[last - k].conjugated();
        }
    }
    whole.transform(first + rank - 1..first + rank, true)?;
    fast::cast(&real_parts(&whole.x, cx)?, dtype, cx)
}

/// The real parts, in f64.
fn real_parts(x: &HostTensor, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    let allocator: &std::sync::Arc<dyn Allocator> = cx.allocator;
    let out = HostTensor::allocate(DType::F64, x.shape().clone(), allocator)?;
    out.write::<f64>()?.iter_mut().zip(x.read::<Complex128>()?.iter()).for_each(|(to, from)| *to = from.re);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every length agrees with the definition.
    #[test]
    fn transforms_are_sums() {
        for n in 1..40usize {
            let x: Vec<Complex128> =
                (0..n).map(|i| Complex128 { re: (i * i % 7) as f64, im: (i % 5) as f64 - 2.0 }).collect();
            let mut y = x.clone();
            along(&mut y, n, 1, false).unwrap();
            for (k, y) in y.iter().enumerate() {
                let term =
                    |(i, x): (usize, &Complex128)| x.times(unit(-2.0 * PI * (i * k % n) as f64 / n as f64));
                let sum = x.iter().enumerate().map(term).fold(Complex128::ZERO, Complex128::plus);
                assert!((sum.re - y.re).hypot(sum.im - y.im) < 1e-11, "{n} {k}: {sum:?} {y:?}");
            }
            along(&mut y, n, 1, true).unwrap();
            assert!(x.iter().zip(&y).all(|(a, b)| (a.re - b.re).hypot(a.im - b.im) < 1e-12), "{n}");
        }
    }
}
