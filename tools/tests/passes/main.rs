//! Passes over op graphs: the results of random small graphs are the same before and after them.
//!
//! ```text
//! graph ──tf-to-kernels──────────▶ results ┐
//!   └────a pass, or a level──────▶ results ┴─▶ integers and NaN equal, floats within 1e-4 of the largest
//! ```
//!
//! A graph is generated op by op, so every prefix of a failing graph is a graph too. The shortest failing
//! prefix is shown.
#![forbid(unsafe_code)]

mod large;
mod memory;

use befrost::{DType, Datum, HostTensor, Runtime};
use befrost_compiler::diag::Diagnostic;
use befrost_compiler::emit::{EmitOptions, emit};
use befrost_compiler::graph::pipeline;
use befrost_compiler::pass::PassManager;
use befrost_compiler::syntax::{ParseOptions, parse};
use befrost_compiler::verify::{Verified, verify};
use befrost_testing::graphs::{Graph, GraphMode};

/// The number of graphs of each mode.
const GRAPHS: u64 = 60;
/// The number of ops of a graph, without those for its constants.
const OPS: usize = 14;

/// The passes, each with its prerequisites.
const PASSES: &[&str] = &[
    "tf-shape-inference",
    "tf-shape-inference,tf-constant-fold",
    "tf-shape-inference,tf-arithmetic",
    "tf-shape-inference,tf-layout",
    "tf-shape-inference,tf-layout{layout=nchw}",
    "tf-shape-inference,tf-remap",
    "inline{dialect=tf}",
    "tf-constant-fold,inline{dialect=tf}",
    "tf-shape-inference,tf-pack-weights",
    "tf-shape-inference,tf-pack-weights,tf-remap,tf-fuse-bottlenecks",
    "tf-shape-inference,tf-fuse-elementwise",
    "cse",
];

fn said(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|d| d.message.clone()).collect::<Vec<_>>().join("; ")
}

/// The verified module of a text, after passes.
fn compiled(text: &str, passes: &str) -> Result<Verified, String> {
    let parsed = parse("graph", text, &ParseOptions::default());
    let module = parsed.module.ok_or_else(|| format!("the text: {}", said(&parsed.diagnostics)))?;
    let module = verify(module).map_err(|wrong| format!("the graph: {}", said(&wrong)))?;
    let mut manager = PassManager::parse(passes).map_err(|error| format!("{error:?}"))?;
    let (module, _) = manager.run(module).map_err(|wrong| format!("passes: {}", said(&wrong)))?;
    Ok(module)
}

fn run(runtime: &Runtime, graph: &Graph, passes: &str) -> Result<Vec<Datum>, String> {
    let module = compiled(&graph.text(), passes)?;
    let bytes = emit(&module, &EmitOptions::default()).map_err(|wrong| format!("emit: {}", said(&wrong)))?;
    let program = runtime.load_bytes(&bytes).map_err(|error| error.to_string())?;
    let function = program.function("main").map_err(|error| error.to_string())?;
    function
        .call(graph.arguments.iter().map(|tensor| tensor.clone().into()))
        .map_err(|error| error.to_string())
}

fn same(found: &Datum, want: &Datum) -> Result<(), String> {
    let differ = || Err(format!("{found} instead of {want}"));
    let (found, want) = match (found.tensor(), want.tensor()) {
        (Ok(found), Ok(want)) => (found, want),
        (_, Err(error)) => return Err(format!("as written: {error}")),
        (Err(error), _) => return Err(error.to_string()),
    };
    if found.dtype() != want.dtype() || found.shape() != want.shape() {
        return differ();
    }
    let is_same = match want.dtype() {
        DType::F32 => alike(&floats(found)?, &floats(want)?),
        _ => {
            let bytes = |tensor: &HostTensor| tensor.read_bytes().map(|bytes| bytes.to_vec());
            bytes(found).map_err(|error| error.to_string())?
                == bytes(want).map_err(|error| error.to_string())?
        }
    };
    if is_same { Ok(()) } else { differ() }
}

fn floats(tensor: &HostTensor) -> Result<Vec<f32>, String> {
    Ok(tensor.read::<f32>().map_err(|error| error.to_string())?.to_vec())
}

fn alike(found: &[f32], want: &[f32]) -> bool {
    let largest = want.iter().filter(|x| x.is_finite()).fold(1.0, |largest: f32, x| largest.max(x.abs()));
    found.iter().zip(want).all(|(found, want)| {
        let equal = found == want || found.is_nan() && want.is_nan();
        equal || found.is_finite() && want.is_finite() && (found - want).abs() <= 1e-4 * largest
    })
}

/// Compares the results after a pipeline with those at level 0.
fn compare(runtime: &Runtime, graph: &Graph, passes: &str) -> Result<(), String> {
    let want = run(runtime, graph, &pipeline(0)).map_err(|error| format!("as written: {error}"))?;
    let found = run(runtime, graph, passes)?;
    found
        .iter()
        .zip(&want)
        .enumerate()
        .try_for_each(|(i, (found, want))| same(found, want).map_err(|why| format!("result #{i}: {why}")))
}

fn check(mode: GraphMode) {
    let runtime = Runtime::builder().work_queue("s").build().expect("a runtime of one thread needs nothing");
    let alone = PASSES.iter().map(|passes| format!("builtin.module({passes},tf-to-kernels)"));
    let pipelines: Vec<String> = alone.chain([1, 2].map(pipeline)).collect();
    let mut failures = Vec::new();
    for seed in 1..=GRAPHS {
        let graph = Graph::random(mode, seed, OPS);
        for passes in &pipelines {
            let Err(why) = compare(&runtime, &graph, passes) else { continue };
            let shorter = (1..OPS).find_map(|n| {
                let graph = Graph::random(mode, seed, n);
                compare(&runtime, &graph, passes).err().map(|why| (graph.text(), why))
            });
            let (text, why) = shorter.unwrap_or_else(|| (graph.text(), why));
            failures.push(format!("{mode:?}, seed {seed}, {passes}: {why}\n{text}"));
        }
    }
    assert!(
        failures.is_empty(),
        "{} failures, of which\n{}",
        failures.len(),
        failures[..failures.len().min(3)].join("\n")
    );
}

#[test]
fn floats_with_known_shapes() {
    check(GraphMode::Floats);
}

#[test]
fn floats_with_unknown_shapes() {
    check(GraphMode::Dynamic);
}

#[test]
fn integers() {
    check(GraphMode::Integers);
}

#[test]
fn images() {
    check(GraphMode::Images);
}

#[test]
fn texts_that_are_no_numbers() {
    check(GraphMode::Specials);
}
