//! Evaluation functions of dense tensors: made from an operator's attributes, named in the operator's row.
//!
//! Attributes are decoded once, when a function is made; a refused attribute is an error then. The function
//! reads operands only; a wrong number, dtype or shape of operands is an error when it runs. Operands with
//! axes, dimensions or positions are i32 or i64.

pub(super) mod arrays;
pub(super) mod cells;
pub(super) mod colors;
pub(super) mod ctc;
pub(super) mod elementwise;
pub(super) mod fused;
pub(super) mod images;
pub(super) mod layers;
pub(super) mod linear;
pub(super) mod numbers;
pub(super) mod onnx;
pub(super) mod packed;
pub(super) mod quantize;
pub(super) mod quantized;
pub(super) mod random;
pub(super) mod shaping;
pub(super) mod sparse;
pub(super) mod sparse_arrays;
pub(super) mod volumes;

use std::sync::Arc;

use smallvec::SmallVec;

use super::attrs::Attributes;
use super::function::{Made, Operands, Results};
use crate::error::invalid;
use crate::mem::Allocator;
use crate::tf::fast::Cx;
use crate::tf::index::indices_of;
use crate::{HostTensor, Shape, TensorError};

/// The result type of evaluation functions: one tensor, several, or any number.
pub trait IntoResults {
    /// The results as a list.
    fn into_results(self) -> Results;
}

impl IntoResults for HostTensor {
    fn into_results(self) -> Results {
        SmallVec::from_buf([self])
    }
}

impl<const N: usize> IntoResults for [HostTensor; N] {
    fn into_results(self) -> Results {
        self.into_iter().collect()
    }
}

impl IntoResults for Vec<HostTensor> {
    fn into_results(self) -> Results {
        Results::from_vec(self)
    }
}

/// A function of `N` operands.
pub fn of<const N: usize, R: IntoResults>(
    attrs: &Attributes<'_>,
    f: impl Fn([&HostTensor; N], &Arc<dyn Allocator>) -> Result<R, TensorError> + Send + Sync + 'static,
) -> Made {
    owning(attrs, move |inputs, cx| f(inputs.each_ref(), cx.allocator))
}

/// A function of `N` owned operands and the execution context.
pub fn owning<const N: usize, R: IntoResults>(
    attrs: &Attributes<'_>,
    f: impl Fn([HostTensor; N], &Cx<'_>) -> Result<R, TensorError> + Send + Sync + 'static,
) -> Made {
    let op = attrs.op();
    Ok(Box::new(move |inputs, cx| Ok(f(counted(op, inputs)?, cx)?.into_results())))
}

/// The operands, if there are `N`. Not inlined, so that hundreds of operators share one copy for each `N`.
#[inline(never)]
fn counted<const N: usize>(op: &'static str, inputs: Operands) -> Result<[HostTensor; N], TensorError> {
    if inputs.len() != N {
        return invalid(op, format!("{} operands, expected {N}", inputs.len()));
    }
    let mut inputs = inputs.into_iter();
    Ok(std::array::from_fn(|_| inputs.next().unwrap_or_else(|| unreachable!("they were counted"))))
}

/// A function of `least` operands or more.
pub fn of_many<R: IntoResults>(
    attrs: &Attributes<'_>,
    least: usize,
    f: impl Fn(&[&HostTensor], &Arc<dyn Allocator>) -> Result<R, TensorError> + Send + Sync + 'static,
) -> Made {
    owning_many(attrs, least, move |inputs, cx| f(&all(&inputs), cx.allocator))
}

/// References to all operands.
pub(super) fn all(inputs: &Operands) -> SmallVec<[&HostTensor; 4]> {
    inputs.iter().collect()
}

/// A function of `least` owned operands or more and the execution context.
pub fn owning_many<R: IntoResults>(
    attrs: &Attributes<'_>,
    least: usize,
    f: impl Fn(Operands, &Cx<'_>) -> Result<R, TensorError> + Send + Sync + 'static,
) -> Made {
    let op = attrs.op();
    Ok(Box::new(move |inputs, cx| match inputs.len() {
        n if n >= least => Ok(f(inputs, cx)?.into_results()),
        n => invalid(op, format!("{n} operands, expected {least} or more")),
    }))
}

/// The value of an operand that is a single index or axis.
pub(super) fn int_in(op: &'static str, what: &'static str, x: &HostTensor) -> Result<i64, TensorError> {
    match x.num_elements() {
        1 => Ok(indices_of(op, x)?.first().copied().unwrap_or(0)),
        _ => invalid(op, format!("`{what}` has shape {}, expected one element", x.shape())),
    }
}

/// The value of an operand that is a count.
pub(super) fn count_in(op: &'static str, what: &'static str, x: &HostTensor) -> Result<usize, TensorError> {
    let given = int_in(op, what, x)?;
    usize::try_from(given).or_else(|_| invalid(op, format!("`{what}` is {given}")))
}

/// The maximum length of a list of axes, or of a list with one number per axis. No tensor has so many axes.
pub(super) const MAX_INTS: usize = 1 << 10;

/// The values of an operand that is a scalar or a vector of at most [`MAX_INTS`] axes, positions or sizes.
pub(super) fn ints_in(op: &'static str, what: &'static str, x: &HostTensor) -> Result<Vec<i64>, TensorError> {
    match x.num_elements() {
        0..=MAX_INTS => many_ints_in(op, what, x),
        _ => invalid(op, format!("`{what}` has shape {}, more numbers than a tensor has axes", x.shape())),
    }
}

/// The values of an operand that is a vector of any length, or a scalar.
pub(super) fn many_ints_in(
    op: &'static str,
    what: &'static str,
    x: &HostTensor,
) -> Result<Vec<i64>, TensorError> {
    match x.shape().rank() {
        0 | 1 => indices_of(op, x),
        _ => invalid(op, format!("`{what}` has shape {}, expected a vector", x.shape())),
    }
}

/// The shape stored in an operand.
pub(super) fn shape_in(op: &'static str, what: &'static str, x: &HostTensor) -> Result<Shape, TensorError> {
    Shape::from_i64(&ints_in(op, what, x)?)
}
