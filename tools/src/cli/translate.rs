//! `ir-translate`: translation between text, models and BEF.

use std::process::ExitCode;

use bef_format::AlignedBytes;
use bef_format::write::Parts;
use befrost_compiler::diag::{Diagnostic, Source};
use befrost_compiler::emit::{EmitOptions, Strip};
use befrost_compiler::export;
use befrost_compiler::raise::RaiseOptions;
use clap::{CommandFactory, FromArgMatches, Parser, ValueEnum};

use super::compile::{self, Unit};
use super::content;
use super::failure::{Failure, conclude, parse, tell};
pub use super::files::MapFile;
use super::files::{Format, Place, text};
use super::model::OpenModel;
use super::options::{
    LevelArgs, LibraryArgs, LoadLibrary, ModelArgs, PartArgs, PartitionBy, PassArgs, ReadArgs, TextArgs,
    place,
};
use super::passes::{Passes, pipeline, timed};
use super::training::TrainArgs;
use super::{divided, inspect, kernels, report};

const EXAMPLES: &str = "\
Examples:
  ir-translate model.mlir -o model.bef
      text to BEF
  ir-translate model.bef
      BEF to text, on standard output
  ir-translate model.bef --to dump
      what is in the file: sections, offsets, sizes, and each function's registers and kernels; of a broken file what can be followed
  ir-translate --mlir-to-bef --disable-optional-sections model.mlir -o small.bef
      without locations and names
  ir-translate bad.mlir --mlir-to-bef --split-input-file --verify-diagnostics
      are the errors those that the comments in the file expect?

  ir-translate model.pb --train loss --optimizer adam:lr=1e-3 --metric accuracy -o training.bef
      a training program: functions init, step, evaluate, predict (compiler/TRAINING.md)

  ir-translate model.pb --devices CPU:2 --partition device -o parts/
      a .bef for each device, and parts.json, which says what each takes and gives
  ir-translate model.onnx -o model.pb
      as a GraphDef, to check elsewhere what was optimized here (-O0: as it was imported)
  ir-translate model.pb -o model.onnx
      as an ONNX model, for other runtimes
  ir-translate saved_model_folder --inspect
      signatures, variables, operations and sizes of a model
  ir-translate model.onnx --print-kernels
      the kernels that the program uses, for a small program of one's own
  ir-translate saved_model_folder --signature serving_default --freeze -o model.bef
      one signature of a SavedModel, with its variables as constants

A model is mapped, with a shared lock (flock): it must not change meanwhile.

Exit codes: 0 all right; 1 the input was refused; 2 wrong usage.";

/// Translate between text and BEF
#[derive(Parser)]
#[command(name = "ir-translate", version, after_help = EXAMPLES)]
struct TranslateArgs {
    /// The input; `-` is standard input
    #[arg(value_name = "INPUT", default_value = "-", value_parser = place())]
    input: Place,

    /// Where to write; `-` is standard output
    #[arg(short, value_name = "OUTPUT", default_value = "-", value_parser = place())]
    output: Place,

    /// Format of the input; default: by extension (.mlir .bef .pb .pbtxt .meta .onnx) or content, a
    /// SavedModel's folder, standard input: mlir
    #[arg(long, value_name = "FORMAT")]
    from: Option<Format>,

    /// Format of the output; default: mlir if the input is BEF, else bef, or by OUTPUT's extension
    #[arg(long, value_name = "FORMAT")]
    to: Option<Target>,

    /// Short for --from mlir --to bef
    #[arg(long, conflicts_with_all = ["from", "to", "bef_to_mlir"])]
    mlir_to_bef: bool,

    /// Short for --from bef --to mlir
    #[arg(long, conflicts_with_all = ["from", "to"])]
    bef_to_mlir: bool,

    /// BEF without locations, attribute names and SSA names: smaller, and the round trip loses them
    #[arg(long)]
    disable_optional_sections: bool,

    /// Refuse what TFRT's files cannot hold though ours can; the default of `tfrt_translate`
    #[arg(long)]
    tfrt_limits: bool,

    /// Compare the tensors of a BEF file with their checksum, which reading a file does not
    #[arg(long)]
    verify_checksums: bool,

    /// Show which kernels the program uses, and which Cargo features of the crate befrost include them; short
    /// for --to kernels
    #[arg(long, conflicts_with_all = ["to", "mlir_to_bef", "bef_to_mlir", "inspect"])]
    print_kernels: bool,

    /// Show what a model has: signatures with inputs and outputs, variables, operations, sizes
    #[arg(long, conflicts_with_all = ["to", "mlir_to_bef", "bef_to_mlir"])]
    inspect: bool,

    /// (models) Make a training program: functions init, step, evaluate and predict, with variables that
    /// live between calls; LOSS is the tensor that is minimized. --fetch names what is predicted
    #[arg(long, value_name = "LOSS", conflicts_with_all = ["feed", "gradient", "signature", "freeze", "function"])]
    train: Option<String>,

    /// (models) The number of updates of a run, for schedules that end
    #[arg(long, value_name = "N", requires = "train")]
    train_steps: Option<u64>,

    #[command(flatten)]
    libraries: LibraryArgs,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    training: TrainArgs,
    #[command(flatten)]
    level: LevelArgs,
    #[command(flatten)]
    passes: PassArgs,
    #[command(flatten)]
    read: ReadArgs,
    #[command(flatten)]
    parts: PartArgs,
    #[command(flatten)]
    text: TextArgs,
}

/// The output formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Target {
    Mlir,
    Bef,
    /// All of a BEF file as text that people read
    Dump,
    /// The kernels of a BEF file, with the Cargo features that include them
    Kernels,
    /// A TensorFlow graph
    #[value(name = "graphdef")]
    GraphDef,
    /// An ONNX model
    Onnx,
}

impl Target {
    /// For models: the function that writes one.
    fn writer(self) -> Option<export::WriteModel> {
        match self {
            Target::GraphDef => Some(export::graphdef),
            Target::Onnx => Some(export::onnx),
            Target::Mlir | Target::Bef | Target::Dump | Target::Kernels => None,
        }
    }
}

/// The program `ir-translate`.
pub fn main(map: MapFile, load: LoadLibrary) -> ExitCode {
    let matches = match parse(TranslateArgs::command()) {
        Ok(matches) => matches,
        Err(code) => return code,
    };
    conclude(match TranslateArgs::from_arg_matches(&matches) {
        Ok(args) => args.libraries.load(load).and_then(|_| run(&args, map)),
        Err(error) => Err(Failure::Usage(error.to_string())),
    })
}

impl TranslateArgs {
    fn from(&self) -> Result<Format, Failure> {
        match (self.mlir_to_bef, self.bef_to_mlir, self.from, &self.input) {
            (true, ..) => Ok(Format::Mlir),
            (_, true, ..) => Ok(Format::Bef),
            (_, _, Some(format), _) => Ok(format),
            (_, _, None, Place::Std) => Ok(Format::Mlir),
            (_, _, None, Place::File(path)) => {
                if let Some(format) = self.input.format() {
                    return Ok(format);
                }
                content::expect_readable(&self.input, None)?;
                let found = content::first_bytes(path).map(|bytes| content::format(&bytes));
                // Any bytes may be text.
                found.ok().filter(|&format| format != Format::Mlir).ok_or_else(|| {
                    let name = self.input.name();
                    Failure::Usage(format!("cannot tell the format of '{name}' by its name: use --from"))
                })
            }
        }
    }

    fn to(&self, from: Format) -> Result<Target, Failure> {
        if self.print_kernels {
            return Ok(Target::Kernels);
        }
        if self.mlir_to_bef {
            return Ok(Target::Bef);
        }
        if self.bef_to_mlir {
            return Ok(Target::Mlir);
        }
        match (self.to, self.output.format()) {
            (Some(target), _) => Ok(target),
            (None, Some(Format::Mlir)) => Ok(Target::Mlir),
            (None, Some(Format::Bef)) => Ok(Target::Bef),
            (None, Some(Format::GraphDef)) if !self.output.name().ends_with("txt") => Ok(Target::GraphDef),
            (None, Some(Format::Onnx)) => Ok(Target::Onnx),
            (None, Some(Format::GraphDef | Format::MetaGraph | Format::SavedModel)) => {
                let formats = "mlir, bef, dump, kernels, graphdef (a binary .pb) or onnx";
                Err(Failure::Usage(format!("such models are read, not written: --to is {formats}")))
            }
            (None, None) if from == Format::Bef => Ok(Target::Mlir),
            (None, None) => Ok(Target::Bef),
        }
    }

    /// The required parts of a BEF file. Text has no locations and no names unless requested, but
    /// instrumented passes may print them.
    fn raise_options(&self, to: Target) -> RaiseOptions {
        let only_text =
            to == Target::Mlir && self.passes.pass_pipeline.is_none() && !self.text.print_debuginfo;
        let names = !only_text || self.text.keep_names;
        RaiseOptions { names, locations: !only_text, ..RaiseOptions::default() }
    }

    /// Refuses options without effect.
    fn check(&self, from: Format, to: Target) -> Result<(), Failure> {
        let TextArgs { generic, keep_names, print_debuginfo, print_local_scope, .. } = self.text;
        let text_only = [
            ("--generic", generic),
            ("--keep-names", keep_names),
            ("--print-debuginfo", print_debuginfo),
            ("--print-local-scope", print_local_scope),
            ("--elide-large-constants", self.text.elide_larger_than().is_some()),
        ];
        let useless = match to {
            Target::Bef | Target::Dump | Target::Kernels | Target::GraphDef | Target::Onnx => {
                text_only.iter().find(|(_, given)| *given).map(|(name, _)| (*name, "MLIR as output"))
            }
            Target::Mlir => {
                self.disable_optional_sections.then_some(("--disable-optional-sections", "BEF as output"))
            }
        };
        let parts = [
            ("--split-input-file", self.parts.splits()),
            ("--verify-diagnostics", self.parts.verify_diagnostics.is_some()),
        ];
        let not_text = parts.iter().find(|(_, given)| *given && from != Format::Mlir);
        let useless = useless.or(not_text.map(|(name, _)| (*name, "text as input")));
        let useless = useless
            .or((self.verify_checksums && from != Format::Bef)
                .then_some(("--verify-checksums", "BEF as input")));
        if let (None, Some(option)) = (&self.train, self.training.given()) {
            return Err(Failure::Usage(format!("'{option}' needs --train")));
        }
        let train = self.train.as_ref().map(|_| "--train");
        let no_model =
            self.model.given().or(train).filter(|_| !from.is_model()).map(|name| (name, "a model as input"));
        match useless.or(no_model) {
            Some((option, need)) => Err(Failure::Usage(format!("'{option}' needs {need}"))),
            None => Ok(()),
        }
    }
}

impl TranslateArgs {
    /// The sections to leave out.
    fn strip(&self) -> Strip {
        // TFRT's optional sections contain names only.
        match (self.disable_optional_sections, self.tfrt_limits) {
            (false, _) => Strip::Nothing,
            (true, true) => Strip::Names,
            (true, false) => Strip::Debug,
        }
    }

    /// True if the output is a folder: it ends with a separator, or there is one.
    fn splits_output(&self) -> bool {
        match &self.output {
            Place::File(path) => path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/"),
            Place::Std => false,
        }
    }

    /// The program to divide: a model, or one text.
    fn open_unit(&self, from: Format, map: MapFile, passes: &mut Passes) -> Result<Unit, Failure> {
        let name = self.input.name();
        if from.is_model() {
            let model = OpenModel::open(&self.input, from, None, Some(map))?;
            return Ok(Unit::import(&name, model, &self.model.options(), &mut passes.clock));
        }
        if from == Format::Bef || self.parts.splits() {
            let why = "a program is divided from a model or from one text: BEF and several texts are not";
            return Err(Failure::Usage(why.to_owned()));
        }
        let text = text(&self.input, self.input.read()?)?;
        Ok(Unit::parse(Source::new(&name, &text), &self.read, &mut passes.clock))
    }
}

/// TFRT's warning for a file without its optional sections.
const NO_NAMES: &str = "Missing AttributeTypes, AttributeNames or RegisterTypes sections.";

fn run(args: &TranslateArgs, map: MapFile) -> Result<(), Failure> {
    let from = args.from()?;
    if args.inspect {
        return inspect(args, from, map);
    }
    let to = args.to(from)?;
    args.check(from, to)?;
    if let (Place::File(folder), Target::Bef) = (&args.output, to)
        && args.level.devices.partition != PartitionBy::None
        && args.splits_output()
    {
        content::expect_readable(&args.input, Some(from))?;
        let emit = EmitOptions { strip: args.strip(), stores_all_streams: args.tfrt_limits };
        let mut open = |passes: &mut Passes| args.open_unit(from, map, passes);
        return divided::write(folder, &args.level, &mut open, &|level| pipeline(level, &args.passes), &emit);
    }
    let mut passes = match (to, &args.passes.pass_pipeline) {
        (Target::GraphDef, None) => Passes::new(export::pipeline(args.level.level), &args.passes)?,
        (Target::Onnx, None) => Passes::new(export::onnx_pipeline(args.level.level), &args.passes)?,
        // A file has kernels, whatever their dialect.
        (_, None) if from == Format::Bef => Passes::new("", &args.passes)?,
        _ => pipeline(&args.level, &args.passes)?,
    };
    content::expect_readable(&args.input, Some(from))?;
    let verify_diagnostics = args.parts.verify_diagnostics;
    if to == Target::Bef && verify_diagnostics.is_none() {
        args.output.expect_no_terminal()?;
    }
    let name = args.input.name();
    let mut units = if from == Format::Bef {
        let bytes = args.input.read_aligned()?;
        if let Target::Dump | Target::Kernels = to {
            return show(args, to, &name, &bytes);
        }
        let unit =
            Unit::raise(&name, &bytes, args.verify_checksums, &args.raise_options(to), &mut passes.clock)?;
        if args.tfrt_limits && unit.lacks_names {
            tell(&format!("{name}:0:0: warning: {NO_NAMES}\n"));
        }
        vec![unit]
    } else if from.is_model() {
        let model = OpenModel::open(&args.input, from, None, Some(map))?;
        let mut options = args.model.options();
        let trained = match &args.train {
            None => None,
            Some(loss) => {
                options.training =
                    Some(Box::new(args.training.parts(loss, &args.model.fetch, args.model.init.clone())));
                let refused = |why: String| {
                    report::show(&[Diagnostic::error("E0909", why)], &Source::new(&name, ""));
                    Failure::Reported
                };
                Some(args.training.options(args.train_steps).map_err(refused)?)
            }
        };
        let mut unit = Unit::import(&name, model, &options, &mut passes.clock);
        if let Some(options) = &trained {
            unit.train(options, &mut passes.clock);
        }
        vec![unit]
    } else {
        let text = text(&args.input, args.input.read()?)?;
        let parts = args.parts.parts(&name, text);
        let sources: Vec<Source> = parts.into_iter().map(|part| Source::new(&name, &part)).collect();
        sources.into_iter().map(|source| Unit::parse(source, &args.read, &mut passes.clock)).collect()
    };
    let (mut files, mut graphs) = (Vec::new(), Vec::new());
    let mut result = Ok(());
    for unit in &mut units {
        unit.run(&mut passes);
        if let Some(write) = to.writer() {
            graphs.extend(unit.export(write, &args.model.function, &mut passes.clock));
        } else if to != Target::Mlir {
            if args.tfrt_limits {
                unit.limit();
            }
            let options = EmitOptions { strip: args.strip(), stores_all_streams: args.tfrt_limits };
            files.extend(unit.emit(&options, &mut passes.clock));
        }
        if let Err(error) = unit.conclude(verify_diagnostics) {
            result = Err(error);
        }
    }
    if result.is_ok() && to == Target::Mlir {
        let options = args.text.print_options();
        result = Unit::write(&units, &options, &args.parts.between(), &args.output, &mut passes.clock);
    }
    if let (Ok(()), Some(_)) = (&result, to.writer()) {
        result = match &graphs[..] {
            [graph] => args.output.write_bytes(graph),
            graphs => Err(Failure::Refused(format!("{} parts cannot become one model", graphs.len()))),
        };
    } else if result.is_ok() && to != Target::Mlir {
        result = timed(&mut passes.clock.output, || write(args, to, &files, units.len()));
    }
    passes.report();
    // The process ends soon: destroying large programs would waste time.
    std::mem::forget((units, files));
    result
}

/// Describes a model.
fn inspect(args: &TranslateArgs, from: Format, map: MapFile) -> Result<(), Failure> {
    if !from.is_model() {
        return Err(Failure::Usage("'--inspect' needs a model as input".to_owned()));
    }
    content::expect_readable(&args.input, Some(from))?;
    let name = args.input.name();
    match OpenModel::open(&args.input, from, None, Some(map))?.summary() {
        Ok(summary) => args.output.write_text(&inspect::text(&name, &summary)),
        Err(said) => {
            report::show(&said, &Source::new(&name, ""));
            Err(Failure::Reported)
        }
    }
}

/// Prints the contents or the kernels of a BEF file. A broken file is refused; a dump has its readable parts.
fn show(args: &TranslateArgs, to: Target, name: &str, bytes: &AlignedBytes) -> Result<(), Failure> {
    match compile::checked(bytes, args.verify_checksums) {
        Ok(image) if to == Target::Kernels => args.output.write_text(&kernels::text(&image)),
        Ok(image) => args.output.write_text(&bef_format::dump::dump(&image)),
        Err(error) => {
            if to == Target::Dump {
                args.output.write_text(&bef_format::dump::container(bytes))?;
            }
            tell(&format!("{name}: error: {error}\n"));
            Err(Failure::Reported)
        }
    }
}

fn write(args: &TranslateArgs, to: Target, files: &[Parts], n_units: usize) -> Result<(), Failure> {
    match files {
        [] => Ok(()),
        [file] if n_units == 1 && to != Target::Bef => {
            show(args, to, &args.input.name(), &AlignedBytes::copy_of(&file.to_vec()))
        }
        [file] if n_units == 1 => args.output.write_bef(file),
        // Several parts are checked, not kept.
        _ if args.parts.verify_diagnostics.is_some() => Ok(()),
        files => Err(Failure::Refused(format!("{} parts cannot become one BEF file", files.len()))),
    }
}
