//! Property tests of parser and printer, for any program and any text.
//!
//! * Printed text reads back and prints the same again: in custom and generic form, with and without names
//!   and locations. Programs are generated from numbers: known and unknown ops, nested regions, several
//!   blocks, forward references, every kind of type and attribute.
//! * Any text at all (programs with random edits, cut off anywhere) results in a module or at least one
//!   located error, never in a panic.
//! * The shortcut for plain operations changes nothing.

use crate::ir::{AttrId, BlockId, KnownType, TypeId, ValueId};
use crate::print::{PrintOptions, print};
use crate::syntax::*;
use proptest::prelude::*;
use values::{Choices, TEXTS, attr, loc, ty};

mod values;

/// Fills a block with ops that use `known` values. Names are local to the region.
fn fill(m: &mut Module, c: &mut Choices<'_>, block: BlockId, known: &[ValueId], depth: usize) {
    let mut known = known.to_vec();
    for _ in 0..c.below(6) {
        let of_type = |m: &Module, c: &mut Choices<'_>, ty: TypeId| {
            let fitting: Vec<ValueId> = known.iter().copied().filter(|v| m.value_type(*v) == ty).collect();
            (!fitting.is_empty()).then(|| fitting[c.below(fitting.len())])
        };
        let op = match c.below(7) {
            0 => {
                let value = m.cx.int_attr(KnownType::I32.id(), c.below(100) as i64);
                m.create_named("tfrt.constant.i32", &[], &[KnownType::I32.id()], &[("value", value)])
            }
            1 => match (of_type(m, c, KnownType::I32.id()), of_type(m, c, KnownType::I32.id())) {
                (Some(a), Some(b)) => m.create_named("tfrt.div.i32", &[a, b], &[KnownType::I32.id(); 2], &[]),
                _ => m.create_named("tfrt.new.chain", &[], &[KnownType::Chain.id()], &[]),
            },
            2 => {
                // A registered op with undeclared parts: must print in generic form.
                let value = attr(m, c, 1);
                m.create_named(
                    "tfrt.constant.f32",
                    &known.first().copied().into_iter().collect::<Vec<_>>(),
                    &[],
                    &[("value", value)],
                )
            }
            3 => {
                let values: Vec<AttrId> =
                    (0..c.below(3)).map(|i| m.cx.int_attr(KnownType::I64.id(), i as i64)).collect();
                let value = m.cx.array_attr(&values);
                m.create_named("ts.build_shape", &[], &[KnownType::Shape.id()], &[("value", value)])
            }
            4 if depth > 0 => {
                let op = m.create_named("u.region", &[], &[], &[]);
                for _ in 0..1 + c.below(2) {
                    let region = m.add_region(op);
                    let blocks: Vec<BlockId> = (0..c.below(3)).map(|_| m.add_block(region)).collect();
                    for &inner in &blocks {
                        let mut inside = known.clone();
                        for _ in 0..c.below(3) {
                            let t = ty(m, c, 1);
                            inside.push(m.add_arg(inner, t));
                        }
                        fill(m, c, inner, &inside, depth - 1);
                        if c.below(2) == 0 {
                            let end = m.create_named("u.br", &[], &[], &[]);
                            m.set_successors(end, &[blocks[c.below(blocks.len())]]);
                            m.append(inner, end);
                        }
                    }
                }
                op
            }
            _ => {
                let operands: Vec<ValueId> = if known.is_empty() {
                    vec![]
                } else {
                    (0..c.below(3)).map(|_| known[c.below(known.len())]).collect()
                };
                let results: Vec<TypeId> = (0..c.below(3)).map(|_| ty(m, c, 2)).collect();
                let value = attr(m, c, 2);
                let op = m.create_named(
                    ["u.op", "u", "odd name"][c.below(3)],
                    &operands,
                    &results,
                    &[("k", value)],
                );
                if c.below(4) == 0 {
                    let properties = attr(m, c, 1);
                    m.set_properties(op, Some(properties));
                }
                op
            }
        };
        let l = loc(m, c, 2);
        m.set_loc(op, l);
        m.append(block, op);
        known.extend(m.results(op));
    }
}

fn generate(numbers: &[u32]) -> Module {
    let mut m = Module::new();
    let c = &mut Choices::new(numbers);
    let body = m.body();
    for f in 0..1 + c.below(3) {
        let inputs: Vec<TypeId> = (0..c.below(3)).map(|_| ty(&mut m, c, 2)).collect();
        let outputs: Vec<TypeId> = (0..c.below(3)).map(|_| ty(&mut m, c, 2)).collect();
        let name = m.cx.str_attr(&format!("{}{f}", TEXTS[c.below(TEXTS.len())]));
        let function_type = m.cx.function_type(&inputs, &outputs);
        let function_type = m.cx.type_attr(function_type);
        let func =
            m.create_named("func.func", &[], &[], &[("sym_name", name), ("function_type", function_type)]);
        if c.below(3) == 0 {
            let extra = attr(&mut m, c, 1);
            let key = m.cx.str_id("d.extra");
            m.set_attr(func, key, extra);
        }
        m.append(body, func);
        let region = m.add_region(func);
        if c.below(5) > 0 {
            let block = m.add_block(region);
            let args: Vec<ValueId> = inputs.iter().map(|t| m.add_arg(block, *t)).collect();
            fill(&mut m, c, block, &args, 2);
        }
    }
    m
}

fn options() -> ParseOptions {
    ParseOptions { allow_unregistered: true, ..ParseOptions::default() }
}

/// Compares the results of the grammar and the shortcut for plain operations.
fn check_shortcut(text: &str) {
    let all = PrintOptions { generic: true, keep_names: true, locations: true, ..PrintOptions::default() };
    let [quick, full] = [true, false].map(|shortcut| {
        let ParseResult { module, diagnostics, source: _ } =
            parse_with(Source::new("t", text), &options(), shortcut);
        (module.map(|m| print(&m, &all)), diagnostics)
    });
    assert_eq!(quick, full, "{text}");
}

/// Any text results in a module, or in an error with a place in the text.
fn check_any_text(text: &str) {
    check_shortcut(text);
    let r = parse("t", text, &options());
    match &r.module {
        Some(m) => {
            let printed = print(m, &PrintOptions::default());
            let again = parse("t", &printed, &options());
            let shown: Vec<String> =
                again.diagnostics.iter().map(|d| d.render_short(&again.source)).collect();
            assert!(again.module.is_some(), "from {text:?}\nprinted {printed}\n{shown:?}");
            if let Some(m) = again.module {
                assert_eq!(print(&m, &PrintOptions::default()), printed);
            }
            let _ = crate::verify::faults(m);
        }
        None => {
            let errors: Vec<_> = r.diagnostics.iter().filter(|d| d.is_error()).collect();
            assert!(!errors.is_empty());
            for d in errors {
                let span = d.span.unwrap_or_else(|| panic!("{d:?} has no place"));
                assert!(
                    span.start <= span.end && span.end as usize <= text.len(),
                    "{d:?} of {} bytes",
                    text.len()
                );
            }
        }
    }
}

/// Programs to be mutated.
const SEEDS: [&str; 4] = [
    "module @m attributes {a = 1, b = [1.5, \"x\"], c = dense<[[1, 2]]> : tensor<1x2xi32>} {\n  func.func @f(%a: i32 {bef.name = \"n\"}) -> (i32, !tfrt.chain) {\n    %0:2 = tfrt.div.i32 %a, %a\n    %c = tfrt.new.chain\n    %1 = tfrt.call @g(%0#1) : (i32) -> i32 loc(\"f\":1:2)\n    tfrt.return %1, %c : i32, !tfrt.chain\n  }\n  func.func private @g(i32) -> i32\n}\n",
    "!t = !d.t<x, [1]>\n#m = affine_map<(d0) -> (d0)>\n\"u.x\"() <{p = #m}> ({\n^a(%x: !t, %y: tensor<2x?xf32, #d.e>):\n  \"u.br\"(%x)[^b, ^a] {k = @s::@t} : (!t) -> ()\n^b:\n  %z = \"u.y\"(%w) : (vector<[4]xi8>) -> i1\n  %w = \"u.z\"() : () -> vector<[4]xi8>\n}, {}) {loc = loc(fused<1>[\"a\"(unknown), callsite(\"x\":1:2 to :3 at #l)])} : () -> () loc(#l)\n#l = loc(\"q\")\n",
    "func.func @h() {\n  %s = tfrt_dht.create_uninitialized_tensor.i32.2 [3 : i64, 2 : i64]\n  %k = cpu.constant dense<\"0x0000803F\"> : tensor<1xf32>\n  %h = array<i1: true> {x = array<i32: -1, 2>, d = distinct[1]<unit>, c = complex<f32>}\n  \"tfrt.return\"() : () -> ()\n}\n{-# r #-}\n",
    "func.func @k(%a: i32) -> i32 {\n  %b = tfrt.add.i32 %a, %a\n  %g, %k:2 = \"u.two\"(%b, %a) : (i32, i32) -> (i32, !d.x<1>, f32)\n  \"u.none\"() : () -> ()\n  %0 = \"tfrt.add.i32\"(%g, %b) : (i32, i32) -> i32\n  tfrt.return %0 : i32\n}\n",
];

/// Texts that edits insert.
const PIECES: [&str; 24] = [
    "(", ")", "{", "}", "<", ">", "[", "]", "\"", "%x", "^a", "@", "#", "!", "=", ":", ",", "->", "\n", "1",
    "loc(", "tensor<", "dense<", "漢",
];

fn damage(seed: usize, edits: &[(u32, u8, u8)]) -> String {
    let mut text = SEEDS[seed % SEEDS.len()].to_owned();
    for &(at, what, piece) in edits {
        let mut at = at as usize % (text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        match what % 4 {
            0 => text.insert_str(at, PIECES[piece as usize % PIECES.len()]),
            1 => {
                let end =
                    (at..text.len()).find(|e| *e > at && text.is_char_boundary(*e)).unwrap_or(text.len());
                text.replace_range(at..end, "");
            }
            2 => text.truncate(at),
            _ => {
                let mut end = (at + piece as usize).min(text.len());
                while !text.is_char_boundary(end) {
                    end -= 1;
                }
                let copy = text[at..end.max(at)].to_owned();
                text.push_str(&copy);
            }
        }
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn printing_is_a_fixpoint(numbers in prop::collection::vec(any::<u32>(), 0..200)) {
        let m = generate(&numbers);
        for bits in 0..8 {
            let form = PrintOptions { generic: bits & 1 != 0, keep_names: bits & 2 != 0, locations: bits & 4 != 0, ..PrintOptions::default() };
            let text = print(&m, &form);
            let r = parse("t", &text, &options());
            let shown: Vec<String> = r.diagnostics.iter().map(|d| d.render_short(&r.source)).collect();
            prop_assert!(r.module.is_some(), "{}\n{:#?}", text, shown);
            check_shortcut(&text);
            if let Some(again) = r.module {
                prop_assert_eq!(print(&again, &form), text.as_str());
                let plain = PrintOptions::default();
                prop_assert_eq!(print(&again, &plain), print(&m, &plain), "after {:?}", form);
            }
        }
    }

    #[test]
    fn any_edit_gives_a_module_or_a_located_error(
        seed in 0usize..SEEDS.len(),
        edits in prop::collection::vec((any::<u32>(), any::<u8>(), any::<u8>()), 1..6),
    ) {
        check_any_text(&damage(seed, &edits));
    }

    #[test]
    fn any_characters(text in "[ -~\n]{0,80}") {
        check_any_text(&text);
    }
}

#[test]
fn cut_off_anywhere() {
    for seed in SEEDS {
        for (at, _) in seed.char_indices() {
            check_any_text(&seed[..at]);
        }
    }
}
