//! `inline`: replacement of calls by the bodies of their callees.
//!
//! ```text
//! call graph ──▶ strongly connected components, callees first ──▶ calls of each function, last first ──▶ DCE
//!   scc.rs                                                          this file, exact.rs
//! ```
//!
//! A call is an op whose definition names the attribute of its callee (`OpDef::callee`); the option `dialect`
//! selects the calls of one dialect. Callees are finished before their callers, so each call is decided once.
//! Not inlined are calls with control edges, which order the whole callee, and calls of functions that are
//! recursive (directly or not), have no body, are native (`tfrt.native`), are to stay apart
//! (`bef.no_inline`), differ from the caller in `tfrt.sync`, or contain unregistered ops. Nor are the parts
//! of a divided program inlined into the function that makes their step. A body with several blocks is only
//! inlined where the parent may have several. Calls that run as kernels skip a callee whose arguments are
//! errors or dead; they are inlined where that makes no difference (`exact.rs`).
//!
//! The types of a call with the trait `CALL` are those of the function. The types of other calls
//! (`tf.PartitionedCall`) may be more or less exact; the types of the functions are then updated.
//!
//! Inlined ops have the location `callsite(callee at caller)`. Private functions without references are
//! removed. The number of new ops is limited: functions that call each other twice at a depth of thirty would
//! expand to a billion ops.

mod exact;
mod scc;

use super::symbol_dce::references;
use super::{Change, OptionKind, Pass, PassCx, PassOption, Rewriter};
use crate::diag::{Diagnostic, Severity};
use crate::dialects::{Traits, dev};
use crate::ir::symbols::SymbolTables;
use crate::ir::{AttrKind, BlockId, KnownType, LocId, LocKind, Module, OpId, ValueId, names};
use crate::rewrite::{InsertionPoint, IrMapping, is_in_dataflow, signatures};
use rustc_hash::{FxHashMap, FxHashSet};

const INLINED: &str = "num-inlined";
const REMOVED: &str = "num-removed";
const MAX_NEW_OPS: &str = "max-new-ops";
const DIALECT: &str = "dialect";
const PARTIAL_ERRORS: &str = "partial-errors";

pub(crate) const PASS: Pass = Pass {
    name: "inline",
    title: "Inliner",
    summary: "replaces calls by what they call",
    options: &[
        PassOption {
            name: MAX_NEW_OPS,
            summary: "how many operations may be added",
            kind: OptionKind::Number(1_000_000),
        },
        PassOption {
            name: DIALECT,
            summary: "whose calls are inlined; those of every dialect if none is named",
            kind: OptionKind::Text(""),
        },
        PassOption {
            name: PARTIAL_ERRORS,
            summary: "inlines calls without effects also where fewer results may be errors then",
            kind: OptionKind::Flag(false),
        },
    ],
    statistics: &[(INLINED, "Number of calls inlined"), (REMOVED, "Number of private functions removed")],
    run,
};

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let mut calls = find_calls(r.ir(), r.root(), cx.text(DIALECT));
    let partial = cx.flag(PARTIAL_ERRORS);
    let mut types_differ = false;
    let mut budget = usize::try_from(cx.number(MAX_NEW_OPS)).unwrap_or(0);
    let edges: Vec<Vec<usize>> =
        calls.by_caller.iter().map(|list| list.iter().map(|c| c.callee).collect()).collect();
    let parts = scc::components(&edges);
    let mut recursive = vec![false; edges.len()];
    for part in &parts {
        for &f in part {
            recursive[f] = part.len() > 1 || edges[f].contains(&f);
        }
    }
    for part in parts {
        for caller in part {
            // What its callees observe, it observes when they are inlined.
            let inherits = |call: &Call| calls.observes[call.callee] && exact::runs_anyway(r.ir(), call.op);
            calls.observes[caller] |= calls.by_caller[caller].iter().any(inherits);
            for call in calls.by_caller[caller].iter().rev() {
                let callee = calls.functions[call.callee];
                // A call with a dead argument is skipped; ops that observe deadness or use no argument
                // would run in its place.
                let partial = partial && !calls.observes[caller];
                let runs_anyway = exact::runs_anyway(r.ir(), call.op);
                if recursive[call.callee]
                    || runs_anyway && calls.makes_step[caller]
                    || !runs_anyway && calls.observes[call.callee]
                    || !may_inline(r.ir(), call.op, calls.functions[caller], callee, partial)
                {
                    continue;
                }
                let size = r.ir().walk(callee).take(budget.saturating_add(2)).count();
                if size > budget {
                    let message = "not inlined: too many operations would be added";
                    let span = r.ir().op_spans.at(call.op).copied();
                    let remark = Diagnostic::error("E0507", message).with_severity(Severity::Remark).at(span);
                    cx.report(remark.help(format!("the option {MAX_NEW_OPS} of `inline` sets the limit")));
                    continue;
                }
                types_differ |=
                    !is(r.ir(), call.op, Traits::CALL) || !gives_its_types(r.ir(), call.op, callee);
                budget -= inline(r, call.op, callee).min(budget);
                cx.count(INLINED, 1);
            }
        }
    }
    if types_differ {
        signatures::refresh(r);
    }
    cx.count(REMOVED, remove_dead(r, &calls.functions));
    r.change()
}

struct Call {
    op: OpId,
    /// Index into the functions.
    callee: usize,
}

struct Calls {
    /// All functions with a body, in order.
    functions: Vec<OpId>,
    /// The calls of each function, in order.
    by_caller: Vec<Vec<Call>>,
    /// Whether each function has ops that observe dead values, or graphs with such values, whose effects
    /// nothing but operands orders.
    observes: Vec<bool>,
    /// Whether each function makes the step in which the parts of a program meet.
    makes_step: Vec<bool>,
}

fn is(m: &Module, op: OpId, traits: Traits) -> bool {
    m.def(op).is_some_and(|d| d.traits.has(traits))
}

fn body(m: &Module, function: OpId) -> &[BlockId] {
    m.regions_of(function).first().map_or(&[], |r| m.blocks_of(*r))
}

/// The functions inside of `root` and their calls that belong to `dialect`, or to any dialect if it is empty.
fn find_calls(m: &Module, root: OpId, dialect: &str) -> Calls {
    let functions: Vec<OpId> =
        m.walk(root).filter(|op| is(m, *op, Traits::FUNCTION) && !body(m, *op).is_empty()).collect();
    let index: FxHashMap<OpId, usize> = functions.iter().copied().zip(0..).collect();
    let mut symbols = SymbolTables::default();
    let by_caller = functions
        .iter()
        .map(|function| {
            let mut calls = Vec::new();
            for op in m.walk(*function) {
                let Some(def) = m.def(op) else { continue };
                let Some(callee) = def.callee.filter(|_| dialect.is_empty() || def.dialect() == dialect)
                else {
                    continue;
                };
                if !def.traits.has(Traits::TERMINATOR)
                    && let Some(AttrKind::Symbol { root, nested }) =
                        m.attr_named(op, callee).map(|a| m.cx.attr(a))
                    && let Some(callee) = symbols.resolve(m, op, *root, nested)
                    && let Some(&callee) = index.get(&callee)
                {
                    calls.push(Call { op, callee });
                }
            }
            calls
        })
        .collect();
    let observes = |op: OpId| m.def(op).is_some_and(|def| def.observes || def.traits.has(Traits::DATAFLOW));
    let observes = functions.iter().map(|&function| m.walk(function).any(observes)).collect();
    let makes_step = |op: OpId| m.op_name_str(op) == dev::STEP;
    let makes_step = functions.iter().map(|&function| m.walk(function).any(makes_step)).collect();
    Calls { functions, by_caller, observes, makes_step }
}

fn may_inline(m: &Module, call: OpId, caller: OpId, callee: OpId, partial_errors: bool) -> bool {
    let blocks = body(m, callee);
    let Some(entry) = blocks.first() else { return false };
    let sync = |f: OpId| m.attr(f, names::TFRT_SYNC).is_some();
    let several = || match m.parent_op(call) {
        Some(parent) => {
            m.op_name(parent) == m.op_name(callee)
                || m.def(parent).is_some_and(|d| !d.traits.has(Traits::SINGLE_BLOCK))
        }
        None => false,
    };
    m.attr(callee, names::TFRT_NATIVE).is_none()
        && m.attr(callee, names::NO_INLINE).is_none()
        && !is_in_dataflow(m, call)
        && sync(caller) == sync(callee)
        && (blocks.len() == 1 || several())
        && takes_place(m, call, *entry)
        && m.walk(callee).skip(1).all(|op| m.def(op).is_some())
        && (sync(caller)
            || exact::is_exact(m, call, blocks)
            || partial_errors && exact::has_no_effects(m, call, callee))
}

/// True if the results of a call have the types of what the callee returns. They may be less exact.
fn gives_its_types(m: &Module, call: OpId, callee: OpId) -> bool {
    let end = body(m, callee).first().and_then(|&entry| m.last_op(entry));
    let returned = end.into_iter().flat_map(|end| m.operands(end));
    returned.map(|value| m.value_type(value)).eq(m.results(call).map(|value| m.value_type(value)))
}

/// True if the operands of a call fit the arguments of the callee, and the returned values its results.
fn takes_place(m: &Module, call: OpId, entry: BlockId) -> bool {
    let args = m.args(entry);
    if is(m, call, Traits::CALL) {
        return m.operands(call).map(|v| m.value_type(v)).eq(args.iter().map(|v| m.value_type(*v)));
    }
    let has_edges = m.def(call).is_some_and(|def| def.control_edges)
        && m.operands(call).chain(m.results(call)).any(|v| m.value_type(v) == KnownType::Chain.id());
    let end = m.last_op(entry).filter(|end| is(m, *end, Traits::RETURN));
    !has_edges
        && m.n_operands(call) == args.len()
        && end.is_some_and(|end| m.n_operands(end) == m.n_results(call))
}

/// Clones the block of a function in front of the op that calls it, with these values for its arguments.
/// Returns what the function returns, and the number of new ops.
pub(crate) fn copy_block(
    r: &mut Rewriter<'_>,
    block: BlockId,
    args: &[ValueId],
    call: OpId,
) -> (Vec<ValueId>, usize) {
    let mut copies = IrMapping::default();
    copies.values.extend(r.ir().args(block).iter().copied().zip(args.iter().copied()));
    let at = r.ir().loc(call);
    r.copy_body(block, call, &mut copies, &mut call_sites(at));
    let m = r.ir();
    let pairs = m.args(block).iter().zip(args);
    let others = pairs.filter(|&(&param, &arg)| m.value_type(param) != m.value_type(arg));
    let others: Vec<ValueId> = others.map(|(_, &arg)| arg).collect();
    others.into_iter().for_each(|arg| r.pass_type_on(arg));
    let last = r.ir().last_op(block);
    let results = last.into_iter().flat_map(|op| r.ir().operands(op));
    let results = results.map(|value| copies.values.get(&value).copied().unwrap_or(value)).collect();
    (results, copies.n_ops)
}

/// The locations of ops that are inlined at a call.
fn call_sites(call: LocId) -> impl FnMut(&mut Rewriter<'_>, LocId) -> LocId {
    let mut known: FxHashMap<LocId, LocId> = FxHashMap::default();
    move |r, callee| {
        *known.entry(callee).or_insert_with(|| r.cx().loc_id(LocKind::CallSite { callee, caller: call }))
    }
}

/// Inlines a call; returns the number of new ops.
fn inline(r: &mut Rewriter<'_>, call: OpId, callee: OpId) -> usize {
    let blocks = body(r.ir(), callee).to_vec();
    let Some(&entry) = blocks.first() else { return 0 };
    let at = r.ir().loc(call);
    let args: Vec<ValueId> = r.ir().operands(call).collect();
    if let [block] = blocks[..] {
        let (results, n_ops) = copy_block(r, block, &args, call);
        r.replace_op(call, &results);
        return n_ops;
    }
    let mut copies = IrMapping::default();
    let Some(before) = r.ir().parent_block(call) else { return 0 };
    let rest = r.split_block(call);
    let results: Vec<ValueId> = r.ir().results(call).collect();
    for &result in &results {
        let arg = r.add_arg(rest, r.ir().value_type(result));
        r.set_arg_loc(arg, at);
        r.replace(result, arg);
    }
    r.erase(call);
    r.copy_blocks(&blocks, before, &mut copies, &mut call_sites(at));
    for block in &blocks {
        let Some(end) = r.ir().last_op(copies.blocks[block]) else { continue };
        if is(r.ir(), end, Traits::RETURN) {
            let values: Vec<ValueId> = r.ir().operands(end).collect();
            let loc = r.ir().loc(end);
            let branch = r.create_named(InsertionPoint::Before(end), loc, "cf.br", &values, &[], &[]);
            r.set_successors(branch, &[rest]);
            r.erase(end);
        }
    }
    r.merge_block(copies.blocks[&entry], before, &args);
    copies.n_ops
}

/// Removes unreferenced private functions; returns their number.
fn remove_dead(r: &mut Rewriter<'_>, functions: &[OpId]) -> u64 {
    let m = r.ir();
    let mut symbols = SymbolTables::default();
    let candidates: FxHashSet<OpId> = functions.iter().copied().filter(|f| m.is_private(*f)).collect();
    let mut targets = |op: OpId| -> Vec<OpId> {
        let paths = references(m, op);
        let found = paths.iter().filter_map(|p| symbols.resolve(m, op, *p.first()?, &p[1..]));
        found.filter(|f| candidates.contains(f)).collect()
    };
    let mut uses: FxHashMap<OpId, usize> = FxHashMap::default();
    let mut held: FxHashMap<OpId, Vec<OpId>> = FxHashMap::default();
    for op in m.walk(m.top()) {
        for target in targets(op) {
            *uses.entry(target).or_default() += 1;
            if let Some(function) = m.ancestors(op).find(|op| candidates.contains(op)) {
                held.entry(function).or_default().push(target);
            }
        }
    }
    let unused = |uses: &FxHashMap<OpId, usize>, f: &OpId| uses.get(f).is_none_or(|n| *n == 0);
    let mut dead: Vec<OpId> =
        functions.iter().copied().filter(|f| candidates.contains(f) && unused(&uses, f)).collect();
    let mut at = 0;
    while at < dead.len() {
        for target in held.remove(&dead[at]).unwrap_or_default() {
            if let Some(n) = uses.get_mut(&target) {
                *n -= 1;
                if *n == 0 {
                    dead.push(target);
                }
            }
        }
        at += 1;
    }
    dead.iter().for_each(|f| r.erase(*f));
    dead.len() as u64
}
