//! TensorFlow's GraphDef.
//!
//! ```text
//! GraphDef ──▶ names ──▶ needed: from fetches back to feeds ──▶ order: inputs first ──▶ one op per node
//!              │                                  (body)                                  (build)
//! library ─────┴▶ one func.func per function and attributes that it is called with
//! ```
//!
//! A control edge becomes an operand of type `!tfrt.chain` after the others; its source gets an additional
//! result. Where a reference variable is used as a tensor, a `tf._ReadRef` reads it at that place. Element
//! types follow from TensorFlow's signatures; shapes are inferred later (`tf-shape-inference`).
//!
//! A body whose needed nodes have primitives of dataflow control flow (Switch, Merge, Enter ...) becomes one
//! `tf_executor.graph`. Its cycles are cut at the NextIterations. Constants keep their control edges there,
//! which say in which frame and branch they are.
//!
//! `attr` and `tensor` translate values, `body` selects and orders the nodes, `build` creates ops, `dataflow`
//! graphs, `calls` checks the types of calls, `restore` makes constants of tensors in files.

mod attr;
mod body;
mod build;
mod calls;
mod custom;
mod dataflow;
mod devices;
mod ends;
mod gradients;
mod restore;
mod tensor;
mod training;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Read;

use befrost_tensor::bundle::Bundle;
use prost::Message;
use prost::bytes::Bytes;

use self::body::GraphBody;
pub(super) use self::build::{is_placeholder, is_variable};
use super::errors::{self, Refusal};
use super::input::{Input, shared};
use super::proto::{AttrValue, FunctionDef, GraphDef, NameAttrList, NodeDef};
use super::{Feed, GradientRequest, ImportOptions, text};
use crate::diag::Diagnostic;
use crate::ir::Module;

/// Imports a binary GraphDef of `len` bytes. It is read once, and its tensors are not copied.
///
/// # Errors
/// If the file cannot be read or is no GraphDef, the graph is not well-formed, has unsupported operations, or
/// lacks a feed or fetch of the options.
pub fn graphdef(file: impl Read, len: usize, options: &ImportOptions) -> Result<Module, Vec<Diagnostic>> {
    let mut input = Input::new(file, len);
    let graph = GraphDef::decode(&mut input).map_err(|error| error.to_string());
    let graph = match input.into_error() {
        Some(error) => Err(format!("it cannot be read: {error}")),
        None => graph,
    };
    decoded(graph, options)
}

/// Imports a binary GraphDef that is in memory or mapped. Its tensors share its bytes.
///
/// # Errors
/// As [`graphdef`].
pub fn graphdef_in_memory(
    file: Box<dyn AsRef<[u8]> + Send>,
    options: &ImportOptions,
) -> Result<Module, Vec<Diagnostic>> {
    decoded(GraphDef::decode(shared(file)).map_err(|error| error.to_string()), options)
}

/// Imports a GraphDef as text.
///
/// # Errors
/// As [`graphdef`].
pub fn graphdef_text(text: &str, options: &ImportOptions) -> Result<Module, Vec<Diagnostic>> {
    let graph =
        text::to_binary(text, "GraphDef").map_err(|why| vec![*errors::not_a_text("GraphDef", &why)])?;
    decoded(GraphDef::decode(Bytes::from(graph)).map_err(|error| error.to_string()), options)
}

fn decoded(graph: Result<GraphDef, String>, options: &ImportOptions) -> Result<Module, Vec<Diagnostic>> {
    let graph = graph.map_err(|why| vec![*errors::not_a_graph(&why)])?;
    let imported = match &options.training {
        None => {
            let mut entries = vec![EntryPoint::of_options(options)];
            entries.extend(options.init.as_deref().map(EntryPoint::of_init));
            let shares_resources = options.init.is_some() || options.shares_resources;
            import(&graph, &entries, &Surroundings { shares_resources, ..Surroundings::default() })
        }
        Some(parts) => EntryPoint::of_training(&graph, parts, &options.gradients).and_then(|entries| {
            import(&graph, &entries, &Surroundings { shares_resources: true, ..Surroundings::default() })
        }),
    };
    imported.map_err(|error| vec![*error])
}

/// A function of the module, given by tensors of the graph.
#[derive(Debug, Default)]
pub(super) struct EntryPoint {
    pub(super) symbol: String,
    /// The arguments and their names. With `takes_placeholders`, the needed placeholders are further ones.
    pub(super) feeds: Vec<(Feed, String)>,
    pub(super) takes_placeholders: bool,
    /// The results, and their names; `None`: all unconsumed outputs.
    pub(super) fetches: Option<Vec<(String, String)>>,
    /// True if all outputs of nodes are results.
    pub(super) everything: bool,
    /// Nodes for whose effects it is called, one after the other, before the results.
    pub(super) targets: Vec<String>,
    /// True if the results come before the effects.
    pub(super) results_first: bool,
    /// Gradients, which are additional results.
    pub(super) gradients: Vec<GradientRequest>,
}

impl EntryPoint {
    /// The part of the graph that the options name.
    pub(super) fn of_options(options: &ImportOptions) -> EntryPoint {
        let named = |name: &String| (name.clone(), build::canonical(name).to_owned());
        let feeds = options.feeds.iter().map(|feed| (feed.clone(), named(&feed.name).1));
        let fetches = options.fetches.iter().map(named).collect();
        EntryPoint {
            symbol: if options.function.is_empty() { "main".to_owned() } else { options.function.clone() },
            feeds: feeds.collect(),
            takes_placeholders: options.feeds.is_empty(),
            fetches: Some(fetches).filter(|_| !options.fetches.is_empty() || !options.targets.is_empty()),
            everything: options.everything,
            targets: options.targets.clone(),
            results_first: !options.targets.is_empty(),
            gradients: options.gradients.clone(),
        }
    }

    /// A node that initializes variables.
    fn of_init(node: &str) -> EntryPoint {
        let (fetches, targets) = (Some(Vec::new()), vec![node.to_owned()]);
        EntryPoint { symbol: INIT.to_owned(), fetches, targets, ..EntryPoint::default() }
    }
}

/// The function that initializes a graph's variables.
pub const INIT: &str = "init";

/// The surroundings of a graph: the files beside it, and its other entry points.
#[derive(Debug, Default)]
pub(super) struct Surroundings<'g> {
    /// The values of string constants that depend on the model's place, by node.
    pub(super) texts: BTreeMap<String, String>,
    /// The bundle from which it restores its variables.
    pub(super) bundle: Option<&'g Bundle>,
    /// True if its other entry points share its resources without a name.
    pub(super) shares_resources: bool,
    /// The gradient functions that it describes, by name.
    pub(super) gradients: BTreeMap<&'g str, SavedGradient<'g>>,
}

/// A gradient function as a SavedModel describes it.
#[derive(Debug)]
pub(super) struct SavedGradient<'g> {
    /// For each operand of the node, whether the function gives its gradient.
    pub(super) gives: Vec<bool>,
    /// Its last arguments, which it captures.
    pub(super) captures: Vec<Capture<'g>>,
}

/// An argument that a gradient function captures.
#[derive(Clone, Copy, Debug)]
pub(super) enum Capture<'g> {
    /// A tensor of a function, by its name there.
    Tensor { function: &'g str, name: &'g str },
    /// A variable, by its node in the graph.
    Variable(&'g NodeDef),
    /// Something else.
    Other,
}

/// Imports a graph.
pub(super) fn import(
    graph: &GraphDef,
    entries: &[EntryPoint],
    surroundings: &Surroundings<'_>,
) -> Result<Module, Refusal> {
    if graph.node.is_empty() {
        return Err(errors::empty());
    }
    let mut importer = Importer::new(graph, entries, surroundings)?;
    for entry in entries {
        let mut body = GraphBody::of_graph(&graph.node, entry)?;
        body.captured = importer.captured(&body);
        importer.entry(body, entry)?;
    }
    while let Some(instance) = importer.queue.pop() {
        importer.function(&instance)?;
    }
    if importer.unsupported.is_empty() {
        calls::check(&importer.m)?;
        return Ok(importer.m);
    }
    let ops = importer.unsupported.into_iter().map(|(op, nodes)| (op, nodes.into_iter().collect()));
    // The function that initializes the others has no results.
    let gives = |entry: &&EntryPoint| entry.fetches.as_ref().is_none_or(|fetches| !fetches.is_empty());
    Err(errors::unsupported(&ops.collect::<Vec<_>>(), entries.iter().filter(gives).count()))
}

/// Maximum number of functions of a module, so that instantiation ends.
const MAX_INSTANCES: usize = 1 << 14;

/// The state of an import.
struct Importer<'g> {
    m: Module,
    library: HashMap<&'g str, &'g FunctionDef>,
    /// Functions that are gradients, by the function that they are the gradient of.
    gradients: HashMap<&'g str, &'g str>,
    /// The same by the types of gradients that IdentityNs name.
    registered: HashMap<&'g str, &'g str>,
    /// Symbols of functions by name and attributes of the call.
    symbols: BTreeMap<String, String>,
    taken: BTreeSet<String>,
    /// Functions still to be imported.
    queue: Vec<FunctionInstance<'g>>,
    /// Nodes of unsupported operations, by operation.
    unsupported: BTreeMap<String, BTreeSet<String>>,
    surroundings: &'g Surroundings<'g>,
}

/// A function with the attributes of its calls.
struct FunctionInstance<'g> {
    symbol: String,
    function: &'g FunctionDef,
    attrs: BTreeMap<String, AttrValue>,
}

impl<'g> Importer<'g> {
    fn new(
        graph: &'g GraphDef,
        entries: &[EntryPoint],
        surroundings: &'g Surroundings<'g>,
    ) -> Result<Importer<'g>, Refusal> {
        let mut library = HashMap::new();
        for function in graph.library.iter().flat_map(|library| &library.function) {
            let name = function.signature.as_ref().map_or("", |signature| signature.name.as_str());
            if library.insert(name, function).is_some() {
                return Err(errors::function(name, "it is defined twice"));
            }
        }
        let custom = graph.library.iter().flat_map(|library| &library.gradient);
        let gradients = custom.map(|def| (&*def.function_name, &*def.gradient_func)).collect();
        let custom = graph.library.iter().flat_map(|library| &library.registered_gradients);
        let registered = custom.map(|def| (&*def.registered_op_type, &*def.gradient_func)).collect();
        let taken = entries.iter().map(|entry| entry.symbol.clone()).collect();
        let (symbols, unsupported) = (BTreeMap::new(), BTreeMap::new());
        let (m, queue) = (Module::new(), Vec::new());
        Ok(Importer { m, library, gradients, registered, symbols, taken, queue, unsupported, surroundings })
    }

    /// The symbol of a function, which is queued for import if it is new.
    fn symbol(
        &mut self,
        called: &NameAttrList,
        outer: &BTreeMap<String, AttrValue>,
    ) -> Result<String, String> {
        let function = self.library.get(called.name.as_str()).copied();
        let function =
            function.ok_or_else(|| format!("there is no function '{}'", errors::shown(&called.name)))?;
        let signature = function.signature.iter().flat_map(|signature| &signature.attr);
        let mut attrs = BTreeMap::new();
        for declared in signature {
            let given = called.attr.get(&declared.name).map(|value| body::resolved(value, outer));
            if let Some(value) = given.or(declared.default_value.as_ref()) {
                attrs.insert(declared.name.clone(), value.clone());
            }
        }
        let key = format!("{} {attrs:?}", called.name);
        if let Some(symbol) = self.symbols.get(&key) {
            return Ok(symbol.clone());
        }
        if self.symbols.len() == MAX_INSTANCES {
            return Err(format!("the functions multiply to more than {MAX_INSTANCES}"));
        }
        let mut symbol = called.name.clone();
        let mut n = 0;
        while !self.taken.insert(symbol.clone()) {
            n += 1;
            symbol = format!("{}_{n}", called.name);
        }
        self.symbols.insert(key, symbol.clone());
        self.queue.push(FunctionInstance { symbol: symbol.clone(), function, attrs });
        Ok(symbol)
    }

    /// Records a node of an unsupported operation.
    fn unsupported(&mut self, op: &str, node: &str) {
        self.unsupported.entry(op.to_owned()).or_default().insert(node.to_owned());
    }
}
