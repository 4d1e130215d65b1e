//! `builtin.module`: what every program is made of.

use super::{AttrConstraint as A, Effects, OpDef, Registry, Traits};

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
        .format("custom<module>");
    module.effects = Effects::Recursive;
    r.add(module);
    r.alias("module", "builtin.module");
}
