//! TensorFlow's models with more than a graph: SavedModel folders and MetaGraphDefs.
//!
//! ```text
//! saved_model.pb(txt) ──▶ MetaGraphDef of the tags ──▶ signatures ──▶ public functions with their names
//! variables/variables.* ──bundle──▶ restore op ─┐                          │ variables and tables by name
//! assets/* ──▶ texts ──▶ initialization op ─────┴─▶ function `init` ───────┘
//! ```
//!
//! A session of TensorFlow runs the restore op, then the initialization op, before it answers calls. Both
//! become the function `init`, with the restored tensors and the texts of assets as constants: a program
//! needs no files. TF 1 and TF 2 models, partitioned variables and tables need no special cases, because the
//! graph itself says which tensors are restored to which variables.
//!
//! Variables stay variables. With [`ImportOptions::freeze`] those that nothing changes become constants
//! (`freeze`). `assets` replaces files by their contents, `origins` finds the constants and variables that
//! arguments stand for, `summary` describes a model.

mod assets;
mod custom;
mod freeze;
mod origins;
mod summary;

use std::collections::{BTreeMap, BTreeSet};

use befrost_tensor::bundle::{Bundle, BundleError};
use prost::Message;
use prost::bytes::Bytes;

use self::freeze::Frozen;
pub use self::freeze::frozen;
pub(crate) use self::freeze::{Unfrozen, copied_attr, freeze_values};
use super::errors::{self, Refusal};
use super::files::{ModelFiles, checked_name};
use super::graphdef::{EntryPoint, Surroundings, import, is_variable};
use super::proto::{AssetFileDef, GraphDef, MetaGraphDef, NodeDef, SavedModel, SignatureDef};
use super::{Feed, ImportOptions, Initialization, text};
use crate::diag::Diagnostic;
use crate::ir::{Module, free_name};

/// The kinds of TensorFlow's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorFlowKind {
    /// A graph.
    GraphDef,
    /// A graph with signatures; its variables are in a bundle beside it.
    MetaGraph,
    /// MetaGraphs, each with tags.
    SavedModel,
}

impl TensorFlowKind {
    /// The name of the message.
    fn message(self) -> &'static str {
        match self {
            TensorFlowKind::GraphDef => "GraphDef",
            TensorFlowKind::MetaGraph => "MetaGraphDef",
            TensorFlowKind::SavedModel => "SavedModel",
        }
    }
}

/// A model, decoded but not imported.
#[derive(Clone, Debug)]
pub struct TensorFlowModel {
    kind: TensorFlowKind,
    graphs: Vec<MetaGraphDef>,
    /// The name of its bundle of variables.
    variables: String,
}

/// An imported model.
pub struct ImportedModel {
    /// The program.
    pub module: Module,
    /// The function that initializes its variables and tables, to be called once before the others.
    pub init: Option<String>,
}

/// The signature whose output is the initialization op.
const INIT_SIGNATURE: &str = "__saved_model_init_op";

/// The prefix of entries among the signatures that are not signatures.
const RESERVED: &str = "__saved_model_";

/// The collections that name the initialization op in TF 1, the newer one first.
const INIT_COLLECTIONS: [&str; 2] = ["saved_model_main_op", "legacy_init_op"];

/// The collection of assets in TF 1.
const ASSET_COLLECTION: &str = "saved_model_assets";

/// The function that initializes variables and tables.
const INIT: &str = "init";

/// The tag of graphs for inference, chosen if none is named.
const SERVE: &str = "serve";

impl TensorFlowModel {
    /// Decodes a file. `variables` names the bundle beside it, without extension.
    ///
    /// # Errors
    /// If it is no such message.
    pub fn decode(
        kind: TensorFlowKind,
        file: Bytes,
        is_text: bool,
        variables: &str,
    ) -> Result<TensorFlowModel, Vec<Diagnostic>> {
        let refused = |refusal: Refusal| vec![*refusal];
        let message = kind.message();
        let file = match is_text {
            false => file,
            true => std::str::from_utf8(&file)
                .map_err(|error| format!("not valid UTF-8 at byte {}", error.valid_up_to()))
                .and_then(|text| text::to_binary(text, message))
                .map_err(|why| refused(errors::not_a_text(message, &why)))?
                .into(),
        };
        let not_a = |error: prost::DecodeError| refused(errors::not_a(message, &error.to_string()));
        let graphs = match kind {
            TensorFlowKind::GraphDef => {
                let graph_def = Some(GraphDef::decode(file).map_err(not_a)?);
                vec![MetaGraphDef { graph_def, ..MetaGraphDef::default() }]
            }
            TensorFlowKind::MetaGraph => vec![MetaGraphDef::decode(file).map_err(not_a)?],
            TensorFlowKind::SavedModel => SavedModel::decode(file).map_err(not_a)?.meta_graphs,
        };
        if graphs.iter().all(|meta| meta.graph_def.is_none()) {
            return Err(refused(errors::empty()));
        }
        Ok(TensorFlowModel { kind, graphs, variables: variables.to_owned() })
    }

    /// True if it names the inputs and outputs of functions.
    pub fn has_signatures(&self) -> bool {
        self.graphs.iter().any(|meta| signatures(meta).next().is_some())
    }

    /// Imports the model: the signatures, or the feeds and fetches of the options.
    ///
    /// # Errors
    /// If it has no such part, its files are missing or damaged, or its graph cannot be imported.
    pub fn import(
        &self,
        options: &ImportOptions,
        files: &dyn ModelFiles,
    ) -> Result<ImportedModel, Vec<Diagnostic>> {
        self.imported(options, files).map_err(|refusal| vec![*refusal])
    }

    fn imported(&self, options: &ImportOptions, files: &dyn ModelFiles) -> Result<ImportedModel, Refusal> {
        let meta = self.tagged(&options.tags)?;
        let graph = meta.graph_def.as_ref().ok_or_else(errors::empty)?;
        let mut entries = match &options.training {
            Some(parts) => EntryPoint::of_training(graph, parts, &options.gradients)?,
            None if options.initialization == Initialization::Alone => Vec::new(),
            None => entries(meta, options)?,
        };
        let bundle = self.bundle(meta, graph, files)?;
        let mut targets = match options.initialization {
            Initialization::Without => Vec::new(),
            Initialization::Included | Initialization::Alone => init_targets(meta, bundle.is_some()),
        };
        let own = entries.iter_mut().find(|entry| options.training.is_some() && entry.symbol == INIT);
        if let Some(own) = own {
            // The targets that a session runs first, then those that the caller names.
            own.targets.splice(0..0, std::mem::take(&mut targets));
        }
        let init = (!targets.is_empty()).then(|| free_symbol(INIT, &entries));
        if let Some(symbol) = &init {
            let fetches = Some(Vec::new());
            entries.push(EntryPoint { symbol: symbol.clone(), targets, fetches, ..EntryPoint::default() });
        }
        let surroundings = Surroundings {
            texts: texts(meta, &self.variables)?,
            bundle: bundle.as_ref(),
            shares_resources: self.kind != TensorFlowKind::GraphDef || options.training.is_some(),
            gradients: custom::gradients(meta),
        };
        let mut module = import(graph, &entries, &surroundings)?;
        // The names of assets are in variables of strings, or constants.
        freeze::freeze(&mut module, Frozen::Strings)?;
        assets::embed(&mut module, files)?;
        if options.freeze {
            freeze::freeze(&mut module, Frozen::All)?;
        }
        let init = init.filter(|name| !freeze::remove_without_effects(&mut module, name));
        Ok(ImportedModel { module, init })
    }

    /// The graph with these tags; without any, the only one or the one for serving.
    fn tagged(&self, tags: &[String]) -> Result<&MetaGraphDef, Refusal> {
        let sorted = |tags: &[String]| tags.iter().cloned().collect::<BTreeSet<String>>();
        let of = |meta: &MetaGraphDef| sorted(meta.meta_info_def.as_ref().map_or(&[], |info| &info.tags));
        let wanted = match (tags, &self.graphs[..]) {
            ([], [only]) => return Ok(only),
            ([], _) => BTreeSet::from([SERVE.to_owned()]),
            (tags, _) => sorted(tags),
        };
        let found = self.graphs.iter().find(|meta| of(meta) == wanted);
        found.ok_or_else(|| {
            let all: Vec<String> = self.graphs.iter().map(|meta| shown_tags(&of(meta))).collect();
            errors::no_such_graph(&shown_tags(&wanted), &all)
        })
    }

    /// The bundle of the variables that a graph restores.
    fn bundle(
        &self,
        meta: &MetaGraphDef,
        graph: &GraphDef,
        files: &dyn ModelFiles,
    ) -> Result<Option<Bundle>, Refusal> {
        let restores = meta.saver_def.as_ref().is_some_and(|saver| !saver.restore_op_name.is_empty());
        let has_variables = || graph.node.iter().any(|node| is_variable(&node.op));
        let is_there = files.has(&format!("{}.index", self.variables));
        if !restores || !is_there && !has_variables() {
            return Ok(None);
        }
        self.open_bundle(files).map(Some).map_err(|error| errors::variables(&error.to_string()))
    }

    fn open_bundle(&self, files: &dyn ModelFiles) -> Result<Bundle, BundleError> {
        Bundle::open(&self.variables, &mut |name| files.read(name).map(Into::into))
    }
}

fn shown_tags(tags: &BTreeSet<String>) -> String {
    let tags: Vec<&str> = tags.iter().map(String::as_str).collect();
    format!("[{}]", tags.join(", "))
}

/// The parts of a graph that become functions.
fn entries(meta: &MetaGraphDef, options: &ImportOptions) -> Result<Vec<EntryPoint>, Refusal> {
    let signatures: BTreeMap<&str, &SignatureDef> = signatures(meta).collect();
    let names_function = !options.function.is_empty() && options.function != "main";
    if let Some(name) = &options.signature {
        let signature = signatures.get(&name[..]);
        let signature = signature.ok_or_else(|| {
            errors::no_such_signature(name, &signatures.keys().copied().collect::<Vec<_>>())
        })?;
        let symbol = if names_function { &options.function } else { name };
        let gradients = options.gradients.clone();
        return Ok(vec![EntryPoint { gradients, ..entry(symbol, name, signature)? }]);
    }
    let names_tensors =
        !(options.feeds.is_empty() && options.fetches.is_empty() && options.gradients.is_empty());
    if names_tensors || options.everything || signatures.is_empty() {
        return Ok(vec![EntryPoint::of_options(options)]);
    }
    signatures.into_iter().map(|(name, signature)| entry(name, name, signature)).collect()
}

/// The signatures of a graph, without those that name ops for other purposes.
fn signatures(meta: &MetaGraphDef) -> impl Iterator<Item = (&str, &SignatureDef)> {
    let all = meta.signature_def.iter().map(|(name, signature)| (name.as_str(), signature));
    all.filter(|(name, _)| !name.starts_with(RESERVED))
}

fn entry(symbol: &str, name: &str, signature: &SignatureDef) -> Result<EntryPoint, Refusal> {
    let mut found = EntryPoint { symbol: symbol.to_owned(), ..EntryPoint::default() };
    for (key, info) in &signature.inputs {
        if info.name.is_empty() {
            return Err(errors::composite(name, key));
        }
        found.feeds.push((Feed::named(info.name.clone()), key.clone()));
    }
    let mut fetches = Vec::new();
    for (key, info) in &signature.outputs {
        if info.name.is_empty() {
            return Err(errors::composite(name, key));
        }
        fetches.push((info.name.clone(), key.clone()));
    }
    found.fetches = Some(fetches);
    Ok(found)
}

/// The nodes that a session runs first: to restore variables, then to initialize tables.
fn init_targets(meta: &MetaGraphDef, restores: bool) -> Vec<String> {
    let mut targets = Vec::new();
    if restores && let Some(saver) = &meta.saver_def {
        targets.push(saver.restore_op_name.clone());
    }
    let of_signature = meta.signature_def.get(INIT_SIGNATURE).and_then(|signature| {
        signature.outputs.get(INIT_SIGNATURE).or(signature.outputs.values().next()).map(|info| &info.name)
    });
    match of_signature {
        Some(name) if !name.is_empty() => targets.push(name.clone()),
        _ => {
            let collection = INIT_COLLECTIONS.iter().find_map(|name| meta.collection_def.get(*name));
            let nodes = collection.and_then(|collection| collection.node_list.as_ref());
            targets.extend(nodes.iter().flat_map(|nodes| &nodes.value).cloned());
        }
    }
    targets
}

/// The assets of a graph, of TF 2's or TF 1's.
fn asset_files(meta: &MetaGraphDef) -> Vec<AssetFileDef> {
    let any = meta.collection_def.get(ASSET_COLLECTION).and_then(|all| all.any_list.as_ref());
    let of_collection = any.iter().flat_map(|any| &any.value).map(|any| AssetFileDef::decode(&any.value[..]));
    meta.asset_file_def.iter().cloned().chain(of_collection.flatten()).collect()
}

/// The values of string constants that depend on the model's place, by node: the bundle of the variables, and
/// the files of assets.
fn texts(meta: &MetaGraphDef, variables: &str) -> Result<BTreeMap<String, String>, Refusal> {
    let node = |tensor: &str| tensor.split(':').next().unwrap_or_default().to_owned();
    let mut texts = BTreeMap::new();
    for asset in asset_files(meta) {
        let name = format!("assets/{}", asset.filename);
        checked_name(&name).map_err(|why| errors::asset(&name, &why))?;
        let tensor = asset.tensor_info.as_ref().map_or("", |info| &info.name);
        texts.insert(node(tensor), name);
    }
    if let Some(saver) = &meta.saver_def {
        texts.insert(node(&saver.filename_tensor_name), variables.to_owned());
    }
    Ok(texts)
}

/// A name that no entry point has.
fn free_symbol(name: &str, entries: &[EntryPoint]) -> String {
    free_name(name, |name| entries.iter().all(|entry| entry.symbol != name))
}

/// The nodes of a graph and of its functions.
fn all_nodes(graph: &GraphDef) -> impl Iterator<Item = &NodeDef> {
    let functions = graph.library.iter().flat_map(|library| &library.function);
    graph.node.iter().chain(functions.flat_map(|function| &function.node_def))
}
