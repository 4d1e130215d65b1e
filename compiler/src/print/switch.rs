//! The cases of `cf.switch` and `scf.index_switch`.

use super::text::put;
use super::{Header, Printer};
use crate::dialects::{OpDef, scf};
use crate::ir::{AttrKind, OpId, Signedness, TypeKind};

impl Printer<'_, '_> {
    /// True if there are as many values as cases.
    pub(super) fn switch_fits(&self, op: OpId) -> bool {
        let m = self.m;
        let Some(flag) = self.declared(op, 0).first().map(|v| m.value_type(*v)) else { return false };
        let cases = m.successors(op).len().saturating_sub(1);
        let values = match self.case_values(op) {
            Some((ty, n)) => {
                let of_flag = matches!(self.cx.ty(ty), TypeKind::Vector { elem, shape, scalable }
                    if *elem == flag && shape.len() == 1 && !scalable.contains(&true));
                if !of_flag {
                    return false;
                }
                n
            }
            None if m.attr_named(op, "case_values").is_some() => return false,
            None => 0,
        };
        let small = matches!(self.cx.ty(flag), TypeKind::Integer { width: 2..=64, .. });
        let counts = self.cx.find_str("case_operand_segments").and_then(|name| m.i32_array(op, name));
        let total = counts.as_ref().map(|c| c.iter().map(|n| i64::from(*n)).sum());
        small
            && !m.successors(op).is_empty()
            && values == cases
            && counts.is_some_and(|c| c.len() == cases && c.iter().all(|n| *n >= 0))
            && total == Some(m.operand_range(op, 2).len() as i64)
    }

    /// True if there is a region for each case and for the default, none without a block but the last, which
    /// may be written as `{}`.
    pub(super) fn region_cases_fit(&self, op: OpId) -> bool {
        let m = self.m;
        let cases = scf::IndexSwitch::of(m, op).map(|switch| scf::case_values(m, switch));
        let regions = m.regions_of(op);
        cases.is_some_and(|cases| cases.len() + 1 == regions.len())
            && regions.iter().all(|&region| m.entry(region).is_some_and(|block| m.args(block).is_empty()))
    }

    pub(super) fn region_cases(&mut self, op: OpId, def: &OpDef) {
        let m = self.m;
        let cases = scf::IndexSwitch::of(m, op).map_or_else(Vec::new, |switch| scf::case_values(m, switch));
        let Some((&default, regions)) = m.regions_of(op).split_first() else { return };
        self.out.push(' ');
        for (case, &region) in cases.into_iter().zip(regions) {
            self.newline();
            put!(self.out, "case {case} ");
            self.region(region, Header::Needed, false);
        }
        self.newline();
        self.out.push_str("default ");
        self.region(default, Header::Needed, self.ends_implicitly(default, def, 0));
    }

    /// Type and number of the values.
    fn case_values(&self, op: OpId) -> Option<(crate::ir::TypeId, usize)> {
        match self.m.attr_named(op, "case_values").map(|a| self.cx.attr(a)) {
            Some(AttrKind::Dense { ty, .. }) => {
                let (shape, _) = self.cx.ty(*ty).shaped()?;
                Some((*ty, *shape?.first()? as usize))
            }
            _ => None,
        }
    }

    pub(super) fn switch_cases(&mut self, op: OpId) {
        self.out.push_str(" [");
        let m = self.m;
        let values = m.attr_named(op, "case_values").map_or_else(Vec::new, |a| self.numbers(a));
        for (i, &block) in m.successors(op).iter().enumerate() {
            self.out.push_str(if i == 0 { "\n" } else { ",\n" });
            (0..=self.indent).for_each(|_| self.out.push_str("  "));
            match i.checked_sub(1) {
                None => self.out.push_str("default"),
                Some(case) => {
                    if let Some(value) = values.get(case).or(values.first()) {
                        put!(self.out, "{value}");
                    }
                }
            }
            self.out.push_str(": ");
            self.block_name(block);
            let range = m.successor_operands(op, i).unwrap_or_default();
            if !range.is_empty() {
                self.out.push('(');
                self.values(range.clone().map(|at| m.operand(op, at)));
                self.out.push_str(" : ");
                self.types(range.map(|at| m.operand(op, at)));
                self.out.push(')');
            }
        }
        if m.successors(op).len() > 1 {
            self.newline();
        }
        self.out.push(']');
    }

    /// The elements of `dense<[...]>` of integers, one if they are equal.
    fn numbers(&self, attr: crate::ir::AttrId) -> Vec<i128> {
        let AttrKind::Dense { ty, data, .. } = self.cx.attr(attr) else { return Vec::new() };
        let elem = self.cx.ty(*ty).shaped().map(|(_, elem)| self.cx.ty(elem));
        let Some(TypeKind::Integer { width, sign }) = elem else { return Vec::new() };
        let size = (width.div_ceil(8) as usize).clamp(1, 8);
        let number = |bytes: &[u8]| {
            let mut wide = [0u8; 8];
            wide[..bytes.len()].copy_from_slice(bytes);
            let shift = 64 - 8 * bytes.len() as u32;
            match sign {
                Signedness::Unsigned => i128::from(u64::from_le_bytes(wide)),
                Signedness::Signless | Signedness::Signed => {
                    i128::from((i64::from_le_bytes(wide) << shift) >> shift)
                }
            }
        };
        data.chunks_exact(size).map(number).collect()
    }
}
