//! Requests for gradients of a model: its tensors by name.

use super::graph::{Known, OnnxImporter};
use crate::import::GradientRequest;
use crate::import::errors::{self, Refusal};
use crate::import::gradients::Resolved;
use crate::ir::ValueId;

/// Finds the tensors of the requests.
pub(super) fn resolve<'g>(
    known: &Known<'g>,
    fetches: &[&'g str],
    requests: &[GradientRequest],
) -> Result<Vec<Resolved<&'g str>>, Refusal> {
    let find = |what: &str, name: &str| known.name(what, name);
    let resolve = |request| {
        // A model has no variables.
        let mut found = Resolved::new(request, fetches, find, |_| Ok(()))?;
        found.names = found.xs.iter().map(|&x| x.to_owned()).collect();
        Ok(found)
    };
    requests.iter().map(resolve).collect()
}

impl<'g> OnnxImporter<'g> {
    /// Appends requests to the function that is being imported, and the gradients to its results.
    pub(super) fn gradients(
        &mut self,
        requests: &[Resolved<&'g str>],
        results: &mut Vec<ValueId>,
        names: &mut Vec<String>,
    ) -> Result<(), Refusal> {
        let block = self.block;
        for request in requests {
            let values: Result<Vec<ValueId>, Refusal> =
                request.tensors().map(|name| self.tensor_named("differentiate", name)).collect();
            request.append(&mut self.m, block, &values?, (&mut *results, &mut *names))?;
        }
        Ok(())
    }

    /// The value of a name, which is a tensor.
    pub(super) fn tensor_named(&mut self, what: &str, name: &'g str) -> Result<ValueId, Refusal> {
        let refuse = |why: &str| errors::unusable(what, name, why);
        let value = self.get(name).map_err(|why| refuse(&why))?;
        let value = value.ok_or_else(|| refuse("it is an optional without a value"))?;
        if self.sequences.contains_key(&value) {
            return Err(refuse("it is a sequence, and results are tensors"));
        }
        Ok(value)
    }
}
