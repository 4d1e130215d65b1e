//! Connectionist temporal classification: sequences of labels from the probabilities of classes over time.
//!
//! Inputs are logits `[time, batch, classes]`, one class of which is the blank: no label. A path has a class
//! for each time; its labels are the classes without repetitions and blanks.
//!
//! ```text
//! path a a _ a b b ──▶ labels a a b
//! ```

use std::collections::HashMap;

use super::fast::{self, Cx};
use super::index::indices_of;
use super::real::expect_float;
use crate::error::invalid;
use crate::interrupt::is_interrupted;
use crate::scratch::{filled, no_room, push};
use crate::{DType, HostTensor, Shape, TensorError};

/// Logits in f64 and the lengths of sequences, checked.
struct LogitSequences {
    logits: HostTensor,
    time: usize,
    batch: usize,
    classes: usize,
    lengths: Vec<usize>,
}

impl LogitSequences {
    fn new(
        op: &'static str,
        inputs: &HostTensor,
        lengths: &HostTensor,
        cx: &Cx<'_>,
    ) -> Result<LogitSequences, TensorError> {
        expect_float(op, inputs)?;
        let &[time, batch, classes] = inputs.shape().dims() else {
            return invalid(op, format!("inputs of shape {}, expected rank 3", inputs.shape()));
        };
        if classes == 0 || *lengths.shape().dims() != [batch] {
            let (inputs, lengths) = (inputs.shape(), lengths.shape());
            return invalid(op, format!("inputs of shape {inputs} and lengths of shape {lengths}"));
        }
        let mut found = Vec::new();
        for (b, length) in indices_of(op, lengths)?.into_iter().enumerate() {
            match usize::try_from(length).ok().filter(|&length| length <= time) {
                Some(length) => push(&mut found, length)?,
                None => return invalid(op, format!("sequence_length[{b}] = {length} is not in [0, {time}]")),
            }
        }
        let logits = fast::cast(inputs, DType::F64, cx)?;
        Ok(LogitSequences { logits, time, batch, classes, lengths: found })
    }

    /// The range of the logits of a time and a sequence.
    fn row(&self, t: usize, b: usize) -> std::ops::Range<usize> {
        let start = (t * self.batch + b) * self.classes;
        start..start + self.classes
    }
}

/// log(exp(a) + exp(b)).
fn log_sum(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

/// The logarithm of the sum of the exponentials.
fn log_total(logits: &[f64]) -> f64 {
    let max = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if max == f64::NEG_INFINITY {
        max
    } else {
        max + logits.iter().map(|x| (x - max).exp()).sum::<f64>().ln()
    }
}

/// Sequences of labels as a sparse matrix: coordinates, labels and shape.
fn sparse_labels(sequences: &[Vec<i64>], cx: &Cx<'_>) -> Result<[HostTensor; 3], TensorError> {
    let (mut places, mut labels, mut longest) = (Vec::new(), Vec::new(), 0);
    for (b, sequence) in sequences.iter().enumerate() {
        longest = longest.max(sequence.len());
        for (i, &label) in sequence.iter().enumerate() {
            push(&mut places, b as i64)?;
            push(&mut places, i as i64)?;
            push(&mut labels, label)?;
        }
    }
    Ok([
        HostTensor::from_slice(Shape::new(&[labels.len(), 2])?, &places, cx.allocator)?,
        HostTensor::from_slice(Shape::new(&[labels.len()])?, &labels, cx.allocator)?,
        HostTensor::from_slice(Shape::new(&[2])?, &[sequences.len() as i64, longest as i64], cx.allocator)?,
    ])
}

/// `CTCGreedyDecoder`: the labels of the path of the most probable classes, as a sparse matrix, and the
/// negative sums of the largest logits. A negative `blank` counts from the end.
pub fn ctc_greedy(
    inputs: &HostTensor,
    lengths: &HostTensor,
    blank: i64,
    merges: bool,
    cx: &Cx<'_>,
) -> Result<Vec<HostTensor>, TensorError> {
    let op = "CTCGreedyDecoder";
    let all = LogitSequences::new(op, inputs, lengths, cx)?;
    let blank_index = if blank < 0 { blank.saturating_add(all.classes as i64) } else { blank };
    let blank_index = usize::try_from(blank_index).ok().filter(|&blank| blank < all.classes);
    let Some(blank) = blank_index else {
        return invalid(op, format!("blank_index {blank} is not one of {} classes", all.classes));
    };
    let sums = HostTensor::zeros(DType::F64, Shape::new(&[all.batch, 1])?, cx.allocator)?;
    let mut sequences = filled(all.batch, Vec::new())?;
    {
        let (logits, mut sums) = (all.logits.read::<f64>()?, sums.write::<f64>()?);
        for (b, (labels, sum)) in sequences.iter_mut().zip(sums.iter_mut()).enumerate() {
            let mut last = None;
            for t in (0..all.lengths[b]).take_while(|_| !is_interrupted()) {
                let row = &logits[all.row(t, b)];
                let best =
                    (0..row.len()).fold(0, |best, class| if row[class] > row[best] { class } else { best });
                *sum -= row[best];
                if best != blank && !(merges && last == Some(best)) {
                    push(labels, best as i64)?;
                }
                last = Some(best);
            }
        }
    }
    let mut results = Vec::from(sparse_labels(&sequences, cx)?);
    results.push(fast::cast(&sums, inputs.dtype(), cx)?);
    Ok(results)
}

/// The logarithms of the probabilities of the paths to a node that end with a blank, with its label, and of
/// all.
#[derive(Clone, Copy)]
struct PathProbability {
    blank: f64,
    label: f64,
    total: f64,
}

const IMPOSSIBLE: PathProbability =
    PathProbability { blank: f64::NEG_INFINITY, label: f64::NEG_INFINITY, total: f64::NEG_INFINITY };

/// A sequence of labels: that of its parent and one more label.
struct LabelNode {
    /// The parent and the label; `None` for the empty sequence.
    last: Option<(usize, usize)>,
    old: PathProbability,
    new: PathProbability,
}

impl LabelNode {
    fn is_active(&self) -> bool {
        self.new.total > f64::NEG_INFINITY
    }
}

/// The nodes of a search, of which the beam has the most probable ones, in descending order.
struct BeamSearch {
    width: usize,
    nodes: Vec<LabelNode>,
    children: HashMap<(usize, usize), usize>,
    beam: Vec<usize>,
}

impl BeamSearch {
    fn new(width: usize) -> Result<BeamSearch, TensorError> {
        let certain = PathProbability { blank: 0.0, label: f64::NEG_INFINITY, total: 0.0 };
        let mut nodes = Vec::new();
        push(&mut nodes, LabelNode { last: None, old: IMPOSSIBLE, new: certain })?;
        let mut beam = Vec::new();
        push(&mut beam, 0)?;
        Ok(BeamSearch { width, nodes, children: HashMap::new(), beam })
    }

    /// True if a node of this probability belongs to the beam.
    fn is_candidate(&self, total: f64) -> bool {
        let is_room = self.beam.len() < self.width;
        let is_above = |&last: &usize| total > self.nodes[last].new.total;
        total > f64::NEG_INFINITY && (is_room || self.beam.last().is_some_and(is_above))
    }

    /// Puts a node at its place in the beam. The last one of a full beam leaves it.
    fn enter(&mut self, node: usize) -> Result<(), TensorError> {
        if self.beam.len() == self.width
            && let Some(last) = self.beam.pop()
        {
            self.nodes[last].new = IMPOSSIBLE;
        }
        let total = self.nodes[node].new.total;
        let place = self.beam.partition_point(|&other| self.nodes[other].new.total >= total);
        push(&mut self.beam, node)?;
        self.beam[place..].rotate_right(1);
        Ok(())
    }

    /// Goes on by one time.
    fn step(&mut self, logits: &[f64]) -> Result<(), TensorError> {
        let (norm, blank) = (log_total(logits), logits.len() - 1);
        let branches = std::mem::take(&mut self.beam);
        for &branch in &branches {
            self.nodes[branch].old = self.nodes[branch].new;
        }
        for &branch in &branches {
            let LabelNode { last, old, mut new } = self.nodes[branch];
            if let Some((parent, label)) = last {
                let before = &self.nodes[parent];
                if before.is_active() {
                    let is_repeated = before.last.is_some_and(|(_, other)| other == label);
                    new.label =
                        log_sum(new.label, if is_repeated { before.old.blank } else { before.old.total });
                }
                new.label += logits[label] - norm;
            }
            new.blank = old.total + logits[blank] - norm;
            new.total = log_sum(new.blank, new.label);
            self.nodes[branch].new = new;
            self.enter(branch)?;
        }
        for &branch in &branches {
            let LabelNode { last, old, .. } = self.nodes[branch];
            if !self.is_candidate(old.total) {
                continue;
            }
            for (label, logit) in logits[..blank].iter().enumerate() {
                let known = self.children.get(&(branch, label)).copied();
                if known.is_some_and(|child| self.nodes[child].is_active()) {
                    continue;
                }
                let is_repeated = last.is_some_and(|(_, other)| other == label);
                let total = logit - norm + if is_repeated { old.blank } else { old.total };
                if !self.is_candidate(total) {
                    continue;
                }
                let new = PathProbability { blank: f64::NEG_INFINITY, label: total, total };
                let child = match known {
                    Some(child) => child,
                    None => {
                        let child = self.nodes.len();
                        push(
                            &mut self.nodes,
                            LabelNode { last: Some((branch, label)), old: IMPOSSIBLE, new },
                        )?;
                        let refused = |_| no_room::<((usize, usize), usize)>(child);
                        self.children.try_reserve(1).map_err(refused)?;
                        self.children.insert((branch, label), child);
                        child
                    }
                };
                self.nodes[child].new = new;
                self.enter(child)?;
            }
        }
        Ok(())
    }

    /// The labels of a node; if `merges`, equal neighbours are one.
    fn labels(&self, mut node: usize, merges: bool) -> Result<Vec<i64>, TensorError> {
        let mut labels: Vec<i64> = Vec::new();
        let mut next = None;
        while let Some((parent, label)) = self.nodes[node].last {
            if !merges || next != Some(label) {
                push(&mut labels, label as i64)?;
            }
            (node, next) = (parent, Some(label));
        }
        labels.reverse();
        Ok(labels)
    }
}

/// `CTCBeamSearchDecoder`: the `n_paths` most probable sequences of labels that a search with a beam finds:
/// the coordinates of all, then the labels, the shapes, and the logarithms of their probabilities. The last
/// class is the blank.
pub fn ctc_beam_search(
    inputs: &HostTensor,
    lengths: &HostTensor,
    (width, n_paths): (usize, usize),
    merges: bool,
    cx: &Cx<'_>,
) -> Result<Vec<HostTensor>, TensorError> {
    let op = "CTCBeamSearchDecoder";
    let all = LogitSequences::new(op, inputs, lengths, cx)?;
    if n_paths == 0 || n_paths > width {
        return invalid(op, format!("{n_paths} paths of a beam of {width}"));
    }
    let logs = HostTensor::zeros(DType::F64, Shape::new(&[all.batch, n_paths])?, cx.allocator)?;
    let mut paths: Vec<Vec<Vec<i64>>> = filled(n_paths, Vec::new())?;
    {
        let (logits, mut logs) = (all.logits.read::<f64>()?, logs.write::<f64>()?);
        for (b, logs) in logs.chunks_exact_mut(n_paths).enumerate() {
            let mut search = BeamSearch::new(width)?;
            for t in (0..all.lengths[b]).take_while(|_| !is_interrupted()) {
                search.step(&logits[all.row(t, b)])?;
            }
            if search.beam.len() < n_paths && !is_interrupted() {
                let problem = format!("{} sequences in the beam, {n_paths} wanted", search.beam.len());
                return invalid(op, problem);
            }
            for ((&node, path), log) in search.beam.iter().zip(&mut paths).zip(logs) {
                push(path, search.labels(node, merges)?)?;
                *log = search.nodes[node].new.total;
            }
        }
    }
    let sparse = paths.iter().map(|path| sparse_labels(path, cx)).collect::<Result<Vec<_>, _>>()?;
    let mut results: Vec<HostTensor> = Vec::new();
    for part in 0..3 {
        results.extend(sparse.iter().map(|path| path[part].clone()));
    }
    results.push(fast::cast(&logs, inputs.dtype(), cx)?);
    Ok(results)
}

/// The attributes of a `CTCLoss`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CtcLossAttrs {
    /// True if the first class is the blank, false if the last one is.
    pub blank_is_first: bool,
    /// True if repeated labels are merged before the probabilities are computed.
    pub collapses_labels: bool,
    /// True if repeated classes of a path are one label.
    pub merges_paths: bool,
    /// True if sequences with more labels than time have no loss; an error otherwise.
    pub ignores_longer: bool,
}

/// The labels of one sequence with blanks around each, and its probabilities.
struct Alignment {
    blank: usize,
    labels: Vec<usize>,
    merges_paths: bool,
}

impl Alignment {
    /// True if a path may go from position `u` to `u + 2`, without the blank between.
    fn may_skip(&self, u: usize) -> bool {
        let (from, to) = (self.labels[u], self.labels[u + 2]);
        to != self.blank && !(self.merges_paths && from == to)
    }

    /// True if a path may stay.
    fn may_stay(&self, u: usize) -> bool {
        self.merges_paths || self.labels[u] == self.blank
    }

    /// The logarithms of the probabilities of the beginnings of paths up to each time and position.
    fn forward(&self, log: &dyn Fn(usize, usize) -> f64, time: usize) -> Result<Vec<f64>, TensorError> {
        let n = self.labels.len();
        let mut alpha = filled(checked(time, n)?, f64::NEG_INFINITY)?;
        alpha.iter_mut().zip(&self.labels).take(2).for_each(|(alpha, &label)| *alpha = log(0, label));
        for t in (1..time).take_while(|_| !is_interrupted()) {
            let (before, now) = alpha[(t - 1) * n..].split_at_mut(n);
            for u in 0..n {
                let stay = if self.may_stay(u) { before[u] } else { f64::NEG_INFINITY };
                let next = if u > 0 { log_sum(stay, before[u - 1]) } else { stay };
                let sum = if u > 1 && self.may_skip(u - 2) { log_sum(next, before[u - 2]) } else { next };
                now[u] = sum + log(t, self.labels[u]);
            }
        }
        Ok(alpha)
    }

    /// The logarithms of the probabilities of the ends of paths behind each time and position.
    fn backward(&self, log: &dyn Fn(usize, usize) -> f64, time: usize) -> Result<Vec<f64>, TensorError> {
        let n = self.labels.len();
        let mut beta = filled(checked(time, n)?, f64::NEG_INFINITY)?;
        beta[(time - 1) * n..][n.saturating_sub(2)..].fill(0.0);
        for t in (0..time - 1).rev().take_while(|_| !is_interrupted()) {
            let (now, after) = beta[t * n..].split_at_mut(n);
            let log = |u: usize| log(t + 1, self.labels[u]);
            for u in 0..n {
                let stay = if self.may_stay(u) { after[u] + log(u) } else { f64::NEG_INFINITY };
                let next = if u + 1 < n { log_sum(stay, after[u + 1] + log(u + 1)) } else { stay };
                now[u] = match u + 2 < n && self.may_skip(u) {
                    true => log_sum(next, after[u + 2] + log(u + 2)),
                    false => next,
                };
            }
        }
        Ok(beta)
    }
}

fn checked(time: usize, n: usize) -> Result<usize, TensorError> {
    time.checked_mul(n).ok_or(TensorError::TooLarge)
}

/// `CTCLoss` and `CTCLossV2`: for each sequence the negative logarithm of the probability of its labels, and
/// the gradients of these numbers by the logits.
pub fn ctc_loss(
    op: &'static str,
    [inputs, places, values, lengths]: [&HostTensor; 4],
    attrs: &CtcLossAttrs,
    cx: &Cx<'_>,
) -> Result<[HostTensor; 2], TensorError> {
    let all = LogitSequences::new(op, inputs, lengths, cx)?;
    let LogitSequences { time, batch, classes, .. } = all;
    let blank = if attrs.blank_is_first { 0 } else { classes - 1 };
    let labels = labels_of(op, places, values, (batch, classes, blank))?;
    let loss = HostTensor::zeros(DType::F64, Shape::new(&[batch])?, cx.allocator)?;
    let gradient = HostTensor::zeros(DType::F64, Shape::new(&[time, batch, classes])?, cx.allocator)?;
    {
        let (mut loss, mut gradient) = (loss.write::<f64>()?, gradient.write::<f64>()?);
        let logits = all.logits.read::<f64>()?;
        for (b, mut labels) in labels.into_iter().enumerate() {
            let time = all.lengths[b];
            if labels.is_empty() {
                return invalid(op, format!("sequence {b} has no labels"));
            }
            if attrs.collapses_labels {
                labels.dedup();
            }
            if labels.len() > time {
                if attrs.ignores_longer {
                    continue;
                }
                let n = labels.len();
                return invalid(op, format!("sequence {b} has {n} labels and a length of {time}"));
            }
            let mut norms = filled(time, 0.0)?;
            for (t, norm) in norms.iter_mut().enumerate() {
                *norm = log_total(&logits[all.row(t, b)]);
            }
            let log = |t: usize, class: usize| logits[all.row(t, b)][class] - norms[t];
            let mut with_blanks = filled(2 * labels.len() + 1, blank)?;
            with_blanks[1..].iter_mut().step_by(2).zip(labels).for_each(|(to, label)| *to = label);
            let alignment = Alignment { blank, labels: with_blanks, merges_paths: attrs.merges_paths };
            let (alpha, beta) = (alignment.forward(&log, time)?, alignment.backward(&log, time)?);
            let n = alignment.labels.len();
            let at = |t: usize, u: usize| alpha[t * n + u] + beta[t * n + u];
            let total = (0..n).fold(f64::NEG_INFINITY, |sum, u| log_sum(sum, at(0, u)));
            loss[b] = -total;
            for t in 0..time {
                let row = &mut gradient[all.row(t, b)];
                row.iter_mut().enumerate().for_each(|(class, dy)| *dy = log(t, class).exp());
                if total > f64::NEG_INFINITY {
                    for (u, &label) in alignment.labels.iter().enumerate() {
                        row[label] -= (at(t, u) - total).exp();
                    }
                }
            }
        }
    }
    Ok([fast::cast(&loss, inputs.dtype(), cx)?, fast::cast(&gradient, inputs.dtype(), cx)?])
}

/// The labels of each sequence, from the entries of a sparse matrix.
fn labels_of(
    op: &'static str,
    places: &HostTensor,
    values: &HostTensor,
    (batch, classes, blank): (usize, usize, usize),
) -> Result<Vec<Vec<usize>>, TensorError> {
    match (places.shape().dims(), values.shape().dims()) {
        (&[n, 2], &[count]) if n == count => {}
        _ => {
            let (places, values) = (places.shape(), values.shape());
            return invalid(op, format!("labels at indices of shape {places} with values of shape {values}"));
        }
    }
    let mut labels: Vec<Vec<usize>> = filled(batch, Vec::new())?;
    let values = indices_of(op, values)?;
    for (place, label) in indices_of(op, places)?.chunks_exact(2).zip(values) {
        let sequence = usize::try_from(place[0]).ok().and_then(|b| labels.get_mut(b));
        let Some(sequence) = sequence else {
            return invalid(op, format!("labels of sequence {}, of {batch}", place[0]));
        };
        match usize::try_from(label).ok().filter(|&label| label < classes && label != blank) {
            Some(label) => push(sequence, label)?,
            None => return invalid(op, format!("label {label} of {classes} classes with blank {blank}")),
        }
    }
    Ok(labels)
}
