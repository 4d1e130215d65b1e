//! `tfrt_test.benchmark`: runs its body repeatedly and prints times in TFRT's format.
//!
//! A run ends when everything that it started is complete. Percentiles are over single runs. CPU time is that
//! of the process and includes other concurrent work.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use befrost_kernel_api::kernel::{Attr, Callee, Deferred, Rest, StrAttr, control};
use befrost_kernel_api::{Chain, ExecContext, KernelError, Registry, Value, kernel};
use rustix::time::{ClockId, clock_gettime};

pub(super) fn add(registry: &mut Registry) {
    registry.add(kernel!(
        "tfrt_test.benchmark",
        |arguments: Rest<'_, Value>,
         duration_secs: Attr<i32>,
         max_count: Attr<i32>,
         name: StrAttr<'_>,
         num_warmup_runs: Attr<i32>,
         body: Callee| {
            let limits = Limits::new(duration_secs, max_count, num_warmup_runs);
            let benchmark = Benchmark { arguments: arguments.to_vec(), body, limits };
            let name = name.0.to_owned();
            Deferred::new(move |cx| benchmark.run(&name, cx).map(|()| Chain))
        }
    ));
    registry.add(kernel!(
        "tfrt_test.sync_benchmark",
        |arguments: Rest<'_, Value>,
         duration_secs: Attr<i32>,
         max_count: Attr<i32>,
         num_warmup_runs: Attr<i32>,
         body: Callee| {
            let limits = Limits::new(duration_secs, max_count, num_warmup_runs);
            let benchmark = Benchmark { arguments: arguments.to_vec(), body, limits };
            let name = benchmark.body.name().to_owned();
            Deferred::new(move |cx| benchmark.run(&name, cx))
        }
    ));
    for name in ["tfrt_test.invoke_sync_function.i32_i32.i32", "tfrt_test.sync_function_runner.i32_i32.i32"] {
        registry.add(control::caller_of(name, vec![&["i32"], &["i32"]], vec![&["i32"]]));
    }
    for name in
        ["tfrt_test.invoke_sync_function.i32_i32.i32_i32", "tfrt_test.sync_function_runner.i32_i32.i32_i32"]
    {
        registry.add(control::caller_of(name, vec![&["i32"], &["i32"]], vec![&["i32"], &["i32"]]));
    }
}

struct Limits {
    duration: Duration,
    runs: usize,
    warm_up: usize,
}

impl Limits {
    fn new(seconds: Attr<i32>, runs: Attr<i32>, warm_up: Attr<i32>) -> Limits {
        let count = |n: Attr<i32>| usize::try_from(n.0).unwrap_or_default();
        Limits {
            duration: Duration::from_secs(count(seconds) as u64),
            runs: count(runs),
            warm_up: count(warm_up),
        }
    }
}

struct Benchmark {
    arguments: Vec<Value>,
    body: Callee,
    limits: Limits,
}

/// Wall time, and CPU time of all threads of the process.
#[derive(Clone, Copy)]
struct Times {
    wall: Duration,
    cpu: Duration,
}

fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(
        u64::try_from(now.tv_sec).unwrap_or_default(),
        u32::try_from(now.tv_nsec).unwrap_or_default(),
    )
}

impl Benchmark {
    /// Runs the benchmark and prints the times.
    ///
    /// # Errors
    /// The body's first error, or that of the output.
    fn run(&self, name: &str, cx: &ExecContext) -> Result<(), KernelError> {
        for _ in 0..self.limits.warm_up {
            self.once(cx)?;
        }
        let (mut duration, mut runs) = (Duration::ZERO, Vec::new());
        while runs.len() < self.limits.runs && !cx.request.cancellation.is_cancelled() {
            let run = self.once(cx)?;
            duration += run.wall;
            runs.push(run);
            if duration >= self.limits.duration {
                break;
            }
        }
        cx.print(&report(name, duration, &runs))
    }

    fn once(&self, cx: &ExecContext) -> Result<Times, KernelError> {
        let (wall, cpu) = (Instant::now(), cpu_time());
        let results = self.body.call(self.arguments.clone(), cx)?;
        let times = Times { wall: wall.elapsed(), cpu: cpu_time().saturating_sub(cpu) };
        match results.iter().find_map(Value::error) {
            Some(error) => Err(KernelError::of_call(error)),
            None => Ok(times),
        }
    }
}

fn report(name: &str, duration: Duration, runs: &[Times]) -> String {
    let mut text = String::new();
    let mut line = |what: &str, value: u128| _ = writeln!(text, "BM:{name}:{what}: {value}");
    let column = |of: fn(&Times) -> Duration| {
        let mut times: Vec<u128> = runs.iter().map(|run| of(run).as_nanos()).collect();
        times.sort_unstable();
        times
    };
    let (wall, cpu) = (column(|run| run.wall), column(|run| run.cpu));
    line("Duration(ns)", duration.as_nanos());
    line("Count", runs.len() as u128);
    for (what, times) in [("Time", &wall), ("CPU", &cpu)] {
        for (which, percent) in [("Min", 0), ("50%", 50), ("95%", 95), ("99%", 99)] {
            let at = (times.len() * percent / 100).min(times.len().saturating_sub(1));
            line(&format!("{what} {which}(ns)"), times.get(at).copied().unwrap_or_default());
        }
    }
    let (wall, cpu): (u128, u128) = (wall.iter().sum(), cpu.iter().sum());
    line("CPU utilization(percent)", cpu * 100 / wall.max(1));
    text
}
