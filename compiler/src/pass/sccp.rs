//! `sccp`: sparse conditional constant propagation, after Wegman and Zadeck, "Constant Propagation with
//! Conditional Branches" (1991).
//!
//! ```text
//! value:  unknown ──▶ constant ──▶ varying          block:  not reached ──▶ reached
//! ```
//!
//! Blocks start as unreachable and values as unknown, so a value that is the same constant on all executable
//! paths is found, even around a loop. Ops are evaluated by their folders. A branch with a constant condition
//! reaches one successor. A private function whose references are all calls gets its arguments from the
//! calls, and the calls get their results from its returns. The arguments of other functions, and of regions
//! of other ops, are varying.
//!
//! Finally constants replace the values found. Branches remain: `canonicalize` folds them.
//!
//! The results of `tfrt.call` are constant only if all of its operands are: an operand that is an error
//! becomes all results.

use super::{Change, Pass, PassCx, Rewriter};
use crate::dialects::{Folded, Traits, cf};
use crate::fold;
use crate::ir::symbols::SymbolTables;
use crate::ir::{AttrId, AttrKind, BlockId, Context, Module, OpId, ValueDef, ValueId, names};
use crate::rewrite::would_be_trivially_dead;
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) const PASS: Pass = Pass {
    name: "sccp",
    title: "SCCP",
    summary: "replaces values that are the same constant on all paths that can be taken",
    options: &[],
    statistics: &[("num-constants", "number of values that were found to be constant")],
    run,
};

/// A lattice value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LatticeValue {
    /// No executable definition so far.
    Unknown,
    /// Always this constant.
    Constant(AttrId),
    /// Not a constant.
    Varying,
}

impl LatticeValue {
    fn join(self, other: LatticeValue) -> LatticeValue {
        match (self, other) {
            (LatticeValue::Unknown, known) | (known, LatticeValue::Unknown) => known,
            (LatticeValue::Constant(a), LatticeValue::Constant(b)) if a == b => self,
            (
                LatticeValue::Constant(_) | LatticeValue::Varying,
                LatticeValue::Constant(_) | LatticeValue::Varying,
            ) => LatticeValue::Varying,
        }
    }
}

fn run(rewriter: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let mut solver = Solver::new(rewriter);
    solver.solve();
    let (values, reached) = (solver.values, solver.reached);
    cx.count("num-constants", replace(rewriter, &values, &reached));
    rewriter.change()
}

/// A function whose calls are all known.
struct Callee {
    calls: Vec<OpId>,
    results: Vec<LatticeValue>,
}

struct Solver<'a, 'm> {
    r: &'a mut Rewriter<'m>,
    /// By value index.
    values: Vec<LatticeValue>,
    reached: FxHashSet<BlockId>,
    work: Vec<OpId>,
    callees: FxHashMap<OpId, Callee>,
    callee_of: FxHashMap<OpId, OpId>,
}

impl<'a, 'm> Solver<'a, 'm> {
    fn new(r: &'a mut Rewriter<'m>) -> Self {
        let values = vec![LatticeValue::Unknown; r.ir().n_value_ids()];
        let (callees, callee_of) = known_callees(r.ir(), r.root());
        Solver { r, values, reached: FxHashSet::default(), work: Vec::new(), callees, callee_of }
    }

    fn solve(&mut self) {
        self.enter_regions(self.r.root());
        while let Some(op) = self.work.pop() {
            self.visit(op);
        }
    }

    fn known(&self, value: ValueId) -> LatticeValue {
        self.values.get(value.0 as usize).copied().unwrap_or(LatticeValue::Varying)
    }

    /// Joins `new` into the lattice value of a value.
    fn learn(&mut self, value: ValueId, new: LatticeValue) {
        let Some(old) = self.values.get_mut(value.0 as usize) else { return };
        let joined = old.join(new);
        if joined != *old {
            *old = joined;
            let m = self.r.ir();
            let users = m.users(value).map(|(user, _)| user);
            self.work.extend(users.filter(|u| m.parent_block(*u).is_some_and(|b| self.reached.contains(&b))));
        }
    }

    fn reach(&mut self, block: BlockId) {
        if self.reached.insert(block) {
            let start = self.work.len();
            self.work.extend(self.r.ir().ops_in(block));
            // The first op is visited first.
            self.work[start..].reverse();
        }
    }

    /// Enters the regions of an op with varying arguments.
    fn enter_regions(&mut self, op: OpId) {
        for region in self.r.ir().regions_of(op).to_vec() {
            if let Some(entry) = self.r.ir().entry(region) {
                self.enter_with_varying_args(entry);
            }
        }
    }

    fn enter_with_varying_args(&mut self, block: BlockId) {
        for arg in self.r.ir().args(block).to_vec() {
            self.learn(arg, LatticeValue::Varying);
        }
        self.reach(block);
    }

    fn visit(&mut self, op: OpId) {
        let m = self.r.ir();
        let traits = m.traits(op);
        if !m.regions_of(op).is_empty() {
            // A function with known calls is entered by these only.
            if !self.callees.contains_key(&op) {
                self.enter_regions(op);
            }
            return self.all_varying(op);
        }
        if !m.successors(op).is_empty() {
            self.branch(op);
            return self.all_varying(op);
        }
        if traits.has(Traits::RETURN) {
            self.propagate_return(op);
        }
        if traits.has(Traits::CALL) {
            return self.call(op);
        }
        self.evaluate(op);
    }

    fn all_varying(&mut self, op: OpId) {
        for result in self.r.ir().results(op) {
            self.learn(result, LatticeValue::Varying);
        }
    }

    fn branch(&mut self, op: OpId) {
        let m = self.r.ir();
        let successors = m.successors(op).to_vec();
        let mut taken: Vec<usize> = (0..successors.len()).collect();
        if let Some(branch) = cf::CondBr::of(m, op) {
            match self.known(branch.condition(m)) {
                LatticeValue::Unknown => return,
                LatticeValue::Constant(c) => {
                    if let Some(truth) = m.cx.as_int(c) {
                        taken = vec![usize::from(truth == 0)];
                    }
                }
                LatticeValue::Varying => {}
            }
        }
        for i in taken {
            let (block, m) = (successors[i], self.r.ir());
            let args = m.args(block).to_vec();
            let given = m.successor_operands(op, i).filter(|range| range.len() == args.len());
            let Some(range) = given else {
                self.enter_with_varying_args(block);
                continue;
            };
            let given: Vec<LatticeValue> = range.map(|at| self.known(m.operand(op, at))).collect();
            for (arg, known) in args.into_iter().zip(given) {
                self.learn(arg, known);
            }
            self.reach(block);
        }
    }

    /// Joins the operands of a return into the results of all calls of its function.
    fn propagate_return(&mut self, op: OpId) {
        let m = self.r.ir();
        let Some(function) = m.parent_op(op) else { return };
        let given: Vec<LatticeValue> = m.operands(op).map(|v| self.known(v)).collect();
        let Some(callee) = self.callees.get_mut(&function) else { return };
        let mut changed = false;
        for (result, known) in callee.results.iter_mut().zip(given) {
            let joined = result.join(known);
            changed |= joined != *result;
            *result = joined;
        }
        if changed {
            let m = self.r.ir();
            let reached = |call: &OpId| m.parent_block(*call).is_some_and(|b| self.reached.contains(&b));
            self.work.extend(callee.calls.iter().copied().filter(reached));
        }
    }

    fn call(&mut self, op: OpId) {
        let Some(&function) = self.callee_of.get(&op) else { return self.all_varying(op) };
        let m = self.r.ir();
        let entry = m.regions_of(function).first().and_then(|region| m.entry(*region));
        let Some(entry) = entry else { return self.all_varying(op) };
        let given: Vec<LatticeValue> = m.operands(op).map(|v| self.known(v)).collect();
        let args = m.args(entry).to_vec();
        let errors_pass = m.def(op).is_some_and(|d| d.dialect() == "tfrt");
        let may_fail = errors_pass && given.contains(&LatticeValue::Varying);
        for (arg, known) in args.into_iter().zip(given) {
            self.learn(arg, known);
        }
        self.reach(entry);
        let results = self.callees.get(&function).map(|c| c.results.clone()).unwrap_or_default();
        for (i, result) in self.r.ir().results(op).enumerate() {
            let known = results.get(i).copied().unwrap_or(LatticeValue::Varying);
            self.learn(result, if may_fail { LatticeValue::Varying } else { known });
        }
    }

    fn evaluate(&mut self, op: OpId) {
        let m = self.r.ir();
        if m.n_results(op) == 0 {
            return;
        }
        if let Some(value) = constant_value(m, op) {
            return self.learn(m.result(op, 0), LatticeValue::Constant(value));
        }
        let operands: Vec<LatticeValue> = m.operands(op).map(|v| self.known(v)).collect();
        if operands.contains(&LatticeValue::Unknown) {
            return;
        }
        let constants: Vec<Option<AttrId>> = operands
            .iter()
            .map(|known| match known {
                LatticeValue::Constant(attr) => Some(*attr),
                LatticeValue::Unknown | LatticeValue::Varying => None,
            })
            .collect();
        let Some(folded) = self.r.would_fold(op, &constants) else { return self.all_varying(op) };
        for (result, part) in self.r.ir().results(op).zip(folded) {
            let known = match part {
                Folded::Attr(attr)
                    if self.r.ir().cx.attr_type(attr) == Some(self.r.ir().value_type(result)) =>
                {
                    LatticeValue::Constant(attr)
                }
                Folded::Attr(_) => LatticeValue::Varying,
                Folded::Value(value) => self.known(value),
            };
            self.learn(result, known);
        }
    }
}

fn constant_value(m: &Module, op: OpId) -> Option<AttrId> {
    m.def(op).filter(|d| d.traits.has(Traits::CONSTANT)).and_then(|_| m.attr(op, names::VALUE))
}

/// The private functions in `root` whose references are all calls, and the callee of each call.
fn known_callees(m: &Module, root: OpId) -> (FxHashMap<OpId, Callee>, FxHashMap<OpId, OpId>) {
    let mut callees = FxHashMap::default();
    let mut callee_of = FxHashMap::default();
    let private = |op: OpId| {
        let visibility = m.attr(op, names::SYM_VISIBILITY).and_then(|a| m.cx.as_str(a));
        m.traits(op).has(Traits::FUNCTION) && visibility == Some("private")
    };
    let mut tables = SymbolTables::default();
    let mut referenced: FxHashSet<OpId> = FxHashSet::default();
    let mut calls: Vec<(OpId, OpId)> = Vec::new();
    for op in m.walk(root) {
        if op != root && private(op) && m.regions_of(op).first().is_some_and(|r| m.entry(*r).is_some()) {
            let n = m.attr(op, names::FUNCTION_TYPE).and_then(|a| m.cx.as_type(a));
            let n = n.and_then(|t| m.cx.function_signature(t)).map_or(0, |(_, results)| results.len());
            callees.insert(op, Callee { calls: Vec::new(), results: vec![LatticeValue::Unknown; n] });
        }
        let is_call = m.traits(op).has(Traits::CALL);
        for &(name, attr) in m.attrs(op) {
            let mut found = Vec::new();
            symbols(&m.cx, attr, &mut found);
            for (symbol, (first, nested)) in found {
                let Some(target) = tables.resolve(m, op, first, nested) else { continue };
                if is_call && name == names::CALLEE && symbol == attr {
                    calls.push((op, target));
                } else {
                    referenced.insert(target);
                }
            }
        }
    }
    callees.retain(|op, _| !referenced.contains(op));
    for (call, target) in calls {
        if let Some(callee) = callees.get_mut(&target) {
            callee.calls.push(call);
            callee_of.insert(call, target);
        }
    }
    (callees, callee_of)
}

type Path<'a> = (crate::ir::StrId, &'a [crate::ir::StrId]);

/// The symbols in an attribute. The nesting depth of attributes is limited by the parser.
fn symbols<'a>(cx: &'a Context, attr: AttrId, out: &mut Vec<(AttrId, Path<'a>)>) {
    match cx.attr(attr) {
        AttrKind::Symbol { root, nested } => out.push((attr, (*root, &**nested))),
        AttrKind::Array(elems) => elems.iter().for_each(|e| symbols(cx, *e, out)),
        AttrKind::Dict(entries) => entries.iter().for_each(|(_, e)| symbols(cx, *e, out)),
        _ => {}
    }
}

/// Replaces constant values; returns their number.
fn replace(r: &mut Rewriter<'_>, values: &[LatticeValue], reached: &FxHashSet<BlockId>) -> u64 {
    let mut n = 0;
    for (i, known) in values.iter().enumerate() {
        let LatticeValue::Constant(attr) = *known else { continue };
        let value = ValueId(i as u32);
        let m = r.ir();
        if m.is_unused(value) {
            continue;
        }
        let before = match m.value_def(value) {
            ValueDef::Result(op, _) if m.is_erased(op) || constant_value(m, op).is_some() => continue,
            ValueDef::Result(op, _) => m.parent_block(op).filter(|b| reached.contains(b)).map(|_| op),
            ValueDef::Arg(block, _) if reached.contains(&block) => m.first_op(block),
            ValueDef::Arg(..) | ValueDef::Forward => None,
        };
        let Some(before) = before else { continue };
        let dialect = dialect_for(m, value);
        let ty = m.value_type(value);
        let Some(constant) = fold::materialize(r, before, dialect, attr, ty) else { continue };
        r.replace(value, constant);
        n += 1;
        if let ValueDef::Result(op, _) = r.ir().value_def(value)
            && would_be_trivially_dead(r.ir(), op)
            && r.ir().results(op).all(|result| r.ir().is_unused(result))
        {
            r.erase(op);
        }
    }
    n
}

/// The dialect of the constant for `value`: that of the op that defines it, or else that of its users.
fn dialect_for(m: &Module, value: ValueId) -> &'static str {
    let dialect = |op: OpId| m.def(op).map_or("", |d| d.dialect());
    let users = m.users(value).map(|(user, _)| dialect(user));
    let mut all = m.defining_op(value).map(dialect).into_iter().chain(users);
    all.find(|d| !matches!(*d, "" | "func" | "cf" | "scf")).unwrap_or("")
}
