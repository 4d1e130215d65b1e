//! Nodes whose values are in other files: a RestoreV2 becomes constants with a bundle's tensors, a node for
//! the name of a file becomes that name.
//!
//! A session would read the files when it starts. Here the program contains their contents and needs no
//! files. Only restored tensors that are used are read.

use befrost_tensor::bundle::{BundleData, BundleTensor};
use befrost_tensor::tf::op::{Op, Signature, Type};

use super::body::{GraphBody, Reference, resolved};
use super::build::{Block, TranslatedNode};
use super::{Importer, tensor};
use crate::dialects::tf;
use crate::import::errors::shown;
use crate::import::proto::attr_value::Value;
use crate::import::proto::{NodeDef, TensorProto};
use crate::ir::{AttrId, AttrKind, Blob, Context, LocId, LocKind, NewOp, StrId, ValueId};

/// The inputs of RestoreV2 that name the tensors, and the slices of them.
const NAMES: usize = 1;
const SLICES: usize = 2;

/// Maximum number of nodes between a constant and its use.
const MAX_IDENTITIES: usize = 64;

impl<'g> Importer<'g> {
    /// True if nodes of this operation become constants of a bundle.
    pub(super) fn restores(&self, op: &str) -> bool {
        op == "RestoreV2" && self.surroundings.bundle.is_some()
    }

    /// The known text of a node of the graph.
    pub(super) fn text_of(&self, body: &GraphBody<'_>, node: usize) -> Option<&'g str> {
        let NodeDef { name, .. } = &body.nodes[node];
        self.surroundings.texts.get(name).filter(|_| body.function.is_none()).map(String::as_str)
    }

    /// The text as a constant.
    pub(super) fn text(&mut self, block: &Block<'_, 'g>, def: &NodeDef, text: &str) -> TranslatedNode {
        let cx = &mut self.m.cx;
        let element = tf::element(cx, Type::String, false);
        let ty = cx.tensor_type(&[], element);
        let strings = [cx.str_attr(text)].into();
        let value = cx.attr_id(AttrKind::DenseStrings { ty, splat: false, strings });
        let outputs = vec![self.constant(block, def, value)];
        TranslatedNode { ranges: vec![("output".to_owned(), 0, 1)], outputs, control: None }
    }

    fn constant(&mut self, block: &Block<'_, 'g>, def: &NodeDef, value: AttrId) -> ValueId {
        let cx = &mut self.m.cx;
        let name = cx.str_id(&def.name);
        let loc = cx.loc_id(LocKind::Name { name, child: LocId::UNKNOWN });
        let (op, attr) = (cx.str_id(Op::Const.op_name()), cx.str_id("value"));
        let op = cx.op_name(op);
        let result = cx.attr_type(value).into_iter().collect::<Vec<_>>();
        let op = self.m.create(NewOp { results: &result, attrs: &[(attr, value)], loc, ..NewOp::new(op) });
        self.m.append(block.block, op);
        self.m.result(op, 0)
    }

    /// The tensors that a RestoreV2 restores, as constants. Unused outputs are not read; they get the value
    /// of the first used one.
    pub(super) fn restore(&mut self, block: &Block<'_, 'g>, node: usize) -> Result<TranslatedNode, String> {
        let (body, Some(bundle)) = (block.body, self.surroundings.bundle) else {
            return Err("there is no bundle to restore from".to_owned());
        };
        let def = &body.nodes[node];
        let (names, slices) = (texts(body, node, NAMES)?, texts(body, node, SLICES)?);
        let types = match def.attr.get("dtypes").and_then(|value| resolved(value, &body.attrs).value.as_ref())
        {
            Some(Value::List(list)) => &list.r#type,
            _ => return Err("it has no attribute 'dtypes'".to_owned()),
        };
        if names.len() != types.len() || slices.len() != types.len() {
            let (names, slices, types) = (names.len(), slices.len(), types.len());
            return Err(format!("{names} names of tensors, {slices} slices and {types} types"));
        }
        let used = uses(body, node, names.len())?;
        let mut outputs = vec![None; names.len()];
        for (i, ((name, slice), &code)) in names.iter().zip(&slices).zip(types).enumerate() {
            if !used[i] {
                continue;
            }
            let found = bundle.read(name, slice).map_err(|error| error.to_string())?;
            if found.ty.code() != code {
                let want = Type::from_code(code).map_or(code.to_string(), |(ty, _)| ty.to_string());
                return Err(format!("tensor '{}' is of type {}, not {want}", shown(name), found.ty));
            }
            let value = bundle_attr(&mut self.m.cx, found)
                .map_err(|why| format!("tensor '{}': {why}", shown(name)))?;
            outputs[i] = Some(self.constant(block, def, value));
        }
        let Some(first) = outputs.iter().flatten().next().copied() else {
            return Ok(TranslatedNode::default());
        };
        let outputs: Vec<ValueId> = outputs.into_iter().map(|output| output.unwrap_or(first)).collect();
        Ok(TranslatedNode { ranges: vec![("tensors".to_owned(), 0, outputs.len())], outputs, control: None })
    }

    /// The name of a resource without one that all entry points share: the name of its node.
    pub(super) fn resource_name(
        &mut self,
        body: &GraphBody<'g>,
        def: &NodeDef,
        signature: &Signature,
    ) -> Option<(StrId, AttrId)> {
        signature.attr("shared_name")?;
        let is_named = matches!(
            def.attr.get("shared_name").and_then(|value| resolved(value, &body.attrs).value.as_ref()),
            Some(Value::S(name)) if !name.is_empty()
        );
        if is_named || !self.surroundings.shares_resources || body.function.is_some() {
            return None;
        }
        let value = self.m.cx.str_attr(&def.name);
        Some((self.m.cx.str_id("shared_name"), value))
    }
}

/// The texts of the constant that is an input of a node.
fn texts(body: &GraphBody<'_>, node: usize, input: usize) -> Result<Vec<String>, String> {
    let mut reference = body.inputs(node).map_err(|error| error.message)?.get(input).copied();
    for _ in 0..MAX_IDENTITIES {
        let Some(from) = reference.and_then(Reference::node) else { break };
        let def = &body.nodes[from];
        match (&def.op[..], def.attr.get("value").and_then(|value| value.value.as_ref())) {
            ("Identity", _) => reference = body.inputs(from).map_err(|error| error.message)?.first().copied(),
            ("Const", Some(Value::Tensor(value))) => return strings(value),
            _ => break,
        }
    }
    Err("its names and slices of tensors are not constant".to_owned())
}

fn strings(tensor: &TensorProto) -> Result<Vec<String>, String> {
    let all = tensor::all_strings(tensor)?.into_iter().map(|bytes| String::from_utf8(bytes.to_vec()));
    all.collect::<Result<_, _>>().map_err(|_| "a name of a tensor that is not UTF-8".to_owned())
}

/// Which outputs of a node others use.
fn uses(body: &GraphBody<'_>, node: usize, n: usize) -> Result<Vec<bool>, String> {
    let mut used = vec![false; n];
    for other in 0..body.nodes.len() {
        for reference in body.inputs(other).map_err(|error| error.message)? {
            match reference {
                Reference::Output(of, port) | Reference::Named(of, _, Some(port)) if of == node => {
                    *used.get_mut(port).ok_or_else(|| format!("output {port} of {n} outputs"))? = true;
                }
                Reference::Named(of, _, None) if of == node => used.fill(true),
                _ => {}
            }
        }
    }
    Ok(used)
}

/// A tensor of a bundle as an attribute. It shares the bundle's bytes.
fn bundle_attr(cx: &mut Context, tensor: BundleTensor) -> Result<AttrId, String> {
    let dims = tensor.dims.iter().map(|&dim| i64::try_from(dim)).collect::<Result<Vec<_>, _>>();
    let dims = dims.map_err(|_| "its shape is too large".to_owned())?;
    let element = tf::element(cx, tensor.ty, false);
    let ty = cx.tensor_type(&dims, element);
    Ok(match tensor.data {
        BundleData::Dense(bytes) => {
            cx.attr_id(AttrKind::Dense { ty, splat: false, data: Blob::from_owner(bytes) })
        }
        BundleData::Strings(texts) => {
            let strings = texts.iter().map(|text| cx.bytes_attr(text)).collect();
            cx.attr_id(AttrKind::DenseStrings { ty, splat: false, strings })
        }
    })
}
