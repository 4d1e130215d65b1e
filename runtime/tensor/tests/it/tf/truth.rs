//! Comparison with results of TensorFlow and ONNX. Each file of `testdata/tensorflow` and
//! `testdata/onnx-kernels` has a graph, its operands and its results.
//!
//! ```text
//! file := 'tolerance' rtol atol { line }
//! line := name ':=' literal                          an operand or constant (see `literal`)
//!       | name '=' Op { name [':' output] } { key '=' value }
//!       | 'want' name [':' output] literal           a result, with the file's tolerance: integers are exact
//!       | 'fails' name                               the operator refuses its operands
//! ```
//!
//! Both sides round: TensorFlow computes f32 in f32, Befrost in f64 or by vectorized f32 functions. So each
//! file has a tolerance.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use crate::op::TextAttrs;
use befrost_tensor::compare::{Tolerance, compare as compare_tensors};
use befrost_tensor::tf::op;
use befrost_tensor::{HostTensor, TensorError, literal};

#[test]
fn every_graph_has_tensorflows_results() {
    check_files("tensorflow", 21);
}

#[test]
fn every_graph_has_the_results_of_onnx() {
    check_files("onnx-kernels", 8);
}

/// Checks the files of a folder of `testdata`; there have to be at least `least`.
fn check_files(folder: &str, least: usize) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(folder);
    let mut files: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    files.sort();
    assert!(files.len() >= least, "the graphs are gone");
    let problems: Vec<String> = files
        .iter()
        .flat_map(|path| {
            let problems = run(&fs::read_to_string(path).unwrap());
            problems.into_iter().map(move |problem| format!("{}: {problem}", path.display()))
        })
        .collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The problems of a file, one string each.
fn run(text: &str) -> Vec<String> {
    let mut values: HashMap<String, HostTensor> = HashMap::new();
    let mut failed: HashMap<String, String> = HashMap::new();
    let mut problems = Vec::new();
    let mut tolerance = Tolerance::EXACT;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["tolerance", rtol, atol] => {
                tolerance = Tolerance { rtol: rtol.parse().unwrap(), atol: atol.parse().unwrap() };
            }
            [name, ":=", text] => {
                values.insert(name.to_owned(), literal::parse(text, &malloc()).unwrap());
            }
            ["want", name, text] => {
                let want = literal::parse(text, &malloc()).unwrap();
                match values.get(name).map(|got| compare_tensors(got, &want, tolerance)) {
                    Some(Ok(report)) if report.is_match() => {}
                    Some(other) => problems
                        .push(format!("{name}: {}", other.map_or_else(|e| e.to_string(), |r| r.to_string()))),
                    None => problems
                        .push(format!("{name}: {}", failed.get(name).map_or("unknown", String::as_str))),
                }
            }
            ["fails", name] if failed.contains_key(name) => {}
            ["fails", name] => problems.push(format!("{name} does not fail")),
            [name, "=", op, ref rest @ ..] => {
                let node = Line::new(op, rest, &values);
                match node
                    .map_err(|missing| format!("no value {missing}"))
                    .and_then(|node| node.run().map_err(|e| e.to_string()))
                {
                    Ok(results) => {
                        for (i, result) in results.into_iter().enumerate() {
                            let key = if i == 0 { name.to_owned() } else { format!("{name}:{i}") };
                            values.insert(key, result);
                        }
                    }
                    Err(error) => _ = failed.insert(name.to_owned(), error),
                }
            }
            _ => problems.push(format!("not understood: {line}")),
        }
    }
    problems
}

fn malloc() -> std::sync::Arc<dyn befrost_tensor::mem::Allocator> {
    befrost_tensor::mem::Malloc::shared()
}

/// An operator with its operands and attributes.
struct Line<'a> {
    op: &'a str,
    inputs: Vec<&'a HostTensor>,
    attrs: TextAttrs<'a>,
}

impl<'a> Line<'a> {
    fn new(
        op: &'a str,
        rest: &[&'a str],
        values: &'a HashMap<String, HostTensor>,
    ) -> Result<Line<'a>, &'a str> {
        let (attrs, names): (Vec<&str>, Vec<&str>) = rest.iter().partition(|word| word.contains('='));
        let inputs = names.into_iter().map(|name| values.get(name).ok_or(name)).collect::<Result<_, _>>()?;
        Ok(Line {
            op,
            inputs,
            attrs: TextAttrs(attrs.iter().filter_map(|word| word.split_once('=')).collect()),
        })
    }

    fn run(&self) -> Result<Vec<HostTensor>, TensorError> {
        let eval = op::row(self.op)
            .expect("the operator has a row")
            .prepare(&self.attrs)?
            .unwrap_or_else(|| panic!("no operator {}", self.op));
        let results = eval(&self.inputs, &malloc())?.into_vec();
        let agrees = crate::op::infer::agrees(self.op, &self.attrs, &self.inputs, &results);
        agrees.unwrap_or_else(|problem| panic!("{}: {problem}", self.op));
        Ok(results)
    }
}
