//! `bef-train`: trains a model, or a training program.
//!
//! ```text
//! MODEL ──import, differentiate, compile──▶ training program ──Trainer──▶ log, checkpoints
//!       └──import──▶ predict ◀── trained values ──compile──▶ -o MODEL.bef, or as a GraphDef
//! ```
//!
//! `args` is the command line, `report` the log and the progress bar. The work is `befrost_train`'s.

mod args;
mod report;

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Instant;

use befrost::mem::Malloc;
use befrost::{HostTensor, Program, Recorder, Runtime, npy, variable_values};
use befrost_compiler::emit::EmitOptions;
use befrost_compiler::export;
use befrost_compiler::train::{NamePattern, TrainOptions};
use befrost_tensor::literal;
use befrost_train::{Checkpoint, Dataset, End, Every, Order, TrainError, Trainer, TrainerOptions, Until};
use clap::{CommandFactory, FromArgMatches};

use self::args::TrainCommand;
use self::report::Reporter;
use super::compile::Unit;
use super::content;
use super::deadline::{Deadline, Work};
use super::exec::Interrupts;
use super::failure::{Failure, conclude, parse, print, tell};
use super::files::{Format, Place};
use super::model::OpenModel;
use super::options::ModelArgs;
use super::passes::{Passes, pipeline};
use super::statistics::Statistics;

/// The exit code of a run that Ctrl-C has ended.
const INTERRUPTED: u8 = 130;

/// The program `bef-train`.
pub fn main(interrupts: Interrupts) -> ExitCode {
    // A model without signatures has nothing else that could be frozen.
    let command = TrainCommand::command().mut_arg("freeze_variables", |arg| arg.long("freeze"));
    let matches = match parse(command) {
        Ok(matches) => matches,
        Err(code) => return code,
    };
    let ended = match TrainCommand::from_arg_matches(&matches) {
        Ok(args) => run(&args, interrupts),
        Err(error) => Err(Failure::Usage(error.to_string())),
    };
    match ended {
        Ok(End::Interrupted) => ExitCode::from(INTERRUPTED),
        other => conclude(other.map(|_| ())),
    }
}

impl From<TrainError> for Failure {
    fn from(error: TrainError) -> Failure {
        Failure::Refused(error.to_string())
    }
}

fn run(args: &TrainCommand, interrupts: Interrupts) -> Result<End, Failure> {
    let statistics = Statistics::new(&args.statistics, None);
    let ended = train(args, interrupts, statistics.recorder.as_ref());
    statistics.report()?;
    ended
}

fn train(args: &TrainCommand, interrupts: Interrupts, recorder: Option<&Recorder>) -> Result<End, Failure> {
    let deadline = Deadline::after(args.timeout)?;
    let from = args.check()?;
    let data = dataset(&args.data)?;
    let evaluation = if args.eval_data.is_empty() { None } else { Some(dataset(&args.eval_data)?) };
    let order = order(args)?;
    let options = match from {
        Format::Bef => TrainOptions::default(),
        _ => args.training.options(updates(args, &order, &data)).map_err(|why| refused(&why))?,
    };
    let queue = args.seed.map(|seed| format!("seeded:{seed}"));
    let queue = queue.as_deref().or(args.work_queue.as_deref()).unwrap_or("mstd");
    let mut runtime = Runtime::builder().work_queue(queue);
    if let Some(recorder) = recorder {
        runtime = runtime.recorder(recorder);
    }
    let runtime = runtime.build().map_err(|error| Failure::Usage(error.to_string()))?;
    let program = deadline.limit(Work::Compiling, || program(args, from, &options, &runtime))?;
    let mut trainer = Trainer::with_resources(&program, args.folders.resources()?)?.options(TrainerOptions {
        batch: args.batch(),
        drop_remainder: args.drop_remainder,
        order,
        until: until(args),
        evaluate: args.eval_every,
        save: args.save_every,
        keep_best: args.keep_best.clone(),
        sync_save: args.sync_save,
        early_stop: args.early_stop.clone(),
        stop_on_nan: args.stop_on_nan,
    });
    for set in &args.set {
        trainer = trainer.constant(&set.0, constant("--set", set)?);
    }
    for set in &args.eval_set {
        trainer = trainer.evaluation_constant(&set.0, constant("--eval-set", set)?);
    }
    if let Some(checkpoints) = args.checkpoints() {
        trainer = trainer.checkpoints(checkpoints);
    }
    let resumed = begin(args, &mut trainer)?;
    let mut reporter = Reporter::new(args.log.as_deref(), resumed, args.quiet)?;
    let stop = trainer.stop_flag();
    if let Ok(mut pipe) = interrupts() {
        let stop = stop.clone();
        // Without a thread the signal is lost, and the next one ends the process.
        _ = std::thread::Builder::new().name("interrupts".to_owned()).spawn(move || {
            if std::io::Read::read_exact(&mut pipe, &mut [0]).is_ok() {
                stop.store(true, Ordering::SeqCst);
            }
        });
    }
    if let Some(at) = deadline.at() {
        let thread = std::thread::Builder::new().name("timeout".to_owned()).spawn(move || {
            std::thread::sleep(at.saturating_duration_since(Instant::now()));
            stop.store(true, Ordering::SeqCst);
        });
        thread.map_err(|error| Failure::Refused(format!("no thread for --timeout: {error}")))?;
    }
    let report = trainer.fit(&data, evaluation.as_ref(), &mut |event| reporter.tell(event))?;
    reporter.finish()?;
    let mut evaluated = report.evaluated.clone();
    if let (Some(data), true) = (&evaluation, report.end != End::Interrupted) {
        evaluated = Some(trainer.evaluate(data)?);
    }
    if report.end == End::Interrupted && deadline.is_over() {
        return Err(Failure::Refused(format!("Deadline exceeded after step {}", report.steps)));
    }
    if report.end == End::Interrupted {
        tell(&format!("interrupted after step {}\n", report.steps));
        return Ok(report.end);
    }
    let values = evaluated.unwrap_or_default();
    let values: Vec<String> = values.iter().map(|(name, value)| format!(", {name} {value:.6}")).collect();
    print(&format!("step {}, epoch {}{}\n", report.steps, report.position.epoch, values.concat()))?;
    if let Some(directory) = &args.dump_variables {
        dump(&trainer, directory)?;
    }
    if let Some(output) = &args.output {
        write_trained(args, from, &options, &trainer, output)?;
    }
    Ok(report.end)
}

fn refused(why: &str) -> Failure {
    Failure::Refused(format!("E0909: {why}"))
}

/// The value of `NAME=DTYPE[SHAPE]:v,v`.
fn constant(option: &str, (name, text): &(String, String)) -> Result<HostTensor, Failure> {
    let value = literal::parse(text, &Malloc::shared());
    value.map_err(|error| Failure::Usage(format!("{option} {name}: {error}")))
}

/// The arrays of `NAME=FILE`.
fn dataset(given: &[(String, String)]) -> Result<Dataset, Failure> {
    let open = |data: Dataset, (name, place): &(String, String)| data.open(name, place);
    Ok(given.iter().try_fold(Dataset::new(), open)?)
}

fn order(args: &TrainCommand) -> Result<Order, Failure> {
    match &args.order {
        Some(path) => {
            let rows = npy::read_file(path, &Malloc::shared());
            let refuse = |error| Failure::Refused(format!("E0911: {}: {error}", path.display()));
            let order = Order::given(&rows.map_err(refuse)?)?;
            match order {
                Order::Given { batch, .. } if args.batch.is_some_and(|asked| asked != batch) => {
                    let why = format!("its batches have {batch} rows, --batch says {}", args.batch());
                    Err(Failure::Refused(format!("E0911: {}: {why}", path.display())))
                }
                order => Ok(order),
            }
        }
        None if args.no_shuffle => Ok(Order::Sequential),
        None => Ok(Order::Shuffled(args.shuffle)),
    }
}

fn until(args: &TrainCommand) -> Until {
    args.steps.map_or(Until::Epochs(args.epochs.unwrap_or(1)), Until::Steps)
}

/// The updates of the whole run, for schedules that end.
fn updates(args: &TrainCommand, order: &Order, data: &Dataset) -> Option<u64> {
    if args.steps.is_some() {
        return args.steps;
    }
    let (n, batch) = match order {
        Order::Given { rows, batch } => (rows.len(), *batch),
        _ => (data.len(), args.batch()),
    };
    let batches = if args.drop_remainder { n / batch } else { n.div_ceil(batch) };
    let batches = args.epochs.unwrap_or(1).checked_mul(batches as u64)?;
    Some(batches / u64::from(args.training.accumulate()))
}

/// The training program: loaded, or made of a model.
fn program(
    args: &TrainCommand,
    from: Format,
    options: &TrainOptions,
    runtime: &Runtime,
) -> Result<Program, Failure> {
    let name = args.model.name();
    content::expect_readable(&args.model, Some(from))?;
    let bytes = match from {
        Format::Bef => args.model.read()?,
        _ => {
            let mut passes = pipeline(&args.level, &args.passes)?;
            let mut unit = import(args, from, &mut passes.clock)?;
            unit.train(options, &mut passes.clock);
            unit.run(&mut passes);
            let emitted = unit.emit(&EmitOptions::default(), &mut passes.clock);
            unit.conclude(None)?;
            emitted.ok_or(Failure::Reported)?.to_vec()
        }
    };
    runtime.load_bytes(&bytes).map_err(|error| Failure::Refused(format!("{name}: {error}")))
}

/// The options of the model's import for training.
fn import(args: &TrainCommand, from: Format, clock: &mut super::passes::Clock) -> Result<Unit, Failure> {
    let model = OpenModel::open(&args.model, from, None, None)?;
    let wanted = ModelArgs { tags: args.tags.clone(), function: "main".to_owned(), ..ModelArgs::default() };
    let mut options = wanted.options();
    options.training = Some(Box::new(args.training.parts(&args.loss, &args.fetch, args.init.clone())));
    Ok(Unit::import(&args.model.name(), model, &options, clock))
}

/// Restores and resumes. Returns the number of updates made before.
fn begin(args: &TrainCommand, trainer: &mut Trainer) -> Result<u64, Failure> {
    if let Some(restore) = &args.restore {
        let (prefix, pattern) = match restore.split_once(':') {
            None => (restore.as_str(), None),
            Some((prefix, pattern)) => {
                (prefix, Some(pattern.parse::<NamePattern>().map_err(|why| refused(&why))?))
            }
        };
        let matches = |name: &str| pattern.as_ref().is_none_or(|pattern| pattern.matches(name));
        let chosen: &dyn Fn(&str) -> bool = &matches;
        Checkpoint::open(prefix)?.restore(trainer.resources(), pattern.as_ref().map(|_| chosen))?;
    }
    let checkpoints = args.checkpoints();
    let latest = checkpoints.as_ref().map(|checkpoints| checkpoints.latest()).transpose()?.flatten();
    match (&args.resume, latest) {
        (None, None) => Ok(0),
        (None, Some(path)) => Err(Failure::Refused(format!(
            "{}: there is a checkpoint already; --resume goes on from it",
            path.display()
        ))),
        (Some(prefix), _) if !prefix.is_empty() => Ok(trainer.resume(&Checkpoint::open(prefix)?)?),
        (Some(_), Some(path)) => Ok(trainer.resume(&Checkpoint::open(path)?)?),
        (Some(_), None) => {
            tell("note: there is no checkpoint yet; training begins\n");
            Ok(0)
        }
    }
}

/// The variables and slots with their names.
fn values(trainer: &Trainer) -> Result<Vec<(String, HostTensor)>, Failure> {
    let values = variable_values(trainer.resources());
    let values = values.map_err(|error| Failure::Refused(error.to_string()))?;
    Ok(values.into_iter().map(|(name, value)| (name.name().to_owned(), value)).collect())
}

/// Writes each variable of the model to a file; `/` in names is `.`.
fn dump(trainer: &Trainer, directory: &Path) -> Result<(), Failure> {
    let failed = |path: &Path, error: &dyn std::fmt::Display| {
        Failure::Refused(format!("cannot write '{}': {error}", path.display()))
    };
    std::fs::create_dir_all(directory).map_err(|error| failed(directory, &error))?;
    for (name, value) in values(trainer)? {
        let path = directory.join(format!("{}.npy", name.replace('/', ".")));
        npy::write_file(&path, &value).map_err(|error| failed(&path, &error))?;
    }
    Ok(())
}

/// Writes the model with the trained values of its variables.
fn write_trained(
    args: &TrainCommand,
    from: Format,
    options: &TrainOptions,
    trainer: &Trainer,
    output: &Place,
) -> Result<(), Failure> {
    let is_graph = args.writes_graph();
    let mut passes = match is_graph && args.passes.pass_pipeline.is_none() {
        true => Passes::new(export::pipeline(args.level.level), &args.passes)?,
        false => pipeline(&args.level, &args.passes)?,
    };
    let mut unit = import(args, from, &mut passes.clock)?;
    unit.freeze(options, &values(trainer)?);
    unit.run(&mut passes);
    if is_graph {
        let graph = unit.export(export::graphdef, "main", &mut passes.clock);
        unit.conclude(None)?;
        return output.write_bytes(&graph.ok_or(Failure::Reported)?);
    }
    let emitted = unit.emit(&EmitOptions::default(), &mut passes.clock);
    unit.conclude(None)?;
    output.write_bef(&emitted.ok_or(Failure::Reported)?)
}

/// The parts of a time or a number of updates.
fn every(text: &str) -> Result<Every, String> {
    let wrong = || format!("expected `epoch`, a number of steps, or seconds such as `30s`, got '{text}'");
    if text == "epoch" {
        return Ok(Every::Epoch);
    }
    if let Some(seconds) = text.strip_suffix('s') {
        let seconds = seconds.parse().ok().filter(|&seconds: &f64| seconds > 0.0);
        let time = seconds.and_then(|seconds| std::time::Duration::try_from_secs_f64(seconds).ok());
        return time.map(Every::Time).ok_or_else(wrong);
    }
    text.parse().ok().filter(|&n| n > 0).map(Every::Steps).ok_or_else(wrong)
}
