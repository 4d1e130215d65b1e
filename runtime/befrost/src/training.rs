//! Training programs, made in the process.
//!
//! ```text
//! graph ──import──▶ loss, metrics, predictions ──gradients, updates──▶ init, step, evaluate, predict
//! ```
//!
//! `compiler/TRAINING.md` describes them; `befrost-train` runs them.

use befrost_compiler::diag::Diagnostic;
use befrost_compiler::import::{Feed, TrainingParts};
use befrost_compiler::train::{Optimizer, Schedule, TrainOptions};

use crate::compile::{CompileError, CompileOptions, Source, canonical, compile_with};

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
    optimizer: String,
    schedule: String,
    steps: Option<u64>,
    /// Only the step and the initialization are wanted.
    is_of_session: bool,
}

impl Training {
    /// Minimizes this tensor, by `sgd` with a constant rate.
    pub fn of(loss: &str) -> Training {
        let parts = TrainingParts { loss: loss.to_owned(), ..TrainingParts::default() };
        Training {
            parts,
            optimizer: "sgd".to_owned(),
            schedule: "constant".to_owned(),
            steps: None,
            is_of_session: false,
        }
    }

    /// One more result of each step and each evaluation.
    pub fn metric(mut self, name: &str) -> Training {
        self.parts.metrics.push((name.to_owned(), name.to_owned()));
        self
    }

    /// The optimizer as on the command line: `adam:lr=1e-3`.
    pub fn optimizer(self, optimizer: &str) -> Training {
        Training { optimizer: optimizer.to_owned(), ..self }
    }

    /// The learning rate over the updates as on the command line: `cosine:warmup=100`.
    pub fn schedule(self, schedule: &str) -> Training {
        Training { schedule: schedule.to_owned(), ..self }
    }

    /// The number of updates of the run, for schedules that end.
    pub fn steps(self, steps: u64) -> Training {
        Training { steps: Some(steps), ..self }
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

    /// The BEF file of the program.
    ///
    /// # Errors
    /// As [`compile`](crate::compile()), and if the loss has no gradient or an option is unknown.
    pub fn compile(self, source: impl Into<Source>) -> Result<Vec<u8>, CompileError> {
        compile_with(source, &CompileOptions { training: Some(self), ..CompileOptions::default() })
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
        TrainingParts { step: self.is_of_session.then(|| feeds.to_vec()), ..self.parts.clone() }
    }

    /// The numbers of the step.
    pub(crate) fn options(&self) -> Result<TrainOptions, Vec<Diagnostic>> {
        let wrong = |why: String| vec![Diagnostic::error("E0909", why)];
        Ok(TrainOptions {
            optimizer: Some(Optimizer::parse(&self.optimizer).map_err(wrong)?),
            schedule: Schedule::parse(&self.schedule).map_err(wrong)?,
            steps: self.steps,
            ..TrainOptions::default()
        })
    }
}
