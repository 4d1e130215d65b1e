//! Types.

use super::{AliasValue, Lower, errors};
use crate::diag::Span;
use crate::ir::{AttrId, AttrKind, DYNAMIC, FloatKind, Signedness, TypeId, TypeKind};
use crate::syntax::ast;
use crate::syntax::token::{Kind, Tok};
use std::borrow::Cow;

/// The widest integer type, as in MLIR.
const MAX_WIDTH: u32 = (1 << 24) - 1;

impl<'a> Lower<'a> {
    pub(super) fn types(&mut self, types: &[ast::TypeSyntax]) -> Option<Vec<TypeId>> {
        let mut ids = Vec::with_capacity(types.len());
        let mut good = true;
        for ty in types {
            match self.ty(ty) {
                Some(id) => ids.push(id),
                None => good = false,
            }
        }
        good.then_some(ids)
    }

    pub(super) fn ty(&mut self, ty: &ast::TypeSyntax) -> Option<TypeId> {
        match &ty.kind {
            ast::TypeSyntaxKind::Word(word) => self.type_word(*word),
            _ => self.nested(ty.span, |lower| lower.compound_type(ty)),
        }
    }

    fn compound_type(&mut self, ty: &ast::TypeSyntax) -> Option<TypeId> {
        match &ty.kind {
            ast::TypeSyntaxKind::Word(word) => self.type_word(*word),
            ast::TypeSyntaxKind::Bang(name) => self.bang(*name),
            ast::TypeSyntaxKind::Complex(elem) => {
                let id = self.ty(elem)?;
                if !matches!(self.m.cx.ty(id), TypeKind::Integer { .. } | TypeKind::Float(_)) {
                    self.report(errors::bad_type(
                        elem.span,
                        "the parts of a complex number must be integers or floats",
                    ));
                    return None;
                }
                Some(self.m.cx.type_id(TypeKind::Complex(id)))
            }
            ast::TypeSyntaxKind::Tuple(elems) => {
                let elems = self.types(elems)?;
                Some(self.m.cx.type_id(TypeKind::Tuple(elems.into())))
            }
            ast::TypeSyntaxKind::Function(function) => {
                let (inputs, results) = &**function;
                let (inputs, results) = (self.types(inputs), self.types(results));
                Some(self.m.cx.function_type(&inputs?, &results?))
            }
            ast::TypeSyntaxKind::Shaped(shaped) => self.shaped(ty.span, shaped),
        }
    }

    pub(super) fn bang(&mut self, name: Tok) -> Option<TypeId> {
        let text = self.text(name);
        if name.kind == Kind::BangBody || text.contains('.') {
            let text = Self::pretty_body(text.strip_prefix('!').unwrap_or(text));
            // Types in programs of 2020, like their ops.
            let text = match text.strip_prefix("hex.") {
                Some(rest) => format!("tfrt.{rest}").into(),
                None => text,
            };
            return Some(self.m.cx.opaque_type(&text));
        }
        match self.alias(name)? {
            AliasValue::Type(ty) => Some(ty),
            AliasValue::Attr(_) => None,
        }
    }

    /// `d<name<...>>` becomes `d.name<...>`, as upstream; other text is unchanged.
    pub(super) fn pretty_body(text: &str) -> Cow<'_, str> {
        let Some((dialect, body)) = text.split_once('<') else { return text.into() };
        let Some(body) = body.strip_suffix('>').filter(|_| !dialect.contains('.')) else {
            return text.into();
        };
        let name = body.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.')).count();
        let rest = &body[name..];
        let pretty = body.starts_with(|c: char| c.is_ascii_alphabetic())
            && (rest.is_empty() || rest.starts_with('<') && rest.ends_with('>'));
        if pretty { format!("{dialect}.{body}").into() } else { text.into() }
    }

    /// `i32`, `f32`, `index`, ...
    pub(super) fn type_word(&mut self, word: Tok) -> Option<TypeId> {
        let text = self.text(word);
        if let Some(id) = self.type_words.get(text) {
            return Some(*id);
        }
        let id = match self.type_of_word(text) {
            Some(Ok(id)) => id,
            Some(Err(why)) => {
                self.report(errors::bad_type(word.span(), why));
                return None;
            }
            None => {
                self.report(errors::unknown_type(word.span(), text));
                return None;
            }
        };
        self.type_words.insert(text, id);
        Some(id)
    }

    /// The type of a keyword; `None` if it names no type.
    pub(super) fn type_of_word(&mut self, text: &'a str) -> Option<Result<TypeId, String>> {
        let kind = match text {
            "index" => TypeKind::Index,
            "none" => TypeKind::None,
            _ => {
                if let Some(float) = FloatKind::from_name(text) {
                    TypeKind::Float(float)
                } else {
                    let (sign, digits) = if let Some(d) = text.strip_prefix("si") {
                        (Signedness::Signed, d)
                    } else if let Some(d) = text.strip_prefix("ui") {
                        (Signedness::Unsigned, d)
                    } else {
                        (Signedness::Signless, text.strip_prefix('i')?)
                    };
                    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
                        return None;
                    }
                    match digits.parse::<u32>() {
                        Ok(width) if width <= MAX_WIDTH => TypeKind::Integer { width, sign },
                        Ok(_) | Err(_) => {
                            return Some(Err(format!("an integer type has at most {MAX_WIDTH} bits")));
                        }
                    }
                }
            }
        };
        Some(Ok(self.m.cx.type_id(kind)))
    }

    fn shaped(&mut self, span: Span, written: &ast::Shaped) -> Option<TypeId> {
        let ast::Shaped { word, dims, elem, more } = written;
        let mut shape = Vec::with_capacity(dims.len());
        let mut scalable = Vec::with_capacity(dims.len());
        let mut unranked = false;
        for dim in dims {
            let text = self.text(*dim).trim_matches(['[', ']']);
            match dim.kind {
                Kind::DimDynamic => shape.push(DYNAMIC),
                Kind::DimUnranked => unranked = true,
                _ => match text.parse::<i64>() {
                    Ok(n) => shape.push(n),
                    Err(_) => {
                        self.report(errors::count_range(dim.span(), text, "a dimension (63 bits)"));
                        return None;
                    }
                },
            }
            scalable.push(dim.kind == Kind::DimScalable);
        }
        let elem_span = elem.span;
        let elem = self.ty(elem)?;
        let mut extra = Vec::with_capacity(more.len());
        for attr in more {
            extra.push((self.attr(attr, None)?, attr.span));
        }
        let wrong_dim = |wrong: Kind| dims.iter().find(|d| d.kind == wrong).map_or(span, |d| d.span());
        let wrong = match word.kind {
            _ if unranked && dims.len() > 1 => {
                Some((wrong_dim(Kind::DimUnranked), "`*` stands for all dimensions"))
            }
            Kind::Vector if !extra.is_empty() => Some((extra[0].1, "a vector type has no more parts")),
            Kind::Vector if unranked => {
                Some((wrong_dim(Kind::DimUnranked), "a vector type has fixed dimensions"))
            }
            Kind::Vector if shape.contains(&DYNAMIC) => {
                Some((wrong_dim(Kind::DimDynamic), "a vector type has fixed dimensions"))
            }
            Kind::Vector if shape.contains(&0) => {
                let zero = shape.iter().position(|d| *d == 0).and_then(|i| dims.get(i));
                Some((zero.map_or(span, |d| d.span()), "the dimensions of a vector type are greater than 0"))
            }
            Kind::Tensor | Kind::MemRef if scalable.contains(&true) => {
                Some((wrong_dim(Kind::DimScalable), "only vectors have scalable dimensions"))
            }
            Kind::Tensor if extra.len() > 1 => Some((extra[1].1, "a tensor type has at most one encoding")),
            Kind::Tensor if unranked && !extra.is_empty() => {
                Some((extra[0].1, "a tensor type without rank has no encoding"))
            }
            _ if !self.may_be_element(word.kind, elem) => {
                Some((elem_span, "this type cannot be that of elements"))
            }
            _ => None,
        };
        if let Some((span, why)) = wrong {
            self.report(errors::bad_type(span, why));
            return None;
        }
        let shape = if unranked { None } else { Some(shape.into_boxed_slice()) };
        let kind = match (word.kind, shape) {
            (Kind::Vector, shape) => {
                TypeKind::Vector { shape: shape.unwrap_or_default(), scalable: scalable.into(), elem }
            }
            (Kind::MemRef, shape) => {
                let (layout, space) = self.layout_and_space(shape.as_deref(), &extra)?;
                TypeKind::MemRef { shape, elem, layout, space }
            }
            (_, shape) => TypeKind::Tensor { shape, elem, encoding: extra.first().map(|e| e.0) },
        };
        Some(self.m.cx.type_id(kind))
    }

    /// The parameters after the element type of a memref. The identity map and memory space 0 are omitted.
    #[allow(clippy::type_complexity, reason = "the two fields of the type")]
    fn layout_and_space(
        &mut self,
        shape: Option<&[i64]>,
        extra: &[(AttrId, Span)],
    ) -> Option<(Option<AttrId>, Option<AttrId>)> {
        let (mut layout, mut space) = (None, None);
        let mut has_space = false;
        for &(attr, span) in extra {
            let why = match self.m.cx.attr(attr) {
                AttrKind::AffineMap(_) | AttrKind::Strided { .. } if has_space => {
                    Some("the layout of a memref stands before its memory space")
                }
                AttrKind::AffineMap(_) | AttrKind::Strided { .. } if shape.is_none() => {
                    Some("a memref without rank has no layout")
                }
                AttrKind::AffineMap(map) => {
                    layout = (!self.m.cx.affine_is_identity(map)).then_some(attr);
                    (Some(map.dims as usize) != shape.map(<[i64]>::len))
                        .then_some("the layout must have as many dimensions as the memref")
                }
                AttrKind::Strided { strides, .. } => {
                    layout = Some(attr);
                    (Some(strides.len()) != shape.map(<[i64]>::len))
                        .then_some("the layout must have as many strides as the memref has dimensions")
                }
                _ if has_space => Some("a memref has one memory space"),
                AttrKind::Int { value: 0, .. } | AttrKind::Bool(false) => {
                    has_space = true;
                    None
                }
                AttrKind::Int { .. }
                | AttrKind::WideInt { .. }
                | AttrKind::Bool(_)
                | AttrKind::Str { .. }
                | AttrKind::Bytes { .. }
                | AttrKind::Dict(_)
                | AttrKind::Opaque { .. } => {
                    has_space = true;
                    space = Some(attr);
                    None
                }
                _ => {
                    Some("a memory space is an integer, a string, a dictionary or an attribute of a dialect")
                }
            };
            if let Some(why) = why {
                self.report(errors::bad_type(span, why));
                return None;
            }
        }
        Some((layout, space))
    }

    /// True if `elem` may be the element type of a tensor, vector or memref, as in MLIR.
    fn may_be_element(&self, shaped: Kind, elem: TypeId) -> bool {
        match self.m.cx.ty(elem) {
            TypeKind::Integer { .. } | TypeKind::Float(_) | TypeKind::Index => true,
            TypeKind::Complex(_) | TypeKind::Vector { .. } | TypeKind::Opaque(_) => shaped != Kind::Vector,
            TypeKind::MemRef { .. } => shaped == Kind::MemRef,
            TypeKind::None | TypeKind::Tuple(_) | TypeKind::Function { .. } | TypeKind::Tensor { .. } => {
                false
            }
        }
    }
}
