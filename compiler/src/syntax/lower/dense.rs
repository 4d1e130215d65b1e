//! `dense<...>`: nested lists, one number for all, or all bytes in hexadecimal; `sparse<...>`, which is two
//! of them.
//!
//! Contents become little-endian bytes directly; a hexadecimal string of any length is decoded from the text
//! into its final buffer. The number of elements comes from the type and is checked against the text before
//! anything is allocated. Contents whose elements are all equal become a splat, as upstream. A tensor without
//! elements may have a splat nevertheless: `dense<1> : tensor<0xi32>` is not `dense<> : tensor<0xi32>`.

use super::{Lower, errors};
use crate::diag::Span;
use crate::ir::{AttrId, AttrKind, Blob, DYNAMIC, KnownType, TypeId, TypeKind};
use crate::syntax::ast::{self, DenseBody};
use crate::syntax::token::Tok;

/// The format of one element.
#[derive(Clone, Copy)]
struct ElementFormat {
    ty: TypeId,
    /// Bytes of one number; a complex element has two.
    bytes: usize,
    complex: bool,
    /// One bit wide: a byte in memory, a bit in hexadecimal text.
    bool: bool,
}

impl Lower<'_> {
    pub(super) fn dense(
        &mut self,
        span: Span,
        body: Option<&DenseBody>,
        ty: &ast::TypeSyntax,
    ) -> Option<AttrId> {
        let ty_span = ty.span;
        let ty = self.ty(ty)?;
        self.static_shape(ty, ty_span, "dense<...>")?;
        self.dense_of(span, body, ty, ty_span)
    }

    /// The shape and element type of a shaped type; reports a type without elements or with dynamic sizes.
    fn static_shape(&mut self, ty: TypeId, span: Span, who: &str) -> Option<(Box<[i64]>, TypeId)> {
        match self.m.cx.ty(ty).shaped() {
            Some((Some(shape), elem)) if !shape.contains(&DYNAMIC) => Some((shape.into(), elem)),
            _ => {
                self.dense_error(span, format!("{who} needs a tensor, vector or memref type of fixed shape"))
            }
        }
    }

    /// Contents of type `ty`, which has a static shape.
    fn dense_of(
        &mut self,
        span: Span,
        body: Option<&DenseBody>,
        ty: TypeId,
        ty_span: Span,
    ) -> Option<AttrId> {
        let (shape, elem) = self.static_shape(ty, ty_span, "dense<...>")?;
        // A splat may have any number of elements.
        let count = shape.iter().fold(1u64, |n, d| n.saturating_mul(d.unsigned_abs()));
        if matches!(self.m.cx.ty(elem), TypeKind::Opaque(_) | TypeKind::Vector { .. }) {
            return self.dense_strings(span, body, &shape, count, ty);
        }
        let Some(elem) = self.elem(elem) else {
            return self.dense_error(
                ty_span,
                "dense<...> holds integers, index, floats, complex numbers of these, or strings",
            );
        };
        let size = elem.bytes * if elem.complex { 2 } else { 1 };
        let (data, splat) = match body {
            None if count != 0 => {
                return self.dense_error(span, format!("expected {count} elements, found none"));
            }
            None => (Vec::new(), false),
            Some(DenseBody::Str(tok)) => self.hex(*tok, count, size, elem)?,
            Some(DenseBody::List(list, list_span)) => {
                // Each written element takes at least two bytes of text.
                self.check_size(span, count.min(self.source.text.len() as u64), size)?;
                let mut data = Vec::new();
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
            () if !splat && !data.is_empty() && all_equal(&data, size) => (data[..size].to_vec(), true),
            () => (data, splat),
        };
        Some(self.m.cx.attr_id(AttrKind::Dense { ty, splat, data: Blob::from(data) }))
    }

    /// `sparse<indices, values>`: a list of indices, one row each, and the values.
    pub(super) fn sparse(
        &mut self,
        span: Span,
        bodies: Option<&(DenseBody, DenseBody)>,
        ty: &ast::TypeSyntax,
    ) -> Option<AttrId> {
        let ty_span = ty.span;
        let ty = self.ty(ty)?;
        let (shape, elem) = self.static_shape(ty, ty_span, "sparse<...>")?;
        let rank = shape.len() as i64;
        let i64_type = KnownType::I64.id();
        let Some((indices, values)) = bodies else {
            let indices = self.m.cx.tensor_type(&[0, rank], i64_type);
            let values = self.m.cx.tensor_type(&[0], elem);
            let indices = self.dense_of(span, None, indices, ty_span)?;
            let values = self.dense_of(span, None, values, ty_span)?;
            return Some(self.m.cx.attr_id(AttrKind::Sparse { ty, indices, values }));
        };
        let places: Vec<i64> = match indices {
            DenseBody::List(rows, _) => match rows.first() {
                Some(DenseBody::List(row, _)) => vec![rows.len() as i64, row.len() as i64],
                _ => vec![rows.len() as i64],
            },
            _ => vec![1, rank],
        };
        if places.get(1).map_or(rank != 1, |n| *n != rank) {
            return self.dense_error(span, format!("expected a list of places with {rank} indices each"));
        }
        let n = places[0];
        if let DenseBody::List(list, list_span) = values
            && list.len() as i64 != n
        {
            return self.dense_error(
                *list_span,
                format!("expected {n} values, as many as places, found {}", list.len()),
            );
        }
        let indices_type = self.m.cx.tensor_type(&places, i64_type);
        let values_type = self.m.cx.tensor_type(&[n], elem);
        if let DenseBody::Str(tok) = indices {
            return self.dense_error(tok.span(), "expected integers");
        }
        let indices = self.dense_of(span, Some(indices), indices_type, ty_span)?;
        let values = self.dense_of(span, Some(values), values_type, ty_span)?;
        if let AttrKind::Dense { data, .. } = self.m.cx.attr(indices) {
            let rows = data.chunks_exact(8).filter_map(|b| Some(i64::from_le_bytes(*b.first_chunk()?)));
            // A splat is the same for all indices of all values.
            let splat = data.len() == 8;
            let inside = |(i, at): (usize, i64)| match splat {
                true => shape.iter().all(|d| (0..*d).contains(&at)),
                false => (0..shape[i % shape.len().max(1)]).contains(&at),
            };
            if let Some(bad) = rows.enumerate().find(|r| !inside(*r)) {
                return self.dense_error(span, format!("the index {} is outside of the shape", bad.1));
            }
        }
        Some(self.m.cx.attr_id(AttrKind::Sparse { ty, indices, values }))
    }

    fn dense_error<T>(&mut self, span: Span, why: impl Into<String>) -> Option<T> {
        self.report(errors::dense(span, why));
        None
    }

    fn elem(&self, ty: TypeId) -> Option<ElementFormat> {
        let (number, complex) = match self.m.cx.ty(ty) {
            TypeKind::Complex(part) => (*part, true),
            _ => (ty, false),
        };
        let bytes = match self.m.cx.ty(number) {
            TypeKind::Integer { .. } | TypeKind::Index | TypeKind::Float(_) => {
                crate::print::element_size(&self.m.cx, number)
            }
            _ => return None,
        };
        let bool = !complex && matches!(self.m.cx.ty(ty), TypeKind::Integer { width: 1, .. });
        Some(ElementFormat { ty: number, bytes, complex, bool })
    }

    /// Checks a nested list against the outermost dimension, and returns the other dimensions.
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
        elem: ElementFormat,
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

    fn element(&mut self, item: &DenseBody, elem: ElementFormat, out: &mut Vec<u8>) -> Option<()> {
        match item {
            DenseBody::Number(number) if !elem.complex => self.number_bytes(*number, elem.ty, out)?,
            DenseBody::Complex(re, im) if elem.complex => {
                self.number_bytes(*re, elem.ty, out)?;
                self.number_bytes(*im, elem.ty, out)?;
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

    /// `"0x..."`: the bytes, or those of one element for a splat. Booleans are bits, eight to a byte.
    fn hex(&mut self, tok: Tok, count: u64, size: usize, elem: ElementFormat) -> Option<(Vec<u8>, bool)> {
        let text = self.text(tok);
        let Some(digits) = text.strip_prefix("\"0x").and_then(|t| t.strip_suffix('"')) else {
            return self
                .dense_error(tok.span(), "expected a list, a number or a string of bytes `\"0x...\"`");
        };
        if digits.len() % 2 != 0 {
            return self.dense_error(tok.span(), "expected two digits for each byte");
        }
        let found = (digits.len() / 2) as u64;
        let want = if elem.bool { count.div_ceil(8) } else { count.saturating_mul(size as u64) };
        let splat = match elem.bool {
            true => found == 1 && count > 8,
            false => found == size as u64 && want != found,
        };
        if found != want && !splat {
            return self.dense_error(
                tok.span(),
                format!("the type needs {want} bytes (or {size} for one element that stands for all), found {found}"),
            );
        }
        let Some(mut data) = decode_hex(digits) else {
            return self.dense_error(tok.span(), "expected hexadecimal digits only");
        };
        if !elem.bool {
            self.normalize(&mut data, elem);
            return Some((data, splat));
        }
        if splat {
            return match data.first() {
                Some(0) => Some((vec![0], true)),
                Some(0xFF) => Some((vec![1], true)),
                _ => self.dense_error(tok.span(), "one byte for all booleans is `0x00` or `0xFF`"),
            };
        }
        Some(((0..count as usize).map(|i| data[i / 8] >> (i % 8) & 1).collect(), false))
    }

    /// Clears the bits beyond the element's width; normalizes x87 numbers as the parser does.
    fn normalize(&self, data: &mut [u8], elem: ElementFormat) {
        match *self.m.cx.ty(elem.ty) {
            TypeKind::Integer { width, .. } if width % 8 != 0 || width == 0 => {
                let mask = if width == 0 { 0 } else { 0xFF >> (8 - width % 8) };
                for number in data.chunks_exact_mut(elem.bytes) {
                    number[elem.bytes - 1] &= mask;
                }
            }
            TypeKind::Float(kind) if kind.bits() < 128 && !kind.is_arithmetic() => {
                for number in data.chunks_exact_mut(elem.bytes) {
                    let mut bits = [0; 16];
                    bits[..elem.bytes].copy_from_slice(number);
                    let bits = u128::from_le_bytes(bits) & (u128::MAX >> (128 - kind.bits()));
                    number.copy_from_slice(&kind.normal_bits(bits).to_le_bytes()[..elem.bytes]);
                }
            }
            _ => {}
        }
    }

    /// Elements of a dialect's type are strings.
    fn dense_strings(
        &mut self,
        span: Span,
        body: Option<&DenseBody>,
        shape: &[i64],
        count: u64,
        ty: TypeId,
    ) -> Option<AttrId> {
        let mut strings = Vec::new();
        let splat = match body {
            None if count == 0 => false,
            None => return self.dense_error(span, format!("expected {count} elements, found none")),
            Some(DenseBody::List(list, list_span)) => {
                self.string_list(list, *list_span, shape, &mut strings)?;
                !strings.is_empty() && strings.windows(2).all(|w| w[0] == w[1])
            }
            Some(one) => {
                self.string_element(one, span, &mut strings)?;
                true
            }
        };
        if splat {
            strings.truncate(1);
        }
        Some(self.m.cx.attr_id(AttrKind::DenseStrings { ty, splat, strings: strings.into() }))
    }

    fn string_list(
        &mut self,
        list: &[DenseBody],
        span: Span,
        shape: &[i64],
        out: &mut Vec<AttrId>,
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

    fn string_element(&mut self, item: &DenseBody, span: Span, out: &mut Vec<AttrId>) -> Option<()> {
        match item {
            DenseBody::Str(tok) => {
                let bytes = self.unquote(*tok)?;
                out.push(self.m.cx.bytes_attr(&bytes));
                Some(())
            }
            _ => self.dense_error(span, "expected a string"),
        }
    }
}

fn all_equal(data: &[u8], size: usize) -> bool {
    // True if equal to itself shifted by one element.
    size > 0 && data.len() >= size && data[size..] == data[..data.len() - size]
}

/// The bytes of pairs of hexadecimal digits.
pub(in crate::syntax) fn decode_hex(digits: &str) -> Option<Vec<u8>> {
    /// Pairs decoded at a time in vector registers, with a single branch after all of them.
    const PAIRS: usize = 64;
    let (pairs, []) = digits.as_bytes().as_chunks::<2>() else { return None };
    let mut data = vec![0; pairs.len()];
    for (bytes, pairs) in data.chunks_mut(PAIRS).zip(pairs.chunks(PAIRS)) {
        let mut wrong = 0;
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            let (high, low) = (digit(*high), digit(*low));
            wrong |= high | low;
            *byte = high << 4 | low;
        }
        if wrong >= 16 {
            return None;
        }
    }
    Some(data)
}

/// The value of a hexadecimal digit; 255 for other characters.
fn digit(character: u8) -> u8 {
    let number = character.wrapping_sub(b'0');
    let letter = (character | 0x20).wrapping_sub(b'a');
    let letter = if letter < 6 { letter + 10 } else { 255 };
    if number < 10 { number } else { letter }
}
