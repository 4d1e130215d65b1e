//! Strings with fixed ids: names of attributes and ops that the compiler uses itself.

use super::StrId;

macro_rules! fixed {
    ($($name:ident = $text:literal,)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "only a counter for the constants below")]
        enum Index { $($name,)* }
        $(
            #[doc = concat!("`", $text, "`")]
            pub const $name: StrId = StrId(Index::$name as u32);
        )*
        /// The strings in the order of their ids.
        pub(super) const FIXED: &[&str] = &[$($text,)*];
    };
}
fixed! {
    EMPTY = "", SYM_NAME = "sym_name", SYM_VISIBILITY = "sym_visibility", FUNCTION_TYPE = "function_type",
    ARG_ATTRS = "arg_attrs", RES_ATTRS = "res_attrs", VALUE = "value", CALLEE = "callee",
    OPERAND_SEGMENT_SIZES = "operandSegmentSizes", RESULT_SEGMENT_SIZES = "resultSegmentSizes",
    BEF_NAME = "bef.name", TFRT_SYNC = "tfrt.sync", TFRT_NATIVE = "tfrt.native", TFRT_COST = "_tfrt_cost",
    BUILTIN_MODULE = "builtin.module", FUNC_FUNC = "func.func", TFRT_RETURN = "tfrt.return",
    BEF_NONSTRICT = "bef.nonstrict", BEF_DEVICE = "bef.device", BEF_OPERAND_MODES = "bef.operand_modes",
    TFRT_COMPILED = "tfrt.compiled", DEVICE = "device", COLOCATE = "colocate", COST_NS = "cost_ns", HOST_TENSOR = "tfrt_tensor.tensor",
    NO_INLINE = "bef.no_inline",
}
