//! Random tensors.
//!
//! A stateful operator whose seeds are both 0 gets random seeds when its function is made, as in TensorFlow:
//! each load of a program draws different numbers.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use super::{count_in, of, owning, shape_in};
use crate::error::invalid;
use crate::scratch::collected;
use crate::tf::op::attrs::Attributes;
use crate::tf::op::function::Made;
use crate::tf::{
    self, AliasTable, CandidateAttrs, Distribution, Generator, Philox, Sampler, Samples, index::indices_of,
};
use crate::{HostTensor, Shape, TensorError};

/// The code of Philox in `alg` operands.
const PHILOX: i64 = 1;
/// The code in `alg` operands that leaves the choice to the device.
const AUTO: i64 = 3;

/// The generator of a stateful operator.
pub(super) fn generator(attrs: &Attributes<'_>) -> Result<Arc<Generator>, TensorError> {
    Ok(Arc::new(match [attrs.int("seed")?, attrs.int("seed2")?].map(|seed| seed as u64) {
        [0, 0] => unseeded(),
        [seed, seed2] => Generator::new(Philox::seeded(seed, seed2)),
    }))
}

/// A generator that begins anywhere.
pub(super) fn unseeded() -> Generator {
    // `RandomState` is the standard library's only source of random numbers.
    let [seed, seed2] = [(); 2].map(|()| RandomState::new().hash_one(0u8));
    Generator::new(Philox::seeded(seed, seed2))
}

/// The stream of random numbers for an operand with two seeds, i32 or i64.
fn seeds_in(op: &'static str, x: &HostTensor) -> Result<Philox, TensorError> {
    match (x.shape().dims(), &indices_of(op, x)?[..]) {
        ([2], &[a, b]) => Ok(Philox::scrambled([a as u64, b as u64])),
        _ => invalid(op, format!("seed must have shape [2], not {}", x.shape())),
    }
}

/// The stream of random numbers for a key, a counter and an algorithm.
fn stream_in(op: &'static str, [key, counter, algorithm]: [&HostTensor; 3]) -> Result<Philox, TensorError> {
    let algorithm = super::int_in(op, "alg", algorithm)?;
    if algorithm != PHILOX && algorithm != AUTO {
        return invalid(op, format!("unsupported algorithm {algorithm}: only Philox (1) is, and auto (3)"));
    }
    match (key.shape().dims(), counter.shape().dims()) {
        ([1], &[n]) if n >= 2 => {
            let (key, counter) = (key.read_as::<u64>("key")?, counter.read_as::<u64>("counter")?);
            Ok(Philox::at([counter[0], counter[1]], key[0]))
        }
        _ => {
            let (key, counter) = (key.shape(), counter.shape());
            invalid(op, format!("key of shape {key} and counter of shape {counter}, expected [1] and [2]"))
        }
    }
}

fn distribution(op: &str) -> Distribution {
    let kind = op.trim_start_matches("Stateless").trim_end_matches("V2");
    match kind.strip_prefix("Random").unwrap_or(kind) {
        "Uniform" => Distribution::Uniform,
        "UniformFullInt" => Distribution::Bits,
        "TruncatedNormal" => Distribution::Truncated,
        _ => Distribution::Normal,
    }
}

pub(in crate::tf::op) fn stateful(attrs: &Attributes<'_>) -> Made {
    let (op, dtype, generator) = (attrs.op(), attrs.dtype("dtype")?, generator(attrs)?);
    let distribution = distribution(op);
    owning(attrs, move |[shape], cx| {
        let shape = shape_in(op, "shape", &shape)?;
        let from = generator.take_for(shape.num_elements());
        tf::random(op, distribution, (dtype, shape), from, cx)
    })
}

pub(in crate::tf::op) fn stateful_int(attrs: &Attributes<'_>) -> Made {
    let (op, dtype, generator) = (attrs.op(), attrs.dtype("Tout")?, generator(attrs)?);
    owning(attrs, move |[shape, low, high], cx| {
        let shape = shape_in(op, "shape", &shape)?;
        let distribution = Distribution::between(op, dtype, [&low, &high], cx)?;
        let from = generator.take_for(shape.num_elements());
        tf::random(op, distribution, (dtype, shape), from, cx)
    })
}

pub(in crate::tf::op) fn shuffle(attrs: &Attributes<'_>) -> Made {
    let generator = generator(attrs)?;
    owning(attrs, move |[x], cx| tf::random_shuffle(&x, &generator, cx))
}

pub(in crate::tf::op) fn multinomial(attrs: &Attributes<'_>) -> Made {
    let (op, dtype, generator) = (attrs.op(), attrs.dtype("output_dtype")?, generator(attrs)?);
    owning(attrs, move |[logits, n], cx| {
        tf::multinomial(op, &logits, count_in(op, "num_samples", &n)?, dtype, &generator, cx)
    })
}

pub(in crate::tf::op) fn stateless_multinomial(attrs: &Attributes<'_>) -> Made {
    let (op, dtype) = (attrs.op(), attrs.dtype("output_dtype")?);
    owning(attrs, move |[logits, n, seed], cx| {
        let generator = Generator::new(seeds_in(op, &seed)?);
        tf::multinomial(op, &logits, count_in(op, "num_samples", &n)?, dtype, &generator, cx)
    })
}

pub(in crate::tf::op) fn stateless(attrs: &Attributes<'_>) -> Made {
    let (op, dtype) = (attrs.op(), attrs.dtype("dtype")?);
    let distribution = distribution(op);
    owning(attrs, move |[shape, seed], cx| {
        let (shape, from) = (shape_in(op, "shape", &shape)?, seeds_in(op, &seed)?);
        tf::random(op, distribution, (dtype, shape), from, cx)
    })
}

pub(in crate::tf::op) fn stateless_int(attrs: &Attributes<'_>) -> Made {
    let (op, dtype) = (attrs.op(), attrs.dtype("dtype")?);
    owning(attrs, move |[shape, seed, low, high], cx| {
        let (shape, from) = (shape_in(op, "shape", &shape)?, seeds_in(op, &seed)?);
        tf::random(op, Distribution::between(op, dtype, [&low, &high], cx)?, (dtype, shape), from, cx)
    })
}

pub(in crate::tf::op) fn stateless_v2(attrs: &Attributes<'_>) -> Made {
    let (op, dtype) = (attrs.op(), attrs.dtype("dtype")?);
    let distribution = distribution(op);
    owning(attrs, move |[shape, key, counter, algorithm], cx| {
        let from = stream_in(op, [&key, &counter, &algorithm])?;
        tf::random(op, distribution, (dtype, shape_in(op, "shape", &shape)?), from, cx)
    })
}

pub(in crate::tf::op) fn stateless_int_v2(attrs: &Attributes<'_>) -> Made {
    let (op, dtype) = (attrs.op(), attrs.dtype("dtype")?);
    owning(attrs, move |[shape, key, counter, algorithm, low, high], cx| {
        let from = stream_in(op, [&key, &counter, &algorithm])?;
        let distribution = Distribution::between(op, dtype, [&low, &high], cx)?;
        tf::random(op, distribution, (dtype, shape_in(op, "shape", &shape)?), from, cx)
    })
}

/// The key and the counter of the stream for two seeds, and the algorithm if the operator returns it.
pub(in crate::tf::op) fn key_counter_alg(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    let has_algorithm = attrs.signature().outputs.len() > 2;
    of(attrs, move |[seed], m| {
        let from = seeds_in(op, seed)?;
        let mut results = vec![
            HostTensor::from_slice(Shape::new(&[1])?, &[from.key()], m)?,
            HostTensor::from_slice(Shape::new(&[2])?, &from.counter(), m)?,
        ];
        if has_algorithm {
            results.push(HostTensor::from_slice(Shape::scalar(), &[PHILOX as i32], m)?);
        }
        Ok(results)
    })
}

pub(in crate::tf::op) fn algorithm(attrs: &Attributes<'_>) -> Made {
    of(attrs, |[], m| HostTensor::from_slice(Shape::scalar(), &[PHILOX as i32], m))
}

pub(in crate::tf::op) fn stateless_shuffle(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    owning(attrs, move |[x, key, counter, algorithm], cx| {
        tf::random_shuffle(&x, &Generator::new(stream_in(op, [&key, &counter, &algorithm])?), cx)
    })
}

pub(in crate::tf::op) fn stateless_binomial(attrs: &Attributes<'_>) -> Made {
    let (op, dtype) = (attrs.op(), attrs.dtype("dtype")?);
    owning(attrs, move |[shape, seed, counts, probabilities], cx| {
        let (shape, from) = (shape_in(op, "shape", &shape)?, seeds_in(op, &seed)?);
        tf::binomial(op, [&counts, &probabilities], (dtype, shape), from, cx)
    })
}

pub(in crate::tf::op) fn gamma(attrs: &Attributes<'_>) -> Made {
    let (op, generator) = (attrs.op(), generator(attrs)?);
    owning(attrs, move |[shape, alpha], cx| {
        let samples = Samples::Each(shape_in(op, "shape", &shape)?, &generator);
        tf::random_gamma(op, &alpha, samples, cx)
    })
}

pub(in crate::tf::op) fn stateless_gamma(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    owning(attrs, move |[shape, seed, alpha], cx| {
        let samples = Samples::All(shape_in(op, "shape", &shape)?, seeds_in(op, &seed)?);
        tf::random_gamma(op, &alpha, samples, cx)
    })
}

pub(in crate::tf::op) fn stateless_gamma_v3(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    owning(attrs, move |[shape, key, counter, algorithm, alpha], cx| {
        let from = stream_in(op, [&key, &counter, &algorithm])?;
        tf::random_gamma(op, &alpha, Samples::All(shape_in(op, "shape", &shape)?, from), cx)
    })
}

pub(in crate::tf::op) fn poisson(attrs: &Attributes<'_>) -> Made {
    let (op, dtype, generator) = (attrs.op(), attrs.dtype("dtype")?, generator(attrs)?);
    owning(attrs, move |[shape, rates], cx| {
        let samples = Samples::Each(shape_in(op, "shape", &shape)?, &generator);
        tf::random_poisson(op, &rates, samples, dtype, cx)
    })
}

pub(in crate::tf::op) fn stateless_poisson(attrs: &Attributes<'_>) -> Made {
    let (op, dtype) = (attrs.op(), attrs.dtype("dtype")?);
    owning(attrs, move |[shape, seed, rates], cx| {
        let samples = Samples::All(shape_in(op, "shape", &shape)?, seeds_in(op, &seed)?);
        tf::random_poisson(op, &rates, samples, dtype, cx)
    })
}

pub(in crate::tf::op) fn truncated_normal(attrs: &Attributes<'_>) -> Made {
    let (op, generator) = (attrs.op(), generator(attrs)?);
    owning(attrs, move |[shape, mean, deviation, low, high], cx| {
        let shape = shape_in(op, "shape", &shape)?;
        tf::parameterized_truncated_normal(op, shape, [&mean, &deviation, &low, &high], &generator, cx)
    })
}

pub(in crate::tf::op) fn stateless_truncated_normal(attrs: &Attributes<'_>) -> Made {
    let op = attrs.op();
    owning(attrs, move |[shape, seed, mean, deviation, low, high], cx| {
        let (shape, from) = (shape_in(op, "shape", &shape)?, seeds_in(op, &seed)?);
        tf::stateless_truncated_normal(op, shape, [&mean, &deviation, &low, &high], from, cx)
    })
}

pub(in crate::tf::op) fn nondeterministic(attrs: &Attributes<'_>) -> Made {
    let (op, dtype, generator) = (attrs.op(), attrs.dtype("dtype")?, Arc::new(unseeded()));
    owning(attrs, move |[shape], cx| {
        let shape = shape_in(op, "shape", &shape)?;
        let from = generator.take_for(shape.num_elements());
        tf::random(op, Distribution::Bits, (dtype, shape), from, cx)
    })
}

/// An attribute that is positive and not above a limit.
fn positive(attrs: &Attributes<'_>, name: &str, limit: i64) -> Result<usize, TensorError> {
    match attrs.int(name)? {
        n if 0 < n && n <= limit => Ok(n as usize),
        n => invalid(attrs.op(), format!("attribute `{name}` is {n}")),
    }
}

/// [`positive`], of the size of an i32.
fn small_count(attrs: &Attributes<'_>, name: &str) -> Result<usize, TensorError> {
    positive(attrs, name, i32::MAX.into())
}

/// The largest number of weights that an attribute declares instead of listing them.
const MAX_RESERVED: usize = 1 << 24;

/// The weights of a sampler: some that are 0, then the given ones raised to a power; of every `num_shards`-th
/// only.
fn unigrams(attrs: &Attributes<'_>) -> Result<AliasTable, TensorError> {
    let op = attrs.op();
    if !attrs.bytes("vocab_file")?.is_empty() {
        return invalid(op, "weights in a file are not read: the attribute `unigrams` has them".to_owned());
    }
    let (given, power) = (attrs.floats("unigrams")?, attrs.float("distortion")? as f32);
    let (n, reserved) = (attrs.count("range_max")?, attrs.count("num_reserved_ids")?);
    let (shards, shard) = (small_count(attrs, "num_shards")?, attrs.count("shard")?);
    let is_own = |id: usize| id % shards == shard;
    let n_zeros = reserved / shards + usize::from(reserved % shards > shard);
    let kept = || given.iter().zip(n_zeros..).filter(|(_, id)| is_own(*id));
    if n_zeros > MAX_RESERVED || n_zeros + kept().count() != n {
        return invalid(
            op,
            format!("{n_zeros} reserved and {} other weights of {n} classes", kept().count()),
        );
    }
    let weights =
        std::iter::repeat_n(0.0, n_zeros).chain(kept().map(|(&weight, _)| (weight as f32).powf(power)));
    AliasTable::new(op, collected(weights)?)
}

pub(in crate::tf::op) fn candidates(attrs: &Attributes<'_>) -> Made {
    let (op, generator) = (attrs.op(), generator(attrs)?);
    let given = CandidateAttrs {
        n_true: small_count(attrs, "num_true")?,
        n_sampled: small_count(attrs, "num_sampled")?,
        is_unique: attrs.bool("unique")?,
    };
    let sampler = match op {
        "AllCandidateSampler" => Sampler::All,
        "UniformCandidateSampler" => Sampler::Uniform(positive(attrs, "range_max", i64::MAX)? as u64),
        "LogUniformCandidateSampler" => Sampler::LogUniform(positive(attrs, "range_max", i64::MAX)? as u64),
        "FixedUnigramCandidateSampler" => Sampler::Fixed(unigrams(attrs)?),
        _ => Sampler::learned(small_count(attrs, "range_max")? as u64),
    };
    owning(attrs, move |[classes], cx| tf::sample_candidates(op, &sampler, &given, &classes, &generator, cx))
}

pub(in crate::tf::op) fn accidental_hits(attrs: &Attributes<'_>) -> Made {
    let n_true = attrs.int("num_true")?;
    owning(attrs, move |[classes, candidates], cx| tf::accidental_hits(&classes, &candidates, n_true, cx))
}
