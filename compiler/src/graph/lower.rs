//! `tf-to-kernels`: lowering of the op graph to a kernel graph.
//!
//! Operators with kernels stay. Control flow becomes calls of functions; effects become chains:
//!
//! ```text
//! tf.If(p, x)      tfrt.cond(tf._Predicate(p), x)
//! tf.While(x)      tfrt.while @w(x), where @w calls the body, then the condition
//! tf.Case(i, x)    tfrt.case(tf._BranchIndex(i), x)
//! tf.NoOp          tfrt.merge.chains
//! ```
//!
//! In a block, a read of a resource waits for earlier writes of it, and a write for earlier reads and writes
//! (`effects`). A function with effects takes a chain as its last argument and returns one, final when its
//! effects are complete. A public function with effects keeps its signature: all of its results wait for its
//! effects, so that errors of effects are not lost.
//!
//! Kernels have no rows from which the typed builder ([`Builder`]) could infer their results, so they are
//! created by the [`Rewriter`] with the types of what they replace.

mod frames;
mod parts;

use befrost_tensor::tf::op::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use self::frames::{frame, is_part, started_early};
use super::effects::{EffectState, body, callees, effectful, functions};
use crate::build::Builder;
use crate::build::query::n_elements;
use crate::device::lowered;
use crate::diag::Diagnostic;
use crate::dialects::tf_executor::FRAME;
use crate::dialects::tfrt::Call;
use crate::dialects::tfrt_control::{Case, Cond, While};
use crate::dialects::{Access, dev, tf};
use crate::ir::{
    AttrId, AttrKind, BlockId, KnownType, LocId, Module, NewOp, OpId, StrId, TypeId, TypeKind, ValueId, names,
};
use crate::pass::{Change, Pass, PassCx, Rewriter};
use crate::rewrite::signatures::signature_of;
use crate::rewrite::{InsertionPoint, state_access};

pub(crate) const PASS: Pass = Pass {
    name: tf::TF_TO_KERNELS,
    title: "TFToKernels",
    summary: "lowers operation graphs of TensorFlow's operators to graphs of kernels",
    options: &[],
    statistics: &[("num-loops", "Number of loops lowered")],
    run,
};

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let m = r.ir();
    let functions = functions(m);
    // All operators of a divided program may have been folded.
    let is_tf = |op: OpId| tf::op_of(m.op_name_str(op)).is_some() || m.op_name_str(op) == dev::PARTS;
    let mut ours: Vec<OpId> =
        functions.values().copied().filter(|&function| body(m, function).into_iter().any(is_tf)).collect();
    if ours.is_empty() {
        return Change::Unchanged;
    }
    ours.sort_unstable();
    let (loops, effectful): (FxHashSet<StrId>, FxHashSet<StrId>) =
        effectful(m, &functions).into_iter().partition(|name| frame(m, functions[name]) == Some("loop"));
    let called: FxHashSet<StrId> =
        functions.values().flat_map(|&function| body(m, function)).flat_map(|op| callees(m, op)).collect();
    let started = started_early(m, &functions, &effectful, &loops);
    let mut lowering = Lowering { r, cx, functions, effectful, loops, started, n_loops: 0 };
    for (name, function) in lowering.wrapped(&called) {
        lowering.wrap(name, function);
    }
    let mut signed: Vec<(StrId, OpId)> = lowering.functions.iter().map(|(&name, &op)| (name, op)).collect();
    signed.sort_by_key(|&(_, op)| op.0);
    for &(name, function) in &signed {
        if lowering.effectful.contains(&name) && lowering.m().is_private(function) {
            lowering.add_chain(function, 0);
        } else if lowering.loops.contains(&name) {
            // In front of the condition.
            for _ in 0..1 + usize::from(lowering.started.contains(&name)) {
                lowering.add_chain(function, 1);
            }
        }
    }
    for (_, function) in signed {
        lowering.function(function);
    }
    let n_loops = lowering.n_loops;
    lowered::place_kernels(r);
    lowered::run_parts_in_any_case(r);
    cx.count("num-loops", n_loops);
    r.change()
}

struct Lowering<'a, 'm, 'c> {
    r: &'a mut Rewriter<'m>,
    cx: &'a PassCx<'c>,
    functions: FxHashMap<StrId, OpId>,
    effectful: FxHashSet<StrId>,
    /// The functions of frames with effects: each iteration is given the completion of those of the one
    /// before, and returns that of its own too.
    loops: FxHashSet<StrId>,
    /// Those that are given what effects wait for, too ([`started_early`]).
    started: FxHashSet<StrId>,
    n_loops: u64,
}

/// The results of a call, and the completion of its effects.
struct Called {
    results: Vec<ValueId>,
    chain: Option<ValueId>,
}

/// Maximum number of strings in a constant.
const MAX_STRINGS: usize = 1 << 20;

const CHAIN: TypeId = KnownType::Chain.id();

impl Lowering<'_, '_, '_> {
    fn m(&self) -> &Module {
        self.r.ir()
    }

    /// Functions with effects that are called inside the module and are public.
    fn wrapped(&self, called: &FxHashSet<StrId>) -> Vec<(StrId, OpId)> {
        let both = |name: &StrId, op: OpId| {
            called.contains(name) && self.effectful.contains(name) && !self.m().is_private(op)
        };
        let mut found: Vec<(StrId, OpId)> = self
            .functions
            .iter()
            .map(|(&name, &op)| (name, op))
            .filter(|(name, op)| both(name, *op))
            .collect();
        found.sort_by_key(|&(_, op)| op.0);
        found
    }

    /// Makes a function private, and creates a public function of its name that calls it.
    fn wrap(&mut self, name: StrId, function: OpId) {
        let text = self.m().cx.str(name).to_owned();
        let inner = self.free_name(&format!("{text}_effects"));
        let attrs = self.m().attrs(function).to_vec();
        let (loc, func) = (self.m().loc(function), self.m().op_name(function));
        let outer =
            self.r.create(InsertionPoint::Before(function), NewOp { loc, attrs: &attrs, ..NewOp::new(func) });
        let (inputs, results) = signature_of(self.m(), function);
        let region = self.r.add_region(outer);
        let block = self.r.add_block(region);
        let args: Vec<ValueId> = inputs.iter().map(|&ty| self.r.add_arg(block, ty)).collect();
        let symbol = self.r.cx().symbol_attr(&text);
        let call = self.r.create_named(
            InsertionPoint::End(block),
            loc,
            Op::StatefulPartitionedCall.op_name(),
            &args,
            &results,
            &[("f", symbol)],
        );
        let values: Vec<ValueId> = self.m().results(call).collect();
        self.r.create_named(InsertionPoint::End(block), loc, "func.return", &values, &[], &[]);
        let inner_text = self.m().cx.str(inner).to_owned();
        let (inner_name, private) = (self.r.cx().str_attr(&inner_text), self.r.cx().str_attr("private"));
        self.r.set_attr(function, names::SYM_NAME, inner_name);
        self.r.set_attr(function, names::SYM_VISIBILITY, private);
        self.r.remove_attr(function, names::ARG_ATTRS);
        self.r.remove_attr(function, names::RES_ATTRS);
        self.functions.insert(inner, function);
        self.functions.insert(name, outer);
        self.effectful.insert(inner);
        let all: Vec<OpId> = self.functions.values().flat_map(|&function| body(self.m(), function)).collect();
        for op in all {
            self.rename(op, name, inner);
        }
    }

    /// Replaces references of an op to the function `old` by `new`.
    fn rename(&mut self, op: OpId, old: StrId, new: StrId) {
        for (attr_name, attr) in self.m().attrs(op).to_vec() {
            let renamed = |cx: &mut crate::ir::Context, attr: AttrId| match cx.attr(attr) {
                AttrKind::Symbol { root, nested } if *root == old && nested.is_empty() => {
                    cx.attr_id(AttrKind::Symbol { root: new, nested: Box::default() })
                }
                _ => attr,
            };
            let cx = self.r.cx();
            let changed = match cx.attr(attr).clone() {
                AttrKind::Array(items) => {
                    let items: Vec<AttrId> = items.iter().map(|&item| renamed(cx, item)).collect();
                    cx.array_attr(&items)
                }
                _ => renamed(cx, attr),
            };
            self.r.set_attr(op, attr_name, changed);
        }
    }

    /// The id of a function name that is not taken.
    fn free_name(&mut self, text: &str) -> StrId {
        let name = self.r.cx().free_name(text, |name| !self.functions.contains_key(&name));
        self.r.cx().str_id(&name)
    }

    fn block_of(&self, function: OpId) -> Option<BlockId> {
        let m = self.m();
        m.regions_of(function).first().and_then(|&region| m.entry(region))
    }

    /// Appends a chain to the arguments, and inserts one in front of the last `n_behind` results.
    fn add_chain(&mut self, function: OpId, n_behind: usize) {
        let Some(block) = self.block_of(function) else { return };
        let (mut inputs, mut results) = signature_of(self.m(), function);
        inputs.push(CHAIN);
        results.insert(results.len().saturating_sub(n_behind), CHAIN);
        self.r.set_signature(function, &inputs, &results);
        self.r.add_arg(block, CHAIN);
        for list in [names::ARG_ATTRS, names::RES_ATTRS] {
            if let Some(attr) = self.m().attr(function, list)
                && let AttrKind::Array(dicts) = self.m().cx.attr(attr)
            {
                let mut dicts = dicts.to_vec();
                dicts.push(self.r.cx().dict_attr(&[]));
                let dicts = self.r.cx().array_attr(&dicts);
                self.r.set_attr(function, list, dicts);
            }
        }
    }

    /// Lowers the body of a function.
    fn function(&mut self, function: OpId) {
        let Some(block) = self.block_of(function) else { return };
        let private = self.m().is_private(function);
        let name = self.m().symbol_name(function);
        let has_effects = name.is_some_and(|name| self.effectful.contains(&name));
        let is_loop = name.is_some_and(|name| self.loops.contains(&name));
        let is_early = name.is_some_and(|name| self.started.contains(&name));
        let is_frame = frame(self.m(), function).is_some();
        // The call of a graph is strict: it begins when the effects before it are complete, but for a part's.
        let waits = has_effects && private && (!is_frame || is_part(self.m(), function)) || is_early;
        let mut chains = self.m().args(block).iter().rev().copied();
        let first = chains.nth(usize::from(is_early)).filter(|_| waits);
        let mut state = if is_frame { EffectState::unordered(first) } else { EffectState::after(first) };
        if is_frame {
            let name = self.r.cx().str_id(FRAME);
            self.r.remove_attr(function, name);
        }
        for op in body(self.m(), function) {
            if tf::op_of(self.m().op_name_str(op)).is_none() {
                if self.m().op_name_str(op) == dev::PARTS {
                    self.parts(op, &mut state);
                } else if self.m().op_name_str(op) == dev::FENCE {
                    self.fence(op, &mut state);
                } else if self.m().op_name_str(op) == While::NAME {
                    self.frame_loop(op, &mut state);
                } else if self.m().next_op(op).is_none() && has_effects {
                    self.returns(op, (private, first), &mut state);
                } else if self.m().next_op(op).is_none() && is_loop {
                    self.ends_iteration(op, (block, first), &state);
                }
                continue;
            }
            let control = tf::Control::of(self.m(), op);
            match (control, tf::operator(self.m(), op)) {
                (Some(tf::Control::If), _) => self.branch(op, &mut state),
                (Some(tf::Control::Case), _) => self.case(op, &mut state),
                (Some(tf::Control::While), _) => self.lower_while(op, function, &mut state),
                (Some(tf::Control::Call), _) => self.call(op, &mut state),
                (None, Some(Op::Const)) => self.constant(op),
                (None, Some(Op::NoOp)) => self.no_op(op),
                (None, Some(Op::PlaceholderWithDefault)) => self.default(op),
                (None, _) => self.ordered(op, &mut state),
            }
        }
    }

    /// One chain that is final when all `values` are; `None` for no values.
    fn join(&mut self, before: OpId, values: &[ValueId]) -> Option<ValueId> {
        match values {
            [] => None,
            [chain] if self.m().value_type(*chain) == CHAIN => Some(*chain),
            _ => {
                let merge = self.r.create_before(before, "tfrt.merge.chains", values, &[CHAIN], &[]);
                Some(self.m().result(merge, 0))
            }
        }
    }

    /// [`Lowering::join`], or a new chain for no values.
    fn chain(&mut self, before: OpId, values: &[ValueId]) -> ValueId {
        match self.join(before, values) {
            Some(chain) => chain,
            None => {
                let new = self.r.create_before(before, "tfrt.new.chain", &[], &[CHAIN], &[]);
                self.m().result(new, 0)
            }
        }
    }

    fn data(&self, op: OpId) -> Vec<ValueId> {
        self.m().operands(op).take(tf::n_data_operands(self.m(), op)).collect()
    }

    fn edges(&self, op: OpId) -> Vec<ValueId> {
        self.m().operands(op).skip(tf::n_data_operands(self.m(), op)).collect()
    }

    fn data_types(&self, op: OpId) -> Vec<TypeId> {
        let m = self.m();
        m.results(op).take(tf::n_data_results(m, op)).map(|value| m.value_type(value)).collect()
    }

    /// Replaces the results of an op, and its completion by a chain.
    fn replace(&mut self, op: OpId, called: Called) {
        let Called { mut results, chain } = called;
        let n = tf::n_data_results(self.m(), op);
        let completion = self.m().results(op).nth(n);
        if let Some(completion) = completion {
            let chain = match chain {
                Some(chain) => chain,
                None if self.m().is_unused(completion) => completion,
                None => self.chain(op, &results.clone()),
            };
            results.push(chain);
        }
        self.r.replace_op(op, &results);
    }

    /// Lowers a constant of strings, which has no payload, to `tf._Strings` with its strings.
    fn constant(&mut self, op: OpId) {
        let m = self.m();
        let value = m.attr(op, names::VALUE).map(|attr| m.cx.attr(attr));
        let Some(AttrKind::DenseStrings { ty, splat, strings }) = value else { return };
        let TypeKind::Tensor { shape: Some(dims), .. } = m.cx.ty(*ty) else { return };
        let (dims, ty) = (dims.to_vec(), *ty);
        let n = if *splat { n_elements(&dims).unwrap_or(i64::MAX) } else { 1 };
        let Some(strings) = usize::try_from(n).ok().filter(|&n| n <= MAX_STRINGS).map(|n| strings.repeat(n))
        else {
            let message = format!("a constant of {n} strings; {MAX_STRINGS} are the most");
            return self.cx.report(Diagnostic::error("E0511", message).at(m.op_spans.at(op).copied()));
        };
        let cx = self.r.cx();
        let dims: Vec<AttrId> = dims.into_iter().map(|dim| cx.int_attr(KnownType::I64.id(), dim)).collect();
        let (dims, strings) = (cx.array_attr(&dims), cx.array_attr(&strings));
        let made =
            self.r.create_before(op, "tf._Strings", &[], &[ty], &[("shape", dims), ("strings", strings)]);
        let mut value = self.m().result(made, 0);
        let edges = self.edges(op);
        if !edges.is_empty() {
            // It is dead where an edge is.
            let operands: Vec<ValueId> = std::iter::once(value).chain(edges).collect();
            let same = self.r.create_before(op, Op::Identity.op_name(), &operands, &[ty], &[]);
            value = self.m().result(same, 0);
        }
        let chain = if self.m().n_results(op) > 1 { Some(self.chain(op, &[value])) } else { None };
        self.replace(op, Called { results: vec![value], chain });
    }

    fn no_op(&mut self, op: OpId) {
        let operands: Vec<ValueId> = self.m().operands(op).collect();
        if self.m().n_results(op) == 0 {
            return self.r.erase(op);
        }
        let chain = self.chain(op, &operands);
        self.r.replace_op(op, &[chain]);
    }

    /// A placeholder with a default is its operand, with the placeholder's type.
    fn default(&mut self, op: OpId) {
        let (mut results, edges) = (self.data(op), self.edges(op));
        let types = self.data_types(op);
        if let ([value], [ty]) = (&mut results[..], &types[..])
            && self.m().value_type(*value) != *ty
        {
            let same = self.r.create_before(op, Op::Identity.op_name(), &[*value], &[*ty], &[]);
            *value = self.m().result(same, 0);
        }
        let waits: Vec<ValueId> = results.iter().copied().chain(edges).collect();
        let completion = self.m().n_results(op) > 1;
        let chain = if completion { Some(self.chain(op, &waits)) } else { None };
        self.replace(op, Called { results, chain });
    }

    /// Orders an op with a kernel among the effects.
    fn ordered(&mut self, op: OpId, state: &mut EffectState) {
        let Some(access) = state_access(self.m(), op) else { return };
        let resources = state.resources(self.m(), op);
        state.order(self.r, op, access, resources.as_deref());
    }

    /// The chains that all effects so far complete with, joined to at most one.
    fn join_effects(&mut self, before: OpId, state: &EffectState) -> Vec<ValueId> {
        let all = state.waits(Access::Write, None);
        if all.len() <= 1 {
            return all;
        }
        self.join(before, &all).into_iter().collect()
    }

    /// A chain that is final when these completions are, dead or not.
    fn join_dead(&mut self, before: OpId, completions: &[ValueId]) -> Option<ValueId> {
        if completions.is_empty() {
            return None;
        }
        let made = self.r.create_before(before, "tf._Join", completions, &[CHAIN], &[]);
        Some(self.m().result(made, 0))
    }

    /// Lowers the return of a function with effects.
    fn returns(&mut self, op: OpId, (private, first): (bool, Option<ValueId>), state: &mut EffectState) {
        let waits = match state.completions() {
            Some(completions) => {
                let all: Vec<ValueId> = first.into_iter().chain(completions.iter().copied()).collect();
                self.join_dead(op, &all).into_iter().collect()
            }
            None => self.join_effects(op, state),
        };
        let values: Vec<ValueId> = self.m().operands(op).collect();
        if private {
            let chain = self.chain(op, &waits);
            let values: Vec<ValueId> = values.into_iter().chain([chain]).collect();
            return self.r.set_operands(op, &values);
        }
        let Some(chain) = self.join(op, &waits) else { return };
        let mut guarded = Vec::new();
        for value in values {
            match Builder::before(self.r, op).one(Op::Identity, &[value, chain]) {
                Ok(guard) => guarded.push(guard),
                Err(refusal) => return self.cx.report(*refusal),
            }
        }
        self.r.set_operands(op, &guarded);
    }

    /// The function that an attribute of an op refers to.
    fn callee(&mut self, op: OpId, attr: &str) -> Option<StrId> {
        let attr = self.m().attr_named(op, attr)?;
        let AttrKind::Symbol { root, nested } = self.m().cx.attr(attr) else { return None };
        if nested.is_empty() && self.functions.contains_key(root) { Some(*root) } else { None }
    }

    fn no_function(&mut self, op: OpId, attr: &str) {
        let m = self.m();
        let message = format!("`{}`: attribute '{attr}' names no function", m.op_name_str(op));
        self.cx.report(Diagnostic::error("E0510", message).at(m.op_spans.at(op).copied()));
    }

    /// True if one of the callees has effects.
    fn have_effects(&self, callees: &[StrId]) -> bool {
        callees.iter().any(|name| self.effectful.contains(name))
    }

    /// The callees of one control flow op with equal signatures: if one has effects, the others are wrapped
    /// to take and return a chain.
    fn with_equal_signatures(&mut self, callees: &[StrId]) -> Vec<StrId> {
        if !self.have_effects(callees) {
            return callees.to_vec();
        }
        callees
            .iter()
            .map(|&callee| if self.effectful.contains(&callee) { callee } else { self.with_chain(callee) })
            .collect()
    }

    /// A function that calls `callee`, which has no effects, and returns its chain argument.
    fn with_chain(&mut self, callee: StrId) -> StrId {
        let function = self.functions[&callee];
        let text = self.m().cx.str(callee).to_owned();
        let name = self.free_name(&format!("{text}_chained"));
        let (inputs, results) = signature_of(self.m(), function);
        let loc = self.m().loc(function);
        let (chained, block, args) =
            self.new_function(name, function, loc, &[&inputs[..], &[CHAIN]].concat());
        let call = self.call_kernel(InsertionPoint::End(block), loc, callee, &args[..inputs.len()], &results);
        let mut values: Vec<ValueId> = self.m().results(call).collect();
        values.extend(args.last());
        self.r.finish_function(chained, loc, &values);
        name
    }

    /// A private function without ops after another.
    fn new_function(
        &mut self,
        name: StrId,
        behind: OpId,
        loc: LocId,
        inputs: &[TypeId],
    ) -> (OpId, BlockId, Vec<ValueId>) {
        let text = self.m().cx.str(name).to_owned();
        let (op, block) = self.r.private_function_of(InsertionPoint::After(behind), loc, &text, inputs);
        // The function of a part has the part's device, and so has what is made of it.
        if let Some(device) = self.m().attr(behind, names::DEVICE) {
            self.r.set_attr(op, names::DEVICE, device);
        }
        self.functions.insert(name, op);
        (op, block, self.m().args(block).to_vec())
    }

    /// Creates the call for a control flow op; `before` are the operands in front of the arguments.
    #[allow(clippy::too_many_arguments, reason = "what a call is made of")]
    fn invoke(
        &mut self,
        op: OpId,
        name: &str,
        before: &[ValueId],
        args: &[ValueId],
        attrs: &[(&str, AttrId)],
        results: &[TypeId],
        effects: Option<&mut EffectState>,
    ) -> Called {
        let mut operands: Vec<ValueId> = before.iter().chain(args).copied().collect();
        let mut types = results.to_vec();
        if let Some(state) = &effects {
            let mut waits = self.join_effects(op, state);
            waits.extend(self.edges(op));
            operands.push(self.chain(op, &waits));
            types.push(CHAIN);
        }
        let call = self.r.create_before(op, name, &operands, &types, attrs);
        let mut results: Vec<ValueId> = self.m().results(call).collect();
        let chain = effects.and_then(|state| {
            let chain = results.pop();
            state.barrier(chain);
            chain
        });
        Called { results, chain }
    }

    fn call(&mut self, op: OpId, state: &mut EffectState) {
        let Some(callee) = self.callee(op, "f") else { return self.no_function(op, "f") };
        let has_effects = self.effectful.contains(&callee);
        let mut args = self.data(op);
        if !has_effects {
            let edges = self.edges(op);
            args.extend(self.join(op, &edges));
        }
        let symbol = self.symbol(callee);
        let types = self.data_types(op);
        let called = self.invoke(
            op,
            Call::NAME,
            &[],
            &args,
            &[("callee", symbol)],
            &types,
            has_effects.then_some(state),
        );
        self.replace(op, called);
    }

    /// A scalar from a tensor, after the control edges of `op`.
    fn scalar(
        &mut self,
        op: OpId,
        name: &str,
        x: ValueId,
        ty: KnownType,
        attrs: &[(&str, AttrId)],
    ) -> ValueId {
        let edges = self.edges(op);
        let operands: Vec<ValueId> = std::iter::once(x).chain(self.join(op, &edges)).collect();
        let scalar = self.r.create_before(op, name, &operands, &[ty.id()], attrs);
        self.m().result(scalar, 0)
    }

    fn branch(&mut self, op: OpId, state: &mut EffectState) {
        let (Some(then), Some(otherwise)) = (self.callee(op, "then_branch"), self.callee(op, "else_branch"))
        else {
            return self.no_function(op, "then_branch' or 'else_branch");
        };
        let data = self.data(op);
        let Some((&cond, args)) = data.split_first() else { return };
        let callees = self.with_equal_signatures(&[then, otherwise]);
        let has_effects = self.have_effects(&[then, otherwise]);
        let symbols: Vec<AttrId> = callees.into_iter().map(|name| self.symbol(name)).collect();
        let predicate = self.scalar(op, tf::PREDICATE, cond, KnownType::I1, &[]);
        let types = self.data_types(op);
        let attrs = [("a_true_fn", symbols[0]), ("b_false_fn", symbols[1])];
        let called =
            self.invoke(op, Cond::NAME, &[predicate], args, &attrs, &types, has_effects.then_some(state));
        self.replace(op, called);
    }

    fn symbol(&mut self, name: StrId) -> AttrId {
        let text = self.m().cx.str(name).to_owned();
        self.r.cx().symbol_attr(&text)
    }

    fn case(&mut self, op: OpId, state: &mut EffectState) {
        let branches = self.m().attr_named(op, "branches").map(|attr| self.m().cx.attr(attr).clone());
        let Some(AttrKind::Array(items)) = branches else { return self.no_function(op, "branches") };
        let named = items.iter().map(|&item| match self.m().cx.attr(item) {
            AttrKind::Symbol { root, nested } if nested.is_empty() && self.functions.contains_key(root) => {
                Some(*root)
            }
            _ => None,
        });
        let Some(callees) = named.collect::<Option<Vec<StrId>>>().filter(|all| !all.is_empty()) else {
            return self.no_function(op, "branches");
        };
        let data = self.data(op);
        let Some((&index, args)) = data.split_first() else { return };
        let has_effects = self.have_effects(&callees);
        let n = callees.len() as i64;
        let symbols: Vec<AttrId> =
            self.with_equal_signatures(&callees).into_iter().map(|name| self.symbol(name)).collect();
        let (n, symbols) = (self.r.cx().int_attr(KnownType::I64.id(), n), self.r.cx().array_attr(&symbols));
        let number = self.scalar(op, tf::BRANCH_INDEX, index, KnownType::I32, &[("branches", n)]);
        let types = self.data_types(op);
        let attrs = [("branches", symbols)];
        let called =
            self.invoke(op, Case::NAME, &[number], args, &attrs, &types, has_effects.then_some(state));
        self.replace(op, called);
    }

    fn lower_while(&mut self, op: OpId, function: OpId, state: &mut EffectState) {
        let (Some(cond), Some(body)) = (self.callee(op, "cond"), self.callee(op, "body")) else {
            return self.no_function(op, "cond' or 'body");
        };
        self.n_loops += 1;
        let args = self.data(op);
        let types = self.data_types(op);
        let has_effects = self.have_effects(&[cond, body]);
        let step = self.step(op, function, cond, body, &types, has_effects);
        // The condition in front of the first iteration.
        let loc = self.m().loc(op);
        let mut chain = None;
        if has_effects {
            let mut waits = self.join_effects(op, state);
            waits.extend(self.edges(op));
            chain = Some(self.chain(op, &waits));
        }
        let (answer, chain) = self.call_condition(InsertionPoint::Before(op), loc, cond, &args, chain);
        let predicate = self.scalar(op, tf::PREDICATE, answer, KnownType::I1, &[]);
        let limit = self.m().attr_named(op, "parallel_iterations").and_then(|attr| self.m().cx.as_int(attr));
        let limit = self.r.cx().int_attr(KnownType::I64.id(), limit.filter(|&n| n > 0).unwrap_or(10));
        let symbol = self.symbol(step);
        let attrs = [("body_fn", symbol), ("parallel_iterations", limit)];
        let operands: Vec<ValueId> = std::iter::once(predicate).chain(args).chain(chain).collect();
        let mut all = types;
        all.extend(chain.map(|_| CHAIN));
        let new = self.r.create_before(op, While::NAME, &operands, &all, &attrs);
        let mut results: Vec<ValueId> = self.m().results(new).collect();
        let chain = if has_effects { results.pop() } else { None };
        if has_effects {
            state.barrier(chain);
        }
        self.replace(op, Called { results, chain });
    }

    /// Creates a `tfrt.call`.
    fn call_kernel(
        &mut self,
        at: InsertionPoint,
        loc: LocId,
        callee: StrId,
        args: &[ValueId],
        results: &[TypeId],
    ) -> OpId {
        let symbol = self.symbol(callee);
        self.r.create_named(at, loc, Call::NAME, args, results, &[("callee", symbol)])
    }

    /// Calls the condition; returns its result and the chain after its effects.
    fn call_condition(
        &mut self,
        at: InsertionPoint,
        loc: LocId,
        cond: StrId,
        args: &[ValueId],
        chain: Option<ValueId>,
    ) -> (ValueId, Option<ValueId>) {
        let has_effects = self.effectful.contains(&cond);
        let answer =
            self.m().signature(self.functions[&cond]).and_then(|(_, results)| results.first().copied());
        let answer = answer.unwrap_or_else(|| tf::tensor(self.r.cx(), None, KnownType::I1.id()));
        let (mut operands, mut types) = (args.to_vec(), vec![answer]);
        if has_effects {
            operands.extend(chain);
            types.push(CHAIN);
        }
        let call = self.call_kernel(at, loc, cond, &operands, &types);
        (self.m().result(call, 0), if has_effects { Some(self.m().result(call, 1)) } else { chain })
    }

    /// The function of one iteration: the body, then the condition.
    fn step(
        &mut self,
        op: OpId,
        function: OpId,
        cond: StrId,
        body: StrId,
        types: &[TypeId],
        has_effects: bool,
    ) -> StrId {
        let text = self.m().cx.str(body).to_owned();
        let name = self.free_name(&format!("{text}_step"));
        let loc = self.m().loc(op);
        let mut inputs = types.to_vec();
        inputs.extend(has_effects.then_some(CHAIN));
        let (step, block, args) = self.new_function(name, function, loc, &inputs);
        let mut chain = if has_effects { args.last().copied() } else { None };
        let mut operands = args[..types.len()].to_vec();
        let mut results = types.to_vec();
        let body_has_effects = self.effectful.contains(&body);
        if body_has_effects {
            operands.extend(chain);
            results.push(CHAIN);
        }
        let call = self.call_kernel(InsertionPoint::End(block), loc, body, &operands, &results);
        let mut values: Vec<ValueId> = self.m().results(call).collect();
        if body_has_effects {
            chain = values.pop();
        }
        let (answer, chain) = self.call_condition(InsertionPoint::End(block), loc, cond, &values, chain);
        let predicate = self.r.create_named(
            InsertionPoint::End(block),
            loc,
            tf::PREDICATE,
            &[answer],
            &[KnownType::I1.id()],
            &[],
        );
        let predicate = self.m().result(predicate, 0);
        let values: Vec<ValueId> = values.into_iter().chain(chain).chain([predicate]).collect();
        self.r.finish_function(step, loc, &values);
        name
    }
}
