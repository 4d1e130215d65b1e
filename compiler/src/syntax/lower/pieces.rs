//! The pieces of a custom form: a cursor over them, and attributes and types put together from them, since the grammar
//! could not know what stands where.

use super::Lower;
use crate::diag::Span;
use crate::ir::{AttrId, StrId, TypeId};
use crate::syntax::ast::{self, Number, Piece, PieceKind};
use crate::syntax::token::{Kind, Tok};

/// A place among the pieces of a form.
pub(super) struct Cursor<'p> {
    pieces: &'p [Piece],
    at: usize,
    /// Where the form ends, for errors.
    end: Span,
}

impl<'p> Cursor<'p> {
    pub(super) fn new(pieces: &'p [Piece], end: Span) -> Self {
        Cursor { pieces, at: 0, end: Span { start: end.end.saturating_sub(1), ..end } }
    }

    pub(super) fn peek(&self) -> Option<&'p Piece> {
        self.pieces.get(self.at)
    }

    fn peek_second(&self) -> Option<&'p Piece> {
        self.pieces.get(self.at + 1)
    }

    pub(super) fn next(&mut self) -> Option<&'p Piece> {
        let piece = self.pieces.get(self.at)?;
        self.at += 1;
        Some(piece)
    }

    pub(super) fn span(&self) -> Span {
        self.peek().map_or(self.end, |p| p.span)
    }

    pub(super) fn is_done(&self) -> bool {
        self.at >= self.pieces.len()
    }

    /// The next piece if it is a token of this kind.
    pub(super) fn tok(&self, kind: Kind) -> Option<Tok> {
        match self.peek()?.kind {
            PieceKind::Tok(tok) if tok.kind == kind => Some(tok),
            _ => None,
        }
    }

    /// True if a token of this kind is still to come, outside of brackets.
    pub(super) fn has(&self, kind: Kind) -> bool {
        let rest = self.pieces.get(self.at..).unwrap_or_default();
        rest.iter().any(|p| matches!(p.kind, PieceKind::Tok(tok) if tok.kind == kind))
    }

    pub(super) fn eat(&mut self, kind: Kind) -> Option<Tok> {
        let tok = self.tok(kind)?;
        self.at += 1;
        Some(tok)
    }

    /// The contents of the next piece if it is a group in these brackets.
    pub(super) fn eat_group(&mut self, open: Kind) -> Option<Cursor<'p>> {
        match self.peek() {
            Some(Piece { kind: PieceKind::Group(kind, inner), span }) if *kind == open => {
                self.at += 1;
                Some(Cursor::new(inner, *span))
            }
            _ => None,
        }
    }
}

impl Lower<'_> {
    /// A dictionary, if one stands here.
    pub(super) fn piece_dict(&mut self, cursor: &mut Cursor<'_>) -> Option<Vec<(StrId, AttrId)>> {
        if let Some(PieceKind::Attr(attr)) = cursor.peek().map(|p| &p.kind)
            && let ast::AttrKind::Dict(entries) = &attr.kind
        {
            cursor.next();
            return self.entries(entries);
        }
        match cursor.peek().map(|p| &p.kind) {
            Some(PieceKind::EmptyBraces) => {
                cursor.next();
                Some(Vec::new())
            }
            _ => Some(Vec::new()),
        }
    }

    pub(super) fn number_piece(&mut self, cursor: &mut Cursor<'_>) -> Option<Number> {
        let negative = match (cursor.tok(Kind::Minus), cursor.peek_second()) {
            (Some(_), Some(Piece { kind: PieceKind::Tok(t), .. })) if is_number(t.kind) => {
                cursor.next();
                true
            }
            _ => false,
        };
        match cursor.peek().map(|p| &p.kind) {
            Some(PieceKind::Tok(tok)) if is_number(tok.kind) => {
                cursor.next();
                Some(Number { tok: *tok, negative })
            }
            _ => None,
        }
    }

    /// `: T` after an attribute, if it stands here.
    fn of_type(&mut self, cursor: &mut Cursor<'_>) -> Option<Option<TypeId>> {
        if cursor.eat(Kind::Colon).is_some() { self.piece_type(cursor).map(Some) } else { Some(None) }
    }

    /// `[1, 2]` or `[1 : i64, 2 : i64]`: numbers without a type get `elem`.
    pub(super) fn number_array(&mut self, cursor: &mut Cursor<'_>, elem: TypeId) -> Option<AttrId> {
        let Some(mut inner) = cursor.eat_group(Kind::LBracket) else {
            // An alias, or something that the verifier will refuse.
            return self.piece_attr(cursor, None);
        };
        let mut ids = Vec::new();
        while !inner.is_done() {
            if !ids.is_empty() && inner.eat(Kind::Comma).is_none() {
                return self.expected("`,` or `]`", &inner);
            }
            ids.push(self.piece_attr(&mut inner, Some(elem))?);
        }
        Some(self.m.cx.array_attr(&ids))
    }

    /// The attribute that begins here; `hint` is the type of a number without one, and then no type may follow a `:`
    /// that belongs to the form.
    pub(super) fn piece_attr(&mut self, cursor: &mut Cursor<'_>, hint: Option<TypeId>) -> Option<AttrId> {
        self.nested(cursor.span(), |lower| lower.piece_attr_inside(cursor, hint))
    }

    fn piece_attr_inside(&mut self, cursor: &mut Cursor<'_>, hint: Option<TypeId>) -> Option<AttrId> {
        if let Some(number) = self.number_piece(cursor) {
            let ty = self.of_type(cursor)?.or(hint);
            return self.number_attr(number, ty);
        }
        let Some(piece) = cursor.peek() else { return self.expected("an attribute", cursor) };
        match &piece.kind {
            PieceKind::Tok(tok) => match tok.kind {
                Kind::Str => {
                    cursor.next();
                    self.string_attr(*tok, None)
                }
                Kind::Word => {
                    cursor.next();
                    self.word_attr(*tok)
                }
                Kind::Hash | Kind::HashBody => {
                    cursor.next();
                    let attr = ast::Attr { span: piece.span, kind: ast::AttrKind::Hash(*tok, None) };
                    self.attr(&attr, None)
                }
                Kind::Bang | Kind::BangBody => {
                    let ty = self.piece_type(cursor)?;
                    Some(self.m.cx.type_attr(ty))
                }
                _ => self.expected("an attribute", cursor),
            },
            PieceKind::Symbol(path) => {
                cursor.next();
                self.symbol(path)
            }
            PieceKind::Attr(attr) => {
                cursor.next();
                self.attr(attr, None)
            }
            PieceKind::EmptyBraces => {
                cursor.next();
                Some(self.m.cx.dict_attr(&[]))
            }
            PieceKind::Type(_) | PieceKind::Group(Kind::LParen, _) => {
                let ty = self.piece_type(cursor)?;
                Some(self.m.cx.type_attr(ty))
            }
            PieceKind::Group(Kind::LBracket, _) => {
                let mut inner = cursor.eat_group(Kind::LBracket)?;
                let mut ids = Vec::new();
                while !inner.is_done() {
                    if !ids.is_empty() && inner.eat(Kind::Comma).is_none() {
                        return self.expected("`,` or `]`", &inner);
                    }
                    ids.push(self.piece_attr(&mut inner, None)?);
                }
                Some(self.m.cx.array_attr(&ids))
            }
            PieceKind::Group(..) | PieceKind::Region(_) => self.expected("an attribute", cursor),
            PieceKind::Loc(loc) => {
                cursor.next();
                let loc = self.loc(loc)?;
                Some(self.m.cx.attr_id(crate::ir::AttrKind::Loc(loc)))
            }
        }
    }

    /// The type that begins here.
    pub(super) fn piece_type(&mut self, cursor: &mut Cursor<'_>) -> Option<TypeId> {
        self.nested(cursor.span(), |lower| lower.piece_type_inside(cursor))
    }

    fn piece_type_inside(&mut self, cursor: &mut Cursor<'_>) -> Option<TypeId> {
        let Some(piece) = cursor.peek() else { return self.expected("a type", cursor) };
        match &piece.kind {
            PieceKind::Tok(tok) if tok.kind == Kind::Word => {
                cursor.next();
                self.type_word(*tok)
            }
            PieceKind::Tok(tok) if matches!(tok.kind, Kind::Bang | Kind::BangBody) => {
                cursor.next();
                self.bang(*tok)
            }
            PieceKind::Type(ty) => {
                cursor.next();
                self.ty(ty)
            }
            PieceKind::Group(Kind::LParen, _) => {
                let (inputs, outputs) = self.piece_function(cursor)?;
                Some(self.m.cx.function_type(&inputs, &outputs))
            }
            _ => self.expected("a type", cursor),
        }
    }

    /// Types separated by commas, at least one.
    pub(super) fn piece_types(&mut self, cursor: &mut Cursor<'_>) -> Option<Vec<TypeId>> {
        let mut types = vec![self.piece_type(cursor)?];
        while cursor.eat(Kind::Comma).is_some() {
            types.push(self.piece_type(cursor)?);
        }
        Some(types)
    }

    /// Types in parentheses, or none at all.
    fn type_group(&mut self, mut inner: Cursor<'_>) -> Option<Vec<TypeId>> {
        if inner.is_done() {
            return Some(Vec::new());
        }
        let types = self.piece_types(&mut inner)?;
        if !inner.is_done() {
            return self.expected("`,` or `)`", &inner);
        }
        Some(types)
    }

    /// `(T, U) -> V` or `(T) -> (U, V)`.
    pub(super) fn piece_function(&mut self, cursor: &mut Cursor<'_>) -> Option<(Vec<TypeId>, Vec<TypeId>)> {
        let Some(inner) = cursor.eat_group(Kind::LParen) else {
            return self.expected("a function type", cursor);
        };
        let inputs = self.type_group(inner)?;
        if cursor.eat(Kind::Arrow).is_none() {
            return self.expected("`->`", cursor);
        }
        let outputs = self.piece_results(cursor)?;
        Some((inputs, outputs))
    }

    /// `T` or `(T, U)`.
    pub(super) fn piece_results(&mut self, cursor: &mut Cursor<'_>) -> Option<Vec<TypeId>> {
        match cursor.eat_group(Kind::LParen) {
            Some(inner) => self.type_group(inner),
            None => Some(vec![self.piece_type(cursor)?]),
        }
    }
}

fn is_number(kind: Kind) -> bool {
    matches!(kind, Kind::Int | Kind::Hex | Kind::Float)
}
