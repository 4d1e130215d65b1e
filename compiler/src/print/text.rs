//! Types, attributes, locations and numbers as text, as upstream MLIR prints them.
//!
//! A number prints with its type except where the parser infers it: `i64` and `f64` inside arrays, and values
//! of custom forms whose type is declared.
//!
//! The functions take a [`TextCx`]: the context, and the aliases of attributes and types, if there are any. A
//! context alone converts to one without aliases.

use super::affine::{write_map, write_set};
use super::aliases::{Aliases, Node};
use super::elements::{
    element_size, write_dense, write_element, write_int, write_nested, write_places, write_wide_int,
};
use super::push_number;
use crate::ir::{
    AttrId, AttrKind, Context, DYNAMIC, KnownType, LocId, LocKind, Signedness, StrId, TypeId, TypeKind,
};
use std::ops::Deref;

/// The context and the aliases for printing.
#[derive(Clone, Copy)]
pub(crate) struct TextCx<'a> {
    cx: &'a Context,
    aliases: Option<&'a Aliases>,
}

impl<'a> TextCx<'a> {
    pub(super) fn new(cx: &'a Context, aliases: &'a Aliases) -> Self {
        TextCx { cx, aliases: Some(aliases) }
    }

    /// True if the contents of a constant are too long to be written.
    fn elides(self, attr: AttrId) -> bool {
        let Some(limit) = self.aliases.and_then(|a| a.elide_larger_than) else { return false };
        match self.cx.attr(attr) {
            AttrKind::Dense { ty, splat: false, data } => {
                let size = self.cx.ty(*ty).shaped().map_or(1, |(_, elem)| element_size(self.cx, elem));
                data.len() / size.max(1) > limit
            }
            AttrKind::DenseStrings { splat: false, strings, .. } => strings.len() > limit,
            _ => false,
        }
    }

    fn alias(self, node: impl Into<Node>, out: &mut String) -> bool {
        self.aliases.is_some_and(|a| a.write(node.into(), out))
    }
}

impl<'a> From<&'a Context> for TextCx<'a> {
    fn from(cx: &'a Context) -> Self {
        TextCx { cx, aliases: None }
    }
}

impl Deref for TextCx<'_> {
    type Target = Context;

    fn deref(&self) -> &Context {
        self.cx
    }
}

/// Condition for writing the type of a number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Typed {
    /// Always.
    Always,
    /// Unless it is the default, `i64` or `f64`.
    UnlessDefault,
    /// Never.
    Never,
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
    write_loc(cx.into(), loc, &mut out);
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

pub(crate) fn write_type<'a>(style: impl Into<TextCx<'a>>, ty: TypeId, out: &mut String) {
    let style = style.into();
    if !style.alias(ty, out) {
        write_type_in_full(style, ty, out);
    }
}

/// The type itself, even if it has an alias.
pub(super) fn write_type_in_full(cx: TextCx<'_>, ty: TypeId, out: &mut String) {
    match cx.cx.ty(ty) {
        TypeKind::Integer { width, sign } => {
            out.push_str(match sign {
                Signedness::Signless => "i",
                Signedness::Signed => "si",
                Signedness::Unsigned => "ui",
            });
            push_number(*width, out);
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
        TypeKind::MemRef { shape, elem, layout, space } => {
            out.push_str("memref<");
            match shape {
                Some(shape) => write_dims(shape, &[], out),
                None => out.push_str("*x"),
            }
            write_type(cx, *elem, out);
            for attr in layout.iter().chain(space) {
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

/// `(T, U) -> V`, with parentheses around the results unless there is a single one that is no function type.
pub(super) fn write_function<'a>(
    cx: impl Into<TextCx<'a>>,
    inputs: &[TypeId],
    results: &[TypeId],
    out: &mut String,
) {
    let cx = cx.into();
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

/// True if a name needs no quotes.
fn is_bare(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.'))
}

/// A string in quotes; characters other than printable ASCII become `\XX`.
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
pub(super) fn write_dict<'a>(cx: impl Into<TextCx<'a>>, entries: &[(StrId, AttrId)], out: &mut String) {
    let cx = cx.into();
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

pub(crate) fn write_attr<'a>(style: impl Into<TextCx<'a>>, attr: AttrId, typed: Typed, out: &mut String) {
    let style = style.into();
    if !style.alias(attr, out) {
        write_attr_in_full(style, attr, typed, out);
    }
}

/// The attribute itself, even if it has an alias.
pub(super) fn write_attr_in_full(cx: TextCx<'_>, attr: AttrId, typed: Typed, out: &mut String) {
    let suffix = |ty: TypeId, default: Option<KnownType>, out: &mut String| {
        if typed == Typed::Always || typed == Typed::UnlessDefault && default.map(KnownType::id) != Some(ty) {
            out.push_str(" : ");
            write_type(cx, ty, out);
        }
    };
    let given_type = |ty: Option<TypeId>, out: &mut String| {
        if let Some(ty) = ty {
            out.push_str(" : ");
            write_type(cx, ty, out);
        }
    };
    match cx.cx.attr(attr) {
        AttrKind::Unit => out.push_str("unit"),
        AttrKind::Bool(b) => put!(out, "{b}"),
        AttrKind::Int { ty, value } => {
            write_int(&cx, *ty, *value, out);
            suffix(*ty, Some(KnownType::I64), out);
        }
        AttrKind::WideInt { ty, bytes } => {
            write_wide_int(bytes, out);
            suffix(*ty, None, out);
        }
        AttrKind::Float { ty, bits } => write_float(cx, *ty, u128::from(*bits), suffix, out),
        AttrKind::WideFloat { ty, bits: [low, high] } => {
            write_float(cx, *ty, u128::from(*high) << 64 | u128::from(*low), suffix, out);
        }
        AttrKind::Str { text, ty } => {
            write_quoted(cx.str(*text).as_bytes(), out);
            given_type(*ty, out);
        }
        AttrKind::Bytes { bytes, ty } => {
            write_quoted(bytes, out);
            given_type(*ty, out);
        }
        AttrKind::Array(elems) => {
            out.push('[');
            write_list(elems, out, |e, out| write_attr(cx, *e, Typed::UnlessDefault, out));
            out.push(']');
        }
        AttrKind::DenseArray { elem, data } => {
            out.push_str("array<");
            write_type(cx, *elem, out);
            let size = element_size(&cx, *elem).max(1);
            for (i, bytes) in data.chunks_exact(size).enumerate() {
                out.push_str(if i == 0 { ": " } else { ", " });
                write_element(&cx, *elem, bytes, out);
            }
            out.push('>');
        }
        AttrKind::Dict(entries) => write_dict(cx, entries, out),
        AttrKind::Dense { ty, .. } | AttrKind::DenseStrings { ty, .. } if cx.elides(attr) => {
            out.push_str("dense_resource<__elided__> : ");
            write_type(cx, *ty, out);
        }
        AttrKind::Dense { ty, .. } | AttrKind::DenseStrings { ty, .. } => {
            out.push_str("dense<");
            write_contents(cx, attr, out);
            out.push_str("> : ");
            write_type(cx, *ty, out);
        }
        AttrKind::DenseResource { ty, key } => {
            put!(out, "dense_resource<{}> : ", cx.str(*key));
            write_type(cx, *ty, out);
        }
        AttrKind::Sparse { ty, indices, values } => {
            out.push_str("sparse<");
            if let AttrKind::Dense { ty, splat, data } = cx.attr(*indices)
                && !data.is_empty()
            {
                write_places(&cx, *ty, *splat, data, out);
                out.push_str(", ");
                write_contents(cx, *values, out);
            }
            out.push_str("> : ");
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
            given_type(*ty, out);
        }
        AttrKind::AffineMap(map) => write_map(&cx, map, out),
        AttrKind::IntegerSet(set) => write_set(&cx, set, out),
        AttrKind::Strided { strides, offset } => {
            let number = |n: &i64, out: &mut String| match *n {
                DYNAMIC => out.push('?'),
                n => put!(out, "{n}"),
            };
            out.push_str("strided<[");
            write_list(strides, out, number);
            out.push(']');
            if *offset != 0 {
                out.push_str(", offset: ");
                number(offset, out);
            }
            out.push('>');
        }
        AttrKind::Distinct { id, of } => {
            let id = cx.aliases.map_or(*id, |a| a.distinct_number(attr));
            put!(out, "distinct[{id}]<");
            if !matches!(cx.attr(*of), AttrKind::Unit) {
                write_attr(cx, *of, Typed::Always, out);
            }
            out.push('>');
        }
        AttrKind::Loc(loc) if cx.alias(*loc, out) => {}
        AttrKind::Loc(loc) => {
            out.push_str("loc(");
            write_loc(cx, *loc, out);
            out.push(')');
        }
    }
}

fn write_float(
    cx: TextCx<'_>,
    ty: TypeId,
    bits: u128,
    suffix: impl Fn(TypeId, Option<KnownType>, &mut String),
    out: &mut String,
) {
    let TypeKind::Float(kind) = cx.ty(ty) else { return };
    let text = kind.text(bits);
    // In hexadecimal it would read back as an integer.
    let default = if text.starts_with("0x") { None } else { Some(KnownType::F64) };
    out.push_str(&text);
    suffix(ty, default, out);
}

/// The text between the angle brackets of a dense attribute.
fn write_contents(cx: TextCx<'_>, attr: AttrId, out: &mut String) {
    match cx.attr(attr) {
        AttrKind::Dense { ty, splat, data } => write_dense(&cx, *ty, *splat, data, out),
        AttrKind::DenseStrings { ty, splat, strings } => {
            let shape = cx.ty(*ty).shaped().and_then(|(s, _)| s).unwrap_or(&[]);
            if *splat {
                let one = strings.first().and_then(|&s| cx.string_bytes(s));
                write_quoted(one.unwrap_or_default(), out);
            } else if !strings.is_empty() {
                write_nested(shape, &mut 0, out, &mut |i, out| {
                    write_quoted(strings.get(i).and_then(|&s| cx.string_bytes(s)).unwrap_or_default(), out);
                });
            }
        }
        _ => {}
    }
}

/// The text between the parentheses of `loc(...)`: the location itself, with aliases for its parts.
pub(super) fn write_loc(cx: TextCx<'_>, loc: LocId, out: &mut String) {
    let child = |loc: LocId, out: &mut String| {
        if !cx.alias(loc, out) {
            write_loc(cx, loc, out);
        }
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
