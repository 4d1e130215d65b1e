//! Options for training programs, for all tools that make them.

use befrost_compiler::import::TrainingParts;
use befrost_compiler::train::{
    Clip, Decay, NamePattern, Optimizer, Recompute, Schedule, TrainOptions, VariableGroup,
};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser as _};

/// Options for training.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Training")]
pub(super) struct TrainArgs {
    /// One more result of each step: NAME, or TENSOR under this name; repeatable
    #[arg(long, value_name = "NAME[=TENSOR]", value_parser = metric)]
    metric: Vec<(String, String)>,

    /// An operation that runs with each step, after the loss: moving averages, counters; repeatable
    #[arg(long, value_name = "NODE")]
    updates: Vec<String>,

    /// The operation that is a training step of the graph's own; no gradients and no optimizer are added
    #[arg(long, value_name = "NODE", conflicts_with_all = ["optimizer", "schedule", "clip_norm", "clip_value", "l2", "weight_decay", "accumulate", "group"])]
    train_op: Option<String>,

    /// sgd:lr=.01; momentum:lr=.01,momentum=.9,nesterov=false; adam:lr=.001,beta1=.9,beta2=.999,epsilon=1e-8;
    /// adamw: adam's, weight_decay=.01; adagrad:lr=.01,initial_accumulator=.1,epsilon=0;
    /// rmsprop:lr=.001,decay=.9,momentum=0,epsilon=1e-10,centered=false;
    /// lars:lr=.1,momentum=.9,trust=.001,weight_decay=1e-4
    #[arg(long, value_name = "NAME[:k=v,..]")]
    optimizer: Option<String>,

    /// The learning rate over the updates: constant; steps:boundaries=..,factors=..;
    /// exponential:factor=..,every=..,staircase; polynomial:final=0,power=1,steps=..;
    /// cosine:final=0,steps=..; each with warmup=N
    #[arg(long, value_name = "KIND[:k=v,..]")]
    schedule: Option<String>,

    /// Scale all gradients so that their common norm is at most this
    #[arg(long, value_name = "X", conflicts_with = "clip_value")]
    clip_norm: Option<f64>,

    /// Bound each element of the gradients
    #[arg(long, value_name = "X")]
    clip_value: Option<f64>,

    /// Add X times the variable to its gradient; of variables of two or more axes with :only=rank>=2
    #[arg(long, value_name = "X[:only]")]
    l2: Option<String>,

    /// Subtract X times the learning rate times the variable before each update
    #[arg(long, value_name = "X[:only]")]
    weight_decay: Option<String>,

    /// Add the gradients of N batches before an update
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    accumulate: u32,

    /// Other numbers for variables whose name matches; the first match counts; repeatable
    #[arg(long, value_name = "REGEX:k=v,..")]
    group: Vec<String>,

    /// Train only variables whose name matches
    #[arg(long, value_name = "REGEX")]
    trainable: Option<String>,

    /// Do not train variables whose name matches
    #[arg(long, value_name = "REGEX")]
    freeze_variables: Option<String>,

    /// Make variables of the constants of floats whose node matches: fine-tuning
    #[arg(long, value_name = "REGEX")]
    trainable_constants: Option<String>,

    /// Instead of keeping values for the backward part of a loop, branch or call, compute again none, what
    /// is cheap, or all, so that only arguments are kept. `bef.recompute` in the model goes first
    #[arg(long, value_name = "WHAT", value_parser = recompute())]
    recompute: Option<Recompute>,
}

impl TrainArgs {
    /// The number of batches of an update.
    pub(super) fn accumulate(&self) -> u32 {
        self.accumulate
    }

    /// True if an option was given that makes a training program.
    pub(super) fn is_given(&self) -> bool {
        let TrainArgs {
            metric,
            updates,
            train_op,
            optimizer,
            schedule,
            clip_norm,
            clip_value,
            l2,
            weight_decay,
            accumulate,
            group,
            trainable,
            freeze_variables,
            trainable_constants,
            recompute,
        } = self;
        let texts = [
            train_op,
            optimizer,
            schedule,
            l2,
            weight_decay,
            trainable,
            freeze_variables,
            trainable_constants,
        ];
        let lists = [updates, group];
        let is_text = texts.iter().any(|text| text.is_some()) || lists.iter().any(|list| !list.is_empty());
        let is_number = clip_norm.or(*clip_value).is_some() || *accumulate != 1;
        is_text || is_number || !metric.is_empty() || recompute.is_some()
    }

    /// The parts of the graph; without `init` the node of that name initializes it, if there is one.
    pub(super) fn parts(&self, loss: &str, predictions: &[String], init: Option<String>) -> TrainingParts {
        TrainingParts {
            loss: loss.to_owned(),
            metrics: self.metric.clone(),
            init,
            targets: self.updates.iter().chain(&self.train_op).cloned().collect(),
            predictions: predictions.to_vec(),
            step: None,
            // A malformed pattern is refused with the other options.
            variables: self.trainable_constants.as_deref().and_then(|text| text.parse().ok()),
        }
    }

    /// The first option that was given.
    pub(super) fn given(&self) -> Option<&'static str> {
        let given = [
            ("--metric", !self.metric.is_empty()),
            ("--updates", !self.updates.is_empty()),
            ("--train-op", self.train_op.is_some()),
            ("--optimizer", self.optimizer.is_some()),
            ("--schedule", self.schedule.is_some()),
            ("--clip-norm", self.clip_norm.is_some()),
            ("--clip-value", self.clip_value.is_some()),
            ("--l2", self.l2.is_some()),
            ("--weight-decay", self.weight_decay.is_some()),
            ("--accumulate", self.accumulate > 1),
            ("--group", !self.group.is_empty()),
            ("--trainable", self.trainable.is_some()),
            ("--freeze-variables", self.freeze_variables.is_some()),
            ("--trainable-constants", self.trainable_constants.is_some()),
            ("--recompute", self.recompute.is_some()),
        ];
        given.iter().find(|(_, given)| *given).map(|(name, _)| *name)
    }

    /// The training options for a run of `steps` updates.
    ///
    /// # Errors
    /// If an option has no meaning.
    pub(super) fn options(&self, steps: Option<u64>) -> Result<TrainOptions, String> {
        let pattern = |text: &Option<String>| text.as_deref().map(str::parse::<NamePattern>).transpose();
        let decay = |text: &Option<String>| text.as_deref().map(Decay::parse).transpose();
        let clip = self.clip_norm.map(Clip::GlobalNorm).or(self.clip_value.map(Clip::Value));
        let optimizer = self.optimizer.as_deref().map_or(Ok(Optimizer::default()), Optimizer::parse)?;
        Ok(TrainOptions {
            optimizer: self.train_op.is_none().then_some(optimizer),
            schedule: self.schedule.as_deref().map_or(Ok(Schedule::default()), Schedule::parse)?,
            l2: decay(&self.l2)?,
            weight_decay: decay(&self.weight_decay)?,
            clip,
            groups: self.group.iter().map(|text| VariableGroup::parse(text)).collect::<Result<_, _>>()?,
            accumulate: self.accumulate,
            trainable: pattern(&self.trainable)?,
            freeze: pattern(&self.freeze_variables)?,
            constants: pattern(&self.trainable_constants)?,
            steps,
            recompute: self.recompute,
        })
    }
}

/// `none`, `cheap` or `all`.
fn recompute() -> impl clap::builder::TypedValueParser<Value = Recompute> {
    PossibleValuesParser::new(Recompute::ALL.map(Recompute::name))
        .try_map(|name| Recompute::parse(&name).ok_or("none, cheap or all"))
}

/// `accuracy`, `top1=accuracy:0`.
fn metric(text: &str) -> Result<(String, String), String> {
    let (name, tensor) = text.split_once('=').unwrap_or((text, text));
    let name = name.strip_suffix(":0").unwrap_or(name);
    if name.is_empty() || tensor.is_empty() {
        return Err("expected NAME or NAME=TENSOR".to_owned());
    }
    Ok((name.to_owned(), tensor.to_owned()))
}
