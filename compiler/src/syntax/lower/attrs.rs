//! Attributes other than dense tensors.

use super::{AliasValue, Lower, errors};
use crate::ir::{AttrId, AttrKind, Blob, KnownType, Signedness, StrId, TypeId, TypeKind};
use crate::syntax::ast;
use crate::syntax::token::{Kind, Tok};

impl Lower<'_> {
    /// An attribute; `hint` is the type of a number without one.
    pub(super) fn attr(&mut self, attr: &ast::AttrSyntax, hint: Option<TypeId>) -> Option<AttrId> {
        self.nested(attr.span, |lower| lower.attr_inside(attr, hint))
    }

    fn attr_inside(&mut self, attr: &ast::AttrSyntax, hint: Option<TypeId>) -> Option<AttrId> {
        match &attr.kind {
            ast::AttrSyntaxKind::Number(number, ty) => {
                let ty = match ty {
                    Some(ty) => Some(self.ty(ty)?),
                    None => hint,
                };
                self.number_attr(*number, ty)
            }
            ast::AttrSyntaxKind::Str(tok, ty) => {
                let ty = match ty {
                    Some(ty) => Some(self.ty(ty)?),
                    None => None,
                };
                self.string_attr(*tok, ty)
            }
            ast::AttrSyntaxKind::Word(word) => self.word_attr(*word),
            ast::AttrSyntaxKind::Hash(name, ty) => {
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
                let text = Self::pretty_body(text.strip_prefix('#').unwrap_or(text));
                let text = self.m.cx.str_id(&text);
                Some(self.m.cx.attr_id(AttrKind::Opaque { text, ty }))
            }
            ast::AttrSyntaxKind::Symbol(path) => self.symbol(path),
            ast::AttrSyntaxKind::Array(elems) => {
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
            ast::AttrSyntaxKind::Dict(entries) => {
                let entries = self.entries(entries)?;
                Some(self.m.cx.dict_attr(&entries))
            }
            ast::AttrSyntaxKind::DenseArray(array) => self.dense_array(array),
            ast::AttrSyntaxKind::Dense(body, ty) => self.dense(attr.span, body.as_deref(), ty),
            ast::AttrSyntaxKind::Sparse(bodies, ty) => self.sparse(attr.span, bodies.as_deref(), ty),
            ast::AttrSyntaxKind::Resource(key, ty) => {
                let span = ty.span;
                let ty = self.ty(ty)?;
                if self.m.cx.ty(ty).shaped().is_none() {
                    self.report(errors::dense(
                        span,
                        "dense_resource<...> needs a tensor, vector or memref type",
                    ));
                    return None;
                }
                let key = self.text(*key);
                let key = self.m.cx.str_id(key);
                Some(self.m.cx.attr_id(AttrKind::DenseResource { ty, key }))
            }
            ast::AttrSyntaxKind::Verbatim(tok) => self.affine_or_strided(*tok),
            ast::AttrSyntaxKind::Distinct(id, of) => self.distinct(*id, of.as_deref()),
            ast::AttrSyntaxKind::Type(ty) => {
                let id = match (&ty.kind, attr.span) {
                    // `!a` may be the alias of a type only.
                    (ast::TypeSyntaxKind::Bang(name), _) => self.bang(*name)?,
                    _ => self.ty(ty)?,
                };
                Some(self.m.cx.type_attr(id))
            }
            ast::AttrSyntaxKind::Loc(loc) => {
                let loc = self.loc(loc)?;
                Some(self.m.cx.attr_id(AttrKind::Loc(loc)))
            }
        }
    }

    /// The entries of a dictionary, in source order; duplicates are reported.
    pub(super) fn entries(&mut self, entries: &[ast::DictEntry]) -> Option<Vec<(StrId, AttrId)>> {
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
            Err(not_text) => AttrKind::Bytes { bytes: not_text.into_bytes().into(), ty },
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

    fn dense_array(&mut self, array: &ast::DenseArray) -> Option<AttrId> {
        let ast::DenseArray { elem, numbers, words } = array;
        let span = elem.span;
        let elem = self.ty(elem)?;
        let why = match self.m.cx.ty(elem) {
            TypeKind::Integer { width: 1, sign: Signedness::Signless } | TypeKind::Index => None,
            TypeKind::Integer { width, .. } if width % 8 == 0 => None,
            TypeKind::Integer { .. } => Some("the elements of array<...> are i1, or integers of whole bytes"),
            TypeKind::Float(float) if float.bits() % 8 == 0 || float.bytes() == 4 => None,
            TypeKind::Float(_) => Some("the elements of array<...> are floats of whole bytes"),
            _ => Some("the elements of array<...> are integers or floats"),
        };
        if let Some(why) = why {
            self.report(errors::bad_type(span, why));
            return None;
        }
        let bytes = crate::print::element_size(&self.m.cx, elem);
        if !words.is_empty() && !numbers.is_empty() {
            self.report(errors::dense(span, "numbers and words cannot be mixed in array<...>"));
            return None;
        }
        self.check_size(span, (numbers.len() + words.len()) as u64, bytes)?;
        let mut data = Vec::with_capacity(bytes * (numbers.len() + words.len()));
        for number in numbers {
            self.number_bytes(*number, elem, &mut data)?;
        }
        for word in words {
            match self.text(*word) {
                "true" if elem == KnownType::I1.id() => data.push(1),
                "false" if elem == KnownType::I1.id() => data.push(0),
                "true" | "false" => {
                    self.report(errors::dense(
                        word.span(),
                        "only elements of type i1 are `true` and `false`",
                    ));
                    return None;
                }
                other => {
                    self.report(errors::unknown_attr(word.span(), other));
                    return None;
                }
            }
        }
        Some(self.m.cx.attr_id(AttrKind::DenseArray { elem, data: Blob::from(data) }))
    }

    /// `distinct[0]<...>`: equal numbers refer to one attribute throughout the text.
    fn distinct(&mut self, id: Tok, of: Option<&ast::AttrSyntax>) -> Option<AttrId> {
        let text = self.text(id);
        let Ok(number) = text.parse() else {
            self.report(errors::count_range(id.span(), text, "a number (64 bits)"));
            return None;
        };
        let of_span = of.map_or(id.span(), |of| of.span);
        let of = match of {
            Some(of) => self.attr(of, None)?,
            None => self.m.cx.attr_id(AttrKind::Unit),
        };
        let first = *self.distinct.entry(number).or_insert(of);
        if first != of {
            let first = crate::print::attr_text(&self.m.cx, first);
            self.report(errors::distinct(of_span, number, &first));
            return None;
        }
        Some(self.m.cx.attr_id(AttrKind::Distinct { id: number, of }))
    }
}
