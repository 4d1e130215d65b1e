//! Comparison of the executor with the oracle: examples for each op, the lit programs, the digits network,
//! and random programs, on one thread and on several.
//!
//! A program is parsed, verified, emitted, loaded and called through the facade, as by a user. The oracle
//! interprets the emitted module. Numbers, shapes, and errors with their codes, messages and locations must
//! be the same. Elements of float tensors may differ by 1e-4 times the largest element. Printed lines must
//! have the same order if the program fixes one.
#![forbid(unsafe_code)]

mod arguments;
mod generate;

use std::rc::Rc;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use arguments::argument;
use befrost::mem::Malloc;
use befrost::{
    CallOptions, DType, Datum, Error, ErrorCode, HostTensor, Output, Runtime, Value as Found, npy,
};
use befrost_compiler::emit::{EmitOptions, emit};
use befrost_compiler::syntax::{ParseOptions, parse};
use befrost_compiler::verify::{Verified, verify};
use befrost_testing::cores;
use befrost_testing::oracle::{self, Code, Limits, OracleError, Value};
use generate::Tape;
use proptest::prelude::*;

/// Work queues, each with its runtime.
type Runtimes = Vec<(String, Runtime)>;

/// The runtimes that run every program.
static RUNTIMES: LazyLock<Runtimes> =
    LazyLock::new(|| runtimes(["s", "seeded:1", "seeded:2", "mstd:1", "mstd:3"].map(String::from)));

fn runtimes(queues: impl IntoIterator<Item = String>) -> Runtimes {
    let start = |queue: &str| Runtime::builder().work_queue(queue).build().expect("a work queue");
    queues.into_iter().map(|queue| (queue.clone(), start(&queue))).collect()
}

/// Collects the printed texts.
#[derive(Default)]
struct Lines(Mutex<Vec<String>>);

impl Output for Lines {
    fn write(&self, text: &str) -> std::io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
        Ok(())
    }
}

fn module(file: &str, text: &str) -> Result<Verified, String> {
    let parsed = parse(file, text, &ParseOptions::default());
    let shown = |diagnostics: &[befrost_compiler::diag::Diagnostic]| {
        diagnostics.iter().map(|d| d.render_short(&parsed.source)).collect::<Vec<_>>().join("\n")
    };
    let Some(module) = parsed.module else { return Err(shown(&parsed.diagnostics)) };
    verify(module).map_err(|wrong| shown(&wrong))
}

/// Calls a function on each of [`RUNTIMES`] and compares the results with the oracle's. Returns the oracle's
/// results as text.
fn compare(file: &str, text: &str, function: &str, arguments: &[Value]) -> Result<Vec<String>, String> {
    compare_on(&RUNTIMES, &module(file, text)?, function, arguments)
}

fn compare_on(
    runtimes: &Runtimes,
    module: &Verified,
    function: &str,
    arguments: &[Value],
) -> Result<Vec<String>, String> {
    let want = oracle::call(module, function, arguments, Limits::default())
        .map_err(|refusal| refusal.to_string())?;
    let bytes = emit(module, &EmitOptions::default()).map_err(|diagnostics| format!("{diagnostics:?}"))?;
    for (queue, runtime) in runtimes {
        let program = runtime.load_bytes(&bytes).map_err(|error| error.to_string())?;
        let lines = Arc::new(Lines::default());
        let options = CallOptions { output: lines.clone(), ..CallOptions::default() };
        let found = program
            .function(function)
            .and_then(|function| function.call_with(arguments.iter().map(datum), &options))
            .map_err(|error| format!("{queue}: the call failed: {error}"))?;
        if found.len() != want.results.len() {
            return Err(format!("{queue}: {} results, expected {}", found.len(), want.results.len()));
        }
        for (i, (found, want)) in found.iter().zip(&want.results).enumerate() {
            same(found, want).map_err(|why| format!("{queue}: result #{i}: {why}"))?;
        }
        let mut printed = lines.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut expected = want.printed.clone();
        if !want.is_ordered {
            printed.sort_unstable();
            expected.sort_unstable();
        }
        if printed != expected {
            return Err(format!("{queue}: printed {printed:?}, expected {expected:?}"));
        }
    }
    Ok(want.results.iter().map(shown).collect())
}

fn datum(value: &Value) -> Datum {
    let code = |code| match code {
        Code::Cancelled => ErrorCode::Cancelled,
        Code::Unknown => ErrorCode::Unknown,
        Code::InvalidArgument => ErrorCode::InvalidArgument,
        Code::ResourceExhausted => ErrorCode::ResourceExhausted,
        Code::FailedPrecondition => ErrorCode::FailedPrecondition,
        Code::OutOfRange => ErrorCode::OutOfRange,
    };
    match value {
        Value::Dead => Found::Dead.into(),
        Value::Error(failure) => {
            let OracleError { code: kind, message, trace } = (**failure).clone();
            Found::Error(Error::new(code(kind), message, trace)).into()
        }
        Value::Chain => Found::Chain.into(),
        Value::I1(v) => (*v).into(),
        Value::I32(v) => (*v).into(),
        Value::I64(v) => (*v).into(),
        Value::F32(v) => (*v).into(),
        Value::F64(v) => (*v).into(),
        Value::Shape(shape) => Found::object(befrost_kernels::ShapeValue(shape.clone())).into(),
        Value::Tensor(tensor) => tensor.data.clone().into(),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Error(failure) => {
            let OracleError { code, message, trace } = &**failure;
            format!("{code} `{message}` at {}", trace.join(" from "))
        }
        value => datum(value).to_string(),
    }
}

fn same(found: &Datum, want: &Value) -> Result<(), String> {
    let differ = || Err(format!("{} {found}, expected {}", found.value().type_name(), shown(want)));
    let is_same = match (found.value().final_value(), want) {
        (Some(Found::Error(found)), Value::Error(want)) => {
            let places: Vec<&str> =
                found.location().into_iter().chain(found.calls().iter().map(String::as_str)).collect();
            let is_same = found.code().to_string() == want.code.to_string()
                && found.message() == want.message
                && places == want.trace;
            if !is_same {
                let (code, message) = (found.code(), found.message());
                return Err(format!("{code} `{message}` at {places:?}, expected {want:?}"));
            }
            true
        }
        (Some(Found::Dead), Value::Dead) | (Some(Found::Chain), Value::Chain) => true,
        (Some(Found::I1(found)), Value::I1(want)) => found == want,
        (Some(Found::I32(found)), Value::I32(want)) => found == want,
        (Some(Found::I64(found)), Value::I64(want)) => found == want,
        // Scalar operations are rounded as IEEE 754 prescribes, so the bits must be equal.
        (Some(Found::F32(found)), Value::F32(want)) => {
            found.to_bits() == want.to_bits() || (found.is_nan() && want.is_nan())
        }
        (Some(Found::F64(found)), Value::F64(want)) => {
            found.to_bits() == want.to_bits() || (found.is_nan() && want.is_nan())
        }
        (Some(found @ Found::Object(_)), Value::Shape(want)) => {
            found.downcast_ref::<befrost_kernels::ShapeValue>().is_some_and(|found| found.0 == *want)
        }
        (Some(Found::Object(_)), Value::Tensor(want)) => {
            let found = found.tensor().map_err(|error| error.to_string())?;
            same_tensor(found, &want.data)
        }
        _ => false,
    };
    if is_same { Ok(()) } else { differ() }
}

fn same_tensor(found: &HostTensor, want: &HostTensor) -> bool {
    if found.dtype() != want.dtype() || found.shape() != want.shape() {
        return false;
    }
    let wide = |t: &HostTensor| -> Option<Vec<f64>> {
        match t.dtype() {
            DType::F32 => Some(t.read::<f32>().ok()?.iter().map(|&x| f64::from(x)).collect()),
            DType::F64 => Some(t.read::<f64>().ok()?.to_vec()),
            _ => None,
        }
    };
    match (wide(found), wide(want)) {
        (Some(found), Some(want)) => {
            let scale = want.iter().filter(|x| x.is_finite()).fold(0.0f64, |max, x| max.max(x.abs()));
            let near = |f: f64, w: f64| f == w || (f.is_nan() && w.is_nan()) || (f - w).abs() <= 1e-4 * scale;
            found.iter().zip(&want).all(|(&f, &w)| near(f, w))
        }
        _ => match (found.read_bytes(), want.read_bytes()) {
            (Ok(found), Ok(want)) => *found == *want,
            _ => false,
        },
    }
}

// ---- examples ----

/// Calls `@main` of a program, without arguments, and checks the results as text. The file's name in
/// locations is `t`.
#[track_caller]
fn check(body: &str, want: &[&str]) {
    let types = "func.func @main() -> ";
    let text = format!("{types}{}", body.trim_start());
    match compare("t", &text, "main", &[]) {
        Ok(found) => assert_eq!(found, want),
        Err(why) => panic!("{why}\n{text}"),
    }
}

#[test]
fn integers() {
    check(
        r#"(i32, i32, i32, i32, i32, i32, i1, i1) {
        %a = tfrt.constant.i32 -2147483648
        %b = tfrt.constant.i32 -1
        %sum = tfrt.add.i32 %a, %b
        %difference = "tfrt.minus.i32"(%b, %a) : (i32, i32) -> i32
        %product = tfrt.mul.i32 %a, %b
        %least = "tfrt.minimum.i32"(%b, %a) : (i32, i32) -> i32
        %q, %r = tfrt.div.i32 %a, %b
        %equal = tfrt.equal.i32 %a, %a
        %less = "tfrt.lessequal.i32"(%b, %a) : (i32, i32) -> i1
        tfrt.return %sum, %difference, %product, %least, %q, %r, %equal, %less : i32, i32, i32, i32, i32, i32, i1, i1
        }"#,
        &["2147483647", "2147483647", "-2147483648", "-2147483648", "-2147483648", "0", "1", "0"],
    );
    check(
        r#"(i64, i64, i64, i64, i1, i1, i1) {
        %a = tfrt.constant.i64 -7
        %b = tfrt.constant.i64 2
        %sum = tfrt.add.i64 %a, %b
        %least = "tfrt.minimum.i64"(%b, %a) : (i64, i64) -> i64
        %product = tfrt.mul.i64 %a, %b
        %difference = "tfrt.minus.i64"(%b, %a) : (i64, i64) -> i64
        %q, %r = tfrt.div.i64 %a, %b
        %equal = tfrt.equal.i64 %q, %r
        %less = "tfrt.lessequal.i64"(%q, %r) : (i64, i64) -> i1
        %both = tfrt.and.i1 %equal, %less
        tfrt.return %q, %r, %product, %difference, %equal, %less, %both : i64, i64, i64, i64, i1, i1, i1
        }"#,
        &["-3", "-1", "-14", "9", "0", "1", "0"],
    );
}

#[test]
fn floats() {
    check(
        r#"(f32, f32, f32, f32, f64, f64, f64, f64) {
        %a = tfrt.constant.f32 1.5
        %b = tfrt.constant.f32 -4.0
        %sum = tfrt.add.f32 %a, %b
        %product = "tfrt.multiply.f32"(%a, %b) : (f32, f32) -> f32
        %least = "tfrt.minimum.f32"(%a, %b) : (f32, f32) -> f32
        %quotient = "tfrt.div.f32"(%a, %b) : (f32, f32) -> f32
        %c = tfrt.constant.f64 1.5
        %d = tfrt.constant.f64 -4.0
        %sum64 = tfrt.add.f64 %c, %d
        %product64 = "tfrt.multiply.f64"(%c, %d) : (f64, f64) -> f64
        %least64 = "tfrt.minimum.f64"(%c, %d) : (f64, f64) -> f64
        %quotient64 = "tfrt.div.f64"(%c, %d) : (f64, f64) -> f64
        tfrt.return %sum, %product, %least, %quotient, %sum64, %product64, %least64, %quotient64 : f32, f32, f32, f32, f64, f64, f64, f64
        }"#,
        &[
            "-2.500000",
            "-6.000000",
            "-4.000000",
            "-0.375000",
            "-2.500000",
            "-6.000000",
            "-4.000000",
            "-0.375000",
        ],
    );
}

#[test]
fn errors_say_where_and_pass_by() {
    check(
        r#"(i32, i32, f32, f64, i32, i32, i32, i32) {
        %one = tfrt.constant.i32 1
        %zero = tfrt.constant.i32 0
        %nothing = tfrt.constant.f32 -0.0
        %naught = tfrt.constant.f64 0.0
        %yes = tfrt.constant.i1 true
        %q, %r = tfrt.div.i32 %one, %zero
        %qf = "tfrt.div.f32"(%nothing, %nothing) : (f32, f32) -> f32
        %qd = "tfrt.div.f64"(%naught, %naught) : (f64, f64) -> f64
        %first, %second = "tfrt_test.partial_fail"() : () -> (i32, i32)
        %fail = "tfrt_test.fail"() : () -> i32
        %sum = "tfrt_test.sum"(%one, %fail, %q) : (i32, i32, i32) -> i32
        %chosen = "tfrt_test.select.i32"(%yes, %one, %fail) : (i1, i32, i32) -> i32
        tfrt.return %q, %r, %qf, %qd, %first, %second, %sum, %chosen : i32, i32, f32, f64, i32, i32, i32, i32
        }"#,
        &[
            "InvalidArgument `Divide by zero` at t:7:18",
            "InvalidArgument `Divide by zero` at t:7:18",
            "InvalidArgument `Divide by zero` at t:8:15",
            "InvalidArgument `Divide by zero` at t:9:15",
            "1",
            "Unknown `something bad happened` at t:10:27",
            "Unknown `something bad happened` at t:11:17",
            "1",
        ],
    );
}

/// The chain that only orders an op is its last operand, so the errors of the other operands take precedence.
/// Dead takes precedence over every error.
#[test]
fn the_first_operand_decides() {
    let text = r#"func.func @main(%a: i32, %b: i32, %ch: !tfrt.chain) -> (i32, i32) {
        %sum = "tfrt.add.i32"(%a, %b, %ch) : (i32, i32, !tfrt.chain) -> i32
        %copy = "tfrt_test.async_copy.i32"(%a, %ch) : (i32, !tfrt.chain) -> i32
        tfrt.return %sum, %copy : i32, i32
    }"#;
    let line = text
        .replace("tfrt_test.async_copy.i32", "tfrt_test.sum")
        .replace("(%a, %ch) : (i32, !tfrt.chain)", "(%a) : (i32)");
    let error = |message: &str| {
        let trace = vec!["caller:1:1".to_owned()];
        Value::Error(Rc::new(OracleError { code: Code::Unknown, message: message.to_owned(), trace }))
    };
    let states = |name: &str, value: Value| [value, error(name), Value::Dead];
    for a in states("a", Value::I32(1)) {
        for b in states("b", Value::I32(2)) {
            for chain in states("chain", Value::Chain) {
                for text in [text, &line] {
                    let arguments = [a.clone(), b.clone(), chain.clone()];
                    assert_eq!(compare("t", text, "main", &arguments).err(), None, "{arguments:?}");
                }
            }
        }
    }
}

#[test]
fn calls_return_arguments_and_repeat_results() {
    check(
        r#"(i32, i32, i32, i32, i32) {
        %a = tfrt.constant.i32 5
        %b = tfrt.constant.i32 0
        %r:4 = tfrt.call @mix(%a, %b) : (i32, i32) -> (i32, i32, i32, i32)
        %skipped:4 = tfrt.call @mix(%r#3, %a) : (i32, i32) -> (i32, i32, i32, i32)
        tfrt.return %r#0, %r#1, %r#2, %r#3, %skipped#2 : i32, i32, i32, i32, i32
        }
        func.func @mix(%x: i32, %y: i32) -> (i32, i32, i32, i32) {
        %sum = "tfrt_test.async_add.i32"(%x, %x) : (i32, i32) -> i32
        %q, %r = tfrt.div.i32 %sum, %y
        tfrt.return %sum, %sum, %y, %q : i32, i32, i32, i32
        }"#,
        &[
            "10",
            "10",
            "0",
            "InvalidArgument `Divide by zero` at t:10:18 from t:4:16",
            "InvalidArgument `Divide by zero` at t:10:18 from t:4:16",
        ],
    );
}

/// A recursion that ends when the error of a division by zero keeps the next call from running.
const RECURSIVE: &str = r#"func.func @main(%n: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %less = "tfrt.minus.i32"(%n, %one) : (i32, i32) -> i32
  %q, %zero = tfrt.div.i32 %less, %less
  %next = tfrt.add.i32 %less, %zero
  %r = tfrt.call @main(%next) : (i32) -> i32
  tfrt.return %r : i32
}"#;

#[test]
fn recursion() {
    for n in [1, 2, 10, 31, 32, 33, 40, 5000] {
        for text in [
            RECURSIVE.to_owned(),
            RECURSIVE.replace(
                "tfrt.add.i32 %less, %zero",
                "\"tfrt_test.async_add.i32\"(%less, %zero) : (i32, i32) -> i32",
            ),
        ] {
            let found = compare("t", &text, "main", &[Value::I32(n)]);
            let found = found.unwrap_or_else(|why| panic!("{n}: {why}"));
            assert!(found[0].starts_with("InvalidArgument `Divide by zero` at t:4:15"), "{found:?}");
            assert_eq!(found[0].matches("t:6:8").count(), (n as usize - 1).min(31));
        }
    }
}

#[test]
fn calls_that_nest_too_deeply() {
    let text = RECURSIVE;
    let module = module("t", text).expect("a good program");
    let bytes = emit(&module, &EmitOptions::default()).expect("it can be emitted");
    let limits = Limits { depth: 5, values: 1 << 20 };
    for (n, is_error) in [(5, false), (6, true)] {
        let arguments = [Value::I32(n)];
        let want = oracle::call(&module, "main", &arguments, limits).expect("it can be interpreted");
        let error = want.results[0].error().expect("an error in any case");
        assert_eq!(error.code == Code::ResourceExhausted, is_error);
        let runtime = Runtime::builder().work_queue("s");
        let runtime =
            runtime.limits(befrost::Limits { depth: 5, values: 1 << 20 }).build().expect("a work queue");
        let program = runtime.load_bytes(&bytes).expect("it can be loaded");
        let found = program
            .function("main")
            .and_then(|main| main.call(arguments.iter().map(datum)))
            .expect("it fits");
        assert_eq!(same(&found[0], &want.results[0]), Ok(()));
    }
}

#[test]
fn chains_and_prints() {
    let text = r#"func.func @main(%ch: !tfrt.chain, %nan: f32) -> (!tfrt.chain, i32, i32) {
        %a = "tfrt_test.print_hello"(%ch) : (!tfrt.chain) -> !tfrt.chain
        %yes = tfrt.constant.i1 true
        %b = tfrt.print.i1 %yes, %a
        %i = "tfrt_test.async_constant.i32"() {value = 42 : i32} : () -> i32
        %j = "tfrt_test.async_copy.i32"(%i) : (i32) -> i32
        %c = tfrt.print.i32 %j, %b
        %l = tfrt.constant.i64 -3
        %d = tfrt.print.i64 %l, %c
        %f = tfrt.constant.f32 1.0
        %e = tfrt.print.f32 %f, %d
        %g = tfrt.constant.f64 0.1
        %h = tfrt.print.f64 %g, %e
        %k = tfrt.print.f32 %nan, %h
        %fail = "tfrt_test.fail"() : () -> i32
        %m = tfrt.print.i32 %fail, %k
        %n = tfrt.merge.chains %k, %m : !tfrt.chain, !tfrt.chain
        %o = tfrt.print.i32 %j, %n
        %implicit = "tfrt_test.async_copy.i32"(%j, %k) : (i32, !tfrt.chain) -> i32
        %stopped = "tfrt_test.async_copy.i32"(%j, %o) : (i32, !tfrt.chain) -> i32
        tfrt.return %n, %implicit, %stopped : !tfrt.chain, i32, i32
    }"#;
    let arguments = [Value::Chain, Value::F32(f32::NAN)];
    let bad = "Unknown `something bad happened` at t:15:17";
    assert_eq!(
        compare("t", text, "main", &arguments),
        Ok(vec![bad.to_owned(), "42".to_owned(), bad.to_owned()])
    );
    let want =
        oracle::call(&module("t", text).expect("a good program"), "main", &arguments, Limits::default());
    let want = want.expect("it can be interpreted");
    assert!(want.is_ordered);
    let lines = [
        "hello host executor!",
        "int1 = 1",
        "int32 = 42",
        "int64 = -3",
        "f32 = 1.000000",
        "f64 = 0.100000",
        "f32 = nan",
    ];
    assert_eq!(want.printed, lines.map(|line| format!("{line}\n")));
}

#[test]
fn dead_and_error_arguments() {
    let text = r#"func.func @main(%a: i32, %b: i32, %c: i32) -> (i32, i32, i32, i32) {
        %yes = tfrt.constant.i1 true
        %ab = tfrt.add.i32 %a, %b
        %ba = "tfrt_test.async_add.i32"(%b, %c) : (i32, i32) -> i32
        %select = "tfrt_test.select.i32"(%yes, %c, %a) : (i1, i32, i32) -> i32
        tfrt.return %ab, %ba, %select, %b : i32, i32, i32, i32
    }"#;
    let error = |message: &str| {
        let trace = vec!["caller:1:1".to_owned()];
        Value::Error(Rc::new(OracleError { code: Code::OutOfRange, message: message.to_owned(), trace }))
    };
    let states = [Value::I32(1), error("first"), error("second"), Value::Dead];
    for a in &states {
        for b in &states {
            for c in &states {
                let arguments = [a.clone(), b.clone(), c.clone()];
                assert_eq!(compare("t", text, "main", &arguments).err(), None);
            }
        }
    }
}

#[test]
fn cancellation() {
    check(
        r#"(i32, !tfrt.chain, i32) {
        %ch = tfrt.new.chain
        %zero, %done = "tfrt_test.cancel"(%ch) : (!tfrt.chain) -> (i32, !tfrt.chain)
        %next = "tfrt_test.print_hello"(%done) : (!tfrt.chain) -> !tfrt.chain
        %sum = tfrt.add.i32 %zero, %zero
        tfrt.return %zero, %next, %sum : i32, !tfrt.chain, i32
        }"#,
        &["0", "Cancelled `Cancelled` at ", "Cancelled `Cancelled` at "],
    );
}

#[test]
fn places() {
    check(
        r#"(i32, i32, i32, i32, i32, i32) {
        %a = "tfrt_test.fail"() : () -> i32 loc("a.py":1:2)
        %b = "tfrt_test.fail"() : () -> i32 loc("layer"("b.py":3:4))
        %c = "tfrt_test.fail"() : () -> i32 loc(callsite("c.py":5:6 at "d.py":7:8))
        %d = "tfrt_test.fail"() : () -> i32 loc(fused["e.py":9:1, "f.py":2:3])
        %e = "tfrt_test.fail"() : () -> i32 loc("name")
        %f = "tfrt_test.fail"() : () -> i32 loc(unknown)
        tfrt.return %a, %b, %c, %d, %e, %f : i32, i32, i32, i32, i32, i32
        }"#,
        &["a.py:1:2", "b.py:3:4", "c.py:5:6 from d.py:7:8", "e.py:9:1", "name", ""]
            .map(|place| format!("Unknown `something bad happened` at {place}"))
            .each_ref()
            .map(String::as_str),
    );
}

#[test]
fn shapes() {
    check(
        r#"(!ts.shape, !ts.shape, i1, i1, i64, i64, i64, !ts.shape, !ts.shape) {
        %a = ts.build_shape [2, 3]
        %b = ts.build_shape [3, 5]
        %product = ts.matmul_shape %a, %b
        %reduced = ts.reduce_shape %product {axis = -2 : i32}
        %equal = ts.equal_shape %a, %a
        %differs = ts.equal_shape %a, %b
        %n = ts.get_num_elements %product
        %one = tfrt.constant.i32 1
        %two = tfrt.constant.i32 2
        %dim = ts.get_dimension %product, %one
        %none = ts.get_dimension %product, %two
        %unfit = ts.matmul_shape %b, %a
        %axis = ts.reduce_shape %a {axis = 2 : i32}
        tfrt.return %product, %reduced, %equal, %differs, %n, %dim, %none, %unfit, %axis : !ts.shape, !ts.shape, i1, i1, i64, i64, i64, !ts.shape, !ts.shape
        }"#,
        &[
            "shape = [2, 5]",
            "shape = [5]",
            "1",
            "0",
            "10",
            "5",
            "OutOfRange `dimension 2 of shape [2, 5] of rank 2` at t:12:17",
            "InvalidArgument `cannot multiply matrices of shapes [3, 5] and [2, 3]: the inner dimensions differ` at t:13:18",
            "InvalidArgument `axis 2 is not one of shape [2, 3] of rank 2` at t:14:17",
        ],
    );
}

#[test]
fn tensors() {
    check(
        r#"(!t.tensor, !t.tensor, !t.tensor, i32, i1, !tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt.chain) {
        %ch = tfrt.new.chain
        %x = tfrt_dht.create_uninitialized_tensor.f32.2 [2, 2]
        %x0 = tfrt_dht.set_tensor_with_constant_values.f32 %x, %ch [1.0 : f32, 2.0 : f32, 3.0 : f32, 4.0 : f32]
        %w = "cpu.constant"() {value = dense<[[1.0, 0.0, -1.0], [0.0, 1.0, -1.0]]> : tensor<2x3xf32>} : () -> !t.tensor
        %bias = "cpu.constant"() {value = dense<[1.0, 1.0, 5.0]> : tensor<3xf32>} : () -> !t.tensor
        %shape = ts.build_shape [2, 3]
        %y = "cpu.allocate.f32"(%shape) : (!ts.shape) -> !t.tensor
        %y0 = "cpu.matmul.f32"(%x, %w, %y, %x0) : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
        %y1 = "cpu.bias_add.f32"(%y, %bias, %y, %y0) : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
        %y2 = "cpu.relu.f32"(%y, %y, %y1) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
        %p = "cpu.allocate.f32"(%shape) : (!ts.shape) -> !t.tensor
        %p0 = "cpu.softmax.f32"(%y, %p, %y2) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
        %best = tfrt_dht.create_uninitialized_tensor.i32.1 [2]
        %best0 = "cpu.argmax.f32"(%y, %best, %y2) {axis = 1 : i32} : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
        %one = tfrt_dht.create_uninitialized_tensor.i32.1 [2]
        %one0 = tfrt_dht.fill_tensor_with_constant.i32 %one, %best0 1 : i32
        %count, %counted = "cpu.count_equal.i32"(%best, %one, %one0) : (!t.tensor, !t.tensor, !tfrt.chain) -> (i32, !tfrt.chain)
        %equal, %compared = tfrt_dht.tensor_equal.i32 %best, %one, %one0
        %printed = tfrt_dht.print_tensor %y, %p0
        %constant = tfrt_dht.fill_tensor_with_constant.f32 %w, %counted 1.0 : f32
        %type = "cpu.relu.f32"(%best, %y, %printed) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
        %unfit = "cpu.relu.f32"(%y, %w, %printed) : (!t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
        %same = "cpu.matmul.f32"(%x, %x, %x, %printed) : (!t.tensor, !t.tensor, !t.tensor, !tfrt.chain) -> !tfrt.chain
        %r0 = "cpu.after"(%y, %printed) : (!t.tensor, !tfrt.chain) -> !t.tensor
        %r1 = "cpu.after"(%best, %counted) : (!t.tensor, !tfrt.chain) -> !t.tensor
        %r2 = "cpu.after"(%best, %unfit) : (!t.tensor, !tfrt.chain) -> !t.tensor
        tfrt.return %r0, %r1, %r2, %count, %equal, %constant, %type, %unfit, %same : !t.tensor, !t.tensor, !t.tensor, i32, i1, !tfrt.chain, !tfrt.chain, !tfrt.chain, !tfrt.chain
        }"#,
        &[
            "array([[2., 3., 2.],\n       [4., 5., 0.]], shape=(2, 3), dtype=float32)",
            "array([1, 1], shape=(2,), dtype=int32)",
            "FailedPrecondition `the buffer is read-only: a view or a constant` at t:23:18",
            "2",
            "1",
            "FailedPrecondition `the buffer is read-only: a view or a constant` at t:21:21",
            "InvalidArgument ``x` has dtype i32, expected f32` at t:22:17",
            "FailedPrecondition `the buffer is read-only: a view or a constant` at t:23:18",
            "InvalidArgument ``a` and `out` are the same tensor, which is not possible here` at t:24:17",
        ],
    );
}

/// Constants are read-only in every syntax.
#[test]
fn constants_stay() {
    for elements in ["[1.0, 2.0]", "1.0", "[1.0, 1.0]"] {
        let text = format!(
            "func.func @main() -> (!tfrt.chain, !t.tensor) {{
  %ch = tfrt.new.chain
  %c = \"cpu.constant\"() {{value = dense<{elements}> : tensor<2xf32>}} : () -> !t.tensor
  %done = tfrt_dht.fill_tensor_with_constant.f32 %c, %ch 3.0 : f32
  tfrt.return %done, %c : !tfrt.chain, !t.tensor
}}"
        );
        let found = compare("t", &text, "main", &[]).unwrap_or_else(|why| panic!("{elements}: {why}"));
        assert_eq!(found[0], "FailedPrecondition `the buffer is read-only: a view or a constant` at t:4:11");
    }
}

#[test]
fn empty_constants() {
    check(
        r#"(!t.tensor, i1, !tfrt.chain) {
        %ch = tfrt.new.chain
        %c = "cpu.constant"() {value = dense<> : tensor<0x2xi32>} : () -> !t.tensor
        %equal, %done = tfrt_dht.tensor_equal.i32 %c, %c, %ch
        %x = tfrt_dht.create_uninitialized_tensor.i64.1 [0]
        %set = tfrt_dht.set_tensor_with_constant_values.i64 %x, %done []
        tfrt.return %c, %equal, %set : !t.tensor, i1, !tfrt.chain
        }"#,
        &["array([], shape=(0, 2), dtype=int32)", "1", "!tfrt.chain value"],
    );
}

// ---- the lit programs ----

/// Excluded programs: those with millions of iterations or calls, which take minutes, and those that do not
/// terminate.
const LONG: &[&str] = &[
    "loops.mlir many",
    "loops.mlir while",
    "max-memory.mlir deep",
    "recursion.mlir forever",
    "recursion.mlir deep",
    "timeout.mlir blocks",
    "timeout.mlir loops",
    "timeout.mlir loops_later",
    "timeout.mlir loops_overlap",
    "timeout.mlir repeats",
    "timeout.mlir repeats_later",
    "timeout.mlir sleeps",
];

/// Excluded programs: those with ops that the oracle does not support. Op graphs have an oracle of their own.
const UNKNOWN: &[&str] = &[
    "flight.mlir three_in_flight",
    "frames.mlir entry",
    "frames.mlir in_order",
    "frames.mlir one_by_one",
    "frames.mlir overlapping",
    "max-memory.mlir equal",
    "max-memory.mlir fits",
    "max-memory.mlir neg",
    "max-memory.mlir shape",
    "nonstrict.mlir called",
    "nonstrict.mlir strict",
    "once.mlir behind_one_another",
    "once.mlir each_other",
    "once.mlir ordered",
    "once.mlir twice",
    "overlap.mlir two_at_work",
    "parallel.mlir once",
    "sync.mlir caller",
    "sync.mlir failure",
    "sync.mlir order",
    "tfrt-defects.mlir printed",
    "tfrt-output.mlir values",
];

/// Calls every function without arguments of the executor's lit programs, with many seeds and numbers of
/// workers.
#[test]
fn lit_programs() {
    let queues = (0..24).map(|seed| format!("seeded:{seed}"));
    let queues: Vec<String> = queues.chain(["s", "mstd:1", "mstd:2", "mstd:4"].map(String::from)).collect();
    let directory = format!("{}/../testdata/exec", env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<_> =
        std::fs::read_dir(directory).expect("the programs").flatten().map(|entry| entry.path()).collect();
    files.sort_unstable();
    let mut calls = Vec::new();
    for path in files {
        let file = path.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
        let text = std::fs::read_to_string(&path).expect("a program");
        let Ok(module) = module(&file, &text) else { continue };
        for op in module.functions() {
            let name = module.attr_named(op, "sym_name").and_then(|name| module.cx.as_str(name));
            let entry = module.regions_of(op).first().and_then(|&region| module.entry(region));
            let (Some(name), Some(entry)) = (name, entry) else { continue };
            let place = format!("{file} {name}");
            if module.args(entry).is_empty() && !LONG.iter().chain(UNKNOWN).any(|other| *other == place) {
                calls.push((file.clone(), text.clone(), name.to_owned()));
            }
        }
    }
    let start = || runtimes(queues.iter().cloned());
    let answers = cores::map(calls, start, |runtimes, (file, text, name)| {
        let answer = module(&file, &text).and_then(|module| compare_on(runtimes, &module, &name, &[]));
        answer.map_err(|why| format!("{file} {name}: {why}"))
    });
    let (right, wrong): (Vec<_>, Vec<_>) = answers.into_iter().partition(Result::is_ok);
    assert!(right.len() >= 40, "{} functions", right.len());
    assert_eq!(wrong, []);
}

// ---- the digits network ----

#[test]
fn the_digits_network() {
    let data = |name: &str| format!("{}/../testdata/digits/{name}", env!("CARGO_MANIFEST_DIR"));
    let array = |name: &str| npy::read_file(data(name).as_ref(), &Malloc::shared()).expect("an array");
    let text = std::fs::read_to_string(data("digits_mlp.mlir")).expect("the network");
    let images = || Value::Tensor(array("test_images.npy").into());
    let labels = Value::Tensor(array("test_labels.npy").into());
    let right = compare("digits_mlp.mlir", &text, "accuracy", &[images(), labels]);
    assert_eq!(right, Ok(vec!["350".to_owned()]));
    compare("digits_mlp.mlir", &text, "main", &[images()])
        .unwrap_or_else(|why| panic!("{}", &why[..why.len().min(2000)]));
}

// ---- random programs ----

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, max_shrink_iters: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_programs(choices in prop::collection::vec(any::<u32>(), 0..1500), input in prop::collection::vec(any::<u32>(), 0..100)) {
        let program = generate::program(&mut Tape(choices.iter()));
        let mut tape = Tape(input.iter());
        let arguments: Vec<Value> = program.arguments.iter().map(|&ty| argument(&mut tape, ty)).collect();
        if let Err(why) = compare("p", &program.text, &program.entry, &arguments) {
            let arguments: Vec<String> = arguments.iter().map(shown).collect();
            prop_assert!(false, "{why}\n@{}({})\n{}", program.entry, arguments.join(", "), program.text);
        }
    }
}
