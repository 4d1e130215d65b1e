//! Compilation in the process: text and models to BEF.

use std::fmt;
use std::fs::File;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use bef_format::Image;
use befrost_compiler::device::{DeviceOptions, ResourcePlaces};
use befrost_compiler::diag::{self, Diagnostic, has_errors};
use befrost_compiler::emit::{EmitOptions, emit_parts};
use befrost_compiler::graph::with_precision;
use befrost_compiler::import::files::NoFiles;
use befrost_compiler::import::recognize::{Encoding, FileKind, N_BYTES, foreign, recognize};
use befrost_compiler::import::savedmodel::{ImportedModel, TensorFlowKind, TensorFlowModel, frozen};
use befrost_compiler::import::{
    Feed, GradientRequest, INIT, ImportOptions, Initialization, check_onnx, graphdef, graphdef_in_memory,
    is_missing_name, onnx,
};
use befrost_compiler::ir::{Module, TypeId, names};
use befrost_compiler::pass::PassManager;
use befrost_compiler::passes::default_pipeline;
use befrost_compiler::print::type_text;
use befrost_compiler::raise::raise;
use befrost_compiler::syntax::{ParseOptions, parse_source};
use befrost_compiler::train::{self, TrainOptions};
use befrost_compiler::verify::verify;
use befrost_kernel_api::{Error, ErrorCode};
use befrost_tensor::HostTensor;
use befrost_tensor::bundle::Bytes;
use befrost_tensor::narrow::Precision;
use befrost_tensor::tf::PartialShape;

use crate::access::FileAccess;
use crate::cache;
use crate::folder::{ModelFolder, SAVED_VARIABLES, saved_model};
use crate::port::Port;
use crate::signature::Signature;
use crate::training::Training;

/// The program to compile.
#[derive(Clone, Debug)]
pub enum Source {
    /// A file, by its contents or else its extension: MLIR text (`.mlir`), a TensorFlow GraphDef (`.pb`,
    /// `.pbtxt`) or MetaGraph (`.meta`), an ONNX model (`.onnx`); or the folder of a SavedModel.
    File(PathBuf),
    /// MLIR text.
    Text(String),
    /// The bytes of a TensorFlow GraphDef.
    GraphDef(Vec<u8>),
    /// The bytes of any file that names no others, by its contents.
    Bytes(Bytes),
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
    /// The shapes of the feeds, in their order; those that the model declares if there are none. A size that
    /// is unknown is the model's.
    pub shapes: Vec<PartialShape>,
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
    /// Whether the function that initializes a MetaGraph or a SavedModel is there.
    pub initialization: Initialization,
    /// Lets variables without names be those of the nodes that make them, in all programs made of the graph.
    pub shares_resources: bool,
    /// Gradients of a graph, which are further results.
    pub gradients: Vec<GradientRequest>,
    /// Makes a training program of a model.
    pub training: Option<Training>,
    /// The devices that an op graph may use, and how. The runtime that loads the program must have them.
    pub devices: DeviceOptions,
    /// Where the resources are that other programs made.
    pub resources: ResourcePlaces,
    /// A folder of compiled programs, from which those are read that were compiled before.
    pub cache_dir: Option<PathBuf>,
    /// How the files of the model come into memory.
    pub access: FileAccess,
}

impl CompileOptions {
    /// Checks that there is such a level, and that it has the precision.
    pub(crate) fn check(&self) -> Result<(), CompileError> {
        let level = self.level;
        if level > MAX_LEVEL {
            return Err(CompileError::new(format!(
                "there is no optimization level {level}, only 0 to {MAX_LEVEL}"
            )));
        }
        match self.precision {
            Some(precision) if level < 2 => {
                let why = format!("optimization level {level} packs no weights");
                Err(CompileError::new(format!("no precision of {}: {why}", precision.name())))
            }
            _ => Ok(()),
        }
    }
}

/// The highest optimization level.
const MAX_LEVEL: u8 = 2;

/// A compiled program.
pub(crate) struct Compiled {
    pub(crate) bef: Vec<u8>,
    /// The function that gives variables and tables their values.
    pub(crate) init: Option<String>,
    /// Where its resources are.
    pub(crate) resources: ResourcePlaces,
    pub(crate) is_from_cache: bool,
}

impl Default for CompileOptions {
    fn default() -> CompileOptions {
        CompileOptions {
            level: 2,
            precision: None,
            feeds: Vec::new(),
            shapes: Vec::new(),
            fetches: Vec::new(),
            signature: None,
            freeze: false,
            targets: Vec::new(),
            init: None,
            initialization: Initialization::Included,
            shares_resources: false,
            gradients: Vec::new(),
            training: None,
            devices: DeviceOptions::default(),
            resources: ResourcePlaces::default(),
            cache_dir: None,
            access: FileAccess::default(),
        }
    }
}

/// The reason why a program cannot be compiled: one line for each error, with its place.
#[derive(Clone, Debug)]
pub struct CompileError {
    code: ErrorCode,
    message: String,
}

impl CompileError {
    pub(crate) fn new(message: impl Into<String>) -> CompileError {
        CompileError { code: ErrorCode::InvalidArgument, message: message.into() }
    }

    /// The error of a file that cannot be read.
    fn unread(path: &Path, error: &std::io::Error) -> CompileError {
        let message = format!("cannot read '{}': {error}", path.display());
        match error.kind() {
            std::io::ErrorKind::NotFound => CompileError { code: ErrorCode::NotFound, message },
            _ => CompileError::new(message),
        }
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CompileError {}

impl From<CompileError> for Error {
    fn from(error: CompileError) -> Error {
        Error::new(error.code, error.message, Vec::new())
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
    options.check()?;
    let Imported { module, init, text } = imported(source, &import_options(options), &options.access)?;
    let mut resources = ResourcePlaces::default();
    let bef = placed(module, options, &mut resources).map_err(|found| refused(&found, &text))?;
    Ok(Compiled { bef, init, resources, is_from_cache: false })
}

/// Values of variables, by container and name.
pub(crate) type VariableValues<'v> = [((&'v str, &'v str), HostTensor)];

/// Compiles the only function of a program, with these values of its variables as constants.
pub(crate) fn compiled_frozen(
    source: Source,
    options: &CompileOptions,
    values: &VariableValues<'_>,
) -> Result<Vec<u8>, CompileError> {
    let Imported { module, text, .. } = imported(source, &import_options(options), &options.access)?;
    let public = module.functions().into_iter().find(|&function| !module.is_private(function));
    let name = public.and_then(|function| module.symbol_name(function));
    let name = name.map(|name| module.cx.str(name).to_owned()).unwrap_or_default();
    let frozen = verify(module).and_then(|module| frozen(module, &name, values));
    let made = frozen.and_then(|module| to_bef(module.into_module(), options));
    made.map_err(|found| refused(&found, &text))
}

/// Compiles the predictions of a model that is trained, with these values of its variables as constants.
pub(crate) fn compiled_trained(
    source: Source,
    options: CompileOptions,
    values: &[(String, HostTensor)],
) -> Result<Vec<u8>, CompileError> {
    let Imported { module, text, .. } = imported(source, &import_options(&options), &options.access)?;
    let training = options.training.as_ref().map_or(Ok(TrainOptions::default()), Training::options);
    let frozen = training.and_then(|training| train::frozen(verify(module)?, &training, values));
    let options = CompileOptions { training: None, ..options };
    let made = frozen.and_then(|module| to_bef(module.into_module(), &options));
    made.map_err(|found| refused(&found, &text))
}

/// A function of a BEF file alone, with these values of its variables as constants.
pub(crate) fn refrozen(
    image: &Image<'_>,
    function: &str,
    values: &VariableValues<'_>,
) -> Result<Vec<u8>, CompileError> {
    let frozen = raise(image).and_then(verify).and_then(|module| frozen(module, function, values));
    let bef = frozen.and_then(|module| {
        // The ops in the places of reads are kernels, but for the edges of those that had effects.
        let mut passes = PassManager::parse("tf-to-kernels").map_err(|error| vec![*error])?;
        let module = passes.run(module)?.0;
        Ok(emit_parts(&module, &EmitOptions::default())?.to_vec())
    });
    bef.map_err(|found| refused(&found, &diag::Source::new(function, "")))
}

/// The signatures of a MetaGraph or a SavedModel; none for other models, which have no initialization either,
/// and are decoded only, to tell whether they are whole.
pub(crate) fn signatures(
    source: &Source,
    access: &FileAccess,
) -> Result<Option<Vec<Signature>>, CompileError> {
    let (kind, model, name) = match source {
        Source::Text(_) | Source::GraphDef(_) => return Ok(None),
        Source::Bytes(bytes) => {
            let known = KnownBytes::of(bytes.clone())?;
            match known.kind {
                FileKind::TensorFlow(kind, encoding) => {
                    (kind, known.tensorflow(kind, encoding)?, KnownBytes::NAME.to_owned())
                }
                FileKind::Onnx => return whole_onnx(KnownBytes::NAME, known.bytes).map(|()| None),
                FileKind::Bef | FileKind::Text => return Ok(None),
            }
        }
        Source::File(path) => {
            let known = KnownFile::open(path, access)?;
            match known.kind {
                FileKind::TensorFlow(kind, encoding) => {
                    (kind, known.tensorflow(kind, encoding)?, known.name())
                }
                FileKind::Onnx => return whole_onnx(&known.name(), known.read()?).map(|()| None),
                FileKind::Bef | FileKind::Text => return Ok(None),
            }
        }
    };
    if !matches!(kind, TensorFlowKind::MetaGraph | TensorFlowKind::SavedModel) {
        return Ok(None);
    }
    let found = model.signatures(&[]).map_err(|found| refused(&found, &diag::Source::new(&name, "")))?;
    Ok(Some(found.into_iter().map(Signature::of).collect()))
}

/// Checks that a file is an ONNX model.
fn whole_onnx(name: &str, bytes: Bytes) -> Result<(), CompileError> {
    check_onnx(bytes).map_err(|found| refused(&found, &diag::Source::new(name, "")))
}

/// The inputs and outputs of a graph. `everything`: all tensors, as the placeholders and the results of
/// nodes in the order of the graph.
pub(crate) fn ports(
    source: Source,
    options: &CompileOptions,
    everything: bool,
) -> Result<(Vec<Port>, Vec<Port>), CompileError> {
    let initialization = Initialization::Without;
    let import = ImportOptions { everything, initialization, ..import_options(options) };
    let Imported { module, text, .. } = imported(source, &import, &options.access)?;
    let inferred = verify(module).and_then(|module| {
        let mut passes = PassManager::parse("tf-shape-inference").map_err(|error| vec![*error])?;
        Ok(passes.run(module)?.0)
    });
    let module = inferred.map_err(|found| refused(&found, &text))?;
    let m = &*module;
    let Some(function) = m.functions().into_iter().next() else { return Ok(Default::default()) };
    let Some((inputs, results)) = m.signature(function) else { return Ok(Default::default()) };
    let ports = |types: &[TypeId], list| -> Vec<Port> {
        let of =
            |(i, &ty)| Port::new(m.port_name(function, list, i).unwrap_or_default(), type_text(&m.cx, ty));
        types.iter().enumerate().map(of).collect()
    };
    Ok((ports(inputs, names::ARG_ATTRS), ports(results, names::RES_ATTRS)))
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

fn imported(source: Source, import: &ImportOptions, access: &FileAccess) -> Result<Imported, CompileError> {
    match source {
        Source::Text(text) => from_text("<text>", &text),
        Source::GraphDef(bytes) => {
            let len = bytes.len();
            from_graphdef("<graph>", Cursor::new(bytes), len, import)
        }
        Source::Bytes(bytes) => KnownBytes::of(bytes)?.import(import),
        Source::File(path) => KnownFile::open(&path, access)?.import(import),
    }
}

/// The bytes of a file that was recognized.
pub(crate) struct KnownBytes {
    pub(crate) kind: FileKind,
    pub(crate) bytes: Bytes,
}

impl KnownBytes {
    /// The name in messages.
    const NAME: &str = "<memory>";

    /// Recognizes a file by its contents.
    pub(crate) fn of(bytes: Bytes) -> Result<KnownBytes, CompileError> {
        let first = &bytes[..bytes.len().min(N_BYTES)];
        if let Some(what) = foreign(first) {
            return Err(CompileError::new(format!("the model in memory is {what}")));
        }
        let unknown = "the model in memory is neither MLIR text, a TensorFlow graph or SavedModel, an ONNX \
                       model, nor a compiled program";
        let kind = recognize(first).ok_or_else(|| CompileError::new(unknown))?;
        Ok(KnownBytes { kind, bytes })
    }

    /// The text, if it is one.
    pub(crate) fn text(&self) -> Result<&str, CompileError> {
        std::str::from_utf8(&self.bytes)
            .map_err(|error| CompileError::new(format!("the text in memory is not UTF-8: {error}")))
    }

    fn tensorflow(&self, kind: TensorFlowKind, encoding: Encoding) -> Result<TensorFlowModel, CompileError> {
        let is_text = encoding == Encoding::Text;
        let model = TensorFlowModel::decode(kind, self.bytes.clone(), is_text, SAVED_VARIABLES);
        model.map_err(|found| refused(&found, &diag::Source::new(Self::NAME, "")))
    }

    fn import(&self, import: &ImportOptions) -> Result<Imported, CompileError> {
        match self.kind {
            FileKind::Bef => Err(CompileError::new("the model in memory is compiled already")),
            FileKind::Text => from_text(Self::NAME, self.text()?),
            FileKind::Onnx => {
                let imported = onnx(self.bytes.clone(), import, &NoFiles);
                Imported::model(Self::NAME, imported.map(|module| ImportedModel { module, init: None }))
            }
            FileKind::TensorFlow(kind, encoding) => {
                Imported::model(Self::NAME, self.tensorflow(kind, encoding)?.import(import, &NoFiles))
            }
        }
    }
}

/// A file that was recognized.
pub(crate) struct KnownFile {
    /// Of a folder the file in it.
    path: PathBuf,
    pub(crate) kind: FileKind,
    access: FileAccess,
}

impl KnownFile {
    /// Recognizes a file by its contents, or else by its extension.
    pub(crate) fn open(path: &Path, access: &FileAccess) -> Result<KnownFile, CompileError> {
        let name = path.display();
        let path = match path.is_dir() {
            true => saved_model(path)
                .ok_or_else(|| CompileError::new(format!("'{name}' is a folder without a SavedModel")))?,
            false => path.to_owned(),
        };
        access.see(&path);
        let mut first = Vec::new();
        File::open(&path)
            .and_then(|file| file.take(N_BYTES as u64).read_to_end(&mut first))
            .map_err(|error| CompileError::unread(&path, &error))?;
        if let Some(what) = foreign(&first) {
            return Err(CompileError::new(format!("'{name}' is {what}")));
        }
        let extension = path.extension().and_then(|extension| extension.to_str());
        let is_saved_model = path.file_stem().is_some_and(|stem| stem == "saved_model");
        let graph = if is_saved_model { TensorFlowKind::SavedModel } else { TensorFlowKind::GraphDef };
        let kind = match (recognize(&first), extension) {
            // A text may begin like a binary graph, and so may a MetaGraph.
            (Some(FileKind::TensorFlow(_, Encoding::Binary)) | None, Some("mlir")) => FileKind::Text,
            (Some(FileKind::TensorFlow(_, Encoding::Binary)) | None, Some("meta")) => {
                FileKind::TensorFlow(TensorFlowKind::MetaGraph, Encoding::Binary)
            }
            (Some(known), _) => known,
            (None, Some("pb")) => FileKind::TensorFlow(graph, Encoding::Binary),
            (None, Some("pbtxt")) => FileKind::TensorFlow(graph, Encoding::Text),
            (None, Some("onnx")) => FileKind::Onnx,
            (None, Some("bef")) => FileKind::Bef,
            (None, _) => {
                return Err(CompileError::new(format!(
                    "'{name}' is neither MLIR text (.mlir), a TensorFlow graph (.pb, .pbtxt, .meta), an ONNX \
                     model (.onnx), a compiled program (.bef), nor the folder of a SavedModel"
                )));
            }
        };
        Ok(KnownFile { path, kind, access: access.clone() })
    }

    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn unread(&self, error: &std::io::Error) -> CompileError {
        CompileError::unread(&self.path, error)
    }

    fn read(&self) -> Result<Bytes, CompileError> {
        self.access.bytes(&self.path).map_err(|error| self.unread(&error))
    }

    /// The files beside it.
    fn folder(&self) -> ModelFolder<impl Fn(&Path) -> Result<Bytes, String>> {
        let root = self.path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let access = self.access.clone();
        ModelFolder::new(root.unwrap_or(Path::new(".")), move |path: &Path| {
            access.bytes(path).map_err(|error| error.to_string())
        })
    }

    /// Its model of TensorFlow's.
    fn tensorflow(&self, kind: TensorFlowKind, encoding: Encoding) -> Result<TensorFlowModel, CompileError> {
        let variables = match (kind, self.path.file_stem()) {
            (TensorFlowKind::MetaGraph, Some(stem)) => stem.to_string_lossy(),
            _ => SAVED_VARIABLES.into(),
        };
        let model = TensorFlowModel::decode(kind, self.read()?, encoding == Encoding::Text, &variables);
        model.map_err(|found| refused(&found, &diag::Source::new(&self.name(), "")))
    }

    fn import(&self, import: &ImportOptions) -> Result<Imported, CompileError> {
        let name = self.name();
        match self.kind {
            FileKind::Bef => Err(CompileError::new(format!("'{name}' is compiled already"))),
            FileKind::Text => {
                from_text(&name, &std::fs::read_to_string(&self.path).map_err(|error| self.unread(&error))?)
            }
            FileKind::Onnx => {
                let imported = onnx(self.read()?, import, &self.folder());
                Imported::model(&name, imported.map(|module| ImportedModel { module, init: None }))
            }
            FileKind::TensorFlow(TensorFlowKind::GraphDef, Encoding::Binary) if self.access.is_mapped() => {
                of_graph(&name, graphdef_in_memory(Box::new(self.read()?), import), import)
            }
            FileKind::TensorFlow(TensorFlowKind::GraphDef, Encoding::Binary) => {
                let file = File::open(&self.path).map_err(|error| self.unread(&error))?;
                let len = file.metadata().map_err(|error| self.unread(&error))?.len();
                from_graphdef(&name, file, usize::try_from(len).unwrap_or(usize::MAX), import)
            }
            FileKind::TensorFlow(kind, encoding) => {
                let model = self.tensorflow(kind, encoding)?;
                let imported = match kind {
                    TensorFlowKind::GraphDef => model.import(import, &NoFiles),
                    _ => model.import(import, &self.folder()),
                };
                Imported::model(&name, imported)
            }
        }
    }
}

fn import_options(options: &CompileOptions) -> ImportOptions {
    let shape = |at: usize| options.shapes.get(at).and_then(PartialShape::dims);
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
        initialization: options.initialization,
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
    of_graph(name, graphdef(bytes, len, import), import)
}

fn of_graph(
    name: &str,
    module: Result<Module, Vec<Diagnostic>>,
    import: &ImportOptions,
) -> Result<Imported, CompileError> {
    let init = import.init.as_ref().map(|_| INIT.to_owned());
    Imported::model(name, module.map(|module| ImportedModel { module, init }))
}

pub(crate) fn to_bef(module: Module, options: &CompileOptions) -> Result<Vec<u8>, Vec<Diagnostic>> {
    placed(module, options, &mut ResourcePlaces::default())
}

/// [`to_bef`], which adds the places of the program's resources.
fn placed(
    mut module: Module,
    options: &CompileOptions,
    resources: &mut ResourcePlaces,
) -> Result<Vec<u8>, Vec<Diagnostic>> {
    options.resources.keep(&mut module);
    let mut module = verify(module)?;
    if let Some(training) = &options.training {
        module = train::build(module, &training.options()?)?;
    }
    if let Some(mut pipeline) = default_pipeline(&module, options.level, &options.devices) {
        if let Some(precision) = options.precision {
            let options = format!("precision={}", precision.name());
            pipeline = with_precision(&pipeline, &options).map_err(|error| vec![*error])?;
        }
        let mut passes = PassManager::parse(&pipeline).map_err(|error| vec![*error])?;
        module = passes.run(module)?.0;
    }
    resources.record(&module, &options.devices.devices);
    Ok(emit_parts(&module, &EmitOptions::default())?.to_vec())
}

/// A tensor's name without the number of a first output.
pub(crate) fn canonical(name: &str) -> &str {
    name.strip_suffix(":0").unwrap_or(name)
}

pub(crate) fn refused(found: &[Diagnostic], source: &diag::Source) -> CompileError {
    let errors = found.iter().filter(|diagnostic| diagnostic.is_error());
    let lines: Vec<String> = errors.map(|error| error.render_short(source)).collect();
    let first = found.iter().find(|diagnostic| diagnostic.is_error());
    let code =
        if first.is_some_and(is_missing_name) { ErrorCode::NotFound } else { ErrorCode::InvalidArgument };
    CompileError { code, message: lines.join("\n") }
}
