//! Numbers, and the contents of arrays and tensors, as text.
//!
//! Non-splat tensors of more than 100 elements print as bytes, as upstream by default.

use super::text::put;
use crate::ir::{Blob, Context, Signedness, TypeId, TypeKind};
use num_bigint::{BigInt, Sign};

/// Most elements that print as a list.
const MAX_LISTED: usize = 100;

pub(super) fn write_int(cx: &Context, ty: TypeId, value: i64, out: &mut String) {
    match cx.ty(ty) {
        TypeKind::Integer { sign: Signedness::Unsigned, .. } => put!(out, "{}", value as u64),
        _ => put!(out, "{value}"),
    }
}

/// An integer of more than 64 bits. Beyond common widths it is hexadecimal, since decimal takes quadratic
/// time.
pub(super) fn write_wide_int(bytes: &[u8], out: &mut String) {
    const MAX_DECIMAL: u64 = 1 << 17;
    let value = BigInt::from_signed_bytes_le(bytes);
    if value.bits() <= MAX_DECIMAL {
        put!(out, "{value}");
    } else {
        let sign = if value.sign() == Sign::Minus { "-" } else { "" };
        put!(out, "{sign}0x{:X}", value.magnitude());
    }
}

/// Bytes of one element of a dense array or tensor.
pub(crate) fn element_size(cx: &Context, elem: TypeId) -> usize {
    match cx.ty(elem) {
        TypeKind::Integer { width, .. } => (*width as usize).div_ceil(8).max(1),
        TypeKind::Index => 8,
        TypeKind::Float(float) => float.bytes(),
        TypeKind::Complex(part) => 2 * element_size(cx, *part),
        _ => 0,
    }
}

pub(super) fn write_element(cx: &Context, elem: TypeId, bytes: &[u8], out: &mut String) {
    let mut raw = [0; 16];
    let n = bytes.len().min(16);
    raw[..n].copy_from_slice(&bytes[..n]);
    let bits = u128::from_le_bytes(raw);
    match cx.ty(elem) {
        TypeKind::Integer { width: 1, .. } => put!(out, "{}", bits & 1 == 1),
        TypeKind::Integer { width: 0, .. } => out.push('0'),
        TypeKind::Integer { width, sign } if *width <= 128 => {
            let shift = 128 - *width;
            match sign {
                Signedness::Unsigned => put!(out, "{}", (bits << shift) >> shift),
                Signedness::Signless | Signedness::Signed => {
                    put!(out, "{}", ((bits as i128) << shift) >> shift);
                }
            }
        }
        TypeKind::Integer { width, sign } => {
            let mut bytes = bytes.to_vec();
            let negative = *sign != Signedness::Unsigned && bits_at(&bytes, *width as usize - 1);
            // The bits above the width are copies of the sign.
            let used = *width as usize % 8;
            if let Some(last) = bytes.last_mut()
                && negative
                && used > 0
            {
                *last |= 0xFF << used;
            }
            bytes.push(if negative { 0xFF } else { 0 });
            write_wide_int(&bytes, out);
        }
        TypeKind::Float(float) => out.push_str(&float.text(bits)),
        TypeKind::Complex(part) => {
            let (re, im) = bytes.split_at(bytes.len() / 2);
            out.push('(');
            write_element(cx, *part, re, out);
            out.push(',');
            write_element(cx, *part, im, out);
            out.push(')');
        }
        _ => put!(out, "{}", bits as i64),
    }
}

fn bits_at(bytes: &[u8], at: usize) -> bool {
    bytes.get(at / 8).is_some_and(|b| b >> (at % 8) & 1 == 1)
}

/// Nested lists in the form of `shape`; `element` writes element number `i`.
pub(super) fn write_nested(
    shape: &[i64],
    at: &mut usize,
    out: &mut String,
    element: &mut dyn FnMut(usize, &mut String),
) {
    match shape.split_first() {
        None => {
            element(*at, out);
            *at += 1;
        }
        Some((n, inner)) => {
            out.push('[');
            for i in 0..*n {
                if i > 0 {
                    out.push_str(", ");
                }
                write_nested(inner, at, out, element);
            }
            out.push(']');
        }
    }
}

pub(super) fn write_dense(cx: &Context, ty: TypeId, splat: bool, data: &Blob, out: &mut String) {
    let Some((shape, elem)) = cx.ty(ty).shaped() else { return };
    let shape = shape.unwrap_or(&[]);
    let size = element_size(cx, elem).max(1);
    if data.is_empty() {
        return;
    }
    if splat {
        return write_element(cx, elem, data, out);
    }
    let n = data.len() / size;
    if n > MAX_LISTED {
        return write_hex(cx, elem, data, out);
    }
    write_listed(cx, shape, elem, data, out);
}

fn write_listed(cx: &Context, shape: &[i64], elem: TypeId, data: &[u8], out: &mut String) {
    let size = element_size(cx, elem).max(1);
    write_nested(shape, &mut 0, out, &mut |i, out| {
        if let Some(bytes) = data.get(i * size..(i + 1) * size) {
            write_element(cx, elem, bytes, out);
        }
    });
}

/// The indices of a sparse tensor. They never print as bytes, and a splat only stands for a single position,
/// or it would not read back.
pub(super) fn write_places(cx: &Context, ty: TypeId, splat: bool, data: &Blob, out: &mut String) {
    let Some((Some(shape), elem)) = cx.ty(ty).shaped() else { return };
    match shape.first() {
        Some(1) if splat => write_element(cx, elem, data, out),
        _ if splat => {
            let n = shape.iter().product::<i64>().unsigned_abs() as usize;
            write_listed(cx, shape, elem, &data.repeat(n), out);
        }
        _ => write_listed(cx, shape, elem, data, out),
    }
}

fn write_hex(cx: &Context, elem: TypeId, data: &Blob, out: &mut String) {
    if matches!(cx.ty(elem), TypeKind::Integer { width: 1, .. }) {
        let byte = |bools: &[u8]| bools.iter().enumerate().fold(0, |b, (i, bit)| b | (bit & 1) << i);
        write_bytes(data.chunks(8).map(byte), out);
    } else {
        write_bytes(data.iter().copied(), out);
    }
}

/// `"0x..."`.
pub(super) fn write_bytes(bytes: impl Iterator<Item = u8>, out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.push_str("\"0x");
    for b in bytes {
        out.push(char::from(DIGITS[usize::from(b >> 4)]));
        out.push(char::from(DIGITS[usize::from(b & 15)]));
    }
    out.push('"');
}
