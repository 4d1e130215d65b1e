//! `tfrt_test.benchmark`: runs its body repeatedly and prints times in TFRT's format.
//!
//! A run ends when everything that it started is complete. Wall time is measured for each run, less the
//! time of reading the clock. CPU time is that of the process and includes other concurrent work. Reading it
//! is a system call, so it is measured for batches of runs, each of which gets its share, less the time
//! between two runs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use befrost_kernel_api::kernel::{Attr, Callee, Deferred, PreparedCallee, Rest, StrAttr, control};
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

/// The shortest batch of runs for which CPU time is read.
const BATCH: Duration = Duration::from_micros(200);

/// CPU time of all threads of the process.
fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(
        u64::try_from(now.tv_sec).unwrap_or_default(),
        u32::try_from(now.tv_nsec).unwrap_or_default(),
    )
}

/// The time between two consecutive reads of the clock for wall time.
fn clock_cost() -> Duration {
    let once = || {
        let start = Instant::now();
        start.elapsed()
    };
    (0..100).map(|_| once()).min().unwrap_or_default()
}

impl Benchmark {
    /// Runs the benchmark and prints the times.
    ///
    /// # Errors
    /// The body's first error, or that of the output.
    fn run(&self, name: &str, cx: &ExecContext) -> Result<(), KernelError> {
        let measured = self.body.call_often(cx, |body| self.measure(body, cx))?;
        cx.print(&measured.report(name))
    }

    fn measure(&self, body: &mut PreparedCallee<'_>, cx: &ExecContext) -> Result<Measured, KernelError> {
        let (mut arguments, mut results) = (Vec::new(), Vec::new());
        let mut once = || {
            arguments.extend_from_slice(&self.arguments);
            results.clear();
            let start = Instant::now();
            body.call_into(&mut arguments, &mut results)?;
            let wall = start.elapsed();
            match results.iter().find_map(Value::error) {
                Some(error) => Err(KernelError::of_call(error)),
                None => Ok(wall),
            }
        };
        for _ in 0..self.limits.warm_up {
            once()?;
        }
        let clock = clock_cost();
        let (mut elapsed, mut measured) = (Duration::ZERO, Measured::default());
        // CPU time and runs of each batch; the shortest time of a batch outside of its runs, per run.
        let (mut batches, mut between): (Vec<(u128, u64)>, u128) = (Vec::new(), u128::MAX);
        let is_over = |measured: &Measured, elapsed| {
            measured.wall.n >= self.limits.runs as u64
                || elapsed >= self.limits.duration && measured.wall.n > 0
                || cx.request.cancellation.is_cancelled()
        };
        while !is_over(&measured, elapsed) {
            let (cpu, before, mut batch) = (cpu_time(), (measured.wall.n, measured.wall.sum), Duration::ZERO);
            let start = Instant::now();
            while batch < BATCH && !is_over(&measured, elapsed + batch) {
                let wall = once()?;
                batch += wall;
                measured.wall.add(wall.saturating_sub(clock), 1);
            }
            let all = start.elapsed().as_nanos();
            let cpu = cpu_time().saturating_sub(cpu).as_nanos();
            let (runs, inside) = (measured.wall.n - before.0, measured.wall.sum - before.1);
            between = between.min(all.saturating_sub(inside) / u128::from(runs.max(1)));
            batches.push((cpu, runs));
            elapsed += batch;
        }
        for (cpu, runs) in batches {
            let each = (cpu / u128::from(runs.max(1))).saturating_sub(between);
            measured.cpu.add(Duration::from_nanos(u64::try_from(each).unwrap_or(u64::MAX)), runs);
        }
        Ok(measured)
    }
}

/// The times of all runs.
#[derive(Default)]
struct Measured {
    wall: Histogram,
    cpu: Histogram,
}

impl Measured {
    fn report(&self, name: &str) -> String {
        let Measured { wall, cpu } = self;
        let mut text = String::new();
        let mut line = |what: &str, value: u128| _ = writeln!(text, "BM:{name}:{what}: {value}");
        line("Duration(ns)", wall.sum);
        line("Count", wall.n.into());
        for (what, times) in [("Time", wall), ("CPU", cpu)] {
            for (which, percent) in [("Min", 0), ("50%", 50), ("95%", 95), ("99%", 99)] {
                line(&format!("{what} {which}(ns)"), times.percentile(percent).into());
            }
        }
        line("CPU utilization(percent)", cpu.sum * 100 / wall.sum.max(1));
        text
    }
}

/// Times in nanoseconds with their numbers of runs, in memory that short times do not let grow.
#[derive(Default)]
struct Histogram {
    n: u64,
    sum: u128,
    /// Numbers of runs by times below [`Histogram::SHORT`].
    short: Vec<u64>,
    /// Numbers of runs by other times.
    long: BTreeMap<u64, u64>,
}

impl Histogram {
    const SHORT: u64 = 4096;

    /// Adds runs that took the same time.
    fn add(&mut self, time: Duration, runs: u64) {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.n += runs;
        self.sum += u128::from(nanos) * u128::from(runs);
        if nanos >= Histogram::SHORT {
            *self.long.entry(nanos).or_default() += runs;
            return;
        }
        self.short.resize(Histogram::SHORT as usize, 0);
        if let Some(count) = self.short.get_mut(nanos as usize) {
            *count += runs;
        }
    }

    /// The time that this percentage of the runs do not exceed; 0 without runs.
    fn percentile(&self, percent: u64) -> u64 {
        let at = (self.n * percent / 100).min(self.n.saturating_sub(1));
        let short = self.short.iter().zip(0..).map(|(&runs, nanos)| (nanos, runs));
        let all = short.chain(self.long.iter().map(|(&nanos, &runs)| (nanos, runs)));
        let mut before = 0;
        for (nanos, runs) in all {
            before += runs;
            if before > at {
                return nanos;
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_count_runs() {
        let mut times = Histogram::default();
        assert_eq!(times.percentile(50), 0);
        for (nanos, runs) in [(5_000_000_000, 1), (7, 94), (4095, 3), (4096, 2)] {
            times.add(Duration::from_nanos(nanos), runs);
        }
        assert_eq!(
            [0, 50, 94, 95, 97, 98, 99].map(|p| times.percentile(p)),
            [7, 7, 4095, 4095, 4096, 4096, 5_000_000_000]
        );
        assert_eq!((times.n, times.sum), (100, 5_000_000_000 + 7 * 94 + 4095 * 3 + 4096 * 2));
    }
}
