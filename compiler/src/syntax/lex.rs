//! The lexer: text to tokens.
//!
//! logos makes the plain tokens. Three constructs of MLIR are not regular and are lexed by hand: dimension
//! lists (`2x?xf32` after `tensor<`), bodies of dialect types and attributes (`!d.t<...>`: anything, with
//! brackets balanced), and attributes with a little language of their own (`affine_map<...>`), which become
//! one token each. A word that opens a builtin type or attribute (`tensor<`, `dense<`, `loc(`) is its own
//! kind of token only if the bracket follows at once; elsewhere it is an ordinary word, so that it may name
//! an attribute.
//!
//! Tokens are 12 bytes and refer to the text by position: a string of 600 MB is one token. Bad characters are
//! reported and skipped.

use super::errors;
use super::token::{Kind, Mark, Tok};
use crate::diag::{Diagnostic, Span};
use logos::Logos;

/// The greatest nesting depth of brackets.
pub(super) const MAX_DEPTH: usize = 256;
/// Maximum number of bad characters that are reported.
const MAX_BAD: usize = 50;

#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
#[logos(skip r"[ \t\r]+")]
enum Raw {
    #[token("\n")]
    Newline,
    #[regex(r"[A-Za-z_][A-Za-z0-9_$.]*")]
    Word,
    #[regex(r"%([0-9]+|[A-Za-z$._-][A-Za-z0-9$._-]*)(#[0-9]+)?")]
    Value,
    #[regex(r"\^([0-9]+|[A-Za-z$._-][A-Za-z0-9$._-]*)")]
    Caret,
    #[regex(r#"@([A-Za-z_][A-Za-z0-9_$.]*|"([^"\\\n]|\\[^\n])*")"#)]
    At,
    #[regex(r"#([0-9]+|[A-Za-z$._-][A-Za-z0-9$._-]*)")]
    Hash,
    #[regex(r"![A-Za-z$._-][A-Za-z0-9$._-]*")]
    Bang,
    #[regex(r"[0-9]+")]
    Int,
    #[regex(r"0x[0-9a-fA-F]+")]
    Hex,
    #[regex(r"[0-9]+\.[0-9]*([eE][-+]?[0-9]+)?")]
    Float,
    #[regex(r#""([^"\\\n]|\\[^\n])*""#)]
    Str,
    #[token("(")]
    LParen,
    #[token(")")]
    RParen,
    #[token("{")]
    LBrace,
    #[token("}")]
    RBrace,
    #[token("[")]
    LBracket,
    #[token("]")]
    RBracket,
    #[token("<")]
    LAngle,
    #[token(">")]
    RAngle,
    #[token(",")]
    Comma,
    #[token(":")]
    Colon,
    #[token("::")]
    ColonColon,
    #[token("=")]
    Eq,
    #[token("->")]
    Arrow,
    #[token("-")]
    Minus,
    #[token("+")]
    Plus,
    #[token("?")]
    Question,
    #[token("*")]
    Star,
    #[token("|")]
    Bar,
    #[token("{-#")]
    Resource,
}

/// All tokens of `text`; reports errors. `text` must be shorter than 4 GiB.
pub(super) fn lex(text: &str, diags: &mut Vec<Diagnostic>) -> Vec<Tok> {
    let mut lexer =
        Lexer { text, out: Vec::with_capacity(text.len().min(1 << 28) / 4), newline: true, diags, n_bad: 0 };
    lexer.run();
    lexer.out
}

struct Lexer<'a> {
    text: &'a str,
    out: Vec<Tok>,
    /// The next token is the first of its line.
    newline: bool,
    diags: &'a mut Vec<Diagnostic>,
    n_bad: usize,
}

impl Lexer<'_> {
    fn push(&mut self, kind: Kind, start: usize, end: usize) {
        let mark = if self.newline { Mark::Line } else { Mark::Nothing };
        self.out.push(Tok { kind, mark, start: start as u32, end: end as u32 });
        self.newline = false;
    }

    fn bad(&mut self, start: usize, end: usize) {
        self.n_bad += 1;
        if self.n_bad > MAX_BAD {
            return;
        }
        let span = Span::new(start as u32, end as u32);
        let rest = &self.text.as_bytes()[start..];
        self.diags.push(match rest.first() {
            Some(b'"') => errors::unclosed_string(span),
            Some(b'@') => errors::bad_symbol_name(span),
            Some(b'%' | b'^' | b'#' | b'!') => errors::missing_name(span, char::from(rest[0])),
            _ => errors::bad_character(span, self.text[start..].chars().next().unwrap_or('\0')),
        });
    }

    fn run(&mut self) {
        let text = self.text;
        let bytes = text.as_bytes();
        let mut raw = Raw::lexer(text);
        while let Some(token) = raw.next() {
            let (start, end) = (raw.span().start, raw.span().end);
            let next = bytes.get(end).copied();
            let kind = match token {
                Err(()) => {
                    self.bad(start, end);
                    // The rest of the line belongs to an unclosed quote.
                    if matches!(bytes.get(start), Some(b'"')) {
                        let rest = &bytes[end..];
                        raw.bump(rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len()));
                    }
                    continue;
                }
                Ok(Raw::Newline) => {
                    self.newline = true;
                    continue;
                }
                Ok(Raw::Word) if matches!(next, Some(b'<' | b'(' | b'[')) => {
                    let kind = opener(&text[start..end], next);
                    match kind {
                        Kind::Tensor | Kind::Vector | Kind::MemRef => {
                            self.push(kind, start, end);
                            self.push(Kind::LAngle, end, end + 1);
                            let after = self.dims(end + 1);
                            raw.bump(after - end);
                            continue;
                        }
                        Kind::Verbatim => {
                            match body_end(bytes, end) {
                                Ok(after) => {
                                    self.push(kind, start, after);
                                    raw.bump(after - end);
                                }
                                Err(why) => self.bad_body(&mut raw, start, end, why),
                            }
                            continue;
                        }
                        _ => kind,
                    }
                }
                Ok(Raw::Word) if &text[start..end] == "to" && self.after_location() => Kind::To,
                Ok(Raw::Word) => Kind::Word,
                Ok(Raw::Hash | Raw::Bang) if next == Some(b'<') => {
                    let kind = if token == Ok(Raw::Hash) { Kind::HashBody } else { Kind::BangBody };
                    match body_end(bytes, end) {
                        Ok(after) => {
                            self.push(kind, start, after);
                            raw.bump(after - end);
                        }
                        Err(why) => self.bad_body(&mut raw, start, end, why),
                    }
                    continue;
                }
                Ok(Raw::Resource) => {
                    let rest = &text[end..];
                    match resource_end(rest) {
                        Some(n) => {
                            self.push(Kind::Resource, start, end + n + 3);
                            raw.bump(n + 3);
                        }
                        None => {
                            self.diags.push(errors::unclosed_resource(Span::new(start as u32, end as u32)));
                            raw.bump(rest.len());
                        }
                    }
                    continue;
                }
                Ok(Raw::Value) => Kind::Value,
                Ok(Raw::Caret) => Kind::Caret,
                Ok(Raw::At) => Kind::At,
                Ok(Raw::Hash) => Kind::Hash,
                Ok(Raw::Bang) => Kind::Bang,
                Ok(Raw::Int) => Kind::Int,
                Ok(Raw::Hex) => Kind::Hex,
                Ok(Raw::Float) => Kind::Float,
                Ok(Raw::Str) => Kind::Str,
                Ok(Raw::LParen) => Kind::LParen,
                Ok(Raw::RParen) => Kind::RParen,
                Ok(Raw::LBrace) => Kind::LBrace,
                Ok(Raw::RBrace) => Kind::RBrace,
                Ok(Raw::LBracket) => Kind::LBracket,
                Ok(Raw::RBracket) => Kind::RBracket,
                Ok(Raw::LAngle) => Kind::LAngle,
                Ok(Raw::RAngle) => Kind::RAngle,
                Ok(Raw::Comma) => Kind::Comma,
                Ok(Raw::Colon) => Kind::Colon,
                Ok(Raw::ColonColon) => Kind::ColonColon,
                Ok(Raw::Eq) => Kind::Eq,
                Ok(Raw::Arrow) => Kind::Arrow,
                Ok(Raw::Minus) => Kind::Minus,
                Ok(Raw::Plus) => Kind::Plus,
                Ok(Raw::Question) => Kind::Question,
                Ok(Raw::Star) => Kind::Star,
                Ok(Raw::Bar) => Kind::Bar,
            };
            self.push(kind, start, end);
        }
    }

    /// True if the last tokens were `"file":1:2`.
    fn after_location(&self) -> bool {
        let kinds = [Kind::Str, Kind::Colon, Kind::Int, Kind::Colon, Kind::Int];
        self.out.len() >= kinds.len()
            && self.out[self.out.len() - kinds.len()..].iter().map(|t| t.kind).eq(kinds)
    }

    fn bad_body(&mut self, raw: &mut logos::Lexer<'_, Raw>, start: usize, end: usize, why: BadBody) {
        let span = Span::new(start as u32, end as u32 + 1);
        self.diags.push(match why {
            BadBody::Unclosed => errors::unclosed_body(span),
            BadBody::TooDeep => errors::too_deep(span, MAX_DEPTH),
        });
        let rest = &self.text.as_bytes()[end..];
        let skip = match why {
            BadBody::Unclosed => rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len()),
            BadBody::TooDeep => rest.len(),
        };
        raw.bump(skip);
    }

    /// Tokens for `2x?x[4]x` from `at` on; returns the beginning of the element type.
    fn dims(&mut self, mut at: usize) -> usize {
        let bytes = self.text.as_bytes();
        let blank = |mut at: usize| {
            while matches!(bytes.get(at), Some(b' ' | b'\t')) {
                at += 1;
            }
            at
        };
        loop {
            let start = blank(at);
            let digits = |from: usize| from + bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
            let (kind, end) = match bytes.get(start) {
                Some(b'?') => (Kind::DimDynamic, start + 1),
                Some(b'*') => (Kind::DimUnranked, start + 1),
                Some(b'0'..=b'9') => (Kind::DimStatic, digits(start)),
                Some(b'[') => {
                    let end = digits(start + 1);
                    if end == start + 1 || bytes.get(end) != Some(&b']') {
                        return at;
                    }
                    (Kind::DimScalable, end + 1)
                }
                _ => return start,
            };
            let x = blank(end);
            if bytes.get(x) != Some(&b'x') {
                return at;
            }
            self.push(kind, start, end);
            at = x + 1;
        }
    }
}

/// The kind of a word right before `<`, `(` or `[`.
fn opener(word: &str, next: Option<u8>) -> Kind {
    match (word, next) {
        ("tensor", Some(b'<')) => Kind::Tensor,
        ("vector", Some(b'<')) => Kind::Vector,
        ("memref", Some(b'<')) => Kind::MemRef,
        ("complex", Some(b'<')) => Kind::Complex,
        ("tuple", Some(b'<')) => Kind::Tuple,
        ("dense", Some(b'<')) => Kind::Dense,
        ("array", Some(b'<')) => Kind::Array,
        ("sparse", Some(b'<')) => Kind::Sparse,
        ("dense_resource", Some(b'<')) => Kind::DenseResource,
        ("affine_map" | "affine_set" | "strided", Some(b'<')) => Kind::Verbatim,
        ("distinct", Some(b'[')) => Kind::Distinct,
        ("loc", Some(b'(')) => Kind::Loc,
        _ => Kind::Word,
    }
}

/// The position of the `#-}` that closes a resource section, outside of strings.
fn resource_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        at += bytes[at..].iter().position(|b| matches!(b, b'"' | b'#'))?;
        if bytes[at..].starts_with(b"#-}") {
            return Some(at);
        }
        if bytes[at] == b'"' {
            at += 1;
            loop {
                at += bytes.get(at..)?.iter().position(|b| matches!(b, b'"' | b'\\'))?;
                if bytes[at] == b'"' {
                    break;
                }
                at += 2;
            }
        }
        at += 1;
    }
}

#[derive(Clone, Copy)]
enum BadBody {
    Unclosed,
    TooDeep,
}

/// The position after the `>` that closes the `<` at `open`. Brackets of all kinds must balance; strings,
/// `->`, `>=` and `<=` do not count.
fn body_end(bytes: &[u8], open: usize) -> Result<usize, BadBody> {
    let mut stack: Vec<u8> = Vec::new();
    let mut at = open;
    while let Some(&b) = bytes.get(at) {
        let next = bytes.get(at + 1).copied();
        match b {
            b'-' if next == Some(b'>') => at += 1,
            b'<' | b'>' if next == Some(b'=') => at += 1,
            b'<' => stack.push(b'>'),
            b'(' => stack.push(b')'),
            b'[' => stack.push(b']'),
            b'{' => stack.push(b'}'),
            b'>' | b')' | b']' | b'}' => {
                if stack.pop() != Some(b) {
                    return Err(BadBody::Unclosed);
                }
                if stack.is_empty() {
                    return Ok(at + 1);
                }
            }
            b'"' => loop {
                at += 1;
                match bytes.get(at) {
                    None | Some(b'\n') => return Err(BadBody::Unclosed),
                    Some(b'\\') => at += 1,
                    Some(b'"') => break,
                    Some(_) => {}
                }
            },
            0 => return Err(BadBody::Unclosed),
            _ => {}
        }
        if stack.len() > MAX_DEPTH {
            return Err(BadBody::TooDeep);
        }
        at += 1;
    }
    Err(BadBody::Unclosed)
}
