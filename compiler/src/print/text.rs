//! Types, attributes, locations and numbers as text, as upstream MLIR prints them.
//!
//! A number prints its type except where the reader will assume it: `i64` and `f64` inside arrays, and values of
//! custom forms whose type is declared. Floats print with six decimals if that reads back as the same bits, else with
//! as many as needed, else as their bits in hexadecimal. Tensors of more than 100 different elements print as bytes.

use crate::ir::{
    AttrId, AttrKind, Blob, Context, DYNAMIC, FloatKind, KnownType, LocId, LocKind, Signedness, StrId,
    TypeId, TypeKind,
};

/// Tensors with more elements print as bytes, as upstream by default.
const MAX_LISTED: usize = 100;

/// Is the type of a number written?
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Typed {
    /// Always.
    Always,
    /// Unless it is the default, `i64` or `f64`.
    UnlessDefault,
    /// Never.
    Never,
}

/// How locations inside of attributes and locations are written.
pub(super) type LocAlias<'a> = &'a dyn Fn(LocId) -> Option<String>;

fn no_alias(_: LocId) -> Option<String> {
    None
}

/// A type as text.
pub fn type_text(cx: &Context, ty: TypeId) -> String {
    let mut out = String::new();
    write_type(cx, ty, &mut out);
    out
}

/// An attribute as text.
pub fn attr_text(cx: &Context, attr: AttrId) -> String {
    let mut out = String::new();
    write_attr(cx, attr, Typed::Always, &mut out);
    out
}

/// A location as text, `loc(...)` around it.
pub fn loc_text(cx: &Context, loc: LocId) -> String {
    let mut out = String::from("loc(");
    write_loc(cx, loc, &no_alias, &mut out);
    out.push(')');
    out
}

/// `write!` to a string cannot fail.
macro_rules! put {
    ($out:expr, $($arg:tt)*) => {{
        use std::fmt::Write as _;
        let _ = write!($out, $($arg)*);
    }};
}
pub(super) use put;

pub(super) fn write_list<T>(items: &[T], out: &mut String, mut f: impl FnMut(&T, &mut String)) {
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        f(item, out);
    }
}

fn write_dims(shape: &[i64], scalable: &[bool], out: &mut String) {
    for (i, d) in shape.iter().enumerate() {
        match (*d, scalable.get(i)) {
            (DYNAMIC, _) => out.push_str("?x"),
            (d, Some(true)) => put!(out, "[{d}]x"),
            (d, _) => put!(out, "{d}x"),
        }
    }
}

pub(crate) fn write_type(cx: &Context, ty: TypeId, out: &mut String) {
    match cx.ty(ty) {
        TypeKind::Integer { width, sign } => {
            out.push_str(match sign {
                Signedness::Signless => "i",
                Signedness::Signed => "si",
                Signedness::Unsigned => "ui",
            });
            put!(out, "{width}");
        }
        TypeKind::Float(float) => out.push_str(float.name()),
        TypeKind::Index => out.push_str("index"),
        TypeKind::None => out.push_str("none"),
        TypeKind::Complex(elem) => {
            out.push_str("complex<");
            write_type(cx, *elem, out);
            out.push('>');
        }
        TypeKind::Tuple(elems) => {
            out.push_str("tuple<");
            write_list(elems, out, |t, out| write_type(cx, *t, out));
            out.push('>');
        }
        TypeKind::Function { inputs, results } => write_function(cx, inputs, results, out),
        TypeKind::Vector { shape, scalable, elem } => {
            out.push_str("vector<");
            write_dims(shape, scalable, out);
            write_type(cx, *elem, out);
            out.push('>');
        }
        TypeKind::Tensor { shape, elem, encoding } => {
            out.push_str("tensor<");
            match shape {
                Some(shape) => write_dims(shape, &[], out),
                None => out.push_str("*x"),
            }
            write_type(cx, *elem, out);
            if let Some(encoding) = encoding {
                out.push_str(", ");
                write_attr(cx, *encoding, Typed::Always, out);
            }
            out.push('>');
        }
        TypeKind::MemRef { shape, elem, extra } => {
            out.push_str("memref<");
            match shape {
                Some(shape) => write_dims(shape, &[], out),
                None => out.push_str("*x"),
            }
            write_type(cx, *elem, out);
            for attr in extra {
                out.push_str(", ");
                write_attr(cx, *attr, Typed::UnlessDefault, out);
            }
            out.push('>');
        }
        TypeKind::Opaque(text) => {
            out.push('!');
            out.push_str(cx.str(*text));
        }
    }
}

/// `(T, U) -> V`, with parentheses around the results unless there is one that is no function.
pub(super) fn write_function(cx: &Context, inputs: &[TypeId], results: &[TypeId], out: &mut String) {
    out.push('(');
    write_list(inputs, out, |t, out| write_type(cx, *t, out));
    out.push_str(") -> ");
    match results {
        [one] if !matches!(cx.ty(*one), TypeKind::Function { .. }) => write_type(cx, *one, out),
        _ => {
            out.push('(');
            write_list(results, out, |t, out| write_type(cx, *t, out));
            out.push(')');
        }
    }
}

/// Can a name stand without quotes?
fn is_bare(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.'))
}

/// A string in quotes; what is not printable ASCII becomes `\XX`.
pub(crate) fn write_quoted(bytes: &[u8], out: &mut String) {
    out.push('"');
    for &b in bytes {
        match b {
            b'\\' => out.push_str("\\\\"),
            b'"' => out.push_str("\\22"),
            0x20..=0x7e => out.push(char::from(b)),
            _ => put!(out, "\\{b:02X}"),
        }
    }
    out.push('"');
}

pub(super) fn write_name(name: &str, out: &mut String) {
    if is_bare(name) { out.push_str(name) } else { write_quoted(name.as_bytes(), out) }
}

pub(super) fn write_symbol(name: &str, out: &mut String) {
    out.push('@');
    write_name(name, out);
}

/// `{a = 1, b}` with the braces.
pub(super) fn write_dict(cx: &Context, entries: &[(StrId, AttrId)], out: &mut String) {
    out.push('{');
    write_list(entries, out, |(name, value), out| {
        write_name(cx.str(*name), out);
        if !matches!(cx.attr(*value), AttrKind::Unit) {
            out.push_str(" = ");
            write_attr(cx, *value, Typed::Always, out);
        }
    });
    out.push('}');
}

pub(crate) fn write_attr(cx: &Context, attr: AttrId, typed: Typed, out: &mut String) {
    let suffix = |ty: TypeId, default: Option<KnownType>, out: &mut String| {
        if typed == Typed::Always || typed == Typed::UnlessDefault && default.map(KnownType::id) != Some(ty) {
            out.push_str(" : ");
            write_type(cx, ty, out);
        }
    };
    match cx.attr(attr) {
        AttrKind::Unit => out.push_str("unit"),
        AttrKind::Bool(b) => put!(out, "{b}"),
        AttrKind::Int { ty, value } => {
            write_int(cx, *ty, *value, out);
            suffix(*ty, Some(KnownType::I64), out);
        }
        AttrKind::Float { ty, bits } => {
            let from = out.len();
            write_float(cx, *ty, *bits, out);
            // In hexadecimal it would read as an integer.
            let default = if out[from..].starts_with("0x") { None } else { Some(KnownType::F64) };
            suffix(*ty, default, out);
        }
        AttrKind::WideInt { ty, text } | AttrKind::WideFloat { ty, text } => {
            out.push_str(cx.str(*text));
            suffix(*ty, None, out);
        }
        AttrKind::Str { text, ty } => {
            write_quoted(cx.str(*text).as_bytes(), out);
            if let Some(ty) = ty {
                out.push_str(" : ");
                write_type(cx, *ty, out);
            }
        }
        AttrKind::Bytes(bytes) => write_quoted(bytes, out),
        AttrKind::Array(elems) => {
            out.push('[');
            write_list(elems, out, |e, out| write_attr(cx, *e, Typed::UnlessDefault, out));
            out.push(']');
        }
        AttrKind::DenseArray { elem, data } => {
            out.push_str("array<");
            write_type(cx, *elem, out);
            let size = element_size(cx, *elem).max(1);
            for (i, bytes) in data.0.chunks_exact(size).enumerate() {
                out.push_str(if i == 0 { ": " } else { ", " });
                write_element(cx, *elem, bytes, out);
            }
            out.push('>');
        }
        AttrKind::Dict(entries) => write_dict(cx, entries, out),
        AttrKind::Dense { ty, splat, data } => {
            out.push_str("dense<");
            write_dense(cx, *ty, *splat, data, out);
            out.push_str("> : ");
            write_type(cx, *ty, out);
        }
        AttrKind::DenseStrings { ty, splat, strings } => {
            out.push_str("dense<");
            let shape = cx.ty(*ty).shaped().and_then(|(s, _)| s).unwrap_or(&[]);
            if *splat {
                strings.iter().take(1).for_each(|s| write_quoted(cx.str(*s).as_bytes(), out));
            } else if !strings.is_empty() {
                write_nested(shape, &mut 0, out, &mut |i, out| {
                    write_quoted(strings.get(i).map_or("", |s| cx.str(*s)).as_bytes(), out);
                });
            }
            out.push_str("> : ");
            write_type(cx, *ty, out);
        }
        AttrKind::DenseResource { ty, key } => {
            put!(out, "dense_resource<{}> : ", cx.str(*key));
            write_type(cx, *ty, out);
        }
        AttrKind::Sparse { ty, body } => {
            put!(out, "sparse<{}> : ", cx.str(*body));
            write_type(cx, *ty, out);
        }
        AttrKind::Type(ty) => write_type(cx, *ty, out),
        AttrKind::Symbol { root, nested } => {
            write_symbol(cx.str(*root), out);
            for name in nested {
                out.push_str("::");
                write_symbol(cx.str(*name), out);
            }
        }
        AttrKind::Opaque { text, ty } => {
            out.push('#');
            out.push_str(cx.str(*text));
            if let Some(ty) = ty {
                out.push_str(" : ");
                write_type(cx, *ty, out);
            }
        }
        AttrKind::Verbatim(text) => out.push_str(cx.str(*text)),
        AttrKind::Distinct { id, of } => {
            put!(out, "distinct[{id}]<");
            if !matches!(cx.attr(*of), AttrKind::Unit) {
                write_attr(cx, *of, Typed::Always, out);
            }
            out.push('>');
        }
        AttrKind::Loc(loc) => {
            out.push_str("loc(");
            write_loc(cx, *loc, &no_alias, out);
            out.push(')');
        }
    }
}

/// What stands between the parentheses of `loc(...)`.
pub(super) fn write_loc(cx: &Context, loc: LocId, alias: LocAlias<'_>, out: &mut String) {
    let child = |loc: LocId, out: &mut String| match alias(loc) {
        Some(name) => out.push_str(&name),
        None => write_loc(cx, loc, alias, out),
    };
    match &*cx.loc(loc) {
        LocKind::Unknown => out.push_str("unknown"),
        LocKind::File { file, line, col } => {
            write_quoted(cx.str(*file).as_bytes(), out);
            put!(out, ":{line}:{col}");
        }
        LocKind::Range { file, start, end } => {
            write_quoted(cx.str(*file).as_bytes(), out);
            put!(out, ":{}:{} to ", start.0, start.1);
            if end.0 != start.0 {
                put!(out, "{}", end.0);
            }
            put!(out, ":{}", end.1);
        }
        LocKind::Name { name, child: c } => {
            write_quoted(cx.str(*name).as_bytes(), out);
            if *c != LocId::UNKNOWN {
                out.push('(');
                child(*c, out);
                out.push(')');
            }
        }
        LocKind::CallSite { callee, caller } => {
            out.push_str("callsite(");
            child(*callee, out);
            out.push_str(" at ");
            child(*caller, out);
            out.push(')');
        }
        LocKind::Fused { locs, metadata } => {
            out.push_str("fused");
            if let Some(metadata) = metadata {
                out.push('<');
                write_attr(cx, *metadata, Typed::Always, out);
                out.push('>');
            }
            out.push('[');
            write_list(locs, out, |l, out| child(*l, out));
            out.push(']');
        }
    }
}

fn write_int(cx: &Context, ty: TypeId, value: i64, out: &mut String) {
    match cx.ty(ty) {
        TypeKind::Integer { sign: Signedness::Unsigned, .. } => put!(out, "{}", value as u64),
        _ => put!(out, "{value}"),
    }
}

fn write_float(cx: &Context, ty: TypeId, bits: u64, out: &mut String) {
    match cx.ty(ty) {
        TypeKind::Float(float) => write_float_bits(*float, bits, out),
        _ => put!(out, "0x{bits:X}"),
    }
}

/// The float's value, and what a value reads back as.
fn to_f64(float: FloatKind, bits: u64) -> f64 {
    match float {
        FloatKind::F64 => f64::from_bits(bits),
        FloatKind::F32 => f64::from(f32::from_bits(bits as u32)),
        FloatKind::F16 => half::f16::from_bits(bits as u16).to_f64(),
        _ => half::bf16::from_bits(bits as u16).to_f64(),
    }
}

fn reads_back(float: FloatKind, text: &str, bits: u64) -> bool {
    let Ok(value) = text.parse::<f64>() else { return false };
    bits == match float {
        FloatKind::F64 => value.to_bits(),
        FloatKind::F32 => u64::from((value as f32).to_bits()),
        FloatKind::F16 => u64::from(half::f16::from_f64(value).to_bits()),
        _ => u64::from(half::bf16::from_f64(value).to_bits()),
    }
}

pub(super) fn write_float_bits(float: FloatKind, bits: u64, out: &mut String) {
    let value = to_f64(float, bits);
    let hex = |out: &mut String| {
        let digits = float.bits() as usize / 4;
        put!(out, "0x{bits:0digits$X}");
    };
    if !value.is_finite() {
        return hex(out);
    }
    // `1.500000e0` to `1.500000e+00`.
    let short = format!("{value:.6e}");
    let (mantissa, exponent) = short.split_once('e').unwrap_or((&short, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    let text = format!("{mantissa}e{sign}{:02}", exponent.abs());
    if reads_back(float, &text, bits) {
        return out.push_str(&text);
    }
    // All the digits that matter.
    let precision: usize = match float {
        FloatKind::F64 => 17,
        FloatKind::F32 => 9,
        FloatKind::F16 => 5,
        _ => 4,
    };
    let long = format!("{:.*e}", precision - 1, value.abs());
    let (mantissa, exponent) = long.split_once('e').unwrap_or((&long, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    let digits = digits.trim_end_matches('0');
    let digits = if digits.is_empty() { "0" } else { digits };
    let n = digits.len() as i32;
    let last = exponent - (n - 1);
    let scientific = match () {
        () if last >= 0 => last > 3 || n + last > precision as i32,
        () => exponent < -3,
    };
    let mut text = String::new();
    if value.is_sign_negative() {
        text.push('-');
    }
    if scientific {
        let (head, tail) = digits.split_at(1);
        let tail = if tail.is_empty() { "0" } else { tail };
        let sign = if exponent < 0 { '-' } else { '+' };
        put!(text, "{head}.{tail}E{sign}{}", exponent.abs());
    } else if last >= 0 {
        // Without a point it would read as an integer.
        return hex(out);
    } else if exponent >= 0 {
        let (head, tail) = digits.split_at(exponent as usize + 1);
        put!(text, "{head}.{tail}");
    } else {
        put!(text, "0.{}{digits}", "0".repeat((-exponent - 1) as usize));
    }
    if reads_back(float, &text, bits) { out.push_str(&text) } else { hex(out) }
}

/// Bytes of one element of a dense array or tensor.
pub(crate) fn element_size(cx: &Context, elem: TypeId) -> usize {
    match cx.ty(elem) {
        TypeKind::Integer { width, .. } => (*width as usize).div_ceil(8),
        TypeKind::Index => 8,
        TypeKind::Float(float) => (float.bits() as usize).div_ceil(8),
        TypeKind::Complex(part) => 2 * element_size(cx, *part),
        _ => 0,
    }
}

fn write_element(cx: &Context, elem: TypeId, bytes: &[u8], out: &mut String) {
    let mut raw = [0; 8];
    let n = bytes.len().min(8);
    raw[..n].copy_from_slice(&bytes[..n]);
    let bits = u64::from_le_bytes(raw);
    match cx.ty(elem) {
        TypeKind::Integer { width: 1, sign: Signedness::Signless } => put!(out, "{}", bits & 1 == 1),
        TypeKind::Integer { width, sign } => {
            let shift = 64 - (*width).clamp(1, 64);
            match sign {
                Signedness::Unsigned => put!(out, "{}", (bits << shift) >> shift),
                Signedness::Signless | Signedness::Signed => {
                    put!(out, "{}", ((bits as i64) << shift) >> shift);
                }
            }
        }
        TypeKind::Float(float) => write_float_bits(*float, bits, out),
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

/// Nested lists in the form of `shape`; `element` writes element number `i`.
fn write_nested(
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

fn write_dense(cx: &Context, ty: TypeId, splat: bool, data: &Blob, out: &mut String) {
    let Some((shape, elem)) = cx.ty(ty).shaped() else { return };
    let shape = shape.unwrap_or(&[]);
    let size = element_size(cx, elem).max(1);
    if data.0.is_empty() {
        return;
    }
    if splat {
        return write_element(cx, elem, &data.0, out);
    }
    let n = data.0.len() / size;
    if n > MAX_LISTED {
        return write_hex(cx, elem, data, out);
    }
    write_nested(shape, &mut 0, out, &mut |i, out| {
        if let Some(bytes) = data.0.get(i * size..(i + 1) * size) {
            write_element(cx, elem, bytes, out);
        }
    });
}

fn write_hex(cx: &Context, elem: TypeId, data: &Blob, out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.push_str("\"0x");
    let mut byte = |b: u8| {
        out.push(char::from(DIGITS[usize::from(b >> 4)]));
        out.push(char::from(DIGITS[usize::from(b & 15)]));
    };
    if elem == KnownType::I1.id() && matches!(cx.ty(elem), TypeKind::Integer { width: 1, .. }) {
        for bools in data.0.chunks(8) {
            byte(bools.iter().enumerate().fold(0, |b, (i, bit)| b | (bit & 1) << i));
        }
    } else {
        data.0.iter().copied().for_each(&mut byte);
    }
    out.push('"');
}
