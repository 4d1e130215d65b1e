//! Random numbers of the binomial distribution, bit for bit those of TensorFlow's CPU kernel.

use super::fast::{self, Cx};
use super::movement::broadcast_to;
use super::numeric::{AnyWide, Domain, Number};
use super::philox::{Philox, unit_f64};
use super::random::two;
use super::variates::LastFirst;
use super::walk::broadcast_shape;
use crate::element::with_element;
use crate::error::invalid;
use crate::interrupt::is_interrupted;
use crate::{DType, HostTensor, Shape, TensorError};

/// Uniform numbers from a stream.
struct Uniforms {
    stream: Philox,
    numbers: LastFirst,
}

impl Uniforms {
    fn draw(&mut self) -> f64 {
        self.numbers.draw(&mut self.stream)
    }
}

/// The number of geometric random numbers whose sum stays below the count.
fn by_inversion(count: f64, probability: f64, uniforms: &mut Uniforms) -> f64 {
    let (mut sum, mut n) = (0.0, 0u64);
    while !is_interrupted() {
        sum += (uniforms.draw().ln() / (-probability).ln_1p()).ceil();
        if sum > count {
            break;
        }
        n += 1;
    }
    n as f64
}

/// The error of Stirling's approximation of log(k!).
fn stirling_tail(k: f64) -> f64 {
    const TAILS: [f64; 10] = [
        0.0810614667953272,
        0.0413406959554092,
        0.0276779256849983,
        0.02079067210376509,
        0.0166446911898211,
        0.0138761288230707,
        0.0118967099458917,
        0.0104112652619720,
        0.00925546218271273,
        0.00833056343336287,
    ];
    if k <= 9.0 {
        return TAILS[k as usize];
    }
    let square = (k + 1.0) * (k + 1.0);
    (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 / square) / square) / (k + 1.0)
}

/// Hormann's transformed rejection with squeeze.
fn by_rejection(count: f64, probability: f64, uniforms: &mut Uniforms) -> f64 {
    let deviation = (count * probability * (1.0 - probability)).sqrt();
    let b = 1.15 + 2.53 * deviation;
    let a = -0.0873 + 0.0248 * b + 0.01 * probability;
    let c = count * probability + 0.5;
    let v_r = 0.92 - 4.2 / b;
    let ratio = probability / (1.0 - probability);
    let alpha = (2.83 + 5.1 / b) * deviation;
    let m = ((count + 1.0) * probability).floor();
    while !is_interrupted() {
        let (u, v) = (uniforms.draw() - 0.5, uniforms.draw());
        let us = 0.5 - u.abs();
        let k = ((2.0 * a / us + b) * u + c).floor();
        if us >= 0.07 && v <= v_r {
            return k;
        }
        if k < 0.0 || k > count {
            continue;
        }
        let v = (v * alpha / (a / (us * us) + b)).ln();
        let bound = (m + 0.5) * ((m + 1.0) / (ratio * (count - m + 1.0))).ln()
            + (count + 1.0) * ((count - m + 1.0) / (count - k + 1.0)).ln()
            + (k + 0.5) * (ratio * (count - k + 1.0) / (k + 1.0)).ln()
            + stirling_tail(m)
            + stirling_tail(count - m)
            - stirling_tail(k)
            - stirling_tail(count - k);
        if v <= bound {
            return k;
        }
    }
    0.0
}

/// A number for a count and a probability up to 0.5, from the blocks of element `i`. `is_small` says that the
/// mean is below 10.
fn draw(count: f64, probability: f64, is_small: bool, from: Philox, i: u64) -> f64 {
    let blocks = if is_small { 42 } else { 256 };
    let numbers = LastFirst::new(|[a, b, c, d]| two([unit_f64(a, b), unit_f64(c, d)]));
    let mut uniforms = Uniforms { stream: from.skipped(i.wrapping_mul(blocks)), numbers };
    match is_small {
        true => by_inversion(count, probability, &mut uniforms),
        false => by_rejection(count, probability, &mut uniforms),
    }
}

/// `StatelessRandomBinomial` and `StatefulRandomBinomial`: numbers of successes of `counts` trials with
/// `probabilities`, which broadcast together to the end of the shape.
pub fn binomial(
    op: &'static str,
    [counts, probabilities]: [&HostTensor; 2],
    (dtype, shape): (DType, Shape),
    from: Philox,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    probabilities.expect_dtype("probs", counts.dtype())?;
    let own = broadcast_shape(counts.shape(), probabilities.shape())?;
    if !shape.dims().ends_with(own.dims()) {
        return invalid(op, format!("shape {shape} does not end with the shape {own} of counts and probs"));
    }
    let out = HostTensor::allocate(DType::F64, shape, cx.allocator)?;
    if out.num_elements() == 0 {
        return fast::cast(&out, dtype, cx);
    }
    let all = |x: &HostTensor| broadcast_to(x, &own, cx.allocator);
    let (counts, probabilities) = (all(counts)?, all(probabilities)?);
    let (n, samples) = (own.num_elements(), out.num_elements() / own.num_elements());
    with_element!(counts.dtype(), T => {
        let (counts, probabilities) = (counts.read::<T>()?, probabilities.read::<T>()?);
        let (counts, probabilities): (&[T], &[T]) = (&counts, &probabilities);
        let number = |x: T| x.widen().any().real();
        cx.parts(&mut out.write::<f64>()?, (1, 512), &|first, part| {
            for (at, to) in (first..).zip(part) {
                // Elements are numbered count by count, and samples are the outer axis of the result.
                let (own, i) = (at % n, (at % n * samples + at / n) as u64);
                let (count, p) = (number(counts[own]), number(probabilities[own]));
                // As in TensorFlow, the mean has the type of the counts.
                let is_small = |p: f64| {
                    let mean = counts[own].widen().times(T::cast(AnyWide::Real(p)).widen());
                    number(T::narrow(mean)) < 10.0
                };
                *to = if count.is_nan() || p.is_nan() {
                    f64::NAN
                } else if count <= 0.0 || p <= 0.0 {
                    0.0
                } else if p >= 1.0 {
                    count
                } else if p <= 0.5 {
                    draw(count, p, is_small(p), from, i)
                } else {
                    let q = number(T::cast(AnyWide::Real(1.0 - p)));
                    count - draw(count, q, is_small(q), from, i)
                };
            }
        });
    });
    fast::cast(&out, dtype, cx)
}
