//! Summaries of models, for users who want to run them.

/// A model of any format.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelSummary {
    /// The format, such as `SavedModel`.
    pub format: String,
    /// Its graphs: one, unless it is a SavedModel.
    pub graphs: Vec<GraphSummary>,
}

/// A graph of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphSummary {
    /// Its tags in a SavedModel, such as `serve`.
    pub tags: Vec<String>,
    /// The program that wrote it, if it is known.
    pub producer: String,
    /// Its signatures; for a graph without any, the default one.
    pub signatures: Vec<SignatureSummary>,
    /// Its variables.
    pub variables: Vec<TensorSummary>,
    /// The names and sizes of its files besides variables.
    pub assets: Vec<(String, Option<usize>)>,
    /// The number of nodes, with those of functions.
    pub n_nodes: usize,
    /// The number of functions.
    pub n_functions: usize,
    /// Its constants: the number, and the bytes of their elements.
    pub constants: (usize, usize),
    /// Its operations by name.
    pub ops: Vec<OpSummary>,
    /// The reasons why it cannot be used, if there are any.
    pub problems: Vec<String>,
}

/// The inputs and outputs of a function of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SignatureSummary {
    /// Its name.
    pub name: String,
    /// Its arguments.
    pub inputs: Vec<TensorSummary>,
    /// Its results.
    pub outputs: Vec<TensorSummary>,
}

/// A tensor.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TensorSummary {
    /// Its name for users.
    pub name: String,
    /// Its element type, if it is known.
    pub element: String,
    /// Its sizes, -1 for unknown ones; `None` if the rank is unknown.
    pub shape: Option<Vec<i64>>,
    /// The names of its sizes, empty for one without a name; no names at all if there are none.
    pub size_names: Vec<String>,
    /// The name of the tensor in the graph, if that is another one.
    pub tensor: String,
    /// The bytes of its elements, if they are in the model.
    pub n_bytes: usize,
}

/// An operation of a graph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpSummary {
    /// Its name.
    pub name: String,
    /// The number of nodes.
    pub n: usize,
    /// True if it can be compiled.
    pub is_supported: bool,
}
