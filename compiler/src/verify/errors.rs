//! Diagnostics of the verifier (`E04..`): one function per code.

use crate::diag::factory::nearest;
use crate::diag::{Diagnostic, Span};
use crate::dialects::{
    Arity, AttrConstraint, AttrDef, OpDef, OperandDef, ResultDef, Traits, TypeConstraint, TypeRule,
    TypeSource, at_op,
};
use crate::ir::{BlockId, Module, OpId, RegionId, TypeId, ValueId};
use crate::print::type_text;

fn operand_span(m: &Module, op: OpId, i: usize) -> Option<Span> {
    m.use_spans.at(m.operand_use(op, i)).or_else(|| m.op_spans.at(op)).copied()
}

fn name(m: &Module, op: OpId) -> String {
    format!("`{}`", m.op_name_str(op))
}

pub(super) fn operand_count(m: &Module, op: OpId, want: &str) -> Diagnostic {
    at_op(m, op, "E0401", format!("{} takes {want}, found {}", name(m, op), m.n_operands(op)))
}

/// MLIR's message for a value of a wrong type; `value` is `operand #0` or `result #0`.
fn upstream_type(
    m: &Module,
    op: OpId,
    value: &str,
    (want, arity): (TypeConstraint, Arity),
    found: &str,
) -> String {
    let variadic = if arity == Arity::Variadic { "variadic of " } else { "" };
    format!("'{}' op {value} must be {variadic}{}, but got '{found}'", m.op_name_str(op), want.upstream())
}

pub(super) fn operand_type(m: &Module, op: OpId, i: usize, declared: &OperandDef) -> Diagnostic {
    let OperandDef { name: operand, ty, arity, .. } = *declared;
    let found = type_text(&m.cx, m.value_type(m.operand(op, i)));
    let want = ty.describe();
    let message = format!("operand #{i} (`{operand}`) of {} has type {found}, expected {want}", name(m, op));
    at_op(m, op, "E0402", message)
        .upstream(upstream_type(m, op, &format!("operand #{i}"), (ty, arity), &found))
        .at(operand_span(m, op, i))
}

pub(super) fn result_count(m: &Module, op: OpId, want: &str) -> Diagnostic {
    at_op(m, op, "E0403", format!("{} has {want}, found {}", name(m, op), m.n_results(op)))
}

pub(super) fn result_type(m: &Module, op: OpId, i: usize, declared: &ResultDef) -> Diagnostic {
    let ResultDef { name: result, ty, arity } = *declared;
    let found = type_text(&m.cx, m.value_type(m.result(op, i)));
    let want = ty.describe();
    let message = format!("result #{i} (`{result}`) of {} has type {found}, expected {want}", name(m, op));
    at_op(m, op, "E0404", message).upstream(upstream_type(
        m,
        op,
        &format!("result #{i}"),
        (ty, arity),
        &found,
    ))
}

/// TFRT's message for a missing or wrong reference to a function.
fn upstream_symbol(m: &Module, op: OpId, attr: &AttrDef) -> Option<String> {
    let is_symbol = attr.kind == AttrConstraint::FlatSymbol;
    is_symbol
        .then(|| format!("'{}' op requires a '{}' symbol reference attribute", m.op_name_str(op), attr.name))
}

pub(super) fn missing_attr(m: &Module, op: OpId, attr: &AttrDef) -> Diagnostic {
    let message = format!("{} needs the attribute `{}`: {}", name(m, op), attr.name, attr.kind.describe());
    let required = format!("'{}' op requires attribute '{}'", m.op_name_str(op), attr.name);
    let upstream: Vec<String> = [required].into_iter().chain(upstream_symbol(m, op, attr)).collect();
    at_op(m, op, "E0405", message).upstream(upstream.join("\n"))
}

pub(super) fn unnamed_attrs(m: &Module, op: OpId, want: (u32, u32), found: (u32, u32)) -> Diagnostic {
    let count = |(attrs, functions): (u32, u32)| match functions {
        0 => super::table::amount(attrs as usize, false, "attribute"),
        _ => format!(
            "{} and {}",
            super::table::amount(attrs as usize, false, "attribute"),
            super::table::amount(functions as usize, false, "function")
        ),
    };
    at_op(m, op, "E0405", format!("{} takes {}, found {}", name(m, op), count(want), count(found)))
        .help("how they are called does not matter; they are taken in the order of their names")
}

pub(super) fn attr_kind(m: &Module, op: OpId, attr: &AttrDef, found: &str) -> Diagnostic {
    let want = attr.kind.describe();
    let message = format!("attribute `{}` of {} is `{found}`, expected {want}", attr.name, name(m, op));
    let d = at_op(m, op, "E0406", message);
    match upstream_symbol(m, op, attr) {
        Some(text) => d.upstream(text),
        None => d,
    }
}

pub(super) fn region_count(m: &Module, op: OpId, want: usize) -> Diagnostic {
    let found = m.regions_of(op).len();
    at_op(
        m,
        op,
        "E0407",
        format!("{} has {want} region{}, found {found}", name(m, op), if want == 1 { "" } else { "s" }),
    )
}

pub(super) fn successor_count(m: &Module, op: OpId, want: &str) -> Diagnostic {
    at_op(m, op, "E0408", format!("{} has {want}, found {}", name(m, op), m.successors(op).len()))
}

pub(super) fn no_terminator(m: &Module, parent: OpId, region: RegionId, last: Option<OpId>) -> Diagnostic {
    let message = format!("a block of {} does not end with a terminator", name(m, parent));
    let d = at_op(m, last.unwrap_or(parent), "E0409", message)
        .upstream("all functions need to have a tfrt.return");
    match terminators(m, parent, region).as_slice() {
        [] => d,
        [one] => d.help(format!("end the block with `{one}`")),
        [init @ .., one] => {
            let init: Vec<String> = init.iter().map(|name| format!("`{name}`")).collect();
            d.help(format!("end the block with {} or `{one}`", init.join(", ")))
        }
    }
}

/// The terminators of a region that return to its op: the implicit one, those made for the op, or
/// `tfrt.return`.
fn terminators(m: &Module, parent: OpId, region: RegionId) -> Vec<&'static str> {
    let Some(def) = m.def(parent) else { return Vec::new() };
    let at = m.regions_of(parent).iter().position(|&one| one == region);
    if let Some(implicit) = at.and_then(|at| def.regions.get(at)?.implicit) {
        return vec![implicit];
    }
    let ends = || m.cx.registry().iter().filter(|end| end.traits.has(Traits::TERMINATOR));
    let is_return = |end: &&OpDef| end.traits.has(Traits::RETURN) && end.parents.is_empty();
    let of_kernels = || ends().filter(is_return).map(|end| end.name.as_str()).collect();
    if def.has_kernel || def.traits.has(Traits::FUNCTION) && !uses_upstream(m, region) {
        return of_kernels();
    }
    ends().filter(|end| end.parents.contains(&def.name.as_str())).map(|end| end.name.as_str()).collect()
}

/// True if the first op of a region that is in a dialect of kernels or of upstream's is upstream's.
fn uses_upstream(m: &Module, region: RegionId) -> bool {
    let ops = m.blocks_of(region).iter().flat_map(|&block| m.ops_in(block));
    let mut dialects = ops.map(|op| m.op_name_str(op).split('.').next().unwrap_or_default());
    let is_upstream =
        |dialect: &str| matches!(dialect, "arith" | "cf" | "func" | "index" | "math" | "scf" | "vector");
    dialects.find(|dialect| is_upstream(dialect) || dialect.starts_with("tf")).is_some_and(is_upstream)
}

pub(super) fn early_terminator(m: &Module, op: OpId) -> Diagnostic {
    at_op(m, op, "E0410", format!("{} must be the last operation of its block", name(m, op)))
}

pub(super) fn dominance(m: &Module, op: OpId, i: usize, value: ValueId) -> Diagnostic {
    not_defined(m, op, i, value, format!("operand #{i} of {} is used before its definition", name(m, op)))
}

/// A value that some path of control flow does not define. `path` leads from the entry to the use.
pub(super) fn not_on_every_path(
    m: &Module,
    op: OpId,
    i: usize,
    value: ValueId,
    path: &[BlockId],
) -> Diagnostic {
    /// Maximum number of blocks of a path that are shown.
    const SHOWN: usize = 8;
    let from = m.defining_block(value).map_or_else(String::new, |block| block_label(m, block));
    let mut labels: Vec<String> = path.iter().map(|&block| block_label(m, block)).collect();
    if labels.len() > SHOWN {
        labels.splice(SHOWN / 2..labels.len() - SHOWN / 2, ["...".to_owned()]);
    }
    let message = format!(
        "operand #{i} of {} is not defined on the path {}: its definition is in {from}",
        name(m, op),
        labels.join(" -> ")
    );
    not_defined(m, op, i, value, message)
        .help("define it in a block that every path passes, or pass it as an argument of the block")
}

/// A value from a region that does not contain the use.
pub(super) fn not_visible(m: &Module, op: OpId, i: usize, value: ValueId) -> Diagnostic {
    let message = format!("operand #{i} of {} is defined in a region that ends before this use", name(m, op));
    not_defined(m, op, i, value, message)
}

fn not_defined(m: &Module, op: OpId, i: usize, value: ValueId, message: String) -> Diagnostic {
    at_op(m, op, "E0411", message)
        .upstream(format!("operand #{i} does not dominate this use"))
        .at(operand_span(m, op, i))
        .note(m.value_spans.at(value).copied(), "defined here")
}

/// The name of a block in the text, or by its place in the region.
fn block_label(m: &Module, block: BlockId) -> String {
    if let Some(&name) = m.block_names.at(block) {
        return format!("^{}", m.cx.str(name));
    }
    let region = m.block_parent(block);
    let at = region.and_then(|region| m.blocks_of(region).iter().position(|&one| one == block));
    format!("^bb{}", at.unwrap_or_default())
}

pub(super) fn not_isolated(m: &Module, op: OpId, i: usize, value: ValueId, parent: OpId) -> Diagnostic {
    let message = format!(
        "operand #{i} of {} comes from outside of {}, which is isolated from above",
        name(m, op),
        name(m, parent)
    );
    at_op(m, op, "E0412", message)
        .at(operand_span(m, op, i))
        .upstream(CAPTURE)
        .note(m.value_spans.at(value).copied(), "defined here")
        .help("pass it as an argument")
}

/// TFRT's message for a region that uses values from outside.
pub(crate) const CAPTURE: &str = "BEF executor only supports references to kernels within the current region";

pub(super) fn undefined_symbol<'a>(
    m: &Module,
    op: OpId,
    symbol: &str,
    known: impl Iterator<Item = &'a str>,
) -> Diagnostic {
    let plain = symbol.trim_start_matches('@');
    let d = at_op(m, op, "E0413", format!("{} refers to `{symbol}`, which is not defined", name(m, op)))
        .upstream(format!(
            "'{}' op '{plain}' does not reference a valid function\nfunction @{plain} not defined",
            m.op_name_str(op)
        ));
    match nearest(plain, known) {
        Some(near) => d.help(format!("did you mean `@{near}`?")),
        None => d,
    }
}

pub(super) fn redefined_symbol(m: &Module, op: OpId, symbol: &str, first: OpId) -> Diagnostic {
    at_op(m, op, "E0414", format!("redefinition of symbol `@{symbol}`"))
        .note(m.op_spans.at(first).copied(), "first defined here")
}

pub(super) fn call_signature(
    m: &Module,
    op: OpId,
    callee: &str,
    [want, found, upstream]: [&str; 3],
    target: OpId,
) -> Diagnostic {
    at_op(
        m,
        op,
        "E0415",
        format!("{} of `{callee}` has type `{found}`, but the function has type `{want}`", name(m, op)),
    )
    .upstream(format!("'{}' op {upstream}", m.op_name_str(op)))
    .note(m.op_spans.at(target).copied(), "the function is defined here")
}

pub(super) fn return_types(
    m: &Module,
    op: OpId,
    [want, found, upstream]: [&str; 3],
    func: OpId,
) -> Diagnostic {
    at_op(m, op, "E0416", format!("{} gives `{found}`, but the function's results are `{want}`", name(m, op)))
        .upstream(upstream)
        .note(m.op_spans.at(func).copied(), "the function is defined here")
}

pub(super) fn entry_args(m: &Module, op: OpId, want: &str, found: &str) -> Diagnostic {
    at_op(
        m,
        op,
        "E0417",
        format!("the entry block's arguments are `{found}`, but the function's are `{want}`"),
    )
}

pub(super) fn block_count(m: &Module, op: OpId, want: &str, found: usize) -> Diagnostic {
    at_op(m, op, "E0418", format!("a region of {} has {want}, found {found}", name(m, op)))
}

pub(super) fn foreign_successor(m: &Module, op: OpId) -> Diagnostic {
    at_op(m, op, "E0419", format!("{} branches to a block of another region", name(m, op)))
}

pub(super) fn dangling(m: &Module, op: OpId, i: usize) -> Diagnostic {
    at_op(m, op, "E0420", format!("operand #{i} of {} is no longer defined", name(m, op)))
}

pub(super) fn same_types(m: &Module, op: OpId) -> Diagnostic {
    at_op(m, op, "E0421", format!("operands and results of {} must have one type", name(m, op)))
}

pub(super) fn not_a_function(m: &Module, op: OpId, callee: &str, target: OpId) -> Diagnostic {
    at_op(
        m,
        op,
        "E0422",
        format!("{} calls `{callee}`, which is {} and no function", name(m, op), name(m, target)),
    )
    .note(m.op_spans.at(target).copied(), "defined here")
}

pub(super) fn arg_dicts(m: &Module, op: OpId, attr: &str, want: usize, found: usize) -> Diagnostic {
    at_op(m, op, "E0423", format!("`{attr}` of {} has {found} dictionaries for {want} types", name(m, op)))
}

pub(super) fn unregistered_placement(m: &Module, op: OpId) -> Diagnostic {
    at_op(
        m,
        op,
        "E0424",
        format!("{} has successors, so it must be the last operation of its block", name(m, op)),
    )
}

pub(super) fn table_args(m: &Module, op: OpId) -> Diagnostic {
    at_op(m, op, "E0425", format!("the block of {} cannot have arguments", name(m, op)))
}

pub(super) fn visibility(m: &Module, op: OpId, found: &str) -> Diagnostic {
    at_op(m, op, "E0426", format!("the visibility of {} is `{found}`", name(m, op)))
        .help("a symbol is `public`, `private` or `nested`")
}

pub(super) fn same_operand_types(m: &Module, op: OpId) -> Diagnostic {
    at_op(m, op, "E0427", format!("operands of {} must have one type", name(m, op)))
}

pub(super) fn parent(m: &Module, op: OpId, parents: &[&str]) -> Diagnostic {
    let list = parents.iter().map(|p| format!("`{p}`")).collect::<Vec<_>>().join(" or ");
    let d = at_op(m, op, "E0428", format!("{} must stand directly in {list}", name(m, op)));
    match m.parent_op(op) {
        Some(parent) => d.note(m.op_spans.at(parent).copied(), format!("it stands in {}", name(m, parent))),
        None => d,
    }
}

pub(super) fn segments(m: &Module, op: OpId, def: &OpDef, sizes: &[i32]) -> Diagnostic {
    let declared: Vec<&str> = def.operands.iter().map(|o| o.name).collect();
    let d = at_op(
        m,
        op,
        "E0429",
        format!("`operandSegmentSizes` of {} is {sizes:?} for {} operands", name(m, op), m.n_operands(op)),
    );
    d.help(format!("it says how many operands stand for each of: {}", declared.join(", ")))
}

pub(super) fn type_rule(
    m: &Module,
    op: OpId,
    def: &OpDef,
    rule: &TypeRule,
    from: &[TypeId],
    found: &[TypeId],
) -> Diagnostic {
    let list = |types: &[TypeId]| {
        let types: Vec<String> = types.iter().map(|t| type_text(&m.cx, *t)).collect();
        if let [one] = types.as_slice() { one.clone() } else { format!("({})", types.join(", ")) }
    };
    let of = def.value_name(rule.of).unwrap_or_default();
    let source = match rule.from {
        TypeSource::Value(of) => def.value_name(of).unwrap_or_default(),
        TypeSource::Attr(i) => def.attrs.get(i).map_or("", |a| a.name),
        TypeSource::Default(known) => known.name(),
    };
    let want = rule.by.describe();
    at_op(
        m,
        op,
        "E0435",
        format!(
            "`{of}` of {} has type {}, expected {want} `{source}`: {}",
            name(m, op),
            list(found),
            list(from)
        ),
    )
}
