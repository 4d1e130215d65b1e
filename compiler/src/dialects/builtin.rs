//! `builtin.module`: the root of every program.

use super::{AttrConstraint as A, Effects, OpDef, Registry, Traits, errors};
use crate::diag::Diagnostic;
use crate::ir::{Module, OpId};

pub(super) fn ops(r: &mut Registry) {
    let mut module = OpDef::new("builtin.module", "a list of functions and other symbols")
        .optional_attr("sym_name", A::Str)
        .optional_attr("sym_visibility", A::Str)
        .region("body", false)
        .traits(
            Traits::SYMBOL
                .and(Traits::SYMBOL_TABLE)
                .and(Traits::ISOLATED)
                .and(Traits::NO_TERMINATOR)
                .and(Traits::SINGLE_BLOCK),
        )
        .default_dialect("builtin")
        .verifier(verify_module)
        .format("custom<module>");
    module.effects = Effects::Recursive;
    r.add(module);
    r.alias("module", "builtin.module");
}

/// Attributes of a module: any that is not declared must carry the prefix of its dialect.
fn verify_module(m: &Module, op: OpId, diags: &mut Vec<Diagnostic>) {
    let others = m.attrs(op).iter().filter(|(name, _)| !m.is_inherent(op, *name));
    let undotted = others.map(|(name, _)| m.cx.str(*name)).filter(|name| !name.contains('.'));
    diags.extend(undotted.map(|name| errors::module_attr(m, op, name)));
}
