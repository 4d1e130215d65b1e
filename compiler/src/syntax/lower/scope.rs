//! Which value a name means.
//!
//! Entries are found by the name's id, one array access. Leaving a region restores what its definitions hid. An entry
//! is visible if it belongs to the current isolated scope; entering one therefore hides everything at once.

use super::{Lower, errors};
use crate::diag::Span;
use crate::diag::factory::nearest;
use crate::ir::{StrId, TypeId, ValueId};
use crate::syntax::token::Tok;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

#[derive(Clone, Copy)]
struct Entry {
    first: ValueId,
    /// How many values; [`BROKEN`] if the definition could not be read.
    n: u32,
    /// The isolated scope that it belongs to; 0: undefined.
    scope: u32,
}

const UNDEFINED: Entry = Entry { first: ValueId(0), n: 0, scope: 0 };
const BROKEN: u32 = u32::MAX;

/// Uses that wait for their definition, by name: number, stand-in, first use.
type Forwards = FxHashMap<StrId, SmallVec<[(u32, ValueId, Span); 1]>>;

pub(super) struct Scope {
    entries: Vec<Entry>,
    undo: Vec<(StrId, Entry)>,
    forwards: Forwards,
    current: u32,
    last: u32,
}

/// What to restore when a region ends.
pub(super) struct Mark {
    undo: usize,
    outer: Option<(u32, Forwards)>,
}

impl Scope {
    pub(super) fn new() -> Self {
        Scope { entries: Vec::new(), undo: Vec::new(), forwards: Forwards::default(), current: 1, last: 1 }
    }

    fn entry(&self, name: StrId) -> Entry {
        self.entries.get(name.0 as usize).copied().filter(|e| e.scope == self.current).unwrap_or(UNDEFINED)
    }
}

impl Lower<'_> {
    pub(super) fn enter(&mut self, isolated: bool) -> Mark {
        let undo = self.scope.undo.len();
        let outer = isolated.then(|| {
            let outer = (self.scope.current, std::mem::take(&mut self.scope.forwards));
            self.scope.last += 1;
            self.scope.current = self.scope.last;
            outer
        });
        Mark { undo, outer }
    }

    pub(super) fn leave(&mut self, mark: Mark) {
        if let Some((outer, forwards)) = mark.outer {
            self.report_forwards();
            self.scope.current = outer;
            self.scope.forwards = forwards;
        }
        while self.scope.undo.len() > mark.undo
            && let Some((name, entry)) = self.scope.undo.pop()
        {
            self.scope.entries[name.0 as usize] = entry;
        }
    }

    /// Everything that was used in the current isolated scope and never defined.
    pub(super) fn report_forwards(&mut self) {
        let mut left: Vec<(StrId, Span)> = self
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
            let text = self.m.cx.str(name).to_owned();
            let known: Vec<String> = (0..self.scope.entries.len() as u32)
                .map(StrId)
                .filter(|n| self.scope.entry(*n).scope != 0)
                .take(1000)
                .map(|n| self.m.cx.str(n).to_owned())
                .collect();
            let near = if text.len() > 1 { nearest(&text, known.iter().map(String::as_str)) } else { None };
            self.report(errors::undefined_value(span, &text, near));
        }
    }

    /// Gives the name `%x` to `n` values from `first` on.
    pub(super) fn define(&mut self, tok: Tok, first: ValueId, n: u32) {
        let text = self.text(tok);
        let text = text.strip_prefix('%').unwrap_or(text);
        let text = text.strip_suffix("#0").unwrap_or(text);
        let name = self.m.cx.str_id(text);
        let span = tok.span();
        let old = self.scope.entry(name);
        if old.scope != 0 {
            let first_span = if old.n == BROKEN { None } else { self.m.value_spans.at(old.first).copied() };
            self.report(errors::redefined_value(span, text, first_span));
            return;
        }
        if n != BROKEN {
            self.m.value_spans.set(first, span);
            self.m.value_names.set(first, name);
        }
        let at = name.0 as usize;
        if at >= self.scope.entries.len() {
            self.scope.entries.resize(at + 1, UNDEFINED);
        }
        let entry = Entry { first, n, scope: self.scope.current };
        let hidden = std::mem::replace(&mut self.scope.entries[at], entry);
        self.scope.undo.push((name, hidden));
        if !self.scope.forwards.is_empty() {
            self.settle(name, entry, text);
        }
    }

    /// The name `%x` is taken, but what it means could not be read.
    pub(super) fn define_broken(&mut self, tok: Tok) {
        self.define(tok, ValueId(0), BROKEN);
    }

    /// Replaces the stand-ins for a name by what it means.
    fn settle(&mut self, name: StrId, entry: Entry, text: &str) {
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

    /// The value that `%x` or `%x#1` means where a value of type `ty` is needed.
    pub(super) fn value(&mut self, tok: Tok, ty: TypeId) -> ValueId {
        match self.known_value(tok) {
            Known::Value(value) => {
                if self.m.value_type(value) != ty {
                    let text = self.text(tok);
                    let (name, _) = split(text);
                    self.value_type_error(tok.span(), name, ty, value);
                }
                value
            }
            Known::Broken => self.m.create_forward(ty),
            Known::Not(name, i) => {
                let waiting =
                    self.scope.forwards.get(&name).and_then(|w| w.iter().find(|w| w.0 == i)).copied();
                if let Some((_, value, _)) = waiting {
                    if self.m.value_type(value) != ty {
                        let text = self.text(tok);
                        let (name, _) = split(text);
                        self.value_type_error(tok.span(), name, ty, value);
                    }
                    return value;
                }
                let value = self.m.create_forward(ty);
                self.scope.forwards.entry(name).or_default().push((i, value, tok.span()));
                value
            }
        }
    }

    /// The value that a name means, if it is defined already.
    pub(super) fn known_value(&mut self, tok: Tok) -> Known {
        let text = self.text(tok);
        let (name, number) = split(text);
        let id = self.m.cx.str_id(name);
        let i = match number.map(str::parse::<u32>) {
            None => 0,
            Some(Ok(i)) => i,
            Some(Err(_)) => u32::MAX,
        };
        let entry = self.scope.entry(id);
        if i > 0 && (entry.scope == 0 || i >= entry.n) {
            // An argument may have the name of one of several results.
            let full = self.m.cx.find_str(text.trim_start_matches('%'));
            let shadow = full.map_or(UNDEFINED, |full| self.scope.entry(full));
            if shadow.scope != 0 && shadow.n == 1 {
                return Known::Value(shadow.first);
            }
        }
        if entry.scope == 0 {
            return Known::Not(id, i);
        }
        if entry.n == BROKEN {
            return Known::Broken;
        }
        if i >= entry.n {
            self.report(errors::result_number(tok.span(), name, entry.n));
            return Known::Broken;
        }
        Known::Value(ValueId(entry.first.0 + i))
    }
}

/// What is known about a name.
pub(super) enum Known {
    Value(ValueId),
    /// Its definition is wrong; that has been reported.
    Broken,
    /// Not defined yet: name and number.
    Not(StrId, u32),
}

/// `%x#1` is `x` and `1`.
fn split(text: &str) -> (&str, Option<&str>) {
    let text = text.strip_prefix('%').unwrap_or(text);
    // Names are short, and asked for often: cheaper than `split_once`.
    match text.bytes().position(|b| b == b'#') {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    }
}
