//! Tests of the parser: accepted programs and their printed form, refused programs and their errors.

mod hostile;
mod mistakes;

use befrost_compiler::diag::MAX_ERRORS;
use befrost_compiler::print::{PrintOptions, print};
use befrost_compiler::syntax::*;

fn run(text: &str) -> ParseResult {
    parse("t.mlir", text, &ParseOptions { allow_unregistered: true, ..ParseOptions::default() })
}

fn shown(r: &ParseResult) -> Vec<String> {
    r.diagnostics.iter().map(|d| d.render_short(&r.source)).collect()
}

/// Checks that `text` parses, and prints as `expected` in custom form; printing is a fixpoint in every form.
#[track_caller]
fn check_prints(text: &str, expected: &str) {
    let r = run(text);
    assert!(r.module.is_some(), "{text}\n{:#?}", shown(&r));
    let Some(m) = r.module else { return };
    assert_eq!(print(&m, &PrintOptions::default()), expected);
    for bits in 0..8 {
        let options = PrintOptions {
            generic: bits & 1 != 0,
            keep_names: bits & 2 != 0,
            locations: bits & 4 != 0,
            ..PrintOptions::default()
        };
        let once = print(&m, &options);
        let again = run(&once);
        assert!(again.module.is_some(), "{once}\n{:#?}", shown(&again));
        if let Some(m) = again.module {
            assert_eq!(print(&m, &options), once, "with {options:?}");
            if !options.locations {
                assert_eq!(print(&m, &PrintOptions::default()), expected, "after {options:?}");
            }
        }
    }
}

/// Checks that a text prints unchanged.
#[track_caller]
fn check_same(text: &str) {
    check_prints(text, text);
}

/// Checks that one op in a module prints unchanged.
#[track_caller]
fn check_op(op: &str) {
    check_same(&format!("module {{\n  {op}\n}}\n"));
}

/// Checks that an attribute prints as `expected`.
#[track_caller]
fn check_attr(attr: &str, expected: &str) {
    check_prints(
        &format!("\"t.x\"() {{a = {attr}}} : () -> ()"),
        &format!("module {{\n  \"t.x\"() {{a = {expected}}} : () -> ()\n}}\n"),
    );
}

#[track_caller]
fn check_type(ty: &str) {
    check_op(&format!("%0 = \"t.x\"() : () -> {ty}"));
}

/// Checks all errors, as `line:col code` and part of the message.
#[track_caller]
fn check_errors(text: &str, expected: &[&str]) {
    let r = run(text);
    let found: Vec<String> = r
        .diagnostics
        .iter()
        .map(|d| {
            let (line, col) = d.span.map_or((0, 0), |s| r.source.line_col(s.start));
            format!("{line}:{col} {}: {} {}", d.code, d.message, d.help.as_deref().unwrap_or(""))
        })
        .collect();
    let same = found.len() == expected.len()
        && found.iter().zip(expected).all(|(f, e)| e.split("..").all(|part| f.contains(part)));
    assert!(same, "{text}\nexpected {expected:#?}\nfound {found:#?}");
    assert!(r.module.is_none());
}

#[test]
fn custom_forms() {
    check_same(
        "module @top attributes {x.y = 1 : i64} {
  func.func private @ext(i32, f32 {d.e}) -> (i64, f32)
  func.func @f(%arg0: i32 {bef.name = \"in\"}, %arg1: !tfrt.chain) -> (i32 {bef.name = \"out\"}) attributes {tfrt.sync} {
    %0 = tfrt.constant.i32 42
    %1:2 = tfrt.div.i32 %arg0, %0
    %2 = tfrt.add.i32 %1#0, %1#1 {note = \"x\"}
    %3 = tfrt.minus.i32 %2, %0
    %4 = tfrt.constant.i1 true
    %5 = tfrt.constant.f32 -1.000000e-03
    %6 = tfrt.new.chain
    %7 = tfrt.print.i32 %3, %6
    %8 = tfrt.merge.chains %7, %3 : !tfrt.chain, i32
    %9:2 = tfrt.call @ext(%3, %5) : (i32, f32) -> (i64, f32)
    %10 = tfrt_dht.create_uninitialized_tensor.i32.2 [3, 2]
    %11 = tfrt_dht.fill_tensor_with_constant.i32 %10, %8 7
    %12 = tfrt_dht.set_tensor_with_constant_values.i32 %10, %8 [1 : i32, 2 : i32]
    %13 = ts.build_shape []
    %14 = \"tfrt.add.i32\"(%0, %0, %6) : (i32, i32, !tfrt.chain) -> i32
    tfrt.return %3 : i32
  }
  module @inner {
  }
}
",
    );
}

#[test]
fn quirks_of_tfrt() {
    check_prints(
        "func.func @basic.i32(%c : !tfrt.chain) {
  %a = tfrt.constant.i1 1 %b = \"t.x\"() : () -> i32 %d = \"t.y\"() : () -> i32
  %f = tfrt.print.i32 %b,
    %c
  %e = tfrt_dht.create_uninitialized_tensor.i64.2 [3 : i64, 2 : i64] tfrt.return
}",
        "module {
  func.func @basic.i32(%arg0: !tfrt.chain) {
    %0 = tfrt.constant.i1 true
    %1 = \"t.x\"() : () -> i32
    %2 = \"t.y\"() : () -> i32
    %3 = tfrt.print.i32 %1, %arg0
    %4 = tfrt_dht.create_uninitialized_tensor.i64.2 [3, 2]
    tfrt.return
  }
}
",
    );
}

#[test]
fn generic_forms() {
    check_op("%0 = \"t.x\"() <{p = 1 : i64}> {a} : () -> i32");
    check_op("\"t.x\"() <5 : i32> : () -> ()");
    check_op("\"t.x\"() ({\n  }, {\n  ^bb0:\n  }) : () -> ()");
    check_op(
        "\"t.x\"() ({
  ^bb0(%arg0: i32, %arg1: f32):
    \"t.br\"(%arg0)[^bb1, ^bb2] : (i32) -> ()
  ^bb1:  // pred: ^bb0
    \"t.br\"()[^bb2] : () -> ()
  ^bb2:  // 2 preds: ^bb0, ^bb1
    \"t.end\"(%0) : (i64) -> ()
  ^bb3(%0: i64):  // no predecessors
    \"t.end\"() : () -> ()
  }) : () -> ()",
    );
}

#[test]
fn types() {
    for ty in [
        "i1",
        "si7",
        "ui64",
        "i16777215",
        "index",
        "none",
        "bf16",
        "f16",
        "f80",
        "f128",
        "tf32",
        "f8E5M2",
        "f8E4M3FN",
        "complex<f32>",
        "tuple<>",
        "tuple<i32, tuple<f32>>",
        "(i32) -> (f32, f64)",
        "vector<f32>",
        "vector<2x[4]xf32>",
        "tensor<f32>",
        "tensor<*xf32>",
        "tensor<2x?x0x4xf32>",
        "tensor<2xi8, #d.enc<a>>",
        "memref<4x?xf32, strided<[1, ?], offset: 2>, 3>",
        "memref<*xf32, 1>",
        "!tfrt.chain",
        "!ts.fixed_rank_shape.3",
        "!d.t<a, [\"x>\"], (b) -> c>",
        "tensor<4x!d.t<x>>",
    ] {
        if ty.starts_with('(') {
            check_attr(ty, ty);
        } else {
            check_type(ty);
        }
    }
}

#[test]
fn attributes() {
    for attr in [
        "1 : i32",
        "-128 : i8",
        "255 : ui8",
        "true",
        "false",
        "1.500000e+00 : f32",
        "0x7FC00000 : f32",
        "0xFFF0000000000000 : f64",
        "3.14159274 : f32",
        "123456789012345678901234567890 : i128",
        "1.500000e+00 : f80",
        "\"a\\0Ab\\22\\\\\"",
        "\"x\" : !d.s",
        "[1, 2 : i32, 1.000000e+00, \"s\", [], unit]",
        "array<i32>",
        "array<i32: 1, -2>",
        "array<i1: true, false>",
        "array<f32: 1.000000e+00>",
        "{}",
        "{b, \"c d\" = 1 : i64}",
        "@f",
        "@f::@\"g h\"",
        "#d.a",
        "#d.a<b, <c>> : i32",
        "strided<[1, ?], offset: 4>",
        "distinct[0]<>",
        "dense<1> : tensor<2x2xi32>",
        "dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>",
        "dense<> : tensor<0x3xi32>",
        "dense<true> : tensor<3xi1>",
        "dense<[(1.000000e+00,2.000000e+00), (0.000000e+00,-1.000000e+00)]> : tensor<2xcomplex<f32>>",
        "dense<[\"a\", \"b\"]> : tensor<2x!d.string>",
        "sparse<0, 1.000000e+00> : tensor<3x4xf32>",
        "dense_resource<k> : tensor<2xi32>",
        "i32",
        "tensor<2xf32>",
        "() -> ()",
        "9223372036854775807 : i64",
        "-9223372036854775808 : i64",
    ] {
        check_attr(attr, attr);
    }
    for (attr, printed) in [
        ("1", "1 : i64"),
        ("1.5", "1.500000e+00 : f64"),
        ("4294967295 : i32", "-1 : i32"),
        ("0x10 : i8", "16 : i8"),
        ("1 : i1", "true"),
        ("1.0e-3 : f32", "1.000000e-03 : f32"),
        ("dense<[1, 1]> : tensor<2xi32>", "dense<1> : tensor<2xi32>"),
        ("dense<\"0x0100000002000000\"> : tensor<2xi32>", "dense<[1, 2]> : tensor<2xi32>"),
        ("dense<\"0x05\"> : tensor<3xi1>", "dense<[true, false, true]> : tensor<3xi1>"),
        ("{b = unit, a = 1 : i32}", "{a = 1 : i32, b}"),
        ("16777217.0", "0x4170000010000000 : f64"),
        ("0.1", "1.000000e-01 : f64"),
        ("0.12345678901", "0.12345678901 : f64"),
    ] {
        check_attr(attr, printed);
    }
}

#[test]
fn attributes_with_aliases() {
    for (attr, aliases, printed) in [
        ("affine_map<(d0, d1) -> (d0 + d1, 2)>", "#map = affine_map<(d0, d1) -> (d0 + d1, 2)>\n", "#map"),
        ("affine_map<(i)\n->  (2 + i)>", "#map = affine_map<(d0) -> (d0 + 2)>\n", "#map"),
        (
            "affine_set<(d0) : (d0 >= 3, d0 == 0)>",
            "#set = affine_set<(d0) : (d0 - 3 >= 0, d0 == 0)>\n",
            "#set",
        ),
        ("distinct[7]<2 : i32>", "#distinct = distinct[0]<2 : i32>\n", "#distinct"),
        ("loc(\"f\":1:2)", "#loc = loc(\"f\":1:2)\n", "#loc"),
        (
            "loc(fused<\"m\">[\"a\", unknown])",
            "#loc = loc(\"a\")\n#loc1 = loc(fused<\"m\">[#loc])\n",
            "#loc1",
        ),
    ] {
        check_prints(
            &format!("\"t.x\"() {{a = {attr}}} : () -> ()"),
            &format!("{aliases}module {{\n  \"t.x\"() {{a = {printed}}} : () -> ()\n}}\n"),
        );
    }
}

#[test]
fn large_tensors_print_as_bytes() {
    let numbers: Vec<String> = (0..101).map(|i| i.to_string()).collect();
    let bytes: String = (0..101).map(|i| format!("{i:02X}")).collect();
    check_attr(
        &format!("dense<[{}]> : tensor<101xi8>", numbers.join(", ")),
        &format!("dense<\"0x{bytes}\"> : tensor<101xi8>"),
    );
    let bools: Vec<String> = (0..104).map(|i| (i % 3 == 0).to_string()).collect();
    check_attr(
        &format!("dense<[{}]> : tensor<104xi1>", bools.join(", ")),
        "dense<\"0x49922449922449922449922449\"> : tensor<104xi1>",
    );
}

#[test]
fn aliases_and_locations() {
    check_prints(
        "!ch = !tfrt.chain\n#one = 1 : i32\n#two = [#one, #one]\n\"t.x\"() {a = #two} : () -> !ch loc(#l)\n#l = loc(callsite(#m at \"n\"(\"f\":1:2)))\n#m = loc(\"f\":1:2 to 3:4)",
        "module {\n  %0 = \"t.x\"() {a = [1 : i32, 1 : i32]} : () -> !tfrt.chain\n}\n",
    );
    let r = run("\"t.x\"() : () -> () loc(\"f\":1:2 to :4)\n\"t.y\"() : () -> ()");
    let text = r.module.map(|m| print(&m, &PrintOptions { locations: true, ..PrintOptions::default() }));
    assert_eq!(
        text.as_deref(),
        Some(
            "module {\n  \"t.x\"() : () -> () loc(#loc1)\n  \"t.y\"() : () -> () loc(#loc2)\n} loc(#loc)\n#loc = loc(\"t.mlir\":0:0)\n#loc1 = loc(\"f\":1:2 to :4)\n#loc2 = loc(\"t.mlir\":2:1)\n"
        )
    );
}

#[test]
fn resources_are_kept() {
    check_same(
        "module {
  \"t.x\"() {a = dense_resource<k> : tensor<1xi8>} : () -> ()
}

{-#
  dialect_resources: {
    builtin: {
      k: \"0x0400000007\"
    }
  },
  external_resources: {
    tool: {
      a: \"#-}\",
      b: true
    }
  }
#-}
",
    );
}

#[test]
fn names_are_kept_on_request() {
    let r = run(
        "func.func @f(%x: i32) {\n%y:2 = tfrt.div.i32 %x, %x\n%p, %q = tfrt.div.i32 %y#0, %y#1\n%7 = tfrt.add.i32 %p, %q\n\"t.r\"() ({\n%z = \"t.a\"() : () -> i32\n}, {\n%z = \"t.b\"(%7) : (i32) -> i32\n}) : () -> ()\ntfrt.return\n}",
    );
    let text = r.module.map(|m| print(&m, &PrintOptions { keep_names: true, ..PrintOptions::default() }));
    assert_eq!(
        text.as_deref(),
        Some(
            "module {\n  func.func @f(%x: i32) {\n    %y:2 = tfrt.div.i32 %x, %x\n    %p, %q = tfrt.div.i32 %y#0, %y#1\n    %7 = tfrt.add.i32 %p, %q\n    \"t.r\"() ({\n      %z = \"t.a\"() : () -> i32\n    }, {\n      %z = \"t.b\"(%7) : (i32) -> i32\n    }) : () -> ()\n    tfrt.return\n  }\n}\n"
        )
    );
}

// ---- errors ----

#[test]
fn token_errors() {
    check_errors("\u{1}", &["1:1 E0101..U+0001"]);
    check_errors("\"t.x\"() : () -> () ~", &["1:20 E0101"]);
    check_errors("\"t.x\"() {a = \"b} : () -> ()", &["1:14 E0102"]);
    check_errors("%", &["1:1 E0104"]);
    check_errors("\"t.x\"() {a = \"\\q\"} : () -> ()", &["1:14 E0109"]);
    check_errors("{-# x", &["1:1 E0105"]);
    check_errors("\"t.x\"() {a = #d.a<(>} : () -> ()", &["1:14 E0106"]);
}

#[test]
fn invisible_characters_are_named() {
    check_errors("\u{FEFF}\"t.x\"() : () -> ()", &["1:1 E0101..U+FEFF (byte order mark)..without"]);
    check_errors("\u{200B}", &["1:1 E0101..U+200B"]);
    check_errors("é", &["1:1 E0101..`é` (U+00E9)"]);
    check_errors("\0", &["1:1 E0101..U+0000"]);
}

#[test]
fn errors_without_end() {
    for line in [
        "%x = tfrt.ad.i32 %y, %z\n",
        "\"t.x\"(%u) : (i32) -> ()\n",
        "\"t.x\"(\n",
        ")\n",
        "~\n",
        "^a:\n",
        "#a = #a\n",
    ] {
        let r = run(&line.repeat(100_000));
        assert!(r.module.is_none() && (1..=MAX_ERRORS + 1).contains(&r.diagnostics.len()), "{line}");
    }
}

#[test]
fn syntax_errors() {
    check_errors("\"t.x\"( : () -> ()", &["1:6 E0201..`(`"]);
    check_errors("\"t.x\"()) : () -> ()", &["1:8 E0202"]);
    check_errors("\"t.x\"() : ()", &["1:12 E0203..expected `->`..end of the text"]);
    check_errors("func.func @f() {\ntfrt.return", &["1:16 E0201"]);
    check_errors("func.func @f(%a i32) {\ntfrt.return\n}", &["1:17 E0203..expected `:`"]);
    check_errors("func.func @f() {}", &["1:16 E0203..body"]);
    check_errors("^bb0:", &["1:1 E0203"]);
    check_errors("\"t.x\"() ({\n#a = 1\n}) : () -> ()", &["2:1 E0203"]);
    check_errors("\"t.x\"(%0) : () -> ()", &["1:13 E0206"]);
    check_errors("\"t.x\"() {a, a = 1} : () -> ()", &["1:13 E0213"]);
    check_errors("tf.Sub %a, %b", &["1:1 E0205"]);
}

#[test]
fn number_errors() {
    let attr = |a: &str| format!("\"t.x\"() {{a = {a}}} : () -> ()");
    check_errors(&attr("256 : i8"), &["1:14 E0207"]);
    check_errors(&attr("-129 : i8"), &["1:14 E0207"]);
    check_errors(&attr("-1 : ui8"), &["1:14 E0207"]);
    check_errors(&attr("99999999999999999999"), &["1:14 E0207"]);
    check_errors(&attr("1e99"), &["1:15 E0203"]);
    check_errors(&attr("1.5 : i32"), &["1:14 E0208"]);
    check_errors(&attr("1 : f32"), &["1:14 E0208..1.0"]);
    check_errors(&attr("i99999999999"), &["1:14 E0210"]);
    check_errors(&attr("tensor<2xtensor<2xi32>>"), &["1:23 E0210"]);
    check_errors(&attr("memref<2xnone>"), &["1:23 E0210"]);
    check_errors(&attr("vector<2x!d.t>"), &["1:23 E0210"]);
    check_errors(&attr("vector<0xf32>"), &["1:21 E0210"]);
    check_errors("\"\"() : () -> ()", &["1:1 E0309"]);
    check_errors("!t.x = i32", &["1:1 E0219"]);
    check_errors(&attr("tensor<99999999999999999999xi8>"), &["1:21 E0207"]);
    check_errors(&attr("foo"), &["1:14 E0211"]);
}

#[test]
fn dense_errors() {
    let attr = |a: &str| format!("\"t.x\"() {{a = {a}}} : () -> ()");
    check_errors(&attr("dense<[1, 2]> : tensor<3xi32>"), &["1:20 E0212..expected 3..found 2"]);
    check_errors(&attr("dense<[[1], [2, 3]]> : tensor<2x1xi32>"), &["1:26 E0212"]);
    check_errors(&attr("dense<[1]> : tensor<1x1xi32>"), &["1:20 E0212..fewer"]);
    check_errors(&attr("dense<[[1]]> : tensor<1xi32>"), &["1:21 E0212..more"]);
    check_errors(&attr("dense<1> : tensor<?xi32>"), &["1:25 E0212"]);
    check_errors(&attr("dense<1> : i32"), &["1:25 E0212"]);
    check_errors(&attr("dense<\"0x01\"> : tensor<2xi32>"), &["1:20 E0212..8 bytes"]);
    check_errors(&attr("dense<\"0xZZ\"> : tensor<1xi8>"), &["1:20 E0212..hexadecimal"]);
    check_errors(&attr("dense<> : tensor<1xi8>"), &["1:14 E0212..1 elements"]);
    check_errors(
        &attr("dense<\"0x0102\"> : tensor<9223372036854775807x9223372036854775807xi8>"),
        &["1:20 E0212..found 2"],
    );
    check_errors(&attr("dense<[1]> : tensor<9223372036854775807xi64>"), &["1:20 E0212"]);
}

#[test]
fn name_errors() {
    check_errors("\"t.x\"(%value) : (i32) -> ()\n%valve = \"t.y\"() : () -> i32", &["1:7 E0302..%valve"]);
    check_errors("%a = \"t.y\"() : () -> i32\n%a = \"t.y\"() : () -> i32", &["2:1 E0303"]);
    check_errors("%a = \"t.y\"() : () -> i32\n\"t.x\"(%a#1) : (i32) -> ()", &["2:7 E0304"]);
    check_errors("%a = \"t.y\"() : () -> i32\n\"t.x\"(%a) : (f32) -> ()", &["2:7 E0305..f32..i32"]);
    check_errors("\"t.x\"(%a) : (f32) -> ()\n%a = \"t.y\"() : () -> i32", &["1:7 E0305"]);
    check_errors("\"t.x\"() ({\n\"t.y\"()[^b] : () -> ()\n}) : () -> ()", &["2:9 E0306"]);
    check_errors("\"t.x\"() ({\n^b:\n^b:\n}) : () -> ()", &["3:1 E0307"]);
    check_errors("%a, %b = \"t.y\"() : () -> i32", &["1:1 E0308"]);
    check_errors(
        "func.func @f(%a: i32) {\n\"t.x\"(%b) : (i32) -> ()\ntfrt.return\n}\n%b = \"t.y\"() : () -> i32",
        &["2:7 E0302"],
    );
    check_errors("%x = tfrt.add.i23 %y, %z", &["1:6 E0301..tfrt.add.i32"]);
}

#[test]
fn unregistered_ops_are_refused_by_default() {
    let r = parse("t", "\"t.x\"() : () -> ()", &ParseOptions::default());
    assert_eq!(shown(&r), ["t:1:1: error[E0310]: unknown dialect `t` of the operation `t.x`"]);
}

#[test]
fn alias_errors() {
    check_errors("\"t.x\"() {a = #b} : () -> ()", &["1:14 E0214"]);
    check_errors("#a = [#b]\n#b = [#a]", &["2:7 E0215"]);
    check_errors("#a = 1\n#a = 2", &["2:1 E0217"]);
    // Each alias is ten of the one before: 10^30 numbers.
    let mut bomb = String::from("#a0 = 1\n");
    for i in 1..30 {
        let parts = vec![format!("#a{}", i - 1); 10].join(", ");
        bomb.push_str(&format!("#a{i} = [{parts}]\n"));
    }
    let r = run(&bomb);
    assert!(r.diagnostics.iter().any(|d| d.code == "E0216"), "{:?}", shown(&r));
    // Each alias is one level deeper: must not recurse.
    let mut chain = String::from("#a0 = 1\n");
    for i in 1..100_000 {
        chain.push_str(&format!("#a{i} = [#a{}]\n", i - 1));
    }
    let r = run(&chain);
    assert!(r.diagnostics.first().is_some_and(|d| d.code == "E0107"), "{:?}", r.diagnostics.first());
    // The same, each before the ones that it needs.
    let lines: Vec<&str> = chain.lines().rev().collect();
    assert!(!run(&lines.join("\n")).diagnostics.is_empty());
}

/// Ten mistakes of ten kinds cause ten errors, and valid operations in between are parsed.
#[test]
fn recovery_is_per_operation() {
    check_errors(
        "func.func @f(%x: i32) -> i32 {
  %0 = tfrt.constant.i32
  %1 = tfrt.add.i32 %x %x
  %2 = \"tfrt.add.i32\"(%x, %x : (i32, i32) -> i32
  %3 = tfrt.add.i32 %0, %1
  %4 = tfrt.constant.i32 99999999999
  %5 = frob.nicate %x
  %6 = tfrt.add.i32 %undefined, %2
  %7 = \"tfrt.minus.i32\"(%x, %x) : (i32) -> i32
  %3 = tfrt.constant.i32 1
  %8 = tfrt.call @f(%7) : (i32) -> i32x
  %9 = tfrt.constant.i32 1 2
  tfrt.return %8 : i32
}
func.func @g( {
  tfrt.return
}
func.func @h() {
  %0 = tfrt.add.i32 %9, %9
  tfrt.return
}
",
        &[
            "2:24 E0204",
            "3:24 E0204",
            "4:22 E0201",
            "6:26 E0207",
            "7:8 E0310",
            "8:21 E0302",
            "9:35 E0206",
            "10:3 E0303",
            "11:36 E0209",
            "12:28 E0204",
            "15:13 E0201",
            "19:21 E0302",
        ],
    );
}

// ---- hangs and overflows ----

#[test]
fn deep_nesting_is_refused() {
    for (open, close) in [("({", "})"), ("[", "]"), ("{a = ", "}"), ("tuple<", ">"), ("(", ")"), ("<", ">")] {
        for n in [100_000, 257] {
            let deep = format!("\"t.x\"() {}{} : () -> ()", open.repeat(n), close.repeat(n));
            assert!(run(&deep).module.is_none());
            let in_attr = format!("\"t.x\"() {{a = {}1{}}} : () -> ()", open.repeat(n), close.repeat(n));
            assert!(run(&in_attr).module.is_none());
            assert!(run(&open.repeat(n)).module.is_none());
            assert!(run(&close.repeat(n)).module.is_none());
        }
    }
    let n = 120;
    let nested = format!("{}{}", "\"t.x\"() ({\n".repeat(n), "}) : () -> ()\n".repeat(n));
    let r = run(&nested);
    assert!(r.module.is_some(), "{:?}", shown(&r).first());
    let modules = format!("{}{}", "module {\n".repeat(250), "}\n".repeat(250));
    assert!(run(&modules).module.is_some());
    let opaque = format!("\"t.x\"() {{a = #d.a<{}{}>}} : () -> ()", "<".repeat(100_000), ">".repeat(100_000));
    assert!(run(&opaque).module.is_none());
}

#[test]
fn forward_references_are_linear() {
    let n = 20_000;
    let mut text = String::new();
    for i in 0..n {
        text.push_str(&format!("\"t.use\"(%v{i}) : (i32) -> ()\n"));
    }
    for i in 0..n {
        text.push_str(&format!("%v{i} = \"t.def\"() : () -> i32\n"));
    }
    assert!(run(&text).module.is_some());
    let wrapped: Vec<String> = (0..n).map(|i| format!("%v{i}")).collect();
    let types = vec!["i32"; n].join(", ");
    let text = format!("\"t.use\"({}) : ({types}) -> ()", wrapped.join(",\n"));
    assert_eq!(run(&text).diagnostics.len(), MAX_ERRORS + 1);
}
