//! Requests for gradients of a model, as ops after the model's.
//!
//! ```text
//! order 1:  g = tf._Gradients(ys, dys, xs)
//! order 2:  h = tf._Gradients(g, xs)          of the sum of all elements, since the dys are ones
//! ```
//!
//! The pass `tf-gradients` replaces them, and leaves out results that do not exist.

use befrost_tensor::tf::op::{Op, Type};

use super::GradientRequest;
use super::errors::{self, Refusal};
use crate::dialects::{tf, tf_executor};
use crate::grad::{Unconnected, append};
use crate::ir::{BlockId, LocId, Module, OpId, TypeId, ValueId, free_name};
use crate::rewrite::{InsertionPoint, Rewriter};

/// Maximum order of derivatives; each order multiplies the graph.
const MAX_ORDER: u32 = 8;

/// A request with the tensors that it names, as an importer knows them.
pub(super) struct Resolved<T> {
    pub(super) ys: Vec<T>,
    dys: Vec<T>,
    pub(super) xs: Vec<T>,
    stops: Vec<T>,
    /// The names of the xs.
    pub(super) names: Vec<String>,
    prefix: String,
    order: u32,
    unconnected: Unconnected,
}

impl<T: Clone> Resolved<T> {
    /// Finds the tensors that a request names, by what is done with them and the name; without ys, it
    /// differentiates the fetches. `variables` adds the xs that a request does not name.
    pub(super) fn new(
        request: &GradientRequest,
        fetches: &[T],
        find: impl Fn(&str, &str) -> Result<T, Refusal>,
        variables: impl FnOnce(&mut Resolved<T>) -> Result<(), Refusal>,
    ) -> Result<Resolved<T>, Refusal> {
        let all = |what: &str, names: &[String]| -> Result<Vec<T>, Refusal> {
            names.iter().map(|name| find(what, name)).collect()
        };
        let order = request.order.max(1);
        if order > MAX_ORDER {
            let why = format!("the order is {order}, at most {MAX_ORDER} is possible");
            return Err(errors::unusable("differentiate", &request.name, &why));
        }
        let mut found = Resolved {
            ys: if request.ys.is_empty() { fetches.to_vec() } else { all("differentiate", &request.ys)? },
            dys: all("take as a gradient", &request.dys)?,
            xs: all("differentiate by", &request.xs)?,
            stops: all("stop at", &request.stops)?,
            names: request.xs.clone(),
            prefix: request.prefix().to_owned(),
            order,
            unconnected: if request.zero { Unconnected::Zero } else { Unconnected::Omit },
        };
        if !found.dys.is_empty() && found.dys.len() != found.ys.len() {
            let why = format!("{} gradients for {} tensors", found.dys.len(), found.ys.len());
            return Err(errors::unusable("differentiate", &found.prefix, &why));
        }
        if request.variables {
            variables(&mut found)?;
        }
        if found.xs.is_empty() {
            let why = "no x is named, and there is no variable";
            return Err(errors::unusable("differentiate by", "", why));
        }
        Ok(found)
    }

    /// All tensors: ys, dys, xs, stop values.
    pub(super) fn tensors(&self) -> impl Iterator<Item = &T> {
        self.ys.iter().chain(&self.dys).chain(&self.xs).chain(&self.stops)
    }

    /// True for the number of a tensor that is an x or a stop value.
    pub(super) fn is_x_or_stop(&self, i: usize) -> bool {
        i >= self.ys.len() + self.dys.len()
    }

    /// Appends the request to a block, with the values of its tensors, and the gradients to the function's
    /// results, by names that no other result has.
    pub(super) fn append(
        &self,
        m: &mut Module,
        block: BlockId,
        values: &[ValueId],
        (results, names): (&mut Vec<ValueId>, &mut Vec<String>),
    ) -> Result<(), Refusal> {
        let (mut ys, rest) = values.split_at(self.ys.len());
        let (mut dys, rest) = rest.split_at(self.dys.len());
        let (xs, stops) = rest.split_at(self.xs.len());
        let mut types = Vec::new();
        for (&x, name) in xs.iter().zip(&self.names) {
            types.push(gradient_type(m, x, name)?);
        }
        let mut grads = Vec::new();
        for order in 1..=self.order {
            // Gradients that are differentiated again must exist, if only as zeros.
            let unconnected = if order == self.order { self.unconnected } else { Unconnected::Zero };
            let top = m.top();
            let mut r = Rewriter::new(m, top);
            let at = InsertionPoint::End(block);
            let made = append(&mut r, at, LocId::UNKNOWN, [ys, dys, xs, stops], &types, unconnected);
            grads = m.results(made).collect();
            (ys, dys) = (&grads, &[]);
        }
        results.extend(grads);
        for x in &self.names {
            let name = format!("{}/{x}", self.prefix);
            names.push(free_name(&name, |name| names.iter().all(|taken| taken != name)));
        }
        Ok(())
    }
}

/// The type of the gradient of an x.
fn gradient_type(m: &mut Module, x: ValueId, name: &str) -> Result<TypeId, Refusal> {
    let ty = m.value_type(x);
    let element = match tf::type_of(&m.cx, ty) {
        Some((Type::Dense(_), false)) => return Ok(ty),
        Some((element @ Type::Dense(_), true)) => tf::element(&mut m.cx, element, false),
        Some((Type::Resource, false)) => {
            let op = source(m, x).filter(|&op| tf::operator(m, op) == Some(Op::VarHandleOp));
            let element = op.and_then(|op| m.cx.as_type(m.attr_named(op, "dtype")?));
            element.ok_or_else(|| {
                errors::unusable("differentiate by", name, "it is the handle of no variable")
            })?
        }
        _ => return Err(errors::unusable("differentiate by", name, "it is no tensor of numbers")),
    };
    Ok(tf::tensor(&mut m.cx, None, element))
}

/// The op that makes a value; for a result of a graph of dataflow control flow, the op inside of it.
fn source(m: &Module, value: ValueId) -> Option<OpId> {
    let op = m.defining_op(value)?;
    if m.op_name_str(op) != tf_executor::GRAPH {
        return Some(op);
    }
    let at = m.results(op).position(|result| result == value)?;
    let end = m.last_op(tf_executor::block_of(m, op)?)?;
    m.defining_op(tf_executor::data_operands(m, end).nth(at)?)
}
