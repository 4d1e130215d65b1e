//! Random programs run by the oracle and by the executor, at `-O0` and `-O2`, on several work queues.
//!
//! Further pipelines lower conditionals and loops to dataflow control flow, and execute that natively or
//! functionalize it again.
//!
//! Each program is called twice with the same resources, so the second call shows the state that the first
//! one has left. Each result is that of strict calls or that of inlined ones ([`Strictness`]). At `-O0` the
//! locations of errors must be the same too.

use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use befrost::{CallOptions, Cancellation, Datum, Output, Program as Loaded, Runtime, Value as Final};
use befrost_compiler::diag::{Diagnostic, Severity};
use befrost_compiler::emit::{EmitOptions, emit};
use befrost_compiler::graph::pipeline;
use befrost_compiler::pass::PassManager;
use befrost_compiler::syntax::{ParseOptions, parse};
use befrost_compiler::verify::{Verified, verify};
use befrost_testing::graphs::{Program, mode_of};
use befrost_testing::oracle::OracleError;
use befrost_testing::oracle::tf::{self, Strictness, TfExecution, TfValue, VariableStore};

use crate::compare::{Tolerance, same_tensor};

/// The number of programs, unless `BEFROST_TF_ORACLE_CASES` sets it. `BEFROST_TF_ORACLE_FIRST` sets the first
/// seed.
const CASES: u64 = 150;

/// The number of steps of `@main`.
const STEPS: usize = 12;

/// The number of calls of a program.
const CALLS: usize = 2;

/// How long a call may take. One that takes longer hangs, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// The pipeline that lowers to dataflow control flow and from there to conditionals and loops again.
const DATAFLOW: &str = "builtin.module(tf-outline-regions,tf-lower-functional-ops,tf-functionalize-control-flow,\
                        tf-outline-regions,tf-executor-to-kernels,tf-to-kernels)";

/// A pipeline with dataflow control flow, which is executed natively, instead of functions.
pub(crate) fn natively(pipeline: &str) -> String {
    let primitives = "tf-outline-regions,tf-lower-functional-ops";
    pipeline.replace("tf-functionalize-control-flow,tf-outline-regions", primitives)
}

const TOLERANCE: Tolerance = Tolerance { relative: 1e-4, absolute: 1e-4 };

/// The runtimes, by work queue.
pub(crate) static RUNTIMES: LazyLock<Vec<(&str, Runtime)>> = LazyLock::new(|| {
    let queues = ["s", "mstd:2", "seeded:1", "seeded:2"];
    queues.map(|queue| (queue, Runtime::builder().work_queue(queue).build().expect("a work queue"))).into()
});

#[derive(Default)]
struct Lines(Mutex<Vec<String>>);

impl Output for Lines {
    fn write(&self, text: &str) -> std::io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
        Ok(())
    }
}

/// The number that an environment variable holds.
pub(crate) fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn random_programs() {
    let cases = number("BEFROST_TF_ORACLE_CASES").unwrap_or(CASES);
    let first = number("BEFROST_TF_ORACLE_FIRST").unwrap_or(1);
    let (mut n_errors, mut n_whole, mut failures) = (0, 0, Vec::new());
    for seed in first..first + cases {
        match check(seed, STEPS) {
            Ok(has_error) => *(if has_error { &mut n_errors } else { &mut n_whole }) += 1,
            Err(why) => {
                let shorter = (0..STEPS).find_map(|n| check(seed, n).err().map(|why| (n, why)));
                let (n, why) = shorter.unwrap_or((STEPS, why));
                let text = Program::random(mode_of(seed), seed, n).text;
                failures.push(format!("seed {seed}, {n} steps, {:?}: {why}\n{text}", mode_of(seed)));
            }
        }
    }
    println!("{n_whole} programs without errors, {n_errors} with some");
    let shown = failures[..failures.len().min(3)].join("\n");
    assert!(failures.is_empty(), "{} failures, of which\n{shown}", failures.len());
    // Both kinds are worth comparing.
    assert!(n_whole * 4 > cases && n_errors * 20 > cases, "{n_whole} without errors, {n_errors} with some");
}

pub(crate) fn said(diagnostics: &[Diagnostic]) -> String {
    let wrong = diagnostics.iter().filter(|d| d.severity == Severity::Error);
    wrong.map(|d| d.message.clone()).collect::<Vec<_>>().join("; ")
}

pub(crate) fn parsed(text: &str) -> Result<Verified, String> {
    let parsed = parse("program", text, &ParseOptions::default());
    let module = parsed.module.ok_or_else(|| format!("the text: {}", said(&parsed.diagnostics)))?;
    verify(module).map_err(|wrong| format!("the program: {}", said(&wrong)))
}

pub(crate) fn passed(module: Verified, pipeline: &str) -> Result<Verified, String> {
    let mut passes = PassManager::parse(pipeline).map_err(|error| format!("{error:?}"))?;
    let (module, _) = passes.run(module).map_err(|wrong| format!("passes: {}", said(&wrong)))?;
    Ok(module)
}

pub(crate) fn compiled(text: &str, pipeline: &str) -> Result<Vec<u8>, String> {
    let module = passed(parsed(text)?, pipeline)?;
    let bytes = emit(&module, &EmitOptions::default()).map_err(|wrong| format!("emit: {}", said(&wrong)))?;
    Ok(bytes)
}

/// A loaded program with the resources and the output of its calls.
pub(crate) struct Executor {
    name: String,
    level: u8,
    /// Whether the program is divided into parts, each of which orders its own effects.
    is_divided: bool,
    program: Loaded,
    options: CallOptions,
    lines: Arc<Lines>,
}

impl Executor {
    /// Loads a file that was optimized at a level.
    pub(crate) fn new(name: String, level: u8, bef: &[u8], runtime: &Runtime) -> Result<Executor, String> {
        let program = runtime.load_bytes(bef).map_err(|error| error.to_string())?;
        let lines = Arc::new(Lines::default());
        let options = CallOptions { output: lines.clone(), ..CallOptions::default() };
        Ok(Executor { name, level, is_divided: false, program, options, lines })
    }

    /// The same for a program that is divided into parts, or not.
    pub(crate) fn divided(self, is_divided: bool) -> Executor {
        Executor { is_divided, ..self }
    }

    fn all(text: &str) -> Result<Vec<Executor>, String> {
        let mut all = Vec::new();
        let ways = [
            ("-O0", 0, pipeline(0)),
            ("-O2", 2, pipeline(2)),
            ("dataflow and back", 2, DATAFLOW.to_owned()),
            ("dataflow -O0", 2, natively(&pipeline(0))),
            ("dataflow -O2", 2, natively(&pipeline(2))),
        ];
        for (way, level, pipeline) in ways {
            let bytes = compiled(text, &pipeline).map_err(|why| format!("{way}: {why}"))?;
            for (queue, runtime) in &*RUNTIMES {
                all.push(Executor::new(format!("{way} on {queue}"), level, &bytes, runtime)?);
            }
        }
        Ok(all)
    }

    pub(crate) fn call(&self, program: &Program) -> Result<(Vec<Datum>, Vec<String>), String> {
        let function = self.program.function("main").map_err(|error| error.to_string())?;
        let arguments = program.arguments.iter().map(|tensor| tensor.clone().into());
        let cancellation = Cancellation::with_deadline(Instant::now() + PATIENCE);
        let options = CallOptions { cancellation, ..self.options.clone() };
        let results = function.call_with(arguments, &options).map_err(|error| error.to_string())?;
        // No program waits, so the deadline is no error that the oracle could have.
        if options.cancellation.error().is_some() {
            return Err(format!("{}: the call ended at its deadline only", self.name));
        }
        let lines = std::mem::take(&mut *self.lines.0.lock().unwrap_or_else(PoisonError::into_inner));
        Ok((results, lines))
    }
}

/// Compares a program on all executors with the oracle. Returns whether it has an error among its results.
fn check(seed: u64, n: usize) -> Result<bool, String> {
    let program = Program::random(mode_of(seed), seed, n);
    compare_with_oracle(&program, &Executor::all(&program.text)?)
}

/// Compares all executors of a program with the oracle. Returns whether it has an error among its results.
pub(crate) fn compare_with_oracle(program: &Program, executors: &[Executor]) -> Result<bool, String> {
    let module = parsed(&program.text)?;
    let arguments: Vec<TfValue> = program.arguments.iter().cloned().map(TfValue::Tensor).collect();
    let [mut strict, mut inlined] = [VariableStore::default(), VariableStore::default()];
    let mut has_error = false;
    for call in 0..CALLS {
        let oracle = |variables: &mut VariableStore, strictness| {
            tf::call(&module, "main", &arguments, variables, strictness)
                .map_err(|refusal| refusal.to_string())
        };
        let strict = oracle(&mut strict, Strictness::Strict)?;
        let inlined = oracle(&mut inlined, Strictness::Inlined)?;
        for executor in executors {
            let (found, lines) = executor.call(program)?;
            agrees(executor, (&found, &lines), &strict, &inlined)
                .map_err(|why| format!("{}, call {call}: {why}", executor.name))?;
        }
        has_error |= strict.results.iter().any(|result| result.error().is_some());
        // It is open which effects after a failed one have happened, so a second call cannot be compared.
        if strict.is_cut_short {
            break;
        }
    }
    Ok(has_error)
}

fn agrees(
    &Executor { level, is_divided, .. }: &Executor,
    (found, lines): (&[Datum], &[String]),
    strict: &TfExecution,
    inlined: &TfExecution,
) -> Result<(), String> {
    if found.len() != strict.results.len() {
        return Err(format!("{} results of {}", found.len(), strict.results.len()));
    }
    for (i, found) in found.iter().enumerate() {
        let (want, inlined) = (&strict.results[i], &inlined.results[i]);
        // Any of several effects that fail, each on a resource of its own, may be the first.
        if strict.is_cut_short && found.error().is_some() {
            continue;
        }
        // What follows a failed effect on another device's resource may have happened.
        if strict.is_cut_short && is_divided && want.error().is_some() {
            continue;
        }
        // The later iterations of a loop start with values in any state, as an inlined call does.
        // Optimization inlines other calls too.
        let with_place = level == 0;
        let answer = same(found, want, with_place);
        let answer = answer.or_else(|why| same(found, inlined, with_place).map_err(|_| why));
        answer.map_err(|why| format!("result #{i}: {why}"))?;
    }
    let is_open = strict.is_cut_short && level > 0;
    if !is_open && *lines != strict.printed {
        return Err(format!("printed {lines:?}, expected {:?}", strict.printed));
    }
    Ok(())
}

fn same(found: &Datum, want: &TfValue, with_place: bool) -> Result<(), String> {
    match (found.value().final_value(), want) {
        (Some(Final::Error(found)), TfValue::Error(want)) => {
            let OracleError { code, trace, .. } = &**want;
            let is_same = found.code().to_string() == code.to_string()
                && (!with_place || found.location() == trace.first().map(String::as_str));
            let shown = || format!("{} at {:?}: {}", found.code(), found.location(), found.message());
            if is_same { Ok(()) } else { Err(format!("{} instead of {want:?}", shown())) }
        }
        (Some(Final::Object(_)), TfValue::Tensor(want)) => {
            let found = found.tensor().map_err(|error| error.to_string())?;
            same_tensor(found, want, TOLERANCE)
        }
        _ => Err(format!("{found} instead of {want:?}")),
    }
}
