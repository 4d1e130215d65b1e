//! Reports of a pipeline: timing and statistics.
//!
//! Both have MLIR's layout, for tools that parse it.

use super::pipeline::Step;
use std::fmt::Write;
use std::time::Duration;

const RULE: &str = "===-------------------------------------------------------------------------===\n";

/// A row of the timing report, with nested rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Name.
    pub name: String,
    /// Time, including nested rows.
    pub spent: Duration,
    /// Nested rows.
    pub rows: Vec<Row>,
}

impl Row {
    /// A row without nested rows.
    pub fn new(name: &str, spent: Duration) -> Self {
        Row { name: name.to_owned(), spent, rows: Vec::new() }
    }
}

/// The timing report: a tree with percentages of `total`.
pub fn timing_report(rows: &[Row], total: Duration) -> String {
    let mut out = format!("{RULE}                         ... Execution time report ...\n{RULE}");
    _ = writeln!(out, "  Total Execution Time: {:.4} seconds\n", total.as_secs_f64());
    out.push_str("  ----Wall Time----  ----Name----\n");
    // The depth of pipelines is limited, so recursion is safe.
    write_rows(&mut out, rows, total, 0);
    let known: Duration = rows.iter().map(|r| r.spent).sum();
    write_row(&mut out, "Rest", total.saturating_sub(known), total, 0);
    write_row(&mut out, "Total", total, total, 0);
    out
}

fn write_rows(out: &mut String, rows: &[Row], total: Duration, indent: usize) {
    for row in rows {
        write_row(out, &row.name, row.spent, total, indent);
        write_rows(out, &row.rows, total, indent + 2);
    }
}

fn write_row(out: &mut String, name: &str, spent: Duration, total: Duration, indent: usize) {
    let (spent, total) = (spent.as_secs_f64(), total.as_secs_f64());
    let percent = if total > 0.0 { 100.0 * spent / total } else { 0.0 };
    _ = writeln!(out, "  {spent:8.4} ({percent:5.1}%)  {:indent$}{name}", "");
}

/// The rows of a pipeline.
pub(super) fn rows(steps: &[Step]) -> Vec<Row> {
    steps
        .iter()
        .map(|step| match step {
            Step::Pass(instance) => Row::new(instance.pass.title, instance.spent),
            Step::Nest(nest) => {
                Row { name: pipeline_name(&nest.anchor), spent: nest.spent, rows: rows(&nest.steps) }
            }
        })
        .collect()
}

/// The statistics report.
pub(super) fn statistics(steps: &[Step]) -> String {
    let mut out = format!("{RULE}                         ... Pass statistics report ...\n{RULE}");
    write_statistics(&mut out, steps, 0);
    out
}

fn write_statistics(out: &mut String, steps: &[Step], indent: usize) {
    for step in steps {
        match step {
            Step::Nest(nest) => {
                _ = writeln!(out, "{:indent$}{}", "", pipeline_name(&nest.anchor));
                write_statistics(out, &nest.steps, indent + 2);
            }
            Step::Pass(instance) => {
                _ = writeln!(out, "{:indent$}{}", "", instance.pass.title);
                let mut lines: Vec<(&str, &str, String)> = instance
                    .pass
                    .statistics
                    .iter()
                    .zip(&instance.counters)
                    .map(|((name, what), n)| (*name, *what, n.to_string()))
                    .collect();
                lines.sort_unstable();
                let name_width = lines.iter().map(|l| l.0.len()).max().unwrap_or(0);
                let width = lines.iter().map(|l| l.2.len()).max().unwrap_or(0);
                for (name, what, n) in lines {
                    _ = writeln!(out, "{:indent$}  (S) {n:>width$} {name:name_width$} - {what}", "");
                }
            }
        }
    }
}

fn pipeline_name(anchor: &str) -> String {
    format!("'{anchor}' Pipeline")
}
