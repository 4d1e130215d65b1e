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
        assert!(!def.summary.is_empty());
    }
}

#[test]
fn definitions_made_late_are_of_the_dialects_that_they_are_looked_up_by() {
    for lazy in &Registry::standard().lazy {
        for def in lazy.get().iter() {
            assert!(lazy.dialects.contains(&def.dialect()), "{}", def.name);
            assert!(def.default_dialect.is_empty() && lazy.get().aliases.is_empty(), "{}", def.name);
        }
        assert!(lazy.dialects.iter().all(|dialect| lazy.get().has_dialect(dialect)));
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

#[test]
fn views_name_what_the_table_declares() {
    for views in [arith::VIEWS, cf::VIEWS, func::VIEWS, scf::VIEWS, tfrt::VIEWS, tfrt_control::VIEWS] {
        assert_eq!(view::disagreements(Registry::standard(), views), Vec::<String>::new());
    }
    const WRONG: &[view::Declared] = &[view::Declared {
        op: "scf.for",
        parts: &[("init_args", <view::Operand<3> as view::ViewPart>::declared)],
    }];
    let found = view::disagreements(Registry::standard(), WRONG);
    assert_eq!(found, ["scf.for: init_args is None"], "a variadic operand is no single one");
}
