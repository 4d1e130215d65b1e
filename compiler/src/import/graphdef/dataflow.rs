//! Bodies with dataflow control flow: one graph, whose NextIterations are a source and a sink each.

use std::collections::{BTreeSet, HashMap};

use super::Importer;
use super::body::{GraphBody, Reference};
use super::build::{Block, NodePlan, TranslatedNode};
use crate::dialects::tf_executor::{self, Primitive};
use crate::ir::{BlockId, LocId, LocKind, NewOp, TypeId, ValueId};

impl<'g> Importer<'g> {
    /// The block of a function, or of a graph in it if these nodes of the body have dataflow control flow.
    pub(super) fn block<'b>(
        &mut self,
        body: &'b GraphBody<'g>,
        function: BlockId,
        nodes: &[usize],
    ) -> Block<'b, 'g> {
        let is_dataflow = nodes.iter().any(|&node| body.primitive(node).is_some());
        Block {
            body,
            function,
            block: if is_dataflow { self.m.create_block() } else { function },
            args: self.m.args(function).to_vec(),
            made: HashMap::new(),
            watched: BTreeSet::new(),
            dataflow: is_dataflow.then(HashMap::new),
        }
    }

    /// Creates the sources of the NextIterations that a node has as inputs, if it is a Merge.
    pub(super) fn sources(&mut self, block: &mut Block<'_, 'g>, node: usize) -> Result<(), String> {
        let body = block.body;
        if body.primitive(node) != Some(Primitive::Merge) {
            return Ok(());
        }
        for reference in body.inputs(node).map_err(|error| error.message)? {
            let (Some(next), false) = (reference.node(), matches!(reference, Reference::Control(_))) else {
                continue;
            };
            if body.primitive(next) != Some(Primitive::Sink) || block.made.contains_key(&next) {
                continue;
            }
            let NodePlan { outputs, ranges, .. } = self.plan(body, next)?;
            let &[ty] = &outputs[..] else { return Err("it has no output".into()) };
            let (name, token) = (Primitive::Source.op_name(), self.m.cx.opaque_type(tf_executor::TOKEN));
            let (name, node_name) = (self.m.cx.str_id(name), self.m.cx.str_id(&body.nodes[next].name));
            let loc = self.m.cx.loc_id(LocKind::Name { name: node_name, child: LocId::UNKNOWN });
            let name = self.m.cx.op_name(name);
            let op = self.m.create(NewOp { results: &[ty, token], loc, ..NewOp::new(name) });
            self.m.append(block.block, op);
            let made = TranslatedNode { outputs: vec![self.m.result(op, 0)], ranges, control: None };
            block.made.insert(next, made);
            let token = self.m.result(op, 1);
            block.dataflow.get_or_insert_default().insert(next, token);
        }
        Ok(())
    }

    /// Ends the graph of a block, if it has one. Returns the results of the function.
    pub(super) fn close_graph(&mut self, block: &Block<'_, 'g>, results: &[ValueId]) -> Vec<ValueId> {
        if block.dataflow.is_none() {
            return results.to_vec();
        }
        let m = &mut self.m;
        let fetch = m.create_named(tf_executor::FETCH, results, &[], &[]);
        m.append(block.block, fetch);
        let types: Vec<TypeId> = results.iter().map(|&value| m.value_type(value)).collect();
        let graph = m.create_named(tf_executor::GRAPH, &[], &types, &[]);
        let region = m.add_region(graph);
        m.append_block(region, block.block);
        m.append(block.function, graph);
        m.results(graph).collect()
    }
}

impl<'g> GraphBody<'g> {
    /// The primitive that a node is.
    pub(super) fn primitive(&self, node: usize) -> Option<Primitive> {
        Primitive::of_node(&self.nodes[node].op)
    }
}

impl Block<'_, '_> {
    /// The token of a NextIteration; `None` for other nodes.
    pub(super) fn token(&self, node: usize) -> Result<Option<ValueId>, String> {
        if self.body.primitive(node) != Some(Primitive::Sink) {
            return Ok(None);
        }
        if self.watched.contains(&node) {
            return Err("a node waits for it, which would be that of the next iteration".to_owned());
        }
        let token = self.dataflow.as_ref().and_then(|tokens| tokens.get(&node)).copied();
        token.map(Some).ok_or_else(|| "no Merge has it as input".to_owned())
    }
}
