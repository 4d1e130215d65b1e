//! Runs pipelines.

use super::pipeline::{self, Step};
use super::{Change, OptionValue, Pass, PassCx, Rewriter};
use crate::diag::{self, Diagnostic};
use crate::ir::{Module, OpId};
use crate::verify::verify;
use std::time::{Duration, Instant};

/// Something that happens during a run, for those who print IR.
pub enum Event<'a> {
    /// Before a pass.
    Before(&'a Pass),
    /// After a pass.
    After(&'a Pass, Change),
}

/// How to run.
#[derive(Default)]
pub struct RunOptions<'a> {
    /// Verify after each pass that changed something.
    pub verify_each: bool,
    /// Called around each pass with the op it runs on.
    #[allow(clippy::type_complexity, reason = "a plain callback")]
    pub observer: Option<&'a mut dyn FnMut(Event<'_>, &Module, OpId)>,
}

/// A pipeline, ready to run.
pub struct PassManager {
    /// Runs on the root op.
    steps: Vec<Step>,
    timings: Vec<(&'static str, Duration)>,
}

impl PassManager {
    /// A pipeline from its text. Without an anchor the passes run on the module.
    pub fn parse(text: &str) -> Result<Self, Box<Diagnostic>> {
        let steps = pipeline::parse(text)?;
        let steps = match <[Step; 1]>::try_from(steps) {
            // The outer anchor is the root itself.
            Ok([Step::Nested(anchor, inner)]) => match anchor.as_str() {
                "builtin.module" | "module" | "any" => inner,
                _ => vec![Step::Nested(anchor, inner)],
            },
            Ok([step]) => vec![step],
            Err(steps) => steps,
        };
        Ok(PassManager { steps, timings: Vec::new() })
    }

    /// A pipeline of passes on the module.
    pub fn of(passes: &[&'static Pass]) -> Self {
        PassManager { steps: passes.iter().map(|p| Step::Pass(p)).collect(), timings: Vec::new() }
    }

    /// Runs everything in order. Stops after a pass that left the module ill-formed, if that is checked.
    pub fn run(&mut self, module: &mut Module) -> Result<Change, Vec<Diagnostic>> {
        self.run_with(module, &mut RunOptions { verify_each: cfg!(debug_assertions), observer: None })
    }

    /// Runs everything in order, with options.
    pub fn run_with(
        &mut self,
        module: &mut Module,
        options: &mut RunOptions<'_>,
    ) -> Result<Change, Vec<Diagnostic>> {
        let root = module.top();
        let steps = std::mem::take(&mut self.steps);
        let result = self.steps(&steps, module, root, options);
        self.steps = steps;
        result
    }

    /// How long each pass took so far, in the order of their first runs.
    pub fn timings(&self) -> &[(&'static str, Duration)] {
        &self.timings
    }

    fn steps(
        &mut self,
        steps: &[Step],
        module: &mut Module,
        root: OpId,
        options: &mut RunOptions<'_>,
    ) -> Result<Change, Vec<Diagnostic>> {
        let mut change = Change::Unchanged;
        for step in steps {
            match step {
                Step::Pass(pass) => change = change.or(self.pass(pass, module, root, options)?),
                Step::Nested(anchor, inner) => {
                    let mut targets = Vec::new();
                    for &region in module.regions_of(root) {
                        for &block in module.blocks_of(region) {
                            targets.extend(
                                module
                                    .ops_in(block)
                                    .filter(|op| anchor == "any" || module.op_name_str(*op) == anchor),
                            );
                        }
                    }
                    for op in targets {
                        if !module.is_erased(op) {
                            change = change.or(self.steps(inner, module, op, options)?);
                        }
                    }
                }
            }
        }
        Ok(change)
    }

    fn pass(
        &mut self,
        pass: &'static Pass,
        module: &mut Module,
        root: OpId,
        options: &mut RunOptions<'_>,
    ) -> Result<Change, Vec<Diagnostic>> {
        if let Some(observer) = &mut options.observer {
            observer(Event::Before(pass), module, root);
        }
        let start = Instant::now();
        let values: Vec<OptionValue> = pass.options.iter().map(|o| o.kind.default_value()).collect();
        let cx = PassCx::new(pass, &values);
        let change = (pass.run)(&mut Rewriter::new(module, root), &cx);
        let spent = start.elapsed();
        let (_, said, _) = cx.finish();
        if diag::has_errors(&said) {
            return Err(said);
        }
        match self.timings.iter_mut().find(|(name, _)| *name == pass.name) {
            Some((_, total)) => *total += spent,
            None => self.timings.push((pass.name, spent)),
        }
        if let Some(observer) = &mut options.observer {
            observer(Event::After(pass, change), module, root);
        }
        if options.verify_each && change == Change::Changed {
            let mut found = verify(module);
            if diag::has_errors(&found) {
                let why = format!("the module is not well-formed after the pass `{}`", pass.name);
                found.insert(0, Diagnostic::error("E0504", why).help("this is a bug of the pass"));
                return Err(found);
            }
        }
        Ok(change)
    }
}
