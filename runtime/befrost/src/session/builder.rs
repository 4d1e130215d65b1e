//! The builder of sessions.
//!
//! ```text
//! runtime ──or──▶ a runtime of its own: kernels, libraries, devices
//! open    file ─┬─ graph: nothing is compiled but its initialization
//!               └─ text, BEF: a program, of which one function is run
//! ```

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, OnceLock, RwLock};

use befrost_compiler::import::recognize::FileKind;
use befrost_kernel_api::context::Resources;
use befrost_kernel_api::{Error, ErrorCode, Registry};
use befrost_tensor::narrow::Precision;

use super::content::Content;
use super::executable::Clock;
use super::recent::SessionNumber;
use super::refusal::{near, refused};
use super::{Progress, RunOptions, Session, SessionState, Shapes, names_of};
use crate::access::FileAccess;
use crate::build::{Module, compile_module};
use crate::compile::{CompileOptions, KnownBytes, Source, compile_with, signatures};
use crate::datum::Datum;
use crate::graph::{Graph, found};
use crate::model::{DEFAULTS, compiled_already, default_function, public};
use crate::program::Program;
use crate::runtime::{Runtime, RuntimeBuilder};
use crate::signature::Signature;

/// The most programs for sizes of their own that an executable keeps, by default.
const MAX_SPECIALIZED: usize = 16;

/// Builder of a [`Session`].
pub struct SessionBuilder {
    runtime: Option<Runtime>,
    /// The session's own runtime, if it has other kernels than the standard ones.
    own: Option<RuntimeBuilder>,
    options: CompileOptions,
    shapes: Shapes,
    specializations: usize,
    resources: Option<Resources>,
    progress: Option<Arc<dyn Progress>>,
}

impl Default for SessionBuilder {
    fn default() -> SessionBuilder {
        SessionBuilder {
            runtime: None,
            own: None,
            options: CompileOptions::default(),
            shapes: Shapes::default(),
            specializations: MAX_SPECIALIZED,
            resources: None,
            progress: None,
        }
    }
}

impl SessionBuilder {
    /// The runtime that executes it; by default one of its own.
    #[must_use]
    pub fn runtime(self, runtime: &Runtime) -> SessionBuilder {
        SessionBuilder { runtime: Some(runtime.clone()), ..self }
    }

    /// The kernels of the session's own runtime; by default the standard ones.
    #[must_use]
    pub fn kernels(self, registry: Registry) -> SessionBuilder {
        let own = self.own.unwrap_or_else(Runtime::builder).kernels(registry);
        SessionBuilder { own: Some(own), ..self }
    }

    /// Adds the kernels of a library to those of the session's own runtime that were set before.
    ///
    /// # Errors
    /// As [`RuntimeBuilder::library`].
    ///
    /// # Safety
    /// As [`Library::load`](crate::Library::load): its code runs in this process.
    #[cfg(feature = "libraries")]
    #[allow(unsafe_code, reason = "passes the contract of loading code on")]
    pub unsafe fn library(self, path: impl AsRef<Path>) -> Result<SessionBuilder, crate::LibraryError> {
        // SAFETY: the caller's contract is the same.
        let own = unsafe { self.own.unwrap_or_else(Runtime::builder).library(path) }?;
        Ok(SessionBuilder { own: Some(own), ..self })
    }

    /// Maps the files of the model and its weights, or does not, as by default: then they are read.
    ///
    /// # Safety
    /// As [`FileAccess::mapped`].
    #[must_use]
    #[allow(unsafe_code, reason = "passes the contract of mapping on")]
    pub unsafe fn map_weights(mut self, map: bool) -> SessionBuilder {
        // SAFETY: the caller's contract is the same.
        self.options.access = if map { unsafe { FileAccess::mapped() } } else { FileAccess::default() };
        self
    }

    /// The level of optimization, 0 to 2; 2 by default. Opening refuses any other.
    #[must_use]
    pub fn level(mut self, level: u8) -> SessionBuilder {
        self.options.level = level;
        self
    }

    /// Computes products and convolutions with constant weights in this precision; by default that of the
    /// graph. A compiled program is refused then.
    #[must_use]
    pub fn precision(mut self, precision: Precision) -> SessionBuilder {
        self.options.precision = Some(precision);
        self
    }

    /// The node that initializes the variables: it runs when the session is opened.
    #[must_use]
    pub fn init(mut self, node: &str) -> SessionBuilder {
        self.options.init = Some(node.to_owned());
        self
    }

    /// The variables, which other sessions may share; by default of its own.
    #[must_use]
    pub fn variables(self, resources: Resources) -> SessionBuilder {
        SessionBuilder { resources: Some(resources), ..self }
    }

    /// The devices that the graph may use, in the syntax of the command line: `CPU:2`. Without a runtime the
    /// session makes one that has them.
    #[must_use]
    pub fn devices(mut self, devices: &str) -> SessionBuilder {
        self.options.devices.devices = devices.to_owned();
        self
    }

    /// How devices are chosen: `first`, `greedy` or `list`. A variable stays where it was placed first.
    #[must_use]
    pub fn place(mut self, policy: &str) -> SessionBuilder {
        self.options.devices.policy = policy.to_owned();
        self
    }

    /// Which sizes of tensors programs are compiled for.
    #[must_use]
    pub fn shapes(self, shapes: Shapes) -> SessionBuilder {
        SessionBuilder { shapes, ..self }
    }

    /// The most programs for sizes of their own that are kept for a set of names; 16 by default.
    #[must_use]
    pub fn specializations(self, specializations: usize) -> SessionBuilder {
        SessionBuilder { specializations, ..self }
    }

    /// A folder for compiled programs, which is made if it is not there: what was compiled once, of the same
    /// files and options by the same release, is read from it.
    #[must_use]
    pub fn cache_dir(mut self, folder: impl Into<PathBuf>) -> SessionBuilder {
        self.options.cache_dir = Some(folder.into());
        self
    }

    /// Is told what is compiled.
    #[must_use]
    pub fn progress(self, progress: Arc<dyn Progress>) -> SessionBuilder {
        SessionBuilder { progress: Some(progress), ..self }
    }

    /// The signature whose inputs and outputs are names of the session, or of a program the function; by
    /// default `serving_default`, `main` or the only one. The graph's own tensors have their names, too.
    #[must_use]
    pub fn signature(mut self, name: &str) -> SessionBuilder {
        self.options.signature = Some(name.to_owned());
        self
    }

    /// Opens what [`Source::File`](crate::Source::File) names, or a BEF file. Of a graph nothing is
    /// compiled yet but the initialization, if there is one: that of a MetaGraph or a SavedModel, which
    /// reads its checkpoint, unless the session was given variables or another node to initialize them.
    ///
    /// # Errors
    /// If there is no such level of optimization, the file does not exist, has nothing of which parts could
    /// run, or lacks the signature, the initialization fails, or the builder was given a runtime, and kernels
    /// or a library too. The session reads the files of a graph again; a file that has changed since is an
    /// error of what asks for it.
    pub fn open(mut self, path: impl AsRef<Path>) -> Result<Session, Error> {
        let path = path.as_ref();
        self.options.access = self.options.access.to_unchanged();
        let file = found(path, &self.options.access)?;
        match file.kind {
            FileKind::TensorFlow(..) | FileKind::Onnx => self.build(Graph::at(path)),
            FileKind::Bef if self.options.precision.is_some() => {
                Err(compiled_already(&format!("'{}'", path.display())))
            }
            FileKind::Bef => self.with_program(|runtime, options| options.access.program(runtime, path)),
            FileKind::Text => {
                self.with_program(|runtime, options| Ok(runtime.load_bytes(&compile_with(path, options)?)?))
            }
        }
    }

    /// Opens a graph with gradients and updates.
    ///
    /// # Errors
    /// As [`SessionBuilder::open`].
    pub fn graph(mut self, graph: Graph) -> Result<Session, Error> {
        self.options.access = self.options.access.to_unchanged();
        self.build(graph)
    }

    /// [`SessionBuilder::open`] of the contents of a file that names no other files: an ONNX model, a
    /// TensorFlow graph or SavedModel, MLIR text, or a BEF file.
    ///
    /// # Errors
    /// As [`SessionBuilder::open`].
    pub fn bytes(self, bytes: Vec<u8>) -> Result<Session, Error> {
        let known = KnownBytes::of(bytes.into())?;
        match known.kind {
            FileKind::TensorFlow(..) | FileKind::Onnx => self.graph(Graph::of_bytes(known.bytes)),
            FileKind::Bef if self.options.precision.is_some() => Err(compiled_already("the model in memory")),
            FileKind::Bef => self.with_program(|runtime, _| Ok(runtime.load_bytes(&known.bytes)?)),
            FileKind::Text => self.text(known.text()?),
        }
    }

    /// Opens a function of MLIR text, all of whose arguments are fed.
    ///
    /// ```
    /// use befrost::{Datum, RunOptions, Session};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let session = Session::builder().text(
    ///     "func.func @twice(%x: i32 {bef.name = \"x\"}) -> (i32 {bef.name = \"y\"}) {
    ///   %y = tfrt.add.i32 %x, %x
    ///   tfrt.return %y : i32
    /// }",
    /// )?;
    /// let results = session.run_with(&[("x", Datum::from(21i32))], &["y"], &RunOptions::default())?;
    /// assert_eq!(results["y"].item::<i32>()?, 42);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`SessionBuilder::open`].
    pub fn text(self, text: &str) -> Result<Session, Error> {
        let source = Source::Text(text.to_owned());
        self.with_program(|runtime, options| Ok(runtime.load_bytes(&compile_with(source, options)?)?))
    }

    /// [`SessionBuilder::text`] of a module that a front end has built.
    ///
    /// # Errors
    /// As [`SessionBuilder::open`].
    pub fn module(self, module: Module) -> Result<Session, Error> {
        self.with_program(|runtime, options| Ok(runtime.load_bytes(&compile_module(module, options)?)?))
    }

    /// Opens a TensorFlow GraphDef in memory.
    ///
    /// # Errors
    /// As [`SessionBuilder::open`].
    pub fn graphdef(self, bytes: Vec<u8>) -> Result<Session, Error> {
        self.graph(Graph::graphdef(bytes))
    }

    /// Opens a function of a program, all of whose arguments are fed. It runs on the program's runtime.
    ///
    /// # Errors
    /// If there is no such function, or the builder was given another runtime, kernels or a library.
    pub fn program(self, program: &Program) -> Result<Session, Error> {
        let is_other = self.runtime.as_ref().is_some_and(|given| !given.is(program.runtime()));
        if is_other || self.own.is_some() {
            let message = "a program runs on the runtime that loaded it: the session may have no other one";
            return Err(refused(ErrorCode::InvalidArgument, message.to_owned()));
        }
        let function = match &self.options.signature {
            Some(name) => program.function(name)?,
            None => default_function(program, None)?,
        };
        let functions = public(program).map(|function| Signature::of_function(&function)).collect();
        let runtime = program.runtime().clone();
        Ok(self.session(Content::Program(function), functions, runtime))
    }

    fn with_program(
        mut self,
        load: impl FnOnce(&Runtime, &CompileOptions) -> Result<Program, Error>,
    ) -> Result<Session, Error> {
        let runtime = self.take_runtime()?;
        let program = load(&runtime, &CompileOptions { signature: None, ..self.options.clone() })?;
        self.program(&program)
    }

    /// The runtime that was given, or a new one, if the options are right.
    fn take_runtime(&mut self) -> Result<Runtime, Error> {
        self.options.check()?;
        let devices = &self.options.devices.devices;
        let runtime = match (self.runtime.take(), self.own.take()) {
            (Some(runtime), None) => runtime,
            (Some(_), Some(_)) => {
                let message = "the session was given a runtime, which has its own kernels, and kernels or a \
                               library too: give them to the runtime's builder";
                return Err(refused(ErrorCode::InvalidArgument, message.to_owned()));
            }
            (None, own) => {
                let own = own.unwrap_or_else(Runtime::builder);
                if devices.is_empty() { own } else { own.devices(devices) }.build()?
            }
        };
        // The compiler reports a malformed text.
        if let Ok(described) = runtime.described(devices) {
            self.options.devices.devices = described;
        }
        Ok(runtime)
    }

    /// A session on a graph.
    fn build(mut self, graph: Graph) -> Result<Session, Error> {
        let declared = signatures(&graph.source, &self.options.access)?;
        let may_initialize = declared.is_some() && self.resources.is_none();
        let signatures = declared.unwrap_or_default();
        let runtime = self.take_runtime()?;
        let init = self.options.init.take();
        let signature = chosen(&signatures, self.options.signature.take())?;
        let Graph { source, additions } = graph;
        self.options.shares_resources = true;
        let content = Content::Graph { source, additions, signature };
        let session = self.session(content, signatures, runtime);
        match init {
            Some(init) => {
                let options = RunOptions { targets: vec![init], ..RunOptions::default() };
                session.run_with::<Datum>(&[], &[], &options)?;
            }
            None if may_initialize => session.shared.initialize()?,
            None => {}
        }
        Ok(session)
    }

    fn session(self, content: Content, signatures: Vec<Signature>, runtime: Runtime) -> Session {
        let SessionBuilder { runtime: _, own: _, options, shapes, specializations, resources, progress } =
            self;
        let shared = SessionState {
            number: SessionNumber::new(),
            runtime,
            recording: OnceLock::new(),
            content,
            signatures,
            ports: OnceLock::new(),
            options,
            shapes,
            specializations,
            resources: resources.unwrap_or_default(),
            places: Mutex::default(),
            progress,
            executables: RwLock::default(),
            ranked: Mutex::default(),
            has_ranked: AtomicBool::new(false),
            clock: Clock::default(),
            programs: Mutex::default(),
            n_hits: AtomicU64::new(0),
        };
        Session { shared: Arc::new(shared) }
    }
}

/// The signature of this name, or the default one.
fn chosen(signatures: &[Signature], name: Option<String>) -> Result<Option<Signature>, Error> {
    let named = |name: &str| signatures.iter().find(|signature| signature.name() == name);
    match (name, signatures) {
        (Some(name), _) => match named(&name) {
            Some(found) => Ok(Some(found.clone())),
            None => {
                let near = near(&name, signatures.iter().map(Signature::name));
                let all = names_of(signatures);
                let message = format!("there is no signature '{name}'; there are: {all}{near}");
                Err(refused(ErrorCode::NotFound, message))
            }
        },
        (None, [only]) => Ok(Some(only.clone())),
        (None, _) => Ok(DEFAULTS.into_iter().find_map(named).cloned()),
    }
}

impl fmt::Debug for SessionBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionBuilder").field("options", &self.options).finish_non_exhaustive()
    }
}
