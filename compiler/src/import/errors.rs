//! Diagnostics of import: one function per code, `E08xx`.

pub(super) use crate::diag::Refusal;
use crate::diag::factory::nearest;
use crate::diag::{Diagnostic, shortened};

/// Maximum length of an excerpt from the file in a message.
const MAX_SHOWN: usize = 120;

/// A name from the file, shortened.
pub(super) fn shown(text: &str) -> String {
    shortened(text, MAX_SHOWN)
}

/// True for an error about a name, of a tensor, a graph or a signature, that the model does not have.
pub fn is_missing_name(error: &Diagnostic) -> bool {
    matches!(error.code, "E0803" | "E0808" | "E0809")
}

fn error(code: &'static str, message: String) -> Refusal {
    Box::new(Diagnostic::error(code, message))
}

/// E0801: the bytes are no valid message.
pub(super) fn not_a_graph(why: &str) -> Refusal {
    not_a("GraphDef", why)
}

/// E0801: the bytes are no valid message of this type.
pub(super) fn not_a(message: &str, why: &str) -> Refusal {
    error("E0801", format!("this is no binary {message}: {why}"))
}

/// E0801: the text is no valid message.
pub(super) fn not_a_text(message: &str, why: &str) -> Refusal {
    error("E0801", format!("this is no {message} as text: {why}"))
}

/// E0801: the bytes are no valid model.
pub(super) fn not_onnx(why: &str) -> Refusal {
    error("E0801", format!("this is no ONNX model: {why}"))
}

/// E0813: an invalid tensor of a model.
pub(super) fn tensor(name: &str, why: &str) -> Refusal {
    error("E0813", format!("tensor '{}': {why}", shown(name)))
}

/// E0802: an invalid node.
pub(super) fn node(name: &str, op: &str, why: &str) -> Refusal {
    error("E0802", format!("node '{}' ({}): {why}", shown(name), shown(op)))
}

/// E0803: a feed, fetch or target that the graph does not have; the nearest of the known names is said.
pub(super) fn missing<'n>(
    what: &str,
    name: &str,
    why: &str,
    known: impl Iterator<Item = &'n str>,
) -> Refusal {
    let near = nearest(name, known);
    let near = near.map_or_else(String::new, |near| format!("; did you mean '{}'?", shown(near)));
    error("E0803", format!("cannot {what} '{}': {why}{near}", shown(name)))
}

/// E0814: a tensor or node of the graph that cannot be what it was named for.
pub(super) fn unusable(what: &str, name: &str, why: &str) -> Refusal {
    error("E0814", format!("cannot {what} '{}': {why}", shown(name)))
}

/// E0804: nodes that depend on themselves.
pub(super) fn cycle(names: &[&str]) -> Refusal {
    let path: Vec<String> = names.iter().map(|name| format!("'{}'", shown(name))).collect();
    error("E0804", format!("the graph has a cycle: {}", path.join(" -> ")))
}

/// E0805: unsupported operations, with counts and nodes. A model of several functions may have some that do
/// not need them.
pub(super) fn unsupported(ops: &[(String, Vec<String>)], n_functions: usize) -> Refusal {
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
        .help(match n_functions {
            0 | 1 => "fetch tensors that do not need these nodes, or feed their results",
            _ => "choose a signature that does not need these nodes with --signature",
        }),
    )
}

/// E0806: an invalid function of the library.
pub(super) fn function(name: &str, why: &str) -> Refusal {
    error("E0806", format!("function '{}': {why}", shown(name)))
}

/// E0807: nothing to import.
pub(super) fn empty() -> Refusal {
    error("E0807", "the graph has no nodes".to_owned())
}

/// E0808: a graph that the SavedModel does not have.
pub(super) fn no_such_graph(wanted: &str, all: &[String]) -> Refusal {
    let message = format!("the model has no graph with the tags {wanted}; there are {}", all.join(", "));
    Box::new(Diagnostic::error("E0808", message).help("name the tags with --tag"))
}

/// E0809: a signature that the model does not have.
pub(super) fn no_such_signature(wanted: &str, all: &[&str]) -> Refusal {
    let names: Vec<String> = all.iter().map(|name| format!("'{}'", shown(name))).collect();
    let there =
        if names.is_empty() { "it has none".to_owned() } else { format!("there are {}", names.join(", ")) };
    error("E0809", format!("the model has no signature '{}'; {there}", shown(wanted)))
}

/// E0815: a signature with a value that is no tensor.
pub(super) fn composite(signature: &str, port: &str) -> Refusal {
    let (signature, port) = (shown(signature), shown(port));
    error(
        "E0815",
        format!("'{port}' of the signature '{signature}' is sparse or ragged, which is not supported"),
    )
}

/// E0810: variables that cannot be read.
pub(super) fn variables(why: &str) -> Refusal {
    error("E0810", format!("the variables cannot be read: {why}"))
}

/// E0811: a file of the model that cannot be read.
pub(super) fn asset(name: &str, why: &str) -> Refusal {
    let file = if name.is_empty() { String::new() } else { format!(" '{}'", shown(name)) };
    error("E0811", format!("the asset{file} cannot be used: {why}"))
}

/// E0812: a variable that is not known.
pub(super) fn cannot_freeze(op: &str) -> Refusal {
    let message = format!("the variables cannot be frozen: it is not known which of them a '{op}' changes");
    Box::new(Diagnostic::error("E0812", message).help("without --freeze they stay variables"))
}

/// E0812: an op that needs a variable, or one that has no value.
pub(super) fn unfrozen(op: &str, without_value: Option<&str>) -> Refusal {
    error(
        "E0812",
        match without_value {
            Some(variable) => {
                format!(
                    "the variables cannot be frozen: '{}', which a '{op}' reads, has no value",
                    shown(variable)
                )
            }
            None => {
                format!("the variables cannot be frozen: a '{op}' changes one, or needs more than its value")
            }
        },
    )
}

/// E0812: a resource whose contents a program does not have.
pub(super) fn other_resource(op: &str, name: &str) -> Refusal {
    let name = shown(name);
    error("E0812", format!("the function needs '{name}', a '{op}', whose contents cannot be frozen"))
}
