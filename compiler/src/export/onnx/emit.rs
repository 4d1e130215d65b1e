//! The writer of nodes: names, constants and scopes.
//!
//! ```text
//! model graph    nodes, initializers ◀── all constants, seen from every graph inside
//!   └ branch     nodes
//!       └ loop   nodes
//! function       nodes, with constants as `Constant` nodes: it sees nothing around it
//! ```
//!
//! Names are unique in the whole model. Small constants are written once per scope, those of the graph only
//! if a node reads them. A transposition of a transposition, or of a constant, is not written at
//! all.

use std::sync::Arc;

use befrost_tensor::DType;
use befrost_tensor::mem::{Allocator, Malloc};
use befrost_tensor::tf::fast;
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::walk::{ExportWalk, UniqueNames};
use super::tensor;
use crate::build::query;
use crate::dialects::tf;
use crate::fold::constant_of;
use crate::import::onnx_proto::{AttributeProto, GraphProto, NodeProto, TensorProto};
use crate::ir::{AttrId, OpId, ValueId};

/// The name of a value.
pub(super) type Name = String;

/// The reason why an op is refused.
pub(super) type WhyNot = String;

/// The values of an op's results.
pub(super) type Written = Result<Vec<Name>, WhyNot>;

/// The value of an attribute.
pub(super) enum AttrValue<'a> {
    Int(i64),
    Ints(&'a [i64]),
    Float(f32),
    Floats(&'a [f32]),
    Str(&'a str),
    Strs(&'a [String]),
    /// The code of an element type.
    Type(DType),
    Tensor(TensorProto),
    Graph(GraphProto),
}

use AttrValue::{Float, Floats, Graph, Int, Ints, Str, Strs, Tensor, Type};

/// Names of attributes with their values.
pub(super) type AttrList<'a> = Vec<(&'a str, AttrValue<'a>)>;

/// The nodes of a graph or of a function.
#[derive(Default)]
pub(super) struct NodeScope {
    pub(super) nodes: Vec<NodeProto>,
    /// By type, shape and bytes: a constant that this scope and those inside see.
    constants: FxHashMap<(i32, Vec<i64>, Vec<u8>), Name>,
    /// By value: what it is a transposition of.
    transposed: FxHashMap<Name, (Name, Vec<i64>)>,
}

/// Writes nodes.
pub(super) struct NodeWriter<'m> {
    pub(super) walk: ExportWalk<'m>,
    pub(super) names: UniqueNames,
    /// The scopes of the graph or function that is written, the innermost last.
    pub(super) scopes: Vec<NodeScope>,
    /// True outside of functions, where constants are initializers.
    pub(super) in_graph: bool,
    pub(super) initializers: Vec<TensorProto>,
    /// The large constants of the graph by their names, which are written if a node reads them.
    large: Vec<(Name, OpId, AttrId)>,
    /// The bytes of all constants that were written.
    n_bytes: usize,
    pub(super) values: FxHashMap<ValueId, Name>,
    /// The name of the node whose op is written.
    pub(super) stem: String,
}

/// Limit on the bytes of a constant that is looked up among the others.
const MAX_SHARED: usize = 256;

/// Limit on the bytes of a constant that is transposed here.
const MAX_TURNED: usize = 1 << 28;

impl<'m> NodeWriter<'m> {
    pub(super) fn new(walk: ExportWalk<'m>) -> NodeWriter<'m> {
        NodeWriter {
            walk,
            names: UniqueNames::default(),
            scopes: vec![NodeScope::default()],
            in_graph: true,
            initializers: Vec::new(),
            large: Vec::new(),
            n_bytes: 0,
            values: FxHashMap::default(),
            stem: String::new(),
        }
    }

    fn scope(&mut self) -> &mut NodeScope {
        if self.scopes.is_empty() {
            self.scopes.push(NodeScope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    // ---- nodes ----

    /// A node of a domain with so many outputs.
    pub(super) fn node_of(
        &mut self,
        domain: &str,
        op_type: &str,
        inputs: &[&str],
        attrs: AttrList<'_>,
        n_outputs: usize,
    ) -> Vec<Name> {
        let name = self.names.unique(self.stem.clone());
        let output: Vec<Name> = match n_outputs {
            1 => vec![name.clone()],
            n => (0..n).map(|i| self.names.unique(format!("{name}:{i}"))).collect(),
        };
        let node = NodeProto {
            input: inputs.iter().map(|&input| input.to_owned()).collect(),
            output: output.clone(),
            name,
            op_type: op_type.to_owned(),
            attribute: attrs.into_iter().map(|(name, value)| attribute(name, value)).collect(),
            domain: domain.to_owned(),
        };
        self.scope().nodes.push(node);
        output
    }

    /// The output of a standard node with attributes.
    pub(super) fn with(&mut self, op_type: &str, inputs: &[&str], attrs: AttrList<'_>) -> Name {
        self.node_of("", op_type, inputs, attrs, 1).swap_remove(0)
    }

    /// The output of a standard node.
    pub(super) fn op(&mut self, op_type: &str, inputs: &[&str]) -> Name {
        self.with(op_type, inputs, Vec::new())
    }

    /// A value under another name.
    pub(super) fn named(&mut self, value: &str, name: &str) {
        let node = NodeProto {
            input: vec![value.to_owned()],
            output: vec![name.to_owned()],
            name: self.names.unique(format!("{name}/Identity")),
            op_type: "Identity".to_owned(),
            ..NodeProto::default()
        };
        self.scope().nodes.push(node);
    }

    // ---- constants ----

    /// A constant.
    pub(super) fn constant(&mut self, mut proto: TensorProto) -> Name {
        let is_shared = proto.string_data.is_empty() && proto.raw_data.len() <= MAX_SHARED;
        let key = is_shared.then(|| (proto.data_type, proto.dims.clone(), proto.raw_data.to_vec()));
        if let Some(key) = &key
            && let Some(name) = self.scopes.iter().find_map(|scope| scope.constants.get(key))
        {
            return name.clone();
        }
        let name = self.names.unique(format!("{}/const", self.stem));
        let at = if self.in_graph { 0 } else { self.scopes.len().saturating_sub(1) };
        self.n_bytes = self.n_bytes.saturating_add(proto.raw_data.len());
        if self.in_graph {
            proto.name = name.clone();
            self.initializers.push(proto);
        } else {
            let node = NodeProto {
                output: vec![name.clone()],
                name: name.clone(),
                op_type: "Constant".to_owned(),
                attribute: vec![attribute("value", Tensor(proto))],
                ..NodeProto::default()
            };
            self.scope().nodes.push(node);
        }
        if let (Some(key), Some(scope)) = (key, self.scopes.get_mut(at)) {
            scope.constants.insert(key, name.clone());
        }
        name
    }

    /// A constant of the op graph.
    pub(super) fn constant_of(&mut self, op: OpId, attr: AttrId) -> Result<Name, WhyNot> {
        let m = self.walk.m;
        let bytes = m.cx.attr_type(attr).and_then(|ty| query::bytes_of(m, ty));
        if !self.in_graph || bytes.is_none_or(|bytes| bytes <= MAX_SHARED) {
            return tensor::constant(&m.cx, attr, self.room()).map(|proto| self.constant(proto));
        }
        let name = self.names.unique(format!("{}/const", self.stem));
        self.large.push((name.clone(), op, attr));
        Ok(name)
    }

    /// The bytes that further constants may have.
    fn room(&self) -> usize {
        tensor::MAX_BYTES.saturating_sub(self.n_bytes)
    }

    /// The initializers that these nodes of the graph read. Other constants became attributes, or were
    /// transposed.
    pub(super) fn initializers_of(&mut self, nodes: &[NodeProto]) -> Vec<TensorProto> {
        let read: FxHashSet<&str> =
            with_nested(nodes).into_iter().flat_map(|node| &node.input).map(String::as_str).collect();
        for (name, op, attr) in std::mem::take(&mut self.large) {
            if !read.contains(name.as_str()) {
                continue;
            }
            match tensor::constant(&self.walk.m.cx, attr, self.room()) {
                Ok(proto) => {
                    self.n_bytes = self.n_bytes.saturating_add(proto.raw_data.len());
                    self.initializers.push(TensorProto { name, ..proto });
                }
                Err(why) => self.walk.unsupported(op, format!("{}: {why}", self.walk.m.op_name_str(op))),
            }
        }
        let mut all = std::mem::take(&mut self.initializers);
        all.retain(|proto| read.contains(proto.name.as_str()));
        all
    }

    /// A vector of i64.
    pub(super) fn ints(&mut self, numbers: &[i64]) -> Name {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.constant(tensor::raw(DType::I64, &[numbers.len() as i64], bytes))
    }

    /// A scalar of i64.
    pub(super) fn int(&mut self, number: i64) -> Name {
        self.constant(tensor::raw(DType::I64, &[], number.to_le_bytes().to_vec()))
    }

    /// A scalar of an element type.
    pub(super) fn scalar(&mut self, number: f64, dtype: DType) -> Result<Name, WhyNot> {
        tensor::number(number, dtype).map(|proto| self.constant(proto))
    }

    // ---- common operations ----

    pub(super) fn cast(&mut self, value: &str, from: DType, to: DType) -> Name {
        if from == to { value.to_owned() } else { self.with("Cast", &[value], vec![("to", Type(to))]) }
    }

    pub(super) fn transpose(&mut self, value: &str, perm: &[i64]) -> Name {
        let is_identity = |perm: &[i64]| perm.iter().enumerate().all(|(i, &axis)| i as i64 == axis);
        if is_identity(perm) {
            return value.to_owned();
        }
        let before = self.scopes.iter().find_map(|scope| scope.transposed.get(value)).cloned();
        if let Some((origin, first)) = before
            && first.len() == perm.len()
        {
            let both: Vec<i64> =
                perm.iter().filter_map(|&axis| first.get(usize::try_from(axis).ok()?).copied()).collect();
            if both.len() == perm.len() {
                return self.transpose(&origin, &both);
            }
        }
        let turned = self.with("Transpose", &[value], vec![("perm", Ints(perm))]);
        self.scope().transposed.insert(turned.clone(), (value.to_owned(), perm.to_vec()));
        turned
    }

    /// [`NodeWriter::transpose`] of a value of the op graph: of a constant, the transposed constant.
    pub(super) fn transpose_value(&mut self, value: ValueId, name: &str, perm: &[i64]) -> Name {
        match self.turned_constant(value, perm) {
            Some(proto) => self.constant(proto),
            None => self.transpose(name, perm),
        }
    }

    fn turned_constant(&self, value: ValueId, perm: &[i64]) -> Option<TensorProto> {
        let m = self.walk.m;
        let plain: Arc<dyn Allocator> = Malloc::shared();
        let given = tf::dense_tensor(&m.cx, constant_of(m, value)?, &plain)?;
        let bytes = given.num_elements().checked_mul(given.dtype().size())?;
        if bytes > MAX_TURNED.min(self.room()) {
            return None;
        }
        tensor::of_host(&fast::transpose(&given, perm, &fast::Cx::serial(&plain)).ok()?)
    }

    /// The value with axes of size 1 inserted.
    pub(super) fn unsqueeze(&mut self, value: &str, axes: &[i64]) -> Name {
        if axes.is_empty() {
            return value.to_owned();
        }
        let axes = self.ints(axes);
        self.op("Unsqueeze", &[value, &axes])
    }

    /// The value without these axes of size 1.
    pub(super) fn squeeze(&mut self, value: &str, axes: &[i64]) -> Name {
        if axes.is_empty() {
            return value.to_owned();
        }
        let axes = self.ints(axes);
        self.op("Squeeze", &[value, &axes])
    }

    /// The value in another shape.
    pub(super) fn reshape(&mut self, value: &str, dims: &[i64]) -> Name {
        let shape = self.ints(dims);
        let attrs = if dims.contains(&0) { vec![("allowzero", Int(1))] } else { Vec::new() };
        self.with("Reshape", &[value, &shape], attrs)
    }

    /// The elements from `start` to `end` of an axis.
    pub(super) fn slice(&mut self, value: &str, axis: i64, start: i64, end: i64) -> Name {
        let (start, end, axis) = (self.ints(&[start]), self.ints(&[end]), self.ints(&[axis]));
        self.op("Slice", &[value, &start, &end, &axis])
    }

    /// Vectors of i64, one behind the other.
    pub(super) fn concat_ints(&mut self, parts: &[&str]) -> Name {
        self.with("Concat", parts, vec![("axis", Int(0))])
    }
}

/// Nodes, and those of the graphs in them.
pub(super) fn with_nested<'a>(nodes: impl IntoIterator<Item = &'a NodeProto>) -> Vec<&'a NodeProto> {
    let mut all: Vec<&NodeProto> = nodes.into_iter().collect();
    let mut at = 0;
    while let Some(&node) = all.get(at) {
        let graphs = node.attribute.iter().filter_map(|attr| attr.g.as_ref());
        all.extend(graphs.flat_map(|graph| &graph.node));
        at += 1;
    }
    all
}

/// An attribute of a node.
fn attribute(name: &str, value: AttrValue<'_>) -> AttributeProto {
    let mut proto = AttributeProto { name: name.to_owned(), ..AttributeProto::default() };
    // The codes are those of `AttributeProto.AttributeType`.
    proto.r#type = match value {
        Float(value) => {
            proto.f = value;
            1
        }
        Int(value) => {
            proto.i = value;
            2
        }
        Type(dtype) => {
            proto.i = i64::from(tensor::code(dtype));
            2
        }
        Str(text) => {
            proto.s = text.as_bytes().to_vec();
            3
        }
        Tensor(tensor) => {
            proto.t = Some(tensor);
            4
        }
        Graph(graph) => {
            proto.g = Some(graph);
            5
        }
        Floats(values) => {
            proto.floats = values.to_vec();
            6
        }
        Ints(values) => {
            proto.ints = values.to_vec();
            7
        }
        Strs(values) => {
            proto.strings = values.iter().map(|text| text.as_bytes().to_vec()).collect();
            8
        }
    };
    proto
}
