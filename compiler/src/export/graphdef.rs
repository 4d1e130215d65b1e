//! `graphdef`: a function of operators and its callees as a GraphDef.
//!
//! ```text
//! %y, %ch = tf.MatMul(%x, %w)     ──▶   node { name: "y" op: "MatMul" input: "x" input: "w" .. }
//! %z = tf.Neg(%y, %ch)            ──▶   node { name: "z" op: "Neg" input: "y" input: "^y" }
//! func @main(%x) -> (%z as "out") ──▶   node { name: "x" op: "Placeholder" }, { name: "out" op: "Identity" }
//! func private @body              ──▶   library { function { signature { name: "body" } node_def .. } }
//! ```
//!
//! A node has the name in its op's location, if there is one, made unique. Arguments and results have the
//! names of the function's ports, which are assigned first; a result is an Identity. In a function of the
//! library, an input names an argument, or a node with the name of its output and a number.
//!
//! Quantized operators have quantized types in TensorFlow, whereas a module has the integers that store them:
//! a Bitcast converts each such operand and result.
//!
//! The order of effects, which in the module is the order of the ops, becomes control edges. The results wait
//! for all effects, so that fetching them runs the effects.

use std::collections::BTreeMap;

use befrost_tensor::tf::op::{Arg, ArgType, AttrDef, Attrs, Op, OpRow, Signature, Type};
use prost::Message;
use rustc_hash::{FxHashMap, FxHashSet};

use super::attr::{code_of, shape_proto, value};
use super::walk::{ExportWalk, UniqueNames};
use crate::diag::Diagnostic;
use crate::dialects::{Access, tf};
use crate::graph::effects::{callees, effectful};
use crate::import::proto::attr_value::Value;
use crate::import::proto::op_def::ArgDef;
use crate::import::proto::{AttrValue, FunctionDef, FunctionDefLibrary, GraphDef, NodeDef, OpDef};
use crate::ir::{BlockId, Module, OpId, StrId, TypeId, ValueId, names};
use crate::rewrite::state_access;

/// The function `entry` of a module as a GraphDef, with all functions that it needs.
///
/// # Errors
/// The ops without a form in a GraphDef, by name and count; attributes, types and functions without one.
pub fn graphdef(m: &Module, entry: &str) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let (walk, main) = ExportWalk::from(m, entry)?;
    let effectful = effectful(m, &walk.functions);
    let mut export = Export { m, effectful, walk };
    let node = export.graph(main);
    let mut library = FunctionDefLibrary::default();
    let (mut seen, mut todo) = (FxHashSet::from_iter([main]), vec![main]);
    while let Some(function) = todo.pop() {
        for op in m.walk(function).skip(1) {
            for name in callees(m, op) {
                let callee = export.walk.functions.get(&name).copied();
                if let Some(callee) = callee.filter(|&callee| seen.insert(callee)) {
                    todo.push(callee);
                    library.function.extend(export.function(callee));
                }
            }
        }
    }
    export.walk.conclude("a GraphDef")?;
    let library = (!library.function.is_empty()).then_some(library);
    Ok(GraphDef { node, library }.encode_to_vec())
}

struct Export<'m> {
    m: &'m Module,
    /// The functions with effects.
    effectful: FxHashSet<StrId>,
    walk: ExportWalk<'m>,
}

/// The names of the values and completions of a body.
#[derive(Default)]
struct ExportedBody {
    /// By value: its text as an input.
    inputs: FxHashMap<ValueId, String>,
    /// By chain: the nodes that it waits for.
    waits: FxHashMap<ValueId, Vec<String>>,
    names: UniqueNames,
    nodes: Vec<NodeDef>,
    /// The last node that changed state, and those that read it since.
    written: Option<String>,
    read: Vec<String>,
}

impl ExportedBody {
    /// The name in TensorFlow's letters, or one like it that is not taken.
    fn name(&mut self, wanted: &str) -> String {
        let is_first = |c: char| c.is_ascii_alphanumeric() || c == '.';
        let is_other = |c: char| is_first(c) || matches!(c, '_' | '-' | '/' | '>');
        let mut name: String = wanted.chars().map(|c| if is_other(c) { c } else { '_' }).collect();
        if !name.starts_with(is_first) {
            name.insert_str(0, "node");
        }
        self.names.unique(name)
    }
}

impl ExportedBody {
    /// A new node beside the node `of`: the same bits as another type, given by codes.
    fn bitcast(&mut self, of: &str, input: String, [from, to]: [i32; 2]) -> String {
        let name = self.name(&format!("{of}/bits"));
        let ty = |code| AttrValue { value: Some(Value::Type(code)) };
        let attr = BTreeMap::from([("T".to_owned(), ty(from)), ("type".to_owned(), ty(to))]);
        let (op, input) = ("Bitcast".to_owned(), vec![input]);
        self.nodes.push(NodeDef { name: name.clone(), op, input, attr, ..NodeDef::default() });
        name
    }

    /// The nodes that an effect waits for; records it as the latest one.
    fn order(&mut self, access: Access, name: &str) -> Vec<String> {
        let mut waits: Vec<String> = self.written.iter().cloned().collect();
        if access == Access::Read {
            self.read.push(name.to_owned());
        } else {
            waits.append(&mut self.read);
            self.written = Some(name.to_owned());
        }
        waits
    }
}

impl Export<'_> {
    /// The effect of an op, that of its callees included.
    fn access(&self, op: OpId) -> Option<Access> {
        let calls = || callees(self.m, op).iter().any(|name| self.effectful.contains(name));
        state_access(self.m, op).or_else(|| calls().then_some(Access::Write))
    }

    /// The nodes of the entry function.
    fn graph(&mut self, function: OpId) -> Vec<NodeDef> {
        let m = self.m;
        let mut body = ExportedBody::default();
        let Some(block) = self.walk.block(function) else { return Vec::new() };
        for (i, &arg) in m.args(block).iter().enumerate() {
            let name = body.name(&self.walk.arg_name(function, i));
            let ty = m.value_type(arg);
            let mut attr = BTreeMap::new();
            attr.insert("dtype".to_owned(), self.dtype(function, ty));
            let shape = m.cx.ty(ty).shaped().and_then(|(dims, _)| dims.map(known_or_minus_one));
            let shape = Value::Shape(shape_proto(shape.as_deref()));
            attr.insert("shape".to_owned(), AttrValue { value: Some(shape) });
            body.nodes.push(NodeDef {
                name: name.clone(),
                op: "Placeholder".to_owned(),
                attr,
                ..NodeDef::default()
            });
            body.inputs.insert(arg, name);
        }
        let returned = self.walk.returned(block);
        let mut results = Vec::with_capacity(returned.len());
        for (i, value) in returned.into_iter().enumerate() {
            let name = self.walk.result_name(function, i);
            // An argument may be a result, under its name.
            if body.inputs.get(&value) != Some(&name) {
                results.push((value, body.name(&name)));
            }
        }
        self.ops(block, &mut body, &|name, _, i| {
            if i == 0 { name.to_owned() } else { format!("{name}:{i}") }
        });
        for (value, name) in results {
            let attr = BTreeMap::from([("T".to_owned(), self.dtype(function, m.value_type(value)))]);
            let effects = body.written.iter().chain(&body.read).map(|node| format!("^{node}"));
            let input = body.inputs.get(&value).cloned().into_iter().chain(effects).collect();
            body.nodes.push(NodeDef { name, op: "Identity".to_owned(), input, attr, ..NodeDef::default() });
        }
        body.nodes
    }

    /// A function of the library.
    fn function(&mut self, function: OpId) -> Option<FunctionDef> {
        let m = self.m;
        let block = self.walk.block(function)?;
        let name = m.symbol_name(function).map_or("", |name| m.cx.str(name)).to_owned();
        let mut body = ExportedBody::default();
        let mut signature = OpDef { name, ..OpDef::default() };
        for (i, &arg) in m.args(block).iter().enumerate() {
            let arg_name = body.name(&format!("arg{i}"));
            signature.input_arg.push(self.port(function, &arg_name, m.value_type(arg)));
            body.inputs.insert(arg, arg_name);
        }
        self.ops(block, &mut body, &|name, output, i| format!("{name}:{output}:{i}"));
        let mut ret = BTreeMap::new();
        let returned = self.walk.returned(block);
        for (i, value) in returned.into_iter().enumerate() {
            let out = format!("result{i}");
            signature.output_arg.push(self.port(function, &out, m.value_type(value)));
            ret.extend(body.inputs.get(&value).map(|input| (out, input.clone())));
        }
        Some(FunctionDef { signature: Some(signature), node_def: body.nodes, ret, ..FunctionDef::default() })
    }

    fn port(&mut self, function: OpId, name: &str, ty: TypeId) -> ArgDef {
        let r#type = match self.dtype(function, ty).value {
            Some(Value::Type(code)) => code,
            _ => 0,
        };
        ArgDef { name: name.to_owned(), r#type, ..ArgDef::default() }
    }

    fn dtype(&mut self, op: OpId, ty: TypeId) -> AttrValue {
        let code = code_of(&self.m.cx, ty);
        if code.is_none() {
            self.walk.refuse(op, "an argument or result is no tensor of a type that TensorFlow has");
        }
        AttrValue { value: Some(Value::Type(code.unwrap_or_default())) }
    }

    /// The nodes of a block. `text` is an output as an input: the node, the name of the output, its number in
    /// the node or in the output.
    fn ops(&mut self, block: BlockId, body: &mut ExportedBody, text: &dyn Fn(&str, &str, usize) -> String) {
        let m = self.m;
        let in_graph = text("", "", 1).starts_with(":1");
        for op in self.walk.ops(block) {
            if m.op_name_str(op) == "tfrt.merge.chains" {
                let all =
                    m.operands(op).flat_map(|chain| body.waits.get(&chain).cloned().unwrap_or_default());
                let all: Vec<String> = all.collect();
                body.waits.extend(m.results(op).map(|result| (result, all.clone())));
                continue;
            }
            // A read of a variable becomes an Identity: TensorFlow's operators accept references as values.
            let is_read = m.op_name_str(op) == tf::READ_REF;
            let row = if is_read { Some(Op::Identity.row()) } else { tf::row(m, op) };
            let Some(row) = row.filter(|row| is_of_tensorflow(row)) else {
                self.walk.unsupported(op, m.op_name_str(op).to_owned());
                continue;
            };
            let name = body.name(m.node_name(op).unwrap_or(row.signature().name));
            let mut node = self.node(op, row, &name, body, text);
            let waits = self.access(op).map(|access| body.order(access, &name)).unwrap_or_default();
            for edge in waits.into_iter().map(|node| format!("^{node}")) {
                if !node.input.contains(&edge) {
                    node.input.push(edge);
                }
            }
            body.nodes.push(node);
            let mut at = 0;
            let n_data = tf::n_data_results(m, op);
            for (output, n) in counts(m, op, row.signature(), &row.signature().outputs, n_data) {
                for i in 0..n {
                    let (number, value) = (if in_graph { at } else { i }, m.result(op, at));
                    let mut input = text(&name, output.name, number);
                    if let Some(quantized) = self.quantized(row, output, value) {
                        input = text(&body.bitcast(&name, input, [quantized, self.code(value)]), "output", 0);
                    }
                    body.inputs.insert(value, input);
                    at += 1;
                }
            }
            body.waits.extend(m.results(op).skip(n_data).map(|chain| (chain, vec![name.clone()])));
        }
    }

    /// The code of the quantized type that a value has in TensorFlow, as an operand or result of this
    /// operator.
    fn quantized(&self, row: &OpRow, arg: &Arg, value: ValueId) -> Option<i32> {
        if !row.signature().is_quantized(arg) {
            return None;
        }
        tf::type_of(&self.m.cx, self.m.value_type(value)).and_then(|(ty, _)| ty.quantized_code())
    }

    fn code(&self, value: ValueId) -> i32 {
        code_of(&self.m.cx, self.m.value_type(value)).unwrap_or_default()
    }

    fn node(
        &mut self,
        op: OpId,
        row: &OpRow,
        name: &str,
        body: &mut ExportedBody,
        text: &dyn Fn(&str, &str, usize) -> String,
    ) -> NodeDef {
        let (m, signature) = (self.m, row.signature());
        let n_data = tf::n_data_operands(m, op);
        let declared = counts(m, op, signature, &signature.inputs, n_data);
        let declared = declared.into_iter().flat_map(|(arg, n)| std::iter::repeat_n(arg, n));
        let mut input = Vec::with_capacity(n_data);
        for (value, arg) in m.operands(op).take(n_data).zip(declared.map(Some).chain(std::iter::repeat(None)))
        {
            let mut from = body.inputs.get(&value).cloned().unwrap_or_default();
            if let Some(quantized) = arg.and_then(|arg| self.quantized(row, arg, value)) {
                from = text(&body.bitcast(name, from, [self.code(value), quantized]), "output", 0);
            }
            input.push(from);
        }
        for chain in m.operands(op).skip(n_data) {
            for node in body.waits.get(&chain).into_iter().flatten() {
                let edge = format!("^{node}");
                if !input.contains(&edge) {
                    input.push(edge);
                }
            }
        }
        let mut attr = BTreeMap::new();
        for declared in &signature.attrs {
            match value(m, op, signature, declared.name, declared.kind) {
                Ok(found) => {
                    attr.extend(found.map(|found| (declared.name.to_owned(), quantized(declared, found))));
                }
                Err(why) => {
                    self.walk.refuse(op, &format!("'{}' of {}: {why}", declared.name, signature.name));
                }
            }
        }
        let device = m.attr(op, names::DEVICE).and_then(|device| m.cx.as_str(device)).unwrap_or_default();
        let (name, op, device) = (name.to_owned(), signature.name.to_owned(), device.to_owned());
        NodeDef { name, op, input, device, attr }
    }
}

/// True for an operator of TensorFlow's registry.
fn is_of_tensorflow(row: &OpRow) -> bool {
    let name = row.signature().name;
    !name.starts_with('_')
}

fn known_or_minus_one(dims: &[i64]) -> Vec<i64> {
    dims.iter().map(|&dim| dim.max(-1)).collect()
}

/// A type of an attribute of quantized types.
fn quantized(declared: &AttrDef, found: AttrValue) -> AttrValue {
    match found.value {
        Some(Value::Type(code)) if declared.is_quantized => {
            let of = Type::from_code(code).ok().and_then(|(ty, _)| ty.quantized_code());
            AttrValue { value: Some(Value::Type(of.unwrap_or(code))) }
        }
        value => AttrValue { value },
    }
}

/// The operands or results of a signature, and how many of the op's `n` values each has.
fn counts<'s>(
    m: &Module,
    op: OpId,
    signature: &Signature,
    args: &'s [Arg],
    n: usize,
) -> Vec<(&'s Arg, usize)> {
    let single = args.iter().filter(|arg| !is_list(arg)).count();
    let lists = args.len() - single;
    let attrs = tf::attrs_of(m, op, signature);
    let length = |arg: &Arg| match (arg.number, arg.ty) {
        (Some(number), _) => attrs.int(number).and_then(|n| usize::try_from(n).ok()),
        (None, ArgType::List(types)) => attrs.types(types).map(|types| types.len()),
        (None, _) => Some(1),
    };
    args.iter()
        .map(|arg| {
            let rest = n.saturating_sub(single);
            // With one list, it has what is left.
            let count = if is_list(arg) && lists == 1 { Some(rest) } else { length(arg) };
            (arg, count.unwrap_or(1))
        })
        .scan(n, |left, (arg, count)| {
            let count = count.min(*left);
            *left -= count;
            Some((arg, count))
        })
        .collect()
}

fn is_list(arg: &Arg) -> bool {
    arg.number.is_some() || matches!(arg.ty, ArgType::List(_))
}
