//! Checks of an op against the op table: counts and types of operands and results, attributes, the parent op.

use super::{ModuleVerifier, errors};
use crate::diag::shortened;
use crate::dialects::{Arity, AttrConstraint, OpDef, OperandDef, ResultDef, Traits};
use crate::ir::{AttrKind, KnownType, OpId, TypeId, ValueId, names};
use crate::print::attr_text;
use bef_format::is_own_attr;

impl ModuleVerifier<'_> {
    pub(super) fn table(&mut self, op: OpId, def: &OpDef) {
        let m = self.m;
        let before = self.diags.len();
        let counted = if def.traits.has(Traits::OPERAND_SEGMENTS) {
            self.segments(op, def)
        } else {
            self.operand_count(op, def)
        };
        if counted {
            let mut check = |operand: &OperandDef, i, value| {
                if !operand.ty.accepts(&m.cx, m.value_type(value)) {
                    self.diags.push(errors::operand_type(m, op, i, operand));
                }
            };
            if def.variadic_operand().is_none() {
                for (i, (operand, value)) in def.operands.iter().zip(m.operands(op)).enumerate() {
                    check(operand, i, value);
                }
            } else {
                for (index, operand) in def.operands.iter().enumerate() {
                    m.operand_range(op, index).for_each(|i| check(operand, i, m.operand(op, i)));
                }
            }
        }
        self.results(op, def);
        if def.traits.has(Traits::SAME_TYPE) && def.has_open_operand() {
            let declared =
                m.operands(op).take(def.operands.len()).chain(m.results(op)).map(|v| m.value_type(v));
            if !all_equal(declared) {
                self.diags.push(errors::same_types(m, op));
            }
        }
        if def.traits.has(Traits::SAME_OPERANDS) && !all_equal(m.operands(op).map(|v| m.value_type(v))) {
            self.diags.push(errors::same_operand_types(m, op));
        }
        // Types with an error of their own are not compared.
        if counted && self.diags.len() == before {
            self.type_rules(op, def);
        }
        if !def.parents.is_empty()
            && !m.parent_op(op).is_some_and(|p| def.parents.contains(&m.op_name_str(p)))
        {
            self.diags.push(errors::parent(m, op, &def.parents));
        }
        self.attrs(op, def);
        let n_regions = m.regions_of(op).len();
        if n_regions < def.regions.len() || (n_regions > def.regions.len() && !def.more_regions) {
            self.diags.push(errors::region_count(m, op, def.regions.len()));
        }
    }

    fn operand_count(&mut self, op: OpId, def: &OpDef) -> bool {
        let m = self.m;
        let n = m.n_operands(op);
        if n == def.operands.len() && def.variadic_operand().is_none() {
            return true;
        }
        let fixed = def.operands.iter().filter(|o| o.arity == Arity::One).count();
        let is_chain = |value: ValueId| m.value_type(value) == KnownType::Chain.id();
        let n_chains = m.operands(op).skip(fixed).take_while(|&value| is_chain(value)).count();
        let most = match def.variadic_operand().map(|i| def.operands[i].arity) {
            Some(Arity::Variadic) => usize::MAX,
            Some(_) => fixed + 1,
            None if def.control_edges => fixed + n_chains,
            None if def.accepts_implicit_chain() => fixed + n_chains.min(1),
            None => fixed,
        };
        if n < fixed || n > most {
            let want = amount(fixed, def.variadic_operand().is_some(), "operand");
            self.diags.push(errors::operand_count(m, op, &want));
            return false;
        }
        true
    }

    /// Checks that `operandSegmentSizes` agrees with the operands and the definition.
    fn segments(&mut self, op: OpId, def: &OpDef) -> bool {
        let m = self.m;
        // A missing attribute is reported with the others.
        let Some(sizes) = m.i32_array(op, names::OPERAND_SEGMENT_SIZES) else { return false };
        let total: i64 = sizes.iter().map(|n| i64::from(*n)).sum();
        let fits = |(size, arity): (i32, Arity)| match arity {
            Arity::One => size == 1,
            Arity::Optional => (0..=1).contains(&size),
            Arity::Variadic => size >= 0,
        };
        let arities = def.operands.iter().map(|o| o.arity);
        let good = sizes.len() == def.operands.len()
            && total == m.n_operands(op) as i64
            && sizes.iter().copied().zip(arities).all(fits);
        if !good {
            self.diags.push(errors::segments(m, op, def, &sizes));
        }
        good
    }

    fn results(&mut self, op: OpId, def: &OpDef) {
        let m = self.m;
        let n = m.n_results(op);
        let each_is_one = def.variadic_result().is_none();
        if each_is_one && n == def.results.len() {
            for (i, (result, value)) in def.results.iter().zip(m.results(op)).enumerate() {
                self.result(op, i, result, value);
            }
            return;
        }
        let fixed = def.results.iter().filter(|r| r.arity == Arity::One).count();
        if n < fixed || n > fixed && each_is_one {
            let want = amount(fixed, !each_is_one, "result");
            self.diags.push(errors::result_count(m, op, &want));
            return;
        }
        for i in 0..n {
            if let Some(result) = def.result_def(i, n) {
                self.result(op, i, result, m.result(op, i));
            }
        }
    }

    fn result(&mut self, op: OpId, i: usize, result: &ResultDef, value: ValueId) {
        let m = self.m;
        if !result.ty.accepts(&m.cx, m.value_type(value)) {
            self.diags.push(errors::result_type(m, op, i, result));
        }
    }

    /// Checks inferred types. Defaults are not checked, since a form may override them.
    fn type_rules(&mut self, op: OpId, def: &OpDef) {
        let m = self.m;
        for rule in &def.type_rules {
            if !rule.is_default() && !rule.holds(m, op) && !rule.source(m, op).is_empty() {
                let (from, found) = (rule.source(m, op), m.types_of(op, rule.of));
                self.diags.push(errors::type_rule(m, op, def, rule, &from, &found));
            }
        }
    }

    /// Checks the attributes that the kernel takes in the order of their names.
    fn unnamed(&mut self, op: OpId, def: &OpDef) {
        let m = self.m;
        let mut found = (0, 0);
        for (_, value) in m.attrs(op).iter().filter(|(name, _)| is_own_attr(m.cx.str(*name))) {
            match m.cx.attr(*value) {
                AttrKind::Symbol { .. } => found.1 += 1,
                _ => found.0 += 1,
            }
        }
        if found != def.unnamed {
            self.diags.push(errors::unnamed_attrs(m, op, def.unnamed, found));
        }
    }

    fn attrs(&mut self, op: OpId, def: &OpDef) {
        let m = self.m;
        if def.unnamed != (0, 0) {
            self.unnamed(op, def);
        }
        if def.attrs.is_empty() {
            return;
        }
        let ids = &m.cx.op_name_data(m.op_name(op)).attr_names;
        for (attr, name) in def.attrs.iter().zip(ids) {
            match m.attr(op, *name) {
                None if attr.required => {
                    self.diags.push(errors::missing_attr(m, op, attr));
                }
                None => {}
                Some(value) if !attr.kind.accepts(&m.cx, value) => {
                    let found = attr_text(&m.cx, value);
                    let found = shortened(&found, 40);
                    self.diags.push(errors::attr_kind(m, op, attr, &found));
                }
                Some(value) => match (attr.kind, m.cx.attr(value)) {
                    (AttrConstraint::FlatSymbol | AttrConstraint::Symbol, _) => {
                        self.reference(op, attr.name, value, def);
                    }
                    (AttrConstraint::SymbolArray, AttrKind::Array(elements)) => {
                        elements.iter().for_each(|&element| _ = self.referred(op, element));
                    }
                    _ => {}
                },
            }
        }
    }
}

fn all_equal(mut types: impl Iterator<Item = TypeId>) -> bool {
    match types.next() {
        Some(first) => types.all(|t| t == first),
        None => true,
    }
}

/// `2 operands`, `at least 1 operand`.
pub(super) fn amount(n: usize, or_more: bool, what: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    if or_more { format!("at least {n} {what}{s}") } else { format!("{n} {what}{s}") }
}
