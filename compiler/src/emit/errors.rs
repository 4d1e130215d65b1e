//! Diagnostics for modules without an encoding in BEF: one function per code.

use crate::diag::{Diagnostic, Span};
use crate::verify::CAPTURE;

/// E0601: the module holds something that is not a function.
pub(super) fn not_a_function(span: Option<Span>, op: &str) -> Diagnostic {
    Diagnostic::error("E0601", format!("`{op}` cannot stand in a module that becomes a BEF file"))
        .at(span)
        .help("a BEF file holds functions (func.func) only")
}

/// E0602: an op that does not run stands where kernels stand.
pub(super) fn no_kernel(span: Option<Span>, op: &str) -> Diagnostic {
    Diagnostic::error("E0602", format!("`{op}` names no kernel, so it cannot stand in a function's body"))
        .at(span)
        .help("`ir-opt --help-dialects` tells which operations have kernels")
}

/// E0603: a body is not one block.
pub(super) fn not_one_block(span: Option<Span>, n: usize) -> Diagnostic {
    Diagnostic::error("E0603", format!("a body of {n} blocks: BEF knows no branches between blocks"))
        .at(span)
        .upstream("multi-block regions cannot be emitted to BEF files")
}

/// E0604: a function without body is not marked as native.
pub(super) fn not_native(span: Option<Span>, name: &str) -> Diagnostic {
    Diagnostic::error("E0604", format!("function @{name} has no body"))
        .at(span)
        .upstream("external functions are not allowed")
        .help("declare functions that the runtime provides with `attributes {tfrt.native}`")
}

/// E0605: a body does not end in a return.
pub(super) fn no_return(span: Option<Span>) -> Diagnostic {
    Diagnostic::error("E0605", "a body must end with its only `tfrt.return`")
        .at(span)
        .upstream("all functions need to have a tfrt.return")
}

/// E0606: a region uses a value from outside.
pub(super) fn capture(span: Option<Span>, i: usize, def: Option<Span>) -> Diagnostic {
    Diagnostic::error("E0606", format!("operand #{i} is defined outside of the body that uses it"))
        .at(span)
        .upstream(CAPTURE)
        .label(def, "defined here")
        .help("pass it as an argument of the region")
}

/// E0607: an operand is defined after its use.
pub(super) fn use_before_def(span: Option<Span>, i: usize, def: Option<Span>) -> Diagnostic {
    Diagnostic::error("E0607", format!("operand #{i} is used before it is defined"))
        .at(span)
        .label(def, "defined here")
}

/// E0608: a symbol names no function of the module.
pub(super) fn no_such_function(span: Option<Span>, attr: &str, symbol: &str) -> Diagnostic {
    Diagnostic::error(
        "E0608",
        format!("attribute `{attr}` refers to @{symbol}, which is no function of this module"),
    )
    .at(span)
    .upstream(format!("function @{symbol} not defined"))
}

/// E0609: an op has successors.
pub(super) fn successors(span: Option<Span>, op: &str) -> Diagnostic {
    Diagnostic::error("E0609", format!("`{op}` branches to blocks, which BEF does not know")).at(span)
}

/// E0610: a function has no usable name.
pub(super) fn function_name(span: Option<Span>, why: &str) -> Diagnostic {
    Diagnostic::error("E0610", format!("a function of a BEF file {why}")).at(span)
}

/// E0611: a function's type disagrees with its body.
pub(super) fn function_type(span: Option<Span>, what: &str) -> Diagnostic {
    Diagnostic::error("E0611", format!("the {what} of the function disagree with its type")).at(span)
}

/// E0612: something is larger than the format allows.
pub(super) fn limit(span: Option<Span>, why: &str) -> Diagnostic {
    Diagnostic::error("E0612", format!("this does not fit into a BEF file: {why}")).at(span)
}

/// E0613: an attribute that emission gives a meaning has the wrong form.
pub(super) fn special_attr(span: Option<Span>, name: &str, want: &str) -> Diagnostic {
    Diagnostic::error("E0613", format!("attribute `{name}` must be {want}")).at(span)
}

/// E0614: something has no place in the format.
pub(super) fn no_place(span: Option<Span>, what: &str) -> Diagnostic {
    Diagnostic::error("E0614", format!("{what} cannot be kept in a BEF file")).at(span)
}

/// E0615: TFRT's files cannot hold an attribute.
pub(super) fn not_held(span: Option<Span>, name: &str) -> Diagnostic {
    Diagnostic::error("E0615", format!("TFRT's files cannot hold the attribute `{name}`"))
        .at(span)
        .upstream(format!("BEF files cannot encode the '{name}' attribute"))
}

/// E0617: a module that kernels are to compile has no name that they could refer to.
pub(super) fn nameless_module(span: Option<Span>) -> Diagnostic {
    Diagnostic::error("E0617", "a module that is marked `tfrt.compiled` must have a name").at(span)
}

/// E0618: a symbol leads to nothing that a kernel could compile.
pub(super) fn not_compiled(span: Option<Span>, attr: &str, symbol: &str) -> Diagnostic {
    Diagnostic::error(
        "E0618",
        format!("attribute `{attr}` refers to {symbol}, which is nothing in a module that is marked `tfrt.compiled`"),
    )
    .at(span)
    .upstream(format!("function {symbol} not defined"))
}

/// E0616: a synchronous function of TFRT returns what it may not.
pub(super) fn returned_again(span: Option<Span>, i: usize, is_argument: bool) -> Diagnostic {
    let (what, upstream) =
        if is_argument { ("is an argument", "an argument") } else { ("is returned already", "duplicated") };
    Diagnostic::error("E0616", format!("result #{i} of a synchronous function {what}"))
        .at(span)
        .upstream(format!("return value {i} is {upstream} in a sync function"))
}
