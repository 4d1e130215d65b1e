//! Gradients of random graphs with calls, branches, loops, lists and gathers.
//!
//! ```text
//! the oracle's gradients      ─┐
//! -O0, -O2                     ├─ equal, and the same bits on every queue
//! -O2, differentiated last    ─┘
//! bef.recompute none = cheap = all, bit for bit
//! sum of gradient * direction = the central difference of the sum of the ys in that direction
//! ```

use befrost::{Datum, HostTensor, Runtime};
use befrost_compiler::graph::pipeline;
use befrost_tensor::mem::Malloc;
use befrost_testing::dice::Dice;
use befrost_testing::graphs::Program;
use befrost_testing::oracle::tf::{self, Strictness, TfValue, VariableStore};

use crate::compare::{Tolerance, same_tensor};
use crate::random::{Executor, RUNTIMES, compiled, number, parsed, passed};

/// The number of programs, unless `BEFROST_GRADIENT_CASES` sets it. `BEFROST_GRADIENT_FIRST` sets the first
/// seed.
const CASES: u64 = 100;

/// The number of steps of `@main`.
const STEPS: usize = 5;

/// Gradients are sums of many terms, in another order at each level.
const TOLERANCE: Tolerance = Tolerance { relative: 1e-3, absolute: 1e-4 };

/// Programs with larger results are not compared: few of their digits are significant.
const LARGEST: f32 = 1e6;

/// Differentiates, and nothing else.
const DIFFERENTIATED: &str = "builtin.module(tf-functionalize-control-flow,tf-outline-regions,tf-gradients)";

/// The passes in front of `tf-gradients` when the forward graph is optimized first.
const OPTIMIZED: &str = "tf-shape-inference,tf-constant-fold,inline{dialect=tf max-new-ops=131072},cse,\
                         tf-arithmetic,tf-shape-inference,tf-constant-fold,\
                         tf-loop-invariant-code-motion,tf-gradients";

/// The counts of what was compared.
#[derive(Default)]
struct Compared {
    programs: u64,
    differences: u64,
}

#[test]
fn random_gradients() {
    let (cases, first) =
        (number("BEFROST_GRADIENT_CASES").unwrap_or(CASES), number("BEFROST_GRADIENT_FIRST").unwrap_or(1));
    let (mut compared, mut failures) = (Compared::default(), Vec::new());
    for seed in first..first + cases {
        if let Err(why) = check(seed, STEPS, &mut compared) {
            let unused = &mut Compared::default();
            let shorter = (0..STEPS).find_map(|n| check(seed, n, unused).err().map(|why| (n, why)));
            let (n, why) = shorter.unwrap_or((STEPS, why));
            let (program, _) = Program::differentiated(seed, n);
            failures.push(format!("seed {seed}, {n} steps: {why}\n{}", program.text));
        }
    }
    let Compared { programs, differences } = compared;
    println!("{programs} programs of {cases}, {differences} with central differences");
    let shown = failures[..failures.len().min(3)].join("\n");
    assert!(failures.is_empty(), "{} failures, of which\n{shown}", failures.len());
    assert!(programs * 5 > cases * 4, "{programs} programs of {cases} are small enough to be compared");
    assert!(differences * 2 > cases, "{differences} programs of {cases} are smooth enough for differences");
}

/// Compares the gradients of a program.
fn check(seed: u64, n: usize, compared: &mut Compared) -> Result<(), String> {
    let (program, n_ys) = Program::differentiated(seed, n);
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
        return Ok(());
    }
    let last = pipeline(2).replace("tf-gradients", OPTIMIZED);
    let ways = [
        ("-O0", pipeline(0), 1),
        ("-O2", pipeline(2), 3),
        ("-O2, differentiated after optimization", last, 1),
    ];
    for (way, pipeline, n_queues) in ways {
        let bytes = compiled(&program.text, &pipeline).map_err(|why| format!("{way}: {why}"))?;
        let mut first: Option<Vec<Vec<u8>>> = None;
        for (queue, runtime) in RUNTIMES.iter().take(n_queues) {
            let name = format!("{way} on {queue}");
            let (found, _) = Executor::new(name.clone(), 2, &bytes, runtime)?.call(&program)?;
            let bits = found.iter().zip(&want).map(|(found, want)| same(found, want));
            let bits = bits.collect::<Result<Vec<_>, String>>().map_err(|why| format!("{name}: {why}"))?;
            if first.get_or_insert_with(|| bits.clone()) != &bits {
                return Err(format!("{name}: other bits than on one thread"));
            }
        }
    }
    let executor = recomputed(&program)?;
    compared.programs += 1;
    compared.differences += u64::from(agrees_with_differences(&program, n_ys, &executor, seed)?);
    Ok(())
}

/// The runtime of a single thread.
fn one_thread() -> &'static Runtime {
    &RUNTIMES[0].1
}

/// Compares bit for bit what backward functions compute again with what they are given. Returns the last
/// executor.
fn recomputed(program: &Program) -> Result<Executor, String> {
    let mut first: Option<Vec<Vec<u8>>> = None;
    let mut last = None;
    for recompute in ["none", "all", "cheap"] {
        let attribute = |line: &str| match line.strip_suffix(" {") {
            Some(head) if line.starts_with("func.func private") => {
                format!("{head} attributes {{bef.recompute = \"{recompute}\"}} {{\n")
            }
            _ => format!("{line}\n"),
        };
        let text: String = program.text.lines().map(attribute).collect();
        let name = format!("recompute {recompute}");
        let bytes = compiled(&text, &pipeline(0)).map_err(|why| format!("{name}: {why}"))?;
        let executor = Executor::new(name.clone(), 0, &bytes, one_thread())?;
        let (found, _) = executor.call(program)?;
        let bits = found.iter().map(bits).collect::<Result<Vec<_>, String>>();
        let bits = bits.map_err(|why| format!("{name}: {why}"))?;
        if first.get_or_insert_with(|| bits.clone()) != &bits {
            return Err(format!("{name}: other bits than with everything kept"));
        }
        last = Some(executor);
    }
    last.ok_or_else(|| "nothing was run".to_owned())
}

/// Compares the gradients with central differences of the sum of the ys. Returns whether the differences of
/// two step sizes agree, so that they say something.
fn agrees_with_differences(
    program: &Program,
    n_ys: usize,
    executor: &Executor,
    seed: u64,
) -> Result<bool, String> {
    /// Arguments are multiples of a hundredth, and conditions compare them with zero.
    const STEP: f32 = 0.004;
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut directions: Vec<Vec<f32>> = Vec::new();
    for x in &program.arguments[1..] {
        let n = x.shape().num_elements();
        directions.push((0..n).map(|_| (dice.below(257) as f32 - 128.0) / 128.0).collect());
    }
    let call = |step: f32| -> Result<Vec<Vec<f32>>, String> {
        let mut arguments = vec![program.arguments[0].clone()];
        for (x, direction) in program.arguments[1..].iter().zip(&directions) {
            let moved = floats(x)?.iter().zip(direction).map(|(x, d)| x + step * d).collect::<Vec<f32>>();
            let moved = HostTensor::from_slice(x.shape().clone(), &moved, &Malloc::shared());
            arguments.push(moved.map_err(|error| error.to_string())?);
        }
        let (found, _) = executor.call(&Program { text: String::new(), arguments })?;
        found.iter().map(|found| floats(found.tensor().map_err(|error| error.to_string())?)).collect()
    };
    let sum = |step: f32| -> Result<f64, String> {
        Ok(call(step)?[..n_ys].iter().flatten().map(|&y| f64::from(y)).sum())
    };
    let difference =
        |step: f32| -> Result<f64, String> { Ok((sum(step)? - sum(-step)?) / (2.0 * f64::from(step))) };
    let here = call(0.0)?;
    let terms =
        here[n_ys..].iter().zip(&directions).flat_map(|(grads, direction)| grads.iter().zip(direction));
    let terms: Vec<f64> = terms.map(|(&g, &d)| f64::from(g) * f64::from(d)).collect();
    let gradient: f64 = terms.iter().sum();
    let scale = terms.iter().map(|term| term.abs()).sum::<f64>().max(1e-2);
    let (wide, narrow) = (difference(2.0 * STEP)?, difference(STEP)?);
    let extrapolated = narrow + (narrow - wide) / 3.0;
    if (wide - narrow).abs() > 0.02 * scale {
        return Ok(false);
    }
    let wrong = (extrapolated - gradient).abs();
    let size: f64 = here[..n_ys].iter().flatten().map(|&y| f64::from(y).abs()).sum();
    if wrong > 0.02 * scale + (wide - narrow).abs() + 1e-4 * size {
        return Err(format!("the gradient is {gradient}, the central difference {extrapolated}"));
    }
    Ok(true)
}

fn floats(tensor: &HostTensor) -> Result<Vec<f32>, String> {
    tensor.to_vec().map_err(|error| error.to_string())
}

/// The bytes of a result.
fn bits(found: &Datum) -> Result<Vec<u8>, String> {
    let tensor = found.tensor().map_err(|error| error.to_string())?;
    Ok(tensor.read_bytes().map_err(|error| error.to_string())?.to_vec())
}

/// Compares a result. Returns its bytes.
fn same(found: &Datum, want: &TfValue) -> Result<Vec<u8>, String> {
    if let TfValue::Tensor(want) = want {
        let tensor = found.tensor().map_err(|error| format!("{error} instead of {want:?}"))?;
        same_tensor(tensor, want, TOLERANCE)?;
    }
    bits(found)
}
