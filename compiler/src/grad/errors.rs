//! Diagnostics of differentiation: one function per code, `E09xx`.

use super::keep::Kept;
use crate::build::query;
use crate::diag::{Diagnostic, Severity};
use crate::dialects::at_op;
use crate::ir::{Module, OpId, ValueId};
use crate::print::type_text;

/// Maximum number of node names listed for each op name.
const MAX_NAMED: usize = 4;

/// E0901: all ops without a gradient between the xs and the ys.
pub(super) fn no_gradient(m: &Module, request: OpId, ops: &[OpId]) -> Diagnostic {
    let mut names: Vec<(&str, Vec<String>, usize)> = Vec::new();
    for &op in ops {
        let name = m.op_name_str(op);
        let at = match names.iter().position(|(other, ..)| *other == name) {
            Some(at) => at,
            None => {
                names.push((name, Vec::new(), 0));
                names.len() - 1
            }
        };
        let (_, nodes, n) = &mut names[at];
        *n += 1;
        if nodes.len() < MAX_NAMED {
            nodes.extend(node(m, op));
        }
    }
    let list: Vec<String> = names
        .iter()
        .map(|(name, nodes, n)| {
            let more = if *n > nodes.len() && !nodes.is_empty() { ", ..." } else { "" };
            let nodes =
                if nodes.is_empty() { String::new() } else { format!(": {}{more}", nodes.join(", ")) };
            format!("`{name}` ({n} op{}{nodes})", if *n == 1 { "" } else { "s" })
        })
        .collect();
    let d = at_op(m, request, "E0901", format!("there is no gradient of {}", list.join("; ")));
    let d = ops.iter().fold(d, |d, &op| match m.op_spans.at(op) {
        Some(&span) => d.note(Some(span), "it is needed here"),
        None => d,
    });
    d.help("make them constants with tf.StopGradient, or give their function a gradient (bef.gradient)")
}

/// The name of a node.
fn node(m: &Module, op: OpId) -> Option<String> {
    m.node_name(op).map(|name| format!("'{name}'"))
}

/// E0901: an op that `prepare` should have replaced.
pub(super) fn not_prepared(m: &Module, op: OpId) -> Diagnostic {
    at_op(m, op, "E0901", "regions and requests are differentiated after they are replaced")
}

/// E0909: a value of `bef.recompute`.
pub(super) fn recompute(m: &Module, op: OpId, text: &str) -> Diagnostic {
    at_op(m, op, "E0909", format!("`bef.recompute` is none, cheap or all, got '{text}'"))
}

/// E0909: a value of `bef.keep_every`.
pub(super) fn keep_every(m: &Module, op: OpId) -> Diagnostic {
    at_op(m, op, "E0909", "`bef.keep_every` of a loop is a number of iterations, at least 1")
}

/// E0912: what a backward function is given, and what it computes again.
pub(super) fn recomputed(m: &Module, function: OpId, kept: &Kept) -> Diagnostic {
    let bytes = kept.values.iter().map(|&value| query::bytes_of(m, m.value_type(value)));
    let bytes = bytes.sum::<Option<usize>>();
    let bytes = bytes.map_or("of unknown size".to_owned(), |bytes| format!("{bytes} bytes"));
    let name = m.symbol_name(function).map_or("?", |name| m.cx.str(name));
    let (n, again) = (kept.values.len(), kept.again.len());
    let why = format!("the gradient of @{name} is given {n} values, {bytes}, and computes {again} ops again");
    Diagnostic { severity: Severity::Remark, help: None, ..at_op(m, function, "E0912", why) }
}

/// E0902: the message of a PreventGradient.
pub(super) fn prevented(m: &Module, op: OpId) -> Diagnostic {
    let message = m.attr_named(op, "message").and_then(|attr| m.cx.as_str(attr)).unwrap_or_default();
    let message = if message.is_empty() { "it gives no reason" } else { message };
    at_op(m, op, "E0902", format!("{} prevents its gradient: {message}", shown(m, op)))
}

fn shown(m: &Module, op: OpId) -> String {
    let name = m.op_name_str(op);
    node(m, op).map_or_else(|| format!("`{name}`"), |node| format!("`{name}` {node}"))
}

/// E0903: a y or x that cannot be differentiated.
pub(super) fn not_differentiable(
    m: &Module,
    request: OpId,
    what: &str,
    i: usize,
    value: ValueId,
) -> Diagnostic {
    let ty = type_text(&m.cx, m.value_type(value));
    at_op(m, request, "E0903", format!("{what} #{i} has type {ty}, which has no gradients"))
}

/// E0903: values of another block.
pub(super) fn elsewhere(m: &Module, request: OpId, what: &str, i: usize) -> Diagnostic {
    at_op(m, request, "E0903", format!("{what} #{i} is not defined in the block of the request"))
}

/// E0903: a call of a function that does not exist.
pub(super) fn no_callee(m: &Module, request: OpId) -> Diagnostic {
    at_op(m, request, "E0903", "a call of a function that does not exist")
}

/// E0903: a control flow op whose functions do not exist.
pub(super) fn no_functions(m: &Module, op: OpId) -> Diagnostic {
    at_op(m, op, "E0903", "the functions of an op that is differentiated are not known")
}

/// E0903: a function whose body is not one block.
pub(super) fn several_blocks(m: &Module, function: OpId) -> Diagnostic {
    at_op(m, function, "E0903", "a function of several blocks has no gradient")
}

/// E0903: calls nested more than `max` deep.
pub(super) fn too_deep(m: &Module, function: OpId, max: usize) -> Diagnostic {
    let why = format!("functions that call each other more than {max} deep have no gradient");
    at_op(m, function, "E0903", why)
}

/// E0903: copies of more than `max` ops.
pub(super) fn too_large(m: &Module, function: OpId, max: usize) -> Diagnostic {
    at_op(m, function, "E0903", format!("the gradient needs copies of functions with more than {max} ops"))
        .help("a function is copied once for each branch and loop that names it: nest them less deeply")
}

/// E0904: a gradient that does not exist.
pub(super) fn unconnected(m: &Module, request: OpId, i: usize, cut: Option<OpId>) -> Diagnostic {
    let d = at_op(m, request, "E0904", format!("no path of differentiable values leads from x #{i} to a y"));
    let d = match cut {
        Some(op) => d.note(m.op_spans.at(op).copied(), format!("{} is constant for it", shown(m, op))),
        None => d,
    };
    d.help("with unconnected = \"zero\" the gradient is zero")
}

/// E0906: a custom gradient that is missing or of the wrong signature.
pub(super) fn custom(m: &Module, op: OpId, name: &str, why: &str) -> Diagnostic {
    at_op(m, op, "E0906", format!("the gradient function @{name} of {}: {why}", shown(m, op)))
}

/// E0907: dataflow control flow that was not made functional.
pub(super) fn dataflow(m: &Module, op: OpId) -> Diagnostic {
    at_op(
        m,
        op,
        "E0907",
        format!("{} is not functional: loops of TensorFlow 1 are differentiated once they are", shown(m, op)),
    )
    .help("run tf-functionalize-control-flow first; a graph that it leaves has no gradient")
}
