//! `Einsum`: sums of products by axis labels, `ij,jk->ik`.
//!
//! ```text
//! equation := labels { ',' labels } [ '->' labels ]        labels := { letter | '...' }, blanks do not count
//! ```
//!
//! The number of operands is arbitrary (TensorFlow has one or two). `...` stands for the axes without
//! letters, which broadcast from the right. Axes with the same letter have equal lengths. A letter twice in
//! one operand selects the diagonal. Without `->` the result has the letters that occur once, sorted, after
//! the `...`.
//!
//! First, each operand is summed over the labels that occur nowhere else. Then the operands are contracted
//! from left to right; each intermediate result keeps the labels that a later operand or the result needs.
//! Every step rounds to the dtype.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::movement::transpose;
use super::numeric::Number;
use super::partial::PartialShape;
use super::product::{Contraction, contract, multiply};
use super::walk::{Axis, repeating, strides};
use crate::element::with_element;
use crate::mem::Allocator;
use crate::{DType, HostTensor, Shape, TensorError};

const OP: &str = "Einsum";

/// A letter, or an axis of the `...`, counted from the right.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Label {
    Dots(usize),
    Letter(char),
}

/// The labels of one operand or of the result, as written: letters, and at most one `None` for the `...`.
type Part = Vec<Option<char>>;

fn invalid<T>(equation: &str, problem: &str) -> Result<T, TensorError> {
    let equation: String = equation.chars().take(200).collect();
    Err(TensorError::Invalid { op: OP, problem: format!("{problem}: `{equation}`") })
}

fn parse_part(equation: &str, text: &str) -> Result<Part, TensorError> {
    let mut part = Part::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("...") {
            if part.contains(&None) {
                return invalid(equation, "`...` occurs twice in an operand");
            }
            part.push(None);
            rest = after;
            continue;
        }
        if !c.is_ascii_alphabetic() {
            return invalid(equation, "labels are letters and `...`");
        }
        part.push(Some(c));
        rest = &rest[1..]; // ASCII
    }
    Ok(part)
}

/// The steps of an evaluation.
pub(super) trait Steps {
    /// Sums of products of two tensors.
    fn multiply(&self, a: &HostTensor, b: &HostTensor, sums: Contraction) -> Result<HostTensor, TensorError>;

    /// Permutes the axes.
    fn transpose(&self, x: &HostTensor, perm: &[i64]) -> Result<HostTensor, TensorError>;

    /// The allocator for everything else.
    fn allocator(&self) -> &Arc<dyn Allocator>;
}

struct ReferenceSteps<'a>(&'a Arc<dyn Allocator>);

impl Steps for ReferenceSteps<'_> {
    fn multiply(&self, a: &HostTensor, b: &HostTensor, sums: Contraction) -> Result<HostTensor, TensorError> {
        multiply(OP, (a, false), (b, false), sums, self.0)
    }

    fn transpose(&self, x: &HostTensor, perm: &[i64]) -> Result<HostTensor, TensorError> {
        transpose(x, perm, self.0)
    }

    fn allocator(&self) -> &Arc<dyn Allocator> {
        self.0
    }
}

/// Parses an equation of `n_operands` operands. Returns its text without blanks, the parts of the operands,
/// and the part of the result if there is one.
fn parse(equation: &str, n_operands: usize) -> Result<(String, Vec<Part>, Option<Part>), TensorError> {
    let text: String = equation.chars().filter(|c| !c.is_whitespace()).collect();
    let (left, right) = match text.split_once("->") {
        Some((left, right)) => (left, Some(parse_part(&text, right)?)),
        None => (&text[..], None),
    };
    let parts = left.split(',').map(|part| parse_part(&text, part)).collect::<Result<Vec<_>, _>>()?;
    if parts.len() != n_operands {
        return invalid(&text, &format!("{n_operands} operands for {} in", parts.len()));
    }
    Ok((text, parts, right))
}

/// The shape of the result for operands of these shapes.
pub(super) fn einsum_shape(equation: &str, shapes: &[&PartialShape]) -> Result<PartialShape, TensorError> {
    let (text, parts, right) = parse(equation, shapes.len())?;
    let mut operands = Vec::with_capacity(parts.len());
    for (part, shape) in parts.iter().zip(shapes) {
        let letters = part.iter().flatten().count();
        let dims = match shape.as_slice() {
            Some(dims) => dims.to_vec(),
            None if part.contains(&None) => return Ok(PartialShape::unknown()),
            None => vec![None; letters],
        };
        if letters > dims.len() || (letters < dims.len() && !part.contains(&None)) {
            return invalid(&text, &format!("an operand of shape {shape} has another rank in"));
        }
        operands.push(expand(part, dims.len() - letters).into_iter().zip(dims).collect());
    }
    let (result, lengths) = result_labels(&text, right, &parts, &operands)?;
    Ok(PartialShape::new(result.iter().map(|label| lengths.get(label).copied().flatten()).collect()))
}

/// A tensor with a label for each of its axes.
struct Term {
    x: HostTensor,
    labels: Vec<Label>,
}

impl Term {
    fn new(equation: &str, part: &Part, x: &HostTensor) -> Result<Term, TensorError> {
        let letters = part.iter().flatten().count();
        let rank = x.shape().rank();
        let has_dots = part.contains(&None);
        if letters > rank || (letters < rank && !has_dots) {
            return invalid(equation, &format!("an operand of shape {} has another rank in", x.shape()));
        }
        let labels = expand(part, rank - letters);
        let term = Term { x: x.clone(), labels };
        for (i, label) in term.labels.iter().enumerate() {
            if term.dim(*label) != Some(x.shape().dims()[i]) {
                return invalid(equation, &format!("no diagonal in an operand of shape {}", x.shape()));
            }
        }
        Ok(term)
    }

    /// The length of the first axis with this label.
    fn dim(&self, label: Label) -> Option<usize> {
        let at = self.labels.iter().position(|l| *l == label)?;
        Some(self.x.shape().dims()[at])
    }

    /// The stride of a label; along a diagonal the sum of the strides of its axes.
    fn step(&self, label: Label) -> usize {
        let axes = self.labels.iter().zip(self.x.shape().dims()).zip(strides(self.x.shape()));
        axes.filter(|((l, _), _)| **l == label).map(|((_, &dim), stride)| repeating(dim, stride)).sum()
    }

    /// The sum over all labels except `keep`, whose labels become the axes in this order. Returns the term
    /// itself if its axes are already `keep`.
    fn reduced(self, keep: &[Label], steps: &dyn Steps) -> Result<Term, TensorError> {
        if self.labels == keep {
            return Ok(self);
        }
        let place = |label: &Label| self.labels.iter().position(|l| l == label).map(|at| at as i64);
        let perm: Option<Vec<i64>> = keep.iter().map(place).collect();
        if let Some(perm) = perm.filter(|_| keep.len() == self.labels.len()) {
            return Ok(Term { x: steps.transpose(&self.x, &perm)?, labels: keep.to_vec() });
        }
        let axis = |&label: &Label| Axis { len: self.dim(label).unwrap_or(1), a: self.step(label), b: 0 };
        let free: Vec<Axis> = keep.iter().map(axis).collect();
        let summed: Vec<Axis> =
            distinct(&self.labels).iter().filter(|l| !keep.contains(l)).map(axis).collect();
        let shape = Shape::new(&free.iter().map(|axis| axis.len).collect::<Vec<_>>())?;
        let out = HostTensor::allocate(self.x.dtype(), shape, steps.allocator())?;
        with_element!(self.x.dtype(), T => {
            let from = self.x.read::<T>()?;
            let from: &[T] = &from;
            contract::<T>(&out, &free, &summed, |at, _| from[at].widen())?;
        });
        Ok(Term { x: out, labels: keep.to_vec() })
    }

    /// The contraction with another term over all labels except `keep`.
    fn times(&self, other: &Term, keep: &[Label], steps: &dyn Steps) -> Result<Term, TensorError> {
        let axis = |&label: &Label| {
            let len = match (self.dim(label), other.dim(label)) {
                (Some(1) | None, len) => len.unwrap_or(1),
                (Some(len), _) => len,
            };
            Axis { len, a: self.step(label), b: other.step(label) }
        };
        let all = distinct(&[&self.labels[..], &other.labels].concat());
        let free: Vec<Axis> = keep.iter().map(axis).collect();
        let summed: Vec<Axis> = all.iter().filter(|l| !keep.contains(l)).map(axis).collect();
        let shape = Shape::new(&free.iter().map(|axis| axis.len).collect::<Vec<_>>())?;
        let x = steps.multiply(&self.x, &other.x, Contraction { shape, free, summed })?;
        Ok(Term { x, labels: keep.to_vec() })
    }
}

/// The labels of a part whose dots stand for `n_dots` axes.
fn expand(part: &Part, n_dots: usize) -> Vec<Label> {
    part.iter()
        .flat_map(|letter| match letter {
            Some(c) => vec![Label::Letter(*c)],
            None => (0..n_dots).rev().map(Label::Dots).collect(),
        })
        .collect()
}

/// The labels without repetitions, in order of appearance.
fn distinct(labels: &[Label]) -> Vec<Label> {
    let mut once = Vec::with_capacity(labels.len());
    for label in labels {
        if !once.contains(label) {
            once.push(*label);
        }
    }
    once
}

/// `Einsum` of operands of one dtype.
pub fn einsum(
    equation: &str,
    inputs: &[&HostTensor],
    allocator: &Arc<dyn Allocator>,
) -> Result<HostTensor, TensorError> {
    einsum_by(equation, inputs, &ReferenceSteps(allocator))
}

/// `Einsum` evaluated by the given steps.
pub(super) fn einsum_by(
    equation: &str,
    inputs: &[&HostTensor],
    steps: &dyn Steps,
) -> Result<HostTensor, TensorError> {
    let (text, parts, right) = parse(equation, inputs.len())?;
    let Some(&first) = inputs.first() else { return invalid(&text, "no operands") };
    if first.dtype() == DType::I1 {
        return Err(TensorError::Unsupported { op: OP, dtype: DType::I1 });
    }
    let mut terms = Vec::with_capacity(inputs.len());
    for (part, x) in parts.iter().zip(inputs) {
        x.expect_dtype("inputs", first.dtype())?;
        terms.push(Term::new(&text, part, x)?);
    }
    let axes = terms.iter().map(|term| {
        term.labels.iter().copied().zip(term.x.shape().dims().iter().copied().map(Some)).collect()
    });
    let (result, _) = result_labels(&text, right, &parts, &axes.collect::<Vec<_>>())?;

    let mut terms = terms.into_iter();
    let Some(mut product) = terms.next() else { return invalid(&text, "no operands") };
    let mut rest: Vec<Term> = terms.rev().collect();
    let needed_by = |rest: &[Term], label: &Label| {
        result.contains(label) || rest.iter().any(|term| term.labels.contains(label))
    };
    while let Some(term) = rest.pop() {
        let keep = |own: &Term, other: &Term| -> Vec<Label> {
            let needed = |l: &&Label| other.labels.contains(l) || needed_by(&rest, l);
            distinct(&own.labels).iter().filter(needed).copied().collect()
        };
        let (keep_left, keep_right) = (keep(&product, &term), keep(&term, &product));
        let (a, b) = (product.reduced(&keep_left, steps)?, term.reduced(&keep_right, steps)?);
        let mut kept = distinct(&[&a.labels[..], &b.labels].concat());
        kept.retain(|label| needed_by(&rest, label));
        if rest.is_empty() {
            kept.clone_from(&result);
        }
        product = a.times(&b, &kept, steps)?;
    }
    Ok(product.reduced(&result, steps)?.x)
}

/// An axis of an operand: its label, and its length if known.
type LabelledAxis = (Label, Option<usize>);

/// The length of each label, if known.
type Lengths = BTreeMap<Label, Option<usize>>;

/// The labels of the result, and the lengths of all labels. Fails if a label of the result occurs in no
/// operand, if axes of one letter differ in length, or if the axes of the `...` do not broadcast.
fn result_labels(
    equation: &str,
    right: Option<Part>,
    parts: &[Part],
    operands: &[Vec<LabelledAxis>],
) -> Result<(Vec<Label>, Lengths), TensorError> {
    let mut dims = Lengths::new();
    for &(label, dim) in operands.iter().flatten() {
        let known = dims.entry(label).or_insert(dim);
        *known = match (label, *known, dim) {
            (_, Some(a), Some(b)) if a == b => Some(a),
            (Label::Dots(_), Some(1), other) | (Label::Dots(_), other, Some(1)) => other,
            (_, Some(a), Some(b)) => {
                return invalid(equation, &format!("lengths {a} and {b} of one label"));
            }
            (_, a, b) => a.or(b),
        };
    }
    let n_dots = dims.keys().filter(|label| matches!(label, Label::Dots(_))).count();
    let right = right.unwrap_or_else(|| {
        let count = |c: char| parts.iter().flatten().filter(|letter| **letter == Some(c)).count();
        let once = dims.keys().filter_map(|label| match label {
            Label::Letter(c) if count(*c) == 1 => Some(Some(*c)),
            _ => None,
        });
        let dots = (n_dots > 0).then_some(None);
        dots.into_iter().chain(once).collect()
    });
    if n_dots > 0 && !right.contains(&None) {
        return invalid(equation, "the result leaves out the `...` of");
    }
    let result = expand(&right, n_dots);
    if distinct(&result).len() != result.len() {
        return invalid(equation, "a label occurs twice in the result of");
    }
    if result.iter().any(|label| !dims.contains_key(label)) {
        return invalid(equation, "the result has a label that no operand has in");
    }
    Ok((result, dims))
}
