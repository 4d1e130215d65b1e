//! Hostile files that pass validation: raising them results in IR or an error, never in a panic.

use bef_format::write::{FunctionBuilder, KernelSpec, Writer, update_checksums};
use bef_format::{AlignedBytes, DType, FunctionKind, StringId, validate};
use befrost_compiler::emit::{EmitOptions, emit};
use befrost_compiler::print::{PrintOptions, print};
use befrost_compiler::raise::raise;
use befrost_compiler::syntax::{ParseOptions, parse};
use befrost_compiler::verify::verify;
use proptest::prelude::*;
use proptest::sample::Index;

const PROGRAM: &str = r##"
module @m attributes {a.b = 1 : i32} {
func.func @add(%x: i32 {bef.name = "left"}, %y: i32) -> (i32 {bef.name = "sum"}, i32) {
  %q, %r = tfrt.div.i32 %x, %y
  %1 = "tfrt.minus.i32"(%q, %r) {_tfrt_cost = 7 : i64} : (i32, i32) -> i32 loc("name"("a.mlir":3:4))
  tfrt.return %1, %1 : i32, i32
}
func.func @main(%c: i1, %ch: !tfrt.chain) -> i32 attributes {tfrt.sync} {
  %k = tfrt.constant.i32 42
  %s:2 = tfrt.call @add(%k, %k) : (i32, i32) -> (i32, i32)
  %sel = "tfrt_test.select.i32"(%c, %s#0, %s#1) : (i1, i32, i32) -> i32
  %shape = ts.build_shape [2 : i64, 3 : i64]
  %t = "cpu.constant"() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> !t.tensor
  %0 = "t.if"(%c, %k) <{then = @add}> ({
  ^bb0(%a: i32):
    tfrt.return %a : i32
  }, {
  }) {branches = [@add, @main], d = {x = [1, "a"], y = @elsewhere}, s = [1 : i8, -1 : i8], e = array<i32: 1>, n = #corert.shape<1x?>,
      z = 123456789012345678901234567890 : i128, f = 0x7F800001 : f32, ty = tuple<i32, f32>} : (i1, i32) -> i32
  tfrt.return %0 : i32
}
func.func private @native(i32) -> f32 attributes {tfrt.native}
}
"##;

fn program() -> AlignedBytes {
    let options = ParseOptions { allow_unregistered: true, ..ParseOptions::default() };
    let module = parse("hostile.mlir", PROGRAM, &options).module.expect("the program is right");
    let module = verify(module).expect("the program is right");
    AlignedBytes::copy_of(&emit(&module, &EmitOptions::default()).expect("has a form"))
}

/// Raises a file if it is valid; prints the module if it verifies. Returns the number of passed stages.
fn survives(bytes: &AlignedBytes) -> u8 {
    let Ok(image) = validate(bytes) else { return 0 };
    let Ok(module) = raise(&image) else { return 1 };
    let Ok(module) = verify(module) else { return 2 };
    for (generic, keep_names) in [(false, false), (false, true), (true, false)] {
        print(&module, &PrintOptions { generic, keep_names, locations: true, ..PrintOptions::default() });
    }
    // Emission may fail, but must not panic.
    let _ = emit(&module, &EmitOptions::default());
    3
}

#[test]
fn every_changed_byte_survives() {
    let bytes = program();
    assert_eq!(survives(&bytes), 3);
    let mut n = [0; 4];
    for i in 0..bytes.len() {
        for value in [bytes[i] ^ 1, bytes[i].wrapping_add(1), bytes[i] ^ 0x80] {
            let mut copy = bytes.clone();
            copy[i] = value;
            update_checksums(&mut copy);
            n[usize::from(survives(&copy))] += 1;
        }
    }
    assert!(n.iter().all(|&n| n > 10), "each stage refuses some: {n:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_changes_survive(changes in proptest::collection::vec((any::<Index>(), 0..40u8), 1..6)) {
        let mut bytes = program();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        update_checksums(&mut bytes);
        survives(&bytes);
    }
}

/// Checks that raising a handmade file is refused with a message that contains `part`.
#[track_caller]
fn check<T>(build: impl FnOnce(&mut Writer) -> T, part: &str) {
    let mut w = Writer::new();
    build(&mut w);
    let bytes = AlignedBytes::copy_of(&w.finish().expect("can be written"));
    let image = validate(&bytes).expect("is valid");
    match raise(&image) {
        Ok(_) => panic!("accepted"),
        Err(diags) => assert!(diags[0].message.contains(part), "`{}` lacks `{part}`", diags[0].message),
    }
}

/// Adds a function `f` with one kernel.
fn kernel(w: &mut Writer, name: &str, spec: impl FnOnce(&mut Writer, &mut KernelSpec<'_>)) {
    let mut f = FunctionBuilder::new(w.string("f"), FunctionKind::Async);
    let mut kernel = KernelSpec { code: w.kernel_name(name), ..KernelSpec::default() };
    spec(w, &mut kernel);
    f.kernel(&kernel);
    w.add(f);
}

#[test]
fn texts_that_are_not_one_thing() {
    for text in [
        "][",
        "i32, i32",
        "",
        " i32",
        "i32]} : () -> ()\n\"t.x\"() {a = [i32",
        "tensor<2xi32",
        "// comment",
        "\"text\"",
        "1",
    ] {
        if !text.is_empty() {
            check(|w| w.ty(text), "");
        }
        if !text.is_empty() && text != "1" && text != "\"text\"" {
            check(|w| w.attr_text(text), "");
        }
        if !text.is_empty() {
            check(|w| w.location_text(text), "");
        }
    }
    check(|w| w.ty(&"tuple<".repeat(5000)), "cannot be read");
}

#[test]
fn numbers_and_tensors_that_do_not_fit_their_types() {
    let ty = |w: &mut Writer, text: &str| w.ty(text);
    check(
        |w| {
            let t = ty(w, "f32");
            w.attr_int(t, None, 1);
        },
        "an integer of its type",
    );
    check(
        |w| {
            let t = ty(w, "i7");
            w.attr_int(t, None, 100);
        },
        "an integer of its type",
    );
    check(
        |w| {
            let t = ty(w, "i1");
            w.attr_int(t, None, 1);
        },
        "an integer of its type",
    );
    check(
        |w| {
            let t = ty(w, "i32");
            w.attr_scalars(t, DType::F32, &[0; 8], true);
        },
        "no `i32`",
    );
    check(
        |w| {
            let t = ty(w, "tensor<3xi8>");
            w.attr_dense(t, DType::I8, &[2], &[0; 2], false);
        },
        "no `tensor<3xi8>`",
    );
    check(
        |w| {
            let t = ty(w, "tensor<?xi8>");
            w.attr_dense(t, DType::I8, &[2], &[0; 2], false);
        },
        "no `tensor<?xi8>`",
    );
    check(
        |w| {
            let t = ty(w, "tensor<2xi1>");
            w.attr_dense(t, DType::I1, &[2], &[0, 9], false);
        },
        "no `tensor<2xi1>`",
    );
}

#[test]
fn kernels_that_are_no_ops() {
    for name in ["func.func", "builtin.module", "tfrt.return"] {
        check(|w| kernel(w, name, |_, _| ()), "cannot stand in a body");
    }
    check(
        |w| {
            let (unit, name) = (w.attr_unit(), w.string("twice"));
            let mut f = FunctionBuilder::new(w.string("f"), FunctionKind::Async);
            let code = w.kernel_name("t.op");
            f.kernel(&KernelSpec {
                code,
                attrs: &[unit, unit],
                attr_names: &[name, name],
                ..Default::default()
            });
            w.add(f);
        },
        "two attributes called `twice`",
    );
}

#[test]
fn regions_without_a_place() {
    check(|w| w.add(FunctionBuilder::new(StringId(0), FunctionKind::Async)), "no kernel refers to it");
    // A region that contains itself, and one with two owners.
    for (n_owners, part) in [(1, "no kernel refers to it"), (2, "of more than one")] {
        check(
            |w| {
                let body = w.declare();
                let code = w.kernel_name("t.op");
                let spec = KernelSpec { code, functions: &[body], ..KernelSpec::default() };
                let mut f = FunctionBuilder::new(StringId(0), FunctionKind::Async);
                f.kernel(&spec);
                w.define(body, f);
                if n_owners == 2 {
                    let mut f = FunctionBuilder::new(w.string("f"), FunctionKind::Async);
                    f.kernel(&spec);
                    w.add(f);
                }
            },
            part,
        );
    }
}

/// Deeply nested regions cost heap, not stack.
#[test]
fn deep_regions() {
    let n = 100_000;
    let mut w = Writer::new();
    let ids: Vec<_> = (0..n).map(|_| w.declare()).collect();
    let code = w.kernel_name("t.op");
    for i in 0..n {
        let name = if i == 0 { w.string("f") } else { StringId(0) };
        let mut f = FunctionBuilder::new(name, FunctionKind::Async);
        if let Some(&next) = ids.get(i + 1) {
            f.kernel(&KernelSpec { code, functions: &[next], ..KernelSpec::default() });
        }
        w.define(ids[i], f);
    }
    let bytes = AlignedBytes::copy_of(&w.finish().expect("can be written"));
    let module = raise(&validate(&bytes).expect("valid")).expect("has a form");
    let module = verify(module).expect("well-formed");
    let again = emit(&module, &EmitOptions::default()).expect("has a form");
    assert_eq!(validate(&AlignedBytes::copy_of(&again)).expect("valid").n_functions(), n as u32);
}
