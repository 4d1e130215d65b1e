//! Bodies: the nodes of a graph or a function, the needed ones among them, and their order.
//!
//! References between nodes are strings. In a graph `name:2` is output 2 of a node, in a function
//! `name:out:2` is number 2 of its output `out`, and a name alone is an argument; `^name` is a control edge
//! in both.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::{EntryPoint, Feed, Refusal, devices, errors};
use crate::dialects::tf_executor::Primitive;
use crate::import::proto::attr_value::Value;
use crate::import::proto::{AttrValue, FunctionDef, NodeDef};
use crate::rewrite::TopologicalOrder;

/// The nodes of a graph or a function.
pub(super) struct GraphBody<'g> {
    pub(super) nodes: &'g [NodeDef],
    index: HashMap<&'g str, usize>,
    /// The name of the function; `None` for the graph.
    pub(super) function: Option<&'g str>,
    /// Arguments of a function by name: the number of the first one and the count.
    pub(super) args: HashMap<&'g str, (usize, usize)>,
    /// The tensors of a graph that are arguments.
    pub(super) feeds: HashMap<(usize, usize), usize>,
    /// The values of the attributes of the function, to which its nodes refer.
    pub(super) attrs: BTreeMap<String, AttrValue>,
    /// The nodes that are named as colocation groups.
    pub(super) groups: HashSet<&'g str>,
    /// The tensors that the custom gradients of nodes capture: further inputs.
    pub(super) captured: HashMap<usize, Vec<Reference<'g>>>,
}

/// Nodes, each with the nodes that it needs.
pub(super) type Needed = BTreeMap<usize, Vec<usize>>;

/// Source of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reference<'g> {
    /// An output of a node, by number.
    Output(usize, usize),
    /// An output of a node, by name: one value of it, or all.
    Named(usize, &'g str, Option<usize>),
    /// An argument.
    Arg(&'g str, Option<usize>),
    /// The completion of a node.
    Control(usize),
}

impl Reference<'_> {
    /// The node, if the source is one.
    pub(super) fn node(self) -> Option<usize> {
        match self {
            Reference::Output(node, _) | Reference::Named(node, ..) | Reference::Control(node) => Some(node),
            Reference::Arg(..) => None,
        }
    }
}

/// The value of an attribute, which may be a reference to one of the enclosing function.
pub(super) fn resolved<'v>(value: &'v AttrValue, outer: &'v BTreeMap<String, AttrValue>) -> &'v AttrValue {
    match &value.value {
        Some(Value::Placeholder(name)) => outer.get(name).unwrap_or(value),
        _ => value,
    }
}

/// Splits `x:0` into `x` and `0`.
pub(super) fn split_port(name: &str) -> (&str, Option<&str>) {
    match name.split_once(':') {
        Some((node, port)) => (node, Some(port)),
        None => (name, None),
    }
}

impl<'g> GraphBody<'g> {
    fn new(nodes: &'g [NodeDef], function: Option<&'g str>) -> Result<GraphBody<'g>, Refusal> {
        let mut index = HashMap::with_capacity(nodes.len());
        for (i, node) in nodes.iter().enumerate() {
            if index.insert(node.name.as_str(), i).is_some() {
                return Err(errors::node(&node.name, &node.op, "there is another node of this name"));
            }
        }
        let (args, feeds, attrs) = (HashMap::new(), HashMap::new(), BTreeMap::new());
        let (groups, captured) = (devices::groups(nodes), HashMap::new());
        Ok(GraphBody { nodes, index, function, args, feeds, attrs, groups, captured })
    }

    /// The nodes of a graph, which must contain the feeds.
    pub(super) fn of_graph(nodes: &'g [NodeDef], entry: &EntryPoint) -> Result<GraphBody<'g>, Refusal> {
        let mut body = GraphBody::new(nodes, None)?;
        for (i, (Feed { name, .. }, _)) in entry.feeds.iter().enumerate() {
            let key = body.tensor("feed", name)?;
            if body.feeds.insert(key, i).is_some() {
                return Err(errors::unusable("feed", name, "it is fed twice"));
            }
        }
        Ok(body)
    }

    /// The nodes of a function.
    pub(super) fn of_function(
        name: &'g str,
        function: &'g FunctionDef,
        attrs: BTreeMap<String, AttrValue>,
    ) -> Result<GraphBody<'g>, Refusal> {
        Ok(GraphBody { attrs, ..GraphBody::new(&function.node_def, Some(name))? })
    }

    /// A tensor of the graph by its name in the options.
    pub(super) fn tensor(&self, what: &str, name: &str) -> Result<(usize, usize), Refusal> {
        let (node, port) = split_port(name);
        let known = || self.nodes.iter().map(|node| node.name.as_str());
        let missing = || errors::missing(what, node, "the graph has no such node", known());
        let node = *self.index.get(node).ok_or_else(missing)?;
        let port = port.map_or(Ok(0), str::parse);
        let port = port.map_err(|_| errors::unusable(what, name, "expected NODE or NODE:NUMBER"))?;
        Ok((node, port))
    }

    /// The source of an input of a node.
    pub(super) fn reference(&self, input: &'g str) -> Result<Reference<'g>, String> {
        let node = |name: &str| {
            self.index.get(name).copied().ok_or_else(|| format!("there is no node '{}'", errors::shown(name)))
        };
        if let Some(name) = input.strip_prefix('^') {
            return Ok(Reference::Control(node(name)?));
        }
        let (name, port) = split_port(input);
        let number = |text: &str| {
            text.parse::<usize>().map_err(|_| format!("'{}' is no reference", errors::shown(input)))
        };
        if self.function.is_none() {
            return Ok(Reference::Output(node(name)?, port.map_or(Ok(0), number)?));
        }
        if self.args.contains_key(name) {
            return Ok(Reference::Arg(name, port.map(number).transpose()?));
        }
        let node = node(name)?;
        match port.map(split_port) {
            // As in a graph: functions of old versions.
            None => Ok(Reference::Output(node, 0)),
            Some((out, port)) => Ok(Reference::Named(node, out, port.map(number).transpose()?)),
        }
    }

    fn wrong(&self, node: usize, why: &str) -> Refusal {
        let node = &self.nodes[node];
        match self.function {
            None => errors::node(&node.name, &node.op, why),
            Some(function) => errors::function(
                function,
                &format!("node '{}' ({}): {why}", errors::shown(&node.name), errors::shown(&node.op)),
            ),
        }
    }

    /// The sources of the inputs of a node.
    pub(super) fn inputs(&self, node: usize) -> Result<Vec<Reference<'g>>, Refusal> {
        // The arguments of a function are there before its nodes run: a control edge from one says nothing.
        let is_idle =
            |input: &&String| input.strip_prefix('^').is_some_and(|name| self.args.contains_key(name));
        let inputs = self.nodes[node].input.iter().filter(|input| !is_idle(input));
        let captured = self.captured.get(&node).into_iter().flatten().copied().map(Ok);
        inputs
            .map(|input| self.reference(input).map_err(|why| self.wrong(node, &why)))
            .chain(captured)
            .collect()
    }

    /// The source of a tensor of a function by its name in a SavedModel, `NODE:NUMBER` or `ARGUMENT:0`.
    pub(super) fn captured_tensor(&self, name: &'g str) -> Option<Reference<'g>> {
        let (name, port) = split_port(name);
        let port = port.unwrap_or("0").parse().ok()?;
        match self.args.contains_key(name) {
            true => Some(Reference::Arg(name, Some(port))),
            false => Some(Reference::Output(*self.index.get(name)?, port)),
        }
    }

    /// The error of a node.
    pub(super) fn refuse<T>(&self, node: usize, result: Result<T, String>) -> Result<T, Refusal> {
        result.map_err(|why| self.wrong(node, &why))
    }

    /// True if the source is a fed tensor.
    pub(super) fn is_fed(&self, reference: Reference<'_>) -> bool {
        matches!(reference, Reference::Output(node, port) if self.feeds.contains_key(&(node, port)))
    }

    /// The transitive dependencies of the wanted nodes, and for each its direct ones.
    pub(super) fn needed(&self, wanted: impl Iterator<Item = usize>) -> Result<Needed, Refusal> {
        let mut todo: Vec<usize> = wanted.collect();
        let mut inputs = Needed::new();
        while let Some(node) = todo.pop() {
            if inputs.contains_key(&node) {
                continue;
            }
            let references = self.inputs(node)?.into_iter().filter(|&reference| !self.is_fed(reference));
            let from: Vec<usize> = references.filter_map(Reference::node).collect();
            todo.extend(&from);
            inputs.insert(node, from);
        }
        Ok(inputs)
    }

    /// Drops the back edges of loops: those from NextIterations to Merges.
    pub(super) fn without_back_edges(&self, mut needed: Needed) -> Needed {
        for (&node, from) in &mut needed {
            if self.primitive(node) == Some(Primitive::Merge) {
                from.retain(|&from| self.primitive(from) != Some(Primitive::Sink));
            }
        }
        needed
    }

    /// The topological order of these nodes; where it leaves a choice, the order of the file.
    pub(super) fn order(&self, inputs: &Needed) -> Result<Vec<usize>, Refusal> {
        let mut order = TopologicalOrder::new();
        let mut users: HashMap<usize, Vec<usize>> = HashMap::new();
        for (&node, from) in inputs {
            order.add(node, from.len());
            from.iter().for_each(|&from| users.entry(from).or_default().push(node));
        }
        let found = order.take_all(|node| users.get(&node).into_iter().flatten().copied());
        let left: BTreeSet<usize> = order.waiting().collect();
        match left.first() {
            None => Ok(found),
            Some(&first) => Err(self.cycle(first, inputs, &left)),
        }
    }

    /// The error with the nodes of a cycle: every remaining node has a remaining input.
    fn cycle(&self, first: usize, inputs: &Needed, left: &BTreeSet<usize>) -> Refusal {
        let (mut path, mut node) = (Vec::new(), first);
        while !path.contains(&node) && path.len() < 64 {
            path.push(node);
            let next = inputs.get(&node).into_iter().flatten().find(|from| left.contains(from));
            node = next.copied().unwrap_or(first);
        }
        let from = path.iter().position(|&on| on == node).unwrap_or(0);
        path.drain(..from);
        path.push(node);
        path.reverse();
        let names: Vec<&str> = path.iter().map(|&node| self.nodes[node].name.as_str()).collect();
        errors::cycle(&names)
    }
}
