//! Type inference plans: from the written types to the types of all operands and results.

use super::{Element, PartRef, each};
use crate::dialects::def::{Arity, OpDef};
use crate::dialects::types::{TypeFn, TypeSource};
use crate::ir::Traits;
use crate::ir::{KnownType, TypeId};

/// Origin of the types of one operand or result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeOrigin {
    /// Written by the form, alone or in a list of all.
    Written,
    /// Written by the form, or else this default.
    WrittenOr(TypeId),
    /// The only type that the definition allows.
    Only(TypeId),
    /// Inferred from another part.
    Rule(TypeFn, TypeSource),
}

/// The sources of all types, in an order in which each comes after its own source.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct TypePlan {
    /// The declared operands and results.
    pub steps: Vec<(PartRef, TypeOrigin)>,
    /// True if every type is the only allowed one: the common case.
    pub all_only: bool,
    /// True if, in addition, the form is the operands, with or without a dictionary.
    pub operands_only: bool,
    /// True if `results` are written as one list.
    pub all_results: bool,
}

impl TypePlan {
    /// Finds a source for every type.
    pub(super) fn find(elements: &[Element], def: &OpDef) -> Result<TypePlan, String> {
        let mut written: Vec<(PartRef, Option<KnownType>)> = Vec::new();
        let mut in_code = false;
        each(elements, &mut |e| match e {
            Element::Custom(_) => in_code = true,
            Element::Types(of, assumed) => written.push((*of, *assumed)),
            Element::FunctionalType(a, b, _) => {
                written.extend([(*a, None), (*b, None)]);
            }
            Element::ArrowTypes(of, _) => written.push((*of, None)),
            Element::Typed(i) => written.push((PartRef::Operand(*i), None)),
            _ => {}
        });
        let all = |of: PartRef| written.iter().any(|(w, _)| *w == of);
        let mut steps: Vec<(PartRef, TypeOrigin)> = Vec::new();
        let slots =
            (0..def.operands.len()).map(PartRef::Operand).chain((0..def.results.len()).map(PartRef::Result));
        let mut left: Vec<PartRef> = Vec::new();
        for slot in slots {
            let list = if matches!(slot, PartRef::Operand(_)) { PartRef::Operands } else { PartRef::Results };
            let one = matches!(slot, PartRef::Operand(_)) || def.arity(slot) == Some(Arity::One);
            let default = def.type_rule(slot).and_then(|rule| match rule.from {
                TypeSource::Default(known) => Some(known),
                TypeSource::Value(_) | TypeSource::Attr(_) => None,
            });
            let source = match written.iter().find(|(of, _)| *of == slot) {
                Some((_, assumed)) => {
                    assumed.or(default).map_or(TypeOrigin::Written, |k| TypeOrigin::WrittenOr(k.id()))
                }
                None if all(list) => TypeOrigin::Written,
                None => match def.only_type(slot) {
                    Some(ty) if one => TypeOrigin::Only(ty),
                    // The code of a custom element sets these types.
                    _ if in_code && def.type_rule(slot).is_none() => TypeOrigin::Written,
                    _ => {
                        left.push(slot);
                        continue;
                    }
                },
            };
            steps.push((slot, source));
        }
        while !left.is_empty() {
            let found =
                left.iter().enumerate().find_map(|(at, slot)| Some((at, rule_for(*slot, &steps, def)?)));
            let Some((at, source)) = found else {
                let what = if matches!(left[0], PartRef::Operand(_)) { "operand" } else { "result" };
                let name = def.value_name(left[0]).unwrap_or_default();
                return Err(format!("the type of {what} `{name}` is not written"));
            };
            steps.push((left.remove(at), source));
        }
        let all_only = steps.iter().all(|(_, s)| matches!(s, TypeOrigin::Only(_)))
            && def.operands.iter().all(|o| o.arity == Arity::One);
        let operands_only = all_only
            && def.regions.is_empty()
            && !def.traits.has(Traits::OPERAND_SEGMENTS)
            && match elements {
                [Element::Operands, rest @ ..] => {
                    rest.iter().all(|e| matches!(e, Element::Blank | Element::AttrDict { keyword: false }))
                }
                _ => false,
            };
        Ok(TypePlan { steps, all_only, operands_only, all_results: all(PartRef::Results) })
    }
}

/// A rule that infers the types of `slot` from a known part.
fn rule_for(slot: PartRef, known: &[(PartRef, TypeOrigin)], def: &OpDef) -> Option<TypeOrigin> {
    let is_known = |from: &TypeSource| match from {
        TypeSource::Value(slot) => known.iter().any(|(k, _)| k == slot),
        TypeSource::Attr(_) => true,
        TypeSource::Default(_) => false,
    };
    if let Some(rule) = def.type_rules.iter().find(|r| r.of == slot && is_known(&r.from)) {
        return Some(TypeOrigin::Rule(rule.by, rule.from));
    }
    let everything = def.traits.has(Traits::SAME_TYPE);
    let operands = def.traits.has(Traits::SAME_OPERANDS) && matches!(slot, PartRef::Operand(_));
    // The first part that surely has a type.
    let same = known.iter().map(|(k, _)| *k).find(|k| {
        def.arity(*k) == Some(Arity::One) && (everything || operands && matches!(k, PartRef::Operand(_)))
    })?;
    Some(TypeOrigin::Rule(TypeFn::Same, TypeSource::Value(same)))
}
