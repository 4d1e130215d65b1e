//! The pieces of a custom form: a cursor over them, and attributes and types assembled from them, since the
//! grammar does not depend on the op's format.

use super::Lower;
use crate::diag::Span;
use crate::ir::{AttrId, StrId, TypeId};
use crate::syntax::ast::{self, NumberLiteral, Piece, PieceKind};
use crate::syntax::token::{Kind, Tok};

/// The pieces of a form, from the parser.
#[derive(Clone, Copy)]
pub(super) enum Pieces<'p> {
    /// Single tokens.
    Toks(&'p [Tok]),
    /// Pieces of the grammar.
    Tree(&'p [Piece]),
}

impl Pieces<'_> {
    fn len(self) -> usize {
        match self {
            Pieces::Toks(toks) => toks.len(),
            Pieces::Tree(pieces) => pieces.len(),
        }
    }

    pub(super) fn last_span(self) -> Option<Span> {
        match self {
            Pieces::Toks(toks) => toks.last().map(|t| t.span()),
            Pieces::Tree(pieces) => pieces.last().map(|p| p.span),
        }
    }

    /// The piece at `at` if it is a token.
    #[inline]
    fn tok(self, at: usize) -> Option<Tok> {
        match self {
            Pieces::Toks(toks) => toks.get(at).copied(),
            Pieces::Tree(pieces) => match pieces.get(at)?.kind {
                PieceKind::Tok(tok) => Some(tok),
                _ => None,
            },
        }
    }
}

/// A position among the pieces of a form.
pub(super) struct Cursor<'p> {
    pieces: Pieces<'p>,
    at: usize,
    /// The end of the form, for errors.
    end: Span,
}

impl<'p> Cursor<'p> {
    pub(super) fn new(pieces: Pieces<'p>, end: Span) -> Self {
        Cursor { pieces, at: 0, end: Span { start: end.end.saturating_sub(1), ..end } }
    }

    /// The next piece if it is a token.
    pub(super) fn any_tok(&self) -> Option<Tok> {
        self.pieces.tok(self.at)
    }

    /// The next piece if it is more than a token.
    pub(super) fn tree(&self) -> Option<&'p PieceKind> {
        match self.pieces {
            Pieces::Toks(_) => None,
            Pieces::Tree(pieces) => {
                pieces.get(self.at).map(|p| &p.kind).filter(|k| !matches!(k, PieceKind::Tok(_)))
            }
        }
    }

    /// Skips the next piece.
    pub(super) fn skip(&mut self) {
        self.at += 1;
    }

    pub(super) fn span(&self) -> Span {
        let found = match self.pieces {
            Pieces::Toks(toks) => toks.get(self.at).map(|t| t.span()),
            Pieces::Tree(pieces) => pieces.get(self.at).map(|p| p.span),
        };
        found.unwrap_or(self.end)
    }

    pub(super) fn is_done(&self) -> bool {
        self.at >= self.pieces.len()
    }

    /// The next piece if it is a token of this kind.
    #[inline]
    pub(super) fn tok(&self, kind: Kind) -> Option<Tok> {
        self.any_tok().filter(|t| t.kind == kind)
    }

    /// True if a token of this kind follows anywhere, outside of brackets.
    pub(super) fn has(&self, kind: Kind) -> bool {
        (self.at..self.pieces.len()).any(|at| self.pieces.tok(at).is_some_and(|t| t.kind == kind))
    }

    #[inline]
    pub(super) fn eat(&mut self, kind: Kind) -> Option<Tok> {
        let tok = self.tok(kind)?;
        self.at += 1;
        Some(tok)
    }

    /// The contents of the next piece if it is a group in these brackets.
    pub(super) fn eat_group(&mut self, open: Kind) -> Option<Cursor<'p>> {
        match self.tree() {
            Some(PieceKind::Group(kind, inner)) if *kind == open => {
                let span = self.span();
                self.at += 1;
                Some(Cursor::new(Pieces::Tree(inner), span))
            }
            _ => None,
        }
    }
}

impl Lower<'_> {
    /// A dictionary, if it begins here.
    pub(super) fn piece_dict(&mut self, cursor: &mut Cursor<'_>) -> Option<Vec<(StrId, AttrId)>> {
        match cursor.tree() {
            Some(PieceKind::Attr(attr)) => {
                let ast::AttrSyntaxKind::Dict(entries) = &attr.kind else { return Some(Vec::new()) };
                cursor.skip();
                self.entries(entries)
            }
            Some(PieceKind::EmptyBraces) => {
                cursor.skip();
                Some(Vec::new())
            }
            _ => Some(Vec::new()),
        }
    }

    pub(super) fn number_piece(&mut self, cursor: &mut Cursor<'_>) -> Option<NumberLiteral> {
        let number = |cursor: &Cursor<'_>, i| cursor.pieces.tok(cursor.at + i).filter(|t| is_number(t.kind));
        let negative = cursor.tok(Kind::Minus).is_some();
        let tok = number(cursor, usize::from(negative))?;
        cursor.at += 1 + usize::from(negative);
        Some(NumberLiteral { tok, negative })
    }

    /// `: T` after an attribute, if it begins here.
    fn of_type(&mut self, cursor: &mut Cursor<'_>) -> Option<Option<TypeId>> {
        if cursor.eat(Kind::Colon).is_some() { self.piece_type(cursor).map(Some) } else { Some(None) }
    }

    /// `[1, 2]` or `[1 : i64, 2 : i64]`: numbers without a type get `elem`.
    pub(super) fn number_array(&mut self, cursor: &mut Cursor<'_>, elem: TypeId) -> Option<AttrId> {
        let Some(mut inner) = cursor.eat_group(Kind::LBracket) else {
            // An alias, or something that the verifier refuses.
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

    /// The attribute that begins here. `hint` is the type of a number without one. With a hint no type is
    /// parsed after `:`, which belongs to the form.
    pub(super) fn piece_attr(&mut self, cursor: &mut Cursor<'_>, hint: Option<TypeId>) -> Option<AttrId> {
        self.nested(cursor.span(), |lower| lower.piece_attr_inside(cursor, hint))
    }

    fn piece_attr_inside(&mut self, cursor: &mut Cursor<'_>, hint: Option<TypeId>) -> Option<AttrId> {
        if let Some(number) = self.number_piece(cursor) {
            let ty = self.of_type(cursor)?.or(hint);
            return self.number_attr(number, ty);
        }
        if let Some(tok) = cursor.any_tok() {
            return match tok.kind {
                Kind::Str => {
                    cursor.skip();
                    self.string_attr(tok, None)
                }
                Kind::Word => {
                    cursor.skip();
                    self.word_attr(tok)
                }
                Kind::Hash | Kind::HashBody => {
                    cursor.skip();
                    let attr =
                        ast::AttrSyntax { span: tok.span(), kind: ast::AttrSyntaxKind::Hash(tok, None) };
                    self.attr(&attr, None)
                }
                Kind::Bang | Kind::BangBody => {
                    let ty = self.piece_type(cursor)?;
                    Some(self.m.cx.type_attr(ty))
                }
                _ => self.expected("an attribute", cursor),
            };
        }
        let Some(piece) = cursor.tree() else { return self.expected("an attribute", cursor) };
        match piece {
            PieceKind::Symbol(path) => {
                cursor.skip();
                self.symbol(path)
            }
            PieceKind::Attr(attr) => {
                cursor.skip();
                self.attr(attr, None)
            }
            PieceKind::EmptyBraces => {
                cursor.skip();
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
            PieceKind::Tok(_) | PieceKind::Group(..) | PieceKind::Region(_) => {
                self.expected("an attribute", cursor)
            }
            PieceKind::Loc(loc) => {
                cursor.skip();
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
        if let Some(word) = cursor.eat(Kind::Word) {
            return self.type_word(word);
        }
        if let Some(bang) = cursor.eat(Kind::Bang).or_else(|| cursor.eat(Kind::BangBody)) {
            return self.bang(bang);
        }
        match cursor.tree() {
            Some(PieceKind::Type(ty)) => {
                cursor.skip();
                self.ty(ty)
            }
            Some(PieceKind::Group(Kind::LParen, _)) => {
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
