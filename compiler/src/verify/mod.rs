//! The verifier of modules. [`verify`] returns a token that the next stages require, [`faults`] a list of
//! errors.
//!
//! Checked, all errors reported, in the order of the text:
//!
//! * op table: counts and types of operands and results, required attributes and their kinds, regions,
//!   successors; one implicit trailing chain is accepted where [`OpDef::accepts_implicit_chain`] allows it;
//! * blocks: a terminator at the end and nowhere else (not in modules), successors in the same region;
//! * SSA: a value is visible where it is used (`isolated from above` is respected) and its definition
//!   dominates the use; inside unregistered ops, and directly in modules, only visibility is checked;
//! * modules: one block without arguments;
//! * symbols: a known visibility, unique in their table, references resolve, calls agree with the
//!   signatures of functions;
//! * functions: entry block arguments and returns agree with `function_type`;
//! * the checks of a definition's own verifier.
//!
//! Not checked here: further restrictions of emission to BEF (blocks per function, kinds of attributes).

mod errors;
mod table;
mod verified;

pub(crate) use errors::CAPTURE;
pub use verified::{Verified, verify};

use crate::diag::{self, Diagnostic, MAX_ERRORS, shortened};
use crate::dialects::tfrt_verify::{all_types, are_passed, callee_role};
use crate::dialects::{Arity, OpDef, Traits};
use crate::ir::dominance::{self, Dominance};
use crate::ir::symbols::SymbolTables;
use crate::ir::{AttrId, AttrKind, KnownType, Module, OpId, RegionId, StrId, TypeId, ValueDef, names};
use crate::print::{attr_text, type_text};
use rustc_hash::FxHashMap;

/// All errors in a module, in source order.
pub fn faults(module: &Module) -> Vec<Diagnostic> {
    let mut v = ModuleVerifier {
        m: module,
        diags: Vec::new(),
        symbols: SymbolTables::default(),
        dominance: Dominance::default(),
    };
    for op in module.walk(module.top()) {
        v.op(op);
        if v.diags.len() >= MAX_ERRORS {
            break;
        }
    }
    diag::sort(&mut v.diags);
    v.diags
}

struct ModuleVerifier<'m> {
    m: &'m Module,
    diags: Vec<Diagnostic>,
    symbols: SymbolTables,
    dominance: Dominance,
}

impl ModuleVerifier<'_> {
    fn op(&mut self, op: OpId) {
        let def = self.m.def(op);
        self.operands(op);
        self.successors(op, def);
        for &region in self.m.regions_of(op) {
            self.region(op, region, def);
        }
        let Some(def) = def else { return };
        self.table(op, def);
        if def.traits.has(Traits::SYMBOL_TABLE) {
            self.symbol_table(op);
        }
        if def.traits.has(Traits::SYMBOL) {
            self.visibility(op);
        }
        if def.traits.has(Traits::FUNCTION) {
            self.function(op);
        }
        if def.traits.has(Traits::RETURN) {
            self.returns(op);
        }
        if let Some(verifier) = def.verifier {
            verifier(self.m, op, &mut self.diags);
        }
    }

    // ---- blocks ----

    fn successors(&mut self, op: OpId, def: Option<&OpDef>) {
        let m = self.m;
        if m.successors(op).is_empty() && def.is_none_or(|d| d.successors.is_empty()) {
            return;
        }
        if let Some(def) = def
            && let found = m.successors(op).len()
            && let fixed = def.successors.iter().filter(|s| s.arity == Arity::One).count()
            && (found < fixed || found > fixed && def.variadic_successor().is_none())
        {
            let want = table::amount(fixed, def.variadic_successor().is_some(), "successor");
            self.diags.push(errors::successor_count(m, op, &want));
        }
        if m.successors(op).is_empty() {
            return;
        }
        if m.next_op(op).is_some() && def.is_none() {
            self.diags.push(errors::unregistered_placement(m, op));
        }
        let region = m.parent_region(op);
        if m.successors(op).iter().any(|b| m.block_parent(*b) != region) {
            self.diags.push(errors::foreign_successor(m, op));
        }
    }

    fn region(&mut self, op: OpId, region: RegionId, def: Option<&OpDef>) {
        let m = self.m;
        let blocks = m.blocks_of(region);
        if let Some(def) = def {
            let declared =
                m.regions_of(op).iter().position(|r| *r == region).and_then(|i| def.regions.get(i));
            if def.traits.has(Traits::SINGLE_BLOCK) && blocks.len() != 1 {
                self.diags.push(errors::block_count(m, op, "exactly one block", blocks.len()));
            } else if blocks.is_empty() && declared.is_some_and(|d| !d.may_be_empty) {
                self.diags.push(errors::block_count(m, op, "at least one block", 0));
            }
        }
        if def.is_some_and(|d| d.traits.has(Traits::SYMBOL_TABLE))
            && blocks.first().is_some_and(|b| !m.args(*b).is_empty())
        {
            self.diags.push(errors::table_args(m, op));
        }
        let free = def.is_none_or(|d| d.traits.has(Traits::NO_TERMINATOR));
        for &block in blocks {
            let last = m.last_op(block);
            let is_terminator = |op: OpId| m.def(op).map(|d| d.traits.has(Traits::TERMINATOR));
            if !free && last.is_none_or(|l| is_terminator(l) == Some(false)) {
                self.diags.push(errors::no_terminator(m, op, region, last));
            }
            for inner in m.ops_in(block) {
                if Some(inner) != last && is_terminator(inner) == Some(true) {
                    self.diags.push(errors::early_terminator(m, inner));
                }
            }
        }
    }

    // ---- values ----

    fn operands(&mut self, op: OpId) {
        let m = self.m;
        for (i, value) in m.operands(op).enumerate() {
            // The common case.
            if m.is_defined_before(value, op) {
                continue;
            }
            let defined = m.value_def(value);
            let Some(block) = m.defining_block(value) else {
                self.diags.push(errors::dangling(m, op, i));
                continue;
            };
            let region = m.block_parent(block);
            // The op that contains the use, in the region of the definition.
            let mut at = op;
            let mut barrier = None;
            let found = loop {
                if m.parent_region(at) == region {
                    break true;
                }
                match m.parent_op(at) {
                    Some(parent) => {
                        if barrier.is_none() && m.traits(parent).has(Traits::ISOLATED) {
                            barrier = Some(parent);
                        }
                        at = parent;
                    }
                    None => break false,
                }
            };
            if !found {
                self.diags.push(errors::not_visible(m, op, i, value));
                continue;
            }
            if let Some(parent) = barrier {
                self.diags.push(errors::not_isolated(m, op, i, value, parent));
                continue;
            }
            let holder = region.map(|r| m.region_parent(r));
            let ordered = holder.and_then(|h| m.def(h)).is_some_and(|d| !d.traits.has(Traits::NO_TERMINATOR));
            if !ordered {
                continue;
            }
            let good = match (m.parent_block(at), defined) {
                (Some(b), ValueDef::Result(producer, _)) if b == block => m.is_before(producer, at),
                (Some(b), _) if b == block => true,
                (Some(b), _) => self.dominance.dominates(m, block, b),
                (None, _) => false,
            };
            if !good {
                let other = m.parent_block(at).filter(|&b| b != block);
                let path = other.and_then(|b| dominance::path_around(m, block, b));
                self.diags.push(match path {
                    Some(path) => errors::not_on_every_path(m, op, i, value, &path),
                    None => errors::dominance(m, op, i, value),
                });
            }
        }
    }

    // ---- symbols and functions ----

    fn symbol_table(&mut self, table: OpId) {
        let m = self.m;
        let mut first: FxHashMap<StrId, OpId> = FxHashMap::default();
        for &region in m.regions_of(table) {
            for &block in m.blocks_of(region) {
                for op in m.ops_in(block) {
                    if let Some(name) = m.symbol_name(op) {
                        match first.get(&name) {
                            Some(&earlier) => {
                                self.diags.push(errors::redefined_symbol(m, op, m.cx.str(name), earlier));
                            }
                            None => {
                                first.insert(name, op);
                            }
                        }
                    }
                }
            }
        }
    }

    fn visibility(&mut self, op: OpId) {
        let m = self.m;
        if let Some(AttrKind::Str { text, .. }) = m.attr(op, names::SYM_VISIBILITY).map(|a| m.cx.attr(a)) {
            let found = m.cx.str(*text);
            if !matches!(found, "public" | "private" | "nested") {
                self.diags.push(errors::visibility(m, op, &shortened(found, 40)));
            }
        }
    }

    /// The op that a symbol refers to; reports an unresolved symbol.
    fn referred(&mut self, op: OpId, attr: AttrId) -> Option<OpId> {
        let m = self.m;
        let AttrKind::Symbol { root, nested } = m.cx.attr(attr) else { return None };
        let target = self.symbols.resolve(m, op, *root, nested);
        if target.is_none() {
            let table = m.nearest_symbol_table(op);
            let mut known: Vec<&str> = self.symbols.table(m, table).keys().map(|n| m.cx.str(*n)).collect();
            known.sort_unstable();
            let text = attr_text(&m.cx, attr);
            let error = errors::undefined_symbol(m, op, &text, known.into_iter());
            // Once is enough for an op with the same symbol twice.
            if self.diags.last() != Some(&error) {
                self.diags.push(error);
            }
        }
        target
    }

    fn reference(&mut self, op: OpId, name: &str, attr: AttrId, def: &OpDef) {
        let m = self.m;
        let Some(target) = self.referred(op, attr) else { return };
        let text = attr_text(&m.cx, attr);
        let callee_type = match def.callee_type {
            Some(callee_type) => callee_type,
            None if def.traits.has(Traits::CALL) => all_types,
            None => return,
        };
        if !m.traits(target).has(Traits::FUNCTION) {
            self.diags.push(errors::not_a_function(m, op, &text, target));
            return;
        }
        // A function with an error is reported there.
        let Some((inputs, results)) = self.m.signature(target) else { return };
        // Kernels distinguish tensors by their element types only; and one more chain orders the call.
        let is_kernel = def.has_kernel;
        let (mut passed, taken) = callee_type(m, op, results);
        if is_kernel && passed.len() == inputs.len() + 1 && passed.last() == Some(&KnownType::Chain.id()) {
            passed.pop();
        }
        let same = are_passed(m, &passed, inputs, is_kernel) && are_passed(m, &taken, results, is_kernel);
        if !same {
            let signature = |inputs: &[TypeId], results: &[TypeId]| {
                format!("{} -> {}", self.list(inputs.iter().copied()), self.list(results.iter().copied()))
            };
            let words = [signature(inputs, results), signature(&passed, &taken)];
            let role = callee_role(m, op, name);
            let upstream = role.mismatch((&passed, inputs), (&taken, results));
            self.diags.push(errors::call_signature(m, op, &text, [&words[0], &words[1], &upstream], target));
        }
    }

    fn list(&self, types: impl Iterator<Item = TypeId>) -> String {
        let types: Vec<String> = types.map(|t| type_text(&self.m.cx, t)).collect();
        format!("({})", types.join(", "))
    }

    fn function(&mut self, op: OpId) {
        let m = self.m;
        let Some((inputs, results)) = self.m.signature(op) else { return };
        let mut found = Vec::new();
        if let Some(entry) = m.regions_of(op).first().and_then(|r| m.entry(*r)) {
            let args = m.args(entry).iter().map(|a| m.value_type(*a));
            if !args.clone().eq(inputs.iter().copied()) {
                found.push(errors::entry_args(m, op, &self.list(inputs.iter().copied()), &self.list(args)));
            }
        }
        for (name, text, n) in
            [(names::ARG_ATTRS, "arg_attrs", inputs.len()), (names::RES_ATTRS, "res_attrs", results.len())]
        {
            if let Some(AttrKind::Array(dicts)) = m.attr(op, name).map(|a| m.cx.attr(a))
                && dicts.len() != n
            {
                found.push(errors::arg_dicts(m, op, text, n, dicts.len()));
            }
        }
        self.diags.extend(found);
    }

    fn returns(&mut self, op: OpId) {
        let m = self.m;
        let Some(func) = m.parent_op(op) else { return };
        if !m.traits(func).has(Traits::FUNCTION) {
            return;
        }
        let Some((_, results)) = self.m.signature(func) else { return };
        let found = m.operands(op).map(|v| m.value_type(v));
        if !found.clone().eq(results.iter().copied()) {
            let wrong = found.clone().zip(results).position(|(found, want)| found != *want);
            let upstream = match wrong.filter(|_| found.len() == results.len()) {
                Some(i) => {
                    let ty = |ty| type_text(&m.cx, ty);
                    let found = found.clone().nth(i).map(ty).unwrap_or_default();
                    let want = results.get(i).copied().map(ty).unwrap_or_default();
                    format!(
                        "type of return operand {i} ('{found}') doesn't match function result type ('{want}')"
                    )
                }
                None => {
                    let (has, wants) = (found.len(), results.len());
                    format!(
                        "'{}' op has {has} operands, but enclosing function returns {wants}",
                        m.op_name_str(op)
                    )
                }
            };
            let words = [self.list(results.iter().copied()), self.list(found)];
            self.diags.push(errors::return_types(m, op, [&words[0], &words[1], &upstream], func));
        }
    }
}
