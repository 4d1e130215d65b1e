//! `ir-translate --inspect`: the contents of a model, like `saved_model_cli show`.

use std::fmt::Write;

use befrost_compiler::import::summary::{
    GraphSummary, ModelSummary, OpSummary, SignatureSummary, TensorSummary,
};

/// The description of a model as text.
pub(super) fn text(name: &str, model: &ModelSummary) -> String {
    let mut out = format!("{name}: {}\n", model.format);
    for graph in &model.graphs {
        // Writing to a string does not fail.
        _ = describe(&mut out, graph);
    }
    out
}

fn describe(out: &mut String, graph: &GraphSummary) -> std::fmt::Result {
    let GraphSummary {
        tags,
        producer,
        signatures,
        variables,
        assets,
        n_nodes,
        n_functions,
        constants,
        ops,
        problems,
    } = graph;
    if !tags.is_empty() || !producer.is_empty() {
        let tags = if tags.is_empty() { String::new() } else { format!(" [{}]", tags.join(", ")) };
        let producer = if producer.is_empty() { String::new() } else { format!(", written by {producer}") };
        writeln!(out, "\ngraph{tags}{producer}")?;
    }
    for SignatureSummary { name, inputs, outputs } in signatures {
        writeln!(out, "\nsignature {name}")?;
        ports(out, "input", inputs)?;
        ports(out, "output", outputs)?;
    }
    if !variables.is_empty() {
        let n_bytes = variables.iter().fold(0usize, |sum, variable| sum.saturating_add(variable.n_bytes));
        writeln!(out, "\nvariables: {}, {}", variables.len(), bytes(n_bytes))?;
        let width = width(variables);
        for variable in variables {
            writeln!(out, "  {:width$}  {}  {}", variable.name, shape(variable), bytes(variable.n_bytes))?;
        }
    }
    if !assets.is_empty() {
        writeln!(out, "\nassets: {}", assets.len())?;
        for (name, n_bytes) in assets {
            writeln!(out, "  {name}  {}", n_bytes.map_or("missing".to_owned(), bytes))?;
        }
    }
    writeln!(
        out,
        "\nnodes: {n_nodes}, functions: {n_functions}, constants: {}, {}",
        constants.0,
        bytes(constants.1)
    )?;
    writeln!(out, "\noperations: {}", ops.len())?;
    let width = ops.iter().map(|op| op.name.chars().count()).max().unwrap_or(0);
    for OpSummary { name, n, is_supported } in ops {
        let note = if *is_supported { "" } else { "  not supported" };
        writeln!(out, "  {name:width$}  {n:>5}{note}")?;
    }
    problems.iter().try_for_each(|problem| writeln!(out, "\nproblem: {problem}"))
}

fn ports(out: &mut String, what: &str, ports: &[TensorSummary]) -> std::fmt::Result {
    let width = width(ports);
    for port in ports {
        let tensor = if port.tensor.is_empty() { String::new() } else { format!("  = {}", port.tensor) };
        let names = size_names(port);
        writeln!(out, "  {what:6}  {:width$}  {}{names}{tensor}", port.name, shape(port))?;
    }
    Ok(())
}

fn width(of: &[TensorSummary]) -> usize {
    of.iter().map(|one| one.name.chars().count()).max().unwrap_or(0)
}

/// The sizes, by their names where they have one.
fn size_names(tensor: &TensorSummary) -> String {
    if tensor.size_names.is_empty() {
        return String::new();
    }
    let dims = tensor.shape.as_deref().unwrap_or_default();
    let names = tensor.size_names.iter().zip(dims).map(|(name, &dim)| match name.as_str() {
        "" if dim < 0 => "?".to_owned(),
        "" => dim.to_string(),
        name => name.to_owned(),
    });
    format!("  ({})", names.collect::<Vec<_>>().join(", "))
}

/// A type in the syntax of the tools' options: `f32[?x64]`.
fn shape(tensor: &TensorSummary) -> String {
    let element = if tensor.element.is_empty() { "?" } else { &tensor.element };
    let Some(dims) = &tensor.shape else { return format!("{element}[*]") };
    let dims = dims.iter().map(|&dim| if dim < 0 { "?".to_owned() } else { dim.to_string() });
    format!("{element}[{}]", dims.collect::<Vec<_>>().join("x"))
}

fn bytes(n: usize) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let (mut size, mut unit) = (n as f64, "bytes");
    for larger in UNITS {
        if size < 1024.0 {
            break;
        }
        (size, unit) = (size / 1024.0, larger);
    }
    if unit == "bytes" { format!("{n} bytes") } else { format!("{size:.1} {unit}") }
}
