//! Candidate samplers: class numbers to compare the true classes with, in a loss over few of many classes.
//!
//! ```text
//! stream of words ──Sampler──▶ class numbers ──if unique: without those drawn before──▶ candidates
//! probability of a class, number of draws ──▶ how often it is expected among the candidates
//! ```
//!
//! Random numbers are those of TensorFlow with the same seeds. A sampler that learns counts the true classes
//! that it was called with: its state belongs to the operator, like its random numbers.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use super::fast::Cx;
use super::philox::{WORDS, Words, pair, unit_f32};
use super::random::Generator;
use crate::error::invalid;
use crate::interrupt::is_interrupted;
use crate::scratch::{collected, filled, no_room, push};
use crate::{DType, HostTensor, Shape, TensorError};

/// The attributes of a sampler.
#[derive(Clone, Copy, Debug)]
pub struct CandidateAttrs {
    /// The number of true classes in a row.
    pub n_true: usize,
    /// The number of candidates.
    pub n_sampled: usize,
    /// True if all candidates differ.
    pub is_unique: bool,
}

/// The distribution of candidates over the classes.
#[derive(Debug)]
pub enum Sampler {
    /// Each class once, in order.
    All,
    /// The same probability for each of this number of classes.
    Uniform(u64),
    /// The logarithm of the class number plus one is nearly uniform.
    LogUniform(u64),
    /// The number of times that a class was a true one, plus one.
    Learned(Mutex<LearnedCounts>),
    /// Given weights.
    Fixed(AliasTable),
}

/// Numbers of occurrences of classes, each at least one.
#[derive(Debug)]
pub struct LearnedCounts {
    n: u64,
    /// Occurrences beyond the first one in each block of 2^level classes that has any, by level and number of
    /// the block.
    more: HashMap<(u32, u64), u32>,
}

impl LearnedCounts {
    /// The level whose only block has all classes.
    fn top(&self) -> u32 {
        self.n.next_power_of_two().trailing_zeros()
    }

    /// The number of occurrences in a block.
    fn weight(&self, level: u32, block: u64) -> u64 {
        let classes = self.n.saturating_sub(block << level).min(1 << level);
        classes + u64::from(self.more.get(&(level, block)).copied().unwrap_or(0))
    }

    fn total(&self) -> u64 {
        self.weight(self.top(), 0)
    }

    /// The class with the occurrence of this number.
    fn at(&self, mut number: u64) -> u64 {
        (0..self.top()).rev().fold(0, |block, level| {
            let left = self.weight(level, 2 * block);
            if number < left {
                return 2 * block;
            }
            number -= left;
            2 * block + 1
        })
    }

    /// Counts classes, as long as their sum is a positive i32.
    fn add(&mut self, classes: &[i64]) -> Result<(), TensorError> {
        let room = i32::MAX as u64 - self.total().min(i32::MAX as u64);
        for &class in classes.iter().take(usize::try_from(room).unwrap_or(usize::MAX)) {
            let top = self.top();
            self.more.try_reserve(top as usize + 1).map_err(|_| no_room::<u64>(self.more.len()))?;
            (0..=top).for_each(|level| *self.more.entry((level, class as u64 >> level)).or_default() += 1);
        }
        Ok(())
    }
}

/// Weights of classes as a table of pairs (Walker, 1977): a bucket for each class, with the class itself
/// below a probability and another class above it.
#[derive(Debug)]
pub struct AliasTable {
    weights: Vec<f32>,
    total: f32,
    buckets: Vec<(f32, usize)>,
}

impl AliasTable {
    /// The table of weights, which are finite and not negative, and not all zero.
    ///
    /// # Errors
    /// For other weights.
    pub fn new(op: &'static str, weights: Vec<f32>) -> Result<AliasTable, TensorError> {
        let total = weights.iter().sum::<f32>();
        if !total.is_finite() || total <= 0.0 || weights.iter().any(|&weight| weight < 0.0) {
            return invalid(op, "the weights are negative, not finite, or all zero".to_owned());
        }
        let sum = weights.iter().map(|&weight| f64::from(weight)).sum::<f64>();
        let mut rest =
            collected(weights.iter().map(|&weight| f64::from(weight * weights.len() as f32) / sum))?;
        let mut others = collected(0..weights.len())?;
        let (mut high, mut low) = (Vec::new(), Vec::new());
        for (i, &rest) in rest.iter().enumerate() {
            push(if rest < 1.0 { &mut low } else { &mut high }, i)?;
        }
        while let (Some(&over), Some(under)) = (high.last(), low.pop()) {
            high.pop();
            others[under] = over;
            rest[over] -= 1.0 - rest[under];
            push(if rest[over] < 1.0 { &mut low } else { &mut high }, over)?;
        }
        // Rounding leaves some that have to be full.
        high.iter().chain(&low).for_each(|&i| (rest[i], others[i]) = (1.0, i));
        let buckets = collected(rest.iter().zip(&others).map(|(&rest, &other)| (rest as f32, other)))?;
        Ok(AliasTable { weights, total, buckets })
    }

    fn sample(&self, words: &mut Words) -> usize {
        let (below, bucket) = (unit_f32(words.next()), words.next() as usize % self.buckets.len());
        let (limit, other) = self.buckets[bucket];
        if below < limit { bucket } else { other }
    }
}

impl Sampler {
    /// A sampler that learns, of this number of classes.
    pub fn learned(n: u64) -> Sampler {
        Sampler::Learned(Mutex::new(LearnedCounts { n, more: HashMap::new() }))
    }

    /// The number of classes that can be drawn.
    fn n_possible(&self, n_sampled: usize) -> u64 {
        match self {
            Sampler::All => n_sampled as u64,
            Sampler::Uniform(n) | Sampler::LogUniform(n) => *n,
            Sampler::Learned(counts) => counts.lock().unwrap_or_else(PoisonError::into_inner).n,
            Sampler::Fixed(table) => table.weights.iter().filter(|&&weight| weight > 0.0).count() as u64,
        }
    }

    /// The number of classes.
    fn n_classes(&self, n_sampled: usize) -> u64 {
        match self {
            Sampler::Fixed(table) => table.weights.len() as u64,
            other => other.n_possible(n_sampled),
        }
    }

    fn sample(&self, words: &mut Words) -> i64 {
        (match self {
            Sampler::All => 0,
            Sampler::Uniform(n) => {
                let (low, high) = (words.next(), words.next());
                pair(low, high) % n
            }
            Sampler::LogUniform(n) => {
                // Rounding may give the number after the last class.
                (((words.next_double() * (*n as f64).ln_1p()).exp() as u64).max(1) - 1) % n
            }
            Sampler::Learned(counts) => {
                let counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
                let total = counts.total() as u32;
                // The words that would make small numbers more likely are skipped.
                let skipped = if total.is_power_of_two() { 0 } else { u32::MAX % total + 1 };
                let mut word = words.next();
                while word < skipped && !is_interrupted() {
                    word = words.next();
                }
                counts.at(u64::from(word % total))
            }
            Sampler::Fixed(table) => table.sample(words) as u64,
        }) as i64
    }

    fn probability(&self, class: i64) -> f32 {
        match self {
            Sampler::All => 1.0,
            Sampler::Uniform(n) => (1.0 / *n as f64) as f32,
            Sampler::LogUniform(n) => {
                let class = class as f64;
                (((class + 2.0) / (class + 1.0)).ln() / (*n as f64).ln_1p()) as f32
            }
            Sampler::Learned(counts) => {
                let counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
                counts.weight(0, class as u64) as f32 / counts.total() as f32
            }
            Sampler::Fixed(table) => table.weights.get(class as usize).copied().unwrap_or(0.0) / table.total,
        }
    }
}

/// The number of times that a class of this probability is expected among `n` candidates, which took a number
/// of draws.
fn expected(probability: f32, n: usize, n_draws: usize) -> f32 {
    match n_draws == n {
        true => probability * n as f32,
        false => -(n_draws as f32 * (-probability).ln_1p()).exp_m1(),
    }
}

/// `UniformCandidateSampler` ...: the candidates, and how often the true classes `[batch, n_true]` and the
/// candidates are expected among them.
pub fn sample_candidates(
    op: &'static str,
    sampler: &Sampler,
    attrs: &CandidateAttrs,
    classes: &HostTensor,
    generator: &Generator,
    cx: &Cx<'_>,
) -> Result<[HostTensor; 3], TensorError> {
    let CandidateAttrs { n_true, n_sampled, is_unique } = *attrs;
    match classes.shape().dims() {
        [_, columns] if *columns == n_true => {}
        _ => {
            return invalid(
                op,
                format!("true classes of shape {}, expected {n_true} columns", classes.shape()),
            );
        }
    }
    if is_unique && n_sampled as u64 > sampler.n_possible(n_sampled) {
        return invalid(op, format!("{n_sampled} candidates of {} classes", sampler.n_possible(n_sampled)));
    }
    let n_classes = sampler.n_classes(n_sampled);
    let true_classes = classes.read_as::<i64>("true_classes")?;
    if let Some(class) = true_classes.iter().find(|&&class| class < 0 || class as u64 >= n_classes) {
        return invalid(op, format!("the true class {class} is not one of {n_classes}"));
    }
    let vector = Shape::new(&[n_sampled])?;
    let candidates = HostTensor::zeros(DType::I64, vector.clone(), cx.allocator)?;
    let of_true = HostTensor::zeros(DType::F32, classes.shape().clone(), cx.allocator)?;
    let of_candidates = HostTensor::zeros(DType::F32, vector, cx.allocator)?;
    // As many words as TensorFlow reserves.
    let mut words = generator.take((n_sampled as u64).saturating_mul(2048 / WORDS as u64)).words();
    let mut n_draws = 0;
    {
        let mut to = candidates.write::<i64>()?;
        let mut drawn: HashSet<i64> = HashSet::new();
        if is_unique && !matches!(sampler, Sampler::All) {
            drawn.try_reserve(n_sampled).map_err(|_| no_room::<i64>(n_sampled))?;
        }
        for (i, to) in to.iter_mut().enumerate() {
            if matches!(sampler, Sampler::All) {
                (*to, n_draws) = (i as i64, n_sampled);
                continue;
            }
            while !is_interrupted() {
                (*to, n_draws) = (sampler.sample(&mut words), n_draws + 1);
                if !is_unique || drawn.insert(*to) {
                    break;
                }
                if n_draws >= i32::MAX as usize {
                    return invalid(op, format!("{n_sampled} different candidates are too rare"));
                }
            }
        }
        let expected = |class: i64| match sampler {
            Sampler::All => 1.0,
            sampler => expected(sampler.probability(class), n_sampled, n_draws),
        };
        of_true
            .write::<f32>()?
            .iter_mut()
            .zip(true_classes.iter())
            .for_each(|(to, &class)| *to = expected(class));
        of_candidates
            .write::<f32>()?
            .iter_mut()
            .zip(to.iter())
            .for_each(|(to, &class)| *to = expected(class));
    }
    if let Sampler::Learned(counts) = sampler {
        counts.lock().unwrap_or_else(PoisonError::into_inner).add(&true_classes)?;
    }
    Ok([candidates, of_true, of_candidates])
}

/// `ComputeAccidentalHits`: for each true class `[batch, n_true]` among the candidates, the row, the position
/// of the candidate, and the lowest number, which takes the candidate out of a softmax.
pub fn accidental_hits(
    classes: &HostTensor,
    candidates: &HostTensor,
    n_true: i64,
    cx: &Cx<'_>,
) -> Result<[HostTensor; 3], TensorError> {
    let op = "ComputeAccidentalHits";
    let (classes_shape, candidates_shape) = (classes.shape(), candidates.shape());
    let columns = match (classes_shape.dims(), candidates_shape.dims()) {
        (&[_, columns], [_]) if columns as i64 == n_true => columns,
        _ => {
            let problem =
                format!("true classes of shape {classes_shape}, candidates of shape {candidates_shape}");
            return invalid(op, problem);
        }
    };
    let (classes, candidates) =
        (classes.read_as::<i64>("true_classes")?, candidates.read_as::<i64>("sampled_candidates")?);
    let mut positions: HashMap<i64, i64> = HashMap::new();
    positions.try_reserve(candidates.len()).map_err(|_| no_room::<i64>(candidates.len()))?;
    positions.extend(candidates.iter().copied().zip(0..));
    let (mut rows, mut ids) = (Vec::new(), Vec::new());
    for (i, class) in classes.iter().enumerate() {
        if let Some(&position) = positions.get(class) {
            push(&mut rows, (i / columns) as i32)?;
            push(&mut ids, position)?;
        }
    }
    let shape = Shape::new(&[rows.len()])?;
    let weights = filled(rows.len(), f32::MIN)?;
    Ok([
        HostTensor::from_slice(shape.clone(), &rows, cx.allocator)?,
        HostTensor::from_slice(shape.clone(), &ids, cx.allocator)?,
        HostTensor::from_slice(shape, &weights, cx.allocator)?,
    ])
}
