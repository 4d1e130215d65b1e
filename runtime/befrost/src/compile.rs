//! Compilation in the process: text and models to BEF.

use std::fmt;
use std::fs::File;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use befrost_compiler::device::DeviceOptions;
use befrost_compiler::diag::{self, Diagnostic, has_errors};
use befrost_compiler::emit::{EmitOptions, emit_parts};
use befrost_compiler::graph::with_precision;
use befrost_compiler::import::files::{ModelFiles, NoFiles};
use befrost_compiler::import::savedmodel::{ImportedModel, TensorFlowKind, TensorFlowModel};
use befrost_compiler::import::{Feed, GradientRequest, INIT, ImportOptions, graphdef, onnx};
use befrost_compiler::ir::{Module, TypeId, names};
use befrost_compiler::pass::PassManager;
use befrost_compiler::passes::default_pipeline;
use befrost_compiler::print::type_text;
use befrost_compiler::syntax::{ParseOptions, parse_source};
use befrost_compiler::train;
use befrost_compiler::verify::verify;
use befrost_kernel_api::{Error, ErrorCode};
use befrost_tensor::bundle::Bytes;
use befrost_tensor::narrow::Precision;

use crate::cache;
use crate::folder::{ModelFolder, SAVED_VARIABLES, saved_model};
use crate::port::Port;
use crate::training::Training;

/// The program to compile.
#[derive(Clone, Debug)]
pub enum Source {
    /// A file by its extension: MLIR text (`.mlir`), a TensorFlow GraphDef (`.pb`, `.pbtxt`) or MetaGraph
    /// (`.meta`), an ONNX model (`.onnx`); or the folder of a SavedModel.
    File(PathBuf),
    /// MLIR text.
    Text(String),
    /// The bytes of a TensorFlow GraphDef.
    GraphDef(Vec<u8>),
}

impl From<&Path> for Source {
    fn from(path: &Path) -> Source {
        Source::File(path.to_owned())
    }
}

impl From<PathBuf> for Source {
    fn from(path: PathBuf) -> Source {
        Source::File(path)
    }
}

impl From<&str> for Source {
    /// A path, as for [`Runtime::load`](crate::Runtime::load).
    fn from(path: &str) -> Source {
        Source::File(path.into())
    }
}

/// Options of [`compile_with`].
#[derive(Clone, Debug)]
pub struct CompileOptions {
    /// The optimization level of op graphs, 0 to 2.
    pub level: u8,
    /// The precision of products and convolutions with constant weights, at level 2: weights are converted
    /// now, inputs at each run, everything else stays f32. Without one they are computed in f32.
    pub precision: Option<Precision>,
    /// The inputs of a model by their names; all placeholders that the results need if there are none.
    pub feeds: Vec<String>,
    /// The sizes of the feeds, in their order; those that the model declares if there are none.
    pub sizes: Vec<Vec<usize>>,
    /// The outputs of a model by their names; the nodes that no other uses if there are none.
    pub fetches: Vec<String>,
    /// The only signature of a model to compile; all of them, as functions of their names, if there is none.
    pub signature: Option<String>,
    /// Makes constants of the variables that no function assigns.
    pub freeze: bool,
    /// The nodes of a graph that run for their effects, such as a training step.
    pub targets: Vec<String>,
    /// The node of a graph that initializes its variables.
    pub init: Option<String>,
    /// Lets variables without names be those of the nodes that make them, in all programs made of the graph.
    pub shares_resources: bool,
    /// Gradients of a graph, which are further results.
    pub gradients: Vec<GradientRequest>,
    /// Makes a training program of a model.
    pub training: Option<Training>,
    /// A folder of compiled programs, from which those are read that were compiled before.
    pub cache_dir: Option<PathBuf>,
}

/// A compiled program.
pub(crate) struct Compiled {
    pub(crate) bef: Vec<u8>,
    /// The function that gives variables and tables their values.
    pub(crate) init: Option<String>,
    pub(crate) is_from_cache: bool,
}

impl Default for CompileOptions {
    fn default() -> CompileOptions {
        CompileOptions {
            level: 2,
            precision: None,
            feeds: Vec::new(),
            sizes: Vec::new(),
            fetches: Vec::new(),
            signature: None,
            freeze: false,
            targets: Vec::new(),
            init: None,
            shares_resources: false,
            gradients: Vec::new(),
            training: None,
            cache_dir: None,
        }
    }
}

/// The reason why a program cannot be compiled: one line for each error, with its place.
#[derive(Clone, Debug)]
pub struct CompileError(String);

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CompileError {}

impl From<CompileError> for Error {
    fn from(error: CompileError) -> Error {
        Error::new(ErrorCode::InvalidArgument, error.0, Vec::new())
    }
}

/// The BEF file of a program, for [`Runtime::load_bytes`](crate::Runtime::load_bytes), or to be written.
///
/// ```
/// use befrost::{Runtime, Source, compile};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let text = "func.func @main(%x: i32) -> i32 {
///   %sum = tfrt.add.i32 %x, %x
///   tfrt.return %sum : i32
/// }";
/// let program = Runtime::builder().build()?.load_bytes(&compile(Source::Text(text.into()))?)?;
/// let results = program.function("main")?.call_ok([21i32.into()])?;
/// assert_eq!(i32::try_from(&results[0])?, 42);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// If the source cannot be read, or is refused: each error with its place.
pub fn compile(source: impl Into<Source>) -> Result<Vec<u8>, CompileError> {
    compile_with(source, &CompileOptions::default())
}

/// [`compile`] with options.
///
/// # Errors
/// As [`compile`].
pub fn compile_with(source: impl Into<Source>, options: &CompileOptions) -> Result<Vec<u8>, CompileError> {
    compiled(source.into(), options).map(|compiled| compiled.bef)
}

/// Compiles a program, or reads it from the cache.
pub(crate) fn compiled(source: Source, options: &CompileOptions) -> Result<Compiled, CompileError> {
    match &options.cache_dir {
        Some(folder) => cache::through(folder, source, options),
        None => compiled_now(source, options),
    }
}

/// Compiles a program.
pub(crate) fn compiled_now(source: Source, options: &CompileOptions) -> Result<Compiled, CompileError> {
    if let (Some(precision), 0 | 1) = (options.precision, options.level) {
        let why = format!("optimization level {} packs no weights", options.level);
        return Err(CompileError(format!("no precision of {}: {why}", precision.name())));
    }
    let Imported { module, init, text } = imported(source, &import_options(options))?;
    let bef = to_bef(module, options).map_err(|found| refused(&found, &text))?;
    Ok(Compiled { bef, init, is_from_cache: false })
}

/// All tensors of a model: the placeholders first, then the results of nodes in the order of the graph.
pub(crate) fn tensors(source: Source, options: &CompileOptions) -> Result<Vec<Port>, CompileError> {
    let import = ImportOptions { everything: true, ..import_options(options) };
    let Imported { module, text, .. } = imported(source, &import)?;
    let inferred = verify(module).and_then(|module| {
        let mut passes = PassManager::parse("tf-shape-inference").map_err(|error| vec![*error])?;
        Ok(passes.run(module)?.0)
    });
    let module = inferred.map_err(|found| refused(&found, &text))?;
    let m = &*module;
    let Some(function) = m.functions().into_iter().next() else { return Ok(Vec::new()) };
    let Some((inputs, results)) = m.signature(function) else { return Ok(Vec::new()) };
    let ports = |types: &[TypeId], list| -> Vec<Port> {
        let of =
            |(i, &ty)| Port::new(m.port_name(function, list, i).unwrap_or_default(), type_text(&m.cx, ty));
        types.iter().enumerate().map(of).collect()
    };
    Ok([ports(inputs, names::ARG_ATTRS), ports(results, names::RES_ATTRS)].concat())
}

/// A module that was not compiled yet.
struct Imported {
    module: Module,
    /// The function that gives variables and tables their values.
    init: Option<String>,
    /// The text for the places of errors.
    text: diag::Source,
}

impl Imported {
    /// A model of this name.
    fn model(name: &str, made: Result<ImportedModel, Vec<Diagnostic>>) -> Result<Imported, CompileError> {
        let text = diag::Source::new(name, "");
        let ImportedModel { module, init } = made.map_err(|found| refused(&found, &text))?;
        Ok(Imported { module, init, text })
    }
}

fn imported(source: Source, import: &ImportOptions) -> Result<Imported, CompileError> {
    match source {
        Source::Text(text) => from_text("<text>", &text),
        Source::GraphDef(bytes) => {
            let len = bytes.len();
            from_graphdef("<graph>", Cursor::new(bytes), len, import)
        }
        Source::File(path) => from_file(&path, import),
    }
}

fn from_file(path: &Path, import: &ImportOptions) -> Result<Imported, CompileError> {
    let name = path.display().to_string();
    let unread = |error: std::io::Error| CompileError(format!("cannot read '{name}': {error}"));
    let read = || std::fs::read(path).map(Bytes::from).map_err(unread);
    let root = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = ModelFolder::new(root, |path: &Path| {
        std::fs::read(path).map(Bytes::from).map_err(|error| error.to_string())
    });
    let extension = path.extension().and_then(|extension| extension.to_str());
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let is_text = extension == Some("pbtxt");
    let tensorflow = |kind, files: &dyn ModelFiles, variables: &str| {
        let bytes = read()?;
        let model = TensorFlowModel::decode(kind, bytes, is_text, variables);
        Imported::model(&name, model.and_then(|model| model.import(import, files)))
    };
    if path.is_dir() {
        return match saved_model(path) {
            Some(file) => from_file(&file, import),
            None => Err(CompileError(format!("'{name}' is a folder without a SavedModel"))),
        };
    }
    match extension {
        Some("pb" | "pbtxt") if stem.as_deref() == Some("saved_model") => {
            tensorflow(TensorFlowKind::SavedModel, &folder, SAVED_VARIABLES)
        }
        Some("meta") => tensorflow(TensorFlowKind::MetaGraph, &folder, &stem.unwrap_or_default()),
        Some("pbtxt") => tensorflow(TensorFlowKind::GraphDef, &NoFiles, ""),
        Some("onnx") => {
            let imported = onnx(read()?, import, &folder).map(|module| ImportedModel { module, init: None });
            Imported::model(&name, imported)
        }
        Some("pb") => {
            let file = File::open(path).map_err(unread)?;
            let len = file.metadata().map_err(unread)?.len();
            from_graphdef(&name, file, usize::try_from(len).unwrap_or(usize::MAX), import)
        }
        Some("mlir") => from_text(&name, &std::fs::read_to_string(path).map_err(unread)?),
        _ => Err(CompileError(format!(
            "'{name}' is neither MLIR text (.mlir), a TensorFlow graph (.pb, .pbtxt, .meta), an ONNX model \
             (.onnx), nor the folder of a SavedModel"
        ))),
    }
}

fn import_options(options: &CompileOptions) -> ImportOptions {
    let size = |&size: &usize| i64::try_from(size).unwrap_or(i64::MAX);
    let shape = |at: usize| options.sizes.get(at).map(|sizes| sizes.iter().map(size).collect());
    let feeds = options.feeds.iter().enumerate();
    let feeds: Vec<Feed> = feeds.map(|(at, name)| Feed { shape: shape(at), ..Feed::named(name) }).collect();
    ImportOptions {
        training: options.training.as_ref().map(|training| Box::new(training.parts(&feeds))),
        feeds,
        fetches: options.fetches.clone(),
        signature: options.signature.clone(),
        freeze: options.freeze,
        targets: options.targets.clone(),
        init: options.init.clone(),
        shares_resources: options.shares_resources,
        gradients: options.gradients.clone(),
        ..ImportOptions::default()
    }
}

fn from_text(name: &str, text: &str) -> Result<Imported, CompileError> {
    let parsed = parse_source(diag::Source::new(name, text), &ParseOptions::default());
    match parsed.module {
        Some(module) if !has_errors(&parsed.diagnostics) => {
            Ok(Imported { module, init: None, text: parsed.source })
        }
        _ => Err(refused(&parsed.diagnostics, &parsed.source)),
    }
}

fn from_graphdef(
    name: &str,
    bytes: impl Read,
    len: usize,
    import: &ImportOptions,
) -> Result<Imported, CompileError> {
    let module = graphdef(bytes, len, import);
    let init = import.init.as_ref().map(|_| INIT.to_owned());
    Imported::model(name, module.map(|module| ImportedModel { module, init }))
}

pub(crate) fn to_bef(module: Module, options: &CompileOptions) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let mut module = verify(module)?;
    if let Some(training) = &options.training {
        module = train::build(module, &training.options()?)?;
    }
    if let Some(mut pipeline) = default_pipeline(&module, options.level, &DeviceOptions::default()) {
        if let Some(precision) = options.precision {
            let options = format!("precision={}", precision.name());
            pipeline = with_precision(&pipeline, &options).map_err(|error| vec![*error])?;
        }
        let mut passes = PassManager::parse(&pipeline).map_err(|error| vec![*error])?;
        module = passes.run(module)?.0;
    }
    Ok(emit_parts(&module, &EmitOptions::default())?.to_vec())
}

/// A tensor's name without the number of a first output.
pub(crate) fn canonical(name: &str) -> &str {
    name.strip_suffix(":0").unwrap_or(name)
}

pub(crate) fn refused(found: &[Diagnostic], source: &diag::Source) -> CompileError {
    let errors = found.iter().filter(|diagnostic| diagnostic.is_error());
    let lines: Vec<String> = errors.map(|error| error.render_short(source)).collect();
    CompileError(lines.join("\n"))
}
