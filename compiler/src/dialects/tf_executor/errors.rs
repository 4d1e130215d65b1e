//! Errors of graphs with dataflow control flow: one function per code.

use crate::diag::Diagnostic;
use crate::dialects::at_op;
use crate::ir::{Module, OpId};

/// The longest name that is shown.
const MAX_SHOWN: usize = 120;

/// An op as TensorFlow names it: `'while/Merge' (Merge)`, or only its operation if it has no name.
pub fn node(m: &Module, op: OpId) -> String {
    let full = m.op_name_str(op);
    let operation = full.strip_prefix("tf_executor.").or(full.strip_prefix("tf.")).unwrap_or(full);
    match m.node_name(op) {
        Some(name) => {
            let text: String = name.chars().take(MAX_SHOWN).collect();
            format!("'{text}' ({operation})")
        }
        None => format!("this {operation}"),
    }
}

/// E0724: an op that is not what its definition says.
pub(super) fn malformed(m: &Module, op: OpId, why: &str) -> Diagnostic {
    at_op(m, op, "E0724", format!("{} is malformed: {why}", node(m, op)))
}

/// E0725: nothing decides which operand is live.
pub(super) fn no_switch(m: &Module, merge: OpId) -> Diagnostic {
    at_op(m, merge, "E0725", format!("{} has no input that comes from a Switch", node(m, merge)))
        .note(None, "several inputs would be live at once")
}

/// E0726: one name, two frames.
pub(super) fn two_parents(
    m: &Module,
    enter: OpId,
    frame: &str,
    first: OpId,
    parents: [&str; 2],
) -> Diagnostic {
    let [this, other] = parents;
    let message = format!(
        "{} enters frame '{frame}' from {this}, but {} enters it from {other}",
        node(m, enter),
        node(m, first)
    );
    at_op(m, enter, "E0726", message).note(m.op_spans.at(first).copied(), "the other one is here")
}

/// E0727: a NextIteration or an Exit in no frame.
pub(super) fn not_in_a_loop(m: &Module, op: OpId) -> Diagnostic {
    at_op(m, op, "E0727", format!("{} is not in a loop: no Enter leads to it", node(m, op)))
}

/// E0728: inputs of different frames.
pub(super) fn two_frames(m: &Module, op: OpId, inputs: [(&str, &str); 2]) -> Diagnostic {
    let [(a, in_a), (b, in_b)] = inputs;
    let message = format!("{} has inputs of two frames: {a} is in {in_a}, {b} in {in_b}", node(m, op));
    at_op(m, op, "E0728", message).help("a value gets into a loop by an Enter and out of it by an Exit")
}

/// E0728: a result of the graph in a loop.
pub(super) fn fetched_inside(m: &Module, fetch: OpId, value: &str, frame: &str) -> Diagnostic {
    at_op(m, fetch, "E0728", format!("{value} is in {frame}, so the graph cannot return it"))
        .help("a value gets out of a loop by an Exit")
}

/// E0729: a token that does not tie one source to one sink.
pub(super) fn token(m: &Module, op: OpId, why: &str) -> Diagnostic {
    at_op(m, op, "E0729", format!("{}: {why}", node(m, op)))
}

/// E0730: a loop's Merge that has other inputs than an Enter and a NextIteration.
pub(super) fn loop_merge(m: &Module, merge: OpId, why: &str) -> Diagnostic {
    at_op(m, merge, "E0730", format!("{}, which has the next iteration as input, {why}", node(m, merge)))
}

/// E0731: a loop that needs its own result to be entered.
pub fn enters_itself(m: &Module, enter: OpId) -> Diagnostic {
    at_op(m, enter, "E0731", format!("what {} enters needs an Exit of the same loop", node(m, enter)))
}

/// E0733: an effect beside a graph with effects, which run in no order.
pub fn beside_graph(m: &Module, op: OpId) -> Diagnostic {
    let message = format!("{} stands beside a graph with effects, which would run in any order", node(m, op));
    at_op(m, op, "E0733", message)
        .help("put it into the graph, where control edges order effects; or leave out --no-functionalize")
}
