//! Rewrites to ops that the other lowerings know: `scf.if`, `func.call` and branches between blocks.
//!
//! ```text
//! scf.execute_region        its ops, in place; with several blocks a function of its own, and a call
//! scf.index_switch          the number of the case by arith.select, then a balanced tree of scf.if
//! func.call_indirect        func.call, if the callee is a func.constant
//! arith.constant : tensor   tf.Const
//! ```

use befrost_tensor::tf::op::Op;
use std::ops::Range;

use super::UpstreamLowering;
use crate::dialects::{Traits, scf, tf};
use crate::graph::outline_regions::captured_values;
use crate::ir::{AttrId, KnownType, Module, OpId, RegionId, TypeId, TypeKind, ValueId};
use crate::rewrite::InsertionPoint;

const I1: TypeId = KnownType::I1.id();
const I32: TypeId = KnownType::I32.id();
const INDEX: TypeId = KnownType::Index.id();

/// The constant that names the callee of a `func.call_indirect`.
pub(super) fn direct_callee(m: &Module, call: OpId) -> Option<AttrId> {
    let constant = m.defining_op(m.operands(call).next()?)?;
    m.attr_named(constant, "value").filter(|_| m.op_name_str(constant) == "func.constant")
}

/// True for a constant of a tensor of numbers, which `tf.Const` holds.
pub(super) fn is_tensor_constant(m: &Module, op: OpId) -> bool {
    m.op_name_str(op) == "arith.constant"
        && m.results(op).all(|value| {
            let ty = m.value_type(value);
            matches!(m.cx.ty(ty), TypeKind::Tensor { .. })
                && tf::type_of(&m.cx, ty).is_some_and(|(ty, _)| ty.dtype().is_some())
        })
}

impl UpstreamLowering<'_, '_, '_> {
    pub(super) fn prepare(&mut self) {
        let mut found: Vec<OpId> = self.m().walk_functions().collect();
        // Inner ops follow the ops that contain them in the walk.
        found.reverse();
        let mut constants = Vec::new();
        for op in found {
            match self.m().op_name_str(op) {
                "scf.execute_region" => self.execute_region(op),
                "scf.index_switch" => self.index_switch(op),
                "func.call_indirect" => self.call_indirect(op),
                "func.constant" => constants.push(op),
                "arith.constant" if is_tensor_constant(self.m(), op) => self.tensor_constant(op),
                _ => {}
            }
        }
        // Their uses were callees of direct calls.
        constants.into_iter().for_each(|constant| self.r.erase(constant));
    }

    fn tensor_constant(&mut self, op: OpId) {
        let Some(value) = self.m().attr_named(op, "value") else { return };
        let ty = self.m().value_type(self.m().result(op, 0));
        let constant = self.value(op, Op::Const.op_name(), &[], ty, &[("value", value)]);
        self.r.replace_op(op, &[constant]);
    }

    fn call_indirect(&mut self, op: OpId) {
        let Some(callee) = direct_callee(self.m(), op) else { return };
        let operands: Vec<ValueId> = self.m().operands(op).skip(1).collect();
        let results: Vec<ValueId> = self.m().results(op).collect();
        let types = self.types(&results);
        let call = self.r.create_before(op, "func.call", &operands, &types, &[("callee", callee)]);
        let values: Vec<ValueId> = self.m().results(call).collect();
        self.r.replace_op(op, &values);
    }

    fn execute_region(&mut self, op: OpId) {
        let region = self.m().regions_of(op)[0];
        match self.m().blocks_of(region) {
            [_] => self.inline_region(op, region),
            _ => self.outline_region(op, region),
        }
    }

    /// Replaces an op by the only block of one of its regions.
    fn inline_region(&mut self, op: OpId, region: RegionId) {
        let Some(block) = self.m().entry(region) else { return };
        let values = self.take_end(block);
        self.r.inline_block(block, op, &[]);
        self.r.replace_op(op, &values);
    }

    /// Makes a function of a region with several blocks.
    fn outline_region(&mut self, op: OpId, region: RegionId) {
        let Some(entry) = self.m().entry(region) else { return };
        let captured = captured_values(self.m(), op);
        let (function, symbol) = self.new_function(self.enclosing(op), "region");
        let to = self.r.add_region(function);
        let inputs = self.types(&captured);
        let args: Vec<ValueId> = inputs.iter().map(|&ty| self.r.add_arg(entry, ty)).collect();
        let blocks = self.m().blocks_of(region).to_vec();
        for &block in &blocks {
            for (&old, &new) in captured.iter().zip(&args) {
                self.replace_inside(block, old, new);
            }
        }
        for &block in &blocks {
            let end = self.m().last_op(block).filter(|&end| self.m().traits(end).has(Traits::YIELD));
            let Some(end) = end else { continue };
            let values: Vec<ValueId> = self.m().operands(end).collect();
            self.r.create_before(end, "func.return", &values, &[], &[]);
            self.r.erase(end);
        }
        self.r.move_blocks(region, to);
        let results: Vec<ValueId> = self.m().results(op).collect();
        let types = self.types(&results);
        self.r.set_signature(function, &inputs, &types);
        let call = self.r.create_before(op, "func.call", &captured, &types, &[("callee", symbol)]);
        let values: Vec<ValueId> = self.m().results(call).collect();
        self.r.replace_op(op, &values);
    }

    fn index_switch(&mut self, op: OpId) {
        let Some(switch) = scf::IndexSwitch::of(self.m(), op) else { return };
        let regions = self.m().regions_of(op).to_vec();
        let cases = scf::case_values(self.m(), switch);
        if cases.is_empty() {
            return self.inline_region(op, regions[0]);
        }
        // The number of the region, the default's is 0.
        let arg = switch.arg(self.m());
        let mut number = self.i32_constant(InsertionPoint::Before(op), op, 0);
        for (case, i) in cases.into_iter().zip(1..) {
            let case = self.r.cx().int_attr(INDEX, case);
            let case = self.constant(op, case, INDEX);
            let is_case = self.compare(InsertionPoint::Before(op), op, 0, [arg, case]);
            let i = self.i32_constant(InsertionPoint::Before(op), op, i);
            number = self.value(op, "arith.select", &[is_case, i, number], I32, &[]);
        }
        let results: Vec<ValueId> = self.m().results(op).collect();
        let types = self.types(&results);
        let made = self.tree(op, InsertionPoint::Before(op), number, &regions, 0..regions.len(), &types);
        let values: Vec<ValueId> = self.m().results(made).collect();
        self.r.replace_op(op, &values);
    }

    /// Creates the `scf.if` that selects one of at least two regions, whose blocks move into it.
    fn tree(
        &mut self,
        op: OpId,
        at: InsertionPoint,
        number: ValueId,
        regions: &[RegionId],
        range: Range<usize>,
        types: &[TypeId],
    ) -> OpId {
        let loc = self.m().loc(op);
        let middle = range.start + range.len() / 2;
        let bound = self.i32_constant(at, op, middle as i64);
        let is_less = self.compare(at, op, 2, [number, bound]);
        let made = self.r.create_named(at, loc, "scf.if", &[is_less], types, &[]);
        for half in [range.start..middle, middle..range.end] {
            let to = self.r.add_region(made);
            if half.len() == 1 {
                self.r.move_blocks(regions[half.start], to);
                continue;
            }
            let block = self.r.add_block(to);
            let inner = self.tree(op, InsertionPoint::End(block), number, regions, half, types);
            let values: Vec<ValueId> = self.m().results(inner).collect();
            self.r.create_named(InsertionPoint::End(block), loc, "scf.yield", &values, &[], &[]);
        }
        made
    }

    /// A constant with the location of `op`.
    fn i32_constant(&mut self, at: InsertionPoint, op: OpId, value: i64) -> ValueId {
        let (loc, value) = (self.m().loc(op), self.r.cx().int_attr(I32, value));
        let made = self.r.create_named(at, loc, "arith.constant", &[], &[I32], &[("value", value)]);
        self.m().result(made, 0)
    }

    /// `arith.cmpi` with this number of a predicate and the location of `op`.
    fn compare(&mut self, at: InsertionPoint, op: OpId, predicate: i64, operands: [ValueId; 2]) -> ValueId {
        let (loc, predicate) = (self.m().loc(op), self.r.cx().int_attr(KnownType::I64.id(), predicate));
        let attrs = [("predicate", predicate)];
        let made = self.r.create_named(at, loc, "arith.cmpi", &operands, &[I1], &attrs);
        self.m().result(made, 0)
    }
}
