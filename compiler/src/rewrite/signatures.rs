//! Functions that passes make, and the types of functions, updated to those of arguments and results.

use super::{InsertionPoint, Rewriter};
use crate::dialects::Traits;
use crate::ir::{BlockId, LocId, Module, NewOp, OpId, TypeId, ValueId, names};

/// Sets the type of each single-block function to that of its body.
pub(crate) fn refresh(r: &mut Rewriter<'_>) {
    let m = r.ir();
    let functions: Vec<OpId> = m
        .walk(r.root())
        .filter(|&op| m.def(op).is_some_and(|def| def.traits.has(Traits::FUNCTION)))
        .collect();
    functions.into_iter().for_each(|function| r.refresh_signature(function));
}

impl Rewriter<'_> {
    /// Creates a private function without a body and without a type.
    pub fn private_function(&mut self, at: InsertionPoint, loc: LocId, name: &str) -> OpId {
        let (sym_name, private) = (self.cx().str_attr(name), self.cx().str_attr("private"));
        let attrs = [(names::SYM_NAME, sym_name), (names::SYM_VISIBILITY, private)];
        let func = self.cx().op_name(names::FUNC_FUNC);
        self.create(at, NewOp { loc, attrs: &attrs, ..NewOp::new(func) })
    }

    /// Creates a private function with a block without ops, whose arguments have these types.
    pub fn private_function_of(
        &mut self,
        at: InsertionPoint,
        loc: LocId,
        name: &str,
        inputs: &[TypeId],
    ) -> (OpId, BlockId) {
        let function = self.private_function(at, loc, name);
        let region = self.add_region(function);
        let block = self.add_block(region);
        for &ty in inputs {
            self.add_arg(block, ty);
        }
        (function, block)
    }

    /// Ends the only block of a function with a return, and sets the function's type.
    pub fn finish_function(&mut self, function: OpId, loc: LocId, results: &[ValueId]) {
        let m = self.ir();
        let Some(block) = m.regions_of(function).first().and_then(|&region| m.entry(region)) else { return };
        let types =
            |m: &Module, values: &[ValueId]| values.iter().map(|&value| m.value_type(value)).collect();
        let (inputs, outputs): (Vec<TypeId>, Vec<TypeId>) = (types(m, m.args(block)), types(m, results));
        self.create_named(InsertionPoint::End(block), loc, "func.return", results, &[], &[]);
        self.set_signature(function, &inputs, &outputs);
    }

    /// Sets the type of a single-block function that returns to that of its body.
    pub fn refresh_signature(&mut self, function: OpId) {
        let m = self.ir();
        let Some(block) = m.regions_of(function).first().and_then(|&region| m.entry(region)) else { return };
        let Some(end) = m.last_op(block).filter(|&end| m.traits(end).has(Traits::RETURN)) else { return };
        let inputs: Vec<TypeId> = m.args(block).iter().map(|&arg| m.value_type(arg)).collect();
        let results: Vec<TypeId> = m.operands(end).map(|value| m.value_type(value)).collect();
        self.set_signature(function, &inputs, &results);
    }

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
