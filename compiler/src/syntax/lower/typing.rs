//! From a form to the parts of an op: inference of omitted types, and the arguments of regions.

use super::custom::Form;
use super::ops::{Blocks, EntryArg, Parts, RegionPart};
use super::{Lower, errors};
use crate::diag::Span;
use crate::dialects::format::{Format, PartRef, TypeOrigin};
use crate::dialects::{Arity, OpDef, Traits, TypeFn, TypeSource};
use crate::ir::{AttrKind, KnownType, TypeId, names};
use crate::syntax::ast::Op;
use crate::syntax::token::Tok;
use smallvec::{SmallVec, smallvec};
use std::ops::Range;

type FormTypes = SmallVec<[TypeId; 2]>;

/// The types known so far.
type Found = SmallVec<[(PartRef, FormTypes); 6]>;

impl Lower<'_> {
    pub(super) fn finish(
        &mut self,
        form: &mut Form,
        def: &'static OpDef,
        format: &Format,
        op: &Op,
        blocks: &mut Blocks,
        parts: &mut Parts,
    ) -> Option<()> {
        form.operands.sort_by_key(|(index, _)| *index);
        let n = form.operands.len();
        let at_least = def.operands.iter().filter(|o| o.arity == Arity::One).count();
        if n < at_least || form.operands.last().is_some_and(|(index, _)| *index >= def.operands.len()) {
            let what = format!("operands of `{}`", def.name);
            self.report(errors::count(op.name.span(), &what, at_least, n));
            return None;
        }
        let mut wanted: SmallVec<[TypeId; 4]> = SmallVec::with_capacity(n);
        if format.plan.all_only {
            wanted.extend(def.operands.iter().filter_map(|o| o.ty.only()));
            parts.results.extend(def.results.iter().filter_map(|r| r.ty.only()));
        } else {
            let found = self.types_of_form(form, def, format, op.name.span())?;
            if format.plan.all_results {
                parts.results = written(form, PartRef::Results).cloned().unwrap_or_default();
            } else {
                for i in 0..def.results.len() {
                    parts.results.extend(lookup(&found, PartRef::Result(i)).iter().copied());
                }
            }
            for i in 0..def.operands.len() {
                wanted.extend(lookup(&found, PartRef::Operand(i)).iter().copied());
            }
        }
        if wanted.len() != n {
            self.report(errors::count(op.name.span(), "operand types", n, wanted.len()));
            return None;
        }
        for ((_, tok), ty) in form.operands.iter().zip(&wanted) {
            parts.operands.push(self.value(*tok, *ty));
            parts.operand_spans.push(tok.span());
        }
        let n_written = form.regions.iter().map(|(i, _)| i + 1).max().unwrap_or(0);
        for i in 0..def.regions.len().max(n_written) {
            let part = self.region_part(i, form, &wanted, def)?;
            parts.regions.push(part);
        }
        for tok in &form.successors {
            let block = self.block(*tok, blocks);
            parts.successors.push(block);
        }
        if def.traits.has(Traits::OPERAND_SEGMENTS) {
            let sizes: Vec<u8> =
                (0..def.operands.len()).flat_map(|i| (form.range(i).len() as i32).to_le_bytes()).collect();
            let elem = KnownType::I32.id();
            let sizes = self.m.cx.attr_id(AttrKind::DenseArray { elem, data: crate::ir::Blob::from(sizes) });
            form.attrs.push((names::OPERAND_SEGMENT_SIZES, sizes));
        }
        parts.attrs = std::mem::take(&mut form.attrs);
        Some(())
    }

    fn types_of_form(&mut self, form: &Form, def: &OpDef, format: &Format, span: Span) -> Option<Found> {
        let mut found = Found::new();
        for (slot, source) in &format.plan.steps {
            let name = def.value_name(*slot).unwrap_or_default();
            let n = form.operands.len();
            let count = match *slot {
                PartRef::Operand(i) => Some(form.range(i).len()),
                _ => (def.arity(*slot) == Some(Arity::One)).then_some(1),
            };
            let types: FormTypes = match *source {
                TypeOrigin::Only(ty) => smallvec![ty; count.unwrap_or(1)],
                TypeOrigin::Written | TypeOrigin::WrittenOr(_) => match (written(form, *slot), *slot) {
                    (Some(types), _) => types.iter().copied().collect(),
                    (None, PartRef::Operand(i)) if let Some(all) = written(form, PartRef::Operands) => {
                        if all.len() != n {
                            self.report(errors::count(span, "operand types", n, all.len()));
                            return None;
                        }
                        all.get(form.range(i)).unwrap_or_default().iter().copied().collect()
                    }
                    (None, PartRef::Result(i)) if let Some(all) = written(form, PartRef::Results) => {
                        let n = all.len();
                        let is_mine = |at: usize| {
                            def.result_def(at, n).is_some_and(|d| std::ptr::eq(d, &def.results[i]))
                        };
                        (0..n).filter(|at| is_mine(*at)).map(|at| all[at]).collect()
                    }
                    (None, _) => match *source {
                        TypeOrigin::WrittenOr(ty) => smallvec![ty; count.unwrap_or(1)],
                        _ => FormTypes::new(),
                    },
                },
                TypeOrigin::Rule(by, from) => {
                    let from = match from {
                        TypeSource::Value(slot) => lookup(&found, slot).iter().copied().collect(),
                        TypeSource::Attr(i) => self.attr_types(form, def.attrs[i].name),
                        TypeSource::Default(known) => smallvec![known.id()],
                    };
                    match (by, from.as_slice()) {
                        (TypeFn::Same, [one]) => smallvec![*one; count.unwrap_or(1)],
                        (TypeFn::Same, _) => from,
                        (_, [one]) => match by.apply(&mut self.m.cx, *one) {
                            Some(types) if by == TypeFn::Element => {
                                types.iter().copied().cycle().take(count.unwrap_or(1)).collect()
                            }
                            Some(types) => types.into(),
                            None => {
                                let found = crate::print::type_text(&self.m.cx, *one);
                                self.report(errors::no_inference(span, name, &found));
                                return None;
                            }
                        },
                        _ => FormTypes::new(),
                    }
                }
            };
            if let Some(count) = count
                && types.len() != count
            {
                self.report(errors::count(span, &format!("types for `{name}`"), count, types.len()));
                return None;
            }
            found.push((*slot, types));
        }
        Some(found)
    }

    fn attr_types(&mut self, form: &Form, name: &str) -> FormTypes {
        let name = self.m.cx.find_str(name);
        let attr = form.attrs.iter().find(|(n, _)| Some(*n) == name);
        attr.and_then(|(_, attr)| self.m.cx.attr_type(*attr)).into_iter().collect()
    }

    fn region_part(&mut self, i: usize, form: &Form, wanted: &[TypeId], def: &OpDef) -> Option<RegionPart> {
        let Some((_, from)) = form.regions.iter().find(|(index, _)| *index == i) else {
            return Some(RegionPart::default());
        };
        let mut args = Vec::new();
        for list in form.args.iter().filter(|a| a.region == i) {
            let range = form.range(list.operand);
            let types = wanted.get(range.clone()).unwrap_or_default();
            let shadowed: Vec<Tok>;
            let names = match &list.names {
                Some(names) => names,
                None => {
                    shadowed = form.operands[range].iter().map(|(_, tok)| *tok).collect();
                    &shadowed
                }
            };
            for (name, ty) in names.iter().zip(types) {
                args.push(EntryArg { name: *name, ty: *ty, loc: None });
            }
        }
        Some(RegionPart {
            from: *from,
            args,
            implicit: def.regions.get(i).and_then(|region| region.implicit),
        })
    }
}

impl Form {
    /// Positions of the values of a declared operand, once they are sorted.
    pub(super) fn range(&self, index: usize) -> Range<usize> {
        let start = self.operands.partition_point(|(i, _)| *i < index);
        let end = self.operands.partition_point(|(i, _)| *i <= index);
        start..end
    }
}

fn written(form: &Form, of: PartRef) -> Option<&SmallVec<[TypeId; 4]>> {
    form.types.iter().find(|(w, _)| *w == of).map(|(_, types)| types)
}

fn lookup(found: &Found, slot: PartRef) -> &[TypeId] {
    found.iter().find(|(s, _)| *s == slot).map_or(&[], |(_, types)| types.as_slice())
}
