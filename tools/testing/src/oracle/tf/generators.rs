//! Generators of random numbers in variables: `[counter low, counter high, key]`, as i64. Each use moves the
//! counter.

use befrost_tensor::tf::fast;
use befrost_tensor::tf::op::Attributes;
use befrost_tensor::tf::{Distribution, Philox, binomial, random};
use befrost_tensor::{HostTensor, Shape, TensorError};

use super::state::Cx;
use super::value::{TfValue, invalid};
use super::variables::{read, update};
use crate::oracle::frames::Stop;

/// The operators that draw numbers of one distribution.
const DISTRIBUTIONS: [(&str, Distribution); 4] = [
    ("StatefulUniform", Distribution::Uniform),
    ("StatefulUniformFullInt", Distribution::Bits),
    ("StatefulStandardNormalV2", Distribution::Normal),
    ("StatefulTruncatedNormal", Distribution::Truncated),
];

/// The results of an op on a generator; `None` for other ops.
pub(super) fn evaluate(
    name: &str,
    operands: &[TfValue],
    attrs: &Attributes<'_>,
    cx: &mut Cx<'_>,
) -> Result<Option<Vec<TfValue>>, Stop> {
    let tensors = fast::Cx::serial(cx.allocator);
    let shape = |of: &TfValue| -> Result<Shape, Stop> { Ok(Shape::from_i64(&of.ints()?)?) };
    let of = |shape: Shape| -> Result<_, TensorError> { Ok((attrs.dtype("dtype")?, shape)) };
    let known = DISTRIBUTIONS.iter().find(|(op, _)| *op == name);
    let (generator, first, numbers, steps) = match (name, operands) {
        // The variable begins with the algorithm.
        ("StatefulStandardNormal", [generator, to]) => {
            let (from, shape) = (position(generator, 1)?, shape(to)?);
            let steps = shape.num_elements() as u64;
            let numbers = random(attrs.op(), Distribution::Normal, of(shape)?, from, &tensors)?;
            (generator, 1, vec![numbers], steps)
        }
        ("StatefulUniformInt", [generator, algorithm, to, low, high]) => {
            let ends = [low.tensor()?, high.tensor()?];
            let distribution = Distribution::between(attrs.op(), attrs.dtype("dtype")?, ends, &tensors)?;
            let (from, shape) = (philox(generator, algorithm)?, shape(to)?);
            let steps = shape.num_elements() as u64;
            (generator, 0, vec![random(attrs.op(), distribution, of(shape)?, from, &tensors)?], steps)
        }
        ("StatefulRandomBinomial", [generator, algorithm, to, counts, chances]) => {
            let (from, shape) = (philox(generator, algorithm)?, shape(to)?);
            let parameters = [counts.tensor()?, chances.tensor()?];
            let rank = parameters.map(|x| x.shape().rank()).into_iter().max().unwrap_or(0);
            let numbers = binomial(attrs.op(), parameters, of(shape.clone())?, from, &tensors)?;
            let (samples, each) = shape.dims().split_at(shape.rank() - rank);
            let [samples, each] = [samples, each].map(|dims| dims.iter().product::<usize>() as u64);
            // Fifty groups of four words for each sample, in blocks of four samples.
            (generator, 0, vec![numbers], each * 200 * (samples + 3) / 4)
        }
        ("RngSkip", [generator, algorithm, steps]) => {
            philox(generator, algorithm)?;
            (generator, 0, Vec::new(), steps.int()? as u64)
        }
        ("RngReadAndSkip", [generator, algorithm, steps]) => {
            philox(generator, algorithm)?;
            let words = read(generator)?.read_as::<i64>("state")?[..3].to_vec();
            let old = HostTensor::from_slice(Shape::new(&[3])?, &words, cx.allocator)?;
            let steps = steps.tensor()?.read_as::<u64>("delta")?[0];
            (generator, 0, vec![old], steps)
        }
        (_, [generator, algorithm, to]) if let Some((_, distribution)) = known => {
            let (from, shape) = (philox(generator, algorithm)?, shape(to)?);
            let steps = shape.num_elements() as u64;
            (generator, 0, vec![random(attrs.op(), *distribution, of(shape)?, from, &tensors)?], steps)
        }
        _ => return Ok(None),
    };
    let next = position(generator, first)?.skipped(steps.wrapping_mul(256)).counter();
    update(std::slice::from_ref(generator), |old| {
        let mut words = old[0].read_as::<i64>("state")?.to_vec();
        (words[first], words[first + 1]) = (next[0] as i64, next[1] as i64);
        Ok(vec![HostTensor::from_slice(old[0].shape().clone(), &words, cx.allocator)?])
    })?;
    Ok(Some(numbers.into_iter().map(TfValue::Tensor).collect()))
}

/// The position of a generator whose words begin at `first`.
fn position(generator: &TfValue, first: usize) -> Result<Philox, Stop> {
    let words = read(generator)?;
    let words = words.read_as::<i64>("state")?;
    match words.get(first..) {
        Some(&[low, high, key, ..]) => Ok(Philox::at([low as u64, high as u64], key as u64)),
        _ => Err(invalid(format!("a generator of {} words", words.len()))),
    }
}

/// The position of a generator of the Philox algorithm: number 1, or 3 for any.
fn philox(generator: &TfValue, algorithm: &TfValue) -> Result<Philox, Stop> {
    match algorithm.int()? {
        1 | 3 => position(generator, 0),
        other => Err(invalid(format!("a generator of algorithm {other}"))),
    }
}
