//! Order of effects: a chain through the functions that print or assert.
//!
//! The chain is an ordinary operand and result of `scf` ops and an ordinary block argument, so the lowerings
//! that follow carry it like any other value.

use rustc_hash::FxHashSet;

use super::{CHAIN, UpstreamLowering, functions};
use crate::dialects::{PUNCTUATION, Traits};
use crate::ir::{AttrId, AttrKind, BlockId, Module, NewOp, OpId, StrId, ValueId, names};
use crate::rewrite::signatures::signature_of;
use crate::rewrite::{InsertionPoint, with_callers};

/// True for the ops that print or assert.
fn has_own_effect(m: &Module, op: OpId) -> bool {
    matches!(m.op_name_str(op), "vector.print" | "cf.assert")
}

impl UpstreamLowering<'_, '_, '_> {
    pub(super) fn order_effects(&mut self) {
        let effectful = self.effectful();
        if effectful.is_empty() {
            return;
        }
        let all: Vec<OpId> = functions(self.m()).collect();
        let ours: Vec<OpId> = all.into_iter().filter(|&op| self.is_in(op, &effectful)).collect();
        let mut effectful = effectful;
        for function in self.public_and_called(&ours) {
            self.wrap(function, &mut effectful);
        }
        let all: Vec<OpId> = functions(self.m()).collect();
        let ours: Vec<OpId> = all.into_iter().filter(|&op| self.is_in(op, &effectful)).collect();
        for function in ours {
            self.order_function(function, &effectful);
        }
    }

    fn is_in(&self, function: OpId, names: &FxHashSet<StrId>) -> bool {
        self.m().symbol_name(function).is_some_and(|name| names.contains(&name))
    }

    fn callee(&self, op: OpId) -> Option<StrId> {
        let m = self.m();
        match m.cx.attr(m.attr_named(op, "callee").filter(|_| m.op_name_str(op) == "func.call")?) {
            AttrKind::Symbol { root, nested } if nested.is_empty() => Some(*root),
            _ => None,
        }
    }

    /// True for an op with an effect, regions not included.
    fn has_effect(&self, op: OpId, effectful: &FxHashSet<StrId>) -> bool {
        has_own_effect(self.m(), op) || self.callee(op).is_some_and(|callee| effectful.contains(&callee))
    }

    /// Names of the functions with effects, their own or those of callees.
    fn effectful(&self) -> FxHashSet<StrId> {
        let m = self.m();
        let (mut own, mut calls) = (Vec::new(), Vec::new());
        for function in functions(m) {
            let Some(name) = m.symbol_name(function) else { continue };
            for op in m.walk(function) {
                if has_own_effect(m, op) {
                    own.push(name);
                }
                calls.extend(self.callee(op).map(|callee| (name, callee)));
            }
        }
        with_callers(own, &calls)
    }

    /// Public functions among `ours` that the module calls too.
    fn public_and_called(&self, ours: &[OpId]) -> Vec<OpId> {
        let m = self.m();
        let called: FxHashSet<StrId> = m.walk_functions().filter_map(|op| self.callee(op)).collect();
        let is_called = |op: OpId| m.symbol_name(op).is_some_and(|name| called.contains(&name));
        ours.iter().copied().filter(|&op| !m.is_private(op) && is_called(op)).collect()
    }

    /// Makes a function private under another name, and creates a public function of its name that calls it.
    fn wrap(&mut self, function: OpId, effectful: &mut FxHashSet<StrId>) {
        let m = self.m();
        let Some(name) = m.symbol_name(function) else { return };
        let (loc, func, attrs) = (m.loc(function), m.op_name(function), m.attrs(function).to_vec());
        let (inputs, results) = signature_of(self.m(), function);
        let text = self.m().cx.str(name).to_owned();
        let inner = self.free_name(&format!("{text}_effects"));
        let symbol = self.r.cx().symbol_attr(&inner);
        let calls: Vec<OpId> =
            self.m().walk_functions().filter(|&op| self.callee(op) == Some(name)).collect();
        let callee = self.r.cx().str_id("callee");
        for call in calls {
            self.r.set_attr(call, callee, symbol);
        }
        let new = NewOp { loc, attrs: &attrs, ..NewOp::new(func) };
        let outer = self.r.create(InsertionPoint::Before(function), new);
        let region = self.r.add_region(outer);
        let block = self.r.add_block(region);
        let args: Vec<ValueId> = inputs.iter().map(|&ty| self.r.add_arg(block, ty)).collect();
        let at = InsertionPoint::End(block);
        let call = self.r.create_named(at, loc, "func.call", &args, &results, &[("callee", symbol)]);
        let values: Vec<ValueId> = self.m().results(call).collect();
        self.r.create_named(at, loc, "func.return", &values, &[], &[]);
        let (inner_name, private) = (self.r.cx().str_attr(&inner), self.r.cx().str_attr("private"));
        self.r.set_attr(function, names::SYM_NAME, inner_name);
        self.r.set_attr(function, names::SYM_VISIBILITY, private);
        self.r.remove_attr(function, names::ARG_ATTRS);
        self.r.remove_attr(function, names::RES_ATTRS);
        effectful.insert(self.r.cx().str_id(&inner));
    }

    fn order_function(&mut self, function: OpId, effectful: &FxHashSet<StrId>) {
        let region = self.m().regions_of(function)[0];
        let blocks = self.m().blocks_of(region).to_vec();
        let is_private = self.m().is_private(function);
        let (mut inputs, mut results) = signature_of(self.m(), function);
        let returns_nothing = results.is_empty();
        for (i, &block) in blocks.iter().enumerate() {
            let chain = match i {
                0 if !is_private => {
                    let loc = self.m().loc(function);
                    let at = InsertionPoint::Start(block);
                    let new = self.r.create_named(at, loc, "tfrt.new.chain", &[], &[CHAIN], &[]);
                    self.m().result(new, 0)
                }
                _ => self.r.add_arg(block, CHAIN),
            };
            let chain = self.order_block(block, chain, effectful);
            let Some(end) = self.m().last_op(block) else { continue };
            if self.m().traits(end).has(Traits::RETURN) {
                let mut values: Vec<ValueId> = self.m().operands(end).collect();
                if is_private || returns_nothing {
                    values.push(chain);
                } else {
                    for value in &mut values {
                        let ty = self.m().value_type(*value);
                        *value = self.value(end, "flow.after", &[chain, *value], ty, &[]);
                    }
                }
                self.r.set_operands(end, &values);
            }
            for successor in 0..self.m().successors(end).len() {
                let Some(range) = self.m().successor_operands(end, successor) else { continue };
                let mut values: Vec<ValueId> = range.map(|i| self.m().operand(end, i)).collect();
                values.push(chain);
                self.r.set_successor_operands(end, successor, &values);
            }
        }
        if is_private {
            inputs.push(CHAIN);
        }
        if is_private || returns_nothing {
            results.push(CHAIN);
        }
        self.r.set_signature(function, &inputs, &results);
        for (list, len) in [(names::ARG_ATTRS, inputs.len()), (names::RES_ATTRS, results.len())] {
            self.fill_attrs(function, list, len);
        }
    }

    /// Extends `arg_attrs` or `res_attrs` to `len` dictionaries.
    fn fill_attrs(&mut self, function: OpId, list: StrId, len: usize) {
        let m = self.m();
        let Some(AttrKind::Array(dicts)) = m.attr(function, list).map(|attr| m.cx.attr(attr)) else { return };
        let mut dicts: Vec<AttrId> = dicts.to_vec();
        let empty = self.r.cx().dict_attr(&[]);
        dicts.resize(len.max(dicts.len()), empty);
        let dicts = self.r.cx().array_attr(&dicts);
        self.r.set_attr(function, list, dicts);
    }

    /// Puts the effects of a block on a chain. Returns the chain after the last effect.
    fn order_block(&mut self, block: BlockId, chain: ValueId, effectful: &FxHashSet<StrId>) -> ValueId {
        let mut chain = chain;
        for op in self.m().ops_in(block).collect::<Vec<_>>() {
            let inside = self.m().walk(op).any(|inner| self.has_effect(inner, effectful));
            if !inside {
                continue;
            }
            let operands: Vec<ValueId> = self.m().operands(op).collect();
            chain = match self.m().op_name_str(op) {
                "vector.print" => {
                    let punctuation = self.m().attr_named(op, "punctuation");
                    let bits = punctuation.and_then(|attr| PUNCTUATION.bits(&self.m().cx, attr));
                    let end = match PUNCTUATION.text(bits.unwrap_or(0)).as_str() {
                        "<no_punctuation>" => "",
                        "<comma>" => ", ",
                        "<open>" => "( ",
                        "<close>" => " )",
                        _ => "\n",
                    };
                    let end = self.r.cx().str_attr(end);
                    let printed = self.value(op, "flow.print", &[operands[0], chain], CHAIN, &[("end", end)]);
                    self.r.erase(op);
                    printed
                }
                "cf.assert" => {
                    let message = self.m().attr_named(op, "msg").map(|message| ("msg", message));
                    let attrs: Vec<_> = message.into_iter().collect();
                    let tested = self.value(op, "flow.assert", &[operands[0], chain], CHAIN, &attrs);
                    self.r.erase(op);
                    tested
                }
                "scf.if" => self.order_if(op, chain, effectful),
                "func.call" => self.with_chain(op, Some(chain)).1,
                _ => self.order_loop(op, chain, effectful),
            };
        }
        chain
    }

    /// Rebuilds an op with one more operand, if there is one, and one more result of type chain.
    fn with_chain(&mut self, op: OpId, chain: Option<ValueId>) -> (OpId, ValueId) {
        let operands: Vec<ValueId> = self.m().operands(op).chain(chain).collect();
        let results: Vec<ValueId> = self.m().results(op).collect();
        let mut types = self.types(&results);
        types.push(CHAIN);
        let new = self.r.rebuild(op, &operands, &types);
        let values: Vec<ValueId> = self.m().results(new).collect();
        self.r.replace_op(op, &values[..results.len()]);
        (new, values[results.len()])
    }

    /// Appends a value to the operands of a block's terminator, an `scf.yield` if there is none.
    fn yield_more(&mut self, op: OpId, block: BlockId, value: ValueId) {
        match self.m().last_op(block).filter(|&end| self.m().traits(end).has(Traits::TERMINATOR)) {
            Some(end) => {
                let values: Vec<ValueId> = self.m().operands(end).chain([value]).collect();
                self.r.set_operands(end, &values);
            }
            None => {
                let loc = self.m().loc(op);
                self.r.create_named(InsertionPoint::End(block), loc, "scf.yield", &[value], &[], &[]);
            }
        }
    }

    fn order_if(&mut self, op: OpId, chain: ValueId, effectful: &FxHashSet<StrId>) -> ValueId {
        let (new, result) = self.with_chain(op, None);
        for region in self.m().regions_of(new).to_vec() {
            let block = match self.m().entry(region) {
                Some(block) => block,
                None => self.r.add_block(region),
            };
            let inner = self.order_block(block, chain, effectful);
            self.yield_more(new, block, inner);
        }
        result
    }

    /// `scf.for` and `scf.while` carry the chain as their last value.
    fn order_loop(&mut self, op: OpId, chain: ValueId, effectful: &FxHashSet<StrId>) -> ValueId {
        let (new, result) = self.with_chain(op, Some(chain));
        for region in self.m().regions_of(new).to_vec() {
            let Some(block) = self.m().entry(region) else { continue };
            let arg = self.r.add_arg(block, CHAIN);
            let inner = self.order_block(block, arg, effectful);
            self.yield_more(new, block, inner);
        }
        result
    }
}
