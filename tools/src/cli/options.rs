//! Options that several tools have, each defined once.

use std::path::{Path, PathBuf};
use std::time::Duration;

use befrost::{Library, LibraryError, Resources, allow_folder};
use befrost_compiler::device::{CostProfile, DeviceOptions, Partition};
use befrost_compiler::import::{Feed, GradientRequest, ImportOptions};
use befrost_compiler::print::PrintOptions;
use befrost_tensor::DType;
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, ValueEnum};

use super::expect::Verify;
use super::failure::Failure;
use super::files::Place;
use super::parts::{MARKER, split};
use super::precision::PrecisionArgs;
use super::{cost_profile, device_set};

/// Parses a file name, or `-`.
pub(super) fn place() -> impl TypedValueParser<Value = Place> {
    OsStringValueParser::new().map(Place::from)
}

/// Loads a kernel library that the user names.
pub(super) type LoadLibrary = fn(&Path) -> Result<Library, LibraryError>;

/// Options for kernel libraries.
#[derive(Args, Clone, Debug)]
pub(super) struct LibraryArgs {
    /// Load a kernel library: its operations are known like others. Its code runs in this process. Can be
    /// given several times
    #[arg(long = "library", value_name = "PATH")]
    libraries: Vec<PathBuf>,
}

impl LibraryArgs {
    /// The libraries.
    pub(super) fn load(&self, load: LoadLibrary) -> Result<Vec<Library>, Failure> {
        let loaded = self.libraries.iter().map(|path| load(path));
        loaded.map(|library| library.map_err(|error| Failure::Refused(error.to_string()))).collect()
    }
}

/// Options for operators on files.
#[derive(Args, Clone, Debug)]
pub(super) struct FolderArgs {
    /// Let operators such as SaveV2 and RestoreV2 read and write files in this folder; default: in none. Can
    /// be given several times
    #[arg(long, value_name = "DIR")]
    allow_dir: Vec<PathBuf>,
}

impl FolderArgs {
    /// Resources without variables, for programs that may touch the folders.
    pub(super) fn resources(&self) -> Result<Resources, Failure> {
        let resources = Resources::default();
        for folder in &self.allow_dir {
            let refused = |error| Failure::Usage(format!("--allow-dir {}: {error}", folder.display()));
            allow_folder(&resources, folder).map_err(refused)?;
        }
        Ok(resources)
    }
}

/// Options for reading text.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct ReadArgs {
    /// Accept operations that no dialect defines, in generic form
    #[arg(long)]
    pub(super) allow_unregistered_dialect: bool,
}

/// Options for several inputs in one file, and for diagnostics.
#[derive(Args, Clone, Debug)]
pub(super) struct PartArgs {
    /// The input is separated by lines `// -----` or the given marker, each part on its own
    #[arg(long, value_name = "MARKER", num_args = 0..=1, require_equals = true, default_missing_value = MARKER)]
    split_input_file: Option<String>,

    /// The separator of the parts of the output
    #[arg(long, value_name = "MARKER", default_value = MARKER)]
    pub(super) output_split_marker: String,

    /// Check `// expected-error {{text}}` comments instead of failing; also warning, remark, note; @+N, @-N,
    /// @above, @below. LEVEL is all, the default, or only-expected, to which it does not matter what else is
    /// said
    #[arg(long, value_name = "LEVEL", hide_possible_values = true, num_args = 0..=1, require_equals = true, default_missing_value = "all")]
    pub(super) verify_diagnostics: Option<Verify>,
}

impl PartArgs {
    /// True if the input may have several parts.
    pub(super) fn splits(&self) -> bool {
        self.split_input_file.is_some()
    }

    /// The parts of a text.
    pub(super) fn parts(&self, name: &str, text: String) -> Vec<String> {
        match self.split_input_file.as_deref() {
            None => vec![text],
            Some(marker) => split(name, &text, if marker.is_empty() { MARKER } else { marker }),
        }
    }

    /// The separator of their outputs.
    pub(super) fn between(&self) -> String {
        format!("{}\n", self.output_split_marker)
    }
}

/// Options for writing text.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct TextArgs {
    /// Print operations in generic form
    #[arg(long)]
    pub(super) generic: bool,

    /// Print the names that values have in the source; default: renumbered
    #[arg(long)]
    pub(super) keep_names: bool,

    /// Print locations
    #[arg(long)]
    pub(super) print_debuginfo: bool,

    /// Print everything where it is used: no aliases for attributes, types and locations, no resources
    #[arg(long)]
    pub(super) print_local_scope: bool,

    /// Print constants of more than N elements as `dense_resource<__elided__>`; default N: 16. Such text is
    /// for reading, it cannot be compiled
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "16")]
    pub(super) elide_large_constants: Option<usize>,

    /// `--elide-large-constants` as mlir-opt spells it
    #[arg(long, value_name = "N", hide = true, conflicts_with = "elide_large_constants")]
    pub(super) mlir_elide_elementsattrs_if_larger: Option<usize>,
}

impl TextArgs {
    pub(super) fn print_options(self) -> PrintOptions {
        let TextArgs { generic, keep_names, print_debuginfo, print_local_scope, .. } = self;
        PrintOptions {
            generic,
            keep_names,
            locations: print_debuginfo,
            local_scope: print_local_scope,
            elide_larger_than: self.elide_larger_than(),
        }
    }

    /// The largest number of elements of a constant that is printed, if there is a limit.
    pub(super) fn elide_larger_than(self) -> Option<usize> {
        self.elide_large_constants.or(self.mlir_elide_elementsattrs_if_larger)
    }
}

/// Options for importing a model.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct ModelArgs {
    /// (models) A graph input by its name in the model (x or x:0), with its element type and shape if they
    /// matter: x=f32[?x64]; default: the placeholders that the results need
    #[arg(long, value_name = "NAME[=DTYPE[SHAPE]]", value_parser = feed)]
    pub(super) feed: Vec<Feed>,

    /// (models) A graph output by its name in the model; default: the nodes that no other node consumes
    #[arg(long, value_name = "NAME")]
    pub(super) fetch: Vec<String>,

    /// (models) More outputs: the gradients of tensors by others, called gradients/X. A request is
    /// 'ys=A,B xs=C,D [dys=..] [stop=..] [order=N] [unconnected=zero] [name=gradients]'; without ys, of the
    /// outputs; xs=trainable: by all variables. An x without a gradient is left out, with a remark
    #[arg(long, value_name = "REQUEST", value_parser = gradient)]
    pub(super) gradient: Vec<GradientRequest>,

    /// (models) A node to run for its effects, after the requested outputs
    #[arg(long, value_name = "NODE")]
    pub(super) target: Vec<String>,

    /// (models) The node that initializes variables: it runs before anything else; with --train default: init
    #[arg(long, value_name = "NODE")]
    pub(super) init: Option<String>,

    /// (models) Name of the entry function
    #[arg(long, value_name = "NAME", default_value = "main")]
    pub(super) function: String,

    /// (models) The signature to take, as a function of its name; default: all of them
    #[arg(long, value_name = "NAME", conflicts_with_all = ["feed", "fetch"])]
    pub(super) signature: Option<String>,

    /// (models) The tags of the graph in a SavedModel; default: the only graph, or the one tagged serve
    #[arg(long = "tag", value_name = "TAG", value_delimiter = ',')]
    pub(super) tags: Vec<String>,

    /// (models) Make constants of the variables that nothing changes: faster
    #[arg(long)]
    pub(super) freeze: bool,
}

impl ModelArgs {
    /// The importer's options.
    pub(super) fn options(&self) -> ImportOptions {
        let ModelArgs { feed, fetch, gradient, target, init, function, signature, tags, freeze } =
            self.clone();
        ImportOptions {
            feeds: feed,
            fetches: fetch,
            targets: target,
            init,
            function,
            gradients: gradient,
            signature,
            tags,
            freeze,
            ..ImportOptions::default()
        }
    }

    /// The model option that was given, for an input that is not a model.
    pub(super) fn given(&self) -> Option<&'static str> {
        match self {
            ModelArgs { feed, .. } if !feed.is_empty() => Some("--feed"),
            ModelArgs { fetch, .. } if !fetch.is_empty() => Some("--fetch"),
            ModelArgs { target, .. } if !target.is_empty() => Some("--target"),
            ModelArgs { init: Some(_), .. } => Some("--init"),
            ModelArgs { gradient, .. } if !gradient.is_empty() => Some("--gradient"),
            ModelArgs { function, .. } if function != "main" => Some("--function"),
            ModelArgs { signature: Some(_), .. } => Some("--signature"),
            ModelArgs { tags, .. } if !tags.is_empty() => Some("--tag"),
            ModelArgs { freeze: true, .. } => Some("--freeze"),
            _ => None,
        }
    }
}

/// `ys=loss xs=w,b order=2`.
fn gradient(text: &str) -> Result<GradientRequest, String> {
    let mut request = GradientRequest::default();
    let mut has_xs = false;
    for word in text.split_whitespace() {
        let (key, value) =
            word.split_once('=').ok_or_else(|| format!("expected NAME=VALUE, found '{word}'"))?;
        let names = || value.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        match key {
            "ys" => request.ys = names(),
            "xs" => {
                request.xs = names();
                request.variables = request.xs.iter().any(|x| x == "trainable");
                request.xs.retain(|x| x != "trainable");
                has_xs = !request.xs.is_empty() || request.variables;
            }
            "dys" => request.dys = names(),
            "stop" => request.stops = names(),
            "order" => {
                let order = value.parse().ok().filter(|&n| n > 0);
                request.order = order.ok_or_else(|| format!("'{value}' is no order of derivatives"))?;
            }
            "unconnected" => {
                request.zero = match value {
                    "zero" => true,
                    "none" => false,
                    _ => return Err(format!("unconnected is zero or none, not '{value}'")),
                }
            }
            "name" if !value.is_empty() => request.name = value.to_owned(),
            _ => {
                return Err(format!(
                    "there is no '{key}': a request has ys, xs, dys, stop, order, unconnected and name"
                ));
            }
        }
    }
    if has_xs { Ok(request) } else { Err("expected xs=NAME,..".to_owned()) }
}

/// `x`, `x=f32`, `x=f32[?x64]`.
fn feed(text: &str) -> Result<Feed, String> {
    let (name, ty) = text.split_once('=').map_or((text, None), |(name, ty)| (name, Some(ty)));
    if name.is_empty() {
        return Err("expected the name of a graph input".to_owned());
    }
    let Some(ty) = ty else { return Ok(Feed::named(name)) };
    let (element, shape) = match ty.split_once('[') {
        None => (ty, None),
        Some((element, rest)) => (element, Some(rest.strip_suffix(']').ok_or("expected a `]` at the end")?)),
    };
    let size = |size: &str| match size {
        "?" => Ok(-1),
        _ => size.parse().ok().filter(|&size: &i64| size >= 0).ok_or_else(|| format!("'{size}' is no size")),
    };
    let sizes = |text: &str| text.split('x').filter(|_| !text.is_empty()).map(size).collect();
    let shape: Option<Vec<i64>> = shape.map(sizes).transpose()?;
    let element = if element.is_empty() { None } else { Some(element_type(element)?) };
    Ok(Feed { name: name.to_owned(), element, shape })
}

/// The element type of a graph input as MLIR prints it.
fn element_type(text: &str) -> Result<String, String> {
    if text == "string" {
        return Ok("!tf_type.string".to_owned());
    }
    if text.starts_with("!tf_type.") || text.starts_with("complex<") {
        return Ok(text.to_owned());
    }
    match text.parse::<DType>() {
        Ok(DType::Complex64) => Ok("complex<f32>".to_owned()),
        Ok(DType::Complex128) => Ok("complex<f64>".to_owned()),
        Ok(dtype) => Ok(dtype.name().to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// The devices of an op graph.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct DeviceArgs {
    /// The devices that a model may use: KIND:COUNT[{properties}],... as CPU:2,SIM:1, or @FILE.json; default:
    /// one CPU, on which all runs whatever the model says
    #[arg(long, value_name = "DEVICES", value_parser = device_set::text_of)]
    pub(super) devices: Option<String>,

    /// How to choose a device for an operator that has a choice: the first one, as TensorFlow does; where it
    /// would end first; or by a simulation of the whole. Default: list, at -O0 first
    #[arg(long, value_name = "POLICY", requires = "devices", value_parser = ["first", "greedy", "list"])]
    pub(super) place: Option<String>,

    /// How many placements `list` simulates at most, fewer for more than 4000 operators; default 1000
    #[arg(long, value_name = "N", requires = "devices")]
    pub(super) place_budget: Option<u32>,

    /// Measured times of operators, which count instead of estimates: a file that `bef-exec --profile=json`
    /// has written
    #[arg(long, value_name = "FILE.json", requires = "devices", value_parser = cost_profile::profile_of)]
    pub(super) cost_profile: Option<CostProfile>,

    /// How many iterations a loop is assumed to have; default 10
    #[arg(long, value_name = "N", requires = "devices")]
    pub(super) assume_trips: Option<u32>,

    /// Where no device matches what an operator names, drop the index, then the kind
    #[arg(long, requires = "devices")]
    pub(super) soft_placement: bool,

    /// Print the device of each operator, and why
    #[arg(long, requires = "devices")]
    pub(super) print_placement: bool,

    /// Print the values that pass from one device to another
    #[arg(long, requires = "devices")]
    pub(super) print_transfers: bool,

    /// Write a picture of the schedule: a row for each device and each link. It is that of the run, or the
    /// simulated one if nothing runs
    #[arg(long, value_name = "FILE.svg", requires = "devices", value_parser = place())]
    pub(super) view_schedule: Option<Place>,

    /// Write a picture of the placed program: operators in the colours of their devices, parts as frames
    #[arg(long, value_name = "FILE.svg", requires = "devices", value_parser = place())]
    pub(super) view: Option<Place>,

    /// Divide the program: one function for each device, or for each worker, with sends and recvs between
    #[arg(long, value_name = "BY", default_value = "none", requires = "devices")]
    pub(super) partition: PartitionBy,

    /// How f32 crosses between tasks: rounded to this type, to nearest even. Default: as it is
    #[arg(long, value_name = "TYPE", requires = "partition", value_parser = ["bf16", "f16"])]
    pub(super) wire: Option<String>,

    /// How many bytes a part may receive before they are read: further recvs wait. Default: no limit
    #[arg(long, value_name = "BYTES", requires = "partition", value_parser = clap::value_parser!(u64).range(1..=1 << 62))]
    pub(super) recv_memory: Option<u64>,

    /// Stop when the program is divided: to see its parts.
    #[arg(skip)]
    pub(super) stops_divided: bool,

    /// Keep this part only.
    #[arg(skip)]
    pub(super) only_part: Option<String>,
}

/// The parts of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum PartitionBy {
    /// One function has operators of all devices
    #[default]
    None,
    Worker,
    Device,
}

impl DeviceArgs {
    /// The compiler's options.
    pub(super) fn options(&self) -> DeviceOptions {
        DeviceOptions {
            devices: self.devices.clone().unwrap_or_default(),
            policy: self.place.clone().unwrap_or_default(),
            budget: self.place_budget,
            trips: self.assume_trips,
            soft: self.soft_placement,
            wire: self.wire.clone().unwrap_or_default(),
            recv_memory: self.recv_memory,
            only: self.only_part.clone(),
            print: self.print_placement,
            print_transfers: self.print_transfers,
            draw: self.view_schedule.is_some(),
            view: self.view.is_some(),
            partition: match self.partition {
                PartitionBy::None => Partition::None,
                PartitionBy::Worker => Partition::Worker,
                PartitionBy::Device => Partition::Device,
            },
        }
    }
}

/// Optimization.
#[derive(Args, Clone, Debug)]
pub(super) struct LevelArgs {
    /// Optimization of op graphs: 0, 1 or 2. Kernel graphs are translated as written at every level
    #[arg(short = 'O', value_name = "LEVEL", default_value_t = 2, value_parser = clap::value_parser!(u8).range(0..=2))]
    pub(super) level: u8,

    /// Print where -O2 has placed the results of each function of an op graph in memory, and how much that is
    #[arg(long)]
    pub(super) print_memory_plan: bool,

    /// Print the arithmetic of the operators of each function of an op graph at -O2, and the bytes that they
    /// move
    #[arg(long)]
    pub(super) print_work: bool,

    /// (-O2) Compute results again where they are read late, so that those of each function, of known sizes,
    /// take at most N bytes at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) max_bytes: Option<u64>,

    /// Keep TensorFlow 1's dataflow control flow as it is, instead of making conditionals and loops of it
    #[arg(long)]
    pub(super) no_functionalize: bool,

    #[command(flatten)]
    pub(super) precision: PrecisionArgs,

    #[command(flatten)]
    pub(super) devices: DeviceArgs,
}

/// The passes to run, and their instrumentation.
#[derive(Args, Clone, Debug)]
pub(super) struct PassArgs {
    /// The passes to run, in MLIR's syntax, such as builtin.module(func.func(cse,canonicalize))
    #[arg(long, value_name = "PIPELINE")]
    pub(super) pass_pipeline: Option<String>,

    /// Verify after each pass
    #[arg(long)]
    pub(super) verify_each: bool,

    /// Report the time that each pass takes
    #[arg(long)]
    pub(super) timing: bool,

    /// Report what the passes counted
    #[arg(long)]
    pub(super) pass_statistics: bool,

    /// Where to write, if a pass fails or panics, the IR before it and the rest of the pipeline
    #[arg(long, value_name = "FILE", value_parser = place())]
    pub(super) pass_pipeline_crash_reproducer: Option<Place>,

    #[command(flatten)]
    pub(super) dump: DumpArgs,
}

/// The conditions for printing the IR on standard error.
#[derive(Args, Clone, Debug)]
pub(super) struct DumpArgs {
    /// Show the IR before these passes
    #[arg(long, value_name = "PASS", value_delimiter = ',')]
    pub(super) print_ir_before: Vec<String>,

    /// Show the IR after these passes
    #[arg(long, value_name = "PASS", value_delimiter = ',')]
    pub(super) print_ir_after: Vec<String>,

    /// Show the IR before each pass
    #[arg(long)]
    pub(super) print_ir_before_all: bool,

    /// Show the IR after each pass
    #[arg(long)]
    pub(super) print_ir_after_all: bool,

    /// Show the IR after each pass that changed it
    #[arg(long)]
    pub(super) print_ir_after_change: bool,

    /// Show the IR after a pass that failed only
    #[arg(long)]
    pub(super) print_ir_after_failure: bool,

    /// Show the whole module, whatever the pass runs on
    #[arg(long)]
    pub(super) print_ir_module_scope: bool,
}

/// A duration in seconds.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let duration = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    duration.ok_or_else(|| "expected a number of seconds".to_owned())
}
