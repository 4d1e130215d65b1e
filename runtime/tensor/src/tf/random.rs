//! Random tensors, bit for bit equal to those of TensorFlow's CPU kernels with the same seeds.
//!
//! ```text
//! seeds ──▶ Philox: blocks of four words ──Distribution──▶ groups of elements, each from its own blocks
//! ```
//!
//! A group of elements depends on its number only, so results do not depend on the number of workers. The
//! last bit of a normally distributed number depends on the machine's logarithm, sine and cosine.

use std::sync::{Mutex, PoisonError};

use half::{bf16, f16};

use super::fast::{self, Cx};
use super::philox::{Philox, WORDS, Words, pair, unit_f32, unit_f64};
use super::real::expect_float;
use crate::error::invalid;
use crate::scratch::{collected, filled};
use crate::{DType, Element, HostTensor, Shape, TensorError};

/// The generator of a stateful operator. Each use takes the next part of the stream.
#[derive(Debug)]
pub struct Generator(Mutex<Philox>);

/// The number of blocks that an operator reserves for each element.
pub(super) const RESERVED: u64 = 256;

impl Generator {
    /// The generator at the beginning of its stream.
    pub fn new(start: Philox) -> Generator {
        Generator(Mutex::new(start))
    }

    /// A generator at the same position, which goes on by itself.
    pub fn again(&self) -> Generator {
        Generator::new(self.take(0))
    }

    /// Takes `blocks` blocks from the stream, and returns the position of the first one.
    pub(super) fn take(&self, blocks: u64) -> Philox {
        let mut next = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = *next;
        *next = taken.skipped(blocks);
        taken
    }

    /// Takes the blocks for a tensor of `n` elements, and returns the position of the first one.
    pub fn take_for(&self, n: usize) -> Philox {
        self.take((n as u64).wrapping_mul(RESERVED))
    }
}

/// The distribution of the elements of a random tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Floats, uniform on [0, 1).
    Uniform,
    /// Floats with mean 0 and standard deviation 1.
    Normal,
    /// [`Distribution::Normal`] without numbers beyond two standard deviations.
    Truncated,
    /// Integers, uniform over all values of the dtype.
    Bits,
    /// Integers from the first number up to but not including the second one. Numbers of ui64 are
    /// reinterpreted as i64.
    Between(i64, i64),
}

impl Distribution {
    /// The uniform distribution of integers between two scalars of the result's type. 64-bit unsigned ends
    /// keep their bits.
    ///
    /// # Errors
    /// For ends that are no scalars of this type, and for other types.
    pub fn between(
        op: &'static str,
        dtype: DType,
        ends: [&HostTensor; 2],
        cx: &Cx<'_>,
    ) -> Result<Distribution, TensorError> {
        let end = |what: &'static str, x: &HostTensor| {
            x.expect_dtype(what, dtype)?;
            x.expect_shape(what, &Shape::scalar())?;
            if dtype == DType::UI64 {
                return Ok(x.read::<u64>()?[0] as i64);
            }
            let wide = fast::cast(x, DType::I64, cx)?;
            let end = wide.read::<i64>()?[0];
            Ok::<_, TensorError>(end)
        };
        match dtype {
            DType::I32 | DType::I64 | DType::UI32 | DType::UI64 => {
                Ok(Distribution::Between(end("minval", ends[0])?, end("maxval", ends[1])?))
            }
            dtype => Err(TensorError::Unsupported { op, dtype }),
        }
    }
}

/// The floats of one block, as f64.
#[derive(Clone, Copy, Default)]
pub(super) struct Group {
    pub(super) numbers: [f64; WORDS],
    pub(super) n: usize,
}

impl Group {
    /// The numbers in their order.
    pub(super) fn get(&self) -> &[f64] {
        &self.numbers[..self.n]
    }
}

/// The function from a block to uniform or normal floats of this type.
pub(super) fn group_of(distribution: Distribution, dtype: DType) -> Option<fn([u32; WORDS]) -> Group> {
    use Distribution::{Normal, Uniform};
    let group: fn([u32; WORDS]) -> Group = match (distribution, dtype) {
        (Uniform, DType::F16) => |words| four(words.map(|word| unit_f16(word).to_f64())),
        (Uniform, DType::BF16) => |words| four(words.map(|word| unit_bf16(word).to_f64())),
        (Uniform, DType::F32) => |words| four(words.map(|word| unit_f32(word).into())),
        (Uniform, DType::F64) => |[a, b, c, d]| two([unit_f64(a, b), unit_f64(c, d)]),
        (Normal, DType::F16) => |words| four(normal_f32(words).map(|x| f16::from_f32(x).to_f64())),
        (Normal, DType::BF16) => |words| four(normal_f32(words).map(|x| bf16::from_f32(x).to_f64())),
        (Normal, DType::F32) => |words| four(normal_f32(words).map(f64::from)),
        (Normal, DType::F64) => |words| two(box_muller_f64(words)),
        _ => return None,
    };
    Some(group)
}

fn four(numbers: [f64; WORDS]) -> Group {
    Group { numbers, n: WORDS }
}

pub(super) fn two([a, b]: [f64; 2]) -> Group {
    Group { numbers: [a, b, 0.0, 0.0], n: 2 }
}

/// The number in [0, 1) whose fraction bits are the lowest 10 bits of a word.
fn unit_f16(word: u32) -> f16 {
    f16::from_bits(f16::ONE.to_bits() | word as u16 & 0x3ff) - f16::ONE
}

/// The number in [0, 1) whose fraction bits are the lowest 7 bits of a word.
fn unit_bf16(word: u32) -> bf16 {
    bf16::from_bits(bf16::ONE.to_bits() | word as u16 & 0x7f) - bf16::ONE
}

/// A random tensor.
pub fn random(
    op: &'static str,
    distribution: Distribution,
    (dtype, shape): (DType, Shape),
    from: Philox,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    use Distribution::{Between, Bits, Normal, Truncated, Uniform};
    let out = HostTensor::allocate(dtype, shape, cx.allocator)?;
    match (distribution, dtype) {
        (Uniform, DType::F16) => groups::<f16, 4>(&out, from, cx, |words| words.map(unit_f16)),
        (Uniform, DType::BF16) => groups::<bf16, 4>(&out, from, cx, |words| words.map(unit_bf16)),
        (Uniform, DType::F32) => groups::<f32, 4>(&out, from, cx, |words| words.map(unit_f32)),
        (Uniform, DType::F64) => {
            groups::<f64, 2>(&out, from, cx, |[a, b, c, d]| [unit_f64(a, b), unit_f64(c, d)])
        }
        (Normal, DType::F16) => {
            groups::<f16, 4>(&out, from, cx, |words| normal_f32(words).map(f16::from_f32))
        }
        (Normal, DType::BF16) => {
            groups::<bf16, 4>(&out, from, cx, |words| normal_f32(words).map(bf16::from_f32))
        }
        (Normal, DType::F32) => groups::<f32, 4>(&out, from, cx, normal_f32),
        (Normal, DType::F64) => groups::<f64, 2>(&out, from, cx, box_muller_f64),
        (Truncated, DType::F16) => {
            streams::<f16, 4>(&out, from, cx, |words| truncated_f32(words).map(f16::from_f32))
        }
        (Truncated, DType::BF16) => {
            streams::<bf16, 4>(&out, from, cx, |words| truncated_f32(words).map(bf16::from_f32))
        }
        (Truncated, DType::F32) => streams::<f32, 4>(&out, from, cx, truncated_f32),
        (Truncated, DType::F64) => streams::<f64, 2>(&out, from, cx, truncated_f64),
        (Bits, DType::I32) => groups::<i32, 4>(&out, from, cx, |words| words.map(|word| word as i32)),
        (Bits, DType::UI32) => groups::<u32, 4>(&out, from, cx, |words| words),
        (Bits, DType::I64) => groups::<i64, 2>(&out, from, cx, |words| pairs(words).map(|bits| bits as i64)),
        (Bits, DType::UI64) => groups::<u64, 2>(&out, from, cx, pairs),
        (Between(low, high), DType::I32 | DType::UI32) => {
            let range = (high as u32).wrapping_sub(low as u32);
            expect_range(op, dtype, low, high)?;
            let number = |word: u32| (low as u32).wrapping_add(word % range);
            match dtype {
                DType::I32 => groups::<i32, 4>(&out, from, cx, |w| w.map(|word| number(word) as i32)),
                _ => groups::<u32, 4>(&out, from, cx, |words| words.map(number)),
            }
        }
        (Between(low, high), DType::I64 | DType::UI64) => {
            let range = (high as u64).wrapping_sub(low as u64);
            expect_range(op, dtype, low, high)?;
            let number = |bits: u64| (low as u64).wrapping_add(bits % range);
            match dtype {
                DType::I64 => groups::<i64, 2>(&out, from, cx, |w| pairs(w).map(|bits| number(bits) as i64)),
                _ => groups::<u64, 2>(&out, from, cx, |words| pairs(words).map(number)),
            }
        }
        (_, dtype) => return Err(TensorError::Unsupported { op, dtype }),
    }?;
    Ok(out)
}

/// Fails if the range is empty.
fn expect_range(op: &'static str, dtype: DType, low: i64, high: i64) -> Result<(), TensorError> {
    let is_signed = matches!(dtype, DType::I32 | DType::I64);
    if if is_signed { low < high } else { (low as u64) < high as u64 } {
        return Ok(());
    }
    let problem = match is_signed {
        true => format!("minval must be less than maxval, got {low} and {high}"),
        false => format!("minval must be less than maxval, got {} and {}", low as u64, high as u64),
    };
    invalid(op, problem)
}

/// Sets each group of `N` elements from one block: group `i` from the block `i` blocks after `from`.
fn groups<T: Element, const N: usize>(
    out: &HostTensor,
    from: Philox,
    cx: &Cx<'_>,
    group: impl Fn([u32; WORDS]) -> [T; N] + Sync,
) -> Result<(), TensorError> {
    cx.parts(&mut out.write::<T>()?, (N, 16), &|first, part| {
        for (i, out) in part.chunks_mut(N).enumerate() {
            let numbers = group(from.block((first / N + i) as u64));
            out.copy_from_slice(&numbers[..out.len()]);
        }
    });
    Ok(())
}

/// Sets each group of `N` elements from a stream of its own, which begins [`RESERVED`] words per element
/// after the stream of the previous group.
fn streams<T: Element, const N: usize>(
    out: &HostTensor,
    from: Philox,
    cx: &Cx<'_>,
    group: impl Fn(&mut Words) -> [T; N] + Sync,
) -> Result<(), TensorError> {
    let blocks = N as u64 * RESERVED / WORDS as u64;
    cx.parts(&mut out.write::<T>()?, (N, 32), &|first, part| {
        for (i, out) in part.chunks_mut(N).enumerate() {
            let number = (first / N + i) as u64;
            let numbers = group(&mut from.skipped(number.wrapping_mul(blocks)).words());
            out.copy_from_slice(&numbers[..out.len()]);
        }
    });
    Ok(())
}

fn pairs([a, b, c, d]: [u32; WORDS]) -> [u64; 2] {
    [pair(a, b), pair(c, d)]
}

/// Two numbers of the normal distribution from two words, by the method of Box and Muller.
fn box_muller_f32(a: u32, b: u32) -> [f32; 2] {
    let radius = (-2.0 * unit_f32(a).max(1e-7).ln()).sqrt();
    let angle = (2.0 * std::f64::consts::PI * f64::from(unit_f32(b))) as f32;
    [angle.sin() * radius, angle.cos() * radius]
}

/// [`box_muller_f32`] in f64, from four words.
fn box_muller_f64([a, b, c, d]: [u32; WORDS]) -> [f64; 2] {
    let radius = (-2.0 * unit_f64(a, b).max(1e-7).ln()).sqrt();
    let angle = 2.0 * std::f64::consts::PI * unit_f64(c, d);
    [angle.sin() * radius, angle.cos() * radius]
}

fn normal_f32([a, b, c, d]: [u32; WORDS]) -> [f32; 4] {
    let ([w, x], [y, z]) = (box_muller_f32(a, b), box_muller_f32(c, d));
    [w, x, y, z]
}

/// The first `N` drawn numbers that are inside; `draw` returns two numbers.
fn truncated<T: Copy + Default, const N: usize>(
    mut draw: impl FnMut() -> [T; 2],
    is_inside: impl Fn(T) -> bool,
) -> [T; N] {
    let (mut found, mut n) = ([T::default(); N], 0);
    loop {
        for number in draw() {
            if is_inside(number) {
                found[n] = number;
                n += 1;
                if n == N {
                    return found;
                }
            }
        }
    }
}

fn truncated_f32(words: &mut Words) -> [f32; 4] {
    let draw = || {
        let (a, b) = (words.next(), words.next());
        box_muller_f32(a, b)
    };
    truncated(draw, |x| x.abs() < 2.0)
}

fn truncated_f64(words: &mut Words) -> [f64; 2] {
    let draw = || box_muller_f64([(); WORDS].map(|()| words.next()));
    truncated(draw, |x| x.abs() < 2.0)
}

/// Items in a random order.
pub(super) fn shuffle<T>(items: &mut [T], words: &mut Words) {
    for i in 0..items.len().saturating_sub(1) {
        let left = (items.len() - i) as u32; // truncated as in TensorFlow
        items.swap(i, i + words.next().checked_rem(left).unwrap_or(0) as usize);
    }
}

/// `RandomShuffle`: the slices along the first axis in a random order.
pub fn random_shuffle(x: &HostTensor, generator: &Generator, cx: &Cx<'_>) -> Result<HostTensor, TensorError> {
    let n = x.shape().dims().first().copied().unwrap_or(0);
    if x.num_elements() <= 1 || n <= 1 {
        return Ok(x.clone());
    }
    let mut words = generator.take(((n - 1) as u64).div_ceil(WORDS as u64)).words();
    let mut order = collected(0..n)?;
    shuffle(&mut order, &mut words);
    let out = HostTensor::allocate(x.dtype(), x.shape().clone(), cx.allocator)?;
    {
        let (from, mut to) = (x.read_bytes()?, out.write_bytes()?);
        let slice = from.len() / n;
        for (&i, to) in order.iter().zip(to.chunks_exact_mut(slice)) {
            to.copy_from_slice(&from[i * slice..][..slice]);
        }
    }
    Ok(out)
}

/// `Multinomial` and `StatelessMultinomial`: for each row of logits `[batch, classes]`, `n` class numbers
/// drawn with the classes' probabilities. The probability of a logit that is not finite is 0.
pub fn multinomial(
    op: &'static str,
    logits: &HostTensor,
    n: usize,
    dtype: DType,
    generator: &Generator,
    cx: &Cx<'_>,
) -> Result<HostTensor, TensorError> {
    let &[batch, classes] = logits.shape().dims() else {
        return invalid(op, format!("logits should be a matrix, got shape {}", logits.shape()));
    };
    if classes == 0 {
        return invalid(op, "num_classes should be positive, got 0".to_owned());
    }
    expect_float(op, logits)?;
    let out = HostTensor::allocate(DType::I64, Shape::new(&[batch, n])?, cx.allocator)?;
    if out.num_elements() > 0 {
        let logits = fast::cast(logits, DType::F64, cx)?;
        // As in TensorFlow: the count rounded up to a multiple of 4, with two outputs per number.
        let per_row = (n as u64).div_ceil(4).wrapping_mul(8);
        let reserved = per_row.wrapping_mul(batch as u64).wrapping_mul(RESERVED);
        let mut words = generator.take(reserved).words();
        let (logits, mut to) = (logits.read::<f64>()?, out.write::<i64>()?);
        let mut sums = filled(classes, 0.0)?;
        for (logits, to) in logits.chunks_exact(classes).zip(to.chunks_exact_mut(n)) {
            let finite = || logits.iter().copied().filter(|x| x.is_finite());
            let max = finite().fold(f64::MIN, f64::max);
            let mut total = 0.0;
            for (sum, &logit) in sums.iter_mut().zip(logits) {
                total += if logit.is_finite() { (logit - max).exp() } else { 0.0 };
                *sum = total;
            }
            for to in to {
                let at = words.next_double() * total;
                *to = sums.partition_point(|&sum| sum <= at) as i64;
            }
        }
    }
    fast::cast(&out, dtype, cx)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mem::Malloc;

    fn drawn(generator: &Generator, dims: &[usize]) -> Vec<f32> {
        let malloc = Malloc::shared();
        let shape = Shape::new(dims).unwrap();
        let from = generator.take_for(shape.num_elements());
        let made = (DType::F32, shape);
        let x = random("RandomUniform", Distribution::Uniform, made, from, &Cx::serial(&malloc)).unwrap();
        x.read::<f32>().unwrap().to_vec()
    }

    #[test]
    fn a_generator_goes_on() {
        let generator = Generator::new(Philox::seeded(1, 2));
        let (first, second) = (drawn(&generator, &[3]), drawn(&generator, &[3]));
        assert_ne!(first, second);
        let start = Generator::new(Philox::seeded(1, 2));
        assert_eq!(first, drawn(&start, &[3]));
        assert_eq!(second, drawn(&Generator::new(Philox::seeded(1, 2).skipped(3 * 256)), &[3]));
        // An empty tensor takes no blocks; a shorter tensor is the beginning of a longer one.
        assert_eq!(drawn(&start, &[2, 0]), []);
        let second = Generator::new(Philox::seeded(1, 2).skipped(3 * 256));
        assert_eq!(drawn(&start, &[5])[..2], drawn(&second, &[2])[..]);
    }
}
