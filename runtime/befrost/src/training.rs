//! Training programs, made in the process.
//!
//! ```text
//! graph ──import──▶ loss, metrics, predictions ──gradients, updates──▶ init, step, evaluate, predict
//! ```
//!
//! `compiler/TRAINING.md` describes them; `befrost-train` runs them.

use befrost_compiler::diag::Diagnostic;
use befrost_compiler::import::{Feed, TrainingParts};
use befrost_compiler::train::{Clip, Decay, Optimizer, Recompute, Schedule, TrainOptions, VariableGroup};

use crate::compile::{CompileError, CompileOptions, Source, canonical, compile_with, compiled_trained};
use crate::{HostTensor, Resources, variable_values};

/// How a graph is trained.
///
/// ```
/// use befrost::{Runtime, Training};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/training/digits_cnn.pb");
/// let bef = Training::of("loss").metric("accuracy").optimizer("adam:lr=2e-3").compile(path)?;
/// let program = Runtime::builder().build()?.load_bytes(&bef)?;
/// assert_eq!(program.function("step")?.results()[0].name(), "loss");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Training {
    parts: TrainingParts,
    /// The numbers of the step, or the first error in them.
    options: Result<TrainOptions, String>,
    /// Only the step and the initialization are wanted.
    is_of_session: bool,
}

impl Training {
    /// Minimizes this tensor, by `sgd` with a constant rate.
    pub fn of(loss: &str) -> Training {
        let parts = TrainingParts { loss: loss.to_owned(), ..TrainingParts::default() };
        let options = TrainOptions { optimizer: Some(Optimizer::default()), ..TrainOptions::default() };
        Training { parts, options: Ok(options), is_of_session: false }
    }

    /// One more result of each step and each evaluation.
    pub fn metric(self, name: &str) -> Training {
        self.metric_of(name, name)
    }

    /// One more result of each step and each evaluation: this tensor, under a name.
    pub fn metric_of(mut self, name: &str, tensor: &str) -> Training {
        self.parts.metrics.push((canonical(name).to_owned(), tensor.to_owned()));
        self
    }

    /// A result of the predictions. Without one they are the outputs that no node reads, except for losses
    /// and metrics.
    pub fn prediction(mut self, tensor: &str) -> Training {
        self.parts.predictions.push(tensor.to_owned());
        self
    }

    /// The optimizer as on the command line: `adam:lr=1e-3`.
    pub fn optimizer(self, optimizer: &str) -> Training {
        self.set(Optimizer::parse(optimizer), |options, value| options.optimizer = Some(value))
    }

    /// The node that is a training step of the graph's own. No gradients and no optimizer are added.
    pub fn train_op(self, node: &str) -> Training {
        self.updates(node).set(Ok(None), |options, optimizer| options.optimizer = optimizer)
    }

    /// The learning rate over the updates as on the command line: `cosine:warmup=100`.
    pub fn schedule(self, schedule: &str) -> Training {
        self.set(Schedule::parse(schedule), |options, value| options.schedule = value)
    }

    /// The number of updates of the run, for schedules that end.
    pub fn steps(self, steps: u64) -> Training {
        self.set(Ok(steps), |options, value| options.steps = Some(value))
    }

    /// The bound of the gradients.
    pub fn clip(self, clip: Clip) -> Training {
        self.set(Ok(clip), |options, value| options.clip = Some(value))
    }

    /// The factor of a variable that is added to its gradient, as on the command line: `1e-4`,
    /// `1e-4:only=rank>=2`.
    pub fn l2(self, factor: &str) -> Training {
        self.set(Decay::parse(factor), |options, value| options.l2 = Some(value))
    }

    /// The factor of a variable that, times the learning rate, is subtracted from it before an update, as on
    /// the command line: `1e-2`, `1e-2:only=rank>=2`.
    pub fn weight_decay(self, factor: &str) -> Training {
        self.set(Decay::parse(factor), |options, value| options.weight_decay = Some(value))
    }

    /// Other numbers for the variables whose name matches, as on the command line: `bias:lr=1e-2,l2=0`. The
    /// first group that matches counts.
    pub fn group(self, group: &str) -> Training {
        self.set(VariableGroup::parse(group), |options, group| options.groups.push(group))
    }

    /// The number of batches whose gradients are added for an update.
    pub fn accumulate(self, batches: u32) -> Training {
        self.set(Ok(batches), |options, value| options.accumulate = value)
    }

    /// Trains only the variables whose name matches this regular expression.
    pub fn trainable(self, pattern: &str) -> Training {
        self.set(pattern.parse(), |options, value| options.trainable = Some(value))
    }

    /// Does not train the variables whose name matches this regular expression.
    pub fn freeze(self, pattern: &str) -> Training {
        self.set(pattern.parse(), |options, value| options.freeze = Some(value))
    }

    /// Makes variables of the constants of floats whose node matches this regular expression.
    pub fn trainable_constants(self, pattern: &str) -> Training {
        self.set(pattern.parse(), |options, value| options.constants = Some(value))
    }

    /// Sets what backward parts of loops, branches and calls compute again, unless the model says it.
    pub fn recompute(self, recompute: Recompute) -> Training {
        self.set(Ok(recompute), |options, value| options.recompute = Some(value))
    }

    /// The node that initializes the variables; without it `init`, if there is one.
    pub fn init(mut self, node: &str) -> Training {
        self.parts.init = Some(node.to_owned());
        self
    }

    /// A node that runs with each step, such as moving averages.
    pub fn updates(mut self, node: &str) -> Training {
        self.parts.targets.push(node.to_owned());
        self
    }

    fn set<T>(mut self, value: Result<T, String>, put: impl FnOnce(&mut TrainOptions, T)) -> Training {
        self.options = self.options.and_then(|mut options| {
            put(&mut options, value?);
            Ok(options)
        });
        self
    }

    /// The BEF file of the program.
    ///
    /// # Errors
    /// As [`compile`](crate::compile()), and if the loss has no gradient or an option is unknown.
    pub fn compile(self, source: impl Into<Source>) -> Result<Vec<u8>, CompileError> {
        compile_with(source, &CompileOptions { training: Some(self), ..CompileOptions::default() })
    }

    /// The BEF file of the trained model: its function `main` predicts, with the values that the variables of
    /// the program have in `resources` as constants.
    ///
    /// # Errors
    /// As [`compile`](crate::compile()), and if a variable has no value or is being written.
    pub fn compile_trained(
        self,
        source: impl Into<Source>,
        resources: &Resources,
    ) -> Result<Vec<u8>, CompileError> {
        let values = variable_values(resources).map_err(|error| CompileError::new(error.to_string()))?;
        let values: Vec<(String, HostTensor)> =
            values.into_iter().map(|(name, value)| (name.name().to_owned(), value)).collect();
        let options = CompileOptions { training: Some(self), ..CompileOptions::default() };
        compiled_trained(source.into(), options, &values)
    }

    /// Without evaluation and predictions, which a session makes of the graph.
    pub(crate) fn of_session(self) -> Training {
        Training { is_of_session: true, ..self }
    }

    /// With the names of one run as results and targets.
    pub(crate) fn with_run(mut self, fetches: Vec<String>, targets: Vec<String>) -> Training {
        let loss = canonical(&self.parts.loss).to_owned();
        let fetches = fetches.into_iter().filter(|name| canonical(name) != loss);
        self.parts.metrics = fetches.map(|name| (canonical(&name).to_owned(), name)).collect();
        self.parts.targets.extend(targets);
        self
    }

    /// The node that initializes the variables, if one was named.
    pub(crate) fn init_node(&self) -> Option<&str> {
        self.parts.init.as_deref()
    }

    /// The parts of the graph, with the arguments of the step if it is a session's.
    pub(crate) fn parts(&self, feeds: &[Feed]) -> TrainingParts {
        let variables = self.options.as_ref().ok().and_then(|options| options.constants.clone());
        TrainingParts { step: self.is_of_session.then(|| feeds.to_vec()), variables, ..self.parts.clone() }
    }

    /// The numbers of the step.
    pub(crate) fn options(&self) -> Result<TrainOptions, Vec<Diagnostic>> {
        self.options.clone().map_err(|why| vec![Diagnostic::error("E0909", why)])
    }
}
