//! Precomputed custom forms, one per op name.
//!
//! Most ops of a program have one operand, attribute and result for each declared one, so that only names
//! differ from one to the next: `tfrt.add.i32 %3, %4`. For them the format is compiled to a [`PrintPlan`]:
//! text with holes, and a few checks. An op that fails a check (with an additional attribute, for example)
//! takes the general path through `fits` and `custom`, which prints the same text.

use super::Printer;
use super::custom::{AFTER_WORD, Space, before_value, literal};
use super::text::write_type;
use crate::dialects::format::{Element, PartRef, TypeOrigin, each};
use crate::dialects::{Arity, AttrConstraint, OpDef, Traits, TypeFn, TypeRule, TypeSource};
use crate::ir::{Context, Module, OpId, OpNameId, TypeId};

/// The forms of all ops of a module, by name.
pub(super) struct Plans<'m>(Vec<Option<PrintPlan<'m>>>);

impl<'m> Plans<'m> {
    pub(super) fn of(cx: &'m Context) -> Plans<'m> {
        Plans(cx.op_names().map(|name| PrintPlan::of(cx.str(name.name), name.def()?)).collect())
    }

    /// The plan of an op, if it has one and fits it.
    #[inline]
    fn fit(&self, printer: &Printer<'_, '_>, op: OpId) -> Option<&PrintPlan<'m>> {
        let OpNameId(at) = printer.m.op_name(op);
        self.0.get(at as usize)?.as_ref().filter(|plan| plan.fits(printer, op))
    }
}

/// One declared operand or result, of which there is exactly one.
#[derive(Clone, Copy)]
enum Slot {
    Operand(usize),
    Result(usize),
}

impl Slot {
    fn of(of: PartRef) -> Option<Slot> {
        match of {
            PartRef::Operand(i) => Some(Slot::Operand(i)),
            PartRef::Result(i) => Some(Slot::Result(i)),
            PartRef::Operands | PartRef::Results => None,
        }
    }

    #[inline]
    fn ty(self, m: &Module, op: OpId) -> TypeId {
        m.value_type(match self {
            Slot::Operand(i) => m.operand(op, i),
            Slot::Result(i) => m.result(op, i),
        })
    }
}

/// A check of omitted types.
enum Check {
    Is(Slot, TypeId),
    Same(Slot, Slot),
    Rule(TypeRule),
}

impl Check {
    #[inline]
    fn holds(&self, m: &Module, op: OpId) -> bool {
        match self {
            Check::Is(slot, ty) => slot.ty(m, op) == *ty,
            Check::Same(a, b) => a.ty(m, op) == b.ty(m, op),
            Check::Rule(rule) => rule.holds(m, op),
        }
    }
}

/// A piece of the form.
enum PlanPiece {
    Text(String),
    Operand(usize),
    Type(Slot),
    Attr(usize, AttrConstraint),
}

/// A precomputed form with holes for operands, types and attributes only.
struct PrintPlan<'m> {
    name: &'m str,
    /// The text without the prefix of its dialect, and that dialect, for places where the prefix is omitted.
    short: Option<(&'m str, &'m str)>,
    n_operands: usize,
    n_results: usize,
    checks: Vec<Check>,
    /// The declared attributes in the form; the op has no others.
    attrs: Vec<(usize, AttrConstraint)>,
    pieces: Vec<PlanPiece>,
}

impl<'m> PrintPlan<'m> {
    fn of(name: &'m str, def: &OpDef) -> Option<PrintPlan<'m>> {
        let format = def.format.as_ref()?;
        let arities = def.operands.iter().map(|o| o.arity).chain(def.results.iter().map(|r| r.arity));
        let is_plain = arities.into_iter().all(|arity| arity == Arity::One)
            && def.regions.is_empty()
            && def.successors.is_empty()
            && !def.traits.has(Traits::OPERAND_SEGMENTS);
        if !is_plain {
            return None;
        }
        let mut checks = Vec::new();
        for &(of, source) in &format.plan.steps {
            let slot = Slot::of(of)?;
            checks.push(match source {
                TypeOrigin::Written | TypeOrigin::WrittenOr(_) => continue,
                TypeOrigin::Only(ty) => Check::Is(slot, ty),
                TypeOrigin::Rule(TypeFn::Same, TypeSource::Value(from)) => Check::Same(slot, Slot::of(from)?),
                TypeOrigin::Rule(by, from) => Check::Rule(TypeRule { of, from, by }),
            });
        }
        let mut maker = PlanCompiler {
            def,
            pieces: Vec::new(),
            attrs: Vec::new(),
            text: String::new(),
            space: AFTER_WORD,
        };
        maker.elements(&format.elements)?;
        maker.end_text();
        let short = name.split_once('.').filter(|(_, rest)| !rest.contains('.'));
        Some(PrintPlan {
            name,
            short: short.map(|(dialect, rest)| (rest, dialect)),
            n_operands: def.operands.len(),
            n_results: def.results.len(),
            checks,
            attrs: maker.attrs,
            pieces: maker.pieces,
        })
    }

    #[inline]
    fn fits(&self, printer: &Printer<'_, '_>, op: OpId) -> bool {
        let m = printer.m;
        m.n_operands(op) == self.n_operands
            && m.n_results(op) == self.n_results
            && m.attrs(op).len() == self.attrs.len()
            && m.properties(op).is_none()
            && m.regions_of(op).is_empty()
            && m.successors(op).is_empty()
            && self.checks.iter().all(|check| check.holds(m, op))
            && self.attrs.iter().all(|&(i, kind)| {
                printer.declared_attr(op, i).is_some_and(|attr| printer.fits_attr(attr, kind))
            })
    }
}

/// The state of the compilation of a plan.
struct PlanCompiler<'d> {
    def: &'d OpDef,
    pieces: Vec<PlanPiece>,
    attrs: Vec<(usize, AttrConstraint)>,
    /// Text not yet in `pieces`.
    text: String,
    space: Space,
}

impl PlanCompiler<'_> {
    fn end_text(&mut self) {
        if !self.text.is_empty() {
            self.pieces.push(PlanPiece::Text(std::mem::take(&mut self.text)));
        }
    }

    fn push(&mut self, piece: PlanPiece) {
        self.end_text();
        self.pieces.push(piece);
    }

    fn value(&mut self, piece: PlanPiece) {
        before_value(&mut self.text, &mut self.space);
        self.push(piece);
    }

    fn list(&mut self, n: usize, piece: impl Fn(usize) -> PlanPiece) {
        for i in 0..n {
            if i == 0 {
                self.value(piece(i));
            } else {
                self.text.push_str(", ");
                self.push(piece(i));
            }
        }
    }

    /// `None` if the text depends on more than the holes.
    fn elements(&mut self, elements: &[Element]) -> Option<()> {
        elements.iter().try_for_each(|element| self.element(element))
    }

    fn element(&mut self, element: &Element) -> Option<()> {
        match element {
            Element::Literal(text) => literal(text, &mut self.text, &mut self.space),
            Element::Blank => self.text.push(' '),
            Element::Operands => self.list(self.def.operands.len(), PlanPiece::Operand),
            Element::Operand(i) => self.value(PlanPiece::Operand(*i)),
            Element::Typed(i) => {
                self.push(PlanPiece::Operand(*i));
                self.text.push_str(" : ");
                self.push(PlanPiece::Type(Slot::Operand(*i)));
                self.space = AFTER_WORD;
            }
            Element::Attr(i) => {
                let kind = self.def.attrs.get(*i)?.kind;
                if matches!(kind, AttrConstraint::Flags(_)) {
                    return None;
                }
                self.attrs.push((*i, kind));
                self.value(PlanPiece::Attr(*i, kind));
            }
            // There are no others.
            Element::AttrDict { .. } => {}
            Element::Types(PartRef::Operands, _) => {
                self.list(self.def.operands.len(), |i| PlanPiece::Type(Slot::Operand(i)));
            }
            Element::Types(PartRef::Results, _) => {
                self.list(self.def.results.len(), |i| PlanPiece::Type(Slot::Result(i)));
            }
            Element::Types(of, _) => self.value(PlanPiece::Type(Slot::of(*of)?)),
            Element::Optional { elements, anchor } => match elements.get(*anchor)? {
                Element::Operand(_) | Element::Typed(_) => self.elements(elements)?,
                Element::Attr(_) | Element::AttrDict { .. } if !self.needs_attr(elements) => {}
                _ => return None,
            },
            Element::NamedAttrs(_)
            | Element::Successor(_)
            | Element::FunctionalType(..)
            | Element::ArrowTypes(..)
            | Element::Region(..)
            | Element::Arg(..)
            | Element::Assign(..)
            | Element::Custom(_) => return None,
        }
        Some(())
    }

    /// True if some attribute of a group is required.
    fn needs_attr(&self, elements: &[Element]) -> bool {
        let mut needed = false;
        each(elements, &mut |element| {
            let attrs = match element {
                Element::Attr(i) => std::slice::from_ref(i),
                Element::NamedAttrs(list) => list,
                _ => &[],
            };
            needed |= attrs.iter().any(|i| self.def.attrs.get(*i).is_none_or(|attr| attr.required));
        });
        needed
    }
}

impl Printer<'_, '_> {
    /// Prints an op by its plan. Returns false (with nothing printed) if the op does not fit it.
    pub(super) fn planned(&mut self, op: OpId) -> bool {
        let plans = self.plans;
        let Some(plan) = plans.fit(self, op) else { return false };
        match plan.short {
            Some((short, dialect)) if dialect == self.default_dialect => self.out.push_str(short),
            _ => self.out.push_str(plan.name),
        }
        for piece in &plan.pieces {
            match piece {
                PlanPiece::Text(text) => self.out.push_str(text),
                PlanPiece::Operand(i) => self.value(self.m.operand(op, *i)),
                PlanPiece::Type(slot) => write_type(self.style, slot.ty(self.m, op), &mut self.out),
                PlanPiece::Attr(i, kind) => {
                    if let Some(attr) = self.declared_attr(op, *i) {
                        self.attr_value(attr, *kind);
                    }
                }
            }
        }
        true
    }
}
