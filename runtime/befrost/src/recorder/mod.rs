//! The times of kernels: totals, and kernel by kernel in the format of Chrome's and Perfetto's viewers.
//!
//! ```text
//! Runtime::builder().recorder(&recorder)          all calls of the runtime's programs
//! RunOptions { recorder: Some(recorder), .. }     runs of a session; their programs are loaded once more
//! ```
//!
//! A record names the origin of a kernel, which is the node of a model or the place in a text, and the dtypes
//! and shapes of its operands. The kernels of recorded programs, and their deferred work, are wrapped by
//! clocks that report to the recorder of their request; the clocks' overhead is not in the times of kernels.
//! Programs that are not recorded have no overhead. Calls, branches and loops that the executor runs without
//! kernels are in no record; the kernels in their bodies are, and a trace counts the iterations of each loop
//! that are in flight. It has a group of tracks for each device, and an arrow from each send to its recv.
//! [`Recorder::schedule`] draws it: a row for each device and each link.

mod loops;
mod schedule;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{fmt, io};

use bef_format::AttrView;
use befrost_kernel_api::device::{DeviceBuffer, DeviceSet};
use befrost_kernel_api::kernel::{
    Cursor, FrameCx, Job, Kernel, KernelFn, KernelFrame, Outcome, Param, Signature,
};
use befrost_kernel_api::{ErrorCode, KernelError, Registry, Request, Value};
use befrost_kernels::Tensor;

use loops::{Iterations, Loops};

/// Maximum number of events of a trace: the first ones are kept.
const MAX_EVENTS: usize = 1 << 20;
/// Maximum number of labels; further ones become one for each kernel.
const MAX_LABELS: usize = 1 << 16;

/// A receiver of the times of kernels. Clones share what they received.
#[derive(Clone)]
pub struct Recorder(Arc<Log>);

struct Log {
    start: Instant,
    traces: bool,
    noted: Mutex<Noted>,
}

/// The functions of the kernels of a registry, by name.
type Inside = BTreeMap<&'static str, KernelFn>;

/// Kernels of programs that can be recorded.
#[derive(Clone)]
pub(crate) struct RecordedKernels {
    pub(crate) registry: Arc<Registry>,
    inside: Arc<Inside>,
}

/// The attachment of the requests of recorded programs.
struct Recording {
    inside: Arc<Inside>,
    recorder: Option<Recorder>,
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
    /// The devices between which a transfer copies.
    moves: Option<(u16, u16)>,
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

impl RecordedKernels {
    /// The same kernels wrapped by clocks; `traces` says whether they are for recorders of traces.
    pub(crate) fn new(registry: &Registry, devices: &Arc<DeviceSet>, traces: bool) -> RecordedKernels {
        let inside = registry.iter().map(|kernel| (kernel.name, kernel.run)).collect();
        let mut recorded = Registry::new();
        for kernel in registry.iter() {
            // Kernels that call functions do not take a frame, if the executor runs the calls without
            // kernels.
            let takes_frame = kernel.signature.takes_frame || traces && kernel.signature.calls.is_none();
            let signature = Signature { takes_frame, ..(*kernel.signature).clone() };
            recorded.add(Kernel::new(kernel.name, signature, run_recorded));
        }
        recorded.set_devices(devices.clone());
        RecordedKernels { registry: Arc::new(recorded), inside: Arc::new(inside) }
    }

    /// The attachment of their requests.
    pub(crate) fn attachment(&self, recorder: Option<Recorder>) -> Arc<dyn std::any::Any + Send + Sync> {
        Arc::new(Recording { inside: self.inside.clone(), recorder })
    }
}

impl Recording {
    fn of(request: &Request) -> Option<&Recording> {
        request.attachment.as_ref()?.downcast_ref()
    }
}

fn run_recorded(frame: &mut KernelFrame<'_>) -> Outcome {
    let request = frame.context().request.clone();
    let Some((&name, &run, recorder)) = Recording::of(&request).and_then(|recording| {
        let (name, run) = recording.inside.get_key_value(frame.name())?;
        Some((name, run, &recording.recorder))
    }) else {
        return Outcome::Error(KernelError::new(ErrorCode::Internal, "a kernel without code"));
    };
    let Some(Recorder(log)) = recorder else { return run(frame) };
    let (label, iterations, track) = (log.label(name, frame), log.iterations(frame), log.track(name, frame));
    let start = Instant::now();
    log.timed((label, track), iterations, false, start, run(frame))
}

impl Log {
    /// The iterations of loops that a kernel is part of; none without a trace.
    fn iterations(&self, frame: &KernelFrame<'_>) -> Iterations {
        if !self.traces {
            return Iterations::new();
        }
        let Ok(path) = FrameCx::extract(frame, &mut Cursor::default()) else { return Iterations::new() };
        let noted = &mut *self.noted();
        if noted.events.len() == MAX_EVENTS {
            return Iterations::new();
        }
        noted.loops.of(&path, self.start.elapsed())
    }

    /// The tracks of a kernel.
    fn track(&self, kernel: &str, frame: &KernelFrame<'_>) -> Track {
        let cx = frame.context();
        let device = cx.device_number();
        if !self.traces {
            return Track { device, crossing: None, moves: None };
        }
        self.noted().devices.entry(device).or_insert_with(|| cx.device().name().to_string());
        let (operand, is_send) = match kernel {
            "dev.send" => (1, true),
            "dev.recv" => (0, false),
            "dev.transfer" => return Track { device, crossing: None, moves: moves(frame) },
            _ => return Track { device, crossing: None, moves: None },
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
        Track { device, crossing: Some(Crossing { id, is_send }), moves: None }
    }

    /// The number of a kernel's label.
    fn label(&self, kernel: &'static str, frame: &KernelFrame<'_>) -> usize {
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
        let noted = &mut *self.noted();
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
        self: &Arc<Log>,
        (label, track): (usize, Track),
        iterations: Iterations,
        is_later: bool,
        start: Instant,
        outcome: Outcome,
    ) -> Outcome {
        // A received value has arrived unless the kernel waits for it.
        let waits = matches!(outcome, Outcome::Later(_));
        let crossing = track.crossing.filter(|_| !waits);
        self.note((label, Track { crossing, ..track }), &iterations, is_later, start, start.elapsed());
        match outcome {
            Outcome::Later(job) => {
                let log = self.clone();
                Outcome::Later(job.within(move |job: Job, frame: &mut KernelFrame<'_>| {
                    let start = Instant::now();
                    log.timed((label, track), iterations, true, start, job.run(frame))
                }))
            }
            outcome => outcome,
        }
    }

    fn note(
        &self,
        (label, track): (usize, Track),
        iterations: &[usize],
        is_later: bool,
        start: Instant,
        took: Duration,
    ) {
        let mut noted = self.noted();
        if let Some(total) = noted.totals.get_mut(label) {
            total.n += u64::from(!is_later);
            total.took += took;
            total.most = total.most.max(took);
        }
        if !self.traces {
            return;
        }
        if noted.events.len() < MAX_EVENTS {
            let (thread, at) = (thread_number(), start.saturating_duration_since(self.start));
            noted.events.push(TimedEvent { label, is_later, track, thread, at, took });
            noted.loops.extend(iterations, at + took);
        } else {
            noted.lost += 1;
        }
    }

    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The devices between which a transfer copies its operand.
fn moves(transfer: &KernelFrame<'_>) -> Option<(u16, u16)> {
    let buffer = transfer.operand(0).and_then(|value| value.downcast_ref::<DeviceBuffer>());
    let from = buffer.map_or(0, DeviceBuffer::device_number);
    match transfer.attr(0) {
        Some(AttrView::Str(name)) => Some((from, transfer.context().request.devices.as_ref()?.find(name)?)),
        _ => None,
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

impl Recorder {
    /// A recorder of the total times of kernels.
    pub fn of_totals() -> Recorder {
        Recorder::new(false)
    }

    /// A recorder of totals, and of when each kernel ran on which thread.
    pub fn of_traces() -> Recorder {
        Recorder::new(true)
    }

    fn new(traces: bool) -> Recorder {
        Recorder(Arc::new(Log { start: Instant::now(), traces, noted: Mutex::default() }))
    }

    pub(crate) fn is_of_traces(&self) -> bool {
        self.0.traces
    }

    /// The times as `--cost-profile` reads them, sorted by descending time.
    pub fn profile(&self) -> String {
        let noted = self.0.noted();
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
    pub fn table(&self) -> String {
        let noted = self.0.noted();
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
    pub fn write(&self, put: &mut dyn FnMut(&str)) {
        let noted = self.0.noted();
        let mut labels: Vec<Option<&Label>> = vec![None; noted.totals.len()];
        noted.labels.iter().for_each(|(label, &i)| labels[i] = Some(label));
        put("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [");
        let mut line = String::new();
        for (i, TimedEvent { label, is_later, track, thread, at, took }) in noted.events.iter().enumerate() {
            let Some(Label { kernel, source, operands, kind: _ }) = labels.get(*label).copied().flatten()
            else {
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

    /// The numbers of events that the trace holds, and of later ones that it does not.
    pub fn kept_and_lost(&self) -> (usize, u64) {
        let noted = self.0.noted();
        (noted.events.len(), noted.lost)
    }

    /// Writes the trace to a file, which is replaced when the trace is complete.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn save(&self, path: impl AsRef<Path>) -> io::Result<()> {
        befrost_tensor::bundle::put(path.as_ref(), |file| {
            let mut result = Ok(());
            self.write(&mut |part| {
                if result.is_ok() {
                    result = file.write_all(part.as_bytes());
                }
            });
            result
        })
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kept, lost) = self.kept_and_lost();
        f.debug_struct("Recorder").field("kept", &kept).field("lost", &lost).finish_non_exhaustive()
    }
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
