//! Why two ops share a device: the shortest way from one to the other.
//!
//! ```text
//! `tf.Sin` ── group 'g' of @main ── `tf.Neg`
//! ```

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::groups::Tied;
use crate::device::crossings::value_text;
use crate::device::errors::op_text;
use crate::ir::{Module, OpId, StrId};

/// Maximum number of steps that a message shows.
const MAX_SHOWN: usize = 12;

/// The ties between ops, in the order in which they were found.
#[derive(Default)]
pub(super) struct Ties(Vec<(Tied, Tied)>);

impl Ties {
    pub(super) fn add(&mut self, a: Tied, b: Tied) {
        self.0.push((a, b));
    }

    /// The steps from an op to another, as a text.
    pub(super) fn path(&self, m: &Module, from: OpId, to: OpId) -> String {
        let mut near: FxHashMap<Tied, Vec<Tied>> = FxHashMap::default();
        for &(a, b) in &self.0 {
            near.entry(a).or_default().push(b);
            near.entry(b).or_default().push(a);
        }
        let (start, end) = (Tied::Op(from), Tied::Op(to));
        // Backwards, so that the steps from each lead to the end.
        let mut next: FxHashMap<Tied, Tied> = FxHashMap::default();
        let mut todo = VecDeque::from([end]);
        while let Some(at) = todo.pop_front().filter(|&at| at != start) {
            for &other in near.get(&at).into_iter().flatten() {
                if other != end && !next.contains_key(&other) {
                    next.insert(other, at);
                    todo.push_back(other);
                }
            }
        }
        let steps = std::iter::successors(Some(start), |at| next.get(at).copied());
        let mut texts: Vec<String> = steps.take(MAX_SHOWN + 1).map(|at| text(m, at)).collect();
        // A result is called as the op that makes it.
        texts.dedup();
        if texts.len() > MAX_SHOWN {
            texts.truncate(MAX_SHOWN);
            texts.push("...".to_owned());
        }
        format!("they share a device: {}", texts.join(", "))
    }
}

fn text(m: &Module, tied: Tied) -> String {
    let named = |what: &str, name: StrId| format!("{what} '{}'", m.cx.str(name));
    match tied {
        Tied::Op(op) => op_text(m, op),
        Tied::Value(value) => value_text(m, value),
        Tied::Class(function, name) => match m.symbol_name(function) {
            Some(function) => format!("{} of @{}", named("group", name), m.cx.str(function)),
            None => named("group", name),
        },
        Tied::Named(_, name, _) => named("resource", name),
    }
}
