//! The little languages inside one token: `affine_map<...>`, `affine_set<...>`, `strided<...>`.
//!
//! The lexer has found the end of the token and checked that its brackets balance (at most 256 deep). A small
//! recursive descent parser reads the contents, one function for each level of precedence. An expression has
//! at most [`MAX_OPS`] operations, which bounds every later recursion over it.

use super::{Lower, errors};
use crate::diag::Span;
use crate::ir::{AffineExpr, AffineId, AffineMap, AffineOp, AttrId, AttrKind, DYNAMIC, IntegerSet};
use crate::syntax::token::Tok;
use rustc_hash::FxHashMap;

/// Maximum number of operations in one affine expression.
const MAX_OPS: usize = 500;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Lexeme<'a> {
    Word(&'a str),
    Number(&'a str),
    /// One of `( ) [ ] < > , : + - * ? -> >= <= ==`.
    Sign(&'a str),
    /// An invalid character.
    Other(&'a str),
    End,
}

/// Parser of the contents of one token.
struct TokenParser<'a> {
    text: &'a str,
    /// The position of `text` in the source.
    start: u32,
    at: usize,
    next: Lexeme<'a>,
    /// The position of `next` in `text`.
    next_at: usize,
    /// Names of dimensions and symbols.
    names: FxHashMap<&'a str, AffineExpr>,
    dims: u32,
    symbols: u32,
    /// Number of operations of the current expression.
    n_ops: usize,
}

impl<'a> TokenParser<'a> {
    fn new(text: &'a str, start: u32) -> Self {
        let mut body = TokenParser {
            text,
            start,
            at: 0,
            next: Lexeme::End,
            next_at: 0,
            names: FxHashMap::default(),
            dims: 0,
            symbols: 0,
            n_ops: 0,
        };
        body.advance();
        body
    }

    fn advance(&mut self) -> Lexeme<'a> {
        let before = self.next;
        let bytes = self.text.as_bytes();
        loop {
            let rest = &bytes[self.at..];
            self.at += rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
            if !bytes[self.at..].starts_with(b"//") {
                break;
            }
            self.at += bytes[self.at..].iter().take_while(|b| **b != b'\n').count();
        }
        self.next_at = self.at;
        let rest = &self.text[self.at..];
        let run = |ok: fn(u8) -> bool| rest.bytes().take_while(|b| ok(*b)).count();
        let (n, make): (usize, fn(&'a str) -> Lexeme<'a>) = match rest.as_bytes() {
            [] => (0, |_| Lexeme::End),
            [b'A'..=b'Z' | b'a'..=b'z' | b'_', ..] => {
                (run(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.')), Lexeme::Word)
            }
            [b'0', b'x', digit, ..] if digit.is_ascii_hexdigit() => {
                (2 + rest.bytes().skip(2).take_while(u8::is_ascii_hexdigit).count(), Lexeme::Number)
            }
            [b'0'..=b'9', ..] => (run(|b| b.is_ascii_digit()), Lexeme::Number),
            [b'-', b'>', ..] | [b'>' | b'<' | b'=', b'=', ..] => (2, Lexeme::Sign),
            [b'(' | b')' | b'[' | b']' | b'<' | b'>' | b',' | b':' | b'+' | b'-' | b'*' | b'?', ..] => {
                (1, Lexeme::Sign)
            }
            _ => (rest.chars().next().map_or(0, char::len_utf8), Lexeme::Other),
        };
        self.at += n;
        self.next = make(&rest[..n]);
        before
    }

    /// The span of the next lexeme.
    fn span(&self) -> Span {
        let last = self.text.len().saturating_sub(1);
        let (start, end) =
            if self.next == Lexeme::End { (last, self.text.len()) } else { (self.next_at, self.at) };
        Span::new(self.start + start as u32, self.start + end as u32)
    }

    fn is(&self, sign: &str) -> bool {
        self.next == Lexeme::Sign(sign)
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = self.is(sign);
        if found {
            self.advance();
        }
        found
    }
}

impl Lower<'_> {
    /// `affine_map<...>`, `affine_set<...>` or `strided<...>`.
    pub(super) fn affine_or_strided(&mut self, tok: Tok) -> Option<AttrId> {
        let mut body = TokenParser::new(self.text(tok), tok.start);
        let word = body.advance();
        self.sign(&mut body, "<")?;
        let kind = match word {
            Lexeme::Word("affine_map") => self.affine_map(&mut body)?,
            Lexeme::Word("affine_set") => self.affine_set(&mut body)?,
            _ => self.strided(&mut body)?,
        };
        self.sign(&mut body, ">")?;
        Some(self.m.cx.attr_id(kind))
    }

    fn wanted<T>(&mut self, body: &TokenParser<'_>, what: &str) -> Option<T> {
        let found = match body.next {
            Lexeme::Word(t) | Lexeme::Number(t) | Lexeme::Sign(t) | Lexeme::Other(t) => {
                format!("`{}`", errors::shorten(t))
            }
            Lexeme::End => "its end".to_owned(),
        };
        self.report(errors::expected(body.span(), what, &found));
        None
    }

    fn sign(&mut self, body: &mut TokenParser<'_>, sign: &str) -> Option<()> {
        if body.take(sign) { Some(()) } else { self.wanted(body, &format!("`{sign}`")) }
    }

    /// `a, b, c` up to and including `close`.
    fn affine_list<T>(
        &mut self,
        body: &mut TokenParser<'_>,
        close: &str,
        mut element: impl FnMut(&mut Self, &mut TokenParser<'_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let mut list = Vec::new();
        if body.take(close) {
            return Some(list);
        }
        loop {
            list.push(element(self, body)?);
            if !body.take(",") {
                self.sign(body, close)?;
                return Some(list);
            }
        }
    }

    /// `(d0, d1)[s0]`.
    fn variables(&mut self, body: &mut TokenParser<'_>) -> Option<()> {
        self.sign(body, "(")?;
        self.affine_list(body, ")", |lower, body| {
            body.dims += 1;
            let variable = AffineExpr::Dim(body.dims - 1);
            lower.variable(body, variable)
        })?;
        if body.take("[") {
            self.affine_list(body, "]", |lower, body| {
                body.symbols += 1;
                let variable = AffineExpr::Symbol(body.symbols - 1);
                lower.variable(body, variable)
            })?;
        }
        Some(())
    }

    fn variable(&mut self, body: &mut TokenParser<'_>, variable: AffineExpr) -> Option<()> {
        let Lexeme::Word(name) = body.next else {
            return self.wanted(body, "the name of a dimension or symbol");
        };
        if body.names.insert(name, variable).is_some() {
            self.report(errors::affine(
                body.span(),
                format!("`{}` is declared twice", errors::shorten(name)),
            ));
            return None;
        }
        body.advance();
        Some(())
    }

    fn affine_map(&mut self, body: &mut TokenParser<'_>) -> Option<AttrKind> {
        self.variables(body)?;
        if body.is(":") {
            self.report(
                errors::expected(body.span(), "`->`", "`:`")
                    .help("constraints are those of `affine_set<...>`"),
            );
            return None;
        }
        self.sign(body, "->")?;
        self.sign(body, "(")?;
        let results = self.affine_list(body, ")", Self::affine_expr)?;
        Some(AttrKind::AffineMap(Box::new(AffineMap {
            dims: body.dims,
            symbols: body.symbols,
            results: results.into(),
        })))
    }

    fn affine_set(&mut self, body: &mut TokenParser<'_>) -> Option<AttrKind> {
        self.variables(body)?;
        if body.is("->") {
            self.report(
                errors::expected(body.span(), "`:`", "`->`").help("results are those of `affine_map<...>`"),
            );
            return None;
        }
        self.sign(body, ":")?;
        self.sign(body, "(")?;
        let mut constraints = self.affine_list(body, ")", Self::constraint)?;
        if constraints.is_empty() {
            // The set of all points, in upstream's form.
            constraints.push((self.m.cx.affine_leaf(AffineExpr::Constant(0)), true));
        }
        Some(AttrKind::IntegerSet(Box::new(IntegerSet {
            dims: body.dims,
            symbols: body.symbols,
            constraints: constraints.into(),
        })))
    }

    /// `a >= b`, `a <= b`, `a == b`.
    fn constraint(&mut self, body: &mut TokenParser<'_>) -> Option<(AffineId, bool)> {
        let left = self.affine_expr(body)?;
        let sign = body.next;
        if !matches!(sign, Lexeme::Sign(">=" | "<=" | "==")) {
            return self.wanted(body, "`>=`, `<=` or `==`");
        }
        body.advance();
        let right = self.affine_expr(body)?;
        let (more, less) = if sign == Lexeme::Sign("<=") { (right, left) } else { (left, right) };
        Some((self.difference(more, less), sign == Lexeme::Sign("==")))
    }

    fn difference(&mut self, a: AffineId, b: AffineId) -> AffineId {
        let minus_one = self.m.cx.affine_leaf(AffineExpr::Constant(-1));
        let b = self.m.cx.affine(AffineOp::Mul, b, minus_one);
        self.m.cx.affine(AffineOp::Add, a, b)
    }

    fn affine_expr(&mut self, body: &mut TokenParser<'_>) -> Option<AffineId> {
        body.n_ops = 0;
        self.affine_sum(body)
    }

    fn count_op(&mut self, body: &mut TokenParser<'_>) -> Option<()> {
        body.n_ops += 1;
        if body.n_ops > MAX_OPS {
            self.report(errors::affine(
                body.span(),
                format!("an affine expression has at most {MAX_OPS} operations"),
            ));
            return None;
        }
        Some(())
    }

    fn affine_sum(&mut self, body: &mut TokenParser<'_>) -> Option<AffineId> {
        let mut sum = self.affine_product(body)?;
        loop {
            let minus = match body.next {
                Lexeme::Sign("+") => false,
                Lexeme::Sign("-") => true,
                _ => return Some(sum),
            };
            self.count_op(body)?;
            body.advance();
            let right = self.affine_product(body)?;
            sum =
                if minus { self.difference(sum, right) } else { self.m.cx.affine(AffineOp::Add, sum, right) };
        }
    }

    fn affine_product(&mut self, body: &mut TokenParser<'_>) -> Option<AffineId> {
        let mut product = self.affine_operand(body)?;
        loop {
            let (op, name) = match body.next {
                Lexeme::Sign("*") => (AffineOp::Mul, "*"),
                Lexeme::Word("mod") => (AffineOp::Mod, "mod"),
                Lexeme::Word("floordiv") => (AffineOp::FloorDiv, "floordiv"),
                Lexeme::Word("ceildiv") => (AffineOp::CeilDiv, "ceildiv"),
                _ => return Some(product),
            };
            let span = body.span();
            self.count_op(body)?;
            body.advance();
            let right = self.affine_operand(body)?;
            let symbolic = self.m.cx.affine_is_symbolic(right)
                || op == AffineOp::Mul && self.m.cx.affine_is_symbolic(product);
            if !symbolic {
                let what = if op == AffineOp::Mul { "one operand" } else { "the right operand" };
                self.report(errors::affine(
                    span,
                    format!("{what} of `{name}` must be made of constants and symbols only"),
                ));
                return None;
            }
            product = self.m.cx.affine(op, product, right);
        }
    }

    fn affine_operand(&mut self, body: &mut TokenParser<'_>) -> Option<AffineId> {
        let mut negative = false;
        while body.is("-") {
            self.count_op(body)?;
            body.advance();
            negative = !negative;
        }
        let span = body.span();
        let operand = match body.next {
            Lexeme::Number(digits) => {
                body.advance();
                let magnitude = match digits.strip_prefix("0x") {
                    Some(hex) => u64::from_str_radix(hex, 16),
                    None => digits.parse(),
                };
                let value = match magnitude {
                    Ok(n) if n <= i64::MAX as u64 => Some(if negative { -(n as i64) } else { n as i64 }),
                    Ok(n) if negative && n == i64::MIN.unsigned_abs() => Some(i64::MIN),
                    _ => None,
                };
                let Some(value) = value else {
                    self.report(errors::count_range(span, digits, "a constant (64 bits)"));
                    return None;
                };
                return Some(self.m.cx.affine_leaf(AffineExpr::Constant(value)));
            }
            Lexeme::Word(name) => {
                let Some(variable) = body.names.get(name).copied() else {
                    self.report(errors::affine(
                        span,
                        format!("`{}` is no dimension or symbol of this map or set", errors::shorten(name)),
                    ));
                    return None;
                };
                body.advance();
                self.m.cx.affine_leaf(variable)
            }
            Lexeme::Sign("(") => {
                body.advance();
                let inner = self.affine_sum(body)?;
                self.sign(body, ")")?;
                inner
            }
            _ => return self.wanted(body, "an affine expression"),
        };
        if !negative {
            return Some(operand);
        }
        let minus_one = self.m.cx.affine_leaf(AffineExpr::Constant(-1));
        Some(self.m.cx.affine(AffineOp::Mul, operand, minus_one))
    }

    /// `[1, ?], offset: 2`.
    fn strided(&mut self, body: &mut TokenParser<'_>) -> Option<AttrKind> {
        self.sign(body, "[")?;
        let strides = self.affine_list(body, "]", |lower, body| {
            let span = body.span();
            let stride = lower.stride(body)?;
            if stride == 0 {
                lower.report(errors::affine(span, "a stride cannot be 0"));
                return None;
            }
            Some(stride)
        })?;
        let mut offset = 0;
        if body.take(",") {
            if body.next != Lexeme::Word("offset") {
                return self.wanted(body, "`offset`");
            }
            body.advance();
            self.sign(body, ":")?;
            offset = self.stride(body)?;
        }
        Some(AttrKind::Strided { strides: strides.into(), offset })
    }

    /// A number, or `?`.
    fn stride(&mut self, body: &mut TokenParser<'_>) -> Option<i64> {
        if body.take("?") {
            return Some(DYNAMIC);
        }
        let negative = body.take("-");
        let Lexeme::Number(digits) = body.next else { return self.wanted(body, "an integer or `?`") };
        let magnitude = match digits.strip_prefix("0x") {
            Some(hex) => i64::from_str_radix(hex, 16),
            None => digits.parse(),
        };
        let Ok(magnitude) = magnitude else {
            self.report(errors::count_range(body.span(), digits, "a stride (64 bits)"));
            return None;
        };
        body.advance();
        Some(if negative { -magnitude } else { magnitude })
    }
}
