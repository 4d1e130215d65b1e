//! Custom forms, printed from the formats that the parser uses.
//!
//! An op is printed in custom form only if it reads back as the same op: [`Printer::fits`] checks that all
//! parts omitted by the form (types, counts, kinds of attributes, names of arguments) are those that the
//! definition implies.

use super::text::{Typed, write_attr, write_type};
use super::{Header, Printer};
use crate::dialects::format::{Custom, Element, FunctionForm};
use crate::dialects::{AttrConstraint, DefaultValue, OpDef};
use crate::ir::{AttrId, OpId, StrId, TypeId, TypeKind, ValueId};
use smallvec::SmallVec;

/// State of the spacing: the last token written.
#[derive(Clone, Copy)]
pub(super) struct Space {
    /// A blank is due before a value or word.
    wanted: bool,
    /// The last token was punctuation.
    punctuation: bool,
}

pub(super) const AFTER_WORD: Space = Space { wanted: true, punctuation: false };

pub(super) fn before_value(out: &mut String, space: &mut Space) {
    if space.wanted || !space.punctuation {
        out.push(' ');
    }
    *space = Space { wanted: true, punctuation: false };
}

/// A keyword or punctuation; empty: no blank here.
pub(super) fn literal(text: &str, out: &mut String, space: &mut Space) {
    let Some(first) = text.chars().next() else {
        *space = Space { wanted: false, punctuation: true };
        return;
    };
    let blank = if text.len() != 1 && text != "->" {
        true
    } else if space.punctuation {
        !">)}],".contains(first)
    } else {
        !"<>(){}[],".contains(first)
    };
    if blank && space.wanted {
        out.push(' ');
    }
    out.push_str(text);
    space.punctuation = first != '_' && !first.is_ascii_alphabetic();
    space.wanted = text.len() != 1 || !"<({[".contains(first);
}

impl Printer<'_, '_> {
    /// Prints the op in custom form. Returns false (with nothing printed) if it has none or does not fit it.
    pub(super) fn custom(&mut self, op: OpId) -> bool {
        if self.planned(op) {
            return true;
        }
        let Some(def) = self.m.def(op) else { return false };
        let Some(format) = &def.format else { return false };
        match format.elements.as_slice() {
            [Element::Custom(Custom::Module)] => return self.module(op),
            [Element::Custom(Custom::Function)] => return self.function(op),
            _ => {}
        }
        if !self.fits(op, def) {
            return false;
        }
        self.op_name(op);
        let mut space = AFTER_WORD;
        self.elements(op, def, &format.elements, &mut space);
        true
    }

    /// The name as it is written in this place, without an implied dialect.
    pub(super) fn op_name(&mut self, op: OpId) {
        let name = self.m.op_name_str(op);
        let short = name.strip_prefix(self.default_dialect).and_then(|rest| rest.strip_prefix('.'));
        let name = short.filter(|s| !s.contains('.') && !self.default_dialect.is_empty()).unwrap_or(name);
        self.out.push_str(name);
    }

    fn elements(&mut self, op: OpId, def: &OpDef, elements: &[Element], space: &mut Space) {
        for element in elements {
            self.element(op, def, element, space);
        }
    }

    fn element(&mut self, op: OpId, def: &OpDef, element: &Element, space: &mut Space) {
        match element {
            Element::Literal(text) => literal(text, &mut self.out, space),
            Element::Blank => self.out.push(' '),
            Element::Operands => self.list(self.m.operands(op), space),
            Element::Operand(index) => self.list(self.declared(op, *index).into_iter(), space),
            Element::Typed(index) => {
                for (i, value) in self.declared(op, *index).into_iter().enumerate() {
                    if i > 0 {
                        self.out.push_str(", ");
                    }
                    self.value(value);
                    self.out.push_str(" : ");
                    write_type(self.style, self.m.value_type(value), &mut self.out);
                }
                *space = AFTER_WORD;
            }
            Element::Attr(index) => {
                if let Some(attr) = self.declared_attr(op, *index) {
                    let kind = def.attrs[*index].kind;
                    if matches!(kind, AttrConstraint::Flags(_)) {
                        *space = AFTER_WORD;
                    } else {
                        before_value(&mut self.out, space);
                    }
                    self.attr_value(attr, kind);
                }
            }
            Element::NamedAttrs(attrs) => {
                let given = attrs.iter().filter_map(|i| Some((*i, self.declared_attr(op, *i)?)));
                let given: Vec<(usize, AttrId)> = given.collect();
                for (at, (i, attr)) in given.into_iter().enumerate() {
                    if at > 0 {
                        self.out.push(',');
                    }
                    before_value(&mut self.out, space);
                    self.out.push_str(def.attrs[i].name);
                    self.out.push_str(" = ");
                    self.attr_value(attr, def.attrs[i].kind);
                }
            }
            Element::AttrDict { keyword } => {
                let rest = self.unwritten_attrs(op, def);
                if !rest.is_empty() {
                    if *keyword {
                        self.out.push_str(" attributes");
                    }
                    self.attr_dict(&rest);
                    *space = AFTER_WORD;
                }
            }
            Element::Successor(index) => {
                for at in self.m.successor_range(op, *index) {
                    before_value(&mut self.out, space);
                    self.block_name(self.m.successors(op)[at]);
                }
            }
            Element::Types(of, _) => {
                let types = self.m.types_of(op, *of);
                if !types.is_empty() {
                    before_value(&mut self.out, space);
                }
                self.type_list(&types);
            }
            Element::FunctionalType(inputs, outputs, form) => {
                before_value(&mut self.out, space);
                let (inputs, outputs) = (self.m.types_of(op, *inputs), self.m.types_of(op, *outputs));
                if *form == FunctionForm::Type {
                    super::text::write_function(self.style, &inputs, &outputs, &mut self.out);
                } else {
                    self.out.push('(');
                    self.type_list(&inputs);
                    self.out.push_str(") -> (");
                    self.type_list(&outputs);
                    self.out.push(')');
                }
            }
            Element::ArrowTypes(of, parens) => {
                let types = self.m.types_of(op, *of);
                if types.is_empty() {
                    return;
                }
                let is_function = |t: &TypeId| matches!(self.cx.ty(*t), TypeKind::Function { .. });
                let parens = *parens || types.len() > 1 || types.iter().any(is_function);
                self.out.push_str(if parens { " -> (" } else { " -> " });
                self.type_list(&types);
                if parens {
                    self.out.push(')');
                }
                *space = AFTER_WORD;
            }
            Element::Region(index, shadow) => {
                before_value(&mut self.out, space);
                if let Some(&region) = self.m.regions_of(op).get(*index) {
                    self.shadow(op, region, shadow);
                    let declared = declares_args(def, *index);
                    let header = if declared { Header::Never } else { Header::Needed };
                    self.region(region, header, self.ends_implicitly(region, def, *index));
                }
            }
            Element::Arg(region, _) => {
                if let Some(arg) = self.region_args(op, *region).first().copied() {
                    before_value(&mut self.out, space);
                    self.value(arg);
                }
            }
            Element::Assign(region, operand) => {
                let operands = self.declared(op, *operand);
                let args = self.region_args(op, *region);
                if operands.is_empty() {
                    return;
                }
                let skip = args.len() - operands.len();
                self.out.push('(');
                for (i, (arg, value)) in args.into_iter().skip(skip).zip(operands).enumerate() {
                    if i > 0 {
                        self.out.push_str(", ");
                    }
                    self.value(arg);
                    self.out.push_str(" = ");
                    self.value(value);
                }
                self.out.push(')');
                *space = AFTER_WORD;
            }
            Element::Optional { elements, anchor } => {
                if self.is_present(op, def, &elements[*anchor]) {
                    self.elements(op, def, elements, space);
                }
            }
            Element::Custom(Custom::SwitchCases) => self.switch_cases(op),
            Element::Custom(Custom::RegionCases) => self.region_cases(op, def),
            Element::Custom(Custom::OpAttrs) => self.op_attrs(op, def),
            Element::Custom(Custom::Module | Custom::Function) => {}
        }
    }

    fn list(&mut self, values: impl Iterator<Item = ValueId>, space: &mut Space) {
        let mut values = values.peekable();
        if values.peek().is_some() {
            before_value(&mut self.out, space);
            self.values(values);
        }
    }

    /// An attribute of a declared kind, the reverse of `piece_attr` and its variants.
    pub(super) fn attr_value(&mut self, attr: AttrId, kind: AttrConstraint) {
        match kind {
            AttrConstraint::Int(_) | AttrConstraint::Float(_) | AttrConstraint::Bool => {
                write_attr(self.style, attr, Typed::Never, &mut self.out);
            }
            AttrConstraint::Enum(words) => self.out.push_str(words.word(self.cx, attr).unwrap_or_default()),
            AttrConstraint::Flags(flags) => {
                let bits = flags.bits(self.cx, attr).unwrap_or(0);
                self.out.push_str(&flags.text(bits));
            }
            _ => write_attr(self.style, attr, Typed::Always, &mut self.out),
        }
    }

    fn type_list(&mut self, types: &[TypeId]) {
        let cx = self.style;
        super::text::write_list(types, &mut self.out, |t, out| write_type(cx, *t, out));
    }

    /// The attribute number `index` of the definition, unless it is missing or has its default value.
    pub(super) fn declared_attr(&self, op: OpId, index: usize) -> Option<AttrId> {
        let name = *self.cx.op_name_data(self.m.op_name(op)).attr_names.get(index)?;
        let attr = self.m.attr(op, name)?;
        let def = self.m.def(op)?.attrs.get(index)?;
        let is_default = match def.default {
            None => false,
            Some(DefaultValue::Int(n)) => self.cx.as_int(attr) == Some(n) && def.kind.accepts(self.cx, attr),
        };
        (!is_default).then_some(attr)
    }

    /// Attributes in the dictionary.
    fn unwritten_attrs(&self, op: OpId, def: &OpDef) -> Vec<(StrId, AttrId)> {
        let names = &self.cx.op_name_data(self.m.op_name(op)).attr_names;
        let written = def.format.as_ref().map_or(&[][..], |f| &f.written_attrs);
        let in_dict = |name: StrId| match names.iter().position(|n| *n == name) {
            Some(index) => !written.contains(&index) && self.declared_attr(op, index).is_some(),
            None => true,
        };
        self.m.attrs(op).iter().filter(|(n, _)| in_dict(*n)).copied().collect()
    }

    /// The values of a declared operand.
    pub(super) fn declared(&self, op: OpId, index: usize) -> SmallVec<[ValueId; 4]> {
        self.m.operand_range(op, index).map(|i| self.m.operand(op, i)).collect()
    }

    /// Arguments of the entry block of region `index`.
    pub(super) fn region_args(&self, op: OpId, index: usize) -> Vec<ValueId> {
        let region = self.m.regions_of(op).get(index);
        let entry = region.and_then(|r| self.m.entry(*r));
        entry.map_or_else(Vec::new, |b| self.m.args(b).to_vec())
    }

    /// Gives the arguments of a region the names of the operands.
    fn shadow(&mut self, op: OpId, region: crate::ir::RegionId, operands: &[usize]) {
        let Some(entry) = self.m.entry(region) else { return };
        let values = operands.iter().flat_map(|i| self.declared(op, *i)).collect::<Vec<_>>();
        for (arg, value) in self.m.args(entry).iter().zip(values) {
            let from = self.out.len();
            self.value(value);
            let name = self.out.split_off(from);
            self.names.set_text(*arg, name.trim_start_matches('%'));
        }
    }

    /// True if the form omits the terminator of the region's block.
    pub(super) fn ends_implicitly(&self, region: crate::ir::RegionId, def: &OpDef, index: usize) -> bool {
        let Some(implicit) = def.regions.get(index).and_then(|r| r.implicit) else { return false };
        let [block] = self.m.blocks_of(region) else { return false };
        self.m.last_op(*block).is_some_and(|last| {
            self.m.op_name_str(last) == implicit
                && self.m.n_operands(last) == 0
                && self.m.attrs(last).is_empty()
                && self.m.n_results(last) == 0
                && self.m.regions_of(last).is_empty()
                && self.m.successors(last).is_empty()
                && (!self.options.locations
                    || Some(self.m.loc(last)) == self.m.parent_op(last).map(|p| self.m.loc(p)))
        })
    }

    pub(super) fn is_present(&self, op: OpId, def: &OpDef, element: &Element) -> bool {
        match element {
            Element::Operands => self.m.n_operands(op) > 0,
            Element::Operand(i) | Element::Typed(i) | Element::Assign(_, i) => {
                !self.m.operand_range(op, *i).is_empty()
            }
            Element::Types(of, _) => match def.type_rule(*of).filter(|rule| rule.is_default()) {
                Some(rule) => !rule.holds(self.m, op),
                None => !self.m.types_of(op, *of).is_empty(),
            },
            Element::ArrowTypes(of, _) => !self.m.types_of(op, *of).is_empty(),
            Element::Attr(i) => self.declared_attr(op, *i).is_some(),
            Element::NamedAttrs(attrs) => attrs.iter().any(|i| self.declared_attr(op, *i).is_some()),
            Element::Region(i, _) => {
                self.m.regions_of(op).get(*i).is_some_and(|r| !self.m.blocks_of(*r).is_empty())
            }
            Element::AttrDict { .. } => !self.unwritten_attrs(op, def).is_empty(),
            _ => true,
        }
    }
}

/// True if the form declares the entry arguments of region `index`.
pub(super) fn declares_args(def: &OpDef, index: usize) -> bool {
    let mut found = false;
    crate::dialects::format::each(def.format.as_ref().map_or(&[], |f| &f.elements), &mut |e| {
        found |= match e {
            Element::Region(i, shadow) => *i == index && !shadow.is_empty(),
            Element::Arg(i, _) | Element::Assign(i, _) => *i == index,
            _ => false,
        }
    });
    found
}
