//! `print(raise(emit(m)))` is `print(m)`: for programs in this file, the digits network, and generated ones.

use bef_format::{AlignedBytes, validate};
use befrost_compiler::emit::{EmitOptions, Strip, emit};
use befrost_compiler::ir::{BlockId, KnownType, LocKind, Module, OpId, TypeId, ValueId};
use befrost_compiler::print::{PrintOptions, print};
use befrost_compiler::raise::raise;
use befrost_compiler::syntax::{ParseOptions, parse};
use befrost_compiler::verify::{Verified, verify};
use proptest::prelude::*;
use proptest::sample::Index;

fn verified(module: Module) -> Verified {
    verify(module).unwrap_or_else(|diags| panic!("{diags:?}"))
}

fn read(name: &str, text: &str) -> Verified {
    let options = ParseOptions { allow_unregistered: true, ..ParseOptions::default() };
    let parsed = parse(name, text, &options);
    let errors: Vec<String> = parsed.diagnostics.iter().map(|d| d.render_short(&parsed.source)).collect();
    verified(parsed.module.unwrap_or_else(|| panic!("{}", errors.join("\n"))))
}

fn emitted(module: &Verified, strip: Strip) -> AlignedBytes {
    let bytes = emit(module, &EmitOptions { strip, ..EmitOptions::default() })
        .unwrap_or_else(|diags| panic!("{diags:?}"));
    let again = emit(module, &EmitOptions { strip, ..EmitOptions::default() }).expect("as before");
    assert!(bytes == again, "the same module gave different bytes");
    AlignedBytes::copy_of(&bytes)
}

fn raised(bytes: &AlignedBytes) -> Verified {
    let image = validate(bytes).unwrap_or_else(|error| panic!("{error}"));
    verified(raise(&image).unwrap_or_else(|diags| panic!("{diags:?}")))
}

/// Compares texts that may be long; prints the first difference only.
#[track_caller]
fn same(want: &str, found: &str, what: &str) {
    if let Some((want, found)) = want.lines().zip(found.lines()).find(|(want, found)| want != found) {
        let start = |text: &str| text.chars().take(300).collect::<String>();
        panic!("{what}: lines differ:\n{}\n{}", start(want), start(found));
    }
    assert!(want == found, "{what}: one text is longer");
}

#[track_caller]
fn check(module: &Verified) {
    let bytes = emitted(module, Strip::Nothing);
    let back = raised(&bytes);
    for generic in [false, true] {
        for keep_names in [false, true] {
            for locations in [false, true] {
                for local_scope in [false, true] {
                    let options = PrintOptions {
                        generic,
                        keep_names,
                        locations,
                        local_scope,
                        ..PrintOptions::default()
                    };
                    same(&print(module, &options), &print(&back, &options), &format!("{options:?}"));
                }
            }
        }
    }
    let again = emitted(&back, Strip::Nothing);
    let dump = |bytes: &AlignedBytes| bef_format::dump::dump(&validate(bytes).expect("valid"));
    same(&dump(&bytes), &dump(&again), "the raised module, emitted");
    assert!(*again == *bytes, "the raised module emits other bytes");
    // A file without the optional sections is still a program, and a second round trip does not change it.
    // Modules with attributes that affect streams are excluded: the attributes are in these sections, so the
    // streams differ.
    let stripped = emitted(module, Strip::Debug);
    assert!(stripped.len() <= bytes.len());
    if print(module, &PrintOptions::default()).contains("cost_threshold = ") {
        return;
    }
    let back = raised(&stripped);
    let again = emitted(&back, Strip::Debug);
    same(&dump(&stripped), &dump(&again), "a stripped file, raised and emitted");
    assert!(*again == *stripped);
}

#[track_caller]
fn check_text(text: &str) -> AlignedBytes {
    let module = read("test.mlir", text);
    check(&module);
    emitted(&module, Strip::Nothing)
}

#[test]
fn scalars_and_calls() {
    let bytes = check_text(
        r#"
        module @m attributes {a.b = 1 : i32, tfrt.cost_threshold = 10 : i64} {
        func.func @add(%x: i32 {bef.name = "left", other = unit}, %y: i32) -> (i32 {bef.name = "sum"}, i32) {
          %0 = tfrt.add.i32 %x, %y
          %q, %r = tfrt.div.i32 %0, %x
          %1 = "tfrt.minus.i32"(%q, %r) {_tfrt_cost = 7 : i64} : (i32, i32) -> i32
          %2 = "tfrt.minus.i32"(%q, %r) {_tfrt_cost = 1 : i64} : (i32, i32) -> i32
          tfrt.return %1, %1 : i32, i32
        }
        func.func @main(%ch: !tfrt.chain) -> !tfrt.chain attributes {tfrt.sync} {
          %c = tfrt.constant.i32 42
          %t = tfrt.constant.i1 true
          %f = tfrt.constant.f32 -1.5
          %s:2 = tfrt.call @add(%c, %c) : (i32, i32) -> (i32, i32)
          %d = tfrt.print.i32 %s#1, %ch
          %sel = "tfrt_test.select.i32"(%t, %s#0, %s#1) : (i1, i32, i32) -> i32
          %sel2 = "tfrt_test.select.i32"(%t, %s#0, %s#1) {bef.operand_modes = ["required", "required", "order"]} : (i1, i32, i32) -> i32
          %m = "tfrt.merge.chains"(%ch, %d) {bef.nonstrict, bef.device = "gpu:0"} : (!tfrt.chain, !tfrt.chain) -> !tfrt.chain
          tfrt.return %m : !tfrt.chain
        }
        func.func private @native(i32 {bef.name = "n"}) -> f32 attributes {tfrt.native}
        }
        "#,
    );
    let image = validate(&bytes).expect("valid");
    assert_eq!(image.module_name(), Some("m"));
    let add = image.function(0);
    assert_eq!(
        (add.arg_name(0), add.arg_name(1), add.result_name(0), add.result_name(1)),
        ("left", "y", "sum", "")
    );
    assert_eq!((add.kernel(0).cost(), add.kernel(2).cost(), add.kernel(2).n_attrs()), (Some(1), Some(7), 0));
    let main = image.function(1);
    assert_eq!(main.kind(), bef_format::FunctionKind::Sync);
    assert_eq!(main.kernel(3).functions()[0].0, 0);
    assert_eq!(main.kernel(5).ready_count(), 1);
    assert_eq!(main.kernel(6).ready_count(), 3);
    assert_eq!(main.kernel(7).ready_count(), 1);
    // A native function becomes a function with one kernel of its name.
    let native = image.function(2);
    assert_eq!(native.kind(), bef_format::FunctionKind::Async);
    assert_eq!(
        (native.n_kernels(), native.kernel(0).name(), native.kernel(0).operands()),
        (1, "native", &[0][..])
    );
    assert_eq!((native.results(), native.arg_name(0)), (&[1][..], "n"));
}

#[test]
fn every_kind_of_attribute() {
    check_text(
        r##"
        func.func @f() {
          "t.op"() {a = unit, b = true, c = -3 : i8, d = 200 : ui8, e = -9223372036854775808 : i64, f = 18446744073709551615 : ui64,
            g = 1.5 : f16, h = 0x7FC1 : bf16, i = 0x7F800001 : f32, j = -0.0 : f64, k = "te\"xt\0A\C3\A9", l = "bytes\FF", m = i32,
            n = @elsewhere, o = @a::@b, p = [], q = [1 : i32, 2 : i32], r = [1, "a", [true]], s = [true, false],
            t = [1.0 : f32, 2.0 : f32], u = array<i32: 1, 2>, v = array<i1: true>, w = array<f64>, x = {}, y = {b = 1, a = {c}},
            z = 123456789012345678901234567890 : i128} : () -> ()
          "t.op"() {a = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>, b = dense<7> : tensor<3xi64>, c = dense<> : tensor<0xi32>,
            d = dense<true> : tensor<4xi1>, e = dense<[true, false]> : vector<2xi1>, f = dense<1.5> : tensor<bf16>,
            g = dense<(1.0, 2.0)> : tensor<2xcomplex<f32>>, h = dense<["a", "b"]> : tensor<2x!t.string>, i = dense<3> : tensor<2xindex>,
            j = #corert.shape<1x?x3>, k = #corert.shape<*>, l = #corert.shape<>, m = #corert.shape<01>, n = #d.opaque<"x">,
            o = tensor<?x*xi32x, p = 5 : index, q = affine_map<(d0) -> (d0)>, r = loc("x":1:2), s = "typed" : !t.string,
            t = [#corert.shape<2>, i32], u = ui3, v = 3 : i7, w = -1 : si32} : () -> ()
          tfrt.return
        }
        "##
        .replace("o = tensor<?x*xi32x, ", "o = tensor<?x2xi32>, ")
        .as_str(),
    );
}

/// Arrays of numbers of every type, and tensors and vectors of every type that a file can hold, each with its
/// own bytes and as a splat.
#[test]
fn every_type_of_element() {
    let integers = ["i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "si8", "si16", "si32", "si64"];
    let numbers = integers
        .iter()
        .map(|ty| (*ty, "1", "2"))
        .chain(["f16", "bf16", "f32", "f64"].map(|ty| (ty, "1.0", "-2.5")));
    let all = numbers.chain([("i1", "true", "false")]);
    let mut ops = String::new();
    for (ty, a, b) in all.clone() {
        let element = if ty == "i1" {
            |x: &str, _: &str| x.to_owned()
        } else {
            |x: &str, ty: &str| format!("{x} : {ty}")
        };
        let (x, y) = (element(a, ty), element(b, ty));
        ops += &format!(
            "\"t.op\"() {{a = {x}, b = [{x}, {y}], c = [[{x}, {y}], [{x}], []], d = {{e = [{y}], f = {y}}}}} : () -> ()\n"
        );
        if !ty.starts_with("ui") && !ty.starts_with("si") {
            ops += &format!("\"t.op\"() {{a = array<{ty}: {a}, {b}>, b = array<{ty}>}} : () -> ()\n");
        }
    }
    let complex =
        [("complex<f32>", "(1.0,2.0)", "(-0.0,0x7FC00001)"), ("complex<f64>", "(1.0,2.0)", "(-0.5,3.0)")];
    for (ty, a, b) in all.chain(complex) {
        let vector = (!ty.starts_with("complex")).then(|| format!("vector<2x1x{ty}>"));
        for shaped in vector.into_iter().chain([format!("tensor<2x1x{ty}>")]) {
            ops += &format!(
                "\"t.op\"() {{a = dense<[[{a}], [{b}]]> : {shaped}, b = dense<{b}> : {shaped}}} : () -> ()\n"
            );
        }
        ops += &format!(
            "\"t.op\"() {{a = dense<{a}> : tensor<{ty}>, b = dense<> : tensor<0x3x{ty}>}} : () -> ()\n"
        );
    }
    let bytes = check_text(&format!("func.func @f() {{\n{ops} tfrt.return }}"));
    let image = validate(&bytes).expect("valid");
    let texts = (0..image.n_attrs()).filter(|&id| {
        matches!(image.attr(bef_format::AttrId(id)), bef_format::AttrView::Text(text) if !text.is_empty())
    });
    assert_eq!(texts.count(), 0, "all of these have a kind of their own");
}

/// Equal contents are stored once, including tensors of different types.
#[test]
fn identical_tensors_share_their_bytes() {
    let bytes = check_text(
        r#"func.func @f() {
          "t.op"() {a = dense<[1, 2]> : tensor<2xi32>, b = dense<[1, 2]> : tensor<2xui32>, c = dense<[[1], [2]]> : tensor<2x1xi32>} : () -> ()
          "t.op"() {a = dense<[1, 2]> : tensor<2xi32>, b = dense<[1, 3]> : tensor<2xi32>} : () -> ()
          tfrt.return
        }"#,
    );
    // Two contents, the second at the next multiple of 64.
    assert_eq!(validate(&bytes).expect("valid").payload().len(), 64 + 8);
}

#[test]
fn properties_regions_and_functions() {
    let bytes = check_text(
        r#"
        func.func @callee(%x: i32) -> i32 { tfrt.return %x : i32 }
        func.func @f(%c: i1, %x: i32) -> i32 {
          %0 = "t.if"(%c, %x) <{then = @callee, n = 1 : i32}> ({
          ^bb0(%a: i32):
            %1 = tfrt.add.i32 %a, %a
            %2 = "t.loop"(%1) ({
            ^bb0(%inner: i32):
              tfrt.return %inner : i32
            }) : (i32) -> i32
            tfrt.return %2 : i32
          }, {
          }) {branches = [@callee, @f], mixed = [@callee, 1], other = @nobody, last} : (i1, i32) -> i32
          "t.props"() <{}> : () -> ()
          "t.props"() <5 : i32> : () -> ()
          "t.props"() <{branches = [@callee]}> {branches = [@f]} : () -> ()
          tfrt.return %0 : i32
        }
        "#,
    );
    let image = validate(&bytes).expect("valid");
    assert_eq!(image.n_functions(), 5);
    let k = image.function(1).kernel(0);
    assert_eq!(k.functions().iter().map(|id| id.0).collect::<Vec<_>>(), [0, 0, 1, 2, 3]);
    assert_eq!(k.function_name(0), Some("<then"));
    assert_eq!(image.function(4).n_kernels(), 0);
}

/// Modules that kernels compile return to their places, with any number of references.
#[test]
fn compiled_modules() {
    let bytes = check_text(
        r#"
        module @first attributes {tfrt.compiled, x.n = 1 : i32} {
          func.func @main(%a: tensor<?x?xf32>, %b: f32) -> tensor<?x?xf32> {
            %named, %1 = "t.op"(%b) ({
            ^bb0(%x: i32 loc("x.mlir":1:2)):
              "t.yield"(%x) {map = affine_map<(d0) -> (d0)>, to = @second::@f} : (i32) -> () loc("y"("y.mlir":3:4))
            }) : (f32) -> (f32, i32)
            return %a : tensor<?x?xf32>
          }
          module @inner { func.func private @deep() }
        }
        func.func @f() {
          "t.compile"() {a = @first::@main, b = @first::@inner::@deep, c = [@first, @second::@nothing, @f], d = {e = @first::@main}} : () -> ()
          "t.compile"() <{a = @first::@main, b = @first}> : () -> ()
          tfrt.return
        }
        module @unused attributes {tfrt.compiled} {
        }
        func.func @g() { tfrt.return }
        module @second attributes {tfrt.compiled} {
          %0 = "t.of"() : () -> i32
        }
        "#,
    );
    let image = validate(&bytes).expect("valid");
    assert_eq!(image.n_functions(), 2);
    let places: Vec<(&str, u32)> = (0..image.n_attrs())
        .filter_map(|id| match image.attr(bef_format::AttrId(id)) {
            bef_format::AttrView::CompiledModule { name, place, .. } => Some((name, place)),
            _ => None,
        })
        .collect();
    assert_eq!(places, [("first", 0), ("unused", 1), ("second", 2)]);
}

#[test]
fn locations() {
    check_text(
        r#"
        module {
        func.func @f(%x: i32) -> i32 {
          %0 = tfrt.add.i32 %x, %x loc("a.mlir":3:4)
          %1 = tfrt.add.i32 %0, %x loc("name")
          %2 = tfrt.add.i32 %1, %x loc("name"("a.mlir":3:4))
          %3 = tfrt.add.i32 %2, %x loc(callsite("f"("a.mlir":3:4) at fused["b.mlir":1:1, unknown]))
          %4 = tfrt.add.i32 %3, %x loc(fused<{note = "x", n = [1, 2]}>["a", "b.mlir":1:1])
          %5 = tfrt.add.i32 %4, %x loc("a.mlir":1:2 to 3:4)
          %6 = tfrt.add.i32 %5, %x loc(unknown)
          tfrt.return %6 : i32 loc("r.mlir":9:9)
        } loc("f.mlir":1:1)
        } loc("m.mlir":1:1)
        "#,
    );
}

#[test]
fn digits_network() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/digits/digits_mlp.mlir");
    let module = read("digits_mlp.mlir", &std::fs::read_to_string(path).expect("the tree holds it"));
    check(&module);
}

#[test]
fn empty_arrays_know_their_type() {
    let bytes = check_text("func.func @f() { %0 = ts.build_shape []\n tfrt.return }");
    let image = validate(&bytes).expect("valid");
    let attr = image.function(0).kernel(0).attr(0);
    assert!(
        matches!(attr, bef_format::AttrView::Scalars { dtype: bef_format::DType::I64, n: 0, .. }),
        "{attr:?}"
    );
}

#[test]
fn stripped_files_have_no_optional_sections() {
    let module =
        read("t.mlir", "func.func @f(%x: i32) -> i32 { %y = tfrt.add.i32 %x, %x\n tfrt.return %y : i32 }");
    let bytes = emitted(&module, Strip::Debug);
    let image = validate(&bytes).expect("valid");
    assert!(!image.has_locations() && !image.has_ssa_names() && !image.has_aux_names());
    let text = print(&raised(&bytes), &PrintOptions { keep_names: true, ..PrintOptions::default() });
    assert!(text.contains("@f(%x: i32)"), "argument names are not optional: {text}");
}

// Generated programs.

/// One op to generate; indices select among the existing values.
#[derive(Clone, Debug)]
struct GenOp {
    what: u8,
    operands: Vec<Index>,
    number: i64,
    text: String,
    loc: u8,
    name: Option<String>,
    body: Vec<GenOp>,
}

fn gen_op() -> impl Strategy<Value = GenOp> {
    let op = (
        0..12u8,
        proptest::collection::vec(any::<Index>(), 4),
        any::<i64>(),
        ".{0,5}",
        0..6u8,
        proptest::option::of("[a-z_$.][a-z0-9_$.]{0,3}"),
    );
    let op = op.prop_map(|(what, operands, number, text, loc, name)| GenOp {
        what,
        operands,
        number,
        text,
        loc,
        name,
        body: Vec::new(),
    });
    op.prop_recursive(3, 24, 4, |inner| {
        (proptest::collection::vec(inner.clone(), 0..4), inner).prop_map(|(body, op)| GenOp { body, ..op })
    })
}

/// Adds the op to the block; `values` are the visible i32 values.
fn build(m: &mut Module, block: BlockId, op: &GenOp, values: &mut Vec<ValueId>) {
    const I32: TypeId = KnownType::I32.id();
    let pick = |i: usize| values[op.operands[i].index(values.len())];
    let number = m.cx.int_attr(I32, op.number);
    let long = m.cx.int_attr(KnownType::I64.id(), op.number);
    let text = m.cx.str_attr(&op.text);
    let built: OpId = match op.what {
        0 => m.create_named("tfrt.constant.i32", &[], &[I32], &[("value", number)]),
        1 => m.create_named("tfrt.add.i32", &[pick(0), pick(1)], &[I32], &[]),
        2 => m.create_named("tfrt.div.i32", &[pick(0), pick(1)], &[I32, I32], &[("extra", text)]),
        3 => m.create_named("tfrt_test.sum", &[pick(0), pick(1), pick(2)], &[I32], &[("_tfrt_cost", long)]),
        4 => m.create_named("t.unregistered", &[pick(0)], &[I32], &[("a", text), ("z", number), ("m", long)]),
        5 => {
            let array = m.cx.array_attr(&[text, number, long]);
            let dict = [(m.cx.str_id("k"), array), (m.cx.str_id(&op.text), text)];
            let dict = m.cx.dict_attr(&dict);
            m.create_named("t.unregistered", &[], &[], &[("dict", dict), ("array", array)])
        }
        6 => {
            let callee = m.cx.symbol_attr("f");
            m.create_named("tfrt.call", &[pick(0)], &[I32], &[("callee", callee)])
        }
        7 => {
            let symbols = [m.cx.symbol_attr("f"), m.cx.symbol_attr(if op.number > 0 { "g" } else { "f" })];
            let symbols = m.cx.array_attr(&symbols);
            m.create_named("t.case", &[pick(0), pick(1)], &[I32], &[("branches", symbols)])
        }
        8 => {
            let ty = m.cx.opaque_type(&format!("t.x{}", op.number % 3));
            m.create_named("t.typed", &[], &[ty, I32], &[])
        }
        9 => {
            let unit = m.cx.bool_attr(true);
            let numbers = m.cx.array_attr(&[number, number]);
            m.create_named("t.flags", &[pick(0), pick(0)], &[I32], &[("yes", unit), ("numbers", numbers)])
        }
        10 => {
            let modes = ["required", "lenient", "order", "after"].map(|mode| m.cx.str_attr(mode));
            let modes = m.cx.array_attr(&modes[..2]);
            m.create_named("tfrt.add.i32", &[pick(0), pick(1)], &[I32], &[("bef.operand_modes", modes)])
        }
        _ => {
            let shape = m.cx.array_attr(&[long, long]);
            m.create_named("ts.build_shape", &[], &[KnownType::Shape.id()], &[("value", shape)])
        }
    };
    let file = m.cx.str_id(&format!("{}.mlir", op.number % 3));
    let at = m.cx.loc_id(LocKind::File { file, line: op.loc.into(), col: 1 });
    let loc = match op.loc {
        0 => befrost_compiler::ir::LocId::UNKNOWN,
        1 | 2 => at,
        3 => {
            let name = m.cx.str_id(&op.text);
            m.cx.loc_id(LocKind::Name { name, child: at })
        }
        4 => m.cx.loc_id(LocKind::CallSite { callee: at, caller: at }),
        _ => {
            let name = m.cx.str_id("part");
            let part = m.cx.loc_id(LocKind::Name { name, child: at });
            m.cx.fused_loc(&[at, part], Some(text))
        }
    };
    m.set_loc(built, loc);
    if m.def(built).is_none() && !op.body.is_empty() {
        let region = m.add_region(built);
        let inner = m.add_block(region);
        let arg = m.add_arg(inner, I32);
        fill(m, inner, &op.body, vec![arg]);
    }
    m.append(block, built);
    if let (Some(name), Some(result)) = (&op.name, m.results(built).next()) {
        let name = m.cx.str_id(name);
        m.value_names.set(result, name);
    }
    values.extend(m.results(built).filter(|&value| m.value_type(value) == I32).collect::<Vec<_>>());
}

fn fill(m: &mut Module, block: BlockId, ops: &[GenOp], mut values: Vec<ValueId>) {
    for op in ops {
        build(m, block, op, &mut values);
    }
    let last = values[values.len() - 1];
    let ret = m.create_named("tfrt.return", &[last], &[], &[]);
    m.append(block, ret);
}

fn program(functions: &[Vec<GenOp>]) -> Module {
    let mut m = Module::new();
    let i32t = KnownType::I32.id();
    for (name, ops) in ["f", "g"].iter().zip(functions) {
        let ty = m.cx.function_type(&[i32t], &[i32t]);
        let (ty, sym_name) = (m.cx.type_attr(ty), m.cx.str_attr(name));
        let func = m.create_named("func.func", &[], &[], &[("sym_name", sym_name), ("function_type", ty)]);
        let region = m.add_region(func);
        let block = m.add_block(region);
        let arg = m.add_arg(block, i32t);
        fill(&mut m, block, ops, vec![arg]);
        let body = m.body();
        m.append(body, func);
    }
    m
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn generated_programs(functions in proptest::collection::vec(proptest::collection::vec(gen_op(), 0..8), 2)) {
        check(&verified(program(&functions)));
    }
}
