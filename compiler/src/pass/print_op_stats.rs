//! `print-op-stats`: number of ops by name, in MLIR's layout.

use super::{Change, OptionKind, Pass, PassCx, PassOption, Rewriter};
use rustc_hash::FxHashMap;
use std::fmt::Write;

pub(crate) const PASS: Pass = Pass {
    name: "print-op-stats",
    title: "PrintOpStats",
    summary: "prints how many operations of each name there are",
    options: &[PassOption { name: "json", summary: "print as JSON", kind: OptionKind::Flag(false) }],
    statistics: &[],
    run,
};

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let m = r.ir();
    let mut counts: FxHashMap<&str, usize> = FxHashMap::default();
    for op in m.walk(r.root()) {
        *counts.entry(m.op_name_str(op)).or_default() += 1;
    }
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_unstable();
    cx.print(&if cx.flag("json") { json(&counts) } else { table(&counts) });
    Change::Unchanged
}

fn json(counts: &[(&str, usize)]) -> String {
    let lines: Vec<String> = counts.iter().map(|(name, n)| format!("  {name:?} : {n}")).collect();
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}

fn table(counts: &[(&str, usize)]) -> String {
    let parts = |name| str::split_once(name, '.').unwrap_or(("", name));
    let dialect = counts.iter().map(|(name, _)| parts(name).0.len()).max().unwrap_or(0) + 2;
    let op = counts.iter().map(|(name, _)| parts(name).1.len()).max().unwrap_or(0);
    let mut out = "Operations encountered:\n-----------------------\n".to_owned();
    for (name, n) in counts {
        let (prefix, rest) = parts(name);
        let dot = if prefix.is_empty() { ' ' } else { '.' };
        _ = writeln!(out, "{prefix:>dialect$}{dot}{rest:op$} , {n}");
    }
    out
}
