//! The iterations of loops that are in flight, as counters of a trace.
//!
//! An iteration is in flight from the start of its first recorded kernel to the end of its last one,
//! including kernels of calls and loops inside of it. So a counter shows the overlap of iterations: it is 1
//! throughout if each iteration begins after the end of the previous one.

use std::collections::HashMap;
use std::fmt::Write;
use std::time::Duration;

use befrost_kernel_api::context::FrameStep;
use befrost_kernel_api::kernel::FrameCx;

use super::escaped;

/// Numbers of iterations in [`Loops`], outermost first.
pub(super) type Iterations = Vec<usize>;

/// The loops of a run, and their iterations.
#[derive(Default)]
pub(super) struct Loops {
    /// By the calls that lead to the loop: its number.
    loops: HashMap<Vec<FrameStep>, usize>,
    names: Vec<String>,
    /// By the calls that lead to the iteration: its number.
    iterations: HashMap<Vec<FrameStep>, usize>,
    spans: Vec<Span>,
}

/// An iteration.
struct Span {
    of: usize,
    start: Duration,
    end: Duration,
}

impl Loops {
    /// The iterations that a frame is part of, one for each call on the way to it. `now` is the time.
    pub(super) fn of(&mut self, frame: &FrameCx<'_>, now: Duration) -> Iterations {
        let steps = frame.path().steps();
        (1..=steps.len())
            .map(|n| {
                let path = &steps[..n];
                if let Some(&known) = self.iterations.get(path) {
                    return known;
                }
                let mut of = path.to_vec();
                of[n - 1].iteration = 0;
                let next = self.names.len();
                let of = *self.loops.entry(of).or_insert(next);
                if of == next {
                    self.names.push(frame.name_of(n - 1));
                }
                self.iterations.insert(path.to_vec(), self.spans.len());
                self.spans.push(Span { of, start: now, end: now });
                self.spans.len() - 1
            })
            .collect()
    }

    /// Extends iterations to this time.
    pub(super) fn extend(&mut self, iterations: &[usize], until: Duration) {
        for &i in iterations {
            if let Some(span) = self.spans.get_mut(i) {
                span.end = span.end.max(until);
            }
        }
    }

    /// One event for each change of a counter, for loops of several iterations.
    pub(super) fn counters(&self, put: &mut dyn FnMut(&str)) {
        let mut changes: Vec<Vec<(Duration, i64)>> = vec![Vec::new(); self.names.len()];
        for span in &self.spans {
            changes[span.of].extend([(span.start, 1), (span.end, -1)]);
        }
        let mut line = String::new();
        for (name, mut changes) in self.names.iter().zip(changes).filter(|(_, changes)| changes.len() > 2) {
            // At equal times, ends come before beginnings.
            changes.sort_unstable();
            let mut n = 0;
            for (at, change) in changes {
                n += change;
                line.clear();
                let at = at.as_secs_f64() * 1e6;
                _ = write!(
                    line,
                    ",\n{{\"name\": \"iterations of {}\", \"ph\": \"C\", \"ts\": {at:.3}, \"pid\": 1, \"args\": {{\"in flight\": {n}}}}}",
                    escaped(name)
                );
                put(&line);
            }
        }
    }
}
