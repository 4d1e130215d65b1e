//! Tests of passes over loops and branches, with a dialect for the tests.

use crate::dialects::{Arity, AttrConstraint, OpDef, OperandMode, Registry, Traits, TypeConstraint};
use crate::ir::{KnownType, Module};
use crate::pass::{Change, Pass, PassManager, RunOptions, inline, licm};
use crate::print::{PrintOptions, print};
use crate::syntax::{ParseOptions, parse};
use crate::verify::Verified;

/// The passes of these tests; a pipeline among all would have all of them built once more.
const PASSES: &[Pass] = &[inline::PASS, licm::PASS];

const I32: TypeConstraint = TypeConstraint::Is(KnownType::I32);

fn ops(r: &mut Registry) {
    let many =
        |def: OpDef| def.operand_with("a", TypeConstraint::Any, Arity::Variadic, OperandMode::Required);
    let pure = |name: &str| OpDef::new(name, "").operand("a", I32).operand("b", I32).result("r", I32).pure();
    r.add(pure("t.add"));
    r.add(pure("t.div").traits(Traits::TRAPS));
    r.add(
        OpDef::new("t.c", "")
            .attr("value", AttrConstraint::Int(KnownType::I32))
            .result("r", I32)
            .pure()
            .traits(Traits::CONSTANT),
    );
    r.add(many(OpDef::new("t.use", "")));
    r.add(OpDef::new("t.loop", "").region("body", false).traits(Traits::LOOP));
    r.add(
        OpDef::new("t.func", "")
            .region("body", true)
            .traits(Traits::FUNCTION.and(Traits::SYMBOL).and(Traits::ISOLATED)),
    );
    r.add(
        many(OpDef::new("t.call", ""))
            .result_with("r", TypeConstraint::Any, Arity::Variadic)
            .callee("callee")
            .traits(Traits::CALL),
    );
    r.add(many(OpDef::new("t.return", "")).traits(Traits::TERMINATOR.and(Traits::RETURN)));
}

fn module(program: &str) -> Module {
    let registry = Registry::new().with(ops).leak();
    match parse("t", program, &ParseOptions { allow_unregistered: true, registry }).module {
        Some(module) => module,
        None => panic!("the test's program is wrong"),
    }
}

/// The ops, one per line, without types.
fn short(m: &Module) -> String {
    let text = print(m, &PrintOptions { generic: true, ..PrintOptions::default() });
    let lines =
        text.lines().map(str::trim).filter(|l| !l.contains("builtin.module") && *l != "}) : () -> ()");
    let cut =
        |l: &str| l.split("  //").next().unwrap_or("").split(" : ").next().unwrap_or("").replace('"', "");
    lines.map(cut).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn check(pipeline: &str, program: &str, expected: &str) {
    let m = Verified::unchecked(module(program));
    let Ok(mut pm) = PassManager::parse_among(pipeline, PASSES) else { panic!("no such pass") };
    let before = print(&m, &PrintOptions::default());
    let mut options = RunOptions::default();
    let Ok((m, change)) = pm.run_with(m, &mut options) else { panic!("{pipeline} fails") };
    assert_eq!(short(&m), expected);
    let after = print(&m, &PrintOptions::default());
    assert_eq!(change == Change::Changed, before != after);
}

#[test]
fn invariant_code_moves_out_of_loops() {
    let program = r#"
%x = "u.x"() : () -> i32
"t.loop"() ({
^a(%i: i32):
  %two = "t.c"() {value = 2 : i32} : () -> i32
  %a = "t.add"(%x, %two) : (i32, i32) -> i32
  %b = "t.add"(%a, %i) : (i32, i32) -> i32
  %c = "t.div"(%x, %x) : (i32, i32) -> i32
  %d = "t.div"(%x, %two) : (i32, i32) -> i32
  "t.loop"() ({
    %e = "t.add"(%a, %a) : (i32, i32) -> i32
    %f = "t.add"(%b, %e) : (i32, i32) -> i32
    "t.use"(%e, %f) : (i32, i32) -> ()
  }) : () -> ()
  "t.use"(%b, %c, %d) : (i32, i32, i32) -> ()
}) : () -> ()
"#;
    let expected = "%0 = u.x()
%1 = t.c() <{value = 2
%2 = t.add(%0, %1)
%3 = t.div(%0, %1)
%4 = t.add(%2, %2)
t.loop() ({
^bb0(%arg0: i32):
%5 = t.add(%2, %arg0)
%6 = t.div(%0, %0)
%7 = t.add(%5, %4)
t.loop() ({
t.use(%4, %7)
t.use(%5, %6, %3)";
    check("loop-invariant-code-motion", program, expected);
    check("func.func(loop-invariant-code-motion)", "\"t.use\"() : () -> ()", "t.use()");
}

#[test]
fn bodies_of_several_blocks_split_the_block_of_the_call() {
    let program = r#"
"t.func"() ({
^a(%x: i32):
  "t.use"(%x) : (i32) -> ()
  "u.br"(%x)[^b] : (i32) -> ()
^b:
  "t.return"(%x) : (i32) -> ()
}) {sym_name = "callee", sym_visibility = "private"} : () -> ()
"t.func"() ({
^a(%y: i32):
  %r = "t.call"(%y) {callee = @callee} : (i32) -> i32
  "t.return"(%r) : (i32) -> ()
}) {sym_name = "caller"} : () -> ()
"#;
    // The branch is not registered, so the call and the callee stay.
    check("inline", program, &short(&module(program)));
    let known = program.replace("\"u.br\"(%x)[^b] : (i32) -> ()", "\"t.return\"(%x) : (i32) -> ()");
    let expected = "t.func() ({
^bb0(%arg0: i32):
t.use(%arg0)
cf.br(%arg0)[^bb2]
^bb1:
cf.br(%arg0)[^bb2]
^bb2(%0: i32):
t.return(%0)
}) {sym_name = caller}";
    check("inline", &known, expected);
}
