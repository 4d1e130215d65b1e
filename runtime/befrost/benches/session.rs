//! The cost of a run besides its mathematics, from Rust and from C, and two threads on one session.
//!
//! `cargo bench -p befrost --bench session`. The goals are those of the table in
//! `interfaces.md`: a function without kernels by `callable.call` 40 ns, by `session.run` 200 ns. The bench
//! `calls` of the crate befrost-c has the row for C. Rows of throughput: twice the threads, twice the runs.

#[path = "../../host/benches/common/calibration.rs"]
mod calibration;

use std::path::Path;
use std::sync::Barrier;

use befrost::{Callable, HostTensor, RunOptions, Runtime, Session, Shapes};
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

/// Number of calls timed together, since one is as short as reading the clock.
const CALLS: usize = 1000;

/// The names of the argument and the result of an empty function.
const PORTS: (&str, &str) = ("x", "y");

/// A function that returns its argument.
const EMPTY: &str = "func.func @main(%x: i32 {bef.name = \"x\"}) -> (i32 {bef.name = \"y\"}) {
  tfrt.return %x : i32
}";

fn session(queue: &str) -> Session {
    let runtime = Runtime::builder().work_queue(queue).build().expect("a runtime");
    Session::builder().runtime(&runtime).text(EMPTY).expect("a session")
}

fn callable() -> Callable {
    session("s").callable(&[PORTS.0], &[PORTS.1]).expect("a callable")
}

/// From one list to another: nothing is allocated.
#[divan::bench]
fn callable_call(bencher: Bencher<'_, '_>) {
    let (callable, mut feeds, mut results) = (callable(), Vec::new(), Vec::new());
    bencher.counter(ItemsCount::new(CALLS)).bench_local(|| {
        for i in 0..CALLS {
            feeds.push(black_box(i as i32).into());
            callable.call(&mut feeds, &mut results).expect("a call");
            results.clear();
        }
    });
}

/// With new lists for each call.
#[divan::bench]
fn callable_run(bencher: Bencher<'_, '_>) {
    let callable = callable();
    bencher.counter(ItemsCount::new(CALLS)).bench_local(|| {
        for i in 0..CALLS {
            drop(black_box(callable.run([black_box(i as i32)])));
        }
    });
}

/// By names, which are looked up.
#[divan::bench(args = ["s", "mstd:2"])]
fn session_run(bencher: Bencher<'_, '_>, queue: &str) {
    let (session, options) = (session(queue), RunOptions::default());
    bencher.counter(ItemsCount::new(CALLS)).bench_local(|| {
        for i in 0..CALLS {
            let feeds = [(PORTS.0, black_box(i as i32))];
            drop(black_box(session.run_with(&feeds, &[PORTS.1], &options)));
        }
    });
}

/// So many runs of a convolutional network on each thread, for the throughput of all.
const RUNS: usize = 50;

/// The goal: two threads do 1.9 times what one does.
#[divan::bench(args = [1, 2])]
fn threads_on_one_session(bencher: Bencher<'_, '_>, n_threads: usize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/digits/digits_cnn.pb");
    let runtime = Runtime::builder().work_queue("s").build().expect("a runtime");
    let session = Session::builder().runtime(&runtime).shapes(Shapes::Exact).open(path).expect("a session");
    let images = HostTensor::from_vec([8, 64], vec![0.5f32; 8 * 64]).expect("images");
    let run = || drop(session.run(&[("images", images.clone())], &["logits"]).expect("a run"));
    run();
    bencher.counter(ItemsCount::new(n_threads * RUNS)).bench(|| {
        let start = Barrier::new(n_threads);
        std::thread::scope(|scope| {
            for _ in 0..n_threads {
                scope.spawn(|| {
                    start.wait();
                    (0..RUNS).for_each(|_| run());
                });
            }
        });
    });
}
