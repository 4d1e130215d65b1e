//! The training loop: batches, steps, evaluation, checkpoints, and its end.
//!
//! ```text
//! gather (a thread, two batches ahead) ──▶ step ──▶ log ──▶ end of epoch: evaluate, best?, stop? ──▶ save?
//! ```
//!
//! The state of a run is its [`Position`] and its variables; checkpoints have both.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use befrost::{CallOptions, DType, Datum, Function, HostTensor, Program, Resources, variable_values};

use crate::checkpoints::{Checkpoints, FolderLock};
use crate::dataset::Dataset;
use crate::description::Description;
use crate::error::TrainError;
use crate::finite;
use crate::order::Order;
use crate::position::{Better, Position, Sums};
use crate::saver::{SaveAs, Saver};
use crate::stored::{Checkpoint, Snapshot};

/// The length of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// This number of updates in all, including those before the run was resumed.
    Steps(u64),
    /// This number of epochs in all.
    Epochs(u64),
}

/// The interval of evaluations or checkpoints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Every {
    /// At the end of each epoch.
    Epoch,
    /// Each time that this number of updates was made.
    Steps(u64),
    /// At the first step after this time.
    Time(Duration),
}

/// The condition of an early stop: a metric that does not improve.
#[derive(Clone, Debug, PartialEq)]
pub struct EarlyStop {
    /// The metric, or `loss`.
    pub metric: String,
    /// The number of evaluations in a row without a better value that ends the run; 0 is as 1.
    pub patience: u64,
    /// The difference from which on a value is better.
    pub min_delta: f64,
    /// The direction in which the metric improves.
    pub better: Better,
    /// Restores the best variables at the end.
    pub restore: bool,
}

/// Options of a run.
#[derive(Clone, Debug)]
pub struct TrainerOptions {
    /// The number of examples of a batch.
    pub batch: usize,
    /// Leaves out the last batch of an epoch if it is smaller.
    pub drop_remainder: bool,
    /// The order of the examples.
    pub order: Order,
    /// The end.
    pub until: Until,
    /// The interval of evaluations.
    pub evaluate: Every,
    /// The interval of checkpoints.
    pub save: Every,
    /// The metric by which the best checkpoint is kept.
    pub keep_best: Option<(String, Better)>,
    /// Completes a checkpoint before the next step.
    pub sync_save: bool,
    /// The condition of an early stop.
    pub early_stop: Option<EarlyStop>,
    /// Ends with an error if a loss or the norm of the gradients is not finite, and saves no variables that
    /// hold a NaN.
    pub stop_on_nan: bool,
}

impl Default for TrainerOptions {
    fn default() -> TrainerOptions {
        TrainerOptions {
            batch: 32,
            drop_remainder: false,
            order: Order::Shuffled(0),
            until: Until::Epochs(1),
            evaluate: Every::Epoch,
            save: Every::Epoch,
            keep_best: None,
            sync_save: false,
            early_stop: None,
            stop_on_nan: true,
        }
    }
}

/// The results of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct StepLine {
    /// The number of updates, including this one.
    pub step: u64,
    /// The epoch, from 0.
    pub epoch: u64,
    /// The loss before the update.
    pub loss: f64,
    /// The learning rate.
    pub lr: f64,
    /// The norm of the gradients.
    pub grad_norm: f64,
    /// The metrics before the update.
    pub metrics: Vec<(String, f64)>,
    /// The number of examples per second.
    pub examples_per_s: f64,
}

/// An event of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A step.
    Step(StepLine),
    /// An evaluation: the number of updates, loss and metrics.
    Evaluated(u64, Vec<(String, f64)>),
}

/// The reason for the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All steps or epochs were made.
    Done,
    /// A metric did not improve.
    EarlyStop,
    /// The stop flag was set.
    Interrupted,
}

/// The report of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The reason for its end.
    pub end: End,
    /// The number of updates in all.
    pub steps: u64,
    /// The position.
    pub position: Position,
    /// Loss and metrics of the last evaluation.
    pub evaluated: Option<Vec<(String, f64)>>,
}

/// A training program with its variables.
pub struct Trainer {
    program: Program,
    description: Description,
    resources: Resources,
    constants: Feeds,
    /// Those of evaluations, before the others.
    evaluation_constants: Feeds,
    options: TrainerOptions,
    checkpoints: Option<Checkpoints>,
    stop: Arc<AtomicBool>,
    position: Position,
    /// True if the checkpoint that was resumed had no position, so that it follows from the number of
    /// updates.
    lacks_position: bool,
}

/// Number of batches that are gathered ahead.
const AHEAD: usize = 2;

impl Trainer {
    /// A trainer of a training program, whose variables are initialized.
    ///
    /// # Errors
    /// If it is no training program, or its initialization fails.
    pub fn new(program: &Program) -> Result<Trainer, TrainError> {
        Trainer::with_resources(program, Resources::default())
    }

    /// A trainer whose variables are in these resources.
    ///
    /// # Errors
    /// As [`Trainer::new`].
    pub fn with_resources(program: &Program, resources: Resources) -> Result<Trainer, TrainError> {
        let description = Description::of(program)?;
        let trainer = Trainer {
            program: program.clone(),
            description,
            resources,
            constants: Vec::new(),
            evaluation_constants: Vec::new(),
            options: TrainerOptions::default(),
            checkpoints: None,
            stop: Arc::default(),
            position: Position::default(),
            lacks_position: false,
        };
        let results = program.function("init")?.call_with([], &trainer.call_options(0))?;
        results.iter().try_for_each(|result| result.ok().map(|_| ()))?;
        Ok(trainer)
    }

    /// Sets the options.
    #[must_use]
    pub fn options(self, options: TrainerOptions) -> Trainer {
        Trainer { options, ..self }
    }

    /// Sets the folder of checkpoints.
    #[must_use]
    pub fn checkpoints(self, checkpoints: Checkpoints) -> Trainer {
        Trainer { checkpoints: Some(checkpoints), ..self }
    }

    /// Adds a feed that is the same for all batches.
    #[must_use]
    pub fn constant(mut self, name: &str, value: HostTensor) -> Trainer {
        self.constants.push((name.to_owned(), value));
        self
    }

    /// Adds a feed that is the same for all batches of evaluations, where it replaces that of
    /// [`Trainer::constant`].
    #[must_use]
    pub fn evaluation_constant(mut self, name: &str, value: HostTensor) -> Trainer {
        self.evaluation_constants.push((name.to_owned(), value));
        self
    }

    /// A flag that, when it is set, ends the run after the current step, with a checkpoint.
    pub fn stop_flag(&self) -> Arc<AtomicBool> {
        self.stop.clone()
    }

    /// The variables.
    pub fn resources(&self) -> &Resources {
        &self.resources
    }

    /// The description of the program.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Restores variables, slots and position from a checkpoint. Returns the number of updates.
    ///
    /// # Errors
    /// If it is damaged, of another model, or of a run that was shuffled in another way; then nothing has
    /// changed.
    pub fn resume(&mut self, from: &Checkpoint) -> Result<u64, TrainError> {
        let position = Position::take(&|name| from.read(name))?;
        let lacks_position = from.describe("befrost/epoch").is_none();
        let seed = self.options.order.seed();
        if !lacks_position && position.seed != seed {
            let shown = |seed: Option<u64>| {
                seed.map_or("without --shuffle".to_owned(), |seed| format!("with --shuffle {seed}"))
            };
            let why = format!("it is of a run {}, not {}", shown(position.seed), shown(seed));
            return Err(TrainError::option(format!("{}: {why}", from.path().display())));
        }
        from.restore(&self.resources, None)?;
        self.lacks_position = lacks_position;
        self.position = position;
        self.steps()
    }

    /// The number of updates made so far.
    ///
    /// # Errors
    /// If the program does not count them.
    pub fn steps(&self) -> Result<u64, TrainError> {
        let none = || TrainError::new("the program does not count its steps in 'befrost/step'");
        let values = variable_values(&self.resources).map_err(|error| TrainError::new(error.to_string()))?;
        let (_, step) =
            values.into_iter().find(|(name, _)| name.name() == "befrost/step").ok_or_else(none)?;
        let step = step.to_vec::<i64>().ok().and_then(|step| step.first().copied());
        step.and_then(|step| u64::try_from(step).ok()).ok_or_else(none)
    }

    /// Trains.
    ///
    /// # Errors
    /// If data do not fit, a step fails, a loss is not finite, or a checkpoint cannot be saved.
    pub fn fit(
        &mut self,
        data: &Dataset,
        evaluation: Option<&Dataset>,
        on: &mut dyn FnMut(&Event) -> Result<(), TrainError>,
    ) -> Result<Report, TrainError> {
        let step = self.program.function("step")?;
        data.check(&step, &names(&self.constants))?;
        expect_known(&step, &self.constants)?;
        let evaluation = match evaluation {
            Some(data) => Some((self.evaluation(data)?, data)),
            None => None,
        };
        self.options.order.check(data.len())?;
        let metric = |name: &str| name == "loss" || self.description.metrics.iter().any(|m| m == name);
        let asked = [
            self.options.early_stop.as_ref().map(|stop| &stop.metric),
            self.options.keep_best.as_ref().map(|(metric, _)| metric),
        ];
        if let Some(name) = asked.into_iter().flatten().find(|name| !metric(name)) {
            let there = self.description.metrics.join(", ");
            return Err(TrainError::option(format!("there is no metric '{name}'; there are loss, {there}")));
        }
        if self.per_epoch(data.len()) == 0 {
            let why = format!("{} examples are less than a batch of {}", data.len(), self.batch());
            return Err(TrainError::data(why));
        }
        let lock = self.checkpoints.as_ref().map(Checkpoints::lock).transpose()?;
        self.run(&step, data, evaluation, lock, on)
    }

    /// The examples of a batch.
    fn batch(&self) -> usize {
        match &self.options.order {
            Order::Given { batch, .. } => *batch,
            _ => self.options.batch.max(1),
        }
    }

    /// The batches of an epoch.
    fn per_epoch(&self, n: usize) -> usize {
        let n = match &self.options.order {
            Order::Given { rows, .. } => rows.len(),
            _ => n,
        };
        if self.options.drop_remainder { n / self.batch() } else { n.div_ceil(self.batch()) }
    }

    fn run(
        &mut self,
        step: &Function,
        data: &Dataset,
        evaluation: Option<(Function, &Dataset)>,
        lock: Option<FolderLock>,
        on: &mut dyn FnMut(&Event) -> Result<(), TrainError>,
    ) -> Result<Report, TrainError> {
        let mut steps = self.steps()?;
        let (batch, per_epoch) = (self.batch(), self.per_epoch(data.len()) as u64);
        if std::mem::take(&mut self.lacks_position) {
            let batches = steps.saturating_mul(self.description.accumulate);
            self.position.epoch = batches / per_epoch;
            self.position.example = batches % per_epoch * batch as u64;
        }
        let n = rows_of(&self.options.order, data);
        if self.position.example >= n {
            let at = self.position.example;
            let why = format!("the position is behind example {at} of an epoch, which has {n} examples");
            return Err(TrainError::data(format!("{why}: the checkpoint is of other data")));
        }
        // The number of examples without which no batch begins.
        let least = if self.options.drop_remainder { batch as u64 } else { 1 };
        if n - self.position.example < least {
            // The run was stopped with smaller batches.
            self.position.end_epoch();
        }
        self.position.seed = self.options.order.seed();
        let (start, order, until) = (self.position.clone(), self.options.order.clone(), self.options.until);
        let (in_background, refuses_nan) = (!self.options.sync_save, self.options.stop_on_nan);
        let checkpoints = self.checkpoints.clone();
        let mut saver = checkpoints.map(|to| Saver::new(to, in_background, refuses_nan));
        let last_epoch = match until {
            Until::Epochs(n) => n,
            Until::Steps(_) => u64::MAX,
        };
        let is_done = move |steps: u64, position: &Position| match until {
            Until::Epochs(n) => position.epoch >= n,
            Until::Steps(n) => steps >= n,
        };
        let mut report = Report { end: End::Done, steps, position: start.clone(), evaluated: None };
        std::thread::scope(|scope| {
            let (sender, batches) = sync_channel(AHEAD);
            scope.spawn(move || {
                let mut first = start.example as usize;
                for epoch in start.epoch..last_epoch {
                    let rows = order.rows(epoch, data.len());
                    for rows in rows[first..].chunks(batch).filter(|rows| rows.len() as u64 >= least) {
                        // The receiver is gone when the run has ended.
                        if sender.send(data.gather(rows).map(|feeds| (rows.len(), feeds))).is_err() {
                            return;
                        }
                    }
                    first = 0;
                }
            });
            let (mut saved, mut evaluated) = (Instant::now(), Instant::now());
            let mut is_saved = false;
            while !is_done(steps, &self.position) {
                if self.stop.load(Ordering::SeqCst) {
                    report.end = End::Interrupted;
                    break;
                }
                saver.as_mut().map_or(Ok(()), Saver::poll)?;
                let (line, means, examples) = self.step(step, &batches, saver.as_mut())?;
                let was = steps;
                steps = self.steps()?;
                is_saved = false;
                self.position.example += examples as u64;
                self.position.sums.add(&means, examples as f64);
                on(&Event::Step(StepLine { step: steps, ..line }))?;
                let is_end = n - self.position.example < least;
                let is_due = |every: Every, last: Instant| every.is_due(is_end, (was, steps), last.elapsed());
                let values = match &evaluation {
                    Some((function, data)) if is_due(self.options.evaluate, evaluated) => {
                        let values = self.evaluate_with(function, data)?;
                        on(&Event::Evaluated(steps, values.clone()))?;
                        report.evaluated = Some(values.clone());
                        evaluated = Instant::now();
                        Some(values)
                    }
                    None if is_end => Some(self.named(&self.position.sums.means())),
                    _ => None,
                };
                if is_end {
                    self.position.end_epoch();
                }
                let stops = match values {
                    Some(values) => self.judge(&values, steps, saver.as_mut())?,
                    None => false,
                };
                if let (true, Some(saver)) = (is_due(self.options.save, saved), saver.as_mut()) {
                    saver.save(SaveAs::Latest, self.snapshot()?, steps)?;
                    saved = Instant::now();
                    is_saved = true;
                }
                if stops {
                    report.end = End::EarlyStop;
                    break;
                }
            }
            // Without a receiver the thread that gathers ends.
            drop(batches);
            if let Some(saver) = saver.as_mut() {
                if !is_saved && steps > 0 {
                    saver.save(SaveAs::Latest, self.snapshot()?, steps)?;
                }
                saver.finish()?;
            }
            Ok::<(), TrainError>(())
        })?;
        drop(lock);
        if report.end != End::Interrupted
            && self.options.early_stop.as_ref().is_some_and(|stop| stop.restore)
            && self.position.best.is_some()
            && let Some(best) =
                self.checkpoints.as_ref().map(Checkpoints::best_of_stop).transpose()?.flatten()
        {
            Checkpoint::open(best)?.restore(&self.resources, None)?;
        }
        (report.steps, report.position) = (steps, self.position.clone());
        Ok(report)
    }

    /// Makes a step. Returns its line, its loss and metrics, and the number of examples.
    fn step(
        &self,
        function: &Function,
        batches: &Receiver<Result<(usize, Feeds), TrainError>>,
        saver: Option<&mut Saver>,
    ) -> Result<(StepLine, Vec<f64>, usize), TrainError> {
        let ended = || TrainError::new("the thread that gathers batches has ended");
        let (examples, feeds) = batches.recv().map_err(|_| ended())??;
        let begun = Instant::now();
        let steps = self.steps()?;
        let results = self.call(function, feeds, &self.constants, steps)?;
        let names: Vec<&str> = function.results().iter().map(befrost::Port::name).collect();
        let value = |name: &str| -> Result<f64, TrainError> {
            let none = || TrainError::new(format!("a step has no result '{name}'"));
            let at = names.iter().position(|known| *known == name).ok_or_else(none)?;
            number(results.get(at).ok_or_else(none)?.tensor()?)
        };
        let loss = value("loss")?;
        if self.options.stop_on_nan && !loss.is_finite() {
            return Err(self.not_finite(steps, ("loss", loss), saver));
        }
        let mut metrics = Vec::new();
        for name in &self.description.metrics {
            metrics.push((name.clone(), value(name)?));
        }
        let (lr, grad_norm) = if self.description.run["optimizer"].is_null() {
            (f64::NAN, f64::NAN)
        } else {
            let (lr, norm) = (value("learning_rate")?, value("gradient_norm")?);
            if self.options.stop_on_nan && !norm.is_finite() {
                return Err(self.not_finite(steps, ("norm of the gradients", norm), saver));
            }
            (lr, norm)
        };
        let means = [loss].into_iter().chain(metrics.iter().map(|(_, value)| *value)).collect();
        let examples_per_s = examples as f64 / begun.elapsed().as_secs_f64().max(1e-9);
        let epoch = self.position.epoch;
        let line = StepLine { step: steps, epoch, loss, lr, grad_norm, metrics, examples_per_s };
        Ok((line, means, examples))
    }

    fn call(
        &self,
        function: &Function,
        feeds: Feeds,
        constants: &Feeds,
        step: u64,
    ) -> Result<Vec<Datum>, TrainError> {
        let is_wanted = |name: &str| function.arguments().iter().any(|port| port.name() == name);
        let constants = constants.iter().filter(|(name, _)| is_wanted(name));
        let all =
            feeds.iter().chain(constants).map(|(name, value)| (name.as_str(), Datum::from(value.clone())));
        let results = function.call_with(function.by_name(all)?, &self.call_options(step))?;
        results.iter().try_for_each(|result| result.ok().map(|_| ()))?;
        Ok(results)
    }

    fn call_options(&self, step: u64) -> CallOptions {
        CallOptions { step, resources: self.resources.clone(), ..CallOptions::default() }
    }

    /// The means of loss and metrics over all examples.
    ///
    /// # Errors
    /// If the data do not fit, or the function fails.
    pub fn evaluate(&self, data: &Dataset) -> Result<Vec<(String, f64)>, TrainError> {
        self.evaluate_with(&self.evaluation(data)?, data)
    }

    /// The function that evaluates, if the data fit.
    fn evaluation(&self, data: &Dataset) -> Result<Function, TrainError> {
        let function = self.program.function("evaluate")?;
        data.check(&function, &names(&self.for_evaluation()))?;
        expect_known(&function, &self.evaluation_constants)?;
        Ok(function)
    }

    /// The constant feeds of an evaluation.
    fn for_evaluation(&self) -> Feeds {
        let own = &self.evaluation_constants;
        let others = self.constants.iter().filter(|(name, _)| !own.iter().any(|(known, _)| known == name));
        own.iter().chain(others).cloned().collect()
    }

    fn evaluate_with(&self, function: &Function, data: &Dataset) -> Result<Vec<(String, f64)>, TrainError> {
        let mut sums = Sums::default();
        let (rows, constants) = (Order::Sequential.rows(0, data.len()), self.for_evaluation());
        for rows in rows.chunks(self.options.batch.max(1)) {
            let results = self.call(function, data.gather(rows)?, &constants, 0)?;
            let numbers = results.iter().filter(|result| result.tensor().is_ok());
            let means: Vec<f64> =
                numbers.map(|result| number(result.tensor()?)).collect::<Result<_, TrainError>>()?;
            sums.add(&means, rows.len() as f64);
        }
        Ok(self.named(&sums.means()))
    }

    /// Loss and metrics with their names.
    fn named(&self, means: &[f64]) -> Vec<(String, f64)> {
        let names = ["loss"].into_iter().chain(self.description.metrics.iter().map(String::as_str));
        names.zip(means).map(|(name, value)| (name.to_owned(), *value)).collect()
    }

    /// Saves the best checkpoints, if this is one. Returns whether to stop.
    fn judge(
        &mut self,
        values: &[(String, f64)],
        steps: u64,
        saver: Option<&mut Saver>,
    ) -> Result<bool, TrainError> {
        let value = |metric: &str| values.iter().find(|(name, _)| name == metric).map(|(_, value)| *value);
        let (mut stops, mut best) = (false, Vec::new());
        if let Some(stop) = &self.options.early_stop
            && let Some(value) = value(&stop.metric)
        {
            if stop.better.is_better(value, self.position.best, stop.min_delta) {
                (self.position.best, self.position.waits) = (Some(value), 0);
                best.extend(stop.restore.then_some(SaveAs::BestOfStop));
            } else {
                self.position.waits += 1;
                stops = self.position.waits >= stop.patience;
            }
        }
        if let Some((metric, better)) = &self.options.keep_best
            && let Some(value) = value(metric)
            && better.is_better(value, self.position.kept, 0.0)
        {
            self.position.kept = Some(value);
            best.push(SaveAs::Best);
        }
        if let Some(saver) = saver {
            best.into_iter().try_for_each(|kind| saver.save(kind, self.snapshot()?, steps))?;
        }
        Ok(stops)
    }

    /// Variables and position.
    fn snapshot(&self) -> Result<Snapshot, TrainError> {
        let mut snapshot = Snapshot::of(&self.resources)?;
        self.position.put(&mut snapshot)?;
        snapshot.notes.insert("befrost/run".to_owned(), self.description.run.to_string());
        Ok(snapshot)
    }

    /// The error for a loss or a norm that is not finite.
    fn not_finite(&self, steps: u64, (what, value): (&str, f64), saver: Option<&mut Saver>) -> TrainError {
        // The last good checkpoint may be the one that is being written.
        if let Some(Err(error)) = saver.map(Saver::finish) {
            return error;
        }
        let mut first = None;
        if let Ok(values) = variable_values(&self.resources) {
            first = values
                .into_iter()
                .find(|(_, value)| !finite::is_finite(value))
                .map(|(name, _)| name.name().to_owned());
        }
        let variable = match first {
            Some(name) => format!("the first variable that is not finite is '{name}'"),
            None => "all variables are finite".to_owned(),
        };
        let good = self.checkpoints.as_ref().map(Checkpoints::last_good);
        let good = good.unwrap_or_else(|| "there is no checkpoint".to_owned());
        TrainError::new(format!("the {what} is {value} in step {}; {variable}; {good}", steps + 1))
    }
}

/// The feeds of a batch.
type Feeds = Vec<(String, HostTensor)>;

/// Refuses feeds that a function does not have.
fn expect_known(function: &Function, feeds: &Feeds) -> Result<(), TrainError> {
    let ports = function.arguments().iter().filter(|port| !port.is_chain());
    let known: Vec<&str> = ports.map(befrost::Port::name).collect();
    match names(feeds).into_iter().find(|name| !known.contains(name)) {
        Some(name) => {
            Err(TrainError::data(format!("there is no feed '{name}'; there are {}", known.join(", "))))
        }
        None => Ok(()),
    }
}

fn names(feeds: &Feeds) -> Vec<&str> {
    feeds.iter().map(|(name, _)| name.as_str()).collect()
}

/// The rows of an epoch.
fn rows_of(order: &Order, data: &Dataset) -> u64 {
    match order {
        Order::Given { rows, .. } => rows.len() as u64,
        _ => data.len() as u64,
    }
}

impl Every {
    /// True if it is time after a step, which changed the number of updates from `was` to `steps`. `elapsed`
    /// is the time since the last time.
    fn is_due(self, is_epoch_end: bool, (was, steps): (u64, u64), elapsed: Duration) -> bool {
        match self {
            Every::Epoch => is_epoch_end,
            Every::Steps(n) => steps / n.max(1) > was / n.max(1),
            Every::Time(time) => elapsed >= time,
        }
    }
}

/// A scalar.
fn number(tensor: &HostTensor) -> Result<f64, TrainError> {
    let numbers = numbers(tensor);
    match numbers.as_deref() {
        Some([number]) => Ok(*number),
        _ => Err(TrainError::new(format!("expected a scalar, got {} {}", tensor.dtype(), tensor.shape()))),
    }
}

/// Real numbers.
fn numbers(tensor: &HostTensor) -> Option<Vec<f64>> {
    Some(match tensor.dtype() {
        DType::F32 => tensor.to_vec::<f32>().ok()?.into_iter().map(f64::from).collect(),
        DType::F64 => tensor.to_vec::<f64>().ok()?,
        DType::I32 => tensor.to_vec::<i32>().ok()?.into_iter().map(f64::from).collect(),
        DType::I64 => tensor.to_vec::<i64>().ok()?.into_iter().map(|n| n as f64).collect(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_epochs_updates_or_times() {
        let check = |every: Every, is_epoch_end, steps, seconds, want| {
            let is_due = every.is_due(is_epoch_end, steps, Duration::from_secs(seconds));
            assert_eq!(is_due, want, "{every:?} {steps:?}");
        };
        check(Every::Epoch, true, (1, 2), 0, true);
        check(Every::Epoch, false, (1, 2), 1000, false);
        check(Every::Steps(5), false, (4, 5), 0, true);
        check(Every::Steps(5), true, (5, 6), 1000, false);
        // Without an update, as within an accumulation.
        check(Every::Steps(5), false, (5, 5), 0, false);
        check(Every::Time(Duration::from_secs(30)), true, (1, 2), 29, false);
        check(Every::Time(Duration::from_secs(30)), false, (1, 2), 30, true);
    }
}
