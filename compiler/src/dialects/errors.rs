//! Diagnostics of the dialects' verifiers (`E07..`): one function per code.

use crate::diag::{Diagnostic, Span};
use crate::ir::{LocId, Module, OpId, TypeId, ValueId};
use crate::print::{loc_text, type_text};

/// An error about an op, at its place in the text, else with its location as a note.
pub fn at_op(m: &Module, op: OpId, code: &'static str, message: impl Into<String>) -> Diagnostic {
    with_origin(m, m.loc(op), Diagnostic::error(code, message).at(m.op_spans.at(op).copied()))
}

/// Adds the location of an op that is not in the text.
fn with_origin(m: &Module, loc: LocId, d: Diagnostic) -> Diagnostic {
    if d.span.is_none() && loc != LocId::UNKNOWN {
        let text = loc_text(&m.cx, loc);
        return d.note(None, format!("the operation comes from {text}"));
    }
    d
}

fn name(m: &Module, op: OpId) -> String {
    format!("`{}`", m.op_name_str(op))
}

fn list(m: &Module, types: &[TypeId]) -> String {
    let types: Vec<String> = types.iter().map(|t| type_text(&m.cx, *t)).collect();
    format!("({})", types.join(", "))
}

pub(super) fn public_declaration(m: &Module, op: OpId) -> Diagnostic {
    at_op(m, op, "E0701", "a function without a body cannot be public".to_owned())
        .help("write `func.func private`, or give it a body")
}

pub(super) fn function_constant(m: &Module, op: OpId, ty: TypeId, target: OpId) -> Diagnostic {
    let found = type_text(&m.cx, m.value_type(m.result(op, 0)));
    let want = type_text(&m.cx, ty);
    at_op(m, op, "E0702", format!("{} has type `{found}`, but the function has type `{want}`", name(m, op)))
        .note(m.op_spans.at(target).copied(), "the function is defined here")
}

pub(super) fn branch_count(m: &Module, op: OpId, i: usize, found: usize, want: usize) -> Diagnostic {
    let s = if want == 1 { "" } else { "s" };
    at_op(
        m,
        op,
        "E0703",
        format!(
            "{} hands over {found} operand{} to successor #{i}, which has {want} argument{s}",
            name(m, op),
            if found == 1 { "" } else { "s" }
        ),
    )
}

pub(super) fn branch_type(m: &Module, op: OpId, i: usize, operand: usize, arg: ValueId) -> Diagnostic {
    let found = type_text(&m.cx, m.value_type(m.operand(op, operand)));
    let want = type_text(&m.cx, m.value_type(arg));
    let d = at_op(
        m,
        op,
        "E0704",
        format!(
            "operand #{operand} of {} has type {found}, but the argument of successor #{i} has type {want}",
            name(m, op)
        ),
    );
    let d = match m.use_spans.at(m.operand_use(op, operand)).copied() {
        Some(span) => d.at(span),
        None => d,
    };
    d.note(m.value_spans.at(arg).copied(), "the argument is declared here")
}

pub(super) fn case_type(m: &Module, op: OpId, elem: TypeId) -> Diagnostic {
    let want = type_text(&m.cx, m.value_type(m.operand(op, 0)));
    let found = type_text(&m.cx, elem);
    at_op(
        m,
        op,
        "E0705",
        format!("the cases of {} have type {found}, but the number has type {want}", name(m, op)),
    )
}

pub(super) fn case_count(m: &Module, op: OpId, cases: usize, values: usize, counts: usize) -> Diagnostic {
    at_op(
        m,
        op,
        "E0706",
        format!(
            "{} has {cases} cases, but {values} values and {counts} operand counts for them",
            name(m, op)
        ),
    )
}

pub(super) fn region_args(
    m: &Module,
    op: OpId,
    index: usize,
    want: &[TypeId],
    found: &[TypeId],
) -> Diagnostic {
    at_op(
        m,
        op,
        "E0707",
        format!(
            "region #{index} of {} has arguments of types `{}`, expected `{}`",
            name(m, op),
            list(m, found),
            list(m, want)
        ),
    )
}

pub(super) fn yielded(m: &Module, op: OpId, want: &[TypeId], found: &[TypeId], parent: OpId) -> Diagnostic {
    at_op(
        m,
        op,
        "E0708",
        format!(
            "{} gives `{}`, but {} needs `{}`",
            name(m, op),
            list(m, found),
            name(m, parent),
            list(m, want)
        ),
    )
    .upstream(format!(
        "'{}' op operand types don't match '{}' result",
        m.op_name_str(op),
        m.op_name_str(parent)
    ))
    .note(m.op_spans.at(parent).copied(), "for this operation")
}

pub(super) fn not_one_value(m: &Module, op: OpId, last: OpId, found: usize) -> Diagnostic {
    let message = format!("the body of {} gives {found} values, expected one", name(m, op));
    at_op(m, op, "E0714", message)
        .upstream("incorrect number of return values. One return value is expected")
        .note(m.op_spans.at(last).copied(), "here")
}

pub(super) fn wrong_end(m: &Module, op: OpId, want: &str, parent: OpId) -> Diagnostic {
    at_op(
        m,
        op,
        "E0709",
        format!("a block of {} ends with {}, expected `{want}`", name(m, parent), name(m, op)),
    )
}

pub(super) fn no_else(m: &Module, op: OpId) -> Diagnostic {
    at_op(m, op, "E0710", format!("{} has results, so it needs an `else`", name(m, op)))
}

pub(super) fn cost(m: &Module, op: OpId, cost: i64) -> Diagnostic {
    at_op(m, op, "E0715", format!("the cost of {} is {cost}, expected at least 1", name(m, op)))
        .upstream(format!("'{}' op cost value must be larger than 0", m.op_name_str(op)))
}

pub(super) fn operator_attr(m: &Module, op: OpId, attr: &str) -> Diagnostic {
    let message = format!("the elements of `{attr}` of {} are pairs of a string and a value", name(m, op));
    at_op(m, op, "E0732", message)
}

pub(super) fn several_blocks(m: &Module, op: OpId, blocks: usize) -> Diagnostic {
    at_op(m, op, "E0711", format!("a region of {} has {blocks} blocks, expected at most one", name(m, op)))
}

pub(super) fn module_attr(m: &Module, op: OpId, attr: &str) -> Diagnostic {
    at_op(m, op, "E0712", format!("{} has the attribute `{attr}`, which names no dialect", name(m, op)))
        .help(format!("modules have `sym_name`, `sym_visibility` and others like `dialect.{attr}`"))
}

pub(super) fn region_cases(m: &Module, op: OpId, cases: usize, regions: usize) -> Diagnostic {
    at_op(m, op, "E0719", format!("{} has {cases} cases, but {regions} regions for them", name(m, op)))
}

pub(super) fn case_twice(m: &Module, op: OpId, value: i64) -> Diagnostic {
    at_op(m, op, "E0720", format!("{} has two cases for {value}", name(m, op)))
}

pub(super) fn index_count(m: &Module, op: OpId, want: usize, found: usize) -> Diagnostic {
    let (indices, axes) =
        (if found == 1 { "index" } else { "indices" }, if want == 1 { "axis" } else { "axes" });
    at_op(m, op, "E0721", format!("{} has {found} {indices} for {want} {axes}", name(m, op)))
}

pub(super) fn size_count(m: &Module, op: OpId, want: usize, found: usize) -> Diagnostic {
    let (sizes, ones) = (if found == 1 { "size" } else { "sizes" }, if want == 1 { "one" } else { "ones" });
    at_op(m, op, "E0721", format!("{} has {found} {sizes} for {want} unknown {ones}", name(m, op)))
}

pub(super) fn element_count(m: &Module, op: OpId, ty: TypeId, found: u64) -> Diagnostic {
    let ty = type_text(&m.cx, ty);
    at_op(m, op, "E0722", format!("{} has {found} elements for {ty}", name(m, op)))
}

pub(super) fn no_cast(m: &Module, op: OpId, from: TypeId, to: TypeId) -> Diagnostic {
    let [from, to] = [from, to].map(|ty| type_text(&m.cx, ty));
    at_op(m, op, "E0734", format!("{}: no tensor has both types {from} and {to}", name(m, op)))
}

pub(super) fn unranked_result(m: &Module, op: OpId) -> Diagnostic {
    at_op(m, op, "E0723", format!("the result of {} needs a rank", name(m, op)))
}

pub(crate) fn tf_signature(m: &Module, op: OpId, why: &str) -> Diagnostic {
    at_op(m, op, "E0713", format!("{}: {why}", name(m, op)))
}

/// [`tf_signature`] of an op that was not created.
pub(crate) fn tf_refused(m: &Module, span: Option<Span>, loc: LocId, name: &str, why: &str) -> Diagnostic {
    with_origin(m, loc, Diagnostic::error("E0713", format!("`{name}`: {why}")).at(span))
}
