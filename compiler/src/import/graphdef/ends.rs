//! The results of a graph that says nothing about them: the outputs that no node reads.
//!
//! In a graph with dataflow control flow, an output may be dead, or be one of a loop's iterations. A node
//! depends on choices of Switches:
//!
//! ```text
//! x = Switch(a, p)   f(x:1): {p = 1}   Merge(f(x:1), g(x:0)): {}      both choices of p lead to the Merge
//! Exit of a loop: the choices of its Enter, without those inside of the loop
//! ```
//!
//! Every run has the outputs of a node outside of loops that depends on no choice.

use std::collections::{BTreeMap, BTreeSet};

use befrost_tensor::tf::op::row;

use super::body::{GraphBody, Reference};
use super::build::is_placeholder;
use super::{EntryPoint, Refusal, errors};
use crate::dialects::tf_executor::Primitive;
use crate::import::proto::NodeDef;
use crate::import::proto::attr_value::Value;

/// The fetched results: node and output.
pub(super) fn fetches(body: &GraphBody<'_>, entry: &EntryPoint) -> Result<Vec<(usize, usize)>, Refusal> {
    if let Some(fetches) = &entry.fetches {
        return fetches.iter().map(|(name, _)| body.tensor("fetch", name)).collect();
    }
    let ends = if entry.everything { everything(body)? } else { ends(body)? };
    if ends.is_empty() {
        return Err(errors::unusable(
            "fetch",
            "",
            "no node has results that nobody consumes; name what to fetch",
        ));
    }
    Ok(ends)
}

/// The first outputs of all nodes but placeholders; in a graph with dataflow control flow, of those that
/// every run has.
fn everything(body: &GraphBody<'_>) -> Result<Vec<(usize, usize)>, Refusal> {
    let all: Vec<usize> =
        (0..body.nodes.len()).filter(|&node| !is_placeholder(&body.nodes[node].op)).collect();
    let has_primitives = body.nodes.iter().any(|node| Primitive::of_node(&node.op).is_some());
    let certain = has_primitives.then(|| certain(body, &all)).transpose()?;
    let of_every_run = |node: &usize| certain.as_ref().is_none_or(|certain| certain.contains(node));
    Ok(all.into_iter().filter(of_every_run).map(|node| (node, 0)).collect())
}

/// The first outputs of the nodes whose outputs no node reads. In a graph with dataflow control flow, only
/// those that every run has, if there are any.
pub(super) fn ends(body: &GraphBody<'_>) -> Result<Vec<(usize, usize)>, Refusal> {
    let mut is_used = vec![false; body.nodes.len()];
    for node in 0..body.nodes.len() {
        for from in body.inputs(node)?.into_iter().filter_map(Reference::node) {
            is_used[from] = true;
        }
    }
    let gives = |node: &NodeDef| {
        !is_placeholder(&node.op) && row(&node.op).is_none_or(|row| !row.signature().outputs.is_empty())
    };
    let ends: Vec<usize> =
        (0..body.nodes.len()).filter(|&node| !is_used[node] && gives(&body.nodes[node])).collect();
    let always: Vec<usize> = if body.nodes.iter().any(|node| Primitive::of_node(&node.op).is_some()) {
        let certain = certain(body, &ends)?;
        ends.iter().copied().filter(|node| certain.contains(node)).collect()
    } else {
        Vec::new()
    };
    let ends = if always.is_empty() { ends } else { always };
    Ok(ends.into_iter().map(|node| (node, 0)).collect())
}

/// The choice of one output of a Switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SwitchChoice {
    /// The tensor that decides.
    selector: (usize, usize),
    port: usize,
    /// The number of alternatives.
    n: usize,
    /// The number of loops around the Switch.
    depth: usize,
}

/// The choices on which a node depends; `None` if they are too many, or too difficult.
type Choices = Option<BTreeSet<SwitchChoice>>;

/// Limit on the choices of a node.
const MAX_CHOICES: usize = 16;
/// Limit on the work for one Merge.
const MAX_STEPS: usize = 1 << 12;

/// The properties of a node.
struct NodeFacts {
    choices: Choices,
    /// The number of loops around its outputs.
    depth: usize,
    /// The tensor of which its first output is a copy.
    copied: Option<(usize, usize)>,
}

/// Those of the nodes that these need whose outputs every run has.
fn certain(body: &GraphBody<'_>, wanted: &[usize]) -> Result<BTreeSet<usize>, Refusal> {
    let needed = body.without_back_edges(body.needed(wanted.iter().copied())?);
    let mut known: BTreeMap<usize, NodeFacts> = BTreeMap::new();
    for node in body.order(&needed)? {
        let primitive = body.primitive(node);
        let inputs: Vec<Reference<'_>> =
            body.inputs(node)?.into_iter().filter(|&reference| !body.is_fed(reference)).collect();
        let around = needed[&node].iter().filter_map(|from| Some(known.get(from)?.depth)).max().unwrap_or(0);
        let choices = match primitive {
            // It runs whatever its inputs are.
            Some(Primitive::ControlTrigger) => Some(BTreeSet::new()),
            Some(Primitive::Merge) => of_merge(body, &known, &inputs),
            Some(Primitive::Exit) => all_of(body, &known, &inputs).map(|mut choices| {
                choices.retain(|choice| choice.depth < around);
                choices
            }),
            _ => all_of(body, &known, &inputs),
        };
        let depth = match primitive {
            Some(Primitive::Enter) => around + 1,
            Some(Primitive::Exit) => around.saturating_sub(1),
            _ => around,
        };
        let copied = match inputs.first() {
            Some(&Reference::Output(from, port)) if body.nodes[node].op == "Identity" => {
                Some(original(&known, (from, port)))
            }
            _ => None,
        };
        known.insert(node, NodeFacts { choices, depth, copied });
    }
    let is_switch =
        |node: usize| matches!(body.primitive(node), Some(Primitive::Switch | Primitive::SwitchN));
    let is_certain = |(&node, known): (&usize, &NodeFacts)| {
        let every_run = known.depth == 0 && known.choices.as_ref().is_some_and(BTreeSet::is_empty);
        (every_run && !is_switch(node)).then_some(node)
    };
    Ok(known.iter().filter_map(is_certain).collect())
}

/// The tensor of which a tensor is a copy, or the tensor itself.
fn original(known: &BTreeMap<usize, NodeFacts>, (node, port): (usize, usize)) -> (usize, usize) {
    let copied = known.get(&node).and_then(|known| known.copied);
    copied.filter(|_| port == 0).unwrap_or((node, port))
}

/// The choices of a value.
fn of_value(body: &GraphBody<'_>, known: &BTreeMap<usize, NodeFacts>, reference: Reference<'_>) -> Choices {
    let Some(from) = reference.node().and_then(|node| known.get(&node)) else {
        return Some(BTreeSet::new());
    };
    let Reference::Output(node, port) = reference else { return from.choices.clone() };
    let n = match body.primitive(node) {
        Some(Primitive::Switch) => 2,
        Some(Primitive::SwitchN) => match body.nodes[node].attr.get("num_outs")?.value {
            Some(Value::I(n)) => usize::try_from(n).ok()?,
            _ => return None,
        },
        _ => return from.choices.clone(),
    };
    let selector = match body.inputs(node).ok()?.get(1) {
        Some(&Reference::Output(node, port)) => original(known, (node, port)),
        _ => return None,
    };
    let mut choices = from.choices.clone()?;
    choices.insert(SwitchChoice { selector, port, n, depth: from.depth });
    (choices.len() <= MAX_CHOICES).then_some(choices)
}

/// The choices of a node that needs all of its inputs.
fn all_of(body: &GraphBody<'_>, known: &BTreeMap<usize, NodeFacts>, inputs: &[Reference<'_>]) -> Choices {
    let mut all = BTreeSet::new();
    for &input in inputs {
        all.extend(of_value(body, known, input)?);
    }
    (all.len() <= MAX_CHOICES).then_some(all)
}

/// The choices of a Merge: those that its values have in common, if one of them is there whatever the other
/// choices are. It needs all of its control inputs.
fn of_merge(body: &GraphBody<'_>, known: &BTreeMap<usize, NodeFacts>, inputs: &[Reference<'_>]) -> Choices {
    let (control, values): (Vec<_>, Vec<_>) =
        inputs.iter().copied().partition(|input| matches!(input, Reference::Control(_)));
    // The value of the next iteration follows the first.
    let is_first =
        |input: &Reference<'_>| input.node().is_none_or(|node| body.primitive(node) != Some(Primitive::Sink));
    let values = values.into_iter().filter(is_first).map(|input| of_value(body, known, input));
    let values: Vec<BTreeSet<SwitchChoice>> = values.collect::<Option<_>>()?;
    let common = values.iter().cloned().reduce(|a, b| &a & &b).unwrap_or_default();
    let others: Vec<BTreeSet<SwitchChoice>> = values.iter().map(|choices| choices - &common).collect();
    let mut steps = MAX_STEPS;
    if !cover(&others, &mut steps) {
        return None;
    }
    let all: BTreeSet<SwitchChoice> = &common | &all_of(body, known, &control)?;
    (all.len() <= MAX_CHOICES).then_some(all)
}

/// True if every choice of all Switches leads to one of these.
fn cover(ends: &[BTreeSet<SwitchChoice>], steps: &mut usize) -> bool {
    if ends.iter().any(BTreeSet::is_empty) {
        return true;
    }
    let Some(&SwitchChoice { selector, n, .. }) = ends.iter().find_map(BTreeSet::first) else { return false };
    (0..n).all(|port| {
        let Some(left) = steps.checked_sub(1) else { return false };
        *steps = left;
        let is_of = |choice: &&SwitchChoice| choice.selector == selector;
        let taken =
            ends.iter().filter(|choices| choices.iter().filter(is_of).all(|choice| choice.port == port));
        let taken: Vec<BTreeSet<SwitchChoice>> =
            taken.map(|choices| choices.iter().filter(|choice| !is_of(choice)).copied().collect()).collect();
        cover(&taken, steps)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes as `name = Op inputs`.
    fn nodes(text: &str) -> Vec<NodeDef> {
        let node = |line: &str| {
            let (name, rest) = line.split_once(" = ")?;
            let mut words = rest.split_whitespace().map(str::to_owned);
            let (name, op) = (name.trim().to_owned(), words.next()?);
            Some(NodeDef { name, op, input: words.collect(), ..NodeDef::default() })
        };
        text.lines().filter_map(node).collect()
    }

    fn check(text: &str, want: &[&str]) {
        let nodes = nodes(text);
        let entry = EntryPoint::default();
        let body = GraphBody::of_graph(&nodes, &entry).unwrap();
        let found: Vec<&str> = ends(&body).unwrap().iter().map(|&(node, _)| &*nodes[node].name).collect();
        assert_eq!(found, want, "{text}");
    }

    const LOOP: &str = "
        x = Placeholder
        p = Placeholder
        always = Neg x
        way = Switch x p
        enter = Enter START
        merge = Merge enter next
        less = Less merge merge
        cond = LoopCond less
        switch = Switch merge cond
        body = Identity switch:1
        next = NextIteration body
        inside = Neg body
        exit = Exit switch
    ";

    #[test]
    fn a_loop_ends_in_every_run_if_it_begins_in_every_run() {
        check(&LOOP.replace("START", "x"), &["always", "exit"]);
        check(&LOOP.replace("START", "way:1"), &["always"]);
    }

    #[test]
    fn a_merge_of_all_ways_is_in_every_run() {
        let text = "
            x = Placeholder
            p = Placeholder
            q = Placeholder
            always = Neg x
            pred_id = Identity p
            outer = Switch x pred_id
            pivot = Switch p p
            then = Identity pivot:1
            inner = Switch outer:1 q
            left = Neg inner
            inner_merge = Merge left inner:1
            within = Neg inner_merge
            one = Const ^then
            MERGED
        ";
        let check = |merged: &str, want: &[&str]| check(&text.replace("MERGED", merged), want);
        check("all = Merge outer inner_merge", &["always", "all"]);
        check("all = Merge one outer", &["always", "all"]);
        check("all = Merge left inner:1 outer", &["always", "all"]);
        // One of the ways, or ways of different conditions.
        check("all = Merge left outer", &["always"]);
        check("all = Merge outer:1 inner_merge", &["always"]);
        // A condition within the condition of another.
        check("all = Add inner_merge inner_merge", &["always"]);
    }
}
