//! `convert-upstream-to-kernels`: lowering of upstream's control flow to a kernel graph.
//!
//! ```text
//! func.call                 tfrt.call
//! scf.execute_region, scf.index_switch, func.call_indirect              (prepare.rs)
//! scf.if                    tfrt.if, with the same regions              (regions.rs)
//! scf.for, scf.while        tfrt.while, with the body as a function     (regions.rs)
//! branches between blocks   one tfrt.while over a tfrt.case of blocks   (blocks.rs)
//! vector.print, cf.assert   kernels on a chain through the function     (order.rs)
//! ```
//!
//! Ops on scalars (`arith`, `math`, `index`) and between scalars and tensors (`tensor`) have kernels of their
//! own names and stay. A private function with effects takes a chain as its last argument and returns one. A
//! public one keeps its arguments; its results wait for its effects, and without results it returns the
//! chain, so that errors of effects are not lost.

mod blocks;
mod order;
mod prepare;
mod regions;

use rustc_hash::FxHashSet;

use crate::diag::Diagnostic;
use crate::dialects::UPSTREAM_TO_KERNELS;
use crate::dialects::tfrt::Call;
use crate::ir::{AttrId, FloatKind, KnownType, Module, OpId, Signedness, StrId, TypeId, TypeKind, ValueId};
use crate::pass::{Change, Pass, PassCx, Rewriter};
use crate::print::type_text;
use crate::rewrite::InsertionPoint;

pub(crate) const PASS: Pass = Pass {
    name: UPSTREAM_TO_KERNELS,
    title: "ConvertUpstreamToKernels",
    summary: "lowers calls, structured control flow and branches between blocks to kernels",
    options: &[],
    statistics: &[("num-loops", "Number of loops lowered")],
    run,
};

const CHAIN: TypeId = KnownType::Chain.id();

/// True if the module has ops of upstream's dialects that [`PASS`] lowers.
pub fn is_upstream(m: &Module) -> bool {
    m.cx.op_names().any(|data| is_upstream_op(m.cx.str(data.name)))
        && m.walk_functions().any(|op| is_upstream_op(m.op_name_str(op)))
}

fn is_upstream_op(name: &str) -> bool {
    let dialect = name.split('.').next().unwrap_or(name);
    matches!(dialect, "arith" | "cf" | "index" | "math" | "scf" | "tensor" | "vector")
        || matches!(name, "func.call" | "func.call_indirect" | "func.constant")
}

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    if !is_upstream(r.ir()) {
        return Change::Unchanged;
    }
    let refused = refused(r.ir());
    if !refused.is_empty() {
        refused.into_iter().for_each(|diagnostic| cx.report(diagnostic));
        return Change::Unchanged;
    }
    let taken = functions(r.ir()).filter_map(|op| r.ir().symbol_name(op)).collect();
    let mut lowering = UpstreamLowering { r, cx, taken, n_loops: 0 };
    lowering.prepare();
    lowering.order_effects();
    let all: Vec<OpId> = functions(lowering.m()).collect();
    for function in all {
        lowering.lower_regions(function);
        lowering.lower_blocks(function);
    }
    let calls: Vec<OpId> =
        lowering.m().walk_functions().filter(|&op| lowering.m().op_name_str(op) == "func.call").collect();
    for call in calls {
        lowering.call(call);
    }
    cx.count("num-loops", lowering.n_loops);
    r.change()
}

/// The functions with bodies.
fn functions(m: &Module) -> impl Iterator<Item = OpId> + '_ {
    m.ops_in(m.body()).filter(|&op| {
        m.op_name_str(op) == "func.func" && m.regions_of(op).iter().any(|&region| m.entry(region).is_some())
    })
}

/// Diagnostics of the ops that have neither a kernel nor a lowering.
fn refused(m: &Module) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for op in m.walk_functions().filter(|&op| is_upstream_op(m.op_name_str(op))) {
        if let Some(reason) = reason_to_refuse(m, op) {
            let text = format!("`{}` cannot be executed: {reason}", m.op_name_str(op));
            found.push(Diagnostic::error("E0716", text).at(m.op_spans.at(op).copied()));
        }
    }
    found
}

fn reason_to_refuse(m: &Module, op: OpId) -> Option<String> {
    let name = m.op_name_str(op);
    let has_kernel = m.def(op).is_some_and(|def| def.has_kernel);
    if !has_kernel && m.def(op).and_then(|def| def.lowered_by) != Some(UPSTREAM_TO_KERNELS) {
        return Some("it has no kernel".to_owned());
    }
    if name == "arith.truncf" && m.attr_named(op, "roundingmode").is_some() {
        return Some("its kernel rounds to the nearest number only".to_owned());
    }
    if name == "func.call_indirect" {
        let is_direct = prepare::direct_callee(m, op).is_some();
        return (!is_direct).then(|| {
            "functions are no values of kernels, so its callee must be a `func.constant`".to_owned()
        });
    }
    if name == "func.constant" {
        let is_callee = |user: OpId, i: usize| m.op_name_str(user) == "func.call_indirect" && i == 0;
        let only_called = m.results(op).all(|value| m.users(value).all(|(user, i)| is_callee(user, i)));
        return (!only_called).then(|| {
            "functions are no values of kernels, so it can only be the callee of `func.call_indirect`"
                .to_owned()
        });
    }
    if prepare::is_tensor_constant(m, op) {
        return None;
    }
    let is_scalar_op = has_kernel && name != "arith.select" || name == "scf.for";
    let n_scalars = if name == "scf.for" { 3 } else { usize::MAX };
    let operands = m.operands(op).take(n_scalars);
    let results = m.results(op).take(if name == "scf.for" { 0 } else { usize::MAX });
    let takes_tensors = name.starts_with("tensor.");
    let has_kernels = |ty: TypeId| match m.cx.ty(ty) {
        TypeKind::Tensor { elem, .. } if takes_tensors => {
            is_scalar(m, *elem) && *elem != KnownType::Index.id()
        }
        _ => is_scalar(m, ty),
    };
    let other = operands.chain(results).map(|value| m.value_type(value)).find(|&ty| !has_kernels(ty));
    let other = other.filter(|_| is_scalar_op)?;
    Some(format!("there are no kernels for {}", type_text(&m.cx, other)))
}

/// True for the types of which `arith` has kernels.
fn is_scalar(m: &Module, ty: TypeId) -> bool {
    match *m.cx.ty(ty) {
        TypeKind::Integer { width, sign } => {
            sign == Signedness::Signless && [1, 8, 16, 32, 64].contains(&width)
        }
        TypeKind::Float(kind) => {
            matches!(kind, FloatKind::F16 | FloatKind::BF16 | FloatKind::F32 | FloatKind::F64)
        }
        TypeKind::Index => true,
        _ => false,
    }
}

struct UpstreamLowering<'a, 'm, 'c> {
    r: &'a mut Rewriter<'m>,
    cx: &'a PassCx<'c>,
    /// Names of functions.
    taken: FxHashSet<StrId>,
    n_loops: u64,
}

impl UpstreamLowering<'_, '_, '_> {
    fn m(&self) -> &Module {
        self.r.ir()
    }

    /// Creates an op with one result before another.
    fn value(
        &mut self,
        before: OpId,
        name: &str,
        operands: &[ValueId],
        ty: TypeId,
        attrs: &[(&str, AttrId)],
    ) -> ValueId {
        let op = self.r.create_before(before, name, operands, &[ty], attrs);
        self.m().result(op, 0)
    }

    /// A constant before an op.
    fn constant(&mut self, before: OpId, attr: AttrId, ty: TypeId) -> ValueId {
        self.value(before, "arith.constant", &[], ty, &[("value", attr)])
    }

    fn types(&self, values: &[ValueId]) -> Vec<TypeId> {
        values.iter().map(|&value| self.m().value_type(value)).collect()
    }

    /// A function name that is not taken.
    fn free_name(&mut self, text: &str) -> String {
        self.r.cx().free_name(text, |name| self.taken.insert(name))
    }

    /// Creates a private function without a body before `parent`, with a name that begins with the name of
    /// `parent`. Returns it and a reference to it.
    fn new_function(&mut self, parent: OpId, what: &str) -> (OpId, AttrId) {
        let stem =
            self.m().symbol_name(parent).map_or_else(String::new, |name| self.m().cx.str(name).to_owned());
        let name = self.free_name(&format!("{stem}_{what}"));
        let loc = self.m().loc(parent);
        let function = self.r.private_function(InsertionPoint::Before(parent), loc, &name);
        let symbol = self.r.cx().symbol_attr(&name);
        (function, symbol)
    }

    /// The function that contains an op.
    fn enclosing(&self, op: OpId) -> OpId {
        let m = self.m();
        m.ancestors(op).find(|&op| m.op_name_str(op) == "func.func").unwrap_or(op)
    }

    fn call(&mut self, op: OpId) {
        let operands: Vec<ValueId> = self.m().operands(op).collect();
        let results: Vec<ValueId> = self.m().results(op).collect();
        let types = self.types(&results);
        let callee = self.m().attr_named(op, "callee").into_iter().map(|callee| ("callee", callee));
        let attrs: Vec<(&str, AttrId)> = callee.collect();
        let call = self.r.create_before(op, Call::NAME, &operands, &types, &attrs);
        let values: Vec<ValueId> = self.m().results(call).collect();
        self.r.replace_op(op, &values);
    }
}
