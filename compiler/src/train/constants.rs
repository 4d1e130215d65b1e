//! Constants that become variables, to fine-tune frozen models.
//!
//! ```text
//! step, evaluate, predict:  %w = tf.Const {value}          ──▶  %w = tf.ReadVariableOp(tf.VarHandleOp @name)
//! init:                                                         tf.AssignVariableOp(handle, {value})
//! ```

use std::collections::BTreeMap;

use befrost_tensor::DType;
use befrost_tensor::tf::op::{Op, Type};

use super::entry::{end_of, function};
use super::errors;
use super::spec::NamePattern;
use crate::build::{Builder, Refusal, query};
use crate::diag::Diagnostic;
use crate::dialects::tf;
use crate::ir::{AttrId, Module, OpId, ValueId, names};
use crate::rewrite::Rewriter;

/// The node name of a constant of floats.
fn name_of(m: &Module, op: OpId) -> Option<String> {
    if tf::operator(m, op) != Some(Op::Const) {
        return None;
    }
    let dtype = query::dtype(m, m.result(op, 0))?;
    let is_real = matches!(dtype, DType::F16 | DType::BF16 | DType::F32 | DType::F64);
    m.node_name(op).filter(|_| is_real).map(str::to_owned)
}

/// Replaces the constants whose node names match a pattern by variables.
pub(super) fn to_variables(r: &mut Rewriter<'_>, pattern: &NamePattern) -> Result<(), Vec<Diagnostic>> {
    let m = r.ir();
    let mut chosen: BTreeMap<String, AttrId> = BTreeMap::new();
    let mut ops = Vec::new();
    let mut others = Vec::new();
    for name in ["step", "evaluate", "predict"] {
        let Some(function) = function(m, name) else { continue };
        let Some(block) = end_of(m, function).and_then(|end| m.parent_block(end)) else { continue };
        for op in m.ops_in(block) {
            let (Some(name), Some(value)) = (name_of(m, op), m.attr(op, names::VALUE)) else { continue };
            if pattern.matches(&name) {
                ops.push((op, name.clone()));
                chosen.insert(name, value);
            } else {
                others.push(name);
            }
        }
    }
    if chosen.is_empty() {
        others.sort();
        others.dedup();
        let others: Vec<&str> = others.iter().map(String::as_str).collect();
        return Err(vec![errors::no_constant(&pattern.to_string(), &others)]);
    }
    let refused = |refusal: Refusal| vec![*refusal];
    for (op, name) in ops {
        let mut b = Builder::before(r, op);
        let old = b.ir().result(op, 0);
        let handle = handle(&mut b, &name, old).map_err(refused)?;
        let read = b.op(Op::ReadVariableOp, &[handle]).like(old).one().map_err(refused)?;
        r.replace_op(op, &[read]);
    }
    let init = function(r.ir(), "init").and_then(|init| end_of(r.ir(), init));
    let end = init.ok_or_else(|| vec![errors::no_function("init")])?;
    for (name, value) in chosen {
        let mut b = Builder::before(r, end);
        let value = b.constant(value);
        let handle = handle(&mut b, &name, value).map_err(refused)?;
        _ = b.op(Op::AssignVariableOp, &[handle, value]).build().map_err(refused)?;
    }
    Ok(())
}

/// The handle of a variable for values of the type of `like`.
fn handle(b: &mut Builder<'_, '_>, name: &str, like: ValueId) -> Result<ValueId, Refusal> {
    let ty = b.ir().value_type(like);
    let dims = query::partial_shape(b.ir(), ty).dims();
    let element = tf::type_of(&b.ir().cx, ty).map_or(Type::Variant, |(ty, _)| ty);
    let shape = tf::shape_attr(b.cx(), dims.as_deref());
    b.op(Op::VarHandleOp, &[]).ty("dtype", element).attr("shape", shape).str("shared_name", name).one()
}
