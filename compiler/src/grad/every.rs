//! The attribute `bef.keep_every`: loops that keep their state every few iterations, and compute the
//! iterations in between again.
//!
//! ```text
//! while cond(x): x = body(x)
//!     │ keep_every = k
//!     ▼
//! while cond(x):                                   recompute = "all": only x is kept here
//!     i = 0
//!     while i < k and cond(x): x = body(x); i += 1
//! ```
//!
//! The backward loop has one iteration for each kept state: it runs up to k iterations forward, which keep
//! what they always do, and then backward. So the memory is that of n / k states and of k iterations, and
//! each iteration is computed twice.

use befrost_tensor::DType;
use befrost_tensor::tf::op::{Op, Type};
use rustc_hash::FxHashSet;

use super::engine::{Engine, Undifferentiable};
use super::errors;
use super::flow::Through;
use super::keep::is_repeatable;
use super::vjp::Emit;
use crate::dialects::tf::{self, KEEP_EVERY, RECOMPUTE};
use crate::graph::callees;
use crate::ir::{OpId, StrId, TypeId, ValueId};
use crate::rewrite::InsertionPoint;

impl Engine<'_, '_> {
    /// Differentiates a loop.
    pub(super) fn looped(
        &mut self,
        at: OpId,
        op: OpId,
        dys: &[Option<ValueId>],
        wants: &[bool],
    ) -> Result<Through, Undifferentiable> {
        let m = self.m();
        let Some(attr) = m.attr_named(op, KEEP_EVERY) else { return self.repeated(at, op, dys, wants) };
        let Some(every) = m.cx.as_int(attr).filter(|every| (1..=i64::from(i32::MAX)).contains(every)) else {
            let error = errors::keep_every(m, op);
            self.errors.push(error);
            return Err(Undifferentiable);
        };
        let renamed = self.nested(op, every)?;
        let outer = renamed.first().and_then(|&(_, new)| self.m().defining_op(new));
        let Some(outer) = outer else { return self.no_function(op) };
        let Through { dxs, replaced } = self.repeated(at, outer, dys, wants)?;
        let last = |new: ValueId| replaced.iter().find(|(old, _)| *old == new).map_or(new, |&(_, last)| last);
        let replaced = renamed.iter().map(|&(old, new)| (old, last(new))).collect();
        Ok(Through { dxs, replaced })
    }

    /// Replaces a loop by one whose iterations are up to `every` of the old ones. Returns the old results
    /// with the new ones.
    fn nested(&mut self, op: OpId, every: i64) -> Result<Vec<(ValueId, ValueId)>, Undifferentiable> {
        let functions = self.known(op)?;
        let [(cond, cond_name), (body, body_name)] = &functions[..] else { return self.no_function(op) };
        let element = tf::element(self.r.cx(), Type::Dense(DType::I32), false);
        let counter = tf::tensor(self.r.cx(), Some(&[]), element);

        // The inner loop counts in a further value.
        let some_cond = self.free_name(&format!("{cond_name}.some"));
        let (function, block, end) = self.copy(*cond, &some_cond)?;
        let count = self.r.add_arg(block, counter);
        let goes_on = self.m().operand(end, 0);
        let goes_on = self.emit(end, op, |g| {
            let (count, goes_on) = (g.val(count), g.val(goes_on));
            let is_true = if goes_on.dtype() == DType::I1 {
                goes_on
            } else {
                goes_on.bin(Op::NotEqual, goes_on.number(0.0))
            };
            count.bin(Op::Less, count.int(every)).bin(Op::LogicalAnd, is_true).id
        })?;
        self.returns(function, end, &[goes_on]);

        let some_body = self.free_name(&format!("{body_name}.some"));
        let (function, block, end) = self.copy(*body, &some_body)?;
        let inputs: Vec<TypeId> = self.m().args(block).iter().map(|&arg| self.m().value_type(arg)).collect();
        let count = self.r.add_arg(block, counter);
        let returned: Vec<ValueId> = self.m().operands(end).collect();
        let next = self.emit(end, op, |g| (g.val(count) + g.val(count).int(1)).id)?;
        self.returns(function, end, &[&returned[..], &[next]].concat());

        // The outer loop.
        let outer_body = self.free_name(&format!("{body_name}.every"));
        let m = self.m();
        let types = returned.iter().map(|&value| m.value_type(value)).chain([counter]);
        let types: Vec<TypeId> = types.collect();
        let limit = m.attr_named(op, "parallel_iterations");
        let name = m.op_name_str(op).to_owned();
        let (function, block, end) = self.new_function(&outer_body, *body, &inputs);
        let args = self.m().args(block).to_vec();
        let zero = self.emit(end, op, |g| g.constant(&|b| b.ints_of_shape(&[0], &[], DType::I32)))?;
        let (cond, body) = (self.symbol(&some_cond), self.symbol(&some_body));
        let attrs = [("body", body), ("cond", cond)].into_iter();
        let attrs: Vec<_> = attrs.chain(limit.map(|limit| ("parallel_iterations", limit))).collect();
        let operands = [&args[..], &[zero]].concat();
        let loc = self.m().loc(op);
        let made = self.r.create_named(InsertionPoint::Before(end), loc, &name, &operands, &types, &attrs);
        let results: Vec<ValueId> = self.m().results(made).take(args.len()).collect();
        self.returns(function, end, &results);

        let body = self.symbol(&outer_body);
        let (renamed, _) = self.extend(op, &[("body", body)], &[], &[]);
        if let Some(outer) = renamed.first().and_then(|&(_, new)| self.m().defining_op(new)) {
            let keep_every = self.r.cx().str_id(KEEP_EVERY);
            self.r.remove_attr(outer, keep_every);
            let (recompute, all) = (self.r.cx().str_id(RECOMPUTE), self.r.cx().str_attr("all"));
            self.r.set_attr(outer, recompute, all);
        }
        Ok(renamed)
    }

    /// True if the functions that an op calls, and those that these call, have no effects and give the same
    /// results each time.
    pub(super) fn calls_pure_functions(&self, op: OpId) -> bool {
        let m = self.m();
        let mut seen: FxHashSet<StrId> = FxHashSet::default();
        let mut todo = callees(m, op);
        while let Some(name) = todo.pop() {
            if !seen.insert(name) {
                continue;
            }
            let Some((block, end)) = self.functions.get(&name).and_then(|&function| self.body_of(function))
            else {
                return false;
            };
            for op in m.ops_in(block).filter(|&op| op != end) {
                if !is_repeatable(m, op) {
                    return false;
                }
                todo.extend(callees(m, op));
            }
        }
        true
    }
}
