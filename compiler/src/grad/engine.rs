//! Differentiation of one block.
//!
//! ```text
//! forwards:   active(value) = it is an x, or an op that is no constant makes it of active values
//! backwards:  op by op, last first: contributions to its results, summed ──rule──▶ those to its operands
//! ```
//!
//! An op whose results got no contribution, or none of whose operands is active, is passed over: so a rule
//! runs only where its gradient is needed, and only such an op without a rule is an error. A value that is a
//! stop value is cut from the op that makes it.

use befrost_tensor::DType;
use befrost_tensor::tf::op::{Gradient, Op, Type};
use rustc_hash::{FxHashMap, FxHashSet};

use super::errors;
use super::flow::CUSTOM;
use super::functions::Pairs;
use super::rules;
use super::val::Val;
use super::vjp::{Differentiation, Emit, Emitter, Grad, Slices, Vjp, dense, forward};
use crate::diag::Diagnostic;
use crate::dialects::tf;
use crate::ir::{LocId, LocKind, Module, OpId, StrId, TypeId, ValueId};
use crate::rewrite::Rewriter;

/// Differentiation failed; the reasons are in [`Engine::errors`].
#[derive(Debug)]
pub(super) struct Undifferentiable;

/// A request: ys with their gradients, xs and stop values, all of one block.
#[derive(Clone, Debug, Default)]
pub(super) struct Request {
    pub ys: Vec<ValueId>,
    pub dys: Vec<Option<ValueId>>,
    pub xs: Vec<ValueId>,
    pub stops: Vec<ValueId>,
}

/// The state of the differentiation of one request.
pub(super) struct Engine<'e, 'm> {
    pub r: &'e mut Rewriter<'m>,
    /// The request that is replaced, and the place of errors about it.
    pub request: OpId,
    /// The functions of the module, by name.
    pub functions: FxHashMap<StrId, OpId>,
    /// Names reserved for functions that are not created yet.
    pub taken: FxHashSet<StrId>,
    /// Differentiated functions.
    pub pairs: Pairs,
    /// The nesting depth of the function that is being differentiated.
    pub depth: usize,
    /// Number of ops copied so far, at most [`MAX_COPIED`](super::functions::MAX_COPIED).
    pub n_copied: usize,
    /// The functions that this pass created.
    pub made: Vec<OpId>,
    pub errors: Vec<Diagnostic>,
    /// Remarks on what was computed again on request.
    pub remarks: Vec<Diagnostic>,
    /// Ops without a gradient.
    without: Vec<OpId>,
}

/// True if values of this type have gradients.
pub(crate) fn is_differentiable(m: &Module, ty: TypeId) -> bool {
    match tf::type_of(&m.cx, ty) {
        Some((Type::Dense(dtype), _)) => matches!(
            dtype,
            DType::F16 | DType::BF16 | DType::F32 | DType::F64 | DType::Complex64 | DType::Complex128
        ),
        Some((Type::Resource | Type::Variant, _)) => true,
        Some((Type::String, _)) | None => false,
    }
}

impl<'e, 'm> Engine<'e, 'm> {
    pub(super) fn new(r: &'e mut Rewriter<'m>, request: OpId) -> Self {
        let functions = crate::graph::functions(r.ir());
        Engine {
            r,
            request,
            functions,
            taken: FxHashSet::default(),
            pairs: Pairs::default(),
            depth: 0,
            n_copied: 0,
            made: Vec::new(),
            errors: Vec::new(),
            remarks: Vec::new(),
            without: Vec::new(),
        }
    }

    pub(super) fn m(&self) -> &Module {
        self.r.ir()
    }

    /// All errors.
    pub(super) fn finish(mut self) -> Vec<Diagnostic> {
        if !self.without.is_empty() {
            let mut ops = self.without.clone();
            ops.sort_unstable();
            ops.dedup();
            let error = errors::no_gradient(self.m(), self.request, &ops);
            self.errors.insert(0, error);
        }
        self.errors
    }

    /// Creates ops in front of `at`, located as the gradient of the op `of`.
    pub(super) fn emit<R>(
        &mut self,
        at: OpId,
        of: OpId,
        act: impl FnOnce(&Emitter<'_, 'm>) -> R,
    ) -> Result<R, Undifferentiable> {
        let loc = self.gradient_loc(of);
        let emitter = Emitter::new(self.r, at, loc, of, self.request);
        let value = act(&emitter);
        emitter.finish().map_err(|refusal| {
            self.errors.push(*refusal);
            Undifferentiable
        })?;
        Ok(value)
    }

    /// The location of the gradient of an op.
    pub(super) fn gradient_loc(&mut self, of: OpId) -> LocId {
        let child = self.m().loc(of);
        let name = match &*self.m().cx.loc(child) {
            LocKind::Name { name, .. } => {
                let name = self.m().cx.str(*name);
                if name.starts_with("gradient of ") { name.to_owned() } else { format!("gradient of {name}") }
            }
            _ => "gradient of".to_owned(),
        };
        let child = match &*self.m().cx.loc(child) {
            LocKind::Name { child, .. } => *child,
            _ => child,
        };
        let name = self.r.cx().str_id(&name);
        self.r.cx().loc_id(LocKind::Name { name, child })
    }

    /// The gradients of a request with respect to its xs, created in front of the op `at`. `read` reads the
    /// request again after fused ops are expanded, which changes its values.
    pub(super) fn gradients(
        &mut self,
        at: OpId,
        read: impl Fn(&Module) -> Request,
    ) -> Result<Vec<Option<Grad>>, Undifferentiable> {
        while self.expand(at, &read(self.m()))? {}
        let request = read(self.m());
        let mut sweep = Sweep::new(self, at, &request)?;
        sweep.run()?;
        sweep.finish()
    }

    /// Replaces the fused ops between the xs and the ys by plain ops; returns whether there were any.
    fn expand(&mut self, at: OpId, request: &Request) -> Result<bool, Undifferentiable> {
        let active = self.active(at, request);
        let m = self.m();
        let needed = ancestors(m, at, &request.ys);
        let fused: Vec<(OpId, _)> = before(m, at)
            .into_iter()
            .filter(|op| needed.contains(op) && m.operands(*op).any(|value| active.contains(&value)))
            .filter_map(|op| match rules::of(tf::operator(m, op)?) {
                Some(Differentiation::Expands(expand)) => Some((op, expand)),
                _ => None,
            })
            .collect();
        for &(op, expand) in &fused {
            let (n_x, n_y) = (tf::n_data_operands(self.m(), op), tf::n_data_results(self.m(), op));
            let loc = self.m().loc(op);
            let emitter = Emitter::new(self.r, op, loc, op, self.request);
            let g = Vjp::new(emitter, op, vec![None; n_y], vec![true; n_x]);
            let results: Vec<ValueId> = expand(&g).into_iter().map(|value| value.id).collect();
            g.finish().map_err(|refusal| {
                self.errors.push(*refusal);
                Undifferentiable
            })?;
            if results.len() < n_y || tf::n_data_results(self.m(), op) != self.m().n_results(op) {
                self.without.push(op);
                return Err(Undifferentiable);
            }
            self.r.replace_op(op, &results[..n_y]);
        }
        Ok(!fused.is_empty())
    }

    /// The values that depend on the xs.
    fn active(&mut self, at: OpId, request: &Request) -> FxHashSet<ValueId> {
        let m = self.m();
        let xs = request.xs.iter().copied().filter(|&x| is_differentiable(m, m.value_type(x)));
        let mut active: FxHashSet<ValueId> = xs.collect();
        let stops: FxHashSet<ValueId> = request.stops.iter().copied().collect();
        for op in before(self.m(), at) {
            let n = tf::n_data_operands(self.m(), op);
            let given: Vec<bool> =
                self.m().operands(op).take(n).map(|value| active.contains(&value)).collect();
            if !given.contains(&true) {
                continue;
            }
            let results = self.active_results(op, &given);
            let found = self.m().results(op).zip(results).filter(|(value, is)| *is && !stops.contains(value));
            active.extend(found.map(|(value, _)| value).collect::<Vec<_>>());
        }
        active
    }

    /// Which results of an op depend on its active operands.
    pub(super) fn active_results(&mut self, op: OpId, given: &[bool]) -> Vec<bool> {
        let m = self.m();
        let n = tf::n_data_results(m, op);
        match m.def(op).and_then(|def| def.gradient) {
            Some(Gradient::Constant) => vec![false; n],
            Some(Gradient::Flow) => self.active_through(op, given),
            _ => {
                let passes = tf::is_passing(m, op) && n == given.len();
                m.results(op)
                    .take(n)
                    .enumerate()
                    .map(|(i, value)| is_differentiable(m, m.value_type(value)) && (!passes || given[i]))
                    .collect()
            }
        }
    }

    /// The sum of contributions to the gradient of a value, in front of an op.
    pub(super) fn sum(&mut self, at: OpId, of: ValueId, parts: &[Grad]) -> Result<Grad, Undifferentiable> {
        if let [one] = parts {
            return Ok(*one);
        }
        let owner = self.m().defining_op(of).unwrap_or(at);
        let ty = self.gradient_type(of);
        self.emit(at, owner, |g| {
            let slices: Vec<Slices> = parts
                .iter()
                .filter_map(|part| match part {
                    Grad::Slices(slices) => Some(*slices),
                    Grad::Dense(_) => None,
                })
                .collect();
            let tensors: Vec<Val<'_>> = parts
                .iter()
                .filter_map(|part| match part {
                    Grad::Dense(value) => Some(g.val(*value)),
                    Grad::Slices(_) => None,
                })
                .collect();
            let joined = (!slices.is_empty()).then(|| join(g, &slices));
            let Some(&first) = tensors.first() else {
                return Grad::Slices(joined.unwrap_or(slices[0]));
            };
            let total = match tensors.len() {
                1 => first,
                _ => {
                    let operands: Vec<ValueId> = tensors.iter().map(|value| value.id).collect();
                    let ty = if first.element() == Type::Variant { first.ty() } else { ty };
                    g.val(g.emit(Op::AddN, &operands, &[], Some(&[ty]), 1)[0])
                }
            };
            Grad::Dense(match joined {
                None => total.id,
                Some(rows) => {
                    let indices = g.val(rows.indices).expand(-1);
                    total.op(Op::TensorScatterAdd, &[total, indices, g.val(rows.values)], &[]).id
                }
            })
        })
    }

    /// A gradient as a tensor.
    pub(super) fn dense(&mut self, at: OpId, of: ValueId, grad: Grad) -> Result<ValueId, Undifferentiable> {
        match grad {
            Grad::Dense(value) => Ok(value),
            Grad::Slices(slices) => {
                let owner = self.m().defining_op(of).unwrap_or(at);
                let ty = self.gradient_type(of);
                self.emit(at, owner, |g| dense(g, slices, ty).id)
            }
        }
    }

    /// Zeros as the gradient of a value.
    pub(super) fn zeros(&mut self, at: OpId, of: ValueId) -> Result<ValueId, Undifferentiable> {
        let ty = self.gradient_type(of);
        self.zeros_of_type(at, of, ty)
    }

    /// Zeros of type `ty` as the gradient of a value.
    fn zeros_of_type(&mut self, at: OpId, of: ValueId, ty: TypeId) -> Result<ValueId, Undifferentiable> {
        self.emit(at, at, |g| {
            let of = g.val(of);
            if of.ty() == ty { of.zeros().id } else { of.shape().filled(ty, 0.0).id }
        })
    }

    /// Zeros as the gradient of a function's argument, given an operand of its call: what the handle of a
    /// variable stands for is not known where nothing reads it.
    pub(super) fn zeros_of_argument(
        &mut self,
        at: OpId,
        argument: ValueId,
        operand: ValueId,
    ) -> Result<ValueId, Undifferentiable> {
        let ty = self.gradient_type(if is_resource(self.m(), argument) { operand } else { argument });
        self.zeros_of_type(at, argument, ty)
    }

    /// The type of the gradient of a value: for a variable's handle that of its value.
    pub(super) fn gradient_type(&mut self, of: ValueId) -> TypeId {
        let ty = self.m().value_type(of);
        match tf::type_of(&self.m().cx, ty) {
            Some((Type::Resource, _)) => self.variable_type(of, &mut FxHashSet::default()).unwrap_or(ty),
            Some((element, true)) => {
                let element = tf::element(self.r.cx(), element, false);
                tf::tensor(self.r.cx(), None, element)
            }
            _ => ty,
        }
    }

    /// The type of a variable: as its handle declares it, else as its readers have it. Handles in `seen`
    /// were asked before.
    fn variable_type(&mut self, handle: ValueId, seen: &mut FxHashSet<ValueId>) -> Option<TypeId> {
        /// Maximum number of handles that are looked at, one in the call of another.
        const MAX_SEEN: usize = 1 << 10;
        if seen.len() == MAX_SEEN || !seen.insert(handle) {
            return None;
        }
        let m = self.m();
        if let Some(op) = m.defining_op(handle) {
            match tf::operator(m, op) {
                Some(Op::VarHandleOp) => {
                    let attr = m.attr_named(op, "dtype").and_then(|attr| m.cx.as_type(attr))?;
                    let signature = Op::VarHandleOp.row().signature();
                    let shape =
                        befrost_tensor::tf::op::Attrs::shape(&tf::attrs_of(m, op, signature), "shape");
                    let dims = shape.and_then(|shape| shape.dims());
                    return Some(tf::tensor(self.r.cx(), dims.as_deref(), attr));
                }
                Some(Op::Identity) => {
                    let from = m.operand(op, 0);
                    return self.variable_type(from, seen);
                }
                _ => {}
            }
        }
        let users: Vec<(OpId, usize)> = m.users(handle).collect();
        for (user, at) in users {
            let m = self.m();
            match tf::operator(m, user) {
                Some(Op::ReadVariableOp) => return Some(m.value_type(m.result(user, 0))),
                Some(Op::ResourceGather | Op::ResourceGatherNd) => {
                    let element = m.cx.element(m.value_type(m.result(user, 0)));
                    return Some(tf::tensor(self.r.cx(), None, element));
                }
                Some(Op::Identity) => {
                    let result = m.result(user, 0);
                    if let Some(ty) = self.variable_type(result, seen) {
                        return Some(ty);
                    }
                }
                _ => {
                    for (function, skipped) in self.callee_args(user) {
                        let m = self.m();
                        let entry = m.regions_of(function).first().and_then(|&region| m.entry(region));
                        let arg =
                            entry.and_then(|entry| m.args(entry).get(at.checked_sub(skipped)?).copied());
                        if let Some(ty) = arg.and_then(|arg| self.variable_type(arg, seen)) {
                            return Some(ty);
                        }
                    }
                }
            }
        }
        None
    }
}

/// True for the handle of a variable.
pub(super) fn is_resource(m: &Module, value: ValueId) -> bool {
    tf::type_of(&m.cx, m.value_type(value)).is_some_and(|(ty, _)| ty == Type::Resource)
}

/// The ops of a block in front of an op.
pub(super) fn before(m: &Module, at: OpId) -> Vec<OpId> {
    let Some(block) = m.parent_block(at) else { return Vec::new() };
    m.ops_in(block).take_while(|&op| op != at).collect()
}

/// The ops in front of `at` that values depend on.
fn ancestors(m: &Module, at: OpId, of: &[ValueId]) -> FxHashSet<OpId> {
    let block = m.parent_block(at);
    let mut found = FxHashSet::default();
    let mut todo: Vec<OpId> = of.iter().filter_map(|&value| m.defining_op(value)).collect();
    while let Some(op) = todo.pop() {
        if m.parent_block(op) == block && found.insert(op) {
            todo.extend(m.operands(op).filter_map(|value| m.defining_op(value)));
        }
    }
    found
}

/// Concatenated slices. There is at least one.
fn join(g: &Emitter<'_, '_>, all: &[Slices]) -> Slices {
    let [first, rest @ ..] = all else { unreachable!("there are slices") };
    if rest.is_empty() {
        return *first;
    }
    let narrow = all.iter().all(|slices| g.val(slices.indices).dtype() == DType::I32);
    let dtype = if narrow { DType::I32 } else { DType::I64 };
    let values: Vec<Val<'_>> = all.iter().map(|slices| g.val(slices.values)).collect();
    let indices: Vec<Val<'_>> = all.iter().map(|slices| g.val(slices.indices).cast(dtype)).collect();
    Slices { values: Val::concat(&values, 0).id, indices: Val::concat(&indices, 0).id, rows: first.rows }
}

/// The backward pass over a block.
struct Sweep<'s, 'e, 'm> {
    engine: &'s mut Engine<'e, 'm>,
    at: OpId,
    xs: Vec<ValueId>,
    stops: FxHashSet<ValueId>,
    active: FxHashSet<ValueId>,
    /// The contributions to the gradient of each value, last user first.
    parts: FxHashMap<ValueId, Vec<Grad>>,
    failed: bool,
}

impl<'s, 'e, 'm> Sweep<'s, 'e, 'm> {
    fn new(engine: &'s mut Engine<'e, 'm>, at: OpId, request: &Request) -> Result<Self, Undifferentiable> {
        let active = engine.active(at, request);
        let mut parts: FxHashMap<ValueId, Vec<Grad>> = FxHashMap::default();
        let Request { ys, dys, xs, stops } = request;
        for (i, &y) in ys.iter().enumerate().rev() {
            if !active.contains(&y) {
                continue;
            }
            let dy = match dys.get(i).copied() {
                Some(Some(dy)) => dy,
                Some(None) => continue,
                None => {
                    let owner = engine.m().defining_op(y).unwrap_or(at);
                    engine.emit(at, owner, |g| g.val(y).ones().id)?
                }
            };
            parts.entry(y).or_default().push(Grad::Dense(dy));
        }
        let stops = stops.iter().copied().collect();
        Ok(Sweep { engine, at, xs: xs.clone(), stops, active, parts, failed: false })
    }

    /// Visits the ops, last first. Goes on after a failure, so that all errors are found.
    fn run(&mut self) -> Result<(), Undifferentiable> {
        for op in before(self.engine.m(), self.at).into_iter().rev() {
            match self.op(op) {
                Ok(()) => {}
                Err(Undifferentiable) => self.failed = true,
            }
        }
        if self.failed { Err(Undifferentiable) } else { Ok(()) }
    }

    fn op(&mut self, op: OpId) -> Result<(), Undifferentiable> {
        let m = self.engine.m();
        let (n_x, n_y) = (tf::n_data_operands(m, op), tf::n_data_results(m, op));
        let operands: Vec<ValueId> = m.operands(op).take(n_x).collect();
        let wants: Vec<bool> = operands.iter().map(|value| self.active.contains(value)).collect();
        let results: Vec<ValueId> = m.results(op).take(n_y).collect();
        let gets = |value: &ValueId| self.parts.contains_key(value) && !self.stops.contains(value);
        if !wants.contains(&true) || !results.iter().any(gets) {
            return Ok(());
        }
        let gradient = m.def(op).and_then(|def| def.gradient);
        if let Some(Gradient::Constant) = gradient {
            return Ok(());
        }
        let mut dys = Vec::with_capacity(n_y);
        for &result in &results {
            dys.push(if self.stops.contains(&result) { None } else { self.total(result)? });
        }
        if let Some(custom) = self.engine.m().attr_named(op, CUSTOM) {
            let mut given = Vec::with_capacity(n_y);
            let n = n_y.saturating_sub(self.engine.n_captured(op));
            for (&result, dy) in results.iter().zip(dys).take(n) {
                given.push(match dy {
                    Some(dy) => self.engine.dense(self.at, result, dy)?,
                    None => self.engine.zeros(self.at, result)?,
                });
            }
            for (i, part) in self.engine.registered(self.at, op, custom, &given)? {
                if wants[i] {
                    self.parts.entry(operands[i]).or_default().push(Grad::Dense(part));
                }
            }
            return Ok(());
        }
        match gradient {
            Some(Gradient::Rule) => {
                let rule = match tf::operator(self.engine.m(), op).map(rules::of) {
                    Some(Some(Differentiation::Rule(rule))) => rule,
                    // An op that reads a variable by reference has no operator.
                    _ => forward,
                };
                let loc = self.engine.gradient_loc(op);
                let emitter = Emitter::new(self.engine.r, self.at, loc, op, self.engine.request);
                let g = Vjp::new(emitter, op, dys, wants);
                rule(&g);
                let found = g.finish().map_err(|refusal| {
                    self.engine.errors.push(*refusal);
                    Undifferentiable
                })?;
                for (i, part) in found {
                    self.parts.entry(operands[i]).or_default().push(part);
                }
                Ok(())
            }
            Some(Gradient::Flow) => {
                let mut given = Vec::with_capacity(n_y);
                for (&result, dy) in results.iter().zip(dys) {
                    given.push(match dy {
                        Some(dy) => Some(self.engine.dense(self.at, result, dy)?),
                        None => None,
                    });
                }
                let through = self.engine.through(self.at, op, &given, &wants)?;
                for (i, part) in through.dxs {
                    self.parts.entry(operands[i]).or_default().push(Grad::Dense(part));
                }
                for (old, new) in through.replaced {
                    self.rename(old, new);
                }
                Ok(())
            }
            Some(Gradient::Refuses) => {
                let error = errors::prevented(self.engine.m(), op);
                self.engine.errors.push(error);
                Err(Undifferentiable)
            }
            Some(Gradient::Constant) => Ok(()),
            Some(Gradient::Expands | Gradient::Missing) | None => {
                self.engine.refuse(op);
                Err(Undifferentiable)
            }
        }
    }

    /// The gradient of a value, the sum of its contributions.
    fn total(&mut self, value: ValueId) -> Result<Option<Grad>, Undifferentiable> {
        let Some(mut parts) = self.parts.remove(&value) else { return Ok(None) };
        parts.reverse();
        let total = self.engine.sum(self.at, value, &parts)?;
        self.parts.insert(value, vec![total]);
        Ok(Some(total))
    }

    /// Renames a result of a replaced op.
    fn rename(&mut self, old: ValueId, new: ValueId) {
        if let Some(parts) = self.parts.remove(&old) {
            self.parts.insert(new, parts);
        }
        if self.active.remove(&old) {
            self.active.insert(new);
        }
        self.xs.iter_mut().filter(|x| **x == old).for_each(|x| *x = new);
    }

    fn finish(mut self) -> Result<Vec<Option<Grad>>, Undifferentiable> {
        self.xs.clone().into_iter().map(|x| self.total(x)).collect()
    }
}

impl Engine<'_, '_> {
    /// Records an op without a gradient.
    fn refuse(&mut self, op: OpId) {
        let m = self.m();
        if m.op_name_str(op).starts_with("tf_executor.") {
            let error = errors::dataflow(m, op);
            self.errors.push(error);
        } else {
            self.without.push(op);
        }
    }
}
