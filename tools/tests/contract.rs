//! The contract between compiler and runtime. Every op with a kernel has a registered kernel with the same
//! operands, results, attributes and functions, the same completion and the same strictness. Every registered
//! kernel has an op.
#![forbid(unsafe_code)]

use befrost::Kernel;
use befrost_compiler::dialects::{
    Arity, AttrConstraint, AttrDef, ElementKind, OpDef, OperandDef, OperandMode, Registry, TypeConstraint,
};
use befrost_compiler::ir::KnownType;
use befrost_kernel_api::kernel::{Async, Attr, Completion, Types};

/// The operands or results of an op or a kernel: the type of each, and the type of variadic ones, if any.
/// `None` as a type is any type.
#[derive(Debug, PartialEq, Eq)]
struct Side {
    fixed: Vec<Option<String>>,
    rest: Option<Option<String>>,
}

fn of_op(defs: impl Iterator<Item = (TypeConstraint, Arity)>) -> Side {
    let name = |ty: TypeConstraint| match ty {
        TypeConstraint::Is(known) => Some(known.name().to_owned()),
        TypeConstraint::Opaque(name) => Some(name.to_owned()),
        TypeConstraint::AnyTensor => Some("!t.tensor".to_owned()),
        // A kernel for all integers or all floats has the narrowest of them in its list of types.
        TypeConstraint::Like(kind) | TypeConstraint::LikeOrMemRef(kind) => Some(match kind {
            ElementKind::Float => "f16".to_owned(),
            _ => "i1".to_owned(),
        }),
        _ => None,
    };
    let mut side = Side { fixed: Vec::new(), rest: None };
    for (ty, arity) in defs {
        match arity {
            Arity::One => side.fixed.push(name(ty)),
            Arity::Optional | Arity::Variadic => side.rest = Some(name(ty)),
        }
    }
    side
}

/// The operands or results of a kernel. An empty list of types is any type.
fn of_kernel(fixed: &[Types], rest: Option<Types>) -> Side {
    let name = |types: &Types| (!types.is_empty()).then(|| types.join("|"));
    Side { fixed: fixed.iter().map(name).collect(), rest: rest.as_ref().map(name) }
}

/// True if an op's operands or results fit its kernel's. Where the kernel takes any type or one of several,
/// the op may be more specific.
fn agree(op: &Side, kernel: &Side) -> bool {
    let same = |op: &Option<String>, kernel: &Option<String>| match (op, kernel) {
        (_, None) => true,
        (Some(op), Some(kernel)) => kernel.split('|').any(|name| name == op),
        (None, Some(_)) => false,
    };
    op.fixed.len() == kernel.fixed.len()
        && op.fixed.iter().zip(&kernel.fixed).all(|(op, kernel)| same(op, kernel))
        && match (&op.rest, &kernel.rest) {
            (None, None) => true,
            (Some(op), Some(kernel)) => same(op, kernel),
            _ => false,
        }
}

/// The differences between an op and its kernel.
fn differences(op: &OpDef, kernel: &Kernel) -> Vec<String> {
    let signature = &kernel.signature;
    let mut found = Vec::new();
    // A kernel does not see the operands after which it runs.
    // Edges are waited for, and no kernel sees them.
    let is_edge = |o: &OperandDef| matches!(o.mode, OperandMode::After | OperandMode::Order);
    let seen = op.operands.iter().filter(|&o| !is_edge(o));
    let operands = of_op(seen.map(|o| (o.ty, o.arity)));
    let results = of_op(op.results.iter().map(|r| (r.ty, r.arity)));
    let kernel_operands = of_kernel(&signature.operands, signature.rest);
    let kernel_results = of_kernel(&signature.results, signature.rest_results);
    let is_function = |kind: AttrConstraint| {
        matches!(kind, AttrConstraint::FlatSymbol | AttrConstraint::Symbol | AttrConstraint::SymbolArray)
    };
    let more_functions = op.attrs.iter().any(|a| a.kind == AttrConstraint::SymbolArray);
    let is_one = |kind: AttrConstraint| is_function(kind) && kind != AttrConstraint::SymbolArray;
    let n_functions = op.attrs.iter().filter(|a| is_one(a.kind)).count() + op.regions.len();
    let n_functions = n_functions + op.unnamed.1 as usize;
    // The cost is a field of the kernel's record.
    let is_cost = |a: &AttrDef| a.name == "_tfrt_cost";
    let is_there = |a: &&AttrDef| a.required || a.default.is_some();
    // An optional attribute counts only if one that is always there follows it.
    let own_attrs: Vec<&AttrDef> = op.attrs.iter().filter(|a| !is_function(a.kind) && !is_cost(a)).collect();
    let n_attrs = own_attrs.iter().rposition(is_there).map_or(0, |last| last + 1) + op.unnamed.0 as usize;
    let mut kernel_names = signature.attr_names.clone();
    kernel_names.iter_mut().for_each(|names| names.sort_unstable());
    let own = || op.attrs.iter().filter(|a| !is_function(a.kind)).map(|a| a.name);
    let names: Option<Vec<&str>> = op.named_attrs.then(|| own().collect());
    let mut check = |same: bool, what: &str, op_says: String, kernel_says: String| {
        if !same {
            found.push(format!("'{}': {what}: the op says {op_says}, the kernel {kernel_says}", op.name));
        }
    };
    check(
        agree(&operands, &kernel_operands),
        "operands",
        format!("{operands:?}"),
        format!("{kernel_operands:?}"),
    );
    check(agree(&results, &kernel_results), "results", format!("{results:?}"), format!("{kernel_results:?}"));
    check(
        n_attrs == signature.attrs.len(),
        "attributes",
        n_attrs.to_string(),
        signature.attrs.len().to_string(),
    );
    check(names == kernel_names, "names of attributes", format!("{names:?}"), format!("{kernel_names:?}"));
    check(
        n_functions == signature.n_functions as usize,
        "functions",
        n_functions.to_string(),
        signature.n_functions.to_string(),
    );
    check(
        more_functions == signature.more_functions,
        "further functions",
        more_functions.to_string(),
        signature.more_functions.to_string(),
    );
    let calls = n_functions > 0 || more_functions;
    check(
        calls == signature.calls.is_some(),
        "calls",
        calls.to_string(),
        signature.calls.is_some().to_string(),
    );
    let mut others = op.operands.iter().filter(|&o| !is_edge(o));
    let waits = op.operands.iter().any(is_edge);
    let strict = op.is_strict() || waits && others.all(|o| o.mode == OperandMode::Required);
    check(
        strict != signature.takes_any_state,
        "strict",
        strict.to_string(),
        (!signature.takes_any_state).to_string(),
    );
    // A kernel that forwards a value in any state may be complete when it returns; the value need not be
    // final.
    let sync = signature.completion == Completion::Sync;
    check(op.sync == sync || signature.takes_any_state, "synchronous", op.sync.to_string(), sync.to_string());
    found
}

/// The differences between all ops and all kernels: those of the host, and those of single kinds of devices.
fn disagreements(ops: &Registry, kernels: &befrost::Registry) -> Vec<String> {
    let mut found = Vec::new();
    let of_kinds: Vec<(&str, &Kernel)> = kernels.iter_on().collect();
    for op in ops.iter().filter(|op| op.has_kernel) {
        match kernels.find(&op.name) {
            Some(kernel) => found.extend(differences(op, kernel)),
            None if of_kinds.iter().any(|(_, kernel)| kernel.name == op.name) => {}
            None => found.push(format!("'{}' has no kernel", op.name)),
        }
    }
    let with_kernel = |name: &str| ops.find(name).filter(|op| op.has_kernel);
    // A name without a dot is that of a native function, which is called and needs no op.
    for kernel in kernels.iter().filter(|kernel| kernel.name.contains('.')) {
        if with_kernel(kernel.name).is_none() {
            found.push(format!("no op names the kernel '{}'", kernel.name));
        }
    }
    for (kind, kernel) in of_kinds {
        match with_kernel(kernel.name) {
            Some(op) => found.extend(differences(op, kernel).into_iter().map(|why| format!("{kind}: {why}"))),
            None => found.push(format!("{kind}: no op names the kernel '{}'", kernel.name)),
        }
    }
    found
}

#[test]
fn ops_and_kernels_agree() {
    let found = disagreements(Registry::standard(), &befrost::registry());
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

#[test]
fn kernels_of_a_kind_of_devices_agree_too() {
    let ops = Registry::standard();
    let with = |kernel: Kernel| {
        let mut kernels = befrost::registry();
        kernels.add_on("TOY", kernel);
        disagreements(ops, &kernels).join("\n")
    };
    let name = "tfrt.add.i32";
    assert_eq!(with(befrost::kernel!(name, |a: i32, b: i32| a - b)), "");
    let found = with(befrost::kernel!(name, |a: i32| a));
    assert!(found.starts_with("TOY: 'tfrt.add.i32': operands: "), "{found}");
    let found = with(befrost::kernel!("toy.unknown", |a: i32| a));
    assert_eq!(found, "TOY: no op names the kernel 'toy.unknown'");
}

const I32: TypeConstraint = TypeConstraint::Is(KnownType::I32);

#[test]
fn disagreement_is_noticed() {
    let op = OpDef::new("t.x", "").operand("a", I32).result("r", I32).kernel();
    let check = |kernel: Kernel, what: Option<&str>| {
        let found = differences(&op, &kernel);
        match what {
            None => assert!(found.is_empty(), "{found:?}"),
            Some(what) => assert!(found.iter().any(|line| line.contains(what)), "{found:?} lacks {what}"),
        }
    };
    check(befrost::kernel!("t.x", |a: i32| a), None);
    check(befrost::kernel!("t.x", |a: i64| a as i32), Some("operands"));
    check(befrost::kernel!("t.x", |a: i32, b: i32| a + b), Some("operands"));
    check(befrost::kernel!("t.x", |a: i32| (a, a)), Some("results"));
    check(befrost::kernel!("t.x", |a: i32| i64::from(a)), Some("results"));
    check(befrost::kernel!("t.x", |a: i32, b: Attr<i32>| a + b.0), Some("attributes"));
    check(befrost::kernel!("t.x", |a: &befrost::Value| a.clone()), Some("strict"));
    check(befrost::kernel!("t.x", later), Some("synchronous"));

    let named = |more: &'static str| {
        let op = OpDef::new("t.x", "").operand("a", I32).result("r", I32).kernel().named_attrs();
        let op = op.optional_attr("b", AttrConstraint::Any).optional_attr(more, AttrConstraint::Any);
        move |kernel: Kernel| differences(&op, &kernel).join("\n")
    };
    assert_eq!(named("a")(befrost::kernel!("t.x", |a: i32| a, |_| vec!["b", "a"])), "");
    assert!(
        named("c")(befrost::kernel!("t.x", |a: i32| a, |_| vec!["a", "b"])).contains("names of attributes")
    );
    assert!(named("c")(befrost::kernel!("t.x", |a: i32| a, |_| vec!["b"])).contains("names of attributes"));
    assert!(named("c")(befrost::kernel!("t.x", |a: i32| a)).contains("names of attributes"));
}

fn later(a: i32) -> Async<i32> {
    let (promise, value) = Async::pending();
    promise.set(a.into());
    value
}
