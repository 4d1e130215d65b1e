//! `--profile` and `--trace`: the time of each kernel, as a table, and kernel by kernel in the format of
//! Chrome's and Perfetto's viewers.
//!
//! Both name the origin of a kernel, which is the node of a model or the place in a text, and the dtypes and
//! shapes of its operands. With these options the program's kernels, and their deferred work, are wrapped by
//! clocks; the clocks' overhead is not in the times of kernels. Without the options there is no overhead.
//! Calls, branches and loops that the executor runs without kernels appear in neither output; the kernels in
//! their bodies do, and a trace counts the iterations of each loop that are in flight. It has a group of
//! tracks for each device, and an arrow from each send to its recv.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use befrost::ErrorCode;
use befrost_kernel_api::kernel::{Cursor, FrameCx, Job, Kernel, KernelFrame, Outcome, Param, Signature};
use befrost_kernel_api::{KernelError, Registry, Value};
use befrost_kernels::Tensor;

use super::in_flight::{Iterations, Loops};
use super::scopes::{Inside, around};

/// Maximum number of events of a trace: the first ones are kept.
const MAX_EVENTS: usize = 1 << 20;
/// Maximum number of labels; further ones become one for each kernel.
const MAX_LABELS: usize = 1 << 16;

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
    loops: Loops,
    /// The names of devices, by number.
    devices: BTreeMap<u16, String>,
    /// The numbers of labels, which index `totals`.
    labels: HashMap<Label, usize>,
    totals: Vec<Total>,
}

/// A kernel at one place of the program, with operands of one kind.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Label {
    kernel: &'static str,
    /// The node of a model, or the place in a text; empty if the file does not have it.
    source: String,
    /// Dtypes and shapes of the operands that are tensors.
    operands: String,
    /// The kind of the device.
    kind: String,
}

/// The tracks of an event: those of a device, which are a process to viewers, and the end of an arrow.
#[derive(Clone, Copy)]
struct Track {
    device: u16,
    crossing: Option<Crossing>,
}

/// An end of an arrow between a send and a recv.
#[derive(Clone, Copy)]
struct Crossing {
    /// Equal at both ends.
    id: u64,
    is_send: bool,
}

/// A kernel, or its deferred work.
struct TimedEvent {
    label: usize,
    is_later: bool,
    track: Track,
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
    let timed_registry = around(registry, &INSIDE, |frame| {
        let inside = INSIDE.get().and_then(|inside| inside.get_key_value(frame.name()));
        match inside {
            Some((&name, &run)) => {
                let label = label(name, frame);
                let (iterations, track) = (iterations(frame), track(name, frame));
                let start = Instant::now();
                timed((label, track), iterations, false, start, run(frame))
            }
            None => Outcome::Error(KernelError::new(ErrorCode::Internal, "a kernel without code")),
        }
    });
    if traces { with_frames(&timed_registry) } else { timed_registry }
}

/// The same kernels with their frames. Kernels that call functions are not wrapped if the executor runs the
/// calls without kernels.
fn with_frames(registry: &Registry) -> Registry {
    let mut others = Registry::new();
    for kernel in registry.iter() {
        let takes_frame = kernel.signature.calls.is_none();
        let signature = Signature { takes_frame, ..(*kernel.signature).clone() };
        others.add(Kernel::new(kernel.name, signature, kernel.run));
    }
    others
}

/// The iterations of loops that a kernel is part of; none without a trace.
fn iterations(frame: &KernelFrame<'_>) -> Iterations {
    let Some(log) = LOG.get().filter(|log| log.traces) else { return Iterations::new() };
    let Ok(path) = FrameCx::extract(frame, &mut Cursor::default()) else { return Iterations::new() };
    let noted = &mut *log.noted();
    if noted.events.len() == MAX_EVENTS {
        return Iterations::new();
    }
    noted.loops.of(&path, log.start.elapsed())
}

/// The tracks of a kernel.
fn track(kernel: &str, frame: &KernelFrame<'_>) -> Track {
    let cx = frame.context();
    let device = cx.device_number();
    let Some(log) = LOG.get().filter(|log| log.traces) else { return Track { device, crossing: None } };
    log.noted().devices.entry(device).or_insert_with(|| cx.device().name().to_string());
    let (operand, is_send) = match kernel {
        "dev.send" => (1, true),
        "dev.recv" => (0, false),
        _ => return Track { device, crossing: None },
    };
    // The channel, and the frame in its step, as text.
    let mut hasher = DefaultHasher::new();
    cx.request.id.hash(&mut hasher);
    let step = match frame.operand(operand) {
        Some(Value::Object(step)) => step.display(),
        _ => String::new(),
    };
    (format!("{:?}", frame.immediate(0)), step).hash(&mut hasher);
    // Viewers read numbers as floats.
    let id = hasher.finish() >> 12;
    Track { device, crossing: Some(Crossing { id, is_send }) }
}

/// The number of a kernel's label.
fn label(kernel: &'static str, frame: &KernelFrame<'_>) -> usize {
    let site = frame.site();
    let name = site.name().filter(|name| !name.is_empty()).map(Cow::into_owned);
    let source = name.or_else(|| site.location()).unwrap_or_default();
    let mut operands = String::new();
    for i in 0..frame.n_operands() {
        let Some(tensor) = frame.operand(i).and_then(|value| value.downcast_ref::<Tensor>()) else {
            continue;
        };
        let comma = if operands.is_empty() { "" } else { " " };
        _ = write!(operands, "{comma}{}", tensor.dtype());
        for (i, dim) in tensor.shape().dims().iter().enumerate() {
            _ = write!(operands, "{}{dim}", if i == 0 { "[" } else { "x" });
        }
        operands.push_str(if tensor.shape().rank() == 0 { "" } else { "]" });
    }
    let Some(log) = LOG.get() else { return 0 };
    let noted = &mut *log.noted();
    let kind = frame.context().device().name().kind().to_owned();
    let mut label = Label { kernel, source, operands, kind };
    if noted.labels.len() >= MAX_LABELS && !noted.labels.contains_key(&label) {
        label = Label { source: "(others)".to_owned(), operands: String::new(), ..label };
    }
    let next = noted.totals.len();
    let number = *noted.labels.entry(label).or_insert(next);
    if number == next {
        noted.totals.push(Total::default());
    }
    number
}

/// Records the time since `start`, and wraps deferred work.
fn timed(
    (label, track): (usize, Track),
    iterations: Iterations,
    is_later: bool,
    start: Instant,
    outcome: Outcome,
) -> Outcome {
    // A received value has arrived unless the kernel waits for it.
    let waits = matches!(outcome, Outcome::Later(_));
    let crossing = track.crossing.filter(|_| !waits);
    note((label, Track { crossing, ..track }), &iterations, is_later, start, start.elapsed());
    match outcome {
        Outcome::Later(job) => Outcome::Later(job.within(move |job: Job, frame: &mut KernelFrame<'_>| {
            let start = Instant::now();
            timed((label, track), iterations, true, start, job.run(frame))
        })),
        outcome => outcome,
    }
}

fn note(
    (label, track): (usize, Track),
    iterations: &[usize],
    is_later: bool,
    start: Instant,
    took: Duration,
) {
    let Some(log) = LOG.get() else { return };
    let mut noted = log.noted();
    if let Some(total) = noted.totals.get_mut(label) {
        total.n += u64::from(!is_later);
        total.took += took;
        total.most = total.most.max(took);
    }
    if !log.traces {
        return;
    }
    if noted.events.len() < MAX_EVENTS {
        let (thread, at) = (thread_number(), start.saturating_duration_since(log.start));
        noted.events.push(TimedEvent { label, is_later, track, thread, at, took });
        noted.loops.extend(iterations, at + took);
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

impl Noted {
    /// The totals, by descending time.
    fn rows(&self) -> Vec<(&Label, Total)> {
        let mut rows: Vec<(&Label, Total)> =
            self.labels.iter().filter_map(|(label, &i)| Some((label, *self.totals.get(i)?))).collect();
        let key =
            |label: &Label| (label.kernel, label.source.clone(), label.operands.clone(), label.kind.clone());
        rows.sort_by(|(a_label, a), (b_label, b)| {
            b.took.cmp(&a.took).then_with(|| key(a_label).cmp(&key(b_label)))
        });
        rows
    }
}

/// The times as `--cost-profile` reads them, sorted by descending time.
pub(super) fn json() -> String {
    let Some(log) = LOG.get() else { return String::new() };
    let noted = log.noted();
    let mut text = "{\"kernels\": [".to_owned();
    for (i, (Label { kernel, source, operands, kind }, Total { n, took, .. })) in
        noted.rows().into_iter().enumerate()
    {
        // Names of kernels, types and kinds need no escapes.
        let (comma, source, ns) = (if i == 0 { "" } else { "," }, escaped(source), took.as_nanos());
        _ = write!(
            text,
            "{comma}\n{{\"source\": \"{source}\", \"kind\": \"{kind}\", \"kernel\": \"{kernel}\", \"operands\": \"{operands}\", \"calls\": {}, \"ns\": {ns}}}",
            n.max(1)
        );
    }
    text.push_str("\n]}\n");
    text
}

/// The table, sorted by descending time.
pub(super) fn table() -> String {
    let Some(log) = LOG.get() else { return String::new() };
    let noted = log.noted();
    let rows = noted.rows();
    let width = rows.iter().map(|(label, _)| label.kernel.len()).max().unwrap_or(0).max("kernel".len());
    let mut text = format!(
        "{:width$} {:>10} {:>12} {:>12} {:>12}  source, operands\n",
        "kernel", "count", "total us", "mean us", "max us"
    );
    for (Label { kernel, source, operands, kind: _ }, Total { n, took, most }) in rows {
        let [took, most] = [took, most].map(|time| time.as_secs_f64() * 1e6);
        let comma = if source.is_empty() || operands.is_empty() { "" } else { ", " };
        _ = writeln!(
            text,
            "{kernel:width$} {n:>10} {took:>12.3} {:>12.3} {most:>12.3}  {source}{comma}{operands}",
            took / n.max(1) as f64
        );
    }
    text
}

/// The trace: one complete event for each kernel, in microseconds since the start.
pub(super) fn trace(put: &mut dyn FnMut(&str)) {
    let Some(log) = LOG.get() else { return };
    let noted = log.noted();
    let mut labels: Vec<Option<&Label>> = vec![None; noted.totals.len()];
    noted.labels.iter().for_each(|(label, &i)| labels[i] = Some(label));
    put("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [");
    let mut line = String::new();
    for (i, TimedEvent { label, is_later, track, thread, at, took }) in noted.events.iter().enumerate() {
        let Some(Label { kernel, source, operands, kind: _ }) = labels.get(*label).copied().flatten() else {
            continue;
        };
        let [at, took] = [at, took].map(|time| time.as_secs_f64() * 1e6);
        let pid = 1 + u32::from(track.device);
        let (comma, kind) = (if i == 0 { "" } else { "," }, if *is_later { "task" } else { "kernel" });
        line.clear();
        // Names of kernels and types need no escapes.
        _ = write!(
            line,
            "{comma}\n{{\"name\": \"{kernel}\", \"cat\": \"{kind}\", \"ph\": \"X\", \"ts\": {at:.3}, \"dur\": {took:.3}, \"pid\": {pid}, \"tid\": {thread}, \"args\": {{\"source\": \"{}\", \"operands\": \"{operands}\"}}}}",
            escaped(source)
        );
        if let Some(Crossing { id, is_send }) = track.crossing {
            let (phase, binding) = if is_send { ("s", "") } else { ("f", ", \"bp\": \"e\"") };
            _ = write!(
                line,
                ",\n{{\"name\": \"crossing\", \"cat\": \"dev\", \"ph\": \"{phase}\", \"id\": {id}, \"ts\": {at:.3}, \"pid\": {pid}, \"tid\": {thread}{binding}}}"
            );
        }
        put(&line);
    }
    noted.loops.counters(put);
    for (device, name) in noted.devices.iter().filter(|_| noted.devices.len() > 1) {
        // Names of devices need no escapes.
        let pid = 1 + u32::from(*device);
        put(&format!(
            ",\n{{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": {pid}, \"args\": {{\"name\": \"{name}\"}}}}"
        ));
    }
    put(&format!("\n], \"otherData\": {{\"lost\": {}}}}}\n", noted.lost));
}

/// A warning if the trace does not hold all events.
pub(super) fn lost() -> Option<String> {
    let noted = LOG.get()?.noted();
    let (lost, kept) = (noted.lost, noted.events.len());
    (lost > 0)
        .then(|| format!("warning: the trace holds the first {kept} events; {lost} later ones were lost\n"))
}

/// A text inside of a JSON string.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\\' => escaped.extend(['\\', c]),
            c if c.is_control() => _ = write!(escaped, "\\u{:04x}", u32::from(c)),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_in_json() {
        assert_eq!(escaped("a/b:0 \"c\\d\"\n"), "a/b:0 \\\"c\\\\d\\\"\\u000a");
    }
}
