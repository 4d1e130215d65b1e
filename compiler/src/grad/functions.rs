//! Differentiated functions are pairs: a forward function that also returns the kept values, and a backward
//! function that takes them.
//!
//! ```text
//! @f(args) -> results ──copy──▶ @f.fwd: forward ops | marker | backward ops        a draft
//!                      ──split─▶ @f.fwd(args) -> results, kept      @f.bwd(args, kept, dys) -> dxs
//! ```
//!
//! The gradients of its results are additional arguments of a draft, and its backward ops read forward values
//! in place. `flow` decides how these values get from the forward to the backward function.

use befrost_tensor::tf::op::{Op, Type};
use rustc_hash::{FxHashMap, FxHashSet};

use super::engine::{Engine, Request, Undifferentiable};
use super::errors;
use super::keep::{self, Kept, Recompute};
use super::vjp::{At, Emit};
use crate::dialects::tf;
use crate::ir::{BlockId, Module, NewOp, OpId, StrId, TypeId, ValueId, names};
use crate::rewrite::{InsertionPoint, IrMapping};

/// Maximum depth of calls that are differentiated; each takes a few frames of the machine's stack.
const MAX_DEPTH: usize = 64;

/// Maximum number of ops that are copied for one request, where a function counts as [`OPS_OF_FUNCTION`]
/// more. Functions are copied once per branch and loop that names them, so that nested ones would be copied
/// exponentially often.
pub(super) const MAX_COPIED: usize = 1 << 20;
const OPS_OF_FUNCTION: usize = 512;

/// Maximum number of kept values that a forward function returns one by one; more are packed into one. A
/// function that calls another one twice keeps the values of two calls.
const MAX_RESULTS: usize = 1 << 12;

/// The differentiated functions of calls.
#[derive(Default)]
pub(super) struct Pairs {
    pub done: FxHashMap<PairKey, Pair>,
    /// Pairs of recursive functions that are being made.
    pub open: FxHashMap<PairKey, Pair>,
}

/// A function, the results that have gradients, and the arguments whose gradients are wanted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct PairKey {
    pub function: StrId,
    pub dys: Vec<bool>,
    pub wants: Vec<bool>,
    pub recompute: Recompute,
}

/// The two functions of a call.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub fwd: String,
    pub bwd: String,
    /// The arguments that the backward function takes, in front of the kept values and the gradients of the
    /// results.
    pub args: Vec<usize>,
    /// The types of the forward function's additional results.
    pub kept: Vec<TypeId>,
    /// The type of each argument's gradient, if it has one.
    pub grads: Vec<Option<TypeId>>,
}

/// A copy of a function with its backward ops after the forward ones.
pub(super) struct Draft {
    pub function: OpId,
    pub block: BlockId,
    pub end: OpId,
    marker: OpId,
    /// The gradients of results: the number of the result, and the argument that holds its gradient.
    pub dys: Vec<(usize, ValueId)>,
    /// The gradient of each argument, if it has one.
    pub grads: Vec<Option<ValueId>>,
}

impl Draft {
    /// The arguments of the function.
    pub(super) fn args<'m>(&self, m: &'m Module) -> &'m [ValueId] {
        &m.args(self.block)[..self.grads.len()]
    }

    fn forward(&self, m: &Module) -> Vec<OpId> {
        m.ops_in(self.block).take_while(|&op| op != self.marker).collect()
    }

    fn backward(&self, m: &Module) -> Vec<OpId> {
        m.ops_in(self.block)
            .skip_while(|&op| op != self.marker)
            .skip(1)
            .filter(|&op| op != self.end)
            .collect()
    }

    /// The types of the gradients of the results.
    pub(super) fn dy_types(&self, m: &Module) -> Vec<TypeId> {
        self.dys.iter().map(|&(_, dy)| m.value_type(dy)).collect()
    }
}

impl Engine<'_, '_> {
    /// Reserves a free name for a function.
    pub(super) fn free_name(&mut self, stem: &str) -> String {
        let (functions, taken) = (&self.functions, &self.taken);
        let name =
            self.r.cx().free_name(stem, |name| !functions.contains_key(&name) && !taken.contains(&name));
        let id = self.r.cx().str_id(&name);
        self.taken.insert(id);
        name
    }

    /// The text of a name.
    pub(super) fn text(&self, name: StrId) -> String {
        self.m().cx.str(name).to_owned()
    }

    /// Creates a private function whose only op is a return without operands; returns the function, its
    /// block and its return.
    pub(super) fn new_function(
        &mut self,
        name: &str,
        like: OpId,
        inputs: &[TypeId],
    ) -> (OpId, BlockId, OpId) {
        let loc = self.m().loc(like);
        let (function, block) = self.r.private_function_of(InsertionPoint::After(like), loc, name, inputs);
        let end = self.r.create_named(InsertionPoint::End(block), loc, "func.return", &[], &[], &[]);
        let id = self.r.cx().str_id(name);
        self.functions.insert(id, function);
        self.made.push(function);
        (function, block, end)
    }

    /// Sets the results of a function, and its type.
    pub(super) fn returns(&mut self, function: OpId, end: OpId, results: &[ValueId]) {
        self.r.set_operands(end, results);
        self.r.refresh_signature(function);
    }

    /// The only block of a function and its last op.
    pub(super) fn body_of(&self, function: OpId) -> Option<(BlockId, OpId)> {
        let m = self.m();
        let block = m.only_block(function)?;
        Some((block, m.last_op(block)?))
    }

    /// Copies a function; returns the copy, its block and its return.
    pub(super) fn copy(
        &mut self,
        function: OpId,
        name: &str,
    ) -> Result<(OpId, BlockId, OpId), Undifferentiable> {
        let Some((block, old_end)) = self.body_of(function) else {
            let error = errors::several_blocks(self.m(), function);
            self.errors.push(error);
            return Err(Undifferentiable);
        };
        let was_too_large = self.n_copied > MAX_COPIED;
        self.n_copied += OPS_OF_FUNCTION + self.m().ops_in(block).count();
        if self.n_copied > MAX_COPIED {
            if !was_too_large {
                let error = errors::too_large(self.m(), function, MAX_COPIED);
                self.errors.push(error);
            }
            return Err(Undifferentiable);
        }
        let m = self.m();
        let args = m.args(block).to_vec();
        let inputs: Vec<TypeId> = args.iter().map(|&arg| m.value_type(arg)).collect();
        let (made, new, end) = self.new_function(name, function, &inputs);
        let mut copies = IrMapping::default();
        copies.values.extend(args.into_iter().zip(self.m().args(new).to_vec()));
        self.r.copy_body(block, end, &mut copies, &mut |_, loc| loc);
        let results: Vec<ValueId> = self.m().operands(old_end).collect();
        let results: Vec<ValueId> =
            results.iter().map(|value| copies.values.get(value).copied().unwrap_or(*value)).collect();
        self.returns(made, end, &results);
        Ok((made, new, end))
    }

    /// Differentiates a copy of a function.
    pub(super) fn draft(
        &mut self,
        function: OpId,
        name: &str,
        dys: &[bool],
        wants: &[bool],
    ) -> Result<Draft, Undifferentiable> {
        if self.depth == MAX_DEPTH {
            let error = errors::too_deep(self.m(), function, MAX_DEPTH);
            self.errors.push(error);
            return Err(Undifferentiable);
        }
        let (function, block, end) = self.copy(function, name)?;
        let results: Vec<ValueId> = self.m().operands(end).collect();
        let n_args = self.m().args(block).len();
        let mut given = Vec::new();
        for (i, &result) in results.iter().enumerate().filter(|(i, _)| dys[*i]) {
            let ty = self.gradient_type(result);
            given.push((i, self.r.add_arg(block, ty)));
        }
        let marker = self.r.create_before(end, Op::NoOp.op_name(), &[], &[], &[]);
        self.depth += 1;
        let found = self.gradients(end, |m| {
            let results: Vec<ValueId> = m.operands(end).collect();
            let xs = m.args(block)[..n_args].iter().zip(wants).filter(|(_, wants)| **wants);
            Request {
                ys: given.iter().map(|&(i, _)| results[i]).collect(),
                dys: given.iter().map(|&(_, dy)| Some(dy)).collect(),
                xs: xs.map(|(x, _)| *x).collect(),
                stops: Vec::new(),
            }
        });
        self.depth -= 1;
        let found = found?;
        let mut found = found.into_iter();
        let mut grads = vec![None; n_args];
        for i in (0..n_args).filter(|&i| wants[i]) {
            if let Some(Some(grad)) = found.next() {
                let arg = self.m().args(block)[i];
                grads[i] = Some(self.dense(end, arg, grad)?);
            }
        }
        Ok(Draft { function, block, end, marker, dys: given, grads })
    }

    /// Erases a draft.
    pub(super) fn discard(&mut self, draft: &Draft) {
        let m = self.m();
        if let Some(name) = m.symbol_name(draft.function) {
            self.functions.remove(&name);
        }
        self.made.retain(|&made| made != draft.function);
        self.r.erase(draft.function);
    }

    /// The choice of what the backward function of a function that an op calls computes again.
    pub(super) fn recompute(&mut self, op: OpId, function: OpId) -> Result<Recompute, Undifferentiable> {
        let m = self.m();
        let asked = [op, function].iter().find_map(|&of| Some((of, m.attr_named(of, tf::RECOMPUTE)?)));
        let Some((of, attr)) = asked else { return Ok(Recompute::Cheap) };
        let text = m.cx.as_str(attr).unwrap_or_default();
        if let Some(recompute) = Recompute::parse(text) {
            return Ok(recompute);
        }
        let error = errors::recompute(m, of, text);
        self.errors.push(error);
        Err(Undifferentiable)
    }

    /// The forward values that the backward ops of a draft of a function read, kept or computed again. Says
    /// which, unless that is the usual choice.
    pub(super) fn choose(
        &mut self,
        draft: &Draft,
        function: OpId,
        is_free: impl Fn(usize) -> bool,
        recompute: Recompute,
    ) -> Kept {
        let kept = self.chosen(draft, is_free, recompute);
        if recompute != Recompute::Cheap {
            let remark = errors::recomputed(self.m(), function, &kept);
            self.remarks.push(remark);
        }
        kept
    }

    fn chosen(&self, draft: &Draft, is_free: impl Fn(usize) -> bool, recompute: Recompute) -> Kept {
        let m = self.m();
        let backward = draft.backward(m);
        let made: FxHashSet<ValueId> = backward.iter().flat_map(|&op| m.results(op)).collect();
        let is_dy = |value: ValueId| draft.dys.iter().any(|&(_, dy)| dy == value);
        let read =
            backward.iter().flat_map(|&op| m.operands(op)).chain(draft.grads.iter().flatten().copied());
        let mut forward = Vec::new();
        let mut seen = FxHashSet::default();
        for value in read {
            if !made.contains(&value) && !is_dy(value) && seen.insert(value) {
                forward.push(value);
            }
        }
        let args = draft.args(m);
        let free = |value: ValueId| args.iter().position(|&arg| arg == value).is_some_and(&is_free);
        let calls_pure = |op: OpId| self.calls_pure_functions(op);
        keep::choose(m, &draft.forward(m), &forward, free, recompute, calls_pure)
    }

    /// Moves the backward ops of a draft into a new function. `bind` gets its return and its arguments, and
    /// returns the values that stand for the draft's forward values and result gradients, and results that
    /// come before the gradients of the arguments `grads`. The ops `again` are computed again.
    pub(super) fn split(
        &mut self,
        draft: &Draft,
        name: &str,
        inputs: &[TypeId],
        again: &[OpId],
        grads: &[usize],
        bind: impl FnOnce(&mut Self, OpId, &[ValueId]) -> Result<(Bound, Vec<ValueId>), Undifferentiable>,
    ) -> Result<(), Undifferentiable> {
        let (function, block, end) = self.new_function(name, draft.function, inputs);
        let args = self.m().args(block).to_vec();
        let (mut bound, mut results) = bind(self, end, &args)?;
        for &op in again {
            let m = self.m();
            let operands: Vec<ValueId> =
                m.operands(op).map(|value| bound.get(&value).copied().unwrap_or(value)).collect();
            let types: Vec<TypeId> = m.results(op).map(|value| m.value_type(value)).collect();
            let (op_name, loc, attrs) = (m.op_name(op), m.loc(op), m.attrs(op).to_vec());
            let new =
                NewOp { loc, operands: &operands, results: &types, attrs: &attrs, ..NewOp::new(op_name) };
            let made = self.r.create(InsertionPoint::Before(end), new);
            let m = self.m();
            bound.extend(m.results(op).zip(m.results(made)).collect::<Vec<_>>());
        }
        for op in draft.backward(self.m()) {
            self.r.move_before(op, end);
            let m = self.m();
            let old: Vec<ValueId> = m.operands(op).collect();
            let new: Vec<ValueId> =
                old.iter().map(|value| bound.get(value).copied().unwrap_or(*value)).collect();
            self.r.set_operands(op, &new);
        }
        for &i in grads {
            let Some(grad) = draft.grads[i] else { continue };
            results.push(bound.get(&grad).copied().unwrap_or(grad));
        }
        self.returns(function, end, &results);
        // The forward function.
        self.r.erase(draft.marker);
        for i in (draft.grads.len()..draft.grads.len() + draft.dys.len()).rev() {
            self.r.remove_arg(draft.block, i);
        }
        let results: Vec<ValueId> = self.m().operands(draft.end).collect();
        self.returns(draft.function, draft.end, &results);
        Ok(())
    }

    /// The pair of a function that is called.
    pub(super) fn pair(&mut self, key: &PairKey) -> Result<Pair, Undifferentiable> {
        if let Some(pair) = self.pairs.done.get(key).or_else(|| self.pairs.open.get(key)) {
            return Ok(pair.clone());
        }
        let Some(&function) = self.functions.get(&key.function) else {
            let error = errors::no_callee(self.m(), self.request);
            self.errors.push(error);
            return Err(Undifferentiable);
        };
        let stem = self.text(key.function);
        let fwd = self.free_name(&format!("{stem}.fwd"));
        let bwd = self.free_name(&format!("{stem}.bwd"));
        let is_recursive = self.is_recursive(key.function);
        let variant = self.variant();
        let mut open = Pair {
            fwd: fwd.clone(),
            bwd: bwd.clone(),
            args: Vec::new(),
            kept: vec![variant],
            grads: vec![None; key.wants.len()],
        };
        let before: FxHashSet<PairKey> = self.pairs.done.keys().cloned().collect();
        // For a recursive function the first assumption is that its own calls give no gradient; then what the
        // last draft gave is assumed, until a draft agrees.
        let draft = loop {
            if is_recursive {
                self.pairs.open.insert(key.clone(), open.clone());
            }
            let draft = self.draft(function, &fwd, &key.dys, &key.wants)?;
            let args = draft.args(self.m()).to_vec();
            let mut grads = Vec::with_capacity(args.len());
            for (&arg, grad) in args.iter().zip(&draft.grads) {
                grads.push(grad.is_some().then(|| self.gradient_type(arg)));
            }
            let is_stable = grads.iter().map(Option::is_some).eq(open.grads.iter().map(Option::is_some));
            open.grads = grads;
            if is_stable || !is_recursive {
                break draft;
            }
            self.discard(&draft);
            // The pairs made since rest on the wrong assumption.
            self.pairs.done.retain(|key, _| before.contains(key));
        };
        self.pairs.open.remove(key);
        let kept = self.choose(&draft, function, |_| !is_recursive, key.recompute);
        let is_packed = is_recursive || kept.values.len() > MAX_RESULTS;
        let args = draft.args(self.m()).to_vec();
        let used: Vec<usize> =
            kept.free.iter().filter_map(|value| args.iter().position(|arg| arg == value)).collect();
        let grads: Vec<usize> = (0..args.len()).filter(|&i| draft.grads[i].is_some()).collect();
        let type_of = |engine: &Self, value: &ValueId| engine.m().value_type(*value);
        let mut inputs: Vec<TypeId> = used.iter().map(|&i| type_of(self, &args[i])).collect();
        let kept_types: Vec<TypeId> = kept.values.iter().map(|value| type_of(self, value)).collect();
        if is_packed {
            inputs.push(variant);
        } else {
            inputs.extend(&kept_types);
        }
        inputs.extend(draft.dy_types(self.m()));
        self.split(&draft, &bwd, &inputs, &kept.again, &grads, |engine, end, given| {
            let mut bound: Bound = kept.free.iter().copied().zip(given.iter().copied()).collect();
            let (given, n) = (&given[used.len()..], kept.values.len());
            let values =
                if is_packed { engine.unpack(end, given[0], &kept_types)? } else { given[..n].to_vec() };
            bound.extend(kept.values.iter().copied().zip(values));
            let dys = &given[if is_packed { 1 } else { n }..];
            bound.extend(draft.dys.iter().map(|&(_, dy)| dy).zip(dys.iter().copied()));
            Ok((bound, Vec::new()))
        })?;
        if key.recompute == Recompute::All {
            self.stays_apart(&bwd);
        }
        let more = if is_packed { vec![self.pack(draft.end, &kept.values)?] } else { kept.values.clone() };
        let results: Vec<ValueId> = self.m().operands(draft.end).chain(more).collect();
        self.returns(draft.function, draft.end, &results);
        let kept = if is_packed { vec![variant] } else { kept_types };
        let pair = Pair { args: used, kept, ..open };
        self.pairs.done.insert(key.clone(), pair.clone());
        Ok(pair)
    }

    /// Keeps a function from being inlined: what it computes again would be found where it is computed first.
    fn stays_apart(&mut self, name: &str) {
        let id = self.r.cx().str_id(name);
        let Some(&function) = self.functions.get(&id) else { return };
        let value = self.r.cx().bool_attr(true);
        self.r.set_attr(function, names::NO_INLINE, value);
    }

    /// The type of a scalar variant.
    pub(super) fn variant(&mut self) -> TypeId {
        let element = tf::element(self.r.cx(), Type::Variant, false);
        tf::tensor(self.r.cx(), Some(&[]), element)
    }

    /// A tape: one value that holds others, in front of an op.
    pub(super) fn pack(&mut self, at: OpId, values: &[ValueId]) -> Result<ValueId, Undifferentiable> {
        let op = if values.is_empty() { Op::OptionalNone } else { Op::OptionalFromValue };
        self.emit(at, at, |g| g.emit(op, values, &[], None, 1)[0])
    }

    /// The values that a tape holds.
    pub(super) fn unpack(
        &mut self,
        at: OpId,
        tape: ValueId,
        types: &[TypeId],
    ) -> Result<Vec<ValueId>, Undifferentiable> {
        if types.is_empty() {
            return Ok(Vec::new());
        }
        let attrs = [("output_shapes", At::Shapes(types))];
        self.emit(at, at, |g| g.emit(Op::OptionalGetValue, &[tape], &attrs, Some(types), types.len()))
    }

    /// True if a function calls itself, directly or through others.
    fn is_recursive(&self, name: StrId) -> bool {
        let m = self.m();
        let mut seen = FxHashSet::default();
        let mut todo = vec![name];
        while let Some(next) = todo.pop() {
            let Some(&function) = self.functions.get(&next) else { continue };
            for op in m.walk(function) {
                for callee in crate::graph::callees(m, op) {
                    if callee == name {
                        return true;
                    }
                    if seen.insert(callee) {
                        todo.push(callee);
                    }
                }
            }
        }
        false
    }

    /// Erases the functions that this pass made and nothing calls.
    pub(super) fn erase_unused(&mut self) {
        loop {
            let m = self.m();
            let called: FxHashSet<StrId> =
                m.walk_functions().flat_map(|op| crate::graph::callees(m, op)).collect();
            let unused: Vec<OpId> = self
                .made
                .iter()
                .copied()
                .filter(|&function| m.symbol_name(function).is_none_or(|name| !called.contains(&name)))
                .collect();
            if unused.is_empty() {
                return;
            }
            self.made.retain(|function| !unused.contains(function));
            for function in unused {
                if let Some(name) = self.m().symbol_name(function) {
                    self.functions.remove(&name);
                }
                self.r.erase(function);
            }
        }
    }

    /// Reports a custom gradient that cannot be used.
    pub(super) fn refuse_custom<T>(
        &mut self,
        op: OpId,
        name: &str,
        why: &str,
    ) -> Result<T, Undifferentiable> {
        let error = errors::custom(self.m(), op, name, why);
        self.errors.push(error);
        Err(Undifferentiable)
    }
}

/// The values of the forward function in the backward function.
pub(super) type Bound = FxHashMap<ValueId, ValueId>;
