//! `tf-constant-fold`: constant folding.
//!
//! ```text
//! operator of constants   ──tensor library──▶ constant       (the functions that the kernels call)
//! Shape, Size, Rank of a value whose type is known ──▶ constant
//! ```
//!
//! Ops that fail are not folded, so that they fail at run time. Neither are ops with control edges, nor ops
//! whose result is large and larger than the operands, which would make files grow, unless it is a splat. The
//! work is limited for each op and for the module, by the cost in the operators' table, so that a short text
//! cannot keep the compiler busy. A remark names each op that is left because of it.
//!
//! Constants that are dequantized stay integers for all other passes, and with `keep-dequantized` for this
//! one: `tf-fuse-quantization` makes products of integers of them.

use std::sync::Arc;

use befrost_tensor::mem::{Allocator, Limited, Malloc};
use befrost_tensor::tf::op::{Attrs as _, Op, OpRow, Traits, Work};
use befrost_tensor::{DType, HostTensor};

use super::patterns::{self, Family};
use super::signatures;
use crate::build::query::{self, bytes_of, dims_of, has_no_edges, shape_of};
use crate::build::{Builder, sizes};
use crate::diag::{Diagnostic, Severity};
use crate::dialects::{Folded, at_op, tf};
use crate::fold;
use crate::ir::{AttrId, AttrKind, Module, OpId, TypeId, ValueId};
use crate::pass::{Change, OptionKind, Pass, PassCx, PassOption, Rewriter};
use crate::rewrite::{GreedyConfig, greedy};

pub(crate) const PASS: Pass = Pass {
    name: "tf-constant-fold",
    title: "TFConstantFold",
    summary: "computes what depends on constants only, and simplifies what depends on some",
    options: &[PassOption {
        name: "keep-dequantized",
        summary: "Whether tensors of integers that are dequantized stay integers.",
        kind: OptionKind::Flag(false),
    }],
    statistics: &[("num-rewrites", "Number of folds and rewrites")],
    run,
};

/// Results of at most this many bytes may be larger than the operands.
pub(super) const MAX_GROWN: usize = 100 << 10;

/// Limit on memory that the evaluation of one op may allocate.
const MAX_USED: usize = 64 << 20;

/// Limit on the work of one evaluation, in arithmetic operations and bytes moved.
const MAX_WORK: u64 = 1 << 28;
/// Limit on the work of all evaluations for one module.
const MAX_WORK_IN_ALL: u64 = 1 << 32;

fn run(r: &mut Rewriter<'_>, cx: &PassCx<'_>) -> Change {
    let config = GreedyConfig {
        fold: if cx.flag("keep-dequantized") { fold } else { fold_all },
        materialize,
        patterns: |def| patterns::of(Family::Constant, def),
        ..GreedyConfig::default()
    };
    sizes::forget(r.ir());
    let outcome = greedy(r, &config);
    cx.count("num-rewrites", outcome.n_rewrites);
    signatures::refresh(r);
    for op in take_unreported(r) {
        cx.report(left_unfolded(r.ir(), op));
    }
    r.change()
}

/// Charges the evaluation of an op to the module's budget; false if it is beyond one of the limits.
fn is_affordable(m: &mut Module, op: OpId, row: &OpRow, bytes_of_operands: usize) -> bool {
    // If the work is unknown, it is estimated as that of reading the operands.
    let work = query::work(m, op, row)
        .map_or(bytes_of_operands as u64, |Work { flops, bytes }| flops.saturating_add(bytes));
    let spent = m.folding.spent.saturating_add(work);
    if work > MAX_WORK || spent > MAX_WORK_IN_ALL {
        m.folding.left.entry(op).or_insert(false);
        return false;
    }
    m.folding.spent = spent;
    true
}

/// The ops left unfolded by the budget that still exist and were not reported.
fn take_unreported(r: &mut Rewriter<'_>) -> Vec<OpId> {
    let left = std::mem::take(&mut r.folding().left);
    let left: Vec<(OpId, bool)> = left.into_iter().filter(|(op, _)| !r.ir().is_erased(*op)).collect();
    r.folding().left = left.iter().map(|(op, _)| (*op, true)).collect();
    left.into_iter().filter(|(_, is_reported)| !is_reported).map(|(op, _)| op).collect()
}

fn left_unfolded(m: &Module, op: OpId) -> Diagnostic {
    at_op(m, op, "E0512", "not folded: evaluating it takes more work than constant folding may spend")
        .with_severity(Severity::Remark)
}

/// Folds a `tf` op by evaluation; ops of other dialects by their own folders. Dequantized tensors stay.
pub(crate) fn fold(m: &mut Module, op: OpId) -> Option<Vec<Folded>> {
    let is_tensor = |op: &OpId| query::dims(m, m.result(*op, 0)).is_none_or(|dims| !dims.is_empty());
    if tf::operator(m, op) == Some(Op::_DequantizeLinear) && is_tensor(&op) {
        return None;
    }
    fold_all(m, op)
}

fn fold_all(m: &mut Module, op: OpId) -> Option<Vec<Folded>> {
    let Some(row) = tf::row(m, op) else { return fold::fold(m, op) };
    if !has_no_edges(m, op) {
        return None;
    }
    if let Some(folded) = of_type(m, op, row.op) {
        return Some(folded);
    }
    if !row.is_pure_function() || row.has(Traits::CONSTANT) || row.has(Traits::PASSING) {
        return None;
    }
    let constants: Vec<AttrId> =
        m.operands(op).map(|value| fold::constant_of(m, value)).collect::<Option<_>>()?;
    let size = |attr: &AttrId| match m.cx.attr(*attr) {
        AttrKind::Dense { data, .. } => data.len(),
        _ => 0,
    };
    let given: usize = constants.iter().map(size).sum();
    let spread: usize = constants.iter().filter_map(|&attr| bytes_of(m, m.cx.attr_type(attr)?)).sum();
    // Many random numbers are no splat, so they need not be drawn to know that.
    let grows = |value| bytes_of(m, m.value_type(value)).is_none_or(|bytes| bytes > MAX_GROWN.max(given));
    if row.has(Traits::RANDOM) && m.results(op).any(grows) {
        return None;
    }
    if spread > MAX_USED || !is_affordable(m, op, row, spread) {
        return None;
    }
    let plain: Arc<dyn Allocator> = Malloc::shared();
    let tensors: Vec<HostTensor> =
        constants.iter().map(|&attr| tf::dense_tensor(&m.cx, attr, &plain)).collect::<Option<_>>()?;
    let limited: Arc<dyn Allocator> = Arc::new(Limited::new(plain, MAX_USED));
    let results = evaluate(m, op, row, &tensors, &limited)?;
    let mut folded = Vec::with_capacity(results.len());
    for tensor in &results {
        let attr = tf::tensor_attr(&mut m.cx, tensor)?;
        let AttrKind::Dense { data, .. } = m.cx.attr(attr) else { return None };
        if data.len() > MAX_GROWN.max(given) {
            return None;
        }
        folded.push(Folded::Attr(attr));
    }
    (folded.len() == m.n_results(op)).then_some(folded)
}

/// The results of an op for these operands.
pub(super) fn evaluate(
    m: &Module,
    op: OpId,
    row: &OpRow,
    operands: &[HostTensor],
    allocator: &Arc<dyn Allocator>,
) -> Option<Vec<HostTensor>> {
    let eval = row.prepare(&tf::attrs_of(m, op, row.signature())).ok()??;
    Some(eval(&operands.iter().collect::<Vec<_>>(), allocator).ok()?.into_vec())
}

/// Folds ops that depend only on the types of their operands.
fn of_type(m: &mut Module, op: OpId, operator: Option<Op>) -> Option<Vec<Folded>> {
    let operator = operator.filter(|op| matches!(*op, Op::Shape | Op::Size | Op::Rank | Op::ShapeN))?;
    let out = tf::attrs_of(m, op, operator.row().signature())
        .ty("out_type")
        .and_then(|ty| ty.dtype())
        .unwrap_or(DType::I32);
    if !matches!(out, DType::I32 | DType::I64) {
        return None;
    }
    let types: Vec<TypeId> = m.operands(op).map(|value| m.value_type(value)).collect();
    let mut folded = Vec::new();
    for ty in types {
        let numbers = match operator {
            Op::Rank => vec![shape_of(m, ty)?.len() as i64],
            Op::Size => vec![dims_of(m, ty)?.iter().try_fold(1i64, |n, &dim| n.checked_mul(dim))?],
            _ => dims_of(m, ty)?.to_vec(),
        };
        let shape: &[i64] =
            if matches!(operator, Op::Rank | Op::Size) { &[] } else { &[numbers.len() as i64] };
        folded.push(Folded::Attr(tf::ints_attr(&mut m.cx, &numbers, shape, out)?));
    }
    Some(folded)
}

/// Creates a constant in front of an op.
pub(super) fn materialize(
    r: &mut Rewriter<'_>,
    before: OpId,
    dialect: &str,
    attr: AttrId,
    ty: TypeId,
) -> Option<ValueId> {
    if dialect != "tf" {
        return fold::materialize(r, before, dialect, attr, ty);
    }
    Some(Builder::before(r, before).constant(attr))
}
