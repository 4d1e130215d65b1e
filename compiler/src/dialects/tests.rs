//! Tests of the op table.

use super::*;

#[test]
fn standard_registry_is_consistent() {
    let registry = Registry::standard();
    for def in registry.iter() {
        let variadic = |arities: Vec<Arity>| arities.iter().filter(|a| **a != Arity::One).count() <= 1;
        let segments = def.traits.has(Traits::OPERAND_SEGMENTS);
        assert!(segments || variadic(def.operands.iter().map(|o| o.arity).collect()), "{}", def.name);
        assert!(variadic(def.results.iter().map(|r| r.arity).collect()), "{}", def.name);
        assert!(def.attrs.is_sorted_by_key(|a| a.name), "{}", def.name);
        assert!(def.kernels.iter().all(|k| !k.kernel.is_empty()));
        assert!(!def.summary.is_empty());
    }
}

#[test]
fn implicit_chain_only_where_none_is_declared() {
    let r = Registry::standard();
    let accepts = |name: &str| r.find(name).map(OpDef::accepts_implicit_chain);
    assert_eq!(accepts("tfrt.add.i32"), Some(true));
    assert_eq!(accepts("tfrt.print.i32"), Some(false));
    assert_eq!(accepts("tfrt_test.sum"), Some(false));
    assert_eq!(accepts("tfrt.return"), Some(false));
}

#[test]
fn variadic_positions() {
    let def = OpDef::new("t.x", "")
        .operand("a", TypeConstraint::Any)
        .operand_with("b", TypeConstraint::Any, Arity::Variadic, OperandMode::Lenient)
        .operand("c", TypeConstraint::Any);
    let names: Vec<_> = (0..4).map(|i| def.operand_def(i, 4).map(|o| o.name)).collect();
    assert_eq!(names, [Some("a"), Some("b"), Some("b"), Some("c")]);
    assert_eq!(def.operand_def(1, 2).map(|o| o.name), Some("c"));
}

#[test]
fn formats_are_checked() {
    let def = OpDef::new("t.x", "").operand("a", TypeConstraint::Any);
    assert!(Format::parse("$a attr-dict", &def).is_err());
    assert!(Format::parse("$a attr-dict `:` type($a)", &def).is_ok());
    assert!(Format::parse("$b", &def).is_err());
    assert!(Format::parse("$a (`x`", &def).is_err());
}

/// What is wrong with the views of a dialect; nothing if names and numbers are those of the table.
fn check_views(views: &[view::Declared], wrong: &mut Vec<String>) {
    for view in views {
        let Some(def) = Registry::standard().find(view.op) else {
            wrong.push(format!("{} is not registered", view.op));
            continue;
        };
        let parts = view.parts.iter().filter(|(name, declared)| declared(def) != Some(*name));
        wrong.extend(parts.map(|(name, declared)| format!("{}: {name} is {:?}", view.op, declared(def))));
    }
}

#[test]
fn views_name_what_the_table_declares() {
    let mut wrong = Vec::new();
    for views in [arith::VIEWS, cf::VIEWS, func::VIEWS, scf::VIEWS] {
        check_views(views, &mut wrong);
    }
    assert_eq!(wrong, Vec::<String>::new());
    const BAD: &[view::Declared] = &[view::Declared {
        op: "scf.for",
        parts: &[("init_args", <view::Operand<3> as view::Part>::declared)],
    }];
    check_views(BAD, &mut wrong);
    assert_eq!(wrong, ["scf.for: init_args is None"], "a variadic operand is no single one");
}
