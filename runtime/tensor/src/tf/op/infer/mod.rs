//! Shape inference: static types, shapes and values of an operator's results.
//!
//! ```text
//! operands: types, partial shapes, constants ──bind (signature)──▶ element types and number of the results
//!                                            ──rule (of the row)──▶ their shapes
//! ```
//!
//! Rules are TensorFlow's: a result is known as far as it follows from the operands. Invalid operands are
//! refused with an error that lists their shapes. An inferred shape holds for the results of the operator's
//! function; where a rule refuses, the function fails.

pub(super) mod arrays;
mod bind;
pub(super) mod cells;
pub(super) mod images;
pub(super) mod joins;
pub(super) mod layers;
pub(super) mod linear;
pub(super) mod onnx;
pub(super) mod quantize;
pub(super) mod quantized;
pub(super) mod random;
pub(super) mod rules;
pub(super) mod slices;
pub(super) mod sparse;
pub(super) mod sparse_arrays;
pub(super) mod strings;
pub(super) mod volumes;

use super::attrs::{Attributes, Attrs};
use super::eval::MAX_INTS;
use super::signature::Signature;
use super::types::Type;
use crate::error::invalid;
use crate::tf::PartialShape;
use crate::tf::index::indices_of;
use crate::{HostTensor, MAX_RANK, Shape, TensorError};

/// A dimension; `None` if it is unknown.
pub type Dim = Option<usize>;

/// The static knowledge about an operand.
#[derive(Clone, Debug)]
pub struct Operand<'a> {
    /// Its element type.
    pub ty: Type,
    /// Its shape.
    pub shape: PartialShape,
    /// Its value, if constant.
    pub constant: Option<&'a HostTensor>,
    /// The known elements of a vector of dimensions that is not constant.
    pub dims: Option<PartialShape>,
}

impl Operand<'_> {
    /// An operand without a known value.
    pub fn new(ty: Type, shape: PartialShape) -> Operand<'static> {
        Operand { ty, shape, constant: None, dims: None }
    }
}

/// The static knowledge about a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inferred {
    /// Its element type.
    pub ty: Type,
    /// Its shape.
    pub shape: PartialShape,
}

/// The input of a shape rule: a node's attributes and operands.
pub struct Node<'a> {
    pub(super) attrs: Attributes<'a>,
    pub(super) operands: &'a [Operand<'a>],
    n_results: usize,
}

/// The shapes of the results, or an error for refused operands.
pub type Shapes = Result<Vec<PartialShape>, TensorError>;

/// A shape rule.
pub type Rule = fn(&Node<'_>) -> Shapes;

/// The types and shapes of the results of an operator with this signature and rule.
pub(super) fn infer(
    signature: &Signature,
    rule: Rule,
    attrs: &dyn Attrs,
    operands: &[Operand<'_>],
) -> Result<Vec<Inferred>, TensorError> {
    infer_in(signature, rule, attrs, operands, |_, results| Ok(results.to_vec()))
}

/// Infers the results, and calls `then` with the node and the results.
pub(super) fn infer_in<R>(
    signature: &Signature,
    rule: Rule,
    attrs: &dyn Attrs,
    operands: &[Operand<'_>],
    then: impl FnOnce(&Node<'_>, &[Inferred]) -> Result<R, TensorError>,
) -> Result<R, TensorError> {
    let attrs = Attributes::new(signature, attrs);
    let types = bind::result_types(&attrs, operands)?;
    let cx = Node { attrs, operands, n_results: types.len() };
    let shapes = rule(&cx)?;
    if shapes.len() != types.len() {
        return cx.refuse(format!("{} results, expected {}", shapes.len(), types.len()));
    }
    for shape in &shapes {
        cx.check(shape)?;
    }
    let results: Vec<Inferred> =
        types.into_iter().zip(shapes).map(|(ty, shape)| Inferred { ty, shape }).collect();
    then(&cx, &results)
}

impl<'a> Node<'a> {
    /// The operator's name.
    pub fn op(&self) -> &'static str {
        self.attrs.op()
    }

    /// The node's attributes, with defaults.
    pub fn attrs(&self) -> &Attributes<'a> {
        &self.attrs
    }

    /// The number of operands.
    pub fn n_operands(&self) -> usize {
        self.operands.len()
    }

    /// The number of results.
    pub fn n_results(&self) -> usize {
        self.n_results
    }

    /// The error for operands that do not match, with their shapes.
    ///
    /// # Errors
    /// Always.
    pub fn refuse<T>(&self, problem: String) -> Result<T, TensorError> {
        let mut words = problem;
        for (i, operand) in self.operands.iter().take(8).enumerate() {
            words.push_str(if i == 0 { "; operands of shapes " } else { ", " });
            words.push_str(&operand.shape.to_string());
        }
        invalid(self.op(), words)
    }

    /// Returns an error for a shape that no tensor can have.
    fn check(&self, shape: &PartialShape) -> Result<(), TensorError> {
        match shape.as_slice() {
            Some(dims) if dims.len() > MAX_RANK => Err(TensorError::TooManyDims { rank: dims.len() }),
            Some(dims) => match dims.iter().copied().collect::<Option<Vec<usize>>>() {
                Some(dims) => Shape::new(&dims).map(|_| ()),
                None => Ok(()),
            },
            None => Ok(()),
        }
    }

    fn operand(&self, i: usize) -> Result<&'a Operand<'a>, TensorError> {
        match self.operands.get(i) {
            Some(operand) => Ok(operand),
            None => self.refuse(format!("no operand {i}")),
        }
    }

    /// The shape of operand `i`.
    ///
    /// # Errors
    /// If there is no such operand.
    pub fn shape(&self, i: usize) -> Result<&'a PartialShape, TensorError> {
        Ok(&self.operand(i)?.shape)
    }

    /// The dimensions of operand `i`, which has rank `RANK` or unknown rank.
    ///
    /// # Errors
    /// If it has another rank.
    pub fn dims<const RANK: usize>(&self, i: usize) -> Result<[Dim; RANK], TensorError> {
        match self.shape(i)?.as_slice() {
            None => Ok([None; RANK]),
            Some(dims) => match <[Dim; RANK]>::try_from(dims) {
                Ok(dims) => Ok(dims),
                Err(_) => self.refuse(format!("operand {i} has rank {}, expected {RANK}", dims.len())),
            },
        }
    }

    /// The dimensions of operand `i`; `None` if its rank is unknown. Fails for a rank below `rank`.
    fn at_least(&self, i: usize, rank: usize) -> Result<Option<&'a [Dim]>, TensorError> {
        match self.shape(i)?.as_slice() {
            Some(dims) if dims.len() < rank => {
                self.refuse(format!("operand {i} has rank {}, expected {rank} or more", dims.len()))
            }
            other => Ok(other),
        }
    }

    /// The integers of a constant vector or scalar; `None` if the operand is not constant, or longer than
    /// `MAX_INTS`.
    ///
    /// # Errors
    /// If it has a higher rank, or another type.
    pub fn ints(&self, i: usize) -> Result<Option<Vec<i64>>, TensorError> {
        match self.operand(i)?.constant {
            Some(x) if x.num_elements() > MAX_INTS => Ok(None),
            Some(x) if x.shape().rank() < 2 => indices_of(self.op(), x).map(Some),
            Some(x) => self.refuse(format!("operand {i} has rank {}, expected a vector", x.shape().rank())),
            None => Ok(None),
        }
    }

    /// The integer of a constant operand of one element; `None` if it is not constant.
    fn int(&self, i: usize) -> Result<Option<i64>, TensorError> {
        let Some(x) = self.operand(i)?.constant else { return Ok(None) };
        match x.num_elements() {
            1 => Ok(indices_of(self.op(), x)?.first().copied()),
            n => self.refuse(format!("operand {i} has {n} numbers, expected one")),
        }
    }

    /// The nonnegative integer of a constant operand of one element; `None` if it is not constant.
    fn count(&self, i: usize) -> Result<Dim, TensorError> {
        match self.int(i)? {
            Some(int) => match usize::try_from(int) {
                Ok(count) => Ok(Some(count)),
                Err(_) => self.refuse(format!("operand {i} is {int}")),
            },
            None => Ok(None),
        }
    }

    /// The number of elements of an operand that is a vector or scalar.
    fn length(&self, i: usize) -> Result<Dim, TensorError> {
        let operand = self.operand(i)?;
        if let Some(x) = operand.constant {
            return Ok(Some(x.num_elements()));
        }
        match operand.shape.as_slice() {
            Some([]) => Ok(Some(1)),
            Some([n]) => Ok(*n),
            Some(dims) => self.refuse(format!("operand {i} has rank {}, expected a vector", dims.len())),
            None => Ok(None),
        }
    }

    /// A shape of this rank with unknown dimensions; of unknown rank for `None`. Fails above `MAX_RANK`.
    fn of_rank(&self, rank: Dim) -> Result<PartialShape, TensorError> {
        match rank {
            Some(rank) if rank > MAX_RANK => Err(TensorError::TooManyDims { rank }),
            Some(rank) => Ok(PartialShape::of_rank(rank)),
            None => Ok(PartialShape::unknown()),
        }
    }

    /// The shape stored in an operand.
    fn shape_in(&self, i: usize) -> Result<PartialShape, TensorError> {
        if let Some(dims) = self.ints(i)? {
            return Ok(PartialShape::from(&Shape::from_i64(&dims)?));
        }
        match &self.operand(i)?.dims {
            Some(dims) => Ok(dims.clone()),
            None => self.of_rank(self.length(i)?),
        }
    }

    /// The dimension that merges both. Fails if they differ.
    fn same(&self, a: Dim, b: Dim) -> Result<Dim, TensorError> {
        match (a, b) {
            (Some(a), Some(b)) if a != b => self.refuse(format!("dimensions {a} and {b} differ")),
            (a, b) => Ok(a.or(b)),
        }
    }

    /// The shape that merges both. Fails if they differ.
    fn merged(&self, a: &PartialShape, b: &PartialShape) -> Result<PartialShape, TensorError> {
        match a.merged(b) {
            Some(merged) => Ok(merged),
            None => self.refuse(format!("shapes {a} and {b} differ")),
        }
    }

    /// An axis of a tensor of this rank; negative ones count from the end.
    fn axis(&self, axis: i64, rank: usize) -> Result<usize, TensorError> {
        let at = if axis < 0 { axis.saturating_add(rank as i64) } else { axis };
        match usize::try_from(at) {
            Ok(at) if at < rank => Ok(at),
            _ => self.refuse(format!("there is no axis {axis} of {rank}")),
        }
    }
}

/// The shape that two shapes broadcast to; `None` if they do not.
fn broadcast(a: &PartialShape, b: &PartialShape) -> Option<PartialShape> {
    let (Some(a), Some(b)) = (a.as_slice(), b.as_slice()) else { return Some(PartialShape::unknown()) };
    let rank = a.len().max(b.len());
    let dim = |dims: &[Dim], i: usize| (i + dims.len()).checked_sub(rank).map_or(Some(1), |i| dims[i]);
    let dims = (0..rank).map(|i| match (dim(a, i), dim(b, i)) {
        (Some(1), other) | (other, Some(1)) => Some(other),
        (Some(x), Some(y)) => (x == y).then_some(Some(x)),
        (a, b) => Some(a.or(b)), // an unknown dimension is 1 or equal
    });
    dims.collect::<Option<Vec<Dim>>>().map(PartialShape::new)
}

fn product(a: Dim, b: Dim) -> Result<Dim, TensorError> {
    match (a, b) {
        (Some(0), _) | (_, Some(0)) => Ok(Some(0)),
        (Some(a), Some(b)) => a.checked_mul(b).map(Some).ok_or(TensorError::TooLarge),
        _ => Ok(None),
    }
}

fn sum(a: Dim, b: Dim) -> Result<Dim, TensorError> {
    match (a, b) {
        (Some(a), Some(b)) => a.checked_add(b).map(Some).ok_or(TensorError::TooLarge),
        _ => Ok(None),
    }
}
