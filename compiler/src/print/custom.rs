//! Custom forms, from the same formats that the parser follows.
//!
//! An op is printed so only if reading it back gives the same op: [`Printer::fits`] asks whether everything that the
//! form leaves unsaid (types, counts, kinds of attributes) is as the definition says.

use super::Printer;
use super::text::{self, Typed, put, write_attr, write_list, write_type};
use crate::dialects::format::{Custom, Element, Of};
use crate::dialects::types::declared_type;
use crate::dialects::{Arity, AttrConstraint, OpDef};
use crate::ir::{AttrId, AttrKind, OpId, StrId, TypeKind, ValueId, names};

/// What was written last, for spaces.
#[derive(Clone, Copy)]
struct Space {
    /// A blank is due before a value or word.
    wanted: bool,
    /// The last thing was punctuation.
    punctuation: bool,
}

impl Printer<'_> {
    /// Prints the op in custom form; false (and nothing printed) if it has none or does not fit it.
    pub(super) fn custom(&mut self, op: OpId) -> bool {
        let Some(def) = self.m.def(op) else { return false };
        let Some(format) = &def.format else { return false };
        if let [Element::Custom(custom)] = format.elements.as_slice() {
            return match custom {
                Custom::Module => self.module(op),
                Custom::Function => self.function(op),
            };
        }
        if !self.fits(op, def) {
            return false;
        }
        self.out.push_str(&def.name);
        let written: Vec<StrId> = format
            .written_attrs()
            .into_iter()
            .filter_map(|i| self.cx.op_name_data(self.m.op_name(op)).attr_names.get(i).copied())
            .collect();
        let mut space = Space { wanted: true, punctuation: false };
        self.elements(op, def, &format.elements, &written, &mut space);
        true
    }

    fn fits(&self, op: OpId, def: &OpDef) -> bool {
        let Some(format) = &def.format else { return false };
        let n = self.m.n_operands(op);
        let fixed = def.operands.iter().filter(|o| o.arity == Arity::One).count();
        if n < fixed || n > fixed && def.variadic_operand().is_none() {
            return false;
        }
        let spelled = |of: &[Of]| has_types(&format.elements, of);
        let operand_types = |i: usize, v: ValueId| {
            let Some(declared) = def.operand_def(i, n) else { return false };
            let index = def.operands.iter().position(|o| std::ptr::eq(o, declared)).unwrap_or(0);
            declared.ty.only() == Some(self.m.value_type(v))
                || spelled(&[Of::Operands, Of::Operand(index)])
                || self.follows(op, def, Of::Operand(index))
        };
        if !self.m.operands(op).enumerate().all(|(i, v)| operand_types(i, v)) {
            return false;
        }
        if !spelled(&[Of::Results]) {
            let results = def.results.iter().zip(self.m.results(op));
            if self.m.n_results(op) != def.results.len()
                || !results.enumerate().all(|(i, (r, v))| {
                    r.ty.only() == Some(self.m.value_type(v))
                        || spelled(&[Of::Result(i)])
                        || self.follows(op, def, Of::Result(i))
                })
            {
                return false;
            }
        }
        let names = &self.cx.op_name_data(self.m.op_name(op)).attr_names;
        let attrs = format.written_attrs().into_iter().all(|i| {
            let attr = names.get(i).and_then(|name| self.m.attr(op, *name));
            match attr {
                Some(attr) => self.fits_attr(attr, def.attrs[i].kind),
                None => !def.attrs[i].required,
            }
        });
        // A pack of optional operands before others would be ambiguous; no definition has that.
        attrs && self.m.regions_of(op).len() == def.regions.len()
            && self.m.successors(op).is_empty()
            && self.m.properties(op).is_none()
            // Arguments of an entry block that the form does not print would be lost.
            && self.m.regions_of(op).iter().all(|r| self.m.entry(*r).is_none_or(|b| self.m.args(b).is_empty()))
    }

    /// Does the type follow from others by the definition's rule?
    fn follows(&self, op: OpId, def: &OpDef, of: Of) -> bool {
        def.type_rule(of).is_some_and(|rule| {
            let types = declared_type(self.m, op, of).zip(rule.source(self.m, op));
            types.is_some_and(|(ty, from)| rule.by.holds(self.cx, from, ty))
        })
    }

    /// Does an attribute read back as itself where a form expects this kind?
    fn fits_attr(&self, attr: AttrId, kind: AttrConstraint) -> bool {
        let cx = self.cx;
        match kind {
            AttrConstraint::Int(k) => matches!(cx.attr(attr), AttrKind::Int { ty, .. } if *ty == k.id()),
            AttrConstraint::Float(k) => matches!(cx.attr(attr), AttrKind::Float { ty, .. } if *ty == k.id()),
            AttrConstraint::Bool => matches!(cx.attr(attr), AttrKind::Bool(_)),
            AttrConstraint::IntArray(k) | AttrConstraint::NumberArray(k) => match cx.attr(attr) {
                AttrKind::Array(elems) => elems.iter().all(|e| cx.attr_type(*e) == Some(k.id())),
                _ => false,
            },
            AttrConstraint::FlatSymbol | AttrConstraint::Symbol => {
                matches!(cx.attr(attr), AttrKind::Symbol { .. })
            }
            AttrConstraint::Str => matches!(cx.attr(attr), AttrKind::Str { ty: None, .. }),
            AttrConstraint::Dense => matches!(
                cx.attr(attr),
                AttrKind::Dense { .. }
                    | AttrKind::DenseStrings { .. }
                    | AttrKind::DenseResource { .. }
                    | AttrKind::Sparse { .. }
            ),
            AttrConstraint::Enum(words) => words.word(cx, attr).is_some(),
            AttrConstraint::Flags(flags) => flags.bits(cx, attr).is_some_and(|bits| bits != 0),
            AttrConstraint::Typed => {
                let implicit = matches!(cx.attr(attr), AttrKind::Str { .. } | AttrKind::Opaque { .. });
                !implicit && cx.attr_type(attr).is_some()
            }
            AttrConstraint::Any
            | AttrConstraint::Unit
            | AttrConstraint::Array
            | AttrConstraint::DictArray
            | AttrConstraint::Dict
            | AttrConstraint::Type
            | AttrConstraint::FunctionType => !matches!(
                cx.attr(attr),
                AttrKind::Unit | AttrKind::Str { ty: Some(_), .. } | AttrKind::Opaque { ty: Some(_), .. }
            ),
        }
    }

    fn before_value(&mut self, space: &mut Space) {
        if space.wanted || !space.punctuation {
            self.out.push(' ');
        }
        *space = Space { wanted: true, punctuation: false };
    }

    fn literal(&mut self, text: &str, space: &mut Space) {
        let first = text.chars().next().unwrap_or(' ');
        let blank = if text.len() != 1 && text != "->" {
            true
        } else if space.punctuation {
            !">)}],".contains(first)
        } else {
            !"<>(){}[],".contains(first)
        };
        if blank && space.wanted {
            self.out.push(' ');
        }
        self.out.push_str(text);
        space.punctuation = first != '_' && !first.is_ascii_alphabetic();
        space.wanted = text.len() != 1 || !"<({[".contains(first);
    }

    fn elements(
        &mut self,
        op: OpId,
        def: &OpDef,
        elements: &[Element],
        written: &[StrId],
        space: &mut Space,
    ) {
        for element in elements {
            match element {
                Element::Literal(text) => self.literal(text, space),
                Element::Operands => {
                    if self.m.n_operands(op) > 0 {
                        self.before_value(space);
                        self.values(self.m.operands(op));
                    }
                }
                Element::Operand(index) => {
                    let values = self.declared(op, def, *index);
                    if !values.is_empty() {
                        self.before_value(space);
                        self.values(values.into_iter());
                    }
                }
                Element::Attr(index) => {
                    let name = self.cx.op_name_data(self.m.op_name(op)).attr_names.get(*index).copied();
                    if let Some(attr) = name.and_then(|n| self.m.attr(op, n)) {
                        if let AttrConstraint::Flags(flags) = def.attrs[*index].kind {
                            let bits = flags.bits(self.cx, attr).unwrap_or(0);
                            self.out.push_str(&flags.text(bits));
                            *space = Space { wanted: true, punctuation: false };
                            continue;
                        }
                        self.before_value(space);
                        if let AttrConstraint::Enum(words) = def.attrs[*index].kind {
                            self.out.push_str(words.word(self.cx, attr).unwrap_or_default());
                            continue;
                        }
                        let typed = match def.attrs[*index].kind {
                            AttrConstraint::Int(_) | AttrConstraint::Float(_) | AttrConstraint::Bool => {
                                Typed::Never
                            }
                            _ => Typed::Always,
                        };
                        write_attr(self.style, attr, typed, &mut self.out);
                    }
                }
                Element::AttrDict { keyword } => {
                    let rest: Vec<(StrId, AttrId)> =
                        self.m.attrs(op).iter().filter(|(n, _)| !written.contains(n)).copied().collect();
                    if !rest.is_empty() {
                        if *keyword {
                            self.out.push_str(" attributes");
                        }
                        self.attr_dict(&rest);
                        *space = Space { wanted: true, punctuation: false };
                    }
                }
                Element::Types(of) => {
                    let values: Vec<ValueId> = match of {
                        Of::Operands => self.m.operands(op).collect(),
                        Of::Results => self.m.results(op).collect(),
                        Of::Operand(i) => self.declared(op, def, *i),
                        Of::Result(i) => self.m.results(op).skip(*i).take(1).collect(),
                    };
                    self.before_value(space);
                    self.types(values.into_iter());
                }
                Element::FunctionalType => {
                    self.before_value(space);
                    self.function_type(op);
                }
                Element::Region(i) => {
                    self.before_value(space);
                    if let Some(&region) = self.m.regions_of(op).get(*i) {
                        self.region(region, false);
                    }
                }
                Element::Optional { elements, anchor } => {
                    if self.is_present(op, def, &elements[*anchor]) {
                        self.elements(op, def, elements, written, space);
                    }
                }
                Element::Custom(_) => {}
            }
        }
    }

    /// The actual operands of a declared one.
    fn declared(&self, op: OpId, def: &OpDef, index: usize) -> Vec<ValueId> {
        let n = self.m.n_operands(op);
        let declared = def.operands.get(index);
        self.m
            .operands(op)
            .enumerate()
            .filter(|(i, _)| def.operand_def(*i, n).zip(declared).is_some_and(|(a, b)| std::ptr::eq(a, b)))
            .map(|(_, v)| v)
            .collect()
    }

    fn is_present(&self, op: OpId, def: &OpDef, element: &Element) -> bool {
        match element {
            Element::Operands | Element::Types(Of::Operands) => self.m.n_operands(op) > 0,
            Element::Types(of) if def.type_rule(*of).is_some_and(|r| r.is_default()) => {
                !self.follows(op, def, *of)
            }
            Element::Operand(i) | Element::Types(Of::Operand(i)) => !self.declared(op, def, *i).is_empty(),
            Element::Types(Of::Results | Of::Result(_)) => self.m.n_results(op) > 0,
            Element::Attr(i) => {
                let name = self.cx.op_name_data(self.m.op_name(op)).attr_names.get(*i);
                name.is_some_and(|n| self.m.attr(op, *n).is_some())
            }
            Element::Region(i) => {
                self.m.regions_of(op).get(*i).is_some_and(|r| !self.m.blocks_of(*r).is_empty())
            }
            _ => true,
        }
    }

    // ---- builtin.module and func.func ----

    fn rest(&self, op: OpId, said: &[StrId]) -> Vec<(StrId, AttrId)> {
        self.m.attrs(op).iter().filter(|(n, _)| !said.contains(n)).copied().collect()
    }

    fn str_attr(&self, op: OpId, name: StrId) -> Option<StrId> {
        match self.m.attr(op, name).map(|a| self.cx.attr(a)) {
            Some(AttrKind::Str { text, ty: None }) => Some(*text),
            _ => None,
        }
    }

    fn module(&mut self, op: OpId) -> bool {
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
        self.out.push_str("module");
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
        self.region(region, false);
        true
    }

    fn function(&mut self, op: OpId) -> bool {
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
            // An empty body would read as none.
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
        self.out.push_str("func.func ");
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
            self.region(region, false);
        }
        true
    }

    /// The dictionaries of arguments or results: none, or one for each of `n` with at least one entry in all. Anything
    /// else cannot be printed here.
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

fn has_types(elements: &[Element], of: &[Of]) -> bool {
    elements.iter().any(|e| match e {
        Element::FunctionalType => of.iter().any(|o| matches!(o, Of::Operands | Of::Results)),
        Element::Types(t) => of.contains(t),
        Element::Optional { elements, .. } => has_types(elements, of),
        _ => false,
    })
}
