//! `bef-exec`: runs the functions of a program.
//!
//! ```text
//! FILE ──map, or compile in memory──▶ Program ──choose functions──▶ call ──▶ print, write, compare results
//! ```
//!
//! Standard output receives the program's output and TFRT's protocol: `--- Running 'f':`, `'f' returned
//! 43,<<error: why>>`. Standard error receives everything else: errors with their locations, failed
//! comparisons, times.
//!
//! An error *result* is data: in a plain run it is printed, and the exit code stays 0. With inputs, or
//! options for results, values are required, and an error result is a failure with exit code 1. A timeout is
//! always a failure.
//!
//! `ports` converts the command line to arguments and results to files, `session` calls, `raised` collects
//! kernel errors, `scopes` prints the scopes of the run, `timing` measures calls, `interrupt` ends a run on
//! Ctrl-C, `profiled` and `fixed` are allocators.

mod calibrate;
mod fixed;
mod interrupt;
mod labels;
mod picture;
mod ports;
mod precision;
mod profiled;
mod raised;
mod ranges;
mod scopes;
mod session;
mod timing;
mod values;

use std::collections::BTreeSet;
use std::fs::File;
use std::num::NonZero;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bef_format::device::{DeviceSet, DeviceTextError};
use befrost::{
    Error, ErrorCode, Function, KernelUse, Library, LoadError, LoadErrorKind, Program, Recorder, Resources,
    Runtime,
};
use befrost_compiler::import::{Feed, ImportOptions};
use befrost_kernel_api::live::live_objects;
use befrost_tensor::mem::{Allocator, Live, Malloc, Pooled};
use clap::{CommandFactory, FromArgMatches, Parser, ValueEnum};

use super::compile::{self, Input};
use super::content;
use super::deadline::{Deadline, Work};
use super::failure::{Failure, conclude, parse, print, tell};
use super::files::{Format, Place, locked, text};
use super::model::OpenModel;
use super::options::{
    FolderArgs, LevelArgs, LibraryArgs, LoadLibrary, ModelArgs, PassArgs, ReadArgs, place, seconds,
};
use super::statistics::{Statistics, StatisticsArgs};
use fixed::Fixed;
pub use interrupt::Interrupts;
use labels::Labels;
use picture::{Fit, Pixels};
use ports::{NamedText, same_tensor};
use profiled::Profiled;
use scopes::TraceScope;
use session::{Files, Session};
use values::{elements, percentile, tolerance};

/// The signature of a SavedModel that is run if none is named.
const SERVING_DEFAULT: &str = "serving_default";

/// The caller's function for mapping a file: an `unsafe` operation that this crate leaves to the program.
pub type Map = fn(&Runtime, File) -> Result<Program, LoadError>;

const EXAMPLES: &str = "\
Examples:
  bef-exec model.bef
      run every function that takes no arguments, in the order of the file
  bef-exec model.bef --functions main --input images=images.npy --expect logits=logits.npy
      run @main on a file and compare its result with another
  bef-exec model.mlir --input f32[2x2]:1,2,3,4 --output y.npy --work-queue s
      compile in memory, give an argument on the command line, write the result
  bef-exec saved_model_folder --signature serving_default --input x=x.npy --freeze
      run a signature of a SavedModel, with its variables as constants
  bef-exec resnet50.onnx --input data=cat.jpg --pixels imagenet --labels synset.txt
      classify a picture
  ir-translate model.mlir -o - | bef-exec - --repeat 1000 --warmup 10
      how long does it take?

Exit codes: 0 all right; 1 the input was refused, the execution failed or a comparison differed; 2 wrong usage.
An error that a function returns is printed as its result; it makes the exit code 1 with --input, --output or --expect, and of a model.
A .bef file is mapped, with a shared lock (flock): it must not change while the program runs. To replace it, rename another one to its name.";

/// Execute a program: BEF, or text or a model that is compiled in memory
#[derive(Parser)]
#[command(name = "bef-exec", version, after_help = EXAMPLES)]
pub(super) struct ExecArgs {
    /// The program; `-` is standard input: BEF, text or a model by its first bytes
    #[arg(value_name = "FILE|-", value_parser = place(), required = false, required_unless_present_any = ["list_devices", "calibrate"], default_value_ifs([("list_devices", "true", "-"), ("calibrate", "true", "-")]))]
    file: Place,

    /// Format of the program; default: by extension (.mlir .bef .pb .pbtxt .meta .onnx), a SavedModel's
    /// folder, else by its first bytes
    #[arg(long, value_name = "FORMAT")]
    from: Option<Format>,

    /// Which functions to run, separated by commas; default: all without arguments, or with inputs or results
    /// @main, or else the only one that has arguments
    #[arg(long, value_name = "F,G", value_delimiter = ',')]
    functions: Vec<String>,

    /// An argument: a .npy file (`-` is standard input), a picture (.jpg, .jpeg, .png), or written out as
    /// DTYPE[SHAPE]:v,v,... Without NAME: the next one
    #[arg(long, value_name = "[NAME=]FILE|DTYPE[SHAPE]:v,v")]
    input: Vec<NamedText>,

    /// The numbers that a model expects for the pixels of a picture
    #[arg(long, value_name = "RULE")]
    pixels: Option<Pixels>,

    /// How a picture of another size becomes one of the argument's size
    #[arg(long, value_name = "RULE", default_value = "crop")]
    fit: Fit,

    /// Print the most probable classes of the results that have one score for each line of this file
    #[arg(long, value_name = "FILE.txt")]
    labels: Option<PathBuf>,

    /// How many classes to print for each row
    #[arg(long, value_name = "N", default_value = "5", requires = "labels")]
    top: usize,

    /// Write a result to a .npy file; `-` is standard output, where nothing is reported then
    #[arg(long, value_name = "[NAME=]FILE.npy")]
    output: Vec<NamedText>,

    /// Compare a result with a .npy file: |got - want| <= atol + rtol*|want|
    #[arg(long, value_name = "[NAME=]FILE.npy")]
    expect: Vec<NamedText>,

    /// Relative tolerance of --expect
    #[arg(long, value_name = "X", default_value = "1e-4", value_parser = tolerance)]
    rtol: f64,

    /// Absolute tolerance of --expect
    #[arg(long, value_name = "X", default_value = "1e-5", value_parser = tolerance)]
    atol: f64,

    /// s: single-threaded and deterministic; mstd[:N[,B]]: N workers and at most B blocking threads [default:
    /// mstd]
    #[arg(long, value_name = "QUEUE")]
    work_queue: Option<String>,

    /// Run ready kernels in another legal order, on one thread: always the same one for the same N
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Call each function N times and report times
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repeat: Option<u32>,

    /// Call it N times before that
    #[arg(long, value_name = "N", default_value_t = 0)]
    warmup: u32,

    /// Cancel the execution this many seconds after the start of the tool: loading and compiling count
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,

    /// Cancel the execution when this many kernels have started, in all calls together
    #[arg(long, value_name = "KERNELS")]
    fuel: Option<u64>,

    /// Refuse memory for tensors, and for the values of calls, beyond this many bytes: an error result
    #[arg(long, value_name = "BYTES")]
    max_memory: Option<usize>,

    #[command(flatten)]
    folders: FolderArgs,

    /// Compare the tensors of a BEF file with their checksum, which loading does not
    #[arg(long)]
    verify_checksums: bool,

    /// Compare the errors that kernels raise with the `// expected-error` comments of the texts that they
    /// come from
    #[arg(long)]
    verify_diagnostics: bool,

    /// Report AsyncValues and tensors that are alive at exit, and fail if there are any; BEFROST_LEAK_CHECK=1
    /// in the environment says the same
    #[arg(long)]
    leak_check: bool,

    /// Where tensors get their memory
    #[arg(long, value_name = "KIND", default_value = "malloc", value_parser = allocator_kind)]
    host_allocator: AllocatorKind,

    /// Print at most this many elements of a tensor, of a larger one the edges of each axis; or all
    #[arg(long, value_name = "N|all", default_value = "1000", value_parser = elements)]
    print_elements: usize,

    /// Print error results with their code
    #[arg(long)]
    print_error_code: bool,

    /// Print as TFRT's bef_executor does: what was chosen first; results of types other than i1, i32, i64,
    /// f32 and f64 as `TYPE value`; TFRT's error codes; no error without a location. On the queue mstd only
    /// its own threads run tasks
    #[arg(long)]
    tfrt_output: bool,

    #[command(flatten)]
    statistics: StatisticsArgs,

    /// Trace the execution
    #[arg(long)]
    enable_tracing: bool,

    /// Scopes to trace: the run and its functions; kernels too at the level debug only
    #[arg(long, value_name = "LEVEL", default_value = "default", value_parser = ["default", "verbose", "debug"])]
    tracing_level: String,

    /// Print what is traced, at the end of the run: a line where a scope begins and one where it ends
    #[arg(long)]
    print_scopes: bool,

    /// Run in f32 too, and report how far the results of --precision are from that
    #[arg(long, conflicts_with = "repeat")]
    compare_precision: bool,

    /// Run in f32, and write the ranges of the inputs of products, for --precision int8 --ranges FILE: with
    /// typical inputs
    #[arg(long, value_name = "FILE", value_parser = place(), conflicts_with_all = ["output", "expect", "repeat", "labels", "compare_precision"])]
    observe_ranges: Option<Place>,

    /// Leave out the values beyond this percentile on either side of a range
    #[arg(long, value_name = "P", default_value = "100", value_parser = percentile, requires = "observe_ranges")]
    percentile: f64,

    /// List the devices that --devices names, with their properties
    #[arg(long)]
    list_devices: bool,

    /// Measure what the devices that --devices names do in a second, for `--devices @set.json`
    #[arg(long, requires = "devices")]
    calibrate: bool,

    /// Where to write what was measured [default: standard output]
    #[arg(short = 'o', value_name = "FILE.json", requires = "calibrate", value_parser = place())]
    measured: Option<Place>,

    /// Run this function first; the others see what it left in the resource context
    #[arg(long, value_name = "NAME")]
    init_function: Option<String>,

    #[command(flatten)]
    libraries: LibraryArgs,
    #[command(flatten)]
    read: ReadArgs,

    #[command(flatten)]
    model: ModelArgs,

    #[command(flatten)]
    level: LevelArgs,

    #[command(flatten)]
    passes: PassArgs,
}

/// The allocators by their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AllocatorKind {
    Malloc,
    Pooled,
    LeakCheck,
    /// Reports at the end what was allocated
    Profiled,
    /// 1024 bytes in all; reports each request
    #[value(name = "fixed-1k")]
    Fixed1k,
}

fn allocator_kind(text: &str) -> Result<AllocatorKind, String> {
    AllocatorKind::from_str(text, false)
        .map_err(|_| "possible values: malloc, pooled, leak-check, profiled, fixed-1k".to_owned())
}

/// The program `bef-exec`.
pub fn main(map: Map, interrupts: Interrupts, load: LoadLibrary) -> ExitCode {
    let matches = match parse(ExecArgs::command()) {
        Ok(matches) => matches,
        Err(code) => return code,
    };
    conclude(match ExecArgs::from_arg_matches(&matches) {
        Ok(mut args) => {
            args.recognize();
            args.libraries.load(load).and_then(|libraries| run(&args, &libraries, map, interrupts))
        }
        Err(error) => Err(Failure::Usage(error.to_string())),
    })
}

fn run(args: &ExecArgs, libraries: &[Library], map: Map, interrupts: Interrupts) -> Result<(), Failure> {
    if args.list_devices {
        return list_devices(args.level.devices.devices.as_deref());
    }
    if args.calibrate {
        let queue = args.work_queue.as_deref().unwrap_or("mstd");
        let set = calibrate::calibrated(args.level.devices.devices.as_deref().unwrap_or_default(), queue)?;
        return args.measured.as_ref().unwrap_or(&Place::Std).write_text(&set);
    }
    if args.names_values() && args.functions.len() > 1 {
        let message = "--input, --output and --expect are for one function, --functions names several";
        return Err(Failure::Usage(message.to_owned()));
    }
    if args.seed.is_some() && args.work_queue.as_deref().is_some_and(|queue| queue != "s") {
        let message = "--seed chooses an order for one thread: it goes with --work-queue s";
        return Err(Failure::Usage(message.to_owned()));
    }
    if args.compare_precision && !args.level.precision.is_lower() {
        return Err(Failure::Usage(
            "'--compare-precision' compares '--precision bf16|int8' with f32".to_owned(),
        ));
    }
    if args.warmup > 0 && args.repeat.is_none() {
        return Err(Failure::Usage("--warmup is for --repeat".to_owned()));
    }
    if args.reads_of_stdin() > 1 {
        return Err(Failure::Usage("standard input can be read only once".to_owned()));
    }
    if let Some(twice) = args
        .output
        .iter()
        .enumerate()
        .find_map(|(i, output)| args.output[..i].iter().find(|before| before.place() == output.place()))
    {
        let message = format!("two results cannot both be written to {}", twice.place().name());
        return Err(Failure::Usage(message));
    }
    if args.writes_arrays_to_stdout() {
        Place::Std.expect_no_terminal()?;
    }
    let base: Arc<dyn Allocator> = match args.host_allocator {
        AllocatorKind::Malloc | AllocatorKind::LeakCheck | AllocatorKind::Profiled => Malloc::shared(),
        AllocatorKind::Pooled => Arc::new(Pooled::new(Malloc::shared())),
        AllocatorKind::Fixed1k => Arc::new(Fixed::new()),
    };
    let counted = Arc::new(Profiled::new(base.clone()));
    let checks = args.leak_check || std::env::var_os("BEFROST_LEAK_CHECK").is_some_and(|value| value == "1");
    let reports = args.host_allocator == AllocatorKind::Profiled;
    let counts = checks || reports || args.host_allocator == AllocatorKind::LeakCheck;
    if args.tfrt_output {
        print(&args.chosen())?;
    }
    let statistics = Statistics::new(&args.statistics, args.level.devices.view_schedule.clone());
    if statistics.recorder.is_some() || args.repeat.is_some() {
        let statistics = statistics.clone();
        interrupt::watch(interrupts, move || _ = statistics.report());
    }
    let scope = args.traces_scopes().then(|| TraceScope::begin("Bef Executor"));
    let allocator = if counts { counted.clone() } else { base };
    let result = execute(args, libraries, map, allocator, statistics.recorder.as_ref());
    drop(scope);
    let result = result.and(scopes::write());
    statistics.report()?;
    if !counts {
        return result;
    }
    // The run is dropped here, but a worker may still hold its last references for a moment.
    let patience = Instant::now() + Duration::from_secs(2);
    loop {
        let live = counted.live();
        let objects = if checks { live_objects() } else { Vec::new() };
        if objects.is_empty() && live == Live::default() {
            return if reports { print(&counted.report()).and(result) } else { result };
        }
        if Instant::now() >= patience {
            for (name, n) in objects {
                tell(&format!("error: leaked {n} objects of type {name}\n"));
            }
            let Live { blocks, bytes } = live;
            let leak = format!("Memory leak detected: {blocks} alive allocations, {bytes} alive bytes\n");
            match blocks {
                0 => {}
                _ if args.tfrt_output => print(&format!("{}{leak}", counted.report()))?,
                _ => tell(&format!("error: {leak}")),
            }
            return Err(Failure::Reported);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Prints the devices of a set, one per line, and the links; without a set those that there are anyway.
fn list_devices(devices: Option<&str>) -> Result<(), Failure> {
    let set: DeviceSet =
        devices.map_or_else(|| Ok(DeviceSet::default()), str::parse).map_err(|error: DeviceTextError| {
            Failure::Usage(format!("the devices '{}' make no sense: {error}", devices.unwrap_or_default()))
        })?;
    let mut text = String::new();
    for (name, config) in set.devices() {
        text.push_str(&format!("{name}{config}\n"));
    }
    set.links().iter().for_each(|link| text.push_str(&format!("{link}\n")));
    print(&text)
}

impl ExecArgs {
    /// True if the command line requires values, not merely a run. Running a model always does.
    fn wants_values(&self) -> bool {
        self.is_model() || self.names_values()
    }

    /// True if the command line has arguments or results.
    fn names_values(&self) -> bool {
        let uses_values = self.compare_precision || self.observe_ranges.is_some();
        uses_values || !(self.input.is_empty() && self.output.is_empty() && self.expect.is_empty())
    }

    /// The allocator and the queue in TFRT's words.
    fn chosen(&self) -> String {
        let allocator = match self.host_allocator {
            AllocatorKind::Malloc => "malloc",
            AllocatorKind::Pooled => "pooled allocator",
            AllocatorKind::LeakCheck => "memory leak check allocator",
            AllocatorKind::Profiled => "profiled allocator based on malloc",
            AllocatorKind::Fixed1k => "fixed size malloc",
        };
        let queue = match self.work_queue.as_deref() {
            Some("s") => "single-threaded".to_owned(),
            queue => {
                let threads = queue.and_then(|queue| queue.split([':', ',']).nth(1)?.parse().ok());
                let threads = threads.or_else(|| std::thread::available_parallelism().ok());
                format!("Multi-threaded C++ work queue ({} threads)", threads.map_or(1, NonZero::get))
            }
        };
        format!("Choosing {allocator}.\nChoosing {queue} work queue.\n")
    }

    /// True if scopes are traced and printed.
    fn traces_scopes(&self) -> bool {
        self.enable_tracing && self.print_scopes
    }

    /// True if standard output receives arrays, thus no other text.
    fn writes_arrays_to_stdout(&self) -> bool {
        self.output.iter().any(|output| output.place() == Place::Std)
    }

    /// Chooses the format of a file without a known extension by its first bytes. A file that cannot be read
    /// is reported when it is loaded.
    fn recognize(&mut self) {
        if let (None, None, Place::File(path)) = (self.from, self.file.format(), &self.file)
            && path.is_file()
        {
            self.from = content::first_bytes(path).ok().map(|bytes| content::format(&bytes));
        }
    }

    /// The format of the program, if the command line says it.
    fn format(&self) -> Option<Format> {
        self.from.or_else(|| self.file.format())
    }

    /// The function to observe.
    fn entry(&self) -> &str {
        let signature = self.model.signature.as_ref().filter(|_| self.model.function == "main");
        self.functions.first().or(signature).unwrap_or(&self.model.function)
    }

    /// True if the program is known to be a model.
    fn is_model(&self) -> bool {
        self.format().is_some_and(Format::is_model)
    }

    /// Reads the files of the arguments and of what is expected.
    fn files(&self, allocator: &Arc<dyn Allocator>) -> Result<Files, Failure> {
        Ok(Files {
            inputs: self.input.iter().map(|input| input.input(allocator)).collect::<Result<_, _>>()?,
            expected: self.expect.iter().map(|expect| expect.array(allocator)).collect::<Result<_, _>>()?,
            labels: self.labels.as_deref().map(Labels::read).transpose()?,
        })
    }

    /// The inputs and results of a model to import: those on the command line, unless given explicitly.
    /// Those of a signature are the signature's.
    fn import_options(&self, model: &OpenModel) -> ImportOptions {
        let mut options = self.model.options();
        if model.has_signatures() && options.feeds.is_empty() && options.fetches.is_empty() {
            return options;
        }
        if options.feeds.is_empty() && self.input.iter().all(|input| input.name().is_some()) {
            options.feeds = self.input.iter().filter_map(NamedText::name).map(Feed::named).collect();
        }
        if options.fetches.is_empty() {
            for name in self.output.iter().chain(&self.expect).filter_map(NamedText::name) {
                let is_gradient = options.gradients.iter().any(|request| request.gives(name));
                if !is_gradient && !options.fetches.iter().any(|known| same_tensor(known, name)) {
                    options.fetches.push(name.to_owned());
                }
            }
        }
        options
    }

    /// The number of options that read standard input.
    fn reads_of_stdin(&self) -> usize {
        let files = self.input.iter().chain(&self.expect).map(NamedText::place);
        std::iter::once(self.file.clone()).chain(files).filter(|place| *place == Place::Std).count()
    }
}

fn execute(
    args: &ExecArgs,
    libraries: &[Library],
    map: Map,
    allocator: Arc<dyn Allocator>,
    recorder: Option<&Recorder>,
) -> Result<(), Failure> {
    let deadline = Deadline::after(args.timeout)?;
    let queue = match (args.seed, &args.work_queue) {
        (Some(seed), _) => format!("seeded:{seed}"),
        (None, Some(queue)) => queue.clone(),
        (None, None) => "mstd".to_owned(),
    };
    let mut registry = befrost::registry();
    for library in libraries {
        library.add_to(&mut registry).map_err(|error| Failure::Refused(error.to_string()))?;
    }
    let has_scopes = args.traces_scopes() && args.tracing_level == "debug";
    if has_scopes {
        registry = scopes::with_scopes(&registry);
    }
    let mut runtime = Runtime::with_kernels(registry)
        .allocator(allocator)
        .work_queue(&queue)
        .idle_callers(args.tfrt_output)
        .device_factory(befrost_sim::SIM);
    if let Some(recorder) = recorder.filter(|_| !has_scopes) {
        runtime = runtime.recorder(recorder);
    }
    if let Some(bytes) = args.max_memory {
        runtime = runtime.max_memory(bytes);
    }
    if args.traces_scopes() {
        scopes::trace_operators();
    }
    if let Some(devices) = &args.level.devices.devices {
        runtime = runtime.devices(devices);
    }
    let runtime = runtime.build();
    let runtime = runtime.map_err(|error| Failure::Usage(error.to_string()))?;
    let allocator = runtime.allocator();
    let files = deadline.limit(Work::Loading, || args.files(allocator))?;
    let mut level = args.level.clone();
    // The picture is that of the run.
    level.devices.view_schedule = None;
    if args.observe_ranges.is_some() {
        level.precision = level.precision.observing(args.entry());
    }
    let loaded = deadline.limit(Work::Loading, || load(args, &level, &deadline, &runtime, map))?;
    let program = match loaded.program {
        Ok(program) => program,
        Err(error) if args.verify_diagnostics && error.kind() == LoadErrorKind::Kernels => {
            return verify_uses(error.kernel_uses());
        }
        Err(error) => return Err(refused(&args.file, &error)),
    };
    let session = Session::new(args, &deadline, allocator);
    let in_f32 = args.compare_precision.then(|| {
        let level = LevelArgs { precision: level.precision.in_f32(), ..level.clone() };
        deadline.limit(Work::Loading, || load(args, &level, &deadline, &runtime, map))
    });
    let in_f32 = match in_f32.transpose()? {
        Some(Loaded { program, init }) => {
            let program = program.map_err(|error| refused(&args.file, &error))?;
            // It has variables of its own, so that both programs start from the same ones.
            let resources = match args.init_function.as_ref().or(init.as_ref()) {
                Some(name) => {
                    let own = args.folders.resources()?;
                    session.initialize_model(&find(&program, name)?, &own)?;
                    Some(own)
                }
                None => None,
            };
            Some((program, resources))
        }
        None => None,
    };
    let mut resources = None;
    if let Some(name) = &args.init_function {
        let shared = args.folders.resources()?;
        session.initialize(&find(&program, name)?, &shared)?;
        resources = Some(shared);
    }
    if let (Some(name), None) = (&loaded.init, &args.init_function) {
        let shared = args.folders.resources()?;
        session.initialize_model(&find(&program, name)?, &shared)?;
        resources = Some(shared);
    }
    let mut result = Ok(());
    let chosen = choose(args, &program, loaded.init.as_deref())?;
    let is_runnable = |function: &Function| args.wants_values() || function.arguments().is_empty();
    let first = chosen.iter().find(|function| !function.is_private()).or(chosen.first()).cloned();
    let nothing_runs = !chosen.iter().any(is_runnable);
    for function in chosen {
        let of_call =
            |shared: &Option<Resources>| shared.clone().map_or_else(|| args.folders.resources(), Ok);
        let in_f32 = match &in_f32 {
            Some((program, shared)) => Some((find(program, function.name())?, of_call(shared)?)),
            None => None,
        };
        match session.run(&function, in_f32.as_ref(), &files, &of_call(&resources)?) {
            Err(Failure::Reported) if !deadline.is_over() && !interrupt::is_set() => {
                result = Err(Failure::Reported);
            }
            other => other?,
        }
        if !deadline.is_over() && !interrupt::is_set() {
            // Also the tasks for whose results the function does not wait.
            runtime.quiesce();
        }
    }
    if let (Some(function), true, false) = (first, nothing_runs, args.tfrt_output) {
        tell(&format!("error: nothing runs: no arguments are given\n{}", session.example(&function)));
        return Err(Failure::UsageReported);
    }
    if args.verify_diagnostics { session.verify(&program).and(result) } else { result }
}

/// Compares the kernel use errors of a program with the comments of its text.
fn verify_uses<'e>(uses: impl Iterator<Item = KernelUse<'e>>) -> Result<(), Failure> {
    let error = |wrong: KernelUse<'e>| {
        let location = wrong.location.into_iter().map(str::to_owned).collect();
        Error::new(ErrorCode::InvalidArgument, wrong.message, location)
    };
    let (with_place, without): (Vec<Error>, Vec<Error>) =
        uses.map(error).partition(|error| error.location().is_some());
    let problems = raised::verify(BTreeSet::new(), &with_place);
    let others = without.iter().map(|error| format!("error: {}", error.message()));
    let problems: Vec<String> = problems.into_iter().chain(others).collect();
    problems.iter().for_each(|problem| tell(&format!("{problem}\n")));
    if problems.is_empty() { Ok(()) } else { Err(Failure::Reported) }
}

/// A program that was loaded, or the reason why it was not.
struct Loaded {
    program: Result<Program, LoadError>,
    /// The function that initializes a model's variables and tables.
    init: Option<String>,
}

/// The program in the file.
fn load(
    args: &ExecArgs,
    level: &LevelArgs,
    deadline: &Deadline,
    runtime: &Runtime,
    map: Map,
) -> Result<Loaded, Failure> {
    let place = &args.file;
    content::expect_readable(place, args.format())?;
    // An input that is no file can be read only once, so its format is found in all of it.
    let is_stream = match place {
        Place::Std => true,
        Place::File(path) => args.format().is_none() && !path.is_file(),
    };
    let bytes = if is_stream { Some(place.read()?) } else { None };
    let found = || match &bytes {
        Some(bytes) => content::expect_ours(place, bytes).map(|()| content::format(bytes)),
        None => Ok(Format::Mlir),
    };
    let format = args.format().map_or_else(found, Ok)?;
    if let Some(option) = args.model.given().filter(|_| !format.is_model()) {
        return Err(Failure::Usage(format!("'{option}' needs a model as input")));
    }
    if format == Format::Bef {
        if args.compare_precision || args.observe_ranges.is_some() || level.precision.is_lower() {
            let message = "'--precision', '--compare-precision' and '--observe-ranges' need text or a model";
            return Err(Failure::Usage(message.to_owned()));
        }
        let loaded = match (place, bytes) {
            (Place::File(path), None) => map(runtime, locked(path)?),
            (_, Some(bytes)) => runtime.load_bytes(&bytes),
            (Place::Std, None) => runtime.load_bytes(&place.read()?),
        };
        let verified = loaded.and_then(|program| match args.verify_checksums {
            true => program.verify_checksums().map(|()| program),
            false => Ok(program),
        });
        return Ok(Loaded { program: verified, init: None });
    }
    let input = match (format.is_model(), bytes) {
        (true, bytes) => {
            let model = OpenModel::open(place, format, bytes, None)?;
            let options = args.import_options(&model);
            Input::Model(model, Box::new(options))
        }
        (false, Some(bytes)) => Input::Text(text(place, bytes)?, &args.read),
        (false, None) => Input::Text(text(place, place.read()?)?, &args.read),
    };
    let compile = || compile::to_bef(&place.name(), input, level, &args.passes);
    let compiled = deadline.limit(Work::Compiling, compile)?;
    Ok(Loaded { program: runtime.load_bytes(&compiled.bef), init: compiled.init })
}

fn refused(place: &Place, error: &LoadError) -> Failure {
    let name = place.name();
    // Without the path, which may be that of standard input.
    let reason = || std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
    match error.kind() {
        LoadErrorKind::Io => return Failure::Refused(format!("cannot read '{name}': {}", reason())),
        LoadErrorKind::Kernels => {
            for KernelUse { location, function, message } in error.kernel_uses() {
                let place = location.unwrap_or(&name);
                let function =
                    if function.is_empty() { String::new() } else { format!(" (in '{function}')") };
                tell(&format!("{place}: error: {message}{function}\n"));
            }
        }
        _ => tell(&format!("{name}: error: {}\n", reason())),
    }
    Failure::Reported
}

fn find(program: &Program, name: &str) -> Result<Function, Failure> {
    program.function(name).map_err(|error| Failure::Refused(error.message().to_owned()))
}

/// The functions to run.
fn choose(args: &ExecArgs, program: &Program, init: Option<&str>) -> Result<Vec<Function>, Failure> {
    if !args.functions.is_empty() {
        return args.functions.iter().map(|name| find(program, name)).collect();
    }
    if let (Some(name), true) = (&args.model.signature, args.model.function == "main") {
        return Ok(vec![find(program, name)?]);
    }
    let is_init = |function: &Function| {
        args.init_function.as_deref().or(init).is_some_and(|init| init == function.name())
    };
    let all = program.functions().filter(|function| !is_init(function));
    if !args.wants_values() {
        return Ok(all.collect());
    }
    let all: Vec<Function> = all.filter(|function| !function.is_native()).collect();
    for name in [&args.model.function[..], SERVING_DEFAULT] {
        if let Some(main) = all.iter().find(|function| function.name() == name) {
            return Ok(vec![main.clone()]);
        }
    }
    let public: Vec<Function> = all.iter().filter(|function| !function.is_private()).cloned().collect();
    let all = if args.is_model() { public } else { all };
    let mut with_arguments = all.iter().filter(|function| !function.arguments().is_empty());
    match (with_arguments.next(), with_arguments.next()) {
        (Some(only), None) => Ok(vec![only.clone()]),
        (None, None) if all.len() == 1 => Ok(all),
        _ => {
            let names: Vec<&str> = all.iter().map(Function::name).collect();
            let message = format!("name the function with --functions; there are: {}", names.join(", "));
            Err(Failure::Refused(message))
        }
    }
}
