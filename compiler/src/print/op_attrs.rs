//! The end of `corert.executeop`.

use super::Printer;
use super::text::{put, write_dict};
use crate::dialects::corert::{MAX_RESULTS, OP_ATTRS, pairs};
use crate::dialects::{Arity, OpDef};
use crate::ir::{AttrId, OpId, StrId};

impl Printer<'_, '_> {
    /// The attributes with pairs that the op declares; `None` for one that is no array of pairs.
    fn pairs<'a>(
        &self,
        op: OpId,
        def: &'a OpDef,
    ) -> impl Iterator<Item = Option<Vec<(StrId, AttrId)>>> + use<'a, '_> {
        let (m, cx) = (self.m, self.cx);
        let names = OP_ATTRS.into_iter().filter(|name| def.attr_def(name).is_some());
        names.map(move |name| pairs(cx, m.attr_named(op, name)?))
    }

    /// True if the attributes of the operator can be written as dictionaries, there are no others, and the
    /// results are those that the form implies.
    pub(super) fn op_attrs_fit(&self, op: OpId, def: &OpDef) -> bool {
        let distinct = |pairs: &Vec<(StrId, AttrId)>| {
            let mut names: Vec<StrId> = pairs.iter().map(|&(name, _)| name).collect();
            names.sort_unstable();
            names.windows(2).all(|pair| pair[0] != pair[1])
        };
        // The results are counted, so their types are not written.
        let mut counted =
            def.results.iter().enumerate().filter(|(_, result)| result.arity == Arity::Variadic);
        let are_declared = counted.all(|(i, result)| {
            let mut range = self.m.result_range(op, i);
            range.all(|at| Some(self.m.value_type(self.m.result(op, at))) == result.ty.only())
        });
        self.pairs(op, def).all(|pairs| pairs.as_ref().is_some_and(distinct))
            && self.m.n_results(op) <= MAX_RESULTS
            && self.m.attrs(op).len() == def.attrs.len()
            && are_declared
    }

    pub(super) fn op_attrs(&mut self, op: OpId, def: &OpDef) {
        let all: Vec<_> = self.pairs(op, def).flatten().collect();
        let written = all.iter().rposition(|pairs| !pairs.is_empty()).map_or(0, |last| last + 1);
        for pairs in &all[..written] {
            self.out.push(' ');
            write_dict(self.style, pairs, &mut self.out);
        }
        let declared = def.results.iter().position(|result| result.arity == Arity::Variadic);
        let n = declared.map_or(0, |i| self.m.result_range(op, i).len());
        if n > 0 {
            put!(self.out, " : {n}");
        }
    }
}
