//! Tests of the rewriter and the driver.

use befrost_compiler::dialects::{Folded, OpDef, Registry, TypeConstraint};
use befrost_compiler::ir::{AttrId, KnownType, Module, OpId, Traits, TypeId, ValueId};
use befrost_compiler::print::{PrintOptions, print};
use befrost_compiler::rewrite::*;
use befrost_compiler::syntax::{ParseOptions, parse};

type Rewrite = fn(&mut Rewriter<'_>, OpId) -> Change;

const I32: TypeConstraint = TypeConstraint::Is(KnownType::I32);

/// A dialect for tests: `t.c` constants, `t.add` folds if both operands are constant, `t.two` becomes two
/// `t.one`, `t.spin` is rewritten forever.
fn ops(r: &mut Registry) {
    r.add(
        OpDef::new("t.c", "")
            .attr("value", befrost_compiler::dialects::AttrConstraint::Int(KnownType::I32))
            .result("r", I32)
            .pure()
            .traits(Traits::CONSTANT),
    );
    r.add(OpDef::new("t.add", "").operand("a", I32).operand("b", I32).result("r", I32).pure().folder(
        |m, _, constants| {
            let [Some(a), Some(b)] = constants else { return None };
            let sum = m.cx.as_int(*a)?.wrapping_add(m.cx.as_int(*b)?);
            Some(vec![Folded::Attr(m.cx.int_attr(KnownType::I32.id(), sum))])
        },
    ));
    let two: Rewrite = |r, op| {
        let loc = r.ir().loc(op);
        r.create_named(InsertionPoint::Before(op), loc, "t.one", &[], &[], &[]);
        r.create_named(InsertionPoint::After(op), loc, "t.one", &[], &[], &[]);
        r.erase(op);
        Change::Changed
    };
    let worse: Rewrite = |_, _| panic!("the better pattern comes first");
    r.add(
        OpDef::new("t.two", "")
            .pattern(Pattern { name: "worse", benefit: 1, rewrite: worse })
            .pattern(Pattern { name: "two", benefit: 2, rewrite: two }),
    );
    r.add(OpDef::new("t.one", ""));
    let spin: Rewrite = |r, op| {
        let loc = r.ir().loc(op);
        r.create_named(InsertionPoint::Before(op), loc, "t.spin", &[], &[], &[]);
        r.erase(op);
        Change::Changed
    };
    r.add(OpDef::new("t.spin", "").pattern(Pattern { name: "spin", benefit: 1, rewrite: spin }));
}

fn module(text: &str) -> Module {
    let registry = Registry::new().with(ops).leak();
    let options = ParseOptions { allow_unregistered: true, registry };
    match parse("t", text, &options).module {
        Some(module) => module,
        None => panic!("the test's program is wrong"),
    }
}

/// The ops of a module, one per line.
fn text(m: &Module) -> String {
    let text = print(m, &PrintOptions { generic: true, ..PrintOptions::default() });
    let lines = text.lines().filter(|l| !l.contains("builtin.module") && !l.starts_with("})"));
    lines.map(|l| format!("{}\n", l.trim())).collect()
}

fn materialize(r: &mut Rewriter<'_>, at: OpId, _: &str, value: AttrId, ty: TypeId) -> Option<ValueId> {
    let loc = r.ir().loc(at);
    let op = r.create_named(InsertionPoint::Before(at), loc, "t.c", &[], &[ty], &[("value", value)]);
    Some(r.ir().result(op, 0))
}

#[track_caller]
fn check(config: GreedyConfig, program: &str, expected: &str, converged: bool) {
    let mut m = module(program);
    let top = m.top();
    let outcome = greedy(&mut Rewriter::new(&mut m, top), &config);
    assert_eq!(text(&m), expected);
    assert_eq!(outcome.converged, converged, "{outcome:?}");
}

fn config() -> GreedyConfig {
    GreedyConfig { materialize, ..GreedyConfig::default() }
}

#[test]
fn folds_and_rewrites() {
    let program = "%a = \"t.c\"() {value = 1 : i32} : () -> i32
%b = \"t.add\"(%a, %a) : (i32, i32) -> i32
%c = \"t.add\"(%b, %a) : (i32, i32) -> i32
\"u.use\"(%c) : (i32) -> ()
\"t.two\"() : () -> ()
";
    let after = "%0 = \"t.c\"() <{value = 3 : i32}> : () -> i32
\"u.use\"(%0) : (i32) -> ()
\"t.one\"() : () -> ()
\"t.one\"() : () -> ()
";
    check(config(), program, after, true);
    check(GreedyConfig { top_down: false, ..config() }, program, after, true);
    check(GreedyConfig { max_iterations: Some(1), ..config() }, program, after, false);
    check(config(), after, after, true);
}

#[test]
fn equal_constants_become_one() {
    let program = "\"u.use\"() : () -> ()
%a = \"t.c\"() {value = 1 : i32} : () -> i32
%b = \"t.c\"() {value = 2 : i32} : () -> i32
%c = \"t.c\"() {value = 1 : i32} : () -> i32
\"u.use\"(%a, %b, %c) : (i32, i32, i32) -> ()
";
    // The order is upstream's.
    let after = "%0 = \"t.c\"() <{value = 2 : i32}> : () -> i32
%1 = \"t.c\"() <{value = 1 : i32}> : () -> i32
\"u.use\"() : () -> ()
\"u.use\"(%1, %0, %1) : (i32, i32, i32) -> ()
";
    check(config(), program, after, true);
}

#[test]
fn the_budget_ends_what_has_no_end() {
    let program = "\"t.spin\"() : () -> ()\n";
    check(GreedyConfig { max_rewrites: Some(100), ..config() }, program, program, false);
}

#[test]
fn blocks_split_and_merge() {
    let mut m = module(
        "\"u.f\"() ({\n^a(%x: i32):\n \"u.a\"(%x) : (i32) -> ()\n \"u.b\"() : () -> ()\n \"u.c\"() : () -> ()\n}) : () -> ()\n",
    );
    let before = text(&m);
    let top = m.top();
    let find = |m: &Module, name: &str| m.walk(top).find(|op| m.op_name_str(*op) == name);
    let Some(b) = find(&m, "u.b") else { panic!("no u.b") };
    let mut r = Rewriter::new(&mut m, top);
    let rest = r.split_block(b);
    let Some(first) = r.ir().block_parent(rest).and_then(|region| r.ir().entry(region)) else {
        panic!("no entry")
    };
    assert_eq!(r.ir().ops_in(first).count(), 1);
    assert_eq!(r.ir().ops_in(rest).count(), 2);
    r.merge_block(rest, first, &[]);
    assert_eq!(r.change(), Change::Changed);
    assert_eq!(text(&m), before);
}

#[test]
fn copies_refer_to_copies() {
    // A use precedes its definition in the text, and blocks contain blocks.
    let mut m = module(
        "\"u.f\"() ({
^a(%x: i32):
  \"u.br\"()[^c] : () -> ()
^b:
  \"u.use\"(%y, %x) : (i32, i32) -> ()
^c:
  %y = \"u.def\"() ({
    \"u.in\"(%x) : (i32) -> ()
  }) : () -> i32
  \"u.br\"()[^b] : () -> ()
}) : () -> ()
",
    );
    let top = m.top();
    let Some(f) = m.walk(top).nth(1) else { panic!("no op") };
    let region = m.regions_of(f)[0];
    let blocks = m.blocks_of(region).to_vec();
    let mut r = Rewriter::new(&mut m, top);
    let mut copies = IrMapping::default();
    r.copy_blocks(&blocks, blocks[2], &mut copies, &mut |_, loc| loc);
    assert_eq!(copies.n_ops, 5);
    let copied = m.blocks_of(region)[3..].to_vec();
    assert_eq!(copied.len(), 3);
    for op in copied.iter().flat_map(|b| m.ops_in(*b)).flat_map(|op| m.walk(op)) {
        for value in m.operands(op) {
            let block = m.defining_block(value);
            assert!(block.is_some_and(|b| copied.contains(&b)), "{op:?} uses {value:?} of the original");
        }
        assert!(m.successors(op).iter().all(|b| copied.contains(b)));
    }
}
