//! Summaries of TensorFlow's models.

use std::collections::{BTreeMap, BTreeSet};

use befrost_tensor::tf::op::{OpRow, Type, row};

use super::{TensorFlowKind, TensorFlowModel, all_nodes, asset_files, signatures};
use crate::diag::Diagnostic;
use crate::dialects::tf_executor::Primitive;
use crate::import::ImportOptions;
use crate::import::files::{ModelFiles, NoFiles};
use crate::import::graphdef::is_placeholder;
use crate::import::proto::attr_value::Value;
use crate::import::proto::{
    GraphDef, MetaGraphDef, NodeDef, SignatureDef, TensorInfo, TensorProto, TensorShapeProto,
};
use crate::import::summary::{GraphSummary, ModelSummary, OpSummary, SignatureSummary, TensorSummary};
use crate::ir::{Module, StrId, TypeId, names};

/// The tensor in which object-based checkpoints describe their objects.
const OBJECT_GRAPH: &str = "_CHECKPOINTABLE_OBJECT_GRAPH";

impl TensorFlowModel {
    /// Summarizes the model. Problems with its files are part of the summary.
    pub fn summary(&self, files: &dyn ModelFiles) -> ModelSummary {
        let graphs = self.graphs.iter().map(|meta| self.graph_summary(meta, files)).collect();
        ModelSummary { format: self.kind.message().to_owned(), graphs }
    }

    /// The signatures of the graph with these tags; none if it has none.
    ///
    /// # Errors
    /// If there is no such graph.
    pub fn signatures(&self, tags: &[String]) -> Result<Vec<SignatureSummary>, Vec<Diagnostic>> {
        let meta = self.tagged(tags).map_err(|refusal| vec![*refusal])?;
        Ok(signatures(meta).map(|(name, signature)| of_signature(name, signature)).collect())
    }

    fn graph_summary(&self, meta: &MetaGraphDef, files: &dyn ModelFiles) -> GraphSummary {
        let empty = GraphDef::default();
        let graph = meta.graph_def.as_ref().unwrap_or(&empty);
        let info = meta.meta_info_def.clone().unwrap_or_default();
        let mut found = GraphSummary { tags: info.tags, ..GraphSummary::default() };
        if !info.tensorflow_version.is_empty() {
            found.producer = format!("TensorFlow {}", info.tensorflow_version);
        }
        found.signatures = signatures(meta).map(|(name, signature)| of_signature(name, signature)).collect();
        if found.signatures.is_empty() {
            match self.default_signature(graph) {
                Ok(signature) => found.signatures.push(signature),
                Err(problem) => found.problems.push(problem),
            }
        }
        match self.bundle(meta, graph, files) {
            Ok(Some(bundle)) => {
                let named = bundle.tensors().filter(|(name, _)| *name != OBJECT_GRAPH);
                found.variables = named.map(|(name, entry)| of_variable(name, entry)).collect();
            }
            Ok(None) => {}
            Err(problem) => found.problems.push(problem.message),
        }
        let assets: BTreeSet<String> = asset_files(meta).into_iter().map(|asset| asset.filename).collect();
        for name in assets {
            let size = files.read(&format!("assets/{name}")).ok().map(|bytes| bytes.len());
            found.assets.push((name, size));
        }
        found.n_functions = graph.library.as_ref().map_or(0, |library| library.function.len());
        let mut ops = BTreeMap::<&str, usize>::new();
        for node in all_nodes(graph) {
            found.n_nodes += 1;
            *ops.entry(&node.op).or_default() += 1;
            if let Some(tensor) = constant(node) {
                found.constants.0 += 1;
                found.constants.1 = found.constants.1.saturating_add(n_bytes(tensor));
            }
        }
        let functions = graph.library.iter().flat_map(|library| &library.function);
        let functions: Vec<&str> =
            functions.filter_map(|f| Some(f.signature.as_ref()?.name.as_str())).collect();
        for (name, n) in ops {
            let is_supported = row(name).is_some_and(OpRow::is_supported)
                || Primitive::of_node(name).is_some()
                || is_placeholder(name)
                || name == "RestoreV2"
                || functions.contains(&name);
            found.ops.push(OpSummary { name: name.to_owned(), n, is_supported });
        }
        found
    }

    /// The function that the graph becomes without options.
    fn default_signature(&self, graph: &GraphDef) -> Result<SignatureSummary, String> {
        let meta = MetaGraphDef { graph_def: Some(graph.clone()), ..MetaGraphDef::default() };
        let variables = self.variables.clone();
        let alone = TensorFlowModel { kind: TensorFlowKind::GraphDef, graphs: vec![meta], variables };
        let imported = alone.imported(&ImportOptions::default(), &NoFiles).map_err(|error| error.message)?;
        let m = imported.module;
        let main = m.functions().into_iter().find(|&op| !m.is_private(op)).ok_or("it has no function")?;
        let (inputs, outputs) = m.signature(main).ok_or("it has no function")?;
        let ports = |types: &[TypeId], list: StrId| -> Vec<TensorSummary> {
            let name = |i: usize| m.port_name(main, list, i).unwrap_or_default().to_owned();
            types.iter().enumerate().map(|(i, &ty)| of_type(&m, ty, name(i))).collect()
        };
        let name = m.symbol_name(main).map_or(String::new(), |name| m.cx.str(name).to_owned());
        Ok(SignatureSummary {
            name,
            inputs: ports(inputs, names::ARG_ATTRS),
            outputs: ports(outputs, names::RES_ATTRS),
        })
    }
}

fn of_type(m: &Module, ty: TypeId, name: String) -> TensorSummary {
    let element = crate::print::type_text(&m.cx, m.cx.element(ty)).replace("!tf_type.", "");
    let shape = m.cx.ty(ty).shaped().and_then(|(dims, _)| dims.map(<[i64]>::to_vec));
    let shape = shape.map(|dims| dims.into_iter().map(|dim| dim.max(-1)).collect());
    TensorSummary { name, element, shape, ..TensorSummary::default() }
}

fn of_signature(name: &str, signature: &SignatureDef) -> SignatureSummary {
    let ports =
        |ports: &BTreeMap<String, TensorInfo>| ports.iter().map(|(key, info)| of_info(key, info)).collect();
    SignatureSummary {
        name: name.to_owned(),
        inputs: ports(&signature.inputs),
        outputs: ports(&signature.outputs),
    }
}

fn of_info(key: &str, info: &TensorInfo) -> TensorSummary {
    let element = Type::from_code(info.dtype).map_or_else(|_| String::new(), |(ty, _)| ty.to_string());
    let shape = info.tensor_shape.as_ref().and_then(dims);
    TensorSummary {
        name: key.to_owned(),
        element,
        shape,
        tensor: info.name.clone(),
        ..TensorSummary::default()
    }
}

fn dims(shape: &TensorShapeProto) -> Option<Vec<i64>> {
    (!shape.unknown_rank).then(|| shape.dim.iter().map(|dim| dim.size.max(-1)).collect())
}

fn of_variable(name: &str, entry: &befrost_tensor::bundle::Entry) -> TensorSummary {
    TensorSummary {
        name: name.strip_suffix("/.ATTRIBUTES/VARIABLE_VALUE").unwrap_or(name).to_owned(),
        element: entry.ty.to_string(),
        shape: Some(entry.dims.iter().map(|&dim| i64::try_from(dim).unwrap_or(i64::MAX)).collect()),
        n_bytes: entry.n_bytes(),
        ..TensorSummary::default()
    }
}

fn constant(node: &NodeDef) -> Option<&TensorProto> {
    match node.attr.get("value")?.value.as_ref()? {
        Value::Tensor(tensor) if node.op == "Const" => Some(tensor),
        _ => None,
    }
}

fn n_bytes(tensor: &TensorProto) -> usize {
    let n = tensor.tensor_shape.as_ref().and_then(dims).unwrap_or_default();
    let n = n.iter().fold(1usize, |n, &dim| n.saturating_mul(usize::try_from(dim).unwrap_or(0)));
    match Type::from_code(tensor.dtype) {
        Ok((Type::Dense(dtype), _)) => n.saturating_mul(dtype.size()),
        _ => tensor.string_val.iter().map(Vec::len).sum(),
    }
}
