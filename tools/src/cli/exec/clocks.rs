//! `--profile` and `--trace`: the time of each kernel, as a table, and kernel by kernel in the format of
//! Chrome's and Perfetto's viewers.
//!
//! With these options the program's kernels are wrapped by clocks, including deferred work. Without them
//! there is no overhead. Calls, branches and loops that the executor runs without kernels appear in neither
//! output; the kernels in their bodies do.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use befrost::ErrorCode;
use befrost_kernel_api::kernel::{Job, KernelFrame, Outcome};
use befrost_kernel_api::{KernelError, Registry};

use super::scopes::{Inside, around};

/// The most events of a trace: the first ones are kept.
const MAX_EVENTS: usize = 1 << 20;

static INSIDE: OnceLock<Inside> = OnceLock::new();
static LOG: OnceLock<Log> = OnceLock::new();

struct Log {
    start: Instant,
    traces: bool,
    noted: Mutex<Noted>,
}

#[derive(Default)]
struct Noted {
    events: Vec<TimedEvent>,
    /// The number of dropped events.
    lost: u64,
    totals: BTreeMap<&'static str, Total>,
}

/// A kernel, or its deferred work.
struct TimedEvent {
    name: &'static str,
    is_later: bool,
    thread: u32,
    at: Duration,
    took: Duration,
}

#[derive(Clone, Copy, Default)]
struct Total {
    /// The number of kernels, without deferred work.
    n: u64,
    took: Duration,
    most: Duration,
}

/// The same kernels wrapped by clocks.
pub(super) fn with_clocks(registry: &Registry, traces: bool) -> Registry {
    LOG.get_or_init(|| Log { start: Instant::now(), traces, noted: Mutex::default() });
    around(registry, &INSIDE, |frame| {
        let inside = INSIDE.get().and_then(|inside| inside.get_key_value(frame.name()));
        match inside {
            Some((&name, &run)) => {
                let start = Instant::now();
                timed(name, false, start, run(frame))
            }
            None => Outcome::Error(KernelError::new(ErrorCode::Internal, "a kernel without code")),
        }
    })
}

/// Records the time since `start`, and wraps deferred work.
fn timed(name: &'static str, is_later: bool, start: Instant, outcome: Outcome) -> Outcome {
    note(name, is_later, start, start.elapsed());
    match outcome {
        Outcome::Later(job) => Outcome::Later(job.within(move |job: Job, frame: &mut KernelFrame<'_>| {
            let start = Instant::now();
            timed(name, true, start, job.run(frame))
        })),
        outcome => outcome,
    }
}

fn note(name: &'static str, is_later: bool, start: Instant, took: Duration) {
    let Some(log) = LOG.get() else { return };
    let mut noted = log.noted();
    let total = noted.totals.entry(name).or_default();
    total.n += u64::from(!is_later);
    total.took += took;
    total.most = total.most.max(took);
    if !log.traces {
        return;
    }
    if noted.events.len() < MAX_EVENTS {
        let (thread, at) = (thread_number(), start.saturating_duration_since(log.start));
        noted.events.push(TimedEvent { name, is_later, thread, at, took });
    } else {
        noted.lost += 1;
    }
}

/// 1, 2, 3, ... in the order in which threads first call it.
fn thread_number() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    thread_local! {
        // Relaxed: only uniqueness matters.
        static NUMBER: u32 = NEXT.fetch_add(1, Ordering::Relaxed);
    }
    NUMBER.with(|number| *number)
}

impl Log {
    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The table, sorted by descending time.
pub(super) fn table() -> String {
    let Some(log) = LOG.get() else { return String::new() };
    let mut totals: Vec<(&str, Total)> = log.noted().totals.iter().map(|(name, it)| (*name, *it)).collect();
    totals.sort_by(|(a_name, a), (b_name, b)| b.took.cmp(&a.took).then(a_name.cmp(b_name)));
    let width = totals.iter().map(|(name, _)| name.len()).max().unwrap_or(0).max("kernel".len());
    let mut text = format!(
        "{:width$} {:>10} {:>12} {:>12} {:>12}\n",
        "kernel", "count", "total us", "mean us", "max us"
    );
    for (name, Total { n, took, most }) in totals {
        let [took, most] = [took, most].map(|time| time.as_secs_f64() * 1e6);
        _ = writeln!(
            text,
            "{name:width$} {n:>10} {took:>12.3} {:>12.3} {most:>12.3}",
            took / n.max(1) as f64
        );
    }
    text
}

/// The trace: one complete event for each kernel, in microseconds since the start.
pub(super) fn trace(put: &mut dyn FnMut(&str)) {
    let Some(log) = LOG.get() else { return };
    let noted = log.noted();
    put("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [");
    let mut line = String::new();
    for (i, TimedEvent { name, is_later, thread, at, took }) in noted.events.iter().enumerate() {
        let [at, took] = [at, took].map(|time| time.as_secs_f64() * 1e6);
        let (comma, kind) = (if i == 0 { "" } else { "," }, if *is_later { "task" } else { "kernel" });
        line.clear();
        // Names of kernels need no escapes.
        _ = write!(
            line,
            "{comma}\n{{\"name\": \"{name}\", \"cat\": \"{kind}\", \"ph\": \"X\", \"ts\": {at:.3}, \"dur\": {took:.3}, \"pid\": 1, \"tid\": {thread}}}"
        );
        put(&line);
    }
    put(&format!("\n], \"otherData\": {{\"lost\": {}}}}}\n", noted.lost));
}
