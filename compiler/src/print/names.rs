//! What values and blocks are called in the text.
//!
//! As upstream: the values of a region are numbered in order, one number per op however many results it has; arguments
//! of an entry block are `%arg0`, ...; blocks are `^bb0`, ... per region. A region inside starts with the numbers that
//! its parent's region ended with, and so does its sibling. With `keep_names` a value keeps its source name, made
//! unique within the function by a number if need be.

use crate::ir::entity::{Absent, SideTable};
use crate::ir::{BlockId, Module, OpId, RegionId, ValueId};
use rustc_hash::FxHashSet;

/// A value's name, in four bytes: the kind in the low two bits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Name(u32);

impl Absent for Name {
    const ABSENT: Self = Name(u32::MAX);
}

/// What a name says.
pub(super) enum Called<'n> {
    /// `%7`
    Number(u32),
    /// `%arg7`
    Arg(u32),
    /// `%text`
    Text(&'n str),
}

impl Name {
    fn number(n: u32) -> Name {
        Name(n << 2)
    }

    fn arg(n: u32) -> Name {
        Name(n << 2 | 1)
    }
}

/// The names of everything in an op.
#[derive(Default)]
pub(super) struct Names {
    values: SideTable<ValueId, Name>,
    pub(super) blocks: SideTable<BlockId, u32>,
    texts: Vec<Box<str>>,
}

impl Names {
    pub(super) fn value(&self, value: ValueId) -> Option<Called<'_>> {
        let Name(bits) = *self.values.at(value)?;
        Some(match bits & 3 {
            0 => Called::Number(bits >> 2),
            1 => Called::Arg(bits >> 2),
            _ => Called::Text(self.texts.get((bits >> 2) as usize)?),
        })
    }

    pub(super) fn is_named(&self, value: ValueId) -> bool {
        self.values.at(value).is_some()
    }

    fn text(&mut self, text: &str) -> Name {
        self.texts.push(text.into());
        Name((self.texts.len() as u32 - 1) << 2 | 2)
    }
}

#[derive(Clone, Copy, Default)]
struct Counters {
    value: u32,
    arg: u32,
}

pub(super) fn assign(module: &Module, root: OpId, keep_names: bool) -> Names {
    let mut names = Names::default();
    let mut used: FxHashSet<Box<str>> = FxHashSet::default();
    let mut next = Counters::default();
    let results = |op: OpId, next: &mut Counters, used: &mut FxHashSet<Box<str>>, names: &mut Names| {
        let mut results = module.results(op);
        if let Some(first) = results.next() {
            let kept = keep_names.then(|| kept_name(module, first, used, names)).flatten();
            let name = kept.unwrap_or_else(|| number(&mut next.value, keep_names, used, Name::number));
            names.values.set(first, name);
            // Results that were named one by one keep their names; else they are `%first#i`.
            if keep_names && results.clone().all(|r| module.value_names.at(r).is_some()) {
                for result in results {
                    if let Some(name) = kept_name(module, result, used, names) {
                        names.values.set(result, name);
                    }
                }
            }
        }
    };
    results(root, &mut next, &mut used, &mut names);
    let mut todo: Vec<(RegionId, Counters)> = module.regions_of(root).iter().map(|r| (*r, next)).collect();
    todo.reverse();
    while let Some((region, mut next)) = todo.pop() {
        for (i, &block) in module.blocks_of(region).iter().enumerate() {
            names.blocks.set(block, i as u32);
            for &arg in module.args(block) {
                let kept = keep_names.then(|| kept_name(module, arg, &mut used, &mut names)).flatten();
                let name = kept.unwrap_or_else(|| {
                    if i == 0 {
                        number(&mut next.arg, keep_names, &mut used, Name::arg)
                    } else {
                        number(&mut next.value, keep_names, &mut used, Name::number)
                    }
                });
                names.values.set(arg, name);
            }
            for op in module.ops_in(block) {
                results(op, &mut next, &mut used, &mut names);
            }
        }
        let from = todo.len();
        for &block in module.blocks_of(region) {
            for op in module.ops_in(block) {
                for &inner in module.regions_of(op) {
                    todo.push((inner, next));
                }
            }
        }
        todo[from..].reverse();
        // Names need to be unique within a function only.
        if keep_names && module.parent_op(module.region_parent(region)) == Some(root) {
            used.clear();
        }
    }
    names
}

fn number(counter: &mut u32, keep: bool, used: &mut FxHashSet<Box<str>>, name: fn(u32) -> Name) -> Name {
    loop {
        let n = *counter;
        *counter += 1;
        let made = name(n);
        if !keep {
            return made;
        }
        let text = if made == Name::arg(n) { format!("arg{n}") } else { n.to_string() };
        if used.insert(text.into()) {
            return made;
        }
    }
}

fn kept_name(
    module: &Module,
    value: ValueId,
    used: &mut FxHashSet<Box<str>>,
    names: &mut Names,
) -> Option<Name> {
    let base = module.cx.str(*module.value_names.at(value)?);
    if base.is_empty() {
        return None;
    }
    if used.insert(base.into()) {
        return Some(names.text(base));
    }
    // `%7` must not become `%7_0`, which is no number and no name.
    let stem =
        if base.starts_with(|c: char| c.is_ascii_digit()) { format!("_{base}") } else { base.to_owned() };
    (0u32..).map(|i| format!("{stem}_{i}")).find(|n| used.insert(n.as_str().into())).map(|n| names.text(&n))
}
