//! Lowering of syntax trees to IR: resolves names, interns types and attributes, interprets custom forms.
//!
//! One pass in source order, an item at a time. A use before the definition refers to a placeholder until the
//! definition is parsed. Names are visible in the region that defines them and those inside; an op that is
//! isolated from above starts an empty scope. An item with an error is reported and skipped: the names of its
//! results stay defined, so that one mistake causes one error.
//!
//! Files: `scope` and `name_table` (names), `ops` (operations, regions, blocks), `custom`, `pieces` and
//! `typing` (custom forms), `builtin` and `switch` (forms in code), `types`, `attrs`, `numbers`, `dense`,
//! `affine`, `locs`.

mod affine;
mod attrs;
mod builtin;
mod custom;
mod dense;
mod locs;
mod name_table;
mod numbers;
mod op_attrs;
mod ops;
mod pieces;
mod scope;
mod switch;
mod types;
mod typing;

use super::ParseOptions;
use super::ast::Item;
use super::errors;
use super::parse::{Items, Place};
use super::token::Tok;
use crate::diag::{Diagnostic, MAX_ERRORS, Source, Span};
use crate::dialects::OpDef;
use crate::ir::locs::SourceText;
use crate::ir::{AttrId, LocKind, Module, OpNameId, StrId, TypeId, names};
pub(super) use dense::decode_hex;
use rustc_hash::FxHashMap;
use scope::Scope;

/// State of an alias.
enum Alias {
    Unread(Place, Span),
    /// Being resolved: a reference to it now is circular.
    Open(Span),
    Attr(AttrId, Size, Span),
    Type(TypeId, Size, Span),
    /// Failed, and already reported.
    Bad(Span),
}

/// Size of an alias after expansion.
#[derive(Clone, Copy)]
struct Size {
    /// Nodes, inner aliases counted at each use.
    weight: u64,
    /// Nesting depth.
    depth: usize,
}

pub(super) struct Lower<'a> {
    m: Module,
    source: &'a Source,
    items: &'a Items<'a>,
    options: &'a ParseOptions,
    diags: &'a mut Vec<Diagnostic>,
    scope: Scope,
    aliases: FxHashMap<&'a str, Alias>,
    /// Op names as spelled in custom form.
    op_words: FxHashMap<&'a str, (OpNameId, Option<&'static OpDef>)>,
    /// The dialect whose prefix ops at this place may omit.
    default_dialect: &'static str,
    /// Types by keyword.
    type_words: FxHashMap<&'a str, TypeId>,
    file: StrId,
    /// Nodes of attributes and types so far, aliases counted as expanded.
    weight: u64,
    /// Nesting depth of the current attribute, type or location, aliases included.
    depth: usize,
    /// The greatest depth since the beginning of the current alias.
    deepest: usize,
    /// Nonzero inside of an item with an error, where unknown names are not reported.
    quiet: usize,
    /// The contents of the distinct attributes, by their numbers.
    distinct: FxHashMap<u64, AttrId>,
}

/// Maximum number of nodes of a text after the expansion of aliases, besides its length.
const MAX_WEIGHT: u64 = 1 << 26;
/// The greatest nesting depth of attributes, types and locations after the expansion of aliases.
const MAX_NESTING: usize = 2 * super::lex::MAX_DEPTH;

/// Builds the IR of `items`. Complete if and only if no error was reported.
pub(super) fn lower(
    items: &Items<'_>,
    source: &Source,
    options: &ParseOptions,
    diags: &mut Vec<Diagnostic>,
) -> Module {
    let size = items.capacity();
    let mut m = Module::with_capacity(options.registry, size);
    let file = m.cx.str_id(&source.name);
    let (text, line_starts) = (source.text.clone(), source.line_starts.clone());
    m.cx.set_places(SourceText { file, text, line_starts });
    let lower = Lower {
        m,
        source,
        items,
        options,
        diags,
        scope: Scope::with_capacity(size.values),
        aliases: FxHashMap::default(),
        op_words: FxHashMap::default(),
        default_dialect: "builtin",
        type_words: FxHashMap::default(),
        file,
        weight: 0,
        depth: 0,
        deepest: 0,
        quiet: 0,
        distinct: FxHashMap::default(),
    };
    lower.run()
}

impl<'a> Lower<'a> {
    fn run(mut self) -> Module {
        let aliases = self.items.aliases();
        self.collect_aliases(&aliases);
        let loc = self.m.cx.loc_id(LocKind::File { file: self.file, line: 0, col: 0 });
        self.m.set_loc(self.m.top(), loc);
        // In source order, so that definitions that refer to one another do not nest.
        for (name, _) in aliases {
            self.alias(name);
        }
        let body = self.m.body();
        self.top_level(body);
        let mut ops = self.m.ops_in(body);
        if let (Some(only), None) = (ops.next(), ops.next())
            && self.m.is(only, names::BUILTIN_MODULE)
        {
            self.m.detach(only);
            self.m.set_top(only);
        }
        self.m
    }

    fn collect_aliases(&mut self, aliases: &[(Tok, Place)]) {
        for &(name, definition) in aliases {
            let text = name.text(&self.source.text);
            if text.contains('.') {
                self.report(errors::dotted_alias(name.span(), text));
            }
            match self.aliases.get(text) {
                Some(first) => {
                    let first = first.span();
                    self.report(errors::redefined_alias(name.span(), text, first));
                }
                None => {
                    self.aliases.insert(text, Alias::Unread(definition, name.span()));
                }
            }
        }
    }

    /// The value of the alias `#x` or `!x`, resolved on first use.
    fn alias(&mut self, name: Tok) -> Option<AliasValue> {
        let text = name.text(&self.source.text);
        let value = match self.aliases.get(text) {
            None => {
                self.report(errors::undefined_alias(name.span(), text));
                return None;
            }
            Some(Alias::Open(_)) => {
                self.report(errors::alias_cycle(name.span(), text));
                return None;
            }
            Some(Alias::Bad(_)) => return None,
            Some(Alias::Attr(attr, size, _)) => (AliasValue::Attr(*attr), *size),
            Some(Alias::Type(ty, size, _)) => (AliasValue::Type(*ty), *size),
            Some(Alias::Unread(..)) => return self.read_alias(text),
        };
        let (value, size) = value;
        if self.depth + size.depth > MAX_NESTING {
            self.report(errors::too_deep(name.span(), MAX_NESTING));
            return None;
        }
        self.deepest = self.deepest.max(self.depth + size.depth);
        self.weight = self.weight.saturating_add(size.weight);
        if self.weight > MAX_WEIGHT + self.source.text.len() as u64 {
            self.weight = 0;
            self.report(errors::alias_size(name.span()));
            return None;
        }
        Some(value)
    }

    fn read_alias(&mut self, text: &'a str) -> Option<AliasValue> {
        let span = self.aliases.get(text)?.span();
        let Some(Alias::Unread(mut place, _)) = self.aliases.insert(text, Alias::Open(span)) else {
            return None;
        };
        let definition = self.items.next(&mut place, self.diags);
        let before = self.weight;
        let outer = std::mem::replace(&mut self.deepest, self.depth);
        let value = match definition {
            Some(Item::AttrAlias { value, .. }) => self.attr(&value, None).map(AliasValue::Attr),
            Some(Item::TypeAlias { value, .. }) => self.ty(&value).map(AliasValue::Type),
            _ => None,
        };
        let size = Size {
            weight: self.weight.saturating_sub(before).max(1),
            depth: self.deepest.saturating_sub(self.depth),
        };
        self.deepest = self.deepest.max(outer);
        let state = match value {
            Some(AliasValue::Attr(attr)) => Alias::Attr(attr, size, span),
            Some(AliasValue::Type(ty)) => Alias::Type(ty, size, span),
            None => Alias::Bad(span),
        };
        self.aliases.insert(text, state);
        value
    }

    /// Calls `read` one nesting level down; refuses beyond the limit, which bounds every later recursion.
    fn nested<T>(&mut self, span: Span, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth >= MAX_NESTING {
            self.report(errors::too_deep(span, MAX_NESTING));
            return None;
        }
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        self.weight = self.weight.saturating_add(1);
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn report(&mut self, d: Diagnostic) {
        if !self.is_full() {
            self.diags.push(d);
        }
    }

    /// True if the most errors have been reported.
    fn is_full(&self) -> bool {
        self.diags.len() >= MAX_ERRORS
    }

    fn text(&self, tok: Tok) -> &'a str {
        tok.text(&self.source.text)
    }

    fn span_text(&self, span: Span) -> &'a str {
        self.source.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// The op of `word`, with aliases resolved.
    fn op_word(&mut self, word: &'a str) -> (OpNameId, Option<&'static OpDef>) {
        if let Some(known) = self.op_words.get(word) {
            return *known;
        }
        // The meaning of a short name depends on the place, so it is not cached.
        let short = self.options.registry.find_short(self.default_dialect, word);
        if let Some(def) = short {
            let name = self.m.cx.str_id(&def.name);
            let id = self.m.cx.op_name(name);
            return (id, Some(def));
        }
        let name = match self.options.registry.modern_name(word) {
            Some(modern) => self.m.cx.str_id(&modern),
            None => self.m.cx.str_id(self.options.registry.full_name(word)),
        };
        let id = self.m.cx.op_name(name);
        let known = (id, self.m.cx.op_name_data(id).def());
        if word.contains('.') {
            self.op_words.insert(word, known);
        }
        known
    }

    /// The contents of a string token, escapes resolved; `None` if an escape is unknown.
    fn unquote(&mut self, tok: Tok) -> Option<Vec<u8>> {
        let text = self.text(tok);
        let inner = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(text);
        match unescape(inner) {
            Some(bytes) => Some(bytes),
            None => {
                self.report(errors::bad_escape(tok.span()));
                None
            }
        }
    }

    /// A string token as interned text; bytes that are not UTF-8 are refused where a name is required.
    fn string_id(&mut self, tok: Tok) -> Option<StrId> {
        let text = self.text(tok);
        if let Some(plain) = text.strip_prefix('"').and_then(|t| t.strip_suffix('"'))
            && !plain.contains('\\')
        {
            return Some(self.m.cx.str_id(plain));
        }
        let bytes = self.unquote(tok)?;
        match String::from_utf8(bytes) {
            Ok(text) => Some(self.m.cx.str_id(&text)),
            Err(_) => {
                self.report(errors::bad_escape(tok.span()));
                None
            }
        }
    }

    /// The name in `@name` or `@"name"`.
    fn symbol_id(&mut self, tok: Tok) -> Option<StrId> {
        let inner = Tok { start: tok.start + 1, ..tok };
        if self.text(inner).starts_with('"') {
            self.string_id(inner)
        } else {
            let text = self.text(inner);
            Some(self.m.cx.str_id(text))
        }
    }

    /// The name of a dictionary entry: a word or a string.
    fn entry_name(&mut self, tok: Tok) -> Option<StrId> {
        if self.text(tok).starts_with('"') {
            return self.string_id(tok);
        }
        let text = self.text(tok);
        Some(self.m.cx.str_id(text))
    }
}

#[derive(Clone, Copy)]
enum AliasValue {
    Attr(AttrId),
    Type(TypeId),
}

impl Alias {
    fn span(&self) -> Span {
        match self {
            Alias::Unread(_, span)
            | Alias::Open(span)
            | Alias::Attr(_, _, span)
            | Alias::Type(_, _, span)
            | Alias::Bad(span) => *span,
        }
    }
}

/// Resolves `\n`, `\t`, `\\`, `\"` and `\0A`.
pub(super) fn unescape(text: &str) -> Option<Vec<u8>> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&b) = bytes.get(at) {
        at += 1;
        if b != b'\\' {
            out.push(b);
            continue;
        }
        let c = *bytes.get(at)?;
        at += 1;
        match c {
            b'n' => out.push(b'\n'),
            b't' => out.push(b'\t'),
            b'\\' | b'"' => out.push(c),
            _ => {
                let high = char::from(c).to_digit(16)?;
                let low = char::from(*bytes.get(at)?).to_digit(16)?;
                at += 1;
                out.push((high * 16 + low) as u8);
            }
        }
    }
    Some(out)
}
