//! The gradient functions in a SavedModel's object graph: which operands they give gradients of, and which
//! tensors they capture.

use std::collections::BTreeMap;

use crate::import::graphdef::SavedGradient;
use crate::import::proto::{MetaGraphDef, SavedConcreteFunction, SavedObjectGraph};

/// The gradient functions by name.
pub(super) fn gradients(meta: &MetaGraphDef) -> BTreeMap<&str, SavedGradient<'_>> {
    let Some(objects) = &meta.object_graph_def else { return BTreeMap::new() };
    let library = meta.graph_def.iter().flat_map(|graph| &graph.library);
    let gradients = library.flat_map(|library| &library.registered_gradients);
    let saved = gradients.filter_map(|gradient| {
        let function = objects.concrete_functions.get(&gradient.gradient_func)?;
        Some((&*gradient.gradient_func, gradient_of(objects, function)))
    });
    saved.collect()
}

fn gradient_of<'g>(objects: &'g SavedObjectGraph, function: &'g SavedConcreteFunction) -> SavedGradient<'g> {
    let signature = function.output_signature.as_ref();
    let of = signature.and_then(|value| value.list_value.as_ref().or(value.tuple_value.as_ref()));
    let gives = of.iter().flat_map(|list| &list.values).map(|value| value.none_value.is_none()).collect();
    let capture = |&node: &i32| {
        let object = objects.nodes.get(usize::try_from(node).ok()?)?;
        let tensor = object.captured_tensor.as_ref()?;
        Some((&*tensor.concrete_function, &*tensor.name))
    };
    SavedGradient { gives, captures: function.bound_inputs.iter().map(capture).collect() }
}
