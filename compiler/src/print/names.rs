//! Names of values and blocks in the text.
//!
//! As upstream: the values of a region are numbered in order, one number per op with any number of results;
//! arguments of an entry block are `%arg0`, ...; blocks are `^bb0`, ... per region. An op may name its
//! results (`%c1_i32`); a name that is taken gets a number that is counted over all names: `%cst`, `%cst_0`,
//! `%c1_i32_1`. A region inside starts with the numbers and names that its parent's region ended with, and so
//! does its sibling. In generic form no op names its results, and no number is used twice in the whole text.
//!
//! With `keep_names` a value keeps its source name, made unique by a number if need be.
//!
//! The same visit of all ops records the predecessors of blocks.

use super::PrintOptions;
use crate::ir::entity::{Absent, SideTable};
use crate::ir::{BlockId, Module, OpId, RegionId, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};

/// A value's name, in four bytes: the kind in the low two bits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct ValueName(u32);

impl Absent for ValueName {
    const ABSENT: Self = ValueName(u32::MAX);
}

/// The kind of a name.
pub(super) enum NameKind<'n> {
    /// `%7`
    Number(u32),
    /// `%arg7`
    Arg(u32),
    /// `%text`
    Text(&'n str),
}

impl ValueName {
    fn number(n: u32) -> ValueName {
        ValueName(n << 2)
    }

    fn arg(n: u32) -> ValueName {
        ValueName(n << 2 | 1)
    }

    fn text(n: usize) -> ValueName {
        ValueName((n as u32) << 2 | 2)
    }

    fn group(n: usize) -> ValueName {
        ValueName((n as u32) << 2 | 3)
    }
}

/// The names of everything in an op.
#[derive(Default)]
pub(super) struct ValueNames {
    values: SideTable<ValueId, ValueName>,
    pub(super) blocks: SideTable<BlockId, u32>,
    /// Predecessors of blocks, in order.
    pub(super) preds: FxHashMap<BlockId, Vec<BlockId>>,
    texts: Vec<Box<str>>,
    /// Names of values that are shared with the results after them.
    groups: Vec<ValueName>,
}

impl ValueNames {
    /// The name of a value that shares it with no other.
    #[inline]
    pub(super) fn own(&self, value: ValueId) -> Option<NameKind<'_>> {
        self.called(*self.values.at(value)?)
    }

    /// The name of a value, possibly shared with the results after it.
    pub(super) fn value(&self, value: ValueId) -> Option<NameKind<'_>> {
        let name = *self.values.at(value)?;
        let shared = if name.0 & 3 == 3 { self.groups.get((name.0 >> 2) as usize) } else { None };
        self.called(*shared.unwrap_or(&name))
    }

    #[inline]
    fn called(&self, ValueName(bits): ValueName) -> Option<NameKind<'_>> {
        match bits & 3 {
            0 => Some(NameKind::Number(bits >> 2)),
            1 => Some(NameKind::Arg(bits >> 2)),
            2 => Some(NameKind::Text(self.texts.get((bits >> 2) as usize)?)),
            _ => None,
        }
    }

    pub(super) fn is_named(&self, value: ValueId) -> bool {
        self.values.at(value).is_some()
    }

    /// Renames a value.
    pub(super) fn set_text(&mut self, value: ValueId, text: &str) {
        let name = self.text(text);
        self.values.set(value, name);
    }

    fn text(&mut self, text: &str) -> ValueName {
        self.texts.push(text.into());
        ValueName::text(self.texts.len() - 1)
    }
}

#[derive(Clone, Copy, Default)]
struct Counters {
    value: u32,
    arg: u32,
    conflict: u32,
}

struct Namer<'m> {
    m: &'m Module,
    options: PrintOptions,
    names: ValueNames,
    next: Counters,
    /// Names used in this region and those around it.
    used: FxHashSet<Box<str>>,
    /// The same in order, to drop the names of a finished region.
    order: Vec<Box<str>>,
}

pub(super) fn assign(module: &Module, root: OpId, options: &PrintOptions) -> ValueNames {
    let mut namer = Namer {
        m: module,
        options: *options,
        names: ValueNames::default(),
        next: Counters::default(),
        used: FxHashSet::default(),
        order: Vec::new(),
    };
    namer.results(root);
    let start = (namer.next, namer.order.len());
    let mut todo: Vec<(RegionId, (Counters, usize))> =
        module.regions_of(root).iter().map(|r| (*r, start)).collect();
    while let Some((region, (counters, n_used))) = todo.pop() {
        if !options.generic {
            namer.next = counters;
        }
        for name in namer.order.drain(n_used..) {
            namer.used.remove(&name);
        }
        let inner = todo.len();
        namer.region(region, |region| todo.push((region, start)));
        let after = (namer.next, namer.order.len());
        todo.iter_mut().skip(inner).for_each(|(_, counters)| *counters = after);
    }
    namer.names
}

impl Namer<'_> {
    /// Names everything in a region except for nested regions, which are passed to `inner`.
    fn region(&mut self, region: RegionId, mut inner: impl FnMut(RegionId)) {
        let m = self.m;
        for (i, &block) in m.blocks_of(region).iter().enumerate() {
            self.names.blocks.set(block, i as u32);
            for &arg in m.args(block) {
                let name = match self.kept(arg) {
                    Some(name) => name,
                    None if i == 0 => self.number(|n| &mut n.arg, ValueName::arg),
                    None => self.number(|n| &mut n.value, ValueName::number),
                };
                self.names.values.set(arg, name);
            }
            for op in m.ops_in(block) {
                self.results(op);
                // Only the last op may branch, but unverified IR must print as well.
                for &successor in m.successors(op) {
                    self.names.preds.entry(successor).or_default().push(block);
                }
                m.regions_of(op).iter().copied().for_each(&mut inner);
            }
        }
    }

    fn results(&mut self, op: OpId) {
        let m = self.m;
        let n = m.n_results(op);
        if n == 0 {
            return;
        }
        let naming = m.def(op).and_then(|d| d.result_names).filter(|_| !self.options.generic);
        // Nearly all ops.
        if n == 1 && naming.is_none() && !self.options.keep_names {
            let name = self.number(|n| &mut n.value, ValueName::number);
            return self.names.values.set(m.result(op, 0), name);
        }
        let proposed = naming.map_or_else(Vec::new, |names| names(m, op));
        for (i, result) in m.results(op).enumerate() {
            let name = match (self.kept(result), proposed.get(i).filter(|p| !p.is_empty())) {
                (Some(name), _) => name,
                (None, Some(text)) => self.unique(text),
                (None, None) if i == 0 => self.number(|n| &mut n.value, ValueName::number),
                (None, None) => continue,
            };
            self.names.values.set(result, name);
        }
        for i in 1..n {
            let first = m.result(op, i - 1);
            if !self.names.is_named(m.result(op, i))
                && let Some(&name) = self.names.values.at(first)
            {
                self.names.groups.push(name);
                self.names.values.set(first, ValueName::group(self.names.groups.len() - 1));
            }
        }
    }

    /// The next number; with `keep_names` the next unused one.
    fn number(&mut self, counter: fn(&mut Counters) -> &mut u32, name: fn(u32) -> ValueName) -> ValueName {
        loop {
            let counter = counter(&mut self.next);
            let n = *counter;
            *counter += 1;
            let made = name(n);
            if !self.options.keep_names {
                return made;
            }
            let text = if made == ValueName::arg(n) { format!("arg{n}") } else { n.to_string() };
            if !self.used.contains(text.as_str()) {
                self.take(&text);
                return made;
            }
        }
    }

    fn take(&mut self, text: &str) {
        self.used.insert(text.into());
        self.order.push(text.into());
    }

    /// An unused name derived from `text`.
    fn unique(&mut self, text: &str) -> ValueName {
        if !self.used.contains(text) {
            self.take(text);
            return self.names.text(text);
        }
        loop {
            let probe = format!("{text}_{}", self.next.conflict);
            self.next.conflict += 1;
            if !self.used.contains(probe.as_str()) {
                self.take(&probe);
                return self.names.text(&probe);
            }
        }
    }

    fn kept(&mut self, value: ValueId) -> Option<ValueName> {
        if !self.options.keep_names {
            return None;
        }
        let m = self.m;
        let base = m.value_name(value)?;
        if base.is_empty() {
            return None;
        }
        if base.contains('#') {
            // An argument with the name of one of several results.
            return Some(self.unique(&base.replace('#', "_")));
        }
        if base.starts_with(|c: char| c.is_ascii_digit()) && self.used.contains(base) {
            // `%7` must not become `%7_0`, which is neither a number nor a name.
            return Some(self.unique(&format!("_{base}")));
        }
        Some(self.unique(base))
    }
}
