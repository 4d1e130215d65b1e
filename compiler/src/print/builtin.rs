//! The custom forms of `builtin.module` and `func.func`.

use super::text::{self, put, write_list, write_type};
use super::{Header, Printer};
use crate::ir::{AttrId, AttrKind, OpId, StrId, TypeKind, names};

impl Printer<'_, '_> {
    fn rest(&self, op: OpId, said: &[StrId]) -> Vec<(StrId, AttrId)> {
        self.m.attrs(op).iter().filter(|(n, _)| !said.contains(n)).copied().collect()
    }

    fn str_attr(&self, op: OpId, name: StrId) -> Option<StrId> {
        match self.m.attr(op, name).map(|a| self.cx.attr(a)) {
            Some(AttrKind::Str { text, ty: None }) => Some(*text),
            _ => None,
        }
    }

    pub(super) fn module(&mut self, op: OpId) -> bool {
        let [region] = self.m.regions_of(op) else { return false };
        let region = *region;
        let [block] = self.m.blocks_of(region) else { return false };
        let plain = self.m.args(*block).is_empty() && self.m.n_operands(op) == 0 && self.m.n_results(op) == 0;
        let name = self.str_attr(op, names::SYM_NAME);
        if !plain
            || name.is_none() && self.m.attr(op, names::SYM_NAME).is_some()
            || self.m.properties(op).is_some()
        {
            return false;
        }
        self.op_name(op);
        if let Some(name) = name {
            self.out.push(' ');
            text::write_symbol(self.cx.str(name), &mut self.out);
        }
        let rest = self.rest(op, &[names::SYM_NAME]);
        if !rest.is_empty() {
            self.out.push_str(" attributes");
            self.attr_dict(&rest);
        }
        self.out.push(' ');
        self.region(region, Header::Needed, false);
        true
    }

    pub(super) fn function(&mut self, op: OpId) -> bool {
        let [region] = self.m.regions_of(op) else { return false };
        let region = *region;
        let Some(name) = self.str_attr(op, names::SYM_NAME) else { return false };
        let ty = self.m.attr(op, names::FUNCTION_TYPE).and_then(|a| self.cx.as_type(a));
        let Some((inputs, results)) = ty.and_then(|t| self.cx.function_signature(t)) else { return false };
        let entry = self.m.entry(region);
        if let Some(block) = entry {
            let args = self.m.args(block);
            let same = args.len() == inputs.len()
                && args.iter().zip(inputs).all(|(a, t)| self.m.value_type(*a) == *t);
            // An empty body would read back as none.
            if !same || self.m.first_op(block).is_none() && self.m.blocks_of(region).len() == 1 {
                return false;
            }
        }
        let visibility = self.str_attr(op, names::SYM_VISIBILITY);
        let visible = visibility.map(|v| self.cx.str(v));
        if self.m.attr(op, names::SYM_VISIBILITY).is_some()
            && !matches!(visible, Some("private" | "public" | "nested"))
        {
            return false;
        }
        let Some(arg_attrs) = self.dicts(op, names::ARG_ATTRS, inputs.len()) else { return false };
        let Some(res_attrs) = self.dicts(op, names::RES_ATTRS, results.len()) else { return false };
        if self.m.n_operands(op) + self.m.n_results(op) > 0 || self.m.properties(op).is_some() {
            return false;
        }
        let (inputs, results) = (inputs.to_vec(), results.to_vec());
        self.op_name(op);
        self.out.push(' ');
        if let Some(visible) = visible {
            put!(self.out, "{visible} ");
        }
        text::write_symbol(self.cx.str(name), &mut self.out);
        self.out.push('(');
        for (i, ty) in inputs.iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            let arg = entry.map(|b| self.m.args(b)[i]);
            if let Some(arg) = arg {
                self.value(arg);
                self.out.push_str(": ");
            }
            write_type(self.style, *ty, &mut self.out);
            if let Some(attrs) = arg_attrs.get(i) {
                self.attr_dict(attrs);
            }
            if let Some(arg) = arg {
                self.arg_loc(arg);
            }
        }
        self.out.push(')');
        if !results.is_empty() {
            self.out.push_str(" -> ");
            let attrs = res_attrs.iter().any(|a| !a.is_empty());
            match results.as_slice() {
                [one] if !attrs && !matches!(self.cx.ty(*one), TypeKind::Function { .. }) => {
                    write_type(self.style, *one, &mut self.out);
                }
                _ => {
                    self.out.push('(');
                    let mut i = 0;
                    let cx = self.style;
                    write_list(&results, &mut self.out, |t, out| {
                        write_type(cx, *t, out);
                        if let Some(attrs) = res_attrs.get(i).filter(|a| !a.is_empty()) {
                            out.push(' ');
                            text::write_dict(cx, attrs, out);
                        }
                        i += 1;
                    });
                    self.out.push(')');
                }
            }
        }
        let said = [
            names::SYM_NAME,
            names::FUNCTION_TYPE,
            names::SYM_VISIBILITY,
            names::ARG_ATTRS,
            names::RES_ATTRS,
        ];
        let rest = self.rest(op, &said);
        if !rest.is_empty() {
            self.out.push_str(" attributes");
            self.attr_dict(&rest);
        }
        if entry.is_some() {
            self.out.push(' ');
            self.region(region, Header::Never, false);
        }
        true
    }

    /// The dictionaries of arguments or results: empty, or `n` with at least one entry in all. `None` if the
    /// attribute has another form, which cannot be printed here.
    fn dicts(&self, op: OpId, name: StrId, n: usize) -> Option<Vec<Vec<(StrId, AttrId)>>> {
        let Some(attr) = self.m.attr(op, name) else { return Some(Vec::new()) };
        let AttrKind::Array(elems) = self.cx.attr(attr) else { return None };
        let mut dicts = Vec::with_capacity(n);
        for elem in elems {
            match self.cx.attr(*elem) {
                AttrKind::Dict(entries) => dicts.push(entries.to_vec()),
                _ => return None,
            }
        }
        (dicts.len() == n && dicts.iter().any(|d| !d.is_empty())).then_some(dicts)
    }
}
