//! The gradient functions in a SavedModel's object graph: which operands they give gradients of, and which
//! tensors and variables they capture.

use std::collections::BTreeMap;

use crate::import::graphdef::{Capture, SavedGradient, is_variable};
use crate::import::proto::attr_value::Value;
use crate::import::proto::{GraphDef, MetaGraphDef, NodeDef, SavedConcreteFunction, SavedObjectGraph};

/// The gradient functions by name.
pub(super) fn gradients(meta: &MetaGraphDef) -> BTreeMap<&str, SavedGradient<'_>> {
    let (Some(objects), Some(graph)) = (&meta.object_graph_def, &meta.graph_def) else {
        return BTreeMap::new();
    };
    let gradients: Vec<_> = graph.library.iter().flat_map(|library| &library.registered_gradients).collect();
    if gradients.is_empty() {
        return BTreeMap::new();
    }
    let variables = variables(objects, graph);
    let saved = gradients.into_iter().filter_map(|gradient| {
        let function = objects.concrete_functions.get(&gradient.gradient_func)?;
        Some((&*gradient.gradient_func, gradient_of(objects, &variables, function)))
    });
    saved.collect()
}

fn gradient_of<'g>(
    objects: &'g SavedObjectGraph,
    variables: &BTreeMap<i32, &'g NodeDef>,
    function: &'g SavedConcreteFunction,
) -> SavedGradient<'g> {
    let signature = function.output_signature.as_ref();
    let of = signature.and_then(|value| value.list_value.as_ref().or(value.tuple_value.as_ref()));
    let gives = of.iter().flat_map(|list| &list.values).map(|value| value.none_value.is_none()).collect();
    let tensor = |object: i32| {
        let tensor = objects.nodes.get(usize::try_from(object).ok()?)?.captured_tensor.as_ref()?;
        Some(Capture::Tensor { function: &tensor.concrete_function, name: &tensor.name })
    };
    let capture = |object: &i32| match variables.get(object) {
        Some(handle) => Capture::Variable(handle),
        None => tensor(*object).unwrap_or(Capture::Other),
    };
    SavedGradient { gives, captures: function.bound_inputs.iter().map(capture).collect() }
}

/// The nodes of the variables among the objects. An object has only the name that the variable was given,
/// which others may have been given too.
fn variables<'g>(objects: &'g SavedObjectGraph, graph: &'g GraphDef) -> BTreeMap<i32, &'g NodeDef> {
    let handles = graph.node.iter().filter(|node| is_variable(&node.op));
    let handles: BTreeMap<&str, &NodeDef> = handles.map(|node| (&*node.name, node)).collect();
    let mut found = BTreeMap::new();
    // A call passes what its function captures behind the arguments.
    for call in &graph.node {
        let Some(Value::Func(called)) = call.attr.get("f").and_then(|f| f.value.as_ref()) else { continue };
        let Some(function) = objects.concrete_functions.get(&called.name) else { continue };
        let inputs = call.input.iter().filter(|input| !input.starts_with('^'));
        for (object, input) in function.bound_inputs.iter().rev().zip(inputs.rev()) {
            found.extend(handles.get(&**input).map(|handle| (*object, *handle)));
        }
    }
    // If no name was given twice, the nodes have these names.
    let named = |(i, variable): (usize, &'g str)| Some((variable, i32::try_from(i).ok()?));
    let names = objects.nodes.iter().enumerate();
    let names = names.filter_map(|(i, object)| named((i, &object.variable.as_ref()?.name)));
    let names: BTreeMap<&str, i32> = names.collect();
    if names.keys().eq(handles.keys()) {
        found.extend(names.values().copied().zip(handles.values().copied()));
    }
    found
}
