//! Diagnostics of the parser: one function per code (`E01..` tokens, `E02..` syntax, `E03..` names).

use crate::diag::{Diagnostic, Span, shortened};
use crate::verify::CAPTURE;

fn error(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(code, message).at(span)
}

pub(super) fn bad_character(span: Span, c: char) -> Diagnostic {
    let code = u32::from(c);
    let shown = match c {
        '\u{FEFF}' => format!("U+{code:04X} (byte order mark)"),
        _ if c.is_ascii_graphic() => format!("`{c}`"),
        _ if c.is_alphanumeric() => format!("`{c}` (U+{code:04X})"),
        // These may be invisible or look like others.
        _ => format!("U+{code:04X}"),
    };
    let d = error("E0101", span, format!("unexpected character {shown}"));
    if c == '\u{FEFF}' { d.help("save the text as UTF-8 without a byte order mark") } else { d }
}

pub(super) fn unclosed_string(span: Span) -> Diagnostic {
    error("E0102", span, "this string does not end on its line")
        .help("close it with `\"`; write a line break inside a string as `\\n`")
}

pub(super) fn bad_symbol_name(span: Span) -> Diagnostic {
    error("E0103", span, "expected a name after `@`").help("write `@name` or `@\"any text\"`")
}

pub(super) fn missing_name(span: Span, sigil: char) -> Diagnostic {
    error("E0104", span, format!("expected a name after `{sigil}`"))
}

pub(super) fn unclosed_resource(span: Span) -> Diagnostic {
    error("E0105", span, "this resource section has no end").help("close it with `#-}`")
}

pub(super) fn unclosed_body(span: Span) -> Diagnostic {
    error("E0106", span, "the brackets of this `<...>` do not balance")
}

pub(super) fn too_deep(span: Span, limit: usize) -> Diagnostic {
    error("E0107", span, format!("brackets are nested deeper than {limit}"))
}

pub(super) fn too_long() -> Diagnostic {
    Diagnostic::error("E0108", "the text is longer than 4 GiB")
}

pub(super) fn too_many() -> Diagnostic {
    Diagnostic::error("E0110", "too many errors: the rest is not reported")
}

pub(super) fn bad_escape(span: Span) -> Diagnostic {
    error("E0109", span, "unknown escape in this string")
        .help("known are `\\\\`, `\\\"`, `\\n`, `\\t` and two hexadecimal digits as in `\\0A`")
}

pub(super) fn unclosed(open: Span, bracket: &str) -> Diagnostic {
    error("E0201", open, format!("this `{bracket}` is never closed"))
}

pub(super) fn unmatched(span: Span, bracket: &str) -> Diagnostic {
    error("E0202", span, format!("this `{bracket}` closes nothing"))
}

pub(super) fn unexpected(span: Span, found: &str, expected: &[String], context: Option<Span>) -> Diagnostic {
    let message = match expected {
        [] => format!("unexpected {}", found.strip_prefix("the ").unwrap_or(found)),
        [one] => format!("expected {one}, found {found}"),
        [init @ .., last] => format!("expected {} or {last}, found {found}", init.join(", ")),
    };
    error("E0203", span, message).label(context, "in this operation")
}

pub(super) fn expected(span: Span, what: &str, found: &str) -> Diagnostic {
    error("E0203", span, format!("expected {what}, found {found}"))
}

pub(super) fn format_mismatch(span: Span, what: &str, found: &str, op: &str, form: &str) -> Diagnostic {
    error("E0204", span, format!("expected {what}, found {found}"))
        .help(format!("the form of `{op}` is: {form}"))
}

pub(super) fn not_custom(span: Span, op: &str) -> Diagnostic {
    error("E0205", span, format!("`{op}` has no custom form"))
        .help(format!("write `\"{op}\"(...) : (...) -> (...)`"))
}

pub(super) fn count(span: Span, what: &str, want: usize, found: usize) -> Diagnostic {
    error("E0206", span, format!("expected {want} {what}, found {found}"))
}

pub(super) fn no_inference(span: Span, name: &str, found: &str) -> Diagnostic {
    error("E0220", span, format!("the type of `{name}` does not follow from type {found}"))
}

pub(super) fn number_range(span: Span, text: &str, ty: &str) -> Diagnostic {
    error("E0207", span, format!("{} does not fit in type {ty}", shorten(text)))
}

pub(super) fn count_range(span: Span, text: &str, what: &str) -> Diagnostic {
    error("E0207", span, format!("{} is too great for {what}", shorten(text)))
}

pub(super) fn number_type(span: Span, what: &str, ty: &str) -> Diagnostic {
    error("E0208", span, format!("{what} cannot have type {ty}"))
}

pub(super) fn empty_op_name(span: Span) -> Diagnostic {
    error("E0309", span, "the name of an operation cannot be empty")
}

pub(super) fn dotted_alias(span: Span, name: &str) -> Diagnostic {
    error("E0219", span, format!("the name of the alias `{}` has a `.`", shorten(name)))
        .help("names with a `.` are those of dialects")
}

pub(super) fn unknown_type(span: Span, name: &str) -> Diagnostic {
    error("E0209", span, format!("unknown type `{}`", shorten(name)))
}

pub(super) fn bad_type(span: Span, why: impl Into<String>) -> Diagnostic {
    error("E0210", span, why)
}

pub(super) fn unknown_attr(span: Span, word: &str) -> Diagnostic {
    error("E0211", span, format!("`{}` is not an attribute", shorten(word)))
}

pub(super) fn dense(span: Span, why: impl Into<String>) -> Diagnostic {
    error("E0212", span, why)
}

pub(super) fn affine(span: Span, why: impl Into<String>) -> Diagnostic {
    error("E0223", span, why)
}

pub(super) fn distinct(span: Span, number: u64, first: &str) -> Diagnostic {
    error("E0221", span, format!("`distinct[{number}]` wraps another attribute elsewhere"))
        .help(format!("there it is `distinct[{number}]<{}>`", shorten(first)))
}

pub(super) fn resources(span: Span, why: impl Into<String>) -> Diagnostic {
    error("E0222", span, why)
}

pub(super) fn duplicate_attr(span: Span, name: &str) -> Diagnostic {
    error("E0213", span, format!("attribute `{name}` is given twice"))
}

pub(super) fn undefined_alias(span: Span, name: &str) -> Diagnostic {
    error("E0214", span, format!("`{name}` is not defined"))
        .help("aliases are defined by `#a = ...` or `!t = ...`")
}

pub(super) fn alias_cycle(span: Span, name: &str) -> Diagnostic {
    error("E0215", span, format!("the alias `{name}` refers to itself"))
}

pub(super) fn alias_size(span: Span) -> Diagnostic {
    error("E0216", span, "aliases expand to too much text")
}

pub(super) fn redefined_alias(span: Span, name: &str, first: Span) -> Diagnostic {
    error("E0217", span, format!("`{name}` is defined twice")).note(Some(first), "first defined here")
}

pub(super) fn bad_location(span: Span, why: &str) -> Diagnostic {
    error("E0218", span, why)
}

/// `is_outside`: the value is defined, but not visible in the region.
pub(super) fn undefined_value(span: Span, name: &str, near: Option<&str>, is_outside: bool) -> Diagnostic {
    let d = error("E0302", span, format!("use of undefined value `%{name}`"));
    if is_outside {
        return d.upstream(CAPTURE).help("this region sees nothing from outside: pass it as an argument");
    }
    let d = d.upstream("use of undeclared SSA value name");
    match near {
        Some(near) => d.help(format!("did you mean `%{near}`?")),
        None => d,
    }
}

pub(super) fn redefined_value(span: Span, name: &str, first: Option<Span>) -> Diagnostic {
    error("E0303", span, format!("redefinition of `%{name}`"))
        .upstream(format!("redefinition of SSA value '%{name}'"))
        .note(first, "first defined here")
}

pub(super) fn result_number(span: Span, name: &str, n: u32) -> Diagnostic {
    error("E0304", span, format!("`%{name}` has {n} result{}", if n == 1 { "" } else { "s" }))
}

pub(super) fn value_type(span: Span, name: &str, want: &str, found: &str, first: Option<Span>) -> Diagnostic {
    error("E0305", span, format!("`%{name}` is used as {want} but has type {found}"))
        .upstream(format!(
            "use of value '%{name}' expects different type than prior uses: '{want}' vs '{found}'"
        ))
        .note(first, "prior use here: the value is defined")
}

pub(super) fn undefined_block(span: Span, name: &str) -> Diagnostic {
    error("E0306", span, format!("use of undefined block `^{name}`"))
}

pub(super) fn redefined_block(span: Span, name: &str, first: Span) -> Diagnostic {
    error("E0307", span, format!("redefinition of block `^{name}`")).note(Some(first), "first defined here")
}

pub(super) fn result_names(span: Span, named: usize, results: usize) -> Diagnostic {
    error(
        "E0308",
        span,
        format!(
            "{named} result{} named, but the operation has {results}",
            if named == 1 { " is" } else { "s are" }
        ),
    )
}

/// At most 40 characters of `text`.
pub(super) fn shorten(text: &str) -> String {
    shortened(text, 40)
}
