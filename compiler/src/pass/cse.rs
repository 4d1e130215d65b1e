//! `cse`: common subexpression elimination.
//!
//! An op is erased if an equal op dominates it: same name, attributes, result types, regions and operands
//! (commutative operands in any order). The op must have no effects, or only reads; for reads both ops are in
//! one block with no write in between. Trivially dead ops are erased too.
//!
//! Available expressions are in a scoped table: a block sees the expressions of its dominators, the ops in a
//! region those around it, unless the region is isolated. A worklist replaces recursion, so that deep
//! dominator trees and deep nests need no stack.

use super::{Change, Pass, PassCx, Rewriter};
use crate::dialects::{Effects, Traits};
use crate::ir::dominance;
use crate::ir::{BlockId, LocId, LocKind, Module, OpId, RegionId, ValueId};
use crate::rewrite::is_trivially_dead;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

const MERGED: &str = "num-cse'd";
const DEAD: &str = "num-dce'd";

pub(crate) const PASS: Pass = Pass {
    name: "cse",
    title: "CSE",
    summary: "removes operations that compute what is there already",
    options: &[],
    statistics: &[(MERGED, "Number of operations CSE'd"), (DEAD, "Number of operations DCE'd")],
    run,
};

/// The identity of an expression: equal keys imply equal results.
type Key = SmallVec<[u32; 12]>;

/// An item of the worklist.
enum Visit {
    Region(RegionId),
    /// A block, then the blocks that it dominates.
    Block(BlockId),
    Op(OpId),
    /// An op after its regions.
    Simplify(OpId),
    /// The end of a scope that began with this many entries in the log.
    EndScope(usize),
    /// The end of an isolated op: restores the outer table.
    Restore(Box<Table>),
}

/// The scoped table of available expressions; the log undoes the entries of a scope that ends.
#[derive(Default)]
struct Table {
    known: FxHashMap<Key, AvailableOp>,
    log: Vec<(Key, Option<AvailableOp>)>,
}

#[derive(Clone, Copy)]
struct AvailableOp {
    op: OpId,
    /// For reads: the number of writes before.
    writes: u32,
}

/// The effects of an op.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Pure,
    Reads,
    Other,
}

struct Cse<'a, 'm> {
    r: &'a mut Rewriter<'m>,
    cx: &'a PassCx<'a>,
    visits: Vec<Visit>,
    table: Table,
    /// Immediately dominated blocks, in order.
    dominated: FxHashMap<BlockId, Vec<BlockId>>,
    /// The effects of ops with regions, if the ops inside are not pure.
    classes: FxHashMap<OpId, Class>,
    /// The number of writes in each block so far.
    writes: FxHashMap<BlockId, u32>,
}

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let root = r.root();
    let visits = r.ir().regions_of(root).iter().rev().map(|region| Visit::Region(*region)).collect();
    let mut cse = Cse {
        r,
        cx,
        visits,
        table: Table::default(),
        dominated: FxHashMap::default(),
        classes: FxHashMap::default(),
        writes: FxHashMap::default(),
    };
    while let Some(visit) = cse.visits.pop() {
        cse.visit(visit);
    }
    r.change()
}

impl Cse<'_, '_> {
    fn visit(&mut self, visit: Visit) {
        match visit {
            Visit::Region(region) => self.region(region),
            Visit::Block(block) => self.block(block),
            Visit::Op(op) => self.op(op),
            Visit::Simplify(op) => self.simplify(op),
            Visit::EndScope(n) => {
                while self.table.log.len() > n {
                    match self.table.log.pop() {
                        Some((key, Some(old))) => _ = self.table.known.insert(key, old),
                        Some((key, None)) => _ = self.table.known.remove(&key),
                        None => {}
                    }
                }
            }
            Visit::Restore(table) => self.table = *table,
        }
    }

    fn region(&mut self, region: RegionId) {
        let tree = dominance::tree(self.r.ir(), region);
        let Some((entry, _)) = tree.first().copied() else { return };
        for (block, up) in tree {
            if block != up {
                self.dominated.entry(up).or_default().push(block);
            }
        }
        self.visits.push(Visit::Block(entry));
    }

    fn block(&mut self, block: BlockId) {
        self.visits.push(Visit::EndScope(self.table.log.len()));
        let children = self.dominated.remove(&block).unwrap_or_default();
        self.visits.extend(children.into_iter().rev().map(Visit::Block));
        let at = self.visits.len();
        self.visits.extend(self.r.ir().ops_in(block).map(Visit::Op));
        self.visits[at..].reverse();
    }

    fn op(&mut self, op: OpId) {
        let m = self.r.ir();
        if m.regions_of(op).is_empty() {
            return self.simplify(op);
        }
        self.visits.push(Visit::Simplify(op));
        // Unregistered ops may be isolated.
        let regions: Vec<Visit> = m.regions_of(op).iter().rev().map(|r| Visit::Region(*r)).collect();
        if m.def(op).is_none_or(|d| d.traits.has(Traits::ISOLATED)) {
            self.visits.push(Visit::Restore(Box::new(std::mem::take(&mut self.table))));
        }
        self.visits.extend(regions);
    }

    fn simplify(&mut self, op: OpId) {
        let m = self.r.ir();
        let Some(block) = m.parent_block(op) else { return };
        let class = self.class(op);
        if is_trivially_dead(m, op) {
            self.cx.count(DEAD, 1);
            self.r.erase(op);
            return;
        }
        // An op has the effects of the ops inside it.
        if class > Class::Pure
            && let Some(parent) = m.parent_op(op)
        {
            let worst = self.classes.entry(parent).or_insert(Class::Pure);
            *worst = class.max(*worst);
        }
        let writes = self.writes.entry(block).or_default();
        if class == Class::Other {
            *writes += 1;
            return;
        }
        let writes = *writes;
        let is_terminator = m.traits(op).has(Traits::TERMINATOR);
        if is_terminator || m.regions_of(op).iter().any(|r| m.blocks_of(*r).len() > 1) {
            return;
        }
        let key = key(m, op);
        match self.table.known.get(&key).copied() {
            Some(known)
                if class == Class::Pure
                    || (m.parent_block(known.op) == Some(block) && known.writes == writes) =>
            {
                self.merge(op, known.op);
            }
            old => {
                self.table.known.insert(key.clone(), AvailableOp { op, writes });
                self.table.log.push((key, old));
            }
        }
    }

    /// Replaces `op` by `kept`.
    fn merge(&mut self, op: OpId, kept: OpId) {
        self.cx.count(MERGED, 1);
        let m = self.r.ir();
        let loc = m.loc(op);
        let unknown = |loc: LocId| matches!(*m.cx.loc(loc), LocKind::Unknown);
        if unknown(m.loc(kept)) && !unknown(loc) {
            self.r.set_loc(kept, loc);
        }
        let values: SmallVec<[ValueId; 4]> = self.r.ir().results(kept).collect();
        self.r.replace_op(op, &values);
    }

    fn class(&self, op: OpId) -> Class {
        let Some(def) = self.r.ir().def(op) else { return Class::Other };
        match &def.effects {
            Effects::Pure => Class::Pure,
            Effects::Unknown | Effects::OfCallees => Class::Other,
            Effects::Recursive => self.classes.get(&op).copied().unwrap_or(Class::Pure),
            effects @ Effects::List(_) if effects.are_reads() => Class::Reads,
            Effects::List(_) => Class::Other,
        }
    }
}

/// Numbers the results and arguments inside of one op, so that equal regions have equal keys.
#[derive(Default)]
struct Inside {
    values: FxHashMap<ValueId, u32>,
    blocks: FxHashMap<BlockId, u32>,
}

/// Separator of the parts of a key.
const MARK: u32 = u32::MAX;

fn key(m: &Module, op: OpId) -> Key {
    let mut key = Key::new();
    let mut inside = Inside::default();
    if m.regions_of(op).is_empty() {
        write_op(m, op, &inside, &mut key);
        return key;
    }
    // Numbers are assigned first, since uses may precede definitions.
    for inner in m.walk(op) {
        if inner != op {
            m.results(inner).for_each(|v| inside.number(v));
        }
        for &block in m.regions_of(inner).iter().flat_map(|r| m.blocks_of(*r)) {
            let n = inside.blocks.len() as u32;
            inside.blocks.insert(block, n);
            m.args(block).iter().for_each(|v| inside.number(*v));
        }
    }
    for inner in m.walk(op) {
        write_op(m, inner, &inside, &mut key);
        for &region in m.regions_of(inner) {
            key.push(MARK);
            for &block in m.blocks_of(region) {
                key.push(MARK);
                key.push(m.ops_in(block).count() as u32);
                key.extend(m.args(block).iter().map(|v| m.value_type(*v).0));
            }
        }
    }
    key
}

impl Inside {
    fn number(&mut self, value: ValueId) {
        let n = self.values.len() as u32;
        self.values.insert(value, n);
    }
}

fn write_op(m: &Module, op: OpId, inside: &Inside, key: &mut Key) {
    key.push(m.op_name(op).0);
    key.push(m.n_operands(op) as u32);
    let start = key.len();
    for value in m.operands(op) {
        match inside.values.get(&value) {
            Some(n) => key.extend([0, *n]),
            None => key.extend([1, value.0]),
        }
    }
    if m.n_operands(op) == 2
        && m.traits(op).has(Traits::COMMUTATIVE)
        && (key[start], key[start + 1]) > (key[start + 2], key[start + 3])
    {
        key[start..].rotate_left(2);
    }
    key.push(m.n_results(op) as u32);
    key.extend(m.results(op).map(|v| m.value_type(v).0));
    key.push(m.attrs(op).len() as u32);
    for (name, value) in m.attrs(op) {
        key.extend([name.0, value.0]);
    }
    key.push(m.properties(op).map_or(MARK, |p| p.0));
    for block in m.successors(op) {
        match inside.blocks.get(block) {
            Some(n) => key.extend([0, *n]),
            None => key.extend([1, block.0]),
        }
    }
    key.push(MARK);
}
