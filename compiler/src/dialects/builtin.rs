//! `builtin.module` and `func.func`: what every program is made of.

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

    r.add(
        OpDef::new("func.func", "a function; without a body it is declared only")
            .attr("sym_name", A::Str)
            .attr("function_type", A::FunctionType)
            .optional_attr("sym_visibility", A::Str)
            .optional_attr("arg_attrs", A::DictArray)
            .optional_attr("res_attrs", A::DictArray)
            .region("body", true)
            .traits(Traits::SYMBOL.and(Traits::ISOLATED).and(Traits::FUNCTION))
            .default_dialect("func")
            .format("custom<function>"),
    );
    r.alias("func", "func.func");
}
