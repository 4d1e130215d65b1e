//! Lowering of `scf`: branches with regions, loops with functions.
//!
//! Values from outside become arguments. Constants are copied instead.

use super::{CHAIN, UpstreamLowering};
use crate::dialects::tfrt::Call;
use crate::dialects::tfrt_control::While;
use crate::graph::outline_regions::captured_values;
use crate::ir::{AttrId, BlockId, KnownType, OpId, RegionId, TypeId, ValueId};
use crate::rewrite::{InsertionPoint, IrMapping};

/// Limit of the ops in the condition of a loop that are copied into the loop's body. More become a function.
const MAX_COPIED: usize = 64;

impl UpstreamLowering<'_, '_, '_> {
    pub(super) fn lower_regions(&mut self, function: OpId) {
        let mut found: Vec<OpId> = self.m().walk(function).collect();
        // Inner ops follow the ops that contain them in the walk.
        found.reverse();
        for op in found {
            match self.m().op_name_str(op) {
                "scf.if" => self.lower_if(op),
                "scf.for" => self.lower_for(op),
                "scf.while" => self.lower_while(op),
                _ => {}
            }
        }
    }

    fn is_constant(&self, value: ValueId) -> bool {
        let m = self.m();
        m.defining_op(value)
            .is_some_and(|op| matches!(m.op_name_str(op), "arith.constant" | "index.constant"))
    }

    /// Replaces the uses of a value inside a block.
    pub(super) fn replace_inside(&mut self, block: BlockId, old: ValueId, new: ValueId) {
        let ops: Vec<OpId> = self.m().ops_in(block).flat_map(|op| self.m().walk(op)).collect();
        for op in ops {
            let operands: Vec<ValueId> = self.m().operands(op).collect();
            for (i, _) in operands.iter().enumerate().filter(|(_, value)| **value == old) {
                self.r.set_operand(op, i, new);
            }
        }
    }

    /// A copy of a constant at the start of a block.
    fn copy_constant(&mut self, block: BlockId, value: ValueId) -> ValueId {
        let m = self.m();
        let Some(op) = m.defining_op(value) else { return value };
        let (loc, name, ty) = (m.loc(op), m.op_name_str(op).to_owned(), m.value_type(value));
        let attr = m.attr_named(op, "value").map(|attr| ("value", attr));
        let attrs: Vec<_> = attr.into_iter().collect();
        let copy = self.r.create_named(InsertionPoint::Start(block), loc, &name, &[], &[ty], &attrs);
        self.m().result(copy, 0)
    }

    /// Makes a block independent of values from outside. Returns its new arguments, one for each of the
    /// `captured` values that are no constants.
    fn isolate(&mut self, block: BlockId, captured: &[ValueId]) -> Vec<ValueId> {
        let mut args = Vec::new();
        for &value in captured {
            if self.is_constant(value) {
                let copy = self.copy_constant(block, value);
                self.replace_inside(block, value, copy);
            } else {
                let ty = self.m().value_type(value);
                let arg = self.r.add_arg(block, ty);
                self.replace_inside(block, value, arg);
                args.push(arg);
            }
        }
        args
    }

    /// The captured values of an op that become arguments, and all captured values.
    fn captured(&self, op: OpId) -> (Vec<ValueId>, Vec<ValueId>) {
        let all = captured_values(self.m(), op);
        let passed = all.iter().copied().filter(|&value| !self.is_constant(value)).collect();
        (passed, all)
    }

    fn only_block(&self, region: RegionId) -> Option<BlockId> {
        self.m().entry(region)
    }

    /// Removes the terminator of a block and returns its operands.
    pub(super) fn take_end(&mut self, block: BlockId) -> Vec<ValueId> {
        let end = self.m().last_op(block).filter(|&op| self.m().op_name_str(op).starts_with("scf."));
        let Some(end) = end else { return Vec::new() };
        let values = self.m().operands(end).collect();
        self.r.erase(end);
        values
    }

    fn lower_if(&mut self, op: OpId) {
        let (passed, captured) = self.captured(op);
        let loc = self.m().loc(op);
        let condition = self.m().operand(op, 0);
        let results: Vec<ValueId> = self.m().results(op).collect();
        let types = self.types(&results);
        let operands = [&[condition], &passed[..]].concat();
        let made = self.r.create_before(op, "tfrt.if", &operands, &types, &[]);
        for region in self.m().regions_of(op).to_vec() {
            let to = self.r.add_region(made);
            let block = match self.only_block(region) {
                Some(block) => block,
                None => self.r.add_block(region),
            };
            self.isolate(block, &captured);
            let values = self.take_end(block);
            self.r.create_named(InsertionPoint::End(block), loc, "tfrt.return", &values, &[], &[]);
            self.r.move_blocks(region, to);
        }
        let values: Vec<ValueId> = self.m().results(made).collect();
        self.r.replace_op(op, &values);
    }

    /// Creates `tfrt.while` in place of a loop, whose results are the loop-carried values from number `first`
    /// on.
    fn make_while(&mut self, op: OpId, condition: ValueId, body: AttrId, carried: &[ValueId], first: usize) {
        self.n_loops += 1;
        let types = self.types(carried);
        let one = self.r.cx().int_attr(KnownType::I64.id(), 1);
        let operands = [&[condition], carried].concat();
        let attrs = [("body_fn", body), ("parallel_iterations", one)];
        let made = self.r.create_before(op, While::NAME, &operands, &types, &attrs);
        let n = self.m().n_results(op);
        let values: Vec<ValueId> = self.m().results(made).skip(first).take(n).collect();
        self.r.replace_op(op, &values);
    }

    /// `condition`, which also waits for the chains among `carried`, so that a failed effect ends a loop.
    fn after_chains(
        &mut self,
        before: InsertionPoint,
        op: OpId,
        condition: ValueId,
        carried: &[ValueId],
    ) -> ValueId {
        let loc = self.m().loc(op);
        let mut condition = condition;
        for &chain in carried.iter().filter(|&&value| self.m().value_type(value) == CHAIN).collect::<Vec<_>>()
        {
            let i1: &[TypeId] = &[KnownType::I1.id()];
            let made = self.r.create_named(before, loc, "flow.after", &[chain, condition], i1, &[]);
            condition = self.m().result(made, 0);
        }
        condition
    }

    fn lower_for(&mut self, op: OpId) {
        let region = self.m().regions_of(op)[0];
        let Some(block) = self.only_block(region) else { return };
        let (passed, captured) = self.captured(op);
        let loc = self.m().loc(op);
        let operands: Vec<ValueId> = self.m().operands(op).collect();
        let (lower, upper, step, inits) = (operands[0], operands[1], operands[2], &operands[3..]);
        let index = self.m().value_type(lower);
        let i1 = KnownType::I1.id();
        let enters = self.value(op, "flow.enters", &[lower, upper, step], i1, &[]);

        let parent = self.enclosing(op);
        let (function, symbol) = self.new_function(parent, "for");
        let to = self.r.add_region(function);
        self.isolate(block, &captured);
        // The bounds are constants of the body, or loop-carried.
        let mut bounds = Vec::new();
        let bound = |this: &mut Self, value: ValueId, bounds: &mut Vec<ValueId>| {
            if this.is_constant(value) {
                return this.copy_constant(block, value);
            }
            bounds.push(value);
            this.r.add_arg(block, index)
        };
        let upper = bound(self, upper, &mut bounds);
        let step = bound(self, step, &mut bounds);
        let yielded = self.take_end(block);
        self.r.move_blocks(region, to);
        let args = self.m().args(block).to_vec();
        let next = self.r.create_named(
            InsertionPoint::End(block),
            loc,
            "flow.next",
            &[args[0], upper, step],
            &[index, i1],
            &[],
        );
        let (next, goes_on) = (self.m().result(next, 0), self.m().result(next, 1));
        let goes_on = self.after_chains(InsertionPoint::End(block), op, goes_on, &yielded);
        let unchanged = &args[1 + inits.len()..];
        let returned = [&[next], &yielded[..], unchanged, &[goes_on]].concat();
        self.r.finish_function(function, loc, &returned);
        let carried = [&[lower], inits, &passed[..], &bounds[..]].concat();
        self.make_while(op, enters, symbol, &carried, 1);
    }

    /// Loops test their condition before the body; `tfrt.while` tests it after the body. So the condition is
    /// evaluated once before the loop and at the end of each iteration.
    fn lower_while(&mut self, op: OpId) {
        let (before, after) = (self.m().regions_of(op)[0], self.m().regions_of(op)[1]);
        let (Some(test), Some(body)) = (self.only_block(before), self.only_block(after)) else { return };
        let n_ops: usize = self.m().ops_in(test).map(|op| self.m().walk(op).count()).sum();
        if n_ops > MAX_COPIED {
            self.outline_test(op, before, test);
        }
        let Some(test) = self.only_block(before) else { return };
        let inits: Vec<ValueId> = self.m().operands(op).collect();
        let loc = self.m().loc(op);
        let mut copies = IrMapping::default();
        copies.values.extend(self.m().args(test).iter().copied().zip(inits));
        let Some(end) = self.m().last_op(test) else { return };
        let tested: Vec<ValueId> = self.m().operands(end).collect();
        self.r.copy_body(test, op, &mut copies, &mut |_, loc| loc);
        let first: Vec<ValueId> =
            tested.iter().map(|value| copies.values.get(value).copied().unwrap_or(*value)).collect();

        let yielded = self.take_end(body);
        // The condition follows the body in one block.
        let end = self.r.create_named(InsertionPoint::End(body), loc, "scf.yield", &yielded, &[], &[]);
        self.r.inline_block(test, end, &yielded);
        self.r.erase(end);
        let (passed, captured) = self.captured(op);
        let tested = self.take_end(body);
        self.r.create_named(InsertionPoint::End(body), loc, "scf.yield", &tested, &[], &[]);
        let parent = self.enclosing(op);
        let (function, symbol) = self.new_function(parent, "while");
        let to = self.r.add_region(function);
        let unchanged = self.isolate(body, &captured);
        let tested = self.take_end(body);
        self.r.move_blocks(after, to);
        let (condition, values) = (tested[0], &tested[1..]);
        let condition = self.after_chains(InsertionPoint::End(body), op, condition, values);
        let returned = [values, &unchanged[..], &[condition]].concat();
        self.r.finish_function(function, loc, &returned);

        let carried = [&first[1..], &passed[..]].concat();
        self.make_while(op, first[0], symbol, &carried, 0);
    }

    /// Makes a function of the condition of a loop, so that copying it is cheap.
    fn outline_test(&mut self, op: OpId, before: RegionId, test: BlockId) {
        // The regions of the loop's body capture values of their own; those cost an argument.
        let (passed, captured) = self.captured(op);
        let loc = self.m().loc(op);
        let args = self.m().args(test).to_vec();
        let types = self.types(&args);
        let parent = self.enclosing(op);
        let (function, symbol) = self.new_function(parent, "before");
        let to = self.r.add_region(function);
        self.isolate(test, &captured);
        let tested = self.take_end(test);
        let results = self.types(&tested);
        self.r.move_blocks(before, to);
        self.r.finish_function(function, loc, &tested);
        let block = self.r.add_block(before);
        let args: Vec<ValueId> = types.iter().map(|&ty| self.r.add_arg(block, ty)).collect();
        let operands = [&args[..], &passed[..]].concat();
        let at = InsertionPoint::End(block);
        let call = self.r.create_named(at, loc, Call::NAME, &operands, &results, &[("callee", symbol)]);
        let values: Vec<ValueId> = self.m().results(call).collect();
        self.r.create_named(at, loc, "scf.condition", &values, &[], &[]);
    }
}
