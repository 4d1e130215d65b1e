//! Diagnostics of import: one function per code, `E08xx`.

use crate::diag::{Diagnostic, shortened};

/// A diagnostic on the heap, since most functions succeed.
pub(super) type Refusal = Box<Diagnostic>;

/// The longest excerpt of a text from the file that is shown.
const MAX_SHOWN: usize = 120;

/// A name from the file, shortened.
pub(super) fn shown(text: &str) -> String {
    shortened(text, MAX_SHOWN)
}

fn error(code: &'static str, message: String) -> Refusal {
    Box::new(Diagnostic::error(code, message))
}

/// E0801: the bytes are no valid message.
pub(super) fn not_a_graph(why: &str) -> Refusal {
    error("E0801", format!("this is no binary GraphDef: {why}"))
}

/// E0801: the text is no valid message.
pub(super) fn not_a_text(message: &str, why: &str) -> Refusal {
    error("E0801", format!("this is no {message} as text: {why}"))
}

/// E0802: an invalid node.
pub(super) fn node(name: &str, op: &str, why: &str) -> Refusal {
    error("E0802", format!("node '{}' ({}): {why}", shown(name), shown(op)))
}

/// E0803: a feed or fetch that the graph does not have.
pub(super) fn no_such_tensor(what: &str, name: &str, why: &str) -> Refusal {
    error("E0803", format!("cannot {what} '{}': {why}", shown(name)))
}

/// E0804: nodes that depend on themselves.
pub(super) fn cycle(names: &[&str]) -> Refusal {
    let path: Vec<String> = names.iter().map(|name| format!("'{}'", shown(name))).collect();
    error("E0804", format!("the graph has a cycle: {}", path.join(" -> ")))
}

/// E0805: unsupported operations, with counts and nodes.
pub(super) fn unsupported(ops: &[(String, Vec<String>)]) -> Refusal {
    const NODES: usize = 4;
    let list = ops.iter().map(|(op, nodes)| {
        let named: Vec<String> = nodes.iter().take(NODES).map(|name| format!("'{}'", shown(name))).collect();
        let more = if nodes.len() > NODES { ", ..." } else { "" };
        format!(
            "{} ({} node{}: {}{more})",
            shown(op),
            nodes.len(),
            if nodes.len() == 1 { "" } else { "s" },
            named.join(", ")
        )
    });
    let list: Vec<String> = list.collect();
    Box::new(
        Diagnostic::error(
            "E0805",
            format!("the graph has operations that are not supported: {}", list.join("; ")),
        )
        .help("fetch tensors that do not need these nodes, or feed their results"),
    )
}

/// E0806: an invalid function of the library.
pub(super) fn function(name: &str, why: &str) -> Refusal {
    error("E0806", format!("function '{}': {why}", shown(name)))
}

/// E0807: nothing to import.
pub(super) fn empty() -> Refusal {
    Box::new(
        Diagnostic::error("E0807", "the graph has no nodes")
            .help("is this a frozen graph or a SavedModel? Befrost reads GraphDefs"),
    )
}
