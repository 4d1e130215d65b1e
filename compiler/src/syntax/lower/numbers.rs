//! Numbers: values from literals and types.
//!
//! Integers wrap as upstream's do: a positive literal may use all bits of a signless type, so that `255 : i8`
//! is -1; a negative one may not, nor a positive one of a signed type or `index`. No integer is `-0`, as
//! upstream. A literal with a point, or an exponent, is read as `f64` and rounded to its type; one out of
//! range becomes the type's infinity or NaN. A float in hexadecimal is its bits.

use super::{Lower, errors};
use crate::diag::Span;
use crate::ir::{AttrId, AttrKind, FloatKind, KnownType, Signedness, TypeId, TypeKind};
use crate::print::type_text;
use crate::syntax::ast::NumberLiteral;
use crate::syntax::token::Kind;
use num_bigint::{BigInt, BigUint, Sign};

/// A number in the format of its type.
enum NumberValue {
    Int(i64),
    Wide(BigInt),
    /// The bits in the float's own format.
    Float(FloatKind, u128),
}

/// Maximum number of bytes of elements with more than 64 bits, where little text stands for much data.
const MAX_WIDE: u64 = 1 << 28;

impl Lower<'_> {
    pub(super) fn number_attr(&mut self, number: NumberLiteral, ty: Option<TypeId>) -> Option<AttrId> {
        let ty = ty.unwrap_or(match number.tok.kind {
            Kind::Float => KnownType::F64.id(),
            _ => KnownType::I64.id(),
        });
        let kind = match self.number(number, ty)? {
            NumberValue::Int(value) => return Some(self.m.cx.int_attr(ty, value)),
            NumberValue::Wide(value) => AttrKind::WideInt { ty, bytes: value.to_signed_bytes_le().into() },
            NumberValue::Float(kind, bits) if kind.bits() <= 64 => AttrKind::Float { ty, bits: bits as u64 },
            NumberValue::Float(_, bits) => {
                AttrKind::WideFloat { ty, bits: [bits as u64, (bits >> 64) as u64] }
            }
        };
        Some(self.m.cx.attr_id(kind))
    }

    /// Appends a number as an element of a tensor or array: little-endian, with zeros above the width.
    pub(super) fn number_bytes(
        &mut self,
        number: NumberLiteral,
        ty: TypeId,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let width = match *self.m.cx.ty(ty) {
            TypeKind::Integer { width, .. } => width as usize,
            _ => 64,
        };
        match self.number(number, ty)? {
            NumberValue::Int(value) => {
                let bits = if width == 0 { 0 } else { (value as u64) << (64 - width) >> (64 - width) };
                out.extend_from_slice(&bits.to_le_bytes()[..width.div_ceil(8).max(1)]);
            }
            NumberValue::Float(kind, bits) => out.extend_from_slice(&bits.to_le_bytes()[..kind.bytes()]),
            NumberValue::Wide(value) => {
                let from = out.len();
                out.extend_from_slice(&value.to_signed_bytes_le());
                let fill = if value.sign() == Sign::Minus { 0xFF } else { 0 };
                out.resize(from + width.div_ceil(8), fill);
                if let (Some(last), 1..) = (out.last_mut(), width % 8) {
                    *last &= 0xFF >> (8 - width % 8);
                }
            }
        }
        Some(())
    }

    /// Refuses contents out of proportion to the text.
    pub(super) fn check_size(&mut self, span: Span, count: u64, bytes: usize) -> Option<()> {
        if bytes > 16 && count.saturating_mul(bytes as u64) > MAX_WIDE {
            self.report(errors::dense(span, "these elements take too much memory"));
            return None;
        }
        Some(())
    }

    /// The span of a number with its sign.
    pub(super) fn number_span(number: NumberLiteral) -> Span {
        let span = number.tok.span();
        Span { start: span.start.saturating_sub(u32::from(number.negative)), ..span }
    }

    /// Parses a number as a value of `ty`.
    fn number(&mut self, number: NumberLiteral, ty: TypeId) -> Option<NumberValue> {
        let digits = self.text(number.tok);
        let span = Self::number_span(number);
        match (self.kind_of_number(ty), number.tok.kind) {
            (NumberKind::Int { .. }, Kind::Float) => {
                let ty = type_text(&self.m.cx, ty);
                self.report(errors::number_type(span, "a number with a point", &ty));
                None
            }
            (NumberKind::Int { width, sign }, _) => {
                let value = if width > 64 {
                    wide(digits, number.negative, width, sign).map(NumberValue::Wide)
                } else {
                    narrow(digits, number.negative, width, sign).map(NumberValue::Int)
                };
                value.or_else(|| match digits.trim_start_matches("0x").trim_start_matches('0') {
                    "" if number.negative => {
                        let ty = type_text(&self.m.cx, ty);
                        self.report(errors::number_type(span, "minus zero", &ty).help("write `0`"));
                        None
                    }
                    _ => self.range_error(span, ty),
                })
            }
            (NumberKind::Float(kind), _) => self.float(digits, number, kind, span, ty),
            (NumberKind::None, _) => {
                let ty = type_text(&self.m.cx, ty);
                self.report(errors::number_type(span, "a number", &ty));
                None
            }
        }
    }

    fn range_error<T>(&mut self, span: Span, ty: TypeId) -> Option<T> {
        let ty = type_text(&self.m.cx, ty);
        let text = self.span_text(span);
        self.report(errors::number_range(span, text, &ty));
        None
    }

    fn float(
        &mut self,
        digits: &str,
        number: NumberLiteral,
        kind: FloatKind,
        span: Span,
        ty: TypeId,
    ) -> Option<NumberValue> {
        let sign = if number.negative { "-" } else { "" };
        if let Some(hex) = digits.strip_prefix("0x") {
            let hex = match hex.trim_start_matches('0') {
                "" => "0",
                hex => hex,
            };
            return match u128::from_str_radix(hex, 16) {
                Ok(bits) if !number.negative && (kind.bits() == 128 || bits >> kind.bits() == 0) => {
                    Some(NumberValue::Float(kind, kind.normal_bits(bits)))
                }
                _ => self.range_error(span, ty),
            };
        }
        if number.tok.kind == Kind::Int {
            let ty = type_text(&self.m.cx, ty);
            self.report(
                errors::number_type(span, "an integer", &ty).help(format!("write `{sign}{digits}.0`")),
            );
            return None;
        }
        let value: Option<f64> = digits.parse().ok();
        let value = value.map(|v| if number.negative { -v } else { v });
        match value.and_then(|v| kind.round(v)) {
            Some(bits) => Some(NumberValue::Float(kind, bits)),
            None => self.range_error(span, ty),
        }
    }
}

/// At most 64 bits; the caller sign-extends it.
fn narrow(digits: &str, negative: bool, width: u32, sign: Signedness) -> Option<i64> {
    let magnitude = match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => digits.parse::<u64>(),
    };
    let magnitude = magnitude.ok().filter(|n| !negative || *n != 0)?;
    let all = (1u128 << width) - 1;
    let limit = match (sign, negative) {
        (Signedness::Unsigned, true) => 0,
        (Signedness::Signed, false) => all >> 1,
        (Signedness::Signless | Signedness::Unsigned, false) => all,
        (Signedness::Signed | Signedness::Signless, true) => all.div_ceil(2),
    };
    let value = if negative { (magnitude as i64).wrapping_neg() } else { magnitude as i64 };
    (u128::from(magnitude) <= limit).then_some(value)
}

/// An integer of more than 64 bits, with the signedness of the type.
fn wide(digits: &str, negative: bool, width: u32, sign: Signedness) -> Option<BigInt> {
    // A literal with more bits than the type cannot fit, at three or four bits per digit.
    let magnitude = match digits.strip_prefix("0x") {
        Some(hex) => {
            let hex = hex.trim_start_matches('0');
            if hex.len() as u64 * 4 > u64::from(width) + 3 {
                return None;
            }
            BigUint::parse_bytes(hex.as_bytes(), 16).unwrap_or_default()
        }
        None => {
            let digits = digits.trim_start_matches('0');
            if digits.len() as u64 * 3 > u64::from(width) + 2 {
                return None;
            }
            from_decimal(digits)
        }
    };
    let half = BigUint::from(1u32) << (width - 1);
    match (sign, negative) {
        (Signedness::Unsigned, true) => None,
        (_, true) if magnitude.bits() == 0 => None,
        (_, true) => (magnitude <= half).then(|| BigInt::from_biguint(Sign::Minus, magnitude)),
        _ if magnitude < half => Some(magnitude.into()),
        (Signedness::Signed, _) => None,
        _ if magnitude.bits() > u64::from(width) => None,
        (Signedness::Unsigned, _) => Some(magnitude.into()),
        (Signedness::Signless, _) => Some(BigInt::from(magnitude) - (BigInt::from(half) << 1u32)),
    }
}

/// Divide-and-conquer conversion, so that millions of digits take seconds, not hours.
fn from_decimal(digits: &str) -> BigUint {
    if digits.len() <= 4096 {
        return BigUint::parse_bytes(digits.as_bytes(), 10).unwrap_or_default();
    }
    let (high, low) = digits.split_at(digits.len() / 2);
    from_decimal(high) * BigUint::from(10u32).pow(low.len() as u32) + from_decimal(low)
}

/// Kind of the numbers of a type.
#[derive(Clone, Copy)]
enum NumberKind {
    Int { width: u32, sign: Signedness },
    Float(FloatKind),
    None,
}

impl Lower<'_> {
    fn kind_of_number(&self, ty: TypeId) -> NumberKind {
        match *self.m.cx.ty(ty) {
            TypeKind::Integer { width, sign } => NumberKind::Int { width, sign },
            TypeKind::Index => NumberKind::Int { width: 64, sign: Signedness::Signed },
            TypeKind::Float(kind) => NumberKind::Float(kind),
            _ => NumberKind::None,
        }
    }
}
