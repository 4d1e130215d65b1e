//! `print-work`: the arithmetic of each function's operators and the bytes that they move, by their kind.
//!
//! The figures are those of the operator table's cost column, by which also constant folding and placement
//! decide. Divided by what a machine computes and moves in a second they bound the time of a call from below,
//! but for algorithms with fewer operations than the definition, such as Winograd's.

use std::fmt::Write;

use rustc_hash::FxHashMap;

use crate::build::query;
use crate::dialects::tf;
use crate::ir::{Module, OpId};
use crate::pass::{Change, Pass, PassCx, Rewriter};

pub(crate) const PASS: Pass = Pass {
    name: "print-work",
    title: "PrintWork",
    summary: "prints the arithmetic of each function's operators and the bytes that they move",
    options: &[],
    statistics: &[],
    run,
};

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let m = r.ir();
    for function in m.functions() {
        let name = m.symbol_name(function).map_or("", |name| m.cx.str(name));
        let mut sums = Sums::default();
        m.walk(function).for_each(|op| sums.add(m, op));
        cx.print(&sums.table(name));
    }
    Change::Unchanged
}

/// The work of the operators of a kind, all together.
#[derive(Clone, Copy, Default)]
struct Sum {
    count: usize,
    flops: u64,
    bytes: u64,
}

impl Sum {
    fn add(&mut self, other: Sum) {
        self.count += other.count;
        self.flops = self.flops.saturating_add(other.flops);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }

    fn row(self, name: &str) -> String {
        let Sum { count, flops, bytes } = self;
        format!("{count:>8} {:>14.6} {:>14.6}  {name}\n", flops as f64 * 1e-9, bytes as f64 * 1e-6)
    }
}

/// The work of a function, by kind of operator.
#[derive(Default)]
struct Sums<'m> {
    of: FxHashMap<&'m str, Sum>,
    /// The number of operators with unknown dimensions.
    unknown: usize,
}

impl<'m> Sums<'m> {
    fn add(&mut self, m: &'m Module, op: OpId) {
        let Some(row) = tf::row(m, op) else { return };
        let work = query::work(m, op, row);
        self.unknown += usize::from(work.is_none());
        let work = work.or_else(|| query::least_work(m, op, row)).unwrap_or_default();
        let sum = Sum { count: 1, flops: work.flops, bytes: work.bytes };
        self.of.entry(m.op_name_str(op)).or_default().add(sum);
    }

    /// The kinds with the most arithmetic, then the most bytes first; the last row is the total.
    fn table(&self, function: &str) -> String {
        let mut rows: Vec<(&str, Sum)> = self.of.iter().map(|(name, sum)| (*name, *sum)).collect();
        rows.sort_by(|(a, x), (b, y)| (y.flops, y.bytes, a).cmp(&(x.flops, x.bytes, b)));
        let mut total = Sum::default();
        let mut text = format!("work of @{function}\n   count          GFLOP             MB  operator\n");
        for (name, sum) in rows {
            total.add(sum);
            text.push_str(&sum.row(name));
        }
        text.push_str(&total.row("in all"));
        if self.unknown > 0 {
            _ = writeln!(text, "{} operators have unknown dimensions, which count as 1", self.unknown);
        }
        text
    }
}
