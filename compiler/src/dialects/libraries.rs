//! Ops of kernel libraries.
//!
//! ```text
//! library ──add_operator──▶ tf.MyNorm      an operator, by its row
//!         ──add_kernel────▶ geo.area       a kernel with operands and results of fixed types
//! ```

use befrost_tensor::tf::op::OpRow;

use super::def::OpDef;
use super::registry::Registry;
use super::{TypeConstraint, foreign, tf};
use crate::ir::KnownType;

/// True if there is an op of this name, of a dialect or a library.
pub fn has_op(name: &str) -> bool {
    Registry::standard().find(name).is_some() || foreign::find(name).is_some()
}

fn add(def: &'static OpDef) -> Result<(), String> {
    if Registry::standard().find(&def.name).is_some() || !foreign::add(def) {
        return Err(format!("there is an op '{}' already", def.name));
    }
    Ok(())
}

/// Adds an operator.
///
/// # Errors
/// If there is an op of its name.
pub fn add_operator(row: &'static OpRow) -> Result<(), String> {
    let mut registry = Registry::new();
    tf::add(&mut registry, row);
    registry.leak().find(row.op_name).map_or(Ok(()), add)
}

/// A kernel with operands and results of these types.
#[derive(Clone, Copy, Debug)]
pub struct ForeignKernel<'a> {
    /// The full name.
    pub name: &'a str,
    /// The line of documentation.
    pub summary: &'static str,
    /// The types of the operands, as MLIR prints them.
    pub operands: &'a [&'static str],
    /// The types of the results.
    pub results: &'a [&'static str],
    /// The names of the attributes, sorted.
    pub attrs: &'a [&'static str],
    /// True if the results depend on the operands and attributes alone.
    pub is_pure: bool,
}

/// Adds a kernel.
///
/// # Errors
/// If there is an op of its name, or the name has no dialect.
pub fn add_kernel(kernel: &ForeignKernel<'_>) -> Result<(), String> {
    let ForeignKernel { name, summary, operands, results, attrs, is_pure } = *kernel;
    if name.split_once('.').is_none_or(|(dialect, op)| dialect.is_empty() || op.is_empty()) {
        return Err(format!("'{name}' is no name of an op: it has no dialect"));
    }
    let of = |ty: &'static str| match KnownType::ALL.into_iter().find(|known| known.name() == ty) {
        Some(known) => TypeConstraint::Is(known),
        None => TypeConstraint::Opaque(ty),
    };
    let def = OpDef::new(name, summary);
    let def = operands.iter().fold(def, |def, ty| def.operand("operand", of(ty)));
    let def = results.iter().fold(def, |def, ty| def.result("result", of(ty)));
    let def = if attrs.is_empty() { def } else { def.named_attrs() };
    let def = attrs.iter().fold(def, |def, name| def.optional_attr(name, super::AttrConstraint::Any));
    let def = if is_pure { def.pure() } else { def };
    add(Box::leak(Box::new(def.kernel().asynchronous())))
}
