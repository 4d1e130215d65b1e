//! Lowering of branches between blocks.
//!
//! ```text
//! entry                      tfrt.while %running @step(%block, %state...)
//! @step(block, state)        tfrt.case %block [@bb1, @bb2, ...](state)
//! @bb1(state)                the block's ops; returns the next block, the next state, the loop condition
//! ```
//!
//! The state consists of the arguments of the blocks, of the values that a block uses and another one
//! defines, and of the function's results. So loops of any form, irreducible ones too, run in constant
//! memory.

use rustc_hash::FxHashMap;

use super::UpstreamLowering;
use crate::diag::Diagnostic;
use crate::dialects::tfrt_control::{Case, While};
use crate::dialects::{Traits, cf};
use crate::ir::{AttrId, AttrKind, BlockId, KnownType, LocId, OpId, TypeId, TypeKind, ValueId};
use crate::rewrite::InsertionPoint;
use crate::rewrite::signatures::signature_of;

/// Limit of the number of blocks times the number of values of the state in a function.
const MAX_STATE: usize = 1 << 20;

const I1: TypeId = KnownType::I1.id();
const I32: TypeId = KnownType::I32.id();

/// The state after a block: the number of the next block, the values, and the condition of the loop.
struct Next {
    block: ValueId,
    values: Vec<ValueId>,
    condition: ValueId,
}

/// The blocks of a function after the entry, and the values of the state.
struct BlockState {
    numbers: FxHashMap<BlockId, i64>,
    slots: Vec<ValueId>,
    slot_of: FxHashMap<ValueId, usize>,
    results: Vec<TypeId>,
}

impl UpstreamLowering<'_, '_, '_> {
    pub(super) fn lower_blocks(&mut self, function: OpId) {
        let region = self.m().regions_of(function)[0];
        let all = self.m().blocks_of(region).to_vec();
        let [entry, rest @ ..] = &all[..] else { return };
        if rest.is_empty() {
            return;
        }
        let (_, results) = signature_of(self.m(), function);
        let Some(blocks) = self.blocks(function, &all, results) else { return };
        let loc = self.m().loc(function);
        let types = self.types(&blocks.slots);
        let state = [&types[..], &blocks.results[..]].concat();

        // Uses of values of other blocks become uses of arguments.
        let mut made: Vec<(OpId, AttrId, BlockId, Vec<ValueId>)> = Vec::new();
        for &block in rest {
            let (callee, symbol) = self.new_function(function, "block");
            let to = self.r.add_region(callee);
            let body = self.r.add_block(to);
            let args: Vec<ValueId> = state.iter().map(|&ty| self.r.add_arg(body, ty)).collect();
            self.use_state(block, &blocks, &args);
            made.push((callee, symbol, body, args));
        }
        for (&block, (_, _, _, args)) in rest.iter().zip(&made) {
            for arg in self.m().args(block).to_vec() {
                self.r.replace(arg, args[blocks.slot_of[&arg]]);
            }
        }
        let first = self.translate(*entry, &blocks, None);
        for (&block, (callee, _, body, args)) in rest.iter().zip(&made) {
            let Next { block: number, values, condition } = self.translate(block, &blocks, Some(args));
            let of_block: Vec<ValueId> =
                self.m().args(block).iter().map(|arg| args[blocks.slot_of[arg]]).collect();
            self.r.merge_block(block, *body, &of_block);
            let returned = [&[number], &values[..], &[condition]].concat();
            self.r.finish_function(*callee, loc, &returned);
        }

        let symbols: Vec<AttrId> = made.iter().map(|&(_, symbol, _, _)| symbol).collect();
        let step = self.step_function(function, loc, &symbols, &state);
        let one = self.r.cx().int_attr(KnownType::I64.id(), 1);
        let carried = [&[first.block], &first.values[..]].concat();
        let operands = [&[first.condition], &carried[..]].concat();
        let types = self.types(&carried);
        let attrs = [("body_fn", step), ("parallel_iterations", one)];
        let at = InsertionPoint::End(*entry);
        let made = self.r.create_named(at, loc, While::NAME, &operands, &types, &attrs);
        let values: Vec<ValueId> = self.m().results(made).skip(1 + blocks.slots.len()).collect();
        self.r.create_named(at, loc, "func.return", &values, &[], &[]);
        self.n_loops += 1;
    }

    /// Numbers the blocks and collects the state. Reports terminators without a lowering, and too large a
    /// state.
    fn blocks(&mut self, function: OpId, all: &[BlockId], results: Vec<TypeId>) -> Option<BlockState> {
        let m = self.m();
        let numbers = all[1..].iter().zip(0..).map(|(&block, i)| (block, i)).collect();
        let mut slots: Vec<ValueId> = all[1..].iter().flat_map(|&block| m.args(block)).copied().collect();
        let mut slot_of: FxHashMap<ValueId, usize> = slots.iter().copied().zip(0..).collect();
        for &block in all {
            for value in m.ops_in(block).flat_map(|op| m.operands(op)) {
                if m.defining_block(value) != Some(block) && !slot_of.contains_key(&value) {
                    slot_of.insert(value, slots.len());
                    slots.push(value);
                }
            }
            let end = m.last_op(block);
            let is_known = |op: OpId| {
                matches!(m.op_name_str(op), "cf.br" | "cf.cond_br" | "cf.switch")
                    || m.traits(op).has(Traits::RETURN)
            };
            if let Some(end) = end.filter(|&end| !is_known(end)) {
                let text = format!("`{}` ends a block, and no kernel executes it", m.op_name_str(end));
                self.cx.report(Diagnostic::error("E0717", text).at(m.op_spans.at(end).copied()));
                return None;
            }
        }
        if all.len().saturating_mul(slots.len() + results.len()) > MAX_STATE {
            let (n, values) = (all.len(), slots.len());
            let text = format!(
                "{n} blocks that share {values} values are too many: blocks times values must be at most {MAX_STATE}"
            );
            self.cx.report(Diagnostic::error("E0718", text).at(m.op_spans.at(function).copied()));
            return None;
        }
        Some(BlockState { numbers, slots, slot_of, results })
    }

    /// Replaces the uses of other blocks' values in a block by the state that it gets.
    fn use_state(&mut self, block: BlockId, blocks: &BlockState, args: &[ValueId]) {
        for op in self.m().ops_in(block).collect::<Vec<_>>() {
            let operands: Vec<ValueId> = self.m().operands(op).collect();
            for (i, value) in operands.into_iter().enumerate() {
                if self.m().defining_block(value) != Some(block)
                    && let Some(&slot) = blocks.slot_of.get(&value)
                {
                    self.r.set_operand(op, i, args[slot]);
                }
            }
        }
    }

    /// Replaces the terminator of a block by the computation of the next state. `args` is the state that the
    /// block gets; the entry gets none.
    fn translate(&mut self, block: BlockId, blocks: &BlockState, args: Option<&Vec<ValueId>>) -> Next {
        let Some(end) = self.m().last_op(block) else { unreachable!("a verified block has a terminator") };
        let mut current = Vec::new();
        for (slot, &value) in blocks.slots.iter().enumerate() {
            current.push(match args {
                _ if self.m().defining_block(value) == Some(block)
                    && self.m().defining_op(value).is_some() =>
                {
                    value
                }
                Some(args) => args[slot],
                None if self.m().defining_block(value) == Some(block) => value,
                None => self.placeholder(end, self.m().value_type(value)),
            });
        }
        let n_slots = current.len();
        match args {
            Some(args) => current.extend(&args[n_slots..]),
            None => {
                for &ty in &blocks.results {
                    let value = self.placeholder(end, ty);
                    current.push(value);
                }
            }
        }
        let next = self.next_state(end, blocks, current, n_slots);
        self.r.erase(end);
        next
    }

    /// A value for a part of the state that is not defined yet.
    fn placeholder(&mut self, before: OpId, ty: TypeId) -> ValueId {
        let zero = match self.m().cx.ty(ty) {
            TypeKind::Integer { width: 1, .. } => Some(self.r.cx().bool_attr(false)),
            TypeKind::Integer { .. } | TypeKind::Index if super::is_scalar(self.m(), ty) => {
                Some(self.r.cx().int_attr(ty, 0))
            }
            TypeKind::Float(_) if super::is_scalar(self.m(), ty) => {
                Some(self.r.cx().attr_id(AttrKind::Float { ty, bits: 0 }))
            }
            _ => None,
        };
        match zero {
            Some(zero) => self.constant(before, zero, ty),
            None => self.value(before, "flow.unused", &[], ty, &[]),
        }
    }

    fn number(&mut self, before: OpId, n: i64) -> ValueId {
        let attr = self.r.cx().int_attr(I32, n);
        self.constant(before, attr, I32)
    }

    fn bool(&mut self, before: OpId, value: bool) -> ValueId {
        let attr = self.r.cx().bool_attr(value);
        self.constant(before, attr, I1)
    }

    fn next_state(&mut self, end: OpId, blocks: &BlockState, current: Vec<ValueId>, n_slots: usize) -> Next {
        if self.m().traits(end).has(Traits::RETURN) {
            let returned: Vec<ValueId> = self.m().operands(end).collect();
            let values = [&current[..n_slots], &returned[..]].concat();
            return Next { block: self.number(end, 0), values, condition: self.bool(end, false) };
        }
        let condition = self.bool(end, true);
        let mut conditions = Vec::new();
        if let Some(branch) = cf::CondBr::of(self.m(), end) {
            conditions.push((branch.condition(self.m()), 0));
        } else if let Some(switch) = cf::Switch::of(self.m(), end) {
            let flag = switch.flag(self.m());
            let ty = self.m().value_type(flag);
            for (i, value) in self.case_values(switch).into_iter().enumerate() {
                let value = self.r.cx().int_attr(ty, value);
                let value = self.constant(end, value, ty);
                let equal = self.r.cx().int_attr(KnownType::I64.id(), 0);
                let is_case = self.value(end, "arith.cmpi", &[flag, value], I1, &[("predicate", equal)]);
                conditions.push((is_case, i + 1));
            }
        }
        // The last of two targets, or the default, unless a condition holds. The first case comes last.
        let other = if self.m().op_name_str(end) == "cf.cond_br" { 1 } else { 0 };
        let (mut block, mut values) = self.target(end, blocks, &current, other);
        for (condition, successor) in conditions.into_iter().rev() {
            let (its_block, its_values) = self.target(end, blocks, &current, successor);
            block = self.select(end, condition, its_block, block);
            values = its_values.iter().zip(values).map(|(&a, b)| self.select(end, condition, a, b)).collect();
        }
        Next { block, values, condition }
    }

    fn select(&mut self, before: OpId, condition: ValueId, a: ValueId, b: ValueId) -> ValueId {
        if a == b {
            return a;
        }
        let ty = self.m().value_type(a);
        self.value(before, "arith.select", &[condition, a, b], ty, &[])
    }

    /// The number of a successor, and the state that it gets.
    fn target(
        &mut self,
        end: OpId,
        blocks: &BlockState,
        current: &[ValueId],
        successor: usize,
    ) -> (ValueId, Vec<ValueId>) {
        let m = self.m();
        let to = m.successors(end)[successor];
        let range = m.successor_operands(end, successor).unwrap_or_default();
        let mut values = current.to_vec();
        for (arg, operand) in m.args(to).iter().zip(range) {
            values[blocks.slot_of[arg]] = m.operand(end, operand);
        }
        (self.number(end, blocks.numbers[&to]), values)
    }

    fn case_values(&self, switch: cf::Switch) -> Vec<i64> {
        let m = self.m();
        let Some(AttrKind::Dense { ty, splat, data }) = switch.case_values(m).map(|a| m.cx.attr(a)) else {
            return Vec::new();
        };
        let Some((Some(shape), elem)) = m.cx.ty(*ty).shaped() else { return Vec::new() };
        let n = shape.iter().product::<i64>().try_into().unwrap_or(0usize);
        let TypeKind::Integer { width, .. } = *m.cx.ty(elem) else { return Vec::new() };
        let size = width.div_ceil(8) as usize;
        let bytes: &[u8] = data;
        let number = |bytes: &[u8]| {
            let mut word = [0; 8];
            word[..size.min(8)].copy_from_slice(&bytes[..size.min(8)]);
            let spare = 64 - width.clamp(1, 64);
            (i64::from_le_bytes(word) << spare) >> spare
        };
        let mut values: Vec<i64> = bytes.chunks_exact(size.max(1)).map(number).collect();
        if *splat {
            values = values.first().map_or_else(Vec::new, |&value| vec![value; n]);
        }
        values
    }

    /// The function that runs one block, by its number.
    fn step_function(&mut self, function: OpId, loc: LocId, symbols: &[AttrId], state: &[TypeId]) -> AttrId {
        let (step, symbol) = self.new_function(function, "step");
        let region = self.r.add_region(step);
        let block = self.r.add_block(region);
        let number = self.r.add_arg(block, I32);
        let args: Vec<ValueId> = state.iter().map(|&ty| self.r.add_arg(block, ty)).collect();
        let branches = self.r.cx().array_attr(symbols);
        let operands = [&[number], &args[..]].concat();
        let results = [&[I32], state, &[I1]].concat();
        let at = InsertionPoint::End(block);
        let made = self.r.create_named(at, loc, Case::NAME, &operands, &results, &[("branches", branches)]);
        let values: Vec<ValueId> = self.m().results(made).collect();
        self.r.finish_function(step, loc, &values);
        symbol
    }
}
