//! The reports of a run: a line of JSON for each step, and a progress bar on terminals.
//!
//! When a run resumes, its log loses the lines of steps that are repeated.

use std::fs::File;
use std::io::{BufWriter, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use befrost_train::{Event, StepLine, TrainError};
use serde_json::{Map, Value as Json, json};

use crate::cli::failure::{Failure, tell};

/// The time between two changes of the bar.
const INTERVAL: Duration = Duration::from_millis(100);

/// The log and the bar.
pub(super) struct Reporter {
    log: Option<(PathBuf, BufWriter<File>)>,
    /// The earliest time of the next change; `None` if there is no bar.
    next: Option<Instant>,
    is_visible: bool,
}

impl Reporter {
    /// A report of a run that continues after this many steps.
    pub(super) fn new(log: Option<&Path>, resumed: u64, quiet: bool) -> Result<Reporter, Failure> {
        let open = |path: &Path| {
            let kept = match std::fs::read_to_string(path) {
                _ if resumed == 0 => String::new(),
                Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
                // A log that cannot be read is not overwritten.
                kept => kept?,
            };
            let is_before = |line: &&str| {
                serde_json::from_str(line).is_ok_and(|line: Json| line["step"].as_u64() <= Some(resumed))
            };
            let mut file = BufWriter::new(File::create(path)?);
            for line in kept.lines().filter(is_before) {
                writeln!(file, "{line}")?;
            }
            Ok((path.to_owned(), file))
        };
        let refuse = |error: std::io::Error| {
            let name = log.map(|path| path.display().to_string()).unwrap_or_default();
            Failure::Refused(format!("cannot write '{name}': {error}"))
        };
        let log = log.map(open).transpose().map_err(refuse)?;
        let next = (!quiet && std::io::stderr().is_terminal()).then(Instant::now);
        Ok(Reporter { log, next, is_visible: false })
    }

    /// Reports an event.
    pub(super) fn tell(&mut self, event: &Event) -> Result<(), TrainError> {
        let line = match event {
            Event::Step(line) => {
                self.show(line);
                let StepLine { step, epoch, loss, lr, grad_norm, metrics, examples_per_s } = line;
                json!({"step": step, "epoch": epoch, "loss": loss, "lr": lr, "grad_norm": grad_norm,
                       "metrics": map(metrics), "examples_per_s": examples_per_s})
            }
            Event::Evaluated(step, values) => json!({"step": step, "eval": map(values)}),
        };
        let Some((path, file)) = &mut self.log else { return Ok(()) };
        // Other programs may read the log meanwhile: lines are written whole.
        let written = writeln!(file, "{line}").and_then(|()| file.flush());
        written.map_err(|error| TrainError { code: "", message: format!("{}: {error}", path.display()) })
    }

    fn show(&mut self, line: &StepLine) {
        let Some(next) = self.next else { return };
        let now = Instant::now();
        if now < next {
            return;
        }
        let StepLine { step, epoch, loss, metrics, examples_per_s, .. } = line;
        let metrics: Vec<String> =
            metrics.iter().map(|(name, value)| format!("  {name} {value:.4}")).collect();
        let text = format!("step {step}  epoch {epoch}  loss {loss:.5}{}", metrics.concat());
        tell(&format!("\r{text}  {examples_per_s:.0} examples/s\x1b[K"));
        (self.next, self.is_visible) = (Some(now + INTERVAL), true);
    }

    /// Ends the report.
    pub(super) fn finish(&mut self) -> Result<(), Failure> {
        let Some((path, file)) = &mut self.log else { return Ok(()) };
        let name = path.display();
        file.flush().map_err(|error| Failure::Refused(format!("cannot write '{name}': {error}")))
    }
}

impl Drop for Reporter {
    fn drop(&mut self) {
        if self.is_visible {
            tell("\r\x1b[K");
        }
    }
}

fn map(values: &[(String, f64)]) -> Json {
    Json::Object(values.iter().map(|(name, value)| (name.clone(), json!(value))).collect::<Map<_, _>>())
}
