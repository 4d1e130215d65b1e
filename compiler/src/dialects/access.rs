//! Mapping between the actual operands, results and successors of an op and the declared ones.
//!
//! An op whose definition has at most one optional or variadic operand is mapped by counting. An op with
//! several (trait `OPERAND_SEGMENTS`) has the counts in `operandSegmentSizes`, as upstream. All functions
//! here accept unverified ops: a count that does not fit results in an empty range, never in a panic.

use super::def::{Arity, OpDef};
use super::format::PartRef;
use super::types::Types;
use crate::ir::Traits;
use crate::ir::{AttrKind, Module, OpId, StrId, names};
use std::ops::Range;

impl Module {
    /// The elements of an attribute `array<i32: ...>`.
    pub fn i32_array(&self, op: OpId, name: StrId) -> Option<Vec<i32>> {
        match self.attr(op, name).map(|a| self.cx.attr(a)) {
            Some(AttrKind::DenseArray { elem, data }) if *elem == crate::ir::KnownType::I32.id() => {
                let elems = data.chunks_exact(4);
                Some(elems.map(|b| i32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
            }
            _ => None,
        }
    }

    /// Positions of the operands that stand for declared operand `index`.
    pub fn operand_range(&self, op: OpId, index: usize) -> Range<usize> {
        let n = self.n_operands(op);
        let Some(def) = self.def(op) else { return 0..0 };
        if def.traits.has(Traits::OPERAND_SEGMENTS) {
            let sizes = self.i32_array(op, names::OPERAND_SEGMENT_SIZES).unwrap_or_default();
            return segment(&sizes, index, n);
        }
        counted(def.variadic_operand(), def.operands.len(), index, n)
    }

    /// Positions of the results that stand for declared result `index`.
    pub fn result_range(&self, op: OpId, index: usize) -> Range<usize> {
        let Some(def) = self.def(op) else { return 0..0 };
        counted(def.variadic_result(), def.results.len(), index, self.n_results(op))
    }

    /// The types of declared operands or results.
    pub fn types_of(&self, op: OpId, of: PartRef) -> Types {
        let operands = |range: Range<usize>| range.map(|i| self.value_type(self.operand(op, i))).collect();
        let results = |range: Range<usize>| range.map(|i| self.value_type(self.result(op, i))).collect();
        match of {
            PartRef::Operands => operands(0..self.n_operands(op)),
            PartRef::Results => results(0..self.n_results(op)),
            PartRef::Operand(i) => operands(self.operand_range(op, i)),
            PartRef::Result(i) => results(self.result_range(op, i)),
        }
    }

    /// Positions of the successors that stand for declared successor `index`.
    pub fn successor_range(&self, op: OpId, index: usize) -> Range<usize> {
        let Some(def) = self.def(op) else { return 0..0 };
        counted(def.variadic_successor(), def.successors.len(), index, self.successors(op).len())
    }

    /// Positions of the operands that become the arguments of successor number `i`. `None` if the op is no
    /// registered branch or does not declare them.
    pub fn successor_operands(&self, op: OpId, i: usize) -> Option<Range<usize>> {
        let def = self.def(op)?;
        let (index, successor) = def
            .successors
            .iter()
            .enumerate()
            .find(|(index, _)| self.successor_range(op, *index).contains(&i))?;
        let all = self.operand_range(op, successor.operands?);
        let Some(counts) = successor.counts else { return Some(all) };
        let counts = self.cx.find_str(counts).and_then(|name| self.i32_array(op, name))?;
        let within = segment(&counts, i - self.successor_range(op, index).start, all.len());
        Some(all.start + within.start..all.start + within.end)
    }
}

/// Segment `index` of `n` values that `sizes` divides; empty if the sizes do not fit.
fn segment(sizes: &[i32], index: usize, n: usize) -> Range<usize> {
    let mut start = 0usize;
    for (i, size) in sizes.iter().enumerate() {
        let Ok(size) = usize::try_from(*size) else { break };
        if size > n - start {
            break;
        }
        if i == index {
            return start..start + size;
        }
        start += size;
    }
    0..0
}

/// Positions of the values of declaration `index` out of `declared`. Declaration number `variadic` takes the
/// rest of the `n` values.
fn counted(variadic: Option<usize>, declared: usize, index: usize, n: usize) -> Range<usize> {
    let Some(v) = variadic else { return if index < n.min(declared) { index..index + 1 } else { 0..0 } };
    let Some(many) = n.checked_sub(declared - 1) else { return 0..0 };
    match index.cmp(&v) {
        std::cmp::Ordering::Less => index..index + 1,
        std::cmp::Ordering::Equal => v..v + many,
        std::cmp::Ordering::Greater if index < declared => index + many - 1..index + many,
        std::cmp::Ordering::Greater => 0..0,
    }
}

impl OpDef {
    /// Position of the variadic successor.
    pub fn variadic_successor(&self) -> Option<usize> {
        self.successors.iter().position(|s| s.arity != Arity::One)
    }
}
