//! Kernels with code for the common scalar types (`runtime/kernels/src/upstream/typed.rs`), compared with the
//! generic kernels, which dispatch on the type tags of their operands.
//!
//! ```text
//! one function per op and type ─┬─ the standard registry ──────▶ typed code   ┐ equal results and errors,
//!                               └─ the same without typed code ▶ generic code ┘ on tuples of special values
//! ```
#![forbid(unsafe_code)]

use std::fmt::Write as _;

use befrost::{Datum, Function, Program, Registry, Runtime, Source, Value, compile};

/// A function of the compared programs: its op, and the types of its arguments.
struct Case {
    op: String,
    arguments: Vec<&'static str>,
}

/// The text of all functions, and the case of each.
#[derive(Default)]
struct Cases {
    text: String,
    all: Vec<Case>,
}

const ARGUMENTS: [&str; 3] = ["%a", "%b", "%c"];

impl Cases {
    /// Adds a function of these arguments that returns `op`.
    fn add(&mut self, op: &str, arguments: &[&'static str], result: &str) {
        let named = ARGUMENTS.iter().zip(arguments).map(|(name, ty)| format!("{name}: {ty}"));
        let (named, n) = (named.collect::<Vec<_>>().join(", "), self.all.len());
        writeln!(
            self.text,
            "func.func @f{n}({named}) -> {result} {{\n  %r = {op}\n  return %r : {result}\n}}"
        )
        .unwrap();
        self.all.push(Case { op: op.to_owned(), arguments: arguments.to_vec() });
    }

    fn integers(&mut self, ty: &'static str) {
        let names = ["addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi"];
        for name in names.into_iter().chain(["remsi", "floordivsi", "divsi", "shli", "shrsi"]) {
            self.add(&format!("arith.{name} %a, %b : {ty}"), &[ty, ty], ty);
        }
        for predicate in ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "uge"] {
            self.add(&format!("arith.cmpi {predicate}, %a, %b : {ty}"), &[ty, ty], "i1");
        }
        self.add(&format!("math.absi %a : {ty}"), &[ty], ty);
    }

    fn index(&mut self) {
        let names =
            ["add", "sub", "mul", "and", "or", "xor", "maxs", "mins", "rems", "floordivs", "shl", "shrs"];
        for name in names {
            self.add(&format!("index.{name} %a, %b"), &["index"; 2], "index");
        }
        for predicate in ["eq", "ne", "slt", "sle", "sgt", "sge", "ult"] {
            self.add(&format!("index.cmp {predicate}(%a, %b)"), &["index"; 2], "i1");
        }
    }

    fn floats(&mut self, ty: &'static str) {
        for name in ["addf", "subf", "mulf", "divf"] {
            self.add(&format!("arith.{name} %a, %b : {ty}"), &[ty, ty], ty);
        }
        self.add(&format!("arith.negf %a : {ty}"), &[ty], ty);
        self.add(&format!("math.absf %a : {ty}"), &[ty], ty);
        for predicate in ["oeq", "ogt", "oge", "olt", "ole", "one", "ueq", "une", "uno"] {
            self.add(&format!("arith.cmpf {predicate}, %a, %b : {ty}"), &[ty, ty], "i1");
        }
    }

    fn casts(&mut self) {
        for (op, from, to) in [
            ("arith.extsi", "i32", "i64"),
            ("arith.index_cast", "i32", "index"),
            ("index.casts", "i32", "index"),
            ("arith.sitofp", "i32", "f32"),
            ("arith.sitofp", "i32", "f64"),
            ("arith.trunci", "i64", "i32"),
            ("arith.index_cast", "index", "i32"),
            ("index.casts", "index", "i32"),
            ("arith.sitofp", "i64", "f32"),
            ("arith.sitofp", "i64", "f64"),
            ("arith.extf", "f32", "f64"),
            ("arith.truncf", "f64", "f32"),
        ] {
            self.add(&format!("{op} %a : {from} to {to}"), &[from], to);
        }
    }
}

fn cases() -> Cases {
    let mut cases = Cases::default();
    for ty in ["i32", "i64", "index"] {
        cases.integers(ty);
    }
    cases.index();
    for ty in ["f32", "f64"] {
        cases.floats(ty);
    }
    cases.casts();
    for name in ["andi", "ori", "xori"] {
        cases.add(&format!("arith.{name} %a, %b : i1"), &["i1"; 2], "i1");
    }
    for ty in ["i1", "i32", "i64", "index", "f32", "f64"] {
        cases.add(&format!("arith.select %a, %b, %c : {ty}"), &["i1", ty, ty], ty);
    }
    cases
}

/// Numbers at which kernels are likely to differ: limits, zeros, shift amounts, NaN.
fn values(ty: &str) -> Vec<Value> {
    let wide = [0, 1, -1, 2, -2, 7, -7, 31, 32, 33, 63, 64, -64, i64::MIN, i64::MIN + 1, i64::MAX];
    let float = [0.0, 1.0, 1.5, 3.0, f64::MIN_POSITIVE, 5e-324, 1e-40, 16_777_217.0, f64::MAX, f64::INFINITY];
    let floats = float.into_iter().chain([f64::NAN]).flat_map(|x| [x, -x]);
    match ty {
        "i1" => [false, true].map(Value::I1).into(),
        "i32" => {
            let limits = [i32::MIN, i32::MIN + 1, i32::MAX];
            wide.iter().filter_map(|&x| i32::try_from(x).ok()).chain(limits).map(Value::I32).collect()
        }
        "i64" | "index" => wide.map(Value::I64).into(),
        "f32" => floats.chain([f32::MAX.into()]).map(|x| Value::F32(x as f32)).collect(),
        "f64" => floats.map(Value::F64).collect(),
        other => panic!("no values of type {other}"),
    }
}

/// All tuples of values of these types.
fn tuples(types: &[&str]) -> Vec<Vec<Value>> {
    types.iter().fold(vec![Vec::new()], |tuples, ty| {
        let longer = |tuple: Vec<Value>| values(ty).into_iter().map(move |x| [&tuple[..], &[x]].concat());
        tuples.into_iter().flat_map(longer).collect()
    })
}

/// The result as text: the bits of a number, or the error with its location. The bits of a NaN are shown
/// only with `keeps_nan`: they are unspecified except for ops that copy a value or change its sign.
fn result(function: &Function, arguments: &[Value], keeps_nan: bool) -> String {
    let results = function.call(arguments.iter().cloned().map(Datum::from)).unwrap();
    let datum = &results[0];
    match (datum.value(), datum.error()) {
        (_, Some(error)) => format!("error: {error}"),
        (Value::F32(x), _) if x.is_nan() && !keeps_nan => "NaN".to_owned(),
        (Value::F64(x), _) if x.is_nan() && !keeps_nan => "NaN".to_owned(),
        (Value::F32(x), _) => format!("f32 {:#x}", x.to_bits()),
        (Value::F64(x), _) => format!("f64 {:#x}", x.to_bits()),
        (value, _) => format!("{} {value}", value.type_name()),
    }
}

fn program(kernels: Registry, bef: &[u8]) -> Program {
    Runtime::with_kernels(kernels).work_queue("s").build().unwrap().load_bytes(bef).unwrap()
}

#[test]
fn typed_code_has_the_results_and_errors_of_the_generic_kernels() {
    let Cases { text, all } = cases();
    let bef = compile(Source::Text(text)).unwrap();
    let typed = program(befrost::registry(), &bef);
    let mut generic = Registry::new();
    befrost::registry().iter().for_each(|kernel| generic.add(kernel.clone().with_typed_code(|_| None)));
    let generic = program(generic, &bef);
    let (mut n, mut n_errors) = (0, 0);
    for (i, Case { op, arguments }) in all.iter().enumerate() {
        let name = format!("f{i}");
        let functions = [&typed, &generic].map(|program| program.function(&name).unwrap());
        let keeps_nan = ["arith.negf", "math.absf", "arith.select"].iter().any(|name| op.starts_with(name));
        for tuple in tuples(arguments) {
            let [got, want] = functions.each_ref().map(|function| result(function, &tuple, keeps_nan));
            assert_eq!(got, want, "{op} on {tuple:?}");
            n += 1;
            n_errors += usize::from(want.starts_with("error"));
        }
    }
    assert!(
        all.len() > 130 && n > 20_000 && n_errors > 500,
        "{} functions, {n} calls, {n_errors} errors",
        all.len()
    );
}
