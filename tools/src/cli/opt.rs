//! `ir-opt`: passes on text.
//!
//! Every pass is also a flag; the flags run in the given order. They are created from the list of passes at
//! startup.

use std::process::ExitCode;

use befrost_compiler::diag::Source;
use befrost_compiler::dialects::Registry;
use befrost_compiler::pass::Pass;
use befrost_compiler::passes::passes;
use clap::{Arg, ArgAction, ArgMatches, CommandFactory, FromArgMatches, Parser};

use super::compile::Unit;
use super::content;
use super::dialect_help;
use super::failure::{Failure, conclude, parse, print};
use super::files::{Format, Place, text};
use super::options::{LibraryArgs, LoadLibrary, PartArgs, PassArgs, ReadArgs, TextArgs, place};
use super::passes::{self, Passes};

const EXAMPLES: &str = "\
Examples:
  ir-opt in.mlir --cse --canonicalize
      run passes in this order, print the result
  ir-opt in.mlir --pass-pipeline 'builtin.module(func.func(cse,canonicalize))' -o out.mlir
      the same in MLIR's syntax
  ir-opt in.mlir --generic --print-debuginfo
      no passes: read, verify, print
  ir-opt --help-dialects tfrt.add.i32
      what is this operation?

Exit codes: 0 all right; 1 the input was refused; 2 wrong usage.";

/// Run passes on text
#[derive(Parser)]
#[command(name = "ir-opt", version, after_help = EXAMPLES)]
struct OptArgs {
    /// The input; `-` is standard input
    #[arg(value_name = "INPUT", default_value = "-", value_parser = place())]
    input: Place,

    /// Where to write; `-` is standard output
    #[arg(short, value_name = "OUTPUT", default_value = "-", value_parser = place())]
    output: Place,

    /// List the passes
    #[arg(long)]
    list_passes: bool,

    /// Run the pipeline that the input names, as --pass-pipeline-crash-reproducer writes it
    #[arg(long)]
    run_reproducer: bool,

    /// Explain the operations of all dialects, of one, or one operation
    #[arg(long, value_name = "DIALECT[.OP]", num_args = 0..=1, default_missing_value = "")]
    help_dialects: Option<String>,

    #[command(flatten)]
    libraries: LibraryArgs,
    #[command(flatten)]
    passes: PassArgs,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    parts: PartArgs,
    #[command(flatten)]
    text: TextArgs,
}

/// The program `ir-opt`.
pub fn main(load: LoadLibrary) -> ExitCode {
    let flags = passes().iter().map(|pass| {
        // An occurrence is a value, so that clap provides the order of the occurrences of all flags.
        let flag = Arg::new(pass.name)
            .long(pass.name)
            .help(passes::help(pass))
            .help_heading("Passes")
            .action(ArgAction::Append)
            .default_missing_value("");
        if pass.options.is_empty() {
            flag.num_args(0)
        } else {
            flag.num_args(0..=1).require_equals(true).value_name("OPTIONS")
        }
    });
    let matches = match parse(OptArgs::command().args(flags)) {
        Ok(matches) => matches,
        Err(code) => return code,
    };
    conclude(match OptArgs::from_arg_matches(&matches) {
        Ok(args) => run(&args, &flags_in_order(&matches), load),
        Err(error) => Err(Failure::Usage(error.to_string())),
    })
}

/// The passes requested by flags, each as an element of a pipeline.
fn flags_in_order(matches: &ArgMatches) -> Vec<String> {
    let mut given: Vec<(usize, String)> = Vec::new();
    for pass in passes() {
        let at = matches.indices_of(pass.name).into_iter().flatten();
        let options = matches.get_many::<String>(pass.name).into_iter().flatten();
        given.extend(at.zip(options).map(|(at, options)| (at, element(pass, options))));
    }
    given.sort_unstable();
    given.into_iter().map(|(_, element)| element).collect()
}

fn element(pass: &Pass, options: &str) -> String {
    if options.is_empty() { pass.name.to_owned() } else { format!("{}{{{options}}}", pass.name) }
}

fn run(args: &OptArgs, flags: &[String], load: LoadLibrary) -> Result<(), Failure> {
    args.libraries.load(load)?;
    if let Some(what) = &args.help_dialects {
        return print(&dialect_help::help(Registry::standard(), what)?);
    }
    if args.list_passes {
        return print(&passes::list());
    }
    if args.run_reproducer && (args.passes.pass_pipeline.is_some() || !flags.is_empty()) {
        return Err(Failure::Usage("'--run-reproducer' takes the pipeline from the input".to_owned()));
    }
    let pipeline = match (&args.passes.pass_pipeline, flags) {
        (Some(_), [flag, ..]) => {
            let message = format!("'--pass-pipeline' and '--{flag}' exclude each other");
            return Err(Failure::Usage(message));
        }
        (Some(pipeline), []) => pipeline.clone(),
        (None, flags) => flags.join(","),
    };
    let mut passes = Passes::new(&pipeline, &args.passes)?;
    content::expect_readable(&args.input, Some(Format::Mlir))?;
    let text = text(&args.input, args.input.read()?)?;
    let name = args.input.name();
    let parts = args.parts.parts(&name, text);
    let options = args.text.print_options();
    let mut units = Vec::new();
    let mut result = Ok(());
    for part in parts {
        let source = Source::new(&name, &part);
        drop(part);
        let mut unit = Unit::parse(source, &args.read, &mut passes.clock);
        if args.run_reproducer {
            match unit.take_reproducer() {
                Some(reproducer) => passes.reproduce(&reproducer)?,
                None => return Err(Failure::Refused(format!("{name} names no pipeline to run"))),
            }
        }
        unit.run(&mut passes);
        match unit.conclude(args.parts.verify_diagnostics) {
            Ok(()) => units.push(unit),
            error => result = error,
        }
    }
    if result.is_ok() {
        result = Unit::write(&units, &options, &args.parts.between(), &args.output, &mut passes.clock);
    }
    passes.report();
    // The process ends soon: destroying large programs would waste time.
    std::mem::forget(units);
    result
}
