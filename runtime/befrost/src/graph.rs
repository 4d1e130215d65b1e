//! Graphs to which gradients and updates are added before they run.
//!
//! ```text
//! Graph ──gradients──▶ names to fetch ─┐
//!       ──minimize───▶ a node to run ──┴─ Session: each set of names is imported with what it asks for
//! ```
//!
//! Nothing is copied or written: a graph is its file, and a list of what is added. Only the part that a run
//! names is computed.

use std::fmt;
use std::path::Path;

use befrost_compiler::import::GradientRequest;
use befrost_compiler::import::recognize::FileKind;
use befrost_compiler::train::Optimizer;
use befrost_kernel_api::{Error, ErrorCode};
use befrost_tensor::bundle::Bytes;

use crate::access::FileAccess;
use crate::compile::{CompileOptions, KnownFile, Source, canonical, compile_with};
use crate::program::Program;
use crate::runtime::Runtime;
use crate::training::Training;

/// The node that initializes the variables, unless another one is named.
const INIT: &str = "init";

/// The node that [`Graph::minimize`] adds.
const MINIMIZE: &str = "minimize";

/// A graph, with gradients and a training step that are added to it, by the names of its tensors.
///
/// ```
/// use befrost::{Gradients, Graph, HostTensor, Optimizer, RunOptions, Session};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/training/digits_cnn.pb");
/// let mut graph = Graph::open(path)?;
/// let [dw, none] = graph.gradients(&["loss:0"], &["conv0/w:0", "labels:0"], &Gradients::default())?;
/// assert_eq!((dw.as_deref(), none), (Some("gradients/conv0/w:0"), None));
/// let train = graph.minimize("loss:0", &Optimizer::adam(1e-3))?;
/// let session = Session::builder().graph(graph)?;
/// session.run_with::<HostTensor>(&[], &[], &RunOptions::targets(["init"]))?;
/// let images = HostTensor::from_vec([2, 64], vec![0.5f32; 128])?;
/// let feeds = [("images:0", images), ("labels:0", HostTensor::from_vec([2], vec![3i32, 7])?)];
/// let first = session.run_with(&feeds, &["loss:0"], &RunOptions::targets([&train]))?;
/// let second = session.run(&feeds, &["loss:0"])?;
/// let loss = |results: &befrost::Results| results["loss:0"].tensor().map(|x| x.to_vec::<f32>());
/// assert!(loss(&second)??[0] < loss(&first)??[0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Graph {
    pub(crate) source: Source,
    pub(crate) additions: Additions,
}

/// The gradients and the training step that are added to a graph.
#[derive(Clone, Debug, Default)]
pub(crate) struct Additions {
    gradients: Vec<Added>,
    training: Option<Training>,
}

/// Gradients that were added.
#[derive(Clone, Debug)]
struct Added {
    request: GradientRequest,
    /// For each x the name of its gradient, without the number of an output, if there is one.
    names: Vec<Option<String>>,
}

/// Options of [`Graph::gradients`].
#[derive(Clone, Debug, Default)]
pub struct Gradients {
    /// The gradients of the ys, as tensors of the graph; ones, if there are none.
    pub dys: Vec<String>,
    /// Tensors that are constants.
    pub stop: Vec<String>,
    /// The order of the derivative: 2 differentiates the sum of all elements of the first gradients, and so
    /// on. 0 means 1.
    pub order: u32,
    /// Gives a gradient of zeros where none of the ys depends on an x.
    pub unconnected_zeros: bool,
    /// The first part of the gradients' names; `gradients`, if it is empty.
    pub name: String,
}

/// The compilation of a run.
pub(crate) struct Asked {
    pub(crate) options: CompileOptions,
    /// The function to call.
    pub(crate) function: &'static str,
}

impl Graph {
    /// Opens a graph: a TensorFlow GraphDef, a MetaGraph or a SavedModel, or an ONNX model (which has no
    /// gradients).
    ///
    /// # Errors
    /// If there is no such file, or it is a program, which is no graph.
    pub fn open(path: impl AsRef<Path>) -> Result<Graph, Error> {
        let path = path.as_ref();
        match found(path, &FileAccess::default())?.kind {
            FileKind::Bef | FileKind::Text => {
                Err(refused(format!("'{}' is a program, no graph", path.display())))
            }
            FileKind::TensorFlow(..) | FileKind::Onnx => Ok(Graph::at(path)),
        }
    }

    /// The graph at a path.
    pub(crate) fn at(path: &Path) -> Graph {
        Graph { source: Source::File(path.to_owned()), additions: Additions::default() }
    }

    /// A TensorFlow GraphDef in memory.
    pub fn graphdef(bytes: Vec<u8>) -> Graph {
        Graph { source: Source::GraphDef(bytes), additions: Additions::default() }
    }

    /// A graph that is the contents of a file.
    pub(crate) fn of_bytes(bytes: Bytes) -> Graph {
        Graph { source: Source::Bytes(bytes), additions: Additions::default() }
    }

    /// Adds the gradients of the sum of the ys with respect to xs. An x that is a variable's handle stands
    /// for its value. Returns the names under which they can be fetched; `None` if no y depends on an x.
    ///
    /// # Errors
    /// If there is no tensor of a name, or an operator in between has no gradient.
    pub fn gradients<const N: usize>(
        &mut self,
        ys: &[&str],
        xs: &[&str; N],
        options: &Gradients,
    ) -> Result<[Option<String>; N], Error> {
        let mut found = self.gradients_by(ys, xs, options)?.into_iter();
        Ok(std::array::from_fn(|_| found.next().flatten()))
    }

    /// [`Graph::gradients`] with respect to any number of xs.
    ///
    /// # Errors
    /// As [`Graph::gradients`].
    pub fn gradients_by(
        &mut self,
        ys: &[&str],
        xs: &[&str],
        options: &Gradients,
    ) -> Result<Vec<Option<String>>, Error> {
        if ys.is_empty() || xs.is_empty() {
            return Err(refused("gradients need a y and an x".to_owned()));
        }
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let stem = if options.name.is_empty() { "gradients" } else { &options.name };
        let taken = |name: &str| self.additions.gradients.iter().any(|known| known.request.name == name);
        let numbered = |i: usize| if i == 0 { stem.to_owned() } else { format!("{stem}_{i}") };
        let name = (0..).map(numbered).find(|name| !taken(name)).unwrap_or_default();
        let request = GradientRequest {
            ys: owned(ys),
            dys: options.dys.clone(),
            xs: owned(xs),
            stops: options.stop.clone(),
            order: options.order,
            zero: options.unconnected_zeros,
            name: name.clone(),
            ..GradientRequest::default()
        };
        let fetches = owned(&ys[..1]);
        let program =
            self.program(CompileOptions { fetches, gradients: vec![request.clone()], ..shared() })?;
        let function = program.function("main")?;
        let there = |name: &str| function.results().iter().any(|port| port.name() == name);
        let found = xs.iter().map(|x| {
            let of_x = format!("{name}/{}", canonical(x));
            there(&of_x).then(|| if of_x.contains(':') { of_x } else { of_x + ":0" })
        });
        let found: Vec<Option<String>> = found.collect();
        let names = found.iter().map(|name| name.as_deref().map(|name| canonical(name).to_owned())).collect();
        self.additions.gradients.push(Added { request, names });
        Ok(found)
    }

    /// Adds an operation that updates all variables on which a loss depends, to make it smaller. Its slots
    /// get their initial values together with the variables, by the node `init` of the graph. Returns the
    /// name of the operation.
    ///
    /// # Errors
    /// If there is an optimizer already, the loss is no scalar of the graph or depends on no variable, or an
    /// operator in between has no gradient.
    pub fn minimize(&mut self, loss: &str, optimizer: &Optimizer) -> Result<String, Error> {
        self.train(Training::of(loss).optimizer(&optimizer.to_string()))
    }

    /// [`Graph::minimize`] with a schedule, other nodes that run with each step, or another node that
    /// initializes the variables. Metrics are of no use here: any tensor can be fetched.
    ///
    /// # Errors
    /// As [`Graph::minimize`].
    pub fn train(&mut self, training: Training) -> Result<String, Error> {
        if self.additions.training.is_some() {
            let why = "the graph has an optimizer already, to which its slots and its count of steps belong";
            return Err(refused(why.to_owned()));
        }
        let training = training.of_session();
        self.program(CompileOptions { training: Some(training.clone()), ..shared() })?;
        self.additions.training = Some(training);
        Ok(MINIMIZE.to_owned())
    }

    /// The graph's program, not optimized.
    fn program(&self, options: CompileOptions) -> Result<Program, Error> {
        let bef = compile_with(self.source.clone(), &CompileOptions { level: 0, ..options })?;
        Ok(Runtime::builder().work_queue("s").build()?.load_bytes(&bef)?)
    }
}

/// Recognizes the file at a path.
///
/// # Errors
/// If there is none, or it is not recognized.
pub(crate) fn found(path: &Path, access: &FileAccess) -> Result<KnownFile, Error> {
    if !path.exists() {
        let message = format!("there is no file '{}'", path.display());
        return Err(Error::new(ErrorCode::NotFound, message, Vec::new()));
    }
    Ok(KnownFile::open(path, access)?)
}

/// The options of a part of a graph, whose variables other parts share.
fn shared() -> CompileOptions {
    CompileOptions { shares_resources: true, ..CompileOptions::default() }
}

impl Additions {
    /// The compilation of a run, whose names are in `options`.
    ///
    /// # Errors
    /// If it initializes an optimizer and does something else.
    pub(crate) fn asked(&self, mut options: CompileOptions) -> Result<Asked, Error> {
        let gradients = self.requested(&mut options.fetches);
        let names = |node: &str| options.targets.iter().any(|name| name == node);
        let of_training = self.training.as_ref().and_then(|training| {
            let init = training.init_node().unwrap_or(INIT);
            let nodes = [("init", init), ("step", MINIMIZE)];
            nodes.into_iter().find(|(_, node)| names(node)).map(|(function, node)| (training, function, node))
        });
        let Some((training, function, node)) = of_training else {
            if options.fetches.is_empty() && options.targets.is_empty() {
                // Without any fetch all outputs of the graph would be results.
                options.fetches.extend(gradients.first().map(|request| request.ys[0].clone()));
            }
            return Ok(Asked { options: CompileOptions { gradients, ..options }, function: "main" });
        };
        let is_alone = options.targets.len() == 1 && options.fetches.is_empty() && gradients.is_empty();
        if function == "init" && !is_alone {
            return Err(refused(format!("'{node}' initializes the optimizer too, and runs alone")));
        }
        let fetches = std::mem::take(&mut options.fetches);
        let mut targets = std::mem::take(&mut options.targets);
        targets.retain(|name| name != node);
        let training = Some(training.clone().with_run(fetches, targets));
        Ok(Asked { options: CompileOptions { training, gradients, ..options }, function })
    }

    /// Takes the gradients out of the fetches, as requests for them.
    fn requested(&self, fetches: &mut Vec<String>) -> Vec<GradientRequest> {
        let mut found: Vec<GradientRequest> = Vec::new();
        fetches.retain(|fetch| {
            let Some((Added { request, .. }, x)) =
                self.gradients.iter().find_map(|added| Some((added, added.x(fetch)?)))
            else {
                return true;
            };
            match found.iter_mut().find(|known| known.name == request.name) {
                Some(known) if known.xs.contains(x) => {}
                Some(known) => known.xs.push(x.clone()),
                // A higher order is that of the sum over all xs.
                None if request.order > 1 => found.push(request.clone()),
                None => found.push(GradientRequest { xs: vec![x.clone()], ..request.clone() }),
            }
            false
        });
        found
    }
}

impl Added {
    /// The x whose gradient has this name.
    fn x(&self, name: &str) -> Option<&String> {
        let at = self.names.iter().position(|known| known.as_deref() == Some(canonical(name)))?;
        self.request.xs.get(at)
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Graph({:?}, {} gradients)", self.source, self.additions.gradients.len())
    }
}

fn refused(message: String) -> Error {
    Error::new(ErrorCode::InvalidArgument, message, Vec::new())
}
