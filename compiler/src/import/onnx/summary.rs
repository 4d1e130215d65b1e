//! Summaries of ONNX models.

use std::collections::BTreeMap;

use prost::Message;
use prost::bytes::Bytes;

use super::graph::size_names;
use super::node::domain;
use super::ops;
use super::tensor::element_type;
use crate::diag::Diagnostic;
use crate::import::errors;
use crate::import::onnx_proto::tensor_shape_proto::dimension::Value as Dim;
use crate::import::onnx_proto::type_proto::Value as TypeValue;
use crate::import::onnx_proto::{ModelProto, NodeProto, TensorProto, TypeProto, ValueInfoProto};
use crate::import::summary::{GraphSummary, ModelSummary, OpSummary, SignatureSummary, TensorSummary};

/// Describes an ONNX model.
///
/// # Errors
/// If the bytes are no model.
pub fn summary(bytes: Bytes) -> Result<ModelSummary, Vec<Diagnostic>> {
    let model = ModelProto::decode(bytes);
    let model = model.map_err(|error| vec![*errors::not_onnx(&error.to_string())])?;
    let Some(graph) = &model.graph else { return Err(vec![*errors::not_onnx("it has no graph")]) };
    let sets: Vec<String> = model
        .opset_import
        .iter()
        .map(|set| match domain(&set.domain) {
            "" => format!("ai.onnx {}", set.version),
            domain => format!("{domain} {}", set.version),
        })
        .collect();
    let initialized = |name: &str| graph.initializer.iter().any(|tensor| tensor.name == name);
    let inputs = graph.input.iter().filter(|input| !initialized(&input.name)).map(port).collect();
    let outputs = graph.output.iter().map(port).collect();
    let n_bytes = |tensor: &TensorProto| {
        let n =
            tensor.dims.iter().fold(1usize, |n, &dim| n.saturating_mul(usize::try_from(dim).unwrap_or(0)));
        let size = element_type(tensor.data_type).ok().and_then(|element| element.dtype());
        n.saturating_mul(size.map_or(0, |dtype| dtype.size()))
    };
    let bytes = graph.initializer.iter().map(n_bytes).fold(0, usize::saturating_add);
    let mut found = BTreeMap::new();
    let functions = model.functions.iter().flat_map(|function| &function.node);
    count(graph.node.iter().chain(functions), &mut found);
    let is_function =
        |of: &str, op: &str| model.functions.iter().any(|f| domain(&f.domain) == of && f.name == op);
    let ops: Vec<OpSummary> = found
        .into_iter()
        .map(|((domain, op), n)| OpSummary {
            name: if domain.is_empty() { op.to_owned() } else { format!("{domain}.{op}") },
            n,
            is_supported: ops::lowering(domain, op).is_some() || is_function(domain, op),
        })
        .collect();
    let producer = [&model.producer_name, &model.producer_version].map(String::as_str).join(" ");
    let graph = GraphSummary {
        producer: format!("{} (IR {}, {})", producer.trim(), model.ir_version, sets.join(", ")),
        signatures: vec![SignatureSummary { name: "main".to_owned(), inputs, outputs }],
        n_nodes: ops.iter().map(|op| op.n).sum(),
        n_functions: model.functions.len(),
        constants: (graph.initializer.len(), bytes),
        ops,
        ..GraphSummary::default()
    };
    Ok(ModelSummary { format: "ONNX".to_owned(), graphs: vec![graph] })
}

/// Counts operators, with those of subgraphs.
fn count<'n>(nodes: impl Iterator<Item = &'n NodeProto>, found: &mut BTreeMap<(&'n str, &'n str), usize>) {
    for node in nodes {
        *found.entry((domain(&node.domain), node.op_type.as_str())).or_default() += 1;
        for graph in node.attribute.iter().filter_map(|attr| attr.g.as_ref()) {
            count(graph.node.iter(), found);
        }
    }
}

fn port(info: &ValueInfoProto) -> TensorSummary {
    let (element, shape) = info.r#type.as_ref().map_or((String::new(), None), described);
    let names = info.r#type.as_ref().map(size_names).unwrap_or_default();
    let size_names = if names.iter().all(|name| name.is_empty()) {
        Vec::new()
    } else {
        names.into_iter().map(str::to_owned).collect()
    };
    TensorSummary { name: info.name.clone(), element, shape, size_names, ..TensorSummary::default() }
}

fn described(ty: &TypeProto) -> (String, Option<Vec<i64>>) {
    let inner = |ty: &Option<Box<TypeProto>>| ty.as_ref().map_or(String::new(), |ty| described(ty).0);
    match &ty.value {
        Some(TypeValue::TensorType(tensor)) => {
            let element = element_type(tensor.elem_type);
            let shape = tensor.shape.as_ref().map(|shape| {
                let size = |value: &Option<Dim>| match value {
                    Some(Dim::DimValue(n)) => (*n).max(-1),
                    _ => -1,
                };
                shape.dim.iter().map(|dim| size(&dim.value)).collect()
            });
            (element.map_or_else(|why| why, |element| element.to_string()), shape)
        }
        Some(TypeValue::SequenceType(of)) => (format!("sequence of {}", inner(&of.elem_type)), None),
        Some(TypeValue::OptionalType(of)) => (format!("optional {}", inner(&of.elem_type)), None),
        None => (String::new(), None),
    }
}
