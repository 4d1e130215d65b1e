//! Gradients of random graphs with calls, branches, loops, lists and gathers: the oracle's, and the
//! executor's at every level of optimization, differentiated before and after optimization.

use befrost::{Datum, Runtime};
use befrost_compiler::graph::pipeline;
use befrost_testing::graphs::Program;
use befrost_testing::oracle::tf::{self, Strictness, TfValue, VariableStore};

use crate::compare::{Tolerance, same_tensor};
use crate::random::{Executor, compiled, parsed, passed};

/// Programs of an ordinary test run; `BEFROST_GRADIENT_CASES` says another number.
const CASES: u64 = 60;

/// Steps of `@main`.
const STEPS: usize = 10;

/// Gradients are sums of many terms, in another order at each level.
const TOLERANCE: Tolerance = Tolerance { relative: 1e-3, absolute: 1e-4 };

/// Beyond this, nothing is left of the last bits.
const LARGEST: f32 = 1e6;

/// Differentiates, and nothing else.
const DIFFERENTIATED: &str = "builtin.module(tf-functionalize-control-flow,tf-outline-regions,tf-gradients)";

/// The passes before differentiation, when the forward graph is optimized first.
const OPTIMIZED: &str = "tf-shape-inference,tf-constant-fold,inline{dialect=tf max-new-ops=131072},cse,\
                         tf-arithmetic,tf-shape-inference,tf-constant-fold,\
                         tf-loop-invariant-code-motion,tf-gradients";

#[test]
fn random_gradients() {
    let number = |name: &str, or| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(or);
    let (cases, first) = (number("BEFROST_GRADIENT_CASES", CASES), number("BEFROST_GRADIENT_FIRST", 1));
    let (mut n_compared, mut failures) = (0, Vec::new());
    for seed in first..first + cases {
        match check(seed, STEPS) {
            Ok(is_compared) => n_compared += u64::from(is_compared),
            Err(why) => {
                let shorter = (0..STEPS).find_map(|n| check(seed, n).err().map(|why| (n, why)));
                let (n, why) = shorter.unwrap_or((STEPS, why));
                let text = Program::differentiated(seed, n).text;
                failures.push(format!("seed {seed}, {n} steps: {why}\n{text}"));
            }
        }
    }
    println!("{n_compared} programs with gradients of {cases}");
    let shown = failures[..failures.len().min(3)].join("\n");
    assert!(failures.is_empty(), "{} failures, of which\n{shown}", failures.len());
    assert!(n_compared * 2 > cases, "{n_compared} programs of {cases} have gradients");
}

/// Compares the gradients of a program; whether it has any that can be compared.
fn check(seed: u64, n: usize) -> Result<bool, String> {
    let program = Program::differentiated(seed, n);
    let module = passed(parsed(&program.text)?, DIFFERENTIATED)?;
    let arguments: Vec<TfValue> = program.arguments.iter().cloned().map(TfValue::Tensor).collect();
    let want = tf::call(&module, "main", &arguments, &mut VariableStore::default(), Strictness::Inlined);
    let want = want.map_err(|refusal| format!("the oracle: {refusal}"))?.results;
    let is_small = |value: &TfValue| match value {
        TfValue::Tensor(tensor) => {
            tensor.to_vec::<f32>().is_ok_and(|numbers| numbers.iter().all(|x| x.abs() < LARGEST))
        }
        _ => false,
    };
    if !want.iter().all(is_small) {
        return Ok(false);
    }
    let before = pipeline(2).replace("tf-gradients", OPTIMIZED);
    let ways = [
        ("-O0", pipeline(0)),
        ("-O1", pipeline(1)),
        ("-O2", pipeline(2)),
        ("-O2, differentiated after optimization", before),
    ];
    for (way, pipeline) in ways {
        let bytes = compiled(&program.text, &pipeline).map_err(|why| format!("{way}: {why}"))?;
        let mut first: Option<Vec<Vec<u8>>> = None;
        for queue in ["s", "mstd:2", "seeded:1"] {
            let name = format!("{way} on {queue}");
            let runtime = Runtime::builder().work_queue(queue).build().map_err(|error| error.to_string())?;
            let (found, _) = Executor::new(name.clone(), 2, &bytes, &runtime)?.call(&program)?;
            let bits = found.iter().zip(&want).map(|(found, want)| same(found, want));
            let bits = bits.collect::<Result<Vec<_>, String>>().map_err(|why| format!("{name}: {why}"))?;
            if first.get_or_insert_with(|| bits.clone()) != &bits {
                return Err(format!("{name}: other bits than on one thread"));
            }
        }
    }
    recomputed(&program)?;
    Ok(true)
}

/// Values that backward functions compute again have the same bits as those that they are given.
fn recomputed(program: &Program) -> Result<(), String> {
    let runtime = Runtime::builder().work_queue("s").build().map_err(|error| error.to_string())?;
    let mut first: Option<Vec<Vec<u8>>> = None;
    for recompute in ["none", "cheap", "all"] {
        let attribute = |line: &str| match line.strip_suffix(" {") {
            Some(head) if line.starts_with("func.func private") => {
                format!("{head} attributes {{bef.recompute = \"{recompute}\"}} {{\n")
            }
            _ => format!("{line}\n"),
        };
        let text: String = program.text.lines().map(attribute).collect();
        let name = format!("recompute {recompute}");
        let bytes = compiled(&text, &pipeline(0)).map_err(|why| format!("{name}: {why}"))?;
        let (found, _) = Executor::new(name.clone(), 0, &bytes, &runtime)?.call(program)?;
        let bits = found.iter().map(|found| {
            let tensor = found.tensor().map_err(|error| error.to_string())?;
            Ok(tensor.read_bytes().map_err(|error| error.to_string())?.to_vec())
        });
        let bits = bits.collect::<Result<Vec<Vec<u8>>, String>>().map_err(|why| format!("{name}: {why}"))?;
        if first.get_or_insert_with(|| bits.clone()) != &bits {
            return Err(format!("{name}: other bits than with everything kept"));
        }
    }
    Ok(())
}

/// Compares a result; its bytes.
fn same(found: &Datum, want: &TfValue) -> Result<Vec<u8>, String> {
    let found = found.tensor().map_err(|error| format!("{error} instead of {want:?}"))?;
    if let TfValue::Tensor(want) = want {
        same_tensor(found, want, TOLERANCE)?;
    }
    Ok(found.read_bytes().map_err(|error| error.to_string())?.to_vec())
}
