//! Random numbers of the gamma, the Poisson and the truncated normal distribution, bit for bit those of
//! TensorFlow's CPU kernels.
//!
//! ```text
//! parameters, n ──▶ element j of parameter i: the stream 256 (i n + j) blocks further ──▶ rejection
//! ```
//!
//! A number is drawn by rejection, so it takes as many random bits as it needs from a stream of its own.
//!
//! Numbers of truncated normal distributions are taken from one stream, one after the other. TensorFlow
//! divides long ones among its threads; here they are those of one thread. TensorFlow computes them in the
//! type of the result: here they are computed in f64 and rounded after each operation, which is the same.

use super::fast::{self, Cx};
use super::movement::broadcast_to;
use super::numeric::{AnyWide, Domain, Number};
use super::philox::{Philox, WORDS};
use super::random::{Distribution, Generator, Group, RESERVED, group_of};
use super::real::{expect_float, reals};
use super::walk::broadcast_shape;
use crate::element::with_element;
use crate::error::invalid;
use crate::interrupt::is_interrupted;
use crate::{DType, HostTensor, Shape, TensorError};

/// Numbers of a distribution in the order in which TensorFlow's samplers take them: the last of each block
/// first.
pub(super) struct LastFirst {
    group: fn([u32; WORDS]) -> Group,
    kept: Group,
}

impl LastFirst {
    pub(super) fn new(group: fn([u32; WORDS]) -> Group) -> LastFirst {
        LastFirst { group, kept: Group::default() }
    }

    /// The next number. A block is taken from the stream when the last one is used up.
    pub(super) fn draw(&mut self, stream: &mut Philox) -> f64 {
        if self.kept.n == 0 {
            self.kept = taken(self.group, stream);
        }
        self.kept.n -= 1;
        self.kept.numbers[self.kept.n]
    }
}

/// The numbers of the next block of a stream.
fn taken(group: fn([u32; WORDS]) -> Group, stream: &mut Philox) -> Group {
    let block = stream.block(0);
    *stream = stream.skipped(1);
    group(block)
}

/// The float type in which numbers are computed.
#[derive(Clone, Copy)]
struct NumberSource {
    round: fn(f64) -> f64,
    uniform: fn([u32; WORDS]) -> Group,
    normal: fn([u32; WORDS]) -> Group,
}

fn rounded<T: Number>(x: f64) -> f64 {
    T::cast(AnyWide::Real(x)).widen().any().real()
}

impl NumberSource {
    fn of(op: &'static str, dtype: DType) -> Result<NumberSource, TensorError> {
        let round = with_element!(dtype, T => rounded::<T>);
        let group = |of| group_of(of, dtype).ok_or(TensorError::Unsupported { op, dtype });
        Ok(NumberSource {
            round,
            uniform: group(Distribution::Uniform)?,
            normal: group(Distribution::Normal)?,
        })
    }
}

/// A number of the gamma distribution with shape `alpha`: for a shape of 1 of the exponential distribution,
/// otherwise by the method of Marsaglia and Tsang. Below 1 it is one of `alpha` + 1, times a power of a
/// uniform number.
fn gamma(alpha: f64, by: NumberSource, mut stream: Philox) -> f64 {
    let (mut uniform, mut normal) = (LastFirst::new(by.uniform), LastFirst::new(by.normal));
    if alpha == 1.0 {
        return -(-uniform.draw(&mut stream)).ln_1p();
    }
    let is_small = alpha < 1.0;
    let d = alpha + if is_small { 2.0 / 3.0 } else { -1.0 / 3.0 };
    let c = 1.0 / 3.0 / d.sqrt();
    while !is_interrupted() {
        let x = normal.draw(&mut stream);
        let v = 1.0 + c * x;
        if v <= 0.0 {
            continue;
        }
        let v = v * v * v;
        let u = uniform.draw(&mut stream);
        if u < 1.0 - 0.0331 * (x * x) * (x * x) || u.ln() < 0.5 * x * x + d * (1.0 - v + v.ln()) {
            let power = if is_small { uniform.draw(&mut stream).powf(1.0 / alpha) } else { 1.0 };
            return d * v * power;
        }
    }
    0.0
}

/// A number of the Poisson distribution: by Knuth's product of uniform numbers up to a rate of 10, from there
/// by Hormann's transformed rejection.
fn poisson(rate: f64, by: NumberSource, mut stream: Philox) -> f64 {
    let mut uniform = LastFirst::new(by.uniform);
    if rate.is_nan() || rate == f64::INFINITY {
        return rate;
    }
    if rate < 10.0 {
        let (end, mut product, mut n) = ((-rate).exp(), 1.0, 0.0);
        while !is_interrupted() {
            product *= uniform.draw(&mut stream);
            if product <= end {
                break;
            }
            n += 1.0;
        }
        return n;
    }
    let log_rate = rate.ln();
    let b = 0.931 + 2.53 * rate.sqrt();
    let a = -0.059 + 0.02483 * b;
    let inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    while !is_interrupted() {
        let u = uniform.draw(&mut stream) - 0.5;
        let v = uniform.draw(&mut stream);
        let shifted = 0.5 - u.abs();
        let k = ((2.0 * a / shifted + b) * u + rate + 0.43).floor();
        if shifted >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2.0) {
            return k;
        }
        if k < 0.0 || shifted < 0.013 && v > shifted {
            continue;
        }
        let bound = -rate + k * log_rate - libm::lgamma(k + 1.0);
        if (v * inverse_alpha / (a / (shifted * shifted) + b)).ln() <= bound {
            return k;
        }
    }
    0.0
}

/// The shape and the stream of random numbers: operators with a generator put the samples in front of the
/// parameters; the shape of the others ends with that of the parameters.
#[derive(Debug)]
pub enum Samples<'a> {
    /// A number of samples of each parameter, and the generator.
    Each(Shape, &'a Generator),
    /// The shape of all numbers, and the position of the stream.
    All(Shape, Philox),
}

impl Samples<'_> {
    fn shape(&self, op: &'static str, parameters: &Shape) -> Result<Shape, TensorError> {
        match self {
            Samples::Each(samples, _) => Shape::new(&[samples.dims(), parameters.dims()].concat()),
            Samples::All(shape, _) if shape.dims().ends_with(parameters.dims()) => Ok(shape.clone()),
            Samples::All(shape, _) => {
                invalid(op, format!("shape {shape} does not end with the shape {parameters} of parameters"))
            }
        }
    }

    fn stream(self, n: usize) -> Philox {
        match self {
            Samples::Each(_, generator) => generator.take_for(n),
            Samples::All(_, stream) => stream,
        }
    }
}

/// Numbers in f64, each drawn for a parameter by `draw` from a stream of its own.
fn of_each(
    op: &'static str,
    parameters: &HostTensor,
    samples: Samples<'_>,
    draw: impl Fn(f64, Philox) -> f64 + Sync,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let out = HostTensor::allocate(DType::F64, samples.shape(op, parameters.shape())?, cx.allocator)?;
    if out.num_elements() == 0 {
        return Ok(out);
    }
    let (from, n) = (samples.stream(out.num_elements()), parameters.num_elements());
    let each = out.num_elements() / n;
    let parameters = fast::cast(parameters, DType::F64, cx)?;
    let parameters: &[f64] = &parameters.read::<f64>()?;
    cx.parts(&mut out.write::<f64>()?, (1, 512), &|first, part| {
        for (at, to) in (first..).zip(part) {
            // Numbers are counted parameter by parameter, and samples are the outer axis of the result.
            let i = (at % n * each + at / n) as u64;
            *to = draw(parameters[at % n], from.skipped(i.wrapping_mul(RESERVED)));
        }
    });
    Ok(out)
}

/// `RandomGamma`, `StatelessRandomGammaV2` and `StatelessRandomGammaV3`: numbers of gamma distributions.
pub fn random_gamma(
    op: &'static str,
    alpha: &HostTensor,
    samples: Samples<'_>,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    expect_float(op, alpha)?;
    let by = NumberSource::of(op, DType::F64)?;
    let out = of_each(op, alpha, samples, |alpha, stream| gamma(alpha, by, stream), cx)?;
    fast::cast(&out, alpha.dtype(), cx)
}

/// `RandomPoisson`, `RandomPoissonV2` and `StatelessRandomPoisson`: numbers of Poisson distributions.
pub fn random_poisson(
    op: &'static str,
    rates: &HostTensor,
    samples: Samples<'_>,
    dtype: DType,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    for dtype in [rates.dtype(), dtype] {
        if !matches!(dtype, DType::F16 | DType::F32 | DType::F64 | DType::I32 | DType::I64) {
            return Err(TensorError::Unsupported { op, dtype });
        }
    }
    let by = NumberSource::of(op, DType::F64)?;
    let out = of_each(op, rates, samples, |rate, stream| poisson(rate, by, stream), cx)?;
    fast::cast(&out, dtype, cx)
}

/// A normal distribution between two ends, by mean, standard deviation, minimum and maximum.
type Truncated = [f64; 4];

/// The largest number of rejections in a row.
const MAX_REJECTIONS: u32 = 1000;

/// Passes numbers of a truncated normal distribution to `put`, until it returns false. Returns false after
/// too many rejections.
///
/// Ends on both sides of the mean, one of them distant, accept normal numbers; near ends, uniform ones; ends
/// on one side, numbers of an exponential distribution.
fn truncated_normal(
    [mean, mut deviation, mut low, mut high]: Truncated,
    by: NumberSource,
    stream: &mut Philox,
    mut put: impl FnMut(f64) -> bool,
) -> bool {
    let r = by.round;
    if low == f64::NEG_INFINITY || high < mean {
        (low, high, deviation) = (high, low, -deviation);
    }
    let [low, high] = [low, high].map(|end| r(r(end - mean) / deviation));
    let root = r(r(r(low * low) + 4.0).sqrt());
    let exponent = r(0.5 + r(r(low * r(low - root)) / 4.0));
    let cutoff = r(r(2.0 * r(exponent.exp())) / r(low + root));
    let width = r(high - low);
    let distant = r(1.3);
    // A number that is not accepted is NaN.
    let accepted = |z: f64, is_it: bool| if is_it { z } else { f64::NAN };
    let propose: &dyn Fn(&mut Philox) -> Group =
        if low < -distant && high >= 0.0 || high > distant && low <= 0.0 {
            &|stream| {
                let normal = taken(by.normal, stream);
                Group { numbers: normal.numbers.map(|z| accepted(z, z >= low && z <= high)), ..normal }
            }
        } else if width < cutoff {
            let plus = if low < 0.0 { 0.0 } else { r(low * low) };
            &move |stream| {
                let (uniform, u) = (taken(by.uniform, stream), taken(by.uniform, stream));
                let numbers = std::array::from_fn(|i| {
                    let z = r(r(uniform.numbers[i] * width) + low);
                    accepted(z, u.numbers[i] <= r(r(r(plus - r(z * z)) / 2.0).exp()))
                });
                Group { numbers, ..uniform }
            }
        } else {
            let alpha = r(r(low + root) / 2.0);
            &move |stream| {
                let uniform = taken(by.uniform, stream);
                let [a, b, c, d] = uniform.numbers;
                let number = |u: f64, v: f64| {
                    let z = r(r(-r(u.ln()) / alpha) + low);
                    let x = if low < alpha { r(alpha - z) } else { r(low - alpha) };
                    accepted(z, v <= r(r(r(-x * x) / 2.0).exp()) && z < high)
                };
                Group { numbers: [number(a, b), number(c, d), 0.0, 0.0], n: uniform.n / 2 }
            }
        };
    let mut rejected = 0;
    while !is_interrupted() {
        for z in propose(stream).get() {
            if z.is_nan() {
                rejected += 1;
                if rejected == MAX_REJECTIONS {
                    return false;
                }
            } else if put(r(r(z * deviation) + mean)) {
                rejected = 0;
            } else {
                return true;
            }
        }
    }
    true
}

/// Fills `n` places of a distribution; place `i` is `to[at(i)]`.
fn fill_truncated(
    op: &'static str,
    of: Truncated,
    (by, stream): (NumberSource, &mut Philox),
    (n, at): (usize, impl Fn(usize) -> usize),
    to: &mut [f64],
) -> Result<(), TensorError> {
    let [_, deviation, low, high] = of;
    // Positively, so that NaN is refused.
    if !(deviation > 0.0 && low < high && (low.is_finite() || high.is_finite())) {
        return invalid(op, "the standard deviation is not positive, or the ends are no interval".to_owned());
    }
    let mut i = 0;
    let put = |number| {
        to[at(i)] = number;
        i += 1;
        i < n
    };
    if n == 0 || truncated_normal(of, by, stream, put) {
        return Ok(());
    }
    invalid(op, format!("{MAX_REJECTIONS} numbers in a row are outside of the ends"))
}

/// `ParameterizedTruncatedNormal`: numbers of truncated normal distributions, one for each position along the
/// first axis or one for all. `parameters` are means, standard deviations, minima and maxima.
pub fn parameterized_truncated_normal(
    op: &'static str,
    shape: Shape,
    parameters: [&HostTensor; 4],
    generator: &Generator,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let dtype = parameters[0].dtype();
    expect_float(op, parameters[0])?;
    let &[n, ..] = shape.dims() else { return invalid(op, "the shape has no axis".to_owned()) };
    let out = HostTensor::allocate(DType::F64, shape.clone(), cx.allocator)?;
    let all = out.num_elements();
    if all == 0 {
        return fast::cast(&out, dtype, cx);
    }
    let wide = parameters.map(|x| -> Result<HostTensor, TensorError> {
        x.expect_dtype("parameters", dtype)?;
        if x.shape().rank() > 1 {
            return invalid(op, format!("parameters have shape {}, expected a vector", x.shape()));
        }
        reals(op, x, cx.allocator)
    });
    let [means, deviations, lows, highs] = wide;
    let wide = [means?, deviations?, lows?, highs?];
    // One distribution is divided into parts of 100 numbers.
    let is_one =
        wide.iter().all(|x| x.num_elements() == 1) && wide[2..].iter().all(|x| x.shape().rank() == 0);
    let (batches, each) = if is_one { (all.div_ceil(100), 100) } else { (n, all / n) };
    if let Some(x) = wide.iter().find(|x| ![1, n].contains(&x.num_elements())) {
        return invalid(op, format!("parameters have shape {}, expected 1 or {n} of them", x.shape()));
    }
    let reserved =
        (batches as u64).wrapping_mul(2 * u64::from(MAX_REJECTIONS)).wrapping_mul(each as u64 + 3) / 4;
    let (by, mut stream) = (NumberSource::of(op, dtype)?, generator.take(reserved));
    {
        let [means, deviations, lows, highs] = &wide;
        let read = |x: &HostTensor, i: usize| -> Result<f64, TensorError> {
            let numbers = x.read::<f64>()?;
            Ok(numbers[if numbers.len() == 1 { 0 } else { i }])
        };
        let mut to = out.write::<f64>()?;
        for i in 0..batches {
            let of = [read(means, i)?, read(deviations, i)?, read(lows, i)?, read(highs, i)?];
            let start = i * each;
            fill_truncated(op, of, (by, &mut stream), (each.min(all - start), |j| start + j), &mut to)?;
            if is_interrupted() {
                break;
            }
        }
    }
    fast::cast(&out, dtype, cx)
}

/// `StatelessParameterizedTruncatedNormal`: numbers of truncated normal distributions, whose parameters
/// broadcast together to the end of the shape.
pub fn stateless_truncated_normal(
    op: &'static str,
    shape: Shape,
    parameters: [&HostTensor; 4],
    mut stream: Philox,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let dtype = parameters[0].dtype();
    let mut own = Shape::scalar();
    for x in parameters {
        x.expect_dtype("parameters", dtype)?;
        own = broadcast_shape(&own, x.shape())?;
    }
    let out = HostTensor::allocate(DType::F64, Samples::All(shape, stream).shape(op, &own)?, cx.allocator)?;
    let by = NumberSource::of(op, dtype)?;
    if out.num_elements() > 0 {
        let wide = |x: &HostTensor| broadcast_to(&reals(op, x, cx.allocator)?, &own, cx.allocator);
        let [means, deviations, lows, highs] = parameters.map(wide);
        let (means, deviations, lows, highs) = (means?, deviations?, lows?, highs?);
        let (means, deviations) = (means.read::<f64>()?, deviations.read::<f64>()?);
        let (lows, highs) = (lows.read::<f64>()?, highs.read::<f64>()?);
        let (batches, mut to) = (own.num_elements(), out.write::<f64>()?);
        let each = to.len() / batches;
        for i in 0..batches {
            let of = [means[i], deviations[i], lows[i], highs[i]];
            fill_truncated(op, of, (by, &mut stream), (each, |j| j * batches + i), &mut to)?;
            if is_interrupted() {
                break;
            }
        }
    }
    fast::cast(&out, dtype, cx)
}
