//! Custom gradients: nodes `IdentityN` whose attribute `_gradient_op_type` names a function of the library.
//!
//! ```text
//! y, x ────▶ IdentityN ──▶ y, x        @f(dy, dx, captured) -> the gradients of x
//! captured ─▶         └──▶ unused      {bef.gradient = @f, bef.captured = 1, bef.gradient_operands = [1]}
//! ```
//!
//! A SavedModel says which tensors a gradient function captures; in other graphs its arguments have their
//! names. Those of the node's own function become further operands, so that they are kept for the gradient as
//! other operands are. A variable that a SavedModel's gradient function captures is no argument: the function
//! names it.

use std::collections::{BTreeMap, HashMap};

use super::body::{GraphBody, Reference};
use super::build::{NodePlan, attr_of};
use super::{Capture, Importer};
use crate::grad::{CAPTURED, CUSTOM_GRADIENT, GRADIENT_OPERANDS, is_differentiable};
use crate::import::proto::attr_value::Value;
use crate::import::proto::{FunctionDef, NodeDef, OpDef};
use crate::ir::KnownType;

/// The name by which a node asks for a gradient.
fn gradient_type<'v>(body: &'v GraphBody<'_>, def: &'v NodeDef) -> Option<&'v str> {
    match (&*def.op, attr_of(body, def, "_gradient_op_type")) {
        ("IdentityN", Some(Value::S(ty))) => std::str::from_utf8(ty).ok(),
        _ => None,
    }
}

/// The names of the tensors behind the arguments of a function, from number `n` on.
fn names_after(function: &FunctionDef, n: usize) -> impl Iterator<Item = Option<&str>> {
    let args = function.signature.as_ref().map_or(0, |signature| signature.input_arg.len());
    (n..args).map(|i| {
        let attrs = function.arg_attr.get(&u32::try_from(i).ok()?)?;
        match &attrs.attr.get("_user_specified_name")?.value {
            Some(Value::S(name)) => std::str::from_utf8(name).ok(),
            _ => None,
        }
    })
}

impl<'g> Importer<'g> {
    /// The gradient function of this name of a node.
    fn gradient_function(&self, ty: &str) -> Option<(&'g str, &'g FunctionDef)> {
        let name = *self.registered.get(ty)?;
        Some((name, *self.library.get(name)?))
    }

    /// The tensors that the gradient functions of a function's nodes capture, by node.
    pub(super) fn captured(&self, body: &GraphBody<'g>) -> HashMap<usize, Vec<Reference<'g>>> {
        let mut all = HashMap::new();
        if self.registered.is_empty() {
            return all;
        }
        for (node, def) in body.nodes.iter().enumerate() {
            let gradient = gradient_type(body, def).and_then(|ty| self.gradient_function(ty));
            let Some((name, function)) = gradient else { continue };
            let own = |capture: Capture<'g>| match capture {
                Capture::Tensor { function, name } if body.function == Some(function) => {
                    Some(body.captured_tensor(name))
                }
                Capture::Variable(_) => None,
                Capture::Tensor { .. } | Capture::Other => Some(None),
            };
            let found: Option<Vec<Reference<'g>>> = match self.surroundings.gradients.get(name) {
                Some(saved) => saved.captures.iter().copied().filter_map(own).collect(),
                None => {
                    let n = def.input.iter().filter(|input| !input.starts_with('^')).count();
                    names_after(function, n).map(|name| body.captured_tensor(name?)).collect()
                }
            };
            // If a capture is not found, the function's arguments will be too many.
            all.extend(found.map(|found| (node, found)));
        }
        all
    }

    /// For each argument of a function, the node of the variable that it is, if a gradient function captures
    /// one.
    pub(super) fn handles(&self, name: &str, signature: &OpDef) -> Vec<Option<&'g NodeDef>> {
        let mut handles = vec![None; signature.input_arg.len()];
        if let Some(saved) = self.surroundings.gradients.get(name) {
            for (handle, capture) in handles.iter_mut().rev().zip(saved.captures.iter().rev()) {
                *handle = match capture {
                    Capture::Variable(node) => Some(*node),
                    Capture::Tensor { .. } | Capture::Other => None,
                };
            }
        }
        handles
    }

    /// Adds the gradient of a node to its plan, and what that captures.
    pub(super) fn plan_gradient(
        &mut self,
        body: &GraphBody<'g>,
        node: usize,
        plan: &mut NodePlan,
    ) -> Result<(), String> {
        let Some(ty) = gradient_type(body, &body.nodes[node]) else { return Ok(()) };
        let key = self.m.cx.str_id(CUSTOM_GRADIENT);
        let Some((name, function)) = self.gradient_function(ty) else {
            // One that the file does not have is missed when the node is differentiated.
            plan.attrs.push((key, self.m.cx.symbol_attr(ty)));
            return Ok(());
        };
        plan.attrs.push((key, self.custom_gradient(name, &BTreeMap::new())?));
        let Some(signature) = &function.signature else { return Ok(()) };
        let (n, n_gradients) = (plan.outputs.len(), signature.output_arg.len());
        let captured = body.captured.get(&node).map_or(0, Vec::len);
        let handles = self.handles(name, signature);
        let passed = signature.input_arg.iter().zip(handles).skip(n).filter(|(_, handle)| handle.is_none());
        for (arg, _) in passed.take(captured) {
            plan.outputs.extend(self.declared(arg, body)?);
            plan.takes.push(false);
        }
        let number = |importer: &mut Importer<'_>, n: usize| {
            importer.m.cx.int_attr(KnownType::I64.id(), i64::try_from(n).unwrap_or(i64::MAX))
        };
        if captured > 0 {
            plan.attrs.push((self.m.cx.str_id(CAPTURED), number(self, captured)));
        }
        if n_gradients < n {
            // Gradients that are None are no results. Unless the file says which they are, they are those of
            // integers, and of the first operands: the results of the function whose gradient it is.
            let saved = self.surroundings.gradients.get(name).filter(|saved| saved.gives.len() == n);
            let gives: Vec<usize> = match saved {
                Some(saved) => (0..n).filter(|&i| saved.gives[i]).collect(),
                None => {
                    let is_real = |&i: &usize| is_differentiable(&self.m, plan.outputs[i]);
                    let real: Vec<usize> = (0..n).filter(is_real).collect();
                    real[real.len().saturating_sub(n_gradients)..].to_vec()
                }
            };
            let gives: Vec<_> = gives.into_iter().map(|i| number(self, i)).collect();
            plan.attrs.push((self.m.cx.str_id(GRADIENT_OPERANDS), self.m.cx.array_attr(&gives)));
        }
        Ok(())
    }
}
