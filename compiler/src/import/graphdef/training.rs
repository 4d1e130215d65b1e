//! The parts of a graph that a training program is made of, as functions.
//!
//! ```text
//! init       the node that initializes the variables
//! step       loss and metrics, then further targets       `train` adds gradients and updates
//! evaluate   loss and metrics
//! predict    the outputs that no node reads, or else the predictions that the loss compares
//! ```
//!
//! A placeholder is a label if some value depends on all variables of the loss and not on the placeholder.
//! The predictions are the outputs that depend on all variables and on no label; if there are none, the last
//! such values before the loss.

use std::collections::{HashMap, HashSet};

use super::body::{GraphBody, Needed, Reference};
use super::build::{canonical, is_placeholder, is_variable};
use super::ends::ends;
use super::{EntryPoint, Refusal, errors};
use crate::import::proto::GraphDef;
use crate::import::{GradientRequest, TrainingParts};

/// The node that initializes variables, if none is named.
const INIT: &str = "init";

/// Maximum number of words of marks in the search for predictions.
const MAX_WORDS: usize = 1 << 24;

impl EntryPoint {
    /// The functions of a training program; gradients are further results of the step.
    pub(in crate::import) fn of_training(
        graph: &GraphDef,
        parts: &TrainingParts,
        gradients: &[GradientRequest],
    ) -> Result<Vec<EntryPoint>, Refusal> {
        let entry = |symbol: &str| EntryPoint {
            symbol: symbol.to_owned(),
            takes_placeholders: true,
            fetches: Some(Vec::new()),
            ..EntryPoint::default()
        };
        let loss = if parts.step.is_some() { canonical(&parts.loss) } else { "loss" };
        let mut results = vec![(parts.loss.clone(), loss.to_owned())];
        results.extend(parts.metrics.iter().map(|(name, tensor)| (tensor.clone(), name.clone())));
        let mut names = HashSet::from(["learning_rate", "gradient_norm"]);
        let taken = results.iter().find(|(_, name)| !names.insert(name) && parts.step.is_none());
        if let Some((_, name)) = taken {
            return Err(errors::unusable("call a metric", name, "there is another result of this name"));
        }
        let mut init = entry("init");
        init.takes_placeholders = false;
        let has_init = || graph.node.iter().any(|node| node.name == INIT);
        init.targets =
            parts.init.clone().or_else(|| has_init().then(|| INIT.to_owned())).into_iter().collect();
        let step = EntryPoint {
            fetches: Some(results.clone()),
            targets: parts.targets.clone(),
            results_first: true,
            gradients: gradients.to_vec(),
            ..entry("step")
        };
        if let Some(feeds) = &parts.step {
            let named = feeds.iter().map(|feed| (feed.clone(), canonical(&feed.name).to_owned()));
            let (feeds, takes_placeholders) = (named.collect(), feeds.is_empty());
            return Ok(vec![init, EntryPoint { feeds, takes_placeholders, ..step }]);
        }
        let evaluate = EntryPoint { fetches: Some(results.clone()), ..entry("evaluate") };
        let predictions = match &parts.predictions[..] {
            [] => {
                let body = GraphBody::of_graph(&graph.node, &EntryPoint::default())?;
                predictions(&body, &results)?
            }
            named => named.iter().map(|name| (name.clone(), canonical(name).to_owned())).collect(),
        };
        let mut all = vec![init, step, evaluate];
        if !predictions.is_empty() {
            all.push(EntryPoint { fetches: Some(predictions), ..entry("predict") });
        }
        Ok(all)
    }
}

/// The predictions: tensors and their names.
fn predictions(body: &GraphBody<'_>, shown: &[(String, String)]) -> Result<Vec<(String, String)>, Refusal> {
    let shown = shown.iter().map(|(tensor, _)| Ok(body.tensor("fetch", tensor)?.0));
    let shown = shown.collect::<Result<Vec<usize>, Refusal>>()?;
    let ends: Vec<usize> = ends(body)?.into_iter().map(|(node, _)| node).collect();
    let ends: Vec<usize> = ends.into_iter().filter(|node| !shown.contains(node)).collect();
    let of_loss = body.without_back_edges(body.needed([shown[0]].into_iter())?);
    let all = body.needed(ends.iter().copied().chain([shown[0]]))?;
    let all = body.without_back_edges(all);
    let of = |wanted: &dyn Fn(&str) -> bool, needed: &Needed| -> Vec<usize> {
        needed.keys().copied().filter(|&node| wanted(&body.nodes[node].op)).collect()
    };
    let variables = of(&is_variable, &of_loss);
    let placeholders = of(&is_placeholder, &all);
    let n_words = (variables.len() + placeholders.len()).div_ceil(64);
    if placeholders.is_empty() || all.len().saturating_mul(n_words) > MAX_WORDS {
        return Ok(Vec::new());
    }
    let marks = marks(body, &all, &[&variables[..], &placeholders].concat(), n_words)?;
    let has =
        |node: usize, mark: usize| marks.get(&node).is_some_and(|of| of[mark / 64] >> (mark % 64) & 1 == 1);
    let depends_on_all = |node: usize| (0..variables.len()).all(|mark| has(node, mark));
    let data = variables.len()..variables.len() + placeholders.len();
    let candidates: Vec<usize> = (of_loss.keys().copied())
        .filter(|&node| node != shown[0] && !variables.is_empty() && depends_on_all(node))
        .filter(|&node| data.clone().any(|mark| has(node, mark)))
        .collect();
    let of_the_loss = data.clone().filter(|&mark| has(shown[0], mark));
    let labels: Vec<usize> =
        of_the_loss.filter(|&mark| candidates.iter().any(|&node| !has(node, mark))).collect();
    let predicts = |node: usize| {
        depends_on_all(node)
            && data.clone().any(|mark| has(node, mark))
            && !labels.iter().any(|&label| has(node, label))
    };
    let mut found: Vec<(usize, usize)> =
        ends.into_iter().filter(|&node| predicts(node)).map(|node| (node, 0)).collect();
    if found.is_empty() && !labels.is_empty() {
        for &node in of_loss.keys().filter(|&&node| !predicts(node)) {
            for reference in body.inputs(node)? {
                if let Reference::Output(from, port) = reference
                    && predicts(from)
                    && !found.contains(&(from, port))
                {
                    found.push((from, port));
                }
            }
        }
    }
    let named = |(node, port): (usize, usize)| {
        let name = format!("{}:{port}", body.nodes[node].name);
        let shown = canonical(&name).to_owned();
        (name, shown)
    };
    Ok(found.into_iter().map(named).collect())
}

/// For each needed node, which of the marked nodes it depends on, as bits.
fn marks(
    body: &GraphBody<'_>,
    needed: &Needed,
    marked: &[usize],
    n_words: usize,
) -> Result<HashMap<usize, Vec<u64>>, Refusal> {
    let mut all: HashMap<usize, Vec<u64>> = HashMap::with_capacity(needed.len());
    for node in body.order(needed)? {
        let mut bits = vec![0; n_words];
        if let Some(mark) = marked.iter().position(|&of| of == node) {
            bits[mark / 64] |= 1 << (mark % 64);
        }
        for from in needed.get(&node).into_iter().flatten().filter_map(|from| all.get(from)) {
            bits.iter_mut().zip(from).for_each(|(bits, from)| *bits |= from);
        }
        all.insert(node, bits);
    }
    Ok(all)
}
