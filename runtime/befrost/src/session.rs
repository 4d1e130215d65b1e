//! Sessions: any tensor of a graph fed, any fetched, with variables that live between runs.
//!
//! ```text
//! run(feeds, fetches, targets) ─▶ executable of these names ─┬─ known ─────────────────▶ call
//!                                                            └─ new: import, compile once ─▶ call
//! ```
//!
//! `builder` has the settings of a session, `content` says what is run, `executable` has the programs of a
//! set of names, `sizes` those for sizes of their own; `run` is a run that goes on meanwhile; `save` writes a
//! function as a file.
//!
//! A graph has as many programs as there are sets of names to feed and to fetch: what is fed is not
//! computed, and what no fetch and no target needs is not there. Each is compiled when it is first asked
//! for, once, even if several threads ask, and kept; if it cannot be without the ranks of the feeds, which
//! the graph does not declare, once for each. All share the session's variables and tables.

mod builder;
mod content;
mod executable;
mod once;
mod recent;
mod refusal;
mod results;
mod run;
mod save;
mod sizes;
mod variables;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

use befrost_compiler::device::ResourcePlaces;
use befrost_compiler::import::Initialization;
use befrost_kernel_api::context::{Cancellation, Output, Resources};
use befrost_kernel_api::{Error, ErrorCode};
use befrost_tensor::tf::PartialShape;
use befrost_tensor::{HostTensor, Shape};
use smallvec::SmallVec;

use crate::build::Module;
use crate::compile::{CompileError, CompileOptions, Compiled, Source, canonical, compiled, ports};
use crate::datum::Datum;
use crate::graph::Asked;
use crate::pending::Pending;
use crate::port::Port;
use crate::prepared::PreparedFunction;
use crate::program::{CallOptions, Program};
use crate::recorder::Recorder;
use crate::runtime::Runtime;
use crate::signature::{Signature, named};
use content::{Content, places};
use executable::{Clock, Executable, Names};
use once::MadeOnce;
use recent::{NamesOfRun, SessionNumber};
use refusal::refused;
use sizes::Sizes;

pub use builder::SessionBuilder;
pub use executable::Callable;
pub use results::Results;
pub use run::Run;
pub use variables::Variables;

/// The most executables that a session keeps. Beyond it, the one that was not used for the longest time goes.
const MAX_EXECUTABLES: usize = 256;

/// A graph with its variables. Cheap to clone; clones are the same session. Everything takes `&self`, and any
/// number of threads may run it at once.
///
/// ```
/// use befrost::{HostTensor, Session};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/digits/digits_mlp.pb");
/// let session = Session::open(path)?;
/// let images = HostTensor::from_vec([2, 64], vec![0.5f32; 128])?;
/// let results = session.run(&[("images:0", images)], &["logits:0"])?;
/// assert_eq!(results["logits:0"].tensor()?.shape().dims(), [2, 10]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Session {
    shared: Arc<SessionState>,
}

struct SessionState {
    number: SessionNumber,
    runtime: Runtime,
    /// The same runtime for programs whose kernels are recorded.
    recording: OnceLock<Runtime>,
    content: Content,
    signatures: Vec<Signature>,
    /// The inputs and the outputs without a signature, once they were asked for.
    ports: OnceLock<(Vec<Port>, Vec<Port>)>,
    options: CompileOptions,
    shapes: Shapes,
    specializations: usize,
    resources: Resources,
    /// Where the variables and tables are. Locked while a program for several devices is compiled, so that
    /// the first one places them.
    places: Mutex<ResourcePlaces>,
    progress: Option<Arc<dyn Progress>>,
    executables: RwLock<HashMap<Names, Arc<Entry>>>,
    /// The names, without ranks, whose programs need the ranks of the feeds.
    ranked: Mutex<HashSet<Names>>,
    /// True once there are such.
    has_ranked: AtomicBool,
    clock: Clock,
    programs: Mutex<ProgramCounts>,
    n_hits: AtomicU64,
}

/// The numbers of programs that were made.
#[derive(Clone, Copy, Default)]
struct ProgramCounts {
    compiled: u64,
    from_cache: u64,
    specialized: u64,
}

/// An executable, from the moment it is asked for.
struct Entry {
    made: MadeOnce<Arc<Executable>>,
    used: AtomicU64,
}

/// Which sizes of tensors a program is compiled for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shapes {
    /// For all that the graph declares; sizes that come often get a program of their own, which is compiled
    /// while the other one runs.
    #[default]
    Auto,
    /// For all that the graph declares.
    Declared,
    /// For the sizes of the feeds, before their first run.
    Exact,
}

/// Is told what a session compiles. A run of the program that is being compiled is an error meanwhile.
pub trait Progress: Send + Sync {
    /// A program for these fetches and targets is about to be compiled.
    fn begins(&self, fetches: &[String], targets: &[String]);

    /// It was compiled, or refused.
    fn ends(&self, fetches: &[String], targets: &[String], took: Duration);
}

/// Options of one run.
#[derive(Clone, Default)]
pub struct RunOptions {
    /// Nodes that run for their effects: `train_op`, `init`.
    pub targets: Vec<String>,
    /// When the run is given up, with the error `DeadlineExceeded`.
    pub deadline: Option<Instant>,
    /// Stops the run on request; with it, its own deadline counts.
    pub cancellation: Option<Cancellation>,
    /// Where it prints; the standard output by default.
    pub output: Option<Arc<dyn Output>>,
    /// Receives the times of its kernels. The first such run of a program loads it once more.
    pub recorder: Option<Recorder>,
}

impl fmt::Debug for RunOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RunOptions { targets, deadline, cancellation, output: _, recorder } = self;
        let mut out = f.debug_struct("RunOptions");
        out.field("targets", targets).field("deadline", deadline).field("cancellation", cancellation);
        out.field("recorder", recorder).finish_non_exhaustive()
    }
}

impl RunOptions {
    /// No options: those that runs have by default.
    const NONE: RunOptions =
        RunOptions { targets: Vec::new(), deadline: None, cancellation: None, output: None, recorder: None };

    /// Runs these nodes for their effects.
    pub fn targets<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> RunOptions {
        let targets = names.into_iter().map(|name| name.as_ref().to_owned()).collect();
        RunOptions { targets, ..RunOptions::default() }
    }

    /// Their cancellation, or one with their deadline.
    fn cancellation(&self) -> Cancellation {
        let own = self.cancellation.clone();
        own.unwrap_or_else(|| Cancellation::limited(self.deadline, None))
    }
}

/// Counts of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionStats {
    /// Programs compiled.
    pub compilations: u64,
    /// Programs that were read from the cache on disk instead.
    pub from_cache: u64,
    /// Those of either kind that are for sizes of their own.
    pub specializations: u64,
    /// Runs whose program was there.
    pub hits: u64,
    /// Sets of names whose programs are kept.
    pub executables: usize,
    /// The bytes of the programs that are kept.
    pub bytes: usize,
}

fn names_of(signatures: &[Signature]) -> String {
    let names: Vec<&str> = signatures.iter().map(Signature::name).collect();
    names.join(", ")
}

fn unnamed(signatures: &[Signature]) -> Error {
    let message = format!("name the signature; there are: {}", names_of(signatures));
    refused(ErrorCode::InvalidArgument, message)
}

impl Session {
    /// Opens a graph: see [`SessionBuilder::open`].
    ///
    /// # Errors
    /// As [`SessionBuilder::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Session, Error> {
        Session::builder().open(path)
    }

    /// Opens a module that a front end has built: see [`SessionBuilder::module`].
    ///
    /// # Errors
    /// As [`SessionBuilder::module`].
    pub fn from_module(module: Module) -> Result<Session, Error> {
        Session::builder().module(module)
    }

    /// Opens a program, on its runtime: see [`SessionBuilder::program`].
    ///
    /// # Errors
    /// As [`SessionBuilder::program`].
    pub fn from_program(program: &Program) -> Result<Session, Error> {
        Session::builder().program(program)
    }

    /// A builder with default settings.
    pub fn builder() -> SessionBuilder {
        SessionBuilder::default()
    }

    /// Computes tensors, by their names (`x` or `x:0`). Any may be fed, and is not computed then.
    ///
    /// # Errors
    /// If there is no tensor of a name, one is fed twice, a needed placeholder is not fed, a value has
    /// another type, or the computation fails.
    pub fn run(&self, feeds: &[(&str, HostTensor)], fetches: &[&str]) -> Result<Results, Error> {
        self.run_with(feeds, fetches, &RunOptions::default())
    }

    /// [`Session::run`] with options, of values that need not be tensors of numbers: strings, too.
    ///
    /// # Errors
    /// As [`Session::run`], and if nothing is fetched and there is no target.
    pub fn run_with<V: Clone + Into<Datum>>(
        &self,
        feeds: &[(&str, V)],
        fetches: &[&str],
        options: &RunOptions,
    ) -> Result<Results, Error> {
        let names: SmallVec<[&str; 8]> = feeds.iter().map(|(name, _)| *name).collect();
        let targets: Vec<&str> = options.targets.iter().map(String::as_str).collect();
        let values: Vec<Datum> = feeds.iter().map(|(_, value)| value.clone().into()).collect();
        let rank = |value: &Datum| Some(value.tensor_type().ok()?.1.rank());
        let executable =
            self.executable_of(&names, fetches, &targets, || values.iter().map(rank).collect())?;
        executable.call(&self.shared, values.into_iter().map(Datum::into_value).collect(), options)
    }

    /// Begins a run, which goes on while the caller does something else. A runtime whose queue has no
    /// threads, `s`, runs it at once, and so does a kernel that begins one. All errors are those of the run;
    /// one more is that too many runs wait for a thread.
    pub fn start(&self, feeds: &[(&str, HostTensor)], fetches: &[&str]) -> Run {
        self.start_with(feeds, fetches, &RunOptions::default())
    }

    /// [`Session::start`] with options, of values as [`Session::run_with`] takes them.
    pub fn start_with<V: Clone + Into<Datum>>(
        &self,
        feeds: &[(&str, V)],
        fetches: &[&str],
        options: &RunOptions,
    ) -> Run {
        let cancellation = options.cancellation();
        let options = RunOptions { cancellation: Some(cancellation.clone()), ..options.clone() };
        let session = self.clone();
        let feeds: Vec<(String, Datum)> =
            feeds.iter().map(|(name, value)| ((*name).to_owned(), value.clone().into())).collect();
        let fetches: Vec<String> = fetches.iter().map(|&name| name.to_owned()).collect();
        let pending = Pending::begin(&self.shared.runtime.queue, move || {
            let feeds: Vec<(&str, Datum)> =
                feeds.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
            let fetches: Vec<&str> = fetches.iter().map(String::as_str).collect();
            session.run_with(&feeds, &fetches, &options)
        });
        Run { pending: pending.unwrap_or_else(|error| Pending::ended(Err(error))), cancellation }
    }

    /// Compiles what a run of feeds of these sizes needs, without running it: the program for all sizes, and,
    /// unless the session has no other ones ([`Shapes::Declared`]), the one of theirs.
    ///
    /// # Errors
    /// As [`Session::run`], but for the values, and if a feed is not declared with such sizes.
    pub fn warm(&self, feeds: &[(&str, Shape)], fetches: &[&str]) -> Result<(), Error> {
        self.warm_with(feeds, fetches, &[])
    }

    /// [`Session::warm`] of the program for all sizes alone, for a run with targets.
    ///
    /// # Errors
    /// As [`Session::run`], but for the values.
    pub fn warm_declared<T: AsRef<str>>(
        &self,
        feeds: &[T],
        fetches: &[T],
        targets: &[T],
    ) -> Result<(), Error> {
        let [feeds, fetches, targets] =
            [feeds, fetches, targets].map(|names| names.iter().map(AsRef::as_ref).collect::<Vec<&str>>());
        self.executable(&feeds, &fetches, &targets).map(|_| ())
    }

    /// [`Session::warm`] for a run with targets.
    ///
    /// # Errors
    /// As [`Session::warm`].
    pub fn warm_with<T: AsRef<str>>(
        &self,
        feeds: &[(T, Shape)],
        fetches: &[T],
        targets: &[T],
    ) -> Result<(), Error> {
        let names: Vec<&str> = feeds.iter().map(|(name, _)| name.as_ref()).collect();
        let [fetches, targets] =
            [fetches, targets].map(|names| names.iter().map(AsRef::as_ref).collect::<Vec<&str>>());
        let ranks = || Some(feeds.iter().map(|(_, shape)| shape.rank()).collect());
        let executable = self.executable_of(&names, &fetches, &targets, ranks)?;
        executable.warm(&self.shared, feeds.iter().map(|(_, shape)| shape))
    }

    /// Prepares these names to be run again and again: nothing is looked up then.
    ///
    /// # Errors
    /// As [`Session::run`], but for the values.
    pub fn callable(&self, feeds: &[&str], fetches: &[&str]) -> Result<Callable, Error> {
        let executable = self.executable(feeds, fetches, &[])?;
        Ok(Callable::new(executable, self.shared.clone()))
    }

    /// The graph's tensors that can be fed or fetched: the placeholders first, then the outputs of nodes. Of
    /// a graph with dataflow control flow, those that every run has. Nothing is compiled.
    ///
    /// # Errors
    /// If the graph cannot be read, or has operators that are not supported.
    pub fn tensors(&self) -> Result<Vec<Port>, Error> {
        let (inputs, outputs) = self.ports(true)?;
        Ok([inputs, outputs].concat())
    }

    /// The inputs of the graph, of its signature or of the function. Those of a graph without signatures are
    /// read from it when they are first asked for, not when it is opened: a run may need a small part of it.
    ///
    /// # Errors
    /// As [`Session::tensors`], and if there are several signatures, of which none was named.
    pub fn inputs(&self) -> Result<&[Port], Error> {
        match self.shared.content.signature() {
            Some(signature) => Ok(signature.inputs()),
            None => Ok(&self.own_ports()?.0),
        }
    }

    /// The outputs of the graph, of its signature or of the function, as [`Session::inputs`].
    ///
    /// # Errors
    /// As [`Session::inputs`].
    pub fn outputs(&self) -> Result<&[Port], Error> {
        match self.shared.content.signature() {
            Some(signature) => Ok(signature.outputs()),
            None => Ok(&self.own_ports()?.1),
        }
    }

    /// The inputs and the outputs of a graph without signatures, or of a function.
    fn own_ports(&self) -> Result<&(Vec<Port>, Vec<Port>), Error> {
        if let Some(known) = self.shared.ports.get() {
            return Ok(known);
        }
        if matches!(self.shared.content, Content::Graph { .. }) && !self.shared.signatures.is_empty() {
            return Err(unnamed(&self.shared.signatures));
        }
        let found = self.ports(false)?;
        Ok(self.shared.ports.get_or_init(|| found))
    }

    fn ports(&self, everything: bool) -> Result<(Vec<Port>, Vec<Port>), Error> {
        match &self.shared.content {
            Content::Graph { source, .. } => {
                self.shared.reading(|| ports(source.clone(), &self.shared.options, everything))
            }
            Content::Program(function) => Ok((named(function.arguments()), named(function.results()))),
        }
    }

    /// The signatures of the model, or the functions of the program; none of a graph alone.
    pub fn signatures(&self) -> &[Signature] {
        &self.shared.signatures
    }

    /// The variables.
    pub fn variables(&self) -> Variables {
        Variables::of(&self.shared.resources)
    }

    /// Counts of what it has done.
    pub fn stats(&self) -> SessionStats {
        let shared = &self.shared;
        let executables = shared.executables.read().unwrap_or_else(PoisonError::into_inner);
        let ready = executables.values().filter_map(|entry| entry.made.get());
        let programs = *shared.programs.lock().unwrap_or_else(PoisonError::into_inner);
        SessionStats {
            compilations: programs.compiled,
            from_cache: programs.from_cache,
            specializations: programs.specialized,
            hits: shared.n_hits.load(Ordering::Relaxed),
            executables: executables.len(),
            bytes: ready.map(|executable| executable.n_bytes()).sum(),
        }
    }

    /// The executable of these names, for feeds of these ranks if it cannot be compiled without them: the
    /// graph does not declare them, and has operators that need them.
    fn executable_of(
        &self,
        feeds: &[&str],
        fetches: &[&str],
        targets: &[&str],
        ranks: impl FnOnce() -> Option<Vec<usize>>,
    ) -> Result<Arc<Executable>, Error> {
        let shared = &self.shared;
        let by_names = || Names::new(feeds, fetches, targets);
        // Relaxed: the set tells.
        let has_ranked = shared.has_ranked.load(Ordering::Relaxed);
        if has_ranked && shared.ranked().contains(&by_names()) {
            let names = ranks().map(|ranks| Names { ranks, ..by_names() });
            return self.made(names.unwrap_or_else(by_names)).1;
        }
        let error = match self.executable(feeds, fetches, targets) {
            Err(error) if error.code() == ErrorCode::InvalidArgument && !feeds.is_empty() => error,
            made => return made,
        };
        let Some(ranks) = ranks().filter(|_| shared.content.is_graph()) else { return Err(error) };
        let made = self.made(Names { ranks, ..by_names() }).1.map_err(|_| error)?;
        let mut ranked = shared.ranked();
        if ranked.len() < MAX_EXECUTABLES {
            ranked.insert(by_names());
            shared.has_ranked.store(true, Ordering::Relaxed);
        }
        Ok(made)
    }

    /// The executable of these names, compiled if it is new.
    fn executable(
        &self,
        feeds: &[&str],
        fetches: &[&str],
        targets: &[&str],
    ) -> Result<Arc<Executable>, Error> {
        let shared = &self.shared;
        if fetches.is_empty() && targets.is_empty() {
            let message = "nothing to run: name a tensor to fetch, or a target";
            return Err(refused(ErrorCode::InvalidArgument, message.to_owned()));
        }
        let of_run = NamesOfRun { feeds, fetches, targets };
        if let Some(entry) = shared.number.recent(&of_run)
            && let Some(executable) = entry.made.get()
        {
            shared.clock.mark(&entry.used);
            shared.n_hits.fetch_add(1, Ordering::Relaxed);
            return Ok(executable.clone());
        }
        let (entry, made) = self.made(Names::new(feeds, fetches, targets));
        if made.is_ok() {
            shared.number.remember(&of_run, &entry);
        }
        made
    }

    /// The entry of these names, and its executable, compiled if it is new.
    fn made(&self, names: Names) -> (Arc<Entry>, Result<Arc<Executable>, Error>) {
        let shared = &self.shared;
        let known = {
            let executables = shared.executables.read().unwrap_or_else(PoisonError::into_inner);
            executables.get(&names).cloned()
        };
        let entry = known.unwrap_or_else(|| shared.new_entry(&names));
        shared.clock.mark(&entry.used);
        let mut is_new = false;
        let made = entry.made.get_or_make(|| {
            is_new = true;
            shared.compile(names.clone()).map(Arc::new)
        });
        let made = made.cloned();
        if entry.made.has_failed() {
            // Variables that come later may let it succeed.
            shared.forget(&names, &entry);
        } else if made.is_ok() {
            shared.n_hits.fetch_add(u64::from(!is_new), Ordering::Relaxed);
        }
        (entry, made)
    }
}

impl SessionState {
    fn ranked(&self) -> MutexGuard<'_, HashSet<Names>> {
        self.ranked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn recording(&self) -> &Runtime {
        self.recording.get_or_init(|| self.runtime.recording(None))
    }

    /// The entry of these names, with room for it.
    fn new_entry(&self, names: &Names) -> Arc<Entry> {
        let mut executables = self.executables.write().unwrap_or_else(PoisonError::into_inner);
        if executables.len() >= MAX_EXECUTABLES && !executables.contains_key(names) {
            let oldest = executables.iter().min_by_key(|(_, entry)| entry.used.load(Ordering::Relaxed));
            if let Some(oldest) = oldest.map(|(names, _)| names.clone()) {
                executables.remove(&oldest);
            }
        }
        let new = || Arc::new(Entry { made: MadeOnce::default(), used: AtomicU64::new(u64::MAX) });
        executables.entry(names.clone()).or_insert_with(new).clone()
    }

    /// Removes an entry, unless a newer one has taken its place.
    fn forget(&self, names: &Names, entry: &Arc<Entry>) {
        let mut executables = self.executables.write().unwrap_or_else(PoisonError::into_inner);
        if executables.get(names).is_some_and(|known| Arc::ptr_eq(known, entry)) {
            executables.remove(names);
        }
    }

    /// Gives the variables and tables of a model their values, if it says how.
    fn initialize(&self) -> Result<(), Error> {
        let Content::Graph { source, .. } = &self.content else { return Ok(()) };
        // The checkpoint is read here only: a graph that trains may write it anew.
        let access = self.options.access.to_changing();
        let options =
            CompileOptions { initialization: Initialization::Alone, access, ..self.options.clone() };
        let compiled = self.compiled(source, options)?;
        let Some(init) = compiled.init else { return Ok(()) };
        let results = self.runtime.load_bytes(&compiled.bef)?.function(&init)?;
        let results = results.call_with([], &self.call_options())?;
        results.iter().try_for_each(|result| result.ok().map(|_| ()))
    }

    /// Calls what reads the model, whose files must be what they were.
    fn reading<T>(&self, read: impl FnOnce() -> Result<T, CompileError>) -> Result<T, Error> {
        self.options.access.check()?;
        let made = read();
        self.options.access.check()?;
        Ok(made?)
    }

    /// Compiles a part of a graph, with the session's variables where it placed them first.
    fn compiled(&self, source: &Source, mut options: CompileOptions) -> Result<Compiled, Error> {
        if options.devices.devices.is_empty() {
            return self.reading(|| compiled(source.clone(), &options));
        }
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        options.resources = places.clone();
        let compiled = self.reading(|| compiled(source.clone(), &options))?;
        places.extend(&compiled.resources);
        Ok(compiled)
    }

    fn call_options(&self) -> CallOptions {
        CallOptions { resources: self.resources.clone(), ..CallOptions::default() }
    }

    /// Makes the executable of these names.
    fn compile(&self, names: Names) -> Result<Executable, Error> {
        let declared = self.program(&names, names.shapes())?;
        let function = declared.function();
        if let Content::Program(function) = &self.content {
            let (feeds, results) = places(function, &names)?;
            let order = feeds.iter().enumerate().any(|(at, &feed)| at != feed).then(|| feeds.into());
            let sizes = Sizes::new(function.arguments(), Shapes::Declared, 0);
            let (results, fetches) = (results.into(), names.fetches.clone().into());
            return Ok(Executable { order, results, fetches, sizes, declared, names });
        }
        if names.feeds.is_empty()
            && let Some(port) = function.arguments().first()
        {
            let (label, ty, needed) = (port.label(0), port.ty(), names.needed());
            let message = format!("placeholder {label} ({ty}) is not fed, and {needed} needs it");
            return Err(refused(ErrorCode::InvalidArgument, message));
        }
        let of = |fetch: &String| {
            let ports: &[Port] = function.results();
            let tensor = canonical(self.content.fetched(fetch));
            ports.iter().position(|port| canonical(port.name()) == tensor)
        };
        let results = names.fetches.iter().map(of).collect();
        let sizes = Sizes::new(function.arguments(), self.shapes, self.specializations);
        let fetches = names.fetches.clone().into();
        Ok(Executable { order: None, results, fetches, sizes, declared, names })
    }

    /// The program of these names, for feeds of these shapes, if there are any.
    fn program(&self, names: &Names, shapes: Vec<PartialShape>) -> Result<PreparedFunction, Error> {
        let (source, additions) = match &self.content {
            Content::Graph { source, additions, .. } => (source, additions),
            Content::Program(function) => {
                return Ok(PreparedFunction::new(function.clone(), self.call_options()));
            }
        };
        let Names { feeds, fetches, targets, ranks: _ } = names;
        let start = Instant::now();
        if let Some(progress) = &self.progress {
            progress.begins(fetches, targets);
        }
        let mut unique: Vec<String> = Vec::new();
        for fetch in fetches.iter().map(|fetch| self.content.fetched(fetch)) {
            if !unique.iter().any(|known| canonical(known) == canonical(fetch)) {
                unique.push(fetch.to_owned());
            }
        }
        let is_specialized = shapes != names.shapes();
        let options = CompileOptions {
            feeds: feeds.iter().map(|feed| self.content.fed(feed).to_owned()).collect(),
            shapes,
            fetches: unique,
            targets: targets.clone(),
            initialization: Initialization::Without,
            ..self.options.clone()
        };
        let Asked { options, function } = additions.asked(options)?;
        let compiled = self.compiled(source, options);
        if let Some(progress) = &self.progress {
            progress.ends(fetches, targets, start.elapsed());
        }
        let compiled = compiled?;
        let function = self.runtime.load_bytes(&compiled.bef)?.function(function)?;
        // Counted at once, so that statistics agree with themselves at any time.
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        *(if compiled.is_from_cache { &mut programs.from_cache } else { &mut programs.compiled }) += 1;
        programs.specialized += u64::from(is_specialized);
        Ok(PreparedFunction::new(function, self.call_options()))
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Session({:?}, {:?})", self.shared.content, self.stats())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_saw_an_old_failure_leaves_the_newer_entry() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/digits/digits_mlp.pb");
        let session = Session::open(path).expect("a session").shared;
        let names = Names::new(&["images"], &["logits"], &[]);
        let failed = session.new_entry(&names);
        session.forget(&names, &failed);
        let newer = session.new_entry(&names);
        assert!(!Arc::ptr_eq(&failed, &newer));
        session.forget(&names, &failed);
        assert!(Arc::ptr_eq(&session.new_entry(&names), &newer));
    }
}
