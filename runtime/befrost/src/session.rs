//! Sessions: any tensor of a graph fed, any fetched, with variables that live between runs.
//!
//! ```text
//! run(feeds, fetches, targets) ─▶ executable of these names ─┬─ known ─────────────────▶ call
//!                                                            └─ new: import, compile once ─▶ call
//! ```
//!
//! A graph has as many programs as there are sets of names to feed and to fetch: what is fed is not
//! computed, and what no fetch and no target needs is not there. Each is compiled when it is first asked
//! for, once, even if several threads ask, and kept. All share the session's variables and tables.

use std::collections::HashMap;
use std::fmt;
use std::ops::Index;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Instant;

use befrost_kernel_api::context::{Cancellation, Output, ResourceName, Resources};
use befrost_kernel_api::{Error, ErrorCode, KernelError};
use befrost_kernels::{assign_variable_values, remove_variable, variable_values};
use befrost_tensor::HostTensor;

use crate::compile::{CompileOptions, Source, compiled};
use crate::datum::Datum;
use crate::port::Port;
use crate::program::{CallOptions, Function};
use crate::runtime::Runtime;

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
    runtime: Runtime,
    source: Source,
    options: CompileOptions,
    resources: Resources,
    executables: RwLock<HashMap<Names, Arc<Entry>>>,
    clock: AtomicU64,
    n_compiled: AtomicU64,
    n_hits: AtomicU64,
}

/// The names that make an executable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Names {
    feeds: Vec<String>,
    fetches: Vec<String>,
    targets: Vec<String>,
}

/// An executable, from the moment it is asked for.
struct Entry {
    made: OnceLock<Result<Executable, Error>>,
    used: AtomicU64,
}

#[derive(Clone)]
struct Executable {
    function: Function,
    /// For each fetch the number of its result; none for an operation without outputs.
    results: Arc<[Option<usize>]>,
    names: Arc<[String]>,
}

/// Builder of a [`Session`].
#[derive(Default)]
pub struct SessionBuilder {
    runtime: Option<Runtime>,
    options: CompileOptions,
    resources: Option<Resources>,
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
}

impl fmt::Debug for RunOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RunOptions { targets, deadline, cancellation, output: _ } = self;
        let mut out = f.debug_struct("RunOptions");
        out.field("targets", targets).field("deadline", deadline).field("cancellation", cancellation);
        out.finish_non_exhaustive()
    }
}

/// Counts of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionStats {
    /// Programs compiled.
    pub compilations: u64,
    /// Runs whose program was there.
    pub hits: u64,
    /// Programs kept.
    pub executables: usize,
}

impl SessionBuilder {
    /// The runtime that executes it; by default one of its own.
    #[must_use]
    pub fn runtime(self, runtime: &Runtime) -> SessionBuilder {
        SessionBuilder { runtime: Some(runtime.clone()), ..self }
    }

    /// The level of optimization, 0 to 2; 2 by default.
    #[must_use]
    pub fn level(mut self, level: u8) -> SessionBuilder {
        self.options.level = level.min(2);
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
    pub fn variables(self, resources: &Resources) -> SessionBuilder {
        SessionBuilder { resources: Some(resources.clone()), ..self }
    }

    /// Opens a graph: a TensorFlow GraphDef or MetaGraph, or an ONNX model. Nothing is compiled yet but the
    /// initialization, if there is one.
    ///
    /// # Errors
    /// If the file does not exist or has no graph of which parts could run, or the initialization fails.
    pub fn open(self, path: impl AsRef<Path>) -> Result<Session, Error> {
        let path = path.as_ref();
        let is_graph = path.extension().and_then(|extension| extension.to_str());
        if !path.is_file() {
            return Err(refused(ErrorCode::NotFound, format!("there is no file '{}'", path.display())));
        }
        if !matches!(is_graph, Some("pb" | "pbtxt" | "meta" | "onnx")) {
            let message = format!("'{}' is no graph (.pb, .pbtxt, .meta, .onnx)", path.display());
            return Err(refused(ErrorCode::InvalidArgument, message));
        }
        self.build(Source::File(path.to_owned()))
    }

    /// Opens a TensorFlow GraphDef in memory.
    ///
    /// # Errors
    /// As [`SessionBuilder::open`].
    pub fn graphdef(self, bytes: Vec<u8>) -> Result<Session, Error> {
        self.build(Source::GraphDef(bytes))
    }

    fn build(self, source: Source) -> Result<Session, Error> {
        let SessionBuilder { runtime, mut options, resources } = self;
        let runtime = match runtime {
            Some(runtime) => runtime,
            None => Runtime::builder().build()?,
        };
        let init = options.init.take();
        options.shares_resources = true;
        let shared = SessionState {
            runtime,
            source,
            options,
            resources: resources.unwrap_or_default(),
            executables: RwLock::default(),
            clock: AtomicU64::new(0),
            n_compiled: AtomicU64::new(0),
            n_hits: AtomicU64::new(0),
        };
        let session = Session { shared: Arc::new(shared) };
        if let Some(init) = init {
            session.run_with(&[], &[], &RunOptions { targets: vec![init], ..RunOptions::default() })?;
        }
        Ok(session)
    }
}

impl Session {
    /// Opens a graph: see [`SessionBuilder::open`].
    ///
    /// # Errors
    /// As [`SessionBuilder::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Session, Error> {
        Session::builder().open(path)
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

    /// [`Session::run`] with options.
    ///
    /// # Errors
    /// As [`Session::run`], and if nothing is fetched and there is no target.
    pub fn run_with(
        &self,
        feeds: &[(&str, HostTensor)],
        fetches: &[&str],
        options: &RunOptions,
    ) -> Result<Results, Error> {
        let names: Vec<&str> = feeds.iter().map(|(name, _)| *name).collect();
        let targets: Vec<&str> = options.targets.iter().map(String::as_str).collect();
        let executable = self.executable(&names, fetches, &targets)?;
        let values = feeds.iter().map(|(_, value)| Datum::from(value.clone())).collect();
        executable.call(&self.shared.resources, values, options)
    }

    /// Compiles what a run of these names needs, without running it.
    ///
    /// # Errors
    /// As [`Session::run`], but for the values.
    pub fn warm<T: AsRef<str>>(&self, feeds: &[T], fetches: &[T], targets: &[T]) -> Result<(), Error> {
        let [feeds, fetches, targets] =
            [feeds, fetches, targets].map(|names| names.iter().map(AsRef::as_ref).collect::<Vec<&str>>());
        self.executable(&feeds, &fetches, &targets).map(|_| ())
    }

    /// Prepares these names to be run again and again: nothing is looked up then.
    ///
    /// # Errors
    /// As [`Session::run`], but for the values.
    pub fn callable(&self, feeds: &[&str], fetches: &[&str]) -> Result<Callable, Error> {
        let executable = self.executable(feeds, fetches, &[])?;
        Ok(Callable { executable, resources: self.shared.resources.clone() })
    }

    /// The variables.
    pub fn variables(&self) -> Variables {
        Variables { resources: self.shared.resources.clone() }
    }

    /// Counts of what it has done.
    pub fn stats(&self) -> SessionStats {
        let shared = &self.shared;
        let executables = shared.executables.read().unwrap_or_else(PoisonError::into_inner).len();
        SessionStats {
            compilations: shared.n_compiled.load(Ordering::Relaxed),
            hits: shared.n_hits.load(Ordering::Relaxed),
            executables,
        }
    }

    /// The executable of these names, compiled if it is new.
    fn executable(&self, feeds: &[&str], fetches: &[&str], targets: &[&str]) -> Result<Executable, Error> {
        let shared = &self.shared;
        if fetches.is_empty() && targets.is_empty() {
            let message = "nothing to run: name a tensor to fetch, or a target";
            return Err(refused(ErrorCode::InvalidArgument, message.to_owned()));
        }
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let names = Names { feeds: owned(feeds), fetches: owned(fetches), targets: owned(targets) };
        let known = {
            let executables = shared.executables.read().unwrap_or_else(PoisonError::into_inner);
            executables.get(&names).cloned()
        };
        let entry = known.unwrap_or_else(|| shared.new_entry(&names));
        // Relaxed: an order of use that is a little off does no harm.
        entry.used.store(shared.clock.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        let mut is_new = false;
        let made = entry.made.get_or_init(|| {
            is_new = true;
            shared.compile(&names)
        });
        if made.is_err() {
            // A file that is mended, or variables that come later, may let it succeed.
            shared.executables.write().unwrap_or_else(PoisonError::into_inner).remove(&names);
        } else if !is_new {
            shared.n_hits.fetch_add(1, Ordering::Relaxed);
        }
        made.clone()
    }
}

impl SessionState {
    /// The entry of these names, with room for it.
    fn new_entry(&self, names: &Names) -> Arc<Entry> {
        let mut executables = self.executables.write().unwrap_or_else(PoisonError::into_inner);
        if executables.len() >= MAX_EXECUTABLES && !executables.contains_key(names) {
            let oldest = executables.iter().min_by_key(|(_, entry)| entry.used.load(Ordering::Relaxed));
            if let Some(oldest) = oldest.map(|(names, _)| names.clone()) {
                executables.remove(&oldest);
            }
        }
        let new = || Arc::new(Entry { made: OnceLock::new(), used: AtomicU64::new(u64::MAX) });
        executables.entry(names.clone()).or_insert_with(new).clone()
    }

    fn compile(&self, names: &Names) -> Result<Executable, Error> {
        let Names { feeds, fetches, targets } = names;
        let mut unique: Vec<String> = Vec::new();
        for fetch in fetches {
            if !unique.iter().any(|known| canonical(known) == canonical(fetch)) {
                unique.push(fetch.clone());
            }
        }
        let options = CompileOptions {
            feeds: feeds.clone(),
            fetches: unique,
            targets: targets.clone(),
            ..self.options.clone()
        };
        let compiled = compiled(self.source.clone(), &options)?;
        self.n_compiled.fetch_add(1, Ordering::Relaxed);
        let function = self.runtime.load_bytes(&compiled.bef)?.function("main")?;
        if feeds.is_empty()
            && let Some(port) = function.arguments().first()
        {
            let message = format!("placeholder {} is not fed, and {} needs it", port.label(0), needs(names));
            return Err(refused(ErrorCode::InvalidArgument, message));
        }
        let of = |fetch: &String| {
            let ports: &[Port] = function.results();
            ports.iter().position(|port| canonical(port.name()) == canonical(fetch))
        };
        let results = fetches.iter().map(of).collect();
        Ok(Executable { results, function, names: fetches.clone().into() })
    }
}

/// The fetches and targets, in words.
fn needs(names: &Names) -> String {
    let all: Vec<&str> = names.fetches.iter().chain(&names.targets).map(String::as_str).collect();
    format!("'{}'", all.join("', '"))
}

/// A tensor's name without the number of a first output.
fn canonical(name: &str) -> &str {
    name.strip_suffix(":0").unwrap_or(name)
}

impl Executable {
    fn call(&self, resources: &Resources, values: Vec<Datum>, run: &RunOptions) -> Result<Results, Error> {
        let cancellation = run.cancellation.clone();
        let mut options = CallOptions {
            resources: resources.clone(),
            cancellation: cancellation.unwrap_or_else(|| Cancellation::limited(run.deadline, None)),
            ..CallOptions::default()
        };
        if let Some(output) = &run.output {
            options.output = output.clone();
        }
        let made = self.function.call_with(values, &options)?;
        made.iter().try_for_each(|result| result.ok().map(|_| ()))?;
        if let Some(error) = options.cancellation.error() {
            return Err(error.clone());
        }
        let values = self.results.iter().map(|&result| made.get(result?).cloned()).collect();
        Ok(Results { names: self.names.clone(), values })
    }
}

/// A fixed set of names to feed and to fetch.
#[derive(Clone)]
pub struct Callable {
    executable: Executable,
    resources: Resources,
}

impl Callable {
    /// Computes the fetches, from feeds in their order.
    ///
    /// # Errors
    /// If there are more or fewer values than feeds, one has another type, or the computation fails.
    pub fn call(&self, feeds: impl IntoIterator<Item = HostTensor>) -> Result<Results, Error> {
        let feeds = feeds.into_iter().map(Datum::from).collect();
        self.executable.call(&self.resources, feeds, &RunOptions::default())
    }

    /// The feeds, with types.
    pub fn inputs(&self) -> &[Port] {
        self.executable.function.arguments()
    }
}

/// The fetched values, by the names or in the order in which they were asked for.
#[derive(Clone, Debug)]
pub struct Results {
    names: Arc<[String]>,
    values: Vec<Option<Datum>>,
}

impl Results {
    /// The value of a fetch; `None` if it was not fetched, or is an operation without outputs.
    pub fn get(&self, name: &str) -> Option<&Datum> {
        let at = self.names.iter().position(|known| canonical(known) == canonical(name))?;
        self.values.get(at)?.as_ref()
    }

    /// The number of fetches.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// True if nothing was fetched.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The values of the fetches, with their references.
    pub fn into_values(self) -> Vec<Option<Datum>> {
        self.values
    }

    /// The values of the fetches, in their order.
    pub fn iter(&self) -> impl Iterator<Item = Option<&Datum>> {
        self.values.iter().map(Option::as_ref)
    }
}

impl Index<&str> for Results {
    type Output = Datum;

    /// The value of a fetch.
    ///
    /// # Panics
    /// If it was not fetched.
    fn index(&self, name: &str) -> &Datum {
        match self.get(name) {
            Some(value) => value,
            None => panic!("'{name}' was not fetched; there are: {}", self.names.join(", ")),
        }
    }
}

impl Index<usize> for Results {
    type Output = Datum;

    /// The value of a fetch by its number.
    ///
    /// # Panics
    /// If there is none.
    fn index(&self, i: usize) -> &Datum {
        match self.values.get(i).and_then(Option::as_ref) {
            Some(value) => value,
            None => panic!("fetch {i} has no value; {} were asked for", self.len()),
        }
    }
}

/// The variables of a session.
#[derive(Clone)]
pub struct Variables {
    resources: Resources,
}

impl Variables {
    /// Those in `resources`.
    pub fn of(resources: &Resources) -> Variables {
        Variables { resources: resources.clone() }
    }

    /// The names of those that have values.
    ///
    /// # Errors
    /// If an update panicked.
    pub fn names(&self) -> Result<Vec<String>, Error> {
        Ok(self.snapshot()?.into_iter().map(|(name, _)| name).collect())
    }

    /// The value of a variable.
    ///
    /// # Errors
    /// If there is none of this name, or it has no value.
    pub fn get(&self, name: &str) -> Result<HostTensor, Error> {
        let found = self.snapshot()?.into_iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value).ok_or_else(|| {
            refused(ErrorCode::NotFound, format!("there is no variable '{name}' that has a value"))
        })
    }

    /// Gives a variable another value. What is held of the old one does not change.
    ///
    /// # Errors
    /// If there is none of this name, or the value is of another type or shape.
    pub fn set(&self, name: &str, value: HostTensor) -> Result<(), Error> {
        self.restore([(name.to_owned(), value)])
    }

    /// Removes a variable. Returns whether it had a value.
    pub fn remove(&self, name: &str) -> bool {
        remove_variable(&self.resources, &ResourceName::from(name))
    }

    /// The values of all variables at one moment: no update is partially visible.
    ///
    /// # Errors
    /// If an update panicked.
    pub fn snapshot(&self) -> Result<Vec<(String, HostTensor)>, Error> {
        let values = variable_values(&self.resources).map_err(failed)?;
        Ok(values.into_iter().map(|(name, value)| (name.name().to_owned(), value)).collect())
    }

    /// Gives variables the values of a snapshot, all at once, or after an error none.
    ///
    /// # Errors
    /// As [`Variables::set`].
    pub fn restore(&self, values: impl IntoIterator<Item = (String, HostTensor)>) -> Result<(), Error> {
        let all = variable_values(&self.resources).map_err(failed)?;
        let named = values.into_iter().map(|(name, value)| {
            let known = all.iter().find(|(known, _)| known.name() == name).map(|(known, _)| known.clone());
            let missing = || refused(ErrorCode::NotFound, format!("there is no variable '{name}'"));
            Ok((known.ok_or_else(missing)?, value))
        });
        assign_variable_values(&self.resources, named.collect::<Result<_, Error>>()?).map_err(failed)
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Session({:?}, {:?})", self.shared.source, self.stats())
    }
}

impl fmt::Debug for Callable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Callable({:?})", self.executable.function)
    }
}

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names().unwrap_or_default()).finish()
    }
}

impl fmt::Debug for SessionBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionBuilder").field("options", &self.options).finish_non_exhaustive()
    }
}

fn failed(error: KernelError) -> Error {
    Error::new(error.code(), error.to_string(), Vec::new())
}

fn refused(code: ErrorCode, message: String) -> Error {
    Error::new(code, message, Vec::new())
}
