//! Training programs: the step function, and the variables that it keeps.
//!
//! ```text
//! import of TrainingParts ──▶ init, step (forward only), evaluate, predict
//!      constants    float constants become variables, if that is asked for
//!      step         gradients ──▶ l2 ──▶ clip ──▶ decay ──▶ updates, behind the forward ops
//!      optimizer    what is updated how: kinds, numbers, slots          schedule: the learning rate
//!      random       streams of random numbers that a checkpoint can continue
//!      frozen       the trained model, without variables
//!      describe     what a driver must know, as JSON in the attribute `bef.training` of `step`
//! ```
//!
//! The form of a program, and its options, are in `compiler/TRAINING.md`. Everything that a run needs to
//! continue is a variable. The passes behind order the updates after the reads of their variables.
//!
//! Not here: gradients (`grad`), data, epochs and checkpoints (a driver has them).

mod constants;
mod describe;
mod entry;
mod errors;
mod frozen;
mod optimizer;
mod random;
mod schedule;
mod spec;
mod step;
mod variables;

pub use frozen::frozen;
pub use optimizer::{Decay, Optimizer, VariableGroup};
pub use schedule::Schedule;
pub use spec::Pattern;

use self::entry::function;
use self::step::StepPlan;
use crate::diag::Diagnostic;
use crate::grad::prepare;
use crate::graph;
use crate::ir::Module;
use crate::pass::PassManager;
use crate::rewrite::{Rewriter, signatures};
use crate::verify::{Verified, verify};

/// The attribute of the function `step` that describes the program.
pub const TRAINING: &str = "bef.training";

/// How gradients are bounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Clip {
    /// Each element, to this absolute value.
    Value(f64),
    /// The norm of all gradients together.
    GlobalNorm(f64),
}

/// How a model is trained.
#[derive(Clone, Debug, Default)]
pub struct TrainOptions {
    /// The optimizer; `None` if the model brings its own step.
    pub optimizer: Option<Optimizer>,
    /// The learning rate over the updates.
    pub schedule: Schedule,
    /// Added to the gradients, times the variable.
    pub l2: Option<Decay>,
    /// Subtracted from the variables, times the learning rate.
    pub weight_decay: Option<Decay>,
    /// How gradients are bounded.
    pub clip: Option<Clip>,
    /// Variables with other numbers; the first group that matches a name counts.
    pub groups: Vec<VariableGroup>,
    /// The number of batches whose gradients are added for an update; 0 is 1.
    pub accumulate: u32,
    /// Only these variables are trained.
    pub trainable: Option<Pattern>,
    /// These variables are not trained.
    pub freeze: Option<Pattern>,
    /// Constants that become variables.
    pub constants: Option<Pattern>,
    /// The number of updates of the run, if it is known.
    pub steps: Option<u64>,
}

/// Makes a training program of a model that was imported as
/// [`TrainingParts`](crate::import::TrainingParts).
///
/// # Errors
/// If the loss has no gradient, no variable is trained, or an option is unknown or matches nothing: all that
/// is wrong.
pub fn build(model: Verified, options: &TrainOptions) -> Result<Verified, Vec<Diagnostic>> {
    // Loops and conditionals of TensorFlow 1 are differentiated as those of TensorFlow 2.
    let functionalize = graph::dataflow::FUNCTIONALIZE.name;
    let mut passes = PassManager::parse(functionalize).map_err(|error| vec![*error])?;
    let (model, _) = passes.run(model)?;
    let mut m = model.into_module();
    append(&mut m, options)?;
    verify(m)
}

fn append(m: &mut Module, options: &TrainOptions) -> Result<(), Vec<Diagnostic>> {
    let top = m.top();
    let mut r = Rewriter::new(m, top);
    for name in ["init", "step"] {
        if function(r.ir(), name).is_none() {
            return Err(vec![errors::no_function(name)]);
        }
    }
    let schedule = options.schedule.checked(options.steps).map_err(|why| vec![errors::option(&why)])?;
    if let Some(pattern) = &options.constants {
        constants::to_variables(&mut r, pattern)?;
    }
    variables::type_reads(&mut r);
    prepare(&mut r);
    let plan = StepPlan::new(&mut r, options, schedule)?;
    let mut slots = match &options.optimizer {
        Some(optimizer) => step::append(&mut r, &plan, optimizer)?,
        None => Vec::new(),
    };
    slots.extend(random::append(&mut r)?);
    describe::describe(&mut r, &plan, &slots);
    signatures::refresh(&mut r);
    Ok(())
}
