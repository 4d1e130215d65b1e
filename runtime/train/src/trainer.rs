//! The loop: batches, steps, evaluation, checkpoints, and when it ends.
//!
//! ```text
//! gather (a thread, two batches ahead) ──▶ step ──▶ log ──▶ end of epoch: evaluate, best?, stop? ──▶ save?
//! ```
//!
//! What decides how a run goes on is in its [`Position`] and in the variables, and both are in checkpoints.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use befrost::{CallOptions, DType, Datum, Function, HostTensor, Program, Resources, variable_values};

use crate::checkpoints::{Checkpoints, FolderLock};
use crate::dataset::Dataset;
use crate::description::Description;
use crate::error::TrainError;
use crate::order::Order;
use crate::position::{Better, Position, Sums};
use crate::saver::{Saver, Which};
use crate::stored::{Checkpoint, Snapshot};

/// When a run ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// After so many updates in all, those before it was resumed included.
    Steps(u64),
    /// After so many epochs in all.
    Epochs(u64),
}

/// How often something is done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Every {
    /// At the end of each epoch.
    Epoch,
    /// After so many updates.
    Steps(u64),
    /// After so much time.
    Time(Duration),
}

/// Ends a run when a metric gets no better.
#[derive(Clone, Debug, PartialEq)]
pub struct EarlyStop {
    /// The metric, or `loss`.
    pub metric: String,
    /// How often it may be no better before the run ends.
    pub patience: u64,
    /// By how much it must be better.
    pub min_delta: f64,
    /// Which values are better.
    pub better: Better,
    /// Ends with the best variables, not the last ones.
    pub restore: bool,
}

/// How a run goes.
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
    /// How often the examples for evaluation are run.
    pub evaluate: Every,
    /// How often a checkpoint is saved.
    pub save: Every,
    /// The metric of the checkpoint that is kept as the best.
    pub keep_best: Option<(String, Better)>,
    /// Saves before the next step begins.
    pub sync_save: bool,
    /// Ends a run early.
    pub early_stop: Option<EarlyStop>,
    /// Ends with an error if a loss is not finite.
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
    /// The number of updates with this one.
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
    /// The speed.
    pub examples_per_s: f64,
}

/// Something that happens during a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A step was made.
    Step(StepLine),
    /// The examples for evaluation were run: loss and metrics.
    Evaluated(u64, Vec<(String, f64)>),
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It was done.
    Done,
    /// A metric got no better.
    EarlyStop,
    /// It was asked to stop.
    Interrupted,
}

/// A run that ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Why.
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
    constants: Vec<(String, HostTensor)>,
    options: TrainerOptions,
    checkpoints: Option<Checkpoints>,
    stop: Arc<AtomicBool>,
    position: Position,
}

/// The batches that are gathered ahead.
const AHEAD: usize = 2;

impl Trainer {
    /// A trainer of a training program, whose variables have their first values.
    ///
    /// # Errors
    /// If it is no training program, or its initialization fails.
    pub fn new(program: &Program) -> Result<Trainer, TrainError> {
        let description = Description::of(program)?;
        let trainer = Trainer {
            program: program.clone(),
            description,
            resources: Resources::default(),
            constants: Vec::new(),
            options: TrainerOptions::default(),
            checkpoints: None,
            stop: Arc::default(),
            position: Position::default(),
        };
        let results = program.function("init")?.call_with([], &trainer.call_options(0))?;
        results.iter().try_for_each(|result| result.ok().map(|_| ()))?;
        Ok(trainer)
    }

    /// How it trains.
    #[must_use]
    pub fn options(self, options: TrainerOptions) -> Trainer {
        Trainer { options, ..self }
    }

    /// Where it saves.
    #[must_use]
    pub fn checkpoints(self, checkpoints: Checkpoints) -> Trainer {
        Trainer { checkpoints: Some(checkpoints), ..self }
    }

    /// A feed that is the same for all batches.
    #[must_use]
    pub fn constant(mut self, name: &str, value: HostTensor) -> Trainer {
        self.constants.push((name.to_owned(), value));
        self
    }

    /// Set, it ends the run after the step that runs, as if it had been the last: it is saved.
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

    /// Goes on from a checkpoint: variables, slots and position.
    ///
    /// # Errors
    /// If it is damaged, or of another model: nothing has changed then.
    pub fn resume(&mut self, from: &Checkpoint) -> Result<u64, TrainError> {
        let position = Position::take(&|name| from.read(name))?;
        if let (Some(was), Order::Shuffled(seed)) = (position.seed, &self.options.order)
            && was != *seed
        {
            let why = format!("it is of a run with --shuffle {was}, not {seed}");
            return Err(TrainError::option(format!("{}: {why}", from.path().display())));
        }
        from.restore(&self.resources, None)?;
        let is_foreign = from.describe("befrost/epoch").is_none();
        self.position = position;
        let steps = self.steps()?;
        if is_foreign {
            // Of a checkpoint without a position only the number of updates is known.
            self.position.example = u64::MAX;
        }
        Ok(steps)
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
        let constants: Vec<&str> = self.constants.iter().map(|(name, _)| name.as_str()).collect();
        data.check(&step, &constants)?;
        let evaluation = match evaluation {
            Some(data) => {
                let function = self.program.function("evaluate")?;
                data.check(&function, &constants)?;
                Some((function, data))
            }
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
        if self.position.example == u64::MAX {
            let batches = steps * self.description.accumulate;
            self.position.epoch = batches / per_epoch;
            self.position.example = batches % per_epoch * batch as u64;
        }
        if let Order::Shuffled(seed) = self.options.order {
            self.position.seed = Some(seed);
        }
        let (start, order, until) = (self.position.clone(), self.options.order.clone(), self.options.until);
        let mut saver =
            self.checkpoints.clone().map(|checkpoints| Saver::new(checkpoints, !self.options.sync_save));
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
                let mut first = (start.example as usize) / batch;
                for epoch in start.epoch..last_epoch {
                    let rows = order.rows(epoch, data.len());
                    for rows in rows.chunks(batch).take(per_epoch as usize).skip(first) {
                        // The receiver is gone when the run has ended.
                        if sender.send(data.gather(rows).map(|feeds| (rows.len(), feeds))).is_err() {
                            return;
                        }
                    }
                    first = 0;
                }
            });
            let mut saved = (steps, Instant::now());
            let mut is_saved = false;
            while !is_done(steps, &self.position) {
                if self.stop.load(Ordering::SeqCst) {
                    report.end = End::Interrupted;
                    break;
                }
                saver.as_mut().map_or(Ok(()), Saver::poll)?;
                let (line, means, examples) = self.step(step, &batches)?;
                let was = steps;
                steps = self.steps()?;
                is_saved = false;
                self.position.example += examples as u64;
                self.position.sums.add(&means, examples as f64);
                on(&Event::Step(StepLine { step: steps, ..line }))?;
                let is_end = self.position.example >= per_epoch * batch as u64
                    || (!self.options.drop_remainder
                        && self.position.example >= rows_of(&self.options.order, data));
                let mut stops = false;
                if is_end || due(self.options.evaluate, was, steps) {
                    let values = match &evaluation {
                        Some((function, data))
                            if is_end && self.options.evaluate == Every::Epoch
                                || due(self.options.evaluate, was, steps) =>
                        {
                            let values = self.evaluate_with(function, data)?;
                            on(&Event::Evaluated(steps, values.clone()))?;
                            report.evaluated = Some(values.clone());
                            Some(values)
                        }
                        None if is_end => Some(self.named(&self.position.sums.means())),
                        _ => None,
                    };
                    if is_end {
                        self.position.epoch += 1;
                        self.position.example = 0;
                        self.position.sums = Sums::default();
                    }
                    if let Some(values) = values {
                        stops = self.judge(&values, steps, saver.as_mut())?;
                    }
                }
                let is_due = match self.options.save {
                    Every::Epoch => is_end,
                    Every::Steps(_) => due(self.options.save, was, steps),
                    Every::Time(time) => saved.1.elapsed() >= time,
                };
                if let (true, Some(saver)) = (is_due, saver.as_mut()) {
                    saver.save(Which::Next, self.snapshot()?, steps)?;
                    saved = (steps, Instant::now());
                    is_saved = true;
                }
                if stops {
                    report.end = End::EarlyStop;
                    break;
                }
            }
            // The thread that gathers ends when there is nobody to send to.
            drop(batches);
            if let Some(saver) = saver.as_mut() {
                if !is_saved && steps > 0 {
                    saver.save(Which::Next, self.snapshot()?, steps)?;
                }
                saver.finish()?;
            }
            Ok::<(), TrainError>(())
        })?;
        drop(lock);
        if report.end != End::Interrupted
            && self.options.early_stop.as_ref().is_some_and(|stop| stop.restore)
            && let Some(best) = self.checkpoints.as_ref().map(Checkpoints::best).transpose()?.flatten()
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
    ) -> Result<(StepLine, Vec<f64>, usize), TrainError> {
        let ended = || TrainError::new("the thread that gathers batches has ended");
        let (examples, feeds) = batches.recv().map_err(|_| ended())??;
        let begun = Instant::now();
        let steps = self.steps()?;
        let results = self.call(function, feeds, steps)?;
        let names: Vec<&str> = function.results().iter().map(befrost::Port::name).collect();
        let value = |name: &str| -> Result<f64, TrainError> {
            let none = || TrainError::new(format!("a step has no result '{name}'"));
            let at = names.iter().position(|known| *known == name).ok_or_else(none)?;
            number(results.get(at).ok_or_else(none)?.tensor()?)
        };
        let loss = value("loss")?;
        if self.options.stop_on_nan && !loss.is_finite() {
            return Err(self.not_finite(steps, loss));
        }
        let mut metrics = Vec::new();
        for name in &self.description.metrics {
            metrics.push((name.clone(), value(name)?));
        }
        let (lr, grad_norm) = if self.description.run["optimizer"].is_null() {
            (f64::NAN, f64::NAN)
        } else {
            (value("learning_rate")?, value("gradient_norm")?)
        };
        let means = [loss].into_iter().chain(metrics.iter().map(|(_, value)| *value)).collect();
        let examples_per_s = examples as f64 / begun.elapsed().as_secs_f64().max(1e-9);
        let epoch = self.position.epoch;
        let line = StepLine { step: steps, epoch, loss, lr, grad_norm, metrics, examples_per_s };
        Ok((line, means, examples))
    }

    fn call(&self, function: &Function, feeds: Feeds, step: u64) -> Result<Vec<Datum>, TrainError> {
        let is_wanted = |name: &str| function.arguments().iter().any(|port| port.name() == name);
        let constants = self.constants.iter().filter(|(name, _)| is_wanted(name));
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
        let function = self.program.function("evaluate")?;
        let constants: Vec<&str> = self.constants.iter().map(|(name, _)| name.as_str()).collect();
        data.check(&function, &constants)?;
        self.evaluate_with(&function, data)
    }

    fn evaluate_with(&self, function: &Function, data: &Dataset) -> Result<Vec<(String, f64)>, TrainError> {
        let mut sums = Sums::default();
        let rows = Order::AsTheyAre.rows(0, data.len());
        for rows in rows.chunks(self.options.batch.max(1)) {
            let results = self.call(function, data.gather(rows)?, 0)?;
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

    /// Keeps the best, and says whether to stop.
    fn judge(
        &mut self,
        values: &[(String, f64)],
        steps: u64,
        saver: Option<&mut Saver>,
    ) -> Result<bool, TrainError> {
        let value = |metric: &str| values.iter().find(|(name, _)| name == metric).map(|(_, value)| *value);
        let (mut stops, mut is_best) = (false, false);
        if let Some(stop) = &self.options.early_stop
            && let Some(value) = value(&stop.metric)
        {
            if stop.better.is_better(value, self.position.best, stop.min_delta) {
                (self.position.best, self.position.waits) = (Some(value), 0);
                is_best = stop.restore;
            } else {
                self.position.waits += 1;
                stops = self.position.waits > stop.patience;
            }
        }
        if let Some((metric, better)) = &self.options.keep_best
            && let Some(value) = value(metric)
            && better.is_better(value, self.position.kept, 0.0)
        {
            self.position.kept = Some(value);
            is_best = true;
        }
        if let (true, Some(saver)) = (is_best, saver) {
            saver.save(Which::Best, self.snapshot()?, steps)?;
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

    /// The error for a loss that is not finite.
    fn not_finite(&self, steps: u64, loss: f64) -> TrainError {
        let mut first = None;
        if let Ok(values) = variable_values(&self.resources) {
            first = values
                .into_iter()
                .find(|(_, value)| !is_finite(value))
                .map(|(name, _)| name.name().to_owned());
        }
        let variable = match first {
            Some(name) => format!("the first variable that is not finite is '{name}'"),
            None => "all variables are finite".to_owned(),
        };
        let good = match self.checkpoints.as_ref().map(Checkpoints::latest) {
            Some(Ok(Some(path))) => format!("the last good checkpoint is {}", path.display()),
            _ => "there is no checkpoint".to_owned(),
        };
        TrainError::new(format!("the loss is {loss} in step {}; {variable}; {good}", steps + 1))
    }
}

/// The feeds of a batch.
type Feeds = Vec<(String, HostTensor)>;

/// The rows of an epoch.
fn rows_of(order: &Order, data: &Dataset) -> u64 {
    match order {
        Order::Given { rows, .. } => rows.len() as u64,
        _ => data.len() as u64,
    }
}

/// True if a number of updates was passed.
fn due(every: Every, was: u64, steps: u64) -> bool {
    matches!(every, Every::Steps(n) if steps > was && steps / n.max(1) > was / n.max(1))
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

fn is_finite(tensor: &HostTensor) -> bool {
    numbers(tensor).is_none_or(|numbers| numbers.iter().all(|number| number.is_finite()))
}
