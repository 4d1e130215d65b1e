//! The command line of `bef-train`.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

use befrost_train::{Better, Checkpoints, EarlyStop, Every, Format as CheckpointFormat};
use clap::{Parser, ValueEnum};

use super::every;
use crate::cli::failure::Failure;
use crate::cli::files::{Format, Place};
use crate::cli::options::{FolderArgs, LevelArgs, PassArgs, place, seconds};
use crate::cli::statistics::StatisticsArgs;
use crate::cli::training::TrainArgs;

const EXAMPLES: &str = "\
Examples:
  bef-train model.pb --data images=images.npy --data labels=labels.npy --optimizer adam:lr=2e-3 --epochs 20 -o trained.bef
      train a model, write what it predicts with the trained variables
  bef-train model.pb --data x=train.npz:x --data y=train.npz:y --checkpoint ckpt --keep 3 --resume --log log.jsonl
      go on where the last run ended, or begin
  bef-train program.bef --data x=x.npy --steps 1000 --dump-variables trained
      train a program of `ir-translate --train`, write its variables

Exit codes: 0 all right; 1 the input was refused, training failed or --timeout is over; 2 wrong usage; 130 Ctrl-C: the step that ran is saved.";

/// Train a model
#[derive(Parser)]
#[command(name = "bef-train", version, after_help = EXAMPLES)]
pub(super) struct TrainCommand {
    /// A model (.pb, .pbtxt, .onnx, a SavedModel's folder), or a training program (.bef)
    #[arg(value_name = "MODEL", value_parser = place())]
    pub(super) model: Place,

    /// Format of the model; default: by extension, or a SavedModel's folder
    #[arg(long, value_name = "FORMAT")]
    from: Option<Format>,

    /// The tensor that is minimized
    #[arg(long, value_name = "NAME", default_value = "loss")]
    pub(super) loss: String,

    /// An output of the trained model; default: those that no node consumes, except for losses and metrics
    #[arg(long, value_name = "NAME")]
    pub(super) fetch: Vec<String>,

    /// The tags of the graph in a SavedModel
    #[arg(long = "tag", value_name = "TAG", value_delimiter = ',')]
    pub(super) tags: Vec<String>,

    /// The examples of a placeholder, along the first axis; repeatable, of equal length
    #[arg(long, value_name = "NAME=FILE.npy|FILE.npz:KEY", value_parser = named)]
    pub(super) data: Vec<(String, String)>,

    /// A feed that is the same for all batches
    #[arg(long, value_name = "NAME=DTYPE[SHAPE]:v,v", value_parser = named)]
    pub(super) set: Vec<(String, String)>,

    /// The examples of a placeholder for evaluation
    #[arg(long, value_name = "NAME=FILE.npy|FILE.npz:KEY", value_parser = named)]
    pub(super) eval_data: Vec<(String, String)>,

    /// A feed that is the same for all batches of an evaluation, instead of that of --set
    #[arg(long, value_name = "NAME=DTYPE[SHAPE]:v,v", value_parser = named, requires = "eval_data")]
    pub(super) eval_set: Vec<(String, String)>,

    /// How often to evaluate: every N steps, or each epoch
    #[arg(long, value_name = "N|epoch", default_value = "epoch", value_parser = every, requires = "eval_data")]
    pub(super) eval_every: Every,

    /// The examples of a batch; default: 32, or what --order says
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(super) batch: Option<usize>,

    /// Leave out the last batch of an epoch if it is smaller
    #[arg(long)]
    pub(super) drop_remainder: bool,

    /// The seed of the order of the examples
    #[arg(long, value_name = "SEED", default_value_t = 0, conflicts_with_all = ["no_shuffle", "order"])]
    pub(super) shuffle: u64,

    /// Feed the examples as they are
    #[arg(long, conflicts_with = "order")]
    pub(super) no_shuffle: bool,

    /// The rows of each step: integers of shape [steps, batch], repeated from the beginning as needed
    #[arg(long, value_name = "FILE.npy", conflicts_with = "drop_remainder")]
    pub(super) order: Option<PathBuf>,

    /// End after N updates in all
    #[arg(long, value_name = "N", conflicts_with = "epochs")]
    pub(super) steps: Option<u64>,

    /// End after N epochs in all; default: 1
    #[arg(long, value_name = "N")]
    pub(super) epochs: Option<u64>,

    /// Save checkpoints in this folder
    #[arg(long, value_name = "DIR")]
    checkpoint: Option<PathBuf>,

    #[command(flatten)]
    pub(super) folders: FolderArgs,

    /// How often to save: after a number of steps or seconds, or each epoch
    #[arg(long, value_name = "N|Ns|epoch", default_value = "epoch", value_parser = every, requires = "checkpoint")]
    pub(super) save_every: Every,

    /// How many checkpoints to keep; 0: all
    #[arg(long, value_name = "N", default_value_t = 5)]
    keep: usize,

    /// Keep the checkpoint with the best value of this metric besides; of `loss` lower values are better, of
    /// others higher ones, unless :min or :max says it
    #[arg(long, value_name = "METRIC[:min|:max]", value_parser = best, requires = "checkpoint")]
    pub(super) keep_best: Option<(String, Better)>,

    /// The format of checkpoints
    #[arg(long, value_name = "FORMAT", default_value = "bundle")]
    format: SavedFormat,

    /// Save before the next step begins, not beside it
    #[arg(long)]
    pub(super) sync_save: bool,

    /// Go on from the latest checkpoint of the folder, or from this one, bit for bit
    #[arg(long, value_name = "PREFIX", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(super) resume: Option<String>,

    /// Begin with the values of a checkpoint: all variables, or those whose name matches
    #[arg(long, value_name = "PREFIX[:REGEX]", conflicts_with = "resume")]
    pub(super) restore: Option<String>,

    /// End when a metric was no better for N evaluations, or epochs: patience=N, min-delta=X, max
    /// (higher is better), restore (end with the best variables; needs --checkpoint)
    #[arg(long, value_name = "METRIC:patience=N[,..]", value_parser = early_stop)]
    pub(super) early_stop: Option<EarlyStop>,

    /// End if a loss is not finite
    #[arg(long, value_name = "BOOL", default_value_t = true, action = clap::ArgAction::Set)]
    pub(super) stop_on_nan: bool,

    /// Write a line of JSON for each step
    #[arg(long, value_name = "FILE.jsonl")]
    pub(super) log: Option<PathBuf>,

    /// No progress bar
    #[arg(long)]
    pub(super) quiet: bool,

    /// Write the trained model, with constants for its variables: compiled, or as a GraphDef
    #[arg(short, long, value_name = "FILE.bef|.pb", value_parser = place())]
    pub(super) output: Option<Place>,

    /// Write the variables and slots to files NAME.npy; `/` in a name is `.`
    #[arg(long, value_name = "DIR")]
    pub(super) dump_variables: Option<PathBuf>,

    /// Where steps run: s (one thread), mstd[:N[,B]] (N workers, B threads that wait)
    #[arg(long, value_name = "SPEC")]
    pub(super) work_queue: Option<String>,

    /// Run ready kernels in another legal order, on one thread: always the same one for the same N
    #[arg(long, value_name = "N", conflicts_with = "work_queue")]
    pub(super) seed: Option<u64>,

    /// End this many seconds after the start of the tool; the step that runs is completed and saved
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(super) timeout: Option<Duration>,

    #[command(flatten)]
    pub(super) statistics: StatisticsArgs,

    /// The operation that initializes the variables; default: init, if there is one
    #[arg(long, value_name = "NODE")]
    pub(super) init: Option<String>,

    #[command(flatten)]
    pub(super) training: TrainArgs,
    #[command(flatten)]
    pub(super) level: LevelArgs,
    #[command(flatten)]
    pub(super) passes: PassArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SavedFormat {
    Bundle,
    Safetensors,
}

/// The extension of a GraphDef.
const GRAPH: &str = "pb";

/// The examples of a batch, unless the command says otherwise.
const BATCH: usize = 32;

impl TrainCommand {
    /// The examples of a batch.
    pub(super) fn batch(&self) -> usize {
        self.batch.unwrap_or(BATCH)
    }

    /// The model's format, if the options fit it.
    pub(super) fn check(&self) -> Result<Format, Failure> {
        let usage = |why: &str| Err(Failure::Usage(why.to_owned()));
        let from = match (self.from, &self.model) {
            (Some(from), _) => from,
            (None, Place::File(path)) if path.is_dir() => Format::SavedModel,
            (None, place) => place.format().unwrap_or(Format::GraphDef),
        };
        if !from.is_model() && from != Format::Bef {
            return usage(
                "expected a model or a training program (.bef); ir-translate --train makes one of a model",
            );
        }
        if from == Format::Bef && (self.training.is_given() || self.init.is_some()) {
            return usage(
                "a training program has its optimizer and its metrics; these options are for models",
            );
        }
        if from == Format::Bef && self.output.is_some() {
            return usage(
                "-o needs the model; a training program keeps its variables: --dump-variables writes them",
            );
        }
        if self.extension().is_some_and(|end| end != "bef" && end != GRAPH) {
            return usage("the trained model is written as BEF or as a GraphDef: -o FILE.bef, -o FILE.pb");
        }
        if self.resume.as_deref() == Some("") && self.checkpoint.is_none() {
            return usage("--resume needs --checkpoint DIR, or a checkpoint: --resume=PREFIX");
        }
        if self.checkpoint.is_none() && self.early_stop.as_ref().is_some_and(|stop| stop.restore) {
            return usage("--early-stop with restore needs --checkpoint, where the best variables are kept");
        }
        Ok(from)
    }

    /// The extension of the trained model's file.
    fn extension(&self) -> Option<&OsStr> {
        match &self.output {
            Some(Place::File(path)) => path.extension(),
            _ => None,
        }
    }

    /// True if the trained model is written as a GraphDef.
    pub(super) fn writes_graph(&self) -> bool {
        self.extension().is_some_and(|end| end == GRAPH)
    }

    /// The folder of checkpoints.
    pub(super) fn checkpoints(&self) -> Option<Checkpoints> {
        let format = match self.format {
            SavedFormat::Bundle => CheckpointFormat::Bundle,
            SavedFormat::Safetensors => CheckpointFormat::SafeTensors,
        };
        self.checkpoint.as_ref().map(|folder| Checkpoints::new(folder).keep(self.keep).format(format))
    }
}

/// `NAME=TEXT`.
fn named(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, text)) if !name.is_empty() && !text.is_empty() => {
            Ok((name.strip_suffix(":0").unwrap_or(name).to_owned(), text.to_owned()))
        }
        _ => Err("expected NAME=FILE".to_owned()),
    }
}

fn positive(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&n| n > 0).ok_or_else(|| "expected a positive number".to_owned())
}

/// `accuracy`, `error:min`.
fn best(text: &str) -> Result<(String, Better), String> {
    Ok(match text.rsplit_once(':') {
        None => (text.to_owned(), Better::of(text)),
        Some((metric, "min")) => (metric.to_owned(), Better::Lower),
        Some((metric, "max")) => (metric.to_owned(), Better::Higher),
        Some((_, other)) => return Err(format!("'{other}' is neither min nor max")),
    })
}

/// `loss:patience=3,min-delta=0.01`.
fn early_stop(text: &str) -> Result<EarlyStop, String> {
    let (metric, rest) = text.split_once(':').ok_or("expected METRIC:patience=N")?;
    let mut stop = EarlyStop {
        metric: metric.to_owned(),
        patience: 0,
        min_delta: 0.0,
        better: Better::Lower,
        restore: false,
    };
    let mut has_patience = false;
    for word in rest.split(',') {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        let wrong = || format!("'{word}' has no valid value");
        match key {
            "patience" => {
                stop.patience = value.parse().map_err(|_| wrong())?;
                has_patience = true;
            }
            "min-delta" => {
                stop.min_delta = value.parse().ok().filter(|x: &f64| x.is_finite()).ok_or_else(wrong)?;
            }
            "max" if value.is_empty() => stop.better = Better::Higher,
            "restore" if value.is_empty() => stop.restore = true,
            _ => {
                return Err(format!(
                    "'{key}' is unknown: there are patience=N, min-delta=X, max and restore"
                ));
            }
        }
    }
    if has_patience { Ok(stop) } else { Err("expected patience=N".to_owned()) }
}
