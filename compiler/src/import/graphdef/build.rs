//! Translation of nodes to ops.
//!
//! Result types follow from the attributes of a node, without shapes, which `tf-shape-inference` finds once
//! for graph and functions together. So the ops are not created with the typed builder: it would infer shapes
//! op by op, and it cannot create references, islands and the tokens of a body with dataflow.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use befrost_tensor::tf::op::{
    ArgType, AttrKind as Kind, DefaultValue, Effect, Op, OpRow, Signature, Type, row,
};

use super::body::{GraphBody, Needed, Reference, resolved, split_port};
use super::{EntryPoint, FunctionInstance, Importer, Refusal, attr, ends, errors, gradients};
use crate::dialects::tf;
use crate::dialects::tf_executor::Primitive;
use crate::grad::CUSTOM_GRADIENT;
use crate::import::gradients::Resolved;
use crate::import::proto::attr_value::Value;
use crate::import::proto::op_def::ArgDef;
use crate::import::proto::{AttrValue, FunctionDef, NameAttrList, NodeDef};
use crate::import::{Feed, names_attr, narrowed};
use crate::ir::{AttrId, BlockId, KnownType, LocId, LocKind, NewOp, OpId, StrId, TypeId, ValueId, names};
use crate::print::type_text;

/// Maximum number of outputs of a node.
const MAX_OUTPUTS: usize = 1 << 16;

/// An element type, and whether it is a reference to a variable.
type ElementType = (Type, bool);

/// The ops and values of a translated node.
#[derive(Default)]
pub(super) struct TranslatedNode {
    pub(super) outputs: Vec<ValueId>,
    /// The outputs by name: the first value and the count.
    pub(super) ranges: Vec<(String, usize, usize)>,
    pub(super) control: Option<ValueId>,
}

/// The plan for the op of a node.
pub(super) struct NodePlan {
    /// `tf.Conv2D`.
    name: String,
    pub(super) attrs: Vec<(StrId, AttrId)>,
    /// For each input, whether a reference is passed.
    pub(super) takes: Vec<bool>,
    pub(super) outputs: Vec<TypeId>,
    pub(super) ranges: Vec<(String, usize, usize)>,
}

/// A body during its translation to a block.
pub(super) struct Block<'b, 'g> {
    pub(super) body: &'b GraphBody<'g>,
    /// The block of the function.
    pub(super) function: BlockId,
    /// The block of the ops: that of the function, or of a graph in it.
    pub(super) block: BlockId,
    pub(super) args: Vec<ValueId>,
    pub(super) made: HashMap<usize, TranslatedNode>,
    /// The nodes whose completion is waited for.
    pub(super) watched: BTreeSet<usize>,
    /// For a body with dataflow control flow, the tokens of its NextIterations.
    pub(super) dataflow: Option<HashMap<usize, ValueId>>,
}

impl<'g> Importer<'g> {
    /// Imports a part of the graph as a function.
    pub(super) fn entry(&mut self, mut body: GraphBody<'g>, entry: &EntryPoint) -> Result<(), Refusal> {
        let fetches = ends::fetches(&body, entry)?;
        let targets = entry.targets.iter().map(|name| Ok(body.tensor("run", name)?.0));
        let targets = targets.collect::<Result<Vec<_>, Refusal>>()?;
        let gradients = gradients::resolve(&body, &fetches, &entry.gradients)?;
        let wanted = fetches.iter().chain(gradients.iter().flat_map(Resolved::tensors));
        let wanted = wanted.filter(|key| !body.feeds.contains_key(key)).map(|key| key.0);
        let needed = body.needed(targets.iter().copied().chain(wanted))?;
        if !self.supports(&body, &needed) {
            return Ok(());
        }
        let mut feeds = entry.feeds.clone();
        if entry.takes_placeholders {
            for &node in needed.keys().filter(|&&node| is_placeholder(&body.nodes[node].op)) {
                let name = &body.nodes[node].name;
                body.feeds.insert((node, 0), feeds.len());
                feeds.push((Feed::named(name.clone()), name.clone()));
            }
        } else {
            self.expect_fed(&body, &needed, fetches.iter().map(|key| key.0).chain(targets.iter().copied()))?;
        }
        // The dependencies of a target come before those of later targets.
        let mut order = Vec::with_capacity(needed.len());
        let mut ordered = BTreeSet::new();
        let results = fetches.iter().map(|key| key.0).filter(|_| entry.results_first);
        let results = results.filter(|node| needed.contains_key(node));
        for target in results.chain(targets.iter().copied()) {
            let of_target = body.without_back_edges(body.needed([target].into_iter())?);
            order.extend(body.order(&of_target)?.into_iter().filter(|&node| ordered.insert(node)));
        }
        let all = body.order(&body.without_back_edges(needed))?;
        order.extend(all.into_iter().filter(|&node| ordered.insert(node)));
        let mut arg_types = vec![TypeId(0); feeds.len()];
        for (&(node, port), &arg) in &body.feeds {
            arg_types[arg] = self.fed_type(&body, node, port, &feeds[arg].0)?;
        }
        let names: Vec<&str> = feeds.iter().map(|(_, name)| name.as_str()).collect();
        let (op, block) = self.open(&entry.symbol, &arg_types, &names);
        let mut block = self.block(&body, block, &order);
        self.nodes(&mut block, &order)?;
        let (mut results, mut result_names) = (Vec::new(), Vec::new());
        for (i, &(node, port)) in fetches.iter().enumerate() {
            let outputs = block.made.get(&node).map_or(0, |made| made.outputs.len());
            let name = entry.fetches.as_ref().and_then(|fetches| fetches.get(i));
            let name = name.map_or(body.nodes[node].name.as_str(), |(_, name)| name);
            if entry.everything {
                for port in 0..outputs {
                    let found = block.get(Reference::Output(node, port));
                    let found = found.map_err(|why| errors::unusable("fetch", name, &why))?;
                    results.push(self.read(&block, found[0], &[], LocId::UNKNOWN));
                    result_names.push(if port == 0 { name.to_owned() } else { format!("{name}:{port}") });
                }
                continue;
            }
            if outputs == 0 && port == 0 && !body.feeds.contains_key(&(node, 0)) {
                // The node has effects only, and they are translated.
                continue;
            }
            let found = block.get(Reference::Output(node, port));
            let found = found.map_err(|why| errors::unusable("fetch", name, &why))?;
            results.push(self.read(&block, found[0], &[], LocId::UNKNOWN));
            result_names.push(name.to_owned());
        }
        self.close(op, &block, results, result_names, &gradients)
    }

    /// Imports a function of the library.
    pub(super) fn function(&mut self, instance: &FunctionInstance<'g>) -> Result<(), Refusal> {
        let FunctionInstance { symbol, function, attrs } = instance;
        let signature = function.signature.as_ref();
        let name = signature.map_or("", |signature| signature.name.as_str());
        let mut body = GraphBody::of_function(name, function, attrs.clone())?;
        let mut arg_types = Vec::new();
        let handles = signature.map_or_else(Vec::new, |signature| self.handles(name, signature));
        let args: Vec<_> = signature.iter().flat_map(|signature| &signature.input_arg).zip(handles).collect();
        let twice = |arg: &ArgDef| {
            errors::function(name, &format!("two arguments are called '{}'", errors::shown(&arg.name)))
        };
        for (arg, _) in args.iter().filter(|(_, handle)| handle.is_none()) {
            let elements = self.declared(arg, &body).map_err(|why| errors::function(name, &why))?;
            if body.args.insert(&arg.name, (arg_types.len(), elements.len())).is_some() {
                return Err(twice(arg));
            }
            arg_types.extend(elements);
        }
        // The variables that a gradient function captures stand behind the arguments.
        let mut variables = Vec::new();
        for (arg, handle) in args {
            let Some(handle) = handle else { continue };
            if body.args.insert(&arg.name, (arg_types.len() + variables.len(), 1)).is_some() {
                return Err(twice(arg));
            }
            variables.push(std::slice::from_ref(handle));
        }
        body.captured = self.captured(&body);
        let needed = body.needed(kept(&body, function).into_iter())?;
        if !self.supports(&body, &needed) {
            return Ok(());
        }
        let order = body.order(&body.without_back_edges(needed))?;
        let (op, block) = self.open(symbol, &arg_types, &[]);
        if let Some(&gradient) = self.gradients.get(name) {
            let attr = self.custom_gradient(gradient, attrs).map_err(|why| errors::function(name, &why))?;
            let key = self.m.cx.str_id(CUSTOM_GRADIENT);
            self.m.set_attr(op, key, attr);
        }
        let private = self.m.cx.str_attr("private");
        self.m.set_attr(op, names::SYM_VISIBILITY, private);
        let mut handles = Vec::new();
        for variable in variables {
            let graph = GraphBody::of_graph(variable, &EntryPoint::default())?;
            let mut of_handle = self.block(&graph, block, &[0]);
            self.nodes(&mut of_handle, &[0])?;
            handles.extend(of_handle.get(Reference::Output(0, 0)).unwrap_or_default());
        }
        let mut block = self.block(&body, block, &order);
        block.args.extend(handles);
        self.nodes(&mut block, &order)?;
        let mut results = Vec::new();
        for arg in signature.iter().flat_map(|signature| &signature.output_arg) {
            let refuse = |why: String| {
                errors::function(name, &format!("result '{}': {why}", errors::shown(&arg.name)))
            };
            let source =
                function.ret.get(&arg.name).ok_or_else(|| refuse("it is not said what it is".into()))?;
            let found = body.reference(source).and_then(|reference| block.get(reference)).map_err(refuse)?;
            let elements = self.declared(arg, &body).map_err(refuse)?;
            if found.len() != elements.len() {
                return Err(refuse(format!("{} values, {} declared", found.len(), elements.len())));
            }
            for (value, declared) in found.into_iter().zip(elements) {
                let value = self.read(&block, value, &[], LocId::UNKNOWN);
                let cx = &self.m.cx;
                if cx.element(self.m.value_type(value)) != cx.element(declared) {
                    return Err(refuse("its type is not the declared one".into()));
                }
                results.push(value);
            }
        }
        self.close(op, &block, results, Vec::new(), &[])
    }

    /// The types of an argument or result of a function.
    pub(super) fn declared(&mut self, arg: &ArgDef, body: &GraphBody<'_>) -> Result<Vec<TypeId>, String> {
        let attr = |name: &str| body.attrs.get(name).and_then(|value| value.value.as_ref());
        let missing =
            |name: &str| format!("argument '{}' depends on attribute '{name}', which is not given", arg.name);
        let codes = if !arg.type_list_attr.is_empty() {
            match attr(&arg.type_list_attr) {
                Some(Value::List(list)) => list.r#type.clone(),
                _ => return Err(missing(&arg.type_list_attr)),
            }
        } else {
            let code = match attr(&arg.type_attr) {
                _ if arg.type_attr.is_empty() => arg.r#type,
                Some(Value::Type(code)) => *code,
                _ => return Err(missing(&arg.type_attr)),
            };
            let n = match attr(&arg.number_attr) {
                _ if arg.number_attr.is_empty() => 1,
                Some(Value::I(n)) => {
                    usize::try_from(*n).ok().filter(|&n| n <= MAX_OUTPUTS).ok_or("a wrong number")?
                }
                _ => return Err(missing(&arg.number_attr)),
            };
            vec![code; n]
        };
        let cx = &mut self.m.cx;
        codes
            .into_iter()
            .map(|code| {
                let (ty, is_ref) = Type::from_code(code).map_err(|error| error.to_string())?;
                let element = tf::element(cx, ty, is_ref || arg.is_ref);
                Ok(tf::tensor(cx, None, element))
            })
            .collect()
    }

    /// True if all nodes are supported; records those that are not.
    fn supports(&mut self, body: &GraphBody<'_>, needed: &Needed) -> bool {
        let mut all = true;
        for &node in needed.keys() {
            let NodeDef { name, op, .. } = &body.nodes[node];
            if !is_placeholder(op)
                && !row(op).is_some_and(OpRow::is_supported)
                && Primitive::of_node(op).is_none()
                && !self.library.contains_key(op.as_str())
                && !self.restores(op)
            {
                self.unsupported(op, name);
                all = false;
            }
        }
        all
    }

    /// The type of a fed tensor.
    fn fed_type(
        &mut self,
        body: &GraphBody<'g>,
        node: usize,
        port: usize,
        feed: &Feed,
    ) -> Result<TypeId, Refusal> {
        let refuse = |why: String| errors::unusable("feed", &feed.name, &why);
        let plan = self.plan(body, node).map_err(refuse)?;
        let ty = *plan
            .outputs
            .get(port)
            .ok_or_else(|| refuse(format!("the node has {} outputs", plan.outputs.len())))?;
        narrowed(&mut self.m.cx, ty, feed).map_err(refuse)
    }

    /// Refuses placeholders that are needed for one of the results, and not fed.
    fn expect_fed(
        &mut self,
        body: &GraphBody<'g>,
        needed: &Needed,
        mut results: impl Iterator<Item = usize>,
    ) -> Result<(), Refusal> {
        let is_missing = |&&node: &&usize| {
            is_placeholder(&body.nodes[node].op)
                && !body.feeds.contains_key(&(node, 0))
                && self.text_of(body, node).is_none()
        };
        let Some(&node) = needed.keys().find(is_missing) else { return Ok(()) };
        let NodeDef { name, op, .. } = &body.nodes[node];
        let ty = self.fed_type(body, node, 0, &Feed::named(name.clone()))?;
        let ty = type_text(&self.m.cx, ty);
        let depends = |&result: &usize| {
            body.needed([result].into_iter()).is_ok_and(|inputs| inputs.contains_key(&node))
        };
        let result = results.find(depends).map_or("", |result| body.nodes[result].name.as_str());
        let why = format!("it is a {ty} that must be fed, because '{}' needs it", errors::shown(result));
        Err(errors::node(name, op, &why))
    }

    /// Starts a function without ops.
    fn open(&mut self, name: &str, args: &[TypeId], arg_names: &[&str]) -> (OpId, BlockId) {
        let sym_name = self.m.cx.str_attr(name);
        let func = self.m.cx.op_name(names::FUNC_FUNC);
        let op = self.m.create(NewOp { attrs: &[(names::SYM_NAME, sym_name)], ..NewOp::new(func) });
        if !arg_names.is_empty() {
            let attrs = names_attr(&mut self.m.cx, arg_names);
            self.m.set_attr(op, names::ARG_ATTRS, attrs);
        }
        let region = self.m.add_region(op);
        let block = self.m.add_block(region);
        args.iter().for_each(|&ty| {
            self.m.add_arg(block, ty);
        });
        let body = self.m.body();
        self.m.append(body, op);
        (op, block)
    }

    /// Finishes a function, with gradients as further results.
    fn close(
        &mut self,
        op: OpId,
        block: &Block<'_, 'g>,
        mut results: Vec<ValueId>,
        mut result_names: Vec<String>,
        gradients: &[Resolved<(usize, usize)>],
    ) -> Result<(), Refusal> {
        let n = results.len();
        for request in gradients {
            results.extend(self.gradient_operands(block, request)?);
        }
        let mut results = self.close_graph(block, &results);
        let mut operands = results.split_off(n);
        for request in gradients {
            let rest = operands.split_off(request.tensors().count());
            let named = (&mut results, &mut result_names);
            request.append(&mut self.m, block.function, &operands, named)?;
            operands = rest;
        }
        let (m, block) = (&mut self.m, block.function);
        let end = m.create_named("func.return", &results, &[], &[]);
        m.append(block, end);
        let inputs: Vec<TypeId> = m.args(block).iter().map(|&arg| m.value_type(arg)).collect();
        let outputs: Vec<TypeId> = results.iter().map(|&value| m.value_type(value)).collect();
        let ty = m.cx.function_type(&inputs, &outputs);
        let ty = m.cx.type_attr(ty);
        m.set_attr(op, names::FUNCTION_TYPE, ty);
        if !result_names.is_empty() {
            let result_names: Vec<&str> = result_names.iter().map(String::as_str).collect();
            let attrs = names_attr(&mut self.m.cx, &result_names);
            self.m.set_attr(op, names::RES_ATTRS, attrs);
        }
        Ok(())
    }

    /// Translates nodes to ops.
    fn nodes(&mut self, block: &mut Block<'_, 'g>, order: &[usize]) -> Result<(), Refusal> {
        for &node in order {
            for reference in block.body.inputs(node)? {
                if let Reference::Control(from) = reference {
                    block.watched.insert(from);
                }
            }
        }
        for &node in order {
            let made = self.sources(block, node).and_then(|()| self.node(block, node));
            let made = block.body.refuse(node, made)?;
            // A NextIteration's output is made in front of its Merge.
            block.made.entry(node).or_insert(made);
        }
        Ok(())
    }

    /// Translates a node to an op.
    fn node(&mut self, block: &Block<'_, 'g>, node: usize) -> Result<TranslatedNode, String> {
        let body = block.body;
        let NodeDef { name, op, .. } = &body.nodes[node];
        if let Some(text) = self.text_of(body, node) {
            return Ok(self.text(block, &body.nodes[node], text));
        }
        if self.restores(op) {
            return self.restore(block, node);
        }
        if is_placeholder(op) {
            // A fed node is an argument.
            if body.feeds.contains_key(&(node, 0)) {
                return Ok(TranslatedNode::default());
            }
            return Err("it is needed, so it must be fed".into());
        }
        let NodePlan { name: op_name, mut attrs, takes, outputs, ranges } = self.plan(body, node)?;
        attrs.extend(self.device_attrs(body, &body.nodes[node]));
        let name = self.m.cx.str_id(name);
        let loc = self.m.cx.loc_id(LocKind::Name { name, child: LocId::UNKNOWN });
        let (mut operands, mut controls) = (Vec::new(), Vec::new());
        let mut ended = false;
        for reference in body.inputs(node).map_err(|error| error.message)? {
            match reference {
                Reference::Control(from) => {
                    ended = true;
                    // A constant is available from the beginning, unless it may be dead or in a frame.
                    if op == "Const" && block.dataflow.is_none() {
                        continue;
                    }
                    controls.extend(block.made.get(&from).and_then(|made| made.control));
                }
                _ if ended => return Err("an input after a control input".into()),
                _ => operands.extend(block.get(reference)?),
            }
        }
        if operands.len() != takes.len() {
            return Err(format!("{} inputs, {} expected", operands.len(), takes.len()));
        }
        controls.sort_unstable();
        controls.dedup();
        for (operand, takes_reference) in operands.iter_mut().zip(takes) {
            let element = self.m.cx.element(self.m.value_type(*operand));
            let is_ref = tf::type_of(&self.m.cx, element).is_some_and(|(_, is_ref)| is_ref);
            match (is_ref, takes_reference) {
                (true, false) => *operand = self.read(block, *operand, &controls, loc),
                (false, true) => return Err("a tensor where a reference to a variable is expected".into()),
                _ => {}
            }
        }
        self.check_elements(node, body, &operands)?;
        operands.extend(&controls);
        let (op_name, outputs) = match block.token(node)? {
            _ if block.dataflow.is_none() => (op_name, outputs),
            None => (Primitive::of_node(op).map_or(op_name, |of| of.op_name().to_owned()), outputs),
            Some(token) => {
                operands.insert(0, token);
                (Primitive::Sink.op_name().to_owned(), Vec::new())
            }
        };
        let n_outputs = outputs.len();
        let mut results = outputs;
        let watched = block.watched.contains(&node);
        if watched {
            results.push(KnownType::Chain.id());
        }
        let op_name = self.m.cx.str_id(&op_name);
        let op_name = self.m.cx.op_name(op_name);
        let op = self.m.create(NewOp {
            operands: &operands,
            results: &results,
            attrs: &attrs,
            loc,
            ..NewOp::new(op_name)
        });
        self.m.append(block.block, op);
        let mut outputs: Vec<ValueId> = self.m.results(op).collect();
        let control = if watched { outputs.pop() } else { None };
        debug_assert_eq!(outputs.len(), n_outputs);
        Ok(TranslatedNode { outputs, ranges, control })
    }

    /// Refuses operands whose element type differs from the one that the node's attributes give.
    fn check_elements(
        &mut self,
        node: usize,
        body: &GraphBody<'g>,
        operands: &[ValueId],
    ) -> Result<(), String> {
        let Some(signature) = row(&body.nodes[node].op).map(OpRow::signature) else { return Ok(()) };
        let wanted = elements(&signature.inputs, signature, &body.nodes[node], body)?;
        for (i, (&operand, (want, _, _))) in operands.iter().zip(&wanted).enumerate() {
            let element = self.m.cx.element(self.m.value_type(operand));
            let found = tf::type_of(&self.m.cx, element).map(|(ty, _)| ty);
            if found != Some(want.0) {
                let found = type_text(&self.m.cx, element);
                return Err(format!("input {i} has elements of type {found}, expected {}", want.0));
            }
        }
        Ok(())
    }

    /// The value of a tensor, after a read of the variable if it is a reference.
    pub(super) fn read(
        &mut self,
        block: &Block<'_, 'g>,
        value: ValueId,
        controls: &[ValueId],
        loc: LocId,
    ) -> ValueId {
        let ty = self.m.value_type(value);
        let element = self.m.cx.element(ty);
        let Some((ty, true)) = tf::type_of(&self.m.cx, element) else { return value };
        let element = tf::element(&mut self.m.cx, ty, false);
        let result = tf::tensor(&mut self.m.cx, None, element);
        let operands: Vec<ValueId> = std::iter::once(value).chain(controls.iter().copied()).collect();
        let name = self.m.cx.str_id(tf::READ_REF);
        let name = self.m.cx.op_name(name);
        let op = self.m.create(NewOp { operands: &operands, results: &[result], loc, ..NewOp::new(name) });
        self.m.append(block.block, op);
        self.m.result(op, 0)
    }

    /// The plan of a node.
    pub(super) fn plan(&mut self, body: &GraphBody<'g>, node: usize) -> Result<NodePlan, String> {
        let def = &body.nodes[node];
        let mut plan = match row(&def.op) {
            Some(row) => self.plan_op(body, def, row.signature())?,
            None => self.plan_call(body, def)?,
        };
        self.plan_gradient(body, node, &mut plan)?;
        Ok(plan)
    }

    fn plan_op(
        &mut self,
        body: &GraphBody<'g>,
        def: &'g NodeDef,
        signature: &Signature,
    ) -> Result<NodePlan, String> {
        let takes =
            elements(&signature.inputs, signature, def, body)?.into_iter().map(|(_, is_ref, _)| is_ref);
        let takes = takes.collect();
        let (mut outputs, mut ranges) = (Vec::new(), Vec::<(String, usize, usize)>::new());
        let shape = match attr_of(body, def, "shape") {
            Some(Value::Shape(shape)) if is_placeholder(&def.op) => attr::dims(shape)?,
            _ => None,
        };
        for (element, is_ref, name) in elements(&signature.outputs, signature, def, body)? {
            match ranges.last_mut() {
                Some((last, _, n)) if last == name => *n += 1,
                _ => ranges.push((name.to_owned(), outputs.len(), 1)),
            }
            let cx = &mut self.m.cx;
            let element = tf::element(cx, element.0, is_ref || element.1);
            outputs.push(tf::tensor(cx, shape.as_deref(), element));
        }
        let mut attrs = Vec::new();
        if let Some(name) = self.resource_name(body, def, signature) {
            attrs.push(name);
        }
        for declared in &signature.attrs {
            if tf::is_derived(signature, declared.name) {
                continue;
            }
            let value = match (def.attr.get(declared.name), &declared.default) {
                (Some(value), _) => value,
                (None, Some(_)) => continue,
                (None, None) => return Err(format!("it has no attribute '{}'", declared.name)),
            };
            let value = self.attr(body, resolved(value, &body.attrs))?;
            let default = declared
                .default
                .as_ref()
                .map(|default| tf::declared_attr(&mut self.m.cx, declared.kind, default));
            if default != Some(value) {
                attrs.push((self.m.cx.str_id(declared.name), value));
            }
        }
        if def.op == "Const" {
            outputs = attrs.iter().filter_map(|&(_, value)| self.m.cx.attr_type(value)).collect();
        }
        Ok(NodePlan { name: format!("tf.{}", def.op), attrs, takes, outputs, ranges })
    }

    /// The symbol of a gradient function.
    pub(super) fn custom_gradient(
        &mut self,
        name: &str,
        attrs: &BTreeMap<String, AttrValue>,
    ) -> Result<AttrId, String> {
        let called = NameAttrList { name: name.to_owned(), attr: attrs.clone() };
        let symbol = self.symbol(&called, attrs)?;
        Ok(self.m.cx.symbol_attr(&symbol))
    }

    /// A call of a function of the library by its name.
    fn plan_call(&mut self, body: &GraphBody<'g>, def: &'g NodeDef) -> Result<NodePlan, String> {
        let called = NameAttrList { name: def.op.clone(), attr: def.attr.clone() };
        let function = self.library.get(def.op.as_str()).copied();
        let function = function
            .ok_or_else(|| format!("there is no operation or function '{}'", errors::shown(&def.op)))?;
        let symbol = self.symbol(&called, &body.attrs)?;
        let attrs = def
            .attr
            .iter()
            .map(|(name, value)| (name.clone(), resolved(value, &body.attrs).clone()))
            .collect();
        let callee = GraphBody::of_function(&def.op, function, attrs).map_err(|error| error.message)?;
        let signature = function.signature.as_ref().ok_or("the function has no signature")?;
        let mut takes = Vec::new();
        for arg in &signature.input_arg {
            takes.extend(self.declared(arg, &callee)?.iter().map(|_| arg.is_ref));
        }
        let (mut outputs, mut ranges) = (Vec::new(), Vec::new());
        for arg in &signature.output_arg {
            let types = self.declared(arg, &callee)?;
            ranges.push((arg.name.clone(), outputs.len(), types.len()));
            outputs.extend(types);
        }
        let symbol = self.m.cx.symbol_attr(&symbol);
        let attrs = vec![(self.m.cx.str_id("f"), symbol)];
        Ok(NodePlan { name: Op::StatefulPartitionedCall.op_name().to_owned(), attrs, takes, outputs, ranges })
    }

    fn attr(&mut self, body: &GraphBody<'g>, value: &AttrValue) -> Result<AttrId, String> {
        // Functions first: the context is borrowed while attributes are translated.
        let mut called = Vec::new();
        match &value.value {
            Some(Value::Func(function)) => called.push(function),
            Some(Value::List(list)) => called.extend(&list.func),
            _ => {}
        }
        let symbols: Vec<String> = called
            .into_iter()
            .map(|function| self.symbol(function, &body.attrs))
            .collect::<Result<_, _>>()?;
        let mut symbols = symbols.into_iter();
        attr::attr(&mut self.m.cx, value, &mut |_| {
            symbols.next().ok_or_else(|| "a function inside of a list".into())
        })
    }
}

impl<'g> Block<'_, 'g> {
    /// The values of a reference: one, or those of a list.
    pub(super) fn get(&self, reference: Reference<'g>) -> Result<Vec<ValueId>, String> {
        let part = |values: &[ValueId], i: usize| {
            let value = values.get(i).copied();
            value.map(|value| vec![value]).ok_or_else(|| format!("output {i} of {} outputs", values.len()))
        };
        let made = |node: usize| {
            let name = &self.body.nodes[node].name;
            self.made.get(&node).ok_or_else(|| format!("'{}' is not there yet", errors::shown(name)))
        };
        match reference {
            Reference::Control(_) => Err("a control edge is no value".into()),
            Reference::Output(node, port) => match self.body.feeds.get(&(node, port)) {
                Some(&arg) => part(&self.args, arg),
                None => part(&made(node)?.outputs, port),
            },
            Reference::Named(node, out, port) => {
                let made = made(node)?;
                let range = made.ranges.iter().find(|(name, ..)| name == out);
                let &(_, first, n) =
                    range.ok_or_else(|| format!("there is no output '{}'", errors::shown(out)))?;
                let values = made.outputs.get(first..first + n).unwrap_or_default();
                port.map_or_else(|| Ok(values.to_vec()), |port| part(values, port))
            }
            Reference::Arg(name, port) => {
                let &(first, n) = self.body.args.get(name).ok_or("no such argument")?;
                let values = self.args.get(first..first + n).unwrap_or_default();
                port.map_or_else(|| Ok(values.to_vec()), |port| part(values, port))
            }
        }
    }
}

/// Operands or results: the type, whether it is a reference, and the name in the signature.
fn elements<'s>(
    args: &'s [befrost_tensor::tf::op::Arg],
    signature: &Signature,
    def: &NodeDef,
    body: &GraphBody<'_>,
) -> Result<Vec<(ElementType, bool, &'s str)>, String> {
    let mut elements = Vec::new();
    for arg in args {
        let n = match arg.number {
            None => 1,
            Some(name) => match attr_of(body, def, name) {
                Some(Value::I(n)) => usize::try_from(*n)
                    .ok()
                    .filter(|&n| n <= MAX_OUTPUTS)
                    .ok_or_else(|| format!("attribute '{name}' is {n}"))?,
                _ => return Err(format!("it has no attribute '{name}'")),
            },
        };
        match arg.ty {
            ArgType::Is(ty) => elements.extend((0..n).map(|_| ((ty, false), arg.is_ref, arg.name))),
            ArgType::Attr(name) => {
                let ty = type_attr(signature, def, body, name)?;
                elements.extend((0..n).map(|_| (ty, arg.is_ref, arg.name)));
            }
            ArgType::List(name) => {
                let list = match attr_of(body, def, name) {
                    Some(Value::List(list)) => list.r#type.as_slice(),
                    None if default_of(signature, name).is_some() => &[],
                    _ => return Err(format!("it has no attribute '{name}'")),
                };
                for &code in list {
                    elements.push((
                        Type::from_code(code).map_err(|error| error.to_string())?,
                        arg.is_ref,
                        arg.name,
                    ));
                }
            }
        }
        if elements.len() > MAX_OUTPUTS {
            return Err(format!("more than {MAX_OUTPUTS} inputs or outputs"));
        }
    }
    Ok(elements)
}

fn type_attr(
    signature: &Signature,
    def: &NodeDef,
    body: &GraphBody<'_>,
    name: &str,
) -> Result<ElementType, String> {
    match (attr_of(body, def, name), default_of(signature, name)) {
        (Some(Value::Type(code)), _) => Type::from_code(*code).map_err(|error| error.to_string()),
        (None, Some(DefaultValue::Type(ty))) => Ok((*ty, false)),
        _ => Err(format!("it has no attribute '{name}'")),
    }
}

fn default_of<'s>(signature: &'s Signature, name: &str) -> Option<&'s DefaultValue> {
    debug_assert!(
        signature.attr(name).is_none_or(|attr| matches!(attr.kind, Kind::Type | Kind::Int | Kind::List(_)))
    );
    signature.attr(name)?.default.as_ref()
}

pub(super) fn attr_of<'v>(body: &'v GraphBody<'_>, def: &'v NodeDef, name: &str) -> Option<&'v Value> {
    resolved(def.attr.get(name)?, &body.attrs).value.as_ref()
}

/// True for operations that create variables.
pub(in crate::import) fn is_variable(op: &str) -> bool {
    row(op).is_some_and(tf::creates_variable)
}

/// True for operations whose value is given from outside.
pub(in crate::import) fn is_placeholder(op: &str) -> bool {
    matches!(op, "Placeholder" | "PlaceholderV2" | "_Arg")
}

/// A tensor's name without the number of a first output.
pub(super) fn canonical(name: &str) -> &str {
    match split_port(name) {
        (node, Some("0")) => node,
        _ => name,
    }
}

/// The nodes for which a function is called, as in TensorFlow: those of its results, those that its control
/// edges name, and those with effects, which do not depend on results.
fn kept<'g>(body: &GraphBody<'g>, function: &'g FunctionDef) -> Vec<usize> {
    let is_pure = |op: &str| row(op).is_some_and(|row| row.effect() == Effect::Pure);
    let with_effects = (0..body.nodes.len()).filter(|&node| !is_pure(&body.nodes[node].op));
    let mut all: Vec<usize> = with_effects.collect();
    for source in function.ret.values().chain(function.control_ret.values()) {
        // What a result is wrong in is said where it is built.
        all.extend(body.reference(source).ok().and_then(Reference::node));
    }
    all
}
