//! Attributes other than dense tensors.

use super::{AliasValue, Lower, errors};
use crate::diag::Span;
use crate::ir::{AttrId, AttrKind, Blob, FloatKind, KnownType, Signedness, StrId, TypeId, TypeKind};
use crate::syntax::ast::{self, Number};
use crate::syntax::token::{Kind, Tok};

/// A number in the format of its type.
pub(super) enum Value {
    Int(i64),
    WideInt(String),
    /// The bits in the float's own format.
    Float(u64),
    WideFloat(String),
}

impl Lower<'_> {
    /// An attribute; `hint` is the type of a number that is written without one.
    pub(super) fn attr(&mut self, attr: &ast::Attr, hint: Option<TypeId>) -> Option<AttrId> {
        self.nested(attr.span, |lower| lower.attr_inside(attr, hint))
    }

    fn attr_inside(&mut self, attr: &ast::Attr, hint: Option<TypeId>) -> Option<AttrId> {
        match &attr.kind {
            ast::AttrKind::Number(number, ty) => {
                let ty = match ty {
                    Some(ty) => Some(self.ty(ty)?),
                    None => hint,
                };
                self.number_attr(*number, ty)
            }
            ast::AttrKind::Str(tok, ty) => {
                let ty = match ty {
                    Some(ty) => Some(self.ty(ty)?),
                    None => None,
                };
                self.string_attr(*tok, ty)
            }
            ast::AttrKind::Word(word) => self.word_attr(*word),
            ast::AttrKind::Hash(name, ty) => {
                let text = self.text(*name);
                if name.kind == Kind::Hash && !text.contains('.') {
                    if let Some(ty) = ty {
                        self.report(errors::expected(ty.span, "no type after an alias", "`:`"));
                        return None;
                    }
                    return match self.alias(*name)? {
                        AliasValue::Attr(attr) => Some(attr),
                        AliasValue::Type(ty) => Some(self.m.cx.type_attr(ty)),
                    };
                }
                let ty = match ty {
                    Some(ty) => Some(self.ty(ty)?),
                    None => None,
                };
                let text = self.m.cx.str_id(text.strip_prefix('#').unwrap_or(text));
                Some(self.m.cx.attr_id(AttrKind::Opaque { text, ty }))
            }
            ast::AttrKind::Symbol(path) => self.symbol(path),
            ast::AttrKind::Array(elems) => {
                let mut ids = Vec::with_capacity(elems.len());
                let mut good = true;
                for elem in elems {
                    match self.attr(elem, None) {
                        Some(id) => ids.push(id),
                        None => good = false,
                    }
                }
                good.then(|| self.m.cx.array_attr(&ids))
            }
            ast::AttrKind::Dict(entries) => {
                let entries = self.entries(entries)?;
                Some(self.m.cx.dict_attr(&entries))
            }
            ast::AttrKind::DenseArray(array) => self.dense_array(array),
            ast::AttrKind::Dense(body, ty) => self.dense(attr.span, body.as_deref(), ty),
            ast::AttrKind::Typed(tok, ty) => {
                let ty = self.ty(ty)?;
                let text = self.text(*tok);
                let body = text.split_once('<').map_or("", |(_, b)| b).strip_suffix('>').unwrap_or("");
                let body = self.m.cx.str_id(&one_line(body));
                let kind = if tok.kind == Kind::Sparse {
                    AttrKind::Sparse { ty, body }
                } else {
                    AttrKind::DenseResource { ty, key: body }
                };
                Some(self.m.cx.attr_id(kind))
            }
            ast::AttrKind::Verbatim(tok) => {
                let text = one_line(self.text(*tok));
                let text = self.m.cx.str_id(&text);
                Some(self.m.cx.attr_id(AttrKind::Verbatim(text)))
            }
            ast::AttrKind::Distinct(id, of) => {
                let text = self.text(*id);
                let Ok(id_value) = text.parse() else {
                    self.report(errors::count_range(id.span(), text, "a number (64 bits)"));
                    return None;
                };
                let of = match of {
                    Some(of) => self.attr(of, None)?,
                    None => self.m.cx.attr_id(AttrKind::Unit),
                };
                Some(self.m.cx.attr_id(AttrKind::Distinct { id: id_value, of }))
            }
            ast::AttrKind::Type(ty) => {
                let id = match (&ty.kind, attr.span) {
                    // `!a` may be the alias of a type only.
                    (ast::TypeKind::Bang(name), _) => self.bang(*name)?,
                    _ => self.ty(ty)?,
                };
                Some(self.m.cx.type_attr(id))
            }
            ast::AttrKind::Loc(loc) => {
                let loc = self.loc(loc)?;
                Some(self.m.cx.attr_id(AttrKind::Loc(loc)))
            }
        }
    }

    /// The entries of a dictionary, in source order; duplicates are reported.
    pub(super) fn entries(&mut self, entries: &[ast::Entry]) -> Option<Vec<(StrId, AttrId)>> {
        let mut out: Vec<(StrId, AttrId)> = Vec::with_capacity(entries.len());
        let mut seen = rustc_hash::FxHashSet::default();
        let mut good = true;
        for entry in entries {
            let Some(name) = self.entry_name(entry.name) else {
                good = false;
                continue;
            };
            let value = match &entry.value {
                Some(value) => self.attr(value, None),
                None => Some(self.m.cx.attr_id(AttrKind::Unit)),
            };
            if !seen.insert(name) {
                let text = self.m.cx.str(name).to_owned();
                self.report(errors::duplicate_attr(entry.name.span(), &text));
                good = false;
            }
            match value {
                Some(value) => out.push((name, value)),
                None => good = false,
            }
        }
        good.then_some(out)
    }

    pub(super) fn word_attr(&mut self, word: Tok) -> Option<AttrId> {
        let text = self.text(word);
        match text {
            "true" => return Some(self.m.cx.bool_attr(true)),
            "false" => return Some(self.m.cx.bool_attr(false)),
            "unit" => return Some(self.m.cx.attr_id(AttrKind::Unit)),
            _ => {}
        }
        match self.type_of_word(text) {
            Some(Ok(ty)) => Some(self.m.cx.type_attr(ty)),
            Some(Err(why)) => {
                self.report(errors::bad_type(word.span(), why));
                None
            }
            None => {
                self.report(errors::unknown_attr(word.span(), text));
                None
            }
        }
    }

    pub(super) fn string_attr(&mut self, tok: Tok, ty: Option<TypeId>) -> Option<AttrId> {
        let text = self.text(tok);
        if let Some(plain) = text.strip_prefix('"').and_then(|t| t.strip_suffix('"'))
            && !plain.contains('\\')
        {
            let text = self.m.cx.str_id(plain);
            return Some(self.m.cx.attr_id(AttrKind::Str { text, ty }));
        }
        let bytes = self.unquote(tok)?;
        let kind = match String::from_utf8(bytes) {
            Ok(text) => AttrKind::Str { text: self.m.cx.str_id(&text), ty },
            Err(not_text) if ty.is_none() => AttrKind::Bytes(not_text.into_bytes().into()),
            Err(_) => {
                self.report(errors::bad_escape(tok.span()));
                return None;
            }
        };
        Some(self.m.cx.attr_id(kind))
    }

    pub(super) fn symbol(&mut self, path: &[Tok]) -> Option<AttrId> {
        let mut parts = Vec::with_capacity(path.len());
        for tok in path {
            parts.push(self.symbol_id(*tok)?);
        }
        let (root, nested) = parts.split_first()?;
        Some(self.m.cx.attr_id(AttrKind::Symbol { root: *root, nested: nested.into() }))
    }

    pub(super) fn number_attr(&mut self, number: Number, ty: Option<TypeId>) -> Option<AttrId> {
        let ty = ty.unwrap_or(match number.tok.kind {
            Kind::Float => KnownType::F64.id(),
            _ => KnownType::I64.id(),
        });
        let kind = match self.number(number, ty)? {
            Value::Int(value) => return Some(self.m.cx.int_attr(ty, value)),
            Value::WideInt(text) => AttrKind::WideInt { ty, text: self.m.cx.str_id(&text) },
            Value::Float(bits) => AttrKind::Float { ty, bits },
            Value::WideFloat(text) => AttrKind::WideFloat { ty, text: self.m.cx.str_id(&text) },
        };
        Some(self.m.cx.attr_id(kind))
    }

    /// The span of a number with its sign.
    pub(super) fn number_span(number: Number) -> Span {
        let span = number.tok.span();
        Span { start: span.start.saturating_sub(u32::from(number.negative)), ..span }
    }

    /// Reads a number as a value of `ty`.
    pub(super) fn number(&mut self, number: Number, ty: TypeId) -> Option<Value> {
        let digits = self.text(number.tok);
        let span = Self::number_span(number);
        let kind = self.m.cx.ty(ty).clone();
        match (kind, number.tok.kind) {
            (TypeKind::Integer { .. } | TypeKind::Index, Kind::Float) => {
                let ty = crate::print::type_text(&self.m.cx, ty);
                self.report(errors::number_type(span, "a number with a point", &ty));
                None
            }
            (TypeKind::Integer { width, .. }, _) if width > 64 => {
                // Wider than a digit per three bits cannot fit.
                let fits = match digits.strip_prefix("0x") {
                    Some(hex) => hex.trim_start_matches('0').len() as u64 * 4 <= u64::from(width) + 3,
                    None => digits.trim_start_matches('0').len() as u64 * 3 <= u64::from(width) + 2,
                };
                if !fits {
                    return self.range_error(span, ty);
                }
                let shown = match digits.strip_prefix("0x") {
                    Some(hex) => format!("0x{}", hex.trim_start_matches('0').to_ascii_uppercase()),
                    None => digits.trim_start_matches('0').to_owned(),
                };
                let zero = shown.is_empty() || shown == "0x";
                let sign = if number.negative && !zero { "-" } else { "" };
                Some(Value::WideInt(if zero { "0".into() } else { format!("{sign}{shown}") }))
            }
            (TypeKind::Integer { width, sign }, _) => {
                self.int(digits, number.negative, width, sign, span, ty)
            }
            (TypeKind::Index, _) => self.int(digits, number.negative, 64, Signedness::Signless, span, ty),
            (TypeKind::Float(float), _) => self.float(digits, number, float, span, ty),
            _ => {
                let ty = crate::print::type_text(&self.m.cx, ty);
                self.report(errors::number_type(span, "a number", &ty));
                None
            }
        }
    }

    fn range_error(&mut self, span: Span, ty: TypeId) -> Option<Value> {
        let ty = crate::print::type_text(&self.m.cx, ty);
        let text = self.span_text(span);
        self.report(errors::number_range(span, text, &ty));
        None
    }

    fn int(
        &mut self,
        digits: &str,
        negative: bool,
        width: u32,
        sign: Signedness,
        span: Span,
        ty: TypeId,
    ) -> Option<Value> {
        let magnitude = match digits.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16),
            None => digits.parse::<u64>(),
        };
        let Ok(magnitude) = magnitude else { return self.range_error(span, ty) };
        let signed_limit = 1u128 << (width - 1);
        let limit = match (sign, negative) {
            (Signedness::Unsigned, true) => 0,
            (Signedness::Signed, false) => signed_limit - 1,
            (Signedness::Signless, false) | (Signedness::Unsigned, false) => (1u128 << width) - 1,
            (Signedness::Signed | Signedness::Signless, true) => signed_limit,
        };
        // `-1 : i1` is MLIR's other spelling of true.
        if u128::from(magnitude) > limit {
            return self.range_error(span, ty);
        }
        Some(Value::Int(if negative { (magnitude as i64).wrapping_neg() } else { magnitude as i64 }))
    }

    fn float(
        &mut self,
        digits: &str,
        number: Number,
        float: FloatKind,
        span: Span,
        ty: TypeId,
    ) -> Option<Value> {
        let sign = if number.negative { "-" } else { "" };
        if let Some(hex) = digits.strip_prefix("0x") {
            // The bits themselves.
            let bits = hex.trim_start_matches('0');
            if number.negative || bits.len() as u32 * 4 > float.bits().next_multiple_of(4) {
                return self.range_error(span, ty);
            }
            if !float.has_bits() {
                return Some(Value::WideFloat(format!("0x{}", hex.to_ascii_uppercase())));
            }
            return match u64::from_str_radix(if bits.is_empty() { "0" } else { bits }, 16) {
                Ok(bits) => Some(Value::Float(bits)),
                Err(_) => self.range_error(span, ty),
            };
        }
        if number.tok.kind == Kind::Int {
            let ty = crate::print::type_text(&self.m.cx, ty);
            self.report(
                errors::number_type(span, "an integer", &ty).help(format!("write `{sign}{digits}.0`")),
            );
            return None;
        }
        if !float.has_bits() {
            return Some(Value::WideFloat(format!("{sign}{digits}")));
        }
        // As upstream: to f64 first, then to the type.
        let Ok(value) = digits.parse::<f64>() else { return self.range_error(span, ty) };
        let value = if number.negative { -value } else { value };
        let (bits, finite) = match float {
            FloatKind::F64 => (value.to_bits(), value.is_finite()),
            FloatKind::F32 => (u64::from((value as f32).to_bits()), (value as f32).is_finite()),
            FloatKind::F16 => {
                let half = half::f16::from_f64(value);
                (u64::from(half.to_bits()), half.is_finite())
            }
            _ => {
                let half = half::bf16::from_f64(value);
                (u64::from(half.to_bits()), half.is_finite())
            }
        };
        if !finite {
            return self.range_error(span, ty);
        }
        Some(Value::Float(bits))
    }

    fn dense_array(&mut self, array: &ast::DenseArray) -> Option<AttrId> {
        let ast::DenseArray { elem, numbers, words } = array;
        let span = elem.span;
        let elem = self.ty(elem)?;
        let bytes = match self.m.cx.ty(elem) {
            TypeKind::Integer { width: 1, .. } => 1,
            TypeKind::Integer { width, .. } if width % 8 == 0 && *width <= 64 => *width as usize / 8,
            TypeKind::Float(float) if float.has_bits() => float.bits() as usize / 8,
            _ => {
                self.report(errors::bad_type(span, "array<...> holds i1, integers of whole bytes or floats"));
                return None;
            }
        };
        let mut data = Vec::with_capacity(bytes * (numbers.len() + words.len()));
        if !words.is_empty() && !numbers.is_empty() {
            self.report(errors::dense(span, "numbers and words cannot be mixed in array<...>"));
            return None;
        }
        for number in numbers {
            let bits = match self.number(*number, elem)? {
                Value::Int(value) => value as u64,
                Value::Float(bits) => bits,
                Value::WideInt(_) | Value::WideFloat(_) => return None,
            };
            let bits = if bytes == 1 && elem == KnownType::I1.id() { bits & 1 } else { bits };
            data.extend_from_slice(&bits.to_le_bytes()[..bytes]);
        }
        for word in words {
            match self.text(*word) {
                "true" if elem == KnownType::I1.id() => data.push(1),
                "false" if elem == KnownType::I1.id() => data.push(0),
                other => {
                    self.report(errors::unknown_attr(word.span(), other));
                    return None;
                }
            }
        }
        Some(self.m.cx.attr_id(AttrKind::DenseArray { elem, data: Blob(data.into()) }))
    }
}

/// Runs of white space become one blank, except in strings.
pub(super) fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut quoted, mut escaped) = (false, false);
    for c in text.chars() {
        if !quoted && c.is_whitespace() {
            if !out.ends_with(' ') {
                out.push(' ');
            }
            continue;
        }
        if c == '"' && !escaped {
            quoted = !quoted;
        }
        escaped = quoted && c == '\\' && !escaped;
        out.push(c);
    }
    out
}
