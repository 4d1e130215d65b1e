//! The shortcut: a parser of plain operations without the grammar.
//!
//! Most operations of most programs are names, words and punctuation: a custom form all of whose pieces are
//! single tokens, or a generic form with only operands and types that are single tokens. These are parsed
//! here, at a fraction of the cost. Other operations, and those with errors, are left to the grammar, so no
//! error is reported here. A property test (`tests/properties`) compares the two.

use super::ast::{Generic, Op, OpBody, ResultList, TypeSyntax, TypeSyntaxKind};
use super::parse::{is_item, span};
use super::token::{Kind, Mark, Tok};

/// The tokens of a region from the first of an operation on.
struct Walk<'t> {
    toks: &'t [Tok],
    at: usize,
}

impl Walk<'_> {
    /// The next token, unless another item begins with it.
    fn peek(&self) -> Option<Tok> {
        self.toks.get(self.at).copied().filter(|tok| self.at == 0 || !is_item(tok.mark))
    }

    fn eat(&mut self, kind: Kind) -> Option<Tok> {
        let tok = self.peek().filter(|tok| tok.kind == kind)?;
        self.at += 1;
        Some(tok)
    }

    /// Elements separated by commas, or none, up to `)`.
    fn list<T>(&mut self, element: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut list = Vec::new();
        if self.eat(Kind::RParen).is_some() {
            return Some(list);
        }
        loop {
            list.push(element(self)?);
            if self.eat(Kind::Comma).is_none() {
                self.eat(Kind::RParen)?;
                return Some(list);
            }
        }
    }

    fn ty(&mut self) -> Option<TypeSyntax> {
        let tok = self.peek()?;
        let kind = match tok.kind {
            Kind::Word => TypeSyntaxKind::Word(tok),
            Kind::Bang | Kind::BangBody => TypeSyntaxKind::Bang(tok),
            _ => return None,
        };
        self.at += 1;
        Some(TypeSyntax { span: tok.span(), kind })
    }

    /// `%x, %y:2 =`, or nothing.
    fn results(&mut self) -> Option<ResultList> {
        let mut results = ResultList::new();
        while let Some(name) = self.eat(Kind::Value) {
            let count = match self.eat(Kind::Colon) {
                Some(_) => Some(self.eat(Kind::Int)?),
                None => None,
            };
            results.push((name, count));
            if self.eat(Kind::Comma).is_none() {
                self.eat(Kind::Eq)?;
                return Some(results);
            }
        }
        results.is_empty().then_some(results)
    }

    /// `(%a, %b) : (T, U) -> V`, to the end of the operation.
    fn generic(&mut self) -> Option<Generic> {
        self.eat(Kind::LParen)?;
        let operands = self.list(|walk| walk.eat(Kind::Value))?;
        self.eat(Kind::Colon)?;
        let open = self.eat(Kind::LParen)?;
        let inputs = self.list(Walk::ty)?;
        self.eat(Kind::Arrow)?;
        let outputs = match self.eat(Kind::LParen) {
            Some(_) => self.list(Walk::ty)?,
            None => vec![self.ty()?],
        };
        let last = *self.toks.get(self.at.checked_sub(1)?)?;
        self.peek().is_none().then(|| Generic {
            operands,
            successors: Vec::new(),
            properties: None,
            regions: Vec::new(),
            attrs: Vec::new(),
            inputs,
            outputs,
            type_span: span(open.start, last.end),
        })
    }
}

/// The operation at the beginning of `toks`, and its number of tokens. The first token is number `at` of the
/// text.
pub(super) fn op(toks: &[Tok], at: u32) -> Option<(Op, u32)> {
    if toks.first()?.mark != Mark::Op {
        return None;
    }
    let mut walk = Walk { toks, at: 0 };
    let results = walk.results()?;
    if let Some(name) = walk.eat(Kind::Str) {
        let body = OpBody::Generic(Box::new(walk.generic()?));
        return Some((Op { results, name, body, loc: None }, walk.at as u32));
    }
    let name = walk.eat(Kind::Word)?;
    let first = walk.at;
    while let Some(tok) = walk.peek() {
        if !is_piece(tok.kind) {
            return None;
        }
        walk.at += 1;
    }
    let body = OpBody::Tokens(at + first as u32, (walk.at - first) as u32);
    Some((Op { results, name, body, loc: None }, walk.at as u32))
}

/// True if a token of this kind can be a piece of a custom form by itself, in any context.
fn is_piece(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Value
            | Kind::Word
            | Kind::Caret
            | Kind::Int
            | Kind::Hex
            | Kind::Float
            | Kind::Str
            | Kind::Hash
            | Kind::HashBody
            | Kind::Bang
            | Kind::BangBody
            | Kind::Comma
            | Kind::Colon
            | Kind::Eq
            | Kind::Arrow
            | Kind::Minus
            | Kind::Plus
            | Kind::Question
            | Kind::Star
            | Kind::Bar
    )
}
