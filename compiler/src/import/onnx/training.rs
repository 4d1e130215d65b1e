//! The parts of a model that a training program is made of, as functions; see `graphdef::training`.
//!
//! ```text
//! init       nothing: a model has no variables before constants are made variables (`train::constants`)
//! step       loss and metrics      evaluate   the same      predict    the other outputs of the graph
//! ```
//!
//! The loss is an output or an interior tensor, such as that of a SoftmaxCrossEntropyLoss.

use super::graph::{Known, OnnxImporter};
use crate::import::errors::{self, Refusal};
use crate::import::onnx_proto::GraphProto;
use crate::import::{Feed, TrainingParts};

impl<'g> OnnxImporter<'g> {
    /// Imports the functions of a training program.
    pub(super) fn training(
        &mut self,
        graph: &'g GraphProto,
        known: &Known<'g>,
        feeds: &[Feed],
        parts: &TrainingParts,
    ) -> Result<(), Refusal> {
        if let Some(node) = parts.targets.iter().chain(&parts.init).next() {
            return Err(errors::unusable("run", node, "nodes of ONNX models have no effects"));
        }
        self.is_training = true;
        self.variables = parts.variables.clone();
        let mut shown = vec![(known.name("minimize", &parts.loss)?, "loss")];
        for (name, tensor) in &parts.metrics {
            let is_taken = shown.iter().any(|(_, taken)| taken == name)
                || ["learning_rate", "gradient_norm"].contains(&name.as_str());
            if is_taken {
                let why = "there is another result of this name";
                return Err(errors::unusable("call a metric", name, why));
            }
            shown.push((known.name("report", tensor)?, name));
        }
        let predicted: Vec<&'g str> = match &parts.predictions[..] {
            [] => graph.output.iter().map(|output| output.name.as_str()).collect(),
            named => named.iter().map(|name| known.name("fetch", name)).collect::<Result<_, _>>()?,
        };
        let is_shown = |name: &str| shown.iter().any(|(tensor, _)| *tensor == name);
        let predicted: Vec<(&'g str, &str)> =
            predicted.into_iter().filter(|name| !is_shown(name)).map(|name| (name, name)).collect();
        let functions: [(&str, &[(&'g str, &str)]); 4] =
            [("init", &[]), ("step", &shown), ("evaluate", &shown), ("predict", &predicted)];
        for (name, results) in functions {
            if name == "predict" && results.is_empty() {
                continue;
            }
            let fetches: Vec<&'g str> = results.iter().map(|(tensor, _)| *tensor).collect();
            let feeds = OnnxImporter::needed_feeds(graph, known, feeds, &fetches)?;
            self.entry(graph, known, name, &feeds, results, &[])?;
        }
        Ok(())
    }
}
