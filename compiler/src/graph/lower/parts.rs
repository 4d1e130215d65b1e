//! The lowering of a divided program: `dev.parts` calls the functions of all parts with one step, `dev.fence`
//! orders the effects of a part among those of others.

use super::{CHAIN, Lowering};
use crate::dialects::{Access, dev};
use crate::graph::effects::EffectState;
use crate::ir::{AttrId, AttrKind, KnownType, Module, OpId, TypeId, ValueId};
use crate::rewrite::InsertionPoint;

impl Lowering<'_, '_, '_> {
    /// Calls the parts of a program, all at once: they wait for each other.
    pub(super) fn parts(&mut self, op: OpId, state: &mut EffectState) {
        let list = |m: &Module, name: &str| match m.attr_named(op, name).map(|attr| m.cx.attr(attr)) {
            Some(AttrKind::Array(items)) => items.to_vec(),
            _ => Vec::new(),
        };
        let m = self.m();
        let (parts, takes, gives) = (list(m, "parts"), list(m, "takes"), list(m, "gives"));
        let numbers = |m: &Module, attr: AttrId| match m.cx.attr(attr) {
            AttrKind::Array(items) => items.iter().filter_map(|&item| m.cx.as_int(item)).collect(),
            _ => Vec::<i64>::new(),
        };
        let args: Vec<ValueId> = m.operands(op).collect();
        let types: Vec<TypeId> = m.results(op).map(|value| m.value_type(value)).collect();
        let mut results: Vec<Option<ValueId>> = vec![None; types.len()];
        let step = self.r.create_before(op, dev::STEP, &[], &[KnownType::Step.id()], &[]);
        let step = self.m().result(step, 0);
        let (waits, mut chains) = (self.join_effects(op, state), Vec::new());
        for (i, part) in parts.into_iter().enumerate() {
            let m = self.m();
            let AttrKind::Symbol { root: callee, .. } = *m.cx.attr(part) else {
                return self.no_function(op, "parts");
            };
            let all = |of: &[AttrId], n: usize| -> Vec<usize> {
                let own = of.get(i).map(|&attr| numbers(m, attr)).unwrap_or_default();
                own.into_iter().filter_map(|i| usize::try_from(i).ok()).filter(|&i| i < n).collect()
            };
            let (taken, given) = (all(&takes, args.len()), all(&gives, types.len()));
            let mut operands: Vec<ValueId> = taken.iter().map(|&i| args[i]).collect();
            operands.push(step);
            let mut made: Vec<TypeId> = given.iter().map(|&i| types[i]).collect();
            let has_effects = self.effectful.contains(&callee);
            if has_effects {
                operands.push(self.chain(op, &waits));
                made.push(CHAIN);
            }
            let loc = self.m().loc(op);
            let call = self.call_kernel(InsertionPoint::Before(op), loc, callee, &operands, &made);
            let mut values: Vec<ValueId> = self.m().results(call).collect();
            chains.extend(has_effects.then(|| values.pop()).flatten());
            for (i, value) in given.into_iter().zip(values) {
                results[i] = Some(value);
            }
        }
        let Some(results) = results.into_iter().collect::<Option<Vec<_>>>() else {
            return self.no_function(op, "gives");
        };
        let chain = self.join(op, &chains);
        if chain.is_some() {
            state.barrier(chain);
        }
        self.r.replace_op(op, &results);
    }

    /// Joins the effects so far, and the completion of those of other parts, in front of later ones.
    pub(super) fn fence(&mut self, op: OpId, state: &mut EffectState) {
        let mut waits = state.waits(Access::Write, None);
        waits.extend(self.m().operands(op));
        let chain = self.chain(op, &waits);
        self.r.replace_op(op, &[chain]);
        state.barrier(Some(chain));
    }
}
