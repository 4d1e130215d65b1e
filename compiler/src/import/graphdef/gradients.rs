//! Requests for gradients of a graph, as ops after the graph's.
//!
//! ```text
//! order 1:  g = tf._Gradients(ys, dys, xs)
//! order 2:  h = tf._Gradients(g, xs)          of the sum of all elements, since the dys are ones
//! ```
//!
//! The pass `tf-gradients` replaces them, and leaves out results that do not exist.

use befrost_tensor::tf::op::{Op, Type};

use super::body::{GraphBody, Reference};
use super::build::{Block, canonical, is_variable};
use super::{Importer, Refusal, errors};
use crate::dialects::tf;
use crate::grad::{Unconnected, append};
use crate::import::GradientRequest;
use crate::ir::{BlockId, LocId, TypeId, ValueId};
use crate::rewrite::{InsertionPoint, Rewriter};

/// Maximum order of derivatives; each order multiplies the graph.
const MAX_ORDER: u32 = 8;

/// A node and its output.
type Tensor = (usize, usize);

/// A request with the nodes that it names.
pub(super) struct Resolved {
    ys: Vec<Tensor>,
    dys: Vec<Tensor>,
    xs: Vec<Tensor>,
    stops: Vec<Tensor>,
    /// The names of the results.
    names: Vec<String>,
    order: u32,
    unconnected: Unconnected,
}

impl Resolved {
    /// All tensors: ys, dys, xs, stop values.
    pub(super) fn tensors(&self) -> impl Iterator<Item = &Tensor> {
        self.ys.iter().chain(&self.dys).chain(&self.xs).chain(&self.stops)
    }
}

/// Finds the tensors of the requests.
pub(super) fn resolve(
    body: &GraphBody<'_>,
    fetches: &[Tensor],
    requests: &[GradientRequest],
) -> Result<Vec<Resolved>, Refusal> {
    let mut found = Vec::new();
    for request in requests {
        let all = |what: &str, names: &[String]| -> Result<Vec<Tensor>, Refusal> {
            names.iter().map(|name| body.tensor(what, name)).collect()
        };
        let order = request.order.max(1);
        if order > MAX_ORDER {
            let why = format!("the order is {order}, at most {MAX_ORDER} is possible");
            return Err(errors::no_such_tensor("differentiate", &request.name, &why));
        }
        let mut names: Vec<String> = request.xs.iter().map(|name| canonical(name).to_owned()).collect();
        let mut xs = all("differentiate by", &request.xs)?;
        let ys = if request.ys.is_empty() { fetches.to_vec() } else { all("differentiate", &request.ys)? };
        if request.variables {
            let needed = body.needed(ys.iter().map(|tensor| tensor.0))?;
            for &node in needed.keys() {
                let is_variable = is_variable(&body.nodes[node].op);
                if is_variable && !xs.contains(&(node, 0)) {
                    xs.push((node, 0));
                    names.push(body.nodes[node].name.clone());
                }
            }
        }
        if xs.is_empty() {
            return Err(errors::no_such_tensor(
                "differentiate by",
                "",
                "no x is named, and there is no variable",
            ));
        }
        let name = request.prefix();
        found.push(Resolved {
            ys,
            dys: all("take as a gradient", &request.dys)?,
            xs,
            stops: all("stop at", &request.stops)?,
            names: names.into_iter().map(|x| format!("{name}/{x}")).collect(),
            order,
            unconnected: if request.zero { Unconnected::Zero } else { Unconnected::Omit },
        });
    }
    Ok(found)
}

impl<'g> Importer<'g> {
    /// The values of a request's tensors. An x that is a reference to a variable stays a reference.
    pub(super) fn gradient_operands(
        &mut self,
        block: &Block<'_, 'g>,
        request: &Resolved,
    ) -> Result<Vec<ValueId>, Refusal> {
        let is_x = |i: usize| (request.ys.len() + request.dys.len()..).contains(&i);
        let mut values = Vec::new();
        for (i, &(node, port)) in request.tensors().enumerate() {
            let found = block
                .get(Reference::Output(node, port))
                .map_err(|why| errors::no_such_tensor("differentiate", &block.body.nodes[node].name, &why))?;
            values.push(if is_x(i) { found[0] } else { self.read(block, found[0], &[], LocId::UNKNOWN) });
        }
        Ok(values)
    }

    /// Appends a request to a block. Returns the gradients and their names.
    pub(super) fn gradients(
        &mut self,
        block: BlockId,
        request: &Resolved,
        operands: &[ValueId],
    ) -> Result<Vec<(ValueId, String)>, Refusal> {
        let (mut ys, rest) = operands.split_at(request.ys.len());
        let (dys, rest) = rest.split_at(request.dys.len());
        let (xs, stops) = rest.split_at(request.xs.len());
        if !dys.is_empty() && dys.len() != ys.len() {
            let why = format!("{} gradients for {} tensors", dys.len(), ys.len());
            return Err(errors::no_such_tensor("differentiate", &request.names[0], &why));
        }
        let mut types = Vec::new();
        for (&x, name) in xs.iter().zip(&request.names) {
            types.push(self.gradient_type(x, name)?);
        }
        let (mut dys, mut grads) = (dys, Vec::new());
        for order in 1..=request.order {
            // Gradients that are differentiated again must exist, if only as zeros.
            let unconnected = if order == request.order { request.unconnected } else { Unconnected::Zero };
            let top = self.m.top();
            let mut r = Rewriter::new(&mut self.m, top);
            let at = InsertionPoint::End(block);
            let made = append(&mut r, at, LocId::UNKNOWN, [ys, dys, xs, stops], &types, unconnected);
            grads = self.m.results(made).collect();
            (ys, dys) = (&grads, &[]);
        }
        Ok(grads.into_iter().zip(request.names.iter().cloned()).collect())
    }

    /// The type of the gradient of an x.
    fn gradient_type(&mut self, x: ValueId, name: &str) -> Result<TypeId, Refusal> {
        let ty = self.m.value_type(x);
        let found = tf::type_of(&self.m.cx, ty);
        let element = match found {
            Some((Type::Dense(_), false)) => return Ok(ty),
            Some((element @ Type::Dense(_), true)) => tf::element(&mut self.m.cx, element, false),
            Some((Type::Resource, false)) => {
                let op =
                    self.m.defining_op(x).filter(|&op| tf::operator(&self.m, op) == Some(Op::VarHandleOp));
                let element = op.and_then(|op| self.m.cx.as_type(self.m.attr_named(op, "dtype")?));
                element.ok_or_else(|| {
                    errors::no_such_tensor("differentiate by", name, "it is the handle of no variable")
                })?
            }
            _ => return Err(errors::no_such_tensor("differentiate by", name, "it is no tensor of numbers")),
        };
        Ok(tf::tensor(&mut self.m.cx, None, element))
    }
}
