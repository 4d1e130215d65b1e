//! Comparison of folding passes with the oracle: the program's results are unchanged.
//!
//! Every scalar op of `tfrt` is folded with pairs of constants, including ends of the ranges and NaNs, and
//! executed without folding. Random programs are executed before and after `canonicalize` and `sccp`.
//! Results, errors with their locations, and printed lines must be the same. A second run of a pipeline that
//! ends in `canonicalize` must change nothing.
#![forbid(unsafe_code)]

#[path = "oracle/arguments.rs"]
mod arguments;
#[path = "oracle/generate/mod.rs"]
mod generate;

use befrost_compiler::ir::Module;
use befrost_compiler::pass::PassManager;
use befrost_compiler::print::{PrintOptions, print};
use befrost_compiler::syntax::{ParseOptions, parse};
use befrost_compiler::verify::{Verified, faults, verify};
use befrost_testing::oracle::{self, Limits, Value};
use generate::Tape;
use proptest::prelude::*;

const PIPELINES: [&str; 3] = ["canonicalize", "sccp", "sccp,canonicalize"];

fn module(text: &str) -> Result<Verified, String> {
    let parsed = parse("p", text, &ParseOptions::default());
    let module = parsed.module.ok_or_else(|| format!("{:?}", parsed.diagnostics))?;
    verify(module).map_err(|wrong| format!("{wrong:?}"))
}

/// The module after passes, and its text.
fn run(module: Verified, pipeline: &str) -> Result<(Verified, String), String> {
    let mut passes = PassManager::parse(pipeline).map_err(|d| d.message)?;
    let (module, _) = passes.run(module).map_err(|d| format!("{pipeline}: {d:?}"))?;
    let wrong = faults(&module);
    if !wrong.is_empty() {
        return Err(format!("{pipeline}: {wrong:?}"));
    }
    let text = print(&module, &PrintOptions::default());
    Ok((module, text))
}

/// A value as text; all NaNs have the same text.
fn shown(value: &Value) -> String {
    match value {
        Value::Tensor(tensor) => {
            befrost_tensor::print::tensor(&tensor.data).unwrap_or_else(|error| error.to_string())
        }
        value => format!("{value:?}"),
    }
}

/// The results and the printed lines of a call.
fn execute(
    module: &Module,
    function: &str,
    arguments: &[Value],
) -> Result<(Vec<String>, Vec<String>), String> {
    let done = oracle::call(module, function, arguments, Limits::default()).map_err(|r| r.to_string())?;
    let mut printed = done.printed;
    if !done.is_ordered {
        printed.sort_unstable();
    }
    Ok((done.results.iter().map(shown).collect(), printed))
}

/// Compares a program before and after the passes of each pipeline.
fn compare(text: &str, function: &str, arguments: &[Value]) -> Result<(), String> {
    let original = module(text)?;
    let want = execute(&original, function, arguments)?;
    for pipeline in PIPELINES {
        let (optimized, once) = run(module(text)?, pipeline)?;
        let found = execute(&optimized, function, arguments)?;
        if found != want {
            return Err(format!("{pipeline}: {found:?}, expected {want:?}\n{once}"));
        }
        let (_, twice) = run(optimized, pipeline)?;
        if pipeline != "sccp" && twice != once {
            return Err(format!("{pipeline} changes its own result:\n{once}\n{twice}"));
        }
    }
    Ok(())
}

#[track_caller]
fn check(ops: &[&str], ty: &str, results: &[&str], values: &[&str]) {
    for op in ops {
        for a in values {
            for b in values {
                let names: Vec<String> = (0..results.len()).map(|i| format!("%r#{i}")).collect();
                let types = results.join(", ");
                let text = format!(
                    "func.func @main() -> ({types}) {{
  %a = tfrt.constant.{ty} {a}
  %b = tfrt.constant.{ty} {b}
  %r:{} = \"tfrt.{op}.{ty}\"(%a, %b) : ({ty}, {ty}) -> ({types})
  tfrt.return {} : {types}
}}
",
                    results.len(),
                    names.join(", ")
                );
                compare(&text, "main", &[]).unwrap_or_else(|why| panic!("{why}\n{text}"));
                let folded = module(&text).expect("a program");
                let (_, text) = run(folded, "canonicalize").expect("a program");
                let fails = op.starts_with("div") && matches!(*b, "0" | "0.0" | "-0.0");
                assert_eq!(text.contains(&format!("tfrt.{op}")), fails, "{text}");
            }
        }
    }
}

#[test]
fn integers() {
    let i32s = ["-2147483648", "-7", "-1", "0", "1", "2", "2147483647"];
    let i64s = ["-9223372036854775808", "-7", "-1", "0", "1", "2", "9223372036854775807"];
    for (ty, values) in [("i32", i32s), ("i64", i64s)] {
        check(&["add", "minus", "mul", "minimum"], ty, &[ty], &values);
        check(&["equal", "lessequal"], ty, &["i1"], &values);
        check(&["div"], ty, &[ty, ty], &values);
    }
    check(&["and"], "i1", &["i1"], &["true", "false"]);
}

#[test]
fn floats() {
    let f32s = ["0.0", "-0.0", "1.0", "-2.5", "3.0e38", "1.0e-45", "0x7FC00000", "0x7F800000", "0xFF800000"];
    let f64s =
        ["0.0", "-0.0", "1.0", "-2.5", "1.0e308", "5.0e-324", "0x7FF8000000000000", "0x7FF0000000000000"];
    check(&["add", "multiply", "minimum", "div"], "f32", &["f32"], &f32s);
    check(&["add", "multiply", "minimum", "div"], "f64", &["f64"], &f64s);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, max_shrink_iters: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_programs(choices in prop::collection::vec(any::<u32>(), 0..1500), input in prop::collection::vec(any::<u32>(), 0..100)) {
        let program = generate::program(&mut Tape(choices.iter()));
        let mut tape = Tape(input.iter());
        let arguments: Vec<Value> =
            program.arguments.iter().map(|&ty| arguments::argument(&mut tape, ty)).collect();
        if let Err(why) = compare(&program.text, &program.entry, &arguments) {
            prop_assert!(false, "{why}\n@{}({arguments:?})\n{}", program.entry, program.text);
        }
    }
}
