//! The cases of `cf.switch`, `[default: ^bb1(%a : T), 42: ^bb2, -1: ^bb3]`, and of `scf.index_switch`,
//! `case 42 { ops } case -1 { ops } default { ops }`.

use super::Lower;
use super::custom::{Form, region};
use super::pieces::Cursor;
use crate::dialects::OpDef;
use crate::dialects::format::PartRef;
use crate::ir::{AttrKind, KnownType, StrId, TypeId, TypeKind};
use crate::syntax::token::Kind;
use smallvec::SmallVec;

impl Lower<'_> {
    /// Successors `$0` (the default) and `$1...` with their operands, the values of the cases and their
    /// counts.
    pub(super) fn switch_cases(
        &mut self,
        def: &OpDef,
        cursor: &mut Cursor<'_>,
        form: &mut Form,
    ) -> Option<()> {
        let Some(mut inner) = cursor.eat_group(Kind::LBracket) else { return self.expected("`[`", cursor) };
        let flag = form.types.iter().find(|(of, _)| *of == PartRef::Operand(0))?.1.first().copied()?;
        let (mut values, mut counts) = (Vec::new(), Vec::new());
        let mut types: [SmallVec<[TypeId; 4]>; 2] = Default::default();
        loop {
            let index = usize::from(!form.successors.is_empty());
            if index == 0 {
                if !self.literal("default", &mut inner) {
                    return self.expected("`default`", &inner);
                }
            } else {
                values.push(self.switch_value(flag, &mut inner)?);
            }
            if inner.eat(Kind::Colon).is_none() {
                return self.expected("`:` and a block", &inner);
            }
            let Some(block) = inner.eat(Kind::Caret) else { return self.expected("a block", &inner) };
            form.successors.push(block);
            let before = types[index].len();
            if let Some(mut group) = inner.eat_group(Kind::LParen) {
                self.operands(&mut group, |tok| form.operands.push((index + 1, tok)))?;
                if group.eat(Kind::Colon).is_none() {
                    return self.expected("`:` and the types", &group);
                }
                types[index].extend(self.piece_types(&mut group)?);
                if !group.is_done() {
                    return self.expected("`)`", &group);
                }
            }
            if index == 1 {
                counts.push((types[1].len() - before) as i32);
            }
            if inner.is_done() {
                break;
            }
            if inner.eat(Kind::Comma).is_none() {
                return self.expected("`,` or `]`", &inner);
            }
        }
        for (i, types) in types.into_iter().enumerate() {
            form.types.push((PartRef::Operand(i + 1), types));
        }
        debug_assert_eq!(def.operands.len(), 3);
        if !values.is_empty() {
            let cases = self.case_values(flag, &values);
            let name = self.m.cx.str_id("case_values");
            form.attrs.push((name, cases));
        }
        let data = counts.iter().flat_map(|n: &i32| n.to_le_bytes()).collect();
        let counts = self.m.cx.attr_id(AttrKind::DenseArray { elem: KnownType::I32.id(), data });
        let name: StrId = self.m.cx.str_id("case_operand_segments");
        form.attrs.push((name, counts));
        Some(())
    }

    /// The attribute `cases`, region 0 (the default) and the others in the order of the cases.
    pub(super) fn region_cases(&mut self, cursor: &mut Cursor<'_>, form: &mut Form) -> Option<()> {
        let (mut values, index) = (Vec::new(), KnownType::Index.id());
        while self.literal("case", cursor) {
            values.push(self.switch_value(index, cursor)?);
            let Some(region) = region(cursor) else { return self.expected("a region", cursor) };
            form.regions.push((values.len(), region));
        }
        if !self.literal("default", cursor) {
            return self.expected("`case` or `default`", cursor);
        }
        let Some(region) = region(cursor) else { return self.expected("a region", cursor) };
        form.regions.push((0, region));
        let data = values.iter().flat_map(|value: &i64| value.to_le_bytes()).collect();
        let cases = self.m.cx.attr_id(AttrKind::DenseArray { elem: KnownType::I64.id(), data });
        let name = self.m.cx.str_id("cases");
        form.attrs.push((name, cases));
        Some(())
    }

    fn switch_value(&mut self, flag: TypeId, cursor: &mut Cursor<'_>) -> Option<i64> {
        let span = cursor.span();
        let number = self.number_piece(cursor);
        let attr = number.and_then(|n| self.number_attr(n, Some(flag)));
        match attr.map(|a| self.m.cx.as_int(a)) {
            Some(Some(value)) => Some(value),
            Some(None) => {
                self.report(super::errors::expected(span, "an integer of at most 64 bits", "another number"));
                None
            }
            None if number.is_none() => self.expected("an integer", cursor),
            None => None,
        }
    }

    /// `dense<[...]> : vector<nxT>`.
    fn case_values(&mut self, flag: TypeId, values: &[i64]) -> crate::ir::AttrId {
        let bytes = match self.m.cx.ty(flag) {
            TypeKind::Integer { width, .. } => width.div_ceil(8).min(8) as usize,
            _ => 8,
        };
        let splat = values.iter().all(|v| *v == values[0]);
        let kept = if splat { &values[..1] } else { values };
        let data = kept.iter().flat_map(|v| v.to_le_bytes().into_iter().take(bytes)).collect();
        let ty = self.m.cx.type_id(TypeKind::Vector {
            shape: Box::new([values.len() as i64]),
            scalable: Box::new([false]),
            elem: flag,
        });
        self.m.cx.attr_id(AttrKind::Dense { ty, splat, data })
    }
}
