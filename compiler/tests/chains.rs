//! Passes preserve all orderings by chains.
//!
//! Programs of prints and merges are generated. Each print has a number; one print comes before another if
//! there is a path from its results to the other's operands. Each pipeline must preserve the order of every
//! ordered pair.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use befrost_compiler::ir::{Module, OpId};
use befrost_compiler::pass::{PassManager, RunOptions};
use befrost_compiler::print::{PrintOptions, print};
use befrost_compiler::syntax::{ParseOptions, parse};
use befrost_compiler::verify::{faults, verify};
use proptest::prelude::*;

const PIPELINES: [&str; 4] =
    ["canonicalize", "cse", "inline,canonicalize", "canonicalize,cse,inline,sccp,symbol-dce,canonicalize"];

/// The number of the end of a function, which is treated as a print.
const RETURN: i64 = -1;

/// A program that `choices` determine: prints, merges of chains and other values, new chains, calls of
/// functions that print.
fn program(choices: &[(u8, u16, u16, u16)]) -> String {
    let mut text = "func.func @main(%in: !tfrt.chain, %x: i32) -> (!tfrt.chain, !tfrt.chain) {\n".to_owned();
    let mut callees = String::new();
    let mut chains = vec!["%in".to_owned()];
    for (i, &(what, a, b, c)) in choices.iter().enumerate() {
        let chain = |at: u16| chains[usize::from(at) % chains.len()].clone();
        let (a, b, c) = (chain(a), chain(b), chain(c));
        _ = match what % 8 {
            0 => writeln!(text, "  %c{i} = tfrt.new.chain"),
            1 => writeln!(text, "  %c{i} = tfrt.merge.chains {a} : !tfrt.chain"),
            2 => writeln!(text, "  %c{i} = tfrt.merge.chains {a}, {b} : !tfrt.chain, !tfrt.chain"),
            3 => writeln!(
                text,
                "  %c{i} = tfrt.merge.chains {a}, %x, {b}, {c} : !tfrt.chain, i32, !tfrt.chain, !tfrt.chain"
            ),
            4 => {
                _ = writeln!(
                    callees,
                    "func.func @f{i}(%c: !tfrt.chain, %d: !tfrt.chain, %x: i32) -> !tfrt.chain {{\n  %e = tfrt.merge.chains %c, %d : !tfrt.chain, !tfrt.chain\n  \
                     %f = tfrt.print.i32 %x, %e {{id = {i} : i64}}\n  tfrt.return %f : !tfrt.chain\n}}"
                );
                writeln!(
                    text,
                    "  %c{i} = tfrt.call @f{i}({a}, {b}, %x) {{id = {i} : i64}} : (!tfrt.chain, !tfrt.chain, i32) -> !tfrt.chain"
                )
            }
            _ => writeln!(text, "  %c{i} = tfrt.print.i32 %x, {a} {{id = {i} : i64}}"),
        };
        chains.push(format!("%c{i}"));
    }
    let last = |back: usize| chains[chains.len().saturating_sub(back).min(chains.len() - 1)].clone();
    _ = writeln!(text, "  tfrt.return {}, {} : !tfrt.chain, !tfrt.chain\n}}", last(1), last(2));
    text + &callees
}

fn read(text: &str) -> Module {
    let parsed = parse("t", text, &ParseOptions::default());
    parsed.module.unwrap_or_else(|| panic!("{text}\n{:?}", parsed.diagnostics))
}

/// The order of prints (or calls of a print) and of the end of `main`, as pairs.
fn orders(m: &Module) -> BTreeSet<(i64, i64)> {
    let main = m.walk(m.top()).find(|op| m.op_name_str(*op) == "func.func").expect("there is a function");
    // The prints on which an op depends, transitively.
    let mut before: BTreeMap<OpId, BTreeSet<i64>> = BTreeMap::new();
    let mut orders = BTreeSet::new();
    let id_of = |op: OpId| {
        let id = m.attrs(op).iter().find(|(name, _)| m.cx.str(*name) == "id");
        id.and_then(|(_, value)| m.cx.as_int(*value))
    };
    for op in m.walk(main) {
        let mut mine: BTreeSet<i64> = BTreeSet::new();
        for value in m.operands(op) {
            let Some(def) = m.defining_op(value) else { continue };
            mine.extend(before.get(&def).into_iter().flatten());
            mine.extend(id_of(def));
        }
        let is_end = m.op_name_str(op) == "tfrt.return";
        if let Some(id) = id_of(op).or(is_end.then_some(RETURN)) {
            orders.extend(mine.iter().map(|first| (*first, id)));
        }
        before.insert(op, mine);
    }
    orders
}

fn check(text: &str) {
    let wanted = orders(&read(text));
    for pipeline in PIPELINES {
        let m = verify(read(text)).expect("a program");
        let mut passes = PassManager::parse(pipeline).expect("a pipeline");
        let ran = passes.run_with(m, &mut RunOptions::default());
        let (m, _) = ran.unwrap_or_else(|said| panic!("{pipeline}: {said:?}"));
        assert!(faults(&m).is_empty());
        let found = orders(&m);
        let lost: Vec<_> = wanted.difference(&found).collect();
        let after = print(&m, &PrintOptions::default());
        assert!(lost.is_empty(), "{pipeline} loses {lost:?}\n{text}\nbecomes\n{after}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn orders_are_kept(choices in prop::collection::vec(any::<(u8, u16, u16, u16)>(), 1..24)) {
        check(&program(&choices));
    }
}

/// Operands with other users, which upstream's canonicalization of `merge.chains` loses.
#[test]
fn operands_with_other_users_stay() {
    let text = "func.func @main(%x: i32, %in: !tfrt.chain) -> (!tfrt.chain, !tfrt.chain) {
  %a = tfrt.print.i32 %x, %in {id = 1 : i64}
  %b = tfrt.print.i32 %x, %in {id = 2 : i64}
  %c = tfrt.merge.chains %a, %b : !tfrt.chain, !tfrt.chain
  %d = tfrt.print.i32 %x, %a {id = 3 : i64}
  %e = tfrt.print.i32 %x, %b {id = 4 : i64}
  %f = tfrt.print.i32 %x, %c {id = 5 : i64}
  %g = tfrt.merge.chains %d, %e : !tfrt.chain, !tfrt.chain
  tfrt.return %f, %g : !tfrt.chain, !tfrt.chain
}
";
    assert!(orders(&read(text)).is_superset(&[(1, 5), (2, 5), (1, 3), (2, 4), (3, RETURN)].into()));
    check(text);
}
