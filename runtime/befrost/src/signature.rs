//! Signatures: the functions of a model by the names that its author gave them.

use std::collections::HashMap;

use befrost_compiler::import::summary::{SignatureSummary, TensorSummary};

use crate::port::Port;
use crate::program::Function;

/// A function of a model: its name, its inputs and its outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    name: String,
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    /// The graph's tensors that the inputs are, by their names.
    fed: HashMap<String, String>,
    /// The same of the outputs, of which one may have the name of an input.
    fetched: HashMap<String, String>,
}

impl Signature {
    /// Its name, such as `serving_default`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its inputs.
    pub fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    /// Its outputs.
    pub fn outputs(&self) -> &[Port] {
        &self.outputs
    }

    /// A function of a program.
    pub(crate) fn of_function(function: &Function) -> Signature {
        let [inputs, outputs] = [function.arguments(), function.results()].map(named);
        Signature {
            name: function.name().to_owned(),
            inputs,
            outputs,
            fed: HashMap::new(),
            fetched: HashMap::new(),
        }
    }

    /// The graph's tensor that is fed under a name: an input, or else an output.
    pub(crate) fn fed(&self, name: &str) -> Option<&str> {
        self.fed.get(name).or_else(|| self.fetched.get(name)).map(String::as_str)
    }

    /// The graph's tensor that is fetched under a name: an output, or else an input.
    pub(crate) fn fetched(&self, name: &str) -> Option<&str> {
        self.fetched.get(name).or_else(|| self.fed.get(name)).map(String::as_str)
    }

    pub(crate) fn of(summary: SignatureSummary) -> Signature {
        let SignatureSummary { name, inputs, outputs } = summary;
        let tensors = |ports: &[TensorSummary]| {
            ports.iter().map(|port| (port.name.clone(), port.tensor.clone())).collect()
        };
        let (fed, fetched) = (tensors(&inputs), tensors(&outputs));
        let [inputs, outputs] = [&inputs, &outputs].map(|ports| ports.iter().map(port_of).collect());
        Signature { name, inputs, outputs, fed, fetched }
    }
}

/// The port of a tensor of a signature.
fn port_of(tensor: &TensorSummary) -> Port {
    let element = if tensor.element == "string" { "!tf_type.string" } else { &tensor.element };
    let sizes = match &tensor.shape {
        None => "*x".to_owned(),
        Some(dims) => {
            dims.iter().map(|&dim| if dim < 0 { "?x".to_owned() } else { format!("{dim}x") }).collect()
        }
    };
    Port::new(&tensor.name, format!("tensor<{sizes}{element}>"))
}

/// The ports of a function but chains; those without a name are called by their positions.
pub(crate) fn named(ports: &[Port]) -> Vec<Port> {
    let ports = ports.iter().filter(|port| !port.is_chain()).enumerate();
    let named = ports.map(|(i, port)| match port.name() {
        "" => Port::new(i.to_string(), port.ty()),
        _ => port.clone(),
    });
    named.collect()
}
