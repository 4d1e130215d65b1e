//! The structure of a program in its tokens: beginnings of operations, block labels and alias definitions,
//! and braces of regions.
//!
//! MLIR has no statement terminator and writes regions and dictionaries in the same braces, so no LR(1)
//! grammar can read it without this. The rules:
//!
//! * An operation begins at the start of a line, after `{` of a region, after `}` of one, after a label, or
//!   right after a complete operation in generic form, where one of these stands: `%x, %y:2 =`, `"name"(`, a
//!   word with a dot or the name of a known op, not followed by `=`. Elsewhere on a line only where
//!   `%x = name` or the dotted name of a known op stands. Never after `=` or `,`.
//! * A label is `^name:` or `^name(...):` at such a place.
//! * `{` never opens a region after `attributes` or `=`. In generic form it does after `(`, and after `,` if
//!   the list began with a region. In the custom form of a known op it does not if the op has no regions, and
//!   it does if the op is a function or a symbol table, which write their dictionary after `attributes`. Else
//!   it does if an operation or a label follows; where both are possible (`{ a.b }`) it is a region exactly
//!   if `a.b` is the name of a known op.
//!
//! Brackets are matched here once and for all, so the parser proper sees only balanced text. Unbalanced
//! brackets are reported, and a line that surely begins an operation closes all open brackets.

use super::errors;
use super::lex::MAX_DEPTH;
use super::token::{Kind, Mark, Tok};
use crate::diag::{Diagnostic, Span};
use crate::dialects::{Registry, Traits};
use crate::ir::Capacity;

/// The tokens between the braces of a region: `open < first..close`.
#[derive(Clone, Copy, Debug)]
pub(super) struct TokenRegion {
    /// First token inside.
    pub(super) first: u32,
    /// The closing brace, or the end of the text.
    pub(super) close: u32,
    /// The opening brace.
    pub(super) span: Span,
}

/// Progress within an operation in generic form.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GenericProgress {
    /// A block label.
    Label,
    /// The `:` of the label: an op may follow on the same line.
    LabelEnd,
    /// Not in a generic form.
    Custom,
    /// The op begins; results may follow.
    Start,
    /// The name.
    Name,
    /// The `:` before the type.
    Colon,
    /// The operand types.
    Inputs,
    /// The `->`.
    Arrow,
    /// A type that `<` may continue.
    Result,
    /// Complete: only a location may follow.
    All,
}

#[derive(Clone, Copy)]
struct Frame {
    open: u32,
    kind: Kind,
    region: u32,
    seen: GenericProgress,
    /// The name of the current operation.
    name: u32,
}

/// The structure of the tokens of a text.
pub(super) struct Structure {
    /// Number 0 is the whole text.
    pub(super) regions: Vec<TokenRegion>,
    /// Estimated size of the module.
    pub(super) size: Capacity,
}

/// Marks the tokens.
pub(super) fn structure(
    source: &str,
    toks: &mut Vec<Tok>,
    registry: &Registry,
    diags: &mut Vec<Diagnostic>,
) -> Structure {
    let whole = TokenRegion { first: 0, close: toks.len() as u32, span: Span::new(0, 0) };
    let bad = diags.iter().filter_map(|d| d.span).map(|s| s.start).collect();
    let mut s = Shaper {
        source,
        toks,
        registry,
        diags,
        bad,
        regions: vec![whole],
        stack: vec![BASE],
        item: 0,
        n_errors: 0,
        size: Capacity::default(),
    };
    s.run();
    // All values were counted, so the uses are those that are not definitions.
    let defined = s.size.values;
    let size = Capacity { uses: s.size.uses.saturating_sub(defined), named: defined, ..s.size };
    Structure { regions: s.regions, size }
}

struct Shaper<'a> {
    source: &'a str,
    toks: &'a mut Vec<Tok>,
    registry: &'a Registry,
    diags: &'a mut Vec<Diagnostic>,
    /// Positions of bad characters, in source order.
    bad: Vec<u32>,
    regions: Vec<TokenRegion>,
    /// Open brackets; the whole text is the first.
    stack: Vec<Frame>,
    /// The beginning of the last item.
    item: u32,
    n_errors: usize,
    size: Capacity,
}

const BASE: Frame =
    Frame { open: 0, kind: Kind::RegionOpen, region: 0, seen: GenericProgress::Custom, name: 0 };

fn closer(open: Kind) -> Kind {
    match open {
        Kind::LParen => Kind::RParen,
        Kind::LBracket => Kind::RBracket,
        Kind::LAngle => Kind::RAngle,
        _ => Kind::RBrace,
    }
}

impl Shaper<'_> {
    fn kind(&self, i: usize) -> Option<Kind> {
        self.toks.get(i).map(|t| t.kind)
    }

    fn text(&self, i: usize) -> &str {
        self.toks.get(i).map_or("", |t| t.text(self.source))
    }

    fn report(&mut self, d: Diagnostic) {
        self.n_errors += 1;
        if self.n_errors <= 100 {
            self.diags.push(d);
        }
    }

    /// True if there is a bad character from `start` to `end`, which may have been a bracket.
    fn is_bad(&self, start: u32, end: u32) -> bool {
        self.bad.get(self.bad.partition_point(|at| *at < start)).is_some_and(|at| *at <= end)
    }

    fn unclosed(&mut self, frame: Frame, before: u32) {
        let open = self.toks[frame.open as usize];
        if !self.is_bad(open.start, before) {
            let bracket = open.text(self.source).to_owned();
            self.report(errors::unclosed(open.span(), &bracket));
        }
    }

    fn run(&mut self) {
        let mut i = 0;
        while let Some(&tok) = self.toks.get(i) {
            if self.in_region() {
                self.at_region_level(i, tok);
            } else if tok.mark == Mark::Line && self.surely_begins_op(i, true) {
                while let Some(top) = self.stack.last().copied()
                    && top.kind != Kind::RegionOpen
                {
                    self.stack.pop();
                    self.unclosed(top, tok.start);
                }
                self.mark(i, Mark::Op);
            }
            match tok.kind {
                Kind::LParen | Kind::LBracket | Kind::LAngle => self.open(i, tok.kind),
                Kind::LBrace if self.is_region(i) => {
                    let region = self.regions.len() as u32;
                    self.regions.push(TokenRegion { first: i as u32 + 1, close: 0, span: tok.span() });
                    self.toks[i].kind = Kind::RegionOpen;
                    self.toks[i].end = region;
                    self.stack.push(Frame { open: i as u32, region, ..BASE });
                }
                Kind::LBrace => self.open(i, Kind::LBrace),
                Kind::RParen | Kind::RBracket | Kind::RAngle | Kind::RBrace => self.close(i, tok),
                Kind::Value => self.size.uses += 1,
                _ => {}
            }
            i += 1;
            if self.stack.len() > MAX_DEPTH + 1 {
                self.report(errors::too_deep(tok.span(), MAX_DEPTH));
                // Nothing after this place can be parsed: end the text here.
                self.toks.truncate(i);
                self.n_errors = usize::MAX / 2;
                break;
            }
        }
        let end = self.toks.len() as u32;
        for frame in self.stack.split_off(1).into_iter().rev() {
            if frame.kind == Kind::RegionOpen {
                self.regions[frame.region as usize].close = end;
                let span = self.regions[frame.region as usize].span;
                self.report(errors::unclosed(span, "{"));
            } else {
                self.unclosed(frame, u32::MAX);
            }
        }
        self.regions[0].close = end;
    }

    /// True if the innermost open bracket is a region.
    fn in_region(&self) -> bool {
        self.stack.last().is_none_or(|f| f.kind == Kind::RegionOpen)
    }

    /// The frame of the innermost region.
    fn region_frame(&mut self) -> &mut Frame {
        let at = self.stack.iter().rposition(|f| f.kind == Kind::RegionOpen).unwrap_or(0);
        &mut self.stack[at]
    }

    fn mark(&mut self, i: usize, mark: Mark) {
        let Some(tok) = self.toks.get_mut(i) else { return };
        tok.mark = mark;
        self.item = tok.start;
        self.size.ops += usize::from(mark == Mark::Op);
        self.size.values += usize::from(mark == Mark::Op && tok.kind == Kind::Value);
        let seen = match (mark, self.kind(i)) {
            (Mark::Op, Some(Kind::Str)) => GenericProgress::Name,
            (Mark::Op, Some(Kind::Value)) => GenericProgress::Start,
            (Mark::Label, _) => GenericProgress::Label,
            _ => GenericProgress::Custom,
        };
        let frame = self.region_frame();
        frame.seen = seen;
        frame.name = i as u32;
    }

    fn at_region_level(&mut self, i: usize, tok: Tok) {
        let seen = self.region_frame().seen;
        if matches!(tok.kind, Kind::Comma | Kind::Colon | Kind::Eq | Kind::Arrow) {
            // No item begins with these.
            return self.advance(tok, seen);
        }
        let prev = i.checked_sub(1).and_then(|p| self.kind(p));
        if seen == GenericProgress::Custom
            && tok.mark == Mark::Nothing
            && matches!(prev, Some(Kind::Comma | Kind::Eq | Kind::Arrow | Kind::ColonColon))
        {
            // Nor does an item begin in the middle of a line after these.
            return;
        }
        let first = matches!(prev, None | Some(Kind::RegionOpen));
        let labelled = seen == GenericProgress::LabelEnd;
        let free = first || labelled || matches!(prev, Some(Kind::RegionClose)) || tok.mark == Mark::Line;
        // `%a, %b = ...` may continue on the next line, but after the name of an op a value before `=` begins
        // another.
        let begun = matches!(seen, GenericProgress::Start | GenericProgress::Label);
        let held = match prev {
            Some(Kind::Comma) => begun || !(tok.mark == Mark::Line && self.surely_begins_op(i, false)),
            Some(Kind::Eq | Kind::Arrow | Kind::ColonColon) => true,
            _ => false,
        };
        if seen == GenericProgress::All && matches!(tok.kind, Kind::Value | Kind::Str | Kind::Word) {
            self.mark(i, Mark::Op);
            return;
        }
        if free && !held || seen == GenericProgress::All {
            match tok.kind {
                Kind::Caret if self.is_label(i) => return self.mark(i, Mark::Label),
                Kind::Hash | Kind::Bang if self.kind(i + 1) == Some(Kind::Eq) => {
                    return self.mark(i, Mark::Alias);
                }
                Kind::Resource => return self.mark(i, Mark::Alias),
                _ if self.begins_op(i, first || labelled) => return self.mark(i, Mark::Op),
                _ => {}
            }
        }
        // In the middle of a line, only tokens that cannot be part of a custom form.
        if !held && self.surely_begins_op(i, false) {
            return self.mark(i, Mark::Op);
        }
        if seen == GenericProgress::Start && matches!(tok.kind, Kind::Str | Kind::Word) {
            self.region_frame().name = i as u32;
        }
        self.advance(tok, seen);
    }

    /// Follows the pieces of a generic form up to its end.
    fn advance(&mut self, tok: Tok, seen: GenericProgress) {
        if seen == GenericProgress::Custom {
            return;
        }
        let next = match (seen, tok.kind) {
            (GenericProgress::Label, Kind::Colon) => GenericProgress::LabelEnd,
            (GenericProgress::Start, Kind::Str) => GenericProgress::Name,
            (GenericProgress::Start, Kind::Word) => GenericProgress::Custom,
            (GenericProgress::Name, Kind::Colon) => GenericProgress::Colon,
            (GenericProgress::Inputs, Kind::Arrow) => GenericProgress::Arrow,
            (GenericProgress::Arrow, Kind::Word | Kind::Bang | Kind::BangBody) => GenericProgress::All,
            (
                GenericProgress::Arrow,
                Kind::Tensor | Kind::Vector | Kind::MemRef | Kind::Complex | Kind::Tuple,
            ) => GenericProgress::Result,
            _ => seen,
        };
        self.region_frame().seen = next;
    }

    fn is_label(&self, i: usize) -> bool {
        match self.kind(i + 1) {
            Some(Kind::Colon) => true,
            Some(Kind::LParen) => {
                let mut depth = 0usize;
                let mut at = i + 1;
                while let Some(kind) = self.kind(at) {
                    match kind {
                        Kind::LParen => depth += 1,
                        Kind::RParen => {
                            depth -= 1;
                            if depth == 0 {
                                return self.kind(at + 1) == Some(Kind::Colon);
                            }
                        }
                        _ => {}
                    }
                    at += 1;
                }
                false
            }
            _ => false,
        }
    }

    /// The position after `%x, %y:2 =`, if these tokens begin at `i`.
    fn results_end(&self, mut i: usize) -> Option<usize> {
        loop {
            if self.kind(i)? != Kind::Value {
                return None;
            }
            i += 1;
            if self.kind(i)? == Kind::Colon && self.kind(i + 1)? == Kind::Int {
                i += 2;
            }
            match self.kind(i)? {
                Kind::Eq => return Some(i + 1),
                // `%x, =` can only be a misspelled list of results.
                Kind::Comma if self.kind(i + 1)? == Kind::Eq => return Some(i + 2),
                Kind::Comma => i += 1,
                _ => return None,
            }
        }
    }

    fn begins_op(&self, i: usize, first: bool) -> bool {
        match self.kind(i) {
            Some(Kind::Value) => self.results_end(i).is_some(),
            Some(Kind::Str) => self.kind(i + 1) == Some(Kind::LParen),
            Some(Kind::Word) => {
                let next = self.kind(i + 1);
                let name = self.text(i);
                // Where only an op may begin, any word is an op name.
                next != Some(Kind::Eq) && (first || name.contains('.') || self.registry.is_op_name(name))
            }
            _ => first && matches!(self.kind(i), Some(Kind::At | Kind::Int)),
        }
    }

    /// True for `%x = "name"`, `%x = name` or the dotted name of a known op, which no custom form and no
    /// brackets contain.
    fn surely_begins_op(&self, i: usize, in_brackets: bool) -> bool {
        let listed = i > 0 && self.kind(i - 1) == Some(Kind::Comma);
        match self.kind(i) {
            Some(_) if listed && self.toks[i].mark != Mark::Line => false,
            Some(Kind::Value) => self.results_end(i).is_some_and(|n| {
                // In the middle of a line, `%x, ⏎ %y = ...` is the end of one op and the results of the next.
                let whole = self.toks[i].mark == Mark::Line
                    || self.toks[i + 1..n].iter().all(|t| t.mark == Mark::Nothing);
                whole && matches!(self.kind(n), Some(Kind::Str | Kind::Word))
            }),
            Some(Kind::Word) => {
                let name = self.text(i);
                !listed
                    && name.contains('.')
                    && match self.kind(i + 1) {
                        Some(Kind::Eq) => false,
                        // These would end an entry of a dictionary.
                        Some(Kind::Comma | Kind::RBrace) => !in_brackets,
                        _ => true,
                    }
                    && self.registry.is_op_name(name)
            }
            _ => false,
        }
    }

    fn is_region(&self, i: usize) -> bool {
        let prev = i.checked_sub(1).and_then(|p| self.kind(p));
        match prev {
            Some(Kind::Eq) => return false,
            Some(Kind::Word) if self.text(i - 1) == "attributes" => return false,
            _ => {}
        }
        let inside = (self.kind(i + 1), self.kind(i + 2));
        if inside.0 == Some(Kind::RBrace) {
            // Empty: the grammar accepts it as either.
            return false;
        }
        let Some(region) = self.stack.iter().rev().find(|f| f.kind == Kind::RegionOpen) else { return false };
        if region.seen == GenericProgress::Custom {
            let def = self.registry.find(self.registry.full_name(self.text(region.name as usize)));
            let at_level = self.in_region();
            match def {
                Some(def) if def.regions.is_empty() => return false,
                // These write their dictionary after the word `attributes`.
                Some(def)
                    if at_level
                        && (def.traits.has(Traits::FUNCTION) || def.traits.has(Traits::SYMBOL_TABLE)) =>
                {
                    return true;
                }
                _ => {}
            }
        } else {
            // Generic form: regions stand in `({...}, {...})` and nowhere else.
            let Some(open) = self.stack.last().filter(|f| f.kind == Kind::LParen) else { return false };
            return match prev {
                Some(Kind::LParen) => true,
                Some(Kind::Comma) => {
                    matches!(self.kind(open.open as usize + 1), Some(Kind::RegionOpen | Kind::LBrace))
                }
                _ => false,
            };
        }
        match inside {
            (Some(Kind::Caret | Kind::Value), _) | (Some(Kind::Str), Some(Kind::LParen)) => true,
            (Some(Kind::Word), Some(Kind::Eq | Kind::Comma)) => false,
            (Some(Kind::Word), Some(Kind::RBrace) | None) => self.registry.is_op_name(self.text(i + 1)),
            (Some(Kind::Word), Some(_)) => true,
            _ => false,
        }
    }

    fn open(&mut self, i: usize, kind: Kind) {
        self.stack.push(Frame { open: i as u32, kind, ..BASE });
    }

    fn close(&mut self, i: usize, tok: Tok) {
        // The nearest open bracket of this kind, not beyond the region unless this is its brace.
        let mut depth = self.stack.len();
        let found = loop {
            let Some(at) = depth.checked_sub(1).filter(|at| *at > 0) else { break None };
            let frame = self.stack[at];
            if closer(frame.kind) == tok.kind {
                break Some(at);
            }
            if frame.kind == Kind::RegionOpen {
                break None;
            }
            depth = at;
        };
        let Some(at) = found else {
            if !self.is_bad(self.item, tok.start) {
                let bracket = tok.text(self.source).to_owned();
                self.report(errors::unmatched(tok.span(), &bracket));
            }
            self.toks[i].kind = Kind::Skipped;
            return;
        };
        while self.stack.len() > at + 1
            && let Some(frame) = self.stack.pop()
        {
            self.unclosed(frame, tok.start);
        }
        if let Some(frame) = self.stack.pop() {
            if frame.kind == Kind::RegionOpen {
                self.regions[frame.region as usize].close = i as u32;
                self.toks[i].kind = Kind::RegionClose;
            }
            if self.in_region() {
                let region = self.region_frame();
                region.seen = match (region.seen, frame.kind) {
                    (GenericProgress::Colon, Kind::LParen) => GenericProgress::Inputs,
                    (GenericProgress::Arrow, Kind::LParen) | (GenericProgress::Result, Kind::LAngle) => {
                        GenericProgress::All
                    }
                    (seen, _) => seen,
                };
            }
        }
    }
}
