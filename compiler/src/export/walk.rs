//! The parts that the writers of all formats share: functions and their ops, the names of ports and nodes,
//! and the list of operations that the format does not have.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::diag::Diagnostic;
use crate::graph::effects::functions;
use crate::ir::{BlockId, Module, OpId, StrId, ValueId, names};

/// An export in progress.
pub(super) struct ExportWalk<'m> {
    pub(super) m: &'m Module,
    pub(super) functions: FxHashMap<StrId, OpId>,
    /// By operation that the format does not have: the names of its nodes, where they have one.
    refused: BTreeMap<String, Vec<Option<String>>>,
    wrong: Vec<Diagnostic>,
}

impl<'m> ExportWalk<'m> {
    /// The walk from the function `entry`.
    ///
    /// # Errors
    /// If there is no such function.
    pub(super) fn from(m: &'m Module, entry: &str) -> Result<(ExportWalk<'m>, OpId), Vec<Diagnostic>> {
        let functions = functions(m);
        let main = functions.iter().find(|&(&name, _)| m.cx.str(name) == entry).map(|(_, &op)| op);
        let Some(main) = main else {
            return Err(vec![Diagnostic::error(
                "E1101",
                format!("there is no function '{entry}' to export"),
            )]);
        };
        Ok((ExportWalk { m, functions, refused: BTreeMap::new(), wrong: Vec::new() }, main))
    }

    /// The only block of a function, which other formats cannot do without.
    pub(super) fn block(&mut self, function: OpId) -> Option<BlockId> {
        let block = self.m.only_block(function);
        if block.is_none() {
            self.refuse(
                function,
                "a function without a body, or with several blocks, is no graph of operators",
            );
        }
        block
    }

    /// The ops of a block except for its end.
    pub(super) fn ops(&self, block: BlockId) -> impl Iterator<Item = OpId> + use<'m> {
        let end = self.m.last_op(block);
        self.m.ops_in(block).filter(move |&op| Some(op) != end)
    }

    /// The values that the end of a block returns.
    pub(super) fn returned(&self, block: BlockId) -> Vec<ValueId> {
        self.m.last_op(block).into_iter().flat_map(|end| self.m.operands(end)).collect()
    }

    /// The name of an argument of the entry function.
    pub(super) fn arg_name(&self, function: OpId, i: usize) -> String {
        self.m.port_name(function, names::ARG_ATTRS, i).map_or_else(|| format!("arg{i}"), str::to_owned)
    }

    /// The name of a result of the entry function.
    pub(super) fn result_name(&self, function: OpId, i: usize) -> String {
        self.m.port_name(function, names::RES_ATTRS, i).map_or_else(|| format!("result{i}"), str::to_owned)
    }

    /// Notes an op that the format does not have. `what` is its name, with a reason if others like it exist.
    pub(super) fn unsupported(&mut self, op: OpId, what: String) {
        let node = self.m.node_name(op).map(str::to_owned);
        self.refused.entry(what).or_default().push(node);
    }

    /// Notes a part of the graph that has no form in the format.
    pub(super) fn refuse(&mut self, op: OpId, why: &str) {
        let span = self.m.op_spans.at(op).copied();
        self.wrong.push(Diagnostic::error("E1103", why.to_owned()).at(span));
    }

    /// The end of an export to `format`.
    ///
    /// # Errors
    /// One error for all operations without a form in the format, with counts and names of nodes; others for
    /// attributes, types and functions without one.
    pub(super) fn conclude(self, format: &str) -> Result<(), Vec<Diagnostic>> {
        let ExportWalk { m: _, functions: _, refused, mut wrong } = self;
        if !refused.is_empty() {
            let list: Vec<String> = refused.iter().map(|(what, nodes)| listed(what, nodes)).collect();
            let message = format!("operations that {format} does not have: {}", list.join(", "));
            let help =
                "an export optimizes by itself: give it the model, or text before the passes for kernels";
            wrong.push(Diagnostic::error("E1102", message).help(help));
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong) }
    }
}

/// `tf.Print (3: 'a', 'b', 'c')`
fn listed(what: &str, nodes: &[Option<String>]) -> String {
    /// Names that are listed.
    const NODES: usize = 4;
    let named: Vec<String> = nodes.iter().flatten().take(NODES).map(|name| format!("'{name}'")).collect();
    let more = if nodes.iter().flatten().count() > NODES { ", ..." } else { "" };
    let colon = if named.is_empty() { "" } else { ": " };
    format!("{what} ({}{colon}{}{more})", nodes.len(), named.join(", "))
}

/// Names, each given once.
#[derive(Default)]
pub(super) struct UniqueNames {
    taken: FxHashSet<String>,
    /// By name: the last number that was appended to it.
    numbers: FxHashMap<String, usize>,
}

impl UniqueNames {
    /// The name, or one like it that is not taken and not empty.
    pub(super) fn unique(&mut self, wanted: String) -> String {
        if !wanted.is_empty() && self.taken.insert(wanted.clone()) {
            return wanted;
        }
        let number = self.numbers.entry(wanted.clone()).or_default();
        loop {
            *number += 1;
            let name = format!("{wanted}_{number}");
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}
