//! Checks whether an op fits its custom form: that the form reads back as the same op.

use super::Printer;
use super::custom::declares_args;
use crate::dialects::constraint::is_elements;
use crate::dialects::format::{Custom, Element, TypeOrigin, each};
use crate::dialects::{Arity, AttrConstraint, OpDef, Traits, TypeRule};
use crate::ir::{AttrId, AttrKind, LocId, OpId, RegionId, ValueId, names};

impl Printer<'_, '_> {
    pub(super) fn fits(&self, op: OpId, def: &OpDef) -> bool {
        self.counts_fit(op, def)
            && self.types_fit(op, def)
            && self.attrs_fit(op, def)
            && self.m.properties(op).is_none()
            && (def.more_regions || self.m.regions_of(op).len() == def.regions.len())
            && (0..def.regions.len()).all(|i| self.region_fits(op, i, def))
    }

    fn counts_fit(&self, op: OpId, def: &OpDef) -> bool {
        let m = self.m;
        let fits = |arity: Arity, n: usize| match arity {
            Arity::One => n == 1,
            Arity::Optional => n <= 1,
            Arity::Variadic => true,
        };
        let mut n = 0;
        for (i, operand) in def.operands.iter().enumerate() {
            let range = m.operand_range(op, i);
            if !fits(operand.arity, range.len()) {
                return false;
            }
            n += range.len();
        }
        if n != m.n_operands(op)
            || def.traits.has(Traits::OPERAND_SEGMENTS)
                && m.i32_array(op, names::OPERAND_SEGMENT_SIZES).map(|s| s.len()) != Some(def.operands.len())
        {
            return false;
        }
        let results = def.results.iter().enumerate().map(|(i, r)| (r.arity, m.result_range(op, i).len()));
        let successors =
            def.successors.iter().enumerate().map(|(i, s)| (s.arity, m.successor_range(op, i).len()));
        results.clone().all(|(arity, n)| fits(arity, n))
            && results.map(|(_, n)| n).sum::<usize>() == m.n_results(op)
            && successors.clone().all(|(arity, n)| fits(arity, n))
            && successors.map(|(_, n)| n).sum::<usize>() == m.successors(op).len()
    }

    /// True if the omitted types are those that the parser infers.
    fn types_fit(&self, op: OpId, def: &OpDef) -> bool {
        let Some(format) = &def.format else { return false };
        format.plan.steps.iter().all(|(slot, source)| match *source {
            TypeOrigin::Written | TypeOrigin::WrittenOr(_) => true,
            TypeOrigin::Only(ty) => self.m.types_of(op, *slot).iter().all(|t| *t == ty),
            TypeOrigin::Rule(by, from) => TypeRule { of: *slot, from, by }.holds(self.m, op),
        })
    }

    fn attrs_fit(&self, op: OpId, def: &OpDef) -> bool {
        let Some(format) = &def.format else { return false };
        let mut good = true;
        // In a group an attribute may be missing; outside it is required.
        for element in &format.elements {
            if let Element::Attr(i) = element {
                good &= self.declared_attr(op, *i).is_some();
            }
        }
        each(&format.elements, &mut |e| {
            let attrs = match e {
                Element::Attr(i) => std::slice::from_ref(i),
                Element::NamedAttrs(list) => list,
                Element::Custom(Custom::SwitchCases) => {
                    good &= self.switch_fits(op);
                    &[]
                }
                Element::Custom(Custom::RegionCases) => {
                    good &= self.region_cases_fit(op);
                    &[]
                }
                Element::Custom(Custom::OpAttrs) => {
                    good &= self.op_attrs_fit(op, def);
                    &[]
                }
                _ => &[],
            };
            for i in attrs {
                good &= match self.declared_attr(op, *i) {
                    Some(attr) => self.fits_attr(attr, def.attrs[*i].kind),
                    None => !def.attrs[*i].required,
                };
            }
        });
        good
    }

    /// True if an attribute reads back as itself in a form that expects this kind.
    pub(super) fn fits_attr(&self, attr: AttrId, kind: AttrConstraint) -> bool {
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
            AttrConstraint::Dense => is_elements(cx.attr(attr)),
            AttrConstraint::Enum(_) | AttrConstraint::DenseArray(_) => kind.accepts(cx, attr),
            AttrConstraint::Flags(flags) => flags.bits(cx, attr).is_some_and(|bits| bits != 0),
            AttrConstraint::Typed => {
                let implicit = matches!(
                    cx.attr(attr),
                    AttrKind::Str { .. } | AttrKind::Bytes { .. } | AttrKind::Opaque { .. }
                );
                !implicit && cx.attr_type(attr).is_some()
            }
            AttrConstraint::Any
            | AttrConstraint::SymbolArray
            | AttrConstraint::Unit
            | AttrConstraint::Array
            | AttrConstraint::DictArray
            | AttrConstraint::Dict
            | AttrConstraint::Type
            | AttrConstraint::FunctionType => !matches!(
                cx.attr(attr),
                AttrKind::Unit
                    | AttrKind::Str { ty: Some(_), .. }
                    | AttrKind::Bytes { ty: Some(_), .. }
                    | AttrKind::Opaque { ty: Some(_), .. }
            ),
        }
    }

    fn region_fits(&self, op: OpId, index: usize, def: &OpDef) -> bool {
        let m = self.m;
        let region = m.regions_of(op)[index];
        let implicit = def.regions[index].implicit;
        let Some(entry) = m.entry(region) else {
            // Omitted, or written as `{}`, which would get a terminator.
            return implicit.is_none() || !self.is_written_always(index, def);
        };
        if implicit.is_some() {
            let last = m.blocks_of(region).last().and_then(|b| m.last_op(*b));
            if !last.and_then(|l| m.def(l)).is_some_and(|d| d.traits.has(Traits::TERMINATOR)) {
                return false;
            }
        }
        if !declares_args(def, index) {
            return true;
        }
        let expected = self.declared_args(op, index, def);
        let args = m.args(entry);
        let same = expected.len() == args.len()
            && expected.iter().zip(args).all(|((v, _), a)| m.value_type(*v) == m.value_type(*a));
        let shadowed: Vec<ValueId> = expected.iter().filter(|(_, s)| *s).map(|(v, _)| *v).collect();
        let distinct = shadowed.iter().enumerate().all(|(i, v)| !shadowed[..i].contains(v));
        // The form cannot express their locations, which default to the op's.
        let located = !self.options.locations
            || args.iter().all(|a| m.value_locs.at(*a).copied().unwrap_or(LocId::UNKNOWN) == m.loc(op));
        same && distinct && located && !self.has_preds(region, entry)
    }

    /// The operands that correspond to the arguments of a region, and whether the form gives them the same
    /// names.
    fn declared_args(&self, op: OpId, index: usize, def: &OpDef) -> Vec<(ValueId, bool)> {
        let mut found = Vec::new();
        each(def.format.as_ref().map_or(&[], |f| &f.elements), &mut |e| match e {
            Element::Region(i, shadow) if *i == index => {
                found.extend(shadow.iter().flat_map(|o| self.declared(op, *o)).map(|v| (v, true)));
            }
            Element::Arg(i, o) | Element::Assign(i, o) if *i == index => {
                found.extend(self.declared(op, *o).into_iter().map(|v| (v, false)));
            }
            _ => {}
        });
        found
    }

    fn is_written_always(&self, index: usize, def: &OpDef) -> bool {
        let elements = def.format.as_ref().map_or(&[][..], |f| &f.elements);
        elements.iter().any(|e| {
            matches!(e, Element::Region(i, _) if *i == index) || *e == Element::Custom(Custom::RegionCases)
        })
    }

    fn has_preds(&self, region: RegionId, block: crate::ir::BlockId) -> bool {
        let m = self.m;
        m.blocks_of(region).iter().any(|b| m.ops_in(*b).any(|op| m.successors(op).contains(&block)))
    }
}
