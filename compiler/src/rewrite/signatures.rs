//! Update of function types to the types of their arguments and results.

use super::Rewriter;
use crate::dialects::Traits;
use crate::ir::{OpId, TypeId, names};

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
        let ty = r.cx().function_type(&inputs, &results);
        let ty = r.cx().type_attr(ty);
        r.set_attr(function, names::FUNCTION_TYPE, ty);
    }
}
