//! Pipelines on the command line: the passes to run, and their instrumentation.
//!
//! `ir-opt`, `ir-translate` and `bef-exec` share the options ([`PassArgs`]); this module implements them.
//! Dumps, times, statistics and the output of passes go to standard error, in the layouts of `mlir-opt`.

use std::fmt::Write;
use std::time::{Duration, Instant};

use befrost_compiler::diag::{Diagnostic, Source};
use befrost_compiler::dialects::tf_executor::FUNCTIONALIZE;
use befrost_compiler::graph::with_precision;
use befrost_compiler::ir::{Module, OpId};
use befrost_compiler::pass::{
    Change, Event, OptionKind, Pass, PassManager, Reproducer, Row, RunOptions, timing_report,
};
use befrost_compiler::passes::{default_pipeline, passes};
use befrost_compiler::print::{PrintOptions, print_op};
use befrost_compiler::verify::{Verified, verify};

use super::failure::{Failure, tell};
use super::files::Place;
use super::options::{DumpArgs, LevelArgs, PassArgs};
use super::report;

/// The pass whose result `--print-memory-plan` shows, and `--max-bytes` bounds.
const PLAN_MEMORY: &str = "tf-plan-memory";
/// The passes that draw a schedule, and a program.
const SIMULATE: &str = "tf-simulate";
const VIEW: &str = "tf-view";

/// A pipeline with instrumentation.
pub(super) struct Passes {
    manager: PassManager,
    /// The level of op graphs, unless the passes are listed.
    level: Option<LevelArgs>,
    /// The options of the pass that lowers the precision of products.
    precision: Option<String>,
    args: PassArgs,
    pub(super) clock: Clock,
}

/// Times outside of passes.
pub(super) struct Clock {
    start: Instant,
    pub(super) parser: Duration,
    pub(super) verifier: Duration,
    pub(super) output: Duration,
}

/// The passes requested on the command line. A kernel graph is compiled as written at every level.
pub(super) fn pipeline(level: &LevelArgs, args: &PassArgs) -> Result<Passes, Failure> {
    let precision = level.precision.options()?;
    if precision.is_some() && (level.level < 2 || args.pass_pipeline.is_some()) {
        let message = "'--precision' and '--observe-ranges' need -O2, which packs weights";
        return Err(Failure::Usage(message.to_owned()));
    }
    let level = Some(level.clone()).filter(|_| args.pass_pipeline.is_none());
    Ok(Passes { level, precision, ..Passes::new(args.pass_pipeline.as_deref().unwrap_or(""), args)? })
}

/// A pipeline from its text; reports errors in it.
fn manager(text: &str) -> Result<PassManager, Failure> {
    PassManager::parse(text).map_err(|error| {
        report::show(&[*error], &Source::new("pipeline", text));
        Failure::UsageReported
    })
}

impl Passes {
    /// Instruments the passes as requested on the command line.
    pub(super) fn new(pipeline: &str, args: &PassArgs) -> Result<Passes, Failure> {
        let names = args.dump.print_ir_before.iter().chain(&args.dump.print_ir_after);
        if let Some(name) = names.into_iter().find(|name| passes().iter().all(|p| p.name != **name)) {
            return Err(Failure::Usage(format!("there is no pass '{name}'; --list-passes lists them")));
        }
        let zero = Duration::ZERO;
        let clock = Clock { start: Instant::now(), parser: zero, verifier: zero, output: zero };
        Ok(Passes { manager: manager(pipeline)?, level: None, precision: None, args: args.clone(), clock })
    }

    /// Replaces the pipeline by a reproducer's.
    pub(super) fn reproduce(&mut self, reproducer: &Reproducer) -> Result<(), Failure> {
        self.manager = manager(&reproducer.pipeline)?;
        self.level = None;
        self.args.verify_each |= reproducer.verify_each;
        Ok(())
    }

    /// Runs the passes. Returns no module after an error, and the diagnostics.
    pub(super) fn run(&mut self, mut module: Verified) -> (Option<Verified>, Vec<Diagnostic>) {
        let profile = self.level.as_ref().and_then(|level| level.devices.cost_profile.as_ref());
        if let Some(profile) = profile {
            let mut timed = module.into_module();
            match profile.apply(&mut timed) {
                (0, _) => tell("warning: the profile has no time of any operator of this program\n"),
                (_, unknown) => {
                    if let [first, ..] = unknown[..] {
                        let n = unknown.len();
                        tell(&format!(
                            "warning: {n} places of the profile are no operators of this program, as '{}'\n",
                            first.escape_debug()
                        ));
                    }
                }
            }
            match verify(timed) {
                Ok(verified) => module = verified,
                Err(said) => return (None, said),
            }
        }
        let of_level = |level: LevelArgs| {
            let pipeline = default_pipeline(&module, level.level, &level.devices.options())?;
            Some((level, pipeline))
        };
        let places = self.level.as_ref().map(|level| &level.devices);
        let places = places.map_or([None, None], |of| [of.view_schedule.clone(), of.view.clone()]);
        let mut pictures: Vec<(&str, Place, String)> = [SIMULATE, VIEW]
            .into_iter()
            .zip(places)
            .filter_map(|(pass, place)| Some((pass, place?, String::new())))
            .collect();
        if let Some((level, mut pipeline)) = self.level.clone().and_then(of_level) {
            if level.no_functionalize {
                pipeline = pipeline.replace(&format!("{FUNCTIONALIZE},"), "");
            }
            if level.devices.stops_divided
                && let Some((before, _)) = pipeline.split_once(",tf-executor-to-kernels")
            {
                pipeline = format!("{before})");
            }
            if let Some(options) = &self.precision {
                pipeline = match with_precision(&pipeline, options) {
                    Ok(lower) => lower,
                    Err(error) => return (None, vec![*error]),
                };
            }
            if let Some(bytes) = level.max_bytes {
                if !pipeline.contains(PLAN_MEMORY) {
                    let why = "--max-bytes needs a graph of operators at -O2, which plans memory";
                    return (None, vec![Diagnostic::error("E0908", why)]);
                }
                let remat = format!("tf-rematerialize{{max-bytes={bytes}}},{PLAN_MEMORY}");
                pipeline = pipeline.replace(PLAN_MEMORY, &remat);
            }
            for (wanted, pass) in
                [(level.print_memory_plan, "print-memory-plan"), (level.print_work, "print-work")]
            {
                if wanted {
                    pipeline = pipeline.replace(PLAN_MEMORY, &format!("{pass},{PLAN_MEMORY}"));
                }
            }
            match PassManager::parse(&pipeline) {
                Ok(manager) => self.manager = manager,
                Err(error) => return (None, vec![*error]),
            }
        }
        let PassArgs { verify_each, dump, pass_pipeline_crash_reproducer: file, .. } = &self.args;
        let mut draws = None;
        let mut observe = |event: Event<'_>, module: &Module, op: OpId| {
            if let Event::Before(pass) = event {
                draws = pictures.iter().position(|(drawing, ..)| *drawing == pass.name);
            }
            match event {
                Event::Text(text) => match draws {
                    Some(i) => pictures[i].2.push_str(text),
                    None => tell(text),
                },
                Event::Before(pass) if dump.before(pass) => show("Before", pass, "", module, op, dump),
                Event::After(pass, change) if dump.after(pass, change) => {
                    show("After", pass, "", module, op, dump);
                }
                Event::Failed(pass) if dump.failed(pass) => show("After", pass, " Failed", module, op, dump),
                Event::Before(_) | Event::After(..) | Event::Failed(_) => {}
            }
        };
        let verify_each = *verify_each || cfg!(debug_assertions);
        let mut options = RunOptions { verify_each, reproduce: file.is_some(), observer: Some(&mut observe) };
        let (mut module, mut said) = match self.manager.run_with(module, &mut options) {
            Ok((module, _)) => (Some(module), self.manager.take_diagnostics()),
            Err(said) => (None, said),
        };
        for (_, picture, drawn) in pictures {
            if picture.write_text(&drawn).is_err() {
                tell(&format!("error: the picture cannot be written to {}\n", picture.name()));
                module = None;
            }
        }
        if let (Some(file), Some(text)) = (file, self.manager.take_reproducer()) {
            match (file.write_text(&text), said.iter_mut().rfind(|d| d.is_error())) {
                (Ok(()), Some(error)) => {
                    let note = format!("`ir-opt --run-reproducer {}` shows it again", file.name());
                    *error = error.clone().note(None, note);
                }
                (Err(_), Some(error)) => {
                    let note = format!("the reproducer cannot be written to {}", file.name());
                    *error = error.clone().note(None, note);
                }
                (_, None) => {}
            }
        }
        (module, said)
    }

    /// Prints the requested reports on standard error: statistics, and times.
    pub(super) fn report(&self) {
        let Passes { manager, args, clock, level: _, precision: _ } = self;
        if args.pass_statistics {
            tell(&manager.statistics());
        }
        if args.timing {
            let total = clock.start.elapsed();
            let mut rows = vec![Row::new("Parser", clock.parser)];
            rows.push(Row::new("Verifier", clock.verifier + manager.verifying()));
            rows.extend(manager.timing());
            rows.push(Row::new("Output", clock.output));
            tell(&timing_report(&rows, total));
        }
    }
}

/// Runs `work`, and adds its duration to `sum`.
pub(super) fn timed<T>(sum: &mut Duration, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    *sum += start.elapsed();
    result
}

impl DumpArgs {
    fn before(&self, pass: &Pass) -> bool {
        self.print_ir_before_all || self.print_ir_before.iter().any(|n| n == pass.name)
    }

    fn after(&self, pass: &Pass, change: Change) -> bool {
        let named = !self.print_ir_after.is_empty();
        let wanted = if named {
            self.print_ir_after.iter().any(|n| n == pass.name)
        } else {
            self.print_ir_after_all || self.print_ir_after_change
        };
        let skipped =
            self.print_ir_after_failure || (self.print_ir_after_change && change == Change::Unchanged);
        wanted && !skipped
    }

    fn failed(&self, pass: &Pass) -> bool {
        self.print_ir_after_failure
            || self.print_ir_after_all
            || self.print_ir_after.iter().any(|n| n == pass.name)
    }
}

/// Shows the IR.
fn show(when: &str, pass: &Pass, how: &str, module: &Module, op: OpId, dump: &DumpArgs) {
    let mut header = format!("// -----// IR Dump {when} {}{how} ({})", pass.title, pass.name);
    let scope = if dump.print_ir_module_scope { module.top() } else { op };
    if scope != op {
        _ = write!(header, " ('{}' operation", module.op_name_str(op));
        if let Some(name) = module.symbol_name(op) {
            _ = write!(header, ": @{}", module.cx.str(name));
        }
        header.push(')');
    }
    let text = print_op(module, scope, &PrintOptions::default());
    tell(&format!("{header} //----- //\n{text}\n\n"));
}

/// The help text of a pass.
pub(super) fn help(pass: &Pass) -> String {
    let mut text = pass.summary.to_owned();
    for line in option_lines(pass) {
        _ = write!(text, "\n  {line}");
    }
    text
}

/// All passes with their options.
pub(super) fn list() -> String {
    let mut text = String::new();
    for pass in passes() {
        _ = writeln!(text, "{:<28}{}", pass.name, pass.summary);
        for line in option_lines(pass) {
            _ = writeln!(text, "    {line}");
        }
    }
    text
}

fn option_lines(pass: &Pass) -> impl Iterator<Item = String> {
    pass.options.iter().map(|option| {
        let (value, default) = match option.kind {
            OptionKind::Flag(on) => ("true|false".to_owned(), on.to_string()),
            OptionKind::Number(n) => ("N".to_owned(), n.to_string()),
            OptionKind::Text(text) => ("TEXT".to_owned(), format!("'{text}'")),
            OptionKind::Word(word, words) => (words.join("|"), word.to_owned()),
        };
        format!("{}={value}: {}; default {default}", option.name, option.summary)
    })
}
