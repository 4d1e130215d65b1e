//! Graphs: names and their values, the nodes that are needed, functions and subgraphs.
//!
//! Names are in scopes: a subgraph sees the values of the graphs around it, a function only its arguments.
//! A node comes after the nodes whose outputs it reads, as the format demands.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::{Deref, DerefMut};

use befrost_tensor::DType;
use befrost_tensor::tf::op::{AttrKind, Op, OpRow, Type, added_row};

use super::emit::{AttrArg, DimSize, GraphEmitter, Lowered, Why};
use super::gradients;
use super::node::{OnnxNode, domain};
use super::tensor::{self, ExternalFiles};
use crate::dialects::tf;
use crate::import::errors::{self, Refusal};
use crate::import::files::ModelFiles;
use crate::import::gradients::Resolved;
use crate::import::onnx_proto::tensor_shape_proto::dimension::Value as Dim;
use crate::import::onnx_proto::type_proto::Value as TypeValue;
use crate::import::onnx_proto::{
    AttributeProto, FunctionProto, GraphProto, NodeProto, OperatorSetIdProto, SparseTensorProto, TensorProto,
    TypeProto, ValueInfoProto, type_proto,
};
use crate::import::{Feed, ImportOptions, names_attr, narrowed};
use crate::ir::{LocId, LocKind, Module, NewOp, OpId, TypeId, ValueId, names};
use crate::train::NamePattern;

/// Limit on functions that call each other.
const MAX_DEPTH: usize = 64;

/// Limit on lowered nodes: functions that call functions multiply theirs.
const MAX_NODES: usize = 1 << 19;

/// A function by domain and name.
pub(super) type Functions<'g> = HashMap<(&'g str, &'g str), &'g FunctionProto>;

/// The versions of operator sets by domain.
pub(super) type Opsets<'g> = HashMap<&'g str, i64>;

/// The value of a name; `None` for an optional without one.
pub(super) type NameScope<'g> = HashMap<&'g str, Option<ValueId>>;

/// A function that lowers a node.
pub(super) type LowerNode = fn(&mut OnnxImporter<'_>, &OnnxNode<'_>) -> Lowered;

/// A function that lowers a node with subgraphs, whose names enter the importer's scopes.
pub(super) type LowerWithGraphs = for<'g> fn(&mut OnnxImporter<'g>, &OnnxNode<'g>) -> Lowered;

/// Finds the lowering of an operator by domain and name; `None` if it is not supported.
pub(super) type LookUp = fn(&str, &str) -> Option<NodeLowering>;

/// The lowering of an operator.
#[derive(Clone, Copy)]
pub(super) enum NodeLowering {
    /// An operator with the same operands.
    Op(Op),
    /// A function.
    With(LowerNode),
    /// A function of a node with subgraphs.
    WithGraphs(LowerWithGraphs),
    /// The input, or an optional without a value if there is none.
    Optional,
}

impl NodeLowering {
    /// The values of the outputs of a node; `None` is an optional without one.
    pub(super) fn apply<'g>(
        self,
        g: &mut OnnxImporter<'g>,
        n: &OnnxNode<'g>,
    ) -> Result<Vec<Option<ValueId>>, Why> {
        let values = match self {
            NodeLowering::Op(op) => {
                let operands = n.all()?;
                g.ops(op, &operands, &[], &[])
            }
            NodeLowering::With(lower) => lower(g, n),
            NodeLowering::WithGraphs(lower) => lower(g, n),
            NodeLowering::Optional => return Ok(vec![n.optional(0)]),
        };
        Ok(values?.into_iter().map(Some).collect())
    }
}

/// The version of ONNX's own operator set from which an operator is read. Before, those named here broadcast
/// by attributes, took as attributes what are inputs now, or had other defaults.
fn first_opset(op: &str) -> i64 {
    match op {
        "Add" | "Sub" | "Mul" | "Div" | "Pow" | "And" | "Or" | "Xor" | "Equal" | "Greater" | "Less" => 7,
        "PRelu" | "Gemm" | "BatchNormalization" | "Dropout" | "RNN" | "GRU" | "LSTM" | "Upsample" => 7,
        "Cast" | "Tile" => 6,
        "Reshape" => 5,
        "Concat" => 4,
        "Pad" | "Split" | "LpPool" | "GlobalLpPool" => 2,
        _ => 1,
    }
}

/// The versions of operator sets.
pub(super) fn opsets(imports: &[OperatorSetIdProto]) -> Opsets<'_> {
    imports.iter().map(|import| (domain(&import.domain), import.version)).collect()
}

/// The elements of a sequence: their type, and their dimensions if the rank is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SequenceType {
    pub(super) element: Type,
    pub(super) dims: Option<Vec<i64>>,
}

/// The state of an import.
pub(super) struct OnnxImporter<'g> {
    emitter: GraphEmitter,
    files: ExternalFiles<'g>,
    functions: Functions<'g>,
    opsets: Opsets<'g>,
    /// The table of operators.
    lowering: LookUp,
    /// The scopes of names, the innermost one last.
    scopes: Vec<NameScope<'g>>,
    /// The attributes of the function whose nodes are lowered.
    function_attrs: HashMap<&'g str, &'g AttributeProto>,
    /// The types of sequences.
    pub(super) sequences: HashMap<ValueId, SequenceType>,
    /// The elements of vectors and scalars of sizes, each known or a scalar value.
    pub(super) vectors: HashMap<ValueId, Vec<DimSize>>,
    /// The constants of bytes that are numbers of 4 bits in the file.
    of_4_bits: HashSet<ValueId>,
    depth: usize,
    /// Number of nodes lowered, those of a function once per call.
    n_nodes: usize,
    /// True if the functions of a training program are imported.
    pub(super) is_training: bool,
    /// The initializers that become variables.
    pub(super) variables: Option<NamePattern>,
}

impl Deref for OnnxImporter<'_> {
    type Target = GraphEmitter;

    fn deref(&self) -> &GraphEmitter {
        &self.emitter
    }
}

impl DerefMut for OnnxImporter<'_> {
    fn deref_mut(&mut self) -> &mut GraphEmitter {
        &mut self.emitter
    }
}

/// Unsupported operators: the labels and their nodes.
type Unsupported = BTreeMap<String, Vec<String>>;

/// An axis, the axis of another tensor that has the same size, and what an error says.
type SameSize = (i64, i64, String);

impl<'g> OnnxImporter<'g> {
    pub(super) fn new(
        functions: Functions<'g>,
        opsets: Opsets<'g>,
        lowering: LookUp,
        files: &'g dyn ModelFiles,
    ) -> OnnxImporter<'g> {
        OnnxImporter {
            emitter: GraphEmitter::new(Module::new()),
            files: ExternalFiles::new(files),
            functions,
            opsets,
            lowering,
            scopes: Vec::new(),
            function_attrs: HashMap::new(),
            sequences: HashMap::new(),
            vectors: HashMap::new(),
            of_4_bits: HashSet::new(),
            depth: 0,
            n_nodes: 0,
            is_training: false,
            variables: None,
        }
    }

    /// Imports the graph of a model as the entry function.
    pub(super) fn model(mut self, graph: &'g GraphProto, options: &ImportOptions) -> Result<Module, Refusal> {
        let initialized: HashSet<&str> =
            graph.initializer.iter().map(|tensor| tensor.name.as_str()).chain(sparse_names(graph)).collect();
        let mut feeds = options.feeds.clone();
        if feeds.is_empty() {
            let inputs = graph.input.iter().filter(|input| !initialized.contains(input.name.as_str()));
            feeds.extend(inputs.map(|input| Feed::named(input.name.clone())));
        }
        expect_distinct_names(graph)?;
        let known = Known::new(graph);
        if let Some(parts) = &options.training {
            self.training(graph, &known, &feeds, parts)?;
            return Ok(self.emitter.m);
        }
        let fetches: Vec<&'g str> = match &options.fetches[..] {
            [] if options.everything => {
                let made = graph.node.iter().flat_map(|node| &node.output);
                made.map(String::as_str).filter(|name| !name.is_empty()).collect()
            }
            [] => graph.output.iter().map(|output| output.name.as_str()).collect(),
            fetches => fetches.iter().map(|name| known.name("fetch", name)).collect::<Result<_, _>>()?,
        };
        if fetches.is_empty() {
            return Err(errors::unusable("fetch", "", "the graph has no outputs; name what to fetch"));
        }
        let gradients = gradients::resolve(&known, &fetches, &options.gradients)?;
        // An x may be a constant, and is known by its name then.
        self.is_training = !gradients.is_empty();
        let name = if options.function.is_empty() { "main" } else { &options.function };
        let results: Vec<(&'g str, &str)> = fetches.iter().map(|&name| (name, name)).collect();
        self.entry(graph, &known, name, &feeds, &results, &gradients)?;
        Ok(self.emitter.m)
    }

    /// The feeds that fetches need.
    pub(super) fn needed_feeds(
        graph: &'g GraphProto,
        known: &Known<'g>,
        feeds: &[Feed],
        fetches: &[&'g str],
    ) -> Result<Vec<Feed>, Refusal> {
        let mut fed = HashMap::new();
        for (i, feed) in feeds.iter().enumerate() {
            fed.insert(known.name("feed", &feed.name)?, i);
        }
        let names = needed(graph, known, fetches, &fed).names;
        let is_needed = |feed: &&Feed| known.name("feed", &feed.name).is_ok_and(|name| names.contains(name));
        Ok(feeds.iter().filter(is_needed).cloned().collect())
    }

    /// An entry function: its name, its feeds, what it returns under which names, and gradients as further
    /// results.
    pub(super) fn entry(
        &mut self,
        graph: &'g GraphProto,
        known: &Known<'g>,
        name: &str,
        feeds: &[Feed],
        results: &[(&'g str, &str)],
        gradients: &[Resolved<&'g str>],
    ) -> Result<(), Refusal> {
        let mut args: HashMap<&'g str, usize> = HashMap::new();
        let mut arg_types = Vec::new();
        for (i, feed) in feeds.iter().enumerate() {
            let name = known.name("feed", &feed.name)?;
            if args.insert(name, i).is_some() {
                return Err(errors::unusable("feed", &feed.name, "it is fed twice"));
            }
            arg_types.push(self.fed_type(known, name, feed)?);
        }
        let (fetches, mut result_names): (Vec<&'g str>, Vec<String>) =
            results.iter().map(|&(tensor, name)| (tensor, name.to_owned())).unzip();
        let of_gradients = gradients.iter().flat_map(Resolved::tensors);
        let wanted: Vec<&'g str> = fetches.iter().chain(of_gradients).copied().collect();
        let needed = needed(graph, known, &wanted, &args);
        self.expect_supported(graph, &needed)?;

        let sym_name = self.m.cx.str_attr(name);
        let func = self.m.cx.op_name(names::FUNC_FUNC);
        let op = self.m.create(NewOp { attrs: &[(names::SYM_NAME, sym_name)], ..NewOp::new(func) });
        let body = self.m.body();
        self.m.append(body, op);
        let feed_names: Vec<&str> = feeds.iter().map(|feed| feed.name.as_str()).collect();
        let arg_names = names_attr(&mut self.m.cx, &feed_names);
        if !feed_names.is_empty() {
            self.m.set_attr(op, names::ARG_ATTRS, arg_names);
        }
        let region = self.m.add_region(op);
        let block = self.m.add_block(region);
        let values: Vec<ValueId> = arg_types.iter().map(|&ty| self.m.add_arg(block, ty)).collect();
        self.block = block;
        let fed: Vec<(&'g str, ValueId)> = feeds
            .iter()
            .zip(&values)
            .map(|(feed, &value)| Ok((known.name("feed", &feed.name)?, value)))
            .collect::<Result<_, Refusal>>()?;
        let checked = self.same_sizes(known, &fed)?;
        self.scopes.push(fed.iter().zip(checked).map(|(&(name, _), value)| (name, Some(value))).collect());
        self.initializers(graph, Some(&needed.names))?;
        for &node in &needed.nodes {
            self.node(&graph.node[node])?;
        }
        let mut results = Vec::new();
        for name in &fetches {
            results.push(self.tensor_named("fetch", name)?);
        }
        self.gradients(gradients, &mut results, &mut result_names)?;
        self.scopes.pop();
        let m = &mut self.m;
        let end = m.create_named("func.return", &results, &[], &[]);
        m.append(block, end);
        let outputs: Vec<TypeId> = results.iter().map(|&value| m.value_type(value)).collect();
        let ty = m.cx.function_type(&arg_types, &outputs);
        let ty = m.cx.type_attr(ty);
        m.set_attr(op, names::FUNCTION_TYPE, ty);
        let result_names: Vec<&str> = result_names.iter().map(String::as_str).collect();
        let res_names = names_attr(&mut m.cx, &result_names);
        if !result_names.is_empty() {
            m.set_attr(op, names::RES_ATTRS, res_names);
        }
        Ok(())
    }

    /// The fed tensors, with checks that sizes of the same name are equal. What a check returns has the
    /// sizes of the first tensor with this name, so that later passes know that they are equal.
    fn same_sizes(&mut self, known: &Known<'g>, fed: &[(&'g str, ValueId)]) -> Result<Vec<ValueId>, Refusal> {
        let mut first: HashMap<&'g str, (&'g str, ValueId, usize)> = HashMap::new();
        let mut checked = Vec::with_capacity(fed.len());
        for &(feed, value) in fed {
            // Of numbers: strings are no operands of the check.
            let declared = known.types.get(feed).filter(|_| self.dtype(value).is_ok());
            let names = declared.map(|&ty| size_names(ty)).unwrap_or_default();
            // By the tensor that has the name already: the axes of both, and what an error says.
            let mut pairs: Vec<(ValueId, Vec<SameSize>)> = Vec::new();
            for (axis, name) in names.into_iter().enumerate().filter(|(_, name)| !name.is_empty()) {
                let &mut (other, like, like_axis) = first.entry(name).or_insert((feed, value, axis));
                if (like, like_axis) == (value, axis) {
                    continue;
                }
                let (name, other) = (errors::shown(name), errors::shown(other));
                let says = format!("'{name}' is the size along axis {like_axis} of '{other}' too");
                let pair = (axis as i64, like_axis as i64, says);
                match pairs.iter_mut().find(|(of, _)| *of == like) {
                    Some((_, found)) => found.push(pair),
                    None => pairs.push((like, vec![pair])),
                }
            }
            let outer = self.loc;
            let mut result = value;
            for (like, found) in pairs {
                let child = self.m.cx.str_id(feed);
                self.loc = self.m.cx.loc_id(LocKind::Name { name: child, child: LocId::UNKNOWN });
                let axes: Vec<i64> = found.iter().map(|pair| pair.0).collect();
                let like_axes: Vec<i64> = found.iter().map(|pair| pair.1).collect();
                let says: Vec<&str> = found.iter().map(|pair| pair.2.as_str()).collect();
                let attrs = [
                    ("axes", AttrArg::Ints(&axes)),
                    ("like_axes", AttrArg::Ints(&like_axes)),
                    ("names", AttrArg::Strs(&says)),
                ];
                let made = self.op(Op::_EnsureSameSizes, &[result, like], &attrs);
                result = made.map_err(|why| errors::unusable("feed", feed, &why))?;
            }
            self.loc = outer;
            checked.push(result);
        }
        Ok(checked)
    }

    /// The type of a fed tensor.
    fn fed_type(&mut self, known: &Known<'g>, name: &str, feed: &Feed) -> Result<TypeId, Refusal> {
        let refuse = |why: String| errors::unusable("feed", &feed.name, &why);
        let declared = known.types.get(name).copied();
        let (element, dims) = match declared.map(|ty| self.tensor_of(ty)) {
            Some(ty) => ty.map_err(refuse)?,
            None => {
                let given = feed.element.as_deref().and_then(|name| self.element_named(name));
                let unknown = "its type is not in the model; give it: NAME=DTYPE[SHAPE]";
                (given.ok_or_else(|| refuse(unknown.to_owned()))?, None)
            }
        };
        let ty = self.tensor_type(element, dims.as_deref());
        narrowed(&mut self.m.cx, ty, feed).map_err(refuse)
    }

    /// The element type with this printed name.
    fn element_named(&mut self, name: &str) -> Option<Type> {
        let types = DType::ALL.iter().map(|&dtype| Type::Dense(dtype));
        types.into_iter().find(|&ty| {
            let element = tf::element(&mut self.m.cx, ty, false);
            crate::print::type_text(&self.m.cx, element) == name
        })
    }

    /// The element type and dimensions of a type of tensors.
    pub(super) fn tensor_of(&self, ty: &TypeProto) -> Result<(Type, Option<Vec<i64>>), Why> {
        let mut ty = ty;
        loop {
            match &ty.value {
                Some(TypeValue::TensorType(type_proto::Tensor { elem_type, shape })) => {
                    let dims = shape.as_ref().map(|shape| {
                        let dims = shape.dim.iter().map(|dim| match dim.value {
                            Some(Dim::DimValue(n)) if n >= 0 => n,
                            _ => -1,
                        });
                        dims.collect()
                    });
                    return Ok((tensor::element_type(*elem_type)?, dims));
                }
                Some(TypeValue::OptionalType(optional)) => {
                    ty = optional.elem_type.as_deref().ok_or("an optional without a type")?;
                }
                Some(TypeValue::SequenceType(_)) => return Err("it is a sequence, no tensor".into()),
                None => return Err("its type is not in the model".into()),
            }
        }
    }

    /// A tensor of the file as a constant.
    pub(super) fn tensor_constant(&mut self, tensor: &TensorProto) -> Result<ValueId, Why> {
        let attr = tensor::constant(&mut self.emitter.m.cx, tensor, &mut self.files)?;
        let value = self.constant(attr);
        if tensor::has_4_bits(tensor.data_type) {
            self.of_4_bits.insert(value);
        }
        Ok(value)
    }

    /// True for a constant of bytes that are numbers of 4 bits in the file.
    pub(super) fn is_of_4_bits(&self, value: ValueId) -> bool {
        self.of_4_bits.contains(&value)
    }

    /// A sparse tensor of the file as a dense constant.
    pub(super) fn dense_constant(&mut self, sparse: &SparseTensorProto) -> Result<ValueId, Why> {
        let attr = tensor::dense(&mut self.emitter.m.cx, sparse, &mut self.files)?;
        Ok(self.constant(attr))
    }

    /// Defines the initializers of a graph as constants.
    fn initializers(&mut self, graph: &'g GraphProto, wanted: Option<&HashSet<&str>>) -> Result<(), Refusal> {
        let is_wanted = |name: &str| wanted.is_none_or(|wanted| wanted.contains(name));
        for tensor in graph.initializer.iter().filter(|tensor| is_wanted(&tensor.name)) {
            // A fed initializer is an argument.
            if self.scopes.last().is_some_and(|scope| scope.contains_key(tensor.name.as_str())) {
                continue;
            }
            if self.is_training {
                // By its name a constant becomes a variable.
                let name = self.m.cx.str_id(&tensor.name);
                self.loc = self.m.cx.loc_id(LocKind::Name { name, child: LocId::UNKNOWN });
            }
            let value = self.tensor_constant(tensor);
            let value = value.map_err(|why| errors::tensor(&tensor.name, &why))?;
            if self.variables.as_ref().is_some_and(|pattern| pattern.matches(&tensor.name)) {
                self.emitter.unknown.insert(value);
            }
            self.define(&tensor.name, Some(value));
        }
        for sparse in &graph.sparse_initializer {
            let name = sparse.values.as_ref().map_or("", |values| values.name.as_str());
            if is_wanted(name) {
                let value = self.dense_constant(sparse);
                let value = value.map_err(|why| errors::tensor(name, &why))?;
                self.define(name, Some(value));
            }
        }
        Ok(())
    }

    /// The elements of a vector or scalar of sizes, if each is known or a scalar value.
    pub(super) fn elements_of(&self, value: ValueId) -> Option<Vec<DimSize>> {
        let known = self.ints_of(value).map(|ints| ints.into_iter().map(DimSize::Known).collect());
        known.or_else(|| self.vectors.get(&value).cloned())
    }

    /// A vector of these sizes, whose elements are recorded.
    pub(super) fn vector(&mut self, sizes: Vec<DimSize>) -> Result<ValueId, Why> {
        let value = self.size_vector(&sizes)?;
        self.vectors.insert(value, sizes);
        Ok(value)
    }

    pub(super) fn define(&mut self, name: &'g str, value: Option<ValueId>) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, value);
        }
    }

    /// The value of a name.
    pub(super) fn get(&self, name: &str) -> Result<Option<ValueId>, Why> {
        let found = self.scopes.iter().rev().find_map(|scope| scope.get(name).copied());
        found.ok_or_else(|| format!("nothing before it is called '{}'", errors::shown(name)))
    }

    /// Lowers a node.
    fn node(&mut self, proto: &'g NodeProto) -> Result<(), Refusal> {
        let refuse = |why: Why| errors::node(name_of(proto), &proto.op_type, &why);
        self.n_nodes += 1;
        if self.n_nodes > MAX_NODES {
            return Err(refuse(format!("functions and loops multiply the nodes to more than {MAX_NODES}")));
        }
        let name = self.m.cx.str_id(name_of(proto));
        let outer = self.loc;
        self.loc = self.m.cx.loc_id(LocKind::Name { name, child: LocId::UNKNOWN });
        let inputs: Result<Vec<Option<ValueId>>, Why> =
            proto.input.iter().map(|name| if name.is_empty() { Ok(None) } else { self.get(name) }).collect();
        let inputs = inputs.map_err(refuse)?;
        let mut attrs = Vec::with_capacity(proto.attribute.len());
        for attr in &proto.attribute {
            if attr.ref_attr_name.is_empty() {
                attrs.push((attr.name.as_str(), attr));
            } else if let Some(&given) = self.function_attrs.get(attr.ref_attr_name.as_str()) {
                attrs.push((attr.name.as_str(), given));
            }
        }
        let domain = domain(&proto.domain);
        let version = self.opsets.get(domain).copied().unwrap_or(1);
        let first = first_opset(&proto.op_type);
        if domain.is_empty() && version < first {
            let why = format!("it is of opset {version}; it is supported from {first} on");
            return Err(refuse(why + ", to which `onnx.version_converter` converts"));
        }
        let node = OnnxNode { proto, inputs, attrs, version };
        let outputs = match self.functions.get(&(domain, proto.op_type.as_str())).copied() {
            Some(function) => self.call(function, &node)?,
            None => match ((self.lowering)(domain, &proto.op_type), added_row(&proto.op_type)) {
                (Some(lower), _) => lower.apply(self, &node).map_err(refuse)?,
                (None, Some(row)) => self.foreign(row, &node).map_err(refuse)?,
                (None, None) => return Err(refuse("the operator is not supported".to_owned())),
            },
        };
        for (i, name) in proto.output.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
            let value = outputs.get(i).copied();
            let value = value.ok_or_else(|| refuse(format!("its output #{i} is not supported")))?;
            self.define(name, value);
        }
        self.loc = outer;
        Ok(())
    }

    /// Lowers a node of an operator of a kernel library, in any domain: the operands are those of its
    /// signature, in order, and so are the attributes, by name.
    fn foreign(&mut self, row: &'static OpRow, n: &OnnxNode<'g>) -> Result<Vec<Option<ValueId>>, Why> {
        let signature = row.signature();
        if let Some((name, _)) = n.attrs.iter().find(|(name, _)| signature.attr(name).is_none()) {
            return Err(format!("the operator has no attribute '{}'", errors::shown(name)));
        }
        let mut attrs: Vec<(&str, AttrArg<'_>)> = Vec::new();
        for def in signature.attrs.iter().filter(|def| n.attr(def.name).is_some()) {
            let value = match def.kind {
                AttrKind::Int => n.int(def.name).map(AttrArg::Int),
                AttrKind::Float => n.float(def.name).map(AttrArg::Float),
                AttrKind::Bool => n.int(def.name).map(|value| AttrArg::Bool(value != 0)),
                AttrKind::String => Some(AttrArg::Str(n.word(def.name, "")?)),
                AttrKind::List(AttrKind::Int) => n.ints(def.name).map(AttrArg::Ints),
                AttrKind::List(AttrKind::Float) => Some(AttrArg::Floats(n.floats(def.name))),
                _ => None,
            };
            let value = value.ok_or_else(|| format!("attribute '{}' is of another kind", def.name))?;
            attrs.push((def.name, value));
        }
        let results = self.ops_of_row(row, &n.all()?, &attrs, &[])?;
        Ok(results.into_iter().map(Some).collect())
    }

    /// Lowers the nodes of a function for a node that calls it.
    fn call(
        &mut self,
        function: &'g FunctionProto,
        node: &OnnxNode<'g>,
    ) -> Result<Vec<Option<ValueId>>, Refusal> {
        let refuse = |why: &str| errors::function(&function.name, why);
        if self.depth == MAX_DEPTH {
            return Err(refuse("functions call each other too deeply"));
        }
        if node.inputs.len() > function.input.len() {
            return Err(refuse(&format!(
                "it is called with {} inputs and has {}",
                node.inputs.len(),
                function.input.len()
            )));
        }
        let mut scope = NameScope::new();
        for (i, name) in function.input.iter().enumerate() {
            scope.insert(name, node.optional(i));
        }
        let defaults = function.attribute_proto.iter().map(|attr| (attr.name.as_str(), attr));
        let attrs: HashMap<&str, &AttributeProto> = defaults.chain(node.attrs.iter().copied()).collect();
        let outer_attrs = std::mem::replace(&mut self.function_attrs, attrs);
        let outer_scopes = std::mem::replace(&mut self.scopes, vec![scope]);
        let outer_opsets = std::mem::replace(&mut self.opsets, opsets(&function.opset_import));
        self.depth += 1;
        let mut outputs = Vec::new();
        for inner in &function.node {
            self.node(inner)?;
        }
        for name in &function.output {
            outputs.push(self.get(name).map_err(|why| refuse(&why))?);
        }
        self.depth -= 1;
        self.opsets = outer_opsets;
        self.scopes = outer_scopes;
        self.function_attrs = outer_attrs;
        Ok(outputs)
    }

    /// Fills a new region of an op, whose block has arguments of these types.
    pub(super) fn region<R>(
        &mut self,
        op: OpId,
        args: &[TypeId],
        fill: impl FnOnce(&mut Self, &[ValueId]) -> Result<R, Why>,
    ) -> Result<R, Why> {
        let region = self.m.add_region(op);
        let block = self.m.add_block(region);
        let args: Vec<ValueId> = args.iter().map(|&ty| self.m.add_arg(block, ty)).collect();
        let outer = std::mem::replace(&mut self.block, block);
        let filled = fill(self, &args);
        self.block = outer;
        filled
    }

    /// Lowers a subgraph whose inputs have these values. Returns the values of its outputs.
    pub(super) fn subgraph(&mut self, graph: &'g GraphProto, args: &[ValueId]) -> Result<Vec<ValueId>, Why> {
        if graph.input.len() > args.len() {
            return Err(format!("its graph has {} inputs, given are {}", graph.input.len(), args.len()));
        }
        expect_distinct_names(graph).map_err(|refusal| refusal.message)?;
        let inputs = graph.input.iter().zip(args);
        self.scopes.push(inputs.map(|(input, &value)| (input.name.as_str(), Some(value))).collect());
        self.initializers(graph, None).map_err(|refusal| refusal.message)?;
        for node in &graph.node {
            self.node(node).map_err(|refusal| refusal.message)?;
        }
        let outputs = graph.output.iter().map(|ValueInfoProto { name, .. }| {
            let value = self.get(name)?;
            value
                .ok_or_else(|| format!("its output '{}' is an optional without a value", errors::shown(name)))
        });
        let outputs = outputs.collect();
        self.scopes.pop();
        outputs
    }

    /// Refuses the graph if it needs unsupported operators; the error lists all.
    fn expect_supported(&self, graph: &'g GraphProto, needed: &NeededNodes<'_>) -> Result<(), Refusal> {
        let mut found = Unsupported::new();
        let nodes = needed.nodes.iter().map(|&node| &graph.node[node]);
        self.unsupported(nodes, &self.opsets, &mut found);
        for function in self.functions.values() {
            self.unsupported(function.node.iter(), &opsets(&function.opset_import), &mut found);
        }
        if found.is_empty() {
            return Ok(());
        }
        let found: Vec<_> = found.into_iter().collect();
        Err(errors::unsupported(&found, 1))
    }

    fn unsupported<'n>(
        &self,
        nodes: impl Iterator<Item = &'n NodeProto>,
        opsets: &Opsets<'_>,
        found: &mut Unsupported,
    ) {
        for node in nodes {
            let (domain, op) = (domain(&node.domain), node.op_type.as_str());
            let is_known = (self.lowering)(domain, op).is_some() || added_row(op).is_some();
            if !self.functions.contains_key(&(domain, op)) && !is_known {
                let set = if domain.is_empty() { "ai.onnx" } else { domain };
                let version = opsets.get(domain).copied().unwrap_or(1);
                let label = format!("{} of {set} {version}", errors::shown(op));
                found.entry(label).or_default().push(name_of(node).to_owned());
            }
            for graph in node.attribute.iter().filter_map(|attr| attr.g.as_ref()) {
                self.unsupported(graph.node.iter(), opsets, found);
            }
        }
    }
}

/// The names of the sizes of a tensor, empty where a size is known or has no name. What exporters write for
/// any size is no name.
pub(super) fn size_names(ty: &TypeProto) -> Vec<&str> {
    const NO_NAMES: [&str; 6] = ["none", "unk", "unknown", "dynamic", "any", "nan"];
    let Some(TypeValue::TensorType(type_proto::Tensor { shape: Some(shape), .. })) = &ty.value else {
        return Vec::new();
    };
    let names = shape.dim.iter().map(|dim| match &dim.value {
        Some(Dim::DimParam(name)) => name.as_str(),
        _ => "",
    });
    let is_name = |name: &str| {
        name.contains(|c: char| c.is_alphabetic()) && !NO_NAMES.iter().any(|no| name.eq_ignore_ascii_case(no))
    };
    names.map(|name| if is_name(name) { name } else { "" }).collect()
}

/// The name of a node; if it has none, that of its first output.
fn name_of(node: &NodeProto) -> &str {
    match node.output.first() {
        Some(output) if node.name.is_empty() => output,
        _ => &node.name,
    }
}

fn sparse_names(graph: &GraphProto) -> impl Iterator<Item = &str> {
    graph.sparse_initializer.iter().filter_map(|sparse| Some(sparse.values.as_ref()?.name.as_str()))
}

/// Refuses a graph in which a node gives its output the name of another value.
fn expect_distinct_names(graph: &GraphProto) -> Result<(), Refusal> {
    let inputs = graph.input.iter().map(|input| input.name.as_str());
    let initializers = graph.initializer.iter().map(|tensor| tensor.name.as_str());
    let mut names: HashSet<&str> = inputs.chain(initializers).chain(sparse_names(graph)).collect();
    for node in &graph.node {
        let twice = node.output.iter().find(|name| !name.is_empty() && !names.insert(name));
        if let Some(name) = twice {
            let why = format!("its output '{}' has the name of another value", errors::shown(name));
            return Err(errors::node(name_of(node), &node.op_type, &why));
        }
    }
    Ok(())
}

/// The names of a graph.
pub(super) struct Known<'g> {
    /// The nodes that define names.
    producers: HashMap<&'g str, usize>,
    /// The names of inputs and initializers.
    given: HashSet<&'g str>,
    /// The types that the file gives.
    types: HashMap<&'g str, &'g TypeProto>,
}

impl<'g> Known<'g> {
    fn new(graph: &'g GraphProto) -> Known<'g> {
        let outputs = graph.node.iter().enumerate();
        let outputs = outputs.flat_map(|(i, node)| node.output.iter().map(move |name| (name.as_str(), i)));
        let infos = graph.value_info.iter().chain(&graph.output).chain(&graph.input);
        let inputs = graph.input.iter().map(|input| input.name.as_str());
        let initializers = graph.initializer.iter().map(|tensor| tensor.name.as_str());
        Known {
            producers: outputs.filter(|(name, _)| !name.is_empty()).collect(),
            given: inputs.chain(initializers).chain(sparse_names(graph)).collect(),
            types: infos.filter_map(|info| Some((info.name.as_str(), info.r#type.as_ref()?))).collect(),
        }
    }

    /// A name of the options, with or without TensorFlow's `:0`.
    pub(super) fn name(&self, what: &str, name: &str) -> Result<&'g str, Refusal> {
        let find = |name: &str| {
            let produced = self.producers.get_key_value(name).map(|(&name, _)| name);
            produced.or_else(|| self.given.get(name).copied())
        };
        find(name).or_else(|| find(name.strip_suffix(":0")?)).ok_or_else(|| {
            let mut known: Vec<&str> = self.producers.keys().chain(&self.given).copied().collect();
            known.sort_unstable();
            let name = name.strip_suffix(":0").unwrap_or(name);
            errors::missing(what, name, "the model has no such tensor", known.into_iter())
        })
    }
}

/// The nodes and names that the fetches need.
struct NeededNodes<'g> {
    /// The nodes, in the order of the file.
    nodes: Vec<usize>,
    names: HashSet<&'g str>,
}

/// The nodes and names that are needed for the fetches, from the feeds on.
fn needed<'g>(
    graph: &'g GraphProto,
    known: &Known<'g>,
    fetches: &[&'g str],
    fed: &HashMap<&'g str, usize>,
) -> NeededNodes<'g> {
    let mut names: HashSet<&'g str> = HashSet::new();
    let mut nodes: HashSet<usize> = HashSet::new();
    let mut todo: Vec<&'g str> = fetches.to_vec();
    while let Some(name) = todo.pop() {
        if !names.insert(name) || fed.contains_key(name) {
            continue;
        }
        if let Some(&node) = known.producers.get(name)
            && nodes.insert(node)
        {
            references(&graph.node[node], &mut todo);
        }
    }
    let mut nodes: Vec<usize> = nodes.into_iter().collect();
    nodes.sort_unstable();
    NeededNodes { nodes, names }
}

/// The names that a node refers to, with those in its subgraphs.
fn references<'g>(node: &'g NodeProto, found: &mut Vec<&'g str>) {
    found.extend(node.input.iter().map(String::as_str).filter(|name| !name.is_empty()));
    for graph in node.attribute.iter().filter_map(|attr| attr.g.as_ref()) {
        found.extend(graph.output.iter().map(|output| output.name.as_str()));
        graph.node.iter().for_each(|node| references(node, found));
    }
}
