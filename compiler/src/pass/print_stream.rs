//! `print-stream`: remarks on the stream of each op, in TFRT's wording.

use super::{Change, Pass, PassCx, Rewriter};
use crate::diag::{Diagnostic, Severity};
use crate::ir::{OpId, names};
use crate::streams::{Analysis, StreamOptions, Streams};
use std::fmt::Write;

pub(crate) const PASS: Pass = Pass {
    name: "print-stream",
    title: "PrintStream",
    summary: "remarks which stream each operation is in, as stream analysis finds it",
    options: &[],
    statistics: &[],
    run,
};

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let m = r.ir();
    let mut analysis = Analysis::new(m);
    for function in m.walk(r.root()).filter(|&op| m.is(op, names::FUNC_FUNC)) {
        let Some(block) = m.regions_of(function).first().and_then(|&region| m.entry(region)) else {
            continue;
        };
        let streams = analysis.block(block, &StreamOptions::of_function(m, function));
        let remark = |op: OpId, position: Option<u32>| {
            let stream = position.map_or(0, |at| streams.of(at as usize));
            let span = m.op_spans.at(op).copied();
            cx.report(
                Diagnostic::error("E0509", text(&streams, stream, position))
                    .with_severity(Severity::Remark)
                    .at(span),
            );
        };
        remark(function, None);
        for (position, &op) in (0..).zip(analysis.ops()) {
            remark(op, Some(position));
        }
    }
    Change::Unchanged
}

/// The remark for an op, or for the root stream.
fn text(streams: &Streams, id: u32, position: Option<u32>) -> String {
    let number = |id: u32| streams.stream(id).map_or(-1, |stream| i64::from(stream.number));
    let stream = streams.stream(id);
    let cost = stream.map_or(0, |stream| stream.cost);
    let parent = stream.and_then(|stream| stream.parent).map_or(-1, |(parent, _)| number(parent));
    let mut text = format!("stream id: {}, stream cost: {cost}, parent stream: {parent}", number(id));
    let children: Vec<String> = streams.started_at(position).map(|child| number(child).to_string()).collect();
    if !children.is_empty() {
        _ = write!(text, ", child streams: [{}]", children.join(", "));
    }
    text
}
