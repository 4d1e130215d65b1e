//! `tf-outline-regions`: outlining of the regions of `tf` control flow ops into functions.
//!
//! ```text
//! tf.IfRegion(p) ({ %y = tf.Neg(%x) tf.Yield(%y) }, {..})   ──▶   tf.If(p, x) {then_branch = @f_then, ..}
//! tf.WhileRegion(i) ({..}, {..})                            ──▶   tf.While(i, x) {cond = @f_cond, ..}
//! tf.CaseRegion(n) ({..}, {..}, {..})                       ──▶   tf.Case(n, x) {branches = [@f_branch, ..]}
//! ```
//!
//! Captured values, here `x`, become arguments of the functions, and loop-carried values that do not change.
//! A captured chain becomes a control edge of the new op, so the whole op waits for it.
//!
//! The new op keeps the types of the old one's results. The typed builder would infer nothing: control flow
//! has the types that it is given.

use befrost_tensor::tf::op::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use super::effects::functions;
use crate::build::query::flag;
use crate::dialects::tf::{self, Control};
use crate::ir::{AttrId, Context, KnownType, Module, OpId, RegionId, StrId, TypeId, ValueId};
use crate::pass::{Change, Pass, PassCx, Rewriter};
use crate::rewrite::InsertionPoint;

pub(crate) const PASS: Pass = Pass {
    name: tf::OUTLINE_REGIONS,
    title: "TFOutlineRegions",
    summary: "makes functions of the regions of TensorFlow's control flow",
    options: &[],
    statistics: &[("num-outlined", "Number of regions that became functions")],
    run,
};

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    cx.count("num-outlined", outline_all(r));
    r.change()
}

/// Outlines all regions; returns their number.
pub(crate) fn outline_all(r: &mut Rewriter<'_>) -> u64 {
    let m = r.ir();
    let mut found: Vec<OpId> = m.walk_functions().filter(|&op| kind(m, op).is_some()).collect();
    if found.is_empty() {
        return 0;
    }
    let mut names = Names { taken: functions(m).into_keys().collect(), last: FxHashMap::default() };
    // Inner ops follow the ops that contain them in the walk.
    found.reverse();
    found.into_iter().map(|op| outline(r, op, &mut names)).sum()
}

/// The names of functions, and the last number that each text got: a function with thousands of branches does
/// not try all numbers for each.
struct Names {
    taken: FxHashSet<StrId>,
    last: FxHashMap<StrId, usize>,
}

impl Names {
    /// A name that is not taken: `text`, or `text` with a number.
    fn free(&mut self, cx: &mut Context, text: &str) -> String {
        let stem = cx.str_id(text);
        if self.taken.insert(stem) {
            return text.to_owned();
        }
        let last = self.last.entry(stem).or_default();
        loop {
            *last += 1;
            let name = format!("{text}_{last}");
            if self.taken.insert(cx.str_id(&name)) {
                return name;
            }
        }
    }
}

/// The kind of a control flow op with regions.
fn kind(m: &Module, op: OpId) -> Option<Control> {
    match tf::op_of(m.op_name_str(op))? {
        "IfRegion" => Some(Control::If),
        "CaseRegion" => Some(Control::Case),
        "WhileRegion" => Some(Control::While),
        _ => None,
    }
}

/// Values that regions use and do not define.
struct Captured {
    data: Vec<ValueId>,
    /// Chains.
    edges: Vec<ValueId>,
}

fn captured(m: &Module, op: OpId) -> Captured {
    let is_chain = |value: &ValueId| m.value_type(*value) == KnownType::Chain.id();
    let (edges, data) = captured_values(m, op).into_iter().partition(is_chain);
    Captured { data, edges }
}

/// Values that the regions of an op use and do not define, in the order of their first uses.
pub(crate) fn captured_values(m: &Module, op: OpId) -> Vec<ValueId> {
    let mut inside: FxHashSet<ValueId> = FxHashSet::default();
    for inner in m.walk(op) {
        if inner != op {
            inside.extend(m.results(inner));
        }
        let blocks = m.regions_of(inner).iter().flat_map(|&region| m.blocks_of(region));
        inside.extend(blocks.flat_map(|&block| m.args(block)));
    }
    let used = m.walk(op).filter(|&inner| inner != op).flat_map(|inner| m.operands(inner));
    used.filter(|&value| inside.insert(value)).collect()
}

/// Outlines the regions of an op; returns their number. Regions with several blocks are not outlined: no
/// kernel executes them.
fn outline(r: &mut Rewriter<'_>, op: OpId, names: &mut Names) -> u64 {
    let m = r.ir();
    let regions = m.regions_of(op).to_vec();
    let Some(kind) = kind(m, op) else { return 0 };
    if regions.iter().any(|&region| m.blocks_of(region).len() != 1) {
        return 0;
    }
    let Some(function) = m.ancestors(op).find(|&op| m.symbol_name(op).is_some()) else { return 0 };
    let captured = captured(m, op);
    let n_edges = tf::n_control_edges(m, op);
    let n_data = m.n_operands(op) - n_edges;
    let own: Vec<ValueId> = m.operands(op).collect();
    let (data, edges) = own.split_at(n_data);
    let operands = [data, &captured.data, edges, &captured.edges].concat();
    let n_results = tf::n_data_results(m, op);
    let results: Vec<TypeId> = m.results(op).map(|result| m.value_type(result)).collect();
    let (results, completion) = results.split_at(n_results);
    let stem = m.symbol_name(function).map_or_else(String::new, |name| m.cx.str(name).to_owned());

    let symbols: Vec<AttrId> = regions
        .iter()
        .enumerate()
        .map(|(i, &region)| {
            let (what, is_loop_body) = match (kind, i) {
                (Control::If, 0) => ("then", false),
                (Control::If, _) => ("else", false),
                (Control::Case | Control::Call, _) => ("branch", false),
                (Control::While, 0) => ("cond", false),
                (Control::While, _) => ("body", true),
            };
            let name = names.free(r.cx(), &format!("{stem}_{what}"));
            function_of(r, function, region, &name, &captured, is_loop_body);
            r.cx().symbol_attr(&name)
        })
        .collect();

    let m = r.ir();
    let is_stateless = flag(m, op, "is_stateless");
    let loc = m.loc(op);
    let parallel_iterations = m.attr_named(op, "parallel_iterations");
    let recomputed = [tf::RECOMPUTE, tf::KEEP_EVERY].map(|name| Some((name, m.attr_named(op, name)?)));
    let (operators, mut attrs, extra): ([Op; 2], Vec<(&str, AttrId)>, &[ValueId]) = match (kind, &symbols[..])
    {
        (Control::If, &[then, other]) => {
            ([Op::If, Op::StatelessIf], vec![("then_branch", then), ("else_branch", other)], &[])
        }
        (Control::While, &[cond, body]) => {
            let mut attrs = vec![("body", body), ("cond", cond)];
            attrs.extend(parallel_iterations.map(|attr| ("parallel_iterations", attr)));
            ([Op::While, Op::StatelessWhile], attrs, &captured.data)
        }
        (_, branches) => {
            ([Op::Case, Op::StatelessCase], vec![("branches", r.cx().array_attr(branches))], &[])
        }
    };
    attrs.extend(recomputed.into_iter().flatten());
    let name = operators[usize::from(is_stateless)].op_name();
    let more = extra.iter().map(|&value| r.ir().value_type(value));
    let types: Vec<TypeId> = results.iter().copied().chain(more).chain(completion.iter().copied()).collect();
    let made = r.create_named(InsertionPoint::Before(op), loc, name, &operands, &types, &attrs);
    let all: Vec<ValueId> = r.ir().results(made).collect();
    let (first, rest) = all.split_at(n_results);
    r.replace_op(op, &[first, &rest[extra.len()..]].concat());
    symbols.len() as u64
}

/// Creates a private function from a region. The body of a loop returns its captured values (`is_loop_body`).
fn function_of(
    r: &mut Rewriter<'_>,
    parent: OpId,
    region: RegionId,
    name: &str,
    captured: &Captured,
    is_loop_body: bool,
) {
    let loc = r.ir().loc(parent);
    let function = r.private_function(InsertionPoint::Before(parent), loc, name);
    let body = r.add_region(function);
    r.move_blocks(region, body);
    let Some(block) = r.ir().entry(body) else { return };

    let types: Vec<TypeId> = captured.data.iter().map(|&value| r.ir().value_type(value)).collect();
    let args: Vec<ValueId> = types.iter().map(|&ty| r.add_arg(block, ty)).collect();
    let given: FxHashMap<ValueId, ValueId> =
        captured.data.iter().copied().zip(args.iter().copied()).collect();
    let inner: Vec<OpId> = r.ir().walk(function).filter(|&op| op != function).collect();
    for op in inner {
        let old: Vec<ValueId> = r.ir().operands(op).collect();
        let kept = old.iter().filter(|value| !captured.edges.contains(value));
        let new: Vec<ValueId> = kept.map(|value| given.get(value).copied().unwrap_or(*value)).collect();
        if new != old {
            r.set_operands(op, &new);
        }
    }
    let m = r.ir();
    let Some(end) = m.last_op(block) else { return };
    let mut returned: Vec<ValueId> = m.operands(end).collect();
    if is_loop_body {
        returned.extend(args);
    }
    let loc = m.loc(end);
    r.erase(end);
    r.finish_function(function, loc, &returned);
}
