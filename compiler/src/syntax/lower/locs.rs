//! Locations.

use super::{AliasValue, Lower, errors};
use crate::diag::Span;
use crate::ir::{AttrKind, LocId, LocKind};
use crate::syntax::ast;
use crate::syntax::token::Tok;

impl Lower<'_> {
    /// The location of a byte of the text.
    pub(super) fn place(&mut self, at: u32) -> LocId {
        if let Some(place) = self.m.cx.places().at(at) {
            return place;
        }
        let (line, col) = self.source.line_col(at);
        self.m.cx.loc_id(LocKind::File { file: self.file, line, col })
    }

    /// The explicit location of an op or argument, or else its place in the text.
    pub(super) fn loc_or_place(&mut self, loc: Option<&ast::LocSyntax>, at: Span) -> LocId {
        match loc {
            Some(loc) => self.loc(loc).unwrap_or(LocId::UNKNOWN),
            None => self.place(at.start),
        }
    }

    pub(super) fn loc(&mut self, loc: &ast::LocSyntax) -> Option<LocId> {
        self.nested(loc.span, |lower| lower.loc_inside(loc))
    }

    fn loc_inside(&mut self, loc: &ast::LocSyntax) -> Option<LocId> {
        let kind = match &loc.kind {
            ast::LocSyntaxKind::Word(word) => match self.text(*word) {
                "unknown" => LocKind::Unknown,
                _ => {
                    return self
                        .bad_loc(loc.span, "expected `unknown`, `fused`, `callsite`, a string or an alias");
                }
            },
            ast::LocSyntaxKind::Alias(name) => {
                return match self.alias(*name)? {
                    AliasValue::Attr(attr) => match *self.m.cx.attr(attr) {
                        AttrKind::Loc(loc) => Some(loc),
                        _ => self.bad_loc(loc.span, "this alias is not a location"),
                    },
                    AliasValue::Type(_) => self.bad_loc(loc.span, "this alias is not a location"),
                };
            }
            ast::LocSyntaxKind::Name(name, child) => {
                let name = self.string_id(*name)?;
                let child = match child {
                    Some(child) => self.loc(child)?,
                    None => LocId::UNKNOWN,
                };
                LocKind::Name { name, child }
            }
            ast::LocSyntaxKind::File(file, line, col) => {
                LocKind::File { file: self.string_id(*file)?, line: self.u32(*line)?, col: self.u32(*col)? }
            }
            ast::LocSyntaxKind::Range(range) => {
                let (file, start, end_line, end_col) = &**range;
                let start = (self.u32(start[0])?, self.u32(start[1])?);
                let end_line = match end_line {
                    Some(line) => self.u32(*line)?,
                    None => start.0,
                };
                LocKind::Range { file: self.string_id(*file)?, start, end: (end_line, self.u32(*end_col)?) }
            }
            ast::LocSyntaxKind::CallSite(word, callee, at, caller) => {
                if self.text(*word) != "callsite" || self.text(*at) != "at" {
                    return self.bad_loc(loc.span, "expected `callsite(... at ...)`");
                }
                LocKind::CallSite { callee: self.loc(callee)?, caller: self.loc(caller)? }
            }
            ast::LocSyntaxKind::Fused(word, metadata, locs) => {
                if self.text(*word) != "fused" {
                    return self.bad_loc(loc.span, "expected `fused[...]`");
                }
                let metadata = match metadata {
                    Some(attr) => Some(self.attr(attr, None)?),
                    None => None,
                };
                let mut parts = Vec::with_capacity(locs.len());
                for part in locs {
                    parts.push(self.loc(part)?);
                }
                return Some(self.m.cx.fused_loc(&parts, metadata));
            }
        };
        Some(self.m.cx.loc_id(kind))
    }

    fn bad_loc(&mut self, span: Span, why: &str) -> Option<LocId> {
        self.report(errors::bad_location(span, why));
        None
    }

    /// A line or column.
    fn u32(&mut self, tok: Tok) -> Option<u32> {
        match self.text(tok).parse() {
            Ok(n) => Some(n),
            Err(_) => {
                let text = self.text(tok);
                self.report(errors::count_range(tok.span(), text, "line and column (32 bits)"));
                None
            }
        }
    }
}
