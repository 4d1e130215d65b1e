//! Ops that call functions: calls, branches, loops.
//!
//! ```text
//! y = call @f(x)            y, kept = call @f.fwd(x)              dx = call @f.bwd(x, kept, dy)
//! y = If(p, x)              y, tape = If(p, x)                    dx = If(p, x, tape, dy)
//! y = While(x)              y, tapes = While(x, [])               _, dx = While(tapes, dy)
//! ```
//!
//! A branch hands over one value, its tape: an optional of the values that it keeps. A loop pushes one tape
//! per iteration on a list; the backward loop pops until the list is empty. A loop that keeps nothing counts
//! its iterations instead. Values that do not change in a loop are passed to the backward loop, not pushed.
//! The backward loop carries the gradients of the loop-carried values; for a value that does not change, the
//! carried gradient is the sum over the iterations.

use befrost_tensor::tf::op::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use super::engine::{Engine, Undifferentiable, is_differentiable, is_resource};
use super::errors;
use super::functions::{Bound, Draft, PairKey};
use super::keep::Kept;
use super::tape::Tape;
use crate::dialects::tf;
use crate::ir::{AttrId, AttrKind, BlockId, LocId, Module, NewOp, OpId, StrId, TypeId, ValueDef, ValueId};
use crate::rewrite::InsertionPoint;

/// The attribute of a function that names its gradient.
pub(crate) const CUSTOM: &str = "bef.gradient";

/// The attribute of an op with a gradient function: the number of its last operands and results that are
/// there for the function, which takes the operands.
pub(crate) const CAPTURED: &str = "bef.captured";

/// The attribute of an op with a gradient function that says which operands it gives gradients of; all but
/// captured ones if it is absent.
pub(crate) const GRADIENT_OPERANDS: &str = "bef.gradient_operands";

/// The outcome of the differentiation of an op.
pub(super) struct Through {
    /// The gradients of operands.
    pub dxs: Vec<(usize, ValueId)>,
    /// The results of the op, and those of the op in its place.
    pub replaced: Vec<(ValueId, ValueId)>,
}

/// The functions that an op's attribute names, one or several.
fn named(m: &Module, op: OpId, attr: &str) -> Vec<StrId> {
    let one = |attr: AttrId| match m.cx.attr(attr) {
        AttrKind::Symbol { root, nested } if nested.is_empty() => Some(*root),
        _ => None,
    };
    match m.attr_named(op, attr).map(|attr| (attr, m.cx.attr(attr))) {
        Some((_, AttrKind::Array(items))) => items.iter().filter_map(|&item| one(item)).collect(),
        Some((attr, _)) => one(attr).into_iter().collect(),
        None => Vec::new(),
    }
}

/// The functions of a control flow op.
fn named_functions(m: &Module, op: OpId) -> Vec<StrId> {
    let attrs: &[&str] = match tf::Control::of(m, op) {
        Some(tf::Control::Call) => &["f"],
        Some(tf::Control::If) => &["then_branch", "else_branch"],
        Some(tf::Control::Case) => &["branches"],
        Some(tf::Control::While) => &["cond", "body"],
        None => &[],
    };
    attrs.iter().flat_map(|attr| named(m, op, attr)).collect()
}

/// Functions visited by one activity analysis.
#[derive(Default)]
struct Callees {
    /// The functions that are being visited, outermost first.
    open: Vec<StrId>,
    /// The active results of each function, by its active arguments.
    known: FxHashMap<(StrId, Vec<bool>), Vec<bool>>,
}

/// The number of operands in front of the arguments of the functions.
fn n_selectors(m: &Module, op: OpId) -> usize {
    usize::from(matches!(tf::Control::of(m, op), Some(tf::Control::If | tf::Control::Case)))
}

impl Engine<'_, '_> {
    /// The functions that an op passes its operands to, and the number of operands in front of theirs.
    pub(super) fn callee_args(&self, op: OpId) -> Vec<(OpId, usize)> {
        let m = self.m();
        let skipped = n_selectors(m, op);
        named_functions(m, op).iter().filter_map(|name| Some((*self.functions.get(name)?, skipped))).collect()
    }

    /// Which results of a control flow op depend on its active operands.
    pub(super) fn active_through(&mut self, op: OpId, given: &[bool]) -> Vec<bool> {
        self.active_by(op, given, &mut Callees::default())
    }

    fn active_by(&mut self, op: OpId, given: &[bool], callees: &mut Callees) -> Vec<bool> {
        let n = tf::n_data_results(self.m(), op);
        let control = tf::Control::of(self.m(), op);
        let functions = named_functions(self.m(), op);
        let given = &given[n_selectors(self.m(), op).min(given.len())..];
        let mut active = vec![false; n];
        match (control, &functions[..]) {
            (Some(tf::Control::While), &[_, body]) => {
                let mut carried = given.to_vec();
                loop {
                    let next = self.active_in(body, &carried, callees);
                    let more: Vec<bool> =
                        carried.iter().enumerate().map(|(i, is)| *is || next.get(i) == Some(&true)).collect();
                    if more == carried {
                        return carried;
                    }
                    carried = more;
                }
            }
            _ => {
                for function in functions {
                    for (is, found) in active.iter_mut().zip(self.active_in(function, given, callees)) {
                        *is |= found;
                    }
                }
            }
        }
        active
    }

    /// Which results of a function depend on its active arguments. For a function that calls itself, or is
    /// nested too deep, all results that can have a gradient.
    fn active_in(&mut self, name: StrId, given: &[bool], callees: &mut Callees) -> Vec<bool> {
        const MAX_DEPTH: usize = 64;
        let Some((block, end)) = self.functions.get(&name).and_then(|&function| self.body_of(function))
        else {
            return Vec::new();
        };
        let m = self.m();
        let is_custom = self.functions.get(&name).is_some_and(|&f| m.attr_named(f, CUSTOM).is_some());
        if callees.open.contains(&name) || callees.open.len() == MAX_DEPTH || is_custom {
            let any = given.contains(&true);
            return m.operands(end).map(|value| any && is_differentiable(m, m.value_type(value))).collect();
        }
        let key = (name, given.to_vec());
        if let Some(known) = callees.known.get(&key) {
            return known.clone();
        }
        let args = m.args(block).iter().zip(given).filter(|(_, is)| **is).map(|(arg, _)| *arg);
        let mut active: FxHashSet<ValueId> = args.collect();
        let ops: Vec<OpId> = m.ops_in(block).filter(|&op| op != end).collect();
        callees.open.push(name);
        for op in ops {
            let m = self.m();
            let n = tf::n_data_operands(m, op);
            let given: Vec<bool> = m.operands(op).take(n).map(|value| active.contains(&value)).collect();
            if !given.contains(&true) {
                continue;
            }
            let is_flow = tf::Control::of(m, op).is_some();
            let results =
                if is_flow { self.active_by(op, &given, callees) } else { self.active_results(op, &given) };
            let m = self.m();
            active.extend(m.results(op).zip(results).filter(|(_, is)| *is).map(|(value, _)| value));
        }
        callees.open.pop();
        let results: Vec<bool> = self.m().operands(end).map(|value| active.contains(&value)).collect();
        callees.known.insert(key, results.clone());
        results
    }

    /// Differentiates a control flow op.
    pub(super) fn through(
        &mut self,
        at: OpId,
        op: OpId,
        dys: &[Option<ValueId>],
        wants: &[bool],
    ) -> Result<Through, Undifferentiable> {
        match tf::Control::of(self.m(), op) {
            Some(tf::Control::Call) => self.call(at, op, dys, wants),
            Some(tf::Control::If | tf::Control::Case) => self.branches(at, op, dys, wants),
            Some(tf::Control::While) => self.looped(at, op, dys, wants),
            None => {
                let error = errors::not_prepared(self.m(), op);
                self.errors.push(error);
                Err(Undifferentiable)
            }
        }
    }

    fn operands(&self, op: OpId) -> Vec<ValueId> {
        let m = self.m();
        m.operands(op).take(tf::n_data_operands(m, op)).collect()
    }

    /// Replaces an op by one with other functions and with more operands and results. Returns the replaced
    /// results, and the additional ones.
    pub(super) fn extend(
        &mut self,
        op: OpId,
        functions: &[(&str, AttrId)],
        operands: &[ValueId],
        results: &[TypeId],
    ) -> (Vec<(ValueId, ValueId)>, Vec<ValueId>) {
        let m = self.m();
        let (n_x, n_y) = (tf::n_data_operands(m, op), tf::n_data_results(m, op));
        let all: Vec<ValueId> = m.operands(op).collect();
        let types: Vec<TypeId> = m.results(op).map(|value| m.value_type(value)).collect();
        let operands = [&all[..n_x], operands, &all[n_x..]].concat();
        let types = [&types[..n_y], results, &types[n_y..]].concat();
        let (name, loc) = (m.op_name(op), m.loc(op));
        let old = m.attrs(op).to_vec();
        let mut attrs = Vec::new();
        for (key, attr) in old {
            let text = self.m().cx.str(key);
            let changed = functions.iter().find(|(changed, _)| *changed == text);
            // `output_shapes` lists the shapes of the old results only.
            if text != "output_shapes" {
                attrs.push((key, changed.map_or(attr, |&(_, attr)| attr)));
            }
        }
        let new = NewOp { loc, operands: &operands, results: &types, attrs: &attrs, ..NewOp::new(name) };
        let made = self.r.create(InsertionPoint::Before(op), new);
        let m = self.m();
        let new: Vec<ValueId> = m.results(made).collect();
        let old: Vec<ValueId> = m.results(op).collect();
        let more = new[n_y..n_y + results.len()].to_vec();
        let kept = [&new[..n_y], &new[n_y + results.len()..]].concat();
        self.r.replace_op(op, &kept);
        (old.into_iter().zip(kept).collect(), more)
    }

    /// Creates a control flow op of the same operator in front of `at`.
    fn backward_op(
        &mut self,
        at: OpId,
        name: &str,
        loc: LocId,
        functions: &[(&str, AttrId)],
        operands: &[ValueId],
        results: &[TypeId],
    ) -> Vec<ValueId> {
        let made = self.r.create_named(InsertionPoint::Before(at), loc, name, operands, results, functions);
        self.m().results(made).collect()
    }

    pub(super) fn symbol(&mut self, name: &str) -> AttrId {
        self.r.cx().symbol_attr(name)
    }

    fn call(
        &mut self,
        at: OpId,
        op: OpId,
        dys: &[Option<ValueId>],
        wants: &[bool],
    ) -> Result<Through, Undifferentiable> {
        let &[function] = &named_functions(self.m(), op)[..] else { return self.no_function(op) };
        let operands = self.operands(op);
        let m = self.m();
        let custom = self.functions.get(&function).and_then(|&f| m.attr_named(f, CUSTOM));
        if let Some(custom) = custom {
            return self.custom(at, op, custom, dys, wants);
        }
        let Some(&callee) = self.functions.get(&function) else { return self.no_function(op) };
        let recompute = self.recompute(op, callee)?;
        let dys_given = dys.iter().map(Option::is_some).collect();
        let key = PairKey { function, dys: dys_given, wants: wants.to_vec(), recompute };
        let pair = self.pair(&key)?;
        let (name, loc) = (self.m().op_name_str(op).to_owned(), self.gradient_loc(op));
        let (fwd, bwd) = (self.symbol(&pair.fwd), self.symbol(&pair.bwd));
        let (replaced, kept) = self.extend(op, &[("f", fwd)], &[], &pair.kept);
        let args = pair.args.iter().map(|&i| operands[i]);
        let given: Vec<ValueId> = args.chain(kept).chain(dys.iter().flatten().copied()).collect();
        let which: Vec<usize> = (0..operands.len()).filter(|&i| pair.grads[i].is_some()).collect();
        let types: Vec<TypeId> = pair.grads.iter().flatten().copied().collect();
        if which.is_empty() {
            return Ok(Through { dxs: Vec::new(), replaced });
        }
        let found = self.backward_op(at, &name, loc, &[("f", bwd)], &given, &types);
        Ok(Through { dxs: which.into_iter().zip(found).collect(), replaced })
    }

    /// The gradient of a call whose function has a gradient function: from the arguments, the results and the
    /// gradients of the results to the gradients of the arguments.
    fn custom(
        &mut self,
        at: OpId,
        op: OpId,
        custom: AttrId,
        dys: &[Option<ValueId>],
        wants: &[bool],
    ) -> Result<Through, Undifferentiable> {
        let (name, block, end) = self.gradient_function(op, custom)?;
        let operands = self.operands(op);
        let m = self.m();
        let results: Vec<ValueId> = m.results(op).take(dys.len()).collect();
        let (n_in, n_out) = (m.args(block).len(), m.n_operands(end));
        let (want_in, want_out) = (operands.len() + 2 * results.len(), operands.len());
        // A GraphDef's gradient functions do not take the results.
        let without_results = operands.len() + results.len();
        let takes_results = n_in != without_results;
        if !(n_in == want_in || n_in == without_results) || n_out != want_out {
            let why = format!(
                "it has {n_in} arguments and {n_out} results, expected {want_in} (arguments, results, their \
                 gradients) and {want_out}"
            );
            return self.refuse_custom(op, &name, &why);
        }
        let types: Vec<TypeId> = m.operands(end).map(|value| m.value_type(value)).collect();
        let mut given = operands.clone();
        if takes_results {
            given.extend(&results);
        }
        for (&result, dy) in results.iter().zip(dys) {
            given.push(match dy {
                Some(dy) => *dy,
                None => self.zeros(at, result)?,
            });
        }
        for (i, (&value, &arg)) in given.iter().zip(self.m().args(block).to_vec().iter()).enumerate() {
            let m = self.m();
            let element = |value: ValueId| m.cx.element(m.value_type(value));
            if element(value) != element(arg) {
                let why = format!("argument #{i} has elements of another type");
                return self.refuse_custom(op, &name, &why);
            }
        }
        for (i, &ty) in types.iter().enumerate().filter(|(i, _)| wants[*i]) {
            let expected = self.gradient_type(operands[i]);
            if self.m().cx.element(ty) != self.m().cx.element(expected) {
                let why = format!("result #{i} has elements of another type");
                return self.refuse_custom(op, &name, &why);
            }
        }
        let (op_name, loc) = (self.m().op_name_str(op).to_owned(), self.gradient_loc(op));
        let symbol = self.symbol(&name);
        let found = self.backward_op(at, &op_name, loc, &[("f", symbol)], &given, &types);
        let dxs = found.into_iter().enumerate().filter(|(i, _)| wants[*i]).collect();
        Ok(Through { dxs, replaced: Vec::new() })
    }

    /// The function that computes the gradients of an op: its name, block and return.
    fn gradient_function(
        &mut self,
        op: OpId,
        custom: AttrId,
    ) -> Result<(String, BlockId, OpId), Undifferentiable> {
        let AttrKind::Symbol { root, .. } = *self.m().cx.attr(custom) else {
            return self.refuse_custom(op, "?", "the attribute names no function");
        };
        let name = self.text(root);
        match self.functions.get(&root).and_then(|&function| self.body_of(function)) {
            Some((block, end)) => Ok((name, block, end)),
            None => self.refuse_custom(op, &name, "there is no such function"),
        }
    }

    /// The number of operands and results of an op that are there for its gradient function.
    pub(super) fn n_captured(&self, op: OpId) -> usize {
        let n = self.m().attr_named(op, CAPTURED).and_then(|attr| self.m().cx.as_int(attr));
        n.and_then(|n| usize::try_from(n).ok()).unwrap_or(0)
    }

    /// The gradients of an op's operands, from a function of the gradients of its results and of what it
    /// captures.
    pub(super) fn registered(
        &mut self,
        at: OpId,
        op: OpId,
        custom: AttrId,
        dys: &[ValueId],
    ) -> Result<Vec<(usize, ValueId)>, Undifferentiable> {
        let (name, block, end) = self.gradient_function(op, custom)?;
        let m = self.m();
        let (n_in, n_out) = (m.args(block).len(), m.n_operands(end));
        let n_operands = tf::n_data_operands(m, op);
        let n = n_operands.saturating_sub(self.n_captured(op));
        let gives: Vec<usize> = match m.attr_named(op, GRADIENT_OPERANDS).map(|attr| m.cx.attr(attr)) {
            Some(AttrKind::Array(items)) => {
                let numbers = items.iter().filter_map(|&item| usize::try_from(m.cx.as_int(item)?).ok());
                numbers.filter(|&i| i < n).collect()
            }
            _ => (0..n).collect(),
        };
        let captured = m.operands(op).take(n_operands).skip(n);
        let given: Vec<ValueId> = dys.iter().copied().chain(captured).collect();
        if n_in != given.len() || n_out != gives.len() {
            let why = format!(
                "it has {n_in} arguments and {n_out} results, expected {} (the gradients of the results, and \
                 what it captures) and {}",
                given.len(),
                gives.len()
            );
            return self.refuse_custom(op, &name, &why);
        }
        let types: Vec<TypeId> = m.operands(end).map(|value| m.value_type(value)).collect();
        for (&i, &ty) in gives.iter().zip(&types) {
            let operand = self.m().operand(op, i);
            let expected = self.gradient_type(operand);
            if self.m().cx.element(ty) != self.m().cx.element(expected) {
                let why = format!("the gradient of operand #{i} has elements of another type");
                return self.refuse_custom(op, &name, &why);
            }
        }
        let (loc, symbol) = (self.gradient_loc(op), self.symbol(&name));
        let call = Op::StatefulPartitionedCall.op_name();
        let found = self.backward_op(at, call, loc, &[("f", symbol)], &given, &types);
        Ok(gives.into_iter().zip(found).collect())
    }

    pub(super) fn no_function<T>(&mut self, op: OpId) -> Result<T, Undifferentiable> {
        let error = errors::no_functions(self.m(), op);
        self.errors.push(error);
        Err(Undifferentiable)
    }

    /// The functions of a control flow op, if they all exist.
    pub(super) fn known(&mut self, op: OpId) -> Result<Vec<(OpId, String)>, Undifferentiable> {
        let found: Option<Vec<(OpId, String)>> = named_functions(self.m(), op)
            .iter()
            .map(|name| Some((*self.functions.get(name)?, self.text(*name))))
            .collect();
        match found {
            Some(found) if !found.is_empty() => Ok(found),
            _ => self.no_function(op),
        }
    }

    fn branches(
        &mut self,
        at: OpId,
        op: OpId,
        dys: &[Option<ValueId>],
        wants: &[bool],
    ) -> Result<Through, Undifferentiable> {
        let functions = self.known(op)?;
        let operands = self.operands(op);
        let (selector, args) = (operands[0], &operands[1..]);
        let (mask, wants): (Vec<bool>, &[bool]) = (dys.iter().map(Option::is_some).collect(), &wants[1..]);
        let mut drafts: Vec<Draft> = Vec::new();
        for (function, name) in &functions {
            let name = self.free_name(&format!("{name}.fwd"));
            drafts.push(self.draft(*function, &name, &mask, wants)?);
        }
        // A gradient that one branch has is zero in the others.
        let grads: Vec<usize> =
            (0..args.len()).filter(|&i| drafts.iter().any(|draft| draft.grads[i].is_some())).collect();
        for draft in &mut drafts {
            for &i in &grads {
                if draft.grads[i].is_none() {
                    let arg = draft.args(self.m())[i];
                    draft.grads[i] = Some(self.zeros_of_argument(draft.end, arg, args[i])?);
                }
            }
        }
        let mut kept: Vec<Kept> = Vec::with_capacity(drafts.len());
        for (draft, &(function, _)) in drafts.iter().zip(&functions) {
            let recompute = self.recompute(op, function)?;
            kept.push(self.choose(draft, function, |_| true, recompute));
        }
        let position = |engine: &Self, draft: &Draft, value: ValueId| {
            draft.args(engine.m()).iter().position(|&arg| arg == value)
        };
        let mut used: Vec<usize> = drafts
            .iter()
            .zip(&kept)
            .flat_map(|(draft, kept)| kept.free.iter().filter_map(|&value| position(self, draft, value)))
            .collect();
        used.sort_unstable();
        used.dedup();
        let has_tape = kept.iter().any(|kept| !kept.values.is_empty());
        let variant = self.variant();
        let (mut fwd, mut bwd) = (Vec::new(), Vec::new());
        for ((draft, kept), (_, name)) in drafts.iter().zip(&kept).zip(&functions) {
            let bwd_name = self.free_name(&format!("{name}.bwd"));
            let m = self.m();
            let args = draft.args(m).to_vec();
            let mut inputs: Vec<TypeId> = used.iter().map(|&i| m.value_type(args[i])).collect();
            inputs.extend(has_tape.then_some(variant));
            inputs.extend(draft.dy_types(m));
            let types: Vec<TypeId> = kept.values.iter().map(|&value| m.value_type(value)).collect();
            self.split(draft, &bwd_name, &inputs, &kept.again, &grads, |engine, end, given| {
                let mut bound: Bound = used.iter().map(|&i| args[i]).zip(given.iter().copied()).collect();
                let mut given = &given[used.len()..];
                if let ([tape, rest @ ..], true) = (given, has_tape) {
                    let values = engine.unpack(end, *tape, &types)?;
                    bound.extend(kept.values.iter().copied().zip(values));
                    given = rest;
                }
                bound.extend(draft.dys.iter().map(|&(_, dy)| dy).zip(given.iter().copied()));
                Ok((bound, Vec::new()))
            })?;
            if has_tape {
                let tape = self.pack(draft.end, &kept.values)?;
                let results: Vec<ValueId> = self.m().operands(draft.end).chain([tape]).collect();
                self.returns(draft.function, draft.end, &results);
            }
            let fwd_name =
                self.m().symbol_name(draft.function).map(|name| self.text(name)).unwrap_or_default();
            fwd.push(self.symbol(&fwd_name));
            bwd.push(self.symbol(&bwd_name));
        }
        let (name, loc) = (self.m().op_name_str(op).to_owned(), self.gradient_loc(op));
        let is_if = tf::Control::of(self.m(), op) == Some(tf::Control::If);
        let attrs = |engine: &mut Self, all: &[AttrId]| match all {
            &[then, otherwise] if is_if => vec![("then_branch", then), ("else_branch", otherwise)],
            all => vec![("branches", engine.r.cx().array_attr(all))],
        };
        let (fwd, bwd) = (attrs(self, &fwd), attrs(self, &bwd));
        let more = if has_tape { vec![variant] } else { Vec::new() };
        let mut types = Vec::with_capacity(grads.len());
        for &i in &grads {
            types.push(self.gradient_type(args[i]));
        }
        let (replaced, tape) = self.extend(op, &fwd, &[], &more);
        let mut given = vec![selector];
        given.extend(used.iter().map(|&i| args[i]));
        given.extend(tape);
        given.extend(dys.iter().flatten());
        let found = if grads.is_empty() {
            Vec::new()
        } else {
            self.backward_op(at, &name, loc, &bwd, &given, &types)
        };
        Ok(Through { dxs: grads.into_iter().map(|i| i + 1).zip(found).collect(), replaced })
    }

    /// True if a value is an argument, or a result of a loop in whose iterations the argument does not
    /// change.
    fn is_unchanged(&self, mut value: ValueId, arg: ValueId) -> bool {
        let m = self.m();
        while value != arg {
            let ValueDef::Result(op, i) = m.value_def(value) else { return false };
            let i = i as usize;
            let body = named(m, op, "body").first().and_then(|name| self.body_of(*self.functions.get(name)?));
            let Some((block, end)) = body.filter(|_| tf::Control::of(m, op) == Some(tf::Control::While))
            else {
                return false;
            };
            if i >= m.n_operands(end) || m.args(block).get(i) != Some(&m.operand(end, i)) {
                return false;
            }
            value = m.operand(op, i);
        }
        true
    }

    /// Differentiates a loop that keeps what each iteration needs.
    pub(super) fn repeated(
        &mut self,
        at: OpId,
        op: OpId,
        dys: &[Option<ValueId>],
        wants: &[bool],
    ) -> Result<Through, Undifferentiable> {
        let functions = self.known(op)?;
        let [(cond, cond_name), (body, body_name)] = &functions[..] else { return self.no_function(op) };
        let operands = self.operands(op);
        let n = operands.len();
        let active = self.active_through(op, wants);
        // The values whose gradients the backward loop carries: those that have one, and those that get one
        // in an iteration.
        let mut carries: Vec<bool> = (0..n).map(|i| dys[i].is_some() && active[i]).collect();
        let fwd_name = self.free_name(&format!("{body_name}.fwd"));
        let draft = loop {
            let draft = self.draft(*body, &fwd_name, &carries, &active)?;
            let more: Vec<bool> = (0..n).map(|i| carries[i] || draft.grads[i].is_some()).collect();
            if more == carries {
                break draft;
            }
            carries = more;
            self.discard(&draft);
        };
        let mut draft = draft;
        let which: Vec<usize> = (0..n).filter(|&i| carries[i]).collect();
        for &i in &which {
            if draft.grads[i].is_none() {
                let arg = draft.args(self.m())[i];
                draft.grads[i] = Some(self.zeros_of_argument(draft.end, arg, operands[i])?);
            }
        }
        let m = self.m();
        let args = draft.args(m).to_vec();
        let returned: Vec<ValueId> = m.operands(draft.end).collect();
        let (body, recompute) = (*body, self.recompute(op, *body)?);
        let unchanged: Vec<bool> =
            (0..n).map(|i| returned.get(i).is_some_and(|&value| self.is_unchanged(value, args[i]))).collect();
        let kept = self.choose(&draft, body, |i| unchanged[i], recompute);
        let fixed: Vec<usize> =
            kept.free.iter().filter_map(|value| args.iter().position(|arg| arg == value)).collect();
        let m = self.m();
        let types: Vec<TypeId> = kept.values.iter().map(|&value| m.value_type(value)).collect();
        let tape = Tape::of(self, &types);
        let tape_type = tape.ty(self);

        // The backward functions.
        let bwd_name = self.free_name(&format!("{body_name}.bwd"));
        let m = self.m();
        let mut inputs = vec![tape_type];
        inputs.extend(fixed.iter().map(|&i| m.value_type(args[i])));
        inputs.extend(draft.dy_types(m));
        let cond_bwd = self.free_name(&format!("{cond_name}.bwd"));
        let (cond_function, _, end) = self.new_function(&cond_bwd, *cond, &inputs);
        let is_left = tape.is_left(self, end)?;
        self.returns(cond_function, end, &[is_left]);
        self.split(&draft, &bwd_name, &inputs, &kept.again, &which, |engine, end, given| {
            let (left, values) = tape.pop(engine, end, given[0], &types)?;
            let mut bound: Bound = kept.values.iter().copied().zip(values).collect();
            let (unchanged, dys) = given[1..].split_at(fixed.len());
            bound.extend(fixed.iter().map(|&i| args[i]).zip(unchanged.iter().copied()));
            bound.extend(draft.dys.iter().map(|&(_, dy)| dy).zip(dys.iter().copied()));
            let results = std::iter::once(left).chain(unchanged.iter().copied()).collect();
            Ok((bound, results))
        })?;

        // The forward functions.
        let list = self.r.add_arg(draft.block, tape_type);
        let pushed = tape.push(self, draft.end, list, &kept.values)?;
        let results: Vec<ValueId> = self.m().operands(draft.end).chain([pushed]).collect();
        self.returns(draft.function, draft.end, &results);
        let cond_fwd = self.free_name(&format!("{cond_name}.fwd"));
        let (cond_function, block, end) = self.copy(*cond, &cond_fwd)?;
        self.r.add_arg(block, tape_type);
        let results: Vec<ValueId> = self.m().operands(end).collect();
        self.returns(cond_function, end, &results);

        // The loops.
        let (name, loc) = (self.m().op_name_str(op).to_owned(), self.gradient_loc(op));
        let limit = self.m().attr_named(op, "parallel_iterations");
        let mut carried_types = Vec::with_capacity(which.len());
        for &i in &which {
            carried_types.push(self.gradient_type(operands[i]));
        }
        let empty = tape.empty(self, op)?;
        let (cond_fwd, body_fwd) = (self.symbol(&cond_fwd), self.symbol(&fwd_name));
        let (replaced, list) =
            self.extend(op, &[("cond", cond_fwd), ("body", body_fwd)], &[empty], &[tape_type]);
        let mut given = list;
        given.extend(fixed.iter().map(|&i| operands[i]));
        for (k, &i) in which.iter().enumerate() {
            let dy = match dys[i] {
                Some(dy) => dy,
                None => {
                    let result = replaced[i].1;
                    let of = if is_resource(self.m(), result) { operands[i] } else { result };
                    self.zeros(at, of)?
                }
            };
            // The gradient of what a loop returns has the type of all iterations.
            if !is_resource(self.m(), operands[i]) {
                carried_types[k] = self.m().value_type(replaced[i].1);
            }
            given.push(dy);
        }
        let mut results = vec![tape_type];
        results.extend(fixed.iter().map(|&i| self.m().value_type(operands[i])));
        results.extend(&carried_types);
        let (cond_bwd, body_bwd) = (self.symbol(&cond_bwd), self.symbol(&bwd_name));
        let mut attrs = vec![("body", body_bwd), ("cond", cond_bwd)];
        attrs.extend(limit.map(|limit| ("parallel_iterations", limit)));
        let found = self.backward_op(at, &name, loc, &attrs, &given, &results);
        let grads = found.into_iter().skip(1 + fixed.len());
        let dxs = which.into_iter().zip(grads).filter(|(i, _)| wants[*i]).collect();
        Ok(Through { dxs, replaced })
    }
}
