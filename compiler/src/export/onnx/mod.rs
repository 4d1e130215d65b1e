//! `onnx`: a function of operators and its callees as an ONNX model.
//!
//! ```text
//! %y = tf.Conv2D(%x, %w) {NHWC}   ──▶   Transpose, Conv, Transpose
//! %z = tf.While(%a, @cond, @body) ──▶   cond's nodes, Loop { body's nodes, cond's nodes }
//! %c = tf.Const                   ──▶   initializer { raw_data }
//! func private @shared            ──▶   FunctionProto, called by nodes of the domain `befrost`
//! ```
//!
//! An operator has a writer (`ops/`), a function from the names of its operands to those of its results. It
//! is the reverse of a lowering of the importer. Where ONNX has the operator with another meaning, the writer
//! adds the nodes that make up for it: axes in another order, divisions that round down, indices of i32.
//!
//! A function that is called once becomes part of the graph that calls it, and so do small ones. Others are
//! functions of the model. ONNX has no order of effects: operators with effects are not in the table.

mod control;
mod emit;
mod node;
mod ops;
mod tensor;

use std::collections::BTreeSet;

use befrost_tensor::DType;
use befrost_tensor::tf::op::{Attributes, Op};
use prost::Message;
use rustc_hash::{FxHashMap, FxHashSet};

use self::emit::{AttrList, Name, NodeWriter, WhyNot};
use self::node::TfNode;
use super::walk::ExportWalk;
use crate::diag::Diagnostic;
use crate::dialects::tf;
use crate::fold::constant_of;
use crate::graph::effects::{body, callees};
use crate::import::onnx_proto::{FunctionProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto};
use crate::ir::{Module, OpId, StrId, ValueId};

/// The version of the standard operators. Runtimes of the last years have it.
const OPSET: i64 = 21;

/// The version of the operators on features (`ai.onnx.ml`).
const ML_OPSET: i64 = 3;

/// The version of the format, the first with this set of operators.
const IR_VERSION: i64 = 10;

/// The domain of functions.
const DOMAIN: &str = "befrost";

/// The domain of operators on features.
const ML: &str = "ai.onnx.ml";

/// Limit on functions inside functions, and on branches of branches.
const MAX_DEPTH: usize = 64;

/// Limit on the ops of a function that is copied to each call.
const MAX_COPIED: usize = 16;

/// The function `entry` of a module as an ONNX model, with all functions that it needs.
///
/// # Errors
/// The operators without a form in ONNX, by name, with counts and nodes; types and functions without one.
pub fn onnx(m: &Module, entry: &str) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let (walk, main) = ExportWalk::from(m, entry)?;
    let mut uses = FxHashMap::default();
    for function in walk.functions.values() {
        for op in body(m, *function) {
            for callee in callees(m, op) {
                *uses.entry(callee).or_default() += 1;
            }
        }
    }
    let functions = ExportedFunctions { uses, ..ExportedFunctions::default() };
    let mut model = ModelWriter { w: NodeWriter::new(walk), functions };
    let graph = model.graph(main);
    let ModelWriter { w, functions } = model;
    w.walk.conclude("ONNX")?;
    let functions = functions.written;
    let nodes = || functions.iter().flat_map(|function| &function.node).chain(&graph.node);
    let opset_import = opsets(nodes(), functions.iter().flat_map(|function| &function.opset_import));
    let model = ModelProto {
        ir_version: IR_VERSION,
        producer_name: "befrost".to_owned(),
        producer_version: env!("CARGO_PKG_VERSION").to_owned(),
        opset_import,
        functions,
        graph: Some(graph),
    };
    if model.encoded_len() > tensor::MAX_BYTES {
        let message = format!("the model has {} bytes, more than an ONNX file holds", model.encoded_len());
        return Err(vec![Diagnostic::error("E1103", message)]);
    }
    Ok(model.encode_to_vec())
}

/// The operator sets of nodes and of the functions that they call.
fn opsets<'a>(
    nodes: impl Iterator<Item = &'a NodeProto>,
    called: impl Iterator<Item = &'a OperatorSetIdProto>,
) -> Vec<OperatorSetIdProto> {
    let mut domains: BTreeSet<&str> = BTreeSet::from([""]);
    domains.extend(emit::with_nested(nodes).into_iter().map(|node| node.domain.as_str()));
    domains.extend(called.map(|set| set.domain.as_str()));
    let version = |domain: &str| match domain {
        "" => OPSET,
        ML => ML_OPSET,
        _ => 1,
    };
    let set = |domain: &str| OperatorSetIdProto { domain: domain.to_owned(), version: version(domain) };
    domains.into_iter().map(set).collect()
}

/// The functions of a model.
#[derive(Default)]
struct ExportedFunctions {
    /// By function: in how many attributes it occurs.
    uses: FxHashMap<StrId, usize>,
    written: Vec<FunctionProto>,
    /// Names of functions that are written.
    done: FxHashSet<StrId>,
    /// The functions that are being written, which must not call themselves.
    open: Vec<StrId>,
}

/// Writes a model.
struct ModelWriter<'m> {
    w: NodeWriter<'m>,
    functions: ExportedFunctions,
}

impl<'m> ModelWriter<'m> {
    fn m(&self) -> &'m Module {
        self.w.walk.m
    }

    /// The graph of the entry function.
    fn graph(&mut self, function: OpId) -> GraphProto {
        let m = self.m();
        let Some(block) = self.w.walk.block(function) else { return GraphProto::default() };
        let (mut input, mut output) = (Vec::new(), Vec::new());
        for (i, &arg) in m.args(block).iter().enumerate() {
            let name = self.w.names.unique(self.w.walk.arg_name(function, i));
            match tensor::value_info(m, &name, m.value_type(arg)) {
                Some(info) => input.push(info),
                None => self.w.walk.refuse(function, "an argument is no tensor of a type that ONNX has"),
            }
            self.w.values.insert(arg, name);
        }
        let mut results = Vec::new();
        for (i, value) in self.w.walk.returned(block).into_iter().enumerate() {
            let name = self.w.walk.result_name(function, i);
            // An argument may be a result, under its name.
            let is_argument = self.w.values.get(&value) == Some(&name);
            let name = if is_argument { name } else { self.w.names.unique(name) };
            match tensor::value_info(m, &name, m.value_type(value)) {
                Some(info) => output.push(info),
                None => self.w.walk.refuse(function, "a result is no tensor of a type that ONNX has"),
            }
            results.push((value, name));
        }
        for op in self.w.walk.ops(block) {
            self.op(op);
        }
        for (value, name) in results {
            let found = self.value(value);
            if found != name {
                self.w.named(&found, &name);
            }
        }
        let node = self.w.scopes.pop().unwrap_or_default().nodes;
        let initializer = self.w.initializers_of(&node);
        let name = m.symbol_name(function).map_or("", |name| m.cx.str(name)).to_owned();
        GraphProto { node, name, initializer, input, output, ..GraphProto::default() }
    }

    /// The name of a value; that of one which could not be written is of no importance.
    fn value(&self, value: ValueId) -> Name {
        self.w.values.get(&value).cloned().unwrap_or_default()
    }

    /// Writes the nodes of an op, or notes that there are none.
    fn op(&mut self, op: OpId) {
        let m = self.m();
        if m.op_name_str(op) == "tfrt.merge.chains" {
            return;
        }
        let written = match tf::row(m, op).and_then(|row| Some((row, row.op?))) {
            Some((row, operator)) => {
                let n_data = tf::n_data_operands(m, op);
                let inputs = m.operands(op).take(n_data).map(|value| self.value(value)).collect();
                let derived = tf::attrs_of(m, op, row.signature());
                let attrs = Attributes::new(row.signature(), &derived);
                self.w.stem = m.node_name(op).unwrap_or(row.signature().name).to_owned();
                self.operator(&TfNode { m, op, operator, inputs, attrs })
            }
            None => Err(String::new()),
        };
        match written {
            Ok(names) => self.w.values.extend(m.results(op).zip(names)),
            Err(why) => {
                let colon = if why.is_empty() { "" } else { ": " };
                self.w.walk.unsupported(op, format!("{}{colon}{why}", m.op_name_str(op)));
            }
        }
    }

    fn operator(&mut self, n: &TfNode<'_>) -> Result<Vec<Name>, WhyNot> {
        let values = n.m.operands(n.op).take(n.inputs.len()).chain(n.m.results(n.op));
        let is_complex = |dtype| matches!(dtype, DType::Complex64 | DType::Complex128);
        if values.into_iter().any(|value| node::dtype_of(n.m, value).is_ok_and(is_complex)) {
            return Err("complex numbers".to_owned());
        }
        match n.operator {
            Op::Const => {
                let attr = constant_of(n.m, n.m.result(n.op, 0)).ok_or("it is not constant")?;
                Ok(vec![self.w.constant_of(n.op, attr)?])
            }
            Op::PartitionedCall | Op::StatefulPartitionedCall => self.call(n.callee("f")?, &n.inputs),
            Op::If | Op::StatelessIf => self.if_(n),
            Op::Case | Op::StatelessCase => self.case(n),
            Op::While | Op::StatelessWhile => self.while_(n),
            _ => ops::write(&mut self.w, n),
        }
    }

    // ---- functions ----

    /// The results of a call.
    fn call(&mut self, callee: StrId, args: &[Name]) -> Result<Vec<Name>, WhyNot> {
        let m = self.m();
        let function = *self.w.walk.functions.get(&callee).ok_or("it calls no function of the module")?;
        if self.functions.open.contains(&callee) {
            return Err(format!("'{}' calls itself", m.cx.str(callee)));
        }
        if self.functions.open.len() >= MAX_DEPTH {
            return Err(format!("functions nested deeper than {MAX_DEPTH}"));
        }
        let ops = body(m, function);
        let is_leaf = ops.iter().all(|&op| callees(m, op).is_empty());
        let is_used_once = self.functions.uses.get(&callee) == Some(&1);
        self.functions.open.push(callee);
        let results = if is_used_once || is_leaf && ops.len() <= MAX_COPIED {
            self.copied(function, args)
        } else {
            self.called(callee, function, args)
        };
        self.functions.open.pop();
        results
    }

    /// The results of a function whose nodes are written here.
    fn copied(&mut self, function: OpId, args: &[Name]) -> Result<Vec<Name>, WhyNot> {
        let m = self.m();
        let block = m.only_block(function).ok_or("it calls a function without operators")?;
        self.w.values.extend(m.args(block).iter().copied().zip(args.iter().cloned()));
        for op in self.w.walk.ops(block) {
            self.op(op);
        }
        Ok(self.w.walk.returned(block).into_iter().map(|value| self.value(value)).collect())
    }

    /// The results of a function of the model, which is written if it is not yet.
    fn called(&mut self, callee: StrId, function: OpId, args: &[Name]) -> Result<Vec<Name>, WhyNot> {
        let m = self.m();
        let block = m.only_block(function).ok_or("it calls a function without operators")?;
        let stem = self.w.stem.clone();
        if self.functions.done.insert(callee) {
            let around = std::mem::take(&mut self.w.scopes);
            let was_in_graph = std::mem::replace(&mut self.w.in_graph, false);
            let input: Vec<Name> = m.args(block).iter().map(|_| self.w.names.unique("arg".into())).collect();
            let (output, node) = self.within(|s| {
                let results = s.copied(function, &input)?;
                Ok::<_, WhyNot>(s.outputs(&results))
            });
            self.w.scopes = around;
            self.w.in_graph = was_in_graph;
            let (name, output) = (m.cx.str(callee).to_owned(), output?);
            let opset_import = opsets(node.iter(), [].iter());
            let domain = DOMAIN.to_owned();
            let proto =
                FunctionProto { name, input, output, node, opset_import, domain, ..Default::default() };
            self.functions.written.push(proto);
            self.w.stem = stem;
        }
        let inputs: Vec<&str> = args.iter().map(String::as_str).collect();
        let n_results = self.w.walk.returned(block).len();
        Ok(self.w.node_of(DOMAIN, m.cx.str(callee), &inputs, AttrList::new(), n_results))
    }

    /// The result of `act`, and the nodes that it writes in a scope of its own.
    fn within<R>(&mut self, act: impl FnOnce(&mut Self) -> R) -> (R, Vec<NodeProto>) {
        self.w.scopes.push(emit::NodeScope::default());
        let result = act(self);
        (result, self.w.scopes.pop().unwrap_or_default().nodes)
    }

    /// Names of values as the outputs of the innermost graph, whose nodes must make them, each once.
    fn outputs(&mut self, values: &[Name]) -> Vec<Name> {
        let nodes = self.w.scopes.last().map_or(&[][..], |scope| &scope.nodes[..]);
        let mut made: FxHashSet<Name> = nodes.iter().flat_map(|node| &node.output).cloned().collect();
        let mut outputs = Vec::new();
        for value in values {
            outputs.push(if made.remove(value) { value.clone() } else { self.w.op("Identity", &[value]) });
        }
        outputs
    }

    /// A value that selects a branch, as a truth.
    fn truth(&mut self, value: &str, of: ValueId) -> Result<Name, WhyNot> {
        let m = self.m();
        let dtype = node::dtype_of(m, of)?;
        let scalar = match node::dims_of(m, of) {
            Ok(dims) if dims.is_empty() => value.to_owned(),
            Ok(_) => return Err("a condition that is no scalar".to_owned()),
            Err(_) => self.w.reshape(value, &[]),
        };
        Ok(self.w.cast(&scalar, dtype, DType::I1))
    }
}
