//! Requests for gradients of a graph: its nodes.

use super::body::{GraphBody, Reference};
use super::build::{Block, canonical, is_variable};
use super::{Importer, Refusal, errors};
use crate::import::GradientRequest;
use crate::import::gradients::Resolved;
use crate::ir::{LocId, ValueId};

/// A node and its output.
type Tensor = (usize, usize);

/// Finds the tensors of the requests.
pub(super) fn resolve(
    body: &GraphBody<'_>,
    fetches: &[Tensor],
    requests: &[GradientRequest],
) -> Result<Vec<Resolved<Tensor>>, Refusal> {
    let variables = |found: &mut Resolved<Tensor>| {
        let needed = body.needed(found.ys.iter().map(|tensor| tensor.0))?;
        for &node in needed.keys() {
            if is_variable(&body.nodes[node].op) && !found.xs.contains(&(node, 0)) {
                found.xs.push((node, 0));
                found.names.push(body.nodes[node].name.clone());
            }
        }
        Ok(())
    };
    let resolve = |request| {
        let mut found = Resolved::new(request, fetches, |what, name| body.tensor(what, name), variables)?;
        found.names.iter_mut().for_each(|name| *name = canonical(name).to_owned());
        Ok(found)
    };
    requests.iter().map(resolve).collect()
}

impl<'g> Importer<'g> {
    /// The values of a request's tensors. An x that is a reference to a variable stays a reference.
    pub(super) fn gradient_operands(
        &mut self,
        block: &Block<'_, 'g>,
        request: &Resolved<Tensor>,
    ) -> Result<Vec<ValueId>, Refusal> {
        let mut values = Vec::new();
        for (i, &(node, port)) in request.tensors().enumerate() {
            let found = block
                .get(Reference::Output(node, port))
                .map_err(|why| errors::unusable("differentiate", &block.body.nodes[node].name, &why))?;
            let is_kept = request.is_x_or_stop(i);
            values.push(if is_kept { found[0] } else { self.read(block, found[0], &[], LocId::UNKNOWN) });
        }
        Ok(values)
    }
}
