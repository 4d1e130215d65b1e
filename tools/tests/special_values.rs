//! Ops on floats at NaN, infinities, zeros, and the smallest and largest numbers, compared with stored
//! results of TensorFlow.
//!
//! ```text
//! testdata/tensorflow/special/*.txt ──▶ operands, ops, results       (syntax: `tf/truth.rs` of the tensors)
//!     reference functions         by the oracle of op graphs
//!     -O0, -O2                    operands given whole; one row at a time; repeated, with a rest
//!     -O2, constant operands      by constant folding
//!     -O2, times 1                as a step of a fused program
//! ```
//!
//! The accepted differences of single ops are in [`is_kept`]. One concerns all ops: TensorFlow flushes
//! denormal operands and results to zero, and Befrost keeps them. So a number near the smallest normal one
//! matches a zero.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use befrost::{DType, Datum, HostTensor, Program, Runtime, Shape};
use befrost_compiler::diag::Diagnostic;
use befrost_compiler::emit::{EmitOptions, emit};
use befrost_compiler::graph::pipeline;
use befrost_compiler::pass::PassManager;
use befrost_compiler::syntax::{ParseOptions, parse};
use befrost_compiler::verify::{Verified, verify};
use befrost_tensor::mem::{Allocator, Malloc};
use befrost_tensor::tf::op::{Class, row, rows};
use befrost_tensor::tf::reference::cast;
use befrost_tensor::{TensorError, f16, literal, tf};
use befrost_testing::oracle::tf::{self as oracle, Strictness, TfValue, VariableStore};

/// The number of repetitions of the stored rows in a long operand.
const REPEATS: usize = 9;

/// An op with stored results.
struct Node {
    name: String,
    op: String,
    operands: Vec<String>,
    /// Attributes that do not follow from types, in MLIR's syntax.
    attrs: String,
    wants: Vec<HostTensor>,
}

/// A file of stored results.
struct Stored {
    tolerance: f64,
    operands: BTreeMap<String, HostTensor>,
    nodes: Vec<Node>,
}

fn plain() -> Arc<dyn Allocator> {
    Malloc::shared()
}

fn stored(dtype: &str) -> Stored {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/tensorflow/special");
    let text = std::fs::read_to_string(root.join(format!("{dtype}.txt"))).expect("a stored file");
    let mut stored = Stored { tolerance: 0.0, operands: BTreeMap::new(), nodes: Vec::new() };
    let tensor = |text: &str| literal::parse(text, &plain()).expect("a tensor");
    let follows = |attr: &str| attr.starts_with("DstT=") || attr.starts_with("N=");
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["tolerance", relative, _] => stored.tolerance = relative.parse().expect("a number"),
            [name, ":=", text] => _ = stored.operands.insert(name.to_owned(), tensor(text)),
            ["want", _, text] => stored.nodes.last_mut().expect("a node").wants.push(tensor(text)),
            [name, "=", op, ref rest @ ..] => {
                let (attrs, operands): (Vec<&str>, Vec<&str>) =
                    rest.iter().partition(|word| word.contains('='));
                stored.nodes.push(Node {
                    name: name.to_owned(),
                    op: op.to_owned(),
                    operands: operands.into_iter().map(str::to_owned).collect(),
                    attrs: attrs.into_iter().filter(|attr| !follows(attr)).collect::<Vec<_>>().join(", "),
                    wants: Vec::new(),
                });
            }
            _ => panic!("not understood: {line}"),
        }
    }
    assert!(stored.nodes.len() > 80, "the stored results are gone");
    stored
}

impl Stored {
    fn operands(&self, node: &Node) -> Vec<HostTensor> {
        node.operands.iter().map(|name| self.operands[name].clone()).collect()
    }

    /// The number of rows of the operands if each row of the results is a function of a row of the operands.
    fn rows(&self, node: &Node) -> Option<usize> {
        let rows = *self.operands(node).first()?.shape().dims().first()?;
        let is_same = |x: &HostTensor| x.shape().dims().first() == Some(&rows);
        (!node.op.contains("Segment") && node.wants.iter().all(is_same)).then_some(rows)
    }
}

/// Operands in a program's text.
#[derive(Clone, Copy, PartialEq)]
enum Given {
    /// Arguments of the stored shapes.
    Whole,
    /// Arguments with any number of rows.
    AnyRows,
    /// Constants.
    Constant,
    /// Arguments of the stored shapes; the result is multiplied by an argument.
    Fused,
}

fn type_of(x: &HostTensor, any_rows: Option<usize>) -> String {
    let dims = x.shape().dims().iter().enumerate().map(|(axis, &dim)| match any_rows {
        Some(rows) if axis == 0 && dim == rows => "?x".to_owned(),
        _ => format!("{dim}x"),
    });
    format!("tensor<{}{}>", dims.collect::<String>(), x.dtype())
}

/// The text of a function, named after the node, that evaluates it.
fn function(stored: &Stored, node: &Node, given: Given) -> String {
    let any_rows = if given == Given::AnyRows { stored.rows(node) } else { None };
    let operands = stored.operands(node);
    let types: Vec<String> = operands.iter().map(|x| type_of(x, any_rows)).collect();
    let results: Vec<String> = node.wants.iter().map(|x| type_of(x, any_rows)).collect();
    let (mut arguments, mut body) = (Vec::new(), String::new());
    for (i, (x, ty)) in operands.iter().zip(&types).enumerate() {
        if given == Given::Constant || x.shape().rank() == 0 {
            let bytes = x.read_bytes().expect("its bytes");
            let digits: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
            _ = writeln!(
                body,
                "  %x{i} = \"tf.Const\"() {{value = dense<\"0x{digits}\"> : {ty}}} : () -> {ty}"
            );
        } else {
            arguments.push(format!("%x{i}: {ty}"));
        }
    }
    let attrs = match &*node.attrs {
        "" => String::new(),
        attrs => format!(" {{{attrs}}}"),
    };
    let names: Vec<String> = (0..operands.len()).map(|i| format!("%x{i}")).collect();
    let (types, n) = (types.join(", "), results.len());
    _ = writeln!(
        body,
        "  %y:{n} = \"tf.{}\"({}){attrs} : ({types}) -> ({})",
        node.op,
        names.join(", "),
        results.join(", ")
    );
    let returned: Vec<String> = match given {
        Given::Fused => {
            let scalar = format!("tensor<{}>", node.wants[0].dtype());
            arguments.push(format!("%one: {scalar}"));
            let ty = &results[0];
            _ = writeln!(body, "  %z = \"tf.Mul\"(%y#0, %one) : ({ty}, {scalar}) -> {ty}");
            vec!["%z".to_owned()]
        }
        _ => (0..n).map(|i| format!("%y#{i}")).collect(),
    };
    let results = results[..returned.len()].join(", ");
    let (arguments, returned) = (arguments.join(", "), returned.join(", "));
    format!(
        "func.func @{}({arguments}) -> ({results}) {{\n{body}  return {returned} : {results}\n}}\n",
        node.name
    )
}

fn said(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|d| d.message.clone()).collect::<Vec<_>>().join("; ")
}

fn module(text: &str) -> Verified {
    let parsed = parse("program", text, &ParseOptions::default());
    let module = parsed.module.unwrap_or_else(|| panic!("{}", said(&parsed.diagnostics)));
    verify(module).unwrap_or_else(|wrong| panic!("{}", said(&wrong)))
}

fn loaded(runtime: &Runtime, text: &str, level: u8) -> Program {
    let mut passes = PassManager::parse(&pipeline(level)).expect("a pipeline");
    let (module, _) = passes.run(module(text)).unwrap_or_else(|wrong| panic!("{}", said(&wrong)));
    let bytes = emit(&module, &EmitOptions::default()).unwrap_or_else(|wrong| panic!("{}", said(&wrong)));
    runtime.load_bytes(&bytes).expect("a program")
}

fn call(program: &Program, name: &str, arguments: &[HostTensor]) -> Vec<HostTensor> {
    let function = program.function(name).expect("the function");
    let arguments = arguments.iter().filter(|x| x.shape().rank() > 0).cloned();
    let results =
        function.call_ok(arguments.map(Datum::from)).unwrap_or_else(|error| panic!("{name}: {error}"));
    results.iter().map(|result| result.tensor().expect("a tensor").clone()).collect()
}

fn wide(x: &HostTensor) -> Vec<f64> {
    cast(x, DType::F64, &plain()).expect("numbers").read::<f64>().expect("numbers").to_vec()
}

/// `n` rows of a tensor of `rows` rows, from row `from` on, cyclically. A tensor with another number of
/// rows is returned whole.
fn some_rows(x: &HostTensor, rows: usize, (from, n): (usize, usize)) -> HostTensor {
    let Some((&first, inner)) = x.shape().dims().split_first() else { return x.clone() };
    if first != rows {
        return x.clone();
    }
    let bytes = x.read_bytes().expect("its bytes");
    let row = bytes.len() / rows;
    let out =
        HostTensor::allocate(x.dtype(), Shape::new(&[&[n], inner].concat()).expect("a shape"), &plain());
    let out = out.expect("memory");
    let source = |at: usize| &bytes[(from + at) % rows * row..][..row];
    for (at, to) in out.write_bytes().expect("its bytes").chunks_exact_mut(row).enumerate() {
        to.copy_from_slice(source(at));
    }
    out
}

/// True if a result that differs from TensorFlow's is accepted: it is right, or no worse than TensorFlow's,
/// for the operands on which it depends.
fn is_kept(op: &str, operands: &[f64], found: f64, want: f64) -> bool {
    let tiny = [f16::MIN_POSITIVE.to_f64(), f64::from(f32::MIN_POSITIVE), f64::MIN_POSITIVE];
    match (op, operands) {
        // TensorFlow's function for f64 is NaN far from 0.
        ("Erf", &[x]) => found == x.signum(),
        // TensorFlow flushes a denormal quotient before it is rounded down.
        ("FloorDiv", &[a, b]) => found == -1.0 && (a / b).abs() < tiny[0],
        // TensorFlow's scalar code agrees, its vector code does not.
        ("SigmoidGrad", &[y, dy]) => found == 0.0 && y.is_finite() && dy == 0.0,
        // The sign of a zero depends on the operands that were flushed.
        ("RsqrtGrad", _) => found == want,
        // Our sums are f64 until the end: they do not overflow, and squares do not vanish.
        ("Mean" | "EuclideanNorm" | "AvgPool", x) => found.is_finite() && x.iter().all(|x| x.is_finite()),
        // Results of TensorFlow that depend on the order of operands and on the width of vectors.
        ("ArgMax" | "ArgMin", x) => x.iter().any(|x| !x.is_finite()),
        ("TopKV2", x) => x.iter().any(|x| x.is_nan()),
        // TensorFlow's windows begin with the lowest finite number.
        ("MaxPool", &[f64::NEG_INFINITY, f64::NEG_INFINITY]) => found == f64::NEG_INFINITY,
        ("MaxPool" | "SegmentMax" | "SegmentMin" | "UnsortedSegmentMax" | "UnsortedSegmentMin", x) => {
            found.is_nan() && x.iter().any(|x| x.is_nan())
        }
        // TensorFlow takes a NaN for the sum so far, and infinity minus infinity for a difference.
        ("CumulativeLogsumexp", x) => x.iter().any(|x| !x.is_finite()) && (found.is_nan() || found > 0.0),
        // TensorFlow's density is denormal, and flushed, before it is divided by `a`.
        ("Igamma" | "Igammac", &[a, _]) => tiny.contains(&a),
        _ => false,
    }
}

/// The differences found, one per line.
struct Report {
    tolerance: f64,
    lines: BTreeSet<String>,
}

impl Report {
    fn compare(
        &mut self,
        how: &str,
        node: &Node,
        operands: &[HostTensor],
        found: &[HostTensor],
        wants: &[HostTensor],
    ) {
        for (found, want) in found.iter().zip(wants) {
            assert_eq!((found.dtype(), found.shape()), (want.dtype(), want.shape()), "{how}: {}", node.name);
            let denormal = match want.dtype() {
                DType::F64 => 2.0 * f64::MIN_POSITIVE,
                DType::F16 => 2.0 * f64::from(f16::MIN_POSITIVE),
                _ => 2.0 * f64::from(f32::MIN_POSITIVE),
            };
            let rows = want.shape().dims().first().copied().unwrap_or(1);
            // TensorFlow's functions of f16 and bf16 have other signs of zero than those of f32 and f64.
            let has_signs = matches!(want.dtype(), DType::F32 | DType::F64)
                && row(&node.op).is_some_and(|row| matches!(row.class(), Class::Unary(_) | Class::Binary(_)));
            let operands: Vec<Vec<f64>> = operands.iter().map(wide).collect();
            let (found, want) = (wide(found), wide(want));
            for (at, (&f, &w)) in found.iter().zip(&want).enumerate() {
                let is_same = match f == w {
                    true => !has_signs || w != 0.0 || f.is_sign_positive() == w.is_sign_positive(),
                    false => {
                        let limit =
                            if w.is_finite() { (self.tolerance * w.abs()).max(denormal) } else { 0.0 };
                        f.is_nan() && w.is_nan() || (f - w).abs() <= limit
                    }
                };
                if is_same {
                    continue;
                }
                // The rows of the operands on which the element depends.
                let at = at * rows / want.len();
                let given = operands.iter().map(|x| match x.len() / rows {
                    0 => &x[..],
                    n => &x[at * n..][..n],
                });
                let given: Vec<&[f64]> = given.collect();
                if !is_kept(&node.op, &given.concat(), f, w) {
                    self.lines.insert(format!("{}{given:?}: {f:e} instead of {w:e}, {how}", node.name));
                }
            }
        }
    }
}

fn check(dtype: &str) {
    let stored = stored(dtype);
    let runtime = Runtime::builder().work_queue("s").build().expect("a runtime");
    let text = |given: Given| -> String {
        let applies = |node: &&Node| match given {
            Given::AnyRows => stored.rows(node).is_some(),
            Given::Fused => node.wants.len() == 1 && node.wants[0].dtype().to_string() == dtype,
            _ => true,
        };
        stored.nodes.iter().filter(applies).map(|node| function(&stored, node, given)).collect()
    };
    let mut report = Report { tolerance: stored.tolerance, lines: BTreeSet::new() };
    let one = HostTensor::from_slice(Shape::scalar(), &[1.0f64], &plain()).expect("a number");
    let reference = module(&text(Given::Constant));
    for node in &stored.nodes {
        let done =
            oracle::call(&reference, &node.name, &[], &mut VariableStore::default(), Strictness::Strict);
        let done = done.unwrap_or_else(|refusal| panic!("{}: {refusal}", node.name));
        let found: Vec<HostTensor> = done
            .results
            .iter()
            .map(|result| match result {
                TfValue::Tensor(tensor) => tensor.clone(),
                other => panic!("{}: {other:?}", node.name),
            })
            .collect();
        report.compare("reference", node, &stored.operands(node), &found, &node.wants);
    }
    for level in [0, 2] {
        let whole = loaded(&runtime, &text(Given::Whole), level);
        let constant = loaded(&runtime, &text(Given::Constant), level);
        let fused = loaded(&runtime, &text(Given::Fused), level);
        let any_rows = loaded(&runtime, &text(Given::AnyRows), level);
        for node in &stored.nodes {
            let operands = stored.operands(node);
            let how = |given: &str| format!("{given} at -O{level}");
            let found = call(&whole, &node.name, &operands);
            report.compare(&how("given"), node, &operands, &found, &node.wants);
            let found = call(&constant, &node.name, &[]);
            report.compare(&how("constants"), node, &operands, &found, &node.wants);
            if let Ok(function) = fused.function(&node.name) {
                let one = cast(&one, node.wants[0].dtype(), &plain()).expect("a number");
                let vectors = operands.iter().filter(|x| x.shape().rank() > 0);
                let found =
                    function.call_ok(vectors.chain([&one]).cloned().map(Datum::from)).expect("results");
                let found = [found[0].tensor().expect("a tensor").clone()];
                report.compare(&how("fused"), node, &operands, &found, &node.wants);
            }
            let Some(rows) = stored.rows(node) else { continue };
            let singles = (0..rows).map(|from| (from, 1));
            for part in singles.chain([(0, rows * REPEATS + 5)]) {
                let of = |x: &HostTensor| some_rows(x, rows, part);
                let (operands, wants): (Vec<_>, Vec<_>) =
                    (operands.iter().map(of).collect(), node.wants.iter().map(of).collect());
                let found = call(&any_rows, &node.name, &operands);
                let given = if part.1 == 1 { "one by one" } else { "long" };
                report.compare(&how(given), node, &operands, &found, &wants);
            }
        }
    }
    let lines: Vec<String> = report.lines.into_iter().collect();
    assert!(lines.is_empty(), "{} differences:\n{}", lines.len(), lines.join("\n"));
}

#[test]
fn bf16() {
    check("bf16");
}

#[test]
fn f16() {
    check("f16");
}

#[test]
fn f32() {
    check("f32");
}

#[test]
fn f64() {
    check("f64");
}

/// True if the ops of a class take vectors of floats.
fn takes_floats(class: Class) -> bool {
    let m = &plain();
    let x = HostTensor::from_slice(Shape::new(&[1]).expect("a shape"), &[1.0f32], m).expect("a tensor");
    let ids = HostTensor::from_slice(Shape::new(&[1]).expect("a shape"), &[0i32], m).expect("a tensor");
    let result = match class {
        Class::Unary(op) => tf::unary(op, &x, m),
        Class::Binary(op) => tf::binary(op, &x, &x, m),
        Class::Compare(op) => tf::compare(op, &x, &x, m),
        Class::Test(op) => tf::test(op, &x, m),
        Class::Part(op) => tf::part(op, &x, m),
        Class::Reduce(op) => tf::reduce(op, &x, &[0], false, m),
        Class::Scan(op) => tf::scan(op, &x, 0, false, false, m),
        Class::Segment(op) => tf::unsorted_segment(op, &x, &ids, 1, m),
        Class::SortedSegment(op) => tf::segment(op, &x, &ids, m),
        Class::Cast | Class::Select | Class::Other => return false,
    };
    !matches!(result, Err(TensorError::Unsupported { .. }))
}

/// Ops that TensorFlow does not have for floats.
const NOT_OF_FLOATS: [&str; 2] = ["Conj", "TruncateDiv"];

/// Each op on floats that belongs to a class has stored results.
#[test]
fn every_operator_of_a_class_is_stored() {
    for dtype in ["f32", "f64"] {
        let stored = stored(dtype);
        let names: BTreeSet<&str> = stored.nodes.iter().map(|node| &*node.op).collect();
        let missing: Vec<&str> = rows()
            .filter(|row| takes_floats(row.class()))
            .map(|row| row.name)
            // TensorFlow does not have the compiler's own.
            .filter(|name| !name.starts_with('_'))
            .filter(|name| !names.contains(name) && !NOT_OF_FLOATS.contains(name))
            .collect();
        assert!(missing.is_empty(), "{dtype}: no results of {missing:?}");
    }
}
