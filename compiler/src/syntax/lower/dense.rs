//! `dense<...>`: nested lists, one number for all, or all bytes in hexadecimal.
//!
//! Contents become little-endian bytes at once; a hexadecimal string of any length is decoded straight from the text
//! into its final buffer. The number of elements comes from the type and must agree with what is written before
//! anything is allocated. Contents whose elements are all equal become a splat, as upstream.

use super::attrs::Value;
use super::{Lower, errors};
use crate::diag::Span;
use crate::ir::{AttrId, AttrKind, Blob, DYNAMIC, KnownType, TypeId, TypeKind};
use crate::syntax::ast::{self, DenseBody};

/// What one element is.
#[derive(Clone, Copy)]
struct Elem {
    ty: TypeId,
    /// Bytes of one number; a complex element has two.
    bytes: usize,
    complex: bool,
    bool: bool,
}

impl Lower<'_> {
    pub(super) fn dense(&mut self, span: Span, body: Option<&DenseBody>, ty: &ast::Type) -> Option<AttrId> {
        let ty_span = ty.span;
        let ty = self.ty(ty)?;
        let (shape, elem) = match self.m.cx.ty(ty) {
            TypeKind::Tensor { shape: Some(shape), elem, .. } => (shape.clone(), *elem),
            TypeKind::Vector { shape, elem, .. } => (shape.clone(), *elem),
            _ => return self.dense_error(ty_span, "dense<...> needs a tensor or vector type of fixed shape"),
        };
        if shape.contains(&DYNAMIC) {
            return self.dense_error(ty_span, "dense<...> needs a tensor or vector type of fixed shape");
        }
        let count = shape.iter().try_fold(1u64, |n, d| u64::try_from(*d).ok().and_then(|d| n.checked_mul(d)));
        let Some(count) = count.and_then(|n| usize::try_from(n).ok()) else {
            return self.dense_error(ty_span, "this shape has too many elements");
        };
        if let Some(strings) = self.dense_strings(span, body, &shape, count, elem) {
            let (splat, strings) = strings?;
            return Some(self.m.cx.attr_id(AttrKind::DenseStrings { ty, splat, strings: strings.into() }));
        }
        let Some(elem) = self.elem(elem) else {
            return self.dense_error(ty_span, "dense<...> holds integers of at most 64 bits, index, f16, bf16, f32, f64, complex numbers of these, or strings");
        };
        let size = elem.bytes * if elem.complex { 2 } else { 1 };
        let (data, splat) = match body {
            None => {
                if count != 0 {
                    return self.dense_error(span, format!("expected {count} elements, found none"));
                }
                (Vec::new(), false)
            }
            Some(DenseBody::Str(tok)) => self.hex(*tok, count, size, elem.bool)?,
            Some(DenseBody::List(list, list_span)) => {
                let mut data = Vec::with_capacity(count.min(self.source.text.len()).saturating_mul(size));
                self.list(list, *list_span, &shape, elem, &mut data)?;
                (data, false)
            }
            Some(one) => {
                let mut data = Vec::with_capacity(size);
                self.element(one, elem, &mut data)?;
                (data, true)
            }
        };
        let (data, splat) = match () {
            () if count == 0 => (Vec::new(), false),
            () if !splat && data.len() == count.saturating_mul(size) && all_equal(&data, size) => {
                (data[..size].to_vec(), true)
            }
            () => (data, splat),
        };
        Some(self.m.cx.attr_id(AttrKind::Dense { ty, splat, data: Blob(data.into()) }))
    }

    fn dense_error<T>(&mut self, span: Span, why: impl Into<String>) -> Option<T> {
        self.report(errors::dense(span, why));
        None
    }

    fn elem(&self, ty: TypeId) -> Option<Elem> {
        let (number, complex) = match self.m.cx.ty(ty) {
            TypeKind::Complex(part) => (*part, true),
            _ => (ty, false),
        };
        let bytes = match self.m.cx.ty(number) {
            TypeKind::Integer { width, .. } if *width <= 64 => (*width as usize).div_ceil(8),
            TypeKind::Index => 8,
            TypeKind::Float(float) if float.has_bits() => float.bits() as usize / 8,
            _ => return None,
        };
        Some(Elem { ty: number, bytes, complex, bool: ty == KnownType::I1.id() })
    }

    /// Checks a nested list against the outermost dimension, and gives the others.
    fn dimension<'s>(&mut self, list: &[DenseBody], span: Span, shape: &'s [i64]) -> Option<&'s [i64]> {
        let Some((&want, inner)) = shape.split_first() else {
            return self.dense_error(span, "more nested lists than the type has dimensions");
        };
        if list.len() as u64 != want as u64 {
            return self.dense_error(
                span,
                format!("expected {want} elements for this dimension, found {}", list.len()),
            );
        }
        Some(inner)
    }

    fn list(
        &mut self,
        list: &[DenseBody],
        span: Span,
        shape: &[i64],
        elem: Elem,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let inner = self.dimension(list, span, shape)?;
        for item in list {
            match item {
                DenseBody::List(items, span) => self.list(items, *span, inner, elem, out)?,
                one if inner.is_empty() => self.element(one, elem, out)?,
                _ => return self.dense_error(span, "fewer nested lists than the type has dimensions"),
            }
        }
        Some(())
    }

    fn element(&mut self, item: &DenseBody, elem: Elem, out: &mut Vec<u8>) -> Option<()> {
        match item {
            DenseBody::Number(number) if !elem.complex => {
                let bits = self.bits(*number, elem)?;
                out.extend_from_slice(&bits.to_le_bytes()[..elem.bytes]);
            }
            DenseBody::Complex(re, im) if elem.complex => {
                for part in [re, im] {
                    let bits = self.bits(*part, elem)?;
                    out.extend_from_slice(&bits.to_le_bytes()[..elem.bytes]);
                }
            }
            DenseBody::Word(word) if elem.bool => match self.text(*word) {
                "true" => out.push(1),
                "false" => out.push(0),
                other => {
                    self.report(errors::unknown_attr(word.span(), other));
                    return None;
                }
            },
            DenseBody::Number(number) => {
                return self
                    .dense_error(Self::number_span(*number), "expected a complex number as `(re, im)`");
            }
            DenseBody::Complex(re, _) => {
                return self.dense_error(Self::number_span(*re), "unexpected complex number");
            }
            DenseBody::Word(tok) => return self.dense_error(tok.span(), "expected a number"),
            DenseBody::Str(tok) => return self.dense_error(tok.span(), "expected a number"),
            DenseBody::List(_, span) => return self.dense_error(*span, "expected a number"),
        }
        Some(())
    }

    fn bits(&mut self, number: ast::Number, elem: Elem) -> Option<u64> {
        match self.number(number, elem.ty)? {
            Value::Int(value) if elem.bool => Some((value & 1) as u64),
            Value::Int(value) => Some(value as u64),
            Value::Float(bits) => Some(bits),
            Value::WideInt(_) | Value::WideFloat(_) => None,
        }
    }

    /// `"0x..."`: the bytes, or those of one element for all. Booleans are bits, eight to a byte.
    fn hex(
        &mut self,
        tok: crate::syntax::token::Tok,
        count: usize,
        size: usize,
        bools: bool,
    ) -> Option<(Vec<u8>, bool)> {
        let text = self.text(tok);
        let Some(digits) = text.strip_prefix("\"0x").and_then(|t| t.strip_suffix('"')) else {
            return self
                .dense_error(tok.span(), "expected a list, a number or a string of bytes `\"0x...\"`");
        };
        if digits.len() % 2 != 0 {
            return self.dense_error(tok.span(), "expected two digits for each byte");
        }
        let found = digits.len() / 2;
        let want = if bools { count.div_ceil(8) } else { count.saturating_mul(size) };
        let splat = !bools && found == size && want != found || bools && found == 1 && count > 8;
        if found != want && !splat {
            return self.dense_error(
                tok.span(),
                format!("the type needs {want} bytes (or {size} for one element that stands for all), found {found}"),
            );
        }
        let mut data = Vec::with_capacity(found);
        for pair in digits.as_bytes().chunks_exact(2) {
            match (HEX[usize::from(pair[0])], HEX[usize::from(pair[1])]) {
                (high, low) if high < 16 && low < 16 => data.push(high << 4 | low),
                _ => return self.dense_error(tok.span(), "expected hexadecimal digits only"),
            }
        }
        if !bools {
            return Some((data, splat));
        }
        if splat {
            return match data.first() {
                Some(0) => Some((vec![0], true)),
                Some(0xFF) => Some((vec![1], true)),
                _ => self.dense_error(tok.span(), "one byte for all booleans is `0x00` or `0xFF`"),
            };
        }
        Some(((0..count).map(|i| data[i / 8] >> (i % 8) & 1).collect(), false))
    }

    /// Elements of a dialect's type are strings. Nothing if this is not the case.
    #[allow(clippy::type_complexity, reason = "whether it is the case, and then whether it is right")]
    fn dense_strings(
        &mut self,
        span: Span,
        body: Option<&DenseBody>,
        shape: &[i64],
        count: usize,
        elem: TypeId,
    ) -> Option<Option<(bool, Vec<crate::ir::StrId>)>> {
        if !matches!(self.m.cx.ty(elem), TypeKind::Opaque(_)) {
            return None;
        }
        let mut strings = Vec::new();
        let done = match body {
            None if count == 0 => Some(false),
            None => self.dense_error(span, format!("expected {count} elements, found none")),
            Some(DenseBody::List(list, list_span)) => {
                self.string_list(list, *list_span, shape, &mut strings).map(|()| false)
            }
            Some(one) => self.string_element(one, span, &mut strings).map(|()| true),
        };
        Some(done.map(|splat| {
            let same = strings.windows(2).all(|w| w[0] == w[1]);
            let splat = count > 0 && (splat || same);
            strings.truncate(if count == 0 {
                0
            } else if splat {
                1
            } else {
                usize::MAX
            });
            (splat, strings)
        }))
    }

    fn string_list(
        &mut self,
        list: &[DenseBody],
        span: Span,
        shape: &[i64],
        out: &mut Vec<crate::ir::StrId>,
    ) -> Option<()> {
        let inner = self.dimension(list, span, shape)?;
        for item in list {
            match item {
                DenseBody::List(items, span) => self.string_list(items, *span, inner, out)?,
                one if inner.is_empty() => self.string_element(one, span, out)?,
                _ => return self.dense_error(span, "fewer nested lists than the type has dimensions"),
            }
        }
        Some(())
    }

    fn string_element(
        &mut self,
        item: &DenseBody,
        span: Span,
        out: &mut Vec<crate::ir::StrId>,
    ) -> Option<()> {
        match item {
            DenseBody::Str(tok) => {
                out.push(self.string_id(*tok)?);
                Some(())
            }
            _ => self.dense_error(span, "expected a string"),
        }
    }
}

fn all_equal(data: &[u8], size: usize) -> bool {
    // Equal to itself shifted by one element.
    size > 0 && data.len() >= size && data[size..] == data[..data.len() - size]
}

/// Values of hexadecimal digits by character; 255 for others.
static HEX: [u8; 256] = {
    let mut table = [255; 256];
    let mut i = 0;
    while i < 10 {
        table[b'0' as usize + i] = i as u8;
        i += 1;
    }
    let mut i = 0;
    while i < 6 {
        table[b'a' as usize + i] = 10 + i as u8;
        table[b'A' as usize + i] = 10 + i as u8;
        i += 1;
    }
    table
};
