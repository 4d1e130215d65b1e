//! Properties of the streams of any program.

use super::{Analysis, Loops, StreamOptions, Streams};
use crate::ir::{BlockId, Module};
use crate::syntax::{ParseOptions, parse};
use std::fmt::Write;

/// A program of `n` ops of random costs, operands and kinds, determined by the seed.
fn program(seed: u64, n: usize, attributes: &str) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let mut text = format!("func.func @f(%v0: i32) -> i32 attributes {{{attributes}}} {{\n");
    for i in 1..=n {
        let n_operands = random(4);
        let operands: Vec<String> =
            (0..n_operands).map(|_| format!("%v{}", i - 1 - random(i.min(8)))).collect();
        let types = vec!["i32"; n_operands].join(", ");
        let cost =
            if random(2) == 0 { format!("{{_tfrt_cost = {} : i64}}", 1 + random(9)) } else { String::new() };
        _ = writeln!(text, "  %v{i} = \"x.op\"({}) {cost} : ({types}) -> i32", operands.join(", "));
    }
    text + &format!("  tfrt.return %v{} : i32\n}}\n", random(n + 1))
}

fn check(text: &str, what: impl FnOnce(&Module, BlockId, &StreamOptions, &Streams)) {
    let options = ParseOptions { allow_unregistered: true, ..ParseOptions::default() };
    let Some(module) = parse("t", text, &options).module else { panic!("not read: {text}") };
    let Some(&function) = module.functions().first() else { panic!("no function") };
    let Some(block) = module.entry(module.regions_of(function)[0]) else { panic!("no block") };
    let options = StreamOptions::of_function(&module, function);
    let streams = Analysis::new(&module).block(block, &options);
    what(&module, block, &options, &streams);
}

const ATTRIBUTES: [&str; 6] = [
    "",
    "tfrt.cost_threshold = 1",
    "tfrt.cost_threshold = 12",
    "tfrt.merge_inter_dependent_streams = true",
    "tfrt.cost_threshold = 12, tfrt.merge_inter_dependent_streams = true",
    "tfrt.cost_threshold = 12, tfrt.merge_inter_dependent_streams = true, tfrt.upper_cost_threshold = 20",
];

fn programs() -> impl Iterator<Item = String> {
    (0..200).map(|seed| program(seed, 1 + seed as usize % 40, ATTRIBUTES[seed as usize % ATTRIBUTES.len()]))
}

#[test]
fn every_op_has_one_stream_and_costs_add_up() {
    for text in programs() {
        check(&text, |m, block, options, streams| {
            let ops: Vec<_> = m.ops_in(block).collect();
            let mut costs = vec![0; streams.streams.len()];
            costs[0] = 1;
            for (at, &op) in ops.iter().enumerate() {
                costs[streams.of(at) as usize] += options.cost(m, op);
            }
            let found: Vec<i64> = streams.streams.iter().map(|stream| stream.cost).collect();
            assert_eq!(found, costs, "{text}");
            let returns = streams.of(ops.len() - 1);
            assert!(returns == 0 || options.upper_threshold.is_some(), "{text}");
            assert!(costs.iter().all(|&cost| cost > 0), "{text}");
        });
    }
}

#[test]
fn streams_are_a_tree_and_begin_after_what_starts_them() {
    for text in programs() {
        check(&text, |_, _, _, streams| {
            assert_eq!(streams.parents_first().len(), streams.streams.len(), "{text}");
            for (id, stream) in (0..).zip(&streams.streams) {
                let Some((parent, at)) = stream.parent else {
                    assert_eq!(id, 0, "{text}");
                    continue;
                };
                assert_eq!(at.map_or(0, |at| streams.of(at as usize)), parent, "{text}");
                let first = (0..).find(|&op| streams.of(op as usize) == id);
                assert!(at < first, "{text}");
                assert!(streams.started_at(at).any(|it| it == id), "{text}");
            }
        });
    }
}

#[test]
fn stored_streams_have_no_gaps() {
    for text in programs() {
        check(&text, |m, block, options, _| {
            let mut analysis = Analysis::new(m);
            let Some(stored) = analysis.stored(block, options) else { return };
            let kernels = &stored[..stored.len() - 1];
            let n = kernels.iter().max().map_or(0, |max| max + 1);
            assert!(
                (1..n).all(|id| kernels.contains(&id)) && kernels.iter().any(|id| *id != kernels[0]),
                "{text}"
            );
            assert_eq!(analysis.stored(block, options), Some(stored));
        });
    }
}

/// TFRT would print at least as many streams as are stored.
#[test]
fn small_functions_are_one_stream() {
    let n = 40;
    let constants: String = (0..n).map(|i| format!("  %c{i} = tfrt.constant.i32 {i}\n")).collect();
    let text = |attributes| {
        format!(
            "func.func @f() -> i32 attributes {{{attributes}}} {{\n{constants}  tfrt.return %c0 : i32\n}}\n"
        )
    };
    check(&text(""), |m, block, options, streams| {
        assert!(streams.streams.len() > 1);
        assert_eq!(Analysis::new(m).stored(block, options), None);
    });
    check(&text("tfrt.cost_threshold = 1"), |m, block, options, _| {
        let stored = Analysis::new(m).stored(block, options).unwrap_or_default();
        assert_eq!(stored.iter().max(), Some(&(n - 1)));
    });
}

#[test]
fn a_chain_is_one_stream() {
    // The last ones keep streams short.
    for attributes in &ATTRIBUTES[..5] {
        let mut text = format!("func.func @f(%v0: i32) -> i32 attributes {{{attributes}}} {{\n");
        for i in 1..100 {
            _ = writeln!(text, "  %v{i} = \"x.op\"(%v{}, %v{}) : (i32, i32) -> i32", i - 1, i / 2);
        }
        text += "  tfrt.return %v99 : i32\n}\n";
        check(&text, |_, _, _, streams| assert_eq!(streams.streams.len(), 1));
    }
}

#[test]
fn names_are_read() {
    let text = "module attributes {tfrt.cost_threshold = 3 : i64, tfrt.upper_cost_threshold = 9 : i64} {
        func.func @f() attributes {tfrt.cost_threshold = 5, tfrt.merge_inter_dependent_streams = true} { tfrt.return }
    }";
    check(text, |_, _, options, _| {
        let want = StreamOptions {
            threshold: Some(5),
            upper_threshold: Some(9),
            merge_inter_dependent: true,
            merges_left_over: false,
            stores_all: true,
        };
        assert_eq!(*options, want);
    });
}

/// In the body of a loop with overlapping iterations, long-running kernels are not in the stream of the loop
/// condition.
#[test]
fn long_work_does_not_delay_the_next_iteration() {
    let check_body = |limit: i32, slow: &str, want: Option<&[u32]>| {
        let text = format!(
            "func.func @body(%i: i32, %end: i32) -> (i32, i32, i1) {{
               %one = tfrt.constant.i32 1
               {slow}
               %user = tfrt.add.i32 %slow, %one
               %next = tfrt.add.i32 %i, %one
               %more = \"tfrt.lessequal.i32\"(%next, %end) : (i32, i32) -> i1
               tfrt.return %next, %user, %more : i32, i32, i1
             }}
             func.func @calls(%i: i32) -> i32 {{
               %x = tfrt.call @sleeps(%i) : (i32) -> i32
               tfrt.return %x : i32
             }}
             func.func @sleeps(%i: i32) -> i32 {{
               %x = \"tfrt_test.copy.with_delay.i32\"(%i) : (i32) -> i32
               tfrt.return %x : i32
             }}
             func.func @main(%c: i1, %i: i32) {{
               %r:2 = tfrt.while %c @body(%i, %i) parallel_iterations({limit}) : (i32, i32) -> (i32, i32)
               tfrt.return
             }}"
        );
        check(&text, |m, block, options, _| {
            let (loops, function) = (Loops::new(m), m.functions()[0]);
            assert_eq!(loops.is_body(m, function), limit > 1, "{text}");
            if limit > 1 {
                let stored = Analysis::new(m).stored_of_body(block, options, &loops);
                assert_eq!(stored.as_deref(), want, "{text}");
            }
        });
    };
    let split: Option<&[u32]> = Some(&[0, 1, 1, 0, 0, 0]);
    let sleeps = "%slow = \"tfrt_test.copy.with_delay.i32\"(%i) : (i32) -> i32";
    check_body(2, sleeps, split);
    check_body(1, sleeps, None);
    check_body(2, "%slow = \"x.op\"(%i) {_tfrt_cost = 1000 : i64} : (i32) -> i32", split);
    check_body(2, "%slow = \"x.op\"(%i) {_tfrt_cost = 10 : i64} : (i32) -> i32", None);
    check_body(2, "%slow = tfrt.call @calls(%i) : (i32) -> i32", split);
    check_body(
        2,
        "%slow = tfrt.repeat.i32 %one, %i : i32 {
           %x = tfrt.call @calls(%i) : (i32) -> i32
           tfrt.return %x : i32
         }",
        split,
    );
}

/// A send that waits for small kernels only is in the stream that starts them, before its long kernels. One
/// behind a long kernel of its own is a task with it.
#[test]
fn sends_of_small_kernels_are_no_tasks() {
    let check_part = |before: &str, want: Option<&[u32]>| {
        let text = format!(
            "func.func @part(%step: !dev.step) -> i32 {{
               %i = dev.recv in %step channel 3 from \"a\" : i32
               %one = tfrt.constant.i32 1
               %next = {before}(%i, %one) : (i32, i32) -> i32
               dev.send %next in %step channel 4 to \"a\" : i32
               %y = dev.recv in %step channel 2 from \"a\" : i32
               %z = \"x.op\"(%y) : (i32) -> i32
               tfrt.return %z : i32
             }}"
        );
        check(&text, |m, block, options, _| {
            assert_eq!(Analysis::new(m).stored(block, options).as_deref(), want, "{text}");
        });
    };
    check_part("\"tfrt.add.i32\"", None);
    check_part("\"x.long\"", Some(&[0, 0, 1, 1, 0, 0, 0]));
}
