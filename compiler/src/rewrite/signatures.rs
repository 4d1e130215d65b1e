//! The types of functions, and their update to the types of arguments and results.

use super::Rewriter;
use crate::dialects::Traits;
use crate::ir::{Module, OpId, TypeId, names};

/// Sets the type of each single-block function to that of its body.
pub(crate) fn refresh(r: &mut Rewriter<'_>) {
    let m = r.ir();
    let functions: Vec<OpId> = m
        .walk(r.root())
        .filter(|&op| m.def(op).is_some_and(|def| def.traits.has(Traits::FUNCTION)))
        .collect();
    for function in functions {
        let m = r.ir();
        let Some(block) = m.regions_of(function).first().and_then(|&region| m.entry(region)) else {
            continue;
        };
        let Some(end) = m.last_op(block).filter(|&end| m.traits(end).has(Traits::RETURN)) else { continue };
        let inputs: Vec<TypeId> = m.args(block).iter().map(|&arg| m.value_type(arg)).collect();
        let results: Vec<TypeId> = m.operands(end).map(|value| m.value_type(value)).collect();
        r.set_signature(function, &inputs, &results);
    }
}

impl Rewriter<'_> {
    /// Sets the type of a function.
    pub fn set_signature(&mut self, function: OpId, inputs: &[TypeId], results: &[TypeId]) {
        let ty = self.cx().function_type(inputs, results);
        let ty = self.cx().type_attr(ty);
        self.set_attr(function, names::FUNCTION_TYPE, ty);
    }
}

/// Inputs and results of a function; none if it has no type.
pub(crate) fn signature_of(m: &Module, function: OpId) -> (Vec<TypeId>, Vec<TypeId>) {
    let signature = m.signature(function);
    signature.map_or_else(Default::default, |(inputs, results)| (inputs.to_vec(), results.to_vec()))
}
