//! Compilation for the tools: text or BEF to a module, passes, then text or BEF, with all diagnostics.
//!
//! ```text
//! text ──parse──▶ ┐                              ┌──▶ print
//! BEF ──raise───▶ ┴─verify─▶ Unit ──passes──▶ ───┴──▶ emit
//! ```
//!
//! A [`Unit`] proceeds as far as possible. Its diagnostics are shown, or compared with the expected ones,
//! once at the end.

use bef_format::validate::verify_payload;
use bef_format::write::Parts;
use bef_format::{AlignedBytes, FormatError, Image};
use befrost_compiler::diag::{Diagnostic, Source, has_errors};
use befrost_compiler::emit::{EmitOptions, emit_parts, tfrt_limits};
use befrost_compiler::export::WriteModel;
use befrost_compiler::import::ImportOptions;
use befrost_compiler::ir::Module;
use befrost_compiler::pass::Reproducer;
use befrost_compiler::print::{PrintOptions, print_to};
use befrost_compiler::raise::{RaiseOptions, raise_with};
use befrost_compiler::syntax::{ParseOptions, ParseResult, parse_source};
use befrost_compiler::train::{self, TrainOptions};
use befrost_compiler::verify::{Verified, verify};
use befrost_tensor::HostTensor;

use super::expect::{self, Verify};
use super::failure::{Failure, tell};
use super::files::Place;
use super::model::OpenModel;
use super::options::{LevelArgs, PassArgs, ReadArgs};
use super::passes::{Clock, Passes, pipeline, timed};
use super::report;

/// One input during compilation.
pub(super) struct Unit {
    source: Source,
    said: Vec<Diagnostic>,
    /// `None` after an error.
    module: Option<Verified>,
    /// True if it was raised from a file without the names of its attributes and function references.
    pub(super) lacks_names: bool,
    /// The function of a model that initializes its variables and tables.
    pub(super) init: Option<String>,
}

impl Unit {
    /// Reads and verifies text.
    pub(super) fn parse(source: Source, args: &ReadArgs, clock: &mut Clock) -> Unit {
        let ReadArgs { allow_unregistered_dialect } = *args;
        let options =
            ParseOptions { allow_unregistered: allow_unregistered_dialect, ..ParseOptions::default() };
        let ParseResult { module, diagnostics, source } =
            timed(&mut clock.parser, || parse_source(source, &options));
        Unit::verified(source, diagnostics, module, clock)
    }

    /// Reads and verifies BEF; its tensors only on request.
    pub(super) fn raise(
        name: &str,
        bytes: &AlignedBytes,
        verify_checksums: bool,
        options: &RaiseOptions,
        clock: &mut Clock,
    ) -> Result<Unit, Failure> {
        let image = validated(name, bytes, verify_checksums)?;
        let (module, said) = match timed(&mut clock.parser, || raise_with(&image, options)) {
            Ok(module) => (Some(module), Vec::new()),
            Err(said) => (None, said),
        };
        let unit = Unit::verified(Source::new(name, ""), said, module, clock);
        Ok(Unit { lacks_names: image.lacks_aux_names(), ..unit })
    }

    /// Imports a model.
    pub(super) fn import(name: &str, model: OpenModel, options: &ImportOptions, clock: &mut Clock) -> Unit {
        let (module, init, said) = match timed(&mut clock.parser, || model.import(options)) {
            Ok(imported) => (Some(imported.module), imported.init, Vec::new()),
            Err(said) => (None, None, said),
        };
        Unit { init, ..Unit::verified(Source::new(name, ""), said, module, clock) }
    }

    /// Makes a training program of an imported model.
    pub(super) fn train(&mut self, options: &TrainOptions, clock: &mut Clock) {
        let Some(module) = self.module.take() else { return };
        match timed(&mut clock.parser, || train::build(module, options)) {
            Ok(module) => self.module = Some(module),
            Err(said) => self.say(said),
        }
    }

    /// Makes a model without variables of an imported model, which was trained.
    pub(super) fn freeze(&mut self, options: &TrainOptions, values: &[(String, HostTensor)]) {
        let Some(module) = self.module.take() else { return };
        match train::frozen(module, options, values) {
            Ok(module) => self.module = Some(module),
            Err(said) => self.say(said),
        }
    }

    /// The input as read, with its module if that is well-formed.
    fn verified(
        source: Source,
        mut said: Vec<Diagnostic>,
        module: Option<Module>,
        clock: &mut Clock,
    ) -> Unit {
        let module = module.and_then(|module| {
            timed(&mut clock.verifier, || verify(module)).map_err(|found| said.extend(found)).ok()
        });
        Unit { source, said, module, lacks_names: false, init: None }
    }

    fn say(&mut self, said: Vec<Diagnostic>) {
        if has_errors(&said) {
            self.module = None;
        }
        self.said.extend(said);
    }

    /// The module, unless there was an error.
    pub(super) fn module(&self) -> Option<&Module> {
        self.module.as_deref()
    }

    /// Runs passes.
    pub(super) fn run(&mut self, passes: &mut Passes) {
        if let Some(module) = self.module.take() {
            let (module, said) = passes.run(module);
            self.module = module;
            self.say(said);
        }
    }

    /// Removes and returns the reproducer's run options.
    pub(super) fn take_reproducer(&mut self) -> Option<Reproducer> {
        Reproducer::take(self.module.as_mut()?.resources_mut()?)
    }

    /// Refuses features that TFRT's files do not support.
    pub(super) fn limit(&mut self) {
        if let Some(module) = &self.module {
            let said = tfrt_limits(module);
            self.say(said);
        }
    }

    /// The bytes of a BEF file.
    pub(super) fn emit(&mut self, options: &EmitOptions, clock: &mut Clock) -> Option<Parts> {
        let module = self.module.as_ref()?;
        match timed(&mut clock.output, || emit_parts(module, options)) {
            Ok(parts) => Some(parts),
            Err(said) => {
                self.say(said);
                None
            }
        }
    }

    /// A function of the op graph as a model that `write` writes.
    pub(super) fn export(&mut self, write: WriteModel, function: &str, clock: &mut Clock) -> Option<Vec<u8>> {
        let module = self.module.as_ref()?;
        match timed(&mut clock.output, || write(module, function)) {
            Ok(bytes) => Some(bytes),
            Err(said) => {
                self.say(said);
                None
            }
        }
    }

    /// Writes several units as one text, with separators.
    pub(super) fn write(
        units: &[Unit],
        options: &PrintOptions,
        between: &str,
        output: &Place,
        clock: &mut Clock,
    ) -> Result<(), Failure> {
        timed(&mut clock.output, || {
            output.write_pieces(|sink| {
                for (i, module) in units.iter().filter_map(|unit| unit.module.as_ref()).enumerate() {
                    if i > 0 {
                        sink(between);
                    }
                    print_to(module, options, sink);
                }
            })
        })
    }

    /// Shows the diagnostics, or compares them with the comments of the text. Fails for errors, or for
    /// unexpected diagnostics.
    pub(super) fn conclude(&self, verify_diagnostics: Option<Verify>) -> Result<(), Failure> {
        if let Some(level) = verify_diagnostics {
            let problems = expect::verify(&self.source, &self.said, level);
            problems.iter().for_each(|problem| tell(&format!("{problem}\n")));
            return if problems.is_empty() { Ok(()) } else { Err(Failure::Reported) };
        }
        report::show(&self.said, &self.source);
        if has_errors(&self.said) { Err(Failure::Reported) } else { Ok(()) }
    }
}

/// A valid BEF file; its tensors are checked on request.
pub(super) fn validated<'a>(
    name: &str,
    bytes: &'a AlignedBytes,
    verify_checksums: bool,
) -> Result<Image<'a>, Failure> {
    checked(bytes, verify_checksums).map_err(|error| {
        tell(&format!("{name}: error: {error}\n"));
        Failure::Reported
    })
}

/// [`validated`], without messages to the user.
pub(super) fn checked(bytes: &AlignedBytes, verify_checksums: bool) -> Result<Image<'_>, FormatError> {
    let image = bef_format::validate(bytes)?;
    if verify_checksums {
        verify_payload(&image)?;
    }
    Ok(image)
}

/// An input that is compiled in memory.
pub(super) enum Input<'a> {
    /// Text.
    Text(String, &'a ReadArgs),
    /// A model.
    Model(OpenModel, Box<ImportOptions>),
}

/// A program that was compiled in memory.
pub(super) struct Compiled {
    /// The BEF file.
    pub(super) bef: Vec<u8>,
    /// The function that initializes its variables and tables.
    pub(super) init: Option<String>,
}

/// Compiles in memory.
pub(super) fn to_bef(
    name: &str,
    input: Input<'_>,
    level: &LevelArgs,
    passes: &PassArgs,
) -> Result<Compiled, Failure> {
    let mut passes = pipeline(level, passes)?;
    let mut unit = match input {
        Input::Text(text, read) => Unit::parse(Source::new(name, &text), read, &mut passes.clock),
        Input::Model(model, options) => Unit::import(name, model, &options, &mut passes.clock),
    };
    unit.run(&mut passes);
    let emitted = unit.emit(&EmitOptions::default(), &mut passes.clock);
    passes.report();
    unit.conclude(None)?;
    Ok(Compiled { bef: emitted.ok_or(Failure::Reported)?.to_vec(), init: unit.init })
}
