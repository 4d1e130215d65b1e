//! The pass manager, which runs pipelines.
//!
//! A pass that left the module as it is, and said nothing, is not run again on the same op before another
//! pass has changed the module: what it reads, anywhere in the module, is what it has read.

use super::pipeline::{self, Instance, Nest, Step};
use super::reports::{self, Row};
use super::reproducer::Reproducer;
use super::{Change, OptionValue, Pass, PassCx, Rewriter, errors};
use crate::diag::{self, Diagnostic};
use crate::ir::{Module, OpId};
use crate::print::{PrintOptions, print};
use crate::verify::{Verified, faults};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// An event for the observer of a run.
pub enum Event<'a> {
    /// Before a pass.
    Before(&'a Pass),
    /// After a pass.
    After(&'a Pass, Change),
    /// After a pass that failed.
    Failed(&'a Pass),
    /// Text that a pass prints.
    Text(&'a str),
}

/// Options of a run.
#[derive(Default)]
pub struct RunOptions<'a> {
    /// Verify after each pass that changed something.
    pub verify_each: bool,
    /// Keep the text of a reproducer for failures.
    pub reproduce: bool,
    /// Called for each event with the op that the pass runs on.
    #[allow(clippy::type_complexity, reason = "a plain callback")]
    pub observer: Option<&'a mut dyn FnMut(Event<'_>, &Module, OpId)>,
}

/// A parsed pipeline.
pub struct PassManager {
    /// Steps on the root op.
    steps: Vec<Step>,
    verifying: Duration,
    diagnostics: Vec<Diagnostic>,
    reproducer: Option<String>,
}

/// Failure of a run; the errors are among the diagnostics.
struct Failed;

impl PassManager {
    /// Parses a pipeline over `passes`. Without an anchor the passes run on the module.
    pub fn parse_among(text: &str, passes: &'static [Pass]) -> Result<Self, Box<Diagnostic>> {
        let steps = pipeline::parse(text, passes)?;
        let steps = match <[Step; 1]>::try_from(steps) {
            // The outer anchor is the root.
            Ok([Step::Nest(nest)]) if matches!(nest.anchor.as_str(), "builtin.module" | "module" | "any") => {
                nest.steps
            }
            Ok([step]) => vec![step],
            Err(steps) => steps,
        };
        Ok(Self::with(steps))
    }

    fn with(steps: Vec<Step>) -> Self {
        PassManager { steps, verifying: Duration::ZERO, diagnostics: Vec::new(), reproducer: None }
    }

    /// The text of the pipeline, without options that have their default value.
    pub fn text(&self) -> String {
        format!("builtin.module({})", pipeline::text(&self.steps))
    }

    /// Runs the pipeline. Stops after a pass that fails or, if `verify_each` is set, leaves ill-formed IR.
    pub fn run(&mut self, module: Verified) -> Result<(Verified, Change), Vec<Diagnostic>> {
        let mut options = RunOptions { verify_each: cfg!(debug_assertions), ..RunOptions::default() };
        self.run_with(module, &mut options)
    }

    /// Runs the pipeline with options. After an error there is no module.
    pub fn run_with(
        &mut self,
        module: Verified,
        options: &mut RunOptions<'_>,
    ) -> Result<(Verified, Change), Vec<Diagnostic>> {
        module.after_passes(|module| self.run_on(module, options))
    }

    fn run_on(
        &mut self,
        module: &mut Module,
        options: &mut RunOptions<'_>,
    ) -> Result<Change, Vec<Diagnostic>> {
        let mut steps = std::mem::take(&mut self.steps);
        let mut result = Ok(Change::Unchanged);
        let mut idle = Vec::new();
        for i in 0..steps.len() {
            let before = options.reproduce.then(|| print(module, &PrintOptions::default()));
            let change = Run { manager: self, module, options, idle: &mut idle }.step(&mut steps[i]);
            if let (Err(Failed), Some(before)) = (&change, before) {
                let pipeline = format!("builtin.module({})", pipeline::text(&steps[i..]));
                let reproducer = Reproducer { pipeline, verify_each: options.verify_each };
                self.reproducer = Some(reproducer.write(&before));
            }
            match (change, &mut result) {
                (Ok(change), Ok(sum)) => *sum = sum.or(change),
                (_, result) => {
                    *result = Err(self.take_diagnostics());
                    break;
                }
            }
        }
        self.steps = steps;
        result
    }

    /// The diagnostics of the passes; after a successful run they contain no error.
    pub fn take_diagnostics(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.diagnostics)
    }

    /// The text of the reproducer, after a failure of a run with `reproduce`.
    pub fn take_reproducer(&mut self) -> Option<String> {
        self.reproducer.take()
    }

    /// Time of each part of the pipeline so far.
    pub fn timing(&self) -> Vec<Row> {
        reports::rows(&self.steps)
    }

    /// Time of the verifier between passes so far.
    pub fn verifying(&self) -> Duration {
        self.verifying
    }

    /// The statistics report so far.
    pub fn statistics(&self) -> String {
        reports::statistics(&self.steps)
    }
}

/// A run of a pass without any effect.
struct Idle {
    pass: &'static str,
    options: Vec<OptionValue>,
    root: OpId,
}

/// One run of a pipeline.
struct Run<'a, 'o> {
    manager: &'a mut PassManager,
    module: &'a mut Module,
    options: &'a mut RunOptions<'o>,
    /// Since the module has changed.
    idle: &'a mut Vec<Idle>,
}

impl Run<'_, '_> {
    fn step(&mut self, step: &mut Step) -> Result<Change, Failed> {
        let root = self.module.top();
        self.step_on(step, root)
    }

    fn step_on(&mut self, step: &mut Step, root: OpId) -> Result<Change, Failed> {
        match step {
            Step::Pass(instance) => self.pass(instance, root),
            Step::Nest(nest) => self.nest(nest, root),
        }
    }

    fn nest(&mut self, nest: &mut Nest, root: OpId) -> Result<Change, Failed> {
        let start = Instant::now();
        let mut targets = Vec::new();
        let module = &*self.module;
        for block in module.regions_of(root).iter().flat_map(|r| module.blocks_of(*r)) {
            let matches = |op: &OpId| nest.anchor == "any" || module.op_name_str(*op) == nest.anchor;
            targets.extend(module.ops_in(*block).filter(matches));
        }
        let mut change = Change::Unchanged;
        for op in targets {
            for step in &mut nest.steps {
                if !self.module.is_erased(op) {
                    change = change.or(self.step_on(step, op)?);
                }
            }
        }
        nest.spent += start.elapsed();
        Ok(change)
    }

    fn pass(&mut self, instance: &mut Instance, root: OpId) -> Result<Change, Failed> {
        let pass = instance.pass;
        self.notify(Event::Before(pass), root);
        if self.is_idle(instance, root) {
            self.notify(Event::After(pass, Change::Unchanged), root);
            return Ok(Change::Unchanged);
        }
        let start = Instant::now();
        let cx = PassCx::new(pass, &instance.options);
        let module = &mut *self.module;
        let ran = catch_unwind(AssertUnwindSafe(|| {
            let mut rewriter = Rewriter::new(module, root);
            let change = (pass.run)(&mut rewriter, &cx);
            change.or(rewriter.change())
        }));
        instance.spent += start.elapsed();
        let (counters, mut diagnostics, text) = cx.finish();
        diag::sort(&mut diagnostics);
        let failed = diag::has_errors(&diagnostics);
        let is_silent = diagnostics.is_empty() && text.is_empty() && counters.iter().all(|n| *n == 0);
        self.manager.diagnostics.extend(diagnostics);
        if !text.is_empty() {
            self.notify(Event::Text(&text), root);
        }
        for (sum, n) in instance.counters.iter_mut().zip(counters) {
            *sum += n;
        }
        let change = match ran {
            Ok(change) => change,
            // The IR after a panic may be inconsistent, so nothing reads it.
            Err(payload) => {
                self.manager.diagnostics.push(errors::panicked(pass, &*payload));
                return Err(Failed);
            }
        };
        if failed || !self.is_well_formed(pass, change) {
            self.notify(Event::Failed(pass), root);
            return Err(Failed);
        }
        self.module.drop_dead_constants();
        match change {
            Change::Changed => self.idle.clear(),
            Change::Unchanged if is_silent => {
                self.idle.push(Idle { pass: pass.name, options: instance.options.clone(), root });
            }
            Change::Unchanged => {}
        }
        self.notify(Event::After(pass, change), root);
        Ok(change)
    }

    /// True if the pass would find what it found in vain.
    fn is_idle(&self, instance: &Instance, root: OpId) -> bool {
        let is_this = |idle: &Idle| {
            idle.pass == instance.pass.name && idle.root == root && idle.options == instance.options
        };
        self.idle.iter().any(is_this)
    }

    fn is_well_formed(&mut self, pass: &Pass, change: Change) -> bool {
        if !self.options.verify_each || change == Change::Unchanged {
            return true;
        }
        let start = Instant::now();
        let found = faults(self.module);
        self.manager.verifying += start.elapsed();
        let good = !diag::has_errors(&found);
        if !good {
            self.manager.diagnostics.push(errors::ill_formed(pass));
            self.manager.diagnostics.extend(found);
        }
        good
    }

    fn notify(&mut self, event: Event<'_>, op: OpId) {
        if let Some(observer) = &mut self.options.observer {
            observer(event, self.module, op);
        }
    }
}
