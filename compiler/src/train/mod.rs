//! Training programs: the step function, and the variables that it keeps.
//!
//! ```text
//! import of TrainingParts ──▶ init, step (forward only), evaluate, predict
//!      constants    float constants become variables, on request
//!      step         gradients ──▶ l2 ──▶ clip ──▶ decay ──▶ updates, after the forward ops
//!      optimizer    update rules: kinds, numbers, slots          schedule: the learning rate
//!      random       streams of random numbers that a checkpoint can continue
//!      frozen       the trained model, without variables
//!      describe     the description for a driver, as JSON in the attribute `bef.training` of `step`
//! ```
//!
//! The form of a program, and its options, are in `compiler/TRAINING.md`. Everything that a run needs to
//! continue is a variable. Later passes order the updates after the reads of their variables.
//!
//! Not here: gradients (`grad`); data, epochs and checkpoints (the driver, `bef-train`).

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
pub use spec::NamePattern;

pub use crate::grad::Recompute;

use self::entry::function;
use self::step::StepPlan;
use crate::diag::Diagnostic;
use crate::dialects::tf::RECOMPUTE;
use crate::grad::prepare;
use crate::graph::{self, pattern_passes};
use crate::ir::Module;
use crate::pass::PassManager;
use crate::rewrite::{Rewriter, signatures};
use crate::verify::{Verified, verify};

/// The attribute of the function `step` that describes the program.
pub const TRAINING: &str = "bef.training";

/// A bound of gradients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Clip {
    /// Each element, to this absolute value.
    Value(f64),
    /// The norm of all gradients together.
    GlobalNorm(f64),
}

/// Options of a training program.
#[derive(Clone, Debug, Default)]
pub struct TrainOptions {
    /// The optimizer; `None` if the model brings its own step.
    pub optimizer: Option<Optimizer>,
    /// The learning rate over the updates.
    pub schedule: Schedule,
    /// Factor of a variable that is added to its gradient.
    pub l2: Option<Decay>,
    /// Factor of a variable that, times the learning rate, is subtracted from it.
    pub weight_decay: Option<Decay>,
    /// The bound of the gradients.
    pub clip: Option<Clip>,
    /// Groups of variables with numbers of their own; a variable is in the first group that matches its name.
    pub groups: Vec<VariableGroup>,
    /// The number of batches whose gradients are added for an update; 0 means 1.
    pub accumulate: u32,
    /// Only these variables are trained.
    pub trainable: Option<NamePattern>,
    /// These variables are not trained.
    pub freeze: Option<NamePattern>,
    /// Constants that become variables.
    pub constants: Option<NamePattern>,
    /// The number of updates of the run, if it is known.
    pub steps: Option<u64>,
    /// The ops that backward parts of functions, loops and branches compute again, unless these say so.
    pub recompute: Option<Recompute>,
}

/// Builds the training program of a model that was imported as
/// [`TrainingParts`](crate::import::TrainingParts).
///
/// # Errors
/// If the loss has no gradient, no variable is trained, or an option has a wrong value or matches nothing.
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
    if let Some(Clip::GlobalNorm(by) | Clip::Value(by)) = options.clip
        && !(by > 0.0 && by.is_finite())
    {
        return Err(vec![errors::option(&format!("gradients cannot be bounded by {by}"))]);
    }
    let schedule = options.schedule.checked(options.steps).map_err(|why| vec![errors::option(&why)])?;
    if let Some(pattern) = &options.constants {
        constants::to_variables(&mut r, pattern)?;
    }
    variables::type_reads(&mut r);
    prepare(&mut r);
    // Not in the functions that it shares with the others, which may be exported.
    if let Some(step) = function(r.ir(), "step") {
        drop(r);
        pattern_passes::recognize_layers(&mut Rewriter::new(m, step));
        r = Rewriter::new(m, top);
    }
    if let Some(recompute) = options.recompute {
        recompute_unless_said(&mut r, recompute);
    }
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

/// Gives the functions without the attribute `bef.recompute` this one: bodies of loops and branches are
/// functions by now, whose calls may still say otherwise.
fn recompute_unless_said(r: &mut Rewriter<'_>, recompute: Recompute) {
    for function in r.ir().functions() {
        if r.ir().attr_named(function, RECOMPUTE).is_none() {
            let (name, value) = (r.cx().str_id(RECOMPUTE), r.cx().str_attr(recompute.name()));
            r.set_attr(function, name, value);
        }
    }
}
