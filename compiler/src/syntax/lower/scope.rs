//! Scopes: resolution of value names.
//!
//! Entries are found through [`NameTable`]. Leaving a region restores the entries that its definitions hid.
//! An entry is visible if it belongs to the current isolated scope; entering a scope therefore hides all
//! others at once.

use super::name_table::{NameId, NameTable};
use super::{Lower, errors};
use crate::diag::Span;
use crate::diag::factory::nearest;
use crate::ir::{TypeId, ValueId};
use crate::syntax::token::Tok;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

#[derive(Clone, Copy)]
struct Binding {
    first: ValueId,
    /// Number of values; [`BROKEN`] if the definition had an error.
    n: u32,
    /// The isolated scope that it belongs to; 0: undefined.
    scope: u32,
}

impl Default for Binding {
    fn default() -> Self {
        Binding { first: ValueId(0), n: 0, scope: 0 }
    }
}

const BROKEN: u32 = u32::MAX;

/// Uses before their definition, by name: number, placeholder, first use.
type Forwards = FxHashMap<NameId, SmallVec<[(u32, ValueId, Span); 1]>>;

pub(super) struct Scope {
    names: NameTable<Binding>,
    undo: Vec<(NameId, Binding)>,
    forwards: Forwards,
    current: u32,
    last: u32,
    /// The current region is not isolated: its definitions must be removed when it ends.
    shared: bool,
}

/// The state to restore when a region ends.
pub(super) struct ScopeState {
    undo: usize,
    shared: bool,
    outer: Option<(u32, Forwards)>,
}

impl Scope {
    /// A scope without names, with space for about `n`.
    pub(super) fn with_capacity(n: usize) -> Self {
        Scope {
            names: NameTable::with_capacity(n),
            undo: Vec::new(),
            forwards: Forwards::default(),
            current: 1,
            last: 1,
            shared: false,
        }
    }

    fn entry(&self, name: NameId) -> Binding {
        let entry = *self.names.at(name);
        if entry.scope == self.current { entry } else { Binding::default() }
    }
}

impl Lower<'_> {
    pub(super) fn enter(&mut self, isolated: bool) -> ScopeState {
        let undo = self.scope.undo.len();
        let shared = std::mem::replace(&mut self.scope.shared, !isolated);
        let outer = isolated.then(|| {
            let outer = (self.scope.current, std::mem::take(&mut self.scope.forwards));
            self.scope.last += 1;
            self.scope.current = self.scope.last;
            outer
        });
        ScopeState { undo, shared, outer }
    }

    pub(super) fn leave(&mut self, mark: ScopeState) {
        if let Some((outer, forwards)) = mark.outer {
            self.report_forwards();
            self.scope.current = outer;
            self.scope.forwards = forwards;
        }
        self.scope.shared = mark.shared;
        while self.scope.undo.len() > mark.undo
            && let Some((name, entry)) = self.scope.undo.pop()
        {
            *self.scope.names.at_mut(name) = entry;
        }
    }

    /// Reports all names that were used in the current isolated scope and never defined.
    pub(super) fn report_forwards(&mut self) {
        let mut left: Vec<(NameId, Span)> = self
            .scope
            .forwards
            .drain()
            .flat_map(|(name, uses)| uses.into_iter().map(move |u| (name, u.2)))
            .collect();
        left.sort_by_key(|(_, span)| (span.start, span.end));
        if self.quiet > 0 {
            return;
        }
        for (name, span) in left {
            if self.is_full() {
                break;
            }
            let source = &self.source.text;
            let text = self.scope.names.text(name, source);
            let visible = self.scope.names.ids().filter(|n| self.scope.entry(*n).scope != 0);
            let known = visible.take(1000).map(|n| self.scope.names.text(n, source));
            let near = if text.len() > 1 { nearest(text, known) } else { None };
            let is_outside = self.scope.names.at(name).scope != 0;
            let error = errors::undefined_value(span, text, near, is_outside);
            self.report(error);
        }
    }

    /// Binds the name `%x` to `n` values from `first` on.
    pub(super) fn define(&mut self, tok: Tok, first: ValueId, n: u32) {
        let span = tok.span();
        let all = Tok { start: tok.start + 1, ..tok };
        let (tok, name) = match self.scope.names.plain_id(all, &self.source.text) {
            Some(name) => (all, name),
            None => {
                // `%x#0` is `%x`.
                let is_first = all.text(&self.source.text).ends_with("#0");
                let bare = if is_first { Tok { end: all.end - 2, ..all } } else { all };
                (bare, self.scope.names.id(bare, &self.source.text))
            }
        };
        let entry = self.scope.names.at_mut(name);
        let hidden = *entry;
        if hidden.scope == self.scope.current {
            let old = hidden;
            let text = self.text(tok);
            let first_span = if old.n == BROKEN { None } else { self.m.value_spans.at(old.first).copied() };
            self.report(errors::redefined_value(span, text, first_span));
            return;
        }
        if n != BROKEN {
            self.m.value_spans.set(first, span);
        }
        *entry = Binding { first, n, scope: self.scope.current };
        let entry = *entry;
        // Definitions of an isolated region are invisible once it has ended: only the entries that it hid are
        // restored.
        if self.scope.shared || hidden.scope != 0 {
            self.scope.undo.push((name, hidden));
        }
        if !self.scope.forwards.is_empty() {
            let text = self.text(tok);
            self.settle(name, entry, text);
        }
    }

    /// Defines the name `%x` of an item with an error.
    pub(super) fn define_broken(&mut self, tok: Tok) {
        self.define(tok, ValueId(0), BROKEN);
    }

    /// Replaces the placeholders for a name by its values.
    fn settle(&mut self, name: NameId, entry: Binding, text: &str) {
        let Some(waiting) = self.scope.forwards.remove(&name) else { return };
        for (i, stand_in, span) in waiting {
            if entry.n == BROKEN {
                continue;
            }
            if i >= entry.n {
                self.report(errors::result_number(span, text, entry.n));
                continue;
            }
            let value = ValueId(entry.first.0 + i);
            let (want, found) = (self.m.value_type(stand_in), self.m.value_type(value));
            if want != found {
                self.value_type_error(span, text, want, value);
            }
            self.m.replace_all_uses(stand_in, value);
        }
    }

    fn value_type_error(&mut self, span: Span, name: &str, want: TypeId, value: ValueId) {
        let want = crate::print::type_text(&self.m.cx, want);
        let found = crate::print::type_text(&self.m.cx, self.m.value_type(value));
        let first = self.m.value_spans.at(value).copied();
        self.report(errors::value_type(span, name, &want, &found, first));
    }

    fn wrong_type(&mut self, tok: Tok, want: TypeId, value: ValueId) {
        let (name, _) = split(Tok { start: tok.start + 1, ..tok }, &self.source.text);
        let name = self.text(name);
        self.value_type_error(tok.span(), name, want, value);
    }

    /// The value of `%x` or `%x#1` at a use with type `ty`.
    pub(super) fn value(&mut self, tok: Tok, ty: TypeId) -> ValueId {
        match self.known_value(tok) {
            Lookup::Value(value) => {
                if self.m.value_type(value) != ty {
                    self.wrong_type(tok, ty, value);
                }
                value
            }
            Lookup::Broken => self.m.create_forward(ty),
            Lookup::Not(name, i) => {
                let waiting =
                    self.scope.forwards.get(&name).and_then(|w| w.iter().find(|w| w.0 == i)).copied();
                if let Some((_, value, _)) = waiting {
                    if self.m.value_type(value) != ty {
                        self.wrong_type(tok, ty, value);
                    }
                    return value;
                }
                let value = self.m.create_forward(ty);
                self.scope.forwards.entry(name).or_default().push((i, value, tok.span()));
                value
            }
        }
    }

    /// The value of a name, if it is defined already.
    pub(super) fn known_value(&mut self, tok: Tok) -> Lookup {
        let source = self.source.text.as_ref();
        let all = Tok { start: tok.start + 1, ..tok };
        if let Some(id) = self.scope.names.plain_id(all, source) {
            let Binding { first, n, scope } = self.scope.entry(id);
            return match n {
                _ if scope == 0 => Lookup::Not(id, 0),
                BROKEN => Lookup::Broken,
                _ => Lookup::Value(first),
            };
        }
        let (name, number) = split(all, source);
        let id = self.scope.names.id(name, source);
        let i = match number {
            None => 0,
            Some(number) => number.text(source).parse().unwrap_or(u32::MAX),
        };
        let entry = self.scope.entry(id);
        if i > 0 && (entry.scope == 0 || i >= entry.n) {
            // An argument may have the name of one of several results.
            let full = self.scope.names.id(all, source);
            let shadow = self.scope.entry(full);
            if shadow.scope != 0 && shadow.n == 1 {
                return Lookup::Value(shadow.first);
            }
        }
        if entry.scope == 0 {
            return Lookup::Not(id, i);
        }
        if entry.n == BROKEN {
            return Lookup::Broken;
        }
        if i >= entry.n {
            self.report(errors::result_number(tok.span(), name.text(source), entry.n));
            return Lookup::Broken;
        }
        Lookup::Value(ValueId(entry.first.0 + i))
    }
}

/// Result of the lookup of a name.
pub(super) enum Lookup {
    Value(ValueId),
    /// Its definition has an error, which was reported.
    Broken,
    /// Not defined yet: name and number.
    Not(NameId, u32),
}

/// `x#1` is split into `x` and `1`.
fn split(all: Tok, source: &str) -> (Tok, Option<Tok>) {
    let bytes = source.as_bytes().get(all.start as usize..all.end as usize).unwrap_or_default();
    let digits = bytes.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let number = all.end - digits as u32;
    if digits > 0 && bytes.iter().rev().nth(digits) == Some(&b'#') {
        (Tok { end: number - 1, ..all }, Some(Tok { start: number, ..all }))
    } else {
        (all, None)
    }
}
