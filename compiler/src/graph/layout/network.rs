//! The network of image operators of a block: producers and readers, their layouts, and the cheapest
//! assignment.

use befrost_tensor::tf::op::Op;
use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Layout;
use super::costs::Device;
use super::roles::{self, OpRole, ValueRole};
use crate::build::query::{has_no_edges, ints, producer_if, shape};
use crate::dialects::tf::operator;
use crate::fold::constant_of;
use crate::graph::cut::{Graph, INFINITE, SINK, SOURCE};
use crate::ir::{BlockId, Module, OpId, ValueId};

/// The convertible operators of a block, with the layouts that they are written for.
pub(super) struct Network {
    /// In block order.
    nodes: Vec<OpId>,
    written: FxHashMap<OpId, Layout>,
    roles: FxHashMap<OpId, OpRole>,
}

/// An image operand of a node.
struct Read {
    /// The value without all transpositions between layouts.
    from: ValueId,
    /// True if the number of these transpositions is odd.
    is_transposed: bool,
}

/// The operand of a transposition between layouts, and the layout of its result.
pub(super) fn between_layouts(m: &Module, value: ValueId) -> Option<(ValueId, Layout)> {
    let op = producer_if(m, value, &[Op::Transpose])?;
    let made = Layout::producer_if(&ints(m, m.operand(op, 1))?)?;
    Some((m.operand(op, 0), made))
}

fn through(m: &Module, value: ValueId) -> Read {
    let mut read = Read { from: value, is_transposed: false };
    let mut last = None;
    while let Some((x, made)) = between_layouts(m, read.from)
        // Two consecutive transpositions that are not inverse change more than the layout.
        && last != Some(made)
    {
        read = Read { from: x, is_transposed: !read.is_transposed };
        last = Some(made);
    }
    read
}

fn transposed_if(layout: Layout, is_transposed: bool) -> Layout {
    if is_transposed { layout.other() } else { layout }
}

impl Network {
    /// The operators of a block and the layouts that they are written for.
    pub(super) fn new(m: &Module, block: BlockId) -> Network {
        let mut network =
            Network { nodes: Vec::new(), written: FxHashMap::default(), roles: FxHashMap::default() };
        for op in m.ops_in(block) {
            if let Some(role) = roles::of(m, op) {
                network.roles.insert(op, role);
            }
        }
        network.spread(m, block);
        let Network { nodes, written, .. } = &mut network;
        nodes.extend(m.ops_in(block).filter(|op| written.contains_key(op)));
        network
    }

    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Propagates layouts from layout attributes and transpositions between layouts to all connected
    /// operators.
    fn spread(&mut self, m: &Module, block: BlockId) {
        let mut todo: VecDeque<(OpId, Layout)> = VecDeque::new();
        let known = |&op: &OpId| self.roles.contains_key(&op);
        for op in m.ops_in(block).filter(known) {
            todo.extend(roles::written(m, op).map(|layout| (op, layout)));
        }
        for op in m.ops_in(block).filter(|&op| operator(m, op) == Some(Op::Transpose) && has_no_edges(m, op))
        {
            let result = m.result(op, 0);
            let Some((x, made)) = between_layouts(m, result) else { continue };
            todo.extend(m.users(result).map(|(user, _)| user).filter(known).map(|user| (user, made)));
            todo.extend(m.defining_op(x).filter(known).map(|op| (op, made.other())));
        }
        let mut seen: FxHashSet<ValueId> = FxHashSet::default();
        while let Some((op, layout)) = todo.pop_front() {
            let Some(role) = self.roles.get(&op) else { continue };
            if self.written.contains_key(&op) {
                continue;
            }
            if !roles::fits(m, op, layout) {
                self.roles.remove(&op);
                continue;
            }
            self.written.insert(op, layout);
            let images = |roles: &[ValueRole]| -> Vec<usize> {
                (0..roles.len()).filter(|&i| roles[i] == ValueRole::Image).collect()
            };
            let (read, made) = (images(&role.operands), images(&role.results));
            for value in read.into_iter().map(|i| m.operand(op, i)) {
                let Read { from, is_transposed } = through(m, value);
                let layout = transposed_if(layout, is_transposed);
                todo.extend(m.defining_op(from).filter(|&op| self.makes(m, op, from)).map(|op| (op, layout)));
            }
            for value in made.into_iter().map(|i| m.result(op, i)) {
                let mut values = vec![(value, layout)];
                while let Some((value, layout)) = values.pop() {
                    if !seen.insert(value) {
                        continue;
                    }
                    for (user, i) in m.users(value) {
                        if self.reads(user, i) {
                            todo.push_back((user, layout));
                        } else if let Some(result) = transposed(m, user, layout) {
                            values.push((result, layout.other()));
                        }
                    }
                }
            }
        }
    }

    /// True if `value` is an image result of a convertible op.
    fn makes(&self, m: &Module, op: OpId, value: ValueId) -> bool {
        let at = m.results(op).position(|result| result == value);
        self.roles.get(&op).is_some_and(|role| at.is_some_and(|at| role.results[at] == ValueRole::Image))
    }

    fn reads(&self, op: OpId, i: usize) -> bool {
        self.roles.get(&op).is_some_and(|role| role.operands.get(i) == Some(&ValueRole::Image))
    }

    pub(super) fn role(&self, op: OpId) -> Option<&OpRole> {
        self.roles.get(&op)
    }

    /// The ops whose layout changes, with their new layout.
    pub(super) fn labels(&self, m: &Module, device: &Device) -> FxHashMap<OpId, Layout> {
        let mut graph = Graph::new();
        let number: FxHashMap<OpId, usize> = self.nodes.iter().map(|&op| (op, graph.add_node())).collect();
        let mut readers: Readers = Readers::default();
        for &op in &self.nodes {
            self.connect(m, op, device, &number, &mut graph, &mut readers);
        }
        readers.connect(m, &mut graph);
        // Without a cut all ops keep their layout.
        let Some(is_last) = graph.cut() else { return FxHashMap::default() };
        let label = |op: &OpId| if is_last[number[op]] { Layout::Nhwc } else { Layout::Nchw };
        let labels = self.nodes.iter().map(|op| (*op, label(op)));
        labels.filter(|(op, label)| self.written[op] != *label).collect()
    }

    /// Adds the op's own cost, the readers of its results, and its operands without a convertible producer.
    fn connect(
        &self,
        m: &Module,
        op: OpId,
        device: &Device,
        number: &FxHashMap<OpId, usize>,
        graph: &mut Graph,
        readers: &mut Readers,
    ) {
        let (node, written) = (number[&op], self.written[&op]);
        let Some(role) = self.role(op) else { return };
        let mut moved = 0;
        for (i, value) in m.operands(op).enumerate().filter(|(i, _)| role.operands[*i] == ValueRole::Image) {
            let Read { from, is_transposed } = through(m, value);
            moved += size(m, value);
            if constant_of(m, from).is_some() {
                continue;
            }
            let is_first_read = m.operands(op).take(i).all(|other| other != value);
            let producer = m.defining_op(from).filter(|&op| self.makes(m, op, from));
            let from_layout = transposed_if(written, is_transposed);
            match producer.and_then(|op| Some((*number.get(&op)?, self.written[&op]))) {
                Some((maker, made)) if made == from_layout => readers.add(from, maker, node, is_first_read),
                Some((maker, made)) => {
                    // Producer and reader disagree on the value's layout: in between it stays as written.
                    readers.add(from, maker, terminal(made), is_first_read);
                    keep(graph, node, written, 4 * SCALE * size(m, from));
                }
                None => readers.add_fixed(from, from_layout, node),
            }
        }
        for (i, value) in m.results(op).enumerate().filter(|(i, _)| role.results[*i] == ValueRole::Image) {
            moved += size(m, m.result(op, i));
            // Users that cannot be converted need the layout as written, after any transpositions.
            let mut values = vec![(value, written)];
            while let Some((value_now, layout)) = values.pop() {
                for (user, at) in m.users(value_now) {
                    if number.contains_key(&user) && self.reads(user, at) {
                        continue;
                    }
                    match transposed(m, user, layout) {
                        Some(result) => values.push((result, layout.other())),
                        None => readers.add(value, node, terminal(layout), true),
                    }
                }
            }
        }
        if let (Some(operator), Some(_)) = (operator(m, op), roles::written(m, op)) {
            let cost = |layout| device.cost(operator, layout).saturating_mul(SCALE * moved);
            keep(graph, node, Layout::Nhwc, cost(Layout::Nchw));
            keep(graph, node, Layout::Nchw, cost(Layout::Nhwc));
        }
        // Among choices of equal cost the one with fewer changes wins.
        keep(graph, node, written, 1);
    }
}

/// Weight of a unit of cost, relative to the preference for no change, which is 1. The unit is a quarter of
/// one transposition per element.
const SCALE: u64 = 64;

/// The terminal of a layout.
fn terminal(layout: Layout) -> usize {
    match layout {
        Layout::Nhwc => SOURCE,
        Layout::Nchw => SINK,
    }
}

/// Adds the cost of a node that does not get `layout`.
fn keep(graph: &mut Graph, node: usize, layout: Layout, cost: u64) {
    match layout {
        Layout::Nhwc => graph.add_edge(SOURCE, node, cost, 0),
        Layout::Nchw => graph.add_edge(node, SINK, cost, 0),
    }
}

/// An estimate of a value's number of elements; unknown dimensions count as 8.
fn size(m: &Module, value: ValueId) -> u64 {
    const MOST: u64 = 1 << 30;
    let dims = shape(m, value).unwrap_or_default();
    let dim = |&dim: &i64| u64::try_from(dim).unwrap_or(8).max(1);
    dims.iter().map(dim).fold(1, |n: u64, dim| n.saturating_mul(dim).min(MOST))
}

/// The result of a transposition between layouts of a value that is written for `layout`.
fn transposed(m: &Module, user: OpId, layout: Layout) -> Option<ValueId> {
    if operator(m, user) != Some(Op::Transpose) || !has_no_edges(m, user) {
        return None;
    }
    let (_, made) = between_layouts(m, m.result(user, 0))?;
    (made == layout.other()).then(|| m.result(user, 0))
}

/// The readers of each image; one transposition serves all readers on the other side.
#[derive(Default)]
struct Readers {
    /// In order of discovery.
    order: Vec<(ValueId, usize)>,
    by_value: FxHashMap<(ValueId, usize), Vec<usize>>,
}

impl Readers {
    fn add(&mut self, value: ValueId, maker: usize, reader: usize, is_news: bool) {
        let order = &mut self.order;
        let all = self.by_value.entry((value, maker)).or_insert_with(|| {
            order.push((value, maker));
            Vec::new()
        });
        if is_news && all.last() != Some(&reader) {
            all.push(reader);
        }
    }

    /// Adds a reader of a value that cannot be converted.
    fn add_fixed(&mut self, value: ValueId, written: Layout, reader: usize) {
        self.add(value, terminal(written), reader, true);
    }

    fn connect(&self, m: &Module, graph: &mut Graph) {
        for &(value, maker) in &self.order {
            let readers = &self.by_value[&(value, maker)];
            let cost = 4 * SCALE * size(m, value);
            if let [reader] = readers.as_slice() {
                graph.add_edge(maker, *reader, cost, cost);
                continue;
            }
            // `last` is cut off if a reader is NHWC and the producer NCHW; `first` in the opposite case.
            let (last, first) = (graph.add_node(), graph.add_node());
            graph.add_edge(last, maker, cost, 0);
            graph.add_edge(maker, first, cost, 0);
            for &reader in readers {
                graph.add_edge(reader, last, INFINITE, 0);
                graph.add_edge(first, reader, INFINITE, 0);
            }
        }
    }
}
