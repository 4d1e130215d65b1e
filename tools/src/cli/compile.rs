//! From text or BEF to a module, through passes, to text or BEF again, with everything that is said on the way.
//!
//! ```text
//! text ──parse──▶ ┐                              ┌──▶ print
//! BEF ──raise───▶ ┴─verify─▶ Unit ──passes──▶ ───┴──▶ emit
//! ```
//!
//! A [`Unit`] goes on as far as it can; what was said is shown, or compared with what was expected, once at the end.

use std::fmt::Write;
use std::time::Duration;

use bef_format::validate::verify_payload;
use bef_format::{AlignedBytes, Image};
use befrost_compiler::diag::{Diagnostic, Source, has_errors};
use befrost_compiler::emit::{EmitOptions, emit_parts};
use befrost_compiler::ir::Module;
use befrost_compiler::pass::{Change, Event, PassManager, RunOptions};
use befrost_compiler::print::{PrintOptions, print, print_op};
use befrost_compiler::raise::raise;
use befrost_compiler::syntax::{ParseOptions, ParseResult, parse};
use befrost_compiler::verify::verify;

use super::failure::{Failure, tell};
use super::options::{DumpArgs, LevelArgs, PassArgs, ReadArgs};
use super::{expect, report};

/// One input on its way.
pub(super) struct Unit {
    source: Source,
    said: Vec<Diagnostic>,
    /// None after an error.
    module: Option<Module>,
}

impl Unit {
    /// Reads and verifies text.
    pub(super) fn parse(name: &str, text: &str, args: &ReadArgs) -> Unit {
        let ReadArgs { allow_unregistered_dialect } = *args;
        let options =
            ParseOptions { allow_unregistered: allow_unregistered_dialect, ..ParseOptions::default() };
        let ParseResult { module, diagnostics, source } = parse(name, text, &options);
        Unit { source, said: diagnostics, module }.verified()
    }

    /// Reads and verifies BEF, its tensors only if asked to.
    pub(super) fn raise(name: &str, bytes: &[u8], verify_checksums: bool) -> Result<Unit, Failure> {
        let bytes = AlignedBytes::copy_of(bytes);
        let image = validated(name, &bytes, verify_checksums)?;
        let (module, said) = match raise(&image) {
            Ok(module) => (Some(module), Vec::new()),
            Err(said) => (None, said),
        };
        Ok(Unit { source: Source::new(name, ""), said, module }.verified())
    }

    fn verified(mut self) -> Unit {
        if let Some(module) = &self.module {
            let said = verify(module);
            self.say(said);
        }
        self
    }

    fn say(&mut self, said: Vec<Diagnostic>) {
        if has_errors(&said) {
            self.module = None;
        }
        self.said.extend(said);
    }

    /// Runs passes.
    pub(super) fn run(&mut self, passes: &mut Passes) {
        if let Some(module) = &mut self.module
            && let Err(said) = passes.run(module)
        {
            self.say(said);
        }
    }

    /// The bytes of a BEF file, in two parts.
    pub(super) fn emit(&mut self, options: &EmitOptions) -> Option<(Vec<u8>, Vec<u8>)> {
        match emit_parts(self.module.as_ref()?, options) {
            Ok(parts) => Some(parts),
            Err(said) => {
                self.say(said);
                None
            }
        }
    }

    /// As text.
    pub(super) fn print(&self, options: &PrintOptions) -> Option<String> {
        Some(print(self.module.as_ref()?, options))
    }

    /// Shows what was said, or compares it with the comments of the text; fails if there were errors, or other ones.
    pub(super) fn conclude(&self, verify_diagnostics: bool) -> Result<(), Failure> {
        if verify_diagnostics {
            let problems = expect::verify(&self.source, &self.said);
            problems.iter().for_each(|problem| tell(&format!("{problem}\n")));
            return if problems.is_empty() { Ok(()) } else { Err(Failure::Told) };
        }
        report::show(&self.said, &self.source);
        if has_errors(&self.said) { Err(Failure::Told) } else { Ok(()) }
    }
}

/// A BEF file that is valid, its tensors as well if that is asked for.
pub(super) fn validated<'a>(
    name: &str,
    bytes: &'a AlignedBytes,
    verify_checksums: bool,
) -> Result<Image<'a>, Failure> {
    let checked = |image: &Image<'_>| if verify_checksums { verify_payload(image) } else { Ok(()) };
    let image = bef_format::validate(bytes).and_then(|image| checked(&image).map(|()| image));
    image.map_err(|error| {
        tell(&format!("{name}: error: {error}\n"));
        Failure::Told
    })
}

/// Compiles text in memory.
pub(super) fn to_bef(
    name: &str,
    text: &str,
    read: &ReadArgs,
    level: &LevelArgs,
    passes: &PassArgs,
) -> Result<Vec<u8>, Failure> {
    let mut passes = pipeline(level, passes)?;
    let mut unit = Unit::parse(name, text, read);
    unit.run(&mut passes);
    let emitted = unit.emit(&EmitOptions::default());
    passes.report();
    unit.conclude(false)?;
    let (mut bytes, payload) = emitted.ok_or(Failure::Told)?;
    bytes.extend_from_slice(&payload);
    Ok(bytes)
}

/// A pipeline, and how it is watched.
pub(super) struct Passes {
    manager: PassManager,
    args: PassArgs,
}

/// The passes that the command line asks for. A kernel graph is compiled as written at every level.
pub(super) fn pipeline(level: &LevelArgs, args: &PassArgs) -> Result<Passes, Failure> {
    let LevelArgs { level: _ } = level;
    let manager = match &args.pass_pipeline {
        Some(pipeline) => PassManager::parse(pipeline).map_err(|error| Failure::Usage(error.message))?,
        None => PassManager::of(&[]),
    };
    Ok(Passes::new(manager, args))
}

impl Passes {
    /// Watches the passes as the command line asks for.
    pub(super) fn new(manager: PassManager, args: &PassArgs) -> Passes {
        Passes { manager, args: args.clone() }
    }

    fn run(&mut self, module: &mut Module) -> Result<(), Vec<Diagnostic>> {
        let PassArgs { pass_pipeline: _, verify_each, timing: _, dump } = &self.args;
        let DumpArgs { print_ir_before_all, print_ir_after_all, print_ir_after_change } = *dump;
        let mut observe = |event: Event<'_>, module: &Module, op| {
            let (when, pass) = match event {
                Event::Before(pass) if print_ir_before_all => ("Before", pass),
                Event::After(pass, change)
                    if print_ir_after_all || (print_ir_after_change && change == Change::Changed) =>
                {
                    ("After", pass)
                }
                Event::Before(_) | Event::After(..) => return,
            };
            let text = print_op(module, op, &PrintOptions::default());
            tell(&format!("// -----// IR Dump {when} {} //----- //\n{text}\n\n", pass.name));
        };
        let verify_each = *verify_each || cfg!(debug_assertions);
        let mut options = RunOptions { verify_each, observer: Some(&mut observe) };
        self.manager.run_with(module, &mut options).map(|_| ())
    }

    /// With `--timing`: how long each pass took, on standard error.
    pub(super) fn report(&self) {
        if !self.args.timing {
            return;
        }
        let times = self.manager.timings();
        let total: Duration = times.iter().map(|(_, time)| *time).sum();
        let mut text = "Time in passes\n".to_owned();
        for (name, time) in times.iter().copied().chain([("total", total)]) {
            _ = writeln!(text, "  {:>12.6} s  {name}", time.as_secs_f64());
        }
        tell(&text);
    }
}
