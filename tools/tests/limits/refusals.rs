//! TensorFlow's graphs, with a tensor allocator that refuses one request. Each result is the same as without
//! the refusal, or an error for the refused memory.
//!
//! The tests refuse a sample of each graph's requests, `cargo run -p xtask -- refuse-memory` all of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use befrost::mem::{AllocError, Allocator, Block, LeakCheck, Malloc};
use befrost::{CompileOptions, Datum, ErrorCode, Function, Runtime, Source, Value, compile_with};
use befrost_kernels::Strings;
use befrost_tensor::npy::{self, Array};
use serde_json::Value as Json;

/// Maximum number of refused requests of a graph at one level of optimization.
const SAMPLE: u64 = 6;

/// An allocator that refuses one request.
struct RefusesOne {
    inner: Arc<LeakCheck>,
    /// The number of requests before the refused one, counted down.
    left: AtomicU64,
}

impl Allocator for RefusesOne {
    fn allocate(&self, size: usize, align: usize) -> Result<Block, AllocError> {
        // It wraps around after the refusal. Relaxed: it is only a counter, used by one thread.
        match self.left.fetch_sub(1, Ordering::Relaxed) {
            0 => Err(AllocError::OutOfMemory { size }),
            _ => self.inner.allocate(size, align),
        }
    }

    fn release(&self, block: Block) {
        self.inner.release(block);
    }
}

/// The indices of the requests to refuse, of `n` requests.
fn sample(n: u64) -> Box<dyn Iterator<Item = u64>> {
    if n <= SAMPLE || std::env::var_os("BEFROST_REFUSE_ALL").is_some() {
        return Box::new(0..n);
    }
    Box::new((0..SAMPLE).map(move |i| i * (n - 1) / (SAMPLE - 1)))
}

#[test]
fn stored_runs_with_a_refused_request() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/graphdefs");
    let entries = std::fs::read_dir(root).expect("the graphs");
    let mut cases: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    cases.sort();
    let (mut n_refused, mut n_errors, mut wrong) = (0, 0, Vec::new());
    for case in cases.iter().filter(|case| case.is_dir()) {
        for level in [0, 2] {
            if let Err(why) = check(case, level, &mut n_refused, &mut n_errors) {
                wrong.push(format!("{} -O{level}: {why}", case.display()));
            }
        }
    }
    println!("{n_refused} requests refused, {n_errors} calls with error results");
    assert_eq!(wrong, Vec::<String>::new());
    assert!(n_refused > 400 && n_errors > 300, "{n_refused} requests refused, {n_errors} calls failed");
}

fn check(case: &Path, level: u8, n_refused: &mut u64, n_errors: &mut u64) -> Result<(), String> {
    let text = std::fs::read_to_string(case.join("feeds.json")).map_err(|error| error.to_string())?;
    let description: Json = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let run = &items(&description["runs"])[0];
    let names = |list: &Json, key: &str| -> Vec<String> {
        items(list).iter().map(|item| item[key].as_str().unwrap_or_default().to_owned()).collect()
    };
    let fetches = items(&description["fetches"]).iter().filter_map(Json::as_str).map(str::to_owned).collect();
    let options =
        CompileOptions { level, feeds: names(&run["feeds"], "tensor"), fetches, ..CompileOptions::default() };
    let graph = std::fs::read(case.join("graph.pb")).map_err(|error| error.to_string())?;
    // Other tests cover graphs with ops that are refused by name.
    let Ok(bef) = compile_with(Source::GraphDef(graph), &options) else { return Ok(()) };
    let leaks = Arc::new(LeakCheck::new(Malloc::shared()));
    let refuses = Arc::new(RefusesOne { inner: leaks.clone(), left: AtomicU64::new(u64::MAX) });
    let runtime = Runtime::builder().work_queue("s").allocator(refuses.clone()).build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let inputs: Vec<Array> = items(&run["feeds"])
        .iter()
        .map(|feed| {
            let file = case.join(feed["file"].as_str().unwrap_or_default());
            npy::read_array_file(&file, &Malloc::shared())
        })
        .collect::<Result<_, _>>()
        .map_err(|error| error.to_string())?;
    {
        let program = runtime.load_bytes(&bef).map_err(|error| error.to_string())?;
        let main = program.function("main").map_err(|error| error.to_string())?;
        refuses.left.store(u64::MAX, Ordering::Relaxed);
        let want = call(&main, &inputs)?;
        let n = u64::MAX - refuses.left.load(Ordering::Relaxed);
        for nth in sample(n) {
            // Loaded again, so that its constants are not in memory yet.
            let program = runtime.load_bytes(&bef).map_err(|error| error.to_string())?;
            let main = program.function("main").map_err(|error| error.to_string())?;
            refuses.left.store(nth, Ordering::Relaxed);
            let got = call(&main, &inputs)?;
            *n_refused += 1;
            *n_errors += u64::from(got.iter().any(|result| result.error().is_some()));
            for (got, want) in got.iter().zip(&want) {
                same(case, got, want).map_err(|why| format!("request {nth} of {n}: {why}"))?;
            }
        }
        refuses.left.store(u64::MAX, Ordering::Relaxed);
    }
    let live = leaks.live();
    if live.blocks > 0 { Err(format!("{live:?} after all calls")) } else { Ok(()) }
}

/// Calls the function. Returns its results.
fn call(main: &Function, inputs: &[Array]) -> Result<Vec<Datum>, String> {
    let datum = |input: &Array| match input {
        Array::Numbers(tensor) => Datum::from(tensor.clone()),
        Array::Strings(strings) => Datum::from(Value::object(Strings(strings.clone()))),
    };
    let inputs: Vec<Datum> = inputs.iter().map(datum).collect();
    main.call(inputs).map_err(|error| error.to_string())
}

/// Compares a result of a call in which a request was refused.
fn same(case: &Path, got: &Datum, want: &Datum) -> Result<(), String> {
    match (got.error(), want.error()) {
        (Some(error), _)
            if error.code() == ErrorCode::ResourceExhausted && error.message().contains("out of memory") =>
        {
            Ok(())
        }
        (Some(error), Some(other)) if error.message() == other.message() => Ok(()),
        (Some(error), _) => Err(format!("{:?}: {}", error.code(), error.message())),
        (None, Some(other)) => Err(format!("{got} instead of an error: {}", other.message())),
        // Each program draws its own seeds, so random results differ.
        (None, None) if case.to_string_lossy().contains("random") => Ok(()),
        (None, None) if got.to_string() == want.to_string() => Ok(()),
        (None, None) => Err(format!("{got} instead of {want}")),
    }
}

fn items(value: &Json) -> &[Json] {
    value.as_array().map_or(&[], Vec::as_slice)
}
