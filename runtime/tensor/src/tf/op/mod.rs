//! TensorFlow's operators by name, for those who have graphs: the importer, the folder, and one kernel for all.
//!
//! ```text
//! name ──▶ signature: operands, results, attributes ──▶ Attributes (with defaults) ◀── Attrs: what a node has
//!  └─────▶ a table of each family: name ──▶ Make ──▶ Eval: decoded attributes and a function of crate::tf
//!            tabled   arrays   shaping   layers   fused   packed
//! ```
//!
//! [`prepare`] decodes attributes once; the closure reads operands only. What TensorFlow takes as a tensor of axes, dimensions or positions is
//! read when the closure runs, as i32 or i64. Wrong numbers, dtypes and shapes of operands are errors of the closure, wrong attributes errors
//! of [`prepare`].
//!
//! [`prepare_owned`] is for kernels: operands are given to the closure, which may overwrite one that has no other owner, and so are the caller's
//! threads.
//!
//! [`infer`] says the types and, as far as they are known, the shapes of results before anything runs.
//!
//! Evaluated are pure functions of dense tensors. [`signature`] knows more: control flow, variables, lists, stacks, strings and random numbers,
//! which others run.

mod arrays;
mod attrs;
mod derive;
mod fused;
mod infer;
mod layers;
mod packed;
mod shaping;
mod signature;
mod tabled;
mod types;

use std::sync::Arc;

use smallvec::SmallVec;

pub use attrs::{Attributes, Attrs};
pub use derive::Derived;
pub use infer::{Inferred, Operand, infer};
pub use signature::{Arg, ArgType, AttrDef, AttrKind, DefaultValue, Signature, names, signature};
pub use types::{RefusedType, Type};

use crate::error::invalid;
use crate::mem::Allocator;
use crate::tf::fast::Cx;
use crate::tf::index::indices_of;
use crate::{HostTensor, Shape, TensorError};
use tabled::Tabled;

/// The results of an operator; mostly one.
pub type Results = SmallVec<[HostTensor; 1]>;

/// An operator with its attributes: a function of its operands.
pub type Eval =
    Box<dyn Fn(&[&HostTensor], &Arc<dyn Allocator>) -> Result<Results, TensorError> + Send + Sync>;

/// Operands given away; whoever needs one afterwards gives a clone.
pub type Operands = SmallVec<[HostTensor; 4]>;

/// An operator with its attributes: a function that its operands are given to. One with no other owner may become the result; the
/// caller's threads do the work.
pub type OwnedEval = Box<dyn Fn(Operands, &Cx<'_>) -> Result<Results, TensorError> + Send + Sync>;

/// How the function of an operator is made of its attributes.
type Make = fn(&Attributes<'_>) -> Result<OwnedEval, TensorError>;

/// Rows of a family's table: names that are made alike.
type Row = (&'static [&'static str], Make);

const FAMILIES: [&[Row]; 6] = [tabled::OPS, arrays::OPS, shaping::OPS, layers::OPS, fused::OPS, packed::OPS];

/// The function of the operator with this name and these attributes; nothing if it is no function of dense tensors alone. Fails if an attribute is
/// missing, of the wrong kind or refused.
pub fn prepare(op: &str, attrs: &dyn Attrs) -> Result<Option<Eval>, TensorError> {
    let eval = prepare_owned(op, attrs)?;
    Ok(eval.map(|eval| -> Eval {
        Box::new(move |inputs, allocator| {
            eval(inputs.iter().map(|&x| x.clone()).collect(), &Cx::serial(allocator))
        })
    }))
}

/// [`prepare`] for those who give operands away and have threads.
pub fn prepare_owned(op: &str, attrs: &dyn Attrs) -> Result<Option<OwnedEval>, TensorError> {
    let (Some(known), Some(signature)) = (Known::named(op), signature(op)) else { return Ok(None) };
    let attrs = &Attributes::new(&signature, attrs);
    match known {
        Known::Tabled(tabled) => tabled.make(attrs).map(Some),
        Known::Made(make) => make(attrs).map(Some),
    }
}

/// Whether [`prepare`] knows the operator and it has no effect: nodes of it may go away, and equal ones be one. `CheckNumerics` has one: it fails.
pub fn is_pure(op: &str) -> bool {
    Known::named(op).is_some() && signature(op).is_some_and(|signature| !signature.is_stateful)
}

/// Whether [`prepare`] knows the operator.
pub fn has_function(op: &str) -> bool {
    Known::named(op).is_some()
}

/// An operator that has a function.
enum Known {
    /// Of a table of `crate::tf`.
    Tabled(Tabled),
    /// Of a table here.
    Made(Make),
}

impl Known {
    fn named(op: &str) -> Option<Known> {
        Tabled::named(op).map(Known::Tabled).or_else(|| {
            let mut rows = FAMILIES.iter().copied().flatten();
            rows.find(|(names, _)| names.contains(&op)).map(|(_, make)| Known::Made(*make))
        })
    }
}

/// What functions of tensors give.
trait IntoResults {
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
fn of<const N: usize, R: IntoResults>(
    attrs: &Attributes<'_>,
    f: impl Fn([&HostTensor; N], &Arc<dyn Allocator>) -> Result<R, TensorError> + Send + Sync + 'static,
) -> Result<OwnedEval, TensorError> {
    owning(attrs, move |inputs, cx| f(inputs.each_ref(), cx.allocator))
}

/// A function of `N` operands, which are given to it, and of the caller's threads.
fn owning<const N: usize, R: IntoResults>(
    attrs: &Attributes<'_>,
    f: impl Fn([HostTensor; N], &Cx<'_>) -> Result<R, TensorError> + Send + Sync + 'static,
) -> Result<OwnedEval, TensorError> {
    let op = attrs.op();
    Ok(Box::new(move |inputs, cx| {
        let n = inputs.len();
        match <[HostTensor; N]>::try_from(inputs.into_vec()) {
            Ok(inputs) => Ok(f(inputs, cx)?.into_results()),
            Err(_) => invalid(op, format!("{n} operands, expected {N}")),
        }
    }))
}

/// A function of any number of operands, of `least` or more.
fn of_many<R: IntoResults>(
    attrs: &Attributes<'_>,
    least: usize,
    f: impl Fn(&[&HostTensor], &Arc<dyn Allocator>) -> Result<R, TensorError> + Send + Sync + 'static,
) -> Result<OwnedEval, TensorError> {
    owning_many(attrs, least, move |inputs, cx| {
        f(&inputs.iter().collect::<SmallVec<[&HostTensor; 4]>>(), cx.allocator)
    })
}

/// A function of any number of operands, of `least` or more, which are given to it, and of the caller's threads.
fn owning_many<R: IntoResults>(
    attrs: &Attributes<'_>,
    least: usize,
    f: impl Fn(Operands, &Cx<'_>) -> Result<R, TensorError> + Send + Sync + 'static,
) -> Result<OwnedEval, TensorError> {
    let op = attrs.op();
    Ok(Box::new(move |inputs, cx| match inputs.len() {
        n if n >= least => Ok(f(inputs, cx)?.into_results()),
        n => invalid(op, format!("{n} operands, expected {least} or more")),
    }))
}

/// The number in an operand that is a single index or axis.
fn int_in(op: &'static str, what: &'static str, x: &HostTensor) -> Result<i64, TensorError> {
    match (x.num_elements(), indices_of(op, x)?.first()) {
        (1, Some(&int)) => Ok(int),
        _ => invalid(op, format!("`{what}` has shape {}, expected one element", x.shape())),
    }
}

/// The number in an operand that is a count.
fn count_in(op: &'static str, what: &'static str, x: &HostTensor) -> Result<usize, TensorError> {
    let given = int_in(op, what, x)?;
    usize::try_from(given).or_else(|_| invalid(op, format!("`{what}` is {given}")))
}

/// The numbers in an operand that is a vector of axes, positions or sizes, or one of them.
fn ints_in(op: &'static str, what: &'static str, x: &HostTensor) -> Result<Vec<i64>, TensorError> {
    match x.shape().rank() {
        0 | 1 => indices_of(op, x),
        _ => invalid(op, format!("`{what}` has shape {}, expected a vector", x.shape())),
    }
}

/// The shape that an operand has in it.
fn shape_in(op: &'static str, what: &'static str, x: &HostTensor) -> Result<Shape, TensorError> {
    Shape::from_i64(&ints_in(op, what, x)?)
}

#[cfg(test)]
pub(super) use infer::tests as infer_tests;

#[cfg(test)]
pub(super) mod tests;
